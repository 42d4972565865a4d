//! The values of `--trust` (the sources of bases that are used) and of `--layout` (the layout of folders).
//!
//! ```text
//! --trust canonical,-saved  -->  Trust { saved: false, canonical: true, … }
//! ```
//!
//! Deliberately absent: looking for a base in these sources.

use std::str::FromStr;

use baselink_text::error::{Error, Result};
use baselink_url::hierarchical_scheme;

/// The sources of bases that can be added or removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust {
    /// The URL that a browser or crawler noted in a page.
    pub(super) saved: bool,
    /// Files that a browser saved with a page: links to them are kept.
    pub(super) local_copies: bool,
    /// The URL in the extended attributes of a file.
    pub(super) xattr: bool,
    /// The `Content-Location` of messages.
    pub(super) content_location: bool,
    /// The canonical URL of a page, as its retrieval URL.
    pub(super) canonical: bool,
    /// The link of a feed's entry, as the base of its content.
    pub(super) entry_link: bool,
}

type SourceField = fn(&mut Trust) -> &mut bool;

const SOURCES: [(&str, SourceField); 6] = [
    ("saved", |trust| &mut trust.saved),
    ("local-copies", |trust| &mut trust.local_copies),
    ("xattr", |trust| &mut trust.xattr),
    ("content-location", |trust| &mut trust.content_location),
    ("canonical", |trust| &mut trust.canonical),
    ("entry-link", |trust| &mut trust.entry_link),
];

impl Trust {
    /// The defaults, changed by these lists in order.
    pub(super) fn of(lists: &[TrustList]) -> Self {
        let mut trust = Self {
            saved: true,
            local_copies: true,
            xattr: true,
            content_location: true,
            canonical: false,
            entry_link: false,
        };
        for (source, is_trusted) in lists.iter().flat_map(|list| &list.0) {
            *source(&mut trust) = *is_trusted;
        }
        trust
    }
}

/// A list of sources, each to be added or removed.
#[derive(Clone, Debug)]
pub(in crate::cli) struct TrustList(Vec<(SourceField, bool)>);

impl FromStr for TrustList {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self> {
        let change = |item: &str| {
            let removed = item.strip_prefix('-');
            let name = removed.unwrap_or(item);
            let found = SOURCES.iter().find(|(known, _)| *known == name);
            found
                .map(|(_, source)| (*source, removed.is_none()))
                .ok_or_else(|| {
                    let known = SOURCES.map(|(known, _)| known).join(", ");
                    Error::new(format!("unknown source '{name}'; use one of {known}"))
                })
        };
        list.split(',').map(change).collect::<Result<_>>().map(Self)
    }
}

/// The layout `host`, with the scheme of the URLs.
#[derive(Clone, Debug)]
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
