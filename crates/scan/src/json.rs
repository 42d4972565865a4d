//! The URLs in JSON: import maps (HTML, 8.1.5), speculation rules (HTML, 7.6.1) and JSON-LD (JSON-LD 1.1, 4.1.3 and
//! 7) in `script` elements, and the members of web app manifests and JSON Feeds.
//!
//! Spans are byte offsets in the given text, inside the quotes of a string (RFC 8259, 7). The text of a span is
//! still escaped; [`escape::script`] decodes it. Malformed text yields no URLs.
//!
//! ```
//! use baselink_scan::json::{self, JsonKind};
//! let map = r#"{ "imports": { "app": "./app.js", "bare": "other" } }"#;
//! let found = json::urls(JsonKind::ImportMap, map);
//! assert_eq!(&map[found.urls[0].span.range()], "./app.js");
//! assert_eq!(found.urls.len(), 1);
//! ```
//!
//! Where an import map requires a URL-like specifier, only absolute URLs and strings that begin with `/`, `./` or
//! `../` are reported. A key of `scopes` may be any URL: the standard parses every key against the base.
//!
//! Deliberately absent: the terms that a context defines. Regardless of `@context`, the terms are those of schema.org
//! in the list below. Aliases of keywords, scoped contexts and `@propagate` are not followed.

use baselink_text::{Span, View, layer::escape};
use baselink_url::scheme_of;

use self::ValueKind::*;
use crate::document::Role::{self, Embedded, Metadata, Navigation};

/// The kind of a JSON text: the `type` of its `script` element, or the media type of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `importmap`
    ImportMap,
    /// `speculationrules`
    SpeculationRules,
    /// `application/ld+json`
    JsonLd,
    /// `application/manifest+json`
    Manifest,
    /// `application/feed+json`
    Feed,
}

impl JsonKind {
    /// The members that are URLs, for a file of this kind.
    pub fn members(self) -> impl Iterator<Item = (&'static str, Role)> {
        let rows = match self {
            Self::Manifest => MANIFEST,
            Self::Feed => FEED,
            Self::ImportMap | Self::SpeculationRules | Self::JsonLd => &[],
        };
        rows.iter()
            .flat_map(|&(role, paths)| paths.split(' ').map(move |path| (path, role)))
    }

    /// The role of a URL, or of a `member` of a file.
    fn role(self, member: Option<&str>) -> Role {
        match self {
            Self::ImportMap => Embedded,
            // Documents that a reader may visit next.
            Self::SpeculationRules => Navigation,
            Self::JsonLd => Metadata,
            Self::Manifest | Self::Feed => self
                .members()
                .find(|(path, _)| Some(*path) == member)
                .map_or(Metadata, |(_, role)| role),
        }
    }
}

/// A URL of JSON.
#[derive(Debug)]
pub struct JsonUrl {
    /// The text inside the quotes of the string.
    pub span: Span,
    /// The index in [`JsonUrls::bases`] of the base in effect; `None` means the base of the document.
    pub base: Option<usize>,
    /// The path, as in [`JsonKind::members`], if the URL is a member of a manifest or a feed.
    pub member: Option<&'static str>,
    /// The role in the document.
    pub role: Role,
    /// True for a term of schema.org, whose value may be text.
    pub is_doubtful: bool,
}

impl JsonUrl {
    /// True if the value is an HTML document, not a URL.
    pub fn is_html(&self) -> bool {
        self.member == Some(CONTENT_HTML)
    }
}

/// An `@base` of JSON-LD.
#[derive(Clone, Copy, Debug)]
pub struct JsonBase {
    /// The text inside the quotes of its string; `None` for `null`, under which a relative URL stays relative.
    pub span: Option<Span>,
    /// The index of the base that this base is resolved against, always earlier in the list; `None` means the base of
    /// the document.
    pub outer: Option<usize>,
}

/// The URLs of one JSON text, and the bases it declares for them.
#[derive(Debug, Default)]
pub struct JsonUrls {
    /// The URLs, in order.
    pub urls: Vec<JsonUrl>,
    /// The bases, each after its outer base.
    pub bases: Vec<JsonBase>,
}

