//! The edits of one buffer: spans and their replacements.
//!
//! Offsets refer to the original buffer. This crate changes documents only through edits, so bytes outside all
//! edits stay unchanged. The module knows nothing about the meaning of bytes.
//!
//! ```
//! use baselink_text::{edit::Edits, span::Span};
//! let mut edits = Edits::default();
//! edits.push(Span::at(8), b"http://a/").unwrap();
//! assert_eq!(edits.apply(b"<a href=b>"), b"<a href=http://a/b>");
//! ```
//!
//! Deliberately absent: edits that depend on each other. All edits are disjoint, and one pass applies them.

use std::{borrow::Cow, collections::TryReserveError, io, ops::Range};

use crate::{
    error::{Error, ErrorKind, Result},
    span::Span,
};

/// The size of the chunks in which output is written.
const CHUNK: usize = 64 << 10;

/// The length up to which [`append`] copies bytes without a call of `memcpy`. Most prefixes of links are shorter.
const SHORT: usize = 32;

/// One replacement of the bytes at `span` by `new`. An empty span inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit<'a> {
    /// The replaced bytes, as offsets into the original buffer.
    pub span: Span,
    /// The replacement.
    pub new: Cow<'a, [u8]>,
}

impl Edit<'_> {
    /// The place of the new bytes in the output, if the edits before add and remove these numbers of bytes.
    fn in_output(&self, added: usize, removed: usize) -> Range<usize> {
        let start = self.span.start + added - removed;
        start..start + self.new.len()
    }

    #[doc(hidden)]
    /// The number of bytes by which the buffer grows; negative if it shrinks.
    pub fn growth(&self) -> isize {
        self.new.len().cast_signed() - self.span.len().cast_signed()
    }

    /// Converts the edit into one that owns its new bytes.
    pub fn into_owned(self) -> Edit<'static> {
        Edit {
            span: self.span,
            new: Cow::Owned(self.new.into_owned()),
        }
    }
}

/// The edits of one buffer. Invariant: sorted by position and disjoint; two may touch.
///
/// Most links of a document get the same prefix in place of the same number of bytes. An edit is therefore a
/// position and an index into shared replacements.
///
/// ```
/// # use baselink_text as baselink;
/// use baselink::Edits;
/// let mut edits = Edits::default();
/// edits.push((0..1).into(), "A")?;
/// edits.push((4..5).into(), "http://b/")?;
/// assert!(edits.push((3..5).into(), "overlaps").is_err());
/// assert_eq!(edits.apply(b"a = c"), b"A = http://b/");
/// # Ok::<(), baselink::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Edits {
    places: Vec<EditPlace>,
    replacements: Vec<EditText>,
    /// The new bytes of all replacements, concatenated.
    text: Vec<u8>,
    /// The end of the last edit.
    end: usize,
}

/// The position of an edit, and the index of its replacement.
#[derive(Clone, Debug)]
struct EditPlace {
    start: usize,
    replacement: usize,
}

/// The number of replaced bytes, and the replacement as a span of `Edits::text`.
#[derive(Clone, Copy, Debug)]
struct EditText {
    old: usize,
    new: Span,
}

impl Edits {
    /// Adds an edit after all present ones.
    ///
    /// # Errors
    ///
    /// Returns an error, and leaves the list unchanged, if `span` begins before the end of the last edit.
    pub fn push(&mut self, span: Span, new: impl AsRef<[u8]>) -> Result<()> {
        if self.add(span, new.as_ref()) {
            return Ok(());
        }
        let Some(last) = self.iter().next_back() else {
            return Ok(());
        };
        let (Span { start, end }, last) = (span, last.span);
        let sentence = format!(
            "an edit at {start}..{end} overlaps the one at {}..{}",
            last.start, last.end
        );
        Err(Error::of(ErrorKind::Overlap, sentence))
    }

