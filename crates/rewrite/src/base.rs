//! Establishes the base URL of a document: RFC 1808, section 3.
//!
//! Four levels are examined, innermost first: the content (3.1), the encapsulating entity (3.2), the retrieval URL
//! (3.3), and the default, no base (3.4). Each level records its value and the reason why it was used or passed over.
//!
//! In HTML, the first `base` element with an `href` in tree order counts (HTML, 4.2.3). If it cannot be a base, the
//! outer base counts, never a later element.
//!
//! ```
//! use baselink_rewrite::base::{self, Outer, Retrieval, Rule};
//! use baselink_url::Resolver;
//! let page = baselink_scan::scan(b"<base href=../b/><a href=x>", &Default::default());
//! let retrieval = Retrieval::url("http://a/dir/page.html");
//! let chain = base::establish(&page, Outer::Retrieval(Some(&retrieval)), Resolver::Rfc1808);
//! assert_eq!(chain.base.as_deref(), Some("http://a/b/"));
//! assert_eq!(chain.rule, Rule::Embedded);
//! ```
//!
//! Deliberately absent: links.

use std::{borrow::Cow, sync::Arc};

use baselink_scan::{
    Against, DeclaredBase, Document, LONGEST_BASE, Saved, UrlField,
    document::{BaseDoubt, Standing},
};
use baselink_text::{Code, Diagnostic, Format, Span, display_by_name, named};
use baselink_url::{self as resolve, Base, Resolver, reference};

mod assumed;
mod heading;
mod saved;
mod xml_base;

pub use assumed::lacks_only_scheme;
pub(crate) use assumed::stand_in;
pub use heading::{ContentLocationUse, of_heading};

named! {
    /// The rule of RFC 1808, section 3, that determined a base, as seen from the entity that has the base.
    #[derive(Default)]
    pub enum Rule {
        /// 3.1, embedded in the document's content or its own heading.
        Embedded = "3.1",
        /// 3.2, from the encapsulating entity.
        Encapsulating = "3.2",
        /// 3.3, from the retrieval URL.
        Retrieval = "3.3",
        /// 3.4, none: every reference is assumed to be absolute.
        #[default]
        Default = "3.4",
    }
}

impl Rule {
    /// The number of the section.
    pub fn section(self) -> &'static str {
        self.name()
    }

    /// The subject of the section.
    pub fn title(self) -> &'static str {
        match self {
            Self::Embedded => "embedded in the content",
            Self::Encapsulating => "encapsulating entity",
            Self::Retrieval => "retrieval URL",
            Self::Default => "default",
        }
    }
}

named! {
    /// The source of a base.
    #[derive(Default)]
    pub enum Source {
        /// An HTML `base` element.
        BaseElement = "base-element",
        /// `xml:base` (XML Base, 3).
        XmlBase = "xml-base",
        /// A `Base` header field (RFC 1808, 3.1).
        BaseHeader = "base-header",
        /// A `Content-Base` header field (RFC 2110, 4.2).
        ContentBase = "content-base",
        /// An absolute `Content-Location` header field (RFC 2557, 5).
        ContentLocation = "content-location",
        /// A `Snapshot-Content-Location` header field, which Chromium writes and no RFC defines.
        SnapshotContentLocation = "snapshot-content-location",
        /// The encapsulating entity.
        Encapsulating = "encapsulating",
        /// The URL given for the document or its folder.
        Retrieval = "retrieval",
        /// A table of files and their URLs.
        UrlMap = "url-map",
        /// The names of the folders in which a crawler stored the document.
        Layout = "layout",
        /// A comment of the program that saved the document.
        SavedFrom = "saved-from",
        /// The base that a page declared before a browser saved it, from a comment that the browser left.
        SavedBase = "saved-base",
        /// The extended attribute `user.xdg.origin.url` of the file.
        Xattr = "xattr",
        /// The `WARC-Target-URI` of the record (ISO 28500).
        Warc = "warc",
        /// The URL of the entry in an HTTP archive (HAR 1.2).
        Har = "har",
        /// The URL of the resource in a web archive of Safari.
        WebArchive = "webarchive",
        /// The canonical URL that the document declares.
        Canonical = "canonical",
        /// The link of a feed entry to its subject.
        EntryLink = "entry-link",
        /// The scheme that the user gave for references that lack only a scheme (RFC 1808, 3.4).
        AssumedScheme = "assumed-scheme",
        /// No source.
        #[default]
        Default = "default",
    }
}

