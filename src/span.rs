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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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

    /// True if it covers no byte.
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

    /// True if the byte at `offset` belongs to it.
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

/// The line and column of places in a buffer that are mostly asked for in order: lines are counted as far as the last
/// one, and nothing is kept of them.
#[derive(Clone, Copy)]
pub(crate) struct LineCounter {
    at: usize,
    number: usize,
    /// The offset at which the line begins.
    start: usize,
    /// True if a CR is right before the place.
    follows_cr: bool,
}

impl Default for LineCounter {
    fn default() -> Self {
        Self { at: 0, number: 1, start: 0, follows_cr: false }
    }
}

impl LineCounter {
    /// Line and column of the byte at `at`, as [`Lines::place`] has them.
    pub(crate) fn place(&mut self, bytes: &[u8], at: usize) -> (usize, usize) {
        if at < self.at {
            *self = Self::default();
        }
        let from = self.at;
        let text = bytes.get(from..at).unwrap_or_default();
        let (feeds, returns) = line_ends(text);
        self.number += feeds;
        self.number -= usize::from(self.follows_cr && text.starts_with(b"\n"));
        if returns > 0 {
            let is_lone = |at: &usize| text.get(at + 1) != Some(&b'\n');
            self.number += memchr::memchr_iter(b'\r', text).filter(is_lone).count();
        }
        if feeds + returns > 0
            && let Some(end) = memchr::memrchr2(b'\n', b'\r', text)
        {
            self.start = from + end + 1;
        }
        if let Some(last) = text.last() {
            self.follows_cr = *last == b'\r';
        }
        self.at = at;
        (self.number, at - self.start + 1)
    }
}

/// The numbers of LF and CR in `text`, counted in chunks short enough for a counter of one byte, which is fast.
fn line_ends(text: &[u8]) -> (usize, usize) {
    let in_chunk = |chunk: &[u8]| {
        let add = |(feeds, returns), &byte| {
            (feeds + u8::from(byte == b'\n'), returns + u8::from(byte == b'\r'))
        };
        chunk.iter().fold((0, 0), add)
    };
    text.chunks(usize::from(u8::MAX)).map(in_chunk).fold((0, 0), |all, (feeds, returns)| {
        (all.0 + usize::from(feeds), all.1 + usize::from(returns))
    })
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

    #[test]
    fn a_counter_finds_the_places_of_lines() {
        for text in [&b"a\nb"[..], b"a\r\nb", b"\r\r\n\n\r", b"\n\r", b""] {
            let lines = Lines::of(text);
            let mut counter = LineCounter::default();
            for at in (0..=text.len()).chain([1.min(text.len()), text.len()]) {
                // Between a CR and its LF a counter has seen the end of a line already.
                if text.get(at) == Some(&b'\n') && at > 0 && text[at - 1] == b'\r' {
                    counter.place(text, at);
                    continue;
                }
                assert_eq!(counter.place(text, at), lines.place(at), "{text:?} at {at}");
            }
        }
        // More than a byte counts.
        for end in ["\n", "\r", "\r\n"] {
            let text = end.repeat(700);
            let place = LineCounter::default().place(text.as_bytes(), text.len());
            assert_eq!(place, (701, 1), "{end:?}");
        }
    }
}
