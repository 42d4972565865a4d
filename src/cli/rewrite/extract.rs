//! Makes a folder from archives: `localize ARCHIVE... -o DIR` makes one that opens in a browser, and
//! `rewrite ARCHIVE... -o DIR` one with absolute links and without the table and the entry page.
//!
//! ```text
//! crawl.warc.gz  -->  DIR/a.example/index.html, DIR/a.example/logo.png, …, DIR/index.html, DIR/baselink-map.csv
//! ```
//!
//! Deliberately absent: reading the archives (`baselink_site::reading`), and the run over them ([`super`]).

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    slice,
    sync::{Arc, OnceLock},
};

use baselink_rewrite::{Options, record::payload};
use baselink_text::{Error, Format, Result, name};

use super::summary::{FileSummary, RunSummary};
use baselink_files::{
    result_folder::{ResultFolder, has_files},
    results::Results,
    stop::{is_stopped, stop_between_files},
    walk::{Selection, TreeEntry, open_below, walk},
    write::{NewContents, NotPreserved},
};
use baselink_site::{
    archive::{CapturedBody, Entry, Wanted, message::THIS_MESSAGE},
    collection::{
        Collection,
        capture::CaptureDate,
        folder::{name_of, path_of},
        origin::map::{self, TextPair},
        split_name,
    },
    purpose::{
        entry_page::{PageEntry, entry_page, is_entry_page, title},
        localize,
        one_page::OnePage,
        pages,
        rewriting::RewriteKind,
    },
    reading::{CapturePlan, Input},
};

use crate::cli::{
    args::output::{Extraction, OnePageFile, Rewrite},
    files::{digest, plan_of_archives, report_damaged},
    output::{Output, count, ok_or_report},
    results::{RewriteRun, open_folder},
    status::{ExitStatus, FileResult},
};

/// The table of the files that were written, at the root of the folder.
const MAP: &str = "baselink-map.csv";

/// The size of a page, in bytes, from which on a folder is better.
const LARGE: usize = 50 << 20;

/// The page that lists the pages, at the root of the folder.
const ENTRY_PAGE: &str = "index.html";

/// Archives whose captures become one folder.
pub struct CapturedFolder {
    plan: CapturePlan,
    /// The kind of the rewriting of their documents.
    pub kind: RewriteKind,
    /// The digests of the files of an earlier run, by path.
    earlier: OnceLock<HashMap<Vec<u8>, Vec<u8>>>,
}

/// Files of captures that were written, or in a dry run only counted.
#[derive(Default)]
pub struct CapturedFiles {
    /// The numbers of the resources that have files.
    resources: HashSet<usize>,
    /// The number of files that an earlier run did not write alike.
    number: usize,
    /// The pages, with their titles.
    pages: Vec<(usize, String)>,
    /// The paths of the files that are incomplete.
    incomplete: Vec<Vec<u8>>,
    /// The paths of the files that were edited since an earlier run.
    edited: Vec<Vec<u8>>,
    /// The digests of the contents of files, by the numbers of their resources.
    digests: HashMap<usize, String>,
    /// The properties that files lack.
    lost: Vec<NotPreserved>,
    /// The length of the bodies of records.
    length: usize,
}

impl CapturedFiles {
    fn merge(&mut self, later: Self) {
        self.resources.extend(later.resources);
        self.number += later.number;
        self.pages.extend(later.pages);
        self.incomplete.extend(later.incomplete);
        self.edited.extend(later.edited);
        self.digests.extend(later.digests);
        self.lost.extend(later.lost);
    }
}

/// The result of an archive: its format and the number of records with anomalies, unless it could not be read to its end; the results
/// of its links; its files.
#[derive(Default)]
pub struct ReadArchive {
    read: Option<(Format, usize)>,
    summary: Box<FileSummary>,
    files: CapturedFiles,
}

