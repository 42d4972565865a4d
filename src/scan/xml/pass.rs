//! One pass over the tokens of a document: which element each tag opens, in which namespace and under
//! which `xml:base`, and which of its values and texts hold links.
//!
//! ```
//! use baselink::document::Against;
//! use baselink::{ScanOptions, format::Format};
//! let feed = b"<feed xmlns='http://www.w3.org/2005/Atom'><entry xml:base='e/'><link href='x'/></entry></feed>";
//! let document = baselink::scan_as(Format::Xml, feed, &ScanOptions::default()).unwrap();
//! assert_eq!(document.element_bases[0].value, "e/");
//! assert_eq!(document.links[1].against, Against::Element(0));
//! ```
//!
//! Deliberately absent: validity. A DTD is read for its internal entities only.

use std::borrow::Cow;

use super::entry::{self, EntryLink, EntryLinkElement};
use super::namespaces::{Bindings, Vocabulary};
use super::tokens::{self, XmlAttribute, XmlFault, XmlTag, XmlToken};
use super::vocabulary;
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Against, BaseKind, DeclaredBase, ElementBase, Head, LONGEST_BASE, Standing};
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::layer::spelling::Carrier;
use crate::layer::xml::{self, DecodedText, Entities, EntityUse};
use crate::layer::{OffsetMap, View};
use crate::scan::attributes::{self, Namespace, Row, Syntax};
use crate::scan::collect::{Carriers, Collector, LinkPlace, ScriptContent};
use crate::scan::html::saved;
use crate::scan::{ScanOptions, json, script, value};
use crate::span::Span;

/// As much of a name as is kept.
const LONGEST_NAME: usize = 256;

/// How many elements that are only nearly `base` are reported.
const MOST_STRAYS: usize = 32;

/// Names of SVG in the case that they must have; the tables know them in lower case.
const MIXED_CASE: &[&str] = &[
    "altGlyph",
    "animateColor",
    "animateMotion",
    "animateTransform",
    "clipPath",
    "feImage",
    "foreignObject",
    "glyphRef",
    "linearGradient",
    "radialGradient",
    "textPath",
    "attributeName",
    "definitionURL",
];

/// An element that is open.
struct OpenElement {
    name: Span,
    /// For [`Bindings::leave`].
    outer: usize,
    /// The innermost `xml:base` below the document element that is in force in it.
    base: Option<usize>,
    /// Where it is an entry of a feed, what is known of its link.
    entry: Option<EntryLink>,
    vocabulary: Vocabulary,
}

/// An attribute with its namespace.
struct NamespacedAttribute {
    raw: XmlAttribute,
    vocabulary: Vocabulary,
    /// Its name without prefix.
    local: Span,
}

/// An element whose text is looked at when it ends.
struct OpenContent {
    /// How many elements are open in it and around it.
    depth: usize,
    content: ContentKind,
    /// Its text so far: whether each piece is a CDATA section.
    pieces: Vec<(Span, bool)>,
}

#[derive(Clone, Copy)]
enum ContentKind {
    Css,
    Json(json::JsonKind),
    Script(script::Goal),
    /// The permalink of an entry, perhaps, which is no link of a feed.
    Guid,
    /// The value of a row of the second table.
    Value(&'static Row),
}

/// A pass over a document.
pub(super) struct XmlPass<'a> {
    bytes: &'a [u8],
    charset: Charset,
    format: Format,
    pub(super) options: &'a ScanOptions,
    pub(super) collector: Collector<'a>,
    pub(super) bases: Vec<DeclaredBase>,
    pub(super) element_bases: Vec<ElementBase>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) head: Option<Head>,
    pub(super) ids: Vec<String>,
    entities: Entities,
    bindings: Bindings,
    open: Vec<OpenElement>,
    /// How many of the open elements are XHTML templates.
    templates: usize,
    text: Option<OpenContent>,
    /// What elements without a namespace are; nothing before the document element.
    plain: Option<Vocabulary>,
    has_base: bool,
    has_doctype: bool,
}

