//! A file replaced whole or not at all.
//!
//! ```text
//! out.html:  old bytes  --rename-->  new bytes     never anything between the two
//! ```
//!
//! The new bytes go to a temporary file beside the target, which then takes the target's name
//! (POSIX.1-2017, rename: a name is never missing while it is replaced), so the target may be the very
//! file that was read. The bytes are on the disk before the name is, and the name before
//! [`Replacement::commit`] returns, as far as the system lets a folder be synced.
//!
//! ```
//! use std::fs;
//! use baselink::tree::write::{InPlace, Original, Suffix};
//!
//! let folder = tempfile::tempdir()?;
//! let page = folder.path().join("page.html");
//! fs::write(&page, "<a href=x>")?;
//!
//! let settings = InPlace { backup: Some(Suffix::new(".orig".as_ref())?), ..InPlace::default() };
//! let original = Original::of(&page)?;
//! let mut replacement = settings.begin(&original)?;
//! replacement.write(|out| out.write_all(b"<a href=http://a/x>"))?;
//! assert!(replacement.commit()?.is_empty(), "nothing is lost");
//! assert_eq!(fs::read(&page)?, b"<a href=http://a/x>");
//! assert_eq!(fs::read(folder.path().join("page.html.orig"))?, b"<a href=x>");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a file in place keeps ([`InPlace::begin`]): its permission bits always; its owner and group,
//! its extended attributes (the POSIX access control list among them) where the system allows it, else
//! it is said ([`Lost`]); its times on request. `security.*` and `trusted.*` attributes are the
//! system's to give. A file that nobody, or not this user, may write is not replaced, although a
//! rename could: its permissions say no.
//!
//! Deliberately absent: following symbolic links. Where one leads is easily not what was meant.
//! Removing what a killed run left: its files begin with [`TEMPORARY`], and so do those of a run
//! that is still going on.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use super::disk::most_pending;
use super::disk::{Folders, New, PRIVATE, at_once, sync_bytes, then};
pub use super::file::{TEMPORARY, is_one_file, is_temporary};
use super::file::{folder_of, identity, not_written, refused};
use crate::error::{self, Error, Result, name};

/// New contents of a file, which has its old ones until [`Replacement::commit`]. Dropped before that,
/// it leaves no file.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    out: Out,
    occupant: Occupant,
}

#[derive(Debug)]
enum Out {
    /// To be renamed.
    Temporary(BufWriter<New>),
    /// A device or a pipe: it has no bytes that could be lost, and must not become a file.
    Device(BufWriter<File>),
}

/// What is at the path of the new file, and what the file gets before it goes there.
#[derive(Debug)]
enum Occupant {
    /// Anything or nothing.
    Any(Option<Permissions>),
    /// A file, or with `new` nothing.
    Output {
        new: bool,
        inherited: InheritedAttributes,
    },
    Original(InPlace, Box<Original>),
}

/// What a file of an output folder gets of the one that it is made of.
#[derive(Debug)]
pub(super) struct InheritedAttributes {
    /// The permission bits, less those of the umask.
    pub(super) mode: u32,
    /// One that is there may be read-only, too.
    pub(super) read_only: bool,
    pub(super) times: Option<FileTimes>,
    /// The files that were made of others.
    pub(super) others: Files,
}

/// Files, whatever they are called.
pub(super) type Files = Arc<Mutex<HashSet<(u64, u64)>>>;

impl Replacement {
    /// Begins to write what is to be at `path`. A file that is there gives its permission bits to the
    /// new one; its other names, if it has any, keep the old bytes.
    ///
    /// # Errors
    ///
    /// A symbolic link, a directory, a read-only file, a missing folder, one that cannot be written to.
    pub fn begin(path: &Path) -> Result<Self> {
        let old = metadata_at(path)?;
        let permissions = old.as_ref().map(Metadata::permissions);
        Self::over(path, old.as_ref(), Occupant::Any(permissions))
    }

