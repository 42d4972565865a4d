//! The documents of an open file, processed on several threads: a whole file, the messages of a mailbox, or the
//! documents and captures of an archive.
//!
//! ```text
//! page.html      -->  the page
//! inbox.mbox     -->  message 1, message 2, …
//! crawl.warc.gz  -->  crawl.warc.gz@524, an HTTP response from http://a/
//!                     crawl.warc.gz@9120: member-broken, …
//! ```
//!
//! The calling thread reads the file; others work on the documents ([`in_order`]). A document is in memory whole, a
//! mailbox or an archive is not.
//!
//! Deliberately absent: opening a file, and the formats of archives ([`crate::archive`]).

use std::{io, mem, path::Path};

use baselink_files::{
    results::{Failure, FileResult},
    stop::is_stopped,
};
use baselink_rewrite::Options;
use baselink_text::{Error, Format, Result, layer::transfer::longest_of, name};

use super::{
    DocumentName,
    in_order::{Bounds, QueueItem, in_order},
    open::File,
};
use crate::archive::{Contents, Entry, EntryContents, Wanted};

/// The error about an archive with repeated or highly compressed bodies.
pub const TOO_LONG: &str =
    "its decoded bodies take more than 256 times its length; the rest was not read";

/// The receiver of what a reading reports. Each worker thread has one of its own, and they are joined in the order of the inputs.
pub trait Listener: Send + Sync + Sized {
    /// An empty listener for a worker thread.
    fn blank(&self) -> Self;
    /// Adds what the listener of a worker thread has received.
    ///
    /// # Errors
    ///
    /// Returns an error if standard output cannot be written to.
    fn append(&mut self, later: Self) -> io::Result<()>;
    /// True for the listener of a worker thread.
    fn is_of_worker(&self) -> bool;
    /// Counts warnings from now on, instead of reporting each. Returns true if this call began the counting.
    fn begin_counting(&mut self) -> bool;
    /// Reports the counted warnings.
    fn end_counting(&mut self);
    /// Receives an error about a file.
    fn error(&mut self, error: &Error);
    /// Receives a warning with its code.
    fn warning(&mut self, place: Option<&str>, code: &'static str, sentence: &str);
    /// Receives the number of bytes of the current file that are done.
    fn advance_to(&self, place: u64);
    /// Receives the size of a file that is done.
    fn finish_file(&self, size: u64);
}

/// The total size of the documents under way at which reading waits.
const UNDER_WAY: u64 = 16 << 20;
/// The number of documents of each thread under way at which reading waits.
const DOCUMENTS: usize = 64;
/// The size from which a document is processed alone, because the output about its links may be large.
const LARGE: usize = 1 << 20;

/// One document: a file, a message in a mailbox, or an entry of an archive.
pub struct Input<'a> {
    /// The name of the document.
    pub name: DocumentName<'a>,
    /// The format of the file.
    pub format: Format,
    /// The options for reading it.
    pub options: &'a Options,
    /// The bytes before the document that belong to no document.
    pub before: &'a [u8],
    /// The bytes of the document.
    pub bytes: &'a [u8],
    /// The bytes after the document that belong to no document.
    pub after: &'a [u8],
    /// The offset of the document in the file.
    pub offset: usize,
    /// The number of lines before it in the file.
    pub lines: usize,
}

impl<'a> Input<'a> {
    /// The document of `entry`, if it has one, in the file `path`.
    fn of(path: &'a Path, entry: &'a Entry) -> Option<Self> {
        let contents = entry.contents.as_ref()?;
        let name = DocumentName {
            path,
            entry: entry.is_archived().then_some(entry),
        };
        let mut input = Self::whole(name, &entry.options, entry.bytes());
        if let EntryContents::Document {
            bytes,
            span,
            offset,
            lines,
        } = contents
        {
            (input.before, input.after) = (&bytes[..span.start], &bytes[span.end..]);
            (input.offset, input.lines) = (offset + span.start, *lines);
        }
        Some(input)
    }

    /// A document that is a whole file or record.
    pub fn whole(name: DocumentName<'a>, options: &'a Options, bytes: &'a [u8]) -> Self {
        Self {
            name,
            format: options.format,
            options,
            before: &[],
            bytes,
            after: &[],
            offset: 0,
            lines: 0,
        }
    }

