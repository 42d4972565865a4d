//! Atomic replacement of files.
//!
//! ```text
//! out.html:  old bytes  --rename-->  new bytes     never partial bytes
//! ```
//!
//! The new bytes are written to a temporary file next to the target. This file then takes the target's name by rename
//! (POSIX.1-2017), during which the name always exists. The input may therefore be replaced while it is read.
//!
//! The bytes reach the disk before the name does. If the system can sync folders, the name reaches the disk before
//! [`Replacement::commit`] returns. Only new files of an output folder are not synced ([`mirror`](super::mirror)).
//!
//! ```
//! use std::fs;
//! use baselink_cli::files::write::{InPlace, Original, Suffix};
//!
//! let folder = tempfile::tempdir()?;
//! let page = folder.path().join("page.html");
//! fs::write(&page, "<a href=x>")?;
//!
//! let settings = InPlace { backup: Some(Suffix::new(".orig".as_ref())?), ..InPlace::default() };
//! let original = Original::of(&page)?;
//! let mut replacement = settings.begin(&original)?;
//! replacement.write(|out| out.write_all(b"<a href=http://a/x>"))?;
//! assert!(replacement.commit()?.lost.is_empty());
//! assert_eq!(fs::read(&page)?, b"<a href=http://a/x>");
//! assert_eq!(fs::read(folder.path().join("page.html.orig"))?, b"<a href=x>");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file that is replaced in place ([`InPlace::begin`]) keeps its permission bits. If the system allows it, the
//! file keeps its owner and group, its extended attributes (including POSIX access control lists, capabilities and
//! `trusted.*`), and on Linux the flags of `chattr`. [`NotPreserved`] reports the rest. Times are kept on request.
//!
//! The system itself sets attributes that it computes from the bytes (`security.ima`, `security.evm`). If the old
//! file has holes, long runs of zero bytes become holes in the new file too. A file that this user may not write is
//! not replaced, although a rename would succeed.
//!
//! A message of a Maildir ([`maildir`](super::maildir)) may get a new name that contains its size. This name must not
//! be in use. Once the name is on disk, the old file is removed. If a message with the intended bytes already has the
//! new name, a killed run wrote it, and only the old file is removed.
//!
//! Deliberately absent: following symbolic links, because users rarely intend that.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

pub use super::disk::most_pending;
use super::disk::{NewFile, PRIVATE, SyncedFolders, at_once, sync_bytes, then};
use super::file::{
    EntryKind, ExistingEntry, Identity, REPLACES_OPEN_FILES, changed, folder_of, identity,
    is_sparse, names_of, not_written, refused, times,
};
pub use super::file::{TEMPORARY, is_one_file};
use super::folder::{NameInFolder, OpenFolder};
use super::mailbox_lock::MailboxLock;
use super::maildir::{is_message, with_sizes_of};
pub use super::temporary::{is_temporary, remove_left_beside};
use baselink_text::error::{self, Error, Result, cause, name};

/// New contents for a file, applied by [`Replacement::commit`]. Dropping the replacement discards them.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    place: NameInFolder,
    out: BufWriter<NewFile>,
    old: ReplacedFile,
    /// The permission bits that the new file gets before it gets its name.
    permissions: Option<Permissions>,
    times: Option<FileTimes>,
    lost: Vec<NotPreserved>,
}

/// The file that the new one replaces.
#[derive(Debug)]
enum ReplacedFile {
    /// No file. If a file appears in the meantime, it is kept.
    Nothing,
    /// Any file that has the name when the new file gets it, or no file.
    Any,
    /// A file that was examined before it was read.
    Original {
        original: Box<Original>,
        how: InPlace,
        kind: OriginalKind,
    },
    /// A file that is replaced together with the others of a [`StagedMove`](super::stage::StagedMove).
    Staged {
        original: Box<Original>,
        how: InPlace,
    },
}

/// The kind of the old file, which determines how it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OriginalKind {
    Document,
    /// A mailbox, which must be locked.
    Mailbox,
    /// A message of a Maildir, whose name may contain its sizes.
    Message,
}

/// A file with new contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The path of the file. The name of a message may have changed with its size.
    pub path: PathBuf,
    /// The properties of the old file that could not be preserved.
    pub lost: Vec<NotPreserved>,
}

