//! From a base URL and a reference to an absolute URL, and back.
//!
//! Three [`Profile`]s: RFC 1808 section 4, RFC 3986 section 5.2 (strict), and the URL Standard,
//! which is what browsers do. The two RFC profiles are textual: the result is made of slices of the
//! base and slices of the reference, and [`Target::kept`] says which bytes of the reference those
//! are. `docs/resolution.md` lists how the ambiguous sentences of RFC 1808 are read; the comments
//! here cite these readings as A1 to A29.
//!
//! ```
//! use baselink::resolve::{Base, Profile};
//! let base = Base::new(Profile::Rfc1808, "http://a/b/c/d;p?q#f");
//! let target = base.resolve("../g?y").unwrap();
//! assert_eq!(target.url, "http://a/b/g?y");
//! let kept = target.kept[0];
//! assert_eq!(&"../g?y"[kept.reference.range()], "g?y");
//! assert_eq!(&target.url[kept.url..], "g?y");
//! ```
//!
//! Deliberately absent: normalisation. The RFC profiles change no case, decode no escape and drop no
//! port; whatever a document says that is not a URL is carried along.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::reference::{Grammar, Reference, is_c0_or_space, opaque_scheme, scheme};
use crate::span::Span;

mod explanation;
mod splice;
mod whatwg;
pub use explanation::{Explanation, Step, explain};
use splice::Prefixes;
pub use splice::Splice;
pub(crate) use whatwg::serialised;

/// The rules by which a reference is resolved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Profile {
    /// RFC 1808 section 4, with the readings of `docs/resolution.md`.
    #[default]
    Rfc1808,
    /// RFC 3986 section 5.2.2, strict, with a guard for paths that begin with `//` (A24).
    Rfc3986,
    /// The URL Standard; results are serialised URLs.
    Whatwg,
}

impl Profile {
    /// Every profile, the default first.
    pub const ALL: [Self; 3] = [Self::Rfc1808, Self::Rfc3986, Self::Whatwg];

    /// The name by which it is chosen.
    ///
    /// ```
    /// use baselink::resolve::Profile;
    /// assert_eq!(Profile::default().name(), "rfc1808");
    /// assert_eq!("whatwg".parse::<Profile>().unwrap(), Profile::Whatwg);
    /// assert!("rfc2396".parse::<Profile>().unwrap_err().to_string().contains("rfc3986"));
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rfc1808 => "rfc1808",
            Self::Rfc3986 => "rfc3986",
            Self::Whatwg => "whatwg",
        }
    }

    /// How it cuts a reference into components.
    const fn grammar(self) -> Grammar {
        match self {
            Self::Rfc1808 => Grammar::Rfc1808,
            Self::Rfc3986 | Self::Whatwg => Grammar::Rfc3986,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name).ok_or_else(|| {
            Error::new(format!("unknown resolver '{name}': use rfc1808, rfc3986 or whatwg"))
        })
    }
}

/// What a reference resolves to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Target {
    /// The absolute URL.
    pub url: String,
    /// The parts of the reference that stand unchanged in `url`: disjoint, not empty, in the same
    /// order in both. Every other byte of `url` is new.
    pub kept: Vec<Kept>,
}

/// A range of a reference that stands unchanged in the URL it resolves to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Kept {
    /// The bytes of the reference.
    pub reference: Span,
    /// Offset of the first of them in the URL.
    pub url: usize,
}

/// Why a reference has no target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unresolvable {
    /// The reference is relative, and nothing can be relative to this base.
    BaseUnusable(Unusable),
    /// The parser of the URL Standard fails on it; `whatwg` only.
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

/// Why nothing can be relative to a base.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unusable {
    /// It is the empty string.
    Empty,
    /// It has no scheme.
    Relative,
    /// It contains a tab or a line end.
    ControlCharacter,
    /// Its scheme is one of those that have no relative form.
    Scheme,
    /// It has no `//`, and a path that does not begin with `/`.
    Rootless,
    /// The parser of the URL Standard fails on it; `whatwg` only.
    Invalid,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the base URL is empty",
            Self::Relative => "the base URL is not absolute",
            Self::ControlCharacter => "the base URL contains a tab or a line end",
            Self::Scheme => "the scheme of the base URL has no relative form",
            Self::Rootless => "the base URL is not hierarchical",
            Self::Invalid => "the URL Standard's parser fails on the base URL",
        })
    }
}

impl std::error::Error for Unusable {}

/// A22: the schemes whose URLs no relative URL can be resolved against (RFC 1808 section 2, and the
/// same for schemes that came later).
const SCHEMES_WITHOUT_RELATIVE_FORM: [&str; 10] =
    ["data", "javascript", "mailto", "news", "telnet", "cid", "mid", "about", "blob", "urn"];

/// Whether relative references can be resolved against `url` at all (A22). A document asks this in
/// every profile before it asks [`Base::resolve`].
///
/// # Errors
///
/// The reason why not.
///
/// ```
/// use baselink::resolve::{Unusable, usable};
/// assert_eq!(usable("http://a"), Ok(()));
/// assert_eq!(usable("x:/a"), Ok(()));
/// assert_eq!(usable("x:a"), Err(Unusable::Rootless));
/// assert_eq!(usable("JavaScript:/,x"), Err(Unusable::Scheme));
/// assert_eq!(usable("http://a/\n"), Err(Unusable::ControlCharacter));
/// ```
pub fn usable(url: &str) -> std::result::Result<(), Unusable> {
    written_absolute(Grammar::Rfc1808, url)?;
    let url = Reference::split(Grammar::Rfc1808, url);
    let scheme = url.scheme().unwrap_or_default();
    if SCHEMES_WITHOUT_RELATIVE_FORM.iter().any(|name| name.eq_ignore_ascii_case(scheme)) {
        return Err(Unusable::Scheme);
    }
    let path = url.path();
    if url.net_loc_span.is_none() && !path.is_empty() && !path.starts_with('/') {
        return Err(Unusable::Rootless);
    }
    Ok(())
}

