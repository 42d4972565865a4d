//! The outcome of a file: a document, or entities with the documents in them.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! use baselink_text::Format;
//! let options = Options { format: Format::Css, ..Options::at("http://a/") };
//! assert_eq!(rewrite(b"@import 'x'", &options).output(), b"@import 'http://a/x'");
//! ```
//!
//! Deliberately absent: the planning of entities ([`message`]).

use std::sync::Arc;

use baselink_scan::{Document, group_of, is_read};
use baselink_text::{Charset, Code, Diagnostic, Format, Span};

use super::{
    driver::{self, Lookahead, Task},
    message,
    options::{Destination, FileRequest, Options},
    plan::{FilePlan, LinkSink, room},
};
use crate::{base::BaseChain, container, report::Report};

/// The plan for `bytes`, a file of the format in the options. Each link goes to `sink`, in the order of the file; without it,
/// most links are only counted. Without `has_edits`, edits are made only if the outcome of a link depends on them.
pub fn plan<'r>(
    bytes: &[u8],
    request: FileRequest<'_>,
    sink: Option<&'r mut (dyn LinkSink + 'r)>,
    has_edits: bool,
) -> FilePlan {
    match container::of(request.0.format) {
        Some(container) => message::plan(container, bytes, request, sink, has_edits),
        None => document(bytes, request, sink),
    }
}

fn document<'r>(
    bytes: &[u8],
    (options, destination): FileRequest<'_>,
    sink: Option<&'r mut (dyn LinkSink + 'r)>,
) -> FilePlan {
    let format = options.format;
    let mut task = Task::of(options);
    task.around.destination = destination;
    // The edits of HTML links share the prefixes of the base, so their memory needs no limit. A long base sets one.
    let is_limited = format != Format::Html && !destination.is_some_and(Destination::embeds);
    task.around.room = is_limited.then(|| room(bytes.len()));
    let content = if is_read(format, task.scan) {
        driver::content(task, format, bytes, sink)
    } else {
        None
    };
    let plan = content.unwrap_or_else(|| {
        let mut empty = Document::empty(Arc::clone(&task.scan.entity), format, Charset::UTF_8);
        empty.diagnostics.push(unread(format));
        driver::document(task, (empty, true), &[], (Charset::UTF_8, &[]), &mut None)
    });
    let report = Report {
        entities: plan.entities,
        diagnostics: plan.diagnostics,
        ..Report::default()
    };
    FilePlan::new(plan.edits, Vec::new(), report, plan.tally)
}

/// Says why no link of a file of the `format` is read.
fn unread(format: Format) -> Diagnostic {
    let noun = format.noun();
    let why = match group_of(format) {
        Some(group) => format!("{noun} is read only if the group '{group}' is enabled"),
        None if format.is_archive() => format!("{noun} holds many documents, and none was read"),
        None => "the format is unknown, so no link was read".to_owned(),
    };
    Diagnostic::new(Code::FormatUnread, Span::new(0, 0), why)
}

/// The base of `bytes` if they are HTML in an encoding that extends ASCII; found without scanning for links.
pub fn base_of_html(bytes: &[u8], options: &Options) -> Option<BaseChain> {
    let is_html = options.format == Format::Html;
    let lookahead = is_html
        .then(|| Lookahead::of(Task::of(options), bytes))
        .flatten()?;
    Some(lookahead.chain)
}
