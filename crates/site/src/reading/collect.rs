//! The files of a folder as a collection, each with its retrieval URL.
//!
//! ```text
//! site/index.html, site/a.png  -->  Collection { index.html: http://a/, a.png: http://a/a.png }
//! ```
//!
//! The head of a file is read only if nothing else gives its retrieval URL (RFC 1808, 3.3).
//!
//! Deliberately absent: finding the file of a URL ([`crate::collection`]).

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::PathBuf,
    sync::Arc,
};

use baselink_files::{
    head_of,
    walk::{EntryKind, Selection, TreeEntry, walk},
};
use baselink_rewrite::{ListedLink, links};
use baselink_text::{Error, Format, Result};

use super::{
    in_order::all_in_order,
    inputs::Inputs,
    open::{FORMAT_HEAD, File, retrieval},
};
use crate::archive::Contents;
use crate::collection::{
    Collection, ResourceKind, folder::name_of, host_rules, is_page_name, loads_sheet,
    origin::names::path_bytes,
};

/// The files in the folders of `inputs` that `selection` and `takes` accept, with the targets of symbolic links.
///
/// # Errors
///
/// Returns an error if a named folder cannot be read.
pub fn collect(
    inputs: &Inputs,
    selection: &Selection,
    takes: impl Fn(&TreeEntry) -> bool,
) -> Result<Collection> {
    let (mut found, mut failed) = (walk(&inputs.paths, selection), None);
    let entries = found
        .by_ref()
        .filter_map(|entry| entry.map_err(|error| failed = Some(error)).ok())
        .filter(takes);
    let with_retrieval = |entry: TreeEntry| {
        // The target of a symbolic link may be outside.
        let file = Some(&entry).filter(|entry| entry.kind != EntryKind::Symlink);
        let retrieval = file.and_then(|file| retrieval(file, inputs).ok().flatten());
        (entry, retrieval)
    };
    let mut collection = Collection::new(inputs.origins());
    let mut untold = Vec::new();
    collection.same = Arc::clone(&inputs.reading.same);
    all_in_order(
        inputs.jobs,
        entries,
        with_retrieval,
        |(entry, retrieval)| {
            let is_link = entry.kind == EntryKind::Symlink;
            let target = is_link.then(|| fs::read_link(&entry.path).ok()).flatten();
            collection.add_entry(&entry, target.as_deref(), retrieval.as_ref());
            if collection.is_of_hosts() && !tells_type(&entry) {
                untold.push(entry);
            }
        },
    );
    for path in found.unread_below_roots() {
        // Its contents are unknown, like the target of a symbolic link without a text.
        collection.add(&path_bytes(path), ResourceKind::Link(None), []);
    }
    learn_types(&mut collection, untold, inputs);
    add_host_rules(&mut collection, &inputs.paths);
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
fn learn_types(collection: &mut Collection, untold: Vec<TreeEntry>, inputs: &Inputs) {
    let mut texts = HashMap::new();
    for entry in untold {
        let number = collection.number_at(&name_of(&entry));
        let head = entry
            .open(inputs.selection.follow)
            .and_then(|(file, _)| head_of(file, &entry.path, FORMAT_HEAD));
        let (Some(number), Ok(head)) = (number, head) else {
            continue;
        };
        let start = head.trim_ascii_start();
        let is_svg = [&b"<svg"[..], b"<!DOCTYPE svg"]
            .iter()
            .any(|tag| start.starts_with(tag));
        match (Format::detect(None, &head), Format::of_document(&head)) {
            (format, _) if is_svg || format == Format::Svg => {
                inputs.learn_format(&entry.path, Format::Svg);
                collection.media_types.insert(number, "image/svg+xml");
            }
            (Format::Other, Format::Html) => drop(texts.insert(number, entry)),
            _ => {}
        }
    }
    if texts.is_empty() {
        return;
    }
    let site = &*collection;
    let loaded = |entry: &TreeEntry| {
        let mut found = Vec::new();
        if let Ok(Ok(file)) = File::open(entry, inputs, None)
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
    let all = walk(&inputs.paths, &inputs.selection).flatten();
    let files = all.filter(|entry| entry.kind == EntryKind::File);
    let work = |entry| loaded(&entry);
    all_in_order(inputs.jobs, files, work, |found| sheets.extend(found));
    let mut unread: Vec<usize> = sheets.iter().copied().collect();
    while let Some(entry) = unread.pop().and_then(|sheet| texts.get(&sheet)) {
        inputs.learn_format(&entry.path, Format::Css);
        unread.extend(loaded(entry).into_iter().filter(|it| sheets.insert(*it)));
    }
    for sheet in sheets {
        collection.media_types.insert(sheet, "text/css");
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
