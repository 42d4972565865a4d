//! One document, or one message of a mailbox: rewritten, reported, proved with `--verify`, and written.
//!
//! ```text
//! page.html, --verify   -->   Some(edits)   -->   the result
//! ```
//!
//! Deliberately absent: where the results go ([`crate::cli::results`]).

use std::{io, mem::take, sync::Arc};

use baselink_rewrite::{LinkReport, Options};
use baselink_text::{Edits, Format};
use baselink_verify::verify;

use super::summary::{FileSummary, adapted_text};
use baselink_files::results::{ResultFile, ResultPart, Results};

use crate::cli::{
    diff::{self, DiffProgress},
    output::{Output, is_left, report_strict},
    results::RewriteRun,
    status::{ExitStatus, FileResult},
};
use baselink_site::{
    archive::message::THIS_MESSAGE,
    purpose::{
        rewriting::{DocumentLinks, RewriteKind},
        tally::{Adaptation, Counted},
    },
    reading::{FilePlaces, Input},
};

impl RewriteRun<'_> {
    /// Rewrites `input`, reports its diagnostics, and adds its results to `summary`. Returns the edits, unless `--verify` failed.
    pub fn rewrite_document(
        self,
        input: &Input<'_>,
        options: &Options,
        summary: &mut FileSummary,
        output: &mut Output,
    ) -> Option<Edits> {
        let Self { request, kind, .. } = self;
        if !self.needs_report(output) {
            let (edits, totals) = baselink_rewrite::edits(input.bytes, options);
            let places = FilePlaces::of(input, totals.charset);
            output.report_diagnostics(&places, &totals.diagnostics);
            summary.add_diagnostics(request, &totals.diagnostics, &places);
            summary.add(&totals, DocumentLinks::default(), kind);
            summary.hints.add(input, &totals);
            return Some(edits);
        }
        let is_verbose = output.is_verbose();
        let add = |links: &mut DocumentLinks, link: LinkReport| {
            links.add(&link, 1, &kind.results());
            if request.changes.verify || is_verbose && is_left(&link) {
                links.listed.push(link);
            }
        };
        let (mut rewritten, mut links) = kind.rewrite(input.bytes, options, add);
        for (link, later) in take(&mut rewritten.totals.lacking) {
            links.add(&link, later, &kind.results());
        }
        let url = input
            .name
            .entry
            .and(options.retrieval.as_ref())
            .map(|retrieval| retrieval.url.clone())
            .filter(|url| !url.starts_with(THIS_MESSAGE));
        let place: Arc<str> = url.unwrap_or_else(|| input.name.to_string()).into();
        for missing in links.missing.values_mut() {
            missing.place = Some(Arc::clone(&place));
        }
        rewritten.report.links = take(&mut links.listed);
        let report = &rewritten.report;
        let places = FilePlaces::of(input, rewritten.totals.charset);
        output.report_diagnostics(&places, &report.diagnostics);
        // For `move`, `--verbose` reports no bases.
        if !matches!(kind, RewriteKind::Moved(..)) {
            output.report_bases(input, &places, report);
        }
        output.report_links_left(&places, &report.links);
        if request.strict {
            let done = match kind {
                RewriteKind::Absolute => "made absolute",
                RewriteKind::Local { .. } => "made local or absolute",
                RewriteKind::Moved(..) => "moved",
            };
            let status = report_strict(&links.strict, &places, done, output);
            summary.status = summary.status.max(status);
        }
        let differences = if request.changes.verify {
            verify(&rewritten).err().unwrap_or_default().messages
        } else {
            Vec::new()
        };
        for difference in &differences {
            let place = match input.entity() {
                "" => input.name.to_string(),
                number => format!("{}: message {number}", input.name),
            };
            output.error(format_args!("{place}: --verify: {difference}"));
        }
        let is_proved = differences.is_empty();
        if !is_proved {
            summary.status = summary.status.max(ExitStatus::NotHeld);
        } else if request.changes.verify {
            let edits = rewritten.edits.len();
            summary.tally.add(Counted::Verified, 1_usize);
            summary.tally.add(Counted::VerifiedEdit, edits);
        }
        summary.add_diagnostics(request, &report.diagnostics, &places);
        let outdated = take(&mut links.outdated_integrity);
        summary.add(&rewritten.totals, links, kind);
        if let RewriteKind::Moved(relocation, _) = kind {
            let what = if relocation.adapts {
                rewritten.edits.merge(outdated.iter());
                Counted::Adapted(Adaptation::Integrity)
            } else {
                Counted::OutdatedIntegrity
            };
            summary.tally.add(what, outdated.len());
        }
        let adapted = kind.adapt(input.bytes, &mut rewritten, options);
        summary.tally.merge(&adapted);
        if let Some(adapted) = adapted_text(&summary.tally).filter(|_| output.is_verbose()) {
            output.notice(format_args!("{}: adapted: {adapted}", input.name));
        }
        summary.hints.add(input, &rewritten.totals);
        is_proved.then_some(rewritten.edits)
    }

    /// True if an option needs a report of each link.
    fn needs_report(self, output: &Output) -> bool {
        let is_absolute = matches!(self.kind, RewriteKind::Absolute);
        self.request.changes.verify || self.request.strict || output.is_verbose() || !is_absolute
    }
}

/// Writes `input` with these edits to `file`, and prints a diff if it has a progress. The result of a file with a document that
/// failed `--verify` is withheld. On standard output, earlier messages of a mailbox are already written, so the message is
/// copied unchanged instead.
pub fn write_document(
    edits: Option<&Edits>,
    input: &Input<'_>,
    (file, diff): (&mut ResultFile<'_>, &mut Option<DiffProgress>),
    output: &mut Output,
) -> FileResult<()> {
    if let Some(progress) = diff {
        if input.name.entry.is_some() {
            // Each document of an archive has line numbers of its own.
            *progress = DiffProgress::default();
        }
        if let Some(edits) = edits {
            diff::print(input, edits, progress, output)?;
        }
        return Ok(());
    }
    let (unchanged, is_printed) = (Edits::default(), matches!(file.to, Results::Writer));
    let unchanged = Some(&unchanged).filter(|_| is_printed && input.format.holds_many());
    let Some(edits) = edits.or(unchanged) else {
        file.withhold();
        return Ok(());
    };
    let write = |out: &mut dyn io::Write| {
        out.write_all(input.before)?;
        edits.write_to(input.bytes, &mut &mut *out)?;
        out.write_all(input.after)
    };
    if is_printed {
        return Ok(write(output.out())?);
    }
    let part = ResultPart {
        offset: (input.offset - input.before.len()) as u64,
        is_changed: !edits.is_empty(),
        is_of_mailbox: input.format == Format::Mbox,
    };
    if let Some(new) = file.begun(&part, write)? {
        new.write(write)?;
    }
    Ok(())
}
