//! A file of the disk: its folder, which file it is whatever it is called, and whether its name is that of a
//! temporary one.
//!
//! ```
//! use baselink::tree::write::{TEMPORARY, is_temporary};
//! use std::ffi::OsStr;
//!
//! assert_eq!(TEMPORARY, ".baselink-");
//! assert!(is_temporary(OsStr::new(".baselink-Zx81kPq0Lm2A")));
//! assert!(!is_temporary(OsStr::new("page.html")));
//! ```
//!
//! Deliberately absent: writing. [`super::write`](mod@super::write) replaces files, and [`super::disk`] waits for the
//! disk.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use crate::error::{Error, ErrorKind, cause, name};

/// How the names of temporary files begin. They are hidden, and no document.
pub const TEMPORARY: &str = ".baselink-";

/// Whether a file of this name, without its folder, is or was a temporary file of a replacement.
#[must_use]
pub fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
}

/// The folder of the file at `path`; the current one where that is only a name.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Which file it is, whatever it is called.
#[cfg(unix)]
pub(super) fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Nothing: this system does not tell.
#[cfg(not(unix))]
pub(super) fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Whether both paths lead to one file, by whatever names: symbolic links are followed, and hard links
/// are the same. Not where either leads to nothing.
#[must_use]
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    let known = |path: &Path| identity(&fs::metadata(path).ok()?);
    match (known(one), known(other)) {
        (Some(one), Some(other)) => one == other,
        _ => fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|o| one == o)),
    }
}

/// Says that the file at `path` was not written.
pub(super) fn not_written(path: &Path, error: io::Error) -> Error {
    Error::system(format!("{} was not written: {}", name(path), cause(&error)), error)
}

/// Says why the file at `path` was not written.
pub(super) fn refused(path: &Path, why: &str) -> Error {
    Error::of(ErrorKind::File, format!("{} was not written: {why}", name(path)))
}