fn written_absolute(grammar: Grammar, url: &str) -> std::result::Result<(), Unusable> {
    if url.is_empty() {
        Err(Unusable::Empty)
    } else if scheme(grammar, url).is_none() {
        Err(Unusable::Relative)
    } else if memchr::memchr3(b'\t', b'\r', b'\n', url.as_bytes()).is_some() {
        Err(Unusable::ControlCharacter)
    } else {
        Ok(())
    }
}

/// Whether `url` is an absolute URL to the URL Standard's parser; a `<base href>` that is none
/// gives way to the fallback base.
///
/// ```
/// use baselink::resolve::parses;
/// assert!(parses("http://a/ b") && parses("mailto:a@b"));
/// assert!(!parses("http://[/") && !parses("a/b"));
/// ```
#[must_use]
pub fn parses(url: &str) -> bool {
    url::Url::parse(url).is_ok()
}

type QueryEncoder = Arc<dyn Fn(&str) -> Cow<'_, [u8]> + Send + Sync>;

/// A base URL, prepared once for any number of references.
#[derive(Clone)]
pub struct Base {
    profile: Profile,
    text: String,
    usable: std::result::Result<(), Unusable>,
    cuts: Cuts,
    directory: Directory,
    prefixes: Option<Prefixes>,
    url: Option<url::Url>,
    /// The base for relative paths, where the url crate would see a drive letter in its path that the
    /// URL Standard does not see.
    driveless: Option<url::Url>,
    encode_query: Option<QueryEncoder>,
}

/// Offsets in the text of a base: a reference inherits everything before one of them.
#[derive(Clone, Copy, Debug, Default)]
struct Cuts {
    /// After the `:` of the scheme.
    scheme: usize,
    /// After the net_loc, or where it would stand.
    net_loc: usize,
    path: usize,
    params: usize,
    query: usize,
    has_net_loc: bool,
}

/// What precedes a relative path: the base up to the last `/` of its path, without dot segments.
#[derive(Clone, Debug, Default)]
struct Directory {
    text: String,
    top: Top,
}

/// How far `..` can climb in a path that is being put together.
#[derive(Clone, Copy, Debug, Default)]
struct Top {
    /// Offset below which nothing can be removed.
    floor: usize,
    /// Whether a `/` stands before the floor or none can come there.
    rooted: bool,
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base")
            .field("profile", &self.profile)
            .field("url", &self.as_str())
            .field("usable", &self.usable)
            .finish_non_exhaustive()
    }
}

impl Base {
    /// Takes any text as the base. What is no absolute URL resolves nothing but references that are
    /// absolute themselves.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile, Unresolvable, Unusable};
    /// let base = Base::new(Profile::Rfc1808, "mailto:x@y");
    /// assert_eq!(base.resolve("g").unwrap_err(), Unresolvable::BaseUnusable(Unusable::Scheme));
    /// assert_eq!(base.resolve("g:h").unwrap().url, "g:h");
    /// ```
    #[must_use]
    pub fn new(profile: Profile, url: &str) -> Self {
        let mut base = Self {
            profile,
            text: url.to_owned(),
            usable: Ok(()),
            cuts: Cuts::default(),
            directory: Directory::default(),
            prefixes: None,
            url: None,
            driveless: None,
            encode_query: None,
        };
        match profile {
            // A22
            Profile::Rfc1808 => base.usable = usable(url),
            Profile::Rfc3986 => base.usable = written_absolute(Grammar::Rfc3986, url),
            Profile::Whatwg => match url::Url::parse(url) {
                Ok(url) => {
                    base.text.clear();
                    whatwg::push_serialised(&url, false, &mut base.text);
                    base.driveless = whatwg::driveless(&url);
                    base.url = Some(url);
                }
                Err(_) if url.is_empty() => base.usable = Err(Unusable::Empty),
                Err(url::ParseError::RelativeUrlWithoutBase) => {
                    base.usable = Err(Unusable::Relative);
                }
                Err(_) => base.usable = Err(Unusable::Invalid),
            },
        }
        base.cut();
        base.prefixes = Prefixes::of(url, &base);
        base
    }

    /// Takes an absolute URL as the base.
    ///
    /// # Errors
    ///
    /// When the profile does not see an absolute URL in `url`.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile};
    /// assert!(Base::absolute(Profile::Rfc3986, "http://a/").is_ok());
    /// assert!(Base::absolute(Profile::Rfc3986, "a/b").is_err());
    /// ```
    pub fn absolute(profile: Profile, url: &str) -> Result<Self> {
        let base = Self::new(profile, url);
        match base.usable {
            Err(why @ (Unusable::Empty | Unusable::Relative | Unusable::Invalid)) => {
                Err(Error::new(format!("'{url}' cannot be a base URL: {}", why_not_absolute(why))))
            }
            _ => Ok(base),
        }
    }

