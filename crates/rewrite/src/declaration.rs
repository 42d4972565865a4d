//! A declaration of the encoding that must stay within the first 1024 bytes of a page.
//!
//! The prescan reads only those bytes (HTML, 13.2.3.2), and takes anything that looks like a `meta` element for
//! one, even in the text of a script. If links before the declaration grow, the declaration may move beyond byte 1024.
//! There, a real `meta` element still counts, once the parser reaches it (13.2.3.4). Text that looks like an element
//! does not, so the page would be read in another encoding.
//!
//! ```text
//! <a href=x>…<script>"<meta charset=gbk>"</script>      x  -->  kept, if the declaration would end after byte 1024
//! ```
//!
//! Deliberately absent: the outcome of the link.

use baselink_scan::html::prelude::declares;
use baselink_text::{Charset, layer::charset::PRESCANNED};

/// The declaration that the prescan found in a document.
pub struct PrescannedMeta {
    /// The offset of its end; 0 if nothing depends on it.
    end: usize,
    /// The offset of its end after the edits so far.
    now: usize,
    /// True if the declaration is not an element; `None` until checked.
    is_text: Option<bool>,
}

impl PrescannedMeta {
    /// A declaration that ends at `end`.
    pub fn at(end: usize) -> Self {
        Self {
            end,
            now: end,
            is_text: None,
        }
    }

    /// True if the declaration ends after the offset `at`.
    #[inline(always)]
    pub fn is_after(&self, at: usize) -> bool {
        at < self.end
    }

    /// True if the declaration is not an element of the document that begins with `head` and is in `charset`. The
    /// result is cached.
    fn is_text(&mut self, head: &[u8], charset: Charset) -> bool {
        self.end > 0 && *self.is_text.get_or_insert_with(|| !declares(head, charset))
    }

    /// True if replacing `old` bytes before the declaration by `new` bytes moves it out of the prescan. Otherwise the
    /// edit is recorded.
    #[cold]
    pub fn would_leave(
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
