//! The wall time, processor time and memory of a program.
//!
//! Memory and processor time come from `/proc` of Linux while the program runs (`VmHWM`; `utime` and `stime`, in
//! hundredths of a second).
//!
//! Deliberately absent: the resources of programs that the measured program starts.

use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The resources that a program used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// Seconds of wall time.
    pub(crate) took: f64,
    /// Seconds of processor time.
    pub(crate) worked: f64,
    /// Peak memory, in kilobytes.
    pub(crate) memory: u64,
}

/// Runs a command and discards its output. Panics if the exit status is not in `statuses`.
pub(crate) fn run(command: &mut Command, statuses: RangeInclusive<i32>) -> Measured {
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let (mut most, mut ticks) = (0, 0);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        // proc(5): fields 14 and 15. The name of the program, before them, is in parentheses.
        let fields = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .skip(11)
            .take(2);
        ticks = ticks.max(fields.filter_map(|field| field.parse::<u64>().ok()).sum());
        let text = fs::read_to_string(process.join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(number.unwrap_or(0));
        thread::sleep(Duration::from_millis(2));
    };
    let took = started.elapsed().as_secs_f64();
    let is_expected = status.code().is_some_and(|code| statuses.contains(&code));
    assert!(is_expected, "{command:?} ended with {status}");
    Measured {
        took,
        worked: ticks as f64 / 100.0,
        memory: most,
    }
}

pub(crate) fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
