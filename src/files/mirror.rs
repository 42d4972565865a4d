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
//! use baselink::files::mirror::Mirror;
//!
//! let folder = tempfile::tempdir()?;
//! let (input, out) = (folder.path().join("in"), folder.path().join("out"));
//! fs::create_dir(&input)?;
//! fs::write(input.join("b.html"), "<a href=x>")?;
//!
//! let mirror = Mirror::new(&out)?;
//! assert!(mirror.conflicts_with(&input)?.is_none());
//! let mut page = mirror.begin(&input.join("b.html"), "a/b.html".as_ref(), None)?;
//! page.write(|out| out.write_all(b"<a href=http://a/x>"))?;
//! page.commit()?;
//! assert_eq!(fs::read(out.join("a/b.html"))?, b"<a href=http://a/x>");
//! assert!(mirror.begin(&input.join("b.html"), "../b.html".as_ref(), None).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file that is there from an earlier run is replaced, whole or not at all, and synced; a new one is
//! not synced, as with any program that copies: what it was made of is still there. (What a network
//! file system finds wrong only when a file is closed is therefore not seen for a new one.)
//!
//! A read-only file that is there is replaced where its input is read-only as well: so an earlier run
//! leaves it. Any other read-only file says that it is not to be written.
//!
//! Permission bits are those that `cp -r` gives: the input's, less those of the umask, and without the
//! bits that lend its owner's rights. A folder gets those of the folder that the input is in, and its owner may
//! always read, write and enter it. Times are those of the input on request.
//!
//! The folder around the output folder is opened once. From there each folder is opened in which a file is made, and
//! no name on that way, that of the output folder first, is a symbolic link (`folder.rs`); the file is made, and gets its
//! name, in the folder that was opened. So nobody who may write to the output folder while it is written can
//! put a link there that leads a file elsewhere.
//!
//! Deliberately absent: owners and extended attributes; symbolic links, devices and pipes of the input.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::file::{EntryKind, Identity, TEMPORARY, There, folder_of, identity, not_written, times};
use super::folder::{NameInFolder, OpenFolder};
use super::temporary;
use super::write::{Lost, Replacement, read_only, symbolic_link, there};
use crate::error::{self, Error, Result, cause, name};

/// An output folder. Several threads may write to it.
#[derive(Debug)]
pub struct Mirror {
    out: PathBuf,
    /// The path of the output folder without symbolic links and `..`.
    real: PathBuf,
    /// The folder that holds it, where it has a name there; else itself.
    around: OpenFolder,
    /// True if files and folders get the times of those that they are made of.
    preserve_times: bool,
    taken: Mutex<Taken>,
}

/// The files and folders that this run has written.
#[derive(Debug, Default)]
struct Taken {
    /// The input of each output.
    inputs: HashMap<PathBuf, PathBuf>,
    /// The path at which each file was made, for file systems to which several names are one.
    files: HashMap<Identity, PathBuf>,
    /// Folders that were made and are to have other times, and which.
    folders: Vec<(PathBuf, FileTimes)>,
    /// Folders that were made.
    made: HashSet<PathBuf>,
    /// Other folders, from which what killed runs left is gone.
    cleared: HashSet<PathBuf>,
}

impl Mirror {
    /// A mirror below the folder `out`, which is made with the first file if it is not there. The
    /// folder that holds it must be.
    ///
    /// # Errors
    ///
    /// A symbolic link or a file of that name; no folder to make it in.
    pub fn new(out: &Path) -> Result<Self> {
        // Without a last separator, after which a symbolic link would look like a folder.
        let out: PathBuf = out.components().collect();
        let unusable = |path: &Path, error: io::Error| match error.kind() {
            ErrorKind::NotFound => {
                let folder = name(folder_of(path));
                Error::system(format!("{}: there is no folder {folder}", name(path)), error)
            }
            _ => Error::io(path, error),
        };
        let around = if out.file_name().is_some() { folder_of(&out) } else { &out };
        let opened = || Ok((fs::canonicalize(around)?, OpenFolder::named(around)?));
        let (real, around) = opened().map_err(|error| unusable(&out, error))?;
        let real = real.join(out.file_name().unwrap_or_default());
        if let Some(name) = out.file_name() {
            is_folder(&around, name, &out)?;
        }
        Ok(Self { out, real, around, preserve_times: false, taken: Mutex::default() })
    }

    /// The mirror with the times of the input: for files, and at the end for folders ([`Mirror::finish`]).
    #[must_use]
    pub fn preserving_times(self) -> Self {
        Self { preserve_times: true, ..self }
    }

