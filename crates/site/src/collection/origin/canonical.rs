//! The canonical URL of a page: `<link rel="canonical">` (RFC 6596) and Open Graph's `og:url`
//! (<https://ogp.me/>).
//!
//! In these tags the author names the preferred URL of the page. The page was often retrieved from that URL, but the
//! URL may also lead to the first page of a list, or to the same text elsewhere. The URL is therefore only a hint, and
//! is used as a retrieval URL only on request ([`super::Origins::canonical`]).
//!
//! The first `link` wins whose `rel` contains `canonical` and whose `href` is an absolute, hierarchical URL. If there
//! is none, the first `og:url` with such a URL wins. Tags after `<body>`, in a `template`, in a comment or in a script
//! are ignored.
//!
//! ```
//! use baselink_text::Format;
//! use baselink_site::collection::origin::canonical::named;
//! let page = b"<meta property=og:url content=http://a/1><link href='http://a/2#c' rel='x Canonical'>";
//! let named = named(page, Format::Html).unwrap();
//! assert_eq!((named.url.as_str(), named.by), ("http://a/2", "canonical"));
//! assert_eq!(&page[named.span.range()], b"http://a/2#c");
//! ```
//!
//! Deliberately absent: relative URLs. Resolving them would require the URL that is being sought.

use std::borrow::Cow;

use baselink_scan::{
    attributes::Namespace,
    html::{
        sink::{Sink, TextModel},
        tag::{RawTag, distinct},
        walk,
    },
    value,
};
use baselink_text::{Charset, Format, Span, View};
use baselink_url::without_fragment;

use super::usable::unusable;

/// The number of bytes of a page to search.
pub const HEAD: usize = 1 << 20;

/// The maximum length of a URL; longer ones are ignored.
const LONGEST: usize = 8_192;

/// A URL that a page declares as its own.
#[derive(Debug, PartialEq, Eq)]
pub struct CanonicalUrl {
    /// The URL, without its fragment.
    pub url: String,
    /// The property of the page that names the URL: `canonical` or `og:url`.
    pub by: &'static str,
    /// The span of the URL in the page.
    pub span: Span,
}

/// Finds the URL that an HTML or XHTML page declares as its own. Only the first [`HEAD`] bytes are searched. Other
/// formats have no such URL.
pub fn named(head: &[u8], format: Format) -> Option<CanonicalUrl> {
    search(head, format).0
}

/// Finds the URL that a page declares as its own, and the spans of the URLs of `link` elements that must be absolute: the canonical
/// URL (RFC 6596, 3), and those of the page in other languages
/// (<https://developers.google.com/search/docs/specialty/international/localized-versions>). The page begins with `head`. Only the
/// first [`HEAD`] bytes of HTML and XHTML are searched.
pub(crate) fn search(head: &[u8], format: Format) -> (Option<CanonicalUrl>, Vec<Span>) {
    if !format.is_page() {
        return (None, Vec::new());
    }
    let head = &head[..head.len().min(HEAD)];
    let found = match format {
        Format::Html => Charset::detect(head, None),
        _ => Charset::detect_xml(head, None),
    };
    let (mut charset, mut start) = (found.charset, found.mark);
    let (mut text, mut map) = (Cow::Borrowed(head), None);
    if !charset.is_ascii_compatible() {
        let view = charset.decode(&head[start..], start);
        (text, map) = (view.text.into_bytes().into(), Some(view.map));
        (charset, start) = (Charset::UTF_8, 0);
    }
    let mut sink = CanonicalSink {
        text: &text,
        charset,
        ..CanonicalSink::default()
    };
    walk::best_effort(&text, start..text.len(), true, true, &mut sink);
    let place = |span| map.as_ref().map_or(span, |map| map.covering(span));
    let named = sink.of_link.or(sink.of_graph);
    let named = named.map(|named| CanonicalUrl {
        span: place(named.span),
        ..named
    });
    (named, sink.all.into_iter().map(place).collect())
}

/// A search in the head of a page.
#[derive(Default)]
struct CanonicalSink<'a> {
    text: &'a [u8],
    charset: Charset,
    of_link: Option<CanonicalUrl>,
    of_graph: Option<CanonicalUrl>,
    /// The number of open `template` elements.
    templates: usize,
    is_in_body: bool,
    /// The URLs that must be absolute.
    all: Vec<Span>,
}

