//! A folder written from another one, and nothing outside it.
//!
//! ```text
//! in/a/b.html  -->  out/a/b.html       folders as needed
//! in/a/c.png   -->  out/a/c.png        copied
//! ../b.html    -->  refused            and so is out/a, where it is a symbolic link
//! ```
//!
//! ```
//! use std::fs;
//! use baselink::tree::mirror::Mirror;
//!
//! let folder = tempfile::tempdir()?;
//! let (input, out) = (folder.path().join("in"), folder.path().join("out"));
//! fs::create_dir(&input)?;
//! fs::write(input.join("b.html"), "<a href=x>")?;
//!
//! let mirror = Mirror::new(&out)?;
//! assert!(mirror.conflicts_with(&input)?.is_none());
//! let mut page = mirror.begin(&input.join("b.html"), "a/b.html".as_ref())?;
//! page.write(|out| out.write_all(b"<a href=http://a/x>"))?;
//! page.commit()?;
//! assert_eq!(fs::read(out.join("a/b.html"))?, b"<a href=http://a/x>");
//! assert!(mirror.begin(&input.join("b.html"), "../b.html".as_ref()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file that is there from an earlier run is replaced, whole or not at all, and synced; a new one is
//! not synced, as with any program that copies: what it was made of is still there. (What a network
//! file system finds wrong only when a file is closed is therefore not seen for a new one.) Permission bits are
//! those of the input (without the bits that lend its owner's rights), whatever the umask.
//!
//! Every folder on the way, the output folder among them, is looked at before each file. Somebody who
//! may write to the output folder *while* it is written can still put a symbolic link in a folder's
//! place between that look and the opening of the temporary file in it: the standard library opens
//! files by path.
//!
//! Deliberately absent: the permission bits, times and owners of folders; symbolic links, devices and
//! pipes of the input; times of files.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::write::{Replacement, identity, not_written, standing, symbolic_link};
use crate::error::{Error, Result, cause, name};

/// An output folder. Several threads may write to it.
#[derive(Debug)]
pub struct Mirror {
    out: PathBuf,
    /// The same without symbolic links and `..`.
    real: PathBuf,
    taken: Mutex<Taken>,
}

/// What this run has written.
#[derive(Debug, Default)]
struct Taken {
    /// The input of each output.
    inputs: HashMap<PathBuf, PathBuf>,
    /// The files themselves, for file systems to which several names are one.
    files: HashSet<(u64, u64)>,
}

impl Mirror {
    /// A mirror below the folder `out`, which is made with the first file if it is not there. The
    /// folder that holds it must be.
    ///
    /// # Errors
    ///
    /// A symbolic link or a file of that name; no folder to make it in.
    pub fn new(out: &Path) -> Result<Self> {
        // Without a last separator, behind which a symbolic link would look like a folder.
        let out: PathBuf = out.components().collect();
        let unusable = |path: &Path, error: &io::Error| match error.kind() {
            ErrorKind::NotFound => {
                let folder = name(super::write::folder_of(path));
                Error::new(format!("{}: there is no folder {folder}", name(path)))
            }
            _ => Error::new(format!("{}: {}", name(path), cause(error))),
        };
        let real = match is_folder(&out)? {
            true => fs::canonicalize(&out).map_err(|error| unusable(&out, &error))?,
            false => {
                let folder = fs::canonicalize(super::write::folder_of(&out))
                    .map_err(|error| unusable(&out, &error))?;
                let Some(last) = out.file_name() else {
                    return Err(unusable(&out, &ErrorKind::NotFound.into()));
                };
                folder.join(last)
            }
        };
        Ok(Self { out, real, taken: Mutex::default() })
    }

    /// Why `root`, a folder or file that is read, and this folder cannot be used together: one is the
    /// other, or in it. To be asked before the first file is written, of every root; and, where
    /// symbolic links are followed, of what each leads to.
    ///
    /// # Errors
    ///
    /// `root` cannot be found.
    pub fn conflicts_with(&self, root: &Path) -> Result<Option<Error>> {
        let real = fs::canonicalize(root)
            .map_err(|error| Error::new(format!("{}: {}", name(root), cause(&error))))?;
        let (out, root) = (name(&self.out), name(root));
        let sentence = match (is_within(&self.real, &real), is_within(&real, &self.real)) {
            (false, false) => return Ok(None),
            (true, true) => format!("{out}: the output folder is the input itself"),
            (true, false) => format!("{out}: the output folder is in the input {root}"),
            (false, true) => format!("{out}: the output folder holds the input {root}"),
        };
        Ok(Some(Error::new(format!("{sentence}; name another, or use --in-place"))))
    }

    /// Begins to write what is made of the file `input`, at `relative` below this folder. Folders are
    /// made as needed.
    ///
    /// # Errors
    ///
    /// A `relative` that leads elsewhere; a symbolic link or anything but a folder on its way; anything
    /// but a file at its end, or a read-only one; another input with the same output.
    pub fn begin(&self, input: &Path, relative: &Path) -> Result<Replacement> {
        let read = fs::metadata(input)
            .map_err(|error| Error::new(format!("{}: {}", name(input), cause(&error))))?;
        self.place(input, relative, lent(&read))
    }

