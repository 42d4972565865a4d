//! `baselink links`: every link, and its result in `rewrite`.
//!
//! ```text
//! $ baselink links --url http://a/b/page.html page.html
//! page.html:1:10  rewritten  a[href]   ../x.html -> http://a/x.html
//! page.html:2:10  left       img[src]  {{ logo }}  (placeholder)
//! ```
//!
//! With `--only-targets`, a line is only the target.
//!
//! Deliberately absent: a total for each file. The last line has the total of all files.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use anstyle::Style;
use baselink::error::visible;
use baselink::{ListedLink, Options, Outcome, Rewritten, Totals, rewrite};

use super::archive;
use super::archived::Archived;
use super::document_name::DocumentName;
use super::failure::FileResult;
use super::files::{after, each_document};
use super::hint::Hints;
use super::input::{Contents, File, Input};
use super::output::{FAINT, Output, PLACE, Strict, location, said, shown, style_of};
use super::places::FilePlaces;
use super::record;
use super::request::{LinksForm, ListLinks, Origin};
use super::results::Results;
use super::status::ExitStatus;
use super::tally::{LinkResult, Tally};

/// Lists the links of the documents of a request.
pub(crate) fn run(asked: &ListLinks, output: &mut Output) -> FileResult<ExitStatus> {
    let documents = &asked.documents;
    let (mut tally, mut hints) = (Tally::default(), Hints::default());
    let results = |to| Results::new(to, extension(asked), documents, output);
    let results = asked.output.as_ref().map(results).transpose()?;
    let kept = AtomicUsize::new(0);
    let work = |origin: &Origin, file: File<'_>, output: &mut Output| {
        let Some(results) = &results else { return one(asked, file, output) };
        let made = results.of(origin, output, |output| one(asked, file, output));
        Ok(match said(made, output)? {
            Some(Some(made)) => made,
            Some(None) => {
                kept.fetch_add(1, Ordering::Relaxed);
                (ExitStatus::Done, Default::default())
            }
            None => (ExitStatus::Unusable, Default::default()),
        })
    };
    let read = each_document(documents, output, work, |_, (listed, helps)| {
        tally.merge(&listed);
        hints.merge(helps);
    })?;
    match read.documents {
        0 => {}
        1 => output.notice(&tally),
        files => output.notice(&format_args!("{files} files, {tally}")),
    }
    match &hints.url {
        Some(hint) if read.documents == 1 => {
            output.notice(&format_args!(
                "no base URL for {} of the links; {hint}",
                tally.count(LinkResult::NoBase)
            ));
            hints.say_scheme(output);
        }
        _ => hints.say(output),
    }
    output.notice_of(kept.into_inner(), ["result is", "results are"], "up to date; skipped");
    Ok(read.end(documents, output))
}

/// The extension of result files.
fn extension(asked: &ListLinks) -> &'static str {
    match asked.form {
        LinksForm::Text => ".txt",
        LinksForm::Json => ".jsonl",
        LinksForm::Target => ".urls",
    }
}

/// Lists the links of a file.
fn one(
    asked: &ListLinks,
    file: File<'_>,
    output: &mut Output,
) -> io::Result<(ExitStatus, (Tally, Hints))> {
    let (mut tally, mut hints) = (Tally::default(), Hints::default());
    let mut status = ExitStatus::Done;
    let mut add = |(totals, held): &(Totals, ExitStatus)| {
        status = status.max(*held);
        tally.add_totals(totals);
    };
    let read = match file.contents {
        Contents::Archive(archive) => {
            let work = |input: &Input<'_>, archived: &Archived, output: &mut Output| {
                LinkListing::of(asked).document(input, &archived.options, output)
            };
            let read = archive::each(archive, output, work, |listed, _, _| {
                add(&listed);
                Ok(())
            });
            read.map(drop)
        }
        contents => {
            let mut listing = LinkListing::of(asked);
            File { contents, ..file }.each(|input, options| {
                let listed = listing.document(input, options, output)?;
                add(&listed);
                hints.add(input, options, &listed.0);
                Ok(())
            })
        }
    };
    Ok((after(read, status, output)?, (tally, hints)))
}

/// The number of rows from which the widths of columns are computed.
const AHEAD: usize = 1_000;

/// The largest width of a column before the reference: a longer value shifts only its own row.
const WIDEST: usize = 40;

/// Prints links as they are found.
struct LinkListing<'a> {
    asked: &'a ListLinks,
    /// True if links of the file were printed.
    is_listed: bool,
    strict: Strict,
}

impl<'a> LinkListing<'a> {
    fn of(asked: &'a ListLinks) -> Self {
        Self { asked, is_listed: false, strict: Strict::default() }
    }

