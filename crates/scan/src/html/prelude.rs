//! The lookahead in an HTML document: its encoding (HTML, 13.2.3), and the bases that it declares (HTML, 4.2.3).
//!
//! This is the only lookahead. A `base` element affects links before it, and so does a late declaration of the
//! encoding. Tags are read in advance only if a search of the bytes finds that either may exist.
//!
//! ```
//! use baselink_scan::{ScanOptions, scan};
//! let document = scan(b"<a href=x></a><base href=/docs/>", &ScanOptions::default());
//! assert_eq!(document.bases[0].value.as_deref(), Some("/docs/"));
//! ```
//!
//! Deliberately absent: the choice among the bases, which `baselink-rewrite` makes.

use baselink_text::{Charset, Detected, Span, format::starts_with, layer::charset::Declaration};
use memchr::memmem;

use super::{
    engines,
    pass::{Markup, conditional_markup, is_fallback_content},
    saved::{self, COMMENTED_BASE},
    sink::{Event, Sink, TextModel},
    tag::{self, RawTag},
    walk::{self, Names},
};
use crate::{
    ScanOptions,
    attributes::Namespace,
    collect::DEEPEST,
    document::{BaseKind, DeclaredBase, Saved, Standing},
    value,
};

/// The maximum number of reported occurrences of `<base` that are not tags.
const MOST_STRAYS: usize = 32;

/// The number of bytes of a `meta` tag that [`may_declare`] searches; a longer tag may declare an encoding. Without the
/// limit, many unterminated tags would take quadratic time.
const LONGEST_DECLARATION: usize = 1_024;

/// The encoding of a document, the offset of its text, and the source of the encoding. A declaration after the
/// first 1024 bytes counts, too: a browser changes the encoding when it reaches one (HTML, 13.2.3.4), and a
/// declaration must not lose its effect when rewritten links before it are longer.
pub fn encoding(bytes: &[u8], options: &ScanOptions) -> Detected {
    let mut found = Charset::detect(bytes, options.charset);
    if found.is_tentative()
        && let Some(charset) = meta_charset(bytes, options)
    {
        found = Detected {
            charset,
            declaration: Declaration::Meta,
            not_utf_8: None,
            ..found
        };
    }
    found
}

/// The note of the program that saved the document that begins with `bytes`.
pub fn saved(bytes: &[u8], options: &ScanOptions) -> Option<Saved> {
    if options.ignore_saved {
        None
    } else {
        saved::saved(bytes)
    }
}

/// True if `accepts` returns true for a tag whose name begins with `letter`, in either case. It receives the offset
/// of the tag's `<`. Two passes of memmem are faster than one search for both cases, because memmem compares up to 32
/// bytes at a time.
fn any_tag(bytes: &[u8], letter: u8, mut accepts: impl FnMut(usize) -> bool) -> bool {
    [letter, letter.to_ascii_uppercase()]
        .into_iter()
        .any(|letter| memmem::find_iter(bytes, &[b'<', letter]).any(&mut accepts))
}

/// True if `name`, in any case, follows the `<` at `at`.
fn is_named(bytes: &[u8], at: usize, name: &str) -> bool {
    starts_with(&bytes[at + 1..], name)
}

/// True if the `<` at `at` may begin a `meta` element that declares an encoding.
fn may_declare(bytes: &[u8], at: usize) -> bool {
    if !is_named(bytes, at, "meta") {
        return false;
    }
    let end = bytes.len().min(at + LONGEST_DECLARATION);
    match tag::read(&bytes[..end], at) {
        Some(tag) => Charset::of_meta(&bytes[tag.span.range()]).is_some(),
        None => end < bytes.len(),
    }
}

/// The encoding that the first `meta` element with an encoding declares, anywhere in `bytes`.
fn meta_charset(bytes: &[u8], options: &ScanOptions) -> Option<Charset> {
    // If no bytes look like a declaration, the tokenizer cannot find one either.
    if !any_tag(bytes, b'm', |at| may_declare(bytes, at)) {
        return None;
    }
    let names = Names::of(&ScanOptions::default());
    let (range, scanner) = (0..bytes.len(), options.scanner);
    let mut metas = MetaSink { bytes, found: None };
    engines::tokens(bytes, range, true, scanner, &names, &mut metas);
    metas.found
}

/// True if the first `meta` element with an encoding declares `charset`. `head` begins the document; only its first
/// [`saved::HEAD`] bytes are searched.
pub fn declares(head: &[u8], charset: Charset) -> bool {
    meta_charset(
        &head[..head.len().min(saved::HEAD)],
        &ScanOptions::default(),
    ) == Some(charset)
}