/// The meaning of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Nothing,
    // HTML, 8.1.5.2
    ImportMap,
    Specifiers,
    Address,
    Scopes,
    Integrity,
    // HTML, 7.6.1.2
    RuleSets,
    Rules,
    Rule,
    Urls,
    Url,
    // JSON-LD 1.1, 4
    Node,
    /// The value of `@id`.
    Id,
    /// The value of a term of schema.org.
    Iri,
    Context,
    Base,
    /// A path of a member, or a prefix of one, in a file of this kind.
    Member(JsonKind, &'static str),
}

/// The object keys that can lead to URLs. The first row that matches kind and key counts.
#[rustfmt::skip]
const MEMBERS: &[(ValueKind, &str, ValueKind)] = &[
    (ImportMap, "imports", Specifiers),
    (ImportMap, "scopes", Scopes),
    (ImportMap, "integrity", Integrity),
    (RuleSets, "prefetch prerender prerender_until_script", Rules),
    (Rule, "urls", Urls),
    (Context, "@base", Base),
    (Node, "@context", Context),
    (Node, "@id", Id),
    (Node, "@type @value", Nothing),
    // Terms of schema.org whose values are locations. All but `item`, `photo`, `target` and `urlTemplate` have the type
    // `@id` in its context. `target` and `urlTemplate` may be templates (RFC 6570).
    (Node, "codeRepository contentUrl discussionUrl downloadUrl embedUrl hasMap image installUrl item \
        license logo mainEntityOfPage paymentUrl photo relatedLink sameAs screenshot \
        significantLink target thumbnailUrl url urlTemplate", Iri),
];

/// The members of a web app manifest that are URLs, by role. `[]` stands for the elements of an array, `*` for any key.
/// `docs/json.tsv` has the same members, with the standard of each; a test compares the two.
#[rustfmt::skip]
const MANIFEST: &[(Role, &str)] = &[
    (Navigation, "start_url shortcuts[].url related_applications[].url share_target.action \
        protocol_handlers[].url file_handlers[].action note_taking.new_note_url tab_strip.new_tab_button.url"),
    (Metadata, "scope"),
    (Embedded, "icons[].src icons_localized.*[].src shortcuts[].icons[].src screenshots[].src \
        file_handlers[].icons[].src tab_strip.home_tab.icons[].src serviceworker.src"),
];

/// The member of a JSON Feed that is an HTML document.
const CONTENT_HTML: &str = "items[].content_html";

/// The members of a JSON Feed that are URLs, and `CONTENT_HTML`, in the form of [`MANIFEST`].
#[rustfmt::skip]
const FEED: &[(Role, &str)] = &[
    (Navigation, "home_page_url authors[].url author.url items[].url items[].external_url \
        items[].authors[].url items[].author.url"),
    (Metadata, "feed_url next_url hubs[].url"),
    (Embedded, "icon favicon authors[].avatar author.avatar items[].content_html items[].image \
        items[].banner_image items[].authors[].avatar items[].author.avatar items[].attachments[].url"),
];

/// Extends `path`, a prefix of paths of members, by `mark` and the name after it. `next` receives the rest of each row
/// that begins with `path` and `mark`, and returns the length of the name if the row matches.
fn inner_member(
    kind: JsonKind,
    path: &str,
    mark: &str,
    next: impl Fn(&str) -> Option<usize>,
) -> ValueKind {
    let found = kind.members().find_map(|(row, _)| {
        let length = path.len() + mark.len();
        let rest = row.strip_prefix(path)?.strip_prefix(mark)?;
        Some(&row[..length + next(rest)?])
    });
    found.map_or(Nothing, |path| Member(kind, path))
}

impl ValueKind {
    fn root(kind: JsonKind) -> Self {
        match kind {
            JsonKind::ImportMap => Self::ImportMap,
            JsonKind::SpeculationRules => Self::RuleSets,
            JsonKind::JsonLd => Self::Node,
            JsonKind::Manifest | JsonKind::Feed => Self::Member(kind, ""),
        }
    }

