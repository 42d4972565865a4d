//! What has to be known of an HTML document before its links are: its encoding (HTML, 13.2.3), and the bases that it
//! declares (HTML, 4.2.3).
//!
//! This is the only look ahead. A `base` element governs what is before it, too, and so does an encoding that is
//! declared late. One search says whether there may be either; only where there may, tags are read.
//!
//! ```
//! use baselink::{Options, rewrite};
//! let page = b"<a href=x></a><base href=/docs/>";
//! let rewritten = rewrite(page, &Options::at("http://a/"));
//! assert_eq!(rewritten.output(), b"<a href=http://a/docs/x></a><base href=http://a/docs/>");
//! ```
//!
//! Deliberately absent: which of the bases can serve ([`crate::base`]).

use memchr::memmem;

use super::engines;
use super::pass::{DEEPEST, Markup, conditional_markup, is_fallback_content};
use super::rows::element_name;
use super::saved::{self, COMMENTED_BASE};
use super::sink::{Event, Sink, TextModel};
use super::tag::{self, RawTag};
use super::walk::{self, Names, holds_table};
use crate::document::{BaseKind, DeclaredBase, Saved, Standing};
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::scan::attributes::Namespace;
use crate::scan::{ScanOptions, value};
use crate::span::Span;

/// How many `<base` that are no tags are reported.
const MOST_STRAYS: usize = 32;

/// A `meta` element is read so far. Tags that are longer are not, so that many that go on and on cost no more
/// than their length.
const LONGEST_DECLARATION: usize = 1_024;

/// Which declarations of a base are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bases {
    /// Those on which the base of the document depends.
    Decisive,
    /// All of them, and whatever looks like one.
    All,
}

/// What is known of a document before its links.
#[derive(Clone, Debug)]
pub(crate) struct Prelude {
    /// Its declarations of a base, the effective one first.
    pub(crate) bases: Vec<DeclaredBase>,
    /// What it says of having been saved.
    pub(crate) saved: Option<Saved>,
}

/// The encoding of a document, where it begins, and how the encoding was found. A declaration after the first 1024 bytes
/// counts, too: a browser changes the encoding when it comes to one (HTML, 13.2.3.5), and a declaration must not lose
/// its effect because the links before it grew.
pub(crate) fn encoding(bytes: &[u8], options: &ScanOptions) -> Detected {
    let mut found = Charset::detect(bytes, options.charset);
    if found.is_tentative()
        && let Some(charset) = late_declaration(bytes, options)
    {
        found = Detected { charset, declaration: Declaration::Meta, not_utf_8: None, ..found };
    }
    found
}

/// What `bytes`, which begin at `start` and are in an ASCII-compatible encoding, declare.
pub(crate) fn prelude(
    bytes: &[u8],
    start: usize,
    charset: Charset,
    options: &ScanOptions,
    wanted: Bases,
) -> Prelude {
    let saved = saved(bytes, options);
    let bases = match may_declare_base(&bytes[start..]) {
        true => bases(bytes, Span::new(start, bytes.len()), charset, options, wanted),
        false => Vec::new(),
    };
    Prelude { bases, saved }
}

/// What the document that begins with `bytes` says of having been saved.
pub(crate) fn saved(bytes: &[u8], options: &ScanOptions) -> Option<Saved> {
    if options.ignore_saved { None } else { saved::saved(bytes) }
}

/// True if `bytes` may declare a base: by an element, in a comment or not, or by a comment as Firefox writes it.
pub(crate) fn may_declare_base(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(saved::HEAD)];
    any_tag(bytes, b'b', |at| is_named(bytes, at, b"base"))
        || memmem::find(head, COMMENTED_BASE).is_some()
}

/// True if a tag `is` one of those that are sought, at the offset of its `<`. Their names begin with `letter`, in either case.
/// Two passes of memmem cost less than one that looks for both cases, because memmem compares 32 bytes at a time where it can.
fn any_tag(bytes: &[u8], letter: u8, mut is: impl FnMut(usize) -> bool) -> bool {
    let cases = [letter, letter.to_ascii_uppercase()];
    cases.into_iter().any(|letter| memmem::find_iter(bytes, &[b'<', letter]).any(&mut is))
}

