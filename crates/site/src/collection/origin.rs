//! Retrieval URLs of files in folders (RFC 1808, 3.3).
//!
//! The first of these sources that has a URL wins:
//!
//! 1. `url-map`: a table of files and URLs ([`map`]);
//! 2. `retrieval`: the URL of the root and the path below it, percent-encoded (RFC 3986, 2.1 and 3.3);
//! 3. `layout`: the names of the folders, as crawlers write them ([`Origins::has_hosts`]);
//! 4. `saved-from`: a comment in the page, written by the program that saved it ([`saved`]);
//! 5. `xattr`: the extended attribute `user.xdg.origin.url`
//!    (<https://www.freedesktop.org/wiki/CommonExtendedAttributes/>), as `curl --xattr` and `wget --xattr` write it.
//!    wget writes the last URL after redirects. If a layout is given, the attribute precedes source 3, because the
//!    attribute is a record and the layout only a convention;
//! 6. `canonical`: the canonical URL that the page declares ([`canonical`]), if requested.
//!
//! A URL that is not absolute and hierarchical is skipped with a message, except in source 2. The fragment in sources 4, 5 and 6 is
//! ignored, because it names a position in the page.
//!
//! ```
//! use std::path::Path;
//! use baselink_text::Format;
//! use baselink_site::collection::origin::Origins;
//! use baselink_files::walk::{EntryKind, TreeEntry};
//! let entry = TreeEntry {
//!     root: Path::new("crawl").into(),
//!     relative: ["a.example:8080", "b", "c?d=e"].map(Into::into).to_vec(),
//!     path: "crawl/a.example:8080/b/c?d=e".into(),
//!     kind: EntryKind::File,
//!     size: 0,
//! };
//! let origins = Origins { has_hosts: true, ..Origins::default() };
//! let (retrieval, _) = origins.of(&entry, &entry, Format::Html, b"");
//! let retrieval = retrieval.unwrap();
//! assert_eq!(retrieval.url, "https://a.example:8080/b/c?d=e");
//! assert_eq!(retrieval.source.name(), "layout");
//! ```
//!
//! Deliberately absent: the base that a document declares (3.1), which precedes all of these; and guesses, so
//! `page.html` does not become `/page`. The `.html` is removed only after the extension of a program, as in
//! `list.php.html`, because a crawler has added it.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ffi::OsString,
    path::{Component, Path},
    sync::Arc,
};

use baselink_rewrite::{NearbyFiles, Retrieval, Source, base::abridged};
use baselink_scan::{Saved, html::saved};
use baselink_text::{Error, Format, Result, name};
use baselink_url::{self as resolve, Reference, reference::without_query, without_fragment};

use baselink_files::{maildir, walk::TreeEntry};
pub(crate) use baselink_url::normal::{is_dots, net_loc, segments};

use crate::collection::{
    companion::Companions,
    path::{PROGRAMS, joined, split_name},
};

pub mod canonical;
pub mod expected;
pub mod hosts;
pub mod map;
pub mod names;
pub(crate) mod usable;

use map::UrlMap;
use usable::unusable;

/// The sources of retrieval URLs for files.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// A table of files and their URLs.
    pub map: Option<Arc<UrlMap>>,
    /// The URL of every root.
    pub root_url: Option<RootUrl>,
    /// The names of index files, such as `index.html`. The URL of such a file ends with `/`.
    pub index: Vec<OsString>,
    /// True if the folders in the roots are named after hosts: `host/path`, as wget and other crawlers write it.
    ///
    /// The port is part of the host name: `host:8080`, `host+8080` as wget writes it for Windows, or `host_8080` as
    /// HTTrack writes it. The first folder must be a valid host name in ASCII.
    ///
    /// A `?` in a file name begins the query, as wget writes it by default. With `--restrict-file-names=windows`, wget
    /// writes `@` instead, but an `@` stays an `@`, because the URL may contain one. A `%` with two hexadecimal digits
    /// is an escape. wget decodes most escapes, so `?a=%26` becomes `?a=&`; if that matters, use a map.
    pub has_hosts: bool,
    /// The paths of folders that are named after hosts, below the root, with the schemes of their URLs, if other folders are not.
    /// The layout applies only to these.
    pub host_folders: BTreeMap<Vec<u8>, &'static str>,
    /// The scheme of URLs from the names of hosts, and of the URLs that HTTrack records without a scheme; `None` if `https` is
    /// only assumed. Reports then mention the assumption.
    pub given_scheme: Option<String>,
    /// True if the extended attributes of files are ignored.
    pub ignores_xattr: bool,
    /// True if root URL and layout do not apply to files in companion folders.
    pub keeps_local_copies: bool,
    /// The cache of companion folders. It also tells if the comments of programs that saved pages are used.
    pub companions: Companions,
    /// True if the canonical URLs of pages are used.
    pub canonical: bool,
    /// True if the URL of the root is assumed. This source then ranks last.
    pub assumes_root: bool,
    /// True if the archives in a folder, and its other files, answer only their own links.
    pub keeps_apart: bool,
    /// True if the URLs of later sources are also collected, for display ([`Retrieval::others`]).
    pub every_source: bool,
}

