//! The fast scanner: one pass over the bytes from `<` to `<`, through the tokenizer's states (HTML,
//! 13.2.5) and as much of tree construction (13.2.6) as changes what tags there are and what they mean.
//!
//! It tells a `Sink` only of tags that can matter, and of their attributes only those that can. Nothing
//! is allocated for a tag. Where it cannot prove from what it has seen what html5ever would do, it stops
//! with a [`HandOver`], and [`super::exact`] scans the document. What it says itself is what that scanner
//! would have said: `tests/fast.rs` holds the two against each other.
//!
//! What tree construction changes outside of `svg` and `math` is little: what an element holds (raw text,
//! RCDATA, script data) follows from its name wherever its tag is not dropped, and tags are dropped in
//! framesets and in a `template` with a `col` only. Inside, `fast/foreign.rs` keeps the elements that are open.
//!
//! ```
//! let page = b"<svg><a href=x><title><b></b></title></a></svg><script>'<a href=z>'</script><a href=y>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links.len(), 2);
//! assert_eq!(document.handed_over, None);
//! // Whether `</b>` closes something around the SVG cannot be seen from inside.
//! let page = b"<b><svg></b><a href=x>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.handed_over, Some(baselink::document::HandOver::EndTag));
//! ```
//!
//! Deliberately absent: a tree. Which elements are open in HTML content is never asked.

mod foreign;
mod names;

use std::ops::Range;

use self::foreign::{Foreign, Place};
use self::names::{Element, Kind};
pub(super) use self::names::{Name, Names};
use super::tag::{RawAttribute, RawTag};
use super::{Namespace, Standing, TextModel, TreeFacts, tokens};
use crate::document::HandOver;
use crate::layer::escape::Quote;
use crate::scan::block::{find, is_space, name_end, value_end};
use crate::span::Span;

/// What is told of a document, in source order.
pub(super) trait Sink {
    /// Why it wants no more.
    type Stop: From<HandOver>;

    /// A start tag that can matter, with those of its attributes that can: all of them where the table
    /// asks for others than the one that holds the link.
    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), Self::Stop>;

    /// The text of the element whose start tag came last ends at `at`. Not told where the document ends
    /// in it.
    fn end_text(&mut self, at: usize) -> Result<(), Self::Stop>;

    /// A comment that begins with `<!--`, or with `<?`, from there to behind its end.
    fn comment(&mut self, span: Span) -> Result<(), Self::Stop>;

    /// How the `base` element of HTML stands whose start tag comes next.
    fn base(&mut self, _standing: Standing) {}
}

/// Walks over `range` of `bytes`; `scripting` as in HTML, 13.2.4.5.
pub(super) fn walk<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    names: &Names,
    sink: &mut S,
) -> Result<TreeFacts, S::Stop> {
    let mut walk = Walk::new(&bytes[..range.end], true, scripting, names, sink);
    walk.run(range.start)?;
    let mut bases = walk.bases;
    bases.sort_by_key(|&(tag, standing)| (standing != Standing::First, tag));
    Ok(TreeFacts { bases, is_crowded: false })
}

/// What of a document before some place matters behind it.
#[derive(Debug, Default)]
pub(super) struct Course {
    foreign: Foreign,
    /// How many `template` elements are open.
    templates: usize,
    /// Whether the last start tag was `style` in SVG, whose text any tag ends.
    in_svg_style: bool,
    /// Whether all that follows is text.
    is_plaintext: bool,
}

/// Walks over a window of a document that is there piece by piece, from `from` on, where `course` has
/// come to. Gives where it has come to then: to the end, or where something begins whose end is not in
/// the window. Whoever is told of a `base` element has to see the whole document.
pub(super) fn walk_on<S: Sink>(
    window: &[u8],
    from: usize,
    is_last: bool,
    course: &mut Course,
    names: &Names,
    sink: &mut S,
) -> Result<usize, S::Stop> {
    if course.is_plaintext {
        return Ok(window.len());
    }
    let mut walk = Walk::new(window, is_last, true, names, sink);
    walk.course = std::mem::take(course);
    let reached = walk.run(from)?;
    *course = walk.course;
    Ok(if course.is_plaintext { window.len() } else { reached })
}

