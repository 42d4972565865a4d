//! An output folder, which mirrors its input. Nothing outside it is written.
//!
//! ```text
//! in/a/b.html  -->  out/a/b.html       new contents; the folder is created if needed
//! in/a/c.png   -->  out/a/c.png        copied; out/in/a/c.png if `in` is one of several inputs
//! ../b.html    -->  an error           as for out/a/b.html if out/a is a symbolic link
//! ```
//!
//! ```
//! use std::fs;
//! use baselink_files::result_folder::ResultFolder;
//!
//! let folder = tempfile::tempdir()?;
//! let (input, out) = (folder.path().join("in"), folder.path().join("out"));
//! fs::create_dir(&input)?;
//! fs::write(input.join("b.html"), "<a href=x>")?;
//!
//! let out_folder = ResultFolder::new(&out)?;
//! out_folder.require_apart(&input, "")?;
//! let mut page = out_folder.begin(&input.join("b.html"), "a/b.html".as_ref(), None)?;
//! page.write(|out| out.write_all(b"<a href=http://a/x>"))?;
//! page.commit()?;
//! assert_eq!(fs::read(out.join("a/b.html"))?, b"<a href=http://a/x>");
//! assert!(out_folder.begin(&input.join("b.html"), "../b.html".as_ref(), None).is_err());
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
//! Times are preserved on request, and those of messages in a Maildir always.
//!
//! The parent of the output folder is opened once, and each folder for an output file is opened from there. No name
//! in the path, including the name of the output folder, may be a symbolic link (`folder.rs`). The file is created
//! and renamed in the open folder. Even a user with write access to the output folder therefore cannot redirect a
//! file with a symbolic link.
//!
//! Deliberately absent: owners and extended attributes; symbolic links, devices and pipes of the input.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs::{self, FileTimes, Metadata},
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex},
    time::SystemTime,
};

use baselink_text::{Error, Result, cause, name};

use super::{
    file::{
        EntryKind, ExistingEntry, Identity, entries_in, folder_of, identity, not_written, times,
    },
    folder::{NameInFolder, OpenFolder},
    maildir::is_message,
    new_file::is_temporary,
    original::{entry_at, read_only, symbolic_link},
    shared::locked,
    walk::{Selection, TreeEntry},
    write::{NewContents, NotPreserved},
};

/// An output folder. Several threads may write to it.
#[derive(Debug)]
pub struct ResultFolder {
    /// The path of the output folder.
    pub out: PathBuf,
    /// The path of the output folder without symbolic links and `..`.
    real: PathBuf,
    /// The parent of the output folder, or the output folder itself if it has no name.
    around: OpenFolder,
    /// True if files and folders get the times of their inputs.
    pub preserve_times: bool,
    /// True if the folder had files before the run.
    pub had_files: bool,
    /// True if symbolic links in the inputs are followed.
    follow: bool,
    /// The name of each input in the folder; `None` if the input becomes the folder itself.
    names: HashMap<PathBuf, Option<OsString>>,
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

impl ResultFolder {
    /// The output folder `out`, whose parent must exist. `out` itself is created when it is first needed.
    ///
    /// # Errors
    ///
    /// Returns an error if `out` is a symbolic link or a file, or if its parent is missing.
    pub fn new(out: &Path) -> Result<Self> {
        // A trailing separator would make a symbolic link look like a folder.
        let out: PathBuf = out.components().collect();
        let around = if out.file_name().is_some() {
            folder_of(&out)
        } else {
            &out
        };
        let opened = || Ok((fs::canonicalize(around)?, OpenFolder::named(around)?));
        let (real, around) = opened().map_err(|error: io::Error| match error.kind() {
            ErrorKind::NotFound => {
                let (out, folder) = (name(&out), name(folder_of(&out)));
                Error::system(format!("{out}: the folder {folder} does not exist"), error)
            }
            _ => Error::io(&out)(error),
        })?;
        let real = real.join(out.file_name().unwrap_or_default());
        if let Some(name) = out.file_name() {
            is_folder(&around, name, &out)?;
        }
        Ok(Self {
            had_files: has_files(&out),
            out,
            real,
            around,
            preserve_times: false,
            follow: false,
            names: HashMap::new(),
            taken: Mutex::default(),
        })
    }

