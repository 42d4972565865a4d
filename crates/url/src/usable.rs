//! A test for URLs to which references can be relative (RFC 1808, sections 2 and 4, step 1).
//!
//! ```
//! use baselink_url::{Unusable, usable};
//! assert_eq!(usable("http://a/b"), Ok(()));
//! assert_eq!(usable("mailto:a@b"), Err(Unusable::Scheme));
//! ```
//!
//! Deliberately absent: the fallback to an outer base, which [`baselink_rewrite::base`] chooses.

use baselink_text::{Error, Result, display_by_name, format::is_among, named};

use crate::{
    Resolver,
    reference::{Reference, is_c0_or_space, scheme, scheme_of},
};

named! {
    /// The reason why nothing can be relative to a base. Its name is a clause.
    ///
    /// ```
    /// # use baselink_url as baselink;
    /// use baselink::{Resolver, Unresolvable, Unusable, resolve};
    /// let error = resolve(Resolver::Rfc1808, "mailto:a@b", "x").unwrap_err();
    /// assert_eq!(error, Unresolvable::BaseUnusable(Unusable::Scheme));
    /// assert_eq!(error.to_string(), "the scheme of the base URL has no relative form");
    /// ```
    pub enum Unusable {
        /// The base is the empty string.
        Empty = "the base URL is empty",
        /// The base has no scheme.
        Relative = "the base URL is not absolute",
        /// The base contains a tab or a line end.
        ControlCharacter = "the base URL contains a tab or a line end",
        /// The base ends with a space or a control character; no URL does (RFC 1738, 2.2). Browsers drop such
        /// characters from the end of a link (URL Standard, 4.4), so the target of an empty reference would be another URL.
        Blank = "the base URL ends with a space or a control character",
        /// The scheme of the base has no relative form.
        Scheme = "the scheme of the base URL has no relative form",
        /// The base has no `//`, and its path does not begin with `/`.
        Rootless = "the base URL is not hierarchical",
        /// The parser of the URL Standard fails on the base; `whatwg` only.
        Invalid = "the URL Standard's parser fails on the base URL",
    }
}

display_by_name!(Unusable);

impl std::error::Error for Unusable {}

/// A22: the schemes whose URLs cannot be a base (RFC 1808 section 2, and similar schemes that came later).
const SCHEMES_WITHOUT_RELATIVE_FORM: &str =
    "data javascript mailto news telnet cid mid about blob urn";

/// Checks that relative references can be resolved against `url` at all (A22). Links in documents are
/// resolved only against such a base, whatever the resolver.
///
/// # Errors
///
/// Fails with the reason.
///
/// ```
/// use baselink_url::{Unusable, usable};
/// assert_eq!(usable("http://a"), Ok(()));
/// assert_eq!(usable("x:/a"), Ok(()));
/// assert_eq!(usable("x:a"), Err(Unusable::Rootless));
/// assert_eq!(usable("JavaScript:/,x"), Err(Unusable::Scheme));
/// assert_eq!(usable("http://a\n/"), Err(Unusable::ControlCharacter));
/// assert_eq!(usable("http://a/ "), Err(Unusable::Blank));
/// ```
pub fn usable(url: &str) -> Result<(), Unusable> {
    written_absolute(Resolver::Rfc1808, url)?;
    let url = Reference::split(Resolver::Rfc1808, url);
    let scheme = url.scheme().unwrap_or_default();
    if is_among(scheme.as_bytes(), SCHEMES_WITHOUT_RELATIVE_FORM) {
        return Err(Unusable::Scheme);
    }
    let path = url.path();
    if url.net_loc_span.is_none() && !path.is_empty() && !path.starts_with('/') {
        return Err(Unusable::Rootless);
    }
    Ok(())
}

pub fn written_absolute(resolver: Resolver, url: &str) -> Result<(), Unusable> {
    if url.is_empty() {
        Err(Unusable::Empty)
    } else if scheme(resolver, url).is_none() {
        Err(Unusable::Relative)
    } else if url.ends_with(is_c0_or_space) {
        Err(Unusable::Blank)
    } else if memchr::memchr3(b'\t', b'\r', b'\n', url.as_bytes()).is_some() {
        Err(Unusable::ControlCharacter)
    } else {
        Ok(())
    }
}

/// The scheme called `name`, in lower case, if its URLs name a host.
///
/// # Errors
///
/// Fails if `name` is not a scheme, or if its URLs do not name a host.
///
/// ```
/// use baselink_url::hierarchical_scheme;
/// assert_eq!(hierarchical_scheme("HTTPS")?, "https");
/// assert!(hierarchical_scheme("mailto").is_err());
/// # Ok::<(), baselink_text::Error>(())
/// ```
pub fn hierarchical_scheme(name: &str) -> Result<String> {
    if scheme_of(&format!("{name}:")) != Some(name) {
        return Err(Error::new("not a scheme of URLs; use one such as https"));
    }
    let name = name.to_ascii_lowercase();
    match usable(&format!("{name}://a/")) {
        Ok(()) => Ok(name),
        Err(_) => Err(Error::new(format!(
            "URLs of the scheme '{name}' have no host; use one such as https"
        ))),
    }
}
