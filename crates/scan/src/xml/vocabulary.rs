//! The table of places of URLs that exist only in XML: attributes, and the text of elements. The table in
//! [`attributes`](crate::attributes) also applies to XHTML, SVG, MathML and VML.
//!
//! This table covers Atom (RFC 4287, RFC 5023, RFC 4685), RSS 0.9x to 2.0 with its modules, XLink 1.1, RDF/XML, XML
//! Schema (instances), XInclude, XSLT, sitemaps, and vocabularies for documentation and publishing. `docs/links.md`
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
use crate::attributes::Elements::{self, Any, Named};
use crate::attributes::Syntax::{Curie, Documents, Html, Pairs, Url};
use crate::attributes::{AttributeBase, Condition, Empty, Fragment, Group, Groups, Row, Syntax};
use crate::document::Role;
use crate::document::Role::{Metadata, Navigation};

/// A row of the table: a place in some elements of a vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct XmlRow {
    /// The vocabulary of the elements; `None` for any.
    pub vocabulary: Option<Vocabulary>,
    /// The vocabulary of the attribute; [`Vocabulary::Plain`] for text, and for an attribute without a prefix.
    pub attribute_vocabulary: Vocabulary,
    /// The other columns. `attribute` is a name without its prefix; it is empty for text. Names are case-sensitive,
    /// as in XML.
    pub row: Row,
}

const fn place(
    vocabulary: Option<Vocabulary>,
    elements: Elements,
    attribute: &'static str,
    syntax: Syntax,
    standard: &'static str,
) -> XmlRow {
    XmlRow {
        vocabulary,
        attribute_vocabulary: Plain,
        row: Row {
            namespaces: &[],
            elements,
            attribute,
            syntax,
            against: AttributeBase::Document,
            when: Condition::Always,
            group: None,
            empty: Empty::Leave,
            fragment: Fragment::Policy,
            role: Role::Embedded,
            standard,
        },
    }
}

impl XmlRow {
    const fn prefixed(self, attribute_vocabulary: Vocabulary) -> Self {
        Self {
            attribute_vocabulary,
            ..self
        }
    }

    const fn list(self) -> Self {
        Self {
            row: Row {
                syntax: Syntax::Spaces,
                ..self.row
            },
            ..self
        }
    }

    const fn when(self, when: Condition) -> Self {
        Self {
            row: Row { when, ..self.row },
            ..self
        }
    }

    const fn only(self, group: Group) -> Self {
        Self {
            row: Row {
                group: Some(group),
                ..self.row
            },
            ..self
        }
    }

    const fn role(self, role: Role) -> Self {
        Self {
            row: Row { role, ..self.row },
            ..self
        }
    }
}

/// An attribute without a prefix.
const fn attribute(
    vocabulary: Vocabulary,
    elements: Elements,
    name: &'static str,
    standard: &'static str,
) -> XmlRow {
    place(Some(vocabulary), elements, name, Url, standard)
}

/// The text of an element.
const fn content(
    vocabulary: Vocabulary,
    elements: Elements,
    syntax: Syntax,
    standard: &'static str,
) -> XmlRow {
    place(Some(vocabulary), elements, "", syntax, standard)
}

/// An attribute without a prefix, in the group `rare`.
const fn generic(
    vocabulary: Vocabulary,
    elements: Elements,
    name: &'static str,
    standard: &'static str,
) -> XmlRow {
    attribute(vocabulary, elements, name, standard).only(Group::Rare)
}

/// The text of an element of a sitemap.
const fn sitemap(vocabulary: Vocabulary, elements: Elements, standard: &'static str) -> XmlRow {
    content(vocabulary, elements, Url, standard)
        .only(Group::Manifest)
        .role(Metadata)
}

/// The condition for text that contains HTML (RFC 4287, 3.1.1.2; `text/html` is from Atom 0.3).
const IS_HTML: Condition = Condition::Is("type", &["html", "text/html"]);

