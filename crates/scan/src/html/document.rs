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
    Charset, Diagnostic, Format, View,
    layer::spelling::{Carrier, Spelling},
};

use super::{
    pass::{self, Links, Part, Plain, Whole},
    prelude,
};
use crate::{
    ScanOptions,
    collect::{Embedded, has_entity},
    document::{Against, Decoded, Document, Link, Piece, entity_name},
};

/// Scans `bytes` as HTML.
pub(crate) fn scan(bytes: &[u8], options: &ScanOptions) -> Document {
    Document::of_file(
        bytes,
        prelude::encoding(bytes, options),
        |bytes, start, charset| {
            document(
                &Whole {
                    bytes,
                    start,
                    charset,
                    entity: Arc::clone(&options.entity),
                    depth: 0,
                    enclosed: false,
                },
                options,
            )
        },
    )
}

/// Scans a document, including its bases and the documents embedded in it.
fn document(whole: &Whole<'_>, options: &ScanOptions) -> Document {
    let mut document = Document::empty(Arc::clone(&whole.entity), Format::Html, whole.charset);
    document.bases = prelude::bases(whole.bytes, whole.start, whole.charset, options);
    document.saved = prelude::saved(whole.bytes, options).filter(|_| whole.depth == 0);
    let mut builder = DocumentBuilder {
        found: document,
        options,
    };
    let (fallback, without_tree) = pass::links(whole, options, &mut builder);
    Document {
        fallback,
        without_tree,
        ..builder.found
    }
}

/// Collects links into a document.
struct DocumentBuilder<'a> {
    found: Document,
    options: &'a ScanOptions,
}

impl Links for DocumentBuilder<'_> {
    fn plain(&mut self, _bytes: &[u8], _found: &Plain) -> bool {
        false
    }

    fn link(&mut self, _bytes: &[u8], link: Link) {
        self.found.links.push(link);
    }

    fn part(&mut self, _bytes: &[u8], part: Part) {
        self.found.parts.push(embedded(part, self.options));
    }

    fn id(&mut self, id: String) {
        self.found.ids.push(id);
    }

    fn diagnostic(&mut self, _: &[u8], diagnostic: Diagnostic) {
        self.found.diagnostics.push(diagnostic);
    }
}

/// Scans the HTML documents in values of the document called `entity`, which is not HTML.
pub(crate) fn parts(
    mut embedded: Vec<Embedded>,
    entity: &str,
    options: &ScanOptions,
) -> Vec<Document> {
    embedded.sort_by_key(|embedded| embedded.value.map.source().start);
    let part = |(index, found)| {
        self::embedded(
            Part {
                found,
                entity: entity_name(entity, index + 1),
                depth: 1,
            },
            options,
        )
    };
    embedded.into_iter().enumerate().map(part).collect()
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
    let mut document = self::document(&whole, options);
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
