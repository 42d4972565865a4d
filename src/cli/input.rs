//! What is read: files and standard input, each a document or a mailbox of them.
//!
//! ```text
//! page.html  -->  bytes, html
//! inbox.mbox -->  message 1, message 2, …  each with its bytes, one at a time
//! -          -->  bytes, html unless it clearly is something else
//! ```
//!
//! A file of another kind, such as an image, is no document ([`ForeignFile`]), nor is the file to which standard
//! output goes.
//!
//! Deliberately absent: reading a document piece by piece. A `<base>` may follow what it governs, so a
//! document is in memory whole; a mailbox is not, nor a large file that somebody takes as it is
//! ([`File::large`]).

use std::cell::Cell;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use baselink::Options;
use baselink::archive::is_archive;
use baselink::base::Retrieval;
use baselink::container::mbox::Messages;
use baselink::error::{Error, Result, name};
use baselink::format::Format;
use baselink::scan::html::saved::HEAD;
use baselink::scan::{ScanOptions, group_of, is_read};
use baselink::span::Span;
use baselink::tree::maildir;
use baselink::tree::origin::canonical;
use baselink::tree::walk::EntryKind;
use baselink::tree::write::Original;

use super::archived::ArchiveContents;
use super::document_name::DocumentName;
use super::failure::FileResult;
use super::foreign::ForeignFile;
use super::request::{Archives, Documents, Origin, is_standard_input};
use super::unlike_hosts;

/// How much is looked at to tell a format.
const LOOKED_AT: usize = 4_096;

/// A document is worth a second thread that reads.
const LARGE: u64 = 8 << 20;
/// Of a longer one the size is not believed before it has been read.
const LARGEST: u64 = 1 << 30;

/// A larger buffer is not kept for the next file.
const KEPT: usize = 1 << 20;

thread_local! {
    /// What files are read into, one after the other.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A file that can be read.
pub(crate) struct File<'a> {
    /// What was named; `-` is standard input.
    pub(crate) path: &'a Path,
    /// What it is read as.
    pub(crate) format: Format,
    /// A sentence for each URL that is none.
    pub(crate) passed_over: Vec<String>,
    /// What the system says of it, where that is known and no original does.
    pub(crate) metadata: Option<Metadata>,
    /// The library's options for it; of an archive, but for what it says of each document.
    options: Options,
    contents: Contents,
    /// How many threads there are to read it.
    jobs: usize,
}

/// What became of opening a file.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub(crate) enum OpenedInput<'a> {
    Document(File<'a>),
    NoDocument(NoDocument),
}

/// What is no document.
pub(crate) struct NoDocument {
    /// Why not; nothing where it only looks like none.
    why: Option<String>,
    /// Whether its name, `--format`, or that it is standard input says that it is one.
    is_taken_for_one: bool,
    /// What of it has been read.
    head: Vec<u8>,
    rest: Box<dyn Read>,
}

impl NoDocument {
    /// What is to be said of the file `path` where it was only found.
    pub(crate) fn remark(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.is_taken_for_one)
    }

    /// Why the file `path`, which was named, cannot be used.
    pub(crate) fn error(&self, path: &Path) -> Error {
        if let Some(why) = &self.why {
            return Error::new(why.clone());
        }
        let name = name(path);
        let format = Format::opt_in(&path.to_string_lossy());
        if let Some((format, group)) = format.and_then(|format| Some((format, group_of(format)?))) {
            return Error::new(format!(
                "{name}: {} is read with --enable {group} only",
                format.noun()
            ));
        }
        Error::new(format!(
            "{name}: its name and its first bytes are those of no document that is read; --format says \
             what it is: html, xhtml, svg, xml, css, message, mbox or http"
        ))
    }

    /// Writes all of it, which is the file `path`, to `out`, as it is.
    pub(crate) fn copy_to(&mut self, path: &Path, out: &mut dyn Write) -> FileResult<()> {
        out.write_all(&self.head)?;
        let mut buffer = vec![0; KEPT];
        loop {
            match self.rest.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => out.write_all(&buffer[..length])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(path, error).into()),
            }
        }
    }
}

