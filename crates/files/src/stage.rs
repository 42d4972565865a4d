//! New contents and new names for many files of a folder, applied together.
//!
//! ```text
//! DIR/.baselink-k2m9xwa6trc0/0, 1, …    the new contents; while they are written, every file of DIR stays unchanged
//! DIR/b.html, …                         after all checks, each file gets its contents and its name by a rename
//! ```
//!
//! The name of the temporary folder is random, and no run reads the folder of another run. A run that is killed before
//! the first rename leaves all files unchanged. Between the first and the last rename, each file is complete, under its
//! old name or its new one, but the set is mixed and must be restored from a copy.
//!
//! An old name is removed after all new names are on disk. Only an old name that another file needs, as when two files
//! swap their names, is removed before; the contents are then in the temporary folder, which is kept if the run fails.
//!
//! ```
//! use std::{fs, path::Path};
//! use baselink_files::{stage::StagedMove, write::{InPlace, Original}};
//!
//! let folder = tempfile::tempdir()?;
//! let [a, b] = ["a.html", "b.html"].map(|name| folder.path().join(name));
//! fs::write(&a, "old")?;
//! let staged = StagedMove::begin(folder.path(), InPlace::default())?;
//! let mut new = staged.replace(&Original::of(&a)?, Path::new("a.html"), Path::new("b.html"))?;
//! new.write(|out| out.write_all(b"new"))?;
//! new.commit()?;
//! assert_eq!(fs::read(&a)?, b"old");
//! assert!(staged.commit(|| false)?);
//! assert_eq!((fs::read(&b)?, a.exists()), (b"new".to_vec(), false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: undoing a move; symbolic links and empty folders, which are not moved; and computing the new
//! contents.

