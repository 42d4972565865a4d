//! The document type declaration (XML 1.0, 2.8): can its internal subset give the document a base, and which words of its
//! literals could be references?
//!
//! Entities and default values are not read, but browsers read them. If one could contain a base, no link of the document
//! is resolved. In a copy, a word that would lead out of the folder is guarded, whatever it means.
//!
//! ```text
//! <!ENTITY b "<base href='/d/'/>">            -->   BaseDoubt::Element
//! <!ATTLIST a xml:base CDATA "/d/">           -->   BaseDoubt::Default
//! <!ENTITY x "<image href='//h/x'/>">         -->   //h/x
//! ```
//!
//! Deliberately absent: the external subset, which is never fetched, and the question whether an entity is used.

use std::collections::HashMap;

use baselink_text::{Span, format::starts_with, layer::xml::with_characters};
use baselink_url::reference::opaque_scheme;

use crate::document::{BaseDoubt, BaseKind};

/// The doubt about the base of a document with this declaration, which is the text between `<!DOCTYPE` and `>`. Comments
/// and processing instructions in it count, too.
pub fn base_doubt(doctype: &str) -> Option<(BaseKind, BaseDoubt)> {
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

/// True if the declaration may give elements attributes: default values, which a parameter entity may declare, too (XML 1.0, 3.3.2).
pub fn has_defaults(doctype: &str) -> bool {
    let subset = doctype.split_once('[').map_or("", |(_, subset)| subset);
    let has_default = |markup: &str| markup.starts_with("!ATTLIST") && markup.contains(['"', '\'']);
    subset.contains('%') || subset.split('<').any(has_default)
}

/// The contents of the literals and processing instructions in a document type declaration.
pub fn literals(doctype: &[u8]) -> Vec<Span> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(offset) = memchr::memchr3(b'"', b'\'', b'<', &doctype[at..]) {
        let start = at + offset;
        let rest = &doctype[start..];
        let (mark, end): (usize, &[u8]) = match rest {
            [b'<', b'!', b'-', b'-', ..] => (4, b"-->"),
            [b'<', b'?', ..] => (2, b"?>"),
            [b'<', ..] => (1, b""),
            _ => (1, &rest[..1]),
        };
        let length = memchr::memmem::find(&rest[mark..], end);
        let inside = Span::new(
            start + mark,
            length.map_or(doctype.len(), |it| start + mark + it),
        );
        found.extend((mark < 4 && !end.is_empty()).then_some(inside));
        at = (inside.end + end.len()).min(doctype.len());
    }
    found
}

/// The number of levels of entities inside each other that are replaced.
const DEEPEST: usize = 40;

/// The length of a word beyond which its entities are not replaced.
const LONGEST_WORD: usize = 1_024;

/// The general entities of an internal subset (XML 1.0, 4.2), by name.
#[derive(Default)]
pub struct DeclaredEntities {
    values: HashMap<String, String>,
    /// True if a parameter entity or an external DTD may declare others, or the same ones.
    pub has_others: bool,
}

impl DeclaredEntities {
    /// Adds the entity with this value, if `before` ends with the start of its declaration. Of several, the first counts.
    pub fn add(&mut self, before: &[u8], value: &str) {
        let markup = memchr::memrchr(b'<', before).map(|at| &before[at..]);
        let name = markup.and_then(|markup| markup.strip_prefix(b"<!ENTITY"));
        if let Some(name) = name.and_then(|name| str::from_utf8(name.trim_ascii()).ok()) {
            self.has_others |= name.starts_with('%');
            let entity = self.values.entry(name.to_owned());
            entity.or_insert_with(|| value.to_owned());
        }
    }

    /// `text` with the values of entities; `None` if one is unknown, or the text becomes too long.
    pub fn expand(&self, text: &str) -> Option<String> {
        let mut text = with_characters(text);
        for _ in 0..=DEEPEST {
            let mut pieces = text.split('&');
            let mut expanded = pieces.next()?.to_owned();
            let mut has_entity = false;
            for piece in pieces {
                let Some((name, rest)) = piece.split_once(';') else {
                    expanded.extend(["&", piece]);
                    continue;
                };
                has_entity = true;
                expanded.extend([self.value(name)?, rest]);
                if expanded.len() > LONGEST_WORD {
                    return None;
                }
            }
            if !has_entity {
                return Some(expanded);
            }
            text = with_characters(&expanded);
        }
        None
    }

