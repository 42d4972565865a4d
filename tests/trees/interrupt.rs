//! Signals that ask a program to end. They are sent without a helper program, which may be slow to start on a busy
//! machine.
//!
//! Deliberately absent: SIGKILL, which a program cannot handle.
#![allow(dead_code)]

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

/// The signals to send. A program that a shell started in the background ignores SIGINT, and so do the programs that
/// its tests start.
pub(crate) fn signals() -> &'static [Signal] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .unwrap_or(0);
    match ignored & 1 << (Signal::INT.as_raw() - 1) {
        0 => &[Signal::INT, Signal::TERM],
        _ => &[Signal::TERM],
    }
}

pub(crate) fn send(signal: Signal, program: &Child) {
    kill_process(Pid::from_child(program), signal).unwrap();
}

/// Interrupts programs as Ctrl-C does.
pub(crate) fn interrupt(program: &Child) {
    send(signals()[0], program);
}
