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
//! use baselink::files::maildir::{Delivery, is_message};
//! use baselink::files::write::Original;
//!
//! let folder = tempfile::tempdir()?;
//! for name in ["cur", "new", "tmp"] {
//!     fs::create_dir(folder.path().join(name))?;
//! }
//! let old = folder.path().join("cur/1.a.host,S=2,W=3:2,S");
//! fs::write(&old, "a\n")?;
//! assert!(is_message(&old));
//!
//! let mut delivery = Delivery::begin(&Original::of(&old)?)?;
//! delivery.write(|out| out.write_all(b"longer\n"))?;
//! let delivered = delivery.commit()?;
//! assert_eq!(delivered.path, folder.path().join("cur/1.a.host,S=7,W=8:2,S"));
//! assert!(!old.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The unique part of the name stays, so that a second run finds what a killed one did: a message that
//! is there under both names, with the bytes that it would get, has its old file removed and is not
//! written again. Where the name has no sizes, or the same, the new file takes the place of the old one
//! under it, and what a reader has kept of the old text by that name stays until it looks again. A message keeps its permission bits, owner and extended attributes as a file in place does,
//! and always its times. Hard links are no reason to leave it: readers copy messages by linking them,
//! and the other names keep the old bytes.
//!
//! Deliberately absent: the files in which readers keep what they know of a Maildir (`dovecot-uidlist`,
//! `maildirsize`). They find a new name by themselves, and count a Maildir++ quota again in time.
//! Backups: to every reader they would be messages.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Folders, New, PRIVATE, at_once, sync_bytes};
use super::file::{EntryKind, not_written, os_string, refused};
use super::folder::{NameInFolder, OpenFolder};
use super::write::{Lost, Original, symbolic_link, unsynced};
use crate::error::{Error, Result, cause, name};

/// Whether `folder` is a Maildir: it has the folders `cur`, `new` and `tmp`.
#[must_use]
pub fn is_maildir(folder: &Path) -> bool {
    ["cur", "new", "tmp"].iter().all(|name| folder.join(name).is_dir())
}

/// Whether a file at `path` is a message of a Maildir: it is in `cur` or `new`, and its name does not
/// begin with a dot (maildir(5)).
#[must_use]
pub fn is_message(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && maildir_of(path).is_some_and(|maildir| is_maildir(&maildir))
}

/// Whether a file at `path` is being delivered: it is in the `tmp` of a Maildir (maildir(5)). Whoever writes it there must find
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

/// The name of a message, cut up.
///
/// ```
/// use baselink::files::maildir::MessageName;
/// let name = MessageName::of("1.a.host,S=14,W=17:2,FS".as_ref());
/// assert_eq!((name.unique, name.flags), (&b"1.a.host"[..], &b"FS"[..]));
/// assert_eq!((name.size, name.size_on_the_wire), (Some(14), Some(17)));
/// assert_eq!(name.with_sizes(30, 33).unwrap(), "1.a.host,S=30,W=33:2,FS");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageName<'a> {
    /// What is before the first comma or colon, in the bytes of the name.
    pub unique: &'a [u8],
    /// What `,S=` says: how many bytes the message has.
    pub size: Option<u64>,
    /// What `,W=` says: how many it has with every line end as CR LF.
    pub size_on_the_wire: Option<u64>,
    /// What follows `:2,`; empty for a message in `new`.
    pub flags: &'a [u8],
    fields: &'a [u8],
    info: &'a [u8],
}

/// The separator of a name and its flags, where a colon cannot be in a name too.
const INFO: [&[u8]; 2] = [b";2,", b"!2,"];

impl<'a> MessageName<'a> {
    /// Cuts up the name of a file, without its folder. Every name is one.
    #[must_use]
    pub fn of(name: &'a OsStr) -> Self {
        let bytes = name.as_encoded_bytes();
        let find = |part: &[u8]| bytes.windows(part.len()).rposition(|here| here == part);
        let info = memchr::memchr(b':', bytes)
            .or_else(|| INFO.iter().find_map(|part| find(part)))
            .unwrap_or(bytes.len());
        let (base, info) = bytes.split_at(info);
        let (unique, fields) = base.split_at(memchr::memchr(b',', base).unwrap_or(base.len()));
        let field = |letter: u8| {
            fields.split(|&byte| byte == b',').find_map(|field| size_in(field, letter))
        };
        Self {
            unique,
            size: field(b'S'),
            size_on_the_wire: field(b'W'),
            flags: info.get(1..).and_then(|info| info.strip_prefix(b"2,")).unwrap_or_default(),
            fields,
            info,
        }
    }

    /// The same name for a message of other sizes. A field that is not there is not added. Off Unix
    /// there is no such name where the old one is no Unicode text.
    #[must_use]
    pub fn with_sizes(&self, size: u64, on_the_wire: u64) -> Option<OsString> {
        let mut name = self.unique.to_vec();
        // What is split off before the first comma is nothing.
        for field in self.fields.split(|&byte| byte == b',').skip(1) {
            name.push(b',');
            match (size_in(field, b'S'), size_in(field, b'W')) {
                (Some(_), _) => name.extend(format!("S={size}").bytes()),
                (_, Some(_)) => name.extend(format!("W={on_the_wire}").bytes()),
                _ => name.extend(field),
            }
        }
        name.extend(self.info);
        os_string(name)
    }
}

