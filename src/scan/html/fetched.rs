//! References that a browser fetches as soon as its parser finds them, before it reaches a later `base` element.
//!
//! According to HTML, a resource is fetched when its element is inserted, or when its attribute is set (4.2.4, 4.8.4.3,
//! 4.12.1.1).
//! Chromium resolves URLs in CSS during parsing, against the base known at that moment, even if the `base` element
//! arrives in the same packet. `docs/base-url.md` lists the references that Chromium fetches later, or only
//! sometimes.
//!
//! ```
//! use baselink::{Options, rewrite, resolve::Profile};
//! let options = Options { profile: Profile::Whatwg, ..Options::at("http://a/") };
//! let report = rewrite(b"<a href=x></a><script src=y></script><base href=/b/>", &options).report;
//! assert_eq!(
//!     report.diagnostics[0].message,
//!     "a browser fetches 'y' as http://a/y, not as http://a/b/y, because the base element comes later; \
//!      move the base element before it"
//! );
//! ```
//!
//! Deliberately absent: references that a browser fetches later or never, or at a time that depends on the network.

use std::sync::Arc;

use super::pass::{self, Links, Part, Plain, Whole};
use super::rows::element_name;
use super::sink::{Sink, TextModel};
use super::tag::RawTag;
use super::walk;
use crate::diagnostic::Diagnostic;
use crate::document::{Against, Link};
use crate::layer::charset::Charset;
use crate::scan::ScanOptions;
use crate::scan::attributes::Namespace;
use crate::scan::collect::{is_javascript, script_type};
use crate::span::Span;

/// Attributes whose URLs a browser fetches at once, each with its elements.
const FETCHED: &[(&str, &[&str])] = &[
    ("href", &["link", "image", "feimage", "use", "script"]),
    ("xlink:href", &["image", "feimage", "use", "script"]),
    ("imagesrcset", &["link"]),
    ("poster", &["video"]),
    ("src", &["script", "img", "image", "iframe", "input"]),
    ("srcset", &["img", "image", "source"]),
];

/// Values of `rel` for which a browser fetches a `link` at once, besides `stylesheet` and `preload`.
const RELATIONS: &[&str] = &["prefetch", "modulepreload"];

/// The links in `bytes` that a browser fetches as soon as it reaches them, in order.
pub(crate) fn fetched(bytes: &[u8], charset: Charset, options: &ScanOptions) -> Vec<Link> {
    let mut scanner =
        FetchScanner { bytes, charset, templates: 0, pictures: 0, style: None, spans: Vec::new() };
    walk::best_effort(bytes, 0..bytes.len(), true, &mut scanner);
    if scanner.spans.is_empty() {
        return Vec::new();
    }
    let mut found = FetchedLinks { spans: scanner.spans, links: Vec::new() };
    let (entity, start) = (Arc::clone(&options.entity), 0);
    let whole = Whole { bytes, start, charset, entity, depth: 0, enclosed: false };
    pass::links(&whole, options, &mut found);
    found.links
}

/// Finds tags that may cause a fetch, and the text of style sheets. Skips those in `noscript` and `template`, as a
/// browser that runs scripts does.
struct FetchScanner<'a> {
    bytes: &'a [u8],
    charset: Charset,
    templates: usize,
    pictures: usize,
    /// The start of the text of the open `style` element.
    style: Option<usize>,
    spans: Vec<Span>,
}

impl FetchScanner<'_> {
    /// The value of an attribute, in lower case.
    fn value(&self, tag: &RawTag, name: &str) -> Option<String> {
        let value = tag.attribute(self.bytes, name)?.decoded(self.bytes, self.charset);
        Some(value.text.trim().to_ascii_lowercase())
    }

    fn may_fetch(&self, tag: &RawTag, element: &str) -> bool {
        let has = |name: &str| tag.attribute(self.bytes, name).is_some();
        let is_fetched = match element {
            "link" => self.value(tag, "rel").is_some_and(|rel| {
                rel.split_ascii_whitespace().any(|relation| match relation {
                    "stylesheet" => !has("disabled"),
                    "preload" => has("as"),
                    relation => RELATIONS.contains(&relation),
                })
            }),
            "input" => self.value(tag, "type").is_some_and(|type_| type_ == "image"),
            // Other scripts are data blocks (HTML, 4.12.1), and browsers with modules skip those with `nomodule`.
            "script" => {
                let [type_, language] = ["type", "language"].map(|name| self.value(tag, name));
                is_javascript(&script_type(type_.as_deref(), language.as_deref()))
                    && !has("nomodule")
            }
            "source" => self.pictures > 0,
            _ => FETCHED.iter().any(|(_, elements)| elements.contains(&element)),
        };
        is_fetched || has("style")
    }
}

