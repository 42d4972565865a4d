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

use std::{collections::HashMap, sync::LazyLock};

use baselink_text::named;

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

/// The table: the vocabulary of each name in each column, which are the names of namespaces, and of the document elements that
/// identify a vocabulary without a namespace.
///
/// Some vocabularies have several namespaces, such as one for each version. Old feeds use other spellings of the namespace
/// of Apple Podcasts, and readers accept them.
static TABLE: LazyLock<HashMap<(usize, &str), Vocabulary>> = LazyLock::new(|| {
    let rows = include_str!("namespaces.tsv").lines();
    let names = rows.flat_map(|row| {
        let (vocabulary, cells) = row.split_once('\t').unwrap_or_default();
        let vocabulary = Vocabulary::from_name(vocabulary);
        let words = (0..).zip(cells.split('\t'));
        let words =
            words.flat_map(|(column, cell)| cell.split(' ').map(move |name| (column, name)));
        words.filter_map(move |name| Some((name, vocabulary?)))
    });
    names.collect()
});

impl Vocabulary {
    /// The vocabulary of a namespace name; an empty name means no namespace.
    pub fn of_namespace(name: &str) -> Self {
        if name.is_empty() {
            return Self::Plain;
        }
        TABLE.get(&(0, name)).copied().unwrap_or(Self::Other)
    }

    /// The vocabulary of elements without a namespace, if the document element is called `root` and has no
    /// namespace either.
    pub fn of_root(root: &str) -> Self {
        TABLE.get(&(1, root)).copied().unwrap_or(Self::Plain)
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_has_a_known_vocabulary() {
        for row in include_str!("namespaces.tsv").lines().skip(1) {
            let cells: Vec<_> = row.split('\t').collect();
            let vocabulary = Vocabulary::from_name(cells[0]).unwrap();
            for namespace in cells[1].split(' ').filter(|name| !name.is_empty()) {
                assert_eq!(Vocabulary::of_namespace(namespace), vocabulary);
            }
            for root in cells.get(2).iter().flat_map(|roots| roots.split(' ')) {
                assert_eq!(Vocabulary::of_root(root), vocabulary);
            }
        }
        for name in ["namespace", "document", "http://example.org/"] {
            assert_eq!(Vocabulary::of_namespace(name), Vocabulary::Other);
            assert_eq!(Vocabulary::of_root(name), Vocabulary::Plain);
        }
        assert_eq!(Vocabulary::of_root(""), Vocabulary::Plain);
    }

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
