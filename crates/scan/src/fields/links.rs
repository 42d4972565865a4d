//! The links in header fields, as written, if the group `headers` is enabled.
//!
//! The fields are `Content-Location` (RFC 2557, 4.2), `Link` (RFC 8288, 3), the `List-` fields of RFC 2369,
//! `Archived-At` (RFC 5064), `Location` (RFC 9110, 10.2.2), `URI` (RFC 2068, 19.6.2.5), `Refresh` (HTML, 7.8), and
//! `Content-Type` with the `URL` of an external body (RFC 2017, 3.1).
//!
//! White space inside a URL in brackets is ignored (RFC 1808, 3.1; RFC 2369, 2; RFC 2017, 3.1). Elsewhere, only folds are
//! (RFC 2557, 4.4.2). URLs with encoded words or
//! quoted pairs are read but cannot be edited.
//!
//! ```
//! use baselink_scan::fields::{Heading, links};
//! let message = b"Link: </b\n  /c>; rel=next; title=\"<d>\", <e>\nSubject: <f>\n\n";
//! let links = links(message, &Heading::read(message));
//! let references: Vec<_> = links.iter().map(|link| link.reference.as_str()).collect();
//! assert_eq!(references, ["/b/c", "e"]);
//! assert_eq!(&message[links[0].span().range()], b"/b\n  /c");
//! ```
//!
//! Deliberately absent: the fields that declare a base (`Base`, `Content-Base`, `Snapshot-Content-Location`), whose
//! URLs are absolute or ignored, and identifiers (`Content-ID`).

use std::borrow::Cow;

use baselink_text::{
    Span, View,
    layer::{MapBuilder, charset::masked, spelling::Form},
};

use super::{
    heading::{
        Heading, bare_end, comments_end, folds, is_white, joined, quoted, text_of, url_of,
        without_prefix,
    },
    media_type::{MediaType, quoted_parameter},
};
use crate::{
    attributes::{Groups, Namespace, find},
    document::{
        Link,
        Role::{self, Embedded, Metadata, Navigation},
    },
    value::{self, skip},
};

/// The syntax of a field's value around the URLs in it.
#[derive(Clone, Copy)]
enum FieldSyntax {
    /// One URL with comments. The URL may be in brackets or in quotes.
    Url,
    /// URLs in brackets, separated by commas, with comments.
    List,
    /// URLs in brackets with parameters, separated by commas (RFC 8288, 3).
    Link,
    /// A time and a URL.
    Refresh,
    /// A media type with a parameter that is a URL.
    ExternalBody,
}

/// The fields, by their names in lower case.
#[rustfmt::skip]
const FIELDS: &[(&str, FieldSyntax, Role)] = &[
    ("content-location", FieldSyntax::Url, Metadata),
    ("link", FieldSyntax::Link, Metadata),
    ("list-help list-unsubscribe list-subscribe list-post list-owner list-archive archived-at", FieldSyntax::List, Navigation),
    ("location", FieldSyntax::Url, Navigation),
    ("uri", FieldSyntax::List, Metadata),
    ("refresh", FieldSyntax::Refresh, Navigation),
    ("content-type", FieldSyntax::ExternalBody, Embedded),
];

/// The links in the header fields of `heading`, which was read from `bytes`, in order.
///
/// The element of a link is the name of its field in lower case. Spans are offsets in `bytes`.
pub fn links(bytes: &[u8], heading: &Heading) -> Vec<Link> {
    let mut links = Vec::new();
    let mut single: Vec<&str> = Vec::new();
    for &field in &heading.fields {
        let name = &bytes[field.name.range()];
        let Some((name, syntax, role)) = FIELDS.iter().find_map(|&(names, syntax, role)| {
            let known = names
                .split(' ')
                .find(|known| name.eq_ignore_ascii_case(known.as_bytes()))?;
            Some((known, syntax, role))
        }) else {
            continue;
        };
        if matches!(syntax, FieldSyntax::Url | FieldSyntax::ExternalBody) {
            // A heading may have each of these fields only once (RFC 2557, 4.2; RFC 9110, 5.3).
            if single.contains(&name) {
                continue;
            }
            single.push(name);
        }
        let value = &bytes[field.value.range()];
        let mut found = FieldLinks {
            bytes,
            name,
            value: field.value,
            role,
            links: &mut links,
        };
        match syntax {
            FieldSyntax::Url => found.add(raw_url(bytes, field.value), url_of(value), None),
            FieldSyntax::List => found.add_all(&list(value)),
            FieldSyntax::Link => {
                for (target, is_loaded) in targets(value) {
                    found.role = if is_loaded { Embedded } else { role };
                    found.add_all(&[target]);
                }
            }
            FieldSyntax::Refresh => found.refresh(),
            FieldSyntax::ExternalBody => found.external_body(),
        }
    }
    links
}

