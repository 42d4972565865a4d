//! The capture in a record of a web archive (ISO 28500), and its body.
//!
//! The HTTP heading of a `response` has a status, a media type and possibly a redirect. The media type of a `resource`
//! is in the heading of the record. A `revisit` has the same body as another record, and identifies it by the digest
//! of the body, by record id, or by URL and date (ISO 28500, 6.7).
//!
//! ```
//! use baselink_rewrite::archive::{ArchiveEntry, Records};
//! use baselink_site::archive::record::{body, capture};
//! let archive = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Type: application/http\r\n\
//!     Content-Length: 51\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>text\r\n\r\n";
//! let Some(Ok(ArchiveEntry::Record(record))) = Records::new(&archive[..]).next() else { panic!() };
//! let found = capture(&record).unwrap();
//! assert_eq!((&*found.url, found.status, &*found.media_type), ("http://a/", 200, "text/html"));
//! assert_eq!(&*body(&record).unwrap().0.bytes, b"<p>text");
//! ```
//!
//! Deliberately absent: `conversion` records, which are not captures, and segments.

use std::sync::Arc;

use baselink_rewrite::{
    archive::{Record, RecordContent, RecordType},
    container::http,
    record::url_of,
};
use baselink_scan::MediaType;
use baselink_text::{
    Code, Span,
    layer::transfer::{DecodedBody, TransferEncoding},
};

use crate::collection::{capture::Capture, hashed};

/// True if the scheme of `url` is one of those by which documents are retrieved. Records with other URLs contain notes
/// of the crawler, such as `urn:pageinfo:` and wget's `metadata:`, or answers to `dns:`.
pub fn is_retrievable(url: &str) -> bool {
    let scheme = url
        .split_once("://")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(
        scheme.as_deref(),
        Some("http" | "https" | "ftp" | "ftps" | "file")
    )
}

/// The method of `block`, a request, unless it is `GET` (RFC 9112, 3).
fn other_method(block: &[u8]) -> Option<Box<str>> {
    let line = block.split(|&byte| byte == b'\n').next()?;
    memchr::memmem::find(line, b" HTTP/")?;
    let end = memchr::memchr(b' ', line)?;
    let method = String::from_utf8_lossy(&line[..end]);
    (method != "GET").then(|| method.into())
}

/// The capture in `record`, or the exchange of a request with another method than `GET`. `None` for other records, and
/// if the URL is not that of a document.
pub fn capture(record: &Record) -> Option<Capture> {
    let url = url_of(record).filter(|url| is_retrievable(url))?;
    let (block, content) = (record.block(), record.document());
    let has_http = content == RecordContent::Http || block.starts_with(b"HTTP/");
    let exchange = record.exchange().into_iter();
    let mut capture = Capture {
        date: record.date().and_then(|date| date.parse().ok()),
        exchange: exchange.map(|id| hashed(("id", id))).collect(),
        ..Capture::of(&url)
    };
    match (record.record_type, content) {
        (RecordType::Request, _) => capture.other_method = Some(other_method(block)?),
        (RecordType::Response | RecordType::Revisit, _) if has_http => {
            let response = http::response(block, &Arc::from(""));
            capture.status = http::status(block, &response).unwrap_or(0);
            let heading = &response.entities[0].heading;
            let value = |name: &str| {
                heading
                    .first(block, name)
                    .map(|field| &block[field.value.range()])
            };
            // The body of a revisit is in another record.
            let has_body = record.record_type == RecordType::Response;
            capture.is_short = has_body && http::is_short(block, &response);
            capture.is_cut = has_body && http::is_cut(block, &response);
            // A range that covers the resource is whole (RFC 9110, 15.3.7).
            let is_range = value("Content-Range").is_some() && has_body;
            if capture.status == 206 && is_range && http::is_whole(block, &response) {
                capture.status = 200;
            }
            let is_redirect = (300..400).contains(&capture.status);
            let location = value("Location").filter(|_| is_redirect);
            capture.location = location.map(|location| String::from_utf8_lossy(location).into());
            // The heading of a revisit may lack the media type. The media type of the other capture then applies.
            if has_body || value("Content-Type").is_some() {
                let media_type = if has_body {
                    response.media_type(block, 0, Some(&url)).into_owned()
                } else {
                    response.entities[0].media_type.clone()
                };
                capture.media_type = media_type.essence.into();
            }
        }
        (RecordType::Response | RecordType::Resource, RecordContent::Entity(media_type)) => {
            capture.media_type = media_type.of_body(block, Some(&url)).to_string().into();
            capture.is_short = block.is_empty();
        }
        (RecordType::Revisit | RecordType::Resource, _) => {}
        _ => return None,
    }
    // The archive may end within the record, or the crawler truncated it (ISO 28500, 5.13).
    let mut found = record.diagnostics.iter();
    let is_cut = found.any(|one| one.code == Code::RecordTruncated)
        || record.field("WARC-Truncated").is_some();
    let is_revisit = record.record_type == RecordType::Revisit;
    // A revisit has no body that could be cut.
    capture.is_cut |= is_cut && !is_revisit;
    capture.is_short |= capture.is_cut;
    let text = |field| record.text(field);
    let (id, url, date) = if is_revisit {
        let url = text("WARC-Refers-To-Target-URI");
        (record.refers_to(), url, text("WARC-Refers-To-Date"))
    } else {
        (record.id(), text("WARC-Target-URI"), record.date())
    };
    let place = url.zip(date);
    let place = place.map(|(url, date)| format!("{} {date}", url.trim_matches(['<', '>'])));
    let names = [
        ("digest", text("WARC-Payload-Digest")),
        ("id", id),
        ("place", place),
    ];
    let names = names.into_iter();
    let names = names.filter_map(|(kind, name)| Some(hashed((kind, name?))));
    if is_revisit {
        capture.repeats = names.collect();
        // This identifier matches no capture. It marks the capture as a revisit.
        if capture.repeats.is_empty() {
            capture.repeats.push(0);
        }
    } else if matches!(capture.status, 200..=299) {
        capture.names = names.collect();
    }
    Some(capture)
}

/// The body of the capture in `record`, without its content codings, and its media type, if it has one.
///
/// # Errors
///
/// Returns a sentence about a body that cannot be decoded, or that is not the whole resource.
pub fn body(record: &Record) -> Result<(DecodedBody<'_>, Option<MediaType>), &'static str> {
    let block = record.block();
    let url = url_of(record);
    Ok(match record.document() {
        RecordContent::Http => {
            let response = http::response(block, &Arc::from(""));
            let entity = &response.entities[0];
            if let TransferEncoding::Coded(codings) = entity.transfer_encoding
                && let Some(reason) = codings.kept()
            {
                return Err(reason);
            }
            let media_type = response.media_type(block, 0, url.as_deref());
            let decoded = entity.decode(block).map_err(|obstacle| obstacle.reason)?;
            (decoded, Some(media_type.into_owned()))
        }
        RecordContent::Entity(media_type) => {
            let media_type = media_type.of_body(block, url.as_deref());
            (undecoded(block)?, Some(media_type))
        }
        RecordContent::None => (undecoded(block)?, None),
    })
}

/// `bytes`, which have no codings.
pub(super) fn undecoded(bytes: &[u8]) -> Result<DecodedBody<'_>, &'static str> {
    let decoded = TransferEncoding::Binary.decode(bytes, Span::new(0, bytes.len()));
    decoded.map_err(|obstacle| obstacle.reason)
}
