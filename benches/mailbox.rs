//! How fast a mailbox is rewritten, beside plain copies of the same file in the same run, and with how
//! much memory.
//!
//! ```text
//! cargo bench --bench mailbox                                1 GB of the messages of ../shared/corpus/mail
//! cargo bench --bench mailbox -- --size 64M --generated      less, of messages made here
//! ```
//!
//! Deliberately absent: a verdict. The numbers are those of a machine and what else it does.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "compare/mail.rs"]
mod mail;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_baselink");
const ROUNDS: usize = 3;
const BUFFER: usize = 1 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("this takes long: run it by `cargo bench --bench mailbox`");
        return;
    }
    let after = |name| arguments.iter().skip_while(move |argument| *argument != name).nth(1);
    let size = after("--size").map_or(1_000_000_000, |size| number(size));
    let generated = arguments.iter().any(|argument| argument == "--generated");
    let (what, messages) = mail::messages(generated);

    let folder = tempfile::tempdir().unwrap();
    let [big, out] = ["big.mbox", "out.mbox"].map(|name| folder.path().join(name));
    let bytes = mail::write_mailbox(&big, &messages, size);
    let largest = messages.iter().map(Vec::len).max().unwrap();
    println!("{what}: {}, again and again until {}", messages.len(), megabytes(bytes));
    println!("{:24}{:>8}{:>12}{:>14}", "", "seconds", "MB/s", "of the copy");

    let (mut peak, mut working, mut said) = (None, None, String::new());
    let mut best = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        let copying = timed(&out, || copy(&big, &out));
        let cp = timed(&out, || {
            assert!(Command::new("cp").args([&big, &out]).status().unwrap().success());
        });
        let started = Instant::now();
        let run = rewrite(&big, &out, folder.path());
        let rewriting = started.elapsed();
        assert!(std::fs::metadata(&out).unwrap().len() >= bytes);
        let names = ["copy and sync", "cp, which does not sync", "baselink rewrite --url"];
        for (index, time) in [copying, cp, rewriting].iter().enumerate() {
            let seconds = time.as_secs_f64();
            best[index] = best[index].min(seconds);
            row(names[index], bytes, seconds, copying.as_secs_f64());
        }
        peak = peak.max(run.peak);
        working = [working, run.working].into_iter().flatten().min();
        said = run.said;
    }
    row("best copy and sync", bytes, best[0], best[0]);
    row("best cp", bytes, best[1], best[0]);
    row("best rewrite", bytes, best[2], best[0]);
    if let Some(working) = working {
        row("  its processor time", bytes, working.as_secs_f64(), best[0]);
    }
    let peak = peak.map_or("unknown".to_owned(), megabytes);
    println!("peak memory: {peak}; largest message: {}", megabytes(largest as u64));
    println!("{said}");
}

/// `64M` is 64,000,000.
fn number(text: &str) -> u64 {
    let (digits, unit) = match text.trim_end_matches(['B', 'b']) {
        text if text.ends_with(['K', 'k']) => (&text[..text.len() - 1], 1_000),
        text if text.ends_with(['M', 'm']) => (&text[..text.len() - 1], 1_000_000),
        text if text.ends_with(['G', 'g']) => (&text[..text.len() - 1], 1_000_000_000),
        text => (text, 1),
    };
    let digits: u64 = digits.parse().unwrap_or_else(|_| panic!("--size {text}: not a size"));
    digits * unit
}

#[allow(clippy::cast_precision_loss)]
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[allow(clippy::cast_precision_loss)]
fn row(name: &str, bytes: u64, seconds: f64, copying: f64) {
    let speed = bytes as f64 / 1e6 / seconds;
    println!("{name:24}{seconds:8.2}{speed:12.0}{:13.0} %", 100.0 * copying / seconds);
}

/// The time that `work` takes to write `out`, which is gone before and after.
fn timed(out: &Path, work: impl FnOnce()) -> Duration {
    let _ = std::fs::remove_file(out);
    let started = Instant::now();
    work();
    let elapsed = started.elapsed();
    std::fs::remove_file(out).unwrap();
    elapsed
}

/// Copies, and ends when the copy is on the disk, as the program does with its result.
fn copy(from: &Path, to: &Path) {
    let (mut from, mut to) = (File::open(from).unwrap(), File::create(to).unwrap());
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer).unwrap() {
            0 => break,
            length => to.write_all(&buffer[..length]).unwrap(),
        }
    }
    to.sync_all().unwrap();
}

/// What is known of a run of the program, as far as the system tells it.
struct Run {
    /// Its peak memory in bytes.
    peak: Option<u64>,
    /// The time that it had a processor.
    working: Option<Duration>,
    /// Its last line.
    said: String,
}

fn rewrite(mailbox: &Path, out: &Path, folder: &Path) -> Run {
    let log = folder.join("log");
    let mut running = Command::new(BINARY)
        .args(["rewrite", "--format", "mbox", "--url", "https://example.org/"])
        .arg(mailbox)
        .arg("-o")
        .arg(out)
        .stderr(File::create(&log).unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let process = PathBuf::from(format!("/proc/{}", running.id()));
    let (mut peak, mut working) = (None, None);
    let done = loop {
        peak = peak.max(peak_of(&process));
        working = working.max(working_time_of(&process));
        match running.try_wait().unwrap() {
            Some(done) => break done,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let log = std::fs::read(log).unwrap();
    let log = String::from_utf8_lossy(&log);
    assert!(done.success(), "{log}");
    let last = log.lines().next_back().unwrap_or_default();
    let last = last.strip_prefix(&*mailbox.to_string_lossy()).unwrap_or(last);
    let said = format!("baselink{last}; {} lines said", log.lines().count());
    Run { peak, working, said }
}

/// The "high water mark" of resident memory in bytes (proc(5)), of Linux only.
fn peak_of(process: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = mark.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The time on a processor, the first number of `schedstat` in nanoseconds; of Linux only.
fn working_time_of(process: &Path) -> Option<Duration> {
    let times = std::fs::read_to_string(process.join("schedstat")).ok()?;
    Some(Duration::from_nanos(times.split(' ').next()?.parse().ok()?))
}
