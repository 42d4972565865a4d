//! The output of rewritten documents: standard output, a file, a folder, or the input files themselves.
//!
//! ```text
//! RunTarget --begin--> FileSink --write, write, …, end--> Written
//! ```
//!
//! A file in an output folder is begun with the first document. A replacement in place is begun with the first changed
//! document, so a file without changes is not touched.
//!
//! Deliberately absent: replacing files safely, which `baselink_cli::files` does.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf, is_separator};

use crate::collection::Collection;
use crate::collection::folder::{name_of, path_of};
use crate::files::maildir;
use crate::files::stage::StagedMove;
use crate::files::walk::{TreeEntry, walk};
use crate::files::write::{Committed, InPlace, Original, Replacement, is_one_file};
use baselink_text::edit::Edits;
use baselink_text::error::{Error, Result, cause, name};
use baselink_text::format::Format;

use crate::cli::args::output::WrittenTo;
use crate::cli::diff;
use crate::cli::failure::FileResult;
use crate::cli::input::Input;
use crate::cli::output::Output;
use crate::cli::output_folder::OutputFolder;
use crate::cli::request::{Documents, Origin, folder_of};
use crate::cli::rewrite::kind::RewriteKind;
use crate::cli::shell;

/// The target of a run.
#[expect(clippy::large_enum_variant, reason = "there is one a run")]
pub(in crate::cli) enum RunTarget<'a> {
    Standard,
    File {
        path: &'a Path,
        preserve_times: bool,
    },
    Below(OutputFolder),
    InPlace(&'a InPlace),
    /// In place, all files at once.
    Staged(&'a StagedMove, &'a Collection),
    Diff,
    Nowhere,
}

impl<'a> RunTarget<'a> {
    /// The target for `destination`, which is checked for these documents.
    pub(in crate::cli) fn of(destination: &'a WrittenTo, documents: &Documents) -> Result<Self> {
        if matches!(destination, WrittenTo::Path { .. } | WrittenTo::InPlace(_)) {
            require_inputs(destination, documents)?;
        }
        let folder = documents.roots().find(|root| root.is_dir());
        let target = match destination {
            WrittenTo::Standard => match folder {
                None => Self::Standard,
                Some(folder) => {
                    let named = documents.parts.first().map_or(folder, PathBuf::as_path);
                    let why = "the result is a folder, which cannot be written to standard output; name it with -o, \
                               such as -o result, or use --in-place; preview with --diff or --dry-run";
                    return Err(Error::file(named, why));
                }
            },
            WrittenTo::Path {
                path,
                preserve_times,
            } => {
                let mut files = documents.roots().filter(|root| root.is_file());
                if let Some(input) = files.find(|file| is_one_file(file, path)) {
                    let input = if input == path {
                        "itself".to_owned()
                    } else {
                        name(input)
                    };
                    let why = format!(
                        "the output file is the input {input}; name another, or use --in-place"
                    );
                    return Err(Error::file(path, &why));
                }
                let last = path.as_os_str().as_encoded_bytes().last();
                let names_folder = last.is_some_and(|&byte| is_separator(char::from(byte)));
                let is_file = documents.paths.len() == 1
                    && folder.is_none()
                    && !path.is_dir()
                    && !names_folder;
                let preserve_times = *preserve_times;
                if is_file {
                    Self::File {
                        path,
                        preserve_times,
                    }
                } else {
                    let below = OutputFolder::of(path, documents)?;
                    Self::Below(if preserve_times {
                        below.preserving_times()
                    } else {
                        below
                    })
                }
            }
            WrittenTo::InPlace(how) => {
                if how.backup.is_some() {
                    reject_maildir(documents)?;
                }
                Self::InPlace(how)
            }
            WrittenTo::Diff => Self::Diff,
            WrittenTo::Nowhere => Self::Nowhere,
        };
        Ok(target)
    }

