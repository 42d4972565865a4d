//! Contents of web archives, as columns: the links of the documents, or the documents with absolute links.
//!
//! ```text
//! WARC, WACZ, HAR --Contents--> entry --options with its URL--> links, or the rewritten document --> rows
//!                          \--> anomaly --> a row with its offset and a warning
//! ```
//!
//! A thread reads the archive, and waits while a complete batch waits for Python.
//!
//! Deliberately absent: a check of the digests of records; ARC.

use std::error::Error as _;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use baselink::archive::{Offset, Record};
use baselink::{Code, Format, Outcome, Resolver, Rewriter, capture_key, resolve};
use baselink_rewrite::record::payload;
use baselink_site::archive::{Contents, Entry, EntryContents, RecordKey, Wanted};
use baselink_site::collection::capture::Capture;
use baselink_site::reading::with_archives;
use baselink_text::cause;
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::buffer::{Output, Units};
use crate::columns::Type::{self, Bytes, Number};
use crate::columns::{Batch, Batches, LINK, LONGEST, Row};
use crate::messages::{PythonFile, io_exception};
use crate::options::{at, builder};

/// Length of the bytes from which the format of an archive is detected.
const HEAD: u64 = 4_096;

/// Number of bytes that are requested from a Python file at once.
const BUFFER: usize = 1 << 16;

/// Interval in which Python's signals are checked.
const SIGNALS: Duration = Duration::from_millis(100);

/// Result to produce for each document.
#[derive(Clone, Copy)]
enum Content {
    /// A row for each link: path, the fields of `Link`, the columns of its record, level and error.
    Links,
    /// A row for each document: path, the columns of its record, the document, the number of rewritten links, level and error.
    Documents,
    /// A row for each capture: path, the columns of its record, the circumstances of its retrieval, level and error.
    Captures,
}

/// The types of the columns of a record: record, offset, within, url, media_type, url_key.
const RECORD: [Type; 6] = [Bytes, Number, Number, Bytes, Bytes, Bytes];

impl Content {
    /// The types of the columns before those of the record, and after them before `level`.
    fn around(self) -> (&'static [Type], Vec<Type>) {
        match self {
            Self::Links => (&LINK, vec![Bytes]),
            Self::Documents => (&[], vec![Bytes, Number]),
            Self::Captures => (&[], [&[Number; 2][..], &[Bytes; 8]].concat()),
        }
    }

    fn types(self) -> Vec<Type> {
        let (before, after) = self.around();
        [&[Bytes][..], before, &RECORD, &after, &[Bytes; 2]].concat()
    }
}

/// A message of the thread that reads an archive.
enum Message {
    /// The next batch.
    Batch(Batch),
    /// A request for at most this number of bytes of the Python file. So the thread needs no Python.
    Read(usize),
    /// The last message of a thread that lacked memory.
    LacksMemory,
}

/// A Python file, as the thread reads it.
struct RequestedFile {
    requests: SyncSender<Message>,
    answers: Receiver<Vec<u8>>,
}

impl Read for RequestedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let request = self.requests.send(Message::Read(buffer.len()));
        request.map_err(|_| ENDED)?;
        let bytes = self.answers.recv().map_err(|_| ENDED)?;
        // The answer is no longer than the request.
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

/// The kind of error that ends the reading: the Python file raised an exception, or nobody wants further rows.
const ENDED: ErrorKind = ErrorKind::BrokenPipe;

/// The reading of an archive.
struct Reading {
    content: Content,
    rewriter: Rewriter,
    batches: Batches,
    messages: SyncSender<Message>,
}

impl Reading {
    /// Reads the archive `path`, and sends its batches. `file` is the same archive, if it is a file on this machine.
    fn run(mut self, path: &str, reader: Box<dyn Read>, file: Option<File>) {
        let failure = self.read(path, reader, file);
        self.batches.finish();
        let sent = self.send();
        if let (Err(ErrorKind::OutOfMemory), Ok(())) = (failure, sent) {
            // Without a receiver, the rows are not needed.
            let _ = self.messages.send(Message::LacksMemory);
        }
    }