fn size_in(field: &[u8], letter: u8) -> Option<u64> {
    let digits = field.strip_prefix(&[letter, b'='])?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // A number that is too large is a size all the same, and a wrong one.
    (!digits.is_empty()).then(|| {
        std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX)
    })
}

/// `path`, where a message is or is to be, with the sizes in its name that it has after what `write`
/// writes. For a message that goes to another folder, whose name must be right when it is begun.
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
/// What `write` returns.
pub fn with_sizes_of(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let mut counted = Counted::new(io::sink());
    write(&mut counted)?;
    Ok(counted.name_like(path))
}

/// A message on its way to its folder. Dropped before [`Delivery::commit`], it leaves no file.
#[derive(Debug)]
pub struct Delivery {
    old: Original,
    new: Counted<BufWriter<New>>,
}

/// A message that is where it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Where.
    pub path: PathBuf,
    /// What it could not be given of the old file.
    pub lost: Vec<Lost>,
    /// Whether another program removed the old file meanwhile, gave it another name, or changed it or put
    /// another under its name, which is then left: the message may be there twice.
    pub may_be_twice: bool,
}

impl Delivery {
    /// Begins to write what is to replace the message `old`.
    ///
    /// # Errors
    ///
    /// A file that is no message of a Maildir, one that may not be written, one that was changed since
    /// [`Original::of`]; a `tmp` that is a symbolic link or cannot be written to.
    pub fn begin(old: &Original) -> Result<Self> {
        let path = old.path();
        let maildir = maildir_of(path).filter(|_| is_message(path));
        let Some(maildir) = maildir else {
            return Err(Error::file(path, "not a message of a Maildir"));
        };
        old.unchanged()?;
        old.writable()?;
        let tmp = old.place().folder.beside("tmp".as_ref()).map_err(|error| {
            let tmp = maildir.join("tmp");
            if tmp.is_symlink() { symbolic_link(&tmp) } else { not_written(path, error) }
        })?;
        let new = New::within(&Arc::new(tmp), PRIVATE);
        let new = new.map_err(|error| not_written(path, error))?;
        Ok(Self { old: old.clone(), new: Counted::new(BufWriter::new(new)) })
    }

    /// Adds what `write` writes.
    ///
    /// # Errors
    ///
    /// What `write` returns, or the system. The delivery is then to be dropped.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        write(&mut self.new).map_err(|error| not_written(self.old.path(), error))
    }

    /// Gives the message its name, and removes the old file.
    ///
    /// # Errors
    ///
    /// The old message is as it was: the disk is full; it was changed meanwhile; another file has the
    /// name that the new one should have. Where the old file could not be removed, the message is there
    /// twice, and the sentence says so.
    pub fn commit(self) -> Result<Delivered> {
        let none = || Err(Error::new("no message"));
        commit_all(vec![self]).pop().unwrap_or_else(none)
    }

    fn complete(self) -> Result<CompleteDelivery> {
        let Self { old, new } = self;
        let failed = |error: io::Error| not_written(old.path(), error);
        let path = new.name_like(old.path());
        let new = new.out.into_inner().map_err(|error| failed(error.into_error()))?;
        let lost = old.given_to(new.file(), true).map_err(failed)?;
        Ok(CompleteDelivery {
            old,
            new: Some(new),
            to: Delivered { path, lost, may_be_twice: false },
        })
    }
}

/// Gives several messages their names as [`Delivery::commit`] does, each for itself, and with few
/// waits for the disk ([`write::commit_all`](super::write::commit_all)). Results are in the order of
/// the messages.
#[must_use]
pub fn commit_all(deliveries: Vec<Delivery>) -> Vec<Result<Delivered>> {
    let mut messages: Vec<_> = deliveries.into_iter().map(Delivery::complete).collect();
    sync_bytes(&mut messages, |message| Some(message.old.path()).zip(message.new.as_ref()));
    at_once(&mut messages, CompleteDelivery::rename);
    // An old name must not be gone before the new one is on the disk.
    let folders = Folders::sync(messages.iter().flatten().map(CompleteDelivery::folder));
    at_once(&mut messages, |message| match folders.failure(message.folder()) {
        Some(why) => Err(unsynced(&message.to.path, why)),
        None => message.remove_old(),
    });
    messages.into_iter().map(|message| message.map(|message| message.to)).collect()
}

/// A message that has all it gets but its name.
struct CompleteDelivery {
    old: Original,
    new: Option<New>,
    to: Delivered,
}

impl CompleteDelivery {
    fn folder(&self) -> &OpenFolder {
        &self.old.place().folder
    }

    /// The name that the message gets.
    fn name(&self) -> &OsStr {
        self.to.path.file_name().unwrap_or_default()
    }

