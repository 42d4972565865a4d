//! Every diagnostic, reason, outcome, source, option of a command, exit status and settings key has a case. A test that
//! fails lists the names without a case.
//!
//! A case covers an option if the command prints, writes or exits differently without the option. The same applies to a
//! settings key. A case in which the option is rejected does not count.
//!
//! Deliberately absent: attributes and other places of links, which `tests/project/fixtures_shape.rs` checks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use baselink::{Outcome, Reason};
use baselink_rewrite::base::Source;
use baselink_text::diagnostic::Code;

use crate::case::{Case, Ending, Files, baselink, put, run};
use crate::case_file;

/// Commands whose output clap generates; `tests/cli/cases.rs` tests them.
const OF_CLAP: [&str; 3] = ["completions", "man", "help"];

/// Names that no case can cover, each with the test that covers it.
///
/// The columns: a command (`*` for all) or a kind of name; an option, a status or another name; a file; a function.
#[rustfmt::skip]
const ELSEWHERE: [(&str, &str, &str, &str); 8] = [
    // A case cannot have symbolic links, times or extended attributes.
    ("*", "--follow", "tests/trees/commands.rs", "followed_links_are_read_and_loops_reported"),
    ("*", "--follow", "tests/trees/commands.rs", "base_check_localize_and_move_follow_symbolic_links_on_request"),
    ("*", "--preserve-times", "tests/trees/commands.rs", "times_are_kept_on_request_and_for_unchanged_files"),
    ("source", "xattr", "tests/trees/commands.rs", "an_extended_attribute_ranks_between_a_page_and_a_layout"),
    // The number of threads changes the output only if the program has a fault.
    ("*", "--jobs", "tests/trees/commands.rs", "results_do_not_depend_on_the_number_of_jobs"),
    ("settings", "verify", "tests/cli/covered.rs", "every_option_is_a_key_or_only_for_the_command_line"),
    // `localize` prints `local` instead of this name.
    ("reason", "chosen", "tests/project/library.rs", "a_chosen_text_that_is_already_present_is_kept"),
    // A case cannot be interrupted.
    ("*", "130", "tests/trees/commands.rs", "ctrl_c_stops_after_the_current_file"),
];

/// Panics if one of `names` has neither a case nor a row in [`ELSEWHERE`], or has both.
fn each_has_a_case(kind: &str, names: &[impl AsRef<str>], has_case: impl Fn(&str) -> bool) {
    let is_elsewhere = |name: &str| {
        ELSEWHERE
            .iter()
            .any(|row| [kind, "*"].contains(&row.0) && row.1 == name)
    };
    let names = names.iter().map(AsRef::as_ref);
    let (covered, uncovered): (Vec<_>, Vec<_>) = names.partition(|name| has_case(name));
    let missing: Vec<_> = uncovered
        .into_iter()
        .filter(|name| !is_elsewhere(name))
        .collect();
    assert!(missing.is_empty(), "{kind}: {missing:?} have no case");
    let needless: Vec<_> = covered
        .into_iter()
        .filter(|name| is_elsewhere(name))
        .collect();
    assert!(
        needless.is_empty(),
        "{kind}: {needless:?} have a case, and are in ELSEWHERE"
    );
}

/// True if a case of `tests/cli/cases/` prints one of the `texts`.
fn is_printed(cases: &[Case], texts: &[String]) -> bool {
    let mut printed = cases.iter().flat_map(|case| case.expected.printed());
    printed.any(|printed| texts.iter().any(|text| printed.contains(text)))
}

/// True if a fixture has an expectation `section` with `name` in column `column` or a later one.
fn is_expected(section: &str, column: usize, name: &str) -> bool {
    let mut rows = FIXTURES.iter().flat_map(|case| case.fields(section));
    rows.any(|row| row.iter().skip(column).any(|field| field == name))
}

/// The cases of documents and messages in `fixtures/`.
static FIXTURES: LazyLock<Vec<case_file::Case>> = LazyLock::new(|| {
    let folders = [
        "html", "css", "xhtml", "svg", "feed", "manifest", "script", "message", "http",
    ];
    let cases = folders.into_iter();
    cases
        .flat_map(|folder| case_file::Case::all(folder, 1))
        .collect()
});

/// The exit status.
fn status_of(ending: &Ending) -> &str {
    ending.streams[0].trim_end()
}

