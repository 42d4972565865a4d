//! Escapes of the syntaxes that contain URLs: character references (HTML, 13.2.5.72 and following),
//! CSS escapes (CSS Syntax 3, 4.3.7), escapes in strings of JSON (RFC 8259, 7) and of JavaScript (ECMAScript, 12.9.4).
//!
//! Each syntax has a decoder, from [`View`] to [`View`], and an encoder whose output decodes to the given text.
//!
//! ```
//! use baselink_text::layer::{escape, View};
//! let css = escape::css(View::of_str(r"im\ g.png", 0), false);
//! assert_eq!(css.text, "im g.png");
//! assert_eq!(escape::css_string("a\"b", '"'), "a\\\"b");
//! ```
//!
//! Deliberately absent: the ends of an escaped value, which the scanners find; the decoder of character references, which
//! `baselink-scan` has, because it needs the table of their names.

use super::{MapBuilder, OpenEscape, View};
use crate::span::Span;

/// The length of an escape, and the characters that it represents.
pub type Unescaped = (usize, [Option<char>; 2]);

/// The characters of a backslash before a line end (CSS Syntax 3, 4.3.5): none.
const NOTHING: [Option<char>; 2] = [None; 2];

/// An escape of this `length` that represents `character`.
pub fn one(length: usize, character: char) -> Option<Unescaped> {
    Some((length, [Some(character), None]))
}

/// Decodes the escapes in `view`. `next` finds the next ASCII character that may begin an escape. `escape`
/// receives the text from that character on, and the length of the text decoded so far. It returns the length and
/// meaning of the escape, or `None` if the character represents itself.
pub fn layered(
    view: View,
    next: impl Fn(&[u8]) -> Option<usize>,
    mut escape: impl FnMut(&str, usize) -> Option<Unescaped>,
) -> View {
    if next(view.text.as_bytes()).is_none() {
        return view;
    }
    let mut text = String::with_capacity(view.text.len());
    let mut map = MapBuilder::default();
    let mut plain = 0;
    let mut at = 0;
    while let Some(length) = next(&view.text.as_bytes()[at..]) {
        at += length;
        let rest = &view.text[at..];
        let Some((length, decoded)) = escape(rest, text.len() + at - plain) else {
            at += 1;
            continue;
        };
        text.push_str(&view.text[plain..at]);
        map.verbatim(plain, at - plain);
        let before = text.len();
        text.extend(decoded.into_iter().flatten());
        map.whole(
            text.len() - before,
            Span::new(at, at + length),
            open(&rest[..length]),
        );
        at += length;
        plain = at;
    }
    if plain == 0 {
        return view;
    }
    text.push_str(&view.text[plain..]);
    map.verbatim(plain, view.text.len() - plain);
    View {
        map: map.finish(0).over(&view.map),
        text,
    }
}

/// The kind of an unterminated escape.
fn open(escape: &str) -> Option<OpenEscape> {
    match escape.as_bytes() {
        [b'&', .., b';'] => None,
        [b'&', b'#', b'x' | b'X', ..] => Some(OpenEscape::Hexadecimal),
        [b'&', b'#', ..] => Some(OpenEscape::Decimal),
        [b'&', ..] => Some(OpenEscape::Name),
        // Six digits, or JSON's `\u` and four, take no further digits. Treating them as open does no harm.
        [b'\\', .., last] if last.is_ascii_hexdigit() => Some(OpenEscape::Css),
        _ => None,
    }
}

/// Decodes the text of a CSS string: its escapes (CSS Syntax 3, 4.3.5 and 4.3.7), NUL and newlines (3.3). In a url-token
/// (4.3.6), a final backslash is an escape (4.3.7); a string ignores it.
pub fn css(view: View, is_url_token: bool) -> View {
    layered(
        view,
        |rest| {
            rest.iter()
                .position(|byte| matches!(byte, b'\\' | b'\r' | 0 | 0x0c))
        },
        |rest, _| {
            let bytes = rest.as_bytes();
            match bytes {
                [0, ..] => one(1, '\u{fffd}'),
                [b'\r', b'\n', ..] => one(2, '\n'),
                [b'\r' | 0x0c, ..] => one(1, '\n'),
                [b'\\'] if is_url_token => one(1, '\u{fffd}'),
                [b'\\'] => Some((1, NOTHING)),
                [b'\\', b'\r', b'\n', ..] => Some((3, NOTHING)),
                [b'\\', b'\n' | b'\r' | 0x0c, ..] => Some((2, NOTHING)),
                [b'\\', first, ..] if first.is_ascii_hexdigit() => {
                    let (length, decoded) = css_hex(bytes);
                    one(length, decoded)
                }
                [b'\\', ..] => {
                    let escaped = rest[1..].chars().next()?;
                    let length = 1 + escaped.len_utf8();
                    one(length, if escaped == '\0' { '\u{fffd}' } else { escaped })
                }
                _ => None,
            }
        },
    )
}

