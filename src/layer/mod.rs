//! A decoded view of bytes, with a map back to where every piece of it came from.
//!
//! The bytes of a file are rarely those of a reference: a charset turns bytes into text, character
//! references and escapes turn that text into another, and these nest (base64 > charset >
//! character reference > CSS escape is an ordinary `style` attribute of an ordinary message). Each
//! layer yields a [`View`]; views over views share one [`OffsetMap`] that leads straight to the
//! bytes, and [`lift`] turns an edit of the text into edits of the bytes beneath.
//!
//! ```
//! use baselink::layer::{escape, View};
//! // `&amp;` is five bytes and one character; everything else represents itself.
//! let view = escape::character_references(View::of_str("a&amp;b", 100));
//! assert_eq!(view.text, "a&b");
//! assert_eq!(view.map.to_source(2), Some(106));
//! assert_eq!(view.map.to_source(1), Some(101));
//! ```
//!
//! Deliberately absent: URLs. A layer does not know what it carries.

pub mod charset;
pub mod digest;
pub mod escape;
pub mod spelling;
pub mod transfer;
pub mod xml;

use crate::edit::Edit;
use crate::span::Span;

/// Text decoded from a buffer, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The text.
    pub text: String,
    /// From offsets of `text` to offsets of the buffer.
    pub map: OffsetMap,
}

impl View {
    /// The view in which `text`, which lies at `source` of the buffer, represents itself.
    #[must_use]
    pub fn of_str(text: &str, source: usize) -> Self {
        Self { text: text.to_owned(), map: OffsetMap::verbatim(source, text.len()) }
    }

    /// The part of the view at `span` of its text.
    ///
    /// `None` when an end of `span` falls inside something that was decoded as a whole.
    #[must_use]
    pub fn slice(&self, span: Span) -> Option<Self> {
        let text = self.text.get(span.range())?.to_owned();
        Some(Self { text, map: self.map.slice(span)? })
    }

    /// Adds `next`, which follows this view in the same buffer.
    pub fn append(&mut self, next: &Self) {
        self.text.push_str(&next.text);
        self.map.append(&next.map);
    }
}

/// One stretch of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    view: Span,
    source: Span,
    /// How many bytes of the buffer each byte of the view represents; 0 when only the whole represents
    /// the whole.
    stride: usize,
    /// The escape that ends the stretch without its own end mark.
    open: Option<OpenEscape>,
}

/// An escape without an end mark, into which the next character may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenEscape {
    /// A named character reference without `;` (HTML, 13.2.5.73).
    Name,
    /// A decimal character reference without `;`.
    Decimal,
    /// A hexadecimal one, or a CSS escape without white space after it.
    Hexadecimal,
}

impl OpenEscape {
    /// Whether `next` would be taken into the escape.
    #[must_use]
    pub fn takes(self, next: char) -> bool {
        match self {
            Self::Name => next.is_ascii_alphanumeric() || matches!(next, '=' | ';'),
            Self::Decimal => next.is_ascii_digit() || next == ';',
            Self::Hexadecimal => next.is_ascii_hexdigit() || next == ';' || next.is_whitespace(),
        }
    }
}

/// From offsets of a view's text to offsets of the buffer beneath.
///
/// Offsets of the buffer never decrease along the view. A stretch that was decoded as a whole (a
/// character reference, an escape, a character of another charset) has only its two ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetMap {
    source: usize,
    len: usize,
    /// Empty when the whole view represents itself; else gapless over `0..len`.
    runs: Vec<Run>,
    /// The escape without end mark that is right before the view.
    before: Option<OpenEscape>,
}

impl OffsetMap {
    /// The map of `len` bytes at `source` that represent themselves.
    #[must_use]
    pub fn verbatim(source: usize, len: usize) -> Self {
        Self { source, len, ..Self::default() }
    }

