//! The files below named folders, and named files, in a stable order.
//!
//! Names are compared as bytes and need not be UTF-8. The contents of a folder take its place in the sort order.
//! Special files (FIFOs, sockets, devices) are entries too, and the walk never opens them. Below a root it skips
//! temporary files of this program by their name ([`is_temporary`]).
//!
//! ```
//! use baselink_files::walk::{Globs, Selection, walk};
//! let root = tempfile::tempdir().unwrap();
//! std::fs::create_dir(root.path().join("b")).unwrap();
//! for name in ["c.css", "b/x.html", "a.html"] {
//!     std::fs::write(root.path().join(name), "").unwrap();
//! }
//! let selection = Selection { include: Globs::new(&["*.html"]).unwrap(), ..Selection::default() };
//! let found: Vec<_> = walk(&[root.path().to_owned()], &selection)
//!     .map(|entry| entry.unwrap().relative.join("/".as_ref()))
//!     .collect();
//! assert_eq!(found, ["a.html", "b/x.html"]);
//! ```
//!
//! Deliberately absent: formats, and ignore files such as `.gitignore`.

use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry as Slot},
    ffi::OsString,
    fs::{self, File, Metadata},
    io::{self, ErrorKind},
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use baselink_text::{Error, Result, name};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use walkdir::WalkDir;

use super::{
    file::is_standard_input,
    folder::{NameInFolder, OpenFolder, is_of_another_kind},
    maildir,
    write::{Original, is_temporary},
};
pub use super::{
    file::{EntryKind, open_file},
    folder::open_below,
};

/// Patterns for paths below a root.
///
/// `*` and `?` do not match `/`; `**` matches any number of folders; `[…]` and `{…,…}` work as in a shell. A
/// pattern without `/` is matched against the name at any depth, and a pattern with `/` against the whole path
/// below the root, with or without a leading `/`. A pattern that ends with `/` matches everything below a folder
/// that the rest of the pattern matches. Matching is case-sensitive.
#[derive(Clone, Debug, Default)]
pub struct Globs(GlobSet);

/// The largest sum of the lengths of patterns, in bytes. Each byte may take a kilobyte of memory.
const LONGEST: usize = 32 << 10;

/// The names of hidden files and folders that are parts of a web site.
const OF_SITES: [&[u8]; 3] = [b".htaccess", b".nojekyll", b".well-known"];

impl Globs {
    /// Creates a set of patterns.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first invalid pattern and the reason.
    pub fn new(patterns: &[impl AsRef<str>]) -> Result<Self> {
        let length: usize = patterns.iter().map(|pattern| pattern.as_ref().len()).sum();
        if length > LONGEST {
            return Err(Error::new("the patterns together are longer than 32 KiB"));
        }
        let mut set = GlobSetBuilder::new();
        let refused = |pattern: &str, error: &globset::Error| {
            Error::new(format!("{pattern}: not a valid pattern: {}", error.kind()))
        };
        for pattern in patterns.iter().map(AsRef::as_ref) {
            let glob = GlobBuilder::new(&anchored(pattern))
                .literal_separator(true)
                .build();
            set.add(glob.map_err(|error| refused(pattern, &error))?);
        }
        set.build()
            .map(Self)
            .map_err(|error| refused("these globs", &error))
    }

    /// A pattern that matches only the path `relative`; `None` if the path is not Unicode. In
    /// [`Selection::exclude`] it also excludes everything below.
    pub fn exact(relative: &Path) -> Option<String> {
        // The library escapes all special characters but this one.
        let escaped = globset::escape(relative.to_str()?).replace('\\', r"[\]");
        Some(format!("/{escaped}"))
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a pattern matches `relative`, a path below a root.
    pub fn is_match(&self, relative: &Path) -> bool {
        self.0.is_match(relative)
    }
}

/// Converts `pattern` to a pattern for whole paths.
fn anchored(pattern: &str) -> String {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let (path, below) = match pattern.strip_suffix('/') {
        Some(folder) => (folder, "/**"),
        None => (pattern, ""),
    };
    let anywhere = if path.contains('/') { "" } else { "**/" };
    format!(
        "{anywhere}{}{below}",
        path.strip_prefix('/').unwrap_or(path)
    )
}

/// Selects files below a root. A named file or folder is always selected.
#[derive(Clone, Default)]
pub struct Selection {
    /// If not empty, only files that match are selected.
    pub include: Globs,
    /// Files that match are skipped, and so is everything below a folder that matches.
    pub exclude: Globs,
    /// True if names that begin with `.`, and everything below such folders, are included.
    pub hidden: bool,
    /// True if symbolic links are followed. A root that is a symbolic link is always followed.
    pub follow: bool,
    /// True if folders are entries too, each before its contents. `include` does not apply to them.
    pub folders: bool,
    /// The former paths of files and folders below the root, by their present paths.
    pub former: HashMap<PathBuf, PathBuf>,
    /// True if the roots are read as the files and folders of one folder, so that paths below it begin with their names.
    pub in_one_folder: bool,
}

impl Selection {
    /// The former path of `path`, which is below the root.
    fn before<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        let around = path.ancestors().filter(|_| !self.former.is_empty());
        for around in around {
            if let Some(former) = self.former.get(around)
                && let Ok(rest) = path.strip_prefix(around)
            {
                return former.iter().chain(rest).collect::<PathBuf>().into();
            }
        }
        path.into()
    }