impl Sink for FetchScanner<'_> {
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, _: TextModel) {
        let element = element_name(&self.bytes[tag.name.range()]);
        if self.templates == 0 && self.may_fetch(tag, &element) {
            self.spans.push(tag.span);
        }
        match (namespace, &*element) {
            (Namespace::Html, "template") => self.templates += 1,
            (Namespace::Html, "picture") => self.pictures += 1,
            (Namespace::Html, "style") if self.templates == 0 => self.style = Some(tag.span.end),
            (_, "style") if self.templates == 0 && !tag.self_closing => {
                self.style = Some(tag.span.end);
            }
            _ => {}
        }
    }

    fn end_text(&mut self, at: usize) {
        self.spans.extend(self.style.take().map(|start| Span::new(start, at)));
    }

    fn end_tag(&mut self, tag: &RawTag) {
        for (name, open) in [("template", &mut self.templates), ("picture", &mut self.pictures)] {
            if tag.is_named(self.bytes, name) {
                *open = open.saturating_sub(1);
            }
        }
    }
}

/// Keeps the links that a browser fetches at once, if they are within one of the spans.
struct FetchedLinks {
    spans: Vec<Span>,
    links: Vec<Link>,
}

impl Links for FetchedLinks {
    fn plain(&mut self, _: &[u8], found: &Plain) -> bool {
        !self.is_in_span(found.span)
    }

    fn link(&mut self, _: &[u8], link: Link) {
        let is_fetched = match link.attribute.as_deref() {
            None => link.element == "style",
            Some("style") => true,
            Some(name) => FETCHED.iter().any(|(attribute, elements)| {
                *attribute == name && elements.contains(&&*link.element)
            }),
        };
        if is_fetched && link.against == Against::Document && self.is_in_span(link.span()) {
            self.links.push(link);
        }
    }

    fn part(&mut self, _: &[u8], _: Part) {}

    fn diagnostic(&mut self, _: &[u8], _: Diagnostic) {}
}

impl FetchedLinks {
    fn is_in_span(&self, span: Span) -> bool {
        let before = self.spans.partition_point(|one| one.start <= span.start);
        before.checked_sub(1).is_some_and(|at| span.end <= self.spans[at].end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fetched(page: &str) -> bool {
        let links = fetched(page.as_bytes(), Charset::UTF_8, &ScanOptions::default());
        let references: Vec<_> = links.iter().map(|link| link.reference.as_str()).collect();
        assert!(matches!(references[..], [] | ["X"]), "{page}: {references:?}");
        !links.is_empty()
    }

    /// The requests that Chromium 156 resolves against the fallback base, with the `base` element in the same packet.
    #[test]
    fn what_a_browser_fetches_at_once() {
        for page in [
            "<img src=X>",
            "<img srcset='X 1x'>",
            "<img loading=lazy src=X>",
            "<picture><source srcset=X><img></picture>",
            "<image src=X>",
            "<script src=X></script>",
            "<script async type='text/JavaScript' src=X></script>",
            "<script type=module src=X></script>",
            "<script language=JavaScript src=X></script>",
            "<link rel=stylesheet href=X>",
            "<link rel='alternate STYLESHEET' title=t href=X>",
            "<link rel=preload as=script href=X>",
            "<link rel=preload as=image imagesrcset='X 1x'>",
            "<link rel=prefetch href=X>",
            "<link rel=modulepreload href=X>",
            "<iframe src=X></iframe>",
            "<video poster=X></video>",
            "<input type=image src=X>",
            "<p style='background:url(X)'>",
            "<style>p{background:url(X)}</style>",
            "<style>@import 'X';</style>",
            "<svg><image href=X />",
            "<svg><image xlink:href=X />",
            "<svg><use href=X />",
            "<svg><script href=X></script>",
            "<svg><filter><feImage href=X />",
            "<svg><style>rect{fill:url(X)}</style>",
            "<noscript><p></noscript><template><p></template><img src=X>",
        ] {
            assert!(is_fetched(page), "{page}");
        }
    }

    /// The requests that Chromium 156 makes later or never, or at a time that depends on the network.
    #[test]
    fn what_a_browser_does_not_fetch_at_once() {
        for page in [
            "<a href=X>",
            "<link rel=icon href=X>",
            "<link rel=manifest href=X>",
            "<link rel=alternate href=X>",
            "<meta http-equiv=refresh content='9;url=X'>",
            "<script type=text/plain src=X></script>",
            "<script type=text/typescript src=X></script>",
            "<script language=vbscript src=X></script>",
            "<script nomodule src=X></script>",
            "<link rel=stylesheet disabled href=X>",
            "<link rel=preload href=X>",
            "<source srcset=X>",
            "<svg><style/></svg><link rel=icon href=X><title>t</title>",
            "<noscript><img src=X></noscript>",
            "<template><img src=X></template>",
            "<template><style>p{background:url(X)}</style></template>",
            "<!--[if IE]><img src=X><![endif]-->",
            "<input src=X>",
            "<embed src=X>",
            "<object data=X></object>",
            "<video src=X></video>",
            "<audio src=X></audio>",
            "<table background=X>",
            "<form action=X>",
        ] {
            assert!(!is_fetched(page), "{page}");
        }
    }
}
