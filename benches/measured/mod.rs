//! Resources that a program uses: wall time, CPU time, and memory.
//!
//! Memory and processor time are what Linux says in `/proc` while the program runs (`VmHWM`; `utime` and `stime`, in
//! hundredths of a second).
//!
//! Deliberately absent: what programs it starts take.

use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Resources that a program used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// Seconds.
    pub(crate) took: f64,
    /// Seconds of a processor.
    pub(crate) worked: f64,
    /// The most memory, in kilobytes.
    pub(crate) memory: u64,
}

/// Runs a command, whose status has to be one of those, without what it prints.
pub(crate) fn run(command: &mut Command, statuses: RangeInclusive<i32>) -> Measured {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let (mut most, mut ticks) = (0, 0);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        // proc(5): fields 14 and 15; the name of the program, before them, is in parentheses.
        let fields =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
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
    Measured { took, worked: ticks as f64 / 100.0, memory: most }
}

pub(crate) fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