    /// The kind of the value of `key`.
    fn member(self, key: &str) -> Self {
        match self {
            Self::Specifiers => Self::Address,
            Self::Scopes => Self::Specifiers,
            Self::Member(kind, path) => {
                inner_member(kind, path, if path.is_empty() { "" } else { "." }, |rest| {
                    let name = rest.split(['.', '[']).next()?;
                    (name == key || name == "*").then_some(name.len())
                })
            }
            _ => MEMBERS
                .iter()
                .find(|(place, names, _)| {
                    *place == self && names.split_ascii_whitespace().any(|name| name == key)
                })
                // Any other property of a node may contain nodes.
                .map_or(
                    if self == Self::Node {
                        self
                    } else {
                        Self::Nothing
                    },
                    |row| row.2,
                ),
        }
    }

    /// The kind of the values in an array of this kind.
    fn element(self) -> Self {
        match self {
            Self::Node | Self::Id | Self::Iri | Self::Context => self,
            Self::Rules => Self::Rule,
            Self::Urls => Self::Url,
            Self::Member(kind, path) => inner_member(kind, path, "[]", |_| Some(0)),
            _ => Self::Nothing,
        }
    }

    /// True if a key of an object of this kind is a URL.
    fn key_is_url(self, key: &str) -> bool {
        match self {
            Self::Scopes => true,
            Self::Specifiers | Self::Integrity => is_url_like(key),
            _ => false,
        }
    }

    /// True if a string of this kind is a URL.
    fn string_is_url(self, string: impl FnOnce() -> String) -> bool {
        match self {
            Self::Url => true,
            Self::Member(kind, path) => kind.members().any(|(row, _)| row == path),
            Self::Address => is_url_like(&string()),
            // JSON-LD 1.1, 4.5.1: a blank node identifier is not an IRI.
            Self::Id | Self::Iri => !string().starts_with("_:"),
            _ => false,
        }
    }
}

/// True if `specifier` has the form for "resolving a URL-like module specifier" (HTML, 8.1.5.1).
pub(super) fn is_url_like(specifier: &str) -> bool {
    let trimmed = specifier.trim_start_matches(|character| character <= ' ');
    ["/", "./", "../"]
        .iter()
        .any(|prefix| specifier.starts_with(prefix))
        || scheme_of(trimmed).is_some()
}

/// An open object or array, or the whole text.
struct OpenValue {
    object: bool,
    place: ValueKind,
    /// The kind of the next value in it.
    next: ValueKind,
    /// True if the next string is the key of a member.
    key: bool,
    /// The index of the node that this value is or belongs to.
    node: usize,
}

/// An effect of a context on the base of its node (JSON-LD 1.1 API, 4.1.2, steps 5.1 and 5.7).
enum BaseSetting {
    /// `"@base"`: a string or null.
    Base(Option<Span>),
    /// A null context: resets to the base of the document.
    Document,
}

