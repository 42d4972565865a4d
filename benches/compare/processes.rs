//! The jobs as whole processes, from file to file, compared with `cp`: the time that the user of a command waits.
//! Peak memory is the "high water mark" of the system (proc(5)), on Linux only.
//!
//! Deliberately absent: a cold cache. Every file has just been read or written.

use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::jobs::Job;
use crate::table::{self, Table};
use crate::tools::Tools;
use crate::{Asked, Goal, Goals, URL, lol, mail, sets};

const BINARY: &str = env!("CARGO_BIN_EXE_baselink");
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/compare/make_links_absolute.py"
);

/// The time limit of a process; some peers never finish a large file.
const LIMIT: Duration = Duration::from_secs(180);
/// A process that took longer than this is not run again.
const LONG: f64 = 10.0;
/// The shortest and longest pause between two checks whether a process has ended.
const SHORTEST: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_millis(5);

/// Runs one job in this process, which exists only for the job. `paths` is `FROM TO`, two files or two folders, or
/// `--times N URL FROM …`, which repeats the job `N` times and writes nothing.
pub(crate) fn run_job(job: Job, paths: &[String]) {
    let mut out = Vec::new();
    if let [word, times, url, from @ ..] = paths
        && word == "--times"
    {
        let tools = Tools::new(url);
        let pages: Vec<_> = from.iter().map(|from| fs::read(from).unwrap()).collect();
        for _ in 0..table::size(times) {
            pages.iter().for_each(|page| tools.run(job, page, &mut out));
        }
        return;
    }
    let tools = Tools::new(URL);
    match paths {
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
            } else if job == Job::Fast {
                tools.stream(from, to);
            } else {
                tools.run(job, &fs::read(from).unwrap(), &mut out);
                fs::write(to, &out).unwrap();
            }
        }
        _ => panic!("a job needs FROM TO"),
    }
}

/// The files in the subfolders of a folder, with their paths relative to it.
fn files(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let entries = |folder: &Path| {
        let mut paths: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        paths
    };
    let all = entries(folder)
        .into_iter()
        .flat_map(|inner| entries(&inner));
    all.map(|file| (file.clone(), file.strip_prefix(folder).unwrap().to_owned()))
        .collect()
}

/// A process to measure: its name, its command, and true if its result goes to standard output.
struct Runner {
    title: &'static str,
    command: Vec<String>,
    to_stdout: bool,
}

impl Runner {
    fn new(title: &'static str, command: &[&str]) -> Self {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Self {
            title,
            command,
            to_stdout: false,
        }
    }

    fn of_job(title: &'static str, job: Job, from: &str, to: &str) -> Self {
        let own = std::env::current_exe().unwrap();
        Self::new(
            title,
            &[own.to_str().unwrap(), "--as", job.name(), from, to],
        )
    }

    /// Removes `to`, then runs the process once.
    fn run(&self, to: &Path, folder: &Path) -> Result<Run, String> {
        remove(to);
        let log = folder.join("log");
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .stderr(File::create(&log).unwrap());
        command.stdout(if self.to_stdout {
            File::create(to).unwrap().into()
        } else {
            Stdio::null()
        });
        let started = Instant::now();
        let mut running = command.spawn().map_err(|error| error.to_string())?;
        let status = PathBuf::from(format!("/proc/{}/status", running.id()));
        let mut peak = None;
        let success = loop {
            peak = peak.max(high_water_mark(&status));
            let elapsed = started.elapsed();
            match running.try_wait() {
                Ok(None) if elapsed > LIMIT => {
                    let _ = running.kill().and_then(|()| running.wait());
                    return Err(format!("stopped after {} seconds", LIMIT.as_secs()));
                }
                // The pause, a fiftieth of the time so far, limits the error.
                Ok(None) => std::thread::sleep((elapsed / 50).clamp(SHORTEST, LONGEST)),
                done => break done.is_ok_and(|done| done.is_some_and(|done| done.success())),
            }
        };
        let seconds = started.elapsed().as_secs_f64();
        if success && to.exists() {
            let wrote = fs::metadata(to)
                .ok()
                .filter(fs::Metadata::is_file)
                .map(|to| to.len());
            return Ok(Run {
                seconds,
                peak,
                wrote,
            });
        }
        let log = fs::read(&log).unwrap_or_default();
        let last = String::from_utf8_lossy(&log)
            .lines()
            .next_back()
            .unwrap_or_default()
            .to_owned();
        Err(last)
    }
}

struct Run {
    seconds: f64,
    peak: Option<u64>,
    /// The number of bytes written; `None` if the output is a folder.
    wrote: Option<u64>,
}

/// The largest peak of memory, in bytes.
fn peak(runs: &[Run]) -> Option<u64> {
    runs.iter().filter_map(|run| run.peak).max()
}

