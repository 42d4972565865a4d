//! Speed of rewriting a real tree, to another folder and in place, compared with `cp -r` in the same run.
//!
//! ```text
//! cargo bench --bench tree                      the installed trees of four Debian packages, such as python3.11-doc
//! cargo bench --bench tree -- DIR...            these trees
//! cargo bench --bench tree -- --rounds 9 --in FOLDER    more rounds, on another disk
//! ```
//!
//! Each round runs each command once, so that other load on the machine affects all commands alike. The table shows
//! medians. Nothing is removed before the end, because freed blocks and names slow some file systems down for a while.
//! The files written in place are compared byte for byte with those written elsewhere.
//!
//! Deliberately absent: a verdict. The numbers depend on the machine and its load.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const BINARY: &str = env!("CARGO_BIN_EXE_baselink");
const URL: &str = "https://docs.example/";

/// The trees that the Debian packages python3.11-doc, python3.13-doc, openjdk-17-doc and openjdk-21-doc install.
const INSTALLED: [&str; 4] = [
    "/usr/share/doc/python3.11/html",
    "/usr/share/doc/python3.13/html",
    "/usr/share/doc/openjdk-17-jre-headless/api",
    "/usr/share/doc/openjdk-21-jre-headless/api",
];

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("this takes long: run it by `cargo bench --bench tree`");
        return;
    }
    let (mut rounds, mut place, mut trees) = (5, std::env::temp_dir(), Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .unwrap_or_else(|| panic!("{argument}: a value is missing"))
        };
        match argument.as_str() {
            "--rounds" => {
                rounds = value()
                    .parse()
                    .unwrap_or_else(|_| panic!("--rounds: no number"))
            }
            "--in" => place = value().into(),
            _ => trees.push(PathBuf::from(argument)),
        }
    }
    if trees.is_empty() {
        trees = INSTALLED
            .iter()
            .map(PathBuf::from)
            .filter(|tree| tree.is_dir())
            .collect();
    }
    let folder = tempfile::tempdir_in(&place).unwrap();
    if trees.is_empty() {
        println!("notice: no tree was named, and none of Debian's is there; one was made");
        trees.push(generated(&folder.path().join("made")));
    }
    for (number, tree) in trees.iter().enumerate() {
        measure(tree, &folder.path().join(number.to_string()), rounds);
    }
}

/// The rows of the table, in order.
const ROWS: [&str; 6] = [
    "cp -r",
    "cp -r && sync -f",
    "rewrite -o, 1 job",
    "rewrite -o, 2 jobs",
    "rewrite -i, 1 job",
    "rewrite -i, 2 jobs",
];

fn measure(tree: &Path, folder: &Path, rounds: usize) {
    fs::create_dir(folder).unwrap();
    let (files, bytes) = size(tree);
    println!(
        "{}: {files} files, {:.1} MB",
        tree.display(),
        megabytes(bytes)
    );
    let mut seconds = vec![Vec::new(); ROWS.len()];
    for round in 0..rounds {
        let at = |name: &str| folder.join(format!("{round}-{name}"));
        let started = Instant::now();
        copy(tree, &at("copy"));
        seconds[0].push(started.elapsed().as_secs_f64());
        sync(folder);
        seconds[1].push(started.elapsed().as_secs_f64());
        for jobs in [1, 2] {
            let (out, place) = (at(&format!("out-{jobs}")), at(&format!("place-{jobs}")));
            copy(tree, &place);
            sync(folder);
            seconds[1 + jobs].push(rewrite(&["-o".as_ref(), &out, tree], jobs));
            seconds[3 + jobs].push(rewrite(&["-i".as_ref(), &place], jobs));
            compare(&out, &place);
        }
    }
    let medians: Vec<f64> = seconds.into_iter().map(median).collect();
    println!(
        "{:22}{:>9}{:>10}{:>8}{:>10}{:>18}",
        "", "seconds", "files/s", "MB/s", "÷ cp -r", "÷ cp -r && sync"
    );
    for (name, median) in ROWS.iter().zip(&medians) {
        println!(
            "{name:22}{median:9.3}{:10.0}{:8.0}{:10.2}{:18.2}",
            files as f64 / median,
            megabytes(bytes) / median,
            median / medians[0],
            median / medians[1],
        );
    }
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Runs the program, and returns the number of seconds.
fn rewrite(paths: &[&Path], jobs: usize) -> f64 {
    let started = Instant::now();
    let mut command = Command::new(BINARY);
    command
        .args(["rewrite", "-q", "-u", URL, "-j", &jobs.to_string()])
        .args(paths);
    let output = command.output().unwrap();
    let elapsed = started.elapsed().as_secs_f64();
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        println!("{command:?} ended with {}: {stderr}", output.status);
    }
    elapsed
}

fn copy(from: &Path, to: &Path) {
    assert!(
        Command::new("cp")
            .arg("-r")
            .args([from, to])
            .status()
            .unwrap()
            .success()
    );
}

fn sync(folder: &Path) {
    assert!(
        Command::new("sync")
            .arg("-f")
            .arg(folder)
            .status()
            .unwrap()
            .success()
    );
}

/// The entries below `folder` that are not folders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path())
            } else {
                files.push(entry.path())
            }
        }
    }
    files
}

fn size(tree: &Path) -> (usize, u64) {
    let sizes = files(tree)
        .iter()
        .map(|file| fs::symlink_metadata(file).unwrap().len())
        .collect();
    let sizes: Vec<u64> = sizes;
    (sizes.len(), sizes.iter().sum())
}

/// Checks that every file in `out` has the bytes of its counterpart in `place`. Files that a mirror omits (links,
/// hidden files) are not compared.
fn compare(out: &Path, place: &Path) {
    let written = files(out);
    assert!(!written.is_empty(), "nothing was written");
    for file in written {
        let other = place.join(file.strip_prefix(out).unwrap());
        assert!(
            fs::read(&file).unwrap() == fs::read(&other).unwrap(),
            "{}",
            file.display()
        );
    }
}

/// Generates a tree of pages that link to each other, if no real tree exists.
fn generated(tree: &Path) -> PathBuf {
    for number in 0..1_500 {
        let folder = tree.join(format!("{}/{}", number % 7, number % 31));
        fs::create_dir_all(&folder).unwrap();
        let link = |at: usize| {
            let other = (number * 31 + at * 17) % 1_500;
            format!(
                "<p>Of {at}: <a href=\"../../{}/{}/{other}.html\">see there</a>.</p>\n",
                other % 7,
                other % 31
            )
        };
        let page: String = (0..400).map(link).collect();
        fs::write(folder.join(format!("{number}.html")), page).unwrap();
    }
    tree.to_owned()
}
