//! What becomes of a file: a document, or entities with the documents in them.
//!
//! ```
//! use baselink::{Options, format::Format, rewrite};
//! let options = Options { format: Format::Css, ..Options::at("http://a/") };
//! assert_eq!(rewrite(b"@import 'x'", &options).output(), b"@import 'http://a/x'");
//! ```
//!
//! Deliberately absent: how entities are planned ([`message`]).

use std::io;
use std::sync::Arc;

use super::collected::{DocumentPlan, Settled, room};
use super::driver;
use super::message;
use super::opened::Task;
use super::options::Options;
use super::plan::{AskedFor, FilePlan, PlannedPart};
use super::sink::LinkSink as _;
use super::totals::Totals;
use super::write::Write;
use crate::container;
use crate::document::Document;
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::report::Report;
use crate::span::Span;

/// What is planned for `bytes`, a file of the format that `options` name, as far as it is `asked_for`.
pub(super) fn plan(bytes: &[u8], options: &Options, asked_for: AskedFor) -> (FilePlan, Totals) {
    let plan = match container::of(options.format) {
        Some(container) => message::plan(container, bytes, options, asked_for),
        None => document(bytes, options.format, options, asked_for.is_listed()),
    };
    plan.complete()
}

/// What is reported of `bytes`.
pub(super) fn report(bytes: &[u8], options: &Options) -> Report {
    let task = Task::of(options, true);
    let reported = match options.format {
        Format::Html => driver::reported(task, bytes),
        _ => None,
    };
    let (plan, totals) = match reported {
        Some(plan) => of_document(bytes, plan).complete(),
        None => plan(bytes, options, AskedFor::Report),
    };
    Report { diagnostics: totals.diagnostics, ..plan.report }
}

fn document(bytes: &[u8], format: Format, options: &Options, is_listed: bool) -> FilePlan {
    let mut task = Task::of(options, is_listed);
    // HTML is written as it is read, without a bound.
    task.around.room = (format != Format::Html).then(|| room(bytes.len()));
    let plan = driver::content(task, format, bytes).unwrap_or_else(|| {
        let empty = Document::empty(Arc::clone(&task.scan.entity), format, Charset::UTF_8);
        driver::document(task, empty, &[], Charset::UTF_8, &[])
    });
    of_document(bytes, plan)
}

fn of_document(bytes: &[u8], mut plan: DocumentPlan) -> FilePlan {
    let mut report = Report::default();
    report.entities.append(&mut plan.entities);
    report.diagnostics.append(&mut plan.diagnostics);
    let Settled { edits, policies, rewritten, links, tally } = Settled::of(plan);
    report.links = links;
    let part = PlannedPart {
        body: Span::new(0, bytes.len()),
        entity: 0,
        edits: None,
        policies,
        rewritten,
    };
    FilePlan { edits, parts: vec![part], report, tally, lacks_memory: false }
}

/// Writes what becomes of `bytes`.
pub(super) fn write(
    bytes: &[u8],
    options: &Options,
    mut write: Write<'_, '_>,
) -> io::Result<Totals> {
    if options.format == Format::Html {
        let written =
            driver::html(Task::of(options, false), bytes, write, |_, mut driver, told| {
                told?;
                driver.sink.end(bytes)?;
                Ok(driver.totals())
            });
        write = match written {
            Ok(written) => return written,
            Err(write) => write,
        };
    }
    let (plan, totals) = plan(bytes, options, AskedFor::Edits);
    if plan.lacks_memory {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    for edit in plan.edits.iter() {
        write.edit(bytes, edit)?;
    }
    write.end(bytes)?;
    Ok(totals)
}