    /// Begins to write what is to be at `path`, whatever the permission bits and times of a file that is
    /// there. Where there is none, none is replaced either that comes there meanwhile; and the new file is
    /// not synced: no bytes can be lost that were there before.
    /// `old` is what is at `path` itself; `made` a new file in the same folder, if there is one already.
    pub(super) fn output(
        path: &Path,
        old: Option<&Metadata>,
        made: Option<New>,
        inherited: InheritedAttributes,
    ) -> Result<Self> {
        let mode = inherited.mode;
        let occupant = Occupant::Output { new: old.is_none(), inherited };
        match made {
            Some(new) => {
                let out = Out::Temporary(BufWriter::new(new));
                Ok(Self { path: path.to_owned(), out, occupant })
            }
            None => Self::with_mode(path, old, occupant, mode),
        }
    }

    fn over(path: &Path, old: Option<&Metadata>, occupant: Occupant) -> Result<Self> {
        // A new file is for whoever the umask says, as with any other program.
        let mode = if matches!(occupant, Occupant::Any(None)) { 0o666 } else { PRIVATE };
        Self::with_mode(path, old, occupant, mode)
    }

    fn with_mode(
        path: &Path,
        old: Option<&Metadata>,
        occupant: Occupant,
        mode: u32,
    ) -> Result<Self> {
        let refused = |why: &str| Err(Error::file(path, why));
        let out = match old {
            Some(old) if old.is_symlink() => return Err(symbolic_link(path)),
            Some(old) if old.is_dir() => {
                return refused("a directory; name a file");
            }
            Some(old)
                if old.is_file()
                    && old.permissions().readonly()
                    && !matches!(
                        occupant,
                        Occupant::Output {
                            inherited: InheritedAttributes { read_only: true, .. },
                            ..
                        }
                    ) =>
            {
                return refused("the file is read-only");
            }
            Some(old) if !old.is_file() => OpenOptions::new()
                .write(true)
                .open(path)
                .map(|device| Out::Device(BufWriter::new(device))),
            _ => New::within(folder_of(path), mode)
                .map(|temporary| Out::Temporary(BufWriter::new(temporary))),
        };
        match out {
            Ok(out) => Ok(Self { path: path.to_owned(), out, occupant }),
            Err(error) => {
                let folder = folder_of(path);
                if error.kind() == ErrorKind::NotFound && !folder.is_dir() {
                    let (file, folder) = (name(path), name(folder));
                    let why = format!("{file} was not written: there is no folder {folder}");
                    return Err(Error::system(why, error));
                }
                Err(not_written(path, error))
            }
        }
    }

