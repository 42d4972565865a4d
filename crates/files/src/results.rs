//! Where the results of a run go, and the result of one file.
//!
//! ```text
//! Results --begin--> ResultFile --begun, begun, …, end--> the file, if one was written
//! ```
//!
//! A file in an output folder is begun with its first document. A replacement in place is begun with the first changed
//! document, so a file without changes is not touched. Printing is the caller's work: for [`Results::Writer`], it has
//! the stream, and for [`Results::Nowhere`], it may show a diff.
//!
//! ```
//! use std::fs;
//! use baselink_files::results::{ResultPart, Results};
//! use baselink_files::walk::{Selection, walk};
//! use baselink_files::write::InPlace;
//!
//! let folder = tempfile::tempdir()?;
//! let page = folder.path().join("page.html");
//! fs::write(&page, "old")?;
//! for entry in walk(&[page.clone()], &Selection::default()) {
//!     let (results, entry) = (Results::InPlace(InPlace::default()), entry?);
//!     let mut file = results.begin(&entry, None)?;
//!     let part = ResultPart { offset: 0, is_changed: true, is_of_mailbox: false };
//!     if let Some(new) = file.begun(&part, |_| Ok(()))? {
//!         new.write(|out| out.write_all(b"new"))?;
//!     }
//!     file.end()?;
//! }
//! assert_eq!(fs::read(&page)?, b"new");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: the contents of results, and new names for files, which the caller has.

use std::{
    fs::Metadata,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use baselink_text::{Error, Result};

use super::{
    maildir::{is_message, with_sizes_of},
    result_folder::ResultFolder,
    stage::StagedMove,
    walk::TreeEntry,
    write::{Committed, InPlace, NewContents, Original},
};

/// Where the results of a run go.
#[expect(clippy::large_enum_variant, reason = "there is one a run")]
pub enum Results<'a> {
    /// To the stream of the caller.
    Writer,
    /// Nowhere.
    Nowhere,
    /// To this file.
    File {
        /// The path of the file.
        path: &'a Path,
        /// True if it gets the times of its input.
        preserve_times: bool,
    },
    /// To files in this folder.
    Folder(ResultFolder),
    /// Nowhere, but inputs that could not be replaced are errors.
    Checked(InPlace),
    /// In place of the inputs.
    InPlace(InPlace),
    /// In place of the inputs, all at once.
    Staged(&'a StagedMove),
}

impl Results<'_> {
    /// True if files are written.
    pub fn writes_files(&self) -> bool {
        !matches!(self, Self::Writer | Self::Nowhere | Self::Checked(_))
    }

    /// True if inputs are replaced, or would be.
    pub fn replaces_inputs(&self) -> bool {
        matches!(self, Self::Checked(_) | Self::InPlace(_) | Self::Staged(_))
    }

    /// Begins the result of `entry`, or of standard input. `new` is its new path below its root, if it gets another.
    ///
    /// # Errors
    ///
    /// Returns an error if the result cannot be written, or if it needs a name that standard input lacks.
    pub fn begin<'r>(
        &'r self,
        entry: &'r TreeEntry,
        new: Option<PathBuf>,
    ) -> Result<ResultFile<'r>> {
        let mut file = ResultFile {
            to: self,
            entry,
            original: None,
            path: PathBuf::new(),
            read: None,
            begun: None,
        };
        match self {
            Self::Writer | Self::Nowhere => {}
            Self::File { path, .. } => file.begun = Some(NewContents::begin(path)?),
            Self::Folder(_) if entry.is_standard_input() => return Err(nameless()),
            Self::Folder(folder) => file.path = folder.place(entry, new)?,
            Self::InPlace(_) | Self::Checked(_) | Self::Staged(_) => {
                file.original = Some(entry.original()?);
                file.path = new.unwrap_or_else(|| entry.below_root());
            }
        }
        Ok(file)
    }
}

/// The result of one file.
pub struct ResultFile<'r> {
    /// Where it goes; [`Results::Nowhere`] if it is withheld.
    pub to: &'r Results<'r>,
    /// The input.
    entry: &'r TreeEntry,
    /// The file that is to be replaced.
    original: Option<Original>,
    /// The path below the output folder, or below the folder of staged files.
    path: PathBuf,
    /// The metadata of the input, if it was read.
    read: Option<Metadata>,
    /// The new contents, once they are begun.
    begun: Option<NewContents>,
}

