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
//! use baselink::{Options, rewrite, rewrite_into};
//! // Two sinks, one driver.
//! let (page, options) = (b"<base href=/b/><a href=x>", Options::at("http://a/"));
//! let mut out = Vec::new();
//! rewrite_into(page, &options, &mut out);
//! assert_eq!(out, rewrite(page, &options).output());
//! ```
//!
//! Deliberately absent: syntax, and what a link comes to mean.

use std::convert::Infallible;
use std::sync::Arc;

use super::base_element::{base_diagnostic, base_element};
use super::copies;
use super::judge::{Judge, Short, Surroundings};
use super::judged::{Judged, lift_through};
use super::options::{BaseElement, Options};
use super::totals::{Tally, Totals};
use crate::base::{self, BaseChain, Outer, Source};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{BaseKind, DeclaredBase, Document, Link, Standing};
use crate::edit::{Edit, Edits};
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::layer::spelling::{Carrier, Spelling};
use crate::report::{EntityReport, LinkReport, Outcome, Reason};
use crate::resolve::Splice;
use crate::scan::html;
use crate::scan::html::pass::{self, Links, Part, Plain, Tentative, Whole, Windows};
use crate::scan::html::prelude::{self, Bases, Prelude, may_declare_base, prelude};
use crate::scan::{self, ScanOptions};
use crate::span::Span;

/// What is made of links. Places are those of the bytes that are scanned.
pub(super) trait Sink {
    /// Why it wants no more.
    type End;

    /// Whether nothing becomes of a link any more once it was told.
    const IS_LAST: bool;

    /// Whether it takes reports only, so that no edit needs to be made.
    const REPORTS: bool = false;

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

/// What is asked of a document beside its options.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) options: &'a Options,
    /// How it is scanned.
    pub(super) scan: &'a ScanOptions,
    pub(super) around: Surroundings<'a>,
    /// Whether each link is wanted with its report; else those whose target is a prefix of the base and the tail of the
    /// reference are counted only.
    pub(super) is_listed: bool,
}

/// Tells a sink what becomes of the links of one document.
pub(super) struct Driver<'a, S> {
    asked: Asked<'a>,
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
    /// What nobody has looked for.
    tentative: Option<Tentative>,
    pub(super) tally: Tally,
    /// What is inside it.
    entities: Vec<EntityReport>,
    diagnostics: Vec<Diagnostic>,
    ids: Vec<String>,
    pub(super) sink: S,
}

impl<'a, S: Sink> Driver<'a, S> {
    /// For a document in `charset` that has the base of `chain`.
    pub(super) fn new(asked: Asked<'a>, chain: &'a BaseChain, charset: Charset, sink: S) -> Self {
        let judge = Judge::new(charset, chain, asked.options, asked.around);
        Self {
            asked,
            chain,
            judge: if asked.is_listed && !S::REPORTS { judge.reporting_all() } else { judge },
            charset,
            carried: Vec::new(),
            offset: 0,
            edited: 0,
            own: 0,
            has_noted: false,
            tentative: None,
            tally: Tally::default(),
            entities: Vec::new(),
            diagnostics: Vec::new(),
            ids: Vec::new(),
            sink,
        }
    }

    /// The bytes that are scanned begin at `offset` of the document from now on.
    pub(super) fn move_window(&mut self, offset: usize) {
        self.offset = offset;
    }

