//! Files opened by a path on which no name is a symbolic link.
//!
//! openat2(2) of Linux with `RESOLVE_NO_SYMLINKS` looks at each name while it goes along the path, so
//! that nobody can put a link there between a look and the opening, and it is one call however deep
//! the file lies.
//!
//! ```
//! # #[cfg(unix)] {
//! use baselink::tree::walk::{Selection, walk};
//! let root = tempfile::tempdir().unwrap();
//! std::fs::create_dir(root.path().join("a")).unwrap();
//! std::fs::write(root.path().join("a/x.html"), "").unwrap();
//! let entry = walk(&[root.path().to_owned()], &Selection::default()).next().unwrap().unwrap();
//! assert!(entry.open(false).is_ok());
//! std::fs::rename(root.path().join("a"), root.path().join("b")).unwrap();
//! std::os::unix::fs::symlink("b", root.path().join("a")).unwrap();
//! assert!(entry.open(false).is_err());
//! # }
//! ```
//!
//! Deliberately absent: another way. Linux before 5.6, some sandboxes and other systems have no such
//! call ([`is_missing`]); whoever asks has to look at the names himself there.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens the file at `path` for reading, and does not wait for the other end of a pipe.
#[cfg(target_os = "linux")]
pub(super) fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    openat2(path, OFlags::RDONLY | OFlags::NONBLOCK, 0)
}

/// Makes a file at `path`, where there is none, with these permission bits less those of the umask.
#[cfg(target_os = "linux")]
pub(super) fn create(path: &Path, mode: u32) -> io::Result<File> {
    use rustix::fs::OFlags;
    openat2(path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, mode)
}

#[cfg(target_os = "linux")]
fn openat2(path: &Path, flags: rustix::fs::OFlags, mode: u32) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::LARGEFILE;
    let file = openat2(CWD, path, flags, Mode::from_bits_truncate(mode), ResolveFlags::NO_SYMLINKS);
    Ok(file?.into())
}

/// Whether the system, or a sandbox around it, has no such call.
pub(super) fn is_missing(error: &io::Error) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::io::Errno;
        let missing = [Errno::NOSYS, Errno::PERM, Errno::INVAL, Errno::TOOBIG, Errno::OPNOTSUPP];
        missing.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    }
    #[cfg(not(target_os = "linux"))]
    {
        error.kind() == io::ErrorKind::Unsupported
    }
}

/// Whether a name on the path is a symbolic link.
pub(super) fn is_link(error: &io::Error) -> bool {
    #[cfg(target_os = "linux")]
    {
        error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = error;
        false
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn create(_: &Path, _: u32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