struct Walk<'a, S> {
    bytes: &'a [u8],
    /// Whether the document ends where they do.
    is_last: bool,
    scripting: bool,
    names: &'a Names,
    sink: &'a mut S,
    /// The tag that is being read, with the attributes that can matter.
    tag: RawTag,
    course: Course,
    bases: Vec<(usize, Standing)>,
    /// Whether one of them is the first that has an `href`.
    has_base: bool,
    /// Up to where no table has been found.
    without_table: usize,
}

/// Where to go on; none at the end of the document.
type Next<E> = Result<Option<usize>, E>;

impl<'a, S: Sink> Walk<'a, S> {
    fn new(
        bytes: &'a [u8],
        is_last: bool,
        scripting: bool,
        names: &'a Names,
        sink: &'a mut S,
    ) -> Self {
        let tag = RawTag {
            span: Span::at(0),
            end_tag: false,
            name: Span::at(0),
            attributes: Vec::new(),
            self_closing: false,
        };
        let course = Course::default();
        let (bases, has_base, without_table) = (Vec::new(), false, 0);
        Self { bytes, is_last, scripting, names, sink, tag, course, bases, has_base, without_table }
    }

    /// Goes on from `start` to the end, or to where something begins that does not end.
    fn run(&mut self, start: usize) -> Result<usize, S::Stop> {
        let mut at = start;
        loop {
            at = find(self.bytes, at, b'<');
            let next = match self.bytes.get(at + 1) {
                Some(b'a'..=b'z' | b'A'..=b'Z') => self.start_tag(at)?,
                Some(b'/') => self.end_tag(at)?,
                Some(b'!' | b'?') => self.declaration(at)?,
                Some(_) => Some(at + 1),
                None => None,
            };
            match next {
                Some(next) => at = next,
                None => return Ok(at),
            }
        }
    }

    #[inline(always)]
    fn start_tag(&mut self, at: usize) -> Next<S::Stop> {
        let end = name_end(self.bytes, at + 1, b'>');
        let name = Name::read(self.bytes, at + 1, end);
        let element = self.names.element(name);
        if !self.course.foreign.is_empty() || element != Element::default() {
            return self.special_tag(at, end, element);
        }
        if self.bytes.get(end) == Some(&b'>') {
            return Ok(Some(end + 1));
        }
        let Some(next) = self.attributes(end, false)? else {
            return Ok(None);
        };
        if !self.tag.attributes.is_empty() {
            self.report(at, end, next, Namespace::Html, TextModel::Markup)?;
        }
        Ok(Some(next))
    }

    /// A start tag whose name matters, or one in foreign content.
    #[inline(never)]
    fn special_tag(&mut self, at: usize, end: usize, element: Element) -> Next<S::Stop> {
        let bytes = self.bytes;
        let span = Span::new(at + 1, end);
        let name = &bytes[span.range()];
        let mut place = self.course.foreign.place(name);
        let mut whole = element.whole || element.kind == Kind::Base;
        if let Place::Foreign(_) = place {
            whole |= name.eq_ignore_ascii_case(b"font");
        }
        let Some(next) = self.attributes(end, whole)? else {
            return Ok(None);
        };
        if std::mem::take(&mut self.course.in_svg_style) {
            self.sink.end_text(at)?;
        }
        if let Place::Foreign(namespace) = place {
            if !name.is_ascii() {
                return Err(HandOver::Name.into());
            }
            if foreign::breaks_out(name) || self.is_html_font(name) {
                self.course.foreign.leave();
                place = if self.course.foreign.is_empty() { Place::Outside } else { Place::Point };
            } else {
                return self.foreign_tag(at, end, next, namespace);
            }
        }
        self.html_tag(at, end, next, element, place)
    }

