//! Resolves a reference against a base URL, and finds a reference for a given URL.
//!
//! There are three [`Resolver`]s: RFC 1808 section 4, RFC 3986 section 5.2 (strict), and the URL Standard, which
//! browsers implement. The two RFC resolvers are textual: the result consists of slices of the base and of the
//! reference. [`Target::kept`] lists the slices of the reference. `rfc1808.rs` lists the readings of ambiguous sentences in
//! RFC 1808, which comments here cite as A1 to A29.
//!
//! ```
//! use baselink_url::{Base, Resolver};
//! let base = Base::new(Resolver::Rfc1808, "http://a/b/c/d;p?q#f");
//! let target = base.resolve("../g?y").unwrap();
//! assert_eq!(target.url, "http://a/b/g?y");
//! let kept = target.kept[0];
//! assert_eq!(&"../g?y"[kept.reference.range()], "g?y");
//! assert_eq!(&target.url[kept.url..], "g?y");
//! ```
//!
//! Deliberately absent: normalisation of targets; [`normal`] only compares URLs. The RFC resolvers change no case, decode no escape, drop no port, and
//! copy even text that is not a URL.

use std::{borrow::Cow, fmt, sync::Arc};

use baselink_text::{Error, ErrorKind, Result, Span};

mod ascii;
mod draft;
mod explanation;
mod inherited;
mod layout;
pub mod normal;
mod place;
pub mod reference;
mod relative;
mod resolver;
mod rfc1808;
mod rfc3986;
mod splice;
mod target;
mod trace;
mod usable;
mod whatwg;

use inherited::Inherited;
use splice::Prefixes;
use trace::Trace;
use usable::written_absolute;
use whatwg::Parsed;

pub use ascii::ascii;
pub use explanation::{Explanation, Step, explain};
pub use normal::capture_key;
pub use place::{is_agreed_absolute, is_same_place, is_serialized_absolute};
pub use reference::{
    Category, Reference, decode_percent, decode_percent_lossy, is_private, is_template, scheme,
    scheme_of, without_fragment,
};
pub use relative::relativize;
pub use resolver::Resolver;
pub use splice::Splice;
pub use target::{Kept, Target, Unresolvable, common_tail};
pub use usable::{Unusable, hierarchical_scheme, usable};
pub use whatwg::{has_drive, is_of_own_network, parses};

/// Maps the name of a folder to the net_loc after which it was named.
type HostOf = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A base URL, prepared for any number of references.
#[derive(Clone)]
pub struct Base {
    inherited: Inherited,
    prefixes: Option<Prefixes>,
    /// Used by the `whatwg` resolver only.
    parsed: Parsed,
    layout: Option<Arc<HostOf>>,
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base")
            .field("resolver", &self.resolver())
            .field("url", &self.as_str())
            .field("usable", &self.inherited.usable)
            .finish_non_exhaustive()
    }
}

impl Base {
    fn traced(resolver: Resolver, url: &str, trace: &mut impl Trace) -> Self {
        let mut parsed = Parsed::default();
        let (text, usable) = match resolver {
            // A22
            Resolver::Rfc1808 => (url.to_owned(), usable(url)),
            Resolver::Rfc3986 => (url.to_owned(), written_absolute(Resolver::Rfc3986, url)),
            Resolver::Whatwg => {
                let serialised;
                (parsed, serialised) = Parsed::of(url);
                serialised.map_or_else(|why| (url.to_owned(), Err(why)), |text| (text, Ok(())))
            }
        };
        let inherited = Inherited::of(resolver, text, usable, trace);
        Self {
            prefixes: Prefixes::of(url, &inherited),
            inherited,
            parsed,
            layout: None,
        }
    }

    /// Parses an absolute URL to use as the base.
    ///
    /// # Errors
    ///
    /// Fails if `url` is not an absolute URL in the resolver. In the RFC resolvers, also fails if `url` ends with a space
    /// or a control character.
    ///
    /// ```
    /// # use baselink_url as baselink;
    /// use baselink::{Base, Resolver};
    /// assert!(Base::parse(Resolver::Rfc3986, "http://a/").is_ok());
    /// assert!(Base::parse(Resolver::Rfc3986, "a/b").is_err());
    /// assert!(Base::parse(Resolver::Rfc3986, "http://a/ ").is_err());
    /// ```
    pub fn parse(resolver: Resolver, url: &str) -> Result<Self> {
        let base = Self::new(resolver, url);
        let why = match base.inherited.usable {
            Err(Unusable::Invalid) => "the URL Standard's parser fails on it",
            Err(Unusable::Blank) => "it ends with a space or a control character",
            Err(Unusable::Empty | Unusable::Relative) => "give an absolute URL, with a scheme",
            _ => return Ok(base),
        };
        let sentence = format!("'{url}' cannot be a base URL: {why}");
        Err(Error::of(ErrorKind::Url, sentence))
    }

