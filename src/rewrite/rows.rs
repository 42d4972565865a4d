//! Links that leave as they are judged, each with its line and column.
//!
//! ```
//! use baselink::{Options, links};
//! let mut first = None;
//! links(b"<p>\n<a href=x><a href=y>", &Options::default(), &mut |found| {
//!     first.get_or_insert((found.line, found.column, found.link.reference));
//! });
//! assert_eq!(first, Some((2, 9, "x".to_owned())));
//! ```
//!
//! Deliberately absent: edits. Whether one can be made is in the report.

use crate::report::LinkReport;

/// A link, and the line and column of its first byte in the file, both counted from 1, the column in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLink {
    /// The report of the link.
    pub link: LinkReport,
    /// The line of its first byte.
    pub line: usize,
    /// The column of its first byte.
    pub column: usize,
}

/// Takes links.
pub(super) type RowFn<'a> = dyn FnMut(ListedLink) + 'a;

/// Gives links to a closure. Lines are counted as far as links have come.
pub(super) struct Rows<'r> {
    row: &'r mut RowFn<'r>,
    counted: LineStart,
}

/// A place in a document.
#[derive(Clone, Copy)]
struct LineStart {
    at: usize,
    number: usize,
    /// The offset at which the line begins.
    start: usize,
    /// True if a CR is right before the place.
    follows_cr: bool,
}

impl<'r> Rows<'r> {
    pub(super) fn new(row: &'r mut RowFn<'r>) -> Self {
        Self { row, counted: LineStart::FIRST }
    }

    /// Gives away a link of the document `bytes`.
    pub(super) fn give(&mut self, bytes: &[u8], link: LinkReport) {
        let LineStart { number: line, start, at, .. } = self.line(bytes, link.span.start);
        (self.row)(ListedLink { link, line, column: at - start + 1 });
    }

    /// The line of the place `at` of `bytes`. A line ends as [`Lines`](crate::span::Lines) says.
    fn line(&mut self, bytes: &[u8], at: usize) -> LineStart {
        if at < self.counted.at {
            self.counted = LineStart::FIRST;
        }
        let line = &mut self.counted;
        let from = line.at;
        let text = bytes.get(from..at).unwrap_or_default();
        let (feeds, returns) = line_ends(text);
        line.number += feeds;
        line.number -= usize::from(line.follows_cr && text.starts_with(b"\n"));
        if returns > 0 {
            let is_lone = |at: &usize| text.get(at + 1) != Some(&b'\n');
            line.number += memchr::memchr_iter(b'\r', text).filter(is_lone).count();
        }
        if feeds + returns > 0
            && let Some(end) = memchr::memrchr2(b'\n', b'\r', text)
        {
            line.start = from + end + 1;
        }
        if let Some(last) = text.last() {
            line.follows_cr = *last == b'\r';
        }
        line.at = at;
        *line
    }
}

impl LineStart {
    const FIRST: Self = Self { at: 0, number: 1, start: 0, follows_cr: false };
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
    fn a_line_ends_at_each_kind_of_line_end() {
        let mut ignored = |_| ();
        for (text, places) in [
            (&b"a\nb"[..], &[(1, 1, 0), (3, 2, 2)][..]),
            (b"a\r\nb", &[(4, 2, 3)]),
            // Asked between the two, and then again.
            (b"a\r\nb", &[(2, 2, 2), (3, 2, 3), (4, 2, 3)]),
            (b"\r\r\n\n\r", &[(1, 2, 1), (2, 3, 2), (3, 3, 3), (4, 4, 4), (5, 5, 5)]),
            (b"\n\r", &[(2, 3, 2)]),
        ] {
            let mut rows = Rows::new(&mut ignored);
            for &(at, number, start) in places {
                let line = rows.line(text, at);
                assert_eq!((line.number, line.start), (number, start), "{text:?} at {at}");
            }
        }
        // More than a byte counts.
        for end in ["\n", "\r", "\r\n"] {
            let text = end.repeat(700);
            let mut rows = Rows::new(&mut ignored);
            let line = rows.line(text.as_bytes(), text.len());
            assert_eq!((line.number, line.start), (701, text.len()), "{end:?}");
        }
    }
}
