//! The outcome of each link of one document, and the edits that implement it.
//!
//! [`Judge::verdict`] decides on each reference in a fixed order. Is it absolute? Is there a [`Reason`] to keep
//! it? Does it lack a base? What is its target (RFC 1808, 4)? The fast path, [`Judge::plain`], sees only the bytes of the
//! reference, and gives no verdict if a decision needs the decoded reference. The new part of a target is escaped for
//! its place and lifted to the document's bytes.
//!
//! ```
//! use baselink_rewrite::{Options, report::Outcome, rewrite};
//! let report = rewrite(b"<img src=x><img src=cid:x><img src=''>", &Options::at("http://a/")).report;
//! let outcomes: Vec<_> = report.links.iter().map(|link| link.outcome).collect();
//! assert_eq!(outcomes, [Outcome::Rewritten, Outcome::Absolute, Outcome::Left]);
//! ```
//!
//! Some places hold URLs or other text. Text gets no outcome ([`Judge::is_link`]).
//!
//! Deliberately absent: the choice of the base.

use std::{borrow::Cow, cell::RefCell, collections::HashMap, mem, sync::Arc};

use baselink_scan::{
    Against, Certainty, Kind, LONGEST_BASE, Role,
    block::holds,
    document::Link,
    html::{pass::Plain, sheets::linked, tag},
    value,
};
use baselink_text::{
    Charset, Diagnostic, Edit, Span,
    layer::{
        escape::Quote,
        spelling::{Carrier, Form, Spelling, lift},
    },
};
use baselink_url::{
    self as resolve, Base, Kept, Resolver, Splice, Target, common_tail, is_template, reference,
    without_fragment,
};

use super::{
    copies::Copies,
    crawled::Crawler,
    guarded,
    judged::Judged,
    labels::Labels,
    options::{BaseElement, BaseInCopy, Choice, Destination, Fragments, Options},
    prepared::{NOWHERE, PreparedBase, Under, prepare},
    properties::PageStyles,
    totals::LinkBases,
    unfit_base::breaks_template,
};
use crate::{
    base::{self, BaseChain, Established, Rule, Source, SourceKind},
    report::{LinkReport, Outcome, PropertyUser, Reason},
};

/// Facts about all links of a document that may change the outcome of each.
#[derive(Clone, Copy, Default)]
pub struct Foreseen {
    /// True if the links outgrow their room.
    pub is_outgrown: bool,
    /// True if some link depends on the base staying relative. With an absolute base, a browser would no longer find local
    /// copies next to the page, and a mail reader would no longer find other parts by their labels.
    pub keeps_base: bool,
}

/// The surroundings of a document, as far as its links depend on them.
#[derive(Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The reason, if any, why none of its links may change.
    pub kept: Option<Reason>,
    /// The labels by which its references can refer to other parts of the message (RFC 2557, 8.2).
    pub labels: Option<&'a Labels>,
    /// The `file:` URL that labels the part itself. References are then also resolved against this URL and compared
    /// with the labels.
    pub location: Option<&'a Base>,
    /// The number of bytes by which its links may grow, if bounded.
    pub room: Option<usize>,
    /// The facts about all its links, if they were judged before.
    pub foreseen: Option<Foreseen>,
    /// Chooses the replacement of each link.
    pub destination: Option<&'a dyn Destination>,
}

impl Surroundings<'_> {
    pub fn has_labels(&self) -> bool {
        self.labels.is_some_and(|labels| !labels.is_empty())
    }
}

/// The base of a copy that opens from disk, if only the form of a reference matters.
const ON_DISK: &str = "file:///";

/// Judges the links of one document.
pub struct Judge<'a> {
    chain: &'a BaseChain,
    options: &'a Options,
    around: Surroundings<'a>,
    fragments: Fragments,
    /// The crawler that saved the document, if its references are to be restored.
    crawler: Option<Crawler>,
    copies: Option<Copies<'a>>,
    charset: Charset,
    /// True if the fast path applies.
    has_fast_path: bool,
    /// The length of the longest prefix of the base that needs no escape, so that the fast path may splice it: first in
    /// an unquoted attribute, then in all other places. 0 if the base cannot be used.
    splices: [usize; 2],
    /// The length of the base, and its spelling with a character reference for each `&`: see
    /// [`PreparedBase::with_ampersands`].
    with_ampersands: Option<(usize, String)>,
    /// The document base URL, against which nearly every link is resolved.
    document: Option<PreparedBase>,
    /// The base for references that lack only a scheme, if there is no other base.
    assumed: Option<PreparedBase>,
    /// The bases of other links, at most [`MOST_PREPARED`].
    others: HashMap<Against, PreparedBase>,
    /// The styles of the document; `None` before the first link in a custom property.
    styles: Option<PageStyles>,
    /// The offset of the name of the last element of a [plain report](Self::plain_report), and its `rel`. An element can have
    /// many links and a long tag, which is read once.
    last_rel: RefCell<(usize, Option<Arc<str>>)>,
}

/// The maximum number of bases besides that of the document that are held at once.
const MOST_PREPARED: usize = 64;

/// The decision on a link.
pub enum Verdict<'a> {
    Absolute,
    NoBase,
    Left(Reason),
    /// The target is a prefix of the base, followed by the tail of the reference. Every resolver agrees, unless
    /// [`Splice::differs`] is true.
    Splice(Splice<'a>),
    Target {
        target: Target,
        /// True if all resolvers are known to agree on the target.
        is_agreed: bool,
    },
}

impl Verdict<'_> {
    #[inline(always)]
    pub fn outcome(&self) -> (Outcome, Option<Reason>) {
        match self {
            Self::Absolute => (Outcome::Absolute, None),
            Self::NoBase => (Outcome::NoBase, None),
            Self::Left(reason) => (Outcome::Left, Some(*reason)),
            Self::Splice(..) | Self::Target { .. } => (Outcome::Rewritten, None),
        }
    }
}

