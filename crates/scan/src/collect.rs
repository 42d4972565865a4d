//! Collects the links in the value of an attribute or in text. The value is split according to its syntax, and each
//! reference is added with a map back to its bytes.
//!
//! ```
//! // The value is CSS in an attribute: two layers, one reference.
//! let page = b"<p style=\"a:url(&quot;x\\&#121;&quot;)\">";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "xy");
//! assert_eq!(&page[document.links[0].span().range()], b"x\\&#121;");
//! ```
//!
//! Deliberately absent: the positions of values, which the HTML and XML modules find.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use baselink_text::{
    Code, Diagnostic, Span, View,
    format::is_among,
    layer::{
        escape::{self, Quote},
        spelling::{Carrier, Form, Spelling},
    },
};
use baselink_url::scheme_of;

use super::{
    ScanOptions,
    attributes::{AttributeBase, Group, Groups, Row, Syntax},
    css, json, script, value,
};
use crate::document::{Against, Certainty, LONGEST_BASE, Link, Role, entity_name};

/// The maximum number of JSON-LD bases that are relative to each other. References with more bases stay relative.
const MOST_INNER_BASES: usize = 16;

/// A reference to resolve against the document base URL. It may not need decoding.
#[derive(Debug)]
pub struct Plain {
    /// The bytes of the reference, including white space and character references.
    pub span: Span,
    /// The spans of the element's and the attribute's name, and the row for both; `None` in the text of a `style`
    /// element.
    pub names: Option<(Span, Span, &'static Row)>,
    /// The delimiter of the value.
    pub quote: Quote,
    /// True if a new `<` or `>` in the reference could end a construct around it, such as a comment.
    pub enclosed: bool,
    /// True if an empty reference is resolved like any other.
    pub empty_resolves: bool,
    /// True if a reference that is only a fragment identifies an element of this document, and is not a link.
    pub fragment_identifies: bool,
    /// The certainty that the value is a reference.
    pub certainty: Certainty,
}

/// A receiver of the links of a document, in document order. Spans are offsets in the scanned bytes.
pub trait Links {
    /// Receives a reference that may not need decoding. Returns `false` to receive it as a [`Link`] instead.
    fn plain(&mut self, bytes: &[u8], found: &Plain) -> bool;

    /// Receives a link.
    fn link(&mut self, bytes: &[u8], link: Link);

    /// Receives a document embedded in a value.
    fn part(&mut self, bytes: &[u8], part: Part);

    /// Receives a name that a fragment can refer to. Called only if [`ScanOptions::ids`] is set.
    fn id(&mut self, _id: String) {}

    /// Receives the end of the document, before the links that only a preload scanner finds. They may precede earlier ones.
    fn end(&mut self) {}

    /// Receives a diagnostic.
    fn diagnostic(&mut self, diagnostic: Diagnostic);
}

/// The maximum nesting depth of documents and of markup in text.
///
/// Each level is scanned separately, so without a maximum the work would be quadratic.
pub const DEEPEST: usize = 16;

/// The most links that wait for others, or are read in a document inside another one.
pub const MOST_HELD: usize = 1 << 16;

/// The most documents that are read in a document or message of this length. Each takes some memory, even if it is short.
pub fn most_parts(length: usize) -> usize {
    (length >> 9).max(1 << 14)
}

/// The diagnostic for the first of the documents or parts that are not read, at `span`.
pub fn too_deep(span: Span) -> Diagnostic {
    let message = "documents are nested too deep here, or too many; the inner ones were not read";
    Diagnostic::new(Code::TooDeep, span, message)
}

/// A document embedded in a value, not scanned yet.
pub struct Part {
    pub(crate) found: Embedded,
    pub(crate) entity: Arc<str>,
    /// The number of documents, and of levels of markup in text, around this one.
    pub(crate) depth: usize,
}

/// A link, or a document in a value.
pub enum Found {
    Link(Box<Link>),
    Part(Box<Part>),
}

/// Finds the links of a document in values and text, and passes them on.
pub struct Collector<'a, L: ?Sized> {
    options: &'a ScanOptions,
    /// The bytes that are scanned.
    bytes: &'a [u8],
    /// The receiver of links and of embedded documents.
    pub links: &'a mut L,
    /// The links and documents that wait for links that precede them, each with its offset.
    pub waiting: VecDeque<(usize, Found)>,
    /// True if what is found next waits, too.
    pub waits: bool,
    /// The number of the document.
    pub entity: Arc<str>,
    /// The number of embedded documents that were found.
    parts: usize,
    /// The nesting depth of documents and of markup in text.
    pub depth: usize,
    /// True if a new `<` or `>` could end a construct around the document, such as a CDATA section.
    pub enclosed: bool,
    /// The offset from which a preload scanner may find links that the document does not have.
    pub differs: Option<usize>,
    /// The ends of the links from there on, by their starts.
    ends: HashMap<usize, usize>,
    /// True if only those are wanted.
    pub is_preload: bool,
}

