//! An HTML document with its bases, its links, and the documents in attribute values (`srcdoc`).
//!
//! ```
//! let page = b"<iframe srcdoc='<a href=x>'></iframe><a href=y>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "y");
//! assert_eq!(document.parts[0].links[0].reference, "x");
//! ```
//!
//! Deliberately absent: the bases and targets of links.

use std::sync::Arc;

use baselink_text::{
    Charset, Diagnostic, Format, Span, View,
    layer::spelling::{Carrier, Spelling},
};

use super::{
    pass::{self, Links, Part, Plain, Whole},
    prelude,
};
use crate::{
    ScanOptions,
    collect::{Collector, Embedded, MOST_HELD, has_entity},
    document::{Against, Decoded, Document, Link, Piece},
};

/// Scans `bytes` as HTML. The links go to `links`.
pub(crate) fn scan(bytes: &[u8], options: &ScanOptions, links: &mut dyn Links) -> Document {
    Document::of_file(
        bytes,
        prelude::encoding(bytes, options),
        |bytes, start, charset| {
            let whole = Whole::of_file(bytes, start, charset, options);
            document(&whole, options, links)
        },
    )
}

/// Scans a document, including its bases.
fn document(whole: &Whole<'_>, options: &ScanOptions, links: &mut dyn Links) -> Document {
    let (fallback, without_tree) = pass::links(whole, options, links);
    Document {
        bases: prelude::bases(whole.bytes, whole.start, whole.charset, options),
        saved: prelude::saved(whole.bytes, options).filter(|_| whole.depth == 0),
        fallback,
        without_tree,
        ..Document::empty(Arc::clone(&whole.entity), Format::Html, whole.charset)
    }
}

/// Collects the links of a document, and the documents embedded in it.
pub struct DocumentBuilder<'a> {
    found: Document,
    options: &'a ScanOptions,
    /// The number of links that may still be collected; `None` if there were more.
    room: Option<usize>,
}

impl<'a> DocumentBuilder<'a> {
    /// Collects at most `most` links.
    pub(crate) fn new(options: &'a ScanOptions, most: usize) -> Self {
        Self {
            found: Document::default(),
            options,
            room: Some(most),
        }
    }

    /// Completes the `scanned` document; if it has too many links, returns it without any, and false.
    pub(crate) fn complete(self, mut scanned: Document) -> (Document, bool) {
        let is_whole = self.room.is_some();
        if is_whole {
            (scanned.links, scanned.parts) = (self.found.links, self.found.parts);
            scanned.ids.extend(self.found.ids);
            scanned.diagnostics.extend(self.found.diagnostics);
        }
        (scanned, is_whole)
    }

    /// True if there is room for `count` more links.
    fn takes(&mut self, count: usize) -> bool {
        self.room = self.room.and_then(|room| room.checked_sub(count));
        self.room.is_some()
    }
}

impl Links for DocumentBuilder<'_> {
    fn plain(&mut self, _bytes: &[u8], _found: &Plain) -> bool {
        false
    }

    fn link(&mut self, _bytes: &[u8], link: Link) {
        if self.takes(1) {
            self.found.links.push(link);
        }
    }

    fn part(&mut self, _bytes: &[u8], part: Part) {
        if self.room.is_some() {
            let part = embedded(part, self.options);
            if self.takes(part.links.len()) {
                self.found.parts.push(part);
            }
        }
    }

    fn id(&mut self, id: String) {
        self.found.ids.push(id);
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.found.diagnostics.push(diagnostic);
    }
}

/// Scans the HTML document in a value.
pub fn embedded(part: Part, options: &ScanOptions) -> Document {
    let Embedded {
        value: View { text, map },
        form,
        carrier,
        pieces,
        entities,
        enclosed,
        within,
    } = part.found;
    let in_cdata =
        carrier == Carrier::CData || pieces.iter().any(|(_, one)| *one == Carrier::CData);
    let whole = Whole {
        bytes: text.as_bytes(),
        start: 0,
        charset: Charset::UTF_8,
        entity: part.entity,
        depth: part.depth,
        enclosed: in_cdata,
    };
    let mut builder = DocumentBuilder::new(options, MOST_HELD);
    let scanned = self::document(&whole, options, &mut builder);
    let (mut document, is_whole) = builder.complete(scanned);
    if !is_whole {
        let mut unread = DocumentBuilder::new(options, 1);
        Collector::to(options, &mut unread, whole.bytes).too_deep(Span::new(0, text.len()));
        (document, _) = unread.complete(document);
    }
    for link in &mut document.links {
        if has_entity(&entities, link.span()) {
            link.against = Against::Unknown;
        }
    }
    let spelling = Spelling {
        form,
        carrier,
        enclosed,
    };
    let piece = |(span, carrier)| {
        Some(Piece {
            span,
            carrier,
            map: map.slice(span)?,
        })
    };
    let pieces = pieces.into_iter().filter_map(piece).collect();
    document.within = within;
    document.decoded = Some(Decoded {
        text,
        map,
        spelling,
        pieces,
        has_roman: false,
    });
    document
}
