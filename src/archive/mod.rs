//! Web archives: WARC files (ISO 28500, versions 1.0 of 2009 and 1.1 of 2017), compressed or not.
//!
//! [`Records`] gives what an archive holds, a [`Record`] or an [`Anomaly`] at a time. Nothing in an archive ends
//! it: what is broken is an anomaly, and reading goes on with the next record. [`Writer`] writes records that were
//! made of others. [`Wacz`] gives the archives in a WACZ file.
//!
//! ```
//! use baselink::archive::{Document, Entry, Records};
//! let archive = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\n\
//!     Content-Type: application/http\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n";
//! for entry in Records::new(&archive[..]) {
//!     if let Entry::Record(record) = entry? {
//!         assert_eq!(record.document(), Document::Http);
//!     }
//! }
//! # Ok::<(), baselink::Error>(())
//! ```
//!
//! Deliberately absent: ARC, the format before; CDX; WARC files that Zstandard compresses; the documents in records.

mod data;
mod record;
mod records;
mod wacz;
mod write;

pub use self::record::{Document, Offset, Record, RecordType};
pub use self::records::{Anomaly, Entry, LONGEST_BLOCK, Records};
pub use self::wacz::Wacz;
pub use self::write::{Warcinfo, Writer};