    /// The target with the new names of files from `kind`.
    pub(super) fn renaming(self, kind: &'a RewriteKind) -> Self {
        match (self, kind.renamed(), kind.staged()) {
            (Self::Below(below), Some(collection), _) => Self::Below(below.renaming(collection)),
            (Self::InPlace(_), Some(collection), Some(staged)) => Self::Staged(staged, collection),
            (target, ..) => target,
        }
    }

    /// True if files are written.
    pub(in crate::cli) fn writes_files(&self) -> bool {
        matches!(
            self,
            Self::File { .. } | Self::Below(_) | Self::InPlace(_) | Self::Staged(..)
        )
    }

    /// True if input files are replaced.
    pub(in crate::cli) fn replaces_inputs(&self) -> bool {
        matches!(self, Self::InPlace(_) | Self::Staged(..))
    }

    /// Creates the folder for `origin` in an output folder.
    pub(super) fn create_folder(&self, origin: &Origin) -> Result<()> {
        match (self, origin) {
            (Self::Below(below), Origin::Entry(entry)) => {
                below.mirror.folder(&entry.path, &below.place(entry)?)
            }
            _ => Ok(()),
        }
    }

    /// Ends the run, after all files are written.
    ///
    /// # Errors
    ///
    /// One error for each folder whose times could not be set.
    pub(super) fn finish(&self) -> Result<(), Vec<Error>> {
        match self {
            Self::Below(below) => below.mirror.finish(),
            _ => Ok(()),
        }
    }

    /// Begins the result of `origin`.
    pub(in crate::cli) fn begin<'t>(&'t self, origin: &'t Origin) -> Result<FileSink<'t>> {
        let file = |place, new| {
            FileSink::File(Box::new(SinkFile {
                place,
                input_metadata: None,
                new,
            }))
        };
        Ok(match (self, origin) {
            (Self::Standard, _) => FileSink::Standard,
            (
                Self::File {
                    path,
                    preserve_times,
                },
                _,
            ) => {
                let place = FilePlace::Named {
                    preserve_times: *preserve_times,
                };
                file(place, Some(Replacement::begin(path)?))
            }
            (Self::Below(below), Origin::Entry(entry)) => {
                let to = below.place(entry)?;
                file(FilePlace::Below { below, entry, to }, None)
            }
            (Self::InPlace(how), Origin::Entry(entry)) => {
                let original = Box::new(entry.original()?);
                file(FilePlace::Original { how, original }, None)
            }
            (Self::Staged(staged, collection), Origin::Entry(entry)) => {
                let original = Box::new(entry.original()?);
                let old = entry.below_root();
                let number = collection.number_at(&name_of(entry));
                let new = number.and_then(|number| path_of(collection.path_in_mirror(number)));
                let new = new.unwrap_or_else(|| old.clone());
                file(
                    FilePlace::Staged {
                        staged,
                        original,
                        old,
                        new,
                    },
                    None,
                )
            }
            (Self::Below(_), Origin::Standard) => {
                return Err(Error::new(
                    "standard input has no file name to use in a folder; name files",
                ));
            }
            (Self::InPlace(_) | Self::Staged(..), Origin::Standard) => FileSink::Nowhere,
            (Self::Diff, _) => FileSink::Diff(diff::DiffProgress::default()),
            (Self::Nowhere, _) => FileSink::Nowhere,
        })
    }
}

/// Rejects a run with a missing input before anything is written. The missing input may be a backup suffix, typed as
/// for sed.
fn require_inputs(destination: &WrittenTo, documents: &Documents) -> Result<()> {
    for root in documents.roots() {
        let Err(error) = fs::metadata(root) else {
            continue;
        };
        let missing = format!("{}: {}, so nothing was written", name(root), cause(&error));
        let is_suffix =
            root.as_os_str().as_encoded_bytes().starts_with(b".") && root.components().count() == 1;
        return Err(match destination {
            WrittenTo::InPlace(_) if is_suffix => Error::new(format!(
                "{missing}; to keep backups, use -i --backup {}",
                shell::word(&root.to_string_lossy())
            )),
            WrittenTo::InPlace(_) if root.as_os_str() == "break-links" => {
                Error::new(missing + "; did you mean --in-place=break-links?")
            }
            _ => Error::system(missing, error),
        });
    }
    Ok(())
}

