//! Atomic replacement of files.
//!
//! ```text
//! out.html:  old bytes  --rename-->  new bytes     never partial bytes
//! ```
//!
//! The new bytes are written to a temporary file next to the target. This file then takes the target's name by rename
//! (POSIX.1-2017), during which the name always exists. The input may therefore be replaced while it is read.
//!
//! The bytes of a file are synced before it replaces another. A folder is synced only before a step that relies on the
//! names in it: after a backup was made, before the old name of a message is removed, and before the locks of a mailbox
//! are released. A power cut may therefore bring old files back, but never damages one. New files of an output folder
//! are not synced ([`result_folder`](super::result_folder)).
//!
//! ```
//! use std::fs;
//! use baselink_files::write::{InPlace, Original, Suffix};
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
//! file keeps its owner and group, its access control list and its `user.*` attributes. [`NotPreserved`] reports what
//! it loses of these. Times are kept on request. A file that this user may not write is not replaced, although a
//! rename would succeed.
//!
//! A message of a Maildir ([`maildir`](super::maildir)) may get a new name that contains its size. This name must not
//! be in use. Once the name is on disk, the old file is removed. If a message with the intended bytes already has the
//! new name, a killed run wrote it, and only the old file is removed.
//!
//! Deliberately absent: following symbolic links, because users rarely intend that.

