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

use std::io;
use std::path::Path;
use std::sync::Arc;

use baselink::error::{Error, Result, name};
use baselink::files::write::Replacement;
use baselink::purpose::relocate::{Relocation, redirects};

use super::collection;
use super::output::{Output, count};
use super::progress::is_stopped;
use super::request::{Move, WrittenTo};
use super::rewrite::{Work, rewrite};
use super::status::ExitStatus;

/// Makes the move that was asked for.
pub(crate) fn run(asked: &Move, output: &mut Output) -> io::Result<ExitStatus> {
    let relocation = match relocation(asked) {
        Ok(relocation) => Arc::new(relocation),
        Err(error) => {
            output.error(&error);
            return Ok(ExitStatus::Unusable);
        }
    };
    let work = Work::Moved(Arc::clone(&relocation));
    let mut status = rewrite(&asked.rewrite, &work, output)?;
    let is_written = matches!(asked.rewrite.destination, WrittenTo::Path { .. });
    if let Some(path) = asked.redirects.as_deref().filter(|_| is_written && !is_stopped())
        && let Err(error) = write_redirects(path, &relocation, output)
    {
        output.error(&error);
        status = ExitStatus::Unusable;
    }
    Ok(status)
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

/// Writes the redirects of renamed files.
fn write_redirects(path: &Path, relocation: &Relocation, output: &mut Output) -> Result<()> {
    let (list, left) = redirects(relocation, path.file_name().unwrap_or_default());
    let mut file = Replacement::begin(path)?;
    file.write(|out| out.write_all(list.concat().as_bytes()))?;
    file.commit()?;
    let redirects = count(list.len(), "redirect", "redirects");
    output.notice(&format_args!("{redirects} written to {}", name(path)));
    if left > 0 {
        let paths = count(left, "old path belongs", "old paths belong");
        output.notice(&format_args!("{paths} to another file now and got no redirect"));
    }
    Ok(())
}
