//! Results of each file in a file of their own: of many archives, one after the other or at once, and again where a run
//! was stopped.
//!
//! ```text
//! links --json -o results crawl/   crawl/a.warc.gz  -->  results/a.warc.gz.jsonl
//! ```
//!
//! A result is there whole or not at all. One that is not older than its file is not made again.
//!
//! Deliberately absent: what is in a result.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baselink::error::{Error, Result};

use super::failure::FileResult;
use super::output::Output;
use super::output_folder::OutputFolder;
use super::request::{Documents, Origin};
use super::result_file::ResultFile;
use super::status::ExitStatus;

/// A folder for results.
pub(crate) struct Results {
    folder: OutputFolder,
    extension: &'static str,
}

impl Results {
    /// Those of `documents` in the folder `out`, in files with this extension.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or two results would have one place.
    pub(crate) fn new(out: &Path, extension: &'static str, documents: &Documents) -> Result<Self> {
        Ok(Self { folder: OutputFolder::of(out, documents)?, extension })
    }

    /// Makes the result of `origin` by `work`, which prints it; `None` where it is there already. It is written where all
    /// of the file could be used.
    pub(crate) fn of<T>(
        &self,
        origin: &Origin,
        output: &mut Output,
        work: impl FnOnce(&mut Output) -> io::Result<(ExitStatus, T)>,
    ) -> FileResult<Option<(ExitStatus, T)>> {
        let Origin::Entry(entry) = origin else {
            let why = "standard input has no name for a result in a folder; name files";
            return Err(Error::new(why).into());
        };
        let to = with_extension(self.folder.place(entry)?, self.extension);
        if is_made(&self.folder.out.join(&to), &entry.path) {
            return Ok(None);
        }
        let begun = self.folder.mirror.begin_new(&entry.path, &to)?;
        let mut of_file = output.with_file(ResultFile::new(begun));
        let made = work(&mut of_file);
        let (file, page) = of_file.into_file();
        output.append(page)?;
        // What is not whole is gone with its file.
        let made = made.and_then(|made| {
            let file = file.filter(|_| made.0 != ExitStatus::Unusable);
            file.map_or(Ok(()), ResultFile::commit).map(|()| made)
        });
        made.map(Some).map_err(|error| ResultFile::failure(&entry.path, error).into())
    }
}

/// `place` with another extension after its own.
fn with_extension(place: PathBuf, extension: &str) -> PathBuf {
    let mut name: OsString = place.into_os_string();
    name.push(extension);
    name.into()
}

/// Whether the `result` is there, and not older than the file that it is of.
fn is_made(result: &Path, of: &Path) -> bool {
    let time = |path| fs::metadata(path).and_then(|seen| seen.modified());
    matches!((time(result), time(of)), (Ok(result), Ok(of)) if result >= of)
}
