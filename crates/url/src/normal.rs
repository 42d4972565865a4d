//! Normalization of URLs for comparison.
//!
//! According to RFC 3986, 6.2.2 and 6.2.3, the case of scheme and host, percent-encoding, default ports and dot
//! segments do not matter. Host names with non-ASCII characters are converted as in browsers (URL Standard, 3.3).
//!
//! ```text
//! HTTP://A:80/%7eb/../c?x#y  -->  http://a/c?x
//! ```
//!
//! Deliberately absent: reordering the parameters of a query; their order matters.

use std::{borrow::Cow, fmt::Write as _};

use crate::{
    ascii,
    reference::{Reference, escaped, without_fragment},
};

/// The normal form of `url` (RFC 3986, 6.2.2 and 6.2.3) without its fragment. `None` if it has no scheme or its path leads
/// above the root.
pub fn normal(url: &str) -> Option<Cow<'_, str>> {
    let whole = without_fragment(url);
    let url = Reference::of(whole);
    let (scheme, start) = (url.scheme()?, url.path_span.start);
    if url
        .net_loc()
        .is_some_and(|net_loc| is_normal(scheme, net_loc, &whole[start..]))
    {
        return Some(Cow::Borrowed(whole));
    }
    let scheme = scheme.to_ascii_lowercase();
    let mut text = String::with_capacity(whole.len() + 8);
    text.push_str(&scheme);
    text.push(':');
    if url.net_loc().is_none() && !url.path().starts_with('/') {
        // The URL has neither an authority nor a hierarchical path, such as `cid:` (RFC 2392).
        push_segment(&mut text, url.path());
        return Some(text.into());
    }
    if let Some(net_loc) = url.net_loc() {
        text.push_str(&self::net_loc(&scheme, net_loc));
    }
    for segment in segments(&url)? {
        text.push('/');
        push_segment(&mut text, segment);
    }
    if let Some(query) = url.query() {
        text.push('?');
        push_query(&mut text, query.as_bytes());
    }
    Some(text.into())
}

/// The key of `url` among the captures of an archive: URLs with one key lead to the same resource. Without the fragment and
/// the scheme `http` or `https`; otherwise in normal form (RFC 3986, 6.2.2 and 6.2.3). `None` if no capture can have the URL.
///
/// ```
/// # use baselink_url as baselink;
/// use baselink::capture_key;
/// assert_eq!(capture_key("HTTPS://A.example:443/%7eb#c").as_deref(), Some("//a.example/~b"));
/// assert_eq!(capture_key("http://a.example/~b"), capture_key("https://a.example/x/../~b"));
/// assert_eq!(capture_key("../b"), None);
/// ```
pub fn capture_key(url: &str) -> Option<String> {
    let key = normal(url)?;
    let of_web = key.strip_prefix("http:").or(key.strip_prefix("https:"));
    Some(of_web.unwrap_or(&key).to_owned())
}

/// True if a URL with these parts is its own normal form, as nearly all are. `tail` is its path and query.
fn is_normal(scheme: &str, net_loc: &str, tail: &str) -> bool {
    let is_of_host =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let is_of_tail = |byte: u8| is_pchar(byte) || b"/?".contains(&byte);
    matches!(scheme, "http" | "https")
        && tail.starts_with('/')
        && net_loc.bytes().all(is_of_host)
        && tail.bytes().all(is_of_tail)
        && memchr::memmem::find(tail.as_bytes(), b"/.").is_none()
}

/// The segments of a path after resolving dot segments (RFC 3986, 5.2.4); `None` if they lead above the root. An empty path
/// counts as `/` (RFC 3986, 6.2.3).
pub fn segments<'a>(url: &Reference<'a>) -> Option<Vec<&'a str>> {
    let path = match url.path() {
        "" => "/",
        path => path,
    };
    let mut segments = Vec::new();
    for segment in path.strip_prefix('/')?.split('/') {
        match segment {
            "." => {}
            ".." => {
                segments.pop()?;
            }
            name => segments.push(name),
        }
    }
    if path.rsplit('/').next().is_some_and(is_dots) {
        segments.push("");
    }
    Some(segments)
}