    /// The number of the message in its mailbox; otherwise empty.
    pub fn entity(&self) -> &str {
        &self.options.scan.entity
    }

    /// True for a message of a mailbox.
    pub fn is_message(&self) -> bool {
        !self.entity().is_empty()
    }
}

impl File<'_> {
    /// Calls `work` for every document, and `done` with each result and the listener of `work`, in order. Uses several threads,
    /// unless `listener` already belongs to a worker thread. `work` also returns the length of what it decoded. Returns the number
    /// of records with anomalies.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read to its end or too much was decoded, and the first error of `done`.
    pub fn each<L: Listener, T: Send>(
        self,
        listener: &mut L,
        work: impl Fn(&Input<'_>, &mut L) -> io::Result<(T, usize)> + Sync,
        mut done: impl FnMut(T, &Input<'_>, L, &mut L) -> FileResult<()>,
    ) -> FileResult<usize> {
        let (wanted, options) = (self.wanted, self.options);
        let threads = if listener.is_of_worker() {
            1
        } else {
            self.jobs
        };
        let bounds = Bounds {
            threads,
            items: DOCUMENTS * threads,
            size: UNDER_WAY,
        };
        let counts = !matches!(self.contents, Contents::Document(_)) && listener.begin_counting();
        let (mut numbers, mut anomalies, mut latest) = (0.., 0, Ok(()));
        let (mut decoded, size) = (0, self.metadata.map_or(0, |found| found.len()));
        let read = self
            .contents
            .each(self.path, &options, wanted, |path, entries| {
                let failed = |error: Error| Error::file(path, &error.to_string());
                let item = |entry: Result<Entry>| {
                    let value = entry.map_err(failed).map(|mut entry| {
                        entry.messages.retain(|_| wanted != Wanted::Captures);
                        anomalies += usize::from(!entry.messages.is_empty());
                        entry.number = numbers.next().unwrap_or(u32::MAX);
                        entry
                    });
                    let size = value.as_ref().map_or(0, Entry::size);
                    let is_alone = size >= LARGE || value.as_ref().is_ok_and(Entry::is_whole_file);
                    QueueItem {
                        value,
                        size: size as u64,
                        is_alone,
                    }
                };
                let goes_on = |entry: &Result<Entry>| {
                    // A mailbox is replaced whole.
                    entry.as_ref().is_ok_and(|one| !one.is_archived()) || !is_stopped()
                };
                let work = |entry: Result<Entry>, listener: &mut L| {
                    let entry = entry?;
                    for (code, message) in &entry.messages {
                        let place = format!("{}@{}", name(path), entry.key.offset);
                        listener.warning(Some(&place), code.name(), message);
                    }
                    let input = Input::of(path, &entry);
                    let result = input.map(|input| work(&input, listener));
                    Ok::<_, Error>((entry, result))
                };
                let receive = |(result, later): (Result<_>, L), listener: &mut L| {
                    let (entry, result) = result?;
                    let Some((input, result)) = Input::of(path, &entry).zip(result) else {
                        return Ok(listener.append(later)?);
                    };
                    if let Some(entry) = input.name.entry {
                        listener.advance_to(entry.key.offset.file);
                    }
                    let (result, length) = result?;
                    // Other archives do not refer to bodies, or limit it themselves.
                    let length = match entry.contents {
                        Some(EntryContents::Record(..)) => input.bytes.len().max(length),
                        _ => 0,
                    };
                    let longest = longest_of(size.max(entry.key.offset.file));
                    if length > 0 && decoded as u64 >= longest {
                        return Err(Error::file(path, TOO_LONG).into());
                    }
                    decoded = length.saturating_add(decoded);
                    done(result, &input, later, listener)
                };
                let blank = listener.blank();
                let read = entries.map_err(failed).map_err(Failure::from);
                let read = read.and_then(|entries| {
                    let items = entries.take_while(goes_on).map(item);
                    in_order(bounds, items, listener, || blank.blank(), work, receive)
                });
                // A damaged archive in a file does not stop the others.
                if let Err(error) = Failure::separate(read)?
                    && let Err(Failure::File(earlier)) =
                        mem::replace(&mut latest, Err(error.into()))
                {
                    listener.error(&earlier);
                }
                Ok(())
            });
        if counts {
            listener.end_counting();
        }
        read.and(latest).map(|()| anomalies)
    }
}
