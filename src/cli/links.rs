//! `baselink links`: every link, and what `rewrite` makes of it.
//!
//! ```text
//! $ baselink links --url http://a/b/page.html page.html
//! page.html:1:10  rewritten  a[href]   ../x.html -> http://a/x.html
//! page.html:2:10  left       img[src]  {{ logo }}  (placeholder)
//! ```
//!
//! With `--only-targets` it is the target alone.
//!
//! Deliberately absent: a total for each file. The places say it, and the last line adds up.

use std::io;

use baselink::error::visible;
use baselink::{LinkReport, Outcome, Report, examine};

use super::files::{Read, after, each_document};
use super::hint::Hints;
use super::input::File;
use super::output::{FAINT, Output, PLACE, location, shown, style_of};
use super::places::Places;
use super::record;
use super::request::{Links, LinksForm, Origin};
use super::status::Status;
use super::tally::{LinkResult, Tally};

/// Lists what was asked for.
pub(crate) fn run(asked: &Links, output: &mut Output) -> io::Result<Status> {
    let documents = &asked.documents;
    let (mut tally, mut hints) = (Tally::default(), Hints::default());
    let work = |_: &Origin, file: File<'_>, output: &mut Output| one(asked, file, output);
    let Read { status, documents: files, left } = each_document(
        documents,
        output,
        |_| false,
        work,
        |_, (listed, helps)| {
            tally.merge(&listed);
            hints.merge(helps);
        },
    )?;
    match files {
        0 => {}
        1 => output.notice(&tally),
        files => output.notice(&format_args!("{files} files, {tally}")),
    }
    match &hints.url {
        Some(hint) if files == 1 => {
            output.notice(&format_args!(
                "no base URL for {} of the links; {hint}",
                tally.count(LinkResult::NoBase)
            ));
            hints.say_scheme(output);
        }
        _ => hints.say(output),
    }
    if documents.has_folder() {
        left.say(files, output);
    }
    Ok(status)
}

/// Lists the links of a file.
fn one(asked: &Links, file: File<'_>, output: &mut Output) -> io::Result<(Status, (Tally, Hints))> {
    let (mut tally, mut status, mut is_listed) = (Tally::default(), Status::Done, false);
    let mut hints = Hints::default();
    let read = file.each(|input, options| {
        let report = examine(input.bytes, options);
        let places = Places::of(input, &report);
        output.diagnostics(&places, &report.diagnostics);
        output.details(input, &places, &report);
        match asked.form {
            LinksForm::Json => {
                for link in &report.links {
                    output.json(&record::Link::of(input, &places, link, asked.grammar))?;
                }
            }
            LinksForm::Target { ends_with_zero } => targets(&report, ends_with_zero, output)?,
            LinksForm::Text => {
                // An empty line divides files.
                if !report.links.is_empty() && !std::mem::replace(&mut is_listed, true) {
                    output.gap()?;
                }
                text(&report.links, &places, asked.grammar, output)?;
            }
        }
        if asked.strict && output.strict(&places, &report) {
            status = Status::NotHeld;
        }
        tally.add(&report, LinkResult::of);
        hints.add(input, options, &report);
        Ok(())
    })?;
    Ok((after(read, status, output), (tally, hints)))
}

/// Prints the targets of those links that have one. What a URL on a line of its own must not have is escaped.
fn targets(report: &Report, ends_with_zero: bool, output: &mut Output) -> io::Result<()> {
    for target in report.links.iter().filter_map(|link| link.target.as_deref()) {
        match ends_with_zero {
            true => write!(output.out(), "{target}\0")?,
            false => writeln!(output.out(), "{}", visible(target))?,
        }
    }
    Ok(())
}

/// Room that the columns before the reference have at most: a long one moves only its own row.
const WIDEST: usize = 40;

fn text(
    links: &[LinkReport],
    places: &Places<'_>,
    grammar: bool,
    output: &mut Output,
) -> io::Result<()> {
    let columns =
        |link: &LinkReport| [places.at(link.span), link.outcome.name().into(), location(link)];
    let mut widths = [0; 3];
    for link in links {
        for (width, column) in widths.iter_mut().zip(columns(link)) {
            *width = column.chars().count().clamp(*width, WIDEST.max(*width));
        }
    }
    // Where the columns take more than half of the terminal, the rows are better off without them.
    if output.width().is_some_and(|room| widths.iter().sum::<usize>() > room / 2) {
        widths = [0; 3];
    }
    let ink = output.ink;
    for link in links {
        let [place, outcome, location] = columns(link);
        let gap =
            |width: usize, column: &str| " ".repeat(width.saturating_sub(column.chars().count()));
        let gaps = [gap(widths[0], &place), gap(widths[1], &outcome), gap(widths[2], &location)];
        write!(
            output.out(),
            "{}{}  {}{}  {location}{}  {}",
            ink.paint(PLACE, &place),
            gaps[0],
            ink.paint(style_of(link.outcome), &outcome),
            gaps[1],
            gaps[2],
            shown(&link.reference)
        )?;
        if let Some(target) = link.target.as_deref().filter(|_| link.outcome != Outcome::Absolute) {
            write!(output.out(), " {} {}", ink.paint(FAINT, "->"), visible(target))?;
        }
        if let Some(reason) = link.reason {
            write!(output.out(), "  ({})", reason.name())?;
        }
        if grammar {
            let verdict = baselink::reference::conformance(&link.reference);
            let violation = verdict.violation.map(|violation| format!(": {violation}"));
            let category = verdict.category.name();
            let verdict = format!("[{category}{}]", visible(&violation.unwrap_or_default()));
            write!(output.out(), "  {}", ink.paint(FAINT, verdict))?;
        }
        writeln!(output.out())?;
    }
    Ok(())
}
