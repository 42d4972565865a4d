//! Makes a folder from archives: `localize ARCHIVE... -o DIR` makes one that opens in a browser, and
//! `rewrite ARCHIVE... -o DIR` one with absolute links and without the table and the entry page.
//!
//! ```text
//! crawl.warc.gz  -->  DIR/a.example/index.html, DIR/a.example/logo.png, …, DIR/index.html, DIR/baselink-map.csv
//! ```
//!
//! Deliberately absent: reading the archives (`baselink_site::reading`).

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use baselink_rewrite::{Options, record::payload};
use baselink_text::{Error, Format, Result, name};

use super::{
    document::rewrite_document,
    summary::{FileSummary, RunSummary},
};
use baselink_files::{
    result_folder::ResultFolder,
    stop::{is_stopped, stop_between_files},
    walk::{TreeEntry, open_below},
    write::{NewContents, NotPreserved},
};
use baselink_site::{
    archive::{Entry, Wacz, WaczPage, Wanted, message::THIS_MESSAGE, record::CapturedBody},
    collection::{Collection, capture::CaptureDate, folder::path_of, origin::map},
    purpose::{
        entry_page::{PageEntry, entry_page, title},
        localize,
        rewriting::RewriteKind,
    },
    reading::{CapturePlan, Input},
};

use crate::cli::{
    args::output::{Extraction, Rewrite},
    files::{self, plan, report_damaged},
    output::{Output, count, ok_or_report},
    results::open_folder,
    status::{ExitStatus, Failure, FileResult},
};

/// The table of the files that were written, at the root of the folder.
const MAP: &str = "baselink-map.csv";

/// The page that lists the pages, at the root of the folder.
const ENTRY_PAGE: &str = "index.html";

/// A file that was written, or in a dry run only counted.
#[derive(Default)]
struct WrittenFile {
    resource: usize,
    /// True if the body is incomplete.
    is_cut: bool,
    /// True if the file of an earlier run was kept.
    is_kept: bool,
    /// The length of the body of a record.
    length: usize,
    /// The properties that the file lacks.
    lost: Vec<NotPreserved>,
    /// The title, if it is a page.
    title: Option<String>,
}

/// Makes a folder from the named archives.
pub fn extract(
    request: &Rewrite,
    extraction: Option<&Extraction>,
    output: &mut Output,
) -> FileResult<ExitStatus> {
    let folder = output_folder(request, extraction.is_some())?;
    if folder.is_some() {
        output.ignore_closed_stdout();
        stop_between_files(true)?;
    }
    let documents = &request.documents;
    let is_typed = documents.below_settings.is_empty();
    if is_typed && documents.reading.origins.root_url.is_some() && documents.are_all_archives() {
        output.caution(&"--url is not used, because each document of an archive has its own URL");
    }
    let near = extraction.and_then(|one| one.near);
    let plan = plan(documents, near, output)?;
    if is_stopped() {
        output.error(&"stopped before anything was written");
        return Ok(ExitStatus::Stopped);
    }
    require_one_mail(&plan)?;
    if let (Some(folder), true) = (&folder, extraction.is_some()) {
        require_earlier_files(&plan, folder, output)?;
    }
    let mut run = ArchiveRun {
        request,
        extraction,
        folder: folder.filter(|_| request.out().is_some()),
        status: ExitStatus::Done,
    };
    if ok_or_report(run.write(&plan, output), output)?.is_none() {
        run.status = ExitStatus::Unusable;
    }
    Ok(run.status)
}

/// Rejects a mail among several archives: parts of two mails may have the same made-up URL, or the same `cid:` URL.
fn require_one_mail(plan: &CapturePlan) -> Result<()> {
    let mut numbers = 0..plan.chosen.resources.len();
    let part = numbers.find(|&number| has_made_up_url(plan, number));
    let Some(number) = part.filter(|_| plan.archives.len() > 1) else {
        return Ok(());
    };
    let item = plan.chosen.resources[number].item;
    let before = plan.archives.iter().filter(|(_, first)| **first <= item);
    let mail = before.max_by_key(|(_, first)| **first);
    let path = mail.map_or(Path::new(""), |(path, _)| path);
    let why = "a mail, whose parts have no URLs of their own; name one mail for each folder";
    Err(Error::file(path, why))
}

