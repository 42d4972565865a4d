//! One pass over a range of a buffer: tags and comments to links, each told when it is found.
//!
//! A reference that lies in the bytes as it is, in an attribute, in a list of image candidates or in CSS, is offered
//! as [`Plain`], and nothing is allocated for it. Only what is not taken so is made into a [`Link`]. What lies in a
//! value as a document is scanned as one; markup in text (`noscript`, conditional comments) is scanned in place.
//!
//! ```
//! // The value is CSS in an attribute: two layers, one reference.
//! let page = b"<p style=\"a:url(&quot;x\\&#121;&quot;)\">";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "xy");
//! assert_eq!(&page[document.links[0].span().range()], b"x\\&#121;");
//! ```
//!
//! Deliberately absent: bases and encodings. Both are known before a pass begins ([`super::prelude`]).

use std::sync::Arc;

use super::engines;
use super::exact::Bound;
use super::rows::{Answer, Answers, element_name};
use super::sink::{Sink, TextModel};
use super::tag::{self, FEW, RawAttribute, RawTag};
use super::walk::{Names, declaration_end};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Against, FallbackReason, LONGEST_BASE, Link, Standing, entity_name};
use crate::layer::charset::Charset;
use crate::layer::escape::{self, Quote};
use crate::layer::spelling::{Carrier, Form};
use crate::layer::{OffsetMap, View};
use crate::scan::attributes::{self, Empty, Fragment, Group, Namespace, Place, Row, Syntax, When};
use crate::scan::collect::{Carriers, Collector, Embedded, LinkPlace, TextContent};
use crate::scan::{ScanOptions, block, css, value};
use crate::span::Span;

/// How deep documents and fallback content may nest in each other.
///
/// Each level is scanned on its own, so that the work is at most this many times the input.
pub(crate) const DEEPEST: usize = 16;

/// A reference against the document base URL that may lie in the bytes as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    /// Its bytes, white space and character references included.
    pub(crate) span: Span,
    /// Where its element is named, where its attribute, and the row for both; `None` in the text of a `style` element.
    pub(crate) names: Option<(Span, Span, &'static Row)>,
    /// What delimits it.
    pub(crate) quote: Quote,
    /// Whether it lies in something that `<` and `>` could end.
    pub(crate) enclosed: bool,
    /// Whether an empty reference means the base here.
    pub(crate) empty_resolves: bool,
    /// Whether a fragment alone names an element of the document.
    pub(crate) fragment_identifies: bool,
}

/// What is told of the links of a document, in its order. Places are those of the bytes that are scanned.
pub(crate) trait Links {
    /// Takes a reference as it lies there; `false` where it wants a [`Link`].
    fn plain(&mut self, bytes: &[u8], found: &Plain) -> bool;

    /// Takes a link.
    fn link(&mut self, bytes: &[u8], link: Link);

    /// Takes a document that lies in a value.
    fn part(&mut self, bytes: &[u8], part: Part);

    /// Takes what a fragment can name, where that is asked for.
    fn id(&mut self, _id: String) {}

    /// Takes what is unexpected in the document.
    fn diagnostic(&mut self, diagnostic: Diagnostic);
}

/// A document that lies in a value, and was not scanned yet.
pub(crate) struct Part {
    pub(in crate::scan) found: Embedded,
    pub(in crate::scan) entity: Arc<str>,
    /// How many documents are around it.
    pub(in crate::scan) depth: usize,
}

/// A document that is scanned, and where it lies among documents.
#[derive(Clone, Debug)]
pub(crate) struct Whole<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where it begins, after a byte order mark.
    pub(crate) start: usize,
    pub(crate) charset: Charset,
    pub(crate) entity: Arc<str>,
    /// How many documents are around it.
    pub(crate) depth: usize,
    /// Whether all of it lies in something that `<` and `>` could end.
    pub(crate) enclosed: bool,
}

