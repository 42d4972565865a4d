//! An output folder that mirrors an input folder. Nothing outside it is written.
//!
//! ```text
//! in/a/b.html  -->  out/a/b.html       new contents; the folder is created if needed
//! in/a/c.png   -->  out/a/c.png        copied
//! ../b.html    -->  an error           as for out/a/b.html if out/a is a symbolic link
//! ```
//!
//! ```
//! use std::fs;
//! use baselink_cli::files::mirror::Mirror;
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
//! An existing file is replaced atomically and synced. A new file is not synced, because its source still exists;
//! other copying programs do the same. Errors that a network file system reports only on close are therefore not
//! noticed for new files.
//!
//! An existing read-only file is replaced only if its input is read-only too, because an earlier run probably created
//! it. Any other read-only file is an error.
//!
//! Permission bits are those that `cp -r` gives: the input's, reduced by the umask, without setuid, setgid and
//! sticky bits. A folder gets the bits of the input's folder, and its owner may always read, write and enter it.
//! Times are preserved on request.
//!
//! The parent of the output folder is opened once, and each folder for an output file is opened from there. No name
//! in the path, including the name of the output folder, may be a symbolic link (`folder.rs`). The file is created
//! and renamed in the open folder. Even a user with write access to the output folder therefore cannot redirect a
//! file with a symbolic link.
//!
//! Deliberately absent: owners and extended attributes; symbolic links, devices and pipes of the input.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::file::{EntryKind, ExistingEntry, Identity, folder_of, identity, not_written, times};
use super::folder::{NameInFolder, OpenFolder};
use super::new_file::is_temporary;
use super::original::{entry_at, read_only, symbolic_link};
use super::write::{NotPreserved, Replacement};
use baselink_text::error::{Error, Result, cause, name};

/// An output folder. Several threads may write to it.
#[derive(Debug)]
pub struct Mirror {
    /// The path of the output folder.
    pub(crate) out: PathBuf,
    /// The path of the output folder without symbolic links and `..`.
    real: PathBuf,
    /// The parent of the output folder, or the output folder itself if it has no name.
    around: OpenFolder,
    /// True if files and folders get the times of their inputs.
    preserve_times: bool,
    taken: Mutex<WrittenOutputs>,
}

/// The files and folders that this run has written.
#[derive(Debug, Default)]
struct WrittenOutputs {
    /// The input of each output.
    inputs: HashMap<PathBuf, PathBuf>,
    /// The path under which each file was created. It reveals different names that the file system treats as the same.
    files: HashMap<Identity, PathBuf>,
    /// The new folders whose times are still to be set, with those times.
    folders: Vec<(PathBuf, FileTimes)>,
    /// The new folders.
    made: HashSet<PathBuf>,
}

impl Mirror {
    /// Creates a mirror in the folder `out`, whose parent must exist. `out` itself is created when it is first needed.
    ///
    /// # Errors
    ///
    /// Returns an error if `out` is a symbolic link or a file, or if its parent is missing.
    pub fn new(out: &Path) -> Result<Self> {
        // A trailing separator would make a symbolic link look like a folder.
        let out: PathBuf = out.components().collect();
        let unusable = |path: &Path, error: io::Error| match error.kind() {
            ErrorKind::NotFound => {
                let folder = name(folder_of(path));
                Error::system(
                    format!("{}: the folder {folder} does not exist", name(path)),
                    error,
                )
            }
            _ => Error::io(path)(error),
        };
        let around = if out.file_name().is_some() {
            folder_of(&out)
        } else {
            &out
        };
        let opened = || Ok((fs::canonicalize(around)?, OpenFolder::named(around)?));
        let (real, around) = opened().map_err(|error| unusable(&out, error))?;
        let real = real.join(out.file_name().unwrap_or_default());
        if let Some(name) = out.file_name() {
            is_folder(&around, name, &out)?;
        }
        Ok(Self {
            out,
            real,
            around,
            preserve_times: false,
            taken: Mutex::default(),
        })
    }

    /// Preserves the times of the input: for files at once, and for folders at the end ([`Mirror::finish`]).
    pub fn preserving_times(self) -> Self {
        Self {
            preserve_times: true,
            ..self
        }
    }

