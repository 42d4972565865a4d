//! Decodes and encodes the escapes of XML: character references and entity references (XML 1.0, 4.1), line ends
//! (2.11), and the white space of attribute values (3.3.3).
//!
//! The five predefined entities (4.6) are known. A reference to another one is kept, and its place is recorded.
//!
//! ```
//! use baselink_text::layer::{View, xml};
//! let value = xml::attribute_value(View::of_str("x?y&amp;&dir;", 0));
//! assert_eq!(value.view.text, "x?y&&dir;");
//! assert_eq!(&value.view.text[value.entities[0].range()], "&dir;");
//! ```
//!
//! Deliberately absent: the entities that a document type declaration declares. Nothing that contains one is rewritten.

use super::{
    View,
    escape::{self, Quote, layered, one},
};
use crate::span::Span;

/// The maximum length of the name of an entity.
const LONGEST_NAME: usize = 256;

/// Text of a document with its references expanded.
#[derive(Debug)]
pub struct DecodedText {
    /// The text.
    pub view: View,
    /// The references in the text to entities that are not predefined, in order.
    pub entities: Vec<Span>,
}

/// `text` with its character references replaced, as in the value of an entity (4.5).
pub fn with_characters(text: &str) -> String {
    let next = |rest: &[u8]| memchr::memmem::find(rest, b"&#");
    let view = layered(View::of_str(text, 0), next, |rest, _| {
        let (length, character) = reference(rest)?;
        one(length, character?)
    });
    view.text
}

/// The length of the reference at the start of `text`, which begins with `&`, and its character; no character for an entity
/// that is not predefined.
fn reference(text: &str) -> Option<(usize, Option<char>)> {
    let limit = text.len().min(LONGEST_NAME);
    let end = text.as_bytes()[..limit]
        .iter()
        .position(|&byte| byte == b';')?;
    let name = &text[1..end];
    let is_name = |character: char| {
        character.is_alphanumeric()
            || matches!(character, '_' | ':' | '-' | '.')
            || character > '\u{b6}'
    };
    if let Some(number) = name.strip_prefix('#') {
        let (digits, radix) = number
            .strip_prefix('x')
            .map_or((number, 10), |digits| (digits, 16));
        if !digits.chars().all(|digit| digit.is_digit(radix)) {
            return None;
        }
        let number = u32::from_str_radix(digits, radix).ok()?;
        let character = char::from_u32(number).filter(|&character| is_char(character))?;
        return Some((end + 1, Some(character)));
    }
    let predefined = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ if name.is_empty() || !name.chars().all(is_name) => return None,
        _ => return Some((end + 1, None)),
    };
    Some((end + 1, Some(predefined)))
}

/// True if XML allows the character (2.2).
pub fn is_char(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Decodes an attribute value as written between its quotes.
pub fn attribute_value(view: View) -> DecodedText {
    read(view, true, true)
}

/// Decodes character data between tags.
pub fn character_data(view: View) -> DecodedText {
    read(view, true, false)
}

/// Decodes the content of a CDATA section, in which only line ends are normalised.
pub fn cdata(view: View) -> View {
    read(view, false, false).view
}

fn read(view: View, has_references: bool, is_attribute: bool) -> DecodedText {
    let line_end = if is_attribute { ' ' } else { '\n' };
    let mut entities = Vec::new();
    let next = |rest: &[u8]| {
        rest.iter().position(|byte| match byte {
            b'\r' => true,
            b'&' => has_references,
            b'\n' | b'\t' => is_attribute,
            _ => false,
        })
    };
    let view = layered(view, next, |rest, at| match rest.as_bytes() {
        [b'\r', b'\n', ..] => one(2, line_end),
        [b'&', ..] => match reference(rest)? {
            (length, Some(character)) => one(length, character),
            (length, None) => {
                entities.push(Span::new(at, at + length));
                None
            }
        },
        _ => one(1, line_end),
    });
    DecodedText { view, entities }
}

/// Escapes `text` for an attribute value delimited by `quote`.
pub fn spell_attribute(text: &str, quote: Quote) -> String {
    escape::attribute(text, quote)
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\t', "&#9;")
        .replace('\n', "&#10;")
}

/// Escapes `text` for a place between tags.
pub fn spell_text(text: &str) -> String {
    escape::text(text).replace('\r', "&#13;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn value(raw: &str) -> DecodedText {
        attribute_value(View::of_str(raw, 0))
    }

    /// XML 1.0, 4.1 and 4.6: five names, and a mandatory `;`.
    #[test]
    fn references_are_those_of_xml() {
        for (raw, text) in [
            ("a&amp;b&lt;&gt;&quot;&apos;", "a&b<>\"'"),
            ("&#104;ttp&#x3A;&#x3a;", "http::"),
            ("&copy=1&amp", "&copy=1&amp"),
            (
                "&#X2f; &#xd800; &#0; &#1; &#; & &;",
                "&#X2f; &#xd800; &#0; &#1; &#; & &;",
            ),
            ("&#+47;", "&#+47;"),
            // 3.3.3: literal white space becomes a space, but a reference to white space stays as it is.
            ("a\r\nb\tc\nd\re", "a b c d e"),
            ("&#10;&#9;", "\n\t"),
            ("&nbsp;x", "&nbsp;x"),
        ] {
            assert_eq!(value(raw).view.text, text, "{raw:?}");
        }
        let text = character_data(View::of_str("a\r\nb\tc&lt;", 0));
        assert_eq!(text.view.text, "a\nb\tc<");
        assert_eq!(cdata(View::of_str("a\r\n&amp;", 0)).text, "a\n&amp;");
    }

    #[test]
    fn references_to_declared_entities_are_kept() {
        let text = value("&#47;x&dir;y&amp;dir;");
        assert_eq!(text.view.text, "/x&dir;y&dir;");
        assert_eq!(text.entities, [Span::new(2, 7)]);
    }

    #[test]
    fn escaped_text_decodes_to_itself() {
        let special = "a&b\"c'd<e>f=g`h i\tj\nk\rl&amp;é]]>";
        for quote in [Quote::Double, Quote::Single] {
            assert_eq!(value(&spell_attribute(special, quote)).view.text, special);
        }
        let spelled = spell_text(special);
        assert_eq!(character_data(View::of_str(&spelled, 0)).view.text, special);
        assert!(!spelled.contains("]]>"));
    }
}
