//! [`OpenFolder`] where folders cannot be opened: a path, and a look at each name before it is used.
//!
//! ```text
//! w\sub\x.html   -->   w\sub is no link;   open w\sub\x.html
//! ```
//!
//! Deliberately absent: certainty. Somebody who may write to the folder can put a link in a name's place after the look.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::files::file::{EntryKind, Identity, There};

/// A folder by its path.
#[derive(Debug)]
pub(in crate::files) struct OpenFolder {
    path: PathBuf,
}

impl OpenFolder {
    /// The folder at `path`, whatever links lead to it.
    pub(in crate::files) fn named(path: &Path) -> io::Result<Self> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Self { path: path.to_owned() }),
            false => Err(ErrorKind::NotADirectory.into()),
        }
    }

    /// The folder at `relative` below this one, if no name on that way is a link.
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

    /// The folder `name` in the one that holds this folder, if it is not a link.
    pub(in crate::files) fn beside(&self, name: &OsStr) -> io::Result<Self> {
        Self { path: self.path.join("..") }.below(Path::new(name))
    }

    /// Opens the file at `relative` below this folder for reading, if no name on that way is a link.
    pub(in crate::files) fn read_below(&self, relative: &Path) -> io::Result<File> {
        let folder = self.below(relative.parent().unwrap_or(Path::new("")))?;
        folder.read(relative.file_name().unwrap_or_default())
    }

    /// Opens the file `name` for reading, if it is not a link.
    pub(in crate::files) fn read(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OpenOptions::new().read(true))
    }

    /// Opens the file `name` for writing, if it is not a link.
    pub(in crate::files) fn write(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OpenOptions::new().write(true))
    }

    /// Opens the device or pipe `name` for writing, if it is not a link.
    pub(in crate::files) fn write_device(&self, name: &OsStr) -> io::Result<File> {
        self.write(name)
    }

    fn open(&self, name: &OsStr, options: &OpenOptions) -> io::Result<File> {
        match self.there(name)? {
            Some(there) if there.kind == EntryKind::Symlink => {
                Err(io::Error::other("a symbolic link"))
            }
            _ => options.open(self.path.join(name)),
        }
    }

    /// Makes the file `name`, where there is nothing.
    pub(in crate::files) fn create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.path.join(name))
    }

    /// The folder itself, to be read, synced or given times.
    pub(in crate::files) fn itself(&self) -> io::Result<File> {
        File::open(&self.path)
    }

    /// The entry of this name.
    pub(in crate::files) fn there(&self, name: &OsStr) -> io::Result<Option<There>> {
        match fs::symlink_metadata(self.path.join(name)) {
            Ok(there) => Ok(Some(There::of(&there))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The metadata of the file of this name.
    pub(in crate::files) fn look(&self, name: &OsStr, _: &File) -> io::Result<Option<Metadata>> {
        fs::symlink_metadata(self.path.join(name)).map(Some)
    }

    /// Gives the file `name` the name `to` in the folder `into`. A file that has it has it no more.
    pub(in crate::files) fn rename(&self, name: &OsStr, into: &Self, to: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(name), into.path.join(to))
    }

    /// Gives the file `name` the name `to` in the folder `into`, if nothing has that name.
    pub(in crate::files) fn rename_if_free(
        &self,
        name: &OsStr,
        into: &Self,
        to: &OsStr,
    ) -> io::Result<()> {
        match fs::hard_link(self.path.join(name), into.path.join(to)) {
            Ok(()) => self.remove(name),
            // FAT has no hard links; there a look has to do.
            Err(_) if into.there(to)?.is_none() => self.rename(name, into, to),
            Err(_) => Err(ErrorKind::AlreadyExists.into()),
        }
    }

    /// Gives the file `name` the name `to`, too, if nothing has that.
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

    /// Makes the folder `name`.
    pub(in crate::files) fn make(&self, name: &OsStr, _mode: u32) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    /// The path by which it was found.
    pub(in crate::files) fn path(&self) -> &Path {
        &self.path
    }

    /// Nothing: this system does not tell.
    #[expect(clippy::unused_self, reason = "elsewhere it is asked")]
    pub(in crate::files) fn identity(&self) -> Option<Identity> {
        None
    }

    /// True if its path leads to a folder.
    pub(in crate::files) fn is_where_it_was(&self) -> bool {
        self.path.is_dir()
    }
}
