//! The walk: the fast scanner of HTML. It makes one pass over the bytes from `<` to `<`, through the tokenizer's
//! states (HTML, 13.2.5). Tree construction (13.2.6) is followed only where it affects which tags count, or what they
//! mean.
//!
//! The walk has two modes. In the first, it *proves* that its reports equal those of html5ever (`super::exact`;
//! `tests/html/fast.rs` compares the two). It reports to a [`Sink`] only the tags and attributes that can matter,
//! and allocates nothing for a tag. At the first `<` where the bytes read so far do not suffice for a proof, it
//! stops with `Unproved`.
//!
//! In the second mode, [`best_effort`], it reports every tag and comment, and never stops. This mode is the fallback if
//! html5ever would take too long. It also supplies the tokens that `--verify` compares. It takes linear time and
//! memory on any input.
//!
//! Outside of `svg` and `math`, tree construction changes little. The kind of content of an element (raw text,
//! RCDATA, script data) follows from its name, unless its tag is dropped. Tags are dropped only in framesets and
//! in a `template` with a `col`. Inside `svg` and `math`, `walk/foreign.rs` keeps the open elements.
//!
//! ```
//! let page = b"<svg><a href=x><title><b></b></title></a></svg><script>'<a href=z>'</script><a href=y>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links.len(), 2);
//! assert!(!document.fallback);
//! // The walk cannot tell from inside the SVG if `</b>` closes an element around it.
//! let page = b"<b><svg></b><a href=x>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert!(document.fallback);
//! ```
//!
//! Deliberately absent: a tree. Outside of `svg` and `math`, open elements are counted at most, and no element is
//! moved. The first `base` is therefore the first as written; the proving walk stops if a table may reorder two.

mod foreign;
mod names;

use std::ops::Range;

use baselink_text::{
    Charset, Span,
    format::{is_among, starts_with},
};

pub use self::names::{Name, Names};
use self::{
    foreign::{Foreign, TagPlace},
    names::{Element, ElementKind},
};
use super::{
    sink::{Sink, TextModel, TreeFacts},
    tag::{self, RawTag},
};
use crate::{
    ScanOptions,
    attributes::Namespace,
    block::{find, find_any, name_end},
    css,
    document::Standing,
};

/// The walk cannot prove html5ever's result at the current tag.
struct Unproved;

/// Walks over `range` of `bytes`, and stops at the first place that it cannot prove. `scripting` is the flag of
/// HTML, 13.2.4.5.
///
/// # Errors
///
/// Returns the offset of the `<` at which the walk stopped. Everything that begins before it has been reported to the
/// sink, and nothing that begins there or later.
pub(crate) fn document<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    names: &Names,
    sink: &mut S,
) -> Result<TreeFacts, usize> {
    let mut walk = Walk::<_, true>::new(&bytes[..range.end], scripting, names, sink);
    walk.run(range.start)?;
    Ok(walk.facts())
}

/// Walks over `range` of `bytes`, guided only by the tokenizer's states and the names of elements, and reports
/// every tag and comment. `scripting` is the flag of HTML, 13.2.4.5. Without `has_foreign`, `svg` and `math` are elements like any
/// other, as for the preload scanner of a browser.
pub fn best_effort<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    has_foreign: bool,
    sink: &mut S,
) -> TreeFacts {
    let names = Names::of(&ScanOptions::default());
    let mut walk = Walk::<_, false>::new(&bytes[..range.end], scripting, &names, sink);
    walk.has_foreign = has_foreign;
    // This mode never stops.
    let _ = walk.run(range.start);
    walk.facts()
}

/// The open elements that affect the meaning of later tags.
#[derive(Default)]
struct OpenElements<'a> {
    foreign: Foreign<'a>,
    /// The number of open `template` elements.
    templates: usize,
    /// The places of the open `style` elements of SVG in `foreign`.
    styles: Vec<usize>,
    /// The start of the current text, if the innermost open element is a `style` of SVG.
    style_text: Option<usize>,
}

/// The state of a walk. `PROVES` is true if the walk stops at the first place that it cannot prove.
struct Walk<'a, S: Sink, const PROVES: bool> {
    bytes: &'a [u8],
    scripting: bool,
    /// False if `svg` and `math` are elements like any other.
    has_foreign: bool,
    names: &'a Names,
    sink: &'a mut S,
    /// The current tag, with the attributes that can matter.
    tag: RawTag,
    open: OpenElements<'a>,
    bases: Vec<(usize, Standing)>,
    /// True if a `base` with an `href` was found outside of templates.
    has_base: bool,
    /// The offset up to which the proving walk has searched for tables.
    without_table: usize,
}

