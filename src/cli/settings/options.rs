//! The options of the command line, as far as a settings file has to know them.
//!
//! ```text
//! --resolver <NAME>   of rewrite, links, base, resolve   said of a document   takes one value
//! --output <PATH>     of rewrite                         only typed
//! ```
//!
//! Names, kinds and parsers of values are clap's. What clap cannot know is in tables.
//!
//! Deliberately absent: what an option means.

use std::any::TypeId;
use std::error::Error as _;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

/// Options that make no sense in a file, or decide what is written, or what is read outside the tree.
pub(super) const ONLY_TYPED: &[&str] = &[
    "config",
    "no-config",
    "help",
    "version",
    "output",
    "in-place",
    "backup",
    "report",
    "missing",
    "fix",
    "baseline",
    "update-baseline",
    "follow",
    "pairs",
];

/// Options that are said of a document, and can differ between the files of a tree: a section can have them.
pub(in crate::cli) const OF_A_DOCUMENT: &[&str] = &[
    "url",
    "layout",
    "index",
    "trust",
    "local-copies",
    "assume-scheme",
    "format",
    "charset",
    "resolver",
    "enable",
    "attribute",
    "fragments",
    "base-element",
    "skip-dkim",
];

/// Options that exclude each other, in addition to those of which clap knows it.
const EXCLUSIVE: &[(&str, &str)] = &[("json", "diff")];

/// The name among `known` that `typed` was meant to be: one in which at most every third letter is another.
pub(in crate::cli) fn nearest<'a>(
    typed: &str,
    known: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    known
        .filter(|known| typed.len() <= 2 * known.len())
        .map(|known| (strsim::osa_distance(typed, known), known))
        .filter(|(distance, known)| 3 * distance <= known.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// An option that some command has. It is taken to be the same option with each of them.
#[derive(Debug)]
pub(super) struct KnownOption {
    pub(super) option: Arg,
    pub(super) key: String,
    /// The commands that have it, each with the options that exclude it there, by id.
    commands: Vec<(String, Vec<String>)>,
}

impl KnownOption {
    /// The long options of the commands of `program`, in their order.
    pub(super) fn all(program: &Command) -> Vec<Self> {
        let mut program = program.clone();
        // Only then a command has the options that it shares with the others.
        program.build();
        let mut options: Vec<Self> = Vec::new();
        for command in program.get_subcommands() {
            let pairs = command.get_arguments().flat_map(|one| {
                let others = command.get_arg_conflicts_with(one);
                others.into_iter().map(|other| (one.get_id().as_str(), other.get_id().as_str()))
            });
            let pairs: Vec<_> = pairs.chain(EXCLUSIVE.iter().copied()).collect();
            for option in command.get_arguments() {
                let Some(key) = option.get_long() else { continue };
                let id = option.get_id().as_str();
                let excluded = pairs
                    .iter()
                    .flat_map(|&(one, other)| [(one, other), (other, one)])
                    .filter(|(one, _)| *one == id)
                    .map(|(_, other)| other.to_owned());
                let here = (command.get_name().to_owned(), excluded.collect());
                match options.iter_mut().find(|known| known.key == key) {
                    Some(known) => known.commands.push(here),
                    None => options.push(Self {
                        option: option.clone(),
                        key: key.to_owned(),
                        commands: vec![here],
                    }),
                }
            }
        }
        options
    }

    pub(super) fn is_known_to(&self, command: &str) -> bool {
        self.commands.iter().any(|(name, _)| name == command)
    }

    pub(super) fn is_typed(&self, typed: &dyn Fn(&str) -> bool) -> bool {
        typed(self.option.get_id().as_str())
    }

    /// Whether it is an option of `command`, and neither it nor one that excludes it was `typed`.
    pub(super) fn counts(&self, command: &str, typed: &dyn Fn(&str) -> bool) -> bool {
        let here = self.commands.iter().find(|(name, _)| name == command);
        here.is_some_and(|(_, excluded)| {
            !self.is_typed(typed) && !excluded.iter().any(|id| typed(id))
        })
    }

    /// Whether its value is text, of which clap would take any.
    pub(super) fn is_text(&self) -> bool {
        let parsed = self.option.get_value_parser().type_id();
        let mut text =
            [TypeId::of::<String>(), TypeId::of::<OsString>(), TypeId::of::<PathBuf>()].into_iter();
        text.any(|text| parsed == text) && self.option.get_possible_values().is_empty()
    }

    /// How it says `true` or `false`.
    pub(super) fn boolean(&self, is_on: bool) -> &'static str {
        let says_yes =
            self.option.get_possible_values().iter().any(|one| one.matches("yes", false));
        match (says_yes, is_on) {
            (true, true) => "yes",
            (true, false) => "no",
            (false, true) => "true",
            (false, false) => "false",
        }
    }

    /// What clap has against `value`.
    pub(super) fn refusal(&self, value: &OsString) -> Option<String> {
        let mut argument = OsString::from("--value=");
        argument.push(value);
        let mut option = Arg::new("value")
            .long("value")
            .action(self.option.get_action().clone())
            .value_parser(self.option.get_value_parser().clone())
            .ignore_case(self.option.is_ignore_case_set());
        if let Some(delimiter) = self.option.get_value_delimiter() {
            option = option.value_delimiter(delimiter);
        }
        let command = Command::new("").no_binary_name(true).arg(option);
        command.try_get_matches_from([argument]).err().map(|error| reason(&error))
    }
}

