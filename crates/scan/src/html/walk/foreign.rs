//! The open elements in foreign content: the part of tree construction that decides on namespaces (HTML, 13.2.6,
//! "tree construction dispatcher", and 13.2.6.5).
//!
//! The stack is empty outside of `svg` and `math`, where it is not needed. Inside, it holds every open element from
//! the outermost `svg` or `math` down; in best-effort mode, only `svg`, `math`, integration points, and a `style`.
//!
//! An integration point may contain HTML elements, such as those in the labels of diagrams. The proving walk follows
//! an HTML element whose tags affect no other element, and stops at any other.
//!
//! ```
//! use baselink_scan::ScanOptions;
//! // In SVG, a `title` contains markup, and a `p` ends the SVG.
//! let page = b"<svg><title><b></b></title><a href=x></a><p><a href=y>";
//! let document = baselink_scan::scan(page, &ScanOptions::default());
//! assert_eq!(document.links.len(), 2);
//! ```
//!
//! Deliberately absent: a complete stack. The caller handles end tags that may close an element outside of it.

use baselink_text::format::is_among;

use crate::{attributes::Namespace, sieve::Sieve};

/// An open element.
struct ForeignElement<'a> {
    name: &'a [u8],
    /// The namespace of the element, which is HTML only in an integration point.
    namespace: Namespace,
    /// True if its content is HTML: an element of HTML, or an integration point (13.2.6, "HTML integration point",
    /// "MathML text integration point").
    is_point: bool,
    /// True if the element is a `p`, or is inside a `p` of the same integration point: "has a p element in button
    /// scope" (13.2.4.2).
    in_p: bool,
}

/// The place of a start tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TagPlace {
    /// Outside of foreign content.
    Outside,
    /// In HTML inside of foreign content.
    Point,
    /// In foreign content of this namespace.
    Foreign(Namespace),
}

/// The open elements of foreign content, outermost first.
#[derive(Default)]
pub struct Foreign<'a> {
    open: Vec<ForeignElement<'a>>,
    /// The number of open elements of HTML for each counted name ([`counted`]); empty except in best-effort mode.
    counts: Vec<usize>,
}

/// The maximum number of open elements that best-effort mode compares with the name of an end tag.
const NEAR: usize = 32;

/// Elements of HTML whose start tags close nothing: ordinary and formatting ones (13.2.6.4.7).
///
/// Nor do they reopen formatting elements. The start tag of `svg` or `math` has reopened those already, and an end
/// tag in an integration point closes only the innermost element ([`Foreign::close`]).
const PHRASES: &str = "span b i u em strong small code font sub sup label";

/// Elements of HTML whose start tags close a `p` in button scope, and nothing else.
const BLOCKS: &str = "div p pre section";

/// Elements of HTML whose start tags close nothing, and which end immediately; `image` becomes an `img`.
const VOID: &str = "br img image input wbr link meta";

impl<'a> Foreign<'a> {
    /// True if no foreign content is open.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The number of open elements.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Closes the innermost open element.
    pub fn close_innermost(&mut self) {
        self.open.pop();
    }

    /// True if the innermost open element is in SVG or MathML, so that `<![CDATA[` begins a section.
    pub fn is_foreign_innermost(&self) -> bool {
        self.open
            .last()
            .is_some_and(|top| top.namespace != Namespace::Html)
    }

    /// The place of a start tag called `name`.
    pub fn place(&self, name: &[u8]) -> TagPlace {
        match self.open.last() {
            None => TagPlace::Outside,
            Some(top) if top.is_point => match top.namespace {
                Namespace::MathMl if is_among(name, "mglyph malignmark") => {
                    TagPlace::Foreign(Namespace::MathMl)
                }
                _ => TagPlace::Point,
            },
            // An `svg` in an `annotation-xml` is one of SVG, whatever the encoding (13.2.6).
            Some(ForeignElement {
                name: around,
                namespace: Namespace::MathMl,
                ..
            }) if name.eq_ignore_ascii_case(b"svg")
                && around.eq_ignore_ascii_case(b"annotation-xml") =>
            {
                TagPlace::Point
            }
            Some(top) => TagPlace::Foreign(top.namespace),
        }
    }

    /// Opens an element of SVG or MathML called `name`.
    pub fn open(&mut self, name: &'a [u8], namespace: Namespace, is_point: bool) {
        self.open.push(ForeignElement {
            name,
            namespace,
            is_point,
            in_p: false,
        });
    }

