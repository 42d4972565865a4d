//! HTTP archives of browsers: requests and their responses in JSON (HAR 1.2, `log.entries`).
//!
//! ```
//! use baselink_rewrite::Options;
//! use baselink_site::archive::{Attached, Wanted, http_archive};
//! let har = br#"{"log": {"entries": [{"startedDateTime": "2026-01-02T03:04:05Z", "request": {"url": "http://a/b"},
//!     "response": {"status": 200, "content": {"mimeType": "text/css", "text": "YSB7fQ==", "encoding": "base64"}}}]}}"#;
//! let (options, mut bodies) = (Options::default(), Attached::beside("x.har".as_ref()));
//! let entry = http_archive(har.to_vec(), &mut bodies, &options, Wanted::Bodies)?.next().unwrap();
//! let capture = &entry.resource().unwrap().capture;
//! assert_eq!((&*capture.url, capture.status, entry.bytes()), ("http://a/b", 200, &b"a {}"[..]));
//! # Ok::<(), baselink_text::Error>(())
//! ```
//!
//! Unknown properties are skipped without recursion, however deeply nested. An entry is an anomaly if a property
//! that is needed for its URL or body has the wrong type.
//!
//! Deliberately absent: header fields other than `Location` and `Content-Range`, cookies, and timings.

use std::{io::ErrorKind, iter, ops::Range};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use baselink_rewrite::{Options, Source, container::http};
use baselink_scan::MediaType;
use baselink_text::{Charset, Code, Error, Result, cause, visible};
use flate2::read::MultiGzDecoder;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::value::RawValue;

use super::{
    attached::{Attached, inflate},
    entry::{ArchivedResource, Entry, Wanted, is_document},
    record::is_retrievable,
};
use crate::collection::capture::Capture;

#[derive(Deserialize)]
struct HarFile<'a> {
    #[serde(borrow)]
    log: HarLog<'a>,
}

#[derive(Deserialize)]
struct HarLog<'a> {
    #[serde(borrow, deserialize_with = "array")]
    entries: &'a RawValue,
}

/// A request and its response.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntryJson {
    started_date_time: Option<Box<RawValue>>,
    request: RequestJson,
    response: Option<ResponseJson>,
}

