//! The driver: from a document to what becomes of each of its links, told to a sink.
//!
//! ```text
//! bytes --prelude--> encoding, declared bases --base--> BaseChain
//!   |                                                       |
//!   +-----scan-----> link ----------judge-----------> verdict --> sink: Write     bytes go out as they are passed
//!                                                                       Collected edits, and reports where asked for
//!                                                                       Rows      reports, one by one
//! ```
//!
//! ```
//! use baselink::{Options, links};
//! // What is in the value is a document of its own, and told after the links before it.
//! let page = b"<base href=http://a/b/><img src=x><iframe srcdoc='<base href=c/><a href=y>'></iframe>";
//! let mut targets = Vec::new();
//! links(page, &Options::default(), &mut |found| {
//!     targets.extend(found.link.target);
//!     std::ops::ControlFlow::Continue(())
//! });
//! assert_eq!(targets, ["http://a/b/", "http://a/b/x", "http://a/b/c/", "http://a/b/c/y"]);
//! ```
//!
//! Deliberately absent: syntax, and what a link comes to mean.

use super::collected::{Collected, DocumentPlan};
use super::declaration::PrescannedMeta;
use super::judge::{Judge, Short};
use super::judged::{Judged, lift_through};
use super::opened::{Opened, Task};
use super::sink::LinkSink;
use super::totals::{RunningTotals, Totals};
use super::unfit_base::base_diagnostic;
use crate::base::{BaseChain, Outer};
use crate::diagnostic::Diagnostic;
use crate::document::{Document, Link};
use crate::edit::Edit;
use crate::format::Format;
use crate::layer::charset::{Charset, Detected, may_become_utf_8};
use crate::layer::spelling::{Carrier, Spelling};
use crate::report::{EntityReport, LinkReport, Outcome, Reason};
use crate::resolve::Splice;
use crate::scan;
use crate::scan::html;
use crate::scan::html::pass::{self, Links, Part, Plain, Scanned, Tentative};
use crate::scan::html::prelude::may_declare_base;

/// Tells a sink what becomes of the links of one document.
pub(super) struct Driver<'a, S> {
    task: Task<'a>,
    chain: &'a BaseChain,
    judge: Judge<'a>,
    /// Of the bytes that are scanned.
    charset: Charset,
    /// The values in which the document lies, the outermost first.
    carried: Vec<(Spelling, Charset)>,
    /// How much of the document is before the bytes that are scanned.
    offset: usize,
    /// Up to where the document is edited.
    edited: usize,
    /// How many links are its own.
    own: usize,
    has_noted: bool,
    /// Where the first bytes are without which the document would be taken for UTF-8.
    not_utf_8: Option<usize>,
    /// The declaration of its encoding that edits must not move too far.
    meta: PrescannedMeta,
    /// What nobody has looked for.
    tentative: Option<Tentative>,
    pub(super) tally: RunningTotals,
    /// What is inside it.
    entities: Vec<EntityReport>,
    diagnostics: Vec<Diagnostic>,
    ids: Vec<String>,
    pub(super) sink: S,
}

impl<'a, S: LinkSink> Driver<'a, S> {
    /// For a document in `charset` that has the base of `chain`.
    fn new(task: Task<'a>, chain: &'a BaseChain, charset: Charset, sink: S) -> Self {
        let judge = Judge::new(charset, chain, task.options, task.around);
        Self {
            task,
            chain,
            judge: if task.is_listed && !S::REPORTS { judge.reporting_all() } else { judge },
            charset,
            carried: Vec::new(),
            offset: 0,
            edited: 0,
            own: 0,
            has_noted: false,
            not_utf_8: None,
            meta: PrescannedMeta::default(),
            tentative: None,
            tally: RunningTotals::default(),
            entities: Vec::new(),
            diagnostics: Vec::new(),
            ids: Vec::new(),
            sink,
        }
    }

    /// For a document of which not everything may have been looked for.
    pub(super) fn of(
        task: Task<'a>,
        chain: &'a BaseChain,
        (found, meta, tentative): (Detected, PrescannedMeta, Option<Tentative>),
        sink: S,
    ) -> Self {
        let Detected { charset, not_utf_8, .. } = found;
        Self { not_utf_8, meta, tentative, ..Self::new(task, chain, charset, sink) }
    }

