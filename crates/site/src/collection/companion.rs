//! Companion folders on disk: the folders in which browsers save the files of a page.
//!
//! ```
//! use baselink_site::collection::companion::Companions;
//! let folder = tempfile::tempdir().unwrap();
//! std::fs::create_dir(folder.path().join("x_files")).unwrap();
//! std::fs::write(folder.path().join("x.html"), "").unwrap();
//! let companions = Companions::default();
//! assert!(companions.has(&folder.path().join("x_files/a.css")));
//! ```
//!
//! Deliberately absent: the names of companion folders, which are in [`baselink_rewrite::copies`], and the contents
//! of saved files.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

use baselink_rewrite::{NearbyFiles, copies::stem_of_companion};
use baselink_scan::{
    Program, Saved,
    html::saved::{HEAD, saved},
};
use baselink_text::Format;
use baselink_url::{reference::contains_placeholder, without_fragment};

use baselink_files::{
    entries_in, folder_of, head_of,
    shared::locked,
    walk::{TreeEntry, open_file},
};

use crate::collection::origin::{hosts, names::is_number, usable::unusable};

/// The number of enclosing folders to check. Firefox saves the files of a frame in a folder within the companion
/// folder.
const LEVELS: usize = 8;

/// A cache of facts about companion folders, shared by its clones.
#[derive(Clone, Debug, Default)]
pub struct Companions {
    /// True if the comments of programs that saved pages are ignored.
    pub(super) ignores_pages: bool,
    facts: Arc<Mutex<HashMap<PathBuf, Arc<PathFacts>>>>,
}

/// Facts about a path, each found out once. Only callers that ask about the same path wait for the answer.
#[derive(Debug, Default)]
struct PathFacts {
    /// The pages in a folder that contains a possible companion folder.
    pages: OnceLock<Pages>,
    /// The nearest companion folder, which may be the folder itself or one around it.
    around: OnceLock<Option<Arc<Path>>>,
    /// True if Firefox named the files of the folder.
    is_named_by_firefox: OnceLock<bool>,
    /// The comment in which a page records its source.
    comment: OnceLock<Option<Saved>>,
}

/// The names of the existing companion folders of `page`.
pub fn folders_of(page: &Path) -> Vec<OsString> {
    let stem = page.file_stem().unwrap_or_default();
    let names = entries_in(folder_of(page))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name());
    let is_companion = |name: &OsString| {
        name.to_str()
            .and_then(stem_of_companion)
            .is_some_and(|other| stem == other)
    };
    let mut names: Vec<_> = names.filter(is_companion).collect();
    names.sort();
    names
}

/// The pages in a folder.
#[derive(Debug, Default)]
struct Pages {
    /// The names without extensions.
    stems: HashSet<String>,
    paths: Vec<PathBuf>,
    /// True if a browser saved one of the pages. The page may have been renamed since.
    has_saved_page: OnceLock<bool>,
}

impl Companions {
    /// Creates a cache. If `pages` is true, it trusts the comments in which pages record their source.
    pub fn trusting(pages: bool) -> Self {
        Self {
            ignores_pages: !pages,
            ..Self::default()
        }
    }

    /// The files around the document `entry`. In a tree with folders named after hosts, `depth` is the number of names
    /// in the path from the folder of all hosts to the document. `scheme` is the scheme of URLs on these hosts, and of
    /// URLs that HTTrack writes without a scheme.
    pub fn beside(
        &self,
        entry: &TreeEntry,
        depth: Option<usize>,
        scheme: &str,
    ) -> Arc<dyn NearbyFiles> {
        let path = absolute(&entry.path);
        let root = if entry.is_named() {
            folder_of(&path).to_owned()
        } else {
            absolute(&entry.root)
        };
        Arc::new(OnDisk {
            hosts: depth
                .and_then(|depth| path.ancestors().nth(depth))
                .map(Path::to_owned),
            scheme: scheme.into(),
            companions: self.clone(),
            root,
            path,
        })
    }

