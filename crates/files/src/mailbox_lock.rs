//! The locks that mail programs hold while they change a mailbox.
//!
//! ```text
//!                  before                  while locked
//! all.mbox         no lock of fcntl(2)     locked with fcntl(2)
//! all.mbox.lock    does not exist          "4711", the process id
//! ```
//!
//! Debian Policy, 11.6, requires both locks of every program that writes to a mailbox; some programs use only one.
//! This program holds both from its last check of the mailbox until the new mailbox has its name, but not while it
//! reads. The check detects messages that were delivered after reading.
//!
//! Deliberately absent: removing the locks of other programs and of killed runs, even old ones.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, ErrorKind, Write},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use baselink_text::{Error, Result, cause, name};

use super::{
    file::{REPLACES_OPEN_FILES, not_written},
    folder::NameInFolder,
};

/// The maximum time to wait for another program to release a lock.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

/// The locks of a mailbox, released on drop.
pub struct MailboxLock {
    /// The lock file.
    file: File,
    place: NameInFolder,
    is_removed: bool,
    /// The mailbox, which holds the lock of fcntl(2) while it is open.
    mailbox: Option<File>,
}

impl MailboxLock {
    /// Waits for the locks of the mailbox `place`, and takes them. Its path, for messages, is `path`.
    ///
    /// # Errors
    ///
    /// Returns an error if another program keeps a lock, or if the lock file cannot be created.
    pub fn wait(path: &Path, place: &NameInFolder) -> Result<Self> {
        let began = Instant::now();
        let mut file_name = place.name.clone();
        file_name.push(".lock");
        loop {
            let failed = match Self::take(place, &file_name) {
                Ok(lock) => return Ok(lock),
                Err(failed) => failed,
            };
            let why = match failed.kind() {
                ErrorKind::AlreadyExists => format!(
                    "another program holds its lock {0}, so it was not changed; if no program \
                     delivers or changes mail there, delete {0}",
                    name(Path::new(&file_name))
                ),
                ErrorKind::WouldBlock => {
                    "another program has locked it, so it was not changed".to_owned()
                }
                _ => return Err(not_written(path)(failed)),
            };
            if began.elapsed() >= PATIENCE {
                return Err(Error::file(path, &why));
            }
            thread::sleep(PAUSE);
        }
    }

    fn take(place: &NameInFolder, file_name: &OsString) -> io::Result<Self> {
        let folder = Arc::clone(&place.folder);
        // From here on, an error drops `lock`, which removes the lock file.
        let mut lock = Self {
            file: folder.create(file_name, 0o644)?,
            place: NameInFolder {
                folder,
                name: file_name.clone(),
            },
            is_removed: false,
            mailbox: None,
        };
        write!(lock.file, "{}", std::process::id())?;
        let mailbox = place.folder.write(&place.name)?;
        lock_range(&mailbox)?;
        lock.mailbox = REPLACES_OPEN_FILES.then_some(mailbox);
        Ok(lock)
    }

    /// Releases the locks after the mailbox at `path` has been replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if the lock file cannot be removed.
    pub fn release(mut self, path: &Path) -> Result<()> {
        self.remove().map_err(|error| {
            let (mailbox, lock) = (name(path), name(Path::new(&self.place.name)));
            let why = cause(&error);
            let why =
                format!("{mailbox} was written, but its lock {lock} could not be removed: {why}");
            Error::system(why, error)
        })
    }

    fn remove(&mut self) -> io::Result<()> {
        let NameInFolder { folder, name } = &self.place;
        // Another program may have removed the lock file and created its own.
        let is_own = !std::mem::replace(&mut self.is_removed, true)
            && matches!(folder.look(name, &self.file), Ok(Some(_)));
        if is_own { folder.remove(name) } else { Ok(()) }
    }
}

impl Drop for MailboxLock {
    fn drop(&mut self) {
        // Without `release`, the mailbox is unchanged, and the error that caused the drop is reported.
        let _ = self.remove();
    }
}

/// Locks the file with fcntl(2), without waiting. The error is `WouldBlock` if another program has locked it.
#[cfg(unix)]
fn lock_range(mailbox: &File) -> io::Result<()> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    match fcntl_lock(mailbox, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) | Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(Errno::ACCESS) => Err(ErrorKind::WouldBlock.into()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn lock_range(_: &File) -> io::Result<()> {
    Ok(())
}
