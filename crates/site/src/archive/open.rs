//! Opens the files of all formats: each is read as a sequence of entries, a WACZ file as one for each archive in it.
//!
//! ```
//! use baselink_rewrite::Options;
//! use baselink_site::archive::{Contents, Wanted};
//! use baselink_text::Format;
//! let har = br#"{"log": {"entries": [{"request": {"url": "http://a/"}}]}}"#;
//! let path = "x.har".as_ref();
//! let archive = Contents::new(path, Format::Har, har.to_vec(), Box::new(std::io::empty()), None)?;
//! let mut urls = Vec::new();
//! archive.each(path, &Options::default(), Wanted::Captures, |_, entries| {
//!     urls.extend(entries?.flat_map(|entry| entry.unwrap().captures()).map(|capture| capture.url));
//!     baselink_text::Result::Ok(())
//! })?;
//! assert_eq!(urls, ["http://a/".into()]);
//! # Ok::<(), baselink_text::Error>(())
//! ```
//!
//! Deliberately absent: finding out the format.

use std::{
    fs::File,
    io::{Cursor, Read},
    iter, mem,
    path::Path,
};

use baselink_rewrite::{
    Options,
    archive::{ArchiveEntry, LONGEST_BLOCK, Records},
    container::mbox::Messages,
};
use baselink_text::{Error, Format, Result, Span, cause, layer::transfer::longest_of};

use super::{
    Attached, Entry, Wacz, Wanted, http_archive,
    message::{numbered, resources},
    web_archive,
};

/// The contents of an open file.
pub enum Contents {
    /// Records (ISO 28500), resources in a property list as Safari saves them, or messages.
    Stream(Format, Box<dyn Read>),
    /// WARC files in a ZIP archive.
    Wacz(File),
    /// Entries in JSON (HAR 1.2), and the place of attached bodies.
    Har(Box<dyn Read>, Attached),
    /// One document. If a message is read as an archive, its parts are the entries: those of a page that a browser saved as MHTML,
    /// or of a mail.
    Document(Vec<u8>),
}

/// The entries of an archive, up to an error of the reader.
pub type Entries<'e> = Box<dyn Iterator<Item = Result<Entry>> + 'e>;

impl Contents {
    /// Opens the file `path` in `format`, which begins with `head` and continues in `rest`. A document is its `head`. `file` is
    /// the same file, unless it is standard input.
    ///
    /// # Errors
    ///
    /// Returns an error if the format cannot be read from standard input, and errors of ZIP files with HTTP archives.
    pub fn new(
        path: &Path,
        format: Format,
        head: Vec<u8>,
        rest: Box<dyn Read>,
        file: Option<File>,
    ) -> Result<Self> {
        let failed = |why: &str| Error::file(path, why);
        if !(format.is_archive() || format.holds_many()) {
            return Ok(Self::Document(head));
        }
        let is_zip = head.starts_with(b"PK");
        let reader = Box::new(Cursor::new(head).chain(rest));
        Ok(match (format, file) {
            (Format::Har, Some(file)) if is_zip => {
                let opened = Attached::in_zip(file);
                let (har, bodies) = opened.map_err(|error| failed(&error.to_string()))?;
                Self::Har(Box::new(Cursor::new(har)), bodies)
            }
            (Format::Har, _) => Self::Har(reader, Attached::beside(path)),
            (Format::Wacz, Some(file)) => Self::Wacz(file),
            (Format::Wacz, None) => {
                let why = "a WACZ file is read from its end; save it to a file and name the file";
                return Err(failed(why));
            }
            _ => Self::Stream(format, reader),
        })
    }

