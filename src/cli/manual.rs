//! Descriptions of the command line for shells and `man`: `baselink completions` and `baselink man`.
//!
//! ```text
//! $ baselink man man1
//! $ ls man1
//! baselink-base.1  baselink-check.1  …  baselink.1
//! ```
//!
//! A page has the text of `--help` in the sections of man-pages(7): arguments and options under their headings, then
//! the notes, examples and exit statuses.
//!
//! Deliberately absent: text of its own. Everything is generated from the arguments in clap.

use std::{
    fs,
    io::{self, Write},
    iter,
    path::Path,
};

use baselink_text::{Error, Result};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};

use super::{
    args::program,
    output::Output,
    status::{ExitStatus, FileResult},
};
use baselink_files::result_folder::ResultFolder;

/// Prints the script with which `shell` completes arguments.
pub fn print_completions(shell: Shell, output: &mut Output) -> io::Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program(), "baselink", &mut script);
    output.out().write_all(&script)?;
    Ok(ExitStatus::Done)
}

/// Prints the page of the program, or writes all pages to `folder`.
pub fn write_pages(folder: Option<&Path>, output: &mut Output) -> FileResult<ExitStatus> {
    let mut program = program().disable_help_subcommand(true);
    program.build();
    match folder {
        Some(folder) => write(&program, folder)?,
        None => output.out().write_all(&manual_page(&program, &program)?)?,
    }
    Ok(ExitStatus::Done)
}

/// Writes the page of each command to `folder`, which is created if it is missing.
fn write(program: &Command, folder: &Path) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::file(folder, "not a folder"));
    }
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    let out = ResultFolder::new(folder)?;
    for command in commands(program) {
        let path = format!("{}.1", display_name(command));
        let mut new = out.begin_new(Path::new(""), Path::new(&path))?;
        new.write(|out| out.write_all(&manual_page(program, command)?))?;
        new.commit()?;
    }
    Ok(())
}

/// The program and its commands.
fn commands(program: &Command) -> impl Iterator<Item = &Command> {
    iter::once(program).chain(program.get_subcommands())
}

/// The name of a command's page, such as `baselink-rewrite`.
fn display_name(command: &Command) -> &str {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
}

/// The manual page of a command of `program`.
fn manual_page(program: &Command, command: &Command) -> io::Result<Vec<u8>> {
    // A synopsis of all options would be unreadable.
    let usage = command
        .clone()
        .render_usage()
        .to_string()
        .trim_start_matches("Usage: ")
        .to_owned();
    // Arguments come first, as in `--help`.
    let is_shown = |is_positional: bool| {
        let usage = usage.clone();
        Man::new(command.clone().override_usage(usage).mut_args(move |one| {
            match (is_positional, one.is_positional()) {
                (true, true) => one.help_heading("Arguments"),
                (false, false) => one,
                _ => one.hide(true),
            }
        }))
    };
    let (arguments, options) = (is_shown(true), is_shown(false));
    let mut page = Vec::new();
    let (title, version) = (
        display_name(command).to_uppercase(),
        env!("CARGO_PKG_VERSION"),
    );
    writeln!(
        page,
        ".TH {title} 1 \"\" \"baselink {version}\" \"User Commands\""
    )?;
    options.render_name_section(&mut page)?;
    options.render_synopsis_section(&mut page)?;
    options.render_description_section(&mut page)?;
    if command.has_subcommands() {
        options.render_subcommands_section(&mut page)?;
    }
    if command.get_positionals().next().is_some() {
        arguments.render_options_section(&mut page)?;
    }
    options.render_options_section(&mut page)?;
    write_notes(
        &command
            .get_after_long_help()
            .or(command.get_after_help())
            .map(ToString::to_string)
            .unwrap_or_default(),
        &mut page,
    )?;
    write_see_also(program, display_name(command), &mut page)?;
    Ok(page)
}

/// Writes the end of `--help`, which has paragraphs, some of them with a heading.
fn write_notes(after: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::default();
    let mut is_begun = false;
    for paragraph in after
        .split("\n\n")
        .filter(|paragraph| !paragraph.is_empty())
    {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        match first.strip_suffix(':').filter(|_| rest.starts_with("  ")) {
            Some(heading) => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
                for line in rest.lines() {
                    roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
                }
                roff.control("fi", []);
                is_begun = true;
            }
            None => {
                if std::mem::replace(&mut is_begun, true) {
                    roff.control("PP", [])
                } else {
                    roff.control("SH", ["NOTES"])
                };
                roff.text([roman(paragraph)]);
            }
        }
    }
    roff.to_writer(page)
}

/// Writes the names of the pages other than `own`.
fn write_see_also(program: &Command, own: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let others: Vec<_> = commands(program)
        .map(display_name)
        .filter(|name| *name != own)
        .map(|name| format!("{name}(1)"))
        .collect();
    let mut roff = Roff::default();
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(others.join(", "))]);
    roff.to_writer(page)
}