/// The length and the character of the hexadecimal escape at the start of `bytes` (CSS Syntax 3, 4.3.7).
pub fn css_hex(bytes: &[u8]) -> (usize, char) {
    let digits = bytes[1..]
        .iter()
        .take(6)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let number = bytes[1..=digits].iter().fold(0, |number, &byte| {
        number * 16 + char::from(byte).to_digit(16).unwrap_or(0)
    });
    let mut length = 1 + digits;
    match bytes.get(length..) {
        Some([b'\r', b'\n', ..]) => length += 2,
        Some([b' ' | b'\t' | b'\n' | b'\r' | 0x0c, ..]) => length += 1,
        _ => {}
    }
    let decoded = char::from_u32(number).filter(|&decoded| decoded != '\0');
    (length, decoded.unwrap_or('\u{fffd}'))
}

/// Decodes the escapes of a JavaScript string (ECMAScript, 12.9.4), including the octal ones of old scripts
/// (B.1.2). The escapes of JSON (RFC 8259, 7) are a subset. A lone surrogate becomes U+FFFD.
///
/// `view` is the text between the quotes.
pub fn script(view: View) -> View {
    layered(
        view,
        |rest| memchr::memchr(b'\\', rest),
        |rest, _| {
            let hexadecimal = |digits: &str| {
                let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                u32::from_str_radix(digits, 16)
                    .ok()
                    .filter(|_| is_hex)
                    .and_then(char::from_u32)
            };
            let escaped = rest[1..].chars().next()?;
            match escaped {
                'b' => one(2, '\u{8}'),
                'f' => one(2, '\u{c}'),
                'n' => one(2, '\n'),
                'r' => one(2, '\r'),
                't' => one(2, '\t'),
                'v' => one(2, '\u{b}'),
                'x' => {
                    let character = rest.get(2..4).and_then(hexadecimal);
                    one(4.min(rest.len()), character.unwrap_or('\u{fffd}'))
                }
                'u' if rest[2..].starts_with('{') => {
                    let end = rest.find('}').unwrap_or(rest.len() - 1);
                    let digits = rest.get(3..end).unwrap_or_default();
                    one(end + 1, hexadecimal(digits).unwrap_or('\u{fffd}'))
                }
                'u' => unicode_escape(rest),
                '0'..='7' => {
                    let most = if escaped <= '3' { 3 } else { 2 };
                    let length = rest
                        .bytes()
                        .skip(1)
                        .take(most)
                        .take_while(|byte| matches!(byte, b'0'..=b'7'))
                        .count();
                    let code = u8::from_str_radix(&rest[1..=length], 8).unwrap_or_default();
                    one(1 + length, char::from(code))
                }
                '\r' if rest[2..].starts_with('\n') => Some((3, NOTHING)),
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some((1 + escaped.len_utf8(), NOTHING)),
                other => one(1 + other.len_utf8(), other),
            }
        },
    )
}

fn unicode_escape(rest: &str) -> Option<Unescaped> {
    let unit = |at: usize| {
        rest.get(at..at + 4)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
    };
    let Some(high) = unit(2) else {
        return one(2, '\u{fffd}');
    };
    if (0xd800..0xdc00).contains(&high)
        && rest.get(6..8) == Some("\\u")
        && let Some(low @ 0xdc00..0xe000) = unit(8)
    {
        let paired = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return one(12, char::from_u32(paired).unwrap_or('\u{fffd}'));
    }
    one(6, char::from_u32(high).unwrap_or('\u{fffd}'))
}

/// The delimiter of an attribute value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `"…"`
    Double,
    /// `'…'`
    Single,
    /// No quotes: the value ends at white space or `>`.
    None,
}

/// `text` with every character written by `spell`.
fn spelled(text: &str, spell: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars()
        .for_each(|character| spell(character, &mut out));
    out
}