    /// The base URL: as given in the RFC resolvers, serialised under `whatwg`.
    ///
    /// ```
    /// # use baselink_url as baselink;
    /// use baselink::{Base, Resolver};
    /// assert_eq!(Base::parse(Resolver::Rfc1808, "HTTP://A/#f")?.as_str(), "HTTP://A/#f");
    /// assert_eq!(Base::parse(Resolver::Whatwg, "HTTP://A/#f")?.as_str(), "http://a/#f");
    /// # Ok::<(), baselink_text::Error>(())
    /// ```
    pub fn as_str(&self) -> &str {
        &self.inherited.text
    }

    /// The rules by which this base resolves references.
    ///
    /// ```
    /// # use baselink_url as baselink;
    /// use baselink::{Base, Resolver};
    /// assert_eq!(Base::parse(Resolver::Whatwg, "http://a")?.resolver(), Resolver::Whatwg);
    /// # Ok::<(), baselink_text::Error>(())
    /// ```
    pub const fn resolver(&self) -> Resolver {
        self.inherited.resolver
    }

    /// True if the resolver sees a relative reference, whose target depends on the base. Under `whatwg`, `http:g`
    /// is relative to a base with the same scheme.
    ///
    /// ```
    /// # use baselink_url as baselink;
    /// use baselink::{Base, Resolver};
    /// let base = |resolver| Base::parse(resolver, "http://a/").unwrap();
    /// assert!(!base(Resolver::Rfc1808).is_relative("http:g"));
    /// assert!(base(Resolver::Whatwg).is_relative("http:g"));
    /// assert!(!base(Resolver::Whatwg).is_relative("http://g"));
    /// assert!(base(Resolver::Rfc3986).is_relative("1:2"));
    /// ```
    pub fn is_relative(&self, reference: &str) -> bool {
        match self.resolver() {
            Resolver::Whatwg => self.parsed.is_relative(reference),
            resolver => scheme(resolver, reference).is_none(),
        }
    }

    /// Resolves `reference`.
    ///
    /// # Errors
    ///
    /// Fails if the reference is relative and the base cannot have relative references, or if the parser of the
    /// URL Standard fails.
    ///
    /// ```
    /// # use baselink_url as baselink;
    /// use baselink::{Base, Resolver};
    /// let base = |resolver| Base::parse(resolver, "http://a/b/c/d;p?q").unwrap();
    /// assert_eq!(base(Resolver::Rfc1808).resolve(";x").unwrap().url, "http://a/b/c/d;x");
    /// assert_eq!(base(Resolver::Rfc3986).resolve(";x").unwrap().url, "http://a/b/c/;x");
    /// assert_eq!(base(Resolver::Whatwg).resolve("//g h/").ok(), None);
    /// ```
    pub fn resolve(&self, reference: &str) -> Result<Target, Unresolvable> {
        let mut target = Target::default();
        match self.splice(reference.as_bytes()) {
            Some(splice) => self.spliced(reference, splice, &mut target),
            // In a layout, a reference that climbs above the host is never spliced.
            None => match self.other_host(reference) {
                Some(other) => self.resolve_in(other, reference, &mut target)?,
                None => self.resolve_fully(reference, &mut target, &mut ())?,
            },
        }
        Ok(target)
    }

    /// Resolves `reference` from `rest_at` on, from the root of the host at `net_loc`.
    fn resolve_in(
        &self,
        (net_loc, rest_at): (String, usize),
        reference: &str,
        target: &mut Target,
    ) -> Result<(), Unresolvable> {
        /// Keeps the rest of the reference from being read as a scheme or a host.
        const HERE: &str = "./";
        let scheme = Reference::of(self.as_str()).scheme().unwrap_or_default();
        let mut root = Self::new(self.resolver(), &format!("{scheme}://{net_loc}/"));
        root.parsed
            .encode_query
            .clone_from(&self.parsed.encode_query);
        let rest = &reference[rest_at..];
        root.resolve_fully(&format!("{HERE}{rest}"), target, &mut ())?;
        target.kept.retain_mut(|kept| {
            let dropped = HERE.len().saturating_sub(kept.reference.start);
            let is_of_rest = kept.reference.end > HERE.len();
            if is_of_rest {
                let in_reference = |at: usize| at - HERE.len() + rest_at;
                let start = kept.reference.start + dropped;
                kept.reference = Span::new(in_reference(start), in_reference(kept.reference.end));
                kept.url += dropped;
            }
            is_of_rest
        });
        Ok(())
    }

