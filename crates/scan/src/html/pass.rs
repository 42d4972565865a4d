//! One pass over a range of a buffer: from tags and comments to links, each reported as soon as it is found.
//!
//! If a reference in an attribute, a `srcset` or CSS may not need decoding, the fast path offers it to the receiver as
//! [`Plain`], without an allocation. Other references, and those that the receiver declines, become a [`Link`](crate::document::Link). A
//! document in a value is scanned separately; markup in text (`noscript`, conditional comments) is scanned in place.
//!
//! ```
//! // The value is CSS in an attribute: two layers, one reference.
//! let page = b"<p style=\"a:url(&quot;x\\&#121;&quot;)\">";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "xy");
//! assert_eq!(&page[document.links[0].span().range()], b"x\\&#121;");
//! ```
//!
//! Deliberately absent: bases and encodings, which are known before a pass begins ([`super::prelude`]).

use std::sync::Arc;

use baselink_text::{
    Charset, Code, Diagnostic, Span, View,
    format::{is_among, starts_with},
    layer::{
        escape::Quote,
        spelling::{Carrier, Form},
    },
};

use super::{
    engines,
    exact::Bound,
    references::{character_data, character_references},
    rows::{Answer, Answers, element_name},
    sink::{Sink, TextModel},
    tag::{self, FEW, RawAttribute, RawTag},
    walk::{Names, declaration_end, end_of_plain_svg, raw_text_end},
};
use crate::{
    ScanOptions, Scanner,
    attributes::{self, Condition, Group, Namespace, Place, Row},
    block,
    collect::{self, Carriers, Collector, DEEPEST, LinkPlace, TextContent},
    css,
    document::{Certainty, Standing},
    script, value,
};

pub use crate::collect::{Links, Part, Plain};

/// A document to scan, and its nesting.
#[derive(Clone, Debug)]
pub struct Whole<'a> {
    /// The bytes of the document.
    pub bytes: &'a [u8],
    /// The offset of the text after a byte order mark.
    pub start: usize,
    /// The character encoding of the bytes.
    pub charset: Charset,
    /// The number of the entity.
    pub entity: Arc<str>,
    /// The number of documents, and of levels of markup in text, around this one.
    pub depth: usize,
    /// True if a new `<` or `>` in the document could end a construct around it, such as a CDATA section.
    pub enclosed: bool,
}

impl<'a> Whole<'a> {
    /// The document in a file, whose text begins at `start`.
    pub fn of_file(bytes: &'a [u8], start: usize, charset: Charset, options: &ScanOptions) -> Self {
        Self {
            bytes,
            start,
            charset,
            entity: Arc::clone(&options.entity),
            depth: 0,
            enclosed: false,
        }
    }
}

/// Reports every link of a document to `links`. The first result is true if the walk stopped, so that html5ever scanned; the second if
/// html5ever stopped, too.
pub fn links<L: Links + ?Sized>(
    whole: &Whole<'_>,
    options: &ScanOptions,
    links: &mut L,
) -> (bool, bool) {
    let names = Names::of(options);
    let span = Span::new(whole.start, whole.bytes.len());
    let mut pass = Pass::new(whole, options, &names, links);
    let scripting = !matches!(options.scanner, Scanner::Unscripted);
    let (end, without_tree) = pass.read(span, scripting, options.scanner);
    if let Some(start) = pass.collector.differs {
        (pass.collector.is_preload, pass.is_in_text) = (true, true);
        pass.collector.links.end();
        pass.read(Span::new(start, end), scripting, Scanner::Preload);
    }
    (pass.fallback, without_tree)
}

/// An open element, whose text is scanned at its end.
struct OpenText {
    start: usize,
    content: Content,
}

/// An open `style` in SVG. Its style sheet is its child text content (SVG 2, 6.3), without the text of its children.
struct OpenStyle {
    is_css: bool,
    /// The stretches of text and CDATA sections so far.
    texts: Vec<Span>,
}

#[derive(Clone, Copy, PartialEq)]
enum Content {
    /// Raw text.
    Raw(TextContent),
    /// Markup for readers without scripts, frames or plugins.
    Markup,
}

