//! What was asked for, as plain data: a command, its documents, and how they are read.
//!
//! ```text
//! baselink links --json page.html   -->   Links { documents: [page.html], form: Json, strict: false, … }
//! ```
//!
//! Every other file of the command line knows these types; this one knows none of those files.
//!
//! Deliberately absent: how it is typed ([`super::args`] reads words and settings), and how it is done.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;

use anstream::ColorChoice;
use baselink::Options;
use baselink::collection::origin::{Origins, RootUrl};
use baselink::error::{Error, Result};
use baselink::files::walk::{EntryKind, Selection, TreeEntry};
use baselink::files::write::{InPlace, Suffix};
use baselink::format::Format;
use baselink::purpose::check::Class;
use baselink::resolve::Profile;
use clap_complete::Shell;

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// How much is said, and in which colours.
    pub(crate) talk: Talk,
    /// The settings file that counts, where it is to be said.
    pub(crate) settings: Option<PathBuf>,
    /// What is to be done.
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
    /// Say what a move would do to a tree.
    Check(Box<Check>),
    /// Print what a shell needs to complete these arguments.
    Completions(Shell),
    /// Print the manual, or write all of its pages to a folder.
    Man(Option<PathBuf>),
}

impl Command {
    /// What it reads.
    pub(crate) fn reads(&self) -> Option<&Documents> {
        match self {
            Self::Rewrite(asked) => Some(&asked.documents),
            Self::Links(asked) => Some(&asked.documents),
            Self::Base(asked) => Some(&asked.documents),
            Self::Localize(asked) => Some(&asked.rewrite.documents),
            Self::Check(asked) => Some(&asked.documents),
            Self::Resolve(_) | Self::Completions(_) | Self::Man(_) => None,
        }
    }

    /// Whether it reads standard input.
    pub(crate) fn reads_standard_input(&self) -> bool {
        match (self, self.reads()) {
            (_, Some(documents)) => documents.paths.iter().any(|path| is_standard_input(path)),
            (Self::Resolve(asked), _) => !matches!(asked.what, What::References { .. }),
            _ => false,
        }
    }
}

/// How much is said, and in which colours.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Talk {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) color: ColorChoice,
}

/// `baselink rewrite`
#[derive(Debug)]
pub(crate) struct Rewrite {
    pub(crate) documents: Documents,
    pub(crate) destination: WrittenTo,
    /// How the names of backups end, which are left.
    pub(crate) backup: Option<Suffix>,
    pub(crate) json: bool,
    pub(crate) strict: bool,
    pub(crate) verify: bool,
}

/// Where rewritten documents go.
#[derive(Debug)]
pub(crate) enum WrittenTo {
    /// To standard output.
    Standard,
    /// To this file, or below this folder; the documents of an archive below this folder, each to a file of its own.
    Path { path: PathBuf, preserve_times: bool },
    /// In their own places.
    InPlace(InPlace),
    /// Nowhere; what would change is shown.
    Diff,
    /// Nowhere.
    Nowhere,
}

/// `baselink links`
#[derive(Debug)]
pub(crate) struct ListLinks {
    pub(crate) documents: Documents,
    pub(crate) form: LinksForm,
    pub(crate) strict: bool,
    pub(crate) grammar: bool,
    /// Where the results of each file go.
    pub(crate) output: Option<ResultsFolder>,
}

/// A folder that gets the results of each file, and what they depend on beside the files.
#[derive(Debug)]
pub(crate) struct ResultsFolder {
    pub(crate) path: PathBuf,
    /// The options that decide what is in a result, one a line.
    pub(crate) options: String,
    /// The tables and settings that decide it.
    pub(crate) tables: Vec<PathBuf>,
    /// True if an existing result may be kept.
    pub(crate) keeps: bool,
}

/// What `baselink links` prints of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinksForm {
    /// Where it is, and what becomes of it.
    Text,
    /// A JSON object.
    Json,
    /// Its target.
    Target,
}

/// `baselink base`
#[derive(Debug)]
pub(crate) struct ShowBases {
    pub(crate) documents: Documents,
    pub(crate) json: bool,
}

/// `baselink localize`
#[derive(Debug)]
pub(crate) struct Localize {
    pub(crate) rewrite: Rewrite,
    /// Where the URLs of the tree are listed that have no file.
    pub(crate) missing: Option<PathBuf>,
    /// Whether the mirror is another folder.
    pub(crate) is_elsewhere: bool,
}

/// `baselink resolve`
#[derive(Debug)]
pub(crate) struct Resolve {
    pub(crate) profile: Profile,
    pub(crate) what: What,
    pub(crate) form: ResolveForm,
}

/// What is resolved.
#[derive(Debug)]
pub(crate) enum What {
    /// These references.
    References { base: String, references: Vec<String> },
    /// Standard input has one a line.
    Lines { base: String },
    /// Standard input has a base and a reference a line.
    Pairs,
}

/// What `baselink resolve` prints of a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResolveForm {
    /// The target.
    Target,
    /// The steps to it.
    Explanation,
    /// A JSON object.
    Json,
}

/// `baselink check`
#[derive(Debug)]
pub(crate) struct Check {
    /// One folder.
    pub(crate) documents: Documents,
    /// Where it goes.
    pub(crate) to: Option<RootUrl>,
    /// The classes that end the command with 1.
    pub(crate) deny: Classes,
    /// The classes that are listed.
    pub(crate) list: Classes,
    /// True if each link is listed; otherwise each target.
    pub(crate) lists_links: bool,
    pub(crate) form: CheckForm,
    /// Where the page goes that shows all.
    pub(crate) report: Option<PathBuf>,
    /// Findings that are accepted.
    pub(crate) baseline: Option<PathBuf>,
    /// Whether it is written anew.
    pub(crate) updates_baseline: bool,
    /// The table that is read.
    pub(crate) url_map: Option<PathBuf>,
    /// What becomes of the fixes.
    pub(crate) fix: Option<WrittenTo>,
    /// How the names of backups end, which are no documents.
    pub(crate) backup: Option<Suffix>,
    /// Whether it is proved that fixes change nothing but links.
    pub(crate) verify: bool,
}

