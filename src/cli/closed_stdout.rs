//! The refusal to print to a standard output that was closed when the program began (`>&-` closes it).
//!
//! ```text
//! baselink links page.html >&-   -->   error: cannot write to standard output: it is closed
//! ```
//!
//! Rust's runtime opens `/dev/null` in place of a standard stream that is closed (`sanitize_standard_fds` in
//! `library/std/src/sys/pal/unix/mod.rs`), so that no file gets its number. Then all output is lost without an error. Later
//! on, this `/dev/null` looks like one that the user asked for. So `src/main.rs` checks the stream earlier, in one function
//! that the loader calls first.
//!
//! Deliberately absent: systems other than Linux, where a closed stream is not reported.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if standard output was closed when the program began. Whoever calls [`super::run`] says so before.
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
