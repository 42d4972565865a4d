//! The resources of a site, with their names, URLs and kinds.
//!
//! The retrieval URL of a file (RFC 1808, 3.3) comes from a map, a comment or an attribute. Otherwise it is the URL of the
//! root with the path of the file, or it is derived from the names that crawlers give.
//!
//! ```
//! use baselink_site::collection::{Collection, FoundBy, Located, ResourceKind};
//! let mut collection = Collection::default();
//! collection.add(b"a.example/list.html", ResourceKind::File, ["http://a.example/list?page=1", "http://a.example/"]);
//! let Located::Resource(found) = collection.locate("HTTP://A.example:80#x") else { panic!() };
//! assert_eq!((found.number, found.by), (0, FoundBy::Url));
//! assert_eq!(collection.locate("http://a.example/x"), Located::Outside { is_host_known: false });
//! ```
//!
//! Deliberately absent: finding the resource of a URL, which is the task of [`super::locate`], and the file system.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU8, Ordering},
    },
};

use baselink_url::scheme_of;
use indexmap::{IndexMap, IndexSet};

use super::{
    host_rules::HostRules,
    near::{NearNames, without_case},
    normal::{host, normal},
    origin::{Origins, PathBelowRoot, RootUrl, hosts, names},
    path::{is_page_name, joined, names_folder, split_name},
    same::SameTable,
};

/// The default names of index files, as on servers.
const INDEX_NAMES: [&[u8]; 2] = [b"index.html", b"index.htm"];

/// The reason why a URL inside a tree leads to no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// No file has the name.
    Absent,
    /// A file has this name in different case.
    Case,
    /// A file has this name with different percent-encoding or character encoding.
    Encoding,
    /// The URL leads to a folder without an index file. On disk, index files do not count.
    NoIndex,
    /// The name cannot be that of a file: it contains an encoded `/` or NUL, or is an encoded `.` or `..`.
    NoName,
    /// The entry is not a regular file, but a FIFO, a socket or a device.
    Special,
    /// A file has this name in a different Unicode normalization form.
    Normalization,
    /// A symbolic link in the path leads out of the tree.
    LinkOut,
    /// A symbolic link in the path is broken or circular.
    LinkNowhere,
    /// A file has this name with an extension and without the final `/`.
    Slash,
    /// The rules of the host lead from the URL to nothing, or in a circle.
    Redirect,
}

/// The kind of a resource.
#[derive(Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// A regular file.
    File,
    /// A symbolic link with its text. Without a text: a symbolic link with an unknown target, or an unreadable entry.
    Link(Option<Box<[u8]>>),
    /// A FIFO, a socket or a device.
    Special,
}

/// The end of a path after following symbolic links.
#[derive(PartialEq, Eq)]
pub enum PathEnd {
    /// A path without symbolic links.
    To(Vec<u8>),
    /// An unknown path: the path contains the symbolic link with this number, whose target is unknown.
    Unknown(usize),
    /// No path in the tree, for this reason.
    Lacking(Absence),
}

/// The new paths of files and folders, by old path.
pub(super) type NewNames = HashMap<Box<[u8]>, Box<[u8]>>;

/// The target of a known URL.
#[derive(Clone, Copy, Debug, Default)]
pub enum UrlTarget {
    /// The resource with this number.
    Resource(u32),
    /// A capture with this status, which is not a resource.
    Failure(u16),
    /// A capture that was not selected.
    #[default]
    Outside,
}