impl Check {
    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        self.documents.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

/// How findings are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckForm {
    Text,
    Json,
    Sarif,
    Github,
}

/// Some of the classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes(Vec<Class>);

impl Classes {
    /// Those of links of which something may break.
    pub(crate) const BROKEN: [Class; 4] =
        [Class::Pinned, Class::Escapes, Class::Dangling, Class::Fragment];
    /// Those that end `check` with 1 where nothing else is said.
    pub(crate) const DENIED: [Class; 3] = [Class::Pinned, Class::Escapes, Class::Dangling];

    pub(crate) fn contains(&self, class: Class) -> bool {
        self.0.contains(&class)
    }

    /// Those of all lists that were `typed`, or of `default` without any.
    pub(crate) fn of(typed: Vec<Self>, default: &[Class]) -> Self {
        if typed.is_empty() {
            return Self(default.to_vec());
        }
        Self(typed.into_iter().flat_map(|classes| classes.0).collect())
    }

    /// These and those of `others`.
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
                        "unknown class '{name}': it is one of {known}, all, none"
                    )));
                }
            }
        }
        Ok(Self(classes))
    }
}

/// Which documents, and how they are read.
#[derive(Debug)]
pub(crate) struct Documents {
    /// Files and folders; `-` is standard input; never empty.
    pub(crate) paths: Vec<PathBuf>,
    /// Which files in folders.
    pub(crate) selection: Selection,
    /// How many files at a time.
    pub(crate) jobs: usize,
    /// Whether what comes of each file goes to a file of its own, so that large ones need not wait for each other.
    pub(crate) has_result_files: bool,
    /// Which archives are gone through.
    pub(crate) archives: Archives,
    /// Folders among them that are hardly called after hosts, as far as they are known.
    pub(crate) unlike_hosts: Mutex<BTreeSet<PathBuf>>,
    pub(crate) reading: Reading,
    /// The path of each root below the folder of the settings, where these have the URL of that folder.
    pub(crate) below_settings: HashMap<PathBuf, PathBuf>,
}

/// Which archives are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Archives {
    /// None: what is asked of a folder is not asked of them.
    None,
    /// Those that are named. One that is found in a folder is no document, since what is made of it is another file.
    Named,
    All,
}

/// How documents are read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// What they are; `None` where each has to be looked at.
    pub(crate) format: Option<Format>,
    /// The library's options.
    pub(crate) options: Options,
    /// What gives their retrieval URLs.
    pub(crate) origins: Origins,
}

impl Documents {
    /// What was named, but for standard input.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().map(PathBuf::as_path).filter(|path| !is_standard_input(path))
    }

    /// `entry` as it is seen from the folder of the settings, where the URL of that folder is known, and not that of the root.
    pub(crate) fn seen(&self, entry: &TreeEntry) -> Option<TreeEntry> {
        let way = self.below_settings.get(&*entry.root)?;
        let relative = way.iter().map(OsString::from).chain(entry.relative.iter().cloned());
        Some(TreeEntry { relative: relative.collect(), ..entry.clone() })
    }

    /// What gives the URLs of the files in the only folder that was named, as seen from there.
    pub(crate) fn origins(&self) -> Origins {
        let origins = self.reading.origins.clone();
        let Some(folder) = self.paths.first() else { return origins };
        let inside = TreeEntry {
            root: folder.as_path().into(),
            relative: vec!["x".into()],
            path: PathBuf::new(),
            kind: EntryKind::File,
            size: 0,
        };
        let Some(seen) = self.seen(&inside) else { return origins };
        let of_paths = Origins { map: None, index: None, ..origins.clone() };
        let (retrieval, _) = of_paths.of(&seen, Format::Other, b"");
        let url = retrieval.as_ref().and_then(|one| one.url.strip_suffix('x'));
        match url.map(RootUrl::new) {
            Some(Ok(root_url)) => Origins { root_url: Some(root_url), layout: None, ..origins },
            _ => origins,
        }
    }

    /// Whether one of them is a folder.
    pub(crate) fn has_folder(&self) -> bool {
        self.roots().any(Path::is_dir)
    }
}

/// Where a document comes from.
pub(crate) enum Origin {
    /// Standard input.
    Standard,
    /// A file, named or found.
    Entry(TreeEntry),
}

impl Origin {
    /// What was named, or what was found below it; `-` is standard input.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Standard => Path::new("-"),
            Self::Entry(entry) => &entry.path,
        }
    }

    /// Whether it was named itself.
    pub(crate) fn is_named(&self) -> bool {
        match self {
            Self::Standard => true,
            Self::Entry(entry) => entry.relative.is_empty(),
        }
    }

    /// Whether it was found under the name of a backup, which ends so.
    pub(crate) fn is_backup(&self, suffix: Option<&Suffix>) -> bool {
        let name = self.path().file_name().unwrap_or_default();
        !self.is_named() && suffix.is_some_and(|suffix| suffix.ends(name))
    }

    /// Whether it is a folder.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, Self::Entry(entry) if entry.kind == EntryKind::Folder)
    }

    /// How long it was when it was found; nothing of standard input.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Standard => 0,
            Self::Entry(entry) => entry.size,
        }
    }
}

/// The folder of the file `path`.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Whether `path` means standard input. A file of that name is called `./-`.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}
