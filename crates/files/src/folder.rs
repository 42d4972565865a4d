//! An open folder. Operations on its files reach that folder even if another folder takes its name.
//!
//! ```text
//! w/sub/x.html   -->   w, may be a link   -->   sub, not a link   -->   x.html, not a link
//! ```
//!
//! Each system call resolves a path anew, and anybody with write access to a folder in the path can insert a symbolic
//! link between two calls. A path is therefore resolved only once. Up to the folder that the user named, symbolic
//! links are followed ([`OpenFolder::named`]). Below this folder, each name is opened from the folder before, and may
//! not be a symbolic link ([`OpenFolder::below`]). All other operations use an open folder and one name in it.
//!
//! Opening for reading or inspection never blocks (`O_NONBLOCK`), because a pipe may have replaced the file.
//!
//! Deliberately absent: the contents to write, and waiting for the disk.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata},
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::{
    ambient_authority,
    fs::{Dir, DirBuilder, OpenOptions},
};

use super::file::{EntryKind, ExistingEntry, Identity, folder_of, identity};

/// An open folder, and the path at which it was opened.
#[derive(Debug)]
pub struct OpenFolder {
    folder: Dir,
    path: PathBuf,
}

impl OpenFolder {
    /// Opens the folder at `path`, following symbolic links.
    pub fn named(path: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: Dir::open_ambient_dir(path, ambient_authority())?,
            path: path.to_owned(),
        })
    }

    /// Opens the folder `relative` below this one, unless a name in the path is a symbolic link.
    pub fn below(&self, relative: &Path) -> io::Result<Self> {
        let mut folder = self.folder.try_clone()?;
        for name in relative.components() {
            let Component::Normal(name) = name else {
                return Err(ErrorKind::InvalidInput.into());
            };
            folder = folder.open_dir_nofollow(name)?;
        }
        Ok(Self {
            folder,
            path: self.path.join(relative),
        })
    }

    /// Opens the sibling folder `name`, unless it is a symbolic link.
    pub fn beside(&self, name: &OsStr) -> io::Result<Self> {
        let above = self.folder.open_parent_dir(ambient_authority())?;
        Ok(Self {
            folder: above.open_dir_nofollow(name)?,
            path: self.path.join("..").join(name),
        })
    }

    /// The name `relative` in its folder below this one, unless a name of a folder in the path is a symbolic link.
    pub fn place(&self, relative: &Path) -> io::Result<NameInFolder> {
        let folder = self.below(relative.parent().unwrap_or(Path::new("")))?;
        Ok(NameInFolder {
            folder: Arc::new(folder),
            name: relative.file_name().unwrap_or_default().to_owned(),
        })
    }

    /// Opens the file `name` for reading, unless it is a symbolic link.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OpenOptions::new().read(true).nonblock(true))
    }

    /// Opens the file `name` for writing, unless it is a symbolic link.
    pub fn write(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OpenOptions::new().write(true).nonblock(true))
    }

    /// Opens the device or pipe `name` for writing, unless it is a symbolic link. Blocks until a pipe has a reader.
    pub fn write_device(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OpenOptions::new().write(true))
    }

    /// Creates the file `name`, which must not exist, with these permission bits, reduced by the umask.
    pub fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let mut options = new_file(mode);
        self.open(name, options.create_new(true))
    }

    fn open(&self, name: &OsStr, options: &mut OpenOptions) -> io::Result<File> {
        let options = options.follow(FollowSymlinks::No);
        Ok(self.folder.open_with(name, options)?.into_std())
    }

    /// Creates a file without a name (`O_TMPFILE`), which disappears if the process ends before it is named.
    #[cfg(target_os = "linux")]
    pub fn create_nameless(&self, mode: u32) -> io::Result<File> {
        use cap_std::fs::OpenOptionsExt;
        let mut options = new_file(mode);
        options.custom_flags(rustix::fs::OFlags::TMPFILE.bits().cast_signed());
        Ok(self.folder.open_with(".", &options)?.into_std())
    }

    /// Names a file of [`OpenFolder::create_nameless`], unless the name is taken.
    #[cfg(target_os = "linux")]
    pub fn name(&self, file: &File, name: &OsStr) -> io::Result<()> {
        use rustix::fs::{AtFlags, CWD, linkat};
        use std::os::fd::AsRawFd;
        let file = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(
            CWD,
            file,
            &self.folder,
            name,
            AtFlags::SYMLINK_FOLLOW,
        )?)
    }

    /// Opens the folder itself, to sync it, lock it or set its times.
    pub fn itself(&self) -> io::Result<File> {
        Ok(self.folder.open(".")?.into_std())
    }

    /// The entry of this name, if it exists.
    pub fn entry(&self, name: &OsStr) -> io::Result<Option<ExistingEntry>> {
        let found = match self.folder.symlink_metadata(name) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let kind = if found.is_file() {
            EntryKind::File
        } else if found.is_symlink() {
            EntryKind::Symlink
        } else if found.is_dir() {
            EntryKind::Folder
        } else {
            EntryKind::Special
        };
        Ok(Some(ExistingEntry {
            kind,
            identity: identity_of(&found),
            permissions: found.permissions(),
        }))
    }

    /// The metadata of `file`, if it still has this name.
    pub fn look(&self, name: &OsStr, file: &File) -> io::Result<Option<Metadata>> {
        let found = self.folder.symlink_metadata(name)?;
        let metadata = file.metadata()?;
        let is_same = identity(&metadata).is_none_or(|known| known == identity_of(&found));
        Ok(is_same.then_some(metadata))
    }

    /// Renames the file `name` to `to` in the folder `into`, replacing any file there.
    pub fn rename(&self, name: &OsStr, into: &Self, to: &OsStr) -> io::Result<()> {
        self.folder.rename(name, &into.folder, to)
    }

    /// Renames the file `name` to `to` in the folder `into`, unless that name is taken.
    pub fn rename_if_free(&self, name: &OsStr, into: &Self, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            use rustix::io::Errno;
            let (into, flags) = (&into.folder, RenameFlags::NOREPLACE);
            match renameat_with(&self.folder, name, into, to, flags) {
                Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP | Errno::PERM) => {}
                renamed => return Ok(renamed?),
            }
        }
        match self.folder.hard_link(name, &into.folder, to) {
            Ok(()) => self.remove(name),
            // FAT has no hard links, so the name is only checked before the rename.
            Err(_) if into.entry(to)?.is_none() => self.rename(name, into, to),
            Err(_) => Err(ErrorKind::AlreadyExists.into()),
        }
    }

    /// Creates the hard link `to` to the file `name`, unless that name is taken.
    pub fn link(&self, name: &OsStr, to: &OsStr) -> io::Result<()> {
        self.folder.hard_link(name, &self.folder, to)
    }

    /// Removes the file `name`.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.folder.remove_file(name)
    }

    /// Removes the folder `name`, if it is empty.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.folder.remove_dir(name)
    }

    /// Creates the folder `name` with these permission bits, reduced by the umask.
    #[cfg_attr(
        not(unix),
        expect(unused_variables, unused_mut, reason = "no permission bits")
    )]
    pub fn make(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        cap_std::fs::DirBuilderExt::mode(&mut builder, mode);
        self.folder.create_dir_with(name, &builder)
    }

    /// The identity of the folder.
    pub fn identity(&self) -> Option<Identity> {
        self.folder.dir_metadata().ok().as_ref().map(identity_of)
    }

    /// True if the path still leads to the folder.
    pub fn is_where_it_was(&self) -> bool {
        let found = fs::metadata(&self.path);
        found.is_ok_and(|found| match identity(&found) {
            Some(known) => self.identity() == Some(known),
            None => found.is_dir(),
        })
    }
}

