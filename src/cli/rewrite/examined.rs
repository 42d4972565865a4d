//! One document, or one message of a mailbox: rewritten, said, proved where that was asked for, and written.
//!
//! ```text
//! page.html, --verify   -->   Examined { edits, report, is_proved: true, … }   -->   the sink
//! ```
//!
//! Deliberately absent: documents of which no report is made. [`super::target`] writes those as they are rewritten.

use std::io;

use baselink::edit::Edits;
use baselink::error::Result;
use baselink::{Options, Report, Rewritten, verify};

use super::target::Sink;
use super::work::Work;
use crate::cli::input::Input;
use crate::cli::output::{Output, in_order};
use crate::cli::places::Places;
use crate::cli::record;
use crate::cli::request::Rewrite;
use crate::cli::status::Status;

/// What became of a document, or of one in a mailbox, and what of it is still to be told.
pub(super) struct Examined {
    pub(super) edits: Edits,
    pub(super) report: Report,
    pub(super) odd: Vec<record::Diagnostic>,
    /// Whether `--strict` and `--verify` hold.
    is_strict: bool,
    pub(super) is_proved: bool,
}

impl Examined {
    pub(super) fn status(&self) -> Status {
        if self.is_strict && self.is_proved { Status::Done } else { Status::NotHeld }
    }
}

/// Rewrites `input` and says what is to be said of it.
pub(super) fn examined(
    (asked, work): (&Rewrite, &Work),
    input: &Input<'_>,
    options: &Options,
    output: &mut Output,
) -> Examined {
    let rewritten = work.rewritten(input.bytes, options);
    let report = &rewritten.report;
    let places = Places::of(input, report);
    output.diagnostics(&places, &report.diagnostics);
    output.details(input, &places, report);
    let is_strict = !(asked.strict && output.strict(&places, report));
    let differences = match asked.verify {
        true => verify::verify(&rewritten, options).err().unwrap_or_default(),
        false => Vec::new(),
    };
    for difference in &differences {
        let place = match &*input.entity {
            "" => input.name(),
            number => format!("{}: message {number}", input.name()),
        };
        output.error(&format_args!("{place}: --verify: {}", difference.message));
    }
    let odd = match asked.json {
        true => in_order(&report.diagnostics)
            .into_iter()
            .map(|odd| record::Diagnostic::of(odd, &places))
            .collect(),
        false => Vec::new(),
    };
    let Rewritten { edits, report, .. } = rewritten;
    Examined { is_proved: differences.is_empty(), edits, report, odd, is_strict }
}

/// Writes `input` with these edits, behind what came before it; the outer error is one of standard output.
pub(super) fn written(
    (edits, is_proved): (&Edits, bool),
    input: &Input<'_>,
    sink: &mut Sink<'_>,
    output: &mut Output,
) -> io::Result<Result<()>> {
    if is_proved {
        return sink.add(input, edits, output);
    }
    // What is on its way already cannot be called back, so a message in it stays as it was.
    sink.add_unproved(input, output).map(Ok)
}
