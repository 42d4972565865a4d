//! Files of a folder that get new contents and new names, all of them or none.
//!
//! ```text
//! DIR/.baselink-move/0, 1, …    the new contents; in DIR all is as it was, and a stop here undoes itself
//! DIR/.baselink-move/journal    written last: from now on the new contents count, whatever stops the program
//! DIR/b.html, …                 they go to their names; after a stop, the next run goes on here
//! ```
//!
//! Old names are removed first, of all files, and new ones are given then (`removed` is between the two). So two files may
//! swap their names, and a step that was taken already is seen by what is there.
//!
//! ```
//! use std::{fs, path::Path};
//! use baselink::files::{journal::{Begun, AskedChange, Journal}, write::{InPlace, Original}};
//!
//! let folder = tempfile::tempdir()?;
//! let [a, b] = ["a.html", "b.html"].map(|name| folder.path().join(name));
//! fs::write(&a, "old")?;
//! let change = AskedChange { meaning: "a to b", command: "move", beside: None };
//! let Begun::New(journal) = Journal::begin(folder.path(), &InPlace::default(), &change)? else {
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
//! A file that another program changes after the last look at it is never lost: it stays, and what it would have become lies
//! beside it (`b.html.moved`).
//!
//! Deliberately absent: symbolic links and empty folders, which stay where they are; what the new contents are.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read as _};
use std::iter;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use super::disk::{Folders, New, PRIVATE};
use super::file::{EntryKind, There, names_of, not_written, os_string, refused};
use super::folder::{NameInFolder, OpenFolder};
use super::mirror::Mirror;
use super::temporary::{Lock, hold};
use super::write::{Committed, InPlace, Original, Replacement, remove_left_beside};
use crate::error::{self, Error, Result, name};

/// The folder with the new contents. No walk enters it: its name is that of a temporary file.
const STAGE: &str = ".baselink-move";
/// What the files in it are called that are no new contents.
const JOURNAL: &str = "journal";
const REMOVED: &str = "removed";
const BESIDE: &str = "beside";
const LOCK: &str = "lock";
/// The first field of a journal. Another version of the program leaves what it does not know.
const VERSION: &str = "baselink move 1";
/// The end of the name of what could not get its place.
const MOVED: &str = ".moved";

/// New contents and names of files of a folder, which has its old ones until [`Journal::commit`]. Dropped before that, it
/// leaves nothing.
#[derive(Debug)]
pub struct Journal {
    stage: Stage,
    how: InPlace,
    /// The meaning and the command of the change.
    asked: [String; 2],
    beside: Option<PathBuf>,
    /// The bytes of that file.
    bytes_beside: Vec<u8>,
    steps: Mutex<Vec<FileMove>>,
    has_failed: AtomicBool,
}

/// A change of many files that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AskedChange<'a> {
    /// A text that only the same change has.
    pub meaning: &'a str,
    /// The command to give again, if the run is stopped.
    pub command: &'a str,
    /// A file that is written when the others have their new contents.
    pub beside: Option<&'a Path>,
}

/// The begin of a [`Journal`].
#[derive(Debug)]
pub enum Begun {
    New(Journal),
    /// An earlier run of the same change had been stopped after its commit. What was left of it is done now. The sentences are
    /// about files that another program changed meanwhile.
    Finished(Vec<String>),
    /// An earlier run of another change, which this command asked for, was stopped, and has to be completed first.
    Other(String),
}

/// What becomes of a file.
#[derive(Debug)]
struct FileMove {
    /// Its paths below the folder.
    old: PathBuf,
    new: PathBuf,
    /// What the old file looked like, if it gets new contents.
    seen: Option<String>,
}

impl Journal {
    /// Begins to change the files of the folder `root`, as `how` says. If an earlier run of the same change was stopped after
    /// its commit, this does what is left of that, and nothing else.
    ///
    /// # Errors
    ///
    /// The system's; another process is at it; an earlier run's work cannot be done.
    pub fn begin(root: &Path, how: &InPlace, change: &AskedChange<'_>) -> Result<Begun> {
        let stage = Stage::open(root)?;
        let asked = [change.meaning, change.command].map(str::to_owned);
        let beside = change.beside.map(Path::to_owned);
        let Some(([meaning, command], steps)) = stage.journal()? else {
            stage.clear();
            let (how, bytes_beside) = (how.clone(), Vec::new());
            let (steps, has_failed) = (Mutex::default(), AtomicBool::new(false));
            let new = Self { stage, how, asked, beside, bytes_beside, steps, has_failed };
            return Ok(Begun::New(new));
        };
        if meaning != change.meaning {
            return Ok(Begun::Other(command));
        }
        stage.apply(&steps, change.beside).map(Begun::Finished)
    }

    /// True if a run was stopped after it had committed changes to the folder `root`, and no other has gone on with them.
    #[must_use]
    pub fn is_left(root: &Path) -> bool {
        root.join(STAGE).join(JOURNAL).is_file()
    }

    /// The journal with the bytes of the file beside.
    #[must_use]
    pub fn with(self, bytes_beside: Vec<u8>) -> Self {
        Self { bytes_beside, ..self }
    }