    /// The bytes that are scanned begin at `offset` of the document from now on.
    pub(super) fn move_window(&mut self, offset: usize) {
        self.offset = offset;
    }

    /// What is to be said of the document, its base and its links.
    fn diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut all = std::mem::take(&mut self.diagnostics);
        all.extend(self.chain.diagnostics.iter().cloned());
        let Task { options, outer, .. } = self.task;
        all.extend(base_diagnostic(self.own > 0, self.chain, outer, options.profile));
        all.extend(self.judge.missing_copies());
        all
    }

    /// Notes the base of a link of which no report was made.
    #[inline(always)]
    fn note_base(&mut self) {
        if !self.has_noted {
            self.has_noted = true;
            self.tally.of_links.merge(self.judge.base_of_plain());
        }
    }

    fn take(&mut self, bytes: &[u8], mut judged: Judged, charset: Charset) -> Result<(), S::End> {
        if judged.edits.iter().any(|edit| self.may_flip(bytes, edit))
            || self.hides_meta(bytes, &judged.edits)
        {
            judged.refuse(Reason::Encoding);
        }
        if S::IS_LAST {
            judged.keep_apart(self.offset, &mut self.edited);
            let span = judged.report.span.shifted(self.offset);
            self.tally.add_link(&judged.report, span, &|| charset);
        }
        self.sink.judged(bytes, judged)
    }

    /// Whether a reader might take the document for another encoding than it does, because of an edit.
    fn may_flip(&self, bytes: &[u8], edit: &Edit) -> bool {
        self.not_utf_8.is_some_and(|place| {
            let span = edit.span.shifted(self.offset);
            may_become_utf_8(place, span, &bytes[edit.span.range()], &edit.new)
        })
    }

    /// Whether the prescan would no longer find the declaration of the encoding because of `edits`, which are taken in where not.
    fn hides_meta(&mut self, bytes: &[u8], edits: &[Edit]) -> bool {
        let is_before = |edit: &Edit| self.meta.is_after(edit.span.start + self.offset);
        if !edits.first().is_some_and(is_before) {
            return false;
        }
        let old = edits.iter().map(|edit| edit.span.len()).sum();
        let new = edits.iter().map(|edit| edit.new.len()).sum();
        self.meta.would_leave((old, new), bytes, self.charset)
    }

    /// Takes the report of a link that the first arm judged.
    fn report(&mut self, bytes: &[u8], report: LinkReport) -> bool {
        self.own += 1;
        let span = report.span.shifted(self.offset);
        self.tally.add_link(&report, span, &|| self.charset);
        if report.outcome == Outcome::Rewritten {
            self.edited = span.end;
        }
        self.sink.report(bytes, report);
        true
    }

    /// Takes a link.
    fn one(&mut self, bytes: &[u8], link: Link) -> Result<(), S::End> {
        self.own += 1;
        let judged = self.judge.link(link, self.charset, &self.carried);
        self.judge.count_copy(&judged.report, judged.report.span.shifted(self.offset));
        self.take(bytes, judged, self.charset)
    }

    /// Takes a document that lies in this one.
    fn document(&mut self, bytes: &[u8], part: Document) -> Result<(), S::End> {
        let around = self.chain.seen_by(&part.within);
        let task = Task { is_listed: true, outer: Outer::Encapsulating(&around), ..self.task };
        let mut inner = document(task, part, &[], self.charset, &self.carried);
        self.tally.entities += inner.entities.len();
        let number = self.entities.len() + 1;
        for mut entity in inner.entities.drain(..).filter(|_| !S::IS_LAST) {
            entity.parent = Some(entity.parent.map_or(0, |parent| parent + number));
            self.entities.push(entity);
        }
        inner.diagnostics.drain(..).for_each(|diagnostic| self.diagnostic(diagnostic));
        let mut links = inner.judged;
        links.sort_by_key(|one| one.report.span.start);
        links.into_iter().try_for_each(|one| self.take(bytes, one, Charset::UTF_8))
    }
}

