//! A file that what is printed goes to, and that is there whole or not at all.
//!
//! ```text
//! write, write, commit   -->   the file;   write, and an error or the end of the program   -->   none
//! ```
//!
//! Deliberately absent: where it is.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use baselink::error::Error;
use baselink::files::write::Replacement;

/// A file that is being written.
pub(crate) struct ResultFile(BufWriter<Begun>);

struct Begun(Replacement);

impl ResultFile {
    pub(crate) fn new(begun: Replacement) -> Self {
        Self(BufWriter::with_capacity(64 << 10, Begun(begun)))
    }

    /// Gives the file its name.
    pub(crate) fn commit(self) -> io::Result<()> {
        let Begun(begun) = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        begun.commit().map(drop).map_err(io::Error::other)
    }

    /// What is said of an `error` of making the result of the file at `path`.
    pub(crate) fn failure(path: &Path, error: io::Error) -> Error {
        error.downcast().unwrap_or_else(|error| Error::io(path, error))
    }
}

impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Begun {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(|out| out.write_all(bytes));
        written.map(|()| bytes.len()).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
