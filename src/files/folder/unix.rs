//! [`OpenFolder`] for systems that can open folders.
//!
//! ```text
//! openat2(w, "sub", BENEATH | NO_SYMLINKS) = 5   openat(5, ".baselink-…")   renameat(5, ".baselink-…", 5, "x.html")
//! ```
//!
//! Deliberately absent: a check before opening, which would leave room for a race.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self as system, AtFlags, FileType, Mode, OFlags, RawMode, Stat};

use crate::files::file::{EntryKind, ExistingEntry, Identity, identity};

/// An open folder, and the path at which it was opened.
#[derive(Debug)]
pub(in crate::files) struct OpenFolder {
    folder: OwnedFd,
    path: PathBuf,
}

/// The flags for folders: the least access that suffices to use the names in a folder. On Linux it needs no read
/// permission.
const FOLDER: OFlags = {
    #[cfg(target_os = "linux")]
    let access = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let access = OFlags::RDONLY;
    access.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC)
};
/// The flags for files. Opening a pipe does not block.
const FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

impl OpenFolder {
    /// Opens the folder at `path`, following symbolic links.
    pub(in crate::files) fn named(path: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: system::open(path, FOLDER, Mode::empty())?,
            path: path.to_owned(),
        })
    }

    /// Opens the folder `relative` below this one, unless a name in the path is a symbolic link.
    pub(in crate::files) fn below(&self, relative: &Path) -> io::Result<Self> {
        let folder = self.open_below(relative, FOLDER)?;
        Ok(Self {
            folder,
            path: self.path.join(relative),
        })
    }

    /// Opens the sibling folder `name`, unless it is a symbolic link.
    pub(in crate::files) fn beside(&self, name: &OsStr) -> io::Result<Self> {
        let above = system::openat(&self.folder, "..", FOLDER, Mode::empty())?;
        let folder = system::openat(above, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self {
            folder,
            path: self.path.join("..").join(name),
        })
    }

    /// Opens the file `relative` below this folder for reading, unless a name in the path is a symbolic link.
    pub(in crate::files) fn read_below(&self, relative: &Path) -> io::Result<File> {
        self.open_below(relative, FILE | OFlags::RDONLY)
            .map(File::from)
    }

    /// Opens the file `name` for reading, unless it is a symbolic link.
    pub(in crate::files) fn read(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, FILE | OFlags::RDONLY, 0)
    }

    /// Opens the file `name` for writing, unless it is a symbolic link.
    pub(in crate::files) fn write(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, FILE | OFlags::WRONLY, 0)
    }

    /// Opens the device or pipe `name` for writing, unless it is a symbolic link. Blocks until a pipe has a reader.
    pub(in crate::files) fn write_device(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, FILE.difference(OFlags::NONBLOCK) | OFlags::WRONLY, 0)
    }

    /// Creates the file `name`, which must not exist, with these permission bits, reduced by the umask.
    pub(in crate::files) fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        self.open(
            name,
            FILE | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            mode,
        )
    }

    fn open(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        let mode = Mode::from_bits_truncate(mode as RawMode);
        Ok(system::openat(&self.folder, name, flags, mode)?.into())
    }

    /// Opens the entry `relative` below this folder, unless a name in the path is a symbolic link.
    fn open_below(&self, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        #[cfg(target_os = "linux")]
        match self.open_in_one_call(relative, flags) {
            Err(error) if is_missing(error) => {}
            opened => return Ok(opened?),
        }
        self.open_name_by_name(relative, flags)
    }

    #[cfg(target_os = "linux")]
    fn open_in_one_call(&self, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        let path = if relative.as_os_str().is_empty() {
            Path::new(".")
        } else {
            relative
        };
        // openat2 rejects meaningless combinations of flags, such as `LARGEFILE` with `PATH`.
        let flags = flags | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        system::openat2(&self.folder, path, flags, Mode::empty(), resolve)
    }

    /// Opens each folder in the path in turn, for systems without openat2.
    fn open_name_by_name(&self, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let mut names = relative.components().peekable();
        let mut folder = system::openat(&self.folder, ".", FOLDER, Mode::empty())?;
        while let Some(name) = names.next() {
            let Component::Normal(name) = name else {
                return Err(ErrorKind::InvalidInput.into());
            };
            let flags = if names.peek().is_some() {
                FOLDER
            } else {
                flags
            };
            folder = system::openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
        }
        Ok(folder)
    }

    /// Opens the folder itself, to read it, sync it or set its times.
    pub(in crate::files) fn itself(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(system::openat(&self.folder, ".", flags, Mode::empty())?.into())
    }

    /// The entry of this name, if it exists.
    pub(in crate::files) fn entry(&self, name: &OsStr) -> io::Result<Option<ExistingEntry>> {
        match system::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(entry_of(&found))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The metadata of `file`, if it still has this name.
    pub(in crate::files) fn look(&self, name: &OsStr, file: &File) -> io::Result<Option<Metadata>> {
        let found = system::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let metadata = file.metadata()?;
        Ok((identity(&metadata) == Some(identity_of(&found))).then_some(metadata))
    }

    /// Renames the file `name` to `to` in the folder `into`, replacing any file there.
    pub(in crate::files) fn rename(&self, name: &OsStr, into: &Self, to: &OsStr) -> io::Result<()> {
        Ok(system::renameat(&self.folder, name, &into.folder, to)?)
    }

    /// Renames the file `name` to `to` in the folder `into`, unless that name is taken.
    pub(in crate::files) fn rename_if_free(
        &self,
        name: &OsStr,
        into: &Self,
        to: &OsStr,
    ) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            use rustix::fs::RenameFlags;
            use rustix::io::Errno;
            let (from, into) = (&self.folder, &into.folder);
            let renamed = system::renameat_with(from, name, into, to, RenameFlags::NOREPLACE);
            if !matches!(
                renamed,
                Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP | Errno::PERM)
            ) {
                return Ok(renamed?);
            }
        }
        system::linkat(&self.folder, name, &into.folder, to, AtFlags::empty())?;
        self.remove(name)
    }

    /// Creates the hard link `to` to the file `name`, unless that name is taken.
    pub(in crate::files) fn link(&self, name: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(system::linkat(
            &self.folder,
            name,
            &self.folder,
            to,
            AtFlags::empty(),
        )?)
    }

    /// Removes the file `name`.
    pub(in crate::files) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(system::unlinkat(&self.folder, name, AtFlags::empty())?)
    }

    /// Removes the folder `name`, if it is empty.
    pub(in crate::files) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(system::unlinkat(&self.folder, name, AtFlags::REMOVEDIR)?)
    }

    /// Creates the folder `name` with these permission bits, reduced by the umask.
    pub(in crate::files) fn make(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let mode = Mode::from_bits_truncate(mode as RawMode);
        Ok(system::mkdirat(&self.folder, name, mode)?)
    }

    /// The path at which the folder was opened.
    pub(in crate::files) fn path(&self) -> &Path {
        &self.path
    }

    /// The identity of the folder.
    pub(in crate::files) fn identity(&self) -> Option<Identity> {
        system::fstat(&self.folder).ok().as_ref().map(identity_of)
    }

    /// True if the path still leads to the folder.
    pub(in crate::files) fn is_where_it_was(&self) -> bool {
        let found = fs::metadata(&self.path).ok().as_ref().and_then(identity);
        found.is_some() && found == self.identity()
    }
}