/// Why a driver was told no more.
#[derive(Debug)]
pub(super) enum Ended<E> {
    /// The document declares what nobody had looked for.
    Declared,
    /// The sink wants no more.
    Sink(E),
}

impl<S: LinkSink> Links for Driver<'_, S> {
    type End = Ended<S::End>;

    #[inline(always)]
    fn is_full(&self, at: usize) -> bool {
        self.sink.is_full(at)
    }

    fn flush(&mut self, bytes: &[u8], at: usize) -> Result<(), Self::End> {
        // What is given away cannot be taken back.
        if let Some(tentative) = self.tentative.take() {
            let (rest, or_encoding) = (&bytes[at..], tentative == Tentative::BaseAndEncoding);
            if may_declare_base(rest, rest.len(), or_encoding) {
                return self.declared();
            }
        }
        self.sink.flush(bytes, at).map_err(Ended::Sink)
    }

    fn declared(&mut self) -> Result<(), Self::End> {
        Err(Ended::Declared)
    }

    #[inline(always)]
    fn plain(&mut self, bytes: &[u8], found: &Plain) -> bool {
        let short = self.judge.short(bytes, found);
        if let Some(Short::Splice(Splice { prefix, dropped })) = &short
            && self.meta.is_after(self.offset + found.span.start)
            && self.meta.would_leave((*dropped, prefix.len()), bytes, self.charset)
        {
            return false;
        }
        if S::REPORTS {
            let report = short.and_then(|short| self.judge.report(&short, bytes, found));
            return report.is_some_and(|report| self.report(bytes, report));
        }
        match short {
            Some(Short::Splice(splice)) => {
                self.tally.add(Outcome::Rewritten, None);
                if bytes[found.span.start] == b'#' {
                    self.tally.add_fragment();
                }
                self.sink.splice(bytes, found.span.start, splice);
                self.note_base();
            }
            Some(Short::Stays(outcome, reason)) => {
                self.tally.add(outcome, reason);
                if outcome != Outcome::Absolute {
                    self.note_base();
                }
            }
            None => return false,
        }
        self.own += 1;
        true
    }

    fn link(&mut self, bytes: &[u8], link: Link) -> Result<(), Self::End> {
        self.one(bytes, link).map_err(Ended::Sink)
    }

    fn part(&mut self, bytes: &[u8], part: Part) -> Result<(), Self::End> {
        let part = html::document::embedded(part, self.task.scan);
        self.document(bytes, part).map_err(Ended::Sink)
    }

    fn id(&mut self, id: String) {
        self.ids.push(id);
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        let span = diagnostic.span.shifted(self.offset);
        self.diagnostics.push(Diagnostic { span, ..diagnostic });
    }
}

