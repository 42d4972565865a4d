//! Scans plain text for links in the wrapper that the appendix of RFC 1738 recommends, `<URL:…>`, if the group
//! `text` is enabled.
//!
//! "Extra whitespace (spaces, linebreaks, tabs, etc.) may need to be added to break long URLs across lines. The
//! whitespace should be ignored when extracting the URL." The appendix also says that a hyphen before a line break
//! may or may not be part of the URL. Here it is always part of the URL.
//!
//! ```
//! use baselink_scan::text;
//! use baselink_text::Charset;
//! let mail = b"See <URL:../a/\n  b.html>, or <http://a/>.";
//! let links: Vec<_> = text::links(mail, Charset::UTF_8).collect();
//! assert_eq!(links.len(), 1);
//! assert_eq!(links[0].reference, "../a/b.html");
//! assert_eq!(&mail[links[0].span().range()], b"../a/\n  b.html");
//! ```
//!
//! Deliberately absent: URLs without the wrapper. Only relative URLs need rewriting, and text that looks like a
//! relative URL rarely is one.

use baselink_text::{Charset, Span, View, format::starts_with, layer::spelling::Form};

use crate::document::{Link, Role};

const OPEN: &str = "<URL:";

/// The maximum number of bytes between `<URL:` and `>`.
pub const LONGEST_WRAPPED: usize = 8_192;

/// The links in `bytes`, which are text/plain in `charset`.
pub fn links(bytes: &[u8], charset: Charset) -> impl Iterator<Item = Link> {
    let wrapped = wrapped(bytes).into_iter();
    wrapped.filter_map(move |inside| link(bytes, inside, charset))
}

/// The spans between each `<URL:` and its `>`. Omits spans that contain another `<` or are longer than
/// [`LONGEST_WRAPPED`].
fn wrapped(bytes: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(before) = memchr::memchr(b'<', &bytes[at..]) {
        let open = at + before;
        at = open + 1;
        if !starts_with(&bytes[open..], OPEN) {
            continue;
        }
        let start = open + OPEN.len();
        let limit = bytes.len().min(start + LONGEST_WRAPPED + 1);
        if let Some(length) = memchr::memchr2(b'<', b'>', &bytes[start..limit]) {
            at = start + length;
            if bytes[at] == b'>' {
                found.push(Span::new(start, at));
            }
        }
    }
    found
}