    /// Checks the input folder or file `root`. Returns `Some` with an error if it is the output folder, contains it or
    /// is inside it. Call this for every root before writing the first file. If symbolic links are followed, also call
    /// it for their targets.
    ///
    /// # Errors
    ///
    /// Returns an error if `root` does not exist.
    pub fn conflicts_with(&self, root: &Path) -> Result<Option<Error>> {
        let real = fs::canonicalize(root).map_err(Error::io(root))?;
        let (out, root) = (name(&self.out), name(root));
        let sentence = match (is_within(&self.real, &real), is_within(&real, &self.real)) {
            (false, false) => return Ok(None),
            (true, true) => format!("{out}: the output folder is the input itself"),
            (true, false) => format!("{out}: the output folder is in the input {root}"),
            (false, true) => format!("{out}: the output folder contains the input {root}"),
        };
        Ok(Some(Error::new(sentence)))
    }

    /// True if the folder does not exist, or contains only temporary files of this program.
    pub fn is_empty(&self) -> bool {
        let mut entries = fs::read_dir(&self.out).into_iter().flatten().flatten();
        entries.all(|entry| is_temporary(&entry.file_name()))
    }

    /// True if this run has begun the output `path` of an input.
    pub fn has_written(&self, path: &Path) -> bool {
        self.taken().inputs.contains_key(path)
    }

    /// Begins to write the output for the file `input`, at `relative` below this folder. `read` is the metadata of
    /// `input`, if known. Folders are created as needed. As long as the last names of both paths match, a new folder
    /// gets the properties of the corresponding input folder.
    ///
    /// # Errors
    ///
    /// Returns an error if `relative` leaves the folder, or if a name in the path exists and is not a folder. Also
    /// returns an error if the output is not a regular file, is read-only while `input` is not, or already belongs to
    /// another input.
    pub fn begin(
        &self,
        input: &Path,
        relative: &Path,
        read: Option<&Metadata>,
    ) -> Result<Replacement> {
        let read = match read {
            Some(read) => read,
            None => &fs::metadata(input).map_err(Error::io(input))?,
        };
        let (path, place, is_made) = self.place(Some(input), relative)?;
        self.take(input, &path)?;
        let properties = (read.permissions().readonly(), mode(read), self.times(read));
        self.begin_at(path, place, is_made, properties)
    }

    /// Begins to write a file that may be read-only, and gets this mode and these times. If `is_new` is true, no file
    /// has its name.
    fn begin_at(
        &self,
        path: PathBuf,
        place: NameInFolder,
        is_new: bool,
        (is_read_only, mode, times): (bool, u32, Option<FileTimes>),
    ) -> Result<Replacement> {
        // A lookup would wait for other threads that create files in the folder.
        let old = if is_new {
            None
        } else {
            entry_at(&path, &place)?
        };
        if let Some(old) = &old {
            self.replaceable(&path, old, is_read_only)?;
        }
        let replacement = Replacement::output(&path, place, old.is_none(), mode, times)?;
        let written = replacement.identity().map(|file| (file, path));
        self.taken().files.extend(written);
        Ok(replacement)
    }

    /// Checks that a new file can replace `old` at `path`. `is_read_only` applies to the new file. A read-only file can
    /// only be replaced by another read-only file.
    fn replaceable(&self, path: &Path, old: &ExistingEntry, is_read_only: bool) -> Result<()> {
        let taken = self.taken();
        let written = old
            .identity
            .and_then(|file| Some((taken.files.get(&file)?, file)));
        let why = match old.kind {
            EntryKind::Symlink => return Err(symbolic_link(path)),
            EntryKind::Folder | EntryKind::Special => "not a regular file",
            // A file may be written twice under the same name.
            EntryKind::File
                if written.is_some_and(|(first_path, file)| {
                    first_path != path
                        && fs::symlink_metadata(first_path)
                            .is_ok_and(|now| identity(&now) == Some(file))
                }) =>
            {
                "another input was written there, under a name that this file system treats as the same"
            }
            EntryKind::File if old.permissions.readonly() && !is_read_only => {
                return Err(read_only(path));
            }
            EntryKind::File => return Ok(()),
        };
        Err(Error::file(path, why))
    }

    /// Begins to write a file at `relative` below this folder, like [`Replacement::begin`]: the file gets no properties
    /// of `input`. Folders are created as by [`Mirror::begin`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Replacement::begin`] and [`Mirror::begin`].
    pub fn begin_new(&self, input: &Path, relative: &Path) -> Result<Replacement> {
        let (path, place, _) = self.place(Some(input), relative)?;
        Replacement::at(&path, place)
    }

