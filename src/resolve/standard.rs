//! The basic URL parser and the serialiser of the URL Standard, sections 4.4 and 4.5.
//!
//! The standard's states become functions over the rest of the input, named after them. Hosts are
//! left to the url crate, whose parser of whole URLs differs from the standard in paths and slashes.
//!
//! ```
//! use baselink::resolve::{Profile, resolve};
//! assert_eq!(resolve(Profile::Whatwg, "http://a/b", "///h//x").unwrap(), "http://h//x");
//! ```
//!
//! Deliberately absent: validation errors, and state overrides, which are for the setters of an API.

use std::borrow::Cow;

use crate::reference::{is_c0_or_space, opaque_scheme};

/// A URL record.
#[derive(Clone, Debug, Default)]
pub(super) struct Url {
    pub(super) scheme: String,
    /// Credentials, host and port as they are serialised, when the host is not null.
    authority: Option<String>,
    /// As it is serialised: each segment after a `/`, or an opaque path.
    path: String,
    is_opaque: bool,
    query: Option<String>,
    fragment: Option<String>,
}

/// Why parsing failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// There is neither a scheme nor a base.
    NoBase,
    /// Only a fragment can be relative to a base with an opaque path.
    OpaqueBase,
    /// Anything else.
    Invalid,
}

type Parsed = Result<Url, Failure>;

/// What turns a query into bytes before it is percent-encoded.
pub(super) type Encode<'a> = Option<&'a (dyn Fn(&str) -> Vec<u8> + Send + Sync)>;

/// The special schemes and their default ports.
const SPECIAL: [(&str, Option<u16>); 6] = [
    ("http", Some(80)),
    ("https", Some(443)),
    ("ws", Some(80)),
    ("wss", Some(443)),
    ("ftp", Some(21)),
    ("file", None),
];

/// Whether the scheme is special.
pub(super) fn is_special(scheme: &str) -> bool {
    SPECIAL.iter().any(|(special, _)| *special == scheme)
}

/// The basic URL parser.
pub(super) fn parse(input: &str, base: Option<&Url>, encode: Encode<'_>) -> Parsed {
    let input = input.trim_matches(is_c0_or_space);
    let is_removed = |c| matches!(c, '\t' | '\n' | '\r');
    let input = if input.contains(is_removed) {
        Cow::Owned(input.replace(is_removed, ""))
    } else {
        Cow::Borrowed(input)
    };
    let parser = Parser { base, encode };
    match opaque_scheme(&input) {
        Some(scheme) => parser.after_scheme(&input[scheme.len() + 1..], scheme),
        None => parser.no_scheme(&input),
    }
}

struct Parser<'a> {
    base: Option<&'a Url>,
    encode: Encode<'a>,
}