    fn rename(mut self) -> Result<Self> {
        let (old, to) = (self.old.path(), &self.to.path);
        let failed = |error: io::Error| not_written(old, error);
        let Some(mut new) = self.new.take() else { return Ok(self) };
        if old == to {
            let replace = || new.replace(self.folder(), self.name());
            self.old.unnamed_by(replace)?.map_err(failed)?;
            return Ok(self);
        }
        self.old.unchanged()?;
        match new.name(self.folder(), self.name()) {
            Ok(()) => Ok(self),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if has_the_bytes_of(self.folder(), self.name(), new.file()).map_err(failed)? {
                    return Ok(self);
                }
                let why = format!("{}: another file has that name", name(to));
                Err(refused(old, &why))
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn remove_old(mut self) -> Result<Self> {
        let (old, to) = (self.old.path(), &mut self.to);
        if old == to.path {
            return Ok(self);
        }
        let NameInFolder { folder, name: old_name } = self.old.place();
        match self.old.unnamed_by(|| folder.remove(old_name)) {
            Ok(Ok(())) => {}
            // An edited message that came under the old name is somebody's only copy.
            Err(_) => to.may_be_twice = true,
            Ok(Err(error)) if error.kind() == ErrorKind::NotFound => to.may_be_twice = true,
            Ok(Err(error)) => {
                let (old, new, why) = (name(old), name(&to.path), cause(&error));
                let why = format!("{old} could not be removed: {why}; the new message is {new}");
                return Err(Error::system(why, error));
            }
        }
        Ok(self)
    }
}

/// Whether the file `name`, and no symbolic link, has the bytes of `other`.
fn has_the_bytes_of(folder: &OpenFolder, name: &OsStr, mut other: &File) -> io::Result<bool> {
    if folder.there(name)?.is_none_or(|there| there.kind != EntryKind::File) {
        return Ok(false);
    }
    let mut one = folder.read(name)?;
    let (there, made) = (one.metadata()?, other.metadata()?);
    if !there.is_file() || there.len() != made.len() {
        return Ok(false);
    }
    other.rewind()?;
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = one.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        other.read_exact(&mut right[..read])?;
        if left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

/// Counts what is written.
#[derive(Debug)]
struct Counted<W> {
    out: W,
    size: u64,
    /// With every line end as CR LF.
    on_the_wire: u64,
    last: u8,
}

impl<W> Counted<W> {
    fn new(out: W) -> Self {
        Self { out, size: 0, on_the_wire: 0, last: 0 }
    }

    /// `path` with these sizes in its name.
    fn name_like(&self, path: &Path) -> PathBuf {
        let name = path.file_name().map(MessageName::of);
        match name.and_then(|name| name.with_sizes(self.size, self.on_the_wire)) {
            Some(name) => path.with_file_name(name),
            None => path.to_owned(),
        }
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let bytes = &bytes[..written];
        let before = |at: usize| if at == 0 { self.last } else { bytes[at - 1] };
        let bare = memchr::memchr_iter(b'\n', bytes).filter(|&at| before(at) != b'\r').count();
        self.size += written as u64;
        self.on_the_wire += (written + bare) as u64;
        self.last = bytes.last().copied().unwrap_or(self.last);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_size_on_the_wire_counts_line_ends_as_two() {
        // Three bare LF and one CR LF, cut between CR and LF; a bare CR is no line end.
        let mut counted = Counted::new(Vec::new());
        for part in [&b"a\n\nb\r"[..], b"", b"\nc\rd\n"] {
            counted.write_all(part).unwrap();
        }
        assert_eq!((counted.size, counted.on_the_wire), (10, 13));
    }

    #[test]
    fn what_comes_under_the_old_name_before_it_is_removed_is_left() {
        type Change = fn(&Path);
        let changes: [(Change, Option<&str>); 3] = [
            (
                |old| {
                    let edited = old.with_file_name("edited");
                    fs::write(&edited, "edited").unwrap();
                    fs::rename(edited, old).unwrap();
                },
                Some("edited"),
            ),
            (|old| fs::write(old, "longer").unwrap(), Some("longer")),
            (|old| fs::remove_file(old).unwrap(), None),
        ];
        for (change, left) in changes {
            let folder = tempfile::tempdir().unwrap();
            for name in ["cur", "new", "tmp"] {
                fs::create_dir(folder.path().join(name)).unwrap();
            }
            let old = folder.path().join("cur/1.h,S=3:2,S");
            fs::write(&old, "old").unwrap();
            let mut new = Delivery::begin(&Original::of(&old).unwrap()).unwrap();
            new.write(|out| out.write_all(b"new\n")).unwrap();
            let named = new.complete().unwrap().rename().unwrap();
            change(&old);
            let done = named.remove_old().unwrap().to;
            assert!(done.may_be_twice);
            assert_eq!(fs::read(done.path).unwrap(), b"new\n");
            assert_eq!(fs::read_to_string(&old).ok().as_deref(), left);
        }
    }
}
