//! READ FIRST: from a document and what is known of it to the outcome of every link, and to the edits.
//!
//! ```text
//! bytes --scan--> Document --base--> BaseChain
//!                    |                   |
//!                  Link --reference--> resolve --> target
//!                    |                               |
//! bytes' <--edit-- Edits <-------- lift <-------- new text
//! ```
//!
//! This file knows all rooms: a scanner's links are judged one by one ([`Outcome`]), what of a target
//! is new is spelled for its place, and lifted through every layer to the bytes of the file.
//!
//! ```
//! use baselink::{Options, rewrite};
//! let options = Options::at("http://a/dir/page.html");
//! let rewritten = rewrite(br#"<a href="../x.html#y">"#, &options);
//! assert_eq!(rewritten.output(), br#"<a href="http://a/x.html#y">"#);
//! ```
//!
//! Deliberately absent: syntax and files. No markup is looked at here, and nothing is read or written.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use crate::base::{self, BaseChain, Outer, Retrieval, Rule, Source};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Against, DeclaredBase, Decoded, Document, LONGEST_BASE, Link, Standing};
use crate::edit::{Edit, Edits};
use crate::error::Error;
use crate::layer::charset::Charset;
use crate::layer::escape::{self, Quote};
use crate::layer::spelling::{Carrier, Form, Spelling};
use crate::layer::{OffsetMap, lift};
use crate::reference::{self, Grammar};
use crate::report::{EntityReport, LinkReport, Outcome, Reason, Report};
use crate::resolve::{self, Base, Profile, Target};
use crate::scan::{self, ScanOptions};
use crate::span::Span;

/// What is known of a document beside its bytes, and what is wanted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How references are resolved.
    pub profile: Profile,
    /// The URL of the document (RFC 1808, 3.3).
    pub retrieval: Option<Retrieval>,
    /// What becomes of references that are a fragment only.
    pub fragments: Fragments,
    /// What becomes of the `base` element.
    pub base_element: BaseElement,
    /// What a scanner is told.
    pub scan: ScanOptions,
}

impl Options {
    /// The defaults, for a document retrieved from `url`, which must be absolute.
    #[must_use]
    pub fn at(url: &str) -> Self {
        Self { retrieval: Some(Retrieval::url(url)), ..Self::default() }
    }
}

/// What becomes of a reference that is a fragment only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fragments {
    /// It is resolved: RFC 1808 to the letter.
    #[default]
    Rewrite,
    /// It is left.
    Keep,
    /// It is resolved only where an embedded base differs from the retrieval URL: there a browser
    /// leaves the page for it, too.
    Auto,
}

impl FromStr for Fragments {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "rewrite" => Ok(Self::Rewrite),
            "keep" => Ok(Self::Keep),
            "auto" => Ok(Self::Auto),
            _ => Err(Error::new(format!(
                "unknown policy '{name}' for fragments: it is one of rewrite, keep, auto"
            ))),
        }
    }
}

/// What becomes of the `base` element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseElement {
    /// It is kept, and its own href made absolute.
    #[default]
    Absolute,
    /// It is kept as it is.
    Keep,
    /// It is taken out, where every relative link was rewritten.
    Remove,
    /// Where the document has none, one with the established base is put into the head.
    Insert,
}

impl FromStr for BaseElement {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "absolute" => Ok(Self::Absolute),
            "keep" => Ok(Self::Keep),
            "remove" => Ok(Self::Remove),
            "insert" => Ok(Self::Insert),
            _ => Err(Error::new(format!(
                "unknown policy '{name}' for the base element: it is one of absolute, keep, remove, insert"
            ))),
        }
    }
}

/// A rewritten document: its edits, and the report.
#[derive(Clone, Debug)]
pub struct Rewritten<'a> {
    source: &'a [u8],
    /// What changes, in offsets of the source.
    pub edits: Edits,
    /// For each edit whether a policy for the `base` element asks for it, and not a link.
    pub(crate) policies: Vec<bool>,
    /// What became of every link.
    pub report: Report,
}

