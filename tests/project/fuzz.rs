//! The oracles of the fuzz targets accept known input: files of `fixtures/`, every finding in `tests/findings/`, and
//! mutations of them. The mutations are the same each time: 400 for each oracle, or as many as `BASELINK_MUTATIONS`
//! requests.
//!
//! Deliberately absent: the search for new findings (`fuzz/README.md`).
#![allow(unreachable_pub)]

use std::fs;
use std::path::Path;

use crate::case_file::Case;

#[path = "../../fuzz/src/lib.rs"]
mod oracles;

type Oracle = fn(&[u8]);

/// A target, its oracle, and the endings of the names of its seeds in `fixtures/`.
const TARGETS: [(&str, Oracle, &[&str]); 11] = [
    ("css", oracles::css, &["input.css"]),
    ("grammar", oracles::grammar, &["references.tsv"]),
    ("html", oracles::html, &["input.html"]),
    ("http", oracles::http, &["input.http"]),
    ("mbox", oracles::mbox, &[".mbox"]),
    ("message", oracles::message, &["input.eml"]),
    ("resolve", oracles::resolve, &["references.tsv"]),
    ("transfer", oracles::transfer, &["input.eml"]),
    ("url_map", oracles::url_map, &[".csv"]),
    ("warc", oracles::warc, &[".warc"]),
    (
        "xml",
        oracles::xml,
        &["input.xml", "input.xhtml", "input.svg"],
    ),
];

/// The files below `fixtures/`, and the sections of its cases as files.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (name, bytes) in files("fixtures") {
        match name.strip_suffix(".case") {
            Some(name) => {
                let sections = Case::named(name).sections.into_iter();
                all.extend(sections.map(|(section, bytes)| (format!("{name}/{section}"), bytes)));
            }
            None => all.push((name, bytes)),
        }
    }
    all
}

/// The files below `folder`, each with its path relative to `folder`, in the order of the paths.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut folders, mut files) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let name = path
                    .strip_prefix(&root)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                files.push((name, fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// The seeds in a table. For `grammar`, a seed is the reference of a row; otherwise it is the row, with each cell on
/// a line.
fn rows(target: &str, table: &[u8]) -> Vec<Vec<u8>> {
    let table = str::from_utf8(table).unwrap();
    let rows = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let seed = |row: &str| match target {
        "grammar" => row.split('\t').nth(1).unwrap_or_default().into(),
        _ => row.replace('\t', "\n").into(),
    };
    rows.map(seed).collect()
}

/// A reproducible sequence of pseudo-random numbers (xorshift).
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    /// A seed with a few parts removed, repeated, overwritten, or inserted from another seed.
    fn mutated(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(3) {
            let other = &seeds[self.below(seeds.len())];
            let from = self.below(other.len());
            let piece = other[from..other.len().min(from + self.below(40))].to_vec();
            let at = self.below(bytes.len());
            let end = bytes.len().min(at + self.below(12));
            match self.below(4) {
                0 => drop(bytes.drain(at..end)),
                1 => drop(bytes.splice(at..at, piece)),
                2 => drop(bytes.splice(at..end, piece)),
                _ => bytes[at..end].fill(self.below(256) as u8),
            }
        }
        // The last byte chooses options.
        bytes.push(self.below(256) as u8);
        bytes
    }
}

/// Runs the oracle of a target on its seeds, its findings, and mutations of both.
fn replay(target_name: &str) {
    let (target, oracle, ends) = TARGETS
        .into_iter()
        .find(|(target, ..)| *target == target_name)
        .unwrap();
    let mut known = Vec::new();
    for (name, bytes) in fixtures() {
        if ends.iter().any(|end| name.ends_with(end)) && bytes.len() < 100_000 {
            match name.ends_with(".tsv") {
                true => known.extend(
                    rows(target, &bytes)
                        .into_iter()
                        .map(|row| (name.clone(), row)),
                ),
                false => known.push((name, bytes)),
            }
        }
    }
    assert!(!known.is_empty(), "{target} has no seeds");
    let findings = files("tests/findings").into_iter();
    known.extend(findings.filter(|(name, _)| name.split('/').next() == Some(target)));
    let check = |name: &str, bytes: &[u8]| {
        if std::panic::catch_unwind(|| oracle(bytes)).is_err() {
            panic!("{target}: {name}: {}", bytes.escape_ascii());
        }
    };
    known.iter().for_each(|(name, bytes)| check(name, bytes));
    let seeds: Vec<_> = known
        .into_iter()
        .map(|(_, bytes)| bytes)
        .filter(|bytes| bytes.len() < 4_096)
        .collect();
    let mut draws = Draws(0x9e37_79b9_7f4a_7c15);
    let mutations = std::env::var("BASELINK_MUTATIONS").map_or(400, |many| many.parse().unwrap());
    for _ in 0..mutations {
        check("a mutation", &draws.mutated(&seeds));
    }
}

macro_rules! replays {
    ($($target:ident)*) => { $(#[test] fn $target() { replay(stringify!($target)); })* };
}

replays! { css grammar html http mbox message resolve transfer url_map warc xml }

/// Every target has a row in [`TARGETS`], a program and a dictionary. `settings` has no row, because its oracle
/// is part of the command line; `src/cli/settings.rs` tests it.
#[test]
fn every_target_is_replayed() {
    let names = |folder: &str, end: &str| -> Vec<String> {
        let names = files(folder).into_iter().map(|(name, _)| name);
        names
            .map(|name| name.strip_suffix(end).unwrap().to_owned())
            .collect()
    };
    let mut rows: Vec<_> = TARGETS
        .iter()
        .map(|(target, ..)| *target)
        .chain(["settings"])
        .collect();
    rows.sort_unstable();
    assert_eq!(names("fuzz/fuzz_targets", ".rs"), rows);
    assert_eq!(names("fuzz/dictionaries", ".dict"), rows);
    for (name, _) in files("tests/findings") {
        let target = name.split('/').next().unwrap();
        assert!(name == "README.md" || rows.contains(&target), "{name}");
    }
}
