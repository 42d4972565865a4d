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

pub mod copies;
mod crawled;
mod differing;
mod direct;
mod fields;
mod judge;
mod labels;
mod message;

use std::str::FromStr;
use std::sync::Arc;

pub use self::copies::{Beside, LocalCopies};
use self::differing::Differing;
pub use self::direct::{StreamError, Totals, rewrite_into, rewrite_stream, rewrite_to};
use self::judge::{Resolver, Surroundings};
use crate::base::{self, BaseChain, Outer, Retrieval, Rule, Source};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{
    Against, BaseKind, DeclaredBase, Decoded, Document, Head, LONGEST_BASE, Standing,
};
use crate::edit::{Edit, Edits};
use crate::error::Error;
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::layer::escape::{self, Quote};
use crate::layer::spelling::{Carrier, Form, Spelling};
use crate::layer::transfer::TransferEncoding;
use crate::layer::{lift, xml};
use crate::reference::{self, Grammar};
use crate::report::{EntityReport, LinkReport, Outcome, Reason, Report};
use crate::resolve::{self, Profile};
use crate::scan::{self, ScanOptions};
use crate::span::Span;

/// What is known of a document beside its bytes, and what is wanted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the bytes are: HTML, XML, a style sheet or a message. An mbox is rewritten a message at a time
    /// ([`crate::scan::mbox`]).
    pub format: Format,
    /// How references are resolved.
    pub profile: Profile,
    /// The URL of the document (RFC 1808, 3.3).
    pub retrieval: Option<Retrieval>,
    /// The scheme of references that begin with `//`, where there is no base (RFC 1808, 3.4).
    pub assumed_scheme: Option<Arc<str>>,
    /// Whether `Content-Location` is no base (RFC 2557), but only `Base` and `Content-Base` are.
    pub no_content_location: bool,
    /// Whether messages with a DKIM or ARC signature are left as they are.
    pub skip_dkim: bool,
    /// What becomes of references that are a fragment only. `None`: [`Fragments::Rewrite`], but
    /// [`Fragments::Auto`] in a page that says that it was saved, for there they jump within the copy.
    pub fragments: Option<Fragments>,
    /// What becomes of links to files that a browser saved with a page.
    pub local_copies: LocalCopies,
    /// What lies beside the document, where that is known.
    pub beside: Option<Arc<dyn Beside>>,
    /// What becomes of the `base` element.
    pub base_element: BaseElement,
    /// What is written in the place of links, where that is not their target.
    pub destination: Option<Arc<dyn Destination>>,
    /// What a scanner is told.
    pub scan: ScanOptions,
}

/// What is written where a link with a target stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The target, where the link is relative.
    Target,
    /// What is there.
    Kept,
    /// This reference. It is spelled for its place as a target would be.
    Reference(String),
}

/// Chooses what is written in the place of links. It is asked for each that has a target and may be
/// changed, also for absolute ones.
///
/// ```
/// use std::sync::Arc;
/// use baselink::document::Against;
/// use baselink::rewrite::{Choice, Destination};
/// use baselink::{LinkReport, Options, rewrite};
/// #[derive(Debug)]
/// struct Here;
/// impl Destination for Here {
///     fn choose(&self, link: &LinkReport, _: &Against) -> Choice {
///         let local = link.target.as_deref().and_then(|target| target.strip_prefix("http://a/"));
///         local.map_or(Choice::Target, |local| Choice::Reference(local.to_owned()))
///     }
/// }
/// let options = Options { destination: Some(Arc::new(Here)), ..Options::at("http://b/") };
/// let page = b"<a href='http://a/x?y&amp;z'></a><a href=c></a>";
/// assert_eq!(rewrite(page, &options).output(), b"<a href='x?y&amp;z'></a><a href=http://b/c></a>");
/// ```
pub trait Destination: std::fmt::Debug + Send + Sync {
    /// What is written for `link`, which is resolved `against` that. Its span is the one in its document.
    fn choose(&self, link: &LinkReport, against: &Against) -> Choice;
}

impl Options {
    /// The defaults, for a document retrieved from `url`, which must be absolute.
    #[must_use]
    pub fn at(url: &str) -> Self {
        Self { retrieval: Some(Retrieval::url(url)), ..Self::default() }
    }

