//! Containers: files that hold entities, each with a heading and a body.
//!
//! ```text
//! message --read--> entities, outermost first
//!                     heading --> bases that it declares (3.1)
//!                     body --decode--> content --edits--> lift --> edits of the file
//!                                                          fields --> edits of header fields that describe the body
//! ```
//!
//! [`entity`] defines the types. [`mime`] reads messages, and [`http`] responses; [`of`] maps formats to
//! them. `lift` and `fields` turn an edit of a body into edits of the file. [`mbox`] splits a mailbox
//! into messages, which are then read separately.
//!
//! ```
//! use baselink_scan::UrlField;
//! use baselink_rewrite::container::entities;
//! let message = b"Base: <URL:http://a/>\nContent-Type: multipart/mixed; boundary=b\n\n\
//!                 --b\nContent-Type: text/html\n\n<a href=x>\n--b--\n";
//! let structure = entities(message);
//! assert_eq!(&*structure.entities[1].name, "1");
//! assert_eq!(&message[structure.entities[1].body.range()], b"<a href=x>");
//! let url = structure.entities[0].heading.url(message, UrlField::Base).unwrap();
//! assert_eq!(&*url.url, "http://a/");
//! ```
//!
//! Deliberately absent: the content of a body, which is a document that `scan` reads.

mod emlx;
pub mod entity;
pub mod fields;
pub mod http;
pub mod lift;
pub mod mbox;
pub mod mime;

use std::{iter, sync::Arc};

use baselink_text::{Format, Span};

pub use self::{
    emlx::counted_message,
    entity::{Entity, EntityKind, Structure},
    mime::{entities, entities_named},
};
use self::{entity::Container, mbox::Messages};

/// The container for files of `format`; `None` if such a file is a single document.
pub fn of(format: Format) -> Option<&'static Container> {
    match format {
        // Each message of a mailbox is read separately.
        Format::Message | Format::Mbox => Some(&mime::MIME),
        Format::Http => Some(&http::HTTP),
        _ => None,
    }
}

/// The units of the file `bytes` that are rewritten separately: the messages of a mailbox, named by their numbers,
/// or the whole file.
pub fn units(format: Format, bytes: &[u8]) -> impl Iterator<Item = (Option<Arc<str>>, Span)> {
    let mut whole = (!format.holds_many()).then_some((None, Span::new(0, bytes.len())));
    let mut messages = Messages::new(bytes);
    iter::from_fn(move || {
        if !format.holds_many() {
            return whole.take();
        }
        // Reading from memory cannot fail.
        let message = messages.next_message().ok()??;
        let start = usize::try_from(message.offset).ok()?;
        Some((
            Some(message.number.to_string().into()),
            message.message.shifted(start),
        ))
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
