//! The values of `--trust` (the sources of bases that are used) and of `--layout` (the layout of folders).
//!
//! ```text
//! --trust canonical,-saved  -->  TrustList([(canonical, true), (saved, false)])
//! ```
//!
//! Deliberately absent: looking for a base in these sources.

use std::str::FromStr;

use baselink_text::error::{Error, Result};
use baselink_url::hierarchical_scheme;

/// The sources of bases that can be added or removed, and whether each is trusted by default.
const SOURCES: [(&str, bool); 6] = [
    // The URL that a browser or crawler noted in a page.
    ("saved", true),
    // Files that a browser saved with a page: links to them are kept.
    ("local-copies", true),
    // The URL in the extended attributes of a file.
    ("xattr", true),
    // The `Content-Location` of messages.
    ("content-location", true),
    // The canonical URL of a page, as its retrieval URL.
    ("canonical", false),
    // The link of a feed's entry, as the base of its content.
    ("entry-link", false),
];

/// True if `source` is trusted after these lists changed the defaults in order.
pub(super) fn is_trusted(lists: &[TrustList], source: &str) -> bool {
    let changes = lists.iter().flat_map(|list| &list.0);
    let mut all = SOURCES.iter().chain(changes).rev();
    all.find(|(name, _)| *name == source)
        .is_some_and(|(_, is_trusted)| *is_trusted)
}

/// A list of sources, each to be added or removed.
#[derive(Clone)]
pub(in crate::cli) struct TrustList(Vec<(&'static str, bool)>);

impl FromStr for TrustList {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self> {
        let change = |item: &str| {
            let removed = item.strip_prefix('-');
            let name = removed.unwrap_or(item);
            let mut names = SOURCES.iter().map(|(known, _)| *known);
            match names.find(|known| *known == name) {
                Some(source) => Ok((source, removed.is_none())),
                None => {
                    let known = SOURCES.map(|(known, _)| known).join(", ");
                    Err(Error::new(format!(
                        "unknown source '{name}'; use one of {known}"
                    )))
                }
            }
        };
        list.split(',').map(change).collect::<Result<_>>().map(Self)
    }
}

/// The layout `host`, with the scheme of the URLs.
#[derive(Clone)]
pub(in crate::cli) struct HostLayout {
    pub(super) scheme: Option<String>,
}

impl FromStr for HostLayout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "host" => Ok(Self { scheme: None }),
            Some(("host", scheme)) => Ok(Self {
                scheme: Some(hierarchical_scheme(scheme)?),
            }),
            _ => Err(Error::new(format!(
                "unknown layout '{text}'; use host or host:SCHEME, such as host:http"
            ))),
        }
    }
}
