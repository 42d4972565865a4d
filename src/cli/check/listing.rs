//! The links of documents, taken one by one: counted, compared with the baseline, printed, and grouped by target.
//!
//! ```text
//! a link with its finding  -->  a count; a line of output in text, JSON, SARIF, …; a target
//! ```
//!
//! Nothing is kept about most links. A link with a fragment waits for the ids of its target. Such links are grouped by
//! target, or kept one by one if each is listed.
//!
//! Deliberately absent: the forms themselves, such as [`text`] and [`sarif`].

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use crate::purpose::check::{CheckedDocument, CheckedLink, Class, FragmentPlace, Ids};
use baselink_text::layer::charset::Charset;
use baselink_text::span::Span;

use super::baseline::{self, Baseline, FindingKey};
use super::counts::ClassCounts;
use super::listed::ListedFinding;
use super::targets::{self, TargetSummary, Targets};
use super::{github, sarif, text};
use crate::cli::args::check::{Check, CheckForm, Classes};
use crate::cli::document_name::DocumentName;
use crate::cli::input::Input;
use crate::cli::json_records::MovedRecord;
use crate::cli::output::Output;
use crate::cli::places::FilePlaces;

/// Takes links.
pub(super) struct Lister<'a> {
    pub(super) request: &'a Check,
    /// The classes whose links are listed one by one.
    pub(super) list: Classes,
    pub(super) baseline: Option<&'a Baseline>,
}

/// A checked file.
#[derive(Clone, Copy)]
pub(super) struct FileKey<'a> {
    pub(super) path: &'a Path,
    /// Its path below the folder, with `/` between the names.
    pub(super) name: &'a [u8],
    /// Its number in the collection.
    pub(super) number: Option<usize>,
}

/// The links of one file.
#[derive(Default)]
pub(super) struct FileLinks {
    pub(super) counts: ClassCounts,
    pub(super) ids: Option<Ids>,
    pub(super) targets: Targets,
    /// The number of findings that the baseline accepts, by class.
    pub(super) accepted: BTreeMap<Class, usize>,
    /// Links that wait for the ids of other files.
    pub(super) waiting: Waiting,
    /// The links that wait, with the numbers of their files, if each is kept.
    pub(super) late: Vec<(usize, ListedFinding)>,
    /// True if a finding of the file was printed.
    is_begun: bool,
    links: usize,
}

/// Groups of links that wait for ids, by the class that they have if the id exists, and by URL.
pub(super) type Waiting = BTreeMap<Class, HashMap<String, WaitingLinks>>;

/// Links to one URL with a fragment.
pub(super) struct WaitingLinks {
    /// The resource whose ids decide.
    pub(super) ids_of: usize,
    pub(super) target: TargetSummary,
    /// The number of the links in each file.
    pub(super) files: Vec<(usize, usize)>,
}

impl WaitingLinks {
    /// The target of the links, now that the place of their fragment is known.
    pub(super) fn settle(self, request: &Check, place: Option<FragmentPlace>) -> TargetSummary {
        let mut target = self.target;
        if let Some((class, cause, hint)) = place.and_then(|place| place.settle(target.class)) {
            (target.class, target.cause, target.hint) = (class, cause, hint);
            target.is_denied = request.deny.contains(class);
        }
        if !matches!(target.class, Class::Fragment | Class::Lines) {
            let end = target.to.find('#');
            target.to.truncate(end.unwrap_or(target.to.len()));
        }
        target
    }
}

/// The fragment of a URL.
pub(super) fn fragment(url: &str) -> &str {
    url.split_once('#').map_or("", |(_, fragment)| fragment)
}

/// The state of listing one document.
#[derive(Default)]
struct DocumentState<'a> {
    places: Option<FilePlaces<'a>>,
    units: Utf16Columns,
    /// The links from the first one that waits for ids.
    rows: Vec<(Option<usize>, ListedFinding)>,
}