    /// Adds what `write` writes.
    ///
    /// # Errors
    ///
    /// What `write` returns, or the system. The replacement is then to be dropped.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        match &mut self.out {
            Out::Temporary(out) => write(out),
            Out::Device(out) => write(out),
        }
        .map_err(|error| not_written(&self.path, error))
    }

    /// The same for what is written in large pieces, which are not gathered, and tells what `write` tells.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn write_and_tell<T>(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> Result<T> {
        match &mut self.out {
            Out::Temporary(out) => out.flush().and_then(|()| write(out.get_mut())),
            Out::Device(out) => out.flush().and_then(|()| write(out.get_mut())),
        }
        .map_err(|error| not_written(&self.path, error))
    }

    /// The file that is being written, before it has its name.
    pub(super) fn file(&self) -> &File {
        match &self.out {
            Out::Temporary(out) => out.get_ref().file(),
            Out::Device(out) => out.get_ref(),
        }
    }

    /// Which file it is that is being written; nothing for a device.
    pub(super) fn identity(&self) -> Option<(u64, u64)> {
        match &self.out {
            Out::Temporary(out) => out.get_ref().identity(),
            Out::Device(_) => None,
        }
    }

    /// Whether [`Replacement::commit`] waits for the disk, so that many are better committed together
    /// ([`commit_all`]). It does not where no file is replaced.
    #[must_use]
    pub fn waits_for_disk(&self) -> bool {
        !matches!(self.occupant, Occupant::Output { new: true, .. })
    }

    /// Gives the file its new contents, and says what of the old file the new one could not be given.
    ///
    /// # Errors
    ///
    /// The old file is as it was: the disk is full; the old file was changed since [`Original::of`]; its
    /// backup cannot be made. Only where the folder itself cannot be synced the file is new already,
    /// and the sentence says so.
    pub fn commit(self) -> Result<Vec<Lost>> {
        if !self.waits_for_disk() {
            return self.complete().and_then(Complete::rename).map(|file| file.lost);
        }
        commit_all(vec![self]).pop().unwrap_or_else(|| Ok(Vec::new()))
    }

    fn complete(self) -> Result<Complete> {
        let Self { path, out, occupant } = self;
        let failed = |error: io::Error| not_written(&path, error);
        let new = match out {
            Out::Temporary(out) => out.into_inner().map_err(|error| failed(error.into_error()))?,
            Out::Device(mut out) => {
                out.flush().map_err(failed)?;
                return Ok(Complete { path, new: None, occupant, lost: Vec::new() });
            }
        };
        let mut lost = Vec::new();
        match &occupant {
            Occupant::Any(None)
            | Occupant::Output { inherited: InheritedAttributes { times: None, .. }, .. } => {}
            Occupant::Any(Some(permissions)) => {
                new.file().set_permissions(permissions.clone()).map_err(failed)?;
            }
            Occupant::Output {
                inherited: InheritedAttributes { times: Some(times), .. }, ..
            } => {
                if new.file().set_times(*times).is_err() {
                    lost.push(Lost::Times);
                }
            }
            Occupant::Original(settings, original) => {
                lost = original.given_to(new.file(), settings.preserve_times).map_err(failed)?;
            }
        }
        Ok(Complete { path, new: Some(new), occupant, lost })
    }
}

/// Gives several files their new contents as [`Replacement::commit`] does, each for itself, and with
/// few waits for the disk: bytes are synced and names are given for many files at the same time, and the
/// names in all folders are synced once. Results are in the order of the files. Each replacement has an
/// open file, of which a system lets a program have some hundreds ([`most_pending`]). One thread is to
/// commit what several have made: a file system syncs for one at a time. A file that is there twice is
/// written once.
#[must_use]
pub fn commit_all(replacements: Vec<Replacement>) -> Vec<Result<Vec<Lost>>> {
    let mut files: Vec<_> = replacements.into_iter().map(Replacement::complete).collect();
    let mut paths = HashSet::new();
    for file in &mut files {
        then(file, |file| match paths.insert(file.path.clone()) {
            true => Ok(file),
            false => Err(Error::file(&file.path, "named twice, and written once")),
        });
    }
    // Before the names: a crash of the machine must not leave an empty file under one.
    sync_bytes(&mut files, |file| file.replaced().zip(file.new.as_ref()));
    at_once(&mut files, Complete::back_up);
    // An old file must not be gone before its backup is on the disk.
    let folders = Folders::sync(files.iter().flatten().filter_map(Complete::backed_up));
    for file in &mut files {
        then(file, |file| match folders.failure(&file.path) {
            Some(why) => Err(refused(&file.path, &format!("no backup of it is safe: {why}"))),
            None => Ok(file),
        });
    }
    at_once(&mut files, Complete::rename);
    let folders = Folders::sync(files.iter().flatten().filter_map(Complete::replaced));
    let result = |file: Complete| match folders.failure(&file.path) {
        Some(why) => Err(unsynced(&file.path, why)),
        None => Ok(file.lost),
    };
    files.into_iter().map(|file| file.and_then(result)).collect()
}

/// A file that has all it gets but its name; a device has its bytes, and no new file.
struct Complete {
    path: PathBuf,
    new: Option<New>,
    occupant: Occupant,
    lost: Vec<Lost>,
}

impl Complete {
    /// Its path, if it takes the place of a file.
    fn replaced(&self) -> Option<&Path> {
        (!matches!(self.occupant, Occupant::Output { new: true, .. })).then_some(&self.path)
    }

