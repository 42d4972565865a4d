//! Scans HTML into a `Document`: every link of `docs/links.md` as written, and every `base` element with its
//! standing (HTML, 4.2.3).
//!
//! `engines` finds the tags, and `prelude` finds the encoding and the declared bases in advance. A `pass` looks up
//! the tags in [`super::attributes`] and splits values. Text that some readers treat as markup (`noscript`,
//! conditional comments) is scanned in place; a `srcdoc` is a separate document.
//!
//! ```
//! use baselink_scan::document::Standing;
//! let page = b"<base target=_top><base href=/a/><img srcset='b 1x, c 2x'>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! let references: Vec<_> = document.links.iter().map(|link| link.reference.as_str()).collect();
//! assert_eq!(references, ["/a/", "b", "c"]);
//! assert_eq!(document.bases[0].standing, Standing::First);
//! ```
//!
//! Deliberately absent: the effect of bases. Other modules determine the base and target of a link.

pub mod document;
pub mod engines;
mod exact;
pub mod pass;
pub mod prelude;
pub mod references;
mod rows;
pub mod saved;
pub mod sheets;
pub mod sink;
pub mod tag;
pub mod walk;

use self::sink::Event;

/// True if html5ever takes at most linear time on `text`, even with a tree that keeps lists of children.
pub fn has_affordable_tree(text: &[u8]) -> bool {
    exact::scan(text, 0..text.len(), true, &mut |_: Event<'_>| {})
        .is_ok_and(|facts| !facts.has_costly_lists)
}