impl<'a> Verdict<'a> {
    /// The target of `reference` in two parts, if every resolver agrees on it.
    pub fn splice(&self, reference: &str) -> Option<Splice<'a>> {
        match self {
            Self::Splice(splice) if !splice.differs => Some(*splice),
            Self::Absolute if resolve::is_agreed_absolute(reference) => Some(Splice {
                prefix: "",
                dropped: 0,
                differs: false,
            }),
            _ => None,
        }
    }
}

/// The base of a link, and the rule and source that gave it.
struct LinkBase<'a> {
    prepared: Option<&'a PreparedBase>,
    /// The URL for reports.
    url: Option<Arc<str>>,
    rule: Rule,
    source: Source,
}

impl<'a> Judge<'a> {
    /// The judge of the links of a document in `charset` that has the base of `chain`.
    pub fn new(
        charset: Charset,
        chain: &'a BaseChain,
        options: &'a Options,
        around: Surroundings<'a>,
    ) -> Self {
        let prepare = |url| PreparedBase::new(url, options, charset);
        let assumed = chain
            .assumed_scheme
            .as_ref()
            .map(|scheme| prepare(base::stand_in(scheme).into()));
        // A `Destination` treats the base that a saved page notes in its own way.
        let may_be_plain = match around.destination {
            Some(_) => chain.source.kind() != SourceKind::Note,
            None => options.guard.is_none(),
        } && !around.foreseen.is_some_and(|known| known.is_outgrown);
        let mut judge = Self {
            chain,
            options,
            around,
            charset,
            assumed,
            fragments: options.fragments_in(chain),
            crawler: Crawler::of(chain, options).filter(|_| around.destination.is_none()),
            copies: Copies::of(chain, options),
            document: None,
            others: HashMap::new(),
            styles: None,
            last_rel: RefCell::new((usize::MAX, None)),
            has_fast_path: around.kept.is_none() && may_be_plain,
            splices: [0; 2],
            with_ampersands: None,
        };
        judge.document = judge.new_base(&Against::Document);
        let document = judge
            .document
            .as_ref()
            .filter(|it| it.usable && !around.has_labels());
        judge.splices = [false, true]
            .map(|is_quoted| document.map_or(0, |document| document.unescaped_len(is_quoted)));
        judge.with_ampersands = document.and_then(PreparedBase::with_ampersands);
        judge
    }