/// True if the resource with this number is a part of a message without a URL of its own.
fn has_made_up_url(plan: &CapturePlan, number: usize) -> bool {
    plan.chosen.url(number).starts_with(THIS_MESSAGE)
}

/// Rejects a folder of an earlier run with files that this run would not write: links to them would lead to the network, and
/// the table would lack them. Names files whose URLs this run writes to other files.
fn require_earlier_files(
    plan: &CapturePlan,
    folder: &ResultFolder,
    output: &mut Output,
) -> Result<()> {
    if plan.chosen.resources.is_empty() {
        return Ok(());
    }
    let table = folder.out.join(MAP);
    let text = fs::read(&table).unwrap_or_default();
    // A damaged table names no files.
    let rows = |columns| map::pairs(&text, &table, columns).unwrap_or_default();
    let dates = rows(["path", "date"]).into_iter().map(|(_, date)| date);
    let rows = rows(["path", "url"]).into_iter().zip(dates);
    let (mut stays, mut lost) = (Vec::new(), Vec::new());
    for ((path, url), date) in rows.filter(|((path, _), _)| has_file(folder, path)) {
        let own = plan.collection().number_at(&path);
        match is_written_again(plan, own, &url, &date) {
            true if own.is_some() => {}
            true => stays.push(path),
            false => lost.push(path),
        }
    }
    if !stays.is_empty() {
        let files = count(
            stays.len(),
            "file of an earlier run has",
            "files of an earlier run have",
        );
        output.notice_of_paths(
            &format!("{files} a new name, and the old one stays"),
            &stays,
        );
    }
    let Some(first) = lost.first() else {
        return Ok(());
    };
    let are = count(lost.len(), "file is", "files are");
    let first = String::from_utf8_lossy(first);
    let why = format!(
        "{are} from an earlier run with other archives, such as {first}; name all archives of the folder together, or a new folder"
    );
    Err(Error::file(&folder.out, &why))
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
        !has_made_up_url(plan, number) || date_of(plan, number).as_bytes() == date
    })
}

/// True if the folder has a file at `path`, not behind a symbolic link.
fn has_file(folder: &ResultFolder, path: &[u8]) -> bool {
    path_of(path).is_some_and(|path| open_below(&folder.out, &path).is_ok())
}

/// The date of the resource with this number, as the table has it.
fn date_of(plan: &CapturePlan, number: usize) -> String {
    let date = plan.chosen.resources[number].date;
    date.map_or_else(String::new, |date| date.to_string())
}

/// The output folder; `None` if nothing is written. A folder that gets a table must be new, empty, or from an earlier
/// run.
fn output_folder(request: &Rewrite, has_table: bool) -> Result<Option<ResultFolder>> {
    let first = request
        .documents
        .paths
        .first()
        .map_or(Path::new(""), PathBuf::as_path);
    let refused = |why: &str| Err(Error::file(first, why));
    let (planned, in_place) = (request.planned_out(), request.planned_in_place());
    let path = planned.filter(|_| request.only_reports());
    let Some(path) = path.or(request.out()) else {
        if request.only_reports() && in_place.is_none() {
            return Ok(None);
        }
        return refused(if in_place.is_some() {
            "an archive is never altered; -o DIR makes a folder of its files"
        } else {
            "an archive becomes a folder of files; use -o DIR, or preview with --dry-run"
        });
    };
    let folder = open_folder(path)?;
    for archive in request.documents.roots() {
        folder.require_apart(archive, "")?;
    }
    if has_table && folder.had_files && !path.join(MAP).is_file() {
        let why = format!(
            "the folder has other files but no {MAP} from an earlier run; name a new folder"
        );
        return Err(Error::file(path, &why));
    }
    Ok(Some(folder))
}

/// The result of an archive: its format and the number of records with anomalies, unless it could not be read to its end; the results
/// of its links; its files.
type Archive = (Option<(Format, usize)>, FileSummary, Vec<WrittenFile>);

/// A run over archives.
struct ArchiveRun<'a> {
    request: &'a Rewrite,
    /// `None` if links become absolute.
    extraction: Option<&'a Extraction>,
    folder: Option<ResultFolder>,
    status: ExitStatus,
}