impl Replacement {
    /// Begins to write new contents for `path`. If a file exists there, the new one gets its permission bits, and its
    /// other hard links keep the old bytes.
    ///
    /// # Errors
    ///
    /// Returns an error for a symbolic link, a directory, a read-only file, and a folder that is missing or not
    /// writable.
    pub fn begin(path: &Path) -> Result<Self> {
        let place = NameInFolder::of(path).map_err(|error| {
            let folder = folder_of(path);
            if error.kind() == ErrorKind::NotFound && !folder.is_dir() {
                let (file, folder) = (name(path), name(folder));
                let why = format!("{file} was not written: the folder {folder} does not exist");
                return Error::system(why, error);
            }
            not_written(path, error)
        })?;
        Self::at(path, place)
    }

    /// Like [`Replacement::begin`], for a name in an open folder. `path` is its path for messages.
    pub(super) fn at(path: &Path, place: NameInFolder) -> Result<Self> {
        let old = entry_at(path, &place)?;
        let new = match old.as_ref().map(|old| old.kind) {
            Some(EntryKind::Symlink) => return Err(symbolic_link(path)),
            Some(EntryKind::Folder) => return Err(Error::file(path, "a directory; name a file")),
            Some(EntryKind::Special) => NewFile::device(&place.folder, &place.name),
            Some(EntryKind::File) => NewFile::within(&place.folder, PRIVATE),
            // The umask determines the permissions of a new file, as with any other program.
            None => NewFile::within(&place.folder, 0o666),
        };
        let new = new.map_err(|error| not_written(path, error))?;
        let permissions = old.filter(|_| !new.is_device()).map(|old| old.permissions);
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            return Err(read_only(path));
        }
        Ok(Self {
            permissions,
            ..Self::of(path, place, new, ReplacedFile::Any)
        })
    }

    /// Begins to write a file of an output folder with these times and these permission bits, reduced by the umask.
    ///
    /// If `is_new` is false, the new file replaces any file of that name. If it is true, no file of that name exists
    /// yet, and one that appears in the meantime is kept. Such a new file is not synced, because no earlier bytes can be
    /// lost.
    pub(super) fn output(
        path: &Path,
        place: NameInFolder,
        is_new: bool,
        mode: u32,
        times: Option<FileTimes>,
    ) -> Result<Self> {
        let new = NewFile::within(&place.folder, mode).map_err(|error| not_written(path, error))?;
        let old = if is_new {
            ReplacedFile::Nothing
        } else {
            ReplacedFile::Any
        };
        Ok(Self {
            times,
            ..Self::of(path, place, new, old)
        })
    }

    fn of(path: &Path, place: NameInFolder, new: NewFile, old: ReplacedFile) -> Self {
        let (path, out) = (path.to_owned(), BufWriter::new(new));
        Self {
            path,
            place,
            out,
            old,
            permissions: None,
            times: None,
            lost: Vec::new(),
        }
    }

    /// Writes data with the closure `write`.
    ///
    /// # Errors
    ///
    /// Returns the errors of `write` and of the system. After an error, drop the replacement.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        write(&mut self.out).map_err(|error| not_written(&self.path, error))
    }

    /// Appends the contents of `from`.
    pub(super) fn add_file(&mut self, from: &File) -> Result<()> {
        let copied = self
            .out
            .flush()
            .and_then(|()| self.out.get_mut().add_file(from));
        copied.map_err(|error| not_written(&self.path, error))
    }

    /// Sets the times of the file to those in `of`.
    pub fn preserve_times(&mut self, of: &Metadata) {
        self.times = times(of);
    }

    /// Turns long runs of zero bytes into holes if the file described by `of` has holes.
    pub(super) fn preserve_holes(&mut self, of: &Metadata) {
        self.out.get_mut().has_holes = is_sparse(of);
    }

    fn new_file(&self) -> &NewFile {
        self.out.get_ref()
    }

    /// The identity of the file that is being written; `None` for a device or pipe.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.new_file().identity()
    }

    /// Declares that the file is a mailbox, to which other programs may deliver. [`Replacement::commit`] then takes
    /// the locks of mail programs (Debian Policy, 11.6) before its last check of the old file, and holds them until
    /// the new file has its name.
    #[must_use]
    pub fn of_mailbox(mut self) -> Self {
        if let ReplacedFile::Original { kind, .. } = &mut self.old {
            *kind = OriginalKind::Mailbox;
        }
        self
    }

    /// True if [`Replacement::commit`] waits for the disk. Committing many such replacements together
    /// ([`commit_all`]) is faster. False for a new file of an output folder.
    #[must_use]
    pub fn waits_for_disk(&self) -> bool {
        !matches!(self.old, ReplacedFile::Nothing)
    }

    /// Gives the file its new contents.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk is full, the old file has changed since [`Original::of`], its backup cannot be
    /// created, or the intended name of a message is taken. The old file is then unchanged. Also returns an error if
    /// the new file is in place but its folder cannot be synced, or if a message exists twice because its old file
    /// cannot be removed.
    pub fn commit(self) -> Result<Committed> {
        let none = || Err(Error::new("no file"));
        commit_all(vec![self]).pop().unwrap_or_else(none)
    }

    /// Completes the contents and properties of the file, before it gets its name.
    fn complete(mut self) -> Result<Self> {
        self.set_properties()
            .map_err(|error| not_written(&self.path, error))?;
        Ok(self)
    }

    /// Flushes the contents, and sets permission bits, times and other properties. Determines the name of a message.
    fn set_properties(&mut self) -> io::Result<()> {
        self.out.flush()?;
        let mut file = self.out.get_ref().file();
        if let Some(permissions) = &self.permissions {
            file.set_permissions(permissions.clone())?;
        }
        if self
            .times
            .is_some_and(|times| file.set_times(times).is_err())
        {
            self.lost.push(NotPreserved::Times);
        }
        if let ReplacedFile::Original {
            original,
            how,
            kind,
        } = &self.old
        {
            let is_message = *kind == OriginalKind::Message;
            if is_message {
                file.rewind()?;
                self.path = with_sizes_of(&self.path, |out| io::copy(&mut file, out).map(drop))?;
                self.place.name = self.path.file_name().unwrap_or_default().to_owned();
            }
            self.lost = original.copy_properties_to(file, how.preserve_times || is_message)?;
        }
        if let ReplacedFile::Staged { original, how } = &self.old {
            self.lost = original.copy_properties_to(file, how.preserve_times)?;
        }
        Ok(())
    }

    fn folder(&self) -> &OpenFolder {
        &self.place.folder
    }

    fn backup(&self) -> Option<&Suffix> {
        match &self.old {
            ReplacedFile::Original { how, .. } => how.backup.as_ref(),
            _ => None,
        }
    }

    fn back_up(mut self) -> Result<Self> {
        if let ReplacedFile::Original { how, original, .. } = &mut self.old
            && let Some(suffix) = &how.backup
        {
            original.unchanged()?;
            original.back_up(suffix)?;
        }
        Ok(self)
    }

    fn rename(mut self) -> Result<Self> {
        let (path, new) = (&self.path, self.out.get_mut());
        let NameInFolder { folder, name } = &self.place;
        let renamed = match &self.old {
            ReplacedFile::Nothing => new.name(folder, name).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => {
                    let why = "another program created a file with this name, or with a name that this file system \
                               treats as the same; that file was kept";
                    refused(path, why)
                }
                _ => not_written(path, error),
            }),
            ReplacedFile::Any => {
                let _old = REPLACES_OPEN_FILES.then(|| folder.read(name));
                new.replace(folder, name).map_err(|error| not_written(path, error))
            }
            ReplacedFile::Staged { original, .. } => {
                original.unchanged()?;
                new.name(folder, name).map_err(|error| not_written(path, error))
            }
            ReplacedFile::Original { original, .. } if original.path != *path => {
                original.unchanged()?;
                name_message(new, path, &self.place)
                    .map_err(|error| refused(&original.path, &cause(&error)))
            }
            ReplacedFile::Original { original, kind, .. } => {
                let is_mailbox = *kind == OriginalKind::Mailbox;
                let locks = is_mailbox.then(|| MailboxLock::wait(path, &self.place)).transpose()?;
                let renamed = original.remove_name_by(|| new.replace(folder, name))?;
                renamed
                    .map_err(|error| not_written(path, error))
                    .and_then(|()| locks.map_or(Ok(()), |locks| locks.release(path)))
            }
        };
        renamed.map(|()| self)
    }

    /// Removes the old file of a message that has a new name.
    fn remove_old(mut self) -> Result<Self> {
        let ReplacedFile::Original { original, .. } = &self.old else {
            return Ok(self);
        };
        if original.path == self.path {
            return Ok(self);
        }
        let NameInFolder { folder, name: old } = &original.place;
        match original.remove_name_by(|| folder.remove(old)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) if error.kind() != ErrorKind::NotFound => {
                let (old, new) = (name(&original.path), name(&self.path));
                let why = cause(&error);
                let why = format!("{old} could not be removed: {why}; the new message is {new}");
                return Err(Error::system(why, error));
            }
            // Another program changed the message under its old name, so that file may be the only copy of the change.
            _ => self.lost.push(NotPreserved::OldName),
        }
        Ok(self)
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        written.map_err(|error| io::Error::other(not_written(&self.path, error)))
    }

    /// Does nothing, because [`Replacement::commit`] flushes.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives several files their new contents, independently of each other, like [`Replacement::commit`] but with fewer
