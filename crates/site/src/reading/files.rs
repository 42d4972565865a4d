//! All requested files, processed on several threads, with their results in order.
//!
//! ```text
//! docs  -  page.html   -->   docs/a.html  docs/b.css  …  (standard input)  page.html
//! ```
//!
//! Each thread takes several files at a time ([`in_order`]). What is reported about a file goes to a listener of its own, and the
//! listeners are joined in the order of the files, so that output does not depend on the number of threads. Standard input, a
//! single file, and a large file without a result file report at once, because the output of a mailbox may be larger than memory.
//!
//! Deliberately absent: the work on a file, which the commands supply.

use std::{
    io, iter, mem,
    path::{Path, PathBuf},
};

use baselink_files::{
    is_standard_input,
    stop::is_stopped,
    walk::{EntryKind, TreeEntry, TreeWalk, walk},
};
use baselink_text::{Error, Result};

use super::{
    documents::Listener,
    in_order::{Bounds, QueueItem, in_order},
    inputs::Inputs,
    open::NonDocument,
};

/// The size from which a file is processed alone.
const LARGE: u64 = 64 << 20;
/// The largest number of files under way.
const UNDER_WAY: usize = 256;

impl Inputs {
    /// True if the inputs are more than small files.
    pub fn takes_long(&self) -> bool {
        let is_large = |path: &Path| {
            let seen = path.metadata();
            seen.is_ok_and(|seen| seen.is_dir() || seen.len() >= LARGE)
        };
        self.roots().any(is_large)
    }

    /// The requested files.
    pub fn files(&self) -> InputFiles<'_> {
        let paths = self
            .paths
            .chunk_by(|one, next| !(is_standard_input(one) || is_standard_input(next)));
        let source = |paths: &[PathBuf]| {
            (!is_standard_input(&paths[0])).then(|| walk(paths, &self.selection))
        };
        InputFiles {
            inputs: self,
            sources: paths.map(source).collect(),
            at: 0,
        }
    }
}

/// The requested files, in their order.
pub struct InputFiles<'i> {
    inputs: &'i Inputs,
    /// Named files and folders; `None` is standard input.
    sources: Vec<Option<TreeWalk<'i>>>,
    /// The number of sources that were read to their end.
    at: usize,
}

impl InputFiles<'_> {
    /// A sentence for each input that shares files with an earlier one.
    pub fn overlaps(&self) -> impl Iterator<Item = &String> {
        let sources = self.sources.iter().flatten();
        sources.flat_map(|walk| &walk.overlaps)
    }

    /// The hidden files and folders that were skipped.
    pub fn hidden(&self) -> Vec<Vec<u8>> {
        let hidden = self.sources.iter().flatten().flat_map(|walk| &walk.hidden);
        hidden
            .map(|path| path.as_os_str().as_encoded_bytes().to_vec())
            .collect()
    }

    /// Calls `work` for every file, on several threads, and `done` with each result, in the order of the files. Reports files that
    /// cannot be found, and returns their number.
    ///
    /// # Errors
    ///
    /// Returns the first error of `work` and `done`.
    pub fn each<L: Listener, T: Send>(
        &mut self,
        listener: &mut L,
        work: impl Fn(&TreeEntry, &mut L) -> io::Result<T> + Sync,
        mut done: impl FnMut(TreeEntry, T, &mut L) -> io::Result<()>,
    ) -> io::Result<usize> {
        let large = if self.inputs.has_result_files {
            u64::MAX
        } else {
            LARGE
        };
        let bounds = Bounds {
            threads: self.inputs.jobs,
            items: UNDER_WAY,
            size: large,
        };
        let (mut files, mut is_first) = (self.peekable(), true);
        let items = iter::from_fn(|| {
            let value = files.next().filter(|_| !is_stopped())?;
            let is_single = mem::take(&mut is_first) && files.peek().is_none();
            let size = value.as_ref().map_or(0, |entry| entry.size);
            let is_alone = is_single
                || size >= large
                || value.as_ref().is_ok_and(TreeEntry::is_standard_input);
            Some(QueueItem {
                value,
                size,
                is_alone,
            })
        });
        let blank = listener.blank();
        let process = |file: Result<TreeEntry>, listener: &mut L| {
            file.map(|entry| {
                let result = (!is_stopped()).then(|| work(&entry, listener));
                (entry, result)
            })
        };
        let mut failed = 0;
        // Without a result, the run was stopped.
        let receive = |(processed, later): (Result<(TreeEntry, Option<_>)>, L),
                       listener: &mut L| {
            match processed {
                Ok((_, None)) => {}
                Ok((entry, Some(result))) => {
                    let result: T = result?;
                    if entry.kind != EntryKind::Folder {
                        listener.finish_file(entry.size);
                    }
                    listener.append(later)?;
                    done(entry, result, listener)?;
                }
                Err(failure) => {
                    listener.error(&failure);
                    failed += 1;
                }
            }
            io::Result::Ok(())
        };
        in_order(bounds, items, listener, || blank.blank(), process, receive)?;
        Ok(failed)
    }
}

impl Iterator for InputFiles<'_> {
    type Item = Result<TreeEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let source = self.sources.get_mut(self.at)?;
            let found = source.as_mut().and_then(Iterator::next);
            if let Some(found) = found {
                return Some(found);
            }
            self.at += 1;
            if source.is_none() {
                return Some(Ok(TreeEntry::standard_input()));
            }
        }
    }
}

/// The reason why a file was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// A folder, whose files follow.
    Folder,
    /// A file that is not a document.
    NonDocument,
    /// An archive, which the command does not read.
    Archive,
    /// A symbolic link.
    Link,
    /// A backup of an earlier run.
    Backup,
    /// A message that is being delivered.
    Delivery,
    /// A file that could not be used; the error was reported.
    Unusable,
}

impl SkipReason {
    /// The reason for a file that is not a document.
    pub fn of(file: &NonDocument) -> Self {
        if file.is_archive {
            Self::Archive
        } else {
            Self::NonDocument
        }
    }
}

/// The reason to skip `entry`, from its kind of file; `None` if it is opened. Anything named is opened, except
/// folders.
///
/// # Errors
///
/// A device, a pipe or a socket was found in a folder; opening it might block forever.
pub fn skip_reason(entry: &TreeEntry) -> Result<Option<SkipReason>> {
    Ok(match entry.kind {
        EntryKind::Folder => Some(SkipReason::Folder),
        _ if entry.is_named() => None,
        EntryKind::File => None,
        EntryKind::Symlink => Some(SkipReason::Link),
        EntryKind::Special => {
            return Err(Error::file(&entry.path, "not a regular file; skipped"));
        }
    })
}
