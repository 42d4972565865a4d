//! [`OpenFolder`] for systems without open folders: a path, with a check of each name before use.
//!
//! ```text
//! w\sub\x.html   -->   w\sub is not a link;   open w\sub\x.html
//! ```
//!
//! Deliberately absent: protection against races. Anybody with write access to the folder can insert a symbolic
//! link after the check.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::files::file::{EntryKind, ExistingEntry, Identity};

/// A folder by its path.
#[derive(Debug)]
pub(in crate::files) struct OpenFolder {
    path: PathBuf,
}

impl OpenFolder {
    /// Opens the folder at `path`, following symbolic links.
    pub(in crate::files) fn named(path: &Path) -> io::Result<Self> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Self {
                path: path.to_owned(),
            }),
            false => Err(ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens the folder `relative` below this one, unless a name in the path is a symbolic link.
    pub(in crate::files) fn below(&self, relative: &Path) -> io::Result<Self> {
        let mut path = self.path.clone();
        for name in relative {
            path.push(name);
            if !fs::symlink_metadata(&path)?.is_dir() {
                return Err(ErrorKind::NotADirectory.into());
            }
        }
        Ok(Self { path })
    }

    /// Opens the sibling folder `name`, unless it is a symbolic link.
    pub(in crate::files) fn beside(&self, name: &OsStr) -> io::Result<Self> {
        Self {
            path: self.path.join(".."),
        }
        .below(Path::new(name))
    }

    /// Opens the file `relative` below this folder for reading, unless a name in the path is a symbolic link.
    pub(in crate::files) fn read_below(&self, relative: &Path) -> io::Result<File> {
        let folder = self.below(relative.parent().unwrap_or(Path::new("")))?;
        folder.read(relative.file_name().unwrap_or_default())
    }

    /// Opens the file `name` for reading, unless it is a symbolic link.
    pub(in crate::files) fn read(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OpenOptions::new().read(true))
    }

    /// Opens the file `name` for writing, unless it is a symbolic link.
    pub(in crate::files) fn write(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OpenOptions::new().write(true))
    }

    /// Opens the device or pipe `name` for writing, unless it is a symbolic link.
    pub(in crate::files) fn write_device(&self, name: &OsStr) -> io::Result<File> {
        self.write(name)
    }

    fn open(&self, name: &OsStr, options: &OpenOptions) -> io::Result<File> {
        match self.entry(name)? {
            Some(entry) if entry.kind == EntryKind::Symlink => {
                Err(io::Error::other("a symbolic link"))
            }
            _ => options.open(self.path.join(name)),
        }
    }

    /// Creates the file `name`, which must not exist.
    pub(in crate::files) fn create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.path.join(name))
    }

    /// Opens the folder itself, to read it, sync it or set its times.
    pub(in crate::files) fn itself(&self) -> io::Result<File> {
        File::open(&self.path)
    }

    /// The entry of this name, if it exists.
    pub(in crate::files) fn entry(&self, name: &OsStr) -> io::Result<Option<ExistingEntry>> {
        match fs::symlink_metadata(self.path.join(name)) {
            Ok(metadata) => Ok(Some(ExistingEntry::of(&metadata))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The metadata of the file `name`. Whether it is still the given file is unknown.
    pub(in crate::files) fn look(&self, name: &OsStr, _: &File) -> io::Result<Option<Metadata>> {
        fs::symlink_metadata(self.path.join(name)).map(Some)
    }

    /// Renames the file `name` to `to` in the folder `into`, replacing any file there.
    pub(in crate::files) fn rename(&self, name: &OsStr, into: &Self, to: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(name), into.path.join(to))
    }

    /// Renames the file `name` to `to` in the folder `into`, unless that name is taken.
    pub(in crate::files) fn rename_if_free(
        &self,
        name: &OsStr,
        into: &Self,
        to: &OsStr,
    ) -> io::Result<()> {
        match fs::hard_link(self.path.join(name), into.path.join(to)) {
            Ok(()) => self.remove(name),
            // FAT has no hard links, so the name is only checked before the rename.
            Err(_) if into.entry(to)?.is_none() => self.rename(name, into, to),
            Err(_) => Err(ErrorKind::AlreadyExists.into()),
        }
    }

    /// Creates the hard link `to` to the file `name`, unless that name is taken.
    pub(in crate::files) fn link(&self, name: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.path.join(name), self.path.join(to))
    }

    /// Removes the file `name`.
    pub(in crate::files) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Removes the folder `name`, if it is empty.
    pub(in crate::files) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }

    /// Creates the folder `name`.
    pub(in crate::files) fn make(&self, name: &OsStr, _mode: u32) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    /// The path at which the folder was opened.
    pub(in crate::files) fn path(&self) -> &Path {
        &self.path
    }

    /// None: this system does not provide an identity.
    #[expect(clippy::unused_self, reason = "unix.rs uses it")]
    pub(in crate::files) fn identity(&self) -> Option<Identity> {
        None
    }

    /// True if the path still leads to a folder.
    pub(in crate::files) fn is_where_it_was(&self) -> bool {
        self.path.is_dir()
    }
}
