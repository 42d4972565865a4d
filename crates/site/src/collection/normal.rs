//! Comparison of URLs in a collection: `http` and `https` count as one, and parts of messages have scopes.
//!
//! ```text
//! http://a/x  <-->  https://a/x
//! ```
//!
//! Deliberately absent: the normal form of one URL, which is in `baselink-url`.

use baselink_url::Reference;
pub use baselink_url::normal::normal;

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

/// The net_loc of `url`.
pub fn host(url: &str) -> &str {
    Reference::of(url).net_loc().unwrap_or_default()
}
