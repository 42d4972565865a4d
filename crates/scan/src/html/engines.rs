//! The choice of the engine for a document: the walk as long as it can prove its result, then html5ever, then the
//! best effort of the walk.
//!
//! If an engine stops, the next one takes over. It starts again at the beginning of the range, because the tree at
//! any place depends on everything before. The sink receives nothing twice: tags before the place where the previous
//! engine stopped are dropped.
//!
//! ```
//! // html5ever takes over at `</b>`; the first link was found by the walk.
//! let page = b"<a href=x><b><svg></b><a href=y>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert!(document.fallback);
//! assert_eq!(document.links.len(), 2);
//! ```
//!
//! Deliberately absent: the interpretation of tags.

use std::ops::Range;

use baselink_text::Span;

use super::{
    exact,
    sink::{Sink, TextModel, TreeFacts},
    tag::RawTag,
    walk,
    walk::Names,
};
use crate::{Scanner, attributes::Namespace};

/// The result of scanning a document.
pub struct Tokenized {
    pub(crate) facts: TreeFacts,
    /// True if the walk stopped.
    pub(crate) fallback: bool,
    /// The bound at which html5ever stopped, if it did. The document was then read without its tree, or up to `end`.
    pub(crate) without_tree: Option<exact::Bound>,
    /// The end of what was read.
    pub(crate) end: usize,
}

/// Reports the tokens in `range` of `bytes` to `sink`, with each engine until it stops. `scripting` is the flag of
/// HTML, 13.2.4.5.
pub fn tokens<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    scanner: Scanner,
    names: &Names,
    sink: &mut S,
) -> Tokenized {
    let end = range.end;
    let complete = |facts| Tokenized {
        facts,
        fallback: false,
        without_tree: None,
        end,
    };
    match scanner {
        Scanner::Fast => {}
        Scanner::Exact | Scanner::Unscripted => {
            return after(bytes, range.clone(), scripting, range.start, sink);
        }
        Scanner::Preload => {
            return complete(walk::best_effort(bytes, range, scripting, false, sink));
        }
    }
    match walk::document(bytes, range.clone(), scripting, names, sink) {
        Ok(facts) => complete(facts),
        Err(at) => Tokenized {
            fallback: true,
            ..after(bytes, range, scripting, at, sink)
        },
    }
}

/// Reports the tokens in `range` that begin at or after `from`, where the walk stopped.
fn after<S: Sink>(
    bytes: &[u8],
    mut range: Range<usize>,
    scripting: bool,
    from: usize,
    sink: &mut S,
) -> Tokenized {
    let mut rest = SkippingSink {
        from,
        text_from: from,
        sink,
    };
    let (facts, without_tree) = match exact::scan(bytes, range.clone(), scripting, &mut rest) {
        Ok(facts) => (facts, None),
        Err(bound) => {
            if rest.sink.needs_tree() {
                let at = rest.from.max(rest.text_from);
                range = at..at;
            }
            let facts = walk::best_effort(bytes, range.clone(), scripting, true, &mut rest);
            (facts, Some(bound))
        }
    };
    Tokenized {
        facts,
        fallback: false,
        without_tree,
        end: range.end,
    }
}

/// Passes on only the tokens that the sink has not received yet.
struct SkippingSink<'s, S> {
    /// The sink has received everything that begins before this offset.
    from: usize,
    /// The sink has received the text of `style` elements in SVG up to this offset. Such text may contain comments.
    text_from: usize,
    sink: &'s mut S,
}

impl<S> SkippingSink<'_, S> {
    /// True if the token at `span` has not been reported yet.
    fn is_new(&mut self, span: Span) -> bool {
        let is_new = span.start >= self.from;
        if is_new {
            self.from = span.end;
        }
        is_new
    }
}

