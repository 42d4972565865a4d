//! The captures of archives as a collection of resources, each with the archive item that contains its body.
//!
//! ```text
//! a.warc.gz, b.wacz  -->  CapturePlan { chosen: [http://a/, http://a/x.css, …], … }
//! ```
//!
//! An archive is read once for the plan, and again for the bodies. So memory grows only with the number of URLs and
//! the largest resource.
//!
//! Deliberately absent: choosing a capture, and naming files, which `baselink_site::collection` does.

use std::{
    fs::{self, Metadata},
    mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use baselink_rewrite::Options;
use baselink_text::{Error, Format, layer::transfer::longest_of, name};

use super::{
    files::{progress, report_links},
    input::{Contents, File, Input, OpenedInput, format_of_file},
    output::{Output, count},
    request::{Documents, Origin},
    source,
    status::{ExitStatus, Failure, FileResult},
};
use baselink_site::{
    archive::{Entry, OpenArchive, Wanted, is_archive_in_wacz},
    collection::{
        Collection,
        capture::{Captures, ChosenCaptures, DateRange},
    },
};

/// The resources of archives, and the items that contain their bodies.
#[derive(Default)]
pub struct CapturePlan {
    pub chosen: ChosenCaptures,
    /// The archives with the numbers of their first items.
    pub archives: Vec<(PathBuf, u32)>,
    /// The items with the bodies of resources, each with the number of its resource, in order.
    by_item: Vec<(u32, u32)>,
}

/// The error about an archive that would take too much memory.
const TOO_MANY: &str = "its captures take more than 256 times its length in memory";

impl CapturePlan {
    /// Reads all captures, and chooses one for each selected URL.
    pub fn of(
        documents: &Documents,
        near: Option<DateRange>,
        output: &mut Output,
    ) -> FileResult<Self> {
        let (mut captures, mut plan) = (Captures::near(near), Self::default());
        let lengths = documents
            .paths
            .iter()
            .map(|path| path.metadata().map_or(0, |file| file.len()));
        let longest = longest_of(lengths.sum());
        progress(documents, output);
        let mut first = 0_u32;
        for path in &documents.paths {
            let mut next = first;
            let look = |input: &Input<'_>, _: &Options, _: &mut Output| {
                Ok(input
                    .name
                    .entry
                    .map(|entry| (entry.number, entry.captures())))
            };
            let read = open_archive(
                path,
                documents,
                Wanted::Captures,
                output,
                |archive, output| {
                    source::each(archive, output, look, |found, _, _, _| {
                        let Some((number, found)) = found else {
                            return Ok(());
                        };
                        let item = first.saturating_add(number);
                        next = item.saturating_add(1);
                        found
                            .into_iter()
                            .for_each(|capture| captures.add(item, capture));
                        match captures.size() > longest {
                            true => Err(Error::file(path, TOO_MANY).into()),
                            false => Ok(()),
                        }
                    })
                },
            );
            // Other errors are ignored here, because the second reading reports them with their places.
            let read = Failure::separate(read)?;
            if captures.size() > longest {
                read.map_err(Failure::File)?;
            }
            plan.archives.push((path.clone(), first));
            first = next;
        }
        output.show_progress(None);
        report_links(documents.skipped_links, output);
        plan.chosen = captures.choose(|url| documents.selection.takes(&place_of(url)));
        if let Some(collection) = Arc::get_mut(&mut plan.chosen.collection) {
            collection.set_same(Arc::clone(&documents.reading.same));
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

    /// Reads the archive with this number again, calls `work` for each of its resources, and `done` with the results
    /// in the order of the archive. Returns the format of the archive, and the number of records with anomalies.
    pub fn each<T: Send>(
        &self,
        (number, wanted): (usize, Wanted),
        documents: &Documents,
        output: &mut Output,
        work: impl Fn(usize, (&Input<'_>, &Entry), &mut Output) -> T + Sync,
        mut done: impl FnMut(T, &mut Output) -> FileResult<()>,
    ) -> FileResult<(Format, usize)> {
        let (path, first) = &self.archives[number];
        let has_revisits = self.collection().failures().any(|status| status == 304);
        if has_revisits && self.chosen.resources.is_empty() && documents.typed.patterns().is_empty()
        {
            let why = "the bodies of its captures are in an earlier archive; name both archives";
            return Err(Error::file(path, why).into());
        }
        let mut format = Format::Warc;
        let on_item = |input: &Input<'_>, _: &Options, output: &mut Output| {
            let Some(entry) = input.name.entry else {
                return Ok(Vec::new());
            };
            let item = first.saturating_add(entry.number);
            let begin = self.by_item.partition_point(|(other, _)| *other < item);
            let resources = self.by_item[begin..]
                .iter()
                .take_while(|(other, _)| *other == item);
            let work_on = |&(_, number): &(u32, u32)| work(number as usize, (input, entry), output);
            Ok(resources.map(work_on).collect())
        };
        let anomalies = open_archive(path, documents, wanted, output, |archive, output| {
            format = archive.format;
            source::each(archive, output, on_item, |results, _, buffer, output| {
                output.append(buffer)?;
                results
                    .into_iter()
                    .try_for_each(|result| done(result, output))
            })
        })?;
        Ok((format, anomalies))
    }
}

/// True if the file at `path` is in a format that is read, such as HTML, but is neither an archive nor a message.
pub fn is_page(path: &Path, format: Option<Format>) -> bool {
    format_of_file(path, format)
        .is_some_and(|one| one.is_read() && !one.is_archive() && one != Format::Message)
}

/// True if the file at `path` is an archive, or a message with resources.
pub fn holds_resources(path: &Path, format: Option<Format>) -> bool {
    format_of_file(path, format).is_some_and(|one| one.is_archive() || one == Format::Message)
}

/// True if all named files are archives.
pub fn are_all_archives(documents: &Documents) -> bool {
    documents
        .paths
        .iter()
        .all(|path| format_of_file(path, documents.reading.format).is_some_and(Format::is_archive))
}

/// Reports damaged records of the archive at `path`, because of which `what` may be lacking. Returns an error status if
/// `--strict` denies them.
pub fn report_damaged(
    (path, number): (&Path, usize),
    what: &str,
    is_strict: bool,
    output: &mut Output,
) -> ExitStatus {
    if number == 0 {
        return ExitStatus::Done;
    }
    let records = count(number, "record is", "records are");
    let sentence = format!(
        "{}: {records} damaged, so {what} may be lacking here",
        name(path)
    );
    if is_strict {
        output.error(&sentence);
        return ExitStatus::NotHeld;
    }
    output.notice(&sentence);
    ExitStatus::Done
}

/// Replaces each folder that is an unpacked WACZ file by the archives in it. Symbolic links in it are skipped without `--follow`.
pub fn enter_unpacked(documents: &mut Documents) {
    let Documents {
        paths,
        selection,
        skipped_links,
        ..
    } = documents;
    let entered = mem::take(paths).into_iter();
    let entered = entered.flat_map(|path| {
        let found = archives_in(&path, selection.follow, skipped_links);
        found.unwrap_or(vec![path])
    });
    *paths = entered.collect();
}

/// The archives in `folder`, if it is an unpacked WACZ file, in the order of their names. Counts `skipped` symbolic links.
fn archives_in(folder: &Path, follow: bool, skipped: &mut usize) -> Option<Vec<PathBuf>> {
    let found = |path: &Path| match follow {
        true => path.metadata().ok(),
        false => path.symlink_metadata().ok(),
    };
    let inner = folder.join("archive");
    let description = found(&folder.join("datapackage.json"));
    let is_unpacked = description?.is_file() && found(&inner)?.is_dir();
    let entries = fs::read_dir(&inner).ok().filter(|_| is_unpacked)?;
    let mut archives: Vec<_> = entries.filter_map(|one| Some(one.ok()?.path())).collect();
    archives.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let found = found(path).filter(|_| is_archive_in_wacz(&format!("archive/{name}")));
        *skipped += usize::from(found.as_ref().is_some_and(Metadata::is_symlink));
        found.is_some_and(|found| found.is_file())
    });
    archives.sort();
    (!archives.is_empty()).then_some(archives)
}

/// Opens the archive at `path`, hands it to `work`, and advances the progress bar to its end.
fn open_archive(
    path: &Path,
    documents: &Documents,
    wanted: Wanted,
    output: &mut Output,
    work: impl FnOnce(File<'_>, &mut Output) -> FileResult<usize>,
) -> FileResult<usize> {
    let origin = Origin::named(path)?;
    let mut file = match File::open(&origin, documents, None)? {
        OpenedInput::Document(file) => File { wanted, ..file },
        OpenedInput::NonDocument(other) => return Err(other.error(path).into()),
    };
    match &mut file.contents {
        Contents::Archive(_) => {}
        Contents::Document(bytes) if file.format == Format::Message => {
            let message = OpenArchive::Message(mem::take(bytes));
            file.contents = Contents::Archive(message);
        }
        _ => return Err(Error::file(path, "not an archive; name only archives").into()),
    }
    let done = work(file, output);
    output.finish_file(origin.size());
    done
}

/// Host and path of `url`, as `--include` and `--exclude` see them.
fn place_of(url: &str) -> PathBuf {
    let path = url
        .split_once("://")
        .map_or(url, |(_, place)| place)
        .split(['?', '#'])
        .next()
        .unwrap_or_default();
    // A URL that ends in `/` is treated as a file, so that a pattern for the files of a folder matches it.
    PathBuf::from(if path.ends_with('/') {
        format!("{path}index.html")
    } else {
        path.to_owned()
    })
}
