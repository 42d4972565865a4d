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

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baselink::scan::mbox::Messages;

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
    let corpus = match arguments.iter().any(|argument| argument == "--generated") {
        true => Vec::new(),
        false => messages_of_the_corpus(),
    };
    let (what, messages) = match corpus.is_empty() {
        true => ("generated messages", generated_messages()),
        false => ("messages of ../shared/corpus/mail", corpus),
    };

    let folder = tempfile::tempdir().unwrap();
    let [big, out] = ["big.mbox", "out.mbox"].map(|name| folder.path().join(name));
    let bytes = write_mailbox(&big, &messages, size);
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

/// Writes `messages` one behind the other, and again, until `size` bytes are there; says how many.
fn write_mailbox(path: &Path, messages: &[Vec<u8>], size: u64) -> u64 {
    let mut file = BufWriter::with_capacity(BUFFER, File::create(path).unwrap());
    let mut written = 0;
    for message in messages.iter().cycle() {
        if written >= size {
            break;
        }
        let end: &[u8] = if message.ends_with(b"\n") { b"\n" } else { b"\n\n" };
        for piece in [b"From a@b Thu Jan  1 00:00:00 1970\n".as_slice(), message, end] {
            file.write_all(piece).unwrap();
            written += piece.len() as u64;
        }
    }
    file.into_inner().unwrap().sync_all().unwrap();
    written
}

fn messages_of_the_corpus() -> Vec<Vec<u8>> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/mail")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let bytes = std::fs::read(path).unwrap();
        let mut messages = Messages::new(bytes.as_slice());
        while let Some(message) = messages.next_message().unwrap() {
            found.push(message.bytes[message.message.range()].to_vec());
        }
    }
    found
}

/// Messages of 2 to 400 KB, each with a text, a page with relative links and a file: three in
/// quoted-printable to each in base64.
fn generated_messages() -> Vec<Vec<u8>> {
    (0..64_usize)
        .map(|number| {
            let mut page = "<html><body>\n".to_owned();
            for row in 0..=number % 13 * 20 {
                let _ = writeln!(
                    page,
                    "<p class=\"row\">Item {row} of {number}: <a href=\"/shop/item.php?id={row}&amp;\
                     from={number}\">see</a> <img src='img/{row}.png' width=\"80\" alt=\"\"></p>"
                );
            }
            page.push_str("</body></html>\n");
            let (encoding, body) = match number % 4 {
                0 => ("base64", in_base64(page.as_bytes())),
                _ => ("quoted-printable", in_quoted_printable(&page)),
            };
            let file: Vec<u8> = (0..number % 7 * 40_000).map(|at| (at * at % 251) as u8).collect();
            format!(
                "From: a@example.org\nTo: b@example.org\nSubject: message {number}\n\
                 MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=outer\n\n\
                 --outer\nContent-Type: multipart/alternative; boundary=inner\n\n\
                 --inner\nContent-Type: text/plain\n\nMessage {number}, see the page.\n\
                 --inner\nContent-Type: text/html; charset=utf-8\n\
                 Content-Transfer-Encoding: {encoding}\n\n{body}\n--inner--\n\
                 --outer\nContent-Type: application/octet-stream\n\
                 Content-Transfer-Encoding: base64\n\n{}\n--outer--\n",
                in_base64(&file)
            )
            .into_bytes()
        })
        .collect()
}

fn in_base64(bytes: &[u8]) -> String {
    let lines = bytes.chunks(57).map(|line| STANDARD.encode(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Quoted-printable (RFC 2045, 6.7) of ASCII text without blanks at the ends of lines.
fn in_quoted_printable(text: &str) -> String {
    let mut encoded = String::new();
    for line in text.lines() {
        let mut width = 0;
        for character in line.chars() {
            let length = if character == '=' { 3 } else { 1 };
            if width + length > 75 {
                encoded.push_str("=\n");
                width = 0;
            }
            width += length;
            match character {
                '=' => encoded.push_str("=3D"),
                character => encoded.push(character),
            }
        }
        encoded.push('\n');
    }
    encoded
}
