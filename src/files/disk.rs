//! New files on their way to the disk, many at the same time.
//!
//! ```text
//! bytes of all  --syncfs-->  on the disk   then   names of all  --syncfs-->  on the disk
//! ```
//!
//! Before a name leads to new bytes these have to be on the disk, or a crash of the machine may leave an
//! empty file under it. To wait for each file (fsync) is to wait as often as there are files. On Linux,
//! syncfs(2) waits once for all that a file system has to write, and gives "the same guarantees as fsync()
//! called on every file in" it; since Linux 5.8 it fails "if one or more inodes failed to be written back
//! since the last syncfs() call", and to each open file that is since it was opened. So it is
//! called with the file that was opened first: nothing of the others was written before. If it
//! fails, whosever fault that is, each file is synced for itself.
//!
//! This program relies on syncfs where it is known to do so: on ext4, XFS and Btrfs (the Linux sources, `sync_fs` in
//! `fs/*/super.c`: the journal is committed, and the disk's own cache flushed). File systems over a network or
//! in user space do less, and get an fsync for each file; so do a few files, for which it would not pay to wait
//! for what other programs have written. What some file systems do for programs that sync nothing (ext4's
//! `auto_da_alloc`, the like in Btrfs; XFS does nothing) is not relied upon: it orders, but finds no errors.
//!
//! An old file is held open while another takes its name, and let go afterwards. Else its blocks are
//! freed within the rename, while nobody else can change a name in that folder: a file system that
//! tells the disk of each freed block (`discard`) takes milliseconds for it.
//!
//! ```
//! use baselink::files::write::{InPlace, Original, commit_all};
//! let folder = tempfile::tempdir()?;
//! let begin = |number: usize| {
//!     let page = folder.path().join(number.to_string());
//!     std::fs::write(&page, "old").map_err(|_| baselink::error::Error::new("no page"))?;
//!     let mut new = InPlace::default().begin(&Original::of(&page)?)?;
//!     new.write(|out| out.write_all(b"new"))?;
//!     Ok(new)
//! };
//! let new = (0..20).map(begin).collect::<Result<Vec<_>, baselink::error::Error>>()?;
//! assert!(commit_all(new).iter().all(Result::is_ok), "two waits for the disk, or three");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: what the files are. Starting to write early: a batch is small, and the disk is
//! idle while it grows, but measured it was no faster than syncfs at its end.

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
use crate::error::{Error, Result, cause};

/// A new file that has no name yet but a temporary one; or a device or a pipe, which has no bytes that could be lost, and must
/// not become a file. Dropped, the new file is removed.
#[derive(Debug)]
pub(super) struct New {
    folder: Arc<OpenFolder>,
    /// Nothing once it has its own, and for a device.
    temporary: Option<OsString>,
    file: File,
    /// True if long runs of zero bytes become holes.
    pub(super) has_holes: bool,
    identity: Option<Identity>,
    /// One that was opened earlier has a lower one.
    number: u64,
}

/// The bits of a file that is for nobody else.
pub(super) const PRIVATE: u32 = 0o600;

impl New {
    /// In `folder`, with these permission bits less those of the umask.
    pub(super) fn within(folder: &Arc<OpenFolder>, mode: u32) -> io::Result<Self> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let (name, file, made) = temporary::create(folder, mode)?;
        let number = OPENED.fetch_add(1, Ordering::SeqCst);
        let (folder, temporary) = (Arc::clone(folder), Some(name));
        Ok(Self { folder, temporary, file, has_holes: false, identity: identity(&made), number })
    }

    /// The device or pipe `name` in `folder`.
    pub(super) fn device(folder: &Arc<OpenFolder>, name: &OsStr) -> io::Result<Self> {
        let file = folder.write_device(name)?;
        if file.metadata()?.is_file() {
            return Err(io::Error::other("another program put a file there"));
        }
        let (folder, temporary) = (Arc::clone(folder), None);
        Ok(Self { folder, temporary, file, has_holes: false, identity: None, number: 0 })
    }

    /// True if it is a device, or a file that has its name.
    pub(super) fn is_device(&self) -> bool {
        self.temporary.is_none()
    }

    /// Which file it is, whatever it is called; nothing for a device.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.identity
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Adds the bytes of `from`. Without holes the system copies them, or shares them.
    pub(super) fn add_file(&mut self, mut from: &File) -> io::Result<()> {
        match self.has_holes {
            true => io::copy(&mut from, self).map(drop),
            false => io::copy(&mut from, &mut self.file).map(drop),
        }
    }

    /// Gives it this name in the folder `into`. A file that has it has it no more.
    pub(super) fn replace(&mut self, into: &OpenFolder, name: &OsStr) -> io::Result<()> {
        self.named(|folder, temporary| folder.rename(temporary, into, name))
    }

    /// Gives it this name in the folder `into`, if no file has it.
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

impl Drop for New {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // What cannot be removed is removed by a later run.
            let _ = self.folder.remove(temporary);
        }
    }
}

/// A run of zero bytes is looked for in pieces of this size, which is that of a block of most file systems.
const BLOCK: usize = 4_096;

