//! One pass over a range of a buffer: events to links, bases, and what is still to be scanned.
//!
//! Tags are looked up in [`attributes`]; what is in their values, the collector finds.
//!
//! ```
//! // The value is CSS in an attribute: two layers, one reference.
//! let page = b"<p style=\"a:url(&quot;x\\&#121;&quot;)\">";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "xy");
//! assert_eq!(&page[document.links[0].span().range()], b"x\\&#121;");
//! ```
//!
//! Deliberately absent: nested documents. A pass notes where they are.

use std::convert::Infallible;

use super::exact::Bound;
use super::sink::{Sink, TextModel, TreeFacts};
use super::tag::{self, RawAttribute, RawTag};
use super::walk::{Names, declaration_end};
use super::{Markup, engines, saved};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Against, BaseKind, DeclaredBase, FallbackReason, LONGEST_BASE, Standing};
use crate::layer::charset::Charset;
use crate::layer::escape::{self, Quote};
use crate::layer::spelling::{Carrier, Form};
use crate::layer::{OffsetMap, View};
use crate::scan::attributes::{self, Group, Namespace, Row, Syntax};
use crate::scan::collect::{Carriers, Collector, Place};
use crate::scan::{ScanOptions, json, value};
use crate::span::Span;

/// No name of an attribute in the table is longer.
pub(super) const LONGEST_ATTRIBUTE: usize = 48;

/// `name` in ASCII lower case, without an allocation; `None` where it is too long for that, or not UTF-8.
pub(super) fn lower_case<'a>(
    name: &[u8],
    buffer: &'a mut [u8; LONGEST_ATTRIBUTE],
) -> Option<&'a str> {
    let lower = buffer.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    str::from_utf8(lower).ok()
}

/// As much of an element's name as is kept.
const LONGEST_NAME: usize = 256;

/// An element whose text is looked at when it ends.
pub(super) struct OpenText {
    pub(super) start: usize,
    content: Content,
}

#[derive(Clone, Copy, PartialEq)]
enum Content {
    /// A stylesheet in raw text.
    Css,
    /// A stylesheet in an SVG element: text and CDATA sections.
    SvgCss,
    Json(json::Kind),
    /// Markup to those who do not run scripts, show frames or have the plugin.
    Markup,
}