/// The places of the text in `style` and `script` elements.
const STYLE: LinkPlace<'_> = LinkPlace::text_of("style", Carriers::One(Carrier::Raw));
const SCRIPT: LinkPlace<'_> = LinkPlace::text_of("script", Carriers::One(Carrier::Raw));

/// An attribute of a tag, and its row in the table.
type Attribute<'t> = (&'t RawTag, &'t RawAttribute, &'static Row);

/// A span that is scanned as markup: fallback content or a conditional comment, in which a `base` has no effect; in
/// `prelude`, also the whole document.
#[derive(Clone, Copy)]
pub(super) struct Markup {
    pub(super) span: Span,
    /// The standing of a `base` in it.
    pub(super) standing: Standing,
}

/// One pass over a range of a buffer.
struct Pass<'a, L: ?Sized> {
    bytes: &'a [u8],
    charset: Charset,
    options: &'a ScanOptions,
    names: &'a Names,
    rows: Answers,
    /// Links wait until the outermost of `styles` ends, because those of its text precede those of its children.
    collector: Collector<'a, L>,
    /// True for markup in text, which is not part of the document for readers that run scripts.
    is_in_text: bool,
    text: Option<OpenText>,
    /// The open `style` elements in SVG, outermost first.
    styles: Vec<OpenStyle>,
    markup: Vec<Markup>,
    fallback: bool,
    /// The offset up to which a preload scanner finds the tags that the tree has.
    alike: usize,
}

impl<L: Links + ?Sized> Sink for Pass<'_, L> {
    #[inline(always)]
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel) {
        if tag.span.start >= self.alike {
            self.compare(tag, namespace);
        }
        // A fragment cannot refer to an element in fallback content.
        if self.options.ids && !self.is_in_text {
            self.ids(tag, namespace);
        }
        // A preload scanner takes any reference of an image or script in SVG, the repetition of an attribute too.
        if self.collector.is_preload
            && (tag.is_named(self.bytes, "image") || tag.is_named(self.bytes, "script"))
        {
            for attribute in &tag.attributes {
                self.on_slow_path(tag, Namespace::Svg, attribute);
            }
        }
        if tag.attributes.len() > FEW
            || !self.styles.is_empty()
            || self.may_have_text(tag, namespace, text)
        {
            self.whole_tag(tag, namespace, text);
            self.drain();
            return;
        }
        for (at, attribute) in tag.attributes.iter().enumerate() {
            // Of several attributes with one name, the first counts (HTML, 13.2.5.33).
            let name = &self.bytes[attribute.name.range()];
            let is_same = |one: &RawAttribute| {
                one.name.len() == name.len()
                    && self.bytes[one.name.range()].eq_ignore_ascii_case(name)
            };
            if tag.attributes[..at].iter().any(is_same) {
                self.repeated(tag, namespace, attribute);
                continue;
            }
            match self
                .rows
                .answer(self.bytes, tag.name, namespace, attribute, self.options)
            {
                Answer::Nothing => {}
                Answer::With(name) if tag.attribute(self.bytes, name).is_none() => {}
                Answer::Url(row) if self.offer(tag, attribute, row) => {}
                Answer::Either(one, other)
                    if self
                        .either(tag, one, other)
                        .is_some_and(|row| self.offer(tag, attribute, row)) => {}
                Answer::Css(row) if self.css_value(tag, attribute, row) => {}
                Answer::Srcset(row) if self.srcset(tag, attribute, row) => {}
                // The slow path, also where a fast one did not suffice.
                _ => self.on_slow_path(tag, namespace, attribute),
            }
        }
    }

    fn end_text(&mut self, at: usize) {
        // The fast path of style sheets.
        let span = self
            .text
            .as_ref()
            .filter(|open| open.content == Content::Raw(TextContent::Css) && self.styles.is_empty())
            .filter(|_| !self.collector.is_preload)
            .map(|open| Span::new(open.start, at));
        if span.is_some_and(|span| self.css(span, None)) {
            self.text = None
        } else {
            self.close_text(at)
        }
        self.drain();
    }

    fn style_text(&mut self, span: Span) {
        self.styles
            .last_mut()
            .into_iter()
            .for_each(|style| style.texts.push(span));
    }

    fn end_style(&mut self, _at: usize) {
        self.close_style();
        self.drain();
    }

    fn needs_tree(&self) -> bool {
        self.options.groups.has_loaded()
    }

    fn comment(&mut self, span: Span) {
        self.markup.extend(conditional_markup(self.bytes, span));
        // Links in the text of an element are reported in order when the element ends.
        if self.text.is_none() {
            self.drain();
        }
    }
}

