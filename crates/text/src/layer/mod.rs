//! Decoded views of bytes, with a map from each piece back to its origin.
//!
//! The bytes of a file often differ from the text of a reference. A charset decodes the bytes to text, and this
//! text may contain character references and escapes. Such layers nest: an ordinary `style` attribute in an
//! ordinary message has base64, a charset, character references and CSS escapes. Each layer yields a [`View`],
//! whose [`OffsetMap`] leads directly to the bytes. [`spelling::lift`] turns an edit of the text into an edit of the bytes.
//!
//! ```
//! use baselink_text::layer::{View, xml};
//! // `&amp;` is five bytes and one character; everything else represents itself.
//! let view = xml::attribute_value(View::of_str("a&amp;b", 100)).view;
//! assert_eq!(view.text, "a&b");
//! assert_eq!(view.map.to_source(2), Some(106));
//! assert_eq!(view.map.to_source(1), Some(101));
//! ```
//!
//! Deliberately absent: URLs. A layer does not know its content.

pub mod charset;
pub mod digest;
pub mod escape;
pub mod spelling;
pub mod transfer;
pub mod xml;

use crate::span::Span;

/// Text decoded from a buffer, and its origin in the buffer.
#[derive(Debug)]
pub struct View {
    /// The text.
    pub text: String,
    /// The map from offsets in `text` to offsets in the buffer.
    pub map: OffsetMap,
}

impl View {
    /// A view of `text`, at the offset `source` of the buffer, in which every byte represents itself.
    pub fn of_str(text: &str, source: usize) -> Self {
        Self {
            text: text.to_owned(),
            map: OffsetMap::verbatim(source, text.len()),
        }
    }

    /// The part of the view at `span` of its text.
    ///
    /// `None` if an end of `span` is inside a stretch that was decoded as a whole.
    pub fn slice(&self, span: Span) -> Option<Self> {
        let text = self.text.get(span.range())?.to_owned();
        Some(Self {
            text,
            map: self.map.slice(span)?,
        })
    }

    /// Appends `next`, which follows this view in the same buffer.
    pub fn append(&mut self, next: &Self) {
        self.text.push_str(&next.text);
        self.map.append(&next.map);
    }
}

/// One stretch of a view.
#[derive(Clone, Copy, Debug)]
struct Run {
    view: Span,
    source: Span,
    /// The number of bytes of the buffer for each byte of the view; 0 if the stretch was decoded as a whole.
    stride: usize,
    /// The unterminated escape at the end of the stretch.
    open: Option<OpenEscape>,
}

/// An escape without an end mark, which might absorb the next character.
#[derive(Clone, Copy, Debug)]
pub enum OpenEscape {
    /// A named character reference without `;` (HTML, 13.2.5.73).
    Name,
    /// A decimal character reference without `;`.
    Decimal,
    /// A hexadecimal character reference without `;`.
    Hexadecimal,
    /// An escape of CSS without white space after it.
    Css,
}

impl OpenEscape {
    /// True if the escape would absorb `next`.
    pub fn takes(self, next: char) -> bool {
        match self {
            Self::Name => next.is_ascii_alphanumeric() || matches!(next, '=' | ';'),
            Self::Decimal => next.is_ascii_digit() || next == ';',
            Self::Hexadecimal => next.is_ascii_hexdigit() || next == ';',
            // Its last character may be a character reference without `;`.
            Self::Css => next.is_ascii_hexdigit() || next == ';' || next.is_whitespace(),
        }
    }
}

/// A map from offsets in a view's text to offsets in the underlying buffer.
///
/// Offsets in the buffer never decrease along the view. A stretch that was decoded as a whole (a character
/// reference, an escape, a character of another charset) is mapped only at its two ends.
#[derive(Clone, Debug, Default)]
pub struct OffsetMap {
    source: usize,
    len: usize,
    /// Empty if the whole view represents itself; otherwise gapless over `0..len`.
    runs: Vec<Run>,
    /// The unterminated escape directly before the view.
    before: Option<OpenEscape>,
}

