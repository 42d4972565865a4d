//! New files, and the syncing of many of them at a time.
//!
//! ```text
//! bytes of all  --syncfs-->  on the disk   then   names of all  --syncfs-->  on the disk
//! ```
//!
//! The bytes of a file must reach the disk before its new name does. Otherwise a crash of the machine may leave an
//! empty file under the name. With fsync, the program waits once per file. On Linux, syncfs(2) waits once for a whole
//! file system, and gives "the same guarantees as fsync() called on every file in" it.
//!
//! Since Linux 5.8, syncfs fails "if one or more inodes failed to be written back since the last syncfs() call". For
//! an open file, this period begins when the file is opened. The program therefore passes the file that it opened
//! first, before it wrote to any other. If syncfs fails for any reason, each file is synced individually.
//!
//! This program relies on syncfs only on ext4, XFS and Btrfs, where its guarantee is known: in the Linux sources,
//! `sync_fs` in `fs/*/super.c` commits the journal and flushes the disk's cache. Network and user-space file systems
//! guarantee less, so each file gets an fsync there. A small number of files also gets one fsync each, because syncfs
//! would wait for the writes of other programs too.
//!
//! This program does not rely on the safeguards of file systems for programs that never sync (ext4's `auto_da_alloc`
//! and its counterpart in Btrfs; XFS has none). They order writes but report no errors.
//!
//! A replaced file is held open during the rename and closed afterwards. Otherwise the rename would free its blocks
//! while the folder is locked. This takes milliseconds on a file system that informs the disk of each freed block
//! (`discard`).
//!
//! ```
//! use baselink_cli::files::write::{InPlace, Original, commit_all};
//! let folder = tempfile::tempdir()?;
//! let begin = |number: usize| {
//!     let page = folder.path().join(number.to_string());
//!     std::fs::write(&page, "old").map_err(|_| baselink_text::error::Error::new("no page"))?;
//!     let mut new = InPlace::default().begin(&Original::of(&page)?)?;
//!     new.write(|out| out.write_all(b"new"))?;
//!     Ok(new)
//! };
//! let new = (0..20).map(begin).collect::<Result<Vec<_>, baselink_text::error::Error>>()?;
//! assert!(commit_all(new).iter().all(Result::is_ok), "two waits for the disk, or three");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: the meaning of the files, and writing to disk early. Although the disk is idle while a batch
//! grows, early writing was not measurably faster than one syncfs at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::file::{Identity, identity, not_written};
use super::folder::OpenFolder;
use super::temporary;
use baselink_text::error::{Error, Result, cause};

/// A new file under a temporary name. Dropping it before it gets its final name removes the file. It may also be an
/// existing device or pipe, which must not become a regular file.
#[derive(Debug)]
pub(super) struct NewFile {
    folder: Arc<OpenFolder>,
    /// The temporary name; `None` for a file that has its final name, and for a device or pipe.
    temporary: Option<OsString>,
    file: File,
    /// True if long runs of zero bytes become holes.
    pub(super) has_holes: bool,
    identity: Option<Identity>,
    /// A number that increases with each opened file.
    number: u64,
}

/// The permission bits of a file that only its owner may use.
pub(super) const PRIVATE: u32 = 0o600;

