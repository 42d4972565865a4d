//! The items of an archive: documents, captures and anomalies.
//!
//! ```text
//! WARC/1.1 … WARC-Target-URI: http://a/ … HTTP/1.1 200 OK …   -->   a response, read with the retrieval URL http://a/
//! {"log": {"entries": [{"request": {"url": "http://a/"}, …   -->   a page with that retrieval URL
//! WebMainResource: {WebResourceURL: "http://a/", …           -->   a page with that retrieval URL
//! ```
//!
//! Deliberately absent: the work on a document ([`super::source`]).

use std::{borrow::Cow, iter};

use baselink_rewrite::{
    Options, Retrieval, Source,
    archive::{Anomaly, ArchiveEntry, Offset, Record},
    container::http,
    record::document,
};
use baselink_scan::{MediaType, is_read};
use baselink_text::{Charset, Code};

use super::document_name::RecordKey;
use baselink_site::{
    archive::{HarEntry, WebResource},
    collection::{
        capture::Capture,
        message::PartResource,
        record::{self, CapturedBody},
    },
};

/// The items of an archive that a command needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Documents in a format that is read.
    Documents,
    /// All captures, for a first reading that does not report anomalies.
    Captures,
    /// All captures, for a reading of their bodies that reports anomalies.
    Bodies,
}

/// A document of an archive, or a capture.
pub struct Archived {
    pub key: RecordKey,
    /// The number of the item in its archive, from 0.
    pub number: u32,
    content: DocumentBytes,
    /// The options for reading it.
    pub options: Options,
}

/// The bytes of a document or capture.
enum DocumentBytes {
    /// A record. Its document is the decoded payload, if there is one, or else the block.
    Record(Record, Option<Vec<u8>>),
    /// The body of a capture that is not a record.
    Capture(Box<CapturedBytes>),
}

/// A capture that is not a record, with its body.
struct CapturedBytes {
    /// The source of its URL.
    source: Source,
    capture: Capture,
    /// Other URLs of the resource.
    other_urls: Vec<String>,
    /// Its keys for other parts of a message.
    scoped: Vec<String>,
    /// The base of its links; `None` for its own URL.
    base: Option<String>,
    body: Vec<u8>,
    media_type: Option<MediaType>,
    /// The character encoding that the archive records beside the media type.
    charset: Option<Charset>,
}

