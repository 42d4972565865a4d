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

use crate::container::{Entity, EntityKind, Structure};

/// For each style sheet labelled with a `cid:` URL, the first document that refers to it.
pub struct Referrers(HashMap<String, Option<usize>>);

const CID: &[u8] = b"cid:";

/// Labels of this length or longer are ignored.
const LONGEST: usize = 256;

impl Referrers {
    /// The labelled style sheets of the message `bytes`, without any referrer yet.
    pub fn of(bytes: &[u8], structure: &Structure) -> Self {
        let labels = structure
            .entities
            .iter()
            .filter_map(|entity| label(bytes, entity));
        Self(labels.map(|label| (label, None)).collect())
    }

    /// Adds the references in the document `text`, which is the content of the entity `index`.
    pub fn add(&mut self, index: usize, format: Format, text: &[u8]) {
        if self.0.is_empty() || !matches!(format, Format::Html | Format::Xhtml) {
            return;
        }
        for at in memchr::memmem::find_iter(text, CID) {
            // Bounds the cost of each unterminated reference.
            let rest = &text[at..text.len().min(at + LONGEST)];
            let end = rest
                .iter()
                .position(|byte| byte.is_ascii_whitespace() || b"\"'<>".contains(byte))
                .unwrap_or(rest.len());
            let referrer = str::from_utf8(&rest[..end])
                .ok()
                .and_then(|url| self.0.get_mut(url));
            if let Some(referrer) = referrer {
                referrer.get_or_insert(index);
            }
        }
    }

    /// The document that refers to `entity`, if `entity` is a labelled style sheet.
    pub fn referrer(&self, bytes: &[u8], entity: &Entity) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        *self.0.get(&label(bytes, entity)?)?
    }
}

/// The `cid:` URL that labels a style sheet.
fn label(bytes: &[u8], entity: &Entity) -> Option<String> {
    if entity.kind != EntityKind::Leaf || entity.media_type.format() != Format::Css {
        return None;
    }
    let url = entity.heading.url(bytes, UrlField::ContentLocation)?.url;
    (url.as_bytes().starts_with(CID) && url.len() < LONGEST).then(|| url.to_string())
}
