//! Which files a tree has, and which of them a URL means: the way back from targets to files.
//!
//! A URL leads to a file through the retrieval URLs (RFC 1808, 3.3): that of the file itself, as a map, a
//! comment or an attribute gives it; the URL of the root and the path below it; the names that crawlers
//! give. A URL that ends with `/` means the file of one of the `index` names. The query counts where a
//! file has it in its URL or its name, else it does not. Names are compared as bytes, after
//! percent-decoding (RFC 3986, 6.2.2.2).
//!
//! ```
//! use std::path::Path;
//! use baselink::collection::index::{Absence, FoundFile, Index, TargetPlace};
//! use baselink::collection::origin::{Origins, RootUrl};
//! use baselink::files::walk::{EntryKind, TreeEntry};
//! let root_url = RootUrl::new("http://a/docs/").unwrap();
//! let mut index = Index::new(Origins { root_url: Some(root_url), ..Origins::default() });
//! for name in ["index.html", "a b.html"] {
//!     let (root, path) = (Path::new("site").into(), Path::new("site").join(name));
//!     index.add_unread(&TreeEntry { root, relative: vec![name.into()], path, kind: EntryKind::File, size: 0 });
//! }
//! let file = |number| TargetPlace::Inside(Ok(FoundFile { number, takes_query: false }));
//! assert_eq!(index.find("http://a/docs/a%20b.html#x"), file(1));
//! assert_eq!(index.find("http://a/docs/"), file(0));
//! assert_eq!(index.find("http://a/x"), TargetPlace::Outside);
//! let TargetPlace::Inside(Err(missing)) = index.find("http://a/docs/A%20b.html") else { panic!() };
//! assert_eq!((missing.absence, missing.hint.as_deref()), (Absence::Case, Some("a b.html")));
//! ```
//!
//! A symbolic link leads where its text says, among the files that were added (path_resolution(7)). What is
//! out of the tree is not looked at: an absolute text leads out, also where it names the tree itself.
//!
//! Deliberately absent: the file system. What is not among the files that were added is not there, and
//! no URL leads out of the tree.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::base::{Retrieval, Source};
use crate::collection::origin::{self, Below, FolderLayout, Origins, RootUrl, names};
use crate::files::walk::{EntryKind, TreeEntry};
use crate::format::Format;
use crate::layer::digest::first_of_md5;
use crate::named::values;
use crate::reference::decode_percent;
use crate::reference::{Grammar, Reference};

pub use super::ids::Ids;

/// The names of index files where nothing else is said, as servers have them.
pub const INDEX_NAMES: [&str; 2] = ["index.html", "index.htm"];

/// What programs put after the names of what they save.
const ADDED: [&[u8]; 4] = [b"", b".html", b".htm", b".css"];

/// The file that a URL means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Its number, in the order in which files were added.
    pub number: usize,
    /// Whether the query of the URL is a part of what the file was retrieved by.
    pub takes_query: bool,
}

/// Why a URL inside a tree means no file there: a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Absence {
    /// No file has such a name.
    Absent,
    /// One has, but for the case of letters.
    Case,
    /// One has, but for what is percent-encoded, or in which encoding of characters.
    Encoding,
    /// It is a folder without an index file; from disk, any folder.
    NoIndex,
    /// It is a folder, and the `/` is missing without which its own relative links lead elsewhere.
    NoSlash,
    /// No file can have such a name: an encoded `/`, NUL, `.` or `..`.
    NoName,
    /// It is there and no file: a FIFO, a socket, a device.
    Special,
    /// A file has this name but for Unicode normalization: its letters are composed otherwise.
    Normalization,
    /// A symbolic link on the way leads out of the tree.
    LinkOut,
    /// A symbolic link on the way leads to nothing, or in a circle.
    LinkNowhere,
}

/// Each absence with its name in `--json`.
const ABSENCES: [(Absence, &str); 10] = [
    (Absence::Absent, "absent"),
    (Absence::Case, "case"),
    (Absence::Encoding, "percent-encoding"),
    (Absence::NoIndex, "no-index"),
    (Absence::NoSlash, "no-slash"),
    (Absence::NoName, "no-name"),
    (Absence::Special, "no-file"),
    (Absence::Normalization, "normalization"),
    (Absence::LinkOut, "symlink"),
    (Absence::LinkNowhere, "symlink"),
];

impl Absence {
    /// All of them.
    pub const ALL: [Self; ABSENCES.len()] = values(&ABSENCES);

    /// Its name in `--json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        ABSENCES[self as usize].1
    }
}

