//! The locks that mail programs hold while they change a mailbox.
//!
//! ```text
//!                  before                  while locked
//! all.mbox         no lock of fcntl(2)     locked with fcntl(2)
//! all.mbox.lock    does not exist          "4711\nbaselink"
//! ```
//!
//! Debian Policy, 11.6, requires both locks of every program that writes to a mailbox; some programs use only one.
//! This program holds both from its last check of the mailbox until the new mailbox has its name, but not while it
//! reads. The check detects messages that were delivered after reading.
//!
//! The first line of the lock file contains the process id, by which other programs recognize a stale lock. The
//! second line names this program, so that its next run removes a stale lock.
//!
//! Deliberately absent: removing the locks of other programs, even old ones.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::disk::NewFile;
use super::file::{REPLACES_OPEN_FILES, not_written};
use super::folder::{NameInFolder, OpenFolder};
use super::temporary::{LOCK, LOCK_END, remove_stale};
use baselink_text::error::{Error, Result, cause, name};

/// The maximum time to wait for another program to release a lock.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

/// The locks of a mailbox, released on drop.
#[derive(Debug)]
pub(super) struct MailboxLock {
    file: NewFile,
    name: OsString,
    folder: Arc<OpenFolder>,
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
    pub(super) fn wait(path: &Path, place: &NameInFolder) -> Result<Self> {
        let began = Instant::now();
        loop {
            let held = match Self::take(place).map_err(|error| not_written(path, error))? {
                Ok(lock) => return Ok(lock),
                Err(held) => held,
            };
            if began.elapsed() >= PATIENCE {
                let why = match held {
                    HeldLock::File => format!(
                        "another program holds its lock {0}, so it was not changed; if no program \
                         delivers or changes mail there, delete {0}",
                        name(Path::new(&lock_name(&place.name)))
                    ),
                    HeldLock::Range => {
                        "another program has locked it, so it was not changed".to_owned()
                    }
                };
                return Err(Error::file(path, &why));
            }
            thread::sleep(PAUSE);
        }
    }

    fn take(place: &NameInFolder) -> io::Result<std::result::Result<Self, HeldLock>> {
        let NameInFolder { folder, name } = place;
        let mut file = NewFile::within(folder, 0o644)?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        file.write_all(LOCK_END)?;
        let lock = lock_name(name);
        match file.name(folder, &lock) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                remove_stale(folder, &lock);
                return Ok(Err(HeldLock::File));
            }
            named => named?,
        }
        // From here on, an error drops `lock`, which removes the lock file.
        let folder = Arc::clone(folder);
        let mut lock = Self {
            file,
            name: lock,
            folder,
            is_removed: false,
            mailbox: None,
        };
        let mailbox = place.folder.write(name)?;
        if !lock_range(&mailbox)? {
            return Ok(Err(HeldLock::Range));
        }
        lock.mailbox = REPLACES_OPEN_FILES.then_some(mailbox);
        Ok(Ok(lock))
    }

    /// Releases the locks after the mailbox at `path` has been replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if the lock file cannot be removed.
    pub(super) fn release(mut self, path: &Path) -> Result<()> {
        self.remove().map_err(|error| {
            let (mailbox, lock) = (name(path), name(Path::new(&self.name)));
            let why = cause(&error);
            let why =
                format!("{mailbox} was written, but its lock {lock} could not be removed: {why}");
            Error::system(why, error)
        })
    }

    fn remove(&mut self) -> io::Result<()> {
        // Another program may have removed the lock file and created its own.
        let is_own = !std::mem::replace(&mut self.is_removed, true)
            && matches!(self.folder.look(&self.name, self.file.file()), Ok(Some(_)));
        if is_own {
            self.folder.remove(&self.name)
        } else {
            Ok(())
        }
    }
}

impl Drop for MailboxLock {
    fn drop(&mut self) {
        // Without `release`, the mailbox is unchanged, and the error that caused the drop is reported.
        let _ = self.remove();
    }
}

/// The lock that another program holds.
enum HeldLock {
    /// The lock file.
    File,
    /// The lock of fcntl(2).
    Range,
}

fn lock_name(mailbox: &OsStr) -> OsString {
    let mut name = mailbox.to_owned();
    name.push(LOCK);
    name
}

/// Tries to lock the file with fcntl(2); returns true on success.
#[cfg(unix)]
fn lock_range(mailbox: &File) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    match fcntl_lock(mailbox, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) | Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn lock_range(_: &File) -> io::Result<bool> {
    Ok(true)
}
