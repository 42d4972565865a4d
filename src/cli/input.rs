//! What is read: files and standard input, each a document or a mailbox of them.
//!
//! ```text
//! page.html  -->  bytes, html
//! inbox.mbox -->  message 1, message 2, …  each with its bytes, one at a time
//! -          -->  bytes, html unless it clearly is something else
//! ```
//!
//! Deliberately absent: directories, and reading a document piece by piece. A `<base>` may follow
//! what it governs, so a document is in memory whole; a mailbox is not.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use baselink::Options;
use baselink::error::{Error, Result, cause, name};
use baselink::format::Format;
use baselink::scan::mbox::Messages;
use baselink::span::Span;

/// A file that can be read.
pub(crate) struct File<'a> {
    /// What was named; `-` is standard input.
    pub(crate) path: &'a Path,
    /// What it is read as.
    pub(crate) format: Format,
    contents: Contents,
}

enum Contents {
    /// A document.
    Whole(Vec<u8>),
    /// Messages.
    Mailbox(Box<dyn Read>),
}

/// One document: a file, or a message in a mailbox.
pub(crate) struct Input<'a> {
    /// What was named; `-` is standard input.
    pub(crate) path: &'a Path,
    /// What the file is read as.
    pub(crate) format: Format,
    /// What stands before the document in the file and belongs to no document.
    pub(crate) before: &'a [u8],
    /// The whole of it.
    pub(crate) bytes: &'a [u8],
    /// What stands behind it and belongs to no document.
    pub(crate) after: &'a [u8],
    /// Where its bytes begin in the file.
    pub(crate) offset: usize,
    /// How many lines of the file come before it.
    pub(crate) lines: usize,
    /// Its name in the file: the number of a message, or nothing.
    pub(crate) entity: Arc<str>,
}

/// How much is looked at to tell a format.
const HEAD: u64 = 4_096;

impl<'a> File<'a> {
    /// Opens what is at `path`, as `format` or as what it looks like.
    pub(crate) fn open(path: &'a Path, format: Option<Format>) -> Result<Self> {
        let failed = |error: io::Error| {
            Error::new(if error.kind() == ErrorKind::IsADirectory {
                format!(
                    "{}: a directory; directories come with a later version; name files",
                    name(path)
                )
            } else {
                format!("{}: {}", name(path), cause(&error))
            })
        };
        let mut reader = reader_of(path).map_err(failed)?;
        let mut bytes = Vec::new();
        reader.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(failed)?;
        let format = format.unwrap_or_else(|| {
            let named = (!is_standard_input(path)).then(|| path.to_string_lossy());
            match Format::detect(named.as_deref(), &bytes) {
                // A filter is there for documents; that of nothing at all is one, too.
                Format::Other if named.is_none() || bytes.is_empty() => Format::Html,
                format => format,
            }
        });
        if !format.is_read() {
            let name = name(path);
            return Err(Error::new(format!(
                "{name}: this looks like no document that is read; --format says what it is: html, xhtml, \
                 svg, xml, css, message or mbox"
            )));
        }
        let contents = if format == Format::Mbox {
            Contents::Mailbox(Box::new(io::Cursor::new(bytes).chain(reader)))
        } else {
            reader.read_to_end(&mut bytes).map_err(failed)?;
            Contents::Whole(bytes)
        };
        Ok(Self { path, format, contents })
    }

    /// Its path for people.
    pub(crate) fn name(&self) -> String {
        name(self.path)
    }

    /// Does `work` for every document in it; the inner error is one of reading.
    pub(crate) fn each(
        self,
        mut work: impl FnMut(&Input<'_>) -> io::Result<()>,
    ) -> io::Result<Result<()>> {
        let Self { path, format, contents } = self;
        let reader = match contents {
            Contents::Mailbox(reader) => reader,
            Contents::Whole(bytes) => {
                let (before, after, entity) = (&[][..], &[][..], Arc::from(""));
                let bytes = bytes.as_slice();
                work(&Input { path, format, before, bytes, after, offset: 0, lines: 0, entity })?;
                return Ok(Ok(()));
            }
        };
        let mut messages = Messages::new(reader);
        let mut lines = 0;
        loop {
            let found = match messages.next_message() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(Ok(())),
                Err(error) => {
                    return Ok(Err(Error::new(format!("{}: {}", name(path), cause(&error)))));
                }
            };
            let Span { start, end } = found.message;
            let (before, after) = (&found.bytes[..start], &found.bytes[end..]);
            let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
            let offset = usize::try_from(found.offset).unwrap_or(usize::MAX).saturating_add(start);
            lines += count(before);
            work(&Input {
                path,
                format,
                before,
                bytes: &found.bytes[start..end],
                after,
                offset,
                lines,
                entity: found.number.to_string().into(),
            })?;
            lines += count(&found.bytes[start..]);
        }
    }
}

impl Input<'_> {
    /// Its path for people.
    pub(crate) fn name(&self) -> String {
        name(self.path)
    }

    /// What the library is told of it.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.format = self.format;
        options.scan.entity = Arc::clone(&self.entity);
        options
    }
}

/// Whether `path` stands for standard input. A file of that name is called `./-`.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn reader_of(path: &Path) -> io::Result<Box<dyn Read>> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    // Not every system refuses to open a directory.
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    Ok(Box::new(fs::File::open(path)?))
}