/// The URL of a root, which is a folder or a single named file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootUrl {
    given: String,
    /// The URL in ASCII with its final `/`; `None` if no path can follow it.
    folder: Option<String>,
    /// The only file in the folder that has the URL.
    page: Option<OsString>,
}

impl RootUrl {
    /// Creates the URL of a folder, adding a missing final `/`. A single named file gets the URL as given.
    ///
    /// # Errors
    ///
    /// Returns an error unless the URL is absolute and hierarchical, without query and fragment.
    pub fn new(url: &str) -> Result<Self> {
        let root = Self::of_file(url);
        root.is_of_a_folder().map(|()| root)
    }

    /// The URL of the folder `path` on this machine, for a collection that is read from disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the path cannot be made absolute or represented as a URL.
    pub fn on_disk(path: &Path) -> Result<Self> {
        let failed = |error| Error::system(format!("{}: {error}", path.display()), error);
        let mut absolute = std::path::absolute(path).map_err(failed)?;
        // On Unix, this path may contain `..`, which a URL cannot represent.
        if absolute
            .components()
            .any(|part| part == Component::ParentDir)
        {
            absolute = absolute.canonicalize().map_err(failed)?;
        }
        let parts = absolute
            .components()
            .filter(|part| *part != Component::RootDir);
        let names = names::path_bytes(parts.map(Component::as_os_str));
        let none = || Error::file(path, "a URL cannot represent this path");
        let path = names::encoded(&names).ok_or_else(none)?;
        Self::new(&format!("file:///{path}"))
    }

    /// Checks that the URL can be the URL of a folder.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RootUrl::new`].
    pub fn is_of_a_folder(&self) -> Result<()> {
        if self.folder.is_some() {
            return Ok(());
        }
        let url = &self.given;
        let otherwise = || "the URL of a folder has no query and no fragment".to_owned();
        let why = unusable(url).unwrap_or_else(otherwise);
        Err(Error::new(format!("{url}: {why}")))
    }

    /// Creates the URL of a single named file, which is used as given. If [`RootUrl::new`] would reject the URL, files
    /// in folders get no URL from it.
    pub fn of_file(url: &str) -> Self {
        let slash = if url.ends_with('/') { "" } else { "/" };
        let is_of_a_folder = unusable(url).is_none() && !url.contains(['?', '#']);
        let folder = is_of_a_folder.then(|| format!("{}{slash}", resolve::ascii(url)));
        Self {
            given: url.to_owned(),
            folder,
            page: None,
        }
    }

    /// Restricts this URL to the file `page` of a folder. No other file gets a URL from it.
    pub fn of_page(self, page: OsString) -> Self {
        Self {
            folder: None,
            page: Some(page),
            ..self
        }
    }

    /// True if the URL is that of `entry`, and not that of its folder.
    pub(crate) fn is_of(&self, entry: &TreeEntry) -> bool {
        match &*entry.relative {
            [] => true,
            [name] => self.page.as_ref() == Some(name),
            _ => false,
        }
    }

    /// The root of a site with an unknown host. Its placeholder is a name that no host has (RFC 6761, 6.4).
    pub fn of_site(scheme: &str) -> Self {
        Self::of_file(&format!("{scheme}://{ASSUMED_HOST}"))
    }

    /// The root of a site with an unknown host that was built into `folder`, at the path at which its pages expect it.
    pub fn of_built_site(scheme: &str, folder: &Path) -> Self {
        let root = Self::of_site(scheme);
        match expected::expected_path(folder, root.as_str()) {
            Some(path) => Self::of_file(&format!("{}{path}", root.as_str())),
            None => root,
        }
    }