/// A document embedded in a value.
pub struct Embedded {
    pub value: View,
    pub form: Form,
    pub carrier: Carrier,
    /// The carrier of each piece of the value, if there are several.
    pub pieces: Vec<(Span, Carrier)>,
    /// The XML entities in the value.
    pub entities: Vec<Span>,
    pub enclosed: bool,
    /// The base of a reference in the place of this value.
    pub within: Against,
}

/// The carriers of a value.
#[derive(Clone, Copy)]
pub enum Carriers<'a> {
    /// A single carrier.
    One(Carrier),
    /// A carrier for each piece, in order.
    Pieces(&'a [(Span, Carrier)]),
}

impl Carriers<'_> {
    /// The carrier of `span` in the value; `None` if there are several.
    fn of(self, span: Span) -> Option<Carrier> {
        match self {
            Self::One(carrier) => Some(carrier),
            Self::Pieces(pieces) => {
                let at = pieces.partition_point(|(piece, _)| piece.end < span.end);
                let (piece, carrier) = pieces.get(at)?;
                (piece.start <= span.start).then_some(*carrier)
            }
        }
    }

    fn first(self) -> Carrier {
        match self {
            Self::One(carrier) => carrier,
            Self::Pieces(pieces) => pieces.first().map_or(Carrier::Raw, |(_, carrier)| *carrier),
        }
    }
}

/// The place of a reference: its element, attribute and carrier.
#[derive(Clone)]
pub struct LinkPlace<'a> {
    pub element: &'a str,
    pub attribute: Option<&'a str>,
    pub row: Option<&'static Row>,
    /// The role of the references, if no row gives one.
    pub role: Role,
    /// The certainty of the references, if no row gives one.
    pub certainty: Certainty,
    pub carriers: Carriers<'a>,
    pub against: Against,
    /// True if the attribute is written without `=`.
    pub no_value: bool,
    /// The XML entities in the value.
    pub entities: &'a [Span],
    /// The `rel` of the element.
    pub rel: Option<&'a Arc<str>>,
    /// In a literal result element of XSLT, true if the value is a template, which contains an expression.
    pub in_results: Option<bool>,
    /// The name of the custom property whose value contains the reference.
    pub custom_property: Option<&'a [u8]>,
}

impl<'a> LinkPlace<'a> {
    /// The place of the text of an element.
    pub const fn text_of(element: &'a str, carriers: Carriers<'a>) -> Self {
        Self {
            element,
            attribute: None,
            row: None,
            role: Role::Embedded,
            certainty: Certainty::Certain,
            carriers,
            against: Against::Document,
            no_value: false,
            entities: &[],
            rel: None,
            in_results: None,
            custom_property: None,
        }
    }
}

impl<'a, L: Links + ?Sized> Collector<'a, L> {
    /// Passes on the links of the document in `bytes` to `links`.
    pub fn to(options: &'a ScanOptions, links: &'a mut L, bytes: &'a [u8]) -> Self {
        Self {
            options,
            bytes,
            links,
            waiting: VecDeque::new(),
            waits: false,
            entity: Arc::clone(&options.entity),
            parts: 0,
            depth: 0,
            enclosed: false,
            differs: None,
            ends: HashMap::new(),
            is_preload: false,
        }
    }

    /// Passes on what waits and begins before `end`, in document order.
    pub fn release(&mut self, end: usize) {
        if std::mem::take(&mut self.waits) {
            let waiting = self.waiting.make_contiguous();
            waiting.sort_by_key(|(start, _)| *start);
        }
        while self.waiting.front().is_some_and(|(start, _)| *start < end)
            && let Some((start, found)) = self.waiting.pop_front()
        {
            self.pass_on(start, found);
        }
    }

