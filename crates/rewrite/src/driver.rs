//! The driver: from a document to the outcome of each of its links.
//!
//! ```text
//! bytes --look ahead--> encoding, declared bases --base--> BaseChain
//!   |                                                          |
//!   +-------scan------> link -----------judge------------> verdict --> an edit, a count, and a report if asked for
//! ```
//!
//! HTML in an encoding that extends ASCII is scanned and judged in one pass ([`html`]). For other input, a
//! scanner makes a [`Document`] first, whose links go to the same driver ([`document`]).
//!
//! ```
//! use baselink_rewrite::{Options, links};
//! // The document in the srcdoc value is scanned separately, and its links are reported after the preceding ones.
//! let page = b"<base href=http://a/b/><img src=x><iframe srcdoc='<base href=c/><a href=y>'></iframe>";
//! let mut targets = Vec::new();
//! links(page, &Options::default(), &mut |found| targets.extend(found.link.target));
//! assert_eq!(targets, ["http://a/b/", "http://a/b/x", "http://a/b/c/", "http://a/b/c/y"]);
//! ```
//!
//! Deliberately absent: syntax, and the decision on a link.

use std::sync::Arc;

use super::copies;
use super::declaration::PrescannedMeta;
use super::judge::{Judge, Surroundings, Verdict};
use super::judged::{Judged, lift_through};
use super::late_base::late_base;
use super::options::Options;
use super::plan::DocumentPlan;
use super::rows::Rows;
use super::totals::Totals;
use super::unfit_base::base_diagnostic;
use crate::base::{self, BaseChain, Outer};
use crate::report::{EntityReport, Outcome, Reason};
use baselink_scan::document::{Against, Certainty, Document, Link, Role};
use baselink_scan::html::pass::{self, Links, Part, Plain, Whole};
use baselink_scan::html::prelude;
use baselink_scan::{self as scan, ScanOptions, html};
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::edit::Edit;
use baselink_text::format::Format;
use baselink_text::layer::charset::{Charset, Detected, may_become_utf_8};
use baselink_text::layer::spelling::{Carrier, Form, Spelling};
use baselink_text::span::Span;
use baselink_url::Splice;

/// A request for one document.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) options: &'a Options,
    /// The options of the scanner.
    pub(super) scan: &'a ScanOptions,
    pub(super) around: Surroundings<'a>,
    /// The surroundings that may give the document its base.
    pub(super) outer: Outer<'a>,
    /// True if each link is reported. Otherwise links on the fast path are only counted.
    pub(super) is_listed: bool,
}

impl<'a> Task<'a> {
    /// The request for the outermost document.
    pub(super) fn of(options: &'a Options, is_listed: bool) -> Self {
        let (scan, around, outer) = (&options.scan, Surroundings::default(), options.outer());
        Self {
            options,
            scan,
            around,
            outer,
            is_listed,
        }
    }

    /// The base of `document`, which is in `bytes`.
    fn establish(&self, document: &Document, bytes: &[u8]) -> BaseChain {
        let mut chain = base::establish(document, self.outer, self.options.profile);
        let has_retrieval = !matches!(self.outer, Outer::Retrieval(None) | Outer::AssumedScheme(_));
        if !has_retrieval && copies::is_copy(self.options) {
            chain.set_retrieval_reason(copies::WITHOUT_RETRIEVAL);
        }
        chain
            .diagnostics
            .extend(late_base(self.options, &chain, document, bytes));
        chain
    }
}

/// An HTML document after the lookahead: its encoding and base are known, but not its links.
pub(super) struct Lookahead {
    found: Detected,
    document: Document,
    pub(super) chain: BaseChain,
}

impl Lookahead {
    /// Looks ahead in `bytes`; `None` if their encoding does not extend ASCII.
    pub(super) fn of(task: Task<'_>, bytes: &[u8]) -> Option<Self> {
        let found = prelude::encoding(bytes, task.scan);
        let Detected { charset, mark, .. } = found;
        if !charset.is_ascii_compatible() {
            return None;
        }
        let mut document = Document::empty(Arc::clone(&task.scan.entity), Format::Html, charset);
        document.bases = prelude::bases(bytes, mark, charset, task.scan);
        document.saved = prelude::saved(bytes, task.scan);
        let chain = task.establish(&document, bytes);
        Some(Self {
            found,
            document,
            chain,
        })
    }

    /// True if a later link may change the outcome of an earlier one: the href of a `base` element is kept if any link
    /// leads to a local copy.
    pub(super) fn may_keep_base(&self, task: Task<'_>) -> bool {
        let may_have_copies = self.chain.was_saved_with_files || task.options.beside().is_some();
        may_have_copies && !self.document.bases.is_empty()
    }
}