    fn place(&mut self, span: Span, new: &[u8]) {
        let old = span.len();
        if !self
            .replacements
            .last()
            .is_some_and(|last| last.old == old && self.text[last.new.range()] == *new)
        {
            let start = self.text.len();
            self.text.extend_from_slice(new);
            self.replacements.push(EditText {
                old,
                new: Span::new(start, self.text.len()),
            });
        }
        self.places.push(EditPlace {
            start: span.start,
            replacement: self.replacements.len() - 1,
        });
    }

    /// Adds the edits of an inner buffer, which begins at offset `start` of this one, after all present edits.
    ///
    /// # Errors
    ///
    /// Returns an error if an edit begins before the end of the last one; that edit and all later ones are not
    /// added.
    ///
    /// ```
    /// # use baselink_text as baselink;
    /// use baselink::{Edits, Span};
    /// let (mut all, mut inner) = (Edits::default(), Edits::default());
    /// all.push(Span::new(0, 1), b"A").unwrap();
    /// inner.push(Span::new(1, 2), b"C").unwrap();
    /// all.append(&inner, 1).unwrap();
    /// assert_eq!(all.apply(b"abc"), b"AbC");
    /// ```
    pub fn append(&mut self, inner: &Self, start: usize) -> Result<()> {
        inner
            .iter()
            .try_for_each(|edit| self.push(edit.span.shifted(start), edit.new))
    }

    /// Iterates over the edits in buffer order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Edit<'_>> + ExactSizeIterator + Clone {
        self.places.iter().map(|place| self.edit(place))
    }

    fn edit(&self, place: &EditPlace) -> Edit<'_> {
        let EditText { old, new } = self.replacements[place.replacement];
        Edit {
            span: Span::new(place.start, place.start + old),
            new: self.text[new.range()].into(),
        }
    }

    /// True if there are no edits.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of edits.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The edits inside `span`, with offsets relative to its start.
    pub fn within(&self, span: Span) -> Self {
        let first = self
            .places
            .partition_point(|place| place.start < span.start);
        let edits = self.places[first..].iter().map(|place| self.edit(place));
        let mut inside = Self::default();
        for Edit { span: place, new } in edits.take_while(|edit| edit.span.end <= span.end) {
            inside.add(
                Span::new(place.start - span.start, place.end - span.start),
                &new,
            );
        }
        inside
    }

    /// Calls `piece` with each kept stretch of `source` and the new bytes that follow it. Returns `None` if an edit
    /// ends beyond `source`, or as soon as `piece` returns `None`.
    fn each_piece(
        &self,
        source: &[u8],
        mut piece: impl FnMut(&[u8], &[u8]) -> Option<()>,
    ) -> Option<()> {
        let mut at = 0;
        for Edit { span, new } in self.iter() {
            piece(source.get(at..span.start)?, &new)?;
            at = span.end;
        }
        piece(source.get(at..)?, &[])
    }

    /// Writes `source` with the edits applied, in chunks of about 64 KiB.
    ///
    /// # Errors
    ///
    /// Returns errors of `out`, and an error if an edit ends beyond `source`.
    pub fn write_to(&self, source: &[u8], out: &mut impl io::Write) -> io::Result<()> {
        let most = CHUNK.min(source.len() + source.len() / 8 + 256);
        let mut piece = Vec::with_capacity(most + SHORT);
        let mut at = 0;
        // Consecutive edits mostly share a replacement, so it is looked up only when it changes. `padded` begins with
        // the new bytes, or with the first of them, as `append` requires.
        let (mut replacement, mut old, mut new) = (usize::MAX, 0, &[][..]);
        let mut padded = [0; SHORT];
        for place in &self.places {
            if place.replacement != replacement {
                let text = &self.replacements[place.replacement];
                (replacement, old, new) =
                    (place.replacement, text.old, &self.text[text.new.range()]);
                let short = new.len().min(SHORT);
                padded[..short].copy_from_slice(&new[..short]);
            }
            let kept = source
                .get(at..place.start)
                .ok_or(io::ErrorKind::InvalidInput)?;
            if piece.len() + kept.len() + new.len() > most {
                for bytes in [&piece, kept, new] {
                    out.write_all(bytes)?;
                }
                piece.clear();
            } else {
                append(kept, &source[at..], &mut piece);
                append(new, &padded, &mut piece);
            }
            at = place.start + old;
        }
        out.write_all(&piece)?;
        out.write_all(source.get(at..).ok_or(io::ErrorKind::InvalidInput)?)
    }

    /// Returns `source` with the edits applied. If an edit ends beyond `source`, returns `source` unchanged.
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        self.apply_into(source, Vec::with_capacity(self.longest(source)))
    }

    /// An upper bound of the output length.
    fn longest(&self, source: &[u8]) -> usize {
        source.len() + self.iter().map(|edit| edit.new.len()).sum::<usize>()
    }

    fn apply_into(&self, source: &[u8], mut out: Vec<u8>) -> Vec<u8> {
        self.each_piece(source, |kept, new| {
            out.extend_from_slice(kept);
            out.extend_from_slice(new);
            Some(())
        })
        .map_or_else(|| source.to_vec(), |()| out)
    }
}

