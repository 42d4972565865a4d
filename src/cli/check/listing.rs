//! The findings that are listed: where each is in its file, in whatever form was asked for.
//!
//! ```text
//! findings of a file  +  the file, read again  -->  line, column, the line itself  -->  text, JSON, SARIF, …
//! ```
//!
//! Files are read again on several threads, only those of which something is to be listed, and what comes of them
//! is printed in their order.
//!
//! Deliberately absent: how a finding looks in each form.

use std::collections::BTreeMap;
use std::io;

use baselink::edit::Edit;
use baselink::layer::charset::Charset;
use baselink::purpose::check::{Class, Finding, Fix, fixes};
use baselink::span::Span;
use baselink::{Options, rewrite};

use super::baseline::{self, Baseline, Key};
use super::form::{FindingForm, Json};
use super::github::Github;
use super::listed::{FindingPlace, Listed, Shown, within};
use super::sarif::Sarif;
use super::text::TextForm;
use super::tree::{Checked, CheckedTree, changed, open_again};
use crate::cli::failure::{Failure, FileResult};
use crate::cli::files;
use crate::cli::input::Input;
use crate::cli::output::Output;
use crate::cli::places::FilePlaces;
use crate::cli::request::{Check, CheckForm, Classes, Origin};
use crate::cli::status::ExitStatus;

/// What came of one file.
#[derive(Default)]
struct ListedFile {
    is_unusable: bool,
    accepted: BTreeMap<Class, usize>,
    noted: Vec<Key>,
}

/// Lists the findings of `list` that `baseline` does not accept.
pub(super) fn list(
    asked: &Check,
    list: &Classes,
    tree: &CheckedTree,
    baseline: Option<&Baseline>,
    output: &mut Output,
) -> io::Result<Listed> {
    let listing = Listing { asked, form: form(asked.form), list, tree, baseline };
    let is_concerned =
        |file: &&Checked| file.counts.classes.keys().any(|class| listing.concerns(*class));
    let entries = tree.files.iter().filter(is_concerned).map(|file| file.entry.clone()).collect();
    let mut listed = Listed::default();
    listing.form.begin(output.out())?;
    let work = |origin: &Origin, output: &mut Output| listing.one(origin, output);
    files::each_again(&asked.documents, entries, output, work, |batch, output| {
        for (_, page, done) in batch {
            output.append(page)?;
            for (class, number) in done.accepted {
                *listed.accepted_of.entry(class).or_default() += number;
            }
            for key in done.noted {
                *listed.noted.entry(key).or_default() += 1;
            }
            if done.is_unusable {
                listed.status = ExitStatus::Unusable;
            }
        }
        Ok(())
    })?;
    listing.form.end(output.out())?;
    Ok(listed)
}

/// The form that was asked for.
fn form(asked: CheckForm) -> &'static dyn FindingForm {
    match asked {
        CheckForm::Text => &TextForm,
        CheckForm::Json => &Json,
        CheckForm::Sarif => &Sarif,
        CheckForm::Github => &Github,
    }
}

struct Listing<'a> {
    asked: &'a Check,
    form: &'static dyn FindingForm,
    list: &'a Classes,
    tree: &'a CheckedTree,
    baseline: Option<&'a Baseline>,
}

