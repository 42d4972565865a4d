//! The request as plain data: a command, its documents, and options for reading them.
//!
//! ```text
//! baselink links --json page.html   -->   Links { documents: [page.html], form: Json, strict: false, … }
//! ```
//!
//! The other files of the command line import these types; this file imports only arguments that are a request already.
//!
//! Deliberately absent: the syntax of arguments and settings ([`super::args`]), and carrying out a request.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;

use crate::collection::capture::DateRange;
use crate::collection::origin::{Origins, RootUrl};
pub(crate) use crate::files::folder_of;
use crate::files::walk::{EntryKind, Selection, TreeEntry, walk};
use crate::files::write::{InPlace, Suffix};
use crate::purpose::check::Class;
use crate::purpose::relocate::LinkForm;
use anstream::ColorChoice;
use baselink_rewrite::Options;
use baselink_text::error::{Error, Result};
use baselink_text::format::Format;
use clap_complete::Shell;

use super::args::resolve::Resolve;

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) verbosity: Verbosity,
    /// The settings file, if there is one.
    pub(crate) settings: Option<PathBuf>,
    pub(crate) command: Command,
}

/// A command with its arguments.
#[derive(Debug)]
pub(crate) enum Command {
    /// Make every relative link absolute.
    Rewrite(Box<Rewrite>),
    /// List every link.
    Links(Box<ListLinks>),
    /// Show the base of each document.
    Base(Box<ShowBases>),
    /// Resolve references.
    Resolve(Resolve),
    /// Make an offline mirror.
    Localize(Box<Localize>),
    /// Move a folder to another URL, or rename files in it.
    Move(Box<Move>),
    /// Report the effect of a move on the links of a folder, or the URLs that archives lack.
    Check(Box<Check>),
    /// Print a shell completion script.
    Completions(Shell),
    /// Print the manual, or write all of its pages to a folder.
    Man(Option<PathBuf>),
}

impl Command {
    /// The documents that the command reads.
    pub(crate) fn reads(&self) -> Option<&Documents> {
        match self {
            Self::Rewrite(request) => Some(&request.documents),
            Self::Links(request) => Some(&request.documents),
            Self::Base(request) => Some(&request.documents),
            Self::Localize(request) => Some(&request.rewrite.documents),
            Self::Move(request) => Some(&request.rewrite.documents),
            Self::Check(request) => Some(&request.documents),
            Self::Resolve(_) | Self::Completions(_) | Self::Man(_) => None,
        }
    }

    /// The files that options other than `--output` tell the command to write.
    pub(crate) fn side_files(&self) -> Vec<(&'static str, &Path)> {
        let files = match self {
            Self::Localize(request) => vec![("--missing", &request.extraction.missing)],
            Self::Move(request) => vec![("--redirects", &request.redirects)],
            Self::Check(request) => {
                let mut files = vec![
                    ("--report", &request.report),
                    ("--missing", &request.missing),
                ];
                if request.updates_baseline {
                    files.push(("--baseline", &request.baseline));
                }
                files
            }
            _ => Vec::new(),
        };
        let named = files
            .into_iter()
            .filter_map(|(option, path)| Some((option, path.as_deref()?)));
        named.filter(|(_, path)| !is_standard_input(path)).collect()
    }

    /// True if the command reads standard input.
    pub(crate) fn reads_standard_input(&self) -> bool {
        match (self, self.reads()) {
            (_, Some(documents)) => documents.paths.iter().any(|path| is_standard_input(path)),
            (Self::Resolve(request), _) => request.references.is_empty(),
            _ => false,
        }
    }
}

/// The options for messages: how many are printed, and the use of colours.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verbosity {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) color: ColorChoice,
}

/// The request of `baselink rewrite`.
#[derive(Debug)]
pub(crate) struct Rewrite {
    pub(crate) documents: Documents,
    pub(crate) destination: WrittenTo,
    /// The suffix of backups; files with this suffix are skipped.
    pub(crate) backup: Option<Suffix>,
    pub(crate) json: bool,
    pub(crate) strict: bool,
    pub(crate) verify: bool,
}

/// The destination of rewritten documents.
#[derive(Debug)]
pub(crate) enum WrittenTo {
    /// To standard output.
    Standard,
    /// To this file, or below this folder. Each document of an archive becomes a file below the folder.
    Path { path: PathBuf, preserve_times: bool },
    /// In place of the originals.
    InPlace(InPlace),
    /// Nowhere; a diff is shown.
    Diff,
    /// Nowhere.
    Nowhere,
}

