//! `baselink move`: a folder moves to another URL, and every link still leads to its target.
//!
//! ```text
//! $ baselink move --url http://old.example/ --to http://new.example/sub/ site -o moved
//! 3 files: 2 changed, 1 copied
//!   html  2 files, 5 links: 3 moved root-relative, 2 unchanged
//! ```
//!
//! All files are listed first: links need the file of each URL, and renames need the names in use.
//!
//! Deliberately absent: rewriting files ([`super::rewrite`]), and the new form of a link
//! (`baselink_cli::purpose::relocate`).

use std::sync::Arc;

use crate::collection::folder::path_of;
use crate::files::stage::StagedMove;
use crate::files::write::write_file;
use crate::purpose::relocate::{Relocation, redirects};
use baselink_text::error::{Error, Result, name};

use super::args::output::{Rewrite, WrittenTo};
use super::args::relocate::Move;
use super::collection;
use super::failure::FileResult;
use super::output::{Output, count};
use super::progress::{is_stopped, stop_between_files};
use super::rewrite::{RewriteKind, rewrite};
use super::status::ExitStatus;

/// Moves a folder.
pub(crate) fn run(request: &Move, output: &mut Output) -> FileResult<ExitStatus> {
    let Rewrite {
        documents,
        destination,
        ..
    } = &request.rewrite;
    let staged = match destination {
        WrittenTo::InPlace(how) => {
            stop_between_files(false)?;
            Some(StagedMove::begin(&documents.paths[0], how)?)
        }
        _ => None,
    };
    let relocation = Arc::new(relocation(request)?);
    let redirects = request.redirects.as_ref().map(|path| {
        let (list, without_redirect) = redirects(&relocation, path.file_name().unwrap_or_default());
        (
            path,
            list.len(),
            list.concat().into_bytes(),
            without_redirect,
        )
    });
    let kind = RewriteKind::Moved(
        Arc::clone(&relocation),
        staged.map(|staged| match &redirects {
            Some((path, _, text, _)) => staged.with(path, text.clone()),
            None => staged,
        }),
    );
    let status = rewrite(&request.rewrite, &kind, output)?;
    let is_written = match destination {
        WrittenTo::InPlace(_) => !matches!(status, ExitStatus::Unusable | ExitStatus::Stopped),
        WrittenTo::Path { .. } => !is_stopped(),
        _ => false,
    };
    if !is_written {
        return Ok(status);
    }
    if let Some((path, number, text, without_redirect)) = redirects {
        if matches!(destination, WrittenTo::Path { .. }) {
            write_file(path, |out| out.write_all(&text))?;
        }
        let redirects = count(number, "redirect", "redirects");
        output.notice(&format_args!("{redirects} written to {}", name(path)));
        if without_redirect > 0 {
            let paths = count(without_redirect, "old path has", "old paths have");
            let why = "another file has the path now, or the syntax cannot express the redirect";
            output.notice(&format_args!("{paths} no redirect: {why}"));
        }
    }
    if matches!(destination, WrittenTo::InPlace(_)) {
        report_remaining_folders(request, output);
    }
    Ok(status)
}

/// Reports renamed folders that were not removed, because they contain files that a move does not touch.
fn report_remaining_folders(request: &Move, output: &mut Output) {
    let root = &request.rewrite.documents.paths[0];
    let old = request.renames.iter().filter_map(|(old, _)| path_of(old));
    for folder in old.map(|old| root.join(old)).filter(|old| old.is_dir()) {
        let why =
            "not removed: it still contains files that move does not touch, such as hidden files";
        output.notice(&format_args!("{}: {why}", name(&folder)));
    }
}

/// Lists the files of the folder, applies the renames to the list, and returns the map from old to new URLs.
fn relocation(request: &Move) -> Result<Relocation> {
    let documents = &request.rewrite.documents;
    let selection = &documents.selection;
    let mut collection = collection::of_folder(documents, selection, |_| true, false)?;
    collection
        .rename(&request.renames)
        .map_err(|error| Error::new(format!("--rename: {error}")))?;
    if let Some(path) = &request.redirects
        && path.symlink_metadata().is_ok()
    {
        let why = "the file already exists; name a new file";
        return Err(Error::new(format!("--redirects: {}: {why}", name(path))));
    }
    let (from, to) = (request.from.clone(), request.to.clone());
    Ok(Relocation::new(
        Arc::new(collection),
        from,
        to,
        request.form(),
    ))
}
