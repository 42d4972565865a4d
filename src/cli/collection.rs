//! A named folder as a collection: its files, each with its retrieval URL.
//!
//! ```text
//! site/index.html, site/a.png  -->  Collection { index.html: http://a/, a.png: http://a/a.png }
//! ```
//!
//! The head of a file is read only if nothing else gives its retrieval URL (RFC 1808, 3.3).
//!
//! Deliberately absent: finding the file of a URL, which `baselink_site::collection` does.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::PathBuf,
    sync::Arc,
};

use baselink_rewrite::{ListedLink, links};
use baselink_text::{Error, Format, Result, name};

use super::{
    in_order::all_in_order,
    input::{self, Contents, File, OpenedInput, head_of},
    output::Output,
    request::{Documents, Origin},
};
use baselink_files::walk::{EntryKind, Selection, TreeEntry, walk};
use baselink_site::{
    collection::{
        Collection,
        folder::name_of,
        host_rules, is_page_name, loads_sheet,
        origin::{
            RootUrl,
            expected::{ExpectedUrl, expected_url},
            is_assumed,
        },
        same::{SameTable, others},
    },
    purpose::relocate::split_host,
};

/// The files in the folders of `documents` that `selection` and `takes` accept. With `reads_links`, symbolic links
/// are read, and their targets are known; otherwise they are opaque.
///
/// # Errors
///
/// A named folder cannot be read.
pub fn of_folder(
    documents: &Documents,
    selection: &Selection,
    takes: impl Fn(&TreeEntry) -> bool,
    reads_links: bool,
) -> Result<Collection> {
    let (mut found, mut failed) = (walk(&documents.paths, selection), None);
    let origins = found
        .by_ref()
        .filter_map(|entry| entry.map_err(|error| failed = Some(error)).ok())
        .filter(takes)
        .map(Origin::Entry);
    let with_retrieval = |origin| {
        let retrieval = input::retrieval(&origin, documents).ok().flatten();
        (origin, retrieval)
    };
    let mut collection = Collection::new(documents.origins());
    let mut untold = Vec::new();
    collection.set_same(Arc::clone(&documents.reading.same));
    all_in_order(
        documents.jobs,
        origins,
        with_retrieval,
        |(origin, retrieval)| {
            let Origin::Entry(entry) = &origin else {
                return;
            };
            let is_read = reads_links && entry.kind == EntryKind::Symlink;
            match is_read.then(|| fs::read_link(&entry.path)) {
                Some(Ok(target)) => collection.add_link(entry, &target, retrieval.as_ref()),
                _ => collection.add_entry(entry, retrieval.as_ref()),
            }
            if collection.is_of_hosts() && !tells_type(entry) {
                untold.push(entry.clone());
            }
        },
    );
    for path in found.unread_below_roots() {
        collection.add_unknown(path);
    }
    learn_types(&mut collection, untold, documents);
    add_host_rules(&mut collection, &documents.paths);
    let is_root_unread = found
        .unread_below_roots()
        .any(|path| path.as_os_str().is_empty());
    match failed.filter(|_: &Error| is_root_unread) {
        Some(error) => Err(error),
        None => Ok(collection),
    }
}

/// True if the name of a file tells its media type. A crawler appends the query to it.
fn tells_type(entry: &TreeEntry) -> bool {
    let name = entry.relative.last().map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    let segment = name.split(['?', '@']).next().unwrap_or_default();
    Format::detect(Some(&name), b"") != Format::Other
        || !(name.contains('?') || is_page_name(segment.as_bytes()))
}

/// Adds the media types of those files of a crawl whose names do not tell them: images in SVG, and the style sheets that
/// documents load. Browsers refuse both under the name of a page.
fn learn_types(collection: &mut Collection, untold: Vec<TreeEntry>, documents: &Documents) {
    let mut texts = HashMap::new();
    for entry in untold {
        let number = collection.number_at(&name_of(&entry));
        let head = entry
            .open(documents.selection.follow)
            .and_then(|(file, _)| head_of(file, &entry.path));
        let (Some(number), Ok(head)) = (number, head) else {
            continue;
        };
        let start = head.trim_ascii_start();
        let is_svg = [&b"<svg"[..], b"<!DOCTYPE svg"]
            .iter()
            .any(|tag| start.starts_with(tag));
        match (Format::detect(None, &head), Format::of_document(&head)) {
            (format, _) if is_svg || format == Format::Svg => {
                documents.learn_format(&entry.path, Format::Svg);
                collection.set_media_type(number, "image/svg+xml");
            }
            (Format::Other, Format::Html) => drop(texts.insert(number, entry)),
            _ => {}
        }
    }
    if texts.is_empty() {
        return;
    }
    let site = &*collection;
    let loaded = |origin: Origin| {
        let mut found = Vec::new();
        if let Ok(OpenedInput::Document(file)) = File::open(&origin, documents, None)
            && let Contents::Document(bytes) = &file.contents
        {
            links(bytes, &file.options, &mut |ListedLink { link, .. }| {
                let target = link.target.as_deref().filter(|_| loads_sheet(&link));
                let sheet = target.and_then(|it| site.locate_link(&link, it, None).0.resource());
                let sheet = sheet.map(|sheet| sheet.number);
                found.extend(sheet.filter(|it| texts.contains_key(it)));
            });
        }
        found
    };
    let mut sheets = BTreeSet::new();
    let all = walk(&documents.paths, &documents.selection).flatten();
    let files = all
        .filter(|entry| entry.kind == EntryKind::File)
        .map(Origin::Entry);
    all_in_order(documents.jobs, files, loaded, |found| sheets.extend(found));
    let mut unread: Vec<usize> = sheets.iter().copied().collect();
    while let Some(entry) = unread.pop().and_then(|sheet| texts.get(&sheet)) {
        documents.learn_format(&entry.path, Format::Css);
        unread.extend(
            loaded(Origin::Entry(entry.clone()))
                .into_iter()
                .filter(|it| sheets.insert(*it)),
        );
    }
    for sheet in sheets {
        collection.set_media_type(sheet, "text/css");
    }
}

