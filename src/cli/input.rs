//! A document as it comes in: from a file or from standard input.
//!
//! ```text
//! error: style.css: css is not read by this version; `--format html` reads it as HTML
//! ```
//!
//! Deliberately absent: directories, and reading a document piece by piece. A `<base>` may follow
//! what it governs, so a document is in memory whole.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use baselink::error::{Error, Result};
use baselink::format::Format;

use super::visible::visible;

/// The bytes of one document.
pub(crate) struct Input {
    /// What was named; `-` is standard input.
    pub(crate) path: PathBuf,
    /// The whole of it.
    pub(crate) bytes: Vec<u8>,
    /// What it is read as.
    pub(crate) format: Format,
}

impl Input {
    /// Reads what is at `path`, as `format` or as what it looks like.
    pub(crate) fn read(path: &Path, format: Option<Format>) -> Result<Self> {
        let bytes = bytes_of(path).map_err(|error| {
            Error::new(if error.kind() == ErrorKind::IsADirectory {
                format!(
                    "{}: a directory; directories come with a later version; name files",
                    name(path)
                )
            } else {
                format!("{}: {}", name(path), cause(&error))
            })
        })?;
        let format = format.unwrap_or_else(|| {
            let named = (!is_standard_input(path)).then(|| path.to_string_lossy());
            match Format::detect(named.as_deref(), &bytes) {
                // A filter is there for documents; that of nothing at all is one, too.
                Format::Other if named.is_none() || bytes.is_empty() => Format::Html,
                format => format,
            }
        });
        if !format.is_read() {
            let what = match format {
                Format::Other => "this does not look like HTML".to_owned(),
                format => format!("{} is not read by this version", format.name()),
            };
            let name = name(path);
            return Err(Error::new(format!("{name}: {what}; `--format html` reads it as HTML")));
        }
        Ok(Self { path: path.to_owned(), bytes, format })
    }

    /// Its path for people.
    pub(crate) fn name(&self) -> String {
        name(&self.path)
    }
}

/// Whether `path` stands for standard input. A file of that name is called `./-`.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A path for people, on one line.
pub(crate) fn name(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// What the system has against a file, in our words where they are clearer.
pub(crate) fn cause(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "a directory".to_owned(),
        _ => error.to_string(),
    }
}

fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    if !is_standard_input(path) {
        // Not every system refuses to open a directory.
        return if path.is_dir() { Err(ErrorKind::IsADirectory.into()) } else { fs::read(path) };
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}