    /// Sends the complete batches.
    fn send(&mut self) -> Result<(), ErrorKind> {
        while let Some(batch) = self.batches.take() {
            let sent = self.messages.send(Message::Batch(batch));
            sent.map_err(|_| ENDED)?;
        }
        Ok(())
    }

    fn read(
        &mut self,
        path: &str,
        mut reader: Box<dyn Read>,
        file: Option<File>,
    ) -> Result<(), ErrorKind> {
        let mut head = Vec::new();
        let read = reader.by_ref().take(HEAD).read_to_end(&mut head);
        if let Err(error) = read {
            return self.failed(path, &baselink::Error::system(cause(&error), error));
        }
        let detected = with_archives(Format::detect(Some(path), &head), file.as_ref(), &head);
        let format = if detected.is_archive() {
            detected
        } else {
            Format::Warc
        };
        let contents = match Contents::new(path.as_ref(), format, head, reader, file) {
            Ok(contents) => contents,
            Err(error) => return self.failed(path, &error),
        };
        let options = self.rewriter.options().clone();
        let wanted = match self.content {
            Content::Captures => Wanted::Bodies,
            Content::Links | Content::Documents => Wanted::Documents,
        };
        contents.each(path.as_ref(), &options, wanted, |path, entries| {
            let path = path.to_string_lossy();
            let entries = match entries {
                Ok(entries) => entries,
                Err(error) => return self.failed(&path, &error),
            };
            for entry in entries {
                match entry {
                    Ok(entry) => self.entry(&path, &entry)?,
                    Err(error) => self.failed(&path, &error)?,
                }
                self.send()?;
            }
            Ok(())
        })
    }

    /// Adds a row for an archive that could not be read to its end, unless the whole reading ends.
    fn failed(&mut self, path: &str, error: &baselink::Error) -> Result<(), ErrorKind> {
        let system = error
            .source()
            .and_then(|error| error.downcast_ref::<io::Error>());
        match system.map(io::Error::kind) {
            Some(kind @ (ErrorKind::OutOfMemory | ENDED)) => Err(kind),
            _ => {
                self.add_problem(path, None, &format!("OSError: {error}"));
                Ok(())
            }
        }
    }

    fn entry(&mut self, path: &str, entry: &Entry) -> Result<(), ErrorKind> {
        for (code, message) in &entry.messages {
            self.warn(path, entry, *code, message);
        }
        match self.content {
            _ if entry.contents.is_none() => {}
            Content::Links => self.links(path, entry),
            Content::Documents => self.rewritten(path, entry).map_err(|error| error.kind())?,
            Content::Captures => {
                for capture in &entry.captures() {
                    self.capture(path, entry, capture);
                }
            }
        }
        Ok(())
    }

    /// Adds a row with an anomaly of an entry.
    fn warn(&mut self, path: &str, entry: &Entry, code: Code, message: &str) {
        let text = format!("{}: {message}", code.name());
        self.add_problem(path, Some(entry.key.offset), &text);
    }

    fn add_problem(&mut self, path: &str, offset: Option<Offset>, problem: &str) {
        let (before, after) = self.content.around();
        let mut row = self.batches.row();
        row.text(Some(path))
            .absent(before)
            .text(None)
            .number(offset.map(|offset| offset.file))
            .number(offset.map(|offset| offset.within))
            .absent(&RECORD[3..])
            .absent(&after);
        // Only the failure of an archive has no place.
        let level = if offset.is_some() { "warning" } else { "error" };
        row.text(Some(level)).text(Some(problem));
    }

    fn links(&mut self, path: &str, entry: &Entry) {
        let batches = &mut self.batches;
        let totals = baselink_rewrite::links(entry.bytes(), &entry.options, &mut |found| {
            let link = &found.link;
            let texts = [
                Some(&*link.reference),
                link.base.as_deref(),
                link.target.as_deref(),
            ];
            let is_too_long = texts.into_iter().flatten().any(|text| text.len() > LONGEST);
            let error = is_too_long.then_some("too-long: a column of Arrow cannot hold all of it");
            let place = Units::BYTES.place(link.span, (found.line, found.column));
            let mut row = batches.row();
            let target_key = link.target.as_deref().and_then(capture_key);
            add_key(&entry.key, row.text(Some(path)).link(link, &place))
                .text(target_key.as_deref())
                .error(error);
        });
        // Only these rows report a body whose links could not be read.
        let has_links = totals.links() > 0;
        for found in totals.diagnostics {
            let is_unread = match found.code {
                Code::TransferUndecodable => true,
                // The body may be text, although the heading declares a coding.
                Code::CodingAbsent => !has_links,
                _ => false,
            };
            if is_unread {
                self.warn(path, entry, found.code, &found.message);
            }
        }
        let format = entry.options.format;
        if format != Format::Http
            && let Err(reason) = payload(entry.bytes(), format)
        {
            self.warn(path, entry, Code::TransferUndecodable, reason);
        }
    }

