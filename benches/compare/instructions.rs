//! Instructions per byte, as callgrind counts them: two passes over a page less one, so that what comes
//! before and behind is not counted.
//!
//! Deliberately absent: more than a sample. Under callgrind everything takes fifty times as long.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::jobs::Job;
use crate::{Asked, processes};

/// How much of a set is counted.
const SAMPLE: usize = 1_000_000;

/// For each job; `None` without callgrind.
pub(crate) fn per_byte(asked: &Asked, pages: &[Vec<u8>]) -> Vec<Option<f64>> {
    let has_callgrind = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !has_callgrind {
        println!("  notice: valgrind is not installed, so no instructions are counted");
        return vec![None; Job::ALL.len()];
    }
    let pages = sample(pages);
    let bytes: usize = pages.iter().map(|page| page.len()).sum();
    processes::with_files(asked, &pages, |files| {
        let count = |job, times| executed(asked, job, times, files);
        let per_byte = |job| {
            let difference = count(job, 2)? - count(job, 1)?;
            Some(difference / bytes as f64)
        };
        Job::ALL.into_iter().map(per_byte).collect()
    })
}

/// Whole pages, as they come, up to a bound; of a single one that is larger, the beginning.
fn sample(pages: &[Vec<u8>]) -> Vec<&[u8]> {
    let mut left = SAMPLE;
    let mut sample: Vec<&[u8]> = Vec::new();
    for page in pages {
        if page.len() <= left {
            left -= page.len();
            sample.push(page);
        }
    }
    match (sample.is_empty(), pages.first()) {
        (true, Some(page)) => vec![&page[..SAMPLE]],
        _ => sample,
    }
}

fn executed(asked: &Asked, job: Job, times: usize, pages: &[PathBuf]) -> Option<f64> {
    let out = tempfile::NamedTempFile::new_in(&asked.folder).ok()?;
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.path().display()))
        .arg(std::env::current_exe().ok()?)
        .args(["--as", job.name(), "--times", &times.to_string()])
        .args(pages)
        .output()
        .ok()?;
    // "==1== Collected : 123456"
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}