    /// The base URL: in the RFC profiles as it was given, under `whatwg` as it is serialised.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile};
    /// assert_eq!(Base::new(Profile::Rfc1808, "HTTP://A/#f").as_str(), "HTTP://A/#f");
    /// assert_eq!(Base::new(Profile::Whatwg, "HTTP://A/#f").as_str(), "http://a/#f");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The rules it resolves by.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile};
    /// assert_eq!(Base::new(Profile::Whatwg, "http://a").profile(), Profile::Whatwg);
    /// ```
    #[must_use]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// Percent-encodes the queries of references in another encoding than UTF-8, as the URL
    /// Standard does for documents in one. `encode` may write a character that the encoding lacks
    /// as `&#…;`. Only `whatwg` encodes anything.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile};
    /// let latin1 = |text: &str| text.chars().map(|c| c as u8).collect();
    /// let base = Base::new(Profile::Whatwg, "http://a/").with_query_encoding(latin1);
    /// assert_eq!(base.resolve("é?é").unwrap().url, "http://a/%C3%A9?%E9");
    /// ```
    #[must_use]
    pub fn with_query_encoding(
        mut self,
        encode: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        self.encode_query =
            Some(Arc::new(move |query: &str| whatwg::escaped_references(encode(query))));
        self
    }

    /// Whether the profile sees a relative reference, one that says something else with another
    /// base. Under `whatwg`, `http:g` is relative to a base with the same scheme.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile};
    /// let base = |profile| Base::new(profile, "http://a/");
    /// assert!(!base(Profile::Rfc1808).is_relative("http:g"));
    /// assert!(base(Profile::Whatwg).is_relative("http:g"));
    /// assert!(!base(Profile::Whatwg).is_relative("http://g"));
    /// assert!(base(Profile::Rfc3986).is_relative("1:2"));
    /// ```
    #[must_use]
    pub fn is_relative(&self, reference: &str) -> bool {
        if self.profile != Profile::Whatwg {
            return scheme(self.profile.grammar(), reference).is_none();
        }
        let Some(scheme) = opaque_scheme(reference) else {
            return true;
        };
        let same = self.url.as_ref().is_some_and(|url| url.scheme() == scheme);
        if !same || !is_special(&scheme) {
            return false;
        }
        let mut after = reference
            .split_once(':')
            .map_or("", |(_, after)| after)
            .chars()
            .filter(|c| !matches!(c, '\t' | '\n' | '\r'));
        let slash = |c| matches!(c, Some('/' | '\\'));
        !(slash(after.next()) && slash(after.next()))
    }

    /// Resolves `reference`.
    ///
    /// # Errors
    ///
    /// When the reference is relative and the base cannot have relative references, or when the
    /// parser of the URL Standard fails.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile};
    /// let base = |profile| Base::new(profile, "http://a/b/c/d;p?q");
    /// assert_eq!(base(Profile::Rfc1808).resolve(";x").unwrap().url, "http://a/b/c/d;x");
    /// assert_eq!(base(Profile::Rfc3986).resolve(";x").unwrap().url, "http://a/b/c/;x");
    /// assert_eq!(base(Profile::Whatwg).resolve("//g h/").ok(), None);
    /// ```
    pub fn resolve(&self, reference: &str) -> std::result::Result<Target, Unresolvable> {
        let mut target = Target::default();
        self.resolve_into(reference, &mut target)?;
        Ok(target)
    }

    /// Resolves `reference` as [`Base::resolve`] does, into a target whose memory is used again.
    ///
    /// # Errors
    ///
    /// As [`Base::resolve`]; `target` is then empty.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile, Target};
    /// let base = Base::new(Profile::Rfc1808, "http://a/");
    /// let mut target = Target::default();
    /// for (reference, url) in [("g", "http://a/g"), ("//h", "http://h")] {
    ///     base.resolve_into(reference, &mut target).unwrap();
    ///     assert_eq!(target.url, url);
    /// }
    /// ```
    pub fn resolve_into(
        &self,
        reference: &str,
        target: &mut Target,
    ) -> std::result::Result<(), Unresolvable> {
        target.url.clear();
        target.kept.clear();
        match self.splice(reference.as_bytes()) {
            Some(splice) => {
                self.spliced(reference, splice, target);
                Ok(())
            }
            None => self.resolve_fully(reference, target),
        }
    }

    /// Puts together what [`Base::splice`] found.
    pub(crate) fn spliced(&self, reference: &str, splice: Splice<'_>, target: &mut Target) {
        let Splice { prefix, mut dropped } = splice;
        let mut end = prefix.len();
        target.url.reserve_exact(end + reference.len() - dropped);
        target.url.push_str(prefix);
        target.url.push_str(&reference[dropped..]);
        if self.profile == Profile::Whatwg {
            // The tail that both have in common, as everywhere under this profile.
            let pairs = reference[..dropped].bytes().rev().zip(prefix.bytes().rev());
            let more = pairs.take_while(|(a, b)| a == b).count();
            (dropped, end) = (dropped - more, end - more);
        }
        if dropped < reference.len() {
            let reference = Span::new(dropped, reference.len());
            target.kept.push(Kept { reference, url: end });
        }
    }

    /// Resolves `reference` by the rules themselves.
    fn resolve_fully(
        &self,
        reference: &str,
        target: &mut Target,
    ) -> std::result::Result<(), Unresolvable> {
        match self.profile {
            Profile::Rfc1808 => self.rfc1808(reference, target),
            Profile::Rfc3986 => self.rfc3986(reference, target),
            Profile::Whatwg => self.whatwg(reference, target),
        }
    }

