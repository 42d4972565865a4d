//! A record of an archive (ISO 28500, 4): a version line, named fields, and a block.
//!
//! ```
//! use baselink_rewrite::archive::{ArchiveEntry, RecordContent, RecordType, Records};
//! let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: <http://a/b c>\r\n\
//!     Content-Type: text/css\r\nContent-Length: 3\r\n\r\n*{}\r\n\r\n";
//! let Some(Ok(ArchiveEntry::Record(record))) = Records::new(&archive[..]).next() else { panic!() };
//! assert_eq!((record.record_type, record.version()), (RecordType::Resource, "1.1"));
//! assert_eq!(record.target_uri().as_deref(), Some(&b"http://a/b c"[..]));
//! assert_eq!(record.block(), b"*{}");
//! let RecordContent::Entity(media_type) = record.document() else { panic!() };
//! assert_eq!(media_type.to_string(), "text/css");
//! ```
//!
//! Deliberately absent: HTTP. This module knows whether a block is a whole HTTP message, but not its contents.

use std::{borrow::Cow, fmt};

use baselink_scan::{
    Heading, MediaType,
    fields::{decimal, heading::text_of},
};
use baselink_text::{Code, Diagnostic, Span, format::starts_with, named};

/// The position of an entry in an archive.
///
/// ```
/// # use baselink_rewrite as baselink;
/// use baselink::archive::{ArchiveEntry, Records};
/// let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b\r\n\
///     Content-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n";
/// let Some(Ok(ArchiveEntry::Record(record))) = Records::new(&archive[..]).next() else { panic!() };
/// assert_eq!((record.offset.file, record.offset.to_string()), (0, "0".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset {
    /// The offset in the file: of the first byte, or of the gzip member that contains it.
    pub file: u64,
    /// The number of uncompressed bytes of the member before the entry. It is 0 if the entry has its own member, as
    /// the standard requires, or if the archive is uncompressed.
    pub within: u64,
}

/// Formats as `524`, or as `0+524` for an entry that is not at the start of its member.
impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            0 => write!(f, "{}", self.file),
            within => write!(f, "{}+{within}", self.file),
        }
    }
}

named! {
    /// The purpose of a record (ISO 28500, 6).
    ///
    /// ```
    /// # use baselink_rewrite as baselink;
    /// use baselink::archive::{ArchiveEntry, Records};
    /// let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b\r\n\
    ///     Content-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n";
    /// let Some(Ok(ArchiveEntry::Record(record))) = Records::new(&archive[..]).next() else { panic!() };
    /// assert_eq!(record.record_type, baselink::archive::RecordType::Resource);
    /// ```
    pub enum RecordType {
        /// Information about the records that follow.
        Warcinfo = "warcinfo",
        /// The response of a server.
        Response = "response",
        /// A resource without protocol information.
        Resource = "resource",
        /// The request to a server.
        Request = "request",
        /// Information about another record.
        Metadata = "metadata",
        /// A response whose body was already recorded.
        Revisit = "revisit",
        /// A converted form of another record.
        Conversion = "conversion",
        /// A further segment of another record.
        Continuation = "continuation",
        /// A type unknown to the standard, or none.
        Other = "other",
    }
}

/// The versions of the format with named fields, of which 0.17 and 0.18 are drafts that Heritrix 1 wrote.
const VERSIONS: [&str; 4] = ["0.17", "0.18", "1.0", "1.1"];

/// The content of a record.
///
/// ```
/// # use baselink_rewrite as baselink;
/// use baselink::archive::{ArchiveEntry, RecordContent, Records};
/// let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b\r\n\
///     Content-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n";
/// let Some(Ok(ArchiveEntry::Record(record))) = Records::new(&archive[..]).next() else { panic!() };
/// assert!(matches!(record.document(), RecordContent::Entity(_)));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub enum RecordContent {
    /// An HTTP response with heading and body.
    Http,
    /// A document.
    Entity(MediaType),
    /// No document, or only a segment of one.
    None,
}

/// A record of an archive.
///
/// ```
/// # use baselink_rewrite as baselink;
/// use baselink::archive::{ArchiveEntry, RecordType, Records};
/// let archive = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b\r\n\
///     Content-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n";
/// let Some(Ok(ArchiveEntry::Record(record))) = Records::new(&archive[..]).next() else { panic!() };
/// assert_eq!((record.record_type, record.block()), (RecordType::Resource, &b"<p>"[..]));
/// assert_eq!(record.target_uri().as_deref(), Some(&b"http://a/b"[..]));
/// ```
#[derive(Debug, Clone)]
pub struct Record {
    /// The position of the record.
    pub offset: Offset,
    /// The purpose of the record.
    pub record_type: RecordType,
    /// The anomalies. Their spans count from the first byte of the heading.
    pub diagnostics: Vec<Diagnostic>,
    fields: Heading,
    /// The heading, the block, and possibly further bytes.
    bytes: Vec<u8>,
    block: Span,
}