    /// A start tag that makes an element of SVG or MathML inside of such.
    fn foreign_tag(
        &mut self,
        at: usize,
        end: usize,
        next: usize,
        namespace: Namespace,
    ) -> Next<S::Stop> {
        let span = Span::new(at + 1, end);
        let name = &self.bytes[span.range()];
        if namespace == Namespace::MathMl && name.eq_ignore_ascii_case(b"annotation-xml") {
            return Err(HandOver::Annotation.into());
        }
        if name.eq_ignore_ascii_case(b"base") {
            self.bases.push((at, Standing::Foreign));
        }
        self.report(at, end, next, namespace, TextModel::Markup)?;
        if !self.tag.self_closing {
            self.course.in_svg_style =
                namespace == Namespace::Svg && name.eq_ignore_ascii_case(b"style");
            self.course.foreign.open(&self.bytes[span.range()], namespace);
        }
        Ok(Some(next))
    }

    /// A start tag that makes an element of HTML, or the outermost one of SVG or MathML.
    fn html_tag(
        &mut self,
        at: usize,
        end: usize,
        next: usize,
        element: Element,
        place: Place,
    ) -> Next<S::Stop> {
        let span = Span::new(at + 1, end);
        let in_point = place == Place::Point;
        let text = match element.kind {
            Kind::Plain
                if in_point && !self.course.foreign.open_in_point(&self.bytes[span.range()]) =>
            {
                return Err(HandOver::IntegrationPoint.into());
            }
            Kind::Plain => TextModel::Markup,
            Kind::Svg | Kind::Math => {
                let is_svg = element.kind == Kind::Svg;
                let namespace = if is_svg { Namespace::Svg } else { Namespace::MathMl };
                self.report(at, end, next, namespace, TextModel::Markup)?;
                if !self.tag.self_closing {
                    self.course.foreign.open(&self.bytes[span.range()], namespace);
                }
                return Ok(Some(next));
            }
            // It closes a `p`.
            Kind::RawText if in_point && self.is_named(span, "xmp") => {
                return Err(HandOver::IntegrationPoint.into());
            }
            Kind::NoScript if !self.scripting && in_point => {
                return Err(HandOver::IntegrationPoint.into());
            }
            Kind::Rcdata => TextModel::Rcdata,
            Kind::NoScript if !self.scripting => TextModel::Markup,
            Kind::RawText | Kind::NoScript | Kind::Script => TextModel::RawText,
            _ if in_point => return Err(HandOver::IntegrationPoint.into()),
            // The name is longer than what was compared of it.
            Kind::Plaintext if !self.is_named(span, "plaintext") => TextModel::Markup,
            Kind::Plaintext => TextModel::Plaintext,
            Kind::Frameset => return Err(HandOver::Frameset.into()),
            Kind::Column if self.course.templates > 0 => return Err(HandOver::Column.into()),
            Kind::Column => TextModel::Markup,
            Kind::Template => {
                self.course.templates += 1;
                TextModel::Markup
            }
            Kind::Base => {
                self.base(at)?;
                TextModel::Markup
            }
        };
        match text {
            TextModel::Markup => {
                self.report(at, end, next, Namespace::Html, text)?;
                Ok(Some(next))
            }
            TextModel::Plaintext => {
                self.course.is_plaintext = true;
                self.report(at, end, next, Namespace::Html, text)?;
                Ok(None)
            }
            TextModel::RawText | TextModel::Rcdata => self.text(at, end, next, text, element.kind),
        }
    }