enum Contents {
    /// A document.
    Whole(Vec<u8>),
    /// The same, of this size, which has not been read.
    Large(fs::File, u64),
    /// Messages.
    Mailbox(Box<dyn Read>),
    /// Documents with retrieval URLs of their own, and whether they are compressed together.
    Archive(ArchiveContents, bool),
}

/// An archive that is open.
pub(crate) struct Archive<'a> {
    /// What was named; `-` is standard input.
    pub(crate) path: &'a Path,
    pub(crate) contents: ArchiveContents,
    /// How its documents are read, but for what it says of each.
    pub(crate) options: Options,
    /// How many threads there are.
    pub(crate) jobs: usize,
    /// Whether it is compressed itself.
    pub(crate) is_compressed: bool,
}

/// A mailbox that is open.
pub(crate) struct Mailbox<'a> {
    /// What was named; `-` is standard input.
    pub(crate) path: &'a Path,
    /// What is in it.
    pub(crate) reader: Box<dyn Read>,
    /// The library's options for its messages, but for their names.
    pub(crate) options: Options,
}

/// One document: a file, or a message in a mailbox.
pub(crate) struct Input<'a> {
    /// What it is called.
    pub(crate) name: DocumentName<'a>,
    /// What the file is read as.
    pub(crate) format: Format,
    /// What comes before the document in the file and belongs to no document.
    pub(crate) before: &'a [u8],
    /// The whole of it.
    pub(crate) bytes: &'a [u8],
    /// What follows it and belongs to no document.
    pub(crate) after: &'a [u8],
    /// Where its bytes begin in the file.
    pub(crate) offset: usize,
    /// How many lines of the file come before it.
    pub(crate) lines: usize,
    /// Its name in the file: the number of a message, or nothing.
    pub(crate) entity: Arc<str>,
}

impl<'a> Input<'a> {
    /// A document that is the whole of its file, or record.
    pub(crate) fn whole(name: DocumentName<'a>, format: Format, bytes: &'a [u8]) -> Self {
        let (before, after, entity) = (&[][..], &[][..], Arc::from(""));
        Self { name, format, before, bytes, after, offset: 0, lines: 0, entity }
    }
}

