//! Resolution of paths with symbolic links (path_resolution(7)).
//!
//! ```text
//! doc/latest/x.html, and doc/latest is a link to ../v/2  -->  v/2/x.html
//! ```
//!
//! The text of a symbolic link is resolved among known entries. A text that is an absolute path leads out of the tree,
//! even if it is a path in the tree.
//!
//! Deliberately absent: the file system.

use super::path::{joined, split_name};

/// An entry at a path.
pub enum EntryAt<'a> {
    /// The symbolic link with this number, and its text if known.
    Link(usize, Option<&'a [u8]>),
    /// A file, a folder or a special file.
    NotLink,
}

/// The end of a path after following symbolic links.
#[derive(Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// A path without symbolic links.
    To(Vec<u8>),
    /// An unknown path: the path contains the symbolic link with this number, whose target is unknown.
    Unknown(usize),
    /// A path outside the tree.
    Out,
    /// No path, because of a broken or circular symbolic link.
    Nowhere,
}

/// Follows the symbolic links in `path`. Returns `None` if there are none. `entry` returns the entry at a path.
pub fn path_end<'a>(path: &[u8], entry: impl Fn(&[u8]) -> Option<EntryAt<'a>>) -> Option<PathEnd> {
    /// The maximum number of symbolic links in a path, as in Linux. It stops cycles.
    const MAX_SYMLINKS: usize = 40;
    let mut followed = 0;
    // The remaining names in reverse order. The flag of a name is true if it comes from a symbolic link.
    let mut names: Vec<(&[u8], bool)> = path
        .split(|&byte| byte == b'/')
        .map(|name| (name, false))
        .rev()
        .collect();
    let mut real = Vec::new();
    while let Some((name, is_of_link)) = names.pop() {
        match name {
            b"" | b"." => continue,
            b".." if real.is_empty() => return Some(PathEnd::Out),
            b".." => {
                real.truncate(split_name(&real).0.len());
                continue;
            }
            _ => {}
        }
        let next = joined(&real, name);
        match entry(&next) {
            Some(EntryAt::Link(number, None)) => return Some(PathEnd::Unknown(number)),
            Some(EntryAt::Link(_, Some(text))) => {
                followed += 1;
                if followed > MAX_SYMLINKS {
                    return Some(PathEnd::Nowhere);
                }
                if text.starts_with(b"/") {
                    return Some(PathEnd::Out);
                }
                names.extend(
                    text.split(|&byte| byte == b'/')
                        .map(|name| (name, true))
                        .rev(),
                );
            }
            None if is_of_link => return Some(PathEnd::Nowhere),
            None => {
                // No entry exists at or below this path, so there are no more links. The remaining names come from
                // `path`.
                real = next;
                for (name, _) in names.drain(..).rev().filter(|(name, _)| !name.is_empty()) {
                    real.push(b'/');
                    real.extend_from_slice(name);
                }
            }
            Some(EntryAt::NotLink) => real = next,
        }
    }
    if path.ends_with(b"/") && !real.is_empty() {
        real.push(b'/');
    }
    (followed > 0).then_some(PathEnd::To(real))
}