/// The link in the wrapper around `inside`; `None` if only white space is inside.
fn link(bytes: &[u8], inside: Span, charset: Charset) -> Option<Link> {
    let mut view = View::of_str("", inside.start);
    let mut at = inside.start;
    for word in bytes[inside.range()].split(u8::is_ascii_whitespace) {
        if !word.is_empty() {
            view.append(&charset.decode(word, at));
        }
        at += word.len() + 1;
    }
    (!view.text.is_empty()).then(|| Link {
        role: Role::Navigation,
        map: Some(view.map),
        ..Link::in_text("text", view.text, inside, Form::Field(None))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use baselink_text::Format;
    use proptest::prelude::*;

    use super::*;
    use crate::{Document, ScanOptions, scan_as};

    fn scanned(bytes: &[u8], charset: &str) -> Document {
        let groups = "text".parse().unwrap();
        let options = ScanOptions {
            charset: Charset::for_label(charset),
            groups,
            ..ScanOptions::default()
        };
        scan_as(Format::Plain, bytes, &options).unwrap()
    }

    fn references(bytes: &[u8]) -> Vec<String> {
        scanned(bytes, "")
            .links
            .into_iter()
            .map(|link| link.reference)
            .collect()
    }

    /// RFC 1738, appendix.
    #[test]
    fn only_wrapped_urls_are_links() {
        for (text, expected) in [
            (
                "Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;\n      type=d> but",
                &["ftp://info.cern.ch/pub/www/doc;type=d"] as &[_],
            ),
            ("<URL:a><url:../b#c><Url:>", &["a", "../b#c"]),
            ("<URL:\r\n a\t\x0cb \n>", &["ab"]),
            (
                "<http://a/> URL:b http://c/ <a href=d> <URL e> < URL:f>",
                &[],
            ),
            ("<URL: \n>", &[]),
            ("<URL:a<URL:b> <URL:c<d>", &["b"]),
            ("<URL:a", &[]),
            ("<URL:a-\nb>", &["a-b"]),
            ("<URL:caf\u{e9}>", &["caf\u{e9}"]),
        ] {
            assert_eq!(references(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn spans_are_offsets_in_the_bytes() {
        let document = scanned(b"a <url:b> <URL:c\n d>", "");
        let spans: Vec<_> = document.links.iter().map(Link::span).collect();
        assert_eq!(spans, [Span::new(7, 8), Span::new(15, 19)]);
        let map = document.links[1].map.as_ref().unwrap();
        assert_eq!(
            [0, 1, 2].map(|at| map.to_source(at)),
            [15, 16, 19].map(Some)
        );
        let link = &document.links[1];
        assert_eq!((&*link.element, link.attribute.as_deref()), ("text", None));
        assert_eq!(link.spelling.form, Form::Field(None));
    }

    #[test]
    fn without_the_group_there_are_no_links() {
        let document = scan_as(Format::Plain, b"<URL:a>", &ScanOptions::default()).unwrap();
        assert!(document.links.is_empty() && document.decoded.is_none());
    }

    #[test]
    fn links_in_every_encoding_map_to_the_bytes() {
        let place = |bytes: &[u8], charset: &str, at: usize| {
            let document = scanned(bytes, charset);
            let link = &document.links[0];
            let end = link.map.as_ref().unwrap().to_source(at);
            (document.charset.name(), link.reference.clone(), end)
        };
        let expected = |charset, reference: &str, end| (charset, reference.to_owned(), Some(end));
        assert_eq!(
            place(b"<URL:caf\xe9/x>", "", 5),
            expected("windows-1252", "caf\u{e9}/x", 9)
        );
        assert_eq!(
            place(b"<URL:\x95\x5c>", "shift_jis", 3),
            expected("Shift_JIS", "\u{8868}", 7)
        );
        assert_eq!(
            place(b"\xef\xbb\xbf<URL:a>", "shift_jis", 0),
            expected("UTF-8", "a", 8)
        );

        let document = scanned(b"<\0U\0R\0L\0:\0a\0\n\0b\0>\0", "utf-16le");
        assert_eq!(document.links[0].reference, "ab");
        assert_eq!(document.links[0].span(), Span::new(5, 8));
        let decoded = document.decoded.unwrap();
        assert_eq!(decoded.text, "<URL:a\nb>");
        assert_eq!(decoded.map.covering(Span::new(5, 8)), Span::new(10, 16));
    }

    #[test]
    fn a_wrapper_has_a_longest() {
        let wrapped = |length: usize| format!("<URL:{}>", "a".repeat(length));
        assert_eq!(references(wrapped(8_192).as_bytes()).len(), 1);
        assert_eq!(references(wrapped(8_193).as_bytes()).len(), 0);
    }

    #[test]
    fn a_megabyte_of_anything() {
        for piece in ["<", "<URL:", "<URL:>", "a", "<URL: "] {
            assert!(references(piece.repeat(1_000_000 / piece.len()).as_bytes()).is_empty());
        }
        assert_eq!(
            references("<URL:a>".repeat(100_000).as_bytes()).len(),
            100_000
        );
        let words = format!("<URL:{}>", "a ".repeat(4_096)).repeat(100);
        assert_eq!(references(words.as_bytes()).len(), 100);
    }

    const PIECES: &[&str] = &[
        "<URL:", "<url:", "<", ">", "URL:", " ", "\n", "\r\n", "a", "../", "\u{e9}", "http://", "-",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), label in 0..6_usize) {
            let label = ["", "utf-8", "utf-16le", "iso-2022-jp", "gb18030", "x-user-defined"][label];
            scanned(&[b"<URL:", bytes.as_slice(), b">"].concat(), label);
        }

        #[test]
        fn references_are_at_their_spans(pieces in proptest::collection::vec(0..PIECES.len(), 1..24)) {
            let text: String = pieces.into_iter().map(|at| PIECES[at]).collect();
            for link in scanned(text.as_bytes(), "").links {
                let written: String = text[link.span().range()].split_ascii_whitespace().collect();
                prop_assert_eq!(&written, &link.reference);
                prop_assert!(link.holder.start <= link.span().start && link.span().end <= link.holder.end);
            }
        }
    }
}
