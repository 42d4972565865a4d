//! The arguments of `baselink move`, and the renames that `--rename` describes: pairs of an old and a new path, in several
//! syntaxes.
//!
//! ```text
//! move --url http://old/ --to http://new/sub/ site -o moved  -->  Move { from: http://old/, to: http://new/sub/, … }
//! a.html=b.html                       one pair
//! @names.csv                          a table with the columns old and new
//! @changes  R100 ⇥ a.html ⇥ b.html    the output of git diff -M -B --name-status
//! @_redirects                         redirects, which links then follow
//! ```
//!
//! Deliberately absent: checks that the renamed files exist, and the effect of the renames.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs,
    io::{self, Read},
    mem,
    path::{Path, PathBuf, is_separator},
};

use baselink_scan::attributes::Group;
use baselink_text::{Error, Result, name};
use clap::{
    Arg, Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

use super::{
    documents::{SameUrls, new_url},
    help::{MOVE_AFTER, for_folders, with_help},
    output::Rewrite,
};
use baselink_site::{
    collection::{
        folder::path_of,
        origin::{RootUrl, map::pairs},
    },
    purpose::relocate::LinkForm,
};

use crate::cli::request::{Archives, is_standard_input};

/// The arguments of `move` that differ from those of `rewrite`. Those that do not apply to one folder are hidden.
fn of_move(mut arg: Arg) -> Arg {
    let help = match arg.get_id().as_str() {
        "output" => {
            arg = arg.value_name("DIR");
            "The folder for the moved copy\n\nEach file is replaced whole or not at all. The copy contains all selected \
             files, even those that do not change."
        }
        "strict" => {
            "Exit with 1 if a link cannot be moved\n\nLinks that are left for one of these reasons are accepted: \
             id-reference, empty, placeholder, fragment, base-element, local-copy, kept."
        }
        "json" => {
            "Print a JSON object for each file; requires -o, -i or --dry-run\n\nIts keys are path, format, output (null if \
             nothing was written), the numbers of links by result, and diagnostics (an array of code, line, column, start, \
             end, message)."
        }
        "verbose" => {
            "Report the links that were not moved, and the URLs of the folder that have no file"
        }
        "url_map" | "layout" | "trust" | "assume_scheme" | "include" | "format" => {
            return arg.hide(true);
        }
        _ => return for_folders(arg, "DIR", "The folder (only one)"),
    };
    with_help(arg, help)
}

/// The request of `baselink move`.
#[derive(Args)]
#[command(next_help_heading = "Move")]
#[command(after_help = MOVE_AFTER, mut_args(of_move))]
pub struct Move {
    /// The new URL of the folder
    #[arg(long = "to", value_name = "URL")]
    typed_to: Option<String>,
    /// Make links to files of the folder relative; with `--relative=disk` they also name index files, so that they work
    /// from disk
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "served", hide_possible_values = true, value_parser = PossibleValuesParser::new(["served", "disk"]).map(form))]
    relative: Option<LinkForm>,
    /// Rename a file or folder, both paths relative to DIR; `@FILE` is a table of old and new paths, the output of
    /// `git diff -M -B --name-status`, or a file `_redirects`; repeatable
    ///
    /// A table is CSV or TSV with the columns old and new, or JSON Lines with both keys; `-` is standard input. Links into,
    /// out of and inside renamed files and folders are rewritten, even if something else has renamed them already. Links to
    /// old paths in `_redirects` lead to the end of the redirects.
    #[arg(long, value_name = "OLD=NEW")]
    rename: Vec<OsString>,
    /// Write redirects from the old to the new paths of renamed files; the name of FILE selects the syntax: nginx (.map,
    /// .conf), Apache (.htaccess), pages that lead on (a folder, or a name with a final `/`), or else `_redirects`
    #[arg(long, value_name = "FILE", requires = "rename")]
    pub redirects: Option<PathBuf>,
    #[command(flatten)]
    pub rewrite: Rewrite,
    #[command(flatten)]
    same: SameUrls,
    /// The URL of the folder; a placeholder if it is not known.
    #[arg(skip = RootUrl::of_site(""))]
    pub from: RootUrl,
    /// The new URL of the folder, which may be the old one.
    #[arg(skip = RootUrl::of_site(""))]
    pub to: RootUrl,
    /// The renames of `rename`.
    #[arg(skip)]
    pub renames: Renames,
}

/// The form of links that `--relative` names.
fn form(name: String) -> LinkForm {
    match name.as_str() {
        "disk" => LinkForm::Disk,
        _ => LinkForm::Relative,
    }
}

impl Move {
    pub fn form(&self) -> LinkForm {
        self.relative.unwrap_or(LinkForm::Written)
    }

