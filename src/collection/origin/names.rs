//! Conversion between file names and segments of URLs.
//!
//! The rules are in RFC 3986, 2.1 (percent-encoding), 3.3 (`pchar`) and 3.4 (the characters of a query).
//!
//! ```text
//! name a b.html   -->  segment a%20b.html
//! name 100%       -->  segment 100%25
//! segment a%2Fb   -->  no name, because a name cannot contain a slash
//! ```
//!
//! Deliberately absent: characters. A name is a sequence of bytes, so `é` in Latin-1 is `%E9`.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

pub(crate) use crate::files::os_string;
use baselink_url::reference::decode_percent;

/// The treatment of a `%` before two hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Percent {
    /// The `%` is part of the name and is encoded: `%25`.
    Encode,
    /// The `%` begins an escape and is kept.
    Keep,
}

/// Converts `name` to a segment of a path. Returns `None` if it would be a dot segment (RFC 3986, 5.2.4). The URL
/// Standard also treats `%2E` as a dot.
pub(crate) fn segment(name: &[u8], percent: Percent) -> Option<String> {
    let mut url = String::with_capacity(name.len());
    push(&mut url, name, percent, b"");
    (!matches!(decode(&url).as_slice(), b"." | b"..")).then_some(url)
}

/// Converts `path`, names separated by `/`, to the path of a URL. Returns `None` if a name would be a dot segment.
pub(crate) fn path(path: &[u8], percent: Percent) -> Option<String> {
    let segments = path
        .split(|&byte| byte == b'/')
        .map(|name| segment(name, percent));
    segments
        .collect::<Option<Vec<_>>>()
        .map(|segments| segments.join("/"))
}

/// Converts `name` to a query. A `%` with two hexadecimal digits is kept as an escape.
pub(crate) fn query(name: &[u8]) -> String {
    let mut url = String::with_capacity(name.len());
    push(&mut url, name, Percent::Keep, b"/?");
    url
}

fn push(url: &mut String, name: &[u8], percent: Percent, more: &[u8]) {
    for (at, &byte) in name.iter().enumerate() {
        let kept = byte == b'%' && percent == Percent::Keep && escaped(&name[at..]).is_some();
        if kept || is_pchar(byte) || more.contains(&byte) {
            url.push(char::from(byte));
        } else {
            push_escape(url, byte);
        }
    }
}

/// Appends the escape of `byte`, with upper-case digits (RFC 3986, 2.1).
fn push_escape(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    text.extend(['%', digit(byte >> 4), digit(byte)]);
}

/// True for a `pchar` (RFC 3986, 3.3) other than the percent sign of an escape.
fn is_pchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

/// The byte that an escape at the start of `text` represents.
fn escaped(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else {
        return None;
    };
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    Some(digit(*high)? << 4 | digit(*low)?)
}

/// The bytes that `segment` represents.
pub(crate) fn decode(segment: &str) -> Vec<u8> {
    decode_percent(segment.as_bytes())
}

/// Escapes those bytes of `name` for which `refused` is true.
pub(crate) fn escape_where(name: &[u8], refused: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut written = Vec::with_capacity(name.len());
    for &byte in name {
        if refused(byte) {
            let mut escape = String::new();
            push_escape(&mut escape, byte);
            written.extend_from_slice(escape.as_bytes());
        } else {
            written.push(byte);
        }
    }
    written
}

/// Converts `bytes` to the name of a file. Returns `None` if the name is invalid, such as `..`, or contains a
/// separator.
pub(crate) fn file_name(bytes: Vec<u8>) -> Option<OsString> {
    let name = os_string(bytes)?;
    let mut components = Path::new(&name).components();
    let is_name = matches!(components.next(), Some(Component::Normal(only)) if only == name);
    (is_name && components.next().is_none() && !name.as_encoded_bytes().contains(&0))
        .then_some(name)
}

/// The bytes of a name. Windows has 16-bit names, whose bytes are those of the name in UTF-8.
pub(crate) fn bytes(name: &OsStr) -> &[u8] {
    name.as_encoded_bytes()
}

/// The bytes of a path, with `/` between its names.
pub(crate) fn path_bytes(path: &Path) -> Vec<u8> {
    path.iter().map(bytes).collect::<Vec<_>>().join(&b'/')
}