/// The table, with one row per line. Of several rows for one place, the first match counts.
#[rustfmt::skip]
pub static TABLE: &[XmlRow] = &[
    attribute(Atom, Named(&["link"]), "href", "RFC 4287").when(Condition::Is("rel", &["enclosure"])),
    attribute(Atom, Named(&["link"]), "href", "RFC 4287").when(Condition::Is("rel", &["self", "edit", "edit-media", "hub", "service"])).role(Metadata),
    attribute(Atom, Named(&["link"]), "href", "RFC 4287").role(Navigation),
    attribute(Atom, Named(&["content"]), "src", "RFC 4287"),
    attribute(Atom, Named(&["generator"]), "uri", "RFC 4287").role(Metadata),
    attribute(Atom, Named(&["generator"]), "url", "Atom 0.3").role(Metadata),
    content(Atom, Named(&["icon", "logo"]), Url, "RFC 4287"),
    content(Atom, Named(&["uri"]), Url, "RFC 4287").role(Navigation),
    content(Atom, Named(&["url"]), Url, "Atom 0.3").role(Navigation),
    content(Atom, Named(&["content", "summary", "title", "subtitle", "rights", "tagline", "info", "copyright"]), Html, "RFC 4287").when(IS_HTML),
    attribute(App, Named(&["collection", "categories"]), "href", "RFC 5023").role(Metadata),
    attribute(Threading, Named(&["in-reply-to"]), "href", "RFC 4685").role(Navigation),
    content(Rss, Named(&["link", "comments"]), Url, "RSS 2.0").role(Navigation),
    content(Rss, Named(&["docs"]), Url, "RSS 2.0").role(Metadata),
    content(Rss, Named(&["url"]), Url, "RSS 2.0"),
    attribute(Rss, Named(&["enclosure"]), "url", "RSS 2.0"),
    attribute(Rss, Named(&["source"]), "url", "RSS 2.0").role(Metadata),
    content(Rss, Named(&["description"]), Html, "RSS 2.0"),
    content(RssContent, Named(&["encoded"]), Html, "RSS 1.0 content"),
    attribute(Media, Named(&["content", "thumbnail"]), "url", "Media RSS"),
    attribute(Media, Named(&["player"]), "url", "Media RSS").role(Navigation),
    content(Media, Named(&["description"]), Html, "Media RSS").when(IS_HTML),
    attribute(Itunes, Named(&["image"]), "href", "Apple Podcasts"),
    place(None, Any, "href", Url, "XLink 1.1").prefixed(XLink).role(Navigation),
    place(None, Any, "about", Url, "RDF/XML").prefixed(Rdf).only(Group::Rare).role(Metadata),
    place(None, Any, "resource", Url, "RDF/XML").prefixed(Rdf).only(Group::Rare).role(Metadata),
    place(None, Any, "datatype", Url, "RDF/XML").prefixed(Rdf).only(Group::Rare).role(Metadata),
    attribute(Xhtml, Any, "href", "XHTML 2, RDFa").only(Group::Rare).role(Navigation),
    attribute(Xhtml, Any, "src", "XHTML 2, RDFa").only(Group::Rare),
    place(Some(Svg), Any, "about", Curie, "RDFa 1.1").only(Group::Rare).role(Metadata),
    place(Some(Svg), Any, "resource", Curie, "RDFa 1.1").only(Group::Rare).role(Metadata),
    place(None, Any, "schemaLocation", Pairs, "XML Schema").prefixed(SchemaInstance).only(Group::Rare).role(Metadata),
    place(None, Any, "noNamespaceSchemaLocation", Url, "XML Schema").prefixed(SchemaInstance).only(Group::Rare).role(Metadata),
    generic(XInclude, Named(&["include"]), "href", "XInclude"),
    attribute(Xslt, Named(&["import", "include"]), "href", "XSLT"),
    place(Some(Xslt), Any, "select", Documents, "XSLT"),
    place(Some(Xslt), Any, "test", Documents, "XSLT"),
    generic(Opml, Named(&["outline"]), "xmlUrl", "OPML 2.0").role(Navigation),
    generic(Opml, Named(&["outline"]), "htmlUrl", "OPML 2.0").role(Navigation),
    generic(Opml, Named(&["outline"]), "url", "OPML 2.0").role(Navigation),
    generic(DocBook, Named(&["ulink"]), "url", "DocBook 4").role(Navigation),
    generic(DocBook, Named(&["imagedata", "graphic", "inlinegraphic", "videodata", "audiodata", "textdata"]), "fileref", "DocBook"),
    generic(Tei, Any, "target", "TEI P5").role(Navigation).list(),
    generic(Tei, Named(&["graphic", "media", "binaryObject"]), "url", "TEI P5"),
    generic(Dita, Named(&["image"]), "href", "DITA 1.3"),
    generic(Dita, Any, "href", "DITA 1.3").role(Navigation),
    generic(Opf, Named(&["item"]), "href", "OPF 2.0"),
    generic(Opf, Named(&["reference"]), "href", "OPF 2.0").role(Navigation),
    generic(Opf, Named(&["link"]), "href", "OPF 2.0").role(Metadata),
    generic(Ncx, Named(&["content"]), "src", "NCX").role(Navigation),
    generic(Ncx, Named(&["img", "audio"]), "src", "NCX"),
    content(Kml, Named(&["href"]), Url, "KML 2.2").only(Group::Rare),
    generic(Smil, Named(&["ref", "animation", "audio", "img", "video", "text", "textstream", "brush", "prefetch"]), "src", "SMIL 3.0"),
    generic(Smil, Named(&["a", "area"]), "href", "SMIL 3.0").role(Navigation),
    sitemap(Sitemap, Named(&["loc"]), "sitemaps.org 0.9"),
    sitemap(SitemapImage, Named(&["loc", "license"]), "Google"),
    sitemap(SitemapVideo, Named(&["thumbnail_loc", "content_loc", "player_loc", "gallery_loc"]), "Google"),
    attribute(SitemapVideo, Named(&["uploader"]), "info", "Google").only(Group::Manifest).role(Metadata),
    attribute(OpenSearch, Named(&["Url"]), "template", "OpenSearch 1.1").only(Group::Manifest).role(Metadata),
    content(OpenSearch, Named(&["Image"]), Url, "OpenSearch 1.1").only(Group::Manifest),
    content(OpenSearch, Named(&["SearchForm"]), Url, "browser practice").only(Group::Manifest).role(Navigation),
    content(MozillaSearch, Named(&["SearchForm"]), Url, "Mozilla").only(Group::Manifest).role(Navigation),
    content(MozillaSearch, Named(&["UpdateUrl", "IconUpdateUrl"]), Url, "Mozilla").only(Group::Manifest).role(Metadata),
];

