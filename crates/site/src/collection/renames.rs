//! Renamed files of a collection, and their new paths in URLs.
//!
//! | file | new name | path in a URL | new path |
//! |---|---|---|---|
//! | `a/index.html` | `b/index.html` | `a/` | `b/` |
//! | | | `a` | `b` |
//! | | `b.html` | `a/` | `b.html` |
//! | `about.html` | `info.html` | `about` | `info` |
//! | | `info/index.html` | `about` | `info/` |
//!
//! ```
//! use baselink_site::collection::{Collection, ResourceKind};
//! let mut collection = Collection::default();
//! collection.add(b"a/x.html", ResourceKind::File, []);
//! collection.rename(&[(b"a".to_vec(), b"b/c".to_vec())]).unwrap();
//! assert_eq!(collection.path_in_mirror(0), b"b/c/x.html");
//! assert!(collection.rename(&[(b"a/y.html".to_vec(), b"z".to_vec())]).is_err());
//! ```
//!
//! Deliberately absent: renaming the files on disk.

use std::{
    collections::{HashMap, HashSet},
    path::is_separator,
};

use baselink_text::{Error, Result};

use super::{
    file_names::is_valid_on_windows,
    index::{Collection, NewNames},
    locate::OMITTED,
    origin::map::TextPair,
    path::{ancestors, joined, names_folder, shown, split_name},
};

impl Collection {
    /// Renames files and folders. Each pair has an old and a new path below the root, with the system's separators. A
    /// pair for a file takes precedence over pairs for its folders, and a pair for an inner folder over one for an
    /// outer folder. If the new path of a file ends with a separator, the file moves into that folder.
    ///
    /// # Errors
    ///
    /// Returns an error, and renames nothing, if a path leads out of the root, or if an old path does not exist. Also
    /// returns an error if a new path belongs to another file or to a folder, or if Windows, as the current system,
    /// rejects a new name.
    pub fn rename(&mut self, pairs: &[TextPair]) -> Result<()> {
        let mut new_names = NewNames::new();
        for (old, new) in pairs {
            let old = path(old)?;
            let into_folder = new.last().is_some_and(separates) && self.number_at(&old).is_some();
            let name = if into_folder { split_name(&old).1 } else { b"" };
            let new = path(&[new, name].concat())?;
            let is_valid = |name| str::from_utf8(name).is_ok_and(is_valid_on_windows);
            if cfg!(windows) && !new.split(separates).all(is_valid) {
                return refused(
                    &old,
                    &format!(
                        "cannot become {}: Windows does not allow this name",
                        shown(&new)
                    ),
                );
            }
            if let Some(other) = new_names.insert(old.as_slice().into(), new.as_slice().into())
                && *other != *new
            {
                return refused(
                    &old,
                    &format!("renamed to {} and to {}", shown(&other), shown(&new)),
                );
            }
        }
        let mut renamed = HashMap::new();
        for number in 0..self.count() {
            let own = self.path(number);
            if let Some(new) = new_path(&new_names, own).filter(|new| new != own) {
                renamed.insert(number, new.into_boxed_slice());
            }
        }
        self.check_existing(new_names.keys())?;
        self.renamed = renamed;
        self.check_free()?;
        new_names.retain(|old, _| self.number_at(old).is_none());
        self.renamed_folders = new_names;
        let lengths = self.renamed_folders.keys().map(|old| old.len());
        self.longest_renamed = lengths.max().unwrap_or(0);
        Ok(())
    }

