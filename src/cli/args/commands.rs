//! The commands, and the arguments of the program and of `rewrite`, `links` and `base`.
//!
//! ```text
//! -q links --json page.html  -->  Request { command: Links(ListLinks { json: true, … }), verbosity: … }
//! ```
//!
//! Deliberately absent: arguments that several commands have ([`super::documents`], [`super::output`]), and settings.

use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use baselink_text::{Error, Result, shell, visible};
use baselink_url::{Base, Grammar, Resolver, scheme as scheme_of};
use clap::{ArgAction, Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use super::{
    check::Check,
    deferred::Deferred,
    documents::Policy,
    help::{
        BASE_AFTER, COMPLETIONS_AFTER, LINKS_AFTER, MAN_AFTER, PROGRAM_AFTER, RESOLVE_AFTER,
        REWRITE_AFTER,
    },
    localize::Localize,
    named::{RESOLVERS, named},
    output::Rewrite,
    relocate::Move,
};
use crate::cli::{
    request::{Archives, Documents, Verbosity, is_standard_input},
    settings::Settings,
};

impl Request {
    pub fn verbosity(&mut self) -> Verbosity {
        let color = match self.verbosity.color {
            clap::ColorChoice::Auto => ColorChoice::Auto,
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
        };
        Verbosity {
            quiet: self.verbosity.quiet,
            verbose: self
                .command
                .documents()
                .is_some_and(|(.., verbose)| verbose),
            color,
        }
    }

    /// The settings file, if any; true if it was found rather than named by `--config`.
    pub fn settings_file(&mut self) -> Option<(PathBuf, bool)> {
        let (documents, _) = self.command.documents()?;
        match &documents.typed.config {
            Some(path) if path.as_os_str() == "none" => None,
            Some(path) => Some((path.clone(), false)),
            None => Settings::find().map(|path| (path, true)),
        }
    }

    /// The table of `--url-map`.
    pub fn table(&mut self) -> Option<PathBuf> {
        self.command.documents()?.0.typed.url_map.clone()
    }
}

impl Command {
    /// The documents that the command reads, and its option `--verbose`.
    pub fn documents(&mut self) -> Option<(&mut Documents, bool)> {
        Some(match self {
            Self::Rewrite(Deferred(of)) => (&mut of.rewrite.documents, of.rewrite.verbose),
            Self::Links(Deferred(of)) => (&mut of.documents, of.verbose),
            Self::Base(Deferred(of)) => (&mut of.documents, false),
            Self::Localize(Deferred(of)) => (&mut of.rewrite.documents, of.rewrite.verbose),
            Self::Move(Deferred(of)) => (&mut of.rewrite.documents, of.rewrite.verbose),
            Self::Check(Deferred(of)) => (&mut of.documents, of.verbose),
            Self::Resolve(_) | Self::Completions { .. } | Self::Man { .. } => return None,
        })
    }

    /// Checks the arguments together, and computes what follows from them.
    pub fn complete(&mut self) -> Result<()> {
        match self {
            Self::Rewrite(Deferred(request)) => request.complete(),
            Self::Links(Deferred(request)) => {
                request.documents.has_result_files = request.output.is_some();
                request.policy.apply(&mut request.documents.reading.options);
                Ok(())
            }
            Self::Base(Deferred(request)) => {
                request.documents.reading.origins.every_source = true;
                Ok(())
            }
            Self::Resolve(Deferred(request)) => request.check(),
            Self::Localize(Deferred(request)) => request.complete(),
            Self::Move(Deferred(request)) => request.complete(),
            Self::Check(Deferred(request)) => request.complete(),
            Self::Completions { .. } | Self::Man { .. } => Ok(()),
        }
    }

    /// The files that options other than `--output` tell the command to write.
    pub fn side_files(&self) -> Vec<(&'static str, &Path)> {
        let files = match self {
            Self::Localize(Deferred(request)) => vec![("--missing", &request.extraction.missing)],
            Self::Move(Deferred(request)) => vec![("--redirects", &request.redirects)],
            Self::Check(Deferred(request)) => {
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
        files
            .into_iter()
            .filter_map(|(option, path)| Some((option, path.as_deref()?)))
            .filter(|(_, path)| !is_standard_input(path))
            // Redirects in a folder replace no file.
            .filter(|(option, path)| *option != "--redirects" || !path.is_dir())
            .collect()
    }
}

/// Make a saved site, a mail or an archive work wherever you put it: find each base URL by RFC 1808, and rewrite
/// relative links in place.
#[derive(Parser)]
#[command(
    name = "baselink",
    bin_name = "baselink",
    version,
    after_help = PROGRAM_AFTER,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub struct Request {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    verbosity: TypedVerbosity,
    /// The settings file, if there is one.
    #[arg(skip)]
    pub settings: Option<PathBuf>,
}

/// A command with its arguments.
#[derive(Subcommand)]
pub enum Command {
    /// Make every relative link absolute.
    ///
    /// Only the bytes of URLs change. The result of one document is written to standard output, or to a file with -o.
    Rewrite(Deferred<RewriteDocuments>),
    /// List every link with its place, its target, and what `rewrite` would do with it.
    Links(Deferred<ListLinks>),
    /// Show the base of each document, and the rule that gave it.
    Base(Deferred<ShowBases>),
    /// Resolve references against a base URL, one per line.
    Resolve(Deferred<Resolve>),
    /// Report dead links of a folder, what a move would break (--to), and what the pages in an archive lack.
    ///
    /// Every link gets one class: travels, no-slash, clean-url, lines, pinned, escapes, invalid, dangling, missing,
    /// missing-page, fragment, outside or left.
    Check(Deferred<Check>),
    /// Make a folder or an archive work offline: links to files that are present become local, all others absolute.
    ///
    /// In a folder, only the bytes of URLs change. With -o, the mirror is another folder; with -i, the files are rewritten
    /// in place. An archive becomes a folder with -o: it contains everything that was captured, a table of the files, and a
    /// page that lists the captured pages.
    Localize(Deferred<Localize>),
    /// Move a folder to another URL, or rename files in it, and keep every link working.
    ///
    /// Each link keeps its form: a relative one stays relative, `/path` begins at the new root, and an absolute URL gets the new
    /// host and path. Links out of the folder stay as they are. Only the bytes of URLs change.
    Move(Deferred<Move>),
    /// Print a shell completion script for baselink.
    #[command(after_help = COMPLETIONS_AFTER)]
    Completions {
        /// The shell: bash, zsh, fish, elvish or powershell
        #[arg(hide_possible_values = true)]
        shell: Shell,
    },
    /// Print the manual page of baselink, or write one for each command to a folder.
    #[command(after_help = MAN_AFTER)]
    Man {
        /// The folder for all pages: baselink.1, baselink-rewrite.1 and so on
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: Option<PathBuf>,
    },
}

#[derive(Args)]
#[command(next_help_heading = "General")]
struct TypedVerbosity {
    /// Print nothing but errors on standard error
    #[arg(short, long, global = true, overrides_with = "quiet")]
    quiet: bool,
    /// Use colours: auto (default), always or never; NO_COLOR is honoured
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        global = true
    )]
    color: clap::ColorChoice,
    /// Print help; -h is shorter than --help
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// The request of `baselink rewrite`.
#[derive(Args)]
#[command(after_help = REWRITE_AFTER)]
pub struct RewriteDocuments {
    #[command(flatten)]
    pub rewrite: Rewrite,
    #[command(flatten)]
    policy: Policy,
}

impl RewriteDocuments {
    fn complete(&mut self) -> Result<()> {
        self.rewrite.documents.archives = Archives::Named;
        self.policy
            .apply(&mut self.rewrite.documents.reading.options);
        self.rewrite.complete()
    }
}

/// The request of `baselink links`.
#[derive(Args)]
#[command(after_help = LINKS_AFTER)]
pub struct ListLinks {
    #[command(flatten)]
    pub documents: Documents,
    #[command(flatten)]
    policy: Policy,
    /// Exit with 1 if a relative link cannot be made absolute
    ///
    /// Links that are left for one of these reasons are accepted: id-reference, empty, placeholder, fragment,
    /// base-element, local-copy, dkim.
    #[arg(long, help_heading = "Policies")]
    pub strict: bool,
    /// Report whether each reference conforms to the grammar of RFC 1808, and where it violates the grammar
    #[arg(long, help_heading = "Output")]
    pub grammar: bool,
    /// Print only the targets, one absolute URL per line; links without a target are omitted
    #[arg(long, help_heading = "Output", conflicts_with_all = ["json", "grammar"])]
    only_targets: bool,
    /// Print a JSON object for each link
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Write the links of each file to a file of its own in this folder
    ///
    /// Each result is named after its file, with .jsonl, .urls or .txt added, and is written whole or not at all.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Report how each base was found, and which links were not made absolute
    #[arg(short, long, overrides_with = "verbose", help_heading = "General")]
    verbose: bool,
}

impl ListLinks {
    pub fn form(&self) -> LinksForm {
        match (self.json, self.only_targets) {
            (true, _) => LinksForm::Json,
            (_, true) => LinksForm::Target,
            _ => LinksForm::Text,
        }
    }
}

/// The form in which `baselink links` prints a link.
#[derive(PartialEq, Eq)]
pub enum LinksForm {
    /// The place and the outcome.
    Text,
    /// A JSON object.
    Json,
    /// The target.
    Target,
}

/// The request of `baselink base`.
#[derive(Args)]
#[command(after_help = BASE_AFTER)]
pub struct ShowBases {
    #[command(flatten)]
    pub documents: Documents,
    /// Print a JSON object for each document
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// The length of a drive letter in a path on Windows.
const DRIVE: usize = 1;

/// Rejects an input of `command` that is a URL, and not the path of an existing file.
pub fn reject_url(command: &str, path: &Path) -> Result<()> {
    let Some(url) = path.to_str() else {
        return Ok(());
    };
    let is_url = scheme_of(Grammar::Rfc3986, url)
        .is_some_and(|scheme| scheme.len() > DRIVE && url[scheme.len()..].starts_with("://"));
    if !is_url || path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let shown = visible(url);
    Err(Error::new(match (command, url.get(..5)) {
        (_, Some(scheme)) if scheme.eq_ignore_ascii_case("file:") => {
            format!("{shown} is a URL; name the file by its path")
        }
        ("check" | "localize" | "move", _) => format!(
            "{shown} is a URL; {command} takes a folder; download the site first, for example with wget --mirror"
        ),
        _ => {
            let url = shell::word(url);
            format!(
                "{shown} is a URL; download it: curl -sL {url} | baselink {command} --url {url} -"
            )
        }
    }))
}

#[derive(Args)]
#[command(after_help = RESOLVE_AFTER)]
pub struct Resolve {
    /// An absolute URL
    #[arg(required_unless_present = "pairs", value_hint = ValueHint::Url)]
    pub base: Option<String>,
    /// The references; without any, each line of standard input is one
    #[arg(value_name = "REFERENCE")]
    pub references: Vec<String>,
    /// Read a base and a reference from each line of standard input, separated by the first tab, or else by the first white space
    #[arg(long, conflicts_with_all = ["base", "references"], help_heading = "Input")]
    pairs: bool,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = named::<Resolver>(RESOLVERS), hide_possible_values = true, help_heading = "Input")]
    resolver: Option<Resolver>,
    /// Show components and steps, so that the result can be checked by hand
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub explain: bool,
    /// Print a JSON object for each reference
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl Resolve {
    /// The rules of resolution.
    pub fn resolver(&self) -> Resolver {
        self.resolver.unwrap_or_default()
    }

    /// Checks the base.
    fn check(&self) -> Result<()> {
        let base = self.base.as_deref();
        base.map(|base| Base::parse(self.resolver(), base).map(drop))
            .unwrap_or(Ok(()))
    }
}