/// The links of one field, which are added to those found so far.
struct FieldLinks<'a> {
    bytes: &'a [u8],
    name: &'a str,
    value: Span,
    /// The role of the links that are added next.
    role: Role,
    links: &'a mut Vec<Link>,
}

impl FieldLinks<'_> {
    /// Adds the reference `read`, unless it is empty. `view` is its text before encoded words are decoded.
    fn add(&mut self, view: View, read: String, quote: Option<char>) {
        if read.is_empty() {
            return;
        }
        self.links.push(Link {
            map: (view.text == read && !may_be_encoded(&view.text)).then_some(view.map),
            role: self.role,
            ..Link::in_text(self.name.to_owned(), read, self.value, Form::Field(quote))
        });
    }

    /// Adds the URL whose text is at `pieces`.
    fn add_pieces(&mut self, pieces: &[Span], quote: Option<char>) {
        let words = pieces.iter().map(|piece| &self.bytes[piece.range()]);
        self.add(view(self.bytes, pieces), joined(words), quote);
    }

    /// Adds the URLs at `spans` of the value.
    fn add_all(&mut self, spans: &[Span]) {
        for span in spans {
            let words = pieces(self.bytes, span.shifted(self.value.start), is_white);
            self.add_pieces(&words, None);
        }
    }

    /// Adds the URL of a `Refresh`.
    fn refresh(&mut self) {
        // One ASCII character per byte keeps the offsets. Bytes beyond ASCII do not matter to the syntax.
        let text = masked(&self.bytes[self.value.range()]);
        let Some(refresh) = value::refresh(&text) else {
            return;
        };
        let span = refresh.span.shifted(self.value.start);
        let lines = pieces(self.bytes, span, |byte| matches!(byte, b'\r' | b'\n'));
        self.add_pieces(&lines, refresh.quote);
    }

    /// Adds the URL of an external body (RFC 2017, 3): `message/external-body; access-type=URL; URL="…"`.
    fn external_body(&mut self) {
        let value = &self.bytes[self.value.range()];
        let Some(media_type) =
            MediaType::read(value).filter(|one| one.essence == "message/external-body")
        else {
            return;
        };
        let access = media_type.parameter("access-type");
        if !access.is_some_and(|access| access.eq_ignore_ascii_case("url")) {
            return;
        }
        let Some(url) = media_type.parameter("url") else {
            return;
        };
        let words = quoted_parameter(value, "url").map_or(Vec::new(), |span| {
            pieces(self.bytes, span.shifted(self.value.start), is_white)
        });
        let read = url
            .split(|one: char| u8::try_from(one).is_ok_and(is_white))
            .collect();
        let before = self.links.len();
        self.add(view(self.bytes, &words), read, None);
        for link in &mut self.links[before..] {
            link.attribute = Some("url".into());
        }
    }
}

/// The pieces of `bytes[span]` between `breaks`, each without the white space around it.
fn pieces(bytes: &[u8], span: Span, breaks: impl Fn(u8) -> bool) -> Vec<Span> {
    let mut pieces = Vec::new();
    let mut at = span.start;
    for piece in bytes[span.range()].split(|&byte| breaks(byte)) {
        let end = at + piece.len();
        let inner = value::stripped(bytes, Span::new(at, end), is_white);
        pieces.extend((!inner.is_empty()).then_some(inner));
        at = end + 1;
    }
    pieces
}

