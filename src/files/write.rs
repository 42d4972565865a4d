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
//! use baselink::files::write::{InPlace, Original, Suffix};
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
//! its extended attributes (the POSIX access control list, capabilities and `trusted.*` among them), and
//! on Linux what `chattr` sets, where the system allows it, else it is said ([`Lost`]); its times on
//! request. What is computed from the bytes (`security.ima`, `security.evm`) is the system's to give. Where
//! the file has holes, long runs of zero bytes take no room in the new one either. A file that nobody, or
//! not this user, may write is not replaced, although a rename could: its permissions say no.
//!
//! Deliberately absent: following symbolic links. Where one leads is easily not what was meant.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, BufWriter, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

pub use super::disk::most_pending;
use super::disk::{Folders, New, PRIVATE, at_once, sync_bytes, then};
use super::file::{
    EntryKind, Identity, REPLACES_OPEN_FILES, There, changed, folder_of, identity, is_sparse,
    names_of, not_written, refused,
};
pub use super::file::{TEMPORARY, is_one_file, is_temporary};
use super::folder::{NameInFolder, OpenFolder};
use super::mailbox_lock::MailboxLock;
pub use super::temporary::remove_left_beside;
use crate::error::{self, Error, Result, name};

/// New contents of a file, which has its old ones until [`Replacement::commit`]. Dropped before that,
/// it leaves no file.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    place: NameInFolder,
    out: BufWriter<New>,
    occupant: Occupant,
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
    Original {
        how: InPlace,
        original: Box<Original>,
        is_mailbox: bool,
    },
}

impl Occupant {
    /// Whether the new file takes the place of one.
    fn is_replaced(&self) -> bool {
        !matches!(self, Self::Output { new: true, .. })
    }
}

/// What a file of an output folder gets of the one that it is made of.
#[derive(Debug)]
pub(super) struct InheritedAttributes {
    /// The permission bits, less those of the umask.
    pub(super) mode: u32,
    /// One that is there may be read-only, too.
    pub(super) read_only: bool,
    pub(super) is_sparse: bool,
    pub(super) times: Option<FileTimes>,
    /// The files that were made of others.
    pub(super) others: Files,
}

/// Files, whatever they are called, and the path at which each was made.
pub(super) type Files = Arc<Mutex<HashMap<Identity, PathBuf>>>;

impl Replacement {
    /// Begins to write what is to be at `path`. A file that is there gives its permission bits to the
    /// new one; its other names, if it has any, keep the old bytes.
    ///
    /// # Errors
    ///
    /// A symbolic link, a directory, a read-only file, a missing folder, one that cannot be written to.
    pub fn begin(path: &Path) -> Result<Self> {
        let place = NameInFolder::of(path).map_err(|error| {
            let folder = folder_of(path);
            if error.kind() == ErrorKind::NotFound && !folder.is_dir() {
                let (file, folder) = (name(path), name(folder));
                let why = format!("{file} was not written: there is no folder {folder}");
                return Error::system(why, error);
            }
            not_written(path, error)
        })?;
        Self::at(path, place)
    }

    /// The same at `place`, to which `path` leads.
    pub(super) fn at(path: &Path, place: NameInFolder) -> Result<Self> {
        let old = there(path, &place)?;
        // A new file is for whoever the umask says, as with any other program.
        let mode = if old.is_some() { PRIVATE } else { 0o666 };
        let permissions = old.as_ref().map(|old| old.permissions.clone());
        Self::over(path, place, old.as_ref(), Occupant::Any(permissions), mode)
    }

    /// Begins to write what is to be at `place`, whatever the permission bits and times of a file that is
    /// there. Where there is none, none is replaced either that comes there meanwhile; and the new file is
    /// not synced: no bytes can be lost that were there before.
    pub(super) fn output(
        path: &Path,
        place: NameInFolder,
        old: Option<&There>,
        inherited: InheritedAttributes,
    ) -> Result<Self> {
        let mode = inherited.mode;
        Self::over(path, place, old, Occupant::Output { new: old.is_none(), inherited }, mode)
    }

