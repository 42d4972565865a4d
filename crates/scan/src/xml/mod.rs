//! Scans XML into a [`Document`]: XHTML, SVG, MathML, Atom, RSS and other vocabularies. Links are found by namespace,
//! and each link has the `xml:base` in force at its element (XML 1.0, Namespaces in XML 1.0, XML Base).
//!
//! [`tokens`] finds tags and texts, [`namespaces`] resolves prefixes, and [`vocabulary`] adds places to those of
//! [`super::attributes`]. A pass combines the three. HTML in feeds and in `srcdoc` is scanned as a separate document.
//!
//! A malformed document is read up to its first fault; the rest is left unchanged.
//!
//! ```
//! use baselink_scan::{ScanOptions, scan_as};
//! use baselink_text::Format;
//! let svg = b"<s:svg xmlns:s='http://www.w3.org/2000/svg'><s:a href='x'/><S:a href='y'/></s:svg>";
//! let document = scan_as(Format::Svg, svg, &ScanOptions::default()).unwrap();
//! let references: Vec<_> = document.links.iter().map(|link| link.reference.as_str()).collect();
//! assert_eq!(references, ["x"]);
//! ```
//!
//! Deliberately absent: external entities and external DTDs. Nothing is fetched.

mod doctype;
mod entry;
pub mod namespaces;
mod pass;
pub mod tokens;
pub mod vocabulary;

use baselink_text::{Charset, Format};

use self::pass::XmlPass;
use super::{ScanOptions, html::saved};
use crate::{collect::Links, document::Document};

/// Scans `bytes` as XML of this `format`. The links go to `links`.
///
/// Any bytes are a document. Linear in time and memory.
pub(crate) fn scan(
    format: Format,
    bytes: &[u8],
    options: &ScanOptions,
    links: &mut dyn Links,
) -> Document {
    let found = Charset::detect_xml(bytes, options.charset);
    Document::of_file(bytes, found, |bytes, start, charset| {
        let may_be_saved = format == Format::Xhtml && !options.ignore_saved;
        Document {
            saved: may_be_saved
                .then(|| saved::saved(&bytes[start..]))
                .flatten(),
            ..XmlPass::over(bytes, (start, charset), format, options, links).found
        }
    })
}
