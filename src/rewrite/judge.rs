//! The outcome of each link of one document, and the edits that make it.
//!
//! A reference is judged in a fixed order: absolute ones, ones that stay for a [`Reason`], ones without a
//! base, and at last those with a target (RFC 1808, 4). What of a target is new is spelled for its place
//! and lifted to the document's bytes.
//!
//! ```
//! use baselink::{Options, Outcome, Reason, rewrite};
//! let report = rewrite(b"<img src=x><img src=cid:x><img usemap='#x'>", &Options::at("http://a/")).report;
//! let outcomes: Vec<_> = report.links.iter().map(|link| link.outcome).collect();
//! assert_eq!(outcomes, [Outcome::Rewritten, Outcome::Absolute]);
//! ```
//!
//! Deliberately absent: which base a document has.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::copies::Copies;
use super::crawled::Crawler;
use super::judged::Judged;
use super::options::{BaseElement, Choice, Fragments, Options};
use super::prepared::{NOWHERE, PreparedBase, Under, prepare};
use super::totals::LinkBases;
use crate::base::{self, BaseChain, Established, Rule, SaidBy, Source};
use crate::diagnostic::Diagnostic;
use crate::document::{Against, LONGEST_BASE, Link};
use crate::edit::Edit;
use crate::layer::charset::Charset;
use crate::layer::escape::Quote;
use crate::layer::spelling::{Carrier, Spelling};
use crate::layer::{OffsetMap, lift};
use crate::reference::{self, Grammar};
use crate::report::{LinkReport, Outcome, Reason};
use crate::resolve::{self, Base, Kept, Profile, Splice, Target};
use crate::scan::block::holds;
use crate::scan::html::pass::Plain;
use crate::span::Span;

/// What of the surroundings of a document decides on its links.
#[derive(Clone, Copy, Default)]
pub(super) struct Surroundings<'a> {
    /// Why none of its links may change.
    pub(super) kept: Option<Reason>,
    /// The relative `Content-Location`s of the parts that its references can mean (RFC 2557, 8.2).
    pub(super) labels: Option<&'a Labels>,
    /// The `file:` URL that is the label of the part itself, and to which they are relative then.
    pub(super) location: Option<&'a Base>,
    /// By how much its links may become longer, where there is a bound.
    pub(super) room: Option<usize>,
}

impl Surroundings<'_> {
    fn has_labels(&self) -> bool {
        self.labels.is_some_and(|labels| !labels.is_empty())
    }
}

/// Relative `Content-Location`s, and how many open multiparts have a part with each.
pub(super) type Labels = HashMap<Box<str>, usize>;

/// Judges the links of one document.
pub(super) struct Judge<'a> {
    chain: &'a BaseChain,
    options: &'a Options,
    around: Surroundings<'a>,
    fragments: Fragments,
    /// What saved the document, where references may be as that wrote them.
    crawler: Option<Crawler>,
    copies: Option<Copies<'a>>,
    charset: Charset,
    /// Whether the first arm may be asked.
    is_short: bool,
    /// Whether it may splice: the base can serve, and its prefixes are spelled alike wherever they come to lie.
    splices: bool,
    /// What nearly every link is resolved against: the document base URL.
    document: Option<PreparedBase>,
    /// For references that lack nothing but a scheme, where there is no base.
    assumed: Option<PreparedBase>,
    others: HashMap<Against, PreparedBase>,
}

/// What becomes of a reference as it lies in the bytes, where that can be said at once.
pub(super) enum Short<'a> {
    /// It stays.
    Stays(Outcome, Option<Reason>),
    /// Its target is this.
    Splice(Splice<'a>),
}

impl<'a> Judge<'a> {
    /// For the links of a document in `charset` that has the base of `chain`.
    pub(super) fn new(
        charset: Charset,
        chain: &'a BaseChain,
        options: &'a Options,
        around: Surroundings<'a>,
    ) -> Self {
        let prepare = |url| PreparedBase::new(url, options, charset);
        let assumed =
            chain.assumed_scheme.as_ref().map(|scheme| prepare(base::stand_in(scheme).into()));
        let mut judge = Self {
            chain,
            options,
            around,
            charset,
            assumed,
            fragments: options.fragments_in(chain),
            crawler: Crawler::of(chain, options),
            copies: Copies::of(chain, options),
            document: None,
            others: HashMap::new(),
            is_short: false,
            splices: false,
        };
        judge.document = judge.made(&Against::Document);
        judge.is_short = around.kept.is_none() && options.destination.is_none();
        judge.splices = judge.document.as_ref().is_some_and(|document| {
            document.usable && document.is_spelled_anywhere() && !around.has_labels()
        });
        judge
    }

