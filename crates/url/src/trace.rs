//! The steps of a resolution, recorded while it runs.
//!
//! Each step of the algorithms reports its number and a closure that builds a sentence. The unit type ignores all
//! steps at no cost: it never calls the closure.
//!
//! ```
//! use baselink_url::{Resolver, explain};
//! let steps = explain(Resolver::Rfc1808, "http://a/b", "http:c").steps;
//! assert_eq!((steps.len(), steps[0].number), (1, "2b"));
//! ```
//!
//! Deliberately absent: the presentation of the steps. [`explain`](super::explain) formats them.

use baselink_text::Span;

/// A receiver of the steps of a resolution.
pub trait Trace {
    /// Receives the number of a step, from the specification or from the readings in `rfc1808.rs`, and a sentence.
    fn step<S: Into<String>>(&mut self, _number: &'static str, _sentence: impl FnOnce() -> S) {}

    /// Receives the fate of the path segments at `span` of `text`. The segments of the base come first.
    fn segment(&mut self, _text: &str, _span: Span, _fate: Fate) {}

    /// Called after RFC 1808 section 4, steps 6a to 6d, have processed every segment.
    fn end_segments(&mut self) {}
}

impl Trace for () {}

/// The fate of a path segment, with the step among 6a to 6d of RFC 1808 section 4 that decides it.
pub enum Fate {
    /// The segment stays. One span may cover many segments.
    Kept,
    /// The segment is removed.
    Removed(&'static str),
    /// The segment is removed, and so is the last remaining segment before it.
    Climbs(&'static str),
}
