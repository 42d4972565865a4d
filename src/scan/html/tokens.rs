//! The scanner without a tree: the tokenizer states of HTML (13.2.5) over bytes, with just as much of
//! tree construction as changes them (raw text by element name, foreign content).
//!
//! It is what remains where html5ever would take too long (see [`super::exact`]), and the token stream
//! that `--verify` compares there. Linear in time and memory on any input.
//!
//! ```
//! use baselink::scan::html::{tokens, Event};
//! let bytes = b"<script>'<a href=x>'</script><a href=y>";
//! let mut links = 0;
//! tokens::scan(bytes, 0..bytes.len(), true, &mut |event| {
//!     links += usize::from(matches!(event, Event::StartTag { tag, .. } if tag.name.len() == 1));
//! });
//! assert_eq!(links, 1);
//! ```
//!
//! Deliberately absent: foster parenting, implied tags and everything else that moves elements; the
//! first `base` is the first as written.

use std::collections::HashMap;
use std::ops::Range;

use super::tag::{Progress, RawTag, TagReader};
use super::{Event, Namespace, Standing, TextModel, TreeFacts};
use crate::span::Span;

/// Start tags that end foreign content (HTML, 13.2.6.5); `font` does with some attributes only.
pub(super) const BREAKOUT: [&str; 44] = [
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "i",
    "img",
    "li",
    "listing",
    "menu",
    "meta",
    "nobr",
    "ol",
    "p",
    "pre",
    "ruby",
    "s",
    "small",
    "span",
    "strong",
    "strike",
    "sub",
    "sup",
    "table",
    "tt",
    "u",
    "ul",
    "var",
];

/// Elements whose content is markup again although they are foreign (HTML, 13.2.4.2).
const INTEGRATION_POINTS: &[&str] =
    &["foreignobject", "desc", "title", "mi", "mo", "mn", "ms", "mtext", "annotation-xml"];

/// How many open foreign elements an end tag is compared with.
const NEAR: usize = 32;

