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
//! Deliberately absent: opening a file ([`super::input`]), and the items of an archive ([`super::archive_item`]).

use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    io::{self, Read},
    iter,
    path::Path,
    sync::Arc,
};

use baselink_rewrite::{
    Options,
    archive::{Anomaly, LONGEST_BLOCK, Records},
    container::mbox::Messages,
};
use baselink_text::{Error, Format, Result, Span, cause, layer::transfer::longest_of, name};

use super::{
    archive_item::{Item, Wanted},
    document_name::DocumentName,
    in_order::{Bounds, QueueItem, in_order},
    input::{Contents, File, Input},
    output::{BufferedOutput, Output},
    progress::is_stopped,
    status::{Failure, FileResult},
};
use baselink_site::{
    archive::{Har, Wacz, WebArchive, WebResource},
    collection::message::{file_name_of, resources},
};

/// The total size of the documents under way at which reading waits.
const UNDER_WAY: usize = 16 << 20;
/// The number of documents of each thread under way at which reading waits.
const DOCUMENTS: usize = 64;
/// The size from which a document is processed alone, because the output about its links may be large.
const LARGE: usize = 1 << 20;

/// A part of a file, with at most one document.
#[expect(
    clippy::large_enum_variant,
    reason = "an archive consists of items, so a smaller variant would save nothing"
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
    Item(Item),
}

impl FilePart {
    fn size(&self) -> usize {
        match self {
            Self::Whole(bytes) | Self::Message { bytes, .. } => bytes.len(),
            Self::Item(item) => item.size(),
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
            Self::Item(item) => {
                let archived = item.document.as_ref()?;
                let name = DocumentName {
                    path,
                    record: Some(&archived.key),
                };
                Some(Input {
                    archived: Some(archived),
                    ..Input::whole(name, archived.options.format, archived.bytes())
                })
            }
        }
    }
}

/// The options for `input`, from the `options` of its file.
fn options_for<'a>(input: &Input<'a>, options: &'a Options) -> Cow<'a, Options> {
    match input.archived {
        Some(archived) => Cow::Borrowed(&archived.options),
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
        let mut parts = parts.map(|mut part| {
            if let Ok(FilePart::Item(item)) = &mut part {
                item.messages.retain(|_| wanted != Wanted::Captures);
                anomalies += usize::from(!item.messages.is_empty());
                let number = numbers.next().unwrap_or(u32::MAX);
                item.document.iter_mut().for_each(|one| one.number = number);
            }
            part
        });
        let of_file = (path, format, &options);
        work_through(of_file, threads, &mut parts, output, &work, &mut done)
    };
    let ended = read(path, contents, (&options, wanted), &mut process, output);
    if counts {
        output.report_counted_diagnostics();
    }
    ended.map(|()| anomalies)
}

type FileParts<'p> = &'p mut dyn Iterator<Item = Result<FilePart>>;

