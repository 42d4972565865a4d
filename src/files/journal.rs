//! New contents and new names for many files of a folder, as one transaction.
//!
//! ```text
//! DIR/.baselink-move/0, 1, …    the new contents; a run that stops here leaves every file of DIR unchanged
//! DIR/.baselink-move/journal    the commit, written after them; if the run then stops, the next one completes it
//! DIR/b.html, …                 the new contents under their new names
//! ```
//!
//! All old names are removed before the first new name is assigned; the file `removed` is written between the two
//! phases. Two files may therefore swap names, and the next run can tell from the existing files which steps are
//! complete.
//!
//! ```
//! use std::{fs, path::Path};
//! use baselink::files::{journal::{JournalStart, AskedChange, Journal}, write::{InPlace, Original}};
//!
//! let folder = tempfile::tempdir()?;
//! let [a, b] = ["a.html", "b.html"].map(|name| folder.path().join(name));
//! fs::write(&a, "old")?;
//! let change = AskedChange { meaning: "a to b", command: "move", beside: None };
//! let JournalStart::New(journal) = Journal::begin(folder.path(), &InPlace::default(), &change)? else {
//!     unreachable!("no other run was stopped here")
//! };
//! let mut new = journal.replace(&Original::of(&a)?, Path::new("a.html"), Path::new("b.html"))?;
//! new.write(|out| out.write_all(b"new"))?;
//! new.commit()?;
//! assert_eq!(fs::read(&a)?, b"old");
//! assert!(journal.commit()?.is_empty());
//! assert_eq!((fs::read(&b)?, a.exists()), (b"new".to_vec(), false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file that another program changes at the last moment is kept. If such a file has the new name, the new contents
//! are written next to it (`b.html.moved`).
//!
//! Deliberately absent: symbolic links and empty folders, which are not moved, and computing the new contents.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read as _};
use std::iter;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use super::disk::{NewFile, PRIVATE, SyncedFolders};
use super::file::{EntryKind, ExistingEntry, names_of, not_written, os_string, refused};
use super::folder::{NameInFolder, OpenFolder};
use super::mirror::Mirror;
use super::temporary::{LockOutcome, hold};
use super::write::{Committed, InPlace, Original, Replacement, remove_left_beside};
use crate::error::{self, Error, Result, name};

/// The folder with the new contents. Walks skip it because its name is that of a temporary file.
const STAGE: &str = ".baselink-move";
/// The file whose existence commits the change.
const JOURNAL: &str = "journal";
/// The empty file that records that all old names have been removed.
const REMOVED: &str = "removed";
/// The contents of the file at [`AskedChange::beside`].
const BESIDE: &str = "beside";
/// The file that the running process locks.
const LOCK: &str = "lock";
/// The first field of a journal. A program that does not know this version rejects the journal.
const VERSION: &str = "baselink move 1";
/// The suffix for new contents whose name another program has taken.
const MOVED: &str = ".moved";

/// New contents and names for the files of a folder. [`Journal::commit`] applies them; a journal that is dropped
/// earlier leaves the folder unchanged.
#[derive(Debug)]
pub struct Journal {
    stage: Stage,
    how: InPlace,
    /// The meaning and the command of the change.
    asked: [String; 2],
    beside: Option<PathBuf>,
    /// The contents of the file at `beside`.
    bytes_beside: Vec<u8>,
    steps: Mutex<Vec<FileMove>>,
    has_failed: AtomicBool,
}

/// A requested change of many files.
#[derive(Clone, Copy, Debug)]
pub struct AskedChange<'a> {
    /// A text that identifies the change.
    pub meaning: &'a str,
    /// The command that completes the change if the run is stopped.
    pub command: &'a str,
    /// The path of an additional file, inside or outside the folder, that is written after all others.
    pub beside: Option<&'a Path>,
}

/// The outcome of [`Journal::begin`].
#[derive(Debug)]
pub enum JournalStart {
    /// A new change.
    New(Journal),
    /// The rest of the same change, committed by an earlier run, is now complete. The sentences name files that
    /// another program changed in the meantime.
    Finished(Vec<String>),
    /// A different change was committed and is incomplete. The text is the command that completes it.
    Other(String),
}

/// The change of one file.
#[derive(Debug)]
struct FileMove {
    /// The path of the file below the folder, before the change.
    old: PathBuf,
    /// Its path after the change, which may be the same.
    new: PathBuf,
    /// The size and time of the old file in the form of [`seen`]; `None` if its contents stay the same.
    seen: Option<String>,
}

