//! Attribute values with URLs in a syntax of their own: `srcset` (HTML, 4.8.4.3.10), declarative refresh (HTML,
//! 4.2.5.3 and 7.8), lists, and a single URL between spaces (URL Standard, 4.4).
//!
//! Values are already decoded, and spans are byte offsets in the decoded value.
//!
//! ```
//! use baselink_scan::value;
//! let content = "5; URL='next.html'";
//! let refresh = value::refresh(content).unwrap();
//! assert_eq!(&content[refresh.span.range()], "next.html");
//! assert_eq!(refresh.quote, Some('\''));
//! ```
//!
//! Deliberately absent: validation. A candidate with an invalid descriptor is found like any other, even if a
//! browser would not use it.

use baselink_text::{
    Span,
    format::{is_among, starts_with},
};

/// HTML's ASCII whitespace (Infra, 4.6).
const fn is_whitespace(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// The first offset at or after `at` whose byte is not one of `these`, or the end.
pub(super) fn skip(bytes: &[u8], at: usize, these: impl Fn(u8) -> bool) -> usize {
    bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .position(|&byte| !these(byte))
        .map_or(bytes.len(), |length| at + length)
}

/// The text of the bytes `raw` of an attribute value; `None` if they may need decoding.
#[inline(always)]
pub fn undecoded(raw: &[u8]) -> Option<&str> {
    // Branch-free, so that the compiler vectorises the loop.
    let is_itself = |byte: &u8| byte.is_ascii_graphic() & (*byte != b'&');
    let is_plain = raw.iter().fold(true, |all, byte| all & is_itself(byte));
    str::from_utf8(raw).ok().filter(|_| is_plain)
}

/// The URLs of a `srcset` attribute: the splitting loop of "parse a srcset attribute"
/// (HTML, 4.8.4.3.10).
///
/// Trailing commas of a URL are part of the separator. Parentheses in a descriptor protect its commas.
pub fn srcset(value: &str) -> Vec<Span> {
    let input = value.as_bytes();
    let mut candidates = Vec::new();
    let mut position = 0;
    loop {
        // 4. Collect whitespace and commas. 5. Past the end of input, return.
        position = skip(input, position, |byte| is_whitespace(byte) || byte == b',');
        if position == input.len() {
            return candidates;
        }
        // 6. Collect non-whitespace: url.
        let start = position;
        position = skip(input, position, |byte| !is_whitespace(byte));
        let mut end = position;
        // 8. If url ends with a comma, remove all trailing commas. Such a url has no descriptors.
        while input[end - 1] == b',' {
            end -= 1;
        }
        candidates.push(Span::new(start, end));
        if end == position {
            position = after_descriptors(input, position);
        }
    }
}

/// The offset after the comma that ends the descriptors at `position` (HTML, 4.8.4.3.10, step 8 "Otherwise").
///
/// The states "in descriptor" and "after descriptor" collect different text but end at the same place, so one loop
/// implements both.
fn after_descriptors(input: &[u8], mut position: usize) -> usize {
    while position < input.len() {
        match input[position] {
            b',' => return position + 1,
            b'(' => position = skip(input, position, |byte| byte != b')'),
            _ => position += 1,
        }
    }
    input.len()
}

/// The URL of a declarative refresh.
#[derive(Debug)]
pub struct Refresh {
    /// The text that is parsed as a URL; empty if the document refreshes itself.
    ///
    /// If no quote closes the text, it extends to the end of the value, including trailing spaces.
    pub span: Span,
    /// The quote before the URL.
    pub quote: Option<char>,
}

/// The URL of a `Refresh` header or of `<meta http-equiv=refresh>`: the "shared declarative refresh
/// steps" (HTML, 4.2.5.3 and 7.8), up to the parsing of the URL.
///
/// `None` if the value does not refresh, for example because it has no time.
pub fn refresh(value: &str) -> Option<Refresh> {
    refresh_of(value, false)
}

/// The URL that Chromium finds in the value of `<meta http-equiv=refresh>` (`ParseHTTPRefresh`): white space of Unicode may
/// surround the time and the URL, and the last such quote ends a URL.
pub fn refresh_in_chromium(value: &str) -> Option<Refresh> {
    let found = refresh_of(value, true)?;
    let url = &value[found.span.range()];
    let start = url.len() - url.trim_start_matches(is_stripped).len();
    let inner = Span::new(start, start + url.trim_matches(is_stripped).len());
    Some(Refresh {
        span: inner.shifted(found.span.start),
        ..found
    })
}

/// True if Chromium strips `character` from a value: ASCII whitespace, U+000B, and what Unicode classifies as white space in
/// bidirectional text.
fn is_stripped(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\u{85}' | '\u{a0}' | '\u{2029}' | '\u{202f}')
}

fn refresh_of(value: &str, in_chromium: bool) -> Option<Refresh> {
    let input = value.as_bytes();
    // 3. Skip whitespace.
    let start = skip(input, 0, is_whitespace);
    // 5 to 10.1. Digits and full stops, up to the end, `;`, `,` or whitespace.
    let mut position = skip(input, start, |byte| {
        !is_whitespace(byte) && !matches!(byte, b';' | b',')
    });
    let mut time = &value[start..position];
    if in_chromium {
        time = time.trim_matches(is_stripped);
    }
    if time.is_empty() || !time.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.')) {
        return None;
    }
    // 10.2 to 10.4.
    position = skip(input, position, is_whitespace);
    if let Some(b';' | b',') = input.get(position) {
        position = skip(input, position + 1, is_whitespace);
    }
    // 11.1. urlString is the rest. Later steps may shorten it.
    let rest = Refresh {
        span: Span::new(position, input.len()),
        quote: None,
    };
    // 11.2. Without a `u`, go to "skip quotes". 11.3 to 11.6. After a `u`, any mismatch goes to "parse", so that
    // quotes are not skipped.
    if let Some(b'U' | b'u') = input.get(position) {
        if !starts_with(&input[position..], "url") {
            return Some(rest);
        }
        position = skip(input, position + 3, is_whitespace);
        if input.get(position) != Some(&b'=') {
            return Some(rest);
        }
        position = skip(input, position + 1, is_whitespace);
    }
    // 11.8, "skip quotes". 11.10. The next such quote ends urlString; without one, the end of the input does.
    let (start, quote) = match input.get(position) {
        Some(&quote @ (b'\'' | b'"')) => (position + 1, Some(quote)),
        _ => (position, None),
    };
    let is_quote = |byte: &u8| Some(*byte) == quote;
    let mut quotes = input[start..].iter();
    let length = if in_chromium {
        quotes.rposition(is_quote).filter(|length| *length > 0)
    } else {
        quotes.position(is_quote)
    };
    Some(Refresh {
        span: Span::new(start, length.map_or(input.len(), |length| start + length)),
        quote: quote.map(char::from),
    })
}

