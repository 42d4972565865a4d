//! The pages of copies that open offline, in the order of the entry page.
//!
//! ```text
//! a WACZ file with a list of pages   -->  the pages in the list
//! any other archive                  -->  first the page that was captured first
//! a message                          -->  its page, and its attachments
//! ```
//!
//! Deliberately absent: the entry page ([`super::entry_page`]).

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use baselink_text::{Format, name};

use super::entry_page::{PageEntry, title};
use crate::{
    archive::{Wacz, WaczPage, message::THIS_MESSAGE},
    collection::{Collection, folder::path_of, is_page_name, split_name},
    reading::{CapturePlan, Inputs},
};

/// The `pages`, numbers of captured resources with their titles, as they stand on the entry page, and other files. `written` has the
/// numbers of the resources that have files.
pub fn of_captures<'p>(
    plan: &'p CapturePlan,
    inputs: &Inputs,
    mut pages: Vec<(usize, String)>,
    written: &HashSet<usize>,
) -> Vec<PageEntry<'p>> {
    let of = (plan, inputs);
    pages.sort_by(|(one, _), (other, _)| compare(plan.chosen.url(*one), plan.chosen.url(*other)));
    let mut listed = pages_in_lists(of, pages, written);
    // Crawls begin with the page that a person named.
    let first = |at: &usize| plan.chosen.resources[listed[*at].0].first;
    let is_of_web = |at: &usize| !plan.chosen.url(listed[*at].0).starts_with(THIS_MESSAGE);
    if let Some(at) = (0..listed.len()).filter(is_of_web).min_by_key(first) {
        listed[..=at].rotate_right(1);
    }
    let others = other_files(of, &listed, written);
    let pages = listed.into_iter().map(|page| page_entry(plan, page, true));
    pages
        .chain(others.into_iter().map(|file| page_entry(plan, file, false)))
        .collect()
}

fn page_entry(
    plan: &CapturePlan,
    (number, title): (usize, String),
    is_page: bool,
) -> PageEntry<'_> {
    let (url, collection) = (plan.chosen.url(number), plan.collection());
    // The URL of a part of a message is meaningless to readers.
    let message = plan.archive_of(number).file_name().unwrap_or_default();
    PageEntry {
        folder: String::from_utf8_lossy(collection.folder.strip_suffix(b"/").unwrap_or_default()),
        name: collection.in_library(plan.name(number)),
        url: if url.starts_with(THIS_MESSAGE) {
            name(message.as_ref()).into()
        } else {
            url.into()
        },
        title,
        date: plan.chosen.resources[number].date,
        is_page,
    }
}

/// The files to list after the `pages`, with their names: the attachments of a message, and all files of an archive without
/// pages.
fn other_files(
    (plan, inputs): (&CapturePlan, &Inputs),
    pages: &[(usize, String)],
    written: &HashSet<usize>,
) -> Vec<(usize, String)> {
    let formats = plan.archives.keys().map(|path| inputs.format_of(path));
    let are_messages = formats.flatten().all(|format| !format.is_archive());
    let pages: HashSet<usize> = pages.iter().map(|(number, _)| *number).collect();
    let is_listed = |number: &usize| {
        let is_attached = are_messages && !plan.collection().is_used(*number);
        written.contains(number) && !pages.contains(number) && (pages.is_empty() || is_attached)
    };
    let file_name = |number: usize| {
        let path = String::from_utf8_lossy(plan.name(number));
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let numbers = (0..plan.chosen.resources.len()).filter(is_listed);
    numbers.map(|number| (number, file_name(number))).collect()
}

/// The `pages` that the lists in WACZ archives name, in the order of these lists. If an archive has no list, or no list names
/// any, all others follow but those that are only frames of others.
fn pages_in_lists(
    (plan, inputs): (&CapturePlan, &Inputs),
    mut pages: Vec<(usize, String)>,
    written: &HashSet<usize>,
) -> Vec<(usize, String)> {
    let wacz = |path: &Path| {
        let is_wacz = inputs.format_of(path) == Some(Format::Wacz);
        is_wacz
            .then(|| Wacz::open(fs::File::open(path).ok()?).ok())
            .flatten()
    };
    let titles: HashMap<usize, &String> = pages
        .iter()
        .map(|(number, title)| (*number, title))
        .collect();
    let (mut listed, mut is_listed, mut are_all) = (Vec::new(), HashSet::new(), true);
    let mut list = |page: WaczPage| {
        let Some(found) = plan.collection().locate(&page.url).resource() else {
            return;
        };
        // A list may also name pictures, and documents in other formats.
        if written.contains(&found.number) && is_listed.insert(found.number) {
            let own = titles.get(&found.number).filter(|title| !title.is_empty());
            let title = own.map(|title| (*title).clone()).or(page.title);
            listed.push((found.number, title.unwrap_or_default()));
        }
    };
    for path in plan.archives.keys() {
        are_all &= wacz(path).is_some_and(|mut wacz| wacz.each_page(&mut list));
    }
    if !listed.is_empty() && are_all {
        return listed;
    }
    let is_frame = |page: &(usize, String)| plan.collection().is_only_frame(page.0);
    if !listed.is_empty() || !pages.iter().all(is_frame) {
        pages.retain(|page| !is_frame(page) && !is_listed.contains(&page.0));
    }
    listed.extend(pages);
    listed
}

/// The pages among the files of a folder, outside the folders of archives at these `places`, by path. Their copies are in `out`.
pub fn of_files<'c>(
    out: &Path,
    collection: &'c Collection,
    places: &HashSet<PathBuf>,
) -> Vec<PageEntry<'c>> {
    let entry = |number: usize| {
        let name = collection.path_in_mirror(number);
        let path = path_of(name)?;
        let is_page = collection.is_page(number) || is_page_name(split_name(name).1);
        let is_listed = is_page
            && !collection.is_only_frame(number)
            && !path.ancestors().any(|around| places.contains(around));
        let page = is_listed.then(|| fs::read(out.join(path)))?;
        Some(PageEntry {
            folder: collection
                .mirror_of(name)
                .map_or("files".into(), String::from_utf8_lossy),
            name: name.to_vec(),
            url: String::from_utf8_lossy(name),
            title: title(&page.ok()?, None).unwrap_or_default(),
            date: None,
            is_page: true,
        })
    };
    let mut pages: Vec<_> = (0..collection.count()).filter_map(entry).collect();
    pages.sort_by(|one, other| compare(&one.url, &other.url));
    pages
}

/// Compares names as numbers where they are numbers, by their lengths without zeros. A number precedes other text.
fn compare(one: &str, other: &str) -> Ordering {
    in_numbers(one).cmp(in_numbers(other))
}

fn in_numbers(name: &str) -> impl Iterator<Item = (bool, usize, &[u8])> {
    let is_alike = |one: &u8, next: &u8| one.is_ascii_digit() == next.is_ascii_digit();
    name.as_bytes().chunk_by(is_alike).map(|piece| {
        if !piece[0].is_ascii_digit() {
            return (true, 0, piece);
        }
        let zeros = piece.iter().take_while(|digit| **digit == b'0').count();
        (false, piece.len() - zeros, &piece[zeros..])
    })
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn names_are_sorted_as_numbers_where_they_are_numbers() {
        let sorted = [
            "a/1",
            "a/1.html",
            "a/02.html",
            "a/9b.html",
            "a/10.html",
            "a/b.html",
            "b10c2",
            "b10c11",
        ];
        assert!(
            sorted.is_sorted_by(|one, other| compare(one, other).is_lt()),
            "{sorted:?}"
        );
    }
}