    /// Checks that each path is a file or a folder.
    fn check_existing<'p>(&self, paths: impl Iterator<Item = &'p Box<[u8]>>) -> Result<()> {
        let missing = paths.filter(|path| self.number_at(path).is_none() && !self.has_folder(path));
        let Some(path) = missing.min() else {
            return Ok(());
        };
        let similar = self.nearest(path, true).1.map(|it| shown(self.path(it)));
        let hint = similar.map(|it| format!("; did you mean {it}?"));
        let hint = hint.unwrap_or_default();
        refused(path, &format!("no such file or folder in the tree{hint}"))
    }

    /// Checks that new paths are unique, and that no path is needed for both a file and a folder.
    fn check_free(&self) -> Result<()> {
        let mut by_new: HashMap<&[u8], usize> = HashMap::new();
        for number in 0..self.count() {
            let new = self.path_in_mirror(number);
            let Some(other) = by_new.insert(new, number) else {
                continue;
            };
            let (renamed, other) = if self.renamed.contains_key(&number) {
                (number, other)
            } else {
                (other, number)
            };
            let why = format!(
                "cannot become {}: {} exists already, or another file gets that name",
                shown(new),
                shown(self.path(other))
            );
            return refused(self.path(renamed), &why);
        }
        let mut folders: HashSet<&[u8]> = HashSet::new();
        for path in by_new.keys() {
            let mut around = split_name(path).0;
            while !around.is_empty() && folders.insert(around) {
                around = split_name(around).0;
            }
        }
        for (old, new) in self.renames() {
            let is_both = |path: &&[u8]| {
                if *path == new {
                    folders.contains(path)
                } else {
                    by_new.contains_key(path)
                }
            };
            if let Some(both) = ancestors(new).find(is_both) {
                let around = shown(both);
                let why = format!(
                    "cannot become {}: {around} would be a file and a folder",
                    shown(new)
                );
                return refused(old, &why);
            }
        }
        Ok(())
    }

    /// The renamed files, with old and new paths, sorted by old path.
    pub fn renames(&self) -> Vec<(&[u8], &[u8])> {
        let mut all: Vec<_> = self
            .renamed
            .iter()
            .map(|(number, new)| (self.path(*number), &**new))
            .collect();
        all.sort_unstable();
        all
    }

    /// The paths of all files afterwards.
    pub fn new_paths(&self) -> HashSet<&[u8]> {
        let numbers = 0..self.count();
        numbers.map(|number| self.path_in_mirror(number)).collect()
    }

    /// The paths by which a URL may refer to the file `path`: if it is an index file, the path of its folder, and in
    /// any case its own path.
    pub fn forms<'p>(&self, path: &'p [u8]) -> impl Iterator<Item = &'p [u8]> + use<'p> {
        let (_, name) = split_name(path);
        let folder = self
            .is_index(name)
            .then(|| &path[..path.len() - name.len()]);
        folder.into_iter().chain([path])
    }

    /// The new path of the file with this number, for a URL in which its old path is `path`. If `path` lacks the name
    /// of the index file or the extension, the new path lacks it too, where possible. `None` if the file was not
    /// renamed.
    pub fn renamed_as(&self, number: usize, path: &[u8]) -> Option<Vec<u8>> {
        let new = &**self.renamed.get(&number)?;
        let old = self.path(number);
        let (folder, name) = split_name(new);
        let is_index = self.is_index(name);
        let with_slash = || joined(folder, b"");
        if path == old {
            return Some(new.to_vec());
        }
        let rest = old.strip_prefix(path).unwrap_or_default();
        let omitted = OMITTED.into_iter().find(|extension| rest == *extension);
        Some(match omitted {
            Some(_) if is_index => with_slash(),
            Some(extension) => new.strip_suffix(extension).unwrap_or(new).to_vec(),
            None if is_index && names_folder(path) => with_slash(),
            None if is_index && rest.starts_with(b"/") => folder.to_vec(),
            None => new.to_vec(),
        })
    }

    /// The new path of `path`, which is not a file. `None` if neither `path` nor a folder around it was renamed.
    pub fn renamed_with_folder(&self, path: &[u8]) -> Option<Vec<u8>> {
        let mut around = path.strip_suffix(b"/").unwrap_or(path);
        // The path of a URL can have more segments than any folder.
        if around.len() > self.longest_renamed {
            around = split_name(&around[..=self.longest_renamed]).0;
        }
        let new = new_path(&self.renamed_folders, around)?;
        Some([&new, &path[around.len()..]].concat())
    }

    /// True if `name` is the name of an index file.
    fn is_index(&self, name: &[u8]) -> bool {
        self.index_names().any(|index| index == name)
    }
}

/// The new path of `path`, if it or a folder around it has one: the innermost decides.
fn new_path(names: &NewNames, path: &[u8]) -> Option<Vec<u8>> {
    ancestors(path).find_map(|around| Some([names.get(around)?, &path[around.len()..]].concat()))
}

/// True for `/`, and on Windows for `\`.
pub fn separates(byte: &u8) -> bool {
    is_separator(char::from(*byte))
}

/// Normalizes a path: removes empty and `.` segments, and makes `/` the separator.
fn path(given: &[u8]) -> Result<Vec<u8>> {
    if given.first().is_some_and(separates) {
        return refused(
            given,
            "an absolute path; name files and folders by their paths below the folder that moves",
        );
    }
    let mut names: Vec<&[u8]> = given.split(separates).collect();
    names.retain(|name| !matches!(*name, b"" | b"."));
    if names.iter().any(|name| *name == b".." || name.contains(&0)) {
        return refused(
            given,
            "a path that leads out of the folder, or that no file can have",
        );
    }
    if names.is_empty() {
        return refused(given, "the folder itself; name a file or folder inside it");
    }
    Ok(names.join(&b'/'))
}

