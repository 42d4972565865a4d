//! The plan for a file before anything is written: its edits, and the outcome of its links.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! let rewritten = rewrite(b"<a href=x><a href=y>", &Options::at("http://a/"));
//! assert_eq!(rewritten.edits.len(), 2);
//! ```
//!
//! Deliberately absent: the decisions, and a list of links. They are passed on one by one ([`LinkSink`]).

use std::{collections::HashMap, sync::Arc};

use baselink_scan::MOST_HELD;
use baselink_text::{Charset, Code, Diagnostic, Edits, Span};
use baselink_url::Splice;

use super::{
    judge::Surroundings,
    judged::Judged,
    options::PlainLink,
    totals::{RunningTotals, Totals},
};
use crate::{
    base::BaseChain,
    report::{EntityReport, LinkReport, Outcome, Reason, Report},
};

/// The number of bytes by which the links of a file of `length` bytes may grow. A base may be as long as
/// [`LONGEST_BASE`](baselink_scan::LONGEST_BASE), and a link as short as a byte. No real file comes near this limit.
pub fn room(length: usize) -> usize {
    65_536_usize.saturating_add(length.saturating_mul(16))
}

/// The base and the encoding of a document.
pub type Within<'a> = (&'a BaseChain, Charset);

/// A receiver of links, each with the document that contains it.
pub trait LinkSink {
    /// Receives a link from its bytes alone; false if its report is needed. Most links of HTML documents come here first.
    fn plain(&mut self, _link: &PlainLink<'_>, _within: Within<'_>) -> bool {
        false
    }

    /// Receives the report of a link, and the encoding of the outermost document.
    fn link(&mut self, link: LinkReport, within: Within<'_>, outermost: Charset);
}

impl<F: FnMut(LinkReport, Within<'_>, Charset)> LinkSink for F {
    fn link(&mut self, link: LinkReport, within: Within<'_>, outermost: Charset) {
        self(link, within, outermost);
    }
}

/// The length of a target with which a link that waits counts once more.
const HELD: usize = 256;

/// The number of links that may wait for later ones in a document, if some do. If it has more, its links are judged twice.
pub fn most_held(links_wait: bool) -> usize {
    usize::from(links_wait) * MOST_HELD
}

/// The plan for a document and the documents inside it. Spans and edits are offsets in the underlying buffer.
#[derive(Default)]
pub struct DocumentPlan {
    /// The links that wait for later ones, which may change their outcomes.
    pub held: Vec<Judged>,
    /// The number of links that may wait; 0 if none needs to.
    pub most_held: usize,
    /// The number of links that were to wait, of which a long one counts several times.
    waiting: usize,
    /// True if more links were to wait, so that some are lacking here.
    pub is_partial: bool,
    /// [`Foreseen::keeps_base`], for the links so far.
    pub keeps_base: bool,
    /// The edits of all other links.
    pub edits: Edits,
    /// The counts of those links.
    pub tally: RunningTotals,
    /// The documents inside this one. When the plan is complete, the report of the document itself is put before them.
    pub entities: Vec<EntityReport>,
    /// The indices of the documents inside this one by the names of their entities.
    pub by_name: HashMap<Arc<str>, usize>,
    pub diagnostics: Vec<Diagnostic>,
    /// The character encoding of queries, if it is not that of the document.
    query_charset: Option<Charset>,
    /// The number of bytes by which the links may grow.
    room: usize,
    grown: usize,
    /// The end of the last edit of a link with a report.
    edited: usize,
    /// The address and length of the prefix of the last splice, and the number of bytes that it dropped. They identify
    /// its edit, because the prefixes of a base do not move while links are judged.
    last: (usize, usize, usize),
}

impl DocumentPlan {
    /// An empty plan for a document.
    pub fn new(around: &Surroundings<'_>, query_charset: Option<Charset>) -> Self {
        let (room, grown) = match around.foreseen.map(|known| known.is_outgrown) {
            Some(true) => (0, 1),
            Some(false) => (usize::MAX, 0),
            None => (around.room.unwrap_or(usize::MAX), 0),
        };
        Self {
            most_held: usize::MAX,
            query_charset,
            room,
            grown,
            ..Self::default()
        }
    }

    /// True if the links need more than their room.
    pub fn is_outgrown(&self) -> bool {
        self.grown > self.room
    }