impl<S: Sink> Sink for SkippingSink<'_, S> {
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel) {
        if self.is_new(tag.span) {
            self.sink.start_tag(tag, namespace, text);
        }
    }

    fn end_text(&mut self, at: usize) {
        // The tag that ends the text is reported next.
        if at >= self.from {
            self.sink.end_text(at);
        }
    }

    fn style_text(&mut self, span: Span) {
        if span.start >= self.text_from {
            self.text_from = span.end;
            self.sink.style_text(span);
        }
    }

    fn end_style(&mut self, at: usize) {
        if at >= self.from {
            self.sink.end_style(at);
        }
    }

    fn end_tag(&mut self, tag: &RawTag) {
        if self.is_new(tag.span) {
            self.sink.end_tag(tag);
        }
    }

    fn comment(&mut self, span: Span) {
        if self.is_new(span) {
            self.sink.comment(span);
        }
    }

    fn is_done(&self) -> bool {
        self.sink.is_done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScanOptions;

    /// The reports for a page. Of the start tags, only those with an `href` are recorded.
    struct SinkLog<'p> {
        page: &'p str,
        reports: Vec<String>,
    }

    impl Sink for SinkLog<'_> {
        fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, _text: TextModel) {
            let is_href = |one: Span| &self.page[one.range()] == "href";
            if tag.attributes.iter().any(|one| is_href(one.name)) {
                self.reports
                    .push(format!("{namespace:?} {}", &self.page[tag.span.range()]));
            }
        }

        fn end_text(&mut self, at: usize) {
            self.reports
                .push(format!("text ends before {}", &self.page[at..]));
        }

        fn style_text(&mut self, span: Span) {
            self.reports
                .push(format!("style {}", &self.page[span.range()]));
        }

        fn comment(&mut self, span: Span) {
            self.reports.push(self.page[span.range()].to_owned());
        }
    }

    fn reports(page: &str, scan: impl FnOnce(&mut SinkLog<'_>)) -> Vec<String> {
        let mut sink = SinkLog {
            page,
            reports: Vec::new(),
        };
        scan(&mut sink);
        sink.reports
    }

    /// Tests that the walk followed by html5ever finds the same as html5ever alone.
    #[test]
    fn nothing_is_reported_twice_or_omitted() {
        let names = Names::of(&ScanOptions::default());
        for page in [
            "<a href=x><style>y</style><b><svg></b><a href=z>",
            // The tag at which the walk stops also ends a text.
            "<svg><g><style>x</g></style><a href=y>",
            "<svg></b><style>x<!--y--></style><a href=z>",
            "<svg><style>x<g></g>y</b>v</style><a href=w>",
            "<svg><style>x<y\u{e9} href=y><a href=z></style>",
            "<svg><desc><svg><style>x</svg><li href=y><!--z-->",
            "<a href=x><frameset><frame href=y>",
            "<template><style></style><col href=x><a href=y>",
            "<base href=x><table><base href=y><!--z--></table>",
        ] {
            let bytes = page.as_bytes();
            let scan = |scanner, sink: &mut SinkLog<'_>| {
                tokens(bytes, 0..bytes.len(), true, scanner, &names, sink)
            };
            let exact = reports(page, |sink| drop(scan(Scanner::Exact, sink)));
            let both = reports(page, |sink| {
                let scanned = scan(Scanner::Fast, sink);
                assert!(scanned.fallback, "{page}");
            });
            assert_eq!(both, exact, "{page}");
        }
    }

    /// Tests that html5ever stops before a tag with too many attributes, and that the best effort continues there.
    /// Earlier tags come from the walk and from html5ever.
    #[test]
    fn the_best_effort_continues_where_html5ever_stops() {
        let many: String = (0..=1_000).map(|number| format!(" a{number}")).collect();
        let page = format!("<!--x--><b><svg></b><a href=y><style></style><p{many}><a href=z>");
        let names = Names::of(&ScanOptions::default());
        let reports = reports(&page, |sink| {
            let scanned = tokens(
                page.as_bytes(),
                0..page.len(),
                true,
                Scanner::Fast,
                &names,
                sink,
            );
            assert!(scanned.fallback);
            let stopped = scanned.without_tree.map(|exact::Bound(at, _)| at);
            assert_eq!(stopped, page.find("<p"));
        });
        let wanted = [
            "<!--x-->",
            "Html <a href=y>",
            "text ends before ",
            "Html <a href=z>",
        ];
        assert_eq!(reports.len(), wanted.len());
        assert!(
            reports
                .iter()
                .zip(wanted)
                .all(|(report, wanted)| report.starts_with(wanted)),
            "{reports:?}"
        );
    }

    /// Tests that the best effort finds the same as html5ever if each element is closed by a tag with its name.
    #[test]
    fn the_best_effort_follows_names() {
        for page in [
            "<svg><a href=x/><title><a href=y></title><p href=z>",
            "<b><svg></b><a href=x>",
            "<svg></b><a href=x></p><a href=y>",
            "<math><mi>x</mi><mtext><svg><a href=x></a></svg></mtext></math><a href=y>",
            "<math><annotation-xml encoding=text/HTML><a href=x>",
            "<math><annotation-xml><a href=x>",
            "<svg><![CDATA[<a href=x>]]><a href=y></svg><![CDATA[<a href=x>]]>",
            "<svg><style><!--x--></style><a href=y><style><g></style><font href=x><font color href=y>",
            "<svg></br><a href=x><script><!--<script></script><a href=y></script><a href=z>",
            "<textarea><a href=x></textarea href=y><a href=z><title>",
            "<noscript><a href=x></noscript><plaintext><a href=y>",
            "<a href=x><!-- ><a href=y> --><?z ><!>",
        ] {
            let exact = reports(page, |sink| {
                let scanned = exact::scan(page.as_bytes(), 0..page.len(), true, sink);
                assert!(scanned.is_ok(), "{page}");
            });
            let best = reports(page, |sink| {
                walk::best_effort(page.as_bytes(), 0..page.len(), true, true, sink);
            });
            assert_eq!(best, exact, "{page}");
        }
    }
}
