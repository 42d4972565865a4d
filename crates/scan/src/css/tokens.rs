//! The tokens of CSS as spans of bytes (CSS Syntax 3, section 4).
//!
//! The bytes may be in any encoding in which every ASCII byte is an ASCII character. All other bytes are part of
//! names (4.2, "ident code point"), and so is NUL, which stands for U+FFFD (3.3).
//!
//! ```
//! use baselink_scan::{attributes::Groups, css};
//! // A name may be escaped, and an escape may end with white space.
//! let sheet = r"a { b: u\72 l( c\) ) }";
//! let [url] = css::urls(sheet, Groups::default())[..] else { panic!() };
//! assert_eq!(&sheet[url.span.range()], r"c\)");
//! ```
//!
//! Deliberately absent: numbers, and decoded values. A word that begins with a digit is one token, because its unit
//! never affects a URL. Names are decoded only to be compared.

use baselink_text::{Span, layer::escape};

use super::super::block;

/// A token, with only the distinctions that matter for URLs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CssToken<'a> {
    /// White space, a comment, CDO or CDC.
    Blank,
    Ident(&'a [u8]),
    /// The name of the function. The token ends after the parenthesis.
    Function(&'a [u8]),
    AtKeyword(&'a [u8]),
    /// The text inside the quotes.
    String(Span),
    /// The text of a url-token, without white space around it.
    Url(Span),
    /// An opening bracket, represented by its closer.
    Open(u8),
    /// A closing bracket.
    Close(u8),
    Semicolon,
    Equals,
    Other,
}

/// The token that begins at `at`, and its end (4.3.1). `at` must be less than the length of `bytes`.
pub fn token(bytes: &[u8], at: usize) -> (CssToken<'_>, usize) {
    let one = at + 1;
    match bytes[at..] {
        [b'/', b'*', ..] => (CssToken::Blank, comment_end(bytes, at)),
        [b'<', b'!', b'-', b'-', ..] => (CssToken::Blank, at + 4),
        [b'-', b'-', b'>', ..] => (CssToken::Blank, at + 3),
        [b'"' | b'\'', ..] => string(bytes, at),
        [b'#', ..] => (CssToken::Other, word_end(bytes, one)),
        [b'@', ..] if begins_ident(&bytes[one..]) => {
            let end = word_end(bytes, one);
            (CssToken::AtKeyword(&bytes[one..end]), end)
        }
        [b'(', ..] => (CssToken::Open(b')'), one),
        [b'[', ..] => (CssToken::Open(b']'), one),
        [b'{', ..] => (CssToken::Open(b'}'), one),
        [closer @ (b')' | b']' | b'}'), ..] => (CssToken::Close(closer), one),
        [b';', ..] => (CssToken::Semicolon, one),
        [b'=', ..] => (CssToken::Equals, one),
        [byte, ..] if is_space(byte) => (CssToken::Blank, one),
        _ if begins_ident(&bytes[at..]) => {
            let end = word_end(bytes, at);
            let name = &bytes[at..end];
            match bytes.get(end) {
                Some(b'(') if is_name(name, "url") => url(bytes, end + 1),
                Some(b'(') => (CssToken::Function(name), end + 1),
                _ => (CssToken::Ident(name), end),
            }
        }
        _ => (CssToken::Other, word_end(bytes, at).max(one)),
    }
}

/// The token of a `url(` that ends at `at`: a function before a quote, otherwise a url-token (4.3.4).
fn url(bytes: &[u8], at: usize) -> (CssToken<'_>, usize) {
    match bytes.get(space_end(bytes, at)) {
        Some(b'"' | b'\'') => (CssToken::Function(b"url"), at),
        _ => url_token(bytes, at),
    }
}

/// The url-token whose `url(` ends at `at` (4.3.6). Without a closing parenthesis, the token ends at the end of the
/// text.
#[inline]
pub fn url_token(bytes: &[u8], at: usize) -> (CssToken<'_>, usize) {
    let start = space_end(bytes, at);
    let mut end = start;
    loop {
        end = block::find_any(bytes, end, *b"\"'()\\\x7f", b' ' + 1);
        match bytes.get(end) {
            Some(0) => end += 1,
            Some(b'\\') if begins_escape(&bytes[end..]) => end = escape_end(bytes, end),
            None | Some(b')') => {
                return (
                    CssToken::Url(Span::new(start, end)),
                    (end + 1).min(bytes.len()),
                );
            }
            Some(_) => {
                let after = space_end(bytes, end);
                return match bytes.get(after) {
                    None | Some(b')') if after > end => (
                        CssToken::Url(Span::new(start, end)),
                        (after + 1).min(bytes.len()),
                    ),
                    _ => (CssToken::Other, bad_url_end(bytes, end)),
                };
            }
        }
    }
}

/// The end of a bad url-token whose error is at `at`: after the first unescaped closing parenthesis (4.3.14).
fn bad_url_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(offset) = memchr::memchr2(b')', b'\\', &bytes[at..]) {
        at += offset;
        match bytes[at] {
            b')' => return at + 1,
            _ if begins_escape(&bytes[at..]) => at = escape_end(bytes, at),
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The string that begins with the quote at `at` (4.3.5). Without a closing quote, the string ends at the end of the
/// text. A newline makes the string bad.
#[inline]
pub fn string(bytes: &[u8], at: usize) -> (CssToken<'_>, usize) {
    let (quote, start) = (bytes[at], at + 1);
    let mut end = start;
    loop {
        end = block::find_any(bytes, end, [quote, b'\\'], b' ');
        match bytes[end..] {
            [] => return (CssToken::String(Span::new(start, end)), end),
            [byte, ..] if byte == quote => {
                return (CssToken::String(Span::new(start, end)), end + 1);
            }
            [b'\\', b'\r', b'\n', ..] => end += 3,
            [b'\\', byte, ..] if is_newline(byte) => end += 2,
            [b'\\', ..] => end = escape_end(bytes, end),
            [byte, ..] if is_newline(byte) => return (CssToken::Other, end),
            _ => end += 1,
        }
    }
}

/// The end of the comment at `at`, or of the text (4.3.2).
pub fn comment_end(bytes: &[u8], at: usize) -> usize {
    let body = &bytes[at + 2..];
    memchr::memchr_iter(b'/', body)
        .find(|&slash| body[..slash].ends_with(b"*"))
        .map_or(bytes.len(), |slash| at + 2 + slash + 1)
}

/// The end of the ident code points and escapes from `at` on (4.3.11).
pub fn word_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += bytes[at..]
            .iter()
            .take_while(|&&byte| is_of_name(byte))
            .count();
        if !begins_escape(&bytes[at..]) {
            return at;
        }
        at = escape_end(bytes, at);
    }
}

/// True if `bytes` begin with a valid escape (4.3.8).
fn begins_escape(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'\\') && !bytes.get(1).copied().is_some_and(is_newline)
}

/// The end of the escape at `at` (4.3.7). Only the first byte of an escaped character beyond ASCII is included.
fn escape_end(bytes: &[u8], at: usize) -> usize {
    at + escaped(&bytes[at..]).1
}

/// The ASCII byte that the escape at the start of `bytes` represents, if it is one, and the length of the escape.
fn escaped(bytes: &[u8]) -> (Option<u8>, usize) {
    match bytes.get(1).copied() {
        Some(digit) if digit.is_ascii_hexdigit() => {
            let (length, character) = escape::css_hex(bytes);
            (u8::try_from(character).ok().filter(u8::is_ascii), length)
        }
        byte => (byte.filter(u8::is_ascii), bytes.len().min(2)),
    }
}

/// True if `bytes` begin with an ident sequence (4.3.9).
fn begins_ident(bytes: &[u8]) -> bool {
    let begins = |byte: u8| is_of_name(byte) && byte != b'-' && !byte.is_ascii_digit();
    match *bytes {
        [b'-', b'-', ..] => true,
        [b'-', byte, ..] if begins(byte) => true,
        [b'-', ref rest @ ..] => begins_escape(rest),
        [byte, ..] => begins(byte) || begins_escape(bytes),
        [] => false,
    }
}

/// True if the word `name` equals `known`, which is in lower case. ASCII case is ignored, and escapes are decoded.
#[inline]
pub fn is_name(name: &[u8], known: &str) -> bool {
    // An escape is longer than the character it represents.
    if name.len() <= known.len() || !name.contains(&b'\\') {
        return name.eq_ignore_ascii_case(known.as_bytes());
    }
    after(name, known).is_some_and(<[u8]>::is_empty)
}

/// True if the word `name` equals one of `names`, which are separated by spaces.
pub fn is_among(name: &[u8], names: &str) -> bool {
    names.split(' ').any(|known| is_name(name, known))
}

/// The rest of the word `name` if it begins with `known`, compared as in [`is_name`].
pub fn after<'a>(name: &'a [u8], known: &str) -> Option<&'a [u8]> {
    let mut rest = name;
    for &wanted in known.as_bytes() {
        let (found, length) = match rest {
            [b'\\', ..] => escaped(rest),
            [byte, ..] => (Some(*byte), 1),
            [] => return None,
        };
        if found?.to_ascii_lowercase() != wanted {
            return None;
        }
        rest = &rest[length..];
    }
    Some(rest)
}

/// The end of the white space from `at` on.
pub fn space_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..]
        .iter()
        .take_while(|&&byte| is_space(byte))
        .count()
}

/// True if `byte` is white space (4.2), including the newlines of 3.3.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t') || is_newline(byte)
}

const fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | 0x0c)
}

/// True if `byte` is part of names (4.2, "ident code point").
pub fn is_of_name(byte: u8) -> bool {
    OF_NAMES[usize::from(byte)]
}

const OF_NAMES: [bool; 256] = {
    let mut of_names = [false; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        of_names[at] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | 0) || !byte.is_ascii();
        at += 1;
    }
    of_names
};