    /// Resolves `reference` by the rules of the resolver, without the fast path.
    fn resolve_fully(
        &self,
        reference: &str,
        target: &mut Target,
        trace: &mut impl Trace,
    ) -> Result<(), Unresolvable> {
        match self.resolver() {
            Resolver::Rfc1808 => self.inherited.rfc1808(reference, target, trace),
            Resolver::Rfc3986 => self.inherited.rfc3986(reference, target, trace),
            Resolver::Whatwg => self
                .parsed
                .resolve(&self.inherited, reference, target, trace),
        }
    }
}

#[doc(hidden)]
impl Base {
    /// Accepts any text as the base. If nothing can be relative to it, only absolute references can be resolved.
    ///
    /// ```
    /// use baselink_url::{Base, Resolver, Unresolvable, Unusable};
    /// let base = Base::new(Resolver::Rfc1808, "mailto:x@y");
    /// assert_eq!(base.resolve("g").unwrap_err(), Unresolvable::BaseUnusable(Unusable::Scheme));
    /// assert_eq!(base.resolve("g:h").unwrap().url, "g:h");
    /// ```
    pub fn new(resolver: Resolver, url: &str) -> Self {
        Self::traced(resolver, url, &mut ())
    }

    /// The text of a base that was given as `url`, in ASCII: serialised under `whatwg`, and in the RFC resolvers with
    /// only [characters beyond ASCII](ascii) respelled.
    pub fn text_of(resolver: Resolver, url: &str) -> Cow<'_, str> {
        match resolver {
            Resolver::Rfc1808 | Resolver::Rfc3986 => ascii(url),
            Resolver::Whatwg => whatwg::serialised(url),
        }
    }

    /// True if references can be relative to this base, which was made from `url`. Every resolver applies the test for
    /// RFC 1808 ([`usable`]).
    pub fn is_usable(&self, url: &str) -> bool {
        match self.resolver() {
            Resolver::Rfc1808 => self.inherited.usable.is_ok(),
            Resolver::Rfc3986 | Resolver::Whatwg => usable(url).is_ok(),
        }
    }

    /// True if `url` is an absolute URL in the resolver.
    pub fn is_absolute(resolver: Resolver, url: &str) -> bool {
        let usable = match resolver {
            Resolver::Rfc1808 => usable(url),
            Resolver::Rfc3986 => written_absolute(Resolver::Rfc3986, url),
            Resolver::Whatwg => Self::new(resolver, url).inherited.usable,
        };
        !matches!(
            usable,
            Err(Unusable::Empty | Unusable::Relative | Unusable::Invalid)
        )
    }

    /// Percent-encodes the queries of references in an encoding other than UTF-8, as the URL Standard requires for
    /// documents in such an encoding. `encode` may write a character that the encoding lacks as `&#…;`. The RFC
    /// resolvers percent-encode nothing.
    ///
    /// ```
    /// use baselink_url::{Base, Resolver};
    /// let latin1 = |text: &str| text.chars().map(|c| c as u8).collect();
    /// let base = Base::new(Resolver::Whatwg, "http://a/").with_query_encoding(latin1);
    /// assert_eq!(base.resolve("é?é").unwrap().url, "http://a/%C3%A9?%E9");
    /// ```
    pub fn with_query_encoding(
        mut self,
        encode: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        self.parsed.encode_query = Some(Arc::new(move |query: &str| {
            whatwg::escaped_references(encode(query))
        }));
        self
    }

    /// Resolves references in a tree whose folders are named after hosts: a relative path that climbs above the
    /// host of the base leads to another host. `host` maps the name of a folder to the net_loc after
    /// which it was named. If `host` returns `None`, the reference is resolved as if there were no layout.
    ///
    /// ```
    /// use baselink_url::{Base, Resolver};
    /// let host = |folder: &str| folder.strip_suffix("_8080").map(|host| format!("{host}:8080"));
    /// let base = Base::new(Resolver::Whatwg, "http://a.example/").in_layout(host);
    /// assert_eq!(base.resolve("../b.example_8080/x").unwrap().url, "http://b.example:8080/x");
    /// assert_eq!(base.resolve("../b/x").unwrap().url, "http://a.example/b/x");
    /// ```
    pub fn in_layout(
        mut self,
        host: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.layout = Some(Arc::new(host));
        self
    }

    /// True if `reference` leads through the folder that contains all hosts of a [layout](Self::in_layout).
    pub fn leads_through_layout(&self, reference: &str) -> bool {
        self.other_host(reference).is_some()
    }

    /// The fast path: the target of `reference`, as a prefix of the base and a tail of the reference. `reference`
    /// is in ASCII or an encoding that extends it.
    ///
    /// A result means that every resolver resolves the reference to this URL, apart from the spelling of the base,
    /// unless [`Splice::differs`] is true. The reference is then relative in all resolvers, not empty, and not a
    /// placeholder. The result is `None` if the reference needs closer examination: if it contains bytes beyond ASCII,
    /// blanks, or other characters that the URL Standard spells differently. Under `whatwg`, it is also `None` for a
    /// host without a path, because the URL Standard adds one.
    ///
    /// ```
    /// use baselink_url::{Base, Resolver};
    /// let base = Base::new(Resolver::Rfc1808, "http://a/b/c/d;p?q#f");
    /// let prefix = |reference: &str| base.splice(reference.as_bytes()).map(|splice| splice.prefix);
    /// assert_eq!(prefix("g/h;i?y#s"), Some("http://a/b/c/"));
    /// assert_eq!(prefix("/g"), Some("http://a"));
    /// assert_eq!(prefix("//g/"), Some("http:"));
    /// assert_eq!(prefix("?y"), Some("http://a/b/c/d;p"));
    /// assert_eq!(prefix("#s"), Some("http://a/b/c/d;p?q"));
    /// for reference in ["", "g:h", ";x", "g/../h", "//G", "?", "g h", "\u{fc}", "%2e/g"] {
    ///     assert_eq!(prefix(reference), None, "{reference}");
    /// }
    /// ```
    #[inline]
    pub fn splice(&self, reference: &[u8]) -> Option<Splice<'_>> {
        let splice = self.prefixes.as_ref()?.splice(&self.inherited, reference)?;
        // In a layout, a reference that climbs above the root of its host leads to another host.
        (!splice.differs || self.layout.is_none()).then_some(splice)
    }

    /// Builds the target from the result of [`Base::splice`].
    pub fn spliced(&self, reference: &str, splice: Splice<'_>, target: &mut Target) {
        let Splice {
            prefix,
            mut dropped,
            ..
        } = splice;
        let mut end = prefix.len();
        target.url.reserve_exact(end + reference.len() - dropped);
        target.url.push_str(prefix);
        target.url.push_str(&reference[dropped..]);
        if self.resolver() == Resolver::Whatwg {
            // Under this resolver, the kept part is always the longest common tail.
            let more = common_tail(&reference[..dropped], prefix);
            (dropped, end) = (dropped - more, end - more);
        }
        if dropped < reference.len() {
            target.kept.push(Kept {
                reference: Span::new(dropped, reference.len()),
                url: end,
            });
        }
    }
}

