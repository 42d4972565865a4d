//! Files that are one value to a [`Document`]: style sheets; web app manifests, the places of the group `manifest`; and
//! scripts, those of the group `scripts`.
//!
//! Every URL of a manifest is resolved against the URL of the manifest (Web Application Manifest, "processing a
//! manifest"), never against that of the page that refers to it; what a script imports, against that of the script; and
//! those of a style sheet against its own.
//! The links of a script have its element, as those in a `script` element; that of a link in a manifest is
//! its member; those of a style sheet have none, and its name is empty.
//!
//! ```
//! use baselink::format::Format;
//! use baselink::{ScanOptions, scan::whole};
//! let json = br#"{ "name": "x", "start_url": "../", "icons": [{ "src": "i.png" }] }"#;
//! let options = ScanOptions { groups: "manifest".parse().unwrap(), ..ScanOptions::default() };
//! let document = whole::manifest(json, &options);
//! let references = document.links.into_iter().map(|link| link.reference);
//! assert_eq!(references.collect::<Vec<_>>(), ["../", "i.png"]);
//! ```
//!
//! Deliberately absent: where URLs are. The files of the syntaxes know ([`css`](super::css), [`json`],
//! [`script`](super::script)).

use std::sync::Arc;

use super::collect::{Carriers, Collector, LinkPlace};
use super::json::{self, JsonKind};
use super::script::Goal;
use super::{ScanOptions, is_read};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Decoded, Document};
use crate::format::Format;
use crate::layer::View;
use crate::layer::charset::{Charset, Detected};
use crate::layer::spelling::Carrier;
use crate::span::Span;

