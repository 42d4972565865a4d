//! The sink that reports: each link leaves as it is judged.
//!
//! ```
//! use std::ops::ControlFlow;
//! use baselink::{Options, links};
//! let mut first = None;
//! links(b"<a href=x><a href=y>", &Options::default(), &mut |link| {
//!     first = Some(link.reference);
//!     ControlFlow::Break(())
//! });
//! assert_eq!(first.as_deref(), Some("x"));
//! ```
//!
//! Deliberately absent: edits. Whether one can be made is in the report.

use std::ops::ControlFlow;

use super::driver::{Opened, Sink};
use super::file;
use super::judged::Judged;
use super::options::Options;
use super::totals::Totals;
use crate::report::LinkReport;
use crate::resolve::Splice;
use crate::scan::html::pass;
use crate::scan::html::prelude::Bases;

/// Takes rows.
type Row<'a> = dyn FnMut(LinkReport) -> ControlFlow<()> + 'a;

struct Rows<'a, 'r>(&'a mut Row<'r>);

impl Sink for Rows<'_, '_> {
    type End = ();
    const IS_LAST: bool = true;

    // Each link is wanted with its report.
    fn splice(&mut self, _bytes: &[u8], _at: usize, _splice: Splice<'_>) {}

    fn judged(&mut self, _bytes: &[u8], judged: Judged) -> Result<(), ()> {
        match (self.0)(judged.report) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(()),
        }
    }
}

/// Gives `row` every link of `bytes`.
pub(super) fn rows(bytes: &[u8], options: &Options, row: &mut Row<'_>) -> Totals {
    if let Some(opened) = Opened::of(bytes, options, Bases::Decisive) {
        let mut driver = opened.driver(options, true, Rows(row));
        // Whoever breaks is told no more.
        let _ = pass::links(&opened.whole(bytes, options), &options.scan, &mut driver);
        return driver.totals();
    }
    let (plan, totals) = file::plan(bytes, options, true);
    let _ = plan.report.links.into_iter().try_for_each(row);
    totals
}