/// True if `name`, in any case, follows the `<` at `at`.
fn is_named(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let found = bytes.get(at + 1..).and_then(|rest| rest.get(..name.len()));
    found.is_some_and(|found| found.eq_ignore_ascii_case(name))
}

/// Whether the `<` at `at` may begin a `meta` element that declares an encoding.
fn may_declare(bytes: &[u8], at: usize) -> bool {
    if !is_named(bytes, at, b"meta") {
        return false;
    }
    let end = bytes.len().min(at + LONGEST_DECLARATION);
    match tag::read(&bytes[..end], at) {
        Some(tag) => Charset::of_meta(&bytes[tag.span.range()]).is_some(),
        None => end < bytes.len(),
    }
}

/// The encoding that a `meta` element after the first 1024 bytes declares.
fn late_declaration(bytes: &[u8], options: &ScanOptions) -> Option<Charset> {
    // If nothing looks like one, there is none, whatever the tokenizer makes of it.
    if !any_tag(bytes, b'm', |at| may_declare(bytes, at)) {
        return None;
    }
    let names = Names::of(&ScanOptions::default());
    let (range, scanner) = (0..bytes.len(), options.scanner);
    engines::tokens(bytes, range, true, scanner, &names, &mut Metas { bytes }).err()
}

/// Whether the first `meta` element that declares an encoding, in a document that begins with `head`, declares `charset`.
pub(crate) fn declares(head: &[u8], charset: Charset) -> bool {
    late_declaration(&head[..head.len().min(saved::HEAD)], &ScanOptions::default()) == Some(charset)
}

/// Looks for the first `meta` element that declares an encoding.
struct Metas<'a> {
    bytes: &'a [u8],
}

impl Sink for Metas<'_> {
    type Stop = Charset;

    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        _text: TextModel,
    ) -> Result<(), Charset> {
        let is_meta = namespace == Namespace::Html && tag.is_named(self.bytes, "meta");
        let declared = if is_meta { Charset::of_meta(&self.bytes[tag.span.range()]) } else { None };
        declared.map_or(Ok(()), Err)
    }
}

/// The declarations of a base in `span`, the effective one first.
fn bases(
    bytes: &[u8],
    span: Span,
    charset: Charset,
    options: &ScanOptions,
    wanted: Bases,
) -> Vec<DeclaredBase> {
    let names = Names::of(options);
    let mut found = Vec::new();
    let whole = Markup { span, standing: Standing::First };
    let mut pending = vec![(0, whole)];
    while let Some((depth, Markup { span, standing })) = pending.pop() {
        let mut declared = BaseSink::new(bytes, span, standing, charset, options, wanted);
        let is_document = standing == Standing::First;
        let (range, scanner) = (span.range(), options.scanner);
        let read = engines::tokens(bytes, range, is_document, scanner, &names, &mut declared);
        declared.end_markup(span.end);
        match read {
            Ok(read) if is_document => stand(&mut declared.bases, read.facts.bases),
            Ok(_) | Err(BaseKnown) => {}
        }
        if wanted == Bases::Decisive {
            return decisive(declared.bases);
        }
        found.append(&mut declared.bases);
        if depth < DEEPEST {
            pending.extend(declared.markup.into_iter().map(|inner| (depth + 1, inner)));
        }
    }
    add_strays(&mut found, bytes, span.start);
    found
}

/// Gives each element its standing. Both are of one document.
fn stand(bases: &mut [DeclaredBase], mut standings: Vec<(usize, Standing)>) {
    standings.sort_unstable_by_key(|&(tag, _)| tag);
    let mut standings = standings.into_iter().peekable();
    // Both are in source order.
    for base in bases.iter_mut().filter(|base| base.kind == BaseKind::Element) {
        let tag = base.span.start;
        while standings.next_if(|&(at, _)| at < tag).is_some() {}
        let found = standings.next_if(|&(at, _)| at == tag);
        base.standing = found.map_or(Standing::Dropped, |(_, standing)| standing);
    }
}

