//! What the engines of HTML tell of a document, and whom they tell it.
//!
//! Three engines find the tags of a document: [`super::walk`] where it can prove them, [`super::exact`]
//! where that cannot, and the best effort of `walk` past html5ever's bounds. All of them tell a [`Sink`],
//! so that one can go on where another stopped.
//!
//! ```
//! // The text of `style` ends at its end tag, whichever engine says so.
//! use baselink::scan::Scanner;
//! let page = b"<style>a{b:url(c)}</style><a href=d>";
//! for scanner in [Scanner::Fast, Scanner::Exact] {
//!     let options = baselink::ScanOptions { scanner, ..Default::default() };
//!     assert_eq!(baselink::scan(page, &options).links.len(), 2);
//! }
//! ```
//!
//! Deliberately absent: text. Where it is, follows from where it ends.

use super::tag::RawTag;
use crate::document::Standing;
use crate::scan::attributes::Namespace;
use crate::span::Span;

/// Who is told of a document, in source order. Offsets are those of the buffer that is scanned.
pub(crate) trait Sink {
    /// A start tag. The walk that proves leaves out those that cannot matter, and the attributes that
    /// cannot; where the table asks for others than the one that holds the link, it tells all of them.
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, text: TextModel);

    /// The text of the element whose start tag came last ends at `at`: raw text, RCDATA, or that of `style`
    /// in SVG. Not told where the document ends in it.
    fn end_text(&mut self, _at: usize) {}

    /// An end tag. The walk that proves tells none.
    fn end_tag(&mut self, _tag: &RawTag) {}

    /// A comment that begins with `<!--`, or with `<?`, with both ends. The walk that proves leaves out
    /// other bogus comments.
    fn comment(&mut self, _span: Span) {}

    /// True if nothing that follows can matter.
    fn is_done(&self) -> bool {
        false
    }
}

/// A token, for those who want nothing but tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<'a> {
    /// A start tag.
    StartTag { tag: &'a RawTag, text: TextModel },
    /// An end tag.
    EndTag { tag: &'a RawTag },
    /// A comment with both ends.
    Comment { span: Span },
}

impl<F: FnMut(Event<'_>)> Sink for F {
    fn start_tag(&mut self, tag: &RawTag, _: Namespace, text: TextModel) {
        self(Event::StartTag { tag, text });
    }

    fn end_tag(&mut self, tag: &RawTag) {
        self(Event::EndTag { tag });
    }

    fn comment(&mut self, span: Span) {
        self(Event::Comment { span });
    }
}

/// What the tokenizer takes the content of an element for (HTML, 13.2.5.1 to 13.2.5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextModel {
    /// Tags and character references count.
    Markup,
    /// Only the element's end tag counts.
    RawText,
    /// Its end tag and character references count.
    Rcdata,
    /// Nothing counts any more.
    Plaintext,
}

/// What is known once the whole document has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeFacts {
    /// Every `base` element by the offset of its tag, with its standing; the effective one first.
    pub(crate) bases: Vec<(usize, Standing)>,
    /// Whether a tree that keeps lists of children would take too long to be built.
    pub(crate) is_crowded: bool,
}