#[doc(hidden)]
impl Edits {
    /// Adds an edit if it begins after all present ones. Returns true if it was added.
    pub fn add(&mut self, span: Span, new: &[u8]) -> bool {
        let is_apart = self.end <= span.start;
        if is_apart {
            self.end = span.end;
            self.place(span, new);
        }
        is_apart
    }

    /// Adds an edit with the same replacement as the previous one, without comparing bytes, if it begins after all
    /// present ones. `span` must be as long as the span of the previous edit.
    #[inline(always)]
    pub fn repeat(&mut self, span: Span) {
        if self.end <= span.start {
            self.end = span.end;
            self.places.push(EditPlace {
                start: span.start,
                replacement: self.replacements.len().saturating_sub(1),
            });
        }
    }

    /// Adds `later`, which are edits of the output of these. An edit that changes new bytes is ignored.
    ///
    /// ```
    /// use baselink_text::Edits;
    /// use baselink_text::Span;
    /// let (mut edits, mut later) = (Edits::default(), Edits::default());
    /// edits.add(Span::new(0, 1), b"xyz");
    /// later.add(Span::new(4, 5), b"C");
    /// edits.then(&later);
    /// assert_eq!(edits.apply(b"abc"), b"xyzbC");
    /// ```
    pub fn then(&mut self, later: &Self) {
        let mut own = self.iter().peekable();
        // The lengths of the new and the old bytes of the edits before.
        let (mut added, mut removed) = (0, 0);
        let mut beneath = Vec::new();
        for edit in later.iter() {
            while let Some(one) =
                own.next_if(|one| one.in_output(added, removed).end <= edit.span.start)
            {
                added += one.new.len();
                removed += one.span.len();
            }
            let is_old = own
                .peek()
                .is_none_or(|one| one.in_output(added, removed).start >= edit.span.end);
            if is_old {
                let [start, end] = [edit.span.start, edit.span.end].map(|at| at + removed - added);
                beneath.push(Edit {
                    span: Span::new(start, end),
                    new: edit.new,
                });
            }
        }
        drop(own);
        self.merge(beneath);
    }

    /// Adds `others`, which may precede or interleave with present edits. If edits overlap, the first wins.
    pub fn merge<'e>(&mut self, others: impl IntoIterator<Item = Edit<'e>>) {
        let sorted = self.places.len();
        others
            .into_iter()
            .for_each(|edit| self.place(edit.span, &edit.new));
        if self.places.len() == sorted {
            return;
        }
        let Self {
            places,
            replacements,
            end,
            ..
        } = self;
        let old = |place: &EditPlace| replacements[place.replacement].old;
        places.sort_by_key(|place| (place.start, old(place)));
        *end = 0;
        places.retain(|place| {
            let is_apart = *end <= place.start;
            if is_apart {
                *end = place.start + old(place);
            }
            is_apart
        });
    }

    /// True if applying the edits to `source` gives `result`.
    pub fn make(&self, source: &[u8], result: &[u8]) -> bool {
        let mut rest = result;
        let takes = |kept: &[u8], new: &[u8]| {
            rest = rest.strip_prefix(kept)?.strip_prefix(new)?;
            Some(())
        };
        self.each_piece(source, takes).is_some() && rest.is_empty()
    }

    /// Like [`Self::apply`], but fails if memory is exhausted.
    pub fn try_apply(&self, source: &[u8]) -> Result<Vec<u8>, TryReserveError> {
        let mut out = Vec::new();
        out.try_reserve_exact(self.longest(source))?;
        Ok(self.apply_into(source, out))
    }
}