    /// The fast path: the verdict on a reference from its raw bytes in `bytes`; `None` if the reference must be
    /// decoded first.
    #[inline(always)]
    pub fn plain(&self, bytes: &[u8], found: &Plain) -> Option<Verdict<'_>> {
        if !self.has_fast_path || found.certainty != Certainty::Certain {
            return None;
        }
        let raw = &bytes[found.span.range()];
        if self.is_written_absolute(raw) {
            return Some(Verdict::Absolute);
        }
        let splice = self.plain_splice(bytes, found);
        let reason = kept_form(raw, found.empty_resolves, found.fragment_identifies);
        if let Some(reason) = reason.filter(|_| splice.is_some() || is_fragment(raw)) {
            return Some(Verdict::Left(reason));
        }
        let may_stay = raw.first() == Some(&b'#') && self.fragments != Fragments::Rewrite;
        let splice = splice.filter(|_| !may_stay && !self.may_need_files(raw))?;
        Some(Verdict::Splice(splice))
    }

    /// The report of a reference with a verdict of the [fast path](Self::plain); `None` if its bytes may need decoding.
    pub fn plain_report(
        &self,
        verdict: Verdict<'_>,
        bytes: &[u8],
        found: &Plain,
    ) -> Option<LinkReport> {
        let reference = value::undecoded(&bytes[found.span.range()])?.to_owned();
        let name = |name: Span| &bytes[name.range()];
        let (element, attribute) = match found.names {
            // A longer name is truncated in reports.
            Some((element, attribute, row)) if element.len() <= 64 => (
                row.element(name(element))?,
                Some(row.attribute(name(attribute))?),
            ),
            Some(_) => return None,
            None => (Cow::Borrowed("style"), None),
        };
        let base = self.link_base(&Against::Document, &reference);
        let mut link = Link {
            attribute,
            rel: found.names.and_then(|(name, ..)| self.rel(bytes, name)),
            role: found.names.map_or(Role::Embedded, |(.., row)| row.role),
            ..Link::in_text(element, reference, found.span, Form::Whole)
        };
        Some(self.report(&mut link, base, verdict).0)
    }

    /// The `rel` of the element whose name is at `name`.
    fn rel(&self, bytes: &[u8], name: Span) -> Option<Arc<str>> {
        let mut last = self.last_rel.borrow_mut();
        if last.0 != name.start {
            *last = (name.start, tag::rel(bytes, name, self.charset));
        }
        last.1.clone()
    }

    /// The base of the links on the fast path.
    pub fn base_of_plain(&self) -> LinkBases {
        let LinkBase {
            url, rule, source, ..
        } = self.link_base(&Against::Document, "");
        LinkBases::One(url, rule, source)
    }

    /// Prepares and stores the base that `against` denotes, unless it is stored already.
    fn prepare(&mut self, against: &Against) {
        if *against == Against::Document || self.others.contains_key(against) {
            return;
        }
        if let Some(prepared) = self.new_base(against) {
            // Each may be many times as long as its value in the document.
            if self.others.len() == MOST_PREPARED {
                self.others.clear();
            }
            self.others.insert(against.clone(), prepared);
        }
    }

    /// Prepares the base that `against` denotes; `None` if there is none.
    fn new_base(&self, against: &Against) -> Option<PreparedBase> {
        let mut prepared = PreparedBase::new(self.base_of(against)?, self.options, self.charset);
        prepared.usable &= !breaks_template(&prepared.parsed, self.chain, self.options.resolver);
        if let Some(layout) = self.options.layout(self.chain, against) {
            // `../other.example/x` leads to that host.
            prepared.base = prepared.base.in_layout(move |folder| layout.host(folder));
        }
        Some(prepared)
    }

    fn prepared(&self, against: &Against) -> Option<&PreparedBase> {
        match against {
            Against::Document => self.document.as_ref(),
            other => self.others.get(other),
        }
    }

    /// The URL of the base that `against` denotes.
    fn base_of(&self, against: &Against) -> Option<Arc<str>> {
        let url = |established: &Established| Arc::clone(&established.url);
        let outer = match against {
            Against::Document | Against::Codebase(None, _) => self.chain.base.clone(),
            Against::Inner(_) => self.chain.document.as_ref().map(url),
            other => self.established(other).map(url),
        };
        match against {
            Against::Codebase(_, codebase) if self.options.resolver != Resolver::Whatwg => {
                self.inner(outer, codebase)
            }
            Against::Inner(chain) => chain
                .iter()
                .fold(outer, |base, inner| self.inner(base, inner)),
            _ => outer,
        }
    }

    /// The base that `against` denotes, or that its codebase is resolved against, if it is not the document base URL.
    fn established(&self, against: &Against) -> Option<&Established> {
        match against {
            Against::Fallback => self.chain.fallback.as_ref(),
            Against::Retrieval => self.chain.retrieval.as_ref(),
            Against::DocumentEntity => self.chain.document.as_ref(),
            // The element has or inherits an `xml:base`.
            Against::Element(index) | Against::Codebase(Some(index), _) => {
                self.chain.elements.get(*index)?.base.as_ref()
            }
            _ => None,
        }
    }

    /// The base that `against` denotes, for `reference`. If there is none and the reference lacks only a scheme, the
    /// assumed scheme takes its place.
    fn link_base(&self, against: &Against, reference: &str) -> LinkBase<'_> {
        let known = self.prepared(against);
        let may_lack_scheme = known.is_none()
            && !matches!(
                against,
                Against::Nothing | Against::Unknown | Against::Results
            )
            && base::lacks_only_scheme(reference, self.options.resolver);
        let assumed = self.assumed.as_ref().filter(|_| may_lack_scheme);
        // A base that is too long to be used is not repeated for every link.
        let url = known
            .map(|known| &known.url)
            .filter(|url| url.len() <= LONGEST_BASE)
            .cloned();
        let (rule, source) = match (&url, self.established(against)) {
            (None, _) if assumed.is_some() => (Rule::Default, Source::AssumedScheme),
            (None, _) => (Rule::Default, Source::Default),
            (Some(_), Some(established)) => (established.rule, established.source),
            (Some(_), None) => (self.chain.rule, self.chain.source),
        };
        LinkBase {
            prepared: known.or(assumed),
            url,
            rule,
            source,
        }
    }

    /// The base that `reference` declares, resolved against `outer`; `outer` itself if that fails.
    fn inner(&self, outer: Option<Arc<str>>, reference: &str) -> Option<Arc<str>> {
        if reference::placeholder(reference).is_some() {
            return Some(reference.into());
        }
        let resolver = self.options.resolver;
        match outer {
            Some(outer) => Some(match Base::new(resolver, &outer).resolve(reference) {
                Ok(target) => resolve::ascii(&target.url).into(),
                Err(_) => outer,
            }),
            None => match (Base::parse(resolver, reference), &self.assumed) {
                (Ok(base), _) => Some(resolve::ascii(base.as_str()).into()),
                (Err(_), Some(assumed)) if base::lacks_only_scheme(reference, resolver) => {
                    let target = assumed.base.resolve(reference).ok();
                    target.map(|target| resolve::ascii(&target.url).into())
                }
                (Err(_), _) => None,
            },
        }
    }

    /// The diagnostics about local copies that are missing, and about links in custom properties that lead elsewhere from a
    /// style sheet.
    pub fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let missing = self.copies.as_ref().and_then(Copies::missing);
        let of_sheets = self.styles.as_ref().and_then(PageStyles::diagnostic);
        missing.into_iter().chain(of_sheets)
    }

    /// Judges a link of the document in `bytes`; `None` if the value is not a link. The buffer that was scanned is in
    /// `charset`. `enclosing` lists the attribute values that contain the document, outermost first.
    pub fn link(
        &mut self,
        bytes: &[u8],
        mut link: Link,
        charset: Charset,
        enclosing: &[(Spelling, Charset)],
    ) -> Option<Judged> {
        if self.styles.is_none() && link.custom_property.is_some() {
            // A link of a style sheet has no element, and the base is that of the sheet.
            let linked = if link.element.is_empty() {
                Vec::new()
            } else {
                linked(bytes, charset)
            };
            let own = self.document.as_ref().map(|document| &document.base);
            self.styles = Some(PageStyles::of(bytes, linked, own));
        }
        self.prepare(&link.against);
        let (mut report, kept) = self.resolved(&mut link)?;
        let mut chosen = self.apply_choice(&mut report, &link);
        let guard = self.options.guard.as_deref();
        let guard = guard.filter(|_| self.around.kept.is_none() && !self.names_a_part(&report));
        let guard = guard.map(|guard| (guard, self.base_in_copy(&link, &report)));
        // No relative reference but one to a file below means the same in all documents.
        if let (Some((guard, base @ BaseInCopy::Anywhere)), Some(target)) = (guard, &report.target)
        {
            let leads_out = |text: &str| guard.prefix(&report, text, base).is_some();
            let new = chosen.as_deref().unwrap_or(report.in_output());
            if leads_out(new) && !leads_out(target) {
                (chosen, report.outcome, report.reason) = (None, Outcome::Rewritten, None);
            }
        }
        let is_xml_base = report.attribute.as_deref() == Some("xml:base");
        let mut judged = Judged::new(report, Vec::new());
        judged.declares_base = link.against == Against::Fallback || is_xml_base;
        let is_final = guard.is_some_and(|guard| {
            guarded::apply(&mut judged, guard, chosen.as_deref(), (&link, charset))
        });
        let report = &mut judged.report;
        if !is_final && report.outcome == Outcome::Rewritten {
            match spell_link(
                report,
                &link,
                &kept,
                chosen.as_deref(),
                (charset, enclosing),
            ) {
                Ok((edits, written)) => {
                    report.written = written.or(chosen);
                    judged.edits = edits;
                }
                Err(reason) => judged.refuse(reason),
            }
        }
        let report = &mut judged.report;
        // A destination decides itself about links that probably belong to a style sheet.
        if report.outcome == Outcome::Rewritten
            && self.around.destination.is_none()
            && self
                .styles
                .as_mut()
                .is_some_and(|styles| styles.keeps(report))
        {
            judged.edits.clear();
            report.stay(Reason::CustomProperty);
        }
        if report.reason == Some(Reason::LocalCopy)
            && let Some(copies) = &self.copies
        {
            copies.count(&report.reference, report.span);
        }
        Some(judged)
    }

    /// The report of `link`, whose texts it takes, and the parts of the reference that the target keeps; `None` if the value is
    /// not a link.
    fn resolved(&self, link: &mut Link) -> Option<(LinkReport, Vec<Kept>)> {
        let base = self.link_base(&link.against, &link.reference);
        let (prepared, verdict) = (base.prepared, self.verdict(link, &base));
        let (mut report, kept) = self.report(link, base, verdict);
        if report.reason == Some(Reason::Placeholder)
            && let Some(named) = self.named_resource(&report, prepared, &link.against)
        {
            report = named;
        }
        report.is_editable = link.map.is_some() && self.around.kept.is_none();
        let property = link.custom_property.as_deref().zip(self.styles.as_ref());
        report.custom_property = property.map(|(name, styles)| styles.property(name, &report));
        self.is_link(&report, link).then_some((report, kept))
    }

    /// Applies the choice of the destination to the report of `link`. Returns the text to write, if it is not the target.
    fn apply_choice(&self, report: &mut LinkReport, link: &Link) -> Option<String> {
        // Signed links are kept, even if they are absolute.
        let is_signed = self.around.kept.is_some();
        let destination = self.around.destination.filter(|_| !is_signed)?;
        let choice = if report.target.is_some() {
            let (choice, lack) = destination.choose(report, &link.against);
            report.lack = lack.filter(|_| link.certainty != Certainty::IfLeadsOut);
            choice
        } else if report.reason == Some(Reason::LocalCopy) {
            Choice::Reference(self.copies.as_ref()?.encoded(&report.reference)?)
        } else {
            return None;
        };
        match choice {
            Choice::Reference(text) if text != report.reference => {
                (report.outcome, report.reason) = (Outcome::Rewritten, None);
                return Some(text);
            }
            Choice::Nowhere(text) if text != report.reference => {
                report.guard(text.clone(), true);
                return Some(text);
            }
            Choice::Nowhere(_) => report.lack_base(),
            Choice::Reference(_) if report.outcome == Outcome::Rewritten => {
                report.stay(Reason::Chosen);
            }
            Choice::Kept if report.outcome == Outcome::Rewritten => report.stay(Reason::Kept),
            _ => {}
        }
        None
    }

    /// True if the value of `link`, a place of any certainty, is a link. An absolute URL is a link, and so is a value that is
    /// left for a reason of its own, such as a placeholder.
    fn is_link(&self, report: &LinkReport, link: &Link) -> bool {
        let text = report.reference.as_str();
        let leads_to_resource = || {
            // A color may look like a fragment, which would lead to the document itself.
            let may_lead = report.target.is_some() && !text.is_empty() && !text.starts_with('#');
            let site = self.options.site.as_ref().filter(|_| may_lead);
            site.is_some_and(|site| site.has(report, &link.against))
        };
        let is_intended = report.reason.is_some_and(Reason::is_intended);
        match link.certainty {
            Certainty::Certain => true,
            Certainty::IfLeadsOut => self.leads_out(report, link),
            Certainty::IfFound => leads_to_resource(),
            Certainty::Doubtful if report.outcome == Outcome::Absolute || is_intended => true,
            Certainty::Doubtful => {
                let is_marked = ["/", "./", "../", "?"]
                    .iter()
                    .any(|mark| text.starts_with(mark));
                is_marked
                    || match self.options.site {
                        Some(_) => leads_to_resource(),
                        None => reference::resembles_path(text),
                    }
            }
        }
    }

    /// The report of a reference that is spelled like a placeholder, but names a resource of the site.
    fn named_resource(
        &self,
        report: &LinkReport,
        base: Option<&PreparedBase>,
        against: &Against,
    ) -> Option<LinkReport> {
        let site = self.options.site.as_ref()?;
        let target = base?.base.resolve(&report.reference).ok()?;
        let named = LinkReport {
            target: Some(target.url),
            outcome: Outcome::Rewritten,
            reason: None,
            ..report.clone()
        };
        let is_path = !report.reference.starts_with(['#', '?']);
        (is_path && site.has(&named, against)).then_some(named)
    }

    /// True if a reference in a place that browsers load without a script would lead out of the folder of a copy. Text that is
    /// not a URL loads nothing.
    fn leads_out(&self, report: &LinkReport, link: &Link) -> bool {
        let base = self.base_in_copy(link, report);
        let is_url = || {
            report.reason == Some(Reason::Entity)
                || prepare(Resolver::Whatwg, ON_DISK, self.charset)
                    .resolve(&report.reference)
                    .is_ok()
        };
        self.around.kept.is_none()
            && self
                .options
                .guard
                .as_ref()
                .is_some_and(|guard| guard.prefix(report, &report.reference, base).is_some())
            && is_url()
    }

    /// The declaration of the base of `link`, as a reader of a copy sees it at that place.
    fn base_in_copy(&self, link: &Link, report: &LinkReport) -> BaseInCopy {
        let chain = self.chain;
        let is_emptied = self
            .around
            .destination
            .is_some_and(Destination::empties_bases);
        if let Some(PropertyUser::Unknown | PropertyUser::Several) =
            report.custom_property.as_ref().map(|one| &one.user)
        {
            return BaseInCopy::Anywhere;
        }
        let is_own = |level: &base::Level| {
            let holds = |span: Span| span.start <= link.holder.start && link.holder.end <= span.end;
            level.status == base::Status::Taken && level.span.is_some_and(holds)
        };
        // A preload scanner, which knows no tree, may take a base without effect.
        let may_be_base = report.element == "base" && report.attribute.as_deref() == Some("href");
        if may_be_base && !is_emptied && !chain.chain.iter().any(is_own) {
            return BaseInCopy::Anywhere;
        }
        match link.against {
            Against::Fallback | Against::Retrieval => return BaseInCopy::Undeclared,
            Against::Codebase(..) | Against::Inner(_) => return BaseInCopy::Inner,
            _ if is_emptied => return BaseInCopy::Undeclared,
            Against::Element(_) => return BaseInCopy::Declared,
            Against::Document
            | Against::DocumentEntity
            | Against::Nothing
            | Against::Unknown
            | Against::Results => {}
        }
        // Browsers may use a declaration that cannot be resolved here.
        let declares = |level: &&base::Level| {
            level.rule == Rule::Embedded
                && matches!(level.status, base::Status::Taken | base::Status::Invalid)
        };
        let inherited = chain
            .declared
            .as_ref()
            .map(|outer| (outer.rule, outer.source.kind()));
        match (chain.chain.iter().find(declares), inherited) {
            (Some(level), _) => match level.source.kind() {
                SourceKind::Note => BaseInCopy::Undeclared,
                kind if kind.is_in_document()
                    && level.span.is_none_or(|span| span.start > link.holder.start) =>
                {
                    BaseInCopy::DeclaredLater
                }
                // A preload scanner of Chromium reads a `srcdoc` with the base of the page.
                _ if !chain.entity.is_empty() => BaseInCopy::DeclaredLater,
                _ => BaseInCopy::Declared,
            },
            (None, Some((Rule::Embedded, SourceKind::Heading | SourceKind::Snapshot))) => {
                BaseInCopy::Declared
            }
            // The document around this one may declare a base later, or one that cannot be resolved here.
            (None, _) if !chain.entity.is_empty() => BaseInCopy::DeclaredLater,
            (None, _) => BaseInCopy::Undeclared,
        }
    }

    /// The report of `link`, whose texts it takes, with this verdict, and the parts of the reference that its target keeps, if it
    /// is rewritten.
    fn report(
        &self,
        link: &mut Link,
        base: LinkBase<'_>,
        verdict: Verdict<'_>,
    ) -> (LinkReport, Vec<Kept>) {
        let (prepared, reference) = (base.prepared, mem::take(&mut link.reference));
        let (mut outcome, mut reason) = verdict.outcome();
        let (mut differs_under, mut kept) = (NOWHERE, Vec::new());
        let target = match verdict {
            Verdict::Absolute => {
                let target = self.absolute(&reference, prepared);
                differs_under = absolute_differs(&reference, target.as_deref(), prepared);
                if target.is_none() {
                    (outcome, reason) = (Outcome::Left, Some(Reason::Unresolvable));
                }
                target
            }
            Verdict::NoBase => None,
            Verdict::Left(reason) => {
                if let Some(prepared) = prepared.filter(|_| reason == Reason::Unresolvable) {
                    differs_under = prepared.differs(&reference, None);
                }
                None
            }
            Verdict::Splice(splice) => {
                let mut target = Target::default();
                if let Some(prepared) = prepared {
                    prepared.base.spliced(&reference, splice, &mut target);
                }
                if splice.differs {
                    differs_under = above_root_differs(self.options.resolver);
                }
                kept = target.kept;
                Some(target.url)
            }
            Verdict::Target { target, is_agreed } => {
                if let Some(prepared) = prepared.filter(|_| !is_agreed) {
                    differs_under = prepared.differs(&reference, Some(&target.url));
                }
                kept = target.kept;
                Some(target.url)
            }
        };
        let rel = link.rel.take();
        let name = link.attribute.as_deref();
        let report = LinkReport {
            kind: Kind::of(
                link.role,
                &link.element,
                name,
                rel.as_deref().unwrap_or_default(),
            ),
            rel,
            differs: match outcome {
                Outcome::NoBase => has_rfc1808_scheme(&reference),
                _ => differs_under != NOWHERE,
            },
            entity: Arc::clone(&self.chain.entity),
            span: link.span(),
            element: mem::take(&mut link.element),
            attribute: link.attribute.take(),
            reference,
            base: base.url,
            rule: base.rule,
            source: base.source,
            target,
            role: link.role,
            written: None,
            outcome,
            reason,
            differs_under,
            custom_property: None,
            lack: None,
            is_editable: true,
        };
        (report, kept)
    }

    /// The target of an absolute `reference`. Under `whatwg` it is serialized, and the parser may fail.
    fn absolute(&self, reference: &str, prepared: Option<&PreparedBase>) -> Option<String> {
        if self.options.resolver != Resolver::Whatwg || resolve::is_serialized_absolute(reference) {
            return Some(reference.to_owned());
        }
        let target = match prepared {
            Some(prepared) => prepared.base.resolve(reference),
            None => prepare(Resolver::Whatwg, "", self.charset).resolve(reference),
        };
        Some(target.ok()?.url)
    }

    /// True if the outcome for a reference with the bytes `raw` may depend on files next to the document.
    #[inline(always)]
    fn may_need_files(&self, raw: &[u8]) -> bool {
        self.copies
            .as_ref()
            .is_some_and(|copies| copies.may_be_copy(raw))
            || self
                .crawler
                .is_some_and(|crawler| crawler.may_have_written(raw))
    }

    /// True if the bytes of a reference show that it is absolute by every resolver.
    #[inline(always)]
    fn is_written_absolute(&self, raw: &[u8]) -> bool {
        let is_serialized = || str::from_utf8(raw).is_ok_and(resolve::is_serialized_absolute);
        is_absolute(raw) && (self.options.resolver != Resolver::Whatwg || is_serialized())
    }

    /// The verdict on a link: its class, and for a relative reference the reason to keep it, or its target.
    fn verdict<'b>(&self, link: &Link, base: &LinkBase<'b>) -> Verdict<'b> {
        let (text, against, resolver) = (&*link.reference, &link.against, self.options.resolver);
        let is_result = *against == Against::Results;
        if is_result && value::is_template(text) {
            return Verdict::Left(Reason::Placeholder);
        }
        if self.is_written_absolute(text.as_bytes()) {
            return Verdict::Absolute;
        }
        let splice = base
            .prepared
            .and_then(|base| base.base.splice(text.as_bytes()));
        if splice.is_none() && !is_fragment(text.as_bytes()) {
            let is_browser = resolver == Resolver::Whatwg;
            let is_relative = |base: &PreparedBase| base.base.is_relative(text);
            if reference::has_opaque_scheme(text)
                && !(is_browser && base.prepared.is_some_and(is_relative))
            {
                return Verdict::Absolute;
            }
            if reference::placeholder(text).is_some() {
                return Verdict::Left(Reason::Placeholder);
            }
            if !is_browser && reference::scheme(resolver, text).is_some() {
                return Verdict::Absolute;
            }
        }
        if let Some(reason) = self.reason_to_keep(link, base) {
            return Verdict::Left(reason);
        }
        let Some(prepared) = base.prepared else {
            return if is_result {
                Verdict::Left(Reason::BaseUnusable)
            } else {
                Verdict::NoBase
            };
        };
        if self.around.has_labels() && self.means_a_part(text, against) {
            return Verdict::Left(Reason::SiblingPart);
        }
        if !prepared.usable {
            return Verdict::Left(Reason::BaseUnusable);
        }
        if let Some(target) = self.before_the_crawl(text, against, prepared) {
            return Verdict::Target {
                target,
                is_agreed: true,
            };
        }
        if let Some(splice) = splice {
            return Verdict::Splice(splice);
        }
        // Browsers would percent-encode most placeholders in a path. A base with a placeholder is unknown until the
        // template is filled in.
        let is_base = *against == Against::Fallback || declares_xml_base(link);
        if (resolver == Resolver::Whatwg || is_base) && reference::contains_placeholder(text) {
            return Verdict::Left(Reason::Placeholder);
        }
        // The braces of a template for URLs must stay.
        let may_be_template =
            link.certainty == Certainty::Doubtful || link.attribute.as_deref() == Some("template");
        match prepared.base.resolve(text) {
            Ok(target) if may_be_template && is_template(text) && !is_template(&target.url) => {
                Verdict::Left(Reason::Placeholder)
            }
            // The layout of folders is the same for every resolver.
            Ok(target) => Verdict::Target {
                target,
                is_agreed: prepared.base.leads_through_layout(text),
            },
            Err(_) => Verdict::Left(Reason::Unresolvable),
        }
    }

    /// The reason, if any, to keep a relative reference whether it has a target or not.
    fn reason_to_keep(&self, link: &Link, base: &LinkBase<'_>) -> Option<Reason> {
        let (raw, against) = (link.reference.as_bytes(), &link.against);
        let is_unknown = (*against == Against::Unknown).then_some(Reason::Entity);
        let kept = self.around.kept.or(is_unknown);
        let kept = kept.or_else(|| kept_form(raw, link.empty_resolves, link.fragment_identifies));
        if kept.is_some() {
            return kept;
        }
        let keeps_fragments = || match self.fragments {
            Fragments::Rewrite => false,
            Fragments::Keep => true,
            Fragments::Auto => !self.base_is_elsewhere(base),
        };
        if raw.first() == Some(&b'#') && keeps_fragments() {
            return Some(Reason::Fragment);
        }
        let mut copies = self.copies.iter();
        if self.may_need_files(raw) && copies.any(|copies| copies.has(&link.reference, against)) {
            return Some(Reason::LocalCopy);
        }
        let keeps_base = self.options.base_element == BaseElement::Keep;
        let is_kept_base = match against {
            Against::Fallback => keeps_base || self.is_written_by_browser(base.prepared),
            _ => declares_xml_base(link) && (keeps_base || !self.chain.honours_xml_base),
        };
        is_kept_base.then_some(Reason::BaseElement)
    }

    /// The target of a reference on the fast path, as a prefix of the base and the tail of the reference.
    #[inline(always)]
    fn plain_splice(&self, bytes: &[u8], found: &Plain) -> Option<Splice<'_>> {
        let is_quoted = found.quote != Quote::None;
        let longest = self.splices[usize::from(is_quoted)];
        if longest == 0 || (found.enclosed && !is_quoted) {
            return None;
        }
        let raw = &bytes[found.span.range()];
        let splice = self.document.as_ref()?.base.splice(raw)?;
        if splice.prefix.len() > longest && !(is_quoted && self.is_escaped(found, &splice)) {
            return None;
        }
        // A `&` is rare, and searching for it here is cheaper than the call.
        let is_spelled = !holds(bytes, found.span, [b'&']) || has_plain_references(raw);
        is_spelled.then_some(splice)
    }

    /// True if the spelling of the prefix of `splice` with character references is known, and is allowed at
    /// `found`.
    fn is_escaped(&self, found: &Plain, splice: &Splice<'_>) -> bool {
        let length = self.with_ampersands.as_ref().map(|(length, _)| *length);
        found.names.is_some() && length == Some(splice.prefix.len())
    }

    /// The `splice` of the fast path, spelled for an attribute.
    #[inline(always)]
    pub fn written<'s>(&'s self, splice: Splice<'s>) -> Splice<'s> {
        match &self.with_ampersands {
            Some((length, text)) if splice.prefix.len() == *length => Splice {
                prefix: text,
                ..splice
            },
            _ => splice,
        }
    }

    /// The target of `reference` before a crawler changed it to lead to a saved file.
    fn before_the_crawl(
        &self,
        reference: &str,
        against: &Against,
        prepared: &PreparedBase,
    ) -> Option<Target> {
        let is_of_document = matches!(against, Against::Document | Against::DocumentEntity);
        let original = self
            .crawler
            .filter(|_| is_of_document && self.may_need_files(reference.as_bytes()))?
            .undo(reference, self.options.beside()?)?;
        let target = prepared.base.resolve(&original).ok()?;
        Some(Target {
            kept: kept_tail(reference, &target.url),
            url: target.url,
        })
    }

    /// True if a browser wrote the `base` element, and no destination chooses a replacement.
    fn is_written_by_browser(&self, prepared: Option<&PreparedBase>) -> bool {
        // Without a comment `saved from url=`, this element is the only sign that the page was saved, and is kept.
        let has_comment = self.chain.saved.is_some();
        let is_chosen = self.around.destination.is_some() && prepared.is_some() && has_comment;
        self.chain.has_written_base && !is_chosen
    }

    /// True if a browser uses an embedded base that differs from the URL of the document. Browsers ignore a base that
    /// only a comment of a saved page records.
    fn base_is_elsewhere(&self, base: &LinkBase<'_>) -> bool {
        let fallback = self
            .chain
            .fallback
            .as_ref()
            .map(|outer| without_fragment(&outer.url));
        base.rule == Rule::Embedded
            && self.chain.source.kind() != SourceKind::Note
            && base
                .prepared
                .map(|prepared| without_fragment(&prepared.url))
                != fallback
    }

    /// True if the reference as written is the label of a part of the message.
    fn names_a_part(&self, link: &LinkReport) -> bool {
        link.reason == Some(Reason::SiblingPart)
            || self
                .around
                .labels
                .is_some_and(|labels| labels.contains_key(without_fragment(&link.reference)))
    }

    /// True if a mail reader finds the target in the message itself. Such a reader ignores the base, and compares
    /// labels octet by octet (RFC 2557, 8.2), except that a space equals `%20`.
    fn means_a_part(&self, reference: &str, against: &Against) -> bool {
        let is_from_outside = match against {
            Against::Element(index) | Against::Codebase(Some(index), _) => self
                .chain
                .elements
                .get(*index)
                .is_some_and(|element| element.is_from_outside),
            _ => self.chain.is_from_outside,
        };
        self.around.labels.is_some_and(|labels| {
            // A label has `%20` for a space.
            let is_label =
                |url: &str| labels.contains_key(&*without_fragment(url).replace(' ', "%20"));
            let located = || self.around.location?.resolve(reference).ok();
            (is_from_outside && is_label(reference))
                || located().is_some_and(|target| is_label(&target.url))
        })
    }
}

