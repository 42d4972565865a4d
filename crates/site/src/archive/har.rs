//! HTTP archives of browsers: requests and their responses in JSON (HAR 1.2, `log.entries`).
//!
//! ```
//! use baselink_site::archive::Har;
//! let har = br#"{"log": {"entries": [{"startedDateTime": "2026-01-02T03:04:05Z", "request": {"url": "http://a/b"},
//!     "response": {"status": 200, "content": {"mimeType": "text/css", "text": "YSB7fQ==", "encoding": "base64"}}}]}}"#;
//! let har = Har::read(har.to_vec())?;
//! let entry = har.entries().next().unwrap().unwrap();
//! assert_eq!((entry.url.as_str(), entry.status), ("http://a/b", Some(200)));
//! assert_eq!(entry.into_body().unwrap(), Some(b"a {}".to_vec()));
//! # Ok::<(), baselink_text::Error>(())
//! ```
//!
//! Unknown properties are skipped without recursion, however deeply nested. An entry is an anomaly if a property
//! that is needed for its URL or body has the wrong type.
//!
//! Deliberately absent: header fields other than `Location` and `Content-Range`, cookies, and timings.

use std::{borrow::Cow, io::ErrorKind, iter, ops::Range};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use baselink_rewrite::archive::{Anomaly, Offset};
use baselink_text::{Code, Error, Result, cause, visible};
use flate2::read::MultiGzDecoder;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::value::RawValue;

use super::attached::{Attached, inflate};

/// The entries of an HTTP archive.
#[derive(Debug)]
pub struct Har {
    json: String,
    /// The place of the array of entries in `json`.
    entries: Range<usize>,
}

/// A request and its response.
#[derive(Debug)]
#[non_exhaustive]
pub struct HarEntry {
    /// The number of the entry in the archive, from 0.
    pub number: u64,
    /// The URL of the request.
    pub url: String,
    /// The method of the request; `GET` if the archive has none.
    pub method: String,
    /// The time of the request as written (ISO 8601): `startedDateTime`.
    pub started: Option<String>,
    /// The status of the response. Browsers write 0 if there was no response.
    pub status: Option<u16>,
    /// The URL of a redirect as written, possibly relative: `redirectURL`, or else the header field `Location`.
    pub redirect_url: Option<String>,
    /// The range of the content in the body, of a partial response: `bytes 0-7/8` (RFC 9110, 14.4).
    pub content_range: Option<String>,
    /// The media type of the body, with its parameters.
    pub media_type: Option<String>,
    body: Option<Body>,
}

/// A body as the archive has it.
#[derive(Debug)]
enum Body {
    /// Text that the browser decoded.
    Text(String),
    /// The bytes of the response, in base64.
    Base64(String),
    /// The bytes of an attached file.
    Bytes(Vec<u8>),
    /// The name of an attached file: `_file`.
    File(String),
}

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
    match value.get().starts_with('[') {
        true => Ok(value),
        false => Err(D::Error::custom("not an array")),
    }
}

impl Har {
    /// Reads the archive `bytes`, which may be compressed with gzip.
    ///
    /// # Errors
    ///
    /// Returns an error if `bytes` are not JSON with the array `log.entries`, or inflate to too many times their length.
    pub fn read(mut bytes: Vec<u8>) -> Result<Self> {
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
        let json = String::from_utf8(bytes)
            .map_err(|_| Error::new("not an HTTP archive: not in UTF-8"))?;
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
        let entries = place_in(&json, file.log.entries.get());
        Ok(Self { json, entries })
    }

    /// The entries in order, with an [`Anomaly`] for each series of those that do not conform to HAR 1.2. The offset of an
    /// anomaly is the number of the first of them.
    pub fn entries(&self) -> impl Iterator<Item = Result<HarEntry, Anomaly>> {
        let mut elements = elements(&self.json[self.entries.clone()]).zip(0..);
        let mut next = None;
        iter::from_fn(move || {
            if let Some(entry) = next.take() {
                return Some(Ok(entry));
            }
            let (mut first, mut others) = (None, 0_u64);
            for (element, number) in elements.by_ref() {
                // A file may consist of millions of these.
                let has_no_url = memchr::memmem::find(element.as_bytes(), b"\"url\"").is_none();
                if first.is_some() && has_no_url {
                    others += 1;
                    continue;
                }
                match HarEntry::read(element, number) {
                    Ok(entry) if first.is_none() => return Some(Ok(entry)),
                    Ok(entry) => {
                        next = Some(entry);
                        break;
                    }
                    Err(_) if first.is_some() => others += 1,
                    Err(anomaly) => first = Some(anomaly),
                }
            }
            let mut anomaly = first?;
            if others > 0 {
                anomaly.message = format!("{}; {others} more follow it", anomaly.message).into();
            }
            Some(Err(anomaly))
        })
    }
}

