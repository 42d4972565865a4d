//! All requested files, processed on several threads, with their output in order.
//!
//! ```text
//! docs  -  page.html   -->   docs/a.html  docs/b.css  …  (standard input)  page.html
//! ```
//!
//! Each thread takes several files at a time ([`in_order`]). The output about a file is kept in a buffer of its own,
//! and the buffers are printed in the order of the files, so that output does not depend on the number of threads.
//! The output of standard input, of a single file, or of a large file without a result file is not buffered, because
//! the output of a mailbox may be larger than memory.
//!
//! Deliberately absent: the work on a file, which the commands supply.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, IsTerminal},
    iter, mem,
    path::Path,
};

use baselink_text::{Error, Result, name};

use super::{
    dotless_hosts,
    in_order::{Bounds, QueueItem, in_order},
    input::{File, NonDocument, OpenedInput},
    output::{Output, count, ok_or_report},
    progress::{Progress, is_stopped},
    request::{Documents, Origin, is_standard_input},
    status::{ExitStatus, Failure},
};
use baselink_files::walk::{EntryKind, TreeWalk, walk};

/// The size from which a file is processed alone.
const LARGE: u64 = 64 << 20;
/// The largest number of files under way.
const UNDER_WAY: usize = 256;

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
    work: impl Fn(&Origin, &mut Output) -> io::Result<T> + Sync,
    mut done: impl FnMut(Origin, T, &mut Output) -> io::Result<()>,
) -> io::Result<usize> {
    let counts = documents.has_folder() && output.count_diagnostics();
    let is_large = |path: &Path| {
        let seen = path.metadata();
        seen.is_ok_and(|seen| seen.is_dir() || seen.len() >= LARGE)
    };
    let takes_long = documents.roots().any(is_large);
    let progress = takes_long.then(|| progress(documents, output)).flatten();
    report_missing(documents, output);
    let (large, size) = if documents.has_result_files {
        (u64::MAX, usize::MAX)
    } else {
        (LARGE, usize::try_from(LARGE).unwrap_or(usize::MAX))
    };
    let bounds = Bounds {
        threads: documents.jobs,
        items: UNDER_WAY,
        size,
    };
    let mut requested = RequestedFiles::of(documents, output);
    let (mut files, mut is_first) = (requested.by_ref().peekable(), true);
    let items = iter::from_fn(|| {
        let value = files.next().filter(|_| !is_stopped())?;
        let is_single = mem::take(&mut is_first) && files.peek().is_none();
        let size = value.as_ref().map_or(0, Origin::size);
        let is_alone = is_single || size >= large || matches!(value, Ok(Origin::Standard));
        Some(QueueItem {
            value,
            size: usize::try_from(size).unwrap_or(usize::MAX),
            is_alone,
        })
    });
    let blank = output.buffered();
    let process = |file: Result<Origin>, output: &mut Output| {
        file.map(|origin| {
            let result = (!is_stopped()).then(|| work(&origin, output));
            let is_done = matches!(result, Some(Ok(_))) && !origin.is_folder();
            if let Some(progress) = progress.as_ref().filter(|_| is_done) {
                progress.finish_file(origin.size());
            }
            (origin, result)
        })
    };
    let mut failed = 0;
    let receive = |(processed, buffer): (Processed<T>, Output), output: &mut Output| {
        match processed {
            Ok((_, None)) => {}
            Ok((origin, Some(result))) => {
                let result = result?;
                output.append(buffer.into_buffer())?;
                done(origin, result, output)?;
            }
            Err(failure) => {
                output.error(&failure);
                failed += 1;
            }
        }
        io::Result::Ok(())
    };
    in_order(bounds, items, output, || blank.buffered(), process, receive)?;
    output.show_progress(None);
    if counts {
        output.report_counted_diagnostics();
    }
    report_skipped(documents, &requested.hidden, output);
    Ok(failed)
}

/// A file with its result, unless the run was stopped; an error if the file could not be found.
type Processed<T> = Result<(Origin, Option<io::Result<T>>)>;

/// Reports folders that were taken for hosts, and `hidden` files and folders that were skipped.
fn report_skipped(documents: &Documents, hidden: &[Vec<u8>], output: &mut Output) {
    if let Some(sentence) = dotless_hosts::warning(&mem::take(&mut output.dotless_hosts)) {
        output.caution(&sentence);
    }
    let number = hidden.len();
    let were = count(
        number,
        "hidden file or folder was",
        "hidden files or folders were",
    );
    // Files next to a named page do not belong to it.
    if documents.parts.is_empty() {
        let sentence = format!("{were} skipped; --hidden includes them");
        output.notice_of_paths(&sentence, hidden);
    }
}

