//! Instructions of one pass over a set of pages, counted by callgrind: those of a process that makes the pass minus those
//! of one that only reads the pages.
//!
//! Deliberately absent: a sample. Every program is counted on the same bytes.

use std::path::PathBuf;

use crate::callgrind;
use crate::jobs::Job;
use crate::{Asked, processes, table};

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
    if !callgrind::is_installed() {
        return;
    }
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let costs = processes::with_files(asked, &whole(pages), |files| {
        BASES.map(|url| of_pass((Job::Fast, url), files) / bytes as f64)
    });
    let best = costs.into_iter().fold(f64::INFINITY, f64::min);
    let mut rows = table::Table::new(&["instr/byte", "of the best"]);
    for (url, cost) in BASES.into_iter().zip(costs) {
        rows.row(url, &[table::number(cost), table::ratio(cost / best)]);
    }
    rows.print();
}

fn whole(pages: &[Vec<u8>]) -> Vec<&[u8]> {
    pages.iter().map(Vec::as_slice).collect()
}

/// The instructions that a pass over `files` from this URL executes, without those of starting and reading.
fn of_pass((job, url): (Job, &str), files: &[PathBuf]) -> f64 {
    let own = std::env::current_exe().unwrap();
    let [idle, busy] = ["0", "1"].map(|times| {
        let words = [
            own.to_str().unwrap(),
            "--as",
            job.name(),
            "--times",
            times,
            url,
        ];
        let files = files.iter().map(|file| file.to_str().unwrap());
        let command: Vec<&str> = words.into_iter().chain(files).collect();
        callgrind::instructions(&command)
    });
    busy - idle
}

/// The instructions of each job for all of `pages`; `None` without callgrind, and for a job that is not counted.
pub(crate) fn of_jobs(asked: &Asked, pages: &[Vec<u8>], url: &str) -> Vec<Option<f64>> {
    if !callgrind::is_installed() {
        return vec![None; Job::ALL.len()];
    }
    processes::with_files(asked, &whole(pages), |files| {
        let of_job = |job: Job| job.is_counted().then(|| of_pass((job, url), files));
        Job::ALL.into_iter().map(of_job).collect()
    })
}
