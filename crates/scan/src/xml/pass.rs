//! One pass over the tokens of a document. It determines the namespace and the `xml:base` of each element, and finds
//! the values and texts that contain links.
//!
//! ```
//! use baselink_scan::Against;
//! use baselink_scan::ScanOptions;
//! use baselink_text::Format;
//! let feed = b"<feed xmlns='http://www.w3.org/2005/Atom'><entry xml:base='e/'><link href='x'/></entry></feed>";
//! let document = baselink_scan::scan_as(Format::Xml, feed, &ScanOptions::default()).unwrap();
//! assert_eq!(document.element_bases[0].value, "e/");
//! assert_eq!(document.links[1].against, Against::Element(0));
//! ```
//!
//! Deliberately absent: validity. A DTD is read only for signs of a base.

use std::{borrow::Cow, sync::Arc};

use baselink_text::{
    Charset, Code, Diagnostic, Format, Span, View,
    layer::{
        escape::Quote,
        spelling::{Carrier, Form},
        xml::{self, DecodedText},
    },
};

use super::{
    doctype::{self, DeclaredEntities},
    entry::{self, EntryLink, EntryLinkElement},
    namespaces::{Bindings, Vocabulary},
    tokens::{self, Event, XmlAttribute, XmlTag},
    vocabulary,
};
use crate::{
    ScanOptions,
    attributes::{self, AttributeBase, Namespace, Row, Syntax},
    collect::{self, Carriers, Collector, LinkPlace, Links, TextContent},
    document::{
        Against, BaseDoubt, BaseKind, Certainty, DeclaredBase, Document, ElementBase, Standing,
        SyntaxFault, shared_rel,
    },
    html::saved,
    value,
};

/// The maximum length in bytes of a reported name.
const LONGEST_NAME: usize = 256;

/// The number of recorded bases beyond which elements that only resemble `base` are ignored.
const MOST_STRAYS: usize = 32;

/// Names of SVG and MathML in mixed case, which the tables list in lower case.
const MIXED_CASE: &str = "\
    altGlyph animateColor animateMotion animateTransform clipPath feImage foreignObject glyphRef linearGradient \
    radialGradient textPath attributeName definitionURL";

/// An element.
#[derive(Clone, Copy)]
struct XmlElement<'a> {
    name: Span,
    /// The name without its prefix, for table lookups; empty if it is not valid text.
    local: &'a str,
    vocabulary: Vocabulary,
    /// The index in [`Document::element_bases`] of the base in force; `None` for the base of the document.
    base: Option<usize>,
    /// True if the element is in an XSLT style sheet.
    in_sheet: bool,
}

impl XmlElement<'_> {
    /// True if the element is `local` of XHTML.
    fn is_xhtml(&self, local: &str) -> bool {
        self.vocabulary == Vocabulary::Xhtml && self.local == local
    }

    fn against(&self) -> Against {
        self.base.map_or(Against::Document, Against::Element)
    }

    /// True if the element is copied to the documents that an XSLT style sheet produces (XSLT 1.0, 7.1.1).
    fn is_literal_result(&self) -> bool {
        self.in_sheet && self.vocabulary != Vocabulary::Xslt
    }
}

/// An element with the attributes of its start tag.
struct StartedElement<'a> {
    element: XmlElement<'a>,
    attributes: Vec<NamespacedAttribute<'a>>,
}

impl<'a> StartedElement<'a> {
    /// The attribute with this name.
    fn attribute(&self, vocabulary: Vocabulary, local: &str) -> Option<&NamespacedAttribute<'a>> {
        self.attributes.iter().find(|one| one.is(vocabulary, local))
    }

    /// The attribute called `name` in the tables.
    fn in_table(&self, name: &str) -> Option<&XmlAttribute> {
        let is_it = |one: &&NamespacedAttribute| one.table_name().is_some_and(|it| it == name);
        Some(&self.attributes.iter().find(is_it)?.raw)
    }
}

/// An attribute with its namespace.
struct NamespacedAttribute<'a> {
    raw: XmlAttribute,
    vocabulary: Vocabulary,
    /// The name without its prefix.
    local: &'a str,
}

impl<'a> NamespacedAttribute<'a> {
    fn is(&self, vocabulary: Vocabulary, local: &str) -> bool {
        (self.vocabulary, self.local) == (vocabulary, local)
    }

    /// The name of the attribute in the table of HTML, SVG and MathML.
    fn table_name(&self) -> Option<Cow<'a, str>> {
        let local = table_case(self.local)?;
        match self.vocabulary {
            Vocabulary::Plain => Some(local),
            Vocabulary::XLink if local == "href" => Some("xlink:href".into()),
            Vocabulary::Office => Some(format!("o:{local}").into()),
            _ => None,
        }
    }
}

