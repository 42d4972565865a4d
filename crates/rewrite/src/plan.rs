//! The plan for a file before anything is written: its edits, and the outcome of its links.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! let rewritten = rewrite(b"<a href=x><a href=y>", &Options::at("http://a/"));
//! assert_eq!(rewritten.edits.len(), 2);
//! ```
//!
//! Deliberately absent: the decisions.

use super::judged::Judged;
use super::options::Options;
use super::totals::{RunningTotals, Totals};
use crate::base::BaseChain;
use crate::report::{EntityReport, LinkReport, Outcome, Reason, Report};
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::edit::Edits;
use baselink_text::layer::charset::Charset;
use baselink_text::span::Span;
use baselink_url::Splice;

/// The number of bytes by which the links of a file of `length` bytes may grow. A base may be as long as
/// [`LONGEST_BASE`](baselink_scan::document::LONGEST_BASE), and a link as short as a byte. No real file comes near this limit.
pub(super) fn room(length: usize) -> usize {
    65_536_usize.saturating_add(length.saturating_mul(16))
}

/// The plan for a document and the documents inside it. Spans and edits are offsets in the underlying buffer.
#[derive(Default)]
pub(super) struct DocumentPlan {
    pub(super) judged: Vec<Judged>,
    /// The edits of links that are only counted.
    pub(super) spliced: Edits,
    /// The counts of those links.
    pub(super) tally: RunningTotals,
    /// The documents inside this one. When the plan is complete, the report of the document itself is put before them.
    pub(super) entities: Vec<EntityReport>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The number of bytes by which the links may grow, if bounded.
    room: Option<usize>,
    grown: usize,
    /// The address and length of the prefix of the last splice, and the number of bytes that it dropped. They identify
    /// its edit, because the prefixes of a base do not move while links are judged.
    last: (usize, usize, usize),
}

impl DocumentPlan {
    /// An empty plan, whose links may grow by `room` in total.
    pub(super) fn within(room: Option<usize>) -> Self {
        Self {
            room,
            ..Self::default()
        }
    }

    fn is_outgrown(&self) -> bool {
        self.room.is_some_and(|room| self.grown > room)
    }

    /// Adds the edit of a link that is only counted.
    #[inline(always)]
    pub(super) fn splice(
        &mut self,
        at: usize,
        Splice {
            prefix, dropped, ..
        }: Splice<'_>,
    ) {
        self.grown += prefix.len().saturating_sub(dropped);
        if self.is_outgrown() {
            return;
        }
        let (span, splice) = (
            Span::new(at, at + dropped),
            (prefix.as_ptr().addr(), prefix.len(), dropped),
        );
        if splice == self.last {
            self.spliced.repeat(span);
        } else if self.spliced.add(span, prefix.as_bytes()) {
            self.last = splice;
        }
    }

    /// Adds a link with its report. Once the room is used up, long texts are dropped from the report.
    pub(super) fn add(&mut self, mut judged: Judged) {
        let report = &judged.report;
        let grows = match (report.outcome, report.reason) {
            // An inner document has outgrown its room.
            (_, Some(Reason::Growth)) => usize::MAX,
            (Outcome::Rewritten, _) => report
                .in_output()
                .len()
                .saturating_sub(report.reference.len()),
            _ => 0,
        };
        self.grown = self.grown.saturating_add(grows);
        if grows > 0 && self.is_outgrown() {
            judged.outgrow();
        }
        self.judged.push(judged);
    }

    /// If the links together outgrow their room, leaves all of them unchanged and reports it.
    pub(super) fn settle(&mut self) -> Option<Diagnostic> {
        if !self.is_outgrown() {
            return None;
        }
        self.judged.iter_mut().for_each(Judged::outgrow);
        self.tally.refuse(Reason::Growth);
        self.spliced = Edits::default();
        let message = "absolute links would make the file many times as long; the links here were kept unchanged";
        Some(Diagnostic::new(Code::Growth, Span::at(0), message))
    }

    /// Moves the spans of diagnostics and of declared bases to the underlying buffer.
    pub(super) fn move_reports(&mut self, beneath: impl Fn(Span) -> Span) {
        for diagnostic in &mut self.diagnostics {
            diagnostic.span = beneath(diagnostic.span);
        }
        for level in self
            .entities
            .iter_mut()
            .flat_map(|entity| &mut entity.chain.levels)
        {
            if level.source.kind().is_in_document() {
                level.span = level.span.map(&beneath);
            }
        }
    }