impl<'a, L: Links + ?Sized> Pass<'a, L> {
    fn new(
        whole: &Whole<'a>,
        options: &'a ScanOptions,
        names: &'a Names,
        links: &'a mut L,
    ) -> Self {
        let mut collector = Collector::to(options, links, whole.bytes);
        collector.entity = Arc::clone(&whole.entity);
        (collector.depth, collector.enclosed) = (whole.depth, whole.enclosed);
        Self {
            bytes: whole.bytes,
            charset: whole.charset,
            options,
            names,
            rows: Answers::new(),
            collector,
            is_in_text: false,
            text: None,
            styles: Vec::new(),
            markup: Vec::new(),
            fallback: false,
            alike: if options.groups.has_loaded() {
                0
            } else {
                usize::MAX
            },
        }
    }

    /// Notes the first tag from which a preload scanner may find other links than the tree has: in SVG and MathML, a `frameset` or a
    /// `template`, and in the text of a `style` with an `@import`.
    fn compare(&mut self, tag: &RawTag, namespace: Namespace) {
        let is = |name: &str| tag.is_named(self.bytes, name);
        // Only the text of a `style` is read, so that the time is linear.
        let has_import = || {
            let text = tag.span.end..raw_text_end(self.bytes, tag.span.end, b"style");
            css::may_import(&self.bytes[text])
        };
        let is_other = namespace != Namespace::Html || is("frameset") || is("template");
        if self.is_in_text || !(is_other || (is("style") && has_import())) {
            return;
        }
        let start = tag.span.start;
        let end = end_of_plain_svg(self.bytes, start);
        self.collector.differs = end.is_none().then_some(start);
        self.alike = end.unwrap_or(usize::MAX);
    }

    /// Reports the references in an attribute without asking how the table reads it.
    fn on_slow_path(&mut self, tag: &RawTag, namespace: Namespace, attribute: &RawAttribute) {
        let element = self.element(tag);
        self.attribute(namespace, (tag, &element), attribute, &tag.attributes);
        self.drain();
    }

    /// Reads the repetition of an attribute, which only a preload scanner may take, in the second pass.
    fn repeated(&mut self, tag: &RawTag, namespace: Namespace, attribute: &RawAttribute) {
        if self.collector.is_preload {
            self.on_slow_path(tag, namespace, attribute);
        } else if tag.span.start >= self.alike && !self.is_in_text {
            self.collector.differs = Some(tag.span.start);
            self.alike = usize::MAX;
        }
    }

    /// Reads `span` and reports its links. Returns the end of what was read, and true if html5ever stopped.
    fn read(&mut self, span: Span, scripting: bool, scanner: Scanner) -> (usize, bool) {
        let names = self.names;
        let read = engines::tokens(self.bytes, span.range(), scripting, scanner, names, self);
        self.fallback |= read.fallback;
        if let Some(bound) = read.without_tree {
            self.collector
                .links
                .diagnostic(without_tree(bound, self.needs_tree()));
        }
        self.close_text(read.end);
        while !self.styles.is_empty() {
            self.close_style();
        }
        self.drain();
        if read.end < span.end {
            self.collector.leave_unread(Span::new(read.end, span.end));
        }
        (read.end, read.without_tree.is_some())
    }

