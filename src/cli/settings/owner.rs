//! Whose settings are read: those that the user, or the administrator, has put there.
//!
//! ```text
//! /tmp/baselink.toml, of somebody else   -->   belongs to another user (1001), and is not read; …
//! ```
//!
//! A settings file is looked for in folders above, and in them everybody may be able to put one. Its owner and that of its
//! folder have to be the user, root or, where root works for a user by `sudo`, that user, as with `safe.directory` of git.
//!
//! Deliberately absent: who else may write to them, and owners on Windows.

use std::fs::File;
use std::path::Path;

use baselink::error::Result;

/// Whether the settings in `file`, which was found as `path`, may be read.
///
/// # Errors
///
/// They, or their folder, are of somebody else. The sentence says how to read them all the same.
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

/// Whether `user`, for whom `sudo` may name another, reads settings of `owner`.
#[cfg(unix)]
fn is_trusted(owner: u32, user: u32, sudo: Option<u32>) -> bool {
    owner == user || owner == 0 || (user == 0 && Some(owner) == sudo)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_and_root_and_who_called_sudo_are_trusted() {
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
