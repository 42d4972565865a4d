//! The progress bar of long runs.
//!
//! ```text
//! ██░░░░░░░░░░░░░░░░░░░░░░  1204 of 10290 files  31.20 MiB of 289.00 MiB  92.40 MiB/s  3s left
//! ```
//!
//! Deliberately absent: the rate and the time left, which indicatif computes from the bytes.

use std::{
    sync::{
        Arc, Once, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use baselink_files::{
    stop::is_stopped,
    walk::{Selection, walk},
};

/// A bar on standard error, which is removed when it is dropped.
pub struct Progress {
    pub bar: ProgressBar,
    files: AtomicU64,
    /// The number of bytes done of a large file that is processed alone.
    reached: AtomicU64,
    /// The number of files, once they have been counted.
    all: Arc<OnceLock<u64>>,
    begun: Instant,
    shown: Once,
}

/// The time before the bar is shown: a short run needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);

const COUNTING: &str = "{spinner} {msg}  {bytes}  {bytes_per_sec}";
const COUNTED: &str = "{bar:24} {msg}  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left";

impl Progress {
    /// A bar for the files below `roots`, which are counted on a thread of their own.
    pub fn over(roots: Vec<std::path::PathBuf>, selection: Selection) -> Self {
        let selection = Selection {
            folders: false,
            ..selection
        };
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = |template| {
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
        };
        bar.set_style(style(COUNTING));
        let progress = Self {
            bar,
            files: AtomicU64::default(),
            reached: AtomicU64::default(),
            all: Arc::default(),
            begun: Instant::now(),
            shown: Once::new(),
        };
        let (bar, all) = (progress.bar.downgrade(), Arc::clone(&progress.all));
        std::thread::spawn(move || {
            let (mut files, mut bytes) = (0, 0_u64);
            for entry in walk(&roots, &selection).flatten() {
                if is_stopped() {
                    return;
                }
                files += 1;
                bytes = bytes.saturating_add(entry.size);
            }
            let _ = all.set(files);
            if let Some(bar) = bar.upgrade() {
                bar.set_style(style(COUNTED));
                bar.set_length(bytes);
            }
        });
        progress
    }

    /// Records that a large file is done up to the byte `place`.
    pub fn advance_to(&self, place: u64) {
        let before = self.reached.fetch_max(place, Ordering::Relaxed);
        self.bar.inc(place.saturating_sub(before));
        self.show(self.files.load(Ordering::Relaxed));
    }

    /// Records that a file of `size` bytes is done.
    pub fn finish_file(&self, size: u64) {
        let files = self.files.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar
            .inc(size.saturating_sub(self.reached.swap(0, Ordering::Relaxed)));
        self.show(files);
    }

    /// Shows the number of files done, once the run is long enough for a bar.
    fn show(&self, files: u64) {
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        let draw = || self.bar.set_draw_target(ProgressDrawTarget::stderr());
        self.shown.call_once(draw);
        self.bar.set_message(match self.all.get() {
            Some(all) => format!("{files} of {all} files"),
            None => format!("{files} files"),
        });
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
