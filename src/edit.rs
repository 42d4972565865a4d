//! The edits of one buffer: which bytes give way to which.
//!
//! Offsets refer to the original buffer. Nothing here knows what the bytes mean; an edit list is the
//! only way in which this crate changes a document, so what no edit names stays as it was.
//!
//! ```
//! use baselink::{edit::Edits, span::Span};
//! let mut edits = Edits::default();
//! edits.push(Span::new(8, 8), b"http://a/".to_vec()).unwrap();
//! assert_eq!(edits.apply(b"<a href=b>"), b"<a href=http://a/b>");
//! ```
//!
//! Deliberately absent: edits that depend on each other. They are disjoint, and applied in one pass.

use std::collections::TryReserveError;
use std::io;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::span::Span;

/// The size of the pieces in which output is written.
const PIECE: usize = 64 << 10;

/// One replacement: the bytes at `span` give way to `new`. An empty span inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, in offsets of the original buffer.
    pub span: Span,
    /// What replaces it. Neighbours that bring the same, as most links of a document do, share it.
    pub new: Arc<[u8]>,
}

/// Edits of one buffer. Invariant: sorted by position and disjoint; two may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    list: Vec<Edit>,
}

impl Edits {
    /// Adds an edit after all those already there.
    ///
    /// # Errors
    ///
    /// When `span` begins before the end of the last edit: the list stays as it was.
    pub fn push(&mut self, span: Span, new: impl Into<Arc<[u8]>>) -> Result<()> {
        if let Some(last) = self.list.last()
            && span.start < last.span.end
        {
            let sentence = format!(
                "an edit at {}..{} overlaps the one at {}..{}",
                span.start, span.end, last.span.start, last.span.end
            );
            return Err(Error::of(ErrorKind::Overlap, sentence));
        }
        self.list.push(Edit { span, new: new.into() });
        Ok(())
    }

    /// None, and memory for so many.
    pub(crate) fn with_capacity(number: usize) -> Self {
        Self { list: Vec::with_capacity(number) }
    }

    /// Adds an edit that is known to begin after all those already there; another one is not added.
    pub(crate) fn add(&mut self, edit: Edit) {
        if self.list.last().is_none_or(|last| last.span.end <= edit.span.start) {
            self.list.push(edit);
        }
    }

    /// The edits of both lists. Each is in the order of the buffer; of two edits that overlap the first stays.
    pub(crate) fn merged(one: Vec<Edit>, other: Vec<Edit>) -> Self {
        if other.is_empty() {
            return Self { list: one };
        }
        let mut all = Self::with_capacity(one.len() + other.len());
        let mut one = one.into_iter().peekable();
        for edit in other {
            while let Some(before) = one.next_if(|before| before.span.start < edit.span.start) {
                all.add(before);
            }
            all.add(edit);
        }
        one.for_each(|edit| all.add(edit));
        all
    }

    /// Adds edits of a buffer that lies in this one from `start` on, after all those already there.
    ///
    /// # Errors
    ///
    /// When one begins before the end of the last edit: it and those after it are not added.
    ///
    /// ```
    /// use baselink::{edit::Edits, span::Span};
    /// let (mut all, mut inner) = (Edits::default(), Edits::default());
    /// all.push(Span::new(0, 1), b"A".to_vec()).unwrap();
    /// inner.push(Span::new(1, 2), b"C".to_vec()).unwrap();
    /// all.append(inner, 1).unwrap();
    /// assert_eq!(all.apply(b"abc"), b"AbC");
    /// ```
    pub fn append(&mut self, inner: Self, start: usize) -> Result<()> {
        self.list.reserve(inner.list.len());
        inner
            .list
            .into_iter()
            .try_for_each(|Edit { span, new }| self.push(span.shifted(start), new))
    }

    /// The edits, in the order of the buffer.
    pub fn iter(&self) -> std::slice::Iter<'_, Edit> {
        self.list.iter()
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many places change.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Those that lie in `span` of the buffer, as edits of a buffer that is only that.
    #[must_use]
    pub fn within(&self, span: Span) -> Self {
        let first = self.list.partition_point(|edit| edit.span.start < span.start);
        let inside = |edit: &&Edit| edit.span.end <= span.end;
        let moved = |edit: &Edit| Edit {
            span: Span::new(edit.span.start - span.start, edit.span.end - span.start),
            new: Arc::clone(&edit.new),
        };
        Self { list: self.list[first..].iter().take_while(inside).map(moved).collect() }
    }