    /// Opens an element of HTML called `name` in an integration point. Returns false, and opens nothing, if the
    /// start tag may have other effects.
    pub fn nest(&mut self, name: &'a [u8]) -> bool {
        if is_among(name, VOID) {
            return true;
        }
        let in_p = self.open.last().is_some_and(|top| top.in_p);
        let nests = is_among(name, PHRASES) || !in_p && is_among(name, BLOCKS);
        if nests {
            let in_p = in_p || name.eq_ignore_ascii_case(b"p");
            self.open.push(ForeignElement {
                name,
                namespace: Namespace::Html,
                is_point: true,
                in_p,
            });
        }
        nests
    }

    /// Leaves foreign content for a start tag that does not belong there (13.2.6.5), up to an integration point or
    /// an element of HTML in one.
    pub fn leave(&mut self) {
        self.open.truncate(
            self.open
                .iter()
                .rposition(|top| top.is_point)
                .map_or(0, |at| at + 1),
        );
    }

    /// Closes the element called `name`. Returns false, and closes nothing, if the end tag may affect other elements:
    /// one outside of the stack, or several HTML elements.
    pub fn close(&mut self, name: &[u8]) -> bool {
        let is_named = |one: &ForeignElement<'_>| one.name.eq_ignore_ascii_case(name);
        let is_html = |one: &ForeignElement<'_>| one.namespace == Namespace::Html;
        let Some(at) = self
            .open
            .iter()
            .rposition(|one| is_html(one) || is_named(one))
        else {
            return false;
        };
        // The end tag of an HTML element also closes the elements inside it, perhaps by the adoption agency
        // algorithm (13.2.6.4.7). An SVG or MathML element is not closed from inside an HTML element.
        let (one, is_last) = (&self.open[at], at + 1 == self.open.len());
        let closes = is_named(one) && (is_last || !is_html(one));
        if closes {
            self.open.truncate(at);
        }
        closes
    }

    /// Counts a start tag of HTML, for [`Self::close_by_name`].
    pub fn count(&mut self, name: &[u8]) {
        if let Some(number) = counted(name) {
            let length = self.counts.len().max(number + 1);
            self.counts.resize(length, 0);
            self.counts[number] += 1;
        }
    }

    /// Closes the elements that an end tag called `name` closes, judged by names alone: an element on the stack,
    /// or the foreign content inside an open element of HTML.
    pub fn close_by_name(&mut self, name: &[u8]) {
        let count = counted(name).and_then(|number| self.counts.get_mut(number));
        let was_open = count.is_some_and(|count| {
            let was_open = *count > 0;
            *count = count.saturating_sub(1);
            was_open
        });
        if was_open || is_among(name, "p br") {
            self.leave();
        } else {
            let mut near = (0..self.open.len()).rev().take(NEAR);
            if let Some(at) = near.find(|&at| self.open[at].name.eq_ignore_ascii_case(name)) {
                self.open.truncate(at);
            }
        }
    }
}

/// True if an element of SVG or MathML called `name` contains HTML, regardless of its attributes (13.2.6).
pub fn is_point(name: &[u8], namespace: Namespace) -> bool {
    match namespace {
        Namespace::Html => false,
        Namespace::Svg => is_among(name, "foreignobject desc title"),
        Namespace::MathMl => is_among(name, "mi mo mn ms mtext"),
    }
}

/// True if an element called `name` begins foreign content.
pub fn is_root(name: &[u8]) -> bool {
    is_among(name, "svg math")
}

/// The index of the counter for open HTML elements called `name`: one for each name of [`BREAKOUT`] that is not of void elements,
/// and one for `a`. `None` if elements of this name are not counted.
fn counted(name: &[u8]) -> Option<usize> {
    if !BREAKING_OUT.passes(name) && !is_among(name, "a") || is_among(name, "br embed hr img meta")
    {
        return None;
    }
    let mut names = BREAKOUT.split(' ').chain(["a"]);
    names.position(|one| name.eq_ignore_ascii_case(one.as_bytes()))
}

/// The names of start tags that end foreign content (HTML, 13.2.6.5). `font` ends it only with certain attributes.
const BREAKOUT: &str = "\
    b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta \
    nobr ol p pre ruby s small span strong strike sub sup table tt u ul var";

const BREAKING_OUT: Sieve = Sieve::of(BREAKOUT);

/// True if a start tag of this name ends foreign content, regardless of its attributes (13.2.6.5).
pub fn breaks_out(name: &[u8]) -> bool {
    BREAKING_OUT.passes(name) && is_among(name, BREAKOUT)
}
