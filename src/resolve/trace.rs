//! The steps of a resolution, told while it is made.
//!
//! Each step of the algorithms says its number and, where somebody listens, a sentence. The unit type
//! listens to nothing, and costs nothing: no sentence is made for it.
//!
//! ```
//! use baselink::resolve::{Profile, explain};
//! let steps = explain(Profile::Rfc1808, "http://a/b", "http:c").steps;
//! assert_eq!((steps.len(), steps[0].number), (1, "2b"));
//! ```
//!
//! Deliberately absent: what becomes of the steps. [`explain`](super::explain) makes a page of them.

use crate::span::Span;

/// Listens to a resolution.
pub(super) trait Trace {
    /// The step with this number, of the specification or of `docs/resolution.md`, saw or did what the sentence says.
    fn tell<S: Into<String>>(&mut self, _number: &'static str, _sentence: impl FnOnce() -> S) {}

    /// This is what becomes of the segments of a path at `span` of `text`. The segments of the base come first.
    fn segment(&mut self, _text: &str, _span: Span, _fate: Fate) {}

    /// RFC 1808 section 4, steps 6a to 6d, have seen every segment.
    fn tell_segments(&mut self) {}
}

impl Trace for () {}

/// What becomes of a segment of a path, and by which of the steps 6a to 6d of RFC 1808 section 4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// It stays. One span may be many segments.
    Kept,
    /// It goes.
    Removed(&'static str),
    /// It goes, and so does the segment before it that is still there.
    Climbs(&'static str),
}