/// Creates and shows a progress bar for one reading of `documents`; `None` without a terminal.
pub fn progress(documents: &Documents, output: &mut Output) -> Option<Progress> {
    let roots = documents.roots().map(Path::to_owned).collect();
    let progress = io::stderr()
        .is_terminal()
        .then(|| Progress::over(roots, documents.selection.clone()));
    output.show_progress(progress.clone());
    progress
}

/// The largest number of missing files of a table that are reported by name.
const MISSING: usize = 5;

/// Reports the first files that the table of URLs names but that do not exist.
fn report_missing(documents: &Documents, output: &mut Output) {
    let Some(map) = &documents.reading.origins.map else {
        return;
    };
    let roots: Vec<_> = documents.roots().map(Path::to_owned).collect();
    let missing = map.missing(&roots);
    for sentence in missing.iter().take(MISSING) {
        output.caution(sentence);
    }
    if missing.len() > MISSING {
        let more = missing.len() - MISSING;
        output.caution(&format_args!(
            "the table names {more} more files that do not exist"
        ));
    }
}

/// The requested files, in their order.
struct RequestedFiles<'d> {
    /// Named files and folders; `None` is standard input.
    sources: VecDeque<Option<TreeWalk<'d>>>,
    /// The hidden files and folders that were skipped.
    hidden: Vec<Vec<u8>>,
}

impl<'d> RequestedFiles<'d> {
    fn of(documents: &'d Documents, output: &mut Output) -> Self {
        let mut sources = VecDeque::new();
        for (number, paths) in documents
            .paths
            .split(|path| is_standard_input(path))
            .enumerate()
        {
            if number > 0 {
                sources.push_back(None);
            }
            if !paths.is_empty() {
                let found = walk(paths, &documents.selection);
                for overlap in found.overlaps() {
                    output.caution(overlap);
                }
                sources.push_back(Some(found));
            }
        }
        Self {
            sources,
            hidden: Vec::new(),
        }
    }
}

impl Iterator for RequestedFiles<'_> {
    type Item = Result<Origin>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(walk) = self.sources.front_mut()? else {
                self.sources.pop_front();
                return Some(Ok(Origin::Standard));
            };
            if let Some(found) = walk.next() {
                return Some(found.map(Origin::Entry));
            }
            let hidden = walk.hidden().iter();
            let hidden = hidden.map(|path| path.as_os_str().as_encoded_bytes().to_vec());
            self.hidden.extend(hidden);
            self.sources.pop_front();
        }
    }
}

/// The reason why a file was skipped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// A folder, whose files follow.
    Folder,
    NonDocument,
    /// An archive, which the command does not read.
    Archive,
    /// A symbolic link.
    Link,
    /// A backup of an earlier run.
    Backup,
    /// A message that is being delivered.
    Delivery,
    /// A file that could not be used; the error was reported.
    Unusable,
}

impl SkipReason {
    /// The reason for a file that is not a document.
    pub fn of(file: &NonDocument) -> Self {
        if file.is_archive {
            Self::Archive
        } else {
            Self::NonDocument
        }
    }
}

/// The message about a run without documents.
const NO_DOCUMENTS: &str = "no documents found";

/// The number of skipped files by reason.
#[derive(Clone, Default)]
pub struct SkipCounts(BTreeMap<SkipReason, usize>);

/// Reports a number of symbolic links, and the option that follows them.
pub fn report_links(number: usize, output: &mut Output) {
    let were = ["symbolic link was", "symbolic links were"];
    output.notice_of(number, were, "skipped; --follow reads their targets");
}

impl SkipCounts {
    pub fn add(&mut self, why: SkipReason, number: usize) {
        *self.0.entry(why).or_default() += number;
    }

    pub fn count(&self, why: SkipReason) -> usize {
        self.0.get(&why).copied().unwrap_or_default()
    }

    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Adds the counts of `others`.
    pub fn with(mut self, others: &Self) -> Self {
        others
            .0
            .iter()
            .for_each(|(why, number)| self.add(*why, *number));
        self
    }

    /// The exit status of a run that skipped these files.
    pub fn status(&self) -> ExitStatus {
        if self.count(SkipReason::Unusable) > 0 {
            ExitStatus::Unusable
        } else {
            ExitStatus::Done
        }
    }

    /// Reports the symbolic links.
    pub fn report_links(&self, output: &mut Output) {
        report_links(self.count(SkipReason::Link), output);
    }

    /// Reports all skipped files. Returns the exit status, which is an error if there were only files that are not
    /// documents.
    pub fn report(&self, documents: usize, output: &mut Output) -> ExitStatus {
        let status = self.report_documents(documents, output);
        let others = self.count(SkipReason::NonDocument);
        if others > 0 {
            output.notice(&count(
                others,
                "file is not a document",
                "files are not documents",
            ));
        }
        self.report_archives(output);
        self.report_links(output);
        status
    }