impl Sink for CanonicalSink<'_> {
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, _: TextModel) {
        let is = |name| tag.is_named(self.text, name);
        if namespace != Namespace::Html {
            return;
        }
        self.is_in_body |= is("body");
        if is("template") {
            self.templates += 1;
        } else if is("link") {
            let is_canonical = self.has_word(tag, "rel", "canonical");
            let is_other_language = || {
                self.has_word(tag, "rel", "alternate") && self.attribute(tag, "hreflang").is_some()
            };
            let wants_absolute = is_canonical || is_other_language();
            let url = || self.url(tag, "href", "canonical");
            let found = wants_absolute.then(url).flatten();
            self.all.extend(found.as_ref().map(|found| found.span));
            if is_canonical && self.templates == 0 {
                self.of_link = self.of_link.take().or(found.filter(is_usable));
            }
        } else if self.templates == 0 && self.of_graph.is_none() && is("meta") {
            let mut names = ["property", "name"].iter();
            let is_named = names.any(|name| self.has_word(tag, name, "og:url"));
            let url = || self.url(tag, "content", "og:url");
            self.of_graph = is_named.then(url).flatten().filter(is_usable);
        }
    }

    fn end_tag(&mut self, tag: &RawTag) {
        if tag.is_named(self.text, "template") {
            self.templates = self.templates.saturating_sub(1);
        }
    }

    fn is_done(&self) -> bool {
        self.is_in_body
    }
}

/// True if a page may have this URL.
fn is_usable(found: &CanonicalUrl) -> bool {
    unusable(&found.url).is_none()
}

impl CanonicalSink<'_> {
    /// True if the attribute called `name` contains the word `word`.
    fn has_word(&self, tag: &RawTag, name: &str, word: &str) -> bool {
        self.attribute(tag, name).is_some_and(|value| {
            let mut words = value.text.split_ascii_whitespace();
            words.any(|other| other.eq_ignore_ascii_case(word))
        })
    }

    /// The URL in the attribute called `name`, which need not be usable.
    fn url(&self, tag: &RawTag, name: &str, by: &'static str) -> Option<CanonicalUrl> {
        let value = self.attribute(tag, name)?;
        let trimmed = value::trimmed(&value.text);
        let url = without_fragment(&value.text[trimmed.range()]).to_owned();
        let span = value.map.covering(trimmed);
        Some(CanonicalUrl { url, by, span })
    }

    /// The decoded value of the first attribute called `name`.
    fn attribute(&self, tag: &RawTag, name: &str) -> Option<View> {
        let attributes = distinct(self.text, tag);
        let attribute = attributes
            .iter()
            .find(|other| other.is_named(self.text, name))?;
        let is_short = attribute.value?.len() <= LONGEST;
        is_short.then(|| attribute.decoded(self.text, self.charset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url_of(page: &str) -> Option<String> {
        named(page.as_bytes(), Format::Html).map(|named| named.url)
    }

    #[test]
    fn tags_that_name_the_url_of_a_page() {
        for (page, expected) in [
            ("<link rel=canonical href=http://a/x>", Some("http://a/x")),
            (
                "<LINK HREF=' http://a/x?y&amp;z#f ' REL='next CANONICAL'>",
                Some("http://a/x?y&z"),
            ),
            (
                "<meta property='og:url' content=http://a/x>",
                Some("http://a/x"),
            ),
            (
                "<meta name='og:url' content=http://a/x>",
                Some("http://a/x"),
            ),
            // A canonical `link` wins over `og:url`, whatever its position.
            (
                "<meta property='og:url' content=http://b/><link rel=canonical href=http://a/x>",
                Some("http://a/x"),
            ),
            // The first usable URL wins.
            (
                "<link rel=canonical href=/x><link rel=canonical href=http://a/y>",
                Some("http://a/y"),
            ),
            (
                "<link rel=canonical href=/x><meta property='og:url' content=http://a/x>",
                Some("http://a/x"),
            ),
            ("<link rel=canonical href=//a/x>", None),
            ("<link rel=canonical href=mailto:a@b>", None),
            ("<link rel=canonical href=http://>", None),
            ("<link rel=canonical>", None),
            ("<link rel=alternate href=http://a/x>", None),
            ("<!--<link rel=canonical href=http://a/x>-->", None),
            (
                "<script>'<link rel=canonical href=http://a/x>'</script>",
                None,
            ),
            (
                "<template><link rel=canonical href=http://a/x></template>",
                None,
            ),
            ("<svg><link rel=canonical href=http://a/x></svg>", None),
            ("<body><link rel=canonical href=http://a/x>", None),
        ] {
            assert_eq!(url_of(page).as_deref(), expected, "{page}");
        }
    }

    #[test]
    fn spans_refer_to_the_bytes_of_a_page_in_utf_16() {
        let page: Vec<u8> = "\u{feff}<link rel=canonical href=http://a/x>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let found = named(&page, Format::Html);
        assert_eq!(
            found.map(|named| named.span),
            Some(Span::new(2 * 26, 2 * 36))
        );
    }

    #[test]
    fn other_formats_have_no_canonical_url() {
        assert_eq!(
            named(b"<link rel=canonical href=http://a/x>", Format::Css),
            None
        );
    }
}