/// A file that is missing, and the name that was perhaps meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What is wrong.
    pub absence: Absence,
    /// The path below the root of a file with nearly this name; that is for people, since bytes that are
    /// not UTF-8 are U+FFFD.
    pub hint: Option<String>,
}

/// Where a URL leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetPlace {
    /// Out of the tree.
    Outside,
    /// Into the tree: to a file, or to none.
    Inside(Result<FoundFile, Missing>),
}

impl TargetPlace {
    /// The file, if it leads to one.
    pub(crate) fn file(self) -> Option<FoundFile> {
        match self {
            Self::Inside(found) => found.ok(),
            Self::Outside => None,
        }
    }
}

/// A file of the tree.
#[derive(Debug)]
struct IndexedFile {
    /// The names that lead to it from the root, with `/` between them.
    path: Arc<[u8]>,
    kind: EntryKind,
    ids: Option<Ids>,
}

/// Where a path leads that has symbolic links on it.
enum Way {
    /// To this path, on which there are none.
    To(Vec<u8>),
    /// To what nothing is known of: the link with this number is there.
    Unknown(usize),
    /// To nothing in the tree.
    Lost(Absence),
}

/// The files of a tree, by everything that can mean them. Memory grows with their names and ids.
#[derive(Debug)]
pub struct Index {
    origins: Origins,
    /// The names of index files.
    names: Vec<OsString>,
    files: Vec<IndexedFile>,
    by_path: HashMap<Arc<[u8]>, usize>,
    /// What symbolic links say, where that is known.
    links: HashMap<usize, Box<[u8]>>,
    /// Files whose URL does not follow from that of the root.
    by_url: HashMap<Box<str>, usize>,
    /// The files right in each folder. One without any file below it is known if it was an entry.
    folders: HashMap<Box<[u8]>, Vec<usize>>,
    /// The folders in the root that have capitals in their names, by their names without.
    with_capitals: HashMap<Box<[u8]>, Box<[u8]>>,
    /// The first file of each path as it is when case and encoding do not count.
    alike: HashMap<u64, usize>,
    /// The first file of each path as it is when case does not count.
    alike_in_case: HashMap<u64, usize>,
    /// The first file of each name.
    by_name: HashMap<u64, usize>,
    doubles: Vec<(usize, usize)>,
    hints: PathHints,
}

/// What was perhaps meant by paths where nothing is: what one link leads to in vain, many do.
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

