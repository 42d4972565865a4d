//! The name of a document: its file, and in an archive its record.
//!
//! ```text
//! page.html            a file
//! crawl.warc.gz@524    the record that begins there
//! ```
//!
//! Deliberately absent: the numbers of entities in a document.

use std::{fmt, path::Path};

use baselink_site::archive::RecordKey;
use baselink_text::name;

/// The name of a document.
#[derive(Clone, Copy)]
pub struct DocumentName<'a> {
    /// The path as it was named or found; `-` is standard input. For `check`, the URL of a resource in an archive.
    pub path: &'a Path,
    /// The record of a document in an archive.
    pub record: Option<&'a RecordKey>,
}

impl<'a> DocumentName<'a> {
    /// The name of a document outside archives.
    pub fn of(path: &'a Path) -> Self {
        Self { path, record: None }
    }
}

/// Shows the name in messages.
impl fmt::Display for DocumentName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(self.path))?;
        self.record
            .map_or(Ok(()), |record| write!(f, "@{}", record.offset))
    }
}
