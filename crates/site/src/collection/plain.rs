//! The meaning of a link in a folder, from its bytes alone. Most links of most sites are of this kind.
//!
//! Plain paths are the same in URLs and in the names of files, byte for byte, so that a reference leads to the same file from
//! the URL of its document and from its place in the folder.
//!
//! ```text
//! in http://a/docs/b/x.html, with http://a/docs/ as the URL of the root:
//! ../y.html#z      the file y.html, and the fragment z
//! http://c/        outside
//! y.html?q  a%20b  http://a/c  ../  have no plain meaning: Collection::locate finds them
//! ```
//!
//! Deliberately absent: folders of several hosts, and archives.

use baselink_rewrite::PlainLink;

use super::{index::Collection, same::others};

/// The plain meaning of a link.
pub enum PlainPlace<'l> {
    /// The file with this number, and the fragment, which may be empty.
    File(usize, &'l str),
    /// A place outside the site.
    Outside,
}

/// The last path that was looked up, and its file. Many links to one file often follow each other.
#[derive(Default)]
pub struct LastPath(Vec<u8>, Option<usize>);

impl Collection {
    /// The plain meaning of `link`. The URL of the root has the length `root`.
    pub fn plain_place<'l>(
        &self,
        root: usize,
        link: &PlainLink<'l>,
        last: &mut LastPath,
    ) -> Option<PlainPlace<'l>> {
        let (prefix, rest) = (link.target.prefix, &link.reference[link.target.dropped..]);
        if prefix.is_empty() {
            let hosts = self.folder_url().and_then(host_of).zip(host_of(rest));
            let is_own = hosts.is_some_and(|(own, other)| own.eq_ignore_ascii_case(other));
            let may_be_inside = is_own || others(rest, &self.same).next().is_some();
            return (!may_be_inside).then_some(PlainPlace::Outside);
        }
        // A reference that leads above the root may lead to another file from another root.
        let folder = prefix.get(root..)?;
        let end = memchr::memchr(b'#', rest.as_bytes());
        let (path, fragment) = end.map_or((rest, ""), |at| (&rest[..at], &rest[at + 1..]));
        // A query may select a different file.
        if memchr::memchr(b'?', path.as_bytes()).is_some() {
            return None;
        }
        let LastPath(known, number) = last;
        let is_known = known.len() == folder.len() + path.len()
            && known.starts_with(folder.as_bytes())
            && known.ends_with(path.as_bytes());
        if !is_known {
            known.clear();
            known.extend_from_slice(folder.as_bytes());
            known.extend_from_slice(path.as_bytes());
            *number = self.plain_file(known);
        }
        number.map(|number| PlainPlace::File(number, fragment))
    }
}

/// The host of a URL that has no user information.
fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once(':')?;
    let rest = rest.strip_prefix("//")?;
    rest.split(['/', '?', '#', ':']).next()
}
