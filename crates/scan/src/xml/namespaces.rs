//! Namespaces in XML 1.0: the bindings of prefixes, and the known vocabularies.
//!
//! ```
//! use baselink_scan::xml::namespaces::{Bindings, Vocabulary};
//! let mut bindings = Bindings::default();
//! let outer = bindings.enter();
//! bindings.bind(b"h", Vocabulary::of_name("http://www.w3.org/1999/xhtml"));
//! assert_eq!(bindings.of_element(b"h"), Vocabulary::Xhtml);
//! bindings.leave(outer);
//! assert_eq!(bindings.of_element(b"h"), Vocabulary::Other);
//! ```
//!
//! Deliberately absent: the names of namespaces without links, which share one variant.

use std::collections::HashMap;

/// A known namespace, identified by its vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// No namespace, in a document whose document element does not identify the vocabulary.
    Plain,
    /// An unknown namespace.
    Other,
    /// `xml:`, which is bound by definition.
    Xml,
    /// XHTML 1.
    Xhtml,
    /// SVG.
    Svg,
    /// MathML.
    MathMl,
    /// XLink 1.
    XLink,
    /// Vector Markup Language.
    Vml,
    /// Attributes of Microsoft Office in VML.
    Office,
    /// Atom 1.0 (RFC 4287), its draft 0.3, and Atom feeds without a namespace.
    Atom,
    /// The Atom Publishing Protocol (RFC 5023).
    App,
    /// Atom threading extensions (RFC 4685).
    Threading,
    /// RSS of any version.
    Rss,
    /// RSS 1.0's content module.
    RssContent,
    /// Media RSS.
    Media,
    /// Apple's podcast feeds.
    Itunes,
    /// RDF/XML.
    Rdf,
    /// `xsi:`, of XML Schema.
    SchemaInstance,
    /// XInclude.
    XInclude,
    /// XSLT.
    Xslt,
    /// OPML.
    Opml,
    /// DocBook 4 and 5.
    DocBook,
    /// TEI P4 and P5.
    Tei,
    /// DITA.
    Dita,
    /// The package document of EPUB.
    Opf,
    /// The navigation file of EPUB 2.
    Ncx,
    /// KML.
    Kml,
    /// SMIL.
    Smil,
    /// Sitemaps and sitemap indexes.
    Sitemap,
    /// Images in sitemaps.
    SitemapImage,
    /// Videos in sitemaps.
    SitemapVideo,
    /// Descriptions of search engines.
    OpenSearch,
    /// Mozilla's additions to OpenSearch.
    MozillaSearch,
}

