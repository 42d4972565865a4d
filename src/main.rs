//! The program `baselink`.
//!
//! ```text
//! baselink rewrite --url http://a/b/page.html page.html -o absolute.html
//! ```
//!
//! Deliberately absent: everything but the check that standard output was open when the program began
//! ([`cli::IS_STDOUT_CLOSED`] says why). [`cli::run`] does the work.

use std::process::ExitCode;

use baselink::cli;

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os().collect()))
}

#[cfg(target_os = "linux")]
mod closed {
    use std::sync::atomic::Ordering;

    /// Functions in this section are called before `main` (System V ABI, "Initialization and Termination
    /// Functions").
    // What it calls must need nothing of Rust's runtime, which is not there yet: a system call and a store.
    #[expect(unsafe_code, reason = "nothing else runs before the runtime hides it")]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
        super::cli::IS_STDOUT_CLOSED.store(flags.is_err(), Ordering::Relaxed);
    }
}
