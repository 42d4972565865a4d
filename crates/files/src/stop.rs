//! The flag that stops a run between two files.
//!
//! ```
//! use baselink_files::stop::{is_stopped, stop_between_files};
//! stop_between_files(true)?;
//! assert!(!is_stopped());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Deliberately absent: what a stopped run reports.

use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// The exit status after a second signal: 128 plus the number of SIGINT, as in shells.
const STATUS: i32 = 130;

static STOPPED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Lets Ctrl-C, SIGTERM and SIGHUP stop the run after the current file. If `ends_at_once` is true, a second signal ends
/// the program. Signals that the parent process ignores, as `nohup` does, stay ignored. Only the first call matters.
///
/// # Errors
///
/// Returns the system's errors.
pub fn stop_between_files(ends_at_once: bool) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    let stopped = Arc::default();
    if STOPPED.set(Arc::clone(&stopped)).is_err() {
        return Ok(());
    }
    let ignored = ignored_signals();
    let signals = [
        SIGINT,
        SIGTERM,
        // Windows has no such signal.
        #[cfg(unix)]
        signal_hook::consts::SIGHUP,
    ];
    for signal in signals {
        if ignored & (1 << (signal - 1)) == 0 {
            // In this order, the first signal only sets the flag; the second one finds it set and ends the program.
            if ends_at_once {
                flag::register_conditional_shutdown(signal, STATUS, Arc::clone(&stopped))?;
            }
            flag::register(signal, Arc::clone(&stopped))?;
        }
    }
    Ok(())
}

/// A bit for each ignored signal (proc_pid_status(5), `SigIgn`); 0 on systems without `/proc`.
fn ignored_signals() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

/// True if the run was stopped.
pub fn is_stopped() -> bool {
    STOPPED
        .get()
        .is_some_and(|stopped| stopped.load(Ordering::Relaxed))
}