/// True for a dot segment that is not escaped.
pub fn is_dots(segment: &str) -> bool {
    matches!(segment, "." | "..")
}

/// `//` and a net_loc in lower case and in ASCII, without the default port of `scheme`.
pub fn net_loc(scheme: &str, net_loc: &str) -> String {
    let (host, port) = net_loc.rsplit_once(':').unwrap_or((net_loc, ""));
    // RFC 9110, 4.2.1 and 4.2.2; RFC 1738, 3.2.
    let known = (&*scheme.to_ascii_lowercase(), port);
    let is_default = matches!(
        known,
        (_, "") | ("http", "80") | ("https", "443") | ("ftp", "21")
    );
    let url = [scheme, "://", if is_default { host } else { net_loc }].concat();
    ascii(&url)[scheme.len() + 1..].to_ascii_lowercase()
}

/// Appends a segment of a path in normal form (RFC 3986, 6.2.2): only the characters that need it are escaped. An escaped
/// dot segment cannot be a name and is kept.
pub fn push_segment(url: &mut String, segment: &str) {
    let start = url.len();
    let mut rest = segment.as_bytes();
    while let Some(&first) = rest.first() {
        let escaped = escaped(rest);
        rest = &rest[if escaped.is_some() { "%00".len() } else { 1 }..];
        let byte = escaped.unwrap_or(first);
        push_byte(url, byte, is_pchar(byte));
    }
    if matches!(&url[start..], "." | "..") {
        url.truncate(start);
        url.push_str(segment);
    }
}

/// Appends `name` as a query. A `%` with two hexadecimal digits is kept as an escape.
pub fn push_query(url: &mut String, name: &[u8]) {
    push(url, name, b"%/?");
}

/// Appends `name`, percent-encoded except for the characters in `kept`. A `%` is one of them only before two hexadecimal digits.
pub fn push(url: &mut String, name: &[u8], kept: &[u8]) {
    for (at, &byte) in name.iter().enumerate() {
        let is_kept = is_pchar(byte) || kept.contains(&byte);
        let is_escape = byte != b'%' || escaped(&name[at..]).is_some();
        push_byte(url, byte, is_kept && is_escape);
    }
}

/// Appends `byte` if it is kept, or else its escape with upper-case digits (RFC 3986, 2.1).
fn push_byte(text: &mut String, byte: u8, is_kept: bool) {
    if is_kept {
        return text.push(char::from(byte));
    }
    // A `String` takes any text.
    let _ = write!(text, "%{byte:02X}");
}

/// True for a `pchar` (RFC 3986, 3.3) other than the percent sign of an escape.
pub fn is_pchar(byte: u8) -> bool {
    let is_mark = matches!(
        byte,
        b'!' | b'$' | b'&'..=b'.' | b':' | b';' | b'=' | b'@' | b'_' | b'~'
    );
    byte.is_ascii_alphanumeric() || is_mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_urls_have_the_same_normal_form() {
        for (url, expected) in [
            ("HTTP://A:80", "http://a/"),
            ("http://a/%7eb/./c/../d?x#y", "http://a/~b/d?x"),
            ("http://a/b%2Fc", "http://a/b%2Fc"),
            ("http://a/é", "http://a/%C3%A9"),
            ("http://a:81/b/..", "http://a:81/"),
            // Bug 120.
            ("http://\u{c9}.example/a", "http://xn--9ca.example/a"),
            ("cid:a%40b", "cid:a@b"),
        ] {
            assert_eq!(normal(url).as_deref(), Some(expected), "{url}");
        }
        assert_eq!(normal("http://a/../b"), None);
    }
}
