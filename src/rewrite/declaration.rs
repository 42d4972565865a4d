//! A declaration of the encoding that must not leave the first 1024 bytes of a page.
//!
//! The prescan looks there only, and at bytes (HTML, 13.2.3.3): it takes what looks like a `meta` element in the text of a
//! script for one. Where links before it grow, so that it comes to lie further on, an element still counts when the
//! parser comes to it (13.2.3.5), and text does not: the page would be read in another encoding.
//!
//! ```text
//! <a href=x>…<script>"<meta charset=gbk>"</script>      x  -->  left, where the declaration would end after byte 1024
//! ```
//!
//! Deliberately absent: what becomes of the link.

use crate::layer::charset::{Charset, PRESCANNED};
use crate::scan::html::prelude::declares;

/// What the prescan found in a document.
#[derive(Clone, Copy, Default)]
pub(super) struct PrescannedMeta {
    /// Where it ends; 0 where nothing depends on that.
    end: usize,
    /// Where it ends with the edits so far.
    now: usize,
    /// True if it is not an element; `None` until that is looked up.
    is_text: Option<bool>,
}

impl PrescannedMeta {
    /// What ends at `end`.
    pub(super) fn at(end: usize) -> Self {
        Self { end, now: end, is_text: None }
    }

    /// True if `at` is before it.
    #[inline(always)]
    pub(super) fn is_after(&self, at: usize) -> bool {
        at < self.end
    }

    /// True if it is not an element of the document that begins with `head` and is in `charset`. That is looked up once.
    fn is_text(&mut self, head: &[u8], charset: Charset) -> bool {
        self.end > 0 && *self.is_text.get_or_insert_with(|| !declares(head, charset))
    }

    /// True if `new` bytes in the place of `old` ones before it would move it out of the prescan. If not, the edit is noted.
    #[cold]
    pub(super) fn would_leave(
        &mut self,
        (old, new): (usize, usize),
        head: &[u8],
        charset: Charset,
    ) -> bool {
        let now = (self.now + new).saturating_sub(old);
        if now > PRESCANNED && self.is_text(head, charset) {
            return true;
        }
        self.now = now;
        false
    }
}
