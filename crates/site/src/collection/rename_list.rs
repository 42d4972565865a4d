//! Renames of files, as users give them: pairs of an old and a new path, in several syntaxes.
//!
//! ```text
//! a.html=b.html                       one pair
//! @names.csv                          a table with the columns old and new
//! @changes  R100 ⇥ a.html ⇥ b.html    the output of git diff -M -B --name-status
//! @_redirects                         redirects, which links then follow
//! ```
//!
//! A rename that has taken place already still changes links to the old path.
//!
//! Deliberately absent: checks that the renamed files exist, and the effect of the renames (`renames`).

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs,
    io::Read,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use baselink_text::{Error, Result, name};
use regex::bytes::Regex;

use super::{
    folder::path_of,
    origin::map::{TextPair, pairs},
    renames::separates,
};

/// Renames of files and folders below the folder that moves.
#[derive(Default)]
pub struct Renames {
    /// The old and new paths that were typed, or that a table with columns lists.
    pub typed: Vec<TextPair>,
    /// The old paths of the files and folders that are at their new paths already, by these.
    pub former: HashMap<PathBuf, PathBuf>,
    /// The old paths of other renames in tables of git.
    pub ignored: Vec<Vec<u8>>,
    /// The redirects that links are to follow, in the syntax of `_redirects`.
    pub redirects: Option<String>,
}

impl Renames {
    /// Adds the renames that `typed` describes, `OLD=NEW` or `@FILE`, of files in `folder`. The file `-` is `standard_input`.
    ///
    /// # Errors
    ///
    /// The pair or the table is not valid, or the table cannot be read.
    pub fn read(
        &mut self,
        typed: &OsStr,
        folder: &Path,
        mut standard_input: impl Read,
    ) -> Result<()> {
        let bytes = typed.as_encoded_bytes();
        let Some(table) = bytes.strip_prefix(b"@") else {
            self.typed.push(typed_pair(typed, folder)?);
            return Ok(());
        };
        let path = PathBuf::from(String::from_utf8_lossy(table).into_owned());
        let text = match table {
            b"-" => {
                let mut text = Vec::new();
                standard_input.read_to_end(&mut text).map(|_| text)
            }
            _ => fs::read(&path),
        };
        let text = text.map_err(Error::io(&path))?;
        if table.ends_with(b"_redirects") {
            let redirects = String::from_utf8_lossy(&text);
            self.redirects.get_or_insert_default().push_str(&redirects);
            return Ok(());
        }
        match of_git(&text) {
            Some(renames) => self.add_of_git(renames, folder),
            None => {
                let mut pairs = pairs(&text, &path, ["old", "new"])?;
                self.typed.append(&mut pairs);
            }
        }
        Ok(())
    }

    /// Adds those renames of a table of git that have taken place in `folder`. The paths are relative to the root of the repository,
    /// or to `folder` if more of them have taken place so.
    fn add_of_git(&mut self, renames: Vec<TextPair>, folder: &Path) {
        let whole = fs::canonicalize(folder).unwrap_or_default();
        let root = whole.ancestors().find(|it| it.join(".git").exists());
        let prefix = root.and_then(|root| whole.strip_prefix(root).ok());
        let prefixes = [Path::new(""), prefix.unwrap_or(Path::new(""))];
        let found = prefixes.map(|prefix| carried_out(&renames, folder, prefix));
        let most = found
            .into_iter()
            .max_by_key(|found| found.iter().flatten().count());
        for ((old, _), place) in renames.into_iter().zip(most.into_iter().flatten()) {
            match place {
                Some(place) => self.former.extend([place]),
                None => self.ignored.push(old),
            }
        }
    }

    /// Finds out if the renames that were typed have taken place in `folder`: all together, or not at all.
    pub fn find_typed(&mut self, folder: &Path) {
        let found = carried_out(&self.typed, folder, Path::new(""));
        let found: Option<HashMap<_, _>> = found.into_iter().collect();
        let found = found.unwrap_or_default();
        // After a swap, the same paths exist as before.
        let is_swap = |(new, old): (_, _)| found.get(old) == Some(new);
        if found.values().any(|old| !found.contains_key(old)) && !found.iter().any(is_swap) {
            self.former.extend(found);
        }
    }
}