/// Searches for the first `meta` element that declares an encoding.
struct MetaSink<'a> {
    bytes: &'a [u8],
    found: Option<Charset>,
}

impl Sink for MetaSink<'_> {
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, _text: TextModel) {
        let is_meta = namespace == Namespace::Html && tag.is_named(self.bytes, "meta");
        if is_meta && self.found.is_none() {
            self.found = Charset::of_meta(&self.bytes[tag.span.range()]);
        }
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }
}

/// The declarations of a base in `bytes` from `start` on, in an ASCII-compatible encoding. The effective one comes
/// first, followed by everything that looks like a declaration.
pub fn bases(
    bytes: &[u8],
    start: usize,
    charset: Charset,
    options: &ScanOptions,
) -> Vec<DeclaredBase> {
    let mut found = Vec::new();
    let candidates = candidates(bytes, start);
    let head = &bytes[start..bytes.len().min(start + saved::HEAD)];
    let has_comment = memmem::find(head, COMMENTED_BASE).is_some();
    if candidates.is_empty() && !has_comment {
        return found;
    }
    let only = only_candidate(bytes, start, &candidates).filter(|_| !has_comment);
    let names = Names::of(options);
    let whole = Markup {
        span: Span::new(start, bytes.len()),
        standing: Standing::First,
    };
    let mut pending = vec![(0, whole)];
    while let Some((depth, Markup { span, standing })) = pending.pop() {
        let is_document = standing == Standing::First;
        let (bases, markup, text) = (Vec::new(), Vec::new(), None);
        let last = only.filter(|_| is_document);
        let mut declared = BaseSink {
            bytes,
            charset,
            options,
            standing,
            bases,
            markup,
            text,
            has_commented_url: false,
            last,
            is_done: false,
        };
        let (range, scanner) = (span.range(), options.scanner);
        let read = engines::tokens(bytes, range, is_document, scanner, &names, &mut declared);
        declared.end_markup(span.end);
        if is_document {
            assign_standings(&mut declared.bases, read.facts.bases);
        }
        found.append(&mut declared.bases);
        if depth < DEEPEST {
            pending.extend(declared.markup.into_iter().map(|inner| (depth + 1, inner)));
        }
    }
    add_strays(&mut found, bytes, start, &candidates);
    found
}

/// The offsets in `bytes`, from `start` on, of text that looks like a `base` tag, in any context.
fn candidates(bytes: &[u8], start: usize) -> Vec<usize> {
    let mut found = Vec::new();
    any_tag(&bytes[start..], b'b', |at| {
        let is_base = is_named(&bytes[start..], at, "base");
        found.extend(is_base.then_some(start + at));
        false
    });
    found.sort_unstable();
    found
}

/// The only candidate, if there is just one and nothing after it can affect bases. A `frameset` can affect them: it
/// removes the body and the elements in it (HTML, 13.2.6.4.7).
fn only_candidate(bytes: &[u8], start: usize, candidates: &[usize]) -> Option<usize> {
    let &[only] = candidates else { return None };
    let may_be_removed = any_tag(&bytes[start..], b'f', |at| {
        is_named(&bytes[start..], at, "frameset")
    });
    (!may_be_removed).then_some(only)
}

/// Assigns its standing to each `base` element of a document.
fn assign_standings(bases: &mut [DeclaredBase], mut standings: Vec<(usize, Standing)>) {
    standings.sort_unstable_by_key(|&(tag, _)| tag);
    let mut standings = standings.into_iter().peekable();
    // Now both lists are in source order.
    for base in bases
        .iter_mut()
        .filter(|base| base.kind == BaseKind::Element)
    {
        let tag = base.span.start;
        while standings.next_if(|&(at, _)| at < tag).is_some() {}
        let found = standings.next_if(|&(at, _)| at == tag);
        base.standing = found.map_or(Standing::Dropped, |(_, standing)| standing);
    }
}

/// Collects declarations of a base.
struct BaseSink<'a> {
    bytes: &'a [u8],
    charset: Charset,
    options: &'a ScanOptions,
    /// The standing of a `base` in the scanned range; [`Standing::First`] if it can be effective.
    standing: Standing,
    bases: Vec<DeclaredBase>,
    markup: Vec<Markup>,
    /// The start of text that some readers treat as markup.
    text: Option<usize>,
    /// True after the first comment that Firefox wrote in place of a `base` element. Later comments of this kind are
    /// ignored.
    has_commented_url: bool,
    /// The offset of the last tag that can matter, if known.
    last: Option<usize>,
    is_done: bool,
}