impl Lister<'_> {
    /// True if each link with a finding is kept until its class is known.
    fn keeps_rows(&self) -> bool {
        self.list != Classes::default() || self.baseline.is_some()
    }

    /// True if findings of `class` are listed, noted in a baseline, or counted by target.
    fn concerns(&self, class: Class) -> bool {
        self.list.contains(class) || self.is_noted(class) || targets::are_shown(self.request, class)
    }

    /// True if there is a baseline that has findings of `class`.
    fn is_noted(&self, class: Class) -> bool {
        self.baseline.is_some() && baseline::is_noted(self.request, class)
    }

    /// True if links that travel need details.
    pub(super) fn needs_all(&self) -> bool {
        self.concerns(Class::Travels)
    }

    /// Takes the links that `check` finds in the document `input` of the file `key`.
    pub(super) fn document(
        &self,
        (key, input): (FileKey<'_>, &Input<'_>),
        file: &mut FileLinks,
        output: &mut Output,
        check: impl FnOnce(&mut dyn FnMut(CheckedLink)) -> CheckedDocument,
    ) -> io::Result<CheckedDocument> {
        let (mut state, mut printed) = (DocumentState::default(), Ok(()));
        let mut document = check(&mut |mut found| {
            found.listed.line += input.lines;
            if printed.is_ok() {
                printed = self.link(key, input, file, &mut state, found, output);
            }
        });
        printed?;
        let place = |ids_of: usize, url: &str| {
            let ids = document.ids.as_ref().filter(|_| Some(ids_of) == key.number);
            ids.map(|ids| ids.place(fragment(url)))
        };
        for (ids_of, mut row) in state.rows {
            match ids_of {
                Some(ids_of) if Some(ids_of) != key.number => {
                    file.late.push((ids_of, row));
                    continue;
                }
                Some(ids_of) => row.settle(place(ids_of, row.url()), &mut file.counts),
                None => {}
            }
            self.take(key, file, &row, output)?;
        }
        for (class, groups) in &mut file.waiting {
            let own = groups.extract_if(|_, group| Some(group.ids_of) == key.number);
            for (url, group) in own {
                let target = group.settle(self.request, place(key.number.unwrap_or(0), &url));
                file.counts.reclassify(*class, target.class, target.links);
                if targets::are_shown(self.request, target.class) {
                    targets::merge(&mut file.targets, target, targets::room(self.request));
                }
            }
        }
        file.ids = document.ids.take();
        Ok(document)
    }

    /// Takes one link.
    fn link<'i>(
        &self,
        key: FileKey<'_>,
        input: &Input<'i>,
        file: &mut FileLinks,
        state: &mut DocumentState<'i>,
        found: CheckedLink,
        output: &mut Output,
    ) -> io::Result<()> {
        let CheckedLink {
            listed: ref found_at,
            ref finding,
            ids_of,
            ..
        } = found;
        let number = file.links;
        file.links += 1;
        file.counts.add(&found_at.link, finding);
        match ids_of {
            Some(ids_of) if !self.keeps_rows() => {
                file.wait(self.request, ids_of, (number, &found));
                return Ok(());
            }
            None if !self.concerns(finding.class) => return Ok(()),
            _ => {}
        }
        let row = self.row(input, state, number, found);
        if ids_of.is_none() && state.rows.is_empty() {
            return self.take(key, file, &row, output);
        }
        state.rows.push((ids_of, row));
        Ok(())
    }

    /// A link with what its output form shows.
    fn row<'i>(
        &self,
        input: &Input<'i>,
        state: &mut DocumentState<'i>,
        number: usize,
        found: CheckedLink,
    ) -> ListedFinding {
        let CheckedLink {
            listed,
            charset,
            finding,
            ..
        } = found;
        let (link, column) = (listed.link, listed.column);
        let is_listed = self.list != Classes::default();
        let mut units = (0, (0, 0));
        let mut excerpt = Default::default();
        match self.request.form() {
            CheckForm::Text if is_listed => {
                excerpt = text::excerpt(input.bytes, link.span, column, charset);
            }
            CheckForm::Github | CheckForm::Sarif => {
                let start = link.span.start;
                units.0 = state.units.column(input.bytes, charset, start, column);
                let places = state
                    .places
                    .get_or_insert_with(|| FilePlaces::in_charset(input, Some(charset)));
                let after = Span::at(link.span.end);
                let (end_line, column) = places.line_and_column(after);
                // Counted on a clone, because links may overlap: the next one may begin before this end.
                let mut at = state.units.clone();
                let end = at.column(input.bytes, charset, after.start, column);
                units.1 = (end_line, end);
            }
            CheckForm::Text | CheckForm::Json => {}
        }
        ListedFinding {
            number,
            offset: input.offset,
            line: listed.line,
            column,
            units,
            excerpt,
            link,
            finding,
        }
    }

    /// Takes a link whose class is known.
    pub(super) fn take(
        &self,
        key: FileKey<'_>,
        file: &mut FileLinks,
        row: &ListedFinding,
        output: &mut Output,
    ) -> io::Result<()> {
        let class = row.finding.class;
        if let Some(baseline) = self.baseline.filter(|_| self.is_noted(class)) {
            let path = baseline::path(key.name);
            if baseline.accept(FindingKey::of(&path, &row.link, &row.finding)) {
                *file.accepted.entry(class).or_default() += 1;
                return Ok(());
            }
        }
        if targets::are_shown(self.request, class) {
            let placed = (&row.link, (row.line, row.column), row.number);
            targets::add(&mut file.targets, self.request, placed, &row.finding);
        }
        if !self.list.contains(class) {
            return Ok(());
        }
        let is_denied = self.request.deny.contains(class);
        match self.request.form() {
            CheckForm::Text => {
                if !std::mem::replace(&mut file.is_begun, true) {
                    output.blank_line()?;
                }
                text::print_finding(key.path, row, is_denied, output)
            }
            CheckForm::Json => {
                let (name, place) = (DocumentName::of(key.path), (row.line, row.column));
                let record = MovedRecord::of(name, place, row.offset, &row.link, &row.finding);
                output.json(&record)
            }
            CheckForm::Github => github::print_finding(key.path, row, is_denied, output),
            CheckForm::Sarif => sarif::print_finding(key.path, row, is_denied, output),
        }
    }
}