    /// A start tag and the raw text, RCDATA or script data that it begins, from `next` on, with the end
    /// tag behind it.
    fn text(
        &mut self,
        at: usize,
        name_end: usize,
        next: usize,
        text: TextModel,
        kind: Kind,
    ) -> Next<S::Stop> {
        let name = &self.bytes[at + 1..name_end];
        let end = match kind {
            Kind::Script => tokens::script_end(self.bytes, next),
            _ => tokens::raw_text_end(self.bytes, next, name),
        };
        let behind_name = (end + 2 + name.len()).min(self.bytes.len());
        let (of_start, self_closing) =
            (std::mem::take(&mut self.tag.attributes), self.tag.self_closing);
        let behind = self.attributes(behind_name, false)?;
        // What was told of cannot be told again when more is there.
        if behind.is_none() && !self.is_last {
            return Ok(None);
        }
        (self.tag.attributes, self.tag.self_closing) = (of_start, self_closing);
        self.report(at, name_end, next, Namespace::Html, text)?;
        if behind.is_some() {
            self.sink.end_text(end)?;
        }
        Ok(behind)
    }

    #[inline(always)]
    fn end_tag(&mut self, at: usize) -> Next<S::Stop> {
        match self.bytes.get(at + 2) {
            Some(b'a'..=b'z' | b'A'..=b'Z') => {}
            None => return Ok(None),
            _ => return Ok(self.bogus(at)),
        }
        let end = name_end(self.bytes, at + 2, b'>');
        let next = match self.bytes.get(end) {
            Some(b'>') => end + 1,
            _ => match self.attributes(end, false)? {
                Some(next) => next,
                None => return Ok(None),
            },
        };
        if self.course.templates > 0 || !self.course.foreign.is_empty() {
            self.close(at, Span::new(at + 2, end))?;
        }
        Ok(Some(next))
    }

    /// An end tag where it matters what it closes.
    #[inline(never)]
    fn close(&mut self, at: usize, span: Span) -> Result<(), S::Stop> {
        let name = &self.bytes[span.range()];
        if self.course.foreign.is_empty() {
            self.course.templates -= usize::from(name.eq_ignore_ascii_case(b"template"));
            return Ok(());
        }
        if self.course.in_svg_style && name.eq_ignore_ascii_case(b"style") {
            self.course.in_svg_style = false;
            self.sink.end_text(at)?;
        }
        if !name.is_ascii() {
            return Err(HandOver::Name.into());
        }
        // `</p>` and `</br>` leave foreign content like their start tags.
        let is_left = name.eq_ignore_ascii_case(b"p") && self.course.foreign.has_sections();
        // The text of `style` goes on behind the end of its SVG.
        let closes = |this: &mut Self| {
            this.course.foreign.close(name)
                && !(this.course.in_svg_style && this.course.foreign.is_empty())
        };
        if is_left || !closes(self) {
            return Err(HandOver::EndTag.into());
        }
        Ok(())
    }

    /// What begins with `<!` or `<?`: a comment, a DOCTYPE, a CDATA section.
    fn declaration(&mut self, at: usize) -> Next<S::Stop> {
        let rest = &self.bytes[at..];
        if rest.starts_with(b"<![CDATA[") && self.course.foreign.has_sections() {
            return self.section(at);
        }
        let end = tokens::declaration_end(self.bytes, at, false);
        if end.is_none() && !self.is_last {
            return Ok(None);
        }
        if rest.starts_with(b"<!--") || rest.starts_with(b"<?") {
            self.sink.comment(Span::new(at, end.unwrap_or(self.bytes.len())))?;
        }
        Ok(end)
    }

    fn section(&mut self, at: usize) -> Next<S::Stop> {
        let rest = &self.bytes[at..];
        let length = memchr::memmem::find(rest, b"]]>");
        let text = &rest[..length.unwrap_or(rest.len())];
        // The exact scanner reads what looks like a tag there, up to its bound.
        if text.len() > MOST_ATTRIBUTES && memchr::memchr(b'<', &text[1..]).is_some() {
            return Err(HandOver::Attributes.into());
        }
        Ok(length.map(|length| at + length + 3))
    }

    /// Behind what begins with `</` and is no tag: nothing, or a comment.
    fn bogus(&self, at: usize) -> Option<usize> {
        let end = find(self.bytes, at, b'>');
        (end < self.bytes.len()).then_some(end + 1)
    }