    /// The path at which the pages of a site with an unknown host expect its folder, unless it is the root of the host.
    pub fn expected_path(&self) -> Option<&str> {
        below_assumed(self.as_str()).filter(|path| !path.is_empty())
    }

    /// True if the folder is the root of its host.
    pub fn is_of_host(&self) -> bool {
        let root = Reference::of(self.as_str());
        root.path() == "/" && root.net_loc().is_some_and(|host| !host.is_empty())
    }

    /// The URL of a folder that does not exist.
    pub(crate) fn nowhere() -> Self {
        Self::of_file("https://elsewhere.invalid/elsewhere/")
    }

    /// The URL of the folder in ASCII with its final `/`, or the URL of a single file as given.
    pub fn as_str(&self) -> &str {
        self.folder.as_deref().unwrap_or(&self.given)
    }

    /// The URL in ASCII, and as given if it has characters beyond ASCII.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        let given = Some(&*self.given).filter(|given| !given.is_ascii());
        std::iter::once(self.as_str()).chain(given)
    }

    /// The path of `url` below the folder; `None` if `url` is elsewhere. Query and fragment are ignored, and dot
    /// segments are removed first (RFC 3986, 5.2.4).
    pub fn below(&self, url: &str) -> Option<PathBelowRoot> {
        self.below_by(url, str::eq_ignore_ascii_case)
    }

    /// Like [`below`](Self::below), but treats `http` and `https` as one scheme, because a host usually has the same
    /// resources under both.
    pub fn below_own(&self, url: &str) -> Option<PathBelowRoot> {
        self.below_by(url, is_same_web)
    }

    /// The URL of the folder with its final `/`; `None` if no path can follow the URL.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// `url`, which is below this root, with the root `to`. The part after the root keeps its bytes, including query and
    /// fragment.
    pub(crate) fn rerooted(&self, url: &str, to: &Self) -> Option<String> {
        let below = self.below_own(url)?;
        let (root, rest) = match below.tail {
            None if !below.names_root => return None,
            // The root without its final `/` may be a file.
            None if !to.is_of_host() => {
                (to.as_str().trim_end_matches('/'), without_query(url).len())
            }
            None => (to.as_str(), without_query(url).len()),
            Some(tail) => (to.as_str(), tail),
        };
        Some([root, &url[rest..]].concat())
    }

    /// True if `url` is on the host of this URL. `http` and `https` are one scheme.
    pub(crate) fn is_on_host_of(&self, url: &str) -> bool {
        let [own, url] = [self.as_str(), url].map(Reference::of);
        let schemes = own.scheme().zip(url.scheme());
        schemes.is_some_and(|(left, right)| is_same_web(left, right)) && have_one_host(&own, &url)
    }

    fn below_by(&self, url: &str, is_same_scheme: fn(&str, &str) -> bool) -> Option<PathBelowRoot> {
        let folder = self.folder.as_deref()?;
        // Most URLs have the folder as a literal prefix, which needs no comparison of parts.
        if let Some(rest) = url.strip_prefix(folder) {
            let end = memchr::memchr2(b'?', b'#', rest.as_bytes()).unwrap_or(rest.len());
            let path = &rest.as_bytes()[..end];
            if PathBelowRoot::is_plain(path) {
                return Some(PathBelowRoot {
                    path: path.to_vec(),
                    is_path: true,
                    names_root: false,
                    tail: Some(folder.len()),
                });
            }
        }
        let root = Reference::of(folder);
        let url = Reference::of(url);
        if !is_same_scheme(root.scheme()?, url.scheme()?) || !have_one_host(&root, &url) {
            return None;
        }
        let segments = segments(&url)?;
        let folders: Vec<&str> = root
            .path()
            .strip_prefix('/')?
            .split_terminator('/')
            .collect();
        let is_same = |(a, b): (&&str, &&str)| a == b || names::decode(a) == names::decode(b);
        if segments.len() < folders.len() || !folders.iter().zip(&segments).all(is_same) {
            return None;
        }
        let rest = &segments[folders.len()..];
        let mut below = PathBelowRoot::of(rest.iter().copied());
        if !below.names_root && !url.path().split('/').any(is_dots) {
            let slashes = memchr::memchr_iter(b'/', url.path().as_bytes());
            let at = slashes
                .take(folders.len() + 1)
                .last()
                .map_or(0, |at| at + 1);
            below.tail = Some(url.path_span.start + at);
        }
        Some(below)
    }
}

