//! The walk: one pass over the bytes from `<` to `<`, through the tokenizer's states (HTML, 13.2.5) and as
//! much of tree construction (13.2.6) as changes what tags there are and what they mean.
//!
//! It has two modes. In the first it *proves*: it tells a [`Sink`] only of tags that can matter, and of their
//! attributes only those that can, and allocates nothing for a tag. Where it cannot prove from what it has
//! seen what html5ever would do, it stops with [`Unproved`], and has told of everything before that place and
//! of nothing from there on. What it says itself is what [`super::exact`] would have said: `tests/html/fast.rs`
//! holds the two against each other.
//!
//! In the second mode it makes its [`best_effort`]: it tells of every token and never stops. That is what
//! remains where html5ever would take too long, and the token stream that `--verify` compares there. It is
//! linear in time and memory on any input.
//!
//! What tree construction changes outside of `svg` and `math` is little: what an element holds (raw text,
//! RCDATA, script data) follows from its name wherever its tag is not dropped, and tags are dropped in
//! framesets and in a `template` with a `col` only. Inside, `walk/foreign.rs` keeps the elements that are open.
//!
//! ```
//! let page = b"<svg><a href=x><title><b></b></title></a></svg><script>'<a href=z>'</script><a href=y>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links.len(), 2);
//! assert_eq!(document.fallback, None);
//! // Whether `</b>` closes something around the SVG cannot be seen from inside.
//! let page = b"<b><svg></b><a href=x>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.fallback, Some(baselink::document::FallbackReason::EndTag));
//! ```
//!
//! Deliberately absent: a tree. Which elements are open outside of `svg` and `math` is never asked, and nothing is moved:
//! the first `base` is the first as written.

mod foreign;
mod names;

use std::ops::Range;

use self::foreign::{Foreign, TagPlace};
use self::names::{Element, ElementKind};
pub(crate) use self::names::{Name, Names};
use super::sink::{Sink, TextModel, TreeFacts};
use super::tag::{self, Keeps, MOST_ATTRIBUTES, RawTag, TooMany};
use crate::document::{FallbackReason, Standing};
use crate::scan::ScanOptions;
use crate::scan::attributes::Namespace;
use crate::scan::block::{find, find_any, name_end};
use crate::span::Span;

/// Where the walk cannot prove what html5ever would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unproved {
    /// The `<` that it is about. The sink knows all that begins before it, and nothing from it on.
    pub(crate) at: usize,
    /// What it cannot prove.
    pub(crate) reason: FallbackReason,
}

/// Walks over `range` of `bytes`, and stops where it cannot prove what is there; `scripting` as in HTML,
/// 13.2.4.5.
pub(crate) fn document<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    names: &Names,
    sink: &mut S,
) -> Result<TreeFacts, Unproved> {
    let mut walk = Walk::<_, true>::new(&bytes[..range.end], scripting, names, sink);
    walk.run(range.start)?;
    Ok(walk.facts())
}

/// Walks over `range` of `bytes` by the tokenizer's states and the names of elements alone, and tells of every
/// token; `scripting` as in HTML, 13.2.4.5.
pub(crate) fn best_effort<S: Sink>(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    sink: &mut S,
) -> TreeFacts {
    let names = Names::of(&ScanOptions::default());
    let mut walk = Walk::<_, false>::new(&bytes[..range.end], scripting, &names, sink);
    // This mode never stops.
    let _ = walk.run(range.start);
    walk.facts()
}

/// The open elements that decide what follows means.
#[derive(Debug, Default)]
struct OpenElements<'a> {
    foreign: Foreign<'a>,
    /// How many `template` elements are open.
    templates: usize,
    /// Whether the last start tag was `style` in SVG, whose text any start tag ends.
    in_svg_style: bool,
}

/// `PROVES` is whether it stops where it cannot prove what is there.
struct Walk<'a, S: Sink, const PROVES: bool> {
    bytes: &'a [u8],
    scripting: bool,
    names: &'a Names,
    sink: &'a mut S,
    /// The tag that is being read, with the attributes that can matter.
    tag: RawTag,
    open: OpenElements<'a>,
    bases: Vec<(usize, Standing)>,
    /// Whether one of them is the first that has an `href`.
    has_base: bool,
    /// Up to where no table has been found.
    without_table: usize,
}

