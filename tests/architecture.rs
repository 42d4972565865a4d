//! The import order of `docs/architecture.md`: rooms know those before them and no other, and each
//! third-party crate has its rooms.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Rooms in order; those of one line do not know each other.
const ORDER: &[&[&str]] = &[
    &["span", "error"],
    &["diagnostic", "edit", "format", "reference"],
    &["layer", "resolve"],
    &["document"],
    &["base", "scan"],
    &["report"],
    &["rewrite"],
    &["verify"],
    &["tree"],
    &["cli"],
    &["main"],
];

/// Which files may name which third-party crate.
const CRATES: &[(&str, &[&str])] = &[
    ("html5ever", &["scan/html/", "verify.rs", "layer/escape.rs"]),
    ("markup5ever_rcdom", &["verify.rs"]),
    ("cssparser", &["scan/css.rs", "verify.rs"]),
    ("wide", &["scan/block"]),
    ("mailparse", &["scan/message/"]),
    ("quick_xml", &["scan/xml/", "verify.rs"]),
    ("encoding_rs", &["layer/charset.rs"]),
    ("simdutf8", &["layer/charset.rs"]),
    ("base64", &["layer/digest.rs", "layer/transfer/base64.rs"]),
    ("md5", &["layer/digest.rs"]),
    ("url", &["resolve.rs", "resolve/"]),
    ("clap", &["cli/", "main.rs"]),
    ("clap_complete", &["cli/args.rs", "cli/manual.rs"]),
    ("clap_mangen", &["cli/manual.rs"]),
    ("strsim", &["cli/"]),
    ("toml", &["cli/"]),
    ("unicode_width", &["cli/check/text.rs"]),
    ("serde", &["cli/", "scan/json.rs"]),
    ("serde_json", &["cli/", "scan/json.rs", "tree/"]),
    ("anstream", &["cli/", "main.rs"]),
    ("anstyle", &["cli/", "main.rs"]),
    ("tempfile", &["tree/"]),
    ("walkdir", &["tree/"]),
    ("globset", &["tree/"]),
    ("csv", &["tree/"]),
    ("xattr", &["tree/"]),
    ("rustix", &["tree/", "cli/closed.rs"]),
];

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => files.push(path),
                _ => {}
            }
        }
    }
    let named = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    let mut sources: Vec<_> = files.into_iter().map(named).collect();
    sources.sort();
    sources
}

/// The code of a file: no comments, no unit tests.
fn code(text: &str) -> String {
    let tests = text.find("\n#[cfg(test)]").unwrap_or(text.len());
    text[..tests]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn rank(room: &str) -> Option<usize> {
    ORDER.iter().position(|rooms| rooms.contains(&room))
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        let room = name.split(['/', '.']).next().unwrap();
        if room == "lib" {
            continue;
        }
        let own = rank(room)
            .unwrap_or_else(|| panic!("src/{name} is a room without a place in the order"));
        let code = code(&text);
        let imported: BTreeSet<&str> = ["crate::", "baselink::"]
            .iter()
            .flat_map(|path| code.split(path).skip(1))
            .map(|rest| {
                rest.split(|one: char| !(one.is_ascii_lowercase() || one == '_')).next().unwrap()
            })
            .filter(|other| !other.is_empty() && *other != room)
            .collect();
        for other in imported {
            match rank(other) {
                Some(theirs) if theirs < own => {}
                Some(_) => wrong.push(format!("src/{name} imports {other}")),
                // The names that the library exports at its root are the command line's to use.
                None if room == "cli" || room == "main" => {}
                None => wrong
                    .push(format!("src/{name} imports {other}, which has no place in the order")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_third_party_crate_has_its_rooms() {
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        let code = code(&text);
        for (krate, rooms) in CRATES {
            let path = format!("{krate}::");
            let used = code.match_indices(&path).any(|(at, _)| {
                !code[..at].ends_with(|before: char| {
                    before.is_alphanumeric() || before == '_' || before == ':'
                })
            });
            if used && !rooms.iter().any(|room| name.starts_with(room)) {
                wrong.push(format!("src/{name} names {krate}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_is() {
    for (name, text) in sources() {
        assert!(text.starts_with("//! "), "src/{name} does not open with a sentence");
        if name != "main.rs" {
            assert!(text.contains("\n//! ```"), "src/{name} opens without an example");
            assert!(
                text.contains("Deliberately absent") || text.contains("deliberately absent"),
                "src/{name} does not say what it leaves out"
            );
        }
    }
}