impl Write for New {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.has_holes {
            return self.file.write(bytes);
        }
        let is_zero = |block: &[u8]| block.iter().all(|&byte| byte == 0);
        let blocks = bytes.chunks(BLOCK);
        let is_hole = blocks.clone().next().is_some_and(is_zero);
        let length = blocks.take_while(|block| is_zero(block) == is_hole).map(<[u8]>::len).sum();
        if !is_hole {
            return self.file.write(&bytes[..length]);
        }
        let end = self.file.stream_position()? + length as u64;
        // A hole at the end has nothing behind it that would make the file longer.
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end))?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Puts the bytes of new files on the disk. `of` says under which name they are known, and which they are;
/// nothing for those that are not to be synced.
pub(super) fn sync_bytes<T: Send>(
    all: &mut [Result<T>],
    of: impl Fn(&T) -> Option<(&Path, &New)> + Sync,
) {
    let mut systems: BTreeMap<_, Vec<&New>> = BTreeMap::new();
    for (_, new) in all.iter().flatten().filter_map(&of) {
        systems.entry(system(new.identity)).or_default().push(new);
    }
    systems.retain(|_, files| {
        let first = files.iter().min_by_key(|new| new.number);
        let many = files.len() >= MANY_FILES;
        !(many && first.is_some_and(|new| sync_file_system(new.file())))
    });
    let left: BTreeSet<_> = systems.into_keys().collect();
    if left.is_empty() {
        return;
    }
    at_once(all, |one| {
        if let Some((path, new)) = of(&one).filter(|(_, new)| left.contains(&system(new.identity)))
        {
            new.file().sync_all().map_err(|error| not_written(path, error))?;
        }
        Ok(one)
    });
}

/// The file system of a file.
fn system(file: Option<Identity>) -> Option<u64> {
    file.map(|(device, _)| device)
}

/// The number of replacements that may be pending at a time: begun, and not yet committed. It is 256, more are not
/// quicker; fewer where the system lets this program have few open files, of which the rest of the
/// program is left some; but never less than 8.
///
/// ```
/// assert!((8..=256).contains(&baselink::files::write::most_pending()));
/// ```
#[must_use]
pub fn most_pending() -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files = None::<u64>;
    let files = files.unwrap_or(u64::MAX);
    let pending = files.saturating_sub(FILES_OF_OTHERS) / FILES_EACH;
    usize::try_from(pending).unwrap_or(MOST_PENDING).clamp(LEAST_PENDING, MOST_PENDING)
}

const MOST_PENDING: usize = 256;
const LEAST_PENDING: usize = 8;
/// Open files for input, folders, threads and the standard library.
const FILES_OF_OTHERS: u64 = 64;
/// Its new file, the old one, and the folders of both.
const FILES_EACH: u64 = 4;
/// The number of files from which one syncfs replaces many fsyncs.
const MANY_FILES: usize = 8;

/// Folders in which names changed, each once however often it was opened, and what is wrong with those that cannot be
/// synced.
pub(super) struct Folders(BTreeMap<Option<Identity>, String>);

impl Folders {
    /// Puts the names in these folders on the disk.
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

    /// Why one of them could not be synced.
    pub(super) fn first_failure(&self) -> Option<&str> {
        self.0.values().next().map(String::as_str)
    }

    /// Why `folder` could not be synced.
    pub(super) fn failure(&self, folder: &OpenFolder) -> Option<&str> {
        let is_any = !self.0.is_empty();
        is_any.then(|| self.0.get(&folder.identity()).map(String::as_str))?
    }
}

/// Puts the names in `folder` on the disk, where a folder can be opened and synced.
fn sync_folder(folder: &OpenFolder) -> io::Result<()> {
    match folder.itself().and_then(|folder| folder.sync_all()) {
        // A folder that may be written and not read; and what systems say that sync no folders.
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

/// The number of files that wait for the disk at the same time. A file system serves many with one wait.
const AT_ONCE: usize = 16;

/// Does the next step for everything that has not failed yet, at the same time.
pub(super) fn at_once<T: Send>(all: &mut [Result<T>], step: impl Fn(T) -> Result<T> + Sync) {
    let threads = all.len().min(AT_ONCE);
    let queue = Mutex::new(all.iter_mut());
    let work = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(one) = next else { return };
            then(one, &step);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without another thread this one does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// Does the next step for what has not failed yet.
pub(super) fn then<T>(one: &mut Result<T>, step: impl FnOnce(T) -> Result<T>) {
    let taken = std::mem::replace(one, Err(Error::new(String::new())));
    *one = taken.and_then(step);
}

/// `f_type` of statfs(2) for ext2 to ext4, XFS and Btrfs.
#[cfg(target_os = "linux")]
const KNOWN: [i128; 3] = [0xEF53, 0x5846_5342, 0x9123_683E];

/// Puts all that the file system of `file` has to write on the disk. If not, or not for certain, the
/// answer is no.
#[cfg(target_os = "linux")]
fn sync_file_system(file: &File) -> bool {
    let known = rustix::fs::fstatfs(file).is_ok_and(|is| KNOWN.contains(&i128::from(is.f_type)));
    let tells = || rustix::system::uname().release().to_str().is_ok_and(tells_errors);
    known && tells() && rustix::fs::syncfs(file).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_: &File) -> bool {
    false
}

/// True if syncfs of this release of Linux reports that bytes could not be written.
#[cfg(target_os = "linux")]
fn tells_errors(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(std::result::Result::ok);
    next().zip(next()).is_some_and(|version| version >= (5, 8))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn releases_of_linux_are_told_apart() {
        for (release, tells) in [
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
            assert_eq!(tells_errors(release), tells, "{release}");
        }
    }
}
