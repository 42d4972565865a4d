//! The check that standard output was open when the program began (`>&-` closes it).
//!
//! ```text
//! baselink links page.html >&-   -->   error: cannot write to standard output: it is closed
//! ```
//!
//! Rust's runtime opens `/dev/null` in place of a standard stream that is closed (`sanitize_standard_fds` in
//! `library/std/src/sys/pal/unix/mod.rs`), so that no file gets its number. Then all output is lost without an error. Later
//! on, this `/dev/null` looks like one that the user asked for. So one function that the loader calls first checks the stream.
//!
//! Deliberately absent: systems other than Linux, where a closed stream is not reported.

use std::io;

/// Rejects printing to a closed standard output.
///
/// # Errors
///
/// Standard output is closed.
pub(crate) fn check() -> io::Result<()> {
    match is_closed() {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}

#[cfg(target_os = "linux")]
use self::linux::is_closed;

#[cfg(not(target_os = "linux"))]
fn is_closed() -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, Ordering};

    static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    pub(super) fn is_closed() -> bool {
        IS_CLOSED.load(Ordering::Relaxed)
    }

    /// Functions in this section are called before `main` (System V ABI, "Initialization and Termination
    /// Functions").
    // Rust's runtime has not started yet, so this function only makes a system call and a store.
    #[expect(unsafe_code, reason = "nothing else runs before the runtime hides it")]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
        IS_CLOSED.store(flags.is_err(), Ordering::Relaxed);
    }
}
