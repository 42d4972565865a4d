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
    standard: &'static str,
) -> Row {
    Row {
        vocabulary,
        ..table_row(&[], attribute, elements, syntax, standard)
    }
}

/// An attribute without a prefix.
const fn attribute(
    vocabulary: Vocabulary,
    elements: &'static str,
    name: &'static str,
    standard: &'static str,
) -> Row {
    place(Some(vocabulary), elements, name, Url, standard)
}

/// The text of an element.
const fn content(
    vocabulary: Vocabulary,
    elements: &'static str,
    syntax: Syntax,
    standard: &'static str,
) -> Row {
    place(Some(vocabulary), elements, "", syntax, standard)
}

/// An attribute without a prefix, in the group `rare`.
const fn generic(
    vocabulary: Vocabulary,
    elements: &'static str,
    name: &'static str,
    standard: &'static str,
) -> Row {
    attribute(vocabulary, elements, name, standard).rare()
}

/// An attribute with a prefix, on any element.
const fn prefixed(
    attribute_vocabulary: Vocabulary,
    name: &'static str,
    syntax: Syntax,
    standard: &'static str,
) -> Row {
    Row {
        attribute_vocabulary,
        ..place(None, "*", name, syntax, standard)
    }
}

/// The text of an element of a sitemap.
const fn sitemap(vocabulary: Vocabulary, elements: &'static str, standard: &'static str) -> Row {
    content(vocabulary, elements, Url, standard)
        .only(Group::Manifest)
        .metadata()
}

/// The condition for text that contains HTML (RFC 4287, 3.1.1.2; `text/html` is from Atom 0.3).
const IS_HTML: Condition = Condition::Is("type", "html text/html");