    fn over(
        path: &Path,
        place: NameInFolder,
        old: Option<&There>,
        occupant: Occupant,
        mode: u32,
    ) -> Result<Self> {
        let refused = |why: &str| Err(Error::file(path, why));
        let may_be_read_only =
            matches!(&occupant, Occupant::Output { inherited, .. } if inherited.read_only);
        let out = match old.map(|old| (old.kind, old.permissions.readonly())) {
            Some((EntryKind::Symlink, _)) => return Err(symbolic_link(path)),
            Some((EntryKind::Folder, _)) => return refused("a directory; name a file"),
            Some((EntryKind::File, true)) if !may_be_read_only => {
                return refused("the file is read-only");
            }
            Some((EntryKind::Special, _)) => New::device(&place.folder, &place.name),
            Some((EntryKind::File, _)) | None => New::within(&place.folder, mode),
        };
        let out = out.map_err(|error| not_written(path, error))?;
        let out = BufWriter::new(out.with_holes(match &occupant {
            Occupant::Any(_) => false,
            Occupant::Output { inherited, .. } => inherited.is_sparse,
            Occupant::Original { original, .. } => is_sparse(&original.seen),
        }));
        Ok(Self { path: path.to_owned(), place, out, occupant })
    }

    /// Adds what `write` writes.
    ///
    /// # Errors
    ///
    /// What `write` returns, or the system. The replacement is then to be dropped.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        write(&mut self.out).map_err(|error| not_written(&self.path, error))
    }

    /// Adds the bytes of `from`.
    pub(super) fn add_file(&mut self, from: &File) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_mut().add_file(from).map(drop)
    }

    /// Which file it is that is being written; nothing for a device.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.out.get_ref().identity()
    }

    /// Takes in that the file is a mailbox, to which other programs may deliver: [`Replacement::commit`] takes the locks of
    /// mail programs (Debian Policy, 11.6) before its last look at the old file, and holds them until the new one has its
    /// name.
    #[must_use]
    pub fn of_mailbox(mut self) -> Self {
        if let Occupant::Original { is_mailbox, .. } = &mut self.occupant {
            *is_mailbox = true;
        }
        self
    }

    /// Whether [`Replacement::commit`] waits for the disk, so that many are better committed together
    /// ([`commit_all`]). It does not where no file is replaced.
    #[must_use]
    pub fn waits_for_disk(&self) -> bool {
        self.occupant.is_replaced()
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
            return self.complete().and_then(CompleteReplacement::rename).map(|file| file.lost);
        }
        commit_all(vec![self]).pop().unwrap_or_else(|| Ok(Vec::new()))
    }

    fn complete(self) -> Result<CompleteReplacement> {
        let Self { path, place, out, occupant } = self;
        let failed = |error: io::Error| not_written(&path, error);
        let new = out.into_inner().map_err(|error| failed(error.into_error()))?;
        let mut lost = Vec::new();
        if new.is_device() {
            return Ok(CompleteReplacement { path, place, new: None, occupant, lost });
        }
        match &occupant {
            Occupant::Any(None) => {}
            Occupant::Any(Some(permissions)) => {
                new.file().set_permissions(permissions.clone()).map_err(failed)?;
            }
            Occupant::Output { inherited, .. } => {
                if inherited.times.is_some_and(|times| new.file().set_times(times).is_err()) {
                    lost.push(Lost::Times);
                }
            }
            Occupant::Original { how, original, .. } => {
                lost = original.given_to(new.file(), how.preserve_times).map_err(failed)?;
            }
        }
        Ok(CompleteReplacement { path, place, new: Some(new), occupant, lost })
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
    sync_bytes(&mut files, |file| {
        file.new.as_ref().filter(|_| file.occupant.is_replaced()).map(|new| (&*file.path, new))
    });
    at_once(&mut files, CompleteReplacement::back_up);
    // An old file must not be gone before its backup is on the disk.
    let backed_up = files.iter().flatten().filter(|file| file.is_backed_up());
    let folders = Folders::sync(backed_up.map(CompleteReplacement::folder));
    for file in &mut files {
        then(file, |file| match folders.failure(file.folder()) {
            Some(why) => Err(refused(&file.path, &format!("no backup of it is safe: {why}"))),
            None => Ok(file),
        });
    }
    at_once(&mut files, CompleteReplacement::rename);
    let replaced = files.iter().flatten().filter(|file| file.occupant.is_replaced());
    let folders = Folders::sync(replaced.map(CompleteReplacement::folder));
    let result = |file: CompleteReplacement| match folders.failure(file.folder()) {
        Some(why) => Err(unsynced(&file.path, why)),
        None => Ok(file.lost),
    };
    files.into_iter().map(|file| file.and_then(result)).collect()
}

/// A file that has all it gets but its name; a device has its bytes, and no new file.
struct CompleteReplacement {
    path: PathBuf,
    place: NameInFolder,
    new: Option<New>,
    occupant: Occupant,
    lost: Vec<Lost>,
}

impl CompleteReplacement {
    fn folder(&self) -> &OpenFolder {
        &self.place.folder
    }