    /// Keeps the base of a document unchanged if some link depends on it staying relative. Reports an `xml:base`
    /// that cannot be used. All links must be known.
    pub(super) fn keep_base(&mut self, options: &Options, chain: &BaseChain) {
        let has = |reason| {
            self.judged
                .iter()
                .any(|one| one.report.reason == Some(reason))
        };
        // With an absolute base, a browser would no longer find local copies next to the page, and a mail reader would
        // no longer find other parts by their labels.
        let has_copies = has(Reason::LocalCopy) && options.destination.is_none();
        if has_copies || (chain.is_from_outside && has(Reason::SiblingPart)) {
            let is_own = |one: &&mut Judged| one.report.entity == chain.entity && one.is_base();
            self.judged
                .iter_mut()
                .filter(is_own)
                .for_each(Judged::keep_base);
        }
        let inner = self.judged.iter().find(|one| {
            one.report.reason == Some(Reason::BaseUnusable)
                && one.report.entity == chain.entity
                && one.report.base != chain.base
        });
        if let Some(inner) = inner.filter(|_| !chain.elements.is_empty()) {
            let message = "no reference can be resolved against the xml:base in force here";
            let span = inner.report.span;
            self.diagnostics
                .push(Diagnostic::new(Code::BaseUnusable, span, message));
        }
    }
}

/// The edits of one document, in the order of its bytes.
pub(super) struct Settled {
    pub(super) edits: Edits,
    pub(super) rewritten: Vec<Span>,
    /// The links with a report.
    pub(super) links: Vec<LinkReport>,
    /// The counts of the other links.
    pub(super) tally: RunningTotals,
}

impl Settled {
    /// The edits of `plan`, without its reports on entities.
    pub(super) fn of(plan: DocumentPlan) -> Self {
        let DocumentPlan {
            mut judged,
            spliced: mut edits,
            tally,
            ..
        } = plan;
        judged.sort_by_key(|judged| judged.report.span.start);
        let mut links = Vec::with_capacity(judged.len());
        let (mut merged, mut edited) = (Vec::new(), 0);
        for mut judged in judged {
            judged.keep_apart(&mut edited);
            merged.append(&mut judged.edits);
            links.push(judged.report);
        }
        edits.merge(merged);
        let rewritten = links
            .iter()
            .filter(|link| link.outcome == Outcome::Rewritten);
        let rewritten = rewritten.map(|link| link.span).collect();
        Self {
            edits,
            rewritten,
            links,
            tally,
        }
    }

    /// True if a change was planned.
    pub(super) fn is_rewritten(&self) -> bool {
        !self.edits.is_empty() || !self.rewritten.is_empty()
    }
}

/// A document in a file, with its edits in its own bytes.
#[derive(Clone, Debug)]
pub struct PlannedPart {
    /// Its place in the file.
    pub body: Span,
    /// Its index among the entities of the report.
    pub entity: usize,
    /// Its edits; `None` if they are the edits of the file.
    pub edits: Option<Edits>,
    /// The spans of its rewritten links.
    pub rewritten: Vec<Span>,
}

/// The purpose of a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Requested {
    /// Edits, and links in numbers.
    Edits,
    /// Edits, and a report of every link.
    Report,
    /// A report of every link. An edit is only made if the outcome of a link depends on it.
    Links,
}

impl Requested {
    /// True if every link is in the report.
    pub(super) fn is_listed(self) -> bool {
        self != Self::Edits
    }
}

/// The plan for a file.
pub(super) struct FilePlan {
    pub(super) edits: Edits,
    pub(super) parts: Vec<PlannedPart>,
    /// The links with a report.
    pub(super) report: Report,
    /// The counts of the other links.
    pub(super) tally: RunningTotals,
}

impl FilePlan {
    /// Counts the links of the report, and sorts the diagnostics into the totals.
    pub(super) fn complete(mut self) -> (Self, Totals) {
        let Report {
            entities,
            links,
            diagnostics,
        } = &mut self.report;
        for link in links.iter() {
            // The encoding is needed for few links only.
            let charset = || {
                let its = entities
                    .iter()
                    .find(|entity| entity.chain.entity == link.entity);
                its.map_or(Charset::UTF_8, |entity| entity.charset)
            };
            self.tally.add_link(link, &charset);
        }
        self.tally.totals.entities = entities.len();
        let outermost = entities.first();
        let charset = outermost.map_or(Charset::UTF_8, |entity| entity.charset);
        let chain = outermost.map(|entity| &entity.chain);
        let tally = std::mem::take(&mut self.tally);
        let mut totals = tally.finish(chain, charset, std::mem::take(diagnostics));
        totals.changed = !self.edits.is_empty();
        (self, totals)
    }
}
