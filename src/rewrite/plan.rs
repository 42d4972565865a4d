//! What is planned for a file, before anything is written.
//!
//! ```
//! use baselink::{Options, rewrite};
//! let rewritten = rewrite(b"<a href=x><a href=y>", &Options::at("http://a/"));
//! assert_eq!(rewritten.edits.len(), 2);
//! ```
//!
//! Deliberately absent: how it was found.

use super::totals::{RunningTotals, Totals};
use crate::edit::Edits;
use crate::layer::charset::Charset;
use crate::report::Report;
use crate::span::Span;

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskedFor {
    /// Edits, and links in numbers.
    Edits,
    /// Edits, and a report of every link.
    EditsAndReport,
    /// A report of every link. Edits are made where what becomes of a link follows from them.
    Report,
}

impl AskedFor {
    /// Whether every link is in the report.
    pub(crate) fn is_listed(self) -> bool {
        self != Self::Edits
    }
}

/// A document in a file, with its edits in its own bytes.
#[derive(Clone, Debug)]
pub(crate) struct PlannedPart {
    /// Where it lies in the file.
    pub(crate) body: Span,
    /// Its place among the entities of the report.
    pub(crate) entity: usize,
    /// Its edits; `None` where they are those of the file.
    pub(crate) edits: Option<Edits>,
    /// For each edit whether a policy for the `base` element asks for it, and not a link.
    pub(crate) policies: Vec<bool>,
    /// Where its rewritten links are in it.
    pub(crate) rewritten: Vec<Span>,
}

/// What is planned for a file.
pub(super) struct FilePlan {
    pub(super) edits: Edits,
    pub(super) parts: Vec<PlannedPart>,
    /// The links that were judged one by one.
    pub(super) report: Report,
    /// The others.
    pub(super) tally: RunningTotals,
    /// Whether nothing is changed for lack of memory only.
    pub(super) lacks_memory: bool,
}

impl FilePlan {
    /// Counts what was judged, and puts what is to be said in order.
    pub(super) fn complete(mut self) -> (Self, Totals) {
        let Report { entities, links, diagnostics } = &mut self.report;
        for link in links.iter() {
            // Only few links ask for it.
            let charset = || {
                let its = entities.iter().find(|entity| entity.chain.entity == link.entity);
                its.map_or(Charset::UTF_8, |entity| entity.charset)
            };
            self.tally.add_link(link, link.span, &charset);
        }
        self.tally.entities = entities.len();
        let outermost = entities.first();
        let charset = outermost.map_or(Charset::UTF_8, |entity| entity.charset);
        let chain = outermost.map(|entity| &entity.chain);
        let tally = std::mem::take(&mut self.tally);
        let mut totals = Totals::of(chain, charset, tally, std::mem::take(diagnostics));
        totals.changed = !self.edits.is_empty();
        (self, totals)
    }
}