impl Sink for BaseSink<'_> {
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel) {
        let name = &self.bytes[tag.name.range()];
        if is_fallback_content(namespace, name, text) {
            self.text = Some(tag.span.end);
        }
        if tag.is_named(self.bytes, "base") {
            // In a document, the complete tree decides on the standing later.
            let is_html = namespace == Namespace::Html;
            let standing = if is_html {
                self.standing
            } else {
                Standing::Foreign
            };
            let declared = DeclaredBase::of(BaseKind::Element, tag.span);
            self.bases.push(DeclaredBase {
                value: self.href(tag),
                standing,
                ..declared
            });
        }
        self.pass(tag.span);
    }

    fn end_text(&mut self, at: usize) {
        self.end_markup(at);
    }

    fn comment(&mut self, span: Span) {
        self.markup.extend(conditional_markup(self.bytes, span));
        self.commented(span);
        self.pass(span);
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl BaseSink<'_> {
    /// Records that the bytes up to the end of `span` were read.
    fn pass(&mut self, span: Span) {
        self.is_done = self.text.is_none() && self.last.is_some_and(|last| last < span.end);
    }

    /// Ends the text that some readers treat as markup.
    fn end_markup(&mut self, end: usize) {
        let span = self.text.take().map(|start| Span::new(start, end));
        let standing = Standing::FallbackContent;
        self.markup.extend(
            span.filter(|span| memchr::memchr(b'<', &self.bytes[span.range()]).is_some())
                .map(|span| Markup { span, standing }),
        );
    }

    /// Reads a comment with which a browser replaced a `base` element when it saved the page.
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
            let url = self
                .charset
                .decode(&self.bytes[url.range()], url.start)
                .text;
            Some(value::trim(&url).to_owned())
        } else {
            return;
        };
        self.bases.push(DeclaredBase {
            value,
            ..DeclaredBase::of(BaseKind::Comment, span)
        });
    }

    /// The trimmed value of the `href` of a `base` element.
    fn href(&self, tag: &RawTag) -> Option<String> {
        let href = tag
            .attribute(self.bytes, "href")?
            .decoded(self.bytes, self.charset);
        Some(value::trim(&href.text).to_owned())
    }
}

/// Adds each of the `candidates` that is not a start tag, so that a report can explain why it has no effect.
fn add_strays(bases: &mut Vec<DeclaredBase>, bytes: &[u8], start: usize, candidates: &[usize]) {
    let tag = |base: &DeclaredBase| match base.kind {
        BaseKind::Comment => base.span.start + b"<!--".len(),
        _ => base.span.start,
    };
    let mut known: Vec<usize> = bases.iter().map(tag).collect();
    known.sort_unstable();
    let is_stray = |at: &usize| {
        bytes
            .get(at + b"<base".len())
            .is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'))
            && known.binary_search(at).is_err()
    };
    let strays: Vec<usize> = candidates
        .iter()
        .copied()
        .filter(is_stray)
        .take(MOST_STRAYS)
        .collect();
    let mut remaining = strays.as_slice();
    let mut add = |until: usize, standing: Standing| {
        while let [at, rest @ ..] = remaining
            && *at < until
        {
            remaining = rest;
            let declared = DeclaredBase::of(BaseKind::Element, Span::new(*at, *at + 5));
            bases.push(DeclaredBase {
                standing,
                ..declared
            });
        }
    };
    if !strays.is_empty() {
        let mut between = Standing::CharacterData;
        walk::best_effort(
            bytes,
            start..bytes.len(),
            true,
            true,
            &mut |event: Event<'_>| {
                let (span, inside) = match event {
                    Event::Tag(tag, _) => (tag.span, Standing::Tag),
                    Event::Comment(span) => (span, Standing::Comment),
                };
                add(span.start, between);
                add(span.end, inside);
                between = match event {
                    Event::Tag(_, TextModel::Markup) => Standing::CharacterData,
                    Event::Tag(..) => Standing::RawText,
                    Event::Comment(_) => between,
                };
            },
        );
        let end = if between == Standing::RawText {
            between
        } else {
            Standing::CutOff
        };
        add(bytes.len(), end);
    }
    bases.sort_by_key(|base| (base.standing != Standing::First, base.span.start));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HTML, 13.2.3.4.
    #[test]
    fn a_meta_charset_counts_however_long_its_tag_is() {
        for length in [0, LONGEST_DECLARATION, 2 * LONGEST_DECLARATION] {
            let (before, value) = (" ".repeat(1_024), "x".repeat(length));
            let page = format!("{before}<meta name='{value}' charset=koi8-r>");
            let found = encoding(page.as_bytes(), &ScanOptions::default());
            assert_eq!(found.charset.name(), "KOI8-R", "{length}");
        }
    }
}
