//! The output folder, and the place of each file in it.
//!
//! ```text
//! docs/a/x.html, one folder of several  -->  OUT/docs/a/x.html;   the only folder  -->  OUT/a/x.html
//! ```
//!
//! Deliberately absent: writing files, which `baselink_cli::files` does.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::collection::Collection;
use crate::collection::folder::{name_of as name_of_entry, path_of};
use crate::files::mirror::Mirror;
use crate::files::walk::{Selection, TreeEntry, walk};
use crate::files::write::Replacement;
use baselink_text::error::{Error, Result, name};
use baselink_text::format::Format;

use super::output::{Output, count};
use super::request::Documents;

/// A folder for the results of all inputs.
pub(crate) struct OutputFolder {
    pub(crate) mirror: Mirror,
    /// True if the folder had files before the run.
    had_files: bool,
    follow: bool,
    /// The collection with the new names of files, if some are renamed.
    renamed: Option<Arc<Collection>>,
    /// The name of each root in the folder; `None` if the root becomes the folder itself.
    names: HashMap<PathBuf, Option<OsString>>,
}

/// Rejects an output folder that contains the input `root` or is inside it; `otherwise` is further advice for the
/// message.
fn require_apart(mirror: &Mirror, root: &Path, otherwise: &str) -> Result<()> {
    match mirror.conflicts_with(root)? {
        Some(why) => Err(Error::new(format!("{why}; name another{otherwise}"))),
        None => Ok(()),
    }
}

/// Opens the output folder `out`. A new one that is named like a document may be meant as a file.
pub(crate) fn open_folder(out: &Path) -> Result<Mirror> {
    let typed = out.to_string_lossy();
    if Format::detect(Some(&typed), b"").is_read() && !out.exists() {
        let why = "the result is a folder, not a file; name it without an ending, such as -o result, or with a final /";
        return Err(Error::file(out, why));
    }
    Mirror::new(out)
}

/// Reports the files in the folder `out` that this run did not write.
fn report_others(out: &Path, is_written: impl Fn(&TreeEntry) -> bool, output: &mut Output) {
    let selection = Selection::default();
    let found = walk(&[out.to_owned()], &selection).flatten();
    let others = found.filter(|entry| !is_written(entry));
    let mut others: Vec<_> = others.map(|entry| name_of_entry(&entry)).collect();
    others.sort_unstable();
    let (were, them) = match others.len() {
        1 => ("was", "it"),
        _ => ("were", "them"),
    };
    let (files, out) = (count(others.len(), "file", "files"), name(out));
    let advice = format!("remove {them}, or use a new folder");
    output.notice_of_paths(
        &format!("{files} in {out} {were} not written by this run; {advice}"),
        &others,
    );
}

impl OutputFolder {
    pub(crate) fn of(out: &Path, documents: &Documents) -> Result<Self> {
        let mirror = open_folder(out)?;
        let had_files = !mirror.is_empty();
        let roots: Vec<_> = documents.roots().collect();
        let is_alone = matches!(roots[..], [root] if root.is_dir());
        let otherwise = if documents.has_result_files || documents.selection.follow {
            ""
        } else {
            ", or use --in-place"
        };
        let mut names = HashMap::new();
        let mut taken: HashMap<OsString, &Path> = HashMap::new();
        for root in roots {
            // A missing input is reported when it is read.
            if fs::metadata(root).is_err() || names.contains_key(root) {
                continue;
            }
            let parts = documents.parts.iter().map(PathBuf::as_path);
            let read = if documents.parts.is_empty() {
                vec![root]
            } else {
                parts.collect()
            };
            read.into_iter()
                .try_for_each(|path| require_apart(&mirror, path, otherwise))?;
            let own = name_of(root)?;
            if !is_alone && let Some(other) = taken.insert(own.clone(), root) {
                let (root, other, place) = (name(root), name(other), name(&out.join(&own)));
                return Err(Error::new(format!(
                    "{root} and {other} would both become {place}; give each an output folder of its own"
                )));
            }
            names.insert(root.to_owned(), (!is_alone).then_some(own));
        }
        // A folder that cannot be written to fails here once, instead of for every file.
        if let Some(root) = documents.roots().find(|root| root.exists()) {
            let like = if root.is_dir() {
                root
            } else {
                root.parent().unwrap_or(root)
            };
            mirror.folder(like, Path::new(""))?;
        }
        Ok(Self {
            mirror,
            had_files,
            follow: documents.selection.follow,
            renamed: None,
            names,
        })
    }

    /// Gives each file the name that `collection` has for it in a mirror.
    pub(crate) fn renaming(self, collection: &Arc<Collection>) -> Self {
        Self {
            renamed: Some(Arc::clone(collection)),
            ..self
        }
    }

    pub(crate) fn preserving_times(self) -> Self {
        Self {
            mirror: self.mirror.preserving_times(),
            ..self
        }
    }

    /// Reports the files that the folder had and that this run did not write.
    pub(crate) fn report_others(&self, output: &mut Output) {
        if self.had_files {
            let is_written = |entry: &TreeEntry| self.mirror.has_written(&entry.path);
            report_others(&self.mirror.out, is_written, output);
        }
    }

    /// Begins a copy of `entry`, as it is now, at the path `to` below the folder.
    pub(crate) fn copy(&self, entry: &TreeEntry, to: &Path) -> Result<Replacement> {
        self.mirror.copy(entry.open(self.follow)?, &entry.path, to)
    }

    /// The path of `entry`, relative to the folder.
    pub(crate) fn place(&self, entry: &TreeEntry) -> Result<PathBuf> {
        // A symbolic link may lead into the output folder.
        if self.follow {
            require_apart(&self.mirror, &entry.path, "")?;
        }
        let root = self.names.get(&*entry.root).and_then(Option::as_ref);
        let in_mirror = |collection: &Arc<Collection>| {
            let name = name_of_entry(entry);
            match collection.number_at(&name) {
                Some(number) => path_of(collection.path_in_mirror(number)),
                None => path_of(&collection.renamed_with_folder(&name)?),
            }
        };
        match self.renamed.as_ref().and_then(in_mirror) {
            Some(path) => Ok(root.map(PathBuf::from).unwrap_or_default().join(path)),
            None => Ok(root.into_iter().chain(&entry.relative).collect()),
        }
    }
}

/// The last component of the path to `root`.
fn name_of(root: &Path) -> Result<OsString> {
    if let Some(name) = root.file_name() {
        return Ok(name.to_owned());
    }
    let real = fs::canonicalize(root).map_err(Error::io(root))?;
    let nameless = || {
        Error::file(
            root,
            "the path has no file name to use in the output folder",
        )
    };
    real.file_name().map(OsString::from).ok_or_else(nameless)
}
