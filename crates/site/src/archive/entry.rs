//! The entries of archives: records, other resources with their URLs and bodies, and anomalies.
//!
//! ```text
//! WARC/1.1 … WARC-Target-URI: http://a/ … HTTP/1.1 200 OK …   -->   a response, read with the retrieval URL http://a/
//! {"log": {"entries": [{"request": {"url": "http://a/"}, …   -->   a page with that retrieval URL
//! WebMainResource: {WebResourceURL: "http://a/", …           -->   a page with that retrieval URL
//! ```
//!
//! Deliberately absent: the formats of archives, each of which has a file of its own.

use std::{borrow::Cow, sync::Arc};

use baselink_rewrite::{
    Options, Retrieval, Source,
    archive::{Anomaly, Offset, Record},
    record::document,
};
use baselink_scan::{MediaType, is_read};
use baselink_text::{Charset, Code, Diagnostic, Format, Span, format::STILL_COMPRESSED};

use super::{digest::wrong_digest, record};
use crate::collection::capture::Capture;

/// The entries of an archive that a command needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Documents in a format that is read.
    Documents,
    /// All captures, for a first reading that does not report anomalies.
    Captures,
    /// All captures, for a reading of their bodies that reports anomalies.
    Bodies,
    /// All captures, as for [`Self::Bodies`], with wrong digests among the anomalies.
    ProvedBodies,
}

impl Wanted {
    /// The bodies of all captures, with their digests if the reading `is_strict`.
    pub fn bodies(is_strict: bool) -> Self {
        if is_strict {
            Self::ProvedBodies
        } else {
            Self::Bodies
        }
    }
}

/// The identity of a document in its archive.
#[derive(Debug, Default)]
pub struct RecordKey {
    /// The ID of the record.
    pub id: Option<String>,
    /// The offset of the record. In an archive other than WARC, the number of the entry.
    pub offset: Offset,
    /// The offset in the file at which the record and its gzip member end. `None` if the member has more records, and in an archive
    /// other than WARC.
    pub end: Option<u64>,
    /// The retrieval URL that the archive records.
    pub url: Option<String>,
    /// The media type without parameters.
    pub media_type: String,
}

/// The next entry of an archive.
#[derive(Debug, Default)]
pub struct Entry {
    /// The identity of the document, or only its place if all captures are wanted.
    pub key: RecordKey,
    /// The number of the entry among all entries of its file, from 0.
    pub number: u32,
    /// The anomalies of the entry.
    pub messages: Vec<(Code, Cow<'static, str>)>,
    /// The options for reading the document.
    pub options: Options,
    /// The contents; `None` if there are none, or they are not wanted.
    pub contents: Option<EntryContents>,
}

/// The contents of an entry.
#[derive(Debug)]
pub enum EntryContents {
    /// A record (ISO 28500). Its document is the decoded payload, if there is one, or else the block.
    Record(Record, Option<Vec<u8>>),
    /// A resource of an archive other than WARC.
    Resource(Box<ArchivedResource>),
    /// A document outside archives.
    Document {
        /// The document with the bytes around it, such as the envelope of a message.
        bytes: Vec<u8>,
        /// The place of the document in the bytes.
        span: Span,
        /// The offset of the bytes in the file.
        offset: usize,
        /// The number of lines before the document in the file.
        lines: usize,
    },
}

/// A resource of an archive other than WARC, with its body.
#[derive(Debug)]
pub struct ArchivedResource {
    /// The source of its URL.
    pub source: Source,
    /// The URL, and the circumstances of its retrieval.
    pub capture: Capture,
    /// The other properties of a part of a message.
    pub part: Option<MessagePart>,
    /// The bytes, without content codings.
    pub body: Vec<u8>,
    /// The media type with its parameters.
    pub media_type: Option<MediaType>,
    /// The character encoding that the archive records beside the media type.
    pub charset: Option<Charset>,
}

/// The body of a capture, without its content codings.
pub struct CapturedBody<'a> {
    /// The bytes of the resource.
    pub bytes: Cow<'a, [u8]>,
    /// The format in which a browser reads them.
    pub format: Format,
    /// The character encoding that the archive records, or else the one that the heading declares.
    pub charset: Option<Charset>,
    /// A description of the damage because of which only a part of the body could be decoded.
    pub damage: Option<Cow<'static, str>>,
    /// The options for reading the body; `None` if it is not a document.
    pub options: Option<Options>,
}