    /// What is to be said of the document, its base and its links.
    pub(super) fn diagnostics(&mut self, outer: Outer<'_>) -> Vec<Diagnostic> {
        let mut all = std::mem::take(&mut self.diagnostics);
        all.extend(self.chain.diagnostics.iter().cloned());
        let profile = self.asked.options.profile;
        all.extend(base_diagnostic(self.own > 0, self.chain, outer, profile));
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
        if S::IS_LAST {
            judged.keep_apart(self.offset, &mut self.edited);
            let span = judged.report.span.shifted(self.offset);
            self.tally.add_link(&judged.report, span, &|| charset);
        }
        self.sink.judged(bytes, judged)
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
        let asked = Asked { is_listed: true, ..self.asked };
        let outer = Outer::Encapsulating(&around);
        let mut inner = document(asked, part, outer, self.charset, &self.carried);
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

impl<S: Sink> Links for Driver<'_, S> {
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
        let short = self.judge.short(&bytes[found.span.range()], found);
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
        let part = html::document::embedded(part, self.asked.scan);
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

/// The sink that collects: edits, and what was judged.
#[derive(Default)]
struct Collected {
    judged: Vec<Judged>,
    spliced: Vec<Edit>,
}

impl Sink for Collected {
    type End = Infallible;
    // What lies around the document may still refuse an edit, and a policy ask for one.
    const IS_LAST: bool = false;

    fn splice(&mut self, _bytes: &[u8], at: usize, splice: Splice<'_>) {
        let (span, new) = (Span::new(at, at + splice.dropped), splice.prefix.into());
        self.spliced.push(Edit { span, new });
    }

    fn judged(&mut self, _bytes: &[u8], judged: Judged) -> Result<(), Infallible> {
        self.judged.push(judged);
        Ok(())
    }
}

/// What becomes of a document and all inside it. Spans and edits are those of the buffer beneath.
pub(super) struct DocumentPlan {
    pub(super) judged: Vec<Judged>,
    /// The edits of links that were only counted.
    spliced: Vec<Edit>,
    /// Those links.
    tally: Tally,
    /// The document, and those inside it.
    pub(super) entities: Vec<EntityReport>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// What becomes of `bytes`, a document of this format; `None` where no links are looked for in it.
pub(super) fn content(
    asked: Asked<'_>,
    format: Format,
    bytes: &[u8],
    outer: Outer<'_>,
) -> Option<DocumentPlan> {
    if format == Format::Html
        && let Some(plan) = html(asked, bytes, outer)
    {
        return Some(plan);
    }
    let document = scan::content(format, bytes, asked.scan)?;
    let beneath = document.charset;
    Some(self::document(asked, document, outer, beneath, &[]))
}

/// The base of `document`.
fn establish(document: &Document, outer: Outer<'_>, options: &Options) -> BaseChain {
    let mut chain = base::establish(document, outer, options.profile);
    if matches!(outer, Outer::Retrieval(None) | Outer::AssumedScheme(_)) && copies::is_copy(options)
    {
        chain.lacks_retrieval(copies::WITHOUT_RETRIEVAL);
    }
    chain
}

/// How far one looks ahead in an HTML document before its links are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Not at all: nothing is declared but what its first bytes say. A sink that can begin again takes that.
    Tentative,
    /// For declarations of its encoding and of bases.
    Ahead(Bases),
}

/// An HTML document without its links; `None` where its encoding is no extension of ASCII.
fn without_links(bytes: &[u8], scan: &ScanOptions, look: Look) -> Option<(Detected, Document)> {
    let found = match look {
        Look::Tentative => Charset::detect(bytes, scan.charset),
        Look::Ahead(_) => prelude::encoding(bytes, scan),
    };
    let Detected { charset, mark, .. } = found;
    if !charset.is_ascii_compatible() {
        return None;
    }
    let mut document = Document::empty(Arc::clone(&scan.entity), Format::Html, charset);
    match look {
        Look::Tentative => document.saved = prelude::saved(bytes, scan),
        Look::Ahead(bases) => {
            let Prelude { bases, saved } = prelude(bytes, mark, charset, scan, bases);
            (document.bases, document.saved) = (bases, saved);
        }
    }
    Some((found, document))
}

/// What nobody has looked for in a document in this encoding.
fn tentative(found: Detected) -> Tentative {
    match found.declaration {
        Declaration::Assumed => Tentative::BaseAndEncoding,
        _ => Tentative::Base,
    }
}

/// An HTML document whose base is known before its links are: it can be told to a sink that takes links for good.
pub(super) struct Opened {
    found: Detected,
    chain: BaseChain,
    tentative: Option<Tentative>,
}

impl Opened {
    /// `None` where more has to be known than that: the policy for the `base` element needs all links, the encoding is no
    /// extension of ASCII, or the href of a `base` element stays where there are local copies.
    pub(super) fn of(bytes: &[u8], options: &Options) -> Option<Self> {
        let opened = Self::at(bytes, options, Look::Ahead(Bases::Decisive))?;
        let is_open = opened.may_keep_base(options) && may_declare_base(bytes, bytes.len(), false);
        (!is_open).then_some(opened)
    }

    /// The same as long as the document declares nothing; `None` also where that has to be known.
    pub(super) fn tentative(bytes: &[u8], options: &Options) -> Option<Self> {
        let opened = Self::at(bytes, options, Look::Tentative)?;
        let tentative = Some(tentative(opened.found));
        (!opened.may_keep_base(options)).then_some(Self { tentative, ..opened })
    }

    fn at(bytes: &[u8], options: &Options, look: Look) -> Option<Self> {
        if !may_be_passed(options) {
            return None;
        }
        let (found, document) = without_links(bytes, &options.scan, look)?;
        let chain = establish(&document, options.outer(), options);
        Some(Self { found, chain, tentative: None })
    }

    /// Whether a base may stay as it is for the sake of links to local copies.
    fn may_keep_base(&self, options: &Options) -> bool {
        self.chain.was_saved_with_files || options.beside().is_some()
    }

    /// That of a document which begins with `head` and is known to declare nothing.
    pub(super) fn undeclared(head: &[u8], found: Detected, options: &Options) -> Self {
        let entity = Arc::clone(&options.scan.entity);
        let mut document = Document::empty(entity, Format::Html, found.charset);
        document.saved = prelude::saved(head, &options.scan);
        let chain = establish(&document, options.outer(), options);
        Self { found, chain, tentative: Some(tentative(found)) }
    }

    pub(super) fn driver<'a, S: Sink>(
        &'a self,
        options: &'a Options,
        is_listed: bool,
        sink: S,
    ) -> Driver<'a, S> {
        let (scan, around) = (&options.scan, Surroundings::default());
        let asked = Asked { options, scan, around, is_listed };
        let driver = Driver::new(asked, &self.chain, self.found.charset, sink);
        Driver { tentative: self.tentative, ..driver }
    }

