//! The sink that collects: the edits of a document, and what was judged of its links, until all of them are known.
//!
//! ```
//! // The links of a document in a value are lifted to the page, once all are known.
//! use baselink::{Options, rewrite};
//! let options = Options::at("http://a/");
//! let page = b"<iframe srcdoc='<a href=x>'>";
//! assert_eq!(rewrite(page, &options).output(), b"<iframe srcdoc='<a href=http://a/x>'>");
//! ```
//!
//! Deliberately absent: what a link comes to mean.

use std::convert::Infallible;
use std::sync::Arc;

use super::judged::Judged;
use super::opened::Task;
use super::sink::LinkSink;
use super::totals::RunningTotals;
use crate::base::BaseChain;
use crate::diagnostic::{Code, Diagnostic};
use crate::edit::{Edit, Edits};
use crate::report::{EntityReport, LinkReport, Outcome, Reason};
use crate::resolve::Splice;
use crate::span::Span;

/// By how much the links of a file of `length` bytes may become longer, where it is in memory as a whole. A base may be as
/// long as [`LONGEST_BASE`](crate::document::LONGEST_BASE), and a link as short as a byte. Of real files none comes near.
pub(super) fn room(length: usize) -> usize {
    65_536_usize.saturating_add(length.saturating_mul(16))
}

/// The sink that collects: edits, and what was judged; where it `REPORTS`, edits only of what is not plain.
pub(super) struct Collected<const REPORTS: bool> {
    judged: Vec<Judged>,
    spliced: Vec<Edit>,
    /// By how much the links may become longer, where there is a bound.
    room: Option<usize>,
    /// By how much they do.
    grown: usize,
}

impl<const REPORTS: bool> Collected<REPORTS> {
    /// For links that become longer by no more than `room`, in all.
    pub(super) fn within(room: Option<usize>) -> Self {
        Self { judged: Vec::new(), spliced: Vec::new(), room, grown: 0 }
    }

    fn is_outgrown(&self) -> bool {
        self.room.is_some_and(|room| self.grown > room)
    }

    /// Counts by how much a link becomes longer. Past the room nothing long is kept of it.
    fn grow(&mut self, judged: &mut Judged) {
        let report = &judged.report;
        self.grown = match (report.outcome, report.reason) {
            // Of a document in this one.
            (_, Some(Reason::Growth)) => usize::MAX,
            (Outcome::Rewritten, _) => {
                let by = report.in_output().len().saturating_sub(report.reference.len());
                self.grown.saturating_add(by)
            }
            _ => return,
        };
        if self.is_outgrown() {
            judged.outgrow();
        }
    }

    /// What was judged, and the edits of the others, which `tally` has. All links stay where there is no room for them.
    pub(super) fn settle(
        mut self,
        tally: &mut RunningTotals,
    ) -> (Vec<Judged>, Vec<Edit>, Option<Diagnostic>) {
        if !self.is_outgrown() {
            return (self.judged, self.spliced, None);
        }
        self.judged.iter_mut().for_each(Judged::outgrow);
        tally.refuse(Reason::Growth);
        let message =
            "made absolute, the links here would make the file many times as long; they were left";
        let outgrown = Diagnostic::new(Code::Growth, Span::at(0), message);
        (self.judged, Vec::new(), Some(outgrown))
    }
}

impl<const REPORTS: bool> LinkSink for Collected<REPORTS> {
    type End = Infallible;
    // What lies around the document may still refuse an edit.
    const IS_LAST: bool = false;
    const REPORTS: bool = REPORTS;

    fn begin_anew(&mut self) {
        *self = Self::within(self.room);
    }

    fn splice(&mut self, _bytes: &[u8], at: usize, splice: Splice<'_>) {
        self.grown += splice.prefix.len().saturating_sub(splice.dropped);
        if self.is_outgrown() {
            return;
        }
        let span = Span::new(at, at + splice.dropped);
        let last = self.spliced.last().filter(|last| *last.new == *splice.prefix.as_bytes());
        let new = match last {
            Some(last) => Arc::clone(&last.new),
            None => splice.prefix.as_bytes().into(),
        };
        self.spliced.push(Edit { span, new });
    }

    fn report(&mut self, bytes: &[u8], report: LinkReport) {
        let Ok(()) = self.judged(bytes, Judged { report, edits: Vec::new(), declares_base: false });
    }

