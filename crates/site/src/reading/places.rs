//! Places in a file: path, line and column.
//!
//! ```text
//! page.html:12:9   the ninth byte of the twelfth line
//! ```
//!
//! Lines are counted only when a message needs a line number.
//!
//! Deliberately absent: columns in characters. Vim, `rg --column` and `cut -b` count bytes, too.

use std::cell::OnceCell;

use baselink_text::{Charset, Lines, Span};

use super::Input;
use crate::archive::RecordKey;

/// Places in a file.
pub struct FilePlaces<'a> {
    input: &'a Input<'a>,
    /// The encoding, which decides how many bytes a line end has.
    charset: Charset,
    /// The lines of the document, found when they are needed.
    lines: OnceCell<Lines>,
}

impl<'a> FilePlaces<'a> {
    /// The places of `input`. A message counts as UTF-8, because its parts have encodings of their own; other documents are in
    /// `charset`.
    pub fn of(input: &'a Input<'a>, charset: Charset) -> Self {
        Self {
            input,
            charset: if input.format.has_headings() {
                Charset::UTF_8
            } else {
                charset
            },
            lines: OnceCell::new(),
        }
    }

    /// The archive record that contains the document.
    pub fn record(&self) -> Option<&'a RecordKey> {
        self.input.name.entry.map(|entry| &entry.key)
    }

    /// Line and column of the first byte of `span`.
    pub fn line_and_column(&self, span: Span) -> (usize, usize) {
        let lines = || self.charset.lines(self.input.bytes);
        let (line, column) = self.lines.get_or_init(lines).place(span.start);
        (self.input.lines + line, column)
    }

    /// Converts `span` from offsets in the document to offsets in the file.
    pub fn in_file(&self, span: Span) -> Span {
        span.shifted(self.input.offset)
    }

    /// `path:line:column` of the first byte of `span`.
    pub fn at(&self, span: Span) -> String {
        let (line, column) = self.line_and_column(span);
        format!("{}:{line}:{column}", self.input.name)
    }
}
