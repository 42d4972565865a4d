//! Speed of reading, rewriting and localizing web archives, compared in the same run with inflating alone, `zcat`,
//! and Python readers that extract links themselves. Each uses one thread.
//!
//! ```text
//! cargo bench --bench archive                      1 GB of members of the archives in ../shared
//! cargo bench --bench archive -- --size 200        200 MB of them
//! cargo bench --bench archive -- FILE...           these archives
//! cargo bench --bench archive -- --rounds 5 --in FOLDER --python PROGRAM --baselink PROGRAM
//! ```
//!
//! `pip install warcio fastwarc resiliparse lxml` installs what Python needs. If a reader is missing, a notice says
//! so. Each round runs each command once, with a new output folder. The table shows medians.
//! `MB/s` are megabytes of inflated data per second of processor time, `of inflating` compares with the first row, and
//! the last column is the peak of memory in MB. At the end, the instructions of inflating are compared with those of the
//! commands, on 20 MB of the samples or on the named archives.
//!
//! Deliberately absent: localizing and checking in one run, which no command does.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs::{self, File};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use callgrind::{Goal, Goals, instructions};
use flate2::bufread::GzDecoder;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use measured::{Measured, median, run};

#[path = "measured/callgrind.rs"]
mod callgrind;
mod measured;

/// Archives with complete members and many pages, all of which every reader here can read.
const SAMPLES: [&str; 4] = [
    "resiliparse/warcfile.warc.gz",
    "whirlwind/whirlwind.warc.gz",
    "jwarc/cc.warc.gz",
    "ia-web-commons/IAH-urls-wget.warc.gz",
];

/// A row of the table: a name, a program, its arguments before the archive, and its output folder.
struct Row {
    name: &'static str,
    program: PathBuf,
    before: Vec<String>,
    out: Option<PathBuf>,
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    if std::env::args().nth(1).as_deref() == Some("--inflate") {
        println!("{}", inflated(Path::new(&arguments.nth(1).unwrap())));
        return;
    }
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("this takes long: run it by `cargo bench --bench archive`");
        return;
    }
    let (mut rounds, mut size, mut archives) = (3, 1000, Vec::new());
    let (mut place, mut python) = (std::env::temp_dir(), PathBuf::from("python3"));
    let mut baselink = PathBuf::from(env!("CARGO_BIN_EXE_baselink"));
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
                    .unwrap_or_else(|_| panic!("--rounds: a number"))
            }
            "--size" => {
                size = value()
                    .parse()
                    .unwrap_or_else(|_| panic!("--size: a number of MB"))
            }
            "--in" => place = value().into(),
            "--python" => python = value().into(),
            "--baselink" => baselink = value().into(),
            _ => archives.push(PathBuf::from(argument)),
        }
    }
    let folder = tempfile::tempdir_in(place).unwrap();
    let mut counted = archives.clone();
    if archives.is_empty() {
        archives.extend(samples(folder.path(), "timed", size * 1_000_000));
        counted.extend(samples(folder.path(), "counted", 20_000_000));
    }
    let out = folder.path().join("out");
    let rows = rows(&baselink, &python, &out);
    let mut goals = Goals::default();
    for archive in &archives {
        measure(&baselink, archive, &rows, rounds, &mut goals);
    }
    if callgrind::is_installed() {
        for archive in &counted {
            count(&baselink, archive, &out, &mut goals);
        }
    }
    goals.print();
}

/// The commands whose instructions are counted, and the goal of each: the instructions of inflating as a part of its own.
const COUNTED: [(&str, f64); 4] = [
    ("links --only-targets", 0.45),
    ("links --json", 0.3),
    ("localize -o", 0.23),
    ("check", 0.27),
];