    /// Finds the prefixes that references inherit.
    fn cut(&mut self) {
        let url = Reference::split(self.profile.grammar(), &self.text);
        let query = url.fragment_span.map_or(self.text.len(), |fragment| fragment.start - 1);
        let params = url.query_span.map_or(query, |query| query.start - 1);
        self.cuts = Cuts {
            scheme: url.scheme_span.map_or(0, |scheme| scheme.end + 1),
            net_loc: url.path_span.start,
            path: url.path_span.end,
            params,
            query,
            has_net_loc: url.net_loc_span.is_some(),
        };
        let mut directory = Target::default();
        let mut draft = Draft { reference: &self.text, target: &mut directory };
        draft.keep(Span::new(0, self.cuts.net_loc));
        let path = url.path();
        let mut start = self.cuts.net_loc;
        let mut rooted = self.profile == Profile::Rfc1808;
        if path.starts_with('/') {
            // A8: the first slash is no part of the path that step 6 works on.
            draft.keep(Span::new(start, start + 1));
            start += 1;
            rooted = true;
        } else if self.profile == Profile::Rfc3986 && self.cuts.has_net_loc && path.is_empty() {
            // RFC 3986, 5.2.3: "a string consisting of "/" concatenated with the reference's path".
            draft.add("/");
            rooted = true;
        }
        let mut top = Top { floor: draft.target.url.len(), rooted };
        let end = path.rfind('/').map_or(start, |n| self.cuts.net_loc + n + 1);
        let excess = match self.profile {
            Profile::Rfc1808 => Excess::Kept,
            Profile::Rfc3986 | Profile::Whatwg => Excess::Dropped,
        };
        draft.segments(excess, Span::new(start, end), &mut top);
        self.directory = Directory { text: directory.url, top };
    }

    /// RFC 1808 section 4.
    fn rfc1808(
        &self,
        reference: &str,
        target: &mut Target,
    ) -> std::result::Result<(), Unresolvable> {
        let url = Reference::split(Grammar::Rfc1808, reference);
        let end = reference.len();
        let mut draft = Draft { reference, target };
        // Step 2b. A21: also `http:g`.
        if url.scheme_span.is_some() {
            draft.keep(Span::new(0, end));
            return Ok(());
        }
        // Step 1, and A22.
        self.usable.map_err(Unresolvable::BaseUnusable)?;
        // Step 2a. A2: only the empty string inherits the fragment.
        if reference.is_empty() {
            draft.add(&self.text);
            return Ok(());
        }
        // Steps 2c and 3. A5: an empty net_loc is inherited like an absent one.
        if url.net_loc().is_some_and(|net_loc| !net_loc.is_empty()) {
            draft.add(&self.text[..self.cuts.scheme]);
            draft.keep(Span::new(0, end));
            return Ok(());
        }
        let path = url.path_span;
        let rest = Span::new(path.start, end);
        // Step 4. A11: its dot segments stay.
        if url.path().starts_with('/') {
            draft.add(&self.text[..self.cuts.net_loc]);
            if !self.cuts.has_net_loc && url.path().starts_with("//") {
                draft.add("/."); // A24
            }
            draft.keep(rest);
            return Ok(());
        }
        // Step 5. A1: a written delimiter stays unless its component is inherited.
        if path.is_empty() {
            let params = url.params_span.filter(|params| !params.is_empty());
            let query = url.query_span.filter(|query| !query.is_empty());
            if let Some(params) = params {
                // Step 5a.
                draft.add(&self.text[..self.cuts.path]);
                draft.keep(Span::new(params.start - 1, end));
            } else if let Some(query) = query {
                // Step 5b.
                draft.add(&self.text[..self.cuts.params]);
                draft.keep(Span::new(query.start - 1, end));
            } else {
                draft.add(&self.text[..self.cuts.query]);
                if let Some(fragment) = url.fragment_span {
                    draft.keep(Span::new(fragment.start - 1, end));
                }
            }
            return Ok(());
        }
        // Step 6.
        draft.target.url.reserve(self.directory.text.len() + reference.len() + 1);
        draft.add(&self.directory.text);
        let mut top = self.directory.top;
        draft.segments(Excess::Kept, path, &mut top);
        let resolved = &draft.target.url[self.cuts.net_loc..];
        if self.cuts.has_net_loc {
            // A7. Also after an empty net_loc, which the path would otherwise become.
            if !resolved.is_empty() && !resolved.starts_with('/') {
                draft.insert(self.cuts.net_loc, "/");
            }
        } else if resolved.starts_with("//") {
            draft.insert(self.cuts.net_loc, "/."); // A24
        }
        // Step 7.
        draft.keep(Span::new(path.end, end));
        Ok(())
    }