impl Index {
    /// An index without files, of a tree whose URLs come from `origins`.
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
            files: Vec::new(),
            by_path: HashMap::new(),
            links: HashMap::new(),
            by_url: HashMap::new(),
            folders: HashMap::from([(Box::from(&b""[..]), Vec::new())]),
            with_capitals: HashMap::new(),
            alike: HashMap::new(),
            alike_in_case: HashMap::new(),
            by_name: HashMap::new(),
            doubles: Vec::new(),
            hints: PathHints::default(),
        }
    }

    /// Adds a file that was read: by which URL it was retrieved, and what fragments can name in it, if
    /// that is known. Where two have the same URL, the first counts. Of a folder nothing but its name is kept.
    pub fn add(&mut self, entry: &TreeEntry, retrieval: Option<&Retrieval>, ids: Option<Ids>) {
        let path: Arc<[u8]> = path_of(entry).into();
        let number = self.files.len();
        if entry.kind == EntryKind::Folder {
            self.folder(&path);
            return;
        }
        if self.by_path.contains_key(&path) {
            return;
        }
        let follows = |one: &Retrieval| {
            let own = || self.origins.below_root_url(entry);
            one.source == Source::Retrieval && own().as_ref() == Some(&one.url)
        };
        if let Some(retrieval) = retrieval.filter(|one| !follows(one))
            && let Some(url) = normal(&retrieval.url, true)
        {
            // What a crawler was sent to may be there twice: under the name that it asked for as well.
            let is_at_home =
                retrieval.source == Source::Xattr && self.is_laid_out(entry, &retrieval.url);
            let own = self.by_url.entry(url.into()).or_insert(number);
            if is_at_home {
                *own = number;
                self.learn_layout(&retrieval.url);
            }
        }
        // Before a redirection it had others.
        let map = self.origins.map.as_ref();
        for url in map.map_or(&[][..], |map| map.earlier(entry)) {
            if let Some(url) = normal(url, true) {
                self.by_url.entry(url.into()).or_insert(number);
            }
        }
        let (folder, name) = split_name(&path);
        self.alike.entry(hashed(&folded(&path))).or_insert(number);
        let first = *self.alike_in_case.entry(hashed(&without_case(&path))).or_insert(number);
        if first != number && is_alike_in_case(&self.files[first].path, &path) {
            self.doubles.push((first, number));
        }
        self.by_name.entry(hashed(name)).or_insert(number);
        self.hints = PathHints::default();
        self.folder(folder).push(number);
        self.by_path.insert(Arc::clone(&path), number);
        self.files.push(IndexedFile { path, kind: entry.kind, ids });
    }

    /// Whether the folders around `entry` and its name say that it has the URL `url`, as crawlers write them.
    fn is_laid_out(&self, entry: &TreeEntry, url: &str) -> bool {
        let Some((scheme, _)) = url.split_once(':') else { return false };
        let mut names = self.names.iter().map(|name| Some(&**name)).chain([None]);
        names.any(|index| origin::by_host(entry, scheme, index).as_deref() == Some(url))
    }

    /// Takes in that a crawler made the tree, which notes the URLs of files and calls folders after hosts: what it was
    /// redirected from is in no note.
    fn learn_layout(&mut self, url: &str) {
        if let Some((scheme, _)) = url.split_once(':')
            && self.origins.root_url.is_none()
            && self.origins.layout.is_none()
        {
            self.origins.layout = Some(FolderLayout::Host);
            self.origins.scheme = scheme.to_ascii_lowercase();
        }
    }

    /// The files in a folder, which is known from now on, as those around it are.
    fn folder(&mut self, path: &[u8]) -> &mut Vec<usize> {
        let mut around = path;
        while !around.is_empty() && !self.folders.contains_key(around) {
            self.folders.insert(around.into(), Vec::new());
            if !around.contains(&b'/') && around.iter().any(u8::is_ascii_uppercase) {
                let lower = around.to_ascii_lowercase().into();
                self.with_capitals.entry(lower).or_insert_with(|| around.into());
            }
            around = split_name(around).0;
        }
        self.folders.entry(path.into()).or_default()
    }

    /// Adds a file that is not read: an image, what is hidden, what was not asked for, what is no file.
    pub fn add_unread(&mut self, entry: &TreeEntry) {
        let (retrieval, _) = self.origins.of(entry, Format::Other, b"");
        self.add(entry, retrieval.as_ref(), None);
    }

    /// Adds a symbolic link that is not followed, and what it says. One that is added without that is there,
    /// whatever it leads to.
    pub fn add_link(&mut self, entry: &TreeEntry, says: &Path) {
        let number = self.files.len();
        self.add_unread(entry);
        if number < self.files.len() {
            let says = if says.has_root() { b"/".to_vec() } else { bytes_of(says) };
            self.links.insert(number, says.into());
        }
    }

    /// Adds what could not be looked at, by its path below the root. It is there, and as beyond a symbolic link
    /// that is not followed nothing is known of what is in it.
    pub fn add_unknown(&mut self, path: &Path) {
        let path: Arc<[u8]> = bytes_of(path).into();
        if path.is_empty() || self.by_path.contains_key(&path) {
            return;
        }
        self.folder(split_name(&path).0);
        self.by_path.insert(Arc::clone(&path), self.files.len());
        self.files.push(IndexedFile { path, kind: EntryKind::Symlink, ids: None });
    }

    /// The path below the root that `url` has, where it leads through `found`, of which nothing is known but that
    /// it is there. With `root` the tree has that URL, and only paths count.
    pub(crate) fn beyond(
        &self,
        found: FoundFile,
        url: &str,
        root: Option<&RootUrl>,
    ) -> Option<Vec<u8>> {
        let file = self.files.get(found.number).filter(|file| file.kind == EntryKind::Symlink)?;
        let path = self.path_below(root, without_query(url))?;
        let rest = path.strip_prefix(&*file.path)?;
        rest.starts_with(b"/").then_some(path)
    }

    /// How many files it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The names that lead to a file from the root, with `/` between them, as bytes of the system.
    #[must_use]
    pub fn path(&self, number: usize) -> &[u8] {
        self.files.get(number).map_or(b"", |file| &file.path)
    }

    /// What fragments can name in a file; `None` where that is not known.
    #[must_use]
    pub fn ids(&self, number: usize) -> Option<&Ids> {
        self.files.get(number)?.ids.as_ref()
    }

    /// Pairs of files whose paths differ only in case: a place where case does not count has room for one of
    /// them. Each file is listed with the first of its kind.
    #[must_use]
    pub fn doubles(&self) -> &[(usize, usize)] {
        &self.doubles
    }

    /// Whether a file is a page, or what makes one, by its name: with a query it is another page.
    #[must_use]
    pub fn is_page(&self, number: usize) -> bool {
        const EXTENSIONS: [&str; 16] = [
            "html", "htm", "xhtml", "xht", "shtml", "php", "php3", "phtml", "asp", "aspx", "jsp",
            "do", "cgi", "pl", "cfm", "py",
        ];
        let (_, name) = split_name(self.path(number));
        memchr::memrchr(b'.', name).is_none_or(|dot| {
            EXTENSIONS.iter().any(|one| name[dot + 1..].eq_ignore_ascii_case(one.as_bytes()))
        })
    }

    /// The number of the file with this path.
    pub(crate) fn number_at(&self, path: &[u8]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// How the URLs begin that lead to files by what follows, where that is so of every file.
    pub(crate) fn folder_url(&self) -> Option<&str> {
        self.origins.root_url.as_ref().filter(|_| self.has_only_paths())?.folder()
    }

    /// The file that this path below the root means in a URL, where it means it byte for byte.
    pub(crate) fn plain_file(&self, path: &[u8]) -> Option<usize> {
        let number = self.number_at(path).filter(|_| Below::is_plain(path))?;
        (self.files[number].kind == EntryKind::File).then_some(number)
    }

    /// Where `url` leads. Its fragment does not count.
    #[must_use]
    pub fn find(&self, url: &str) -> TargetPlace {
        self.find_with_tail(url).0
    }

    /// The same, and where in `url` begins what follows the URL of the root, where [`moved`](Self::moved) keeps
    /// it.
    pub(crate) fn find_with_tail(&self, url: &str) -> (TargetPlace, Option<usize>) {
        let found =
            |number, takes_query| TargetPlace::Inside(Ok(FoundFile { number, takes_query }));
        let by_url = |with_query| {
            let normal = (!self.by_url.is_empty()).then(|| normal(url, with_query))??;
            let known = |url: &str| self.by_url.get(url).copied();
            known(&normal).or_else(|| known(&other_web(&normal)?))
        };
        let has_query = Reference::split(Grammar::Rfc3986, url).query_span.is_some();
        if let Some(number) = by_url(true) {
            return (found(number, has_query), None);
        }
        if let Some(below) = self.origins.root_url.as_ref().and_then(|root| root.below_own(url)) {
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
            let number = self.paths(url).find_map(|path| self.by_path.get(&*path).copied());
            if let Some(number) = number {
                return (found(number, true), None);
            }
        }
        let mut paths = self.paths(without_query(url));
        if let Some(path) = paths.find(|path| self.by_path.contains_key(&**path)) {
            below.path = path;
        }
        (TargetPlace::Inside(self.named(&below, false)), None)
    }

    /// The file that was saved for `url`: that of [`find`](Self::find), or one with a name that programs give to
    /// what they save.
    ///
    /// | URL | name | program |
    /// |---|---|---|
    /// | `page?x=1` | `page?x=1` | wget |
    /// | | `page@x=1` | wget for Windows |
    /// | | `page%3Fx=1` | browsers, and others that escape |
    /// | | `pagea255.html`, with the first four digits of the query's MD5 | HTTrack |
    /// | `page`, and all of these | with `.html`, `.htm` or `.css` after it | wget with `--adjust-extension`, HTTrack |
    ///
    /// A query that is in no name is that of the version of an image, a style sheet, a script; a page
    /// with a query is another page.
    #[must_use]
    pub fn find_saved(&self, url: &str) -> Option<FoundFile> {
        let found = self.find(url).file();
        let query = Reference::split(Grammar::Rfc3986, url).query();
        let is_beyond = |found| self.beyond(found, url, None).is_some();
        if found.is_some_and(|one| one.takes_query || query.is_none() || is_beyond(one)) {
            return found;
        }
        let path = self.path_below(None, without_query(url))?;
        if let Some(query) = query {
            let number = self.saved_with_query(&path, query);
            let saved = number.map(|number| FoundFile { number, takes_query: true });
            return saved.or_else(|| found.filter(|found| !self.is_page(found.number)));
        }
        if names_folder(&path) {
            return None;
        }
        let mut extensions = ADDED[1..].iter();
        let number = extensions.find_map(|added| self.file_at(&[&path, *added].concat())?.ok());
        // A server sends those who ask for the folder without its `/` to the one with it.
        let number = number.or_else(|| self.index_of(&path)?.ok())?;
        Some(FoundFile { number, takes_query: false })
    }

    /// The file that was saved for the URL with this `path` and this `query`, with both in its name.
    fn saved_with_query(&self, path: &[u8], query: &str) -> Option<usize> {
        let mut names = match names_folder(path) {
            true => self.names.iter().map(|name| [path, names::bytes(name)].concat()).collect(),
            false => vec![path.to_vec()],
        };
        // The URL of its folder gives `page?x=1` the URL `page%3Fx=1`; `?x=2` in it is `page?x=2`. In `page.php.html`
        // that is `page.php?x=2.html`.
        let (_, name) = split_name(path);
        let stem_end = memchr::memchr(b'?', name).map(|at| path.len() - name.len() + at);
        names.extend(stem_end.map(|end| path[..end].to_vec()));
        names.extend(path.strip_suffix(b".html").map(<[u8]>::to_vec));
        // No name has a `/` in it.
        let named = |query: &[u8]| names::escape_where(query, |byte| byte == b'/');
        let queries = [named(query.as_bytes()), named(&names::decode(query))];
        let saved = |parts: [&[u8]; 4]| self.file_at(&parts.concat())?.ok();
        for added in ADDED {
            for name in &names {
                for query in &queries {
                    let mut marks = [&b"?"[..], b"@", b"%3F"].into_iter();
                    if let Some(number) = marks.find_map(|mark| saved([name, mark, query, added])) {
                        return Some(number);
                    }
                }
            }
        }
        // HTTrack puts the beginning of the query's MD5 before the extension.
        let digits = first_of_md5(query.as_bytes()).into_bytes();
        names.iter().find_map(|path| {
            let (_, name) = split_name(path);
            let (path, extension) = path.split_at(path.len() - name.len() + stem(name).len());
            saved([path, &digits, extension, b""]).or_else(|| saved([path, &digits, b".html", b""]))
        })
    }

    /// The path that `url`, which has no query, has below `root`, or below the root of the tree.
    fn path_below(&self, root: Option<&RootUrl>, url: &str) -> Option<Vec<u8>> {
        let below = match root.or(self.origins.root_url.as_ref()) {
            Some(root) => root.below(url),
            None => self.laid_out(url),
        };
        below.filter(|below| below.is_path).map(|below| below.path)
    }

    /// The file that has the query of `url` in its name.
    fn named_with_query(&self, url: &str, below: &Below) -> Option<usize> {
        let query = Reference::split(Grammar::Rfc3986, url).query().filter(|_| below.is_path)?;
        let escaped = names::escape_where(&names::decode(query), |byte| byte == b'/');
        self.file_at(&[&below.path, &b"?"[..], &escaped].concat())?.ok()
    }

    /// What `url`, which has no query, names where folders are named after hosts; `None` where the tree has
    /// no such host.
    fn laid_out(&self, url: &str) -> Option<Below> {
        let (mut path, path_at) = self.host_folder(url)?;
        let mut below = RootUrl::of_file(&format!("{}/", &url[..path_at])).below(url)?;
        path.push(b'/');
        path.append(&mut below.path);
        Some(Below { path, names_root: false, ..below })
    }

    /// The paths that the file of `url` can have, the folder of the host as it is called here (RFC 3986, 3.2.2).
    fn paths(&self, url: &str) -> impl Iterator<Item = Vec<u8>> + use<'_> {
        self.origins.paths(url).into_iter().map(|path| {
            let path = bytes_of(&path);
            let (host, rest) = path.split_at(memchr::memchr(b'/', &path).unwrap_or(path.len()));
            match self.with_capitals.get(host).filter(|_| !self.folders.contains_key(host)) {
                Some(folder) if self.origins.root_url.is_none() => [&**folder, rest].concat(),
                _ => path,
            }
        })
    }

    /// The folder in which the files of the host of `url` are, and where in `url` its path begins.
    fn host_folder(&self, url: &str) -> Option<(Vec<u8>, usize)> {
        let FolderLayout::Host = self.origins.layout.filter(|_| self.origins.root_url.is_none())?;
        let path_at = Reference::split(Grammar::Rfc3986, url).path_span.start;
        let paths = self.paths(&format!("{}/x", &url[..path_at]));
        let mut folders = paths.map(|path| split_name(&path).0.to_vec());
        let folder = folders.find(|folder| self.folders.contains_key(folder.as_slice()))?;
        Some((folder, path_at))
    }

    /// Where `url` leads in a tree of the same files whose root has the URL `root`. Only paths count
    /// there. Where that is a `file` URL, the tree is read from disk, where no file is the index of its folder.
    #[must_use]
    pub fn find_below(&self, root: &RootUrl, url: &str) -> TargetPlace {
        match root.below(url) {
            Some(below) => TargetPlace::Inside(self.named(&below, is_disk(root))),
            None => TargetPlace::Outside,
        }
    }

    /// Whether every URL leads to a file by its path below the URL of the root.
    pub(crate) fn has_only_paths(&self) -> bool {
        self.origins.root_url.is_some() && self.by_url.is_empty()
    }

    /// The URL that `url` becomes when the tree moves to `root`, as far as it is known of the URL alone: of
    /// one that is below the URL of the root, or of a host in the tree. What follows that of the
    /// root, query and fragment included, keeps its bytes.
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
        Some(format!("{to}{folder}/{}", url[path_at..].strip_prefix('/').unwrap_or_default()))
    }

    /// The URL of a file in a tree whose root has the URL `root`; `None` where it has a name that no URL
    /// can have.
    #[must_use]
    pub fn url_below(&self, root: &RootUrl, number: usize) -> Option<String> {
        url_below(root, self.path(number))
    }

    /// The file that these names mean.
    fn named(&self, below: &Below, on_disk: bool) -> Result<FoundFile, Missing> {
        let found = |number| Ok(FoundFile { number, takes_query: false });
        let missing = |absence, hint| Err(Missing { absence, hint });
        let path = below.path.as_slice();
        let is_folder = names_folder(path);
        let folder = path.strip_suffix(b"/").unwrap_or(path);
        if below.is_path {
            match self.by_path.get(path).map(|&number| (number, self.files[number].kind)) {
                Some((_, EntryKind::Special)) => return missing(Absence::Special, None),
                Some((number, EntryKind::File)) if !is_folder => return found(number),
                _ => {}
            }
            let slash = || format!("{}/", shown(folder));
            if let Some(index) = self.folders.contains_key(folder).then(|| self.index_of(folder)) {
                return match index {
                    Some(Ok(number)) if on_disk => {
                        missing(Absence::NoIndex, Some(shown(&self.files[number].path)))
                    }
                    Some(Ok(number)) if is_folder && !below.names_root => found(number),
                    Some(Err(absence)) if is_folder && !on_disk => missing(absence, None),
                    Some(_) => missing(Absence::NoSlash, (!folder.is_empty()).then(slash)),
                    None => missing(Absence::NoIndex, None),
                };
            }
            match self.way(path) {
                None => {}
                Some(Way::Unknown(number)) => return found(number),
                Some(Way::Lost(absence)) => return missing(absence, None),
                Some(Way::To(path)) => {
                    let mut found = self.named(&Below { path, ..below.clone() }, on_disk);
                    if let Err(Missing { absence: Absence::NoSlash, hint }) = &mut found {
                        *hint = Some(slash());
                    }
                    return found;
                }
            }
        }
        let (absence, hint) = self.nearest(path, is_folder, below.is_path);
        missing(absence, hint.map(|number| shown(&self.files[number].path)))
    }

    /// Where `path` leads, when the symbolic links on it are followed; `None` where there are none.
    fn way(&self, path: &[u8]) -> Option<Way> {
        /// So many links are followed, as in Linux; a circle has no end.
        const FOLLOWED: usize = 40;
        let mut followed = 0;
        // The names that are to come, the next one last, and whether a link says them.
        let mut names: Vec<(&[u8], bool)> =
            path.split(|&byte| byte == b'/').map(|name| (name, false)).rev().collect();
        let mut real = Vec::new();
        while let Some((name, is_of_link)) = names.pop() {
            match name {
                b"" | b"." => continue,
                b".." if real.is_empty() => return Some(Way::Lost(Absence::LinkOut)),
                b".." => {
                    real.truncate(split_name(&real).0.len());
                    continue;
                }
                _ => {}
            }
            let next = joined(&real, name);
            match self.by_path.get(next.as_slice()) {
                Some(number) if self.files[*number].kind == EntryKind::Symlink => {
                    let Some(says) = self.links.get(number) else {
                        return Some(Way::Unknown(*number));
                    };
                    followed += 1;
                    if followed > FOLLOWED {
                        return Some(Way::Lost(Absence::LinkNowhere));
                    }
                    if says.starts_with(b"/") {
                        return Some(Way::Lost(Absence::LinkOut));
                    }
                    names.extend(says.split(|&byte| byte == b'/').map(|name| (name, true)).rev());
                    continue;
                }
                None if !self.folders.contains_key(next.as_slice()) => {
                    if is_of_link {
                        return Some(Way::Lost(Absence::LinkNowhere));
                    }
                    // Nothing is known below that, and no link has names among those that are left.
                    real = next;
                    for (name, _) in names.drain(..).rev().filter(|(name, _)| !name.is_empty()) {
                        real.push(b'/');
                        real.extend_from_slice(name);
                    }
                }
                _ => real = next,
            }
        }
        if path.ends_with(b"/") && !real.is_empty() {
            real.push(b'/');
        }
        (followed > 0).then_some(Way::To(real))
    }

    /// The file at `path`, or at the end of the symbolic links there; `None` where nothing is there, or what is
    /// no file.
    fn file_at(&self, path: &[u8]) -> Option<Result<usize, Absence>> {
        let number = *self.by_path.get(path)?;
        match self.files[number].kind {
            EntryKind::Symlink => match self.way(path) {
                Some(Way::To(real)) => self.by_path.get(real.as_slice()).map(|&number| Ok(number)),
                Some(Way::Lost(absence)) => Some(Err(absence)),
                Some(Way::Unknown(_)) | None => Some(Ok(number)),
            },
            EntryKind::Special => None,
            EntryKind::File | EntryKind::Folder => Some(Ok(number)),
        }
    }

    /// The file that is the index of a folder, or what keeps a symbolic link from being it.
    fn index_of(&self, folder: &[u8]) -> Option<Result<usize, Absence>> {
        self.names.iter().find_map(|name| self.file_at(&joined(folder, names::bytes(name))))
    }

    /// What is there instead of `path`.
    fn nearest(&self, path: &[u8], is_folder: bool, is_path: bool) -> (Absence, Option<usize>) {
        let mut wanted = vec![path.to_vec()];
        if is_folder {
            wanted.extend(self.names.iter().map(|name| [path, names::bytes(name)].concat()));
        }
        for path in wanted {
            let Some(&number) = self.alike.get(&hashed(&folded(&path))) else { continue };
            let own = &*self.files[number].path;
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

    /// The file that was perhaps meant by `name` in `folder`.
    fn hint(&self, folder: &[u8], name: &[u8]) -> Option<usize> {
        /// A shorter name, without its extension, says little of a file that is far away.
        const TELLING: usize = 3;
        self.neighbour(folder, name).or_else(|| {
            let number = *self.by_name.get(&hashed(name))?;
            let (there, same) = split_name(&self.files[number].path);
            let is_near = || split_name(there).0 == folder || split_name(folder).0 == there;
            (same == name && (stem(name).len() >= TELLING || is_near())).then_some(number)
        })
    }

    /// The file in `folder` whose name takes the fewest changes to become `name`.
    fn neighbour(&self, folder: &[u8], name: &[u8]) -> Option<usize> {
        /// So many names on each side in their order are compared, that hints take linear time.
        const COMPARED: usize = 64;
        let most = (stem(name).len() / 3).min(3);
        let files = self.folders.get(folder)?;
        let own = |number: &usize| split_name(&self.files[*number].path).1;
        let at = files.partition_point(|number| own(number) < name);
        let near = &files[at.saturating_sub(COMPARED)..files.len().min(at + COMPARED)];
        let distances = near.iter().filter_map(|number| {
            let changes = changes(own(number), name, most)?;
            Some((changes, *number))
        });
        distances.min().map(|(_, number)| number)
    }
}

/// Whether the tree is read from disk.
pub(crate) fn is_disk(root: &RootUrl) -> bool {
    let scheme = Reference::split(Grammar::Rfc3986, root.as_str()).scheme();
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file"))
}

/// The URL of the file `path` below `root`.
pub(crate) fn url_below(root: &RootUrl, path: &[u8]) -> Option<String> {
    Some(format!("{}{}", root.as_str(), names::path(path, names::Percent::Encode)?))
}

/// The names that lead to an entry, with `/` between them.
pub(crate) fn path_of(entry: &TreeEntry) -> Vec<u8> {
    entry.relative.iter().map(|name| names::bytes(name)).collect::<Vec<_>>().join(&b'/')
}

fn bytes_of(path: &Path) -> Vec<u8> {
    path.iter().map(names::bytes).collect::<Vec<_>>().join(&b'/')
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

/// The folder of a path and the name in it.
pub(crate) fn split_name(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// Whether `path`, that of a URL, is one of a folder.
fn names_folder(path: &[u8]) -> bool {
    path.is_empty() || path.ends_with(b"/")
}

/// A name without its extension.
pub(crate) fn stem(name: &[u8]) -> &[u8] {
    &name[..memchr::memrchr(b'.', name).unwrap_or(name.len())]
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

fn hashed(key: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// A path in Normalization Form C (Unicode Standard Annex #15).
fn composed(path: &[u8]) -> Cow<'_, [u8]> {
    const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
    match str::from_utf8(path) {
        Ok(text) if !text.is_ascii() => Cow::Owned(NFC.normalize(text).into_owned().into_bytes()),
        _ => Cow::Borrowed(path),
    }
}

/// A path as it is when neither case, normalization nor encoding counts.
fn folded(path: &[u8]) -> Vec<u8> {
    /// How often names are encoded on top of each other, at most.
    const PASSES: usize = 3;
    let mut decoded = path.to_vec();
    for _ in 0..PASSES {
        if !decoded.contains(&b'%') {
            break;
        }
        decoded = decode_percent(&decoded);
    }
    composed(&lower(&without_empty(&decoded))).into_owned()
}

/// A path in lower case. What is not UTF-8 is taken for Latin-1.
fn lower(path: &[u8]) -> Vec<u8> {
    match str::from_utf8(path) {
        Ok(path) => path.to_lowercase().into_bytes(),
        Err(_) => path
            .iter()
            .map(|&byte| char::from(byte))
            .collect::<String>()
            .to_lowercase()
            .into_bytes(),
    }
}

/// A path as it is when case does not count: bytes that are UTF-8 never mean what others do.
fn without_case(path: &[u8]) -> (Vec<u8>, bool) {
    (lower(path), str::from_utf8(path).is_ok())
}

fn is_alike_in_case(one: &[u8], other: &[u8]) -> bool {
    without_case(one) == without_case(other)
}

/// A path without empty names.
fn without_empty(path: &[u8]) -> Vec<u8> {
    let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join(&b'/')
}

pub(crate) fn without_query(url: &str) -> &str {
    &url[..url.find(['?', '#']).unwrap_or(url.len())]
}

/// `url` as all that mean the same are spelled (RFC 3986, 6.2.2 and 6.2.3), without its fragment; `None`
/// where it has no scheme or its path leads above the root.
fn normal(url: &str, with_query: bool) -> Option<String> {
    let split = Reference::split(Grammar::Rfc3986, url);
    let scheme = split.scheme()?.to_ascii_lowercase();
    let root = format!(
        "{scheme}:{}",
        split.net_loc().map_or(String::new(), |one| origin::net_loc(&scheme, one))
    );
    let spelled = |name: &str| {
        let name_of_file = names::segment(&names::decode(name), names::Percent::Encode);
        // What no file can have is kept as it is.
        name_of_file.unwrap_or_else(|| name.to_owned())
    };
    let segments: Vec<_> = origin::segments(&split)?.into_iter().map(spelled).collect();
    let mut normal = format!("{root}/{}", segments.join("/"));
    if let Some(query) = split.query().filter(|_| with_query) {
        normal.push('?');
        normal.push_str(&names::query(query.as_bytes()));
    }
    Some(normal)
}

/// What `url` is by `https`, if it is one by `http`, and the reverse.
fn other_web(url: &str) -> Option<String> {
    let swapped = |from, to| url.strip_prefix(from).map(|rest| format!("{to}{rest}"));
    swapped("http:", "https:").or_else(|| swapped("https:", "http:"))
}

/// How many bytes of `a` have to be put in, taken out, exchanged or replaced to make `b` of it; `None` for
/// more than `most`.
fn changes(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut next = before.clone();
    for (i, &one) in a.iter().enumerate() {
        next[0] = i + 1;
        let mut least = next[0];
        for (j, &other) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(one != other);
            let mut fewest = replaced.min(last[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && one == b[j - 1] && a[i - 1] == other {
                fewest = fewest.min(before[j - 1] + 1);
            }
            next[j + 1] = fewest;
            least = least.min(fewest);
        }
        if least > most {
            return None;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut next);
    }
    last.last().copied().filter(|changes| *changes <= most)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn urls_that_mean_the_same_are_spelled_alike() {
        for (url, expected) in [
            ("HTTP://A:80", "http://a/"),
            ("http://a/%7eb/./c/../d?x#y", "http://a/~b/d?x"),
            ("http://a/b%2Fc", "http://a/b%2Fc"),
            ("http://a/é", "http://a/%C3%A9"),
            ("http://a:81/b/..", "http://a:81/"),
        ] {
            assert_eq!(normal(url, true).as_deref(), Some(expected), "{url}");
        }
        assert_eq!(normal("http://a/../b", true), None);
        assert_eq!(normal("http://a/b?c", false).as_deref(), Some("http://a/b"));
    }

    #[test]
    fn changes_are_counted_up_to_a_bound() {
        let count = |a: &str, b: &str| changes(a.as_bytes(), b.as_bytes(), 2);
        assert_eq!(count("logo", "lgoo"), Some(1));
        assert_eq!(count("logo", "logos"), Some(1));
        assert_eq!(count("logo", "lego!"), Some(2));
        assert_eq!(count("logo", "image"), None);
        assert_eq!(count("", "abc"), None);
    }

    #[test]
    fn names_are_alike_when_case_and_encoding_do_not_count() {
        for alike in ["Caf\u{e9}/X", "caf%C3%A9/x", "CAF%25C3%25A9//x/"] {
            assert_eq!(folded(alike.as_bytes()), "caf\u{e9}/x".as_bytes());
        }
        assert_eq!(folded(b"caf\xE9/x"), "caf\u{e9}/x".as_bytes());
    }
}
