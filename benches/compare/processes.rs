//! The jobs as whole processes, from file to file, beside `cp`: what somebody who types a command waits
//! for. Peak memory is the system's "high water mark" (proc(5)), of Linux only.
//!
//! Deliberately absent: an empty cache. Every file has just been read or written.

use std::fs;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::jobs::{Job, Tools};
use crate::table::{self, Table};
use crate::{Asked, URL, lol, mail, sets};

const BINARY: &str = env!("CARGO_BIN_EXE_baselink");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/compare/make_links_absolute.py");

/// This program as one job: `FROM TO`, a file or a folder, or `--times N FROM`, which writes nothing.
pub(crate) fn be(job: Job, paths: &[String]) {
    let tools = Tools::new();
    let mut out = Vec::new();
    match paths {
        [word, times, from] if word == "--times" => {
            let page = fs::read(from).unwrap();
            for _ in 0..table::size(times) {
                tools.run(job, &page, &mut out);
            }
        }
        [from, to] => {
            let (from, to) = (Path::new(from), Path::new(to));
            if from.is_dir() {
                for (file, name) in files(from) {
                    let page = fs::read(file).unwrap();
                    tools.run(job, &page, &mut out);
                    let to = to.join(name);
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    fs::write(to, &out).unwrap();
                }
            } else if job == Job::Lol {
                lol::stream(&tools, from, to);
            } else {
                tools.run(job, &fs::read(from).unwrap(), &mut out);
                fs::write(to, &out).unwrap();
            }
        }
        _ => panic!("a job needs FROM TO"),
    }
}

/// The files of a folder of folders, with their names in it.
fn files(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let entries = |folder: &Path| {
        let mut paths: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let all = entries(folder).into_iter().flat_map(|inner| entries(&inner));
    all.map(|file| (file.clone(), file.strip_prefix(folder).unwrap().to_owned())).collect()
}

/// What runs: its name, the command, and whether its standard output is the result.
struct Runner {
    title: &'static str,
    command: Vec<String>,
    to_stdout: bool,
}

impl Runner {
    fn new(title: &'static str, command: &[&str]) -> Self {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Self { title, command, to_stdout: false }
    }

    fn of_job(title: &'static str, job: Job, from: &str, to: &str) -> Self {
        let own = std::env::current_exe().unwrap();
        Self::new(title, &[own.to_str().unwrap(), "--as", job.name(), from, to])
    }

    /// Runs it once, with `to` gone before.
    fn run(&self, to: &Path, folder: &Path) -> Result<Run, String> {
        remove(to);
        let log = folder.join("log");
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).stderr(File::create(&log).unwrap());
        command.stdout(if self.to_stdout {
            File::create(to).unwrap().into()
        } else {
            Stdio::null()
        });
        let started = Instant::now();
        let mut running = command.spawn().map_err(|error| error.to_string())?;
        let status = PathBuf::from(format!("/proc/{}/status", running.id()));
        let done = AtomicBool::new(false);
        let (seconds, success, peak) = std::thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut peak = None;
                while !done.load(Ordering::Relaxed) {
                    peak = peak.max(high_water_mark(&status));
                    std::thread::sleep(Duration::from_millis(1));
                }
                peak
            });
            let success = running.wait().is_ok_and(|status| status.success());
            let seconds = started.elapsed().as_secs_f64();
            done.store(true, Ordering::Relaxed);
            (seconds, success, watching.join().unwrap())
        });
        if success && to.exists() {
            return Ok(Run { seconds, peak });
        }
        let log = fs::read(&log).unwrap_or_default();
        let last = String::from_utf8_lossy(&log).lines().next_back().unwrap_or_default().to_owned();
        Err(last)
    }
}

struct Run {
    seconds: f64,
    peak: Option<u64>,
}

fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