/// The new and the old path of each of `renames` that has taken place in `folder`: something has the new path, and the old path is
/// free, or the new path of another. The given paths begin with `prefix`.
fn carried_out(
    renames: &[TextPair],
    folder: &Path,
    prefix: &Path,
) -> Vec<Option<(PathBuf, PathBuf)>> {
    let below = |path: PathBuf| Some(path.strip_prefix(prefix).ok()?.components().collect());
    let places = |(old, new): &TextPair| {
        let (before, mut after) = (path_of(old)?, path_of(new)?);
        if new.last().is_some_and(separates) {
            after.extend(before.file_name());
        }
        below(after).zip(below(before))
    };
    let places: Vec<Option<(PathBuf, PathBuf)>> = renames.iter().map(places).collect();
    let new_paths: HashSet<_> = places
        .iter()
        .flatten()
        .map(|(new, _)| new.clone())
        .collect();
    let exists = |path: &Path| folder.join(path).symlink_metadata().is_ok();
    let is_done = |(new, old): &(PathBuf, PathBuf)| {
        let is_free = !exists(old) || new_paths.contains(old) || new.starts_with(old);
        is_free && exists(new)
    };
    places
        .into_iter()
        .map(|place| place.filter(is_done))
        .collect()
}

/// The pair `OLD=NEW`.
fn typed_pair(typed: &OsStr, folder: &Path) -> Result<TextPair> {
    let refused = |why: &str| Err(Error::file(Path::new(typed), why));
    let bytes = typed.as_encoded_bytes();
    let at = memchr::memchr(b'=', bytes);
    let Some(at) = at.filter(|at| *at > 0 && *at + 1 < bytes.len()) else {
        return refused("expected OLD=NEW or @FILE");
    };
    let (old, new) = (&bytes[..at], &bytes[at + 1..]);
    // Shells complete paths from the current folder, so the old path may begin with the path of `folder`.
    let root = [folder.as_os_str().as_encoded_bytes().trim_ascii_end(), b"/"].concat();
    let is_typed_with_folder =
        old.starts_with(&root) && !folder.join(String::from_utf8_lossy(old).as_ref()).exists();
    if is_typed_with_folder {
        let folder = name(folder);
        return refused(&format!(
            "paths are relative to {folder}; remove that prefix"
        ));
    }
    Ok((old.to_vec(), new.to_vec()))
}

/// A line of the output of `git diff -M -B --name-status`: a rename with its paths, another change, or nothing.
static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let change = r"(?s-u)^(?:R[0-9]*\t([^\t]*)\t([^\t]*)(?:\t.*)?|C[0-9]*\t[^\t]*\t.*|[ADMTUX][0-9]*\t[^\t]*|)$";
    Regex::new(change).ok()
});

/// The renames in `text`, the output of `git diff -M -B --name-status`; `None` for any other text.
fn of_git(text: &[u8]) -> Option<Vec<TextPair>> {
    let mut renames = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        // Git quotes a name that ends with CR.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let change = CHANGE.as_ref()?.captures(line)?;
        let path = |number| Some(unquoted(change.get(number)?.as_bytes()));
        renames.extend(path(1).zip(path(2)));
    }
    Some(renames)
}

/// A path as git writes it: in quotes, with escapes, if it has unusual bytes (`core.quotePath`).
fn unquoted(path: &[u8]) -> Vec<u8> {
    let quoted = path
        .strip_prefix(b"\"")
        .and_then(|it| it.strip_suffix(b"\""));
    let Some(mut rest) = quoted else {
        return path.to_vec();
    };
    let mut plain = Vec::new();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, length) = match (first, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                ((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'), 4)
            }
            (b'\\', [letter, ..]) => {
                let escapes = b"abtnvfr".iter().position(|it| it == letter);
                (escapes.map_or(*letter, |at| 7 + at as u8), 2)
            }
            _ => (first, 1),
        };
        plain.push(byte);
        rest = &rest[length..];
    }
    plain
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_output_of_git_is_read() {
        let text = b"M\tx.html\r\nM096\tz\nR100\ta.html\tb/a.html\nR087\t\"a\\303\\244 \\\"\\t.html\"\tc d.html\nC75\ta\tb\nD\ty\n";
        let expected = [("a.html", "b/a.html"), ("a\u{e4} \"\t.html", "c d.html")];
        let expected = expected.map(|(old, new)| (old.into(), new.into()));
        assert_eq!(of_git(text).unwrap(), expected);
        assert_eq!(of_git(b"").unwrap(), []);
        for table in [
            "old\tnew\na\tb\n",
            "old,new\na,b\n",
            "R1x\ta\tb\n",
            "{\"old\": \"a\"}\n",
        ] {
            assert_eq!(of_git(table.as_bytes()), None, "{table}");
        }
    }
}
