//! The links of a feed's entries, as bases of what the entries contain (`ScanOptions::entry_links`).
//!
//! | feed | entry | its link | what it contains |
//! |---|---|---|---|
//! | Atom (RFC 4287) | `entry` | the first `link` with `rel="alternate"` or none and a type of HTML or none; else the first of another type | `content`, `summary`, `title`, `rights` |
//! | RSS 0.9 to 2.0 | `item` | `link`; an Atom `link` as above; else a `guid` without `isPermaLink="false"` | `description`, `content:encoded`, `media:description` |
//!
//! That is what feedparser takes for the link of an entry. It may stand behind the content, so an entry gets
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
use super::pass::{Attribute, Element, Open, Pass};
use crate::document::{BaseKind, ElementBase};
use crate::layer::View;
use crate::layer::xml::{EntityUse, Text};
use crate::scan::value;
use crate::span::Span;

/// What is known of the link of an entry that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryLink {
    /// The place of the entry among the bases of elements.
    base: usize,
    /// What has given its value so far.
    by: Option<By>,
}

/// What gives the link of an entry, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    /// A link to a page.
    Page,
    /// A link to something else.
    Other,
    /// An identifier that is a URL.
    Guid,
}

impl Pass<'_> {
    /// Notes that an entry begins with the tag at `span`, if `element` is one, and no `xml:base` is in force.
    pub(super) fn entry_of(&mut self, span: Span, element: &Element) -> Option<EntryLink> {
        let is_entry = matches!(
            (element.vocabulary, self.text_of_name(element.local)),
            (Vocabulary::Atom, "entry") | (Vocabulary::Rss, "item")
        );
        // That of the document element is the first that is found.
        let has_base = || self.bases.first().is_some_and(|base| base.kind == BaseKind::XmlBase);
        if !self.options.entry_links || !is_entry || element.base.is_some() || has_base() {
            return None;
        }
        self.element_bases.push(ElementBase {
            is_entry_link: true,
            outer: None,
            value: String::new(),
            is_known: true,
            span: Span::at(span.start),
        });
        Some(EntryLink { base: self.element_bases.len() - 1, by: None })
    }

    /// The base of what is in `element`, where that is content of the entry around it.
    pub(super) fn base_in_entry(&self, element: &Element) -> Option<usize> {
        let entry = self.open.last()?.entry?;
        let is_content = matches!(
            (element.vocabulary, self.text_of_name(element.local)),
            (Vocabulary::Atom, "content" | "summary" | "title" | "rights" | "copyright")
                | (Vocabulary::Rss | Vocabulary::Media, "description")
                | (Vocabulary::RssContent, "encoded")
        );
        is_content.then_some(entry.base)
    }

    /// Notes the link of the entry around an Atom `link`, if that is what it is.
    pub(super) fn entry_link_in(&mut self, element: &Element, attributes: &[Attribute]) {
        let is_link =
            element.vocabulary == Vocabulary::Atom && self.text_of_name(element.local) == "link";
        if !is_link
            || element.base.is_some()
            || self.open.last().is_none_or(|one| one.entry.is_none())
        {
            return;
        }
        // RFC 4287, 4.2.7.2: without the attribute it is `alternate`, which is also a name of a registry.
        let rel = self.other(attributes, "rel").unwrap_or_default();
        let rel = rel.trim().rsplit("relation/").next().unwrap_or_default();
        if !matches!(rel, "" | "alternate") {
            return;
        }
        let type_ = self.other(attributes, "type").unwrap_or_default().to_ascii_lowercase();
        let by = match type_.split(';').next().unwrap_or_default().trim() {
            "" | "text/html" | "application/xhtml+xml" => By::Page,
            _ => By::Other,
        };
        if let Some(Text { view, entities }) = self.read_other(attributes, "href") {
            self.note(self.open.len(), by, &view, &entities);
        }
    }

    /// Notes the link of the entry around the element called `name`, which is open and has the text `whole`, if
    /// that is what it is.
    pub(super) fn entry_link_text(&mut self, name: Span, whole: &View, entities: &[EntityUse]) {
        let is_rss = self.open.last().is_some_and(|open| open.vocabulary == Vocabulary::Rss);
        let by = match self.text_of_name(self.local(name)) {
            "link" if is_rss => By::Page,
            "guid" if is_rss => By::Guid,
            _ => return,
        };
        self.note(self.open.len() - 1, by, whole, entities);
    }

    /// Whether the text of a `guid` with these attributes is a URL (RSS 2.0: the default is that it is).
    pub(super) fn is_permalink(&self, attributes: &[Attribute]) -> bool {
        let is_it = |one: &&Attribute| self.text_of_name(one.raw.name) == "isPermaLink";
        let value = attributes.iter().find(is_it).map(|one| self.value(&one.raw).view.text);
        self.options.entry_links
            && value.is_none_or(|value| !value.trim().eq_ignore_ascii_case("false"))
    }

    /// Notes a link of the entry that is the innermost of the first `depth` open elements.
    fn note(&mut self, depth: usize, by: By, view: &View, entities: &[EntityUse]) {
        let around = depth.checked_sub(1).and_then(|at| self.open.get_mut(at));
        let Some(Open { entry: Some(entry), .. }) = around else { return };
        let trimmed = value::trimmed(&view.text);
        let text = &view.text[trimmed.range()];
        // What an identifier looks like when it is none.
        let is_url = by != By::Guid || text.contains("://");
        if text.is_empty() || !is_url || entry.by.is_some_and(|known| known <= by) {
            return;
        }
        entry.by = Some(by);
        let base = entry.base;
        if let Some(base) = self.element_bases.get_mut(base) {
            base.value = text.to_owned();
            base.is_known = entities.iter().all(|entity| entity.is_known);
            base.span = view.map.covering(trimmed);
        }
    }
}