/// The resolvers under which a reference that climbs above the root has another target than under `resolver`. Only
/// RFC 1808 keeps the excess `..`.
fn above_root_differs(resolver: Resolver) -> Under {
    Resolver::ALL.map(|other| (other == Resolver::Rfc1808) != (resolver == Resolver::Rfc1808))
}

/// The resolvers that disagree on the absolute `reference`: they see a relative reference, or another `target`.
fn absolute_differs(
    reference: &str,
    target: Option<&str>,
    prepared: Option<&PreparedBase>,
) -> Under {
    let only = |other: Resolver, differs: bool| Resolver::ALL.map(|one| differs && one == other);
    if resolve::is_agreed_absolute(reference) {
        return NOWHERE;
    }
    let Some(prepared) = prepared else {
        return only(Resolver::Rfc3986, has_rfc1808_scheme(reference));
    };
    if reference::scheme(Resolver::Rfc1808, reference).is_none() {
        // Only a browser sees the scheme. If the base has the same scheme, the browser sees a relative reference.
        let browser = prepare(Resolver::Whatwg, &prepared.parsed, prepared.charset);
        return only(Resolver::Whatwg, browser.is_relative(reference));
    }
    prepared.differs(reference, target)
}

/// True if only RFC 1808 sees a scheme in `reference`: it allows a digit or a mark as the first character.
fn has_rfc1808_scheme(reference: &str) -> bool {
    let has_scheme = |resolver| reference::scheme(resolver, reference).is_some();
    has_scheme(Resolver::Rfc1808) != has_scheme(Resolver::Rfc3986)
}

