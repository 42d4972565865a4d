//! Where a base comes from that nothing else gives: `--base-from`.
//!
//! ```text
//! --base-from canonical,entry-link  -->  BaseFrom { canonical: true, entry_link: true }
//! ```
//!
//! Deliberately absent: looking for it.

use std::str::FromStr;

use baselink::error::{Error, Result};

/// What gives a base on request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BaseFrom {
    /// The canonical URL that a page names, for its retrieval URL.
    pub(super) canonical: bool,
    /// The link of a feed's entry, for its content.
    pub(super) entry_link: bool,
}

impl BaseFrom {
    /// Adds what `other` names.
    pub(super) fn extend(&mut self, other: Self) {
        self.canonical |= other.canonical;
        self.entry_link |= other.entry_link;
    }
}

impl FromStr for BaseFrom {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self> {
        let mut named = Self::default();
        for name in list.split(',') {
            match name {
                "canonical" => named.canonical = true,
                "entry-link" => named.entry_link = true,
                _ => {
                    return Err(Error::new(format!(
                        "unknown source '{name}' of a base: it is one of canonical, entry-link"
                    )));
                }
            }
        }
        Ok(named)
    }
}
