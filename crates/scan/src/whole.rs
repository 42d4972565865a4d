//! Files that consist of a single value: style sheets; web app manifests and JSON Feeds, in the group `manifest`;
//! scripts, in the group `scripts`; and plain text, in the group `text`.
//!
//! Every URL is resolved against the URL of its own file, also in a manifest (Web Application Manifest, "processing a
//! manifest"). The page that refers to the file does not matter.
//! The element of a link is `script` in a script, the path of its member in a manifest, and empty in a style sheet.
//!
//! ```
//! use baselink_text::Format;
//! use baselink_scan::{ScanOptions, scan_as};
//! let json = br#"{ "name": "x", "start_url": "../", "icons": [{ "src": "i.png" }] }"#;
//! let options = ScanOptions { groups: "manifest".parse().unwrap(), ..ScanOptions::default() };
//! let document = scan_as(Format::Manifest, json, &options).unwrap();
//! let references = document.links.into_iter().map(|link| link.reference);
//! assert_eq!(references.collect::<Vec<_>>(), ["../", "i.png"]);
//! ```
//!
//! Deliberately absent: the positions of URLs, which [`css`](super::css), [`json`](super::json),
//! [`script`](super::script) and [`text`] find.

use std::sync::Arc;

use baselink_text::{Charset, Format, layer::spelling::Carrier};

use super::{
    ScanOptions,
    collect::{Carriers, Collector, LinkPlace, Links, TextContent},
    is_read,
    json::JsonKind,
    script::Goal,
    text,
};
use crate::document::Document;