/// A number in 32 bits. Memory runs out before the numbers do.
pub(crate) fn saturated(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl UrlTarget {
    /// The resource with this number.
    pub(super) fn of(number: usize) -> Self {
        Self::Resource(saturated(number))
    }
}

/// Resources, indexed by name and URL. Memory grows with the names and URLs. More than ten fields: indexes of the same
/// resources, and the few facts about the site that each question needs.
#[derive(Debug, Default)]
pub struct Collection {
    pub(super) origins: Origins,
    /// Prefixes of URLs that mean the same.
    pub same: Arc<SameTable>,
    /// The paths of the resources.
    pub(super) files: IndexSet<Box<[u8]>>,
    /// The kinds of the resources that are not files.
    pub(super) others: HashMap<usize, ResourceKind>,
    /// The targets of URLs that cannot be derived from the URL of the root, by normalized URL.
    pub(super) urls: IndexMap<Box<str>, UrlTarget>,
    /// The folders in the root. A folder without files is present only if it was added.
    folders: HashSet<Box<[u8]>>,
    /// The folders that are named after hosts, by `//` and the net_loc in lower case.
    pub(super) folders_of_hosts: HashMap<String, Box<[u8]>>,
    /// The index for names that resemble a missing one; built on the first request.
    pub(super) near: OnceLock<NearNames>,
    /// The files with escaped names, by decoded path; built on the first request.
    pub(super) decoded: OnceLock<HashMap<Vec<u8>, usize>>,
    /// True if the names of files are those on a server. A crawler gave none of them.
    pub is_served: bool,
    /// True if resources are found by their URLs alone, query included, and never by their names.
    pub(crate) only_urls: bool,
    /// True if the copy lacks the symbolic links.
    pub(super) lacks_links: bool,
    /// The media types of files whose names do not tell them.
    pub media_types: HashMap<usize, &'static str>,
    /// The new paths of files that get other names.
    pub(super) renamed: HashMap<usize, Box<[u8]>>,
    /// True if files are renamed for a mirror elsewhere.
    pub(super) is_mirror: bool,
    /// The new paths of renamed folders, by old path. They apply to URLs below a folder that lead to no file.
    pub(super) renamed_folders: NewNames,
    /// The length of the longest old path of a renamed folder.
    pub(super) longest_renamed: usize,
    /// The hosts of resources, and of captures that lead to none. Empty unless the resources are captures.
    pub(super) hosts: HashSet<Box<str>>,
    /// The entities of resources in a message with labels that several parts have.
    pub(super) entities: HashMap<usize, Arc<str>>,
    /// The captured resources with incomplete bodies.
    pub(super) cut: HashSet<usize>,
    /// True for the captures of archives, and for a library.
    pub has_captures: bool,
    /// The fragments of redirects, by the number of the URL that redirects.
    pub(crate) fragments: HashMap<usize, Box<str>>,
    /// The redirects and rewrites of the host. They count if the root of the site is that of its host.
    pub host_rules: HostRules,
    /// The uses of resources by the documents so far, as bits. Empty unless they are noted.
    pub(super) uses: Vec<AtomicU8>,
    /// The files and captures of all sources that open together with these captures; `None` if these are all.
    pub library: Option<Arc<Collection>>,
    /// True for the parts of a message in a library. To retrieve what they lack would tell the sender.
    pub is_of_mail: bool,
    /// The path of the folder of the files, below the folder that opens: empty, or with a final `/`.
    pub folder: Box<[u8]>,
}

/// The bits of the ways in which other documents use a resource: in any way, by a link, as a frame.
const USES: [u8; 3] = [1, 2, 4];

impl Collection {
    /// Creates an empty collection. `origins` determine the URLs that are derived from names.
    pub fn new(origins: Origins) -> Self {
        Self {
            origins,
            ..Self::default()
        }
    }

    /// The names of index files.
    pub(super) fn index_names(&self) -> impl Iterator<Item = &[u8]> {
        let own = self.origins.index.iter();
        own.map(|name| name.as_encoded_bytes()).chain(INDEX_NAMES)
    }

    /// `path`, and those of its index files if it is that of a folder in a URL.
    pub(super) fn with_index(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let index = self.index_names().filter(|_| names_folder(path));
        let index = index.map(|name| [path, name].concat());
        [path.to_vec()].into_iter().chain(index).collect()
    }

    /// Adds the host of the captured `url`.
    pub(super) fn add_host(&mut self, url: &str) {
        let host = host(url);
        if !self.hosts.contains(host) {
            self.hosts.insert(host.into());
        }
    }

    /// True if a folder has this path.
    pub(super) fn has_folder(&self, path: &[u8]) -> bool {
        path.is_empty() || self.folders.contains(path)
    }

    /// The statuses of the URLs that were captured but are not resources.
    pub fn failures(&self) -> impl Iterator<Item = u16> {
        self.urls.values().filter_map(|target| match target {
            UrlTarget::Failure(status) => Some(*status),
            UrlTarget::Resource(_) | UrlTarget::Outside => None,
        })
    }

    /// True if the body of the captured resource with this number is incomplete.
    pub fn is_cut(&self, number: usize) -> bool {
        self.cut.contains(&number)
    }

    /// Adds the resource at `path` below the root, with `/` between the names, and the retrieval URLs that are not derived from its
    /// name. If two resources share a URL or a name, the first wins. Returns the number of the resource, if it was added.
    pub fn add<'u>(
        &mut self,
        path: &[u8],
        kind: ResourceKind,
        urls: impl IntoIterator<Item = &'u str>,
    ) -> Option<usize> {
        let added = (!path.is_empty()).then(|| self.files.insert_full(path.into()));
        let Some((number, true)) = added else {
            return None;
        };
        for url in urls.into_iter().filter_map(normal) {
            // The first resource wins.
            let target = UrlTarget::of(number);
            self.urls.entry(url.into()).or_insert(target);
        }
        if kind != ResourceKind::File {
            self.others.insert(number, kind);
        }
        (self.near, self.decoded) = Default::default();
        self.add_folder(split_name(path).0);
        Some(number)
    }

    /// Makes `url`, which is normalized, lead to the resource with this number, replacing any previous target. Returns its number.
    pub(super) fn assign_url(&mut self, number: usize, url: &str) -> usize {
        let target = UrlTarget::of(number);
        self.urls.insert_full(url.into(), target).0
    }

    /// Adds a folder and its parents.
    pub(super) fn add_folder(&mut self, path: &[u8]) {
        let mut around = path;
        while !self.has_folder(around) {
            self.folders.insert(around.into());
            let (outer, name) = split_name(around);
            let hosts = &self.origins.host_folders;
            let is_place = if hosts.is_empty() {
                outer.is_empty()
            } else {
                hosts.contains_key(around)
            };
            if is_place
                && let Some(net_loc) = str::from_utf8(name)
                    .ok()
                    .and_then(|name| hosts::net_loc(name, "https"))
            {
                let host = format!("//{}", net_loc.to_ascii_lowercase());
                self.folders_of_hosts
                    .entry(host)
                    .or_insert_with(|| around.into());
            }
            around = outer;
        }
    }

    /// The path of a file below the root, with `/` between names, in the system's encoding.
    pub fn path(&self, number: usize) -> &[u8] {
        self.files.get_index(number).map_or(b"", |path| path)
    }

    /// True if the resource with this number is a file.
    pub(super) fn is_file(&self, number: usize) -> bool {
        *self.kind(number) == ResourceKind::File
    }

    pub(super) fn kind(&self, number: usize) -> &ResourceKind {
        self.others.get(&number).unwrap_or(&ResourceKind::File)
    }

    /// Pairs of files whose paths differ only in case. A file system that ignores case can store only one file of each
    /// pair. If more than two files collide, each is paired with the first.
    pub fn doubles(&self) -> Vec<(usize, usize)> {
        let mut firsts = HashMap::new();
        let mut doubles = Vec::new();
        for number in 0..self.count() {
            let first = *firsts
                .entry(without_case(self.path(number)))
                .or_insert(number);
            if first != number {
                doubles.push((first, number));
            }
        }
        doubles
    }

    /// True if the name of the file is that of a page, or of a program that generates pages. With another query, the
    /// URL of such a file leads to another page.
    pub fn is_page(&self, number: usize) -> bool {
        is_page_name(split_name(self.path(number)).1)
    }

    /// The number of resources.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// The number of the resource with this name.
    pub fn number_at(&self, path: &[u8]) -> Option<usize> {
        self.files.get_index_of(path)
    }

    /// True if a document leads to a resource in any way.
    pub fn is_used(&self, number: usize) -> bool {
        self.uses_of(number) > 0
    }

    /// Notes the uses of resources from now on.
    pub fn note_uses(&mut self) {
        self.uses.resize_with(self.files.len(), Default::default);
    }

    /// Notes that a document links to a resource, embeds it as a frame, or uses it otherwise.
    pub(crate) fn note_use(&self, number: usize, is_linked: bool, is_frame: bool) {
        let [used, linked, frame] = USES;
        let bits = used + linked * u8::from(is_linked) + frame * u8::from(is_frame);
        if let Some(uses) = self.uses.get(number) {
            uses.fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// True if documents embed a resource as a frame, and none links to it.
    pub fn is_only_frame(&self, number: usize) -> bool {
        let [used, _, frame] = USES;
        self.uses_of(number) == used | frame
    }

    fn uses_of(&self, number: usize) -> u8 {
        let uses = self.uses.get(number);
        uses.map_or(0, |uses| uses.load(Ordering::Relaxed))
    }

    /// The URL of the root.
    pub fn root_url(&self) -> Option<&RootUrl> {
        self.origins.root_url.as_ref()
    }

    /// The URL of the root, if URLs lead to files only by their paths below it.
    pub fn folder_url(&self) -> Option<&str> {
        self.root_url().filter(|_| self.has_only_paths())?.folder()
    }

    /// The file at this path below the root, if the path is the same in URLs, byte for byte, and no rule of the host can
    /// precede a file.
    pub fn plain_file(&self, path: &[u8]) -> Option<usize> {
        let number = self
            .number_at(path)
            .filter(|_| PathBelowRoot::is_plain(path) && self.host_rules.is_empty())?;
        self.is_file(number).then_some(number)
    }

    /// True if the folders are named after hosts, as crawlers name them.
    pub fn is_of_hosts(&self) -> bool {
        let origins = &self.origins;
        (origins.has_hosts && origins.root_url.is_none()) || !origins.host_folders.is_empty()
    }

    /// True if the files stay in their places: no mirror is made of them.
    pub(crate) fn keeps_places(&self) -> bool {
        !self.only_urls && !self.is_mirror
    }

    /// True if URLs lead to files only by their paths below the URL of the root.
    pub(crate) fn has_only_paths(&self) -> bool {
        self.origins.root_url.is_some() && self.urls.is_empty()
    }

    /// The scheme of references that lack only a scheme.
    pub(crate) fn scheme(&self) -> &str {
        self.origins.scheme()
    }

    /// Prepares the collection for a copy without symbolic links: those that lead out of the tree lead to nothing.
    pub fn without_links(&mut self) {
        self.lacks_links = true;
        let leads_out = |number: &usize| {
            let end = self.path_end(self.path(*number));
            matches!(end, Some(PathEnd::Lacking(Absence::LinkOut)))
        };
        let out: Vec<usize> = self.others.keys().copied().filter(leads_out).collect();
        for number in out {
            self.others.insert(number, ResourceKind::Special);
        }
    }

    /// The path in the mirror of the resource with this number, for a link to `url`. It leads through the symbolic links
    /// through which `url` leads, if the mirror has them.
    pub(crate) fn path_for(&self, url: &str, number: usize) -> Cow<'_, [u8]> {
        let own = self.path_in_mirror(number);
        let is_direct = self.others.is_empty() || self.lacks_links || own != self.path(number);
        let through = if is_direct {
            None
        } else {
            self.path_through_links(url, own)
        };
        through.map_or(Cow::Borrowed(own), Cow::Owned)
    }

    /// The path through symbolic links to the file `own` to which `url` leads.
    fn path_through_links(&self, url: &str, own: &[u8]) -> Option<Vec<u8>> {
        let below = self.root_url()?.below_own(url)?;
        let asked = below.path.strip_suffix(b"/").unwrap_or(&below.path);
        let added = ["", ".html", ".htm"].map(|added| [asked, added.as_bytes()].concat());
        let index = self.index_names().map(|name| joined(asked, name));
        let mut paths = added.into_iter().chain(index);
        paths.find(|path| self.path_end(path) == Some(PathEnd::To(own.to_vec())))
    }

    /// The file at `path` after following symbolic links; `None` if it does not exist or is a special file.
    pub(super) fn file_at(&self, path: &[u8]) -> Option<Result<usize, Absence>> {
        let number = self.number_at(path)?;
        match self.kind(number) {
            ResourceKind::Link(_) => match self.path_end(path) {
                Some(PathEnd::To(real)) => self.number_at(&real).map(Ok),
                Some(PathEnd::Lacking(absence)) => Some(Err(absence)),
                Some(PathEnd::Unknown(_)) | None => Some(Ok(number)),
            },
            ResourceKind::Special => None,
            ResourceKind::File => Some(Ok(number)),
        }
    }

    /// The index file of a folder; `None` if it has none. If the index file is a symbolic link that leads to no file in
    /// the tree, the result is the reason.
    pub(super) fn index_of(&self, folder: &[u8]) -> Option<Result<usize, Absence>> {
        self.index_names()
            .find_map(|name| self.file_at(&joined(folder, name)))
    }
}

/// True if `root` is a `file` URL, so that the tree is read from disk.
pub fn is_disk(root: &RootUrl) -> bool {
    let scheme = scheme_of(root.as_str());
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file"))
}

/// The URL of the file `path` below `root`.
pub fn url_below(root: &RootUrl, path: &[u8]) -> Option<String> {
    Some(format!("{}{}", root.as_str(), names::encoded(path)?))
}