/// Anomalies of an archive, with their places.
pub type AnomalyMessages = Vec<(Offset, Code, Cow<'static, str>)>;

/// The next item of an archive.
#[derive(Default)]
pub struct Item {
    /// True if no record can be read at this point.
    pub is_anomaly: bool,
    pub messages: AnomalyMessages,
    pub document: Option<Archived>,
}

impl Item {
    /// The item of an entry of a WARC file.
    pub fn of(entry: ArchiveEntry, options: &Options, wanted: Wanted) -> Self {
        let record = match entry {
            ArchiveEntry::Record(record) => record,
            ArchiveEntry::Anomaly(found) => {
                return Self {
                    is_anomaly: true,
                    messages: vec![(found.offset, found.code, found.message)],
                    ..Self::default()
                };
            }
        };
        let offset = record.offset;
        let messages = record
            .diagnostics
            .iter()
            .map(|found| (offset, found.code, found.message.clone()))
            .collect();
        let (key, options, payload) = if wanted == Wanted::Documents {
            let Some(found) = document(&record, options) else {
                return Self {
                    messages,
                    ..Self::default()
                };
            };
            let url = record
                .target_uri()
                .map(|uri| String::from_utf8_lossy(&uri).into_owned());
            let payload = match found.bytes {
                Cow::Borrowed(whole) if whole.len() == record.block().len() => None,
                payload => Some(payload.into_owned()),
            };
            (
                RecordKey {
                    id: record.id(),
                    offset,
                    url,
                    media_type: found.media_type,
                },
                found.options,
                payload,
            )
        } else {
            (
                RecordKey {
                    offset,
                    ..RecordKey::default()
                },
                options.clone(),
                None,
            )
        };
        Self {
            messages,
            document: Some(Archived {
                key,
                number: 0,
                content: DocumentBytes::Record(record, payload),
                options,
            }),
            ..Self::default()
        }
    }

    /// The item of an entry of an HTTP archive. The number of the entry serves as its offset.
    pub fn of_har(entry: Result<HarEntry, Anomaly>, options: &Options, wanted: Wanted) -> Self {
        let is_wanted = |entry: &HarEntry| {
            let media_type = entry.media_type.as_deref().unwrap_or_default();
            let is_document = MediaType::read(media_type.as_bytes())
                .is_some_and(|one| is_document(&one, options));
            wanted != Wanted::Documents || is_document && entry.has_body()
        };
        match entry.map(|entry| is_wanted(&entry).then(|| captured_entry(entry))) {
            Ok(None) => Self::default(),
            Ok(Some(Ok((number, captured)))) => {
                Self::of_captured(number, captured, options, wanted)
            }
            Ok(Some(Err(anomaly))) | Err(anomaly) => Self::of_anomaly(anomaly),
        }
    }

    /// The item of a resource of a web archive of Safari. The number of the resource serves as its offset.
    pub fn of_resource(
        found: WebResource,
        key: Option<String>,
        options: &Options,
        wanted: Wanted,
    ) -> Self {
        let capture = Capture {
            key: key.map(Into::into),
            ..Capture::of(&found.url)
        };
        let captured = CapturedBytes::new(
            Source::WebArchive,
            capture,
            found.body,
            MediaType::read(found.media_type.as_bytes()),
            found.charset.as_deref(),
        );
        Self::of_captured(found.number, captured, options, wanted)
    }

    /// The item of a capture that is not a record.
    fn of_captured(
        number: u64,
        captured: CapturedBytes,
        options: &Options,
        wanted: Wanted,
    ) -> Self {
        let mut key = RecordKey {
            offset: Offset {
                file: number,
                within: 0,
            },
            ..RecordKey::default()
        };
        let mut options = options.clone();
        let media_type = captured.media_type.as_ref();
        let declared = media_type
            .and_then(|one| one.parameter("charset"))
            .and_then(Charset::for_label);
        options.query_charset = captured.charset.and(declared);
        if wanted == Wanted::Documents {
            let Some(media_type) = media_type.filter(|one| is_document(one, &options)) else {
                return Self::default();
            };
            let url = captured.capture.url.to_string();
            options.format = media_type.format();
            options.retrieval = Some(Retrieval::of(url.clone(), captured.source));
            let charset = captured.charset.or(declared);
            options.scan.charset = charset.or(options.scan.charset);
            (key.url, key.media_type) = (Some(url), media_type.to_string());
        }
        Self {
            document: Some(Archived {
                key,
                number: 0,
                content: DocumentBytes::Capture(Box::new(captured)),
                options,
            }),
            ..Self::default()
        }
    }

    /// The item of a part of a message. `number` serves as its offset.
    pub fn of_part(part: PartResource<'_>, number: u64, options: &Options) -> Self {
        let offset = Offset {
            file: number,
            within: 0,
        };
        let Some((url, others)) = part.urls.split_first() else {
            return Self::default();
        };
        let media_type = Some(part.media_type);
        match part.body {
            Ok(body) => {
                let capture = Capture {
                    key: part.key.map(Into::into),
                    entity: part.has_scopes.then_some(part.entity),
                    date: part.date,
                    is_cut: part.is_cut,
                    ..Capture::of(url)
                };
                let body = body.into_owned();
                let source = part.source.unwrap_or(Source::Default);
                let captured = CapturedBytes::new(source, capture, body, media_type, None);
                Self::of_captured(
                    number,
                    CapturedBytes {
                        other_urls: others.to_vec(),
                        scoped: part.scoped,
                        base: Some(part.base.to_string()),
                        ..captured
                    },
                    options,
                    Wanted::Captures,
                )
            }
            Err(_) => {
                let why = "the transfer encoding of this part cannot be decoded; skipped";
                Self {
                    messages: vec![(offset, Code::TransferUndecodable, why.into())],
                    ..Self::default()
                }
            }
        }
    }

    /// The number of bytes that the item takes in memory, without small parts.
    pub fn size(&self) -> usize {
        let messages = self.messages.iter().map(|(.., text)| text.len());
        let document = self.document.as_ref().map_or(0, Archived::size);
        messages.sum::<usize>() + document
    }

    /// The item of an anomaly in an archive other than WARC.
    pub fn of_anomaly(found: Anomaly) -> Self {
        Self {
            messages: vec![(found.offset, found.code, found.message)],
            ..Self::default()
        }
    }
}

impl CapturedBytes {
    fn new(
        source: Source,
        mut capture: Capture,
        body: Vec<u8>,
        media_type: Option<MediaType>,
        label: Option<&str>,
    ) -> Self {
        let media_type = media_type.map(|one| one.of_body(&body, Some(&capture.url)));
        let charset = label.and_then(Charset::for_label);
        let name = media_type.as_ref().map(MediaType::to_string);
        capture.media_type = name.unwrap_or_default().into();
        Self {
            source,
            capture,
            other_urls: Vec::new(),
            scoped: Vec::new(),
            base: None,
            body,
            media_type,
            charset,
        }
    }
}

/// The capture of an entry of an HTTP archive, and its number.
fn captured_entry(entry: HarEntry) -> Result<(u64, CapturedBytes), Anomaly> {
    let (number, is_text) = (entry.number, entry.is_text());
    let media_type = entry
        .media_type
        .as_deref()
        .and_then(|one| MediaType::read(one.as_bytes()));
    let mut capture = Capture::of(&entry.url);
    let status = entry.status.unwrap_or(0);
    let is_whole = entry
        .content_range
        .as_deref()
        .and_then(http::content_range)
        .is_some_and(|(first, end, length)| end - first == length);
    // With the status 304, the browser took the body from its cache, and Firefox wrote 0 for pushed responses.
    capture.status = match (status, entry.has_body()) {
        _ if !record::is_retrievable(&entry.url) => 0,
        (0 | 304, true) => 200,
        (206, true) if is_whole => 200,
        // A success without a body is treated as a response without content.
        (200..=299, false) => 204,
        (status, _) => status,
    };
    capture.is_other_method = entry.method != "GET";
    capture.date = entry.started.as_deref().and_then(|date| date.parse().ok());
    capture.location = entry.redirect_url.as_deref().map(Into::into);
    let label = is_text.then_some("utf-8");
    let body = entry.into_body()?.unwrap_or_default();
    capture.is_short = body.is_empty();
    Ok((
        number,
        CapturedBytes::new(Source::Har, capture, body, media_type, label),
    ))
}

/// True if documents of this media type are read.
fn is_document(media_type: &MediaType, options: &Options) -> bool {
    let format = media_type.format();
    format.has_headings() || is_read(format, &options.scan)
}

impl Archived {
    fn size(&self) -> usize {
        // The retrieval URL, and the URL of the capture, have the same length.
        let url = 3 * self.key.url.as_ref().map_or(0, String::len);
        url + match &self.content {
            DocumentBytes::Record(record, payload) => {
                let payload = payload.as_ref().map_or(0, Vec::len);
                record.heading().len() + record.block().len() + payload
            }
            DocumentBytes::Capture(captured) => captured.capture.url.len() + captured.body.len(),
        }
    }

    /// The captures: first the resource itself, then redirects to it from its other URLs.
    pub fn captures(&self) -> Vec<Capture> {
        match &self.content {
            DocumentBytes::Record(record, _) => record::capture(record).into_iter().collect(),
            DocumentBytes::Capture(captured) => {
                let own = &captured.capture;
                let redirect = |url: &str| Capture {
                    status: 301,
                    location: own.key.clone().or_else(|| Some(own.url.clone())),
                    ..Capture::of(url)
                };
                let others = captured.other_urls.iter().map(|url| redirect(url));
                let scoped = captured.scoped.iter().map(|key| Capture {
                    key: Some((&**key).into()),
                    ..redirect(&own.url)
                });
                iter::once(own.clone())
                    .chain(others)
                    .chain(scoped)
                    .collect()
            }
        }
    }

    /// The body of the capture, without content codings; `Err` with a reason if these cannot be decoded.
    pub fn body(&self) -> Result<CapturedBody<'_>, &'static str> {
        match &self.content {
            DocumentBytes::Record(record, _) => record::body(record),
            DocumentBytes::Capture(captured) => {
                let CapturedBytes {
                    body,
                    media_type,
                    charset,
                    ..
                } = &**captured;
                let found = CapturedBody::of(Cow::Borrowed(body), media_type.as_ref())?;
                Ok(CapturedBody {
                    charset: charset.or(found.charset),
                    ..found
                })
            }
        }
    }

    /// The URL against which the links of a capture are resolved: the base recorded for the capture, or else its own
    /// `url`.
    pub fn retrieval(&self, url: &str) -> Retrieval {
        let (source, base) = match &self.content {
            DocumentBytes::Capture(captured) => (captured.source, captured.base.as_deref()),
            DocumentBytes::Record(..) => (Source::Warc, None),
        };
        Retrieval::of(base.unwrap_or(url).to_owned(), source)
    }

    /// True for a part of a message.
    pub fn is_part(&self) -> bool {
        matches!(&self.content, DocumentBytes::Capture(captured) if captured.base.is_some())
    }

    /// The bytes of the document, or of the capture.
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            DocumentBytes::Record(record, None) => record.block(),
            DocumentBytes::Record(_, Some(bytes)) => bytes,
            DocumentBytes::Capture(captured) => &captured.body,
        }
    }
}