/// The common tail of `reference` and `text`, whose bytes are kept. The first character of `text` is excluded,
/// because it may need another spelling in its new place.
fn kept_tail(reference: &str, text: &str) -> Vec<Kept> {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let len = common_tail(reference, &text[first..]);
    let tail = Span::new(reference.len() - len, reference.len());
    let kept = Kept {
        reference: tail,
        url: text.len() - len,
    };
    if len > 0 { vec![kept] } else { Vec::new() }
}

/// True if `character` occurs in a part of `reference` that is not kept.
fn removes_char(kept: &[Kept], reference: &str, character: char) -> bool {
    let count = |text: &str| text.matches(character).count();
    kept.iter()
        .map(|one| count(&reference[one.reference.range()]))
        .sum::<usize>()
        < count(reference)
}

/// The edits that write a rewritten link: its target, of which the reference has the `kept` parts, or the `chosen` text; and the
/// text of the edited reference if it differs from the new one.
fn spell_link(
    report: &LinkReport,
    link: &Link,
    kept: &[Kept],
    chosen: Option<&str>,
    encodings: (Charset, &[(Spelling, Charset)]),
) -> Result<(Vec<Edit<'static>>, Option<String>), Reason> {
    let (reference, target) = (&*report.reference, report.target.as_deref());
    let new = chosen.or(target).unwrap_or_default();
    let tail = chosen.map(|text| kept_tail(reference, text));
    let kept = tail.as_deref().unwrap_or(kept);
    let is_raw = link.spelling.carrier == Carrier::Raw && !report.element.is_empty();
    if is_raw && removes_char(kept, reference, '<') {
        // The removed `<` may hide a following `meta` from a prescan (HTML, 13.2.3.2).
        return Err(Reason::Encoding);
    }
    let spell = |kept: &[Kept]| spell_target((new, kept), reference, link, encodings);
    match spell(kept) {
        // The common tail begins in the middle of an escape.
        Err(Reason::Escape) if chosen.is_some() => spell(&[]),
        spelled => spelled,
    }
}

