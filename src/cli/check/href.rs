//! How the page and the log name files: as URI references (RFC 3986, 4.1).
//!
//! ```text
//! reports/page.html, site/a b.html   -->   ../site/a%20b.html
//! --editor vscode://file/{path}:{line}   -->   vscode://file/home/me/site/a%20b.html:3
//! ```
//!
//! Deliberately absent: whether a browser or an editor follows them.

use std::fs;
use std::path::{Component, Path, PathBuf, Prefix};

use crate::cli::request::folder_of;

/// A path as a URI reference, its names percent-encoded; an absolute one is a `file` URL.
pub(super) fn uri(path: &Path) -> String {
    let scheme = if path.is_absolute() { "file://" } else { "" };
    format!("{scheme}{}", encoded(path))
}

/// A path with its names percent-encoded.
fn encoded(path: &Path) -> String {
    let mut uri = String::new();
    let parts = path.components().filter(|part| *part != Component::RootDir);
    for (number, part) in parts.enumerate() {
        if number > 0 || path.is_absolute() {
            uri.push('/');
        }
        if let Component::Prefix(prefix) = part
            && let Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) = prefix.kind()
        {
            uri.extend([char::from(letter), ':']);
            continue;
        }
        for &byte in part.as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    uri.push(char::from(byte));
                }
                _ => uri.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    uri
}

/// What leads from the page to the files of the folder.
pub(super) struct Hrefs {
    /// The folder as it is typed, and what leads there.
    folder: PathBuf,
    there: PathBuf,
    editor: Option<String>,
}

impl Hrefs {
    /// Those from the page that `report` will be to files in `folder`.
    pub(super) fn new(report: &Path, folder: &Path, editor: Option<&str>) -> Self {
        let absolute = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (from, to) = (absolute(folder_of(report)), absolute(folder));
        let there = if editor.is_some() { to } else { relative(&from, &to) };
        Self { folder: folder.to_owned(), there, editor: editor.map(str::to_owned) }
    }

    /// What leads to the file at `path`. In what is made for an editor `{line}` and `{column}` are left.
    pub(super) fn of(&self, path: &Path) -> String {
        let path = self.there.join(path.strip_prefix(&self.folder).unwrap_or(path));
        let Some(editor) = &self.editor else { return uri(&path) };
        let path = encoded(&path);
        // `vscode://file/{path}` has one `/` before the path, `file://{path}` needs that of the path.
        let is_divided = editor
            .split_once("{path}")
            .is_some_and(|(before, _)| before.ends_with('/') && !before.ends_with("//"));
        let path = if is_divided { path.trim_start_matches('/') } else { &path };
        editor.replace("{path}", path)
    }
}

/// The path that leads from the folder `from` to `to`; both are absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let is_same = |(one, other): &(Component<'_>, Component<'_>)| one == other;
    let common = from.components().zip(to.components()).take_while(is_same).count();
    // On another disk of Windows.
    if common == 0 {
        return to.to_owned();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uri_references() {
        let uri = |path: &str| uri(Path::new(path));
        assert_eq!(uri("a b/c:d%/\u{e4}.html"), "a%20b/c%3Ad%25/%C3%A4.html");
        assert_eq!(uri("../docs/x.html"), "../docs/x.html");
        if cfg!(windows) {
            assert_eq!(uri(r"C:\srv\x y"), "file:///C:/srv/x%20y");
            assert_eq!(uri(r"\\?\C:\srv"), "file:///C:/srv");
        } else {
            assert_eq!(uri("/srv/x y"), "file:///srv/x%20y");
        }
    }

    #[test]
    fn a_page_leads_to_files_beside_above_and_below_it() {
        for (from, to, expected) in [
            ("/a/b", "/a/b/site", "site"),
            ("/a/b/reports", "/a/b/site", "../site"),
            ("/a/site/reports", "/a/site", ".."),
            ("/a", "/b/c", "../b/c"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(expected), "{from}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_editor_is_told_the_whole_path() {
        for (editor, expected) in [
            ("vscode://file/{path}:{line}", "vscode://file/a/b%20c/x.html:{line}"),
            ("idea://open?file={path}&line={line}", "idea://open?file=/a/b%20c/x.html&line={line}"),
            ("txmt://open?url=file://{path}", "txmt://open?url=file:///a/b%20c/x.html"),
        ] {
            let hrefs = Hrefs {
                folder: "site".into(),
                there: "/a/b c".into(),
                editor: Some(editor.to_owned()),
            };
            assert_eq!(hrefs.of(Path::new("site/x.html")), expected);
        }
    }
}