    fn judged(&mut self, _bytes: &[u8], mut judged: Judged) -> Result<(), Infallible> {
        self.grow(&mut judged);
        self.judged.push(judged);
        Ok(())
    }
}

/// What becomes of a document and all inside it. Spans and edits are those of the buffer beneath.
pub(super) struct DocumentPlan {
    pub(super) judged: Vec<Judged>,
    /// The edits of links that were only counted.
    pub(super) spliced: Vec<Edit>,
    /// Those links.
    pub(super) tally: RunningTotals,
    /// The document, and those inside it.
    pub(super) entities: Vec<EntityReport>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl DocumentPlan {
    /// Moves what is said of the document and its base to the buffer beneath.
    pub(super) fn move_reports(&mut self, beneath: impl Fn(Span) -> Span) {
        for diagnostic in &mut self.diagnostics {
            diagnostic.span = beneath(diagnostic.span);
        }
        for level in self.entities.iter_mut().flat_map(|entity| &mut entity.chain.levels) {
            if level.source.said_by().is_in_document() {
                level.span = level.span.map(&beneath);
            }
        }
    }

    /// Leaves the href of the base element where what was judged needs it as it is, and says which links no base serves.
    pub(super) fn keep_bases(&mut self, task: Task<'_>, chain: &BaseChain) {
        // Were this base absolute, a reader would no longer look for the parts by their labels.
        let has = |reason| self.judged.iter().any(|one| one.report.reason == Some(reason));
        // Nor would a browser find local copies beside the page.
        let has_copies = has(Reason::LocalCopy) && task.options.destination.is_none();
        if has_copies || (chain.is_from_outside && has(Reason::SiblingPart)) {
            let is_own = |one: &&mut Judged| one.report.entity == chain.entity && one.is_base();
            self.judged.iter_mut().filter(is_own).for_each(Judged::keep_base);
        }
        let inner = self.judged.iter().find(|one| {
            one.report.reason == Some(Reason::BaseUnusable)
                && one.report.entity == chain.entity
                && one.report.base != chain.base
        });
        if let Some(inner) = inner.filter(|_| !chain.elements.is_empty()) {
            let message = "no reference can be resolved against the xml:base in force here";
            let span = inner.report.span;
            self.diagnostics.push(Diagnostic::new(Code::BaseUnusable, span, message));
        }
    }
}

/// The edits of one document, in the order of its bytes.
pub(super) struct Settled {
    pub(super) edits: Edits,
    pub(super) rewritten: Vec<Span>,
    /// The links that were judged one by one.
    pub(super) links: Vec<LinkReport>,
    /// The others.
    pub(super) tally: RunningTotals,
}

impl Settled {
    /// Those of `plan`, without its reports on entities.
    pub(super) fn of(plan: DocumentPlan) -> Self {
        Self { tally: plan.tally, ..Self::merged(plan.judged, plan.spliced) }
    }

    /// Those of links that were all judged.
    pub(super) fn of_links(judged: Vec<Judged>) -> Self {
        Self::merged(judged, Vec::new())
    }

    /// Whether anything was to change.
    pub(super) fn is_rewritten(&self) -> bool {
        !self.edits.is_empty() || !self.rewritten.is_empty()
    }

    fn merged(mut judged: Vec<Judged>, spliced: Vec<Edit>) -> Self {
        judged.sort_by_key(|judged| judged.report.span.start);
        let mut links = Vec::with_capacity(judged.len());
        let (mut edits, mut edited) = (Edits::with_capacity(spliced.len()), 0);
        let mut spliced = spliced.into_iter().peekable();
        for mut judged in judged {
            judged.keep_apart(0, &mut edited);
            for edit in judged.edits {
                while let Some(before) =
                    spliced.next_if(|spliced| spliced.span.start < edit.span.start)
                {
                    edits.add(before);
                }
                edits.add(edit);
            }
            links.push(judged.report);
        }
        spliced.for_each(|edit| edits.add(edit));
        let rewritten = links.iter().filter(|link| link.outcome == Outcome::Rewritten);
        let rewritten = rewritten.map(|link| link.span).collect();
        Self { edits, rewritten, links, tally: RunningTotals::default() }
    }
}
