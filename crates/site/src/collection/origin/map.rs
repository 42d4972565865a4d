//! A table of files and their retrieval URLs: `--url-map`.
//!
//! Three syntaxes are accepted:
//!
//! - CSV (RFC 4180), `path,URL` per line, with an optional header line that names the two columns;
//! - tab-separated values (IANA, text/tab-separated-values), if the name ends with `.tsv` or `.tab`, or if the first
//!   line has a tab and the name does not end with `.csv`;
//! - JSON Lines, `{"path": …, "url": …}` per line, if the text begins with `{`.
//!
//! If several lines name the same file, the last line wins. Redirects can therefore be listed in order: the last URL is
//! the base (RFC 1808, 3.3).
//!
//! A path may be absolute. A relative path is looked up below the root in which the file was found, then below the
//! folder of the map, then below the current folder, and finally next to a named file. Names are separated by `/`.
//!
//! ```
//! use std::path::Path;
//! use baselink_site::collection::origin::map::UrlMap;
//! let map = UrlMap::parse(b"path,url\n\"a,b.html\",http://a/\n", Path::new("map.csv")).unwrap();
//! assert_eq!(map.first(), Some(Path::new("a,b.html")));
//! assert_eq!(map.missing(&[]), ["map.csv, line 2: a,b.html: no such file"]);
//! ```
//!
//! Deliberately absent: patterns, and names in JSON that are not UTF-8; use CSV for those.