/// Why clap refused a value, without the option, which clap knows only under another name here.
fn reason(error: &clap::Error) -> String {
    if let Some(source) = error.source() {
        return source.to_string();
    }
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "",
    };
    match error.get(ContextKind::ValidValue) {
        _ if value.is_empty() => "its value is empty".to_owned(),
        Some(ContextValue::Strings(valid)) if error.kind() == ErrorKind::InvalidValue => {
            format!("'{value}' is not one of {}", valid.join(", "))
        }
        _ => format!("invalid value '{value}'"),
    }
}

#[cfg(test)]
pub(in crate::cli) mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use clap::ArgAction;

    use super::super::Settings;
    use super::*;

    /// The cells of the table of `page` that begins with `header`, without the marks of code.
    fn table<'a>(page: &'a str, header: &str) -> Vec<Vec<&'a str>> {
        let rows = page.lines().skip_while(|line| !line.starts_with(header)).skip(2);
        rows.take_while(|line| line.starts_with('|'))
            .map(|row| row.split('|').skip(1).map(|cell| cell.trim().trim_matches('`')).collect())
            .collect()
    }

    /// What is wrong with `page`, which is to have each long option of the commands of `program` once, as a
    /// key or as one that is only typed, and examples that can be read.
    pub(in crate::cli) fn undocumented(page: &str, program: &Command) -> Vec<String> {
        let mut wrong = Vec::new();
        let known = KnownOption::all(program);
        let rows = table(page, "| key | value | in sections |");
        let documented = |key: &str| rows.iter().filter(|row| row[0] == key).count();
        let is_shown = |known: &&KnownOption| {
            !ONLY_TYPED.contains(&known.key.as_str()) && !known.option.is_hide_set()
        };
        for option in known.iter().filter(is_shown) {
            let key = option.key.as_str();
            let value = match option.option.get_action() {
                flag if !flag.takes_values() => "true or false",
                ArgAction::Append => "one or several",
                _ => "one",
            };
            let sections = if OF_A_DOCUMENT.contains(&key) { "yes" } else { "no" };
            let expected = [key, value, sections];
            if !rows.iter().any(|row| row.starts_with(&expected)) {
                wrong.push(format!("lacks a row: | `{key}` | {value} | {sections} |"));
            }
        }
        for row in &rows {
            if documented(row[0]) > 1 || !known.iter().any(|option| option.key == row[0]) {
                wrong.push(format!("has a row too many: {}", row[0]));
            }
        }
        let typed: Vec<_> = table(page, "| only typed |").iter().map(|row| row[0]).collect();
        if typed != ONLY_TYPED {
            wrong.push(format!("has as only typed {typed:?}, not {ONLY_TYPED:?}"));
        }
        for example in page.split("```toml\n").skip(1) {
            let example = example.split("```").next().unwrap_or_default();
            let read = Settings::parse(example.as_bytes(), Path::new("example"), program);
            wrong.extend(read.err().map(|error| error.to_string()));
        }
        wrong
    }

    #[test]
    fn what_is_not_documented_is_told() {
        let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let options = [
            flag("strict"),
            Arg::new("url").long("url"),
            Arg::new("enable").long("enable").action(ArgAction::Append),
            Arg::new("output").long("output"),
        ];
        let program = Command::new("a").subcommand(Command::new("b").args(options));
        let typed: String = ONLY_TYPED.iter().map(|key| format!("| `{key}` | x |\n")).collect();
        let rest = format!("\n| only typed | x |\n|---|---|\n{typed}\n");
        let head = "| key | value | in sections | what |\n|---|---|---|---|\n\
            | `url` | one | yes | x |\n| `enable` | one or several | yes | x |\n";
        let strict = "| `strict` | true or false | no | x |\n";
        let example = "```toml\nstrict = true\n```\n";
        assert!(undocumented(&[head, strict, &rest, example].concat(), &program).is_empty());
        for (page, expected) in [
            ([head, "", &rest, ""], "lacks a row: | `strict` | true or false | no |"),
            ([head, strict, &rest, "```toml\nurl = 1\n```"], "example:1: url: takes a string"),
            ([head, &strict.repeat(2), &rest, ""], "has a row too many: strict"),
            ([head, &strict.replace("strict", "a"), &rest, ""], "lacks a row: | `strict`"),
            ([head, &strict.replace("no", "yes"), &rest, ""], "lacks a row: | `strict`"),
            ([head, strict, "", ""], "has as only typed []"),
        ] {
            let wrong = undocumented(&page.concat(), &program);
            assert!(wrong.first().is_some_and(|first| first.starts_with(expected)), "{wrong:?}");
        }
    }
}
