//! A file on disk: its folder, and its identity independent of its name.
//!
//! ```
//! use baselink_files::write::is_one_file;
//! use std::path::Path;
//!
//! assert!(is_one_file(Path::new("src"), Path::new("src/../src")));
//! assert!(!is_one_file(Path::new("src"), Path::new("docs")));
//! ```
//!
//! Deliberately absent: writing. [`super::write`](mod@super::write) replaces files.

use std::{
    ffi::OsString,
    fs::{self, DirEntry, File, FileTimes, FileType, Metadata, OpenOptions},
    io::{self, Read},
    path::Path,
    time::SystemTime,
};

use baselink_text::{Error, Result, cause, name};

/// The prefix of the names of temporary files. Temporary files are hidden and are not documents.
pub const TEMPORARY: &str = ".baselink-";

/// True if a file can be replaced while it is open. Windows has supported this since 2016
/// (`FILE_RENAME_POSIX_SEMANTICS`), but only on NTFS.
pub const REPLACES_OPEN_FILES: bool = cfg!(unix);

/// The kind of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file, or a followed symbolic link to a regular file.
    File,
    /// A symbolic link that is not followed, whatever its target.
    Symlink,
    /// A folder, or a followed symbolic link to a folder.
    Folder,
    /// Another kind: a FIFO, a socket, a device. Opening it may block forever.
    Special,
}

impl EntryKind {
    pub(super) fn of(file_type: FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_symlink() {
            Self::Symlink
        } else if file_type.is_dir() {
            Self::Folder
        } else {
            Self::Special
        }
    }
}

/// An existing entry of a folder. For a symbolic link, the link itself.
pub struct ExistingEntry {
    pub kind: EntryKind,
    pub permissions: cap_std::fs::Permissions,
    pub identity: Identity,
}

/// `bytes` as a file name; `None` if the system does not allow such names.
pub fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(bytes));
    #[cfg(not(unix))]
    return String::from_utf8(bytes).ok().map(OsString::from);
}

/// True if `path` means standard input. A file of that name is `./-`.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The folder of the file at `path`, or the current folder if `path` is only a name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// The entries of a folder that can be read.
pub fn entries_in(folder: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// The identity of a file, independent of its name: the number of its file system, and its number there.
pub type Identity = (u64, u64);

/// The identity of a file; `None` if the system does not provide one.
#[cfg(unix)]
pub fn identity(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
pub fn identity(_: &Metadata) -> Option<Identity> {
    None
}

/// The number of names (hard links) of a file.
#[cfg(unix)]
pub fn names_of(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
pub fn names_of(_: &Metadata) -> u64 {
    1
}

/// The times of the last read and write, if the system provides them.
pub fn times(file: &Metadata) -> Option<FileTimes> {
    Some(
        FileTimes::new()
            .set_accessed(file.accessed().ok()?)
            .set_modified(file.modified().ok()?),
    )
}

/// The time of the last change to content or metadata (`st_ctim` of POSIX.1-2017, sys/stat.h), which programs
/// cannot set.
#[cfg(unix)]
pub fn changed(seen: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, UNIX_EPOCH};
    let seconds = Duration::from_secs(seen.ctime().try_into().ok()?);
    let nanoseconds = Duration::from_nanos(seen.ctime_nsec().try_into().ok()?);
    UNIX_EPOCH.checked_add(seconds + nanoseconds)
}

#[cfg(not(unix))]
pub fn changed(_: &Metadata) -> Option<SystemTime> {
    None
}

/// Opens the file at `path` for reading, following symbolic links. Returns `None` if it is not a regular file. Opening
/// a pipe does not block.
///
/// # Errors
///
/// Returns the system's errors.
pub fn open_file(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

/// The first bytes of the file `path`, at most `length`.
///
/// # Errors
///
/// Returns the errors of `file`.
pub fn head_of(file: impl Read, path: &Path, length: usize) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(length as u64)
        .read_to_end(&mut head)
        .map_err(Error::io(path))?;
    Ok(head)
}

/// True if both paths lead to the same file. Symbolic links are followed, and hard links are the same file. False if
/// either path does not exist.
pub fn is_one_file(left: &Path, right: &Path) -> bool {
    let known = |path: &Path| identity(&fs::metadata(path).ok()?);
    match (known(left), known(right)) {
        (Some(left), Some(right)) => left == right,
        _ => fs::canonicalize(left)
            .is_ok_and(|left| fs::canonicalize(right).is_ok_and(|right| left == right)),
    }
}

/// Creates an error: the file at `path` was not written.
pub fn not_written(path: &Path) -> impl Fn(io::Error) -> Error + Copy {
    move |error| {
        // The new contents are a new file until it is complete.
        let cause = match error.kind() {
            io::ErrorKind::PermissionDenied => "permission denied in its folder".to_owned(),
            _ => cause(&error),
        };
        Error::system(format!("{} was not written: {cause}", name(path)), error)
    }
}

/// Creates an error: the file at `path` was not written, for the given reason.
pub fn refused(path: &Path, why: &str) -> Error {
    Error::new(format!("{} was not written: {why}", name(path)))
}
