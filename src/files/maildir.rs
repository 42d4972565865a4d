//! Messages of a Maildir, replaced in the way of those who deliver them.
//!
//! ```text
//! cur/1700000000.M1P2.host,S=14,W=17:2,FS     the old message, 14 bytes with three line ends
//!   tmp/.baselink-…                           the new one is written, and synced
//! cur/1700000000.M1P2.host,S=30,W=33:2,FS     it gets its name, which nothing had before
//!   then the old one goes
//! ```
//!
//! maildir(5) of qmail: a message is written to `tmp/` under a name of its own and goes from there to
//! `new/` or `cur/`, whole; what has been in `tmp/` for 36 hours may be removed by any reader, so what a
//! killed run leaves there goes by itself. <https://cr.yp.to/proto/maildir.html>: the unique name ends
//! before the colon, and in `cur/` the flags follow `:2,`. Dovecot's "Maildir Mailbox Format"
//! (<https://doc.dovecot.org/main/core/config/mailbox/formats/maildir.html>): the fields `,S=` (the size
//! of the file) and `,W=` (the same with every line end as CR LF, the `RFC822.SIZE` of IMAP) stand
//! before the colon, and the time of the file is when the message was received.
//!
//! ```
//! use std::fs;
//! use baselink::files::maildir::is_message;
//! use baselink::files::write::{InPlace, Original};
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
//! The unique part of the name stays, so that a second run finds what a killed one did. Where the name has no sizes, or the
//! same, the new file takes the place of the old one under it, and what a reader has kept of the old text by that name stays
//! until it looks again.
//!
//! Deliberately absent: how a message is replaced, which [`write`](mod@super::write) knows; the files in which readers keep
//! what they know of a Maildir (`dovecot-uidlist`, `maildirsize`). They find a new name by themselves, and count a Maildir++
//! quota again in time.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::file::os_string;

/// True if `folder` is a Maildir: it has the folders `cur`, `new` and `tmp`.
#[must_use]
pub fn is_maildir(folder: &Path) -> bool {
    ["cur", "new", "tmp"].iter().all(|name| folder.join(name).is_dir())
}

/// True if a file at `path` is a message of a Maildir: it is in `cur` or `new`, and its name does not
/// begin with a dot (maildir(5)).
#[must_use]
pub fn is_message(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && maildir_of(path).is_some_and(|maildir| is_maildir(&maildir))
}

/// True if a file at `path` is being delivered: it is in the `tmp` of a Maildir (maildir(5)). Whoever writes it there must find
/// it there.
#[must_use]
pub fn is_delivery(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| folder.ends_with("tmp"));
    folder.and_then(Path::parent).is_some_and(is_maildir)
}

/// The folder around `cur` or `new`, in which the file at `path` lies.
fn maildir_of(path: &Path) -> Option<PathBuf> {
    let folder = match path.parent()? {
        // Of `1`, `./1` and `../cur/../1` the path does not say how the folder is called.
        folder if folder.file_name().is_none() => {
            let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            fs::canonicalize(here).ok()?
        }
        folder => folder.to_owned(),
    };
    let name = folder.file_name()?;
    if name != "cur" && name != "new" {
        return None;
    }
    match folder.parent()? {
        // `cur/1` is in the current folder.
        above if above.as_os_str().is_empty() => Some(".".into()),
        above => Some(above.to_owned()),
    }
}

/// The separator of a name and its flags, where a colon cannot be in a name too.
const INFO: [&[u8]; 2] = [b";2,", b"!2,"];

/// `path`, where a message is or is to be, with the sizes in its name that it has after what `write`
/// writes. A size that the name does not have is not added. Off Unix the name stays where it is no Unicode text.
///
/// ```
/// use baselink::files::maildir::with_sizes_of;
/// let path = with_sizes_of("in/cur/1.a.host,S=2,W=3:2,S".as_ref(), |out| out.write_all(b"longer\n"));
/// assert_eq!(path?, std::path::Path::new("in/cur/1.a.host,S=7,W=8:2,S"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The errors of `write`.
pub fn with_sizes_of(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let mut sizes = Sizes::default();
    write(&mut sizes)?;
    let name = path.file_name().and_then(|name| sizes.in_name(name));
    Ok(name.map_or_else(|| path.to_owned(), |name| path.with_file_name(name)))
}

/// The sizes of what is written.
#[derive(Default)]
struct Sizes {
    size: u64,
    /// With every line end as CR LF.
    on_the_wire: u64,
    last: u8,
}

impl Sizes {
    /// The name of a message with these sizes in the fields that it has.
    fn in_name(&self, name: &OsStr) -> Option<OsString> {
        let bytes = name.as_encoded_bytes();
        let find = |part: &[u8]| bytes.windows(part.len()).rposition(|here| here == part);
        let info = memchr::memchr(b':', bytes)
            .or_else(|| INFO.iter().find_map(|part| find(part)))
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
        let bare = memchr::memchr_iter(b'\n', bytes).filter(|&at| before(at) != b'\r').count();
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
        // Three bare LF and one CR LF, cut between CR and LF; a bare CR is no line end.
        let mut sizes = Sizes::default();
        for part in [&b"a\n\nb\r"[..], b"", b"\nc\rd\n"] {
            sizes.write_all(part).unwrap();
        }
        assert_eq!((sizes.size, sizes.on_the_wire), (10, 13));
    }
}