/// Rejects backups in a Maildir before anything is written.
fn reject_maildir(documents: &Documents) -> Result<()> {
    let mut files = walk(&documents.paths, &documents.selection).flatten();
    match files.find(|entry| maildir::is_message(&entry.path)) {
        Some(entry) => Err(Error::file(
            folder_of(folder_of(&entry.path)),
            "in a Maildir a backup would be another message; omit --backup, or use -o DIR",
        )),
        None => Ok(()),
    }
}

/// The sink for the result of a file.
pub(in crate::cli) enum FileSink<'t> {
    Standard,
    File(Box<SinkFile<'t>>),
    Diff(diff::DiffProgress),
    /// No output, because of the options or because the result is withheld.
    Nowhere,
}

/// The result file of an input file.
pub(in crate::cli) struct SinkFile<'t> {
    place: FilePlace<'t>,
    /// The metadata of the input file, if it is needed.
    input_metadata: Option<Metadata>,
    /// The new contents. In an output folder, `None` until the first document; in place, until the first changed one.
    new: Option<Replacement>,
}

enum FilePlace<'t> {
    Named {
        preserve_times: bool,
    },
    Below {
        below: &'t OutputFolder,
        entry: &'t TreeEntry,
        to: PathBuf,
    },
    Original {
        how: &'t InPlace,
        original: Box<Original>,
    },
    /// The paths are relative to the folder.
    Staged {
        staged: &'t StagedMove,
        original: Box<Original>,
        old: PathBuf,
        new: PathBuf,
    },
}

impl SinkFile<'_> {
    /// The new contents, begun with `input` if necessary; `None` while nothing has changed in place. `write` writes
    /// the new document, because a file name may contain its size.
    fn new_contents(
        &mut self,
        input: &Input<'_>,
        is_changed: bool,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<Option<&mut Replacement>> {
        if self.new.is_none() {
            self.new = match &mut self.place {
                FilePlace::Named { .. } => None,
                FilePlace::Original { .. } | FilePlace::Staged { .. } if !is_changed => None,
                FilePlace::Original { how, original } => {
                    let new = how.begin(original)?;
                    let is_mailbox = input.format == Format::Mbox;
                    let new = if is_mailbox { new.of_mailbox() } else { new };
                    Some(with_unchanged_start(new, original, input)?)
                }
                FilePlace::Staged {
                    staged,
                    original,
                    old,
                    new,
                } => {
                    if maildir::is_message(original.path()) {
                        *new = with_sizes(new, original.path(), write)?;
                    }
                    let new = staged.replace(original, old, new)?;
                    Some(with_unchanged_start(new, original, input)?)
                }
                FilePlace::Below { below, entry, to } => {
                    // The name of a message in a Maildir contains its size.
                    if is_changed && maildir::is_message(&entry.path) {
                        *to = with_sizes(to, &entry.path, write)?;
                    }
                    Some(
                        below
                            .mirror
                            .begin(&entry.path, to, self.input_metadata.as_ref())?,
                    )
                }
            };
        }
        Ok(self.new.as_mut())
    }
}