impl<'a> File<'a> {
    /// Opens what `origin` names, to be read as `documents` say or as what it looks like. Only a file that is
    /// to be replaced has an `original`.
    ///
    /// # Errors
    ///
    /// It cannot be read, what settings say of it cannot be used together, or standard output goes to it.
    pub(crate) fn open(
        origin: &'a Origin,
        documents: &Documents,
        original: Option<&Original>,
    ) -> Result<OpenedInput<'a>> {
        let path = origin.path();
        let (reading, seen) = documents.reading_of(origin)?;
        let failed = |error| Error::io(path, error);
        let (file, metadata) = match (origin, original) {
            (_, Some(original)) => (Some(original.open()?), None),
            (Origin::Standard, _) => (None, None),
            (Origin::Entry(entry), None) => {
                let (file, metadata) = entry.open_and_look(documents.selection.follow)?;
                (Some(file), Some(metadata))
            }
        };
        refuse_standard_output(path, metadata.as_ref())?;
        let is_large = origin.size() >= LARGE;
        let is_wacz = reading.format == Some(Format::Wacz)
            || Format::detect(Some(&path.to_string_lossy()), b"") == Format::Wacz;
        let is_read_again = is_large || is_wacz;
        let again = file.as_ref().filter(|_| is_read_again).and_then(|file| file.try_clone().ok());
        let mut reader = match file {
            Some(file) => Box::new(file) as Box<dyn Read>,
            None => Box::new(io::stdin().lock()),
        };
        // All of a small file in one read, and its end.
        let mut bytes = BUFFER.take();
        bytes.clear();
        bytes.reserve(usize::try_from(origin.size()).unwrap_or(HEAD).min(HEAD) + 1);
        let head = if reading.origins.canonical { canonical::HEAD } else { HEAD };
        reader.by_ref().take(head as u64).read_to_end(&mut bytes).map_err(failed)?;
        let scan = &reading.options.scan;
        let format = match reading.format {
            Some(format) => format,
            None if is_archive(&bytes) => Format::Warc,
            None => detect(origin, &bytes, scan),
        };
        let is_left = format.is_archive() && is_archive_left(origin, documents, original)?;
        let utf_16 = || ForeignFile::utf_16(&bytes).filter(|_| scan.charset.is_none());
        let foreign = match format.is_archive() {
            true => None,
            false => ForeignFile::of(&bytes).or_else(utf_16),
        };
        let is_taken_for_one = !is_left && (format.is_read() || is_read(format, scan));
        if !is_taken_for_one || foreign.is_some() {
            let why = foreign.map(|foreign| foreign.sentence(path, format));
            let (head, rest) = (bytes, reader);
            return Ok(OpenedInput::NoDocument(NoDocument { why, is_taken_for_one, head, rest }));
        }
        let origins = &reading.origins;
        let (retrieval, passed_over, beside) = match origin {
            Origin::Entry(entry) => {
                let seen = seen.as_ref().unwrap_or(entry);
                let (retrieval, passed_over) = origins.of_seen(entry, seen, format, &bytes);
                unlike_hosts::note(documents, entry, seen, retrieval.as_ref());
                (retrieval, passed_over, Some(origins.beside(entry, seen)))
            }
            Origin::Standard => {
                let (retrieval, passed_over) = origins.of_standard_input(format, &bytes);
                (retrieval, passed_over, None)
            }
        };
        let options = match format.is_archive() {
            true => reading.options.clone(),
            false => Options { format, retrieval, beside, ..reading.options.clone() },
        };
        let contents = if format.is_archive() {
            let is_compressed = bytes.starts_with(b"\x1f\x8b");
            let whole = Box::new(io::Cursor::new(bytes).chain(reader));
            let contents = match (format, again) {
                (Format::Har, _) => ArchiveContents::Har(whole),
                (Format::Wacz, Some(file)) => ArchiveContents::Wacz(file),
                (Format::Wacz, None) => {
                    let why = "a WACZ file is read from its end; store it in a file and name that";
                    return Err(Error::new(format!("{}: {why}", name(path))));
                }
                _ => ArchiveContents::Warc(whole),
            };
            Contents::Archive(contents, is_compressed)
        } else if format.holds_many() {
            Contents::Mailbox(Box::new(io::Cursor::new(bytes).chain(reader)))
        } else if let Some(file) = again.filter(|_| is_large) {
            BUFFER.set(bytes);
            Contents::Large(file, origin.size())
        } else {
            if bytes.len() >= head {
                reader.read_to_end(&mut bytes).map_err(failed)?;
            }
            Contents::Whole(bytes)
        };
        let jobs = documents.jobs;
        let file = Self { path, format, passed_over, metadata, options, contents, jobs };
        Ok(OpenedInput::Document(file))
    }

    /// A large document that has not been read, and the library's options for it.
    pub(crate) fn large(&self) -> Option<(&fs::File, &Options)> {
        let Contents::Large(file, _) = &self.contents else { return None };
        Some((file, &self.options))
    }

    /// The mailbox that it is; the file itself where it is none.
    pub(crate) fn into_mailbox(self) -> std::result::Result<Mailbox<'a>, Box<Self>> {
        let Contents::Mailbox(reader) = self.contents else { return Err(Box::new(self)) };
        Ok(Mailbox { path: self.path, reader, options: self.options })
    }

    /// The archive that it is; the file itself where it is none.
    pub(crate) fn into_archive(self) -> std::result::Result<Archive<'a>, Box<Self>> {
        let Contents::Archive(contents, is_compressed) = self.contents else {
            return Err(Box::new(self));
        };
        let Self { path, options, jobs, .. } = self;
        Ok(Archive { path, contents, options, jobs, is_compressed })
    }

    /// Does `work` for every document in it, which is no archive, with the library's options for it.
    pub(crate) fn each(
        self,
        mut work: impl FnMut(&Input<'_>, &Options) -> FileResult<()>,
    ) -> FileResult<()> {
        let Self { path, format, mut options, contents, jobs, .. } = self;
        let (failed, name) = (|error| Error::io(path, error), DocumentName::of(path));
        let mut of_whole = |whole: Vec<u8>| {
            work(&Input::whole(name, format, &whole), &options)?;
            if whole.capacity() <= KEPT {
                BUFFER.set(whole);
            }
            Ok(())
        };
        let reader = match contents {
            Contents::Mailbox(reader) => reader,
            Contents::Whole(whole) => return of_whole(whole),
            // What is made of records is another matter ([`Self::into_archive`]).
            Contents::Archive(..) => return Ok(()),
            Contents::Large(file, size) => {
                return of_whole(read_large(file, size, jobs).map_err(failed)?);
            }
        };
        let mut messages = Messages::new(reader);
        let mut lines = 0;
        while let Some(found) = messages.next_message().map_err(failed)? {
            let Span { start, end } = found.message;
            let (before, after) = (&found.bytes[..start], &found.bytes[end..]);
            let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
            let offset = usize::try_from(found.offset).unwrap_or(usize::MAX).saturating_add(start);
            lines += count(before);
            let entity: Arc<str> = found.number.to_string().into();
            options.scan.entity = Arc::clone(&entity);
            let bytes = &found.bytes[start..end];
            work(&Input { name, format, before, bytes, after, offset, lines, entity }, &options)?;
            lines += count(&found.bytes[start..]);
        }
        Ok(())
    }
}

