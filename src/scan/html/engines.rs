//! Which engine tells of a document: the walk where it proves what is there, then html5ever, then the best
//! effort of the walk.
//!
//! An engine that stops is followed by the next. That one starts at the beginning of the range, since what
//! the tree is at some place depends on all that comes before; but the sink hears nothing twice: what lies
//! before the place where the last engine stopped is dropped.
//!
//! ```
//! // html5ever takes over at `</b>`; the first link was found by the walk.
//! let page = b"<a href=x><b><svg></b><a href=y>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert!(document.fallback.is_some());
//! assert_eq!(document.links.len(), 2);
//! ```
//!
//! Deliberately absent: what is made of the tags.

use std::ops::Range;

use super::sink::{Sink, Stopped, TextModel, TreeFacts};
use super::tag::RawTag;
use super::walk::{Names, Unproved};
use super::{exact, walk};
use crate::document::FallbackReason;
use crate::scan::Scanner;
use crate::scan::attributes::Namespace;
use crate::span::Span;

/// How a document was scanned.
pub(crate) struct Scanned {
    pub(crate) facts: TreeFacts,
    /// Why the walk could not prove what is there.
    pub(crate) fallback: Option<FallbackReason>,
    /// Where the bounds of html5ever were reached, and there is no tree.
    pub(crate) without_tree: Option<exact::Bound>,
}

/// Tells `sink` of `range` of `bytes`, by whichever engine can; `scripting` as in HTML, 13.2.4.5.
pub(crate) fn tokens<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    scanner: Scanner,
    names: &Names,
    sink: &mut S,
) -> Result<Scanned, S::Stop> {
    if scanner == Scanner::Exact {
        let from = range.start;
        return after(bytes, range, scripting, from, sink);
    }
    match walk::document(bytes, range.clone(), scripting, names, sink) {
        Ok(facts) => Ok(Scanned { facts, fallback: None, without_tree: None }),
        Err(Stopped::Engine(Unproved { at, reason })) => {
            let scanned = after(bytes, range, scripting, at, sink)?;
            Ok(Scanned { fallback: Some(reason), ..scanned })
        }
        Err(Stopped::Sink(stop)) => Err(stop),
    }
}

/// Tells `sink` of what begins at `from` or later in `range`, where the walk stopped at `from`.
pub(crate) fn after<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    from: usize,
    sink: &mut S,
) -> Result<Scanned, S::Stop> {
    let mut rest = Rest { from, sink };
    let (facts, without_tree) = match exact::scan(bytes, range.clone(), scripting, &mut rest) {
        Ok(facts) => (facts, None),
        Err(Stopped::Engine(bound)) => {
            (walk::best_effort(bytes, range, scripting, &mut rest)?, Some(bound))
        }
        Err(Stopped::Sink(stop)) => return Err(stop),
    };
    Ok(Scanned { facts, fallback: None, without_tree })
}

/// Tells a sink of what it has not been told.
struct Rest<'s, S> {
    /// It has been told of what begins before this.
    from: usize,
    sink: &'s mut S,
}

impl<S> Rest<'_, S> {
    /// Whether what lies at `span` is new; it is told then.
    fn is_new(&mut self, span: Span) -> bool {
        let is_new = span.start >= self.from;
        if is_new {
            self.from = span.end;
        }
        is_new
    }
}

impl<S: Sink> Sink for Rest<'_, S> {
    type Stop = S::Stop;

    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), S::Stop> {
        if self.is_new(tag.span) { self.sink.start_tag(tag, namespace, text) } else { Ok(()) }
    }

    fn end_text(&mut self, at: usize) -> Result<(), S::Stop> {
        // The tag that ends it comes at once.
        if at >= self.from { self.sink.end_text(at) } else { Ok(()) }
    }

    fn end_tag(&mut self, tag: &RawTag) -> Result<(), S::Stop> {
        if self.is_new(tag.span) { self.sink.end_tag(tag) } else { Ok(()) }
    }

    fn comment(&mut self, span: Span) -> Result<(), S::Stop> {
        if self.is_new(span) { self.sink.comment(span) } else { Ok(()) }
    }
}