/// Tells `links` of every link of a document. Returns the reason why html5ever was asked, if it was, and true if the tree
/// remains unknown.
pub(crate) fn links<L: Links>(
    whole: &Whole<'_>,
    options: &ScanOptions,
    links: &mut L,
) -> (Option<FallbackReason>, bool) {
    let names = Names::of(options);
    let span = Span::new(whole.start, whole.bytes.len());
    let mut pass = Pass::new(whole, options, &names, links);
    let scanner = options.scanner;
    let read = engines::tokens(whole.bytes, span.range(), true, scanner, &names, &mut pass);
    pass.finish(span, &read);
    (pass.fallback, read.without_tree.is_some())
}

/// An element whose text is looked at when it ends.
struct OpenText {
    start: usize,
    content: Content,
}

#[derive(Clone, Copy, PartialEq)]
enum Content {
    /// Raw text.
    Raw(TextContent),
    /// A stylesheet in an SVG element: text and CDATA sections.
    SvgCss,
    /// Markup to those who do not run scripts, show frames or have the plugin.
    Markup,
}

/// Where the text of these elements is.
const STYLE: LinkPlace<'_> = LinkPlace::text_of("style", Carriers::One(Carrier::Raw));
const SCRIPT: LinkPlace<'_> = LinkPlace::text_of("script", Carriers::One(Carrier::Raw));

/// An attribute of a tag, and what the table says of it.
type Attribute<'t> = (&'t RawTag, &'t RawAttribute, &'static Row);

/// Markup in place that is scanned on its own; no base counts in it.
#[derive(Clone, Copy)]
pub(super) struct Markup {
    pub(super) span: Span,
    /// What a `base` in it is.
    pub(super) standing: Standing,
}

/// One pass over a range of a buffer.
struct Pass<'a, 'l, L> {
    bytes: &'a [u8],
    charset: Charset,
    options: &'a ScanOptions,
    names: &'a Names,
    entity: Arc<str>,
    links: &'l mut L,
    rows: Answers,
    /// How many documents in values there were.
    parts: usize,
    collector: Collector<'a>,
    /// Whether what is scanned lies in something that `<` and `>` could end.
    enclosed: bool,
    /// Whether this is markup in text, which is no part of the document to those who run scripts.
    is_in_text: bool,
    /// How many documents and stretches of markup in text are around it.
    depth: usize,
    text: Option<OpenText>,
    markup: Vec<Markup>,
    fallback: Option<FallbackReason>,
}

impl<L: Links> Sink for Pass<'_, '_, L> {
    #[inline(always)]
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel) {
        // A fragment names no element in text that is markup to others only.
        if self.options.ids && !self.is_in_text {
            self.ids(tag, namespace);
        }
        if tag.attributes.len() > FEW || self.has_more(tag, namespace, text) {
            self.whole_tag(tag, namespace, text);
            self.drain();
            return;
        }
        for (at, attribute) in tag.attributes.iter().enumerate() {
            // Of several with one name the first counts (HTML, 13.2.5.33).
            let name = &self.bytes[attribute.name.range()];
            let is_same = |one: &RawAttribute| {
                one.name.len() == name.len()
                    && self.bytes[one.name.range()].eq_ignore_ascii_case(name)
            };
            if tag.attributes[..at].iter().any(is_same) {
                continue;
            }
            match self.rows.answer(self.bytes, tag.name, namespace, attribute, self.options) {
                Answer::Nothing => {}
                Answer::With(name) if tag.attribute(self.bytes, name).is_none() => {}
                Answer::Url(row) if self.offer(tag, attribute, row) => {}
                Answer::Either(one, other)
                    if self
                        .either(tag, one, other)
                        .is_some_and(|row| self.offer(tag, attribute, row)) => {}
                Answer::Css(row) if self.css_value(tag, attribute, row) => {}
                Answer::Srcset(row) if self.srcset(tag, attribute, row) => {}
                Answer::Url(_)
                | Answer::Either(..)
                | Answer::Css(_)
                | Answer::Srcset(_)
                | Answer::With(_)
                | Answer::Ask => {
                    let element = self.element(tag);
                    self.attribute(namespace, &element, attribute, &tag.attributes);
                    self.drain();
                }
            }
        }
    }

    fn end_text(&mut self, at: usize) {
        // The fast path of style sheets.
        let style =
            self.text.as_ref().filter(|open| open.content == Content::Raw(TextContent::Css));
        let span = style.map(|open| Span::new(open.start, at));
        match span.is_some_and(|span| self.css(span, None)) {
            true => self.text = None,
            false => self.close_text(at),
        }
        self.drain();
    }

    fn comment(&mut self, span: Span) {
        if self.bytes[span.range()].starts_with(b"<?") {
            self.import(span);
        } else {
            self.markup.extend(conditional_markup(self.bytes, span));
        }
        // What is found in the text of an element comes in order when that ends.
        if self.text.is_none() {
            self.drain();
        }
    }
}

