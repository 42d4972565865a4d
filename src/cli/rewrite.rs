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
//! Deliberately absent: the result of a link ([`kind`]), the place of the output ([`target`]), and the messages at
//! the end ([`summary`]).

mod document;
mod document_links;
pub(super) mod extract;
mod kind;
mod summary;
pub(super) mod target;

use std::io;
use std::path::{Path, PathBuf};

use crate::files::maildir;
use crate::files::stage::StagedMove;
use crate::purpose::leftovers::Leftovers;
use baselink_rewrite::Options;
use baselink_text::error::{Error, name};
use baselink_text::format::Format;

use self::document::{rewrite_document, write_document};
pub(crate) use self::kind::RewriteKind;
use self::summary::{FileSummary, RunSummary};
use self::target::{FileSink, RunTarget, Written};
use super::args::output::{Rewrite, WrittenTo};
use super::capture_plan::are_all_archives;
use super::collection::report_expected_url;
use super::dotless_hosts;
use super::failure::{Failure, FileResult};
use super::files::{self, FinishedFile, SkipReason};
use super::input::{Contents, File, Input, NonDocument, OpenedInput};
use super::json_records;
use super::link_counts::LinkCountsRecord;
use super::output::{Output, count, ok_or_report};
use super::progress::{is_stopped, stop_between_files};
use super::request::{Origin, is_usual_backup};
use super::source;
use super::status::ExitStatus;

/// Makes every relative link absolute.
pub(crate) fn run(request: &Rewrite, output: &mut Output) -> FileResult<ExitStatus> {
    let makes_folder = matches!(
        request.destination,
        WrittenTo::Path { .. } | WrittenTo::Nowhere
    );
    if makes_folder && are_all_archives(&request.documents) {
        return extract::extract(request, None, output);
    }
    rewrite(request, &RewriteKind::Absolute, output)
}

/// Rewrites the documents of a request; `kind` decides the new links.
pub(crate) fn rewrite(
    request: &Rewrite,
    kind: &RewriteKind,
    output: &mut Output,
) -> FileResult<ExitStatus> {
    let is_in_place = matches!(request.destination, WrittenTo::InPlace(_));
    if is_in_place {
        dotless_hosts::require_host(&request.documents)?;
    }
    if let (RewriteKind::Absolute, [folder]) = (kind, &*request.documents.paths)
        && folder.is_dir()
    {
        report_expected_url(&request.documents, None, is_in_place, output)?;
    }
    let target = RunTarget::of(&request.destination, &request.documents)?.renaming(kind);
    if target.writes_files() {
        output.ignore_closed_stdout();
    }
    // While a user types on standard input, Ctrl-C must end the program at once.
    let reads_files = request.documents.roots().count() == request.documents.paths.len();
    if target.writes_files() && reads_files {
        stop_between_files(true)?;
    }
    let (mut totals, mut status) = (RunSummary::default(), ExitStatus::Done);
    let rewrite_one = |origin: &Origin, output: &mut Output| {
        let outcome = Failure::separate(rewrite_file(request, kind, &target, origin, output))?;
        Ok(outcome.unwrap_or_else(|error| {
            output.error_or_count(origin.path(), error);
            FileOutcome::Skipped(SkipReason::Unusable)
        }))
    };
    let failed = files::each(&request.documents, output, rewrite_one, |file, output| {
        status = status.max(report_file(request, kind, file, &mut totals, output)?);
        Ok(())
    })?;
    totals.skipped.add(SkipReason::Unusable, failed);
    if let Err(sentences) = target.finish() {
        sentences
            .iter()
            .for_each(|sentence| output.caution(sentence));
    }
    if let Some(staged) = kind.staged() {
        if totals.skipped.count(SkipReason::Unusable) > 0 {
            staged.fail();
        }
        return Ok(match commit_move(staged, output) {
            ExitStatus::Done => status.max(totals.report(kind, true, output)),
            failed => failed,
        });
    }
    let done = totals.files();
    if request.documents.has_folder() {
        status = status.max(totals.report(kind, target.writes_files(), output));
        if let RunTarget::Below(folder) = &target
            && !is_stopped()
        {
            folder.report_others(output);
        }
    }
    if let Some(path) = kind.list_of_missing().filter(|_| !is_stopped())
        && ok_or_report(totals.list_missing(path, output), output)?.is_none()
    {
        status = ExitStatus::Unusable;
    }
    if is_stopped() {
        output.error(&format_args!(
            "stopped after {}; every file is complete; run the same command again to do the rest",
            count(done, "file", "files")
        ));
        return Ok(ExitStatus::Stopped);
    }
    Ok(status.max(totals.skipped.status()))
}

