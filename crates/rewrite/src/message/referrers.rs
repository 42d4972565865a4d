//! Style sheets that were taken out of a document. Chromium stores each `<style>` of a page as a separate part of
//! the archive, labelled `Content-Location: cid:css-…`. In the page, it writes `<link href="cid:css-…">` instead.
//!
//! ```text
//! 7  text/html  Content-Location: http://a/frames/x.html   <link rel="stylesheet" href="cid:css-1@mhtml.blink" />
//! 8  text/css   Content-Location: cid:css-1@mhtml.blink    i { background: url("y.png"); }
//!               --> http://a/frames/y.png, and not relative to the page that holds the frame
//! ```
//!
//! References in such a style sheet are relative to the document that contained it (CSS Values, 4.5). This document now
//! refers to the style sheet, and precedes it in the archive.
//!
//! Deliberately absent: other labels. A style sheet with a URL of its own uses that URL as its base.

use std::collections::HashMap;

use baselink_scan::UrlField;
use baselink_text::Format;

use crate::{
    base::{BaseChain, Outer, of_heading},
    container::{Entity, EntityKind, Structure},
    options::Options,
};

/// The parts labelled with `cid:` URLs, and the first documents that refer to them.
#[derive(Debug)]
pub struct Referrers {
    /// The entities by their labels.
    labels: HashMap<String, usize>,
    /// The referring documents, by the entities.
    documents: HashMap<usize, usize>,
}

const CID: &[u8] = b"cid:";

/// Labels of this length or longer are ignored.
const LONGEST: usize = 256;

impl Referrers {
    /// The parts for which `labels_of` returns labels, without any referrer yet.
    pub fn of<I: IntoIterator<Item = String>>(
        structure: &Structure,
        labels_of: impl Fn(&Entity) -> I,
    ) -> Self {
        let mut labels = HashMap::new();
        for (index, entity) in structure.entities.iter().enumerate() {
            let is_short =
                |label: &String| label.as_bytes().starts_with(CID) && label.len() < LONGEST;
            for label in labels_of(entity).into_iter().filter(is_short) {
                labels.entry(label).or_insert(index);
            }
        }
        Self {
            labels,
            documents: HashMap::new(),
        }
    }

    /// Adds the references in the document `text`, which is the content of the entity `index`. Returns true if it is the first
    /// that refers to a labelled part.
    pub fn add(&mut self, index: usize, format: Format, text: &[u8]) -> bool {
        let before = self.documents.len();
        if self.labels.is_empty() || !format.is_page() {
            return false;
        }
        for at in memchr::memmem::find_iter(text, CID) {
            // Bounds the cost of each unterminated reference.
            let rest = &text[at..text.len().min(at + LONGEST)];
            let end = rest
                .iter()
                .position(|byte| byte.is_ascii_whitespace() || b"\"'<>".contains(byte))
                .unwrap_or(rest.len());
            let part = str::from_utf8(&rest[..end])
                .ok()
                .and_then(|url| self.labels.get(url));
            if let Some(part) = part {
                self.documents.entry(*part).or_insert(index);
            }
        }
        self.documents.len() > before
    }

    /// The first document that refers to the entity `index`, if this is a labelled part.
    pub fn referrer(&self, index: usize) -> Option<usize> {
        self.documents.get(&index).copied()
    }

    /// The base from the heading of the entity `index`. `chain` returns that of an entity or document before it.
    pub fn base_of<'c>(
        &self,
        bytes: &[u8],
        structure: &Structure,
        index: usize,
        options: &'c Options,
        chain: impl Fn(usize) -> &'c BaseChain,
    ) -> BaseChain {
        let entity = &structure.entities[index];
        let outer = match (entity.parent, self.referrer(index)) {
            (Some(_), Some(document)) => Outer::Referring(chain(document)),
            (Some(parent), None) => Outer::Encapsulating(chain(parent)),
            (None, _) => options.outer(),
        };
        let fields = structure.bases(bytes, index);
        let (resolver, location) = (options.resolver, options.content_location);
        of_heading(&entity.name, &fields, outer, resolver, location)
    }
}

/// The label of a style sheet.
pub(super) fn label_of_sheet(bytes: &[u8], entity: &Entity) -> Option<String> {
    if entity.kind != EntityKind::Leaf || entity.media_type.format() != Format::Css {
        return None;
    }
    let label = entity.heading.url(bytes, UrlField::ContentLocation)?;
    Some(label.url.to_string())
}