/// waits for the disk. Bytes are synced and names assigned for many files concurrently, and each folder is synced
/// once. Results are in the order of `replacements`.
///
/// Each replacement holds an open file, and the number of open files is limited ([`most_pending`]). Several threads
/// may prepare replacements, but one thread should commit them, because a file system serves one sync at a time. A
/// file that occurs twice is written once.
#[must_use]
pub fn commit_all(replacements: Vec<Replacement>) -> Vec<Result<Committed>> {
    let mut files: Vec<_> = replacements
        .into_iter()
        .map(Replacement::complete)
        .collect();
    let mut paths = HashSet::new();
    for file in &mut files {
        then(file, |file| match paths.insert(file.path.clone()) {
            true => Ok(file),
            false => Err(Error::file(&file.path, "named twice; written once")),
        });
    }
    // Bytes are synced before names, so that a crash of the machine does not leave an empty file under a name.
    sync_bytes(&mut files, |file| {
        let waits = file.waits_for_disk() && !file.new_file().is_device();
        waits.then(|| (&*file.path, file.new_file()))
    });
    at_once(&mut files, Replacement::back_up);
    // An old file is kept until its backup is on disk.
    let backed_up = files
        .iter()
        .flatten()
        .filter(|file| file.backup().is_some());
    let folders = SyncedFolders::sync(backed_up.map(Replacement::folder));
    for file in &mut files {
        then(file, |file| match folders.failure(file.folder()) {
            Some(why) => Err(refused(
                &file.path,
                &format!("its backup could not be synced: {why}"),
            )),
            None => Ok(file),
        });
    }
    at_once(&mut files, Replacement::rename);
    let replaced = files.iter().flatten().filter(|file| file.waits_for_disk());
    let folders = SyncedFolders::sync(replaced.map(Replacement::folder));
    // An old name is kept until the new one is on disk.
    at_once(&mut files, |file| match folders.failure(file.folder()) {
        Some(why) => Err(unsynced(&file.path, why)),
        None => file.remove_old(),
    });
    let committed = |file: Replacement| Committed {
        path: file.path,
        lost: file.lost,
    };
    files.into_iter().map(|file| file.map(committed)).collect()
}

