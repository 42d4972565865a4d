//! The command line. The structs that clap fills are the request; `complete` computes their other fields.
//!
//! ```text
//! links --json page.html  -->  Request { command: Links(ListLinks { documents: [page.html], json: true, … }), … }
//! ```
//!
//! Clap checks one argument at a time; `complete` checks them together.
//!
//! Deliberately absent: the arguments of single commands, which stand in the files of the commands, and reading documents. Only a
//! settings file, the tables of `--url-map` and `--rename`, and the first bytes of some inputs, to detect their formats, are
//! read here.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use baselink_text::{Error, Format, Result, name, nearest, shell, visible};
use baselink_url::scheme_of;
use clap::{
    CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint,
    error::{ContextKind, ContextValue, ErrorKind},
};
use clap_complete::Shell;

use self::{
    check::Check,
    deferred::Deferred,
    help::{COMPLETIONS_AFTER, MAN_AFTER, PROGRAM_AFTER},
    output::RewriteDocuments,
};
use super::{
    base::ShowBases,
    links::ListLinks,
    localize::Localize,
    relocate::Move,
    request::{Documents, Verbosity, folder_of, is_standard_input},
    resolve::Resolve,
    settings::Settings,
};
use baselink_files::write::is_one_file;
use baselink_site::reading::format_of_file;

pub mod check;
pub mod deferred;
pub mod help;
pub mod named;
pub mod output;

