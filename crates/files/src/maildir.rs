//! NewContents of messages in a Maildir, which works like a delivery.
//!
//! ```text
//! cur/1700000000.M1P2.host,S=14,W=17:2,FS     the old message, 14 bytes with three line ends
//!   tmp/.baselink-…                           the new message is written and synced
//! cur/1700000000.M1P2.host,S=30,W=33:2,FS     the new message gets an unused name
//!   then the old message is removed
//! ```
//!
//! According to maildir(5) of qmail, a message is written to `tmp/` under a unique name and then moved to `new/` or
//! `cur/`. Any reader may remove files that have been in `tmp/` for 36 hours, so files of a killed run disappear by
//! themselves. According to <https://cr.yp.to/proto/maildir.html>, the unique name ends before the colon, and in
//! `cur/` the flags follow `:2,`.
//!
//! Dovecot's "Maildir Mailbox Format" (<https://doc.dovecot.org/main/core/config/mailbox/formats/maildir.html>)
//! puts two fields before the colon. `,S=` is the size of the file. `,W=` is its size with every line end as CR LF,
//! which IMAP calls `RFC822.SIZE`. The modification time of the file is the time of receipt.
//!
//! ```
//! use std::fs;
//! use baselink_files::maildir::is_message;
//! use baselink_files::write::{InPlace, Original};
//!
//! let folder = tempfile::tempdir()?;
//! for name in ["cur", "new", "tmp"] {
//!     fs::create_dir(folder.path().join(name))?;
//! }
//! let old = folder.path().join("cur/1.a.host,S=2,W=3:2,S");
//! fs::write(&old, "a\n")?;
//! assert!(is_message(&old));
//!
//! let mut message = InPlace::default().begin(&Original::of(&old)?)?;
//! message.write(|out| out.write_all(b"longer\n"))?;
//! assert_eq!(message.commit()?.path, folder.path().join("cur/1.a.host,S=7,W=8:2,S"));
//! assert!(!old.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The unique part of the name is kept, so a second run recognizes the files that a killed run wrote. If the name
//! contains no sizes, or they do not change, the new file replaces the old one. Mail readers that cached the old text
//! by name then show it until their cache expires.
//!
//! Deliberately absent: the replacement itself, which is in [`write`](mod@super::write), and the cache files of mail
//! readers (`dovecot-uidlist`, `maildirsize`). Readers find new names by themselves, and recompute a Maildir++ quota
//! from time to time.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::file::{folder_of, os_string};

/// True if `folder` is a Maildir: it has the folders `cur`, `new` and `tmp`.
pub fn is_maildir(folder: &Path) -> bool {
    ["cur", "new", "tmp"]
        .iter()
        .all(|name| folder.join(name).is_dir())
}

/// True if a file at `path` is a message of a Maildir: it is in `cur` or `new`, and its name does not begin with a
/// dot (maildir(5)).
pub fn is_message(path: &Path) -> bool {
    let hidden = path
        .file_name()
        .is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && maildir_of(path).is_some_and(|maildir| is_maildir(&maildir))
}

/// True if a file at `path` is being delivered: it is in the `tmp` of a Maildir (maildir(5)). Other programs must not
/// touch it.
pub fn is_delivery(path: &Path) -> bool {
    path.parent()
        .filter(|folder| folder.ends_with("tmp"))
        .and_then(Path::parent)
        .is_some_and(is_maildir)
}

/// The parent of the folder `cur` or `new` that contains the file at `path`; `None` if the file is in another folder.
fn maildir_of(path: &Path) -> Option<PathBuf> {
    let folder = match folder_of(path) {
        // The paths `1`, `./1` and `../cur/../1` do not contain the name of the folder.
        folder if folder.file_name().is_none() => fs::canonicalize(folder).ok()?,
        folder => folder.to_owned(),
    };
    let name = folder.file_name()?;
    // `cur/1` is below the current folder.
    (name == "cur" || name == "new").then(|| folder_of(&folder).to_owned())
}

/// The separators between name and flags on systems that do not allow colons in names.
const INFO: [&[u8]; 2] = [b";2,", b"!2,"];

/// `path`, with the sizes in its name replaced by those of the data that `write` writes. Sizes that the name lacks are
/// not added. On systems other than Unix, a name that is not Unicode is kept.
///
/// ```
/// use baselink_files::maildir::with_sizes_of;
/// let path = with_sizes_of("in/cur/1.a.host,S=2,W=3:2,S".as_ref(), |out| out.write_all(b"longer\n"));
/// assert_eq!(path?, std::path::Path::new("in/cur/1.a.host,S=7,W=8:2,S"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns the errors of `write`.
pub fn with_sizes_of(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let mut sizes = Sizes::default();
    write(&mut sizes)?;
    let name = path.file_name().and_then(|name| sizes.in_name(name));
    Ok(name.map_or_else(|| path.to_owned(), |name| path.with_file_name(name)))
}

/// The sizes of written data.
#[derive(Default)]
struct Sizes {
    size: u64,
    /// The size with every line end as CR LF.
    on_the_wire: u64,
    /// The last byte written.
    last: u8,
}

impl Sizes {
    /// `name`, with these sizes in the size fields that it has.
    fn in_name(&self, name: &OsStr) -> Option<OsString> {
        let bytes = name.as_encoded_bytes();
        let info = memchr::memchr(b':', bytes)
            .or_else(|| {
                INFO.iter()
                    .find_map(|part| bytes.windows(part.len()).rposition(|here| here == *part))
            })
            .unwrap_or(bytes.len());
        let (base, info) = bytes.split_at(info);
        let mut fields = base.split(|&byte| byte == b',');
        let mut new = fields.next().unwrap_or_default().to_vec();
        for field in fields {
            new.push(b',');
            match field {
                [b'S', b'=', size @ ..] if is_size(size) => write!(new, "S={}", self.size).ok()?,
                [b'W', b'=', size @ ..] if is_size(size) => {
                    write!(new, "W={}", self.on_the_wire).ok()?;
                }
                _ => new.extend(field),
            }
        }
        new.extend(info);
        os_string(new)
    }
}

fn is_size(digits: &[u8]) -> bool {
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

impl Write for Sizes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let before = |at: usize| if at == 0 { self.last } else { bytes[at - 1] };
        let bare = memchr::memchr_iter(b'\n', bytes)
            .filter(|&at| before(at) != b'\r')
            .count();
        self.size += bytes.len() as u64;
        self.on_the_wire += (bytes.len() + bare) as u64;
        self.last = bytes.last().copied().unwrap_or(self.last);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_size_on_the_wire_counts_line_ends_as_two() {
        // Three bare LF and one CR LF, split between CR and LF. A bare CR is not a line end.
        let mut sizes = Sizes::default();
        for part in [&b"a\n\nb\r"[..], b"", b"\nc\rd\n"] {
            sizes.write_all(part).unwrap();
        }
        assert_eq!((sizes.size, sizes.on_the_wire), (10, 13));
    }
}
