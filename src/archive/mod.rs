//! Web archives: WARC files (ISO 28500, versions 1.0 of 2009 and 1.1 of 2017), compressed or not.
//!
//! [`Records`] gives what an archive holds, a [`Record`] or an [`Anomaly`] at a time. Nothing in an archive ends
//! it: what is broken is an anomaly, and reading goes on with the next record. [`Wacz`] gives the archives in a WACZ file.
//! Browsers save archives of their own: [`Har`] and [`WebArchive`].
//!
//! ```
//! use baselink::archive::{ArchiveEntry, RecordContent, Records};
//! let archive = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\n\
//!     Content-Type: application/http\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n";
//! for entry in Records::new(&archive[..]) {
//!     if let ArchiveEntry::Record(record) = entry? {
//!         assert_eq!(record.document(), RecordContent::Http);
//!     }
//! }
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! Deliberately absent: ARC, the format before; CDX; WARC files that Zstandard compresses; writing archives; the documents in records.

mod data;
mod har;
mod record;
mod records;
mod wacz;
mod webarchive;

use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;

pub use self::har::{Har, HarEntry};
pub use self::record::{Offset, Record, RecordContent, RecordType};
pub use self::records::{Anomaly, ArchiveEntry, LONGEST_BLOCK, Records};
pub use self::wacz::{Wacz, WaczPage};
pub use self::webarchive::{WebArchive, WebResource};

/// True if a file that begins with `head` is a web archive, compressed or not. ARC counts, too: the error of [`Records`] says
/// how to convert it.
///
/// ```
/// use baselink::archive::is_archive;
/// assert!(is_archive(b"WARC/1.0\r\n") && is_archive(b"filedesc://a.arc 0.0.0.0"));
/// assert!(!is_archive(b"\x1f\x8b\x08 and nothing that can be inflated") && !is_archive(b"WARC and peace"));
/// ```
#[must_use]
pub fn is_archive(head: &[u8]) -> bool {
    let is_it = |head: &[u8]| record::begins_record(head) || head.starts_with(ARC);
    if !head.starts_with(GZIP) {
        return is_it(head);
    }
    let mut inflated = Vec::new();
    // What is cut off is an error after what could be inflated.
    let _ = MultiGzDecoder::new(head).take(ARC.len() as u64).read_to_end(&mut inflated);
    is_it(&inflated)
}

/// What a gzip member begins with (RFC 1952, 2.3.1): to make a decoder for every file takes memory, which breaks into pieces.
const GZIP: &[u8] = b"\x1f\x8b";

/// What an ARC file begins with.
const ARC: &[u8] = b"filedesc://";
