//! How fast a real tree is checked, beside `cp -r` of it and the link checker `hyperlink`, in the same run.
//!
//! ```text
//! cargo bench --bench check                     the trees of Debian's rust-doc, openjdk-17-doc, python3.11-doc
//! cargo bench --bench check -- DIR...           these
//! cargo bench --bench check -- --rounds 9 --in FOLDER --hyperlink PROGRAM    more rounds, on another disk
//! ```
//!
//! `cargo install hyperlink` makes that program; where it is not on the path it is left out, with a notice. It
//! reads HTML, and says which links lead to no file, with `--check-anchors` also which to no id. It knows
//! neither URLs nor moves.
//!
//! Each round does each thing once, so that what else the machine does hits all alike; what is shown are
//! medians, and of memory the most. Memory is what Linux says in `/proc` while the program runs (`VmHWM`).
//!
//! Deliberately absent: a verdict. The numbers are those of a machine and what else it does.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_baselink");

/// Where Debian puts the trees of three packages.
const INSTALLED: [&str; 3] = [
    "/usr/share/doc/rust-doc/html",
    "/usr/share/doc/openjdk-17-jre-headless/api",
    "/usr/share/doc/python3.11/html",
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("this takes long: run it by `cargo bench --bench check`");
        return;
    }
    let (mut rounds, mut place, mut trees) = (5, std::env::temp_dir(), Vec::new());
    let mut hyperlink = PathBuf::from("hyperlink");
    while let Some(argument) = arguments.next() {
        let mut value =
            || arguments.next().unwrap_or_else(|| panic!("{argument}: a value is missing"));
        match argument.as_str() {
            "--rounds" => {
                rounds = value().parse().unwrap_or_else(|_| panic!("--rounds: no number"));
            }
            "--in" => place = value().into(),
            "--hyperlink" => hyperlink = value().into(),
            _ => trees.push(PathBuf::from(argument)),
        }
    }
    if trees.is_empty() {
        trees = INSTALLED.iter().map(PathBuf::from).filter(|tree| tree.is_dir()).collect();
    }
    if trees.is_empty() {
        println!("notice: no tree was named, and none of Debian's is there");
    }
    let has_hyperlink = Command::new(&hyperlink).arg("--version").output().is_ok();
    if !has_hyperlink {
        println!("notice: there is no hyperlink; `cargo install hyperlink` makes it");
    }
    let hyperlink = has_hyperlink.then_some(hyperlink);
    for tree in &trees {
        measure(tree, hyperlink.as_deref(), &place, rounds);
    }
}

/// What is measured, in the order of the table: its name, program, and arguments before the tree.
fn commands(hyperlink: Option<&Path>) -> Vec<(String, PathBuf, Vec<String>)> {
    let row = |name: &str, program: &Path, arguments: &str| {
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        (name.to_owned(), program.to_owned(), arguments)
    };
    let mut rows = vec![row("cp -r", Path::new("cp"), "-r")];
    for jobs in [1, 2] {
        let check = format!("check -u https://docs.example/ --list none -q -j {jobs}");
        rows.push(row(&format!("check, {jobs} job(s)"), Path::new(BINARY), &check));
    }
    for jobs in [1, 2] {
        let Some(hyperlink) = hyperlink else { break };
        rows.push(row(&format!("hyperlink, {jobs} job(s)"), hyperlink, &format!("-j {jobs}")));
        let anchors = format!("--check-anchors -j {jobs}");
        rows.push(row(&format!("the same with ids, {jobs}"), hyperlink, &anchors));
    }
    rows
}

fn measure(tree: &Path, hyperlink: Option<&Path>, place: &Path, rounds: usize) {
    let (files, bytes) = size(tree);
    let megabytes = bytes as f64 / 1e6;
    println!("{}: {files} files, {megabytes:.1} MB", tree.display());
    let commands = commands(hyperlink);
    let mut seconds = vec![Vec::new(); commands.len()];
    let mut memory = vec![0; commands.len()];
    for _ in 0..rounds {
        for (number, (name, program, arguments)) in commands.iter().enumerate() {
            let copy = tempfile::tempdir_in(place).unwrap();
            let mut command = Command::new(program);
            command.args(arguments).arg(tree);
            if name == "cp -r" {
                command.arg(copy.path());
            }
            let (took, most) = run(&mut command);
            seconds[number].push(took);
            memory[number] = most.max(memory[number]);
        }
    }
    println!(
        "{:24}{:>9}{:>10}{:>8}{:>10}{:>10}",
        "", "seconds", "files/s", "MB/s", "to cp -r", "MB"
    );
    let medians: Vec<f64> = seconds.into_iter().map(median).collect();
    for (number, (name, ..)) in commands.iter().enumerate() {
        let median = medians[number];
        println!(
            "{name:24}{median:9.3}{:10.0}{:8.0}{:10.2}{:10.1}",
            files as f64 / median,
            megabytes / median,
            median / medians[0],
            memory[number] as f64 / 1e3,
        );
    }
}

/// How many seconds a command takes, and how much memory at most, in kilobytes. Findings are no failure.
fn run(command: &mut Command) -> (f64, u64) {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut most = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(number.unwrap_or(0));
        thread::sleep(Duration::from_millis(2));
    };
    let took = started.elapsed().as_secs_f64();
    assert!(matches!(status.code(), Some(0 | 1)), "{command:?} ended with {status}");
    (took, most)
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// How many files a tree has, and how many bytes they have.
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
