//! The outcome of a file: a document, or entities with the documents in them.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! use baselink_text::format::Format;
//! let options = Options { format: Format::Css, ..Options::at("http://a/") };
//! assert_eq!(rewrite(b"@import 'x'", &options).output(), b"@import 'http://a/x'");
//! ```
//!
//! Deliberately absent: the planning of entities ([`message`]).

use std::collections::HashMap;
use std::sync::Arc;

use super::driver::{self, Lookahead, Task};
use super::message;
use super::options::Options;
use super::plan::{FilePlan, PlannedPart, Requested, Settled, room};
use super::rows::{ListedLink, RowFn, Rows};
use super::totals::Totals;
use crate::base::BaseChain;
use crate::container;
use crate::report::Report;
use baselink_scan::document::Document;
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_text::span::{Lines, Span};

/// The plan for `bytes`, a file of the format in `options`.
pub(super) fn plan(bytes: &[u8], options: &Options, wanted: Requested) -> (FilePlan, Totals) {
    let plan = match container::of(options.format) {
        Some(container) => message::plan(container, bytes, options, wanted),
        None => document(bytes, options.format, options, wanted.is_listed()),
    };
    plan.complete()
}

fn document(bytes: &[u8], format: Format, options: &Options, is_listed: bool) -> FilePlan {
    let mut task = Task::of(options, is_listed);
    // The edits of HTML links share the prefixes of the base, so their memory needs no limit.
    task.around.room = (format != Format::Html).then(|| room(bytes.len()));
    let mut plan = driver::content(task, format, bytes).unwrap_or_else(|| {
        let empty = Document::empty(Arc::clone(&task.scan.entity), format, Charset::UTF_8);
        driver::document(task, empty, &[], Charset::UTF_8, &[])
    });
    let mut report = Report::default();
    report.entities.append(&mut plan.entities);
    report.diagnostics.append(&mut plan.diagnostics);
    let Settled {
        edits,
        rewritten,
        links,
        tally,
    } = Settled::of(plan);
    report.links = links;
    let part = PlannedPart {
        body: Span::new(0, bytes.len()),
        entity: 0,
        edits: None,
        rewritten,
    };
    FilePlan {
        edits,
        parts: vec![part],
        report,
        tally,
    }
}

/// The base of `bytes` if they are HTML in an encoding that extends ASCII; found without scanning for links.
pub(super) fn base_of_html(bytes: &[u8], options: &Options) -> Option<BaseChain> {
    let is_html = options.format == Format::Html;
    let lookahead = is_html
        .then(|| Lookahead::of(Task::of(options, false), bytes))
        .flatten()?;
    Some(lookahead.chain)
}

/// The lines of `bytes`, a file of `format`. In a message, whose parts may use several encodings, a line feed ends a
/// line.
pub(super) fn lines(bytes: &[u8], format: Format, charset: Charset) -> Lines {
    if format.has_headings() {
        Lines::of(bytes)
    } else {
        charset.lines(bytes)
    }
}

/// Passes every link of `bytes` to `row`. If no link depends on a later one, each is passed on as soon as it is
/// judged.
pub(super) fn links(bytes: &[u8], options: &Options, row: &mut RowFn<'_>) -> Totals {
    let task = Task::of(options, true);
    if options.format == Format::Html
        && let Some(lookahead) = Lookahead::of(task, bytes)
        && !lookahead.may_keep_base(task)
    {
        return driver::rows(task, bytes, &lookahead, Rows::new(row));
    }
    let (plan, mut totals) = plan(bytes, options, Requested::Links);
    let lines = lines(bytes, options.format, totals.charset);
    let Report {
        mut entities,
        links,
        ..
    } = plan.report;
    let by_name = entities.iter().enumerate().rev();
    let by_name: HashMap<_, _> = by_name
        .map(|(index, entity)| (Arc::clone(&entity.chain.entity), index))
        .collect();
    for link in links {
        let (line, column) = lines.place(link.span.start);
        let index = by_name.get(&link.entity).copied().unwrap_or_default();
        if let Some(within) = entities.get(index) {
            row(
                ListedLink { link, line, column },
                &within.chain,
                within.charset,
            );
        }
    }
    if let Some(outermost) = entities.first_mut() {
        totals.ids = std::mem::take(&mut outermost.ids);
    }
    totals
}