    /// True if no pattern was given.
    pub fn takes_all(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// True if `include` is empty or matches `path` or a folder above it, and `exclude` matches none of them.
    pub fn takes(&self, path: &Path) -> bool {
        let is_in = |globs: &Globs| path.ancestors().any(|around| globs.is_match(around));
        (self.include.is_empty() || is_in(&self.include)) && !is_in(&self.exclude)
    }
}

/// A named folder or file.
///
/// The walk opens a root folder when it reaches it. All entries below are opened and written through the open folder,
/// even if another folder takes its name.
#[derive(Clone, Debug)]
pub struct Root {
    path: Arc<Path>,
    folder: Option<Arc<OpenFolder>>,
}

impl Deref for Root {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl From<&Path> for Root {
    fn from(path: &Path) -> Self {
        Self {
            path: path.into(),
            folder: None,
        }
    }
}

impl Root {
    fn folder(&self) -> io::Result<Arc<OpenFolder>> {
        match &self.folder {
            Some(folder) => Ok(Arc::clone(folder)),
            None => OpenFolder::named(&self.path).map(Arc::new),
        }
    }
}

/// An entry that the walk found.
#[derive(Clone, Debug)]
pub struct TreeEntry {
    /// The root, as it was named.
    pub root: Root,
    /// The names from the root to the entry, before it was [moved](Selection::former); empty for the root itself.
    pub relative: Vec<OsString>,
    /// The path: `root`, and the names from there to the entry.
    pub path: PathBuf,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The size in bytes when the entry was found. For a symbolic link that is not followed, it is the size of the
    /// link; for a folder, 0.
    pub size: u64,
}

impl TreeEntry {
    /// Standard input, whose path is `-`.
    pub fn standard_input() -> Self {
        Self {
            root: Path::new("-").into(),
            relative: Vec::new(),
            path: "-".into(),
            kind: EntryKind::Special,
            size: 0,
        }
    }

    /// True for standard input. A file of that name has the path `./-`.
    pub fn is_standard_input(&self) -> bool {
        is_standard_input(&self.path)
    }

    /// Opens the file for reading, and returns it with its metadata. A named file may be of any kind, even a pipe. A
    /// file below a root must still be a regular file. Without `follow`, no name from the root to the file may have
    /// become a symbolic link.
    ///
    /// # Errors
    ///
    /// Returns the system's errors, and an error if the entry has been replaced.
    pub fn open(&self, follow: bool) -> Result<(File, Metadata)> {
        let system = |error: io::Error| failed(&self.path, error);
        let file = if self.is_root() && self.kind != EntryKind::File {
            Some(File::open(&self.path).map_err(system)?)
        } else if self.is_root() || follow {
            open_file(&self.path).map_err(system)?
        } else {
            let opened = self.place().and_then(|place| place.read());
            Some(opened.map_err(|error| self.not_opened(error))?)
        };
        let file = file.ok_or_else(|| self.is_other())?;
        let metadata = file.metadata().map_err(system)?;
        if self.kind == EntryKind::File && !metadata.is_file() {
            return Err(self.is_other());
        }
        Ok((file, metadata))
    }

    /// Examines the file before it is replaced. No name from the root to the file may have become a symbolic link.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Original::of`], and an error if the entry has been replaced.
    pub fn original(&self) -> Result<Original> {
        let place = self.place().map_err(|error| self.not_opened(error))?;
        Original::at(&self.path, place)
    }

    fn place(&self) -> io::Result<NameInFolder> {
        if self.is_root() {
            NameInFolder::of(&self.path)
        } else {
            self.root.folder()?.place(&self.below_root())
        }
    }