#[derive(Deserialize)]
struct RequestJson {
    url: String,
    method: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
struct ResponseJson {
    content: Option<ContentJson>,
    status: Option<Box<RawValue>>,
    #[serde(rename = "redirectURL")]
    redirect_url: Option<Box<RawValue>>,
    headers: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContentJson {
    mime_type: Option<String>,
    text: Option<String>,
    encoding: Option<String>,
    #[serde(rename = "_file")]
    file: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct FieldJson {
    name: String,
    value: String,
}

/// Deserializes the text of an array.
fn array<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'de RawValue, D::Error> {
    let value = <&RawValue>::deserialize(deserializer)?;
    if value.get().starts_with('[') {
        Ok(value)
    } else {
        Err(D::Error::custom("not an array"))
    }
}

/// The entries of the HTTP archive `bytes`, which may be compressed with gzip, in order. A series of elements that do not conform
/// to HAR 1.2 is an entry without contents, which has the number of the first of them.
///
/// # Errors
///
/// Returns an error if `bytes` are not JSON with the array `log.entries`, or inflate to too many times their length.
pub fn http_archive(
    mut bytes: Vec<u8>,
    bodies: &mut Attached,
    options: &Options,
    wanted: Wanted,
) -> Result<impl Iterator<Item = Entry>> {
    if bytes.starts_with(b"\x1f\x8b") {
        let mut json = Vec::new();
        let inflated = inflate(MultiGzDecoder::new(&*bytes), bytes.len() as u64, &mut json);
        match inflated {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                return Err(Error::new(cause(&error)));
            }
            // If data are damaged, the JSON is incomplete.
            _ => bytes = json,
        }
    }
    // An unpaired surrogate must not make an entry unreadable.
    mend_surrogates(&mut bytes);
    mend_utf8(&mut bytes);
    let json = String::from_utf8(bytes).unwrap_or_default();
    // Some programs begin the file with a byte order mark.
    let text = json.strip_prefix('\u{feff}').unwrap_or(&json);
    let file: HarFile<'_> = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let why = if error.is_data() {
            format!("it has no log.entries as in HAR 1.2: line {line}, column {column}")
        } else {
            format!("not JSON: {error}")
        };
        Error::new(format!("not an HTTP archive: {why}"))
    })?;
    let Range { start: mut at, end } = place_in(&json, file.log.entries.get());
    let (mut numbers, mut next) = (0.., None);
    Ok(iter::from_fn(move || {
        let (mut first, mut others) = (None, 0_u64);
        while next.is_none()
            && let Some(element) = element(&json[..end], &mut at)
            && let Some(number) = numbers.next()
        {
            // A file may consist of millions of these.
            let has_no_url = memchr::memmem::find(element.as_bytes(), b"\"url\"").is_none();
            if first.is_some() && has_no_url {
                others += 1;
                continue;
            }
            match serde_json::from_str::<EntryJson>(element) {
                Ok(json) => next = Some((number, json)),
                Err(_) if first.is_some() => others += 1,
                Err(error) => first = Some((number, error)),
            }
        }
        let Some((number, error)) = first else {
            let (number, json) = next.take()?;
            return Some(json.into_entry(number, bodies, options, wanted));
        };
        let more = match others {
            0 => String::new(),
            others => format!("; {others} more follow it"),
        };
        let message = format!("not an entry of HAR 1.2: {error}{more}");
        Some(Entry::at(number).noting(Code::RecordBroken, message))
    }))
}

/// The next element of `array`, an array in JSON, after the bracket or comma at the offset `at`.
fn element<'a>(array: &'a str, at: &mut usize) -> Option<&'a str> {
    let rest = array.get(*at + 1..)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
    let element = values.next()?.ok()?.get();
    let end = place_in(array, element).end;
    *at = end + array[end..].find([',', ']'])?;
    Some(element)
}

/// Replaces each invalid byte of UTF-8 by `?`. U+FFFD would make the text longer.
fn mend_utf8(bytes: &mut [u8]) {
    let mut at = 0;
    while let Err(error) = str::from_utf8(&bytes[at..]) {
        at += error.valid_up_to();
        bytes[at] = b'?';
    }
}

