//! The character references of HTML (13.2.5.72 and following), in attribute values and in text.
//!
//! ```
//! use baselink_scan::html::references::{character_data, character_references};
//! use baselink_text::View;
//! assert_eq!(character_references(View::of_str("?a&copy=1&amp;b", 0)).text, "?a&copy=1&b");
//! assert_eq!(character_data(View::of_str("?a&copy=1&amp;b", 0)).text, "?a©=1&b");
//! ```
//!
//! Deliberately absent: the encoders, which need no table of names ([`baselink_text::layer::escape`]).

use baselink_text::{
    View,
    layer::escape::{Unescaped, layered, one},
};
use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};

/// Decodes the character references of an HTML attribute value, normalises its newlines and replaces NUL, as the
/// tokenizer does (HTML, 13.2.3.5 and 13.2.5.36 to 38).
///
/// `view` is the raw value between its quotes, decoded from its charset.
pub fn character_references(view: View) -> View {
    markup(view, true)
}

/// Decodes the character references of text (the data and RCDATA states) and normalises newlines.
pub fn character_data(view: View) -> View {
    markup(view, false)
}

fn markup(view: View, attribute: bool) -> View {
    layered(
        view,
        |rest| memchr::memchr3(b'&', b'\r', 0, rest),
        |rest, _| match rest.as_bytes() {
            [b'\r', b'\n', ..] => one(2, '\n'),
            [b'\r', ..] => one(1, '\n'),
            [0, ..] => one(1, '\u{fffd}'),
            _ => character_reference(rest, attribute),
        },
    )
}

/// The most frequent character references. Since each ends in `;`, it is not the beginning of another name.
const COMMON: [(&str, char); 4] = [
    ("&amp;", '&'),
    ("&quot;", '"'),
    ("&lt;", '<'),
    ("&gt;", '>'),
];

/// The length and meaning of a character reference at the start of `rest`, which begins with `&`.
fn character_reference(rest: &str, attribute: bool) -> Option<Unescaped> {
    let bytes = rest.as_bytes();
    if bytes.get(1) == Some(&b'#') {
        return numeric_reference(bytes);
    }
    let common = COMMON.iter().find(|(name, _)| rest.starts_with(name));
    if let Some((name, character)) = common {
        return one(name.len(), *character);
    }
    let mut matched = None;
    for end in 2..=bytes.len() {
        // `get` rejects a split character, which no name contains.
        let Some(entry) = rest.get(1..end).and_then(|name| NAMED_ENTITIES.get(name)) else {
            break;
        };
        if entry.0 != 0 {
            matched = Some((end, *entry));
        }
    }
    let (length, (first, second)) = matched?;
    let next = bytes.get(length);
    if attribute
        && bytes[length - 1] != b';'
        && next.is_some_and(|&byte| byte == b'=' || byte.is_ascii_alphanumeric())
    {
        return None;
    }
    let second = char::from_u32(second).filter(|&second| second != '\0');
    Some((length, [char::from_u32(first), second]))
}

fn numeric_reference(bytes: &[u8]) -> Option<Unescaped> {
    let (radix, digits) = match bytes.get(2) {
        Some(b'x' | b'X') => (16, 3),
        _ => (10, 2),
    };
    let mut number: u32 = 0;
    let mut at = digits;
    while let Some(digit) = bytes
        .get(at)
        .and_then(|&byte| char::from(byte).to_digit(radix))
    {
        number = number.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == digits {
        return None;
    }
    if bytes.get(at) == Some(&b';') {
        at += 1;
    }
    let decoded = match number {
        0 => '\u{fffd}',
        0x80..=0x9f => C1_REPLACEMENTS[number as usize - 0x80]
            .or_else(|| char::from_u32(number))
            .unwrap_or('\u{fffd}'),
        _ => char::from_u32(number).unwrap_or('\u{fffd}'),
    };
    one(at, decoded)
}

#[cfg(test)]
mod tests {
    use baselink_text::layer::escape::{Quote, attribute, text};

    use super::*;

    fn check(decode: fn(View) -> View, raw: &str, text: &str) {
        let view = decode(View::of_str(raw, 0));
        assert_eq!(view.text, text, "{raw:?}");
        assert_eq!(view.map.to_source(text.len() + 1), None, "{raw:?}");
        assert_eq!(view.map.to_source(text.len()), Some(raw.len()), "{raw:?}");
    }

    #[test]
    fn character_references_of_attributes() {
        for (raw, text) in [
            ("a&amp;b", "a&b"),
            ("&#104;ttp", "http"),
            ("&#x2F;&#x2f", "//"),
            // 13.2.5.73: in an attribute, a name without `;` before `=` or an alphanumeric is text.
            ("?a&copy=1", "?a&copy=1"),
            ("?a&copyb", "?a&copyb"),
            ("?a&copy;", "?a©"),
            ("?a&copy", "?a©"),
            ("&notit;", "&notit;"),
            ("&notin;", "∉"),
            ("&nope; & &# &#x &;", "&nope; & &# &#x &;"),
            (
                "&#0;&#xd800;&#x110000;&#99999999999;",
                "\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            ),
            ("&#128;&#x81;", "€\u{81}"),
            ("a\r\nb\rc\0", "a\nb\nc\u{fffd}"),
            ("&#13;\n", "\r\n"),
            ("&NotEqualTilde;", "≂̸"),
        ] {
            check(character_references, raw, text);
        }
    }

    #[test]
    fn character_references_of_text_need_no_semicolon() {
        check(character_data, "&copyb&notit;", "©b¬it;");
    }

    #[test]
    fn escaped_text_decodes_to_itself() {
        let special = "a&b\"c'd<e>f=g`h i\tj\nk\\l(m)&amp;é\u{c}";
        for quote in [Quote::Double, Quote::Single, Quote::None] {
            let spelled = attribute(special, quote);
            assert_eq!(
                character_references(View::of_str(&spelled, 0)).text,
                special
            );
        }
        assert_eq!(
            character_data(View::of_str(&text(special), 0)).text,
            special
        );
    }
}