/// Applies a move in place.
fn commit_move(staged: &StagedMove, output: &mut Output) -> ExitStatus {
    match staged.commit(is_stopped) {
        Ok(true) => ExitStatus::Done,
        Ok(false) => {
            output.error(&"stopped by a signal; nothing was moved");
            ExitStatus::Stopped
        }
        Err(error) => {
            output.error(&error);
            ExitStatus::Unusable
        }
    }
}

/// The outcome of a file.
enum FileOutcome {
    Rewritten(Box<RewrittenFile>),
    /// A file that is not a document, for this reason, and the place of its copy, if it was copied.
    Other {
        why: SkipReason,
        to: Option<PathBuf>,
        leftovers: Leftovers,
    },
    Skipped(SkipReason),
}

/// A document that was rewritten.
struct RewrittenFile {
    format: Format,
    summary: FileSummary,
    written: Written,
}

fn rewrite_file(
    request: &Rewrite,
    kind: &RewriteKind,
    target: &RunTarget<'_>,
    origin: &Origin,
    output: &mut Output,
) -> FileResult<FileOutcome> {
    Ok(FileOutcome::Skipped(match files::skip_reason(origin)? {
        Some(SkipReason::Folder) => {
            target.create_folder(origin)?;
            SkipReason::Folder
        }
        Some(why) => why,
        None if origin.is_backup(request.suffix.as_ref()) => SkipReason::Backup,
        None if target.replaces_inputs() && is_earlier_backup(origin) => SkipReason::Backup,
        None if target.replaces_inputs() && is_delivery(origin) => SkipReason::Delivery,
        None => return open_and_rewrite(request, kind, target, origin, output),
    }))
}

fn is_earlier_backup(origin: &Origin) -> bool {
    !origin.is_named() && is_usual_backup(origin.path())
}

/// True if the file was found among messages that are being delivered to a Maildir.
fn is_delivery(origin: &Origin) -> bool {
    !origin.is_named() && maildir::is_delivery(origin.path())
}

/// Opens and rewrites a file.
fn open_and_rewrite(
    request: &Rewrite,
    kind: &RewriteKind,
    target: &RunTarget<'_>,
    origin: &Origin,
    output: &mut Output,
) -> FileResult<FileOutcome> {
    let mut sink = target.begin(origin)?;
    let file = match File::open(origin, &request.documents, sink.original())? {
        OpenedInput::Document(file) => file,
        OpenedInput::NonDocument(other) => return copy_or_skip(other, kind, origin, sink, output),
    };
    if let (Contents::Document(bytes), options) = (&file.contents, &file.options)
        && options.scan.is_probed(file.format)
        && !kind.finds_link(bytes, &kind.options(origin, bytes, options))
    {
        return copy_or_skip(file.into_other(), kind, origin, sink, output);
    }
    let format = file.format;
    if target.replaces_inputs() && file.is_mailbox_read_as_one() {
        let why = "several messages would be read as one document; use --format mbox";
        return Err(Error::file(origin.path(), why).into());
    }
    output.report_opened(&file);
    sink.set_metadata(file.metadata.as_ref());
    let refused = match (&request.destination, origin) {
        (WrittenTo::Path { .. }, Origin::Standard) => {
            Some("an archive is read twice; save it to a file and name the file")
        }
        (WrittenTo::Path { .. }, _) => {
            Some("an archive cannot be mixed with other files; name only archives")
        }
        (WrittenTo::Standard, _) => Some(
            "the documents of an archive become files; use -o DIR, or preview with --diff or --dry-run",
        ),
        (WrittenTo::InPlace(_) | WrittenTo::Diff | WrittenTo::Nowhere, _) => None,
    };
    if let Some(why) = refused.filter(|_| format.is_archive()) {
        return Err(Error::file(origin.path(), why).into());
    }
    let mut summary = FileSummary::default();
    let work = |input: &Input<'_>, options: &Options, output: &mut Output| {
        let mut of_document = FileSummary::default();
        let options = kind.options(origin, input.bytes, options);
        let rewritten =
            rewrite_document((request, kind), input, &options, &mut of_document, output);
        of_document.leftovers = kind.left_in_document(origin, input.bytes, &rewritten.edits);
        Ok((of_document, rewritten))
    };
    source::each(
        file,
        output,
        work,
        |(of_document, rewritten), input, buffer, output| {
            output.append(buffer)?;
            summary.merge(of_document);
            write_document(&rewritten, input, &mut sink, output)
        },
    )?;
    let written = sink.end()?;
    Ok(FileOutcome::Rewritten(Box::new(RewrittenFile {
        format,
        summary,
        written,
    })))
}