/// Gives the message `new` its name in `place`, which must not be in use. A file of that name with the same bytes also
/// counts as success: an earlier run wrote it and was killed before it removed the old file.
fn name_message(new: &mut NewFile, path: &Path, place: &NameInFolder) -> io::Result<()> {
    match new.name(&place.folder, &place.name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            match has_the_bytes_of(place, new.file())? {
                true => Ok(()),
                false => {
                    let why = format!("{}: another file has that name", name(path));
                    Err(io::Error::other(why))
                }
            }
        }
        named => named,
    }
}

/// True if the entry at `place` is a regular file with the bytes of `other`.
fn has_the_bytes_of(place: &NameInFolder, mut other: &File) -> io::Result<bool> {
    if place
        .entry()?
        .is_none_or(|entry| entry.kind != EntryKind::File)
    {
        return Ok(false);
    }
    let mut file = place.folder.read(&place.name)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() != other.metadata()?.len() {
        return Ok(false);
    }
    other.rewind()?;
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        other.read_exact(&mut right[..read])?;
        if left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

/// Settings for replacement in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InPlace {
    /// True if files with other hard links are replaced too. The other links keep the old bytes.
    pub break_links: bool,
    /// True if the new file gets the times that the old file had at [`Original::of`].
    pub preserve_times: bool,
    /// The suffix for a backup of the old file. An existing backup is kept, because it is the first original.
    pub backup: Option<Suffix>,
}

/// The suffix in the names of backups: not empty, and without path separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suffix(OsString);

