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

use std::collections::BTreeSet;

use super::{
    index::{Absence, Collection, url_below},
    locate::{FoundBy, Located},
    near::{NearNames, composed, without_case, without_empty},
    path::{PAGES, joined, shown, split_name, stem},
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
    pub(super) fn nearest(&self, path: &[u8], is_path: bool) -> (Absence, Option<usize>) {
        let near = self.near_names();
        for path in self.with_index(path) {
            let Some((number, _)) = near.alike(&path) else {
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

    fn near_names(&self) -> &NearNames {
        self.near.get_or_init(|| NearNames::of(&self.files))
    }

    /// The URL of the only file that `url`, a URL below the root that leads to none, can mean. The paths may differ in case, encoding,
    /// normalization and empty names, in the extension of a page, and in a `/` at the end.
    pub fn remedy(&self, url: &str) -> Option<String> {
        let root = self
            .root_url()
            .filter(|root| url.starts_with(root.as_str()))?;
        let located = self.locate(url);
        let path = match &located {
            Located::Lacking(Absence::Absent | Absence::NoName, path) => path,
            Located::Resource(found) if found.by == FoundBy::CleanFolder => self.path(found.number),
            _ => return None,
        };
        let bare = path.strip_suffix(b"/").unwrap_or(path);
        let name = split_name(bare).1;
        let (own, is_page) = if bare.len() < path.len() {
            (bare, true)
        } else {
            let is_page = PAGES.iter().any(|extension| name.ends_with(extension));
            (&bare[..bare.len() - name.len() + stem(name).len()], is_page)
        };
        let endings = PAGES.into_iter().filter(|_| is_page).chain([&b""[..]]);
        let files = endings.map(|ending| ([own, ending].concat(), false));
        let index = self.with_index(&joined(own, b"")).into_iter().skip(1);
        let index = index.filter(|_| is_page).map(|name| (name, true));
        let mut found = BTreeSet::new();
        for (name, is_index) in files.chain(index).chain([(path.to_vec(), false)]) {
            if let Some((number, is_only)) = self.near_names().alike(&name) {
                found.insert((is_only.then_some(number)?, is_index));
            }
        }
        let (number, is_index) = found.pop_first().filter(|_| found.is_empty())?;
        let file = self.path(number);
        let folder = joined(split_name(file).0, b"");
        url_below(root, if is_index { &folder } else { file })
    }
}
