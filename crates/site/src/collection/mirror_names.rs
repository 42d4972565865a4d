//! File names in a mirror. A file keeps its name if the name is valid on all file systems.
//!
//! ```text
//! main.css?v=3  -->  main@v=3.css           list.php?page=2  -->  list.php@page=2.html
//! con.png       -->  _con.png               Windows reserves `con` for a device
//! about.html    -->  about-fb8a140d.html    next to About.html, because some file systems ignore case
//! ```
//!
//! Deliberately absent: the rules for names, which are in [`super::file_names`].

use super::{
    file_names::{as_text, path_in_mirror, rounds_of},
    index::Collection,
};

impl Collection {
    /// Renames files whose names do not work in a mirror: names with a query as wget writes it, and names that are
    /// invalid or too long on some file system. If names collide when case or normalization is ignored, all but one of
    /// them are changed.
    pub fn rename_for_mirror(&mut self) {
        let files: Vec<usize> = (0..self.count())
            .filter(|&file| self.is_file(file))
            .collect();
        let own = |at: usize| as_text(self.path(files[at]));
        let path = |at: usize, round| {
            let media_type = self.media_types.get(&files[at]);
            path_in_mirror((&own(at), media_type.copied().unwrap_or_default()), round)
        };
        let is_changed: Vec<bool> = (0..files.len()).map(|at| path(at, 0) != own(at)).collect();
        let rank = |at: usize| (is_changed[at], self.path(files[at]));
        let rounds = rounds_of(files.len(), path, |left, right| {
            rank(left).cmp(&rank(right))
        });
        let renamed = rounds.into_iter().enumerate().filter_map(|(at, round)| {
            let path = path(at, round);
            (path != own(at)).then(|| (files[at], path.into_bytes().into()))
        });
        self.renamed = renamed.collect();
        self.is_mirror = true;
    }

    /// The path in a mirror of the file at `path`.
    pub fn in_mirror<'p>(&'p self, path: &'p [u8]) -> &'p [u8] {
        self.number_at(path)
            .map_or(path, |number| self.path_in_mirror(number))
    }

    /// The path, below the folder that opens, of the file at `path` in a mirror.
    pub fn in_library(&self, path: &[u8]) -> Vec<u8> {
        [&*self.folder, path].concat()
    }

    /// True if the file with this number keeps its name in a mirror.
    pub fn has_own_name(&self, number: usize) -> bool {
        !self.renamed.contains_key(&number)
    }

    /// The path of a file in a mirror, below its root.
    pub fn path_in_mirror(&self, number: usize) -> &[u8] {
        self.renamed
            .get(&number)
            .map_or(self.path(number), AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::ResourceKind;

    /// Asserts the paths of `files` in a mirror, regardless of the order in which they are added. The digests are from
    /// `md5sum`.
    fn check(files: &[(&[u8], &[u8])]) {
        for is_backwards in [false, true] {
            let mut files = files.to_vec();
            if is_backwards {
                files.reverse();
            }
            let mut collection = Collection::default();
            for (own, _) in &files {
                collection.add(own, ResourceKind::File, []);
            }
            collection.rename_for_mirror();
            let found = (0..files.len()).map(|number| collection.path_in_mirror(number));
            assert!(
                found.eq(files.iter().map(|(_, expected)| *expected)),
                "{files:?}"
            );
        }
    }

    #[test]
    fn files_with_colliding_names() {
        check(&[
            (b"a/b", b"a/b"),
            (b"A/c", b"A/c"),
            (b"\xff", b"\xff"),
            (b"\xfe", b"\xfe"),
        ]);
        check(&[
            (b"About.html", b"About.html"),
            (b"about.html", b"about-fb8a140d.html"),
        ]);
        check(&[(b"a/docs", b"a/docs-ba08cd05"), (b"a/DOCS/x", b"a/DOCS/x")]);
        check(&[
            (
                "caf\u{e9}.html".as_bytes(),
                "caf\u{e9}-3022d09b.html".as_bytes(),
            ),
            ("cafe\u{301}.html".as_bytes(), "cafe\u{301}.html".as_bytes()),
        ]);
        // A file with a valid name keeps it, even if an invalid name is changed to the same name.
        check(&[
            (b"x:y", b"x_y-dad3d504"),
            (b"x<y", b"x_y-76b21541"),
            (b"x_y", b"x_y"),
        ]);
        check(&[(b"x:y", b"x_y"), (b"x<y", b"x_y-76b21541")]);
        check(&[
            (b"list.php?page=2", b"list.php@page=2.html"),
            (b"list.php?page=2.html", b"list.php@page=2-892ae06b.html"),
        ]);
    }
}