impl NewFile {
    /// Creates a file in `folder` with these permission bits, reduced by the umask.
    pub(super) fn within(folder: &Arc<OpenFolder>, mode: u32) -> io::Result<Self> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let (name, file, metadata) = temporary::create(folder, mode)?;
        let number = OPENED.fetch_add(1, Ordering::SeqCst);
        let (folder, temporary) = (Arc::clone(folder), Some(name));
        let identity = identity(&metadata);
        Ok(Self {
            folder,
            temporary,
            file,
            has_holes: false,
            identity,
            number,
        })
    }

    /// Opens the device or pipe `name` in `folder`.
    pub(super) fn device(folder: &Arc<OpenFolder>, name: &OsStr) -> io::Result<Self> {
        let file = folder.write_device(name)?;
        if file.metadata()?.is_file() {
            return Err(io::Error::other("another program created a file there"));
        }
        let (folder, temporary) = (Arc::clone(folder), None);
        Ok(Self {
            folder,
            temporary,
            file,
            has_holes: false,
            identity: None,
            number: 0,
        })
    }

    /// True for a device or pipe, and for a file that has its final name.
    pub(super) fn is_device(&self) -> bool {
        self.temporary.is_none()
    }

    /// The identity of the file, independent of its name; `None` for a device or pipe.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.identity
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Appends the contents of `from`. Unless holes are wanted, the system copies the bytes itself, or shares them.
    pub(super) fn add_file(&mut self, mut from: &File) -> io::Result<()> {
        match self.has_holes {
            true => io::copy(&mut from, self).map(drop),
            false => io::copy(&mut from, &mut self.file).map(drop),
        }
    }

    /// Gives the file this name in the folder `into`, replacing any file of that name.
    pub(super) fn replace(&mut self, into: &OpenFolder, name: &OsStr) -> io::Result<()> {
        self.named(|folder, temporary| folder.rename(temporary, into, name))
    }

    /// Gives the file this name in the folder `into`, unless the name is taken.
    pub(super) fn name(&mut self, into: &OpenFolder, name: &OsStr) -> io::Result<()> {
        self.named(|folder, temporary| folder.rename_if_free(temporary, into, name))
    }

    fn named(
        &mut self,
        rename: impl FnOnce(&OpenFolder, &OsStr) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            rename(&self.folder, temporary)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // A later run removes a file that cannot be removed now.
            let _ = self.folder.remove(temporary);
        }
    }
}

/// The block size of most file systems. A run of zero bytes becomes a hole if it fills whole blocks.
const BLOCK: usize = 4_096;

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.has_holes {
            return self.file.write(bytes);
        }
        let is_zero = |block: &[u8]| block.iter().all(|&byte| byte == 0);
        let blocks = bytes.chunks(BLOCK);
        let is_hole = blocks.clone().next().is_some_and(is_zero);
        let length = blocks
            .take_while(|block| is_zero(block) == is_hole)
            .map(<[u8]>::len)
            .sum();
        if !is_hole {
            return self.file.write(&bytes[..length]);
        }
        let end = self.file.stream_position()? + length as u64;
        // Seeking alone would not extend the file if the hole is at its end.
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end))?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes the bytes of new files to disk. For each item, `of` returns the path for messages and the file to sync, or
/// `None` if the item needs no sync.
pub(super) fn sync_bytes<T: Send>(
    all: &mut [Result<T>],
    of: impl Fn(&T) -> Option<(&Path, &NewFile)> + Sync,
) {
    let mut systems: BTreeMap<_, Vec<&NewFile>> = BTreeMap::new();
    for (_, new) in all.iter().flatten().filter_map(&of) {
        systems.entry(system(new.identity)).or_default().push(new);
    }
    systems.retain(|_, files| {
        let first = files.iter().min_by_key(|new| new.number);
        let many = files.len() >= MANY_FILES;
        !(many && first.is_some_and(|new| sync_file_system(new.file())))
    });
    let unsynced: BTreeSet<_> = systems.into_keys().collect();
    if unsynced.is_empty() {
        return;
    }
    at_once(all, |item| {
        let file = of(&item).filter(|(_, new)| unsynced.contains(&system(new.identity)));
        if let Some((path, new)) = file {
            new.file()
                .sync_all()
                .map_err(|error| not_written(path, error))?;
        }
        Ok(item)
    });
}

/// The number of the file system that contains a file.
fn system(file: Option<Identity>) -> Option<u64> {
    file.map(|(device, _)| device)
}

/// The maximum number of replacements that are begun but not committed: 256, since more are not faster. A low limit on
/// open files reduces it, but never below 8.
///
/// ```
/// assert!((8..=256).contains(&baselink_cli::files::write::most_pending()));
/// ```
#[must_use]
pub fn most_pending() -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files = None::<u64>;
    let files = files.unwrap_or(u64::MAX);
    let pending = files.saturating_sub(FILES_OF_OTHERS) / FILES_EACH;
    usize::try_from(pending)
        .unwrap_or(MOST_PENDING)
        .clamp(LEAST_PENDING, MOST_PENDING)
}