    /// True if the file `path` is anywhere below the companion folder of a page.
    pub fn has(&self, path: &Path) -> bool {
        self.around(&absolute(path)).is_some()
    }

    /// The facts about `path`.
    fn of(&self, path: &Path) -> Arc<PathFacts> {
        let mut facts = locked(&self.facts);
        Arc::clone(facts.entry(path.to_owned()).or_default())
    }

    /// The companion folder that contains the file `path`.
    fn around(&self, path: &Path) -> Option<Arc<Path>> {
        let folder = path.parent()?;
        let find = || {
            let mut folders = folder.ancestors().take(LEVELS);
            folders
                .find(|folder| self.is_companion(folder))
                .map(Arc::from)
        };
        self.of(folder).around.get_or_init(find).clone()
    }

    /// True if `folder` is a companion folder: its name has a known suffix, and one of these conditions holds. A page
    /// next to it has the same name; a page next to it records that a browser saved it; or Firefox named the files in
    /// it.
    fn is_companion(&self, folder: &Path) -> bool {
        let name = folder.file_name().map(|name| name.to_string_lossy());
        let stem = name.as_deref().and_then(stem_of_companion);
        stem.zip(folder.parent()).is_some_and(|(stem, around)| {
            let facts = self.of(around);
            let pages = facts.pages.get_or_init(|| Pages::of(around));
            pages.stems.contains(stem)
                || (!self.ignores_pages && pages.has_saved_page())
                || self.is_named_by_firefox(folder)
        })
    }

    /// True if Firefox named all files in `folder`.
    fn is_named_by_firefox(&self, folder: &Path) -> bool {
        let facts = self.of(folder);
        *facts
            .is_named_by_firefox
            .get_or_init(|| is_named_by_firefox(folder))
    }

    /// The comment about the source of the page `path`; `None` if the page is outside `root` because of a symbolic
    /// link.
    fn saved(&self, path: &Path, root: &Path) -> Option<Saved> {
        if self.ignores_pages || !is_page(path) {
            return None;
        }
        let read = || {
            let real = |path: &Path| path.canonicalize().ok();
            let is_inside = real(path)?.starts_with(real(root)?);
            is_inside.then(|| saved_comment(path)).flatten()
        };
        self.of(path).comment.get_or_init(read).clone()
    }
}

impl Pages {
    /// The pages in `folder`; none if the folder is unreadable.
    fn of(folder: &Path) -> Self {
        let mut pages = Self::default();
        for entry in entries_in(folder) {
            let path = entry.path();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && is_page(&path) {
                pages.stems.insert(stem(&path));
                pages.paths.push(path);
            }
        }
        pages
    }

    fn has_saved_page(&self) -> bool {
        let is_saved = |path: &PathBuf| {
            saved_comment(path).is_some_and(|saved| saved.program == Program::Browser)
        };
        *self
            .has_saved_page
            .get_or_init(|| self.paths.iter().any(is_saved))
    }
}

/// Makes `path` absolute, because folders above a relative path matter too.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The comment about the source of the page `path`.
fn saved_comment(path: &Path) -> Option<Saved> {
    let page = open_file(path).ok()??;
    saved(&head_of(page, path, HEAD).ok()?)
}

/// True if the names of all files in `folder` end in `_` and the same four characters before the extension. Firefox
/// chooses four random characters of base64url for each saved page. Four digits could be a year, and four lower-case
/// letters in the name of a single file could be a word, so these are rejected.
fn is_named_by_firefox(folder: &Path) -> bool {
    const DRAWN: usize = 4;
    if folder.is_symlink() {
        return false;
    }
    let (mut drawn, mut files) = (None::<String>, 0);
    for entry in entries_in(folder) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let stem = stem(&entry.path());
        let end = stem
            .len()
            .checked_sub(DRAWN)
            .and_then(|at| stem.split_at_checked(at));
        let found = match end {
            Some((before, end)) if before.ends_with('_') => end,
            _ => return false,
        };
        let is_of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if drawn.as_ref().is_some_and(|drawn| drawn != found) || !found.bytes().all(is_of_base64) {
            return false;
        }
        drawn.get_or_insert_with(|| found.to_owned());
        files += 1;
    }
    drawn.is_some_and(|drawn| {
        let is_word = drawn.bytes().all(|byte| byte.is_ascii_lowercase());
        !is_number(&drawn) && (files > 1 || !is_word)
    })
}

