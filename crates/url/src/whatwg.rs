//! The URL Standard's basic URL parser, implemented by the url crate. Where the crate differs from the standard,
//! references are respelled before parsing, and results are corrected afterwards.
//!
//! ```
//! use baselink_url::{Resolver, resolve};
//! // By the "special authority ignore slashes state", any number of slashes means two.
//! assert_eq!(resolve(Resolver::Whatwg, "http://a/b", "///c").unwrap(), "http://c/");
//! ```
//!
//! Deliberately absent: a parser of our own. `fixtures/resolution/whatwg-known-differences.json` lists 22
//! rows of `urltestdata.json` with another result, each with its reason. Two more differences are not corrected: `..` fails to
//! remove a folder named like a drive letter if it is in a `file:` URL below another folder (`file:///x/c:/y` and `..` give
//! `file:///x/c:/`, by the standard `file:///x/`), or in a reference with a scheme or a host (`http://h/c:/../x` gives
//! `http://h/c:/x`, by the standard `http://h/x`).

use std::{borrow::Cow, net::Ipv4Addr, sync::Arc};

use baselink_text::{Span, format::is_among};
use url::Host;

use super::{
    inherited::Inherited,
    target::{Kept, Target, Unresolvable, common_tail},
    trace::Trace,
    usable::Unusable,
};
use crate::reference::{
    is_c0_or_space, is_removed, opaque_scheme, seen_by_browsers, without_query,
};

/// True if the URL Standard's parser reads `url` as an absolute URL.
///
/// ```
/// use baselink_url::parses;
/// assert!(parses("http://a/ b") && parses("mailto:a@b"));
/// assert!(!parses("http://[/") && !parses("a/b"));
/// ```
pub fn parses(url: &str) -> bool {
    url::Url::parse(url).is_ok()
}

/// True if the host of `url` is this machine or, by its address or name, one that only machines of the same network reach (RFC 1918;
/// RFC 4193; RFC 3927; RFC 6761, 6.3; RFC 6762, 3). A name without a dot is one.
///
/// ```
/// use baselink_url::is_of_own_network;
/// assert!(is_of_own_network("http://0x7f.1:80/") && is_of_own_network("http://[fd00::1]/") && is_of_own_network("http://a.localhost/"));
/// assert!(!is_of_own_network("http://8.8.8.8/") && !is_of_own_network("http://localhost.example/"));
/// ```
pub fn is_of_own_network(url: &str) -> bool {
    let parsed = url::Url::parse(url).ok();
    match parsed.as_ref().and_then(url::Url::host) {
        Some(Host::Ipv4(address)) => is_private_address(address),
        Some(Host::Ipv6(address)) => {
            let is_local = address.is_unique_local() || address.is_unicast_link_local();
            let mapped = address.to_ipv4().is_some_and(is_private_address);
            is_local || mapped || address.is_loopback()
        }
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            let last = name.rsplit_once('.').map(|(_, last)| last);
            last.is_none_or(|last| matches!(last, "localhost" | "local"))
        }
        None => false,
    }
}

fn is_private_address(address: Ipv4Addr) -> bool {
    let is_own = address.is_loopback() || address.is_unspecified();
    is_own || address.is_private() || address.is_link_local()
}

type QueryEncoder = Arc<dyn Fn(&str) -> Cow<'_, [u8]> + Send + Sync>;

/// The parsed base; empty if the parser fails on it.
#[derive(Clone, Default)]
pub struct Parsed {
    url: Option<url::Url>,
    /// The base for relative paths, if the url crate would see a drive letter in its path that the URL Standard
    /// does not see.
    driveless: Option<url::Url>,
    pub encode_query: Option<QueryEncoder>,
}

impl Parsed {
    /// Parses `text`. Returns the serialised base, or the reason why the parser fails.
    pub fn of(text: &str) -> (Self, Result<String, Unusable>) {
        match url::Url::parse(text) {
            Ok(url) => {
                let mut serialised = String::new();
                push_serialised(&url, false, &mut serialised);
                (
                    Self {
                        driveless: driveless(&url),
                        url: Some(url),
                        encode_query: None,
                    },
                    Ok(serialised),
                )
            }
            Err(error) => {
                let why = match error {
                    _ if text.is_empty() => Unusable::Empty,
                    url::ParseError::RelativeUrlWithoutBase => Unusable::Relative,
                    _ => Unusable::Invalid,
                };
                (Self::default(), Err(why))
            }
        }
    }