impl<'a> Rewritten<'a> {
    /// The bytes that were rewritten.
    #[must_use]
    pub fn source(&self) -> &'a [u8] {
        self.source
    }

    /// The bytes of the document with the edits made.
    #[must_use]
    pub fn output(&self) -> Vec<u8> {
        self.edits.apply(self.source)
    }
}

/// Makes every relative link of the HTML document `bytes` absolute.
#[must_use]
pub fn rewrite<'a>(bytes: &'a [u8], options: &Options) -> Rewritten<'a> {
    let document = scan::scan(bytes, &options.scan);
    let (edits, policies, report) = plan(document, options);
    Rewritten { source: bytes, edits, policies, report }
}

/// Says of every link of the HTML document `bytes` what [`rewrite`] would make of it.
#[must_use]
pub fn examine(bytes: &[u8], options: &Options) -> Report {
    rewrite(bytes, options).report
}

/// The edits and the report of a scanned document.
fn plan(document: Document, options: &Options) -> (Edits, Vec<bool>, Report) {
    let mut report = Report::default();
    let outer = Outer::Retrieval(options.retrieval.as_ref());
    let planner = &mut Planner { options, report: &mut report };
    let beneath = document.charset;
    let mut planned = planner.document(document, outer, beneath);
    planned.sort_by_key(|planned| planned.report.span.start);
    let mut edits = Edits::default();
    let mut policies = Vec::with_capacity(planned.len());
    for planned in &mut planned {
        for edit in std::mem::take(&mut planned.edits) {
            // Only the first edit of a link can reach into what is edited already.
            if edits.push(edit.span, edit.new).is_err() {
                planned.refuse(Reason::Escape);
                break;
            }
            policies.push(planned.is_policy);
        }
    }
    report.diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
    report.links.extend(planned.into_iter().filter(|one| !one.is_policy).map(|one| one.report));
    let differing = report.links.iter().filter(|link| link.differs).count();
    if let Some(first) = report.links.iter().find(|link| link.differs) {
        let message = format!(
            "{differing} of the rewritten links lead elsewhere under another resolver; the first is '{}'",
            first.reference
        );
        report.diagnostics.push(Diagnostic::new(Code::ProfilesDiffer, first.span, message));
    }
    (edits, policies, report)
}

/// A link's report with its edits, in the buffer that is being planned.
struct Planned {
    report: LinkReport,
    edits: Vec<Edit>,
    /// An edit that a policy asks for, not a link.
    is_policy: bool,
}

impl Planned {
    /// An edit that is no link's.
    fn policy(entity: String, edit: Edit) -> Self {
        let report = LinkReport {
            entity,
            span: edit.span,
            element: "base".to_owned(),
            attribute: None,
            reference: String::new(),
            base: None,
            rule: Rule::Default,
            source: Source::Default,
            target: None,
            written: None,
            outcome: Outcome::Rewritten,
            reason: None,
            differs: false,
        };
        Self { report, edits: vec![edit], is_policy: true }
    }

    fn refuse(&mut self, reason: Reason) {
        self.edits.clear();
        self.report.written = None;
        self.report.outcome = Outcome::NotEditable;
        self.report.reason = Some(reason);
    }
}

struct Planner<'a> {
    options: &'a Options,
    report: &'a mut Report,
}

