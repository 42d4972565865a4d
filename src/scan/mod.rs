//! Scanners: bytes to a [`Document`] with its links exactly as they stand.
//!
//! One table says where links are ([`attributes`]), one file for each syntax how values come apart
//! ([`value`], [`css`], [`json`]), one room for each format which tags and texts there are ([`html`]).
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
pub mod css;
pub mod html;
pub mod json;
pub mod mbox;
pub mod message;
pub mod value;

use self::attributes::{Groups, UserRow};
use crate::document::Document;
use crate::layer::charset::Charset;

/// What a scanner is told about a document.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// Its encoding, where it has no byte order mark.
    pub charset: Option<Charset>,
    /// The opt-in groups of places that count.
    pub groups: Groups,
    /// Further places.
    pub places: Vec<UserRow>,
}

/// Finds every link of an HTML document, as written.
///
/// Any bytes are a document. Linear in time and memory.
#[must_use]
pub fn scan(bytes: &[u8], options: &ScanOptions) -> Document {
    html::scan(bytes, options)
}