impl Parser<'_> {
    /// Scheme state, from its `:` on.
    fn after_scheme(&self, rest: &str, scheme: String) -> Parsed {
        let mut url = Url { scheme, ..Url::default() };
        if url.scheme == "file" {
            return self.file(url, rest);
        }
        if is_special(&url.scheme) {
            let after_slashes = rest.strip_prefix("//");
            return match (self.base, after_slashes) {
                // Special relative or authority state.
                (Some(base), None) if base.scheme == url.scheme => self.relative(base, rest),
                // Special authority slashes state, special authority ignore slashes state.
                _ => self.authority(url, rest.trim_start_matches(['/', '\\'])),
            };
        }
        // Path or authority state.
        if let Some(rest) = rest.strip_prefix("//") {
            return self.authority(url, rest);
        }
        if let Some(rest) = rest.strip_prefix('/') {
            return self.path(url, rest);
        }
        // Opaque path state.
        url.is_opaque = true;
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        let path = &rest[..end];
        percent_encode(path.as_bytes(), is_c0_control, &mut url.path);
        if end < rest.len() && path.ends_with(' ') {
            url.path.pop();
            url.path.push_str("%20");
        }
        self.query_and_fragment(url, &rest[end..])
    }

    fn no_scheme(&self, rest: &str) -> Parsed {
        let base = self.base.ok_or(Failure::NoBase)?;
        if base.is_opaque {
            if !rest.starts_with('#') {
                return Err(Failure::OpaqueBase);
            }
            return self.query_and_fragment(base.clone(), rest);
        }
        if base.scheme == "file" {
            let url = Url { scheme: base.scheme.clone(), ..Url::default() };
            return self.file(url, rest);
        }
        self.relative(base, rest)
    }

    /// Relative state and relative slash state.
    fn relative(&self, base: &Url, rest: &str) -> Parsed {
        let special = is_special(&base.scheme);
        let is_slash = |c| c == '/' || (special && c == '\\');
        if let Some(after) = rest.strip_prefix(is_slash) {
            let mut url = Url { scheme: base.scheme.clone(), ..Url::default() };
            if special && after.starts_with(is_slash) {
                return self.authority(url, after.trim_start_matches(is_slash));
            }
            if let Some(after) = after.strip_prefix('/') {
                return self.authority(url, after);
            }
            url.authority.clone_from(&base.authority);
            return self.path(url, after);
        }
        let mut url = Url { fragment: None, ..base.clone() };
        if rest.is_empty() || rest.starts_with(['?', '#']) {
            return self.query_and_fragment(url, rest);
        }
        url.query = None;
        shorten(&mut url);
        self.path(url, rest)
    }

    /// Authority state, host state, port state.
    fn authority(&self, mut url: Url, rest: &str) -> Parsed {
        let special = is_special(&url.scheme);
        let ends = |c| matches!(c, '/' | '?' | '#') || (special && c == '\\');
        let end = rest.find(ends).unwrap_or(rest.len());
        let mut authority = String::new();
        let (credentials, host) = match rest[..end].rsplit_once('@') {
            Some((_, "")) => return Err(Failure::Invalid),
            Some((credentials, host)) => (credentials, host),
            None => ("", &rest[..end]),
        };
        let (username, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        if !(username.is_empty() && password.is_empty()) {
            percent_encode(username.as_bytes(), is_in_userinfo_set, &mut authority);
            if !password.is_empty() {
                authority.push(':');
                percent_encode(password.as_bytes(), is_in_userinfo_set, &mut authority);
            }
            authority.push('@');
        }
        let mut inside_brackets = false;
        let colon = host.find(|c| {
            match c {
                '[' => inside_brackets = true,
                ']' => inside_brackets = false,
                _ => {}
            }
            c == ':' && !inside_brackets
        });
        let (host, port) = match colon {
            Some(0) => return Err(Failure::Invalid),
            Some(at) => (&host[..at], &host[at + 1..]),
            None => (host, ""),
        };
        if special && host.is_empty() {
            return Err(Failure::Invalid);
        }
        authority.push_str(&parse_host(host, special)?);
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Failure::Invalid);
        }
        let digits = port.trim_start_matches('0');
        if !port.is_empty() {
            let digits = if digits.is_empty() { "0" } else { digits };
            let port: u16 = digits.parse().map_err(|_| Failure::Invalid)?;
            if !SPECIAL.contains(&(url.scheme.as_str(), Some(port))) {
                authority.push(':');
                authority.push_str(digits);
            }
        }
        url.authority = Some(authority);
        self.path_start(url, &rest[end..])
    }

    /// File state and file slash state.
    fn file(&self, mut url: Url, rest: &str) -> Parsed {
        url.authority = Some(String::new());
        let base = self.base.filter(|base| base.scheme == "file");
        if let Some(rest) = rest.strip_prefix(['/', '\\']) {
            if let Some(rest) = rest.strip_prefix(['/', '\\']) {
                return self.file_host(url, rest);
            }
            if let Some(base) = base {
                url.authority.clone_from(&base.authority);
                let drive = base.path.split('/').nth(1).unwrap_or_default();
                if !starts_with_drive_letter(rest) && is_normalized_drive_letter(drive) {
                    url.path = format!("/{drive}");
                }
            }
            return self.path(url, rest);
        }
        let Some(base) = base else {
            return self.path(url, rest);
        };
        url = Url { fragment: None, ..base.clone() };
        if rest.is_empty() || rest.starts_with(['?', '#']) {
            return self.query_and_fragment(url, rest);
        }
        url.query = None;
        if starts_with_drive_letter(rest) {
            url.path.clear();
        } else {
            shorten(&mut url);
        }
        self.path(url, rest)
    }

    fn file_host(&self, mut url: Url, rest: &str) -> Parsed {
        let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
        let host = &rest[..end];
        if is_drive_letter(host) {
            return self.path(url, rest);
        }
        if !host.is_empty() {
            let host = parse_host(host, true)?;
            url.authority = Some(if host == "localhost" { String::new() } else { host });
        }
        self.path_start(url, &rest[end..])
    }

    fn path_start(&self, url: Url, rest: &str) -> Parsed {
        if is_special(&url.scheme) {
            return self.path(url, rest.strip_prefix(['/', '\\']).unwrap_or(rest));
        }
        if rest.is_empty() || rest.starts_with(['?', '#']) {
            return self.query_and_fragment(url, rest);
        }
        self.path(url, rest.strip_prefix('/').unwrap_or(rest))
    }

    /// Path state.
    fn path(&self, mut url: Url, rest: &str) -> Parsed {
        let special = is_special(&url.scheme);
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        let is_slash = |c| c == '/' || (special && c == '\\');
        let mut segments = rest[..end].split(is_slash).peekable();
        while let Some(segment) = segments.next() {
            let is_last = segments.peek().is_none();
            match dots(segment) {
                2 => {
                    shorten(&mut url);
                    if is_last {
                        url.path.push('/');
                    }
                }
                1 => {
                    if is_last {
                        url.path.push('/');
                    }
                }
                _ => {
                    let is_drive =
                        url.scheme == "file" && url.path.is_empty() && is_drive_letter(segment);
                    url.path.push('/');
                    if is_drive {
                        url.path.push_str(&segment[..1]);
                        url.path.push(':');
                    } else {
                        percent_encode(segment.as_bytes(), is_in_path_set, &mut url.path);
                    }
                }
            }
        }
        self.query_and_fragment(url, &rest[end..])
    }

    /// Query state and fragment state. What is not written stays as it is in `url`, but for the
    /// query of a base that a fragment follows, which is inherited.
    fn query_and_fragment(&self, mut url: Url, rest: &str) -> Parsed {
        let (before, fragment) = match rest.split_once('#') {
            Some((before, fragment)) => (before, Some(fragment)),
            None => (rest, None),
        };
        if let Some(query) = before.strip_prefix('?') {
            let special = is_special(&url.scheme);
            let in_set = if special { is_in_special_query_set } else { is_in_query_set };
            let mut encoded = String::new();
            match self.encode {
                Some(encode) if special && !url.scheme.starts_with("ws") => {
                    let bytes = escaped_references(encode(query));
                    percent_encode(&bytes, in_set, &mut encoded);
                }
                _ => percent_encode(query.as_bytes(), in_set, &mut encoded),
            }
            url.query = Some(encoded);
        }
        url.fragment = fragment.map(|fragment| {
            let mut encoded = String::new();
            percent_encode(fragment.as_bytes(), is_in_fragment_set, &mut encoded);
            encoded
        });
        Ok(url)
    }
}