impl Suffix {
    /// Creates a suffix.
    ///
    /// # Errors
    ///
    /// Returns an error if the suffix is empty or contains a path separator or a NUL.
    pub fn new(suffix: &OsStr) -> Result<Self> {
        let is_forbidden = |byte: &u8| std::path::is_separator(char::from(*byte)) || *byte == 0;
        let bytes = suffix.as_encoded_bytes();
        if bytes.is_empty() || bytes.iter().any(is_forbidden) {
            let suffix = name(Path::new(suffix));
            let why = format!("'{suffix}' is not a valid backup suffix; use for example `.orig`");
            return Err(Error::new(why));
        }
        Ok(Self(suffix.to_owned()))
    }

    /// True if `name` has this suffix. Backups are not rewritten, because they preserve the first contents.
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
    /// Begins to replace `original`. A message of a Maildir is written to the Maildir's `tmp` and always keeps its
    /// times. It may have other hard links, because mail readers copy messages by linking them.
    ///
    /// # Errors
    ///
    /// Returns an error in these cases:
    ///
    /// - The file is not writable, or has changed since [`Original::of`].
    /// - It has other hard links and [`InPlace::break_links`] is false.
    /// - It is itself a backup, or its backup exists and is not a regular file.
    /// - It is a message of a Maildir, and its backup, which would be another message, is requested.
    /// - It is a message of a Maildir whose `tmp` is a symbolic link or not writable.
    pub fn begin(&self, original: &Original) -> Result<Replacement> {
        self.check(original)?;
        let (path, is_message) = (&original.path, is_message(&original.path));
        let place = original.place.clone();
        let folder = match is_message {
            false => Arc::clone(&place.folder),
            true => Arc::new(place.folder.beside("tmp".as_ref()).map_err(|error| {
                let tmp = folder_of(path).with_file_name("tmp");
                if tmp.is_symlink() {
                    symbolic_link(&tmp)
                } else {
                    not_written(path, error)
                }
            })?),
        };
        let new = NewFile::within(&folder, PRIVATE).map_err(|error| not_written(path, error))?;
        let kind = if is_message {
            OriginalKind::Message
        } else {
            OriginalKind::Document
        };
        let (seen, how) = (&original.seen, self.clone());
        let original = Box::new(original.clone());
        let mut replacement = Replacement::of(
            path,
            place,
            new,
            ReplacedFile::Original {
                original,
                how,
                kind,
            },
        );
        replacement.preserve_holes(seen);
        Ok(replacement)
    }

    /// Begins to replace `original` together with the other files of a [`StagedMove`](super::stage::StagedMove). The new
    /// contents are written to a file at `place`, which is later renamed to `path`. No backup is made.
    pub(super) fn stage(
        &self,
        original: &Original,
        path: &Path,
        place: NameInFolder,
    ) -> Result<Replacement> {
        self.check(original)?;
        let new =
            NewFile::within(&place.folder, PRIVATE).map_err(|error| not_written(path, error))?;
        let old = ReplacedFile::Staged {
            original: Box::new(original.clone()),
            how: self.clone(),
        };
        let mut replacement = Replacement::of(path, place, new, old);
        replacement.preserve_holes(&original.seen);
        Ok(replacement)
    }

    /// Checks that `original` may be replaced.
    fn check(&self, original: &Original) -> Result<()> {
        let path = &original.path;
        let refused = |why: &str| Err(Error::file(path, why));
        let is_message = is_message(path);
        if is_message && self.backup.is_some() {
            return refused("in a Maildir a backup would be another message; omit --backup");
        }
        let now = original.unchanged()?;
        original.writable()?;
        let mut names = names_of(&now);
        if let Some(suffix) = &self.backup {
            if suffix.ends(&original.place.name) {
                return refused("named like a backup; skipped");
            }
            let (backup, place) = original.backup(suffix);
            match entry_at(&backup, &place)? {
                Some(entry) if entry.kind != EntryKind::File => return Err(no_backup(&backup)),
                // A run was killed between backup and replacement: the backup is a hard link to the file.
                Some(entry) if entry.identity == identity(&now) => names = names.saturating_sub(1),
                Some(_) | None => {}
            }
        }
        if names > 1 && !self.break_links && !is_message {
            return refused(&format!(
                "the file has {names} names (hard links); --in-place=break-links replaces it under this \
                 name only"
            ));
        }
        Ok(())
    }
}

/// The state of a file before it is read. If the system can replace open files, the file and its folder are held open,
/// so that a replacement of either is recognized.
#[derive(Clone, Debug)]
pub struct Original {
    path: PathBuf,
    place: NameInFolder,
    held: Option<Arc<File>>,
    seen: Metadata,
    state: ChangeState,
}