    /// True if the text after a tag may contain links, too.
    #[inline(always)]
    fn may_have_text(&self, tag: &RawTag, namespace: Namespace, text: TextModel) -> bool {
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

    /// Reads all attributes of a tag without the fast path, and opens the text after it.
    fn whole_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel) {
        let element = self.element(tag);
        let attributes = tag::distinct(self.bytes, tag);
        let mut firsts = attributes.iter().peekable();
        for attribute in &tag.attributes {
            if firsts
                .next_if(|first| first.name == attribute.name)
                .is_some()
            {
                self.attribute(namespace, (tag, &element), attribute, &attributes);
            } else {
                self.repeated(tag, namespace, attribute);
            }
        }
        self.open_text(tag, namespace, text, &element, &attributes);
    }

    /// Reports the names that a fragment can refer to: an id, and the name of an `a` (HTML, 7.4.6.4).
    fn ids(&mut self, tag: &RawTag, namespace: Namespace) {
        let is_anchor = namespace == Namespace::Html && tag.is_named(self.bytes, "a");
        let [mut id, mut name] = [None; 2];
        for attribute in &tag.attributes {
            let first = match attribute.name.len() {
                2 if attribute.is_named(self.bytes, "id") => &mut id,
                4 if is_anchor && attribute.is_named(self.bytes, "name") => &mut name,
                _ => continue,
            };
            first.get_or_insert(attribute);
        }
        for first in [id, name].into_iter().flatten() {
            let raw = &self.bytes[first.value.map_or(0..0, Span::range)];
            let id = match value::undecoded(raw) {
                Some(text) => text.to_owned(),
                None => self.value(first).text,
            };
            if !id.is_empty() {
                self.collector.links.id(id);
            }
        }
    }

    /// The name of the element of `tag`.
    fn element(&self, tag: &RawTag) -> String {
        element_name(&self.bytes[tag.name.range()])
    }

    /// The decoded value of an attribute.
    fn value(&self, attribute: &RawAttribute) -> View {
        attribute.decoded(self.bytes, self.charset)
    }

    /// The decoded value of the attribute called `name` among `attributes`.
    fn other(&self, attributes: &[RawAttribute], name: &str) -> Option<String> {
        let found = attributes
            .iter()
            .find(|one| one.is_named(self.bytes, name))?;
        Some(self.value(found).text)
    }

    /// Scans an attribute that contains CSS. Returns `false`, and does nothing, if the CSS must be decoded first.
    fn css_value(&mut self, tag: &RawTag, attribute: &RawAttribute, row: &'static Row) -> bool {
        // Any URL in CSS needs one of these bytes, even with character references.
        let Some(span) = attribute.value.filter(|&span| {
            block::holds(self.bytes, span, *b"(@\\&")
                || (self.options.groups.has_loaded() && block::holds(self.bytes, span, *b"\"'"))
        }) else {
            return true;
        };
        if memchr::memchr3(b'&', b'\r', 0, &self.bytes[span.range()]).is_some() {
            return false;
        }
        self.css(span, Some((tag, attribute, row)))
    }

    /// Scans a list of image candidates. Returns `false`, and does nothing, if the list must be decoded first.
    fn srcset(&mut self, tag: &RawTag, attribute: &RawAttribute, row: &'static Row) -> bool {
        let Some(whole) = attribute.value else {
            return false;
        };
        let list = match str::from_utf8(&self.bytes[whole.range()]) {
            Ok(list) if list.is_ascii() => list,
            _ => return false,
        };
        // Only `&amp;` is accepted here: it hides no separator, and other character references are rare.
        if memchr::memchr2(b'\r', 0, list.as_bytes()).is_some()
            || !memchr::memchr_iter(b'&', list.as_bytes()).all(|at| list[at..].starts_with("&amp;"))
        {
            return false;
        }
        for span in value::srcset(list) {
            let span = span.shifted(whole.start);
            let place = Some((tag, attribute, row));
            if !self.collector.takes(&self.plain(span, place)) {
                let raw = self.charset.decode(&self.bytes[span.range()], span.start);
                self.reference(
                    &character_references(raw),
                    (Form::Srcset, Certainty::Certain),
                    place,
                    None,
                );
                self.drain();
            }
        }
        true
    }

