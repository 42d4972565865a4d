//! The documents of an archive, rewritten to preview the changes.
//!
//! ```text
//! rewrite --diff crawl.warc.gz  -->  the changed lines of each document
//! ```
//!
//! Deliberately absent: reading archives ([`crate::cli::archive`]), and writing files ([`super::archives`]).

use super::document::rewrite_document;
use super::kind::RewriteKind;
use super::summary::FileSummary;
use super::target::FileSink;
use crate::cli::archive;
use crate::cli::archived::Archived;
use crate::cli::diff::DiffProgress;
use crate::cli::failure::FileResult;
use crate::cli::input::{Archive, Input};
use crate::cli::output::Output;
use crate::cli::request::{Origin, Rewrite};

/// Rewrites the documents of `archive` on several threads.
pub(super) fn rewrite(
    (request, kind): (&Rewrite, &RewriteKind),
    origin: &Origin,
    archive: Archive<'_>,
    sink: &mut FileSink<'_>,
    output: &mut Output,
) -> FileResult<FileSummary> {
    let work_on = |input: &Input<'_>, archived: &Archived, output: &mut Output| {
        let mut summary = FileSummary::default();
        let options = kind.options(origin, input.bytes, &archived.options);
        let rewritten = rewrite_document((request, kind), input, &options, &mut summary, output);
        Ok((summary, rewritten))
    };
    let mut summary = FileSummary::default();
    archive::each(
        archive,
        output,
        work_on,
        |(of_document, rewritten), (input, _), output| {
            summary.merge(of_document);
            match sink {
                FileSink::Diff(progress) if rewritten.is_proved => {
                    // Each document has line numbers of its own.
                    *progress = DiffProgress::default();
                    sink.write(input, &rewritten.edits, output)
                }
                _ => Ok(()),
            }
        },
    )?;
    Ok(summary)
}