    /// Checks the arguments together, and reads the renames.
    pub fn complete(&mut self) -> Result<()> {
        let refused = |why: &str| Err(Error::new(why));
        let documents = &mut self.rewrite.documents;
        documents.archives = Archives::None;
        let [folder] = documents.inputs.paths.as_slice() else {
            return Err(documents.output_among_inputs().unwrap_or_else(|| {
                Error::new("move takes one folder; run it once for each folder")
            }));
        };
        if is_standard_input(folder) || !folder.is_dir() {
            let what = if folder.exists() || is_standard_input(folder) {
                "not a folder; name the folder of the site, and rename files in it with --rename"
            } else {
                "no such folder"
            };
            return Err(Error::file(folder, what));
        }
        self.same.apply(&mut documents.inputs.reading);
        let origins = &mut documents.inputs.reading.origins;
        if origins.map.is_some() || origins.layout.is_some() {
            return refused(
                "--url-map and --layout cannot be used with move; give the URL of the folder with --url",
            );
        }
        if self.typed_to.is_none() && self.relative.is_none() && self.rename.is_empty() {
            return refused("nothing to move; give --to URL, --relative, or --rename OLD=NEW");
        }
        self.from = match origins.root_url.take() {
            Some(url) => url
                .is_of_a_folder()
                .map(|()| url)
                .map_err(|error| Error::new(format!("--url: {error}")))?,
            None => RootUrl::of_built_site(&origins.scheme, folder),
        };
        let to = self.typed_to.as_deref();
        let to = to.map(|to| new_url(to, "--relative=disk instead of --to"));
        let to = to.transpose()?;
        self.to = to.unwrap_or_else(|| self.from.clone());
        origins.root_url = Some(self.from.clone());
        origins.keeps_local_copies = false;
        let renames = &mut self.renames;
        for typed in &self.rename {
            renames.read(typed, folder)?;
        }
        renames.find_typed(folder);
        if let ([first, ..], true) = (&*renames.ignored, renames.former.is_empty()) {
            let first = String::from_utf8_lossy(first);
            let folder = name(folder);
            return Err(Error::new(format!(
                "--rename: {first}: no rename of the table has taken place in {folder}; its paths must be relative to {folder}, or to the root of its repository"
            )));
        }
        documents.selection.former = mem::take(&mut renames.former);
        let scan = &mut documents.reading.options.scan;
        for group in [Group::Social, Group::Json] {
            scan.groups.insert(group);
        }
        scan.probe();
        self.rewrite.complete()
    }
}

/// Renames of files and folders below the folder that moves.
#[derive(Default)]
pub struct Renames {
    /// The old and new paths that were typed, or that a table with columns lists.
    pub typed: Vec<(Vec<u8>, Vec<u8>)>,
    /// The old paths of the files and folders that are at their new paths already, by these.
    pub former: HashMap<PathBuf, PathBuf>,
    /// The old paths of other renames in tables of git.
    pub ignored: Vec<Vec<u8>>,
    /// The redirects that links are to follow, in the syntax of `_redirects`.
    pub redirects: Option<String>,
}

impl Renames {
    /// Adds the renames that `typed` describes, `OLD=NEW` or `@FILE`, of files in `folder`.
    pub fn read(&mut self, typed: &OsStr, folder: &Path) -> Result<()> {
        let refused = |error: Error| Error::new(format!("--rename: {error}"));
        let bytes = typed.as_encoded_bytes();
        let Some(table) = bytes.strip_prefix(b"@") else {
            self.typed.push(typed_pair(typed, folder)?);
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
        match of_git(&text) {
            Some(renames) => self.add_of_git(renames, folder),
            None => {
                let mut pairs = pairs(&text, &path, ["old", "new"]).map_err(refused)?;
                self.typed.append(&mut pairs);
            }
        }
        Ok(())
    }

    /// Adds those renames of a table of git that have taken place in `folder`. The paths are relative to the root of the repository,
    /// or to `folder` if more of them have taken place so.
    fn add_of_git(&mut self, renames: Vec<(Vec<u8>, Vec<u8>)>, folder: &Path) {
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
    renames: &[(Vec<u8>, Vec<u8>)],
    folder: &Path,
    prefix: &Path,
) -> Vec<Option<(PathBuf, PathBuf)>> {
    let below = |path: PathBuf| Some(path.strip_prefix(prefix).ok()?.components().collect());
    let places = |(old, new): &(Vec<u8>, Vec<u8>)| {
        let (before, mut after) = (path_of(old)?, path_of(new)?);
        if new
            .last()
            .is_some_and(|&byte| is_separator(char::from(byte)))
        {
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

/// The renames in `text`, the output of `git diff -M -B --name-status`; `None` for any other text.
fn of_git(text: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut renames = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        // Git quotes a name that ends with CR.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut fields = line.split(|&byte| byte == b'\t');
        match (fields.next()?, fields.next(), fields.next()) {
            (b"", None, _) => {}
            ([b'R', similarity @ ..], Some(old), Some(new)) if is_number(similarity) => {
                renames.push((unquoted(old), unquoted(new)));
            }
            ([b'C', similarity @ ..], Some(_), Some(_)) if is_number(similarity) => {}
            ([b'A' | b'D' | b'M' | b'T' | b'U' | b'X', score @ ..], Some(_), None)
                if is_number(score) => {}
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