/// An open element.
struct OpenElement<'a> {
    element: XmlElement<'a>,
    /// The argument for [`Bindings::leave`].
    outer: usize,
    /// The link of the entry, if the element is an entry of a feed.
    entry: Option<EntryLink>,
}

/// An element whose text is scanned when it ends.
struct OpenContent {
    /// The number of open elements, including this one.
    depth: usize,
    content: ContentKind,
    /// The pieces of its text so far, each with true for a CDATA section.
    pieces: Vec<(Span, bool)>,
    /// True if an XSLT instruction among its children adds text to it.
    has_instruction: bool,
}

enum ContentKind {
    /// The text of `style` or `script`.
    Text(TextContent),
    /// The text of a `guid`, which may give the link of its entry, but is not itself a link.
    Guid,
    /// Text of an element that has a row in [`vocabulary::TABLE`].
    Value(&'static Row),
}

/// A pass over a document.
pub struct XmlPass<'a> {
    bytes: &'a [u8],
    options: &'a ScanOptions,
    /// The document, without its links.
    pub found: Document,
    /// Links wait while the text of a `style` or `script` is open, because those of its text precede those of its children.
    collector: Collector<'a, dyn Links + 'a>,
    bindings: Bindings,
    open: Vec<OpenElement<'a>>,
    /// The number of open XHTML templates.
    templates: usize,
    /// The open elements whose text is scanned, outermost first.
    texts: Vec<OpenContent>,
    /// The vocabulary of elements without a namespace; `None` before the start tag of the document element.
    plain: Option<Vocabulary>,
    has_base: bool,
    has_doctype: bool,
    /// True if there is a DTD. In a copy, its entities may then change the meaning of values.
    is_doubtful: bool,
    /// True if it may change the namespaces of elements and give them attributes. In a copy, any value may then be loaded.
    has_defaults: bool,
    entities: DeclaredEntities,
    /// True if the document element is an Atom feed or entry, in which `xml:base` applies to every reference (RFC 4287,
    /// 2).
    is_atom: bool,
}

impl<'a> XmlPass<'a> {
    /// Reads `bytes` from `start` up to the end or the first fault. The links go to `links`.
    pub fn over(
        bytes: &'a [u8],
        (start, charset): (usize, Charset),
        format: Format,
        options: &'a ScanOptions,
        links: &'a mut dyn Links,
    ) -> Self {
        let mut pass = Self {
            bytes,
            options,
            found: Document::empty(Arc::clone(&options.entity), format, charset),
            collector: Collector::to(options, links, bytes),
            bindings: Bindings::default(),
            open: Vec::new(),
            templates: 0,
            texts: Vec::new(),
            plain: None,
            has_base: false,
            has_doctype: false,
            is_doubtful: false,
            has_defaults: false,
            entities: DeclaredEntities::default(),
            is_atom: false,
        };
        let read = tokens::scan(bytes, start, &mut |event, span| pass.take(event, span));
        pass.collector.release(usize::MAX);
        let at_end = || match (&pass.plain, pass.open.is_empty()) {
            (_, false) => Some("the document ends inside an element"),
            (None, true) => Some("the document has no element"),
            (Some(_), true) => None,
        };
        let fault = read
            .err()
            .or_else(|| Some(SyntaxFault::new(bytes.len(), at_end()?)));
        // An external subset (XML 1.0, 2.8) is not a document, and has no links.
        let is_of_subset = |fault: &SyntaxFault| {
            matches!(
                bytes[fault.at..],
                [b'%', ..] | [b'<', b'!', b'A' | b'E' | b'N' | b'[', ..]
            )
        };
        let is_document = pass.plain.is_some();
        if let Some(fault) = fault.filter(|fault| is_document || !is_of_subset(fault)) {
            let message = format!("not well formed: {}; the rest was not read", fault.what);
            let found = Diagnostic::new(Code::NotWellFormed, Span::at(fault.at), message);
            pass.found.diagnostics.push(found);
        }
        pass
    }

    /// Processes the next event.
    fn take(&mut self, event: &Event<'_>, span: Span) -> Result<(), SyntaxFault> {
        match event {
            Event::Start(_) => self.start_tag(span, false)?,
            Event::Empty(_) => self.start_tag(span, true)?,
            Event::End(_) => self.end_tag(span)?,
            Event::Text(_) | Event::GeneralRef(_) => self.piece(span, false)?,
            Event::CData(_) => {
                // `<![CDATA[` and `]]>` enclose the text.
                let inside = Span::new(span.start + 9, span.end.saturating_sub(3));
                self.piece(inside, true)?;
            }
            Event::Comment(_) => self.commented_base(span),
            Event::PI(_) | Event::Decl(_) => self.instruction(span),
            Event::DocType(_) => self.doctype(span)?,
            Event::Eof => {}
        }
        Ok(())
    }