    /// Offers a reference to the receiver. Returns `false` if it is to be passed on as a link.
    #[inline(always)]
    pub fn takes(&mut self, plain: &Plain) -> bool {
        if self.is_preload {
            return self.ends.contains_key(&plain.span.start);
        }
        if self.differs.is_some() {
            self.ends.insert(plain.span.start, plain.span.end);
        }
        self.links.plain(self.bytes, plain)
    }

    /// Passes on what begins at `start`, unless it has to wait. In the second pass, only links that the first did not find.
    fn pass_on(&mut self, start: usize, found: Found) {
        match found {
            _ if self.waits => self.waiting.push_back((start, found)),
            Found::Link(link) => {
                let is_known = self.ends.contains_key(&start);
                if self.differs.is_some() && !is_known {
                    self.ends.insert(start, link.span().end);
                }
                if !(is_known && self.is_preload) {
                    self.links.link(self.bytes, *link);
                }
            }
            Found::Part(_) if self.is_preload => {}
            Found::Part(part) => self.links.part(self.bytes, *part),
        }
    }

    /// Adds what a preload scanner takes for the address of an `@import`, unless CSS has the same reference there. If CSS has another
    /// one, the name of the rule at `keyword` is replaced where the address leads out of the folder of a copy.
    pub fn import(&mut self, keyword: Span, address: &View, place: &LinkPlace<'_>) {
        let (text, Span { start, end }) = (&address.text, address.map.source());
        match self.ends.get(&start) {
            None => self.decoded(address, Form::Field(None), Span::new(0, text.len()), place),
            // In CSS, `\` begins an escape.
            Some(same) if *same == end && !text.contains('\\') => {}
            Some(_) => self.link(Link {
                certainty: Certainty::IfLeadsOut,
                ..Link::in_text("style", text.clone(), keyword, Form::Whole)
            }),
        }
    }

    fn link(&mut self, link: Link) {
        self.pass_on(link.span().start, Found::Link(Box::new(link)));
    }

    /// Reports that the documents or links at `span` are too many, or nested too deep.
    pub fn too_deep(&mut self, span: Span) {
        self.links.diagnostic(too_deep(span));
        self.leave_unread(span);
    }

    /// Passes on a link in the place of what was not read, because its links could lead out of the folder of a copy.
    pub fn leave_unread(&mut self, span: Span) {
        if self.options.groups.has_loaded() {
            self.link(Link {
                against: Against::Unknown,
                ..Link::in_text("", String::new(), span, Form::Whole)
            });
        }
    }

    /// Adds the references in a value.
    pub fn references(&mut self, view: View, syntax: Syntax, place: &LinkPlace<'_>) {
        let text = view.text.as_str();
        let (spans, form) = match syntax {
            Syntax::Curie if text.trim_start().starts_with('[') => return,
            Syntax::Url | Syntax::Curie => {
                return self.add_trimmed(&view, Span::new(0, text.len()), Form::Whole, place);
            }
            Syntax::Spaces => (value::space_separated(text), Form::Spaces),
            Syntax::Pairs => (
                value::space_separated(text)
                    .into_iter()
                    .skip(1)
                    .step_by(2)
                    .collect(),
                Form::Spaces,
            ),
            Syntax::Commas => (value::separated(text, b','), Form::Commas),
            Syntax::Semicolons => (value::separated(text, b';'), Form::Semicolons),
            Syntax::Srcset => (value::srcset(text), Form::Srcset),
            Syntax::Task => (value::task(text), Form::Semicolons),
            Syntax::Refresh => return self.refresh(&view, place),
            Syntax::Documents => {
                for (span, quote) in value::documents(text) {
                    self.add_trimmed(&view, span, Form::Refresh(Some(quote)), place);
                }
                return;
            }
            Syntax::Css | Syntax::CssValue => return self.css(&view, place),
            Syntax::Html => {
                self.embed(view, Form::Document, place);
                return;
            }
        };
        if self.waits && self.waiting.len() + spans.len() > MOST_HELD {
            return self.too_deep(view.map.source());
        }
        for span in spans {
            self.add_trimmed(&view, span, form, place);
        }
    }

