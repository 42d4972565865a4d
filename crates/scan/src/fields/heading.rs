//! The heading of an entity: its header fields as byte ranges (RFC 5322, 2.2), and their values.
//!
//! A field ends before the next line that does not continue it (2.2.3), and the heading ends with an empty line. Much
//! real mail has lines in its heading that are not header fields, or lacks the empty line. Lines between header
//! fields are kept and reported. If such lines follow the last header field, they are the beginning of the body of a
//! mail. In HTTP and WARC, only an empty line ends the heading (RFC 9112, 2.1; ISO 28500, 4).
//!
//! The URLs of `Base` (RFC 1808, 3.1), `Content-Base` (RFC 2110), `Content-Location` (RFC 2557) and
//! `Snapshot-Content-Location` are read in every spelling: `<URL:…>`, `<…>`, quoted, bare.
//!
//! ```
//! use baselink_scan::UrlField;
//! use baselink_scan::fields::heading::Heading;
//! let message = b"Subject : =?utf-8?Q?caf=C3=A9?=\nBase: <URL:http://a/\n  b/>\n\nbody";
//! let heading = Heading::read(message);
//! assert_eq!(heading.first(message, "subject").unwrap().text(message), "café");
//! let url = heading.url(message, UrlField::Base).unwrap();
//! assert_eq!(&*url.url, "http://a/b/");
//! assert_eq!(&message[url.span.range()], b"Base: <URL:http://a/\n  b/>\n");
//! ```
//!
//! Deliberately absent: the choice among several fields, which the module `base` makes.

use std::{borrow::Cow, str::FromStr};

use baselink_text::{Span, format::starts_with};

use crate::{
    document::{UrlField, UrlValue},
    value,
};

/// The maximum length in bytes of a text that is passed to mailparse, which takes quadratic time.
pub const LONGEST_DECODED: usize = 4096;

/// A header field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name, without the white space before the colon (obsolete, RFC 5322, 4.5).
    pub name: Span,
    /// The value as written, folded, without the white space around it.
    pub value: Span,
    /// The whole field, including its line end.
    pub span: Span,
}

/// The number in `value`; `None` if there is anything but digits (RFC 9110, 8.6: `1*DIGIT`). `parse` would accept a
/// sign.
pub fn decimal<T: FromStr>(value: &[u8]) -> Option<T> {
    let digits = str::from_utf8(value).ok()?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())?
}

impl Field {
    /// The value, unfolded and with its encoded words decoded (RFC 2047). A value longer than [`LONGEST_DECODED`]
    /// is only unfolded.
    pub fn text(self, bytes: &[u8]) -> String {
        if self.value.len() <= LONGEST_DECODED
            && let Ok((field, _)) = mailparse::parse_header(&bytes[self.name.start..self.value.end])
        {
            return field.get_value().replace('\r', "");
        }
        text_of(&bytes[self.value.range()]).replace(['\r', '\n'], "")
    }
}

/// The header fields of an entity.
#[derive(Clone, Debug, Default)]
pub struct Heading {
    /// The fields in the order of the message.
    pub fields: Vec<Field>,
    /// The lines of the heading, without the separator.
    pub span: Span,
    /// The empty line between heading and body; an empty span if there is none.
    pub separator: Span,
    /// The first line that is part of the heading but not of a header field, and the number of such lines.
    pub not_fields: Option<(Span, usize)>,
}

impl Heading {
    /// Reads the heading at the start of a message.
    pub fn read(bytes: &[u8]) -> Self {
        Self::read_at(bytes, 0, line_end_of(bytes), Some(|_: usize| false)).0
    }

    /// Reads the heading at `start` that only an empty line ends, as in HTTP and WARC. Also returns the start of the
    /// body. Without an empty line, lines after the last header field begin the body.
    pub fn read_whole(bytes: &[u8], start: usize) -> (Self, usize) {
        Self::read_at(bytes, start, b'\n', None::<fn(usize) -> bool>)
    }

