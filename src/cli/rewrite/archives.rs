//! A folder made of archives: `localize ARCHIVE... -o DIR`, which opens in a browser, and `rewrite ARCHIVE... -o DIR`.
//!
//! ```text
//! crawl.warc.gz  -->  DIR/a.example/index.html, DIR/a.example/logo.png, …, DIR/index.html, DIR/baselink-map.csv
//! ```
//!
//! The archives are read twice. The first time says which captures there are, and therefore the resource and the file of each
//! URL ([`Captures`]). The second time, the documents are rewritten and everything is written. So memory grows with the URLs,
//! and with the largest resource.
//!
//! Deliberately absent: names of files ([`file_names`]), and the choice of a capture.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baselink::Options;
use baselink::base::{Retrieval, Source};
use baselink::collection::capture::{CaptureDate, CapturedResource, Captures, ChosenCaptures};
use baselink::collection::origin::map;
use baselink::collection::{Collection, Resource, file_names};
use baselink::error::{Error, Result, name};
use baselink::files::mirror::Mirror;
use baselink::files::write::{self, Replacement};
use baselink::format::Format;
use baselink::purpose::adapt::{Adaptation, Adapted, adapted};
use baselink::purpose::entry_page::{PageEntry, entry_page, title};
use baselink::purpose::localize;
use baselink::rewrite::record::payload;
use baselink::scan::is_read;

use super::examined::examined;
use super::summary::{FileSummary, RunSummary};
use super::work::Work;
use crate::cli::archive;
use crate::cli::archived::{Archived, Wanted};
use crate::cli::failure::{Failure, FileResult};
use crate::cli::input::{Archive, Contents, File, Input, OpenedInput, is_archive_file};
use crate::cli::output::{Output, count};
use crate::cli::progress::{Progress, is_stopped, stop_between_files};
use crate::cli::request::{Documents, Extraction, Origin, Rewrite, WrittenTo};
use crate::cli::status::ExitStatus;

/// The table of the files that were written, at the root of the folder.
const MAP: &str = "baselink-map.csv";

/// The page that lists the pages, at the root of the folder.
const ENTRY_PAGE: &str = "index.html";

/// The number of files that are committed together.
const TOGETHER: usize = 64;

/// The resources of the archives.
#[derive(Default)]
struct Plan {
    resources: Vec<CapturedResource>,
    /// The path of the file of each resource, with `/` between the names.
    names: Vec<Arc<[u8]>>,
    /// The numbers of the resources by the items that have their bodies.
    by_item: HashMap<u32, Vec<usize>>,
    /// The URLs that became no file, with their status.
    others: Vec<(Box<str>, u16)>,
}

/// A file that is ready to get its name, or was only counted.
struct Made {
    resource: usize,
    file: Option<Replacement>,
    /// The title, if it is a page.
    title: Option<String>,
    adaptations: Adaptations,
}

/// The number of adaptations of each kind.
type Adaptations = [(Adaptation, usize); Adaptation::ALL.len()];

/// Makes a folder of the archives that were named.
pub(crate) fn extract(
    asked: &Rewrite,
    extraction: Option<&Extraction>,
    output: &mut Output,
) -> io::Result<ExitStatus> {
    let mirror = match output_folder(asked) {
        Ok(mirror) => mirror,
        Err(error) => {
            output.error(&error);
            return Ok(ExitStatus::Unusable);
        }
    };
    if mirror.is_some() {
        output.ignores_closed_stdout();
        stop_between_files()?;
    }
    let mut run =
        Run { asked, extraction, mirror, status: ExitStatus::Done, first_items: Vec::new() };
    let chosen = run.choose(output)?;
    if is_stopped() {
        output.error(&"stopped before anything was written");
        return Ok(ExitStatus::Stopped);
    }
    let plan = run.plan(chosen);
    let written = Failure::nested(run.write(&plan, output))?;
    if let Err(error) = written {
        output.error(&error);
        run.status = ExitStatus::Unusable;
    }
    Ok(run.status)
}

