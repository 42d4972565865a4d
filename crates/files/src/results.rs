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
        let mut begun = None;
        let place = match self {
            Self::Writer => ResultPlace::Writer,
            Self::File {
                path,
                preserve_times,
            } => {
                begun = Some(NewContents::begin(path)?);
                ResultPlace::File {
                    preserve_times: *preserve_times,
                }
            }
            Self::Folder(_) if entry.is_standard_input() => return Err(nameless()),
            Self::Folder(folder) => ResultPlace::Below {
                folder,
                entry,
                to: folder.place(entry, new)?,
                read: None,
            },
            Self::InPlace(how) | Self::Checked(how) => ResultPlace::InPlace {
                how,
                is_checked_only: matches!(self, Self::Checked(_)),
                original: entry.original()?,
            },
            Self::Staged(set) => {
                let old = entry.below_root();
                ResultPlace::Staged {
                    set,
                    original: entry.original()?,
                    new: new.unwrap_or_else(|| old.clone()),
                    old,
                }
            }
            Self::Nowhere => ResultPlace::Nowhere,
        };
        Ok(ResultFile { place, begun })
    }
}

/// The result of one file.
pub struct ResultFile<'r> {
    /// Where it goes.
    pub place: ResultPlace<'r>,
    /// The new contents, once they are begun.
    begun: Option<NewContents>,
}

/// Where the result of one file goes.
pub enum ResultPlace<'r> {
    /// To the stream of the caller.
    Writer,
    /// Nowhere, because of the options or because the result is withheld.
    Nowhere,
    /// To a file that is begun at once.
    File {
        /// True if it gets the times of its input.
        preserve_times: bool,
    },
    /// To a file of an output folder, which is begun with the first document.
    Below {
        /// The output folder.
        folder: &'r ResultFolder,
        /// The input.
        entry: &'r TreeEntry,
        /// The path below the output folder.
        to: PathBuf,
        /// The metadata of the input, if it was read.
        read: Option<Metadata>,
    },
    /// In place of a file, if a document changes.
    InPlace {
        /// The settings.
        how: &'r InPlace,
        /// True if it stays.
        is_checked_only: bool,
        /// The file.
        original: Original,
    },
    /// In place of a file, together with others, if a document or its name changes.
    Staged {
        /// The files that are replaced together.
        set: &'r StagedMove,
        /// The file.
        original: Original,
        /// Its path below the folder.
        old: PathBuf,
        /// Its new path below the folder.
        new: PathBuf,
    },
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
        match &self.place {
            ResultPlace::InPlace { original, .. } | ResultPlace::Staged { original, .. } => {
                Some(original)
            }
            _ => None,
        }
    }

    /// Sets the metadata of the input.
    pub fn set_metadata(&mut self, of: &Metadata) {
        match (&mut self.place, &mut self.begun) {
            (
                ResultPlace::File {
                    preserve_times: true,
                },
                Some(new),
            ) => new.preserve_times(of),
            (ResultPlace::Below { read, .. }, _) => *read = Some(of.clone()),
            _ => {}
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
        let sized = |from: &Path, to: &Path| {
            if part.is_changed && is_message(from) {
                with_sizes_of(to, write).map_err(Error::io(from))
            } else {
                Ok(to.to_owned())
            }
        };
        if self.begun.is_none() {
            self.begun = match &self.place {
                ResultPlace::Below {
                    folder,
                    entry,
                    to,
                    read,
                } => Some(folder.begin(&entry.path, &sized(&entry.path, to)?, read.as_ref())?),
                ResultPlace::InPlace {
                    how,
                    original,
                    is_checked_only: true,
                } if part.is_changed => {
                    how.check(original)?;
                    None
                }
                ResultPlace::InPlace { how, original, .. } if part.is_changed => {
                    let mut new = how.begin(original)?;
                    if part.is_of_mailbox {
                        new.lock_mailbox();
                    }
                    Some(with_unchanged_start(new, original, part.offset)?)
                }
                ResultPlace::Staged {
                    set,
                    original,
                    old,
                    new,
                } if part.is_changed => {
                    let new = sized(&original.path, new)?;
                    let new = set.replace(original, old, &new)?;
                    Some(with_unchanged_start(new, original, part.offset)?)
                }
                _ => None,
            };
        }
        Ok(self.begun.as_mut())
    }

    /// Withholds the result. If the file is replaced together with others, they stay unchanged, too.
    pub fn withhold(&mut self) {
        if let ResultPlace::Staged { set, .. } = self.place {
            set.fail();
        }
        (self.place, self.begun) = (ResultPlace::Nowhere, None);
    }

    /// Ends the result. If nothing was written to it, a file of an output folder is copied from the input, as it is
    /// now, and a staged file is renamed. Returns `None` if there is no new file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`NewContents::commit`] and of copying.
    pub fn end(self) -> Result<Option<Committed>> {
        let new = match (self.begun, self.place) {
            (Some(new), _) => new,
            (
                None,
                ResultPlace::Below {
                    folder, entry, to, ..
                },
            ) => folder.copy(entry, &to)?,
            (
                None,
                ResultPlace::Staged {
                    set,
                    original,
                    old,
                    new,
                },
            ) if old != new => return Ok(Some(set.rename(&original, &old, &new))),
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
