//! Namespaces in XML 1.0: the bindings of prefixes, and the known vocabularies.
//!
//! ```
//! use baselink_scan::xml::namespaces::{Bindings, Vocabulary};
//! let mut bindings = Bindings::default();
//! let outer = bindings.enter();
//! bindings.bind(b"h", Vocabulary::of_namespace("http://www.w3.org/1999/xhtml"));
//! assert_eq!(bindings.of_element(b"h"), Vocabulary::Xhtml);
//! bindings.leave(outer);
//! assert_eq!(bindings.of_element(b"h"), Vocabulary::Other);
//! ```
//!
//! Deliberately absent: the names of namespaces without links, which share one variant.

use std::collections::HashMap;

use baselink_text::named;

use self::Vocabulary::*;

named! {
    /// A known namespace, identified by its vocabulary.
    pub enum Vocabulary {
        /// No namespace, in a document whose document element does not identify the vocabulary.
        Plain = "",
        /// An unknown namespace.
        Other = "other",
        /// `xml:`, which is bound by definition.
        Xml = "XML",
        /// XHTML 1.
        Xhtml = "XHTML",
        /// SVG.
        Svg = "SVG",
        /// MathML.
        MathMl = "MathML",
        /// XLink 1.
        XLink = "XLink",
        /// Vector Markup Language.
        Vml = "VML",
        /// Attributes of Microsoft Office in VML.
        Office = "Microsoft Office",
        /// Atom 1.0 (RFC 4287), its draft 0.3, and Atom feeds without a namespace.
        Atom = "Atom",
        /// The Atom Publishing Protocol (RFC 5023).
        App = "Atom publishing",
        /// Atom threading extensions (RFC 4685).
        Threading = "Atom threading",
        /// RSS of any version.
        Rss = "RSS",
        /// RSS 1.0's content module.
        RssContent = "RSS content",
        /// Media RSS.
        Media = "Media RSS",
        /// Apple's podcast feeds.
        Itunes = "Apple Podcasts",
        /// RDF/XML.
        Rdf = "RDF",
        /// `xsi:`, of XML Schema.
        SchemaInstance = "XML Schema",
        /// XInclude.
        XInclude = "XInclude",
        /// XSLT.
        Xslt = "XSLT",
        /// OPML.
        Opml = "OPML",
        /// DocBook 4 and 5.
        DocBook = "DocBook",
        /// TEI P4 and P5.
        Tei = "TEI",
        /// DITA.
        Dita = "DITA",
        /// The package document of EPUB.
        Opf = "OPF",
        /// The navigation file of EPUB 2.
        Ncx = "NCX",
        /// KML.
        Kml = "KML",
        /// SMIL.
        Smil = "SMIL",
        /// Sitemaps and sitemap indexes.
        Sitemap = "Sitemap",
        /// Images in sitemaps.
        SitemapImage = "Sitemap image",
        /// Videos in sitemaps.
        SitemapVideo = "Sitemap video",
        /// Descriptions of search engines.
        OpenSearch = "OpenSearch",
        /// Mozilla's additions to OpenSearch.
        MozillaSearch = "Mozilla search",
    }
}