/// The tokens of a list separated by ASCII whitespace, such as `ping`, or `archive` on `object`.
pub fn space_separated(value: &str) -> Vec<Span> {
    let input = value.as_bytes();
    let mut tokens = Vec::new();
    let mut position = skip(input, 0, is_whitespace);
    while position < input.len() {
        let end = skip(input, position, |byte| !is_whitespace(byte));
        tokens.push(Span::new(position, end));
        position = skip(input, end, is_whitespace);
    }
    tokens
}

/// The URLs of `msapplication-task`: the values of `action-uri` and `icon-uri` among its fields.
pub fn task(value: &str) -> Vec<Span> {
    let is_uri = |name: &str| is_among(name.trim().as_bytes(), "action-uri icon-uri");
    separated(value, b';')
        .into_iter()
        .filter_map(|field| {
            let (name, uri) = value[field.range()].split_once('=')?;
            let start = field.start + name.len() + 1;
            let uri = stripped(uri.as_bytes(), Span::new(0, uri.len()), is_whitespace);
            is_uri(name).then(|| uri.shifted(start))
        })
        .collect()
}

/// True if the value of an attribute of a literal result element contains an expression in braces. Two braces are a
/// literal one (XSLT 1.0, 7.6.2).
pub fn is_template(value: &str) -> bool {
    value
        .split(|character| character != '{')
        .any(|braces| braces.len() % 2 == 1)
}

/// The string literals that are the only argument of a call of `document` in an XPath expression (XSLT 1.0, 12.1), each
/// with its quote. A second argument would change the base.
pub fn documents(expression: &str) -> Vec<(Span, char)> {
    let input = expression.as_bytes();
    let mut found = Vec::new();
    // The end of the last token that is `document` or the `(` after it.
    let (mut after_name, mut after_open, mut at) = (false, false, 0);
    while at < input.len() {
        let byte = input[at];
        let start = at;
        at = match byte {
            b'"' | b'\'' => skip(input, at + 1, |next| next != byte) + 1,
            _ if is_name_byte(byte) => skip(input, at, is_name_byte),
            _ => at + 1,
        };
        if is_whitespace(byte) {
            continue;
        }
        if after_open && matches!(byte, b'"' | b'\'') && at <= input.len() {
            let end = skip(input, at, is_whitespace);
            let is_only = input.get(end) == Some(&b')');
            found.extend(is_only.then(|| (Span::new(start + 1, at - 1), char::from(byte))));
        }
        after_open = after_name && byte == b'(';
        after_name = &input[start..at.min(input.len())] == b"document";
    }
    found
}

/// True for a byte of a name in XPath, with its prefix.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte) || !byte.is_ascii()
}

