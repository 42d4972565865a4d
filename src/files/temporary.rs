//! The names of temporary files, and the removal of stale ones.
//!
//! ```text
//! .baselink-3f0k7q2m9xwa6trc   its program is running and holds a lock on the file
//! .baselink-b81z5n4vd0yh2gks   its program was killed, so the file is not locked, and the next run removes it
//! ```
//!
//! ```
//! use baselink_cli::files::write::is_temporary;
//! use std::ffi::OsStr;
//!
//! assert!(is_temporary(OsStr::new(".baselink-k2m9xwa6trc0")));
//! assert!(!is_temporary(OsStr::new(".baselink-notes")));
//! ```
//!
//! The last four characters are computed from the twelve before them, so that names chosen by other programs do not
//! match. The process that creates the file holds a lock on it (flock(2)), which the system releases when the process
//! ends. After locking, the process checks that the file still has its name, because another process may have removed
//! it as stale. A process holds the lock while it removes a file. If a file system has no locks, the name lacks
//! the check characters, and later runs never remove the file.
//!
//! The lock file of a mailbox (`all.mbox.lock`) has a conventional name; its last line shows that this program created
//! it.
//!
//! Deliberately absent: systems other than Unix, where nothing is removed, and network file systems that do not
//! share locks between machines. NFS shares them.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};
use std::path::Path;

use super::file::{TEMPORARY, folder_of, names_of};
use super::folder::OpenFolder;

/// The characters of random names: 32, without those that look like others.
const CHARACTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// The number of random characters.
const DRAWN: usize = 12;
/// The number of check characters.
const CHECK: usize = 4;

/// The random part of a name.
fn random_name() -> String {
    let drawn = RandomState::new().build_hasher().finish();
    characters(drawn, DRAWN)
}

/// The lowest bits of `number` as `count` characters.
fn characters(number: u64, count: usize) -> String {
    let digit = |at: usize| CHARACTERS[(number >> (5 * at)) as usize % CHARACTERS.len()];
    (0..count).map(digit).map(char::from).collect()
}

/// The check characters after `drawn` in the name of a locked file (64-bit FNV-1a).
fn check(drawn: &str) -> String {
    let hash = TEMPORARY
        .bytes()
        .chain(drawn.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3_u64)
        });
    characters(hash >> 32, CHECK)
}

/// True if `name`, a name without a folder, has the form of the random names of this and earlier versions.
#[must_use]
pub fn is_temporary(name: &OsStr) -> bool {
    let drawn = name.as_encoded_bytes().strip_prefix(TEMPORARY.as_bytes());
    drawn.is_some_and(|drawn| {
        [DRAWN, DRAWN + CHECK].contains(&drawn.len()) && drawn.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// True if `name` ends in matching check characters. The process that creates a file of such a name keeps it locked.
fn has_check_characters(name: &OsStr) -> bool {
    let drawn = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
    drawn
        .filter(|drawn| drawn.len() == DRAWN + CHECK)
        .is_some_and(|drawn| {
            drawn
                .split_at_checked(DRAWN)
                .is_some_and(|(drawn, end)| check(drawn) == end)
        })
}

/// Creates a temporary file in `folder` with these permission bits, reduced by the umask. Returns its name, the open
/// file and its metadata.
pub(super) fn create(folder: &OpenFolder, mode: u32) -> io::Result<(OsString, File, Metadata)> {
    let mut has_locks = true;
    loop {
        let drawn = random_name();
        let end = if has_locks {
            check(&drawn)
        } else {
            String::new()
        };
        let name = OsString::from(format!("{TEMPORARY}{drawn}{end}"));
        let file = match folder.create(&name, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        match if has_locks {
            hold(&file)
        } else {
            LockOutcome::Held
        } {
            LockOutcome::Held => {
                let metadata = file.metadata()?;
                if names_of(&metadata) > 0 {
                    return Ok((name, file, metadata));
                }
            }
            // Another process took the file for stale, and locked it before this one could.
            LockOutcome::Taken => {}
            LockOutcome::None => has_locks = false,
        }
        // The file may be gone already.
        let _ = folder.remove(&name);
    }
}

/// Creates a temporary folder in `around` that only its owner may use. Later runs never remove it. Returns its name, and
/// the open folder.
pub(super) fn create_folder(around: &OpenFolder) -> io::Result<(OsString, OpenFolder)> {
    loop {
        let name = OsString::from(format!("{TEMPORARY}{}", random_name()));
        match around.make(&name, 0o700) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                made?;
                let folder = around.below(Path::new(&name))?;
                return Ok((name, folder));
            }
        }
    }
}

/// Removes stale temporary files next to the files at these paths, and for messages also in the `tmp` of their
/// Maildir. Call this for individually named files; walks and mirrors clear their folders themselves.
pub fn remove_left_beside<'p>(paths: impl Iterator<Item = &'p Path>) {
    let folders: BTreeSet<_> = paths.map(folder_of).collect();
    for folder in folders
        .into_iter()
        .filter_map(|folder| OpenFolder::named(folder).ok())
    {
        remove_all_stale(&folder);
        if ["cur", "new"]
            .iter()
            .any(|name| folder.path().ends_with(name))
            && let Ok(tmp) = folder.beside("tmp".as_ref())
        {
            remove_all_stale(&tmp);
        }
    }
}

/// Removes all stale temporary files in `folder`.
pub(super) fn remove_all_stale(folder: &OpenFolder) {
    for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
        remove_stale(folder, &entry.file_name());
    }
}

