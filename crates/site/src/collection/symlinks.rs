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

use super::{
    index::{Absence, Collection, PathEnd, ResourceKind},
    path::{joined, split_name},
};

impl Collection {
    /// The end of `path` after following symbolic links; `None` if it contains no link.
    pub(super) fn path_end(&self, path: &[u8]) -> Option<PathEnd> {
        if self.others.is_empty() {
            return None;
        }
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
                b".." if real.is_empty() => return Some(PathEnd::Lacking(Absence::LinkOut)),
                b".." => {
                    real.truncate(split_name(&real).0.len());
                    continue;
                }
                _ => {}
            }
            let next = joined(&real, name);
            let number = self.number_at(&next);
            match number.map(|number| (number, self.kind(number))) {
                Some((number, ResourceKind::Link(None))) => return Some(PathEnd::Unknown(number)),
                Some((_, ResourceKind::Link(Some(text)))) => {
                    followed += 1;
                    if followed > MAX_SYMLINKS {
                        return Some(PathEnd::Lacking(Absence::LinkNowhere));
                    }
                    if text.starts_with(b"/") {
                        return Some(PathEnd::Lacking(Absence::LinkOut));
                    }
                    names.extend(
                        text.split(|&byte| byte == b'/')
                            .map(|name| (name, true))
                            .rev(),
                    );
                }
                None if self.has_folder(&next) => real = next,
                None if is_of_link => return Some(PathEnd::Lacking(Absence::LinkNowhere)),
                None => {
                    // No entry exists at or below this path, so there are no more links. The remaining names come from
                    // `path`.
                    real = next;
                    for (name, _) in names.drain(..).rev().filter(|(name, _)| !name.is_empty()) {
                        real.push(b'/');
                        real.extend_from_slice(name);
                    }
                }
                Some(_) => real = next,
            }
        }
        if path.ends_with(b"/") && !real.is_empty() {
            real.push(b'/');
        }
        (followed > 0).then_some(PathEnd::To(real))
    }
}
