//! The place at which the pages of a built site expect their folder.
//!
//! A site that is built for `https://a.example/repo/` has a file `css/a.css`, and links to it as `/repo/css/a.css`. For links,
//! only two pages are read, because servers send the second at any URL: `index.html` and `404.html`. The path is `/repo/` if
//! several of their links begin with `/repo/`, no other link begins with another `/`, no entry of the folder is called `repo`,
//! and the rest of two of these links are names of entries. The canonical URLs of some pages also tell the URL of the folder, if
//! they end in the paths of the pages.
//!
//! ```text
//! index.html: <base href="/repo/"><link href="css/a.css"> <a href="/repo/b/">  -->  /repo/
//! b/c.html: <link rel="canonical" href="https://a.example/repo/b/c">           -->  https://a.example/repo/
//! ```
//!
//! Deliberately absent: paths of several segments in links. Links alone never tell it for certain: those to another language
//! of the site look alike.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::Path,
};

use baselink_rewrite::{ListedLink, Options, links};
use baselink_text::Format;
use baselink_url::{Reference, scheme_of, without_fragment};

use super::{canonical, names};
use baselink_files::{
    os_string,
    walk::{Selection, walk},
};

use crate::collection::companion;

/// The pages that servers send at any URL, or at that of the folder.
const AT_ANY_URL: [&str; 2] = ["index.html", "404.html"];

/// The number of pages whose canonical URLs are read.
const PAGES: usize = 16;

/// The number of files among which these pages are sought.
const FILES: usize = 1_000;

/// The largest page that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The bytes of a page of `folder`, if it is not too large.
fn read(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let page = folder.join(name);
    let is_small = fs::symlink_metadata(&page).is_ok_and(|it| it.is_file() && it.len() <= LARGEST);
    is_small.then(|| fs::read(page).ok()).flatten()
}

/// The targets of the links of `folder` that do not depend on the paths of their pages, without fragments: those of URLs with a
/// host, and with `from_root` those of paths that begin with `/`. `root` is the URL of the folder if it is the root of its host.
fn targets(folder: &Path, root: &str, from_root: bool) -> HashSet<String> {
    let mut targets = HashSet::new();
    for name in AT_ANY_URL {
        links(
            &read(folder, name).unwrap_or_default(),
            &Options::at(root),
            &mut |listed| {
                let link = listed.link;
                let is_of_page = link.base.as_deref() == Some(root);
                let is_taken = match scheme_of(&link.reference) {
                    Some(scheme) => from_root || matches!(scheme, "http" | "https"),
                    None => from_root && (!is_of_page || link.reference.starts_with('/')),
                };
                if is_taken {
                    let target = link.target.unwrap_or(link.reference);
                    targets.insert(without_fragment(&target).to_owned());
                }
            },
        );
    }
    targets
}

/// True if `folder` has an entry with this percent-encoded path.
fn has(folder: &Path, path: &str) -> bool {
    let is_path = !path.is_empty() && !path.starts_with('/');
    is_path && os_string(names::decode(path)).is_some_and(|path| folder.join(path).exists())
}

/// The path at which the pages of `folder` expect it, with a `/` at its end; `None` if that is the root of the host, or unclear.
/// `root` is the URL of that root.
pub fn expected_path(folder: &Path, root: &str) -> Option<String> {
    let (mut firsts, mut found) = (HashSet::new(), 0);
    let targets = targets(folder, root, true);
    for below in targets
        .iter()
        .filter_map(|target| target.strip_prefix(root))
    {
        let below = Reference::of(below).path();
        let (first, rest) = below.split_once('/').unwrap_or((below, ""));
        firsts.insert(first);
        found += usize::from(has(folder, rest));
    }
    let mut firsts = firsts.into_iter();
    let first = firsts.next().filter(|first| !first.is_empty())?;
    let is_clear = firsts.next().is_none() && found > 1 && !has(folder, first);
    is_clear.then(|| format!("{first}/"))
}

/// The URL at which the pages of `folder` link to files of the folder by URLs with a host: its root, or a folder in the root.
/// `None` if there is none, or if it may be `root`.
fn linked_root(folder: &Path, root: &str) -> Option<String> {
    let mut hosts: HashMap<String, usize> = HashMap::new();
    let mut roots: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for target in targets(folder, root, false) {
        let url = Reference::of(&target);
        let Some(path) = url.path().strip_prefix('/') else {
            continue;
        };
        let host = target[..=url.path_span.start].to_owned();
        *hosts.entry(host.clone()).or_default() += 1;
        let below_first = path.split_once('/').unwrap_or((path, ""));
        let found = match below_first {
            _ if has(folder, path) => host.clone(),
            (first, rest) if has(folder, rest) => format!("{host}{first}/"),
            _ => continue,
        };
        roots.entry(found).or_insert((host, 0)).1 += 1;
    }
    if roots.contains_key(root) {
        return None;
    }
    let is_clear = |(host, found): &(String, usize)| *found > 1 && found * 2 > hosts[host];
    let mut roots = roots.into_iter();
    roots.find(|(_, root)| is_clear(root)).map(|(root, _)| root)
}