    fn is_backed_up(&self) -> bool {
        matches!(&self.occupant, Occupant::Original { how, .. } if how.backup.is_some())
    }

    fn back_up(mut self) -> Result<Self> {
        if let Occupant::Original { how, original, .. } = &mut self.occupant
            && let Some(suffix) = &how.backup
        {
            original.unchanged()?;
            original.back_up(suffix)?;
        }
        Ok(self)
    }

    fn rename(mut self) -> Result<Self> {
        let Some(mut new) = self.new.take() else { return Ok(self) };
        let (path, NameInFolder { folder, name }) = (&self.path, &self.place);
        let renamed = match &self.occupant {
            Occupant::Output { new: true, inherited } => match new.name(folder, name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if let Some(there) = there(path, &self.place)? {
                        replaceable(path, &there, &inherited.others)?;
                    }
                    let why = "another file of that name came there meanwhile, and was left";
                    return Err(refused(path, why));
                }
                named => named,
            },
            Occupant::Original { original, is_mailbox, .. } => {
                let locks = is_mailbox.then(|| MailboxLock::wait(path, &self.place)).transpose()?;
                let renamed = original.unnamed_by(|| new.replace(folder, name))?;
                match (renamed, locks) {
                    (Ok(()), Some(locks)) => return locks.release(path).map(|()| self),
                    (renamed, _) => renamed,
                }
            }
            Occupant::Output { .. } | Occupant::Any(_) => {
                let _old = folder.hold(name);
                new.replace(folder, name)
            }
        };
        renamed.map_err(|error| not_written(path, error))?;
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

    fn of(&self, name: &OsStr) -> OsString {
        let mut backup = name.to_owned();
        backup.push(&self.0);
        backup
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
            if suffix.ends(&original.place.name) {
                return refused("a backup by its name, which is left as it is");
            }
            let (backup, place) = original.backup(suffix);
            match there(&backup, &place)? {
                Some(there) if there.kind != EntryKind::File => return Err(no_backup(&backup)),
                // What a run that was killed between backup and replacement leaves.
                Some(there) if there.identity == identity(&now) => names = names.saturating_sub(1),
                Some(_) | None => {}
            }
        }
        if names > 1 && !self.break_links {
            return refused(&format!(
                "{names} names (hard links) lead to this file; `break-links` replaces it under this \
                 one alone"
            ));
        }
        let (place, old) = (original.place.clone(), There::of(&now));
        let (how, original) = (self.clone(), Box::new(original.clone()));
        let occupant = Occupant::Original { how, original, is_mailbox: false };
        Replacement::over(path, place, Some(&old), occupant, PRIVATE)
    }
}

/// A file as it was before it was read. Where a file can be replaced while it is open, it is open, in an open folder, so
/// that whatever comes in the place of one of them is another file.
#[derive(Clone, Debug)]
pub struct Original {
    path: PathBuf,
    place: NameInFolder,
    held: Option<Arc<File>>,
    seen: Metadata,
    state: ChangeState,
}

impl Original {
    /// Looks at the file at `path`, of which no byte is read. To be called before it is. Symbolic links on the way to
    /// its folder are followed; [`TreeEntry::original`](super::walk::TreeEntry::original) is for files that were found.
    ///
    /// # Errors
    ///
    /// Anything but a file: a symbolic link, a directory, a device, a pipe, nothing.
    pub fn of(path: &Path) -> Result<Self> {
        let place = NameInFolder::of(path).map_err(|error| Error::io(path, error))?;
        Self::at(path, place)
    }

    /// The same at `place`, to which `path` leads.
    pub(super) fn at(path: &Path, place: NameInFolder) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        let what = match place.there().map_err(failed)?.map(|there| there.kind) {
            Some(EntryKind::Symlink) => return Err(symbolic_link(path)),
            Some(EntryKind::Folder) => "a directory",
            Some(EntryKind::Special) => "not a regular file",
            Some(EntryKind::File) | None => {
                let file = place.folder.read(&place.name).map_err(failed)?;
                let seen = file.metadata().map_err(failed)?;
                if seen.is_file() {
                    let (path, state) = (path.to_owned(), state(&seen));
                    let held = REPLACES_OPEN_FILES.then(|| Arc::new(file));
                    return Ok(Self { path, place, held, seen, state });
                }
                "not a regular file"
            }
        };
        Err(Error::file(path, what))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same in its open folder.
    pub(super) fn place(&self) -> &NameInFolder {
        &self.place
    }

