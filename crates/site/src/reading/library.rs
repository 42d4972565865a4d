//! The archives in a folder: each becomes a folder beside its place, and all open together.
//!
//! ```text
//! DIR/talks/crawl.warc.gz   -->   OUT/talks/crawl/a.example/index.html, …
//! DIR/notes.html            -->   OUT/notes.html, whose links lead to captures
//! ```
//!
//! Deliberately absent: messages and mailboxes, which are copied as files.

use std::{
    collections::HashSet,
    iter,
    path::{Path, PathBuf},
    sync::Arc,
};

use baselink_files::{
    results::FileResult,
    walk::{EntryKind, Selection, TreeEntry},
};
use baselink_text::Format;

use super::{CapturePlan, Inputs, Listener};
use crate::collection::{Collection, capture::DateRange, origin::names};

/// The archives in the folder of `inputs`, each with the path of its folder below the output; none if the folder is a site, which
/// may offer archives as files.
pub fn archives(inputs: &Inputs) -> Vec<(TreeEntry, PathBuf)> {
    let origins = &inputs.reading.origins;
    let is_site = origins.given_root().is_some()
        || origins.map.is_some()
        || origins.index.is_some()
        || !inputs.below_settings.is_empty();
    if is_site || !inputs.has_folder() || !inputs.parts.is_empty() {
        return Vec::new();
    }
    let mut taken: HashSet<PathBuf> = match inputs.selection.in_one_folder {
        true => inputs
            .roots()
            .filter_map(Path::file_name)
            .map(PathBuf::from)
            .collect(),
        false => HashSet::new(),
    };
    let with_folder = |entry: TreeEntry| {
        let own: PathBuf = entry.relative.iter().collect();
        let name = own.file_name().unwrap_or_default().to_string_lossy();
        let is_free = |name: &String| {
            let is_there = entry.path.with_file_name(name).exists();
            !is_there && !taken.contains(&own.with_file_name(name))
        };
        let folder = folder_names(&name).find(is_free).unwrap_or_default();
        let folder = own.with_file_name(folder);
        taken.insert(folder.clone());
        (entry, folder)
    };
    let files = inputs.files().flatten();
    let files = files.filter(|entry| entry.kind == EntryKind::File);
    let archives = files.filter(|entry| inputs.is_source(&entry.path));
    archives.map(with_folder).collect()
}

/// The names that the folder of the archive called `name` may have, the best first.
fn folder_names(name: &str) -> impl Iterator<Item = String> {
    let whole = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let stem = whole.rsplit_once('.').map_or(whole, |(stem, _)| stem);
    let numbered = (2_usize..).map(move |number| format!("{stem}-{number}"));
    iter::once(stem.to_owned()).chain(numbered)
}

/// Chooses the captures of `archives`, and adds them to the files of the folder.
///
/// # Errors
///
/// Returns the errors of [`CapturePlan::of`].
pub fn captured<L: Listener>(
    inputs: &Inputs,
    archives: &[(TreeEntry, PathBuf)],
    near: Option<DateRange>,
    mut collection: Collection,
    listener: &mut L,
) -> FileResult<(Arc<Collection>, Vec<CapturePlan>)> {
    let (all, mut plans) = (Selection::default(), Vec::new());
    for (entry, place) in archives {
        let mut plan = CapturePlan::of(vec![entry.clone()], (inputs, &all), near, listener)?;
        if let Some(own) = Arc::get_mut(&mut plan.chosen.collection) {
            let names = place.iter().map(|name| [names::bytes(name), b"/"].concat());
            own.folder = names.collect::<Vec<_>>().concat().into();
        }
        plans.push(plan);
    }
    let captured = plans.iter().zip(archives).filter(|(_, (entry, _))| {
        // What lies inside a message answers only inside it.
        inputs
            .format_of(&entry.path)
            .is_some_and(Format::is_archive)
    });
    let captured: Vec<_> = captured.map(|(plan, _)| &plan.chosen).collect();
    collection.add_captures(&captured, near);
    collection.note_uses();
    let collection = Arc::new(collection);
    for plan in &mut plans {
        if let Some(own) = Arc::get_mut(&mut plan.chosen.collection) {
            own.library = Some(Arc::clone(&collection));
        }
    }
    Ok((collection, plans))
}
