//! `--fix`: links that are pinned or escape become relative where that is certain.
//!
//! ```text
//! 2 links made relative in 1 file
//! ```
//!
//! What is written is scanned first, and with `--verify` proved (`baselink::verify`); that scan is judged in the place of
//! the first one, by the same index. A file without a fix is never opened again.
//!
//! Deliberately absent: which fixes there are, and how files are replaced.

use std::io;

use baselink::error::{Error, name};
use baselink::tree::relocate::{Finding, ScannedFile, Scanning, fixes, quick_findings};
use baselink::{Options, Outcome, rewrite, verify};

use super::tree::{Checked, CheckedTree, ClassCounts, open_again};
use crate::cli::advice::is_of_a_change;
use crate::cli::failure::{Failure, FileResult};
use crate::cli::files;
use crate::cli::output::{Output, count};
use crate::cli::places::FilePlaces;
use crate::cli::request::{Check, Origin, WrittenTo};
use crate::cli::rewrite::is_delivery;
use crate::cli::rewrite::target::{RunTarget, Written};
use crate::cli::status::ExitStatus;

/// What became of the fixes.
pub(super) struct Fixed {
    pub(super) files: usize,
    links: usize,
    pub(super) status: ExitStatus,
    /// Whether files were changed.
    pub(super) is_written: bool,
    /// Whether what would change is shown.
    pub(super) is_shown: bool,
    /// Whether files may have other names or URLs now, so that the tree must be read again.
    pub(super) needs_reading: bool,
}

/// What became of the fixes of one file.
struct FileFixes {
    links: usize,
    written: Written,
    /// What is found in what is written in its place.
    after: Option<(ScannedFile, ClassCounts)>,
}

/// Judges the links of all files, and makes every fix that is certain. What is written is judged next.
pub(super) fn make(
    asked: &Check,
    destination: &WrittenTo,
    tree: &mut CheckedTree,
    output: &mut Output,
) -> io::Result<Fixed> {
    let mut fixed = Fixed {
        files: 0,
        links: 0,
        status: ExitStatus::Done,
        is_written: matches!(destination, WrittenTo::InPlace(_)),
        is_shown: matches!(destination, WrittenTo::Diff),
        needs_reading: false,
    };
    let target = match RunTarget::of(destination, &asked.documents) {
        Ok(target) => target,
        Err(error) => {
            output.error(&error);
            tree.judge_all(asked.documents.jobs);
            return Ok(Fixed { status: ExitStatus::Unusable, is_written: false, ..fixed });
        }
    };
    let entries = tree.files.iter().map(|file| file.entry.clone()).collect();
    let is_written = fixed.is_written;
    let work = |origin: &Origin, output: &mut Output| {
        let Some(file) = tree.file(origin) else { return Ok(None) };
        let found = quick_findings(&file.scanned, &tree.index, &tree.moving);
        let counts = ClassCounts::of_file(&file.scanned, &found);
        let done = match counts.fixes() > 0 && !(is_written && is_delivery(origin)) {
            true => {
                let done = one(asked, &target, tree, file, &found, origin, output);
                Failure::nested(done)?.map(Some)
            }
            false => Ok(None),
        };
        Ok(Some((counts, done)))
    };
    let mut judged = Vec::with_capacity(tree.files.len());
    let counts = output.count_diagnostics();
    files::each_again(&asked.documents, entries, output, work, |batch, output| {
        let mut all = Vec::new();
        for (origin, page, of_file) in batch {
            output.append(page)?;
            let Some((counts, done)) = of_file else { continue };
            let done = done.unwrap_or_else(|error| {
                output.error(&in_words_of_the_option(error));
                fixed.status = ExitStatus::Unusable;
                None
            });
            all.push((origin, counts, done));
        }
        let done = all.iter_mut().filter_map(|(_, _, done)| done.as_mut());
        Written::commit_all(done.map(|done| &mut done.written));
        for (origin, counts, done) in all {
            let after = done.and_then(|done| fixed.add(&origin, done, output));
            judged.push((counts, after));
        }
        Ok(())
    })?;
    if counts {
        output.say_diagnostics();
    }
    for (file, (counts, after)) in tree.files.iter_mut().zip(judged) {
        file.counts = counts;
        if let Some((scanned, counts)) = after {
            fixed.needs_reading |= scanned.names_its_url();
            (file.scanned, file.counts) = (scanned, counts);
        }
        tree.sum.merge(&file.counts);
    }
    Ok(fixed)
}