    /// Prepares the folder for the results of these inputs. Several inputs keep their names in it; a single folder, or that to which
    /// the `selection` puts them, becomes the folder itself. `otherwise` is further advice for a conflict.
    ///
    /// # Errors
    ///
    /// Returns an error if two inputs have the same name, if the folder contains one of the `parts` that are read (of
    /// the inputs, if there are none) or is inside one, or if it cannot be written to.
    pub fn of_inputs(
        mut self,
        inputs: &[&Path],
        parts: &[PathBuf],
        selection: &Selection,
        otherwise: &str,
    ) -> Result<Self> {
        self.follow = selection.follow;
        let is_alone = matches!(inputs, [input] if input.is_dir());
        let mut taken: HashMap<OsString, &Path> = HashMap::new();
        for &input in inputs {
            // A missing input is reported when it is read.
            if fs::metadata(input).is_err() || self.names.contains_key(input) {
                continue;
            }
            if parts.is_empty() {
                self.require_apart(input, otherwise)?;
            }
            for part in parts {
                self.require_apart(part, otherwise)?;
            }
            let own = own_name(input)?;
            if !is_alone && let Some(other) = taken.insert(own.clone(), input) {
                let (input, other, place) = (name(input), name(other), name(&self.out.join(&own)));
                return Err(Error::new(format!(
                    "{input} and {other} would both become {place}; give each an output folder of its own"
                )));
            }
            let own = Some(own).filter(|_| !is_alone && !selection.in_one_folder);
            self.names.insert(input.to_owned(), own);
        }
        // A folder that cannot be written to fails here once, instead of for every file.
        if let Some(input) = inputs.iter().find(|input| input.exists()) {
            let like = if input.is_dir() {
                input
            } else {
                input.parent().unwrap_or(input)
            };
            self.folder(like, Path::new(""))?;
        }
        Ok(self)
    }

    /// The path of the result of `entry` below the folder. `new` is the new path of `entry` below its input, if it gets
    /// another.
    ///
    /// # Errors
    ///
    /// Returns an error if `entry` was reached through a symbolic link and is in the folder.
    pub fn place(&self, entry: &TreeEntry, new: Option<PathBuf>) -> Result<PathBuf> {
        if self.follow {
            self.require_apart(&entry.path, "")?;
        }
        let input = self.names.get(&*entry.root).and_then(Option::as_ref);
        let mut place = input.map(PathBuf::from).unwrap_or_default();
        match new {
            Some(new) => place.push(new),
            None => place.extend(&entry.relative),
        }
        Ok(place)
    }

    /// Rejects the folder if it contains the input `root` or is inside it; `otherwise` is further advice.
    ///
    /// # Errors
    ///
    /// Also returns an error if `root` does not exist.
    pub fn require_apart(&self, root: &Path, otherwise: &str) -> Result<()> {
        let real = fs::canonicalize(root).map_err(Error::io(root))?;
        let (out, root) = (name(&self.out), name(root));
        let sentence = match (is_within(&self.real, &real), is_within(&real, &self.real)) {
            (false, false) => return Ok(()),
            (true, true) => format!("{out}: the output folder is the input itself"),
            (true, false) => format!("{out}: the output folder is in the input {root}"),
            (false, true) => format!("{out}: the output folder contains the input {root}"),
        };
        Err(Error::new(format!("{sentence}; name another{otherwise}")))
    }

    /// True if this run has begun the output `path` of an input.
    pub fn has_written(&self, path: &Path) -> bool {
        locked(&self.taken).inputs.contains_key(path)
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
    ) -> Result<NewContents> {
        let read = match read {
            Some(read) => read,
            None => &fs::metadata(input).map_err(Error::io(input))?,
        };
        let (path, place, is_made) = self.open_place(Some(input), relative)?;
        self.take(input, &path)?;
        // Mail readers show the times of messages.
        let times = times(read).filter(|_| self.preserve_times || is_message(input));
        let properties = (read.permissions().readonly(), mode(read), times);
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
    ) -> Result<NewContents> {
        // A lookup would wait for other threads that create files in the folder.
        let old = if is_new {
            None
        } else {
            entry_at(&path, &place)?
        };
        if let Some(old) = &old {
            self.replaceable(&path, old, is_read_only)?;
        }
        let replacement = NewContents::output(&path, place, old.is_none(), mode, times)?;
        // An old file with the same bytes stays, so the path may keep its identity.
        let files = replacement
            .identity()
            .into_iter()
            .chain(old.map(|old| old.identity));
        locked(&self.taken)
            .files
            .extend(files.map(|file| (file, path.clone())));
        Ok(replacement)
    }