/// Appends `bytes` to `out`. If they are at most [`SHORT`] bytes long, `padded` must begin with them.
///
/// Most copies in [`Edits::write_to`] are a few bytes long. A copy of variable length calls `memcpy`, whereas a copy
/// of [`SHORT`] bytes takes a few instructions. For short `bytes`, this function therefore copies [`SHORT`] bytes of
/// `padded` and truncates `out` afterwards. The caller reserves capacity for the surplus.
#[inline]
fn append(bytes: &[u8], padded: &[u8], out: &mut Vec<u8>) {
    match padded.first_chunk::<SHORT>() {
        Some(chunk) if bytes.len() <= SHORT => {
            let end = out.len() + bytes.len();
            out.extend_from_slice(chunk);
            out.truncate(end);
        }
        _ => out.extend_from_slice(bytes),
    }
}

impl PartialEq for Edits {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Edits {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn touching_edits_are_made_in_order_and_overlapping_ones_refused() {
        let mut edits = Edits::default();
        edits.push(Span::new(0, 2), b"A").unwrap();
        edits.push(Span::at(2), b"+").unwrap();
        edits.push(Span::new(2, 3), b"").unwrap();
        assert!(edits.push(Span::new(2, 4), b"").is_err());
        assert_eq!(edits.apply(b"abcd"), b"A+d");
        assert!(edits.make(b"abcd", b"A+d"));
        for other in ["", "A+", "A+dd", "A-d", "B+d"] {
            assert!(!edits.make(b"abcd", other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn edits_of_a_part_count_from_its_start() {
        let mut edits = Edits::default();
        edits.push(Span::new(0, 2), b"A").unwrap();
        edits.push(Span::new(3, 4), b"D").unwrap();
        edits.push(Span::at(6), b"!").unwrap();
        edits.push(Span::new(6, 7), b"").unwrap();
        assert_eq!(edits.within(Span::new(2, 6)).apply(b"cdef"), b"cDef!");
    }

    #[test]
    fn an_edit_beyond_the_end_leaves_the_buffer_unchanged() {
        let mut edits = Edits::default();
        edits.push(Span::new(3, 9), b"x").unwrap();
        assert_eq!(edits.apply(b"abcd"), b"abcd");
        assert!(!edits.make(b"abcd", b"abcx"));
    }

    #[test]
    fn merged_edits_are_sorted() {
        let mut edits = Edits::default();
        for start in [2, 6] {
            edits.push(Span::new(start, start + 1), b"-").unwrap();
        }
        let edit = |start, end| Edit {
            span: Span::new(start, end),
            new: b"+"[..].into(),
        };
        edits.merge([edit(0, 1), edit(4, 5), edit(6, 8)]);
        assert_eq!(edits.apply(b"abcdefgh"), b"+b-d+f-h");
        assert!(edits.push(Span::at(6), b"").is_err());
    }

    #[test]
    fn writing_equals_applying() {
        let source: Vec<u8> = (0..3 * CHUNK).map(|at| (at % 251) as u8).collect();
        for (step, old) in [(7, 3), (40, 40), (1_000, 0), (CHUNK + 1, 5)] {
            let mut edits = Edits::default();
            for start in (0..source.len() - old).step_by(step) {
                let new = vec![b'+'; start / step % 4 * 20];
                edits.push(Span::new(start, start + old), new).unwrap();
            }
            let mut written = Vec::new();
            edits.write_to(&source, &mut written).unwrap();
            assert!(written == edits.apply(&source), "{old} of {step}");
        }
    }
}