fn remove(path: &Path) {
    let _ = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
}

fn high_water_mark(status: &Path) -> Option<u64> {
    let status = fs::read_to_string(status).ok()?;
    let mark = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = mark.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Prints a table of runners, which take turns. Each is compared with the first runner, and with the first runner of
/// baselink. Returns the seconds and the peak of memory in MB of a runner by its title.
fn compare(
    asked: &Asked,
    files: &Files,
    bytes: u64,
    count: usize,
    runners: &[Runner],
) -> impl Fn(&str) -> (f64, f64) {
    let (folder, to) = (files.folder.path(), files.to.as_path());
    let mut results: Vec<Result<Vec<Run>, String>> =
        runners.iter().map(|_| Ok(Vec::new())).collect();
    for _ in 0..asked.rounds.min(5) {
        for (runner, result) in runners.iter().zip(&mut results) {
            if let Ok(runs) = result
                && runs.last().is_none_or(|run: &Run| run.seconds < LONG)
            {
                match runner.run(to, folder) {
                    Ok(run) => runs.push(run),
                    Err(problem) => *result = Err(problem),
                }
            }
        }
    }
    remove(to);
    let median =
        |runs: &[Run]| table::median(&mut runs.iter().map(|run| run.seconds).collect::<Vec<_>>());
    let of = |index: usize| {
        results[index]
            .as_ref()
            .map_or(f64::NAN, |runs| median(runs))
    };
    let program = runners
        .iter()
        .position(|runner| runner.title.starts_with("baselink"))
        .unwrap();
    let (first, own) = (of(0), of(program));
    let columns = [
        "seconds",
        "MB/s",
        "files/s",
        "of the first",
        "baselink is",
        "peak MB",
    ];
    let mut rows = Table::new(&columns);
    let mut notices = Vec::new();
    for (runner, result) in runners.iter().zip(&results) {
        match result {
            Ok(runs) => {
                let seconds = median(runs);
                let peak = peak(runs);
                let wrote = runs.iter().filter_map(|run| run.wrote).min();
                if let Some(wrote) = wrote.filter(|&wrote| wrote < bytes / 10 * 9) {
                    let title = runner.title;
                    notices.push(format!(
                        "  notice: {title} wrote {} only",
                        table::megabytes(wrote)
                    ));
                }
                rows.row(
                    runner.title,
                    &[
                        format!("{seconds:.3}"),
                        table::number(bytes as f64 / 1e6 / seconds),
                        table::number(count as f64 / seconds),
                        table::ratio(first / seconds),
                        format!("{:.2} x", seconds / own),
                        peak.map_or("-".to_owned(), |peak| table::number(peak as f64 / 1e6)),
                    ],
                );
            }
            Err(problem) => {
                rows.row(runner.title, &vec!["-".to_owned(); columns.len()]);
                notices.push(format!(
                    "  notice: {} could not be run: {problem}",
                    runner.title
                ));
            }
        }
    }
    rows.print();
    for notice in notices {
        println!("{notice}");
    }
    let measured: Vec<_> = (0..runners.len())
        .map(|index| {
            let peak = results[index].as_ref().ok().and_then(|runs| peak(runs));
            let peak = peak.map_or(f64::NAN, |peak| peak as f64 / 1e6);
            (runners[index].title, (of(index), peak))
        })
        .collect();
    move |title| {
        let found = measured.iter().find(|(other, _)| *other == title);
        found.map_or((f64::NAN, f64::NAN), |(_, measured)| *measured)
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The input and output of the runners, in a folder that is removed on drop.
struct Files {
    folder: tempfile::TempDir,
    from: PathBuf,
    to: PathBuf,
}

impl Files {
    fn new(asked: &Asked, [from, to]: [&str; 2]) -> Self {
        let folder = tempfile::tempdir_in(&asked.folder).unwrap();
        println!(
            "  files are made in {}, and removed",
            asked.folder.display()
        );
        let [from, to] = [from, to].map(|name| folder.path().join(name));
        Self { folder, from, to }
    }

    /// The runners of `cp`, and of the program with `options`.
    fn copy_and_rewrite(&self, options: &[&str]) -> Vec<Runner> {
        let (from, to) = (text(&self.from), text(&self.to));
        let baselink = [&[BINARY, "rewrite", "--quiet"], options].concat();
        let synced = [&baselink[..], &["--output", &to, &from]].concat();
        let plain = [&baselink[..], &[&from]].concat();
        vec![
            Runner::new("cp", &["cp", &from, &to]),
            Runner::new(
                "cp and sync",
                &["sh", "-c", "cp \"$0\" \"$1\" && sync \"$1\"", &from, &to],
            ),
            Runner {
                to_stdout: true,
                ..Runner::new("baselink > FILE", &plain)
            },
            Runner::new("baselink -o FILE, which syncs", &synced),
        ]
    }

    /// The runners of the library and of the other programs.
    fn peers(&self, asked: &Asked) -> Vec<Runner> {
        let (from, to) = (text(&self.from), text(&self.to));
        let lol = if self.from.is_dir() {
            "lol_html"
        } else {
            "lol_html, streaming"
        };
        vec![
            Runner::of_job("the library, one thread", Job::Fast, &from, &to),
            Runner::of_job(lol, Job::Lol, &from, &to),
            Runner::of_job("html5ever + rcdom", Job::Dom, &from, &to),
            Runner::new(
                "lxml make_links_absolute",
                &[&asked.python, SCRIPT, URL, &from, &to],
            ),
        ]
    }
}

/// Measures one large page.
pub(crate) fn big(asked: &Asked, goals: &mut Goals) {
    let (what, pages) = sets::pages(asked.pages);
    println!(
        "\none large file: concatenated bodies of {what} that have no base element, as processes"
    );
    let files = Files::new(asked, ["big.html", "out.html"]);
    let bytes = sets::write_big(&files.from, &pages, asked.big);
    println!("  {}", table::megabytes(bytes));
    let mut runners = files.copy_and_rewrite(&["--url", URL]);
    runners.extend(files.peers(asked));
    let of = compare(asked, &files, bytes, 1, &runners);
    let speed = of("lol_html, streaming").0 / of("baselink > FILE").0;
    goals.add(
        "one large file: speed of lol_html",
        Goal::AtLeast(2.5),
        speed,
    );
}

/// Measures small pages, a hundred in each folder.
pub(crate) fn small(asked: &Asked, pages: &[Vec<u8>], goals: &mut Goals) {
    println!("\nsmall pages; each process handles all of them");
    let files = Files::new(asked, ["pages", "out"]);
    for (number, page) in pages.iter().enumerate() {
        let inner = files.from.join(format!("{:02}", number / 100));
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join(format!("{:02}.html", number % 100)), page).unwrap();
    }
    let bytes = pages.iter().map(Vec::len).sum::<usize>() as u64;
    println!("  {} files, {}", pages.len(), table::megabytes(bytes));
    let (from, to) = (text(&files.from), text(&files.to));
    let url = "http://example.org/docs/";
    let baselink = [
        BINARY, "rewrite", "--quiet", "--url", url, "--output", &to, &from,
    ];
    let one_thread = [&baselink[..], &["--jobs", "1"]].concat();
    let mut runners = vec![
        Runner::new("cp -r", &["cp", "-r", &from, &to]),
        Runner::new("baselink -o DIR", &baselink),
        Runner::new("baselink -o DIR, one thread", &one_thread),
        Runner::of_job("read and write only", Job::Copy, &from, &to),
    ];
    runners.extend(files.peers(asked));
    let of = compare(asked, &files, bytes, pages.len(), &runners);
    let time = of("baselink -o DIR").0 / of("cp -r").0;
    goals.add("small files: time of cp -r", Goal::AtMost(2.0), time);
}

/// Measures one large mailbox.
pub(crate) fn mailbox(asked: &Asked, goals: &mut Goals) {
    let (what, messages) = mail::messages();
    println!("\none mailbox, {what} again and again, as processes");
    let files = Files::new(asked, ["big.mbox", "out.mbox"]);
    let bytes = mail::write_mailbox(&files.from, &messages, asked.mbox);
    let largest = messages.iter().map(Vec::len).max().unwrap() as u64;
    println!(
        "  {}, the largest message {}",
        table::megabytes(bytes),
        table::megabytes(largest)
    );
    let runners = files.copy_and_rewrite(&["--format", "mbox", "--url", URL]);
    let of = compare(asked, &files, bytes, 1, &runners);
    let (seconds, peak) = of("baselink > FILE");
    let time = seconds / of("cp").0;
    goals.add("a mailbox: time of cp", Goal::AtMost(2.5), time);
    goals.add("a mailbox: memory in MB", Goal::AtMost(40.0), peak);
}

/// Calls `work` with files that contain these pages. The files are removed afterwards.
pub(crate) fn with_files<T>(
    asked: &Asked,
    pages: &[&[u8]],
    work: impl FnOnce(&[PathBuf]) -> T,
) -> T {
    let folder = tempfile::tempdir_in(&asked.folder).unwrap();
    let files: Vec<_> = (0..pages.len())
        .map(|at| folder.path().join(at.to_string()))
        .collect();
    for (file, page) in files.iter().zip(pages) {
        fs::write(file, page).unwrap();
    }
    work(&files)
}