/// The URL of a folder according to its pages.
pub struct ExpectedUrl {
    /// The URL, with its final `/`.
    pub url: String,
    /// True if only canonical URLs tell it. They may name another version of the site.
    pub is_only_canonical: bool,
    /// True if most pages have a canonical URL below it. A page without a canonical URL votes against it.
    pub is_of_most: bool,
    /// The path at which links that begin with `/` expect the folder, unless it is the root of the host.
    pub path: Option<String>,
}

/// The URL of `folder` according to its pages; `None` if unknown. `root` is its URL according to the user.
pub fn expected_url(folder: &Path, root: &str) -> Option<ExpectedUrl> {
    let path = Reference::of(root).path_span;
    let host = &root[..=path.start];
    let path = expected_path(folder, host);
    let by_links = match &path {
        Some(path) => Some(host.to_owned() + path),
        None => linked_root(folder, root),
    };
    let pages = pages(folder);
    let voted = most(&pages, |page| {
        let url = canonical::named(&read(folder, page)?, Format::Html)?.url;
        root_of(&url, page).filter(|_| !url.contains(['?', '#']))
    });
    let (canonical, votes) = voted.unzip();
    let is_only_canonical = canonical.is_some() && canonical != by_links;
    let by_base = || most(&pages, |page| base_root(folder, page)).map(|(root, _)| root);
    Some(ExpectedUrl {
        url: canonical.or(by_links).or_else(by_base)?,
        is_only_canonical,
        is_of_most: votes.is_some_and(|votes| 2 * votes > pages.len()),
        path,
    })
}

/// The names of the first pages below `folder`.
fn pages(folder: &Path) -> Vec<String> {
    let selection = Selection::default();
    let files = walk(&[folder.to_owned()], &selection).flatten().take(FILES);
    let names =
        files.filter_map(|entry| String::from_utf8(names::path_bytes(&entry.relative)).ok());
    names
        .filter(|name| name.ends_with(".html"))
        .take(PAGES)
        .collect()
}

/// The root that most of those `pages` name that name one, with their number.
fn most(pages: &[String], root: impl Fn(&str) -> Option<String>) -> Option<(String, usize)> {
    let mut roots: BTreeMap<String, usize> = BTreeMap::new();
    for root in pages.iter().filter_map(|page| root(page)) {
        *roots.entry(root).or_default() += 1;
    }
    let all: usize = roots.values().sum();
    roots.into_iter().find(|(_, pages)| 2 * pages > all)
}

/// The URL of `folder` according to the base that its page called `name` declares, if a link leads from that base to a file.
fn base_root(folder: &Path, name: &str) -> Option<String> {
    let (page, mut found) = (read(folder, name)?, None);
    // A browser made the local copies.
    let copies = companion::folders_of(&folder.join(name));
    links(
        &page,
        &Options::default(),
        &mut |ListedLink { link, .. }| {
            let root = || {
                let base = link.base.as_deref()?;
                let root = &base[..=base.rfind('/')?];
                let below = link.target.as_deref()?.strip_prefix(root)?;
                let is_copy = copies
                    .iter()
                    .any(|copies| Path::new(below).starts_with(copies));
                (!is_copy && has(folder, below.split(['?', '#']).next()?)).then(|| root.to_owned())
            };
            found = found.take().or_else(root);
        },
    );
    found
}

/// The URL of the folder in which the page called `name` has the URL `url`; `None` if the URL does not end in the name.
fn root_of(url: &str, name: &str) -> Option<String> {
    let plain = name.strip_suffix("index.html");
    let plain = plain.unwrap_or(name.strip_suffix(".html")?);
    let plain = plain.trim_end_matches('/');
    let folder = format!("{plain}/");
    let mut ends = [name, &folder, plain].into_iter();
    let root = match plain {
        "" => url.strip_suffix(name).unwrap_or(url),
        _ => ends.find_map(|end| url.strip_suffix(end))?,
    };
    (root.ends_with('/') && !root.ends_with("//")).then(|| root.to_owned())
}
