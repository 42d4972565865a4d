//! The owners whose settings are read: the user, root and, under `sudo`, the user who called it.
//!
//! ```text
//! /tmp/baselink.toml, of another user   -->   belongs to another user (1001), so these settings are not read; …
//! ```
//!
//! baselink looks for a settings file in the folder of an input and all folders above it. Other users may be able to
//! put one there. So the file and its folder must belong to the user, to root or, under `sudo`, to the user who
//! called it. Git has the same rule for repositories (`safe.directory`).
//!
//! Deliberately absent: write permissions of other users, and owners on Windows.

use std::fs::File;
use std::path::Path;

use baselink::error::Result;

/// Allows reading the settings in `file`, which was found at `path`.
///
/// # Errors
///
/// The file or its folder belongs to another user. The message says how to read it anyway.
#[cfg(unix)]
pub(super) fn check(path: &Path, file: &File) -> Result<()> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use baselink::error::{Error, name};

    use crate::cli::request::folder_of;

    let failed = |error| Error::io(path, error);
    let user = rustix::process::geteuid().as_raw();
    let sudo = std::env::var("SUDO_UID").ok().and_then(|user| user.parse().ok());
    let of_file = file.metadata().map_err(failed)?.uid();
    let of_folder = fs::metadata(folder_of(path)).map_err(failed)?.uid();
    for (what, owner) in [("", of_file), ("its folder ", of_folder)] {
        if !is_trusted(owner, user, sudo) {
            let path = name(path);
            return Err(Error::new(format!(
                "{path}: {what}belongs to another user ({owner}), so these settings are not read; name them \
                 with --config {path}, or ignore them with --config none"
            )));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn check(_: &Path, _: &File) -> Result<()> {
    Ok(())
}

/// True if `user` reads settings of `owner`; `sudo` is the user who called `sudo`.
#[cfg(unix)]
fn is_trusted(owner: u32, user: u32, sudo: Option<u32>) -> bool {
    owner == user || owner == 0 || (user == 0 && Some(owner) == sudo)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_root_and_the_caller_of_sudo_are_trusted() {
        for (owner, user, sudo, expected) in [
            (1000, 1000, None, true),
            (0, 1000, None, true),
            (1001, 1000, None, false),
            (1001, 1000, Some(1001), false),
            (1000, 0, None, false),
            (1000, 0, Some(1000), true),
            (1001, 0, Some(1000), false),
            (0, 0, Some(1000), true),
        ] {
            assert_eq!(is_trusted(owner, user, sudo), expected, "{owner} {user} {sudo:?}");
        }
    }
}
