//! Messages and help texts use the same words for the same problem, as the list [`PHRASES`] requires.
//!
//! ```text
//! 3 files were left out   -->   3 files were skipped
//! ```
//!
//! Deliberately absent: literals of files that contain only tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::case::baselink;
use crate::folder::files;

/// Phrases to avoid in messages and help texts, and the phrases to use instead.
const PHRASES: &[(&str, &str)] = &[
    (" is no ", "is not a …, has no …"),
    ("perhaps", "did you mean …? (a name), try … (an option)"),
    ("left out", "skipped (files), omitted (rows)"),
    ("left alone", "skipped"),
    ("goes with", "requires"),
    ("go together", "cannot be used with"),
    ("cannot go with", "cannot be used with"),
    ("look with", "preview with"),
    ("it is one of", "use one of"),
    ("is not there", "no such file, does not exist"),
    ("there already", "already exists"),
    (" said", "reported"),
    ("store it", "save it"),
    ("begun is whole", "every file is complete"),
    ("wants it", "requires"),
    ("stands in", "is inside"),
    ("was left", "was kept unchanged, was skipped"),
    ("were left", "were kept unchanged, were skipped"),
    ("is left:", "was not read"),
    ("what follows", "the rest"),
    ("there is no folder", "the folder … does not exist"),
    ("the outer one", "the outer base"),
    ("makes HTML of it", "convert it to HTML with …"),
    ("reach into each other", "overlap"),
    ("its kin", "and the like"),
    ("there twice", "occurs twice"),
];

/// Describes each line of `text` that contains a phrase to avoid. `place` is the origin of `text`.
fn violations(text: &str, place: &str) -> Vec<String> {
    let lines = text
        .lines()
        .flat_map(|line| PHRASES.iter().map(move |row| (line, row)));
    let found = lines.filter(|(line, (avoided, _))| line.contains(avoided));
    found
        .map(|(line, (old, new))| format!("{place}: {line}: not '{old}', but {new}"))
        .collect()
}

#[test]
fn messages_use_the_phrases_of_the_list() {
    const TESTS: [&str; 2] = ["tests.rs", "conformance.rs"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    let is_program = |path: &PathBuf| {
        let is_test = TESTS.into_iter().any(|tests| path.ends_with(tests));
        path.extension() == Some("rs".as_ref()) && !is_test
    };
    for folder in ["src", "crates/files/src", "crates/site/src"].map(|folder| root.join(folder)) {
        for path in files(&folder).into_keys().filter(is_program) {
            let source = fs::read_to_string(folder.join(&path)).unwrap();
            let production = source
                .split("\n#[cfg(test)]\nmod ")
                .next()
                .unwrap_or_default();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let code: Vec<_> = production.lines().filter(is_code).collect();
            let code = code.join("\n").replace("\\\"", "'").replace("'\"'", "");
            // Every second piece between quotes is a literal.
            for literal in code.split('"').skip(1).step_by(2) {
                all.extend(violations(literal, &path.to_string_lossy()));
            }
        }
    }
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn the_help_uses_the_phrases_of_the_list() {
    let mut all = Vec::new();
    for command in [
        "rewrite", "links", "base", "resolve", "check", "localize", "move", "man",
    ] {
        let output = baselink(Path::new("."))
            .args([command, "--help"])
            .output()
            .unwrap();
        all.extend(violations(str::from_utf8(&output.stdout).unwrap(), command));
    }
    assert!(all.is_empty(), "{all:#?}");
}

/// A terminal of 100 columns shows the whole `-h`, with two examples and a hint at the rest.
#[test]
fn the_short_help_fits_a_screen() {
    for command in [
        "rewrite", "links", "base", "resolve", "check", "localize", "move",
    ] {
        let output = baselink(Path::new("."))
            .env("COLUMNS", "100")
            .args([command, "-h"])
            .output()
            .unwrap();
        let help = str::from_utf8(&output.stdout).unwrap();
        assert!(help.lines().count() <= 50, "{command}: {help}");
        let (_, examples) = help.split_once("Examples:\n").unwrap();
        let is_example = |line: &&str| line.contains(&format!("baselink {command}"));
        let examples: Vec<_> = examples.lines().filter(is_example).collect();
        assert_eq!(examples.len(), 3, "{command}: {help}");
        assert!(examples[2].contains("--help"), "{command}: {help}");
    }
}
