//! The captures of archives as a collection of resources, each with the archive item that contains its body.
//!
//! ```text
//! a.warc.gz, b.wacz  -->  CapturePlan { chosen: [http://a/, http://a/x.css, …], … }
//! ```
//!
//! An archive is read once for the plan, and again for the bodies. So memory grows only with the number of URLs and
//! the largest resource.
//!
//! Deliberately absent: choosing a capture, and naming files ([`crate::collection::capture`]).

use std::{
    fs::Metadata,
    mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use baselink_files::{
    entries_in,
    results::{Failure, FileResult},
    walk::{Selection, TreeEntry},
};
use baselink_text::{Error, Format, layer::transfer::longest_of};

use indexmap::IndexMap;

use super::{
    documents::{Input, Listener, TOO_LONG},
    inputs::Inputs,
    open::{File, is_source, may_hold_resources},
};
use crate::{
    archive::{Entry, Wanted, is_archive_in_wacz},
    collection::{
        Collection,
        capture::{Captures, ChosenCaptures, DateRange},
        origin::is_assumed,
        without_query,
    },
};

/// The resources of archives, and the items that contain their bodies.
#[derive(Default)]
pub struct CapturePlan {
    /// The resources.
    pub chosen: ChosenCaptures,
    /// The numbers of the first items of the archives, by their paths, in order.
    pub archives: IndexMap<PathBuf, u32>,
    /// The items with the bodies of resources, each with the number of its resource, in order.
    by_item: Vec<(u32, u32)>,
}

/// The error about an archive that would take too much memory.
const TOO_MANY: &str = "its captures take more than 256 times its length in memory";

impl CapturePlan {
    /// Reads all captures in `archives`, and chooses one for each URL that `selection` takes.
    ///
    /// # Errors
    ///
    /// Returns an error if the captures take too much memory.
    pub fn of<L: Listener>(
        archives: Vec<TreeEntry>,
        (inputs, selection): (&Inputs, &Selection),
        near: Option<DateRange>,
        listener: &mut L,
    ) -> FileResult<Self> {
        let (mut captures, mut plan) = (Captures::default(), Self::default());
        let longest = longest_of(archives.iter().map(|entry| entry.size).sum());
        let (mut first, are_several) = (0_u32, archives.len() > 1);
        for entry in archives {
            let number = are_several.then(|| plan.archives.len() + 1);
            let (path, mut next) = (&entry.path, first);
            let look = |input: &Input<'_>, _: &mut L| {
                let found = input.name.entry;
                Ok((found.map(|entry| (entry.number, entry.captures())), 0))
            };
            let add = |found: Option<(u32, Vec<_>)>, _: &Input<'_>, _, _: &mut L| {
                let Some((number, found)) = found else {
                    return Ok(());
                };
                let item = first.saturating_add(number);
                next = item.saturating_add(1);
                found
                    .into_iter()
                    .for_each(|capture| captures.add(item, capture));
                if captures.size > longest {
                    Err(Error::file(path, TOO_MANY).into())
                } else {
                    Ok(())
                }
            };
            let how = (Wanted::Captures, inputs, number);
            let file = open_archive(&entry, how);
            let read = file.and_then(|file| file.each(listener, look, add));
            listener.finish_file(entry.size);
            // Other errors are ignored here, because the second reading reports them with their places.
            let read = Failure::separate(read)?;
            if captures.size > longest {
                read.map_err(Failure::File)?;
            }
            plan.archives.insert(entry.path, first);
            first = next;
        }
        plan.chosen = captures.choose(near, |url| selection.takes(&place_of(url)));
        if let Some(collection) = Arc::get_mut(&mut plan.chosen.collection) {
            collection.same = Arc::clone(&inputs.reading.same);
        }
        let resources = plan.chosen.resources.iter().zip(0..);
        plan.by_item = resources.map(|(one, number)| (one.item, number)).collect();
        plan.by_item.sort_unstable();
        Ok(plan)
    }

    /// The resources by their URLs.
    pub fn collection(&self) -> &Arc<Collection> {
        &self.chosen.collection
    }

    /// The file path of the resource with this number, with `/` between the names.
    pub fn name(&self, number: usize) -> &[u8] {
        self.chosen.collection.path(number)
    }

    /// The path of the archive with the resource of this number.
    pub fn archive_of(&self, number: usize) -> &Path {
        let item = self.chosen.resources[number].item;
        let after = self.archives.partition_point(|_, first| *first <= item);
        let archive = self.archives.get_index(after.saturating_sub(1));
        archive.map_or("".as_ref(), |(path, _)| path)
    }

    /// Reads the archive `file` again, and calls `work` for each of its resources, and `done` with the results in their order.
    /// `work` also returns the length of what it decoded. Returns the format of the archive, and the number of records with anomalies.
    ///
    /// # Errors
    ///
    /// Returns an error if the archive cannot be read to its end or too much was decoded, and the first error of `done`.
    pub fn each<L: Listener, T: Send>(
        &self,
        file: &TreeEntry,
        (wanted, inputs): (Wanted, &Inputs),
        listener: &mut L,
        work: impl Fn(usize, (&Input<'_>, &Entry), &mut L) -> (T, usize) + Sync,
        mut done: impl FnMut(T, &mut L) -> FileResult<()>,
    ) -> FileResult<(Format, usize)> {
        let has_revisits = self.collection().failures().any(|status| status == 304);
        if has_revisits && self.chosen.resources.is_empty() && inputs.selection.takes_all() {
            let why = "the bodies of its captures are in an earlier archive; name both archives";
            return Err(Error::file(&file.path, why).into());
        }
        let place = self.archives.get_full(&file.path);
        let (index, first) = place.map_or((0, u32::MAX), |(index, _, first)| (index, *first));
        let number = (self.archives.len() > 1).then_some(index + 1);
        let longest = usize::try_from(longest_of(file.size)).unwrap_or(usize::MAX);
        let on_item = |input: &Input<'_>, listener: &mut L| {
            let Some(entry) = input.name.entry else {
                return Ok((Vec::new(), 0));
            };
            let item = first.saturating_add(entry.number);
            let begin = self.by_item.partition_point(|(other, _)| *other < item);
            let resources = self.by_item[begin..]
                .iter()
                .take_while(|(other, _)| *other == item);
            // One body may be that of many resources, which are worked on before the first result is received.
            let mut decoded = 0_usize;
            let work_on = |&(_, number): &(u32, u32)| {
                let is_left = decoded < longest;
                let found = is_left.then(|| work(number as usize, (input, entry), listener));
                let (result, length) = found?;
                decoded = decoded.saturating_add(length);
                Some(result)
            };
            let results: Vec<_> = resources.map(work_on).collect();
            Ok((results, decoded))
        };
        let received = |results: Vec<Option<T>>, _: &Input<'_>, later, listener: &mut L| {
            listener.append(later)?;
            results.into_iter().try_for_each(|found| {
                let too_long = || Error::file(&file.path, TOO_LONG);
                done(found.ok_or_else(too_long)?, listener)
            })
        };
        let opened = open_archive(file, (wanted, inputs, number))?;
        let format = opened.format;
        Ok((format, opened.each(listener, on_item, received)?))
    }
}