/// Scans `range` of `bytes` and reports every token that can matter, in source order.
///
/// Offsets are those of `bytes`; `scripting` decides whether `noscript` holds text or markup.
pub fn scan(
    bytes: &[u8],
    range: Range<usize>,
    scripting: bool,
    event: &mut dyn FnMut(Event<'_>),
) -> TreeFacts {
    let mut open = Open::default();
    let mut facts = TreeFacts::default();
    let bytes = &bytes[..range.end];
    let mut at = range.start;
    while let Some(length) = memchr::memchr(b'<', &bytes[at..]) {
        at += length;
        let mut reader = TagReader::new(at);
        match reader.read(bytes, at, bytes.len()) {
            // The tag is cut off by the end of the document and with it dropped.
            Progress::More => break,
            Progress::Complete => {
                let tag = reader.into_tag();
                at = tag.span.end;
                if tag.end_tag {
                    open.close(bytes, &tag);
                    event(Event::EndTag { tag: &tag });
                    continue;
                }
                let name = bytes[tag.name.range()].to_ascii_lowercase();
                let namespace = open.namespace_of(bytes, &tag, &name);
                let text = text_model(namespace, &name, scripting);
                if name == b"base" {
                    facts.bases.push((tag.span.start, open.standing(bytes, &tag, namespace)));
                }
                event(Event::StartTag { tag: &tag, namespace, text });
                at = match text {
                    TextModel::Markup => at,
                    TextModel::Plaintext => bytes.len(),
                    _ if name == b"script" => script_end(bytes, at),
                    _ => raw_text_end(bytes, at, &name),
                };
            }
            opened @ (Progress::Declaration | Progress::NotATag) => {
                let end = declaration_end(bytes, at, open.is_foreign()).unwrap_or(bytes.len());
                let rest = &bytes[at..];
                let is_section = open.is_foreign() && rest.starts_with(b"<![CDATA[");
                if opened == Progress::Declaration || rest.starts_with(b"<![") && !is_section {
                    event(Event::Comment { span: Span::new(at, end) });
                }
                at = end;
            }
        }
    }
    facts.bases.sort_by_key(|&(tag, standing)| (standing != Standing::First, tag));
    facts
}

fn text_model(namespace: Namespace, name: &[u8], scripting: bool) -> TextModel {
    if namespace != Namespace::Html {
        return TextModel::Markup;
    }
    match name {
        b"title" | b"textarea" => TextModel::Rcdata,
        b"style" | b"script" | b"xmp" | b"iframe" | b"noembed" | b"noframes" => TextModel::RawText,
        b"noscript" if scripting => TextModel::RawText,
        b"plaintext" => TextModel::Plaintext,
        _ => TextModel::Markup,
    }
}

/// Whether `bytes` goes on at `at` with `name` in any case and then white space, `/` or `>`.
fn is_name_at(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + name.len();
    bytes.get(at..end).is_some_and(|word| word.eq_ignore_ascii_case(name))
        && matches!(bytes.get(end), Some(b'\t' | b'\n' | 0x0c | b'\r' | b' ' | b'/' | b'>'))
}

/// Where the raw text or RCDATA that begins at `from` ends: at its end tag, else at the end.
pub(super) fn raw_text_end(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    memchr::memchr_iter(b'<', &bytes[from..])
        .map(|length| from + length)
        .find(|&at| bytes.get(at + 1) == Some(&b'/') && is_name_at(bytes, at + 2, name))
        .unwrap_or(bytes.len())
}

/// Where the script that begins at `from` ends, through its escaped states (13.2.5.15 to 13.2.5.31).
pub(super) fn script_end(bytes: &[u8], from: usize) -> usize {
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
        let found = match state {
            State::Data => memchr::memchr(b'<', &bytes[at..]),
            State::Escaped | State::DoubleEscaped => memchr::memchr2(b'<', b'-', &bytes[at..]),
        };
        let Some(length) = found else {
            return bytes.len();
        };
        at += length;
        let rest = &bytes[at..];
        if rest.starts_with(b"-->") && state != State::Data {
            state = State::Data;
        } else if rest.starts_with(b"<!--") && state == State::Data {
            state = State::Escaped;
            // The two dashes that open it may be those of the `-->` that ends it.
            at += 1;
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
pub(super) fn declaration_end(bytes: &[u8], at: usize, foreign: bool) -> Option<usize> {
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

/// Which elements that change the meaning of what follows are open.
#[derive(Default)]
struct Open {
    /// Foreign elements and integration points, outermost first, by lower-case name.
    foreign: Vec<(Namespace, Vec<u8>)>,
    /// How many HTML elements of the names in [`BREAKOUT`], and `a`, were opened and not closed.
    html: HashMap<&'static str, usize>,
    templates: usize,
    first_base_seen: bool,
}

impl Open {
    fn is_foreign(&self) -> bool {
        self.foreign.last().is_some_and(|(namespace, _)| *namespace != Namespace::Html)
    }

    /// The namespace of the element that `tag` makes; remembers it where it matters.
    fn namespace_of(&mut self, bytes: &[u8], tag: &RawTag, name: &[u8]) -> Namespace {
        let known = std::str::from_utf8(name).unwrap_or_default();
        if self.is_foreign() && (BREAKOUT.contains(&known) || is_html_font(bytes, tag, name)) {
            self.leave_foreign();
        }
        let inside = self.foreign.last().map_or(Namespace::Html, |(namespace, _)| *namespace);
        let namespace = match name {
            b"svg" if inside == Namespace::Html => Namespace::Svg,
            b"math" if inside == Namespace::Html => Namespace::MathMl,
            _ => inside,
        };
        if name == b"template" && namespace == Namespace::Html {
            self.templates += 1;
        }
        if namespace == Namespace::Html
            && let Some(name) = counted(known)
        {
            *self.html.entry(name).or_default() += 1;
        }
        if namespace == Namespace::Html || tag.self_closing {
            return namespace;
        }
        if matches!(name, b"svg" | b"math") {
            self.foreign.push((namespace, name.to_vec()));
        } else if INTEGRATION_POINTS.contains(&known)
            && is_integration_point(bytes, tag, namespace, name)
        {
            self.foreign.push((Namespace::Html, name.to_vec()));
        }
        namespace
    }

    /// Pops foreign elements up to an integration point or out of foreign content (13.2.6.5).
    fn leave_foreign(&mut self) {
        while self.is_foreign() {
            self.foreign.pop();
        }
    }

    fn close(&mut self, bytes: &[u8], tag: &RawTag) {
        let name = bytes[tag.name.range()].to_ascii_lowercase();
        if name == b"template" {
            self.templates = self.templates.saturating_sub(1);
        }
        let known = std::str::from_utf8(&name).unwrap_or_default();
        let open =
            counted(known).and_then(|name| self.html.get_mut(name)).filter(|open| **open > 0);
        let was_open = open.map(|open| *open -= 1).is_some();
        // An HTML element that is closed here was open around the foreign ones.
        if self.is_foreign() && (was_open || matches!(known, "p" | "br")) {
            self.leave_foreign();
        } else if self.foreign.iter().rev().take(NEAR).any(|(_, open)| *open == name) {
            while self.foreign.pop().is_some_and(|(_, open)| open != name) {}
        }
    }

    fn standing(&mut self, bytes: &[u8], tag: &RawTag, namespace: Namespace) -> Standing {
        let href = tag
            .attributes
            .iter()
            .any(|attribute| bytes[attribute.name.range()].eq_ignore_ascii_case(b"href"));
        if namespace != Namespace::Html {
            Standing::Foreign
        } else if self.templates > 0 {
            Standing::Template
        } else if !href {
            Standing::NoHref
        } else if std::mem::replace(&mut self.first_base_seen, true) {
            Standing::Later
        } else {
            Standing::First
        }
    }
}

/// The name as it stands in the table of those that are counted while they are open.
fn counted(name: &str) -> Option<&'static str> {
    const VOID: &[&str] = &["br", "embed", "hr", "img", "meta"];
    BREAKOUT.iter().chain(&["a"]).copied().find(|known| *known == name && !VOID.contains(known))
}

pub(super) fn is_html_font(bytes: &[u8], tag: &RawTag, name: &[u8]) -> bool {
    name == b"font"
        && tag.attributes.iter().any(|attribute| {
            let name = bytes[attribute.name.range()].to_ascii_lowercase();
            matches!(name.as_slice(), b"color" | b"face" | b"size")
        })
}

fn is_integration_point(bytes: &[u8], tag: &RawTag, namespace: Namespace, name: &[u8]) -> bool {
    match (namespace, name) {
        (Namespace::Svg, b"foreignobject" | b"desc" | b"title") => true,
        (Namespace::MathMl, b"annotation-xml") => tag.attributes.iter().any(|attribute| {
            let value = attribute.value.map_or(&[][..], |value| &bytes[value.range()]);
            bytes[attribute.name.range()].eq_ignore_ascii_case(b"encoding")
                && (value.eq_ignore_ascii_case(b"text/html")
                    || value.eq_ignore_ascii_case(b"application/xhtml+xml"))
        }),
        (Namespace::MathMl, b"mi" | b"mo" | b"mn" | b"ms" | b"mtext") => true,
        _ => false,
    }
}
