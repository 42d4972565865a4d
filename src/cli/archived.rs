//! What an archive holds, one document after the other, and what is unexpected in it.
//!
//! ```text
//! WARC/1.1 … WARC-Target-URI: http://a/ … HTTP/1.1 200 OK …   -->   a response, read with the retrieval URL http://a/
//! ```
//!
//! Deliberately absent: what is done with a document ([`super::archive`]).

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use baselink::Options;
use baselink::archive::{Entry, Offset, Records};
use baselink::diagnostic::{Code, Diagnostic};
use baselink::error::{Error, Result, name};
use baselink::rewrite::record::{RecordDocument, document};

use super::document_name::RecordKey;

/// What is in an archive.
pub(crate) enum ArchiveContents {
    /// Records (ISO 28500).
    Warc(Box<Records<Box<dyn Read>>>),
}

/// A document of an archive.
pub(crate) struct Archived {
    pub(crate) key: RecordKey,
    /// What it was read into.
    buffer: Vec<u8>,
    /// Where it is there; or what it is without what it was sent in.
    place: std::result::Result<Range<usize>, Vec<u8>>,
    /// How it is read.
    pub(crate) options: Options,
}

/// What is to be said of an archive, with the place in it.
pub(crate) type Said = Vec<(Offset, Code, Cow<'static, str>)>;

/// What an archive gives next.
pub(crate) struct Item {
    pub(crate) said: Said,
    pub(crate) document: Option<Archived>,
}

impl ArchiveContents {
    /// What it gives next, read into a `spare` buffer; `None` at its end.
    pub(crate) fn next(
        &mut self,
        path: &Path,
        options: &Options,
        spare: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<Result<Item>> {
        match self {
            Self::Warc(records) => {
                records.reuse(spare().unwrap_or_default());
                let entry = records.next()?;
                let named = |error: Error| Error::new(format!("{}: {error}", name(path)));
                Some(entry.map(|entry| Item::of(entry, options)).map_err(named))
            }
        }
    }
}

impl Item {
    fn of(entry: Entry, options: &Options) -> Self {
        let record = match entry {
            Entry::Record(record) => record,
            Entry::Anomaly(found) => {
                let said = vec![(found.offset, found.code, found.message)];
                return Self { said, document: None };
            }
        };
        let offset = record.offset;
        let say = |found: &Diagnostic| (offset, found.code, found.message.clone());
        let said = record.diagnostics.iter().map(say).collect();
        let Some(RecordDocument { bytes, options, media_type }) = document(&record, options) else {
            return Self { said, document: None };
        };
        let block = record.heading().len()..record.heading().len() + record.block().len();
        let place = match bytes {
            Cow::Borrowed(_) => Ok(block),
            Cow::Owned(decoded) => Err(decoded),
        };
        let url = record.target_uri().map(|uri| String::from_utf8_lossy(&uri).into_owned());
        let key = RecordKey { id: record.id(), offset, url, media_type };
        let document = Archived { key, buffer: record.into_buffer(), place, options };
        Self { said, document: Some(document) }
    }
}

impl Archived {
    /// How many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        self.buffer.len() + self.place.as_ref().err().map_or(0, Vec::len)
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.place {
            Ok(range) => &self.buffer[range.clone()],
            Err(decoded) => decoded,
        }
    }

    /// What it was read into, to be used again.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}
