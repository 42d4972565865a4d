//! `baselink move`: a folder at another place, with every link meaning what it meant.
//!
//! ```text
//! $ baselink move --url http://old.example/ --to http://new.example/sub/ site -o moved
//! 3 files: 2 changed, 1 copied
//!   html  2 files, 5 links: 3 moved root-relative, 2 unchanged
//! ```
//!
//! The files are looked at first, so that it is known which of them a URL means and which names are free.
//!
//! Deliberately absent: how a file is rewritten ([`super::rewrite`]), and what is written in the place of a link, which
//! `baselink::purpose::relocate` knows.

use std::env;
use std::io;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use baselink::collection::folder::path_of;
use baselink::error::{Error, Result, name, visible};
use baselink::files::journal::{AskedChange, Journal, JournalStart};
use baselink::files::write::{InPlace, Replacement};
use baselink::purpose::relocate::{Relocation, redirects};

use super::collection;
use super::failure::{Failure, FileResult};
use super::output::{Output, count};
use super::progress::is_stopped;
use super::request::{Move, Rewrite, WrittenTo};
use super::rewrite::{Work, rewrite};
use super::shell;
use super::status::ExitStatus;

/// Makes the move that was asked for.
pub(crate) fn run(asked: &Move, output: &mut Output) -> io::Result<ExitStatus> {
    let done = moved(asked, output);
    Ok(Failure::nested(done)?.unwrap_or_else(|error| {
        output.error(&error);
        ExitStatus::Unusable
    }))
}

fn moved(asked: &Move, output: &mut Output) -> FileResult<ExitStatus> {
    let Rewrite { documents, destination, .. } = &asked.rewrite;
    let folder = &documents.paths[0];
    let journal = match destination {
        WrittenTo::InPlace(how) => match begin(asked, how)? {
            JournalStart::New(journal) => Some(journal),
            JournalStart::Finished(remarks) => return Ok(say_finished(folder, &remarks, output)),
            JournalStart::Other(command) => {
                let command = visible(&command);
                let why = format!("another move of it was stopped; complete that first: {command}");
                return Err(Error::file(folder, &why).into());
            }
        },
        _ if Journal::is_left(folder) => {
            let why = "an earlier move with --in-place was stopped; give that command again first";
            return Err(Error::file(folder, why).into());
        }
        _ => None,
    };
    let relocation = Arc::new(relocation(asked)?);
    let redirects = asked.redirects.as_ref().map(|path| {
        let (list, left) = redirects(&relocation, path.file_name().unwrap_or_default());
        (path, list.len(), list.concat().into_bytes(), left)
    });
    let with = |journal: Journal| match &redirects {
        Some((.., text, _)) => journal.with(text.clone()),
        None => journal,
    };
    let work = Work::Moved(Arc::clone(&relocation), journal.map(with));
    let status = rewrite(&asked.rewrite, &work, output)?;
    let is_written = match destination {
        WrittenTo::InPlace(_) => !matches!(status, ExitStatus::Unusable | ExitStatus::Stopped),
        WrittenTo::Path { .. } => !is_stopped(),
        _ => false,
    };
    if !is_written {
        return Ok(status);
    }
    if let Some((path, number, text, left)) = redirects {
        if matches!(destination, WrittenTo::Path { .. }) {
            let mut file = Replacement::begin(path)?;
            file.write(|out| out.write_all(&text))?;
            file.commit()?;
        }
        let redirects = count(number, "redirect", "redirects");
        output.notice(&format_args!("{redirects} written to {}", name(path)));
        if left > 0 {
            let paths = count(left, "old path belongs", "old paths belong");
            output.notice(&format_args!("{paths} to another file now and got no redirect"));
        }
    }
    if matches!(destination, WrittenTo::InPlace(_)) {
        say_left_folders(asked, output);
    }
    Ok(status)
}

/// Begins to move a folder in place, or completes what an earlier run began.
fn begin(asked: &Move, how: &InPlace) -> Result<JournalStart> {
    let Move { from, to, form, renames, redirects, .. } = asked;
    let meaning = format!("{from:?} {to:?} {form:?} {renames:?} {redirects:?}");
    let typed =
        env::args_os().skip(1).map(|word| shell::word(&word.to_string_lossy()).into_owned());
    let command = iter::once("baselink".to_owned()).chain(typed).collect::<Vec<_>>().join(" ");
    let change = AskedChange { meaning: &meaning, command: &command, beside: redirects.as_deref() };
    Journal::begin(&asked.rewrite.documents.paths[0], how, &change)
}

/// Says that the move that an earlier run had begun is complete.
fn say_finished(folder: &Path, remarks: &[String], output: &mut Output) -> ExitStatus {
    remarks.iter().for_each(|remark| output.error(remark));
    let what = "the move that an earlier run had begun is complete, and nothing else was done";
    output.notice(&format_args!("{}: {what}", name(folder)));
    if remarks.is_empty() { ExitStatus::Done } else { ExitStatus::NotHeld }
}

/// Names renamed folders that still hold what a move does not read.
fn say_left_folders(asked: &Move, output: &mut Output) {
    let root = &asked.rewrite.documents.paths[0];
    let old = asked.renames.iter().filter_map(|(old, _)| path_of(old));
    for folder in old.map(|old| root.join(old)).filter(|old| old.is_dir()) {
        let why = "still holds files or folders that a move leaves, such as hidden files";
        output.notice(&format_args!("{}: {why}", name(&folder)));
    }
}

/// The map of URLs, with the files of the folder.
fn relocation(asked: &Move) -> Result<Relocation> {
    let documents = &asked.rewrite.documents;
    let selection = &documents.selection;
    let mut collection = collection::of_folder(documents, selection, |_| true, false)?;
    collection.rename(&asked.renames).map_err(|error| Error::new(format!("--rename: {error}")))?;
    if let Some(path) = &asked.redirects
        && path.symlink_metadata().is_ok()
    {
        let why = "it is there already, and redirects are not added to it; name a new file";
        return Err(Error::new(format!("--redirects: {}: {why}", name(path))));
    }
    let (from, to) = (asked.from.clone(), asked.to.clone());
    Ok(Relocation::new(Arc::new(collection), from, to, asked.form))
}
