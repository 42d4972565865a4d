//! `baselink links`: every link, and its result in `rewrite`.
//!
//! ```text
//! $ baselink links --url http://a/b/page.html page.html
//! page.html:1:10  rewritten  a[href]   ../x.html -> http://a/x.html
//! page.html:2:11  left       img[src]  {{ logo }}  (placeholder)
//! ```
//!
//! With `--only-targets`, each line is only a target.
//!
//! Deliberately absent: a total for each file. The total of all files is printed at the end.

use std::{
    io::{self, Write},
    mem,
    path::{Path, PathBuf},
};

use anstyle::Style;
use baselink_rewrite::{
    FileRewrite, LinkLines, LinkReport, LinkSink, ListedLink, Outcome, PlainLink, Totals, Within,
    links_to, rewrite_each,
};
use baselink_text::{Charset, Error, visible};
use clap::{Args, ValueHint};

use super::{
    args::help::LINKS_AFTER,
    base_hints::{BaseHints, report_scheme},
    files::{each_document, status_after},
    json_records,
    link_counts::links_in_words,
    output::{
        FAINT, Output, is_left, location, ok_or_report, report_strict, style_of, visible_reference,
    },
    request::{Documents, Policy},
    results::folder_for,
    status::{ExitStatus, FileResult},
};
use baselink_files::{result_folder::ResultFolder, results::nameless, walk::TreeEntry};
use baselink_site::{
    purpose::{
        link_result::LinkResult,
        rewriting::StrictViolations,
        tally::{Counted, Tally},
    },
    reading::{File, FilePlaces, Input, Listener},
};

/// The request of `baselink links`.
#[derive(Args)]
#[command(next_help_heading = "What to report", after_help = LINKS_AFTER)]
pub struct ListLinks {
    /// Exit with 1 if a relative link cannot be made absolute
    ///
    /// Links that are left for one of these reasons are accepted: id-reference, empty, placeholder, fragment,
    /// base-element, local-copy, dkim.
    #[arg(long)]
    pub strict: bool,
    /// Report whether each reference conforms to the grammar of RFC 1808, and where it violates the grammar
    #[arg(long)]
    pub grammar: bool,
    /// Print only the targets, one absolute URL per line; links without a target are omitted
    #[arg(long, conflicts_with_all = ["json", "grammar"])]
    only_targets: bool,
    /// Print a JSON object for each link
    #[arg(long)]
    json: bool,
    /// Write the links of each file to a file of its own in this folder
    ///
    /// Each result is named after its file, with .jsonl, .urls or .txt added, and is written whole or not at all.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    /// Report how each base was found, and which links were not made absolute
    #[arg(short, long, overrides_with = "verbose")]
    verbose: bool,
    #[command(flatten)]
    pub documents: Documents,
    #[command(flatten)]
    policy: Policy,
}

impl ListLinks {
    /// Computes the options for reading.
    pub fn complete(&mut self) {
        let documents = &mut self.documents;
        documents.has_result_files = self.output.is_some();
        self.policy.apply(&mut documents.reading.options);
    }

    pub fn form(&self) -> LinksForm {
        match (self.json, self.only_targets) {
            (true, _) => LinksForm::Json,
            (_, true) => LinksForm::Target,
            _ => LinksForm::Text,
        }
    }
}

/// The form in which `baselink links` prints a link.
#[derive(PartialEq, Eq)]
pub enum LinksForm {
    /// The place and the outcome.
    Text,
    /// A JSON object.
    Json,
    /// The target.
    Target,
}

/// Lists the links of the documents of a request.
pub fn run(request: &ListLinks, output: &mut Output) -> FileResult<ExitStatus> {
    let documents = &request.documents;
    let (mut tally, mut hints) = (Tally::default(), BaseHints::default());
    let results = request.output.as_deref();
    let results = results.map(|to| folder_for(to, documents)).transpose()?;
    let work = |entry: &TreeEntry, file: File<'_>, output: &mut Output| {
        let Some(results) = &results else {
            return list_file(request, file, output);
        };
        let result = write_result(request, (entry, file), results, output);
        Ok(match ok_or_report(result, output)? {
            Some(listed) => listed,
            None => (ExitStatus::Unusable, Default::default()),
        })
    };
    let read = each_document(documents, output, work, |_, (listed, helps)| {
        tally.merge(&listed);
        hints.merge(helps);
    })?;
    match read.tally[Counted::File] {
        0 => {}
        1 => output.notice(links_in_words(&tally)),
        files => output.notice(format_args!("{files} files, {}", links_in_words(&tally))),
    }
    match hints.url() {
        Some(hint) if read.tally[Counted::File] == 1 => {
            output.notice(format_args!(
                "no base URL for {} of the links; {hint}",
                tally.of_result(LinkResult::NoBase)
            ));
            report_scheme(hints.without_scheme, output);
        }
        _ => hints.report(output),
    }
    Ok(read.end(documents, output))
}