/// True if the file has the extension of a page.
fn is_page(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let pages = [Format::Html, Format::Xhtml];
    let mut known = pages.into_iter().flat_map(Format::extensions);
    extension.is_some_and(|extension| known.any(|other| other.eq_ignore_ascii_case(extension)))
}

/// The name of a file without its extension.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The files around a document on disk.
#[derive(Debug)]
struct OnDisk {
    /// The folder that contains the folders named after hosts.
    hosts: Option<PathBuf>,
    scheme: Box<str>,
    companions: Companions,
    path: PathBuf,
    /// The folder named on the command line, or the folder of the named file. Of the files outside it,
    /// only local copies are looked up.
    root: PathBuf,
}

impl OnDisk {
    /// The path of the file to which `path` leads from the folder of the document; `None` if `path` is absolute or
    /// leads above the root of the file system.
    fn resolved(&self, path: &str) -> Option<PathBuf> {
        // `..` removes the name before it (RFC 3986, 5.2.4), even if that name belongs to a symbolic link.
        let mut file = self.path.with_file_name("");
        for part in Path::new(path).components() {
            match part {
                Component::Normal(name) => file.push(name),
                Component::CurDir => {}
                Component::ParentDir if file.file_name().is_some() => drop(file.pop()),
                _ => return None,
            }
        }
        Some(file)
    }

    /// Like [`resolved`](Self::resolved), but `None` for files outside the root.
    fn in_root(&self, path: &str) -> Option<PathBuf> {
        self.resolved(path)
            .filter(|file| file.starts_with(&self.root))
    }
}

impl NearbyFiles for OnDisk {
    fn has_folder(&self, name: &str) -> bool {
        let is_name = Path::new(name).file_name() == Some(name.as_ref());
        is_name && self.path.with_file_name(name).is_dir()
    }

    fn is_in_companion(&self) -> bool {
        self.companions.around(&self.path).is_some()
    }

    fn has_copy(&self, path: &str) -> bool {
        let copy = self.companions.around(&self.path).zip(self.resolved(path));
        copy.is_some_and(|(companion, file)| file.starts_with(companion) && file.is_file())
    }

    fn is_companion(&self, folder: &str) -> bool {
        let path = self.path.with_file_name(folder);
        stem_of_companion(folder) == Some(&stem(&self.path))
            || self.companions.is_named_by_firefox(&path)
    }

    fn is_crawled(&self) -> bool {
        self.hosts.is_some()
    }

    fn host(&self, folder: &str) -> Option<String> {
        let net_loc = hosts::net_loc(folder, &self.scheme)?;
        let path = self.hosts.as_ref()?.join(folder);
        let is_there = || path.starts_with(&self.root) && path.is_dir();
        (hosts::is_telling(folder) || is_there()).then_some(net_loc)
    }

    fn has_file(&self, path: &str) -> bool {
        self.in_root(path).is_some_and(|file| file.is_file())
    }

    fn page_url(&self, path: &str) -> Option<String> {
        let saved = self.companions.saved(&self.in_root(path)?, &self.root)?;
        let url = saved
            .disbelief()
            .is_none()
            .then(|| saved.url(&self.scheme))?;
        let url = without_fragment(&url);
        // Anybody can write such a comment, so its URL is checked like the URL in the document's own comment.
        let is_usable = unusable(url).is_none() && !contains_placeholder(url);
        is_usable.then(|| url.to_owned())
    }
}