fn have_one_host(left: &Reference<'_>, right: &Reference<'_>) -> bool {
    let host = |url: &Reference<'_>| Some(net_loc(url.scheme()?, url.net_loc()?));
    left.net_loc() == right.net_loc() || host(left) == host(right)
}

/// A path below a root, taken from a URL.
pub struct PathBelowRoot {
    /// The decoded names, with `/` between them. The path of a folder ends with `/` or is empty.
    pub path: Vec<u8>,
    /// True if the names can be those of files.
    pub(crate) is_path: bool,
    /// True if the URL is the URL of the root without the final `/`.
    pub(crate) names_root: bool,
    /// The offset in the URL at which the part below the root begins; `None` if the URL has dot segments, or is that
    /// of the root without the final `/`.
    pub(crate) tail: Option<usize>,
}

impl PathBelowRoot {
    /// True if a path has no escapes, dot segments or empty names.
    pub(crate) fn is_plain(path: &[u8]) -> bool {
        memchr::memchr2(b'%', 0, path).is_none()
            && !path.starts_with(b".")
            && !path.starts_with(b"/")
            && memchr::memchr_iter(b'/', path)
                .all(|at| !matches!(path.get(at + 1), Some(b'.' | b'/')))
    }

    /// The path of these segments, none of which is a dot segment. Servers and file systems take several `/` for one.
    pub(super) fn of<'a>(segments: impl Iterator<Item = &'a str>) -> Self {
        let mut below = Self {
            path: Vec::new(),
            is_path: true,
            names_root: true,
            tail: None,
        };
        let mut segments = segments.peekable();
        while let Some(segment) = segments.next() {
            below.names_root = false;
            let is_last = segments.peek().is_none();
            if segment.is_empty() && !is_last {
                continue;
            }
            let start = below.path.len();
            if segment.contains('%') {
                below.path.append(&mut names::decode(segment));
            } else {
                below.path.extend_from_slice(segment.as_bytes());
            }
            let name = &below.path[start..];
            below.is_path &= (name.is_empty() && is_last)
                || !matches!(name, b"" | b"." | b"..")
                    && !name.iter().any(|byte| b"/\0".contains(byte));
            if !is_last {
                below.path.push(b'/');
            }
        }
        below
    }
}

/// The host of every assumed URL, and the slash after it.
const ASSUMED_HOST: &str = "assumed.invalid/";

/// The part of `url` below the root of an assumed host.
fn below_assumed(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once(':')?;
    rest.strip_prefix("//")?.strip_prefix(ASSUMED_HOST)
}

/// True if `url` is derived from an assumed root ([`Origins::assume_site`]). Messages omit such a URL.
pub fn is_assumed(url: &str) -> bool {
    below_assumed(url).is_some()
}

/// `text` with only the path of each URL of a site whose host is unknown.
pub fn without_assumed_hosts(text: &str) -> Cow<'_, str> {
    let Some(at) = text.find(&format!("://{ASSUMED_HOST}")) else {
        return Cow::Borrowed(text);
    };
    let scheme = text[..at].trim_end_matches(|one: char| one.is_ascii_alphabetic());
    Cow::Owned(text.replace(
        &format!("{}://{ASSUMED_HOST}", &text[scheme.len()..at]),
        "/",
    ))
}

/// The part of `url` that may be shown: below an assumed root, only the path; otherwise all of `url`.
pub(crate) fn without_assumed(url: String) -> String {
    match below_assumed(&url) {
        None => url,
        Some("") => "./".to_owned(),
        Some(below) => below.to_owned(),
    }
}

/// The sources of retrieval URLs, in order of precedence.
pub const ORDER: [Source; 6] = [
    Source::UrlMap,
    Source::Retrieval,
    Source::Layout,
    Source::SavedFrom,
    Source::Xattr,
    Source::Canonical,
];

impl Origins {
    /// The scheme of URLs without one.
    pub fn scheme(&self) -> &str {
        self.given_scheme.as_deref().unwrap_or("https")
    }

    /// Assumes that `folder` is a site with an unknown host, if no layout or root URL is given. It applies only to files without
    /// another URL.
    pub fn assume_site(&mut self, folder: &Path) {
        if self.root_url.is_none() && !self.has_hosts {
            self.root_url = Some(RootUrl::of_built_site(self.scheme(), folder));
            self.assumes_root = true;
        }
    }