    /// What lies beside the document. A message is no page that lies somewhere.
    pub(crate) fn beside(&self) -> Option<&dyn Beside> {
        let is_message = matches!(self.format, Format::Message | Format::Mbox);
        self.beside.as_deref().filter(|_| !is_message)
    }

    /// What becomes of references that are a fragment only, in a document with the base of `chain`.
    pub(crate) fn fragments_in(&self, chain: &BaseChain) -> Fragments {
        let says_it_was_saved = chain.saved.is_some() || chain.says_it_was_saved_with_files;
        let default = if says_it_was_saved { Fragments::Auto } else { Fragments::Rewrite };
        self.fragments.unwrap_or(default)
    }

    /// What is around the outermost document.
    fn outer(&self) -> Outer<'_> {
        match (&self.retrieval, &self.assumed_scheme) {
            (None, Some(scheme)) => Outer::AssumedScheme(scheme),
            (retrieval, _) => Outer::Retrieval(retrieval.as_ref()),
        }
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

/// A rewritten file: its edits, and the report.
#[derive(Clone, Debug)]
pub struct Rewritten<'a> {
    source: &'a [u8],
    /// What changes, in offsets of the source.
    pub edits: Edits,
    /// The documents that change.
    pub(crate) parts: Vec<Part>,
    /// What became of every link.
    pub report: Report,
}

/// A document in a file, with its edits in its own bytes.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Where it stands in the file.
    pub(crate) body: Span,
    /// How it is encoded there.
    pub(crate) encoding: TransferEncoding,
    /// Its place among the entities of the report.
    pub(crate) entity: usize,
    /// Its edits; `None` where they are those of the file.
    pub(crate) edits: Option<Edits>,
    /// For each edit whether a policy for the `base` element asks for it, and not a link.
    pub(crate) policies: Vec<bool>,
    /// Where its rewritten links stand in it.
    pub(crate) rewritten: Vec<Span>,
}

impl<'a> Rewritten<'a> {
    /// The bytes that were rewritten.
    #[must_use]
    pub fn source(&self) -> &'a [u8] {
        self.source
    }

    /// The bytes of the file with the edits made.
    #[must_use]
    pub fn output(&self) -> Vec<u8> {
        self.edits.apply(self.source)
    }
}

/// Makes every relative link of `bytes`, a file of the format that `options` name, absolute.
#[must_use]
pub fn rewrite<'a>(bytes: &'a [u8], options: &Options) -> Rewritten<'a> {
    rewritten(bytes, options, Detail::All)
}

/// The same with a shorter report of a message: where all links of a part are absolute, they are only
/// counted ([`Report::unlisted`]), and of `base` elements in it that do not count nothing is said. Bytes,
/// bases, other links and diagnostics are the same, and most mail is like that. [`crate::verify`] needs
/// the whole report.
///
/// ```
/// use baselink::{Options, Outcome, format::Format, rewrite_briefly};
/// let message = b"Content-Type: text/html\n\n<a href=http://a/><a href=http://b/>";
/// let options = Options { format: Format::Message, ..Options::default() };
/// let report = rewrite_briefly(message, &options).report;
/// assert_eq!((report.links.len(), report.unlisted, report.count(Outcome::Absolute)), (0, 2, 2));
/// ```
#[must_use]
pub fn rewrite_briefly<'a>(bytes: &'a [u8], options: &Options) -> Rewritten<'a> {
    rewritten(bytes, options, Detail::Relative)
}

/// Which links are reported one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    /// Those of parts that have relative ones.
    Relative,
}

fn rewritten<'a>(bytes: &'a [u8], options: &Options, detail: Detail) -> Rewritten<'a> {
    let (edits, parts, mut report) = match options.format {
        Format::Message | Format::Mbox => message::plan(bytes, options, detail),
        format => document(bytes, format, options),
    };
    let mut differing = Differing::default();
    for link in report.links.iter().filter(|link| link.is_rewritten_otherwise()) {
        let is_its = |entity: &&EntityReport| entity.chain.entity == link.entity;
        let charset = || report.entities.iter().find(is_its).map(|entity| entity.charset);
        differing.add(link, link.span, &|| charset().unwrap_or(Charset::UTF_8));
    }
    let odd = differing.diagnostic();
    report.diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
    report.diagnostics.extend(odd);
    Rewritten { source: bytes, edits, parts, report }
}