    fn append(&mut self, next: &Self) {
        if self.len == 0 {
            self.clone_from(next);
            return;
        }
        if next.len == 0 {
            return;
        }
        if self.runs.is_empty() {
            self.runs.push(self.as_run());
        }
        let own = [next.as_run()];
        let runs = if next.runs.is_empty() { &own[..] } else { &next.runs };
        let shift = |run: &Run| Run { view: run.view.shifted(self.len), ..*run };
        self.runs.extend(runs.iter().map(shift));
        self.len += next.len;
    }

    /// The view as one run, where the whole of it represents itself.
    fn as_run(&self) -> Run {
        let source = Span::new(self.source, self.source + self.len);
        Run { view: Span::new(0, self.len), source, stride: 1, open: None }
    }

    /// Length of the view's text, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the view is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The span of the buffer that holds the whole view.
    #[must_use]
    pub fn source(&self) -> Span {
        match (self.runs.first(), self.runs.last()) {
            (Some(first), Some(last)) => Span::new(first.source.start, last.source.end),
            _ => Span::new(self.source, self.source + self.len),
        }
    }

    /// The run in which the view's byte before `view` lies.
    fn run_before(&self, view: usize) -> Option<&Run> {
        self.runs.get(self.runs.partition_point(|run| run.view.end < view))
    }

    /// The escape without end mark that ends right before the view's offset `view`.
    #[must_use]
    pub fn open_before(&self, view: usize) -> Option<OpenEscape> {
        if view == 0 {
            return self.before;
        }
        self.run_before(view).filter(|run| run.view.end == view)?.open
    }

    /// Where in the buffer the view's byte at `view` begins; for the view's end, where it ends.
    ///
    /// Between two stretches it is the end of the first, so that what a later stretch carries with
    /// it (a charset's escape sequence, say) stays with the later one. `None` inside a stretch that
    /// was decoded as a whole, and after the end.
    #[must_use]
    pub fn to_source(&self, view: usize) -> Option<usize> {
        if view > self.len {
            return None;
        }
        if self.runs.is_empty() {
            return Some(self.source + view);
        }
        if view == 0 {
            return Some(self.source().start);
        }
        let run = self.run_before(view)?;
        if run.view.end == view {
            Some(run.source.end)
        } else if run.stride > 0 {
            Some(run.source.start + run.stride * (view - run.view.start))
        } else {
            None
        }
    }

    /// The smallest span of the buffer that holds the view's `span`, widened to whole stretches.
    #[must_use]
    pub fn covering(&self, span: Span) -> Span {
        let within = |view: usize| {
            let view = view.min(self.len);
            let run = || self.run_before(view).map_or(self.source(), |run| run.source);
            self.to_source(view).map_or_else(run, Span::at)
        };
        Span::new(within(span.start).start, within(span.end).end)
    }

    /// Whether the view's `span` is in the buffer byte for byte, in one piece.
    #[must_use]
    pub fn stands_verbatim(&self, span: Span) -> bool {
        self.runs.is_empty()
            || span.is_empty()
            || self
                .run_before(span.start + 1)
                .is_some_and(|run| run.stride == 1 && span.end <= run.view.end)
    }

    /// The map of the part of the view at `span`.
    ///
    /// `None` when an end of `span` falls inside a stretch that was decoded as a whole.
    #[must_use]
    pub fn slice(&self, span: Span) -> Option<Self> {
        let start = self.to_source(span.start)?;
        self.to_source(span.end)?;
        let before = self.open_before(span.start);
        if self.runs.is_empty() {
            return Some(Self { before, ..Self::verbatim(start, span.len()) });
        }
        let mut map = MapBuilder::default();
        for run in &self.runs[self.runs.partition_point(|run| run.view.end <= span.start)..] {
            if run.view.start >= span.end {
                break;
            }
            map.part(run, span);
        }
        Some(Self { before, ..map.finish(start) })
    }