    /// Takes the folders of a tree for hosts, in place of an assumed root.
    pub fn set_hosts(&mut self) {
        (self.root_url, self.assumes_root) = (None, false);
        self.has_hosts = true;
        self.host_folders.clear();
    }

    /// The path of `seen`, beginning with the folder that is named after its host, and the scheme, if the layout applies.
    fn path_from_host<'e>(&'e self, seen: &'e TreeEntry) -> Option<(&'e [OsString], &'e str)> {
        let path = &*seen.relative;
        if self.has_hosts {
            return Some((path, self.scheme()));
        }
        self.host_folders.first_key_value()?;
        let named = |end: usize| {
            let scheme = self.host_folders.get(&names::path_bytes(&path[..end]))?;
            Some((&path[end - 1..], *scheme))
        };
        (1..path.len()).find_map(named)
    }

    /// The URL of the root, unless it is assumed. Assumed URLs are not shown.
    pub fn given_root(&self) -> Option<&RootUrl> {
        self.root_url.as_ref().filter(|_| !self.assumes_root)
    }

    /// The retrieval URL of `entry`, if known, and a sentence for each URL that was skipped.
    ///
    /// Root URL and layout apply to `seen`: the same entry, with a path that may be relative to another folder than the root of
    /// `entry`. `format` is the format of the file. `head` contains its raw first bytes: at least [`saved::HEAD`] of them if
    /// the file is that long, or [`canonical::HEAD`] if canonical URLs are used. The head matters only in HTML and
    /// XHTML.
    pub fn of(
        &self,
        entry: &TreeEntry,
        seen: &TreeEntry,
        format: Format,
        head: &[u8],
    ) -> (Option<Retrieval>, Vec<String>) {
        let is_named = entry.is_named();
        let is_copy = || !is_named && self.keeps_local_copies && self.companions.has(&entry.path);
        let reads_comment = !self.companions.ignores_pages && format.is_page();
        let (mut first, mut skipped) = (None::<Retrieval>, Vec::new());
        for source in self.order() {
            let saved = match source {
                Source::SavedFrom if reads_comment => saved::saved(head),
                _ => None,
            };
            let url = match source {
                Source::SavedFrom => saved
                    .as_ref()
                    .map(|saved| without_fragment(&saved.url(self.scheme())).to_owned()),
                Source::Canonical if self.canonical => {
                    canonical::named(head, format).map(|named| named.url)
                }
                Source::Retrieval | Source::Layout if is_copy() => None,
                Source::Retrieval => self.below_root_url(seen),
                // Only the given URL and the document itself are used.
                _ if entry.is_standard_input() => None,
                Source::UrlMap => {
                    let map = self.map.as_ref();
                    map.and_then(|map| map.url(entry)).map(str::to_owned)
                }
                Source::Layout => self
                    .path_from_host(seen)
                    .and_then(|(path, scheme)| by_host(path, scheme, |name| self.is_index(name))),
                Source::Xattr if !self.ignores_xattr => {
                    attribute(entry).map(|url| without_fragment(&url).to_owned())
                }
                _ => None,
            };
            let Some(url) = url else { continue };
            // Chromium writes these into frames without a URL.
            if saved.is_some() && matches!(&*url, "about:srcdoc" | "about:blank") {
                continue;
            }
            let disbelief = saved.as_ref().and_then(Saved::disbelief);
            // The URL of a single file is used as given, like a base in it. The URL of a folder was checked, and
            // remains usable with path segments after it.
            let is_usable = source == Source::Retrieval;
            if !is_usable && let Some(why) = disbelief.map(str::to_owned).or_else(|| unusable(&url))
            {
                skipped.push(format!(
                    "{}: ignored the {} URL {}: {why}",
                    name(&entry.path),
                    source.name(),
                    abridged(&url)
                ));
                continue;
            }
            match &mut first {
                None => {
                    let has_scheme = saved.is_none_or(|saved| saved.has_scheme());
                    let assumes_scheme = !has_scheme && self.given_scheme.is_none();
                    first = Some(Retrieval {
                        assumes_scheme,
                        ..Retrieval::of(url, source)
                    });
                }
                Some(first) => first.others.push((source, url)),
            }
            if !self.every_source {
                break;
            }
        }
        (first, skipped)
    }

    /// The files around `entry`. The layout applies as in [`of`](Self::of).
    pub fn beside(&self, entry: &TreeEntry, seen: &TreeEntry) -> Arc<dyn NearbyFiles> {
        let depth = self.path_from_host(seen).map(|(path, _)| path.len());
        self.companions.beside(entry, depth, self.scheme())
    }

    /// [`ORDER`] as modified by these settings.
    fn order(&self) -> [Source; 6] {
        let mut order = ORDER;
        if self.has_hosts {
            // A layout is a general convention; an attribute belongs to this file.
            order[2..5].rotate_right(1);
        }
        if self.assumes_root {
            order[1..].rotate_left(1);
        }
        order
    }

    /// True if the head of a page may give a URL that precedes `known`, the URL that was found without the head.
    pub fn asks_page(&self, known: Option<&Retrieval>) -> bool {
        let is_before = |known: &Retrieval| match known.source {
            Source::Xattr => !self.has_hosts,
            Source::Retrieval => self.assumes_root,
            _ => false,
        };
        (!self.companions.ignores_pages || self.canonical) && known.is_none_or(is_before)
    }

    /// True if the files called `name` are index files.
    fn is_index(&self, name: &[u8]) -> bool {
        self.index
            .iter()
            .any(|index| index.as_encoded_bytes() == name)
    }

    /// The URL of `entry`: the URL of the root, and the path of `entry` below it. The name of a file in a Maildir is no part of a
    /// URL, so each message has that of the root, as the messages of a mailbox have.
    pub(crate) fn below_root_url(&self, entry: &TreeEntry) -> Option<String> {
        let root = self.root_url.as_ref()?;
        let is_root = root.is_of(entry) || maildir::is_message(&entry.path);
        let Some((file, folders)) = entry.relative.split_last().filter(|_| !is_root) else {
            return Some(root.given.clone());
        };
        let mut file = file.as_encoded_bytes();
        if self.is_index(file) {
            file = b"";
        }
        Some(format!(
            "{}{}",
            root.folder.as_deref()?,
            names::encoded(&joined(&names::path_bytes(folders), file))?
        ))
    }
}