/// The kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Markup of the document, which can be edited.
    Markup,
    /// A comment in the document, which browsers ignore.
    Note,
    /// A link in the document.
    Link,
    /// A header field.
    Heading,
    /// A header field that only Chromium reads. A base that an enclosing entity declares takes precedence over it.
    Snapshot,
    /// The entity around the document.
    Entity,
    /// The person or program that retrieved or stores the document (RFC 1808, 3.3).
    Retrieval,
    /// No source of a base.
    None,
}

impl SourceKind {
    /// True if the source has a position in the document itself.
    pub(crate) fn is_in_document(self) -> bool {
        matches!(self, Self::Markup | Self::Note | Self::Link)
    }
}

impl Source {
    /// The kind of this source.
    #[doc(hidden)]
    pub fn kind(self) -> SourceKind {
        match self {
            Self::BaseElement | Self::XmlBase => SourceKind::Markup,
            Self::SavedBase => SourceKind::Note,
            Self::EntryLink => SourceKind::Link,
            Self::BaseHeader | Self::ContentBase | Self::ContentLocation => SourceKind::Heading,
            Self::SnapshotContentLocation => SourceKind::Snapshot,
            Self::Encapsulating => SourceKind::Entity,
            Self::Retrieval
            | Self::UrlMap
            | Self::Layout
            | Self::SavedFrom
            | Self::Xattr
            | Self::Warc
            | Self::Har
            | Self::WebArchive
            | Self::Canonical => SourceKind::Retrieval,
            Self::AssumedScheme | Self::Default => SourceKind::None,
        }
    }
}

named! {
    /// The result for a level.
    pub enum Status {
        /// The level gave the base.
        Taken = "taken",
        /// The level has a value that does not count.
        PassedOver = "passed-over",
        /// The level has no value.
        Absent = "absent",
        /// The level has a value that would count but cannot be a base.
        Invalid = "invalid",
    }
}

#[doc(hidden)]
impl From<UrlField> for Source {
    fn from(field: UrlField) -> Self {
        match field {
            UrlField::Base => Self::BaseHeader,
            UrlField::ContentBase => Self::ContentBase,
            UrlField::ContentLocation => Self::ContentLocation,
            UrlField::SnapshotContentLocation => Self::SnapshotContentLocation,
        }
    }
}

/// One level of the chain, or one of several declarations on the same level.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Level {
    /// The entity that declares the value.
    pub entity: Arc<str>,
    /// The rule of the level.
    pub rule: Rule,
    /// The source of the value.
    pub source: Source,
    /// The value as written; `None` if there is none.
    pub value: Option<Arc<str>>,
    /// The span of the declaration: in the document's buffer if the content declares the value, in the message if a
    /// header field does.
    #[serde(skip)]
    pub span: Option<Span>,
    /// The result for the level.
    pub status: Status,
    /// The reason for the result, as a clause.
    pub reason: Cow<'static, str>,
}

/// The level that determined an inherited base, as seen from the entity that declares the base.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Declared {
    /// The declaring entity.
    pub entity: Arc<str>,
    /// The rule in the declaring entity.
    pub rule: Rule,
    /// The source in the declaring entity.
    pub source: Source,
}

/// A base URL with its rule and source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Established {
    /// The URL.
    pub url: Arc<str>,
    /// The rule that determined the URL.
    pub rule: Rule,
    /// The source of the URL.
    pub source: Source,
}

