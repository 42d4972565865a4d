//! The program `baselink`.
//!
//! ```text
//! baselink rewrite --url http://a/b/page.html page.html -o absolute.html
//! ```
//!
//! Deliberately absent: the command line, which [`cli::run`] implements. Apart from calling it, this file only checks
//! whether standard output was closed before the program began (`src/cli/closed_stdout.rs` says why).

use std::process::ExitCode;

use baselink::cli;

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os().collect()))
}

#[cfg(target_os = "linux")]
mod before_main {
    use std::sync::atomic::Ordering;

    /// A pointer in the section of functions that the loader calls before `main` (System V ABI, "Initialization and
    /// Termination Functions").
    // Rust's runtime has not started yet, so the function only makes a system call and stores a flag.
    #[expect(unsafe_code, reason = "nothing else runs before the runtime hides it")]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static CHECK_STDOUT: extern "C" fn() = check_stdout;

    extern "C" fn check_stdout() {
        let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
        super::cli::IS_STDOUT_CLOSED.store(flags.is_err(), Ordering::Relaxed);
    }
}
