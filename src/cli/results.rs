//! A run, and where its results go: standard output, a file, a folder, or the input files themselves. The path of
//! `--output` is checked against the inputs before anything is written.
//!
//! ```text
//! -o x.html, one document     -->  Results::File
//! -o x, a folder of documents -->  Results::Folder
//! ```
//!
//! Deliberately absent: writing files, which `baselink_files` does.

use std::{
    fs,
    path::{Path, PathBuf, is_separator},
    slice,
};

use baselink_text::{Error, Format, Result, cause, name, shell};

use super::{
    args::output::Rewrite,
    output::{Output, count},
    request::{Documents, folder_of},
};
use baselink_files::{
    maildir,
    result_folder::ResultFolder,
    results::Results,
    walk::{Selection, TreeEntry, walk},
    write::is_one_file,
};
use baselink_site::{
    collection::folder::{name_of, path_of},
    purpose::rewriting::RewriteKind,
};

/// A run over the files of a request.
#[derive(Clone, Copy)]
pub struct RewriteRun<'r> {
    pub request: &'r Rewrite,
    /// The kind, which decides the new links.
    pub kind: &'r RewriteKind,
    pub results: &'r Results<'r>,
}

/// Opens where the results of a request go, and checks it against the inputs.
pub fn open<'a>(request: &'a Rewrite, kind: &'a RewriteKind) -> Result<Results<'a>> {
    let (documents, in_place) = (&request.documents, request.in_place());
    let folder = documents.roots().find(|root| root.is_dir());
    if request.is_printed() {
        let Some(folder) = folder else {
            return Ok(Results::Writer);
        };
        let named = documents.parts.first().map_or(folder, PathBuf::as_path);
        let why = "the result is a folder, which cannot be written to standard output; name it with -o, \
                   such as -o result, or use --in-place; preview with --diff or --dry-run";
        return Err(Error::file(named, why));
    }
    if let Some(how) = in_place {
        require_inputs(documents, true)?;
        if how.backup.is_some() {
            reject_maildir(documents)?;
        }
        return Ok(match kind {
            RewriteKind::Moved(_, Some(staged)) => Results::Staged(staged),
            _ if request.changes.diff => Results::Nowhere,
            _ if request.is_preview() => Results::Checked(how),
            _ => Results::InPlace(how),
        });
    }
    let Some(path) = request.planned_out() else {
        return Ok(Results::Nowhere);
    };
    require_inputs(documents, false)?;
    require_other(documents, path)?;
    let preserve_times = request.preserve_times;
    if request.is_preview() {
        let mut folders = documents.roots().filter(|root| root.is_dir());
        folders.try_for_each(|root| open_folder(path)?.require_apart(root, ""))?;
        return Ok(Results::Nowhere);
    }
    if documents.paths.len() == 1 && folder.is_none() && !is_folder(path) {
        return Ok(Results::File {
            path,
            preserve_times,
        });
    }
    let mut folder = folder_for(path, documents)?;
    folder.preserve_times = preserve_times;
    Ok(Results::Folder(folder))
}

/// Rejects an output file that is an input.
pub fn require_other(documents: &Documents, path: &Path) -> Result<()> {
    let parts = documents.parts.iter().map(PathBuf::as_path);
    let inputs = documents.roots().chain(parts);
    let mut files = inputs.filter(|input| input.is_file());
    let Some(input) = files.find(|file| is_one_file(file, path)) else {
        return Ok(());
    };
    let input = if input == path {
        "itself".to_owned()
    } else {
        name(input)
    };
    let why = format!("the output file is the input {input}; name another, or use --in-place");
    Err(Error::file(path, &why))
}

/// True if `path` names a folder, which may not exist yet.
pub fn is_folder(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    path.is_dir() || last.is_some_and(|&byte| is_separator(char::from(byte)))
}

/// Opens the output folder `out`. A new one that is named like a document may be meant as a file.
pub fn open_folder(out: &Path) -> Result<ResultFolder> {
    let typed = out.to_string_lossy();
    if Format::detect(Some(&typed), b"").is_read() && !out.exists() {
        let why = "the result is a folder, not a file; name it without an ending, such as -o result, or with a final /";
        return Err(Error::file(out, why));
    }
    ResultFolder::new(out)
}

/// Opens the output folder `out` for the results of `documents`.
pub fn folder_for(out: &Path, documents: &Documents) -> Result<ResultFolder> {
    let selection = &documents.selection;
    let otherwise = if documents.has_result_files || selection.follow {
        ""
    } else {
        ", or use --in-place"
    };
    let roots: Vec<_> = documents.roots().collect();
    open_folder(out)?.of_inputs(&roots, &documents.parts, selection, otherwise)
}

/// The new path of `entry` below its root, if `kind` renames files.
pub fn new_path(kind: &RewriteKind, entry: &TreeEntry) -> Option<PathBuf> {
    let (collection, name) = (kind.renamed()?, name_of(entry));
    match collection.number_at(&name) {
        Some(number) => path_of(collection.path_in_mirror(number)),
        None => path_of(&collection.renamed_with_folder(&name)?),
    }
}

/// Rejects a run with a missing input before anything is written. The missing input may be a backup suffix, typed as
/// for sed.
fn require_inputs(documents: &Documents, is_in_place: bool) -> Result<()> {
    for root in documents.roots() {
        let Err(error) = fs::metadata(root) else {
            continue;
        };
        let missing = format!("{}: {}, so nothing was written", name(root), cause(&error));
        let is_suffix =
            root.as_os_str().as_encoded_bytes().starts_with(b".") && root.components().count() == 1;
        return Err(if is_in_place && is_suffix {
            Error::new(format!(
                "{missing}; to keep backups, use -i --backup {}",
                shell::word(&root.to_string_lossy())
            ))
        } else if is_in_place && root.as_os_str() == "break-links" {
            Error::new(missing + "; did you mean --in-place=break-links?")
        } else {
            Error::system(missing, error)
        });
    }
    Ok(())
}

/// Rejects backups in a Maildir before anything is written.
fn reject_maildir(documents: &Documents) -> Result<()> {
    let mut files = walk(&documents.paths, &documents.selection).flatten();
    match files.find(|entry| maildir::is_message(&entry.path)) {
        Some(entry) => Err(Error::file(
            folder_of(folder_of(&entry.path)),
            "in a Maildir a backup would be another message; omit --backup, or use -o DIR",
        )),
        None => Ok(()),
    }
}

/// Reports the files that `folder` had and that this run did not write.
pub fn report_others(folder: &ResultFolder, output: &mut Output) {
    if !folder.had_files {
        return;
    }
    let selection = Selection::default();
    let found = walk(slice::from_ref(&folder.out), &selection).flatten();
    let others = found.filter(|entry| !folder.has_written(&entry.path));
    let mut others: Vec<_> = others.map(|entry| name_of(&entry)).collect();
    others.sort_unstable();
    let (files, out) = (count(others.len(), "file", "files"), name(&folder.out));
    let sentence = format!("{out} also contains {files} that this run did not write");
    output.notice_of_paths(&sentence, &others);
}
