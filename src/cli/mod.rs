//! The command line: [`args`] says what was asked for, a file for each command does it, [`output`]
//! prints.
//!
//! ```text
//! what was typed --args--> Command --rewrite, links, base, resolve, check, …--> output, exit status
//! ```
//!
//! A function here returns an [`io::Error`] only when standard output cannot be written to; whatever
//! is wrong with a file or an argument is printed where it is found and becomes a [`Status`].
//!
//! Deliberately absent: anything that a program could not do with the library.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use baselink::error::{Result, cause, name};

use self::args::{Command, Documents, Refusal};
use self::files::{Found, Origin};
use self::input::{File, Opened};
use self::output::Output;

mod args;
mod base;
mod check;
mod closed;
mod diff;
mod files;
mod foreign;
mod hint;
mod input;
mod links;
mod localize;
mod manual;
mod output;
mod places;
mod progress;
mod record;
mod resolve;
mod rewrite;
mod settings;
mod shell;

/// How a command ended; the worse one is the greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Status {
    /// Done.
    Done = 0,
    /// What was asked for does not hold.
    NotHeld = 1,
    /// A file or an argument could not be used.
    Unusable = 2,
    /// It was stopped, by Ctrl-C or a signal; as shells say it, 128 and the number of the signal.
    Stopped = 130,
}

/// Does what `typed`, the program's name first, asks for.
pub(crate) fn run(typed: impl IntoIterator<Item = OsString>) -> io::Result<Status> {
    let asked = match args::parse(typed) {
        Ok(asked) => asked,
        Err(Refusal::Clap(message)) => {
            if !message.use_stderr() {
                closed::refuse()?;
            }
            message.print()?;
            // `--help` and `--version` come this way, too.
            return Ok(if message.use_stderr() { Status::Unusable } else { Status::Done });
        }
        Err(Refusal::Sentence(talk, sentence)) => {
            Output::new(talk).error(&sentence);
            return Ok(Status::Unusable);
        }
    };
    let mut output = Output::new(asked.talk);
    if let Some(settings) = &asked.settings {
        Output::new(output::Talk { quiet: false, ..asked.talk })
            .notice(&format_args!("settings: {}", name(settings)));
    }
    if let Some(Err(error)) = asked.command.reads().map(files::check) {
        output.error(&error);
        return Ok(Status::Unusable);
    }
    if asked.command.reads_standard_input() && io::stdin().is_terminal() {
        let otherwise = match asked.command.reads() {
            Some(_) => "name a file",
            None => "give references",
        };
        let sentence = format_args!("reading from the terminal; end with Ctrl-D, or {otherwise}");
        output.notice(&sentence);
    }
    let status = match &asked.command {
        Command::Rewrite(asked) => rewrite::run(asked, &mut output),
        Command::Links(asked) => links::run(asked, &mut output),
        Command::Base(asked) => base::run(asked, &mut output),
        Command::Resolve(asked) => resolve::run(asked, &mut output),
        Command::Localize(asked) => localize::run(asked, &mut output),
        Command::Check(asked) => check::run(asked, &mut output),
        Command::Completions(shell) => manual::completions(*shell, &mut output),
        Command::Man(folder) => manual::pages(folder.as_deref(), &mut output),
    }?;
    output.end()?;
    Ok(status)
}

/// What becomes of a status when a file could not be read to its end.
fn after(read: Result<()>, status: Status, output: &mut Output) -> Status {
    match read {
        Ok(()) => status,
        Err(error) => {
            output.error(&error);
            Status::Unusable
        }
    }
}

/// Says that standard output cannot be written to.
pub(crate) fn cannot_print(error: &io::Error) -> Status {
    let sentence = format!("standard output cannot be written to: {}", cause(error));
    Output::new(output::Talk::default()).error(&sentence);
    Status::Unusable
}

/// What became of a file that was only to be read.
enum Became<T> {
    /// This.
    Done(T),
    NoDocument,
    /// A symbolic link, which was left out.
    Link,
    /// Why has been said.
    Unusable,
}

/// Opens what `origin` names, and does `work` with it, if it is a document; the status of that, and what
/// it gave. Where it is none and was only found, that is no failure.
fn each_document<T>(
    origin: &Origin,
    documents: &Documents,
    output: &mut Output,
    work: impl FnOnce(File<'_>, &mut Output) -> io::Result<(Status, T)>,
) -> io::Result<(Status, Became<T>)> {
    let opened = match files::found(origin) {
        Ok(Found::Link) => return Ok((Status::Done, Became::Link)),
        Ok(Found::Folder | Found::Temporary) => return Ok((Status::Done, Became::NoDocument)),
        Ok(Found::File) => File::open(origin, documents, None),
        Err(failure) => Err(failure),
    };
    let failure = match opened {
        Ok(Opened::Document(file)) => {
            output.passed_over(&file.passed_over);
            let (status, done) = work(file, output)?;
            return Ok((status, Became::Done(done)));
        }
        Ok(Opened::NoDocument(none)) if origin.is_named() => none.error(origin.path()),
        Ok(Opened::NoDocument(none)) => {
            output.no_document(none.remark());
            return Ok((Status::Done, Became::NoDocument));
        }
        Err(failure) => failure,
    };
    output.error(&failure);
    Ok((Status::Unusable, Became::Unusable))
}
