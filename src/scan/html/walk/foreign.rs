//! Which elements are open where foreign content is: the part of tree construction that decides on
//! namespaces (HTML, 13.2.6, "tree construction dispatcher", and 13.2.6.5).
//!
//! The stack is empty outside of `svg` and `math`, where it is not needed. Inside, it holds every element down from the
//! outermost `svg` or `math`. In an integration point there are elements of HTML, too: the walk that proves stops there.
//!
//! ```
//! use baselink::ScanOptions;
//! // `title` in SVG holds markup again; and `p` ends SVG.
//! let page = b"<svg><title><b></b></title><a href=x></a><p><a href=y>";
//! let document = baselink::scan(page, &ScanOptions::default());
//! assert_eq!(document.links.len(), 2);
//! ```
//!
//! Deliberately absent: every element that is open. An end tag that may close what is not on this stack
//! is not answered here.

use crate::scan::attributes::Namespace;
use crate::scan::sieve::Sieve;

/// An open element.
#[derive(Clone, Copy, Debug)]
struct ForeignElement<'a> {
    name: &'a [u8],
    /// SVG or MathML.
    namespace: Namespace,
    /// Whether its content is HTML (13.2.3, "HTML integration point", "MathML text integration point").
    is_point: bool,
}

/// Where a start tag belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagPlace {
    /// Outside of foreign content.
    Outside,
    /// In HTML inside of foreign content.
    Point,
    /// In foreign content of this namespace.
    Foreign(Namespace),
}

/// The elements that are open where foreign content is, outermost first.
#[derive(Debug, Default)]
pub(super) struct Foreign<'a> {
    open: Vec<ForeignElement<'a>>,
    /// How many elements of HTML are open by their tags, by the number of their name in [`COUNTED`]; empty
    /// but by best effort.
    counts: Vec<usize>,
}

/// How many open elements the name of an end tag is compared with by best effort.
const NEAR: usize = 32;

fn is_one(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()))
}

impl<'a> Foreign<'a> {
    /// Whether no foreign content is open.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Where a start tag called `name` belongs.
    pub(super) fn place(&self, name: &[u8]) -> TagPlace {
        match self.open.last() {
            None => TagPlace::Outside,
            Some(top) if top.is_point => match top.namespace {
                Namespace::MathMl if is_one(name, &["mglyph", "malignmark"]) => {
                    TagPlace::Foreign(Namespace::MathMl)
                }
                _ => TagPlace::Point,
            },
            Some(top) => TagPlace::Foreign(top.namespace),
        }
    }

    /// Opens an element called `name`.
    pub(super) fn open(&mut self, name: &'a [u8], namespace: Namespace, is_point: bool) {
        self.open.push(ForeignElement { name, namespace, is_point });
    }

    /// Leaves foreign content for a start tag that does not belong there (13.2.6.5), up to an integration point.
    pub(super) fn leave(&mut self) {
        let stays = |top: &ForeignElement<'_>| top.is_point;
        self.open.truncate(self.open.iter().rposition(stays).map_or(0, |at| at + 1));
    }

    /// Closes the element called `name`; `false` where that may be one outside of what is known here.
    pub(super) fn close(&mut self, name: &[u8]) -> bool {
        let found = self.open.iter().rposition(|one| one.name.eq_ignore_ascii_case(name));
        if let Some(at) = found {
            self.open.truncate(at);
        }
        found.is_some()
    }

    /// Counts a start tag of HTML, for [`Self::close_by_name`].
    pub(super) fn count(&mut self, name: &[u8]) {
        if let Some(number) = counted(name) {
            self.counts.resize(COUNTED, 0);
            self.counts[number] += 1;
        }
    }

    /// Closes what an end tag called `name` closes as far as names tell: foreign content, where it is that of
    /// an element of HTML around it, or something on the stack.
    pub(super) fn close_by_name(&mut self, name: &[u8]) {
        let count = counted(name).and_then(|number| self.counts.get_mut(number));
        let was_open = count.is_some_and(|count| {
            let was_open = *count > 0;
            *count = count.saturating_sub(1);
            was_open
        });
        if was_open || is_one(name, &["p", "br"]) {
            self.leave();
        } else {
            let mut near = (0..self.open.len()).rev().take(NEAR);
            if let Some(at) = near.find(|&at| self.open[at].name.eq_ignore_ascii_case(name)) {
                self.open.truncate(at);
            }
        }
    }
}

/// Whether an element of SVG or MathML called `name` holds HTML, whatever its attributes (13.2.4.2).
pub(super) fn is_point(name: &[u8], namespace: Namespace) -> bool {
    match namespace {
        Namespace::Html => false,
        Namespace::Svg => is_one(name, &["foreignobject", "desc", "title"]),
        Namespace::MathMl => is_one(name, &["mi", "mo", "mn", "ms", "mtext"]),
    }
}

/// Whether `name` begins foreign content.
pub(super) fn is_root(name: &[u8]) -> bool {
    is_one(name, &["svg", "math"])
}

/// How many names of elements of HTML are counted while they are open: those of [`BREAKOUT`], and `a`.
const COUNTED: usize = BREAKOUT.len() + 1;

/// The number of `name` among them.
fn counted(name: &[u8]) -> Option<usize> {
    if is_one(name, &["br", "embed", "hr", "img", "meta"]) {
        return None;
    }
    let mut names = BREAKOUT.iter().chain(&["a"]);
    names.position(|one| name.eq_ignore_ascii_case(one.as_bytes()))
}

/// Start tags that end foreign content (HTML, 13.2.6.5); `font` does with some attributes only.
#[rustfmt::skip]
const BREAKOUT: [&str; 44] = [
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em",
    "embed", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu",
    "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub",
    "sup", "table", "tt", "u", "ul", "var",
];

const BREAKING_OUT: Sieve = Sieve::of(BREAKOUT);

/// Whether a start tag of this name ends foreign content, whatever its attributes (13.2.6.5).
pub(super) fn breaks_out(name: &[u8]) -> bool {
    BREAKING_OUT.passes(name) && is_one(name, &BREAKOUT)
}