const MOST_PENDING: usize = 256;
const LEAST_PENDING: usize = 8;
/// The number of files reserved for input, folders, threads and the standard library.
const FILES_OF_OTHERS: u64 = 64;
/// The number of open files per replacement: the new file, the old one, and the folders of both.
const FILES_EACH: u64 = 4;
/// The smallest number of files for which one syncfs replaces many calls of fsync.
const MANY_FILES: usize = 8;

/// The folders that could not be synced, each with the reason. A folder that was opened several times is synced once.
pub(super) struct SyncedFolders(BTreeMap<Option<Identity>, String>);

impl SyncedFolders {
    /// Writes the names in these folders to disk.
    pub(super) fn sync<'a>(folders: impl Iterator<Item = &'a OpenFolder>) -> Self {
        let folders: BTreeMap<_, _> = folders.map(|folder| (folder.identity(), folder)).collect();
        let mut systems: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (key, folder) in folders {
            systems.entry(system(key)).or_default().push((key, folder));
        }
        let mut failed = BTreeMap::new();
        for folders in systems.into_values() {
            let first = folders.first().and_then(|(_, folder)| folder.itself().ok());
            if folders.len() > 1 && first.as_ref().is_some_and(sync_file_system) {
                continue;
            }
            for (key, folder) in folders {
                if let Err(error) = sync_folder(folder) {
                    failed.insert(key, cause(&error));
                }
            }
        }
        Self(failed)
    }

    /// The reason for the first failure.
    pub(super) fn first_failure(&self) -> Option<&str> {
        self.0.values().next().map(String::as_str)
    }

    /// The reason why `folder` could not be synced.
    pub(super) fn failure(&self, folder: &OpenFolder) -> Option<&str> {
        let is_any = !self.0.is_empty();
        is_any.then(|| self.0.get(&folder.identity()).map(String::as_str))?
    }
}

/// Writes the names in `folder` to disk, if the system allows folders to be opened and synced.
fn sync_folder(folder: &OpenFolder) -> io::Result<()> {
    match folder.itself().and_then(|folder| folder.sync_all()) {
        // The folder may be writable but not readable, or the system cannot sync folders.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// The number of threads that wait for the disk concurrently. A file system combines their waits.
const AT_ONCE: usize = 16;

/// Runs the next step concurrently for all items that have not failed.
pub(super) fn at_once<T: Send>(all: &mut [Result<T>], step: impl Fn(T) -> Result<T> + Sync) {
    let threads = all.len().min(AT_ONCE);
    let queue = Mutex::new(all.iter_mut());
    let work = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = next else { return };
            then(item, &step);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no other thread can start, this thread does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// Runs the next step unless an earlier one failed.
pub(super) fn then<T>(item: &mut Result<T>, step: impl FnOnce(T) -> Result<T>) {
    let taken = std::mem::replace(item, Err(Error::new(String::new())));
    *item = taken.and_then(step);
}

/// The `f_type` of statfs(2) for ext4 (which ext2 and ext3 share), XFS and Btrfs.
#[cfg(target_os = "linux")]
const KNOWN: [i128; 3] = [0xEF53, 0x5846_5342, 0x9123_683E];

/// Writes all pending data of the file system of `file` to disk. Returns false if this failed or its success is
/// uncertain.
#[cfg(target_os = "linux")]
fn sync_file_system(file: &File) -> bool {
    let known = rustix::fs::fstatfs(file).is_ok_and(|is| KNOWN.contains(&i128::from(is.f_type)));
    let reports = || {
        rustix::system::uname()
            .release()
            .to_str()
            .is_ok_and(reports_write_errors)
    };
    known && reports() && rustix::fs::syncfs(file).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_: &File) -> bool {
    false
}

/// True if syncfs of this Linux release reports write errors.
#[cfg(target_os = "linux")]
fn reports_write_errors(release: &str) -> bool {
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(std::result::Result::ok);
    next().zip(next()).is_some_and(|version| version >= (5, 8))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn syncfs_reports_write_errors_since_linux_5_8() {
        for (release, reports) in [
            ("5.8.0", true),
            ("5.10.0-28-amd64", true),
            ("6.18.44-fc", true),
            ("10.0", true),
            ("5.7.19", false),
            ("4.19.0-5.10", false),
            ("4.4.0", false),
            ("5", false),
            ("", false),
            ("x.y", false),
        ] {
            assert_eq!(reports_write_errors(release), reports, "{release}");
        }
    }
}
