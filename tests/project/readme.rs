//! The commands of the README and of pages in `docs/` print the output shown there; `…` stands for omitted lines.
//! `cat FILE` prints a file, and `ls FOLDER` lists its names. `< FILE` and `echo 'TEXT' |` set standard input.
//!
//! The commands of a page run in sequence in their own folder. The folder contains the `fixtures`, which they may
//! overwrite, and a Maildir `Mail` with the message `fixtures/mail.eml`.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const README: &str = include_str!("../../README.md");
const MOVE: &str = include_str!("../../docs/move.md");
const MESSAGES: &str = include_str!("../../docs/messages.md");
const BASE_URL: &str = include_str!("../../docs/base-url.md");
const TREES: &str = include_str!("../../docs/trees.md");
const LOCALIZE: &str = include_str!("../../docs/localize.md");
const CHECK: &str = include_str!("../../docs/check.md");
const REWRITE: &str = include_str!("../../docs/rewrite.md");
const RESOLUTION: &str = include_str!("../../docs/resolution.md");
const COMPARISON: &str = include_str!("../../docs/comparison.md");
const RECIPES: &str = include_str!("../../docs/recipes.md");
const ARCHIVES: &str = include_str!("../../docs/archives.md");

/// True if `found` contains the lines of `shown` in order, with gaps only at `…`.
fn is_shown(shown: &[&str], found: &[&str]) -> bool {
    match shown {
        [] => found.is_empty(),
        ["…", rest @ ..] => (0..=found.len()).any(|skip| is_shown(rest, &found[skip..])),
        [line, rest @ ..] => found.first() == Some(line) && is_shown(rest, &found[1..]),
    }
}

/// The output of `command` in the folder `scene`: standard output, then standard error.
fn printed(scene: &Path, command: &str) -> String {
    if let Some(name) = command.strip_prefix("cat ") {
        return fs::read_to_string(scene.join(name)).unwrap();
    }
    if let Some(name) = command.strip_prefix("ls ") {
        let entries = fs::read_dir(scene.join(name)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        return names.join("\n");
    }
    let (command, input) = if let Some((line, command)) = command
        .strip_prefix("echo '")
        .and_then(|rest| rest.split_once("' | "))
    {
        let mut file = tempfile::tempfile().unwrap();
        writeln!(file, "{line}").unwrap();
        file.rewind().unwrap();
        (command, Stdio::from(file))
    } else if let Some((command, name)) = command.split_once(" < ") {
        (command, Stdio::from(File::open(scene.join(name)).unwrap()))
    } else {
        (command, Stdio::null())
    };
    let output = Command::new(env!("CARGO_BIN_EXE_baselink"))
        .current_dir(scene)
        .args(
            command
                .split(' ')
                .skip(1)
                .map(|argument| argument.trim_matches('\'')),
        )
        .stdin(input)
        .output()
        .unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// Copies the folder `from` to `to`, except subfolders that `page` does not mention.
pub(crate) fn copy(from: &Path, to: &Path, page: &str) {
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        fs::create_dir_all(to.join(&below)).unwrap();
        for entry in fs::read_dir(from.join(&below)).unwrap() {
            let entry = entry.unwrap();
            let below = below.join(entry.file_name());
            // A page is mentioned instead of the folder with its files.
            let mentioned = format!("fixtures/{}", below.display());
            match entry.file_type().unwrap().is_dir() {
                true if page.contains(mentioned.trim_end_matches("_files")) => {
                    folders.push(below);
                }
                true => {}
                false => drop(fs::copy(entry.path(), to.join(below)).unwrap()),
            }
        }
    }
}

/// Runs the commands in `console` blocks of `page`, and returns their number.
fn check(page: &str) -> usize {
    let (mut commands, scene) = (0, tempfile::tempdir().unwrap());
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    copy(&fixtures, &scene.path().join("fixtures"), page);
    for folder in ["cur", "new", "tmp"] {
        fs::create_dir_all(scene.path().join("Mail").join(folder)).unwrap();
    }
    let message = fs::read(fixtures.join("mail.eml")).unwrap();
    let name = format!("Mail/cur/1749460000.M1P7.host,S={}:2,FS", message.len());
    fs::write(scene.path().join(name), message).unwrap();
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for command in block.strip_prefix("$ ").unwrap().split("\n$ ") {
            let (command, shown) = command.split_once('\n').unwrap_or((command, ""));
            commands += 1;
            let found = printed(scene.path(), command);
            let found: Vec<_> = found.lines().collect();
            let shown: Vec<_> = shown.lines().collect();
            assert!(
                is_shown(&shown, &found),
                "{command} prints\n{}",
                found.join("\n")
            );
        }
    }
    commands
}

#[test]
fn every_command_of_the_readme_prints_the_shown_output() {
    assert_eq!(check(README), 3);
}

#[test]
fn every_command_of_the_page_on_messages_prints_the_shown_output() {
    assert_eq!(check(MESSAGES), 3);
}

#[test]
fn every_command_of_the_page_on_bases_prints_the_shown_output() {
    assert_eq!(check(BASE_URL), 4);
}

#[test]
fn every_command_of_the_page_on_folders_prints_the_shown_output() {
    assert_eq!(check(TREES), 8);
}

#[test]
fn every_command_of_the_page_on_mirrors_prints_the_shown_output() {
    assert_eq!(check(LOCALIZE), 4);
}

#[test]
fn every_command_of_the_page_on_checking_prints_the_shown_output() {
    assert_eq!(check(CHECK), 2);
}

#[test]
fn every_command_of_the_page_on_one_document_prints_the_shown_output() {
    assert_eq!(check(REWRITE), 3);
}

#[test]
fn every_command_of_the_page_on_resolution_prints_the_shown_output() {
    assert_eq!(check(RESOLUTION), 1);
}

#[test]
fn the_comparison_shows_the_output_of_baselink() {
    assert_eq!(check(COMPARISON), 2);
}

#[test]
fn every_command_of_the_page_on_archives_prints_the_shown_output() {
    assert_eq!(check(ARCHIVES), 7);
}

#[test]
fn every_self_contained_recipe_prints_the_shown_output() {
    assert_eq!(check(RECIPES), 2);
}

#[test]
fn every_command_of_the_page_on_moves_prints_the_shown_output() {
    assert_eq!(check(MOVE), 1);
}
