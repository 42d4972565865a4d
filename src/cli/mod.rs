//! The command line: `args` makes a `request` of what was typed, a file for each command does it,
//! `output` prints. The program calls it, and the command of the Python package.
//!
//! ```text
//! what was typed --args--> Command --rewrite, links, base, resolve, check, …--> output, exit status
//! ```
//!
//! A function here returns an [`io::Error`] only when standard output cannot be written to. Whatever is wrong with a file or an
//! argument is printed where it is found and becomes an `ExitStatus`, or it ends the command (`failure`).
//!
//! Deliberately absent: anything that a program could not do with the library.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal};

use baselink::error::{cause, name, visible};

use self::args::Refusal;
use self::failure::FileResult;
use self::output::{Output, said};
use self::request::{Command, Talk};
use self::status::ExitStatus;

mod advice;
mod archive;
mod archived;
mod args;
mod base;
mod captures;
mod check;
mod closed;
mod collection;
mod diff;
mod document_name;
mod failure;
mod files;
mod foreign;
mod hint;
mod in_order;
mod input;
mod json;
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
mod tally;
mod unlike_hosts;

pub use self::closed::IS_STDOUT_CLOSED;

/// Checks, for the fuzz target `settings`, that any bytes are settings or give an error of one visible line.
#[cfg(fuzzing)]
pub fn hold_settings(bytes: &[u8]) {
    if let Err(error) = settings::Settings::parse(bytes, std::path::Path::new("b.toml"), &[]) {
        let said = error.to_string();
        let is_shown = |one: char| !one.is_control() && one != '\u{202e}';
        assert!(said.starts_with("b.toml:") && said.chars().all(is_shown), "{said:?}");
    }
}

/// Does what `typed`, the program's name first, asks for. Returns the exit status.
pub fn run(typed: Vec<OsString>) -> u8 {
    let status = match printed(typed) {
        Ok(status) => status,
        // Whoever reads standard output has had enough of it.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitStatus::Done,
        Err(error) => cannot_print(&error),
    };
    status as u8
}

fn printed(typed: Vec<OsString>) -> io::Result<ExitStatus> {
    let asked = match args::parse(typed) {
        Ok(asked) => asked,
        Err(Refusal::Clap(message)) => {
            let text = message.to_string();
            if !message.use_stderr() {
                closed::refuse()?;
                message.print()?;
            } else if text.lines().all(|line| matches!(visible(line), Cow::Borrowed(_))) {
                message.print()?;
            } else {
                // A word that was typed may come from elsewhere, the name of a file for one.
                let mut output = Output::new(Talk::default());
                text.lines().for_each(|line| output.notice(&line));
            }
            // `--help` and `--version` come this way, too.
            return Ok(if message.use_stderr() { ExitStatus::Unusable } else { ExitStatus::Done });
        }
        Err(Refusal::Sentence(talk, sentence)) => {
            Output::new(talk).error(&sentence);
            return Ok(ExitStatus::Unusable);
        }
    };
    let mut output = Output::new(asked.talk);
    if let Some(settings) = &asked.settings {
        output.notice(&format_args!("settings: {}", name(settings)));
    }
    let status = said(done(&asked.command, &mut output), &mut output)?;
    output.end()?;
    Ok(status.unwrap_or(ExitStatus::Unusable))
}

/// Does what was asked for.
fn done(command: &Command, output: &mut Output) -> FileResult<ExitStatus> {
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
        Command::Rewrite(asked) => rewrite::run(asked, output)?,
        Command::Links(asked) => links::run(asked, output)?,
        Command::Base(asked) => base::run(asked, output)?,
        Command::Resolve(asked) => resolve::run(asked, output)?,
        Command::Localize(asked) => localize::run(asked, output)?,
        Command::Move(asked) => relocate::run(asked, output)?,
        Command::Check(asked) => check::run(asked, output)?,
        Command::Completions(shell) => manual::completions(*shell, output)?,
        Command::Man(folder) => manual::pages(folder.as_deref(), output)?,
    })
}

/// Says that standard output cannot be written to.
fn cannot_print(error: &io::Error) -> ExitStatus {
    let sentence = format!("standard output cannot be written to: {}", cause(error));
    Output::new(Talk::default()).error(&sentence);
    ExitStatus::Unusable
}
