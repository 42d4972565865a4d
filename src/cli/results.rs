//! A result file for each input file, so that a stopped run over many archives can be continued.
//!
//! ```text
//! links --json -o results crawl/   crawl/a.warc.gz  -->  results/a.warc.gz.jsonl
//! ```
//!
//! A result is written whole or not at all. It is up to date if it is newer than its input file, the settings, the
//! table of URLs, and the file with the options ([`OPTIONS`]). That file is written anew when the options change,
//! which makes earlier results out of date.
//!
//! Deliberately absent: the contents of a result.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use baselink::error::{Error, Result, name};

use super::failure::FileResult;
use super::output::Output;
use super::output_folder::OutputFolder;
use super::request::{Documents, Origin, ResultsFolder};
use super::status::ExitStatus;

/// The file with the options by which the results in its folder were made.
const OPTIONS: &str = ".links-options";

/// A time after which a file system gives a later timestamp: twice the 10 ms of the coarsest kernel clock.
const TICK: Duration = Duration::from_millis(20);

/// A folder for results.
pub(crate) struct Results {
    folder: OutputFolder,
    extension: &'static str,
    /// The time of the last change that affects results; `None` if earlier results are not reused.
    last_change: Option<SystemTime>,
}

impl Results {
    /// Prepares the results of `documents`, in files with this extension. Reports existing results that were made with
    /// other options.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or written to, two results would have the same path, or a table cannot be read.
    pub(crate) fn new(
        request: &ResultsFolder,
        extension: &'static str,
        documents: &Documents,
        output: &mut Output,
    ) -> Result<Self> {
        let folder = OutputFolder::of(&request.path, documents)?;
        let path = request.path.join(OPTIONS);
        let failed = |error| Error::io(&path, error);
        let earlier = match modified(&path)? {
            Some(_) => Some(fs::read(&path).map_err(failed)?),
            None => None,
        };
        let is_other = earlier.as_deref() != Some(request.options.as_bytes());
        let root = documents.roots().find(|root| root.exists());
        if let Some(root) = root.filter(|_| is_other) {
            let mut file = folder.mirror.begin_new(root, Path::new(OPTIONS))?;
            file.write(|out| out.write_all(request.options.as_bytes()))?;
            file.commit()?;
            // Results written after this pause are newer than the file.
            thread::sleep(TICK);
        }
        let mut last_change = modified(&path)?;
        for table in request.tables.iter().filter(|_| request.keeps) {
            let seen = fs::metadata(table).and_then(|seen| seen.modified());
            last_change = last_change.max(Some(seen.map_err(|error| Error::io(table, error))?));
        }
        if is_other && earlier.is_some() {
            output.notice(&format_args!(
                "{}: the existing results were made with other options and are replaced",
                name(&request.path)
            ));
        }
        Ok(Self { folder, extension, last_change: last_change.filter(|_| request.keeps) })
    }

    /// Writes the output of `work` as the result of `origin`, unless the file could not be read to its end. Returns
    /// `None` if the result is up to date.
    pub(crate) fn write<T>(
        &self,
        origin: &Origin,
        output: &mut Output,
        work: impl FnOnce(&mut Output) -> io::Result<(ExitStatus, T)>,
    ) -> FileResult<Option<(ExitStatus, T)>> {
        let Origin::Entry(entry) = origin else {
            let why = "standard input has no file name to use in a folder; name files";
            return Err(Error::new(why).into());
        };
        let mut to = self.folder.place(entry)?.into_os_string();
        to.push(self.extension);
        let to = PathBuf::from(to);
        let written = modified(&self.folder.out.join(&to))?;
        if let (Some(written), Some(last_change)) = (written, self.last_change)
            && let Ok(of_input) = fs::metadata(&entry.path).and_then(|seen| seen.modified())
            && written > of_input.max(last_change)
        {
            return Ok(None);
        }
        let begun = self.folder.mirror.begin_new(&entry.path, &to)?;
        let mut of_file = output.with_file(begun);
        let result = work(&mut of_file);
        let (file, buffer) = of_file.into_file();
        output.append(buffer)?;
        // Dropping the file removes an incomplete result.
        let result = result.and_then(|result| {
            let file = file.filter(|_| result.0 != ExitStatus::Unusable);
            file.map_or(Ok(()), |file| file.commit().map(drop)).map_err(io::Error::other)?;
            Ok(result)
        });
        let failure = |error: io::Error| match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::io(&entry.path, error),
        };
        result.map(Some).map_err(|error| failure(error).into())
    }
}

/// The modification time of the file at `path`; `None` if it does not exist.
///
/// # Errors
///
/// The path exists but is not a regular file; a pipe, for example, might never end.
fn modified(path: &Path) -> Result<Option<SystemTime>> {
    match fs::symlink_metadata(path) {
        Ok(seen) if seen.is_file() => {
            seen.modified().map(Some).map_err(|error| Error::io(path, error))
        }
        Ok(_) => Err(Error::file(path, "not a regular file; move it away, or name another folder")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}
