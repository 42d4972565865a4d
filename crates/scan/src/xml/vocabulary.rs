//! The table of places of URLs that exist only in XML: attributes, and the text of elements. The table in
//! [`attributes`](crate::attributes) also applies to XHTML, SVG, MathML and VML.
//!
//! This table covers Atom (RFC 4287, RFC 5023, RFC 4685), RSS 0.9x to 2.0 with its modules, XLink 1.1, RDF/XML, XML
//! Schema (instances), XInclude, XSLT, sitemaps, and vocabularies for documentation and publishing. `docs/xml.tsv`
//! has the same table for users; a test compares the two.
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

use super::namespaces::Vocabulary::{self, *};
use crate::attributes::{
    Condition, Group, Groups, Row, Syntax,
    Syntax::{Curie, Documents, Html, Pairs, Url},
    row as table_row,
};

/// A row for `attribute`, which has no prefix, or for the text of `elements` if it is empty.
const fn place(
    vocabulary: Option<Vocabulary>,
    elements: &'static str,
    attribute: &'static str,
    syntax: Syntax,
) -> Row {
    Row {
        vocabulary,
        ..table_row(&[], attribute, elements, syntax)
    }
}

/// An attribute without a prefix.
const fn attribute(vocabulary: Vocabulary, elements: &'static str, name: &'static str) -> Row {
    place(Some(vocabulary), elements, name, Url)
}

/// The text of an element.
const fn content(vocabulary: Vocabulary, elements: &'static str, syntax: Syntax) -> Row {
    place(Some(vocabulary), elements, "", syntax)
}

/// An attribute without a prefix, in the group `rare`.
const fn generic(vocabulary: Vocabulary, elements: &'static str, name: &'static str) -> Row {
    attribute(vocabulary, elements, name).rare()
}

/// An attribute with a prefix, on any element.
const fn prefixed(attribute_vocabulary: Vocabulary, name: &'static str, syntax: Syntax) -> Row {
    Row {
        attribute_vocabulary,
        ..place(None, "*", name, syntax)
    }
}

/// The text of an element of a sitemap.
const fn sitemap(vocabulary: Vocabulary, elements: &'static str) -> Row {
    content(vocabulary, elements, Url)
        .only(Group::Manifest)
        .metadata()
}

/// The condition for text that contains HTML (RFC 4287, 3.1.1.2; `text/html` is from Atom 0.3).
const IS_HTML: Condition = Condition::Is("type", "html text/html");

/// The table, with one row per line. Of several rows for one place, the first match counts.
#[rustfmt::skip]
pub static TABLE: &[Row] = &[
    attribute(Atom, "link", "href").when(Condition::Is("rel", "enclosure")),
    attribute(Atom, "link", "href").when(Condition::Is("rel", "self edit edit-media hub service")).metadata(),
    attribute(Atom, "link", "href").navigation(),
    attribute(Atom, "content", "src"),
    attribute(Atom, "generator", "uri").metadata(),
    attribute(Atom, "generator", "url").metadata(),
    content(Atom, "icon logo", Url),
    content(Atom, "uri", Url).navigation(),
    content(Atom, "url", Url).navigation(),
    content(Atom, "content summary title subtitle rights tagline info copyright", Html).when(IS_HTML),
    attribute(App, "collection categories", "href").metadata(),
    attribute(Threading, "in-reply-to", "href").navigation(),
    content(Rss, "link comments", Url).navigation(),
    content(Rss, "docs", Url).metadata(),
    content(Rss, "url", Url),
    attribute(Rss, "enclosure", "url"),
    attribute(Rss, "source", "url").metadata(),
    content(Rss, "description", Html),
    content(RssContent, "encoded", Html),
    attribute(Media, "content thumbnail", "url"),
    attribute(Media, "player", "url").navigation(),
    content(Media, "description", Html).when(IS_HTML),
    attribute(Itunes, "image", "href"),
    prefixed(XLink, "href", Url).navigation(),
    prefixed(Rdf, "about", Url).rare().metadata(),
    prefixed(Rdf, "resource", Url).rare().metadata(),
    prefixed(Rdf, "datatype", Url).rare().metadata(),
    attribute(Xhtml, "*", "href").rare().navigation(),
    attribute(Xhtml, "*", "src").rare(),
    place(Some(Svg), "*", "about", Curie).rare().metadata(),
    place(Some(Svg), "*", "resource", Curie).rare().metadata(),
    prefixed(SchemaInstance, "schemaLocation", Pairs).rare().metadata(),
    prefixed(SchemaInstance, "noNamespaceSchemaLocation", Url).rare().metadata(),
    generic(XInclude, "include", "href"),
    attribute(Xslt, "import include", "href"),
    place(Some(Xslt), "*", "select", Documents),
    place(Some(Xslt), "*", "test", Documents),
    generic(Opml, "outline", "xmlUrl").navigation(),
    generic(Opml, "outline", "htmlUrl").navigation(),
    generic(Opml, "outline", "url").navigation(),
    generic(DocBook, "ulink", "url").navigation(),
    generic(DocBook, "imagedata graphic inlinegraphic videodata audiodata textdata", "fileref"),
    place(Some(Tei), "*", "target", Syntax::Spaces).rare().navigation(),
    generic(Tei, "graphic media binaryObject", "url"),
    generic(Dita, "image", "href"),
    generic(Dita, "*", "href").navigation(),
    generic(Opf, "item", "href"),
    generic(Opf, "reference", "href").navigation(),
    generic(Opf, "link", "href").metadata(),
    generic(Ncx, "content", "src").navigation(),
    generic(Ncx, "img audio", "src"),
    content(Kml, "href", Url).rare(),
    generic(Smil, "ref animation audio img video text textstream brush prefetch", "src"),
    generic(Smil, "a area", "href").navigation(),
    sitemap(Sitemap, "loc"),
    sitemap(SitemapImage, "loc license"),
    sitemap(SitemapVideo, "thumbnail_loc content_loc player_loc gallery_loc"),
    attribute(SitemapVideo, "uploader", "info").only(Group::Manifest).metadata(),
    attribute(OpenSearch, "Url", "template").only(Group::Manifest).metadata(),
    content(OpenSearch, "Image", Url).only(Group::Manifest),
    content(OpenSearch, "SearchForm", Url).only(Group::Manifest).navigation(),
    content(MozillaSearch, "SearchForm", Url).only(Group::Manifest).navigation(),
    content(MozillaSearch, "UpdateUrl IconUpdateUrl", Url).only(Group::Manifest).metadata(),
];

/// Processing instructions with a URL in the pseudo-attribute `href`, each with its group and the row of the
/// pseudo-attribute (Associating Style Sheets with XML documents, 4; ISO/IEC 19757).
pub const INSTRUCTIONS: &[(&str, Option<Group>, &Row)] = &[
    ("xml-stylesheet", None, &STYLE_SHEET),
    ("xml-model", Some(Group::Rare), &MODEL),
];

static STYLE_SHEET: Row = place(None, "*", "href", Url).identifier();

static MODEL: Row = STYLE_SHEET.metadata();

/// The row of `xml:base` (XML Base, 3).
pub static XML_BASE: Row = place(None, "*", "base", Url).metadata();

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
