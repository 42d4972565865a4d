//! The sink that writes: bytes go out as the links among them are passed.
//!
//! What lies between two links is copied from the document when the second comes. Where output is given away in
//! pieces, that is done where a tag begins, and where a window ends.
//!
//! ```
//! // What lies before the second link is copied, whatever it is.
//! use baselink::{Options, rewrite_into};
//! let mut out = Vec::new();
//! let page = b"<a href=x>y</a  ><!-- z --><a href=http://b/>";
//! let _ = rewrite_into(page, &Options::at("http://a/"), &mut out);
//! assert_eq!(out, b"<a href=http://a/x>y</a  ><!-- z --><a href=http://b/>");
//! ```
//!
//! Deliberately absent: what is written. The driver says it.

use std::io;

use super::judged::Judged;
use super::sink::LinkSink;
use crate::edit::Edit;
use crate::resolve::Splice;

/// Pieces of the output are no smaller.
pub(super) const LEAST: usize = 16;

/// Takes what is in a piece of the output, and leaves the piece empty.
pub(super) type Give<'a> = dyn FnMut(&mut Vec<u8>) -> io::Result<()> + 'a;

/// Writes the output while links come in.
pub(super) struct Write<'a, 'g> {
    out: &'a mut Vec<u8>,
    /// How much was in it before.
    start: usize,
    /// What takes the output in pieces of about `most` bytes.
    give: Option<&'a mut Give<'g>>,
    most: usize,
    /// Whether nothing may be given away before it is known what the document declares.
    is_held: bool,
    /// Up to where the window has been written.
    copied: usize,
    changed: bool,
}

impl<'a, 'g> Write<'a, 'g> {
    /// Puts the output after what `out` holds.
    pub(super) fn into(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, give: None, most: usize::MAX, is_held: false, copied: 0, changed: false }
    }

    /// Gathers the output in `buffer`, and gives it away in pieces of about the buffer's capacity.
    pub(super) fn in_pieces(buffer: &'a mut Vec<u8>, give: &'a mut Give<'g>) -> Self {
        buffer.clear();
        let most = buffer.capacity().max(LEAST);
        Self { give: Some(give), most, ..Self::into(buffer) }
    }

    /// Writes the window up to what `edit` replaces, and then what is new.
    pub(super) fn edit(&mut self, window: &[u8], edit: &Edit) -> io::Result<()> {
        self.keep(window, edit.span.start)?;
        self.out.extend_from_slice(&edit.new);
        self.copied = edit.span.end;
        self.changed = true;
        Ok(())
    }

    /// Copies the window up to `to`, in pieces where the output is given away.
    fn keep(&mut self, window: &[u8], to: usize) -> io::Result<()> {
        let most = if self.is_held { usize::MAX } else { self.most };
        loop {
            let kept = window.get(self.copied..to).ok_or(io::ErrorKind::InvalidInput)?;
            let room = most.saturating_sub(self.out.len()).max(1);
            let kept = &kept[..kept.len().min(room)];
            self.out.extend_from_slice(kept);
            self.copied += kept.len();
            if self.copied == to {
                return Ok(());
            }
            self.give()?;
        }
    }

    fn give(&mut self) -> io::Result<()> {
        match &mut self.give {
            Some(give) => give(self.out),
            None => Ok(()),
        }
    }
}

impl LinkSink for Write<'_, '_> {
    type End = io::Error;
    const IS_LAST: bool = true;

    fn hold(&mut self) {
        self.is_held = true;
    }

    fn begin_anew(&mut self) {
        self.out.truncate(self.start);
        (self.copied, self.changed, self.is_held) = (0, false, false);
    }

    #[inline(always)]
    fn is_full(&self, at: usize) -> bool {
        self.out.len() + at.saturating_sub(self.copied) >= self.most
    }

    #[cold]
    fn flush(&mut self, window: &[u8], at: usize) -> io::Result<()> {
        self.is_held = false;
        if at > self.copied {
            self.keep(window, at)?;
        }
        self.give()
    }

    #[inline(always)]
    fn splice(&mut self, window: &[u8], at: usize, splice: Splice<'_>) {
        self.out.extend_from_slice(window.get(self.copied..at).unwrap_or_default());
        self.out.extend_from_slice(splice.prefix.as_bytes());
        self.copied = at + splice.dropped;
        self.changed = true;
    }

    fn judged(&mut self, window: &[u8], judged: Judged) -> io::Result<()> {
        judged.edits.iter().try_for_each(|edit| self.edit(window, edit))
    }

    fn slide(&mut self, window: &[u8], done: usize) -> io::Result<()> {
        if done > self.copied {
            self.keep(window, done)?;
        }
        self.copied -= done.min(self.copied);
        Ok(())
    }

    fn widen(&mut self, offset: usize) {
        self.copied += offset;
    }

    fn end(&mut self, window: &[u8]) -> io::Result<()> {
        self.is_held = false;
        self.keep(window, window.len())?;
        self.give()
    }

    fn has_changed(&self) -> bool {
        self.changed
    }
}
