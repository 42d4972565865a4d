//! A file before its replacement: its state, its backup, and the properties that the new file keeps.
//!
//! ```
//! use baselink_files::write::Original;
//!
//! let folder = tempfile::tempdir()?;
//! let page = folder.path().join("page.html");
//! std::fs::write(&page, "<a href=x>")?;
//! assert_eq!(Original::of(&page)?.path, page);
//! assert!(Original::of(folder.path()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: the new contents, which [`write`](mod@super::write) has.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata, Permissions},
    io::{self, ErrorKind, Seek},
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use baselink_text::{Error, Result, display_by_name, name, named};

use super::{
    file::{
        EntryKind, ExistingEntry, REPLACES_OPEN_FILES, changed, identity, names_of, not_written,
        times,
    },
    folder::NameInFolder,
    maildir::is_message,
    new_file::{NewFile, PRIVATE},
};

/// Settings for replacement in place.
#[derive(Clone, Default)]
pub struct InPlace {
    /// True if files with other hard links are replaced too. The other links keep the old bytes.
    pub break_links: bool,
    /// True if the new file gets the times that the old file had at [`Original::of`].
    pub preserve_times: bool,
    /// The suffix for a backup of the old file. An existing backup is kept, because it is the first original.
    pub backup: Option<Suffix>,
}

/// The suffix in the names of backups: it begins with `.` or `~`, and has no path separators. Without the `.`, a backup of
/// `a.msg` would be `a.msgorig`, which later runs read as another document.
#[derive(Clone)]
pub struct Suffix(OsString);

impl Suffix {
    /// Creates a suffix.
    ///
    /// # Errors
    ///
    /// Returns an error if the suffix does not begin with `.` or `~`, or contains a path separator or a NUL.
    pub fn new(suffix: &OsStr) -> Result<Self> {
        let bytes = suffix.as_encoded_bytes();
        if !matches!(bytes.first(), Some(b'.' | b'~'))
            || bytes
                .iter()
                .any(|byte| std::path::is_separator(char::from(*byte)) || *byte == 0)
        {
            let suffix = name(Path::new(suffix));
            let why = format!(
                "'{suffix}' is not a valid backup suffix; use one that begins with . or ~, such as .orig"
            );
            return Err(Error::new(why));
        }
        Ok(Self(suffix.to_owned()))
    }

    /// True if `name` has this suffix. Backups are not rewritten, because they preserve the first contents.
    pub fn ends(&self, name: &OsStr) -> bool {
        name.as_encoded_bytes().ends_with(self.0.as_encoded_bytes())
    }

    fn of(&self, name: &OsStr) -> OsString {
        let mut backup = name.to_owned();
        backup.push(&self.0);
        backup
    }
}

/// True if `path` has the name of another file with a usual suffix of backups. An earlier run may have made it, or wget, which
/// gives the other file the extension `.html`.
pub fn is_usual_backup(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let original = [".orig", ".bak"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix));
    original.is_some_and(|name| {
        let mut names = [name.to_owned(), format!("{name}.html")].into_iter();
        names.any(|name| path.with_file_name(name).is_file())
    })
}

