//! Which scanner reads a range of HTML: the fast one; from where it cannot prove what is there, the exact one; and
//! where that stops, the one without a tree.
//!
//! All three tell the same sink. The next one begins at the start of the range, and what was told already is not told
//! again, so that whoever listens hears of one document, in order.
//!
//! ```
//! // Whether `</b>` closes something around the SVG is known from the tree only.
//! let page = b"<a href=x><b><svg></b><a href=y>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links.len(), 2);
//! assert_eq!(document.handed_over, Some(baselink::document::HandOver::EndTag));
//! ```
//!
//! Deliberately absent: what tags mean.

use super::exact;
use super::fast::{self, Names, Sink};
use super::tag::RawTag;
use super::{Event, Namespace, Standing, TextModel, TreeFacts, tokens};
use crate::document::HandOver;
use crate::scan::Scanner;
use crate::span::Span;

/// How a range was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) facts: TreeFacts,
    /// Why the fast scanner did not read all of it.
    pub(super) handed_over: Option<HandOver>,
    /// Why, and from where on, the tree is not known.
    pub(super) without_tree: Option<exact::Stopped>,
}

/// Why reading ended.
pub(crate) enum Stop<E> {
    /// The fast scanner cannot prove what is there.
    HandedOver(HandOver),
    /// The sink wants no more.
    Sink(E),
}

impl<E> From<HandOver> for Stop<E> {
    fn from(reason: HandOver) -> Self {
        Self::HandedOver(reason)
    }
}

/// What is told of tags and comments.
pub(super) trait Tags {
    /// Why it wants no more.
    type End;

    /// A start tag that can matter, with those of its attributes that can.
    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), Self::End>;

    /// The text of the element whose start tag came last ends at `at`. Not told where the document ends in it.
    fn end_text(&mut self, at: usize) -> Result<(), Self::End>;

    /// A comment that begins with `<!--`, or with `<?`, from there to its end.
    fn comment(&mut self, span: Span) -> Result<(), Self::End>;

    /// How the `base` element of HTML counts whose start tag comes next.
    fn base(&mut self, _standing: Standing) {}

    /// Everything that begins before this place was told.
    fn told(&mut self) -> &mut usize;
}

/// A sink of the fast scanner that keeps how much was told.
pub(super) struct Telling<'t, T>(pub(super) &'t mut T);

impl<T: Tags> Sink for Telling<'_, T> {
    type Stop = Stop<T::End>;

    #[inline(always)]
    fn start_tag(
        &mut self,
        tag: &RawTag,
        namespace: Namespace,
        text: TextModel,
    ) -> Result<(), Self::Stop> {
        *self.0.told() = tag.span.start + 1;
        self.0.start_tag(tag, namespace, text).map_err(Stop::Sink)
    }

    fn end_text(&mut self, at: usize) -> Result<(), Self::Stop> {
        *self.0.told() = at;
        self.0.end_text(at).map_err(Stop::Sink)
    }

    fn comment(&mut self, span: Span) -> Result<(), Self::Stop> {
        *self.0.told() = span.start + 1;
        self.0.comment(span).map_err(Stop::Sink)
    }

    fn base(&mut self, standing: Standing) {
        self.0.base(standing);
    }
}

/// Reads `span` of `bytes` and tells `tags` what was not told yet; `scripting` as in HTML, 13.2.4.5.
pub(super) fn read<T: Tags>(
    bytes: &[u8],
    span: Span,
    scripting: bool,
    scanner: Scanner,
    names: &Names,
    tags: &mut T,
) -> Result<Read, T::End> {
    *tags.told() = span.start;
    let mut handed_over = None;
    if scanner == Scanner::Fast {
        match fast::walk(bytes, span.range(), scripting, names, &mut Telling(tags)) {
            Ok(facts) => return Ok(Read { facts, ..Read::default() }),
            Err(Stop::HandedOver(reason)) => handed_over = Some(reason),
            Err(Stop::Sink(end)) => return Err(end),
        }
    }
    Ok(Read { handed_over, ..go_on(bytes, span, scripting, tags)? })
}

/// The same where the fast scanner went no further.
pub(super) fn go_on<T: Tags>(
    bytes: &[u8],
    span: Span,
    scripting: bool,
    tags: &mut T,
) -> Result<Read, T::End> {
    let mut rest = Rest { bytes, tags, text: None, ended: None };
    let (facts, without_tree) =
        match exact::scan(bytes, span.range(), scripting, &mut |event| rest.take(event)) {
            Ok(facts) => (facts, None),
            Err(stopped) => {
                rest.text = None;
                let take = &mut |event: Event<'_>| rest.take(event);
                (tokens::scan(bytes, span.range(), scripting, take), Some(stopped))
            }
        };
    match rest.ended {
        Some(end) => Err(end),
        None => Ok(Read { facts, handed_over: None, without_tree }),
    }
}

/// Tells what was not told yet.
struct Rest<'a, T: Tags> {
    bytes: &'a [u8],
    tags: &'a mut T,
    /// The text that is open.
    text: Option<Text>,
    ended: Option<T::End>,
}

/// What ends a text.
#[derive(Clone, Copy, PartialEq)]
enum Text {
    /// The next end tag that is one.
    Any,
    /// `</style>`, or another start tag: it is in SVG.
    SvgStyle,
}

impl<T: Tags> Rest<'_, T> {
    fn take(&mut self, event: Event<'_>) {
        if self.ended.is_none() {
            self.ended = self.tell(event).err();
        }
    }

    fn tell(&mut self, event: Event<'_>) -> Result<(), T::End> {
        let told = *self.tags.told();
        match event {
            Event::StartTag { tag, namespace, text } => {
                let at = tag.span.start;
                if self.text.take() == Some(Text::SvgStyle) && at >= told {
                    self.tags.end_text(at)?;
                }
                let name = &self.bytes[tag.name.range()];
                let is_style = !tag.self_closing && name.eq_ignore_ascii_case(b"style");
                self.text = match (namespace, text) {
                    (Namespace::Html, TextModel::RawText | TextModel::Rcdata) => Some(Text::Any),
                    (Namespace::Svg, TextModel::Markup) if is_style => Some(Text::SvgStyle),
                    _ => None,
                };
                if at < told {
                    return Ok(());
                }
                *self.tags.told() = at + 1;
                self.tags.start_tag(tag, namespace, text)
            }
            Event::EndTag { tag } => {
                let at = tag.span.start;
                let name = &self.bytes[tag.name.range()];
                let ends =
                    |text: &mut Text| *text == Text::Any || name.eq_ignore_ascii_case(b"style");
                if self.text.take_if(ends).is_none() || at < told {
                    return Ok(());
                }
                *self.tags.told() = at;
                self.tags.end_text(at)
            }
            Event::Comment { span } if span.start >= told => {
                *self.tags.told() = span.start + 1;
                self.tags.comment(span)
            }
            Event::Comment { .. } => Ok(()),
        }
    }
}