impl ArchiveRun<'_> {
    /// Writes the files.
    fn write(&mut self, plan: &CapturePlan, output: &mut Output) -> FileResult<()> {
        let documents = &self.request.documents;
        let kind = match self.extraction {
            None => RewriteKind::Absolute,
            Some(extraction) => RewriteKind::Local {
                collection: Arc::clone(plan.collection()),
                missing: extraction.missing.clone(),
                adapts: !extraction.is_exact,
            },
        };
        // The table is written first: even if the run is killed, the table marks the folder as its output. Without captures, the
        // table of an earlier run is kept.
        if self.extraction.is_some() && !plan.chosen.resources.is_empty() {
            self.write_table(plan, |_| true)?;
        }
        let wanted = if self.extraction.is_some() {
            Wanted::Bodies
        } else {
            Wanted::Documents
        };
        let (mut totals, mut files) = (RunSummary::default(), 0);
        let (mut pages, mut incomplete) = (Vec::new(), Vec::new());
        let mut is_written = vec![false; plan.chosen.resources.len()];
        let mut status = ExitStatus::Done;
        let one = |number: usize, at: (&Input<'_>, &Entry), output: &mut Output| {
            let mut of_document = FileSummary::default();
            let new_file = self.make_file(plan, number, at, &kind, &mut of_document, output);
            let length = new_file.iter().flatten().map(|one| one.length).sum();
            ((of_document, new_file), length)
        };
        let open = |file: &TreeEntry, output: &mut Output| {
            let (mut summary, mut new_files) = (FileSummary::default(), Vec::new());
            let done = |(of_document, new_file): (FileSummary, Result<_>), _: &mut Output| {
                summary.merge(of_document);
                // After a write error, such as a full disk, the next file would fail, too.
                new_files.extend(new_file.map_err(io::Error::other)?);
                Ok(())
            };
            let read = plan.each(file, (wanted, documents), output, one, done);
            let read = ok_or_report(read, output)?;
            if read.is_none() {
                summary.status = ExitStatus::Unusable;
            }
            Ok((read, summary, new_files))
        };
        let report = |file: TreeEntry, (read, summary, new_files): Archive, output: &mut Output| {
            let path = &*file.path;
            for new_file in new_files {
                is_written[new_file.resource] = true;
                files += usize::from(!new_file.is_kept);
                if new_file.is_cut && !new_file.is_kept {
                    incomplete.push(plan.name(new_file.resource).to_vec());
                }
                pages.extend(new_file.title.map(|title| (new_file.resource, title)));
                new_file.lost.iter().for_each(|lost| output.caution(lost));
            }
            let (format, anomalies) = read.unwrap_or((Format::Warc, 0));
            status = status.max(summary.status);
            let to = self.request.out();
            summary.print((self.request, &kind), path, format, to, output)?;
            if read.is_some() || files > 0 {
                summary.report(path, format, self.folder.is_some(), output);
            }
            let strict = self.request.strict;
            status = status.max(report_damaged((path, anomalies), "files", strict, output));
            totals.add(format, summary, false);
            Ok(())
        };
        let read = files::each(documents, output, open, report);
        let failed = read.map_err(|error| match error.downcast::<Error>() {
            Ok(error) => Failure::File(error),
            Err(error) => Failure::Output(error),
        });
        if failed? > 0 {
            status = ExitStatus::Unusable;
        }
        self.status = status;
        if is_stopped() {
            output.error(
                &"stopped; every file is complete; run the same command again to do the rest",
            );
            self.status = ExitStatus::Stopped;
            return Ok(());
        }
        // The second reading may find unreadable bodies, whose rows are then removed from the table.
        if self.extraction.is_some() && is_written.contains(&false) {
            self.write_table(plan, |number| is_written[number])?;
        }
        let are = count(incomplete.len(), "file is", "files are");
        let sentence = format!("{are} incomplete, like the body in the archive");
        output.notice_of_paths(&sentence, &incomplete);
        self.end(plan, pages, (&is_written, files), &totals, output)
    }

    /// Makes the file of the resource with this number; `None` if the resource gets no file.
    fn make_file(
        &self,
        plan: &CapturePlan,
        number: usize,
        (input, entry): (&Input<'_>, &Entry),
        kind: &RewriteKind,
        summary: &mut FileSummary,
        output: &mut Output,
    ) -> Result<Option<WrittenFile>> {
        let resource = &plan.chosen.resources[number];
        let mut new_file = WrittenFile {
            resource: number,
            is_cut: plan.collection().is_cut(number),
            ..WrittenFile::default()
        };
        let whole;
        let made: Result<Cow<'_, [u8]>, &str> = match self.extraction {
            // A response without a document has links only in its header fields.
            None if !entry.has_document() => return Ok(None),
            None => {
                let rewritten =
                    rewrite_document((self.request, kind), input, &entry.options, summary, output);
                if !rewritten.is_proved {
                    return Ok(None);
                }
                whole = rewritten.edits.apply(input.bytes);
                payload(&whole, input.format)
            }
            Some(_) => 'made: {
                let body = entry.body(plan.chosen.url(number), Some(plan.name(number)));
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
                    output.caution(&format_args!("{}: {damage}", input.name));
                    new_file.is_cut = true;
                }
                let options = options.map(|options| {
                    localize::options(plan.name(number), &bytes, plan.collection(), &options)
                });
                let has_links = |options: &Options| {
                    !options.scan.is_probed(format) || kind.finds_link(&bytes, options)
                };
                let Some(options) = options.filter(has_links) else {
                    break 'made Ok(bytes);
                };
                let document = Input::whole(input.name, &options, &bytes);
                let rewritten =
                    rewrite_document((self.request, kind), &document, &options, summary, output);
                if !rewritten.is_proved {
                    return Ok(None);
                }
                let is_page = matches!(format, Format::Html | Format::Xhtml);
                new_file.title = is_page.then(|| title(&bytes, charset).unwrap_or_default());
                Ok(rewritten.edits.apply(&bytes).into())
            }
        };
        let bytes = match made {
            Ok(bytes) => bytes,
            Err(why) => {
                output.caution(&format_args!("{}: {why}; skipped", input.name));
                return Ok(None);
            }
        };
        // Other archives do not refer to bodies, or limit it themselves.
        new_file.length = entry.resource().map_or(bytes.len(), |_| 0);
        let path = plan.name(number);
        let folder = self.folder.as_ref();
        if new_file.is_cut && folder.is_some_and(|folder| has_file(folder, path)) {
            let path = String::from_utf8_lossy(path);
            let why = "the body is incomplete, so the file of an earlier run is kept";
            output.caution(&format_args!("{}: {why}: {path}", input.name));
            new_file.is_kept = true;
        } else if let Some(file) = self.begin(path, resource.date, &bytes)? {
            new_file.lost = file.commit()?.lost;
        }
        Ok(Some(new_file))
    }

    /// Begins the file at `path` below the folder, and writes `bytes` to it; `None` in a dry run.
    fn begin(
        &self,
        path: &[u8],
        date: Option<CaptureDate>,
        bytes: &[u8],
    ) -> Result<Option<NewContents>> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let path = String::from_utf8_lossy(path);
        let mut new = folder.begin_dated(Path::new(&*path), date.map(CaptureDate::time))?;
        new.write(|out| out.write_all(bytes))?;
        Ok(Some(new))
    }

    /// Writes the table of the files of these resources, as `--url-map` reads it.
    fn write_table(&self, plan: &CapturePlan, is_row: impl Fn(usize) -> bool) -> Result<()> {
        let Some(mut new) = self.begin(MAP.as_bytes(), None, b"")? else {
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
                    plan.chosen.media_type(number).to_owned(),
                ]
            });
        new.write(|out| map::write_table(out, rows))?;
        new.commit().map(drop)
    }

    /// Writes the page that lists the pages, and reports the results.
    fn end(
        &mut self,
        plan: &CapturePlan,
        mut pages: Vec<(usize, String)>,
        (is_written, number): (&[bool], usize),
        totals: &RunSummary,
        output: &mut Output,
    ) -> FileResult<()> {
        report_failures(plan.collection(), output);
        let files = count(number, "file", "files");
        let list = self
            .extraction
            .and_then(|extraction| extraction.missing.as_deref());
        let Some(out) = self.request.out() else {
            output.notice(&format_args!("{files} would be written"));
            return list.map_or(Ok(()), |list| totals.list_missing(list, output));
        };
        if number > 0 || self.status == ExitStatus::Done {
            output.notice(&format_args!("{files} written to {}", name(out)));
        }
        totals.report_adaptations("; --exact turns this off", output);
        totals.report_refused(false, output);
        if !is_written.contains(&true) {
            if self.status == ExitStatus::Done {
                let patterns = self.request.documents.typed.patterns();
                let why = if patterns.is_empty() {
                    ": no part and no answer to GET with status 2xx has a body"
                } else {
                    "; baselink links lists the URLs of the archive"
                };
                output.error(&format_args!("no captures to write{patterns}{why}"));
            }
            self.status = ExitStatus::Unusable;
            return Ok(());
        }
        if self.extraction.is_none() {
            return Ok(());
        }
        pages.sort_by_key(|(number, _)| *number);
        let source = self
            .request
            .documents
            .paths
            .iter()
            .filter_map(|path| path.file_name());
        let source: Vec<_> = source.map(|name| name.to_string_lossy()).collect();
        let source = source.join(", ");
        let entry = |(number, title): (usize, String)| {
            let (url, date) = (plan.chosen.url(number), plan.chosen.resources[number].date);
            // The URL of a part of a message is meaningless to readers.
            let is_part = title.is_empty() && url.starts_with(THIS_MESSAGE);
            let title = if is_part { source.clone() } else { title };
            PageEntry {
                name: plan.name(number),
                url,
                title,
                date,
            }
        };
        let mut listed = self.pages_in_lists(plan, pages, is_written);
        // Crawls begin with the page that a person named.
        let first = |at: &usize| plan.chosen.resources[listed[*at].0].first;
        if let Some(at) = (0..listed.len()).min_by_key(first) {
            listed[..=at].rotate_right(1);
        }
        let others = self.other_files(plan, &listed, is_written);
        let number_of_others = others.len();
        listed.extend(others);
        let entries: Vec<_> = listed.into_iter().map(entry).collect();
        self.begin(
            ENTRY_PAGE.as_bytes(),
            None,
            entry_page(&source, &entries, number_of_others).as_bytes(),
        )?
        .map(NewContents::commit)
        .transpose()?;
        if let Some(list) = list {
            totals.list_missing(list, output)?;
        }
        totals.report_embedded(&self.request.documents.paths, output);
        output.notice(&format_args!("open {}", name(&out.join(ENTRY_PAGE))));
        Ok(())
    }
}