    fn backed_up(&self) -> Option<&Path> {
        match &self.occupant {
            Occupant::Original(settings, _) if settings.backup.is_some() => Some(&self.path),
            _ => None,
        }
    }

    fn back_up(mut self) -> Result<Self> {
        if let Occupant::Original(settings, original) = &mut self.occupant
            && let Some(suffix) = &settings.backup
        {
            original.unchanged()?;
            original.back_up(&suffix.of(&self.path))?;
        }
        Ok(self)
    }

    fn rename(mut self) -> Result<Self> {
        let Some(new) = self.new.take() else { return Ok(self) };
        let path = &self.path;
        let failed = |error: io::Error| not_written(path, error);
        if matches!(self.occupant, Occupant::Output { new: true, .. }) {
            // In the folder that it is in, whatever has that folder's name by now.
            let place = new.path().with_file_name(path.file_name().unwrap_or_default());
            return match new.name(&place) {
                Ok(()) => Ok(self),
                Err((_, error)) if error.kind() == ErrorKind::AlreadyExists => {
                    if let Occupant::Output { inherited, .. } = &self.occupant
                        && let Some(there) = metadata_at(path)?
                    {
                        replaceable(path, &there, &inherited.others)?;
                    }
                    let why = "another file of that name came there meanwhile, and was left";
                    Err(refused(path, why))
                }
                Err((_, error)) => Err(failed(error)),
            };
        }
        match &self.occupant {
            Occupant::Original(_, original) => original.unnamed_by(|| new.replace(path))?,
            _ => new.replace(path),
        }
        .map_err(failed)?;
        Ok(self)
    }
}

/// How files are replaced where they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InPlace {
    /// Whether a file that has other names (hard links) is replaced: those keep the old bytes.
    pub break_links: bool,
    /// Whether the new file gets the times of the old one, as they were at [`Original::of`].
    pub preserve_times: bool,
    /// Where the old file stays, under its name and this. A backup that is there already is the first
    /// original, and stays what it is.
    pub backup: Option<Suffix>,
}

/// What is put after the name of a file for that of its backup: not empty, and no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suffix(OsString);

impl Suffix {
    /// # Errors
    ///
    /// Nothing at all, or something with a separator of folders or a NUL.
    pub fn new(suffix: &OsStr) -> Result<Self> {
        let is_of_a_path = |byte: &u8| std::path::is_separator(char::from(*byte)) || *byte == 0;
        let bytes = suffix.as_encoded_bytes();
        if bytes.is_empty() || bytes.iter().any(is_of_a_path) {
            let suffix = name(Path::new(suffix));
            let why = format!("'{suffix}' is no suffix for the names of backups; `.orig` is one");
            return Err(Error::new(why));
        }
        Ok(Self(suffix.to_owned()))
    }

    /// Whether a file of this name is the backup of another. It is not to be rewritten: what is in it
    /// is what was first there.
    #[must_use]
    pub fn ends(&self, name: &OsStr) -> bool {
        name.as_encoded_bytes().ends_with(self.0.as_encoded_bytes())
    }

    fn of(&self, path: &Path) -> PathBuf {
        let mut backup = path.file_name().unwrap_or_default().to_owned();
        backup.push(&self.0);
        path.with_file_name(backup)
    }
}

impl InPlace {
    /// Begins to replace `original`, in which something is to change.
    ///
    /// # Errors
    ///
    /// A file that may not be written; one with other names, unless [`InPlace::break_links`]; a backup,
    /// or one whose backup is no file; one that was changed since [`Original::of`].
    pub fn begin(&self, original: &Original) -> Result<Replacement> {
        let path = &original.path;
        let refused = |why: &str| Err(Error::file(path, why));
        let now = original.unchanged()?;
        original.writable()?;
        let mut names = names_of(&now);
        if let Some(suffix) = &self.backup {
            if suffix.ends(path.file_name().unwrap_or_default()) {
                return refused("a backup by its name, which is left as it is");
            }
            let backup = suffix.of(path);
            match metadata_at(&backup)? {
                Some(there) if !there.is_file() => return Err(no_backup(&backup)),
                // What a run that was killed between backup and replacement leaves.
                Some(there) if is_same(&there, &now) => names = names.saturating_sub(1),
                Some(_) | None => {}
            }
        }
        if names > 1 && !self.break_links {
            return refused(&format!(
                "{names} names (hard links) lead to this file; `break-links` replaces it under this \
                 one alone"
            ));
        }
        Replacement::over(
            path,
            Some(&now),
            Occupant::Original(self.clone(), Box::new(original.clone())),
        )
    }
}