impl Listing<'_> {
    /// Whether anything is done with findings of `class`.
    fn concerns(&self, class: Class) -> bool {
        self.list.contains(class) || self.is_noted(class)
    }

    /// Whether there is a baseline that has findings of `class`.
    fn is_noted(&self, class: Class) -> bool {
        self.baseline.is_some() && baseline::is_noted(self.asked, class)
    }

    fn one(&self, origin: &Origin, output: &mut Output) -> io::Result<ListedFile> {
        let mut done = ListedFile::default();
        let Some(file) = self.tree.file(origin) else { return Ok(done) };
        let path = baseline::path(&file.scanned.path);
        let mut accepted = self.baseline.map(|one| one.of(&path)).unwrap_or_default();
        let found = file.findings(self.tree, |class| self.concerns(class));
        let mut shown: Vec<Shown<'_>> = Vec::new();
        for (link, finding) in file.scanned.links().zip(&found) {
            let Some(finding) = finding else { continue };
            let class = finding.class;
            if self.is_noted(class) {
                let key = Key::of(&path, &link, finding);
                let is_accepted = accepted.takes(&key);
                if self.asked.updates_baseline {
                    done.noted.push(key);
                }
                if is_accepted {
                    *done.accepted.entry(class).or_default() += 1;
                    continue;
                }
            }
            if self.list.contains(class) {
                shown.push(Shown { link, finding, is_denied: self.asked.deny.contains(class) });
            }
        }
        if shown.is_empty() {
            return Ok(done);
        }
        shown.sort_by_key(|shown| shown.link.span.start);
        let read = self.show(origin, file, &found, &shown, output);
        if let Err(error) = Failure::nested(read)? {
            done.is_unusable = true;
            output.error(&error);
        }
        Ok(done)
    }

    /// Prints what is `shown` of a file.
    fn show(
        &self,
        origin: &Origin,
        file: &Checked,
        found: &[Option<Finding>],
        shown: &[Shown<'_>],
        output: &mut Output,
    ) -> FileResult<()> {
        let opened = open_again(origin, &self.asked.documents, None)?;
        let has_fixes = self.form.has_edits()
            && shown.iter().any(|one| matches!(one.finding.fix, Some(Fix::Reference(_))));
        let (mut next, mut with_fixes, mut is_begun) = (0, None, false);
        opened.each(|input, options| {
            let places = FilePlaces::in_charset(input, file.scanned.charset);
            let edits: Vec<Edit> = match has_fixes {
                true => {
                    let with_fixes: &mut Options =
                        with_fixes.get_or_insert_with(|| fixes(&file.scanned, found, options));
                    with_fixes.scan = options.scan.clone();
                    rewrite(input.bytes, with_fixes).edits.iter().cloned().collect()
                }
                false => Vec::new(),
            };
            let mut units = Units::default();
            while let Some(one) = shown.get(next) {
                let Some(span) = within(one.link.span, input) else { break };
                next += 1;
                let charset = file.scanned.charset.unwrap_or(Charset::UTF_8);
                let mut place = FindingPlace::of(input, &places, charset, span);
                if self.form.has_utf_16_columns() {
                    place.utf_16 = units.column(input.bytes, charset, span.start, place.column);
                    let (line, column) = places.line_and_column(Span::at(span.end));
                    // What comes next may begin before that.
                    let column = units.clone().column(input.bytes, charset, span.end, column);
                    place.end = (line, column);
                }
                place.edits = edits_in(&edits, span, input.offset);
                if !std::mem::replace(&mut is_begun, true) {
                    self.form.begin_file(output)?;
                }
                self.form.finding(origin.path(), one, &place, output)?;
            }
            Ok(())
        })?;
        if next < shown.len() { Err(changed(origin).into()) } else { Ok(()) }
    }
}

/// Those of `edits` that lie in `span`, as they are in a file in which their buffer begins at `offset`.
fn edits_in(edits: &[Edit], span: Span, offset: usize) -> Vec<Edit> {
    let first = edits.partition_point(|edit| edit.span.start < span.start);
    let inside = edits[first..].iter().take_while(|edit| edit.span.end <= span.end);
    inside.map(|edit| Edit { span: edit.span.shifted(offset), new: edit.new.clone() }).collect()
}

/// How much of a line is shown, in bytes, before a reference and after it.
const AROUND: usize = 160;

impl FindingPlace {
    fn of(input: &Input<'_>, places: &FilePlaces<'_>, charset: Charset, span: Span) -> Self {
        let (line, column) = places.line_and_column(span);
        let bytes = input.bytes;
        let line_start = span.start + 1 - column;
        // Units of UTF-16 stay whole.
        let is_wide = charset.name().starts_with("UTF-16");
        let near = span.start.saturating_sub(AROUND);
        let cut = if is_wide { near + (near ^ span.start) % 2 } else { near };
        let is_cut = cut > line_start;
        let text = |from: usize, to: usize| charset.decode(&bytes[from..to], 0).text;
        let mut before = text(cut.max(line_start), span.start);
        if is_cut {
            // A character may have been cut, too.
            let whole = before.trim_start_matches(char::REPLACEMENT_CHARACTER);
            before = format!("…{whole}");
        }
        let shown_end = span.end.min(span.start + AROUND);
        let (mut reference, is_one_line) = first_line(&text(span.start, shown_end));
        let is_whole = is_one_line && shown_end == span.end;
        let end = bytes.len().min(span.end + AROUND);
        let mut after = String::new();
        if is_whole {
            let (rest, ends) = first_line(&text(span.end, end));
            let is_cut = ends && end < bytes.len();
            after = rest.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned();
            if is_cut {
                after.push('…');
            }
        } else {
            reference = reference.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned();
            reference.push('…');
        }
        let end = (line, column);
        Self { line, column, utf_16: column, end, before, reference, after, edits: Vec::new() }
    }
}

/// `text` up to its first line end, and whether that is all.
fn first_line(text: &str) -> (String, bool) {
    match text.find(['\n', '\r']) {
        Some(end) => (text[..end].to_owned(), false),
        None => (text.to_owned(), true),
    }
}

/// Counts columns in UTF-16 code units, going on from where it was: a million links may be in one line.
#[derive(Clone, Default)]
struct Units {
    line_start: usize,
    at: usize,
    units: usize,
}

impl Units {
    fn column(&mut self, bytes: &[u8], charset: Charset, start: usize, column: usize) -> usize {
        let line_start = start + 1 - column;
        if line_start != self.line_start || start < self.at {
            *self = Self { line_start, at: line_start, units: 0 };
        }
        self.units += charset.decode(&bytes[self.at..start], 0).text.encode_utf16().count();
        self.at = start;
        self.units + 1
    }
}