/// Calls `process` with the parts of the file `path`, and for WACZ with those of each inner archive.
fn read(
    path: &Path,
    contents: Contents,
    (options, wanted): (&Options, Wanted),
    process: &mut dyn FnMut(&Path, FileParts<'_>, &mut Output) -> FileResult<()>,
    output: &mut Output,
) -> FileResult<()> {
    let failed = |error: Error| failure(path, &error);
    let item = |item: Item| Ok(FilePart::Item(item));
    match contents {
        Contents::Document(bytes) => {
            process(path, &mut iter::once(Ok(FilePart::Whole(bytes))), output)
        }
        Contents::Mailbox(reader) => process(path, &mut messages(path, reader), output),
        Contents::Warc(reader) => {
            let mut records = records(path, (reader, u64::MAX), options, wanted);
            process(path, &mut records, output)
        }
        Contents::Har(reader, mut bodies) => {
            let har = read_whole(reader).and_then(Har::read).map_err(failed)?;
            let items = har.entries().map(|mut entry| {
                let read = match &mut entry {
                    Ok(entry) => entry.attach(&mut bodies),
                    Err(_) => Ok(()),
                };
                let mut item = Item::of_har(entry, options, wanted);
                if let Err(Anomaly {
                    offset,
                    code,
                    message,
                }) = read
                {
                    item.messages.push((offset, code, message));
                }
                item
            });
            process(path, &mut items.map(item), output)
        }
        Contents::WebArchive(reader) => {
            let bytes = read_whole(reader).map_err(failed)?;
            let WebArchive {
                resources,
                anomalies,
                ..
            } = WebArchive::read(&bytes).map_err(failed)?;
            let mut taken = HashMap::new();
            let items = resources
                .into_iter()
                .map(|one| {
                    let key = key_of_resource(&one, &mut taken);
                    Item::of_resource(one, key, options, wanted)
                })
                .chain(anomalies.into_iter().map(Item::of_anomaly));
            process(path, &mut items.map(item), output)
        }
        Contents::Parts(bytes) => {
            let items = resources(&bytes, options)
                .into_iter()
                .zip(0..)
                .map(|(part, number)| Item::of_part(part, number, options));
            process(path, &mut items.map(item), output)
        }
        Contents::Wacz(file) => {
            let length = file.metadata().map_or(0, |found| found.len());
            let mut wacz = Wacz::open(file).map_err(failed)?;
            // A damaged inner archive does not stop the others.
            let mut latest = None;
            wacz.each(|name, reader| {
                let inner = &path.join(name);
                let read = reader.map_err(failed).and_then(|reader| {
                    let mut records = records(inner, (reader, length), options, wanted);
                    process(inner, &mut records, output)
                });
                if let Err(error) = Failure::separate(read)?
                    && let Some(earlier) = latest.replace(error)
                {
                    output.error(&earlier);
                }
                Ok::<_, Failure>(())
            })?;
            latest.map_or(Ok(()), |error| Err(Failure::File(error)))
        }
    }
}

/// The key of a resource whose URL another resource has, according to the digests of bodies in `taken`. In a web archive
/// of Safari, a frame may have the URL of the page, and another body.
fn key_of_resource(one: &WebResource, taken: &mut HashMap<String, u64>) -> Option<String> {
    let body = BuildHasherDefault::<DefaultHasher>::default().hash_one(&one.body);
    let first = *taken.entry(one.url.clone()).or_insert(body);
    (first != body).then(|| format!("frame:/{}/{}", one.number, file_name_of(&one.url)))
}

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

/// Returns the items of the WARC records in `reader`, the archive `path` in a file of `length` bytes.
fn records(
    path: &Path,
    (reader, length): (impl Read, u64),
    options: &Options,
    wanted: Wanted,
) -> impl Iterator<Item = Result<FilePart>> {
    let longest = usize::try_from(longest_of(length)).unwrap_or(LONGEST_BLOCK);
    let records = Records::new(reader).limit(longest.min(LONGEST_BLOCK));
    records.map(move |entry| {
        let entry = entry.map_err(|error| Error::file(path, &error.to_string()))?;
        Ok(FilePart::Item(Item::of(entry, options, wanted)))
    })
}

/// Converts an error about a part of the archive `path` into one about the archive.
fn failure(path: &Path, error: &Error) -> Failure {
    Failure::File(Error::file(path, &error.to_string()))
}

/// Reads all of `reader`.
fn read_whole(mut reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .read_to_end(&mut bytes)
        .map_err(|error| Error::new(cause(&error)))?;
    Ok(bytes)
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
        .take_while(|part| !matches!(part, Ok(FilePart::Item(_))) || !is_stopped())
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
        if let FilePart::Item(item) = &part {
            for (offset, code, message) in &item.messages {
                let place = format!("{}@{offset}", name(path));
                output.report_or_count(Some(&place), code.name(), message);
            }
        }
        let result = part
            .input(path, format)
            .map(|input| work(&input, &options_for(&input, options), output));
        Ok::<_, Error>((part, result))
    };
    let (mut has_anomalies, mut has_records) = (false, false);
    let receive = |(result, buffer), output: &mut Output| {
        let (part, result) = result?;
        if let FilePart::Item(item) = &part {
            has_anomalies |= item.is_anomaly;
            has_records |= !item.is_anomaly;
        }
        let buffer = Output::into_buffer(buffer);
        let Some((input, result)) = part.input(path, format).zip(result) else {
            return Ok(output.append(buffer)?);
        };
        if let Some(record) = input.name.record {
            output.advance_to(record.offset.file);
        }
        done(result?, &input, buffer, output)
    };
    in_order(bounds, items, output, || blank.buffered(), work, receive)?;
    if has_anomalies && !has_records && !is_stopped() {
        Err(failure(path, &Error::new("no WARC record could be read")))
    } else {
        Ok(())
    }
}