    /// Adds the URL of a declarative refresh. In a copy, if Chromium finds another URL, each counts only if it leads out, and is
    /// then replaced, because an edit of one would change the other.
    fn refresh(&mut self, view: &View, place: &LinkPlace<'_>) {
        let own = value::refresh(&view.text);
        let other = value::refresh_in_chromium(&view.text);
        let url = |found: &value::Refresh| value::trim(&view.text[found.span.range()]);
        if self.options.groups.has_loaded() && other.as_ref().map(url) != own.as_ref().map(url) {
            let place = LinkPlace {
                no_value: true,
                certainty: Certainty::IfLeadsOut,
                ..place.clone()
            };
            for found in [own, other].into_iter().flatten() {
                self.add_trimmed(view, found.span, Form::Whole, &place);
            }
        } else if let Some(found) = own.filter(|found| !found.span.is_empty()) {
            self.add_trimmed(view, found.span, Form::Refresh(found.quote), place);
        }
    }

    /// Adds the reference at `span` of a value.
    fn add_trimmed(&mut self, view: &View, span: Span, form: Form, place: &LinkPlace<'_>) {
        let inner = value::trimmed(&view.text[span.range()]).shifted(span.start);
        self.add(view, inner, form, inner, place);
    }

    /// Adds the reference that is written at `at` in a value, with the text `decoded`.
    pub fn decoded(&mut self, decoded: &View, form: Form, at: Span, place: &LinkPlace<'_>) {
        self.add(decoded, value::trimmed(&decoded.text), form, at, place);
    }

    /// Adds the reference at `inner` in `view`. Its span in the value is `at`. The reference cannot be edited if it has
    /// several carriers, contains an entity, or belongs to an attribute without a value.
    fn add(&mut self, view: &View, inner: Span, form: Form, at: Span, place: &LinkPlace<'_>) {
        let row = place.row;
        let carrier = place.carriers.of(at);
        let has_entity = has_entity(place.entities, at);
        let is_editable = !place.no_value && carrier.is_some() && !has_entity;
        let carrier = carrier.unwrap_or(place.carriers.first());
        let reference = &view.text[inner.range()];
        // An XSLT style sheet produces the link. Its base is unknown, unless it begins with `/`: browsers apply a sheet only to
        // documents of its own origin.
        let is_result = place
            .in_results
            .is_some_and(|is_template| is_template || !reference.starts_with(['/', '\\']));
        self.link(Link {
            element: place.element.to_owned().into(),
            attribute: place.attribute.map(|name| name.to_owned().into()),
            reference: reference.to_owned(),
            role: row.map_or(place.role, |row| row.role),
            certainty: match (place.certainty, row) {
                _ if self.is_preload => Certainty::IfLeadsOut,
                (Certainty::Certain, Some(row)) => self.options.certainty_of(row),
                (certainty, _) => certainty,
            },
            against: match (is_result, has_entity) {
                (true, _) => Against::Results,
                (false, true) => Against::Unknown,
                // A base would change the meaning of other references.
                _ if self.is_preload && place.against == Against::Fallback => Against::Unknown,
                (false, false) => place.against.clone(),
            },
            empty_resolves: row.is_some_and(|row| row.empty_resolves),
            fragment_identifies: row.is_none_or(|row| {
                row.fragment_identifies || matches!(row.syntax, Syntax::Css | Syntax::CssValue)
            }),
            map: view.map.slice(inner).filter(|_| is_editable),
            holder: view.map.covering(inner),
            spelling: Spelling {
                form,
                carrier,
                enclosed: self.enclosed,
            },
            rel: place.rel.cloned(),
            custom_property: place
                .custom_property
                .map(|name| String::from_utf8_lossy(name).into()),
        });
    }

    /// Adds the URLs of the text in `view`. Returns a diagnostic if a manifest or a script cannot be read.
    pub fn text(
        &mut self,
        view: &View,
        content: TextContent,
        place: &LinkPlace<'_>,
    ) -> Option<Diagnostic> {
        match content {
            TextContent::Css => self.css(view, place),
            TextContent::Json(kind) => return self.json(view, kind, place),
            TextContent::Script(goal) => return self.script(view, goal, place),
        }
        None
    }

    /// Adds the URLs of the CSS in `view`.
    pub fn css(&mut self, view: &View, place: &LinkPlace<'_>) {
        let text = view.text.as_bytes();
        let has_string = || memchr::memchr2(b'"', b'\'', text).is_some();
        if memchr::memchr3(b'(', b'@', b'\\', text).is_none()
            && !(self.options.groups.has_loaded() && has_string())
        {
            return;
        }
        let mut urls = css::Urls::of(text, self.options.groups);
        while let Some(url) = urls.next() {
            if let Some(raw) = view.slice(url.span) {
                let place = LinkPlace {
                    custom_property: urls.custom_property(url),
                    certainty: match url.certainty {
                        Certainty::Certain => place.certainty,
                        other => other,
                    },
                    ..place.clone()
                };
                self.decoded(&url.decode(raw), url.form, url.span, &place);
            }
        }
    }