    /// Reads the heading of the entity that begins at `start`, where lines end with `line_end`. Also returns the start
    /// of the body. With a `delimiter`, as in mail, lines after the last header field begin the body, and a line that
    /// begins with dashes, and whose offset `delimiter` accepts, ends the heading.
    pub fn read_at(
        bytes: &[u8],
        start: usize,
        line_end: u8,
        delimiter: Option<impl Fn(usize) -> bool>,
    ) -> (Self, usize) {
        let mut fields: Vec<Field> = Vec::new();
        let mut separator = None;
        let mut at = start;
        // The lines since the last header field that are not fields: the first line, and their number.
        let mut trailing: Option<(Span, usize)> = None;
        let mut not_fields: Option<(Span, usize)> = None;
        while at < bytes.len() {
            let end = memchr::memchr(line_end, &bytes[at..]).map_or(bytes.len(), |n| at + n + 1);
            let line = Span::new(at, end);
            let content = &bytes[at..content_end(bytes, line)];
            if content.is_empty() {
                separator = Some(line);
                break;
            }
            let dashes = delimiter.as_ref().filter(|_| content.starts_with(b"--"));
            if dashes.is_some_and(|delimiter| delimiter(at)) {
                break;
            }
            let first = fields.is_empty() && trailing.is_none() && not_fields.is_none();
            match (content[0], fields.last_mut()) {
                (b' ' | b'\t', Some(field)) if trailing.is_none() => field.span.end = end,
                _ => match name_end(content) {
                    Some((name, colon)) => {
                        add_lines(&mut not_fields, trailing.take());
                        fields.push(Field {
                            name: Span::new(at, at + name),
                            value: Span::at(at + colon + 1),
                            span: line,
                        });
                    }
                    // The line of an mbox that precedes the message.
                    None if first
                        && (content.starts_with(b"From ") || content.starts_with(b">From ")) => {}
                    None => {
                        trailing = Some(trailing.map_or((line, 1), |(line, n)| (line, n + 1)));
                        // A line that begins with dashes is more likely a delimiter than part of a heading.
                        if dashes.is_some() {
                            break;
                        }
                    }
                },
            }
            at = end;
        }
        if delimiter.is_none() && separator.is_some() {
            add_lines(&mut not_fields, trailing.take());
        }
        // If no header field follows such lines, they begin the body, and the separator is missing.
        let end = trailing.map_or(at, |(line, _)| line.start);
        let separator = separator
            .filter(|_| trailing.is_none())
            .unwrap_or(Span::at(end));
        for field in &mut fields {
            let value = Span::new(field.value.start, field.span.end);
            field.value = value::stripped(bytes, value, is_white);
        }
        (
            Self {
                fields,
                span: Span::new(start, end),
                separator,
                not_fields,
            },
            separator.end,
        )
    }

    /// The fields called `name`, in any case.
    pub fn all<'a>(&'a self, bytes: &'a [u8], name: &'a str) -> impl Iterator<Item = Field> + 'a {
        self.fields
            .iter()
            .filter(move |field| bytes[field.name.range()].eq_ignore_ascii_case(name.as_bytes()))
            .copied()
    }

    /// The first field called `name`, in any case.
    pub fn first(&self, bytes: &[u8], name: &str) -> Option<Field> {
        self.all(bytes, name).next()
    }

    /// The URLs of all fields that declare a base, in the order of the message.
    pub fn all_urls(&self, bytes: &[u8]) -> Vec<UrlValue> {
        let url = |field: &Field| {
            let kind = UrlField::named(&bytes[field.name.range()])?;
            Some(url_value(bytes, kind, *field))
        };
        self.fields.iter().filter_map(url).collect()
    }

    /// The URL of the first field of the kind `field`.
    pub fn url(&self, bytes: &[u8], field: UrlField) -> Option<UrlValue> {
        self.first(bytes, field.name())
            .map(|one| url_value(bytes, field, one))
    }
}

/// Adds lines, as their first one and their number, to earlier ones.
fn add_lines(all: &mut Option<(Span, usize)>, more: Option<(Span, usize)>) {
    if let Some((line, lines)) = more {
        let (first, before) = all.unwrap_or((line, 0));
        *all = Some((first, before + lines));
    }
}

/// The line end in `bytes`: LF, or CR if there is no LF.
pub fn line_end_of(bytes: &[u8]) -> u8 {
    if memchr::memchr(b'\n', bytes).is_none() {
        b'\r'
    } else {
        b'\n'
    }
}

/// The end of the content of `line`, before its line end and the CRs before that.
fn content_end(bytes: &[u8], line: Span) -> usize {
    let mut end = line.end;
    while end > line.start && matches!(bytes[end - 1], b'\n' | b'\r') {
        end -= 1;
    }
    end
}

/// The ends of the name, and of the white space after it, in a line that begins a header field.
///
/// RFC 5322, 2.2: "A field name MUST be composed of printable US-ASCII characters (i.e., characters
/// that have values between 33 and 126, inclusive), except colon." 4.5 allows white space before the colon.
fn name_end(line: &[u8]) -> Option<(usize, usize)> {
    let name = line
        .iter()
        .position(|&byte| byte == b':' || !byte.is_ascii_graphic())?;
    let blanks = line[name..]
        .iter()
        .position(|&byte| byte != b' ' && byte != b'\t')?;
    (name > 0 && line[name + blanks] == b':').then_some((name, name + blanks))
}

/// True for white space in header fields, including line ends.
pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The text of raw header bytes: UTF-8, or else ISO-8859-1.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    }
}

