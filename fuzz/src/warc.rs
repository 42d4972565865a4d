//! Any bytes as a web archive: it is read to its end, its entries are in the order of their offsets, and they do not
//! depend on how many bytes are read at a time.
//!
//! Deliberately absent: the documents in the records.

use std::io::Read;

use baselink::archive::{ArchiveEntry, Offset, Records};
use baselink_text::diagnostic::Code;

/// A reader that gives a few bytes at a time.
struct ShortReads<'a>(&'a [u8]);

impl Read for ShortReads<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(7);
        self.0.read(&mut into[..length])
    }
}

/// The offset, the heading and the block of an entry, and the number of its diagnostics.
fn summary(entry: &ArchiveEntry) -> (Offset, Vec<u8>, Vec<u8>, usize) {
    match entry {
        ArchiveEntry::Record(record) => {
            let diagnostic_count = record.diagnostics.len();
            (
                record.offset,
                record.heading().to_vec(),
                record.block().to_vec(),
                diagnostic_count,
            )
        }
        ArchiveEntry::Anomaly(anomaly) => (anomaly.offset, Vec::new(), Vec::new(), 1),
    }
}

/// The entries up to an error, such as the error for an archive of another kind.
fn entries(reader: impl Read) -> Vec<ArchiveEntry> {
    Records::new(reader)
        .limit(1 << 20)
        .map_while(Result::ok)
        .collect()
}

/// Checks the laws for an archive.
pub fn warc(bytes: &[u8]) {
    let found = entries(bytes);
    // Diagnostics about the whole archive come last.
    let is_of_one_entry = |entry: &&ArchiveEntry| match entry {
        ArchiveEntry::Anomaly(anomaly) => anomaly.code != Code::RecordVersion,
        ArchiveEntry::Record(_) => true,
    };
    let offsets: Vec<_> = found
        .iter()
        .filter(is_of_one_entry)
        .map(|entry| summary(entry).0)
        .collect();
    assert!(
        offsets.is_sorted_by(|earlier, later| earlier < later),
        "{offsets:?}"
    );
    let slowly = entries(ShortReads(bytes));
    assert!(found.iter().map(summary).eq(slowly.iter().map(summary)));
}
