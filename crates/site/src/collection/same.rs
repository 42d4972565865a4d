//! URLs that mean the same as another: a site under a second name, and captures of the Wayback Machine.
//!
//! ```
//! use baselink_site::collection::same::{SameTable, others};
//! let same = "https://www.a.example/=https://a.example/".parse().unwrap();
//! let table = SameTable::from(vec![same]);
//! let other = |url| others(url, &table).next();
//! assert_eq!(other("http://a.example/x?y").as_deref(), Some("https://www.a.example/x?y"));
//! assert_eq!(other("https://www.a.example/x").as_deref(), Some("https://a.example/x"));
//! assert_eq!(other("https://b.example/"), None);
//! ```
//!
//! Deliberately absent: patterns.

use std::{borrow::Cow, collections::HashMap, str::FromStr};

use baselink_text::{Error, Result};
use baselink_url::{Reference, reference::has_opaque_scheme};

use super::origin::{RootUrl, names, net_loc};

/// Two prefixes of URLs. URLs with one of them mean those with the other.
#[derive(Clone, Debug)]
pub struct SamePrefixes(pub [RootUrl; 2]);

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

/// Pairs of prefixes. A table of their folders finds the pairs of a URL.
#[derive(Debug, Default)]
pub struct SameTable {
    pairs: Vec<SamePrefixes>,
    /// The indexes of pairs by the last key of each of their prefixes.
    by_key: HashMap<Vec<u8>, Vec<usize>>,
}

/// The maximum number of other URLs of a URL.
const MOST: usize = 64;

/// The length of a key that gets no further folder.
const LONGEST: usize = 2_048;

impl From<Vec<SamePrefixes>> for SameTable {
    fn from(pairs: Vec<SamePrefixes>) -> Self {
        let mut by_key = HashMap::<Vec<u8>, Vec<usize>>::new();
        for (at, SamePrefixes(both)) in pairs.iter().enumerate() {
            for root in both {
                let key = keys(root.folder().unwrap_or_default())
                    .pop()
                    .unwrap_or_default();
                let indexes = by_key.entry(key).or_default();
                if indexes.last() != Some(&at) {
                    indexes.push(at);
                }
            }
        }
        Self { pairs, by_key }
    }
}

impl SameTable {
    fn others<'u>(&'u self, url: &'u str) -> impl Iterator<Item = String> + 'u {
        let keys = (!self.pairs.is_empty()).then(|| keys(url));
        let keys = keys.into_iter().flatten();
        let mut indexes: Vec<usize> = keys
            .filter_map(|key| self.by_key.get(&key))
            .flat_map(|indexes| indexes.iter().take(MOST).copied())
            .collect();
        indexes.sort_unstable();
        indexes.dedup();
        let with_other_prefix = |at: usize| {
            let SamePrefixes([one, other]) = &self.pairs[at];
            one.rerooted(url, other)
                .or_else(|| other.rerooted(url, one))
        };
        indexes.into_iter().filter_map(with_other_prefix).take(MOST)
    }
}

/// The keys by which a prefix of `url` may be found: the host and port, then each with one folder more, at most [`MOST`].
fn keys(url: &str) -> Vec<Vec<u8>> {
    let parts = Reference::of(url);
    let scheme = parts.scheme().unwrap_or_default();
    let mut keys = vec![net_loc(scheme, parts.net_loc().unwrap_or_default()).into_bytes()];
    let folders = parts.path().split_terminator('/').skip(1).take(MOST);
    for folder in folders {
        let around = keys.last().map_or(&[][..], Vec::as_slice);
        if around.len() > LONGEST {
            break;
        }
        keys.push([around, b"/", &names::decode(folder)].concat());
    }
    keys
}

/// The other URLs that mean the same as `url`.
pub fn others<'u>(url: &'u str, same: &'u SameTable) -> impl Iterator<Item = Cow<'u, str>> {
    let original = captured(url);
    let own = original.map(Cow::Borrowed).into_iter();
    own.chain(same.others(original.unwrap_or(url)).map(Cow::Owned))
}

/// The URL of which `url` is a capture, as the Wayback Machine and its like write it: `/web/20240131im_/http://a/x`. The date has
/// 4 to 14 digits, and any modifier follows it.
fn captured(url: &str) -> Option<&str> {
    let mut original = None;
    let mut rest = url;
    // Any path of the archive, and of an original that is not a capture itself, may have a folder of this name.
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

    /// Bug 558: each pair was tried for each link.
    #[test]
    fn pairs_are_found_by_prefix() {
        let table = |pairs: &[&str]| {
            let pairs = pairs.iter().map(|pair| pair.parse());
            SameTable::from(
                pairs
                    .collect::<Result<Vec<SamePrefixes>>>()
                    .unwrap_or_default(),
            )
        };
        let some = table(&[
            "http://a/x/=http://b/",
            "https://A:443/=http://c/y/",
            "http://a/%78/z/=http://d/",
            "http://a/xy/=http://e/",
        ]);
        let found = ["http://b/z/1?q", "http://c/y/x/z/1?q", "http://d/1?q"];
        let others = |url: &str| some.others(url).collect::<Vec<_>>();
        assert_eq!(others("http://a/x/z/1?q"), found);
        assert_eq!(others("https://c/y/1"), ["https://A:443/1"]);
        assert_eq!(others("http://c/"), [""; 0]);
        assert_eq!(others("http://a/x"), ["http://b/", "http://c/y/x"]);
        assert_eq!(others("http://a//x/z/1"), ["http://c/y//x/z/1"]);
        assert_eq!(others("mailto:a@b"), [""; 0]);
        let many: Vec<_> = (0..100)
            .map(|number| format!("http://a/=http://h{number}/"))
            .collect();
        let many = table(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(many.others("http://a/x").count(), MOST);
    }

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