/// Processing instructions with a URL in the pseudo-attribute `href`, each with its group and the row of the
/// pseudo-attribute (Associating Style Sheets with XML documents, 4; ISO/IEC 19757).
pub const INSTRUCTIONS: &[(&str, Option<Group>, &Row)] = &[
    ("xml-stylesheet", None, &STYLE_SHEET),
    ("xml-model", Some(Group::Rare), &MODEL),
];

static STYLE_SHEET: Row = Row {
    fragment: Fragment::Identifier,
    ..place(None, Any, "href", Url, "xml-stylesheet").row
};

static MODEL: Row = Row {
    role: Metadata,
    ..STYLE_SHEET
};

/// The row of `xml:base` (XML Base, 3).
pub static XML_BASE: Row = place(None, Any, "base", Url, "XML Base").role(Metadata).row;

/// True if the attribute of an element, or its text, is a URL that should be absolute: in a sitemap, whose protocol
/// requires it, or in the description of a search engine. The name of the element is as written. No other vocabulary in
/// the table uses such names.
pub fn is_location(element: &str, attribute: Option<&str>) -> bool {
    let local = element.rsplit(':').next().unwrap_or_default();
    let mut rows = TABLE.iter().map(|row| &row.row);
    rows.any(|row| {
        row.group == Some(Group::Manifest)
            && row.attribute == attribute.unwrap_or_default()
            && row.elements.contain(local)
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
    let is_place = |row: &XmlRow| match attribute {
        Some(named) => {
            !named.1.is_empty() && named == (row.attribute_vocabulary, row.row.attribute)
        }
        None => row.row.attribute.is_empty(),
    };
    let found = TABLE.iter().find(|row| {
        is_place(row)
            && row.vocabulary.is_none_or(|known| known == vocabulary)
            && row.row.group.is_none_or(|group| groups.contains(group))
            && row.row.elements.contain(element)
            && row.row.when.holds(other)
    });
    found.map(|row| &row.row)
}