    /// True if `reference` is relative to this base. `http:g` is relative to a base with the same special scheme.
    pub fn is_relative(&self, reference: &str) -> bool {
        let Some(scheme) = opaque_scheme(reference) else {
            return true;
        };
        let same = self.url.as_ref().is_some_and(|url| url.scheme() == scheme);
        if !same || !is_special(&scheme) {
            return false;
        }
        let mut after = seen_by_browsers(reference)
            .skip_while(|c| *c != ':')
            .skip(1);
        let slash = |c| matches!(c, Some('/' | '\\'));
        !(slash(after.next()) && slash(after.next()))
    }

    /// Resolves `reference` by the basic URL parser of the URL Standard. `base` has the text of this base.
    pub fn resolve(
        &self,
        base: &Inherited,
        reference: &str,
        target: &mut Target,
        trace: &mut impl Trace,
    ) -> Result<(), Unresolvable> {
        trace.step("base", || match base.usable {
            Ok(()) => format!("the base URL is parsed: {}", base.text),
            Err(why) => why.to_string(),
        });
        let trimmed = reference.trim_matches(is_c0_or_space);
        if trimmed.len() < reference.len() || trimmed.contains(is_removed) {
            trace.step("trim", || {
                let cleaned: String = seen_by_browsers(trimmed).collect();
                format!("without tabs, line ends and outer spaces: {cleaned:?}")
            });
        }
        trace.step("kind", || {
            let kind = if self.is_relative(reference) {
                "relative"
            } else {
                "absolute"
            };
            format!("the reference is {kind}")
        });
        let parsed = self.parse(base, trimmed, &mut target.url);
        trace.step("parse", || match parsed {
            Ok(()) => format!("parsed with the base and serialised: {}", target.url),
            Err(why) => why.to_string(),
        });
        parsed?;
        // The common tail keeps its spelling in the document.
        let len = common_tail(trimmed, &target.url);
        if len > 0 {
            let end = reference.trim_end_matches(is_c0_or_space).len();
            target.kept.push(Kept {
                reference: Span::new(end - len, end),
                url: target.url.len() - len,
            });
        }
        Ok(())
    }

    /// Parses `trimmed` with this base, and appends the serialised URL.
    fn parse(
        &self,
        base: &Inherited,
        trimmed: &str,
        text: &mut String,
    ) -> Result<(), Unresolvable> {
        let (base_url, input, is_masked) = self.respelled(trimmed);
        let parsed = url::Url::options()
            .base_url(base_url)
            .encoding_override(self.encode_query.as_deref().map(|encode| encode as _))
            .parse(&input);
        match parsed {
            Ok(url) => {
                push_serialised(&url, is_masked, text);
                Ok(())
            }
            Err(url::ParseError::RelativeUrlWithCannotBeABaseBase) => {
                Err(Unresolvable::BaseUnusable(Unusable::Rootless))
            }
            Err(url::ParseError::RelativeUrlWithoutBase) => Err(Unresolvable::BaseUnusable(
                base.usable.err().unwrap_or(Unusable::Invalid),
            )),
            Err(_) => Err(Unresolvable::Invalid),
        }
    }

    /// The base and the input of the url crate for `reference`, which has no white space around it. True if
    /// [`DRIVE_MASK`] was inserted into one of them.
    fn respelled<'a>(&'a self, reference: &'a str) -> (Option<&'a url::Url>, Cow<'a, str>, bool) {
        let Some(url) = &self.url else {
            return (None, Cow::Borrowed(reference), false);
        };
        let input = corrected(url, reference);
        let is_file = url.scheme() == "file";
        if reference.is_empty()
            || reference.starts_with(['?', '#'])
            // If the text already contains the mask, drive letters are not masked.
            || (!is_file && (reference.contains(DRIVE_MASK) || url.as_str().contains(DRIVE_MASK)))
        {
            return (Some(url), input, false);
        }
        let base = Some(self.driveless.as_ref().unwrap_or(url));
        let is_path = opaque_scheme(&input).is_none()
            && !matches!(input.as_bytes(), [b'/' | b'\\', b'/' | b'\\', ..]);
        if is_path && !is_file && has_drive(&input) {
            let seen: String = seen_by_browsers(&input).collect();
            return (base, Cow::Owned(mask_drives(&seen)), true);
        }
        (base, input, self.driveless.is_some() && !is_file)
    }
}

