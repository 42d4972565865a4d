//! Paths as URI references (RFC 3986, 4.1), for the page of `--report` and for SARIF.
//!
//! ```text
//! reports/page.html, site/a b.html   -->   ../site/a%20b.html
//! ```
//!
//! Deliberately absent: checks that a browser can follow them.

use std::{
    fs,
    path::{Component, Path, PathBuf, Prefix},
};

use crate::cli::request::folder_of;

/// A path as a URI reference, with its names percent-encoded; an absolute path becomes a `file` URL.
pub fn uri(path: &Path) -> String {
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "" });
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

/// The path that leads from the page `report` to `folder`.
pub fn folder_from(report: &Path, folder: &Path) -> PathBuf {
    let absolute = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    relative(&absolute(folder_of(report)), &absolute(folder))
}

/// The path that leads from the folder `from` to `to`; both are absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let is_same = |(one, other): &(Component<'_>, Component<'_>)| one == other;
    let common = from
        .components()
        .zip(to.components())
        .take_while(is_same)
        .count();
    // Paths on different Windows drives have nothing in common.
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
            assert_eq!(
                relative(Path::new(from), Path::new(to)),
                Path::new(expected),
                "{from}"
            );
        }
    }
}
