//! Labels of parts: the relative or `file:` `Content-Location`s by which the references of a document refer to other
//! parts of its message (RFC 2557, 8.2). Labels are never rewritten, because those references would lose their parts.
//!
//! ```
//! use baselink_rewrite::{Options, report::Reason, rewrite};
//! use baselink_text::Format;
//! let message = b"Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n\
//!                 <img src=i.png>\n--b\nContent-Location: i.png\n\nx\n--b--\n";
//! let options = Options { format: Format::Message, ..Options::at("http://a/") };
//! assert_eq!(rewrite(message, &options).report.links[0].reason, Some(Reason::SiblingPart));
//! ```
//!
//! Deliberately absent: `Content-ID`. A `cid:` URL is absolute.

use std::collections::HashMap;

use baselink_scan::UrlField;
use baselink_url::{Base, reference};

use super::options::Options;
use crate::container::{EntityKind, Structure};

/// Relative and `file:` `Content-Location`s, each with the number of parts that it labels in the enclosing multiparts.
pub type Labels = HashMap<Box<str>, usize>;

/// The field whose URL names a part, and is its base if absolute (RFC 2557, 4.2 and 5).
pub const LABEL: &str = "content-location";

/// True if a label is a `file:` URL, such as the made-up ones of Word. Relative references can refer to a part by this
/// label, although it is not a base.
pub fn is_file(label: &str) -> bool {
    reference::opaque_scheme(label).is_some_and(|scheme| scheme == "file")
}

/// The labels by which the references of a document can refer to parts: the relative and `file:` `Content-Location`s of
/// the body parts of all enclosing multiparts (RFC 2557, 8.2).
#[derive(Default)]
pub struct OpenLabels {
    /// The labels of each multipart.
    parts: HashMap<usize, Vec<Box<str>>>,
    /// The enclosing entities, outermost first, and the current entity.
    stack: Vec<usize>,
    pub open: Labels,
}

impl OpenLabels {
    /// The labels of `structure`.
    pub fn of(bytes: &[u8], structure: &Structure, options: &Options) -> Self {
        let mut labels = Self::default();
        for entity in &structure.entities {
            let Some(parent) = entity.parent else {
                continue;
            };
            let around = structure.entities[parent].kind;
            if !matches!(around, EntityKind::Multipart) {
                continue;
            }
            let Some(label) = entity.heading.url(bytes, UrlField::ContentLocation) else {
                continue;
            };
            let is_relative =
                !label.url.is_empty() && !Base::is_absolute(options.resolver, &label.url);
            if is_relative || is_file(&label.url) {
                labels
                    .parts
                    .entry(parent)
                    .or_default()
                    .push((&*label.url).into());
            }
        }
        labels
    }

    /// Moves on to the entity `index`, a child of `parent`.
    pub fn enter(&mut self, index: usize, parent: Option<usize>) {
        while let Some(&last) = self.stack.last()
            && Some(last) != parent
        {
            for label in self.parts.get(&last).into_iter().flatten() {
                if let Some(count) = self.open.get_mut(label) {
                    *count -= 1;
                    if *count == 0 {
                        self.open.remove(label);
                    }
                }
            }
            self.stack.pop();
        }
        self.stack.push(index);
        for label in self.parts.get(&index).into_iter().flatten() {
            *self.open.entry(label.clone()).or_default() += 1;
        }
    }
}