impl<'a> XmlPass<'a> {
    /// Reads `bytes`, which begin at `start`, up to their end or the first fault.
    pub(super) fn over(
        bytes: &'a [u8],
        start: usize,
        charset: Charset,
        format: Format,
        options: &'a ScanOptions,
    ) -> Self {
        let mut pass = Self {
            bytes,
            charset,
            format,
            options,
            collector: Collector::new(options, false),
            bases: Vec::new(),
            element_bases: Vec::new(),
            diagnostics: Vec::new(),
            head: None,
            ids: Vec::new(),
            entities: Entities::default(),
            bindings: Bindings::default(),
            open: Vec::new(),
            templates: 0,
            text: None,
            plain: None,
            has_base: false,
            has_doctype: false,
        };
        let fault = tokens::scan(bytes, start, &mut |token, span| pass.take(token, span));
        if let Some(fault) = fault.or_else(|| pass.unfinished()) {
            let message = format!("not well formed: {}; what follows was left", fault.what);
            pass.diagnostics.push(Diagnostic::new(
                Code::NotWellFormed,
                Span::at(fault.at),
                message,
            ));
        }
        if pass.entities.is_exhausted() {
            let message =
                "the entities take more than their budget; references with them were left";
            pass.diagnostics.push(Diagnostic::new(Code::EntityBudget, Span::at(start), message));
        }
        pass
    }

    /// What is missing at the end.
    fn unfinished(&self) -> Option<XmlFault> {
        let end = self.bytes.len();
        match self.open.is_empty() {
            false => Some(XmlFault::new(end, "the document ends inside an element")),
            true if self.plain.is_none() => Some(XmlFault::new(end, "there is no element")),
            true => None,
        }
    }

    fn take(&mut self, token: XmlToken, span: Span) -> Result<(), XmlFault> {
        match token {
            XmlToken::StartTag { is_empty } => self.start_tag(span, is_empty)?,
            XmlToken::EndTag => self.end_tag(span)?,
            XmlToken::Text => self.piece(span, false)?,
            XmlToken::CData => self.piece(span, true)?,
            XmlToken::Comment => self.commented_base(span),
            XmlToken::Instruction => self.instruction(span),
            XmlToken::Doctype => self.doctype(span)?,
        }
        Ok(())
    }

    fn piece(&mut self, span: Span, is_cdata: bool) -> Result<(), XmlFault> {
        let depth = self.open.len();
        if depth == 0 {
            let bytes = &self.bytes[span.range()];
            let blank = bytes.len() - bytes.trim_ascii_start().len();
            return if blank == bytes.len() {
                Ok(())
            } else {
                Err(XmlFault::new(span.start + blank, "this text is outside the document element"))
            };
        }
        if let Some(text) = self.text.as_mut().filter(|text| text.depth == depth) {
            text.pieces.push((span, is_cdata));
        }
        Ok(())
    }

    /// The internal subset, and the namespaces that well-known DTDs declare for the document element. There is at most
    /// one declaration, and it stands before that element (XML 1.0, 2.8).
    fn doctype(&mut self, span: Span) -> Result<(), XmlFault> {
        let fault = |what| Err(XmlFault::new(span.start, what));
        if self.plain.is_some() {
            return fault("a document type declaration begins here, inside or after an element");
        }
        if std::mem::replace(&mut self.has_doctype, true) {
            return fault("a second document type declaration begins here");
        }
        let text = self.charset.decode(&self.bytes[span.range()], 0).text;
        let inside = text.get("<!DOCTYPE".len()..text.len().saturating_sub(1)).unwrap_or_default();
        self.entities = Entities::of_doctype(inside);
        let before_subset = inside.split('[').next().unwrap_or_default();
        for (public, vocabulary) in
            [("-//W3C//DTD XHTML ", Vocabulary::Xhtml), ("-//W3C//DTD SVG ", Vocabulary::Svg)]
        {
            if before_subset.contains(public) {
                self.bindings.bind(b"", vocabulary);
                self.bindings.bind(b"xlink", Vocabulary::XLink);
            }
        }
        Ok(())
    }

