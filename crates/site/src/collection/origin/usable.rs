//! Checks that a URL can be the URL of a document, whatever its source: a name, a table, an attribute, a page.
//!
//! ```
//! use baselink_site::collection::origin::RootUrl;
//!
//! assert!(RootUrl::new("http://a.example/docs/").is_ok());
//! assert!(RootUrl::new("http://a.example/do\ncs/").is_err(), "a control character");
//! ```
//!
//! Deliberately absent: checking that the URL leads anywhere.

use baselink_url as resolve;

/// The reason why `url` cannot be the URL of a document.
pub fn unusable(url: &str) -> Option<String> {
    if url.contains(char::REPLACEMENT_CHARACTER) {
        Some("it is not UTF-8".to_owned())
    } else if url.contains(|c: char| c.is_ascii_control()) {
        Some("it contains a control character".to_owned())
    } else if let Err(why) = resolve::usable(url) {
        Some(why.to_string())
    } else if !resolve::parses(url) {
        Some("it is not valid".to_owned())
    } else {
        None
    }
}