/// A listed file: the status, and what was counted in it.
type ListedFile = (ExitStatus, (Tally, BaseHints));

/// Writes the list of a file to a file of its own, unless it could not be read to its end. The result is written whole or not
/// at all.
fn write_result(
    request: &ListLinks,
    (entry, file): (&TreeEntry, File<'_>),
    results: &ResultFolder,
    output: &mut Output,
) -> FileResult<ListedFile> {
    if entry.is_standard_input() {
        return Err(nameless().into());
    }
    let mut to = results.place(entry, None)?.into_os_string();
    to.push(match request.form() {
        LinksForm::Text => ".txt",
        LinksForm::Json => ".jsonl",
        LinksForm::Target => ".urls",
    });
    let mut of_file = output.with_file(results.begin_new(&entry.path, Path::new(&to))?);
    let listed = list_file(request, file, &mut of_file);
    let file = of_file.file.take();
    output.append(of_file)?;
    // Dropping the file removes an incomplete result.
    let written = listed.and_then(|listed| {
        if let Some(file) = file.filter(|_| listed.0 != ExitStatus::Unusable) {
            file.commit().map_err(io::Error::other)?;
        }
        Ok(listed)
    });
    let of_file = |error: io::Error| error.downcast().unwrap_or_else(Error::io(&entry.path));
    written.map_err(|error| of_file(error).into())
}

/// Lists the links of a file.
fn list_file(request: &ListLinks, file: File<'_>, output: &mut Output) -> io::Result<ListedFile> {
    let (mut tally, mut hints) = (Tally::default(), BaseHints::default());
    let (mut status, mut is_listed) = (ExitStatus::Done, false);
    let work = |input: &Input<'_>, output: &mut Output| {
        let (totals, of_document) = list_document(request, input, output)?;
        let mut helps = BaseHints::default();
        helps.add(input, &totals);
        let decoded = totals.decoded;
        Ok(((totals, of_document, helps), decoded))
    };
    let read = file.each(output, work, |listed, input, buffer, output| {
        let (totals, of_document, helps) = listed;
        let has_rows = request.form() == LinksForm::Text && totals.links() > 0;
        // The messages of a mailbox are one listing.
        if has_rows && input.is_message() && !mem::replace(&mut is_listed, true) {
            output.blank_line()?;
        }
        status = status.max(of_document);
        tally.add_totals(&totals);
        hints.merge(helps);
        Ok(output.append(buffer)?)
    });
    let status = status.max(status_after(read, output)?);
    Ok((status, (tally, hints)))
}

/// The number of rows from which the widths of columns are computed.
const AHEAD: usize = 1_000;

/// The largest width of a column before the reference: a longer value shifts only its own row.
const WIDEST: usize = 40;

/// Lists the links of a document, as they are found.
fn list_document(
    request: &ListLinks,
    input: &Input<'_>,
    output: &mut Output,
) -> io::Result<(Totals, ExitStatus)> {
    if output.is_verbose() {
        let mut left = Vec::new();
        let keep = &mut |link| left.extend(Some(link).filter(is_left));
        let FileRewrite { report, totals, .. } = rewrite_each(input.bytes, input.options, keep);
        let places = FilePlaces::of(input, totals.charset);
        output.report_bases(input, &places, &report);
        output.report_links_left(&places, &left);
    }
    let mut list = LinkList {
        request,
        input,
        output: &mut *output,
        lines: LinkLines::of(input.bytes),
        printed: Ok(()),
        strict: StrictViolations::default(),
        widths: None,
        waiting: Vec::new(),
    };
    let totals = links_to(input.bytes, input.options, &mut list);
    mem::replace(&mut list.printed, Ok(())).and_then(|()| list.flush())?;
    let strict = list.strict;
    let places = FilePlaces::of(input, totals.charset);
    output.report_diagnostics(&places, &totals.diagnostics);
    let status = report_strict(&strict, &places, "made absolute", output);
    Ok((totals, status))
}