/// Replaces each folder that is an unpacked WACZ file by the archives in it. Symbolic links in it are skipped without `--follow`.
pub fn enter_unpacked(inputs: &mut Inputs) {
    let (follow, skipped) = (inputs.selection.follow, &mut inputs.skipped_links);
    let entered = mem::take(&mut inputs.paths).into_iter();
    let entered = entered.flat_map(|path| {
        let found = archives_in(&path, follow, skipped);
        found.unwrap_or(vec![path])
    });
    inputs.paths = entered.collect();
}

/// The archives in `folder`, if it is an unpacked WACZ file, in the order of their names. Counts `skipped` symbolic links.
fn archives_in(folder: &Path, follow: bool, skipped: &mut usize) -> Option<Vec<PathBuf>> {
    let found = |path: &Path| {
        if follow {
            path.metadata().ok()
        } else {
            path.symlink_metadata().ok()
        }
    };
    let inner = folder.join("archive");
    let description = found(&folder.join("datapackage.json"));
    let is_unpacked = description?.is_file() && found(&inner)?.is_dir();
    if !is_unpacked {
        return None;
    }
    let mut archives: Vec<_> = entries_in(&inner).map(|one| one.path()).collect();
    archives.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let found = found(path).filter(|_| is_archive_in_wacz(&format!("archive/{name}")));
        *skipped += usize::from(found.as_ref().is_some_and(Metadata::is_symlink));
        found.is_some_and(|found| found.is_file())
    });
    archives.sort();
    (!archives.is_empty()).then_some(archives)
}

/// Opens the archive `entry`. Its number is that among several.
fn open_archive<'a>(
    entry: &'a TreeEntry,
    (wanted, inputs, number): (Wanted, &Inputs, Option<usize>),
) -> FileResult<File<'a>> {
    let path = &entry.path;
    let mut file = File::open(entry, inputs, None)?.map_err(|other| other.error(path))?;
    if !may_hold_resources(file.format) {
        return Err(Error::file(path, "not an archive; name only archives").into());
    }
    if let Some(number) = number.filter(|_| !is_source(file.format, path)) {
        file.options.scan.entity = number.to_string().into();
    }
    // The assumed URL of a file in a folder means nothing inside a message.
    let retrieval = &mut file.options.retrieval;
    retrieval.take_if(|retrieval| is_assumed(&retrieval.url));
    file.wanted = wanted;
    Ok(file)
}

/// Host and path of `url`, as `--include` and `--exclude` see them.
fn place_of(url: &str) -> PathBuf {
    let place = url.split_once("://").map_or(url, |(_, place)| place);
    let path = without_query(place);
    // A URL that ends in `/` is treated as a file, so that a pattern for the files of a folder matches it.
    PathBuf::from(if path.ends_with('/') {
        format!("{path}index.html")
    } else {
        path.to_owned()
    })
}
