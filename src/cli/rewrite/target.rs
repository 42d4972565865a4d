//! Where rewritten bytes go: to standard output, to a file, below a folder, or in the place of the old
//! ones.
//!
//! ```text
//! Target (of the whole run) --begin--> Sink (of a file) --end--> Written::Pending --commit_all--> Written
//! ```
//!
//! A file is begun with its first document, and one in place with the first that changes: a file in
//! which nothing changes is not touched.
//!
//! Deliberately absent: how a file is replaced. `baselink::files` knows that.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf, is_separator};

use baselink::edit::Edits;
use baselink::error::{Error, Result, cause, name};
use baselink::files::maildir::{self, Delivery};
use baselink::files::walk::TreeEntry;
use baselink::files::write::{self, InPlace, Lost, Original, Replacement, is_one_file};
use baselink::format::Format;

use crate::cli::diff;
use crate::cli::failure::FileResult;
use crate::cli::input::Input;
use crate::cli::output::Output;
use crate::cli::output_folder::OutputFolder;
use crate::cli::request::{Documents, Origin, WrittenTo};
use crate::cli::rewrite::document_files::DocumentFiles;
use crate::cli::shell;

/// Where the results of a run go.
#[expect(clippy::large_enum_variant, reason = "there is one a run")]
pub(in crate::cli) enum RunTarget<'a> {
    Standard,
    File(&'a Path),
    Below(OutputFolder),
    InPlace(&'a InPlace),
    Diff,
    Nowhere,
}

impl<'a> RunTarget<'a> {
    /// Looks at what `destination` can mean for these documents.
    pub(in crate::cli) fn of(destination: &'a WrittenTo, documents: &Documents) -> Result<Self> {
        if matches!(destination, WrittenTo::Path { .. } | WrittenTo::InPlace(_)) {
            are_there(destination, documents)?;
        }
        let folder = documents.roots().find(|root| root.is_dir());
        let target = match destination {
            WrittenTo::Standard => match folder {
                None => Self::Standard,
                Some(folder) => {
                    return Err(Error::new(format!(
                        "{}: a folder, whose files cannot go to one standard output; use -o DIR or \
                         --in-place, or look with --diff or --dry-run",
                        name(folder)
                    )));
                }
            },
            WrittenTo::Path { path, preserve_times } => {
                let mut files = documents.roots().filter(|root| root.is_file());
                if let Some(input) = files.find(|file| is_one_file(file, path)) {
                    return Err(is_the_input(path, input));
                }
                let last = path.as_os_str().as_encoded_bytes().last();
                let names_folder = last.is_some_and(|&byte| is_separator(char::from(byte)));
                let is_file = documents.paths.len() == 1
                    && folder.is_none()
                    && !path.is_dir()
                    && !names_folder;
                match (is_file, *preserve_times) {
                    (true, false) => Self::File(path),
                    (true, true) => Self::Below(OutputFolder::of_file(path, documents)?),
                    (false, preserve_times) => {
                        let below = OutputFolder::of(path, documents)?;
                        Self::Below(if preserve_times { below.preserving_times() } else { below })
                    }
                }
            }
            WrittenTo::InPlace(how) => Self::InPlace(how),
            WrittenTo::Diff => Self::Diff,
            WrittenTo::Nowhere => Self::Nowhere,
        };
        match &target {
            Self::File(path) => write::remove_left_beside(iter::once(*path)),
            Self::InPlace(_) => {
                write::remove_left_beside(documents.roots().filter(|root| root.is_file()));
            }
            _ => {}
        }
        Ok(target)
    }

    /// Whether files are written.
    pub(in crate::cli) fn writes_files(&self) -> bool {
        matches!(self, Self::File(_) | Self::Below(_) | Self::InPlace(_))
    }

    /// Whether the files that are read are written.
    pub(in crate::cli) fn replaces_inputs(&self) -> bool {
        matches!(self, Self::InPlace(_))
    }

    /// Makes what is made of a folder, where anything is.
    pub(super) fn folder(&self, origin: &Origin) -> Result<()> {
        match (self, origin) {
            (Self::Below(below), Origin::Entry(entry)) => {
                below.mirror.folder(&entry.path, &below.place(entry)?)
            }
            _ => Ok(()),
        }
    }

    /// To be called when nothing is written any more.
    ///
    /// # Errors
    ///
    /// A sentence for each folder that could not be given its times.
    pub(super) fn finish(&self) -> std::result::Result<(), Vec<Error>> {
        match self {
            Self::Below(below) => below.mirror.finish(),
            _ => Ok(()),
        }
    }

    /// Begins what is made of `origin`.
    pub(in crate::cli) fn begin<'t>(&'t self, origin: &'t Origin) -> Result<FileSink<'t>> {
        Ok(match (self, origin) {
            (Self::Standard, _) => FileSink::Standard,
            (Self::File(path), _) => FileSink::File(Replacement::begin(path)?, path),
            (Self::Below(below), Origin::Entry(entry)) => {
                let (to, read, new) = (below.place(entry)?, None, None);
                FileSink::Below { below, entry, read, to, new }
            }
            (Self::InPlace(how), Origin::Entry(entry)) => {
                FileSink::InPlace { how, original: entry.original()?, new: None }
            }
            // It has no name there, but the documents of an archive have.
            (Self::Below(below), Origin::Standard) => {
                FileSink::Documents(DocumentFiles::new(&below.out)?)
            }
            (Self::InPlace(_), Origin::Standard) => FileSink::Nowhere,
            (Self::Diff, _) => FileSink::Diff(diff::DiffProgress::default()),
            (Self::Nowhere, _) => FileSink::Nowhere,
        })
    }
}

/// Refuses to write anything where an input is missing: a suffix for backups may have been taken for one, as sed takes it.
fn are_there(destination: &WrittenTo, documents: &Documents) -> Result<()> {
    for root in documents.roots() {
        let Err(error) = fs::metadata(root) else { continue };
        let missing = format!("{}: {}, so nothing was written", name(root), cause(&error));
        let is_suffix =
            root.as_os_str().as_encoded_bytes().starts_with(b".") && root.components().count() == 1;
        return Err(match destination {
            WrittenTo::InPlace(_) if is_suffix => Error::new(format!(
                "{missing}; for copies of the old files, use -i --backup {}",
                shell::word(&root.to_string_lossy())
            )),
            _ => Error::system(missing, error),
        });
    }
    Ok(())
}

/// Says that the file `out` is one that is read, by whatever name.
fn is_the_input(out: &Path, input: &Path) -> Error {
    let input = if input == out { "itself".to_owned() } else { name(input) };
    let why = format!("the output file is the input {input}; name another, or use --in-place");
    Error::new(format!("{}: {why}", name(out)))
}

/// Where the result of a file goes.
pub(in crate::cli) enum FileSink<'t> {
    Standard,
    File(Replacement, &'t Path),
    Below {
        below: &'t OutputFolder,
        entry: &'t TreeEntry,
        /// What the system says of the file that is read, if it was asked.
        read: Option<Metadata>,
        to: PathBuf,
        new: Option<Replacement>,
    },
    InPlace {
        how: &'t InPlace,
        original: Original,
        new: Option<NewContents>,
    },
    /// The documents of an archive, each to a file.
    Documents(DocumentFiles),
    Diff(diff::DiffProgress),
    /// Also where it is not to be written after all.
    Nowhere,
}

/// New contents of a file.
pub(in crate::cli) enum NewContents {
    File(Box<Replacement>),
    /// A message of a Maildir.
    Message(Box<Delivery>),
}

impl NewContents {
    fn write(&mut self, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<()> {
        match self {
            Self::File(file) => file.write(write),
            Self::Message(message) => message.write(write),
        }
    }
}

impl FileSink<'_> {
    /// The file that is to be replaced.
    pub(in crate::cli) fn original(&self) -> Option<&Original> {
        match self {
            Self::InPlace { original, .. } => Some(original),
            _ => None,
        }
    }

    /// Takes in what the system says of the file that is read.
    pub(in crate::cli) fn reads(&mut self, metadata: Option<&Metadata>) {
        if let Self::Below { read, .. } = self {
            *read = metadata.cloned();
        }
    }

    /// Copies what is no document, and says what of it could not be copied; `None` where it is to be
    /// left.
    pub(in crate::cli) fn copy(self) -> Option<Result<(PathBuf, Vec<Lost>)>> {
        match self {
            Self::Below { below, entry, to, .. } => {
                // What has its name may be something else by now.
                let copied = below.copy(entry, &to).and_then(Replacement::commit);
                Some(copied.map(|lost| (below.out.join(to), lost)))
            }
            _ => None,
        }
    }

    /// Adds a document.
    pub(in crate::cli) fn add(
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
            Self::File(file, _) => file.write(write)?,
            Self::Below { below, entry, read, to, new } => {
                let begun = match new.take() {
                    Some(begun) => begun,
                    None => {
                        // The name of a message in a Maildir has its size.
                        if !edits.is_empty() && maildir::is_message(&entry.path) {
                            *to = maildir::with_sizes_of(to, write)?;
                        }
                        below.begin(entry, to, read.as_ref())?
                    }
                };
                new.insert(begun).write(write)?;
            }
            Self::InPlace { new: Some(new), .. } => new.write(write)?,
            Self::InPlace { new: None, .. } if edits.is_empty() => {}
            Self::InPlace { how, original, new } => {
                let mut begun = begin(how, original, input)?;
                begun.write(write)?;
                *new = Some(begun);
            }
            Self::Diff(progress) => diff::print(input, edits, progress, output)?,
            Self::Documents(_) | Self::Nowhere => {}
        }
        Ok(())
    }

    /// Takes in that a document is not what it should be.
    pub(in crate::cli) fn add_unproved(
        &mut self,
        input: &Input<'_>,
        output: &mut Output,
    ) -> io::Result<()> {
        match self {
            Self::Standard if input.format.holds_many() => {
                let out = output.out();
                out.write_all(input.before)?;
                out.write_all(input.bytes)?;
                out.write_all(input.after)?;
            }
            Self::Standard | Self::File(..) | Self::Below { .. } | Self::InPlace { .. } => {
                *self = Self::Nowhere;
            }
            Self::Documents(_) | Self::Diff(_) | Self::Nowhere => {}
        }
        Ok(())
    }

    /// Says where the result is now.
    pub(in crate::cli) fn end(self) -> Result<Written> {
        Ok(match self {
            Self::Standard => Written::Standard,
            Self::File(file, path) => {
                Written::Pending(NewContents::File(Box::new(file)), path.to_owned())
            }
            Self::Below { below, to, new: Some(new), .. } => {
                Written::of_output(new, below.out.join(to))?
            }
            Self::Below { below, entry, to, new: None, .. } => {
                Written::of_output(below.copy(entry, &to)?, below.out.join(to))?
            }
            Self::InPlace { original, new: Some(new), .. } => {
                Written::Pending(new, original.path().to_owned())
            }
            Self::InPlace { new: None, .. } => Written::Unchanged,
            Self::Documents(mut files) => {
                files.commit()?;
                Written::To(files.out().to_owned(), Vec::new())
            }
            Self::Diff(_) | Self::Nowhere => Written::Nowhere,
        })
    }
}

