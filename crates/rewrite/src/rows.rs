//! Links that are emitted as soon as they are judged, each with its line and column.
//!
//! ```
//! use baselink_rewrite::{Options, links};
//! let mut first = None;
//! links(b"<p>\n<a href=x><a href=y>", &Options::default(), &mut |found| {
//!     first.get_or_insert((found.line, found.column, found.link.reference));
//! });
//! assert_eq!(first, Some((2, 9, "x".to_owned())));
//! ```
//!
//! Deliberately absent: edits. The report of a link states whether the link can be edited.

use crate::base::BaseChain;
use crate::report::LinkReport;
use baselink_text::layer::charset::Charset;
use baselink_text::span::LineCounter;

/// A link, and the line and column of its first byte in the file, both counted from 1, the column in bytes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ListedLink {
    /// The report of the link.
    #[serde(flatten)]
    pub link: LinkReport,
    /// The line of its first byte.
    pub line: usize,
    /// The column of its first byte.
    pub column: usize,
}

/// A callback that receives links, each with the base and the encoding of the document that contains it.
pub type RowFn<'a> = dyn FnMut(ListedLink, &BaseChain, Charset) + 'a;

/// Passes links to a callback. Counts lines only as far as the last link.
pub(super) struct Rows<'r> {
    row: &'r mut RowFn<'r>,
    counted: LineCounter,
}

impl<'r> Rows<'r> {
    pub(super) fn new(row: &'r mut RowFn<'r>) -> Self {
        Self {
            row,
            counted: LineCounter::default(),
        }
    }

    /// Passes on a link of the document `bytes`; a document with this base and encoding contains it.
    pub(super) fn emit(
        &mut self,
        bytes: &[u8],
        link: LinkReport,
        (chain, charset): (&BaseChain, Charset),
    ) {
        let (line, column) = self.counted.place(bytes, link.span.start);
        (self.row)(ListedLink { link, line, column }, chain, charset);
    }
}
