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

use std::{collections::HashMap, sync::Arc};

use baselink_scan::{
    self as scan, Against, Document, Role, ScanOptions,
    document::{Decoded, Link},
    html,
    html::{
        pass::{self, Links, Part, Plain, Whole},
        prelude,
    },
    value,
};
use baselink_text::{
    Charset, Code, Detected, Diagnostic, Edit, Format, Span,
    layer::{
        charset::may_become_utf_8,
        spelling::{Carrier, Spelling},
    },
};
use baselink_url::without_fragment;

use super::{
    copies,
    declaration::PrescannedMeta,
    judge::{Foreseen, Judge, Surroundings, Verdict},
    judged::{Judged, lift_through},
    late_base::late_base,
    options::{Destination, Options, PlainLink},
    plan::{DocumentPlan, LinkSink, most_held, room},
    unfit_base::base_diagnostic,
};
use crate::{
    base::{self, BaseChain, Outer, Rule},
    report::{EntityReport, Outcome, Reason},
};

/// The length in bytes of a base with which the links of an HTML document need no room: they make it at most 200 times as long.
const SHORT_BASE: usize = 500;

/// A request for one document.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub options: &'a Options,
    /// The options of the scanner.
    pub scan: &'a ScanOptions,
    pub around: Surroundings<'a>,
    /// The surroundings that may give the document its base.
    pub outer: Outer<'a>,
}

impl<'a> Task<'a> {
    /// The request for the outermost document.
    pub fn of(options: &'a Options) -> Self {
        Self {
            options,
            scan: &options.scan,
            around: Surroundings::default(),
            outer: options.outer(),
        }
    }

    /// Limits the growth of a document of `length` bytes if its links have a long base.
    fn limit(&mut self, chain: &BaseChain, length: usize) {
        let base = chain.base.as_deref().unwrap_or_default();
        if base.len() > SHORT_BASE {
            self.around.room.get_or_insert(room(length));
        }
    }

