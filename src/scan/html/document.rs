//! An HTML document with all that is in it: its bases, its links, and the documents in values.
//!
//! ```
//! let page = b"<iframe srcdoc='<a href=x>'></iframe><a href=y>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "y");
//! assert_eq!(document.parts[0].links[0].reference, "x");
//! ```
//!
//! Deliberately absent: what a link comes to mean.

use std::convert::Infallible;
use std::sync::Arc;

use super::pass::{self, Links, Part, Plain, Whole};
use super::prelude::{self, Bases, Prelude, is_before_doctype, prelude};
use super::sink::Event;
use super::tag::{self, RawTag};
use super::walk::{self, declaration_end};
use crate::diagnostic::Diagnostic;
use crate::document::{Against, Decoded, Document, Head, Link, Piece};
use crate::format::Format;
use crate::layer::View;
use crate::layer::charset::{Charset, Detected};
use crate::layer::spelling::{Carrier, Form, Spelling};
use crate::scan::ScanOptions;
use crate::scan::collect::{Embedded, unknown};

/// Scans `bytes` as HTML.
pub(crate) fn scan(bytes: &[u8], options: &ScanOptions) -> Document {
    let Detected { charset, mark, not_utf_8, prescanned, .. } = prelude::encoding(bytes, options);
    let outermost = |bytes, start, charset| {
        let entity = Arc::clone(&options.entity);
        document(
            &Whole { bytes, start, charset, entity, depth: 0, enclosed: false, tentative: None },
            options,
        )
    };
    if charset.is_ascii_compatible() {
        return Document { not_utf_8, prescanned, ..outermost(bytes, mark, charset) };
    }
    let decoded = Decoded::of_file(bytes, mark, charset);
    let document = outermost(decoded.text.as_bytes(), 0, Charset::UTF_8);
    Document { charset, decoded: Some(decoded), ..document }
}

/// A document with all that is in it.
fn document(whole: &Whole<'_>, options: &ScanOptions) -> Document {
    let mut document = Document::empty(Arc::clone(&whole.entity), Format::Html, whole.charset);
    let Prelude { bases, saved } =
        prelude(whole.bytes, whole.start, whole.charset, options, Bases::All);
    (document.bases, document.saved) = (bases, saved.filter(|_| whole.depth == 0));
    document.head = head(whole.bytes, whole.start);
    let mut collecting = Collecting { found: document, options };
    let Ok(scanned) = pass::links(whole, options, &mut collecting);
    let mut document = collecting.found;
    (document.fallback, document.without_tree) = (scanned.fallback, scanned.without_tree);
    document
}

/// Takes links into a document.
struct Collecting<'a> {
    found: Document,
    options: &'a ScanOptions,
}

impl Links for Collecting<'_> {
    type End = Infallible;

    fn plain(&mut self, _bytes: &[u8], _found: &Plain) -> bool {
        false
    }

    fn link(&mut self, _bytes: &[u8], link: Link) -> Result<(), Infallible> {
        self.found.links.push(link);
        Ok(())
    }

    fn part(&mut self, _bytes: &[u8], part: Part) -> Result<(), Infallible> {
        self.found.parts.push(embedded(part, self.options));
        Ok(())
    }

    fn id(&mut self, id: String) {
        self.found.ids.push(id);
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.found.diagnostics.push(diagnostic);
    }
}

/// Where a `base` element would be the first child of `head`, its start tag implied or not. Nowhere where the document ends
/// in its doctype, which would not count after a tag (HTML, 13.2.6.4.1).
pub(crate) fn head(bytes: &[u8], start: usize) -> Option<Head> {
    let at = before_head(bytes, start);
    if is_before_doctype(&bytes[at..]) {
        return None;
    }
    let at = start_tag_at(bytes, at, "head").unwrap_or(at);
    Some(Head { at, prefix: String::new(), is_xml: false })
}

/// After all that can be before a `head` element.
fn before_head(bytes: &[u8], start: usize) -> usize {
    let at = skip_leading(bytes, start);
    start_tag_at(bytes, at, "html").map_or(at, |end| skip_leading(bytes, end))
}

/// Whether a tag at `at` is a child of the `head` element for certain, and no reason that there is one: the start tag of that
/// is written, and nothing but whole elements that belong there is before `at` (HTML, 13.2.6.4.4).
pub(crate) fn is_in_written_head(bytes: &[u8], start: usize, at: usize) -> bool {
    let Some(head) = start_tag_at(bytes, before_head(bytes, start), "head").filter(|&to| to <= at)
    else {
        return false;
    };
    let (mut end, mut is_certain, mut in_text) = (head, true, false);
    let Ok(_) = walk::best_effort(bytes, head..at, true, &mut |event: Event<'_>| {
        let named =
            |tag: &RawTag, names: &[&str]| names.iter().any(|name| tag.is_named(bytes, name));
        let (span, holds_text, belongs) = match event {
            Event::Comment { span } => (span, false, true),
            Event::StartTag { tag, .. } => {
                let holds_text = named(tag, &TEXTS_OF_HEAD);
                (tag.span, holds_text, holds_text || named(tag, &VOID_IN_HEAD))
            }
            Event::EndTag { tag } => (tag.span, false, named(tag, &TEXTS_OF_HEAD)),
        };
        let is_apart = in_text || bytes[end..span.start].trim_ascii().is_empty();
        (end, is_certain, in_text) = (span.end, is_certain && belongs && is_apart, holds_text);
    });
    is_certain && !in_text && bytes[end..at].trim_ascii().is_empty()
}

/// Elements of a `head` that hold text.
const TEXTS_OF_HEAD: [&str; 3] = ["title", "style", "script"];

/// Those without content.
const VOID_IN_HEAD: [&str; 3] = ["base", "link", "meta"];

/// Where the start tag at `at` ends, if there is one and it is called `name`.
fn start_tag_at(bytes: &[u8], at: usize, name: &str) -> Option<usize> {
    let begins = bytes.get(at + 1..).and_then(|rest| rest.get(..name.len()));
    if bytes.get(at) != Some(&b'<')
        || !begins.is_some_and(|begins| begins.eq_ignore_ascii_case(name.as_bytes()))
    {
        return None;
    }
    let tag = tag::read(bytes, at)?;
    tag.is_named(bytes, name).then_some(tag.span.end)
}

/// After white space, comments and declarations that are complete.
fn skip_leading(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &bytes[at..];
        let blank = rest.len() - rest.trim_ascii_start().len();
        if !matches!(rest[blank..], [b'<', b'!' | b'?', ..]) {
            return at + blank;
        }
        // Nothing can come after a comment that the document ends in.
        let Some(end) = declaration_end(bytes, at + blank, false) else {
            return at + blank;
        };
        at = end;
    }
}

/// The HTML document in a value.
pub(crate) fn embedded(part: Part, options: &ScanOptions) -> Document {
    let Part { found, entity, depth } = part;
    let Embedded { value: View { text, map }, carrier, pieces, entities, enclosed, within } = found;
    let in_cdata =
        carrier == Carrier::CData || pieces.iter().any(|(_, one)| *one == Carrier::CData);
    let bytes = text.as_bytes();
    let (start, charset) = (0, Charset::UTF_8);
    let whole = Whole { bytes, start, charset, entity, depth, enclosed: in_cdata, tentative: None };
    let mut document = self::document(&whole, options);
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
    document.decoded = Some(Decoded { text, map, spelling, pieces, has_roman: false });
    document
}