/// Of `bases`, in source order, those on which the base of the document depends, the effective one first.
fn decisive(bases: Vec<DeclaredBase>) -> Vec<DeclaredBase> {
    let is_comment = |one: &DeclaredBase| one.kind == BaseKind::Comment;
    let is_effective = |one: &DeclaredBase| !is_comment(one) && one.standing == Standing::First;
    let effective = bases.iter().position(is_effective);
    let commented = bases.iter().position(|one| is_comment(one) && one.value.is_some());
    // What a browser wrote in the place of the effective one lies right before it.
    let before = effective.and_then(|at| at.checked_sub(1)).filter(|&at| is_comment(&bases[at]));
    let any = if effective.or(commented).is_none() { Some(0) } else { None };
    let mut kept: Vec<_> = bases
        .into_iter()
        .enumerate()
        .filter(|&(at, _)| [effective, commented, before, any].contains(&Some(at)))
        .map(|(_, base)| base)
        .collect();
    kept.sort_by_key(|base| (base.standing != Standing::First, base.span.start));
    kept
}

/// Nothing that comes later changes the base.
struct BaseKnown;

/// Looks for declarations of a base.
struct BaseSink<'a> {
    bytes: &'a [u8],
    end: usize,
    charset: Charset,
    options: &'a ScanOptions,
    wanted: Bases,
    /// What a `base` here is; [`Standing::First`] where one can count.
    standing: Standing,
    bases: Vec<DeclaredBase>,
    markup: Vec<Markup>,
    /// Where text begins that is markup to some.
    text: Option<usize>,
    /// How the next `base` element of HTML counts, as far as the walk knows.
    next: Standing,
    /// Whether a comment as Firefox writes it in the place of a `base` element was seen: one is looked at.
    has_commented_url: bool,
    has_effective: bool,
    has_comment: bool,
    has_commented_href: bool,
    /// Whether what comes after the effective one may move in front of it, or take it away.
    may_move: Option<bool>,
}

impl Sink for BaseSink<'_> {
    type Stop = BaseKnown;

    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), BaseKnown> {
        let name = &self.bytes[tag.name.range()];
        if is_fallback_content(namespace, name, text) {
            self.text = Some(tag.span.end);
        }
        if element_name(name) != "base" {
            return Ok(());
        }
        self.element(tag, namespace);
        match self.is_known(tag.span.end) {
            true => Err(BaseKnown),
            false => Ok(()),
        }
    }

    fn end_text(&mut self, at: usize) -> Result<(), BaseKnown> {
        self.end_markup(at);
        Ok(())
    }

    fn comment(&mut self, span: Span) -> Result<(), BaseKnown> {
        self.markup.extend(conditional_markup(self.bytes, span));
        self.commented(span);
        Ok(())
    }

    fn base(&mut self, standing: Standing) {
        self.next = standing;
    }
}

impl<'a> BaseSink<'a> {
    fn new(
        bytes: &'a [u8],
        span: Span,
        standing: Standing,
        charset: Charset,
        options: &'a ScanOptions,
        wanted: Bases,
    ) -> Self {
        Self {
            bytes,
            end: span.end,
            charset,
            options,
            wanted,
            standing,
            bases: Vec::new(),
            markup: Vec::new(),
            text: None,
            next: Standing::Later,
            has_commented_url: false,
            has_effective: false,
            has_comment: false,
            has_commented_href: false,
            may_move: None,
        }
    }

    /// Whether what comes from `at` on changes nothing. An element that a browser put in the place of another tells
    /// nothing where that had no href, and then a later one may; after the effective one, a later one may move in front
    /// of its table, and a frameset takes the body away, with the effective one in it.
    fn is_known(&mut self, at: usize) -> bool {
        if self.wanted == Bases::All || !self.has_effective {
            return false;
        }
        let may_move = || {
            let rest = &self.bytes[at..self.end];
            let moves = may_declare_base(rest) && holds_table(&self.bytes[..self.end]);
            moves || any_tag(rest, b'f', |at| is_named(rest, at, b"frameset"))
        };
        !*self.may_move.get_or_insert_with(may_move)
            && (!self.has_comment || self.has_commented_href)
    }

    /// The text that is markup to some ends at `end`.
    fn end_markup(&mut self, end: usize) {
        let span = self.text.take().map(|start| Span::new(start, end));
        let holds_tags = |span: &Span| memchr::memchr(b'<', &self.bytes[span.range()]).is_some();
        let standing = Standing::FallbackContent;
        self.markup.extend(span.filter(holds_tags).map(|span| Markup { span, standing }));
    }