/// Counts instructions for `archive`.
fn count(baselink: &Path, archive: &Path, out: &Path, goals: &mut Goals) {
    let own = std::env::current_exe().unwrap();
    let [own, baselink, archive, out] =
        [&own, baselink, archive, out].map(|path| path.to_str().unwrap());
    let inflating = instructions(&[own, "--inflate", archive]);
    for (words, goal) in COUNTED {
        let out = words.ends_with("-o").then_some(out);
        let command: Vec<&str> = [baselink]
            .into_iter()
            .chain(words.split(' '))
            .chain(out)
            .chain(["--config", "none", "-q", "-j1", archive])
            .collect();
        let whole = instructions(&command);
        let work = format!("instructions: inflating as a part of {words}");
        goals.add(&work, Goal::AtLeast(goal), inflating / whole);
        let _ = out.map(fs::remove_dir_all);
    }
}

/// The number of different targets of links in `archive`.
fn urls(baselink: &Path, archive: &Path) -> usize {
    let listed = Command::new(baselink)
        .args(["links", "--only-targets", "--config", "none", "-q"])
        .arg(archive)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let mut urls: Vec<&[u8]> = listed.stdout.split(|&byte| byte == b'\n').collect();
    urls.sort_unstable();
    urls.dedup();
    urls.len()
}

/// The sum of the inflated sizes of all members, in bytes.
fn inflated(archive: &Path) -> u64 {
    let file = io::BufReader::with_capacity(1 << 20, File::open(archive).unwrap());
    io::copy(&mut MultiGzDecoder::new(file), &mut io::sink()).unwrap()
}

/// The members of an archive, each inflated.
fn members(archive: &Path) -> Vec<Vec<u8>> {
    let mut file = io::BufReader::new(File::open(archive).unwrap());
    let mut members = Vec::new();
    while !file.fill_buf().unwrap().is_empty() {
        let mut member = Vec::new();
        GzDecoder::new(&mut file).read_to_end(&mut member).unwrap();
        members.push(member);
    }
    members
}

/// `record` with another host in its URL: a subdomain of the original host.
fn at_another_host(record: &[u8], number: usize) -> Vec<u8> {
    const URL: &[u8] = b"\nWARC-Target-URI: http://";
    let head = memchr::memmem::find(record, b"\r\n\r\n").unwrap();
    match memchr::memmem::find(&record[..head], URL) {
        Some(at) => {
            let (before, after) = record.split_at(at + URL.len());
            [before, format!("{number}.").as_bytes(), after].concat()
        }
        None => record.to_owned(),
    }
}

/// An archive that repeats the members of the samples, each time from other hosts, until they have `size` bytes.
fn samples(folder: &Path, name: &str, size: u64) -> Option<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/warc");
    if !corpus.is_dir() {
        println!("notice: no archive was named, and there are no samples in ../shared");
        return None;
    }
    let members: Vec<_> = SAMPLES
        .iter()
        .flat_map(|name| members(&corpus.join(name)))
        .collect();
    let path = folder.join(format!("{name}.warc.gz"));
    let mut archive = io::BufWriter::new(File::create(&path).unwrap());
    let mut written = 0;
    for number in 0.. {
        if written >= size {
            break;
        }
        for member in &members {
            let record = at_another_host(member, number);
            let mut packed = GzEncoder::new(&mut archive, flate2::Compression::default());
            packed.write_all(&record).unwrap();
            packed.finish().unwrap();
            written += record.len() as u64;
        }
    }
    archive.into_inner().unwrap();
    Some(path)
}

/// The peer that the goal names.
const PEER: &str = "fastwarc + lxml";

