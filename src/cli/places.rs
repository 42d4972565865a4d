//! Places in a file: path, line and column.
//!
//! ```text
//! page.html:12:9   the ninth byte of the twelfth line
//! ```
//!
//! Lines are counted when something is to be said of one of them, and not before.
//!
//! Deliberately absent: columns of characters. An editor and `cut -b` agree on bytes.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use baselink::Totals;
use baselink::error::{Error, Result};
use baselink::layer::charset::Charset;
use baselink::span::{Lines, Span};

use super::document_name::{DocumentName, RecordKey};
use super::input::Input;

/// So much of a file is looked at at once.
const WINDOW: usize = 64 << 10;

/// Places in a file.
pub(crate) struct FilePlaces<'a> {
    name: DocumentName<'a>,
    bytes: &'a [u8],
    /// The encoding in which a line end has more than one byte, perhaps.
    charset: Option<Charset>,
    /// Of the document, found out when something is to be said of it.
    lines: OnceCell<Lines>,
    /// Line and column of some offsets, in their order, where the bytes are not at hand.
    known: KnownPlaces,
    /// How many lines come before it, and how many bytes.
    before: (usize, usize),
}

impl<'a> FilePlaces<'a> {
    /// The places of `input`, whose `totals` have its encoding.
    pub(crate) fn of(input: &Input<'a>, totals: &Totals) -> Self {
        Self::in_charset(input, (!input.format.has_headings()).then_some(totals.charset))
    }

    /// The places of `input`, whose encoding is this; `None` for a message.
    pub(crate) fn in_charset(input: &Input<'a>, charset: Option<Charset>) -> Self {
        Self {
            name: input.name,
            bytes: input.bytes,
            charset,
            lines: OnceCell::new(),
            known: Vec::new(),
            before: (input.lines, input.offset),
        }
    }

    /// The places of the diagnostics of a file, of which there are these `totals`. It is read as far as the last of them.
    pub(crate) fn in_file_of(
        (path, mut file): (&'a Path, &File),
        Totals { charset, diagnostics, .. }: &Totals,
    ) -> Result<Self> {
        let offsets = diagnostics.iter().map(|found| found.span.start);
        let known = match charset.is_ascii_compatible() {
            true => lines_and_columns(&mut file, offsets),
            false => lines_and_columns_in(*charset, &mut file, offsets),
        };
        let known = known.map_err(|error| Error::io(path, error))?;
        let lines = OnceCell::new();
        let name = DocumentName::of(path);
        Ok(Self { name, bytes: &[], charset: None, lines, known, before: (0, 0) })
    }

    /// The record of an archive in which they are.
    pub(crate) fn record(&self) -> Option<&'a RecordKey> {
        self.name.record
    }

    /// Line and column of the first byte of `span`.
    pub(crate) fn line_and_column(&self, span: Span) -> (usize, usize) {
        if let Ok(number) = self.known.binary_search_by_key(&span.start, |(at, _)| *at) {
            return self.known[number].1;
        }
        let lines = self.lines.get_or_init(|| match self.charset {
            Some(charset) => charset.lines(self.bytes),
            None => Lines::of(self.bytes),
        });
        let (line, column) = lines.place(span.start);
        (self.before.0 + line, column)
    }

    /// `span` in the bytes of the file.
    pub(crate) fn in_file(&self, span: Span) -> Span {
        span.shifted(self.before.1)
    }

    /// `path:line:column` of the first byte of `span`.
    pub(crate) fn at(&self, span: Span) -> String {
        let (line, column) = self.line_and_column(span);
        format!("{}:{line}:{column}", self.name)
    }
}

/// Line and column of some offsets, by offset.
type KnownPlaces = Vec<(usize, (usize, usize))>;

/// Line and column of `offsets` of a file in an encoding in which a line end may have more than one byte. Such a file
/// has been in memory as a whole before.
fn lines_and_columns_in(
    charset: Charset,
    file: &mut (impl Read + Seek),
    offsets: impl Iterator<Item = usize>,
) -> io::Result<KnownPlaces> {
    let mut offsets = offsets.peekable();
    let mut bytes = Vec::new();
    if offsets.peek().is_some() {
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
    }
    let lines = charset.lines(&bytes);
    let mut known: KnownPlaces = offsets.map(|offset| (offset, lines.place(offset))).collect();
    known.sort_unstable();
    Ok(known)
}

/// Line and column of `offsets` of a file, as [`Lines`] has them.
fn lines_and_columns(
    file: &mut (impl Read + Seek),
    offsets: impl Iterator<Item = usize>,
) -> io::Result<KnownPlaces> {
    let mut offsets: Vec<usize> = offsets.collect();
    offsets.sort_unstable();
    let mut left = offsets.into_iter().peekable();
    let mut found = Vec::new();
    if left.peek().is_some() {
        file.rewind()?;
    }
    let (mut window, mut held) = (Vec::with_capacity(WINDOW), 0);
    // Of the first byte of the window: its offset, its line, and the bytes before it in that.
    let (mut start, mut line, mut before) = (0, 1, 0);
    while left.peek().is_some() {
        let length = file.take((WINDOW - held) as u64).read_to_end(&mut window)?;
        // A CR may be followed by its LF.
        held = usize::from(length > 0 && window.last() == Some(&b'\r'));
        let end = window.len() - held;
        let lines = Lines::of(&window[..end]);
        let place = |at: usize| match lines.place(at) {
            (1, column) => (line, before + column),
            (later, column) => (line + later - 1, column),
        };
        while let Some(offset) = left.next_if(|&offset| length == 0 || offset < start + end) {
            found.push((offset, place(offset - start)));
        }
        let (last, column) = place(end);
        (start, line, before) = (start + end, last, column - 1);
        window.drain(..end);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Cursor;

    /// Line ends of every kind have the same places, also where windows meet.
    #[test]
    fn a_file_has_the_lines_of_its_bytes() {
        for cut in [WINDOW - 2, WINDOW - 1, WINDOW, WINDOW + 1] {
            for end in ["\n", "\r\n", "\r", "\r\r\n"] {
                let mut bytes = b"a\nb\r\nc\r".to_vec();
                bytes.resize(cut - 1, b'x');
                bytes.extend_from_slice(end.as_bytes());
                bytes.extend_from_slice(b"d\ne");
                let expected = Lines::of(&bytes);
                let all = 0..=bytes.len();
                let found = lines_and_columns(&mut Cursor::new(&bytes), all.clone()).unwrap();
                let wanted: Vec<_> = all.map(|at| (at, expected.place(at))).collect();
                assert!(found == wanted, "{cut} {end:?}");
            }
        }
    }
}
