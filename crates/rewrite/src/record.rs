//! The document in a record of a web archive (ISO 28500), and the options to read it with.
//!
//! "WARC-Target-URI: the original URI whose capture gave rise to the information content in this record" is the URL from
//! which the document was retrieved (RFC 1808, 3.3).
//!
//! ```
//! use baselink_rewrite::archive::{ArchiveEntry, Records};
//! use baselink_rewrite::{Options, rewrite, record::document};
//! let archive = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/b/c.css\r\n\
//!     Content-Type: text/css\r\nContent-Length: 11\r\n\r\n@import 'x'\r\n\r\n";
//! let Some(Ok(ArchiveEntry::Record(record))) = Records::new(&archive[..]).next() else { panic!() };
//! let found = document(&record, &Options::default()).unwrap();
//! assert_eq!(rewrite(&found.bytes, &found.options).output(), b"@import 'http://a/b/x'");
//! ```
//!
//! Deliberately absent: records without a document, such as requests, metadata and revisits.

use std::{borrow::Cow, sync::Arc};

use baselink_scan::{self as scan, MediaType, attributes::Group};
use baselink_text::{
    Charset, Format,
    format::{STILL_COMPRESSED, is_compressed},
    layer::escape::percent_encode,
};
use baselink_url::Base;

use super::options::Options;
use crate::{
    archive::{Record, RecordContent},
    base::{Retrieval, Source},
    container::http,
};

/// The document of a record.
#[derive(Debug)]
pub struct RecordDocument<'r> {
    /// The block of the record, or its payload if the block is an HTTP response with a message.
    pub bytes: Cow<'r, [u8]>,
    /// The options to read it with: its format, its retrieval URL, and its encoding if the record declares one.
    pub options: Options,
    /// Its media type, without parameters.
    pub media_type: String,
}

/// The document of `record`, read with `options` as adjusted by the record; `None` if it has no document of a
/// known format.
pub fn document<'r>(record: &'r Record, options: &Options) -> Option<RecordDocument<'r>> {
    let (block, url) = (record.block(), url_of(record));
    let (bytes, format, media_type) = match record.document() {
        RecordContent::None => return None,
        RecordContent::Entity(media_type) => {
            let media_type = media_type.of_body(block, url.as_deref());
            (Cow::Borrowed(block), media_type.format(), media_type)
        }
        RecordContent::Http => response(block, url.as_deref(), options),
    };
    let is_read = format.has_headings() || scan::is_read(format, &options.scan);
    let label = media_type
        .parameter("charset")
        .filter(|_| !format.has_headings());
    let mut options = Options {
        format,
        retrieval: url
            .filter(|url| Base::is_absolute(options.resolver, url))
            .map(|url| Retrieval::of(url, Source::Warc)),
        ..options.clone()
    };
    options.scan.charset = label.and_then(Charset::for_label).or(options.scan.charset);
    is_read.then_some(RecordDocument {
        bytes,
        options,
        media_type: media_type.to_string(),
    })
}

/// The decoded payload of `bytes`, a response or another document.
///
/// # Errors
///
/// Returns a sentence about a payload that cannot be decoded with certainty.
pub fn payload(bytes: &[u8], format: Format) -> Result<Cow<'_, [u8]>, &'static str> {
    let (payload, format, is_compressed) = match format {
        Format::Http => {
            let structure = http::response(bytes, &Arc::from(""));
            let decoded = structure.entities[0]
                .decode(bytes)
                .map_err(|found| found.reason)?;
            if let Some(obstacle) = decoded.obstacle() {
                return Err(obstacle.reason);
            }
            let is_compressed = decoded.is_compressed();
            (
                decoded.bytes,
                structure.media_type(bytes, 0, None).format(),
                is_compressed,
            )
        }
        _ => (Cow::Borrowed(bytes), format, is_compressed(bytes, false)),
    };
    if format.is_of_page() && is_compressed {
        Err(STILL_COMPRESSED)
    } else {
        Ok(payload)
    }
}

/// The document of the response `block` from `url`, with its format and the media type of the payload. If the payload
/// is a message, this is the decoded payload; otherwise, it is the whole block.
fn response<'r>(
    block: &'r [u8],
    url: Option<&str>,
    options: &Options,
) -> (Cow<'r, [u8]>, Format, MediaType) {
    let structure = http::response(block, &Arc::from(""));
    let entity = &structure.entities[0];
    let media_type = structure.media_type(block, 0, url).into_owned();
    let format = media_type.format();
    if format == Format::Message
        && let Ok(message) = entity.decode(block)
    {
        return (message.bytes, format, media_type);
    }
    let has_links = options.scan.groups.contains(Group::Headers);
    let format = if has_links || scan::is_read(format, &options.scan) {
        Format::Http
    } else {
        Format::Other
    };
    (Cow::Borrowed(block), format, media_type)
}

/// The URL from which `record` was retrieved. Characters not allowed in a URL are percent-encoded, because
/// crawlers record URLs as they found them, even with spaces.
pub fn url_of(record: &Record) -> Option<String> {
    let uri = record.target_uri()?;
    let uri = std::str::from_utf8(&uri).ok()?;
    let url = percent_encode(uri.trim(), |one| {
        matches!(one, '\0'..=' ' | '"' | '<' | '>' | '\x7f')
    });
    Some(url)
}