/// What came of a tag: where to go on, and none at the end of the document.
type Next = Result<Option<usize>, FallbackReason>;

/// What came of a part of one.
type Done = Result<(), FallbackReason>;

impl<'a, S: Sink, const PROVES: bool> Walk<'a, S, PROVES> {
    fn new(bytes: &'a [u8], scripting: bool, names: &'a Names, sink: &'a mut S) -> Self {
        let (tag, open) = (RawTag::default(), OpenElements::default());
        Self {
            bytes,
            scripting,
            names,
            sink,
            tag,
            open,
            bases: Vec::new(),
            has_base: false,
            without_table: 0,
        }
    }

    fn facts(self) -> TreeFacts {
        let mut bases = self.bases;
        bases.sort_by_key(|&(tag, standing)| (standing != Standing::First, tag));
        TreeFacts { bases, is_crowded: false }
    }

    /// Goes on from `start` to the end, or to where something begins that does not end.
    fn run(&mut self, start: usize) -> Result<(), Unproved> {
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
                Err(reason) => return Err(Unproved { at, reason }),
            }
        }
        Ok(())
    }

    /// Halts where the walk has to prove what is there, before the sink is told anything of the tag.
    fn unproved(&self, reason: FallbackReason) -> Done {
        if PROVES { Err(reason) } else { Ok(()) }
    }

    #[inline(always)]
    fn start_tag(&mut self, at: usize) -> Next {
        let end = name_end(self.bytes, at + 1, b'>');
        let element = self.names.element(self.bytes, at + 1, end);
        if !PROVES || !self.open.foreign.is_empty() || element != Element::default() {
            return self.special_tag(at, end, element);
        }
        if self.bytes.get(end) == Some(&b'>') {
            return Ok(Some(end + 1));
        }
        let Some(next) = self.attributes(end, false)? else {
            return Ok(None);
        };
        if !self.tag.attributes.is_empty() {
            self.report(at, end, next, Namespace::Html, TextModel::Markup);
        }
        Ok(Some(next))
    }

    /// A start tag whose name matters, or one in foreign content.
    #[inline(never)]
    fn special_tag(&mut self, at: usize, end: usize, element: Element) -> Next {
        let bytes = self.bytes;
        let span = Span::new(at + 1, end);
        let name = &bytes[span.range()];
        let mut place = self.open.foreign.place(name);
        let mut whole = !PROVES || element.whole || element.kind == ElementKind::Base;
        if let TagPlace::Foreign(_) = place {
            whole |= name.eq_ignore_ascii_case(b"font");
        }
        let Some(next) = self.attributes(end, whole)? else {
            return Ok(None);
        };
        if let TagPlace::Foreign(namespace) = place {
            if !name.is_ascii() {
                self.unproved(FallbackReason::Name)?;
            }
            if foreign::breaks_out(name) || self.is_html_font(name) {
                self.open.foreign.leave();
                place =
                    if self.open.foreign.is_empty() { TagPlace::Outside } else { TagPlace::Point };
            } else {
                return self.foreign_tag(at, end, next, namespace);
            }
        }
        self.html_tag(at, end, next, element, place)
    }

    /// A start tag that makes an element of SVG or MathML inside of such.
    fn foreign_tag(&mut self, at: usize, end: usize, next: usize, namespace: Namespace) -> Next {
        let bytes = self.bytes;
        let name = &bytes[at + 1..end];
        let is_annotation =
            namespace == Namespace::MathMl && name.eq_ignore_ascii_case(b"annotation-xml");
        if is_annotation {
            self.unproved(FallbackReason::Annotation)?;
        }
        if name.eq_ignore_ascii_case(b"base") {
            self.bases.push((at, Standing::Foreign));
        }
        self.tell(at, end, next, namespace, TextModel::Markup);
        if !self.tag.self_closing {
            self.open.in_svg_style =
                namespace == Namespace::Svg && name.eq_ignore_ascii_case(b"style");
            let is_point =
                foreign::is_point(name, namespace) || is_annotation && self.is_annotated_html();
            // By best effort, others are not looked for when they end.
            if PROVES || is_point || foreign::is_root(name) {
                self.open.foreign.open(name, namespace, is_point);
            }
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
        place: TagPlace,
    ) -> Next {
        let bytes = self.bytes;
        let name = &bytes[at + 1..end];
        if place == TagPlace::Point && PROVES && !self.nest(element.kind, name) {
            self.unproved(FallbackReason::IntegrationPoint)?;
        }
        let text = match element.kind {
            ElementKind::Plain => TextModel::Markup,
            ElementKind::Foreign(namespace) => {
                self.tell(at, end, next, namespace, TextModel::Markup);
                if !self.tag.self_closing {
                    self.open.foreign.open(name, namespace, false);
                }
                return Ok(Some(next));
            }
            ElementKind::Rcdata => TextModel::Rcdata,
            ElementKind::NoScript if !self.scripting => TextModel::Markup,
            ElementKind::RawText | ElementKind::NoScript | ElementKind::Script => {
                TextModel::RawText
            }
            // The name is longer than what was compared of it.
            ElementKind::Plaintext if !name.eq_ignore_ascii_case(b"plaintext") => TextModel::Markup,
            ElementKind::Plaintext => TextModel::Plaintext,
            ElementKind::Frameset => {
                self.unproved(FallbackReason::Frameset)?;
                TextModel::Markup
            }
            ElementKind::Column => {
                if self.open.templates > 0 {
                    self.unproved(FallbackReason::Column)?;
                }
                TextModel::Markup
            }
            ElementKind::Template => {
                self.open.templates += 1;
                TextModel::Markup
            }
            ElementKind::Base => {
                self.base(at)?;
                TextModel::Markup
            }
        };
        if !PROVES {
            self.open.foreign.count(name);
        }
        match text {
            TextModel::Markup => {
                self.tell(at, end, next, Namespace::Html, text);
                Ok(Some(next))
            }
            TextModel::Plaintext => {
                self.tell(at, end, next, Namespace::Html, text);
                Ok(None)
            }
            TextModel::RawText | TextModel::Rcdata => self.text(at, end, next, text, element.kind),
        }
    }

    /// Opens an element of HTML in an integration point, if its text is markup. Returns false, and opens nothing, if its
    /// start tag may do more than nest.
    fn nest(&mut self, kind: ElementKind, name: &'a [u8]) -> bool {
        match kind {
            ElementKind::Plain => self.open.foreign.nest(name),
            // `xmp` closes a `p` that is open.
            ElementKind::RawText => !name.eq_ignore_ascii_case(b"xmp"),
            ElementKind::NoScript => self.scripting,
            ElementKind::Rcdata | ElementKind::Script | ElementKind::Foreign(_) => true,
            _ => false,
        }
    }

    /// A start tag and the raw text, RCDATA or script data that it begins, from `next` on, with the end
    /// tag that follows it.
    fn text(
        &mut self,
        at: usize,
        name_end: usize,
        next: usize,
        text: TextModel,
        kind: ElementKind,
    ) -> Next {
        let bytes = self.bytes;
        let name = &bytes[at + 1..name_end];
        let end = match kind {
            ElementKind::Script => script_end(bytes, next),
            _ => raw_text_end(bytes, next, name),
        };
        let most = if PROVES { MOST_ATTRIBUTES } else { usize::MAX };
        let Ok(end_tag) = tag::read_bounded(bytes, end, most) else {
            return Err(FallbackReason::Attributes);
        };
        self.tell(at, name_end, next, Namespace::Html, text);
        let Some(end_tag) = end_tag else {
            return Ok(None);
        };
        self.sink.end_text(end);
        if !PROVES {
            self.sink.end_tag(&end_tag);
        }
        Ok(Some(end_tag.span.end))
    }

    #[inline(always)]
    fn end_tag(&mut self, at: usize) -> Next {
        match self.bytes.get(at + 2) {
            Some(b'a'..=b'z' | b'A'..=b'Z') => {}
            None => return Ok(None),
            _ => return self.bogus(at),
        }
        let end = name_end(self.bytes, at + 2, b'>');
        let next = match self.bytes.get(end) {
            Some(b'>') if PROVES => end + 1,
            _ => match self.attributes(end, !PROVES)? {
                Some(next) => next,
                None => return Ok(None),
            },
        };
        if !PROVES || self.open.templates > 0 || !self.open.foreign.is_empty() {
            self.close(at, end)?;
        }
        if !PROVES {
            self.tell_end_tag(at, end, next);
        }
        Ok(Some(next))
    }

    /// An end tag where it matters what it closes.
    #[inline(never)]
    fn close(&mut self, at: usize, end: usize) -> Done {
        let bytes = self.bytes;
        let name = &bytes[at + 2..end];
        let ends_style = self.open.in_svg_style && name.eq_ignore_ascii_case(b"style");
        self.open.in_svg_style &= !ends_style;
        let is_template = name.eq_ignore_ascii_case(b"template");
        let foreign = &mut self.open.foreign;
        if !PROVES {
            self.open.templates = self.open.templates.saturating_sub(is_template.into());
            foreign.close_by_name(name);
        } else if foreign.is_empty() {
            self.open.templates -= usize::from(is_template);
        } else if !name.is_ascii() {
            self.unproved(FallbackReason::Name)?;
        } else {
            // `</p>` and `</br>`, which leave foreign content (13.2.6.5), name no element of it. The text of `style` goes
            // on after the end of its SVG.
            if !foreign.close(name) || self.open.in_svg_style && foreign.is_empty() {
                self.unproved(FallbackReason::EndTag)?;
            }
        }
        if ends_style {
            self.sink.end_text(at);
        }
        Ok(())
    }

    /// What begins with `<!` or `<?`: a comment, a DOCTYPE, a CDATA section.
    fn declaration(&mut self, at: usize) -> Next {
        let rest = &self.bytes[at..];
        if rest.starts_with(b"<![CDATA[") && self.open.foreign.is_innermost() {
            return self.section(at);
        }
        let end = declaration_end(self.bytes, at, false);
        if !PROVES || rest.starts_with(b"<!--") || rest.starts_with(b"<?") {
            self.sink.comment(Span::new(at, end.unwrap_or(self.bytes.len())));
        }
        Ok(end)
    }

    fn section(&mut self, at: usize) -> Next {
        let rest = &self.bytes[at..];
        let length = memchr::memmem::find(rest, b"]]>");
        let text = &rest[..length.unwrap_or(rest.len())];
        // The exact engine counts the attributes of what looks like a tag there.
        if text.len() > MOST_ATTRIBUTES && memchr::memchr(b'<', &text[1..]).is_some() {
            self.unproved(FallbackReason::Attributes)?;
        }
        Ok(length.map(|length| at + length + 3))
    }

    /// What begins with `</` and is no tag: nothing, or a bogus comment.
    fn bogus(&mut self, at: usize) -> Next {
        let end = find(self.bytes, at, b'>');
        let next = (end < self.bytes.len()).then_some(end + 1);
        if !PROVES && end > at + 2 {
            self.sink.comment(Span::new(at, next.unwrap_or(end)));
        }
        Ok(next)
    }

    /// Notes a `base` element of HTML, and whether it is effective.
    fn base(&mut self, at: usize) -> Done {
        let has_href = self.tag.attribute(self.bytes, "href").is_some();
        let standing = if self.open.templates > 0 {
            Standing::Template
        } else if !has_href {
            Standing::NoHref
        } else if self.has_base {
            if PROVES && holds_table(&self.bytes[self.without_table..at]) {
                self.unproved(FallbackReason::Bases)?;
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

    /// Whether the tag that was read is a `font` that cannot be foreign (13.2.6.5).
    fn is_html_font(&self, name: &[u8]) -> bool {
        name.eq_ignore_ascii_case(b"font")
            && ["color", "face", "size"]
                .iter()
                .any(|name| self.tag.attribute(self.bytes, name).is_some())
    }

    /// Whether the `annotation-xml` that was read holds HTML (13.2.4.2).
    fn is_annotated_html(&self) -> bool {
        self.tag.attributes.iter().any(|one| {
            let value = one.value.map_or(&[][..], |value| &self.bytes[value.range()]);
            one.is_named(self.bytes, "encoding")
                && (value.eq_ignore_ascii_case(b"text/html")
                    || value.eq_ignore_ascii_case(b"application/xhtml+xml"))
        })
    }

    /// Tells of a start tag where a `style` element of SVG may be open, whose text it ends.
    fn tell(
        &mut self,
        at: usize,
        name_end: usize,
        next: usize,
        namespace: Namespace,
        text: TextModel,
    ) {
        if std::mem::take(&mut self.open.in_svg_style) {
            self.sink.end_text(at);
        }
        self.report(at, name_end, next, namespace, text);
    }

    #[inline(always)]
    fn report(
        &mut self,
        at: usize,
        name_end: usize,
        next: usize,
        namespace: Namespace,
        text: TextModel,
    ) {
        self.tag.span = Span::new(at, next);
        self.tag.name = Span::new(at + 1, name_end);
        self.sink.start_tag(&self.tag, namespace, text);
    }

    fn tell_end_tag(&mut self, at: usize, name_end: usize, next: usize) {
        self.tag.span = Span::new(at, next);
        self.tag.name = Span::new(at + 2, name_end);
        self.tag.end_tag = true;
        self.sink.end_tag(&self.tag);
        self.tag.end_tag = false;
    }

    /// Reads the attributes of a tag from the end of its name on, and keeps those that can matter, or all of
    /// them. Gives where the tag ends; none where the document ends in it.
    #[inline(always)]
    fn attributes(&mut self, name_end: usize, whole: bool) -> Next {
        let most = if PROVES { MOST_ATTRIBUTES } else { usize::MAX };
        let wanted = WantedNames { names: self.names, whole };
        match tag::attributes(self.bytes, name_end, most, &wanted, &mut self.tag) {
            Ok(end) => Ok(end),
            Err(TooMany) => self.unproved(FallbackReason::Attributes).map(|()| None),
        }
    }
}

/// The attributes that can matter, or all of them.
struct WantedNames<'a> {
    names: &'a Names,
    whole: bool,
}

impl Keeps for WantedNames<'_> {
    #[inline(always)]
    fn keeps(&self, bytes: &[u8], name: Span) -> bool {
        self.whole || self.names.has_attribute(bytes, name.start, name.end)
    }
}

/// Whether a tag of a table may be in `bytes`.
fn holds_table(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'<', bytes)
        .any(|at| bytes.get(at + 1..at + 6).is_some_and(|name| name.eq_ignore_ascii_case(b"table")))
}

