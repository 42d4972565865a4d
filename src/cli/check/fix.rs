//! `--fix`: links that are pinned or escape become relative where that is certain.
//!
//! ```text
//! 2 links made relative in 1 file
//! ```
//!
//! New contents are proved before they are written (`baselink::verify`). Files without a fix are
//! not opened again. After a change, the whole folder is checked anew.
//!
//! Deliberately absent: which fixes there are, and how files are replaced.

use std::io;

use baselink::error::{Error, name};
use baselink::purpose::check::fixes;
use baselink::{Outcome, rewrite, verify};

use super::listing::open_again;
use super::tree::{CheckedFile, CheckedTree};
use crate::cli::advice::is_of_a_change;
use crate::cli::failure::{Failure, FileResult};
use crate::cli::files;
use crate::cli::output::{Output, count};
use crate::cli::places::FilePlaces;
use crate::cli::request::{Check, Origin, WrittenTo};
use crate::cli::rewrite::is_delivery;
use crate::cli::rewrite::target::{RunTarget, Written};
use crate::cli::status::ExitStatus;

/// The result of fixing a folder.
pub(super) struct Fixed {
    pub(super) files: usize,
    links: usize,
    pub(super) status: ExitStatus,
    /// True if files were changed.
    pub(super) is_written: bool,
    /// True if a diff is shown.
    pub(super) is_shown: bool,
}

/// The result of fixing one file.
struct FileFixes {
    links: usize,
    written: Written,
}

/// Makes every fix that is certain.
pub(super) fn make(
    asked: &Check,
    destination: &WrittenTo,
    tree: &CheckedTree<'_>,
    output: &mut Output,
) -> io::Result<Fixed> {
    let mut fixed = Fixed {
        files: 0,
        links: 0,
        status: ExitStatus::Done,
        is_written: matches!(destination, WrittenTo::InPlace(_)),
        is_shown: matches!(destination, WrittenTo::Diff),
    };
    let target = match RunTarget::of(destination, &asked.documents) {
        Ok(target) => target,
        Err(error) => {
            output.error(&error);
            return Ok(Fixed { status: ExitStatus::Unusable, is_written: false, ..fixed });
        }
    };
    let has_fix = |file: &&CheckedFile| file.counts.fixes() > 0;
    let entries = tree.files.iter().filter(has_fix).map(|file| file.entry.clone()).collect();
    let is_written = fixed.is_written;
    let work = |origin: &Origin, output: &mut Output| {
        let number = tree.number_of(origin.path()).filter(|_| !(is_written && is_delivery(origin)));
        let Some(number) = number else { return Ok(Ok(None)) };
        Failure::nested(one(asked, &target, tree, &tree.files[number], origin, output).map(Some))
    };
    let counts = output.count_diagnostics();
    files::each_again(&asked.documents, entries, output, work, |batch, output| {
        let mut all = Vec::new();
        for (origin, page, done) in batch {
            output.append(page)?;
            match done {
                Ok(done) => all.extend(done.map(|done| (origin, done))),
                Err(error) => {
                    output.error(&in_words_of_the_option(error));
                    fixed.status = ExitStatus::Unusable;
                }
            }
        }
        Written::commit_all(all.iter_mut().map(|(_, done)| &mut done.written));
        for (_, done) in all {
            fixed.add(done, output);
        }
        Ok(())
    })?;
    if counts {
        output.say_diagnostics();
    }
    Ok(fixed)
}

/// `error` with the option for `break-links`, as the library calls it.
fn in_words_of_the_option(error: Error) -> Error {
    Error::new(error.to_string().replace("`break-links`", "--fix=break-links"))
}

/// Makes the fixes of a file.
fn one(
    asked: &Check,
    target: &RunTarget<'_>,
    tree: &CheckedTree<'_>,
    file: &CheckedFile,
    origin: &Origin,
    output: &mut Output,
) -> FileResult<FileFixes> {
    let mut sink = target.begin(origin)?;
    let opened = open_again(origin, &asked.documents, sink.original())?;
    let mut links = 0;
    opened.each(|input, options| {
        let with_fixes = fixes(&tree.check(file, input, options), options);
        let rewritten = rewrite(input.bytes, &with_fixes);
        let proved = verify::verify(&rewritten, &with_fixes);
        let differences = proved.err().unwrap_or_default();
        if let Some(difference) = differences.first() {
            let name = input.name;
            output.error(&format_args!("{name}: left as it is: {}", difference.message));
            return sink.add_unproved(input, output);
        }
        let places = FilePlaces::of(input, &rewritten.totals);
        // All others were reported when the file was checked.
        let of_the_change =
            rewritten.report.diagnostics.iter().filter(|found| is_of_a_change(found.code));
        of_the_change.for_each(|found| output.diagnostic(&places, found));
        links += rewritten.report.count(Outcome::Rewritten);
        sink.write(input, &rewritten.edits, output)
    })?;
    Ok(FileFixes { links, written: sink.end()? })
}

impl Fixed {
    /// Adds the result for one file, and reports its errors and losses.
    fn add(&mut self, done: FileFixes, output: &mut Output) {
        match done.written {
            Written::Failed(error) => {
                output.error(&error);
                self.status = ExitStatus::Unusable;
                return;
            }
            Written::To(committed) => {
                for lost in committed.lost {
                    output.caution(&format_args!("{}: {lost}", name(&committed.path)));
                }
            }
            _ if self.is_written => return,
            _ => {}
        }
        self.files += usize::from(done.links > 0);
        self.links += done.links;
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