/// The request of `baselink links`.
#[derive(Debug)]
pub(crate) struct ListLinks {
    pub(crate) documents: Documents,
    pub(crate) form: LinksForm,
    pub(crate) strict: bool,
    pub(crate) grammar: bool,
    /// The folder for result files, one for each input file.
    pub(crate) output: Option<PathBuf>,
}

/// The form in which `baselink links` prints a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinksForm {
    /// The place and the outcome.
    Text,
    /// A JSON object.
    Json,
    /// The target.
    Target,
}

/// The request of `baselink base`.
#[derive(Debug)]
pub(crate) struct ShowBases {
    pub(crate) documents: Documents,
    pub(crate) json: bool,
}

/// The request of `baselink localize`.
#[derive(Debug)]
pub(crate) struct Localize {
    pub(crate) rewrite: Rewrite,
    pub(crate) extraction: Extraction,
    /// True if the mirror is another folder.
    pub(crate) is_elsewhere: bool,
}

/// The options for turning archives into a folder, and the list of missing URLs.
#[derive(Debug, Default)]
pub(crate) struct Extraction {
    /// The dates that are preferred among the captures of a URL.
    pub(crate) near: Option<DateRange>,
    /// True if documents are not adapted to open from disk.
    pub(crate) is_exact: bool,
    /// The file for the list of URLs without a file in the tree.
    pub(crate) missing: Option<PathBuf>,
}

/// The request of `baselink move`.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) rewrite: Rewrite,
    /// The URL of the folder; a placeholder if it is not known.
    pub(crate) from: RootUrl,
    /// The new URL of the folder, which may be the old one.
    pub(crate) to: RootUrl,
    pub(crate) form: LinkForm,
    /// The old and the new path of files and folders, with `/` between the names.
    pub(crate) renames: Vec<(Vec<u8>, Vec<u8>)>,
    /// The file for the list of redirects.
    pub(crate) redirects: Option<PathBuf>,
}

/// The request of `baselink check`.
#[derive(Debug)]
pub(crate) struct Check {
    /// One folder, or archives.
    pub(crate) documents: Documents,
    /// True if archives are checked instead of a folder.
    pub(crate) is_of_archives: bool,
    /// The file for the list of missing URLs.
    pub(crate) missing: Option<PathBuf>,
    /// The new URL of the folder.
    pub(crate) to: Option<RootUrl>,
    /// The classes whose findings make the exit status 1.
    pub(crate) deny: Classes,
    /// The classes that are listed.
    pub(crate) list: Classes,
    /// True if the list has links, false if it has targets.
    pub(crate) lists_links: bool,
    pub(crate) form: CheckForm,
    /// The file for the HTML page.
    pub(crate) report: Option<PathBuf>,
    /// The file with accepted findings.
    pub(crate) baseline: Option<PathBuf>,
    /// True if the baseline is written anew.
    pub(crate) updates_baseline: bool,
}

impl Check {
    /// The checked folder, or the first archive.
    pub(crate) fn folder(&self) -> &Path {
        self.documents
            .paths
            .first()
            .map_or(Path::new(""), PathBuf::as_path)
    }
}

/// The form in which findings are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckForm {
    Text,
    Json,
    Sarif,
    Github,
}

/// A set of classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes(Vec<Class>);

impl Classes {
    /// The classes of links that may break.
    pub(crate) const BROKEN: [Class; 6] = [
        Class::Pinned,
        Class::Escapes,
        Class::Dangling,
        Class::Missing,
        Class::MissingPage,
        Class::Fragment,
    ];
    /// The classes whose findings make the exit status 1 by default.
    pub(crate) const DENIED: [Class; 4] = [
        Class::Pinned,
        Class::Escapes,
        Class::Dangling,
        Class::Missing,
    ];

    pub(crate) fn contains(&self, class: Class) -> bool {
        self.0.contains(&class)
    }

    /// The classes of all `typed` lists, or `default` if there are none.
    pub(crate) fn of(typed: Vec<Self>, default: &[Class]) -> Self {
        if typed.is_empty() {
            return Self(default.to_vec());
        }
        Self(typed.into_iter().flat_map(|classes| classes.0).collect())
    }

    /// Adds the classes of `others`.
    pub(crate) fn with(mut self, others: &Self) -> Self {
        self.0.extend(&others.0);
        self
    }
}