    /// The document, all of which is in `bytes`.
    pub(super) fn whole<'b>(&self, bytes: &'b [u8], options: &Options) -> Whole<'b> {
        whole(&options.scan, bytes, self.found, self.tentative)
    }

    /// The same, to be read window by window.
    pub(super) fn windows(&self, options: &Options) -> (Windows, usize) {
        let Detected { charset, mark, .. } = self.found;
        (Windows::new(charset, self.tentative, &options.scan), mark)
    }
}

/// Whether an HTML document can be told to a sink that takes links for good.
pub(super) fn may_be_passed(options: &Options) -> bool {
    options.format == Format::Html
        && matches!(options.base_element, BaseElement::Absolute | BaseElement::Keep)
}

impl<S: Sink> Driver<'_, S> {
    /// What became of all links.
    pub(super) fn totals(mut self) -> Totals {
        let diagnostics = self.diagnostics(self.asked.options.outer());
        self.tally.entities += 1;
        let mut totals = Totals::of(Some(self.chain), self.charset, self.tally, diagnostics);
        totals.changed = self.sink.has_changed();
        totals
    }
}

fn html(asked: Asked<'_>, bytes: &[u8], outer: Outer<'_>) -> Option<DocumentPlan> {
    let looks = match asked.options.base_element {
        BaseElement::Absolute | BaseElement::Keep if !asked.is_listed => {
            [Look::Tentative, Look::Ahead(Bases::Decisive)]
        }
        _ => [Look::Ahead(Bases::All); 2],
    };
    for look in looks {
        let (found, mut document) = without_links(bytes, asked.scan, look)?;
        if asked.options.base_element == BaseElement::Insert {
            document.head = Some(html::document::head(bytes, found.mark));
        }
        let chain = establish(&document, outer, asked.options);
        let tentative = if look == Look::Tentative { Some(tentative(found)) } else { None };
        let whole = whole(asked.scan, bytes, found, tentative);
        let mut driver = Driver::new(asked, &chain, found.charset, Collected::default());
        if let Ok(scanned) = pass::links(&whole, asked.scan, &mut driver) {
            document.without_tree = scanned.without_tree;
            document.ids = std::mem::take(&mut driver.ids);
            return Some(driver.plan(document, outer, found.charset));
        }
    }
    None
}

