//! Rejects printing to a standard output that was closed when the program began (`>&-` closes it).
//!
//! ```text
//! baselink links page.html >&-   -->   error: cannot write to standard output: it is closed
//! ```
//!
//! Rust's runtime opens `/dev/null` in place of a standard stream that is closed (`sanitize_standard_fds` in
//! `library/std/src/sys/pal/unix/mod.rs`), so that no file gets its descriptor. All output would then be lost without
//! an error, and this `/dev/null` looks like one that the user asked for. So `src/main.rs` checks the stream before
//! the runtime starts, in a function that the loader calls.
//!
//! Deliberately absent: this check in the program on systems other than Linux. The command of the Python package has it
//! on all systems.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if standard output was closed when the program began. Callers of [`super::run`] set it first.
pub static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Rejects printing to a closed standard output.
///
/// # Errors
///
/// Standard output is closed.
pub(crate) fn check() -> io::Result<()> {
    match IS_STDOUT_CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}