/// Copies a file that is not a document to the output folder, or skips it if there is none. Skipping a named file is
/// an error.
fn copy_or_skip(
    mut file: NonDocument,
    kind: &RewriteKind,
    origin: &Origin,
    sink: FileSink<'_>,
    output: &mut Output,
) -> FileResult<FileOutcome> {
    let path = origin.path();
    if let (Origin::Standard, FileSink::Standard) = (origin, &sink) {
        // A filter passes on input that it cannot use: there may be no other copy.
        file.copy_to(path, output.out())?;
        return Err(file.error(path).into());
    }
    if origin.is_named() && file.remark().is_some() {
        return Err(file.error(path).into());
    }
    output.report_non_document(file.remark());
    let why = SkipReason::of(&file);
    let leftovers = kind.left_in_other(origin, &mut file)?;
    let to = match sink.copy().transpose()? {
        Some(copied) => {
            for lost in copied.lost {
                output.caution(&format_args!("{}: {lost}", name(path)));
            }
            Some(copied.path)
        }
        None if origin.is_named() => return Err(file.error(path).into()),
        None => None,
    };
    Ok(FileOutcome::Other { why, to, leftovers })
}

/// Reports the result of a file.
fn report_file(
    request: &Rewrite,
    kind: &RewriteKind,
    (origin, buffer, outcome): FinishedFile<FileOutcome>,
    totals: &mut RunSummary,
    output: &mut Output,
) -> io::Result<ExitStatus> {
    output.append(buffer)?;
    let path = origin.path();
    let json = |format, to: Option<PathBuf>, summary: &FileSummary, output: &mut Output| {
        if !request.json {
            return Ok(());
        }
        let to = to.as_deref().map(|to| to.to_string_lossy());
        let counts = LinkCountsRecord {
            link_counts: &summary.link_counts,
            results: kind.results(),
        };
        output.json(&json_records::FileRecord::of(
            path,
            format,
            to,
            counts,
            &summary.diagnostics,
        ))
    };
    let document = match outcome {
        FileOutcome::Rewritten(document) => document,
        FileOutcome::Other { why, to, leftovers } => {
            let others = if to.is_some() {
                &mut totals.copied
            } else {
                &mut totals.skipped
            };
            others.add(why, 1);
            totals.list(&origin, leftovers, false);
            json(Format::Other, to, &FileSummary::default(), output)?;
            return Ok(ExitStatus::Done);
        }
        FileOutcome::Skipped(why) => {
            totals.skipped.add(why, 1);
            return Ok(ExitStatus::Done);
        }
    };
    let RewrittenFile {
        format,
        summary,
        written,
    } = *document;
    let is_written = !matches!(written, Written::Nowhere);
    let committed = match written {
        Written::To(committed) => Some(committed),
        Written::Already | Written::Nowhere => None,
    };
    let status = summary.status;
    for lost in committed.iter().flat_map(|committed| &committed.lost) {
        output.caution(&format_args!("{}: {lost}", name(path)));
    }
    output.flush()?;
    let to = committed.map(|committed| committed.path);
    let leaves_copies = to
        .as_deref()
        .is_some_and(|to| leaves_copies(request, &origin, to, &summary));
    json(format, to, &summary, output)?;
    summary.report(path, format, is_written, output);
    if leaves_copies {
        summary.report_local_copies(path, output);
        totals.without_copies += 1;
    }
    let is_message = format.has_headings();
    if is_message && request.documents.reading.options.fragments.is_none() {
        summary.report_fragments(path, output);
    }
    let origins = &request.documents.reading.origins;
    let is_copy = matches!(
        &origin,
        Origin::Entry(entry) if origins.keeps_local_copies && origins.companions.has(&entry.path)
    );
    totals.list(&origin, summary.leftovers, is_copy && summary.lacks_base());
    totals.add(format, summary, is_copy);
    Ok(status)
}

/// True if a file was written `to` a place that lacks the files that a browser saved with it.
fn leaves_copies(request: &Rewrite, origin: &Origin, to: &Path, summary: &FileSummary) -> bool {
    let (WrittenTo::Path { .. }, Origin::Entry(entry)) = (&request.destination, origin) else {
        return false;
    };
    let takes_all = request.documents.selection.include.is_empty();
    let are_copied = !origin.is_named() && (takes_all || request.documents.parts.len() > 1);
    summary.link_counts.local_copies() > 0 && !are_copied && to.parent() != entry.path.parent()
}
