//! The table of places of URLs that exist only in XML: attributes, and the text of elements. The table in
//! [`attributes`](crate::attributes) also applies to XHTML, SVG, MathML and VML.
//!
//! This table covers Atom (RFC 4287, RFC 5023, RFC 4685), RSS 0.9x to 2.0 with its modules, XLink 1.1, RDF/XML, XML
//! Schema (instances), XInclude, XSLT, sitemaps, and vocabularies for documentation and publishing. It is the file
//! `vocabulary.tsv`, whose columns are those of `attributes.tsv`; an empty attribute means the text of the element.
//!
//! ```
//! use baselink_scan::attributes::{Groups, Syntax};
//! use baselink_scan::xml::namespaces::Vocabulary;
//! use baselink_scan::xml::vocabulary::row;
//! let html = |name: &str| (name == "type").then(|| "html".to_string());
//! let found = row(Vocabulary::Atom, "summary", None, &html, &Groups::default()).unwrap();
//! assert_eq!(found.syntax, Syntax::Html);
//! assert!(row(Vocabulary::Atom, "id", None, &html, &Groups::all()).is_none());
//! ```
//!
//! Deliberately absent: identifiers (`atom:id`, `guid`, `ref` of `thr:in-reply-to`, `scheme` of `atom:category`,
//! namespace names), which are not links.

use std::sync::LazyLock;

use super::namespaces::Vocabulary;
use crate::{
    attributes::{Group, Groups, ROW, Row, table},
    document::Role,
};

/// The table. Of several rows for one place, the first match counts.
///
/// Text contains HTML if its `type` is `html` (RFC 4287, 3.1.1.2) or `text/html` (Atom 0.3).
pub static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| table(include_str!("vocabulary.tsv")));

/// Processing instructions with a URL in the pseudo-attribute `href`, each with its group and the row of the
/// pseudo-attribute (Associating Style Sheets with XML documents, 4; ISO/IEC 19757).
pub const INSTRUCTIONS: &[(&str, Option<Group>, &Row)] = &[
    ("xml-stylesheet", None, &STYLE_SHEET),
    ("xml-model", Some(Group::Rare), &MODEL),
];

static STYLE_SHEET: Row = Row {
    attribute: "href",
    fragment_identifies: true,
    ..ROW
};

static MODEL: Row = Row {
    role: Role::Metadata,
    ..STYLE_SHEET
};

/// The row of `xml:base` (XML Base, 3).
pub static XML_BASE: Row = Row {
    attribute: "base",
    role: Role::Metadata,
    ..ROW
};

/// True if the attribute of an element, or its text, is a URL that should be absolute: in a sitemap, whose protocol
/// requires it, or in the description of a search engine. The name of the element is as written. No other vocabulary in
/// the table uses such names.
pub fn is_location(element: &str, attribute: Option<&str>) -> bool {
    let local = element.rsplit(':').next().unwrap_or_default();
    let mut rows = TABLE.iter();
    rows.any(|row| {
        row.group == Some(Group::Manifest)
            && row.attribute == attribute.unwrap_or_default()
            && row.covers(local)
    })
}

/// The row for an attribute of an element; for the text of the element if `attribute` is `None`. `other` returns the
/// value of any attribute of the element.
pub fn row(
    vocabulary: Vocabulary,
    element: &str,
    attribute: Option<(Vocabulary, &str)>,
    other: &dyn Fn(&str) -> Option<String>,
    groups: &Groups,
) -> Option<&'static Row> {
    let is_place = |row: &Row| match attribute {
        Some(named) => !named.1.is_empty() && named == (row.attribute_vocabulary, row.attribute),
        None => row.attribute.is_empty(),
    };
    TABLE.iter().find(|row| {
        is_place(row)
            && row.vocabulary.is_none_or(|known| known == vocabulary)
            && row.group.is_none_or(|group| groups.contains(group))
            && row.covers(element)
            && row.when.holds(other)
    })
}