    /// The first arm, on a reference as it lies in `bytes`: it is empty or a fragment that stays, it has a scheme, or
    /// its target is a prefix of the base and its own tail. `None` where more has to be looked at.
    #[inline(always)]
    pub(super) fn short(&self, bytes: &[u8], found: &Plain) -> Option<Short<'_>> {
        if !self.is_short {
            return None;
        }
        let reference = &bytes[found.span.range()];
        match reference {
            [] if !found.empty_resolves => {
                return Some(Short::Stays(Outcome::Left, Some(Reason::Empty)));
            }
            // `#{` begins a placeholder.
            [] | [b'#', b'{', ..] => return None,
            [b'#', ..] if found.fragment_identifies => {
                return Some(Short::Stays(Outcome::Left, Some(Reason::IdReference)));
            }
            [b'#', ..] if self.fragments != Fragments::Rewrite => return None,
            _ => {}
        }
        if is_absolute(reference) && self.options.profile != Profile::Whatwg {
            return Some(Short::Stays(Outcome::Absolute, None));
        }
        if !self.splices || self.may_ask_beside(reference) {
            return None;
        }
        let splice = self.document.as_ref()?.base.splice(reference)?;
        let is_spelled = !(found.enclosed && found.quote == Quote::None);
        // Hardly a reference has a `&`, and to look for it here costs less than the call.
        if is_spelled && (!holds(bytes, found.span, [b'&']) || has_plain_references(reference)) {
            Some(Short::Splice(splice))
        } else {
            None
        }
    }

    /// The report of a reference on which [`short`](Self::short) has decided; `None` where its bytes are not its
    /// characters, or another profile may see something else.
    pub(super) fn report(
        &self,
        short: &Short<'_>,
        bytes: &[u8],
        found: &Plain,
    ) -> Option<LinkReport> {
        let raw = &bytes[found.span.range()];
        // Without a branch, so that many are looked at at once.
        let is_itself = |byte: &u8| byte.is_ascii_graphic() & (*byte != b'&');
        if !raw.iter().fold(true, |all, byte| all & is_itself(byte)) {
            return None;
        }
        let reference = str::from_utf8(raw).ok()?;
        let name = |name: Span| &bytes[name.range()];
        let (element, attribute) = match found.names {
            // Of a longer name only the beginning is kept.
            Some((element, attribute, row)) if element.len() <= 64 => {
                (row.element(name(element))?, Some(row.attribute(name(attribute))?))
            }
            Some(_) => return None,
            None => (Cow::Borrowed("style"), None),
        };
        let (outcome, reason, target) = match short {
            Short::Stays(Outcome::Absolute, _) if !resolve::is_agreed_absolute(reference) => {
                return None;
            }
            Short::Stays(outcome, reason) => {
                let is_absolute = *outcome == Outcome::Absolute;
                (*outcome, *reason, is_absolute.then(|| reference.to_owned()))
            }
            Short::Splice(Splice { prefix, dropped }) => {
                let target = [prefix, &reference[*dropped..]].concat();
                (Outcome::Rewritten, None, Some(target))
            }
        };
        let LinkBases::One(base, rule, source) = self.base_of_plain() else { return None };
        Some(LinkReport {
            entity: Arc::clone(&self.chain.entity),
            span: found.span,
            element,
            attribute,
            reference: reference.to_owned(),
            base,
            rule,
            source,
            target,
            written: None,
            outcome,
            reason,
            differs: false,
            differs_under: NOWHERE,
            is_editable: true,
        })
    }

    /// The base of links that the first arm judges, as a report has it.
    pub(super) fn base_of_plain(&self) -> LinkBases {
        let known = self.document.as_ref().map(|document| &document.url);
        match known.filter(|url| url.len() <= LONGEST_BASE) {
            Some(url) => LinkBases::One(Some(Arc::clone(url)), self.chain.rule, self.chain.source),
            None => LinkBases::One(None, Rule::Default, Source::Default),
        }
    }

    /// Makes links ready that are resolved against this.
    fn prepare(&mut self, against: &Against) {
        if *against == Against::Document || self.others.contains_key(against) {
            return;
        }
        if let Some(prepared) = self.made(against) {
            self.others.insert(against.clone(), prepared);
        }
    }

    /// The base of links that are resolved against this.
    fn made(&self, against: &Against) -> Option<PreparedBase> {
        let prepared = PreparedBase::new(self.base_of(against)?, self.options, self.charset);
        Some(match self.options.layout(self.chain, against) {
            Some(layout) => prepared.in_layout(layout),
            None => prepared,
        })
    }

    fn prepared(&self, against: &Against) -> Option<&PreparedBase> {
        match against {
            Against::Document => self.document.as_ref(),
            other => self.others.get(other),
        }
    }

    /// The URL that references of this kind are resolved against.
    fn base_of(&self, against: &Against) -> Option<Arc<str>> {
        let document = self.chain.base.as_ref();
        let url = |established: &Established| Arc::clone(&established.url);
        match against {
            Against::Document => document.cloned(),
            Against::Fallback => self.chain.fallback.as_ref().map(url),
            Against::Retrieval => self.chain.retrieval.as_ref().map(url),
            Against::Codebase(_) if self.options.profile == Profile::Whatwg => document.cloned(),
            Against::Codebase(codebase) => self.inner(document.cloned(), codebase),
            Against::Inner(chain) => {
                let document = self.chain.document.as_ref().map(url);
                chain.iter().fold(document, |base, inner| self.inner(base, inner))
            }
            Against::DocumentEntity => self.chain.document.as_ref().map(url),
            Against::Element(index) => self.element(*index).map(url),
            Against::ElementCodebase(index, codebase) => {
                let element = self.element(*index).map(url);
                if self.options.profile == Profile::Whatwg {
                    return element;
                }
                self.inner(element, codebase)
            }
            Against::Nothing | Against::Unknown => None,
        }
    }

    /// What gives `link` a scheme, where no base is `known` and it lacks nothing else.
    fn assumed(&self, link: &Link, known: Option<&PreparedBase>) -> Option<&PreparedBase> {
        let may_be = !matches!(link.against, Against::Nothing | Against::Unknown);
        self.assumed.as_ref().filter(|_| {
            known.is_none()
                && may_be
                && base::lacks_only_scheme(&link.reference, self.options.profile)
        })
    }

    /// The base of an element that has or inherits an `xml:base`.
    fn element(&self, index: usize) -> Option<&Established> {
        self.chain.elements.get(index)?.base.as_ref()
    }

    /// `reference` as a base, itself relative to `outer`; `outer` where it cannot be resolved.
    fn inner(&self, outer: Option<Arc<str>>, reference: &str) -> Option<Arc<str>> {
        if reference::placeholder(reference).is_some() {
            return Some(reference.into());
        }
        let profile = self.options.profile;
        match outer {
            Some(outer) => Some(match Base::new(profile, &outer).resolve(reference) {
                Ok(target) => target.url.into(),
                Err(_) => outer,
            }),
            None => match (Base::parse(profile, reference), &self.assumed) {
                (Ok(base), _) => Some(base.as_str().into()),
                (Err(_), Some(assumed)) if base::lacks_only_scheme(reference, profile) => {
                    assumed.base.resolve(reference).ok().map(|target| target.url.into())
                }
                (Err(_), _) => None,
            },
        }
    }

    /// Judges a link of a document whose bytes, or whose text, are in `charset`, and which lies in the
    /// values `carried`.
    pub(super) fn link(
        &mut self,
        link: Link,
        charset: Charset,
        carried: &[(Spelling, Charset)],
    ) -> Judged {
        self.prepare(&link.against);
        let known = self.prepared(&link.against);
        let assumed = self.assumed(&link, known);
        let prepared = known.or(assumed);
        // A base that is too long to be used is not repeated for every link either.
        let base = known
            .filter(|prepared| prepared.url.len() <= LONGEST_BASE)
            .map(|prepared| Arc::clone(&prepared.url));
        let established = match &link.against {
            Against::Fallback => self.chain.fallback.as_ref(),
            Against::Retrieval => self.chain.retrieval.as_ref(),
            Against::DocumentEntity => self.chain.document.as_ref(),
            Against::Element(index) | Against::ElementCodebase(index, _) => self.element(*index),
            _ => None,
        };
        let (rule, source) = match (&base, established) {
            (None, _) if assumed.is_some() => (Rule::Default, Source::AssumedScheme),
            (None, _) => (Rule::Default, Source::Default),
            (Some(_), Some(established)) => (established.rule, established.source),
            (Some(_), None) => (self.chain.rule, self.chain.source),
        };
        let verdict = self.judge(&link, prepared, rule);
        let declares_base =
            link.against == Against::Fallback || link.attribute.as_deref() == Some("xml:base");
        let mut judged = Judged {
            declares_base,
            report: LinkReport {
                entity: Arc::clone(&self.chain.entity),
                span: link.span(),
                element: link.element.into(),
                attribute: link.attribute.map(Cow::Owned),
                reference: link.reference,
                base,
                rule,
                source,
                target: None,
                written: None,
                outcome: Outcome::Left,
                reason: None,
                differs: false,
                differs_under: NOWHERE,
                is_editable: link.map.is_some() && self.around.kept.is_none(),
            },
            edits: Vec::new(),
        };
        // What is signed stays, be it absolute.
        let destination = self.options.destination.as_ref().filter(|_| self.around.kept.is_none());
        let report = &mut judged.report;
        let mut target = match verdict {
            Verdict::Absolute => {
                report.outcome = Outcome::Absolute;
                report.differs_under = absolute_differs(&report.reference, prepared);
                report.differs = report.differs_under != NOWHERE;
                report.target = Some(report.reference.clone());
                None
            }
            Verdict::NoBase => {
                report.outcome = Outcome::NoBase;
                report.differs = is_absolute_to_one(&report.reference);
                None
            }
            Verdict::Left(reason) => {
                let differs = || Some(prepared?.differs(&report.reference, None));
                report.differs = reason == Reason::Unresolvable
                    && differs().is_some_and(|under| under != NOWHERE);
                report.reason = Some(reason);
                None
            }
            Verdict::Target { target, is_agreed } => {
                report.outcome = Outcome::Rewritten;
                if let Some(prepared) = prepared.filter(|_| !is_agreed) {
                    report.differs_under = prepared.differs(&report.reference, Some(&target.url));
                    report.differs = report.differs_under != NOWHERE;
                }
                // Whoever chooses is told; else it is needed until it is spelled.
                report.target = destination.map(|_| target.url.clone());
                Some(target)
            }
        };
        let choice = match destination {
            Some(destination) if report.target.is_some() => {
                destination.choose(report, &link.against)
            }
            Some(_) if report.reason == Some(Reason::LocalCopy) => {
                let encoded = self.copies.as_ref().and_then(|one| one.encoded(&report.reference));
                encoded.map_or(Choice::Target, Choice::Reference)
            }
            _ => Choice::Target,
        };
        let mut chosen = None;
        match choice {
            Choice::Reference(text) if text != report.reference => {
                (report.outcome, report.reason) = (Outcome::Rewritten, None);
                target = Some(in_place_of(&report.reference, &text));
                chosen = Some(text);
            }
            Choice::Reference(_) if report.outcome == Outcome::Rewritten => {
                target = None;
                report.stay(Reason::Chosen);
            }
            Choice::Kept if report.outcome == Outcome::Rewritten => {
                target = None;
                report.stay(Reason::Kept);
            }
            _ => {}
        }
        if let Some(target) = target {
            let places = (link.spelling, charset, carried);
            let reference = &judged.report.reference;
            let is_raw = link.spelling.carrier == Carrier::Raw && !judged.report.element.is_empty();
            let mut spelled = match is_raw && removes_char(&target, reference, '<') {
                // It may be what keeps a prescan from a `meta` after it (HTML, 13.2.3.3).
                true => Err(Reason::Encoding),
                false => spell_target(&target, reference, link.map.as_ref(), places),
            };
            if spelled == Err(Reason::Escape) && chosen.is_some() {
                // What both have in common begins in the middle of an escape.
                let whole = Target { kept: Vec::new(), url: target.url.clone() };
                spelled = spell_target(&whole, reference, link.map.as_ref(), places);
            }
            match spelled {
                Ok((edits, written)) => {
                    judged.edits = edits;
                    judged.report.written = written.or(chosen);
                }
                Err(reason) => judged.refuse(reason),
            }
            if destination.is_none() {
                judged.report.target = Some(target.url);
            }
        }
        judged
    }

    /// Whether what lies beside the document may matter for a reference, as it lies in the bytes.
    #[inline(always)]
    fn may_ask_beside(&self, raw: &[u8]) -> bool {
        self.copies.as_ref().is_some_and(|copies| copies.may_hold(raw))
            || self.crawler.is_some_and(|crawler| crawler.may_have_written(raw))
    }

    /// Takes in a link, if it leads to a local copy.
    pub(super) fn count_copy(&self, link: &LinkReport, span: Span) {
        if link.reason == Some(Reason::LocalCopy)
            && let Some(copies) = &self.copies
        {
            copies.count(&link.reference, span);
        }
    }

    /// Says how many of the local copies are missing that were counted.
    pub(super) fn missing_copies(&self) -> Option<Diagnostic> {
        self.copies.as_ref()?.missing()
    }

    fn judge(&self, link: &Link, prepared: Option<&PreparedBase>, rule: Rule) -> Verdict {
        let reference = link.reference.as_str();
        let profile = self.options.profile;
        let grammar = if profile == Profile::Rfc1808 { Grammar::Rfc1808 } else { Grammar::Rfc3986 };
        let splice = prepared.and_then(|prepared| prepared.base.splice(reference.as_bytes()));
        if splice.is_none() {
            if reference::has_opaque_scheme(reference)
                && !(profile == Profile::Whatwg
                    && prepared.is_some_and(|prepared| prepared.base.is_relative(reference)))
            {
                return Verdict::Absolute;
            }
            if reference::placeholder(reference).is_some() {
                return Verdict::Left(Reason::Placeholder);
            }
            if profile != Profile::Whatwg && reference::scheme(grammar, reference).is_some() {
                return Verdict::Absolute;
            }
        }
        if let Some(reason) = self.around.kept {
            return Verdict::Left(reason);
        }
        if link.against == Against::Unknown {
            return Verdict::Left(Reason::Entity);
        }
        if reference.is_empty() && !link.empty_resolves {
            return Verdict::Left(Reason::Empty);
        }
        if reference.starts_with('#') {
            if link.fragment_identifies {
                return Verdict::Left(Reason::IdReference);
            }
            let kept = match self.fragments {
                Fragments::Rewrite => false,
                Fragments::Keep => true,
                Fragments::Auto => !self.base_is_elsewhere(prepared, rule),
            };
            if kept {
                return Verdict::Left(Reason::Fragment);
            }
        }
        if self.copies.as_ref().is_some_and(|copies| copies.has(reference, &link.against)) {
            return Verdict::Left(Reason::LocalCopy);
        }
        let declares = declares_base(link);
        if (link.against == Against::Fallback
            && (self.options.base_element == BaseElement::Keep
                || self.is_written_by_browser(prepared)))
            || (declares && self.options.base_element == BaseElement::Keep)
            || (declares && !self.chain.honours_xml_base)
        {
            return Verdict::Left(Reason::BaseElement);
        }
        let Some(prepared) = prepared else {
            return Verdict::NoBase;
        };
        if self.means_a_part(reference, &link.against) {
            return Verdict::Left(Reason::SiblingPart);
        }
        if !prepared.usable {
            return Verdict::Left(Reason::BaseUnusable);
        }
        if let Some(target) = self.before_the_crawl(reference, &link.against, prepared) {
            return Verdict::Target { target, is_agreed: true };
        }
        if let Some(splice) = splice {
            let mut target = Target::default();
            prepared.base.spliced(reference, splice, &mut target);
            return Verdict::Target { target, is_agreed: true };
        }
        // Browsers would percent-encode a placeholder; and a base that is not known yet stays so.
        if (profile == Profile::Whatwg || link.against == Against::Fallback || declares)
            && reference::contains_placeholder(reference)
        {
            return Verdict::Left(Reason::Placeholder);
        }
        match prepared.base.resolve(reference) {
            // No profile has a say in where folders lead.
            Ok(target) => {
                let is_agreed = prepared.base.leads_through_layout(reference);
                Verdict::Target { target, is_agreed }
            }
            Err(_) => Verdict::Left(Reason::Unresolvable),
        }
    }

    /// The target of `reference` as it was before a crawler made it lead to a file that it saved.
    fn before_the_crawl(
        &self,
        reference: &str,
        against: &Against,
        prepared: &PreparedBase,
    ) -> Option<Target> {
        let is_of_document = matches!(against, Against::Document | Against::DocumentEntity);
        let crawler = self.crawler.filter(|_| is_of_document)?;
        let original = crawler.undo(reference, self.options.beside()?)?;
        let target = prepared.base.resolve(&original).ok()?;
        Some(in_place_of(reference, &target.url))
    }

    /// Whether a `base` element is one that a browser wrote, and nobody chooses what comes in its place.
    fn is_written_by_browser(&self, prepared: Option<&PreparedBase>) -> bool {
        // Without the comment before it only the element tells that the page was saved.
        let is_told_otherwise = self.chain.saved.is_some();
        let is_chosen =
            self.options.destination.is_some() && prepared.is_some() && is_told_otherwise;
        self.chain.has_written_base && !is_chosen
    }

    /// Whether a base is embedded that is not where the document is, and in force in a browser: one that a page had
    /// before it was saved is not.
    fn base_is_elsewhere(&self, prepared: Option<&PreparedBase>, rule: Rule) -> bool {
        let fallback = self.chain.fallback.as_ref().map(|outer| without_fragment(&outer.url));
        rule == Rule::Embedded
            && self.chain.source.said_by() != SaidBy::Note
            && prepared.map(|prepared| without_fragment(&prepared.url)) != fallback
    }

    /// Whether a reader of the message finds what is meant in the message itself: it knows no base, and
    /// compares octet by octet (RFC 2557, 8.2).
    fn means_a_part(&self, reference: &str, against: &Against) -> bool {
        let labels = self.around.labels.filter(|labels| !labels.is_empty());
        let is_from_outside = match against {
            Against::Element(index) | Against::ElementCodebase(index, _) => {
                self.chain.elements.get(*index).is_some_and(|element| element.is_from_outside)
            }
            _ => self.chain.is_from_outside,
        };
        labels.is_some_and(|labels| {
            let is_one = |url: &str| labels.contains_key(without_fragment(url));
            let located = || self.around.location?.resolve(reference).ok();
            (is_from_outside && is_one(reference))
                || located().is_some_and(|target| is_one(&target.url))
        })
    }
}

