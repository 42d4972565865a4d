//! The links of a document one by one, as they are found, for whoever needs no [`Document`](crate::document::Document).
//!
//! What is one reference in an attribute is offered as it stands in the bytes; only what is not taken so
//! is made into a [`Link`]. Nothing is allocated for a tag, nor for a reference that is taken.
//!
//! ```
//! let options = baselink::Options::at("http://a/b/c");
//! let mut out = Vec::new();
//! let totals = baselink::rewrite_into(b"<a href=x><p style='a:url(y)'>", &options, &mut out);
//! assert_eq!(out, b"<a href=http://a/b/x><p style='a:url(http://a/b/y)'>");
//! assert_eq!(totals.count(baselink::Outcome::Rewritten), 2);
//! ```
//!
//! Deliberately absent: whatever the walk cannot prove. It ends the attempt, and the long way
//! remains.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::pass::{LONGEST_ATTRIBUTE, OpenText, Pass, lower_case};
use super::sink::{Sink, Stopped, TextModel};
use super::tag::{FEW, RawAttribute, RawTag};
use super::walk::{self, Name, Names, OpenElements, Unproved};
use super::{DEEPEST, Markup, Namespace, Standing};
use crate::document::{BaseKind, DeclaredBase, Document, FallbackReason, Link, entity_name};
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::layer::escape::{self, Quote};
use crate::layer::spelling::Form;
use crate::scan::ScanOptions;
use crate::scan::attributes::{self, Against, Empty, Fragment, Group, Groups, Row, Syntax, When};
use crate::scan::{css, value};
use crate::span::Span;

/// A reference in an attribute or in CSS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    /// Its bytes, white space and character references included.
    pub(crate) span: Span,
    /// What delimits it.
    pub(crate) quote: Quote,
    /// Whether it lies in something that `<` and `>` could end.
    pub(crate) enclosed: bool,
    /// Whether an empty reference means the base here.
    pub(crate) empty_resolves: bool,
    /// Whether a fragment alone names an element of the document.
    pub(crate) fragment_identifies: bool,
}

/// Who takes links. Places are those of the window that is looked at: of the whole document, or of a piece.
pub(crate) trait Taker {
    /// Whether it would rather be rid of what it has, where a tag begins.
    fn is_full(&self, at: usize) -> bool;

    /// Is told that no link before a tag is still to come; `false` ends the attempt.
    fn settle(&mut self, window: &[u8], at: usize) -> bool;

    /// Takes a reference to be resolved against the document base URL, as it stands; `false` where it
    /// wants a [`Link`].
    fn value(&mut self, window: &[u8], value: &Value) -> bool;

    /// Takes a link; `false` ends the attempt.
    fn link(&mut self, window: &[u8], link: Link) -> bool;

    /// Takes a document that stands in a value; `false` ends the attempt.
    fn part(&mut self, window: &[u8], part: Document) -> bool;
}

/// Why the links of a document are not found in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The walk cannot prove what it is.
    HandedOver,
    /// Documents and markup are too deep in each other.
    Nested,
    /// It declares this encoding, which was not assumed.
    Encoding(Charset),
    /// It declares a base, which was not expected.
    Base,
    /// The taker does not want to go on.
    Refused,
}

impl From<Stopped<Unproved, Stop>> for Stop {
    fn from(stopped: Stopped<Unproved, Self>) -> Self {
        match stopped {
            Stopped::Engine(_) => Self::HandedOver,
            Stopped::Sink(stop) => stop,
        }
    }
}