    /// Notes a `base` element of HTML, and how it stands.
    fn base(&mut self, at: usize) -> Result<(), S::Stop> {
        let has_href = self.tag.attributes.iter().any(|one| self.is_named(one.name, "href"));
        let standing = if self.course.templates > 0 {
            Standing::Template
        } else if !has_href {
            Standing::NoHref
        } else if self.has_base {
            if holds_table(&self.bytes[self.without_table..at]) {
                return Err(HandOver::Bases.into());
            }
            self.without_table = at;
            Standing::Later
        } else {
            self.has_base = true;
            Standing::First
        };
        self.bases.push((at, standing));
        self.sink.base(standing);
        Ok(())
    }

    fn is_named(&self, span: Span, name: &str) -> bool {
        self.bytes[span.range()].eq_ignore_ascii_case(name.as_bytes())
    }

    /// Whether the tag that was read is a `font` that cannot be foreign (13.2.6.5).
    fn is_html_font(&self, name: &[u8]) -> bool {
        name.eq_ignore_ascii_case(b"font")
            && self.tag.attributes.iter().any(|one| {
                ["color", "face", "size"].iter().any(|name| self.is_named(one.name, name))
            })
    }

    #[inline(always)]
    fn report(
        &mut self,
        at: usize,
        name_end: usize,
        next: usize,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), S::Stop> {
        self.tag.span = Span::new(at, next);
        self.tag.name = Span::new(at + 1, name_end);
        self.sink.start_tag(&self.tag, namespace, text)
    }

    /// Reads the attributes of a tag from behind its name, and keeps those that can matter, or all of
    /// them (13.2.5.32 to 13.2.5.40). Gives where the tag ends; none where the document ends in it.
    #[inline(always)]
    fn attributes(&mut self, behind_name: usize, whole: bool) -> Next<S::Stop> {
        let bytes = self.bytes;
        let mut at = behind_name;
        let mut count = 0;
        self.tag.attributes.clear();
        self.tag.self_closing = false;
        loop {
            match bytes.get(at) {
                None => return Ok(None),
                Some(&byte) if is_space(byte) => {
                    at += 1;
                    continue;
                }
                Some(b'>') => return Ok(Some(at + 1)),
                Some(b'/') => {
                    at += 1;
                    if bytes.get(at) == Some(&b'>') {
                        self.tag.self_closing = true;
                        return Ok(Some(at + 1));
                    }
                    continue;
                }
                Some(_) => {}
            }
            count += 1;
            if count > MOST_ATTRIBUTES {
                return Err(HandOver::Attributes.into());
            }
            // Whatever begins a name belongs to it, `=` too.
            let end = name_end(bytes, at + 1, b'=');
            let name = Span::new(at, end);
            let kept = whole || self.names.has_attribute(Name::read(bytes, at, end));
            at = skip_space(bytes, end);
            let (mut value, mut quote) = (None, Quote::None);
            if bytes.get(at) == Some(&b'=') {
                at = skip_space(bytes, at + 1);
                let (start, end);
                match bytes.get(at) {
                    None => return Ok(None),
                    Some(&mark @ (b'"' | b'\'')) => {
                        start = at + 1;
                        end = find(bytes, start, mark);
                        if end == bytes.len() {
                            return Ok(None);
                        }
                        at = end + 1;
                        quote = if mark == b'"' { Quote::Double } else { Quote::Single };
                    }
                    Some(b'>') => (start, end) = (at, at),
                    Some(_) => {
                        start = at;
                        end = value_end(bytes, at);
                        at = end;
                    }
                }
                value = Some(Span::new(start, end));
            }
            if kept {
                self.tag.attributes.push(RawAttribute { name, value, quote });
            }
        }
    }
}

/// Attributes of one tag beyond which the exact scanner stops.
const MOST_ATTRIBUTES: usize = super::exact::MOST_ATTRIBUTES;

#[inline(always)]
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// Whether a tag of a table may be in `bytes`.
pub(super) fn holds_table(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'<', bytes)
        .any(|at| bytes.get(at + 1..at + 6).is_some_and(|name| name.eq_ignore_ascii_case(b"table")))
}
