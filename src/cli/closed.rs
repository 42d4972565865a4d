//! The refusal to print to a standard output that was closed when the program began (`>&-` closes it).
//!
//! ```text
//! baselink links page.html >&-   -->   error: standard output cannot be written to: it is closed
//! ```
//!
//! Rust's runtime opens `/dev/null` in place of a standard stream that is closed (`sanitize_standard_fds` in
//! `library/std/src/sys/pal/unix/mod.rs`), so that no file gets its number. Then everything that is printed is
//! lost without an error. It cannot be distinguished afterwards from the `/dev/null` of whoever asked for it; so
//! `src/main.rs` looks before that, by one function that the loader calls first.
//!
//! Deliberately absent: other systems than Linux, where it goes unsaid.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if standard output was closed when the program began. Whoever calls [`super::run`] says so before.
pub static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Refuses to print to a stream that is closed.
///
/// # Errors
///
/// Standard output is closed.
pub(crate) fn refuse() -> io::Result<()> {
    match IS_STDOUT_CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}
