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
    path::{Path, PathBuf},
};

use baselink_text::{Error, Result, count, name};

use super::request::{Documents, folder_of};
use baselink_site::reading::hosts::{
    COMMENT, first_named, folders_in, has_marks, has_only_hosts, is_host,
};

/// Compares the folders in the named folders with `--layout`. Without a layout or a URL, sets the layout if HTTrack's comments prove
/// it. Returns a sentence about it, and about each folder in which other marks show that a crawler named folders after hosts.
///
/// # Errors
///
/// `--layout host` is given, and none of the folders is named after a host, but one has only such folders.
pub fn check(documents: &mut Documents) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    let origins = &documents.reading.origins;
    let is_open =
        origins.given_root().is_none() && origins.map.is_none() && origins.host_folders.is_empty();
    let mut is_proved = false;
    for path in documents.roots() {
        let folders = folders_in(path);
        let has_host = folders.iter().any(|folder| is_host(folder));
        if !origins.has_hosts {
            if !(is_open && has_host && has_only_hosts(path)) {
                continue;
            }
            let selection = &documents.selection;
            let is_of_httrack = |it: &PathBuf| first_named(it, COMMENT, selection).is_some();
            is_proved = documents.paths.len() == 1 && folders.iter().any(is_of_httrack);
            let what = if is_proved {
                "HTTrack wrote a folder for each host, so its URLs are those of"
            } else if has_marks(path, &documents.selection) {
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
        documents.reading.origins.set_hosts();
    }
    Ok(sentences)
}

/// Rejects a change in place by `--layout` if no folder in an input folder is named like a host.
pub fn require_host(documents: &Documents) -> Result<()> {
    let has_hosts = documents.reading.origins.has_hosts;
    for path in documents.paths.iter().filter(|_| has_hosts) {
        let folders = folders_in(path);
        if !folders.is_empty() && !folders.iter().any(|folder| is_host(folder)) {
            let why = "--layout host expects folders that are named after hosts; name the folder above, or make a copy with -o";
            return Err(Error::file(path, why));
        }
    }
    Ok(())
}

/// The warning about these folders; `None` if there are none.
pub fn warning(folders: &BTreeSet<PathBuf>) -> Option<String> {
    let first = folders.first()?;
    let which = count(
        folders.len(),
        "folder for a host whose name has no dot:",
        "folders for hosts whose names have no dot, such as",
    );
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
