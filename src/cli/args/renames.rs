//! The values of `--rename`: pairs of an old and a new path, in several syntaxes.
//!
//! ```text
//! a.html=b.html                  one pair
//! @names.csv                     a table with the columns old and new
//! @changes  R100 ⇥ a.html ⇥ b.html    the output of git diff -M --name-status
//! @_redirects                    redirects, which links then follow
//! ```
//!
//! Deliberately absent: the effect of the renames.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf, is_separator};

use crate::collection::folder::path_of;
use crate::collection::origin::map::pairs;
use baselink_text::error::{Error, Result, name};

/// Renames of files and folders below the folder that moves.
#[derive(Default)]
pub(super) struct Renames {
    /// The old and new paths.
    pub(super) pairs: Vec<(Vec<u8>, Vec<u8>)>,
    /// The old paths of files and folders that are already at their new paths.
    pub(super) done: HashMap<PathBuf, PathBuf>,
    /// The redirects that links are to follow, in the syntax of `_redirects`.
    pub(super) redirects: Option<String>,
}

impl Renames {
    /// Adds the renames that `typed` describes, `OLD=NEW` or `@FILE`, of files in `folder`.
    pub(super) fn read(&mut self, typed: &OsStr, folder: &Path) -> Result<()> {
        let refused = |error: Error| Error::new(format!("--rename: {error}"));
        let bytes = typed.as_encoded_bytes();
        let Some(table) = bytes.strip_prefix(b"@") else {
            let pair = typed_pair(typed, folder)?;
            self.add(pair, folder, &HashSet::new());
            return Ok(());
        };
        let path = PathBuf::from(String::from_utf8_lossy(table).into_owned());
        let text = match table {
            b"-" => {
                let mut text = Vec::new();
                io::stdin().read_to_end(&mut text).map(|_| text)
            }
            _ => fs::read(&path),
        };
        let text = text.map_err(|error| refused(Error::io(&path)(error)))?;
        if table.ends_with(b"_redirects") {
            let redirects = String::from_utf8_lossy(&text);
            self.redirects.get_or_insert_default().push_str(&redirects);
            return Ok(());
        }
        let Some(renames) = of_git(&text) else {
            for pair in pairs(&text, &path, ["old", "new"]).map_err(refused)? {
                self.add(pair, folder, &HashSet::new());
            }
            return Ok(());
        };
        // Git compares two states, so these renames are done, unless a later change undid them.
        let new: HashSet<_> = renames.iter().map(|(_, new)| new.clone()).collect();
        for pair in renames {
            let count = self.done.len();
            self.add(pair, folder, &new);
            if self.done.len() == count {
                self.pairs.pop();
            }
        }
        Ok(())
    }

    /// Adds a rename. If the old path is gone, or has a file with one of the `taken` new names, and the new path is there, the
    /// rename is done.
    fn add(&mut self, (old, new): (Vec<u8>, Vec<u8>), folder: &Path, taken: &HashSet<Vec<u8>>) {
        let is_into = new
            .last()
            .is_some_and(|&byte| is_separator(char::from(byte)));
        if let (Some(before), Some(mut after)) = (path_of(&old), path_of(&new)) {
            if is_into {
                after.extend(before.file_name());
            }
            let is_gone = taken.contains(&old) || !exists(&folder.join(&before));
            if is_gone && exists(&folder.join(&after)) {
                let [after, before] = [after, before].map(|path| path.components().collect());
                self.done.insert(after, before);
            }
        }
        self.pairs.push((old, new));
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The pair `OLD=NEW`.
fn typed_pair(typed: &OsStr, folder: &Path) -> Result<(Vec<u8>, Vec<u8>)> {
    let bytes = typed.as_encoded_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=');
    let Some(at) = at.filter(|at| *at > 0 && *at + 1 < bytes.len()) else {
        let why = "expected OLD=NEW or @FILE";
        return Err(Error::new(format!(
            "--rename: {}: {why}",
            name(Path::new(typed))
        )));
    };
    let (old, new) = (&bytes[..at], &bytes[at + 1..]);
    // Shells complete paths from the current folder, so the old path may begin with the path of `folder`.
    let root = [folder.as_os_str().as_encoded_bytes().trim_ascii_end(), b"/"].concat();
    let is_typed_with_folder =
        old.starts_with(&root) && !folder.join(String::from_utf8_lossy(old).as_ref()).exists();
    if is_typed_with_folder {
        let why = format!("paths are relative to {}; remove that prefix", name(folder));
        return Err(Error::new(format!(
            "--rename: {}: {why}",
            name(Path::new(typed))
        )));
    }
    Ok((old.to_vec(), new.to_vec()))
}

/// The renames in `text`, the output of `git diff -M --name-status`; `None` for any other text.
fn of_git(text: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut renames = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        let mut fields = line.split(|&byte| byte == b'\t');
        match (fields.next()?, fields.next(), fields.next()) {
            (b"", None, _) => {}
            ([b'R', similarity @ ..], Some(old), Some(new)) if is_number(similarity) => {
                renames.push((unquoted(old), unquoted(new)));
            }
            ([b'C', similarity @ ..], Some(_), Some(_)) if is_number(similarity) => {}
            ([b'A' | b'D' | b'M' | b'T' | b'U' | b'X'], Some(_), None) => {}
            _ => return None,
        }
    }
    Some(renames)
}

fn is_number(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
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
        let text = b"M\tx.html\nR100\ta.html\tb/a.html\nR087\t\"a\\303\\244 \\\"\\t.html\"\tc d.html\nC75\ta\tb\nD\ty\n";
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