/// The edits that replace `reference` by `target`, except for the `kept` parts; and the text of the edited
/// reference if it differs from the target.
fn spell_target(
    (target, kept): (&str, &[Kept]),
    reference: &str,
    link: &Link,
    (charset, enclosing): (Charset, &[(Spelling, Charset)]),
) -> Result<(Vec<Edit<'static>>, Option<String>), Reason> {
    let spelling = link.spelling;
    let length = reference.len();
    let map = link.map.as_ref().ok_or(if length == 0 {
        Reason::NoValue
    } else {
        Reason::Escape
    })?;
    let mut edits = Vec::with_capacity(1);
    // The text of the edited reference, from the first difference to the target.
    let mut written: Option<String> = None;
    let (mut reference_at, mut url_at) = (0, 0);
    let end = (length, target.len(), 0);
    let kept = kept
        .iter()
        .map(|one| (one.reference.start, one.url, one.reference.len()));
    for (reference_to, url_to, kept) in kept.chain([end]) {
        let new = &target[url_at..url_to];
        let gap = Span::new(reference_at, reference_to);
        if !(new.is_empty() && gap.is_empty()) {
            let wanted = new;
            let new = spelling.adapt(wanted, reference_to == length, charset);
            // A character that an enclosing value cannot escape cannot be written in the document either.
            let new = enclosing.iter().fold(new, |new, (around, beneath)| {
                Cow::Owned(around.adapt(&new, false, *beneath).into_owned())
            });
            if new.contains('\u{fffd}') {
                return Err(Reason::Undecodable);
            }
            let mut spelled = spelling.spell(&new, charset).ok_or(Reason::Encoding)?;
            if target.is_empty() && spelling.carrier == Carrier::Attribute(Quote::None) {
                // Without quotation marks, the text after the `=` would become the value.
                spelled = charset.encode("\"\"").ok_or(Reason::Encoding)?;
            }
            let next = new
                .chars()
                .next()
                .or_else(|| reference[reference_to..].chars().next());
            edits.push(lift(map, gap, spelled, next, charset).ok_or(Reason::Escape)?);
            if new != wanted && written.is_none() {
                written = Some(target[..url_at].to_owned());
            }
            if let Some(written) = &mut written {
                written.push_str(&new);
            }
        }
        if let Some(written) = &mut written {
            written.push_str(&target[url_to..url_to + kept]);
        }
        reference_at = reference_to + kept;
        url_at = url_to + kept;
    }
    Ok((edits, written))
}

