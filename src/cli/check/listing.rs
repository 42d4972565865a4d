//! The list of findings with their places, in each output form, and their targets.
//!
//! ```text
//! documents with findings, checked again  -->  line, column, the line itself  -->  text, JSON, SARIF, …; targets
//! ```
//!
//! Findings are not kept while a folder is checked, since there may be millions. Files with findings to list are read
//! and checked again, on several threads, and their findings are printed in the order of the files.
//!
//! Deliberately absent: the forms themselves, such as [`text`] and [`sarif`].

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::purpose::check::{Class, Finding};
use baselink_rewrite::{Options, report::LinkReport};
use baselink_text::error::{Error, Result, name};
use baselink_text::layer::charset::Charset;
use baselink_text::span::Span;

use super::baseline::{self, AcceptedFindings, Baseline, FindingKey};
use super::listed::{Listed, ListedFinding};
use super::targets::{self, Targets};
use super::tree::{CheckedFile, CheckedTree, is_settled};
use super::{github, sarif, text};
use crate::cli::archive_item::{Archived, Wanted};
use crate::cli::args::check::{Check, CheckForm, Classes};
use crate::cli::capture_plan::{CapturePlan, CapturedDocument};
use crate::cli::document_name::DocumentName;
use crate::cli::failure::{Failure, FileResult};
use crate::cli::files;
use crate::cli::input::{File, Input, OpenedInput};
use crate::cli::json_records::MovedRecord;
use crate::cli::output::{Output, ok_or_report};
use crate::cli::places::FilePlaces;
use crate::cli::request::{Documents, Origin};
use crate::cli::source;
use crate::cli::status::ExitStatus;

/// The result of listing one file.
#[derive(Default)]
struct ListedFile {
    /// The number of the file in the tree.
    number: usize,
    /// The path as a baseline writes it.
    path: String,
    /// Accepted findings of the file that are not yet matched.
    unmatched: AcceptedFindings,
    is_unusable: bool,
    accepted: BTreeMap<Class, usize>,
    noted: Vec<FindingKey>,
    targets: Targets,
    /// The number of links in earlier documents of the file.
    links: usize,
    /// True if a finding of the file was printed.
    is_begun: bool,
}

/// Lists the findings whose class is in `list`. With `has_targets`, also collects the targets that the request shows.
/// Findings that `baseline` accepts are omitted from both.
pub(super) fn list(
    request: &Check,
    list: &Classes,
    has_targets: bool,
    tree: &mut CheckedTree<'_>,
    baseline: Option<&Baseline>,
    output: &mut Output,
) -> io::Result<Listed> {
    let mut targets = std::mem::take(&mut tree.targets);
    let tree = &*tree;
    let listing = Listing {
        request,
        list,
        has_targets,
        tree,
        baseline,
    };
    let is_concerned = |file: &&CheckedFile| {
        file.counts
            .classes
            .keys()
            .any(|class| listing.concerns(*class))
    };
    let mut listed = Listed::default();
    if request.form() == CheckForm::Sarif {
        sarif::print_start(output.out())?;
    }
    let mut take = |done: ListedFile| {
        for (class, number) in done.accepted {
            *listed.accepted_of.entry(class).or_default() += number;
        }
        for key in done.noted {
            *listed.noted.entry(key).or_default() += 1;
        }
        if done.is_unusable {
            listed.status = ExitStatus::Unusable;
        }
        targets::merge(&mut targets, done.targets, targets::room(request));
    };
    let concerned: Vec<&CheckedFile> = tree.files.iter().filter(is_concerned).collect();
    match &tree.captures {
        Some(plan) if !concerned.is_empty() => {
            for number in 0..plan.archives.len() {
                let at = (number, Wanted::Bodies);
                let one =
                    |number: usize, (_, archived): (&Input<'_>, &Archived), output: &mut Output| {
                        listing.list_captured(plan, number, archived, output)
                    };
                let read = plan.each(at, &request.documents, output, one, |done, _| {
                    take(done?);
                    Ok(())
                });
                // An error was already reported when the documents were checked.
                let _ = Failure::separate(read)?;
            }
        }
        Some(_) => {}
        None => {
            let entries = concerned
                .into_iter()
                .map(|file| file.entry.clone())
                .collect();
            let work = |origin: &Origin, output: &mut Output| listing.list_file(origin, output);
            files::each_again(
                &request.documents,
                entries,
                output,
                work,
                |(_, buffer, done), output| {
                    output.append(buffer)?;
                    take(done);
                    Ok(())
                },
            )?;
        }
    }
    if request.form() == CheckForm::Sarif {
        sarif::print_end(output.out())?;
    }
    listed.targets = targets::in_order(targets);
    Ok(listed)
}

