//! Names of files in a mirror, where a few files get other names than in the folder.
//!
//! ```text
//! main.css?v=3  -->  main@v=3.css     list.php?page=2  -->  list.php@page=2.html
//! ```
//!
//! Deliberately absent: the names of captures ([`file_names`](super::file_names)).

use std::collections::HashSet;

use super::index::Collection;
use super::path::{is_page_name, joined, split_name, stem};

impl Collection {
    /// Gives files with a query in their names, as wget writes them, names in a mirror that open as what they are. If another
    /// file has or gets that name, a file keeps its own.
    pub fn rename_queries(&mut self) {
        let mut taken = HashSet::new();
        for number in 0..self.files.len() {
            let (folder, name) = split_name(self.files.text(number));
            let Some(path) = without_query_mark(name).map(|name| joined(folder, &name)) else {
                continue;
            };
            if self.files.number(&path).is_none() && taken.insert(path.clone()) {
                self.renamed.insert(number, path.into());
            }
        }
    }

    /// The path of a file in a mirror, below its root.
    #[must_use]
    pub fn path_in_mirror(&self, number: usize) -> &[u8] {
        self.renamed.get(&number).map_or(self.path(number), AsRef::as_ref)
    }
}

/// `main@v=3.css` for `main.css?v=3`, by whose extension no program knows a style sheet, and `list.php@page=2.html` for a page;
/// `None` if `name` has no query. The names are those that an archive gives ([`file_names`](super::file_names)).
fn without_query_mark(name: &[u8]) -> Option<Vec<u8>> {
    /// The extensions of pages that open as such.
    const PAGES: [&[u8]; 4] = [b".html", b".htm", b".xhtml", b".xht"];
    let at = memchr::memchr(b'?', name)?;
    let (path, query) = (&name[..at], &name[at + 1..]);
    // Windows refuses these in names.
    let is_refused = |byte: &u8| byte.is_ascii_control() || b"<>:\"|?*\\".contains(byte);
    let query: Vec<u8> =
        query.iter().map(|byte| if is_refused(byte) { b'_' } else { *byte }).collect();
    let (start, extension) = path.split_at(stem(path).len());
    let is_alike = |one: &&[u8]| one.eq_ignore_ascii_case(extension);
    // wget adds the extension to the end with --adjust-extension.
    let ends = |one: &[u8]| {
        query.len() >= one.len() && query[query.len() - one.len()..].eq_ignore_ascii_case(one)
    };
    Some(match () {
        () if PAGES.iter().any(|one| ends(one)) || ends(b".css") => [path, b"@", &query].concat(),
        () if PAGES.iter().any(is_alike) => [start, b"@", &query, extension].concat(),
        () if is_page_name(path) => [path, b"@", &query, b".html"].concat(),
        () => [start, b"@", &query, extension].concat(),
    })
}