    fn is_root(&self) -> bool {
        *self.path == *self.root
    }

    /// The path below the root.
    pub fn below_root(&self) -> PathBuf {
        let below = self.path.strip_prefix(&*self.root);
        below.map_or_else(|_| self.relative.iter().collect(), Path::to_owned)
    }

    /// True if the entry was named rather than found in a folder.
    pub fn is_named(&self) -> bool {
        self.relative.is_empty()
    }

    fn not_opened(&self, error: io::Error) -> Error {
        if is_of_another_kind(&error) {
            self.is_other()
        } else {
            failed(&self.path, error)
        }
    }

    fn is_other(&self) -> Error {
        Error::file(&self.path, "another program replaced it; skipped")
    }
}

/// Iterates over the files below `roots` that `selection` accepts, root by root.
///
/// A file below two roots, or named twice, is returned once, for the first root that selects it;
/// [`TreeWalk::overlaps`] names such roots. Memory grows with the paths in the folders from a root to the current
/// file, about 150 bytes each. With several roots, one path per file is stored too.
///
/// An error is an item of the iteration, which then continues. Examples are a folder without read permission, and a
/// symbolic link that is broken or leads to a parent folder.
pub fn walk<'s>(roots: &[PathBuf], selection: &'s Selection) -> TreeWalk<'s> {
    let canonical: Vec<_> = roots
        .iter()
        .map(|root| fs::canonicalize(root).ok())
        .collect();
    let mut first: HashMap<&Path, usize> = HashMap::new();
    for (number, path) in canonical.iter().enumerate() {
        if let Some(path) = path {
            first.entry(path).or_insert(number);
        }
    }
    let mut overlaps = vec![None; roots.len()];
    for (number, path) in canonical.iter().enumerate() {
        for around in path.iter().flat_map(|path| path.ancestors()) {
            let Some(&other) = first.get(around).filter(|other| **other != number) else {
                continue;
            };
            let (inner, outer) = (name(&roots[number]), name(&roots[other]));
            let earlier = name(&roots[number.min(other)]);
            overlaps[number.max(other)].get_or_insert_with(|| {
                if path.as_deref() == Some(around) {
                    format!("{inner} and {outer} are the same: each file is read once")
                } else {
                    format!("{inner} is in {outer}: each file is read once, with {earlier}")
                }
            });
        }
    }
    let several = roots.len() > 1;
    TreeWalk {
        hidden: Vec::new(),
        selection,
        overlaps: overlaps.into_iter().flatten().collect(),
        roots: roots
            .iter()
            .zip(canonical)
            .map(|(path, canonical)| WalkRoot {
                path: path.as_path().into(),
                canonical: canonical.filter(|_| several),
            })
            .collect(),
        number: 0,
        below: None,
        open: None,
        taken: HashMap::new(),
        unread: Vec::new(),
    }
}

struct WalkRoot {
    path: Arc<Path>,
    /// The path without symbolic links; `None` for the only root, whose files cannot occur twice.
    canonical: Option<PathBuf>,
}

/// The iterator of [`walk`].
pub struct TreeWalk<'s> {
    /// The paths, below their roots, of the hidden files and folders skipped so far.
    pub hidden: Vec<PathBuf>,
    selection: &'s Selection,
    roots: Vec<WalkRoot>,
    /// A sentence for each root that shares files with an earlier one.
    pub overlaps: Vec<String>,
    /// The index of the next root.
    number: usize,
    below: Option<walkdir::IntoIter>,
    /// The current root.
    open: Option<Root>,
    /// The paths of the files found so far, without symbolic links, each with the index of its root. Empty if there is
    /// only one root.
    taken: HashMap<PathBuf, usize>,
    unread: Vec<PathBuf>,
}

