//! What a scanner is told about a document.
//!
//! ```
//! use baselink::{ScanOptions, scan};
//! let options = ScanOptions { ids: true, ..ScanOptions::default() };
//! assert_eq!(scan(b"<p id=top>", &options).ids, ["top"]);
//! assert!(scan(b"<p id=top>", &ScanOptions::default()).ids.is_empty());
//! ```
//!
//! Deliberately absent: bases. What is found is resolved elsewhere.

use std::sync::Arc;

use super::attributes::{Group, Groups, Place};
use crate::format::Format;
use crate::layer::charset::Charset;

/// What a scanner is told about a document.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// Its name, where it is one of several entities in a file.
    pub entity: Arc<str>,
    /// Its encoding, where it has no byte order mark.
    pub charset: Option<Charset>,
    /// The opt-in groups of places that count.
    pub groups: Groups,
    /// Further places.
    pub places: Vec<Place>,
    /// Whether what a fragment can name is collected: `id`, and `name` of `a`, in HTML (7.4.6.4, "find a
    /// potential indicated element"), `id` and `xml:id` in XML. It takes memory for each.
    pub ids: bool,
    /// Whether what programs wrote into a page when they saved it counts for nothing ([`saved`](crate::scan::html::saved)).
    pub ignore_saved: bool,
    /// Whether the content of a feed's entry is resolved against the link of the entry, where no `xml:base` is in
    /// force ([`ElementBase`](crate::document::ElementBase)).
    pub entry_links: bool,
    /// Which of the two scanners of HTML is asked first.
    #[doc(hidden)]
    pub scanner: Scanner,
}

/// Whether this version finds links in a document of the given format.
#[doc(hidden)]
#[must_use]
pub fn is_read(format: Format, options: &ScanOptions) -> bool {
    match format {
        Format::Html | Format::Css | Format::Xhtml | Format::Svg | Format::Xml => true,
        _ => group_of(format).is_some_and(|group| options.groups.contains(group)),
    }
}

/// The group without which a document of the given format is not read.
#[doc(hidden)]
#[must_use]
pub fn group_of(format: Format) -> Option<Group> {
    match format {
        Format::Plain => Some(Group::Text),
        Format::Script => Some(Group::Scripts),
        Format::Manifest => Some(Group::Manifest),
        _ => None,
    }
}

/// The scanners of HTML. They find the same links; tests compare them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scanner {
    /// The one that walks over the bytes (`walk`), and the other where it cannot prove that it is
    /// right.
    #[default]
    Fast,
    /// html5ever with positions (`exact`): the referee.
    Exact,
}
