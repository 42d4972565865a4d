//! The reason why a site lacks a resource, and a file with a similar name.
//!
//! ```
//! use baselink_site::collection::{Absence, Collection, ResourceKind};
//! use baselink_site::collection::origin::{Origins, RootUrl};
//! let root_url = Some(RootUrl::new("http://a/").unwrap());
//! let mut site = Collection::new(Origins { root_url, ..Origins::default() });
//! site.add(b"logo.png", ResourceKind::File, []);
//! let missing = site.missing(&site.locate("http://a/Logo.png")).unwrap();
//! assert_eq!((missing.absence, missing.hint.as_deref()), (Absence::Case, Some("logo.png")));
//! ```
//!
//! Deliberately absent: names in archives, which are derived from URLs.

use super::{
    index::{Absence, Collection},
    locate::{FoundBy, Located},
    near::{NearNames, composed, without_case, without_empty},
    path::{shown, split_name},
};

/// A missing file, and a file with a similar name.
pub struct Missing {
    /// The reason for the absence.
    pub absence: Absence,
    /// The path below the root of a file with a similar name, for display: bytes that are not UTF-8 become U+FFFD.
    pub hint: Option<String>,
}

impl Collection {
    /// The reason why a static server has no file for a URL of the site, and a file with a similar name; `None` if the
    /// server has one.
    pub fn missing(&self, located: &Located) -> Option<Missing> {
        let shown_path = |number| shown(self.path(number));
        let (absence, hint) = match located {
            Located::Resource(found) => match found.by {
                FoundBy::Url | FoundBy::Index | FoundBy::HostRule | FoundBy::Rewrite => {
                    return None;
                }
                FoundBy::DeadRule => (Absence::Redirect, None),
                FoundBy::NoSlash => {
                    let folder = split_name(self.path(found.number)).0;
                    let hint = (!folder.is_empty()).then(|| shown(folder) + "/");
                    (Absence::Absent, hint)
                }
                FoundBy::CleanFolder => (Absence::Slash, Some(shown_path(found.number))),
                FoundBy::CleanUrl | FoundBy::CrawlerName => {
                    (Absence::Absent, Some(shown_path(found.number)))
                }
            },
            Located::BehindLink(_) => return None,
            Located::Folder(path) => {
                let index = self.index_of(path.strip_suffix(b"/").unwrap_or(path));
                let index = index.and_then(Result::ok);
                (Absence::NoIndex, index.map(shown_path))
            }
            Located::Lacking(why @ (Absence::Absent | Absence::NoName), path) => {
                let (absence, near) = self.nearest(path, *why == Absence::Absent);
                (absence, near.map(shown_path))
            }
            Located::Lacking(absence, _) => (*absence, None),
            Located::Failed(_) | Located::Outside { .. } => (Absence::Absent, None),
        };
        Some(Missing { absence, hint })
    }

    /// The reason for the absence of `path`, and a similar file. `is_path` is false if a name in it cannot be that of a
    /// file.
    fn nearest(&self, path: &[u8], is_path: bool) -> (Absence, Option<usize>) {
        let near = self.near.get_or_init(|| NearNames::of(&self.files));
        for path in self.with_index(path) {
            let Some(number) = near.alike(&path) else {
                continue;
            };
            let own = self.path(number);
            let has_empty = path.ends_with(b"/") || memchr::memmem::find(&path, b"//").is_some();
            let absence = match () {
                () if has_empty && without_empty(&path) == own => Absence::Absent,
                () if is_path && without_case(own) == without_case(&path) => Absence::Case,
                () if is_path && composed(own) == composed(&path) => Absence::Normalization,
                () => Absence::Encoding,
            };
            return (absence, Some(number));
        }
        if !is_path {
            return (Absence::NoName, None);
        }
        (Absence::Absent, near.hint(&self.files, path))
    }

    /// The path of a file with a name similar to `path`.
    pub(super) fn similar(&self, path: &[u8]) -> Option<&[u8]> {
        self.nearest(path, true).1.map(|number| self.path(number))
    }
}
