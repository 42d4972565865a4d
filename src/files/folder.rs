//! An open folder. Operations on its files reach that folder even if another folder takes its name.
//!
//! ```text
//! w/sub/x.html   -->   w, may be a link   -->   sub, not a link   -->   x.html, not a link
//! ```
//!
//! Each system call resolves a path anew, and anybody with write access to a folder in the path can insert a symbolic
//! link between two calls. A path is therefore resolved only once. Up to the folder that the user named, symbolic
//! links are followed ([`OpenFolder::named`]). Below this folder, no name may be a symbolic link
//! ([`OpenFolder::below`]). All other operations use an open folder and one name in it (`openat`, `renameat` and
//! related functions of POSIX.1-2017).
//!
//! From Linux 5.6, openat2(2) opens a path below a folder in one call, with `RESOLVE_BENEATH` and
//! `RESOLVE_NO_SYMLINKS`. On older Linux and other Unix systems, each folder is opened from its parent with
//! `O_NOFOLLOW`. On systems other than Unix (`other.rs`), a folder is a path, and names are checked before use.
//!
//! Opening for reading or inspection never blocks (`O_NONBLOCK`), because a pipe may have replaced the file.
//!
//! Deliberately absent: the contents to write, and waiting for the disk.

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

use super::file::{ExistingEntry, folder_of};

/// A name in an open folder.
#[derive(Clone, Debug)]
pub(super) struct NameInFolder {
    pub(super) folder: Arc<OpenFolder>,
    pub(super) name: OsString,
}

impl NameInFolder {
    /// Opens the folder of the file at `path`, following symbolic links to it.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let folder = Arc::new(OpenFolder::named(folder_of(path))?);
        Ok(Self {
            folder,
            name: last_name(path).to_owned(),
        })
    }

    /// The entry of this name, if it exists.
    pub(super) fn entry(&self) -> io::Result<Option<ExistingEntry>> {
        self.folder.entry(&self.name)
    }
}

/// True if the error means that an entry is of an unexpected kind: a symbolic link, a socket, or a file in place of
/// a folder.
pub(super) fn is_of_another_kind(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        // Unix systems use different errors for a forbidden symbolic link, a file in place of a folder, and a socket.
        let kinds = [
            Errno::LOOP,
            Errno::NOTDIR,
            Errno::MLINK,
            Errno::XDEV,
            Errno::NXIO,
        ];
        kinds
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
    let is_last = |name: &&OsStr| bytes.ends_with(name.as_encoded_bytes());
    path.file_name().filter(is_last).unwrap_or(OsStr::new("."))
}