/// Opens the output folder, and chooses the captures of the named archives. Returns `None` if the run was stopped.
pub fn prepare<'r>(
    request: &Rewrite,
    extraction: Option<&Extraction>,
    output: &mut Output,
) -> FileResult<Option<(Results<'r>, CapturedFolder)>> {
    let folder = output_folder(request, extraction.is_some())?;
    if folder.is_some() {
        output.ignore_closed_stdout();
        stop_between_files(true)?;
    }
    let documents = &request.documents;
    let is_typed = documents.below_settings.is_empty();
    if is_typed && documents.reading.origins.root_url.is_some() && documents.are_all_archives() {
        output.caution("--url is not used, because each document of an archive has its own URL");
    }
    let plan = plan_of_archives(documents, extraction.and_then(|one| one.near), output)?;
    if is_stopped() {
        output.error("stopped before anything was written");
        return Ok(None);
    }
    if let (Some(folder), true) = (&folder, extraction.is_some()) {
        require_earlier_files(&plan, &folder.out, output)?;
    }
    let results = match folder.filter(|_| !request.is_preview()) {
        Some(folder) => Results::Folder(folder),
        None => Results::Nowhere,
    };
    Ok(Some((results, CapturedFolder::new(plan, extraction))))
}

/// Rejects a folder of an earlier run with files that this run would not write: links to them would lead to the network, and
/// the table would lack them. Names files whose URLs this run writes to other files.
fn require_earlier_files(plan: &CapturePlan, folder: &Path, output: &mut Output) -> Result<()> {
    if plan.chosen.resources.is_empty() {
        return Ok(());
    }
    let dates = earlier_rows(folder, ["path", "date"]);
    let dates = dates.into_iter().map(|(_, date)| date);
    let rows = earlier_rows(folder, ["path", "url"]).into_iter().zip(dates);
    let (mut stays, mut lost) = (Vec::new(), Vec::new());
    for ((path, url), date) in rows.filter(|((path, _), _)| has_file(folder, path)) {
        let own = plan.collection().number_at(&path);
        if !is_written_again(plan, own, &url, &date) {
            lost.push(path);
        } else if own.is_none() {
            stays.push(path);
        }
    }
    output.notice_of_files(
        &stays,
        ["file of an earlier run has", "files of an earlier run have"],
        "a new name, and the old one stays",
    );
    let Some(first) = lost.first() else {
        return Ok(());
    };
    let are = count(lost.len(), "file is", "files are");
    let first = String::from_utf8_lossy(first);
    let why = format!(
        "{are} from an earlier run with other archives, such as {first}; name all archives of the folder together, or a new folder"
    );
    Err(Error::file(folder, &why))
}

/// The values of two columns in the table of an earlier run in `folder`. A damaged table names no files.
fn earlier_rows(folder: &Path, columns: [&str; 2]) -> Vec<TextPair> {
    let table = folder.join(MAP);
    let text = fs::read(&table).unwrap_or_default();
    map::pairs(&text, &table, columns).unwrap_or_default()
}

/// True if this run writes the resource of an earlier file, to the same path as the resource with the number `own`, or to another.
/// The parts of every mail have the same made-up URLs, so they must also have the same `date`.
fn is_written_again(plan: &CapturePlan, own: Option<usize>, url: &[u8], date: &[u8]) -> bool {
    let located = || {
        plan.collection()
            .locate(str::from_utf8(url).ok()?)
            .resource()
    };
    let own = own.filter(|&number| plan.chosen.url(number).as_bytes() == url);
    let number = own.or_else(|| Some(located()?.number));
    number.is_some_and(|number| {
        !plan.chosen.url(number).starts_with(THIS_MESSAGE)
            || date_of(plan, number).as_bytes() == date
    })
}

/// True if the folder has a file at `path`, not behind a symbolic link.
fn has_file(folder: &Path, path: &[u8]) -> bool {
    path_of(path).is_some_and(|path| open_below(folder, &path).is_ok())
}