/// Adds the rules of the host from the files in the root that declare them.
fn add_host_rules(collection: &mut Collection, roots: &[PathBuf]) {
    let [root] = roots else {
        return;
    };
    let mut files = host_rules::FILES.to_vec();
    files.retain(|name| collection.plain_file(name.as_bytes()).is_some());
    for name in files {
        if let Ok(bytes) = fs::read(root.join(name)) {
            let text = String::from_utf8_lossy(&bytes);
            collection.host_rules.add_file(name, &text);
        }
    }
}

/// The remedy if the URL that the pages name is not that of the folder.
const OTHERWISE: &str = "if not, make a copy with -o";

/// The message about a folder that was moved before.
const MOVED: &str = "its links already lead to the URL or path of --to, as if it had been moved before; give its URL of today with --url";

/// Reports the place at which the pages of a site expect its folder, if no URL is given, or neither that URL nor `to` is that
/// place. `to` is the URL to which the folder moves.
///
/// # Errors
///
/// If the folder is changed in place, and most of its pages name another place, returns the report as an error, because a wrong
/// URL would spoil the only copy. So does a second move.
pub fn report_expected_url(
    documents: &Documents,
    to: Option<&RootUrl>,
    is_in_place: bool,
    output: &mut Output,
) -> Result<()> {
    let (folder, origins) = (&documents.paths[0], &documents.reading.origins);
    let Some(root_url) = origins.root_url.as_ref().filter(|_| !origins.canonical) else {
        return Ok(());
    };
    let expected = root_url
        .folder()
        .and_then(|root| expected_url(folder, root));
    let shown = name(folder);
    if let (Some(found), Some(to)) = (&expected, to)
        && is_moved(found, root_url, to)
    {
        let why = format!("{shown}: {MOVED}");
        if is_in_place && (found.is_of_most || !found.is_only_canonical) {
            return Err(Error::new(why));
        }
        output.caution(&why);
        return Ok(());
    }
    let roots = [root_url, to.unwrap_or(root_url)];
    let is_other = |found: &ExpectedUrl| !names_one_of(roots, &found.url, &documents.reading.same);
    let Some(found) = expected.filter(is_other) else {
        if let Some(path) = root_url.expected_path() {
            output.notice(&format_args!(
                "{shown}: its pages expect it at /{path}, so links to /{path} lead into it; for another place, add --url"
            ));
        }
        return Ok(());
    };
    let (url, other) = (root_url.as_str(), &found.url);
    let refuses = is_in_place && found.is_of_most;
    let its = format!("{shown}: its pages name its files by URLs of {other}");
    if is_assumed(url) {
        let why =
            format!("{its}, which count as another site; if it is this one, add --url {other}");
        if refuses && to.is_some() {
            return Err(Error::new(format!("{why}; {OTHERWISE}")));
        }
        output.notice(&why);
        return Ok(());
    }
    let why = format!("{its}, not of {url}; if it is this site, give it as --url");
    if refuses && !is_version(&found, url) {
        Err(Error::new(format!("{why}; {OTHERWISE}")))
    } else {
        output.caution(&why);
        Ok(())
    }
}

/// True if the links of a folder already lead to the URL `to` or to its path, and not to the URL `from`, from which it moves. A
/// move to another host with the same path can be repeated.
fn is_moved(found: &ExpectedUrl, from: &RootUrl, to: &RootUrl) -> bool {
    if found.url == to.as_str() {
        let [old, new] = [from, to].map(|root| split_host(root.as_str()).1);
        return old != new;
    }
    if found.is_only_canonical || found.url == from.as_str() {
        return false;
    }
    let ends = |root: &RootUrl, path: &str| root.as_str().ends_with(&format!("/{path}"));
    let path = found.path.as_deref();
    path.is_some_and(|path| ends(to, path) && !ends(from, path))
}

/// True if the pages of the site at `url` have canonical URLs of another version of it, such as `/stable/` instead of `/2.1/`.
fn is_version(found: &ExpectedUrl, url: &str) -> bool {
    let (host, path) = split_host(url);
    let (other_host, other_path) = split_host(&found.url);
    let are_nested = path.starts_with(other_path) || other_path.starts_with(path);
    found.is_only_canonical && host == other_host && !are_nested
}

/// True if `url` is one of `roots`, or means one of them by `same`.
fn names_one_of(roots: [&RootUrl; 2], url: &str, same: &SameTable) -> bool {
    let is_root = |url: &str| roots.iter().any(|root| is_root_at(root, url));
    is_root(url) || others(url, same).any(|url| is_root(&url))
}

/// True if `root` is `url`. A root with `https` may be named by `http`, but not the reverse: links that become absolute would get
/// `http`.
fn is_root_at(root: &RootUrl, url: &str) -> bool {
    let below = if root.as_str().starts_with("http:") {
        root.below(url)
    } else {
        root.below_own(url)
    };
    below.is_some_and(|below| below.path.is_empty())
}