    fn instruction(&mut self, span: Span) {
        let inside = Span::new(span.start + 2, span.end.saturating_sub(2));
        let target = &self.bytes[inside.range()];
        let row = vocabulary::INSTRUCTIONS.iter().find(|(name, _)| {
            target
                .strip_prefix(name.as_bytes())
                .is_some_and(|rest| rest.first().is_some_and(|byte| byte.is_ascii_whitespace()))
        });
        // After the start of the document element they mean nothing.
        let Some((name, group)) = row.filter(|_| self.plain.is_none()) else {
            return;
        };
        if group.is_some_and(|group| !self.options.groups.contains(group)) {
            return;
        }
        let Ok(tag) = tokens::tag(self.bytes, inside.start, inside.end) else {
            return;
        };
        for attribute in &tag.attributes {
            if &self.bytes[attribute.name.range()] == b"href" {
                // No entities but the predefined ones are there (xml-stylesheet, 3).
                let raw = self
                    .charset
                    .decode(&self.bytes[attribute.value.range()], attribute.value.start);
                let DecodedText { view, entities } =
                    xml::attribute_value(raw, &Entities::default());
                let element = format!("?{name}");
                let carrier = Carrier::XmlAttribute(attribute.quote);
                let place = LinkPlace {
                    attribute: Some("href"),
                    row: Some(&vocabulary::HREF),
                    against: Against::DocumentEntity,
                    entities: &entities,
                    ..LinkPlace::text_of(&element, Carriers::One(carrier))
                };
                self.collector.references(view, Syntax::Url, &place);
            }
        }
    }

