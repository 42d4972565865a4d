//! READ FIRST: from a document and what is known of it to the outcome of every link, and to the edits.
//!
//! ```text
//! rewrite, edits, rewrite_into, rewrite_to, links --> file: a document, or a message with documents in it --+
//! rewrite_stream, links_stream -----------------> windows: a document that is not in memory --------------+--> driver
//! driver --> judge --> sink: Collected, Write or Rows
//! ```
//!
//! This file has the functions that others call. `driver` says how a document goes from its bytes to what becomes of its
//! links, `judge` what becomes of one link, `message` how a message is made of documents.
//!
//! ```
//! use baselink::{Options, rewrite};
//! let options = Options::at("http://a/dir/page.html");
//! let rewritten = rewrite(br#"<a href="../x.html#y">"#, &options);
//! assert_eq!(rewritten.output(), br#"<a href="http://a/x.html#y">"#);
//! ```
//!
//! Deliberately absent: syntax and files. The rooms below know no markup, and nothing is read but what is given.

mod base_element;
mod beside;
mod collected;
pub mod copies;
mod crawled;
mod declaration;
mod differing;
mod driver;
mod file;
mod judge;
mod judged;
mod labels;
mod message;
mod opened;
mod options;
mod plan;
mod prepared;
#[cfg(feature = "archive")]
pub mod record;
mod rows;
mod sink;
mod totals;
mod windows;
mod write;

use std::alloc::{Layout, handle_alloc_error};
use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;

pub use self::beside::Beside;
pub use self::options::{BaseElement, Choice, Destination, Dkim, Fragments, LocalCopies, Options};
pub(crate) use self::plan::PlannedPart;
use self::plan::{AskedFor, FilePlan};
pub use self::rows::ListedLink;
pub use self::totals::{LinkBases, Totals};
pub use self::windows::{StreamError, links_stream, rewrite_stream};
use self::write::Write;
use crate::edit::Edits;
use crate::report::Report;

/// A rewritten file: its edits, and the report.
#[derive(Clone, Debug)]
pub struct Rewritten<'a> {
    source: &'a [u8],
    /// What changes, in offsets of the source.
    pub edits: Edits,
    /// The documents that change.
    pub(crate) parts: Vec<PlannedPart>,
    /// What became of every link.
    pub report: Report,
    /// The same in numbers.
    pub totals: Totals,
}

impl<'a> Rewritten<'a> {
    /// What was put together of several that were rewritten.
    pub(crate) fn new(source: &'a [u8], edits: Edits, report: Report, totals: Totals) -> Self {
        Self { source, edits, parts: Vec::new(), report, totals }
    }

    /// The bytes that were rewritten.
    #[must_use]
    pub fn source(&self) -> &'a [u8] {
        self.source
    }

    /// The bytes of the file with the edits made.
    #[must_use]
    pub fn output(&self) -> Vec<u8> {
        self.edits.apply(self.source)
    }

    /// The same, without a copy where nothing changes.
    #[must_use]
    pub fn into_output(self) -> Cow<'a, [u8]> {
        match self.edits.is_empty() {
            true => Cow::Borrowed(self.source),
            false => Cow::Owned(self.output()),
        }
    }
}

/// Makes every relative link of `bytes`, a file of the format that `options` name, absolute.
#[must_use]
pub fn rewrite<'a>(bytes: &'a [u8], options: &Options) -> Rewritten<'a> {
    let (FilePlan { edits, parts, mut report, .. }, totals) =
        file::plan(bytes, options, AskedFor::EditsAndReport);
    report.diagnostics.clone_from(&totals.diagnostics);
    Rewritten { source: bytes, edits, parts, report, totals }
}

/// Says of every link of `bytes` what [`rewrite`] would make of it.
#[must_use]
pub fn examine(bytes: &[u8], options: &Options) -> Report {
    file::report(bytes, options)
}

/// What changes where every relative link of `bytes` becomes absolute, as in [`rewrite`], and what became of the links
/// in numbers. Without a report it takes a fraction of the time.
#[must_use]
pub fn edits(bytes: &[u8], options: &Options) -> (Edits, Totals) {
    let (plan, totals) = file::plan(bytes, options, AskedFor::Edits);
    (plan.edits, totals)
}

/// Makes every relative link of `bytes` absolute, as [`rewrite`] does, and puts the result after what `out` holds.
/// Without a report it takes a fraction of the time, most of all with an `out` that is used again and again.
pub fn rewrite_into(bytes: &[u8], options: &Options, out: &mut Vec<u8>) -> Totals {
    let length = out.len();
    out.reserve(bytes.len() + bytes.len() / 8);
    file::write(bytes, options, Write::into(out)).unwrap_or_else(|error| {
        if error.kind() == io::ErrorKind::OutOfMemory {
            handle_alloc_error(Layout::for_value(bytes));
        }
        // Writing to memory does not fail otherwise, and the edits are those of these bytes.
        out.truncate(length);
        out.extend_from_slice(bytes);
        Totals::none()
    })
}

/// The same, with the result written to `out`. It is gathered in `buffer` and given away in pieces of
/// about the buffer's capacity, so that of an HTML document no second copy is in memory. What was in
/// the buffer is gone.
///
/// ```
/// use baselink::{Options, rewrite_to};
/// let page = b"<a href=../x>".repeat(1_000);
/// let (mut buffer, mut out) = (Vec::with_capacity(4_096), Vec::new());
/// let totals = rewrite_to(&page, &Options::at("http://a/b/c"), &mut buffer, &mut out)?;
/// assert_eq!(out, b"<a href=http://a/x>".repeat(1_000));
/// assert_eq!(totals.links(), 1_000);
/// assert!(buffer.capacity() <= 2 * 4_096);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Whatever `out` returns; what was written to it is then of no use.
pub fn rewrite_to(
    bytes: &[u8],
    options: &Options,
    buffer: &mut Vec<u8>,
    out: &mut dyn io::Write,
) -> io::Result<Totals> {
    let mut give = |piece: &mut Vec<u8>| {
        out.write_all(piece)?;
        piece.clear();
        Ok(())
    };
    let write = Write::in_pieces(buffer, &mut give);
    file::write(bytes, options, write)
}

/// Gives `row` every link of `bytes` with what [`rewrite`] would make of it, in the order of the file, and stops where
/// it breaks. Of an HTML document no link is kept.
///
/// ```
/// use std::ops::ControlFlow;
/// use baselink::{Options, links};
/// let mut targets = Vec::new();
/// let totals = links(b"<a href=x><a href=y>", &Options::at("http://a/"), &mut |found| {
///     targets.extend(found.link.target);
///     ControlFlow::Continue(())
/// });
/// assert_eq!(targets, ["http://a/x", "http://a/y"]);
/// assert_eq!(totals.links(), 2);
/// ```
pub fn links(
    bytes: &[u8],
    options: &Options,
    row: &mut dyn FnMut(ListedLink) -> ControlFlow<()>,
) -> Totals {
    rows::rows(bytes, options, row)
}