/// The place of a link in such a file.
const fn place(element: &'static str) -> LinkPlace<'static> {
    LinkPlace::text_of(element, Carriers::One(Carrier::Raw))
}

/// Scans `bytes` as a style sheet.
///
/// Linear in time and memory. Spans are those of `bytes`, or of the decoded text where the encoding is not
/// ASCII-compatible.
#[must_use]
pub fn style_sheet(bytes: &[u8], options: &ScanOptions) -> Document {
    let found = Charset::detect_style_sheet(bytes, options.charset);
    document(bytes, Format::Css, found, options, |view, collector| {
        collector.css(view, &place(""));
        None
    })
}

/// Scans `bytes` as application/manifest+json. Without the group `manifest` there are no links in it.
///
/// Linear in time and memory. Spans are those of `bytes`, or of the decoded text where the encoding is not
/// ASCII-compatible.
#[must_use]
pub fn manifest(bytes: &[u8], options: &ScanOptions) -> Document {
    let found = Charset::detect_plain(bytes, options.charset);
    document(bytes, Format::Manifest, found, options, |view, collector| {
        collector.json(view, JsonKind::Manifest, &place(""));
        let line = json::fault(&view.text)?;
        let message = format!("this is not JSON, by its line {line}; nothing in it was read");
        Some(Diagnostic::new(Code::NotWellFormed, Span::at(0), message))
    })
}

/// Scans `bytes` as text/javascript. Without the group `scripts` there are no links in it.
///
/// Linear in time and memory. Spans are those of `bytes`, or of the decoded text where the encoding is not
/// ASCII-compatible.
#[must_use]
pub fn script(bytes: &[u8], options: &ScanOptions) -> Document {
    let found = Charset::detect_plain(bytes, options.charset);
    document(bytes, Format::Script, found, options, |view, collector| {
        collector.script(view, Goal::File, &place("script"))
    })
}

/// A document in the encoding that was `found`, whose links `collect` collects from its text.
fn document(
    bytes: &[u8],
    format: Format,
    found: Detected,
    options: &ScanOptions,
    collect: impl FnOnce(&View, &mut Collector<'_>) -> Option<Diagnostic>,
) -> Document {
    let mut document = Document::empty(Arc::clone(&options.entity), format, found.charset);
    document.not_utf_8 = found.not_utf_8;
    if !is_read(format, options) {
        return document;
    }
    let mut collector = Collector::new(options, false);
    let view = if found.charset.is_ascii_compatible() {
        found.charset.decode(&bytes[found.mark..], found.mark)
    } else {
        let decoded = document.decoded.insert(Decoded::of_file(bytes, found.mark, found.charset));
        View::of_str(&decoded.text, 0)
    };
    document.diagnostics.extend(collect(&view, &mut collector));
    document.links = collector.links;
    document
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::document::Against;
    use crate::layer::spelling::Form;
    use crate::scan::attributes::Groups;

    fn references(document: &Document) -> Vec<&str> {
        document.links.iter().map(|link| link.reference.as_str()).collect()
    }

    #[test]
    fn without_the_group_nothing_is_a_link() {
        let options = ScanOptions::default();
        assert!(script(b"import './a.js'", &options).links.is_empty());
        assert!(manifest(br#"{"scope":"a"}"#, &options).links.is_empty());
    }

    #[test]
    fn marks_and_encodings() {
        let options = ScanOptions { groups: Groups::all(), ..ScanOptions::default() };
        let marked = b"\xef\xbb\xbf{\"scope\":\"\xc3\xa9/\"}";
        let document = manifest(marked, &options);
        assert_eq!(references(&document), ["é/"]);
        assert_eq!(&marked[document.links[0].span().range()], "é/".as_bytes());
        let wide: Vec<u8> =
            "\u{feff}import './é.js'".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let document = script(&wide, &options);
        assert_eq!(references(&document), ["./é.js"]);
        assert!(document.decoded.is_some());
    }

    #[test]
    fn what_is_not_well_formed_is_said() {
        let options = ScanOptions { groups: Groups::all(), ..ScanOptions::default() };
        let faults = |document: Document| -> Vec<_> {
            document.diagnostics.into_iter().map(|one| (one.code, one.span.start)).collect()
        };
        assert_eq!(faults(manifest(b"{\n", &options)), [(Code::NotWellFormed, 0)]);
        assert_eq!(faults(script(b"import 'a'; (", &options)), [(Code::NotWellFormed, 13)]);
        assert_eq!(faults(script(b"import 'a'", &options)), []);
    }

    /// What the scan of `bytes` finds: the encoding, and each reference with its place.
    fn scanned(bytes: &[u8], charset: &str) -> (&'static str, Vec<(String, Span)>) {
        let options =
            ScanOptions { charset: Charset::for_label(charset), ..ScanOptions::default() };
        let document = style_sheet(bytes, &options);
        let links = document.links.iter().map(|link| (link.reference.clone(), link.span()));
        (document.charset.name(), links.collect())
    }

    #[test]
    fn a_style_sheet_is_a_document() {
        let document = style_sheet(b"@import ' a\\62 ' ;", &ScanOptions::default());
        assert_eq!((document.format, document.links.len()), (Format::Css, 1));
        let link = &document.links[0];
        assert_eq!((link.element.as_str(), link.attribute.as_deref()), ("", None));
        assert_eq!((link.reference.as_str(), link.span()), ("ab", Span::new(10, 15)));
        assert_eq!(link.against, Against::Document);
        assert!(link.fragment_identifies && !link.empty_resolves);
        assert_eq!(link.spelling.form, Form::CssString('\''));
    }

    #[test]
    fn every_encoding_of_a_style_sheet_leads_to_the_bytes() {
        let one = |charset, reference: &str, start, end| {
            (charset, vec![(reference.to_owned(), Span::new(start, end))])
        };
        assert_eq!(scanned(b"url(\xc3\xa9)", ""), one("UTF-8", "\u{e9}", 4, 6));
        assert_eq!(scanned(b"url(\xe9x)", ""), one("UTF-8", "\u{fffd}x", 4, 6));
        assert_eq!(scanned(b"\xef\xbb\xbfurl(a)", "koi8-r"), one("UTF-8", "a", 7, 8));
        assert_eq!(scanned(b"url(\x95\x5c)", "shift_jis"), one("Shift_JIS", "\u{8868}", 4, 6));
        assert_eq!(scanned(b"@charset \"koi8-r\";url(\xc1)", ""), one("KOI8-R", "\u{430}", 22, 23));
        assert_eq!(scanned(b"\xff\xfeu\0r\0l\0(\0a\0)\0", ""), one("UTF-16LE", "a", 4, 5));
        let document = style_sheet(b"\xff\xfeu\0r\0l\0(\0a\0)\0", &ScanOptions::default());
        let decoded = document.decoded.map(|decoded| decoded.map.covering(Span::new(4, 5)));
        assert_eq!(decoded, Some(Span::new(10, 12)));
    }
}
