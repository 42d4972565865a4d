//! The interface between the engines of HTML and their users.
//!
//! Two engines find the tags of a document: [`super::walk`] as long as it can prove its result, and `super::exact` as
//! a fallback. Beyond html5ever's bounds, the best effort of `walk` is the last resort. All of them report to a
//! [`Sink`], so that each can continue where the one before it stopped.
//!
//! ```
//! // Both scanners find the link in the `style` and the link after it.
//! use baselink_scan::Scanner;
//! let page = b"<style>a{b:url(c)}</style><a href=d>";
//! for scanner in [Scanner::Fast, Scanner::Exact] {
//!     let options = baselink_scan::ScanOptions { scanner, ..Default::default() };
//!     assert_eq!(baselink_scan::scan(page, &options).links.len(), 2);
//! }
//! ```
//!
//! Deliberately absent: text, except the text of a `style` in SVG, which may contain tags. Raw text begins where its
//! start tag ends, and [`Sink::end_text`] receives its end.

use baselink_text::Span;

use super::tag::RawTag;
use crate::{attributes::Namespace, document::Standing};

/// A receiver of the tags and comments of a document, in source order. Offsets are those of the scanned buffer.
pub trait Sink {
    /// Receives a start tag. The proving walk skips tags and attributes that cannot matter. It reports all attributes
    /// of a `style`, `script` or `base`, and of a tag for which a row of the table in [`crate::attributes`]
    /// depends on another attribute.
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel);

    /// Receives the end of the raw text or RCDATA of the element whose start tag came last. Not called if the document
    /// ends first.
    fn end_text(&mut self, _at: usize) {}

    /// Receives a stretch of the child text of the innermost open `style` in SVG: the bytes between two tags.
    fn style_text(&mut self, _span: Span) {}

    /// Receives the end of the innermost open `style` in SVG, at the tag that closes it. Not called if the document ends
    /// first.
    fn end_style(&mut self, _at: usize) {}

    /// Receives an end tag. The proving walk does not report any.
    fn end_tag(&mut self, _tag: &RawTag) {}

    /// Receives a comment, which may be unterminated. The proving walk skips bogus comments, such as `<?…>`.
    /// The best effort also reports each DOCTYPE as a comment.
    fn comment(&mut self, _span: Span) {}

    /// True if what follows the place where html5ever stops must not be read without a tree.
    fn needs_tree(&self) -> bool {
        false
    }

    /// True if nothing later in the document can matter.
    fn is_done(&self) -> bool {
        false
    }
}

/// A token, for sinks that need nothing else.
#[derive(Debug)]
pub enum Event<'a> {
    /// A start tag or an end tag, and the rules by which the text after it is read.
    Tag(&'a RawTag, TextModel),
    /// A comment, with its delimiters.
    Comment(Span),
}

impl<F: FnMut(Event<'_>)> Sink for F {
    fn start_tag(&mut self, tag: &RawTag, _: Namespace, text: TextModel) {
        self(Event::Tag(tag, text));
    }

    fn end_tag(&mut self, tag: &RawTag) {
        self(Event::Tag(tag, TextModel::Markup));
    }

    fn comment(&mut self, span: Span) {
        self(Event::Comment(span));
    }
}

/// The tokenizer's model of an element's content (HTML, 13.2.5.1 to 13.2.5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextModel {
    /// Tags and character references are recognised.
    Markup,
    /// Only the element's end tag is recognised.
    RawText,
    /// The element's end tag and character references are recognised.
    Rcdata,
    /// Nothing is recognised up to the end of the document.
    Plaintext,
}

/// Facts that are known only after the whole document has been read.
#[derive(Debug)]
pub struct TreeFacts {
    /// Every `base` element by the offset of its tag, with its standing; the effective one first.
    pub(crate) bases: Vec<(usize, Standing)>,
    /// True if a tree with lists of children, such as markup5ever_rcdom's, would take too many steps to search these
    /// lists.
    pub(crate) has_costly_lists: bool,
}
