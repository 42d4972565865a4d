//! The links of a feed's entries, as bases of what the entries contain (`ScanOptions::entry_links`).
//!
//! | feed | entry | its link | what it contains |
//! |---|---|---|---|
//! | Atom (RFC 4287) | `entry` | the first `link` with `rel="alternate"` or none and a type of HTML or none; else the first of another type | `content`, `summary`, `title`, `rights` |
//! | RSS 0.9 to 2.0 | `item` | `link`; an Atom `link` as above; else a `guid` without `isPermaLink="false"` | `description`, `content:encoded`, `media:description` |
//!
//! That is what feedparser takes for the link of an entry. It may come after the content, so an entry gets
//! its place among the bases when it begins, and its value later.
//!
//! ```
//! use baselink::document::Against;
//! use baselink::{ScanOptions, format::Format, scan_as};
//! let feed = br#"<feed xmlns="http://www.w3.org/2005/Atom"><entry>
//!     <content type="html">&lt;a href="x"></content><link href="http://a/1"/></entry></feed>"#;
//! let options = ScanOptions { entry_links: true, ..ScanOptions::default() };
//! let document = scan_as(Format::Xml, feed, &options).unwrap();
//! assert_eq!(document.element_bases[0].value, "http://a/1");
//! assert_eq!(document.parts[0].within, Against::Element(0));
//! ```
//!
//! Deliberately absent: entries for which an `xml:base` is in force. The feed has said what it means.

use super::namespaces::Vocabulary;
use crate::document::{BaseDoubt, ElementBase};
use crate::layer::View;
use crate::layer::xml::EntityUse;
use crate::scan::value;
use crate::span::Span;

/// What is known of the link of an entry that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryLink {
    /// The place of the entry among the bases of elements.
    pub(super) base: usize,
    /// What has given its value so far.
    by: Option<EntryLinkElement>,
}

/// What gives the link of an entry, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EntryLinkElement {
    /// A link to a page.
    Page,
    /// A link to something else.
    Other,
    /// An identifier that is a URL.
    Guid,
}

/// Whether an element with this local name is an entry.
pub(super) fn is_entry(vocabulary: Vocabulary, local: &str) -> bool {
    matches!((vocabulary, local), (Vocabulary::Atom, "entry") | (Vocabulary::Rss, "item"))
}

/// Whether an element with this local name, a child of an entry, is content of the entry.
pub(super) fn is_content(vocabulary: Vocabulary, local: &str) -> bool {
    matches!(
        (vocabulary, local),
        (Vocabulary::Atom, "content" | "summary" | "title" | "rights" | "copyright")
            | (Vocabulary::Rss | Vocabulary::Media, "description")
            | (Vocabulary::RssContent, "encoded")
    )
}

/// Whether the text of a `guid` is a URL, by its `isPermaLink` (RSS 2.0: the default is that it is).
pub(super) fn is_permalink(value: Option<&str>) -> bool {
    value.is_none_or(|value| !value.trim().eq_ignore_ascii_case("false"))
}

impl EntryLinkElement {
    /// What an Atom `link` with this `rel` gives, and `type_` says of what type its target is; nothing where it is
    /// not the link of its entry.
    pub(super) fn of_link(rel: &str, type_: impl FnOnce() -> String) -> Option<Self> {
        // RFC 4287, 4.2.7.2: without the attribute it is `alternate`, which is also a name of a registry.
        let rel = rel.trim().rsplit("relation/").next().unwrap_or_default();
        if !matches!(rel, "" | "alternate") {
            return None;
        }
        let type_ = type_().to_ascii_lowercase();
        Some(match type_.split(';').next().unwrap_or_default().trim() {
            "" | "text/html" | "application/xhtml+xml" => Self::Page,
            _ => Self::Other,
        })
    }

    /// What the text of an element of this local name gives.
    pub(super) fn of_text(vocabulary: Vocabulary, local: &str) -> Option<Self> {
        match (vocabulary, local) {
            (Vocabulary::Rss, "link") => Some(Self::Page),
            (Vocabulary::Rss, "guid") => Some(Self::Guid),
            _ => None,
        }
    }
}

impl EntryLink {
    /// That of an entry that begins with the tag at `span`, which gets its place among the `bases` of elements.
    pub(super) fn begin(span: Span, bases: &mut Vec<ElementBase>) -> Self {
        bases.push(ElementBase {
            is_entry_link: true,
            outer: None,
            value: String::new(),
            doubt: None,
            span: Span::at(span.start),
        });
        Self { base: bases.len() - 1, by: None }
    }

    /// Notes a link of the entry, unless a stronger one is known.
    pub(super) fn note(
        &mut self,
        by: EntryLinkElement,
        view: &View,
        entities: &[EntityUse],
        bases: &mut [ElementBase],
    ) {
        let trimmed = value::trimmed(&view.text);
        let text = &view.text[trimmed.range()];
        // What an identifier looks like when it is none.
        let is_url = by != EntryLinkElement::Guid || text.contains("://");
        if text.is_empty() || !is_url || self.by.is_some_and(|known| known <= by) {
            return;
        }
        self.by = Some(by);
        if let Some(base) = bases.get_mut(self.base) {
            base.value = text.to_owned();
            base.doubt = BaseDoubt::of_value(entities);
            base.span = view.map.covering(trimmed);
        }
    }
}