/// Begins to replace `original`, of which all that comes before `input` stays as it is.
fn begin(how: &InPlace, original: &Original, input: &Input<'_>) -> Result<NewContents> {
    let mut new = match maildir::is_message(original.path()) {
        true if how.backup.is_some() => {
            return Err(Error::new(format!(
                "{}: in a Maildir a backup would be one more message; leave --backup out",
                name(original.path())
            )));
        }
        true => NewContents::Message(Box::new(Delivery::begin(original)?)),
        false => {
            let new = how.begin(original)?;
            let new = if input.format == Format::Mbox { new.of_mailbox() } else { new };
            NewContents::File(Box::new(new))
        }
    };
    let before = input.offset - input.before.len();
    if before > 0 {
        let mut old = original.open()?.take(before as u64);
        new.write(|out| io::copy(&mut old, out).map(drop))?;
    }
    Ok(new)
}

/// Where the result of a file is.
pub(in crate::cli) enum Written {
    Nowhere,
    Standard,
    /// Where it was: nothing changed.
    Unchanged,
    /// There, and this is to be said of it.
    To(PathBuf, Vec<String>),
    /// Its new contents have no name yet; the place of a file, and of a message where it was.
    Pending(NewContents, PathBuf),
    /// It could not be given its name.
    Failed(Error),
}