/// The properties that a part of a message has, but no other resource.
#[derive(Debug)]
pub struct MessagePart {
    /// The name of the entity: `1.2`, or `""` for the message itself.
    pub entity: Arc<str>,
    /// The subject of the message, which may be empty, if a reader opens this part first: the root of a `multipart/related` (RFC
    /// 2387, 3), or the last HTML part of a `multipart/alternative`.
    pub subject: Option<String>,
    /// Redirects to the part from its other URLs, and from those of its URLs that other parts have too, by their keys for the
    /// multipart around it.
    pub redirects: Vec<Capture>,
    /// The base of its links, unless its content declares one.
    pub base: Arc<str>,
}

/// True if documents in this format are read.
pub(super) fn is_document(format: Format, options: &Options) -> bool {
    format.has_headings() || is_read(format, &options.scan)
}

impl Entry {
    /// An entry without contents, whose `number` serves as its offset.
    pub(super) fn at(number: u64) -> Self {
        let mut entry = Self::default();
        entry.key.offset.file = number;
        entry
    }

    /// The entry with another anomaly.
    pub(super) fn noting(mut self, code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        self.messages.push((code, message.into()));
        self
    }

    /// The entry with this resource, if it is wanted.
    pub(super) fn holding(
        mut self,
        mut one: ArchivedResource,
        options: &Options,
        wanted: Wanted,
    ) -> Self {
        let url = &one.capture.url;
        let media_type = one.media_type.take();
        let media_type = media_type.map(|media_type| media_type.of_body(&one.body, Some(url)));
        let name = media_type.as_ref().map(MediaType::to_string);
        let name = name.unwrap_or_default();
        one.capture.media_type = name.as_str().into();
        let declared = media_type.as_ref().and_then(MediaType::charset);
        self.options = options.clone();
        self.options.query_charset = one.charset.and(declared);
        if wanted == Wanted::Documents {
            let Some(media_type) = media_type
                .as_ref()
                .filter(|one| is_document(one.format(), options))
            else {
                return self;
            };
            self.options.format = media_type.format();
            self.options.retrieval = Some(Retrieval::of(url.to_string(), one.source));
            let charset = one.charset.or(declared);
            self.options.scan.charset = charset.or(options.scan.charset);
            (self.key.url, self.key.media_type) = (Some(url.to_string()), name);
        }
        one.media_type = media_type;
        self.contents = Some(EntryContents::Resource(Box::new(one)));
        self
    }

    /// The entry of a document outside archives, in the place `span` of `bytes`, which have this offset in the file. The document
    /// is the whole file if `options` name no entity.
    pub(super) fn of_document(
        bytes: Vec<u8>,
        span: Span,
        (offset, lines): (usize, usize),
        options: Options,
    ) -> Self {
        Self {
            options,
            contents: Some(EntryContents::Document {
                bytes,
                span,
                offset,
                lines,
            }),
            ..Self::default()
        }
    }

    /// The entry of an anomaly.
    pub(super) fn of_anomaly(found: Anomaly) -> Self {
        let mut entry = Self::default();
        entry.key.offset = found.offset;
        entry.noting(found.code, found.message)
    }

    /// The entry of a record.
    pub(super) fn of_record(record: Record, options: &Options, wanted: Wanted) -> Self {
        let mut entry = Self::default();
        entry.key.offset = record.offset;
        let found = record.diagnostics.iter();
        entry.messages = found
            .map(|found| (found.code, found.message.clone()))
            .collect();
        let mut payload = None;
        if wanted == Wanted::Documents {
            let Some(found) = document(&record, options) else {
                return entry;
            };
            entry.key.id = record.id();
            let url = record.target_uri();
            entry.key.url = url.map(|url| String::from_utf8_lossy(&url).into_owned());
            entry.key.media_type = found.media_type;
            entry.options = found.options;
            payload = match found.bytes {
                Cow::Borrowed(whole) if whole.len() == record.block().len() => None,
                payload => Some(payload.into_owned()),
            };
        } else {
            entry.options = options.clone();
        }
        let wrong = Some(&record).filter(|_| wanted == Wanted::ProvedBodies);
        if let Some(name) = wrong.and_then(wrong_digest) {
            let message = format!("its {name} is that of other bytes");
            entry = entry.noting(Code::RecordBroken, message);
        }
        entry.contents = Some(EntryContents::Record(record, payload));
        entry
    }