/// A file as it was before it was read.
#[derive(Clone, Debug)]
pub struct Original {
    path: PathBuf,
    seen: Metadata,
    state: State,
    folder: Folder,
}

impl Original {
    /// Looks at the file at `path`, of which no byte is read. To be called before it is.
    ///
    /// # Errors
    ///
    /// Anything but a file: a symbolic link, a directory, a device, a pipe, nothing.
    pub fn of(path: &Path) -> Result<Self> {
        let seen = fs::symlink_metadata(path).map_err(|error| Error::io(path, error))?;
        if seen.is_symlink() {
            return Err(symbolic_link(path));
        }
        if !seen.is_file() {
            let what = if seen.is_dir() { "a directory" } else { "not a regular file" };
            return Err(Error::file(path, what));
        }
        Ok(Self { path: path.to_owned(), state: state(&seen), seen, folder: folder(path) })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it for reading.
    ///
    /// # Errors
    ///
    /// The system's, and that something else is there now.
    pub fn open(&self) -> Result<File> {
        let failed = |error| Error::io(&self.path, error);
        let file = File::open(&self.path).map_err(failed)?;
        let steps = self.own_steps();
        self.still(&file.metadata().map_err(failed)?, steps.as_deref())?;
        Ok(file)
    }

    /// What is there now, which is the same file with the same bytes as far as can be told.
    pub(super) fn unchanged(&self) -> Result<Metadata> {
        self.unchanged_but_for(self.own_steps().as_deref())
    }

    fn unchanged_but_for(&self, steps: Option<&OwnSteps>) -> Result<Metadata> {
        let now = fs::symlink_metadata(&self.path);
        let now = now.map_err(|error| not_written(&self.path, error))?;
        self.still(&now, steps)?;
        if folder(&self.path) != self.folder {
            return Err(self.changed());
        }
        Ok(now)
    }

    fn still(&self, now: &Metadata, steps: Option<&OwnSteps>) -> Result<()> {
        let is_own = || {
            let states = identity(now).zip(steps).and_then(|(file, steps)| steps.get(&file));
            states.is_some_and(|states| {
                states.contains(&self.state) && states.last() == Some(&state(now))
            })
        };
        match is_as_seen(now, &self.seen) && (state(now) == self.state || is_own()) {
            true => Ok(()),
            false => Err(self.changed()),
        }
    }

    fn changed(&self) -> Error {
        Error::file(&self.path, "another program changed it meanwhile; it was left as it is")
    }

    /// What this program did to files, if there may be something of this one.
    fn own_steps(&self) -> Option<MutexGuard<'static, OwnSteps>> {
        let is_linked = names_of(&self.seen) > 1;
        is_linked.then(|| OWN_STEPS.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does what takes this name from the file, if that is unchanged. With its other names, the file is
    /// then still the one that was seen under them.
    pub(super) fn unnamed_by<T>(&self, step: impl FnOnce() -> T) -> Result<T> {
        let mut steps = self.own_steps();
        let before = self.unchanged_but_for(steps.as_deref())?;
        let Some(steps) = &mut steps else { return Ok(step()) };
        let file = File::open(&self.path);
        let done = step();
        let after = file.and_then(|file| file.metadata()).ok();
        let after = after.filter(|after| {
            is_as_seen(after, &before) && names_of(&before).checked_sub(1) == Some(names_of(after))
        });
        if let Some((after, file)) = after.zip(identity(&before)) {
            let states = steps.entry(file).or_default();
            if states.last() != Some(&state(&before)) {
                *states = vec![state(&before)];
            }
            states.push(state(&after));
        }
        Ok(done)
    }

    /// Asks whether this user may write the file.
    pub(super) fn writable(&self) -> Result<()> {
        let opened = match self.seen.permissions().readonly() {
            // Some users may write everything, but it says no to them, too.
            true => Err(ErrorKind::PermissionDenied.into()),
            false => OpenOptions::new().write(true).open(&self.path),
        };
        match opened {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                Err(Error::system(format!("{}: the file is read-only", name(&self.path)), error))
            }
            Err(error) => Err(not_written(&self.path, error)),
            Ok(_) => Ok(()),
        }
    }

    /// Gives `new` what this file has: owner, permission bits, extended attributes, times.
    pub(super) fn given_to(&self, new: &File, times: bool) -> io::Result<Vec<Lost>> {
        let mut lost = Vec::new();
        // In this order: a change of the owner clears bits, and bits change the access control list.
        let permissions = give_owner(&self.seen, new, &mut lost)?;
        new.set_permissions(permissions)?;
        if give_attributes(&self.path, new).is_err() {
            lost.push(Lost::Attributes);
        }
        if times {
            let times = FileTimes::new()
                .set_accessed(self.seen.accessed()?)
                .set_modified(self.seen.modified()?);
            if new.set_times(times).is_err() {
                lost.push(Lost::Times);
            }
        }
        Ok(lost)
    }

    /// Keeps the old file as `backup` too, unless there is one.
    fn back_up(&mut self, backup: &Path) -> Result<()> {
        match metadata_at(backup)? {
            Some(there) if there.is_file() => return Ok(()),
            Some(_) => return Err(no_backup(backup)),
            None => {}
        }
        // The old file itself becomes the backup: nothing writes to it any more. Under a name that is
        // to stay something may, so then it is a copy; and where there are no hard links.
        let linked = names_of(&self.seen) == 1 && fs::hard_link(&self.path, backup).is_ok();
        if !linked {
            return self.copy_to(backup).map_err(|error| not_written(backup, error));
        }
        // The link itself is a change of the file.
        let now = fs::symlink_metadata(&self.path);
        let now = now.map_err(|error| not_written(&self.path, error))?;
        if !is_as_seen(&now, &self.seen) || names_of(&now) > 2 {
            return Err(self.changed());
        }
        self.state = state(&now);
        Ok(())
    }

    fn copy_to(&self, backup: &Path) -> io::Result<()> {
        let copy = New::within(folder_of(backup), PRIVATE)?;
        io::copy(&mut File::open(&self.path)?, &mut copy.file())?;
        self.given_to(copy.file(), true)?;
        copy.file().sync_all()?;
        copy.name(backup).map_err(|(_, error)| error)
    }
}

/// What a new file could not be given of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Its owner or its group.
    Owner,
    /// An extended attribute.
    Attributes,
    /// When it was last read and written.
    Times,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Owner => "its owner or group could not be kept",
            Self::Attributes => "not all of its extended attributes could be kept",
            Self::Times => "its times could not be kept",
        })
    }
}