impl Original {
    /// Examines the file at `path` without reading it. Call this before reading. Symbolic links to its folder are
    /// followed; use [`TreeEntry::original`](super::walk::TreeEntry::original) for files that a walk found.
    ///
    /// # Errors
    ///
    /// Returns an error if `path` does not exist or is not a regular file. A symbolic link is not followed.
    pub fn of(path: &Path) -> Result<Self> {
        let place = NameInFolder::of(path).map_err(|error| Error::io(path, error))?;
        Self::at(path, place)
    }

    /// Like [`Original::of`], for a name in an open folder. `path` is its path for messages.
    pub(super) fn at(path: &Path, place: NameInFolder) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        let what = match place.entry().map_err(failed)?.map(|entry| entry.kind) {
            Some(EntryKind::Symlink) => return Err(symbolic_link(path)),
            Some(EntryKind::Folder) => "a directory",
            Some(EntryKind::Special) => "not a regular file",
            Some(EntryKind::File) | None => {
                let file = place.folder.read(&place.name).map_err(failed)?;
                let seen = between_steps(|| file.metadata()).map_err(failed)?;
                if seen.is_file() {
                    let (path, state) = (path.to_owned(), state(&seen));
                    let held = REPLACES_OPEN_FILES.then(|| Arc::new(file));
                    return Ok(Self {
                        path,
                        place,
                        held,
                        seen,
                        state,
                    });
                }
                "not a regular file"
            }
        };
        Err(Error::file(path, what))
    }

    /// Opens the file for reading.
    ///
    /// # Errors
    ///
    /// Returns the system's errors, and an error if the file has been replaced.
    pub fn open(&self) -> Result<File> {
        let failed = |error| match self.unchanged() {
            Ok(_) => Error::io(&self.path, error),
            Err(changed) => changed,
        };
        let file = self.place.folder.read(&self.place.name).map_err(failed)?;
        let seen = between_steps(|| file.metadata()).map_err(failed)?;
        self.check_unchanged(&seen)?;
        Ok(file)
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The metadata at the time of [`Original::of`].
    pub(super) fn seen(&self) -> &Metadata {
        &self.seen
    }

    /// The open file, opened anew if it is not held open.
    fn file(&self) -> io::Result<Arc<File>> {
        match &self.held {
            Some(file) => Ok(Arc::clone(file)),
            None => self.place.folder.read(&self.place.name).map(Arc::new),
        }
    }

    /// The current metadata of the file. Returns an error if the file has been changed or replaced.
    fn unchanged(&self) -> Result<Metadata> {
        let NameInFolder { folder, name } = &self.place;
        if !folder.is_where_it_was() {
            return Err(self.changed());
        }
        let now = self
            .file()
            .and_then(|file| between_steps(|| folder.look(name, &file)));
        let now = now.map_err(|error| not_written(&self.path, error))?;
        let now = now.ok_or_else(|| self.changed())?;
        self.check_unchanged(&now)?;
        Ok(now)
    }

    /// Checks that `now` describes the examined file, unchanged except by this program.
    fn check_unchanged(&self, now: &Metadata) -> Result<()> {
        let states = STATES_BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        let before = |state| states.get(&state).copied().unwrap_or(state);
        match is_as_seen(now, &self.seen) && before(state(now)) == before(self.state) {
            true => Ok(()),
            false => Err(self.changed()),
        }
    }

    /// Performs a step that removes this name from the file, if the file is unchanged. The resulting change of state
    /// is recorded, so that the file still counts as unchanged under its other names.
    fn remove_name_by<T>(&self, step: impl FnOnce() -> T) -> Result<T> {
        let before = state(&self.unchanged()?);
        let mut states =
            (before.2 > 1).then(|| STATES_BEFORE.lock().unwrap_or_else(PoisonError::into_inner));
        let done = step();
        if let Some(states) = &mut states
            && let Ok(after) = self.file().and_then(|file| file.metadata())
            && is_as_seen(&after, &self.seen)
        {
            let first = states.get(&before).copied().unwrap_or(before);
            states.insert(state(&after), first);
        }
        Ok(done)
    }

    fn changed(&self) -> Error {
        Error::file(
            &self.path,
            "another program changed it meanwhile, so it was not replaced",
        )
    }

    /// Checks that this user may write the file.
    fn writable(&self) -> Result<()> {
        let opened = match self.seen.permissions().readonly() {
            // A privileged user could write a read-only file, but it is refused here too.
            true => Err(ErrorKind::PermissionDenied.into()),
            false => self.place.folder.write(&self.place.name),
        };
        match opened {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(read_only(&self.path)),
            Err(error) => Err(not_written(&self.path, error)),
            Ok(_) => Ok(()),
        }
    }

    /// Copies owner, permission bits, extended attributes and, if `has_times`, times to `new`. Returns the properties
    /// that could not be copied.
    fn copy_properties_to(&self, new: &File, has_times: bool) -> io::Result<Vec<NotPreserved>> {
        let mut lost = Vec::new();
        // The order matters: changing the owner clears bits, and changing bits changes the access control list.
        let permissions = give_owner(&self.seen, new, &mut lost)?;
        new.set_permissions(permissions)?;
        let old = self.file()?;
        let given = give_attributes(&old, new);
        #[cfg(target_os = "linux")]
        let given = given.and(give_flags(&old, new));
        if given.is_err() {
            lost.push(NotPreserved::Attributes);
        }
        if has_times && times(&self.seen).is_none_or(|times| new.set_times(times).is_err()) {
            lost.push(NotPreserved::Times);
        }
        Ok(lost)
    }

    /// The path of the backup, and its name in the open folder.
    fn backup(&self, suffix: &Suffix) -> (PathBuf, NameInFolder) {
        let backup = suffix.of(&self.place.name);
        let path = self.path.with_file_name(&backup);
        (
            path,
            NameInFolder {
                name: backup,
                folder: Arc::clone(&self.place.folder),
            },
        )
    }

    /// Keeps the old file as its backup, unless a backup exists.
    pub(super) fn back_up(&mut self, suffix: &Suffix) -> Result<()> {
        let (backup, place) = self.backup(suffix);
        match entry_at(&backup, &place)? {
            Some(entry) if entry.kind == EntryKind::File => return Ok(()),
            Some(_) => return Err(no_backup(&backup)),
            None => {}
        }
        // If the old file has only one name, a hard link makes it the backup, since no other name can be used to write
        // to it. Otherwise, or if the file system has no hard links, the backup is a copy.
        let NameInFolder { folder, name } = &self.place;
        let linked = names_of(&self.seen) == 1 && folder.link(name, &place.name).is_ok();
        if !linked {
            return self.copy_to(&place).map_err(|error| match error.kind() {
                // Another process created the backup in the meantime.
                ErrorKind::AlreadyExists => self.changed(),
                _ => not_written(&backup, error),
            });
        }
        // Creating the link changes the state of the file.
        let now = self.file().and_then(|file| folder.look(&place.name, &file));
        let now = now.map_err(|error| not_written(&self.path, error))?;
        let now = now.filter(|now| is_as_seen(now, &self.seen) && names_of(now) <= 2);
        self.state = state(&now.ok_or_else(|| self.changed())?);
        Ok(())
    }

    fn copy_to(&self, backup: &NameInFolder) -> io::Result<()> {
        let mut copy = NewFile::within(&backup.folder, PRIVATE)?;
        let old = self.file()?;
        (&*old).rewind()?;
        copy.has_holes = is_sparse(&self.seen);
        copy.add_file(&old)?;
        self.copy_properties_to(copy.file(), true)?;
        copy.file().sync_all()?;
        copy.name(&backup.folder, &backup.name)
    }
}