    fn capture(&mut self, path: &str, entry: &Entry, capture: &Capture) {
        let record = match &entry.contents {
            Some(EntryContents::Record(record, _)) => Some(record),
            _ => None,
        };
        let (offset, method) = (entry.key.offset, capture.other_method.as_deref());
        let end = entry.key.end.filter(|_| offset.within == 0);
        let status = Some(capture.status).filter(|status| *status > 0 && method.is_none());
        let key = RecordKey {
            id: record.and_then(Record::id),
            offset,
            end,
            url: Some(capture.url.to_string()),
            media_type: capture.media_type.to_string(),
        };
        // Browsers resolve a location by the URL Standard (Fetch Standard, 2.2.6, "location URL").
        let target = |location| resolve(Resolver::Whatwg, &capture.url, location).ok();
        let location = capture.location.as_deref().and_then(target);
        let body = match capture {
            _ if !capture.repeats.is_empty() => "repeated",
            Capture { is_cut: true, .. } => "cut",
            Capture { is_short: true, .. } => "empty",
            _ => "whole",
        };
        let names = [&*capture.names, &capture.repeats].concat();
        let digest = record.and_then(|record| record.text("WARC-Payload-Digest"));
        let mut row = self.batches.row();
        add_key(&key, row.text(Some(path)))
            .number(end.and_then(|end| end.checked_sub(offset.file)))
            .number(status.map(u64::from))
            .text(method)
            .text(capture.date.map(|date| date.to_string()).as_deref())
            .text(digest.as_deref())
            .text(location.as_deref())
            .text(location.as_deref().and_then(capture_key).as_deref())
            .text(Some(body))
            .text(listed(&names).as_deref())
            .text(listed(&capture.exchange).as_deref())
            .error(None);
    }

    fn rewritten(&mut self, path: &str, entry: &Entry) -> io::Result<()> {
        // A response without a document can only have links in its header fields, and gets no row.
        if !entry.has_document() {
            return Ok(());
        }
        let (bytes, options) = (entry.bytes(), &entry.options);
        let (edits, totals) = baselink_rewrite::edits(bytes, options);
        let mut output = Output::default();
        if totals.lacks_memory {
            return Err(ErrorKind::OutOfMemory.into());
        }
        edits.write_to(bytes, &mut output)?;
        let document = payload(&output.0, options.format).ok();
        let error = match &document {
            None => Some(
                "not-editable: the body of this response is damaged, of a coding that is not read, or \
                 inflates to too many times its length",
            ),
            Some(document) if document.len() > LONGEST => {
                Some("too-long: a column of Arrow cannot hold it")
            }
            Some(_) => None,
        };
        let mut row = self.batches.row();
        add_key(&entry.key, row.text(Some(path)))
            .bytes(document.as_deref())
            .number(Some(totals.count(Outcome::Rewritten) as u64))
            .error(error);
        Ok(())
    }
}

/// Identifiers, separated by spaces.
fn listed(identifiers: &[u64]) -> Option<String> {
    let texts: Vec<_> = identifiers.iter().map(u64::to_string).collect();
    Some(texts.join(" ")).filter(|text| !text.is_empty())
}

/// Adds the columns of a record.
fn add_key<'r, 'a>(key: &RecordKey, row: &'r mut Row<'a>) -> &'r mut Row<'a> {
    row.text(key.id.as_deref())
        .number(Some(key.offset.file))
        .number(Some(key.offset.within))
        .text(key.url.as_deref())
        .text(Some(&key.media_type))
        .text(key.url.as_deref().and_then(capture_key).as_deref())
}