/// Tells `sink` of the links of the HTML document in `bytes`. `end` gets the document without its links, the driver, and
/// how the document was scanned. `Err`, with the sink, where more has to be known before than the base ([`Opened::in_turn`]).
pub(super) fn html<S: LinkSink, T>(
    task: Task<'_>,
    bytes: &[u8],
    mut sink: S,
    end: impl FnOnce(Document, Driver<'_, S>, Result<Scanned, S::End>) -> T,
) -> Result<T, S> {
    for opened in Opened::in_turn::<S>(task, bytes) {
        let whole = opened.whole(bytes, task.scan);
        let known = opened.known();
        let Opened { document, chain, tentative, .. } = opened;
        if tentative.is_some() {
            sink.hold();
        }
        let mut driver = Driver::of(task, &chain, known, sink);
        let scanned = pass::links(&whole, task.scan, &mut driver);
        sink = match scanned {
            Ok(scanned) => return Ok(end(document, driver, Ok(scanned))),
            Err(Ended::Sink(stopped)) => return Ok(end(document, driver, Err(stopped))),
            Err(Ended::Declared) => driver.sink,
        };
        // Nothing of what was told counts.
        sink.begin_anew();
    }
    Err(sink)
}

/// What is reported of the HTML document `bytes`, and no edit that the report does not need; `None` where all of its
/// links have to be known, or its encoding is no extension of ASCII.
pub(super) fn reported(task: Task<'_>, bytes: &[u8]) -> Option<DocumentPlan> {
    let is_plain = task.options.destination.is_none();
    is_plain.then(|| collected(task, bytes, Collected::<true>::within(task.around.room)))?
}

fn collected<const REPORTS: bool>(
    task: Task<'_>,
    bytes: &[u8],
    sink: Collected<REPORTS>,
) -> Option<DocumentPlan> {
    let plan = html(task, bytes, sink, |mut document, mut driver, scanned| {
        let Ok(scanned) = scanned;
        document.without_tree = scanned.without_tree;
        document.ids = std::mem::take(&mut driver.ids);
        let charset = driver.charset;
        driver.plan(document, charset)
    });
    plan.ok()
}

/// What becomes of `bytes`, a document of this format; `None` where no links are looked for in it.
pub(super) fn content(task: Task<'_>, format: Format, bytes: &[u8]) -> Option<DocumentPlan> {
    let html = |bytes| collected(task, bytes, Collected::<false>::within(task.around.room));
    (format == Format::Html).then(|| html(bytes)).flatten().or_else(|| {
        let document = scan::scan_as(format, bytes, task.scan)?;
        let beneath = document.charset;
        Some(self::document(task, document, bytes, beneath, &[]))
    })
}

impl<S: LinkSink> Driver<'_, S> {
    /// What became of all links.
    pub(super) fn totals(mut self) -> Totals {
        let diagnostics = self.diagnostics();
        self.tally.entities += 1;
        let mut totals = Totals::of(Some(self.chain), self.charset, self.tally, diagnostics);
        totals.changed = self.sink.has_changed();
        totals
    }
}

/// The same for a document whose links are known, in a buffer in the encoding `beneath`: `bytes`, or what is in the
/// values `carried`, the outermost first. Recursion is as deep as a scanner lets documents nest.
pub(super) fn document(
    task: Task<'_>,
    mut document: Document,
    bytes: &[u8],
    beneath: Charset,
    carried: &[(Spelling, Charset)],
) -> DocumentPlan {
    let chain = task.establish(&document);
    let mut driver =
        Driver::new(task, &chain, document.charset, Collected::<false>::within(task.around.room));
    (driver.carried, driver.not_utf_8) = (carried.to_vec(), document.not_utf_8);
    driver.meta = PrescannedMeta::at(document.prescanned);
    let value = document.decoded.as_ref().map(|decoded| (decoded.spelling, beneath));
    driver.carried.extend(value.filter(|(spelling, _)| spelling.carrier != Carrier::Raw));
    driver.charset = if document.decoded.is_some() { Charset::UTF_8 } else { beneath };
    driver.diagnostics = std::mem::take(&mut document.diagnostics);
    for link in std::mem::take(&mut document.links) {
        let Ok(()) = driver.one(bytes, link);
    }
    for part in std::mem::take(&mut document.parts) {
        let Ok(()) = driver.document(bytes, part);
    }
    driver.plan(document, beneath)
}

impl<const REPORTS: bool> Driver<'_, Collected<REPORTS>> {
    /// What becomes of `document`, now that its links were told.
    fn plan(mut self, mut document: Document, beneath: Charset) -> DocumentPlan {
        let mut diagnostics = self.diagnostics();
        let Self { task, chain, mut tally, sink, .. } = self;
        let (judged, spliced, outgrown) = sink.settle(&mut tally);
        let is_outgrown = outgrown.is_some();
        diagnostics.extend(outgrown);
        let Document { format, charset: declared, without_tree, .. } = document;
        let mut plan =
            DocumentPlan { judged, spliced, tally, entities: self.entities, diagnostics };
        if !is_outgrown {
            plan.keep_bases(task, chain);
        }
        plan.entities.insert(
            0,
            EntityReport {
                parent: None,
                format,
                media_type: format.media_type().into(),
                charset: declared,
                chain: chain.clone(),
                ids: std::mem::take(&mut document.ids),
                without_tree,
            },
        );
        if let Some(decoded) = &document.decoded {
            for judged in &mut plan.judged {
                judged.report.span = decoded.map.covering(judged.report.span);
                lift_through(judged, decoded, beneath);
            }
            plan.move_reports(|span| decoded.map.covering(span));
        }
        plan
    }
}