use std::{
    fs::{File, FileTimes, Metadata},
    io::{self, BufWriter, ErrorKind, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use baselink_text::{Error, Result, cause, name};

use super::{
    file::{EntryKind, Identity, folder_of, identity, not_written, refused, times},
    folder::{NameInFolder, OpenFolder},
    mailbox_lock::MailboxLock,
    maildir::{is_message, with_sizes_of},
    new_file::{NewFile, PRIVATE, sync_folder},
    original::{entry_at, read_only, symbolic_link},
};
pub use super::{
    file::{TEMPORARY, is_one_file},
    new_file::is_temporary,
    original::{InPlace, NotPreserved, Original, Suffix, is_usual_backup},
};

/// New contents for a file, applied by [`NewContents::commit`]. Dropping the replacement discards them.
pub struct NewContents {
    path: PathBuf,
    place: NameInFolder,
    out: BufWriter<NewFile>,
    old: ReplacedFile,
    /// The permission bits that the new file gets before it gets its name.
    permissions: Option<cap_std::fs::Permissions>,
    times: Option<FileTimes>,
    lost: Vec<NotPreserved>,
}

/// The file that the new one replaces.
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
}

/// The kind of the old file, which determines how it is replaced.
#[derive(PartialEq, Eq)]
enum OriginalKind {
    Document,
    /// A mailbox, which must be locked.
    Mailbox,
    /// A message of a Maildir, whose name may contain its sizes.
    Message,
    /// A file that is replaced together with the others of a [`StagedMove`](super::stage::StagedMove).
    Staged,
}

/// A file with new contents.
#[derive(Debug, PartialEq)]
pub struct Committed {
    /// The path of the file. The name of a message may have changed with its size.
    pub path: PathBuf,
    /// The properties of the old file that could not be preserved.
    pub lost: Vec<NotPreserved>,
}

/// Gives the file at `path` the contents that `write` writes, as [`NewContents::begin`] does.
///
/// # Errors
///
/// Returns the errors of [`NewContents::begin`], of `write`, and of [`NewContents::commit`].
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Committed> {
    let mut file = NewContents::begin(path)?;
    file.write(write)?;
    file.commit()
}

impl NewContents {
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
            not_written(path)(error)
        })?;
        Self::at(path, place)
    }

    /// Like [`NewContents::begin`], for a name in an open folder. `path` is its path for messages.
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
        let new = new.map_err(not_written(path))?;
        let permissions = old.filter(|_| !new.is_device()).map(|old| old.permissions);
        if permissions.as_ref().is_some_and(|it| it.readonly()) {
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
        let new = NewFile::within(&place.folder, mode).map_err(not_written(path))?;
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
        Self {
            path: path.to_owned(),
            place,
            out: BufWriter::new(new),
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
        write(&mut self.out).map_err(not_written(&self.path))
    }

    /// Appends the contents of `from`.
    pub(super) fn add_file(&mut self, from: &File) -> Result<()> {
        self.out
            .flush()
            .and_then(|()| self.out.get_mut().add_file(from))
            .map_err(not_written(&self.path))
    }

    /// Sets the times of the file to those in `of`.
    pub fn preserve_times(&mut self, of: &Metadata) {
        self.times = times(of);
    }

    /// The identity of the file that is being written; `None` if the system does not provide one.
    pub(super) fn identity(&self) -> Option<Identity> {
        let metadata = self.out.get_ref().file.metadata();
        identity(&metadata.ok()?)
    }

    /// Declares that the file is a mailbox, to which other programs may deliver. [`NewContents::commit`] then takes
    /// the locks of mail programs (Debian Policy, 11.6) before its last check of the old file, and holds them until
    /// the new file has its name.
    pub fn lock_mailbox(&mut self) {
        if let ReplacedFile::Original { kind, .. } = &mut self.old {
            *kind = OriginalKind::Mailbox;
        }
    }

    /// Gives the file its new contents.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk is full, the old file has changed since [`Original::of`], its backup cannot be
    /// created, or the intended name of a message is taken. The old file is then unchanged. Also returns an error if
    /// the new file is in place but its folder cannot be synced, or if a message exists twice because its old file
    /// cannot be removed.
    pub fn commit(mut self) -> Result<Committed> {
        self.set_properties().map_err(not_written(&self.path))?;
        if !self.is_there() {
            self.sync_contents().map_err(not_written(&self.path))?;
            self.back_up()?;
            self.rename()?;
            self.remove_old()?;
        }
        Ok(Committed {
            path: self.path,
            lost: self.lost,
        })
    }

    /// True if the file of an earlier run has the same bytes. It then keeps its time, so that other programs see what has changed.
    fn is_there(&self) -> bool {
        let new = &self.out.get_ref().file;
        matches!(self.old, ReplacedFile::Any)
            && self.times.is_none()
            && has_the_bytes_of(&self.place, new).unwrap_or(false)
    }

    /// Syncs the contents, unless the file replaces nothing that could be lost.
    fn sync_contents(&self) -> io::Result<()> {
        let new = self.out.get_ref();
        if new.is_device() || matches!(self.old, ReplacedFile::Nothing) {
            return Ok(());
        }
        new.file.sync_all()
    }

    /// Flushes the contents, and sets permission bits, times and other properties. Determines the name of a message.
    fn set_properties(&mut self) -> io::Result<()> {
        self.out.flush()?;
        let mut file = &self.out.get_ref().file;
        if let Some(permissions) = &self.permissions {
            file.set_permissions(permissions.clone().into_std(file)?)?;
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
        Ok(())
    }

    /// Keeps the old file as its backup, if that is wanted.
    fn back_up(&mut self) -> Result<()> {
        if let ReplacedFile::Original {
            how,
            original,
            kind,
        } = &mut self.old
            && let Some(suffix) = &how.backup
            && *kind != OriginalKind::Staged
        {
            original.unchanged()?;
            original.back_up(suffix)?;
            sync_folder(&self.place.folder).map_err(|error| {
                let why = format!("its backup could not be synced: {}", cause(&error));
                refused(&self.path, &why)
            })?;
        }
        Ok(())
    }

    /// Gives the new file its name.
    fn rename(&mut self) -> Result<()> {
        let (path, new) = (&self.path, self.out.get_mut());
        let NameInFolder { folder, name } = &self.place;
        let failed = not_written(path);
        let (original, kind) = match &self.old {
            ReplacedFile::Nothing => {
                return new.name(folder, name).map_err(|error| match error.kind() {
                    ErrorKind::AlreadyExists => {
                        let why = "another program created a file with this name, or with a name that this file \
                                   system treats as the same; that file was kept";
                        refused(path, why)
                    }
                    _ => failed(error),
                });
            }
            ReplacedFile::Any => return new.replace(folder, name).map_err(failed),
            ReplacedFile::Original { original, kind, .. } => (original, kind),
        };
        let is_mailbox = *kind == OriginalKind::Mailbox;
        let locks = is_mailbox.then(|| MailboxLock::wait(path, &self.place));
        let locks = locks.transpose()?;
        original.unchanged()?;
        if *kind == OriginalKind::Staged {
            return new.name(folder, name).map_err(failed);
        }
        if original.path != *path {
            return name_message(new, path, &self.place)
                .map_err(|error| refused(&original.path, &cause(&error)));
        }
        new.replace(folder, name).map_err(failed)?;
        let Some(locks) = locks else { return Ok(()) };
        // Mail that is delivered from now on must not be lost with the name.
        sync_folder(folder).map_err(|error| unsynced(path, &error))?;
        locks.release(path)
    }

    /// Removes the old file of a message that has a new name.
    fn remove_old(&mut self) -> Result<()> {
        let original = match &self.old {
            ReplacedFile::Original {
                original,
                kind: OriginalKind::Message,
                ..
            } if original.path != self.path => original,
            _ => return Ok(()),
        };
        let NameInFolder { folder, name: old } = &original.place;
        sync_folder(folder).map_err(|error| unsynced(&self.path, &error))?;
        match original.unchanged().map(|_| folder.remove(old)) {
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
        Ok(())
    }
}

impl Write for NewContents {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out
            .write(bytes)
            .map_err(|error| io::Error::other(not_written(&self.path)(error)))
    }

    /// Does nothing, because [`NewContents::commit`] flushes.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives the message `new` its name in `place`, which must not be in use. A file of that name with the same bytes also
/// counts as success: an earlier run wrote it and was killed before it removed the old file.
fn name_message(new: &mut NewFile, path: &Path, place: &NameInFolder) -> io::Result<()> {
    match new.name(&place.folder, &place.name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if has_the_bytes_of(place, &new.file)? {
                Ok(())
            } else {
                let why = format!("{}: another file has that name", name(path));
                Err(io::Error::other(why))
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
    let mut file = place.read()?;
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
    pub fn begin(&self, original: &Original) -> Result<NewContents> {
        self.check(original)?;
        let (path, place) = (&original.path, original.place.clone());
        let (folder, kind) = if is_message(path) {
            let tmp = place.folder.beside("tmp".as_ref()).map_err(|error| {
                let tmp = folder_of(path).with_file_name("tmp");
                if tmp.is_symlink() {
                    symbolic_link(&tmp)
                } else {
                    not_written(path)(error)
                }
            })?;
            (Arc::new(tmp), OriginalKind::Message)
        } else {
            (Arc::clone(&place.folder), OriginalKind::Document)
        };
        self.begin_within(&folder, original, (path, place), kind)
    }

    /// Begins to replace `original` together with the other files of a [`StagedMove`](super::stage::StagedMove). The new
    /// contents are written to a file at `place`, which is later renamed to `path`. No backup is made.
    pub(super) fn stage(
        &self,
        original: &Original,
        path: &Path,
        place: NameInFolder,
    ) -> Result<NewContents> {
        self.check(original)?;
        let folder = Arc::clone(&place.folder);
        self.begin_within(&folder, original, (path, place), OriginalKind::Staged)
    }

    /// Begins to write the new contents in `folder`.
    fn begin_within(
        &self,
        folder: &Arc<OpenFolder>,
        original: &Original,
        (path, place): (&Path, NameInFolder),
        kind: OriginalKind,
    ) -> Result<NewContents> {
        let new = NewFile::within(folder, PRIVATE).map_err(not_written(path))?;
        let old = ReplacedFile::Original {
            original: Box::new(original.clone()),
            how: self.clone(),
            kind,
        };
        Ok(NewContents::of(path, place, new, old))
    }
}

fn unsynced(path: &Path, error: &io::Error) -> Error {
    let (path, why) = (name(path), cause(error));
    let sentence = format!("{path} was written, but its folder could not be synced: {why}");
    Error::new(sentence)
}