/// What the first `meta` element declares that declares an encoding; `Err` where the walk cannot
/// prove which tags there are.
pub(crate) fn declared(bytes: &[u8]) -> Result<Option<Charset>, FallbackReason> {
    struct Metas<'a>(&'a [u8]);
    impl Sink for Metas<'_> {
        type Stop = Charset;

        fn start_tag(
            &mut self,
            tag: &RawTag,
            namespace: Namespace,
            _text: TextModel,
        ) -> Result<(), Charset> {
            match super::declared_by(self.0, tag) {
                Some(charset) if namespace == Namespace::Html => Err(charset),
                _ => Ok(()),
            }
        }
    }
    let names = Names::of(&ScanOptions::default());
    match walk::document(bytes, 0..bytes.len(), true, &names, &mut Metas(bytes)) {
        Ok(_) => Ok(None),
        Err(Stopped::Sink(charset)) => Ok(Some(charset)),
        Err(Stopped::Engine(Unproved { reason, .. })) => Err(reason),
    }
}

/// The encoding of a document, where it begins, and how it was found. One that is assumed is only a guess,
/// which [`links`] confirms.
pub(crate) fn encoding(bytes: &[u8], options: &ScanOptions) -> Detected {
    Charset::detect(bytes, options.charset)
}

/// Gives every link of `bytes` to `taker`. `bases` says whether it may declare a base.
pub(crate) fn links<T: Taker>(
    bytes: &[u8],
    encoding: Detected,
    options: &ScanOptions,
    bases: bool,
    taker: &mut T,
) -> Result<(), Stop> {
    let window = Window { bytes, from: encoding.mark, is_last: true };
    links_on(&window, &mut Course::new(encoding), options, bases, taker).map(drop)
}

/// A piece of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    pub(crate) bytes: &'a [u8],
    /// Up to here its links have been given.
    pub(crate) from: usize,
    /// Whether the document ends with it.
    pub(crate) is_last: bool,
}

/// What of a document before a window matters in it.
pub(crate) struct Course {
    charset: Charset,
    /// Whether the encoding is assumed, for no declaration has been seen.
    is_assumed: bool,
    walk: OpenElements,
    rows: [Known; KNOWN],
    /// How many documents in values there were.
    parts: usize,
    /// A text that goes on.
    text: Option<OpenText>,
    /// Whether the window is not all of the document: then nothing in its head stands for a base.
    is_in_windows: bool,
}

impl Course {
    /// That of a document of which nothing has been seen.
    pub(crate) fn new(encoding: Detected) -> Self {
        Self {
            charset: encoding.charset,
            is_assumed: encoding.declaration == Declaration::Assumed,
            walk: OpenElements::default(),
            rows: [Known::default(); KNOWN],
            parts: 0,
            text: None,
            is_in_windows: false,
        }
    }

    /// The same of a document that comes in windows, and in which no comment may stand for a base.
    pub(crate) fn in_windows(encoding: Detected) -> Self {
        Self { is_in_windows: true, ..Self::new(encoding) }
    }

    /// Takes in that the first `length` bytes of the window are gone.
    pub(crate) fn slide(&mut self, length: usize) {
        if let Some(text) = &mut self.text {
            text.start -= length;
        }
    }
}

/// How far the links of a window have been given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    /// Those before it have been.
    pub(crate) at: usize,
    /// What stands before it is not needed any more.
    pub(crate) done: usize,
}

/// Gives every link of a window to `taker` that is complete in it. `course` is that of the windows before,
/// and then of those behind.
pub(crate) fn links_on<T: Taker>(
    window: &Window<'_>,
    course: &mut Course,
    options: &ScanOptions,
    bases: bool,
    taker: &mut T,
) -> Result<Reached, Stop> {
    let Window { bytes, from, is_last } = *window;
    let names = Names::of(options);
    let mut pass = Pass::new(bytes, Standing::First, false, course.charset, options);
    pass.text = course.text.take();
    pass.has_commented_url = course.is_in_windows;
    let mut flow = Flow {
        bytes,
        charset: course.charset,
        options,
        bases,
        is_assumed: course.is_assumed,
        pass,
        taker,
        rows: &mut course.rows,
        enclosed: false,
        is_in_text: false,
        depth: 0,
        parts: course.parts,
        names: Cow::clone(&names),
    };
    let at = walk::window(bytes, from, is_last, &mut course.walk, &names, &mut flow)?;
    if is_last {
        flow.pass.close_text(bytes.len());
    }
    flow.drain()?;
    (course.is_assumed, course.parts) = (flow.is_assumed, flow.parts);
    course.text = flow.pass.text.take();
    let done = course.text.as_ref().map_or(at, |text| text.start.min(at));
    Ok(Reached { at, done })
}