/// What is at `path` itself.
pub(super) fn metadata_at(path: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(there) => Ok(Some(there)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(not_written(path, error)),
    }
}

/// Whether a file of an output folder can take the place of what is `there`.
pub(super) fn replaceable(path: &Path, there: &Metadata, others: &Files) -> Result<()> {
    if there.is_symlink() {
        return Err(symbolic_link(path));
    }
    let why = match identity(there) {
        _ if !there.is_file() => "not a regular file",
        Some(file) if lock(others).contains(&file) => {
            "another input was written there, under a name that is the same to this file system"
        }
        _ => return Ok(()),
    };
    Err(Error::file(path, why))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn unsynced(path: &Path, why: &str) -> Error {
    let sentence = format!("{} is new, but its folder could not be synced: {why}", name(path));
    Error::of(error::ErrorKind::Io, sentence)
}

pub(super) fn symbolic_link(path: &Path) -> Error {
    let target = fs::read_link(path).map(|target| name(&target)).unwrap_or_default();
    let why = format!("a symbolic link, which is not written through; name {target} itself");
    Error::file(path, &why)
}

fn no_backup(backup: &Path) -> Error {
    Error::file(backup, "not a regular file, so it cannot be the backup; nothing was written")
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    identity(one) == identity(other)
}

/// Whether a file is the one that was seen, and may be written and read by the same users. Of its bytes
/// size and time are compared; that time can be set, and the one of [`state`] cannot.
fn is_as_seen(now: &Metadata, seen: &Metadata) -> bool {
    now.is_file()
        && is_same(now, seen)
        && now.len() == seen.len()
        && now.modified().ok() == seen.modified().ok()
        && now.permissions() == seen.permissions()
}

/// When anything of a file was last changed (`st_ctim` of POSIX.1-2017, sys/stat.h), and how many names
/// it has.
type State = (i64, i64, u64);

#[cfg(unix)]
fn state(metadata: &Metadata) -> State {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec(), metadata.nlink())
}