/// The URL of the file at `path`, with the host from its first folder ([`Origins::has_hosts`]). An index file has the URL of its
/// folder.
pub(crate) fn by_host(
    path: &[OsString],
    scheme: &str,
    is_index: impl Fn(&[u8]) -> bool,
) -> Option<String> {
    let (host, names) = path.split_first()?;
    let (file, folders) = names.split_last()?;
    let mut url = format!("{scheme}://{}/", hosts::net_loc(host.to_str()?, scheme)?);
    let file = without_adjustment(file.as_encoded_bytes());
    let written = joined(&names::path_bytes(folders), file);
    let path = names::saved_path(&written);
    // A folder whose name is written as it is has no query.
    let start = if *path == *written {
        written.len() - file.len()
    } else {
        0
    };
    let query_at = memchr::memchr(b'?', &path[start..]).map(|at| start + at);
    let place = &path[..query_at.unwrap_or(path.len())];
    let name = split_name(place).1;
    let place = &place[..place.len() - if is_index(name) { name.len() } else { 0 }];
    url.push_str(&names::path(place, b"%")?);
    if let Some(at) = query_at {
        url.push('?');
        names::push_query(&mut url, &path[at + 1..]);
    }
    Some(url)
}

/// Removes the `.html` that wget appends to the name of a program (`--adjust-extension`). After a query, `.html` is
/// kept, because it may be part of the query.
fn without_adjustment(name: &[u8]) -> &[u8] {
    let stem = name
        .strip_suffix(b".html")
        .filter(|stem| !stem.contains(&b'?'));
    stem.filter(|stem| PROGRAMS.iter().any(|program| stem.ends_with(program)))
        .unwrap_or(name)
}

/// True if two schemes are the same, or `http` and `https`.
pub(super) fn is_same_web(left: &str, right: &str) -> bool {
    let is_web = |scheme: &str| {
        ["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web))
    };
    left.eq_ignore_ascii_case(right) || (is_web(left) && is_web(right))
}

/// The URL in the extended attribute of the file; `None` on systems without such attributes.
#[cfg(unix)]
fn attribute(entry: &TreeEntry) -> Option<String> {
    let value = xattr::get(&entry.path, "user.xdg.origin.url").ok()??;
    Some(String::from_utf8_lossy(value.trim_ascii()).into_owned())
}

#[cfg(not(unix))]
fn attribute(_: &TreeEntry) -> Option<String> {
    None
}