    /// Begins to write the new contents of `original`, which is at `old` below the folder and comes to `new`. They count from
    /// [`Journal::commit`] on, and have to be committed before themselves.
    ///
    /// # Errors
    ///
    /// The errors of [`InPlace::begin`].
    pub fn replace(&self, original: &Original, old: &Path, new: &Path) -> Result<Replacement> {
        let name = self.add(old, new, Some(seen(original.seen())));
        let place = NameInFolder { folder: Arc::clone(&self.stage.folder), name: name.into() };
        self.how.stage(original, &self.stage.root.join(new), place)
    }

    /// Gives the file at `old` the name `new`. Its contents stay.
    pub fn rename(&self, old: &Path, new: &Path) -> Committed {
        self.add(old, new, None);
        Committed { path: self.stage.root.join(new), lost: Vec::new() }
    }

    fn add(&self, old: &Path, new: &Path, seen: Option<String>) -> String {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.push(FileMove { old: old.to_owned(), new: new.to_owned(), seen });
        (steps.len() - 1).to_string()
    }

    /// Declares that the new contents of a file could not be made, so that nothing may change.
    pub fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Gives all files their new contents and names. Returns sentences about files that another program changed meanwhile.
    ///
    /// # Errors
    ///
    /// Nothing has changed: new contents failed, a file was changed meanwhile, a new name has another file, a folder may not
    /// be written. Or the system refused a later step: the sentence says so, and the next run goes on there.
    pub fn commit(&self) -> Result<Vec<String>> {
        let unmoved = |why: &str| {
            Error::of(
                error::ErrorKind::File,
                format!("{why}; nothing was moved, and all files are as they were"),
            )
        };
        if self.has_failed.load(Ordering::Relaxed) {
            return Err(unmoved("not every file can be moved"));
        }
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        self.record(&steps).map_err(|error| unmoved(&error.to_string()))?;
        self.stage.apply(&steps, self.beside.as_deref())
    }