    /// The base of `document`, which is in `bytes`.
    fn establish(&self, document: &Document, bytes: &[u8]) -> BaseChain {
        let of = |outer| base::establish(document, outer, self.options.resolver);
        let mut chain = of(self.outer);
        let noted = self.options.noted(document.saved.as_ref());
        if let Some(noted) = noted.filter(|_| chain.base.is_none()) {
            chain = of(Outer::Retrieval(Some(&noted)));
        }
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
pub struct Lookahead {
    /// The length of the byte order mark.
    mark: usize,
    document: Document,
    pub chain: BaseChain,
}

impl Lookahead {
    /// Looks ahead in `bytes`; `None` if their encoding does not extend ASCII.
    pub fn of(task: Task<'_>, bytes: &[u8]) -> Option<Self> {
        let Detected {
            charset,
            mark,
            not_utf_8,
            prescanned,
            ..
        } = prelude::encoding(bytes, task.scan);
        if !charset.shows_markup(bytes) {
            return None;
        }
        let document = Document {
            not_utf_8,
            prescanned,
            bases: prelude::bases(bytes, mark, charset, task.scan),
            saved: prelude::saved(bytes, task.scan),
            ..Document::empty(Arc::clone(&task.scan.entity), Format::Html, charset)
        };
        Some(Self {
            chain: task.establish(&document, bytes),
            mark,
            document,
        })
    }

    /// True if a later link may change the outcome of an earlier one: the href of a `base` element is kept if any link
    /// leads to a local copy or to a part of the message, and all links are kept if they outgrow their room.
    fn links_wait(&self, task: Task<'_>, has_sink: bool) -> bool {
        let Task {
            options, around, ..
        } = task;
        let may_have_copies = self.chain.was_saved_with_files || options.beside().is_some();
        let may_keep_base =
            (may_have_copies || around.has_labels()) && !self.document.bases.is_empty();
        // Links that are only counted can be counted again.
        let may_outgrow = around.room.is_some() && (has_sink || options.guard.is_some());
        around.foreseen.is_none() && (may_keep_base || may_outgrow)
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
    /// The text of the document, if the bytes contain it only in encoded form, and their encoding.
    decoded: Option<(&'a Decoded, Charset)>,
    /// The number of the document's own links.
    own_links: usize,
    has_noted_base: bool,
    /// True once a rewritten link with a report leads elsewhere under another resolver.
    has_differing: bool,
    /// The offset of the first bytes that are not UTF-8; without them, the document would be read as UTF-8.
    not_utf_8: Option<usize>,
    /// The declaration of the encoding, which edits must not move out of the prescan.
    meta: PrescannedMeta,
    ids: Vec<String>,
    /// The first link that its `xml:base` cannot resolve.
    unusable: Option<Span>,
    plan: DocumentPlan,
    /// Receives each link. Without it, links on the fast path are only counted.
    sink: Option<&'r mut (dyn LinkSink + 'r)>,
    /// The outcomes of links that navigate; `None` if each link needs a choice of its own.
    known: Option<KnownOutcomes>,
}

/// The outcomes of earlier links by their references without fragments, which later links to the same place have, too.
#[derive(Default)]
struct KnownOutcomes(HashMap<Box<[u8]>, Known>);

impl KnownOutcomes {
    /// Adds a reference if there is room, and returns whether there was.
    fn insert(&mut self, reference: &[u8], outcome: Known) -> bool {
        /// The largest number of references. The limit keeps the memory for a document small.
        const MOST: usize = 1 << 12;
        let has_room = self.0.len() < MOST;
        if has_room {
            self.0.insert(reference.into(), outcome);
        }
        has_room
    }
}

/// The outcome of an earlier link to the same place.
#[derive(Clone, Copy)]
enum Known {
    /// The destination keeps the link.
    Kept,
    /// The link becomes absolute, because the site lacks the target. The number is an index of [`Totals::lacking`].
    ///
    /// [`Totals::lacking`]: crate::Totals
    Lacking(usize),
}

impl Driver<'_, '_> {
    /// The diagnostics of the document, its base and its links.
    fn diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut all = std::mem::take(&mut self.plan.diagnostics);
        all.extend(self.chain.diagnostics.iter().cloned());
        all.extend(base_diagnostic(
            self.own_links > 0,
            self.chain,
            self.task.outer,
            self.task.options.resolver,
        ));
        all.extend(self.judge.diagnostics());
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

    /// Counts a link that is kept. `is_absolute` is true for one that is written as an absolute URL. Returns true.
    fn count_kept(&mut self, is_absolute: bool) -> bool {
        let totals = &mut self.plan.tally.totals;
        totals.kept[usize::from(is_absolute)] += 1;
        if is_absolute {
            self.plan.tally.add(Outcome::Absolute, None);
        } else {
            self.plan.tally.add(Outcome::Left, Some(Reason::Chosen));
            self.note_base();
        }
        self.own_links += 1;
        true
    }

    /// Notes the choice for a link that is resolved against the document base URL.
    fn note_choice(&mut self, judged: &Judged) {
        let link = &judged.report;
        let reference = without_fragment(&link.reference);
        let lacking = &mut self.plan.tally.totals.lacking;
        let outcome = match (link.outcome, link.reason, link.lack) {
            (Outcome::Left, Some(Reason::Chosen), None) => Known::Kept,
            // The new text is the target itself.
            (Outcome::Rewritten, None, Some(_)) if link.written.is_none() => {
                Known::Lacking(lacking.len())
            }
            _ => return,
        };
        // The bytes of a reference with `&` may spell another one.
        let is_plain = judged.guarded.is_none() && !reference.contains('&');
        if let Some(known) = self.known.as_mut()
            && link.role == Role::Navigation
            && is_plain
            && known.insert(reference.as_bytes(), outcome)
            && let Known::Lacking(_) = outcome
        {
            lacking.push((link.clone(), 0));
        }
    }

    /// Adds a link to the plan, unless its edits would change how `bytes` are read.
    fn take(&mut self, bytes: &[u8], mut judged: Judged) {
        let is_risky = judged.edits.iter().any(|edit| self.may_flip(bytes, edit))
            || self.hides_meta(bytes, &judged.edits);
        if is_risky && !judged.is_guarded {
            judged.refuse(Reason::Encoding);
        }
        self.has_differing |= judged.report.is_rewritten_otherwise();
        self.add(judged);
    }

    fn add(&mut self, mut judged: Judged) {
        let (around, report) = (&self.task.around, &mut judged.report);
        let is_own = report.entity == self.chain.entity;
        match report.reason {
            Some(Reason::LocalCopy) => self.plan.keeps_base |= around.destination.is_none(),
            Some(Reason::SiblingPart) => self.plan.keeps_base |= self.chain.is_from_outside,
            Some(Reason::BaseUnusable) if is_own && report.base != self.chain.base => {
                self.unusable.get_or_insert(report.span);
            }
            _ => {}
        }
        if let Some((decoded, beneath)) = self.decoded {
            report.span = decoded.map.covering(report.span);
            lift_through(&mut judged, decoded, beneath);
        }
        if is_own && around.foreseen.is_some_and(|known| known.keeps_base) {
            judged.keep_base();
        }
        let own = (self.chain, self.charset);
        self.plan.add(judged, own, &mut self.sink);
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

    /// Plans a document embedded in this one.
    fn inner(&mut self, bytes: &[u8], part: Document) {
        let around = self.chain.seen_by(&part.within);
        let mut task = Task {
            outer: Outer::Encapsulating(&around),
            ..self.task
        };
        task.around.foreseen = None;
        let around = (self.charset, &*self.enclosing);
        let inner = document(task, (part, true), &[], around, &mut None);
        let number = self.plan.entities.len() + 1;
        for mut entity in inner.entities {
            entity.parent = Some(entity.parent.map_or(0, |parent| parent + number));
            let name = Arc::clone(&entity.chain.entity);
            self.plan.by_name.insert(name, self.plan.entities.len());
            self.plan.entities.push(entity);
        }
        self.plan.diagnostics.extend(inner.diagnostics);
        for judged in inner.held {
            self.take(bytes, judged);
        }
    }

    /// Completes the plan after the last link of `document`.
    fn finish(mut self, mut document: Document) -> DocumentPlan {
        let mut diagnostics = self.diagnostics();
        document.ids.append(&mut self.ids);
        let Self {
            task,
            chain,
            decoded,
            unusable,
            mut plan,
            ..
        } = self;
        let outgrown = plan.settle(task.around.foreseen.is_some());
        if outgrown.is_none() {
            if plan.keeps_base {
                let own = |one: &&mut Judged| one.report.entity == chain.entity;
                plan.held.iter_mut().filter(own).for_each(Judged::keep_base);
            }
            let message = "no reference can be resolved against the xml:base in force here";
            let unusable = unusable.filter(|_| !chain.elements.is_empty());
            diagnostics
                .extend(unusable.map(|span| Diagnostic::new(Code::BaseUnusable, span, message)));
        }
        diagnostics.extend(outgrown);
        let own = EntityReport {
            parent: None,
            format: document.format,
            media_type: document.format.media_type().into(),
            charset: document.charset,
            chain: chain.clone(),
            ids: document.ids,
            without_tree: document.without_tree,
        };
        plan.entities.insert(0, own);
        plan.by_name.values_mut().for_each(|index| *index += 1);
        plan.diagnostics = diagnostics;
        if let Some((decoded, _)) = decoded {
            plan.move_reports(|span| decoded.map.covering(span));
        }
        plan.held.sort_by_key(|judged| judged.report.span.start);
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
        let mut lacking = None;
        if self.task.around.destination.is_some() {
            let destination = self.task.around.destination;
            let destination = destination.filter(|_| self.chain.rule == Rule::Retrieval);
            let known = match self.known.as_mut() {
                Some(known) => known_outcome(known, destination, &verdict, (bytes, found)),
                None => None,
            };
            let is_absolute = matches!(verdict, Verdict::Absolute);
            match known {
                Some(Known::Kept) => return self.count_kept(is_absolute),
                Some(Known::Lacking(index)) => lacking = Some(index),
                None if matches!(verdict, Verdict::Left(_)) => {}
                None => return false,
            }
        }
        // Of links to the same lacking target, only the first is reported.
        let is_reported = self.sink.is_some() && lacking.is_none();
        let splice = match verdict {
            Verdict::Splice(splice) => Some(self.judge.written(splice)),
            _ => None,
        };
        let differs = splice.is_some_and(|splice| splice.differs);
        let (outcome, reason) = verdict.outcome();
        // The diagnostic quotes the first link that leads elsewhere, so this link needs a report. Others are only
        // counted.
        if differs && !is_reported && !self.has_differing {
            return false;
        }
        let start = found.span.start;
        let lengths = splice.map(|splice| (splice.dropped, splice.prefix.len()));
        if let Some(lengths) = lengths.filter(|_| self.meta.is_after(start))
            && self.meta.would_leave(lengths, bytes, self.charset)
        {
            return false;
        }
        let own = (self.chain, self.charset);
        // A link that waits for later ones, or is judged twice, is passed on with them.
        let sink = self.sink.as_deref_mut();
        let sink = sink.filter(|_| is_reported && self.plan.most_held == 0);
        let is_taken = sink.is_some_and(|sink| {
            plain_link(&verdict, bytes, found).is_some_and(|link| sink.plain(&link, own))
        });
        if is_reported && !is_taken {
            let edit = splice.map(|splice| Edit {
                span: Span::new(start, start + splice.dropped),
                new: splice.prefix.as_bytes().to_vec().into(),
            });
            let Some(report) = self.judge.plain_report(verdict, bytes, found) else {
                return false;
            };
            self.own_links += 1;
            self.add(Judged::new(report, edit.into_iter().collect()));
            return true;
        }
        self.plan.tally.add(outcome, reason);
        if let Some(splice) = splice {
            if bytes[start] == b'#' {
                self.plan.tally.totals.fragments += 1;
            }
            if differs {
                self.plan.tally.add_above_root(self.task.options.resolver);
            }
            if !is_taken {
                self.plan.splice(start, splice);
            }
        }
        if outcome != Outcome::Absolute {
            self.note_base();
        }
        self.own_links += 1;
        if let Some(index) = lacking {
            self.plan.tally.totals.lacking[index].1 += 1;
        }
        true
    }

    fn link(&mut self, bytes: &[u8], link: Link) {
        let is_of_document = link.against == Against::Document;
        let judged = self.judge.link(bytes, link, self.charset, &self.enclosing);
        let Some(judged) = judged else { return };
        if is_of_document {
            self.note_choice(&judged);
        }
        self.own_links += 1;
        self.take(bytes, judged);
    }

    fn part(&mut self, bytes: &[u8], part: Part) {
        let part = html::document::embedded(part, self.task.scan);
        self.inner(bytes, part);
    }

    fn id(&mut self, id: String) {
        self.ids.push(id);
    }

    fn end(&mut self) {
        self.plan.most_held = usize::MAX;
        self.plan.tally.totals.is_read_twice = true;
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.plan.diagnostics.push(diagnostic);
    }
}

/// The outcome of a link that navigates, if an earlier link to the same place has it, or if `destination` keeps the link.
#[inline(never)]
fn known_outcome(
    known: &mut KnownOutcomes,
    destination: Option<&dyn Destination>,
    verdict: &Verdict<'_>,
    (bytes, found): (&[u8], &Plain),
) -> Option<Known> {
    let (.., row) = found.names?;
    let has_choice = matches!(verdict, Verdict::Splice(_) | Verdict::Absolute);
    if row.role != Role::Navigation || !has_choice {
        return None;
    }
    let raw = &bytes[found.span.range()];
    let path = &raw[..memchr::memchr(b'#', raw).unwrap_or(raw.len())];
    known.0.get(path).copied().or_else(|| {
        let is_kept = destination?.keeps(&plain_link(verdict, bytes, found)?);
        is_kept.then(|| {
            known.insert(path, Known::Kept);
            Known::Kept
        })
    })
}

/// The link that the fast path `found`, with this verdict; `None` if its bytes may need decoding, or the resolvers disagree.
fn plain_link<'a>(
    verdict: &'a Verdict<'_>,
    bytes: &'a [u8],
    found: &Plain,
) -> Option<PlainLink<'a>> {
    let reference = value::undecoded(&bytes[found.span.range()])?;
    Some(PlainLink {
        reference,
        target: verdict.splice(reference)?,
        role: found.names.map_or(Role::Embedded, |(.., row)| row.role),
    })
}

/// The plan for the HTML document in `bytes`, which is scanned and judged in one pass.
fn html(
    mut task: Task<'_>,
    bytes: &[u8],
    ahead: Lookahead,
    sink: &mut Option<&mut dyn LinkSink>,
) -> DocumentPlan {
    task.limit(&ahead.chain, bytes.len());
    let links_wait = ahead.links_wait(task, sink.is_some());
    let Lookahead {
        mark,
        document,
        chain,
    } = ahead;
    let counts_kept = task.options.counts_kept
        && task.around.room.is_none()
        && !links_wait
        // A declared base may begin to apply between two links.
        && (task.options.guard.is_none() || chain.rule == Rule::Retrieval);
    let around = (document.charset, &[][..]);
    judged(task, (document, chain), around, sink, |driver, document| {
        driver.plan.most_held = most_held(links_wait);
        driver.known = counts_kept.then(KnownOutcomes::default);
        let whole = Whole::of_file(bytes, mark, document.charset, task.scan);
        (_, document.without_tree) = pass::links(&whole, task.scan, driver);
    })
}

/// The plan for `bytes`, a document of `format`, whose links go to `sink`; `None` if the format has no links.
pub fn content<'r>(
    mut task: Task<'_>,
    format: Format,
    bytes: &[u8],
    mut sink: Option<&'r mut (dyn LinkSink + 'r)>,
) -> Option<DocumentPlan> {
    let mut plan = attempt(task, format, bytes, &mut sink)?;
    if plan.is_partial {
        task.around.foreseen = Some(Foreseen {
            is_outgrown: plan.is_outgrown(),
            keeps_base: plan.keeps_base && !plan.is_outgrown(),
        });
        drop(plan);
        plan = attempt(task, format, bytes, &mut sink)?;
    }
    let EntityReport { chain, charset, .. } = plan.entities[0].clone();
    plan.release((&chain, charset), sink);
    Some(plan)
}