/// The folder of the run, which must be absent, empty, or one of an earlier run; `None` if nothing is to be written.
fn output_folder(asked: &Rewrite) -> Result<Option<Mirror>> {
    let first = asked.documents.paths.first().map_or_else(String::new, |path| name(path));
    let path = match &asked.destination {
        WrittenTo::Path { path, .. } => path,
        WrittenTo::Nowhere => return Ok(None),
        WrittenTo::InPlace(_) => {
            let why = "an archive is never altered; -o DIR makes a folder of its files";
            return Err(Error::new(format!("{first}: {why}")));
        }
        WrittenTo::Standard | WrittenTo::Diff => {
            let why = "an archive, whose files become a folder; use -o DIR, or look with --dry-run";
            return Err(Error::new(format!("{first}: {why}")));
        }
    };
    let mirror = Mirror::new(path)?;
    for archive in asked.documents.roots() {
        if let Some(conflict) = mirror.conflicts_with(archive)? {
            return Err(Error::new(format!("{conflict}; name another")));
        }
    }
    let is_used = match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some() && !path.join(MAP).is_file(),
        Err(_) => false,
    };
    if is_used {
        let why = format!("it has other files, and no {MAP} of an earlier run; name a new folder");
        return Err(Error::file(path, &why));
    }
    Ok(Some(mirror))
}

/// A run over archives.
struct Run<'a> {
    asked: &'a Rewrite,
    /// `None` if links become absolute.
    extraction: Option<&'a Extraction>,
    mirror: Option<Mirror>,
    status: ExitStatus,
    /// The number of the first item of each archive that can be read.
    first_items: Vec<(PathBuf, u32)>,
}

