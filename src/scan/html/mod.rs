//! HTML to a [`Document`]: every link of `docs/links.md` as it stands in the bytes, and every `base`
//! element with its standing (HTML, 4.2.3).
//!
//! [`engines`] says which tags there are; a pass looks them up in
//! [`super::attributes`] and takes values apart; this file puts the passes over a document together. Text
//! that is markup to somebody (`noscript`, conditional comments) is scanned in place; a `srcdoc` is a
//! document of its own.
//!
//! ```
//! use baselink::document::Standing;
//! let page = b"<base target=_top><base href=/a/><img srcset='b 1x, c 2x'>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! let references: Vec<_> = document.links.iter().map(|link| link.reference.as_str()).collect();
//! assert_eq!(references, ["/a/", "b", "c"]);
//! assert_eq!(document.bases[0].standing, Standing::First);
//! ```
//!
//! Deliberately absent: bases at work. Which base a link has, and to which target it leads, is decided
//! elsewhere.

mod engines;
mod exact;
pub(crate) mod flow;
mod pass;
pub mod saved;
pub(crate) mod sink;
pub(crate) mod tag;
pub(crate) mod walk;

use std::sync::Arc;

use self::pass::Pass;
use self::sink::{Event, TextModel};
use self::tag::RawTag;
use super::ScanOptions;
use super::attributes::Namespace;
use super::collect::{Embedded, unknown};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{
    Against, BaseKind, DeclaredBase, Decoded, Document, Head, Piece, Standing, entity_name,
};
use crate::format::Format;
use crate::layer::View;
use crate::layer::charset::{Charset, Declaration};
use crate::layer::spelling::{Carrier, Form, Spelling};
use crate::span::Span;

/// How deep documents and fallback content may nest in each other.
///
/// Each level is scanned on its own, so that the work is at most this many times the input.
const DEEPEST: usize = 16;

/// How many `<base` that are no tags are reported.
const MOST_STRAYS: usize = 32;

/// Scans `bytes` as HTML.
pub(crate) fn scan(bytes: &[u8], options: &ScanOptions) -> Document {
    let mut found = Charset::detect(bytes, options.charset);
    if found.declaration == Declaration::Assumed
        && let Some(charset) = late_declaration(bytes)
    {
        found.charset = charset;
    }
    let says = |text| if options.ignore_saved { None } else { saved::saved(text) };
    if found.charset.is_ascii_compatible() {
        let mut document = Nested::outermost(options).document(bytes, found.mark, found.charset);
        document.charset = found.charset;
        document.saved = says(bytes);
        return document;
    }
    let View { text, map } = found.charset.decode(&bytes[found.mark..], found.mark);
    let mut document = Nested::outermost(options).document(text.as_bytes(), 0, Charset::UTF_8);
    document.charset = found.charset;
    document.saved = says(text.as_bytes());
    let spelling = Spelling { form: Form::Document, carrier: Carrier::Raw, enclosed: false };
    document.decoded = Some(Decoded { text, map, spelling, pieces: Vec::new() });
    document
}

/// Whether html5ever, with a tree that keeps lists of children, takes no more than linear time on `text`.
pub(crate) fn has_affordable_tree(text: &[u8]) -> bool {
    exact::scan(text, 0..text.len(), true, &mut |_: Event<'_>| {})
        .is_ok_and(|facts| !facts.is_crowded)
}

/// The encoding that a `meta` element behind the first 1024 bytes declares. A browser, too, changes the
/// encoding when it comes to one (HTML, 13.2.3.5); and a declaration must not lose its effect because
/// the links before it grew.
fn late_declaration(bytes: &[u8]) -> Option<Charset> {
    // Where nothing looks like one, whatever the tokenizer makes of it, there is none.
    if !memchr::memchr_iter(b'<', bytes).any(|at| may_declare(bytes, at)) {
        return None;
    }
    if let Ok(declared) = flow::declared(bytes) {
        return declared;
    }
    let mut declared = None;
    let Ok(_) = walk::best_effort(bytes, 0..bytes.len(), true, &mut |event: Event<'_>| {
        if let Event::StartTag { tag, namespace: Namespace::Html, .. } = event
            && declared.is_none()
        {
            declared = declared_by(bytes, tag);
        }
    });
    declared
}

/// The encoding that a tag declares.
fn declared_by(bytes: &[u8], tag: &RawTag) -> Option<Charset> {
    let is_meta = bytes[tag.name.range()].eq_ignore_ascii_case(b"meta");
    is_meta.then(|| Charset::of_meta(&bytes[tag.span.range()]))?
}

/// A `meta` element is read so far. Tags that are longer are not, so that many that go on and on cost no more
/// than their length.
pub(crate) const LONGEST_DECLARATION: usize = 1_024;

