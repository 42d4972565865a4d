//! A byte range of a buffer, and its line and column.
//!
//! Every offset in this crate counts bytes from 0, and every range is half-open. The documentation of each span
//! names its buffer: the file, a decoded part of it, or one reference.
//!
//! ```
//! use baselink_text::span::{Lines, Span};
//! let text = b"<p>\n<a href=x>";
//! let span = Span::new(12, 13);
//! assert_eq!(&text[span.range()], b"x");
//! assert_eq!(Lines::of(text).place(span.start), (2, 9));
//! ```
//!
//! Deliberately absent: characters. Columns count bytes, as in compilers.

use std::ops::Range;

/// A half-open byte range `start..end` of a buffer.
///
/// ```
/// # use baselink_text as baselink;
/// use baselink::Span;
/// let span = Span::new(2, 5);
/// assert_eq!((span.len(), &b"a bcd"[span.range()]), (3, &b"bcd"[..]));
/// assert!(span.contains(4) && !span.contains(5));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize)]
pub struct Span {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte; never less than `start`.
    pub end: usize,
}

impl Span {
    /// Creates the span from `start` to `end`; an `end` before `start` gives the empty span at `start`.
    pub const fn new(start: usize, end: usize) -> Self {
        let end = if end < start { start } else { end };
        Self { start, end }
    }

    /// Creates the empty span at `at`.
    pub const fn at(at: usize) -> Self {
        Self { start: at, end: at }
    }

    /// The number of bytes in the span.
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// True if the span is empty.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span as a range that can index a slice.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The span moved `by` bytes towards the end of the buffer.
    pub const fn shifted(self, by: usize) -> Self {
        Self {
            start: self.start + by,
            end: self.end + by,
        }
    }

    /// True if the span contains the byte at `offset`.
    pub const fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// The starts of lines in a buffer, which convert offsets into lines and columns.
///
/// A line ends after LF, after CRLF, or after a CR that no LF follows.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    #[doc(hidden)]
    /// Finds the lines of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        Self { starts }
    }

    /// Finds the lines of UTF-16 text, whose code units `unit` reads. Columns still count bytes.
    pub(crate) fn of_utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Self {
        let (pairs, _) = bytes.as_chunks::<2>();
        let has = |at: usize, ascii: u8| {
            pairs
                .get(at)
                .is_some_and(|&pair| unit(pair) == u16::from(ascii))
        };
        let starts = (0..pairs.len())
            .filter(|at| has(*at, b'\n') || (has(*at, b'\r') && !has(at + 1, b'\n')))
            .map(|at| 2 * (at + 1));
        Self {
            starts: std::iter::once(0).chain(starts).collect(),
        }
    }

    /// The line and column of the byte at `offset`, both counted from 1. The column counts bytes.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset);
        (line, offset - self.starts[line - 1] + 1)
    }
}

/// Converts offsets into lines and columns without a table. Fast if offsets mostly increase, because counting
/// continues from the last one.
#[derive(Default)]
pub struct LineCounter {
    at: usize,
    /// The number of lines that end before the current one.
    ended: usize,
    /// The offset at which the current line begins.
    start: usize,
}

impl LineCounter {
    /// The line and column of the byte at `at`, as in [`Lines::place`]. It must not be the LF of a CRLF.
    pub fn place(&mut self, bytes: &[u8], at: usize) -> (usize, usize) {
        if at < self.at {
            *self = Self::default();
        }
        let from = self.at;
        let text = bytes.get(from..at).unwrap_or_default();
        let returns = memchr::memchr_iter(b'\r', text)
            .filter(|length| bytes.get(from + length + 1) != Some(&b'\n'));
        self.ended += memchr::memchr_iter(b'\n', text).count() + returns.count();
        if let Some(end) = memchr::memrchr2(b'\n', b'\r', text) {
            self.start = from + end + 1;
        }
        self.at = at;
        (self.ended + 1, at - self.start + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_every_kind_count_once() {
        let lines = Lines::of(b"a\nb\r\nc\rd");
        let places: Vec<_> = [0, 1, 2, 3, 4, 5, 6, 7].map(|at| lines.place(at)).to_vec();
        assert_eq!(
            places,
            [
                (1, 1),
                (1, 2),
                (2, 1),
                (2, 2),
                (2, 3),
                (3, 1),
                (3, 2),
                (4, 1)
            ]
        );
    }

    #[test]
    fn a_character_with_a_byte_like_a_line_end_ends_no_line() {
        // U+0A0D, LF, U+0061
        let lines = Lines::of_utf_16(b"\x0d\x0a\x0a\0a\0", u16::from_le_bytes);
        assert_eq!(
            [0, 2, 4].map(|at| lines.place(at)),
            [(1, 1), (1, 3), (2, 1)]
        );
    }

    #[test]
    fn a_counter_finds_the_places_of_lines() {
        for text in [&b"a\nb"[..], b"a\r\nb", b"\r\r\n\n\r", b"\n\r", b""] {
            let lines = Lines::of(text);
            let mut counter = LineCounter::default();
            for at in (0..=text.len()).chain([1.min(text.len()), text.len()]) {
                if text.get(at) == Some(&b'\n') && at > 0 && text[at - 1] == b'\r' {
                    counter.place(text, at);
                    continue;
                }
                assert_eq!(counter.place(text, at), lines.place(at), "{text:?} at {at}");
            }
        }
        // More lines than one byte can count.
        for end in ["\n", "\r", "\r\n"] {
            let text = end.repeat(700);
            let place = LineCounter::default().place(text.as_bytes(), text.len());
            assert_eq!(place, (701, 1), "{end:?}");
        }
    }
}