impl Planner<'_> {
    /// Plans `document` and all inside it.
    ///
    /// Edits and spans of the result are those of the buffer beneath `document`, whose encoding is
    /// `beneath`. Recursion is as deep as a scanner lets documents nest.
    fn document(&mut self, document: Document, outer: Outer<'_>, beneath: Charset) -> Vec<Planned> {
        let chain = base::establish(&document, outer, self.options.profile);
        let charset = if document.decoded.is_some() { Charset::UTF_8 } else { beneath };
        let mut diagnostics = document.diagnostics.clone();
        diagnostics.extend(chain.diagnostics.iter().cloned());
        diagnostics.extend(base_diagnostic(&document, &chain, self.options.profile));
        let resolver = Resolver::new(&document, &chain, self.options);
        let Document { entity, format, charset: declared, links, bases, parts, .. } = document;
        let mut planned: Vec<Planned> =
            links.into_iter().map(|link| resolver.link(link, charset)).collect();
        let first_entity = self.report.entities.len();
        let first_diagnostic = self.report.diagnostics.len();
        self.report.entities.push(EntityReport {
            format,
            charset: declared,
            chain: chain.clone(),
            without_tree: document.without_tree,
            is_crowded: document.is_crowded,
        });
        for part in parts {
            planned.extend(self.document(part, Outer::Encapsulating(&chain), charset));
        }
        let first = bases.iter().find(|base| base.standing == Standing::First);
        let later = bases.iter().find(|base| base.standing == Standing::Later);
        let policy = self.base_element(&chain, [first, later], document.head, &planned, charset);
        match policy {
            Some(Ok(edit)) => planned.push(Planned::policy(entity, edit)),
            Some(Err(kept)) => diagnostics.push(kept),
            None => {}
        }
        self.report.diagnostics.extend(diagnostics);
        let Some(decoded) = document.decoded else {
            return planned;
        };
        for planned in &mut planned {
            planned.report.span = decoded.map.covering(planned.report.span);
            lift_through(planned, &decoded, beneath);
        }
        for diagnostic in &mut self.report.diagnostics[first_diagnostic..] {
            diagnostic.span = decoded.map.covering(diagnostic.span);
        }
        let entities = &mut self.report.entities[first_entity..];
        for level in entities.iter_mut().flat_map(|entity| &mut entity.chain.levels) {
            level.span = level.span.map(|span| decoded.map.covering(span));
        }
        planned
    }

    /// What the policy for the `base` element asks for beyond its href: an edit, or why there is none.
    fn base_element(
        &self,
        chain: &BaseChain,
        [first, later]: [Option<&DeclaredBase>; 2],
        head: usize,
        planned: &[Planned],
        charset: Charset,
    ) -> Option<Result<Edit, Diagnostic>> {
        match (self.options.base_element, first) {
            (BaseElement::Remove, Some(first)) => {
                let depends = planned.iter().find(|one| depends_on_base(&one.report));
                let why = match (depends, later, first.removable) {
                    (Some(depends), ..) => {
                        format!("because '{}' still depends on it", depends.report.reference)
                    }
                    (None, Some(_), _) => "because another one would take its place".to_owned(),
                    (None, None, None) => {
                        "because the text before it would become one with that behind it".to_owned()
                    }
                    (None, None, Some(span)) => return Some(Ok(Edit { span, new: Vec::new() })),
                };
                let message = format!("the base element was kept, {why}");
                Some(Err(Diagnostic::new(Code::BaseElementKept, first.span, message)))
            }
            (BaseElement::Insert, None) if chain.entity.is_empty() => {
                let href = escape::attribute(chain.base.as_deref()?, Quote::Double);
                let place = Spelling { form: Form::Whole, carrier: Carrier::Raw, enclosed: false };
                let new = place.spell(&format!("<base href=\"{href}\">"), charset).ok()?;
                Some(Ok(Edit { span: Span::at(head), new }))
            }
            _ => None,
        }
    }
}

/// Whether a link would mean something else if the `base` element were gone.
fn depends_on_base(link: &LinkReport) -> bool {
    match link.outcome {
        Outcome::Rewritten | Outcome::Absolute => false,
        Outcome::Left => {
            !matches!(link.reason, Some(Reason::IdReference | Reason::Empty | Reason::BaseElement))
        }
        Outcome::NoBase | Outcome::NotEditable => true,
    }
}

