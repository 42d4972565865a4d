//! The archives in a folder: each becomes a folder beside its place, and all open together.
//!
//! ```text
//! DIR/talks/crawl.warc.gz   -->   OUT/talks/crawl/a.example/index.html, …
//! DIR/notes.html            -->   OUT/notes.html, whose links lead to captures
//! ```
//!
//! Deliberately absent: choosing the captures ([`CapturePlan`]).

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    fs,
    path::PathBuf,
    sync::Arc,
};

use baselink_files::{
    maildir,
    results::FileResult,
    walk::{EntryKind, Selection, TreeEntry},
};
use baselink_rewrite::archive::{ArchiveEntry, Records};
use baselink_text::Format;

use super::{Archives, CapturePlan, Inputs, Listener, hosts::scheme_of, open::is_source};
use crate::collection::{
    Collection,
    capture::DateRange,
    folder::name_of,
    joined,
    origin::{
        hosts::{is_telling, net_loc},
        names,
    },
    split_name, stem,
};

/// Finds the archives in the folder of `inputs`, and the folders that a crawler named after hosts, unless the folder is a site, which
/// may offer archives as files.
pub fn enter(inputs: &mut Inputs) {
    let origins = &inputs.reading.origins;
    let is_site = origins.given_root().is_some()
        || origins.map.is_some()
        || !origins.index.is_empty()
        || !inputs.below_settings.is_empty();
    if is_site || !inputs.has_folder() || !inputs.parts.is_empty() {
        return;
    }
    let files = inputs.files().flatten();
    let files = files.filter(|entry| entry.kind == EntryKind::File);
    let mut sources: Vec<Vec<TreeEntry>> = Vec::new();
    let (mut numbers, mut hosts) = (HashMap::new(), HashMap::new());
    for entry in files {
        hosts.extend(host_folder(&entry));
        if !inputs.is_source(&entry.path) {
            continue;
        }
        let key = collection_of(&entry).unwrap_or_else(|| whole(&entry));
        let number = *numbers.entry(key).or_insert(sources.len());
        match sources.get_mut(number) {
            Some(parts) => parts.push(entry),
            None => sources.push(vec![entry]),
        }
    }
    let scheme = |(path, folder): (Vec<u8>, PathBuf)| {
        let scheme = scheme_of(&folder, &inputs.selection)?;
        Some((path, scheme))
    };
    if !(sources.is_empty() || inputs.reading.origins.has_hosts) {
        inputs.reading.origins.host_folders = hosts.into_iter().filter_map(scheme).collect();
    }
    for parts in &mut sources {
        parts.sort_by_cached_key(|part| split_name(&name_of(part)).1.to_vec());
    }
    inputs.library = sources;
    if !inputs.library.is_empty() {
        inputs.archives = Archives::All;
    }
}

/// The outermost folder around the file `entry` that is named like a host: its path below the root, and its path.
fn host_folder(entry: &TreeEntry) -> Option<(Vec<u8>, PathBuf)> {
    let (_, folders) = entry.relative.split_last()?;
    let is_host = |name: &OsString| {
        let name = name.to_string_lossy();
        is_telling(&name) && net_loc(&name, "https").is_some()
    };
    let length = folders.iter().position(is_host)? + 1;
    let folder = entry.path.ancestors().nth(entry.relative.len() - length)?;
    Some((names::path_bytes(&folders[..length]), folder.to_owned()))
}

/// The folder of the WARC file `entry`, and the collection of which it is a part by its first record (`isPartOf`, as Heritrix writes it).
fn collection_of(entry: &TreeEntry) -> Option<Vec<u8>> {
    let path = name_of(entry);
    let (around, name) = split_name(&path);
    memchr::memmem::find(name, b".warc")?;
    let mut records = Records::new(fs::File::open(&entry.path).ok()?);
    let Some(Ok(ArchiveEntry::Record(info))) = records.next() else {
        return None;
    };
    let mut fields = info.block().split(|byte| *byte == b'\n');
    let part = fields.find_map(|field| field.strip_prefix(b"isPartOf:"))?;
    Some([around, b"//", part.trim_ascii()].concat())
}