/// Removes the file `name` of `folder` if it is a stale temporary file or a stale lock of a mailbox.
pub(super) fn remove_stale(folder: &OpenFolder, name: &OsStr) {
    let is_temporary = has_check_characters(name);
    if !is_temporary && !names_lock(name) {
        return;
    }
    let Ok(file) = folder.read(name) else { return };
    let is_free = (is_temporary || is_lock(&file)) && matches!(hold(&file), LockOutcome::Held);
    if is_free && matches!(folder.look(name, &file), Ok(Some(entry)) if entry.is_file()) {
        // A file that cannot be removed now is left to a later run.
        let _ = folder.remove(name);
    }
}

/// The suffix for the lock file of a mailbox.
pub(super) const LOCK: &str = ".lock";
/// The end of a lock file that this program creates, after the process id. procmail removes a stale lock file only if
/// it has at most 16 bytes. Process ids in Linux are at most 4194304, so these files do not exceed 16 bytes.
pub(super) const LOCK_END: &[u8] = b"\nbaselink";

/// True if a file of this name may be the lock file of a mailbox.
pub(super) fn names_lock(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(LOCK.as_bytes())
}

/// True if `file` is a lock file that this program created.
pub(super) fn is_lock(file: &File) -> bool {
    let mut text = Vec::new();
    let is_read = file.metadata().is_ok_and(|it| it.is_file())
        && file
            .take(LOCK_END.len() as u64 + 20)
            .read_to_end(&mut text)
            .is_ok();
    is_read && text.ends_with(LOCK_END)
}

/// The result of requesting the lock of a file.
pub(super) enum LockOutcome {
    /// This process holds the lock.
    Held,
    /// Another process holds the lock.
    #[cfg_attr(not(unix), expect(dead_code, reason = "nobody can hold it there"))]
    Taken,
    /// The file system has no locks.
    None,
}

/// Tries to lock `file` with flock(2), without waiting.
#[cfg(unix)]
pub(super) fn hold(file: &File) -> LockOutcome {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => LockOutcome::Held,
        Err(Errno::WOULDBLOCK) => LockOutcome::Taken,
        Err(_) => LockOutcome::None,
    }
}

#[cfg(not(unix))]
pub(super) fn hold(_: &File) -> LockOutcome {
    LockOutcome::None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn check_characters_match_only_generated_names() {
        let drawn = random_name();
        let name = format!("{TEMPORARY}{drawn}{}", check(&drawn));
        assert_eq!(name.len(), TEMPORARY.len() + 16);
        assert!(has_check_characters(OsStr::new(&name)));
        let mut other = name.clone().into_bytes();
        other[TEMPORARY.len()] = if other[TEMPORARY.len()] == b'0' {
            b'1'
        } else {
            b'0'
        };
        for other in [
            String::from_utf8(other).unwrap(),
            name[..name.len() - 1].to_owned(),
            format!("{name}x"),
            format!("{TEMPORARY}{drawn}"),
            format!("{TEMPORARY}notes"),
            TEMPORARY.to_owned(),
            "page.html".to_owned(),
            format!("{TEMPORARY}éééééééé"),
        ] {
            assert!(!has_check_characters(OsStr::new(&other)), "{other}");
        }
    }
}
