//! Messages about the requested files: those that are missing, skipped or no documents.
//!
//! ```text
//! 2 archives were skipped; …
//! ```
//!
//! Deliberately absent: the reading of files (`baselink_site::reading`).

use std::{
    io::{self, IsTerminal},
    mem,
    path::Path,
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use baselink_text::{Error, Result, name};
use sha2::{Digest as _, Sha256};

use super::{
    dotless_hosts,
    output::{Output, count, ok_or_report},
    progress::Progress,
    request::Documents,
    status::{ExitStatus, Failure, FileResult},
};
use baselink_files::walk::TreeEntry;
use baselink_site::{
    collection::{Collection, capture::DateRange},
    purpose::tally::{Counted, Tally},
    reading::{CapturePlan, File, Listener, SkipReason, library, skip_reason},
};

/// Checks that `--url` can be the URL of these documents.
///
/// # Errors
///
/// There is a folder, and its URL cannot be followed by a path.
pub fn check(documents: &Documents) -> Result<()> {
    match &documents.reading.origins.root_url {
        Some(url) if documents.has_folder() && documents.parts.is_empty() => url
            .is_of_a_folder()
            .map_err(|error| Error::new(format!("--url: {error}"))),
        _ => Ok(()),
    }
}

/// Calls `work` for every file, on several threads, and `done` with each result after the output of `work`, in the order of the
/// files. Reports files that cannot be found, and returns their number.
pub fn each<T: Send>(
    documents: &Documents,
    output: &mut Output,
    work: impl Fn(&TreeEntry, &mut Output) -> io::Result<T> + Sync,
    done: impl FnMut(TreeEntry, T, &mut Output) -> io::Result<()>,
) -> io::Result<usize> {
    let counts = documents.has_folder() && output.begin_counting();
    if documents.takes_long() {
        progress(documents, output);
    }
    report_missing(documents, output);
    let mut files = documents.files();
    for overlap in files.overlaps() {
        output.caution(overlap);
    }
    let failed = files.each(output, work, done)?;
    output.show_progress(None);
    if counts {
        output.end_counting();
    }
    report_skipped(documents, &files.hidden(), output);
    Ok(failed)
}

/// Reports folders that were taken for hosts, and `hidden` files and folders that were skipped.
fn report_skipped(documents: &Documents, hidden: &[Vec<u8>], output: &mut Output) {
    if let Some(sentence) = dotless_hosts::warning(&mem::take(&mut output.dotless_hosts)) {
        output.caution(sentence);
    }
    // Files next to a named page do not belong to it.
    if documents.parts.is_empty() {
        let were = ["hidden file or folder was", "hidden files or folders were"];
        output.notice_of_files(hidden, were, "skipped; --hidden includes them");
    }
}

/// Shows a progress bar for one reading of `documents`, if standard error is a terminal.
pub fn progress(documents: &Documents, output: &mut Output) {
    let roots = documents.root_paths();
    let is_terminal = io::stderr().is_terminal();
    output.show_progress(is_terminal.then(|| Progress::over(roots, documents.selection.clone())));
}

/// The largest number of missing files of a table that are reported by name.
const MISSING: usize = 5;

/// Reports the first files that the table of URLs names but that do not exist.
fn report_missing(documents: &Documents, output: &mut Output) {
    let Some(map) = &documents.reading.origins.map else {
        return;
    };
    let missing = map.missing(&documents.root_paths());
    for sentence in missing.iter().take(MISSING) {
        output.caution(sentence);
    }
    if missing.len() > MISSING {
        let more = missing.len() - MISSING;
        output.caution(format_args!(
            "the table names {more} more files that do not exist"
        ));
    }
}

/// The message about a run without documents.
const NO_DOCUMENTS: &str = "no documents found";

/// Reports a number of symbolic links, and the option that follows them.
pub fn report_links(number: usize, output: &mut Output) {
    let were = ["symbolic link was", "symbolic links were"];
    output.notice_of(number, were, "skipped; --follow reads their targets");
}

/// The number of files that were copied or skipped for this reason.
fn others(tally: &Tally, why: SkipReason) -> usize {
    tally[Counted::Skipped(why)] + tally[Counted::Copied(why)]
}

/// The exit status of a run that skipped these files.
pub fn status_of_skipped(tally: &Tally) -> ExitStatus {
    if tally[Counted::Skipped(SkipReason::Unusable)] > 0 {
        ExitStatus::Unusable
    } else {
        ExitStatus::Done
    }
}

/// Reports that there were no `documents`. Returns an error status if there were other files.
pub fn report_documents(tally: &Tally, documents: usize, output: &mut Output) -> ExitStatus {
    let status = report_only_others(tally, documents, output);
    if documents == 0 && status == ExitStatus::Done {
        output.notice(NO_DOCUMENTS);
    }
    status
}

/// Reports an error if there were other files but no `documents`. A file that could not be used counts as a
/// document, because its error was reported.
pub fn report_only_others(tally: &Tally, documents: usize, output: &mut Output) -> ExitStatus {
    let documents = documents + tally[Counted::Skipped(SkipReason::Unusable)];
    let has_others = [SkipReason::NonDocument, SkipReason::Archive]
        .iter()
        .any(|why| others(tally, *why) > 0);
    if documents > 0 || !has_others {
        return ExitStatus::Done;
    }
    output.error(NO_DOCUMENTS);
    ExitStatus::Unusable
}

/// Reports the archives and symbolic links that were skipped.
pub fn report_unread(tally: &Tally, output: &mut Output) {
    report_archives(tally, output);
    report_links(tally[Counted::Skipped(SkipReason::Link)], output);
}

/// Reports the archives that were not read, and the commands that read them.
pub fn report_archives(tally: &Tally, output: &mut Output) {
    let what = "skipped; `baselink localize ARCHIVE -o DIR` makes a folder of one, and check, links and base read them";
    let were = ["archive was", "archives were"];
    output.notice_of(others(tally, SkipReason::Archive), were, what);
}

/// The result of reading documents.
#[derive(Default)]
pub struct ReadSummary {
    pub status: ExitStatus,
    /// The numbers of documents, and of skipped files.
    pub tally: Tally,
}

impl ReadSummary {
    /// Reports the skipped files of folders, and returns the exit status of the run.
    pub fn end(&self, documents: &Documents, output: &mut Output) -> ExitStatus {
        if !documents.has_folder() {
            return self.status;
        }
        let tally = &self.tally;
        let status = report_documents(tally, tally[Counted::File], output);
        let others = tally[Counted::Skipped(SkipReason::NonDocument)];
        if others > 0 {
            output.notice(count(
                others,
                "file is not a document",
                "files are not documents",
            ));
        }
        report_unread(tally, output);
        self.status.max(status)
    }
}

/// Opens every file, calls `work` for each document on several threads, and `done` with the results in the order of
/// the files.
pub fn each_document<T: Send>(
    documents: &Documents,
    output: &mut Output,
    work: impl Fn(&TreeEntry, File<'_>, &mut Output) -> io::Result<(ExitStatus, T)> + Sync,
    mut done: impl FnMut(TreeEntry, T),
) -> io::Result<ReadSummary> {
    let mut read = ReadSummary::default();
    let process = |entry: &TreeEntry, output: &mut Output| {
        let opened = match skip_reason(entry) {
            Ok(Some(why)) => return Ok(Err(why)),
            Ok(None) => File::open(entry, documents, None),
            Err(failure) => Err(failure),
        };
        let failure = match opened {
            Ok(Ok(file)) => {
                output.note_host(&file);
                output.report_opened(&file);
                return work(entry, file, output).map(Ok);
            }
            Ok(Err(other)) if entry.is_named() => other.error(&entry.path),
            Ok(Err(other)) => {
                output.report_non_document(other.remark());
                return Ok(Err(SkipReason::of(&other)));
            }
            Err(failure) => failure,
        };
        output.error(failure);
        Ok(Err(SkipReason::Unusable))
    };
    let failed = each(documents, output, process, |entry, outcome, _| {
        match outcome {
            Ok((status, of_file)) => {
                read.status = read.status.max(status);
                read.tally.add(Counted::File, 1_usize);
                done(entry, of_file);
            }
            Err(why) => read.tally.add(Counted::Skipped(why), 1_usize),
        }
        Ok(())
    })?;
    let unusable = Counted::Skipped(SkipReason::Unusable);
    read.tally.add(unusable, failed);
    read.status = read.status.max(status_of_skipped(&read.tally));
    Ok(read)
}

/// Reports the error of `read`, if any. Returns `status`, or `Unusable` after an error.
pub fn status_after<T>(
    read: Result<T, impl Into<Failure>>,
    output: &mut Output,
) -> io::Result<ExitStatus> {
    Ok(ok_or_report(read, output)?.map_or(ExitStatus::Unusable, |_| ExitStatus::Done))
}

/// Calls `plan` for the first reading of archives. The progress bar is shown for the second reading, too.
fn first_reading<T>(
    documents: &Documents,
    output: &mut Output,
    plan: impl FnOnce(&mut Output) -> FileResult<T>,
) -> FileResult<T> {
    progress(documents, output);
    let plan = plan(output)?;
    output.show_progress(None);
    report_links(documents.skipped_links, output);
    progress(documents, output);
    Ok(plan)
}

/// The plan for the captures of the named archives.
pub fn plan_of_archives(
    documents: &Documents,
    near: Option<DateRange>,
    output: &mut Output,
) -> FileResult<CapturePlan> {
    first_reading(documents, output, |output| {
        let archives = documents.files().flatten().collect();
        CapturePlan::of(archives, (documents, &documents.selection), near, output)
    })
}

/// The files of a folder with the captures of its archives, and the plans for these.
pub fn with_captures(
    documents: &Documents,
    near: Option<DateRange>,
    files: Collection,
    output: &mut Output,
) -> FileResult<(Arc<Collection>, Vec<CapturePlan>)> {
    let origins = &documents.reading.origins;
    let hosts: Vec<_> = origins.host_folders.keys().cloned().collect();
    output.notice_of_paths(
        "folders named after the hosts of their pages, whose files have the URLs of these hosts",
        &hosts,
    );
    let archives = documents.library.iter().flatten().count();
    if archives == 0 {
        return Ok((files.into(), Vec::new()));
    }
    output.notice_of(
        archives,
        ["archive or mail is", "archives and mails are"],
        "read with the files",
    );
    first_reading(documents, output, |output| {
        library::captured(documents, near, files, output)
    })
}

/// The digest of `bytes` in the form of Subresource Integrity, 3.5.
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(bytes)))
}

/// Reports damaged records of the archive at `path`, because of which `what` may be missing. Returns an error status if
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
        "{}: {records} damaged, so {what} may be missing here",
        name(path)
    );
    if is_strict {
        output.error(sentence);
        return ExitStatus::NotHeld;
    }
    output.notice(sentence);
    ExitStatus::Done
}