    /// The bytes of a name.
    fn name(&self, span: Span) -> &'a [u8] {
        &self.bytes[span.range()]
    }

    /// A name for the tables: one that is not text is in none.
    fn text_of_name(&self, span: Span) -> &'a str {
        std::str::from_utf8(self.name(span)).unwrap_or_default()
    }

    /// A name for people.
    fn shown(&self, span: Span) -> Cow<'a, str> {
        let name = self.name(span);
        String::from_utf8_lossy(&name[..name.len().min(LONGEST_NAME)])
    }

    /// A name without its prefix.
    fn local(&self, name: Span) -> Span {
        let colon = memchr::memchr(b':', self.name(name));
        colon.map_or(name, |colon| Span::new(name.start + colon + 1, name.end))
    }

    fn prefix(&self, name: Span) -> &'a [u8] {
        let qualified = self.name(name);
        memchr::memchr(b':', qualified).map_or(&[], |colon| &qualified[..colon])
    }

    fn value(&self, attribute: &XmlAttribute) -> DecodedText {
        let raw = &self.bytes[attribute.value.range()];
        xml::attribute_value(self.charset.decode(raw, attribute.value.start), &self.entities)
    }

    fn start_tag(&mut self, span: Span, is_empty: bool) -> Result<(), XmlFault> {
        if self.text.is_some() {
            self.interrupt_text();
        }
        if self.open.is_empty() && self.plain.is_some() {
            return Err(XmlFault::new(span.start, "a second document element begins here"));
        }
        let inside = Span::new(span.start + 1, span.end - 1 - usize::from(is_empty));
        let XmlTag { name, attributes } = tokens::tag(self.bytes, inside.start, inside.end)?;
        let outer = self.bindings.enter();
        self.declare_namespaces(&attributes);
        let local = self.local(name);
        let mut vocabulary = self.bindings.of_element(self.prefix(name));
        let is_root = self.plain.is_none();
        if is_root {
            self.plain = Some(match vocabulary {
                Vocabulary::Plain => Vocabulary::of_root(self.text_of_name(local)),
                _ => Vocabulary::Plain,
            });
        }
        if vocabulary == Vocabulary::Plain {
            vocabulary = self.plain.unwrap_or(vocabulary);
        }
        let attributes: Vec<NamespacedAttribute> = attributes
            .into_iter()
            .map(|raw| NamespacedAttribute {
                vocabulary: self.bindings.of_attribute(self.prefix(raw.name)),
                local: self.local(raw.name),
                raw,
            })
            .collect();
        let around = self.open.last().and_then(|open| open.base);
        let base = self.xml_base(name, &attributes, is_root, around);
        let element = StartedElement { name, local, vocabulary, base };
        if self.options.entry_links {
            self.entry_link_in(&element, &attributes);
        }
        self.base_element(span, is_empty, &element, &attributes);
        if self.options.ids {
            self.ids(&element, &attributes);
        }
        for attribute in &attributes {
            self.attribute(&element, attribute, &attributes);
        }
        if is_empty {
            self.bindings.leave(outer);
            return Ok(());
        }
        if vocabulary == Vocabulary::Xhtml {
            match self.name(local) {
                b"template" => self.templates += 1,
                b"head" if self.open.len() == 1 && self.head.is_none() => {
                    let prefix = self.name(Span::new(name.start, local.start));
                    let prefix = String::from_utf8_lossy(prefix).into_owned();
                    self.head = Some(Head { at: span.end, prefix, is_xml: true });
                }
                _ => {}
            }
        }
        let entry = self.entry_of(span, &element);
        // What an entry contains has its link for a base; what it refers to itself has not.
        let base = base.or_else(|| self.base_in_entry(&element));
        self.open.push(OpenElement { name, outer, base, entry, vocabulary });
        self.open_text(&element, &attributes);
        Ok(())
    }

    fn declare_namespaces(&mut self, attributes: &[XmlAttribute]) {
        for attribute in attributes {
            let prefix = match self.name(attribute.name) {
                b"xmlns" => &[],
                name => match name.strip_prefix(b"xmlns:") {
                    Some(prefix) => prefix,
                    None => continue,
                },
            };
            let value = self.value(attribute).view.text;
            self.bindings.bind(prefix, Vocabulary::of_name(&value));
        }
    }

    fn end_tag(&mut self, span: Span) -> Result<(), XmlFault> {
        let name = self.bytes[span.start + 2..span.end - 1].trim_ascii_end();
        if self.open.last().is_none_or(|open| self.name(open.name) != name) {
            return Err(XmlFault::new(span.start, "this end tag is not that of the open element"));
        }
        if self.text.as_ref().is_some_and(|text| text.depth == self.open.len()) {
            self.close_text();
        }
        if let Some(open) = self.open.pop() {
            self.bindings.leave(open.outer);
            let is_template = open.vocabulary == Vocabulary::Xhtml
                && self.name(self.local(open.name)) == b"template";
            self.templates -= usize::from(is_template);
        }
        Ok(())
    }

    /// Notes the `xml:base` of an element, and gives the one that is in force in it.
    fn xml_base(
        &mut self,
        element: Span,
        attributes: &[NamespacedAttribute],
        is_root: bool,
        around: Option<usize>,
    ) -> Option<usize> {
        let found = attributes
            .iter()
            .find(|one| one.vocabulary == Vocabulary::Xml && self.name(one.local) == b"base");
        let Some(found) = found else {
            return around;
        };
        let DecodedText { view, entities } = self.value(&found.raw);
        let text = value::trim(&view.text).to_owned();
        let is_known = entities.iter().all(|entity| entity.is_known);
        let span = found.raw.value;
        let element = self.shown(element);
        let carrier = Carrier::XmlAttribute(found.raw.quote);
        let place = LinkPlace {
            attribute: Some("xml:base"),
            row: Some(&vocabulary::XML_BASE),
            against: match around {
                _ if is_root => Against::DocumentEntity,
                Some(around) => Against::Element(around),
                None => Against::Document,
            },
            entities: &entities,
            ..LinkPlace::text_of(&element, Carriers::One(carrier))
        };
        self.collector.references(view, Syntax::Url, &place);
        if is_root {
            let declared = DeclaredBase::of(BaseKind::XmlBase, span);
            self.bases.push(DeclaredBase { value: Some(text), is_known, ..declared });
            return None;
        }
        let is_entry_link = false;
        let outer = around;
        self.element_bases.push(ElementBase { is_entry_link, outer, value: text, is_known, span });
        Some(self.element_bases.len() - 1)
    }

    /// Notes the comment that Firefox wrote in the place of a `base` element when it saved the page.
    fn commented_base(&mut self, span: Span) {
        let is_in_head = self.open.last().is_some_and(|open| {
            let name = &self.bytes[open.name.range()];
            open.vocabulary == Vocabulary::Xhtml
                && name.rsplit(|&byte| byte == b':').next() == Some(b"head")
        });
        if self.format != Format::Xhtml || self.options.ignore_saved || !is_in_head {
            return;
        }
        if let Some(url) = saved::commented_url(self.bytes, span) {
            let url = self.charset.decode(&self.bytes[url.range()], url.start).text;
            let value = Some(value::trim(&url).to_owned());
            self.bases.push(DeclaredBase { value, ..DeclaredBase::of(BaseKind::Comment, span) });
        }
    }

    /// Notes an XHTML `base` element, or one that is nearly that.
    fn base_element(
        &mut self,
        span: Span,
        is_empty: bool,
        element: &StartedElement,
        attributes: &[NamespacedAttribute],
    ) {
        let local = self.name(element.local);
        if !local.eq_ignore_ascii_case(b"base") {
            return;
        }
        let is_base = element.vocabulary == Vocabulary::Xhtml && local == b"base";
        if !is_base
            && (!matches!(self.format, Format::Xhtml | Format::Svg)
                || self.bases.len() >= MOST_STRAYS)
        {
            return;
        }
        let href = attributes
            .iter()
            .find(|one| one.vocabulary == Vocabulary::Plain && self.name(one.local) == b"href");
        let read = href.map(|href| self.value(&href.raw));
        let is_known = read.iter().flat_map(|read| &read.entities).all(|entity| entity.is_known);
        let value = read.map(|read| value::trim(&read.view.text).to_owned());
        let standing = match value {
            _ if !is_base => Standing::NotXhtml,
            _ if self.templates > 0 => Standing::Template,
            None => Standing::NoHref,
            Some(_) if self.has_base => Standing::Later,
            Some(_) => Standing::First,
        };
        self.has_base |= standing == Standing::First;
        let removable = match href {
            Some(href) if attributes.len() > 1 => {
                let before = &self.bytes[..href.raw.name.start];
                let blank = before.len() - before.trim_ascii_end().len();
                Some(Span::new(href.raw.name.start - blank, href.raw.value.end + 1))
            }
            // The text before the tag must not become markup together with the text after it.
            _ => {
                let before = self.bytes[..span.start].last();
                let ends = before.is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'>');
                (ends && is_empty).then_some(span)
            }
        };
        self.bases.push(DeclaredBase {
            kind: BaseKind::Element,
            span,
            value,
            is_known,
            standing,
            removable,
        });
    }

    /// Notes what a fragment can name: `id`, `xml:id` (xml:id Version 1.0, 4), the name of an XHTML `a`.
    fn ids(&mut self, element: &StartedElement, attributes: &[NamespacedAttribute]) {
        let is_anchor = element.vocabulary == Vocabulary::Xhtml && self.name(element.local) == b"a";
        for attribute in attributes {
            let counts = match (attribute.vocabulary, self.name(attribute.local)) {
                (Vocabulary::Plain | Vocabulary::Xml, b"id") => true,
                (Vocabulary::Plain, b"name") => is_anchor,
                _ => false,
            };
            if counts {
                let id = self.value(&attribute.raw).view.text;
                self.ids.extend((!id.is_empty()).then_some(id));
            }
        }
    }

    /// The value of the attribute that the tables call `name`.
    fn other(&self, attributes: &[NamespacedAttribute], name: &str) -> Option<String> {
        Some(self.read_other(attributes, name)?.view.text)
    }

    /// The same with its entities.
    fn read_other(&self, attributes: &[NamespacedAttribute], name: &str) -> Option<DecodedText> {
        let is_it =
            |one: &&NamespacedAttribute| self.table_name(one).is_some_and(|one| one == name);
        Some(self.value(&attributes.iter().find(is_it)?.raw))
    }

    /// What the table of HTML, SVG and MathML calls an attribute.
    fn table_name(&self, attribute: &NamespacedAttribute) -> Option<Cow<'a, str>> {
        let local = table_case(self.text_of_name(attribute.local))?;
        match attribute.vocabulary {
            Vocabulary::Plain => Some(local),
            Vocabulary::XLink if local == "href" => Some("xlink:href".into()),
            Vocabulary::Office => Some(format!("o:{local}").into()),
            _ => None,
        }
    }

    fn attribute(
        &mut self,
        element: &StartedElement,
        attribute: &NamespacedAttribute,
        attributes: &[NamespacedAttribute],
    ) {
        let Some(row) = self.row(element, attribute, attributes) else {
            return;
        };
        let against = self.against(element, row, attributes);
        let DecodedText { view, entities } = self.value(&attribute.raw);
        let (element, name) = (self.shown(element.name), self.shown(attribute.raw.name));
        let carrier = Carrier::XmlAttribute(attribute.raw.quote);
        let place = LinkPlace {
            attribute: Some(&name),
            row: Some(row),
            against,
            entities: &entities,
            ..LinkPlace::text_of(&element, Carriers::One(carrier))
        };
        self.collector.references(view, row.syntax, &place);
    }

    fn row(
        &self,
        element: &StartedElement,
        attribute: &NamespacedAttribute,
        attributes: &[NamespacedAttribute],
    ) -> Option<&'static Row> {
        let name = self.text_of_name(element.local);
        let local = self.text_of_name(attribute.local);
        let other = |name: &str| self.other(attributes, name);
        let groups = &self.options.groups;
        if !self.options.places.is_empty() {
            let lower = |span| self.text_of_name(span).to_ascii_lowercase();
            let (name, qualified) = (lower(element.local), lower(element.name));
            let attribute = lower(attribute.raw.name);
            let covers = |element: &str| {
                self.options.places.iter().find(|place| place.covers(element, &attribute))
            };
            if let Some(place) = covers(&qualified).or_else(|| covers(&name)) {
                return Some(place.row());
            }
        }
        let in_table = || {
            let namespace = match element.vocabulary {
                Vocabulary::Xhtml | Vocabulary::Vml => Namespace::Html,
                Vocabulary::Svg => Namespace::Svg,
                Vocabulary::MathMl => Namespace::MathMl,
                _ => return None,
            };
            let attribute = self.table_name(attribute)?;
            // Most attributes have no row for any element.
            if attributes::rows(&attribute).is_empty() {
                return None;
            }
            let name = match element.vocabulary {
                Vocabulary::Vml => format!("v:{name}").into(),
                _ => table_case(name)?,
            };
            attributes::find(namespace, &name, &attribute, &other, groups)
        };
        in_table().or_else(|| {
            let of = (element.vocabulary, attribute.vocabulary);
            vocabulary::attribute_row(of.0, name, of.1, local, &other, groups)
        })
    }

    /// What the references in an attribute are resolved against.
    fn against(
        &self,
        element: &StartedElement,
        row: &Row,
        attributes: &[NamespacedAttribute],
    ) -> Against {
        if matches!(row.syntax, Syntax::Css | Syntax::CssValue | Syntax::Html) {
            return Against::DocumentEntity;
        }
        match row.against {
            attributes::AttributeBase::Document => element.against(),
            attributes::AttributeBase::Fallback => Against::Fallback,
            attributes::AttributeBase::Retrieval => Against::Retrieval,
            attributes::AttributeBase::Codebase => match self.read_other(attributes, "codebase") {
                None => element.against(),
                Some(DecodedText { entities, .. }) if entities.iter().any(|one| !one.is_known) => {
                    Against::Unknown
                }
                Some(DecodedText { view, .. }) if view.text.len() > LONGEST_BASE => {
                    Against::Nothing
                }
                Some(DecodedText { view, .. }) => {
                    let codebase = value::trim(&view.text).to_owned();
                    match element.base {
                        Some(base) => Against::ElementCodebase(base, codebase),
                        None => Against::Codebase(codebase),
                    }
                }
            },
        }
    }

    fn open_text(&mut self, element: &StartedElement, attributes: &[NamespacedAttribute]) {
        let name = self.text_of_name(element.local);
        let type_ = || {
            let found = self.other(attributes, "type");
            found.map(|type_| type_.trim().to_ascii_lowercase()).unwrap_or_default()
        };
        let content = match (element.vocabulary, name) {
            (Vocabulary::Xhtml | Vocabulary::Svg, "style") => {
                matches!(type_().as_str(), "" | "text/css").then_some(ContentKind::Css)
            }
            (vocabulary @ (Vocabulary::Xhtml | Vocabulary::Svg), "script") => {
                let elsewhere: &[&str] = match vocabulary {
                    Vocabulary::Svg => &["href", "xlink:href"],
                    _ => &["src"],
                };
                let is_here = || elsewhere.iter().all(|one| self.other(attributes, one).is_none());
                match ScriptContent::of(&type_(), &self.options.groups) {
                    Some(ScriptContent::Json(kind)) => Some(ContentKind::Json(kind)),
                    Some(ScriptContent::Script(goal)) if is_here() => {
                        Some(ContentKind::Script(goal))
                    }
                    _ => None,
                }
            }
            (Vocabulary::Rss, "guid") if self.is_permalink(attributes) => Some(ContentKind::Guid),
            (vocabulary, name) => {
                let other = |name: &str| self.other(attributes, name);
                let row = vocabulary::text(vocabulary, name, &other, &self.options.groups);
                row.map(ContentKind::Value)
            }
        };
        self.text = content.map(|content| OpenContent {
            depth: self.open.len(),
            content,
            pieces: Vec::new(),
        });
    }

    /// An element begins in the open text: a stylesheet ends there, another value is none.
    fn interrupt_text(&mut self) {
        match &self.text {
            Some(OpenContent { content: ContentKind::Value(_) | ContentKind::Guid, .. }) => {
                self.text = None
            }
            _ => self.close_text(),
        }
    }

    /// The text of the innermost element ends.
    fn close_text(&mut self) {
        let (Some(OpenContent { content, pieces, .. }), Some(open)) =
            (self.text.take(), self.open.last())
        else {
            return;
        };
        let (Some((first, _)), name, base) = (pieces.first(), open.name, open.base) else {
            return;
        };
        let mut whole = View { text: String::new(), map: OffsetMap::verbatim(first.start, 0) };
        let mut carriers: Vec<(Span, Carrier)> = Vec::with_capacity(pieces.len());
        let mut entities: Vec<EntityUse> = Vec::new();
        for (span, is_cdata) in pieces {
            let raw = self.charset.decode(&self.bytes[span.range()], span.start);
            let start = whole.text.len();
            let carrier = if is_cdata {
                whole.append(&xml::cdata(raw));
                Carrier::CData
            } else {
                let text = xml::character_data(raw, &self.entities);
                entities.extend(
                    text.entities
                        .iter()
                        .map(|one| EntityUse { span: one.span.shifted(start), ..*one }),
                );
                whole.append(&text.view);
                Carrier::XmlText
            };
            if whole.text.len() > start {
                carriers.push((Span::new(start, whole.text.len()), carrier));
            }
        }
        let carriers = match carriers.as_slice() {
            [(_, only)] => Carriers::One(*only),
            several => Carriers::Pieces(several),
        };
        let (row, against) = match content {
            ContentKind::Css
            | ContentKind::Json(_)
            | ContentKind::Script(_)
            | ContentKind::Guid => (None, Against::DocumentEntity),
            ContentKind::Value(row) => {
                (Some(row), base.map_or(Against::Document, Against::Element))
            }
        };
        if self.options.entry_links {
            self.entry_link_text(name, &whole, &entities);
        }
        let element = self.shown(name);
        let place = LinkPlace {
            row,
            against,
            entities: &entities,
            ..LinkPlace::text_of(&element, carriers)
        };
        match content {
            ContentKind::Css => self.collector.css(&whole, &place),
            ContentKind::Json(kind) => self.collector.json(&whole, kind, &place),
            ContentKind::Script(goal) => {
                let said = self.collector.script(&whole, goal, &place);
                self.diagnostics.extend(said);
            }
            ContentKind::Guid => {}
            // HTML without a tag holds no link.
            ContentKind::Value(Row { syntax: Syntax::Html, .. }) if !whole.text.contains('<') => {}
            ContentKind::Value(row) => self.collector.references(whole, row.syntax, &place),
        }
    }

    /// The link of the entry that begins with the tag at `span`, if `element` is one, and no `xml:base` is in
    /// force.
    fn entry_of(&mut self, span: Span, element: &StartedElement) -> Option<EntryLink> {
        let is_entry = entry::is_entry(element.vocabulary, self.text_of_name(element.local));
        // That of the document element is the first that is found.
        let has_base = || self.bases.first().is_some_and(|base| base.kind == BaseKind::XmlBase);
        if !self.options.entry_links || !is_entry || element.base.is_some() || has_base() {
            return None;
        }
        Some(EntryLink::begin(span, &mut self.element_bases))
    }

    /// The base of what is in `element`, where that is content of the entry around it.
    fn base_in_entry(&self, element: &StartedElement) -> Option<usize> {
        let entry = self.open.last()?.entry?;
        let is_content = entry::is_content(element.vocabulary, self.text_of_name(element.local));
        is_content.then_some(entry.base)
    }

    /// Notes the link of the entry around an Atom `link`, if that is what it is.
    fn entry_link_in(&mut self, element: &StartedElement, attributes: &[NamespacedAttribute]) {
        let is_link =
            element.vocabulary == Vocabulary::Atom && self.text_of_name(element.local) == "link";
        let is_in_entry = self.open.last().is_some_and(|one| one.entry.is_some());
        if !is_link || element.base.is_some() || !is_in_entry {
            return;
        }
        let rel = self.other(attributes, "rel").unwrap_or_default();
        let type_ = || self.other(attributes, "type").unwrap_or_default();
        let href = || self.read_other(attributes, "href");
        if let Some((by, DecodedText { view, entities })) =
            EntryLinkElement::of_link(&rel, type_).zip(href())
        {
            self.note_entry_link(self.open.len(), by, &view, &entities);
        }
    }

    /// Notes the link of the entry around the element called `name`, which is open and has the text `whole`, if
    /// that is what it is.
    fn entry_link_text(&mut self, name: Span, whole: &View, entities: &[EntityUse]) {
        let Some(open) = self.open.last() else { return };
        if let Some(by) =
            EntryLinkElement::of_text(open.vocabulary, self.text_of_name(self.local(name)))
        {
            self.note_entry_link(self.open.len() - 1, by, whole, entities);
        }
    }

    /// Notes a link of the entry that is the innermost of the first `depth` open elements.
    fn note_entry_link(
        &mut self,
        depth: usize,
        by: EntryLinkElement,
        view: &View,
        entities: &[EntityUse],
    ) {
        let around = depth.checked_sub(1).and_then(|at| self.open.get_mut(at));
        if let Some(OpenElement { entry: Some(entry), .. }) = around {
            entry.note(by, view, entities, &mut self.element_bases);
        }
    }

    /// Whether the text of a `guid` with these attributes is a URL that may be the link of its entry.
    fn is_permalink(&self, attributes: &[NamespacedAttribute]) -> bool {
        let is_it = |one: &&NamespacedAttribute| self.text_of_name(one.raw.name) == "isPermaLink";
        let value = attributes.iter().find(is_it).map(|one| self.value(&one.raw).view.text);
        self.options.entry_links && entry::is_permalink(value.as_deref())
    }
}

/// An element as its start tag says.
struct StartedElement {
    name: Span,
    local: Span,
    vocabulary: Vocabulary,
    base: Option<usize>,
}

impl StartedElement {
    fn against(&self) -> Against {
        self.base.map_or(Against::Document, Against::Element)
    }
}

/// A name as the tables have it, which is in lower case; `None` for one that is nothing in its case.
fn table_case(name: &str) -> Option<Cow<'_, str>> {
    let mixed = MIXED_CASE.iter().find(|mixed| mixed.eq_ignore_ascii_case(name));
    match mixed {
        Some(mixed) => (*mixed == name).then(|| name.to_ascii_lowercase().into()),
        None => (!name.bytes().any(|byte| byte.is_ascii_uppercase())).then_some(name.into()),
    }
}