/// The plan for `bytes`, which is partial if too many links wait. Those that need not wait go to `sink`.
fn attempt(
    task: Task<'_>,
    format: Format,
    bytes: &[u8],
    sink: &mut Option<&mut dyn LinkSink>,
) -> Option<DocumentPlan> {
    if format == Format::Html
        && let Some(ahead) = Lookahead::of(task, bytes)
    {
        return Some(html(task, bytes, ahead, sink));
    }
    let scanned = scan::scan_most(format, bytes, task.scan, scan::MOST_HELD)?;
    let around = (scanned.0.charset, &[][..]);
    Some(document(task, scanned, bytes, around, sink))
}

/// The plan for a scanned document. Its underlying buffer, `bytes` or an attribute value, is in the encoding `beneath`.
/// `enclosing` lists the attribute values that contain the document, outermost first. Its links are held if it `has_links`;
/// otherwise it is scanned again for them. The scanners bound the recursion depth.
pub fn document(
    mut task: Task<'_>,
    (document, has_links): (Document, bool),
    bytes: &[u8],
    around: (Charset, &[(Spelling, Charset)]),
    sink: &mut Option<&mut dyn LinkSink>,
) -> DocumentPlan {
    let chain = task.establish(&document, bytes);
    task.limit(&chain, bytes.len());
    judged(task, (document, chain), around, sink, |driver, document| {
        if !has_links {
            driver.plan.most_held = most_held(task.around.foreseen.is_none());
            scan::scan_to(document.format, bytes, task.scan, driver);
        }
        for diagnostic in std::mem::take(&mut document.diagnostics) {
            driver.diagnostic(diagnostic);
        }
        for link in std::mem::take(&mut document.links) {
            driver.link(bytes, link);
        }
        for part in std::mem::take(&mut document.parts) {
            driver.inner(bytes, part);
        }
    })
}

