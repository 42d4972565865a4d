//! `baselink localize`: an offline mirror of a folder, or of a saved page with its companion folder. Archives go to
//! `rewrite::extract::extract`.
//!
//! ```text
//! $ baselink localize --layout host --index index.html crawl -o mirror
//! 3 files: 2 changed, 1 with nothing to change
//!   css    1 file, 1 link: 1 local
//!   html  2 files, 4 links: 3 made local, 1 made absolute
//! ```
//!
//! All files are listed first, because links need the file of each URL. The head of a file is read only if it may
//! give the retrieval URL (RFC 1808, 3.3).
//!
//! Deliberately absent: rewriting files ([`super::rewrite`]), and the new form of a link
//! (`baselink_site::purpose::localize`).

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use baselink_text::{Error, Result, name};

use super::{
    args::localize::{Extraction, Localize},
    expected_url::report_expected_url,
    output::Output,
    request::{folder_of, is_standard_input},
    rewrite::{RewriteKind, extract::extract, rewrite},
    status::{ExitStatus, FileResult},
};
use baselink_files::{
    maildir,
    walk::{EntryKind, Selection, TreeEntry},
    write::NewContents,
};
use baselink_site::{collection::Collection, reading::collect};

/// Makes an offline mirror.
pub fn run(request: &Localize, output: &mut Output) -> FileResult<ExitStatus> {
    let documents = &request.rewrite.documents;
    if documents
        .paths
        .iter()
        .all(|path| path.metadata().is_ok_and(|found| found.is_file()))
    {
        let mut paths = documents.paths.iter();
        if documents.paths.len() > 1
            && let Some(path) = paths.find(|path| !documents.holds_resources(path))
        {
            let why = "not an archive; name only archives, or a page alone";
            return Err(Error::file(path, why).into());
        }
        check_list_of_missing(request)?;
        return extract(&request.rewrite, Some(&request.extraction), output);
    }
    require_one_folder(&documents.paths)?;
    reject_archive_options(&request.extraction)?;
    check_list_of_missing(request)?;
    let is_in_place = request.rewrite.planned_in_place().is_some();
    report_expected_url(documents, None, is_in_place, output)?;
    let mut collection = collection(request)?;
    if request.is_elsewhere() {
        collection.rename_for_mirror();
    }
    let kind = RewriteKind::Local {
        collection: Arc::new(collection),
        missing: request.extraction.missing.clone(),
        adapts: request.extraction.adapts,
    };
    rewrite(&request.rewrite, &kind, output)
}

/// Rejects options for archives.
fn reject_archive_options(extraction: &Extraction) -> Result<()> {
    if extraction.near.is_some() || extraction.is_exact {
        Err(Error::new(
            "--date and --exact apply only to archives; a folder has no captures",
        ))
    } else {
        Ok(())
    }
}

/// Rejects inputs other than one folder.
fn require_one_folder(paths: &[PathBuf]) -> Result<()> {
    let refused = |path: &Path, why: &str| Err(Error::new(format!("{}: {why}", name(path))));
    let (mut folders, mut file) = (Vec::new(), None);
    for path in paths {
        match path.metadata() {
            _ if is_standard_input(path) => {
                return refused(
                    path,
                    "localize cannot read standard input; name archives, or a folder",
                );
            }
            Ok(_) if maildir::is_maildir(path) => {
                return refused(
                    path,
                    "a Maildir; name one of its messages to make a folder of it",
                );
            }
            Ok(found) if found.is_dir() => folders.push(path),
            Ok(found) if found.is_file() => file = file.or(Some(path)),
            Ok(_) => return refused(path, "not a regular file; name archives, or a folder"),
            Err(error) => return Err(Error::io(path)(error)),
        }
    }
    match (file, &*folders) {
        (Some(file), _) => refused(
            file,
            "a file cannot be mixed with folders; name only archives, or one folder",
        ),
        (None, [_, second, ..]) => refused(
            second,
            "localize takes one folder; run it once for each folder",
        ),
        (None, _) => Ok(()),
    }
}

/// Rejects a list of missing URLs that cannot be written, or would be inside an input folder or the mirror.
fn check_list_of_missing(request: &Localize) -> Result<()> {
    let Some(list) = request
        .extraction
        .missing
        .as_deref()
        .filter(|path| !is_standard_input(path))
    else {
        return Ok(());
    };
    let real = |path: &Path| fs::canonicalize(path).ok();
    let around = real(folder_of(list));
    let is_within = |folder: &Path| {
        around
            .as_ref()
            .zip(real(folder))
            .is_some_and(|(list, folder)| list.starts_with(folder))
    };
    let mut folders = request
        .rewrite
        .documents
        .paths
        .iter()
        .map(PathBuf::as_path)
        .chain(request.rewrite.out());
    match folders.find(|folder| is_within(folder)) {
        Some(folder) => Err(Error::new(format!(
            "{}: --missing needs a file outside the folder {}, or it would become part of the mirror",
            name(list),
            name(folder)
        ))),
        None => NewContents::begin(list).map(drop),
    }
}

/// The files of the mirror.
fn collection(request: &Localize) -> Result<Collection> {
    let documents = &request.rewrite.documents;
    // In place, links may lead to all files. An output folder has only the selected files.
    let all = Selection {
        hidden: true,
        follow: documents.selection.follow,
        ..Selection::default()
    };
    let selection = if request.is_elsewhere() {
        &documents.selection
    } else {
        &all
    };
    let is_in_mirror = |entry: &TreeEntry| {
        matches!(entry.kind, EntryKind::File | EntryKind::Symlink) || !request.is_elsewhere()
    };
    let mut collection = collect(documents, selection, is_in_mirror)?;
    // A link to a symbolic link in the folder leads to the copy of its file.
    if request.is_elsewhere() {
        collection.without_links();
    }
    Ok(collection)
}
