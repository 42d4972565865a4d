//! Contents of web archives (ISO 28500), as columns: the links of the documents, or the documents with absolute links.
//!
//! ```text
//! WARC --Records--> record --document--> bytes, options with its URL --> links, or the rewritten document --> rows
//!             \--> anomaly --> a row with its offset and `error`
//! ```
//!
//! Deliberately absent: a check of the digests of records; ARC; HAR and `.webarchive`; ZIP, which Python opens for
//! WACZ.

use std::error::Error as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

use baselink::Code;
use baselink::Format;
use baselink::archive::{ArchiveEntry, Offset, Record, Records};
use baselink::{Outcome, Rewriter};
use baselink_rewrite::record::{RecordDocument, document, payload};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::buffer::{Output, Units};
use crate::columns::{Batches, LINK, LONGEST, Row, Type};
use crate::messages::{PythonFile, io_exception};
use crate::options::{at, builder};

type Reader = Box<dyn Read + Send + Sync>;

/// Number of entries without a complete batch after which Python's signals are checked.
const ENTRIES: usize = 1 << 8;

/// Result to produce for each document.
#[derive(Clone, Copy)]
enum Content {
    /// A row for each link: path, the fields of `Link`, then the columns of its record.
    Links,
    /// A row for each document: path, the columns of its record, the document, the number of rewritten links.
    Documents,
}

impl Content {
    /// The types of the columns after those of the record, and before `error`.
    const DOCUMENT: [Type; 2] = [Type::Bytes, Type::Number];
    /// Record, offset, within, url, media_type.
    const RECORD: [Type; 5] = [
        Type::Bytes,
        Type::Number,
        Type::Number,
        Type::Bytes,
        Type::Bytes,
    ];

    fn types(self) -> Vec<Type> {
        let (before, after): (&[_], &[_]) = match self {
            Self::Links => (&LINK, &[]),
            Self::Documents => (&[], &Self::DOCUMENT),
        };
        let (path, error) = ([Type::Bytes], [Type::Bytes]);
        [&path, before, &Self::RECORD, after, &error].concat()
    }
}

/// The columns of a record.
struct Key {
    id: Option<String>,
    offset: Offset,
    url: Option<String>,
    media_type: String,
}

impl Key {
    fn of(record: &Record, found: &RecordDocument<'_>) -> Self {
        let url = record
            .target_uri()
            .map(|uri| String::from_utf8_lossy(&uri).into_owned());
        let media_type = found.media_type.clone();
        Self {
            id: record.id(),
            offset: record.offset,
            url,
            media_type,
        }
    }

    fn add_to<'r, 'a>(&self, row: &'r mut Row<'a>) -> &'r mut Row<'a> {
        row.text(self.id.as_deref())
            .number(Some(self.offset.file))
            .number(Some(self.offset.within))
            .text(self.url.as_deref())
            .text(Some(&self.media_type))
    }
}

/// An iterator over the batches of a web archive.
#[pyclass(module = "baselink._baselink")]
pub(crate) struct ArchiveColumns {
    records: Records<Reader>,
    /// The Python file that `records` reads, if it does not read a path.
    file: Option<PythonFile>,
    path: String,
    content: Content,
    rewriter: Rewriter,
    batches: Batches,
    has_ended: bool,
    /// The error that ended the reading. It is raised after the batches read before it.
    failure: Option<PyErr>,
}