/// The nonempty tokens of a list with this separator, without surrounding ASCII whitespace. Commas separate the
/// tokens of `archive` on `applet`; semicolons separate those of `values` on an SVG animation (SMIL 3, 12.5.5).
pub fn separated(value: &str, separator: u8) -> Vec<Span> {
    let input = value.as_bytes();
    let mut tokens = Vec::new();
    let mut position = 0;
    while position < input.len() {
        let end = skip(input, position, |byte| byte != separator);
        let token = stripped(input, Span::new(position, end), is_whitespace);
        if !token.is_empty() {
            tokens.push(token);
        }
        position = end + 1;
    }
    tokens
}

/// The span of the value without leading and trailing C0 controls and spaces, which the URL parser drops (URL
/// Standard, 4.4, step 1).
pub fn trimmed(value: &str) -> Span {
    stripped(value.as_bytes(), Span::new(0, value.len()), |byte| {
        byte <= b' '
    })
}

/// The text of the value within [`trimmed`].
pub fn trim(value: &str) -> &str {
    &value[trimmed(value).range()]
}

/// The part of `span` without `these` bytes at its ends. If it has no other bytes, an empty span at its start.
pub(super) fn stripped(input: &[u8], span: Span, these: impl Fn(u8) -> bool) -> Span {
    let inside = &input[span.range()];
    let Some(start) = inside.iter().position(|&byte| !these(byte)) else {
        return Span::at(span.start);
    };
    let end = inside
        .iter()
        .rposition(|&byte| !these(byte))
        .map_or(start, |last| last + 1);
    Span::new(start, end).shifted(span.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[Span], value: &str, expected: &[&str]) {
        let found: Vec<_> = found.iter().map(|span| &value[span.range()]).collect();
        assert_eq!(found, expected, "{value:?}");
    }

    #[test]
    fn srcset_urls() {
        for (value, urls) in [
            ("a", &["a"] as &[_]),
            ("a 1x, b 2x", &["a", "b"]),
            // A comma without following white space is part of the URL.
            ("a,b", &["a,b"]),
            ("data:,a,,, b", &["data:,a", "b"]),
            (", ,a 1x,b 2x,", &["a", "b"]),
            // Parentheses protect commas in descriptors, not in URLs.
            ("a f(1, 2) 1x, b", &["a", "b"]),
            ("a(1, b)", &["a(1", "b)"]),
            ("a (b, c", &["a"]),
            ("a (b)(c), d", &["a", "d"]),
            ("é.png 1x, ü.png", &["é.png", "ü.png"]),
            ("\u{a0}a\u{b}b 1x", &["\u{a0}a\u{b}b"]),
        ] {
            check(&srcset(value), value, urls);
        }
    }

    #[test]
    fn refresh_urls() {
        for (value, url) in [
            ("5", Some("")),
            ("5;", Some("")),
            ("5;url=", Some("")),
            ("5;URL = ' a '; b", Some(" a ")),
            ("5;url", Some("url")),
            ("5;url ", Some("url ")),
            ("5;u='a'", Some("u='a'")),
            ("5;é", Some("é")),
            ("5é", None),
            ("5;'", Some("")),
            ("", None),
            (".", Some("")),
            ("url=a", None),
        ] {
            assert_eq!(
                refresh(value).map(|found| &value[found.span.range()]),
                url,
                "{value:?}"
            );
        }
    }

    #[test]
    fn lists() {
        check(
            &space_separated(" a\tb\u{c}\r\nc,d "),
            " a\tb\u{c}\r\nc,d ",
            &["a", "b", "c,d"],
        );
        check(&space_separated(" "), " ", &[]);
        check(
            &separated(" a b ,\n,c,, ", b','),
            " a b ,\n,c,, ",
            &["a b", "c"],
        );
    }

    #[test]
    fn trimmed_drops_controls_but_no_other_spaces() {
        assert_eq!(trimmed("\0\u{1f} a b\n\u{b}"), Span::new(3, 6));
        assert_eq!(trimmed("\u{a0}"), Span::new(0, 2));
        assert_eq!(trimmed(" \t"), Span::at(0));
    }

    #[test]
    fn a_million_commas_and_parentheses() {
        assert!(srcset(&",".repeat(1_000_000)).is_empty());
        assert_eq!(srcset(&"a,".repeat(1_000_000)).len(), 1);
        assert_eq!(srcset(&"a, ".repeat(1_000_000)).len(), 1_000_000);
        assert_eq!(srcset(&format!("a {}", "(".repeat(1_000_000))).len(), 1);
        assert_eq!(
            srcset(&format!("{}a", "a (),".repeat(200_000))).len(),
            200_001
        );
        assert!(separated(&",".repeat(1_000_000), b',').is_empty());
    }
}