impl Journal {
    /// Begins to change the files of the folder `root`, with the settings `how`. If an earlier run committed the
    /// same change and was stopped, completes that change and does nothing else.
    ///
    /// # Errors
    ///
    /// Returns the system's errors, and an error if another process is changing the folder, or if a journal cannot be
    /// read or completed.
    pub fn begin(root: &Path, how: &InPlace, change: &AskedChange<'_>) -> Result<JournalStart> {
        let stage = Stage::open(root)?;
        let asked = [change.meaning, change.command].map(str::to_owned);
        let beside = change.beside.map(Path::to_owned);
        let Some(([meaning, command], steps)) = stage.journal()? else {
            stage.clear();
            let (how, bytes_beside) = (how.clone(), Vec::new());
            let (steps, has_failed) = (Mutex::default(), AtomicBool::new(false));
            let new = Self { stage, how, asked, beside, bytes_beside, steps, has_failed };
            return Ok(JournalStart::New(new));
        };
        if meaning != change.meaning {
            return Ok(JournalStart::Other(command));
        }
        stage.apply(&steps, change.beside).map(JournalStart::Finished)
    }

    /// True if the folder `root` has a committed but incomplete change.
    #[must_use]
    pub fn is_left(root: &Path) -> bool {
        root.join(STAGE).join(JOURNAL).is_file()
    }

    /// Sets the contents of the file at [`AskedChange::beside`].
    #[must_use]
    pub fn with(self, bytes_beside: Vec<u8>) -> Self {
        Self { bytes_beside, ..self }
    }

    /// Begins to write the new contents of `original`. Its path below the folder changes from `old` to `new`. Call
    /// [`Replacement::commit`] for each file, and [`Journal::commit`] at the end.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`InPlace::begin`].
    pub fn replace(&self, original: &Original, old: &Path, new: &Path) -> Result<Replacement> {
        let name = self.add(old, new, Some(seen(original.seen())));
        let place = NameInFolder { folder: Arc::clone(&self.stage.folder), name: name.into() };
        self.how.stage(original, &self.stage.root.join(new), place)
    }

    /// Renames the file at `old` to `new` without changing its contents.
    pub fn rename(&self, old: &Path, new: &Path) -> Committed {
        self.add(old, new, None);
        Committed { path: self.stage.root.join(new), lost: Vec::new() }
    }

    fn add(&self, old: &Path, new: &Path, seen: Option<String>) -> String {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.push(FileMove { old: old.to_owned(), new: new.to_owned(), seen });
        (steps.len() - 1).to_string()
    }

    /// Records that the new contents of a file could not be produced. [`Journal::commit`] then changes nothing.
    pub fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Gives all files their new contents and names. Returns a sentence for each file that another program changed in
    /// the meantime.
    ///
    /// # Errors
    ///
    /// Returns an error, with nothing changed, if new contents failed, another program changed a file, a new name is
    /// taken, or a folder is not writable. If the system rejects a later step, the change is incomplete, and the next
    /// run completes it.
    pub fn commit(&self) -> Result<Vec<String>> {
        let unmoved =
            |why: &str| Error::of(error::ErrorKind::File, format!("{why}; nothing was moved"));
        if self.has_failed.load(Ordering::Relaxed) {
            return Err(unmoved("not every file can be moved"));
        }
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        self.record(&steps).map_err(|error| unmoved(&error.to_string()))?;
        self.stage.apply(&steps, self.beside.as_deref())
    }

    /// Checks all steps, and commits them by writing the journal.
    fn record(&self, steps: &[FileMove]) -> Result<()> {
        self.stage.check(steps)?;
        if self.beside.is_some() {
            self.stage.write(BESIDE, &self.bytes_beside)?;
        }
        let [meaning, command] = &self.asked;
        let mut journal = fields([VERSION.as_bytes(), meaning.as_bytes(), command.as_bytes()]);
        for FileMove { old, new, seen } in steps {
            let [old, new] = [old, new].map(|path| path.as_os_str().as_encoded_bytes());
            journal.extend(fields([old, new, seen.as_deref().unwrap_or_default().as_bytes()]));
        }
        self.stage.write(JOURNAL, &journal)
    }
}

/// Joins fields, each followed by a NUL, which neither a path nor a command-line argument can contain.
fn fields<const N: usize>(fields: [&[u8]; N]) -> Vec<u8> {
    fields.into_iter().flat_map(|field| [field, &[0]].concat()).collect()
}

