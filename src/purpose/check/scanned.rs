//! One scan of a file in little memory: its links, their bases now and after the move, its ids.
//!
//! What a link needs is kept once: the names of its place and its bases are shared by all links that have
//! them, and references follow one another in one text. Targets are resolved again where they are
//! wanted (RFC 1808, 4).
//!
//! ```
//! use std::path::Path;
//! use baselink::collection::origin::{Origins, RootUrl};
//! use baselink::purpose::check::{Move, scan};
//! use baselink::files::walk::{EntryKind, TreeEntry};
//! use baselink::{Options, format::Format};
//! let root_url = RootUrl::new("http://a/docs/").unwrap();
//! let moving = Move { from: Origins { root_url: Some(root_url), ..Origins::default() }, to: None };
//! let (root, path) = (Path::new("site").into(), "site/x.html".into());
//! let entry = TreeEntry { root, relative: vec!["x.html".into()], path, kind: EntryKind::File, size: 0 };
//! let page = b"<p id=top><a href=y.html>";
//! let scanned = scan(&entry, page, Format::Html, &Options::default(), &moving);
//! let link = scanned.links().next().unwrap();
//! assert_eq!((link.element, link.reference), ("a", "y.html"));
//! assert_eq!(&page[link.span.range()], b"y.html");
//! ```
//!
//! Deliberately absent: lines and columns, which the file says when they are asked for.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, LazyLock};

use super::moving::Move;
use crate::base::{Retrieval, Rule, SaidBy, Source};
use crate::container::units;
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Against, Program};
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::report::{EntityReport, LinkReport, Outcome, Reason, Report};
use crate::resolve::{Base, Profile};

use crate::collection::index::{Ids, url_below};
use crate::collection::origin::canonical;
use crate::files::walk::TreeEntry;
use crate::rewrite::{BaseElement, Beside, Fragments, Options, rewrite};
use crate::scan::attributes::{Elements, Row, TABLE};
use crate::span::Span;

/// What one scan found in a file.
#[derive(Clone, Debug)]
pub struct ScannedFile {
    /// The names that lead to the file from its root, with `/` between them, as bytes of the system.
    pub path: Vec<u8>,
    /// What it was read as.
    pub format: Format,
    /// The URL by which it was retrieved.
    pub retrieval: Option<Retrieval>,
    /// A sentence for each URL that was passed over on the way to that.
    pub passed_over: Vec<String>,
    /// The URL that it has after the move.
    pub moved: Option<String>,
    /// Its encoding; `None` where it is no document, but a message or several.
    pub charset: Option<Charset>,
    /// What fragments can name in it; `None` where that is not known.
    pub ids: Option<Ids>,
    /// Its anomalies; spans are those of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Where it says its canonical URL.
    canonical: Option<Span>,
    /// What it says of the program that saved it.
    pub(super) saved_by: Option<Program>,
    /// What lies beside it.
    pub(super) beside: Option<Arc<dyn Beside>>,
    pub(super) profile: Profile,
    /// What gives references that begin with `//` a scheme, where there is no base.
    pub(super) assumed_scheme: Option<Arc<str>>,
    pub(super) bases: Vec<BaseMove>,
    links: Vec<Compact>,
    places: Vec<Location>,
    references: String,
}

/// A link that was found.
#[derive(Clone, Copy, Debug)]
pub struct ScannedLink<'a> {
    /// The entity it is in.
    pub entity: &'a str,
    /// Its bytes in the file; where it is encoded there, the bytes that hold it.
    pub span: Span,
    /// Name of the element.
    pub element: &'a str,
    /// Name of the attribute; `None` for text.
    pub attribute: Option<&'a str>,
    /// The reference, decoded, as written.
    pub reference: &'a str,
    /// The base that it is resolved against, with the rule and the source that gave it.
    pub base: Option<(&'a str, Rule, Source)>,
    /// What `rewrite` would make of it.
    pub outcome: Outcome,
    /// Why, for [`Outcome::Left`] and [`Outcome::NotEditable`].
    pub reason: Option<Reason>,
    /// Whether the profiles disagree on it.
    pub differs: bool,
    /// Whether it may be replaced in its place.
    pub is_editable: bool,
    /// Whether it is the canonical URL that a page gives itself (RFC 6596).
    pub is_canonical: bool,
    /// The place of its base among those of the file.
    pub(super) base_number: Option<usize>,
}

