//! Arguments. The structs that clap fills are the request; `complete` computes their other fields.
//!
//! ```text
//! links --json page.html  -->  Request { command: Links(ListLinks { documents: [page.html], json: true, … }), … }
//! ```
//!
//! Clap checks one argument at a time; `complete` checks them together.
//!
//! Deliberately absent: reading documents. Only a settings file, the tables of `--url-map` and `--rename`, and the
//! first bytes of some inputs, to detect their formats, are read here.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use baselink_text::{Error, Format, Result, name, shell, visible};
use clap::{
    CommandFactory, FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
};

use self::{
    commands::{Command, Request, reject_url},
    deferred::Deferred,
};
use super::{
    request::{Documents, Verbosity, folder_of},
    settings::Settings,
};
use baselink_files::write::is_one_file;
use baselink_site::reading::format_of_file;

pub mod check;
pub mod commands;
pub mod deferred;
pub mod documents;
mod help;
pub mod localize;
mod named;
pub mod output;
pub mod relocate;

/// The reason why no command is run.
pub enum Refusal {
    /// A message of clap: help, the version, or an error about one argument.
    Clap(clap::Error),
    /// An error about the arguments taken together.
    Sentence(Verbosity, Error),
}

/// Reads the command line, which begins with the program's name, and the settings for its inputs.
pub fn parse(words: Vec<OsString>) -> Result<Request, Refusal> {
    let mut program = program();
    let matches = program
        .try_get_matches_from_mut(&words)
        .map_err(usage_error)?;
    let mut request = Request::from_arg_matches(&matches).map_err(usage_error)?;
    let verbosity = request.verbosity();
    let refused = |error| Refusal::Sentence(verbosity, error);
    let is_map_typed = request.table().is_some();
    let (mut settings, mut below) = (None, None);
    if let Some((path, is_found)) = request.settings_file() {
        program.build();
        let read = Settings::read(&path, &program).map_err(refused)?;
        let gives_url;
        (request, gives_url) =
            with_settings(words, &mut program, &matches, &read).map_err(usage_error)?;
        if let Some(table) = request.table().filter(|_| is_found && !is_map_typed)
            && let Some((documents, _)) = request.command.documents()
        {
            documents.typed.map_file = Some(read.open(&table).map_err(refused)?);
        }
        settings = Some(path);
        below = gives_url.then_some(read);
    }
    let table = request.table();
    if let Some((documents, _)) = request.command.documents() {
        let name = matches.subcommand_name().unwrap_or_default();
        let mut paths = documents.typed.paths.iter();
        paths
            .try_for_each(|path| reject_url(name, path))
            .map_err(refused)?;
        documents.complete(below.as_ref()).map_err(refused)?;
    }
    request.command.complete().map_err(refused)?;
    if let Some((documents, _)) = request.command.documents().filter(|_| is_map_typed) {
        reject_map_without_inputs(documents).map_err(refused)?;
    }
    reject_overwrites(&mut request.command, table.as_deref(), settings.as_deref())
        .map_err(refused)?;
    request.settings = settings;
    Ok(request)
}

/// Reads the command line again, with the options in `settings` that were not typed. True if `settings` give the URL or
/// the layout of their folder.
fn with_settings(
    mut words: Vec<OsString>,
    program: &mut clap::Command,
    matches: &clap::ArgMatches,
    settings: &Settings,
) -> Result<(Request, bool), clap::Error> {
    let Some((name, typed)) = matches.subcommand() else {
        return Ok((Request::from_arg_matches(matches)?, false));
    };
    let command = program.find_subcommand(name).unwrap_or(program);
    let added = settings.words(command, typed);
    let gives_url = added.iter().any(|word| {
        let word = word.as_encoded_bytes();
        word.starts_with(b"--url=") || word.starts_with(b"--layout=")
    });
    let after = words
        .iter()
        .position(|word| word == name)
        .map_or(0, |at| at + 1);
    words.splice(after..after, added);
    let matches = program.try_get_matches_from_mut(words)?;
    Ok((Request::from_arg_matches(&matches)?, gives_url))
}