    /// Scans CSS. Returns `false`, and does nothing, if an ASCII byte may be part of another character.
    fn css(&mut self, span: Span, place: Option<Attribute<'_>>) -> bool {
        let text = &self.bytes[span.range()];
        if !self.charset.is_ascii_fixed() && !text.is_ascii() {
            return false;
        }
        let mut urls = css::Urls::of(text, self.options.groups);
        while let Some(url) = urls.next() {
            let custom = urls.custom_property(url);
            let span = url.span.shifted(span.start);
            let plain = self.plain(span, place);
            let plain = Plain {
                empty_resolves: false,
                fragment_identifies: true,
                certainty: url.certainty,
                ..plain
            };
            let raw = &self.bytes[span.range()];
            if custom.is_some()
                || memchr::memchr2(b'\\', 0, raw).is_some()
                || !self.collector.takes(&plain)
            {
                let view = url.decode(self.charset.decode(raw, span.start));
                self.reference(&view, (url.form, url.certainty), place, custom);
                self.drain();
            }
        }
        true
    }

    /// Offers the value of an attribute as a single reference. Returns `false` if it is not accepted.
    #[inline(always)]
    fn offer(&mut self, tag: &RawTag, attribute: &RawAttribute, row: &'static Row) -> bool {
        let Some(span) = attribute.value else {
            return false;
        };
        let plain = self.plain(span, Some((tag, attribute, row)));
        self.collector.takes(&plain)
    }