    /// Calls `visit` with the path and the entries of the archive `path`, or of each archive in it, or with the reason why it
    /// cannot be read. Documents are read with `options`.
    ///
    /// # Errors
    ///
    /// Returns the first error of `visit`.
    pub fn each<E>(
        mut self,
        path: &Path,
        options: &Options,
        wanted: Wanted,
        mut visit: impl FnMut(&Path, Result<Entries<'_>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let entries = match &mut self {
            Self::Stream(Format::Warc, reader) => Ok(records(reader, u64::MAX, options, wanted)),
            Self::Wacz(file) => match Wacz::open(&*file) {
                Ok(mut wacz) => {
                    let length = wacz.length;
                    return wacz.each(|name, reader| match reader {
                        Ok(reader) => {
                            let entries = records(reader, length, options, wanted);
                            visit(&path.join(name), Ok(entries))
                        }
                        Err(error) => visit(path, Err(error)),
                    });
                }
                Err(error) => Err(error),
            },
            Self::Har(reader, bodies) => read_whole(reader)
                .and_then(|bytes| http_archive(bytes, bodies, options, wanted))
                .map(all),
            Self::Stream(Format::WebArchive, reader) => read_whole(reader)
                .and_then(|bytes| web_archive(&bytes, options, wanted))
                .map(all),
            Self::Stream(_, reader) => Ok(messages(reader, options, wanted)),
            Self::Document(bytes) if wanted != Wanted::Documents => {
                Ok(all(resources(bytes, options)))
            }
            Self::Document(bytes) => {
                let (bytes, options) = (mem::take(bytes), options.clone());
                let whole = Span::new(0, bytes.len());
                Ok(all(iter::once(Entry::of_document(
                    bytes,
                    whole,
                    (0, 0),
                    options,
                ))))
            }
        };
        visit(path, entries)
    }
}

/// The entries of an archive that is in memory whole.
fn all<'e>(entries: impl Iterator<Item = Entry> + 'e) -> Entries<'e> {
    Box::new(entries.map(Ok))
}

/// The messages of a mailbox, which are read with `options`, or their parts.
fn messages<'e>(reader: impl Read + 'e, options: &'e Options, wanted: Wanted) -> Entries<'e> {
    let (mut messages, mut lines) = (Messages::new(reader), 0);
    let messages = iter::from_fn(move || {
        let found = match messages.next_message().transpose()? {
            Ok(found) => found,
            Err(error) => return Some(Err(Error::new(cause(&error)))),
        };
        let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
        lines += count(&found.bytes[..found.message.start]);
        let offset = usize::try_from(found.offset).unwrap_or(usize::MAX);
        let mut options = options.clone();
        options.scan.entity = numbered(&options.scan.entity, &found.number.to_string());
        let bytes = found.bytes.to_vec();
        let entry = Entry::of_document(bytes, found.message, (offset, lines), options);
        lines += count(&found.bytes[found.message.start..]);
        Some(Ok(entry))
    });
    if wanted == Wanted::Documents {
        return Box::new(messages);
    }
    Box::new(messages.flat_map(|message| {
        match message {
            Ok(message) => resources(message.bytes(), &message.options)
                .map(Ok)
                .collect(),
            Err(error) => vec![Err(error)],
        }
    }))
}

/// Reads all of `reader`.
fn read_whole(mut reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .read_to_end(&mut bytes)
        .map_err(|error| Error::new(cause(&error)))?;
    Ok(bytes)
}

/// The entries of the WARC records in `reader`, which come from a file of `length` bytes. An archive without records ends with
/// an error.
fn records<'e>(
    reader: impl Read + 'e,
    length: u64,
    options: &'e Options,
    wanted: Wanted,
) -> Entries<'e> {
    let longest = usize::try_from(longest_of(length)).unwrap_or(LONGEST_BLOCK);
    let mut records = Records::new(reader).limit(longest.min(LONGEST_BLOCK));
    let (mut has_anomalies, mut has_records) = (false, false);
    Box::new(iter::from_fn(move || {
        let Some(found) = records.next() else {
            let is_broken = mem::take(&mut has_anomalies) && !has_records;
            return is_broken.then(|| Err(Error::new("no WARC record could be read")));
        };
        let end = records.end();
        Some(found.map(|found| match found {
            ArchiveEntry::Record(record) => {
                has_records = true;
                let mut entry = Entry::of_record(record, options, wanted);
                entry.key.end = end;
                entry
            }
            ArchiveEntry::Anomaly(found) => {
                has_anomalies = true;
                Entry::of_anomaly(found)
            }
        }))
    }))
}