/// A property of the old file that could not be preserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPreserved {
    /// The owner or the group.
    Owner,
    /// An extended attribute, or a flag of `chattr`.
    Attributes,
    /// The times of the last read and write.
    Times,
    /// The removal of a message's old name, because another program changed or replaced that file. The message may
    /// exist twice.
    OldName,
}

impl fmt::Display for NotPreserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Owner => "its owner or group could not be kept",
            Self::Attributes => "some of its extended attributes or flags could not be kept",
            Self::Times => "its times could not be kept",
            Self::OldName => "another program moved or changed it meanwhile; it may exist twice",
        })
    }
}

/// The entry at `place`, if it exists. `path` is its path for messages.
pub(super) fn entry_at(path: &Path, place: &NameInFolder) -> Result<Option<ExistingEntry>> {
    place.entry().map_err(|error| not_written(path, error))
}

fn unsynced(path: &Path, why: &str) -> Error {
    let sentence = format!(
        "{} was written, but its folder could not be synced: {why}",
        name(path)
    );
    Error::of(error::ErrorKind::Io, sentence)
}

pub(super) fn symbolic_link(path: &Path) -> Error {
    let target = fs::read_link(path)
        .map(|target| name(&target))
        .unwrap_or_default();
    let why = format!("a symbolic link, which is not followed; name {target} itself");
    Error::file(path, &why)
}