/// The joined bytes at `pieces`, decoded by [`text_of`]. Encoded words are not decoded.
fn view(bytes: &[u8], pieces: &[Span]) -> View {
    let mut text = String::new();
    let mut map = MapBuilder::default();
    for piece in pieces {
        match text_of(&bytes[piece.range()]) {
            Cow::Borrowed(valid) => {
                text.push_str(valid);
                map.verbatim(piece.start, valid.len());
            }
            Cow::Owned(latin) => {
                for (at, one) in (piece.start..).zip(latin.chars()) {
                    text.push(one);
                    match one.len_utf8() {
                        1 => map.verbatim(at, 1),
                        length => map.whole(length, Span::new(at, at + 1), None),
                    }
                }
            }
        }
    }
    let start = pieces.first().map_or(0, |piece| piece.start);
    View {
        text,
        map: map.finish(start),
    }
}

/// True if `text` has both marks of an encoded word (RFC 2047, 2). New text next to it might complete such a word.
fn may_be_encoded(text: &str) -> bool {
    text.split_once("=?")
        .is_some_and(|(_, rest)| rest.contains("?="))
}

/// The URL that [`url_of`] reads from `bytes[span]`, before decoding. The results differ if the URL contains encoded
/// text or a comment.
fn raw_url(bytes: &[u8], span: Span) -> View {
    let start = span.start + comments_end(&bytes[span.range()]);
    let value = &bytes[start..span.end];
    let until = |from: usize, end: u8| {
        memchr::memchr(end, &bytes[from..span.end]).map_or(span.end, |length| from + length)
    };
    let inside = match value.first() {
        Some(b'<') => return bracketed(bytes, Span::new(start + 1, until(start + 1, b'>'))),
        Some(b'"') => {
            let inside = Span::new(start + 1, until(start + 1, b'"'));
            let blank =
                bytes[inside.range()].len() - bytes[inside.range()].trim_ascii_start().len();
            let first = inside.start + blank;
            if bytes.get(first) == Some(&b'<') && first < inside.end {
                let end = until(first, b'>').min(inside.end);
                return bracketed(bytes, Span::new(first + 1, end));
            }
            inside
        }
        _ => Span::new(start, start + bare_end(value)),
    };
    view(bytes, &pieces(bytes, inside, folds))
}

/// The text inside brackets, without the prefix `URL:` (RFC 1808, 3.1).
fn bracketed(bytes: &[u8], inside: Span) -> View {
    let view = view(bytes, &pieces(bytes, inside, is_white));
    let start = view.text.len() - without_prefix(&view.text).len();
    view.slice(Span::new(start, view.text.len()))
        .unwrap_or(view)
}

/// The spans inside the brackets of a list (RFC 2369, 2). If a field or an item begins with anything but a bracket,
/// "the remainder of the field" is ignored. If other text follows a closing bracket, the rest is ignored, too.
fn list(value: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = comments_end(value);
    while let Some(inside) = inside_brackets(value, at) {
        found.push(inside);
        at = inside.end + 1;
        at += comments_end(&value[at..]);
        if value.get(at) != Some(&b',') {
            break;
        }
        at += 1;
        at += comments_end(&value[at..]);
    }
    found
}

/// The span inside the brackets that open at `at`.
fn inside_brackets(value: &[u8], at: usize) -> Option<Span> {
    let inside = value.get(at..)?.strip_prefix(b"<")?;
    memchr::memchr(b'>', inside).map(|length| Span::new(at + 1, at + 1 + length))
}

/// The spans inside the brackets of a `Link` (RFC 8288, appendix B.2), each with true if a browser loads the target
/// with the page.
fn targets(value: &[u8]) -> Vec<(Span, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        // RFC 9110, 5.6.1: a list may have empty items.
        at = skip(value, at, |byte| is_white(byte) || byte == b',');
        let Some(inside) = inside_brackets(value, at) else {
            return found;
        };
        let mut is_loaded = false;
        at = parameters_end(value, inside.end + 1, |name, tokens| {
            is_loaded |= name.eq_ignore_ascii_case(b"rel") && loads(tokens);
        });
        found.push((inside, is_loaded));
        if value.get(at) != Some(&b',') {
            return found;
        }
    }
}

