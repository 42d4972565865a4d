//! The sink that reports: each link leaves as it is judged, with its line and column.
//!
//! ```
//! use std::ops::ControlFlow;
//! use baselink::{Options, links};
//! let mut first = None;
//! links(b"<p>\n<a href=x><a href=y>", &Options::default(), &mut |found| {
//!     first = Some((found.line, found.column, found.link.reference));
//!     ControlFlow::Break(())
//! });
//! assert_eq!(first, Some((2, 9, "x".to_owned())));
//! ```
//!
//! Deliberately absent: edits. Whether one can be made is in the report.

use std::ops::ControlFlow;

use super::judged::Judged;
use super::opened::Task;
use super::options::Options;
use super::plan::AskedFor;
use super::sink::LinkSink;
use super::totals::Totals;
use super::{driver, file};
use crate::format::Format;
use crate::report::LinkReport;
use crate::resolve::Splice;
use crate::span::Lines;

/// A link, and the line and column of its first byte in the file, both counted from 1, the column in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLink {
    /// What became of it.
    pub link: LinkReport,
    /// Its line.
    pub line: usize,
    /// Its column.
    pub column: usize,
}

/// Takes links, and says whether it wants more.
pub(super) type RowFn<'a> = dyn FnMut(ListedLink) -> ControlFlow<()> + 'a;

/// Gives links to whoever takes them.
pub(super) struct Rows<'a, 'r> {
    row: &'a mut RowFn<'r>,
    /// Whether no more are wanted.
    is_done: bool,
    /// How much of the document is before the window.
    offset: usize,
    /// Where the window begins, and up to where of the document lines were counted.
    window: LineStart,
    counted: LineStart,
}

/// A place in a document.
#[derive(Clone, Copy)]
struct LineStart {
    at: usize,
    number: usize,
    /// Where the line begins.
    start: usize,
    /// Whether a CR is right before the place.
    follows_cr: bool,
}

impl<'a, 'r> Rows<'a, 'r> {
    pub(super) fn new(row: &'a mut RowFn<'r>) -> Self {
        let first = LineStart { at: 0, number: 1, start: 0, follows_cr: false };
        Self { row, is_done: false, offset: 0, window: first, counted: first }
    }

    /// The line of the place `at` of the window. A line ends as [`Lines`] says.
    fn line(&mut self, window: &[u8], at: usize) -> LineStart {
        let to = self.offset + at;
        if to < self.counted.at {
            self.counted = self.window;
        }
        let line = &mut self.counted;
        let from = line.at - self.offset;
        let text = window.get(from..at).unwrap_or_default();
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
            line.start = self.offset + from + end + 1;
        }
        if let Some(last) = text.last() {
            line.follows_cr = *last == b'\r';
        }
        line.at = to;
        *line
    }
}

impl LinkSink for Rows<'_, '_> {
    type End = ();
    const IS_LAST: bool = true;
    const REPORTS: bool = true;

    fn is_full(&self, _at: usize) -> bool {
        self.is_done
    }

    fn flush(&mut self, _bytes: &[u8], _at: usize) -> Result<(), ()> {
        if self.is_done { Err(()) } else { Ok(()) }
    }

    // Each link is wanted with its report.
    fn splice(&mut self, _bytes: &[u8], _at: usize, _splice: Splice<'_>) {}

    fn report(&mut self, bytes: &[u8], mut link: LinkReport) {
        if self.is_done {
            return;
        }
        let LineStart { number: line, start, at, .. } = self.line(bytes, link.span.start);
        link.span = link.span.shifted(self.offset);
        self.is_done = (self.row)(ListedLink { link, line, column: at - start + 1 }).is_break();
    }

    fn judged(&mut self, bytes: &[u8], judged: Judged) -> Result<(), ()> {
        self.report(bytes, judged.report);
        if self.is_done { Err(()) } else { Ok(()) }
    }

    fn slide(&mut self, window: &[u8], done: usize) -> Result<(), ()> {
        self.window = self.line(window, done);
        self.offset += done;
        Ok(())
    }

    fn widen(&mut self, _offset: usize) {
        self.offset = 0;
        self.window = LineStart { at: 0, number: 1, start: 0, follows_cr: false };
    }
}

/// How many LF and CR are in `text`: so many bytes at a time that a byte can count them, which is quick.
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

/// Gives `row` every link of `bytes`.
pub(super) fn rows(bytes: &[u8], options: &Options, row: &mut RowFn<'_>) -> Totals {
    if options.format == Format::Html {
        // Whoever breaks is told no more.
        let task = Task::of(options, true);
        let totals = driver::html(task, bytes, Rows::new(row), |_, driver, _| driver.totals());
        if let Ok(totals) = totals {
            return totals;
        }
    }
    let (plan, totals) = file::plan(bytes, options, AskedFor::Report);
    let lines = match options.format.has_headings() {
        true => Lines::of(bytes),
        false => totals.charset.lines(bytes),
    };
    let _ = plan.report.links.into_iter().try_for_each(|link| {
        let (line, column) = lines.place(link.span.start);
        row(ListedLink { link, line, column })
    });
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_at_each_kind_of_line_end() {
        let mut ignored = |_| ControlFlow::Continue(());
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