impl Url {
    /// The URL serialiser.
    pub(super) fn serialize_into(&self, text: &mut String) {
        text.push_str(&self.scheme);
        text.push(':');
        if let Some(authority) = &self.authority {
            text.push_str("//");
            text.push_str(authority);
        } else if !self.is_opaque && self.path.starts_with("//") {
            text.push_str("/.");
        }
        text.push_str(&self.path);
        for (delimiter, component) in [('?', &self.query), ('#', &self.fragment)] {
            if let Some(component) = component {
                text.push(delimiter);
                text.push_str(component);
            }
        }
    }
}

fn parse_host(host: &str, special: bool) -> Result<String, Failure> {
    let host = if special { url::Host::parse(host) } else { url::Host::parse_opaque(host) };
    host.map(|host| host.to_string()).map_err(|_| Failure::Invalid)
}

/// Shorten a URL's path.
fn shorten(url: &mut Url) {
    let last = url.path.rfind('/').unwrap_or(0);
    if url.scheme == "file"
        && last == 0
        && is_normalized_drive_letter(url.path.get(1..).unwrap_or(""))
    {
        return;
    }
    url.path.truncate(last);
}

/// 1 for a single-dot, 2 for a double-dot URL path segment, else 0.
fn dots(mut segment: &str) -> usize {
    let mut dots = 0;
    while dots < 3 && !segment.is_empty() {
        let escaped = segment.get(..3).is_some_and(|dot| dot.eq_ignore_ascii_case("%2e"));
        let Some(rest) = (if escaped { segment.get(3..) } else { segment.strip_prefix('.') })
        else {
            return 0;
        };
        segment = rest;
        dots += 1;
    }
    if dots < 3 { dots } else { 0 }
}