/// The declarations of a base in `bytes` on which it depends: the effective `base` element, or another one where
/// there are only such, and the comments that a browser wrote in the place of one. Elements behind it change
/// nothing, unless the tree puts one before it: `to_end` says whether that is found out now, or with the links.
pub(crate) fn bases(
    bytes: &[u8],
    Detected { charset, mark: start, .. }: Detected,
    options: &ScanOptions,
    to_end: bool,
) -> Result<Vec<DeclaredBase>, Stop> {
    struct Bases<'a> {
        bytes: &'a [u8],
        pass: Pass<'a>,
        is_first: bool,
        effective: Option<usize>,
        /// Whether there is a comment in the place of an element, and one whose element had an href.
        has_comment: bool,
        has_commented_href: bool,
        to_end: bool,
    }
    impl Bases<'_> {
        /// Whether what comes behind the effective element changes nothing: one that a browser put in the place
        /// of another tells nothing where that had no href, and then a later one may.
        fn is_known(&self) -> bool {
            self.effective.is_some() && (!self.has_comment || self.has_commented_href)
        }
    }
    impl Sink for Bases<'_> {
        type Stop = Stop;

        fn start_tag(
            &mut self,
            tag: &RawTag,
            namespace: Namespace,
            _text: TextModel,
        ) -> Result<(), Stop> {
            if self.bytes[tag.name.range()].eq_ignore_ascii_case(b"base") {
                self.pass.start_tag(tag, namespace, TextModel::Markup);
                // Its href is a link, too, which is found later.
                self.pass.collector.links.clear();
                if std::mem::take(&mut self.is_first) {
                    self.effective = self.pass.bases.len().checked_sub(1);
                }
                if !self.to_end && self.is_known() {
                    return Err(Stop::Base);
                }
            }
            Ok(())
        }

        fn comment(&mut self, span: Span) -> Result<(), Stop> {
            let before = self.pass.bases.len();
            self.pass.commented_base(span);
            if let Some(comment) = self.pass.bases.get(before) {
                self.has_comment = true;
                self.has_commented_href |= comment.value.is_some();
            }
            Ok(())
        }

        fn base(&mut self, standing: Standing) {
            self.is_first = standing == Standing::First;
        }
    }
    let names = Names::of(options);
    let span = Span::new(start, bytes.len());
    let pass = Pass::new(bytes, Standing::First, false, charset, options);
    let mut found = Bases {
        bytes,
        pass,
        is_first: false,
        effective: None,
        has_comment: false,
        has_commented_href: false,
        to_end,
    };
    let (bases, effective) = match walk::document(bytes, span.range(), true, &names, &mut found) {
        Ok(facts) => {
            let bases = found.pass.finish(span, facts).bases;
            let is_effective = |one: &DeclaredBase| {
                one.kind == BaseKind::Element && one.standing == Standing::First
            };
            let effective = bases.iter().position(is_effective);
            (bases, effective)
        }
        Err(Stopped::Sink(Stop::Base)) => (found.pass.bases, found.effective),
        Err(stop) => return Err(stop.into()),
    };
    Ok(decisive(bases, effective))
}

