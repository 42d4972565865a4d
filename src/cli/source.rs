//! The documents of an open file, processed on several threads: a whole file, the messages of a mailbox, or the
//! documents and captures of an archive.
//!
//! ```text
//! page.html      -->  the page
//! inbox.mbox     -->  message 1, message 2, …
//! crawl.warc.gz  -->  crawl.warc.gz@524, an HTTP response from http://a/
//!                     crawl.warc.gz@9120: warning[member-broken]: …
//! ```
//!
//! The calling thread reads the file; others work on the documents ([`in_order`]). A document is in memory whole, a
//! mailbox or an archive is not.
//!
//! Deliberately absent: opening a file ([`super::input`]), and the formats of archives, which `baselink_site` reads.

use std::{
    borrow::Cow,
    io::{self, Read},
    iter, mem,
    path::Path,
    sync::Arc,
};

use baselink_rewrite::{Options, container::mbox::Messages};
use baselink_text::{Error, Format, Result, Span, name};

use super::{
    document_name::DocumentName,
    in_order::{Bounds, QueueItem, in_order},
    input::{Contents, File, Input},
    output::{BufferedOutput, Output},
    progress::is_stopped,
    status::{Failure, FileResult},
};
use baselink_site::archive::{Entry, Wanted};

/// The total size of the documents under way at which reading waits.
const UNDER_WAY: usize = 16 << 20;
/// The number of documents of each thread under way at which reading waits.
const DOCUMENTS: usize = 64;
/// The size from which a document is processed alone, because the output about its links may be large.
const LARGE: usize = 1 << 20;

/// A part of a file, with at most one document.
#[expect(
    clippy::large_enum_variant,
    reason = "an archive consists of entries, so a smaller variant would save nothing"
)]
enum FilePart {
    Whole(Vec<u8>),
    Message {
        number: usize,
        /// The offset of the message in the mailbox, and the number of lines before it.
        offset: usize,
        lines: usize,
        /// The message with its envelope and the bytes after it.
        bytes: Vec<u8>,
        message: Span,
    },
    Entry(Entry),
}

impl FilePart {
    fn size(&self) -> usize {
        match self {
            Self::Whole(bytes) | Self::Message { bytes, .. } => bytes.len(),
            Self::Entry(entry) => entry.size(),
        }
    }

    /// The document of the part, if it has one, in the file `path`.
    fn input<'a>(&'a self, path: &'a Path, format: Format) -> Option<Input<'a>> {
        let name = DocumentName::of(path);
        match self {
            Self::Whole(bytes) => Some(Input::whole(name, format, bytes)),
            Self::Message {
                number,
                offset,
                lines,
                bytes,
                message,
            } => Some(Input {
                before: &bytes[..message.start],
                after: &bytes[message.end..],
                offset: offset + message.start,
                lines: *lines,
                entity: number.to_string().into(),
                ..Input::whole(name, format, &bytes[message.range()])
            }),
            Self::Entry(entry) => {
                entry.contents.as_ref()?;
                let name = DocumentName {
                    path,
                    entry: Some(entry),
                };
                Some(Input::whole(name, entry.options.format, entry.bytes()))
            }
        }
    }
}

/// The options for `input`, from the `options` of its file.
fn options_for<'a>(input: &Input<'a>, options: &'a Options) -> Cow<'a, Options> {
    match input.name.entry {
        Some(entry) => Cow::Borrowed(&entry.options),
        None if !input.is_message() => Cow::Borrowed(options),
        None => {
            let mut options = options.clone();
            options.scan.entity = Arc::clone(&input.entity);
            Cow::Owned(options)
        }
    }
}