    /// Processes character data, a reference or a CDATA section.
    fn piece(&mut self, span: Span, is_cdata: bool) -> Result<(), SyntaxFault> {
        let depth = self.open.len();
        if depth == 0 {
            let bytes = &self.bytes[span.range()];
            let blank = bytes.len() - bytes.trim_ascii_start().len();
            return if blank == bytes.len() {
                Ok(())
            } else {
                Err(SyntaxFault::new(
                    span.start + blank,
                    "this text is outside the document element",
                ))
            };
        }
        if let Some(text) = self.texts.last_mut().filter(|text| text.depth == depth) {
            match text.pieces.last_mut() {
                Some((before, false)) if before.end == span.start => before.end = span.end,
                _ => text.pieces.push((span, is_cdata)),
            }
        }
        Ok(())
    }

    /// Reads the internal subset, and binds the namespaces that well-known DTDs declare for the document element. A
    /// document has at most one document type declaration, before that element (XML 1.0, 2.8).
    fn doctype(&mut self, span: Span) -> Result<(), SyntaxFault> {
        let fault = |what| Err(SyntaxFault::new(span.start, what));
        if self.plain.is_some() {
            return fault("a document type declaration begins here, inside or after an element");
        }
        if std::mem::replace(&mut self.has_doctype, true) {
            return fault("a second document type declaration begins here");
        }
        let text = self.found.charset.decode(&self.bytes[span.range()], 0).text;
        let inside = text
            .get("<!DOCTYPE".len()..text.len().saturating_sub(1))
            .unwrap_or_default();
        if let Some((kind, doubt)) = doctype::base_doubt(inside) {
            self.has_base |= kind == BaseKind::Element;
            self.found.bases.push(DeclaredBase {
                value: Some("<!DOCTYPE>".to_owned()),
                doubt: Some(doubt),
                ..DeclaredBase::of(kind, span)
            });
        }
        let before_subset = inside.split('[').next().unwrap_or_default();
        // With such a DTD, Chromium knows the entities of HTML, and may prefer them.
        let mut of_html = ["//DTD XHTML ", "//DTD MathML "].iter();
        self.entities.has_others |= of_html.any(|public| before_subset.contains(public));
        let literals = self.literals(span);
        if self.options.groups.has_loaded() {
            // The DTDs of XHTML declare the entities of HTML.
            self.is_doubtful = inside.contains(['[', '"', '\'']);
            self.has_defaults = doctype::has_defaults(inside);
            for (_, quote, view) in literals {
                self.words(("!DOCTYPE", None), quote, &view);
            }
        }
        for (public, vocabulary) in [
            ("-//W3C//DTD XHTML ", Vocabulary::Xhtml),
            ("-//W3C//DTD SVG ", Vocabulary::Svg),
        ] {
            if before_subset.contains(public) {
                self.bindings.bind(b"", vocabulary);
                self.bindings.bind(b"xlink", Vocabulary::XLink);
            }
        }
        Ok(())
    }

    /// Reads the entities that the document type declaration at `span` declares, and returns its literals, each with
    /// what precedes it.
    fn literals(&mut self, span: Span) -> Vec<(&'a [u8], Quote, View)> {
        let bytes = &self.bytes[span.range()];
        let literal = |literal: Span| {
            let text = self.decode(literal.shifted(span.start));
            let before = &bytes[..literal.start - 1];
            let quote = match bytes[before.len()] {
                b'\'' => Quote::Single,
                _ => Quote::Double,
            };
            (before, quote, xml::attribute_value(text).view)
        };
        let literals: Vec<_> = doctype::literals(bytes).into_iter().map(literal).collect();
        for (before, _, view) in &literals {
            self.entities.add(before, &view.text);
        }
        literals
    }

    /// Adds the words of a value that may be references, if they would lead out of a copy.
    fn words(&mut self, (element, attribute): (&str, Option<&str>), quote: Quote, view: &View) {
        for word in doctype::words(&view.text, &self.entities) {
            let carriers = match word.is_whole {
                true => Carriers::One(Carrier::XmlAttribute(quote)),
                false => Carriers::Pieces(&[]),
            };
            let place = LinkPlace {
                attribute,
                certainty: Certainty::IfLeadsOut,
                against: Against::DocumentEntity,
                entities: if word.is_unknown { &[word.span] } else { &[] },
                ..LinkPlace::text_of(element, carriers)
            };
            if let Some(text) = view.slice(word.span) {
                self.collector
                    .decoded(&text, Form::Literal, word.span, &place);
            }
        }
    }