impl Record {
    /// The version of the standard in the first line: `1.1`.
    pub fn version(&self) -> &str {
        version(&self.bytes[..self.fields.span.start])
    }

    /// The version line and the named fields, including the empty line after them.
    pub fn heading(&self) -> &[u8] {
        &self.bytes[..self.block.start]
    }

    /// The block, which follows the heading.
    pub fn block(&self) -> &[u8] {
        &self.bytes[self.block.range()]
    }

    /// The unfolded value of the first field called `name`, ignoring case.
    pub fn field(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let field = self.fields.first(&self.bytes, name)?;
        let value = &self.bytes[field.value.range()];
        if memchr::memchr2(b'\r', b'\n', value).is_none() {
            return Some(Cow::Borrowed(value));
        }
        let lines = value.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        Some(Cow::Owned(lines.collect::<Vec<_>>().join(&b' ')))
    }

    /// The value of a field as text: UTF-8, or else ISO-8859-1.
    pub fn text(&self, name: &str) -> Option<String> {
        self.field(name).map(|value| text(&value))
    }

    /// The record id, `WARC-Record-ID`, without angle brackets.
    pub fn id(&self) -> Option<String> {
        self.without_brackets("WARC-Record-ID").map(|id| text(&id))
    }

    /// The ids of the record and of the records about the same request, `WARC-Concurrent-To` (ISO 28500, 5.7).
    pub fn exchange(&self) -> Vec<String> {
        let others = self
            .fields
            .all(&self.bytes, "WARC-Concurrent-To")
            .map(|field| text(in_brackets(&self.bytes[field.value.range()])));
        self.id().into_iter().chain(others).collect()
    }

    /// The retrieval URL, `WARC-Target-URI`, byte for byte except for angle brackets. ISO 28500:2009 requires the
    /// brackets, and wget writes them.
    pub fn target_uri(&self) -> Option<Cow<'_, [u8]>> {
        self.without_brackets("WARC-Target-URI")
    }

    /// The value of a field without surrounding angle brackets.
    fn without_brackets(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        Some(match self.field(name)? {
            Cow::Borrowed(value) => Cow::Borrowed(in_brackets(value)),
            Cow::Owned(value) => Cow::Owned(in_brackets(&value).to_vec()),
        })
    }

    /// The date of the retrieval, `WARC-Date`.
    pub fn date(&self) -> Option<String> {
        self.text("WARC-Date")
    }

    /// The media type in the field `name`.
    fn media_type(&self, name: &str) -> Option<MediaType> {
        MediaType::read(&self.field(name)?)
    }

    /// The id of the record to which this one refers, `WARC-Refers-To`.
    pub fn refers_to(&self) -> Option<String> {
        self.without_brackets("WARC-Refers-To").map(|id| text(&id))
    }

    /// The kind of document in the record.
    pub fn document(&self) -> RecordContent {
        let segment = self.fields.first(&self.bytes, "WARC-Segment-Number");
        // A segment of a document (ISO 28500, 7).
        if segment.is_some() {
            return RecordContent::None;
        }
        let media_type = self.media_type("Content-Type");
        let is_http = media_type
            .as_ref()
            .is_some_and(|found| found.essence == "application/http");
        match self.record_type {
            RecordType::Response if is_http => RecordContent::Http,
            RecordType::Response if media_type.is_none() && self.block().starts_with(b"HTTP/") => {
                RecordContent::Http
            }
            RecordType::Response | RecordType::Resource | RecordType::Conversion => media_type
                .or_else(|| self.media_type("WARC-Identified-Payload-Type"))
                .map_or(RecordContent::None, RecordContent::Entity),
            _ => RecordContent::None,
        }
    }
}

/// The heading at the start of a buffer, before its block is known.
pub struct RecordHeading {
    pub fields: Heading,
    pub diagnostics: Vec<Diagnostic>,
    /// The length of the heading.
    pub length: usize,
    /// The version, if it is unknown to the standard.
    pub version: Option<String>,
}

