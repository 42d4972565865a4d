//! `--fix`: links that are pinned or escape become relative where that is certain.
//!
//! ```text
//! 2 links made relative in 1 file
//! ```
//!
//! What is written is scanned first, and with `--verify` proved (`baselink::verify`). A file without a fix is never
//! opened for writing.
//!
//! Deliberately absent: which fixes there are, and how files are replaced.

use std::io;

use baselink::diagnostic::{Code, Diagnostic};
use baselink::error::{Error, Result, name};
use baselink::tree::relocate::{findings, fixes};
use baselink::{Options, Outcome, verify};

use super::tree::{Checked, Tree, changed};
use crate::cli::files;
use crate::cli::input::{File, OpenedInput};
use crate::cli::output::{Output, count};
use crate::cli::places::Places;
use crate::cli::request::{Check, Origin, WrittenTo};
use crate::cli::rewrite::is_delivery;
use crate::cli::rewrite::target::{RunTarget, Written};
use crate::cli::status::Status;

/// What became of the fixes.
pub(super) struct Fixed {
    pub(super) files: usize,
    links: usize,
    pub(super) status: Status,
    /// Whether files were changed.
    pub(super) is_written: bool,
    /// Whether what would change is shown.
    pub(super) is_shown: bool,
}

/// What became of the fixes of one file.
struct Done {
    links: usize,
    written: Written,
}

/// Makes every fix that is certain.
pub(super) fn make(
    asked: &Check,
    destination: &WrittenTo,
    tree: &Tree,
    output: &mut Output,
) -> io::Result<Fixed> {
    let mut fixed = Fixed {
        files: 0,
        links: 0,
        status: Status::Done,
        is_written: matches!(destination, WrittenTo::InPlace(_)),
        is_shown: matches!(destination, WrittenTo::Diff),
    };
    let target = match RunTarget::of(destination, &asked.documents) {
        Ok(target) => target,
        Err(error) => {
            output.error(&error);
            return Ok(Fixed { status: Status::Unusable, is_written: false, ..fixed });
        }
    };
    let has_fix = |file: &&Checked| file.counts.fixes > 0;
    let entries = tree.files.iter().filter(has_fix).map(|file| file.entry.clone()).collect();
    let is_written = fixed.is_written;
    let work = |origin: &Origin, output: &mut Output| match tree.file(origin) {
        Some(file) if !(is_written && is_delivery(origin)) => {
            one(asked, &target, tree, file, origin, output)
        }
        _ => Ok(Ok(None)),
    };
    output.count_diagnostics();
    files::each_again(&asked.documents, entries, output, work, |batch, output| {
        let mut all = Vec::new();
        for (_, page, done) in batch {
            output.append(page)?;
            match done {
                Ok(done) => all.extend(done),
                Err(error) => {
                    output.error(&in_words_of_the_option(error));
                    fixed.status = Status::Unusable;
                }
            }
        }
        Written::commit_all(all.iter_mut().map(|done| &mut done.written));
        for Done { links, written } in all {
            if let Written::Failed(error) = written {
                output.error(&error);
                fixed.status = Status::Unusable;
                continue;
            }
            if let Written::To(path, remarks) = written {
                for remark in remarks {
                    output.caution(&format_args!("{}: {remark}", name(&path)));
                }
            }
            if links > 0 {
                fixed.files += 1;
                fixed.links += links;
            }
        }
        Ok(())
    })?;
    output.say_diagnostics();
    Ok(fixed)
}

/// What the library calls `break-links` is a value of an option here.
fn in_words_of_the_option(error: Error) -> Error {
    Error::new(error.to_string().replace("`break-links`", "--fix=break-links"))
}

/// Whether a diagnostic is one of the change; all others were said when the file was scanned.
fn is_of_the_change(found: &&Diagnostic) -> bool {
    matches!(
        found.code,
        Code::SignatureBroken
            | Code::FieldsRenamed
            | Code::LineTooLong
            | Code::DigestWrong
            | Code::Doubt
    )
}

/// The outer error is one of standard output.
fn one(
    asked: &Check,
    target: &RunTarget<'_>,
    tree: &Tree,
    file: &Checked,
    origin: &Origin,
    output: &mut Output,
) -> io::Result<Result<Option<Done>>> {
    let mut sink = match target.begin(origin) {
        Ok(sink) => sink,
        Err(error) => return Ok(Err(error)),
    };
    let opened =
        match File::open(origin, &asked.documents, sink.original()).map(OpenedInput::document) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(Err(changed(origin))),
            Err(error) => return Ok(Err(error)),
        };
    let found = findings(&file.scanned, &tree.index, &tree.moving);
    let (mut with_fixes, mut links, mut failed) = (None, 0, Ok(()));
    let read = opened.each(|input, options| {
        if failed.is_err() {
            return Ok(());
        }
        let with_fixes: &mut Options =
            with_fixes.get_or_insert_with(|| fixes(&file.scanned, &found, options));
        with_fixes.scan = options.scan.clone();
        let rewritten = baselink::rewrite(input.bytes, with_fixes);
        let proved = match asked.verify {
            true => verify::verify(&rewritten, with_fixes),
            false => verify::links_stand(&rewritten, with_fixes),
        };
        let differences = proved.err().unwrap_or_default();
        if let Some(difference) = differences.first() {
            let name = input.name;
            output.error(&format_args!("{name}: left as it is: {}", difference.message));
            return sink.add_unproved(input, output);
        }
        let places = Places::of(input, &rewritten.totals);
        for found in rewritten.report.diagnostics.iter().filter(is_of_the_change) {
            output.diagnostic(&places, found);
        }
        links += rewritten.report.count(Outcome::Rewritten);
        failed = sink.add(input, &rewritten.edits, output)?;
        Ok(())
    })?;
    let ended = read.and(failed).and_then(|()| sink.end());
    Ok(ended.map(|written| Some(Done { links, written })))
}

impl Fixed {
    /// Says how much it was.
    pub(super) fn say(&self, output: &mut Output) {
        let links = count(self.links, "link", "links");
        let files = count(self.files, "file", "files");
        match (self.links, self.is_written) {
            (0, true) if self.status != Status::Done => {
                output.notice(&"no link was made relative");
            }
            (0, _) => output.notice(&"no link can be made relative with certainty"),
            (_, true) => output.notice(&format_args!("{links} made relative in {files}")),
            (_, false) => {
                output.notice(&format_args!(
                    "{links} would become relative in {files}; nothing was written"
                ));
            }
        }
    }
}