/// Whether `bytes` goes on at `at` with `name` in any case and then white space, `/` or `>`.
fn is_name_at(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + name.len();
    bytes.get(at..end).is_some_and(|word| word.eq_ignore_ascii_case(name))
        && matches!(bytes.get(end), Some(b'\t' | b'\n' | 0x0c | b'\r' | b' ' | b'/' | b'>'))
}

/// Where the raw text or RCDATA that begins at `from` ends: at its end tag, else at the end.
fn raw_text_end(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    memchr::memchr_iter(b'<', &bytes[from..])
        .map(|length| from + length)
        .find(|&at| bytes.get(at + 1) == Some(&b'/') && is_name_at(bytes, at + 2, name))
        .unwrap_or(bytes.len())
}

/// Where the script that begins at `from` ends, through its escaped states (13.2.5.15 to 13.2.5.31).
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
        // A `-` counts in escaped script data only.
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
            // Its two dashes may be those of the `-->` that ends it.
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

/// Where the comment, declaration or text that the `<` at `at` begins ends; `None` when the document
/// ends before it does. A lone `<` ends at once.
pub(crate) fn declaration_end(bytes: &[u8], at: usize, foreign: bool) -> Option<usize> {
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
    let is_end = |&at: &usize| matches!(rest[..at], [.., b'-', b'-'] | [.., b'-', b'-', b'!']);
    memchr::memchr_iter(b'>', rest).find(is_end).map(|at| body + at + 1)
}