/// Resolves one reference. For more than one, use [`Base`].
///
/// # Errors
///
/// Fails as [`Base::resolve`] does.
///
/// ```
/// # use baselink_url as baselink;
/// use baselink::{Resolver, resolve};
/// assert_eq!(resolve(Resolver::Rfc1808, "http://a/b", "../g").unwrap(), "http://a/../g");
/// assert_eq!(resolve(Resolver::Rfc3986, "http://a/b", "../g").unwrap(), "http://a/g");
/// ```
pub fn resolve(resolver: Resolver, base: &str, reference: &str) -> Result<String, Unresolvable> {
    Base::new(resolver, base)
        .resolve(reference)
        .map(|target| target.url)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::reference::{conformance, contains_placeholder};

    /// Formats the target: each kept part ends with `|`, and each new part is in brackets.
    fn spliced(resolver: Resolver, base: &str, reference: &str) -> String {
        let target = Base::new(resolver, base).resolve(reference).unwrap();
        let (mut text, mut end) = (String::new(), 0);
        for kept in &target.kept {
            if end < kept.url {
                text.push_str(&format!("[{}]", &target.url[end..kept.url]));
            }
            end = kept.url + kept.reference.len();
            text.push_str(&reference[kept.reference.range()]);
            text.push('|');
        }
        if end < target.url.len() {
            text.push_str(&format!("[{}]", &target.url[end..]));
        }
        text
    }

    #[test]
    fn kept_ranges_are_unchanged_in_the_target() {
        let base = "http://a/b/c/d;p?q#f";
        for (resolver, base, reference, expected) in [
            (Resolver::Rfc1808, base, "g?y#s", "[http://a/b/c/]g?y#s|"),
            (Resolver::Rfc1808, base, "../g", "[http://a/b/]g|"),
            (Resolver::Rfc1808, base, "../../../g", "[http://a/]../g|"),
            (
                Resolver::Rfc1808,
                base,
                "x/./y/../z/",
                "[http://a/b/c/]x/|z/|",
            ),
            (Resolver::Rfc1808, base, "", "[http://a/b/c/d;p?q#f]"),
            (Resolver::Rfc1808, base, "//h/../x", "[http:]//h/../x|"),
            (Resolver::Rfc1808, base, "///x", "[http://a]/x|"),
            (Resolver::Rfc1808, base, "?#", "[http://a/b/c/d;p?q]#|"),
            (Resolver::Rfc1808, base, "g:h", "g:h|"),
            (Resolver::Rfc1808, "http://a", "g", "[http://a/]g|"),
            (Resolver::Rfc1808, "x:/a", ".//g", "[x:/./]/g|"),
            (
                Resolver::Rfc3986,
                base,
                "../../../g/./h",
                "[http://a/]g/|h|",
            ),
            (Resolver::Rfc3986, base, "g:/.//h/..", "g:|[/.]/|/|"),
            (Resolver::Rfc3986, "x:/a/b", "/.//g", "[x:/.]/|/g|"),
            (
                Resolver::Whatwg,
                base,
                " g&h?ü ",
                "[http://a/b/c/g&h?%C3%BC]",
            ),
            (
                Resolver::Whatwg,
                base,
                "ü/g&h ",
                "[http://a/b/c/%C3%BC]/g&h|",
            ),
        ] {
            assert_eq!(
                spliced(resolver, base, reference),
                expected,
                "{resolver} {reference}"
            );
        }
    }

    #[test]
    fn a_base_that_is_not_absolute() {
        for resolver in Resolver::ALL {
            for (text, why) in [("", Unusable::Empty), ("/a", Unusable::Relative)] {
                let base = Base::new(resolver, text);
                assert_eq!(
                    base.resolve("g"),
                    Err(Unresolvable::BaseUnusable(why)),
                    "{resolver}"
                );
                assert!(base.resolve("").is_err());
                assert_eq!(base.resolve("g://h/").unwrap().url, "g://h/");
                let error = Base::parse(resolver, text).unwrap_err().to_string();
                assert!(error.contains(&format!("'{text}'")), "{error}");
            }
        }
        assert!(Base::parse(Resolver::Whatwg, "http://[/").is_err());
        assert!(Base::parse(Resolver::Rfc1808, "mailto:a@b").is_ok());
    }

    /// A quadratic algorithm would not finish these.
    #[test]
    fn a_million_segments() {
        let n = 1_000_000;
        let (up, down) = ("../".repeat(n), "a/".repeat(n));
        for resolver in Resolver::ALL {
            let base = Base::new(resolver, &format!("http://a/{down}"));
            let resolved = |reference: &str| base.resolve(reference).map(|target| target.url);
            let at_the_top = Ok("http://a/g".to_owned());
            assert_eq!(resolved(&format!("{up}g")), at_the_top);
            assert_eq!(resolved(&format!("{down}{up}{up}g")), at_the_top);
            assert_eq!(resolved(&"b/../".repeat(n)), resolved("."));
            assert_eq!(resolved(&format!("x{}", "/.".repeat(n))), resolved("x/"));
            assert_eq!(base.relativize("http://a/g").len(), 3 * n + 1);
            let explained = explain(resolver, "http://a/", &format!("{down}{up}g"));
            assert_eq!(explained.result, at_the_top);
        }
        let slashes = "/".repeat(n);
        assert!(resolve(Resolver::Rfc1808, "x:/", &slashes).is_ok_and(|url| url.len() > n));
        assert!(!conformance(&slashes).conforms);
        assert!(!contains_placeholder(&"{A%__".repeat(n)));
    }
}