/// The end of the parameters that begin at `at`, and of the white space after them (RFC 8288, appendix B.3).
/// `each` receives the name and value of each parameter that has a value.
fn parameters_end(value: &[u8], mut at: usize, mut each: impl FnMut(&[u8], &[u8])) -> usize {
    loop {
        at = skip(value, at, is_white);
        if value.get(at) != Some(&b';') {
            return at;
        }
        at = skip(value, at + 1, is_white);
        let name = at;
        at = skip(value, at, |byte| {
            !is_white(byte) && !matches!(byte, b'=' | b';' | b',')
        });
        let name = &value[name..at];
        at = skip(value, at, is_white);
        if value.get(at) == Some(&b'=') {
            let start = skip(value, at + 1, is_white);
            at = match value.get(start) {
                Some(b'"') => value.len().min(start + quoted(&value[start..]).1 + 1),
                _ => skip(value, start, |byte| !matches!(byte, b';' | b',')),
            };
            each(name, &value[start..at]);
        }
    }
}

/// True if a `link` element with this list of link relations, quoted or not, is embedded.
fn loads(relations: &[u8]) -> bool {
    let relations = String::from_utf8_lossy(relations).replace('"', " ");
    let other = |_: &str| Some(relations.clone());
    find(Namespace::Html, "link", "href", &other, &Groups::default())
        .is_some_and(|row| row.role == Embedded)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;
    use crate::fields::heading::LONGEST_DECODED;
    use baselink_text::Charset;
    use baselink_text::layer::spelling::lift;

    fn links_of(message: &[u8]) -> Vec<Link> {
        links(message, &Heading::read(message))
    }

    /// The element, the reference, and the reference's bytes; `None` if the link cannot be edited.
    type Row<'a> = (&'a str, &'a str, Option<&'a str>);

    fn check(fields: &str, expected: &[Row<'_>]) {
        let message = format!("{fields}\nSubject: <s>\n\n<URL:body>");
        let links = links_of(message.as_bytes());
        let found: Vec<Row<'_>> = links
            .iter()
            .map(|link| {
                let bytes = link.map.as_ref().map(|map| &message[map.source().range()]);
                (&*link.element, link.reference.as_str(), bytes)
            })
            .collect();
        assert_eq!(found, expected, "{fields:?}");
    }

    /// RFC 2557, 4.2 and 4.4; RFC 1808, 3.1, for the brackets.
    #[test]
    fn content_location_in_every_spelling() {
        let name = "content-location";
        for (value, reference, bytes) in [
            ("a/b.html", "a/b.html", Some("a/b.html")),
            ("  (a comment (in it)) a (behind it)", "a", Some("a")),
            ("a/\r\n b/\n\tc", "a/b/c", Some("a/\r\n b/\n\tc")),
            ("<a>", "a", Some("a")),
            ("(c) <URL: a/\r\n b> (d)", "a/b", Some("a/\r\n b")),
            ("<url:a", "a", Some("a")),
            ("a b.svg", "a b.svg", Some("a b.svg")),
            ("a\tb", "ab", Some("a\tb")),
            ("a  b\r\n\t c", "a  bc", Some("a  b\r\n\t c")),
            ("<a b>", "ab", Some("a b")),
            ("a (1).svg", "a (1).svg", Some("a (1).svg")),
            ("a (1) (c)\r\n (d)", "a", Some("a")),
            ("\"a b\"", "a b", Some("a b")),
            ("\" <a> \"", "a", Some("a")),
            ("a%2eb/(c)", "a%2eb/(c)", Some("a%2eb/(c)")),
            ("caf\u{e9}", "caf\u{e9}", Some("caf\u{e9}")),
            ("=?utf-8?Q?a=C3=A9?=", "a\u{e9}", None),
            ("=?utf-8?Q?a?=\n =?utf-8?Q?b?=", "ab", None),
            ("\"a\\\"b\"", "a\"b", None),
            ("a (c) b", "a (c) b", Some("a (c) b")),
            ("=?utf-8?Q?a_?= =?utf-8?Q?b?= c", "a b c", None),
            // Not an encoded word to mailparse, but it would be one without the `<`.
            ("=?<=?utf-8?Q?=61?=", "=?<=?utf-8?Q?=61?=", None),
            ("a?b=?c", "a?b=?c", Some("a?b=?c")),
        ] {
            check(
                &format!("Content-Location: {value}"),
                &[(name, reference, bytes)],
            );
        }
        check("Content-Location: <>", &[]);
        check("Content-Location:", &[]);
        check(
            "CONTENT-LOCATION : a\nContent-Location: b",
            &[(name, "a", Some("a"))],
        );
    }

    /// RFC 8288, 3 and appendix B.2 and B.3.
    #[test]
    fn only_the_targets_of_a_link_field_are_links() {
        let link = |reference| ("link", reference, Some(reference));
        check("Link: <a>", &[link("a")]);
        check("Link: <a>; rel=next, <b>", &[link("a"), link("b")]);
        check(
            "link:<a>;rel=\"x, <n>\\\", <n>\" , ,\n <b>",
            &[link("a"), link("b")],
        );
        check("Link: <a>; anchor=\"n\"; rel=next", &[link("a")]);
        // A quote inside an unquoted value does not begin a string.
        check("Link: <a>; t=x\", <b>; z=\"<n>\"", &[link("a"), link("b")]);
        check(
            "Link: <a,b;c>; rel = p ; x, <d>",
            &[link("a,b;c"), link("d")],
        );
        check("Link: <a> <n>", &[link("a")]);
        check("Link: n, <n>", &[]);
        check("Link: <>, <a>, <n", &[link("a")]);
        check("Link: </a\n  b >", &[("link", "/ab", Some("/a\n  b"))]);
        check("Link: <a>\nX: <n>\nLink: <b>", &[link("a"), link("b")]);
        check("Link: <=?utf-8?Q?a?=>", &[("link", "a", None)]);
    }

    /// RFC 2369, 2.
    #[test]
    fn lists_of_urls_in_brackets() {
        check(
            "List-Unsubscribe: (Use this) <mailto:a@b?subject=c>, (or) <../u?x=(1),2>",
            &[
                (
                    "list-unsubscribe",
                    "mailto:a@b?subject=c",
                    Some("mailto:a@b?subject=c"),
                ),
                ("list-unsubscribe", "../u?x=(1),2", Some("../u?x=(1),2")),
            ],
        );
        for name in ["help", "subscribe", "post", "owner", "archive"] {
            let element = format!("list-{name}");
            check(&format!("List-{name}: <a>"), &[(&element, "a", Some("a"))]);
        }
        check("List-Id: <n>\nList-Post: NO (<n>)", &[]);
        // "Any characters following an angle bracket enclosed URL SHOULD be ignored".
        check(
            "List-Help: <a> or <n>, <n>",
            &[("list-help", "a", Some("a"))],
        );
        // "the remainder of the field (the current, and all subsequent sub-items) SHOULD be ignored".
        check("List-Help: <a>, n, <n>", &[("list-help", "a", Some("a"))]);
        check(
            "List-Help: <a\r\n /b>",
            &[("list-help", "a/b", Some("a\r\n /b"))],
        );
        check("List-Help: <a (c", &[]);
    }

    #[test]
    fn single_urls_and_old_fields() {
        check(
            "Archived-At: <../m/1>",
            &[("archived-at", "../m/1", Some("../m/1"))],
        );
        check("Archived-At: n", &[]);
        check("Location: /a", &[("location", "/a", Some("/a"))]);
        check(
            "Location: <a>\nLocation: n",
            &[("location", "a", Some("a"))],
        );
        check(
            "URI: <a>, <b>",
            &[("uri", "a", Some("a")), ("uri", "b", Some("b"))],
        );
        check(
            "Base: <URL:n>\nContent-Base: n\nContent-ID: <n>\nMessage-ID: <n@n>",
            &[],
        );
    }

    /// HTML, 7.8.
    #[test]
    fn refresh_has_a_time_first() {
        let refresh = |reference| ("refresh", reference, Some(reference));
        check("Refresh: 5; url=a", &[refresh("a")]);
        check("Refresh: 5;URL='a b' c", &[refresh("a b")]);
        check("Refresh: 0,\n \"a\"", &[refresh("a")]);
        check(
            "Refresh: 0; url=a/\r\n b",
            &[("refresh", "a/b", Some("a/\r\n b"))],
        );
        check("Refresh: 0; url=\u{e9}", &[refresh("\u{e9}")]);
        check("Refresh: 5", &[]);
        check("Refresh: url=n", &[]);
        let form = |message: &[u8]| links_of(message)[0].spelling.form;
        assert_eq!(form(b"Refresh: 0;url='a'\n\n"), Form::Field(Some('\'')));
        assert_eq!(form(b"Refresh: 0;url=a\n\n"), Form::Field(None));
    }

    /// RFC 2017, 3.1.
    #[test]
    fn the_url_of_an_external_body() {
        let external = |parameters: &str, expected: &[Row<'_>]| {
            check(
                &format!("Content-Type: message/external-body; {parameters}"),
                expected,
            );
        };
        let url = |reference, bytes| ("content-type", reference, Some(bytes));
        external(
            "access-type=URL;\n URL=\"ftp://a/\n  b\"",
            &[url("ftp://a/b", "ftp://a/\n  b")],
        );
        external("url=\"a b\" (c); access-type=\"url\"", &[url("ab", "a b")]);
        external(
            "access-type=url; x=\"; url=n\" (; url=n); Url = \"a\"",
            &[url("a", "a")],
        );
        // A quotation mark in an unquoted value is part of it.
        external(
            "access-type=URL; x=a\"b; URL=\"n\"; y=\"; URL=\"m\"",
            &[url("n", "n")],
        );
        external(
            "access-type=URL; URL=\"a\\b\"",
            &[("content-type", "ab", None)],
        );
        // In an unquoted value, a `;` of the new text would end the value.
        external("access-type=URL; URL=a", &[("content-type", "a", None)]);
        external(
            "access-type=URL; URL*0=\"a\"; URL*1=\"b\"",
            &[("content-type", "ab", None)],
        );
        external("access-type=URL", &[]);
        external("access-type=URL; URL=\" \"", &[]);
        external("access-type=anon-ftp; URL=\"n\"", &[]);
        check("Content-Type: text/html; access-type=URL; URL=\"n\"", &[]);
        let message = b"Content-Type: message/external-body; access-type=URL; URL=\"a\"\n\n";
        assert_eq!(links_of(message)[0].attribute.as_deref(), Some("url"));
    }

    #[test]
    fn spans_are_offsets_in_the_message() {
        let message = b"A: 1\nLink: <x/\n y>\n\n";
        let links = links_of(message);
        let link = &links[0];
        let map = link.map.as_ref().unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(|at| map.to_source(at)),
            [12, 13, 14, 17].map(Some)
        );
        assert_eq!(
            (link.span(), link.holder),
            (Span::new(12, 17), Span::new(11, 18))
        );
        assert_eq!(
            (&link.against, link.attribute.as_deref()),
            (&crate::document::Against::Document, None)
        );
        assert!(!link.empty_resolves && !link.fragment_identifies);

        let encoded = b"Content-Location: =?utf-8?Q?a?=\n\n";
        assert_eq!(links_of(encoded)[0].span(), Span::new(18, 31));

        // Bytes that are not UTF-8 are read as ISO-8859-1.
        let latin = b"Link: <caf\xe9/x>\n\n";
        let link = &links_of(latin)[0];
        assert_eq!(link.reference, "caf\u{e9}/x");
        let map = link.map.as_ref().unwrap();
        assert_eq!(
            [3, 4, 5, 7].map(|at| map.to_source(at)),
            [Some(10), None, Some(11), Some(13)]
        );
    }

    #[test]
    fn links_are_in_the_order_of_the_heading() {
        check(
            "Link: <a>\nContent-Location: b\nList-Help: <c>\nLink: <d>",
            &[
                ("link", "a", Some("a")),
                ("content-location", "b", Some("b")),
                ("list-help", "c", Some("c")),
                ("link", "d", Some("d")),
            ],
        );
    }

    #[test]
    fn every_field_is_documented() {
        let documented = include_str!("../../../../docs/links.md");
        let section = documented
            .split("## Header fields and plain text")
            .nth(1)
            .unwrap();
        let section = section.split("\n## ").next().unwrap().to_ascii_lowercase();
        for name in FIELDS.iter().flat_map(|(names, ..)| names.split(' ')) {
            let opens = section.contains(&format!("`{name}`"));
            assert!(
                opens || section.contains(&format!("`{name}:")),
                "docs/links.md lacks {name}"
            );
        }
    }

    #[test]
    fn a_megabyte_of_anything() {
        let repeated = |piece: &str| piece.repeat(1_000_000 / piece.len());
        for name in FIELDS.iter().flat_map(|(names, ..)| names.split(' ')) {
            for piece in [
                "<", "<>", "<a>,", "(", "\"", "\\", ";url=", "a ", "=?", "<a>;b=\"", "0;",
            ] {
                let value = repeated(piece);
                links_of(format!("{name}: {value}\n\n").as_bytes());
                links_of(format!("{name}: message/external-body; {value}\n\n").as_bytes());
            }
        }
        let words = repeated(&format!("{} ", "=?".repeat(LONGEST_DECODED / 2)));
        assert_eq!(links_of(format!("Link: <{words}>\n\n").as_bytes()).len(), 1);
        let many = format!("{}\n", "Content-Location: a\nLink: <b>\n".repeat(50_000));
        assert_eq!(links_of(many.as_bytes()).len(), 50_001);
    }

    const PIECES: &[&str] = &[
        "Link: <",
        "List-Post: <",
        "Content-Location: ",
        "Location:",
        "Refresh: 0; url=",
        "Refresh:5;",
        "Content-Type: message/external-body; access-type=URL; URL=\"",
        "<",
        ">",
        "\"",
        "\\",
        "(",
        ")",
        ",",
        ";",
        "=",
        " ",
        "\r\n ",
        "\n\t",
        "\n",
        "\r\n",
        "a",
        "/",
        "../",
        "\u{e9}",
        "'",
        "URL:",
        "=?utf-8?Q?=61?=",
        "=?",
        ">; rel=x, <",
        "> (c), <",
    ];

    fn without_white(text: &str) -> String {
        text.chars()
            .filter(|one| !matches!(one, ' ' | '\t' | '\r' | '\n'))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), field in 0..FIELDS.len()) {
            let message = [FIELDS[field].0.as_bytes(), b":", &bytes].concat();
            for link in links_of(&message) {
                prop_assert!(!link.reference.is_empty());
                prop_assert!(link.holder.end <= message.len());
            }
        }

        /// Tests that the span of a link contains its reference, and that text inserted there changes only this
        /// reference.
        #[test]
        fn references_are_at_their_spans(pieces in proptest::collection::vec(0..PIECES.len(), 1..24)) {
            let message: String = pieces.into_iter().map(|at| PIECES[at]).chain(["\n\n"]).collect();
            let before = links_of(message.as_bytes());
            for (at, link) in before.iter().enumerate() {
                let Some(map) = &link.map else { continue };
                let source = map.source();
                prop_assert!(link.holder.start <= source.start && source.end <= link.holder.end);
                prop_assert_eq!(without_white(&message[source.range()]), without_white(&link.reference));

                let new = link.spelling.adapt("x://y/ <\">\u{e9}\r\n\\'(,;", false, Charset::UTF_8);
                let spelled = link.spelling.spell(&new, Charset::UTF_8).unwrap();
                let edit = lift(map, Span::at(0), spelled, None, Charset::UTF_8).unwrap();
                let mut edited = message.clone().into_bytes();
                edited.splice(edit.span.range(), edit.new.iter().copied());
                let after = links_of(&edited);
                let references: Vec<_> = after.iter().map(|link| link.reference.clone()).collect();
                let mut expected: Vec<_> = before.iter().map(|link| link.reference.clone()).collect();
                expected[at].insert_str(0, &new);
                prop_assert_eq!(references, expected);
            }
        }
    }
}
