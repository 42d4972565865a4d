//! The command line: a file for each command has the struct of its arguments, which is the request, and carries it out;
//! `args` reads the words, and `output` prints. Both the program and the command of the Python package call [`run`].
//!
//! ```text
//! arguments --args--> Command --rewrite, links, base, resolve, check, …--> output, exit status
//! ```
//!
//! In the command line, an [`io::Error`] means that standard output cannot be written to. An error about a file or an
//! argument is printed where it occurs and becomes an `ExitStatus`, or it is returned as a `Failure`.
//!
//! Deliberately absent: features that the library lacks.

use std::{
    borrow::Cow,
    ffi::OsString,
    io::{self, ErrorKind, IsTerminal},
};

use baselink_text::{cause, name, visible};

use self::{
    args::{Command, Refusal, deferred::Deferred},
    output::{Output, ok_or_report, without_workflow_command},
    request::{Verbosity, is_standard_input},
    status::{ExitStatus, FileResult},
};

mod advice;
mod args;
mod base;
mod base_hints;
mod check;
mod diff;
mod dotless_hosts;
mod expected_url;
mod files;
mod json_records;
mod link_counts;
mod links;
mod localize;
mod manual;
mod output;
mod progress;
mod relocate;
mod request;
mod resolve;
mod results;
mod rewrite;
mod settings;
mod status;

/// Checks for the fuzz target `settings` that arbitrary bytes are either settings or an error of one printable line.
#[cfg(any(fuzzing, test))]
pub fn hold_settings(bytes: &[u8]) {
    if let Err(error) = settings::Settings::parse(
        bytes,
        std::path::Path::new("b.toml"),
        &args::built_program(),
    ) {
        let message = error.to_string();
        assert!(
            message.starts_with("b.toml:")
                && message.chars().all(|c| !c.is_control() && c != '\u{202e}'),
            "{message:?}"
        );
    }
}

/// Runs the command in `typed`, which begins with the name of the program. Returns the exit status.
pub fn run(typed: Vec<OsString>) -> u8 {
    let status = match parse_and_execute(typed) {
        Ok(status) => status,
        // The reader of standard output, such as `head`, has closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitStatus::Done,
        Err(error) => {
            let sentence = format!("cannot write to standard output: {}", cause(&error));
            Output::new(Verbosity::default()).error(&sentence);
            ExitStatus::Unusable
        }
    };
    status as u8
}

/// Runs the command and prints its errors, except those of standard output.
fn parse_and_execute(typed: Vec<OsString>) -> io::Result<ExitStatus> {
    let mut request = match args::parse(typed) {
        Ok(request) => request,
        Err(Refusal::Clap(message)) => {
            let text = message.to_string();
            if !message.use_stderr() || text.lines().all(is_harmless) {
                message.print()?;
            } else {
                // The message quotes an argument with control characters or a workflow command.
                let mut output = Output::new(Verbosity::default());
                text.lines().for_each(|line| output.notice(line));
            }
            // For clap, `--help` and `--version` are errors that go to standard output.
            return Ok(if message.use_stderr() {
                ExitStatus::Unusable
            } else {
                ExitStatus::Done
            });
        }
        Err(Refusal::Sentence(verbosity, sentence)) => {
            Output::new(verbosity).error(&sentence);
            return Ok(ExitStatus::Unusable);
        }
    };
    let mut output = Output::new(request.verbosity);
    if let Some(settings) = &request.settings {
        output.notice(format_args!("settings: {}", name(settings)));
    }
    let status = ok_or_report(execute(&mut request.command, &mut output), &mut output)?;
    output.end()?;
    Ok(status.unwrap_or(ExitStatus::Unusable))
}

/// True if a line can be printed as it is.
fn is_harmless(line: &str) -> bool {
    let is_unchanged = |shown| matches!(shown, Cow::Borrowed(_));
    is_unchanged(visible(line)) && is_unchanged(without_workflow_command(line))
}

/// Carries out a command.
fn execute(command: &mut Command, output: &mut Output) -> FileResult<ExitStatus> {
    let (mut reads_standard_input, mut otherwise) = (false, "name a file");
    if let Some(documents) = command.documents() {
        files::check(documents)?;
        for sentence in dotless_hosts::check(documents)? {
            output.caution(sentence);
        }
        reads_standard_input = documents.paths.iter().any(|path| is_standard_input(path));
    } else if let Command::Resolve(Deferred(request)) = command {
        (reads_standard_input, otherwise) = (request.references.is_empty(), "give references");
    }
    if reads_standard_input && io::stdin().is_terminal() {
        let sentence = format!("reading from the terminal; end with Ctrl-D, or {otherwise}");
        output.notice(sentence);
    }
    Ok(match command {
        Command::Rewrite(Deferred(request)) => rewrite::run(&request.rewrite, output)?,
        Command::Links(Deferred(request)) => links::run(request, output)?,
        Command::Base(Deferred(request)) => base::run(request, output)?,
        Command::Resolve(Deferred(request)) => resolve::run(request, output)?,
        Command::Localize(Deferred(request)) => localize::run(request, output)?,
        Command::Move(Deferred(request)) => relocate::run(request, output)?,
        Command::Check(Deferred(request)) => check::run(request, output)?,
        Command::Completions { shell } => manual::print_completions(*shell, output)?,
        Command::Man { folder } => manual::write_pages(folder.as_deref(), output)?,
    })
}