    /// Writes `source` with the edits made, in pieces of about 64 KiB.
    ///
    /// # Errors
    ///
    /// Whatever `out` returns, and an edit that ends after `source`.
    pub fn write_to(&self, source: &[u8], out: &mut impl io::Write) -> io::Result<()> {
        // Two calls for each edit would cost more than this copy.
        let mut piece = Vec::with_capacity(PIECE.min(source.len() + source.len() / 8 + 256));
        let mut written = 0;
        for edit in &self.list {
            let kept = source.get(written..edit.span.start).ok_or(io::ErrorKind::InvalidInput)?;
            if piece.len() + kept.len() + edit.new.len() > PIECE {
                out.write_all(&piece)?;
                out.write_all(kept)?;
                piece.clear();
            } else {
                piece.extend_from_slice(kept);
            }
            piece.extend_from_slice(&edit.new);
            written = edit.span.end;
        }
        out.write_all(&piece)?;
        out.write_all(source.get(written..).ok_or(io::ErrorKind::InvalidInput)?)
    }

    /// Whether `result` is `source` with the edits made.
    pub(crate) fn make(&self, source: &[u8], result: &[u8]) -> bool {
        let mut rest = result;
        let mut takes = |piece: &[u8]| {
            let after = rest.strip_prefix(piece);
            rest = after.unwrap_or_default();
            after.is_some()
        };
        let mut at = 0;
        self.list.iter().all(|edit| {
            let kept = source.get(at..edit.span.start);
            at = edit.span.end;
            kept.is_some_and(&mut takes) && takes(&edit.new)
        }) && source.get(at..).is_some_and(&mut takes)
            && rest.is_empty()
    }

    /// `source` with the edits made, as a new buffer. Edits that end after `source` leave it as it is.
    #[must_use]
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        self.apply_into(source, Vec::with_capacity(self.longest(source)))
    }

    /// The output in a new buffer, if there is memory for it.
    pub(crate) fn try_apply(&self, source: &[u8]) -> std::result::Result<Vec<u8>, TryReserveError> {
        let mut out = Vec::new();
        out.try_reserve_exact(self.longest(source))?;
        Ok(self.apply_into(source, out))
    }

    /// An upper bound for the length of the output.
    fn longest(&self, source: &[u8]) -> usize {
        source.len() + self.list.iter().map(|edit| edit.new.len()).sum::<usize>()
    }

    fn apply_into(&self, source: &[u8], mut out: Vec<u8>) -> Vec<u8> {
        let mut written = 0;
        for edit in &self.list {
            let Some(kept) = source.get(written..edit.span.start) else { return source.to_vec() };
            out.extend_from_slice(kept);
            out.extend_from_slice(&edit.new);
            written = edit.span.end;
        }
        let Some(rest) = source.get(written..) else { return source.to_vec() };
        out.extend_from_slice(rest);
        out
    }
}

impl IntoIterator for Edits {
    type Item = Edit;
    type IntoIter = std::vec::IntoIter<Edit>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Edits {
    type Item = &'a Edit;
    type IntoIter = std::slice::Iter<'a, Edit>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn touching_edits_are_made_in_order_and_overlapping_ones_refused() {
        let mut edits = Edits::default();
        edits.push(Span::new(0, 2), b"A".to_vec()).unwrap();
        edits.push(Span::at(2), b"+".to_vec()).unwrap();
        edits.push(Span::new(2, 3), Vec::new()).unwrap();
        assert!(edits.push(Span::new(2, 4), Vec::new()).is_err());
        assert_eq!(edits.apply(b"abcd"), b"A+d");
        assert!(edits.make(b"abcd", b"A+d"));
        for other in ["", "A+", "A+dd", "A-d", "B+d"] {
            assert!(!edits.make(b"abcd", other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn edits_of_a_part_count_from_its_start() {
        let mut edits = Edits::default();
        edits.push(Span::new(0, 2), b"A".to_vec()).unwrap();
        edits.push(Span::new(3, 4), b"D".to_vec()).unwrap();
        edits.push(Span::at(6), b"!".to_vec()).unwrap();
        edits.push(Span::new(6, 7), Vec::new()).unwrap();
        assert_eq!(edits.within(Span::new(2, 6)).apply(b"cdef"), b"cDef!");
    }

    #[test]
    fn an_edit_behind_the_end_leaves_the_buffer() {
        let mut edits = Edits::default();
        edits.push(Span::new(3, 9), b"x".to_vec()).unwrap();
        assert_eq!(edits.apply(b"abcd"), b"abcd");
        assert!(!edits.make(b"abcd", b"abcx"));
    }
}