    /// Copies the file `input` to `relative` below this folder, bytes and permission bits. Symbolic
    /// links that lead to `input` are followed; those of the output never. Where the file system can
    /// share bytes between files and the system does so by itself, they are shared.
    ///
    /// # Errors
    ///
    /// Those of [`Mirror::begin`]; an `input` that is no regular file or cannot be read.
    pub fn copy(&self, input: &Path, relative: &Path) -> Result<()> {
        let unread = |error: io::Error| Error::new(format!("{}: {}", name(input), cause(&error)));
        // To open a pipe is to wait for its other end.
        if !fs::metadata(input).map_err(unread)?.is_file() {
            return Err(Error::new(format!("{}: not a regular file", name(input))));
        }
        let mut from = File::open(input).map_err(unread)?;
        let permissions = lent(&from.metadata().map_err(unread)?);
        let copy = self.place(input, relative, permissions)?;
        io::copy(&mut from, &mut copy.file())
            .map_err(|error| not_written(&self.out.join(relative), &error))?;
        copy.commit().map(drop)
    }

    /// Makes the folder `relative` below this folder, where it is not there yet, and all that hold it;
    /// an empty path is this folder itself.
    ///
    /// # Errors
    ///
    /// A `relative` that leads elsewhere; a symbolic link or anything but a folder on its way.
    pub fn folder(&self, relative: &Path) -> Result<PathBuf> {
        let mut folder = self.out.clone();
        let below = relative.components().map(|component| match component {
            Component::Normal(name) if !name.as_encoded_bytes().contains(&0) => Ok(name),
            _ => Err(self.outside(relative)),
        });
        let below = below.collect::<Result<Vec<_>>>()?;
        let mut below = below.into_iter();
        loop {
            if !is_folder(&folder)? {
                match fs::create_dir(&folder) {
                    // Another thread was faster, or somebody: then it is looked at again.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        is_folder(&folder)?;
                    }
                    made => made.map_err(|error| not_written(&folder, &error))?,
                }
            }
            match below.next() {
                Some(next) => folder.push(next),
                None => return Ok(folder),
            }
        }
    }

    fn place(&self, input: &Path, relative: &Path, bits: Permissions) -> Result<Replacement> {
        let (Some(last), Some(above)) = (relative.file_name(), relative.parent()) else {
            return Err(self.outside(relative));
        };
        if last.as_encoded_bytes().contains(&0) {
            return Err(self.outside(relative));
        }
        let path = self.folder(above)?.join(last);
        self.take(input, &path)?;
        if let Some(there) = standing(&path)? {
            if there.is_symlink() {
                return Err(symbolic_link(&path));
            }
            if !there.is_file() {
                return Err(Error::new(format!("{}: not a regular file", name(&path))));
            }
            if identity(&there).is_some_and(|file| self.taken().files.contains(&file)) {
                let why = "another input was written there, under a name that is the same to this \
                           file system";
                return Err(Error::new(format!("{}: {why}", name(&path))));
            }
        }
        let replacement = Replacement::with_permissions(&path, bits)?;
        let made = replacement.file().metadata().map_err(|error| not_written(&path, &error))?;
        self.taken().files.extend(identity(&made));
        Ok(replacement)
    }

    /// Takes in that `path` is made of `input`.
    fn take(&self, input: &Path, path: &Path) -> Result<()> {
        let mut taken = self.taken();
        if let Some(other) = taken.inputs.get(path) {
            let (path, other, input) = (name(path), name(other), name(input));
            let why = format!("{path} would be written from {input}, and was from {other} already");
            return Err(Error::new(why));
        }
        taken.inputs.insert(path.to_owned(), input.to_owned());
        Ok(())
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outside(&self, relative: &Path) -> Error {
        let (out, relative) = (name(&self.out), name(relative));
        Error::new(format!("'{relative}' is no name inside the output folder {out}"))
    }
}

/// Whether there is a folder at `path`, or nothing.
fn is_folder(path: &Path) -> Result<bool> {
    match standing(path)? {
        None => Ok(false),
        Some(there) if there.is_dir() => Ok(true),
        Some(there) if there.is_symlink() => Err(symbolic_link(path)),
        Some(_) => Err(Error::new(format!("{}: not a folder", name(path)))),
    }
}

/// Whether `path` is `folder` or in it, both without symbolic links. Files are compared, not only
/// names: a folder may be there twice.
fn is_within(path: &Path, folder: &Path) -> bool {
    let of = |path: &Path| fs::metadata(path).ok().as_ref().and_then(identity);
    let file = of(folder);
    path.ancestors().any(|above| above == folder || (file.is_some() && of(above) == file))
}

/// The permission bits of a file, without those that lend the rights of its owner.
#[cfg(unix)]
fn lent(metadata: &Metadata) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(metadata.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn lent(metadata: &Metadata) -> Permissions {
    metadata.permissions()
}
