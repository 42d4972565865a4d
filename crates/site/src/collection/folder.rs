//! Files of a folder as a collection, with the URLs from [`Origins`](super::origin::Origins).
//!
//! ```
//! use std::path::Path;
//! use baselink_site::collection::{Absence, Collection};
//! use baselink_site::collection::origin::{Origins, RootUrl};
//! use baselink_files::walk::{EntryKind, TreeEntry};
//! let root_url = RootUrl::new("http://a/docs/").unwrap();
//! let mut collection = Collection::new(Origins { root_url: Some(root_url), ..Origins::default() });
//! for name in ["index.html", "a b.html"] {
//!     let (root, path) = (Path::new("site").into(), Path::new("site").join(name));
//!     let entry = TreeEntry { root, relative: vec![name.into()], path, kind: EntryKind::File, size: 0 };
//!     collection.add_entry(&entry, None, None);
//! }
//! let number = |url| collection.locate(url).resource().map(|found| found.number);
//! assert_eq!(number("http://a/docs/a%20b.html#x"), Some(1));
//! assert_eq!(number("http://a/docs/"), Some(0));
//! let missing = collection.missing(&collection.locate("http://a/docs/A%20b.html")).unwrap();
//! assert_eq!((missing.absence, missing.hint.as_deref()), (Absence::Case, Some("a b.html")));
//! ```
//!
//! Deliberately absent: listing the folder, which is the task of [`walk`](mod@baselink_files::walk).

use std::path::{Path, PathBuf};

use baselink_rewrite::{Retrieval, Source};

use super::{
    index::{Collection, ResourceKind},
    normal::normal,
    origin::{self, RootUrl, names},
};
use baselink_files::{
    os_string,
    walk::{EntryKind, TreeEntry},
};

impl Collection {
    /// Adds an entry of the folder, and its retrieval URL if known. A symbolic link has its text, unless its target is unknown, and
    /// `retrieval` is ignored if it was derived from the name of the link, because such a URL leads to the target of the link. If
    /// the entry is a folder, only its name is stored.
    pub fn add_entry(
        &mut self,
        entry: &TreeEntry,
        text: Option<&Path>,
        retrieval: Option<&Retrieval>,
    ) {
        let kind = match entry.kind {
            EntryKind::File => ResourceKind::File,
            EntryKind::Symlink => ResourceKind::Link(text.map(|text| {
                if text.has_root() {
                    Box::from(&b"/"[..])
                } else {
                    names::path_bytes(text).into()
                }
            })),
            EntryKind::Special => ResourceKind::Special,
            EntryKind::Folder => {
                self.add_folder(&name_of(entry));
                return;
            }
        };
        let is_own = |own: &&Retrieval| {
            text.is_none() || !matches!(own.source, Source::Retrieval | Source::Layout)
        };
        let retrieval = retrieval.filter(is_own);
        let is_derived = |retrieval: &Retrieval| {
            let is_of_page = || self.root_url().is_some_and(|root| root.is_of(entry));
            let own = || self.origins.below_root_url(entry).filter(|_| !is_of_page());
            retrieval.source == Source::Retrieval && own().as_ref() == Some(&retrieval.url)
        };
        let retrieval = retrieval.filter(|retrieval| !is_derived(retrieval));
        let map = self.origins.map.clone();
        // Earlier URLs of the entry, which redirected to its last one.
        let earlier = map.as_ref().map_or(&[][..], |map| map.earlier(entry));
        let own = retrieval.map(|retrieval| retrieval.url.as_str());
        let urls = own.into_iter().chain(earlier.iter().map(String::as_str));
        let added = self.add(&name_of(entry), kind, urls);
        // A crawler may save the target of a redirect twice, also under the requested name. The file at the path of
        // the URL wins.
        if let Some((number, retrieval)) = added.zip(retrieval)
            && retrieval.source == Source::Xattr
            && let Some((scheme, _)) = retrieval.url.split_once(':')
            && self.is_laid_out(entry, scheme, &retrieval.url)
            && let Some(url) = normal(&retrieval.url)
        {
            self.assign_url(number, &url);
            self.learn_layout(scheme);
        }
    }

    /// True if a crawler would write the URL `url`, which has this scheme, to the path of `entry`.
    fn is_laid_out(&self, entry: &TreeEntry, scheme: &str, url: &str) -> bool {
        let mut names = self.index_names().map(Some).chain([None]);
        names.any(|index| {
            let own = origin::by_host(&entry.relative, scheme, |name| index == Some(name));
            own.as_deref() == Some(url)
        })
    }

    /// Sets the layout of a tree in which a crawler recorded the URLs of files, with this scheme, and named folders after hosts.
    /// Only the layout reveals the files of URLs that redirect, because the crawler records the last URL.
    fn learn_layout(&mut self, scheme: &str) {
        let site = RootUrl::of_site(self.scheme());
        if self.root_url().is_none_or(|root| *root == site) && !self.origins.has_hosts {
            self.origins.set_hosts();
            self.origins.given_scheme = Some(scheme.to_ascii_lowercase());
        }
    }
}

/// The path of an entry below the root, with `/` between the names.
pub fn name_of(entry: &TreeEntry) -> Vec<u8> {
    names::path_bytes(&entry.relative)
}

/// The path below the root of the file called `name`; `None` if the system does not allow such a name.
pub fn path_of(name: &[u8]) -> Option<PathBuf> {
    os_string(name.to_vec()).map(PathBuf::from)
}