/// Where links stand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Location {
    entity: Arc<str>,
    element: Cow<'static, str>,
    attribute: Option<Cow<'static, str>>,
}

/// A name, which costs nothing where the table of attributes has it.
fn name(written: Cow<'static, str>) -> Cow<'static, str> {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let of_row = |row: &'static Row| match row.elements {
            Elements::Named(names) => names.iter().copied().chain([row.attribute]).collect(),
            _ => vec![row.attribute],
        };
        TABLE.iter().flat_map(of_row).collect()
    });
    match NAMES.get(&*written) {
        Some(known) => Cow::Borrowed(known),
        None => written,
    }
}

/// A link in 28 bytes: there are millions of them.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
struct Compact {
    /// Where its span begins, and how long that is. Of one of 4 GiB or more the end is reported too early.
    start: usize,
    length: u32,
    /// How long the reference is in the text of all, where it follows the one before; one of 4 GiB or more is left out.
    reference_length: u32,
    place: u32,
    /// None is the greatest number.
    base: u32,
    outcome: Outcome,
    reason: Option<Reason>,
    differs: bool,
    is_editable: bool,
}

/// A base of links, now and after the move.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BaseMove {
    pub(super) url: Arc<str>,
    pub(super) rule: Rule,
    pub(super) source: Source,
    /// The same when the file has moved and nothing in it has changed; `None` where that is unknown.
    pub(super) moved: Option<Arc<str>>,
    /// Whether a `base` element or an `xml:base` of the file gives it, and nothing between those and the
    /// links.
    pub(super) is_declared: bool,
    /// True if its references may lead to other hosts through the folders of a layout.
    pub(super) is_of_layout: bool,
    /// The encoding of its document, by which the URL Standard encodes queries.
    charset: &'static str,
}

impl BaseMove {
    /// `url`, which is this base or what becomes of it, for references to be resolved against.
    pub(super) fn prepare(&self, profile: Profile, url: &str) -> Base {
        let charset = Charset::for_label(self.charset).unwrap_or(Charset::UTF_8);
        Base::new(profile, url).with_query_encoding(move |query| charset.encode_query(query))
    }
}

impl ScannedFile {
    /// `options` for this file, in which every reference is resolved.
    pub(super) fn options(&self, options: &Options) -> Options {
        Options {
            format: self.format,
            retrieval: self.retrieval.clone(),
            fragments: Some(Fragments::Rewrite),
            base_element: BaseElement::Absolute,
            beside: self.beside.clone(),
            ..options.clone()
        }
    }

    /// Whether it was retrieved by a URL that a reference of its own names: another reference may name another.
    #[must_use]
    pub fn names_its_url(&self) -> bool {
        self.retrieval.as_ref().is_some_and(|one| one.source == Source::Canonical)
    }

    /// Its links, in the order of the file.
    pub fn links(&self) -> impl ExactSizeIterator<Item = ScannedLink<'_>> {
        let mut start = 0;
        self.links.iter().map(move |link| {
            let end = start + link.reference_length as usize;
            let reference = &self.references[start..end];
            start = end;
            let place = &self.places[link.place as usize];
            let span = Span::new(link.start, link.start + link.length as usize);
            let base_number = (link.base != u32::MAX).then_some(link.base as usize);
            let base = base_number.map(|number| &self.bases[number]);
            ScannedLink {
                entity: &place.entity,
                span,
                element: &place.element,
                attribute: place.attribute.as_deref(),
                reference,
                base: base.map(|base| (&*base.url, base.rule, base.source)),
                outcome: link.outcome,
                reason: link.reason,
                differs: link.differs,
                is_editable: link.is_editable,
                is_canonical: Some(span) == self.canonical,
                base_number,
            }
        })
    }
}