/// Which profiles disagree on `reference`, which is absolute: they take it for relative to the base, or read it
/// otherwise.
fn absolute_differs(reference: &str, prepared: Option<&PreparedBase>) -> Under {
    let only = |other: Profile, differs: bool| Profile::ALL.map(|one| differs && one == other);
    if resolve::is_agreed_absolute(reference) {
        return NOWHERE;
    }
    let Some(prepared) = prepared else {
        return only(Profile::Rfc3986, is_absolute_to_one(reference));
    };
    if reference::scheme(Grammar::Rfc1808, reference).is_none() {
        // A browser alone sees the scheme, and is believed, unless that is the one of the base.
        let browser = prepare(Profile::Whatwg, &prepared.looked_at, prepared.charset);
        return only(Profile::Whatwg, browser.is_relative(reference));
    }
    match prepared.base.profile() {
        // What a browser makes of it is not what is reported.
        Profile::Whatwg => {
            let own = prepared.base.resolve(reference).ok();
            prepared.differs(reference, own.as_ref().map(|own| &*own.url))
        }
        Profile::Rfc1808 | Profile::Rfc3986 => prepared.differs(reference, Some(reference)),
    }
}

/// Whether it has a scheme to RFC 1808 only, which lets one begin with a digit.
fn is_absolute_to_one(reference: &str) -> bool {
    let has_scheme = |grammar| reference::scheme(grammar, reference).is_some();
    has_scheme(Grammar::Rfc1808) != has_scheme(Grammar::Rfc3986)
}

