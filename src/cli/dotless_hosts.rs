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
    path::{Path, PathBuf},
};

use baselink_rewrite::{Retrieval, Source};
use baselink_text::{Error, Result, name};

use super::request::{Documents, folder_of};
use baselink_files::walk::TreeEntry;
use baselink_site::collection::origin::hosts::is_telling;

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

/// Rejects a change in place by `--layout` if no folder in an input folder is named like a host.
pub fn require_host(documents: &Documents) -> Result<()> {
    let has_layout = documents.reading.origins.layout.is_some();
    for path in documents.paths.iter().filter(|_| has_layout) {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir());
        let mut names = folders.map(|entry| entry.file_name()).peekable();
        if names.peek().is_some() && !names.any(|name| is_named_like_host(&name)) {
            let why = "--layout host expects folders that are named after hosts; name the folder above, or make a copy with -o";
            return Err(Error::file(path, why));
        }
    }
    Ok(())
}

/// True if a visible folder called `name` is named like a host.
fn is_named_like_host(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !name.starts_with('.') && is_telling(&name)
}

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