/// A part of a result, such as a document or a message of a mailbox.
pub struct ResultPart {
    /// The number of bytes before it in the input.
    pub offset: u64,
    /// True if it differs from the input.
    pub is_changed: bool,
    /// True if the input is a mailbox, which must be locked.
    pub is_of_mailbox: bool,
}

impl ResultFile<'_> {
    /// The file that is to be replaced.
    pub fn original(&self) -> Option<&Original> {
        self.original.as_ref()
    }

    /// Sets the metadata of the input.
    pub fn set_metadata(&mut self, of: &Metadata) {
        self.read = Some(of.clone());
        if let Results::File { preserve_times, .. } = self.to
            && let Some(new) = self.begun.as_mut().filter(|_| *preserve_times)
        {
            new.preserve_times(of);
        }
    }

    /// The contents to which `part` is to be written, begun if necessary; `None` if it is written to no file. `write`
    /// writes the part, because the name of a message contains its size.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be begun.
    pub fn begun(
        &mut self,
        part: &ResultPart,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Option<&mut NewContents>> {
        let sized = || {
            let (from, to) = (&self.entry.path, &self.path);
            if part.is_changed && is_message(from) {
                with_sizes_of(to, write).map_err(Error::io(from))
            } else {
                Ok(to.clone())
            }
        };
        if self.begun.is_none() {
            self.begun = match (self.to, &self.original) {
                (Results::Folder(folder), _) => {
                    Some(folder.begin(&self.entry.path, &sized()?, self.read.as_ref())?)
                }
                (Results::Checked(how), Some(original)) if part.is_changed => {
                    how.check(original)?;
                    None
                }
                (Results::InPlace(how), Some(original)) if part.is_changed => {
                    let mut new = how.begin(original)?;
                    if part.is_of_mailbox {
                        new.lock_mailbox();
                    }
                    Some(with_unchanged_start(new, original, part.offset)?)
                }
                (Results::Staged(set), Some(original)) if part.is_changed => {
                    let new = set.replace(original, &self.entry.below_root(), &sized()?)?;
                    Some(with_unchanged_start(new, original, part.offset)?)
                }
                _ => None,
            };
        }
        Ok(self.begun.as_mut())
    }

    /// Withholds the result. If the file is replaced together with others, they stay unchanged, too.
    pub fn withhold(&mut self) {
        if let Results::Staged(set) = self.to {
            set.fail();
        }
        (self.to, self.begun) = (&Results::Nowhere, None);
    }

    /// Ends the result. If nothing was written to it, a file of an output folder is copied from the input, as it is
    /// now, and a staged file is renamed. Returns `None` if there is no new file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`NewContents::commit`] and of copying.
    pub fn end(self) -> Result<Option<Committed>> {
        let old = self.entry.below_root();
        let new = match (self.begun, self.to, &self.original) {
            (Some(new), ..) => new,
            (None, Results::Folder(folder), _) => folder.copy(self.entry, &self.path)?,
            (None, Results::Staged(set), Some(original)) if old != self.path => {
                return Ok(Some(set.rename(original, &old, &self.path)));
            }
            _ => return Ok(None),
        };
        new.commit().map(Some)
    }
}

/// A failure that ends the work on a file. An [`io::Error`] always comes from standard output.
pub enum Failure {
    /// Standard output cannot be written to.
    Output(io::Error),
    /// The file cannot be read, or its result cannot be written.
    File(Error),
}

/// The result of the work on a file.
pub type FileResult<T> = Result<T, Failure>;

impl Failure {
    /// Separates an error of standard output (outer result) from an error of the file (inner result).
    pub fn separate<T>(ended: FileResult<T>) -> io::Result<Result<T, Error>> {
        match ended {
            Ok(result) => Ok(Ok(result)),
            Err(Self::File(error)) => Ok(Err(error)),
            Err(Self::Output(error)) => Err(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

/// An error: the name of a file in a folder follows from that of its input.
pub fn nameless() -> Error {
    Error::new("standard input has no file name to use in a folder; name files")
}

/// Copies the first `length` bytes of `original`, which are unchanged, to `new`.
fn with_unchanged_start(
    mut new: NewContents,
    original: &Original,
    length: u64,
) -> Result<NewContents> {
    if length > 0 {
        let mut old = original.open()?.take(length);
        new.write(|out| io::copy(&mut old, out).map(drop))?;
    }
    Ok(new)
}
