//! Scanners: bytes to a [`Document`] with its links exactly as they stand.
//!
//! One table says where links are ([`attributes`]), one file for each syntax how values come apart
//! ([`value`], [`css`], [`json`]), one room for each format which tags and texts there are ([`html`], [`xml`]).
//! A style sheet has nothing but its syntax, so [`css`] reads that as well.
//!
//! ```
//! use baselink::{ScanOptions, scan};
//! let options = ScanOptions { groups: "lazy".parse().unwrap(), ..ScanOptions::default() };
//! assert_eq!(scan(b"<img data-src=x.png>", &options).links[0].reference, "x.png");
//! assert!(scan(b"<img data-src=x.png>", &ScanOptions::default()).links.is_empty());
//! ```
//!
//! Deliberately absent: bases and targets.

pub mod attributes;
pub(crate) mod block;
mod collect;
pub mod css;
pub mod html;
pub mod json;
pub mod mbox;
pub mod message;
mod sieve;
pub mod text;
pub mod value;
pub mod xml;

use std::str::FromStr;
use std::sync::Arc;

use self::attributes::{Group, Groups, UserRow};
use crate::document::Document;
use crate::error::Error;
use crate::format::Format;
use crate::layer::charset::Charset;

/// What a scanner is told about a document.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// Its name, where it is one of several entities in a file.
    pub entity: Arc<str>,
    /// Its encoding, where it has no byte order mark.
    pub charset: Option<Charset>,
    /// The opt-in groups of places that count.
    pub groups: Groups,
    /// Further places.
    pub places: Vec<UserRow>,
    /// Whether what a fragment can name is collected: `id`, and `name` of `a`, in HTML (7.4.6.4, "find a
    /// potential indicated element"), `id` and `xml:id` in XML. It takes memory for each.
    pub ids: bool,
    /// Whether what programs wrote into a page when they saved it counts for nothing ([`html::saved`]).
    pub ignore_saved: bool,
    /// Whether the content of a feed's entry is resolved against the link of the entry, where no `xml:base` is in
    /// force ([`ElementBase`](crate::document::ElementBase)).
    pub entry_links: bool,
    /// Which of the two scanners of HTML is asked first.
    pub scanner: Scanner,
}

/// The scanners of HTML. They find the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scanner {
    /// The one that walks over the bytes ([`html::fast`]), and the other where it cannot prove that it is
    /// right.
    #[default]
    Fast,
    /// html5ever with positions ([`html::exact`]): the referee.
    Exact,
}

impl FromStr for Scanner {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "fast" => Ok(Self::Fast),
            "exact" => Ok(Self::Exact),
            _ => Err(Error::new(format!("unknown scanner '{name}': use fast or exact"))),
        }
    }
}

/// Finds every link of an HTML document, as written.
///
/// Any bytes are a document. Linear in time and memory.
#[must_use]
pub fn scan(bytes: &[u8], options: &ScanOptions) -> Document {
    html::scan(bytes, options)
}

/// Whether this version finds links in a document of the given format.
pub(crate) fn is_read(format: Format, options: &ScanOptions) -> bool {
    match format {
        Format::Html | Format::Css | Format::Xhtml | Format::Svg | Format::Xml => true,
        Format::Plain => options.groups.contains(Group::Text),
        _ => false,
    }
}

/// Finds every link of a document of the given format; `None` where this version finds none in it, and
/// for messages, which are no document but hold some.
#[must_use]
pub fn scan_as(format: Format, bytes: &[u8], options: &ScanOptions) -> Option<Document> {
    content(format, bytes, options)
}

/// The same, for the rooms behind this one.
pub(crate) fn content(format: Format, bytes: &[u8], options: &ScanOptions) -> Option<Document> {
    match format {
        Format::Html => Some(html::scan(bytes, options)),
        Format::Xhtml | Format::Svg | Format::Xml => Some(xml::scan(format, bytes, options)),
        Format::Css => Some(css::scan(bytes, options)),
        Format::Plain => Some(text::scan(bytes, options)),
        _ => None,
    }
}