    /// Adds the URLs of the JSON in `view`. Returns a diagnostic for a manifest that is not JSON.
    fn json(
        &mut self,
        view: &View,
        kind: json::JsonKind,
        place: &LinkPlace<'_>,
    ) -> Option<Diagnostic> {
        let found = json::urls(kind, &view.text);
        for url in &found.urls {
            let against = match inner_base(view, &found.bases, url.base) {
                Against::Document => place.against.clone(),
                inner => inner,
            };
            let element = url.member.unwrap_or(place.element);
            let Some(decoded) = view.slice(url.span).map(escape::script) else {
                continue;
            };
            let place = LinkPlace {
                against,
                element,
                role: url.role,
                certainty: self
                    .options
                    .certainty(url.is_doubtful.then_some(Group::Json)),
                ..*place
            };
            let form = Form::Script('"');
            if !url.is_html() {
                self.decoded(&decoded, form, url.span, &place);
            } else if decoded.text.contains('<') {
                // HTML without a tag contains no links.
                let place = LinkPlace {
                    carriers: Carriers::One(Carrier::Raw),
                    entities: &[],
                    ..place
                };
                self.embed(decoded, form, &place);
            }
        }
        let is_file = matches!(kind, json::JsonKind::Manifest | json::JsonKind::Feed);
        let line = is_file.then(|| json::fault(&view.text))??;
        let message = format!("not JSON: syntax error in line {line}; no link in it was read");
        Some(Diagnostic::new(Code::NotWellFormed, Span::at(0), message))
    }

    /// Adds a document embedded in a value, unless an XSLT style sheet produces it.
    fn embed(&mut self, value: View, form: Form, place: &LinkPlace<'_>) {
        if place.in_results.is_some() {
            return;
        }
        let pieces = match place.carriers {
            Carriers::One(_) => Vec::new(),
            Carriers::Pieces(pieces) => pieces.to_vec(),
        };
        let found = Embedded {
            value,
            form,
            carrier: place.carriers.first(),
            pieces,
            entities: place.entities.to_vec(),
            enclosed: self.enclosed,
            within: place.against.clone(),
        };
        self.parts += 1;
        let (span, most) = (found.value.map.source(), most_parts(self.bytes.len()));
        if self.parts > most + 1 {
            return self.leave_unread(span);
        }
        if self.depth == DEEPEST || self.parts > most {
            return self.too_deep(span);
        }
        let part = Part {
            found,
            entity: entity_name(&self.entity, self.parts),
            depth: self.depth + 1,
        };
        self.pass_on(span.start, Found::Part(Box::new(part)));
    }

    /// Adds the URLs of the script in `view`. If the script cannot be read to its end, adds none and returns a
    /// diagnostic.
    fn script(
        &mut self,
        view: &View,
        goal: script::Goal,
        place: &LinkPlace<'_>,
    ) -> Option<Diagnostic> {
        let urls = match script::urls(&view.text, goal) {
            Ok(urls) => urls,
            Err(_) if self.options.probed.contains(Group::Scripts) => return None,
            Err(fault) => {
                let message = format!("the script was not read: {} here", fault.what);
                let span = view.map.covering(Span::at(fault.at));
                return Some(Diagnostic::new(Code::NotWellFormed, span, message));
            }
        };
        let place = LinkPlace {
            certainty: self.options.certainty(Some(Group::Scripts)),
            ..place.clone()
        };
        for url in urls {
            let Some(raw) = view.slice(url.span) else {
                continue;
            };
            let decoded = escape::script(raw);
            if !url.is_specifier || json::is_url_like(&decoded.text) {
                self.decoded(&decoded, Form::Script(url.quote), url.span, &place);
            }
        }
        None
    }
}

/// The syntax of the text of an element, or of a file.
#[derive(Clone, Copy, PartialEq)]
pub enum TextContent {
    Css,
    Json(json::JsonKind),
    Script(script::Goal),
}

/// The media types of JavaScript (MIME Sniffing, 4.6). In a `script` element, the empty string means JavaScript, too
/// (HTML, 4.12.1).
const JAVASCRIPT: &str = "\
    application/ecmascript application/javascript application/x-ecmascript application/x-javascript \
    text/ecmascript text/javascript text/javascript1.0 text/javascript1.1 text/javascript1.2 \
    text/javascript1.3 text/javascript1.4 text/javascript1.5 text/jscript text/livescript \
    text/x-ecmascript text/x-javascript";