/// The known namespace names. Some vocabularies have several, such as one for each version.
#[rustfmt::skip]
const NAMES: &[(&str, Vocabulary)] = &[
    ("http://www.w3.org/1999/xhtml", Xhtml),
    ("http://www.w3.org/2000/svg", Svg),
    ("http://www.w3.org/1998/Math/MathML", MathMl),
    ("http://www.w3.org/1999/xlink", XLink),
    ("urn:schemas-microsoft-com:vml", Vml),
    ("urn:schemas-microsoft-com:office:office", Office),
    ("http://www.w3.org/2005/Atom http://purl.org/atom/ns#", Atom),
    ("http://www.w3.org/2007/app http://purl.org/atom/app#", App),
    ("http://purl.org/syndication/thread/1.0", Threading),
    ("http://purl.org/rss/1.0/ \
      http://my.netscape.com/rdf/simple/0.9/ \
      http://channel.netscape.com/rdf/simple/0.9/ \
      http://backend.userland.com/rss2 \
      http://backend.userland.com/RSS2 \
      http://blogs.law.harvard.edu/tech/rss", Rss),
    ("http://purl.org/rss/1.0/modules/content/", RssContent),
    ("http://search.yahoo.com/mrss/ http://search.yahoo.com/mrss", Media),
    // Old feeds use the other spellings, and readers accept them.
    ("http://www.itunes.com/dtds/podcast-1.0.dtd \
      http://www.itunes.com/DTDs/Podcast-1.0.dtd \
      http://www.itunes.com/DTDs/PodCast-1.0.dtd", Itunes),
    ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", Rdf),
    ("http://www.w3.org/2001/XMLSchema-instance", SchemaInstance),
    ("http://www.w3.org/2001/XInclude http://www.w3.org/2003/XInclude", XInclude),
    ("http://www.w3.org/1999/XSL/Transform", Xslt),
    ("http://opml.org/spec2", Opml),
    ("http://docbook.org/ns/docbook", DocBook),
    ("http://www.tei-c.org/ns/1.0", Tei),
    ("http://www.idpf.org/2007/opf", Opf),
    ("http://www.daisy.org/z3986/2005/ncx/", Ncx),
    ("http://www.opengis.net/kml/2.2 \
      http://earth.google.com/kml/2.0 \
      http://earth.google.com/kml/2.1 \
      http://earth.google.com/kml/2.2", Kml),
    ("http://www.w3.org/ns/SMIL \
      http://www.w3.org/2001/SMIL20/Language \
      http://www.w3.org/2005/SMIL21/Language", Smil),
    ("http://www.sitemaps.org/schemas/sitemap/0.9 \
      https://www.sitemaps.org/schemas/sitemap/0.9 \
      http://www.google.com/schemas/sitemap/0.84", Sitemap),
    ("http://www.google.com/schemas/sitemap-image/1.1", SitemapImage),
    ("http://www.google.com/schemas/sitemap-video/1.1", SitemapVideo),
    ("http://a9.com/-/spec/opensearch/1.1/ \
      http://a9.com/-/spec/opensearch/1.0/ \
      http://a9.com/-/spec/opensearchdescription/1.0/", OpenSearch),
    ("http://www.mozilla.org/2006/browser/search/", MozillaSearch),
];

/// The vocabulary of elements without a namespace, by the document element.
#[rustfmt::skip]
const ROOTS: &[(&str, Vocabulary)] = &[
    ("rss", Rss),
    ("feed entry", Atom),
    ("opml", Opml),
    ("set book part article chapter appendix preface section sect1 refentry", DocBook),
    ("TEI.2 TEI teiCorpus.2", Tei),
    ("dita topic concept task reference glossentry map bookmap", Dita),
    ("package", Opf),
    ("ncx", Ncx),
    ("kml", Kml),
    ("smil", Smil),
    ("urlset sitemapindex", Sitemap),
    ("OpenSearchDescription", OpenSearch),
];

/// The vocabulary in the row of `name`.
fn among(rows: &[(&str, Vocabulary)], name: &str) -> Option<Vocabulary> {
    rows.iter()
        .find(|row| row.0.split(' ').any(|known| known == name))
        .map(|row| row.1)
}

impl Vocabulary {
    /// The vocabulary of a namespace name; an empty name means no namespace.
    pub fn of_namespace(name: &str) -> Self {
        if name.is_empty() {
            return Self::Plain;
        }
        among(NAMES, name).unwrap_or(Other)
    }

    /// The vocabulary of elements without a namespace, if the document element is called `root` and has no
    /// namespace either.
    pub fn of_root(root: &str) -> Self {
        among(ROOTS, root).unwrap_or(Plain)
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
        self.by_prefix
            .get(prefix)
            .and_then(|bound| bound.last().copied())
            .unwrap_or(if prefix.is_empty() {
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
