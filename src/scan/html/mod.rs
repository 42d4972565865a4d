//! HTML to a `Document`: every link of `docs/links.md` as its bytes are, and every `base`
//! element with its standing (HTML, 4.2.3).
//!
//! `engines` says which tags there are, `prelude` what has to be known before the links are, and a `pass` looks
//! the tags up in [`super::attributes`] and takes values apart. Text that is markup to somebody (`noscript`,
//! conditional comments) is scanned in place; a `srcdoc` is a document of its own.
//!
//! ```
//! use baselink::document::Standing;
//! let page = b"<base target=_top><base href=/a/><img srcset='b 1x, c 2x'>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! let references: Vec<_> = document.links.iter().map(|link| link.reference.as_str()).collect();
//! assert_eq!(references, ["/a/", "b", "c"]);
//! assert_eq!(document.bases[0].standing, Standing::First);
//! ```
//!
//! Deliberately absent: bases at work. Which base a link has, and to which target it leads, is decided
//! elsewhere.

pub(crate) mod document;
pub(crate) mod engines;
mod exact;
pub(crate) mod fetched;
pub(crate) mod pass;
pub(crate) mod prelude;
mod rows;
pub mod saved;
pub(crate) mod sink;
pub(crate) mod tag;
pub(crate) mod walk;

use self::sink::Event;

/// Whether html5ever, with a tree that keeps lists of children, takes no more than linear time on `text`.
pub(crate) fn has_affordable_tree(text: &[u8]) -> bool {
    exact::scan(text, 0..text.len(), true, &mut |_: Event<'_>| {})
        .is_ok_and(|facts| !facts.is_crowded)
}
