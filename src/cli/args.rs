//! Arguments, in two steps: the `Typed…` structs are what was typed, [`Command`] is what it means.
//!
//! ```text
//! --url http://a/ --resolver rfc3986  -->  Options { profile: Rfc3986, retrieval: Some(http://a/), … }
//! ```
//!
//! The first step looks at one argument at a time; whatever takes two of them to see is left to the
//! second.
//!
//! Deliberately absent: documents. What is read here is a settings file and the table of `--url-map`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use baselink::error::{Error, Result, name, visible};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use self::commands::{Typed, refuse_url};
use self::line::{Line, Sections};
use super::request::{Asked, Command, Documents, ListLinks, Talk, is_standard_input};
use super::settings::Settings;
use super::settings::options::nearest;
use super::shell;

mod check;
mod commands;
mod documents;
mod help;
mod line;
mod localize;
mod named;
mod output;
mod resolve;
mod trust;

/// Why there is nothing to be done.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What clap has to say: help, the version, or what is wrong with one argument.
    Clap(clap::Error),
    /// What is wrong with the arguments taken together.
    Sentence(Talk, Error),
}

/// Reads the command line, the program's name first, and the settings that go with it.
pub(crate) fn parse(
    words: impl IntoIterator<Item = OsString>,
) -> std::result::Result<Asked, Refusal> {
    let (typed, line) = Line::read(words.into_iter().collect()).map_err(mistake)?;
    let talk = typed.talk();
    let refused = |error| Refusal::Sentence(talk, error);
    let Some(path) = typed.settings().map_err(refused)? else {
        let table = typed.table();
        let mut command = typed.meant().map_err(refused)?;
        command.reads().map_or(Ok(()), refuse_map_of_others).map_err(refused)?;
        record_options(&mut command, &line, table, None);
        return Ok(Asked { talk, settings: None, command });
    };
    let is_found = !line.is_typed("config");
    let settings = Settings::read(&path, is_found, &Typed::command()).map_err(refused)?;
    // Only who types it may keep quiet that there are settings.
    let is_said = !talk.quiet;
    let typed = line.with(&settings, &[]).map_err(Refusal::Clap)?;
    let talk = typed.talk();
    let table = typed.table();
    if let Some(table) = table.as_deref().filter(|_| is_found && !line.is_typed("url_map")) {
        settings.holds(table).map_err(refused)?;
    }
    let mut command = typed.meant().map_err(|error| Refusal::Sentence(talk, error))?;
    record_options(&mut command, &line, table, Some((&path, &settings)));
    if line.is_typed("url_map") {
        command.reads().map_or(Ok(()), refuse_map_of_others).map_err(refused)?;
    }
    if let Some(documents) = command.reads() {
        let sections = Sections::new(line, settings, &documents.paths, &documents.reading);
        documents.sections.get_or_init(|| Box::new(sections));
    }
    Ok(Asked { talk, settings: is_said.then_some(path), command })
}

/// Adds to `command` what its results depend on, where others are kept.
fn record_options(
    command: &mut Command,
    line: &Line,
    table: Option<PathBuf>,
    settings: Option<(&Path, &Settings)>,
) {
    let Command::Links(asked) = command else { return };
    let ListLinks { documents, output: Some(results), .. } = &mut **asked else { return };
    results.keeps &= !table.as_deref().is_some_and(is_standard_input);
    let mut options = line.deciding(settings.map(|(_, settings)| settings));
    if let Some((path, _)) = settings {
        options.push(format!("settings {path:?}"));
        results.tables.push(path.to_owned());
    }
    // `--url` is the URL of a folder, or of a file.
    options.push(format!("folder {}", documents.has_folder()));
    options.push(concat!("baselink ", env!("CARGO_PKG_VERSION"), "\n").to_owned());
    results.options = options.join("\n");
    results.tables.extend(table);
}