impl Run<'_> {
    fn documents(&self) -> &Documents {
        &self.asked.documents
    }

    /// Looks at all captures, and chooses the resources.
    fn choose(&mut self, output: &mut Output) -> io::Result<ChosenCaptures> {
        let near = self.extraction.and_then(|extraction| extraction.near);
        let mut captures = Captures::near(near);
        let documents = &self.asked.documents;
        let progress = progress(documents, output);
        let mut first = 0_u32;
        for path in &documents.paths {
            let mut next = first;
            let work = |_: &Input<'_>, archived: &Archived, _: &mut Output| {
                Ok((archived.number, archived.capture()))
            };
            let read = with_archive(path, documents, Wanted::Captures, |archive| {
                archive::each(archive, output, work, |(number, capture), _, _| {
                    let item = first.saturating_add(number);
                    next = item.saturating_add(1);
                    if let Some(capture) = capture {
                        captures.add(item, capture);
                    }
                    Ok(())
                })
            });
            if let Err(error) = Failure::nested(read)? {
                output.error(&error);
                self.status = ExitStatus::Unusable;
            }
            self.first_items.push((path.clone(), first));
            first = next;
            if let Some(progress) = &progress {
                progress.done(path.metadata().map_or(0, |seen| seen.len()));
            }
        }
        output.show_progress(None);
        Ok(captures.choose())
    }

    /// Gives the resources that were asked for their files.
    fn plan(&self, chosen: ChosenCaptures) -> (Plan, Arc<Collection>) {
        let selection = &self.documents().selection;
        let ChosenCaptures { resources, redirects, others } = chosen;
        let names = file_names(resources.iter().map(|one| (&*one.url, &*one.media_type)));
        let is_asked = |resource: &CapturedResource| selection.takes(&place_of(&resource.url));
        let mut numbers = vec![None; resources.len()];
        let mut plan = Plan { others, ..Plan::default() };
        let mut collection = Collection::of_captures();
        for (number, (resource, name)) in resources.into_iter().zip(names).enumerate() {
            if !is_asked(&resource) {
                continue;
            }
            let place = plan.resources.len();
            let name: Arc<[u8]> = name.as_bytes().into();
            collection.add(Resource::file(&name), [&*resource.url]);
            plan.by_item.entry(resource.item).or_default().push(place);
            plan.names.push(name);
            plan.resources.push(resource);
            numbers[number] = Some(place);
        }
        for (url, resource) in &redirects {
            if let Some(number) = numbers[*resource] {
                collection.assign_url(number, url);
            }
        }
        (plan, Arc::new(collection))
    }

    /// Writes the files.
    fn write(&mut self, plan: &(Plan, Arc<Collection>), output: &mut Output) -> FileResult<()> {
        let (plan, collection) = plan;
        let documents = &self.asked.documents;
        let work = match self.extraction {
            None => Work::Absolute,
            Some(extraction) => Work::Local {
                collection: Arc::clone(collection),
                missing: extraction.missing.clone(),
            },
        };
        // First of all: it says that the folder is one of a run, if the run is killed.
        if self.extraction.is_some() {
            self.write_whole(MAP, &plan.table())?;
        }
        let wanted = if self.extraction.is_some() { Wanted::Bodies } else { Wanted::Documents };
        let progress = progress(documents, output);
        let (mut totals, mut pending, mut counts) =
            (RunSummary::default(), Vec::new(), Counts::default());
        let mut pages: Vec<(usize, String)> = Vec::new();
        for (path, first) in &self.first_items {
            let mut summary = FileSummary::default();
            let mut format = Format::Warc;
            let one = |input: &Input<'_>, archived: &Archived, output: &mut Output| {
                let Some(resources) = plan.by_item.get(&first.saturating_add(archived.number))
                else {
                    return Ok(None);
                };
                let mut of_document = FileSummary::default();
                let made =
                    self.made(plan, resources, (input, archived), &work, &mut of_document, output);
                Ok(Some((of_document, made)))
            };
            let mut is_unwritten = false;
            let read = with_archive(path, documents, wanted, |archive| {
                format = archive.contents.format();
                archive::each(archive, output, one, |done, _, output| {
                    let Some((of_document, made)) = done else { return Ok(()) };
                    summary.merge(of_document);
                    is_unwritten = true;
                    for made in made? {
                        counts.add(&made, &plan.names[made.resource], output);
                        pages.extend(made.title.map(|title| (made.resource, title)));
                        pending.extend(made.file);
                    }
                    if pending.len() >= TOGETHER {
                        commit(&mut pending, output)?;
                    }
                    is_unwritten = false;
                    Ok(())
                })
            });
            // What could be read of a damaged archive is written, too.
            let written = if is_unwritten { Ok(()) } else { commit(&mut pending, output) };
            is_unwritten |= written.is_err();
            if let Err(error) = Failure::nested(read.and(written))? {
                output.error(&error);
                self.status = ExitStatus::Unusable;
            }
            // A disk that is full for one file is full for the next.
            if is_unwritten {
                output.show_progress(None);
                return Ok(());
            }
            self.status = self.status.max(summary.status);
            summary.say(path, format, self.mirror.is_some(), output);
            totals.add(format, summary, false);
            if let Some(progress) = &progress {
                progress.done(path.metadata().map_or(0, |seen| seen.len()));
            }
        }
        output.show_progress(None);
        if is_stopped() {
            output.error(&"stopped; every file is whole, and the same command does the rest");
            self.status = ExitStatus::Stopped;
            return Ok(());
        }
        self.end(plan, pages, &counts, &totals, output)
    }

    /// Makes the files of the resources whose body `archived` has.
    fn made(
        &self,
        plan: &Plan,
        resources: &[usize],
        (input, archived): (&Input<'_>, &Archived),
        work: &Work,
        summary: &mut FileSummary,
        output: &mut Output,
    ) -> Result<Vec<Made>> {
        let mut all = Vec::with_capacity(resources.len());
        for &number in resources {
            let resource = &plan.resources[number];
            let mut adaptations = Adapted::default().counts();
            let (bytes, title) = match work {
                Work::Absolute => {
                    // A response without a document has links in its header fields only.
                    if !has_document(input, &archived.options) {
                        continue;
                    }
                    let examined =
                        examined((self.asked, work), input, &archived.options, summary, output);
                    let whole = examined.edits.apply(input.bytes);
                    let Some(bytes) = payload(&whole, input.format) else { continue };
                    (bytes.into_owned(), None)
                }
                Work::Local { collection, .. } => {
                    let Some(body) = archived.body() else {
                        let why = "its content codings cannot be undone; it was left out";
                        output.caution(&format_args!("{}: {why}", input.name));
                        continue;
                    };
                    if !is_read(body.format, &archived.options.scan) {
                        (body.bytes.into_owned(), None)
                    } else {
                        let mut options =
                            Options { format: body.format, ..archived.options.clone() };
                        options.retrieval =
                            Some(Retrieval::of(resource.url.to_string(), Source::Warc));
                        options.scan.charset = body.charset.or(options.scan.charset);
                        let options = localize::options(&plan.names[number], collection, &options);
                        let document = Input::whole(input.name, body.format, &body.bytes);
                        let examined =
                            examined((self.asked, work), &document, &options, summary, output);
                        let title = (body.format == Format::Html || body.format == Format::Xhtml)
                            .then(|| title(&body.bytes, body.charset).unwrap_or_default());
                        let local = examined.edits.apply(&body.bytes);
                        let adapted = match self.extraction {
                            Some(Extraction { is_exact: false, .. }) => {
                                adapted(&local, body.format, body.charset)
                            }
                            _ => Adapted::default(),
                        };
                        adaptations = adapted.counts();
                        (adapted.edits.apply(&local), title)
                    }
                }
            };
            let file = self.begin(&plan.names[number], resource.date, &bytes)?;
            all.push(Made { resource: number, file, title, adaptations });
        }
        Ok(all)
    }

    /// Begins the file at `path` below the folder, with these bytes; `None` if nothing is to be written.
    fn begin(
        &self,
        path: &[u8],
        date: Option<CaptureDate>,
        bytes: &[u8],
    ) -> Result<Option<Replacement>> {
        let Some(mirror) = &self.mirror else { return Ok(None) };
        let path = String::from_utf8_lossy(path);
        let mut new = mirror.begin_dated(Path::new(&*path), date.map(CaptureDate::time))?;
        new.write(|out| out.write_all(bytes))?;
        Ok(Some(new))
    }

    fn write_whole(&self, path: &str, text: &str) -> Result<()> {
        match self.begin(path.as_bytes(), None, text.as_bytes())? {
            Some(new) => new.commit().map(drop),
            None => Ok(()),
        }
    }

    /// Writes the page that lists the pages, and says what there is.
    fn end(
        &mut self,
        plan: &Plan,
        mut pages: Vec<(usize, String)>,
        counts: &Counts,
        totals: &RunSummary,
        output: &mut Output,
    ) -> FileResult<()> {
        plan.say_others(output);
        let files = count(counts.files, "file", "files");
        let WrittenTo::Path { path: out, .. } = &self.asked.destination else {
            output.notice(&format_args!("{files} would be written"));
            return Ok(());
        };
        output.notice(&format_args!("{files} in {}", name(out)));
        if let Some(adapted) = adapted_text(&counts.adaptations) {
            output
                .notice(&format_args!("adapted so that they open: {adapted}; --exact leaves them"));
        }
        if counts.files == 0 {
            output.error(&"nothing that was asked for was captured");
            self.status = ExitStatus::Unusable;
            return Ok(());
        }
        if self.extraction.is_none() {
            return Ok(());
        }
        pages.sort_by_key(|(number, _)| *number);
        let entries: Vec<_> = pages
            .into_iter()
            .map(|(number, title)| PageEntry {
                name: &plan.names[number],
                url: &plan.resources[number].url,
                title,
                date: plan.resources[number].date.map_or_else(String::new, |date| date.to_string()),
            })
            .collect();
        let source = self.documents().paths.iter().filter_map(|path| path.file_name());
        let source: Vec<_> = source.map(|name| name.to_string_lossy()).collect();
        self.write_whole(ENTRY_PAGE, &entry_page(&source.join(", "), &entries))?;
        if let Some(list) = self.extraction.and_then(|extraction| extraction.missing.as_deref()) {
            totals.list_missing(list, output)?;
        }
        output.notice(&format_args!("open {}", name(&out.join(ENTRY_PAGE))));
        Ok(())
    }
}