impl TextContent {
    /// The content of a `style` element. `other` returns the value of any attribute of the element.
    pub fn of_style(other: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let type_ = other("type").unwrap_or_default();
        matches!(&*type_.trim().to_ascii_lowercase(), "" | "text/css").then_some(Self::Css)
    }

    /// The content of a `script` element. `None` for unknown types, if the group of the type is not enabled, and for
    /// JavaScript if an attribute names a source: then its text does not run (HTML, 4.12.1). Without `type`, the
    /// `language` counts (step 8).
    pub fn of_script(
        other: impl Fn(&str) -> Option<String>,
        sources: &[&str],
        groups: &Groups,
    ) -> Option<Self> {
        let language = || other("language").filter(|language| !language.is_empty());
        let type_ = match other("type") {
            Some(type_) => type_.trim().to_owned(),
            None => language().map_or(String::new(), |language| format!("text/{language}")),
        };
        let type_ = type_.to_ascii_lowercase();
        let (group, content) = match &*type_ {
            "importmap" => (Group::Json, Self::Json(json::JsonKind::ImportMap)),
            "speculationrules" => (Group::Json, Self::Json(json::JsonKind::SpeculationRules)),
            // The media type without its parameters (MIME Sniffing, 4.3).
            _ if type_.split(';').next().map(str::trim_end) == Some("application/ld+json") => {
                (Group::Json, Self::Json(json::JsonKind::JsonLd))
            }
            "module" => (Group::Scripts, Self::Script(script::Goal::Module)),
            _ if type_.is_empty() || is_among(type_.as_bytes(), JAVASCRIPT) => {
                (Group::Scripts, Self::Script(script::Goal::Classic))
            }
            _ => return None,
        };
        // An import map says what the imports of scripts mean.
        let is_map = type_ == "importmap" && groups.contains(Group::Scripts);
        let is_read = (is_map || groups.contains(group))
            && (group == Group::Json || sources.iter().all(|name| other(name).is_none()));
        is_read.then_some(content)
    }
}

/// The base of the URLs in the attribute of `row`, in an element with the base `element`. `codebase` returns the value of
/// the element's `codebase`, and true if it contains XML entities.
pub fn against(
    row: &Row,
    element: Option<usize>,
    codebase: impl FnOnce() -> Option<(String, bool)>,
) -> Against {
    let own = element.map_or(Against::Document, Against::Element);
    match row.against {
        AttributeBase::Document => own,
        AttributeBase::Fallback => Against::Fallback,
        AttributeBase::Retrieval => Against::Retrieval,
        AttributeBase::Codebase => match codebase() {
            None => own,
            Some((_, true)) => Against::Unknown,
            Some((text, _)) if text.len() > LONGEST_BASE => Against::Nothing,
            Some((text, _)) => Against::Codebase(element, value::trim(&text).to_owned()),
        },
    }
}

/// True if `span` contains a reference to one of the `entities`.
pub fn has_entity(entities: &[Span], span: Span) -> bool {
    let first = entities.partition_point(|entity| entity.end <= span.start);
    entities
        .get(first)
        .is_some_and(|entity| entity.start < span.end)
}

/// The `@base` in effect, preceded by the bases that it is relative to, up to a null one. [`Against::Nothing`] if the
/// `@base` in effect is null, if there are too many bases, or if a base is too long.
fn inner_base(view: &View, bases: &[json::JsonBase], innermost: Option<usize>) -> Against {
    let mut chain = Vec::new();
    let mut next = innermost;
    while let Some(base) = next.and_then(|at| bases.get(at)) {
        let Some(raw) = base.span.and_then(|span| view.slice(span)) else {
            // Below a null base, a relative one has no meaning.
            let outermost = chain.first().map(|base: &String| scheme_of(base));
            return match outermost.flatten() {
                Some(_) => Against::Inner(chain),
                None => Against::Nothing,
            };
        };
        if chain.len() == MOST_INNER_BASES || raw.text.len() > LONGEST_BASE {
            return Against::Nothing;
        }
        chain.insert(0, escape::script(raw).text);
        next = base.outer;
    }
    if chain.is_empty() {
        Against::Document
    } else {
        Against::Inner(chain)
    }
}