    /// The number of bytes that the entry takes in memory, without small parts.
    pub fn size(&self) -> usize {
        let messages = self.messages.iter().map(|(_, text)| text.len());
        // The retrieval URL, and the URL of the capture, have the same length.
        let url = 3 * self.key.url.as_ref().map_or(0, String::len);
        let contents = match &self.contents {
            Some(EntryContents::Record(record, payload)) => {
                let payload = payload.as_ref().map_or(0, Vec::len);
                record.heading().len() + record.block().len() + payload
            }
            Some(EntryContents::Resource(one)) => one.capture.url.len() + one.body.len(),
            Some(EntryContents::Document { bytes, .. }) => bytes.len(),
            None => 0,
        };
        messages.sum::<usize>() + url + contents
    }

    /// True for an entry of an archive.
    pub fn is_archived(&self) -> bool {
        !matches!(self.contents, Some(EntryContents::Document { .. }))
    }

    /// True for a document that is a file of its own.
    pub fn is_whole_file(&self) -> bool {
        !self.is_archived() && self.options.scan.entity.is_empty()
    }

    /// The resource, if the archive is not WARC.
    pub fn resource(&self) -> Option<&ArchivedResource> {
        match &self.contents {
            Some(EntryContents::Resource(one)) => Some(one),
            _ => None,
        }
    }

    /// The part of a message.
    pub fn part(&self) -> Option<&MessagePart> {
        self.resource()?.part.as_ref()
    }

    /// The captures: first the resource itself, then redirects to it from its other URLs.
    pub fn captures(&self) -> Vec<Capture> {
        if let Some(EntryContents::Record(record, _)) = &self.contents {
            return record::capture(record).into_iter().collect();
        }
        let own = self.resource().map(|one| &one.capture).into_iter();
        let redirects = self.part().map_or(&[][..], |part| &part.redirects);
        own.chain(redirects).cloned().collect()
    }

    /// The body of the capture of `url`, without content codings, and the options for reading it.
    ///
    /// From disk, browsers determine the format without the media type. So the body of a copy that opens from disk as `on_disk`
    /// is read in the format of this name or of its first bytes, if they are those of a document.
    ///
    /// # Errors
    ///
    /// Returns a sentence about a body that cannot be decoded, or about a page, style sheet or script that is still compressed.
    pub fn body(&self, url: &str, on_disk: &[u8]) -> Result<CapturedBody<'_>, &'static str> {
        let resource = self.resource();
        let (decoded, media_type) = match &self.contents {
            Some(EntryContents::Record(record, _)) => record::body(record)?,
            _ => {
                let media_type = resource.and_then(|one| one.media_type.clone());
                (record::undecoded(self.bytes())?, media_type)
            }
        };
        let format = match &media_type {
            Some(media_type) => media_type.format(),
            None => Format::detect(None, &decoded.bytes),
        };
        if decoded.is_compressed() && format.is_of_page() {
            return Err(STILL_COMPRESSED);
        }
        let is_damage = |one: &Diagnostic| one.code == Code::TransferUndecodable;
        let damage = decoded.remarks.into_iter().find(is_damage);
        let scan = &self.options.scan;
        let by_name = Format::detect(Some(&String::from_utf8_lossy(on_disk)), &decoded.bytes);
        let is_opened = !by_name.has_headings() && is_read(by_name, scan);
        let format = if is_opened { by_name } else { format };
        let declared = media_type.as_ref().and_then(MediaType::charset);
        let charset = resource.and_then(|one| one.charset).or(declared);
        // The links are relative to the base that is recorded for the capture, or else to its own URL.
        let base = self.part().map_or(url, |part| &part.base);
        let source = resource.map_or(Source::Warc, |one| one.source);
        let options = is_read(format, scan).then(|| {
            let mut options = Options {
                format,
                retrieval: Some(Retrieval::of(base.to_owned(), source)),
                ..self.options.clone()
            };
            options.scan.charset = charset.or(scan.charset);
            options
        });
        Ok(CapturedBody {
            bytes: decoded.bytes,
            format,
            charset,
            damage: damage.map(|one| one.message),
            options,
        })
    }

    /// True if the media type is that of a document.
    pub fn has_document(&self) -> bool {
        is_document(Format::of_media_type(&self.key.media_type), &self.options)
    }

    /// The bytes of the document, or of the capture.
    pub fn bytes(&self) -> &[u8] {
        match &self.contents {
            Some(EntryContents::Record(record, None)) => record.block(),
            Some(EntryContents::Record(_, Some(bytes))) => bytes,
            Some(EntryContents::Resource(one)) => &one.body,
            Some(EntryContents::Document { bytes, span, .. }) => &bytes[span.range()],
            None => &[],
        }
    }
}