fn whole<'a>(
    scan: &ScanOptions,
    bytes: &'a [u8],
    found: Detected,
    tentative: Option<Tentative>,
) -> Whole<'a> {
    let Detected { charset, mark: start, .. } = found;
    let entity = Arc::clone(&scan.entity);
    Whole { bytes, start, charset, entity, depth: 0, enclosed: false, tentative }
}

/// The same for a document whose links are known, in a buffer in the encoding `beneath`; `carried` are the values, the
/// outermost first, in which that buffer lies. Recursion is as deep as a scanner lets documents nest.
pub(super) fn document(
    asked: Asked<'_>,
    mut document: Document,
    outer: Outer<'_>,
    beneath: Charset,
    carried: &[(Spelling, Charset)],
) -> DocumentPlan {
    let chain = establish(&document, outer, asked.options);
    let mut driver = Driver::new(asked, &chain, document.charset, Collected::default());
    driver.carried = carried.to_vec();
    let value = document.decoded.as_ref().map(|decoded| (decoded.spelling, beneath));
    driver.carried.extend(value.filter(|(spelling, _)| spelling.carrier != Carrier::Raw));
    driver.charset = if document.decoded.is_some() { Charset::UTF_8 } else { beneath };
    driver.diagnostics = std::mem::take(&mut document.diagnostics);
    for link in std::mem::take(&mut document.links) {
        let Ok(()) = driver.one(&[], link);
    }
    for part in std::mem::take(&mut document.parts) {
        let Ok(()) = driver.document(&[], part);
    }
    driver.plan(document, outer, beneath)
}

impl Driver<'_, Collected> {
    /// What becomes of `document`, now that its links were told.
    fn plan(mut self, mut document: Document, outer: Outer<'_>, beneath: Charset) -> DocumentPlan {
        let diagnostics = self.diagnostics(outer);
        let Self { asked, chain, charset, tally, sink, .. } = self;
        let Collected { judged, spliced } = sink;
        let Document { format, charset: declared, without_tree, .. } = document;
        let mut plan =
            DocumentPlan { judged, spliced, tally, entities: self.entities, diagnostics };
        plan.base_element(asked, chain, &document, outer, charset);
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

impl DocumentPlan {
    /// Moves what is said of the document and its base to the buffer beneath.
    pub(super) fn move_reports(&mut self, beneath: impl Fn(Span) -> Span) {
        for diagnostic in &mut self.diagnostics {
            diagnostic.span = beneath(diagnostic.span);
        }
        for level in self.entities.iter_mut().flat_map(|entity| &mut entity.chain.levels) {
            if matches!(
                level.source,
                Source::BaseElement | Source::XmlBase | Source::SavedBase | Source::EntryLink
            ) {
                level.span = level.span.map(&beneath);
            }
        }
    }

    /// What the policies ask for where all links are known.
    fn base_element(
        &mut self,
        asked: Asked<'_>,
        chain: &BaseChain,
        document: &Document,
        outer: Outer<'_>,
        charset: Charset,
    ) {
        let options = asked.options;
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
        let is_inside = matches!(outer, Outer::Encapsulating(_));
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
        if options.base_element == BaseElement::Insert && has_no_place && is_xml {
            let message = "no base element was put in, because there is no head of XHTML for it";
            self.diagnostics.push(Diagnostic::new(Code::BaseElementKept, Span::at(0), message));
        }
        if asked.around.kept.is_some() {
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
}

/// The edits of one document, in the order of its bytes.
pub(super) struct Settled {
    pub(super) edits: Edits,
    pub(super) policies: Vec<bool>,
    pub(super) rewritten: Vec<Span>,
    /// The links that were judged one by one.
    pub(super) links: Vec<LinkReport>,
    /// The others.
    pub(super) tally: Tally,
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

    fn merged(mut judged: Vec<Judged>, spliced: Vec<Edit>) -> Self {
        judged.sort_by_key(|judged| judged.report.span.start);
        let (mut links, mut policies) = (Vec::with_capacity(judged.len()), Vec::new());
        let (mut edits, mut edited) = (Edits::default(), 0);
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
        Self { edits, policies, rewritten, links, tally: Tally::default() }
    }
}