    /// Why `root`, a folder or file that is read, and this folder cannot be used together: one is the
    /// other, or in it. To be asked before the first file is written, of every root; and, where
    /// symbolic links are followed, of what each leads to.
    ///
    /// # Errors
    ///
    /// `root` cannot be found.
    pub fn conflicts_with(&self, root: &Path) -> Result<Option<Error>> {
        let real = fs::canonicalize(root).map_err(|error| Error::io(root, error))?;
        let (out, root) = (name(&self.out), name(root));
        let sentence = match (is_within(&self.real, &real), is_within(&real, &self.real)) {
            (false, false) => return Ok(None),
            (true, true) => format!("{out}: the output folder is the input itself"),
            (true, false) => format!("{out}: the output folder is in the input {root}"),
            (false, true) => format!("{out}: the output folder holds the input {root}"),
        };
        Ok(Some(Error::of(error::ErrorKind::File, sentence)))
    }

    /// True if the folder is absent, or has nothing but temporary files of this program.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut entries = fs::read_dir(&self.out).into_iter().flatten().flatten();
        entries.all(|entry| entry.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes()))
    }

    /// Begins to write what is made of the file `input`, at `relative` below this folder; `read` is what the system says of
    /// `input`, if it was asked. Folders are made as needed: the last like the one that `input` is in, those around it likewise
    /// as far as the names are the same.
    ///
    /// # Errors
    ///
    /// A `relative` that leads elsewhere; a symbolic link or anything but a folder on its way; anything
    /// but a file at its end, or a read-only one unless `input` is read-only as well; another input with
    /// the same output.
    pub fn begin(
        &self,
        input: &Path,
        relative: &Path,
        read: Option<&Metadata>,
    ) -> Result<Replacement> {
        let read = match read {
            Some(read) => read,
            None => &fs::metadata(input).map_err(|error| Error::io(input, error))?,
        };
        let (path, place, is_made) = self.place(Some(input), relative)?;
        self.take(input, &path)?;
        // In a folder that this run made nothing has the names of files; to look for what is not there waits for the
        // other threads, which make files there.
        let old = if is_made { None } else { there(&path, &place)? };
        if let Some(old) = &old {
            self.replaceable(&path, old, read.permissions().readonly())?;
        }
        let mut replacement =
            Replacement::output(&path, place, old.is_none(), mode(read), self.times(read))?;
        replacement.preserve_holes(read);
        self.taken().files.extend(replacement.identity().map(|file| (file, path)));
        Ok(replacement)
    }

    /// Asks whether a new file can take the place of the `old` one at `path`, which may be read-only if the new one is.
    fn replaceable(&self, path: &Path, old: &There, is_read_only: bool) -> Result<()> {
        let taken = self.taken();
        let made = old.identity.and_then(|file| Some((taken.files.get(&file)?, file)));
        let why = match old.kind {
            EntryKind::Symlink => return Err(symbolic_link(path)),
            EntryKind::Folder | EntryKind::Special => "not a regular file",
            // Under one name a file is written twice on purpose.
            EntryKind::File
                if made.is_some_and(|(made, file)| made != path && is_still(made, file)) =>
            {
                "another input was written there, under a name that is the same to this file system"
            }
            EntryKind::File if old.permissions.readonly() && !is_read_only => {
                return Err(read_only(path));
            }
            EntryKind::File => return Ok(()),
        };
        Err(Error::file(path, why))
    }

    /// Begins to write a file at `relative` below this folder that has nothing of another, as [`Replacement::begin`] does;
    /// folders are made as by [`Mirror::begin`].
    ///
    /// # Errors
    ///
    /// The errors of [`Replacement::begin`] and [`Mirror::begin`].
    pub fn begin_new(&self, input: &Path, relative: &Path) -> Result<Replacement> {
        let (path, place, _) = self.place(Some(input), relative)?;
        Replacement::at(&path, place)
    }

    /// Begins to write a file at `relative` below this folder that is made of no other file, with this time of its last change.
    /// Folders are made as needed.
    ///
    /// # Errors
    ///
    /// The errors of [`Mirror::begin`].
    pub fn begin_dated(&self, relative: &Path, time: Option<SystemTime>) -> Result<Replacement> {
        let (path, place, is_made) = self.place(None, relative)?;
        // A list of all files, in the folder itself, may be written twice.
        let is_new =
            is_made && relative.parent().is_some_and(|above| !above.as_os_str().is_empty());
        let old = if is_new { None } else { there(&path, &place)? };
        if let Some(old) = &old {
            self.replaceable(&path, old, false)?;
        }
        let times = time.map(|time| FileTimes::new().set_modified(time));
        let replacement = Replacement::output(&path, place, old.is_none(), 0o666, times)?;
        self.taken().files.extend(replacement.identity().map(|file| (file, path)));
        Ok(replacement)
    }

    /// The path of what is made of `input`, if it is made of a file, and its place, in a folder that is made as needed; and
    /// whether this run made that folder.
    fn place(
        &self,
        input: Option<&Path>,
        relative: &Path,
    ) -> Result<(PathBuf, NameInFolder, bool)> {
        let (Some(name), Some(above)) = (relative.file_name(), relative.parent()) else {
            return Err(self.outside(relative));
        };
        self.is_inside(relative)?;
        let like = input.map(|input| input.parent().unwrap_or(input));
        let (folder, is_made) = self.open(like, above)?;
        let (folder, path) = (Arc::new(folder), self.out.join(above).join(name));
        Ok((path, NameInFolder { folder, name: name.to_owned() }, is_made))
    }

    /// Begins to copy the file `from`, which was opened as `input` and has the metadata `read`, to `relative` below this
    /// folder: all is written, and the name is given by [`Replacement::commit`]. Where the file system can share bytes
    /// between files and the system does so by itself, they are shared.
    ///
    /// # Errors
    ///
    /// The errors of [`Mirror::begin`], and that `from` cannot be read.
    pub fn copy(
        &self,
        (from, read): (File, Metadata),
        input: &Path,
        relative: &Path,
    ) -> Result<Replacement> {
        let mut copy = self.begin(input, relative, Some(&read))?;
        copy.add_file(&from)?;
        Ok(copy)
    }

    /// Makes a folder like `input` at `relative` below this folder, where there is none yet, and all
    /// that hold it; an empty path is this folder itself.
    ///
    /// # Errors
    ///
    /// A `relative` that leads elsewhere; a symbolic link or anything but a folder on its way.
    pub fn folder(&self, input: &Path, relative: &Path) -> Result<()> {
        self.is_inside(relative)?;
        self.open(Some(input), relative).map(drop)
    }

    /// Asks whether `relative` is a path of names alone.
    fn is_inside(&self, relative: &Path) -> Result<()> {
        let is_name = |component| match component {
            Component::Normal(name) => !name.as_encoded_bytes().contains(&0),
            _ => false,
        };
        if relative.components().all(is_name) { Ok(()) } else { Err(self.outside(relative)) }
    }

    /// The names that lead to `relative` from the folder around the output folder.
    fn way_to(&self, relative: &Path) -> PathBuf {
        Path::new(self.out.file_name().unwrap_or_default()).join(relative)
    }

    /// Opens the folder `relative` below this one, which is made if it is not there, like `input` if there is one, and tells
    /// whether this run made it. What killed runs left in any other is removed when it is first used.
    fn open(&self, input: Option<&Path>, relative: &Path) -> Result<(OpenFolder, bool)> {
        let folder = match self.around.below(&self.way_to(relative)) {
            Ok(folder) => folder,
            // Nothing is there yet, or something else; `make_all` reports that.
            Err(_) => self.make_all(input, relative)?,
        };
        let is_made = self.taken().made.contains(relative);
        let is_first = !is_made && self.taken().cleared.insert(relative.to_owned());
        if is_first {
            temporary::remove_all_left(&folder);
        }
        Ok((folder, is_made))
    }

    /// Opens the folder `relative` below this one. It and those around it are made if they are not there.
    fn make_all(&self, input: Option<&Path>, relative: &Path) -> Result<OpenFolder> {
        let below: Vec<_> = relative.iter().collect();
        let like = ancestors(input, &below);
        let (mut path, mut relative) = (self.out.clone(), PathBuf::new());
        let mut folder = match self.out.file_name() {
            Some(name) => self.opened_or_made(&self.around, name, &path, &relative, like[0])?,
            None => self.around.below(&relative).map_err(|error| not_written(&path, error))?,
        };
        for (name, like) in below.iter().zip(&like[1..]) {
            path.push(name);
            relative.push(name);
            folder = self.opened_or_made(&folder, name, &path, &relative, *like)?;
        }
        Ok(folder)
    }

    /// Opens the folder `name` in `above`, which is made like another one if it is not there.
    fn opened_or_made(
        &self,
        above: &OpenFolder,
        name: &OsStr,
        path: &Path,
        relative: &Path,
        like: Option<&Path>,
    ) -> Result<OpenFolder> {
        if !is_folder(above, name, path)? {
            let like =
                like.map(|like| if like.as_os_str().is_empty() { ".".as_ref() } else { like });
            let like = like.and_then(|like| fs::metadata(like).ok()).filter(Metadata::is_dir);
            // Less those of the umask. Without the first three there would be no way to fill it.
            let mode = like.as_ref().map_or(0o777, |like| 0o700 | mode(like));
            match above.make(name, mode) {
                Ok(()) => {
                    let times = like.as_ref().and_then(|like| self.times(like));
                    let mut taken = self.taken();
                    taken.made.insert(relative.to_owned());
                    taken.folders.extend(times.map(|times| (relative.to_owned(), times)));
                }
                // Another thread was faster, or somebody: then it is looked at again.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    is_folder(above, name, path)?;
                }
                Err(error) => return Err(not_written(path, error)),
            }
        }
        above.below(Path::new(name)).map_err(|error| not_written(path, error))
    }

    /// Gives the folders that were made their times, where they are to be preserved. To be called when
    /// nothing is written any more; calls after the first do nothing.
    ///
    /// # Errors
    ///
    /// A sentence for each folder that could not be given them.
    pub fn finish(&self) -> std::result::Result<(), Vec<Error>> {
        let folders = std::mem::take(&mut self.taken().folders);
        let failed = folders.into_iter().filter_map(|(relative, times)| {
            // Somebody may have taken it away, or put something else in its place.
            let folder = self.around.below(&self.way_to(&relative)).ok()?;
            let given = folder.itself().and_then(|folder| folder.set_times(times));
            given.err().map(|error| {
                let folder = name(&self.out.join(&relative));
                let lost = format!("{folder}: {}: {}", Lost::Times, cause(&error));
                Error::system(lost, error)
            })
        });
        let failed: Vec<_> = failed.collect();
        if failed.is_empty() { Ok(()) } else { Err(failed) }
    }

    fn times(&self, of: &Metadata) -> Option<FileTimes> {
        times(of).filter(|_| self.preserve_times)
    }

    /// Takes in that `path` is made of `input`.
    fn take(&self, input: &Path, path: &Path) -> Result<()> {
        let mut taken = self.taken();
        if let Some(other) = taken.inputs.get(path) {
            let (path, other, input) = (name(path), name(other), name(input));
            let why = format!("{path} would be written from {input}, and was from {other} already");
            return Err(Error::of(error::ErrorKind::File, why));
        }
        taken.inputs.insert(path.to_owned(), input.to_owned());
        Ok(())
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outside(&self, relative: &Path) -> Error {
        let (out, relative) = (name(&self.out), name(relative));
        let sentence = format!("'{relative}' is no name inside the output folder {out}");
        Error::of(error::ErrorKind::File, sentence)
    }
}

