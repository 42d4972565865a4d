//! The documents of a request, and the place of one of them.
//!
//! ```text
//! baselink links --json page.html   -->   Documents { paths: [page.html], … }, Origin::Entry(page.html)
//! ```
//!
//! The structs of the commands ([`super::args`]) contain these types.
//!
//! Deliberately absent: the options of single commands.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    mem::take,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anstream::ColorChoice;
use baselink_text::{Error, Format, Result};
use clap::Args;

pub use super::args::documents::{Reading, is_standard_input};
use super::{args::documents::TypedDocuments, settings::Settings, shell};
pub use baselink_files::folder_of;
use baselink_files::{
    walk::{EntryKind, Selection, TreeEntry, walk},
    write::Suffix,
};
use baselink_site::collection::origin::{Origins, RootUrl};

/// The options for messages: how many are printed, and the use of colours.
#[derive(Clone, Copy, Default)]
pub struct Verbosity {
    pub quiet: bool,
    pub verbose: bool,
    pub color: ColorChoice,
}

/// The documents, and the options for reading them.
#[derive(Args)]
pub struct Documents {
    #[command(flatten)]
    pub typed: TypedDocuments,
    /// Files and folders; `-` is standard input; never empty.
    #[arg(skip)]
    pub paths: Vec<PathBuf>,
    /// The selection of files in folders.
    #[arg(skip)]
    pub selection: Selection,
    /// The files and folders to read in the only folder of `paths`, if a page with its saved files was named instead
    /// of that folder.
    #[arg(skip)]
    pub parts: Vec<PathBuf>,
    /// The number of threads.
    #[arg(skip)]
    pub jobs: usize,
    /// True if each file has a result file, so that large files need not wait for each other.
    #[arg(skip)]
    pub has_result_files: bool,
    /// The archives that are read.
    #[arg(skip)]
    pub archives: Archives,
    /// The number of symbolic links to archives in unpacked WACZ files.
    #[arg(skip)]
    pub skipped_links: usize,
    /// The formats of files of a crawl whose names do not tell them.
    #[arg(skip)]
    formats: Mutex<HashMap<PathBuf, Format>>,
    #[arg(skip)]
    pub reading: Reading,
    /// The path of each root below the settings folder, if the settings give the URL or layout of that folder.
    #[arg(skip)]
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
    #[default]
    All,
}

impl Documents {
    /// Checks the arguments, and reads the table of URLs. With `settings`, they give the URL or the layout of their
    /// folder.
    pub fn complete(&mut self, settings: Option<&Settings>) -> Result<()> {
        let typed = &mut self.typed;
        self.paths = take(&mut typed.paths);
        if self.paths.is_empty() {
            self.paths.push("-".into());
        }
        let inputs = self
            .paths
            .iter()
            .filter(|path| is_standard_input(path))
            .count();
        if inputs > 1 {
            return Err(Error::new(
                "standard input (-) can be read only once; name it once",
            ));
        }
        if inputs > 0 && typed.url_map.as_deref().is_some_and(is_standard_input) {
            return Err(Error::new(
                "--url-map -: standard input cannot be both the table and the document; name files",
            ));
        }
        self.selection = typed.selection()?;
        self.jobs = typed.jobs();
        self.reading = typed.reading()?;
        if let Some(settings) = settings {
            self.below_settings = self
                .roots()
                .map(|root| (root.to_owned(), settings.way_to(root)))
                .collect();
        }
        Ok(())
    }

    /// The named files and folders, without standard input.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.paths
            .iter()
            .map(PathBuf::as_path)
            .filter(|path| !is_standard_input(path))
    }

    /// An error if the last of several paths does not exist, so that it may be meant as the output, or as a form of links.
    pub fn output_among_inputs(&self) -> Option<Error> {
        let [first, .., last] = &*self.paths else {
            return None;
        };
        let missing = [first, last]
            .into_iter()
            .find(|path| !is_standard_input(path) && path.symlink_metadata().is_err())?;
        let option = match missing.to_str() {
            Some(form @ ("disk" | "served")) if self.archives == Archives::None => {
                format!("--relative={form}")
            }
            _ => format!("-o {}", shell::word(&missing.to_string_lossy())),
        };
        let why = format!("no such file or folder; did you mean {option}?");
        Some(Error::file(missing, why.as_str()))
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
            index: None,
            ..origins.clone()
        };
        let (retrieval, _) = of_paths.of(&seen, Format::Other, b"");
        let url = retrieval.as_ref().and_then(|one| one.url.strip_suffix('x'));
        match url.map(RootUrl::new) {
            Some(Ok(root_url)) => Origins {
                root_url: Some(root_url),
                layout: None,
                ..origins
            },
            _ => origins,
        }
    }

    /// Sets the format of the file `path`, whose name does not tell it.
    pub fn learn_format(&self, path: &Path, format: Format) {
        let formats = self.formats.lock();
        formats
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.to_owned(), format);
    }

    /// The format of the file `path`, if it was learned.
    pub fn learned_format(&self, path: &Path) -> Option<Format> {
        let formats = self.formats.lock();
        formats
            .unwrap_or_else(PoisonError::into_inner)
            .get(path)
            .copied()
    }

    /// True if a named path is a folder.
    pub fn has_folder(&self) -> bool {
        self.roots().any(Path::is_dir)
    }
}

/// The origin of a document.
pub enum Origin {
    /// Standard input.
    Standard,
    /// A file, named or found.
    Entry(TreeEntry),
}

impl Origin {
    /// The file `path`, which was named.
    ///
    /// # Errors
    ///
    /// The file cannot be found.
    pub fn named(path: &Path) -> Result<Self> {
        let selection = Selection::default();
        walk(&[path.to_owned()], &selection)
            .next()
            .ok_or_else(|| Error::file(path, "no such file"))?
            .map(Self::Entry)
    }

    /// The path that was named or found; `-` is standard input.
    pub fn path(&self) -> &Path {
        match self {
            Self::Standard => Path::new("-"),
            Self::Entry(entry) => &entry.path,
        }
    }

    /// True if the document was named rather than found in a folder.
    pub fn is_named(&self) -> bool {
        match self {
            Self::Standard => true,
            Self::Entry(entry) => entry.relative.is_empty(),
        }
    }

    /// True if the file was found in a folder, and its name ends in the suffix of backups.
    pub fn is_backup(&self, suffix: Option<&Suffix>) -> bool {
        let name = self.path().file_name().unwrap_or_default();
        !self.is_named() && suffix.is_some_and(|suffix| suffix.ends(name))
    }

    /// True if the origin is a folder.
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Entry(entry) if entry.kind == EntryKind::Folder)
    }

    /// The size of the file when it was found; 0 for standard input.
    pub fn size(&self) -> u64 {
        match self {
            Self::Standard => 0,
            Self::Entry(entry) => entry.size,
        }
    }
}

/// True if `path` has the name of another file with a usual suffix of backups. An earlier run may have made it.
pub fn is_usual_backup(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let original = [".orig", ".bak"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix));
    original.is_some_and(|original| path.with_file_name(original).is_file())
}