/// The contents of the file at `path` in the folder, not behind a symbolic link.
fn contents(folder: &Path, path: &[u8]) -> Option<Vec<u8>> {
    let (mut file, mut bytes) = (open_below(folder, &path_of(path)?).ok()?, Vec::new());
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The date of the resource with this number, as the table has it.
fn date_of(plan: &CapturePlan, number: usize) -> String {
    let date = plan.chosen.resources[number].date;
    date.map_or_else(String::new, |date| date.to_string())
}

/// The output folder; `None` if nothing is written. A folder that gets a table must be new, empty, or from an earlier
/// run.
fn output_folder(request: &Rewrite, has_table: bool) -> Result<Option<ResultFolder>> {
    let first = &request.documents.paths[0];
    let refused = |why: &str| Err(Error::file(first, why));
    if request.in_place().is_some() {
        return refused("an archive is never altered; -o DIR makes a folder of its files");
    }
    if request.changes.diff || request.is_printed() {
        let why = "an archive becomes a folder of files; use -o DIR, or preview with --dry-run";
        return refused(why);
    }
    let Some(path) = request.planned_out() else {
        return Ok(None);
    };
    let folder = open_folder(path)?;
    for archive in request.documents.roots() {
        folder.require_apart(archive, "")?;
    }
    if has_table {
        require_own(path)?;
    }
    Ok(Some(folder))
}

/// Rejects a folder with files that is not from an earlier run.
fn require_own(folder: &Path) -> Result<()> {
    let is_own = !has_files(folder) || folder.join(MAP).is_file();
    let why =
        format!("the folder has other files but no {MAP} from an earlier run; name a new folder");
    is_own
        .then_some(())
        .ok_or_else(|| Error::file(folder, &why))
}

impl CapturedFolder {
    /// The folder for the captures of `plan`. Without an `extraction`, links become absolute.
    pub fn new(plan: CapturePlan, extraction: Option<&Extraction>) -> Self {
        let kind = match extraction {
            None => RewriteKind::Absolute,
            Some(extraction) => RewriteKind::Local {
                collection: Arc::clone(plan.collection()),
                missing: extraction.missing.clone(),
                adapts: !extraction.is_exact,
            },
        };
        Self {
            plan,
            kind,
            earlier: OnceLock::new(),
        }
    }

    /// The archives.
    pub fn archives(&self) -> impl Iterator<Item = &Path> {
        self.plan.archives.keys().map(PathBuf::as_path)
    }

    /// True if the folder gets a table of its files, and pages that open from disk.
    fn is_local(&self) -> bool {
        matches!(self.kind, RewriteKind::Local { .. })
    }

    /// Writes the table of all files. Even if the run is killed, the table marks the folder as its output. Without captures, the
    /// table of an earlier run is kept.
    pub fn begin(&self, results: &Results<'_>) -> Result<CapturedFiles> {
        let place = self.place();
        if let Results::Folder(results) = results {
            let out = results.out.join(place.as_deref().unwrap_or("".as_ref()));
            if place.is_some() {
                require_own(&out)?;
            }
            let rows: HashMap<_, _> = earlier_rows(&out, ["path", "digest"]).into_iter().collect();
            let digest = |number: usize| {
                let path = self.plan.name(number);
                let digest = match rows.get(path) {
                    // A table without digests has other values there.
                    Some(digest) => digest.starts_with(b"sha256-").then(|| digest.clone()),
                    // No digest fits a file that an earlier run did not write.
                    None if rows.is_empty() => None,
                    None => has_file(&out, path).then(|| b"sha256-".to_vec()),
                };
                Some((path.to_vec(), digest?))
            };
            let digests = (0..self.plan.chosen.resources.len()).filter_map(digest);
            let _ = self.earlier.set(digests.collect());
        }
        if self.is_local() && !self.plan.chosen.resources.is_empty() {
            self.write_table(results, |_| true, &HashMap::new())?;
        }
        Ok(CapturedFiles::default())
    }

    /// Makes the files of the captures in `archive`. A write error, such as a full disk, ends the run, because the next file would
    /// fail, too.
    pub fn make_files(
        &self,
        run: RewriteRun<'_>,
        archive: &TreeEntry,
        output: &mut Output,
    ) -> io::Result<ReadArchive> {
        let run = RewriteRun {
            kind: &self.kind,
            ..run
        };
        let mut result = ReadArchive::default();
        let wanted = if self.is_local() {
            Wanted::bodies(run.request.strict)
        } else {
            Wanted::Documents
        };
        let work = |number: usize, at: (&Input<'_>, &Entry), output: &mut Output| {
            let mut made = ReadArchive::default();
            let ended = self.make_file(run, (number, at), &mut made, output);
            let length = made.files.length;
            ((made, ended), length)
        };
        let done = |(made, ended): (ReadArchive, Result<()>), _: &mut Output| {
            result.summary.merge(*made.summary);
            result.files.merge(made.files);
            // An error of standard output ends the run, and so does this one in its place.
            Ok(ended.map_err(io::Error::other)?)
        };
        let inputs = (wanted, &*run.request.documents);
        let read = self.plan.each(archive, inputs, output, work, done);
        result.read = ok_or_report(read, output)?;
        if result.read.is_none() {
            result.summary.status = ExitStatus::Unusable;
        }
        Ok(result)
    }

    /// Reports the result of the archive at `path`, and adds it to the results of the folder and of the run.
    pub fn report(
        &self,
        run: RewriteRun<'_>,
        (path, archive): (&Path, ReadArchive),
        (of_folder, totals): (&mut CapturedFiles, &mut RunSummary),
        output: &mut Output,
    ) -> io::Result<ExitStatus> {
        let lost = &archive.files.lost;
        lost.iter().for_each(|lost| output.caution(lost));
        of_folder.merge(archive.files);
        let (format, anomalies) = archive.read.unwrap_or((Format::Warc, 0));
        let (summary, to) = (archive.summary, self.path(run.request));
        let status = summary.status;
        summary.print(run, path, format, to.as_deref(), output)?;
        if archive.read.is_some() || of_folder.number > 0 {
            summary.report(path, format, to.is_some(), output);
        }
        totals.add(Ok(format), *summary, false);
        Ok(status.max(report_damaged(
            (path, anomalies),
            "files",
            run.request.strict,
            output,
        )))
    }

    /// The path of the folder below the output folder, unless it is that.
    fn place(&self) -> Option<PathBuf> {
        path_of(&self.plan.collection().folder).filter(|place| !place.as_os_str().is_empty())
    }

    /// The path of the folder; `None` if nothing is written.
    fn path(&self, request: &Rewrite) -> Option<PathBuf> {
        let out = request.out()?;
        if let Some(one) = &request.page {
            return Some(one.to.clone());
        }
        Some(
            self.place()
                .map_or_else(|| out.to_owned(), |place| out.join(place)),
        )
    }

    /// Makes the file of the resource with this number, unless it gets none.
    fn make_file(
        &self,
        run: RewriteRun<'_>,
        (number, (input, entry)): (usize, (&Input<'_>, &Entry)),
        ReadArchive { summary, files, .. }: &mut ReadArchive,
        output: &mut Output,
    ) -> Result<()> {
        let Self { plan, kind, .. } = self;
        let mut is_cut = plan.collection().is_cut(number);
        let whole;
        let mut page = None;
        let made: Result<Cow<'_, [u8]>, &str> = match kind {
            RewriteKind::Local { adapts, .. } => 'made: {
                let body = entry.body(plan.chosen.url(number), plan.name(number));
                let CapturedBody {
                    bytes,
                    format,
                    charset,
                    damage,
                    options,
                } = match body {
                    Ok(body) => body,
                    Err(why) => break 'made Err(why),
                };
                if let Some(damage) = damage {
                    output.caution(format_args!("{}: {damage}", input.name));
                    is_cut = true;
                }
                let options = options.map(|options| {
                    let name = plan.name(number);
                    localize::options(name, &bytes, plan.collection(), *adapts, &options)
                });
                let has_links = |options: &Options| {
                    !options.scan.is_probed(format) || kind.finds_link(&bytes, options)
                };
                let subject = entry.part().and_then(|part| part.subject.clone());
                let is_page = format.is_page() || subject.is_some();
                let subject = subject.filter(|subject| !subject.is_empty());
                let named = || subject.or_else(|| title(&bytes, charset));
                page = is_page.then(|| named().unwrap_or_default());
                let Some(options) = options.filter(has_links) else {
                    break 'made Ok(bytes);
                };
                let document = Input::whole(input.name, &options, &bytes);
                let edits = run.rewrite_document(&document, &options, summary, output);
                let Some(edits) = edits else { return Ok(()) };
                Ok(edits.apply(&bytes).into())
            }
            // A response without a document has links only in its header fields.
            _ if !entry.has_document() => return Ok(()),
            _ => {
                let edits = run.rewrite_document(input, &entry.options, summary, output);
                let Some(edits) = edits else { return Ok(()) };
                whole = edits.apply(input.bytes);
                payload(&whole, input.format)
            }
        };
        let bytes = match made {
            Ok(bytes) => bytes,
            Err(why) => {
                let sentence = format!("{}: {why}; skipped", input.name);
                if run.request.strict {
                    output.error(sentence);
                    summary.status = ExitStatus::NotHeld;
                } else {
                    output.caution(sentence);
                }
                return Ok(());
            }
        };
        files.length = bytes.len();
        files.resources.insert(number);
        files.pages.extend(page.map(|title| (number, title)));
        let path = plan.collection().in_library(plan.name(number));
        let before = match run.results {
            Results::Folder(folder) => contents(&folder.out, &path),
            _ => None,
        };
        if is_cut && before.is_some() {
            let path = String::from_utf8_lossy(&path);
            let why = "the body is incomplete, so the file of an earlier run is kept";
            output.caution(format_args!("{}: {why}: {path}", input.name));
            return Ok(());
        }
        let earlier = self
            .earlier
            .get()
            .and_then(|all| all.get(plan.name(number)));
        let is_edited =
            |before: &Vec<u8>| earlier.is_some_and(|known| **known != *digest(before).as_bytes());
        let is_same = before.as_ref().is_some_and(|before| **before == *bytes);
        if !is_same && before.as_ref().is_some_and(is_edited) {
            files.edited.push(path);
            return Ok(());
        }
        files.number = usize::from(!is_same);
        files.digests.insert(number, digest(&bytes));
        let date = plan.chosen.resources[number].date;
        if !is_same && let Some(file) = begin(run.results, &path, date, &bytes)? {
            files.lost = file.commit()?.lost;
        }
        files.incomplete.extend(is_cut.then_some(path));
        Ok(())
    }

    /// Writes the table of the files of these resources, as `--url-map` reads it.
    fn write_table(
        &self,
        results: &Results<'_>,
        is_row: impl Fn(usize) -> bool,
        digests: &HashMap<usize, String>,
    ) -> Result<()> {
        let plan = &self.plan;
        let path = plan.collection().in_library(MAP.as_bytes());
        let Some(mut new) = begin(results, &path, None, b"")? else {
            return Ok(());
        };
        let rows = (0..plan.chosen.resources.len())
            .filter(|&number| is_row(number))
            .map(|number| {
                let path = String::from_utf8_lossy(plan.name(number)).into_owned();
                [
                    path,
                    plan.chosen.url(number).to_owned(),
                    date_of(plan, number),
                    plan.chosen.resources[number].media_type.to_string(),
                    digests
                        .get(&number)
                        .cloned()
                        .or_else(|| {
                            let earlier = self.earlier.get()?.get(plan.name(number))?;
                            String::from_utf8(earlier.clone()).ok()
                        })
                        .unwrap_or_default(),
                ]
            });
        new.write(|out| map::write_table(out, map::COLUMNS, rows))?;
        new.commit().map(drop)
    }

    /// Reports the files, and returns the items of the entry page.
    pub fn end(
        &self,
        run: RewriteRun<'_>,
        files: CapturedFiles,
        status: &mut ExitStatus,
        output: &mut Output,
    ) -> Result<Vec<PageEntry<'_>>> {
        let plan = &self.plan;
        let (number, resources) = (files.number, files.resources);
        // The second reading may find unreadable bodies, whose rows are then removed from the table.
        if self.is_local() && !plan.chosen.resources.is_empty() {
            let is_row = |number| resources.contains(&number);
            self.write_table(run.results, is_row, &files.digests)?;
        }
        output.notice_of_files(
            &files.edited,
            ["file was", "files were"],
            "edited or added since an earlier run and kept; remove it to get it again",
        );
        output.notice_of_files(
            &files.incomplete,
            ["file is", "files are"],
            "incomplete, like the body in the archive",
        );
        report_failures(plan.collection(), output);
        let written = count(number, "file", "files");
        let documents = &run.request.documents;
        match self.path(run.request) {
            None => output.notice(format_args!("{written} would be written")),
            // An archive in a library may have captured only errors.
            Some(_) if resources.is_empty() && self.place().is_some() => {}
            Some(out) if resources.is_empty() => {
                let patterns = documents.patterns();
                let why = if patterns.is_empty() {
                    ": no part and no answer to GET with status 2xx has a body"
                } else {
                    "; baselink links lists the URLs of the archive"
                };
                let out = name(&out);
                // Another error tells why.
                if *status == ExitStatus::Done {
                    output.error(format_args!("{out}: no captures to write{patterns}{why}"));
                }
                *status = ExitStatus::Unusable;
            }
            Some(_) if run.request.page.is_some() => {}
            Some(out) if number == 0 => {
                output.notice(format_args!("nothing changed in {}", name(&out)));
            }
            Some(out) => output.notice(format_args!("{written} written to {}", name(&out))),
        }
        if !self.is_local() {
            return Ok(Vec::new());
        }
        Ok(pages::of_captures(plan, documents, files.pages, &resources))
    }
}

