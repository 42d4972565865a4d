//! What is made of links: what the driver tells, link by link, in the order of the document.
//!
//! ```
//! use baselink::{Options, rewrite, rewrite_into};
//! // Two sinks, one driver.
//! let (page, options) = (b"<base href=/b/><a href=x>", Options::at("http://a/"));
//! let mut out = Vec::new();
//! rewrite_into(page, &options, &mut out);
//! assert_eq!(out, rewrite(page, &options).output());
//! ```
//!
//! Deliberately absent: the sinks. Each has its file: [`super::write`], [`super::collected`], [`super::rows`].

use super::judged::Judged;
use crate::report::LinkReport;
use crate::resolve::Splice;

/// What is made of links. Places are those of the bytes that are scanned.
pub(super) trait LinkSink {
    /// Why it wants no more.
    type End;

    /// Whether nothing becomes of a link any more once it was told.
    const IS_LAST: bool;

    /// Whether it takes reports only, so that no edit needs to be made.
    const REPORTS: bool = false;

    /// The document may begin anew until the first flush.
    fn hold(&mut self) {}

    /// The document begins anew: nothing that was told counts.
    fn begin_anew(&mut self) {}

    /// Whether it would rather be rid of what it has, where a tag begins.
    fn is_full(&self, _at: usize) -> bool {
        false
    }

    /// No link that begins before `at` is still to come.
    fn flush(&mut self, _bytes: &[u8], _at: usize) -> Result<(), Self::End> {
        Ok(())
    }

    /// The reference at `at` gives way to a prefix and its own tail.
    fn splice(&mut self, bytes: &[u8], at: usize, splice: Splice<'_>);

    /// Takes a report in its place.
    fn report(&mut self, _bytes: &[u8], _report: LinkReport) {}

    /// Takes any other link that was judged.
    fn judged(&mut self, bytes: &[u8], judged: Judged) -> Result<(), Self::End>;

    /// The first `done` bytes of a window are gone.
    fn slide(&mut self, _window: &[u8], _done: usize) -> Result<(), Self::End> {
        Ok(())
    }

    /// The window, which began at `offset` of the document, is all of it from now on.
    fn widen(&mut self, _offset: usize) {}

    /// There are no more links, and the last window is this.
    fn end(&mut self, _window: &[u8]) -> Result<(), Self::End> {
        Ok(())
    }

    /// Whether anything was changed.
    fn has_changed(&self) -> bool {
        false
    }
}