/// The base of one entity, with all levels that were examined.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BaseChain {
    /// The entity.
    pub entity: Arc<str>,
    /// The base URL, in ASCII; `None` if there is none (3.4).
    pub base: Option<Arc<str>>,
    /// The rule that determined the base.
    pub rule: Rule,
    /// The source of the base.
    pub source: Source,
    /// The origin of an inherited base.
    pub declared: Option<Declared>,
    /// True if the base depends on something outside the file, such as a retrieval URL.
    #[serde(skip)]
    pub is_from_outside: bool,
    /// The levels, innermost first.
    pub chain: Vec<Level>,
    /// The base that the document would have without declarations in its content.
    #[doc(hidden)]
    #[serde(skip)]
    pub fallback: Option<Established>,
    /// The document's own URL.
    #[doc(hidden)]
    #[serde(skip)]
    pub retrieval: Option<Established>,
    /// The base that the document would have without any `xml:base`; `None` if it would have none.
    #[serde(skip)]
    pub(crate) document: Option<Established>,
    /// The bases of elements that declare one, in document order.
    #[doc(hidden)]
    #[serde(skip)]
    pub elements: Vec<ElementChain>,
    /// True if `xml:base` counts in the document.
    #[serde(skip)]
    pub(crate) honours_xml_base: bool,
    /// True if the effective `base` element was written by the browser that saved the page.
    #[serde(skip)]
    pub(crate) has_written_base: bool,
    /// The comment in which the document records its source, if a program saved it.
    #[doc(hidden)]
    #[serde(skip)]
    pub saved: Option<Saved>,
    /// True if the document states that a browser saved it with its files.
    #[doc(hidden)]
    #[serde(skip)]
    pub was_saved_with_files: bool,
    /// The scheme for references that lack only a scheme, if there is no base.
    #[doc(hidden)]
    #[serde(skip)]
    pub assumed_scheme: Option<Arc<str>>,
    /// The anomalies of the declarations.
    #[serde(skip)]
    pub diagnostics: Vec<Diagnostic>,
}

/// The base that an element below the document element declares by `xml:base`, or a feed entry by its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementChain {
    /// The base; `None` if there is none.
    pub base: Option<Established>,
    /// True if the base depends on something outside the file.
    pub is_from_outside: bool,
}

/// The URL from which the outermost entity was retrieved (3.3).
#[derive(Clone, Debug, PartialEq)]
pub struct Retrieval {
    /// The URL, after any redirects.
    pub url: String,
    /// The source of the URL.
    pub source: Source,
    /// True if the scheme was assumed because the source has none.
    pub assumes_scheme: bool,
    /// The values of other sources, all of which were passed over.
    pub others: Vec<(Source, String)>,
}

impl Retrieval {
    /// Creates a retrieval URL given by the user.
    pub fn url(url: impl Into<String>) -> Self {
        Self::of(url, Source::Retrieval)
    }

    /// Creates a retrieval URL from `source`.
    pub fn of(url: impl Into<String>, source: Source) -> Self {
        Self {
            url: url.into(),
            source,
            assumes_scheme: false,
            others: Vec::new(),
        }
    }
}