/// One pass over a range of a buffer.
pub(super) struct Pass<'a> {
    bytes: &'a [u8],
    charset: Charset,
    options: &'a ScanOptions,
    /// What a `base` here would be; [`Standing::First`] where one can count.
    standing: Standing,
    pub(super) collector: Collector<'a>,
    pub(super) bases: Vec<DeclaredBase>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) markup: Vec<Markup>,
    pub(super) ids: Vec<String>,
    pub(super) text: Option<OpenText>,
    /// Whether a comment as Firefox writes it in the place of a `base` element was seen: one is looked at.
    pub(super) has_commented_url: bool,
    pub(super) without_tree: bool,
    /// Why html5ever was asked.
    pub(super) fallback: Option<FallbackReason>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        standing: Standing,
        enclosed: bool,
        charset: Charset,
        options: &'a ScanOptions,
    ) -> Self {
        Self {
            bytes,
            charset,
            options,
            standing,
            collector: Collector::new(options, enclosed || standing != Standing::First),
            bases: Vec::new(),
            diagnostics: Vec::new(),
            markup: Vec::new(),
            ids: Vec::new(),
            text: None,
            has_commented_url: false,
            without_tree: false,
            fallback: None,
        }
    }

    /// Scans `span`, by whichever engine can.
    pub(super) fn over(
        bytes: &'a [u8],
        span: Span,
        standing: Standing,
        enclosed: bool,
        charset: Charset,
        options: &'a ScanOptions,
    ) -> Self {
        let scripting = standing == Standing::First;
        let mut pass = Self::new(bytes, standing, enclosed, charset, options);
        let (names, scanner) = (Names::of(options), options.scanner);
        let Ok(scanned) =
            engines::tokens(bytes, span.range(), scripting, scanner, &names, &mut pass);
        pass.fallback = scanned.fallback;
        if let Some(bound) = scanned.without_tree {
            pass.without_tree = true;
            pass.diagnostics.insert(0, without_tree(bound));
        }
        pass.finish(span, scanned.facts)
    }

    pub(super) fn finish(mut self, span: Span, facts: TreeFacts) -> Self {
        self.close_text(span.end);
        if self.standing == Standing::First && !self.bases.is_empty() {
            let mut standings = facts.bases;
            standings.sort_unstable_by_key(|&(tag, _)| tag);
            let mut standings = standings.into_iter().peekable();
            // Both are in source order.
            let elements = self.bases.iter_mut().filter(|base| base.kind == BaseKind::Element);
            for base in elements {
                let tag = base.span.start;
                while standings.next_if(|&(at, _)| at < tag).is_some() {}
                let found = standings.next_if(|&(at, _)| at == tag);
                base.standing = found.map_or(Standing::Dropped, |(_, standing)| standing);
            }
        }
        self
    }

    /// Where a `base` element would be the first child of `head`, its start tag implied or not.
    pub(super) fn head_position(&self, span: Span) -> usize {
        let mut at = self.skip_leading(span.start);
        if let Some(end) = self.start_tag_at(at, "html") {
            at = self.skip_leading(end);
        }
        self.start_tag_at(at, "head").unwrap_or(at)
    }

    /// Where the start tag at `at` ends, if there is one and it is called `name`.
    fn start_tag_at(&self, at: usize, name: &str) -> Option<usize> {
        let begins = self.bytes.get(at + 1..).and_then(|rest| rest.get(..name.len()));
        if self.bytes.get(at) != Some(&b'<')
            || !begins.is_some_and(|begins| begins.eq_ignore_ascii_case(name.as_bytes()))
        {
            return None;
        }
        let tag = tag::read(self.bytes, at)?;
        let is_named = self.bytes[tag.name.range()].eq_ignore_ascii_case(name.as_bytes());
        is_named.then_some(tag.span.end)
    }

    /// Behind white space, comments and declarations that are complete.
    fn skip_leading(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            let rest = &self.bytes[at..];
            let blank = rest.len() - rest.trim_ascii_start().len();
            if !matches!(rest[blank..], [b'<', b'!' | b'?', ..]) {
                return at + blank;
            }
            // Nothing can stand behind a comment that the document ends in.
            let Some(end) = declaration_end(self.bytes, at + blank, false) else {
                return at + blank;
            };
            at = end;
        }
    }

    pub(super) fn comment(&mut self, span: Span) {
        if self.bytes[span.range()].starts_with(b"<?") {
            self.import(span);
        } else {
            self.conditional_comment(span);
            self.commented_base(span);
        }
    }

    /// The comment that a browser wrote in the place of a `base` element when it saved the page.
    pub(super) fn commented_base(&mut self, span: Span) {
        if self.standing != Standing::First || self.options.ignore_saved {
            return;
        }
        let value = if let Some(tag) = saved::commented_element(self.bytes, span) {
            let attributes = tag::wanted(self.bytes, &tag, |name| self.is_asked_for(name));
            let href = attributes.iter().find(|one| self.is_named(one, "href"));
            href.map(|href| self.base_value(href))
        } else if let Some(url) = saved::commented_url(self.bytes, span)
            && !std::mem::replace(&mut self.has_commented_url, true)
            && saved::is_in_head(self.bytes, span.start)
        {
            let url = self.charset.decode(&self.bytes[url.range()], url.start).text;
            Some(url[value::trimmed(&url).range()].to_owned())
        } else {
            return;
        };
        self.bases.push(DeclaredBase {
            kind: BaseKind::Comment,
            span,
            value,
            is_known: true,
            standing: Standing::First,
            removable: None,
        });
    }

    /// The value of the `href` of a `base` element.
    fn base_value(&self, href: &RawAttribute) -> String {
        let text = self.value(href).text;
        text[value::trimmed(&text).range()].to_owned()
    }

    /// `<?import implementation="x.htc">`, which is a bogus comment to HTML and read like a tag by
    /// Internet Explorer.
    fn import(&mut self, span: Span) {
        if !self.options.groups.contains(Group::Ie) {
            return;
        }
        let Some(tag) = tag::read(&self.bytes[..span.end], span.start + 1) else {
            return;
        };
        if !self.bytes[tag.name.range()].eq_ignore_ascii_case(b"import") {
            return;
        }
        for attribute in tag::distinct(self.bytes, &tag).iter() {
            if self.is_named(attribute, "implementation") {
                let place = Place {
                    attribute: Some("implementation"),
                    no_value: attribute.value.is_none(),
                    ..text_of("?import", Carriers::One(Carrier::Attribute(attribute.quote)))
                };
                self.collector.references(self.value(attribute), Syntax::Url, &place);
            }
        }
    }

    /// A downlevel-hidden conditional comment: `<!--[if …]> markup <![endif]-->`.
    fn conditional_comment(&mut self, span: Span) {
        let comment = &self.bytes[span.range()];
        let Some(body) = comment.strip_prefix(b"<!--") else {
            return;
        };
        let opening = body.trim_ascii_start();
        if !opening.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(b"[if")) {
            return;
        }
        let Some(condition) = memchr::memmem::find(body, b"]>") else {
            return;
        };
        let start = span.start + 4 + condition + 2;
        let closing = memchr::memmem::rfind(comment, b"<![").map(|at| span.start + at);
        let comment_end = if comment.ends_with(b"-->") { span.end - 3 } else { span.end };
        let markup = Span::new(start, closing.filter(|&at| at >= start).unwrap_or(comment_end));
        if memchr::memchr(b'<', &self.bytes[markup.range()]).is_some() {
            self.markup.push(Markup { span: markup, standing: Standing::ConditionalComment });
        }
    }

    pub(super) fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel) {
        if self.text.is_some() {
            // A tag inside an SVG stylesheet: its text ends here.
            self.close_text(tag.span.start);
        }
        let element = self.element(tag);
        if tag.attributes.is_empty() && element != "base" {
            self.open_text(tag, namespace, text, &element, &[]);
            return;
        }
        let attributes = tag::wanted(self.bytes, tag, |name| self.is_asked_for(name));
        if element == "base" {
            self.base(tag, namespace, &attributes);
        }
        // A fragment names no element in text that is markup to others only.
        if self.options.ids && self.standing == Standing::First {
            self.ids(namespace, &element, &attributes);
        }
        for attribute in attributes.iter() {
            self.attribute(namespace, &element, attribute, &attributes);
        }
        self.open_text(tag, namespace, text, &element, &attributes);
    }

    /// Notes what a fragment can name: an id, and the name of an `a` (HTML, 7.4.6.4).
    fn ids(&mut self, namespace: Namespace, element: &str, attributes: &[RawAttribute]) {
        let is_anchor = namespace == Namespace::Html && element == "a";
        for attribute in attributes {
            if self.is_named(attribute, "id") || (is_anchor && self.is_named(attribute, "name")) {
                let id = self.value(attribute).text;
                self.ids.extend((!id.is_empty()).then_some(id));
            }
        }
    }

    /// Name of the element of `tag`.
    pub(super) fn element(&self, tag: &RawTag) -> String {
        let name = &self.bytes[tag.name.range()];
        let mut element =
            String::from_utf8_lossy(&name[..name.len().min(LONGEST_NAME)]).into_owned();
        element.make_ascii_lowercase();
        element
    }

    /// Notes a `base` element; how it stands is known once the tree is complete.
    fn base(&mut self, tag: &RawTag, namespace: Namespace, attributes: &[RawAttribute]) {
        let href = attributes.iter().find(|one| self.is_named(one, "href"));
        let value = href.map(|href| self.base_value(href));
        let hrefs = tag.attributes.iter().filter(|one| self.is_named(one, "href")).count();
        let removable = match href {
            Some(href) if tag.attributes.len() > 1 && hrefs == 1 => {
                let blank = self.bytes[..href.name.start]
                    .iter()
                    .rev()
                    .take_while(|byte| byte.is_ascii_whitespace())
                    .count();
                let quoted = usize::from(href.quote != Quote::None);
                let end = href.value.map_or(href.name.end, |value| value.end + quoted);
                // What separates it from the next attribute stays.
                Some(Span::new(href.name.start - blank, end))
            }
            // What stands before the tag must not become markup with what stands behind it.
            _ => {
                let before = self.bytes[..tag.span.start].last();
                let ends = before.is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'>');
                ends.then_some(tag.span)
            }
        };
        let standing = match namespace {
            Namespace::Html => self.standing,
            _ => Standing::Foreign,
        };
        let (kind, span) = (BaseKind::Element, tag.span);
        self.bases.push(DeclaredBase { kind, span, value, is_known: true, standing, removable });
    }

    /// Whether an attribute of this name, as written, can matter.
    fn is_asked_for(&self, name: &[u8]) -> bool {
        let mut buffer = [0; LONGEST_ATTRIBUTE];
        let is_of_table = lower_case(name, &mut buffer).is_some_and(attributes::is_asked_for);
        let mut places = self.options.places.iter();
        is_of_table || places.any(|place| place.attribute().as_bytes().eq_ignore_ascii_case(name))
    }

    fn is_named(&self, attribute: &RawAttribute, name: &str) -> bool {
        self.bytes[attribute.name.range()].eq_ignore_ascii_case(name.as_bytes())
    }

    /// The decoded value of an attribute.
    fn value(&self, attribute: &RawAttribute) -> View {
        let span = attribute.value.unwrap_or(Span::at(attribute.name.end));
        escape::character_references(self.charset.decode(&self.bytes[span.range()], span.start))
    }

    pub(super) fn attribute(
        &mut self,
        namespace: Namespace,
        element: &str,
        attribute: &RawAttribute,
        attributes: &[RawAttribute],
    ) {
        let raw_name = &self.bytes[attribute.name.range()];
        let mut buffer = [0; LONGEST_ATTRIBUTE];
        match lower_case(raw_name, &mut buffer) {
            Some(name) => self.named_attribute(namespace, element, name, attribute, attributes),
            None => self.long_name(namespace, element, attribute, attributes),
        }
    }

    /// An attribute whose name is too long for the table, but perhaps not for the user's places.
    fn long_name(
        &mut self,
        namespace: Namespace,
        element: &str,
        attribute: &RawAttribute,
        attributes: &[RawAttribute],
    ) {
        if !self.options.places.is_empty()
            && let Ok(name) = std::str::from_utf8(&self.bytes[attribute.name.range()])
        {
            self.named_attribute(
                namespace,
                element,
                &name.to_ascii_lowercase(),
                attribute,
                attributes,
            );
        }
    }

    fn named_attribute(
        &mut self,
        namespace: Namespace,
        element: &str,
        name: &str,
        attribute: &RawAttribute,
        attributes: &[RawAttribute],
    ) {
        let other = |name: &str| {
            let found = attributes.iter().find(|one| self.is_named(one, name))?;
            Some(self.value(found).text)
        };
        let places = &self.options.places;
        let row = match places.iter().find(|place| place.covers(element, name)) {
            Some(place) => place.row(),
            None => {
                match attributes::find(namespace, element, name, &other, &self.options.groups) {
                    Some(row) => row,
                    None => return,
                }
            }
        };
        let against = match row.against {
            attributes::Against::Document => Against::Document,
            attributes::Against::Fallback => Against::Fallback,
            attributes::Against::Retrieval => Against::Retrieval,
            attributes::Against::Codebase => match other("codebase") {
                None => Against::Document,
                Some(codebase) if codebase.len() > LONGEST_BASE => Against::Nothing,
                Some(codebase) => {
                    Against::Codebase(codebase[value::trimmed(&codebase).range()].to_owned())
                }
            },
        };
        let place = Place {
            element,
            attribute: Some(name),
            row: Some(row),
            carriers: Carriers::One(Carrier::Attribute(attribute.quote)),
            against,
            no_value: attribute.value.is_none(),
            entities: &[],
        };
        let view = self.value(attribute);
        self.collector.references(view, row.syntax, &place);
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
            let found = attributes.iter().find(|one| self.is_named(one, "type"));
            found.map(|found| self.value(found).text.trim().to_ascii_lowercase())
        };
        let content = match (namespace, element, text) {
            (Namespace::Html, "style", TextModel::RawText) => Content::Css,
            (Namespace::Svg, "style", TextModel::Markup) if !tag.self_closing => Content::SvgCss,
            (Namespace::Html, "script", TextModel::RawText)
                if self.options.groups.contains(Group::Json) =>
            {
                match of_type().as_deref() {
                    Some("importmap") => Content::Json(json::Kind::ImportMap),
                    Some("speculationrules") => Content::Json(json::Kind::SpeculationRules),
                    Some("application/ld+json") => Content::Json(json::Kind::JsonLd),
                    _ => return,
                }
            }
            (Namespace::Html, "noscript" | "noframes" | "noembed", TextModel::RawText) => {
                Content::Markup
            }
            _ => return,
        };
        if matches!(content, Content::Css | Content::SvgCss)
            && of_type().is_some_and(|name| !name.is_empty() && name != "text/css")
        {
            return;
        }
        self.text = Some(OpenText { start: tag.span.end, content });
    }

    /// Whether it is in a text of which the links are found at its end.
    pub(super) fn is_in_text(&self) -> bool {
        self.text.is_some()
    }

    /// The open element's text ends at `end`.
    pub(super) fn close_text(&mut self, end: usize) {
        let Some(OpenText { start, content }) = self.text.take() else {
            return;
        };
        let span = Span::new(start, end);
        match content {
            Content::Css => self.style(span),
            Content::SvgCss => {
                let (view, pieces) = self.svg_text(span);
                self.collector.css(&view, &text_of("style", Carriers::Pieces(&pieces)));
            }
            Content::Json(kind) => self.json(span, kind),
            Content::Markup => {
                if memchr::memchr(b'<', &self.bytes[span.range()]).is_some() {
                    self.markup.push(Markup { span, standing: Standing::FallbackContent });
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

    /// The text of the open element, which ends at `end`, if that is a stylesheet of HTML. The element is
    /// closed then.
    pub(super) fn take_style(&mut self, end: usize) -> Option<Span> {
        let is_style = |open: &mut OpenText| open.content == Content::Css;
        self.text.take_if(is_style).map(|open| Span::new(open.start, end))
    }

    /// Looks for links in the text of a `style` element.
    pub(super) fn style(&mut self, span: Span) {
        let view = self.charset.decode(&self.bytes[span.range()], span.start);
        self.collector.css(&view, &text_of("style", Carriers::One(Carrier::Raw)));
    }

    /// Takes a reference that was found in an attribute of `element`, which has a row, or in the text of
    /// `style`.
    pub(super) fn reference(
        &mut self,
        view: &View,
        form: Form,
        element: &str,
        attribute: Option<(&str, Quote, &'static Row)>,
    ) {
        let carrier = attribute.map_or(Carrier::Raw, |(_, quote, _)| Carrier::Attribute(quote));
        let place = Place {
            attribute: attribute.map(|(name, ..)| name),
            row: attribute.map(|(.., row)| row),
            ..text_of(element, Carriers::One(carrier))
        };
        let whole = Span::new(0, view.text.len());
        self.collector.reference(view, whole, form, Some(carrier), &place);
    }

    fn json(&mut self, span: Span, kind: json::Kind) {
        let view = self.charset.decode(&self.bytes[span.range()], span.start);
        self.collector.json(&view, kind, &text_of("script", Carriers::One(Carrier::Raw)));
    }
}

impl Sink for Pass<'_> {
    type Stop = Infallible;

    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), Infallible> {
        Pass::start_tag(self, tag, namespace, text);
        Ok(())
    }

    fn end_text(&mut self, at: usize) -> Result<(), Infallible> {
        self.close_text(at);
        Ok(())
    }

    fn comment(&mut self, span: Span) -> Result<(), Infallible> {
        Pass::comment(self, span);
        Ok(())
    }
}

/// The text of an element.
fn text_of<'a>(element: &'a str, carriers: Carriers<'a>) -> Place<'a> {
    Place {
        element,
        attribute: None,
        row: None,
        carriers,
        against: Against::Document,
        no_value: false,
        entities: &[],
    }
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
