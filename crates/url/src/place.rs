//! Compares two URLs: do they lead to the same place, apart from spelling?
//!
//! Spelling differences are: a character that only one resolver percent-encodes (RFC 3986, 6.2.2.2), the case of scheme
//! and host, a default port, and literal dot segments (6.2.2.1, 6.2.2.3, 6.2.3). Readings that are peculiar to the URL
//! Standard are not spelling: `\` as `/`, `%2e` as a dot, line ends as nothing. A `..` above the root is not spelling
//! either, because RFC 1808, 4, keeps it.
//!
//! ```
//! use baselink_url::is_same_place;
//! assert!(is_same_place("HTTP://A:80/c d", "http://a/c%20d") && is_same_place("http://a/c/../d", "http://a/d"));
//! assert!(!is_same_place(r"http://a/c\d", "http://a/c/d") && !is_same_place("http://a/../c", "http://a/c"));
//! ```
//!
//! Deliberately absent: the server's interpretation of a path.

use super::{
    splice::{is_plain_by_blocks, is_plain_host, is_plain_path},
    whatwg::{is_special, serialised},
};
use crate::reference::{self, Reference, decode_percent};

/// True if `one` and `other`, the targets under two resolvers, lead to the same place.
pub fn is_same_place(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let [one, other] = [one, other].map(Reference::of);
    let is_alike = |one: Option<&str>, other: Option<&str>| {
        one == other || one.map(decoded) == other.map(decoded)
    };
    let is_same_root = || {
        (one.scheme(), one.net_loc()) == (other.scheme(), other.net_loc())
            || root(&one) == root(&other)
    };
    is_alike(one.query(), other.query())
        && is_alike(one.fragment(), other.fragment())
        && is_same_root()
        && (one.path() == other.path() || path(&one) == path(&other))
}

fn decoded(part: &str) -> Vec<u8> {
    decode_percent(part.as_bytes())
}

/// The scheme and host of a URL, normalised for comparison.
fn root(url: &Reference<'_>) -> String {
    let scheme = url.scheme().unwrap_or_default();
    match url.net_loc() {
        Some(net_loc) => serialised(&format!("{scheme}://{net_loc}/")).into_owned(),
        None => scheme.to_ascii_lowercase(),
    }
}

fn path(url: &Reference<'_>) -> Vec<Vec<u8>> {
    segments(match url.path() {
        "" if url.net_loc().is_some() => "/",
        path => path,
    })
}

/// The decoded segments of a path, without literal dot segments. A decoded segment may contain a `/`.
fn segments(path: &str) -> Vec<Vec<u8>> {
    let mut segments = Vec::new();
    let mut kept = 0;
    let mut is_open = false;
    for (number, segment) in path.split('/').enumerate() {
        is_open = matches!(segment, "." | "..");
        match segment {
            "." => {}
            // The first segment, which is empty in an absolute path, is never removed.
            ".." if segments.len() > kept.max(1) => {
                segments.pop();
            }
            _ => {
                segments.push(decoded(segment));
                if segment == ".." {
                    kept = segments.len();
                    is_open = number == 0;
                }
            }
        }
    }
    if is_open {
        segments.push(Vec::new());
    }
    segments
}

/// True if all resolvers are known to see an absolute URL in `reference`, with the same target. Scans the bytes once.
pub fn is_agreed_absolute(reference: &str) -> bool {
    is_agreed(reference, false)
}

/// True if `reference` is [agreed](is_agreed_absolute), and known to be spelled as the URL Standard serializes it.
///
/// ```
/// use baselink_url::is_serialized_absolute;
/// assert!(is_serialized_absolute("http://a.example/b?c"));
/// assert!(!is_serialized_absolute("http://a.example") && !is_serialized_absolute("http://a.example/b c"));
/// ```
pub fn is_serialized_absolute(reference: &str) -> bool {
    is_agreed(reference, true)
}