/// Opens the regular file `relative` below `folder` for reading.
///
/// # Errors
///
/// Returns the system's errors, and an error if `relative` leads out of the folder, contains a symbolic link, or is not
/// a regular file.
pub fn open_below(folder: &Path, relative: &Path) -> io::Result<File> {
    let file = OpenFolder::named(folder)?.place(relative)?.read()?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// The options to create a file with these permission bits, reduced by the umask.
#[cfg_attr(not(unix), expect(unused_variables, reason = "no permission bits"))]
fn new_file(mode: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
    options
}

fn identity_of(found: &cap_std::fs::Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// A name in an open folder.
#[derive(Clone, Debug)]
pub struct NameInFolder {
    pub folder: Arc<OpenFolder>,
    pub name: OsString,
}

impl NameInFolder {
    /// Opens the folder of the file at `path`, following symbolic links to it.
    pub fn of(path: &Path) -> io::Result<Self> {
        let folder = Arc::new(OpenFolder::named(folder_of(path))?);
        Ok(Self {
            folder,
            name: last_name(path).to_owned(),
        })
    }

    /// The entry of this name, if it exists.
    pub fn entry(&self) -> io::Result<Option<ExistingEntry>> {
        self.folder.entry(&self.name)
    }

    /// Opens the file for reading, unless it is a symbolic link.
    pub fn read(&self) -> io::Result<File> {
        self.folder.read(&self.name)
    }
}

/// True if the error means that an entry is of an unexpected kind: a symbolic link, a socket, or a file in place of
/// a folder.
pub fn is_of_another_kind(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        // Unix systems use different errors for a forbidden symbolic link, a file in place of a folder, and a socket.
        [
            Errno::LOOP,
            Errno::NOTDIR,
            Errno::MLINK,
            Errno::XDEV,
            Errno::NXIO,
        ]
        .iter()
        .any(|kind| error.raw_os_error() == Some(kind.raw_os_error()))
    }
    #[cfg(not(unix))]
    {
        matches!(
            error.kind(),
            io::ErrorKind::NotADirectory | io::ErrorKind::Other
        )
    }
}

/// The name of the file at `path` in its folder. If the path can only be that of a folder (`a/`, `..`), the result is
/// `.`, by which a folder refers to itself.
fn last_name(path: &Path) -> &OsStr {
    let bytes = path.as_os_str().as_encoded_bytes();
    path.file_name()
        .filter(|name| bytes.ends_with(name.as_encoded_bytes()))
        .unwrap_or(OsStr::new("."))
}
