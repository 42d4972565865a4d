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

use std::{borrow::Cow, ffi::OsStr};

use baselink_url::{decode_percent, normal::push};

pub use baselink_files::os_string;
pub use baselink_url::normal::push_query;

use crate::collection::path::split_name;

/// Converts `path`, names separated by `/`, to the path of a URL. Returns `None` if a name would be a dot segment (RFC
/// 3986, 5.2.4). The URL Standard also treats `%2E` as a dot. The characters in `kept` are not encoded; a `%` is one of them
/// only before two hexadecimal digits.
pub fn path(path: &[u8], kept: &[u8]) -> Option<String> {
    let mut url = String::with_capacity(path.len());
    for (number, name) in path.split(|&byte| byte == b'/').enumerate() {
        if number > 0 {
            url.push('/');
        }
        let start = url.len();
        push(&mut url, name, kept);
        if dots(&url[start..]).is_some() {
            return None;
        }
    }
    Some(url)
}

/// The number of dots in a dot segment, which may be percent-encoded; `None` for any other segment.
pub fn dots(segment: &str) -> Option<usize> {
    if segment.len() > "%2e%2e".len() {
        return None;
    }
    match decode(segment).as_slice() {
        b"." => Some(1),
        b".." => Some(2),
        _ => None,
    }
}

/// `path`, percent-encoded. `None` if a name in it would be a dot segment.
pub fn encoded(path_of_names: &[u8]) -> Option<String> {
    path(path_of_names, b"")
}

/// True if `text` consists of digits.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The bytes that `segment` represents.
pub fn decode(segment: &str) -> Vec<u8> {
    decode_percent(segment.as_bytes())
}

/// The path of a saved file with the query that it contains. If a program escaped the `?`, as some do on Windows, the path is
/// decoded. A query that is the name of a folder has an index file.
pub fn saved_path(path: &[u8]) -> Cow<'_, [u8]> {
    let place = path.strip_suffix(b"/index.html").unwrap_or(path);
    let (_, name) = split_name(place);
    let escape = [&b"%3F"[..], b"%3f"];
    let is_escaped = escape
        .iter()
        .any(|mark| memchr::memmem::find(name, mark).is_some());
    let mut path = if is_escaped {
        Cow::Owned(decode_percent(path))
    } else {
        Cow::Borrowed(path)
    };
    let folder = path.strip_suffix(b"/index.html").map(<[u8]>::len);
    if let Some(end) = folder.filter(|end| memchr::memchr(b'?', &path[..*end]).is_some()) {
        match &mut path {
            Cow::Borrowed(path) => *path = &path[..end],
            Cow::Owned(path) => path.truncate(end),
        }
    }
    path
}

/// The bytes of a path with these names, with `/` between them. Windows has 16-bit names, whose bytes are those of the name in
/// UTF-8.
pub fn path_bytes<'n, N: AsRef<OsStr> + ?Sized + 'n>(
    names: impl IntoIterator<Item = &'n N>,
) -> Vec<u8> {
    let names = names
        .into_iter()
        .map(|name| name.as_ref().as_encoded_bytes());
    names.collect::<Vec<_>>().join(&b'/')
}
