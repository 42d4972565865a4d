//! The meaning of a URL in a site: one answer for every command.
//!
//! A URL that ends with `/` refers to an index file. A query is ignored unless the URL or the name of a file contains it.
//! Names are compared as bytes after percent-decoding (RFC 3986, 6.2.2.2). The table shows the names under which a file
//! is found for `page?x=1`, besides its URLs:
//!
//! | name | program |
//! |---|---|
//! | `page?x=1` | wget |
//! | `page@x=1` | wget for Windows |
//! | `page%3Fx=1`, `page%3fx%3d1` | browsers, and others that escape |
//! | `pagea255.html`, with the first four digits of the query's MD5 | HTTrack |
//! | all of these with `.html`, `.htm` or `.css` appended | wget with `--adjust-extension`, HTTrack |
//! | `page?x=1/index.html` | programs that save a URL without an extension as a folder |
//!
//! ```
//! use baselink_site::collection::origin::{Origins, RootUrl};
//! use baselink_site::collection::{Collection, FoundBy, ResourceKind};
//! let root_url = Some(RootUrl::new("http://a/docs/").unwrap());
//! let mut site = Collection::new(Origins { root_url, ..Origins::default() });
//! site.add(b"about.html", ResourceKind::File, []);
//! site.add(b"b/index.html", ResourceKind::File, []);
//! let found = |url| site.locate(url).resource().map(|found| (found.number, found.by));
//! assert_eq!(found("http://a/docs/about#x"), Some((0, FoundBy::CleanUrl)));
//! assert_eq!(found("http://a/docs/b"), Some((1, FoundBy::NoSlash)));
//! assert_eq!(found("http://a/docs/c"), None);
//! ```
//!
//! A link tells what may answer it: a prefix of URLs leads to a folder, and a style sheet may have an appended `.css`.
//!
//! Deliberately absent: what happens to a link, which is in [`crate::purpose`]; and names that depend on other saved files
//! (`page.1`).

use std::{borrow::Cow, collections::HashMap};

use baselink_rewrite::{LinkReport, Site};
use baselink_scan::{Against, Kind, Role};
use baselink_text::layer::digest::first_of_md5;
use baselink_url::{Base, Reference, Resolver, reference::without_query, without_fragment};

use super::{
    host_rules::REWRITE,
    index::{Absence, Collection, PathEnd, ResourceKind, UrlTarget, is_disk},
    normal::{MAX_REDIRECTS, host, in_scope, normal, with_other_scheme},
    origin::{PathBelowRoot, RootUrl, is_same_web, names, net_loc, segments},
    path::{PAGES, joined, names_folder, split_name, stem},
    same::others,
};

/// The text that programs append to the names of saved files.
const ADDED: [&str; 4] = ["", ".html", ".htm", ".css"];

/// The extensions of pages that many servers allow URLs to omit.
pub(crate) const OMITTED: [&[u8]; 2] = [b".html", b".htm"];

/// The beginning of the paths at which Netlify runs functions and other services.
const SERVICES: &str = "/.netlify/";

/// The meaning of a URL in a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// A resource.
    Resource(FoundResource),
    /// The folder with this path. It has no index file, or it is on disk, where index files do not count.
    Folder(Vec<u8>),
    /// A place with this path behind a symbolic link that is not followed, or in a folder that was not read.
    BehindLink(Vec<u8>),
    /// A place in the site that has no resource.
    Lacking(Absence, Vec<u8>),
    /// A capture with this status, which is not a resource.
    Failed(u16),
    /// A place outside the site.
    Outside {
        /// True if captures are from the same host.
        is_host_known: bool,
    },
}

/// A resource to which a URL leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundResource {
    /// The number of the resource, in the order of addition.
    pub number: usize,
    /// The way in which the resource was found.
    pub by: FoundBy,
    /// The effect of the query of the URL.
    pub query: QueryUse,
}

/// The way in which a resource was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// By its URL or its path.
    Url,
    /// As the index file of a folder.
    Index,
    /// As the index file of a folder whose final `/` the URL lacks. Servers redirect to the folder.
    NoSlash,
    /// By its path without `.html` or `.htm`, which many servers allow URLs to omit.
    CleanUrl,
    /// As [`CleanUrl`](Self::CleanUrl), but with a final `/`. Most servers have nothing there.
    CleanFolder,
    /// By the name that a crawler gave it, in a site that is not a crawl.
    CrawlerName,
    /// By the redirects of the host ([`super::host_rules`]).
    HostRule,
    /// By a rewrite of the host, which sends the resource under the URL.
    Rewrite,
    /// By its path, though the host redirects the path to nothing.
    DeadRule,
}