/// The offset at which to continue after a tag; `None` at the end of the document.
type NextOffset = Result<Option<usize>, Unproved>;

/// An error if the walk must stop at the current tag.
type Proof = Result<(), Unproved>;

impl<'a, S: Sink, const PROVES: bool> Walk<'a, S, PROVES> {
    fn new(bytes: &'a [u8], scripting: bool, names: &'a Names, sink: &'a mut S) -> Self {
        Self {
            bytes,
            scripting,
            has_foreign: true,
            names,
            sink,
            tag: RawTag::default(),
            open: OpenElements::default(),
            bases: Vec::new(),
            has_base: false,
            without_table: 0,
        }
    }

    fn facts(self) -> TreeFacts {
        let mut bases = self.bases;
        bases.sort_by_key(|&(tag, standing)| (standing != Standing::First, tag));
        TreeFacts {
            bases,
            has_costly_lists: false,
        }
    }

    /// Walks from `start` to the end, or to an unterminated construct.
    fn run(&mut self, start: usize) -> Result<(), usize> {
        let mut at = start;
        while !self.sink.is_done() {
            at = find(self.bytes, at, b'<');
            let next = match self.bytes.get(at + 1) {
                Some(b'a'..=b'z' | b'A'..=b'Z') => self.start_tag(at),
                Some(b'/') => self.end_tag(at),
                Some(b'!' | b'?') => self.declaration(at),
                Some(_) => Ok(Some(at + 1)),
                None => Ok(None),
            };
            match next {
                Ok(Some(next)) => at = next,
                Ok(None) => break,
                Err(Unproved) => return Err(at),
            }
        }
        self.interrupt_style(self.bytes.len());
        Ok(())
    }

    /// Stops the walk if it has to prove its result. Must be called before the current tag is reported.
    fn unproved(&self) -> Proof {
        if PROVES { Err(Unproved) } else { Ok(()) }
    }

    #[inline(always)]
    fn start_tag(&mut self, at: usize) -> NextOffset {
        let end = name_end(self.bytes, at + 1, b'>');
        let element = self.names.element(self.bytes, at + 1, end);
        if !PROVES || !self.open.foreign.is_empty() || element != Element::default() {
            return self.special_tag(at, end, element);
        }
        if self.bytes.get(end) == Some(&b'>') {
            return Ok(Some(end + 1));
        }
        let next = self.attributes(end, false);
        if let Some(next) = next
            && !self.tag.attributes.is_empty()
        {
            (self.tag.span, self.tag.name) = (Span::new(at, next), Span::new(at + 1, end));
            self.sink
                .start_tag(&self.tag, Namespace::Html, TextModel::Markup);
        }
        Ok(next)
    }

    /// Reads a start tag in foreign content or with a name that matters; in best-effort mode, any start tag.
    #[inline(never)]
    fn special_tag(&mut self, at: usize, end: usize, element: Element) -> NextOffset {
        self.interrupt_style(at);
        let bytes = self.bytes;
        let span = Span::new(at + 1, end);
        let name = &bytes[span.range()];
        let mut place = self.open.foreign.place(name);
        let mut whole = !PROVES || element.whole || element.kind == ElementKind::Base;
        if let TagPlace::Foreign(_) = place {
            whole |= is_among(name, "font annotation-xml");
        }
        let Some(next) = self.attributes(end, whole) else {
            return Ok(None);
        };
        (self.tag.span, self.tag.name) = (Span::new(at, next), span);
        if let TagPlace::Foreign(namespace) = place {
            if !name.is_ascii() {
                self.unproved()?;
            }
            if foreign::breaks_out(name) || self.is_html_font(name) {
                self.open.foreign.leave();
                place = if self.open.foreign.is_empty() {
                    TagPlace::Outside
                } else {
                    TagPlace::Point
                };
            } else {
                return self.foreign_tag(name, namespace);
            }
        }
        self.html_tag(name, element, place)
    }