    /// Begins to write a file without an input at `relative` below this folder, with this modification time. Folders
    /// are created as needed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Mirror::begin`].
    pub fn begin_dated(&self, relative: &Path, time: Option<SystemTime>) -> Result<Replacement> {
        let (path, place, is_made) = self.place(None, relative)?;
        // In the output folder itself, this run may write the table of all files twice.
        let is_new = is_made
            && relative
                .parent()
                .is_some_and(|above| !above.as_os_str().is_empty());
        let times = time.map(|time| FileTimes::new().set_modified(time));
        self.begin_at(path, place, is_new, (false, 0o666, times))
    }

    /// The path of the output at `relative`, and its name in its open folder. The folder is created if needed, with the
    /// properties of the folder of `input` if given. The flag is true if this run created it.
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
        Ok((
            path,
            NameInFolder {
                folder,
                name: name.to_owned(),
            },
            is_made,
        ))
    }

    /// Begins to copy the open file `from` to `relative` below this folder. `read` is its metadata, and `input` its
    /// path. All bytes are written, and [`Replacement::commit`] assigns the name. If the file system supports it, the
    /// two files share the bytes.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Mirror::begin`], and an error if `from` cannot be read.
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

    /// Creates a folder like `input` at `relative` below this folder, and its parents, unless they exist. An empty
    /// path denotes this folder itself.
    ///
    /// # Errors
    ///
    /// Returns an error if `relative` leaves the folder, or if a name in the path exists and is not a folder.
    pub fn folder(&self, input: &Path, relative: &Path) -> Result<()> {
        self.is_inside(relative)?;
        self.open(Some(input), relative).map(drop)
    }

    /// Checks that `relative` consists only of names.
    fn is_inside(&self, relative: &Path) -> Result<()> {
        if relative.components().all(|component| match component {
            Component::Normal(name) => !name.as_encoded_bytes().contains(&0),
            _ => false,
        }) {
            Ok(())
        } else {
            Err(self.outside(relative))
        }
    }

    /// The path of `relative` from the parent of the output folder.
    fn way_to(&self, relative: &Path) -> PathBuf {
        Path::new(self.out.file_name().unwrap_or_default()).join(relative)
    }

    /// Opens the folder `relative` below this one. If it does not exist, it is created, with the properties of `input`
    /// if given. The flag is true if this run created it.
    fn open(&self, input: Option<&Path>, relative: &Path) -> Result<(OpenFolder, bool)> {
        let folder = match self.around.below(&self.way_to(relative)) {
            Ok(folder) => folder,
            // The folder does not exist, or the path has an entry of another kind, which `make_all` reports.
            Err(_) => self.make_all(input, relative)?,
        };
        let is_made = self.taken().made.contains(relative);
        Ok((folder, is_made))
    }

    /// Opens the folder `relative` below this one, creating it and its parents unless they exist.
    fn make_all(&self, input: Option<&Path>, relative: &Path) -> Result<OpenFolder> {
        let below: Vec<_> = relative.iter().collect();
        let like = ancestors(input, &below);
        let (mut path, mut relative) = (self.out.clone(), PathBuf::new());
        let mut folder = match self.out.file_name() {
            Some(name) => self.opened_or_made(&self.around, name, &path, &relative, like[0])?,
            None => self.around.below(&relative).map_err(not_written(&path))?,
        };
        for (name, like) in below.iter().zip(&like[1..]) {
            path.push(name);
            relative.push(name);
            folder = self.opened_or_made(&folder, name, &path, &relative, *like)?;
        }
        Ok(folder)
    }

    /// Opens the folder `name` in `above`. If it does not exist, it is created, with the properties of `like` if given.
    fn opened_or_made(
        &self,
        above: &OpenFolder,
        name: &OsStr,
        path: &Path,
        relative: &Path,
        like: Option<&Path>,
    ) -> Result<OpenFolder> {
        if !is_folder(above, name, path)? {
            let like = like.map(|like| {
                if like.as_os_str().is_empty() {
                    ".".as_ref()
                } else {
                    like
                }
            });
            let like = like
                .and_then(|like| fs::metadata(like).ok())
                .filter(Metadata::is_dir);
            // The umask reduces these bits. The owner needs its bits to write files in the folder.
            let mode = like.as_ref().map_or(0o777, |like| 0o700 | mode(like));
            match above.make(name, mode) {
                Ok(()) => {
                    let times = like.as_ref().and_then(|like| self.times(like));
                    let mut taken = self.taken();
                    taken.made.insert(relative.to_owned());
                    taken
                        .folders
                        .extend(times.map(|times| (relative.to_owned(), times)));
                }
                // Another thread or program created it first, so check it again.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    is_folder(above, name, path)?;
                }
                Err(error) => return Err(not_written(path)(error)),
            }
        }
        above.below(Path::new(name)).map_err(not_written(path))
    }

    /// Sets the times of the new folders, if times are to be preserved. Call this after all writing; further calls
    /// do nothing.
    ///
    /// # Errors
    ///
    /// Returns an error for each folder whose times could not be set.
    pub fn finish(&self) -> Result<(), Vec<Error>> {
        let folders = std::mem::take(&mut self.taken().folders);
        let failed = folders.into_iter().filter_map(|(relative, times)| {
            // Another program may have removed or replaced the folder.
            let folder = self.around.below(&self.way_to(&relative)).ok()?;
            let given = folder.itself().and_then(|folder| folder.set_times(times));
            given.err().map(|error| {
                let folder = name(&self.out.join(&relative));
                let lost = format!("{folder}: {}: {}", NotPreserved::Times, cause(&error));
                Error::system(lost, error)
            })
        });
        let failed: Vec<_> = failed.collect();
        if failed.is_empty() {
            Ok(())
        } else {
            Err(failed)
        }
    }

    fn times(&self, of: &Metadata) -> Option<FileTimes> {
        times(of).filter(|_| self.preserve_times)
    }

    /// Records that the output `path` belongs to `input`.
    fn take(&self, input: &Path, path: &Path) -> Result<()> {
        let mut taken = self.taken();
        if let Some(other) = taken.inputs.get(path) {
            let (path, other, input) = (name(path), name(other), name(input));
            let why = format!(
                "{path} would be written from {input}, but was already written from {other}"
            );
            return Err(Error::new(why));
        }
        taken.inputs.insert(path.to_owned(), input.to_owned());
        Ok(())
    }

    fn taken(&self) -> MutexGuard<'_, WrittenOutputs> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outside(&self, relative: &Path) -> Error {
        let (out, relative) = (name(&self.out), name(relative));
        let sentence = format!("'{relative}' is not a path inside the output folder {out}");
        Error::new(sentence)
    }
}