use std::{
    collections::{BTreeSet, HashMap},
    ffi::{OsStr, OsString},
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use baselink_text::{Error, Result, name};
use serde_json::Value;

use super::names;
use baselink_files::{folder_of, head_of, walk::TreeEntry};

/// A table of files and their retrieval URLs.
#[derive(Debug)]
pub struct UrlMap {
    /// The path of the map as it was named.
    name: PathBuf,
    /// The folder of the map, without symbolic links.
    folder: PathBuf,
    urls: HashMap<PathBuf, Mapped>,
}

/// The lines about a file.
#[derive(Debug, Default)]
struct Mapped {
    /// The number of the last line, from 1.
    line: u64,
    /// The URLs of all lines, the last of which counts.
    urls: Vec<String>,
}

/// The columns of the map of a copy: the path of a file, its URL, the date of the capture, the media type, and the digest of the
/// contents. [`UrlMap`] reads only the first two.
pub const COLUMNS: [&str; 5] = ["path", "url", "date", "media_type", "digest"];

/// Writes a table with these columns and rows to `out`.
///
/// # Errors
///
/// Returns errors of `out`.
pub fn write_table<const N: usize>(
    out: impl Write,
    columns: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for row in std::iter::once(columns.map(str::to_owned)).chain(rows) {
        writer.write_record(row)?;
    }
    writer.flush()
}

/// The texts of two columns of a row, such as an old and a new path.
pub type TextPair = (Vec<u8>, Vec<u8>);

/// Reads the pairs of values in two columns of a table, which has the same syntax as a [`UrlMap`]. `path` is the path
/// of the table for messages, and `names` are the names of the columns.
///
/// # Errors
///
/// Returns an error that names the line if a value is missing.
pub fn pairs(text: &[u8], path: &Path, names: [&str; 2]) -> Result<Vec<TextPair>> {
    let mut all = Vec::new();
    TwoColumns {
        text,
        name: path,
        columns: names,
        wanted: "expected an old and a new path",
    }
    .rows(&mut |_, first, second| {
        all.push((first, second.to_vec()));
        Ok(())
    })?;
    Ok(all)
}

/// Receives the number of a line and its two values.
type RowReader<'r> = dyn FnMut(u64, Vec<u8>, &[u8]) -> Result<()> + 'r;

/// The contents of a file with two columns.
struct TwoColumns<'t> {
    text: &'t [u8],
    /// The file, as it was named.
    name: &'t Path,
    /// The names of the columns.
    columns: [&'t str; 2],
    /// A clause for messages about lines that lack a value.
    wanted: &'static str,
}

impl TwoColumns<'_> {
    fn rows(&self, row: &mut RowReader<'_>) -> Result<()> {
        let text = self.text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(self.text);
        if text.trim_ascii_start().starts_with(b"{") {
            self.json_lines(text, row)
        } else {
            self.csv(text, row)
        }
    }

    fn csv(&self, text: &[u8], row: &mut RowReader<'_>) -> Result<()> {
        let has_tabs = self.has_tabs(text);
        let mut form = csv::ReaderBuilder::new();
        form.has_headers(false).flexible(true);
        let delimiter = if has_tabs { b'\t' } else { b',' };
        // In tab-separated values, quotes are ordinary characters.
        form.delimiter(delimiter).quoting(!has_tabs);
        let mut reader = form.from_reader(text);
        // The reader needs eight times as much memory for a delimiter as for a letter.
        let crowded = text
            .split(|&byte| byte == b'\n')
            .position(|line| memchr::memchr_iter(delimiter, line).count() > MOST_COLUMNS);
        if let Some(number) = crowded {
            let what = format!("more than {MOST_COLUMNS} columns");
            return Err(wrong(self.name, number as u64 + 1, &what));
        }
        let mut columns = (0, 1);
        // Reading bytes from memory into rows of any length cannot fail.
        for (number, record) in reader.byte_records().flatten().enumerate() {
            let place = record.position();
            let (start, mut line) = place.map_or((0, 1), |at| (at.byte(), at.line()));
            // The reader counts empty lines as part of the next record.
            let rest = usize::try_from(start).ok().and_then(|at| text.get(at..));
            let is_line_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
            let empty = rest.unwrap_or_default().iter().take_while(is_line_end);
            line += empty.filter(|byte| **byte == b'\n').count() as u64;
            if number == 0 {
                let column = |name: &str| {
                    let is_name =
                        |field: &[u8]| field.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
                    record.iter().position(is_name)
                };
                if let [Some(first), Some(second)] = self.columns.map(column) {
                    columns = (first, second);
                    continue;
                }
            }
            let (Some(first), Some(second)) = (record.get(columns.0), record.get(columns.1)) else {
                let between = if has_tabs { "a tab" } else { "a comma" };
                let what = format!("{}, with {between} between them", self.wanted);
                return Err(wrong(self.name, line, &what));
            };
            row(line, first.to_vec(), second)?;
        }
        Ok(())
    }

    /// True if tabs separate the columns.
    fn has_tabs(&self, text: &[u8]) -> bool {
        let extension = self.name.extension().map(OsStr::to_ascii_lowercase);
        match extension.as_deref().and_then(OsStr::to_str) {
            Some("tsv" | "tab") => true,
            Some("csv") => false,
            _ => {
                let text = text.trim_ascii_start();
                let end = memchr::memchr2(b'\n', b'\t', text);
                end.is_some_and(|end| text[end] == b'\t')
            }
        }
    }

    fn json_lines(&self, text: &[u8], row: &mut RowReader<'_>) -> Result<()> {
        for (line, text) in (1..).zip(text.split(|&byte| byte == b'\n')) {
            if text.trim_ascii().is_empty() {
                continue;
            }
            let record: Value = serde_json::from_slice(text)
                .map_err(|error| wrong(self.name, line, &error.to_string()))?;
            let field = |name| record.get(name).and_then(Value::as_str);
            let [Some(first), Some(second)] = self.columns.map(field) else {
                let ([left, right], what) = (self.columns, self.wanted);
                let what = format!(r#"{what}, {{"{left}": "…", "{right}": "…"}}"#);
                return Err(wrong(self.name, line, &what));
            };
            row(line, first.as_bytes().to_vec(), second.as_bytes())?;
        }
        Ok(())
    }
}

fn wrong(path: &Path, line: u64, what: &str) -> Error {
    Error::new(format!("{}, line {line}: {what}", name(path)))
}

/// The most columns of a table.
const MOST_COLUMNS: usize = 10_000;

/// The largest size of a map in bytes.
const LARGEST: usize = 1 << 30;

impl UrlMap {
    /// Reads the map in the file `path`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is unreadable or larger than 1 GiB, or if [`parse`](Self::parse) fails.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_from(fs::File::open(path).map_err(Error::io(path))?, path)
    }

    /// Reads the map from `reader`, which has the contents of the file `path`; standard input is called `-`.
    ///
    /// # Errors
    ///
    /// Returns an error if reading fails, if the map is larger than 1 GiB, or if [`parse`](Self::parse) fails.
    pub fn read_from(reader: impl Read, path: &Path) -> Result<Self> {
        let text = head_of(reader, path, LARGEST + 1)?;
        if text.len() > LARGEST {
            return Err(Error::file(path, "the table is larger than 1 GiB"));
        }
        Self::parse(&text, path)
    }

    /// Parses `text`, the contents of the file `path`.
    ///
    /// # Errors
    ///
    /// Returns an error that names the line if a path or URL is missing, or a URL is not UTF-8. Other defects of
    /// URLs are detected when they are used.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self> {
        let folder = folder_of(path);
        let mut map = Self {
            name: path.to_owned(),
            folder: fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
            urls: HashMap::new(),
        };
        let table = TwoColumns {
            text,
            name: path,
            columns: ["path", "url"],
            wanted: "expected a path and a URL",
        };
        table.rows(&mut |line, path, url| map.insert(line, path, url))?;
        Ok(map)
    }

    fn insert(&mut self, line: u64, path: Vec<u8>, url: &[u8]) -> Result<()> {
        let Ok(url) = str::from_utf8(url) else {
            return Err(wrong(&self.name, line, "a URL that is not UTF-8"));
        };
        if path.is_empty() {
            return Err(wrong(&self.name, line, "an empty path"));
        }
        let Some(path) = names::os_string(path).map(PathBuf::from) else {
            return Err(wrong(&self.name, line, "a path that is not UTF-8"));
        };
        let path = path.strip_prefix(".").unwrap_or(&path).to_owned();
        let mapped = self.urls.entry(path).or_default();
        mapped.line = line;
        mapped.urls.push(url.trim_ascii().to_owned());
        Ok(())
    }

    /// The URL of `entry`, as written.
    pub fn url(&self, entry: &TreeEntry) -> Option<&str> {
        let mapped = self.mapped(&entry.path, &entry.relative)?;
        mapped.urls.last().map(String::as_str)
    }

    /// The URLs of `entry` on earlier lines, as written. They are the URLs before redirects.
    pub fn earlier(&self, entry: &TreeEntry) -> &[String] {
        let mapped = self.mapped(&entry.path, &entry.relative);
        let urls = mapped.and_then(|mapped| mapped.urls.split_last());
        urls.map_or(&[], |(_, earlier)| earlier)
    }

    /// The lines about the file `path`, which is `relative` to its root.
    fn mapped(&self, path: &Path, relative: &[OsString]) -> Option<&Mapped> {
        let below_root: PathBuf = relative.iter().collect();
        if let Some(mapped) = self.urls.get(&below_root) {
            return Some(mapped);
        }
        // A symbolic link is looked up by its own path, not by its target.
        let (folder, own_name) = (folder_of(path), path.file_name()?);
        let absolute = fs::canonicalize(folder).ok()?.join(own_name);
        let below_map = absolute.strip_prefix(&self.folder).ok();
        let as_named = path.strip_prefix(".").unwrap_or(path);
        // If the folder of the map or the current folder has a file of that name, the line refers to that file.
        let is_free = |name: &Path| !self.folder.join(name).exists() && !name.exists();
        let beside = Some(Path::new(own_name)).filter(|_| relative.is_empty());
        let beside = beside.filter(|name| self.urls.contains_key(*name) && is_free(name));
        let ways = [below_map, Some(absolute.as_path()), Some(as_named), beside];
        ways.into_iter()
            .flatten()
            .find_map(|path| self.urls.get(path))
    }

    /// True if a line may refer to one of `roots`, which are files and folders, or to a file below one.
    pub fn speaks_of(&self, roots: &[PathBuf]) -> bool {
        roots.iter().any(|root| {
            if !root.is_dir() {
                return self.mapped(root, &[]).is_some();
            }
            let real = fs::canonicalize(root).unwrap_or_else(|_| root.clone());
            let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
            let is_below =
                |path: PathBuf| fs::canonicalize(path).is_ok_and(|path| path.starts_with(&real));
            self.urls.keys().any(|path| {
                (path.is_relative() && is_there(&root.join(path)))
                    || is_below(self.folder.join(path))
                    || is_below(path.clone())
            })
        })
    }

    /// The first path in the map; a path on several lines counts by its last line.
    pub fn first(&self) -> Option<&Path> {
        self.urls
            .iter()
            .min_by_key(|(_, mapped)| mapped.line)
            .map(|(path, _)| path.as_path())
    }

    /// A sentence for each path in the map at which no file exists, in the order of the lines.
    pub fn missing(&self, roots: &[PathBuf]) -> Vec<String> {
        let paths = || roots.iter().map(PathBuf::as_path);
        let around = paths().filter_map(Path::parent);
        // Roots that share a folder are checked only once.
        let mut folders: BTreeSet<&Path> = paths().filter(|root| root.is_dir()).collect();
        folders.extend(around.chain([&*self.folder, Path::new("")]));
        let is_there = |path: &Path| {
            folders
                .iter()
                .any(|folder| folder.join(path).symlink_metadata().is_ok())
        };
        let mut missing: Vec<_> = self
            .urls
            .iter()
            .filter(|(path, _)| !is_there(path))
            .collect();
        missing.sort_by_key(|(_, mapped)| mapped.line);
        let sentence = |(path, mapped): (&PathBuf, &Mapped)| {
            format!(
                "{}, line {}: {}: no such file",
                name(&self.name),
                mapped.line,
                name(path)
            )
        };
        missing.into_iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug 325: a table of commas needed 33 times its size in memory.
    #[test]
    fn a_line_of_many_columns_is_an_error() {
        for (text, is_right) in [
            ("a,http://a/".to_owned(), true),
            ("a,http://a/".to_owned() + &",".repeat(100), true),
            ("a,http://a/\n".to_owned() + &",".repeat(100_000), false),
        ] {
            let map = UrlMap::parse(text.as_bytes(), Path::new("map.csv"));
            assert_eq!(map.is_ok(), is_right);
            let sentence = map.map_or_else(|error| error.to_string(), |_| String::new());
            assert!(
                is_right || sentence.starts_with("map.csv, line 2: more than"),
                "{sentence}"
            );
        }
    }
}
