//! Instructions of whole commands, beside the goals of the project: starting, and a folder.
//!
//! ```text
//! cargo bench --bench goals
//! cargo bench --bench goals -- --docs DIR
//! ```
//!
//! The folder is Debian's python3.11-doc. What a command does with it is counted above `rewrite`, which finds the same
//! links.
//!
//! Deliberately absent: times, which depend on the machine and its load, and archives (`--bench archive`).
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use callgrind::{Goal, Goals, instructions};

#[path = "measured/callgrind.rs"]
mod callgrind;

const BINARY: &str = env!("CARGO_BIN_EXE_baselink");
const DOCS: &str = "/usr/share/doc/python3.11/html";

/// The commands for a folder, and the goal of each: instructions a link above those of `rewrite`.
const OF_FOLDERS: [(&str, f64); 4] = [
    ("check", 2_000.0),
    ("localize -o OUT", 3_000.0),
    ("move --relative -o OUT", 3_000.0),
    ("move --to https://docs.example/ -o OUT", 2_000.0),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("this takes long: run it by `cargo bench --bench goals`");
        return;
    }
    if !callgrind::is_installed() {
        return;
    }
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut goals = Goals::default();
    starting(folder.path(), &mut goals);
    quoted_printable(folder.path(), &mut goals);
    of_folder(
        &after("--docs").unwrap_or_else(|| DOCS.to_owned()),
        folder.path(),
        &mut goals,
    );
    goals.print();
}

/// Counts a run of the program with these words; `OUT` stands for a new folder in `folder`.
fn count(words: &str, inputs: &[&str], folder: &Path) -> f64 {
    let out = folder.join("out");
    let _ = fs::remove_dir_all(&out);
    let words = words.split(' ').map(|word| match word {
        "OUT" => out.to_str().unwrap(),
        _ => word,
    });
    let command: Vec<&str> = [BINARY]
        .into_iter()
        .chain(words)
        .chain(inputs.iter().copied())
        .collect();
    instructions(&command)
}

/// Counts commands that do little: a mail filter starts once a message.
fn starting(folder: &Path, goals: &mut Goals) {
    let page = folder.join("page.html");
    let link = "<p>See <a href=\"../a/page.html\">the page</a>.</p>\n";
    let text = format!(
        "<!DOCTYPE html>\n<html lang=en><head><title>Page</title></head>\n{}",
        link.repeat(19)
    );
    fs::write(&page, text).unwrap();
    let version = count("--version", &[], folder) / 1e6;
    goals.add("millions for --version", Goal::AtMost(1.0), version);
    let page = [page.to_str().unwrap()];
    let small = count("rewrite -q -u https://docs.example/a/", &page, folder) / 1e6;
    goals.add("millions for a page of 1 KB", Goal::AtMost(1.3), small);
}

/// Counts what quoted-printable adds to the same message without it. Each of its 5,000 links is on two lines.
fn quoted_printable(folder: &Path, goals: &mut Goals) {
    const LINKS: usize = 5_000;
    let link =
        "<p>See <a href=3D\"../a/chapter-of-the-manual/section=\n-on-links.html\">this</a>.</p>\n";
    let encoded = link.repeat(LINKS);
    let plain = encoded.replace("=\n", "").replace("=3D", "=");
    let message = folder.join("message.eml");
    let words = "rewrite -q -u https://docs.example/a/";
    let [encoded, plain] =
        [("quoted-printable", encoded), ("8bit", plain)].map(|(coding, text)| {
            let heading =
                format!("Content-Type: text/html\nContent-Transfer-Encoding: {coding}\n\n");
            fs::write(&message, heading + &text).unwrap();
            count(words, &[message.to_str().unwrap()], folder)
        });
    let work = "instructions a link: quoted-printable, above 8bit";
    let above = (encoded - plain) / LINKS as f64;
    goals.add(work, Goal::AtMost(5_500.0), above);
}

/// Counts the commands for the folder `docs`.
fn of_folder(docs: &str, folder: &Path, goals: &mut Goals) {
    if !Path::new(docs).is_dir() {
        println!("notice: {docs} is not a folder; see --docs");
        return;
    }
    const ALIKE: [&str; 4] = ["-q", "-j1", "--url", "https://docs.python.org/3/"];
    let inputs = [&ALIKE[..], &[docs]].concat();
    let listed = Command::new(BINARY)
        .args(["links", "--json"])
        .args(&inputs)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let links = memchr::memchr_iter(b'\n', &listed.stdout).count() as f64;
    let rewriting = count("rewrite -o OUT", &inputs, folder);
    println!("{docs}: {links} links");
    goals.add(
        "instructions a link: rewrite",
        Goal::AtMost(4_260.0),
        rewriting / links,
    );
    for (words, goal) in OF_FOLDERS {
        let above = (count(words, &inputs, folder) - rewriting) / links;
        let work = format!("the same, above rewrite: {words}");
        goals.add(&work, Goal::AtMost(goal), above);
    }
}