/// The text of `baselink COMMAND --help`.
fn help(command: &str) -> String {
    let output = run(baselink(Path::new(".")).args([command, "--help"]), b"");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands whose options and statuses need cases.
fn commands() -> Vec<String> {
    let output = run(baselink(Path::new(".")).arg("--help"), b"");
    let help = String::from_utf8(output.stdout).unwrap();
    let (_, list) = help.split_once("\nCommands:\n").unwrap();
    let list = list.split("\n\n").next().unwrap();
    // Continuation lines are indented deeper.
    let first = |line: &str| Some(line.strip_prefix("  ")?.split(' ').next()?.to_owned());
    let named = list
        .lines()
        .filter_map(first)
        .filter(|name| !name.is_empty());
    let commands: Vec<_> = named
        .filter(|name| !OF_CLAP.contains(&name.as_str()))
        .collect();
    assert!(commands.len() > 5, "{commands:?}");
    commands
}

#[test]
fn every_diagnostic_has_a_case() {
    let cases = Case::all();
    each_has_a_case("diagnostic", &Code::ALL.map(Code::name), |code| {
        // The command does not open what the library reports so.
        code == Code::FormatUnread.name()
            || is_printed(
                &cases,
                &[format!("[{code}]: "), format!(r#""code":"{code}""#)],
            )
    });
}

#[test]
fn every_outcome_reason_and_source_has_a_case() {
    let cases = Case::all();
    each_has_a_case("outcome", &Outcome::ALL.map(Outcome::name), |name| {
        is_expected("expected.links", 4, name)
    });
    each_has_a_case("reason", &Reason::ALL.map(Reason::name), |name| {
        is_expected("expected.links", 5, name) || is_printed(&cases, &[format!("({name})")])
    });
    each_has_a_case("source", &Source::ALL.map(Source::name), |name| {
        // The table of a message has an additional column before this one.
        is_expected("expected.base", 2, name)
            || is_printed(
                &cases,
                &[format!(" {name})"), format!(r#""source":"{name}""#)],
            )
    });
}

#[test]
fn every_exit_status_has_a_case() {
    let cases = Case::all();
    for command in &commands() {
        let help = help(command);
        let (_, statuses) = help.split_once("\nExit status:\n").unwrap();
        let words = statuses
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let statuses: Vec<_> = words.filter(|word| word.parse::<u8>().is_ok()).collect();
        assert!(statuses.len() > 1, "{command} has more than one status");
        each_has_a_case(command, &statuses, |status| {
            cases
                .iter()
                .any(|case| case.command() == command && status_of(&case.expected) == status)
        });
    }
}

/// An option of a command.
struct Parameter {
    /// The name, with `--`.
    long: String,
    /// The short name, with `-`.
    short: Option<String>,
    /// True if the next argument is its value.
    takes_value: bool,
}

impl Parameter {
    /// The options of `command`.
    fn all(command: &str) -> Vec<Self> {
        let help = help(command);
        let lines = help
            .lines()
            .filter(|line| line.starts_with("  -") || line.starts_with("      --"));
        let parameter = |line: &str| {
            let mut words = line
                .split_whitespace()
                .map(|word| word.trim_end_matches(','));
            let first = words.next().unwrap();
            let (short, long) = match first.starts_with("--") {
                true => (None, first),
                false => (Some(first.to_owned()), words.next().unwrap()),
            };
            let long = long.split('[').next().unwrap().to_owned();
            Self {
                long,
                short,
                takes_value: words.next().is_some_and(|word| word.starts_with('<')),
            }
        };
        lines
            .map(parameter)
            .filter(|parameter| parameter.long != "--help")
            .collect()
    }

    /// `arguments` without this option and its values.
    fn remove_from(&self, arguments: &[String]) -> Vec<String> {
        let mut remaining = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap();
            let is_short = self.short.as_ref().is_some_and(|short| word == short);
            if is_short || name == self.long {
                if self.takes_value && !word.contains('=') {
                    words.next();
                }
                continue;
            }
            remaining.push(word.clone());
            if word == "--" {
                remaining.extend(words.by_ref().cloned());
            }
        }
        remaining
    }
}

/// Before you raise a limit, look for an option that the new one can replace.
#[test]
fn the_number_of_options_is_limited() {
    let names = |command: &String| {
        let options = Parameter::all(command)
            .into_iter()
            .map(|option| option.long);
        options
            .filter(|long| long != "--version")
            .collect::<BTreeSet<_>>()
    };
    let commands = commands();
    let all: BTreeSet<String> = commands.iter().flat_map(names).collect();
    assert!(all.len() <= 54, "{} options: {all:?}", all.len());
    for command in &commands {
        let own = names(command);
        assert!(
            own.len() <= 36,
            "{command} has {} options: {own:?}",
            own.len()
        );
    }
}

#[test]
fn every_option_has_a_case_that_differs_without_it() {
    let cases = Case::all();
    for command in &commands() {
        let parameters = Parameter::all(command);
        let names: Vec<_> = parameters.iter().map(|parameter| &parameter.long).collect();
        each_has_a_case(command, &names, |name| {
            let parameter = parameters
                .iter()
                .find(|parameter| parameter.long == name)
                .unwrap();
            cases.iter().any(|case| {
                let remaining = parameter.remove_from(&case.arguments);
                case.command() == command
                    && status_of(&case.expected) != "2"
                    && remaining != case.arguments
                    && case.run(&remaining, &case.files) != case.expected
            })
        });
    }
}

/// The names in the first cells of the table of `docs/settings.md` that begins with `header`.
fn keys(header: &str) -> Vec<String> {
    let text = include_str!("../../docs/settings.md");
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with(header))
        .skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("| `"));
    let keys: Vec<_> = rows
        .map(|row| row.split('`').next().unwrap().to_owned())
        .collect();
    assert!(
        !keys.is_empty(),
        "docs/settings.md has no table that begins with {header}"
    );
    keys
}

fn holds_settings(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "toml")
}

/// `files` after removing `key` from the settings.
fn without(key: &str, mut files: Files) -> Files {
    let sets_key = |line: &str| line.split('=').next().unwrap().trim() == key;
    for (_, bytes) in files.iter_mut().filter(|(path, _)| holds_settings(path)) {
        let text = String::from_utf8(std::mem::take(bytes)).unwrap();
        let remaining = text.split_inclusive('\n').filter(|line| !sets_key(line));
        *bytes = remaining.collect::<String>().into_bytes();
    }
    files
}

#[test]
fn every_settings_key_has_a_case_that_differs_without_it() {
    let mut cases = Case::all();
    for case in &mut cases {
        case.expected.files.retain(|path, _| !holds_settings(path));
    }
    each_has_a_case("settings", &keys("| key |"), |key| {
        cases.iter().any(|case| {
            let files = without(key, case.files.clone());
            if files == case.files || status_of(&case.expected) == "2" {
                return false;
            }
            let mut ending = case.run(&case.arguments, &files);
            ending.files.retain(|path, _| !holds_settings(path));
            status_of(&ending) != "2" && ending != case.expected
        })
    });
}

/// The error for settings with this `key` and `value`.
fn settings_error(key: &str, value: &str) -> String {
    let scene = tempfile::tempdir().unwrap();
    put(
        scene.path(),
        Path::new("baselink.toml"),
        format!("{key} = {value}").as_bytes(),
    );
    let output = run(baselink(scene.path()).args(["links", "."]), b"");
    assert_eq!(output.status.code(), Some(2), "{key}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn every_option_is_a_key_or_only_for_the_command_line() {
    let keys = keys("| key |");
    let commands = commands();
    let options = commands.iter().flat_map(|command| Parameter::all(command));
    let options = options.map(|option| option.long.trim_start_matches('-').to_owned());
    let options: BTreeSet<String> = options.collect();
    assert!(keys.iter().all(|key| options.contains(key)), "{keys:?}");
    for option in &options {
        let stderr = settings_error(option, "1979-05-27");
        let expected = match keys.contains(option) {
            true => format!("error: baselink.toml:1: {option}: "),
            false => {
                format!("error: baselink.toml:1: '{option}' is allowed only on the command line\n")
            }
        };
        assert!(stderr.starts_with(&expected), "{stderr}");
    }
}

#[test]
fn tests_named_in_other_files_exist() {
    for (_, what, file, function) in ELSEWHERE {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = fs::read_to_string(path).unwrap();
        assert!(
            text.contains(&format!("fn {function}(")),
            "{file} has no {function} for {what}"
        );
    }
}