fn refused<T>(path: &[u8], why: &str) -> Result<T> {
    Err(Error::new(format!("{}: {why}", shown(path))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::collection::ResourceKind;

    fn collection(files: &[&str]) -> Collection {
        let mut collection = Collection::default();
        for file in files {
            collection.add(file.as_bytes(), ResourceKind::File, []);
        }
        collection
    }

    fn renamed(files: &[&str], pairs: &[(&str, &str)]) -> Result<Vec<String>> {
        let mut collection = collection(files);
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(old, new)| (old.as_bytes().to_vec(), new.as_bytes().to_vec()))
            .collect();
        collection.rename(&pairs)?;
        Ok((0..files.len())
            .map(|number| shown(collection.path_in_mirror(number)))
            .collect())
    }

    #[test]
    fn files_and_folders_get_new_names() {
        for (files, pairs, expected) in [
            (
                &["a.html", "b.html"][..],
                &[("a.html", "x/y.html")][..],
                &["x/y.html", "b.html"][..],
            ),
            (&["d/a", "d/e/b"], &[("d", "f/g")], &["f/g/a", "f/g/e/b"]),
            (
                &["d/a", "d/e/b"],
                &[("d", "f"), ("d/e", "g"), ("d/a", "h")],
                &["h", "g/b"],
            ),
            // Swaps, chains, and a folder that moves into itself.
            (&["a", "b"], &[("a", "b"), ("b", "a")], &["b", "a"]),
            (&["a", "b"], &[("a", "b"), ("b", "c")], &["b", "c"]),
            (&["a/x"], &[("a", "a/b")], &["a/b/x"]),
            (&["a", "c/d"], &[("./a/", "c//")], &["c/a", "c/d"]),
        ] {
            assert_eq!(renamed(files, pairs).unwrap(), expected, "{pairs:?}");
        }
    }

    #[test]
    fn impossible_renames_are_errors() {
        for (files, pairs, expected) in [
            (&["a", "b"][..], &[("a", "b")][..], "b exists already"),
            (&["a", "b"], &[("a", "c"), ("b", "c")], "cannot become c"),
            (&["a", "b"], &[("a", "../c")], "leads out"),
            (&["a", "b"], &[("a", "/c")], "absolute path"),
            (&["a", "b"], &[("c", "d")], "no such file"),
            (&["a", "b"], &[("a", "b/c")], "b would be a file"),
            (&["a", "b"], &[("a", "c"), ("a", "d")], "renamed to"),
            (&["a", "b/c"], &[("a", "b")], "cannot become b"),
            (&["a"], &[(".", "b")], "itself"),
        ] {
            let error = renamed(files, pairs).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// Bug 324: the path of each folder around a target was compared, whatever its length.
    #[test]
    fn a_path_of_many_segments_takes_little_time() {
        let mut collection = collection(&["a/b"]);
        collection
            .rename(&[(b"a".to_vec(), b"c".to_vec())])
            .unwrap();
        let tail = "/x".repeat(100_000);
        for _ in 0..100 {
            let moved = collection.renamed_with_folder(format!("a{tail}").as_bytes());
            assert_eq!(moved, Some(format!("c{tail}").into_bytes()));
            assert_eq!(
                collection.renamed_with_folder(format!("b{tail}").as_bytes()),
                None
            );
        }
    }

    #[test]
    fn urls_keep_their_form() {
        for (old, new, path, expected) in [
            ("a/index.html", "b/index.html", "a/", "b/"),
            ("a/index.html", "b/index.html", "a", "b"),
            (
                "a/index.html",
                "b/index.html",
                "a/index.html",
                "b/index.html",
            ),
            ("a/index.html", "b.html", "a/", "b.html"),
            ("a/index.html", "index.html", "a/", ""),
            ("index.html", "a/index.html", "", "a/"),
            ("about.html", "info.html", "about", "info"),
            ("about.html", "info/index.html", "about", "info/"),
            (
                "about.html",
                "info/index.html",
                "about.html",
                "info/index.html",
            ),
            ("about.html", "info.php", "about", "info.php"),
        ] {
            let mut collection = collection(&[old]);
            collection.rename(&[(old.into(), new.into())]).unwrap();
            let found = collection.renamed_as(0, path.as_bytes()).unwrap();
            assert_eq!(shown(&found), expected, "{old} to {new}, {path}");
        }
    }
}