/// Lifts the edits of a link from a document's text to the buffer beneath.
fn lift_through(planned: &mut Planned, decoded: &Decoded, beneath: Charset) {
    let mut lifted = Vec::with_capacity(planned.edits.len());
    for edit in &planned.edits {
        let text = String::from_utf8_lossy(&edit.new);
        let Ok(spelled) = decoded.spelling.spell(&text, beneath) else {
            return planned.refuse(Reason::Encoding);
        };
        let (before, behind) = decoded.text.split_at(edit.span.start);
        let next = text.chars().next().or_else(|| behind[edit.span.len()..].chars().next());
        // In ISO-2022-JP what follows a character that is not ASCII begins with an escape sequence, which
        // must neither be cut off nor written into.
        let is_shifted = |text: &str| text.chars().next_back().is_some_and(|last| !last.is_ascii());
        if beneath.is_stateful()
            && (is_shifted(before) || is_shifted(&decoded.text[..edit.span.end]))
        {
            return planned.refuse(Reason::Encoding);
        }
        match lift(&decoded.map, edit.span, spelled, next) {
            Some(edit) => lifted.push(edit),
            None => return planned.refuse(Reason::Escape),
        }
    }
    planned.edits = lifted;
}

/// What is to be said of a base that was taken.
fn base_diagnostic(document: &Document, chain: &BaseChain, profile: Profile) -> Option<Diagnostic> {
    let base = chain.base.as_deref()?;
    let level = chain.levels.iter().find(|level| level.status == base::Status::Taken);
    let span = level.and_then(|level| level.span).unwrap_or(Span::at(0));
    let inherited = matches!(chain.rule, Rule::Encapsulating);
    if document.links.is_empty() || inherited {
        return None;
    }
    if base.len() > LONGEST_BASE {
        let message = format!("the base is longer than {LONGEST_BASE} bytes; its links were left");
        return Some(Diagnostic::new(Code::BaseUnusable, span, message));
    }
    if let Err(why) = resolve::usable(base) {
        let message = format!("no reference can be resolved against the base {base}: {why}");
        return Some(Diagnostic::new(Code::BaseUnusable, span, message));
    }
    let params = reference::Reference::split(Grammar::Rfc1808, base).params();
    if profile == Profile::Rfc1808 && params.is_some_and(|params| params.contains('/')) {
        let message = format!(
            "by RFC 1808, 2.4.5, the directories of the base {base} end at its first ';'; \
             --resolver rfc3986 takes the ';' for part of a name"
        );
        return Some(Diagnostic::new(Code::BaseParameters, span, message));
    }
    None
}

/// Judges the links of one document.
struct Resolver<'a> {
    chain: &'a BaseChain,
    options: &'a Options,
    bases: HashMap<Against, PreparedBase>,
}

/// A base with what was found out about it once.
struct PreparedBase {
    url: Arc<str>,
    base: Base,
    usable: bool,
    /// The same in the other profiles.
    others: Vec<Base>,
}

impl PreparedBase {
    fn new(url: &str, options: &Options, charset: Charset) -> Self {
        let prepare = |profile| {
            Base::new(profile, url).with_query_encoding(move |query| charset.encode_query(query))
        };
        let base = prepare(options.profile);
        Self {
            url: Arc::from(base.as_str()),
            base,
            usable: url.len() <= LONGEST_BASE && resolve::usable(url).is_ok(),
            others: Profile::ALL
                .into_iter()
                .filter(|&profile| profile != options.profile)
                .map(prepare)
                .collect(),
        }
    }
}

impl<'a> Resolver<'a> {
    fn new(document: &Document, chain: &'a BaseChain, options: &'a Options) -> Self {
        let mut resolver = Self { chain, options, bases: HashMap::new() };
        for link in &document.links {
            if !resolver.bases.contains_key(&link.against)
                && let Some(url) = resolver.base_of(&link.against)
            {
                let prepared = PreparedBase::new(&url, options, document.charset);
                resolver.bases.insert(link.against.clone(), prepared);
            }
        }
        resolver
    }