impl ArchiveColumns {
    fn new(
        function: &str,
        (file, path): (&Bound<'_, PyAny>, String),
        content: Content,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        if options.is_some_and(|options| options.contains("format").unwrap_or_default()) {
            let message =
                format!("{function}() takes no format: an archive says it of each document");
            return Err(PyTypeError::new_err(message));
        }
        let rewriter = at(builder(function, options)?, None)?;
        let python_file = file.hasattr("read")?.then(|| PythonFile::new(file));
        let reader: Reader = match &python_file {
            Some(file) => Box::new(file.clone()),
            None => Box::new(File::open(file.extract::<PathBuf>()?)?),
        };
        Ok(Self {
            records: Records::new(reader),
            file: python_file,
            path,
            content,
            rewriter,
            batches: Batches::new(content.types()),
            has_ended: false,
            failure: None,
        })
    }

    /// Reads on until a batch is complete or the archive ends.
    fn read(&mut self) -> PyResult<()> {
        for count in 1.. {
            if self.batches.has_complete() {
                break;
            }
            match self.records.next() {
                Some(Ok(entry)) => self.entry(entry)?,
                end => {
                    self.failure = end.and_then(Result::err).as_ref().map(to_exception);
                    self.has_ended = true;
                    self.batches.finish();
                    break;
                }
            }
            if count % ENTRIES == 0 {
                Python::attach(|py| py.check_signals())?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: ArchiveEntry) -> PyResult<()> {
        let record = match entry {
            ArchiveEntry::Record(record) => record,
            ArchiveEntry::Anomaly(found) => {
                self.add_error(found.offset, found.code, &found.message);
                return Ok(());
            }
        };
        for found in &record.diagnostics {
            self.add_error(record.offset, found.code, &found.message);
        }
        if let Some(found) = document(&record, self.rewriter.options()) {
            let key = Key::of(&record, &found);
            match self.content {
                Content::Links => self.links(&key, &found),
                Content::Documents => self.rewritten(&key, &found).map_err(io_exception)?,
            }
        }
        self.records.reuse(record.into_buffer());
        Ok(())
    }

    /// Adds a row with an anomaly and its offset.
    fn add_error(&mut self, offset: Offset, code: Code, message: &str) {
        let mut row = self.batches.row();
        row.text(Some(&self.path));
        if let Content::Links = self.content {
            row.absent(&LINK);
        }
        row.text(None)
            .number(Some(offset.file))
            .number(Some(offset.within))
            .text(None)
            .text(None);
        if let Content::Documents = self.content {
            row.absent(&Content::DOCUMENT);
        }
        row.text(Some(&format!("{}: {message}", code.name())));
    }

    fn links(&mut self, key: &Key, found: &RecordDocument<'_>) {
        let Self { batches, path, .. } = self;
        let totals = baselink_rewrite::links(&found.bytes, &found.options, &mut |found| {
            let link = &found.link;
            let texts = [
                Some(&*link.reference),
                link.base.as_deref(),
                link.target.as_deref(),
            ];
            let is_too_long = texts.into_iter().flatten().any(|text| text.len() > LONGEST);
            let error = is_too_long.then_some("too-long: a column of Arrow cannot hold all of it");
            let mut row = batches.row();
            let place = Units::BYTES.place(link.span, (found.line, found.column));
            key.add_to(row.text(Some(path)).link(link, &place))
                .text(error);
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
                self.add_error(key.offset, found.code, &found.message);
            }
        }
        let format = found.options.format;
        if format != Format::Http
            && let Err(reason) = payload(&found.bytes, format)
        {
            self.add_error(key.offset, Code::TransferUndecodable, reason);
        }
    }

    fn rewritten(&mut self, key: &Key, found: &RecordDocument<'_>) -> io::Result<()> {
        let RecordDocument {
            bytes,
            options,
            media_type,
            ..
        } = found;
        // A response without a document can only have links in its header fields, and gets no row.
        let format = Format::of_media_type(media_type);
        if !format.has_headings() && !baselink_scan::is_read(format, &options.scan) {
            return Ok(());
        }
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
        key.add_to(row.text(Some(&self.path)))
            .bytes(document.as_deref())
            .number(Some(totals.count(Outcome::Rewritten) as u64))
            .text(error);
        Ok(())
    }
}

/// Converts an error from reading an archive: to the exception that the Python file raised, or else to `MemoryError` or
/// `OSError`.
fn to_exception(error: &baselink::Error) -> PyErr {
    let system = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    let raised = system.and_then(|error| error.get_ref()?.downcast_ref::<PyErr>());
    match raised {
        Some(raised) => Python::attach(|py| raised.clone_ref(py)),
        None if system.is_some_and(|error| error.kind() == ErrorKind::OutOfMemory) => {
            PyMemoryError::new_err(())
        }
        None => PyOSError::new_err(error.to_string()),
    }
}

#[pymethods]
impl ArchiveColumns {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if !self.has_ended && !self.batches.has_complete() {
            py.detach(|| self.read())?;
        }
        match (self.batches.next(py)?, self.failure.take()) {
            (None, Some(failure)) => Err(failure),
            (batch, failure) => {
                self.failure = failure;
                Ok(batch)
            }
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.file
            .as_ref()
            .map_or(Ok(()), |file| file.traverse(&visit))
    }
}

/// archive_links(file, path, /, **options)
/// --
///
/// The links of the documents in a WARC file, which is a path or a binary file, as batches of Arrow buffers like those
/// of `link_columns`. The columns are path, the fields of `Link`, record, offset, within, url, media_type and error;
/// `path` is the value of the first column in every row. `baselink.warc` makes record batches of the buffers.
#[pyfunction]
#[pyo3(signature = (file, path, /, **options), text_signature = None)]
pub(crate) fn archive_links(
    file: &Bound<'_, PyAny>,
    path: String,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<ArchiveColumns> {
    ArchiveColumns::new("archive_links", (file, path), Content::Links, options)
}

/// archive_documents(file, path, /, **options)
/// --
///
/// The documents in a WARC file with their links made absolute, as batches of Arrow buffers like those of
/// `archive_links`. The columns are path, record, offset, within, url, media_type, document, the number of rewritten
/// links, and error.
#[pyfunction]
#[pyo3(signature = (file, path, /, **options), text_signature = None)]
pub(crate) fn archive_documents(
    file: &Bound<'_, PyAny>,
    path: String,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<ArchiveColumns> {
    ArchiveColumns::new(
        "archive_documents",
        (file, path),
        Content::Documents,
        options,
    )
}