impl OffsetMap {
    /// The map of `len` bytes at `source` that represent themselves.
    pub fn verbatim(source: usize, len: usize) -> Self {
        Self {
            source,
            len,
            ..Self::default()
        }
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
            self.runs = self.stretches().collect();
        }
        self.runs.extend(next.stretches().map(|run| Run {
            view: run.view.shifted(self.len),
            ..run
        }));
        self.len += next.len;
    }

    /// The runs; of a map without runs, the whole view as one.
    fn stretches(&self) -> impl Iterator<Item = Run> {
        let whole = self.runs.is_empty().then(|| Run {
            view: Span::new(0, self.len),
            source: self.source(),
            stride: 1,
            open: None,
        });
        whole.into_iter().chain(self.runs.iter().copied())
    }

    /// The span of the buffer that contains the whole view.
    pub fn source(&self) -> Span {
        match (self.runs.first(), self.runs.last()) {
            (Some(first), Some(last)) => Span::new(first.source.start, last.source.end),
            _ => Span::new(self.source, self.source + self.len),
        }
    }

    /// The run that contains the byte before the offset `view`.
    fn run_before(&self, view: usize) -> Option<&Run> {
        self.runs
            .get(self.runs.partition_point(|run| run.view.end < view))
    }

    /// The unterminated escape that ends directly before the offset `view`.
    pub fn open_before(&self, view: usize) -> Option<OpenEscape> {
        if view == 0 {
            return self.before;
        }
        self.run_before(view)
            .filter(|run| run.view.end == view)?
            .open
    }

    /// The offset in the buffer of the byte at `view`; at the view's end, the offset of its end.
    ///
    /// At the border of two stretches, the result is the end of the first. Bytes between them, such as a charset's
    /// escape sequence, belong to the second. `None` inside a stretch that was decoded as a whole, and after the
    /// end.
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

    /// The smallest span of the buffer that contains the view's `span`, widened to whole stretches.
    pub fn covering(&self, span: Span) -> Span {
        let within = |view: usize| {
            let view = view.min(self.len);
            let run = || {
                self.run_before(view)
                    .map_or(self.source(), |run| run.source)
            };
            self.to_source(view).map_or_else(run, Span::at)
        };
        Span::new(within(span.start).start, within(span.end).end)
    }

    /// True if the view's `span` is in the buffer byte for byte, in one piece.
    pub fn stands_verbatim(&self, span: Span) -> bool {
        self.runs.is_empty()
            || span.is_empty()
            || self
                .run_before(span.start + 1)
                .is_some_and(|run| run.stride == 1 && span.end <= run.view.end)
    }

    /// The map of the part of the view at `span`.
    ///
    /// `None` if an end of `span` is inside a stretch that was decoded as a whole.
    pub fn slice(&self, span: Span) -> Option<Self> {
        let start = self.to_source(span.start)?;
        self.to_source(span.end)?;
        let before = self.open_before(span.start);
        if self.runs.is_empty() {
            return Some(Self {
                before,
                ..Self::verbatim(start, span.len())
            });
        }
        let mut map = MapBuilder::default();
        map.parts(&self.runs, span);
        Some(Self {
            before,
            ..map.finish(start)
        })
    }

    /// The composition of this map with `beneath`: from this view directly to the lowest buffer.
    pub fn over(&self, beneath: &Self) -> Self {
        let start = self.source().start;
        let before = self
            .before
            .or_else(|| beneath.open_before(start.min(beneath.len)));
        if beneath.runs.is_empty() {
            let mut map = self.clone();
            map.source += beneath.source;
            map.before = before;
            for run in &mut map.runs {
                run.source = run.source.shifted(beneath.source);
            }
            return map;
        }
        let mut map = MapBuilder::default();
        for run in self.stretches() {
            if run.stride == 1 {
                map.parts(&beneath.runs, run.source);
            } else {
                map.whole(run.view.len(), beneath.covering(run.source), run.open);
            }
        }
        Self {
            before,
            ..map.finish(beneath.covering(Span::at(start)).start)
        }
    }
}

/// Builds an [`OffsetMap`] from the start of a view to its end.
#[derive(Debug, Default)]
pub struct MapBuilder {
    len: usize,
    runs: Vec<Run>,
}

impl MapBuilder {
    /// Maps the next `len` bytes of the view to the same bytes at `source`.
    pub fn verbatim(&mut self, source: usize, len: usize) {
        self.strided(source, len, 1);
    }

    /// Maps the next `len` bytes of the view to `stride` bytes each, from `source` on.
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
            self.runs.push(Run {
                view: Span::new(self.len, self.len + len),
                source: Span::new(source, source + len * stride),
                stride,
                open: None,
            });
        }
        self.len += len;
    }

    /// Maps the next `len` bytes of the view, as a whole, to the bytes at `source`.
    ///
    /// If `len` is 0, nothing is added, and the bytes at `source` belong to the next stretch.
    pub fn whole(&mut self, len: usize, source: Span, open: Option<OpenEscape>) {
        if len == 0 {
            return;
        }
        self.runs.push(Run {
            view: Span::new(self.len, self.len + len),
            source,
            stride: 0,
            open,
        });
        self.len += len;
    }

    /// Adds the parts of `runs` that are in `span` of their view.
    fn parts(&mut self, runs: &[Run], span: Span) {
        for run in &runs[runs.partition_point(|run| run.view.end <= span.start)..] {
            if run.view.start >= span.end {
                break;
            }
            let view = Span::new(run.view.start.max(span.start), run.view.end.min(span.end));
            match run.stride {
                0 => self.whole(view.len(), run.source, run.open),
                stride => {
                    let source = run.source.start + stride * (view.start - run.view.start);
                    self.strided(source, view.len(), stride);
                }
            }
        }
    }

    /// The finished map; an empty view is at the offset `source`.
    pub fn finish(self, source: usize) -> OffsetMap {
        match self.runs.as_slice() {
            [] => OffsetMap::verbatim(source, 0),
            [only] if only.stride == 1 => OffsetMap::verbatim(only.source.start, self.len),
            _ => OffsetMap {
                len: self.len,
                runs: self.runs,
                ..OffsetMap::default()
            },
        }
    }
}
