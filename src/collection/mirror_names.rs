//! File names in a mirror. A file keeps its name if the name is valid everywhere.
//!
//! ```text
//! main.css?v=3  -->  main@v=3.css        list.php?page=2  -->  list.php@page=2.html
//! con.png       -->  _con.png            Windows keeps the name for a device
//! about.html    -->  about-fb8a140d.html next to About.html, if case is ignored
//! ```
//!
//! Deliberately absent: the rules, which are those for archives ([`super::file_names`]).

use std::borrow::Cow;

use super::file_names::{path_in_mirror, rounds_of};
use super::index::Collection;

impl Collection {
    /// Renames files whose names do not work in a mirror. Such names contain a query as wget writes it, or are
    /// invalid or too long on some file system. Names are also changed if they collide when case or normalization
    /// is ignored.
    pub fn rename_for_mirror(&mut self) {
        let files: Vec<usize> = (0..self.files.len()).filter(|&one| self.is_file(one)).collect();
        let own = |one: usize| text(self.files.text(files[one]));
        let path = |one, round| Cow::Owned(path_in_mirror(&own(one), round).into_owned());
        let is_changed = |one| path_in_mirror(&own(one), 0) != own(one);
        let rounds = rounds_of(files.len(), path, |one, other| {
            let order = is_changed(one).cmp(&is_changed(other));
            order.then_with(|| self.files.text(files[one]).cmp(self.files.text(files[other])))
        });
        let renamed = rounds.into_iter().enumerate().filter_map(|(one, round)| {
            let own = own(one);
            let path = path_in_mirror(&own, round);
            (path != own).then(|| (files[one], path.as_bytes().into()))
        });
        self.renamed = renamed.collect();
    }

    /// The path of a file in a mirror, below its root.
    #[must_use]
    pub fn path_in_mirror(&self, number: usize) -> &[u8] {
        self.renamed.get(&number).map_or(self.path(number), AsRef::as_ref)
    }
}

/// A path as text. Bytes that are not UTF-8 are percent-encoded, so that distinct paths remain distinct.
fn text(path: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(path) {
        Ok(text) => text.into(),
        Err(_) => path
            .utf8_chunks()
            .flat_map(|chunk| {
                let invalid = chunk.invalid().iter().map(|byte| format!("%{byte:02X}"));
                [chunk.valid().to_owned()].into_iter().chain(invalid)
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Resource;

    /// Asserts the mirror names of `files` in both orders. The digests are from `md5sum`.
    fn check(files: &[(&[u8], &[u8])]) {
        for is_backwards in [false, true] {
            let mut files = files.to_vec();
            if is_backwards {
                files.reverse();
            }
            let mut collection = Collection::default();
            for (own, _) in &files {
                collection.add(Resource::file(own), []);
            }
            collection.rename_for_mirror();
            let found = (0..files.len()).map(|number| collection.path_in_mirror(number));
            assert!(found.eq(files.iter().map(|(_, expected)| *expected)), "{files:?}");
        }
    }

    #[test]
    fn files_that_need_one_name() {
        check(&[(b"a/b", b"a/b"), (b"A/c", b"A/c"), (b"\xff", b"\xff"), (b"\xfe", b"\xfe")]);
        check(&[(b"About.html", b"About.html"), (b"about.html", b"about-fb8a140d.html")]);
        check(&[(b"a/docs", b"a/docs-ba08cd05"), (b"a/DOCS/x", b"a/DOCS/x")]);
        check(&[
            ("caf\u{e9}.html".as_bytes(), "caf\u{e9}-3022d09b.html".as_bytes()),
            ("cafe\u{301}.html".as_bytes(), "cafe\u{301}.html".as_bytes()),
        ]);
        // A valid name is never lost to an invalid one.
        check(&[(b"x:y", b"x_y-dad3d504"), (b"x<y", b"x_y-76b21541"), (b"x_y", b"x_y")]);
        check(&[(b"x:y", b"x_y"), (b"x<y", b"x_y-76b21541")]);
        check(&[
            (b"list.php?page=2", b"list.php@page=2.html"),
            (b"list.php?page=2.html", b"list.php@page=2-892ae06b.html"),
        ]);
    }
}