/// The table, with one row per line. Of several rows for one place, the first match counts.
#[rustfmt::skip]
pub static TABLE: &[Row] = &[
    attribute(Atom, "link", "href", "RFC 4287").when(Condition::Is("rel", "enclosure")),
    attribute(Atom, "link", "href", "RFC 4287").when(Condition::Is("rel", "self edit edit-media hub service")).metadata(),
    attribute(Atom, "link", "href", "RFC 4287").navigation(),
    attribute(Atom, "content", "src", "RFC 4287"),
    attribute(Atom, "generator", "uri", "RFC 4287").metadata(),
    attribute(Atom, "generator", "url", "Atom 0.3").metadata(),
    content(Atom, "icon logo", Url, "RFC 4287"),
    content(Atom, "uri", Url, "RFC 4287").navigation(),
    content(Atom, "url", Url, "Atom 0.3").navigation(),
    content(Atom, "content summary title subtitle rights tagline info copyright", Html, "RFC 4287").when(IS_HTML),
    attribute(App, "collection categories", "href", "RFC 5023").metadata(),
    attribute(Threading, "in-reply-to", "href", "RFC 4685").navigation(),
    content(Rss, "link comments", Url, "RSS 2.0").navigation(),
    content(Rss, "docs", Url, "RSS 2.0").metadata(),
    content(Rss, "url", Url, "RSS 2.0"),
    attribute(Rss, "enclosure", "url", "RSS 2.0"),
    attribute(Rss, "source", "url", "RSS 2.0").metadata(),
    content(Rss, "description", Html, "RSS 2.0"),
    content(RssContent, "encoded", Html, "RSS 1.0 content"),
    attribute(Media, "content thumbnail", "url", "Media RSS"),
    attribute(Media, "player", "url", "Media RSS").navigation(),
    content(Media, "description", Html, "Media RSS").when(IS_HTML),
    attribute(Itunes, "image", "href", "Apple Podcasts"),
    prefixed(XLink, "href", Url, "XLink 1.1").navigation(),
    prefixed(Rdf, "about", Url, "RDF/XML").rare().metadata(),
    prefixed(Rdf, "resource", Url, "RDF/XML").rare().metadata(),
    prefixed(Rdf, "datatype", Url, "RDF/XML").rare().metadata(),
    attribute(Xhtml, "*", "href", "XHTML 2, RDFa").rare().navigation(),
    attribute(Xhtml, "*", "src", "XHTML 2, RDFa").rare(),
    place(Some(Svg), "*", "about", Curie, "RDFa 1.1").rare().metadata(),
    place(Some(Svg), "*", "resource", Curie, "RDFa 1.1").rare().metadata(),
    prefixed(SchemaInstance, "schemaLocation", Pairs, "XML Schema").rare().metadata(),
    prefixed(SchemaInstance, "noNamespaceSchemaLocation", Url, "XML Schema").rare().metadata(),
    generic(XInclude, "include", "href", "XInclude"),
    attribute(Xslt, "import include", "href", "XSLT"),
    place(Some(Xslt), "*", "select", Documents, "XSLT"),
    place(Some(Xslt), "*", "test", Documents, "XSLT"),
    generic(Opml, "outline", "xmlUrl", "OPML 2.0").navigation(),
    generic(Opml, "outline", "htmlUrl", "OPML 2.0").navigation(),
    generic(Opml, "outline", "url", "OPML 2.0").navigation(),
    generic(DocBook, "ulink", "url", "DocBook 4").navigation(),
    generic(DocBook, "imagedata graphic inlinegraphic videodata audiodata textdata", "fileref", "DocBook"),
    place(Some(Tei), "*", "target", Syntax::Spaces, "TEI P5").rare().navigation(),
    generic(Tei, "graphic media binaryObject", "url", "TEI P5"),
    generic(Dita, "image", "href", "DITA 1.3"),
    generic(Dita, "*", "href", "DITA 1.3").navigation(),
    generic(Opf, "item", "href", "OPF 2.0"),
    generic(Opf, "reference", "href", "OPF 2.0").navigation(),
    generic(Opf, "link", "href", "OPF 2.0").metadata(),
    generic(Ncx, "content", "src", "NCX").navigation(),
    generic(Ncx, "img audio", "src", "NCX"),
    content(Kml, "href", Url, "KML 2.2").rare(),
    generic(Smil, "ref animation audio img video text textstream brush prefetch", "src", "SMIL 3.0"),
    generic(Smil, "a area", "href", "SMIL 3.0").navigation(),
    sitemap(Sitemap, "loc", "sitemaps.org 0.9"),
    sitemap(SitemapImage, "loc license", "Google"),
    sitemap(SitemapVideo, "thumbnail_loc content_loc player_loc gallery_loc", "Google"),
    attribute(SitemapVideo, "uploader", "info", "Google").only(Group::Manifest).metadata(),
    attribute(OpenSearch, "Url", "template", "OpenSearch 1.1").only(Group::Manifest).metadata(),
    content(OpenSearch, "Image", Url, "OpenSearch 1.1").only(Group::Manifest),
    content(OpenSearch, "SearchForm", Url, "browser practice").only(Group::Manifest).navigation(),
    content(MozillaSearch, "SearchForm", Url, "Mozilla").only(Group::Manifest).navigation(),
    content(MozillaSearch, "UpdateUrl IconUpdateUrl", Url, "Mozilla").only(Group::Manifest).metadata(),
];

/// Processing instructions with a URL in the pseudo-attribute `href`, each with its group and the row of the
/// pseudo-attribute (Associating Style Sheets with XML documents, 4; ISO/IEC 19757).
pub const INSTRUCTIONS: &[(&str, Option<Group>, &Row)] = &[
    ("xml-stylesheet", None, &STYLE_SHEET),
    ("xml-model", Some(Group::Rare), &MODEL),
];

static STYLE_SHEET: Row = place(None, "*", "href", Url, "xml-stylesheet").identifier();

static MODEL: Row = STYLE_SHEET.metadata();

/// The row of `xml:base` (XML Base, 3).
pub static XML_BASE: Row = place(None, "*", "base", Url, "XML Base").metadata();

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
