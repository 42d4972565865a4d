//! Paths as bytes, with `/` between the names.
//!
//! ```text
//! a/b.tar.gz   folder a, name b.tar.gz, stem b.tar
//! ```
//!
//! Deliberately absent: the separators of other systems.

use std::iter;

/// The path of `name` in `folder`. The path of the root is empty. With an empty name, the path of another folder ends with `/`.
pub fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        name.to_vec()
    } else {
        [folder, b"/", name].concat()
    }
}

/// The folder of a path and the name in it.
pub fn split_name(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// `path` and the folders around it, the innermost first, up to the root.
pub fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    iter::successors(Some(path), |path| {
        (!path.is_empty()).then(|| split_name(path).0)
    })
}

/// A path for display: bytes that are not UTF-8 become U+FFFD.
pub fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// A name without its extension.
pub fn stem(name: &[u8]) -> &[u8] {
    &name[..memchr::memrchr(b'.', name).unwrap_or(name.len())]
}

/// The extensions of pages that servers send as they are, whatever the query.
pub const PAGES: [&[u8]; 4] = [b".html", b".htm", b".xhtml", b".xht"];

/// The extensions of programs to which wget appends `.html`.
pub const PROGRAMS: [&[u8]; 10] = [
    b".php", b".php3", b".phtml", b".asp", b".aspx", b".jsp", b".do", b".cgi", b".pl", b".cfm",
];

/// True if the name is that of a page or of a program that generates pages, or if it has no extension.
pub fn is_page_name(name: &[u8]) -> bool {
    let extension = &name[stem(name).len()..];
    let others = [&b".shtml"[..], b".py"];
    let mut known = PAGES.iter().chain(&PROGRAMS).chain(&others);
    extension.is_empty() || known.any(|known| extension.eq_ignore_ascii_case(known))
}

/// True if `path`, the path of a URL, denotes a folder.
pub fn names_folder(path: &[u8]) -> bool {
    path.is_empty() || path.ends_with(b"/")
}