/// The surroundings of a document or entity.
#[derive(Clone, Copy, Debug)]
pub enum Outer<'a> {
    /// No surroundings: the document is the outermost entity, perhaps with a retrieval URL.
    Retrieval(Option<&'a Retrieval>),
    /// No surroundings and no retrieval URL. References that begin with `//` get this scheme.
    AssumedScheme(&'a Arc<str>),
    /// An enclosing entity.
    Encapsulating(&'a BaseChain),
    /// A document that refers to this one and originally contained it.
    Referring(&'a BaseChain),
    /// The heading of the entity that has the document as its content ([`of_heading`]).
    Heading(&'a BaseChain),
}

/// The words that reasons use for the surroundings of a document, and the reason for level 3.2 if there are none.
const DOCUMENT: [&str; 2] = [
    "document around it",
    "the document is not inside another document",
];

const ENTITY: [&str; 2] = [
    "entity around it",
    "the entity is not inside another entity",
];

/// The reason to pass over a level outside the one that gave the base.
const INNER: &str = "an inner level gave the base";

/// Establishes the base URL of `document`.
pub fn establish(document: &Document, outer: Outer<'_>, resolver: Resolver) -> BaseChain {
    let mut chain = BaseChain::new(Arc::clone(&document.entity), outer, resolver);
    chain.saved = document
        .saved
        .clone()
        .filter(Saved::is_of_page)
        .or(chain.saved);
    chain.add_base_elements(document, resolver);
    if chain.chain.is_empty() {
        let has_xml_base = !document.bases.is_empty() || !document.element_bases.is_empty();
        let (source, reason) = match document.format {
            Format::Svg | Format::Xml => (Source::XmlBase, "the document has no xml:base"),
            format => {
                let reason = match format {
                    Format::Css => "a style sheet declares no base",
                    Format::Script => "a script declares no base",
                    Format::Manifest => "a manifest declares no base",
                    Format::JsonFeed => "a JSON Feed declares no base",
                    _ => "the document has no base element",
                };
                (Source::BaseElement, reason)
            }
        };
        if source != Source::XmlBase || !has_xml_base {
            chain.add_level(Rule::Embedded, source, None, Status::Absent, reason);
        }
    }
    if let Outer::Heading(heading) = outer {
        chain.add_heading(heading);
    } else {
        chain.add_enclosing(outer, DOCUMENT);
        chain.add_retrieval(outer);
        chain.add_default();
    }
    chain.document = chain.established();
    chain.add_xml_bases(document, resolver);
    chain
}

impl BaseChain {
    /// Creates a chain without a base or levels.
    fn new(entity: Arc<str>, outer: Outer<'_>, resolver: Resolver) -> Self {
        let around = match outer {
            Outer::Retrieval(_) | Outer::AssumedScheme(_) => None,
            Outer::Encapsulating(around) | Outer::Referring(around) | Outer::Heading(around) => {
                Some(around)
            }
        };
        let inherited = around.and_then(Self::established);
        let (fallback, retrieval) = match outer {
            Outer::Retrieval(retrieval) => {
                let established = retrieval.map(|retrieval| Established {
                    url: Base::text_of(resolver, &retrieval.url).into(),
                    rule: Rule::Retrieval,
                    source: retrieval.source,
                });
                (established.clone(), established)
            }
            Outer::Encapsulating(_) | Outer::Referring(_) => {
                let (rule, source) = (Rule::Encapsulating, Source::Encapsulating);
                (
                    inherited.map(|base| Established {
                        rule,
                        source,
                        ..base
                    }),
                    None,
                )
            }
            Outer::AssumedScheme(_) => (None, None),
            // RFC 2557, 5: the heading gives the URL of the content.
            Outer::Heading(_) => (inherited.clone(), inherited),
        };
        let assumed_scheme = match outer {
            Outer::AssumedScheme(scheme) => Some(scheme),
            _ => around.and_then(|around| around.assumed_scheme.as_ref()),
        };
        // A document inside a page inherits these facts about the page.
        let page = around.filter(|_| matches!(outer, Outer::Encapsulating(_)));
        Self {
            is_from_outside: around.is_none_or(|around| around.is_from_outside),
            fallback,
            retrieval,
            saved: page.and_then(|page| page.saved.clone()),
            was_saved_with_files: page.is_some_and(|page| page.was_saved_with_files),
            assumed_scheme: assumed_scheme.cloned(),
            entity,
            base: None,
            rule: Rule::Default,
            source: Source::Default,
            declared: None,
            chain: Vec::new(),
            document: None,
            elements: Vec::new(),
            honours_xml_base: true,
            has_written_base: false,
            diagnostics: Vec::new(),
        }
    }

    fn add_level(
        &mut self,
        rule: Rule,
        source: Source,
        value: Option<Arc<str>>,
        status: Status,
        reason: impl Into<Cow<'static, str>>,
    ) -> &mut Level {
        let number = self.chain.len();
        self.chain.push(Level {
            entity: Arc::clone(&self.entity),
            rule,
            source,
            value,
            span: None,
            status,
            reason: reason.into(),
        });
        &mut self.chain[number]
    }

    /// Adds a level that the entity itself declares at `span`, with its result and the reason.
    fn add_embedded(
        &mut self,
        source: Source,
        value: Option<Arc<str>>,
        span: Span,
        (status, reason): PassedLevel,
    ) {
        let level = self.add_level(Rule::Embedded, source, value, status, reason);
        level.span = Some(span);
    }

    fn set_base(&mut self, base: Arc<str>, rule: Rule, source: Source) {
        self.base = Some(base);
        self.rule = rule;
        self.source = source;
    }

    /// Evaluates a `base` element, for level 3.1 (HTML, 4.2.3, "set the frozen base URL").
    fn evaluate_base_element(
        &mut self,
        declared: &DeclaredBase,
        resolver: Resolver,
    ) -> LevelResult {
        if declared.standing != Standing::First {
            return pass(declared.standing.name());
        }
        let value = declared.value.as_deref().unwrap_or_default();
        if let Some((base, reason)) = provisional(value, declared.doubt) {
            self.report_doubt(declared.doubt, declared.span);
            self.set_base(base, Rule::Embedded, Source::BaseElement);
            return Ok(reason);
        }
        let DeclaredUrl { base, outer } = self.declared_url(value, resolver)?;
        let first = Standing::First.name();
        let mut reason = Cow::Borrowed(first);
        if let Some(outer) = outer {
            // The base `.`, which Chromium writes, changes the target of no relative path.
            if resolve::resolve(resolver, &base, ".") != resolve::resolve(resolver, &outer, ".") {
                self.diagnostics.push(Diagnostic::new(
                    Code::BaseRelative,
                    declared.span,
                    format!("the href of this base element is relative, but RFC 1808, section 10, requires an \
                         absolute URL; it resolves to {}",
                        abridged(&base)
                    ),
                ));
            }
            let around = if self.fallback.is_some() {
                "the outer base"
            } else {
                ASSUMED
            };
            reason = format!("{first}, relative to {around} {}", abridged(&outer)).into();
        }
        self.set_base(base, Rule::Embedded, Source::BaseElement);
        Ok(reason)
    }

    /// The base with its rule and source.
    fn established(&self) -> Option<Established> {
        let url = Arc::clone(self.base.as_ref()?);
        Some(Established {
            url,
            rule: self.rule,
            source: self.source,
        })
    }

    /// Interprets `value` as the declaration of a base inside the outer base.
    fn declared_url(
        &mut self,
        value: &str,
        resolver: Resolver,
    ) -> Result<DeclaredUrl, PassedLevel> {
        let outer = self.fallback.as_ref().map(|outer| Arc::clone(&outer.url));
        let declared = DeclaredUrl::of(value, outer, self.assumed_scheme.as_deref(), resolver)?;
        self.is_from_outside &= declared.outer.is_some();
        Ok(declared)
    }

    /// Reports why no link is resolved against the base at `span`, if the meaning of that base is in doubt.
    fn report_doubt(&mut self, doubt: Option<BaseDoubt>, span: Span) {
        if let Some(doubt) = doubt {
            let message = format!(
                "no link was resolved against this base, because {}",
                doubt.name()
            );
            self.diagnostics
                .push(Diagnostic::new(Code::BaseUnusable, span, message));
        }
    }

    /// Adds level 3.2, the encapsulating entity.
    fn add_enclosing(&mut self, outer: Outer<'_>, [place, alone]: [&'static str; 2]) {
        let source = Source::Encapsulating;
        let (around, place) = match outer {
            Outer::Encapsulating(around) => (around, place),
            Outer::Referring(around) => (around, "document that refers to it"),
            _ => {
                self.add_level(Rule::Encapsulating, source, None, Status::Absent, alone);
                return;
            }
        };
        let (status, reason) = match (&around.base, &self.base) {
            (None, _) => (Status::Absent, format!("the {place} has no base").into()),
            (Some(_), Some(_)) => (Status::PassedOver, INNER.into()),
            (Some(base), None) => {
                self.set_base(Arc::clone(base), Rule::Encapsulating, source);
                self.declared = Some(around.declared.clone().unwrap_or_else(|| Declared {
                    entity: Arc::clone(&around.entity),
                    rule: around.rule,
                    source: around.source,
                }));
                let (section, name) = (around.rule.section(), around.source.name());
                let reason = format!("the base of the {place}, given there by {section} ({name})");
                (Status::Taken, Cow::Owned(reason))
            }
        };
        let value = around.base.clone();
        let level = self.add_level(Rule::Encapsulating, source, value, status, reason);
        level.entity = Arc::clone(&around.entity);
    }

    /// Adds level 3.3, the retrieval URL of the outermost entity.
    fn add_retrieval(&mut self, outer: Outer<'_>) {
        let Outer::Retrieval(Some(retrieval)) = outer else {
            let reason = match outer {
                Outer::Retrieval(_) | Outer::AssumedScheme(_) => "no retrieval URL was given",
                _ => "only the outermost document has a retrieval URL",
            };
            let source = Source::Retrieval;
            self.add_level(Rule::Retrieval, source, None, Status::Absent, reason);
            return;
        };
        let (status, reason) = match (&self.base, &self.retrieval) {
            (None, Some(established)) => {
                let url = Arc::clone(&established.url);
                self.set_base(url, Rule::Retrieval, retrieval.source);
                (Status::Taken, retrieval_noun(retrieval.source).into())
            }
            _ => (Status::PassedOver, passed_over(retrieval.source, INNER)),
        };
        if retrieval.assumes_scheme && self.fallback.is_some() {
            let message = format!(
                "the scheme of {} is assumed, because the page does not record it",
                abridged(&retrieval.url)
            );
            self.diagnostics
                .push(Diagnostic::new(Code::SchemeAssumed, Span::at(0), message));
        }
        let value = Some(retrieval.url.as_str().into());
        self.add_level(Rule::Retrieval, retrieval.source, value, status, reason);
        for (source, url) in &retrieval.others {
            let before = match status {
                Status::Taken => "another source of the retrieval URL takes precedence",
                _ => INNER,
            };
            let reason = passed_over(*source, before);
            let value = Some(url.as_str().into());
            self.add_level(Rule::Retrieval, *source, value, Status::PassedOver, reason);
        }
    }

    /// True if the base and the document's own URL are in the same folder, so that relative paths have the same
    /// targets against both.
    pub(crate) fn is_of_folder(&self) -> bool {
        match (&self.base, &self.retrieval) {
            (Some(base), Some(own)) => folder(base) == folder(&own.url),
            _ => false,
        }
    }

    /// True if references resolved `against` this base lead from file to file in a tree whose folders are named after
    /// hosts. The base is then the URL that the folder names spell. An empty `base` element is ignored, because
    /// crawlers write it in place of the original.
    #[doc(hidden)]
    pub fn is_of_layout(&self, against: &Against) -> bool {
        let is_layout = |base: &Established| base.source == Source::Layout;
        let is_empty = |level: &Level| {
            let value = level.value.as_deref();
            level.status == Status::Taken && value.is_some_and(|value| value.trim().is_empty())
        };
        self.retrieval.as_ref().is_some_and(is_layout)
            && match against {
                Against::Retrieval => true,
                Against::Document => {
                    self.source == Source::Layout || self.chain.iter().any(is_empty)
                }
                Against::DocumentEntity => self.document.as_ref().is_some_and(is_layout),
                _ => false,
            }
    }

    /// Records the reason why the outermost document has no retrieval URL.
    pub(crate) fn set_retrieval_reason(&mut self, why: &'static str) {
        if let Some(level) = self
            .chain
            .iter_mut()
            .find(|level| level.rule == Rule::Retrieval && level.status == Status::Absent)
        {
            level.reason = why.into();
        }
    }

    /// Adds level 3.4, the default.
    fn add_default(&mut self) {
        let (status, reason) = if self.base.is_some() {
            (Status::PassedOver, INNER)
        } else if let Some(scheme) = self.assumed_scheme.clone() {
            return self.add_assumed_scheme(&scheme);
        } else {
            (
                Status::Taken,
                "no level gave a base: references stay as they are",
            )
        };
        self.add_level(Rule::Default, Source::Default, None, status, reason);
    }
}

/// Explains why a retrieval URL from `source` was passed over; names the source if there can be several.
fn passed_over(source: Source, why: &'static str) -> Cow<'static, str> {
    match source {
        Source::Retrieval => why.into(),
        source => format!("{}; {why}", retrieval_noun(source)).into(),
    }
}

/// Describes a retrieval URL from `source`.
fn retrieval_noun(source: Source) -> &'static str {
    match source {
        Source::UrlMap => "the URL of the file in the table of URLs",
        Source::Layout => "the URL derived from its folder names",
        Source::SavedFrom => "the URL recorded in the saved document",
        Source::Xattr => "the URL in an extended attribute of the file",
        Source::Warc => "the target URI of its record",
        Source::Har => "the URL of its entry",
        Source::WebArchive => "the URL of its resource",
        Source::Canonical => "the canonical URL of the document",
        _ => "the URL from which the document was retrieved",
    }
}

/// `url` up to and including the last slash of its path.
pub(crate) fn folder(url: &str) -> &str {
    let path = reference::without_query(url);
    &path[..path.rfind('/').map_or(0, |at| at + 1)]
}

/// Shortens a URL for a sentence. A very long URL could appear in thousands of sentences.
pub fn abridged(url: &str) -> Cow<'_, str> {
    const LONGEST: usize = 256;
    match url.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &url[..end])),
        None => Cow::Borrowed(url),
    }
}

