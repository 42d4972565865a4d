//! URLs that mean the same as another: a site under a second name, and captures of the Wayback Machine.
//!
//! ```
//! use baselink_cli::collection::same::SamePrefixes;
//! let same: SamePrefixes = "https://www.a.example/=https://a.example/".parse().unwrap();
//! assert_eq!(same.other("http://a.example/x?y").as_deref(), Some("https://www.a.example/x?y"));
//! assert_eq!(same.other("https://www.a.example/x").as_deref(), Some("https://a.example/x"));
//! assert_eq!(same.other("https://b.example/"), None);
//! ```
//!
//! Deliberately absent: patterns.

use std::borrow::Cow;
use std::str::FromStr;

use super::origin::RootUrl;
use baselink_text::error::{Error, Result};
use baselink_url::reference::has_opaque_scheme;

/// Two prefixes of URLs. URLs with one of them mean those with the other.
#[derive(Clone, Debug)]
pub struct SamePrefixes([RootUrl; 2]);

impl FromStr for SamePrefixes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut splits = text.match_indices('=');
        let at = splits.find(|(at, _)| has_opaque_scheme(&text[at + 1..]));
        let Some((at, _)) = at else {
            let why = "expected two URLs, such as https://www.a.example/=https://a.example/";
            return Err(Error::new(why));
        };
        let [one, other] = [&text[..at], &text[at + 1..]].map(RootUrl::new);
        Ok(Self([one?, other?]))
    }
}

impl SamePrefixes {
    /// The URL with the other prefix; `None` if `url` has neither prefix.
    pub fn other(&self, url: &str) -> Option<String> {
        let Self([one, other]) = self;
        [(one, other), (other, one)]
            .into_iter()
            .find_map(|(from, to)| {
                let below = from.below_own(url)?;
                let tail = below.tail.map_or("", |tail| &url[tail..]);
                (below.tail.is_some() || below.names_root).then(|| format!("{}{tail}", to.as_str()))
            })
    }
}

/// The other URLs that mean the same as `url`.
pub(crate) fn others<'u>(
    url: &'u str,
    same: &'u [SamePrefixes],
) -> impl Iterator<Item = Cow<'u, str>> {
    let original = captured(url);
    let own = original.map(Cow::Borrowed).into_iter();
    let url = original.unwrap_or(url);
    own.chain(
        same.iter()
            .filter_map(move |same| same.other(url).map(Cow::Owned)),
    )
}

/// The URL of which `url` is a capture, as the Wayback Machine and its like write it: `/web/20240131im_/http://a/x`. The date has
/// 4 to 14 digits, and any modifier follows it.
fn captured(url: &str) -> Option<&str> {
    let mut original = None;
    let mut rest = url;
    // Any path of the archive, and of an original that is no capture itself, may have a folder of this name.
    while let Some(at) = rest.find("/web/") {
        let after = &rest[at + "/web/".len()..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (modifier, inner) = after[digits..].split_once('/').unwrap_or_default();
        let is_modifier = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let is_capture = (4..=14).contains(&digits)
            && modifier.bytes().all(is_modifier)
            && ["http://", "https://"]
                .iter()
                .any(|scheme| inner.starts_with(scheme));
        if is_capture {
            original = Some(inner);
        } else if original.is_some() {
            break;
        }
        rest = if is_capture { inner } else { &rest[at + 1..] };
    }
    original
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_have_the_url_of_the_original() {
        for (url, expected) in [
            (
                "https://web.archive.org/web/20240131102030/http://a/x?y#z",
                Some("http://a/x?y#z"),
            ),
            (
                "http://web.archive.org/web/2024im_/https://a/",
                Some("https://a/"),
            ),
            ("http://a/web/20240131id_/http://a/x", Some("http://a/x")),
            (
                "https://w/web/2024/https://w/web/2023/http://a/",
                Some("http://a/"),
            ),
            (
                "https://w/web/20240131102030/http://a/web/p.html",
                Some("http://a/web/p.html"),
            ),
            (
                "https://w/web/2024/http://a/web/x/y/http://b/",
                Some("http://a/web/x/y/http://b/"),
            ),
            ("https://w/x/web/web/2024/http://a/", Some("http://a/")),
            ("https://web.archive.org/web/2024*/http://a/", None),
            ("https://web.archive.org/web/202/http://a/", None),
            ("https://web.archive.org/web/2024/a.example/", None),
            ("https://a/web/2024/x/http://a/", None),
        ] {
            assert_eq!(captured(url), expected, "{url}");
        }
    }
}