/// Whether an archive is no document here.
///
/// # Errors
///
/// It was named, and cannot be what was meant.
fn is_archive_left(
    origin: &Origin,
    documents: &Documents,
    original: Option<&Original>,
) -> Result<bool> {
    const NEVER: &str = "an archive is never altered; -o FILE writes what is made of its documents";
    let why = match documents.archives {
        archives if !origin.is_named() => return Ok(archives != Archives::All),
        Archives::None => "an archive; rewrite, links and base read it",
        _ if original.is_some() => NEVER,
        Archives::Named | Archives::All => return Ok(false),
    };
    Err(Error::new(format!("{}: {why}", name(origin.path()))))
}

/// By which URL the file that `origin` names was retrieved. It is opened only where it may have to be asked
/// itself.
///
/// # Errors
///
/// It cannot be read, or what settings say of it cannot be used together.
pub(crate) fn retrieval(origin: &Origin, documents: &Documents) -> Result<Option<Retrieval>> {
    let Origin::Entry(entry) = origin else { return Ok(None) };
    let (reading, seen) = documents.reading_of(origin)?;
    let of_head = |format, head: &[u8]| {
        reading.origins.of_seen(entry, seen.as_ref().unwrap_or(entry), format, head).0
    };
    let known = of_head(Format::Other, b"");
    let origins = &reading.origins;
    if !origins.asks_page(known.as_ref()) || entry.kind != EntryKind::File {
        return Ok(known);
    }
    let mut head = Vec::new();
    let file = entry.open(documents.selection.follow)?;
    let most = if origins.canonical { canonical::HEAD } else { HEAD };
    let read = file.take(most as u64).read_to_end(&mut head);
    read.map_err(|error| Error::io(&entry.path, error))?;
    Ok(of_head(
        reading.format.unwrap_or_else(|| detect(origin, &head, &reading.options.scan)),
        &head,
    ))
}

