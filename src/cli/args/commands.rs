//! The commands, and the arguments of the program and of `rewrite`, `links` and `base`.
//!
//! ```text
//! -q links --json page.html  -->  Typed { command: Links(TypedLinks { json: true, … }), verbosity: … }
//! ```
//!
//! Deliberately absent: arguments that several commands have ([`super::documents`], [`super::output`]), and settings.

use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use baselink_text::error::{Error, Result, visible};
use baselink_url::reference::{Grammar, scheme as scheme_of};
use clap::{Arg, ArgAction, Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use super::check::TypedCheck;
use super::documents::{TypedDocuments, TypedPolicy};
use super::help::{
    BASE_AFTER, CHECK_AFTER, COMPLETIONS_AFTER, LINKS_AFTER, LOCALIZE_AFTER, MAN_AFTER, MOVE_AFTER,
    PROGRAM_AFTER, RESOLVE_AFTER, REWRITE_AFTER,
};
use super::localize::TypedLocalize;
use super::output::TypedOutput;
use super::relocate::TypedMove;
use super::resolve::Resolve;
use crate::cli::request::{Archives, Command, LinksForm, ListLinks, Rewrite, ShowBases, Verbosity};
use crate::cli::settings::Settings;
use crate::cli::shell;

impl Typed {
    pub(super) fn verbosity(&self) -> Verbosity {
        let verbose = self
            .document_arguments()
            .is_some_and(|(.., verbose)| verbose);
        let color = match self.verbosity.color {
            clap::ColorChoice::Auto => ColorChoice::Auto,
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
        };
        Verbosity {
            quiet: self.verbosity.quiet,
            verbose,
            color,
        }
    }

    /// The name, the documents and `--verbose` of a command that reads documents.
    fn document_arguments(&self) -> Option<(&'static str, &TypedDocuments, bool)> {
        Some(match &self.command {
            TypedCommand::Rewrite(typed) => ("rewrite", &typed.documents, typed.policy.verbose),
            TypedCommand::Links(typed) => ("links", &typed.documents, typed.policy.verbose),
            TypedCommand::Base(typed) => ("base", &typed.documents, false),
            TypedCommand::Localize(typed) => ("localize", &typed.documents, typed.verbose),
            TypedCommand::Move(typed) => ("move", &typed.documents, typed.verbose),
            TypedCommand::Check(typed) => ("check", &typed.documents, typed.verbose),
            TypedCommand::Resolve(_)
            | TypedCommand::Completions { .. }
            | TypedCommand::Man { .. } => return None,
        })
    }

    /// The settings file, if any; true if it was found rather than named by `--config`.
    pub(super) fn settings(&self) -> Option<(PathBuf, bool)> {
        match &self.documents()?.config {
            Some(path) if path.as_os_str() == "none" => None,
            Some(path) => Some((path.clone(), false)),
            None => Settings::find().map(|path| (path, true)),
        }
    }

    /// Notes that `settings` give the URL or the layout of their folder.
    pub(super) fn set_below(&mut self, settings: &Settings) {
        let documents = match &mut self.command {
            TypedCommand::Rewrite(typed) => &mut typed.documents,
            TypedCommand::Links(typed) => &mut typed.documents,
            TypedCommand::Base(typed) => &mut typed.documents,
            TypedCommand::Localize(typed) => &mut typed.documents,
            TypedCommand::Move(typed) => &mut typed.documents,
            TypedCommand::Check(typed) => &mut typed.documents,
            TypedCommand::Resolve(_)
            | TypedCommand::Completions { .. }
            | TypedCommand::Man { .. } => return,
        };
        documents.set_below(settings);
    }

    pub(super) fn documents(&self) -> Option<&TypedDocuments> {
        self.document_arguments().map(|(_, documents, _)| documents)
    }

    /// The table of `--url-map`.
    pub(super) fn table(&self) -> Option<PathBuf> {
        self.documents()?.url_map.clone()
    }

    pub(super) fn into_request(self) -> Result<Command> {
        if let Some((command, documents, _)) = self.document_arguments() {
            documents
                .paths
                .iter()
                .try_for_each(|path| reject_url(command, path))?;
        }
        Ok(match self.command {
            TypedCommand::Rewrite(typed) => Command::Rewrite(Box::new(typed.into_request()?)),
            TypedCommand::Links(typed) => Command::Links(Box::new(typed.into_request()?)),
            TypedCommand::Base(typed) => Command::Base(Box::new(typed.into_request()?)),
            TypedCommand::Resolve(typed) => Command::Resolve(typed.checked()?),
            TypedCommand::Localize(typed) => Command::Localize(Box::new(typed.into_request()?)),
            TypedCommand::Move(typed) => Command::Move(Box::new(typed.into_request()?)),
            TypedCommand::Check(typed) => Command::Check(Box::new(typed.into_request()?)),
            TypedCommand::Completions { shell } => Command::Completions(shell),
            TypedCommand::Man { folder } => Command::Man(folder),
        })
    }
}

/// Make a saved site, a mail or an archive work wherever you put it: find each base URL by RFC 1808, and rewrite
/// relative links in place.
#[derive(Debug, Parser)]
#[command(
    name = "baselink",
    bin_name = "baselink",
    version,
    after_help = PROGRAM_AFTER,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub(super) struct Typed {
    #[command(subcommand)]
    command: TypedCommand,
    #[command(flatten)]
    verbosity: TypedVerbosity,
}

#[derive(Debug, Subcommand)]
pub(super) enum TypedCommand {
    /// Make every relative link absolute.
    ///
    /// Only the bytes of URLs change. The result of one document is written to standard output, or to a file with -o.
    #[command(after_help = REWRITE_AFTER)]
    Rewrite(Box<TypedRewrite>),
    /// List every link with its place, its target, and what `rewrite` would do with it.
    #[command(after_help = LINKS_AFTER)]
    Links(Box<TypedLinks>),
    /// Show the base of each document, and the rule that gave it.
    #[command(after_help = BASE_AFTER)]
    Base(Box<TypedBase>),
    /// Resolve references against a base URL, one per line.
    #[command(after_help = RESOLVE_AFTER)]
    Resolve(Resolve),
    /// Report which links of a folder survive a move, and what the pages in an archive lack.
    ///
    /// Every link gets one class: travels, lines, pinned, escapes, dangling, missing, missing-page, fragment, outside or left.
    #[command(after_help = CHECK_AFTER, mut_arg("paths", folder_or_archives), mut_arg("resolver", resolver_of_browsers))]
    Check(Box<TypedCheck>),
    /// Make a folder or an archive work offline: links to files that are present become local, all others absolute.
    ///
    /// In a folder, only the bytes of URLs change. With -o, the mirror is another folder; with -i, the files are rewritten
    /// in place. An archive becomes a folder with -o: it contains everything that was captured, a table of the files, and a
    /// page that lists the captured pages.
    #[command(after_help = LOCALIZE_AFTER, mut_arg("paths", folder_archives_or_page), mut_arg("output", mirror_folder), mut_arg("resolver", resolver_of_browsers))]
    Localize(Box<TypedLocalize>),
    /// Move a folder to another URL, or rename files in it, and keep every link working.
    ///
    /// Each link keeps its form: a relative one stays relative, `/path` begins at the new root, and an absolute URL gets the new
    /// host and path. Links out of the folder stay as they are. Only the bytes of URLs change.
    #[command(after_help = MOVE_AFTER, mut_arg("paths", folder), mut_arg("output", copy_folder), mut_arg("resolver", resolver_of_browsers), mut_args(hide_unused))]
    Move(Box<TypedMove>),
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

/// The argument for paths of `check`.
fn folder_or_archives(paths: Arg) -> Arg {
    required(
        paths,
        "PATH",
        "A folder, or archives: WARC, WACZ, HAR, MHTML, .webarchive",
    )
}

/// The argument for paths of `localize`.
fn folder_archives_or_page(paths: Arg) -> Arg {
    let help = "A folder, archives (WARC, WACZ, HAR, MHTML, .webarchive), or a saved page";
    required(paths, "PATH", help)
}

/// The argument for paths of a command that takes one folder.
fn folder(paths: Arg) -> Arg {
    required(paths, "DIR", "The folder (only one)")
}

/// The argument for the output folder of `localize`.
fn mirror_folder(output: Arg) -> Arg {
    output.value_name("DIR").help("The folder for the mirror").long_help(
        "The folder for the mirror\n\nEach file is replaced whole or not at all. The mirror of a folder contains all selected \
         files, even those that do not change. For an archive, the folder must be new, empty, or the result of an earlier run.",
    )
}

/// The argument for the output folder of `move`.
fn copy_folder(output: Arg) -> Arg {
    output.value_name("DIR").help("The folder for the moved copy").long_help(
        "The folder for the moved copy\n\nEach file is replaced whole or not at all. The copy contains all selected files, \
         even those that do not change.",
    )
}

/// Makes the argument for paths required.
fn required(paths: Arg, name: &'static str, help: &'static str) -> Arg {
    paths
        .value_name(name)
        .help(help)
        .action(ArgAction::Append)
        .num_args(1..)
        .required(true)
}

/// Hides arguments that do not apply to a move of one folder.
fn hide_unused(arg: Arg) -> Arg {
    const UNUSED: [&str; 7] = [
        "url_map",
        "layout",
        "trust",
        "assume_scheme",
        "include",
        "follow",
        "format",
    ];
    let is_unused = UNUSED.contains(&arg.get_id().as_str());
    if is_unused { arg.hide(true) } else { arg }
}

/// The argument for the resolver of a command that follows browsers by default.
fn resolver_of_browsers(resolver: Arg) -> Arg {
    resolver
        .default_value("whatwg")
        .hide_default_value(true)
        .help("The rules of resolution: whatwg (default, as in browsers), rfc1808, rfc3986")
}

#[derive(Debug, Args)]
#[command(next_help_heading = "General")]
struct TypedVerbosity {
    /// Print nothing but errors on standard error
    #[arg(short, long, global = true)]
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

#[derive(Debug, Args)]
pub(super) struct TypedRewrite {
    #[command(flatten)]
    pub(super) documents: TypedDocuments,
    #[command(flatten)]
    pub(super) policy: TypedPolicy,
    #[command(flatten)]
    output: TypedOutput,
    /// Print a JSON object for each file; requires -o, -i or --dry-run
    ///
    /// Its keys are path, format, output (null if nothing was written), the numbers of links by
    /// outcome (rewritten, absolute, no-base, left, not-editable), and diagnostics (an array of code,
    /// line, column, start, end, message).
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct TypedLinks {
    #[command(flatten)]
    pub(super) documents: TypedDocuments,
    #[command(flatten)]
    pub(super) policy: TypedPolicy,
    /// Report whether each reference conforms to the grammar of RFC 1808, and where it violates the grammar
    #[arg(long, help_heading = "Output")]
    grammar: bool,
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
    output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct TypedBase {
    #[command(flatten)]
    pub(super) documents: TypedDocuments,
    /// Print a JSON object for each document
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl TypedRewrite {
    pub(super) fn into_request(self) -> Result<Rewrite> {
        let mut documents = self.documents.into_request(Some(&self.policy))?;
        documents.archives = Archives::Named;
        self.output
            .into_request(documents, self.json, self.policy.strict)
    }
}

impl TypedLinks {
    pub(super) fn into_request(self) -> Result<ListLinks> {
        let mut documents = self.documents.into_request(Some(&self.policy))?;
        documents.has_result_files = self.output.is_some();
        let form = match (self.json, self.only_targets) {
            (true, _) => LinksForm::Json,
            (_, true) => LinksForm::Target,
            _ => LinksForm::Text,
        };
        let (strict, grammar) = (self.policy.strict, self.grammar);
        Ok(ListLinks {
            documents,
            form,
            strict,
            grammar,
            output: self.output,
        })
    }
}

impl TypedBase {
    pub(super) fn into_request(self) -> Result<ShowBases> {
        Ok(ShowBases {
            documents: self.documents.into_request(None)?,
            json: self.json,
        })
    }
}

/// The length of a drive letter in a path on Windows.
const DRIVE: usize = 1;

/// Rejects an input of `command` that is a URL, and not the path of an existing file.
pub(super) fn reject_url(command: &str, path: &Path) -> Result<()> {
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