/// The name of the archive of which the file `entry` is a part, like others in its folder: crawlers end the names of parts with
/// numbers, and wget that of its log with `-meta`. The parts of a Maildir are its messages.
fn whole(entry: &TreeEntry) -> Vec<u8> {
    let path = name_of(entry);
    let (around, name) = split_name(&path);
    if maildir::is_message(&entry.path) {
        return joined(split_name(around).0, b"messages");
    }
    let Some(at) = memchr::memmem::rfind(name, b".warc") else {
        return path;
    };
    let stem = name[..at].strip_suffix(b"-meta").unwrap_or(&name[..at]);
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b"-_.".contains(byte);
    match stem.iter().rposition(|byte| !is_of_number(byte)) {
        Some(last) => joined(around, &[&stem[..=last], &name[at..]].concat()),
        None => path,
    }
}

/// The paths of the folders of `archives` in the mirror of `collection`, each with a final `/`. No file is there, even if case is
/// ignored.
fn places(archives: &[Vec<TreeEntry>], collection: &Collection) -> Vec<Vec<u8>> {
    let mut taken = HashSet::new();
    for number in 0..collection.count() {
        let mut path = collection.path_in_mirror(number);
        while !path.is_empty() && taken.insert(path.to_ascii_lowercase()) {
            path = split_name(path).0;
        }
    }
    let mut next: HashMap<Vec<u8>, usize> = HashMap::new();
    let place = |parts: &Vec<TreeEntry>| {
        let own = match parts.as_slice() {
            [only] if !maildir::is_message(&only.path) => name_of(only),
            several => whole(&several[0]),
        };
        let path = collection.in_mirror(&own);
        let (around, name) = split_name(path);
        let whole = [&b".gz"[..], b".zst"]
            .iter()
            .find_map(|end| name.strip_suffix(*end));
        let stem = stem(whole.unwrap_or(name)).trim_ascii_end();
        let stem = stem.strip_suffix(b".").unwrap_or(stem);
        let best = joined(around, if stem.is_empty() { b"archive" } else { stem });
        let number = next.entry(best.to_ascii_lowercase()).or_insert(1);
        loop {
            let place = match *number {
                1 => best.clone(),
                more => [&*best, format!("-{more}").as_bytes()].concat(),
            };
            *number += 1;
            if taken.insert(place.to_ascii_lowercase()) {
                return [&*place, b"/"].concat();
            }
        }
    };
    archives.iter().map(place).collect()
}

/// Chooses the captures of the archives in the folder, and adds them to its files.
///
/// # Errors
///
/// Returns the errors of [`CapturePlan::of`].
pub fn captured<L: Listener>(
    inputs: &Inputs,
    near: Option<DateRange>,
    mut collection: Collection,
    listener: &mut L,
) -> FileResult<(Arc<Collection>, Vec<CapturePlan>)> {
    let (archives, all) = (&inputs.library, Selection::default());
    let (places, mut plans) = (places(archives, &collection), Vec::new());
    for (parts, place) in archives.iter().zip(places) {
        let mut plan = CapturePlan::of(parts.clone(), (inputs, &all), near, listener)?;
        if let Some(own) = Arc::get_mut(&mut plan.chosen.collection) {
            own.folder = place.into();
            let path = &parts[0].path;
            own.is_of_mail = inputs
                .format_of(path)
                .is_some_and(|one| !is_source(one, path));
        }
        plans.push(plan);
    }
    let captured = plans.iter().zip(archives).filter(|(_, parts)| {
        // A part of a message answers only links of this message.
        inputs
            .format_of(&parts[0].path)
            .is_some_and(Format::is_archive)
    });
    let captured: Vec<_> = captured.map(|(plan, _)| &plan.chosen).collect();
    let is_apart = inputs.reading.origins.keeps_apart;
    if !is_apart {
        collection.add_captures(&captured, near);
    }
    collection.note_uses();
    collection.has_captures = true;
    let collection = Arc::new(collection);
    for plan in &mut plans {
        if !is_apart && let Some(own) = Arc::get_mut(&mut plan.chosen.collection) {
            own.library = Some(Arc::clone(&collection));
        }
    }
    Ok((collection, plans))
}
