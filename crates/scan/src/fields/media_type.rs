//! A tolerant parser for `Content-Type` (RFC 2045, 5).
//!
//! Comments, folding, a missing `;`, trailing blanks and an unterminated quoted string are tolerated. Parameters
//! split into pieces or with a charset (RFC 2231) are decoded by mailparse.
//!
//! ```
//! use baselink_scan::fields::media_type::MediaType;
//! let value = b"Text/HTML (a comment); charset*0=iso-; charset*1=8859-1;\r\n boundary=\"b";
//! let media_type = MediaType::read(value).unwrap();
//! assert_eq!(media_type.to_string(), "text/html");
//! assert_eq!(media_type.parameter("charset"), Some("iso-8859-1"));
//! assert_eq!(media_type.boundary(), Some(&b"b"[..]));
//! ```
//!
//! Deliberately absent: the meaning of a media type.

use std::{borrow::Cow, fmt};

use baselink_text::{Charset, Format, Span, format::in_place_of_html};

use super::heading::{LONGEST_DECODED, comments_end, is_white, quoted};

/// A media type with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// The type, `/` and the subtype, in lower case (MIME Sniffing, 4.1).
    pub essence: Cow<'static, str>,
    /// The parameters except `boundary`, with names in lower case and decoded values. Each name occurs once.
    pub parameters: Vec<(String, String)>,
    /// True if the parameters were too long to be joined and decoded as in RFC 2231.
    pub too_long: bool,
    /// The bytes of the `boundary` parameter, which need not be valid text.
    boundary: Option<Box<[u8]>>,
}

impl MediaType {
    /// The format that the media type names.
    pub fn format(&self) -> Format {
        Format::of_media_type(&self.essence)
    }

    /// The media type of the body with this `Content-Type` that begins with `body` and was retrieved from `url`. Only
    /// `text/html` is doubted.
    pub fn of_body(self, body: &[u8], url: Option<&str>) -> Self {
        match in_place_of_html(body, url) {
            Some(other) if self.essence == "text/html" => Self {
                essence: other.into(),
                ..self
            },
            _ => self,
        }
    }

    /// The default for a body without a valid `Content-Type` (RFC 2045, 5.2).
    pub const PLAIN: Self = Self::plain("text/plain");

    /// The default in a digest. RFC 2046, 5.1.5: "in a digest, the default Content-Type value for a body part is
    /// changed from "text/plain" to "message/rfc822"."
    pub const RFC822: Self = Self::plain("message/rfc822");

    const fn plain(essence: &'static str) -> Self {
        Self {
            essence: Cow::Borrowed(essence),
            parameters: Vec::new(),
            too_long: false,
            boundary: None,
        }
    }

    /// Parses the value of a `Content-Type`; `None` if it does not begin with `type/subtype`.
    pub fn read(value: &[u8]) -> Option<Self> {
        let (type_, rest) = token(value)?;
        let (subtype, rest) = token(after(rest, b'/')?)?;
        let pairs = pairs(rest);
        let length: usize = pairs
            .iter()
            .map(|(name, value)| name.len() + value.len() + 5)
            .sum();
        let too_long = length > LONGEST_DECODED;
        // Most parameters need not be joined or decoded.
        let is_plain = |(name, value): &(String, String)| {
            memchr::memchr(b'*', name.as_bytes()).is_none()
                && memchr::memchr_iter(b'=', value.as_bytes())
                    .all(|at| value.as_bytes().get(at + 1) != Some(&b'?'))
        };
        let mut parameters = if too_long || pairs.iter().all(is_plain) {
            pairs
        } else {
            assembled(&pairs)
        };
        let boundary = parameters.iter().position(|(name, _)| name == "boundary");
        let boundary = boundary.and_then(|at| {
            let mut value = parameters.swap_remove(at).1;
            value.truncate(value.trim_end().len());
            (!value.is_empty()).then(|| octets(value).into())
        });
        for (_, value) in &mut parameters {
            decode(value);
        }
        let mut essence = String::with_capacity(type_.len() + 1 + subtype.len());
        let lower = |byte: &u8| char::from(byte.to_ascii_lowercase());
        essence.extend(type_.iter().chain(b"/").chain(subtype).map(lower));
        Some(Self {
            essence: essence.into(),
            parameters,
            too_long,
            boundary,
        })
    }

    /// The value of the parameter `name`, which is in lower case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(one, _)| one == name)
            .map(|(_, value)| value.as_str())
    }

    /// The character encoding that the parameter `charset` declares, if it is known.
    pub fn charset(&self) -> Option<Charset> {
        self.parameter("charset").and_then(Charset::for_label)
    }

    /// The bytes of the `boundary` parameter, without trailing white space (RFC 2046, 5.1.1: a boundary does not
    /// end with white space); `None` if it is absent or empty.
    pub fn boundary(&self) -> Option<&[u8]> {
        self.boundary.as_deref()
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.essence)
    }
}

/// The token at the start of `value` (RFC 2045, 5.1), and the rest after it.
fn token(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let value = &value[comments_end(value)..];
    let special = |byte: u8| {
        matches!(byte, b'(' | b')' | b'<' | b'>' | b'@' | b',' | b';' | b':')
            || matches!(byte, b'\\' | b'"' | b'/' | b'[' | b']' | b'?' | b'=')
    };
    let end = value
        .iter()
        .position(|&byte| byte <= b' ' || byte == 0x7F || special(byte))
        .unwrap_or(value.len());
    (end > 0).then(|| value.split_at(end))
}

