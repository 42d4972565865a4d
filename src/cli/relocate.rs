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

use baselink::collection::Collection;
use baselink::error::{Error, Result, name};
use baselink::files::write::Replacement;
use baselink::purpose::relocate::{Relocation, redirects};

use super::collection;
use super::output::{Output, count};
use super::progress::is_stopped;
use super::request::{Move, WrittenTo};
use super::rewrite::{Work, rewrite};
use super::status::ExitStatus;

/// The names of files that may name URLs of the site, and are not documents.
const OTHERS: [&str; 9] = [
    "robots.txt",
    "CNAME",
    "_headers",
    "_redirects",
    ".htaccess",
    "search_index.json",
    "searchindex.js",
    "security.txt",
    "llms.txt",
];

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
    say_others(relocation.collection(), output);
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

/// Names the files that may name old URLs and are not changed.
fn say_others(collection: &Collection, output: &mut Output) {
    let is_compressed = |path: &str| {
        let plain = [".gz", ".br", ".zst"].iter().find_map(|end| path.strip_suffix(end));
        plain.is_some_and(|plain| collection.number_at(plain.as_bytes()).is_some())
    };
    let is_other = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        OTHERS.contains(&name) || is_compressed(path)
    };
    let paths = (0..collection.count()).map(|number| collection.path(number));
    let paths = paths.filter_map(|path| str::from_utf8(path).ok());
    let others: Vec<_> = paths.filter(is_other).map(|path| name(Path::new(path))).collect();
    /// The number of files to name.
    const NAMED: usize = 10;
    if others.is_empty() {
        return;
    }
    let files = count(others.len(), "file is", "files are");
    let more = if others.len() > NAMED { ", …" } else { "" };
    let named = others.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    output
        .notice(&format_args!("{files} not rewritten and may still name old URLs: {named}{more}"));
}