impl InPlace {
    /// Checks that `original` may be replaced.
    pub fn check(&self, original: &Original) -> Result<()> {
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
            let (.., entry) = original.backup(suffix)?;
            // A run was killed between backup and replacement: the backup is a hard link to the file.
            if entry.is_some_and(|entry| Some(entry.identity) == identity(&now)) {
                names = names.saturating_sub(1);
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
    /// The path of the file.
    pub path: PathBuf,
    pub(super) place: NameInFolder,
    held: Option<Arc<File>>,
    /// The metadata at the time of [`Original::of`].
    pub(super) seen: Metadata,
    /// The time of the last change of content or metadata.
    changed: Option<SystemTime>,
}

impl Original {
    /// Examines the file at `path` without reading it. Call this before reading. Symbolic links to its folder are
    /// followed; use [`TreeEntry::original`](super::walk::TreeEntry::original) for files that a walk found.
    ///
    /// # Errors
    ///
    /// Returns an error if `path` does not exist or is not a regular file. A symbolic link is not followed.
    pub fn of(path: &Path) -> Result<Self> {
        let place = NameInFolder::of(path).map_err(Error::io(path))?;
        Self::at(path, place)
    }

    /// Like [`Original::of`], for a name in an open folder. `path` is its path for messages.
    pub(super) fn at(path: &Path, place: NameInFolder) -> Result<Self> {
        let failed = Error::io(path);
        let what = match place.entry().map_err(failed)?.map(|entry| entry.kind) {
            Some(EntryKind::Symlink) => return Err(symbolic_link(path)),
            Some(EntryKind::Folder) => "a directory",
            Some(EntryKind::Special) => "not a regular file",
            Some(EntryKind::File) | None => {
                let file = place.read().map_err(failed)?;
                let seen = file.metadata().map_err(failed)?;
                if seen.is_file() {
                    return Ok(Self {
                        path: path.to_owned(),
                        place,
                        held: REPLACES_OPEN_FILES.then(|| Arc::new(file)),
                        changed: changed(&seen),
                        seen,
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
            Ok(_) => Error::io(&self.path)(error),
            Err(changed) => changed,
        };
        let file = self.place.read().map_err(failed)?;
        let seen = file.metadata().map_err(failed)?;
        self.check_unchanged(&seen)?;
        Ok(file)
    }

    /// The open file, opened anew if it is not held open.
    fn file(&self) -> io::Result<Arc<File>> {
        match &self.held {
            Some(file) => Ok(Arc::clone(file)),
            None => self.place.read().map(Arc::new),
        }
    }

    /// The current metadata of the file. Returns an error if the file has been changed or replaced.
    pub(super) fn unchanged(&self) -> Result<Metadata> {
        let NameInFolder { folder, name } = &self.place;
        if !folder.is_where_it_was() {
            return Err(self.was_changed());
        }
        let now = self
            .file()
            .and_then(|file| folder.look(name, &file))
            .map_err(not_written(&self.path))?
            .ok_or_else(|| self.was_changed())?;
        self.check_unchanged(&now)?;
        Ok(now)
    }

    /// Checks that `now` describes the examined file.
    fn check_unchanged(&self, now: &Metadata) -> Result<()> {
        // Replacing one of several names changes the time for the others.
        let has_time = names_of(&self.seen) > 1 || changed(now) == self.changed;
        if has_time && is_as_seen(now, &self.seen) {
            Ok(())
        } else {
            Err(self.was_changed())
        }
    }

    fn was_changed(&self) -> Error {
        Error::file(
            &self.path,
            "another program changed it meanwhile, so it was not replaced",
        )
    }

    /// Checks that this user may write the file.
    fn writable(&self) -> Result<()> {
        let opened = if self.seen.permissions().readonly() {
            // A privileged user could write a read-only file, but it is refused here too.
            Err(ErrorKind::PermissionDenied.into())
        } else {
            self.place.folder.write(&self.place.name)
        };
        match opened {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(read_only(&self.path)),
            Err(error) => Err(not_written(&self.path)(error)),
            Ok(_) => Ok(()),
        }
    }

    /// Copies owner, permission bits, extended attributes and, if `has_times`, times to `new`. Returns the properties
    /// that could not be copied.
    pub(super) fn copy_properties_to(
        &self,
        new: &File,
        has_times: bool,
    ) -> io::Result<Vec<NotPreserved>> {
        let mut lost = Vec::new();
        // The order matters: changing the owner clears bits, and changing bits changes the access control list.
        let permissions = give_owner(&self.seen, new, &mut lost)?;
        new.set_permissions(permissions)?;
        let old = self.file()?;
        if give_attributes(&old, new).is_err() {
            lost.push(NotPreserved::Attributes);
        }
        if has_times && times(&self.seen).is_none_or(|times| new.set_times(times).is_err()) {
            lost.push(NotPreserved::Times);
        }
        Ok(lost)
    }

    /// The path of the backup, its name in the open folder, and the backup itself if it exists.
    fn backup(&self, suffix: &Suffix) -> Result<(PathBuf, NameInFolder, Option<ExistingEntry>)> {
        let name = suffix.of(&self.place.name);
        let path = self.path.with_file_name(&name);
        let folder = Arc::clone(&self.place.folder);
        let place = NameInFolder { folder, name };
        let entry = entry_at(&path, &place)?;
        if entry.as_ref().is_some_and(|it| it.kind != EntryKind::File) {
            let why = "not a regular file, so it cannot be the backup; nothing was written";
            return Err(Error::file(&path, why));
        }
        Ok((path, place, entry))
    }

    /// Keeps the old file as its backup, unless a backup exists.
    pub(super) fn back_up(&mut self, suffix: &Suffix) -> Result<()> {
        let (backup, place, entry) = self.backup(suffix)?;
        if entry.is_some() {
            return Ok(());
        }
        // If the old file has only one name, a hard link makes it the backup, since no other name can be used to write
        // to it. Otherwise, or if the file system has no hard links, the backup is a copy.
        let NameInFolder { folder, name } = &self.place;
        let linked = names_of(&self.seen) == 1 && folder.link(name, &place.name).is_ok();
        if !linked {
            return self.copy_to(&place).map_err(|error| match error.kind() {
                // Another process created the backup in the meantime.
                ErrorKind::AlreadyExists => self.was_changed(),
                _ => not_written(&backup)(error),
            });
        }
        // Creating the link changes the time.
        let now = self
            .file()
            .and_then(|file| folder.look(&place.name, &file))
            .map_err(not_written(&self.path))?;
        let now = now.filter(|now| is_as_seen(now, &self.seen) && names_of(now) <= 2);
        self.changed = changed(&now.ok_or_else(|| self.was_changed())?);
        Ok(())
    }

    fn copy_to(&self, backup: &NameInFolder) -> io::Result<()> {
        let mut copy = NewFile::within(&backup.folder, PRIVATE)?;
        let old = self.file()?;
        (&*old).rewind()?;
        copy.add_file(&old)?;
        self.copy_properties_to(&copy.file, true)?;
        copy.file.sync_all()?;
        copy.name(&backup.folder, &backup.name)
    }
}

named! {
    /// A property of the old file that could not be preserved.
    pub enum NotPreserved {
        /// The owner or the group.
        Owner = "its owner or group could not be kept",
        /// The access control list, or a `user.*` attribute.
        Attributes = "some of its extended attributes could not be kept",
        /// The times of the last read and write.
        Times = "its times could not be kept",
        /// The removal of a message's old name, because another program changed or replaced that file. The message may
        /// exist twice.
        OldName = "another program moved or changed it meanwhile; it may exist twice",
    }
}

display_by_name!(NotPreserved);

/// The entry at `place`, if it exists. `path` is its path for messages.
pub fn entry_at(path: &Path, place: &NameInFolder) -> Result<Option<ExistingEntry>> {
    place.entry().map_err(not_written(path))
}

pub fn symbolic_link(path: &Path) -> Error {
    let target = fs::read_link(path)
        .map(|target| name(&target))
        .unwrap_or_default();
    let why = format!("a symbolic link, which is not followed; name {target} itself");
    Error::file(path, &why)
}

/// Creates an error: the permissions of the file at `path` forbid writing.
pub fn read_only(path: &Path) -> Error {
    let sentence = format!(
        "{}: the file is read-only; make it writable first",
        name(path)
    );
    Error::system(sentence, ErrorKind::PermissionDenied.into())
}

/// True if `now` has the same identity, permissions, size and modification time as `seen`. Programs can set the
/// modification time, but not that of [`changed`].
pub fn is_as_seen(now: &Metadata, seen: &Metadata) -> bool {
    now.is_file()
        && identity(now) == identity(seen)
        && now.len() == seen.len()
        && now.modified().ok() == seen.modified().ok()
        && now.permissions() == seen.permissions()
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

/// Gives `new` the access control list and the `user.*` attributes of `old`, and removes its others of these.
#[cfg(unix)]
fn give_attributes(old: &File, new: &File) -> io::Result<()> {
    use xattr::FileExt;
    // The attributes of macOS have no namespaces.
    let is_kept = |name: &OsString| {
        cfg!(target_os = "macos")
            || name == "system.posix_acl_access"
            || name.as_encoded_bytes().starts_with(b"user.")
    };
    let names: Vec<_> = match old.list_xattr() {
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
        names => names?.filter(is_kept).collect(),
    };
    let mut given = Ok(());
    // A new file may have the default access control list of its folder.
    for name in new.list_xattr()?.filter(is_kept) {
        if !names.contains(&name) {
            given = given.and(new.remove_xattr(name));
        }
    }
    for name in &names {
        let value = old.get_xattr(name).map(Option::unwrap_or_default);
        given = given.and(value.and_then(|value| new.set_xattr(name, &value)));
    }
    given
}

#[cfg(not(unix))]
fn give_attributes(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}
