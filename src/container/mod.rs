//! Containers: files that hold entities, each with a heading and a body.
//!
//! ```text
//! message --read--> entities, outermost first
//!                     heading --> bases that it declares (3.1)
//!                     body --decode--> content --edits--> lift --> edits of the file
//!                                                          fields --> edits of what headings say of bodies
//! ```
//!
//! [`entity`] has the nouns, and what a kind of container says of itself; [`mime`] reads messages,
//! and [`http`] responses. Which formats they read is the table here. `lift` and `fields` make of an edit of a body what becomes of its file.
//! [`mbox`] takes a file of messages apart, each of which is read by itself.
//!
//! ```
//! use baselink::{document::UrlField, container::entities};
//! let message = b"Base: <URL:http://a/>\nContent-Type: multipart/mixed; boundary=b\n\n\
//!                 --b\nContent-Type: text/html\n\n<a href=x>\n--b--\n";
//! let structure = entities(message);
//! assert_eq!(&*structure.entities[1].name, "1");
//! assert_eq!(&message[structure.entities[1].body.range()], b"<a href=x>");
//! let url = structure.entities[0].heading.url(message, UrlField::Base).unwrap();
//! assert_eq!(&*url.url, "http://a/");
//! ```
//!
//! Deliberately absent: what is in a body. It is a document, and `scan` reads those.

pub mod entity;
pub(crate) mod fields;
pub mod http;
pub(crate) mod lift;
pub mod mbox;
pub mod mime;

use std::iter;
use std::sync::Arc;

use self::entity::Container;
pub use self::entity::{Entity, EntityKind, Opaque, Structure};
use self::mbox::Messages;
pub use self::mime::{entities, entities_named};
use crate::format::Format;
use crate::span::Span;

/// The formats whose files hold entities. Of a mailbox each message is read by itself.
const CONTAINERS: &[(Format, &Container)] =
    &[(Format::Message, &mime::MIME), (Format::Mbox, &mime::MIME), (Format::Http, &http::HTTP)];

/// How entities lie in files of `format`; `None` where such a file is one document.
pub(crate) fn of(format: Format) -> Option<&'static Container> {
    CONTAINERS.iter().find(|(one, _)| *one == format).map(|(_, container)| *container)
}

/// What is read, rewritten and named by itself in the file `bytes`: all of it; or each of its messages, where the
/// format holds many, with its number for a name.
pub(crate) fn units(
    format: Format,
    bytes: &[u8],
) -> impl Iterator<Item = (Option<Arc<str>>, Span)> {
    let mut whole = (!format.holds_many()).then_some((None, Span::new(0, bytes.len())));
    let mut messages = Messages::new(bytes);
    iter::from_fn(move || {
        if !format.holds_many() {
            return whole.take();
        }
        // Memory can always be read.
        let message = messages.next_message().ok()??;
        let start = usize::try_from(message.offset).ok()?;
        Some((Some(message.number.to_string().into()), message.message.shifted(start)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_with_headings_are_those_of_the_table() {
        for format in Format::ALL {
            assert_eq!(of(format).is_some(), format.has_headings(), "{format:?}");
        }
    }
}