impl FromStr for Classes {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self> {
        let mut classes = Vec::new();
        for name in list.split(',') {
            match (name, Class::ALL.iter().find(|class| class.name() == name)) {
                (_, Some(class)) => classes.push(*class),
                ("all", _) => classes.extend(Class::ALL),
                ("none", _) => {}
                _ => {
                    let known = Class::ALL.map(Class::name).join(", ");
                    return Err(Error::new(format!(
                        "unknown class '{name}'; use one of {known}, all, none"
                    )));
                }
            }
        }
        Ok(Self(classes))
    }
}

/// The documents, and the options for reading them.
#[derive(Debug)]
pub(crate) struct Documents {
    /// Files and folders; `-` is standard input; never empty.
    pub(crate) paths: Vec<PathBuf>,
    /// The selection of files in folders.
    pub(crate) selection: Selection,
    /// The files and folders to read in the only folder of `paths`, if a page with its saved files was named instead
    /// of that folder.
    pub(crate) parts: Vec<PathBuf>,
    /// The number of threads.
    pub(crate) jobs: usize,
    /// True if each file has a result file, so that large files need not wait for each other.
    pub(crate) has_result_files: bool,
    /// The archives that are read.
    pub(crate) archives: Archives,
    /// The folders found so far that `--layout host` takes for hosts although their names have no dot.
    pub(crate) dotless_hosts: Mutex<BTreeSet<PathBuf>>,
    pub(crate) reading: Reading,
    /// The path of each root below the settings folder, if the settings give the URL or layout of that folder.
    pub(crate) below_settings: HashMap<PathBuf, PathBuf>,
}

/// The archives that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Archives {
    /// None: the command is about folders.
    None,
    /// Only named archives. An archive found in a folder is skipped, because its documents would become files
    /// elsewhere.
    Named,
    All,
}

/// The options for reading documents.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The format of all documents; `None` if it is detected for each.
    pub(crate) format: Option<Format>,
    /// The library's options.
    pub(crate) options: Options,
    /// The sources of retrieval URLs.
    pub(crate) origins: Origins,
}

impl Documents {
    /// The named files and folders, without standard input.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.paths
            .iter()
            .map(PathBuf::as_path)
            .filter(|path| !is_standard_input(path))
    }

    /// `entry` with its path below the settings folder, if the settings give the URL or layout of that folder.
    pub(crate) fn below_settings_folder(&self, entry: &TreeEntry) -> Option<TreeEntry> {
        let below = self.below_settings.get(&*entry.root)?;
        let relative = below
            .iter()
            .map(OsString::from)
            .chain(entry.relative.iter().cloned());
        Some(TreeEntry {
            relative: relative.collect(),
            ..entry.clone()
        })
    }

    /// The sources of retrieval URLs for files in the first named folder, relative to that folder.
    pub(crate) fn origins(&self) -> Origins {
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

    /// True if a named path is a folder.
    pub(crate) fn has_folder(&self) -> bool {
        self.roots().any(Path::is_dir)
    }
}

/// The origin of a document.
pub(crate) enum Origin {
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
    pub(crate) fn named(path: &Path) -> Result<Self> {
        let selection = Selection::default();
        let found = walk(&[path.to_owned()], &selection).next();
        let missing = || Error::file(path, "no such file");
        found.ok_or_else(missing)?.map(Self::Entry)
    }

    /// The path that was named or found; `-` is standard input.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Standard => Path::new("-"),
            Self::Entry(entry) => &entry.path,
        }
    }

    /// True if the document was named rather than found in a folder.
    pub(crate) fn is_named(&self) -> bool {
        match self {
            Self::Standard => true,
            Self::Entry(entry) => entry.relative.is_empty(),
        }
    }

    /// True if the file was found in a folder, and its name ends in the suffix of backups.
    pub(crate) fn is_backup(&self, suffix: Option<&Suffix>) -> bool {
        let name = self.path().file_name().unwrap_or_default();
        !self.is_named() && suffix.is_some_and(|suffix| suffix.ends(name))
    }

    /// True if the origin is a folder.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, Self::Entry(entry) if entry.kind == EntryKind::Folder)
    }

    /// The size of the file when it was found; 0 for standard input.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Standard => 0,
            Self::Entry(entry) => entry.size,
        }
    }
}

/// True if `path` means standard input. A file of that name is `./-`.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}