/// Says of every link of `bytes` what [`rewrite`] would make of it.
#[must_use]
pub fn examine(bytes: &[u8], options: &Options) -> Report {
    rewrite(bytes, options).report
}

/// The edits and the report of a file that is one document.
fn document(bytes: &[u8], format: Format, options: &Options) -> (Edits, Vec<Part>, Report) {
    let mut report = Report::default();
    let document = scan::content(format, bytes, &options.scan).unwrap_or_else(|| {
        Document::empty(Arc::clone(&options.scan.entity), format, Charset::UTF_8)
    });
    let outer = options.outer();
    let mut planner = Planner { options, around: Surroundings::default(), report: &mut report };
    let beneath = document.charset;
    let planned = Settled::of(planner.document(document, None, outer, beneath, &[]));
    let part = Part {
        body: Span::new(0, bytes.len()),
        encoding: TransferEncoding::Binary,
        entity: 0,
        edits: None,
        policies: planned.policies,
        rewritten: planned.rewritten,
    };
    report.links = planned.links;
    (planned.edits, vec![part], report)
}

/// The edits of one document, in the order of its bytes.
struct Settled {
    edits: Edits,
    policies: Vec<bool>,
    rewritten: Vec<Span>,
    links: Vec<LinkReport>,
}

impl Settled {
    fn of(mut planned: Vec<Planned>) -> Self {
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
        let links: Vec<_> =
            planned.into_iter().filter(|one| !one.is_policy).map(|one| one.report).collect();
        let rewritten = links.iter().filter(|link| link.outcome == Outcome::Rewritten);
        Self { edits, policies, rewritten: rewritten.map(|link| link.span).collect(), links }
    }
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
    fn policy(entity: Arc<str>, edit: Edit) -> Self {
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
            differs_under: Default::default(),
            is_editable: true,
        };
        Self { report, edits: vec![edit], is_policy: true }
    }

    fn refuse(&mut self, reason: Reason) {
        self.edits.clear();
        self.report.refuse(reason);
    }

    /// Whether it is the href of a `base` element or an `xml:base`, and rewritten.
    fn is_base(&self) -> bool {
        let is_base = match self.report.attribute.as_deref() {
            Some("href") => self.report.element.rsplit(':').next() == Some("base"),
            attribute => attribute == Some("xml:base"),
        };
        self.report.outcome == Outcome::Rewritten && is_base
    }

    fn keep_base(&mut self) {
        self.edits.clear();
        self.report.leave(Reason::BecomesBase);
    }
}

struct Planner<'a> {
    options: &'a Options,
    around: Surroundings<'a>,
    report: &'a mut Report,
}

