//! The command line: `args` turns the arguments into a `request`, a file for each command carries it out, and `output`
//! prints. Both the program and the command of the Python package call [`run`].
//!
//! ```text
//! arguments --args--> Command --rewrite, links, base, resolve, check, …--> output, exit status
//! ```
//!
//! A function here returns an [`io::Error`] only if standard output cannot be written to. An error in a
//! file or an argument is printed where it is found and becomes an `ExitStatus`, or it ends the command (`failure`).
//!
//! Deliberately absent: features of its own. Whatever the command line does, a program can do with the library.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal};

use baselink::error::{cause, name, visible};

use self::args::Refusal;
use self::failure::FileResult;
use self::output::{Output, ok_or_report};
use self::request::{Command, Verbosity};
use self::status::ExitStatus;

mod advice;
mod archive;
mod archived;
mod args;
mod base;
mod base_hints;
mod captures;
mod check;
mod closed_stdout;
mod collection;
mod diff;
mod document_name;
mod dotless_hosts;
mod failure;
mod files;
mod foreign;
mod in_order;
mod input;
mod json;
mod link_counts;
mod links;
mod localize;
mod manual;
mod output;
mod output_folder;
mod places;
mod progress;
mod record;
mod relocate;
mod request;
mod resolve;
mod results;
mod rewrite;
mod settings;
mod shell;
mod status;

pub use self::closed_stdout::IS_STDOUT_CLOSED;

/// Checks, for the fuzz target `settings`, that any bytes are settings or give an error of one visible line.
#[cfg(fuzzing)]
pub fn hold_settings(bytes: &[u8]) {
    if let Err(error) = settings::Settings::parse(bytes, std::path::Path::new("b.toml"), &[]) {
        let said = error.to_string();
        let is_shown = |one: char| !one.is_control() && one != '\u{202e}';
        assert!(said.starts_with("b.toml:") && said.chars().all(is_shown), "{said:?}");
    }
}

/// Runs the command in `typed`, which begins with the name of the program. Returns the exit status.
pub fn run(typed: Vec<OsString>) -> u8 {
    let status = match printed(typed) {
        Ok(status) => status,
        // The reader of standard output has had enough of it.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitStatus::Done,
        Err(error) => cannot_print(&error),
    };
    status as u8
}

fn printed(typed: Vec<OsString>) -> io::Result<ExitStatus> {
    let request = match args::parse(typed) {
        Ok(request) => request,
        Err(Refusal::Clap(message)) => {
            let text = message.to_string();
            if !message.use_stderr() {
                closed_stdout::check()?;
                message.print()?;
            } else if text.lines().all(|line| matches!(visible(line), Cow::Borrowed(_))) {
                message.print()?;
            } else {
                // An argument, such as the name of a file, may have control characters.
                let mut output = Output::new(Verbosity::default());
                text.lines().for_each(|line| output.notice(&line));
            }
            // `--help` and `--version` come this way, too.
            return Ok(if message.use_stderr() { ExitStatus::Unusable } else { ExitStatus::Done });
        }
        Err(Refusal::Sentence(verbosity, sentence)) => {
            Output::new(verbosity).error(&sentence);
            return Ok(ExitStatus::Unusable);
        }
    };
    let mut output = Output::new(request.verbosity);
    if let Some(settings) = &request.settings {
        output.notice(&format_args!("settings: {}", name(settings)));
    }
    let status = ok_or_report(execute(&request.command, &mut output), &mut output)?;
    output.end()?;
    Ok(status.unwrap_or(ExitStatus::Unusable))
}

/// Carries out a command.
fn execute(command: &Command, output: &mut Output) -> FileResult<ExitStatus> {
    command.reads().map_or(Ok(()), files::check)?;
    if command.reads_standard_input() && io::stdin().is_terminal() {
        let otherwise = match command.reads() {
            Some(_) => "name a file",
            None => "give references",
        };
        let sentence = format!("reading from the terminal; end with Ctrl-D, or {otherwise}");
        output.notice(&sentence);
    }
    Ok(match command {
        Command::Rewrite(request) => rewrite::run(request, output)?,
        Command::Links(request) => links::run(request, output)?,
        Command::Base(request) => base::run(request, output)?,
        Command::Resolve(request) => resolve::run(request, output)?,
        Command::Localize(request) => localize::run(request, output)?,
        Command::Move(request) => relocate::run(request, output)?,
        Command::Check(request) => check::run(request, output)?,
        Command::Completions(shell) => manual::print_completions(*shell, output)?,
        Command::Man(folder) => manual::write_pages(folder.as_deref(), output)?,
    })
}

/// Reports that standard output cannot be written to.
fn cannot_print(error: &io::Error) -> ExitStatus {
    let sentence = format!("cannot write to standard output: {}", cause(error));
    Output::new(Verbosity::default()).error(&sentence);
    ExitStatus::Unusable
}
