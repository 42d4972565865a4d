//! The URL that a reference resolves to, and the parts of it that are bytes of the reference.
//!
//! ```
//! use baselink_url::{Base, Resolver};
//! let target = Base::new(Resolver::Rfc1808, "http://a/b/c").resolve("./g/../h").unwrap();
//! assert_eq!(target.url, "http://a/b/h");
//! let [kept] = target.kept[..] else { panic!() };
//! assert_eq!((&"./g/../h"[kept.reference.range()], kept.url), ("h", "http://a/b/".len()));
//! ```
//!
//! Deliberately absent: the resolution itself.

use std::fmt;

use baselink_text::Span;

use super::usable::Unusable;

/// The result of resolving a reference.
///
/// ```
/// # use baselink_url as baselink;
/// use baselink::{Base, Resolver};
/// let target = Base::parse(Resolver::Whatwg, "http://a/b/c")?.resolve("../d e")?;
/// assert_eq!(target.url, "http://a/d%20e");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Target {
    /// The absolute URL.
    pub url: String,
    /// The parts of the reference that are unchanged in `url`: disjoint, not empty, and in the same order in both.
    /// Every other byte of `url` is new.
    pub kept: Vec<Kept>,
}

/// A range of a reference that is unchanged in the URL it resolves to.
///
/// ```
/// # use baselink_url as baselink;
/// use baselink::{Base, Resolver};
/// let target = Base::parse(Resolver::Rfc1808, "http://a/")?.resolve("x/../y/z")?;
/// let kept = target.kept[0];
/// assert_eq!(&"x/../y/z"[kept.reference.range()], "y/z");
/// assert_eq!(&target.url[kept.url..], "y/z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Kept {
    /// The bytes of the reference.
    pub reference: Span,
    /// The offset in the URL of the first of these bytes.
    pub url: usize,
}

/// The length in bytes of the common tail of both texts, in whole characters.
pub fn common_tail(one: &str, other: &str) -> usize {
    let both = one.bytes().rev().zip(other.bytes().rev());
    let mut len = both.take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(one.len() - len) {
        len -= 1;
    }
    len
}

/// The reason why a reference has no target.
///
/// ```
/// # use baselink_url as baselink;
/// use baselink::{Resolver, Unresolvable, Unusable, resolve};
/// let [no_url, no_base] = [("http://a/", "http://[x"), ("b/c", "x")]
///     .map(|(base, reference)| resolve(Resolver::Whatwg, base, reference).unwrap_err());
/// assert_eq!(no_url, Unresolvable::Invalid);
/// assert!(matches!(no_base, Unresolvable::BaseUnusable(_)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unresolvable {
    /// The reference is relative, and nothing can be relative to this base.
    BaseUnusable(Unusable),
    /// The parser of the URL Standard fails on the reference; `whatwg` only.
    Invalid,
}

impl fmt::Display for Unresolvable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BaseUnusable(why) => why.fmt(f),
            Self::Invalid => f.write_str("the URL Standard's parser fails on the reference"),
        }
    }
}

impl std::error::Error for Unresolvable {}