/// The message for arguments that clap rejects. A few common mistakes have messages of their own.
fn usage_error(error: clap::Error) -> Refusal {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let usage = error
        .get(ContextKind::Usage)
        .map(ToString::to_string)
        .unwrap_or_default();
    let sentence = match (
        of(ContextKind::InvalidSubcommand),
        of(ContextKind::InvalidArg),
    ) {
        (Some("rename"), _) => Some(
            "rename is not a command; to rename files, use baselink move --rename OLD=NEW DIR"
                .to_owned(),
        ),
        (Some(word), _) => {
            let (path, shown) = (Path::new(word), visible(word));
            match reject_url("rewrite", path) {
                Err(error) => Some(error.to_string()),
                Ok(()) if path.exists() => {
                    let word = shell::word(word);
                    Some(format!(
                        "{shown} is not a command; put one before it: baselink links {word}"
                    ))
                }
                Ok(()) => None,
            }
        }
        (_, Some("--url" | "--base" | "--base-url" | "-u" | "-b"))
            if error.kind() == ErrorKind::UnknownArgument && usage.contains("baselink resolve") =>
        {
            Some("the base is the first argument: baselink resolve BASE REFERENCE...".to_owned())
        }
        (_, Some(option))
            if option.starts_with("--in-place")
                && of(ContextKind::InvalidValue).is_some_and(|value| value.starts_with('.')) =>
        {
            Some("--in-place takes no suffix; to keep backups, use --backup .bak".to_owned())
        }
        (_, Some(wanted))
            if of(ContextKind::InvalidValue) == Some("")
                && ["<PATH>", "<DIR>", "<FILE>", "[PATH]"]
                    .iter()
                    .any(|what| wanted.contains(what)) =>
        {
            Some(format!("{wanted} is empty; name a file or folder"))
        }
        (_, Some(option)) => {
            let value = of(ContextKind::InvalidValue);
            let mut mistakes = MISTAKES.iter();
            let mistake = mistakes
                .find(|(name, of, _)| *name == option && (of.is_empty() || value == Some(of)));
            mistake.map(|(.., sentence)| (*sentence).to_owned())
        }
        _ => None,
    };
    match sentence {
        Some(sentence) => Refusal::Sentence(Verbosity::default(), Error::new(sentence)),
        None => Refusal::Clap(error),
    }
}

/// Common mistakes: an argument, the value that it has (any value if empty), and the message.
const MISTAKES: &[(&str, &str, &str)] = &[
    // As in `sed -i.bak`.
    (
        "-.",
        "",
        "-i takes no suffix; to keep backups, use -i --backup .bak",
    ),
    ("--baseurl", "", "--baseurl is not an option; use --url"),
    (
        "-n",
        "",
        "-n is not an option; to write nothing, use --dry-run with rewrite, localize or move; the other commands change no \
         document",
    ),
    (
        "-r",
        "",
        "-r is not an option; omit it, since a folder is always read with all folders in it",
    ),
    (
        "--from",
        "",
        "--from is not an option; give the present URL of the folder with --url",
    ),
    (
        "-k",
        "",
        "-k is not an option; to convert links as wget -k does, use baselink localize",
    ),
    (
        "--jobs <N>",
        "",
        "--jobs takes one number from 1 to 256; omit it to use all processors",
    ),
    (
        "--format <NAME>",
        "eml",
        "--format: the format of a mail is message",
    ),
    (
        "--format <NAME>",
        "json",
        "--format is the format of the documents; to print JSON, use --json",
    ),
    (
        "--format <NAME>",
        "sarif",
        "--format is the format of the documents; to print SARIF, use check --sarif",
    ),
    (
        "--in-place[=<HOW>]",
        "",
        "--in-place=HOW: the only HOW is break-links, for files with hard links; otherwise use --in-place alone",
    ),
];

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
    let roots: Vec<_> = documents.roots().map(Path::to_owned).collect();
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
        Some((documents, _)) => documents.roots().map(Path::to_owned).collect(),
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