    /// Reads a start tag that creates an SVG or MathML element inside foreign content.
    fn foreign_tag(&mut self, name: &'a [u8], namespace: Namespace) -> NextOffset {
        let Span { start, end } = self.tag.span;
        let is_annotation =
            namespace == Namespace::MathMl && name.eq_ignore_ascii_case(b"annotation-xml");
        if name.eq_ignore_ascii_case(b"base") {
            self.bases.push((start, Standing::Foreign));
        }
        self.end_styles_and_report(namespace, TextModel::Markup);
        if !self.tag.self_closing {
            let is_style = namespace == Namespace::Svg && name.eq_ignore_ascii_case(b"style");
            self.open
                .styles
                .extend(is_style.then_some(self.open.foreign.len()));
            let is_point =
                foreign::is_point(name, namespace) || is_annotation && self.is_annotated_html();
            // In best-effort mode, other elements are not kept, and their end tags are ignored.
            if PROVES || is_style || is_point || foreign::is_root(name) {
                self.open.foreign.open(name, namespace, is_point);
            }
        }
        self.resume_style(end);
        Ok(Some(end))
    }

    /// Reads a start tag that creates an HTML element, or an `svg` or `math` element in HTML.
    fn html_tag(&mut self, name: &'a [u8], element: Element, place: TagPlace) -> NextOffset {
        let Span { start, end } = self.tag.span;
        if place == TagPlace::Point && PROVES && !self.nest(element.kind, name) {
            // The tag may do more than open an element.
            self.unproved()?;
        }
        let text = match element.kind {
            ElementKind::Foreign(namespace) if self.has_foreign => {
                self.end_styles_and_report(namespace, TextModel::Markup);
                if !self.tag.self_closing {
                    self.open.foreign.open(name, namespace, false);
                }
                return Ok(Some(end));
            }
            ElementKind::Plain | ElementKind::Foreign(_) => TextModel::Markup,
            ElementKind::Rcdata => TextModel::Rcdata,
            ElementKind::NoScript if !self.scripting => TextModel::Markup,
            ElementKind::RawText | ElementKind::NoScript | ElementKind::Script => {
                TextModel::RawText
            }
            // The lookup compares only the length and the first eight bytes, so the name may be a different one.
            ElementKind::Plaintext if !name.eq_ignore_ascii_case(b"plaintext") => TextModel::Markup,
            ElementKind::Plaintext => TextModel::Plaintext,
            // In the body, where markup for readers without scripts stands, a frameset is dropped.
            ElementKind::Frameset if !self.scripting => TextModel::Markup,
            ElementKind::Frameset => {
                // A `frameset` can remove the body, and makes the parser drop most tags.
                self.unproved()?;
                TextModel::Markup
            }
            ElementKind::Column => {
                if self.open.templates > 0 {
                    // A `col` in a `template` makes the parser drop tags.
                    self.unproved()?;
                }
                TextModel::Markup
            }
            ElementKind::Template => {
                self.open.templates += 1;
                TextModel::Markup
            }
            ElementKind::Base => {
                self.base(start)?;
                TextModel::Markup
            }
        };
        if !PROVES && self.has_foreign {
            self.open.foreign.count(name);
        }
        match text {
            TextModel::Markup | TextModel::Plaintext => {
                self.end_styles_and_report(Namespace::Html, text);
                Ok((text == TextModel::Markup).then_some(end))
            }
            TextModel::RawText | TextModel::Rcdata => self.text(name, text, element.kind),
        }
    }

    /// Opens an ordinary HTML element in an integration point. Elements with raw text or RCDATA are not opened, and
    /// `svg` and `math` only later. Returns false, and opens nothing, if the start tag may also affect other elements.
    fn nest(&mut self, kind: ElementKind, name: &'a [u8]) -> bool {
        match kind {
            ElementKind::Plain => self.open.foreign.nest(name),
            // `xmp` closes an open `p`.
            ElementKind::RawText => !name.eq_ignore_ascii_case(b"xmp"),
            ElementKind::NoScript => self.scripting,
            ElementKind::Rcdata | ElementKind::Script | ElementKind::Foreign(_) => true,
            _ => false,
        }
    }