/// What is said of words that clap refuses: a sentence where a common mistake has a better answer.
fn mistake(error: clap::Error) -> Refusal {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let sentence = match (of(ContextKind::InvalidSubcommand), of(ContextKind::InvalidArg)) {
        (Some(word), _) => {
            let (path, shown) = (Path::new(word), visible(word));
            match refuse_url("rewrite", path) {
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
        // As sed has it.
        (_, Some("-.")) => {
            Some("-i takes no suffix; for copies of the old files, -i --backup .bak".to_owned())
        }
        (_, Some(option))
            if option.starts_with("--in-place")
                && of(ContextKind::InvalidValue).is_some_and(|value| value.starts_with('.')) =>
        {
            Some(
                "--in-place takes no suffix; for copies of the old files, --backup .bak".to_owned(),
            )
        }
        (_, Some(wanted))
            if of(ContextKind::InvalidValue) == Some("")
                && ["<PATH>", "<DIR>", "<FILE>", "[PATH]"]
                    .iter()
                    .any(|what| wanted.contains(what)) =>
        {
            Some(format!("{wanted} needs the name of a file or folder, and none was given"))
        }
        _ => None,
    };
    match sentence {
        Some(sentence) => Refusal::Sentence(Talk::default(), Error::new(sentence)),
        None => Refusal::Clap(with_nearest_option(error, &usage)),
    }
}

/// `error`, about an unknown option of the command in `usage`, with the option that was meant: clap does not see that two
/// letters of a short one are in each other's place.
fn with_nearest_option(mut error: clap::Error, usage: &str) -> clap::Error {
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) if error.get(ContextKind::SuggestedArg).is_none() => {
            typed.strip_prefix("--")
        }
        _ => None,
    };
    let mut program = program();
    program.build();
    let is_used = |command: &&clap::Command| {
        usage.contains(&format!("{} {} ", program.get_name(), command.get_name()))
    };
    let command = program.get_subcommands().find(is_used);
    let options = command.into_iter().flat_map(|command| {
        command
            .get_arguments()
            .filter(|option| !option.is_hide_set())
            .filter_map(clap::Arg::get_long)
    });
    let meant = typed.and_then(|typed| nearest(typed, options)).map(|meant| format!("--{meant}"));
    if let Some(meant) = meant.filter(|_| error.kind() == ErrorKind::UnknownArgument) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(meant));
        error.remove(ContextKind::Suggested);
    }
    error
}

/// The command line as clap has it, to be described in other forms.
pub(crate) fn program() -> clap::Command {
    Typed::command()
}

/// Refuses a table of URLs that has a line for none of the inputs that are there.
fn refuse_map_of_others(documents: &Documents) -> Result<()> {
    let Some(map) = &documents.reading.origins.map else { return Ok(()) };
    let roots: Vec<_> = documents.roots().map(Path::to_owned).collect();
    if roots.is_empty() {
        return Err(Error::new(
            "--url-map: standard input has no path to look up in the table; use --url",
        ));
    }
    if map.speaks_of(&roots) || !roots.iter().any(|root| root.exists()) {
        return Ok(());
    }
    let inputs =
        if roots.len() == 1 { name(&roots[0]) } else { "the files that were named".to_owned() };
    Err(Error::new(match map.first() {
        None => "--url-map: the table is empty".to_owned(),
        Some(first) => format!(
            "--url-map: the table has no line for {inputs}; its paths, such as '{}', begin at a folder that \
             was named, or at the folder of the table, of a named file, or the current one",
            name(first)
        ),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::settings::options::tests::undocumented;
    use super::*;
    use baselink::scan::attributes::Group;

    #[test]
    fn every_option_is_a_key_of_settings_or_is_only_typed() {
        let wrong = undocumented(include_str!("../../docs/settings.md"), &program());
        assert!(wrong.is_empty(), "docs/settings.md: {}", wrong.join("\n"));
    }

    #[test]
    fn the_arguments_are_consistent_and_the_help_names_every_group() {
        let mut command = Typed::command();
        command.build();
        command.clone().debug_assert();
        let links = command.find_subcommand_mut("links").map(|links| links.render_long_help());
        let help = links.map(|help| help.to_string()).unwrap_or_default();
        for group in Group::ALL {
            assert!(help.contains(group.name()), "{}", group.name());
        }
    }
}
