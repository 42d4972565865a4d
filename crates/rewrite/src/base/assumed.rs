//! References that lack only a scheme, in a document without a base: RFC 1808, 3.4.
//!
//! Without a base, every reference is assumed to be absolute. A reference that begins with `//` names its host, and
//! the user can supply the scheme. This scheme is not a base: the rule stays 3.4, there is no base URL, and
//! references that lack more than the scheme stay unchanged.
//!
//! ```
//! use baselink_rewrite::{Options, report::Outcome, rewrite};
//! let options = Options { assumed_scheme: Some("https".into()), ..Options::default() };
//! let links = rewrite(b"<a href=//a/b><a href=c>", &options).report.links;
//! assert_eq!(links[0].target.as_deref(), Some("https://a/b"));
//! assert_eq!(links[0].source.name(), "assumed-scheme");
//! assert_eq!(links[1].outcome, Outcome::NoBase);
//! ```
//!
//! Deliberately absent: the choice of a scheme. Nothing in a document indicates it.

use baselink_url::{self as resolve, Base, Resolver};

use super::{BaseChain, DeclaredUrl, NO_URL, PassedLevel, Rule, Source, Status, invalid, pass};

/// True if `reference` is a network-path reference (RFC 3986, 4.2) that names a host: `//` followed by a nonempty
/// net_loc. Under `whatwg` each slash may be a backslash, and tabs and line ends are ignored.
///
/// ```
/// use baselink_rewrite::base::lacks_only_scheme;
/// use baselink_url::Resolver;
/// assert!(lacks_only_scheme("//a/b", Resolver::Rfc1808));
/// assert!(!lacks_only_scheme("///b", Resolver::Rfc1808), "the net_loc of a base would be inherited");
/// assert!(!lacks_only_scheme(r"\\a", Resolver::Rfc1808) && lacks_only_scheme(r"\\a", Resolver::Whatwg));
/// ```
pub fn lacks_only_scheme(reference: &str, resolver: Resolver) -> bool {
    let is_browser = resolver == Resolver::Whatwg;
    let is_slash = |byte: u8| byte == b'/' || (is_browser && byte == b'\\');
    let mut bytes = reference
        .bytes()
        .filter(|byte| !(is_browser && matches!(byte, b'\t' | b'\n' | b'\r')));
    bytes.next().is_some_and(is_slash)
        && bytes.next().is_some_and(is_slash)
        && bytes
            .next()
            .is_some_and(|byte| !is_slash(byte) && !matches!(byte, b'?' | b'#'))
}

/// A base with `scheme`. For a reference that [`lacks_only_scheme`], only the scheme of its base matters (RFC 1808,
/// 4, step 3).
pub fn stand_in(scheme: &str) -> String {
    format!("{scheme}://assumed.invalid/")
}

impl DeclaredUrl {
    /// The URL of a relative `value` without an outer base, with `scheme` if only the scheme is missing.
    pub fn with_scheme(
        value: &str,
        scheme: Option<&str>,
        resolver: Resolver,
    ) -> Result<Self, PassedLevel> {
        let Some(scheme) = scheme.filter(|_| lacks_only_scheme(value, resolver)) else {
            let reason = "it is relative, and no outer base is known";
            return pass(reason);
        };
        match Base::new(resolver, &stand_in(scheme)).resolve(value) {
            Ok(target) if resolve::parses(&target.url) => Ok(Self {
                base: resolve::ascii(&target.url).into(),
                outer: Some(format!("{scheme}:").into()),
            }),
            _ => invalid(NO_URL),
        }
    }
}

impl BaseChain {
    /// Adds level 3.4 with an assumed scheme instead of a base.
    pub(super) fn add_assumed_scheme(&mut self, scheme: &str) {
        self.source = Source::AssumedScheme;
        let value = Some(format!("{scheme}:").into());
        let reason = "no level gave a base: references that begin with // get this scheme, all others stay as they are";
        self.add_level(
            Rule::Default,
            Source::AssumedScheme,
            value,
            Status::Taken,
            reason,
        );
    }
}
