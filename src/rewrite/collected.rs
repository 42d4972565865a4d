//! The sink that collects: the edits of a document, and what was judged of its links, until all of them are known.
//!
//! ```
//! // Whether the base element may go is known at the end only.
//! use baselink::{BaseElement, Options, rewrite};
//! let options = Options { base_element: BaseElement::Remove, ..Options::at("http://a/") };
//! assert_eq!(rewrite(b"<base href=/b/><a href=x>", &options).output(), b"<a href=http://a/b/x>");
//! ```
//!
//! Deliberately absent: what a link comes to mean.

use std::convert::Infallible;
use std::sync::Arc;

use super::base_element::base_element;
use super::judged::Judged;
use super::opened::Task;
use super::options::BaseElement;
use super::sink::LinkSink;
use super::totals::RunningTotals;
use crate::base::{BaseChain, Outer};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{BaseKind, DeclaredBase, Document, Standing};
use crate::edit::{Edit, Edits};
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::pieces::Dissection;
use crate::report::{EntityReport, LinkReport, Outcome, Reason};
use crate::resolve::Splice;
use crate::scan::html;
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
    // What lies around the document may still refuse an edit, and a policy ask for one.
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
        let (edits, declares_base, is_policy) = (Vec::new(), false, false);
        let Ok(()) = self.judged(bytes, Judged { report, edits, declares_base, is_policy });
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

    /// What the policies ask for where all links are known.
    pub(super) fn base_element(
        &mut self,
        task: Task<'_>,
        chain: &BaseChain,
        document: &Document,
        charset: Charset,
    ) {
        let options = task.options;
        // Were this base absolute, a reader would no longer look for the parts by their labels.
        let has = |reason| self.judged.iter().any(|one| one.report.reason == Some(reason));
        // Nor would a browser find local copies beside the page.
        let has_copies = has(Reason::LocalCopy) && options.destination.is_none();
        if has_copies || (chain.is_from_outside && has(Reason::SiblingPart)) {
            let is_own = |one: &&mut Judged| one.report.entity == chain.entity && one.is_base();
            self.judged.iter_mut().filter(is_own).for_each(Judged::keep_base);
        }
        let bases = &document.bases;
        let is_first = |base: &&DeclaredBase| {
            base.standing == Standing::First && base.kind == BaseKind::Element
        };
        let first = bases.iter().find(is_first);
        // Without a base element the comment in the place of one counts.
        let is_later = |base: &&DeclaredBase| {
            base.standing == Standing::Later
                || (base.kind == BaseKind::Comment && !chain.has_written_base)
        };
        let later = bases.iter().find(is_later);
        let is_inside = matches!(task.outer, Outer::Encapsulating(_));
        let head = document.head.clone().filter(|_| !is_inside);
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
        let has_no_place = head.is_none() && first.is_none() && chain.base.is_some();
        let is_xml = matches!(document.format, Format::Xhtml | Format::Svg | Format::Xml);
        let is_html = document.format == Format::Html && document.head.is_none();
        if options.base_element == BaseElement::Insert && has_no_place && (is_xml || is_html) {
            let message = match is_xml {
                true => "no base element was put in, because there is no head of XHTML for it",
                false => "no base element was put in, because the document ends in its doctype",
            };
            self.diagnostics.push(Diagnostic::new(Code::BaseElementKept, Span::at(0), message));
        }
        if task.around.kept.is_some() {
            return;
        }
        match base_element(options, chain, [first, later], head, &self.judged, charset) {
            Some(Ok(edit)) => {
                self.judged.push(Judged::policy(Arc::clone(&document.entity), edit));
            }
            Some(Err(kept)) => self.diagnostics.push(kept),
            None => {}
        }
    }

    /// Gives up the policies in `bytes`, the outermost document, where they would change more of it than its bases.
    pub(super) fn keep_bases_that_do_more(&mut self, bytes: &[u8], policy: BaseElement) {
        let policies = self.judged.iter().filter(|one| one.is_policy);
        let mut policies: Vec<&Edit> = policies.flat_map(|one| &one.edits).collect();
        policies.sort_by_key(|edit| edit.span.start);
        let (Some(first), Some(outermost)) = (policies.first(), self.entities.first()) else {
            return;
        };
        let (format, charset) = (outermost.format, outermost.charset);
        // Two trees of a page take a hundred times as long as its links.
        let is_certain = || {
            let start = Charset::detect(bytes, Some(charset)).mark;
            format == Format::Html
                && policies.len() == 1
                && html::document::is_in_written_head(bytes, start, first.span.start)
        };
        let dissection = || Dissection::of(bytes, format, charset);
        if is_certain() || dissection().has_only_base_changed(bytes, &policies) {
            return;
        }
        let message = match policy {
            BaseElement::Insert => {
                "no base element was put in, because with it the document would read otherwise"
            }
            _ => "the base element was kept, because without it the document would read otherwise",
        };
        self.diagnostics.push(Diagnostic::new(Code::BaseElementKept, first.span, message));
        self.judged.retain(|one| !one.is_policy);
    }
}

/// The edits of one document, in the order of its bytes.
pub(super) struct Settled {
    pub(super) edits: Edits,
    pub(super) policies: Vec<bool>,
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
        let (mut links, mut policies) = (Vec::with_capacity(judged.len()), Vec::new());
        let (mut edits, mut edited) = (Edits::with_capacity(spliced.len()), 0);
        let mut spliced = spliced.into_iter().peekable();
        for mut judged in judged {
            judged.keep_apart(0, &mut edited);
            for edit in judged.edits {
                while let Some(before) =
                    spliced.next_if(|spliced| spliced.span.start < edit.span.start)
                {
                    edits.add(before);
                    policies.push(false);
                }
                edits.add(edit);
                policies.push(judged.is_policy);
            }
            if !judged.is_policy {
                links.push(judged.report);
            }
        }
        spliced.for_each(|edit| edits.add(edit));
        policies.resize(edits.len(), false);
        let rewritten = links.iter().filter(|link| link.outcome == Outcome::Rewritten);
        let rewritten = rewritten.map(|link| link.span).collect();
        Self { edits, policies, rewritten, links, tally: RunningTotals::default() }
    }
}