/// The elements of `array`, an array in JSON.
fn elements(array: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    iter::from_fn(move || {
        // After a bracket or comma.
        let rest = array.get(at + 1..)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let element = values.next()?.ok()?.get();
        let end = place_in(array, element).end;
        at = end + array[end..].find([',', ']'])?;
        Some(element)
    })
}

/// Replaces each invalid byte of UTF-8 by `?`. U+FFFD would make the text longer.
fn mend_utf8(bytes: &mut [u8]) {
    let mut at = 0;
    while let Err(error) = str::from_utf8(&bytes[at..]) {
        at += error.valid_up_to();
        bytes[at] = b'?';
    }
}

impl HarEntry {
    fn read(json: &str, number: u64) -> Result<Self, Anomaly> {
        let EntryJson {
            started_date_time,
            request,
            response,
        } = serde_json::from_str(json).map_err(|error| {
            let message = format!("not an entry of HAR 1.2: {error}");
            anomaly(number, Code::RecordBroken, message)
        })?;
        let response = response.unwrap_or_default();
        let redirect_url =
            parse_tolerantly::<String>(response.redirect_url).filter(|url| !url.is_empty());
        let fields: Vec<FieldJson> = parse_tolerantly(response.headers).unwrap_or_default();
        let header = |name| {
            let mut fields = fields.iter();
            let field = fields.find(|field| field.name.eq_ignore_ascii_case(name))?;
            Some(field.value.clone())
        };
        let ContentJson {
            mime_type,
            text,
            encoding,
            file,
        } = response.content.unwrap_or_default();
        let is_base64 = encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64"));
        let body = match text {
            Some(text) if is_base64 => Some(Body::Base64(text)),
            Some(text) => Some(Body::Text(text)),
            None => parse_tolerantly(file).map(Body::File),
        };
        Ok(Self {
            number,
            url: request.url,
            method: parse_tolerantly(request.method).unwrap_or_else(|| "GET".to_owned()),
            started: parse_tolerantly(started_date_time),
            status: parse_tolerantly(response.status),
            redirect_url: redirect_url.or_else(|| header("Location")),
            content_range: header("Content-Range"),
            media_type: mime_type,
            body,
        })
    }

    /// Reads the attached file with the body, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an anomaly if the file cannot be read. The entry then has no body.
    pub fn attach(&mut self, bodies: &mut Attached) -> Result<(), Anomaly> {
        let Some(Body::File(file)) = &self.body else {
            return Ok(());
        };
        let bytes = bodies.read(file).map_err(|error| {
            let message = format!(
                "its body in the file {} cannot be read: {error}",
                visible(file)
            );
            anomaly(self.number, Code::RecordBroken, message)
        })?;
        // Playwright writes text that Chromium decoded as UTF-8.
        let text = String::from_utf8(bytes).map(Body::Text);
        self.body = Some(text.unwrap_or_else(|error| Body::Bytes(error.into_bytes())));
        Ok(())
    }

    /// True if a body is text that the browser decoded. It is UTF-8, regardless of the `charset` in the media type.
    /// Other bodies are the bytes of the response, without codings.
    pub fn is_text(&self) -> bool {
        !matches!(self.body, Some(Body::Base64(_) | Body::Bytes(_)))
    }

    /// True if the archive has a body for the entry, which may be empty.
    pub fn has_body(&self) -> bool {
        !matches!(self.body, None | Some(Body::File(_)))
    }

    /// Returns the body without codings. `None` if the archive does not contain it, as for redirects and for
    /// responses that the browser cached or discarded.
    ///
    /// # Errors
    ///
    /// Returns an anomaly if the base64 is invalid.
    pub fn into_body(self) -> Result<Option<Vec<u8>>, Anomaly> {
        match self.body {
            Some(Body::Base64(text)) => STANDARD.decode(&text).map(Some).map_err(|_| {
                let message = "the base64 of this entry cannot be decoded; skipped";
                anomaly(self.number, Code::TransferUndecodable, message)
            }),
            Some(Body::Text(text)) => Ok(Some(text.into_bytes())),
            Some(Body::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Body::File(_)) | None => Ok(None),
        }
    }
}

/// The place of `part` in `json`, of which it is a slice.
fn place_in(json: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - json.as_ptr().addr();
    start..start + part.len()
}

/// The anomaly of the entry `number`.
fn anomaly(number: u64, code: Code, message: impl Into<Cow<'static, str>>) -> Anomaly {
    Anomaly {
        offset: Offset {
            file: number,
            within: 0,
        },
        code,
        message: message.into(),
    }
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
