//! The internal subset of a document type declaration (XML 1.0, 2.8): can it give the document a base?
//!
//! Entities and default values are not read, but browsers read them. If one could contain a base, no link of the document
//! is resolved.
//!
//! ```text
//! <!ENTITY b "<base href='/d/'/>">            -->   BaseDoubt::Element
//! <!ATTLIST a xml:base CDATA "/d/">           -->   BaseDoubt::Default
//! ```
//!
//! Deliberately absent: the external subset, which is never fetched, and the question whether an entity is used.

use baselink_text::layer::xml::with_characters;

use crate::document::{BaseDoubt, BaseKind};

/// The doubt about the base of a document with this declaration, which is the text between `<!DOCTYPE` and `>`. Comments
/// and processing instructions in it count, too.
pub(super) fn base_doubt(doctype: &str) -> Option<(BaseKind, BaseDoubt)> {
    let subset = with_characters(doctype.split_once('[')?.1);
    for markup in subset.split('<').skip(1) {
        let attributes = markup.strip_prefix("!ATTLIST");
        let name = attributes
            .unwrap_or(markup)
            .trim_start()
            .split([' ', '\t', '\r', '\n', '/', '>'])
            .next();
        let is_base = name.is_some_and(|name| name.rsplit(':').next() == Some("base"));
        let has_default = attributes.is_some() && markup.contains(['"', '\'']);
        if is_base && attributes.is_none() {
            return Some((BaseKind::Element, BaseDoubt::Element));
        }
        if is_base && has_default {
            return Some((BaseKind::Element, BaseDoubt::Default));
        }
        if has_default && markup.contains("xml:base") {
            return Some((BaseKind::XmlBase, BaseDoubt::Default));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// XML 1.0, 2.8, 3.3.2 and 4.2.
    #[test]
    fn declared_bases_are_noticed() {
        let element = Some((BaseKind::Element, BaseDoubt::Element));
        let default = Some((BaseKind::Element, BaseDoubt::Default));
        let xml_base = Some((BaseKind::XmlBase, BaseDoubt::Default));
        for (subset, doubt) in [
            ("<!ENTITY b '<base href=\"/d/\"/>'>", element),
            ("<!ENTITY b '<x/><h:base href=\"/d/\"/>'>", element),
            ("<!ENTITY b '&#60;base/>'>", element),
            ("%p;<!ENTITY b '<base\n/>'>", element),
            ("<!ATTLIST a xml:base CDATA '/d/'>", xml_base),
            (
                "<!ATTLIST h:base x CDATA #IMPLIED href CDATA '/d/'>",
                default,
            ),
            (
                "<!ENTITY b '<basefont/> base'><!ATTLIST base href CDATA #IMPLIED>",
                None,
            ),
            ("<!ATTLIST a href CDATA '/d/'>", None),
            ("<!-- <!ENTITY b '<base/>'> -->", element),
        ] {
            assert_eq!(
                base_doubt(&format!("x SYSTEM '<base>' [{subset}]")),
                doubt,
                "{subset}"
            );
        }
    }

    #[test]
    fn hostile_declarations_take_linear_time() {
        for piece in [
            "<!ENTITY ",
            "<!ENTITY a '",
            "<",
            "<!",
            "<!--",
            "'",
            "<!ENTITY a 'b'>",
            "&#",
            "%",
            "<!ATTLIST a b CDATA 'c",
            "<!ATTLIST a b CDATA 'c'>",
            " a",
        ] {
            let doctype = format!("x [{}", piece.repeat(1_000_000 / piece.len()));
            assert_eq!(base_doubt(&doctype), None);
        }
    }
}