impl FileSink<'_> {
    /// The file that is to be replaced.
    pub(in crate::cli) fn original(&self) -> Option<&Original> {
        match self {
            Self::File(file) => match &file.place {
                FilePlace::Original { original, .. } | FilePlace::Staged { original, .. } => {
                    Some(original)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Sets the metadata of the input file.
    pub(in crate::cli) fn set_metadata(&mut self, metadata: Option<&Metadata>) {
        let (Self::File(file), Some(metadata)) = (self, metadata) else {
            return;
        };
        if let (
            FilePlace::Named {
                preserve_times: true,
            },
            Some(new),
        ) = (&file.place, &mut file.new)
        {
            new.preserve_times(metadata);
        }
        file.input_metadata = Some(metadata.clone());
    }

    /// Copies a file that is not a document to an output folder, or renames it; `None` if it does neither.
    pub(in crate::cli) fn copy(self) -> Option<Result<Committed>> {
        let Self::File(file) = self else { return None };
        match file.place {
            FilePlace::Below { below, entry, to } => {
                // The path is opened again, so a file that has replaced the input by now is copied.
                Some(below.copy(entry, &to).and_then(Replacement::commit))
            }
            FilePlace::Staged {
                staged,
                original,
                old,
                new,
            } if old != new => Some(Ok(staged.rename(&original, &old, &new))),
            _ => None,
        }
    }

    /// Writes a document with these edits.
    pub(in crate::cli) fn write(
        &mut self,
        input: &Input<'_>,
        edits: &Edits,
        output: &mut Output,
    ) -> FileResult<()> {
        let write = |out: &mut dyn io::Write| {
            out.write_all(input.before)?;
            edits.write_to(input.bytes, &mut &mut *out)?;
            out.write_all(input.after)
        };
        match self {
            Self::Standard => write(output.out())?,
            Self::File(file) => {
                if let Some(new) = file.new_contents(input, !edits.is_empty(), write)? {
                    new.write(write)?;
                }
            }
            Self::Diff(progress) => diff::print(input, edits, progress, output)?,
            Self::Nowhere => {}
        }
        Ok(())
    }

    /// Withholds the result of a file, because a document failed `--verify`. On standard output, earlier messages of
    /// a mailbox are already written, so the message is copied unchanged instead.
    pub(in crate::cli) fn withhold(
        &mut self,
        input: &Input<'_>,
        output: &mut Output,
    ) -> FileResult<()> {
        match self {
            Self::Standard if input.format.holds_many() => {
                self.write(input, &Edits::default(), output)?;
            }
            Self::Standard | Self::File(_) => {
                if let Self::File(file) = self
                    && let FilePlace::Staged { staged, .. } = &file.place
                {
                    staged.fail();
                }
                *self = Self::Nowhere;
            }
            Self::Diff(_) | Self::Nowhere => {}
        }
        Ok(())
    }

    /// Ends the result.
    pub(in crate::cli) fn end(self) -> Result<Written> {
        let file = match self {
            Self::Standard => return Ok(Written::Already),
            Self::Diff(_) | Self::Nowhere => return Ok(Written::Nowhere),
            Self::File(file) => *file,
        };
        let new = match (file.new, file.place) {
            (Some(new), _) => new,
            (None, FilePlace::Below { below, entry, to }) => below.copy(entry, &to)?,
            (
                None,
                FilePlace::Staged {
                    staged,
                    original,
                    old,
                    new,
                },
            ) if old != new => {
                return Ok(Written::To(staged.rename(&original, &old, &new)));
            }
            (None, _) => return Ok(Written::Already),
        };
        new.commit().map(Written::To)
    }
}

/// Copies the unchanged bytes of `original` before `input` to the replacement `new`.
fn with_unchanged_start(
    mut new: Replacement,
    original: &Original,
    input: &Input<'_>,
) -> Result<Replacement> {
    let before = input.offset - input.before.len();
    if before > 0 {
        let mut old = original.open()?.take(before as u64);
        new.write(|out| io::copy(&mut old, out).map(drop))?;
    }
    Ok(new)
}

/// The path of a message; a size in its name is replaced by that of the new contents.
fn with_sizes(
    to: &Path,
    from: &Path,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<PathBuf> {
    maildir::with_sizes_of(to, write).map_err(Error::io(from))
}

/// The state of a result.
pub(in crate::cli) enum Written {
    Nowhere,
    /// Nothing to commit: it is on standard output, or the input file needed no change.
    Already,
    To(Committed),
}
