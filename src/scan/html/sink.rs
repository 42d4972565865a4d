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

use std::convert::Infallible;

use super::tag::RawTag;
use crate::document::Standing;
use crate::scan::attributes::Namespace;
use crate::span::Span;

/// Who is told of a document, in source order. Offsets are those of the buffer that is scanned.
pub(crate) trait Sink {
    /// Why it wants no more.
    type Stop;

    /// A start tag. The walk that proves leaves out those that cannot matter, and the attributes that
    /// cannot; where the table asks for others than the one that holds the link, it tells all of them.
    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), Self::Stop>;

    /// The text of the element whose start tag came last ends at `at`: raw text, RCDATA, or that of `style`
    /// in SVG. Not told where the document ends in it.
    fn end_text(&mut self, _at: usize) -> Result<(), Self::Stop> {
        Ok(())
    }

    /// An end tag. The walk that proves tells none.
    fn end_tag(&mut self, _tag: &RawTag) -> Result<(), Self::Stop> {
        Ok(())
    }

    /// A comment that begins with `<!--`, or with `<?`, with both ends. The walk that proves leaves out
    /// other bogus comments.
    fn comment(&mut self, _span: Span) -> Result<(), Self::Stop> {
        Ok(())
    }

    /// Whether the `base` element of HTML is effective whose start tag comes next. Only the walk knows it by then.
    fn base(&mut self, _standing: Standing) {}
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
    type Stop = Infallible;

    fn start_tag(&mut self, tag: &RawTag, _: Namespace, text: TextModel) -> Result<(), Infallible> {
        self(Event::StartTag { tag, text });
        Ok(())
    }

    fn end_tag(&mut self, tag: &RawTag) -> Result<(), Infallible> {
        self(Event::EndTag { tag });
        Ok(())
    }

    fn comment(&mut self, span: Span) -> Result<(), Infallible> {
        self(Event::Comment { span });
        Ok(())
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

/// Why an engine stopped before the end of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped<R, E> {
    /// It cannot go on.
    Engine(R),
    /// The sink wants no more.
    Sink(E),
}

impl<R, E> From<E> for Stopped<R, E> {
    fn from(stop: E) -> Self {
        Self::Sink(stop)
    }
}