/// True if the reference is the value of an `xml:base`, and not of an attribute that only looks like one.
fn declares_xml_base(link: &Link) -> bool {
    link.attribute.as_deref() == Some("xml:base") && !link.fragment_identifies
}

/// The reason, if any, to keep a reference of this form: one that is empty, or that identifies an element.
#[inline(always)]
fn kept_form(raw: &[u8], empty_resolves: bool, fragment_identifies: bool) -> Option<Reason> {
    match raw.first() {
        None if !empty_resolves => Some(Reason::Empty),
        Some(b'#') if fragment_identifies => Some(Reason::IdReference),
        _ => None,
    }
}

/// True if a reference is empty or a fragment, and not `#{` or `#link#`: placeholders, perhaps spelled with escapes.
#[inline(always)]
fn is_fragment(raw: &[u8]) -> bool {
    match raw {
        [] | [b'#'] => true,
        [b'#', rest @ ..] => rest[0] != b'{' && memchr::memchr3(b'#', b'&', b'\\', rest).is_none(),
        _ => false,
    }
}

/// True if a value begins with an unescaped scheme, so that it is absolute in both RFCs.
#[inline(always)]
fn is_absolute(value: &[u8]) -> bool {
    value.first().is_some_and(u8::is_ascii_alphabetic)
        && value
            .iter()
            .find(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')))
            == Some(&b':')
}

/// True if all character references in a value are `&amp;` and come after its path, where neither `&` nor `;` is
/// special to a resolver.
fn has_plain_references(value: &[u8]) -> bool {
    let Some(first) = memchr::memchr(b'&', value) else {
        return true;
    };
    memchr::memchr2(b'?', b'#', &value[..first]).is_some()
        && memchr::memchr_iter(b'&', &value[first..])
            .all(|at| value[first + at..].starts_with(b"&amp;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_values_are_recognised() {
        for value in ["http://a/", "mailto:x", "x+y:z", "a:"] {
            assert!(is_absolute(value.as_bytes()), "{value}");
        }
        for value in [
            "",
            ":",
            "a",
            "a/b:c",
            "1:2",
            " a:b",
            "&#97;:b",
            "a&colon;b",
            "é:a",
        ] {
            assert!(!is_absolute(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn character_references_that_change_nothing() {
        for value in ["", "a", "a?b&amp;c", "?&amp;&amp;", "#&amp;"] {
            assert!(has_plain_references(value.as_bytes()), "{value}");
        }
        for value in [
            "a&amp;b",
            "a?b&c",
            "?&amp;&copy;",
            "a&#63;b&amp;",
            "&quest;&amp;",
        ] {
            assert!(!has_plain_references(value.as_bytes()), "{value}");
        }
    }
}