/// True if `name` in `above` is a folder; false if it does not exist. Any other entry is an error. `path` is its path
/// for messages.
fn is_folder(above: &OpenFolder, name: &OsStr, path: &Path) -> Result<bool> {
    let entry = above.entry(name).map_err(not_written(path))?;
    match entry.map(|entry| entry.kind) {
        None => Ok(false),
        Some(EntryKind::Folder) => Ok(true),
        Some(EntryKind::Symlink) => Err(symbolic_link(path)),
        Some(EntryKind::File | EntryKind::Special) => Err(Error::file(path, "not a folder")),
    }
}

/// True if `path` is `folder` or inside it. Both paths must be free of symbolic links. Identities are compared as well
/// as names, because a folder may be mounted twice.
fn is_within(path: &Path, folder: &Path) -> bool {
    let identity_at = |path: &Path| fs::metadata(path).ok().as_ref().and_then(identity);
    let expected = identity_at(folder);
    path.ancestors()
        .any(|above| above == folder || (expected.is_some() && identity_at(above) == expected))
}

/// The input folders that correspond to an output folder and the folders `below` it, in this order. The last folder
/// corresponds to `input`, its parent to the parent of `input`, and so on up to the first pair of different names.
fn ancestors<'a>(input: Option<&'a Path>, below: &[&OsStr]) -> Vec<Option<&'a Path>> {
    let mut like = vec![None; below.len() + 1];
    let mut above = input;
    for at in (0..=below.len()).rev() {
        like[at] = above;
        let same = at.checked_sub(1).and_then(|at| below.get(at).copied());
        above = above
            .filter(|above| above.file_name() == same)
            .and_then(Path::parent);
    }
    like
}

/// The permission bits of a file or folder, without setuid, setgid and sticky bits.
#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0o666
}
