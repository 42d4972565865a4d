//! The commands of the README and of `docs/messages.md` print what these show, `…` standing for lines that they
//! leave out. `cat FILE` shows a file, and `< FILE` gives one to standard input.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

const README: &str = include_str!("../README.md");
const MESSAGES: &str = include_str!("../docs/messages.md");

/// Whether `found` has the lines of `shown`, in order, with nothing between them but where `…` stands.
fn is_shown(shown: &[&str], found: &[&str]) -> bool {
    match shown {
        [] => found.is_empty(),
        ["…", rest @ ..] => (0..=found.len()).any(|skip| is_shown(rest, &found[skip..])),
        [line, rest @ ..] => found.first() == Some(line) && is_shown(rest, &found[1..]),
    }
}

/// What `command` prints: results first, then what is said on standard error.
fn printed(command: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if let Some(name) = command.strip_prefix("cat ") {
        return fs::read_to_string(root.join(name)).unwrap();
    }
    let (command, input) = match command.split_once(" < ") {
        Some((command, name)) => (command, Stdio::from(File::open(root.join(name)).unwrap())),
        None => (command, Stdio::null()),
    };
    let output = Command::new(env!("CARGO_BIN_EXE_baselink"))
        .current_dir(root)
        .args(command.split(' ').skip(1).map(|one| one.trim_matches('\'')))
        .stdin(input)
        .output()
        .unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// Runs the commands of `page` for which something is shown; how many there are.
fn check(page: &str) -> usize {
    let mut commands = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for command in block.strip_prefix("$ ").unwrap().split("\n$ ") {
            let (command, shown) = command.split_once('\n').unwrap_or((command, ""));
            if shown.trim().is_empty() {
                continue;
            }
            commands += 1;
            let found = printed(command);
            let found: Vec<_> = found.lines().collect();
            let shown: Vec<_> = shown.lines().collect();
            assert!(is_shown(&shown, &found), "{command} prints\n{}", found.join("\n"));
        }
    }
    commands
}

#[test]
fn every_command_of_the_readme_prints_what_is_shown() {
    assert_eq!(check(README), 7);
}

#[test]
fn every_command_of_the_page_on_messages_prints_what_is_shown() {
    assert_eq!(check(MESSAGES), 11);
}
