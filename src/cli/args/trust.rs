//! The sources of bases that count: `--trust`; and the layout of folders: `--layout`.
//!
//! ```text
//! --trust canonical,-saved  -->  Trust { saved: false, canonical: true, … }
//! ```
//!
//! Deliberately absent: looking for a base there.

use std::str::FromStr;

use baselink::error::{Error, Result};
use baselink::resolve::hierarchical_scheme;

/// The sources of bases that can be added or removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust {
    /// What a page notes of having been saved.
    pub(super) saved: bool,
    /// The files that a browser saved with a page: links to them stay.
    pub(super) local_copies: bool,
    /// The extended attribute of a file.
    pub(super) xattr: bool,
    /// The `Content-Location` of messages.
    pub(super) content_location: bool,
    /// The canonical URL that a page names, for its retrieval URL.
    pub(super) canonical: bool,
    /// The link of a feed's entry, for its content.
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
    /// The defaults, changed by these lists one after the other.
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
            found.map(|(_, source)| (*source, removed.is_none())).ok_or_else(|| {
                let known = SOURCES.map(|(known, _)| known).join(", ");
                Error::new(format!("unknown source '{name}' of a base: it is one of {known}"))
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
        match text.strip_prefix("host").map(|rest| (rest, rest.strip_prefix(':'))) {
            Some(("", _)) => Ok(Self { scheme: None }),
            Some((_, Some(scheme))) => Ok(Self { scheme: Some(hierarchical_scheme(scheme)?) }),
            _ => Err(Error::new(format!("unknown layout '{text}': use host, or host:http"))),
        }
    }
}