    /// Adds the edit of a link that is only counted.
    #[inline(always)]
    pub fn splice(
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
            self.edits.repeat(span);
        } else if self.edits.add(span, prefix.as_bytes()) {
            self.last = splice;
        }
    }

    /// Adds a link of the document `own` or one inside it. Once the room is
    /// used up, its text is dropped.
    pub fn add(
        &mut self,
        mut judged: Judged,
        own: Within<'_>,
        sink: &mut Option<&mut dyn LinkSink>,
    ) {
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
        if self.is_outgrown() {
            judged.outgrow();
        }
        let target = judged.report.target.as_ref().map_or(0, String::len);
        self.waiting = self.waiting.saturating_add(1 + target / HELD);
        if self.waiting <= self.most_held {
            return self.held.push(judged);
        }
        self.is_partial |= self.most_held > 0;
        if self.is_partial {
            return;
        }
        judged.keep_apart(&mut self.edited);
        for edit in &judged.edits {
            self.edits.add(edit.span, &edit.new);
            self.last = (0, 0, 0);
        }
        self.pass_on(judged.report, own, sink);
    }

    /// Adds the links of the document `own` that have waited, after the last link.
    pub fn release(&mut self, own: Within<'_>, mut sink: Option<&mut dyn LinkSink>) {
        if self.is_partial {
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        let mut edited = 0;
        for judged in &mut held {
            judged.keep_apart(&mut edited);
        }
        let edits = held.iter_mut().map(|judged| &mut judged.edits);
        self.edits.merge(edits.flat_map(std::mem::take));
        for judged in held {
            self.pass_on(judged.report, own, &mut sink);
        }
    }

    /// Counts a link, and passes it to `sink`.
    fn pass_on(&mut self, link: LinkReport, own: Within<'_>, sink: &mut Option<&mut dyn LinkSink>) {
        let within = self
            .by_name
            .get(&link.entity)
            .filter(|_| link.entity != own.0.entity)
            .map_or(own, |&at| {
                let EntityReport { chain, charset, .. } = &self.entities[at];
                (chain, *charset)
            });
        let charset = self.query_charset.unwrap_or(within.1);
        self.tally.add_link(&link, charset);
        if let Some(sink) = sink {
            sink.link(link, within, own.1);
        }
    }

    /// If the links together outgrow their room, reports it, and leaves all of them unchanged unless that `was_foreseen`.
    pub fn settle(&mut self, was_foreseen: bool) -> Option<Diagnostic> {
        if !self.is_outgrown() {
            return None;
        }
        if !was_foreseen {
            self.held.iter_mut().for_each(Judged::outgrow);
            self.tally.refuse(Reason::Growth);
            self.edits = Edits::default();
        }
        let message = "absolute links would make the file many times as long; the links here were kept unchanged";
        Some(Diagnostic::new(Code::Growth, Span::at(0), message))
    }

    /// Moves the spans of diagnostics and of declared bases to the underlying buffer.
    pub fn move_reports(&mut self, beneath: impl Fn(Span) -> Span) {
        for diagnostic in &mut self.diagnostics {
            diagnostic.span = beneath(diagnostic.span);
        }
        for level in self
            .entities
            .iter_mut()
            .flat_map(|entity| &mut entity.chain.chain)
        {
            if level.source.kind().is_in_document() {
                level.span = level.span.map(&beneath);
            }
        }
    }
}

/// A changed part of a message, with its edits in its own bytes.
#[derive(Clone, Debug)]
pub struct PlannedPart {
    /// Its place in the file.
    pub body: Span,
    /// Its index among the entities of the report.
    pub entity: usize,
    /// Its edits.
    pub edits: Edits,
    /// The spans of its rewritten links, if they were passed on.
    pub rewritten: Vec<Span>,
}

/// The plan for a file, whose links were passed on.
pub struct FilePlan {
    pub edits: Edits,
    pub parts: Vec<PlannedPart>,
    pub report: Report,
    /// Also has the diagnostics of the report.
    pub totals: Totals,
}

impl FilePlan {
    pub fn new(
        edits: Edits,
        parts: Vec<PlannedPart>,
        mut report: Report,
        tally: RunningTotals,
    ) -> Self {
        Self {
            totals: tally.finish(&edits, &mut report),
            edits,
            parts,
            report,
        }
    }
}