/// Of `bases`, in source order, those on which the base of the document depends, `effective` before others.
fn decisive(bases: Vec<DeclaredBase>, effective: Option<usize>) -> Vec<DeclaredBase> {
    let is_comment = |one: &DeclaredBase| one.kind == BaseKind::Comment;
    let commented = bases.iter().position(|one| is_comment(one) && one.value.is_some());
    // What a browser wrote in the place of the effective one stands right before it.
    let before = effective.and_then(|at| at.checked_sub(1)).filter(|&at| is_comment(&bases[at]));
    let any = if effective.or(commented).is_none() { Some(0) } else { None };
    let mut kept: Vec<_> = bases
        .into_iter()
        .enumerate()
        .filter(|&(at, _)| [effective, commented, before, any].contains(&Some(at)))
        .map(|(at, base)| match Some(at) == effective {
            true => DeclaredBase { standing: Standing::First, ..base },
            false => base,
        })
        .collect();
    kept.sort_by_key(|base| (base.standing != Standing::First, base.span.start));
    kept
}

/// How many places are remembered. As many as a power of two, more than most documents use.
const KNOWN: usize = 128;

/// What the table says of an attribute of an element, where that does not depend on the tag.
#[derive(Clone, Copy, Default)]
enum Answer {
    /// It carries no URL.
    #[default]
    Nothing,
    /// It is one reference against the document base URL.
    Url(&'static Row),
    /// It is CSS.
    Css(&'static Row),
    /// It is a list of image candidates.
    Srcset(&'static Row),
    /// Only where the tag has this attribute it may carry URLs.
    With(&'static str),
    /// The tag has to be looked into.
    Ask,
}

/// An answer that is remembered.
#[derive(Clone, Copy, Default)]
struct Known {
    place: Option<(Name, Name, Namespace)>,
    answer: Answer,
}

/// Answers where there are no groups and no further places, kept from document to document: of those that
/// could stand in one place, the first.
static SHARED: [OnceLock<Known>; 512] = [const { OnceLock::new() }; 512];

/// Where the answer for an attribute of an element is kept, in a table of any length.
#[inline(always)]
fn spot(element: Name, attribute: Name) -> usize {
    element.hash() ^ attribute.hash().rotate_left(3)
}

struct Flow<'a, T> {
    bytes: &'a [u8],
    charset: Charset,
    options: &'a ScanOptions,
    /// Whether the document may declare a base.
    bases: bool,
    /// Whether the encoding is assumed, for no declaration has been seen.
    is_assumed: bool,
    /// Finds the links of what is not simple.
    pass: Pass<'a>,
    taker: &'a mut T,
    rows: &'a mut [Known; KNOWN],
    enclosed: bool,
    /// Whether this is markup in a text whose own links are still to come.
    is_in_text: bool,
    /// How many stretches of markup around this one are scanned on their own.
    depth: usize,
    /// How many documents in values there were.
    parts: usize,
    names: Cow<'static, Names>,
}

impl<T: Taker> Sink for Flow<'_, T> {
    type Stop = Stop;

    #[inline(always)]
    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), Stop> {
        let at = tag.span.start;
        if self.taker.is_full(at) && self.is_settled() && !self.taker.settle(self.bytes, at) {
            return Err(Stop::Refused);
        }
        if self.is_assumed && tag.name.len() == 4 && namespace == Namespace::Html {
            self.confirm(tag)?;
        }
        if tag.attributes.len() > FEW || self.has_more(tag, namespace, text) {
            self.pass.start_tag(tag, namespace, text);
            return self.drain();
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
            match self.answer(tag, namespace, attribute) {
                Answer::Nothing => {}
                Answer::With(name) if !self.has_attribute(tag, name) => {}
                Answer::Url(row) if self.offer(attribute, row) => {}
                Answer::Css(row) if self.css_value(tag, attribute, row)? => {}
                Answer::Srcset(row) if self.srcset(tag, attribute, row)? => {}
                Answer::Url(_)
                | Answer::Css(_)
                | Answer::Srcset(_)
                | Answer::With(_)
                | Answer::Ask => {
                    let element = self.pass.element(tag);
                    self.pass.attribute(namespace, &element, attribute, &tag.attributes);
                    self.drain()?;
                }
            }
        }
        Ok(())
    }

    fn end_text(&mut self, at: usize) -> Result<(), Stop> {
        match self.pass.take_style(at) {
            Some(span) if !self.css(span, "style", None)? => self.pass.style(span),
            Some(_) => {}
            None => self.pass.close_text(at),
        }
        self.drain()
    }

    fn comment(&mut self, span: Span) -> Result<(), Stop> {
        self.pass.comment(span);
        self.drain()
    }
}

impl<T: Taker> Flow<'_, T> {
    /// Whether the links of all texts before a tag have been found. A `style` element of SVG may have tags and
    /// comments in it, and its own links come at its end.
    fn is_settled(&self) -> bool {
        !self.is_in_text && !self.pass.is_in_text()
    }