use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsString,
    fs::{self, File, Metadata, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use baselink_text::{Error, Result, cause, name};

use super::{
    file::{EntryKind, folder_of, identity, names_of, not_written, refused},
    folder::{NameInFolder, OpenFolder},
    new_file::{NewFile, PRIVATE, create_folder, sync_folder},
    original::is_as_seen,
    result_folder::ResultFolder,
    shared::locked,
    write::{Committed, InPlace, NewContents, Original},
};

/// New contents and names for the files of a folder. [`StagedMove::commit`] applies them; a value that is dropped
/// earlier leaves the folder unchanged.
pub struct StagedMove {
    root: PathBuf,
    around: OpenFolder,
    /// The temporary folder. The new contents of a file are called after the number of its step.
    folder: Arc<OpenFolder>,
    own_name: OsString,
    how: InPlace,
    /// The path and contents of an additional file, inside or outside the folder.
    pub beside: Option<(PathBuf, Vec<u8>)>,
    steps: Mutex<Vec<FileMove>>,
    has_failed: AtomicBool,
    /// True if the temporary folder may hold the only copy of a file.
    is_kept: AtomicBool,
    /// The lock on the folder, released when this value is dropped or the process ends.
    _lock: Option<File>,
}

/// The change of one file.
struct FileMove {
    /// The path of the file below the folder, before the change.
    old: PathBuf,
    /// Its path after the change, which may be the same.
    new: PathBuf,
    /// The metadata of the old file.
    seen: Metadata,
    /// True if the file gets new contents.
    is_changed: bool,
}

impl FileMove {
    fn is_renamed(&self) -> bool {
        self.old != self.new
    }

    /// True if `now` describes the file as it was read. A file that keeps its contents may have been written since.
    fn is_same(&self, now: &Metadata) -> bool {
        if self.is_changed {
            is_as_seen(now, &self.seen)
        } else {
            now.is_file() && identity(now) == identity(&self.seen)
        }
    }
}

/// The progress of [`StagedMove::commit`].
#[derive(Default)]
struct Applied {
    /// True if a file or a name has changed.
    has_begun: bool,
    /// The number of files with their new contents and names.
    moved: usize,
}

impl StagedMove {
    /// Begins to change the files of the folder `root`, with the settings `how`.
    ///
    /// # Errors
    ///
    /// Returns the system's errors, and an error if another process is changing the folder.
    pub fn begin(root: &Path, how: InPlace) -> Result<Self> {
        let around = OpenFolder::named(root).map_err(Error::io(root))?;
        let lock = around.itself().ok();
        let held = lock.as_ref().map(File::try_lock);
        if matches!(held, Some(Err(TryLockError::WouldBlock))) {
            return Err(refused(
                root,
                "another process is moving files of this folder",
            ));
        }
        let made = create_folder(&around).map_err(not_written(root))?;
        Ok(Self {
            root: root.to_owned(),
            around,
            folder: Arc::new(made.1),
            own_name: made.0,
            how,
            beside: None,
            steps: Mutex::default(),
            has_failed: AtomicBool::new(false),
            is_kept: AtomicBool::new(false),
            _lock: lock,
        })
    }

    /// Begins to write the new contents of `original`. Its path below the folder changes from `old` to `new`. Call
    /// [`NewContents::commit`] for each file, and [`StagedMove::commit`] at the end.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`InPlace::begin`].
    pub fn replace(&self, original: &Original, old: &Path, new: &Path) -> Result<NewContents> {
        let number = self.add(original, old, new, true);
        self.how
            .stage(original, &self.root.join(new), self.staged(number))
    }

    /// Renames the file `original` from `old` to `new` without changing its contents.
    pub fn rename(&self, original: &Original, old: &Path, new: &Path) -> Committed {
        self.add(original, old, new, false);
        Committed {
            path: self.root.join(new),
            lost: Vec::new(),
        }
    }

    /// Adds a step, and returns its number.
    fn add(&self, original: &Original, old: &Path, new: &Path, is_changed: bool) -> usize {
        let mut steps = locked(&self.steps);
        steps.push(FileMove {
            old: old.to_owned(),
            new: new.to_owned(),
            seen: original.seen.clone(),
            is_changed,
        });
        steps.len() - 1
    }

    /// The place in the temporary folder for the step with this number.
    fn staged(&self, number: usize) -> NameInFolder {
        NameInFolder {
            folder: Arc::clone(&self.folder),
            name: number.to_string().into(),
        }
    }

    /// Records that the new contents of a file could not be produced. [`StagedMove::commit`] then changes nothing.
    pub fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Gives all files their new contents and names. Returns false, with nothing changed, if `is_stopped` is true before
    /// the first rename. After the last rename, the function completes the change.
    ///
    /// # Errors
    ///
    /// Returns an error, with nothing changed, if new contents failed, another program changed a file, a new name is
    /// taken, or a folder is not writable. If the system rejects a later step, or `is_stopped` becomes true between two
    /// renames, the error says how many files have moved.
    pub fn commit(&self, is_stopped: impl Fn() -> bool) -> Result<bool> {
        let steps = locked(&self.steps);
        let mut applied = Applied::default();
        let failed = match self.check_and_apply(&steps, &is_stopped, &mut applied) {
            Ok(()) => return Ok(true),
            Err(_) if !applied.has_begun && is_stopped() => return Ok(false),
            Err(error) => error,
        };
        if !applied.has_begun {
            return Err(Error::new(format!("{failed}; nothing was moved")));
        }
        let rest =
            if (0..steps.len()).any(|number| matches!(self.staged(number).entry(), Ok(Some(_)))) {
                format!(
                    "; contents that were not moved are in {}",
                    name(&self.root.join(&self.own_name))
                )
            } else {
                String::new()
            };
        self.is_kept.store(true, Ordering::Relaxed);
        let (moved, all, root) = (applied.moved, steps.len(), name(&self.root));
        let why = format!(
            "{failed}; {moved} of {all} files were moved: restore {root} from version control or from a copy{rest}"
        );
        Err(Error::new(why))
    }

    fn check_and_apply(
        &self,
        steps: &[FileMove],
        is_stopped: &dyn Fn() -> bool,
        applied: &mut Applied,
    ) -> Result<()> {
        let go_on = || {
            if is_stopped() {
                Err(Error::new("stopped by a signal"))
            } else {
                Ok(())
            }
        };
        if self.has_failed.load(Ordering::Relaxed) {
            return Err(Error::new("not every file can be moved"));
        }
        let in_the_way = self.check(steps)?;
        let beside = self.begin_beside(steps)?;
        let real = fs::canonicalize(&self.root).map_err(Error::io(&self.root))?;
        let folders = ResultFolder::new(&real)?;
        go_on()?;
        applied.has_begun = self.back_up(steps)?;
        if let Some((path, file)) = beside {
            go_on()?;
            let written = file.commit();
            applied.has_begun |= path.symlink_metadata().is_ok();
            written?;
        }
        for number in &in_the_way {
            go_on()?;
            self.free_name(*number, &steps[*number])?;
            applied.has_begun = true;
        }
        for (number, step) in steps.iter().enumerate() {
            go_on()?;
            folders.folder(&real.join(around(&step.old)), around(&step.new))?;
            self.give_name(
                number,
                step,
                step.is_changed || in_the_way.contains(&number),
            )?;
            (applied.has_begun, applied.moved) = (true, applied.moved + 1);
        }
        self.sync(
            steps
                .iter()
                .map(|step| around(&step.new).to_owned())
                .collect(),
        )?;
        let renamed = steps.iter().enumerate();
        for (number, step) in renamed.filter(|(_, step)| step.is_renamed()) {
            if step.is_changed && !in_the_way.contains(&number) {
                self.free_name(number, step)?;
            }
            self.remove_empty(&step.old);
        }
        Ok(())
    }

    /// Begins to write the additional file.
    fn begin_beside(&self, steps: &[FileMove]) -> Result<Option<(&Path, NewContents)>> {
        let Some((path, bytes)) = &self.beside else {
            return Ok(None);
        };
        let real = |folder| fs::canonicalize(folder).map_err(Error::io(folder));
        let (root, folder) = (real(&self.root)?, real(folder_of(path))?);
        let place = folder.join(path.file_name().unwrap_or_default());
        if steps.iter().any(|step| root.join(&step.new) == place) {
            return Err(refused(path, "a file that moves gets that name"));
        }
        let mut file = NewContents::begin(path)?;
        file.write(|out| out.write_all(bytes))?;
        Ok(Some((path, file)))
    }

    /// Syncs these folders, given as paths below the root.
    fn sync(&self, folders: BTreeSet<PathBuf>) -> Result<()> {
        for folder in folders {
            let open = self.around.below(&folder);
            open.and_then(|open| sync_folder(&open))
                .map_err(|error| refused(&self.root.join(&folder), &cause(&error)))?;
        }
        Ok(())
    }

    /// The open folder and the name of `relative`; `None` if the folder does not exist.
    fn place(&self, relative: &Path) -> Result<Option<NameInFolder>> {
        match self.around.place(relative) {
            Ok(place) => Ok(Some(place)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(not_written(&self.root.join(relative))(error)),
        }
    }

    /// The place of the old file, which has not changed since it was read.
    fn old_place(&self, step: &FileMove) -> Result<NameInFolder> {
        let place = self.place(&step.old)?;
        let now = |place: &NameInFolder| place.read()?.metadata();
        place
            .filter(|place| now(place).is_ok_and(|now| step.is_same(&now)))
            .ok_or_else(|| {
                refused(
                    &self.root.join(&step.old),
                    "another program changed it meanwhile",
                )
            })
    }

    /// Checks that all steps are possible. Returns the numbers of the steps whose old names other files need.
    fn check(&self, steps: &[FileMove]) -> Result<BTreeSet<usize>> {
        let (mut folders, mut in_the_way) = (BTreeSet::new(), BTreeSet::new());
        let (mut old_paths, mut files) = (HashMap::new(), HashMap::new());
        for (number, step) in steps.iter().enumerate() {
            self.old_place(step)?;
            folders.insert(around(&step.old).to_owned());
            if step.is_renamed() {
                old_paths.insert(&*step.old, number);
                // On a file system that ignores case, the old file also has the new name.
                let one_name = names_of(&step.seen) == 1;
                files.extend(identity(&step.seen).filter(|_| one_name).zip(Some(number)));
            }
        }
        for step in steps.iter().filter(|step| step.is_renamed()) {
            let mut way = PathBuf::new();
            for own in &step.new {
                way.push(own);
                let path = self.root.join(&way);
                let failed = not_written(&path);
                let Some(place) = self.place(&way)? else {
                    // The folder will be created. The system may reject the name, for example because it is too long.
                    self.folder.entry(own).map_err(failed)?;
                    continue;
                };
                folders.insert(around(&way).to_owned());
                let Some(entry) = place.entry().map_err(failed)? else {
                    continue;
                };
                if entry.kind == EntryKind::Folder && way != step.new {
                    continue;
                }
                let Some(number) = old_paths.get(&*way).or_else(|| files.get(&entry.identity))
                else {
                    return Err(refused(&path, "an entry that does not move has that name"));
                };
                in_the_way.insert(*number);
                break;
            }
        }
        let device = |folder: &OpenFolder| folder.identity().map(|(device, _)| device);
        for folder in folders {
            let path = self.root.join(&folder);
            let open = self.around.below(&folder).map_err(not_written(&path))?;
            if device(&open) != device(&self.folder) {
                let why = "it is on another file system than the folder; move it with -o instead";
                return Err(refused(&path, why));
            }
            // Permission to create a file in a folder includes permission to remove one.
            NewFile::within(&Arc::new(open), PRIVATE).map_err(not_written(&path))?;
        }
        Ok(in_the_way)
    }

    /// Keeps the old contents of changed files as their backups, if backups are wanted. Returns true if there are any.
    fn back_up(&self, steps: &[FileMove]) -> Result<bool> {
        let Some(suffix) = &self.how.backup else {
            return Ok(false);
        };
        let mut folders = BTreeSet::new();
        for step in steps.iter().filter(|step| step.is_changed) {
            Original::at(&self.root.join(&step.old), self.old_place(step)?)?.back_up(suffix)?;
            folders.insert(around(&step.old).to_owned());
        }
        let has_backups = !folders.is_empty();
        self.sync(folders)?;
        Ok(has_backups)
    }

    /// Removes the old name of a file with new contents. Moves a file without new contents to the temporary folder.
    fn free_name(&self, number: usize, step: &FileMove) -> Result<()> {
        let NameInFolder { folder, name } = self.old_place(step)?;
        let done = if step.is_changed {
            folder.remove(&name)
        } else {
            folder.rename(&name, &self.folder, number.to_string().as_ref())
        };
        done.map_err(not_written(&self.root.join(&step.old)))
    }

    /// Gives a file its new contents under its new name. If `is_staged` is true, they are in the temporary folder.
    fn give_name(&self, number: usize, step: &FileMove, is_staged: bool) -> Result<()> {
        let path = self.root.join(&step.new);
        let new = if step.is_renamed() {
            // Its folder exists by now.
            let why = "another program removed its folder meanwhile";
            self.place(&step.new)?.ok_or_else(|| refused(&path, why))?
        } else {
            self.old_place(step)?
        };
        let from = if is_staged {
            self.staged(number)
        } else {
            self.old_place(step)?
        };
        let done = if step.is_renamed() {
            from.folder
                .rename_if_free(&from.name, &new.folder, &new.name)
        } else {
            from.folder.rename(&from.name, &new.folder, &new.name)
        };
        done.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => refused(&path, "another program created it meanwhile"),
            _ => not_written(&path)(error),
        })
    }

    /// Removes the folders of an old name that have become empty.
    fn remove_empty(&self, old: &Path) {
        let folders = old
            .ancestors()
            .skip(1)
            .take_while(|folder| !folder.as_os_str().is_empty());
        for folder in folders {
            let place = self.place(folder).ok().flatten();
            if place.is_none_or(|place| place.folder.remove_folder(&place.name).is_err()) {
                break;
            }
        }
    }
}

impl Drop for StagedMove {
    fn drop(&mut self) {
        if !self.is_kept.load(Ordering::Relaxed) {
            let steps = locked(&self.steps).len();
            for number in 0..steps {
                let _ = self.folder.remove(number.to_string().as_ref());
            }
        }
        // A folder that is not empty stays.
        let _ = self.around.remove_folder(&self.own_name);
    }
}

/// The folder of a path below the root.
fn around(relative: &Path) -> &Path {
    relative.parent().unwrap_or(Path::new(""))
}
