//! A collection of resources, with lookup by name and URL.
//!
//! A URL leads to the file that has it as a retrieval URL (RFC 1808, 3.3). The retrieval URL of a file comes from a
//! map, a comment or an attribute. Otherwise it is the URL of the root with the path of the file, or it is derived
//! from the names that crawlers give.
//!
//! A URL that ends with `/` refers to an index file. A query is ignored unless the URL or the name of a file contains
//! it. Names are compared as bytes after percent-decoding (RFC 3986, 6.2.2.2).
//!
//! ```
//! use baselink_cli::collection::{Absence, FoundFile, Collection, Resource, TargetPlace};
//! let mut collection = Collection::default();
//! collection.add(Resource::file(b"a.example/list.html"), ["http://a.example/list?page=1", "http://a.example/"]);
//! let file = TargetPlace::Inside(Ok(FoundFile { number: 0, query_counts: false }));
//! assert_eq!(collection.find("HTTP://A.example:80#x"), file);
//! assert_eq!(collection.find("http://a.example/x"), TargetPlace::Outside);
//! ```
//!
//! [`Collection::find_saved`] also finds files by the names that programs use when they save pages.
//!
//! Deliberately absent: the file system. Only files that were added are found.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use super::near::{changes, composed, folded, is_alike_in_case, without_case, without_empty};
use super::normal::{host, normal, other_web, without_query};
use super::path::{is_page_name, joined, names_folder, split_name, stem};
use super::properties::PropertyUses;
use super::symlinks::{EntryAt, PathEnd, path_end};
use super::text_map::TextMap;
use crate::collection::origin::{FolderLayout, Origins, PathBelowRoot, RootUrl, names};
use baselink_text::named;
use baselink_url::reference::{Grammar, Reference};

/// The default names of index files, as on servers.
const INDEX_NAMES: [&str; 2] = ["index.html", "index.htm"];

/// The file to which a URL refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The number of the file, in the order of addition.
    pub number: usize,
    /// True if the query of the URL selects this file. False if the URL would lead to the same file without its query.
    pub query_counts: bool,
}

named! {
    /// The reason why a URL inside a tree leads to no file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Absence {
        /// No file has the name.
        Absent = "absent",
        /// A file has this name in different case.
        Case = "case",
        /// A file has this name with different percent-encoding or character encoding.
        Encoding = "percent-encoding",
        /// The URL leads to a folder without an index file. On disk, index files do not count.
        NoIndex = "no-index",
        /// The URL leads to a folder but lacks the final `/`, so the relative links of the index file would break.
        NoSlash = "no-slash",
        /// The name cannot be that of a file: it contains an encoded `/` or NUL, or is an encoded `.` or `..`.
        NoName = "no-name",
        /// The entry is not a regular file, but a FIFO, a socket or a device.
        Special = "no-file",
        /// A file has this name in a different Unicode normalization form.
        Normalization = "normalization",
        /// A symbolic link in the path leads out of the tree.
        LinkOut = "symlink",
        /// A symbolic link in the path is broken or circular.
        LinkNowhere = "symlink",
    }
}

/// A missing file, and a file with a similar name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The reason for the absence.
    pub absence: Absence,
    /// The path below the root of a file with a similar name, for display: bytes that are not UTF-8 become U+FFFD.
    pub hint: Option<String>,
}

/// The place to which a URL leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetPlace {
    /// A place outside the tree.
    Outside,
    /// A place inside the tree, which may lack the file.
    Inside(Result<FoundFile, Missing>),
}

impl TargetPlace {
    /// The file, if it exists.
    pub(crate) fn file(self) -> Option<FoundFile> {
        match self {
            Self::Inside(found) => found.ok(),
            Self::Outside => None,
        }
    }
}

/// A resource that is added to a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource<'a> {
    /// The path of the resource below the root, with `/` between the names.
    pub name: &'a [u8],
    /// The kind of the resource.
    pub kind: ResourceKind,
}

/// The kind of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// A regular file.
    File,
    /// A symbolic link with its text. Without a text: a symbolic link with an unknown target, or an unreadable entry.
    Link(Option<Box<[u8]>>),
    /// A FIFO, a socket or a device.
    Special,
}

