//! The locks that mail programs hold on a mailbox while they change it.
//!
//! ```text
//! all.mbox         no lock of fcntl(2)     locked
//! all.mbox.lock    is not there            "4711\nbaselink"
//! ```
//!
//! Debian Policy, 11.6, asks every program that writes to a mailbox for both, and some have one of them only. They are held
//! from the last look at the mailbox to the moment when the new one has its name, not while it is read: what
//! is delivered meanwhile is seen by that look. The lock file has the number of the process in its first line, by which
//! others see that a killed one has left it; a second line says who made it, so that the next run takes it away.
//!
//! Deliberately absent: removing what other programs left. Which of them waits how long is their affair.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::disk::New;
use super::file::{REPLACES_OPEN_FILES, not_written};
use super::folder::{NameInFolder, OpenFolder};
use super::temporary::{LOCK, LOCK_END, remove_left};
use crate::error::{Error, Result, cause, name};

/// The longest time that another program may hold a lock.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

/// The locks of a mailbox, until it is dropped.
#[derive(Debug)]
pub(super) struct MailboxLock {
    file: New,
    name: OsString,
    folder: Arc<OpenFolder>,
    is_removed: bool,
    /// Its lock of fcntl(2) ends with it.
    mailbox: Option<File>,
}

impl MailboxLock {
    /// Takes the locks of the mailbox at `place`, to which `path` leads, and waits for them.
    ///
    /// # Errors
    ///
    /// Another program holds one; the lock file cannot be made.
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
                        "another program holds its lock {0}; it was left as it is. If no program delivers or changes \
                         mail there, delete {0}",
                        name(Path::new(&lock_name(&place.name)))
                    ),
                    HeldLock::Range => {
                        "another program has locked it; it was left as it is".to_owned()
                    }
                };
                return Err(Error::file(path, &why));
            }
            thread::sleep(PAUSE);
        }
    }

    fn take(place: &NameInFolder) -> io::Result<std::result::Result<Self, HeldLock>> {
        let NameInFolder { folder, name } = place;
        let mut file = New::within(folder, 0o644)?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        file.write_all(LOCK_END)?;
        let lock = lock_name(name);
        match file.name(folder, &lock) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                remove_left(folder, &lock);
                return Ok(Err(HeldLock::File));
            }
            named => named?,
        }
        // From here on it is removed, whatever fails.
        let folder = Arc::clone(folder);
        let mut lock = Self { file, name: lock, folder, is_removed: false, mailbox: None };
        let mailbox = place.folder.write(name)?;
        if !lock_range(&mailbox)? {
            return Ok(Err(HeldLock::Range));
        }
        lock.mailbox = REPLACES_OPEN_FILES.then_some(mailbox);
        Ok(Ok(lock))
    }

    /// Lets other programs have the mailbox at `path`, which is new by now.
    ///
    /// # Errors
    ///
    /// The lock file cannot be removed.
    pub(super) fn release(mut self, path: &Path) -> Result<()> {
        self.remove().map_err(|error| {
            let (mailbox, lock) = (name(path), name(Path::new(&self.name)));
            let why = cause(&error);
            let why = format!("{mailbox} is new, but its lock {lock} could not be removed: {why}");
            Error::system(why, error)
        })
    }

    fn remove(&mut self) -> io::Result<()> {
        // Somebody who lost patience may have removed it, and made another.
        let is_there = !std::mem::replace(&mut self.is_removed, true)
            && matches!(self.folder.look(&self.name, self.file.file()), Ok(Some(_)));
        if is_there { self.folder.remove(&self.name) } else { Ok(()) }
    }
}

impl Drop for MailboxLock {
    fn drop(&mut self) {
        // The mailbox is as it was, and the error says so.
        let _ = self.remove();
    }
}

/// Which lock another program holds.
enum HeldLock {
    File,
    Range,
}

fn lock_name(mailbox: &OsStr) -> OsString {
    let mut name = mailbox.to_owned();
    name.push(LOCK);
    name
}

/// Locks the file as fcntl(2) does, if nobody else has; whether nobody has.
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