struct Listing<'a> {
    request: &'a Check,
    list: &'a Classes,
    has_targets: bool,
    tree: &'a CheckedTree<'a>,
    baseline: Option<&'a Baseline>,
}

impl Listing<'_> {
    /// True if findings of `class` are listed, noted in a baseline, or counted by target.
    fn concerns(&self, class: Class) -> bool {
        self.list.contains(class) || self.is_noted(class) || self.has_target(class)
    }

    /// True if there is a baseline that has findings of `class`.
    fn is_noted(&self, class: Class) -> bool {
        self.baseline.is_some() && baseline::is_noted(self.request, class)
    }

    /// True if findings of `class` are counted by target here. Without a baseline, [`CheckedTree`] has already
    /// counted those of settled classes.
    fn has_target(&self, class: Class) -> bool {
        let is_counted = self.baseline.is_none() && is_settled(class);
        self.has_targets && !is_counted && targets::are_shown(self.request, class)
    }

    /// The result for the file with this number before its documents are listed.
    fn begin_file(&self, number: usize) -> ListedFile {
        let path = baseline::path(&self.tree.files[number].name);
        let unmatched = self.baseline.map(|one| one.of(&path)).unwrap_or_default();
        ListedFile {
            number,
            path,
            unmatched,
            ..ListedFile::default()
        }
    }

    /// Lists the findings of the resource with this number in `plan`.
    fn list_captured(
        &self,
        plan: &CapturePlan,
        resource: usize,
        archived: &Archived,
        output: &mut Output,
    ) -> io::Result<ListedFile> {
        let path = Path::new(plan.chosen.url(resource));
        let document = plan.document(resource, archived);
        let Ok(CapturedDocument {
            body,
            options: Some(options),
        }) = document
        else {
            return Ok(ListedFile::default());
        };
        let Some(number) = self.tree.number_of(path) else {
            return Ok(ListedFile::default());
        };
        let mut done = self.begin_file(number);
        let input = Input::whole(DocumentName::of(path), body.format, &body.bytes);
        Failure::separate(self.list_document(&input, &options, &mut done, output))?
            .unwrap_or_default();
        Ok(done)
    }

    fn list_file(&self, origin: &Origin, output: &mut Output) -> io::Result<ListedFile> {
        let Some(number) = self.tree.number_of(origin.path()) else {
            return Ok(ListedFile::default());
        };
        let mut done = self.begin_file(number);
        let mut read = || {
            let file = reopen(origin, &self.request.documents)?;
            let options = |_: &Input<'_>, options: &Options, _: &mut Output| Ok(options.clone());
            source::each(file, output, options, |options, input, _, output| {
                self.list_document(input, &options, &mut done, output)
            })
        };
        let read = read();
        done.is_unusable = ok_or_report(read, output)?.is_none();
        Ok(done)
    }

    /// Lists the findings of one document of a file.
    fn list_document(
        &self,
        input: &Input<'_>,
        options: &Options,
        done: &mut ListedFile,
        output: &mut Output,
    ) -> FileResult<()> {
        let document = self
            .tree
            .check(&self.tree.files[done.number], input, options);
        let place_of =
            |number: usize, fragment: &str, _: Class| self.tree.fragment_place(number, fragment);
        let places = FilePlaces::in_charset(input, document.charset);
        let charset = document.charset.unwrap_or(Charset::UTF_8);
        let includes_travels = self.concerns(Class::Travels);
        let mut shown: Vec<(&LinkReport, Finding)> = Vec::new();
        for (link_number, (link, finding)) in
            document.findings(&place_of, includes_travels).enumerate()
        {
            let Some(finding) = finding.filter(|finding| self.concerns(finding.class)) else {
                continue;
            };
            let class = finding.class;
            if self.is_noted(class) {
                let key = FindingKey::of(&done.path, link, &finding);
                let is_accepted = done.unmatched.accept(&key);
                if self.request.updates_baseline {
                    done.noted.push(key);
                }
                if is_accepted {
                    *done.accepted.entry(class).or_default() += 1;
                    continue;
                }
            }
            if self.has_target(class) {
                let at = (done.number, done.links + link_number);
                targets::add(
                    &mut done.targets,
                    self.request,
                    at,
                    (link, &finding),
                    &places,
                );
            }
            if self.list.contains(class) {
                shown.push((link, finding));
            }
        }
        done.links += document.report.links.len();
        shown.sort_by_key(|(link, _)| link.span.start);
        let found = shown.iter().map(|(link, finding)| {
            let (line, column) = places.line_and_column(link.span);
            let is_denied = self.request.deny.contains(finding.class);
            ListedFinding {
                input,
                charset,
                link,
                finding,
                is_denied,
                line,
                column,
            }
        });
        self.print(found, &places, done, output)
    }

    /// Prints findings in the order of their document.
    fn print<'f>(
        &self,
        found: impl Iterator<Item = ListedFinding<'f>>,
        places: &FilePlaces<'_>,
        done: &mut ListedFile,
        output: &mut Output,
    ) -> FileResult<()> {
        let mut units = Utf16Columns::default();
        for one in found {
            let ListedFinding {
                input,
                charset,
                link,
                finding,
                line,
                column,
                ..
            } = one;
            let bytes = input.bytes;
            match self.request.form() {
                CheckForm::Text => {
                    if !std::mem::replace(&mut done.is_begun, true) {
                        output.blank_line()?;
                    }
                    text::print_finding(&one, output)?;
                }
                CheckForm::Json => {
                    let place = (line, column);
                    let record = MovedRecord::of(input.name, place, input.offset, link, finding);
                    output.json(&record)?;
                }
                CheckForm::Github => {
                    let column = units.column(bytes, charset, link.span.start, column);
                    github::print_finding(&one, column, output)?;
                }
                CheckForm::Sarif => {
                    let start = units.column(bytes, charset, link.span.start, column);
                    let after = Span::at(link.span.end);
                    let (end_line, column) = places.line_and_column(after);
                    // Counted on a clone, because links may overlap: the next one may begin before this end.
                    let end = units.clone().column(bytes, charset, after.start, column);
                    sarif::print_finding(&one, start, (end_line, end), output)?;
                }
            }
        }
        Ok(())
    }
}

/// Counts columns in UTF-16 code units, continuing from the last position: one line may have a million links.
#[derive(Clone, Default)]
struct Utf16Columns {
    line_start: usize,
    at: usize,
    units: usize,
}

impl Utf16Columns {
    fn column(&mut self, bytes: &[u8], charset: Charset, start: usize, column: usize) -> usize {
        let line_start = start + 1 - column;
        if line_start != self.line_start || start < self.at {
            *self = Self {
                line_start,
                at: line_start,
                units: 0,
            };
        }
        self.units += charset
            .decode(&bytes[self.at..start], 0)
            .text
            .encode_utf16()
            .count();
        self.at = start;
        self.units + 1
    }
}

/// Opens a checked file again.
///
/// # Errors
///
/// The file cannot be read, or is no longer a document.
fn reopen<'a>(origin: &'a Origin, documents: &Documents) -> Result<File<'a>> {
    match File::open(origin, documents, None)? {
        OpenedInput::Document(file) => Ok(file),
        OpenedInput::NonDocument(_) => {
            let file = name(origin.path());
            Err(Error::new(format!(
                "{file}: it was changed while it was checked"
            )))
        }
    }
}
