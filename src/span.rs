//! A byte range of a buffer, and its line and column for a reader.
//!
//! Every offset in this crate counts bytes from 0 and every range is half-open. Which buffer is
//! meant (the file, a decoded part of it, one reference) is said where the span is kept.
//!
//! ```
//! use baselink::span::{Lines, Span};
//! let text = b"<p>\n<a href=x>";
//! let span = Span::new(12, 13);
//! assert_eq!(&text[span.range()], b"x");
//! assert_eq!(Lines::of(text).place(span.start), (2, 9));
//! ```
//!
//! Deliberately absent: characters. A column is a column of bytes, as editors and compilers count.

use std::ops::Range;

/// A half-open byte range `start..end` of some buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte; never less than `start`.
    pub end: usize,
}

impl Span {
    /// The span from `start` to `end`; an `end` before `start` gives the empty span at `start`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        let end = if end < start { start } else { end };
        Self { start, end }
    }

    /// The empty span at `at`.
    #[must_use]
    pub const fn at(at: usize) -> Self {
        Self { start: at, end: at }
    }

    /// How many bytes it covers.
    #[must_use]
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it covers no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The same as a range, to index a slice with.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The span moved `by` bytes towards the end of the buffer.
    #[must_use]
    pub const fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// Whether the byte at `offset` belongs to it.
    #[must_use]
    pub const fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// Where the lines of a buffer begin, so that offsets become lines and columns.
///
/// A line ends after LF, after CRLF, or after a CR that no LF follows.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    #[doc(hidden)]
    /// Finds the lines of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        Self { starts }
    }

    #[doc(hidden)]
    /// The same for `bytes` that are UTF-16, which `unit` reads; columns still count bytes.
    #[must_use]
    pub fn of_utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Self {
        let (pairs, _) = bytes.as_chunks::<2>();
        let is = |at: usize, ascii: u8| {
            pairs.get(at).is_some_and(|&pair| unit(pair) == u16::from(ascii))
        };
        let ends = |at: &usize| is(*at, b'\n') || (is(*at, b'\r') && !is(at + 1, b'\n'));
        let starts = (0..pairs.len()).filter(ends).map(|at| 2 * (at + 1));
        Self { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// Line and column of the byte at `offset`, both counted from 1, the column in bytes.
    #[must_use]
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset);
        (line, offset - self.starts[line - 1] + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_every_kind_count_once() {
        let lines = Lines::of(b"a\nb\r\nc\rd");
        let places: Vec<_> = [0, 1, 2, 3, 4, 5, 6, 7].map(|at| lines.place(at)).to_vec();
        assert_eq!(places, [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)]);
    }

    #[test]
    fn a_character_with_a_byte_like_a_line_end_is_none() {
        // U+0A0D, LF, U+0061
        let lines = Lines::of_utf_16(b"\x0d\x0a\x0a\0a\0", u16::from_le_bytes);
        assert_eq!([0, 2, 4].map(|at| lines.place(at)), [(1, 1), (1, 3), (2, 1)]);
    }
}