/// Every URL of `json`, in order; none if `json` is malformed.
pub fn urls(kind: JsonKind, json: &str) -> JsonUrls {
    if fault(json).is_some() {
        return JsonUrls::default();
    }
    let bytes = json.as_bytes();
    let decoded = |span: Span| escape::script(View::of_str(&json[span.range()], 0)).text;
    // A context may come after the URLs that it affects. Therefore the URLs with their nodes, the parents of nodes and
    // the effects of contexts are collected first.
    let mut found: Vec<(Span, usize, ValueKind)> = Vec::new();
    let mut nodes = vec![0];
    let mut settings: Vec<(usize, BaseSetting)> = Vec::new();
    let mut outer: Vec<OpenValue> = Vec::new();
    let next = ValueKind::root(kind);
    let mut open = OpenValue {
        object: false,
        place: Nothing,
        next,
        key: false,
        node: 0,
    };
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let span = Span::new(at, string_end(bytes, at));
                at = span.end + 1;
                if open.key {
                    open.key = false;
                    open.next = Nothing;
                    if open.place != Nothing {
                        let key = decoded(span);
                        open.next = open.place.member(&key);
                        if open.place.key_is_url(&key) {
                            found.push((span, open.node, Url));
                        }
                    }
                } else if open.next == Base {
                    settings.push((open.node, BaseSetting::Base(Some(span))));
                } else if open.next.string_is_url(|| decoded(span)) {
                    found.push((span, open.node, open.next));
                }
            }
            b'{' | b'[' => {
                let object = byte == b'{';
                let place = match open.next {
                    // An object as the value of a term is a node like any other.
                    Id | Iri if object => Node,
                    other => other,
                };
                let mut node = open.node;
                if object && place == Node {
                    node = nodes.len();
                    nodes.push(open.node);
                }
                let inner = OpenValue {
                    object,
                    place,
                    next: if object { Nothing } else { place.element() },
                    key: object,
                    node,
                };
                outer.push(std::mem::replace(&mut open, inner));
            }
            b'}' | b']' => open = outer.pop().unwrap_or(open),
            b',' => open.key = open.object,
            // Only `null` begins with an `n`.
            b'n' if open.next == Base => {
                settings.push((open.node, BaseSetting::Base(None)));
            }
            b'n' if open.next == Context => settings.push((open.node, BaseSetting::Document)),
            _ => {}
        }
    }
    let (in_effect, bases) = bases(&nodes, settings);
    let url = |(span, node, value): (Span, usize, ValueKind)| {
        let base: Option<usize> = in_effect[node];
        let member = match value {
            Member(_, path) => Some(path),
            _ => None,
        };
        JsonUrl {
            span,
            base,
            member,
            role: kind.role(member),
            is_doubtful: value == Iri,
        }
    };
    JsonUrls {
        urls: found.into_iter().map(url).collect(),
        bases,
    }
}

/// The number, from 1, of the first malformed line of `json` (RFC 8259).
pub(super) fn fault(json: &str) -> Option<usize> {
    serde_json::from_str::<serde::de::IgnoredAny>(json)
        .err()
        .map(|error| error.line())
}

/// The base in effect for each node, and the list of bases.
fn bases(
    nodes: &[usize],
    mut settings: Vec<(usize, BaseSetting)>,
) -> (Vec<Option<usize>>, Vec<JsonBase>) {
    settings.sort_by_key(|&(node, _)| node);
    let mut settings = settings.into_iter().peekable();
    let mut bases = Vec::new();
    let mut in_effect: Vec<Option<usize>> = Vec::with_capacity(nodes.len());
    for (node, &around) in nodes.iter().enumerate() {
        let mut base = in_effect.get(around).copied().flatten();
        while let Some((_, setting)) = settings.next_if(|&(of, _)| of == node) {
            base = match setting {
                BaseSetting::Document => None,
                BaseSetting::Base(span) => {
                    bases.push(JsonBase { span, outer: base });
                    Some(bases.len() - 1)
                }
            };
        }
        in_effect.push(base);
    }
    (in_effect, bases)
}