    /// Whether more is to be known of a tag than its attributes.
    #[inline(always)]
    fn has_more(&self, tag: &RawTag, namespace: Namespace, text: TextModel) -> bool {
        let is = |name: &str| self.bytes[tag.name.range()].eq_ignore_ascii_case(name.as_bytes());
        match (namespace, text) {
            (Namespace::Html, TextModel::Markup) => is("base"),
            (Namespace::Html, TextModel::RawText) => match tag.name.len() {
                6 if is("script") => self.options.groups.contains(Group::Json),
                6 => !is("iframe"),
                _ => true,
            },
            (Namespace::Html, TextModel::Rcdata | TextModel::Plaintext) => false,
            (Namespace::Svg | Namespace::MathMl, _) => is("style") || is("base"),
        }
    }

    /// Looks whether a tag declares an encoding other than the assumed one.
    #[inline(never)]
    fn confirm(&mut self, tag: &RawTag) -> Result<(), Stop> {
        // To a browser that runs scripts the inside of `noscript` and the like is text.
        let declared = if self.depth > 0 { None } else { super::declared_by(self.bytes, tag) };
        self.is_assumed &= declared.is_none();
        match declared {
            Some(charset) if charset != self.charset => Err(Stop::Encoding(charset)),
            _ => Ok(()),
        }
    }

    /// What the table says of an attribute.
    #[inline(always)]
    fn answer(&mut self, tag: &RawTag, namespace: Namespace, attribute: &RawAttribute) -> Answer {
        let [element, name] = [tag.name, attribute.name];
        // Of longer names not all would be compared.
        if element.len() > 8 || name.len() > 8 {
            return self.look_up(tag, namespace, attribute);
        }
        let element = Name::read(self.bytes, element.start, element.end);
        let name = Name::read(self.bytes, name.start, name.end);
        let place = Some((element, name, namespace));
        let slot = spot(element, name) & (KNOWN - 1);
        let known = &self.rows[slot];
        if known.place == place {
            return known.answer;
        }
        self.remember(slot, place, tag, namespace, attribute)
    }

    #[inline(never)]
    fn remember(
        &mut self,
        slot: usize,
        place: Option<(Name, Name, Namespace)>,
        tag: &RawTag,
        namespace: Namespace,
        attribute: &RawAttribute,
    ) -> Answer {
        // Documents have most of their places in common.
        let is_usual = self.options.places.is_empty() && self.options.groups == Groups::default();
        let shared = place
            .filter(|_| is_usual)
            .map(|(element, name, _)| &SHARED[spot(element, name) & (SHARED.len() - 1)]);
        let known = shared.and_then(OnceLock::get).filter(|known| known.place == place);
        if let Some(known) = known {
            self.rows[slot] = *known;
            return known.answer;
        }
        let answer = self.look_up(tag, namespace, attribute);
        // Other bytes could look like these where names are compared.
        let is_exact = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
        let mut names = [tag.name, attribute.name].into_iter();
        if names.all(|name| self.bytes[name.range()].iter().all(is_exact)) {
            self.rows[slot] = Known { place, answer };
            shared.map(|shared| shared.get_or_init(|| self.rows[slot]));
        }
        answer
    }