/// True if `input` has the media type of a document.
fn has_document(input: &Input<'_>, options: &Options) -> bool {
    let media_type = input.name.record.and_then(|record| record.media_type.split_once('/'));
    let format = media_type.map_or(Format::Other, |(one, two)| Format::of_media_type(one, two));
    format.has_headings() || is_read(format, &options.scan)
}

/// True if all that was named are archives.
pub(super) fn are_all(documents: &Documents) -> bool {
    documents.paths.iter().all(|path| is_archive_file(path, documents.reading.format))
}

/// The number of files of a run.
#[derive(Debug)]
struct Counts {
    files: usize,
    adaptations: Adaptations,
}

impl Default for Counts {
    fn default() -> Self {
        Self { files: 0, adaptations: Adapted::default().counts() }
    }
}

impl Counts {
    fn add(&mut self, made: &Made, name: &[u8], output: &mut Output) {
        self.files += 1;
        let sums = self.adaptations.iter_mut();
        sums.zip(&made.adaptations).for_each(|((_, sum), (_, number))| *sum += number);
        if let Some(adapted) = adapted_text(&made.adaptations).filter(|_| output.is_verbose()) {
            output.notice(&format_args!("{}: adapted: {adapted}", String::from_utf8_lossy(name)));
        }
    }
}