/// Whether it is an `xml:base`.
fn declares_base(link: &Link) -> bool {
    link.attribute.as_deref() == Some("xml:base") && !link.fragment_identifies
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

/// What is to become of a link.
enum Verdict {
    Absolute,
    NoBase,
    Left(Reason),
    Target {
        target: Target,
        /// Whether all profiles are known to see it.
        is_agreed: bool,
    },
}

/// `text` as the target of `reference`: the tail that both have in common keeps its bytes, but for the first
/// character, which may need another spelling where it comes to stand.
fn in_place_of(reference: &str, text: &str) -> Target {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let pairs = reference.bytes().rev().zip(text[first..].bytes().rev());
    let mut len = pairs.take_while(|(a, b)| a == b).count();
    while !text.is_char_boundary(text.len() - len)
        || !reference.is_char_boundary(reference.len() - len)
    {
        len -= 1;
    }
    let kept = Kept {
        reference: Span::new(reference.len() - len, reference.len()),
        url: text.len() - len,
    };
    Target { url: text.to_owned(), kept: if len > 0 { vec![kept] } else { Vec::new() } }
}

/// Whether `character` occurs in a part of `reference` that is not kept in `target`.
fn removes_char(target: &Target, reference: &str, character: char) -> bool {
    let count = |text: &str| text.matches(character).count();
    let kept = target.kept.iter().map(|one| count(&reference[one.reference.range()]));
    kept.sum::<usize>() < count(reference)
}

/// The edits that put `target` in the place of `reference`, and, where that is not the target, what the
/// reference reads as then.
fn spell_target(
    target: &Target,
    reference: &str,
    map: Option<&OffsetMap>,
    (spelling, charset, carried): (Spelling, Charset, &[(Spelling, Charset)]),
) -> Result<(Vec<Edit<'static>>, Option<String>), Reason> {
    let length = reference.len();
    let map = map.ok_or(if length == 0 { Reason::NoValue } else { Reason::Escape })?;
    let mut edits = Vec::with_capacity(1);
    // What the reference reads as, from the first place on where that is not the target.
    let mut written: Option<String> = None;
    let (mut reference_at, mut url_at) = (0, 0);
    let end = (length, target.url.len(), 0);
    let kept = target.kept.iter().map(|one| (one.reference.start, one.url, one.reference.len()));
    for (reference_to, url_to, kept) in kept.chain([end]) {
        let new = &target.url[url_at..url_to];
        let gap = Span::new(reference_at, reference_to);
        if !(new.is_empty() && gap.is_empty()) {
            let wanted = new;
            let new = spelling.adapt(wanted, reference_to == length, charset);
            // What a value around the document has no escape for cannot stand in the document.
            let new = carried.iter().fold(new, |new, (around, beneath)| {
                Cow::Owned(around.adapt(&new, false, *beneath).into_owned())
            });
            if new.contains('\u{fffd}') {
                return Err(Reason::Undecodable);
            }
            let mut spelled = spelling.spell(&new, charset).map_err(|_| Reason::Encoding)?;
            if target.url.is_empty() && spelling.carrier == Carrier::Attribute(Quote::None) {
                // Without a value, what follows the `=` would become the value.
                spelled = charset.encode("\"\"").map_err(|_| Reason::Encoding)?;
            }
            let next = new.chars().next().or_else(|| reference[reference_to..].chars().next());
            edits.push(lift(map, gap, spelled, next).ok_or(Reason::Escape)?);
            if new != wanted && written.is_none() {
                written = Some(target.url[..url_at].to_owned());
            }
            if let Some(written) = &mut written {
                written.push_str(&new);
            }
        }
        if let Some(written) = &mut written {
            written.push_str(&target.url[url_to..url_to + kept]);
        }
        reference_at = reference_to + kept;
        url_at = url_to + kept;
    }
    Ok((edits, written))
}

/// Whether a value begins with a scheme, written as it is, so that it is absolute to both RFCs.
#[inline(always)]
fn is_absolute(value: &[u8]) -> bool {
    let is_of_scheme =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    value.first().is_some_and(u8::is_ascii_alphabetic)
        && value.iter().find(|byte| !is_of_scheme(byte)) == Some(&b':')
}

/// Whether all character references in a value are `&amp;`, and after its path, where neither the `&`
/// nor the `;` means anything to a resolver.
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
    fn what_is_absolute_as_it_stands() {
        for value in ["http://a/", "mailto:x", "x+y:z", "a:"] {
            assert!(is_absolute(value.as_bytes()), "{value}");
        }
        for value in ["", ":", "a", "a/b:c", "1:2", " a:b", "&#97;:b", "a&colon;b", "é:a"] {
            assert!(!is_absolute(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn character_references_that_change_nothing() {
        for value in ["", "a", "a?b&amp;c", "?&amp;&amp;", "#&amp;"] {
            assert!(has_plain_references(value.as_bytes()), "{value}");
        }
        for value in ["a&amp;b", "a?b&c", "?&amp;&copy;", "a&#63;b&amp;", "&quest;&amp;"] {
            assert!(!has_plain_references(value.as_bytes()), "{value}");
        }
    }
}