impl Planner<'_> {
    /// Plans `document` and all inside it.
    ///
    /// Edits and spans of the result are those of the buffer beneath `document`, whose encoding is
    /// `beneath`; `carried` are the values, the outermost first, in which that buffer stands.
    /// Recursion is as deep as a scanner lets documents nest.
    fn document(
        &mut self,
        document: Document,
        parent: Option<usize>,
        outer: Outer<'_>,
        beneath: Charset,
        carried: &[(Spelling, Charset)],
    ) -> Vec<Planned> {
        let mut chain = base::establish(&document, outer, self.options.profile);
        if matches!(outer, Outer::Retrieval(None) | Outer::AssumedScheme(_))
            && copies::is_copy(self.options)
        {
            chain.lacks_retrieval(copies::WITHOUT_RETRIEVAL);
        }
        let mut carried = carried.to_vec();
        let value = document.decoded.as_ref().map(|decoded| (decoded.spelling, beneath));
        carried.extend(value.filter(|(spelling, _)| spelling.carrier != Carrier::Raw));
        let charset = if document.decoded.is_some() { Charset::UTF_8 } else { beneath };
        let mut diagnostics = document.diagnostics.clone();
        diagnostics.extend(chain.diagnostics.iter().cloned());
        diagnostics.extend(base_diagnostic(
            !document.links.is_empty(),
            &chain,
            outer,
            self.options.profile,
        ));
        let resolver =
            Resolver::new(&document.links, document.charset, &chain, self.options, self.around);
        let Document { entity, format, charset: declared, links, bases, parts, .. } = document;
        let mut planned: Vec<Planned> =
            links.into_iter().map(|link| resolver.link(link, charset, &carried)).collect();
        planned.iter().for_each(|one| resolver.count_copy(&one.report, one.report.span));
        diagnostics.extend(resolver.missing_copies());
        let own = planned.len();
        let first_entity = self.report.entities.len();
        let first_diagnostic = self.report.diagnostics.len();
        self.report.entities.push(EntityReport {
            parent,
            format,
            media_type: format.media_type().into(),
            charset: declared,
            chain: chain.clone(),
            ids: document.ids,
            without_tree: document.without_tree,
        });
        for part in parts {
            let around = chain.seen_by(&part.within);
            let outer = Outer::Encapsulating(&around);
            planned.extend(self.document(part, Some(first_entity), outer, charset, &carried));
        }
        // Were this base absolute, a reader would no longer look for the parts by their labels.
        let has = |reason| planned.iter().any(|one| one.report.reason == Some(reason));
        // Nor would a browser find local copies beside the page.
        let has_copies = has(Reason::LocalCopy) && self.options.destination.is_none();
        if has_copies || (chain.is_from_outside && has(Reason::SiblingPart)) {
            planned[..own].iter_mut().filter(|one| one.is_base()).for_each(Planned::keep_base);
        }
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
        let head = document.head.filter(|_| !matches!(outer, Outer::Encapsulating(_)));
        let inner = planned.iter().find(|one| {
            one.report.reason == Some(Reason::BaseUnusable)
                && one.report.entity == chain.entity
                && one.report.base != chain.base
        });
        if let Some(inner) = inner.filter(|_| !chain.elements.is_empty()) {
            let message = "no reference can be resolved against the xml:base in force here";
            diagnostics.push(Diagnostic::new(Code::BaseUnusable, inner.report.span, message));
        }
        let has_no_place = head.is_none() && first.is_none() && chain.base.is_some();
        let is_xml = matches!(format, Format::Xhtml | Format::Svg | Format::Xml);
        if self.options.base_element == BaseElement::Insert && has_no_place && is_xml {
            let message = "no base element was put in, because there is no head of XHTML for it";
            diagnostics.push(Diagnostic::new(Code::BaseElementKept, Span::at(0), message));
        }
        let policy = self.base_element(&chain, [first, later], head, &planned, charset);
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
        move_levels(entities, |span| decoded.map.covering(span));
        planned
    }

    /// What the policy for the `base` element asks for beyond its href: an edit, or why there is none.
    /// `head` is where one may be put in.
    fn base_element(
        &self,
        chain: &BaseChain,
        [first, later]: [Option<&DeclaredBase>; 2],
        head: Option<Head>,
        planned: &[Planned],
        charset: Charset,
    ) -> Option<Result<Edit, Diagnostic>> {
        if self.around.kept.is_some() {
            return None;
        }
        let kept = |span: Span, message: String| {
            Some(Err(Diagnostic::new(Code::BaseElementKept, span, message)))
        };
        match (self.options.base_element, first, head) {
            (BaseElement::Remove, Some(first), _) => {
                let depends = planned.iter().find(|one| depends_on_base(&one.report));
                let why = match (depends, later, first.removable) {
                    _ if chain.base.is_none() => "because no base is known".to_owned(),
                    (Some(depends), ..) => {
                        format!("because '{}' still depends on it", depends.report.reference)
                    }
                    _ if chain.base.is_none() => "because the document has no base".to_owned(),
                    (None, Some(_), _) => "because another one would take its place".to_owned(),
                    (None, None, None) => {
                        "because what stands before it would become one with what stands behind it"
                            .to_owned()
                    }
                    (None, None, Some(span)) => return Some(Ok(Edit { span, new: Vec::new() })),
                };
                kept(first.span, format!("the base element was kept, {why}"))
            }
            (BaseElement::Insert, None, Some(head)) => {
                let Head { at, prefix, is_xml } = head;
                if chain.source == Source::SavedBase {
                    let message = "no base element was put in, because the browser that saved the \
                                   page took out the one that it had";
                    return kept(Span::at(at), message.to_owned());
                }
                let base = chain.document.as_ref()?.url.as_ref();
                let (carrier, end) = match is_xml {
                    true => (Carrier::XmlAttribute(Quote::Double), "/>"),
                    false => (Carrier::Attribute(Quote::Double), ">"),
                };
                let place = Spelling { form: Form::Whole, carrier, enclosed: false };
                // Written otherwise it would be another base.
                if place.adapt(base, true, charset) != base {
                    let message =
                        "no base element was put in, because the base cannot be written as it is";
                    return kept(Span::at(at), message.to_owned());
                }
                let href = match is_xml {
                    true => xml::spell_attribute(base, Quote::Double),
                    false => escape::attribute(base, Quote::Double),
                };
                let means = |one: &Planned| match one.report.reason? {
                    Reason::SiblingPart => Some("means a part of the message"),
                    Reason::LocalCopy => Some("leads to a file beside the page"),
                    Reason::Fragment if self.options.fragments.is_none() => {
                        Some("jumps within the page")
                    }
                    _ => None,
                };
                if let Some((one, means)) =
                    planned.iter().find_map(|one| means(one).map(|means| (one, means)))
                {
                    let reference = &one.report.reference;
                    let message =
                        format!("no base element was put in, because '{reference}' {means}");
                    return kept(Span::at(at), message);
                }
                let place = Spelling { form: Form::Whole, carrier: Carrier::Raw, enclosed: false };
                let new =
                    place.spell(&format!("<{prefix}base href=\"{href}\"{end}"), charset).ok()?;
                Some(Ok(Edit { span: Span::at(at), new }))
            }
            _ => None,
        }
    }
}