    /// The URL that references of this kind are resolved against.
    fn base_of(&self, against: &Against) -> Option<String> {
        let document = self.chain.base.as_deref();
        match against {
            Against::Document => document.map(str::to_owned),
            Against::Fallback => self.chain.fallback.clone(),
            Against::Retrieval => self.chain.retrieval.clone(),
            Against::Codebase(_) if self.options.profile == Profile::Whatwg => {
                document.map(str::to_owned)
            }
            Against::Codebase(codebase) => self.inner(document, codebase),
            Against::Inner(chain) => {
                let mut base = document.map(str::to_owned);
                for inner in chain {
                    base = self.inner(base.as_deref(), inner);
                }
                base
            }
            Against::Nothing => None,
        }
    }

    /// `reference` as a base, itself relative to `outer`; `outer` where it cannot be resolved.
    fn inner(&self, outer: Option<&str>, reference: &str) -> Option<String> {
        if reference::placeholder(reference).is_some() {
            return Some(reference.to_owned());
        }
        let profile = self.options.profile;
        match outer {
            Some(outer) => Some(
                Base::new(profile, outer)
                    .resolve(reference)
                    .map_or_else(|_| outer.to_owned(), |target| target.url),
            ),
            None => Base::absolute(profile, reference).ok().map(|base| base.as_str().to_owned()),
        }
    }

    fn link(&self, link: Link, charset: Charset) -> Planned {
        let prepared = self.bases.get(&link.against);
        // A base that is too long to be used is not repeated for every link either.
        let base = prepared
            .filter(|prepared| prepared.url.len() <= LONGEST_BASE)
            .map(|prepared| Arc::clone(&prepared.url));
        let (rule, source) = match (&link.against, &base) {
            (_, None) => (Rule::Default, Source::Default),
            (Against::Fallback | Against::Retrieval, _) if self.chain.entity.is_empty() => (
                Rule::Retrieval,
                self.options.retrieval.as_ref().map_or(Source::Default, |one| one.source),
            ),
            (Against::Fallback | Against::Retrieval, _) => {
                (Rule::Encapsulating, Source::Encapsulating)
            }
            _ => (self.chain.rule, self.chain.source),
        };
        let verdict = self.judge(&link, prepared);
        let mut planned = Planned {
            report: LinkReport {
                entity: self.chain.entity.clone(),
                span: link.span(),
                element: link.element,
                attribute: link.attribute,
                reference: link.reference,
                base,
                rule,
                source,
                target: None,
                written: None,
                outcome: Outcome::Left,
                reason: None,
                differs: false,
            },
            edits: Vec::new(),
            is_policy: false,
        };
        match verdict {
            Verdict::Absolute => {
                planned.report.outcome = Outcome::Absolute;
                planned.report.target = Some(planned.report.reference.clone());
            }
            Verdict::NoBase => planned.report.outcome = Outcome::NoBase,
            Verdict::Left(reason) => planned.report.reason = Some(reason),
            Verdict::Target(target) => {
                let reference = planned.report.reference.as_str();
                planned.report.outcome = Outcome::Rewritten;
                planned.report.differs =
                    prepared.is_some_and(|prepared| differs(prepared, reference, &target.url));
                match spell_target(&target, reference, link.map.as_ref(), link.spelling, charset) {
                    Ok((edits, written)) => {
                        planned.edits = edits;
                        planned.report.written = written;
                    }
                    Err(reason) => planned.refuse(reason),
                }
                planned.report.target = Some(target.url);
            }
        }
        planned
    }

    fn judge(&self, link: &Link, prepared: Option<&PreparedBase>) -> Verdict {
        let reference = link.reference.as_str();
        let profile = self.options.profile;
        let grammar = if profile == Profile::Rfc1808 { Grammar::Rfc1808 } else { Grammar::Rfc3986 };
        if reference::opaque_scheme(reference).is_some()
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
        if reference.is_empty() && !link.empty_resolves {
            return Verdict::Left(Reason::Empty);
        }
        if reference.starts_with('#') {
            if link.fragment_identifies {
                return Verdict::Left(Reason::IdReference);
            }
            let kept = match self.options.fragments {
                Fragments::Rewrite => false,
                Fragments::Keep => true,
                Fragments::Auto => !self.base_is_elsewhere(),
            };
            if kept {
                return Verdict::Left(Reason::Fragment);
            }
        }
        if link.against == Against::Fallback
            && matches!(self.options.base_element, BaseElement::Keep | BaseElement::Remove)
        {
            return Verdict::Left(Reason::BaseElement);
        }
        let Some(prepared) = prepared else {
            return Verdict::NoBase;
        };
        if !prepared.usable {
            return Verdict::Left(Reason::BaseUnusable);
        }
        // Browsers would percent-encode a placeholder; and a base that is not known yet stays so.
        if (profile == Profile::Whatwg || link.against == Against::Fallback)
            && reference::contains_placeholder(reference)
        {
            return Verdict::Left(Reason::Placeholder);
        }
        match prepared.base.resolve(reference) {
            Ok(target) => Verdict::Target(target),
            Err(_) => Verdict::Left(Reason::Unresolvable),
        }
    }

