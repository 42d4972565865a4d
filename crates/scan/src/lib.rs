//! The scanners, which turn bytes into a [`Document`] with its links exactly as written.
//!
//! [`html`], [`xml`], [`text`] and [`fields`] scan HTML, XML, plain text and header fields. One table lists the
//! attributes that hold links ([`attributes`]); a second one adds places in XML ([`xml::vocabulary`]). Values are split
//! according to their syntax ([`value`], [`css`], [`json`], [`script`]). [`whole`] scans files that consist of a single
//! value.
//!
//! ```
//! use baselink_scan::{ScanOptions, scan};
//! let options = ScanOptions { groups: "lazy".parse().unwrap(), ..ScanOptions::default() };
//! assert_eq!(scan(b"<img data-src=x.png>", &options).links[0].reference, "x.png");
//! assert!(scan(b"<img data-src=x.png>", &ScanOptions::default()).links.is_empty());
//! ```
//!
//! Deliberately absent: bases and targets.

pub mod attributes;
pub mod block;
mod collect;
pub mod css;
pub mod document;
pub mod fields;
pub mod html;
pub mod json;
mod options;
pub mod script;
mod sieve;
pub mod text;
pub mod value;
pub mod whole;
pub mod xml;

use baselink_text::Format;

use self::html::{document::DocumentBuilder, pass::Links};

pub use self::{
    collect::{MOST_HELD, most_parts, too_deep},
    document::{
        Against, Certainty, DeclaredBase, Document, Kind, LONGEST_BASE, Program, Role, Saved,
        UrlField,
    },
    fields::{Heading, MediaType},
    options::{ScanOptions, Scanner, group_of, is_read},
};

/// Finds every link of an HTML document, as written.
///
/// Any bytes are a valid document. Linear in time and memory.
pub fn scan(bytes: &[u8], options: &ScanOptions) -> Document {
    scan_as(Format::Html, bytes, options).unwrap_or_default()
}

/// Finds every link of a document of the given format. `None` if links in that format are not supported, and for
/// messages, which contain documents but are not documents themselves.
pub fn scan_as(format: Format, bytes: &[u8], options: &ScanOptions) -> Option<Document> {
    scan_most(format, bytes, options, usize::MAX).map(|(document, _)| document)
}

/// Like [`scan_as`]; if the document has more than `most` links, returns it without any, and false.
pub fn scan_most(
    format: Format,
    bytes: &[u8],
    options: &ScanOptions,
    most: usize,
) -> Option<(Document, bool)> {
    let mut builder = DocumentBuilder::new(options, most);
    let scanned = scan_to(format, bytes, options, &mut builder)?;
    Some(builder.complete(scanned))
}

/// Like [`scan_as`], but the links go to `links`, in document order.
pub fn scan_to(
    format: Format,
    bytes: &[u8],
    options: &ScanOptions,
    links: &mut dyn Links,
) -> Option<Document> {
    match format {
        Format::Html => Some(html::document::scan(bytes, options, links)),
        Format::Xhtml | Format::Svg | Format::Xml => Some(xml::scan(format, bytes, options, links)),
        Format::Css | Format::Script | Format::Manifest | Format::JsonFeed | Format::Plain => {
            Some(whole::scan(format, bytes, options, links))
        }
        _ => None,
    }
}
