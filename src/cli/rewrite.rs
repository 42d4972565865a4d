//! `baselink rewrite`: every relative link becomes absolute. `localize` and `move` also rewrite files through
//! [`rewrite`].
//!
//! ```text
//! $ baselink rewrite --url http://a/b/page.html page.html -o absolute.html
//! page.html: base http://a/b/page.html (3.3 retrieval); 2 links: 1 rewritten, 1 absolute
//! ```
//!
//! One thread reads, rewrites and writes a file ([`rewrite_file`]); only a mailbox or an archive that is processed
//! alone gets all threads. Links are reported one by one only if an option needs it.
//!
//! Deliberately absent: the result of a link ([`kind`]), where the results go ([`super::results`]), and the messages at
//! the end ([`summary`]).

mod document;
pub mod extract;
mod summary;

use std::{collections::HashMap, io, path::Path, slice};

use baselink_text::{Error, Format, Result, name};

use self::{
    document::write_document,
    extract::{CapturedFolder, ReadArchive},
    summary::{FileSummary, RunSummary},
};
use super::{
    args::output::{Extraction, Rewrite},
    diff::DiffProgress,
    dotless_hosts,
    expected_url::report_expected_url,
    files::{self, status_after, status_of_skipped},
    output::{Output, count},
    request::is_usual_backup,
    results::{self, RewriteRun, new_path},
    status::{ExitStatus, Failure, FileResult},
};
use baselink_files::{
    maildir,
    result_folder::ResultFolder,
    results::{ResultFile, Results},
    stop::{is_stopped, stop_between_files},
    walk::TreeEntry,
    write::Committed,
};
use baselink_site::{
    archive::Contents,
    collection::{Collection, folder::name_of},
    purpose::{leftovers::Traces, rewriting::RewriteKind, tally::Counted},
    reading::{DocumentName, File, Input, Listener, NonDocument, SkipReason, skip_reason},
};

/// Makes every relative link absolute.
pub fn run(request: &Rewrite, output: &mut Output) -> FileResult<ExitStatus> {
    let makes_folder =
        !request.changes.diff && !request.is_printed() && request.in_place().is_none();
    if makes_folder && request.documents.are_all_archives() {
        return extract(request, None, output);
    }
    rewrite(request, (&RewriteKind::Absolute, &[]), output)
}

/// Makes a folder from the named archives.
pub fn extract(
    request: &Rewrite,
    extraction: Option<&Extraction>,
    output: &mut Output,
) -> FileResult<ExitStatus> {
    match extract::prepare(request, extraction, output)? {
        Some((results, folder)) => {
            let run = RewriteRun {
                request,
                kind: &folder.kind,
                results: &results,
            };
            run.rewrite(slice::from_ref(&folder), output)
        }
        None => Ok(ExitStatus::Stopped),
    }
}

/// Rewrites the documents of a request; `kind` decides the new links. Archives become these folders.
pub fn rewrite(
    request: &Rewrite,
    (kind, folders): (&RewriteKind, &[CapturedFolder]),
    output: &mut Output,
) -> FileResult<ExitStatus> {
    let is_in_place = request.in_place().is_some();
    if is_in_place {
        dotless_hosts::require_host(&request.documents)?;
    }
    if let (RewriteKind::Absolute, [folder]) = (kind, &*request.documents.paths)
        && folder.is_dir()
    {
        report_expected_url(&request.documents, None, is_in_place, output)?;
    }
    let results = results::open(request, kind)?;
    if results.writes_files() {
        output.ignore_closed_stdout();
    }
    // While a user types on standard input, Ctrl-C must end the program at once.
    let reads_files = request.documents.roots().count() == request.documents.paths.len();
    if results.writes_files() && reads_files {
        stop_between_files(true)?;
    }
    let run = RewriteRun {
        request,
        kind,
        results: &results,
    };
    run.rewrite(folders, output)
}