/// Scans `bytes`, the contents of the file `entry`, as a document of `format`.
///
/// `options` say how: which profile and which places. The retrieval URL is that of `moving`, not theirs.
#[must_use]
pub fn scan(
    entry: &TreeEntry,
    bytes: &[u8],
    format: Format,
    options: &Options,
    moving: &Move,
) -> ScannedFile {
    let (retrieval, passed_over) = moving.from.of(entry, format, bytes);
    let beside = Some(moving.from.beside(entry, entry));
    let mut options = Options { format, retrieval, beside, ..options.clone() };
    let mut scanning = Scanning::begin(entry, &options, moving);
    scanning.scanned.passed_over = passed_over;
    for (name, span) in units(format, bytes) {
        options.scan.entity = name.unwrap_or(options.scan.entity);
        scanning.add(&bytes[span.range()], span.start, &options);
    }
    scanning.end()
}

/// A scan of a file, document by document: a mailbox need not be in memory.
#[derive(Debug)]
pub struct Scanning {
    scanned: ScannedFile,
    places: HashMap<Location, u32>,
}

impl Scanning {
    /// Begins the scan of the file `entry`, whose format, profile and retrieval URL are those of `options`.
    #[must_use]
    pub fn begin(entry: &TreeEntry, options: &Options, moving: &Move) -> Self {
        let path = crate::collection::index::path_of(entry);
        let place = moving.place(options.retrieval.as_ref());
        let scanned = ScannedFile {
            moved: url_below(&place, &path),
            path,
            format: options.format,
            retrieval: options.retrieval.clone(),
            passed_over: Vec::new(),
            charset: None,
            ids: None,
            diagnostics: Vec::new(),
            canonical: None,
            saved_by: None,
            beside: options.beside.clone(),
            profile: options.profile,
            assumed_scheme: options.assumed_scheme.clone(),
            bases: Vec::new(),
            links: Vec::new(),
            places: Vec::new(),
            references: String::new(),
        };
        Self { scanned, places: HashMap::new() }
    }

    /// Begins the scan of a file whose references are others than when it was `scanned`, and whose ids are the same.
    #[must_use]
    pub fn again(scanned: &ScannedFile) -> Self {
        let scanned = ScannedFile {
            path: scanned.path.clone(),
            retrieval: scanned.retrieval.clone(),
            passed_over: Vec::new(),
            moved: scanned.moved.clone(),
            ids: None,
            diagnostics: Vec::new(),
            beside: scanned.beside.clone(),
            assumed_scheme: scanned.assumed_scheme.clone(),
            bases: Vec::new(),
            links: Vec::new(),
            places: Vec::new(),
            references: String::new(),
            canonical: None,
            ..*scanned
        };
        Self { scanned, places: HashMap::new() }
    }

    /// Adds what is in the document or message `bytes`, which begins at `offset` of the file. `options` are
    /// those of the beginning, with the name of the message in a mailbox.
    pub fn add(&mut self, bytes: &[u8], offset: usize, options: &Options) {
        let mut options = self.scanned.options(options);
        options.scan.ids =
            matches!(self.scanned.format, Format::Html | Format::Xhtml | Format::Svg | Format::Xml);
        self.document(bytes, offset, &options, rewrite(bytes, &options).report);
    }

    /// Adds a document with its report, and without its ids.
    pub fn add_examined(&mut self, bytes: &[u8], offset: usize, options: &Options, report: Report) {
        self.document(bytes, offset, &self.scanned.options(options), report);
    }

    /// What was found up to here.
    #[must_use]
    pub fn so_far(&self) -> &ScannedFile {
        &self.scanned
    }

    /// What was found.
    #[must_use]
    pub fn end(self) -> ScannedFile {
        let mut scanned = self.scanned;
        // It stays in memory until all files are known.
        scanned.links.shrink_to_fit();
        scanned.references.shrink_to_fit();
        scanned.places.shrink_to_fit();
        scanned
    }