impl Written {
    /// A file of an output folder, which gets its name now where nothing is to be waited for.
    fn of_output(new: Replacement, to: PathBuf) -> Result<Self> {
        if new.waits_for_disk() {
            return Ok(Self::Pending(NewContents::File(Box::new(new)), to));
        }
        Ok(Self::To(to, remarks(&new.commit()?)))
    }

    /// What is to be said of it.
    pub(in crate::cli) fn remarks(&self) -> &[String] {
        match self {
            Self::To(_, remarks) => remarks,
            _ => &[],
        }
    }

    /// Gives the new contents of several files their names.
    pub(in crate::cli) fn commit_all<'w>(all: impl Iterator<Item = &'w mut Self>) {
        let (mut files, mut of_files) = (Vec::new(), Vec::new());
        let (mut messages, mut of_messages) = (Vec::new(), Vec::new());
        for written in all {
            match std::mem::replace(written, Self::Nowhere) {
                Self::Pending(NewContents::File(file), to) => {
                    files.push(*file);
                    of_files.push((written, to));
                }
                Self::Pending(NewContents::Message(message), _) => {
                    messages.push(*message);
                    of_messages.push(written);
                }
                other => *written = other,
            }
        }
        for ((written, to), done) in of_files.into_iter().zip(write::commit_all(files)) {
            *written = done.map_or_else(Self::Failed, |lost| Self::To(to, remarks(&lost)));
        }
        for (written, done) in of_messages.into_iter().zip(maildir::commit_all(messages)) {
            *written = done.map_or_else(Self::Failed, |delivered| {
                let mut remarks = remarks(&delivered.lost);
                if delivered.may_be_twice {
                    let remark =
                        "another program moved or changed it meanwhile; it may be there twice";
                    remarks.push(remark.to_owned());
                }
                Self::To(delivered.path, remarks)
            });
        }
    }

    /// The file that was written.
    pub(in crate::cli) fn path(self) -> Option<PathBuf> {
        match self {
            Self::To(path, _) => Some(path),
            _ => None,
        }
    }
}

/// What is said of what a file lost.
fn remarks(lost: &[Lost]) -> Vec<String> {
    lost.iter().map(ToString::to_string).collect()
}