impl<'a, 'l, L: Links> Pass<'a, 'l, L> {
    fn new(
        whole: &Whole<'a>,
        options: &'a ScanOptions,
        names: &'a Names,
        links: &'l mut L,
    ) -> Self {
        Self {
            bytes: whole.bytes,
            charset: whole.charset,
            options,
            names,
            entity: Arc::clone(&whole.entity),
            links,
            rows: Answers::new(),
            parts: 0,
            collector: Collector::new(options, whole.enclosed),
            enclosed: whole.enclosed,
            is_in_text: false,
            depth: whole.depth,
            text: None,
            markup: Vec::new(),
            fallback: None,
        }
    }

    /// Tells what is left when `span` has been read.
    fn finish(&mut self, span: Span, read: &engines::Tokenized) {
        self.fallback = self.fallback.or(read.fallback);
        if let Some(bound) = read.without_tree {
            self.links.diagnostic(without_tree(bound));
        }
        self.close_text(span.end);
        self.drain();
    }

    /// Whether more is to be known of a tag than its attributes.
    #[inline(always)]
    fn has_more(&self, tag: &RawTag, namespace: Namespace, text: TextModel) -> bool {
        let is = |name: &str| tag.is_named(self.bytes, name);
        match (namespace, text) {
            (Namespace::Html, TextModel::RawText) => match tag.name.len() {
                6 if is("script") => {
                    let groups = &self.options.groups;
                    groups.contains(Group::Json) || groups.contains(Group::Scripts)
                }
                6 => !is("iframe"),
                _ => true,
            },
            (Namespace::Html, _) => false,
            (Namespace::Svg | Namespace::MathMl, _) => is("style"),
        }
    }

