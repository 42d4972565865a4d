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
use std::path::Path;

use baselink::error::{Error, Result, name, visible};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use self::commands::{Typed, refuse_url};
use self::line::{Line, Sections};
use super::request::{Asked, Documents, Talk};
use super::settings::Settings;
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
        let command = typed.meant().map_err(refused)?;
        command.reads().map_or(Ok(()), refuse_map_of_others).map_err(refused)?;
        return Ok(Asked { talk, settings: None, command });
    };
    let is_found = !line.is_typed("config");
    let settings = Settings::read(&path, is_found, &Typed::command()).map_err(refused)?;
    // Only who types it may keep quiet that there are settings.
    let is_said = !talk.quiet;
    let typed = line.with(&settings, &[]).map_err(Refusal::Clap)?;
    let talk = typed.talk();
    let map = typed.documents().and_then(|documents| documents.url_map.as_deref());
    if let Some(map) = map.filter(|_| is_found && !line.is_typed("url_map")) {
        settings.holds(map).map_err(refused)?;
    }
    let command = typed.meant().map_err(|error| Refusal::Sentence(talk, error))?;
    if line.is_typed("url_map") {
        command.reads().map_or(Ok(()), refuse_map_of_others).map_err(refused)?;
    }
    if let Some(documents) = command.reads() {
        let sections = Sections::new(line, settings, &documents.paths, &documents.reading);
        documents.sections.get_or_init(|| Box::new(sections));
    }
    Ok(Asked { talk, settings: is_said.then_some(path), command })
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
        None => Refusal::Clap(error),
    }
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
            "--url-map: standard input has no path, by which a table could have its URL; use --url",
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
