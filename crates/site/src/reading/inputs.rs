//! The inputs of a run, and the options for reading them.
//!
//! ```
//! use baselink_site::reading::Inputs;
//!
//! let mut inputs = Inputs::default();
//! inputs.paths = vec!["-".into(), "src".into()];
//! assert_eq!(inputs.roots().count(), 1);
//! ```
//!
//! Deliberately absent: opening them ([`super::File`]).

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use baselink_files::{
    is_standard_input,
    shared::locked,
    walk::{EntryKind, Selection, TreeEntry},
};
use baselink_rewrite::Options;
use baselink_text::Format;
use baselink_url::is_of_own_network;

use crate::collection::{
    origin::{Origins, RootUrl},
    same::SameTable,
};

/// The options for reading documents.
#[derive(Default)]
pub struct Reading {
    /// The format of all documents; `None` if it is detected for each.
    pub format: Option<Format>,
    /// The library's options.
    pub options: Options,
    /// The sources of retrieval URLs.
    pub origins: Origins,
    /// Prefixes of URLs that mean the same.
    pub same: Arc<SameTable>,
}

/// The inputs, and the options for reading them.
#[derive(Default)]
pub struct Inputs {
    /// Files and folders; `-` is standard input; never empty.
    pub paths: Vec<PathBuf>,
    /// The selection of files in folders.
    pub selection: Selection,
    /// The files and folders to read in the only folder of `paths`, if a page with its saved files was named instead
    /// of that folder.
    pub parts: Vec<PathBuf>,
    /// The number of threads.
    pub jobs: usize,
    /// True if each file has a result file, so that large files need not wait for each other.
    pub has_result_files: bool,
    /// The archives that are read.
    pub archives: Archives,
    /// True if results are copies that browsers open from disk.
    pub opens_from_disk: bool,
    /// The archives that are read with the files of the folder, each with its parts.
    pub library: Vec<Vec<TreeEntry>>,
    /// The number of symbolic links to archives in unpacked WACZ files.
    pub skipped_links: usize,
    /// The formats of files of a crawl whose names do not tell them.
    formats: Mutex<HashMap<PathBuf, Format>>,
    /// The options for reading.
    pub reading: Reading,
    /// The path of each root below the settings folder, if the settings give the URL or layout of that folder.
    pub below_settings: HashMap<PathBuf, PathBuf>,
}

/// The archives that are read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Archives {
    /// None: the command is about folders. Pages saved as MHTML are archives, too.
    None,
    /// Only named archives, as in `Named`. Pages saved as MHTML are archives, too.
    Site,
    /// Only named archives. An archive found in a folder is skipped, because its documents would become files
    /// elsewhere.
    Named,
    /// All.
    #[default]
    All,
}

impl Inputs {
    /// The named files and folders, without standard input.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.paths
            .iter()
            .map(PathBuf::as_path)
            .filter(|path| !is_standard_input(path))
    }

    /// The paths of [`Inputs::roots`].
    pub fn root_paths(&self) -> Vec<PathBuf> {
        self.roots().map(Path::to_owned).collect()
    }

    /// `entry` with its path below the settings folder, if the settings give the URL or layout of that folder.
    pub fn below_settings_folder(&self, entry: &TreeEntry) -> Option<TreeEntry> {
        let relative = self
            .below_settings
            .get(&*entry.root)?
            .iter()
            .map(OsString::from)
            .chain(entry.relative.iter().cloned());
        Some(TreeEntry {
            relative: relative.collect(),
            ..entry.clone()
        })
    }

    /// The sources of retrieval URLs for files in the first named folder, relative to that folder.
    pub fn origins(&self) -> Origins {
        let origins = self.reading.origins.clone();
        let Some(folder) = self.paths.first() else {
            return origins;
        };
        let inside = TreeEntry {
            root: folder.as_path().into(),
            relative: vec!["x".into()],
            path: PathBuf::new(),
            kind: EntryKind::File,
            size: 0,
        };
        let Some(seen) = self.below_settings_folder(&inside) else {
            return origins;
        };
        let of_paths = Origins {
            map: None,
            index: Vec::new(),
            ..origins.clone()
        };
        let (retrieval, _) = of_paths.of(&seen, &seen, Format::Other, b"");
        let url = retrieval.as_ref().and_then(|one| one.url.strip_suffix('x'));
        match url.map(RootUrl::new) {
            Some(Ok(root_url)) => Origins {
                root_url: Some(root_url),
                has_hosts: false,
                ..origins
            },
            _ => origins,
        }
    }

    /// Sets the format of the file `path`, whose name does not tell it.
    pub fn learn_format(&self, path: &Path, format: Format) {
        locked(&self.formats).insert(path.to_owned(), format);
    }

    /// The format of the file `path`, if it was learned.
    pub fn learned_format(&self, path: &Path) -> Option<Format> {
        locked(&self.formats).get(path).copied()
    }

    /// True if a list for crawlers may have `url`. In a library, any page may name addresses of the user's own network.
    pub fn may_list(&self, url: &str) -> bool {
        self.library.is_empty() || !is_of_own_network(url)
    }

    /// True if a named path is a folder, or in one with the others.
    pub fn has_folder(&self) -> bool {
        self.selection.in_one_folder || self.roots().any(Path::is_dir)
    }
}