/// Receives the links of one document from the scanner.
struct Driver<'a, 'r> {
    task: Task<'a>,
    chain: &'a BaseChain,
    judge: Judge<'a>,
    /// The encoding of the bytes that are scanned.
    charset: Charset,
    /// The attribute values that contain the document, outermost first.
    enclosing: Vec<(Spelling, Charset)>,
    /// The number of the document's own links.
    own_links: usize,
    has_noted_base: bool,
    /// True once a rewritten link with a report leads elsewhere under another profile.
    has_differing: bool,
    /// The offset of the first bytes that are not UTF-8; without them, the document would be read as UTF-8.
    not_utf_8: Option<usize>,
    /// The declaration of the encoding, which edits must not move out of the prescan.
    meta: PrescannedMeta,
    ids: Vec<String>,
    plan: DocumentPlan,
    /// Receives each report at once, in place of `plan`.
    rows: Option<Rows<'r>>,
    /// The end of the last edit of a link that went to `rows`.
    edited: usize,
}

impl<'a, 'r> Driver<'a, 'r> {
    /// The driver of a document in `charset` that has the base of `chain`.
    fn new(task: Task<'a>, chain: &'a BaseChain, charset: Charset) -> Self {
        Self {
            task,
            chain,
            judge: Judge::new(
                task.options.query_charset.unwrap_or(charset),
                chain,
                task.options,
                task.around,
            ),
            charset,
            enclosing: Vec::new(),
            own_links: 0,
            has_noted_base: false,
            has_differing: false,
            not_utf_8: None,
            meta: PrescannedMeta::default(),
            ids: Vec::new(),
            plan: DocumentPlan::within(task.around.room),
            rows: None,
            edited: 0,
        }
    }

