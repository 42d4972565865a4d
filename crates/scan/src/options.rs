//! The options of a scanner.
//!
//! ```
//! use baselink_scan::{ScanOptions, scan};
//! let options = ScanOptions { ids: true, ..ScanOptions::default() };
//! assert_eq!(scan(b"<p id=top>", &options).ids, ["top"]);
//! assert!(scan(b"<p id=top>", &ScanOptions::default()).ids.is_empty());
//! ```
//!
//! Deliberately absent: bases. Other modules resolve the links.

use std::sync::Arc;

use baselink_text::{Charset, Format};

use super::attributes::{Group, Groups, Place, Row};
use crate::document::Certainty;

/// The options of a scanner.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// The name of the document, if the file contains several entities.
    pub entity: Arc<str>,
    /// The encoding of the document, if it has no byte order mark.
    pub charset: Option<Charset>,
    /// The enabled groups of places.
    pub groups: Groups,
    /// The groups of `groups` in which a link counts only if it leads to a resource of the site. Faults of scripts in
    /// these groups are not reported.
    pub probed: Groups,
    /// Additional places.
    pub places: Arc<[Place]>,
    /// True if the possible targets of fragments are collected: `id`, the `name` of `a` (HTML, 7.4.6.4, "find a
    /// potential indicated element") and, in XML, `xml:id`. Each takes memory.
    pub ids: bool,
    /// True if the notes that programs add to a page when they save it are ignored
    /// ([`saved`](crate::html::saved)).
    pub ignore_saved: bool,
    /// True if the content of a feed's entry is resolved against the link of the entry, unless an `xml:base` is in
    /// force ([`ElementBase`](crate::document::ElementBase)).
    pub entry_links: bool,
    /// The HTML scanner to try first.
    pub scanner: Scanner,
}

impl ScanOptions {
    /// Reads the documents of a site: with manifests, and the groups `lazy` and `scripts` for links to its resources, unless
    /// they are enabled.
    pub fn probe(&mut self) {
        self.groups.insert(Group::Manifest);
        for group in [Group::Lazy, Group::Scripts] {
            if !self.groups.contains(group) {
                self.groups.insert(group);
                self.probed.insert(group);
            }
        }
    }

    /// True if a document of the given format is read only for links to resources of the site.
    pub fn is_probed(&self, format: Format) -> bool {
        group_of(format).is_some_and(|group| self.probed.contains(group))
    }

    /// The certainty of a reference in a place of `row`.
    #[inline(always)]
    pub(crate) fn certainty_of(&self, row: &Row) -> Certainty {
        match row.group {
            Some(group) if !self.groups.contains(group) => Certainty::IfLeadsOut,
            group => self.certainty(group),
        }
    }

    /// The certainty of a reference in a place of `group`.
    #[inline(always)]
    pub(crate) fn certainty(&self, group: Option<Group>) -> Certainty {
        match group {
            None => Certainty::Certain,
            Some(group) if self.probed.contains(group) => Certainty::IfFound,
            Some(Group::Social | Group::Json | Group::Lazy) => Certainty::Doubtful,
            Some(_) => Certainty::Certain,
        }
    }
}

/// True if links in a document of the given format are read: the format is supported, and its group, if it has one, is
/// enabled.
pub fn is_read(format: Format, options: &ScanOptions) -> bool {
    match format {
        Format::Html | Format::Css | Format::Xhtml | Format::Svg | Format::Xml => true,
        Format::JsonFeed if options.groups.contains(Group::Json) => true,
        _ => group_of(format).is_some_and(|group| options.groups.contains(group)),
    }
}

/// The group that must be enabled to read a document of the given format; `None` if the format has no group.
pub fn group_of(format: Format) -> Option<Group> {
    match format {
        Format::Plain => Some(Group::Text),
        Format::Script => Some(Group::Scripts),
        Format::Manifest | Format::JsonFeed => Some(Group::Manifest),
        _ => None,
    }
}

/// The scanners of HTML. They find the same links, and tests compare them.
#[derive(Clone, Copy, Debug, Default)]
pub enum Scanner {
    /// The fast scanner (`walk`). If it cannot prove its result, the exact scanner is the fallback.
    #[default]
    Fast,
    /// html5ever with positions (`exact`): the reference implementation.
    Exact,
    /// The tokenizer alone, as in a preload scanner.
    Preload,
    /// html5ever in a browser that runs no scripts (HTML, 13.2.4.5, the scripting flag).
    Unscripted,
}