    /// RFC 3986 section 5.2.2, with R for the reference and T for the target.
    fn rfc3986(
        &self,
        reference: &str,
        target: &mut Target,
    ) -> std::result::Result<(), Unresolvable> {
        let r = Reference::split(Grammar::Rfc3986, reference);
        let path = r.path_span;
        let rest = Span::new(path.end, reference.len());
        let mut draft = Draft { reference, target };
        let rooted = r.path().starts_with('/');
        let is_merged;
        let has_authority;
        if r.scheme_span.is_some() {
            (is_merged, has_authority) = (false, r.net_loc_span.is_some());
            draft.keep(Span::new(0, path.start));
        } else {
            self.usable.map_err(Unresolvable::BaseUnusable)?;
            if r.net_loc_span.is_some() {
                (is_merged, has_authority) = (false, true);
                draft.add(&self.text[..self.cuts.scheme]);
                draft.keep(Span::new(0, path.start));
            } else if path.is_empty() {
                // T.path = Base.path; if defined(R.query) then R.query else Base.query
                let written = r.query_span.is_some();
                let cut = if written { self.cuts.params } else { self.cuts.query };
                draft.add(&self.text[..cut]);
                draft.keep(rest);
                return Ok(());
            } else {
                (is_merged, has_authority) = (!rooted, self.cuts.has_net_loc);
                draft.add(&self.text[..self.cuts.net_loc]);
            }
        }
        let path_at = draft.target.url.len();
        let mut segments = path;
        let mut top = if is_merged {
            // T.path = merge(Base.path, R.path)
            draft.target.url.reserve(self.directory.text.len() + reference.len());
            draft.add(&self.directory.text[path_at..]);
            self.directory.top
        } else {
            segments.start += usize::from(rooted);
            draft.keep(Span::new(path.start, segments.start));
            Top { floor: draft.target.url.len(), rooted }
        };
        // T.path = remove_dot_segments(T.path)
        draft.segments(Excess::Dropped, segments, &mut top);
        if !has_authority && draft.target.url[path_at..].starts_with("//") {
            draft.insert(path_at, "/."); // A24
        }
        draft.keep(rest);
        Ok(())
    }

    /// The basic URL parser of the URL Standard, with this base.
    fn whatwg(
        &self,
        reference: &str,
        target: &mut Target,
    ) -> std::result::Result<(), Unresolvable> {
        let reference_start = reference.len() - reference.trim_start_matches(is_c0_or_space).len();
        let trimmed = reference.trim_matches(is_c0_or_space);
        let (base, input, is_masked) = match &self.url {
            Some(url) => {
                let given = whatwg::respelled(url, self.driveless.as_ref(), trimmed);
                (Some(given.base), given.input, given.is_masked)
            }
            None => (None, Cow::Borrowed(trimmed), false),
        };
        let parsed = url::Url::options()
            .base_url(base)
            .encoding_override(self.encode_query.as_deref().map(|encode| encode as _))
            .parse(&input);
        let url = match parsed {
            Ok(url) => url,
            Err(url::ParseError::RelativeUrlWithCannotBeABaseBase) => {
                return Err(Unresolvable::BaseUnusable(Unusable::Rootless));
            }
            Err(url::ParseError::RelativeUrlWithoutBase) => {
                let why = self.usable.err().unwrap_or(Unusable::Invalid);
                return Err(Unresolvable::BaseUnusable(why));
            }
            Err(_) => return Err(Unresolvable::Invalid),
        };
        whatwg::push_serialised(&url, is_masked, &mut target.url);
        // The tail that both have in common keeps its spelling in the document.
        let pairs = trimmed.bytes().rev().zip(target.url.bytes().rev());
        let mut len = pairs.take_while(|(a, b)| a == b).count();
        while !trimmed.is_char_boundary(trimmed.len() - len) {
            len -= 1;
        }
        if len > 0 {
            let end = reference_start + trimmed.len();
            let reference = Span::new(end - len, end);
            target.kept.push(Kept { reference, url: target.url.len() - len });
        }
        Ok(())
    }

    /// The shortest sensible reference to `target`: a fragment or a query where nothing else
    /// differs, else a relative path, else an absolute path, else `target` itself. Resolved against
    /// this base it gives what `target` gives. It is never empty, since an empty attribute often
    /// means no link at all, and never without the net_loc of another host.
    ///
    /// ```
    /// use baselink::resolve::{Base, Profile};
    /// let base = Base::new(Profile::Rfc1808, "http://a/b/c/d;p?q");
    /// assert_eq!(base.relativize("http://a/b/g"), "../g");
    /// assert_eq!(base.relativize("http://a/b/c/x:y"), "./x:y");
    /// assert_eq!(base.relativize("http://a/b/c/d;p?q#s"), "#s");
    /// assert_eq!(base.relativize("http://h/"), "http://h/");
    /// ```
    #[must_use]
    pub fn relativize(&self, target: &str) -> String {
        let Ok(wanted) = self.resolve(target) else {
            return target.to_owned();
        };
        if self.is_relative(target) || self.usable.is_err() {
            return target.to_owned();
        }
        let mut found = Target::default();
        self.candidates(&wanted.url)
            .into_iter()
            .find(|candidate| {
                self.resolve_into(candidate, &mut found).is_ok() && found.url == wanted.url
            })
            .unwrap_or_else(|| target.to_owned())
    }