/// The plan for a document with the base of `chain`, whose links `scan` gives to the driver.
fn judged(
    task: Task<'_>,
    (mut document, chain): (Document, BaseChain),
    (beneath, enclosing): (Charset, &[(Spelling, Charset)]),
    sink: &mut Option<&mut dyn LinkSink>,
    scan: impl FnOnce(&mut Driver<'_, '_>, &mut Document),
) -> DocumentPlan {
    let decoded = document.decoded.take();
    let query_charset = task.options.query_charset;
    let of_queries = query_charset.unwrap_or(document.charset);
    let spelling = decoded.as_ref().map(|decoded| decoded.spelling);
    let around = spelling.filter(|spelling| spelling.carrier != Carrier::Raw);
    let mut driver = Driver {
        task,
        chain: &chain,
        judge: Judge::new(of_queries, &chain, task.options, task.around),
        charset: spelling.map_or(beneath, |_| Charset::UTF_8),
        enclosing: enclosing
            .iter()
            .copied()
            .chain(around.map(|spelling| (spelling, beneath)))
            .collect(),
        decoded: decoded.as_ref().map(|decoded| (decoded, beneath)),
        own_links: 0,
        has_noted_base: false,
        has_differing: false,
        not_utf_8: document.not_utf_8,
        meta: PrescannedMeta::at(document.prescanned),
        ids: Vec::new(),
        unusable: None,
        plan: DocumentPlan::new(&task.around, query_charset),
        sink: sink.as_mut().map(|sink| &mut **sink as _),
        known: None,
    };
    scan(&mut driver, &mut document);
    driver.finish(document)
}