/// The offset of the quote that ends the string whose inside begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(length) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += length;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the raw URLs, each with the bases in effect, innermost first.
    fn check(kind: JsonKind, json: &str, expected: &[&str]) {
        let found = urls(kind, json);
        let written: Vec<_> = found
            .urls
            .iter()
            .map(|url| {
                let mut written = json[url.span.range()].to_owned();
                let mut base = url.base.map(|index| found.bases[index]);
                while let Some(JsonBase { span, outer }) = base {
                    written.push_str(" < ");
                    written.push_str(span.map_or("null", |span| &json[span.range()]));
                    base = outer.map(|index| found.bases[index]);
                }
                written
            })
            .collect();
        assert_eq!(written, expected, "{json}");
    }

    #[test]
    fn import_maps() {
        for (json, expected) in [
            (
                r#"{"imports":{"a":"/b","c":"./d","e":"../f"}}"#,
                &["/b", "./d", "../f"] as &[_],
            ),
            (r#"{"imports":{"a":"b","c":"","d":"e/f"}}"#, &[]),
            (
                r#"{"imports":{"a":"http://b/","c":"data:,d"}}"#,
                &["http://b/", "data:,d"],
            ),
            (
                r#"{"imports":{"a":"b c:d","e":"1f:g","h":":i","j":" /k"}}"#,
                &[],
            ),
            (
                r#"{"imports":{"/a":"/b","./c/":"./d/","e":null}}"#,
                &["/a", "/b", "./c/", "./d/"],
            ),
            (r#"{"imports":{"a":{"b":"/c"},"d":["/e"]}}"#, &[]),
            // HTML, 8.1.5.3, "sort and normalize scopes": a scope prefix is any URL.
            (
                r#"{"scopes":{"/a/":{"b":"/c"},"d/":{"/e":"f"}}}"#,
                &["/a/", "/c", "d/", "/e"],
            ),
            (r#"{"integrity":{"/a":"sha384-b","c":"/d"}}"#, &["/a"]),
            (r#"{"other":{"/a":"/b"},"imports":{"a":"/b"}}"#, &["/b"]),
            (r#"{"x":{"imports":{"a":"/b"}}}"#, &[]),
            (r#"[{"imports":{"a":"/b"}}]"#, &[]),
            // RFC 8259, 7: keys and values may be escaped.
            (
                r#"{"\u0069mports":{"a":"\/b\"","c":"\u002e/d"}}"#,
                &[r#"\/b\""#, r"\u002e/d"],
            ),
            (
                r#" { "imports" : { "a" : "/b" , "c" : "/d" } } "#,
                &["/b", "/d"],
            ),
        ] {
            check(JsonKind::ImportMap, json, expected);
        }
    }

    #[test]
    fn speculation_rules() {
        for (json, expected) in [
            (
                r#"{"prefetch":[{"urls":["a","/b",""]}]}"#,
                &["a", "/b", ""] as &[_],
            ),
            (
                r#"{"prerender":[{"source":"list","urls":["a"]},{"urls":["b"]}]}"#,
                &["a", "b"],
            ),
            (
                r#"{"prefetch":[{"where":{"href_matches":"/a*"},"urls":["b"]}]}"#,
                &["b"],
            ),
            (
                r#"{"prefetch":[{"where":{"and":[{"href_matches":["/a","/b"]}]}}]}"#,
                &[],
            ),
            (
                r#"{"prefetch":[{"urls":"a"},{"urls":[["b"]]},{"urls":{"c":"d"}}]}"#,
                &[],
            ),
            (
                r#"{"prefetch":{"urls":["a"]},"tag":"b","other":[{"urls":["c"]}]}"#,
                &[],
            ),
            (
                r#"{"prefetch":[{"relative_to":"document","expects_no_vary_search":"a","urls":["b"]}]}"#,
                &["b"],
            ),
        ] {
            check(JsonKind::SpeculationRules, json, expected);
        }
    }

    #[test]
    fn json_ld() {
        for (json, expected) in [
            (
                r#"{"@context":"https://schema.org","url":"a","name":"b"}"#,
                &["a"] as &[_],
            ),
            (r#"{"@id":"a","@type":"b","@vocab":"c"}"#, &["a"]),
            (r##"{"@id":"_:a","url":"_:b","image":"#c"}"##, &["#c"]),
            (r#"[{"@id":"a"},{"@graph":[{"@id":"b"}]}]"#, &["a", "b"]),
            (
                r#"{"image":["a","b",{"@type":"ImageObject","url":"c"}]}"#,
                &["a", "b", "c"],
            ),
            (
                r#"{"itemListElement":[{"position":1,"item":{"@id":"a","name":"b"}}]}"#,
                &["a"],
            ),
            (r#"{"url":{"@value":"a"},"sameAs":{"@list":["b"]}}"#, &[]),
            (r#"{"URL":"a","target":{"urlTemplate":"b{c}"}}"#, &["b{c}"]),
            // Names in a context are definitions, not links.
            (
                r#"{"@context":{"@vocab":"a","b":{"@id":"c"},"url":"d"},"logo":"e"}"#,
                &["e"],
            ),
            (r#"{"@context":["a",{"image":"b"}],"logo":"c"}"#, &["c"]),
            // JSON-LD 1.1, 4.1.3: the base applies to its node and everything inside, regardless of order.
            (r#"{"@context":{"@base":"a/"},"@id":"b"}"#, &["b < a/"]),
            (
                r#"{"@id":"b","c":{"@id":"d"},"@context":{"@base":"a/"}}"#,
                &["b < a/", "d < a/"],
            ),
            (
                r#"[{"@context":{"@base":"a/"},"@id":"b"},{"@id":"c"}]"#,
                &["b < a/", "c"],
            ),
            (
                r#"{"@context":{"@base":"a/"},"c":{"@id":"d","@context":{"@base":"b/"}},"@id":"e"}"#,
                &["d < b/ < a/", "e < a/"],
            ),
            (
                r#"{"@context":["x",{"@base":"a/"},{"@base":"b/"}],"@id":"c"}"#,
                &["c < b/ < a/"],
            ),
            (r#"{"@context":{"@base":null},"@id":"a"}"#, &["a < null"]),
            (
                r#"{"@context":{"@base":"a/"},"url":[{"@context":null,"@id":"b"},"c"]}"#,
                &["b", "c < a/"],
            ),
            (
                r#"{"@context":{"@base":"a/"},"c":{"@context":[null,{"@base":"b/"}],"@id":"d"}}"#,
                &["d < b/"],
            ),
            (
                r#"{"@context":{"x":{"@context":{"@base":"a/"}}},"@id":"b"}"#,
                &["b"],
            ),
        ] {
            check(JsonKind::JsonLd, json, expected);
        }
    }

    #[test]
    fn json_feeds() {
        for (json, expected) in [
            (
                r#"{"icon":"a","items":[{"image":"b","icon":"c","id":"d"}]}"#,
                &["a", "b"] as &[_],
            ),
            (
                r#"{"items":{"url":"a"},"icons":[{"src":"b"}],"author":"c"}"#,
                &[],
            ),
            (r#"{"item":[{"url":"a"}],"items":[[{"url":"b"}]]}"#, &[]),
        ] {
            check(JsonKind::Feed, json, expected);
        }
        let found = urls(
            JsonKind::Feed,
            r#"{"items":[{"content_html":"a","url":"b"}]}"#,
        )
        .urls;
        assert_eq!(
            found.iter().map(JsonUrl::is_html).collect::<Vec<_>>(),
            [true, false]
        );
    }

    #[test]
    fn only_terms_may_be_text() {
        let found = urls(
            JsonKind::JsonLd,
            r#"{"@id":"a","license":"b","target":"c{d}"}"#,
        )
        .urls;
        assert_eq!(
            found.iter().map(|url| url.is_doubtful).collect::<Vec<_>>(),
            [false, true, true]
        );
        let found = urls(
            JsonKind::SpeculationRules,
            r#"{"prefetch":[{"urls":["a"]}]}"#,
        )
        .urls;
        assert!(!found[0].is_doubtful);
    }

    #[test]
    fn malformed_json_has_no_urls() {
        for json in [
            "",
            "{",
            r#"{"url":"a"}}"#,
            r#"{"url":"a",}"#,
            r#"{url:"a"}"#,
            "{'url':'a'}",
            "{\"url\":\"a\n\"}",
            r#"{"url":"a" /* b */}"#,
            r#"{"url":"\x"}"#,
            "\u{feff}{\"url\":\"a\"}",
            r#""a"#,
        ] {
            check(JsonKind::JsonLd, json, &[]);
        }
        check(JsonKind::JsonLd, r#""a""#, &[]);
        check(JsonKind::JsonLd, "null", &[]);
    }

    #[test]
    fn half_a_million_of_anything() {
        let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
        check(JsonKind::JsonLd, &deep, &[]);
        let open = r#"{"@context":{"@base":"a/"},"b":"#;
        let deep = format!(
            "{}{{\"@id\":\"c\"}}{}",
            open.repeat(100_000),
            "}".repeat(100_000)
        );
        let found = urls(JsonKind::JsonLd, &deep);
        assert_eq!((found.urls.len(), found.bases.len()), (1, 100_000));
        let wide = format!(r#"{{"url":["a"{}]}}"#, r#","b""#.repeat(500_000));
        assert_eq!(urls(JsonKind::JsonLd, &wide).urls.len(), 500_001);
    }
}