    /// The row for `tag`: `one` if another attribute contains a token that `one` requires, else `other`. `None` if the
    /// other attribute must be decoded first.
    fn either(&self, tag: &RawTag, one: &'static Row, other: &'static Row) -> Option<&'static Row> {
        let Condition::Has(name, tokens) = one.when else {
            return None;
        };
        let Some(list) = tag
            .attribute(self.bytes, name)
            .and_then(|found| found.value)
        else {
            return Some(other);
        };
        let list = &self.bytes[list.range()];
        let mut list_tokens = list.split(u8::is_ascii_whitespace);
        let row = if list_tokens.any(|token| is_among(token, tokens)) {
            one
        } else {
            other
        };
        list.iter()
            .all(|byte| byte.is_ascii_graphic() && *byte != b'&' || byte.is_ascii_whitespace())
            .then_some(row)
    }

    /// The reference at `span`, in an attribute or in the text of `style`.
    #[inline(always)]
    fn plain(&self, span: Span, place: Option<Attribute<'_>>) -> Plain {
        let row = place.map(|(.., row)| row);
        Plain {
            span,
            names: place.map(|(tag, attribute, row)| (tag.name, attribute.name, row)),
            quote: place.map_or(Quote::Double, |(_, attribute, _)| attribute.quote),
            enclosed: self.collector.enclosed,
            empty_resolves: row.is_some_and(|row| row.empty_resolves),
            fragment_identifies: row.is_none_or(|row| row.fragment_identifies),
            certainty: row.map_or(Certainty::Certain, |row| self.options.certainty_of(row)),
        }
    }

    /// Adds the references in an attribute, without the fast path.
    fn attribute(
        &mut self,
        namespace: Namespace,
        (tag, element): (&RawTag, &str),
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
        let against = collect::against(row, None, || Some((other("codebase")?, false)));
        let rel = tag::rel(self.bytes, tag.name, self.charset);
        let place = LinkPlace {
            attribute: Some(name),
            row: Some(row),
            against,
            rel: rel.as_ref(),
            no_value: attribute.value.is_none(),
            ..LinkPlace::text_of(element, Carriers::One(Carrier::Attribute(attribute.quote)))
        };
        self.collector
            .references(self.value(attribute), row.syntax, &place);
    }

    /// Opens the text after `tag`, if it is to be scanned.
    fn open_text(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
        element: &str,
        attributes: &[RawAttribute],
    ) {
        let other = |name: &str| self.other(attributes, name);
        let content = match (namespace, element, text) {
            (Namespace::Html, "style", TextModel::RawText) if self.collector.is_preload => {
                Some(Content::Raw(TextContent::Css))
            }
            (Namespace::Html, "style", TextModel::RawText) => {
                TextContent::of_style(other).map(Content::Raw)
            }
            (Namespace::Svg, "style", TextModel::Markup) if !tag.self_closing => {
                let is_css = TextContent::of_style(other).is_some();
                let texts = Vec::new();
                self.styles.push(OpenStyle { is_css, texts });
                self.collector.waits = true;
                return;
            }
            (Namespace::Html, "script", TextModel::RawText) => {
                let groups = &self.options.groups;
                TextContent::of_script(other, &["src"], groups).map(Content::Raw)
            }
            _ => {
                is_fallback_content(namespace, element.as_bytes(), text).then_some(Content::Markup)
            }
        };
        if let Some(content) = content {
            self.text = Some(OpenText {
                start: tag.span.end,
                content,
            });
        }
    }

    /// Closes the text of the open element at `end`.
    fn close_text(&mut self, end: usize) {
        let Some(OpenText { start, content }) = self.text.take() else {
            return;
        };
        let span = Span::new(start, end);
        match content {
            Content::Raw(TextContent::Script(_))
                if !script::may_have_urls(&self.bytes[span.range()]) => {}
            Content::Raw(content) => {
                let view = self.charset.decode(&self.bytes[span.range()], span.start);
                let place = if content == TextContent::Css {
                    &STYLE
                } else {
                    &SCRIPT
                };
                self.collector
                    .text(&view, content, place)
                    .into_iter()
                    .for_each(|one| self.collector.links.diagnostic(one));
                if self.collector.is_preload {
                    self.imports(&view, span);
                }
            }
            Content::Markup => {
                if memchr::memchr(b'<', &self.bytes[span.range()]).is_some() {
                    self.markup.push(Markup {
                        span,
                        standing: Standing::FallbackContent,
                    });
                }
            }
        }
    }

    /// Adds the addresses of `@import` that a preload scanner finds in the text of a `style` at `span`. It reads the text without NUL
    /// characters, so a text that has some is left unread.
    fn imports(&mut self, text: &View, span: Span) {
        if text.text.contains('\0') {
            return self.collector.leave_unread(span);
        }
        // Addresses may overlap, and the time stays linear.
        let mut read = 0;
        for spans in css::imports(&text.text) {
            read += spans[1].range().len();
            if read / 128 > text.text.len() {
                return self.collector.leave_unread(span);
            }
            if let [Some(keyword), Some(address)] = spans.map(|span| text.slice(span)) {
                self.collector
                    .import(keyword.map.source(), &address, &STYLE);
            }
        }
    }

    /// Closes the innermost open `style` in SVG.
    fn close_style(&mut self) {
        let Some(OpenStyle { is_css, texts }) = self.styles.pop() else {
            return;
        };
        let nothing_waits = self.collector.waiting.is_empty() && self.markup.is_empty();
        self.collector.waits &= !(self.styles.is_empty() && nothing_waits);
        if let Some(first) = texts.first().filter(|_| is_css) {
            let mut view = View::of_str("", first.start);
            let mut pieces = Vec::new();
            texts
                .iter()
                .for_each(|text| self.svg_text(*text, &mut view, &mut pieces));
            self.collector.css(
                &view,
                &LinkPlace::text_of("style", Carriers::Pieces(&pieces)),
            );
        }
        self.markup.sort_by_key(|markup| markup.span.start);
    }

    /// Appends a stretch of text in foreign content to `whole`, and the carrier of each piece of it to `pieces`.
    fn svg_text(&self, span: Span, whole: &mut View, pieces: &mut Vec<(Span, Carrier)>) {
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
                // A tag that the end of the document cuts off.
                return;
            } else if matches!(rest, [b'<', b'!' | b'?' | b'/', ..]) {
                at = declaration_end(bytes, at, true).unwrap_or(span.end);
                continue;
            } else {
                let length =
                    memchr::memchr(b'<', &rest[1..]).map_or(rest.len(), |length| length + 1);
                let raw = self.charset.decode(&rest[..length], at);
                (character_data(raw), Carrier::Text, at + length)
            };
            let start = whole.text.len();
            whole.append(&piece);
            pieces.push((Span::new(start, whole.text.len()), carrier));
            at = next;
        }
    }

    /// Adds a reference found in an attribute, or in the text of `style`; `custom` is the name of the custom property
    /// around it.
    fn reference(
        &mut self,
        view: &View,
        (form, certainty): (Form, Certainty),
        place: Option<Attribute<'_>>,
        custom: Option<&[u8]>,
    ) {
        let whole = Span::new(0, view.text.len());
        let Some((tag, attribute, row)) = place else {
            let place = LinkPlace {
                custom_property: custom,
                certainty,
                ..STYLE
            };
            return self.collector.decoded(view, form, whole, &place);
        };
        let name =
            String::from_utf8_lossy(&self.bytes[attribute.name.range()]).to_ascii_lowercase();
        let element = self.element(tag);
        let rel = tag::rel(self.bytes, tag.name, self.charset);
        let place = LinkPlace {
            attribute: Some(&name),
            row: Some(row),
            rel: rel.as_ref(),
            custom_property: custom,
            certainty,
            ..LinkPlace::text_of(&element, Carriers::One(Carrier::Attribute(attribute.quote)))
        };
        self.collector.decoded(view, form, whole, &place);
    }

    /// Passes on the links that have waited, and scans pending markup, in document order.
    fn drain(&mut self) {
        if !self.styles.is_empty() {
            return;
        }
        for markup in std::mem::take(&mut self.markup) {
            self.collector.release(markup.span.start);
            self.scan_markup(markup);
        }
        self.collector.release(usize::MAX);
    }

    /// Scans markup in text. The recursion depth is at most [`DEEPEST`].
    fn scan_markup(&mut self, Markup { span, .. }: Markup) {
        if self.collector.is_preload {
            return;
        }
        if self.collector.depth == DEEPEST {
            return self.collector.too_deep(span);
        }
        let waiting = std::mem::take(&mut self.collector.waiting);
        let outer = (self.collector.enclosed, self.is_in_text, self.text.take());
        (self.collector.enclosed, self.is_in_text) = (true, true);
        self.collector.depth += 1;
        self.read(span, false, self.options.scanner);
        self.collector.depth -= 1;
        (self.collector.enclosed, self.is_in_text, self.text) = outer;
        self.collector.waiting = waiting;
    }
}

