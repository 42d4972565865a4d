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
    fs::DirEntry,
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

/// The beginnings of HTTrack's comment, before a host. Version 3.49 writes no scheme.
pub const COMMENT: &[&str] = &[
    "<!-- Mirrored from ",
    "<!-- Mirrored from http://",
    "<!-- Mirrored from https://",
];

/// The scheme of the URLs of the files in `folder`, which is named like a host, if the host is that of its first pages.
pub fn scheme_of(folder: &Path, selection: &Selection) -> Option<&'static str> {
    const LINKS: &[&str] = &["https://", "http://", "//"];
    let is_of_httrack = folder.with_file_name(CACHE).is_dir();
    let named = first_named(folder, LINKS, selection).or(is_of_httrack.then_some("//"));
    named.map(|named| if named == LINKS[1] { "http" } else { "https" })
}

/// The first of `beginnings` that stands before the host after which `folder` is named, in one of the first pages in it.
pub fn first_named(
    folder: &Path,
    beginnings: &'static [&str],
    selection: &Selection,
) -> Option<&'static str> {
    /// The number of pages that are read.
    const PAGES: usize = 100;
    /// The number of bytes that are read of each.
    const HEAD: u64 = 1 << 16;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let host = name.replace(['_', '+'], ":");
    let is_page = |entry: &TreeEntry| is_page_name(entry.path.as_os_str().as_encoded_bytes());
    let proof = |entry: TreeEntry| {
        let mut head = Vec::new();
        if let Ok((file, _)) = entry.open(selection.follow) {
            // Bytes before an error may contain the comment.
            let _ = file.take(HEAD).read_to_end(&mut head);
        }
        beginnings.iter().copied().find(|beginning| {
            let text = format!("{beginning}{host}/");
            memchr::memmem::find(&head, text.as_bytes()).is_some()
        })
    };
    let entries = walk(&[folder.to_owned()], selection).flatten();
    entries.filter(is_page).take(PAGES).find_map(proof)
}

/// The visible folders in `path`, without HTTrack's cache and symbolic links.
pub fn folders_in(path: &Path) -> Vec<PathBuf> {
    let is_shown = |name: &OsStr| !name.to_string_lossy().starts_with('.') && name != CACHE;
    let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let shown = entries_in(path).filter(|entry| is_folder(entry) && is_shown(&entry.file_name()));
    shown.map(|entry| entry.path()).collect()
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
