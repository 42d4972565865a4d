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

/// The doubt about the base of a document with this declaration, which is the text between `<!DOCTYPE` and `>`.
pub(super) fn base_doubt(doctype: &str) -> Option<(BaseKind, BaseDoubt)> {
    // The name and the external identifier are skipped.
    let mut rest = after_unquoted(doctype, '[');
    while let Some(at) = rest.find(['<', ']']) {
        rest = &rest[at..];
        if rest.starts_with(']') {
            break;
        }
        rest = if let Some(comment) = rest.strip_prefix("<!--") {
            after(comment, "-->")
        } else if let Some(instruction) = rest.strip_prefix("<?") {
            after(instruction, "?>")
        } else {
            let next = after_unquoted(&rest[1..], '>');
            let doubt = doubt_of(&rest[..rest.len() - next.len()]);
            if doubt.is_some() {
                return doubt;
            }
            next
        };
    }
    None
}

fn doubt_of(declaration: &str) -> Option<(BaseKind, BaseDoubt)> {
    if declaration.starts_with("<!ENTITY") {
        let names_base = names_base(&with_characters(&declaration[1..]));
        return names_base.then_some((BaseKind::Element, BaseDoubt::Element));
    }
    let attributes = declaration.strip_prefix("<!ATTLIST")?;
    let is_of_base = local(attributes.trim_start()) == "base" && attributes.contains("href");
    if !attributes.contains(['"', '\'']) {
        return None;
    }
    let kind = if is_of_base {
        BaseKind::Element
    } else if attributes.contains("xml:base") {
        BaseKind::XmlBase
    } else {
        return None;
    };
    Some((kind, BaseDoubt::Default))
}

/// True if a tag in `text` is called `base`, with any prefix.
fn names_base(text: &str) -> bool {
    text.split('<').skip(1).any(|tag| local(tag) == "base")
}

/// The local part of the name at the start of `text`.
fn local(text: &str) -> &str {
    let end = text.find([' ', '\t', '\r', '\n', '/', '>']);
    let name = &text[..end.unwrap_or(text.len())];
    name.rsplit(':').next().unwrap_or(name)
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

/// The rest of `text` after the first `end` outside quotation marks; empty if there is none.
fn after_unquoted(text: &str, end: char) -> &str {
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', end]) {
        let found = rest[at..].chars().next();
        rest = &rest[at + 1..];
        match found {
            Some(quote @ ('"' | '\'')) => rest = after(rest, quote.encode_utf8(&mut [0; 4])),
            _ => return rest,
        }
    }
    ""
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
            (
                "<!-- <!ENTITY b '<base/>'> --><?p <!ENTITY b '<base/>'> ?>",
                None,
            ),
            ("]<!ENTITY b '<base/>'>", None),
        ] {
            assert_eq!(
                base_doubt(&format!("x SYSTEM '[' [{subset}]")),
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