/// Begins the file at `path` below the output folder, and writes `bytes` to it; `None` in a dry run.
pub fn begin(
    results: &Results<'_>,
    path: &[u8],
    date: Option<CaptureDate>,
    bytes: &[u8],
) -> Result<Option<NewContents>> {
    let Results::Folder(folder) = results else {
        return Ok(None);
    };
    let path = path_of(path).unwrap_or_default();
    let new = folder.begin_dated(&path, date.map(CaptureDate::time), bytes);
    new.map(Some)
}

/// Names the folders of an earlier run in `out` that are not in the `places` of this run.
fn report_gone(out: &PathBuf, places: &HashSet<PathBuf>, output: &mut Output) {
    let all = Selection::default();
    let tables = walk(slice::from_ref(out), &all).flatten();
    let tables = tables.filter(|entry| entry.path.ends_with(MAP));
    let mut gone: Vec<_> = tables
        .map(|table| split_name(&name_of(&table)).0.to_vec())
        .collect();
    let is_known = |folder: &Path| folder.ancestors().any(|around| places.contains(around));
    gone.retain(|folder| path_of(folder).is_some_and(|folder| !is_known(&folder)));
    output.notice_of_files(
        &gone,
        ["folder is", "folders are"],
        "of an earlier run, from sources that this run did not read",
    );
}