    /// Opens it for reading.
    ///
    /// # Errors
    ///
    /// The system's, and that something else is there now.
    pub fn open(&self) -> Result<File> {
        let failed = |error| match self.unchanged() {
            Ok(_) => Error::io(&self.path, error),
            Err(changed) => changed,
        };
        let file = self.place.folder.read(&self.place.name).map_err(failed)?;
        let seen = file.metadata().map_err(failed)?;
        self.still(&seen, self.own_steps().as_deref())?;
        Ok(file)
    }

    /// The file, not opened anew where it is held open.
    fn file(&self) -> io::Result<Arc<File>> {
        match &self.held {
            Some(file) => Ok(Arc::clone(file)),
            None => self.place.folder.read(&self.place.name).map(Arc::new),
        }
    }

    /// What is there now, which is the same file with the same bytes as far as can be told.
    pub(super) fn unchanged(&self) -> Result<Metadata> {
        self.unchanged_but_for(self.own_steps().as_deref())
    }

    fn unchanged_but_for(&self, steps: Option<&OwnSteps>) -> Result<Metadata> {
        let NameInFolder { folder, name } = &self.place;
        if !folder.is_where_it_was() {
            return Err(self.changed());
        }
        let now = self.file().and_then(|file| folder.look(name, &file));
        let now = now.map_err(|error| not_written(&self.path, error))?;
        let now = now.ok_or_else(|| self.changed())?;
        self.still(&now, steps)?;
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
        is_linked.then(|| lock(&OWN_STEPS))
    }

    /// Does what takes this name from the file, if that is unchanged. With its other names, the file is
    /// then still the one that was seen under them.
    pub(super) fn unnamed_by<T>(&self, step: impl FnOnce() -> T) -> Result<T> {
        let mut steps = self.own_steps();
        let before = self.unchanged_but_for(steps.as_deref())?;
        let Some(steps) = &mut steps else { return Ok(step()) };
        let done = step();
        let after = self.file().and_then(|file| file.metadata());
        let after = after.ok().filter(|after| {
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
            false => self.place.folder.write(&self.place.name),
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
        let old = self.file()?;
        if give_attributes(&old, new).is_err() {
            lost.push(Lost::Attributes);
        }
        if give_flags(&old, new).is_err() {
            lost.push(Lost::Flags);
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

    /// The path of its backup, and the place.
    fn backup(&self, suffix: &Suffix) -> (PathBuf, NameInFolder) {
        let backup = suffix.of(&self.place.name);
        let path = self.path.with_file_name(&backup);
        (path, NameInFolder { name: backup, folder: Arc::clone(&self.place.folder) })
    }

    /// Keeps the old file as its backup too, unless there is one.
    fn back_up(&mut self, suffix: &Suffix) -> Result<()> {
        let (backup, place) = self.backup(suffix);
        match there(&backup, &place)? {
            Some(there) if there.kind == EntryKind::File => return Ok(()),
            Some(_) => return Err(no_backup(&backup)),
            None => {}
        }
        // The old file itself becomes the backup: nothing writes to it any more. Under a name that is
        // to stay something may, so then it is a copy; and where there are no hard links.
        let NameInFolder { folder, name } = &self.place;
        let linked = names_of(&self.seen) == 1 && folder.link(name, &place.name).is_ok();
        if !linked {
            return self.copy_to(&place).map_err(|error| match error.kind() {
                // Another run made it meanwhile.
                ErrorKind::AlreadyExists => self.changed(),
                _ => not_written(&backup, error),
            });
        }
        // The link itself is a change of the file.
        let now = self.file().and_then(|file| folder.look(&place.name, &file));
        let now = now.map_err(|error| not_written(&self.path, error))?;
        let now = now.filter(|now| is_as_seen(now, &self.seen) && names_of(now) <= 2);
        self.state = state(&now.ok_or_else(|| self.changed())?);
        Ok(())
    }

    fn copy_to(&self, backup: &NameInFolder) -> io::Result<()> {
        let mut copy = New::within(&backup.folder, PRIVATE)?.with_holes(is_sparse(&self.seen));
        let old = self.file()?;
        (&*old).rewind()?;
        copy.add_file(&old)?;
        self.given_to(copy.file(), true)?;
        copy.file().sync_all()?;
        copy.name(&backup.folder, &backup.name)
    }
}

/// What a new file could not be given of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Its owner or its group.
    Owner,
    /// An extended attribute.
    Attributes,
    /// A flag of its inode, as `chattr` sets them.
    Flags,
    /// When it was last read and written.
    Times,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Owner => "its owner or group could not be kept",
            Self::Attributes => "not all of its extended attributes could be kept",
            Self::Flags => "not all of its flags (chattr) could be kept",
            Self::Times => "its times could not be kept",
        })
    }
}