/// Make a saved site, a mail or an archive work wherever you put it: find each base URL by RFC 1808, and rewrite
/// relative links in place.
#[derive(Parser)]
#[command(
    name = "baselink",
    bin_name = "baselink",
    version,
    after_help = PROGRAM_AFTER,
    hide_possible_values = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub struct Request {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub verbosity: Verbosity,
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

impl Request {
    /// The settings file, if any; true if it was found rather than named by `--config`.
    pub fn settings_file(&mut self) -> Option<(PathBuf, bool)> {
        let documents = self.command.documents()?;
        match &documents.config {
            Some(path) if path.as_os_str() == "none" => None,
            Some(path) => Some((path.clone(), false)),
            None => Settings::find().map(|path| (path, true)),
        }
    }

    /// The table of `--url-map`.
    pub fn table(&mut self) -> Option<PathBuf> {
        self.command.documents()?.url_map.clone()
    }
}

impl Command {
    /// The documents that the command reads.
    pub fn documents(&mut self) -> Option<&mut Documents> {
        Some(match self {
            Self::Rewrite(Deferred(of)) => &mut of.rewrite.documents,
            Self::Links(Deferred(of)) => &mut of.documents,
            Self::Base(Deferred(of)) => &mut of.documents,
            Self::Localize(Deferred(of)) => &mut of.rewrite.documents,
            Self::Move(Deferred(of)) => &mut of.rewrite.documents,
            Self::Check(Deferred(of)) => &mut of.documents,
            Self::Resolve(_) | Self::Completions { .. } | Self::Man { .. } => return None,
        })
    }

    /// Checks the arguments together, and computes what follows from them.
    pub fn complete(&mut self) -> Result<()> {
        match self {
            Self::Rewrite(Deferred(request)) => request.complete(),
            Self::Links(Deferred(request)) => {
                request.complete();
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
            Self::Localize(Deferred(request)) => {
                vec![("--missing", request.extraction.missing.as_deref())]
            }
            Self::Move(Deferred(request)) => vec![("--redirects", request.redirects.as_deref())],
            Self::Check(Deferred(request)) => request.side_files(),
            _ => Vec::new(),
        };
        files
            .into_iter()
            .filter_map(|(option, path)| Some((option, path?)))
            .filter(|(_, path)| !is_standard_input(path))
            // Redirects in a folder replace no file.
            .filter(|(option, path)| *option != "--redirects" || !path.is_dir())
            .collect()
    }
}

/// The reason why no command is run.
pub enum Refusal {
    /// A message of clap: help, the version, or an error about one argument.
    Clap(clap::Error),
    /// An error about the arguments taken together.
    Sentence(Verbosity, Error),
}

/// Reads the command line, which begins with the program's name, and the settings for its inputs.
pub fn parse(mut words: Vec<OsString>) -> Result<Request, Refusal> {
    let mut program = program();
    let matches = program
        .try_get_matches_from_mut(&words)
        .map_err(|error| usage_error(error, &program, &words))?;
    let mut request = Request::from_arg_matches(&matches)
        .map_err(|error| usage_error(error, &program, &words))?;
    let (name, typed) = matches.subcommand().unwrap_or(("", &matches));
    let mut verbosity = request.verbosity;
    verbosity.verbose = matches!(typed.try_get_one("verbose"), Ok(Some(true)));
    let refused = |error| Refusal::Sentence(verbosity, error);
    let is_map_typed = request.table().is_some();
    let (mut settings, mut below) = (None, None);
    if let Some((path, is_found)) = request.settings_file() {
        program.build();
        let read = Settings::read(&path, &program).map_err(refused)?;
        // Reads the command line again, with the options in the settings that were not typed.
        let (added, gives_url) = read.words(program.find_subcommand(name), typed);
        let after = words.iter().position(|word| word == name);
        let after = after.map_or(0, |at| at + 1);
        words.splice(after..after, added);
        let matches = program.try_get_matches_from_mut(&words);
        request = matches
            .and_then(|matches| Request::from_arg_matches(&matches))
            .map_err(|error| usage_error(error, &program, &words))?;
        if let Some(table) = request.table().filter(|_| is_found && !is_map_typed)
            && let Some(documents) = request.command.documents()
        {
            documents.map_file = Some(read.open(&table).map_err(refused)?);
        }
        settings = Some(path);
        below = gives_url.then_some(read);
    }
    let table = request.table();
    if let Some(documents) = request.command.documents() {
        let mut paths = documents.typed_paths.iter();
        paths
            .try_for_each(|path| reject_url(name, path))
            .map_err(refused)?;
        documents.complete(below.as_ref()).map_err(refused)?;
    }
    request.command.complete().map_err(refused)?;
    if let Some(documents) = request.command.documents().filter(|_| is_map_typed) {
        reject_map_without_inputs(documents).map_err(refused)?;
    }
    reject_overwrites(&mut request.command, table.as_deref(), settings.as_deref())
        .map_err(refused)?;
    Ok(Request {
        settings,
        verbosity,
        ..request
    })
}

/// The message for arguments that clap rejects. Common mistakes have messages of their own, as have the options of other
/// programs: a row of `habits.tsv` has such options, and advice for those who type them. For other unknown options, the message
/// names a similar one.
fn usage_error(mut error: clap::Error, program: &clap::Command, words: &[OsString]) -> Refusal {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    if is_unknown {
        // clap's tip, to pass the option as a value after `--`, helps nobody here.
        error.remove(ContextKind::Suggested);
    }
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let (command, value) = (
        of(ContextKind::InvalidSubcommand),
        of(ContextKind::InvalidValue),
    );
    let word = command.or(of(ContextKind::InvalidArg)).unwrap_or_default();
    let named = words.iter().find_map(|word| program.find_subcommand(word));
    let is_of_resolve = named.is_some_and(|named| named.get_name() == "resolve");
    let mistake = match (word, value) {
        ("--url" | "--base" | "--base-url" | "-u" | "-b", _) if is_unknown && is_of_resolve => {
            "the base is the first argument: baselink resolve BASE REFERENCE..."
        }
        ("rename", _) => {
            "rename is not a command; to rename files, use baselink move --rename OLD=NEW DIR"
        }
        ("-.", _) => "-i takes no suffix; to keep backups, use -i --backup .bak",
        ("--jobs <N>", _) => "--jobs takes one number from 1 to 256; omit it to use all processors",
        ("--format <NAME>", Some("eml")) => "--format: the format of a mail is message",
        ("--format <NAME>", Some("json")) => {
            "--format is the format of the documents; to print JSON, use --json"
        }
        ("--format <NAME>", Some("sarif")) => {
            "--format is the format of the documents; for SARIF, use check --report FILE.sarif"
        }
        (_, Some(value)) if word.starts_with("--in-place") && value.starts_with('.') => {
            "--in-place takes no suffix; to keep backups, use --backup .bak"
        }
        ("--in-place[=<HOW>]", _) => {
            "--in-place=HOW: the only HOW is break-links, for files with hard links; otherwise use --in-place alone"
        }
        _ => "",
    };
    let habit = |row: &str| {
        let (names, advice) = row.split_once('\t')?;
        let is_named = names.split(' ').any(|name| name == word);
        is_named.then(|| format!("{word} is not an option; {advice}"))
    };
    let sentence = match value {
        _ if !mistake.is_empty() => Some(mistake.to_owned()),
        Some("")
            if ["<PATH>", "<DIR>", "<FILE>", "[PATH]"]
                .iter()
                .any(|what| word.contains(what)) =>
        {
            Some(format!("{word} is empty; name a file or folder"))
        }
        _ if is_unknown => include_str!("args/habits.tsv").lines().find_map(habit),
        _ if command.is_some() => {
            let path = Path::new(word);
            match reject_url("rewrite", path) {
                Err(error) => Some(error.to_string()),
                Ok(()) => path.exists().then(|| {
                    let (shown, word) = (visible(word), shell::word(word));
                    if format_of_file(path).is_some_and(Format::is_archive) {
                        return format!(
                            "{shown} is not a command; to make a folder of this archive: baselink localize {word} -o DIR"
                        );
                    }
                    format!("{shown} is not a command; put one before it: baselink links {word}")
                }),
            }
        }
        _ => None,
    };
    match sentence {
        Some(sentence) => Refusal::Sentence(Verbosity::default(), Error::new(sentence)),
        None => {
            let options = named.into_iter().flat_map(clap::Command::get_arguments);
            let options = options.filter_map(clap::Arg::get_long);
            if let Some(meant) = nearest(word.trim_start_matches('-'), options)
                && is_unknown
            {
                let meant = ContextValue::String(format!("--{meant}"));
                error.insert(ContextKind::SuggestedArg, meant);
            }
            Refusal::Clap(error)
        }
    }
}

/// The command line as clap describes it, for completions and manual pages.
pub fn program() -> clap::Command {
    Request::command()
}

/// The command line with the arguments of all commands, which [`program`] defers.
#[cfg(any(fuzzing, test))]
pub fn built_program() -> clap::Command {
    let mut program = program();
    program.build();
    program
}

/// Rejects a table of URLs without a line for any existing input.
fn reject_map_without_inputs(documents: &Documents) -> Result<()> {
    let Some(map) = &documents.reading.origins.map else {
        return Ok(());
    };
    let roots = documents.root_paths();
    if roots.is_empty() {
        return Err(Error::new(
            "--url-map: standard input has no path to look up in the table; use --url",
        ));
    }
    if map.speaks_of(&roots) || !roots.iter().any(|root| root.exists()) {
        return Ok(());
    }
    let inputs = if roots.len() == 1 {
        name(&roots[0])
    } else {
        "the named files".to_owned()
    };
    Err(Error::new(match map.first() {
        None => "--url-map: the table is empty".to_owned(),
        Some(first) => format!(
            "--url-map: the table has no line for {inputs}; its paths, such as '{}', must be relative to a named \
             folder, the folder of a named file, the folder of the table, or the current folder",
            name(first)
        ),
    }))
}

/// Checks that no side file of `command` is another one, an input, the baseline, the `table` of URLs, the `settings`, or a
/// document or archive, which was probably meant as an input.
///
/// # Errors
///
/// Two of these paths lead to one file, or a side file is a document or archive.
fn reject_overwrites(
    command: &mut Command,
    table: Option<&Path>,
    settings: Option<&Path>,
) -> Result<()> {
    let inputs: Vec<PathBuf> = match command.documents() {
        Some(documents) => documents.root_paths(),
        None => Vec::new(),
    };
    let written = command.side_files();
    let baseline = match &*command {
        Command::Check(Deferred(request)) if !request.updates_baseline => {
            request.baseline.as_deref()
        }
        _ => None,
    };
    let read = [
        ("the settings are in this file", settings),
        ("--url-map reads this file", table),
        ("--baseline reads this file", baseline),
    ]
    .into_iter()
    .filter_map(|(why, path)| Some((why, path?)));
    let read: Vec<_> = read
        .chain(
            inputs
                .iter()
                .map(|input| ("this file is an input", input.as_path())),
        )
        .collect();
    for (number, (option, path)) in written.iter().enumerate() {
        let same = written[..number]
            .iter()
            .find(|(_, other)| is_same(other, path));
        if let Some((other, first)) = same {
            let why = format!("{other} and {option} cannot name the same file");
            return Err(Error::file(first, &why));
        }
        if let Some((why, _)) = read.iter().find(|(_, other)| is_same(other, path)) {
            return Err(Error::file(
                path,
                &format!("{why}; name another one for {option}"),
            ));
        }
        let format = format_of_file(path);
        if format.is_some_and(|format| is_precious(format, option)) {
            let why = format!("{option} would replace this document or archive; name a new file");
            return Err(Error::file(path, &why));
        }
    }
    Ok(())
}

/// True if an existing file of `format` cannot be the result of an earlier run with `option`. A report is HTML.
fn is_precious(format: Format, option: &str) -> bool {
    let is_list = option == "--missing";
    format.is_archive() || format.has_headings() || (is_list && format.is_read())
}

/// True if both paths lead to one file, which may not exist yet.
fn is_same(left: &Path, right: &Path) -> bool {
    let real_path = |path: &Path| -> Option<PathBuf> {
        Some(
            fs::canonicalize(folder_of(path))
                .ok()?
                .join(path.file_name()?),
        )
    };
    is_one_file(left, right) || real_path(left).is_some_and(|left| real_path(right) == Some(left))
}

/// The length of a drive letter in a path on Windows.
const DRIVE: usize = 1;

/// Rejects an input of `command` that is a URL, and not the path of an existing file.
pub fn reject_url(command: &str, path: &Path) -> Result<()> {
    let Some(url) = path.to_str() else {
        return Ok(());
    };
    let is_of_url = |scheme: &&str| scheme.len() > DRIVE && url[scheme.len()..].starts_with("://");
    let Some(scheme) = scheme_of(url).filter(is_of_url) else {
        return Ok(());
    };
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let shown = visible(url);
    Err(Error::new(match (command, &*scheme.to_ascii_lowercase()) {
        (_, "file") => format!("{shown} is a URL; name the file by its path"),
        (_, scheme) if !scheme.starts_with("http") => {
            format!(
                "{shown} is not a web address; copy the file here first, and name it by its path"
            )
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use baselink_rewrite::Reason;

    #[test]
    fn the_arguments_are_consistent() {
        program().debug_assert();
    }

    /// The help omits `chosen`: a link with this reason is local or unchanged, which users see as a result.
    #[test]
    fn the_help_of_strict_lists_the_accepted_reasons() {
        let program = built_program();
        for (command, impossible) in [
            ("rewrite", Reason::Kept),
            ("links", Reason::Kept),
            ("localize", Reason::Dkim),
            ("move", Reason::Dkim),
        ] {
            let command = program.find_subcommand(command).unwrap();
            let strict = command
                .get_arguments()
                .find(|it| it.get_long() == Some("strict"));
            let help = strict
                .unwrap()
                .get_long_help()
                .unwrap()
                .to_string()
                .replace('\n', " ");
            let (_, listed) = help.split_once("accepted: ").unwrap();
            let mut listed: Vec<_> = listed.trim_end_matches('.').split(", ").collect();
            let is_possible = |it: &Reason| ![Reason::Chosen, impossible].contains(it);
            let accepted = Reason::ALL
                .into_iter()
                .filter(|it| it.is_intended() && is_possible(it));
            let mut accepted: Vec<_> = accepted.map(Reason::name).collect();
            listed.sort_unstable();
            accepted.sort_unstable();
            assert_eq!(listed, accepted, "{}", command.get_name());
        }
    }
}