/// Writes the first of `pages`, or the one that the user named, as one file with all that it embeds. Several pages of a folder are an
/// error, because their order says nothing.
fn write_one_page(
    folder: &ResultFolder,
    (collection, folders): (&Collection, &[CapturedFolder]),
    (mut pages, one): (Vec<PageEntry<'_>>, &OnePageFile),
    output: &mut Output,
) -> Result<()> {
    // In a file for HTML, plain text would be read as markup, and XHTML as other elements.
    let format = |name: &str| Format::detect(Some(name), b"");
    let wanted = format(&one.to.to_string_lossy());
    pages.retain(|page| format(&String::from_utf8_lossy(&page.name)) == wanted);
    if let Some(entry) = &one.entry {
        let located = |site: &Collection| {
            let found = site.locate(entry).resource()?.number;
            Some(site.in_library(site.path_in_mirror(found)))
        };
        let sites = folders.iter().map(|folder| &**folder.plan.collection());
        let located: Vec<_> = sites.chain([collection]).filter_map(located).collect();
        pages.retain(|page| page.name == entry.as_bytes() || located.contains(&page.name));
    }
    let page = match &*pages {
        [] => {
            let why = format!("no such page of {}", wanted.noun());
            return Err(Error::file(&one.to, &why));
        }
        [page] => page,
        [first, ..] => {
            let (number, first_name) = (pages.len(), String::from_utf8_lossy(&first.name));
            let of_pages = format!("{number} pages; --entry names one, such as {first_name}");
            if folders.is_empty() {
                return Err(Error::file(&one.to, &of_pages));
            }
            output.notice(format_args!("the first of {of_pages}"));
            first
        }
    };
    let urls = folders.iter().flat_map(|folder| {
        let plan = &folder.plan;
        let path = |number| plan.collection().in_library(plan.name(number));
        let numbers = 0..plan.chosen.resources.len();
        numbers.map(move |number| (path(number), plan.chosen.url(number).to_owned()))
    });
    let copy = OnePage::new(&folder.out, urls.collect(), collection.folder_url());
    let made = copy.make(&page.name, 0).unwrap_or_default();
    let mut new = NewContents::begin(&one.to)?;
    new.write(|out| out.write_all(&made))?;
    new.commit()?;
    let to = name(&one.to);
    if made.len() > LARGE {
        output.caution(format_args!("{to}: a folder would open faster"));
    }
    let links = ["link leads", "links lead"];
    let what =
        "to files that are not in the page; if they are in its folder, name that, with --entry";
    output.notice_of(copy.lost.get(), links, what);
    output.notice(format_args!("open {to}"));
    Ok(())
}

/// Writes the page that lists the pages of the files, and the `captured` ones, under a name that no file has, or only the `page`.
/// `paths` are the inputs.
pub fn write_entry_page(
    folder: &ResultFolder,
    collection: &Collection,
    (paths, folders): (&[PathBuf], &[CapturedFolder]),
    (captured, missing): (Vec<PageEntry<'_>>, &[[String; 2]]),
    (page, output): (&Option<OnePageFile>, &mut Output),
) -> FileResult<()> {
    let places = folders
        .iter()
        .map(|folder| folder.place().unwrap_or_default());
    let places = places.collect();
    report_gone(&folder.out, &places, output);
    let mut pages = pages::of_files(&folder.out, collection, &places);
    pages.extend(captured);
    if let Some(one) = page {
        let copy = (collection, folders);
        return Ok(write_one_page(folder, copy, (pages, one), output)?);
    }
    if pages.is_empty() {
        return Ok(());
    }
    let mut names = (0_usize..).map(|number| match number {
        0 => ENTRY_PAGE.to_owned(),
        1 => format!("baselink-{ENTRY_PAGE}"),
        more => format!("baselink-{more}-{ENTRY_PAGE}"),
    });
    // An entry page of an earlier run is replaced.
    let is_free = |name: &String| {
        let path = folder.out.join(name);
        let is_own = match fs::read(&path) {
            Ok(page) => is_entry_page(&page),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        is_own && !folder.has_written(&path) && collection.number_at(name.as_bytes()).is_none()
    };
    let own_name = names.find(is_free).unwrap_or_default();
    let sources = paths.iter().map(|path| match path.file_name() {
        Some(own) => name(own.as_ref()),
        None => name(path),
    });
    let source = sources.collect::<Vec<_>>().join(", ");
    let page = entry_page(&source, &pages, missing);
    let new = folder.begin_dated(Path::new(&own_name), None, page.as_bytes())?;
    new.commit()?;
    output.notice(format_args!("open {}", name(&folder.out.join(&own_name))));
    Ok(())
}

/// Reports the number of URLs without a file, by reason.
fn report_failures(collection: &Collection, output: &mut Output) {
    let mut numbers = [0; 4];
    for status in collection.failures() {
        let kind = match status {
            400.. => 0,
            206 => 3,
            ..300 | 304 => 2,
            _ => 1,
        };
        numbers[kind] += 1;
    }
    let texts = [
        (
            "URL was captured only as an error (4xx, 5xx)",
            "URLs were captured only as errors (4xx, 5xx)",
        ),
        (
            "redirect leads to a URL that is not in the archive",
            "redirects lead to URLs that are not in the archive",
        ),
        (
            "URL was captured without its body",
            "URLs were captured without their bodies",
        ),
        (
            "URL was captured only in ranges, so it is incomplete",
            "URLs were captured only in ranges, so they are incomplete",
        ),
    ];
    for (number, (one, more)) in numbers.into_iter().zip(texts) {
        if number > 0 {
            output.notice(count(number, one, more));
        }
    }
}