/// True if the URL Standard calls this scheme, in any case, special.
pub fn is_special(scheme: &str) -> bool {
    is_among(scheme.as_bytes(), "http https ws wss ftp file")
}

/// The bytes of an encoded query, with the encoder's `&#…;` for missing characters escaped as the URL Standard
/// requires ("percent-encode after encoding"). A query contains no other `#`.
pub fn escaped_references(encoded: Vec<u8>) -> Cow<'static, [u8]> {
    if memchr::memmem::find(&encoded, b"&#").is_none() {
        return Cow::Owned(encoded);
    }
    let mut escaped = Vec::with_capacity(encoded.len() + 8);
    let mut rest = encoded.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'&' && after.first() == Some(&b'#') {
            let digits = after[1..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            if digits > 0 && after.get(1 + digits) == Some(&b';') {
                escaped.extend_from_slice(b"%26%23");
                escaped.extend_from_slice(&after[1..=digits]);
                escaped.extend_from_slice(b"%3B");
                rest = &after[digits + 2..];
                continue;
            }
        }
        escaped.push(byte);
    }
    Cow::Owned(escaped)
}

/// A relative reference, respelled if the url crate reads it differently from the URL Standard.
fn corrected<'a>(base: &url::Url, reference: &'a str) -> Cow<'a, str> {
    let slash = |c| matches!(c, '/' | '\\');
    if !reference.starts_with(slash) {
        return Cow::Borrowed(reference);
    }
    if is_special(base.scheme()) {
        // "Special authority ignore slashes state": any number of slashes means two.
        let rest = reference.trim_start_matches(|c| slash(c) || is_removed(c));
        let slashes = reference[..reference.len() - rest.len()]
            .chars()
            .filter(|c| slash(*c));
        if base.scheme() != "file" && slashes.count() > 2 {
            return Cow::Owned(format!("//{rest}"));
        }
        return Cow::Borrowed(reference);
    }
    // "Relative state": a backslash is a slash in special schemes only.
    let rest = reference.trim_start_matches(is_removed);
    if rest.starts_with('\\') {
        Cow::Owned(format!("./{rest}"))
    } else if let Some(rest) = rest
        .strip_prefix('/')
        .map(|rest| rest.trim_start_matches(is_removed))
        && rest.starts_with('\\')
    {
        Cow::Owned(format!("/./{rest}"))
    } else {
        Cow::Borrowed(reference)
    }
}

/// The text inserted into a path segment such as `c:` while the url crate parses.
const DRIVE_MASK: &str = "~drive~";

/// The base without segments that the url crate mistakes for drive letters, such as `c:` or `c|`; `None` if there are
/// none. The crate does not climb above such a segment anywhere in a path, in some cases even if the scheme is not
/// `file`. In the URL Standard, only the first segment of a file URL's path can be a drive letter. In
/// other schemes, such segments are masked here. In a file URL, such a segment is removed if it is the last one, which
/// a relative path never uses.
fn driveless(url: &url::Url) -> Option<url::Url> {
    let mut driveless = url.clone();
    if url.scheme() != "file" {
        if url.cannot_be_a_base() || !has_drive(url.path()) {
            return None;
        }
        driveless.set_path(&mask_drives(url.path()));
        return Some(driveless);
    }
    let (directory, last) = url.path().rsplit_once('/')?;
    if !is_drive(last) || directory.is_empty() {
        return None;
    }
    driveless.set_path(&format!("{directory}/"));
    Some(driveless)
}

fn is_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// True if the URL Standard's parser sees a segment like `c:` or `c|` in the path of `text`.
pub fn has_drive(text: &str) -> bool {
    let path = without_query(text);
    let is_there = || {
        let seen: String = seen_by_browsers(path).collect();
        seen.split(['/', '\\']).any(is_drive)
    };
    path.contains([':', '|']) && is_there()
}

