//! Which elements are open where foreign content is: the part of tree construction that decides on
//! namespaces (HTML, 13.2.6, "tree construction dispatcher", and 13.2.6.5).
//!
//! The stack is empty outside of `svg` and `math`, and whoever is there needs none. Inside, it holds
//! every element down from the outermost `svg` or `math`, those of HTML in an integration point too.
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
struct ForeignElement {
    /// Where its name begins among those that are kept; it ends where the next begins.
    name: usize,
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
pub(super) struct Foreign {
    open: Vec<ForeignElement>,
    /// Their names, one after the other.
    names: Vec<u8>,
    /// How many elements of HTML are open by their tags, by the number of their name in [`COUNTED`]; empty
    /// but by best effort.
    counts: Vec<usize>,
}

/// How many open elements the name of an end tag is compared with by best effort.
const NEAR: usize = 32;

/// How many elements of HTML may be open in each other in an integration point.
const MOST_CONTAINERS: usize = 32;

/// Elements of HTML that in an integration point are put on the stack, and nothing else happens
/// (13.2.6.4.7): ordinary and formatting ones.
const PHRASES: &[&str] =
    &["span", "b", "i", "u", "em", "strong", "small", "code", "font", "sub", "sup", "label"];

/// The same as long as no `p` is open there, which they would close.
const BLOCKS: &[&str] = &["div", "p", "pre", "section"];

/// Elements of HTML that are never open.
const VOID: &[&str] = &["br", "img", "image", "input", "wbr", "link", "meta"];

fn is_one(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()))
}

impl Foreign {
    /// Whether no foreign content is open.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether `<![CDATA[` begins a section: the current node is not HTML.
    pub(super) fn has_sections(&self) -> bool {
        self.open.last().is_some_and(|top| top.namespace != Namespace::Html)
    }

    /// Where a start tag called `name` belongs.
    pub(super) fn place(&self, name: &[u8]) -> TagPlace {
        match self.open.last() {
            None => TagPlace::Outside,
            Some(top) if top.namespace == Namespace::Html => TagPlace::Point,
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
    pub(super) fn open(&mut self, name: &[u8], namespace: Namespace, is_point: bool) {
        self.open.push(ForeignElement { name: self.names.len(), namespace, is_point });
        self.names.extend_from_slice(name);
    }

    /// Opens an element of HTML in an integration point; `false` where more may happen than that.
    pub(super) fn open_in_point(&mut self, name: &[u8]) -> bool {
        if is_one(name, VOID) {
            return true;
        }
        let (mut depth, mut has_p) = (0, false);
        for at in (0..self.open.len()).rev().take(MOST_CONTAINERS) {
            if self.open[at].namespace != Namespace::Html {
                break;
            }
            depth += 1;
            has_p |= self.name(at).eq_ignore_ascii_case(b"p");
        }
        if depth == MOST_CONTAINERS || !(is_one(name, PHRASES) || (is_one(name, BLOCKS) && !has_p))
        {
            return false;
        }
        self.open(name, Namespace::Html, false);
        true
    }

    /// The name of the open element number `at`.
    fn name(&self, at: usize) -> &[u8] {
        let end = self.open.get(at + 1).map_or(self.names.len(), |next| next.name);
        &self.names[self.open[at].name..end]
    }

    /// Closes all but the outermost `count` elements.
    fn truncate(&mut self, count: usize) {
        if let Some(first) = self.open.get(count) {
            self.names.truncate(first.name);
            self.open.truncate(count);
        }
    }

    /// Leaves foreign content for a start tag that does not belong there (13.2.6.5), up to an integration
    /// point or HTML.
    pub(super) fn leave(&mut self) {
        let stays = |top: &ForeignElement| top.namespace == Namespace::Html || top.is_point;
        self.truncate(self.open.iter().rposition(stays).map_or(0, |at| at + 1));
    }

    /// Closes the element called `name`; `false` where that may be one outside of what is known here.
    pub(super) fn close(&mut self, name: &[u8]) -> bool {
        let is_named = |at: usize| self.name(at).eq_ignore_ascii_case(name);
        let is_html = |at: usize| self.open[at].namespace == Namespace::Html;
        let found = match self.open.len().checked_sub(1) {
            Some(top) if is_html(top) => is_named(top).then_some(top),
            _ => {
                let at = (0..self.open.len()).rev().find(|&at| is_html(at) || is_named(at));
                at.filter(|&at| !is_html(at))
            }
        };
        if let Some(at) = found {
            self.truncate(at);
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
            if let Some(at) = near.find(|&at| self.name(at).eq_ignore_ascii_case(name)) {
                self.truncate(at);
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
const BREAKOUT: [&str; 44] = [
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

const BREAKING_OUT: Sieve = Sieve::of(BREAKOUT);

/// Whether a start tag of this name ends foreign content, whatever its attributes (13.2.6.5).
pub(super) fn breaks_out(name: &[u8]) -> bool {
    BREAKING_OUT.passes(name) && is_one(name, &BREAKOUT)
}