/// Creates an error: the permissions of the file at `path` forbid writing.
pub(super) fn read_only(path: &Path) -> Error {
    Error::file(path, "the file is read-only")
}

fn no_backup(backup: &Path) -> Error {
    Error::file(
        backup,
        "not a regular file, so it cannot be the backup; nothing was written",
    )
}

/// True if `now` has the same identity, permissions, size and modification time as `seen`. Programs can set the
/// modification time, but not the time in [`state`].
pub(super) fn is_as_seen(now: &Metadata, seen: &Metadata) -> bool {
    now.is_file()
        && identity(now) == identity(seen)
        && now.len() == seen.len()
        && now.modified().ok() == seen.modified().ok()
        && now.permissions() == seen.permissions()
}

/// The identity of a file, the time of its last change, and the number of its names.
type ChangeState = (Option<Identity>, Option<SystemTime>, u64);

fn state(metadata: &Metadata) -> ChangeState {
    (identity(metadata), changed(metadata), names_of(metadata))
}

/// Maps each state that this program produced by removing a name of a file to the state before. The other names of the
/// file may be replaced later in the same run.
static STATES_BEFORE: Mutex<BTreeMap<ChangeState, ChangeState>> = Mutex::new(BTreeMap::new());

/// Calls `read` while no step of [`Original::remove_name_by`] is in progress. The system changes the time and the
/// number of names one after the other, so a state read during such a step might not be in [`STATES_BEFORE`].
fn between_steps<T>(read: impl FnOnce() -> T) -> T {
    let _states = STATES_BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    read()
}

/// Gives `new` the owner and group of `old`, and returns the permission bits that it may have.
#[cfg(unix)]
fn give_owner(old: &Metadata, new: &File, lost: &mut Vec<NotPreserved>) -> io::Result<Permissions> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let present = new.metadata()?;
    let same = (present.uid(), present.gid()) == (old.uid(), old.gid());
    if same || fchown(new, Some(old.uid()), Some(old.gid())).is_ok() {
        return Ok(old.permissions());
    }
    lost.push(NotPreserved::Owner);
    // Even without the right to change the owner, a member of the group may set the group.
    let _ = fchown(new, None, Some(old.gid()));
    // The setuid and setgid bits must not apply to another owner.
    Ok(Permissions::from_mode(old.permissions().mode() & 0o777))
}

#[cfg(not(unix))]
fn give_owner(old: &Metadata, _: &File, _: &mut Vec<NotPreserved>) -> io::Result<Permissions> {
    Ok(old.permissions())
}

/// Gives `new` the extended attributes of `old`, except those that the system maintains.
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
    let present: Vec<_> = new
        .list_xattr()?
        .filter(|name| !of_the_system(name))
        .collect();
    // Removes attributes that the new file got by default, such as the access control list of its folder.
    let mut given = Ok(());
    let is_label = |name: &OsStr| name.as_encoded_bytes().starts_with(b"security.");
    for name in present
        .iter()
        .filter(|name| !names.contains(name) && !is_label(name))
    {
        given = given.and(new.remove_xattr(name));
    }
    for name in &names {
        let value = old.get_xattr(name).map(Option::unwrap_or_default);
        given = given.and(value.and_then(|value| {
            // Attributes that every new file gets, such as the label of a security module, need not be set again.
            let has_it = present.contains(name) && new.get_xattr(name)?.as_ref() == Some(&value);
            if has_it {
                Ok(())
            } else {
                new.set_xattr(name, &value)
            }
        }));
    }
    given
}

#[cfg(not(unix))]
fn give_attributes(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}

/// Gives `new` those flags of `old` that concern storage rather than access.
#[cfg(target_os = "linux")]
fn give_flags(old: &File, new: &File) -> io::Result<()> {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    let storage_flags = IFlags::COMPRESSED
        | IFlags::SYNC
        | IFlags::NODUMP
        | IFlags::NOATIME
        | IFlags::JOURNALING
        | IFlags::NOCOW;
    // Some file systems have no flags.
    let (Ok(old), Ok(present)) = (ioctl_getflags(old), ioctl_getflags(new)) else {
        return Ok(());
    };
    let flags = present | (old & storage_flags);
    if flags == present {
        Ok(())
    } else {
        Ok(ioctl_setflags(new, flags)?)
    }
}