/// Measured commands, in the order of the table.
fn rows(baselink: &Path, python: &Path, out: &Path) -> Vec<Row> {
    let row = |name, program: &Path, before: &str| Row {
        name,
        program: program.to_owned(),
        before: before.split_whitespace().map(str::to_owned).collect(),
        out: None,
    };
    let this = std::env::current_exe().unwrap();
    let mut rows = vec![
        row("inflate (zlib-rs)", &this, "--inflate"),
        row("zcat", Path::new("zcat"), ""),
        row(
            "links --only-targets",
            baselink,
            "links --config none -q -j 1 --only-targets",
        ),
        row(
            "links --json",
            baselink,
            "links --config none -q -j 1 --json",
        ),
    ];
    rows.push(row("check", baselink, "check --config none -q -j 1"));
    for (name, before) in [
        ("rewrite -o", "rewrite --config none -q -j 1"),
        ("localize -o", "localize --config none -q -j 1"),
    ] {
        rows.push(Row {
            out: Some(out.to_owned()),
            ..row(name, baselink, before)
        });
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/archive_peers.py");
    for (name, mode, modules) in [
        ("warcio + lxml", "warcio", "warcio, lxml.html"),
        (PEER, "fastwarc", "fastwarc, lxml.html"),
        (
            "fastwarc + resiliparse",
            "resiliparse",
            "fastwarc, resiliparse",
        ),
    ] {
        let mut import = Command::new(python);
        import
            .args(["-c", &format!("import {modules}")])
            .stderr(Stdio::null());
        match import.status().is_ok_and(|status| status.success()) {
            true => rows.push(row(name, python, &format!("{script} {mode}"))),
            false => println!("notice: {} has no {modules}", python.display()),
        }
    }
    rows
}

fn measure(baselink: &Path, archive: &Path, rows: &[Row], rounds: usize, goals: &mut Goals) {
    let (packed, bytes) = (fs::metadata(archive).unwrap().len(), inflated(archive));
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{}: {:.0} MB, {megabytes:.0} MB inflated",
        archive.display(),
        packed as f64 / 1e6
    );
    let mut measured = vec![Vec::new(); rows.len()];
    for _ in 0..rounds {
        for (row, measured) in rows.iter().zip(&mut measured) {
            let mut command = Command::new(&row.program);
            command.args(&row.before).arg(archive);
            command.args(
                row.out
                    .iter()
                    .flat_map(|out| ["-o".as_ref(), out.as_os_str()]),
            );
            // `check` exits with 1 if links are broken.
            measured.push(run(&mut command, 0..=1));
            // Otherwise the next run would replace existing files, and wait for the disk.
            row.out
                .iter()
                .for_each(|out| fs::remove_dir_all(out).unwrap());
        }
    }
    println!(
        "{:24}{:>9}{:>11}{:>8}{:>14}{:>8}",
        "", "seconds", "processor", "MB/s", "of inflating", "MB"
    );
    let (mut inflating, mut speeds, mut peaks) = (None, Vec::new(), Vec::new());
    for (row, measured) in rows.iter().zip(&measured) {
        let peak = measured.iter().map(|sample| sample.memory).max().unwrap() as f64 / 1e3;
        let of = |field: fn(&Measured) -> f64| median(measured.iter().map(field).collect());
        let speed = megabytes / of(|sample| sample.worked);
        println!(
            "{:24}{:9.2}{:11.2}{speed:8.0}{:14.2}{peak:8.1}",
            row.name,
            of(|sample| sample.took),
            of(|sample| sample.worked),
            speed / *inflating.get_or_insert(speed),
        );
        speeds.push((row.name, speed));
        peaks.push((row.name, peak));
    }
    let of = |name| speeds.iter().find(|(other, _)| *other == name);
    let (own, peer) = (of("links --only-targets"), of(PEER));
    let ratio = own.zip(peer).map_or(f64::NAN, |(own, peer)| own.1 / peer.1);
    let work = format!("speed of links --only-targets to that of {PEER}");
    goals.add(&work, Goal::AtLeast(20.0), ratio);
    let room = (100e6 + 250.0 * urls(baselink, archive) as f64) / 1e6;
    for (name, peak) in peaks {
        if matches!(name, "check" | "localize -o") {
            goals.add(
                &format!("memory of {name}, in MB"),
                Goal::AtMost(room.round()),
                peak,
            );
        }
    }
}