/// Escapes `text` for an attribute value delimited by `quote`.
pub fn attribute(text: &str, quote: Quote) -> String {
    spelled(text, |character, out| match (character, quote) {
        ('&', _) => out.push_str("&amp;"),
        ('"', Quote::Double | Quote::None) => out.push_str("&quot;"),
        ('\'', Quote::Single | Quote::None) => out.push_str("&#39;"),
        ('<', Quote::None) => out.push_str("&lt;"),
        ('>', Quote::None) => out.push_str("&gt;"),
        ('\t' | '\n' | '\u{c}' | ' ' | '=' | '`', Quote::None) | ('\r', _) => {
            out.push_str(&format!("&#{};", u32::from(character)));
        }
        _ => out.push(character),
    })
}

/// Escapes `text` for a place between tags.
pub fn text(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Escapes `text` for a CSS string quoted by `quote`.
pub fn css_string(text: &str, quote: char) -> String {
    spelled(text, |character, out| match character {
        '\n' | '\r' | '\u{c}' | '\0' => {
            out.push_str(&format!("\\{:x} ", u32::from(character)));
        }
        _ if character == quote || character == '\\' => out.extend(['\\', character]),
        _ => out.push(character),
    })
}

/// Escapes `text` for a string of JavaScript or JSON quoted by `quote`.
pub fn script_string(text: &str, quote: char) -> String {
    spelled(text, |character, out| match character {
        _ if character == quote || character == '\\' => out.extend(['\\', character]),
        '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
            out.push_str(&format!("\\u{:04x}", u32::from(character)));
        }
        _ => out.push(character),
    })
}

/// Percent-encodes, as UTF-8, the characters of `text` that `special` selects.
pub fn percent_encode(text: &str, special: impl Fn(char) -> bool) -> String {
    spelled(text, |character, out| {
        if special(character) {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(character)
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(decode: fn(View) -> View, raw: &str, text: &str) {
        let view = decode(View::of_str(raw, 0));
        assert_eq!(view.text, text, "{raw:?}");
        assert_eq!(view.map.to_source(text.len() + 1), None, "{raw:?}");
        assert_eq!(view.map.to_source(text.len()), Some(raw.len()), "{raw:?}");
    }

    #[test]
    fn css_escapes() {
        for (raw, text) in [
            (r"im\ g", "im g"),
            (r"\41 b\41b", "Ab\u{41b}"),
            (r"\000041b", "Ab"),
            ("\\41\r\nb", "Ab"),
            (r"\0 \110000 ", "\u{fffd}\u{fffd}"),
            (r"a\)b\\", r"a)b\"),
        ] {
            check(|view| css(view, false), raw, text);
        }
        assert_eq!(css(View::of_str("a\\\nb", 0), false).text, "ab");
    }

    /// ECMAScript, 12.9.4 and B.1.2.
    #[test]
    fn script_escapes() {
        for (raw, text) in [
            (r#"\x2e\u002F\u{0062}\'\"\\\/\q\é"#, "./b'\"\\/qé"),
            (r"\b\f\n\r\t\v\0", "\u{8}\u{c}\n\r\t\u{b}\0"),
            ("a\\\nb\\\r\nc\\\rd\\\u{2028}e", "abcde"),
            (r"\101\7a\3778\400", "A\u{7}a\u{ff}8 0"),
            (r"\ud83d\ude00\ud83d", "😀\u{fffd}"),
        ] {
            check(script, raw, text);
        }
        // An invalid escape is an error of the script, but must be read without a panic.
        for raw in [
            r"\x2", r"\xzz", r"\u{zz}", r"\u{}", r"\u{", r"\u12", r"\xé", "\\",
        ] {
            let read = script(View::of_str(raw, 0));
            assert!(read.map.to_source(read.text.len()).is_some(), "{raw}");
            assert_eq!(read.map.to_source(read.text.len() + 1), None, "{raw}");
        }
        for quote in ['"', '\''] {
            let text = "/'\"\\\n\u{2029}\0é";
            let spelled = script_string(text, quote);
            assert_eq!(script(View::of_str(&spelled, 0)).text, text);
        }
    }

    #[test]
    fn json_escapes() {
        for (raw, text) in [
            (r"\/a\u0041\n", "/aA\n"),
            (r"\ud83d\ude00", "😀"),
            (r"\ud83dx", "\u{fffd}x"),
            (r#"\"\\"#, r#""\"#),
        ] {
            check(script, raw, text);
        }
    }

    #[test]
    fn escaped_text_decodes_to_itself() {
        let special = "a&b\"c'd<e>f=g`h i\tj\nk\\l(m)&amp;é\u{c}";
        for quote in ['"', '\''] {
            assert_eq!(
                css(View::of_str(&css_string(special, quote), 0), false).text,
                special
            );
        }
        assert_eq!(
            script(View::of_str(&script_string(special, '"'), 0)).text,
            special
        );
    }
}