/// What the library calls `break-links` is a value of an option here.
fn in_words_of_the_option(error: Error) -> Error {
    Error::new(error.to_string().replace("`break-links`", "--fix=break-links"))
}

/// Makes the fixes of a file.
fn one(
    asked: &Check,
    target: &RunTarget<'_>,
    tree: &CheckedTree,
    file: &Checked,
    found: &[Option<Finding>],
    origin: &Origin,
    output: &mut Output,
) -> FileResult<FileFixes> {
    let mut sink = target.begin(origin)?;
    let opened = open_again(origin, &asked.documents, sink.original())?;
    let (mut with_fixes, mut links) = (None, 0);
    let mut again = target.replaces_inputs().then(|| Scanning::again(&file.scanned));
    // How long the documents are that come before, and what is made of them.
    let (mut old, mut new) = (0, 0);
    opened.each(|input, options| {
        let with_fixes: &mut Options =
            with_fixes.get_or_insert_with(|| fixes(&file.scanned, found, options));
        with_fixes.scan = options.scan.clone();
        let rewritten = baselink::rewrite(input.bytes, with_fixes);
        let made = rewritten.output();
        let as_written = Options { destination: None, ..with_fixes.clone() };
        let report = rewrite(&made, &as_written).report;
        let proved = match asked.verify {
            true => verify::verify(&rewritten, with_fixes),
            false => verify::links_stand(&rewritten, &report, with_fixes),
        };
        let differences = proved.err().unwrap_or_default();
        if let Some(difference) = differences.first() {
            let name = input.name;
            output.error(&format_args!("{name}: left as it is: {}", difference.message));
            again = None;
            return sink.add_unproved(input, output);
        }
        if let Some(again) = &mut again {
            again.add_examined(&made, input.offset - old + new, &as_written, report);
            (old, new) = (old + input.bytes.len(), new + made.len());
        }
        let places = FilePlaces::of(input, &rewritten.totals);
        // All others were said when the file was scanned.
        let of_the_change =
            rewritten.report.diagnostics.iter().filter(|found| is_of_a_change(found.code));
        of_the_change.for_each(|found| output.diagnostic(&places, found));
        links += rewritten.report.count(Outcome::Rewritten);
        sink.write(input, &rewritten.edits, output)
    })?;
    let written = sink.end()?;
    let after = again.map(|again| {
        let scanned = again.end();
        let found = quick_findings(&scanned, &tree.index, &tree.moving);
        let counts = ClassCounts::of_file(&scanned, &found);
        (scanned, counts)
    });
    Ok(FileFixes { links, written, after })
}

impl Fixed {
    /// Adds what became of the file `origin`; what is found in it now, where it was written.
    fn add(
        &mut self,
        origin: &Origin,
        done: FileFixes,
        output: &mut Output,
    ) -> Option<(ScannedFile, ClassCounts)> {
        let after = match done.written {
            Written::Failed(error) => {
                output.error(&error);
                self.status = ExitStatus::Unusable;
                return None;
            }
            Written::To(committed) => {
                // What is said was lost may be what it was known by.
                self.needs_reading |= committed.path != origin.path() || !committed.lost.is_empty();
                for lost in committed.lost {
                    output.caution(&format_args!("{}: {lost}", name(&committed.path)));
                }
                done.after
            }
            _ if self.is_written => return None,
            _ => None,
        };
        self.files += usize::from(done.links > 0);
        self.links += done.links;
        after
    }

    /// Says how much it was.
    pub(super) fn say(&self, output: &mut Output) {
        let links = count(self.links, "link", "links");
        let files = count(self.files, "file", "files");
        match (self.links, self.is_written) {
            (0, true) if self.status != ExitStatus::Done => {
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
