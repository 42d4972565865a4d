//! The program `baselink`.
//!
//! ```text
//! baselink rewrite --url http://a/b/page.html page.html -o absolute.html
//! ```
//!
//! Deliberately absent: the command line, which [`cli::run`] implements.

use std::process::ExitCode;

use baselink_cli::cli;

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os().collect()))
}
