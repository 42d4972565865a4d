//! Speed of checking a real tree, compared in the same run with `cp -r` and the link checkers `hyperlink` and
//! `lychee`.
//!
//! ```text
//! cargo bench --bench check                     the trees of Debian's rust-doc, openjdk-17-doc, python3.11-doc
//! cargo bench --bench check -- DIR...           these
//! cargo bench --bench check -- --rounds 9 --in FOLDER --hyperlink PROGRAM --lychee PROGRAM    on another disk
//! ```
//!
//! `cargo install hyperlink` and `cargo install lychee` install these programs. If a program is not on the path, a
//! notice says so. hyperlink reads HTML and reports links that lead to no file, and with `--check-anchors` also those
//! that lead to no id. It knows neither URLs nor moves. lychee does the same with `--offline --include-fragments`.
//!
//! Each round runs each command once, so that other load on the machine affects all alike. The table shows medians,
//! and the peak of memory. Memory and processor time come from `/proc` of Linux (`VmHWM`; `utime` and `stime`, in
//! hundredths of a second).
//!
//! Deliberately absent: a verdict on seconds, which depend on the machine and its load. The goals are ratios.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgrind::{Goal, Goals};
use measured::{Measured, median, run};

#[allow(dead_code)]
#[path = "measured/callgrind.rs"]
mod callgrind;
mod measured;

const BINARY: &str = env!("CARGO_BIN_EXE_baselink");

/// Trees that three Debian packages install.
const INSTALLED: [&str; 3] = [
    "/usr/share/doc/rust-doc/html",
    "/usr/share/doc/openjdk-17-jre-headless/api",
    "/usr/share/doc/python3.11/html",
];

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("this takes long: run it by `cargo bench --bench check`");
        return;
    }
    let (mut rounds, mut place, mut trees) = (5, std::env::temp_dir(), Vec::new());
    let (mut hyperlink, mut lychee) = (PathBuf::from("hyperlink"), PathBuf::from("lychee"));
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
                    .unwrap_or_else(|_| panic!("--rounds: no number"));
            }
            "--in" => place = value().into(),
            "--hyperlink" => hyperlink = value().into(),
            "--lychee" => lychee = value().into(),
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
    if trees.is_empty() {
        println!("notice: no tree was named, and none of Debian's is there");
    }
    let peers = [("hyperlink", hyperlink), ("lychee", lychee)];
    let peers: Vec<_> = peers
        .into_iter()
        .filter(|(name, program)| is_installed(name, program))
        .collect();
    let commands = commands(&peers);
    let mut goals = Goals::default();
    for tree in &trees {
        measure(tree, &commands, &place, rounds, &mut goals);
    }
    goals.print();
}

fn is_installed(name: &str, program: &Path) -> bool {
    let is_installed = Command::new(program).arg("--version").output().is_ok();
    if !is_installed {
        println!("notice: there is no {name}; `cargo install {name}` makes it");
    }
    is_installed
}

/// A measured command: a name, a program, and its arguments before the tree.
type Row = (String, PathBuf, Vec<String>);

/// The measured commands, in the order of the table.
fn commands(peers: &[(&str, PathBuf)]) -> Vec<Row> {
    let row = |name: String, program: &Path, arguments: &str| {
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        (name, program.to_owned(), arguments)
    };
    let mut rows = vec![row("cp -r".into(), Path::new("cp"), "-r")];
    for jobs in [1, 2] {
        let check = format!("check -u https://docs.example/ -j {jobs}");
        rows.push(row(
            format!("check, {jobs} job(s)"),
            Path::new(BINARY),
            &check,
        ));
    }
    for (name, program) in peers {
        for jobs in [1, 2] {
            if *name == "lychee" {
                let options =
                    format!("--offline --include-fragments --no-progress --threads {jobs}");
                rows.push(row(format!("lychee, {jobs} thread(s)"), program, &options));
            } else {
                rows.push(row(
                    format!("hyperlink, {jobs} job(s)"),
                    program,
                    &format!("-j {jobs}"),
                ));
                let anchors = format!("--check-anchors -j {jobs}");
                rows.push(row(format!("the same with ids, {jobs}"), program, &anchors));
            }
        }
    }
    rows
}

/// The commands that the goals compare.
const COMPARED: [&str; 2] = ["check, 1 job(s)", "the same with ids, 1"];

fn measure(tree: &Path, commands: &[Row], place: &Path, rounds: usize, goals: &mut Goals) {
    let (files, bytes) = size(tree);
    let megabytes = bytes as f64 / 1e6;
    println!("{}: {files} files, {megabytes:.1} MB", tree.display());
    let mut seconds = vec![Vec::new(); commands.len()];
    let mut processor = vec![Vec::new(); commands.len()];
    let mut memory = vec![0; commands.len()];
    for _ in 0..rounds {
        for (number, (name, program, arguments)) in commands.iter().enumerate() {
            let copy = tempfile::tempdir_in(place).unwrap();
            let mut command = Command::new(program);
            command.args(arguments).arg(tree);
            if name == "cp -r" {
                command.arg(copy.path());
            }
            // lychee exits with 2 if links are broken.
            let Measured {
                took,
                worked,
                memory: most,
            } = run(&mut command, 0..=2);
            seconds[number].push(took);
            processor[number].push(worked);
            memory[number] = most.max(memory[number]);
        }
    }
    println!(
        "{:24}{:>9}{:>11}{:>10}{:>8}{:>10}{:>10}",
        "", "seconds", "processor", "files/s", "MB/s", "÷ cp -r", "MB"
    );
    let medians: Vec<f64> = seconds.into_iter().map(median).collect();
    let processor: Vec<f64> = processor.into_iter().map(median).collect();
    for (number, (name, ..)) in commands.iter().enumerate() {
        let median = medians[number];
        println!(
            "{name:24}{median:9.3}{:11.2}{:10.0}{:8.0}{:10.2}{:10.1}",
            processor[number],
            files as f64 / median,
            megabytes / median,
            median / medians[0],
            memory[number] as f64 / 1e3,
        );
    }
    let [own, peer] = COMPARED.map(|title| commands.iter().position(|(name, ..)| name == title));
    if let Some((own, peer)) = own.zip(peer) {
        let time = processor[own] / processor[peer];
        let room = memory[own] as f64 / memory[peer] as f64;
        goals.add("check: time of hyperlink with ids", Goal::AtMost(0.4), time);
        goals.add(
            "check: memory of hyperlink with ids",
            Goal::AtMost(0.5),
            room,
        );
    }
}

/// Counts the files of a tree and sums their sizes in bytes.
fn size(tree: &Path) -> (usize, u64) {
    let (mut folders, mut files, mut bytes) = (vec![tree.to_owned()], 0, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    files += 1;
                    bytes += fs::symlink_metadata(entry.path()).unwrap().len();
                }
            }
        }
    }
    (files, bytes)
}