    /// Reports a start tag, skips the raw text, RCDATA or script data from `next` on, and reads its end tag.
    fn text(&mut self, name: &[u8], text: TextModel, kind: ElementKind) -> NextOffset {
        let (bytes, next) = (self.bytes, self.tag.span.end);
        let end = match kind {
            ElementKind::Script => script_end(bytes, next),
            _ => raw_text_end(bytes, next, name),
        };
        self.end_styles_and_report(Namespace::Html, text);
        let Some(end_tag) = tag::read(bytes, end) else {
            return Ok(None);
        };
        self.sink.end_text(end);
        if !PROVES {
            self.sink.end_tag(&end_tag);
        }
        Ok(Some(end_tag.span.end))
    }

    #[inline(always)]
    fn end_tag(&mut self, at: usize) -> NextOffset {
        match self.bytes.get(at + 2) {
            Some(b'a'..=b'z' | b'A'..=b'Z') => {}
            None => return Ok(None),
            _ => return self.bogus(at),
        }
        self.interrupt_style(at);
        let end = name_end(self.bytes, at + 2, b'>');
        let next = match self.bytes.get(end) {
            Some(b'>') if PROVES => end + 1,
            _ => match self.attributes(end, !PROVES) {
                Some(next) => next,
                None => return Ok(None),
            },
        };
        if !PROVES || self.open.templates > 0 || !self.open.foreign.is_empty() {
            self.close(at, end)?;
            self.end_styles(at);
            self.resume_style(next);
        }
        if !PROVES {
            (self.tag.span, self.tag.name) = (Span::new(at, next), Span::new(at + 2, end));
            self.tag.end_tag = true;
            self.sink.end_tag(&self.tag);
            self.tag.end_tag = false;
        }
        Ok(Some(next))
    }

    /// Reads an end tag whose effect matters.
    #[inline(never)]
    fn close(&mut self, at: usize, end: usize) -> Proof {
        let bytes = self.bytes;
        let name = &bytes[at + 2..end];
        let is_template = name.eq_ignore_ascii_case(b"template");
        let foreign = &mut self.open.foreign;
        if !PROVES {
            self.open.templates = self.open.templates.saturating_sub(is_template.into());
            foreign.close_by_name(name);
        } else if foreign.is_empty() {
            self.open.templates -= usize::from(is_template);
        } else if !name.is_ascii() || !foreign.close(name) {
            // `</p>` and `</br>` leave foreign content (13.2.6.5). Unless a `p` is open, `close` returns false for
            // both, because no open element has such a name.
            self.unproved()?;
        }
        Ok(())
    }

    /// Reads a construct that begins with `<!` or `<?`: a comment, a bogus comment, a DOCTYPE or a CDATA section.
    fn declaration(&mut self, at: usize) -> NextOffset {
        let rest = &self.bytes[at..];
        if rest.starts_with(b"<![CDATA[") && self.open.foreign.is_foreign_innermost() {
            let length = memchr::memmem::find(rest, b"]]>");
            return Ok(length.map(|length| at + length + 3));
        }
        let end = declaration_end(self.bytes, at, false);
        if !PROVES || rest.starts_with(b"<!--") {
            self.sink
                .comment(Span::new(at, end.unwrap_or(self.bytes.len())));
        }
        Ok(end)
    }

    /// Reads a `</` that does not begin a tag. The tokenizer ignores `</>`; everything else is a bogus comment.
    fn bogus(&mut self, at: usize) -> NextOffset {
        let end = find(self.bytes, at, b'>');
        let next = (end < self.bytes.len()).then_some(end + 1);
        if !PROVES && end > at + 2 {
            self.sink.comment(Span::new(at, next.unwrap_or(end)));
        }
        Ok(next)
    }

    /// Records a `base` element of HTML, and its standing.
    fn base(&mut self, at: usize) -> Proof {
        let has_href = self.tag.attribute(self.bytes, "href").is_some();
        let standing = if self.open.templates > 0 {
            Standing::Template
        } else if !has_href {
            Standing::NoHref
        } else if self.has_base {
            let before = &self.bytes[self.without_table..at];
            let begins_table = |at| starts_with(&before[at + 1..], "table");
            if PROVES && memchr::memchr_iter(b'<', before).any(begins_table) {
                // From the table, the parser may move one of the bases.
                self.unproved()?;
            }
            self.without_table = at;
            Standing::Later
        } else {
            self.has_base = true;
            Standing::First
        };
        self.bases.push((at, standing));
        Ok(())
    }

