//! The links of a feed's entries, as bases for the content of the entries (`ScanOptions::entry_links`).
//!
//! | feed | entry | its link | what it contains |
//! |---|---|---|---|
//! | Atom (RFC 4287) | `entry` | the first `link` whose `rel` is `alternate` or absent and whose `type` is HTML or absent; else the first such `link` of another type | `content`, `summary`, `title`, `rights` |
//! | RSS 0.9 to 2.0 | `item` | `link`; an Atom `link` as above; else a `guid` without `isPermaLink="false"` | `description`, `content:encoded`, `media:description` |
//!
//! feedparser chooses the same element as the link of an entry. The link may come after the content, so an entry is
//! added to the bases when it begins, and the value of its base is set later.
//!
//! ```
//! use baselink_scan::Against;
//! use baselink_scan::{ScanOptions, scan_as};
//! use baselink_text::Format;
//! let feed = br#"<feed xmlns="http://www.w3.org/2005/Atom"><entry>
//!     <content type="html">&lt;a href="x"></content><link href="http://a/1"/></entry></feed>"#;
//! let options = ScanOptions { entry_links: true, ..ScanOptions::default() };
//! let document = scan_as(Format::Xml, feed, &options).unwrap();
//! assert_eq!(document.element_bases[0].value, "http://a/1");
//! assert_eq!(document.parts[0].within, Against::Element(0));
//! ```
//!
//! Deliberately absent: entries for which an `xml:base` is in force. Their feed declares the base itself.

use baselink_text::{Span, View};

use super::namespaces::Vocabulary;
use crate::{
    document::{BaseDoubt, ElementBase},
    value,
};

/// The link of an open entry, as found so far.
#[derive(Clone, Copy)]
pub struct EntryLink {
    /// The index of the entry among the bases of elements.
    pub base: usize,
    /// The kind of the element that gave the current value, if there is one.
    kind: Option<EntryLinkElement>,
}

/// The kinds of elements that give the link of an entry, in order of precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryLinkElement {
    /// A link to a page.
    Page,
    /// A link to something else.
    Other,
    /// An identifier that is a URL.
    Guid,
}

/// True if an element with this local name is an entry.
pub fn is_entry(vocabulary: Vocabulary, local: &str) -> bool {
    matches!(
        (vocabulary, local),
        (Vocabulary::Atom, "entry") | (Vocabulary::Rss, "item")
    )
}

/// True if a child of an entry with this local name is content of the entry.
pub fn is_content(vocabulary: Vocabulary, local: &str) -> bool {
    matches!(
        (vocabulary, local),
        (
            Vocabulary::Atom,
            "content" | "summary" | "title" | "rights" | "copyright"
        ) | (Vocabulary::Rss | Vocabulary::Media, "description")
            | (Vocabulary::RssContent, "encoded")
    )
}

impl EntryLinkElement {
    /// The kind of an Atom `link` with this `rel`; `None` if it cannot be the link of its entry. `type_` returns the
    /// value of its `type`.
    pub fn of_link(rel: &str, type_: impl FnOnce() -> String) -> Option<Self> {
        // RFC 4287, 4.2.7.2: the default is `alternate`, which may also be written as a URL of the registry.
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

    /// The kind of an element with this local name; `None` if its text is not the link of an entry.
    pub fn of_text(vocabulary: Vocabulary, local: &str) -> Option<Self> {
        match (vocabulary, local) {
            (Vocabulary::Rss, "link") => Some(Self::Page),
            (Vocabulary::Rss, "guid") => Some(Self::Guid),
            _ => None,
        }
    }
}

impl EntryLink {
    /// The link of an entry that begins with the tag at `span`. Adds the entry to the `bases` of elements.
    pub fn begin(span: Span, bases: &mut Vec<ElementBase>) -> Self {
        bases.push(ElementBase {
            is_entry_link: true,
            outer: None,
            value: String::new(),
            doubt: None,
            span: Span::at(span.start),
        });
        Self {
            base: bases.len() - 1,
            kind: None,
        }
    }

    /// Records a link of the entry, unless one of higher precedence is known.
    pub fn note(
        &mut self,
        kind: EntryLinkElement,
        view: &View,
        entities: &[Span],
        bases: &mut [ElementBase],
    ) {
        let trimmed = value::trimmed(&view.text);
        let text = &view.text[trimmed.range()];
        // A `guid` may be declared a permalink although it is not a URL.
        let is_url = kind != EntryLinkElement::Guid || text.contains("://");
        if text.is_empty() || !is_url || self.kind.is_some_and(|known| known <= kind) {
            return;
        }
        self.kind = Some(kind);
        if let Some(base) = bases.get_mut(self.base) {
            base.value = text.to_owned();
            base.doubt = BaseDoubt::of_value(entities);
            base.span = view.map.covering(trimmed);
        }
    }
}