/// Calls `work` for every document of `file`, and `done` with each result and the output of `work`, in order. Uses
/// several threads, unless `output` already belongs to a worker thread. Returns the number of records with anomalies.
pub fn each<T: Send>(
    file: File<'_>,
    output: &mut Output,
    work: impl Fn(&Input<'_>, &Options, &mut Output) -> io::Result<T> + Sync,
    mut done: impl FnMut(T, &Input<'_>, BufferedOutput, &mut Output) -> FileResult<()>,
) -> FileResult<usize> {
    let File {
        path,
        format,
        options,
        jobs,
        wanted,
        contents,
        ..
    } = file;
    let threads = if output.is_buffered() { 1 } else { jobs };
    let holds_many = !matches!(contents, Contents::Document(_));
    let counts = holds_many && output.count_diagnostics();
    let (mut numbers, mut anomalies) = (0.., 0);
    let mut process = |path: &Path, parts: FileParts<'_>, output: &mut Output| {
        let of_file = (path, format, &options);
        work_through(of_file, threads, parts, output, &work, &mut done)
    };
    let ended = match contents {
        Contents::Document(bytes) => {
            process(path, &mut iter::once(Ok(FilePart::Whole(bytes))), output)
        }
        Contents::Mailbox(reader) => process(path, &mut messages(path, reader), output),
        Contents::Archive(archive) => {
            let mut latest = Ok(());
            let read = archive.each(path, &options, wanted, |path, entries| {
                let failed = |error: Error| Error::file(path, &error.to_string());
                let part = |entry: Result<Entry>| {
                    let mut entry = entry.map_err(failed)?;
                    entry.messages.retain(|_| wanted != Wanted::Captures);
                    anomalies += usize::from(!entry.messages.is_empty());
                    entry.number = numbers.next().unwrap_or(u32::MAX);
                    Ok(FilePart::Entry(entry))
                };
                let read = entries.map_err(failed).map_err(Failure::from);
                let read = read.and_then(|entries| process(path, &mut entries.map(part), output));
                // A damaged archive in a file does not stop the others.
                if let Err(error) = Failure::separate(read)?
                    && let Err(Failure::File(earlier)) =
                        mem::replace(&mut latest, Err(error.into()))
                {
                    output.error(&earlier);
                }
                Ok(())
            });
            read.and(latest)
        }
    };
    if counts {
        output.report_counted_diagnostics();
    }
    ended.map(|()| anomalies)
}

type FileParts<'p> = &'p mut dyn Iterator<Item = Result<FilePart>>;

/// Returns the messages of the mailbox `path`.
fn messages(path: &Path, reader: impl Read) -> impl Iterator<Item = Result<FilePart>> {
    let (mut messages, mut lines) = (Messages::new(reader), 0);
    iter::from_fn(move || {
        let found = messages.next_message().transpose()?;
        Some(found.map(|found| {
            let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
            let before = count(&found.bytes[..found.message.start]);
            let part = FilePart::Message {
                number: found.number,
                offset: usize::try_from(found.offset).unwrap_or(usize::MAX),
                lines: lines + before,
                bytes: found.bytes.to_vec(),
                message: found.message,
            };
            lines += before + count(&found.bytes[found.message.start..]);
            part
        }))
    })
    .map(|found| found.map_err(Error::io(path)))
}

/// Calls `work` for the document of each part, and `done` with each result, in order. Reports anomalies.
fn work_through<T: Send>(
    (path, format, options): (&Path, Format, &Options),
    threads: usize,
    parts: FileParts<'_>,
    output: &mut Output,
    work: &(impl Fn(&Input<'_>, &Options, &mut Output) -> io::Result<T> + Sync),
    done: &mut impl FnMut(T, &Input<'_>, BufferedOutput, &mut Output) -> FileResult<()>,
) -> FileResult<()> {
    let bounds = Bounds {
        threads,
        items: DOCUMENTS * threads,
        size: UNDER_WAY,
    };
    let items = parts
        .take_while(|part| !matches!(part, Ok(FilePart::Entry(_))) || !is_stopped())
        .map(|value| {
            let size = value.as_ref().map_or(0, FilePart::size);
            let is_alone = size >= LARGE || matches!(value, Ok(FilePart::Whole(_)));
            QueueItem {
                value,
                size,
                is_alone,
            }
        });
    let blank = output.buffered();
    let work = |part: Result<FilePart>, output: &mut Output| {
        let part = part?;
        if let FilePart::Entry(entry) = &part {
            for (code, message) in &entry.messages {
                let place = format!("{}@{}", name(path), entry.key.offset);
                output.report_or_count(Some(&place), code.name(), message);
            }
        }
        let result = part
            .input(path, format)
            .map(|input| work(&input, &options_for(&input, options), output));
        Ok::<_, Error>((part, result))
    };
    let receive = |(result, buffer): (Result<_>, Output), output: &mut Output| {
        let (part, result) = result?;
        let buffer = buffer.into_buffer();
        let Some((input, result)) = FilePart::input(&part, path, format).zip(result) else {
            return Ok(output.append(buffer)?);
        };
        if let Some(entry) = input.name.entry {
            output.advance_to(entry.key.offset.file);
        }
        done(result?, &input, buffer, output)
    };
    in_order(bounds, items, output, || blank.buffered(), work, receive)
}
