//! A move: where a tree was, and where it goes.
//!
//! ```
//! use baselink::collection::origin::{Origins, RootUrl};
//! use baselink::purpose::check::Move;
//!
//! let url = |url| RootUrl::new(url).unwrap();
//! let from = Origins { root_url: Some(url("http://a.example/docs/")), ..Origins::default() };
//! let moving = Move { from, to: Some(url("https://b.example/")) };
//! assert_eq!(moving.to.unwrap().as_str(), "https://b.example/");
//! ```
//!
//! Deliberately absent: what the move does. [`super::findings`] says it of each link.

use crate::base::Retrieval;
use crate::collection::origin::{Origins, RootUrl};
use crate::reference::{Grammar, Reference};

/// A tree that moves.
#[derive(Clone, Debug, Default)]
pub struct Move {
    /// Where its files were retrieved from.
    pub from: Origins,
    /// The URL of its root after the move; a `file` URL means that it is read from disk. `None` for any
    /// other place: then host and path of the root change, and the scheme does not.
    pub to: Option<RootUrl>,
}

impl Move {
    /// The URL of the root after the move, for a file that was retrieved by `retrieval`. Where the place is
    /// not known it is one that cannot be (RFC 6761, 6.4).
    pub(super) fn place(&self, retrieval: Option<&Retrieval>) -> RootUrl {
        if let Some(to) = &self.to {
            return to.clone();
        }
        let scheme = retrieval.map(|one| Reference::split(Grammar::Rfc3986, &one.url));
        let scheme = scheme.as_ref().and_then(Reference::scheme).unwrap_or("https");
        RootUrl::new(&format!("{scheme}://elsewhere.invalid/elsewhere/"))
            .unwrap_or_else(|_| RootUrl::nowhere())
    }
}