/// The markup in a downlevel-hidden conditional comment: `<!--[if …]> markup <![endif]-->`.
pub(super) fn conditional_markup(bytes: &[u8], span: Span) -> Option<Markup> {
    let comment = &bytes[span.range()];
    let body = comment.strip_prefix(b"<!--")?;
    let opening = body.trim_ascii_start();
    if !starts_with(opening, "[if") {
        return None;
    }
    let start = span.start + 4 + memchr::memmem::find(body, b"]>")? + 2;
    let closing = memchr::memmem::rfind(comment, b"<![").map(|at| span.start + at);
    let comment_end = if comment.ends_with(b"-->") {
        span.end - 3
    } else {
        span.end
    };
    let end = closing.filter(|&at| at >= start).unwrap_or(comment_end);
    memchr::memchr(b'<', bytes.get(start..end)?)?;
    Some(Markup {
        span: Span::new(start, end),
        standing: Standing::ConditionalComment,
    })
}

/// True if the text of an element is markup for readers without scripts, frames or plugins.
pub(super) fn is_fallback_content(namespace: Namespace, element: &[u8], text: TextModel) -> bool {
    (namespace, text) == (Namespace::Html, TextModel::RawText)
        && is_among(element, "noscript noframes noembed")
}

fn without_tree(Bound(at, why): Bound, needs_tree: bool) -> Diagnostic {
    let effect = if needs_tree {
        "what follows was not read"
    } else {
        "the document was scanned without its tree"
    };
    let message = format!("{why}; {effect}");
    Diagnostic::new(Code::WithoutTree, Span::at(at), message)
}