/// Prints the links of a document: as a table with aligned columns, unless another form is asked for.
struct LinkList<'a, 'o> {
    request: &'a ListLinks,
    input: &'a Input<'a>,
    output: &'o mut Output,
    lines: LinkLines<'a>,
    printed: io::Result<()>,
    strict: StrictViolations,
    /// The widths of the columns, once enough rows are known.
    widths: Option<[usize; 3]>,
    waiting: Vec<ListedLink>,
}

impl LinkSink for LinkList<'_, '_> {
    fn plain(&mut self, link: &PlainLink<'_>, _: Within<'_>) -> bool {
        let needs_target = self.request.form() == LinksForm::Target;
        if needs_target && self.printed.is_ok() {
            self.printed = self.print_target(&link.url());
        }
        needs_target
    }

    fn link(&mut self, link: LinkReport, _: Within<'_>, outermost: Charset) {
        if self.request.strict {
            self.strict.add(&link);
        }
        if self.printed.is_ok() {
            self.printed = self.print(link, outermost);
        }
    }
}

impl LinkList<'_, '_> {
    fn print_target(&mut self, target: &str) -> io::Result<()> {
        // Control characters are escaped, so that a URL stays on one line.
        writeln!(self.output.out(), "{}", visible(target))
    }

    fn print(&mut self, link: LinkReport, outermost: Charset) -> io::Result<()> {
        if self.request.form() == LinksForm::Target {
            let target = link.target.as_deref();
            return target.map_or(Ok(()), |target| self.print_target(target));
        }
        let mut found = self.lines.listed(link, outermost);
        found.line += self.input.lines;
        match self.request.form() {
            LinksForm::Json => self.output.json(&json_records::LinkRecord::of(
                self.input.name,
                self.input.offset,
                &found,
                self.request.grammar,
            )),
            _ => self.add(found),
        }
    }

    fn add(&mut self, found: ListedLink) -> io::Result<()> {
        // An empty line separates documents other than the messages of a mailbox.
        if !self.input.is_message() && self.waiting.is_empty() && self.widths.is_none() {
            self.output.blank_line()?;
        }
        if let Some(widths) = self.widths {
            return self.print_row(&found, widths);
        }
        self.waiting.push(found);
        if self.waiting.len() == AHEAD {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn columns(&self, found: &ListedLink) -> [String; 3] {
        let ListedLink { link, line, column } = found;
        [
            format!("{}:{line}:{column}", self.input.name),
            link.outcome.name().into(),
            location(link),
        ]
    }

    /// Computes the widths, and prints the waiting rows.
    fn flush(&mut self) -> io::Result<()> {
        let mut widths = [0; 3];
        for found in &self.waiting {
            for (width, column) in widths.iter_mut().zip(self.columns(found)) {
                *width = column.chars().count().clamp(*width, WIDEST.max(*width));
            }
        }
        // Columns that take more than half of the terminal are not aligned.
        if self
            .output
            .width()
            .is_some_and(|room| widths.iter().sum::<usize>() > room / 2)
        {
            widths = [0; 3];
        }
        self.widths = Some(widths);
        mem::take(&mut self.waiting)
            .iter()
            .try_for_each(|found| self.print_row(found, widths))
    }

    fn print_row(&mut self, found: &ListedLink, widths: [usize; 3]) -> io::Result<()> {
        let columns = self.columns(found);
        let (styler, link) = (self.output.styler, &found.link);
        let out = &mut self.output.lines();
        let styles = [FAINT, style_of(link.outcome), Style::new()];
        for ((column, width), style) in columns.iter().zip(widths).zip(styles) {
            let gap = width.saturating_sub(column.chars().count()) + 2;
            write!(out, "{}{:gap$}", styler.paint(style, column), "")?;
        }
        write!(out, "{}", visible_reference(&link.reference))?;
        if let Some(target) = link
            .target
            .as_deref()
            .filter(|_| link.outcome != Outcome::Absolute)
        {
            write!(out, " {} {}", styler.paint(FAINT, "->"), visible(target))?;
        }
        if let Some(reason) = link.reason {
            write!(out, "  ({})", reason.name())?;
        }
        if self.request.grammar {
            let verdict = baselink_url::reference::conformance(&link.reference);
            let violation = verdict
                .violation
                .map(|violation| format!(": {}", violation.message));
            let category = verdict.category.name();
            let verdict = format!("[{category}{}]", visible(&violation.unwrap_or_default()));
            write!(out, "  {}", styler.paint(FAINT, verdict))?;
        }
        writeln!(out)
    }
}
