//! HTTP archives of browsers: the bodies of responses in JSON (HAR 1.2, `log.entries`).
//!
//! ```text
//! {"request": {"url": "http://a/b"}, "response": {"content": {"mimeType": "text/css", "text": "…"}}}
//!   -->  a style sheet that was retrieved from http://a/b
//! ```
//!
//! Places are those of the text of an entry, decoded where it is in base64; the offset is the number of the entry.
//!
//! Deliberately absent: header fields of responses, of which a base could come, and entries without a body.

use std::io::Read;
use std::vec::IntoIter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use baselink::Options;
use baselink::archive::Offset;
use baselink::base::{Retrieval, Source};
use baselink::diagnostic::Code;
use baselink::error::{Error, ErrorKind, Result};
use baselink::layer::charset::Charset;
use baselink::scan::fields::MediaType;
use baselink::scan::is_read;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::archived::{Archived, Item};
use super::document_name::RecordKey;

/// The entries of an HTTP archive.
pub(crate) struct Har {
    entries: IntoIter<Box<RawValue>>,
    number: u64,
}

#[derive(Deserialize)]
struct HarFile {
    log: HarLog,
}

#[derive(Deserialize)]
struct HarLog {
    entries: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct HarEntry {
    request: HarRequest,
    response: Option<HarResponse>,
}

#[derive(Deserialize)]
struct HarRequest {
    url: String,
}

#[derive(Deserialize)]
struct HarResponse {
    content: Option<HarContent>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarContent {
    mime_type: Option<String>,
    text: Option<String>,
    encoding: Option<String>,
}

impl Har {
    /// Reads all of it.
    ///
    /// # Errors
    ///
    /// The bytes are not an HTTP archive.
    pub(crate) fn read(mut reader: impl Read) -> Result<Self> {
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes);
        read.map_err(|error| Error::new(baselink::error::cause(&error)))?;
        // A string that is not valid text must not cost the entry.
        mend_surrogates(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        // Some programs begin the file with a byte order mark.
        let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let file: HarFile = serde_json::from_str(json).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let why = match error.is_data() {
                true => format!(
                    "it has no log.entries as HAR 1.2 has them: line {line}, column {column}"
                ),
                false => format!("no JSON: {error}"),
            };
            Error::of(ErrorKind::Syntax, format!("no HTTP archive: {why}"))
        })?;
        Ok(Self { entries: file.log.entries.into_iter(), number: 0 })
    }

    /// The next entry, whose document is read as `options` say.
    pub(crate) fn next_item(&mut self, options: &Options) -> Option<Item> {
        let entry = self.entries.next()?;
        let offset = Offset { file: self.number, within: 0 };
        self.number += 1;
        let HarEntry { request, response } = match serde_json::from_str(entry.get()) {
            Ok(entry) => entry,
            Err(error) => {
                let message = format!("no entry as HAR 1.2 has them: {error}");
                let said = vec![(offset, Code::RecordBroken, message.into())];
                return Some(Item { said, ..Item::default() });
            }
        };
        let content = response.and_then(|response| response.content).unwrap_or_default();
        let HarContent { mime_type, text, encoding } = content;
        let (Some(text), Some(content_type)) = (text, mime_type) else {
            return Some(Item::default());
        };
        let media_type = MediaType::read(content_type.as_bytes());
        let known = media_type.filter(|media_type| {
            let format = media_type.format();
            format.has_headings() || is_read(format, &options.scan)
        });
        let Some(media_type) = known else { return Some(Item::default()) };
        let format = media_type.format();
        let is_base64 = encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64"));
        let bytes = match is_base64.then(|| STANDARD.decode(&text)) {
            None => text.into_bytes(),
            Some(Ok(bytes)) => bytes,
            Some(Err(_)) => {
                let message = "the base64 of this entry cannot be decoded; it was left";
                let said = vec![(offset, Code::TransferUndecodable, message.into())];
                return Some(Item { said, ..Item::default() });
            }
        };
        // Text was decoded by the browser, and is UTF-8 here, whatever its heading said.
        let label = match is_base64 {
            true => media_type.parameter("charset"),
            false => Some("utf-8"),
        };
        let mut options = Options { format, ..options.clone() };
        options.retrieval = Some(Retrieval::of(request.url.clone(), Source::Har));
        options.scan.charset = label.and_then(Charset::for_label).or(options.scan.charset);
        let (id, media_type) = (None, media_type.to_string());
        let key = RecordKey { id, offset, url: Some(request.url), media_type };
        let document = Some(Archived::new(key, bytes, options));
        Some(Item { document, ..Item::default() })
    }
}

/// Makes of every escape of half a surrogate pair in `json` one of U+FFFD, which is as long: a string of JavaScript may
/// hold such halves, and browsers write them so (ECMA-262, 25.5.2.3), but no text of Unicode may (RFC 8259, 8.2).
fn mend_surrogates(json: &mut [u8]) {
    let unit = |json: &[u8]| match json {
        [b'\\', b'u', digits @ ..] => {
            let digits = str::from_utf8(digits.get(..4)?).ok()?;
            u16::from_str_radix(digits, 16).ok()
        }
        _ => None,
    };
    let mut at = 0;
    // A reverse solidus is in strings only, and begins an escape.
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