fn is_agreed(reference: &str, is_serialized: bool) -> bool {
    let Some(scheme) = reference::scheme_of(reference) else {
        return false;
    };
    let rest = &reference.as_bytes()[scheme.len() + 1..];
    if is_serialized && scheme.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    if !is_special(scheme) && !rest.starts_with(b"/") {
        return !is_serialized || is_plain_by_blocks(rest);
    }
    let Some(rest) = rest.strip_prefix(b"//") else {
        return false;
    };
    let (host, path) = rest.split_at(
        rest.iter()
            .position(|byte| matches!(byte, b'/' | b'?' | b'#'))
            .unwrap_or(rest.len()),
    );
    let is_read_alike = |at: usize| match path[at] {
        b'\\' => false,
        b'/' => path.get(at + 1) != Some(&b'.'),
        b'%' => !matches!(path[at + 1..], [b'2', b'e' | b'E', ..]),
        byte => !byte.is_ascii_control(),
    };
    let is_plain = match is_serialized {
        true => path.starts_with(b"/") && is_plain_path(path, true),
        false => is_plain_by_blocks(path) || (0..path.len()).all(is_read_alike),
    };
    is_plain && is_plain_host(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_change_the_place() {
        for (one, other) in [
            ("HTTP://A:80", "http://a/"),
            (
                "http://a/b c/\u{fc}?d e#f g",
                "http://a/b%20c/%C3%BC?d%20e#f%20g",
            ),
            ("http://a/b/./c/../d/..", "http://a/b/"),
            ("http://a/%7eb", "http://a/~b"),
            ("http://\u{fc}/", "http://xn--tda/"),
            ("http://a/%41%4%zz%", "http://a/A%4%zz%"),
            ("http://a/b/../%62//./c", "http://a/b//c"),
            ("mailto:a b", "mailto:a%20b"),
        ] {
            assert!(is_same_place(one, other), "{one} {other}");
            assert!(is_same_place(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("http://a/b\\c", "http://a/b/c"),
            ("http://a/b%2Fc", "http://a/b/c"),
            ("http://a/bc/d", "http://a/b/cd"),
            ("http://a/b/", "http://a/b"),
            ("http://a/b/%2e%2e/c", "http://a/c"),
            ("http://a/b/%2e/c", "http://a/b/c"),
            ("http://a/../c", "http://a/c"),
            ("http://a/b/../../c", "http://a/c"),
            ("http://a/b\nc", "http://a/bc"),
            ("http:c", "http://a/c"),
            ("http:c", "http://c/"),
            ("http://a/b?", "http://a/b"),
            ("http://a/b", "https://a/b"),
            ("http://a/b", "http://a:81/b"),
        ] {
            assert!(!is_same_place(one, other), "{one} {other}");
            assert!(!is_same_place(other, one), "{one} {other}");
        }
    }

    #[test]
    fn absolute_references_on_which_all_resolvers_agree() {
        for one in [
            "http://a.b/c?d#e",
            "HTTPS://a",
            "mailto:a@b",
            "data:a/%2e%2e/b\\c",
            "x:\\",
        ] {
            assert!(is_agreed_absolute(one), "{one}");
        }
        for one in [
            "http:a",
            "http:/a",
            "http:///a",
            "http://a/b\\c",
            "http://a/%2E",
            "http://a/../b",
            "http://a/b\tc",
            "http://a b/",
            "1:2",
            "ja\nva:x",
            "a",
        ] {
            assert!(!is_agreed_absolute(one), "{one}");
        }
    }

    /// The standard's own parser is the referee.
    #[test]
    fn a_serialized_url_is_spelled_as_the_parser_spells_it() {
        let mut serialized = 0;
        for scheme in ["http", "HTTP", "https", "file", "data", "x-y"] {
            for host in [
                "//a", "//a.b", "//A", "//a:80", "//a:81", "//1", "//xn--a", "", "/", "//",
            ] {
                for path in [
                    "",
                    "/",
                    "/b",
                    "/b/",
                    "/b/./c",
                    "/b/../c",
                    "/b/.c",
                    "/%2e/c",
                    "/b c",
                    "/b|c",
                    "/b^c",
                    "/b'c",
                    "/b:c",
                    "/b;c=d,e",
                    "/%7e%zz",
                    "/{b}",
                    "/\u{e9}",
                    "/b\\c",
                    "/b?c'd",
                    "/b?c d",
                    "/b?{c}|^`",
                    "/b#c`d",
                    "/b#c d",
                    "?c",
                    "#c",
                    "b",
                    "b c ",
                    "/a/path/that/is/longer/than/one/block?of=bytes#x",
                    "text/plain;base64,AAAAAAAAAAAAAAAAAAAA",
                    "text/plain;charset=utf-8,a b c d e f g h i ",
                ] {
                    let url = format!("{scheme}:{host}{path}");
                    if is_serialized_absolute(&url) {
                        serialized += 1;
                        assert_eq!(serialised(&url), url);
                    }
                }
            }
        }
        assert!(serialized > 20, "{serialized}");
    }
}