    /// A tag of which more is to be known than its attributes.
    fn whole_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel) {
        let element = self.element(tag);
        if tag.attributes.is_empty() {
            return self.open_text(tag, namespace, text, &element, &[]);
        }
        let attributes = tag::distinct(self.bytes, tag);
        for attribute in attributes.iter() {
            self.attribute(namespace, &element, attribute, &attributes);
        }
        self.open_text(tag, namespace, text, &element, &attributes);
    }

    /// Tells what a fragment can name: an id, and the name of an `a` (HTML, 7.4.6.4).
    fn ids(&mut self, tag: &RawTag, namespace: Namespace) {
        let is_anchor = namespace == Namespace::Html && tag.is_named(self.bytes, "a");
        for name in if is_anchor { &["id", "name"][..] } else { &["id"] } {
            let first = tag.attribute(self.bytes, name);
            let id = first.map(|one| self.value(one).text).filter(|id| !id.is_empty());
            id.into_iter().for_each(|id| self.links.id(id));
        }
    }

    /// Name of the element of `tag`.
    fn element(&self, tag: &RawTag) -> String {
        element_name(&self.bytes[tag.name.range()])
    }

    /// The decoded value of an attribute.
    fn value(&self, attribute: &RawAttribute) -> View {
        attribute.decoded(self.bytes, self.charset)
    }

    /// The decoded value of the one of `attributes` called `name`.
    fn other(&self, attributes: &[RawAttribute], name: &str) -> Option<String> {
        let found = attributes.iter().find(|one| one.is_named(self.bytes, name))?;
        Some(self.value(found).text)
    }

    /// Goes through an attribute that is CSS; `false` where that is not simple.
    fn css_value(&mut self, tag: &RawTag, attribute: &RawAttribute, row: &'static Row) -> bool {
        // Whatever character references there are, one of these occurs in what holds a URL.
        let Some(span) = attribute.value.filter(|&span| block::holds(self.bytes, span, *b"(@\\&"))
        else {
            return true;
        };
        if memchr::memchr3(b'&', b'\r', 0, &self.bytes[span.range()]).is_some() {
            return false;
        }
        self.css(span, Some((tag, attribute, row)))
    }

    /// Goes through a list of image candidates; `false` where that is not simple, and nothing is done then.
    fn srcset(&mut self, tag: &RawTag, attribute: &RawAttribute, row: &'static Row) -> bool {
        let Some(whole) = attribute.value else {
            return false;
        };
        let list = match str::from_utf8(&self.bytes[whole.range()]) {
            Ok(list) if list.is_ascii() => list,
            _ => return false,
        };
        // No other character reference is as common, and none that represents white space or a comma.
        let is_amp = |at: usize| list[at..].starts_with("&amp;");
        if memchr::memchr2(b'\r', 0, list.as_bytes()).is_some()
            || !memchr::memchr_iter(b'&', list.as_bytes()).all(is_amp)
        {
            return false;
        }
        for span in value::srcset(list) {
            let span = span.shifted(whole.start);
            let place = Some((tag, attribute, row));
            if !self.links.plain(self.bytes, &self.plain(span, place)) {
                let raw = self.charset.decode(&self.bytes[span.range()], span.start);
                self.reference(&escape::character_references(raw), Form::Srcset, place);
                self.drain();
            }
        }
        true
    }

    /// Goes through CSS that is not escaped; `false` where that is not simple, and nothing is
    /// done then.
    fn css(&mut self, span: Span, place: Option<Attribute<'_>>) -> bool {
        let text = &self.bytes[span.range()];
        if !self.charset.is_ascii_fixed() && !text.is_ascii() {
            return false;
        }
        for url in css::Urls::of(text, self.options.groups) {
            let span = url.span.shifted(span.start);
            let plain = self.plain(span, place);
            let plain = Plain { empty_resolves: false, fragment_identifies: true, ..plain };
            let raw = &self.bytes[span.range()];
            if memchr::memchr2(b'\\', 0, raw).is_some() || !self.links.plain(self.bytes, &plain) {
                let view = url.decode(self.charset.decode(raw, span.start));
                self.reference(&view, url.form, place);
                self.drain();
            }
        }
        true
    }

    #[inline(always)]
    fn offer(&mut self, tag: &RawTag, attribute: &RawAttribute, row: &'static Row) -> bool {
        let Some(span) = attribute.value else {
            return false;
        };
        let plain = self.plain(span, Some((tag, attribute, row)));
        self.links.plain(self.bytes, &plain)
    }

    /// The row that holds for `tag`, if `one` asks for a token; `None` if that is not simple.
    fn either(&self, tag: &RawTag, one: &'static Row, other: &'static Row) -> Option<&'static Row> {
        let When::Has(name, tokens) = one.when else { return None };
        let Some(list) = tag.attribute(self.bytes, name).and_then(|found| found.value) else {
            return Some(other);
        };
        let list = &self.bytes[list.range()];
        let is_plain =
            |byte: &u8| byte.is_ascii_graphic() && *byte != b'&' || byte.is_ascii_whitespace();
        let has =
            |token: &[u8]| tokens.iter().any(|one| token.eq_ignore_ascii_case(one.as_bytes()));
        let row = if list.split(u8::is_ascii_whitespace).any(has) { one } else { other };
        list.iter().all(is_plain).then_some(row)
    }

    /// The reference at `span` of an attribute, or of the text of `style`.
    #[inline(always)]
    fn plain(&self, span: Span, place: Option<Attribute<'_>>) -> Plain {
        let row = place.map(|(.., row)| row);
        Plain {
            span,
            names: place.map(|(tag, attribute, row)| (tag.name, attribute.name, row)),
            quote: place.map_or(Quote::Double, |(_, attribute, _)| attribute.quote),
            enclosed: self.enclosed,
            empty_resolves: row.is_some_and(|row| row.empty == Empty::Resolve),
            fragment_identifies: row.is_none_or(|row| row.fragment == Fragment::Identifier),
        }
    }

    /// `<?import implementation="x.htc">`, which is a bogus comment to HTML and read like a tag by
    /// Internet Explorer.
    fn import(&mut self, span: Span) {
        if !self.options.groups.contains(Group::Rare) {
            return;
        }
        let Some(tag) = tag::read(&self.bytes[..span.end], span.start + 1) else {
            return;
        };
        let name = "implementation";
        if let Some(attribute) = tag.attribute(self.bytes, name)
            && tag.is_named(self.bytes, "import")
        {
            let carrier = Carrier::Attribute(attribute.quote);
            let place = LinkPlace {
                attribute: Some(name),
                no_value: attribute.value.is_none(),
                ..LinkPlace::text_of("?import", Carriers::One(carrier))
            };
            self.collector.references(self.value(attribute), Syntax::Url, &place);
        }
    }

    fn attribute(
        &mut self,
        namespace: Namespace,
        element: &str,
        attribute: &RawAttribute,
        attributes: &[RawAttribute],
    ) {
        let Ok(name) = str::from_utf8(&self.bytes[attribute.name.range()]) else {
            return;
        };
        let (name, places) = (&*name.to_ascii_lowercase(), &self.options.places);
        let other = |name: &str| self.other(attributes, name);
        let of_user = places.iter().find(|place| place.covers(element, name));
        let Some(row) = of_user
            .map(Place::row)
            .or_else(|| attributes::find(namespace, element, name, &other, &self.options.groups))
        else {
            return;
        };
        let against = match row.against {
            attributes::AttributeBase::Document => Against::Document,
            attributes::AttributeBase::Fallback => Against::Fallback,
            attributes::AttributeBase::Retrieval => Against::Retrieval,
            attributes::AttributeBase::Codebase => match other("codebase") {
                None => Against::Document,
                Some(codebase) if codebase.len() > LONGEST_BASE => Against::Nothing,
                Some(codebase) => Against::Codebase(value::trim(&codebase).to_owned()),
            },
        };
        let place = LinkPlace {
            attribute: Some(name),
            row: Some(row),
            against,
            no_value: attribute.value.is_none(),
            ..LinkPlace::text_of(element, Carriers::One(Carrier::Attribute(attribute.quote)))
        };
        self.collector.references(self.value(attribute), row.syntax, &place);
    }

    fn open_text(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
        element: &str,
        attributes: &[RawAttribute],
    ) {
        let of_type = || {
            let type_ = self.other(attributes, "type").unwrap_or_default();
            type_.trim().to_ascii_lowercase()
        };
        let content = match (namespace, element, text) {
            (Namespace::Html, "style", TextModel::RawText) => {
                TextContent::of_style(&of_type()).map(Content::Raw)
            }
            (Namespace::Svg, "style", TextModel::Markup) if !tag.self_closing => {
                TextContent::of_style(&of_type()).map(|_| Content::SvgCss)
            }
            (Namespace::Html, "script", TextModel::RawText) => {
                let is_inline = || !attributes.iter().any(|one| one.is_named(self.bytes, "src"));
                let groups = &self.options.groups;
                TextContent::of_script(&of_type(), is_inline, groups).map(Content::Raw)
            }
            _ => {
                is_fallback_content(namespace, element.as_bytes(), text).then_some(Content::Markup)
            }
        };
        if let Some(content) = content {
            self.text = Some(OpenText { start: tag.span.end, content });
        }
    }

    /// The open element's text ends at `end`.
    fn close_text(&mut self, end: usize) {
        let Some(OpenText { start, content }) = self.text.take() else {
            return;
        };
        let span = Span::new(start, end);
        match content {
            Content::Raw(content) => {
                let view = self.charset.decode(&self.bytes[span.range()], span.start);
                let place = if content == TextContent::Css { &STYLE } else { &SCRIPT };
                let said = self.collector.text(&view, content, place);
                said.into_iter().for_each(|diagnostic| self.links.diagnostic(diagnostic));
            }
            Content::SvgCss => {
                let (view, pieces) = self.svg_text(span);
                self.collector.css(&view, &LinkPlace::text_of("style", Carriers::Pieces(&pieces)));
            }
            Content::Markup => {
                if memchr::memchr(b'<', &self.bytes[span.range()]).is_some() {
                    let standing = Standing::FallbackContent;
                    self.markup.push(Markup { span, standing });
                }
            }
        }
    }

    /// The text of an element in foreign content, and what carries each piece of it.
    fn svg_text(&self, span: Span) -> (View, Vec<(Span, Carrier)>) {
        let mut whole = View { text: String::new(), map: OffsetMap::verbatim(span.start, 0) };
        let mut pieces = Vec::new();
        let mut at = span.start;
        let bytes = &self.bytes[..span.end];
        while at < span.end {
            let rest = &bytes[at..];
            let (piece, carrier, next) = if rest.starts_with(b"<![CDATA[") {
                let body = at + 9;
                let length = memchr::memmem::find(&bytes[body..], b"]]>");
                let end = length.map_or(span.end, |length| body + length);
                let piece = self.charset.decode(&bytes[body..end], body);
                (piece, Carrier::Raw, length.map_or(span.end, |_| end + 3))
            } else if let [b'<', b'a'..=b'z' | b'A'..=b'Z', ..]
            | [b'<', b'/', b'a'..=b'z' | b'A'..=b'Z', ..] = rest
            {
                // The end tag of something else, or a tag that the document ends in.
                at = tag::read(bytes, at).map_or(span.end, |tag| tag.span.end);
                continue;
            } else if matches!(rest, [b'<', b'!' | b'?' | b'/', ..]) {
                at = declaration_end(bytes, at, true).unwrap_or(span.end);
                continue;
            } else {
                let length =
                    memchr::memchr(b'<', &rest[1..]).map_or(rest.len(), |length| length + 1);
                let raw = self.charset.decode(&rest[..length], at);
                (escape::character_data(raw), Carrier::Text, at + length)
            };
            let start = whole.text.len();
            whole.append(&piece);
            pieces.push((Span::new(start, whole.text.len()), carrier));
            at = next;
        }
        (whole, pieces)
    }

    /// Takes a reference that was found in an attribute, or in the text of `style`.
    fn reference(&mut self, view: &View, form: Form, place: Option<Attribute<'_>>) {
        let whole = Span::new(0, view.text.len());
        let Some((tag, attribute, row)) = place else {
            return self.collector.decoded(view, form, whole, &STYLE);
        };
        let name =
            String::from_utf8_lossy(&self.bytes[attribute.name.range()]).to_ascii_lowercase();
        let element = self.element(tag);
        let place = LinkPlace {
            attribute: Some(&name),
            row: Some(row),
            ..LinkPlace::text_of(&element, Carriers::One(Carrier::Attribute(attribute.quote)))
        };
        self.collector.decoded(view, form, whole, &place);
    }

    /// Tells what was found, and goes through markup that is scanned on its own.
    fn drain(&mut self) {
        if !self.markup.is_empty() {
            return self.drain_all();
        }
        for link in self.collector.links.drain(..) {
            self.links.link(self.bytes, link);
        }
        if !self.collector.embedded.is_empty() {
            self.embedded();
        }
    }

    /// The documents in values.
    fn embedded(&mut self) {
        for found in std::mem::take(&mut self.collector.embedded) {
            self.parts += 1;
            if self.depth == DEEPEST {
                self.links.diagnostic(too_deep(found.value.map.source()));
                continue;
            }
            let entity = entity_name(&self.entity, self.parts);
            let part = Part { found, entity, depth: self.depth + 1 };
            self.links.part(self.bytes, part);
        }
    }

    fn drain_all(&mut self) {
        let markup = std::mem::take(&mut self.markup);
        let mut links = std::mem::take(&mut self.collector.links).into_iter().peekable();
        for markup in markup {
            while let Some(link) = links.next_if(|link| link.span().start < markup.span.start) {
                self.links.link(self.bytes, link);
            }
            self.inside(markup);
        }
        links.for_each(|link| self.links.link(self.bytes, link));
        self.embedded();
    }

    /// Scans markup in text. Recursion is at most [`DEEPEST`] deep.
    fn inside(&mut self, Markup { span, .. }: Markup) {
        if self.depth == DEEPEST {
            self.links.diagnostic(too_deep(span));
            return;
        }
        let outer = (self.enclosed, self.is_in_text, self.text.take());
        let collector = Collector::new(self.options, true);
        let collector = std::mem::replace(&mut self.collector, collector);
        (self.enclosed, self.is_in_text) = (true, true);
        self.depth += 1;
        let (scanner, names) = (self.options.scanner, self.names);
        let read = engines::tokens(self.bytes, span.range(), false, scanner, names, self);
        self.finish(span, &read);
        self.depth -= 1;
        (self.enclosed, self.is_in_text, self.text) = outer;
        self.collector = collector;
    }
}