    /// The value of an entity. Of the five that are predefined (XML 1.0, 4.6), only `amp` may begin a reference of HTML.
    fn value(&self, name: &str) -> Option<&str> {
        match name {
            "amp" => Some("&"),
            "lt" | "gt" | "quot" | "apos" => Some(" "),
            _ if self.has_others => None,
            _ => self.values.get(name).map(String::as_str),
        }
    }
}

/// A word of a literal that may be a reference.
pub struct LiteralWord {
    pub span: Span,
    /// True if the word is the whole literal. Otherwise the text before the word may be part of the reference.
    pub is_whole: bool,
    /// True if the word contains a reference to an entity that may lead out of a folder, or an escape of another syntax.
    pub is_unknown: bool,
}

/// The words of `literal` that may be references. Its character references are decoded once, but an entity value is read again.
pub fn words(literal: &str, entities: &DeclaredEntities) -> Vec<LiteralWord> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < literal.len() {
        let rest = &literal[at..];
        let is_data = starts_with(rest.as_bytes(), "data:");
        let mut is_in_reference = false;
        let end = rest.find(|character: char| {
            let was_in_reference = is_in_reference;
            is_in_reference = match character {
                '&' => true,
                ';' => false,
                _ => is_in_reference,
            };
            match character {
                ' ' | '"' | '\'' | '<' | '>' | '(' | ')' => true,
                ';' => !was_in_reference && !is_data,
                '=' | ',' | '|' => !is_data,
                _ => false,
            }
        });
        let end = end.unwrap_or(rest.len());
        let is_unknown = is_unknown(&rest[..end], entities);
        // The name of a property before an entity in CSS looks like a scheme, and a list may begin with that of a `data:` URL.
        let name = rest[..end]
            .split(['&', ';'])
            .next()
            .unwrap_or_default()
            .rfind(':');
        let start = name.filter(|_| is_unknown).map_or(at, |name| at + name + 1);
        let (before, after) = (
            literal[..start].trim_end(),
            literal[at + end..].trim_start(),
        );
        let word = LiteralWord {
            span: Span::new(start, at + end),
            is_whole: before.is_empty() && after.is_empty(),
            is_unknown,
        };
        // The slash of a tag.
        let is_of_tag =
            literal[..at].ends_with('<') || (&rest[..end] == "/" && after.starts_with('>'));
        let may_lead = rest[..end].contains(['/', '\\', ':', '.']) || word.is_unknown;
        found.extend(Some(word).filter(|_| may_lead && !is_of_tag));
        at += (end + 1).min(rest.len());
    }
    found
}

/// True if the text of `word` does not show where it leads.
fn is_unknown(word: &str, entities: &DeclaredEntities) -> bool {
    if word.contains('&') {
        return !entities.expand(word).as_deref().is_some_and(is_harmless);
    }
    // In a list of SMIL (SVG 1.1, 19.2.9), a `data:` URL ends at `;`.
    let mut values = word.split(';').skip(1).map(str::trim_start);
    let has_escape = word.contains(['\\', '\t', '\n', '\r']);
    values.any(|value| value.starts_with('/') || value.contains(['.', ':', '%', '\\']))
        || has_escape && opaque_scheme(word).is_none_or(|scheme| scheme == "file")
}

/// True if nothing in `text` can lead out of a folder on disk, even if CSS or HTML decodes it again. One URL of the web cannot.
fn is_harmless(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_web = text.starts_with("http://") || text.starts_with("https://");
    if is_web && !text.contains([' ', '"', '\'', '<', '>', '(', ')', ';', ',', '|', '\\', '&']) {
        return true;
    }
    let leads = ["/", "\\", "%", "..", "file:", "&#"];
    !leads.iter().any(|mark| text.contains(mark))
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