/// The known namespace names. Some vocabularies have several, such as one for each version.
const NAMES: &[(&str, Vocabulary)] = &[
    ("http://www.w3.org/1999/xhtml", Vocabulary::Xhtml),
    ("http://www.w3.org/2000/svg", Vocabulary::Svg),
    ("http://www.w3.org/1998/Math/MathML", Vocabulary::MathMl),
    ("http://www.w3.org/1999/xlink", Vocabulary::XLink),
    ("urn:schemas-microsoft-com:vml", Vocabulary::Vml),
    (
        "urn:schemas-microsoft-com:office:office",
        Vocabulary::Office,
    ),
    ("http://www.w3.org/2005/Atom", Vocabulary::Atom),
    ("http://purl.org/atom/ns#", Vocabulary::Atom),
    ("http://www.w3.org/2007/app", Vocabulary::App),
    ("http://purl.org/atom/app#", Vocabulary::App),
    (
        "http://purl.org/syndication/thread/1.0",
        Vocabulary::Threading,
    ),
    ("http://purl.org/rss/1.0/", Vocabulary::Rss),
    ("http://my.netscape.com/rdf/simple/0.9/", Vocabulary::Rss),
    (
        "http://channel.netscape.com/rdf/simple/0.9/",
        Vocabulary::Rss,
    ),
    ("http://backend.userland.com/rss2", Vocabulary::Rss),
    ("http://backend.userland.com/RSS2", Vocabulary::Rss),
    ("http://blogs.law.harvard.edu/tech/rss", Vocabulary::Rss),
    (
        "http://purl.org/rss/1.0/modules/content/",
        Vocabulary::RssContent,
    ),
    ("http://search.yahoo.com/mrss/", Vocabulary::Media),
    ("http://search.yahoo.com/mrss", Vocabulary::Media),
    (
        "http://www.itunes.com/dtds/podcast-1.0.dtd",
        Vocabulary::Itunes,
    ),
    // Old feeds use these spellings, and readers accept them.
    (
        "http://www.itunes.com/DTDs/Podcast-1.0.dtd",
        Vocabulary::Itunes,
    ),
    (
        "http://www.itunes.com/DTDs/PodCast-1.0.dtd",
        Vocabulary::Itunes,
    ),
    (
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        Vocabulary::Rdf,
    ),
    (
        "http://www.w3.org/2001/XMLSchema-instance",
        Vocabulary::SchemaInstance,
    ),
    ("http://www.w3.org/2001/XInclude", Vocabulary::XInclude),
    ("http://www.w3.org/2003/XInclude", Vocabulary::XInclude),
    ("http://www.w3.org/1999/XSL/Transform", Vocabulary::Xslt),
    ("http://opml.org/spec2", Vocabulary::Opml),
    ("http://docbook.org/ns/docbook", Vocabulary::DocBook),
    ("http://www.tei-c.org/ns/1.0", Vocabulary::Tei),
    ("http://www.idpf.org/2007/opf", Vocabulary::Opf),
    ("http://www.daisy.org/z3986/2005/ncx/", Vocabulary::Ncx),
    ("http://www.opengis.net/kml/2.2", Vocabulary::Kml),
    ("http://earth.google.com/kml/2.0", Vocabulary::Kml),
    ("http://earth.google.com/kml/2.1", Vocabulary::Kml),
    ("http://earth.google.com/kml/2.2", Vocabulary::Kml),
    ("http://www.w3.org/ns/SMIL", Vocabulary::Smil),
    ("http://www.w3.org/2001/SMIL20/Language", Vocabulary::Smil),
    ("http://www.w3.org/2005/SMIL21/Language", Vocabulary::Smil),
    (
        "http://www.sitemaps.org/schemas/sitemap/0.9",
        Vocabulary::Sitemap,
    ),
    (
        "https://www.sitemaps.org/schemas/sitemap/0.9",
        Vocabulary::Sitemap,
    ),
    (
        "http://www.google.com/schemas/sitemap/0.84",
        Vocabulary::Sitemap,
    ),
    (
        "http://www.google.com/schemas/sitemap-image/1.1",
        Vocabulary::SitemapImage,
    ),
    (
        "http://www.google.com/schemas/sitemap-video/1.1",
        Vocabulary::SitemapVideo,
    ),
    (
        "http://a9.com/-/spec/opensearch/1.1/",
        Vocabulary::OpenSearch,
    ),
    (
        "http://a9.com/-/spec/opensearch/1.0/",
        Vocabulary::OpenSearch,
    ),
    (
        "http://a9.com/-/spec/opensearchdescription/1.0/",
        Vocabulary::OpenSearch,
    ),
    (
        "http://www.mozilla.org/2006/browser/search/",
        Vocabulary::MozillaSearch,
    ),
];

/// The vocabulary of elements without a namespace, by the document element.
const ROOTS: &[(&[&str], Vocabulary)] = &[
    (&["rss"], Vocabulary::Rss),
    (&["feed", "entry"], Vocabulary::Atom),
    (&["opml"], Vocabulary::Opml),
    (
        &[
            "set", "book", "part", "article", "chapter", "appendix", "preface", "section", "sect1",
            "refentry",
        ],
        Vocabulary::DocBook,
    ),
    (&["TEI.2", "TEI", "teiCorpus.2"], Vocabulary::Tei),
    (
        &[
            "dita",
            "topic",
            "concept",
            "task",
            "reference",
            "glossentry",
            "map",
            "bookmap",
        ],
        Vocabulary::Dita,
    ),
    (&["package"], Vocabulary::Opf),
    (&["ncx"], Vocabulary::Ncx),
    (&["kml"], Vocabulary::Kml),
    (&["smil"], Vocabulary::Smil),
    (&["urlset", "sitemapindex"], Vocabulary::Sitemap),
    (&["OpenSearchDescription"], Vocabulary::OpenSearch),
];