impl RecordHeading {
    /// Parses the heading `bytes[..length]`, which includes the empty line after it.
    pub fn read(bytes: &[u8], length: usize) -> Self {
        let bytes = &bytes[..length];
        let line = memchr::memchr(b'\n', bytes).map_or(length, |at| at + 1);
        let (fields, _) = Heading::read_whole(bytes, line);
        let mut diagnostics = Vec::new();
        let version = version(&bytes[..line]);
        let version = (!VERSIONS.contains(&version)).then(|| version.to_owned());
        if let Some((span, lines)) = fields.not_fields {
            let message = match lines {
                1 => "a line in the heading is not a named field".to_owned(),
                lines => format!("{lines} lines in the heading are not named fields"),
            };
            diagnostics.push(Diagnostic::new(Code::FieldMalformed, span, message));
        }
        for name in [
            "WARC-Type",
            "WARC-Record-ID",
            "WARC-Target-URI",
            "Content-Length",
        ] {
            if let Some(second) = fields.all(bytes, name).nth(1) {
                diagnostics.push(Diagnostic::repeated(name, second.span));
            }
        }
        if let Some(field) = fields.first(bytes, "WARC-Segment-Number") {
            let message = "a segment of a record: segments are not joined";
            diagnostics.push(Diagnostic::new(Code::RecordSegment, field.span, message));
        }
        Self {
            fields,
            diagnostics,
            length,
            version,
        }
    }

    /// The length of the block according to `Content-Length`.
    pub fn content_length(&self, bytes: &[u8]) -> Option<u64> {
        decimal(&bytes[self.fields.first(bytes, "Content-Length")?.value.range()])
    }

    /// Reports an anomaly of the block.
    pub fn report(&mut self, code: Code, block: Span, message: impl Into<Cow<'static, str>>) {
        self.diagnostics.push(Diagnostic::new(code, block, message));
    }

    /// The record with `block`, a span of `bytes`.
    pub fn record(self, offset: Offset, bytes: Vec<u8>, block: Span) -> Record {
        let Self {
            fields,
            diagnostics,
            ..
        } = self;
        let named = fields
            .first(&bytes, "WARC-Type")
            .map(|field| &bytes[field.value.range()]);
        let mut types = RecordType::ALL.into_iter();
        let is_named = |known: &RecordType| {
            named.is_some_and(|named| named.eq_ignore_ascii_case(known.name().as_bytes()))
        };
        let record_type = types.find(is_named).unwrap_or(RecordType::Other);
        Record {
            offset,
            record_type,
            diagnostics,
            fields,
            bytes,
            block,
        }
    }
}

/// The text after `WARC/` in a version line.
fn version(line: &[u8]) -> &str {
    let version = line.trim_ascii().get(b"WARC/".len()..).unwrap_or_default();
    std::str::from_utf8(version).unwrap_or("?")
}

/// The value without surrounding angle brackets.
fn in_brackets(value: &[u8]) -> &[u8] {
    value
        .strip_prefix(b"<")
        .and_then(|value| value.strip_suffix(b">"))
        .unwrap_or(value)
}

fn text(value: &[u8]) -> String {
    text_of(value).into_owned()
}

/// The number of bytes that [`begins_record`] needs.
pub const BEGINNING: usize = b"WARC/1".len();

/// True if `bytes` begin like a record.
pub fn begins_record(bytes: &[u8]) -> bool {
    bytes.starts_with(b"WARC/") && bytes.get(b"WARC/".len()).is_some_and(u8::is_ascii_digit)
}

/// The number of bytes that [`record_start`] needs after the start of a record.
pub const STARTS: usize = 32;

/// The index in `bytes` at which a record begins after other bytes. An empty line precedes the version line, and a
/// `WARC-` or `Content-` field follows it.
pub fn record_start(bytes: &[u8]) -> Option<usize> {
    let is_start = |&at: &usize| {
        // Some programs write CR CR LF.
        let before = bytes[..at].iter().rfind(|&&byte| byte != b'\r');
        let line = &bytes[at + 1..];
        let line_end = memchr::memchr(b'\n', &line[..line.len().min(STARTS / 2)]);
        before == Some(&b'\n')
            && begins_record(line)
            && line_end.is_some_and(|end| {
                let next = &line[end + 1..];
                ["WARC-", "Content-"]
                    .iter()
                    .any(|name| starts_with(next, name))
            })
    };
    memchr::memmem::find_iter(bytes, b"\nWARC/")
        .find(is_start)
        .map(|at| at + 1)
}

/// The block without the two line ends that end a record.
pub fn without_end(mut block: &[u8]) -> &[u8] {
    let strip_line_end = |bytes: &mut &[u8]| {
        if let Some(rest) = bytes.strip_suffix(b"\n") {
            *bytes = rest.strip_suffix(b"\r").unwrap_or(rest);
        }
    };
    strip_line_end(&mut block);
    strip_line_end(&mut block);
    block
}