/// A result for a level that did not give the base, with the reason.
type PassedLevel = (Status, Cow<'static, str>);

/// The reason why a level gave the base, or the result for a level that did not.
type LevelResult = Result<Cow<'static, str>, PassedLevel>;

/// The result of a level that is passed over for the reason `why`.
fn pass<T>(why: impl Into<Cow<'static, str>>) -> Result<T, PassedLevel> {
    Err((Status::PassedOver, why.into()))
}

/// The result of a level whose value cannot be a base for the reason `why`.
fn invalid<T>(why: impl Into<Cow<'static, str>>) -> Result<T, PassedLevel> {
    Err((Status::Invalid, why.into()))
}

/// The result for a level, with the reason.
fn status_of(result: LevelResult) -> PassedLevel {
    result.map_or_else(|passed| passed, |reason| (Status::Taken, reason))
}

/// The URL that a value declares as a base.
struct DeclaredUrl {
    base: Arc<str>,
    /// The URL that the value was resolved against; `None` for an absolute value.
    outer: Option<Arc<str>>,
}

impl DeclaredUrl {
    /// Interprets `value` inside the base `outer`. Without one, `scheme` is added if only the scheme is missing. A relative value
    /// without either is passed over.
    fn of(
        value: &str,
        outer: Option<Arc<str>>,
        scheme: Option<&str>,
        resolver: Resolver,
    ) -> Result<Self, PassedLevel> {
        let opaque = reference::opaque_scheme(value);
        if let Some(scheme @ ("data" | "javascript")) = opaque.as_deref() {
            let why = format!("a {scheme}: URL cannot be a base; the outer base counts");
            return invalid(why);
        }
        let is_whatwg = resolver == Resolver::Whatwg;
        let is_relative = |outer: &str| Base::new(resolver, outer).is_relative(value);
        let is_relative = is_whatwg && outer.as_deref().is_some_and(is_relative);
        let absolute = Base::is_absolute(resolver, value) && !is_relative;
        let is_url = absolute || (is_whatwg && !is_relative);
        if is_url && opaque.is_some() && !resolve::parses(value) {
            return invalid(NO_URL);
        }
        if absolute {
            let (base, outer) = (Base::text_of(resolver, value).into(), None);
            return Ok(Self { base, outer });
        }
        let Some(outer) = outer else {
            return Self::with_scheme(value, scheme, resolver);
        };
        // A chain of bases that each extend the one before would grow quadratically.
        if outer.len() > LONGEST_BASE {
            return invalid("it is relative, and the outer base is too long");
        }
        let base = match Base::new(resolver, &outer).resolve(value) {
            Ok(target) => resolve::ascii(&target.url).into_owned(),
            Err(why) => return invalid(format!("it is relative, and {why}")),
        };
        if resolve::usable(&outer).is_ok() && !resolve::parses(&base) {
            let why = format!("it resolves to {}, which is not a URL", abridged(&base));
            return invalid(why);
        }
        let (base, outer) = (base.into(), Some(outer));
        Ok(Self { base, outer })
    }
}

/// The reason to pass over a value that is not a URL.
const NO_URL: &str = "it is not a URL; the outer base counts";

/// The words for the assumed scheme in reasons that otherwise name the outer base.
const ASSUMED: &str = "the assumed scheme";

/// A provisional base for `value` if its meaning is not known yet, with the reason. If the meaning is in doubt, the
/// provisional base is not a valid URL, so that nothing resolves against it.
fn provisional(value: &str, doubt: Option<BaseDoubt>) -> Option<(Arc<str>, Cow<'static, str>)> {
    if let Some(doubt) = doubt {
        let unread = value.find(['&', '<']).unwrap_or_default();
        return Some((
            value[unread..].into(),
            format!("it counts, but {}", doubt.name()).into(),
        ));
    }
    let is_template =
        reference::placeholder(value).is_some() || reference::contains_placeholder(value);
    let reason = "a template engine will replace its placeholder; until then only its absolute part is known";
    is_template.then(|| (value.into(), reason.into()))
}

display_by_name!(Rule, Source, Status);

#[cfg(test)]
mod tests {
    use super::abridged;

    /// Bug 696: a URL of up to 256 characters, but more bytes, got an ellipsis.
    #[test]
    fn only_long_urls_are_shortened() {
        for letter in ["a", "\u{e9}"] {
            let [short, long] = [256, 257].map(|length| letter.repeat(length));
            assert_eq!(abridged(&short), short);
            assert_eq!(abridged(&long), format!("{short}…"));
        }
    }
}
