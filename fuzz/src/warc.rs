//! Any bytes as a web archive: they are read to their end, entries in the order of their offsets, however little is
//! read at a time.
//!
//! Deliberately absent: the documents in the records.

use std::io::Read;

use baselink::archive::{ArchiveEntry, Offset, Records};
use baselink::diagnostic::Code;

/// A reader that gives a few bytes at a time.
struct Short<'a>(&'a [u8]);

impl Read for Short<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(7);
        self.0.read(&mut into[..length])
    }
}

/// Properties of an entry: its offset, heading, block, and the number of its diagnostics.
fn told(entry: &ArchiveEntry) -> (Offset, Vec<u8>, Vec<u8>, usize) {
    match entry {
        ArchiveEntry::Record(record) => {
            let said = record.diagnostics.len();
            (record.offset, record.heading().to_vec(), record.block().to_vec(), said)
        }
        ArchiveEntry::Anomaly(anomaly) => (anomaly.offset, Vec::new(), Vec::new(), 1),
    }
}

/// The entries, up to the error that the bytes are an archive of another kind.
fn entries(reader: impl Read) -> Vec<ArchiveEntry> {
    Records::new(reader).limit(1 << 20).map_while(Result::ok).collect()
}

/// Holds an archive to its laws.
pub fn warc(bytes: &[u8]) {
    let found = entries(bytes);
    // Diagnostics about the whole archive come last.
    let is_of_one = |entry: &&ArchiveEntry| !matches!(entry, ArchiveEntry::Anomaly(one) if one.code == Code::RecordVersion);
    let offsets: Vec<_> = found.iter().filter(is_of_one).map(|entry| told(entry).0).collect();
    assert!(offsets.is_sorted_by(|one, next| one < next), "{offsets:?}");
    let slowly = entries(Short(bytes));
    assert!(found.iter().map(told).eq(slowly.iter().map(told)));
}