impl<'a> Resource<'a> {
    /// Creates a resource that is a file called `name`.
    #[must_use]
    pub fn file(name: &'a [u8]) -> Self {
        Self {
            name,
            kind: ResourceKind::File,
        }
    }
}

/// The target of a known URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlTarget {
    /// The resource with this number.
    Resource(u32),
    /// A capture with this status, which is not a resource.
    Failure(u16),
    /// A capture that was not selected.
    Outside,
}

impl UrlTarget {
    /// The resource with this number. Memory runs out before the numbers do.
    pub(super) fn of(number: usize) -> Self {
        Self::Resource(u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// Resources, indexed by name and URL. Memory grows with the names and URLs.
#[derive(Debug)]
pub struct Collection {
    pub(super) origins: Origins,
    /// The names of index files.
    pub(super) names: Vec<OsString>,
    /// The paths of the resources.
    pub(super) files: TextMap<()>,
    /// The kinds of the resources that are not files.
    others: HashMap<usize, ResourceKind>,
    /// The targets of URLs that cannot be derived from the URL of the root, by normalized URL.
    urls: TextMap<UrlTarget>,
    /// The files directly in each folder. A folder without files is present only if it was added.
    folders: HashMap<Box<[u8]>, Vec<usize>>,
    /// The folders in the root whose names contain capitals, by lower-case name.
    with_capitals: HashMap<Box<[u8]>, Box<[u8]>>,
    /// The first file of each path, ignoring case and encoding, by hash.
    alike: HashMap<u64, usize>,
    /// The first file of each path, ignoring case, by hash.
    alike_in_case: HashMap<u64, usize>,
    /// The first file of each name, by hash.
    by_name: HashMap<u64, usize>,
    /// Pairs of files whose paths differ only in case.
    doubles: Vec<(usize, usize)>,
    hints: PathHints,
    /// True if resources are found by their URLs alone, query included, and never by their names.
    pub(super) only_urls: bool,
    /// The new paths of files that get other names.
    pub(super) renamed: HashMap<usize, Box<[u8]>>,
    /// The new paths of renamed folders, by old path. They apply to URLs below a folder that lead to no file.
    pub(super) renamed_folders: HashMap<Box<[u8]>, Box<[u8]>>,
    /// The hosts of resources, and of captures that lead to none. Empty unless the resources are captures.
    hosts: HashSet<Box<str>>,
    /// The uses of custom properties; `None` if they are unknown.
    pub(super) property_uses: Option<PropertyUses>,
}

/// A cache of hints for missing paths. Many links may lead to the same missing path.
#[derive(Debug, Default)]
struct PathHints(Mutex<HashMap<Box<[u8]>, Option<usize>>>);

impl PathHints {
    fn of(&self, path: &[u8], find: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(path) {
            return *known;
        }
        let hint = find();
        lock().insert(path.into(), hint);
        hint
    }
}

impl Default for Collection {
    fn default() -> Self {
        Self::new(Origins::default())
    }
}

impl Collection {
    /// Creates an empty collection. `origins` determine the URLs that are derived from names.
    #[must_use]
    pub fn new(origins: Origins) -> Self {
        let mut names: Vec<OsString> = origins.index.iter().cloned().collect();
        for name in INDEX_NAMES.map(OsString::from) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self {
            origins,
            names,
            files: TextMap::default(),
            others: HashMap::new(),
            urls: TextMap::default(),
            folders: HashMap::from([(Box::from(&b""[..]), Vec::new())]),
            with_capitals: HashMap::new(),
            alike: HashMap::new(),
            alike_in_case: HashMap::new(),
            by_name: HashMap::new(),
            doubles: Vec::new(),
            hints: PathHints::default(),
            only_urls: false,
            renamed: HashMap::new(),
            renamed_folders: HashMap::new(),
            hosts: HashSet::new(),
            property_uses: None,
        }
    }

    /// Creates a collection of archive captures, which are found only by URL, including the query. The paths of their
    /// `files` are derived from URLs and are not used to find them. `hosts` are the hosts of resources, and of captures
    /// that lead to none.
    pub(super) fn of_captures(
        files: TextMap<()>,
        urls: TextMap<UrlTarget>,
        hosts: HashSet<Box<str>>,
    ) -> Self {
        Self {
            only_urls: true,
            files,
            urls,
            hosts,
            ..Self::default()
        }
    }

    /// True if a folder has this path.
    pub(super) fn has_folder(&self, path: &[u8]) -> bool {
        self.folders.contains_key(path)
    }

    /// The path of a file with a name similar to `path`.
    pub(super) fn similar(&self, path: &[u8]) -> Option<&[u8]> {
        self.nearest(path, false, true)
            .1
            .map(|number| self.path(number))
    }

    /// The status of `url`, if it was captured but is not a resource.
    #[must_use]
    pub fn failure(&self, url: &str) -> Option<u16> {
        let url = normal(url, true).filter(|_| self.only_urls)?;
        let status = |url: &str| match self.urls.get(url.as_bytes()) {
            Some(UrlTarget::Failure(status)) => Some(*status),
            _ => None,
        };
        status(&url).or_else(|| status(&other_web(&url)?))
    }

    /// The statuses of the URLs that were captured but are not resources.
    pub fn failures(&self) -> impl Iterator<Item = u16> {
        self.urls.values.iter().filter_map(|target| match target {
            UrlTarget::Failure(status) => Some(*status),
            _ => None,
        })
    }

    /// The captured URL with this number.
    pub(super) fn captured_url(&self, number: usize) -> &str {
        self.urls.url(number)
    }

    /// True if a resource, or a capture that leads to none, is from the host of `url`.
    #[must_use]
    pub fn has_host(&self, url: &str) -> bool {
        let url = normal(url, false).unwrap_or_default();
        self.hosts.contains(host(&url))
    }

    /// True if resources are found by their URLs alone.
    pub(crate) fn has_only_urls(&self) -> bool {
        self.only_urls
    }

    /// Adds a resource with the retrieval URLs that are not derived from its name. If two resources share a URL or a
    /// name, the first wins. Returns the number of the resource, if it was added.
    pub fn add<'u>(
        &mut self,
        resource: Resource<'_>,
        urls: impl IntoIterator<Item = &'u str>,
    ) -> Option<usize> {
        let Resource { name: path, kind } = resource;
        let number = (!path.is_empty()).then(|| self.files.add(path, ()).ok())??;
        for url in urls.into_iter().filter_map(|url| normal(url, true)) {
            // The first resource wins.
            let _ = self.urls.add(url.as_bytes(), UrlTarget::of(number));
        }
        if kind != ResourceKind::File {
            self.others.insert(number, kind);
        }
        let (folder, name) = split_name(path);
        self.alike.entry(hashed(&folded(path))).or_insert(number);
        let first = *self
            .alike_in_case
            .entry(hashed(&without_case(path)))
            .or_insert(number);
        if first != number && is_alike_in_case(self.path(first), path) {
            self.doubles.push((first, number));
        }
        self.by_name.entry(hashed(name)).or_insert(number);
        self.hints = PathHints::default();
        self.folder(folder).push(number);
        Some(number)
    }

    /// Makes `url` lead to the resource with this number, replacing any previous target.
    pub(super) fn assign_url(&mut self, number: usize, url: &str) {
        if let Some(url) = normal(url, true)
            && let Err(known) = self.urls.add(url.as_bytes(), UrlTarget::of(number))
        {
            self.urls.values[known] = UrlTarget::of(number);
        }
    }

    /// The files in a folder. The folder and its parents are added if they are missing.
    pub(super) fn folder(&mut self, path: &[u8]) -> &mut Vec<usize> {
        let mut around = path;
        while !around.is_empty() && !self.folders.contains_key(around) {
            self.folders.insert(around.into(), Vec::new());
            if !around.contains(&b'/') && around.iter().any(u8::is_ascii_uppercase) {
                let lower = around.to_ascii_lowercase().into();
                self.with_capitals
                    .entry(lower)
                    .or_insert_with(|| around.into());
            }
            around = split_name(around).0;
        }
        self.folders.entry(path.into()).or_default()
    }

    /// The path of `url` below the root, if `found` is a symbolic link in this path. If `root` is given, it replaces
    /// the URL of the tree's root.
    pub(crate) fn path_beyond_link(
        &self,
        found: FoundFile,
        url: &str,
        root: Option<&RootUrl>,
    ) -> Option<Vec<u8>> {
        if !matches!(self.kind(found.number), ResourceKind::Link(_)) {
            return None;
        }
        let path = self.path_below(root, without_query(url))?;
        let rest = path.strip_prefix(self.path(found.number))?;
        rest.starts_with(b"/").then_some(path)
    }

    /// The path of a file below the root, with `/` between names, in the system's encoding.
    #[must_use]
    pub fn path(&self, number: usize) -> &[u8] {
        if number < self.files.len() {
            self.files.text(number)
        } else {
            b""
        }
    }

    /// True if the resource with this number is a file.
    pub(super) fn is_file(&self, number: usize) -> bool {
        *self.kind(number) == ResourceKind::File
    }

    fn kind(&self, number: usize) -> &ResourceKind {
        self.others.get(&number).unwrap_or(&ResourceKind::File)
    }

    /// Pairs of files whose paths differ only in case. A file system that ignores case can store only one file of each
    /// pair. If more than two files collide, each is paired with the first.
    #[must_use]
    pub fn doubles(&self) -> &[(usize, usize)] {
        &self.doubles
    }

    /// True if the name of the file is that of a page, or of a program that generates pages. With another query, the
    /// URL of such a file leads to another page.
    #[must_use]
    pub fn is_page(&self, number: usize) -> bool {
        is_page_name(split_name(self.path(number)).1)
    }

    /// The number of resources.
    #[must_use]
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// The number of the resource with this name.
    #[must_use]
    pub fn number_at(&self, path: &[u8]) -> Option<usize> {
        self.files.number(path)
    }

    /// The URL of the root, if URLs lead to files only by their paths below it.
    pub(crate) fn folder_url(&self) -> Option<&str> {
        self.origins
            .root_url
            .as_ref()
            .filter(|_| self.has_only_paths())?
            .folder()
    }

    /// The file at this path below the root, if the path is the same in URLs, byte for byte.
    pub(crate) fn plain_file(&self, path: &[u8]) -> Option<usize> {
        let number = self
            .number_at(path)
            .filter(|_| PathBelowRoot::is_plain(path))?;
        self.is_file(number).then_some(number)
    }

    /// Finds the place to which `url` leads, ignoring its fragment.
    #[must_use]
    pub fn find(&self, url: &str) -> TargetPlace {
        self.find_with_tail(url).0
    }

    /// Like [`find`](Self::find), but also returns the offset in `url` at which the part after the URL of the root
    /// begins, if [`moved`](Self::moved) keeps that part.
    pub(crate) fn find_with_tail(&self, url: &str) -> (TargetPlace, Option<usize>) {
        let found = |number, query_counts| {
            TargetPlace::Inside(Ok(FoundFile {
                number,
                query_counts,
            }))
        };
        let by_url = |with_query| {
            let normal = (self.urls.len() > 0).then(|| normal(url, with_query))??;
            let known = |url: &str| match self.urls.get(url.as_bytes()) {
                Some(UrlTarget::Resource(number)) => Some(*number as usize),
                _ => None,
            };
            known(&normal).or_else(|| known(&other_web(&normal)?))
        };
        let has_query = Reference::split(Grammar::Rfc3986, url).query_span.is_some();
        if let Some(number) = by_url(true) {
            return (found(number, has_query), None);
        }
        if self.only_urls {
            return (TargetPlace::Outside, None);
        }
        if let Some(below) = self
            .origins
            .root_url
            .as_ref()
            .and_then(|root| root.below_own(url))
        {
            if has_query && let Some(number) = self.named_with_query(url, &below) {
                return (found(number, true), None);
            }
            let tail = below.tail.filter(|_| !below.names_root);
            return (TargetPlace::Inside(self.named(&below, false)), tail);
        }
        if let Some(number) = by_url(false) {
            return (found(number, false), None);
        }
        let Some(mut below) = self.laid_out(without_query(url)) else {
            return (TargetPlace::Outside, None);
        };
        if has_query {
            let number = self.paths(url).find_map(|path| self.number_at(&path));
            if let Some(number) = number {
                return (found(number, true), None);
            }
        }
        let mut paths = self.paths(without_query(url));
        if let Some(path) = paths.find(|path| self.number_at(path).is_some()) {
            below.path = path;
        }
        (TargetPlace::Inside(self.named(&below, false)), None)
    }

    /// The path of `url` below the root of the tree, whether or not it has a file.
    pub(crate) fn path_of_url(&self, url: &str) -> Option<Vec<u8>> {
        let below = self
            .origins
            .root_url
            .as_ref()?
            .below_own(without_query(url))?;
        below.is_path.then_some(below.path)
    }

    /// The scheme of references that lack only a scheme.
    pub(crate) fn scheme(&self) -> &str {
        &self.origins.scheme
    }

    /// The path of `url`, which has no query, below `root`, or else below the root of the tree.
    pub(super) fn path_below(&self, root: Option<&RootUrl>, url: &str) -> Option<Vec<u8>> {
        let below = match root.or(self.origins.root_url.as_ref()) {
            Some(root) => root.below(url),
            None => self.laid_out(url),
        };
        below.filter(|below| below.is_path).map(|below| below.path)
    }

    /// The file whose name contains the query of `url`.
    fn named_with_query(&self, url: &str, below: &PathBelowRoot) -> Option<usize> {
        let query = Reference::split(Grammar::Rfc3986, url)
            .query()
            .filter(|_| below.is_path)?;
        let escaped = names::escape_where(&names::decode(query), |byte| byte == b'/');
        self.file_at(&[&below.path, &b"?"[..], &escaped].concat())?
            .ok()
    }

    /// The path of `url`, which has no query, in folders named after hosts; `None` if the tree does not contain the
    /// host.
    fn laid_out(&self, url: &str) -> Option<PathBelowRoot> {
        let (mut path, path_at) = self.host_folder(url)?;
        let mut below = RootUrl::of_file(&format!("{}/", &url[..path_at])).below(url)?;
        path.push(b'/');
        path.append(&mut below.path);
        Some(PathBelowRoot {
            path,
            names_root: false,
            ..below
        })
    }

    /// The possible paths of `url`. The case of a host does not matter (RFC 3986, 3.2.2), so its folder has the name
    /// that exists in the tree.
    fn paths(&self, url: &str) -> impl Iterator<Item = Vec<u8>> + use<'_> {
        self.origins.paths(url).into_iter().map(|path| {
            let path = names::path_bytes(&path);
            let (host, rest) = path.split_at(memchr::memchr(b'/', &path).unwrap_or(path.len()));
            match self
                .with_capitals
                .get(host)
                .filter(|_| !self.folders.contains_key(host))
            {
                Some(folder) => [&**folder, rest].concat(),
                None => path,
            }
        })
    }

    /// The folder for the host of `url`, and the offset of the path in `url`.
    fn host_folder(&self, url: &str) -> Option<(Vec<u8>, usize)> {
        let FolderLayout::Host = self
            .origins
            .layout
            .filter(|_| self.origins.root_url.is_none())?;
        let path_at = Reference::split(Grammar::Rfc3986, url).path_span.start;
        let paths = self.paths(&format!("{}/x", &url[..path_at]));
        let mut folders = paths.map(|path| split_name(&path).0.to_vec());
        let folder = folders.find(|folder| self.folders.contains_key(folder.as_slice()))?;
        Some((folder, path_at))
    }

    /// Finds `url` as if the root of the tree had the URL `root`. Files are found only by their paths. If `root` is a
    /// `file` URL, the tree is read from disk, where a folder has no index file.
    #[must_use]
    pub fn find_below(&self, root: &RootUrl, url: &str) -> TargetPlace {
        match root.below(url) {
            Some(below) => TargetPlace::Inside(self.named(&below, is_disk(root))),
            None => TargetPlace::Outside,
        }
    }

    /// True if the folders are named after hosts, as crawlers name them.
    pub(crate) fn is_of_hosts(&self) -> bool {
        self.origins.layout.is_some() && self.origins.root_url.is_none()
    }

    /// True if URLs lead to files only by their paths below the URL of the root.
    pub(crate) fn has_only_paths(&self) -> bool {
        self.origins.root_url.is_some() && self.urls.len() == 0
    }

    /// The URL of the same resource after the tree has moved to `root`. `None` if `url` is neither below the URL of the
    /// root nor on a host in the tree. The part after the URL of the root keeps its bytes, including query and
    /// fragment.
    #[must_use]
    pub fn moved(&self, url: &str, root: &RootUrl) -> Option<String> {
        let to = root.as_str();
        if let Some(from) = &self.origins.root_url {
            let below = from.below_own(url)?;
            return match below.tail {
                _ if below.names_root => None,
                tail => Some(format!("{to}{}", &url[tail?..])),
            };
        }
        let (folder, path_at) = self.host_folder(url)?;
        let folder = names::segment(&folder, names::Percent::Encode)?;
        Some(format!(
            "{to}{folder}/{}",
            url[path_at..].strip_prefix('/').unwrap_or_default()
        ))
    }

    /// The file at a path below the root.
    fn named(&self, below: &PathBelowRoot, on_disk: bool) -> Result<FoundFile, Missing> {
        let found = |number| {
            Ok(FoundFile {
                number,
                query_counts: false,
            })
        };
        let missing = |absence, hint| Err(Missing { absence, hint });
        let path = below.path.as_slice();
        let is_folder = names_folder(path);
        let folder = path.strip_suffix(b"/").unwrap_or(path);
        if below.is_path {
            match self
                .number_at(path)
                .map(|number| (number, self.kind(number)))
            {
                Some((_, ResourceKind::Special)) => return missing(Absence::Special, None),
                Some((number, ResourceKind::File)) if !is_folder => return found(number),
                _ => {}
            }
            let slash = || format!("{}/", shown(folder));
            if let Some(index) = self
                .folders
                .contains_key(folder)
                .then(|| self.index_of(folder))
            {
                return match index {
                    Some(Ok(number)) if on_disk => {
                        missing(Absence::NoIndex, Some(shown(self.path(number))))
                    }
                    Some(Ok(number)) if is_folder && !below.names_root => found(number),
                    Some(Err(absence)) if is_folder && !on_disk => missing(absence, None),
                    Some(_) => missing(Absence::NoSlash, (!folder.is_empty()).then(slash)),
                    None => missing(Absence::NoIndex, None),
                };
            }
            match self.path_end(path) {
                None => {}
                Some(PathEnd::Unknown(number)) => return found(number),
                Some(PathEnd::Out) => return missing(Absence::LinkOut, None),
                Some(PathEnd::Nowhere) => return missing(Absence::LinkNowhere, None),
                Some(PathEnd::To(path)) => {
                    let mut found = self.named(
                        &PathBelowRoot {
                            path,
                            ..below.clone()
                        },
                        on_disk,
                    );
                    if let Err(Missing {
                        absence: Absence::NoSlash,
                        hint,
                    }) = &mut found
                    {
                        *hint = Some(slash());
                    }
                    return found;
                }
            }
        }
        let (absence, hint) = self.nearest(path, is_folder, below.is_path);
        missing(absence, hint.map(|number| shown(self.path(number))))
    }

    /// The end of `path` after following symbolic links; `None` if it contains no link.
    fn path_end(&self, path: &[u8]) -> Option<PathEnd> {
        path_end(path, |path| {
            match self
                .number_at(path)
                .map(|number| (number, self.kind(number)))
            {
                Some((number, ResourceKind::Link(text))) => {
                    Some(EntryAt::Link(number, text.as_deref()))
                }
                Some(_) => Some(EntryAt::NotLink),
                None => self.folders.contains_key(path).then_some(EntryAt::NotLink),
            }
        })
    }

    /// The file at `path` after following symbolic links; `None` if it does not exist or is a special file.
    pub(super) fn file_at(&self, path: &[u8]) -> Option<Result<usize, Absence>> {
        let number = self.number_at(path)?;
        match self.kind(number) {
            ResourceKind::Link(_) => match self.path_end(path) {
                Some(PathEnd::To(real)) => self.number_at(&real).map(Ok),
                Some(PathEnd::Out) => Some(Err(Absence::LinkOut)),
                Some(PathEnd::Nowhere) => Some(Err(Absence::LinkNowhere)),
                Some(PathEnd::Unknown(_)) | None => Some(Ok(number)),
            },
            ResourceKind::Special => None,
            ResourceKind::File => Some(Ok(number)),
        }
    }

    /// The index file of a folder; `None` if it has none. If the index file is a symbolic link that leads to no file in
    /// the tree, the result is the reason.
    pub(super) fn index_of(&self, folder: &[u8]) -> Option<Result<usize, Absence>> {
        self.names
            .iter()
            .find_map(|name| self.file_at(&joined(folder, names::bytes(name))))
    }

    /// The reason for the absence of `path`, and a similar file.
    fn nearest(&self, path: &[u8], is_folder: bool, is_path: bool) -> (Absence, Option<usize>) {
        let mut wanted = vec![path.to_vec()];
        if is_folder {
            wanted.extend(
                self.names
                    .iter()
                    .map(|name| [path, names::bytes(name)].concat()),
            );
        }
        for path in wanted {
            let Some(&number) = self.alike.get(&hashed(&folded(&path))) else {
                continue;
            };
            let own = self.path(number);
            let has_empty = path.ends_with(b"/") || memchr::memmem::find(&path, b"//").is_some();
            let absence = match () {
                () if has_empty && without_empty(&path) == own => Absence::Absent,
                () if is_path && is_alike_in_case(own, &path) => Absence::Case,
                () if is_path && composed(own) == composed(&path) => Absence::Normalization,
                () => Absence::Encoding,
            };
            return (absence, Some(number));
        }
        if !is_path {
            return (Absence::NoName, None);
        }
        let (folder, name) = split_name(path);
        let hint = self.hints.of(path, || self.hint(folder, name));
        (Absence::Absent, hint)
    }

    /// A file with a name similar to `name` in `folder`.
    fn hint(&self, folder: &[u8], name: &[u8]) -> Option<usize> {
        /// The minimum length of a name, without its extension, for a hint at a file of this name in any folder. A
        /// shorter name is searched for only in the parent folder and in subfolders.
        const MIN_STEM: usize = 3;
        self.neighbour(folder, name).or_else(|| {
            let number = *self.by_name.get(&hashed(name))?;
            let (other_folder, other_name) = split_name(self.path(number));
            let is_near =
                || split_name(other_folder).0 == folder || split_name(folder).0 == other_folder;
            (other_name == name && (stem(name).len() >= MIN_STEM || is_near())).then_some(number)
        })
    }

    /// The file in `folder` whose name needs the fewest changes to become `name`.
    fn neighbour(&self, folder: &[u8], name: &[u8]) -> Option<usize> {
        /// The number of files compared before and after the sorted position of `name`. The limit keeps the time for
        /// all hints linear.
        const COMPARED: usize = 64;
        let most = (stem(name).len() / 3).min(3);
        let files = self.folders.get(folder)?;
        let own = |number: &usize| split_name(self.path(*number)).1;
        let at = files.partition_point(|number| own(number) < name);
        let near = &files[at.saturating_sub(COMPARED)..files.len().min(at + COMPARED)];
        let distances = near.iter().filter_map(|number| {
            let changes = changes(own(number), name, most)?;
            Some((changes, *number))
        });
        distances.min().map(|(_, number)| number)
    }
}

/// True if `root` is a `file` URL, so that the tree is read from disk.
pub(crate) fn is_disk(root: &RootUrl) -> bool {
    let scheme = Reference::split(Grammar::Rfc3986, root.as_str()).scheme();
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file"))
}

/// The URL of the file `path` below `root`.
pub(crate) fn url_below(root: &RootUrl, path: &[u8]) -> Option<String> {
    Some(format!(
        "{}{}",
        root.as_str(),
        names::path(path, names::Percent::Encode)?
    ))
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

fn hashed(key: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
