//! The name of a document: its file, and in an archive its record.
//!
//! ```text
//! page.html            a file
//! crawl.warc.gz@524    the record that begins there
//! ```
//!
//! Deliberately absent: the numbers of entities in a document.

use std::{fmt, path::Path};

use baselink_text::name;

use crate::archive::Entry;

/// The name of a document.
#[derive(Clone, Copy)]
pub struct DocumentName<'a> {
    /// The path as it was named or found; `-` is standard input. For `check`, the URL of a resource in an archive.
    pub path: &'a Path,
    /// The entry of an archive that has the document.
    pub entry: Option<&'a Entry>,
}

impl<'a> DocumentName<'a> {
    /// The name of a document outside archives.
    pub fn of(path: &'a Path) -> Self {
        Self { path, entry: None }
    }
}

/// Shows the name in messages.
impl fmt::Display for DocumentName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(self.path))?;
        self.entry
            .map_or(Ok(()), |entry| write!(f, "@{}", entry.key.offset))
    }
}