impl TreeWalk<'_> {
    /// The paths, below their roots, of the entries that could not be read so far. If such an entry is a folder, its
    /// contents are unknown.
    pub fn unread_below_roots(&self) -> impl Iterator<Item = &Path> {
        self.unread.iter().filter_map(|path| {
            let mut roots = self.roots.iter();
            roots.find_map(|root| path.strip_prefix(&root.path).ok())
        })
    }

    /// The entry for `found` below the root with the index `number`; `None` if it is skipped.
    fn entry(&mut self, number: usize, found: &walkdir::DirEntry) -> Option<Result<TreeEntry>> {
        let root = self.roots.get(number)?;
        let path = found.path();
        let is_root = found.depth() == 0;
        let below = path.strip_prefix(&root.path).unwrap_or(Path::new(""));
        let is_folder = found.file_type().is_dir();
        let is_own = is_temporary(found.file_name());
        let own_bytes = found.file_name().as_encoded_bytes();
        let is_hidden =
            !self.selection.hidden && own_bytes.starts_with(b".") && !OF_SITES.contains(&own_bytes);
        let is_excluded = self.selection.exclude.is_match(below);
        if !is_root && (is_own || is_hidden || is_excluded) {
            if is_folder && let Some(walk) = &mut self.below {
                walk.skip_current_dir();
            }
            if !is_excluded && !is_own {
                self.hidden.push(below.to_owned());
            }
            return None;
        }
        let wanted = if is_folder {
            self.selection.folders
        } else {
            let include = &self.selection.include;
            is_root || include.is_empty() || include.is_match(below)
        };
        if !wanted {
            return None;
        }
        let metadata = if is_root {
            fs::metadata(path).map_err(|error| (is_there(&error), failed(path, error)))
        } else {
            found
                .metadata()
                .map_err(|error| (error.io_error().is_some_and(is_there), sentence(error)))
        };
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err((false, _)) if !is_root && maildir::is_delivery(path) => return None,
            Err((is_unread, error)) => {
                self.unread.extend(is_unread.then(|| path.to_owned()));
                return Some(Err(error));
            }
        };
        // walkdir also enters a root that is a symbolic link to a folder.
        let is_folder = metadata.is_dir();
        if is_folder && !self.selection.folders {
            return None;
        }
        let former = self.selection.before(below);
        let own_name = root
            .path
            .file_name()
            .filter(|_| self.selection.in_one_folder);
        let relative = own_name.into_iter().chain(former.iter());
        let relative = relative.map(OsString::from).collect();
        if let Some(canonical) = &root.canonical {
            let without_links = if self.selection.follow {
                fs::canonicalize(path).unwrap_or_else(|_| canonical.join(below))
            } else {
                canonical.join(below)
            };
            match self.taken.entry(without_links) {
                Slot::Occupied(taken) if *taken.get() != number => return None,
                Slot::Occupied(_) => {}
                Slot::Vacant(slot) => {
                    slot.insert(number);
                }
            }
        }
        Some(Ok(TreeEntry {
            root: self.open.clone()?,
            relative,
            path: path.to_owned(),
            kind: EntryKind::of(metadata.file_type()),
            size: if is_folder { 0 } else { metadata.len() },
        }))
    }
}

impl Iterator for TreeWalk<'_> {
    type Item = Result<TreeEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(below) = &mut self.below else {
                let root = self.roots.get(self.number)?;
                let (path, folder) = (Arc::clone(&root.path), OpenFolder::named(&root.path).ok());
                self.open = Some(Root {
                    path,
                    folder: folder.map(Arc::new),
                });
                // walkdir compares only entries of the same folder, so their paths differ only in the last name.
                let walk = WalkDir::new(&root.path)
                    .follow_links(self.selection.follow)
                    .sort_by(|left, right| left.path().as_os_str().cmp(right.path().as_os_str()));
                self.below = Some(walk.into_iter());
                self.number += 1;
                continue;
            };
            match below.next() {
                None => self.below = None,
                Some(Err(error)) => {
                    let is_unread = error.io_error().is_some_and(is_there);
                    self.unread
                        .extend(error.path().filter(|_| is_unread).map(Path::to_owned));
                    return Some(Err(sentence(error)));
                }
                Some(Ok(found)) => {
                    if let Some(entry) = self.entry(self.number - 1, &found) {
                        return Some(entry);
                    }
                }
            }
        }
    }
}

/// True if the entry exists but could not be read.
fn is_there(error: &io::Error) -> bool {
    error.kind() != ErrorKind::NotFound
}

fn sentence(error: walkdir::Error) -> Error {
    let path = error.path().unwrap_or(Path::new("")).to_owned();
    if let Some(ancestor) = error.loop_ancestor() {
        let why = format!(
            "a link to {}, which contains it; not followed",
            name(ancestor)
        );
        return Error::file(&path, &why);
    }
    let message = error.to_string();
    match error.into_io_error() {
        Some(error) => failed(&path, error),
        None => Error::new(message),
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    if error.kind() == ErrorKind::NotFound && path.is_symlink() {
        return Error::system(format!("{}: a broken symbolic link", name(path)), error);
    }
    Error::io(path)(error)
}