    /// References that may resolve to `target`, the best first.
    fn candidates(&self, target: &str) -> Vec<String> {
        let grammar = self.profile.grammar();
        let (base, url) =
            (Reference::split(grammar, &self.text), Reference::split(grammar, target));
        let cuts = self.cuts;
        let path_at = url.path_span.start;
        if self.text[..cuts.net_loc] != target[..path_at] {
            return Vec::new();
        }
        let mut candidates = Vec::new();
        let query = url.fragment_span.map_or(target.len(), |fragment| fragment.start - 1);
        if query < target.len() && self.text[..cuts.query] == target[..query] {
            candidates.push(target[query..].to_owned());
        }
        let params = url.query_span.map_or(query, |query| query.start - 1);
        if params < query && self.text[..cuts.params] == target[..params] {
            candidates.push(target[params..].to_owned());
        }

        // The directories that both paths have in common. A base without a path is in its root.
        let (b_path, t_path) = (base.path(), url.path());
        let b_path = if b_path.is_empty() && cuts.has_net_loc { "/" } else { b_path };
        let b_directory = &b_path[..b_path.rfind('/').map_or(0, |n| n + 1)];
        let common = b_directory
            .bytes()
            .zip(t_path.bytes())
            .take_while(|(b, t)| b == t)
            .enumerate()
            .filter(|(_, (byte, _))| *byte == b'/')
            .last()
            .map_or(0, |(n, _)| n + 1);
        let up = "../".repeat(b_directory[common..].matches('/').count());
        let down = &target[path_at + common..];
        if !(up.is_empty() && down.is_empty()) {
            candidates.push(format!("{up}{down}"));
        }
        if up.is_empty() {
            candidates.push(format!("./{down}"));
        }
        let absolute_path = &target[path_at..];
        if absolute_path.starts_with('/') {
            candidates.push(absolute_path.to_owned());
            candidates.push(format!("/.{absolute_path}"));
        }
        candidates
    }
}

const fn why_not_absolute(why: Unusable) -> &'static str {
    match why {
        Unusable::Invalid => "the URL Standard's parser fails on it",
        _ => "give an absolute URL, with a scheme",
    }
}

/// What becomes of a `..` that has nothing to remove.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Excess {
    /// RFC 1808 (A12).
    Kept,
    /// RFC 3986.
    Dropped,
}

/// A URL in the making: slices of a reference, which are kept, and other text.
struct Draft<'a> {
    reference: &'a str,
    target: &'a mut Target,
}

impl Draft<'_> {
    /// Appends text that is not of the reference.
    fn add(&mut self, text: &str) {
        self.target.url.push_str(text);
    }

    /// Appends a range of the reference.
    fn keep(&mut self, reference: Span) {
        if reference.is_empty() {
            return;
        }
        let url = self.target.url.len();
        self.target.url.push_str(&self.reference[reference.range()]);
        match self.target.kept.last_mut() {
            Some(last)
                if last.reference.end == reference.start
                    && last.url + last.reference.len() == url =>
            {
                last.reference.end = reference.end;
            }
            _ => self.target.kept.push(Kept { reference, url }),
        }
    }

    /// Cuts the URL off at `len`.
    fn truncate(&mut self, len: usize) {
        self.target.url.truncate(len);
        while let Some(last) = self.target.kept.last_mut() {
            if last.url < len {
                let end = last.reference.start + (len - last.url);
                last.reference.end = last.reference.end.min(end);
                break;
            }
            self.target.kept.pop();
        }
    }

    /// Inserts text that is not of the reference; a kept range that it falls into becomes two.
    fn insert(&mut self, at: usize, text: &str) {
        self.target.url.insert_str(at, text);
        let kept = &mut self.target.kept;
        let mut first = kept.partition_point(|kept| kept.url + kept.reference.len() <= at);
        if let Some(&Kept { reference, url }) = kept.get(first)
            && url < at
        {
            let cut = reference.start + (at - url);
            kept[first].reference.end = cut;
            first += 1;
            kept.insert(first, Kept { reference: Span::new(cut, reference.end), url: at });
        }
        for kept in &mut kept[first..] {
            kept.url += text.len();
        }
    }

    /// Appends a path of the reference, segment by segment, without its dot segments: RFC 1808
    /// section 4 step 6 a to d, RFC 3986 section 5.2.4. Every byte is written once and removed at
    /// most once.
    fn segments(&mut self, excess: Excess, path: Span, top: &mut Top) {
        let bytes = self.reference.as_bytes();
        if !has_dot_segment(&bytes[path.range()]) {
            self.keep(path);
            return;
        }
        let mut start = path.start;
        loop {
            let slash = memchr::memchr(b'/', &bytes[start..path.end]);
            let end = slash.map_or(path.end, |n| start + n);
            let next = end + usize::from(slash.is_some());
            match &bytes[start..end] {
                // 6a and 6b; 2A, 2B and 2D.
                b"." => {}
                // 6c and 6d; 2C. A9: a segment may be empty. A13: 6d comes once.
                b".." => {
                    if !self.climb(top) && excess == Excess::Kept {
                        // A12: what is too much stays, and nothing climbs past it.
                        self.keep(Span::new(start, next));
                        top.floor = self.target.url.len();
                    }
                }
                _ => self.keep(Span::new(start, next)),
            }
            if slash.is_none() {
                return;
            }
            start = next;
        }
    }

    /// Removes the last segment, if there is one that can go. The path ends with its `/`.
    fn climb(&mut self, top: &mut Top) -> bool {
        let url = self.target.url.as_bytes();
        if url.len() == top.floor {
            return false;
        }
        let before = memchr::memrchr(b'/', &url[top.floor..url.len() - 1]);
        self.truncate(before.map_or(top.floor, |n| top.floor + n + 1));
        if !top.rooted && self.target.url.len() == top.floor {
            // RFC 3986, 2C leaves a "/" in the input buffer where the first segment went.
            self.add("/");
            *top = Top { floor: self.target.url.len(), rooted: true };
        }
        true
    }
}