/// The rest after `byte`, if only white space and comments come before it.
fn after(value: &[u8], byte: u8) -> Option<&[u8]> {
    let value = &value[comments_end(value)..];
    (value.first() == Some(&byte)).then(|| &value[1..])
}

/// The parameters as written, without quotes, in the order of their names. Of several with one name, the first counts. Each
/// character stands for one byte.
fn pairs(mut rest: &[u8]) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    while let Some(Pair {
        name,
        value,
        following,
        ..
    }) = Pair::read(rest)
    {
        rest = following;
        if !name.is_empty() {
            let mut name = latin_1(name);
            name.make_ascii_lowercase();
            pairs.push((name, value));
        }
    }
    pairs.sort_by(|one: &(String, _), other| one.0.cmp(&other.0));
    pairs.dedup_by(|later, first| later.0 == first.0);
    pairs
}

/// The span of the quoted value of the first parameter `name` of the `Content-Type` in `value`, without its
/// quotes; `None` if the parameter is missing or not quoted.
pub(super) fn quoted_parameter(value: &[u8], name: &str) -> Option<Span> {
    let (_, rest) = token(value)?;
    let (_, mut rest) = token(after(rest, b'/')?)?;
    loop {
        let pair = Pair::read(rest)?;
        if pair.name.eq_ignore_ascii_case(name.as_bytes()) {
            let end = value.len() - pair.following.len() - 1;
            return pair.quoted.map(|length| Span::new(end - length, end));
        }
        rest = pair.following;
    }
}

/// A parameter as written.
struct Pair<'a> {
    name: &'a [u8],
    /// The value without quotes. Each character stands for one byte.
    value: String,
    /// The number of bytes between the quotes of the value; `None` if it is not quoted.
    quoted: Option<usize>,
    /// The rest after the value and its quotes.
    following: &'a [u8],
}

impl<'a> Pair<'a> {
    /// The first parameter in `rest`.
    fn read(mut rest: &'a [u8]) -> Option<Self> {
        loop {
            rest = &rest[comments_end(rest)..];
            if let Some((b';' | b',', following)) = rest.split_first() {
                rest = following;
                continue;
            }
            let end = rest.iter().position(|&byte| matches!(byte, b'=' | b';'))?;
            let name = rest[..end].trim_ascii();
            if rest[end] == b';' {
                rest = &rest[end..];
                continue;
            }
            // If the preceding `;` is missing, the name is the last word before the `=`.
            let name = name.rsplit(|&byte| is_white(byte)).next().unwrap_or(name);
            let (value, quoted, following) = parameter_value(&rest[end + 1..]);
            return Some(Self {
                name,
                value,
                quoted,
                following,
            });
        }
    }
}

/// The value at the start of `rest`, the number of bytes between its quotes if it is quoted, and the rest after it.
fn parameter_value(rest: &[u8]) -> (String, Option<usize>, &[u8]) {
    let rest = &rest[comments_end(rest)..];
    if rest.first() == Some(&b'"') {
        let (mut content, at) = quoted(rest);
        // RFC 5322, 2.2.3: unfolding removes a line end, but not the white space after it.
        content.retain(|byte| !matches!(byte, b'\r' | b'\n'));
        if at < rest.len() {
            return (latin_1(&content), Some(at - 1), &rest[at + 1..]);
        }
    }
    // An unquoted value, or an unterminated quoted string, ends at the next `;`.
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let end = memchr::memchr(b';', rest).unwrap_or(rest.len());
    let comment = (1..end).find(|&at| rest[at] == b'(' && is_white(rest[at - 1]));
    let mut value = latin_1(rest[..comment.unwrap_or(end)].trim_ascii());
    value.retain(|one| !matches!(one, '\r' | '\n'));
    (value, None, &rest[comment.unwrap_or(end)..])
}

/// The parameters, joined and decoded by mailparse (RFC 2231). mailparse receives every value in quotes.
fn assembled(pairs: &[(String, String)]) -> Vec<(String, String)> {
    let mut header = String::from("x/x");
    for (name, value) in pairs.iter().filter(|(name, _)| !name.contains('"')) {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        header.push_str(&format!("; {name}=\"{value}\""));
    }
    mailparse::parse_content_type(&header)
        .params
        .into_iter()
        .collect()
}

/// Text with one character for each byte, so that nothing is lost before the encoding is known.
fn latin_1(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.to_owned(),
        _ => bytes.iter().copied().map(char::from).collect(),
    }
}

/// Decodes `text` as UTF-8, if the bytes that its characters represent are valid UTF-8.
fn decode(text: &mut String) {
    if !text.is_ascii()
        && let Ok(decoded) = String::from_utf8(octets(text.clone()))
    {
        *text = decoded;
    }
}

/// The bytes that the characters of `text` represent; those of `text` itself if a character does not represent one byte.
fn octets(text: String) -> Vec<u8> {
    if text.is_ascii() {
        return text.into_bytes();
    }
    let bytes: Option<_> = text.chars().map(|one| u8::try_from(one).ok()).collect();
    bytes.unwrap_or(text.into_bytes())
}