impl EntryJson {
    /// The entry with this `number`. Its body is not decoded if it is not wanted.
    fn into_entry(
        self,
        number: u64,
        bodies: &mut Attached,
        options: &Options,
        wanted: Wanted,
    ) -> Entry {
        let mut entry = Entry::at(number);
        let response = self.response.unwrap_or_default();
        let content = response.content.unwrap_or_default();
        let encoding = content.encoding.unwrap_or_default();
        let is_base64 = content.text.is_some() && encoding.eq_ignore_ascii_case("base64");
        // Text that the browser decoded is UTF-8, regardless of the `charset` in the media type. Other bodies are the bytes of
        // the response, without codings.
        let mut is_text = !is_base64;
        // The archive has no body for redirects, and for responses that the browser cached or discarded.
        let mut body = content.text.map(String::into_bytes);
        if body.is_none()
            && let Some(file) = parse_tolerantly::<String>(content.file)
        {
            match bodies.read(&file) {
                // Playwright writes text that Chromium decoded as UTF-8.
                Ok(bytes) => {
                    is_text = str::from_utf8(&bytes).is_ok();
                    body = Some(bytes);
                }
                Err(error) => {
                    let file = visible(&file);
                    let message = format!("its body in the file {file} cannot be read: {error}");
                    entry = entry.noting(Code::RecordBroken, message);
                }
            }
        }
        let media_type = content.mime_type.unwrap_or_default();
        let media_type = MediaType::read(media_type.as_bytes());
        let is_document = media_type
            .as_ref()
            .is_some_and(|one| is_document(one.format(), options));
        if wanted == Wanted::Documents && !(is_document && body.is_some()) {
            return entry;
        }
        if let Some(text) = body.as_mut().filter(|_| is_base64) {
            let Ok(bytes) = STANDARD.decode(&text) else {
                let message = "the base64 of this entry cannot be decoded; skipped";
                return entry.noting(Code::TransferUndecodable, message);
            };
            *text = bytes;
        }
        let fields: Vec<FieldJson> = parse_tolerantly(response.headers).unwrap_or_default();
        let header = |name| {
            let mut fields = fields.iter();
            let field = fields.find(|field| field.name.eq_ignore_ascii_case(name))?;
            Some(&*field.value)
        };
        let range = header("Content-Range").and_then(http::content_range);
        let is_whole = range.is_some_and(|(first, end, length)| end - first == length);
        let mut capture = Capture::of(&self.request.url);
        // With the status 304, the browser took the body from its cache, and Firefox wrote 0 for pushed responses.
        capture.status = match (parse_tolerantly(response.status), body.is_some()) {
            _ if !is_retrievable(&capture.url) => 0,
            (None | Some(0 | 304), true) => 200,
            (Some(206), true) if is_whole => 200,
            // A success without a body is treated as a response without content.
            (Some(200..=299), false) => 204,
            (status, _) => status.unwrap_or(0),
        };
        let method: Option<String> = parse_tolerantly(self.request.method);
        capture.other_method = method.filter(|it| it != "GET").map(Into::into);
        let started: Option<String> = parse_tolerantly(self.started_date_time);
        capture.date = started.and_then(|date| date.parse().ok());
        let location: Option<String> = parse_tolerantly(response.redirect_url);
        let location = location.as_deref().filter(|url| !url.is_empty());
        capture.location = location.or_else(|| header("Location")).map(Into::into);
        capture.is_short = body.as_ref().is_none_or(Vec::is_empty);
        let resource = ArchivedResource {
            source: Source::Har,
            capture,
            part: None,
            body: body.unwrap_or_default(),
            media_type,
            charset: is_text.then_some(Charset::UTF_8),
        };
        entry.holding(resource, options, wanted)
    }
}

/// The place of `part` in `json`, of which it is a slice.
fn place_in(json: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - json.as_ptr().addr();
    start..start + part.len()
}

/// Parses `json`. Returns `None` instead of an error if it has another type, because the entry can be read without
/// it.
fn parse_tolerantly<T: DeserializeOwned>(json: Option<Box<RawValue>>) -> Option<T> {
    serde_json::from_str(json?.get()).ok()
}

/// Replaces every escape of an unpaired surrogate in `json` by an escape of U+FFFD, which has the same length.
/// JavaScript strings may contain unpaired surrogates, and browsers write them (ECMA-262, 25.5.2.3). Unicode text
/// cannot contain them (RFC 8259, 8.2).
fn mend_surrogates(json: &mut [u8]) {
    let unit = |json: &[u8]| match json {
        [b'\\', b'u', digits @ ..] => {
            let digits = str::from_utf8(digits.get(..4)?).ok()?;
            u16::from_str_radix(digits, 16).ok()
        }
        _ => None,
    };
    let mut at = 0;
    // In JSON a backslash occurs only in strings, and begins an escape.
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        at += found;
        at += match (unit(&json[at..]), json.get(at + ESCAPE..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 2 * ESCAPE,
            (Some(0xd800..0xe000), _) => {
                json[at..at + ESCAPE].copy_from_slice(br"\ufffd");
                ESCAPE
            }
            _ => 2,
        };
        at = at.min(json.len());
    }
}

/// The length of a numeric escape: `\u0000`.
const ESCAPE: usize = 6;