    fn instruction(&mut self, span: Span) {
        let inside = Span::new(span.start + 2, span.end.saturating_sub(2));
        let target = &self.bytes[inside.range()];
        let row = vocabulary::INSTRUCTIONS.iter().find(|(name, ..)| {
            target
                .strip_prefix(name.as_bytes())
                .is_some_and(|rest| rest.first().is_some_and(|byte| byte.is_ascii_whitespace()))
        });
        // An instruction after the start of the document element is ignored (xml-stylesheet, 4), but Chromium loads a sheet after its
        // end.
        let is_loaded = self.open.is_empty() && self.options.groups.has_loaded();
        let Some(&(name, group, row)) = row.filter(|_| self.plain.is_none() || is_loaded) else {
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
                // Pseudo-attributes may contain only the predefined entities (xml-stylesheet, 3).
                let value = xml::attribute_value(self.decode(attribute.value));
                let element = format!("?{name}");
                let names = (&*element, "href");
                let against = (Against::DocumentEntity, false);
                self.references(names, (attribute.quote, None), row, against, value);
            }
        }
    }

    /// The bytes of a name.
    fn name(&self, span: Span) -> &'a [u8] {
        &self.bytes[span.range()]
    }

    /// A name as reported, cut to [`LONGEST_NAME`] bytes.
    fn shown(&self, span: Span) -> Cow<'a, str> {
        let name = self.name(span);
        String::from_utf8_lossy(&name[..name.len().min(LONGEST_NAME)])
    }

    /// The prefix of a name, and the name without it; the latter is empty if it is not valid text.
    fn split(&self, name: Span) -> (&'a [u8], &'a str) {
        let qualified = self.name(name);
        let (prefix, local) = match memchr::memchr(b':', qualified) {
            Some(colon) => (&qualified[..colon], &qualified[colon + 1..]),
            None => (&[][..], qualified),
        };
        (prefix, str::from_utf8(local).unwrap_or_default())
    }

    fn value(&self, attribute: &XmlAttribute) -> DecodedText {
        xml::attribute_value(self.decode(attribute.value))
    }

    /// The value of `attribute` with the values of entities. The error is the value as written, if an entity is unknown.
    fn expanded(&self, attribute: &XmlAttribute) -> Result<String, String> {
        let DecodedText { view, entities } = self.value(attribute);
        match entities.as_slice() {
            // A declared type may remove white space (XML 1.0, 3.3.3).
            [] if self.is_doubtful => Ok(view.text.trim().to_owned()),
            [] => Ok(view.text),
            _ => self.entities.expand(&view.text).ok_or(view.text),
        }
    }

    /// Adds the references in the value of the attribute `name` of `element`, which is a literal result element of XSLT
    /// if `is_literal`.
    fn references(
        &mut self,
        (element, name): (&str, &str),
        (quote, rel): (Quote, Option<Arc<str>>),
        row: &'static Row,
        (against, is_literal): (Against, bool),
        DecodedText { view, entities }: DecodedText,
    ) {
        let in_results = is_literal.then(|| value::is_template(&view.text));
        let carriers = Carriers::One(Carrier::XmlAttribute(quote));
        let place = LinkPlace {
            attribute: Some(name),
            row: Some(row),
            against,
            entities: &entities,
            rel: rel.as_ref(),
            in_results,
            ..LinkPlace::text_of(element, carriers)
        };
        self.collector.references(view, row.syntax, &place);
    }

    fn decode(&self, span: Span) -> View {
        self.found
            .charset
            .decode(&self.bytes[span.range()], span.start)
    }

    fn start_tag(&mut self, span: Span, is_empty: bool) -> Result<(), SyntaxFault> {
        if self.open.is_empty() && self.plain.is_some() {
            return Err(SyntaxFault::new(
                span.start,
                "a second document element begins here",
            ));
        }
        let inside = Span::new(span.start + 1, span.end - 1 - usize::from(is_empty));
        let XmlTag { name, attributes } = tokens::tag(self.bytes, inside.start, inside.end)?;
        let outer = self.bindings.enter();
        self.declare_namespaces(&attributes);
        let (prefix, local) = self.split(name);
        let mut vocabulary = self.bindings.of_element(prefix);
        let is_root = self.plain.is_none();
        if is_root {
            self.plain = Some(match vocabulary {
                Vocabulary::Plain => Vocabulary::of_root(local),
                // The output method of HTML writes such elements as HTML (XSLT 1.0, 16.2).
                Vocabulary::Xslt => Vocabulary::Xhtml,
                _ => Vocabulary::Plain,
            });
        }
        if vocabulary == Vocabulary::Plain {
            vocabulary = self.plain.unwrap_or(vocabulary);
        }
        self.is_atom |= is_root && vocabulary == Vocabulary::Atom;
        let attributes = attributes
            .into_iter()
            .map(|raw| {
                let (prefix, local) = self.split(raw.name);
                NamespacedAttribute {
                    vocabulary: self.bindings.of_attribute(prefix),
                    local,
                    raw,
                }
            })
            .collect();
        let around = self.open.last().map(|open| open.element);
        let base = around.and_then(|around| around.base);
        let mut started = StartedElement {
            element: XmlElement {
                name,
                local,
                vocabulary,
                base,
                in_sheet: false,
            },
            attributes,
        };
        started.element.in_sheet =
            around.is_some_and(|around| around.in_sheet) || begins_sheet(&started, is_root);
        self.interrupt_text(vocabulary);
        started.element.base = self.xml_base(&started, is_root);
        if self.options.entry_links {
            self.entry_link_in(&started);
        }
        self.base_element(span, &started);
        if self.options.ids {
            self.ids(&started);
        }
        for attribute in &started.attributes {
            self.attribute(&started, attribute);
        }
        if is_empty {
            self.bindings.leave(outer);
            return Ok(());
        }
        let mut element = started.element;
        self.templates += usize::from(element.is_xhtml("template"));
        let entry = self.entry_of(span, &element);
        // The link of an entry is the base of the entry's content, but not of other links in the entry.
        element.base = element.base.or_else(|| {
            let entry = self.open.last()?.entry?;
            entry::is_content(element.vocabulary, element.local).then_some(entry.base)
        });
        self.open.push(OpenElement {
            element,
            outer,
            entry,
        });
        self.open_text(&started);
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
            let name = self.expanded(attribute);
            // Any value may be loaded if the namespaces are unknown.
            self.has_defaults |= name.is_err() && self.options.groups.has_loaded();
            let name = name.unwrap_or_default();
            self.bindings.bind(prefix, Vocabulary::of_namespace(&name));
        }
    }

    fn end_tag(&mut self, span: Span) -> Result<(), SyntaxFault> {
        let name = self.bytes[span.start + 2..span.end - 1].trim_ascii_end();
        if self
            .open
            .last()
            .is_none_or(|open| self.name(open.element.name) != name)
        {
            return Err(SyntaxFault::new(
                span.start,
                "this end tag is not that of the open element",
            ));
        }
        if self
            .texts
            .last()
            .is_some_and(|text| text.depth == self.open.len())
        {
            let is_outermost = self.texts.len() == 1;
            self.collector.waits &= !is_outermost || !self.collector.waiting.is_empty();
            self.close_text();
            if is_outermost {
                self.collector.release(usize::MAX);
            }
        }
        if let Some(open) = self.open.pop() {
            self.bindings.leave(open.outer);
            self.templates -= usize::from(open.element.is_xhtml("template"));
        }
        Ok(())
    }

    /// Records the `xml:base` of an element. Returns the index of the base in force in the element.
    fn xml_base(&mut self, started: &StartedElement<'a>, is_root: bool) -> Option<usize> {
        let around = started.element.base;
        let Some(found) = started.attribute(Vocabulary::Xml, "base") else {
            return around;
        };
        let value = self.value(&found.raw);
        let text = value::trim(&value.view.text).to_owned();
        let doubt = BaseDoubt::of_value(&value.entities);
        let span = found.raw.value;
        if is_root {
            self.found.bases.push(DeclaredBase {
                value: Some(text),
                doubt,
                ..DeclaredBase::of(BaseKind::XmlBase, span)
            });
            return None;
        }
        let bases = &mut self.found.element_bases;
        bases.push(ElementBase {
            is_entry_link: false,
            outer: around,
            value: text,
            doubt,
            span,
        });
        Some(bases.len() - 1)
    }

    /// Records the comment with which Firefox replaced a `base` element when it saved the page.
    fn commented_base(&mut self, span: Span) {
        let parent = self.open.last();
        let is_in_head = parent.is_some_and(|open| open.element.is_xhtml("head"));
        if self.found.format != Format::Xhtml || self.options.ignore_saved || !is_in_head {
            return;
        }
        if let Some(url) = saved::commented_url(self.bytes, span) {
            let url = self.decode(url).text;
            self.found.bases.push(DeclaredBase {
                value: Some(value::trim(&url).to_owned()),
                ..DeclaredBase::of(BaseKind::Comment, span)
            });
        }
    }

    /// Records an XHTML `base` element, or an element that resembles one.
    fn base_element(&mut self, span: Span, started: &StartedElement<'a>) {
        if !started.element.local.eq_ignore_ascii_case("base") {
            return;
        }
        let is_base = started.element.is_xhtml("base");
        if !is_base
            && (!matches!(self.found.format, Format::Xhtml | Format::Svg)
                || self.found.bases.len() >= MOST_STRAYS)
        {
            return;
        }
        let href = started.attribute(Vocabulary::Plain, "href");
        let (value, doubt) = match href.map(|href| self.value(&href.raw)) {
            Some(DecodedText { view, entities }) => (
                Some(value::trim(&view.text).to_owned()),
                BaseDoubt::of_value(&entities),
            ),
            None => (None, None),
        };
        let standing = match value {
            _ if !is_base => Standing::NotXhtml,
            _ if self.templates > 0 => Standing::Template,
            None => Standing::NoHref,
            Some(_) if self.has_base => Standing::Later,
            Some(_) => Standing::First,
        };
        self.has_base |= standing == Standing::First;
        self.found.bases.push(DeclaredBase {
            kind: BaseKind::Element,
            span,
            value,
            doubt,
            standing,
        });
    }

    /// Records the names that a fragment can refer to: `id`, `xml:id` (xml:id Version 1.0, 4), and the name of an
    /// XHTML `a`.
    fn ids(&mut self, started: &StartedElement<'a>) {
        let is_anchor = started.element.is_xhtml("a");
        for attribute in &started.attributes {
            let counts = match (attribute.vocabulary, attribute.local) {
                (Vocabulary::Plain | Vocabulary::Xml, "id") => true,
                (Vocabulary::Plain, "name") => is_anchor,
                _ => false,
            };
            if counts {
                let id = self.value(&attribute.raw).view.text;
                self.found.ids.extend((!id.is_empty()).then_some(id));
            }
        }
    }

    /// The value of the attribute called `name` in the tables.
    fn other(&self, started: &StartedElement<'a>, name: &str) -> Option<String> {
        let value = self.expanded(started.in_table(name)?);
        Some(value.unwrap_or_else(|written| written))
    }

    /// The value of the attribute called `name` in the tables, with its entities.
    fn read_other(&self, started: &StartedElement<'a>, name: &str) -> Option<DecodedText> {
        Some(self.value(started.in_table(name)?))
    }

    fn attribute(&mut self, started: &StartedElement<'a>, attribute: &NamespacedAttribute<'a>) {
        let row = self.row(started, attribute);
        if row.is_none() && !self.has_defaults {
            return;
        }
        let value = self.value(&attribute.raw);
        let Some(row) = row.filter(|row| !self.is_doubtful || !may_change(row, &value)) else {
            let names = [started.element.name, attribute.raw.name].map(|one| self.shown(one));
            let place = (&*names[0], Some(&*names[1]));
            return self.words(place, attribute.raw.quote, &value.view);
        };
        let against = (
            self.against(started, row),
            started.element.is_literal_result(),
        );
        let (element, name) = (
            self.shown(started.element.name),
            self.shown(attribute.raw.name),
        );
        let rel = self.other(started, "rel");
        let rel = rel.filter(|_| !std::ptr::eq(row, &vocabulary::XML_BASE));
        let rel = rel.and_then(|rel| shared_rel(&rel));
        self.references(
            (&element, &name),
            (attribute.raw.quote, rel),
            row,
            against,
            value,
        );
    }

    /// The row for an attribute: a place of the user, or a row of either table.
    fn row(
        &self,
        started: &StartedElement<'a>,
        attribute: &NamespacedAttribute<'a>,
    ) -> Option<&'static Row> {
        let XmlElement {
            name,
            local,
            vocabulary,
            ..
        } = started.element;
        let other = |name: &str| self.other(started, name);
        let groups = &self.options.groups;
        if attribute.is(Vocabulary::Xml, "base") {
            return Some(&vocabulary::XML_BASE);
        }
        if !self.options.places.is_empty() {
            let lower = |span| {
                str::from_utf8(self.name(span))
                    .unwrap_or_default()
                    .to_ascii_lowercase()
            };
            let (qualified, attribute) = (lower(name), lower(attribute.raw.name));
            let covers = |element: &str| {
                self.options
                    .places
                    .iter()
                    .find(|place| place.covers(element, &attribute))
            };
            if let Some(place) = covers(&qualified).or_else(|| covers(&local.to_ascii_lowercase()))
            {
                return Some(place.row());
            }
        }
        let in_table = || {
            let namespace = match vocabulary {
                Vocabulary::Xhtml | Vocabulary::Vml => Namespace::Html,
                Vocabulary::Svg => Namespace::Svg,
                Vocabulary::MathMl => Namespace::MathMl,
                _ => return None,
            };
            let attribute = attribute.table_name()?;
            // Most attributes have no row on any element.
            if attributes::rows(&attribute).is_empty() {
                return None;
            }
            let name = match vocabulary {
                Vocabulary::Vml => format!("v:{local}").into(),
                _ => table_case(local)?,
            };
            attributes::find(namespace, &name, &attribute, &other, groups)
        };
        in_table().or_else(|| {
            let named = Some((attribute.vocabulary, attribute.local));
            vocabulary::row(vocabulary, local, named, &other, groups)
        })
    }

    /// The base against which the references in an attribute are resolved.
    fn against(&self, started: &StartedElement<'a>, row: &Row) -> Against {
        let element = &started.element;
        if std::ptr::eq(row, &vocabulary::XML_BASE) {
            let around = self.open.last().map(|open| &open.element);
            return around.map_or(Against::DocumentEntity, XmlElement::against);
        }
        if matches!(row.syntax, Syntax::Css | Syntax::CssValue | Syntax::Html) {
            return self.of_style(element);
        }
        // The literal result elements may include a `base` element, which is not one of the sheet.
        if row.against == AttributeBase::Document
            && element.vocabulary == Vocabulary::Xslt
            && element.base.is_none()
        {
            return Against::Fallback;
        }
        collect::against(row, element.base, || {
            let DecodedText { view, entities } = self.read_other(started, "codebase")?;
            Some((view.text, !entities.is_empty()))
        })
    }

    /// The base of CSS, scripts and documents in `element`. Outside Atom, no `xml:base` applies to them (SVG 2, 6.5).
    fn of_style(&self, element: &XmlElement<'a>) -> Against {
        if self.is_atom {
            element.against()
        } else {
            Against::DocumentEntity
        }
    }

    /// Opens the text of an element, if it is to be scanned.
    fn open_text(&mut self, started: &StartedElement<'a>) {
        let XmlElement {
            local, vocabulary, ..
        } = started.element;
        let other = |name: &str| self.other(started, name);
        let content = match (vocabulary, local) {
            (Vocabulary::Xhtml | Vocabulary::Svg, "style") => {
                let kind = other("type").unwrap_or_default();
                let is_unknown = self.is_doubtful && kind.contains('&');
                let content = TextContent::of_style(other);
                let content = content.or(is_unknown.then_some(TextContent::Css));
                content.map(ContentKind::Text)
            }
            (Vocabulary::Xhtml | Vocabulary::Svg, "script") => {
                let sources: &[&str] = match vocabulary {
                    Vocabulary::Svg => &["href", "xlink:href"],
                    _ => &["src"],
                };
                let groups = &self.options.groups;
                TextContent::of_script(other, sources, groups).map(ContentKind::Text)
            }
            (_, "style") if self.is_doubtful => Some(ContentKind::Text(TextContent::Css)),
            (Vocabulary::Rss, "guid") if self.is_permalink(started) => Some(ContentKind::Guid),
            _ => vocabulary::row(vocabulary, local, None, &other, &self.options.groups)
                .map(ContentKind::Value),
        };
        self.collector.waits |= matches!(content, Some(ContentKind::Text(_)));
        self.texts.extend(content.map(|content| OpenContent {
            depth: self.open.len(),
            content,
            pieces: Vec::new(),
            has_instruction: false,
        }));
    }

    /// Prepares the innermost open text for a child element of this vocabulary. The text of a `style` or `script`
    /// continues after the child (HTML, 4.2.6; SVG 2, 6.3), and any other text is discarded.
    fn interrupt_text(&mut self, child: Vocabulary) {
        let depth = self.open.len();
        let Some(text) = self.texts.last_mut().filter(|text| text.depth == depth) else {
            return;
        };
        text.has_instruction |= child == Vocabulary::Xslt;
        if matches!(text.content, ContentKind::Value(_) | ContentKind::Guid) {
            self.texts.pop();
        }
    }

    /// Ends the open text, which belongs to the innermost element, and scans it.
    fn close_text(&mut self) {
        let (
            Some(OpenContent {
                content,
                pieces,
                has_instruction,
                ..
            }),
            Some(open),
        ) = (self.texts.pop(), self.open.last())
        else {
            return;
        };
        let (Some((first, _)), element) = (pieces.first(), open.element) else {
            return;
        };
        let mut whole = View::of_str("", first.start);
        let mut carriers: Vec<(Span, Carrier)> = Vec::with_capacity(pieces.len());
        let mut entities: Vec<Span> = Vec::new();
        for (span, is_cdata) in pieces {
            let raw = self.decode(span);
            let start = whole.text.len();
            let carrier = if is_cdata {
                whole.append(&xml::cdata(raw));
                Carrier::CData
            } else {
                let text = xml::character_data(raw);
                entities.extend(text.entities.iter().map(|one| one.shifted(start)));
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
            ContentKind::Text(_) | ContentKind::Guid => (None, self.of_style(&element)),
            ContentKind::Value(row) => (Some(row), element.against()),
        };
        if let Some(kind) = EntryLinkElement::of_text(element.vocabulary, element.local)
            && self.options.entry_links
        {
            self.note_entry_link(self.open.len() - 1, kind, &whole, &entities);
        }
        let in_results = element.is_literal_result().then_some(has_instruction);
        let element = self.shown(element.name);
        let place = LinkPlace {
            row,
            against,
            entities: &entities,
            in_results,
            ..LinkPlace::text_of(&element, carriers)
        };
        match content {
            ContentKind::Text(TextContent::Css) if self.is_doubtful && !entities.is_empty() => {
                self.words((&element, None), Quote::None, &whole);
            }
            ContentKind::Text(content) => {
                let diagnostic = self.collector.text(&whole, content, &place);
                self.found.diagnostics.extend(diagnostic);
            }
            ContentKind::Guid => {}
            // HTML without a tag contains no links.
            ContentKind::Value(Row {
                syntax: Syntax::Html,
                ..
            }) if !whole.text.contains('<') => {}
            ContentKind::Value(row) => self.collector.references(whole, row.syntax, &place),
        }
    }

    /// The link of the entry that begins with the tag at `span`; `None` if `element` is not an entry, or an
    /// `xml:base` is in force.
    fn entry_of(&mut self, span: Span, element: &XmlElement<'a>) -> Option<EntryLink> {
        let is_entry = entry::is_entry(element.vocabulary, element.local);
        // An `xml:base` of the document element comes first in the list.
        let has_base = || {
            self.found
                .bases
                .first()
                .is_some_and(|base| base.kind == BaseKind::XmlBase)
        };
        if !self.options.entry_links || !is_entry || element.base.is_some() || has_base() {
            return None;
        }
        Some(EntryLink::begin(span, &mut self.found.element_bases))
    }

    /// Records the link of the enclosing entry, if the element is an Atom `link` that gives it.
    fn entry_link_in(&mut self, started: &StartedElement<'a>) {
        let element = &started.element;
        let is_link = (element.vocabulary, element.local) == (Vocabulary::Atom, "link");
        let is_in_entry = self.open.last().is_some_and(|one| one.entry.is_some());
        if !is_link || element.base.is_some() || !is_in_entry {
            return;
        }
        let rel = self.other(started, "rel").unwrap_or_default();
        if let Some((kind, DecodedText { view, entities })) =
            EntryLinkElement::of_link(&rel, || self.other(started, "type").unwrap_or_default())
                .zip(self.read_other(started, "href"))
        {
            self.note_entry_link(self.open.len(), kind, &view, &entities);
        }
    }

    /// Records a link of the entry that is the innermost of the first `depth` open elements.
    fn note_entry_link(
        &mut self,
        depth: usize,
        kind: EntryLinkElement,
        view: &View,
        entities: &[Span],
    ) {
        let around = depth.checked_sub(1).and_then(|at| self.open.get_mut(at));
        if let Some(OpenElement {
            entry: Some(entry), ..
        }) = around
        {
            entry.note(kind, view, entities, &mut self.found.element_bases);
        }
    }

    /// True if the text of a `guid` with these attributes may be the link of its entry, and is a URL (RSS 2.0: the default of
    /// `isPermaLink` is true).
    fn is_permalink(&self, started: &StartedElement<'a>) -> bool {
        let attribute = started.attribute(Vocabulary::Plain, "isPermaLink");
        let value = attribute.map(|one| self.value(&one.raw).view.text);
        self.options.entry_links
            && value.is_none_or(|value| !value.trim().eq_ignore_ascii_case("false"))
    }
}

