//! Instructions per byte, counted by callgrind: those of two passes over a page minus those of one, so that startup
//! and exit are not counted.
//!
//! Deliberately absent: more than a sample for the peers. Callgrind makes everything fifty times slower.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::jobs::Job;
use crate::{Asked, processes, table};

/// The number of bytes on which the peers and the html5ever engine are measured.
const SAMPLE: usize = 1_000_000;

/// URLs for the pages of a set: deep in a site, just below its root, and forms that were once slow.
const BASES: [&str; 5] = [
    "http://example.org/docs/guide/deep/er/page.html",
    "http://example.org/page.html",
    "http://example.org/docs/page.php?id=1",
    "http://example.org/docs/page.php?id=1&part=2",
    "http://example.org/docs/\u{e9}/page.html",
];

/// Prints a table of the cost of a byte of `pages` for each URL of [`BASES`].
pub(crate) fn by_base(asked: &Asked, pages: &[Vec<u8>]) {
    if !has_callgrind() {
        return;
    }
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let costs = processes::with_files(asked, &whole(pages), |files| {
        BASES.map(|url| difference(asked, (Job::Fast, url), files))
    });
    let costs = costs.map(|cost| cost.map_or(f64::NAN, |cost| cost / bytes as f64));
    let best = costs.into_iter().fold(f64::INFINITY, f64::min);
    let mut rows = table::Table::new(&["instr/byte", "of the best"]);
    for (url, cost) in BASES.into_iter().zip(costs) {
        rows.row(url, &[table::number(cost), table::ratio(cost / best)]);
    }
    rows.print();
}

fn has_callgrind() -> bool {
    let mut version = Command::new("valgrind");
    version
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let has_callgrind = version.status().is_ok_and(|status| status.success());
    if !has_callgrind {
        println!("  notice: valgrind is not installed, so no instructions are counted");
    }
    has_callgrind
}

fn whole(pages: &[Vec<u8>]) -> Vec<&[u8]> {
    pages.iter().map(Vec::as_slice).collect()
}

/// The instructions that one more pass over `files` from this URL executes.
fn difference(asked: &Asked, as_what: (Job, &str), files: &[PathBuf]) -> Option<f64> {
    Some(executed(asked, as_what, 2, files)? - executed(asked, as_what, 1, files)?)
}

/// The instructions per byte of each job; `None` without callgrind.
pub(crate) fn per_byte(asked: &Asked, pages: &[Vec<u8>], url: &str) -> Vec<Option<f64>> {
    if !has_callgrind() {
        return vec![None; Job::ALL.len()];
    }
    let cost = |job, pages: &[&[u8]]| {
        let bytes: usize = pages.iter().map(|page| page.len()).sum();
        processes::with_files(asked, pages, |files| {
            Some(difference(asked, (job, url), files)? / bytes as f64)
        })
    };
    let of_job = |job| match job {
        Job::Fast | Job::List => cost(job, &whole(pages)),
        _ => cost(job, &sample(pages)),
    };
    Job::ALL.into_iter().map(of_job).collect()
}

/// Whole pages in order, up to `SAMPLE` bytes in all. If the first page is larger, its beginning.
fn sample(pages: &[Vec<u8>]) -> Vec<&[u8]> {
    let mut remaining = SAMPLE;
    let mut sample: Vec<&[u8]> = Vec::new();
    for page in pages {
        if page.len() <= remaining {
            remaining -= page.len();
            sample.push(page);
        }
    }
    match (sample.is_empty(), pages.first()) {
        (true, Some(page)) => vec![&page[..SAMPLE]],
        _ => sample,
    }
}

fn executed(
    asked: &Asked,
    (job, url): (Job, &str),
    times: usize,
    pages: &[PathBuf],
) -> Option<f64> {
    let out = tempfile::NamedTempFile::new_in(&asked.folder).ok()?;
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.path().display()))
        .arg(std::env::current_exe().ok()?)
        .args(["--as", job.name(), "--times", &times.to_string(), url])
        .args(pages)
        .output()
        .ok()?;
    // "==1== Collected : 123456"
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = report.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}