/// Scans `bytes` as a file of this format: [`Format::Css`], [`Format::Manifest`], [`Format::JsonFeed`],
/// [`Format::Script`] or [`Format::Plain`]. The links go to `links`; if the group of the format is not enabled, there are none.
///
/// Linear in time and memory. Spans are offsets in `bytes`, or in the decoded text if the encoding does not extend
/// ASCII.
pub fn scan(
    format: Format,
    bytes: &[u8],
    options: &ScanOptions,
    links: &mut dyn Links,
) -> Document {
    let found = match format {
        Format::Css => Charset::detect_style_sheet(bytes, options.charset),
        _ => Charset::detect_plain(bytes, options.charset),
    };
    let (content, element) = match format {
        Format::Css => (TextContent::Css, ""),
        Format::Manifest => (TextContent::Json(JsonKind::Manifest), ""),
        Format::JsonFeed => (TextContent::Json(JsonKind::Feed), ""),
        _ => (TextContent::Script(Goal::File), "script"),
    };
    let empty = |charset| Document::empty(Arc::clone(&options.entity), format, charset);
    if !is_read(format, options) {
        return Document {
            not_utf_8: found.not_utf_8,
            ..empty(found.charset)
        };
    }
    Document::of_file(bytes, found, |bytes, start, charset| {
        if format == Format::Plain {
            text::links(bytes, charset).for_each(|link| links.link(bytes, link));
            return empty(charset);
        }
        let mut collector = Collector::to(options, links, bytes);
        let view = charset.decode(&bytes[start..], start);
        let place = LinkPlace::text_of(element, Carriers::One(Carrier::Raw));
        Document {
            diagnostics: Vec::from_iter(collector.text(&view, content, &place)),
            ..empty(charset)
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::attributes::Groups;
    use crate::document::Against;
    use crate::scan_as;
    use baselink_text::Code;
    use baselink_text::Span;
    use baselink_text::layer::spelling::Form;

    fn scan(format: Format, bytes: &[u8], options: &ScanOptions) -> Document {
        scan_as(format, bytes, options).unwrap()
    }

    fn references(document: &Document) -> Vec<&str> {
        document
            .links
            .iter()
            .map(|link| link.reference.as_str())
            .collect()
    }

    #[test]
    fn without_the_group_there_are_no_links() {
        let options = ScanOptions::default();
        assert!(
            scan(Format::Script, b"import './a.js'", &options)
                .links
                .is_empty()
        );
        assert!(
            scan(Format::Manifest, br#"{"scope":"a"}"#, &options)
                .links
                .is_empty()
        );
    }

    #[test]
    fn byte_order_marks_and_encodings() {
        let options = ScanOptions {
            groups: Groups::all(),
            ..ScanOptions::default()
        };
        let marked = b"\xef\xbb\xbf{\"scope\":\"\xc3\xa9/\"}";
        let document = scan(Format::Manifest, marked, &options);
        assert_eq!(references(&document), ["é/"]);
        assert_eq!(&marked[document.links[0].span().range()], "é/".as_bytes());
        let wide: Vec<u8> = "\u{feff}import './é.js'"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let document = scan(Format::Script, &wide, &options);
        assert_eq!(references(&document), ["./é.js"]);
        assert!(document.decoded.is_some());
    }

    #[test]
    fn malformed_files_are_reported() {
        let options = ScanOptions {
            groups: Groups::all(),
            ..ScanOptions::default()
        };
        let faults = |document: Document| -> Vec<_> {
            document
                .diagnostics
                .into_iter()
                .map(|one| (one.code, one.span.start))
                .collect()
        };
        assert_eq!(
            faults(scan(Format::Manifest, b"{\n", &options)),
            [(Code::NotWellFormed, 0)]
        );
        assert_eq!(
            faults(scan(Format::Script, b"import 'a'; (", &options)),
            [(Code::NotWellFormed, 13)]
        );
        assert_eq!(faults(scan(Format::Script, b"import 'a'", &options)), []);
    }

    /// The encoding of `bytes`, and each reference with its span.
    fn scanned(bytes: &[u8], charset: &str) -> (&'static str, Vec<(String, Span)>) {
        let options = ScanOptions {
            charset: Charset::for_label(charset),
            ..ScanOptions::default()
        };
        let document = scan(Format::Css, bytes, &options);
        let links = document
            .links
            .iter()
            .map(|link| (link.reference.clone(), link.span()));
        (document.charset.name(), links.collect())
    }

    #[test]
    fn a_style_sheet_is_a_document() {
        let document = scan(Format::Css, b"@import ' a\\62 ' ;", &ScanOptions::default());
        assert_eq!((document.format, document.links.len()), (Format::Css, 1));
        let link = &document.links[0];
        assert_eq!((&*link.element, link.attribute.as_deref()), ("", None));
        assert_eq!(
            (link.reference.as_str(), link.span()),
            ("ab", Span::new(10, 15))
        );
        assert_eq!(link.against, Against::Document);
        assert!(link.fragment_identifies && !link.empty_resolves);
        assert_eq!(link.spelling.form, Form::CssString('\''));
    }

    #[test]
    fn links_in_every_encoding_of_a_style_sheet_map_to_the_bytes() {
        let expected = |charset, reference: &str, start, end| {
            (charset, vec![(reference.to_owned(), Span::new(start, end))])
        };
        assert_eq!(
            scanned(b"url(\xc3\xa9)", ""),
            expected("UTF-8", "\u{e9}", 4, 6)
        );
        assert_eq!(
            scanned(b"url(\xe9x)", ""),
            expected("UTF-8", "\u{fffd}x", 4, 6)
        );
        assert_eq!(
            scanned(b"\xef\xbb\xbfurl(a)", "koi8-r"),
            expected("UTF-8", "a", 7, 8)
        );
        assert_eq!(
            scanned(b"url(\x95\x5c)", "shift_jis"),
            expected("Shift_JIS", "\u{8868}", 4, 6)
        );
        assert_eq!(
            scanned(b"@charset \"koi8-r\";url(\xc1)", ""),
            expected("KOI8-R", "\u{430}", 22, 23)
        );
        assert_eq!(
            scanned(b"\xff\xfeu\0r\0l\0(\0a\0)\0", ""),
            expected("UTF-16LE", "a", 4, 5)
        );
        let document = scan(
            Format::Css,
            b"\xff\xfeu\0r\0l\0(\0a\0)\0",
            &ScanOptions::default(),
        );
        let decoded = document
            .decoded
            .map(|decoded| decoded.map.covering(Span::new(4, 5)));
        assert_eq!(decoded, Some(Span::new(10, 12)));
    }
}
