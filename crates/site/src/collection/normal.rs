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

use std::borrow::Cow;

use baselink_url::{Reference, without_fragment};

use super::origin::{self, names};

/// The maximum number of redirects to follow, as in the Fetch Standard (4.4, HTTP-redirect fetch).
pub const MAX_REDIRECTS: usize = 20;

/// The fragment of `url`.
pub fn fragment_of(url: &str) -> Option<&str> {
    url.split_once('#').map(|(_, fragment)| fragment)
}

/// `url` with `https` for `http`, or the reverse; `None` if it has another scheme.
pub fn with_other_scheme(url: &str) -> Option<String> {
    let schemes = [("http:", "https:"), ("https:", "http:")];
    let other = |(own, other)| Some([other, url.strip_prefix(own)?].concat());
    schemes.into_iter().find_map(other)
}

/// The key of `url`, which is normalized, for links of the parts inside the entity `around` of a message. A label is
/// valid in the multipart that contains the part, and in those inside it (RFC 2557, 8.2).
pub fn in_scope(url: &str, around: &str) -> String {
    format!("{url}\n{around}")
}

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
        names::push_segment(&mut text, url.path());
        return Some(text.into());
    }
    if let Some(net_loc) = url.net_loc() {
        text.push_str(&origin::net_loc(&scheme, net_loc));
    }
    for segment in origin::segments(&url)? {
        text.push('/');
        names::push_segment(&mut text, segment);
    }
    if let Some(query) = url.query() {
        text.push('?');
        names::push_query(&mut text, query.as_bytes());
    }
    Some(text.into())
}

/// True if a URL with these parts is its own normal form, as nearly all are. `tail` is its path and query.
fn is_normal(scheme: &str, net_loc: &str, tail: &str) -> bool {
    let is_of_host =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let is_of_tail = |byte: u8| names::is_pchar(byte) || b"/?".contains(&byte);
    matches!(scheme, "http" | "https")
        && tail.starts_with('/')
        && net_loc.bytes().all(is_of_host)
        && tail.bytes().all(is_of_tail)
        && memchr::memmem::find(tail.as_bytes(), b"/.").is_none()
}

/// The net_loc of `url`.
pub fn host(url: &str) -> &str {
    Reference::of(url).net_loc().unwrap_or_default()
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