/// Moves the places of `base` elements to the buffer beneath the one in which they stand.
fn move_levels(entities: &mut [EntityReport], beneath: impl Fn(Span) -> Span) {
    for level in entities.iter_mut().flat_map(|entity| &mut entity.chain.levels) {
        if matches!(
            level.source,
            Source::BaseElement | Source::XmlBase | Source::SavedBase | Source::EntryLink
        ) {
            level.span = level.span.map(&beneath);
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
        let piece = decoded.pieces.partition_point(|piece| piece.span.end < edit.span.end);
        let (map, span, spelling) = match decoded.pieces.get(piece) {
            None => (&decoded.map, edit.span, decoded.spelling),
            // What spans two pieces would take away what is between them.
            Some(piece) if edit.span.start < piece.span.start => {
                return planned.refuse(Reason::Escape);
            }
            Some(piece) => {
                let from = piece.span.start;
                let span = Span::new(edit.span.start - from, edit.span.end - from);
                (&piece.map, span, Spelling { carrier: piece.carrier, ..decoded.spelling })
            }
        };
        let Ok(spelled) = spelling.spell(&text, beneath) else {
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
        match lift(map, span, spelled, next) {
            Some(edit) => lifted.push(edit),
            None => return planned.refuse(Reason::Escape),
        }
    }
    planned.edits = lifted;
}

/// What is to be said of a base that was taken by the document itself.
fn base_diagnostic(
    has_links: bool,
    chain: &BaseChain,
    outer: Outer<'_>,
    profile: Profile,
) -> Option<Diagnostic> {
    let is_own = match outer {
        Outer::Retrieval(_) | Outer::AssumedScheme(_) => true,
        // Of what a heading gives it is said where the heading is.
        Outer::Heading(_) | Outer::Encapsulating(_) | Outer::Referring(_) => {
            matches!(chain.source, Source::BaseElement | Source::XmlBase | Source::SavedBase)
        }
    };
    if has_links && is_own { unfit_base(chain, profile) } else { None }
}

/// Why references cannot be resolved against a base, or not as one would expect.
fn unfit_base(chain: &BaseChain, profile: Profile) -> Option<Diagnostic> {
    let base = chain.base.as_deref()?;
    let level = chain.levels.iter().find(|level| level.status == base::Status::Taken);
    let span = level.and_then(|level| level.span).unwrap_or(Span::at(0));
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