    fn document(&mut self, bytes: &[u8], offset: usize, options: &Options, mut report: Report) {
        let moved = self.moved_bases(bytes, &report, options);
        let is_whole = report.diagnostics.iter().all(|one| one.code != Code::NotWellFormed);
        let is_message = options.format.has_headings();
        let document = report.entities.first().filter(|_| !is_message);
        self.scanned.charset = document.map(|document| document.charset);
        self.scanned.saved_by = document.and_then(|document| {
            let chain = &document.chain;
            let of_comment = chain.saved.as_ref().map(|saved| saved.program);
            of_comment.or_else(|| chain.was_saved_with_files.then_some(Program::Browser))
        });
        if let Some(outermost) = report.entities.first_mut()
            && options.scan.ids
            && is_whole
        {
            let ids = Ids::new(std::mem::take(&mut outermost.ids));
            let has_pointers = options.format != Format::Html;
            self.scanned.ids = Some(if has_pointers { ids.with_pointers() } else { ids });
        }
        let may_be_canonical =
            |link: &LinkReport| link.element == "link" && link.outcome == Outcome::Absolute;
        if report.links.iter().any(may_be_canonical) {
            let named = canonical::named(bytes, options.format);
            let named = named.filter(|named| named.by == canonical::CanonicalTag::Link);
            self.scanned.canonical = named.map(|named| named.span.shifted(offset));
        }
        let entities: HashMap<&str, &EntityReport> =
            report.entities.iter().map(|entity| (&*entity.chain.entity, entity)).collect();
        let mut bases: HashMap<BaseMove, u32> = HashMap::new();
        let links = std::mem::take(&mut report.links);
        // Most links have the base of the one before.
        let mut last: Option<(Arc<str>, u32)> = None;
        for (number, link) in links.into_iter().enumerate() {
            let is_base = names_base(&link.element, link.attribute.as_deref());
            let base = link.base.as_ref().map(|url| {
                if !is_base
                    && let (Moved::Alike(_), Some((entity, last))) = (&moved, &last)
                    && let Some(base) = self.scanned.bases.get(*last as usize)
                    && Arc::ptr_eq(&base.url, url)
                    && Arc::ptr_eq(entity, &link.entity)
                    && (base.rule, base.source) == (link.rule, link.source)
                {
                    return *last;
                }
                let entity = entities.get(&*link.entity).copied();
                let moved = match &moved {
                    Moved::Alike(moved) => moved.clone(),
                    Moved::Each(moved) => moved.get(number).cloned().flatten(),
                };
                let base = BaseMove {
                    url: Arc::clone(url),
                    rule: link.rule,
                    source: link.source,
                    moved,
                    is_declared: entity.is_some_and(|entity| is_declared(&link, entity)),
                    is_of_layout: !is_base
                        && entity.is_some_and(|entity| is_of_layout(&link, entity)),
                    charset: entity.map_or("utf-8", |entity| entity.charset.name()),
                };
                let number = numbered(&mut self.scanned.bases, &mut bases, base);
                if !is_base {
                    last = Some((Arc::clone(&link.entity), number));
                }
                number
            });
            self.link(link, base, offset);
        }
        let moved = report.diagnostics.into_iter().map(|one| {
            let span = one.span.shifted(offset);
            Diagnostic { span, ..one }
        });
        self.scanned.diagnostics.extend(moved);
    }