impl ArchiveRun<'_> {
    /// The files to list after the `pages`, with their names: the attachments of a message, and all files of an archive without
    /// pages.
    fn other_files(
        &self,
        plan: &CapturePlan,
        pages: &[(usize, String)],
        is_written: &[bool],
    ) -> Vec<(usize, String)> {
        let documents = &self.request.documents;
        let mut paths = documents.paths.iter();
        let are_messages = paths.all(|path| documents.format_of(path) == Some(Format::Message));
        let pages: HashSet<usize> = pages.iter().map(|(number, _)| *number).collect();
        let is_listed = |number: &usize| {
            let is_attached = are_messages && !plan.collection().is_used(*number);
            is_written[*number] && !pages.contains(number) && (pages.is_empty() || is_attached)
        };
        let file_name = |number: usize| {
            let path = String::from_utf8_lossy(plan.name(number));
            path.rsplit('/').next().unwrap_or_default().to_owned()
        };
        let numbers = (0..is_written.len()).filter(is_listed);
        numbers.map(|number| (number, file_name(number))).collect()
    }

    /// The `pages` that the lists in WACZ archives name, in the order of these lists. If an archive has no list, or no list names
    /// any, all others follow but those that are only frames of others.
    fn pages_in_lists(
        &self,
        plan: &CapturePlan,
        mut pages: Vec<(usize, String)>,
        is_written: &[bool],
    ) -> Vec<(usize, String)> {
        let documents = &self.request.documents;
        let wacz = |path: &PathBuf| {
            let is_wacz = documents.format_of(path) == Some(Format::Wacz);
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
            if is_written.get(found.number) == Some(&true) && is_listed.insert(found.number) {
                let own = titles.get(&found.number).filter(|title| !title.is_empty());
                let title = own.map(|title| (*title).clone()).or(page.title);
                listed.push((found.number, title.unwrap_or_default()));
            }
        };
        for path in &documents.paths {
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
            output.notice(&count(number, one, more));
        }
    }
}