/// Whether `.` or `..` is a segment of `path`.
fn has_dot_segment(path: &[u8]) -> bool {
    let mut start = 0;
    // A dot segment begins the path or follows a slash, and a slash or the end follows it.
    while let Some(n) = memchr::memchr(b'.', &path[start..]) {
        let dot = start + n;
        if dot == 0 || path[dot - 1] == b'/' {
            let second = usize::from(path.get(dot + 1) == Some(&b'.'));
            if matches!(path.get(dot + 1 + second), None | Some(b'/')) {
                return true;
            }
        }
        start = dot + 1;
    }
    false
}

/// The URL Standard's special schemes.
fn is_special(scheme: &str) -> bool {
    matches!(scheme, "http" | "https" | "ws" | "wss" | "ftp" | "file")
}

/// Resolves one reference. [`Base`] is for more than one.
///
/// # Errors
///
/// As [`Base::resolve`].
///
/// ```
/// use baselink::resolve::{Profile, resolve};
/// assert_eq!(resolve(Profile::Rfc1808, "http://a/b", "../g").unwrap(), "http://a/../g");
/// assert_eq!(resolve(Profile::Rfc3986, "http://a/b", "../g").unwrap(), "http://a/g");
/// ```
pub fn resolve(
    profile: Profile,
    base: &str,
    reference: &str,
) -> std::result::Result<String, Unresolvable> {
    Base::new(profile, base).resolve(reference).map(|target| target.url)
}

