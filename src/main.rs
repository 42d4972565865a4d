//! The program `baselink`.
//!
//! ```text
//! baselink rewrite --url http://a/b/page.html page.html -o absolute.html
//! ```
//!
//! Deliberately absent: everything but the exit status. [`cli::run`] does the work.

use std::io::ErrorKind;
use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    ExitCode::from(match cli::run(std::env::args_os()) {
        Ok(status) => status as u8,
        // Whoever reads standard output has had enough of it.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => cli::status::ExitStatus::Done as u8,
        Err(error) => cli::cannot_print(&error) as u8,
    })
}
