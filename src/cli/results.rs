//! A result file for each input file, written whole or not at all.
//!
//! ```text
//! links --json -o results crawl/   crawl/a.warc.gz  -->  results/a.warc.gz.jsonl
//! ```
//!
//! Deliberately absent: the contents of a result, and results of earlier runs, which are written anew.

use std::io;
use std::path::{Path, PathBuf};

use baselink_text::error::{Error, Result};

use super::failure::FileResult;
use super::output::Output;
use super::output_folder::OutputFolder;
use super::request::{Documents, Origin};
use super::status::ExitStatus;

/// A folder for results.
pub(crate) struct Results {
    folder: OutputFolder,
    extension: &'static str,
}

impl Results {
    /// Prepares the results of `documents` in the folder `path`, in files with this extension.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or written to, or two results would have the same path.
    pub(crate) fn new(path: &Path, extension: &'static str, documents: &Documents) -> Result<Self> {
        Ok(Self {
            folder: OutputFolder::of(path, documents)?,
            extension,
        })
    }

    /// Writes the output of `work` as the result of `origin`, unless the file could not be read to its end.
    pub(crate) fn write<T>(
        &self,
        origin: &Origin,
        output: &mut Output,
        work: impl FnOnce(&mut Output) -> io::Result<(ExitStatus, T)>,
    ) -> FileResult<(ExitStatus, T)> {
        let Origin::Entry(entry) = origin else {
            let why = "standard input has no file name to use in a folder; name files";
            return Err(Error::new(why).into());
        };
        let mut to = self.folder.place(entry)?.into_os_string();
        to.push(self.extension);
        let to = PathBuf::from(to);
        let begun = self.folder.mirror.begin_new(&entry.path, &to)?;
        let mut of_file = output.with_file(begun);
        let result = work(&mut of_file);
        let (file, buffer) = of_file.into_file();
        output.append(buffer)?;
        // Dropping the file removes an incomplete result.
        let result = result.and_then(|result| {
            let file = file.filter(|_| result.0 != ExitStatus::Unusable);
            file.map_or(Ok(()), |file| file.commit().map(drop))
                .map_err(io::Error::other)?;
            Ok(result)
        });
        let failure = |error: io::Error| match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::io(&entry.path)(error),
        };
        result.map_err(|error| failure(error).into())
    }
}
