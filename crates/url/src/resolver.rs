//! The three sets of rules by which references are resolved.
//!
//! ```
//! use baselink_url::{Resolver, resolve};
//! let [rfc1808, rfc3986, whatwg] = Resolver::ALL.map(|one| resolve(one, "http://a/b", ";c").unwrap());
//! assert_eq!((rfc1808.as_str(), rfc3986.as_str()), ("http://a/b;c", "http://a/;c"));
//! assert_eq!(whatwg, rfc3986);
//! ```
//!
//! Deliberately absent: the rules. Each set has its own file in this folder.

use baselink_text::{display_by_name, named, parse_by_name};

named! {
    /// The rules by which a reference is resolved.
    ///
    /// ```
    /// # use baselink_url as baselink;
    /// use baselink::Resolver;
    /// assert_eq!(Resolver::default().name(), "rfc1808");
    /// assert_eq!("whatwg".parse::<Resolver>().unwrap(), Resolver::Whatwg);
    /// assert!("rfc2396".parse::<Resolver>().unwrap_err().to_string().contains("rfc3986"));
    /// ```
    #[derive(Default)]
    pub enum Resolver {
        /// RFC 1808 section 4, with the readings A1 to A29 in `crates/url/src/rfc1808.rs`.
        #[default]
        Rfc1808 = "rfc1808",
        /// RFC 3986 section 5.2.2, strict, with a guard for paths that begin with `//` (A24).
        Rfc3986 = "rfc3986",
        /// The URL Standard; results are serialised URLs.
        Whatwg = "whatwg",
    }
}

display_by_name!(Resolver);

parse_by_name!(Resolver: "unknown resolver '{}'; use one of {}");