    /// The bases of the links of a document after the move.
    ///
    /// Where the document declares none, all its links have its new URL. Else it is read a second time, as
    /// it would be there.
    fn moved_bases(&self, bytes: &[u8], report: &Report, options: &Options) -> Moved {
        let moved = self.scanned.moved.as_ref().map(Retrieval::url);
        let own = options.retrieval.as_ref();
        let own = own.map(|own| Base::text_of(options.profile, &own.url));
        let is_plain =
            report.entities.iter().all(|entity| {
                entity.chain.rule != Rule::Embedded && entity.chain.elements.is_empty()
            }) && report
                .links
                .iter()
                .all(|link| link.base.is_none() || link.base.as_deref() == own.as_deref());
        if is_plain {
            let moved = moved.map(|moved| Base::text_of(options.profile, &moved.url).into());
            return Moved::Alike(moved);
        }
        let mut options = Options { retrieval: moved, ..options.clone() };
        options.scan.ids = false;
        let links = rewrite(bytes, &options).report.links;
        if links.len() != report.links.len() {
            return Moved::Alike(None);
        }
        Moved::Each(links.into_iter().map(|link| link.base).collect())
    }

    fn link(&mut self, link: LinkReport, base: Option<u32>, offset: usize) {
        let LinkReport { entity, element, attribute, .. } = link;
        let is_place = |known: &Location| {
            known.entity == entity
                && known.element == element
                && known.attribute.as_deref() == attribute.as_deref()
        };
        let last = self.scanned.links.last().map(|link| link.place);
        let last =
            last.filter(|last| self.scanned.places.get(*last as usize).is_some_and(is_place));
        let place = last.unwrap_or_else(|| {
            let (element, attribute) = (name(element), attribute.map(name));
            let place = Location { entity, element, attribute };
            numbered(&mut self.scanned.places, &mut self.places, place)
        });
        let reference_length = u32::try_from(link.reference.len()).unwrap_or_default();
        self.scanned.references.push_str(&link.reference[..reference_length as usize]);
        self.scanned.links.push(Compact {
            start: link.span.start + offset,
            length: u32::try_from(link.span.len()).unwrap_or(u32::MAX),
            reference_length,
            place,
            base: base.unwrap_or(u32::MAX),
            outcome: link.outcome,
            reason: link.reason,
            differs: link.differs,
            is_editable: link.is_editable,
        });
    }
}

/// The place of `one` in the list `all`, whose places `known` has: at its end, if it is new.
fn numbered<T: Clone + Eq + Hash>(all: &mut Vec<T>, known: &mut HashMap<T, u32>, one: T) -> u32 {
    *known.entry(one).or_insert_with_key(|one| {
        all.push(one.clone());
        u32::try_from(all.len() - 1).unwrap_or(u32::MAX)
    })
}

/// The bases of links after the move.
enum Moved {
    /// All have this one, if it is known.
    Alike(Option<Arc<str>>),
    /// Each its own.
    Each(Vec<Option<Arc<str>>>),
}

/// Whether the base of a link is one that a `base` element or an `xml:base` declares, and that can be
/// changed there.
fn is_declared(link: &LinkReport, entity: &EntityReport) -> bool {
    let chain = &entity.chain;
    let is_own = link.base == chain.base
        || chain
            .elements
            .iter()
            .any(|one| one.base.as_ref().map(|base| &base.url) == link.base.as_ref())
        || [&chain.document, &chain.fallback]
            .into_iter()
            .any(|one| one.as_ref().map(|base| &base.url) == link.base.as_ref());
    let source = match (link.source, &chain.declared) {
        (Source::Encapsulating, Some(declared)) => declared.source,
        (source, _) => source,
    };
    is_own && source.said_by() == SaidBy::Markup
}

/// True if a link that declares no base leads from file to file among folders named after hosts.
fn is_of_layout(link: &LinkReport, entity: &EntityReport) -> bool {
    let chain = &entity.chain;
    match link.source {
        Source::Layout => chain.is_of_layout(&Against::Retrieval),
        _ => link.base == chain.base && chain.is_of_layout(&Against::Document),
    }
}

/// True if an attribute of an element, both by their names, declares a base for other references.
pub(crate) fn names_base(element: &str, attribute: Option<&str>) -> bool {
    let is_base =
        || element.strip_suffix("base").is_some_and(|rest| rest.is_empty() || rest.ends_with(':'));
    attribute == Some("xml:base") || (attribute == Some("href") && is_base())
}