    /// True if the current tag is a `font` with an attribute that ends foreign content (13.2.6.5).
    fn is_html_font(&self, name: &[u8]) -> bool {
        name.eq_ignore_ascii_case(b"font")
            && ["color", "face", "size"]
                .iter()
                .any(|name| self.tag.attribute(self.bytes, name).is_some())
    }

    /// True if the current `annotation-xml` is an HTML integration point (13.2.6).
    fn is_annotated_html(&self) -> bool {
        let encoding = self.tag.attribute(self.bytes, "encoding");
        encoding.is_some_and(|encoding| {
            let decoded = encoding.decoded(self.bytes, Charset::UTF_8).text;
            is_among(decoded.as_bytes(), "text/html application/xhtml+xml")
        })
    }

    /// Reports the text of an open `style` in SVG up to the tag at `at`. Best-effort mode does not know the children of
    /// the `style`, so the `style` ends there.
    #[inline(always)]
    fn interrupt_style(&mut self, at: usize) {
        if let Some(start) = self.open.style_text.take() {
            if start < at {
                self.sink.style_text(Span::new(start, at));
            }
            if !PROVES {
                self.open.foreign.close_innermost();
            }
        }
    }

    /// Reports the end of each `style` in SVG that the tag at `at` closed.
    fn end_styles(&mut self, at: usize) {
        while self
            .open
            .styles
            .pop_if(|place| *place >= self.open.foreign.len())
            .is_some()
        {
            self.sink.end_style(at);
        }
    }

    /// Continues the text of a `style` in SVG at `next`, if it is the innermost open element.
    fn resume_style(&mut self, next: usize) {
        self.open.style_text = self
            .open
            .styles
            .last()
            .is_some_and(|place| *place + 1 == self.open.foreign.len())
            .then_some(next);
    }

    /// Ends the `style` elements that the start tag closes, and reports the tag.
    #[inline(always)]
    fn end_styles_and_report(&mut self, namespace: Namespace, text: TextModel) {
        self.end_styles(self.tag.span.start);
        self.sink.start_tag(&self.tag, namespace, text);
    }

    /// Reads the attributes of a tag from `at`, the end of its name, on. Keeps all of them if `whole`, else those that
    /// can matter. Returns the end of the tag; `None` if the document ends in it.
    #[inline(always)]
    fn attributes(&mut self, at: usize, whole: bool) -> Option<usize> {
        let names = (!whole).then_some(self.names);
        tag::attributes(self.bytes, at, names, &mut self.tag)
    }
}

/// The elements of SVG, besides those with text, that a preload scanner reads as the tree has them.
const SHAPES: &str = "circle clippath defs ellipse g line lineargradient mask path polygon polyline \
    radialgradient rect stop symbol text tspan use";

/// The end of the `svg` whose tag is at `start`, if a preload scanner, as in [`best_effort`], finds the same tags in it as the tree has:
/// shapes and plain text. Every `<` must begin a whole tag or comment, so that both read the same tokens.
pub(crate) fn end_of_plain_svg(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut starts = memchr::memchr_iter(b'<', &bytes[start..])
        .map(|length| start + length)
        .peekable();
    while let Some(at) = starts.next() {
        let next = starts.peek().copied().unwrap_or(bytes.len());
        let part = &bytes[at..next];
        if part.starts_with(b"<!--") && memchr::memmem::find(part, b"-->").is_some() {
            continue;
        }
        let tag = tag::read(part, 0)?;
        let name = &part[tag.name.range()];
        let has_text = || {
            tag.attributes.is_empty()
                && is_among(name, "style title")
                && !css::may_import(part)
                && bytes[next..].starts_with(b"</")
                && is_name_at(bytes, next + 2, name)
        };
        let is_svg = name.eq_ignore_ascii_case(b"svg");
        if tag.end_tag {
            depth -= usize::from(is_svg);
        } else if is_svg {
            depth += usize::from(!tag.self_closing);
        } else if depth == 0 || !(is_among(name, SHAPES) || has_text()) {
            return None;
        }
        if depth == 0 {
            return Some(next);
        }
    }
    Some(bytes.len())
}

/// True if `bytes` has `name` at `at`, in any case, followed by white space, `/` or `>`.
fn is_name_at(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + name.len();
    bytes
        .get(at..end)
        .is_some_and(|word| word.eq_ignore_ascii_case(name))
        && matches!(
            bytes.get(end),
            Some(b'\t' | b'\n' | 0x0c | b'\r' | b' ' | b'/' | b'>')
        )
}