/// A downlevel-hidden conditional comment: `<!--[if …]> markup <![endif]-->`.
pub(super) fn conditional_markup(bytes: &[u8], span: Span) -> Option<Markup> {
    let comment = &bytes[span.range()];
    let body = comment.strip_prefix(b"<!--")?;
    let opening = body.trim_ascii_start();
    if !opening.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(b"[if")) {
        return None;
    }
    let start = span.start + 4 + memchr::memmem::find(body, b"]>")? + 2;
    let closing = memchr::memmem::rfind(comment, b"<![").map(|at| span.start + at);
    let comment_end = if comment.ends_with(b"-->") { span.end - 3 } else { span.end };
    let end = closing.filter(|&at| at >= start).unwrap_or(comment_end);
    memchr::memchr(b'<', bytes.get(start..end)?)?;
    Some(Markup { span: Span::new(start, end), standing: Standing::ConditionalComment })
}

/// Whether the text of an element is markup to those who do not run scripts, show frames or have the plugin.
pub(super) fn is_fallback_content(namespace: Namespace, element: &[u8], text: TextModel) -> bool {
    let mut names = [&b"noscript"[..], b"noframes", b"noembed"].into_iter();
    (namespace, text) == (Namespace::Html, TextModel::RawText)
        && names.any(|name| element.eq_ignore_ascii_case(name))
}

fn too_deep(span: Span) -> Diagnostic {
    let message = format!("documents nest more than {DEEPEST} deep here; what is inside was left");
    Diagnostic::new(Code::TooDeep, span, message)
}

fn without_tree(bound: Bound) -> Diagnostic {
    let (at, why) = match bound {
        Bound::Attributes(at) => (at, "this tag has more than 1,000 attributes"),
        Bound::Nesting(at) => (at, "elements nest too deep before this place"),
        Bound::Unverified(at) => (at, "the tag that ends here was not where it was sought"),
    };
    let message = format!("{why}; the document was scanned without its tree");
    Diagnostic::new(Code::WithoutTree, Span::at(at), message)
}