/// True if the system, or a sandbox around it, lacks openat2.
#[cfg(target_os = "linux")]
fn is_missing(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [
        Errno::NOSYS,
        Errno::PERM,
        Errno::INVAL,
        Errno::TOOBIG,
        Errno::OPNOTSUPP,
    ]
    .contains(&error)
}

#[allow(
    clippy::unnecessary_cast,
    reason = "the numbers have other types on other systems"
)]
fn entry_of(found: &Stat) -> ExistingEntry {
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Symlink,
        FileType::Directory => EntryKind::Folder,
        _ => EntryKind::Special,
    };
    let permissions = Permissions::from_mode(found.st_mode as u32);
    ExistingEntry {
        kind,
        permissions,
        identity: Some(identity_of(found)),
    }
}

#[allow(
    clippy::unnecessary_cast,
    reason = "the numbers have other types on other systems"
)]
fn identity_of(found: &Stat) -> Identity {
    (found.st_dev as u64, found.st_ino as u64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The fallback for Linux before 5.6, some sandboxes and other systems.
    #[test]
    fn without_openat2_symbolic_links_are_rejected_too() {
        let scene = tempfile::tempdir().unwrap();
        let at = |path: &str| scene.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/file"), "here").unwrap();
        for (link, to) in [("a/folder", "b"), ("a/b/link", "file"), ("up", "a")] {
            std::os::unix::fs::symlink(to, at(link)).unwrap();
        }
        let root = OpenFolder::named(scene.path()).unwrap();
        for (path, is_there) in [
            ("a/b/file", true),
            ("a/folder/file", false),
            ("a/b/link", false),
            ("up/b/file", false),
            ("a/../a/b/file", false),
            ("/etc/passwd", false),
            ("a/b/none", false),
        ] {
            let path = Path::new(path);
            let (flags, with_openat2) = (FILE | OFlags::RDONLY, root.read_below(path).is_ok());
            assert_eq!(
                root.open_name_by_name(path, flags).is_ok(),
                is_there,
                "{path:?}"
            );
            assert_eq!(
                with_openat2,
                is_there || path.starts_with("a/.."),
                "{path:?}"
            );
            let folder = path.parent().unwrap();
            let is_open = root.open_name_by_name(folder, FOLDER).is_ok();
            assert_eq!(
                is_open,
                root.below(folder).is_ok() && !path.starts_with("a/.."),
                "{path:?}"
            );
        }
    }

    /// Wrong flags would give the same error as a system without openat2, and the fallback would hide it.
    #[test]
    #[cfg(target_os = "linux")]
    fn openat2_opens_folders_if_it_opens_files() {
        let root = OpenFolder::named(Path::new("/")).unwrap();
        let open = |path: &str, flags| root.open_in_one_call(Path::new(path), flags);
        let is_there = open("proc/version", FILE | OFlags::RDONLY).is_ok();
        for folder in ["", "proc", "proc/sys"] {
            assert_eq!(open(folder, FOLDER).is_ok(), is_there, "{folder}");
        }
    }

    #[test]
    fn an_open_folder_stays_the_same_after_a_rename() {
        let scene = tempfile::tempdir().unwrap();
        let at = |path: &str| scene.path().join(path);
        fs::create_dir(at("a")).unwrap();
        fs::create_dir(at("outside")).unwrap();
        let folder = OpenFolder::named(&at("a")).unwrap();
        assert!(folder.is_where_it_was());
        fs::rename(at("a"), at("moved")).unwrap();
        std::os::unix::fs::symlink("outside", at("a")).unwrap();
        assert!(!folder.is_where_it_was());
        folder.create("file".as_ref(), 0o600).unwrap();
        assert!(at("moved/file").exists() && !at("outside/file").exists());
        let metadata = fs::metadata(at("moved/file")).unwrap();
        assert_eq!(
            folder.entry("file".as_ref()).unwrap().unwrap().identity,
            identity(&metadata)
        );
    }
}