impl ListedFinding {
    /// The URL with the fragment that must be an id.
    pub(super) fn url(&self) -> &str {
        let target = self.finding.target.as_ref();
        target.unwrap_or(&self.link.reference)
    }

    /// Decides about the fragment of the link, and counts the link anew.
    pub(super) fn settle(&mut self, place: Option<FragmentPlace>, counts: &mut ClassCounts) {
        let finding = &mut self.finding;
        if let Some((class, cause, hint)) = place.and_then(|place| place.settle(finding.class)) {
            counts.reclassify(finding.class, class, 1);
            (finding.class, finding.cause, finding.hint) = (class, cause, hint);
        }
    }
}

impl FileLinks {
    /// Adds a link that waits for the ids of a resource.
    fn wait(&mut self, request: &Check, ids_of: usize, (number, found): (usize, &CheckedLink)) {
        let (listed, finding) = (&found.listed, &found.finding);
        let placed = (&listed.link, (listed.line, listed.column), number);
        let url = finding.target.as_ref().unwrap_or(&listed.link.reference);
        let groups = self.waiting.entry(finding.class).or_default();
        if let Some(group) = groups.get_mut(url) {
            group.target.add(request, placed, finding);
            return;
        }
        let mut target = TargetSummary::new(request, url.clone(), finding);
        target.add(request, placed, finding);
        let group = WaitingLinks {
            ids_of,
            target,
            files: Vec::new(),
        };
        groups.insert(url.clone(), group);
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
