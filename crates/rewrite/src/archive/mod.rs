//! WARC files (ISO 28500, versions 1.0 of 2009 and 1.1 of 2017), compressed or not.
//!
//! [`Records`] iterates over the contents of an archive: each item is a [`Record`] or an [`Anomaly`]. Broken data
//! becomes an anomaly, and reading continues with the next record.
//!
//! ```
//! # use baselink_rewrite as baselink;
//! use baselink::archive::{ArchiveEntry, RecordContent, Records};
//! let archive = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\n\
//!     Content-Type: application/http\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n";
//! for entry in Records::new(&archive[..]) {
//!     if let ArchiveEntry::Record(record) = entry? {
//!         assert_eq!(record.document(), RecordContent::Http);
//!     }
//! }
//! # Ok::<(), baselink_text::Error>(())
//! ```
//!
//! Deliberately absent: ARC, the predecessor of WARC; CDX; writing archives; decoding and reading the documents in records.

mod data;
mod record;
mod records;
mod zstd;

use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;

pub use self::{
    record::{Offset, Record, RecordContent, RecordType},
    records::{Anomaly, ArchiveEntry, LONGEST_BLOCK, Records},
};

/// True if a file that begins with `head` is a web archive, compressed or not. ARC counts too, because the error of
/// [`Records`] explains how to convert it.
///
/// ```
/// # use baselink_rewrite as baselink;
/// use baselink::archive::is_archive;
/// assert!(is_archive(b"WARC/1.0\r\n") && is_archive(b"filedesc://a.arc 0.0.0.0"));
/// assert!(!is_archive(b"\x1f\x8b\x08 and nothing that can be inflated") && !is_archive(b"WARC and peace"));
/// ```
pub fn is_archive(head: &[u8]) -> bool {
    let begins_archive = |head: &[u8]| record::begins_record(head) || head.starts_with(ARC);
    if !head.starts_with(GZIP) {
        return begins_archive(head) || zstd::is_archive(head, begins_archive);
    }
    let mut inflated = Vec::new();
    // A truncated member returns an error after the bytes that could be decompressed.
    let _ = MultiGzDecoder::new(head)
        .take(ARC.len() as u64)
        .read_to_end(&mut inflated);
    begins_archive(&inflated)
}

/// The first bytes of a gzip member (RFC 1952, 2.3.1). [`is_archive`] creates a decoder only after these bytes,
/// because one decoder for every file would fragment memory.
const GZIP: &[u8] = b"\x1f\x8b";

/// The first bytes of an ARC file.
const ARC: &[u8] = b"filedesc://";