fn is_drive_letter(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

fn is_normalized_drive_letter(text: &str) -> bool {
    is_drive_letter(text) && text.ends_with(':')
}

fn starts_with_drive_letter(text: &str) -> bool {
    text.get(..2).is_some_and(is_drive_letter)
        && matches!(text.as_bytes().get(2), None | Some(b'/' | b'\\' | b'?' | b'#'))
}

/// UTF-8 percent-encode.
fn percent_encode(bytes: &[u8], in_set: fn(u8) -> bool, text: &mut String) {
    const HEX: [u8; 16] = *b"0123456789ABCDEF";
    text.reserve(bytes.len());
    for &byte in bytes {
        if in_set(byte) {
            text.push('%');
            text.push(char::from(HEX[usize::from(byte >> 4)]));
            text.push(char::from(HEX[usize::from(byte & 15)]));
        } else {
            text.push(char::from(byte));
        }
    }
}

/// The C0 control percent-encode set, on which the others build (section 1.3).
fn is_c0_control(byte: u8) -> bool {
    !matches!(byte, 0x20..=0x7e)
}

fn is_in_fragment_set(byte: u8) -> bool {
    is_c0_control(byte) || matches!(byte, b' ' | b'"' | b'<' | b'>' | b'`')
}

fn is_in_query_set(byte: u8) -> bool {
    is_c0_control(byte) || matches!(byte, b' ' | b'"' | b'#' | b'<' | b'>')
}

fn is_in_special_query_set(byte: u8) -> bool {
    is_in_query_set(byte) || byte == b'\''
}

fn is_in_path_set(byte: u8) -> bool {
    is_in_query_set(byte) || matches!(byte, b'?' | b'^' | b'`' | b'{' | b'}')
}

fn is_in_userinfo_set(byte: u8) -> bool {
    is_in_path_set(byte)
        || matches!(byte, b'/' | b':' | b';' | b'=' | b'@' | b'[' | b'\\' | b']' | b'|')
}

/// What an encoder gives for a query, its `&#…;` for missing characters escaped (section 1.3,
/// percent-encode after encoding). A query holds no `#` otherwise.
fn escaped_references(encoded: Vec<u8>) -> Vec<u8> {
    if memchr::memmem::find(&encoded, b"&#").is_none() {
        return encoded;
    }
    let mut escaped = Vec::with_capacity(encoded.len() + 8);
    let mut rest = encoded.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'&' && after.first() == Some(&b'#') {
            let digits = after[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
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
    escaped
}