/// The effect of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryUse {
    /// The URL has no query, or leads to the same resource without it.
    None,
    /// The query selects this resource.
    Selects,
    /// The query may select another page, which the site lacks. Without it, the URL leads to this resource.
    OtherPage,
}

impl Located {
    /// A place outside the site, on a host without captures.
    pub(crate) const OUTSIDE: Self = Self::Outside {
        is_host_known: false,
    };

    /// The resource, if there is one.
    pub fn resource(&self) -> Option<FoundResource> {
        match self {
            Self::Resource(found) => Some(*found),
            _ => None,
        }
    }

    /// True if there is a resource that a rule of the host does not give. A rule may give one for any text.
    pub(crate) fn is_proof(&self) -> bool {
        self.resource()
            .is_some_and(|found| !matches!(found.by, FoundBy::HostRule | FoundBy::Rewrite))
    }

    /// True unless the URL is outside the site.
    pub(crate) fn is_inside(&self) -> bool {
        !matches!(self, Self::Outside { .. })
    }
}

impl Site for Collection {
    fn has(&self, link: &LinkReport, _: &Against) -> bool {
        let target = link.target.as_deref();
        target.is_some_and(|target| self.locate(target).is_proof())
    }
}

fn resource(number: usize, by: FoundBy, query: QueryUse) -> Located {
    Located::Resource(FoundResource { number, by, query })
}

impl Collection {
    /// Finds the meaning of `url`, ignoring its fragment. URLs with the same meaning lead to the same resource.
    pub fn locate(&self, url: &str) -> Located {
        self.follow(url).0
    }

    /// The library that contains this source, and the file that it has for `url`, or the failure of a capture.
    pub fn elsewhere(&self, url: &str) -> Option<(&Self, Located)> {
        let library = self.library.as_deref()?;
        let found = library.locate(url);
        let is_known = match &found {
            Located::Resource(found) => found.query != QueryUse::OtherPage,
            other => matches!(other, Located::Failed(_)),
        };
        is_known.then_some((library, found))
    }

    /// Finds the meaning of `target`, the target of `link`, and the URL at which the redirects that begin with it end. The
    /// fragment of this URL is that of the last redirect that has one, or else that of `target` (Fetch Standard, 4.4). It is
    /// `None` if they lead to nothing, and without a redirect.
    ///
    /// The link is in the resource with the number `from`. If it is a part of a message, labels of the multiparts around it come
    /// first, the innermost before all (RFC 2557, 8.2). A prefix of URLs is a folder, whether or not it has an index file, and has
    /// no capture. In a crawl, the name of the file for a style sheet may end with an appended `.css`.
    pub fn locate_link(
        &self,
        link: &LinkReport,
        target: &str,
        from: Option<usize>,
    ) -> (Located, Option<String>) {
        if let Some(number) = self.labelled(from, target) {
            return (resource(number, FoundBy::Url, QueryUse::None), None);
        }
        let own = self.in_own_mirror(from, target);
        let (located, end) = own.map_or_else(|| self.follow(target), |found| (found, None));
        let is_prefix = names_prefix(link);
        let has_slash = || without_query(target).ends_with('/');
        let located = match located {
            Located::Resource(found)
                if is_prefix && (found.by == FoundBy::NoSlash || has_slash()) =>
            {
                let (folder, _) = split_name(self.path_in_mirror(found.number));
                Located::Folder(if has_slash() {
                    joined(folder, b"")
                } else {
                    folder.to_vec()
                })
            }
            Located::Outside { .. } if is_prefix => Located::OUTSIDE,
            Located::Lacking(absence, path) if self.is_of_hosts() && loads_sheet(link) => {
                match self.number_at(&[&path[..], b".css"].concat()) {
                    Some(number) => resource(number, FoundBy::Url, QueryUse::None),
                    None => Located::Lacking(absence, path),
                }
            }
            located => located,
        };
        (located, end)
    }