    /// Lists the links of a document.
    fn document(
        &mut self,
        input: &Input<'_>,
        options: &Options,
        output: &mut Output,
    ) -> io::Result<(Totals, ExitStatus)> {
        if output.is_verbose() {
            let Rewritten { report, totals, .. } = rewrite(input.bytes, options);
            let places = FilePlaces::of(input, &totals);
            output.bases(input, &places, &report);
            output.links_left(&places, &report);
        }
        let name = input.name;
        let mut printed = Ok(());
        let mut table =
            Table { name, grammar: self.asked.grammar, widths: None, waiting: Vec::new() };
        let totals = baselink::links(input.bytes, options, &mut |mut found| {
            found.line += input.lines;
            if self.asked.strict {
                self.strict.add(&found.link, || at(name, &found));
            }
            if printed.is_ok() {
                printed = self.print(&mut table, input.offset, found, output);
            }
        });
        printed.and_then(|()| table.flush(output))?;
        output.diagnostics(&FilePlaces::of(input, &totals), &totals.diagnostics);
        Ok((totals, std::mem::take(&mut self.strict).say("made absolute", output)))
    }

    fn print(
        &mut self,
        table: &mut Table<'_>,
        offset: usize,
        found: ListedLink,
        output: &mut Output,
    ) -> io::Result<()> {
        let ListedLink { link, line, column } = &found;
        match (self.asked.form, &link.target) {
            (LinksForm::Json, _) => {
                let place = (*line, *column);
                output.json(&record::LinkRecord::of(table.name, place, offset, link, table.grammar))
            }
            (LinksForm::Target, None) => Ok(()),
            // Control characters are escaped, so that a URL stays on one line.
            (LinksForm::Target, Some(target)) => writeln!(output.out(), "{}", visible(target)),
            (LinksForm::Text, _) => {
                // An empty line separates files.
                if !std::mem::replace(&mut self.is_listed, true) {
                    output.gap()?;
                }
                table.add(found, output)
            }
        }
    }
}

/// `path:line:column`.
fn at(name: DocumentName<'_>, ListedLink { line, column, .. }: &ListedLink) -> String {
    format!("{name}:{line}:{column}")
}

/// A table with aligned columns.
struct Table<'a> {
    name: DocumentName<'a>,
    grammar: bool,
    /// The widths of the columns, once enough rows are known.
    widths: Option<[usize; 3]>,
    waiting: Vec<ListedLink>,
}

impl Table<'_> {
    fn add(&mut self, found: ListedLink, output: &mut Output) -> io::Result<()> {
        if let Some(widths) = self.widths {
            return self.row(&found, widths, output);
        }
        self.waiting.push(found);
        if self.waiting.len() == AHEAD { self.flush(output) } else { Ok(()) }
    }

    fn columns(&self, found: &ListedLink) -> [String; 3] {
        let link = &found.link;
        [at(self.name, found), link.outcome.name().into(), location(link)]
    }

    /// Computes the widths, and prints the waiting rows.
    fn flush(&mut self, output: &mut Output) -> io::Result<()> {
        let mut widths = [0; 3];
        for found in &self.waiting {
            for (width, column) in widths.iter_mut().zip(self.columns(found)) {
                *width = column.chars().count().clamp(*width, WIDEST.max(*width));
            }
        }
        // Columns that take more than half of the terminal are not aligned.
        if output.width().is_some_and(|room| widths.iter().sum::<usize>() > room / 2) {
            widths = [0; 3];
        }
        self.widths = Some(widths);
        let waiting = std::mem::take(&mut self.waiting);
        waiting.iter().try_for_each(|found| self.row(found, widths, output))
    }

    fn row(&self, found: &ListedLink, widths: [usize; 3], output: &mut Output) -> io::Result<()> {
        let (ink, link) = (output.ink, &found.link);
        let styles = [PLACE, style_of(link.outcome), Style::new()];
        for ((column, width), style) in self.columns(found).iter().zip(widths).zip(styles) {
            let gap = width.saturating_sub(column.chars().count()) + 2;
            write!(output.out(), "{}{:gap$}", ink.paint(style, column), "")?;
        }
        write!(output.out(), "{}", shown(&link.reference))?;
        if let Some(target) = link.target.as_deref().filter(|_| link.outcome != Outcome::Absolute) {
            write!(output.out(), " {} {}", ink.paint(FAINT, "->"), visible(target))?;
        }
        if let Some(reason) = link.reason {
            write!(output.out(), "  ({})", reason.name())?;
        }
        if self.grammar {
            let verdict = baselink::reference::conformance(&link.reference);
            let violation = verdict.violation.map(|violation| format!(": {violation}"));
            let category = verdict.category.name();
            let verdict = format!("[{category}{}]", visible(&violation.unwrap_or_default()));
            write!(output.out(), "  {}", ink.paint(FAINT, verdict))?;
        }
        writeln!(output.out())
    }
}