/// True if an element begins an XSLT style sheet (XSLT 1.0, 2.2 and 2.3).
fn begins_sheet(started: &StartedElement<'_>, is_root: bool) -> bool {
    match started.element.vocabulary {
        Vocabulary::Xslt => ["stylesheet", "transform"].contains(&started.element.local),
        _ => is_root && started.attribute(Vocabulary::Xslt, "version").is_some(),
    }
}

/// A name in lower case, as in the tables; `None` if it is not in the case that XML requires.
fn table_case(name: &str) -> Option<Cow<'_, str>> {
    let mut mixed = MIXED_CASE.split(' ');
    match mixed.find(|mixed| mixed.eq_ignore_ascii_case(name)) {
        Some(mixed) => (mixed == name).then(|| name.to_ascii_lowercase().into()),
        None => (!name.bytes().any(|byte| byte.is_ascii_uppercase())).then_some(name.into()),
    }
}

/// True if the URLs of an attribute may differ from those in its `value`: a default value may name the animated attribute, and an
/// entity may complete a URL of CSS, a tag or a refresh.
fn may_change(row: &Row, value: &DecodedText) -> bool {
    match row.syntax {
        Syntax::CssValue if row.loads => true,
        Syntax::Css | Syntax::CssValue | Syntax::Html | Syntax::Refresh => {
            !value.entities.is_empty()
        }
        _ => false,
    }
}
