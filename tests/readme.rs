//! The commands of the README print what it shows, `…` standing for lines that it leaves out.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::Command;

const README: &str = include_str!("../README.md");

/// Whether `found` has the lines of `shown`, in order, with nothing between them but where `…` stands.
fn is_shown(shown: &[&str], found: &[&str]) -> bool {
    match shown {
        [] => found.is_empty(),
        ["…", rest @ ..] => (0..=found.len()).any(|skip| is_shown(rest, &found[skip..])),
        [line, rest @ ..] => found.first() == Some(line) && is_shown(rest, &found[1..]),
    }
}

#[test]
fn every_command_prints_what_is_shown() {
    let mut commands = 0;
    for block in README.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for command in block.split("$ baselink ").skip(1) {
            let (arguments, shown) = command.split_once('\n').unwrap();
            if shown.trim().is_empty() {
                continue;
            }
            commands += 1;
            let arguments = arguments.split(' ').map(|one| one.trim_matches('\''));
            let output = Command::new(env!("CARGO_BIN_EXE_baselink"))
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .args(arguments.clone())
                .output()
                .unwrap();
            let found = [output.stdout, output.stderr].concat();
            let found = String::from_utf8(found).unwrap();
            let found: Vec<_> = found.lines().collect();
            let shown: Vec<_> = shown.lines().collect();
            assert!(
                is_shown(&shown, &found),
                "{:?} prints\n{}",
                arguments.collect::<Vec<_>>(),
                found.join("\n")
            );
        }
    }
    assert_eq!(commands, 4);
}