#[cfg(not(unix))]
fn state(_: &Metadata) -> State {
    (0, 0, 1)
}

/// The states of files with several names, one after the other, between which this program took a name
/// from them and nobody did anything else. Each of the names may be one to be replaced.
type OwnSteps = BTreeMap<(u64, u64), Vec<State>>;

static OWN_STEPS: Mutex<OwnSteps> = Mutex::new(BTreeMap::new());

/// Which folder a file is in: what has the folder's name, a symbolic link maybe, and where that leads.
type Folder = [Option<(u64, u64)>; 2];

fn folder(path: &Path) -> Folder {
    let folder = folder_of(path);
    [fs::symlink_metadata(folder), fs::metadata(folder)]
        .map(|there| there.ok().as_ref().and_then(identity))
}

/// How many names lead to a file.
#[cfg(unix)]
fn names_of(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names_of(_: &Metadata) -> u64 {
    1
}

/// Gives `new` the owner and the group of `old`, and returns the permission bits that it may have.
#[cfg(unix)]
fn give_owner(old: &Metadata, new: &File, lost: &mut Vec<Lost>) -> io::Result<Permissions> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let made = new.metadata()?;
    let same = (made.uid(), made.gid()) == (old.uid(), old.gid());
    if same || fchown(new, Some(old.uid()), Some(old.gid())).is_ok() {
        return Ok(old.permissions());
    }
    lost.push(Lost::Owner);
    // A group may be given by who is in it. A failure is in `lost` already.
    let _ = fchown(new, None, Some(old.gid()));
    // Bits that lend the owner's rights must not lend those of another.
    Ok(Permissions::from_mode(old.permissions().mode() & 0o777))
}

#[cfg(not(unix))]
fn give_owner(old: &Metadata, _: &File, _: &mut Vec<Lost>) -> io::Result<Permissions> {
    Ok(old.permissions())
}

/// Gives `new` the extended attributes of the file at `old` and no other.
#[cfg(unix)]
fn give_attributes(old: &Path, new: &File) -> io::Result<()> {
    use xattr::FileExt;
    let of_the_system = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name != b"system.posix_acl_access"
            && [&b"security."[..], b"system.", b"trusted."].iter().any(|one| name.starts_with(one))
    };
    let names = match xattr::list(old) {
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
        names => names?,
    };
    let names: Vec<_> = names.filter(|name| !of_the_system(name)).collect();
    let made: Vec<_> = new.list_xattr()?.filter(|name| !of_the_system(name)).collect();
    // A folder may give an access control list to every file that is made in it.
    for name in made.iter().filter(|name| !names.contains(name)) {
        new.remove_xattr(name)?;
    }
    let mut given = Ok(());
    for name in &names {
        let value = xattr::get(old, name).map(Option::unwrap_or_default);
        given = given.and(value.and_then(|value| new.set_xattr(name, &value)));
    }
    given
}

#[cfg(not(unix))]
fn give_attributes(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}
