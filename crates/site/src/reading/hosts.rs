//! Folders that are named after hosts, as crawlers name them.
//!
//! ```
//! use baselink_site::reading::hosts::is_host;
//! assert!(is_host("crawl/www.example.net".as_ref()));
//! assert!(!is_host("crawl/docs".as_ref()));
//! ```
//!
//! Deliberately absent: folders without documents, such as the cache of HTTrack.

use std::{
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
};

use baselink_files::{
    entries_in,
    walk::{Selection, TreeEntry, walk},
};
use baselink_rewrite::{Retrieval, Source};

use crate::collection::{is_page_name, origin::hosts::is_telling};

/// The top-level folder of `entry` if `--layout` takes it for a host although its name does not look like one. `seen` is
/// the entry relative to the folder of all hosts.
pub fn without_dot<'e>(
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

/// True if one of the first pages in `path` has the comment of HTTrack with the host that its folder names.
pub fn has_comment(path: &Path, selection: &Selection) -> bool {
    /// The number of pages that are read.
    const PAGES: usize = 100;
    /// The number of bytes that are read of each.
    const HEAD: u64 = 4_096;
    let is_page = |entry: &TreeEntry| is_page_name(entry.path.as_os_str().as_encoded_bytes());
    let is_proof = |entry: TreeEntry| {
        let mut head = Vec::new();
        if let Ok((file, _)) = entry.open(selection.follow) {
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
    let entries = walk(&[path.to_owned()], selection).flatten();
    entries.filter(is_page).take(PAGES).any(is_proof)
}

/// The visible folders in `path`, without HTTrack's cache.
pub fn folders_in(path: &Path) -> Vec<PathBuf> {
    let is_shown = |name: &OsStr| !name.to_string_lossy().starts_with('.') && name != CACHE;
    let shown = entries_in(path).filter(|entry| is_shown(&entry.file_name()));
    shown
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

/// True if there are folders in `path`, and all are named after hosts.
pub fn has_only_hosts(path: &Path) -> bool {
    let folders = folders_in(path);
    !folders.is_empty() && folders.iter().all(|folder| is_host(folder))
}

/// True if `folder` is named like a host.
pub fn is_host(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    is_telling(&name.to_string_lossy())
}

/// True if HTTrack left its cache or log in `path`, or a file has a name that wget gives: with a query, or for the original of a
/// page.
pub fn has_marks(path: &Path, selection: &Selection) -> bool {
    let is_of_wget = |entry: TreeEntry| {
        let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
        name.contains('?') || name.ends_with(".orig")
    };
    let mut entries = walk(&[path.to_owned()], selection).flatten();
    let mut logs = [CACHE, "hts-log.txt"].iter();
    logs.any(|name| path.join(name).exists()) || entries.any(is_of_wget)
}

/// The folder of HTTrack's cache.
const CACHE: &str = "hts-cache";