/// Reads a whole file, which had this size.
fn read_large(mut file: fs::File, size: u64, jobs: usize) -> io::Result<Vec<u8>> {
    let halves = match jobs {
        2.. if size <= LARGEST => read_halves(file.try_clone()?, size).ok(),
        _ => None,
    };
    let mut bytes = match halves {
        Some(bytes) => bytes,
        None => {
            file.rewind()?;
            Vec::new()
        }
    };
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads so many bytes, each half on a thread of its own: to fill fresh memory takes longer than to read.
/// What follows them is read next.
#[cfg(unix)]
fn read_halves(mut file: fs::File, size: u64) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| ErrorKind::OutOfMemory)?];
    let half = bytes.len() / 2;
    let (first, second) = bytes.split_at_mut(half);
    let at = half as u64;
    thread::scope(|scope| {
        let second = || file.read_exact_at(second, at);
        let second = thread::Builder::new().spawn_scoped(scope, second)?;
        let first = file.read_exact_at(first, 0);
        first.and(second.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    file.seek(SeekFrom::Start(size))?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn read_halves(_: fs::File, _: u64) -> io::Result<Vec<u8>> {
    Err(ErrorKind::Unsupported.into())
}

/// Refuses the file `path`, of which the system says `seen`, if standard output goes to it: what is written
/// would be read, or written over what is not read yet. Without `seen` it is standard input.
fn refuse_standard_output(path: &Path, seen: Option<&Metadata>) -> Result<()> {
    let Some(length) = length_of_standard_output(path, seen) else { return Ok(()) };
    let emptied = if length == 0 { ", which the shell has emptied" } else { "" };
    Err(Error::new(format!(
        "{}: standard output goes to this very file{emptied}; use another one, or `rewrite --in-place`",
        name(path)
    )))
}

/// The length of the file, if standard output goes to it.
#[cfg(unix)]
fn length_of_standard_output(path: &Path, seen: Option<&Metadata>) -> Option<u64> {
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::MetadataExt;
    use std::sync::OnceLock;
    static STANDARD: OnceLock<Option<(u64, u64)>> = OnceLock::new();
    let of = |stream: BorrowedFd<'_>| {
        fs::File::from(stream.try_clone_to_owned().ok()?).metadata().ok().filter(Metadata::is_file)
    };
    let identity = |file: &Metadata| (file.dev(), file.ino());
    let standard = STANDARD.get_or_init(|| of(io::stdout().as_fd()).as_ref().map(identity));
    let standard = standard.as_ref()?;
    let is_it = |seen: &Metadata| (identity(seen) == *standard).then_some(seen.len());
    match seen {
        Some(seen) => is_it(seen),
        None if is_standard_input(path) => is_it(&of(io::stdin().as_fd())?),
        None => None,
    }
}

#[cfg(not(unix))]
fn length_of_standard_output(_: &Path, _: Option<&Metadata>) -> Option<u64> {
    None
}

/// So many readers of a file of this length, each with a place of its own. What follows is not read.
#[cfg(unix)]
pub(crate) fn readers(file: &fs::File, length: u64, count: usize) -> Vec<impl Read + Seek + Send> {
    use std::os::unix::fs::FileExt;
    struct ReadAt<'a> {
        file: &'a fs::File,
        length: u64,
        at: u64,
    }
    impl Read for ReadAt<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let left = usize::try_from(self.length.saturating_sub(self.at)).unwrap_or(usize::MAX);
            let most = buffer.len().min(left);
            let length = self.file.read_at(&mut buffer[..most], self.at)?;
            self.at += length as u64;
            Ok(length)
        }
    }
    impl Seek for ReadAt<'_> {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            let (from, by) = match to {
                SeekFrom::Start(at) => (at, 0),
                SeekFrom::Current(by) => (self.at, by),
                SeekFrom::End(by) => (self.length, by),
            };
            self.at = from.checked_add_signed(by).ok_or(ErrorKind::InvalidInput)?;
            Ok(self.at)
        }
    }
    (0..count).map(|_| ReadAt { file, length, at: 0 }).collect()
}

/// A reader of a file, which has one place only.
#[cfg(not(unix))]
pub(crate) fn readers(
    file: &fs::File,
    _length: u64,
    _count: usize,
) -> Vec<impl Read + Seek + Send> {
    vec![file]
}

/// What the file that begins with `head` is.
fn detect(origin: &Origin, head: &[u8], scan: &ScanOptions) -> Format {
    let Origin::Entry(entry) = origin else {
        // A filter is there for documents.
        return Some(Format::detect(None, head))
            .filter(|format| format.is_read())
            .unwrap_or_default();
    };
    let name = entry.path.to_string_lossy();
    if let Some(format) = Format::opt_in(&name).filter(|format| is_read(*format, scan)) {
        return format;
    }
    let head = &head[..head.len().min(LOOKED_AT)];
    match Format::detect(Some(&name), head) {
        // The name of a message of a Maildir says nothing of its format; its folder does.
        Format::Other | Format::Mbox if maildir::is_message(&entry.path) => Format::Message,
        // That of nothing at all is a document, too, where it was named.
        Format::Other if head.is_empty() && entry.relative.is_empty() => Format::Html,
        format => format,
    }
}