    /// Whether a base is embedded that is not where the document is.
    fn base_is_elsewhere(&self) -> bool {
        let without_fragment = |url: &Option<String>| {
            url.as_deref().map(|url| url.split('#').next().unwrap_or_default().to_owned())
        };
        self.chain.rule == Rule::Embedded
            && without_fragment(&self.chain.base) != without_fragment(&self.chain.fallback)
    }
}

/// What is to become of a link.
enum Verdict {
    Absolute,
    NoBase,
    Left(Reason),
    Target(Target),
}

/// Whether another profile sees another target, spelling aside.
fn differs(prepared: &PreparedBase, reference: &str, url: &str) -> bool {
    if is_plain(reference) && is_plain(prepared.base.as_str()) && !url.contains("/..") {
        return false;
    }
    let spelled = |url: &str| Base::new(Profile::Whatwg, url).as_str().to_owned();
    let own = spelled(url);
    prepared.others.iter().any(|other| match other.resolve(reference) {
        Ok(target) => target.url != url && spelled(&target.url) != own,
        Err(_) => true,
    })
}

/// Whether every profile resolves text made of such characters alike.
fn is_plain(text: &str) -> bool {
    let text = text.strip_prefix("https:").or_else(|| text.strip_prefix("http:")).unwrap_or(text);
    !text.starts_with("///")
        && !text.ends_with(['?', '#'])
        && text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(
                    byte,
                    b'-' | b'_' | b'.' | b'~' | b'/' | b'?' | b'#' | b'=' | b'&' | b'+' | b','
                )
        })
}

/// The edits that put `target` where `reference` stands, and, where that is not the target, what the
/// reference reads as then.
fn spell_target(
    target: &Target,
    reference: &str,
    map: Option<&OffsetMap>,
    spelling: Spelling,
    charset: Charset,
) -> Result<(Vec<Edit>, Option<String>), Reason> {
    let length = reference.len();
    let map = map.ok_or(if length == 0 { Reason::NoValue } else { Reason::Escape })?;
    let mut edits = Vec::with_capacity(1);
    let mut written = String::with_capacity(target.url.len());
    let (mut reference_at, mut url_at) = (0, 0);
    let end = (length, target.url.len(), 0);
    let kept = target.kept.iter().map(|one| (one.reference.start, one.url, one.reference.len()));
    for (reference_to, url_to, kept) in kept.chain([end]) {
        let new = &target.url[url_at..url_to];
        let gap = Span::new(reference_at, reference_to);
        if !(new.is_empty() && gap.is_empty()) {
            let new = spelling.adapt(new, reference_to == length, charset);
            if new.contains('\u{fffd}') {
                return Err(Reason::Undecodable);
            }
            let spelled = spelling.spell(&new, charset).map_err(|_| Reason::Encoding)?;
            let next = new.chars().next().or_else(|| reference[reference_to..].chars().next());
            edits.push(lift(map, gap, spelled, next).ok_or(Reason::Escape)?);
            written.push_str(&new);
        }
        written.push_str(&target.url[url_to..url_to + kept]);
        reference_at = reference_to + kept;
        url_at = url_to + kept;
    }
    Ok((edits, (written != target.url).then_some(written)))
}