    /// This map over `beneath`: from this view straight to the buffer beneath `beneath`.
    #[must_use]
    pub fn over(&self, beneath: &Self) -> Self {
        let start = self.source().start;
        let before = self.before.or_else(|| beneath.open_before(start.min(beneath.len)));
        if beneath.runs.is_empty() {
            let mut map = self.clone();
            map.source += beneath.source;
            map.before = before;
            for run in &mut map.runs {
                run.source = run.source.shifted(beneath.source);
            }
            return map;
        }
        let own = [self.as_run()];
        let runs = if self.runs.is_empty() { &own[..] } else { &self.runs };
        let mut map = MapBuilder::default();
        for run in runs {
            if run.stride != 1 {
                map.whole(run.view.len(), beneath.covering(run.source), run.open);
                continue;
            }
            let first = beneath.runs.partition_point(|under| under.view.end <= run.source.start);
            for under in &beneath.runs[first..] {
                if under.view.start >= run.source.end {
                    break;
                }
                map.part(under, run.source);
            }
        }
        Self { before, ..map.finish(beneath.covering(Span::at(start)).start) }
    }
}

/// Builds an [`OffsetMap`] from the start of a view to its end.
#[derive(Debug, Default)]
pub struct MapBuilder {
    len: usize,
    runs: Vec<Run>,
}

impl MapBuilder {
    /// The next `len` bytes of the view represent themselves at `source`.
    pub fn verbatim(&mut self, source: usize, len: usize) {
        self.strided(source, len, 1);
    }

    /// The next `len` bytes of the view represent `stride` bytes each, from `source` on.
    pub fn strided(&mut self, source: usize, len: usize, stride: usize) {
        if len == 0 {
            return;
        }
        if let Some(last) = self.runs.last_mut()
            && last.stride == stride
            && last.source.end == source
        {
            last.view.end += len;
            last.source.end += len * stride;
        } else {
            let view = Span::new(self.len, self.len + len);
            let source = Span::new(source, source + len * stride);
            self.runs.push(Run { view, source, stride, open: None });
        }
        self.len += len;
    }

    /// The next `len` bytes of the view stand, as a whole, for the bytes at `source`.
    ///
    /// With a `len` of 0 nothing is added: those bytes go with the next stretch.
    pub fn whole(&mut self, len: usize, source: Span, open: Option<OpenEscape>) {
        if len == 0 {
            return;
        }
        let view = Span::new(self.len, self.len + len);
        self.runs.push(Run { view, source, stride: 0, open });
        self.len += len;
    }

    /// What of `run` lies in `span` of its view.
    fn part(&mut self, run: &Run, span: Span) {
        let view = Span::new(run.view.start.max(span.start), run.view.end.min(span.end));
        match run.stride {
            0 => self.whole(view.len(), run.source, run.open),
            stride => {
                let source = run.source.start + stride * (view.start - run.view.start);
                self.strided(source, view.len(), stride);
            }
        }
    }

    /// The map; an empty view lies at `source`.
    #[must_use]
    pub fn finish(self, source: usize) -> OffsetMap {
        match self.runs.as_slice() {
            [] => OffsetMap::verbatim(source, 0),
            [only] if only.stride == 1 => OffsetMap::verbatim(only.source.start, self.len),
            _ => OffsetMap { len: self.len, runs: self.runs, ..OffsetMap::default() },
        }
    }
}

/// Lifts one edit of a view to the buffer beneath: `span` of the view gives way to `new`, which is
/// spelled as it must be in the buffer. `next` is the character after it, of `new` or of the view.
///
/// `None` when an end of `span` falls inside a stretch that was decoded as a whole, or when an escape
/// without end mark before it would take `next` in.
#[must_use]
pub fn lift(
    map: &OffsetMap,
    span: Span,
    new: Vec<u8>,
    next: Option<char>,
) -> Option<Edit<'static>> {
    let start = map.to_source(span.start)?;
    let end = map.to_source(span.end)?;
    if let (Some(open), Some(next)) = (map.open_before(span.start), next)
        && open.takes(next)
    {
        return None;
    }
    Some(Edit { span: Span::new(start, end), new: new.into() })
}