/// Whether the `<` at `at` may begin a `meta` element that declares an encoding.
pub(crate) fn may_declare(bytes: &[u8], at: usize) -> bool {
    let name = bytes.get(at + 1..at + 5);
    if !name.is_some_and(|name| name.eq_ignore_ascii_case(b"meta")) {
        return false;
    }
    let end = bytes.len().min(at + LONGEST_DECLARATION);
    match tag::read(&bytes[..end], at) {
        Some(tag) => Charset::of_meta(&bytes[tag.span.range()]).is_some(),
        None => end < bytes.len(),
    }
}

/// Where a document stands among documents.
struct Nested<'o> {
    options: &'o ScanOptions,
    entity: Arc<str>,
    depth: usize,
    /// Whether all of it lies in something that `<` and `>` could end.
    enclosed: bool,
}

/// Markup in place that is scanned on its own once the rest is known; no base counts in it.
struct Markup {
    span: Span,
    /// What a `base` in it is.
    standing: Standing,
}

impl<'o> Nested<'o> {
    fn outermost(options: &'o ScanOptions) -> Self {
        Self { options, entity: Arc::clone(&options.entity), depth: 0, enclosed: false }
    }

    fn document(&self, bytes: &[u8], start: usize, charset: Charset) -> Document {
        let mut document = Document::empty(Arc::clone(&self.entity), Format::Html, charset);
        let whole = Markup { span: Span::new(start, bytes.len()), standing: Standing::First };
        let mut pending = vec![(self.depth, whole)];
        let mut srcdocs = Vec::new();
        while let Some((depth, Markup { span, standing })) = pending.pop() {
            if depth > DEEPEST {
                too_deep(&mut document, span);
                continue;
            }
            let pass = Pass::over(bytes, span, standing, self.enclosed, charset, self.options);
            if standing == Standing::First {
                let at = pass.head_position(span);
                document.head = Some(Head { at, prefix: String::new(), is_xml: false });
                document.without_tree = pass.without_tree;
                document.ids = pass.ids;
            }
            document.fallback = document.fallback.or(pass.fallback);
            document.links.extend(pass.collector.links);
            document.bases.extend(pass.bases);
            document.diagnostics.extend(pass.diagnostics);
            pending.extend(pass.markup.into_iter().map(|inner| (depth + 1, inner)));
            let embedded = pass.collector.embedded;
            srcdocs.extend(embedded.into_iter().map(|inner| (depth + 1, inner)));
        }
        document.links.sort_by_key(|link| link.span().start);
        add_strays(&mut document.bases, bytes, start);
        srcdocs.sort_by_key(|(_, srcdoc)| srcdoc.value.map.source().start);
        for (depth, srcdoc) in srcdocs {
            if depth > DEEPEST {
                too_deep(&mut document, srcdoc.value.map.source());
            } else {
                let part = self.srcdoc(srcdoc, depth, document.parts.len() + 1);
                document.parts.push(part);
            }
        }
        document
    }

    /// The document in the `number`th `srcdoc` of this one.
    fn srcdoc(&self, srcdoc: Embedded, depth: usize, number: usize) -> Document {
        embedded(srcdoc, self.options, entity_name(&self.entity, number), depth)
    }
}

/// The HTML document in a value, `depth` documents deep; it is called `entity`.
pub(super) fn embedded(
    found: Embedded,
    options: &ScanOptions,
    entity: Arc<str>,
    depth: usize,
) -> Document {
    let Embedded { value: View { text, map }, carrier, pieces, entities, enclosed, within } = found;
    let in_cdata =
        carrier == Carrier::CData || pieces.iter().any(|(_, one)| *one == Carrier::CData);
    let nested = Nested { options, entity, depth, enclosed: in_cdata };
    let mut document = nested.document(text.as_bytes(), 0, Charset::UTF_8);
    let has_unknown = entities.iter().any(|entity| !entity.is_known);
    for link in document.links.iter_mut().filter(|_| has_unknown) {
        if unknown(&entities, link.span()) == Some(true) {
            link.against = Against::Unknown;
        }
    }
    let spelling = Spelling { form: Form::Document, carrier, enclosed };
    let piece = |(span, carrier)| Some(Piece { span, carrier, map: map.slice(span)? });
    let pieces = pieces.into_iter().filter_map(piece).collect();
    document.within = within;
    document.decoded = Some(Decoded { text, map, spelling, pieces });
    document
}

fn too_deep(document: &mut Document, span: Span) {
    document.diagnostics.push(Diagnostic::new(
        Code::TooDeep,
        span,
        format!("documents nest more than {DEEPEST} deep here; what is inside was left"),
    ));
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
            let span = Span::new(*at, *at + 5);
            let kind = BaseKind::Element;
            bases.push(DeclaredBase {
                kind,
                span,
                value: None,
                is_known: true,
                standing,
                removable: None,
            });
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