    /// The diagnostics of the document, its base and its links.
    fn diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut all = std::mem::take(&mut self.plan.diagnostics);
        all.extend(self.chain.diagnostics.iter().cloned());
        let Task { options, outer, .. } = self.task;
        all.extend(base_diagnostic(
            self.own_links > 0,
            self.chain,
            outer,
            options.profile,
        ));
        all.extend(self.judge.missing_copies());
        all.extend(self.judge.links_of_sheets());
        all
    }

    /// Records the base of links that are only counted.
    #[inline(always)]
    fn note_base(&mut self) {
        if !self.has_noted_base {
            self.has_noted_base = true;
            self.plan
                .tally
                .totals
                .of_links
                .merge(self.judge.base_of_plain());
        }
    }

    fn take(&mut self, bytes: &[u8], mut judged: Judged, charset: Charset) {
        let is_risky = judged.edits.iter().any(|edit| self.may_flip(bytes, edit))
            || self.hides_meta(bytes, &judged.edits);
        if is_risky && !judged.is_guarded {
            judged.refuse(Reason::Encoding);
        }
        self.has_differing |= judged.report.is_rewritten_otherwise();
        self.emit(bytes, judged, charset);
    }

    /// Adds a link of a document in `charset` to the plan, or passes it to `rows`.
    fn emit(&mut self, bytes: &[u8], mut judged: Judged, charset: Charset) {
        let Some(rows) = &mut self.rows else {
            return self.plan.add(judged);
        };
        judged.keep_apart(&mut self.edited);
        self.plan.tally.add_link(&judged.report, &|| charset);
        let within = self.plan.entities.iter().rev();
        let within = within.map(|inner| (&inner.chain, inner.charset));
        let within = within
            .take_while(|_| judged.report.entity != self.chain.entity)
            .find(|(chain, _)| chain.entity == judged.report.entity);
        rows.emit(
            bytes,
            judged.report,
            within.unwrap_or((self.chain, self.charset)),
        );
    }

    /// True if a reader might detect another encoding because of an edit.
    fn may_flip(&self, bytes: &[u8], edit: &Edit<'_>) -> bool {
        self.not_utf_8.is_some_and(|place| {
            may_become_utf_8(place, edit.span, &bytes[edit.span.range()], &edit.new)
        })
    }

    /// True if `edits` would move the declaration of the encoding out of the prescan. Otherwise `edits` are
    /// recorded.
    fn hides_meta(&mut self, bytes: &[u8], edits: &[Edit<'_>]) -> bool {
        if !edits
            .first()
            .is_some_and(|edit| self.meta.is_after(edit.span.start))
        {
            return false;
        }
        let old = edits.iter().map(|edit| edit.span.len()).sum();
        let new = edits.iter().map(|edit| edit.new.len()).sum();
        self.meta.would_leave((old, new), bytes, self.charset)
    }

    /// Replaces a document that is nested too deep to be read, because its links could lead out of the folder of a copy.
    fn replace_unread(&mut self, bytes: &[u8], found: &Diagnostic) {
        if found.code != Code::TooDeep || self.task.options.guard.is_none() {
            return;
        }
        let spelling = Spelling {
            form: Form::Whole,
            carrier: Carrier::Raw,
            enclosed: false,
        };
        self.link(
            bytes,
            Link {
                element: String::new(),
                attribute: None,
                reference: String::new(),
                role: Role::Embedded,
                certainty: Certainty::Certain,
                custom_property: None,
                against: Against::Unknown,
                empty_resolves: false,
                fragment_identifies: false,
                map: None,
                holder: found.span,
                spelling,
            },
        );
    }

    /// Plans a document embedded in this one.
    fn inner(&mut self, bytes: &[u8], part: Document) {
        let around = self.chain.seen_by(&part.within);
        let task = Task {
            outer: Outer::Encapsulating(&around),
            ..self.task
        };
        let mut inner = document(task, part, &[], self.charset, &self.enclosing);
        let number = self.plan.entities.len() + 1;
        for mut entity in inner.entities.drain(..) {
            entity.parent = Some(entity.parent.map_or(0, |parent| parent + number));
            self.plan.entities.push(entity);
        }
        self.plan.diagnostics.append(&mut inner.diagnostics);
        let mut links = inner.judged;
        links.sort_by_key(|one| one.report.span.start);
        links
            .into_iter()
            .for_each(|one| self.take(bytes, one, Charset::UTF_8));
    }

    /// Completes the plan after the last link of `document`.
    fn finish(mut self, mut document: Document, beneath: Charset) -> DocumentPlan {
        let mut diagnostics = self.diagnostics();
        let Self {
            task,
            chain,
            mut plan,
            ..
        } = self;
        let outgrown = plan.settle();
        let is_outgrown = outgrown.is_some();
        diagnostics.extend(outgrown);
        let Document {
            format,
            charset,
            without_tree,
            ..
        } = document;
        let own = EntityReport {
            parent: None,
            format,
            media_type: format.media_type().into(),
            charset,
            chain: chain.clone(),
            ids: std::mem::take(&mut document.ids),
            without_tree,
        };
        plan.entities.insert(0, own);
        plan.diagnostics = diagnostics;
        if !is_outgrown {
            plan.keep_base(task.options, chain);
        }
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

impl Links for Driver<'_, '_> {
    /// The fast path: [`Judge::plain`] decides on the raw bytes of a reference without allocating.
    #[inline(always)]
    fn plain(&mut self, bytes: &[u8], found: &Plain) -> bool {
        let Some(verdict) = self.judge.plain(bytes, found) else {
            return false;
        };
        let splice = match verdict {
            Verdict::Splice(splice) => Some(self.judge.written(splice)),
            _ => None,
        };
        let differs = splice.is_some_and(|splice| splice.differs);
        // The diagnostic quotes the first link that leads elsewhere, so this link needs a report. Others are only
        // counted.
        if differs && !self.task.is_listed && !self.has_differing {
            return false;
        }
        if let Some(Splice {
            prefix, dropped, ..
        }) = splice
            && self.meta.is_after(found.span.start)
            && self
                .meta
                .would_leave((dropped, prefix.len()), bytes, self.charset)
        {
            return false;
        }
        let start = found.span.start;
        if self.task.is_listed {
            let edit = splice.filter(|_| self.rows.is_none()).map(
                |Splice {
                     prefix, dropped, ..
                 }| {
                    let span = Span::new(start, start + dropped);
                    Edit {
                        span,
                        new: prefix.as_bytes().to_vec().into(),
                    }
                },
            );
            let Some(report) = self.judge.plain_report(verdict, bytes, found) else {
                return false;
            };
            self.own_links += 1;
            let edits = edit.into_iter().collect();
            self.emit(bytes, Judged::new(report, edits), self.charset);
            return true;
        }
        let (outcome, reason) = verdict.outcome();
        self.plan.tally.add(outcome, reason);
        if let Some(splice) = splice {
            if bytes[start] == b'#' {
                self.plan.tally.totals.fragments += 1;
            }
            if differs {
                self.plan.tally.add_above_root(self.task.options.profile);
            }
            self.plan.splice(start, splice);
        }
        if outcome != Outcome::Absolute {
            self.note_base();
        }
        self.own_links += 1;
        true
    }

    fn link(&mut self, bytes: &[u8], link: Link) {
        self.judge.find_styles(bytes, self.charset, &link);
        let Some(mut judged) = self.judge.link(link, self.charset, &self.enclosing) else {
            return;
        };
        self.judge.keep_for_sheet(&mut judged);
        self.own_links += 1;
        self.judge.count_copy(&judged.report, judged.report.span);
        self.take(bytes, judged, self.charset);
    }

    fn part(&mut self, bytes: &[u8], part: Part) {
        let part = html::document::embedded(part, self.task.scan);
        self.inner(bytes, part);
    }

    fn id(&mut self, id: String) {
        self.ids.push(id);
    }

    fn diagnostic(&mut self, bytes: &[u8], diagnostic: Diagnostic) {
        self.replace_unread(bytes, &diagnostic);
        self.plan.diagnostics.push(diagnostic);
    }
}

/// Scans the HTML document in `bytes` and judges its links, in one pass.
fn html<'a, 'r>(
    task: Task<'a>,
    bytes: &[u8],
    (found, chain): (Detected, &'a BaseChain),
    rows: Option<Rows<'r>>,
) -> (Driver<'a, 'r>, bool) {
    let Detected {
        charset,
        mark: start,
        not_utf_8,
        prescanned,
        ..
    } = found;
    let entity = Arc::clone(&task.scan.entity);
    let whole = Whole {
        bytes,
        start,
        charset,
        entity,
        depth: 0,
        enclosed: false,
    };
    let mut driver = Driver::new(task, chain, charset);
    (driver.not_utf_8, driver.meta) = (not_utf_8, PrescannedMeta::at(prescanned));
    driver.rows = rows;
    let (_, without_tree) = pass::links(&whole, task.scan, &mut driver);
    (driver, without_tree)
}

/// Passes each link of the HTML document in `bytes` to `rows` as soon as it is judged.
pub(super) fn rows(task: Task<'_>, bytes: &[u8], lookahead: &Lookahead, rows: Rows<'_>) -> Totals {
    let (mut driver, _) = html(task, bytes, (lookahead.found, &lookahead.chain), Some(rows));
    let diagnostics = driver.diagnostics();
    driver.plan.tally.totals.entities = driver.plan.entities.len() + 1;
    driver.plan.tally.totals.ids = driver.ids;
    driver
        .plan
        .tally
        .finish(Some(driver.chain), driver.charset, diagnostics)
}

/// The plan for `bytes`, a document of `format`; `None` if the format has no links.
pub(super) fn content(task: Task<'_>, format: Format, bytes: &[u8]) -> Option<DocumentPlan> {
    if format == Format::Html
        && let Some(Lookahead {
            found,
            document,
            chain,
        }) = Lookahead::of(task, bytes)
    {
        let (mut driver, without_tree) = html(task, bytes, (found, &chain), None);
        let ids = std::mem::take(&mut driver.ids);
        return Some(driver.finish(
            Document {
                without_tree,
                ids,
                ..document
            },
            found.charset,
        ));
    }
    let document = scan::scan_as(format, bytes, task.scan)?;
    let beneath = document.charset;
    Some(self::document(task, document, bytes, beneath, &[]))
}

/// The plan for a scanned document. Its underlying buffer, `bytes` or an attribute value, is in the encoding `beneath`.
/// `enclosing` lists the attribute values that contain the document, outermost first. The scanners bound the recursion
/// depth.
pub(super) fn document(
    task: Task<'_>,
    mut document: Document,
    bytes: &[u8],
    beneath: Charset,
    enclosing: &[(Spelling, Charset)],
) -> DocumentPlan {
    let chain = task.establish(&document, bytes);
    let mut driver = Driver::new(task, &chain, document.charset);
    (driver.enclosing, driver.not_utf_8) = (enclosing.to_vec(), document.not_utf_8);
    driver.meta = PrescannedMeta::at(document.prescanned);
    let value = document
        .decoded
        .as_ref()
        .map(|decoded| (decoded.spelling, beneath));
    driver
        .enclosing
        .extend(value.filter(|(spelling, _)| spelling.carrier != Carrier::Raw));
    driver.charset = if document.decoded.is_some() {
        Charset::UTF_8
    } else {
        beneath
    };
    for diagnostic in std::mem::take(&mut document.diagnostics) {
        driver.diagnostic(bytes, diagnostic);
    }
    for link in std::mem::take(&mut document.links) {
        driver.link(bytes, link);
    }
    for part in std::mem::take(&mut document.parts) {
        driver.inner(bytes, part);
    }
    driver.finish(document, beneath)
}