/// What is at `place`, to which `path` leads.
pub(super) fn there(path: &Path, place: &NameInFolder) -> Result<Option<There>> {
    place.there().map_err(|error| not_written(path, error))
}

/// Whether a file of an output folder can take the place of what is `there`.
pub(super) fn replaceable(path: &Path, there: &There, others: &Files) -> Result<()> {
    if there.kind == EntryKind::Symlink {
        return Err(symbolic_link(path));
    }
    let why = match there.identity {
        _ if there.kind != EntryKind::File => "not a regular file",
        Some(file) if lock(others).get(&file).is_some_and(|made| is_still(made, file)) => {
            "another input was written there, under a name that is the same to this file system"
        }
        _ => return Ok(()),
    };
    Err(Error::file(path, why))
}

/// Whether the file that was made at `path` is still there. Of one that another run has replaced the file system gives the
/// number to the next file that anybody makes.
fn is_still(path: &Path, file: Identity) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| identity(&there) == Some(file))
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

/// Whether a file is the one that was seen, and may be written and read by the same users. Of its bytes
/// size and time are compared; that time can be set, and the one of [`state`] cannot.
fn is_as_seen(now: &Metadata, seen: &Metadata) -> bool {
    now.is_file()
        && identity(now) == identity(seen)
        && now.len() == seen.len()
        && now.modified().ok() == seen.modified().ok()
        && now.permissions() == seen.permissions()
}

/// When anything of a file was last changed, and how many names it has.
type ChangeState = (Option<SystemTime>, u64);

fn state(metadata: &Metadata) -> ChangeState {
    (changed(metadata), names_of(metadata))
}

/// The states of files with several names, one after the other, between which this program took a name
/// from them and nobody did anything else. Each of the names may be one to be replaced.
type OwnSteps = BTreeMap<Identity, Vec<ChangeState>>;

static OWN_STEPS: Mutex<OwnSteps> = Mutex::new(BTreeMap::new());

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

/// Gives `new` the extended attributes of `old` and no other.
#[cfg(unix)]
fn give_attributes(old: &File, new: &File) -> io::Result<()> {
    use xattr::FileExt;
    let of_the_system = |name: &OsStr| match name.as_encoded_bytes() {
        b"system.posix_acl_access" => false,
        b"security.ima" | b"security.evm" => true,
        name => name.starts_with(b"system."),
    };
    let names = match old.list_xattr() {
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
        names => names?,
    };
    let names: Vec<_> = names.filter(|name| !of_the_system(name)).collect();
    let made: Vec<_> = new.list_xattr()?.filter(|name| !of_the_system(name)).collect();
    // A folder may give an access control list to every file that is made in it.
    let mut given = Ok(());
    let is_label = |name: &OsStr| name.as_encoded_bytes().starts_with(b"security.");
    for name in made.iter().filter(|name| !names.contains(name) && !is_label(name)) {
        given = given.and(new.remove_xattr(name));
    }
    for name in &names {
        let value = old.get_xattr(name).map(Option::unwrap_or_default);
        given = given.and(value.and_then(|value| {
            // What every new file gets, such as the label of a security module, need not be allowed again.
            let has_it = made.contains(name) && new.get_xattr(name)?.as_ref() == Some(&value);
            if has_it { Ok(()) } else { new.set_xattr(name, &value) }
        }));
    }
    given
}

#[cfg(not(unix))]
fn give_attributes(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}

/// Gives `new` the flags of `old` that `chattr` sets and that leave a file writable. Which of them a file system has, it
/// says itself.
#[cfg(target_os = "linux")]
fn give_flags(old: &File, new: &File) -> io::Result<()> {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    const GIVEN: IFlags = IFlags::COMPRESSED
        .union(IFlags::SYNC)
        .union(IFlags::NODUMP)
        .union(IFlags::NOATIME)
        .union(IFlags::JOURNALING)
        .union(IFlags::NOTAIL)
        .union(IFlags::NOCOW);
    let Ok(flags) = ioctl_getflags(old) else { return Ok(()) };
    let flags = flags & GIVEN;
    if flags.is_empty() {
        return Ok(());
    }
    let made = ioctl_getflags(new)?;
    if made.contains(flags) {
        return Ok(());
    }
    Ok(ioctl_setflags(new, made | flags)?)
}

#[cfg(not(target_os = "linux"))]
fn give_flags(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}