/// An iterator over the batches of a web archive.
#[pyclass(module = "baselink._baselink")]
pub(crate) struct ArchiveColumns {
    messages: Mutex<Receiver<Message>>,
    /// The thread that sends them.
    thread: Option<JoinHandle<()>>,
    /// The Python file that is read, if it is not a path, and the way of its bytes to the thread.
    file: Option<(PythonFile, SyncSender<Vec<u8>>)>,
    /// The exception of the file. It is raised after the batches read before it.
    raised: Option<PyErr>,
}

impl ArchiveColumns {
    /// Answers a request of the thread for bytes of the Python file.
    fn answer(&mut self, py: Python<'_>, length: usize) {
        let Some((file, given)) = &mut self.file else {
            return;
        };
        let mut bytes = vec![0; length.min(BUFFER)];
        match file.read(&mut bytes) {
            Ok(length) => {
                bytes.truncate(length);
                // Sending fails only if the thread has ended, which needs no bytes.
                let _ = py.detach(|| given.send(bytes));
            }
            Err(error) => {
                self.raised = Some(io_exception(error));
                // The thread has no other source of bytes.
                self.file = None;
            }
        }
    }
}

fn spawn(read: impl FnOnce() + Send + 'static) -> PyResult<JoinHandle<()>> {
    let thread = thread::Builder::new().spawn(read);
    thread.map_err(|_| PyMemoryError::new_err(()))
}

#[pymethods]
impl ArchiveColumns {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            let Ok(messages) = self.messages.get_mut() else {
                return Ok(None);
            };
            let received = py.detach(|| {
                let messages = &mut *messages;
                messages.recv_timeout(SIGNALS)
            });
            match received {
                Ok(Message::Batch(batch)) => return batch.into_python(py).map(Some),
                Ok(Message::Read(length)) => self.answer(py, length),
                Ok(Message::LacksMemory) => return Err(PyMemoryError::new_err(())),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        match (self.raised.take(), self.thread.take().map(JoinHandle::join)) {
            (Some(raised), _) => Err(raised),
            (None, Some(Err(_))) => Err(PanicException::new_err("the reading thread panicked")),
            (None, _) => Ok(None),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.file
            .as_ref()
            .map_or(Ok(()), |(file, _)| file.traverse(&visit))
    }
}

/// archive_rows(rows, file, path, /, **options)
/// --
///
/// The `rows` of an archive, which is a path or a binary file, as batches of Arrow buffers like those of `link_columns`:
/// "links", "documents" with absolute links, or "captures". The columns are those of `baselink.warc.LINKS`, `DOCUMENTS`
/// or `CAPTURES`. `path` is the value of the first column, and in WACZ followed by the name of the file inside.
#[pyfunction]
#[pyo3(signature = (rows, file, path, /, **options), text_signature = None)]
pub(crate) fn archive_rows(
    rows: &str,
    file: &Bound<'_, PyAny>,
    path: String,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<ArchiveColumns> {
    let content = match rows {
        "documents" => Content::Documents,
        "captures" => Content::Captures,
        _ => Content::Links,
    };
    if options.is_some_and(|options| options.contains("format").unwrap_or_default()) {
        let message = "archive_rows() takes no format: an archive says it of each document";
        return Err(PyTypeError::new_err(message));
    }
    let rewriter = at(builder("archive_rows", options)?, None)?;
    let (sender, messages) = sync_channel(1);
    let requests = sender.clone();
    let reading = Reading {
        content,
        rewriter,
        batches: Batches::new(content.types()),
        messages: sender,
    };
    let (file, thread) = if file.hasattr("read")? {
        let (given, answers) = sync_channel(1);
        let requested = RequestedFile { requests, answers };
        let reader = BufReader::with_capacity(BUFFER, requested);
        let thread = spawn(move || reading.run(&path, Box::new(reader), None))?;
        (Some((PythonFile::new(file), given)), thread)
    } else {
        let file = File::open(file.extract::<PathBuf>()?)?;
        let again = file.try_clone()?;
        let thread = spawn(move || reading.run(&path, Box::new(file), Some(again)))?;
        (None, thread)
    };
    Ok(ArchiveColumns {
        messages: Mutex::new(messages),
        thread: Some(thread),
        file,
        raised: None,
    })
}