/// True if `name` in `above` is a folder, to which `path` leads, or nothing.
fn is_folder(above: &OpenFolder, name: &OsStr, path: &Path) -> Result<bool> {
    let there = above.there(name).map_err(|error| not_written(path, error))?;
    match there.map(|there| there.kind) {
        None => Ok(false),
        Some(EntryKind::Folder) => Ok(true),
        Some(EntryKind::Symlink) => Err(symbolic_link(path)),
        Some(EntryKind::File | EntryKind::Special) => Err(Error::file(path, "not a folder")),
    }
}

/// True if `path` is `folder` or in it, both without symbolic links. Files are compared, not only
/// names: a folder may be there twice.
fn is_within(path: &Path, folder: &Path) -> bool {
    let of = |path: &Path| fs::metadata(path).ok().as_ref().and_then(identity);
    let file = of(folder);
    path.ancestors().any(|above| above == folder || (file.is_some() && of(above) == file))
}

/// The folders that those of `below`, names within an output folder, are made like: for the output
/// folder first, and `input` for the last. Seen from the end, they stop at the first of another name.
fn ancestors<'a>(input: Option<&'a Path>, below: &[&OsStr]) -> Vec<Option<&'a Path>> {
    let mut like = vec![None; below.len() + 1];
    let mut above = input;
    for at in (0..=below.len()).rev() {
        like[at] = above;
        let same = at.checked_sub(1).and_then(|at| below.get(at).copied());
        above = above.filter(|above| above.file_name() == same).and_then(Path::parent);
    }
    like
}

/// True if the file that was made at `path` is still there. Of one that another run has replaced the file system gives the
/// number to the next file that anybody makes.
fn is_still(path: &Path, file: Identity) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| identity(&there) == Some(file))
}

/// The permission bits of a file or folder, without those that lend the rights of its owner.
#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0o666
}