    #[inline(never)]
    fn look_up(&self, tag: &RawTag, namespace: Namespace, attribute: &RawAttribute) -> Answer {
        let raw = &self.bytes[attribute.name.range()];
        if !self.options.places.is_empty() || str::from_utf8(raw).is_err() {
            return Answer::Ask;
        }
        let (mut of_name, mut of_element) = ([0; LONGEST_ATTRIBUTE], [0; LONGEST_ATTRIBUTE]);
        let Some(name) = lower_case(raw, &mut of_name) else {
            // No name in the table is as long.
            return Answer::Nothing;
        };
        let element = match lower_case(&self.bytes[tag.name.range()], &mut of_element) {
            Some(element) => Cow::Borrowed(element),
            None => Cow::Owned(self.pass.element(tag)),
        };
        let mut rows = attributes::rows(name).iter().filter(|row| {
            row.group.is_none_or(|group| self.options.groups.contains(group))
                && row.namespaces.contains(&namespace)
                && row.elements.contain(&element)
        });
        match (rows.next(), rows.next()) {
            (None, _) => Answer::Nothing,
            (Some(Row { when: When::Is(name, _) | When::Has(name, _), .. }), None) => {
                Answer::With(name)
            }
            (Some(row), _) if row.when != When::Always || row.against != Against::Document => {
                Answer::Ask
            }
            (Some(row), _) => match row.syntax {
                Syntax::Url => Answer::Url(row),
                Syntax::Css | Syntax::CssValue => Answer::Css(row),
                Syntax::Srcset => Answer::Srcset(row),
                _ => Answer::Ask,
            },
        }
    }

    fn has_attribute(&self, tag: &RawTag, name: &str) -> bool {
        let is =
            |one: &RawAttribute| self.bytes[one.name.range()].eq_ignore_ascii_case(name.as_bytes());
        tag.attributes.iter().any(is)
    }

    /// Goes through an attribute that is CSS; `false` where that is not simple.
    fn css_value(
        &mut self,
        tag: &RawTag,
        attribute: &RawAttribute,
        row: &'static Row,
    ) -> Result<bool, Stop> {
        let span = attribute.value.unwrap_or(Span::at(attribute.name.end));
        let value = &self.bytes[span.range()];
        // Whatever character references there are, one of these stands in what holds a URL.
        if !value.iter().any(|byte| matches!(byte, b'(' | b'@' | b'\\' | b'&')) {
            return Ok(true);
        }
        let Ok(name) = str::from_utf8(&self.bytes[attribute.name.range()]) else {
            return Ok(false);
        };
        if attribute.value.is_none() || memchr::memchr3(b'&', b'\r', 0, value).is_some() {
            return Ok(false);
        }
        let (element, name) = (self.pass.element(tag), name.to_ascii_lowercase());
        self.css(span, &element, Some((&name, attribute.quote, row)))
    }

    /// Goes through a list of image candidates; `false` where that is not simple, and nothing is done then.
    fn srcset(
        &mut self,
        tag: &RawTag,
        attribute: &RawAttribute,
        row: &'static Row,
    ) -> Result<bool, Stop> {
        let Some(whole) = attribute.value else {
            return Ok(false);
        };
        let list = match str::from_utf8(&self.bytes[whole.range()]) {
            Ok(list) if list.is_ascii() => list,
            _ => return Ok(false),
        };
        // No other character reference is as common, and none that stands for white space or a comma.
        let is_amp = |at: usize| list[at..].starts_with("&amp;");
        if memchr::memchr2(b'\r', 0, list.as_bytes()).is_some()
            || !memchr::memchr_iter(b'&', list.as_bytes()).all(is_amp)
        {
            return Ok(false);
        }
        for span in value::srcset(list) {
            let span = span.shifted(whole.start);
            let value = Value {
                span,
                quote: attribute.quote,
                enclosed: self.enclosed,
                empty_resolves: row.empty == Empty::Resolve,
                fragment_identifies: row.fragment == Fragment::Identifier,
            };
            if !self.taker.value(self.bytes, &value) {
                let element = self.pass.element(tag);
                let name = String::from_utf8_lossy(&self.bytes[attribute.name.range()]);
                let place = (&*name.to_ascii_lowercase(), attribute.quote, row);
                let raw = self.charset.decode(&self.bytes[span.range()], span.start);
                let view = escape::character_references(raw);
                self.pass.reference(&view, Form::Srcset, &element, Some(place));
                self.drain()?;
            }
        }
        Ok(true)
    }