/// The end of the raw text or RCDATA that begins at `from`: its end tag, or else the end of the document.
pub(crate) fn raw_text_end(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    memchr::memchr_iter(b'<', &bytes[from..])
        .map(|length| from + length)
        .find(|&at| bytes.get(at + 1) == Some(&b'/') && is_name_at(bytes, at + 2, name))
        .unwrap_or(bytes.len())
}

/// The end of the script that begins at `from`, according to its escaped states (13.2.5.15 to 13.2.5.31).
fn script_end(bytes: &[u8], from: usize) -> usize {
    #[derive(PartialEq)]
    enum State {
        Data,
        Escaped,
        DoubleEscaped,
    }
    let mut state = State::Data;
    let mut at = from;
    loop {
        // A `-` is special in escaped script data only.
        at = match state {
            State::Data => find(bytes, at, b'<'),
            State::Escaped | State::DoubleEscaped => find_any(bytes, at, *b"<-", 0),
        };
        if at == bytes.len() {
            return at;
        }
        let rest = &bytes[at..];
        if rest.starts_with(b"-->") && state != State::Data {
            state = State::Data;
        } else if rest.starts_with(b"<!--") && state == State::Data {
            // Its dashes may also belong to the closing `-->`, as in `<!-->`.
            state = State::Escaped;
        } else if rest.starts_with(b"</") && is_name_at(bytes, at + 2, b"script") {
            match state {
                State::Data | State::Escaped => return at,
                State::DoubleEscaped => state = State::Escaped,
            }
        } else if rest.starts_with(b"<")
            && state == State::Escaped
            && is_name_at(bytes, at + 1, b"script")
        {
            state = State::DoubleEscaped;
        }
        at += 1;
    }
}

/// The end of the comment or declaration that begins with the `<` at `at`; `None` if it is unterminated. If the `<`
/// is text, the offset after it.
pub fn declaration_end(bytes: &[u8], at: usize, foreign: bool) -> Option<usize> {
    let rest = &bytes[at..];
    if rest.starts_with(b"<!--") {
        comment_end(bytes, at)
    } else if foreign && rest.starts_with(b"<![CDATA[") {
        memchr::memmem::find(rest, b"]]>").map(|length| at + length + 3)
    } else if matches!(rest.get(1), Some(b'!' | b'?' | b'/')) {
        memchr::memchr(b'>', rest).map(|length| at + length + 1)
    } else {
        Some(at + 1)
    }
}

fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let body = at + 4;
    let rest = &bytes[body..];
    if rest.starts_with(b">") {
        return Some(body + 1);
    }
    if rest.starts_with(b"->") {
        return Some(body + 2);
    }
    memchr::memchr_iter(b'>', rest)
        .find(|&at| matches!(rest[..at], [.., b'-', b'-'] | [.., b'-', b'-', b'!']))
        .map(|at| body + at + 1)
}

#[cfg(test)]
mod tests {
    use super::end_of_plain_svg;

    #[test]
    fn svg_of_shapes_and_text_needs_no_preload_scanner() {
        for (page, end) in [
            (
                "<svg x='0 1'><title>A</title><g><path d='M0'/></g><!-- x --></svg> <p>",
                "<p>",
            ),
            (
                "<SVG><style>p{}</style><svg/></svg><title><!--</title>",
                "<title><!--</title>",
            ),
            ("<svg/><image/>", "<image/>"),
            ("<svg><g>", ""),
        ] {
            let end = page.len() - end.len();
            assert_eq!(end_of_plain_svg(page.as_bytes(), 0), Some(end), "{page}");
        }
        for page in [
            "<template>",
            "<math>",
            "<frameset>",
            "<svg><title/><g>",
            "<svg><title><!--</title>",
            "<svg><style type=x></style>",
            "<svg><style>@import 'x'</style>",
            "<svg><title></style>",
            "<svg><a title='<img>'>",
            "<svg><g title='</svg>'><image>",
            "<svg><g title='>' id='<svg>'>",
            "<svg><![CDATA[>]]></svg>",
            "<svg><!-- <b> -->",
            "<svg><image/></svg>",
            "<svg><p></svg>",
            "<svg><svg></svg><script></script></svg>",
        ] {
            assert_eq!(end_of_plain_svg(page.as_bytes(), 0), None, "{page}");
        }
    }
}