/// The end of the comment that opens at `open` (RFC 5322, 3.2.2). Comments can nest and contain quoted pairs.
pub(super) fn comment_end(value: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = open;
    while at < value.len() {
        match value[at] {
            b'\\' => at += 1,
            b'(' => depth += 1,
            b')' if depth == 1 => return at + 1,
            b')' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    value.len()
}

/// The end of the bare URL at the start of `value`, before the comments at the end. RFC 2557, 4.2, allows comments
/// before and after the URL. Inside it, `(` is part of the URL.
pub(super) fn bare_end(value: &[u8]) -> usize {
    let mut at = 1;
    while at < value.len() {
        if value[at] == b'(' && is_white(value[at - 1]) {
            let end = at + comments_end(&value[at..]);
            if end == value.len() {
                return value[..at].trim_ascii_end().len();
            }
            at = end;
        }
        at += 1;
    }
    value.len()
}

/// True for the white space in a URL that is not part of it: line ends, and tabs, which the URL Standard ignores, too.
/// RFC 2557, 4.4.2, allows folding; every space that does not belong to a fold is part of the URL.
pub(super) fn folds(byte: u8) -> bool {
    is_white(byte) && byte != b' '
}

/// The lines of a folded URL, without the white space around them.
fn lines(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| folds(byte)).map(<[u8]>::trim_ascii)
}

/// The URL in the value of a header field.
pub fn url_of(value: &[u8]) -> String {
    let value = &value[comments_end(value)..];
    let url = match value.first() {
        Some(b'<') => bracketed(value),
        Some(b'"') => {
            let (inner, _) = quoted(value);
            let inner = inner.as_slice();
            if inner.trim_ascii_start().starts_with(b"<") {
                bracketed(inner.trim_ascii_start())
            } else {
                joined(lines(inner))
            }
        }
        _ => joined(lines(&value[..bare_end(value)])),
    };
    // An encoded word may contain the brackets around the URL.
    if value.starts_with(b"=?") && url.starts_with('<') {
        bracketed(url.as_bytes())
    } else {
        url
    }
}

/// The end of the leading white space and comments of `value`.
pub(super) fn comments_end(value: &[u8]) -> usize {
    let mut at = 0;
    while at < value.len() {
        match value[at] {
            byte if is_white(byte) => at += 1,
            b'(' => at = comment_end(value, at),
            _ => break,
        }
    }
    at
}

/// The URL in angle brackets. RFC 1808, 3.1: "Any whitespace (including that used for line folding) inside the
/// angle brackets should be ignored." The prefix `URL:` is only recommended there.
fn bracketed(value: &[u8]) -> String {
    let end = memchr::memchr(b'>', value).unwrap_or(value.len());
    let url = joined(value[1..end].split(|&byte| is_white(byte)));
    without_prefix(&url).to_owned()
}

/// A URL without the prefix `URL:`, which is recommended in brackets, and sometimes written without them.
pub(super) fn without_prefix(url: &str) -> &str {
    if starts_with(url.as_bytes(), "URL:") {
        &url[4..]
    } else {
        url
    }
}

/// The content of the quoted string at the start of `value`, and the offset of its closing quote or of the end.
pub(super) fn quoted(value: &[u8]) -> (Vec<u8>, usize) {
    let length = memchr::memchr(b'"', value.get(1..).unwrap_or_default());
    let mut content = Vec::with_capacity(length.unwrap_or(0));
    let mut at = 1;
    while at < value.len() && value[at] != b'"' {
        if value[at] == b'\\' && at + 1 < value.len() {
            at += 1;
        }
        content.push(value[at]);
        at += 1;
    }
    (content, at)
}

/// Joins the pieces of a URL. RFC 2557, 4.4.3: unfold, then decode encoded words. For percent-encoding, it says "Do
/// NOT transform".
pub(super) fn joined<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut text = String::new();
    for word in words {
        let encoded = word.len() <= LONGEST_DECODED && memchr::memmem::find(word, b"=?").is_some();
        if !encoded {
            text.push_str(&text_of(word));
            continue;
        }
        let field = [b"X: ", word].concat();
        match mailparse::parse_header(&field) {
            Ok((field, _)) => text.push_str(&field.get_value()),
            Err(_) => text.push_str(&text_of(word)),
        }
    }
    text
}

fn url_value(bytes: &[u8], kind: UrlField, field: Field) -> UrlValue {
    let url = url_of(&bytes[field.value.range()]);
    // Some programs quote a URL twice. RFC 822, 3.3, allows control characters in a field, but they are not part of
    // URLs (RFC 1738, 2.2). They are also removed from the ends of all other references.
    let url = value::trim(without_prefix(&url).trim_matches('"'));
    // Other parts find the part by `a%20b` and by `a b`, which are the same URL to a browser.
    let url = url.replace(' ', "%20").into();
    UrlValue {
        field: kind,
        url,
        span: field.span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_consists_of_digits_only() {
        for (value, number) in [("44", 44), ("0044", 44), ("18446744073709551615", u64::MAX)] {
            assert_eq!(decimal(value.as_bytes()), Some(number), "{value}");
        }
        for value in [
            "",
            "+11",
            "-1",
            "1 1",
            " 1",
            "1\n",
            "1.0",
            "0x1",
            "\u{0663}",
            "18446744073709551616",
        ] {
            assert_eq!(decimal::<u64>(value.as_bytes()), None, "{value}");
        }
        assert_eq!(decimal::<u64>(b"1\xb2"), None);
    }
}