    /// Goes through CSS that stands in the bytes as it is; `false` where that is not simple, and nothing is
    /// done then.
    fn css(
        &mut self,
        span: Span,
        element: &str,
        attribute: Option<(&str, Quote, &'static Row)>,
    ) -> Result<bool, Stop> {
        let text = &self.bytes[span.range()];
        if !self.charset.is_ascii_fixed() && !text.is_ascii() {
            return Ok(false);
        }
        let Some(urls) = css::plain_urls(text) else {
            return Ok(false);
        };
        for url in urls {
            let (span, enclosed) = (url.span.shifted(span.start), self.enclosed);
            let quote = attribute.map_or(Quote::Double, |(_, quote, _)| quote);
            let value =
                Value { span, quote, enclosed, empty_resolves: false, fragment_identifies: true };
            let raw = &self.bytes[span.range()];
            if memchr::memchr(b'\\', raw).is_some() || !self.taker.value(self.bytes, &value) {
                let view = url.form.decode(self.charset.decode(raw, span.start));
                self.pass.reference(&view, url.form.into(), element, attribute);
                self.drain()?;
            }
        }
        Ok(true)
    }

    #[inline(always)]
    fn offer(&mut self, attribute: &RawAttribute, row: &'static Row) -> bool {
        let Some(span) = attribute.value else {
            return false;
        };
        self.taker.value(
            self.bytes,
            &Value {
                span,
                quote: attribute.quote,
                enclosed: self.enclosed,
                empty_resolves: row.empty == Empty::Resolve,
                fragment_identifies: row.fragment == Fragment::Identifier,
            },
        )
    }

    /// Gives away what the pass has found, and goes through markup that is scanned on its own.
    fn drain(&mut self) -> Result<(), Stop> {
        for link in self.pass.collector.links.drain(..) {
            if !self.taker.link(self.bytes, link) {
                return Err(Stop::Refused);
            }
        }
        for srcdoc in std::mem::take(&mut self.pass.collector.embedded) {
            if self.depth == DEEPEST {
                return Err(Stop::Nested);
            }
            self.parts += 1;
            let entity = entity_name(&self.options.entity, self.parts);
            let part = super::embedded(srcdoc, self.options, entity, self.depth + 1);
            if !self.taker.part(self.bytes, part) {
                return Err(Stop::Refused);
            }
        }
        if !self.enclosed && !self.bases && !self.pass.bases.is_empty() {
            return Err(Stop::Base);
        }
        self.pass.bases.clear();
        for markup in std::mem::take(&mut self.pass.markup) {
            self.markup(&markup)?;
        }
        Ok(())
    }

    fn markup(&mut self, markup: &Markup) -> Result<(), Stop> {
        if self.depth == DEEPEST {
            return Err(Stop::Nested);
        }
        let Markup { span, standing } = *markup;
        let is_settled = self.is_settled();
        let is_in_text = std::mem::replace(&mut self.is_in_text, !is_settled);
        let inner = Pass::new(self.bytes, standing, false, self.charset, self.options);
        let outer = std::mem::replace(&mut self.pass, inner);
        let enclosed = std::mem::replace(&mut self.enclosed, true);
        self.depth += 1;
        let names = Cow::clone(&self.names);
        walk::document(self.bytes, span.range(), false, &names, self)?;
        self.pass.close_text(span.end);
        self.drain()?;
        self.depth -= 1;
        self.enclosed = enclosed;
        self.is_in_text = is_in_text;
        self.pass = outer;
        Ok(())
    }
}