fn high_water_mark(status: &Path) -> Option<u64> {
    let status = fs::read_to_string(status).ok()?;
    let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = mark.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The table of some runners, which take turns. The first is what the others are compared with.
fn compare(asked: &Asked, folder: &Path, to: &Path, bytes: u64, count: usize, runners: &[Runner]) {
    let mut results: Vec<Result<Vec<Run>, String>> =
        runners.iter().map(|_| Ok(Vec::new())).collect();
    for _ in 0..asked.rounds.min(5) {
        for (runner, result) in runners.iter().zip(&mut results) {
            if let Ok(runs) = result {
                match runner.run(to, folder) {
                    Ok(run) => runs.push(run),
                    Err(said) => *result = Err(said),
                }
            }
        }
    }
    remove(to);
    let median =
        |runs: &[Run]| table::median(&mut runs.iter().map(|run| run.seconds).collect::<Vec<_>>());
    let first = results[0].as_ref().map_or(f64::NAN, |runs| median(runs));
    let mut rows = Table::new(&["seconds", "MB/s", "files/s", "of the first", "peak MB"]);
    let mut notices = Vec::new();
    for (runner, result) in runners.iter().zip(&results) {
        match result {
            Ok(runs) => {
                let seconds = median(runs);
                let peak = runs.iter().filter_map(|run| run.peak).max();
                rows.row(
                    runner.title,
                    &[
                        format!("{seconds:.3}"),
                        table::number(bytes as f64 / 1e6 / seconds),
                        table::number(count as f64 / seconds),
                        table::ratio(first / seconds),
                        peak.map_or("-".to_owned(), |peak| table::number(peak as f64 / 1e6)),
                    ],
                );
            }
            Err(said) => {
                rows.row(runner.title, &vec!["-".to_owned(); 5]);
                notices.push(format!("  notice: {} could not be run: {said}", runner.title));
            }
        }
    }
    rows.print();
    for notice in notices {
        println!("{notice}");
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A folder that is gone when it is dropped.
fn folder(asked: &Asked) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(&asked.folder).unwrap();
    println!("  files are made in {}, and removed", asked.folder.display());
    folder
}

/// One large page.
pub(crate) fn big(asked: &Asked) {
    let (what, pages) = sets::pages(asked.pages);
    println!("\none large file, {what} one behind the other, as processes");
    let folder = folder(asked);
    let [from, to] = ["big.html", "out.html"].map(|name| folder.path().join(name));
    let bytes = sets::write_big(&from, &pages, asked.big);
    println!("  {}", table::megabytes(bytes));
    let (f, t) = (text(&from), text(&to));
    let baselink = [BINARY, "rewrite", "--quiet", "--url", URL];
    let synced = [&baselink[..], &["--output", &t, &f]].concat();
    let plain = [&baselink[..], &[&f]].concat();
    let mut runners = vec![
        Runner::new("cp", &["cp", &f, &t]),
        Runner::new("cp and sync", &["sh", "-c", "cp \"$0\" \"$1\" && sync \"$1\"", &f, &t]),
        Runner { to_stdout: true, ..Runner::new("baselink > FILE", &plain) },
        Runner::new("baselink -o FILE, which syncs", &synced),
        Runner::of_job("baselink, library", Job::Fast, &f, &t),
        Runner::of_job("lol_html, streaming", Job::Lol, &f, &t),
        Runner::of_job("html5ever + rcdom", Job::Dom, &f, &t),
    ];
    runners.push(Runner::new("lxml make_links_absolute", &[&asked.python, SCRIPT, URL, &f, &t]));
    compare(asked, folder.path(), &to, bytes, 1, &runners);
}

/// Small pages, a hundred in a folder.
pub(crate) fn small(asked: &Asked, pages: &[Vec<u8>]) {
    println!("\nsmall pages, as processes that each do all");
    let folder = folder(asked);
    let [from, to] = ["pages", "out"].map(|name| folder.path().join(name));
    for (number, page) in pages.iter().enumerate() {
        let inner = from.join(format!("{:02}", number / 100));
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join(format!("{:02}.html", number % 100)), page).unwrap();
    }
    let bytes = pages.iter().map(Vec::len).sum::<usize>() as u64;
    println!("  {} files, {}", pages.len(), table::megabytes(bytes));
    let (f, t) = (text(&from), text(&to));
    let root = "http://example.org/docs/";
    let runners = [
        Runner::new("cp -r", &["cp", "-r", &f, &t]),
        Runner::new("baselink -o DIR", &[BINARY, "rewrite", "-q", "-u", root, "-o", &t, &f]),
        Runner::new(
            "baselink -o DIR, one thread",
            &[BINARY, "rewrite", "-q", "-j", "1", "-u", root, "-o", &t, &f],
        ),
        Runner::of_job("read and write only", Job::Copy, &f, &t),
        Runner::of_job("baselink, library", Job::Fast, &f, &t),
        Runner::of_job("lol_html", Job::Lol, &f, &t),
        Runner::of_job("html5ever + rcdom", Job::Dom, &f, &t),
        Runner::new("lxml make_links_absolute", &[&asked.python, SCRIPT, URL, &f, &t]),
    ];
    compare(asked, folder.path(), &to, bytes, pages.len(), &runners);
}

/// One large mailbox.
pub(crate) fn mailbox(asked: &Asked) {
    let (what, messages) = mail::messages(false);
    println!("\none mailbox, {what} again and again, as processes");
    let folder = folder(asked);
    let [from, to] = ["big.mbox", "out.mbox"].map(|name| folder.path().join(name));
    let bytes = mail::write_mailbox(&from, &messages, asked.mbox);
    let largest = messages.iter().map(Vec::len).max().unwrap() as u64;
    println!("  {}, the largest message {}", table::megabytes(bytes), table::megabytes(largest));
    let (f, t) = (text(&from), text(&to));
    let baselink = [BINARY, "rewrite", "--quiet", "--format", "mbox", "--url", URL];
    let synced = [&baselink[..], &["--output", &t, &f]].concat();
    let plain = [&baselink[..], &[&f]].concat();
    let runners = [
        Runner::new("cp", &["cp", &f, &t]),
        Runner::new("cp and sync", &["sh", "-c", "cp \"$0\" \"$1\" && sync \"$1\"", &f, &t]),
        Runner { to_stdout: true, ..Runner::new("baselink > FILE", &plain) },
        Runner::new("baselink -o FILE, which syncs", &synced),
    ];
    compare(asked, folder.path(), &to, bytes, 1, &runners);
}

/// Writes `pages` to a file of its own for one process, and gives what `work` makes of it.
pub(crate) fn with_file<T>(asked: &Asked, page: &[u8], work: impl FnOnce(&Path) -> T) -> T {
    let mut file = tempfile::NamedTempFile::new_in(&asked.folder).unwrap();
    file.write_all(page).unwrap();
    work(file.path())
}