    /// The comment that a browser wrote in the place of a `base` element when it saved the page.
    fn commented(&mut self, span: Span) {
        if self.standing != Standing::First || self.options.ignore_saved {
            return;
        }
        let value = if let Some(tag) = saved::commented_element(self.bytes, span) {
            self.href(&tag)
        } else if let Some(url) = saved::commented_url(self.bytes, span)
            && !std::mem::replace(&mut self.has_commented_url, true)
            && saved::is_in_head(self.bytes, span.start)
        {
            let url = self.charset.decode(&self.bytes[url.range()], url.start).text;
            Some(value::trim(&url).to_owned())
        } else {
            return;
        };
        self.has_comment = true;
        self.has_commented_href |= value.is_some();
        self.bases.push(DeclaredBase { value, ..DeclaredBase::of(BaseKind::Comment, span) });
    }

    /// The value of the `href` of a `base` element.
    fn href(&self, tag: &RawTag) -> Option<String> {
        let href = tag.attribute(self.bytes, "href")?.decoded(self.bytes, self.charset);
        Some(value::trim(&href.text).to_owned())
    }

    /// Notes a `base` element; how it counts is known once the tree is complete.
    fn element(&mut self, tag: &RawTag, namespace: Namespace) {
        let next = std::mem::replace(&mut self.next, Standing::Later);
        let standing = match (namespace, self.standing) {
            (Namespace::Html, Standing::First) => next,
            (Namespace::Html, standing) => standing,
            _ => Standing::Foreign,
        };
        self.has_effective |= standing == Standing::First;
        let declared = DeclaredBase::of(BaseKind::Element, tag.span);
        self.bases.push(DeclaredBase { value: self.href(tag), standing, ..declared });
    }
}

/// Adds each `<base` that is no start tag, so that it can be said why it does not count.
fn add_strays(bases: &mut Vec<DeclaredBase>, bytes: &[u8], start: usize) {
    let tag = |base: &DeclaredBase| match base.kind {
        BaseKind::Comment => base.span.start + b"<!--".len(),
        _ => base.span.start,
    };
    let mut known: Vec<usize> = bases.iter().map(tag).collect();
    known.sort_unstable();
    let is_stray = |&at: &usize| {
        let after = bytes.get(at + 5);
        bytes.get(at + 1..at + 5).is_some_and(|name| name.eq_ignore_ascii_case(b"base"))
            && after.is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'))
            && known.binary_search(&at).is_err()
    };
    let strays: Vec<usize> = memchr::memchr_iter(b'<', &bytes[start..])
        .map(|at| start + at)
        .filter(is_stray)
        .take(MOST_STRAYS)
        .collect();
    let mut left = strays.as_slice();
    let mut add = |until: usize, standing: Standing| {
        while let [at, rest @ ..] = left
            && *at < until
        {
            left = rest;
            let declared = DeclaredBase::of(BaseKind::Element, Span::new(*at, *at + 5));
            bases.push(DeclaredBase { standing, ..declared });
        }
    };
    if !strays.is_empty() {
        let mut between = Standing::CharacterData;
        let Ok(_) = walk::best_effort(bytes, start..bytes.len(), true, &mut |event: Event<'_>| {
            let (span, inside) = match event {
                Event::StartTag { tag, .. } | Event::EndTag { tag } => (tag.span, Standing::Tag),
                Event::Comment { span } => (span, Standing::Comment),
            };
            add(span.start, between);
            add(span.end, inside);
            between = match event {
                Event::StartTag { text: TextModel::Markup, .. } | Event::EndTag { .. } => {
                    Standing::CharacterData
                }
                Event::StartTag { .. } => Standing::RawText,
                Event::Comment { .. } => between,
            };
        });
        let end = if between == Standing::RawText { between } else { Standing::CutOff };
        add(bytes.len(), end);
    }
    bases.sort_by_key(|base| (base.standing != Standing::First, base.span.start));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HTML, 13.2.3.5.
    #[test]
    fn a_late_declaration_counts_however_long_its_tag_is() {
        for length in [0, LONGEST_DECLARATION, 2 * LONGEST_DECLARATION] {
            let (before, value) = (" ".repeat(1_024), "x".repeat(length));
            let page = format!("{before}<meta name='{value}' charset=koi8-r>");
            let found = encoding(page.as_bytes(), &ScanOptions::default());
            assert_eq!(found.charset.name(), "KOI8-R", "{length}");
        }
    }
}