/// The size and modification time of a file, as text for journals.
fn seen(metadata: &Metadata) -> String {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{} {}", metadata.len(), time.unwrap_or_default().as_nanos())
}

/// The size and time of the file at `place` in the form of [`seen`]; `None` if there is no readable regular file.
fn seen_at(place: &NameInFolder) -> Option<String> {
    let file = place.folder.read(&place.name).ok()?;
    file.metadata().ok().filter(Metadata::is_file).map(|metadata| seen(&metadata))
}

/// The open folder `.baselink-move` and its parent. Dropping it removes the folder, unless it contains a journal.
#[derive(Debug)]
struct Stage {
    root: PathBuf,
    around: Arc<OpenFolder>,
    folder: Arc<OpenFolder>,
    /// The lock on the folder, released when this value is dropped or the process ends.
    _lock: File,
}

impl Stage {
    fn open(root: &Path) -> Result<Self> {
        let failed = |error| not_written(&root.join(STAGE), error);
        let around = Arc::new(OpenFolder::named(root).map_err(failed)?);
        loop {
            match around.make(STAGE.as_ref(), 0o700) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(failed(error));
                }
                _ => {}
            }
            let folder = match around.below(Path::new(STAGE)) {
                // Another process has just finished and removed the folder.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                folder => Arc::new(folder.map_err(failed)?),
            };
            let lock = match folder.create(LOCK.as_ref(), PRIVATE) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    folder.write(LOCK.as_ref())
                }
                created => created,
            };
            let lock = match lock {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                lock => lock.map_err(failed)?,
            };
            match hold(&lock) {
                LockOutcome::Taken => {
                    return Err(refused(root, "another process is moving files of this folder"));
                }
                LockOutcome::Held if names_of(&lock.metadata().map_err(failed)?) == 0 => {}
                LockOutcome::Held | LockOutcome::None => {
                    return Ok(Self { root: root.to_owned(), around, folder, _lock: lock });
                }
            }
        }
    }

    /// Removes the files of a run that was stopped before its commit.
    fn clear(&self) {
        for entry in fs::read_dir(self.folder.path()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name != LOCK {
                // If a file cannot be removed, replacing it later fails too, and nothing is moved.
                let _ = self.folder.remove(&name);
            }
        }
    }

    fn failed(&self, error: std::io::Error) -> Error {
        not_written(&self.root.join(STAGE), error)
    }

    fn write(&self, own: &str, bytes: &[u8]) -> Result<()> {
        let place = NameInFolder { folder: Arc::clone(&self.folder), name: own.into() };
        let mut file = Replacement::at(&self.root.join(STAGE).join(own), place)?;
        file.write(|out| out.write_all(bytes))?;
        file.commit().map(drop)?;
        self.sync([PathBuf::new()].into())
    }

    fn read(&self, own: &str) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let read = self.folder.read(own.as_ref()).and_then(|mut file| file.read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(&self.root.join(STAGE).join(own), error)),
        }
    }

    /// Syncs `.baselink-move` and these folders, given as paths below the root.
    fn sync(&self, folders: BTreeSet<PathBuf>) -> Result<()> {
        /// The number of folders to open at a time.
        const OPEN: usize = 64;
        for some in folders.into_iter().collect::<Vec<_>>().chunks(OPEN) {
            // A removed folder has no names to sync.
            let open: Vec<_> =
                some.iter().filter_map(|folder| self.around.below(folder).ok()).collect();
            let synced = SyncedFolders::sync(open.iter().chain([&*self.folder]));
            if let Some(why) = synced.first_failure() {
                return Err(refused(&self.root, why));
            }
        }
        Ok(())
    }

    /// The meaning, the command and the steps of the change that an earlier run committed; `None` if there is no
    /// journal.
    fn journal(&self) -> Result<Option<([String; 2], Vec<FileMove>)>> {
        let Some(bytes) = self.read(JOURNAL)? else { return Ok(None) };
        let unknown = || {
            let path = self.root.join(STAGE).join(JOURNAL);
            Error::file(
                &path,
                "the journal of another version of this program; complete the move with that version",
            )
        };
        let mut fields = bytes.split(|byte| *byte == 0).map(<[u8]>::to_vec);
        let mut next = || fields.next().ok_or_else(unknown);
        if next()? != VERSION.as_bytes() {
            return Err(unknown());
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let asked = [text(next()?), text(next()?)];
        let mut steps = Vec::new();
        loop {
            let old = next()?;
            if old.is_empty() {
                return Ok(Some((asked, steps)));
            }
            // A folder from an untrusted source may contain a forged journal.
            let is_inside =
                |path: &PathBuf| path.components().all(|it| matches!(it, Component::Normal(_)));
            let path = |bytes| os_string(bytes).map(PathBuf::from).filter(is_inside);
            let path = |bytes| path(bytes).ok_or_else(unknown);
            let (old, new, seen) = (path(old)?, path(next()?)?, text(next()?));
            steps.push(FileMove { old, new, seen: (!seen.is_empty()).then_some(seen) });
        }
    }

    /// The open folder and the name of `relative`; `None` if the folder does not exist.
    fn place(&self, relative: &Path) -> Result<Option<NameInFolder>> {
        let (folder, own) = split(relative);
        match self.around.below(folder) {
            Ok(folder) => Ok(Some(NameInFolder { folder: Arc::new(folder), name: own.to_owned() })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(not_written(&self.root.join(relative), error)),
        }
    }

    /// True if `.baselink-move` contains the file `own`.
    fn has(&self, own: &str) -> Result<bool> {
        let entry = self.folder.entry(own.as_ref()).map_err(|error| self.failed(error))?;
        Ok(entry.is_some())
    }

    /// Checks that all steps are possible.
    fn check(&self, steps: &[FileMove]) -> Result<()> {
        if self.has(REMOVED)? {
            let removed = self.root.join(STAGE).join(REMOVED);
            return Err(refused(&removed, "the file of an earlier run cannot be removed"));
        }
        let (mut folders, mut freed) = (BTreeSet::new(), HashSet::new());
        let renamed = steps.iter().filter(|step| step.old != step.new);
        let old_paths: HashSet<&Path> = renamed.map(|step| &*step.old).collect();
        for FileMove { old, new, seen } in steps {
            let path = self.root.join(old);
            let changed = || refused(&path, "another program changed it meanwhile");
            let place = self.place(old)?.ok_or_else(changed)?;
            let entry = place.entry().map_err(|error| not_written(&path, error))?;
            let entry = entry.ok_or_else(changed)?;
            if seen.is_some() && seen_at(&place) != *seen {
                return Err(changed());
            }
            if old != new {
                freed.extend(entry.identity);
            }
            folders.insert(split(old).0.to_owned());
        }
        for step in steps.iter().filter(|step| step.old != step.new) {
            let mut way = PathBuf::new();
            for own in &step.new {
                way.push(own);
                let Some(place) = self.place(&way)? else { break };
                let path = self.root.join(&way);
                let entry = place.entry().map_err(|error| not_written(&path, error))?;
                folders.insert(split(&way).0.to_owned());
                let is_freed =
                    |it: &ExistingEntry| it.identity.is_some_and(|file| freed.contains(&file));
                match entry {
                    Some(entry) if entry.kind == EntryKind::Folder && way != step.new => {}
                    Some(entry) if !old_paths.contains(&*way) && !is_freed(&entry) => {
                        return Err(refused(&path, "an entry that does not move has that name"));
                    }
                    _ => break,
                }
            }
        }
        let device = |folder: &OpenFolder| folder.identity().map(|(device, _)| device);
        for folder in folders {
            let path = self.root.join(&folder);
            let open = self.around.below(&folder).map_err(|error| not_written(&path, error))?;
            if device(&open) != device(&self.folder) {
                let why = "it is on another file system than the folder; move it with -o instead";
                return Err(refused(&path, why));
            }
            // Permission to create a file in a folder includes permission to remove one.
            NewFile::within(&Arc::new(open), PRIVATE).map_err(|error| not_written(&path, error))?;
        }
        Ok(())
    }

    /// Performs the remaining steps of the journal, and removes the journal.
    fn apply(&self, steps: &[FileMove], beside: Option<&Path>) -> Result<Vec<String>> {
        let go_on = |error: Error| {
            let why = format!(
                "{error}; the move is not complete: fix the cause, and repeat the command to complete it"
            );
            Error::of(error::ErrorKind::File, why)
        };
        self.apply_steps(steps, beside).map_err(go_on)
    }

    fn apply_steps(&self, steps: &[FileMove], beside: Option<&Path>) -> Result<Vec<String>> {
        let mut remarks = Vec::new();
        if !self.has(REMOVED)? {
            self.remove_old(steps, &mut remarks)?;
            self.write(REMOVED, b"")?;
        }
        self.give_names(steps, &mut remarks)?;
        if let Some((path, bytes)) = beside.zip(self.read(BESIDE)?) {
            remove_left_beside(iter::once(path));
            let mut file = Replacement::begin(path)?;
            file.write(|out| out.write_all(&bytes))?;
            file.commit()?;
        }
        self.remove_empty(steps);
        self.folder.remove(JOURNAL.as_ref()).map_err(|error| self.failed(error))?;
        // Dropping the stage deletes `removed`. If the journal survived a crash without that file, the next run would
        // remove the old names again.
        self.sync([PathBuf::new()].into())?;
        Ok(remarks)
    }

    /// Removes the old names of files that get new ones.
    fn remove_old(&self, steps: &[FileMove], remarks: &mut Vec<String>) -> Result<()> {
        let mut folders = BTreeSet::new();
        for (number, step) in steps.iter().enumerate().filter(|(_, step)| step.old != step.new) {
            let number = number.to_string();
            let Some(place) = self.place(&step.old)? else { continue };
            let done = match &step.seen {
                // An earlier run has already moved the file into `.baselink-move`.
                None if self.has(&number)? => Ok(()),
                None => place.folder.rename(&place.name, &self.folder, number.as_ref()),
                Some(seen) => match seen_at(&place) {
                    Some(now) if now == *seen => place.folder.remove(&place.name),
                    Some(_) => {
                        let [old, new] = [&step.old, &step.new].map(|it| name(&self.root.join(it)));
                        remarks.push(format!(
                            "{old}: another program changed it meanwhile, so it was kept; its earlier contents are in {new}"
                        ));
                        Ok(())
                    }
                    None => Ok(()),
                },
            };
            if let Err(error) = done
                && error.kind() != ErrorKind::NotFound
            {
                return Err(not_written(&self.root.join(&step.old), error));
            }
            folders.insert(split(&step.old).0.to_owned());
        }
        self.sync(folders)
    }

    /// Gives files their new contents under their new names.
    fn give_names(&self, steps: &[FileMove], remarks: &mut Vec<String>) -> Result<()> {
        let real = fs::canonicalize(&self.root).map_err(|error| Error::io(&self.root, error))?;
        let mirror = Mirror::new(&real)?;
        let mut folders = BTreeSet::new();
        for (number, step) in steps.iter().enumerate() {
            let number = number.to_string();
            if !self.has(&number)? {
                continue;
            }
            let path = self.root.join(&step.new);
            mirror.folder(&real.join(split(&step.old).0), split(&step.new).0)?;
            let place = self.place(&step.new)?;
            let place = place.ok_or_else(|| refused(&path, "its folder was removed meanwhile"))?;
            let stays = step.old == step.new && step.seen.is_some() && seen_at(&place) == step.seen;
            let free =
                |own: &OsStr| self.folder.rename_if_free(number.as_ref(), &place.folder, own);
            let done = match stays {
                true => self.folder.rename(number.as_ref(), &place.folder, &place.name),
                false => match free(&place.name) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        let mut beside = place.name.clone();
                        beside.push(MOVED);
                        let new = name(&path.with_file_name(&beside));
                        remarks.push(format!(
                            "{}: another program changed it meanwhile, so it was kept; the moved contents are in {new}",
                            name(&path)
                        ));
                        free(&beside)
                    }
                    done => done,
                },
            };
            done.map_err(|error| not_written(&path, error))?;
            folders.insert(split(&step.new).0.to_owned());
        }
        self.sync(folders)
    }

    /// Removes the folders of old names that have become empty.
    fn remove_empty(&self, steps: &[FileMove]) {
        for step in steps.iter().filter(|step| step.old != step.new) {
            let mut folder = split(&step.old).0;
            while !folder.as_os_str().is_empty() {
                let place = self.place(folder).ok().flatten();
                if place.is_none_or(|place| place.folder.remove_folder(&place.name).is_err()) {
                    break;
                }
                folder = split(folder).0;
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if matches!(self.has(JOURNAL), Ok(false)) {
            self.clear();
            // A process that starts now creates its own folder.
            let _ = self.folder.remove(LOCK.as_ref());
            let _ = self.around.remove_folder(STAGE.as_ref());
        }
    }
}

/// The folder of a path below the root, and the name in the folder.
fn split(relative: &Path) -> (&Path, &OsStr) {
    let folder = relative.parent().unwrap_or(Path::new(""));
    (folder, relative.file_name().unwrap_or_default())
}
