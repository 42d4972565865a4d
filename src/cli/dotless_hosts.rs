//! Folders that `--layout host` takes for hosts although their names have no dot. The user may have named the folder
//! of a single host instead of the folder above it.
//!
//! ```text
//! $ baselink links --layout host crawl/www.example.net
//! warning: --layout host takes 2 folders for hosts whose names have no dot, such as 'docs' in crawl/www.example.net;
//! if that folder belongs to one host, name the folder above it: crawl
//! ```
//!
//! Deliberately absent: folders without documents, such as the cache of HTTrack.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use baselink_rewrite::{Retrieval, Source};
use baselink_text::{Error, Result, name};

use super::request::{Documents, folder_of};
use baselink_files::walk::{TreeEntry, walk};
use baselink_site::collection::{
    is_page_name,
    origin::{FolderLayout, hosts::is_telling},
};

/// The top-level folder of `entry` if `--layout` takes it for a host although its name does not look like one. `seen` is
/// the entry relative to the folder of all hosts.
pub fn of<'e>(
    entry: &'e TreeEntry,
    seen: &TreeEntry,
    retrieval: Option<&Retrieval>,
) -> Option<&'e Path> {
    let host = seen.relative.first()?;
    let is_taken = retrieval.is_some_and(|one| one.source == Source::Layout)
        && !host.to_str().is_none_or(is_telling);
    let mut above = entry.path.ancestors();
    above.nth(seen.relative.len() - 1).filter(|_| is_taken)
}

/// Compares the folders in the named folders with `--layout`. Without a layout or a URL, sets the layout if HTTrack's comments prove
/// it. Returns a sentence about it, and about each folder in which other marks show that a crawler named folders after hosts.
///
/// # Errors
///
/// `--layout host` is given, and none of the folders is named after a host, but one has only such folders.
pub fn check(documents: &mut Documents) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    let origins = &documents.reading.origins;
    let is_open = origins.given_root().is_none() && origins.map.is_none();
    let mut is_proved = false;
    for path in documents.roots() {
        let folders = folders_in(path);
        let has_host = folders.iter().any(|folder| is_host(folder));
        if origins.layout.is_none() {
            if !(is_open && has_host && has_only_hosts(path)) {
                continue;
            }
            is_proved = documents.paths.len() == 1 && has_comment(path, documents);
            let what = if is_proved {
                "HTTrack wrote a folder for each host, so its URLs are those of"
            } else if has_marks(path, documents) {
                "its folders are named after hosts, as a crawler names them; read it with"
            } else {
                continue;
            };
            sentences.push(format!("{}: {what} --layout host", name(path)));
        } else if let Some(below) = folders.iter().find(|it| !has_host && has_only_hosts(it)) {
            let why = format!(
                "--layout host expects folders that are named after hosts; they are in {}",
                name(below)
            );
            return Err(Error::file(path, why.as_str()));
        }
    }
    if is_proved {
        documents.reading.origins.set_layout(FolderLayout::Host);
    }
    Ok(sentences)
}

/// True if one of the first pages in `path` has the comment of HTTrack with the host that its folder names.
fn has_comment(path: &Path, documents: &Documents) -> bool {
    /// The number of pages that are read.
    const PAGES: usize = 100;
    /// The number of bytes that are read of each.
    const HEAD: u64 = 4_096;
    let is_page = |entry: &TreeEntry| is_page_name(entry.path.as_os_str().as_encoded_bytes());
    let is_proof = |entry: TreeEntry| {
        let mut head = Vec::new();
        if let Ok((file, _)) = entry.open(documents.selection.follow) {
            // Bytes before an error may contain the comment.
            let _ = file.take(HEAD).read_to_end(&mut head);
        }
        let host = entry
            .relative
            .first()
            .map(|host| host.to_string_lossy().replace('_', ":"));
        let host = host.unwrap_or_default();
        // HTTrack 3.49 writes no scheme.
        ["", "http://", "https://"].iter().any(|scheme| {
            let comment = format!("<!-- Mirrored from {scheme}{host}/");
            memchr::memmem::find(&head, comment.as_bytes()).is_some()
        })
    };
    let entries = walk(&[path.to_owned()], &documents.selection).flatten();
    entries.filter(is_page).take(PAGES).any(is_proof)
}

/// Rejects a change in place by `--layout` if no folder in an input folder is named like a host.
pub fn require_host(documents: &Documents) -> Result<()> {
    let has_layout = documents.reading.origins.layout.is_some();
    for path in documents.paths.iter().filter(|_| has_layout) {
        let folders = folders_in(path);
        if !folders.is_empty() && !folders.iter().any(|folder| is_host(folder)) {
            let why = "--layout host expects folders that are named after hosts; name the folder above, or make a copy with -o";
            return Err(Error::file(path, why));
        }
    }
    Ok(())
}

/// The visible folders in `path`, without HTTrack's cache.
fn folders_in(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let is_shown = |name: &OsStr| !name.to_string_lossy().starts_with('.') && name != CACHE;
    let shown = entries.filter(|entry| is_shown(&entry.file_name()));
    shown
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

/// True if there are folders in `path`, and all are named after hosts.
fn has_only_hosts(path: &Path) -> bool {
    let folders = folders_in(path);
    !folders.is_empty() && folders.iter().all(|folder| is_host(folder))
}

/// True if `folder` is named like a host.
fn is_host(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    is_telling(&name.to_string_lossy())
}

/// True if HTTrack left its cache or log in `path`, or a file has a name that wget gives: with a query, or for the original of a
/// page.
fn has_marks(path: &Path, documents: &Documents) -> bool {
    let is_of_wget = |entry: TreeEntry| {
        let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
        name.contains('?') || name.ends_with(".orig")
    };
    let mut entries = walk(&[path.to_owned()], &documents.selection).flatten();
    let mut logs = [CACHE, "hts-log.txt"].iter();
    logs.any(|name| path.join(name).exists()) || entries.any(is_of_wget)
}

/// The folder of HTTrack's cache.
const CACHE: &str = "hts-cache";

/// The warning about these folders; `None` if there are none.
pub fn warning(folders: &BTreeSet<PathBuf>) -> Option<String> {
    let first = folders.first()?;
    let which = match folders.len() {
        1 => "1 folder for a host whose name has no dot:".to_owned(),
        number => format!("{number} folders for hosts whose names have no dot, such as"),
    };
    let hosts = folder_of(first);
    let around: PathBuf = match hosts.file_name() {
        Some(_) => folder_of(hosts).to_owned(),
        None => hosts.strip_prefix(".").unwrap_or(hosts).join(".."),
    };
    Some(format!(
        "--layout host takes {which} '{}' in {}; if that folder belongs to one host, name the folder above it: {}",
        name(Path::new(first.file_name().unwrap_or_default())),
        name(hosts),
        name(&around)
    ))
}