impl RewriteRun<'_> {
    /// Rewrites the documents of the request. Archives become these folders.
    fn rewrite(self, folders: &[CapturedFolder], output: &mut Output) -> FileResult<ExitStatus> {
        let Self {
            request,
            kind,
            results,
        } = self;
        let (mut totals, mut status) = (RunSummary::default(), ExitStatus::Done);
        let mut read = Vec::new();
        let captured = folders.iter().map(|folder| folder.begin(results));
        let mut captured: Vec<_> = captured.collect::<Result<_>>()?;
        let archives = (0..)
            .zip(folders)
            .flat_map(|(number, folder)| folder.archives().map(move |path| (path, number)));
        let archives: HashMap<&Path, usize> = archives.collect();
        let rewrite_one = |entry: &TreeEntry, output: &mut Output| {
            if let Some(&number) = archives.get(&*entry.path) {
                let archive = folders[number].make_files(self, entry, output)?;
                return Ok(FileOutcome::Extracted(number, archive));
            }
            let outcome = Failure::separate(self.rewrite_file(entry, output))?;
            Ok(outcome.unwrap_or_else(|error| {
                output.error_or_count(&entry.path, error);
                FileOutcome::Skipped(SkipReason::Unusable)
            }))
        };
        let done = |entry: TreeEntry, outcome, output: &mut Output| {
            let of_file = match outcome {
                FileOutcome::Extracted(number, archive) => {
                    let results = (&mut captured[number], &mut totals);
                    let archive = (&*entry.path, archive);
                    let status = folders[number].report(self, archive, results, output)?;
                    read.push(entry);
                    status
                }
                FileOutcome::Read(file) => self.report_file(&entry, file, &mut totals, output)?,
                FileOutcome::Skipped(why) => {
                    totals.tally.add(Counted::Skipped(why), 1_usize);
                    ExitStatus::Done
                }
            };
            status = status.max(of_file);
            Ok(())
        };
        let failed = files::each(&request.documents, output, rewrite_one, done);
        let of_file =
            |error: io::Error| error.downcast().map_or_else(Failure::Output, Failure::File);
        let failed = failed.map_err(of_file)?;
        let unusable = Counted::Skipped(SkipReason::Unusable);
        totals.tally.add(unusable, failed);
        totals.report_verified(output);
        if let Results::Folder(folder) = results
            && let Err(sentences) = folder.finish()
        {
            sentences
                .iter()
                .for_each(|sentence| output.caution(sentence));
        }
        if let RewriteKind::Moved(_, Some(staged)) = kind {
            if totals.tally[unusable] > 0 {
                staged.fail();
            }
            return Ok(match staged.commit(is_stopped) {
                Ok(true) => status.max(totals.report(kind, true, output)),
                Ok(false) => {
                    output.error("stopped by a signal; nothing was moved");
                    ExitStatus::Stopped
                }
                Err(error) => {
                    output.error(error);
                    ExitStatus::Unusable
                }
            });
        }
        let done = totals.files();
        let mut pages = Vec::new();
        for (folder, files) in folders.iter().zip(captured).filter(|_| !is_stopped()) {
            pages.extend(folder.end(self, files, &mut status, output)?);
        }
        if request.documents.has_folder() {
            status = status.max(totals.report(kind, results.writes_files(), output));
            if let Results::Folder(folder) = results
                && folders.is_empty()
                && !is_stopped()
            {
                results::report_others(folder, output);
            }
        } else if !folders.is_empty() {
            totals.report_adaptations("; --exact turns this off", output);
            totals.report_refused(output);
            totals.report_embedded(output);
        }
        if let RewriteKind::Local {
            missing: Some(path),
            ..
        } = kind
            && !is_stopped()
        {
            let urls = totals.missing_urls(|url, _| request.documents.may_list(url));
            let urls: Vec<_> = urls.into_iter().map(|[url, _]| url).collect();
            let what = ["URL that has no file is", "URLs that have no file are"];
            let listed = output.write_list(path, &urls, what);
            status = status.max(status_after(listed, output)?);
        }
        if is_stopped() {
            let files = count(done, "file", "files");
            output.error(format_args!(
                "stopped after {files}; every file is complete; run the same command again to do \
                 the rest"
            ));
            return Ok(ExitStatus::Stopped);
        }
        if let (Results::Folder(folder), Some(collection)) = (results, kind.renamed())
            && (!folders.is_empty() || request.page.is_some())
        {
            self.copy_linked_archives(folder, collection, &read)?;
            let is_library = request.documents.has_folder();
            let missing = totals.missing_urls(|_, links| is_library && links.is_embedded);
            let sources = (&*request.documents.paths, folders);
            let listed = (pages, &*missing);
            let to = (&request.page, output);
            extract::write_entry_page(folder, collection, sources, listed, to)?;
        }
        Ok(status.max(status_of_skipped(&totals.tally)))
    }

    /// Copies those of the archives that were `read` to which documents link.
    fn copy_linked_archives(
        self,
        folder: &ResultFolder,
        collection: &Collection,
        read: &[TreeEntry],
    ) -> Result<()> {
        let is_used = |entry: &&TreeEntry| {
            let number = collection.number_at(&name_of(entry));
            number.is_some_and(|number| collection.is_used(number))
        };
        for archive in read.iter().filter(is_used) {
            let place = folder.place(archive, new_path(self.kind, archive))?;
            folder.copy(archive, &place)?.commit()?;
        }
        Ok(())
    }

    fn rewrite_file(self, entry: &TreeEntry, output: &mut Output) -> FileResult<FileOutcome> {
        let why = skip_reason(entry)?;
        if let (Some(SkipReason::Folder), Results::Folder(folder)) = (why, self.results) {
            folder.folder(
                &entry.path,
                &folder.place(entry, new_path(self.kind, entry))?,
            )?;
        }
        match why.or_else(|| self.left_alone(entry)) {
            Some(why) => Ok(FileOutcome::Skipped(why)),
            None => self.open_and_rewrite(entry, output),
        }
    }

    /// The reason to leave alone a file that was found in a folder, by its name.
    fn left_alone(self, entry: &TreeEntry) -> Option<SkipReason> {
        let (path, is_replaced) = (&entry.path, self.results.replaces_inputs());
        let name = path.file_name().filter(|_| !entry.is_named())?;
        let suffix = self.request.suffix.as_ref();
        let has_suffix = suffix.is_some_and(|it| it.ends(name));
        if has_suffix || is_replaced && is_usual_backup(path) {
            return Some(SkipReason::Backup);
        }
        (is_replaced && maildir::is_delivery(path)).then_some(SkipReason::Delivery)
    }

    /// Opens and rewrites a file.
    fn open_and_rewrite(self, entry: &TreeEntry, output: &mut Output) -> FileResult<FileOutcome> {
        let Self {
            request,
            kind,
            results,
        } = self;
        let mut result = results.begin(entry, new_path(kind, entry))?;
        let file = match File::open(entry, &request.documents, result.original())? {
            Ok(file) => file,
            Err(other) => return self.copy_or_skip(other, entry, result, output),
        };
        output.note_host(&file);
        if let (Contents::Document(bytes), options) = (&file.contents, &file.options)
            && options.scan.is_probed(file.format)
            && !kind.finds_link(bytes, &kind.options(entry, bytes, options))
        {
            return self.copy_or_skip(file.into_other(), entry, result, output);
        }
        let format = file.format;
        if results.replaces_inputs() && file.is_mailbox_read_as_one() {
            let why = "several messages would be read as one document; use --format mbox";
            return Err(Error::file(&entry.path, why).into());
        }
        output.report_opened(&file);
        if let Some(metadata) = &file.metadata {
            result.set_metadata(metadata);
        }
        if format.is_archive() && (request.is_printed() || request.out().is_some()) {
            let why = if request.is_printed() {
                "the documents of an archive become files; use -o DIR, or preview with --diff or --dry-run"
            } else if entry.is_standard_input() {
                "an archive is read twice; save it to a file and name the file"
            } else {
                "an archive cannot be mixed with other files; name only archives"
            };
            return Err(Error::file(&entry.path, why).into());
        }
        let mut diff = request.changes.diff.then(DiffProgress::default);
        let mut summary = Box::<FileSummary>::default();
        let work = |input: &Input<'_>, output: &mut Output| {
            let mut of_document = FileSummary::default();
            let options = kind.options(entry, input.bytes, input.options);
            let mut edits = self.rewrite_document(input, &options, &mut of_document, output);
            if let (Some(edits), RewriteKind::Moved(relocation, _)) = (&mut edits, kind) {
                let sealed = input.format.has_headings().then_some("it is in a mail");
                let left = relocation.left_in(&name_of(entry), input.bytes, Some(edits), sealed);
                of_document.add_leftovers(request, &left, input, output);
                edits.merge(left.edits.iter());
            }
            Ok(((of_document, edits), 0))
        };
        file.each(
            output,
            work,
            |(of_document, edits), input, buffer, output| {
                output.append(buffer)?;
                summary.merge(of_document);
                write_document(edits.as_ref(), input, (&mut result, &mut diff), output)
            },
        )?;
        Ok(FileOutcome::Read(ReadFile {
            kind: Ok(format),
            summary,
            is_written: !matches!(result.to, Results::Nowhere),
            committed: result.end()?,
        }))
    }

    /// Copies a file that is not a document to the output folder, or skips it if there is none. Skipping a named file is
    /// an error.
    fn copy_or_skip(
        self,
        mut file: NonDocument,
        entry: &TreeEntry,
        mut result: ResultFile<'_>,
        output: &mut Output,
    ) -> FileResult<FileOutcome> {
        let path = &entry.path;
        if entry.is_standard_input() && matches!(result.to, Results::Writer) {
            // A filter passes on input that it cannot use: there may be no other copy.
            file.copy_to(path, output.out())?;
            return Err(file.error(path).into());
        }
        if entry.is_named() && file.remark().is_some() {
            return Err(file.error(path).into());
        }
        output.report_non_document(file.remark());
        let mut summary = Box::<FileSummary>::default();
        let is_index = entry
            .relative
            .last()
            .is_some_and(|name| name == "search_index.json");
        summary.tally.add(
            Counted::RefusedIndex,
            is_index && self.kind.adapts().is_some(),
        );
        let (mut left, mut text) = (Traces::default(), &b""[..]);
        if let RewriteKind::Moved(relocation, _) = self.kind {
            let is_whole;
            (text, is_whole) = file.text(path, relocation.replaces_old_urls)?;
            let sealed = (!is_whole).then_some("the file is large or binary");
            left = relocation.left_in(&name_of(entry), text, None, sealed);
        }
        let input = Input::whole(
            DocumentName::of(path),
            &self.request.documents.reading.options,
            text,
        );
        summary.add_leftovers(self.request, &left, &input, output);
        if !left.edits.is_empty() {
            let mut diff = self.request.changes.diff.then(DiffProgress::default);
            write_document(Some(&left.edits), &input, (&mut result, &mut diff), output)?;
        }
        let committed = match result.to {
            // The file of --output is only for a document.
            Results::File { .. } if left.edits.is_empty() => None,
            _ => result.end()?,
        };
        if committed.is_none() && entry.is_named() && left.edits.is_empty() {
            return Err(file.error(path).into());
        }
        let why = SkipReason::of(&file);
        let what = match committed {
            Some(_) => Counted::Copied(why),
            None => Counted::Skipped(why),
        };
        Ok(FileOutcome::Read(ReadFile {
            kind: Err(what),
            summary,
            is_written: false,
            committed,
        }))
    }

    /// Reports the result of a file.
    fn report_file(
        self,
        entry: &TreeEntry,
        file: ReadFile,
        totals: &mut RunSummary,
        output: &mut Output,
    ) -> io::Result<ExitStatus> {
        let (request, path) = (self.request, &entry.path);
        let ReadFile {
            kind,
            summary,
            is_written,
            committed,
        } = file;
        let status = summary.status;
        for lost in committed.iter().flat_map(|committed| &committed.lost) {
            output.caution(format_args!("{}: {lost}", name(path)));
        }
        output.flush()?;
        let to = committed.map(|committed| committed.path);
        let format = kind.unwrap_or(Format::Other);
        summary.print(self, path, format, to.as_deref(), output)?;
        if kind.is_ok() {
            summary.report(path, format, is_written, output);
        }
        if let Some(to) = &to
            && leaves_copies(request, entry, to, &summary)
        {
            summary.report_local_copies(path, output);
            totals.tally.add(Counted::WithoutCopies, 1_usize);
        }
        let is_message = format.has_headings();
        if is_message && request.documents.reading.options.fragments.is_none() {
            summary.report_fragments(path, output);
        }
        let origins = &request.documents.reading.origins;
        let is_copy = origins.keeps_local_copies && origins.companions.has(&entry.path);
        totals.list(entry, &summary.tally, is_copy && summary.lacks_base());
        totals.add(kind, *summary, is_copy);
        Ok(status)
    }
}

/// The outcome of a file.
enum FileOutcome {
    /// The archive was read for the folder with this number.
    Extracted(usize, ReadArchive),
    Read(ReadFile),
    Skipped(SkipReason),
}

/// A file that was rewritten, copied or left alone.
struct ReadFile {
    /// The format; what the file counts as if it is not a document, and nothing in it changes.
    kind: Result<Format, Counted>,
    summary: Box<FileSummary>,
    /// True if the result, which may be that nothing changes, was neither withheld nor only shown.
    is_written: bool,
    committed: Option<Committed>,
}

/// True if a file was written `to` a place that lacks the files that a browser saved with it.
fn leaves_copies(request: &Rewrite, entry: &TreeEntry, to: &Path, summary: &FileSummary) -> bool {
    let takes_all = request.documents.selection.include.is_empty();
    let are_copied = !entry.is_named() && (takes_all || request.documents.parts.len() > 1);
    let are_left =
        request.out().is_some() && !entry.is_standard_input() && to.parent() != entry.path.parent();
    summary.local_copies() > 0 && !are_copied && are_left
}