/// The shortest sensible reference to `target`, as [`Base::relativize`] finds it.
///
/// ```
/// use baselink::resolve::{Profile, relativize};
/// assert_eq!(relativize(Profile::Whatwg, "http://a/b/c", "http://a/"), "../");
/// ```
#[must_use]
pub fn relativize(profile: Profile, base: &str, target: &str) -> String {
    Base::new(profile, base).relativize(target)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::reference::{conformance, contains_placeholder};

    /// The kept parts of a reference, between the parts of the URL that are new in brackets.
    fn spliced(profile: Profile, base: &str, reference: &str) -> String {
        let target = Base::new(profile, base).resolve(reference).unwrap();
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
    fn kept_ranges_are_all_that_survives() {
        let base = "http://a/b/c/d;p?q#f";
        for (profile, base, reference, expected) in [
            (Profile::Rfc1808, base, "g?y#s", "[http://a/b/c/]g?y#s|"),
            (Profile::Rfc1808, base, "../g", "[http://a/b/]g|"),
            (Profile::Rfc1808, base, "../../../g", "[http://a/]../g|"),
            (Profile::Rfc1808, base, "x/./y/../z/", "[http://a/b/c/]x/|z/|"),
            (Profile::Rfc1808, base, "", "[http://a/b/c/d;p?q#f]"),
            (Profile::Rfc1808, base, "//h/../x", "[http:]//h/../x|"),
            (Profile::Rfc1808, base, "///x", "[http://a]/x|"),
            (Profile::Rfc1808, base, "?#", "[http://a/b/c/d;p?q]#|"),
            (Profile::Rfc1808, base, "g:h", "g:h|"),
            (Profile::Rfc1808, "http://a", "g", "[http://a/]g|"),
            (Profile::Rfc1808, "x:/a", ".//g", "[x:/./]/g|"),
            (Profile::Rfc3986, base, "../../../g/./h", "[http://a/]g/|h|"),
            (Profile::Rfc3986, base, "g:/.//h/..", "g:|[/.]/|/|"),
            (Profile::Rfc3986, "x:/a/b", "/.//g", "[x:/.]/|/g|"),
            (Profile::Whatwg, base, " g&h?ü ", "[http://a/b/c/g&h?%C3%BC]"),
            (Profile::Whatwg, base, "ü/g&h ", "[http://a/b/c/%C3%BC]/g&h|"),
        ] {
            assert_eq!(spliced(profile, base, reference), expected, "{profile} {reference}");
        }
    }

    #[test]
    fn relative_references_to_targets() {
        for (base, target, expected) in [
            ("http://a/b/c/d;p?q#f", "http://a/b/c/d;p?q#f", "#f"),
            ("http://a/b/c/d;p?q#f", "http://a/b/c/d;p?q", "?q"),
            ("http://a/b/c/d;p#f", "http://a/b/c/d;p", "d;p"),
            ("http://a/b/c/d;p?q", "http://a/b/c/d;p?y", "?y"),
            ("http://a/b/c/d;p?q", "http://a/b/c/d", "d"),
            ("http://a/b/c/d", "http://a/b/c/", "./"),
            ("http://a/b/c/d", "http://a/b/c/?y", "./?y"),
            ("http://a/b/c/d", "http://a/b/c/#s", "./#s"),
            ("http://a/b/c/d", "http://a/b/c/x:y", "./x:y"),
            ("http://a/b/c/d", "http://a/b/c//x", ".//x"),
            ("http://a/b/c/d", "http://a/b/", "../"),
            ("http://a/b/c/d", "http://a/b", "../../b"),
            ("http://a/b/c/d", "http://a/", "../../"),
            ("http://a/b/c/d", "http://a//x", "../..//x"),
            ("http://a", "http://a/g", "g"),
            ("http://a/b", "http://a", "http://a"),
            ("http://a/b", "https://a/b", "https://a/b"),
            ("http://a/b", "http://h/b", "http://h/b"),
            ("http://a/b", "g", "g"),
            ("mailto:a@b", "mailto:c@d", "mailto:c@d"),
        ] {
            assert_eq!(relativize(Profile::Rfc1808, base, target), expected, "{base} {target}");
        }
        // What RFC 1808 keeps, an absolute path can say, and what it cannot stays absolute.
        assert_eq!(relativize(Profile::Rfc1808, "http://a/b", "http://a/../g"), "../g");
        assert_eq!(relativize(Profile::Rfc1808, "http://a/b/c", "http://a/b/./g"), "/b/./g");
    }

    #[test]
    fn queries_in_the_encoding_of_the_document() {
        // As an encoder for ISO 8859-1 that writes what it lacks as a character reference.
        let encode = |query: &str| {
            let one = |c: char| match u8::try_from(u32::from(c)) {
                Ok(byte) => vec![byte],
                Err(_) => format!("&#{};", u32::from(c)).into_bytes(),
            };
            query.chars().flat_map(one).collect()
        };
        let base = Base::new(Profile::Whatwg, "http://a/").with_query_encoding(encode);
        let url = |reference| base.resolve(reference).unwrap().url;
        assert_eq!(url("?é&λ;"), "http://a/?%E9&%26%23955%3B;");
        assert_eq!(url("é#é"), "http://a/%C3%A9#%C3%A9");
        assert_eq!(url("x://h/?é"), "x://h/?%C3%A9");
    }

    #[test]
    fn a_folder_called_like_a_drive_is_no_drive() {
        // URL Standard, 4.4, "shorten a URL's path": only a path of one segment keeps its drive letter.
        for (base, reference, url) in [
            ("file:///x/c:", "..", "file:///"),
            ("file:///x/c:", "../..", "file:///"),
            ("file:///x/c:", "y", "file:///x/y"),
            ("file:///x/c:", "?y", "file:///x/c:?y"),
            ("file:///c:", "..", "file:///c:/"),
            ("http://a/C:/b", "..", "http://a/"),
            ("https://en.example/wiki/c:/x", "../y?c:/z", "https://en.example/wiki/y?c:/z"),
            ("http://a/b/", "./c:/../x", "http://a/b/x"),
            ("http://a/b/", "./c:/d", "http://a/b/c:/d"),
            ("http://a/b/c:", "?q", "http://a/b/c:?q"),
            ("http://a/^/", "b/c:", "http://a/%5E/b/c:"),
            ("http://a/b/", "./c:/~colon~?~colon~", "http://a/b/c:/~colon~?~colon~"),
            ("http://a/~colon~/", "b", "http://a/~colon~/b"),
        ] {
            assert_eq!(
                resolve(Profile::Whatwg, base, reference).as_deref(),
                Ok(url),
                "{base} {reference}"
            );
        }
    }

    #[test]
    fn relative_by_the_url_standard() {
        let base = Base::new(Profile::Whatwg, "http://a/b");
        for relative in ["g", "http:g", "HTTP:/g", "ht\ntp:g", "http:", "//h", "1:2", ""] {
            assert!(base.is_relative(relative), "{relative:?}");
        }
        for absolute in ["https:g", "http://g", "http:/\t/g", "http:\\\\g", "mailto:x", "x:y"] {
            assert!(!base.is_relative(absolute), "{absolute:?}");
        }
        let opaque = Base::new(Profile::Whatwg, "x:y");
        assert!(!opaque.is_relative("x:g"));
    }

    #[test]
    fn a_base_that_is_not_absolute() {
        for profile in Profile::ALL {
            for (text, why) in [("", Unusable::Empty), ("/a", Unusable::Relative)] {
                let base = Base::new(profile, text);
                assert_eq!(base.resolve("g"), Err(Unresolvable::BaseUnusable(why)), "{profile}");
                assert!(base.resolve("").is_err());
                assert_eq!(base.resolve("g://h/").unwrap().url, "g://h/");
                let error = Base::absolute(profile, text).unwrap_err().to_string();
                assert!(error.contains(&format!("'{text}'")), "{error}");
            }
        }
        assert!(Base::absolute(Profile::Whatwg, "http://[/").is_err());
        assert!(Base::absolute(Profile::Rfc1808, "mailto:a@b").is_ok());
    }

    /// A quadratic algorithm would not finish these.
    #[test]
    fn a_million_segments() {
        let n = 1_000_000;
        let (up, down) = ("../".repeat(n), "a/".repeat(n));
        for profile in Profile::ALL {
            let base = Base::new(profile, &format!("http://a/{down}"));
            let resolved = |reference: &str| base.resolve(reference).map(|target| target.url);
            let at_the_top = Ok("http://a/g".to_owned());
            assert_eq!(resolved(&format!("{up}g")), at_the_top);
            assert_eq!(resolved(&format!("{down}{up}{up}g")), at_the_top);
            assert_eq!(resolved(&"b/../".repeat(n)), resolved("."));
            assert_eq!(resolved(&format!("x{}", "/.".repeat(n))), resolved("x/"));
            assert_eq!(base.relativize("http://a/g").len(), 3 * n + 1);
            let explained = explain(profile, "http://a/", &format!("{down}{up}g"));
            assert_eq!(explained.result, at_the_top);
        }
        let slashes = "/".repeat(n);
        assert!(resolve(Profile::Rfc1808, "x:/", &slashes).is_ok_and(|url| url.len() > n));
        assert!(!conformance(&slashes).conforms);
        assert!(!contains_placeholder(&"{A%__".repeat(n)));
    }
}