impl Vocabulary {
    /// The vocabulary of a namespace name; an empty name means no namespace.
    pub fn of_name(name: &str) -> Self {
        if name.is_empty() {
            return Self::Plain;
        }
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(Self::Other, |row| row.1)
    }

    /// The vocabulary of elements without a namespace, if the document element is called `root` and has no
    /// namespace either.
    pub fn of_root(root: &str) -> Self {
        let row = ROOTS.iter().find(|(names, _)| names.contains(&root));
        row.map_or(Self::Plain, |row| row.1)
    }
}

/// The namespace bindings in force.
#[derive(Debug, Default)]
pub struct Bindings {
    /// The bindings of each prefix, innermost last. The default namespace has the empty prefix.
    by_prefix: HashMap<Vec<u8>, Vec<Vocabulary>>,
    /// Prefixes in the order of their declarations.
    declared: Vec<Vec<u8>>,
}

impl Bindings {
    /// Enters an element. Returns the argument for [`Bindings::leave`].
    pub fn enter(&self) -> usize {
        self.declared.len()
    }

    /// Undoes the declarations of the element for which [`Bindings::enter`] returned `outer`.
    pub fn leave(&mut self, outer: usize) {
        for prefix in self.declared.drain(outer..) {
            if let Some(bound) = self.by_prefix.get_mut(&prefix) {
                bound.pop();
            }
        }
    }

    /// Declares a prefix.
    pub fn bind(&mut self, prefix: &[u8], vocabulary: Vocabulary) {
        self.by_prefix
            .entry(prefix.to_vec())
            .or_default()
            .push(vocabulary);
        self.declared.push(prefix.to_vec());
    }

    /// The vocabulary of an element's prefix, which may be empty.
    pub fn of_element(&self, prefix: &[u8]) -> Vocabulary {
        if prefix == b"xml" {
            return Vocabulary::Xml;
        }
        let bound = self
            .by_prefix
            .get(prefix)
            .and_then(|bound| bound.last().copied());
        bound.unwrap_or(if prefix.is_empty() {
            Vocabulary::Plain
        } else {
            Vocabulary::Other
        })
    }

    /// The vocabulary of an attribute's prefix. An attribute without a prefix has no namespace.
    pub fn of_attribute(&self, prefix: &[u8]) -> Vocabulary {
        if prefix.is_empty() {
            Vocabulary::Plain
        } else {
            self.of_element(prefix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Namespaces in XML 1.0, 6.1 and 6.2.
    #[test]
    fn a_declaration_holds_inside_its_element() {
        let mut bindings = Bindings::default();
        let outermost = bindings.enter();
        bindings.bind(b"", Vocabulary::Xhtml);
        bindings.bind(b"s", Vocabulary::Svg);
        let inner = bindings.enter();
        bindings.bind(b"", Vocabulary::Plain);
        bindings.bind(b"s", Vocabulary::MathMl);
        assert_eq!(bindings.of_element(b""), Vocabulary::Plain);
        assert_eq!(bindings.of_element(b"s"), Vocabulary::MathMl);
        bindings.leave(inner);
        assert_eq!(bindings.of_element(b""), Vocabulary::Xhtml);
        assert_eq!(bindings.of_attribute(b""), Vocabulary::Plain);
        assert_eq!(bindings.of_attribute(b"s"), Vocabulary::Svg);
        bindings.leave(outermost);
        assert_eq!(bindings.of_element(b""), Vocabulary::Plain);
        assert_eq!(bindings.of_element(b"xml"), Vocabulary::Xml);
    }
}
