//! An open folder: what is done to the files in it is done there, whatever has its name by then.
//!
//! ```text
//! w/sub/x.html   -->   w, as it was named   -->   sub, and no link   -->   x.html, and no link
//! ```
//!
//! A path is read anew by each call of the system, and whoever may write to a folder on it can put a symbolic link
//! there between two calls. So a path is gone along once: up to the folder that somebody named, where links are that
//! person's own ([`OpenFolder::named`]), and from there down where no name may be a link ([`OpenFolder::below`]). All
//! else has an open folder and one name in it (`openat`, `renameat` and their like of POSIX.1-2017).
//!
//! openat2(2) of Linux (5.6) does the second step in one call, with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`. Where
//! it is missing, and on other Unixes, each folder is opened in the one before it with `O_NOFOLLOW`. Elsewhere
//! (`other.rs`) a folder is a path, and names are looked at before they are used.
//!
//! Nothing that is opened for reading or for a look is waited for (`O_NONBLOCK`): where a file was, there may be a pipe.
//!
//! Deliberately absent: what is written, and when it is on the disk.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use other::OpenFolder;
#[cfg(unix)]
pub(super) use unix::OpenFolder;

use super::file::{There, folder_of};

/// A name in an open folder.
#[derive(Clone, Debug)]
pub(super) struct NameInFolder {
    pub(super) folder: Arc<OpenFolder>,
    pub(super) name: OsString,
}

impl NameInFolder {
    /// Opens the folder of the file at `path`; symbolic links on the way to it are followed.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let folder = Arc::new(OpenFolder::named(folder_of(path))?);
        Ok(Self { folder, name: last_name(path).to_owned() })
    }

    /// The entry of this name.
    pub(super) fn there(&self) -> io::Result<Option<There>> {
        self.folder.there(&self.name)
    }
}

/// True if the error means that an entry is of another kind: a symbolic link, a socket, a file in the place of a folder.
pub(super) fn is_of_another_kind(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        // What systems say of a link where none may be, and of a socket.
        let kinds = [Errno::LOOP, Errno::NOTDIR, Errno::MLINK, Errno::XDEV, Errno::NXIO];
        kinds.iter().any(|kind| error.raw_os_error() == Some(kind.raw_os_error()))
    }
    #[cfg(not(unix))]
    {
        matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::Other)
    }
}

/// The name of the file at `path` in its folder; of what can only be a folder (`a/`, `..`), that of any folder in itself.
fn last_name(path: &Path) -> &OsStr {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_last = |name: &&OsStr| bytes.ends_with(name.as_encoded_bytes());
    path.file_name().filter(is_last).unwrap_or(OsStr::new("."))
}