    /// Writes what is to be done; from then on it counts.
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

/// Fields, each with its end. Neither a path nor an argument of a program has a NUL in it.
fn fields<const N: usize>(of: [&[u8]; N]) -> Vec<u8> {
    of.into_iter().flat_map(|field| [field, &[0]].concat()).collect()
}

/// What a file looks like whose contents are replaced: its size, and when it was changed. The text stands in journals.
fn seen(metadata: &Metadata) -> String {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{} {}", metadata.len(), time.unwrap_or_default().as_nanos())
}

/// What the file at `place` looks like now; `None` if there is none that can be read.
fn seen_at(place: &NameInFolder) -> Option<String> {
    let file = place.folder.read(&place.name).ok()?;
    file.metadata().ok().filter(Metadata::is_file).map(|metadata| seen(&metadata))
}

/// The folder with the new contents, in the folder that they are for. Without a journal in it, dropping it removes it.
#[derive(Debug)]
struct Stage {
    root: PathBuf,
    around: Arc<OpenFolder>,
    folder: Arc<OpenFolder>,
    /// Held as long as this program is at it.
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
                // The process that was at it has just removed it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                folder => Arc::new(folder.map_err(failed)?),
            };
            let lock = match folder.create(LOCK.as_ref(), PRIVATE) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    folder.write(LOCK.as_ref())
                }
                made => made,
            };
            let lock = match lock {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                lock => lock.map_err(failed)?,
            };
            match hold(&lock) {
                Lock::Taken => {
                    return Err(refused(root, "another process is moving files of this folder"));
                }
                Lock::Held if names_of(&lock.metadata().map_err(failed)?) == 0 => {}
                Lock::Held | Lock::None => {
                    return Ok(Self { root: root.to_owned(), around, folder, _lock: lock });
                }
            }
        }
    }

    /// Removes what a run left that was stopped before its commit.
    fn clear(&self) {
        for entry in fs::read_dir(self.folder.path()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name != LOCK {
                // What cannot be removed is replaced by what comes under its name.
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

    /// Puts the names in these folders below the root on the disk, and those in this one.
    fn sync(&self, folders: BTreeSet<PathBuf>) -> Result<()> {
        /// The number of folders that are open at a time.
        const OPEN: usize = 64;
        for some in folders.into_iter().collect::<Vec<_>>().chunks(OPEN) {
            // One that is gone has no names.
            let open: Vec<_> = some.iter().filter_map(|one| self.around.below(one).ok()).collect();
            let synced = Folders::sync(open.iter().chain([&*self.folder]));
            if let Some(why) = synced.first_failure() {
                return Err(refused(&self.root, why));
            }
        }
        Ok(())
    }

    /// What an earlier run committed: the meaning and the command of the change, and what becomes of each file.
    fn journal(&self) -> Result<Option<([String; 2], Vec<FileMove>)>> {
        let Some(bytes) = self.read(JOURNAL)? else { return Ok(None) };
        let unknown = || {
            let path = self.root.join(STAGE).join(JOURNAL);
            Error::file(
                &path,
                "the journal of another version of this program, which can go on with it",
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
            // The folder may be somebody else's, and its journal, too.
            let is_inside =
                |path: &PathBuf| path.components().all(|one| matches!(one, Component::Normal(_)));
            let path = |bytes| os_string(bytes).map(PathBuf::from).filter(is_inside);
            let path = |bytes| path(bytes).ok_or_else(unknown);
            let (old, new, seen) = (path(old)?, path(next()?)?, text(next()?));
            steps.push(FileMove { old, new, seen: (!seen.is_empty()).then_some(seen) });
        }
    }

    /// The place of `relative`; `None` if its folder is not there.
    fn place(&self, relative: &Path) -> Result<Option<NameInFolder>> {
        let (folder, own) = split(relative);
        match self.around.below(folder) {
            Ok(folder) => Ok(Some(NameInFolder { folder: Arc::new(folder), name: own.to_owned() })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(not_written(&self.root.join(relative), error)),
        }
    }

    fn has(&self, number: &str) -> Result<bool> {
        let there = self.folder.there(number.as_ref()).map_err(|error| self.failed(error))?;
        Ok(there.is_some())
    }

    /// Asks whether all steps can be taken.
    fn check(&self, steps: &[FileMove]) -> Result<()> {
        let (mut folders, mut freed) = (BTreeSet::new(), HashSet::new());
        let renamed = steps.iter().filter(|step| step.old != step.new);
        let old_paths: HashSet<&Path> = renamed.map(|step| &*step.old).collect();
        for FileMove { old, new, seen } in steps {
            let path = self.root.join(old);
            let changed = || refused(&path, "another program changed it meanwhile");
            let place = self.place(old)?.ok_or_else(changed)?;
            let there = place.there().map_err(|error| not_written(&path, error))?;
            let there = there.ok_or_else(changed)?;
            if seen.is_some() && seen_at(&place) != *seen {
                return Err(changed());
            }
            if old != new {
                freed.extend(there.identity);
            }
            folders.insert(split(old).0.to_owned());
        }
        for step in steps.iter().filter(|step| step.old != step.new) {
            let mut way = PathBuf::new();
            for own in &step.new {
                way.push(own);
                let Some(place) = self.place(&way)? else { break };
                let path = self.root.join(&way);
                let there = place.there().map_err(|error| not_written(&path, error))?;
                folders.insert(split(&way).0.to_owned());
                let is_freed = |it: &There| it.identity.is_some_and(|file| freed.contains(&file));
                match there {
                    Some(there) if there.kind == EntryKind::Folder && way != step.new => {}
                    Some(there) if !old_paths.contains(&*way) && !is_freed(&there) => {
                        return Err(refused(&path, "something that does not move has that name"));
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
            // Whoever may make a file in a folder may remove one.
            New::within(&Arc::new(open), PRIVATE).map_err(|error| not_written(&path, error))?;
        }
        Ok(())
    }

    /// Takes the steps of a journal that are left, and removes it.
    fn apply(&self, steps: &[FileMove], beside: Option<&Path>) -> Result<Vec<String>> {
        let go_on = |error: Error| {
            let why = format!(
                "{error}; the move is not complete: mend that, and the same command goes on"
            );
            Error::of(error::ErrorKind::File, why)
        };
        self.take(steps, beside).map_err(go_on)
    }

    fn take(&self, steps: &[FileMove], beside: Option<&Path>) -> Result<Vec<String>> {
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
        // A journal that comes back after a crash of the machine must not find old names to remove.
        self.sync([PathBuf::new()].into())?;
        Ok(remarks)
    }

    /// Takes their old names from the files that get others.
    fn remove_old(&self, steps: &[FileMove], remarks: &mut Vec<String>) -> Result<()> {
        let mut folders = BTreeSet::new();
        for (number, step) in steps.iter().enumerate().filter(|(_, step)| step.old != step.new) {
            let number = number.to_string();
            let Some(place) = self.place(&step.old)? else { continue };
            let done = match &step.seen {
                // It is in the folder of the new contents already.
                None if self.has(&number)? => Ok(()),
                None => place.folder.rename(&place.name, &self.folder, number.as_ref()),
                Some(seen) => match seen_at(&place) {
                    Some(now) if now == *seen => place.folder.remove(&place.name),
                    Some(_) => {
                        let [old, new] = [&step.old, &step.new].map(|it| name(&self.root.join(it)));
                        remarks.push(format!(
                            "{old}: another program changed it meanwhile, so it stays; as it was, it is {new} now"
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

    /// Gives files their new contents, under their new names.
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
                            "{}: another program changed it meanwhile, so it stays; what the move made is {new}",
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

    /// Removes the folders that lost their last file.
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
            // Another process that waits for it makes its own.
            let _ = self.folder.remove(LOCK.as_ref());
            let _ = self.around.remove_folder(STAGE.as_ref());
        }
    }
}

/// The folder of a path below the root, and the name in it.
fn split(relative: &Path) -> (&Path, &OsStr) {
    let folder = relative.parent().unwrap_or(Path::new(""));
    (folder, relative.file_name().unwrap_or_default())
}