    /// Checks that a new file can replace `old` at `path`. `is_read_only` applies to the new file. A read-only file can
    /// only be replaced by another read-only file.
    fn replaceable(&self, path: &Path, old: &ExistingEntry, is_read_only: bool) -> Result<()> {
        let taken = locked(&self.taken);
        let first_path = taken.files.get(&old.identity);
        let why = match old.kind {
            EntryKind::Symlink => return Err(symbolic_link(path)),
            EntryKind::Folder | EntryKind::Special => "not a regular file",
            // A file may be written twice under the same name.
            EntryKind::File
                if first_path.is_some_and(|first_path| {
                    first_path != path
                        && fs::symlink_metadata(first_path)
                            .is_ok_and(|now| identity(&now) == Some(old.identity))
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

    /// Begins to write a file at `relative` below this folder, like [`NewContents::begin`]: the file gets no properties
    /// of `input`. Folders are created as by [`ResultFolder::begin`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`NewContents::begin`] and [`ResultFolder::begin`].
    pub fn begin_new(&self, input: &Path, relative: &Path) -> Result<NewContents> {
        let (path, place, _) = self.open_place(Some(input), relative)?;
        NewContents::at(&path, place)
    }

    /// Begins to write a file without an input at `relative` below this folder, with `bytes` and this modification time.
    /// Folders are created as needed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ResultFolder::begin`] and of [`NewContents::write`].
    pub fn begin_dated(
        &self,
        relative: &Path,
        time: Option<SystemTime>,
        bytes: &[u8],
    ) -> Result<NewContents> {
        let (path, place, is_made) = self.open_place(None, relative)?;
        // The table of files, which is begun without bytes, is written twice.
        let is_new = is_made && !bytes.is_empty();
        let times = time.map(|time| FileTimes::new().set_modified(time));
        let mut new = self.begin_at(path, place, is_new, (false, 0o666, times))?;
        new.write(|out| out.write_all(bytes)).map(|()| new)
    }

    /// The path of the output at `relative`, and its name in its open folder. The folder is created if needed, with the
    /// properties of the folder of `input` if given. The flag is true if this run created it.
    fn open_place(
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

    /// Begins to copy `entry`, as it is now, to `relative` below this folder. All bytes are written, and
    /// [`NewContents::commit`] assigns the name. If the file system supports it, the two files share the bytes.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ResultFolder::begin`], and an error if `entry` cannot be read.
    pub fn copy(&self, entry: &TreeEntry, relative: &Path) -> Result<NewContents> {
        let (from, read) = entry.open(self.follow)?;
        let mut copy = self.begin(&entry.path, relative, Some(&read))?;
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
        let is_made = locked(&self.taken).made.contains(relative);
        Ok((folder, is_made))
    }

    /// Opens the folder `relative` below this one, creating it and its parents unless they exist.
    fn make_all(&self, input: Option<&Path>, relative: &Path) -> Result<OpenFolder> {
        let below: Vec<_> = relative.iter().collect();
        let like = ancestors(input, &below);
        let mut relative = PathBuf::new();
        let mut folder = match self.out.file_name() {
            Some(name) => self.opened_or_made(&self.around, name, &relative, like[0])?,
            None => self
                .around
                .below(&relative)
                .map_err(not_written(&self.out))?,
        };
        for (name, like) in below.iter().zip(&like[1..]) {
            relative.push(name);
            folder = self.opened_or_made(&folder, name, &relative, *like)?;
        }
        Ok(folder)
    }

    /// Opens the folder `name` in `above`. If it does not exist, it is created, with the properties of `like` if given.
    fn opened_or_made(
        &self,
        above: &OpenFolder,
        name: &OsStr,
        relative: &Path,
        like: Option<&Path>,
    ) -> Result<OpenFolder> {
        let path = &self.out.join(relative).components().collect::<PathBuf>();
        if !is_folder(above, name, path)? {
            // An empty path is that of the current folder.
            let like = like
                .and_then(|like| fs::metadata(Path::new(".").join(like)).ok())
                .filter(Metadata::is_dir);
            // The umask reduces these bits. The owner needs its bits to write files in the folder.
            let mode = like.as_ref().map_or(0o777, |like| 0o700 | mode(like));
            match above.make(name, mode) {
                Ok(()) => {
                    let times = like.as_ref().and_then(|like| self.times(like));
                    let mut taken = locked(&self.taken);
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
        let folders = std::mem::take(&mut locked(&self.taken).folders);
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
        let mut taken = locked(&self.taken);
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

    fn outside(&self, relative: &Path) -> Error {
        let (out, relative) = (name(&self.out), name(relative));
        let sentence = format!("'{relative}' is not a path inside the output folder {out}");
        Error::new(sentence)
    }
}

/// True if `folder` contains other files than temporary files of this program.
pub fn has_files(folder: &Path) -> bool {
    entries_in(folder).any(|entry| !is_temporary(&entry.file_name()))
}

/// The last component of the path to `input`.
fn own_name(input: &Path) -> Result<OsString> {
    if let Some(name) = input.file_name() {
        return Ok(name.to_owned());
    }
    let real = fs::canonicalize(input).map_err(Error::io(input))?;
    let why = "the path has no file name to use in the output folder";
    real.file_name()
        .map(OsString::from)
        .ok_or_else(|| Error::file(input, why))
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