    fn follow(&self, url: &str) -> (Located, Option<String>) {
        let found = self.locate_as_written(url);
        if found.0.resource().is_some() {
            return found;
        }
        let is_elsewhere = self.root_url().is_none_or(|root| !root.is_on_host_of(url));
        let mut others = others(url, &self.same).map(|url| self.locate_as_written(&url));
        let other = others.find(|(other, _)| {
            other.resource().is_some() || is_elsewhere && *other != Located::OUTSIDE
        });
        other.unwrap_or(found)
    }

    /// The URL below the root that means the same as `url`, if only the other URL has a resource, or `url` is on another host.
    pub(crate) fn same_below(&self, root: &RootUrl, url: &str) -> Option<String> {
        let is_below = |url: &str| root.below_own(without_query(url)).is_some();
        let is_found = |url: &str| self.locate_as_written(url).0.resource().is_some();
        let is_meant = |other: &Cow<'_, str>| {
            let is_elsewhere = || !is_below(url) && !root.is_on_host_of(url);
            is_below(other) && (is_elsewhere() || is_found(other) && !is_found(url))
        };
        others(url, &self.same).find(is_meant).map(Cow::into_owned)
    }

    fn locate_as_written(&self, url: &str) -> (Located, Option<String>) {
        if !self.host_rules.is_empty() {
            return self.ruled(self.root_url(), url, |url| self.without_rules(url));
        }
        let fragment = || self.fragments.get(&self.known_number(&normal(url)?)?);
        let captured = if self.fragments.is_empty() {
            None
        } else {
            fragment()
        };
        let end = captured.map(|fragment| format!("{}#{fragment}", without_fragment(url)));
        (self.without_rules(url), end)
    }

    /// The meaning of `url` by the rules of the host, if `root`, the URL of the root, is that of its host, and the URL at which
    /// redirects end. `find` finds the meaning of a URL without them.
    fn ruled(
        &self,
        root: Option<&RootUrl>,
        url: &str,
        find: impl Fn(&str) -> Located,
    ) -> (Located, Option<String>) {
        let mut located = find(url);
        let Some(root) = root.filter(|root| root.is_of_host()) else {
            return (located, None);
        };
        let mut end = None;
        let base = Base::new(Resolver::Rfc3986, root.as_str());
        let dead = match &located {
            Located::Resource(found) => resource(found.number, FoundBy::DeadRule, found.query),
            Located::Folder(path) | Located::Lacking(_, path) => {
                Located::Lacking(Absence::Redirect, path.clone())
            }
            _ => Located::Lacking(Absence::Redirect, Vec::new()),
        };
        let (mut url, mut is_rewritten) = (Cow::Borrowed(url), false);
        for followed in 0..=MAX_REDIRECTS {
            let is_there = match &located {
                Located::Resource(_) | Located::BehindLink(_) => true,
                Located::Folder(_) | Located::Lacking(..) | Located::Failed(_) => false,
                Located::Outside { .. } => return (located, end),
            };
            let split = Reference::of(&url);
            let path = split.path();
            if !is_there && path.starts_with(SERVICES) {
                return (Located::OUTSIDE, end);
            }
            // The rules are not applied to the target of a rewrite.
            let rule = if is_rewritten {
                None
            } else {
                self.host_rules.followed(path, is_there)
            };
            let Some((to, status)) = rule else {
                return match located {
                    _ if followed == 0 => (located, None),
                    Located::Resource(found) => {
                        let by = if is_rewritten {
                            FoundBy::Rewrite
                        } else {
                            FoundBy::HostRule
                        };
                        (resource(found.number, by, found.query), end)
                    }
                    _ if is_there => (located, end),
                    _ => (dead, None),
                };
            };
            let Ok(next) = base.resolve(&to) else {
                break;
            };
            is_rewritten = status == REWRITE;
            let mut next = next.url;
            // Hosts add the query, and browsers the fragment.
            if let Some(query) = split.query().filter(|_| !next.contains('?')) {
                let at = without_query(&next).len();
                next.insert_str(at, &format!("?{query}"));
            }
            if let Some((_, fragment)) = url.split_once('#').filter(|_| !next.contains('#')) {
                next = format!("{next}#{fragment}");
            }
            // Such a redirect never ends.
            if next == *url && !is_rewritten {
                break;
            }
            url = Cow::Owned(next);
            if !is_rewritten {
                end = Some(url.to_string());
            }
            located = find(&url);
        }
        (dead, None)
    }

    /// Finds the meaning of `url` without the rules of the host.
    fn without_rules(&self, url: &str) -> Located {
        let own = (!self.urls.is_empty() || self.only_urls)
            .then(|| normal(url))
            .flatten();
        match own.as_ref().and_then(|own| self.known(own)) {
            Some(UrlTarget::Resource(number)) => {
                let query = if without_fragment(url).contains('?') {
                    QueryUse::Selects
                } else {
                    QueryUse::None
                };
                return resource(number as usize, FoundBy::Url, query);
            }
            Some(UrlTarget::Failure(status)) => return Located::Failed(status),
            Some(UrlTarget::Outside) | None => {}
        }
        if self.only_urls {
            let is_host_known = own.is_some_and(|own| self.hosts.contains(host(&own)));
            return Located::Outside { is_host_known };
        }
        self.by_path(url, own.as_deref())
    }

    /// Finds the file of `url` by its path and query. `own` is the normal form of a URL that may be in the table.
    fn by_path(&self, url: &str, own: Option<&str>) -> Located {
        let query = without_fragment(url)
            .split_once('?')
            .map(|(_, query)| query);
        let below = self.below(url);
        if let (Some(query), Some(below)) = (query.filter(|_| !self.is_served), &below)
            && let Some((number, by)) = self.named_with_query(below, query)
        {
            return resource(number, by, QueryUse::Selects);
        }
        let known = own
            .filter(|_| query.is_some())
            .and_then(|own| self.known(without_query(own)));
        if let Some(UrlTarget::Resource(number)) = known {
            let number = number as usize;
            let is_page = self.is_page(number);
            return resource(number, FoundBy::Url, of_query(is_page));
        }
        let Some(below) = below else {
            return Located::OUTSIDE;
        };
        match self.entry(below, false) {
            Located::Resource(found) if query.is_some() => {
                let is_static = self.origins.root_url.is_some() && {
                    let path = self.path(found.number);
                    PAGES.iter().any(|extension| path.ends_with(extension))
                };
                let query = of_query(!is_static && self.is_page(found.number));
                Located::Resource(FoundResource { query, ..found })
            }
            located => located,
        }
    }

    /// Finds `url` as if the root of the site had the URL `root`. Files are found only by their paths. If `root` is a
    /// `file` URL, the site is read from disk, where a folder has no index file.
    pub fn locate_below(&self, root: &RootUrl, url: &str) -> Located {
        let find = |url: &str| match root.below(url) {
            Some(below) => self.entry(below, is_disk(root)),
            None => Located::OUTSIDE,
        };
        self.ruled(Some(root), url, find).0
    }

    /// The folder in a library that is named after a host and contains the file at `path`.
    pub(crate) fn mirror_of(&self, path: &[u8]) -> Option<&[u8]> {
        let mut hosts = self.origins.host_folders.keys().map(Vec::as_slice);
        hosts.find(|host| is_around(host, path))
    }

    /// The file of a crawl for `url`, if the resource with the number `from` is of the same crawl in a library.
    fn in_own_mirror(&self, from: Option<usize>, url: &str) -> Option<Located> {
        let host = self.mirror_of(self.path(from?))?;
        let place = self.below(url)?.path;
        let mirror = split_name(host).0;
        let is_own = mirror.is_empty() || is_around(mirror, &place);
        let located = self.by_path(url, None);
        Some(located).filter(|located| is_own && located.resource().is_some())
    }

    /// The resource with the label `url` in a multipart around the resource with the number `from`.
    pub fn labelled(&self, from: Option<usize>, url: &str) -> Option<usize> {
        let mut around: &str = self.entities.get(&from?)?;
        let own = normal(url)?;
        while !around.is_empty() {
            let outer = around.rsplit_once(['.', '/']);
            around = outer.map_or("", |(outer, _)| outer);
            let key = in_scope(&own, around);
            if let Some(UrlTarget::Resource(number)) = self.urls.get(&*key) {
                return Some(*number as usize);
            }
        }
        None
    }

    /// The path of the resource with this URL, below the root of a mirror.
    pub fn path_of(&self, url: &str) -> Option<Vec<u8>> {
        let found = self.locate(url).resource()?;
        Some(self.path_in_mirror(found.number).to_vec())
    }

    /// The target of a URL in the table.
    fn known(&self, url: &str) -> Option<UrlTarget> {
        self.known_number(url).map(|number| self.urls[number])
    }

    /// The number of a URL in the table. `http` and `https` count as one scheme, because a host usually has the same
    /// resources under both.
    fn known_number(&self, url: &str) -> Option<usize> {
        let is_resource = |number: &usize| matches!(self.urls[*number], UrlTarget::Resource(_));
        let own = self.urls.get_index_of(url);
        if own.as_ref().is_some_and(is_resource) {
            return own;
        }
        let other = with_other_scheme(url).and_then(|url| self.urls.get_index_of(&*url));
        other.filter(is_resource).or(own).or(other)
    }

    /// The path of `url` below the root. `None` if `url` is neither below the URL of the root nor on a host of the site.
    pub(crate) fn below(&self, url: &str) -> Option<PathBelowRoot> {
        let root = self.origins.root_url.as_ref();
        let below = root.and_then(|root| root.below_own(url));
        if below.is_some() || !self.is_of_hosts() {
            return below;
        }
        let url = Reference::of(url);
        let scheme = url
            .scheme()
            .filter(|scheme| is_same_web(scheme, self.scheme()))?;
        let folder = self
            .folders_of_hosts
            .get(&net_loc(scheme, url.net_loc()?))?;
        let below = PathBelowRoot::of(segments(&url)?.into_iter());
        Some(PathBelowRoot {
            path: [folder, &b"/"[..], &below.path].concat(),
            names_root: false,
            ..below
        })
    }

    /// The entry at a path below the root.
    fn entry(&self, below: PathBelowRoot, on_disk: bool) -> Located {
        let PathBelowRoot {
            path, names_root, ..
        } = below;
        if !below.is_path {
            return Located::Lacking(Absence::NoName, path);
        }
        let is_folder = names_folder(&path) && !names_root;
        match self
            .number_at(&path)
            .map(|number| (number, self.kind(number)))
        {
            Some((_, ResourceKind::Special)) => return Located::Lacking(Absence::Special, path),
            Some((number, ResourceKind::File)) if !path.ends_with(b"/") => {
                return resource(number, FoundBy::Url, QueryUse::None);
            }
            _ => {}
        }
        let folder = path.strip_suffix(b"/").unwrap_or(&path);
        if self.has_folder(folder) {
            return match self.index_of(folder).filter(|_| !on_disk) {
                Some(Ok(number)) if is_folder => resource(number, FoundBy::Index, QueryUse::None),
                Some(Err(absence)) if is_folder => Located::Lacking(absence, path),
                index => match (self.with_extension(&path), index) {
                    (Some(found), _) if !is_folder && !on_disk => found,
                    (_, Some(Ok(number))) => resource(number, FoundBy::NoSlash, QueryUse::None),
                    _ => Located::Folder(path),
                },
            };
        }
        match self.path_end(&path) {
            Some(PathEnd::Unknown(number)) if self.path(number) == path => {
                resource(number, FoundBy::Url, QueryUse::None)
            }
            Some(PathEnd::Unknown(_)) => Located::BehindLink(path),
            Some(PathEnd::Lacking(absence)) => Located::Lacking(absence, path),
            Some(PathEnd::To(path)) => self.entry(PathBelowRoot { path, ..below }, on_disk),
            // In a crawl, `about/` and `about` may be two pages.
            None => self
                .with_extension(&path)
                .filter(|_| !(on_disk || is_folder && self.is_of_hosts()))
                .unwrap_or(Located::Lacking(Absence::Absent, path)),
        }
    }

    /// The file at `path` with an extension that servers add.
    fn with_extension(&self, path: &[u8]) -> Option<Located> {
        let (path, by) = match path.strip_suffix(b"/") {
            Some(path) => (path, FoundBy::CleanFolder),
            None => (path, FoundBy::CleanUrl),
        };
        OMITTED.iter().find_map(|added| {
            let number = self.file_at(&[path, added].concat())?.ok()?;
            Some(resource(number, by, QueryUse::None))
        })
    }

    /// The file whose name contains both the path and the query of a URL.
    fn named_with_query(&self, below: &PathBelowRoot, query: &str) -> Option<(usize, FoundBy)> {
        let path = Some(below.path.as_slice()).filter(|_| below.is_path)?;
        let mut names = self.with_index(path);
        // If the root has a URL, the file `page?x=1` has the URL `page%3Fx=1`. A link `?x=2` in it refers to the file
        // `page?x=2`. The same link in `page.php.html` refers to the file `page.php?x=2.html`.
        let (_, name) = split_name(path);
        let stem_end = memchr::memchr(b'?', name).map(|at| path.len() - name.len() + at);
        names.extend(stem_end.map(|end| path[..end].to_vec()));
        names.extend(path.strip_suffix(b".html").map(<[u8]>::to_vec));
        // A name cannot contain a `/`, unless it is decoded.
        let named = |query: &[u8]| {
            let parts: Vec<&[u8]> = query.split(|&byte| byte == b'/').collect();
            parts.join(&b"%2F"[..])
        };
        let decoded = names::decode(query);
        let mut queries = vec![named(query.as_bytes()), named(&decoded), decoded];
        queries.dedup();
        let saved = |parts: [&[u8]; 4]| {
            let path = parts.concat();
            let number = self.file_at(&path).and_then(Result::ok);
            number.or_else(|| self.decoded_names().get(&path).copied())
        };
        for added in ADDED {
            let by = match added {
                "" => FoundBy::Url,
                _ => self.by_crawler(),
            };
            for name in &names {
                for query in &queries {
                    for mark in [&b"?"[..], b"@"] {
                        if let Some(number) = saved([name, mark, query, added.as_bytes()]) {
                            return Some((number, by));
                        }
                    }
                }
            }
        }
        // HTTrack puts the first digits of the query's MD5 before the extension.
        let digits = first_of_md5(query.as_bytes(), 2).into_bytes();
        let number = names.iter().find_map(|path| {
            let (_, name) = split_name(path);
            let (path, extension) = path.split_at(path.len() - name.len() + stem(name).len());
            saved([path, &digits, extension, b""]).or_else(|| saved([path, &digits, b".html", b""]))
        });
        Some((number?, self.by_crawler()))
    }

    /// The files whose paths differ from the paths that they stand for ([`names::saved_path`]), by the latter.
    fn decoded_names(&self) -> &HashMap<Vec<u8>, usize> {
        self.decoded.get_or_init(|| {
            let mut decoded = HashMap::new();
            for number in 0..self.count() {
                let (path, saved) = (self.path(number), names::saved_path(self.path(number)));
                if *saved != *path {
                    decoded.entry(saved.into_owned()).or_insert(number);
                }
            }
            decoded
        })
    }

    /// The way in which a file with the name that a crawler gave it was found. In the folders of a crawl, the name stands for
    /// the URL.
    fn by_crawler(&self) -> FoundBy {
        if self.is_of_hosts() {
            FoundBy::Url
        } else {
            FoundBy::CrawlerName
        }
    }
}

/// True if the file at `path` is in `folder`.
fn is_around(folder: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with(b"/"))
}

/// The use of a query that no name contains.
fn of_query(selects_page: bool) -> QueryUse {
    if selects_page {
        QueryUse::OtherPage
    } else {
        QueryUse::None
    }
}

/// True if the target of a link is a prefix of URLs: an entry of an import map that ends with `/` (HTML, 8.1.5.2), the `scope`
/// of a manifest (Web Application Manifest, 1.4), or a `codebase` (HTML 4.01, 13.3.2).
pub(crate) fn names_prefix(link: &LinkReport) -> bool {
    let is_entry = || {
        link.element == "script"
            && link.role == Role::Embedded
            && without_query(&link.reference).ends_with('/')
    };
    match link.attribute.as_deref() {
        None => link.element == "scope" || is_entry(),
        attribute => attribute == Some("codebase"),
    }
}

/// True if a link may load a style sheet: a `link` does, and an `@import`.
pub fn loads_sheet(link: &LinkReport) -> bool {
    let is_in_sheet = link.attribute.is_none() && matches!(&*link.element, "" | "style");
    link.kind == Kind::Style || is_in_sheet
}