fn mask_drives(text: &str) -> String {
    let path = without_query(text);
    let mut masked = String::with_capacity(text.len() + DRIVE_MASK.len());
    for segment in path.split_inclusive(['/', '\\']) {
        let (name, end) = segment.split_at(segment.trim_end_matches(['/', '\\']).len());
        if is_drive(name) {
            masked.extend([&name[..1], DRIVE_MASK, &name[1..]])
        } else {
            masked.push_str(name)
        }
        masked.push_str(end);
    }
    masked + &text[path.len()..]
}

/// Appends the serialised URL, without masks. Percent-encodes `^` in a path that is not opaque, as the URL
/// Standard requires and the url crate does not.
fn push_serialised(url: &url::Url, is_masked: bool, text: &mut String) {
    let path = &url[url::Position::BeforePath..url::Position::AfterPath];
    if !is_masked && (url.cannot_be_a_base() || !path.contains('^')) {
        text.push_str(url.as_str());
        return;
    }
    text.push_str(&url[..url::Position::BeforePath]);
    text.push_str(
        &path
            .replace(DRIVE_MASK, if is_masked { "" } else { DRIVE_MASK })
            .replace('^', "%5E"),
    );
    text.push_str(&url[url::Position::AfterPath..]);
}

/// `url` as the URL Standard serialises it, or unchanged if its parser fails.
pub fn serialised(url: &str) -> Cow<'_, str> {
    match url::Url::parse(url) {
        Ok(parsed) => {
            let mut text = String::with_capacity(parsed.as_str().len());
            push_serialised(&parsed, false, &mut text);
            Cow::Owned(text)
        }
        Err(_) => Cow::Borrowed(url),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::{Base, Resolver, resolve};

    #[test]
    fn queries_in_the_encoding_of_the_document() {
        // An encoder for ISO 8859-1 that writes missing characters as character references.
        let encode = |query: &str| {
            let one = |c: char| match u8::try_from(u32::from(c)) {
                Ok(byte) => vec![byte],
                Err(_) => format!("&#{};", u32::from(c)).into_bytes(),
            };
            query.chars().flat_map(one).collect()
        };
        let base = Base::new(Resolver::Whatwg, "http://a/").with_query_encoding(encode);
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
            (
                "https://en.example/wiki/c:/x",
                "../y?c:/z",
                "https://en.example/wiki/y?c:/z",
            ),
            ("http://a/b/", "./c:/../x", "http://a/b/x"),
            // A `|` does not make a drive letter either.
            ("http://a/B|/c", "../x", "http://a/x"),
            ("http://a/B|/c", "./x", "http://a/B|/x"),
            ("http://a/b/", "./c|/../x", "http://a/b/x"),
            ("http://a/b/", "d|/../c|/y", "http://a/b/c|/y"),
            ("file:///x/c|", "..", "file:///"),
            ("file:///x/c|", "y", "file:///x/y"),
            ("http://a/b/", "./c:/d", "http://a/b/c:/d"),
            ("http://a/b/c:", "?q", "http://a/b/c:?q"),
            ("http://a/^/", "b/c:", "http://a/%5E/b/c:"),
            (
                "http://a/b/",
                "./c:/~drive~?~drive~",
                "http://a/b/c:/~drive~?~drive~",
            ),
            ("http://a/~drive~/", "b", "http://a/~drive~/b"),
        ] {
            assert_eq!(
                resolve(Resolver::Whatwg, base, reference).as_deref(),
                Ok(url),
                "{base} {reference}"
            );
        }
    }

    #[test]
    fn relative_by_the_url_standard() {
        let base = Base::new(Resolver::Whatwg, "http://a/b");
        for relative in [
            "g", "http:g", "HTTP:/g", "ht\ntp:g", "http:", "//h", "1:2", "",
        ] {
            assert!(base.is_relative(relative), "{relative:?}");
        }
        for absolute in [
            "https:g",
            "http://g",
            "http:/\t/g",
            "http:\\\\g",
            "mailto:x",
            "x:y",
        ] {
            assert!(!base.is_relative(absolute), "{absolute:?}");
        }
        let opaque = Base::new(Resolver::Whatwg, "x:y");
        assert!(!opaque.is_relative("x:g"));
    }
}