/// The adaptations in words.
fn adapted_text(adaptations: &Adaptations) -> Option<String> {
    let text = |&(kind, number): &(Adaptation, usize)| match kind {
        Adaptation::Charset => count(number, "charset declared", "charsets declared"),
        Adaptation::Integrity => {
            count(number, "integrity or crossorigin removed", "integrity or crossorigin removed")
        }
        Adaptation::Policy => {
            count(number, "security policy disabled", "security policies disabled")
        }
    };
    let texts: Vec<_> = adaptations.iter().filter(|(_, number)| *number > 0).map(text).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

impl Plan {
    /// Says how many URLs became no file, and why.
    fn say_others(&self, output: &mut Output) {
        let number = |is_it: &dyn Fn(u16) -> bool| {
            self.others.iter().filter(|(_, status)| is_it(*status)).count()
        };
        for (number, one, more) in [
            (
                number(&|status| status >= 400),
                "URL was captured only as an error (4xx, 5xx)",
                "URLs were captured only as errors (4xx, 5xx)",
            ),
            (
                number(&|status| (300..304).contains(&status) || status > 304 && status < 400),
                "redirect ends at nothing in the archive",
                "redirects end at nothing in the archive",
            ),
            (
                number(&|status| status < 300 || status == 304),
                "URL was captured without its body",
                "URLs were captured without their bodies",
            ),
        ] {
            if number > 0 {
                output.notice(&count(number, one, more));
            }
        }
    }

    /// The table of the files, as `--url-map` reads it.
    fn table(&self) -> String {
        let rows = self.resources.iter().zip(&self.names).map(|(resource, name)| {
            let date = resource.date.map_or_else(String::new, |date| date.to_string());
            [
                String::from_utf8_lossy(name).into_owned(),
                resource.url.to_string(),
                date,
                resource.media_type.to_string(),
            ]
        });
        map::table(rows)
    }
}

/// Gives the files their names.
fn commit(pending: &mut Vec<Replacement>, output: &mut Output) -> FileResult<()> {
    for written in write::commit_all(std::mem::take(pending)) {
        for lost in written?.lost {
            output.caution(&lost);
        }
    }
    Ok(())
}

/// Opens the archive at `path` and hands it to `work`.
fn with_archive(
    path: &Path,
    documents: &Documents,
    wanted: Wanted,
    work: impl FnOnce(Archive<'_>) -> FileResult<()>,
) -> FileResult<()> {
    let origin = Origin::named(path)?;
    match File::open(&origin, documents, None)? {
        OpenedInput::Document(File { contents: Contents::Archive(archive), .. }) => {
            work(Archive { wanted, ..archive })
        }
        OpenedInput::Document(_) => {
            Err(Error::file(path, "not an archive; name archives alone").into())
        }
        OpenedInput::NoDocument(none) => Err(none.error(path).into()),
    }
}

/// A bar for one reading of the archives.
fn progress(documents: &Documents, output: &mut Output) -> Option<Progress> {
    use std::io::IsTerminal as _;
    let roots = documents.roots().map(Path::to_owned).collect();
    let progress =
        io::stderr().is_terminal().then(|| Progress::over(roots, documents.selection.clone()));
    output.show_progress(progress.clone());
    progress
}

/// Host and path of `url`, as `--include` and `--exclude` see them.
fn place_of(url: &str) -> PathBuf {
    let place = url.split_once("://").map_or(url, |(_, place)| place);
    PathBuf::from(place.split(['?', '#']).next().unwrap_or_default())
}