    /// Reports that there were no `documents`. Returns an error status if there were other files.
    pub fn report_documents(&self, documents: usize, output: &mut Output) -> ExitStatus {
        let status = self.report_only_others(documents, output);
        if documents == 0 && status == ExitStatus::Done {
            output.notice(&NO_DOCUMENTS);
        }
        status
    }

    /// Reports an error if there were other files but no `documents`. A file that could not be used counts as a
    /// document, because its error was reported.
    pub fn report_only_others(&self, documents: usize, output: &mut Output) -> ExitStatus {
        let documents = documents + self.count(SkipReason::Unusable);
        if documents > 0
            || self.count(SkipReason::NonDocument) + self.count(SkipReason::Archive) == 0
        {
            return ExitStatus::Done;
        }
        output.error(&NO_DOCUMENTS);
        ExitStatus::Unusable
    }

    /// Reports the skipped archives, and the commands that read them.
    pub fn report_archives(&self, output: &mut Output) {
        let what = "skipped; `baselink localize ARCHIVE -o DIR` makes a folder of one, and check, links and base read them";
        output.notice_of(
            self.count(SkipReason::Archive),
            ["archive was", "archives were"],
            what,
        );
    }
}

/// The reason to skip `origin`, from its kind of file; `None` if it is opened. Anything named is opened, except
/// folders.
///
/// # Errors
///
/// A device, a pipe or a socket was found in a folder; opening it might block forever.
pub fn skip_reason(origin: &Origin) -> Result<Option<SkipReason>> {
    let Origin::Entry(entry) = origin else {
        return Ok(None);
    };
    Ok(match entry.kind {
        EntryKind::Folder => Some(SkipReason::Folder),
        _ if origin.is_named() => None,
        EntryKind::File => None,
        EntryKind::Symlink => Some(SkipReason::Link),
        EntryKind::Special => {
            let path = name(&entry.path);
            return Err(Error::new(format!("{path}: not a regular file; skipped")));
        }
    })
}

/// The result of reading documents.
#[derive(Default)]
pub struct ReadSummary {
    pub status: ExitStatus,
    /// The number of documents.
    pub documents: usize,
    pub skipped: SkipCounts,
}

impl ReadSummary {
    /// Reports the skipped files of folders, and returns the exit status of the run.
    pub fn end(&self, documents: &Documents, output: &mut Output) -> ExitStatus {
        if documents.has_folder() {
            self.status.max(self.skipped.report(self.documents, output))
        } else {
            self.status
        }
    }
}

/// Opens every file, calls `work` for each document on several threads, and `done` with the results in the order of
/// the files.
pub fn each_document<T: Send>(
    documents: &Documents,
    output: &mut Output,
    work: impl Fn(&Origin, File<'_>, &mut Output) -> io::Result<(ExitStatus, T)> + Sync,
    mut done: impl FnMut(Origin, T),
) -> io::Result<ReadSummary> {
    let mut read = ReadSummary::default();
    let process = |origin: &Origin, output: &mut Output| {
        let opened = match skip_reason(origin) {
            Ok(Some(why)) => return Ok(Err(why)),
            Ok(None) => File::open(origin, documents, None),
            Err(failure) => Err(failure),
        };
        let failure = match opened {
            Ok(OpenedInput::Document(file)) => {
                output.note_host(&file);
                output.report_opened(&file);
                return work(origin, file, output).map(Ok);
            }
            Ok(OpenedInput::NonDocument(other)) if origin.is_named() => other.error(origin.path()),
            Ok(OpenedInput::NonDocument(other)) => {
                output.report_non_document(other.remark());
                return Ok(Err(SkipReason::of(&other)));
            }
            Err(failure) => failure,
        };
        output.error(&failure);
        Ok(Err(SkipReason::Unusable))
    };
    let failed = each(documents, output, process, |origin, outcome, _| {
        match outcome {
            Ok((status, of_file)) => {
                read.status = read.status.max(status);
                read.documents += 1;
                done(origin, of_file);
            }
            Err(why) => read.skipped.add(why, 1),
        }
        Ok(())
    })?;
    read.skipped.add(SkipReason::Unusable, failed);
    read.status = read.status.max(read.skipped.status());
    Ok(read)
}

/// Reports the error of `read`, if any. Returns `status`, or `Unusable` after an error.
pub fn status_after<T>(
    read: Result<T, impl Into<Failure>>,
    status: ExitStatus,
    output: &mut Output,
) -> io::Result<ExitStatus> {
    Ok(ok_or_report(read, output)?.map_or(ExitStatus::Unusable, |_| status))
}
