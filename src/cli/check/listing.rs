//! The links of documents, taken one by one: counted, compared with the baseline, printed, and grouped by target.
//!
//! ```text
//! a link with its finding  -->  a count; a line of output in text, JSON, SARIF, …; a target
//! ```
//!
//! Nothing is kept about most links.
//!
//! Deliberately absent: the forms themselves, such as [`text`] and [`sarif`].

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use baselink_rewrite::Outcome;
use baselink_text::{Charset, Code, Span};

use super::{
    baseline::{self, Baseline, FindingKey},
    ci, text,
};
use baselink_site::{
    collection::{Collection, origin::RootUrl},
    purpose::{
        check::{
            CheckedDocument, CheckedLink, CheckedSite, Class, FragmentList, Ids, check,
            targets::{FullTargets, PLACES, PlacedLink, ROWS, Targets},
        },
        relocate::Remedies,
        tally::{Counted, Tally},
    },
    reading::{DocumentName, FilePlaces, Input},
};

use crate::cli::{
    advice::is_of_bases,
    args::check::{Check, CheckForm, Classes},
    json_records::MovedRecord,
    output::{Output, location},
};

/// A site, the root of its host, if links have the path of the root of the site, and the ids in its documents, once they are
/// known.
pub type ListedSite<'s> = (
    &'s Arc<Collection>,
    Option<&'s RootUrl>,
    Option<&'s BTreeMap<usize, Ids>>,
);

/// Takes links.
pub struct Lister<'a> {
    pub request: &'a Check,
    /// The classes whose links are listed one by one.
    pub list: Classes,
    /// The form of the list.
    pub form: CheckForm,
    pub baseline: Option<&'a Baseline>,
    /// The targets of an archive that need no further places.
    pub full: &'a FullTargets,
    /// True if only the remedies of links are collected.
    pub mends: bool,
}

/// The links of one file.
#[derive(Default)]
pub struct FileLinks {
    /// The numbers of its links, and of the findings that the baseline accepts.
    pub tally: Tally,
    pub targets: Targets,
    /// The possible targets of fragments in the file.
    pub ids: Option<Ids>,
    /// The fragments of the links in its documents, if ids were not known yet.
    pub fragments: FragmentList,
    pub remedies: Remedies,
    /// True if a finding of the file was printed.
    is_begun: bool,
    /// The number of links that were not only counted.
    links: usize,
}

/// True if the targets of links with `class` are shown.
fn are_shown(request: &Check, class: Class) -> bool {
    let (lists_links, has_report) = (request.lists_links(), !request.report.is_empty());
    (request.deny.contains(class) && (!lists_links || has_report || request.missing.is_some()))
        || (!lists_links && request.list.contains(class))
        || (has_report && Classes::BROKEN.contains(&class))
        // The summary of an archive counts these targets.
        || class == Class::Missing
}

/// The number of places to keep for each target.
pub fn room(request: &Check) -> usize {
    if !request.report.is_empty() {
        ROWS
    } else {
        PLACES
    }
}

/// The state of listing one document.
#[derive(Default)]
struct DocumentState<'a> {
    places: Option<FilePlaces<'a>>,
    units: Utf16Columns,
}

impl Lister<'_> {
    /// True if findings go to a list or a baseline one by one.
    pub fn is_by_link(&self) -> bool {
        self.mends || self.list != Classes::default() || self.baseline.is_some()
    }

    /// The number of links to the target `url` with findings of `class` whose places are needed.
    fn places(&self, class: Class, url: &str) -> usize {
        match self.full.has(class, url) {
            _ if self.is_by_link() => usize::MAX,
            true => 0,
            false => room(self.request),
        }
    }

    /// True if findings of `class` are listed, noted in a baseline, or counted by target.
    fn concerns(&self, class: Class) -> bool {
        self.mends
            || self.list.contains(class)
            || self.is_noted(class)
            || are_shown(self.request, class)
    }

    /// True if there is a baseline that has findings of `class`.
    fn is_noted(&self, class: Class) -> bool {
        self.baseline.is_some() && self.request.is_bad(class)
    }

    /// Takes the links in the document `input` of the file at `path`, which is called `name` in the `site`.
    pub fn document(
        &self,
        (collection, host, ids): ListedSite<'_>,
        (path, name): (&Path, &[u8]),
        input: &Input<'_>,
        file: &mut FileLinks,
        output: &mut Output,
    ) -> io::Result<CheckedDocument> {
        let (mut state, mut printed) = (DocumentState::default(), Ok(()));
        let site = CheckedSite {
            collection,
            ids,
            host,
            to: self.request.to.as_ref(),
            ignored: self.request.ignored.as_ref(),
            is_reported: &|class| self.concerns(class),
            places: &|class, url| self.places(class, url),
        };
        let mut document = check(name, input.bytes, input.options, site, &mut |mut found| {
            found.listed.line += input.lines;
            file.links += 1;
            let (tally, link) = (&mut file.tally, &found.listed.link);
            tally.add(Counted::Checked(found.finding.rule), 1_usize);
            tally.add(Counted::Baseless, link.outcome == Outcome::NoBase);
            tally.add(Counted::Schemeless, link.lacks_only_scheme());
            if printed.is_ok() && self.concerns(found.finding.class()) {
                let within = (input, &mut state);
                printed = self.take((path, name, collection), within, file, &found, output);
            }
        });
        file.tally.merge(&document.counted);
        for (rule, url, links) in std::mem::take(&mut document.repeated) {
            if are_shown(self.request, rule.class()) {
                file.targets.count((rule, None, url.into()), links);
            }
        }
        // A tree that moves may have relative bases. Nobody can edit an archive, so its documents are reported as captured.
        let is_shown = |code| {
            let is_of_folder = is_of_bases(code) && code != Code::BaseRelative;
            code == Code::Growth || (is_of_folder && !self.request.is_of_archives)
        };
        let places = FilePlaces::of(input, document.charset);
        let shown = document.diagnostics.iter();
        shown
            .filter(|found| is_shown(found.code))
            .for_each(|found| output.report_diagnostic(&places, found));
        file.ids = document.ids.take();
        file.fragments.append(&mut document.fragments);
        printed.map(|()| document)
    }

    /// Takes a link.
    fn take<'i>(
        &self,
        (path, name, site): (&Path, &[u8], &Collection),
        (input, state): (&'i Input<'i>, &mut DocumentState<'i>),
        file: &mut FileLinks,
        found: &CheckedLink,
        output: &mut Output,
    ) -> io::Result<()> {
        let CheckedLink {
            listed, finding, ..
        } = found;
        let (class, link) = (finding.class(), &listed.link);
        if let Some(baseline) = self.baseline.filter(|_| self.is_noted(class))
            && baseline.accept(FindingKey::of(baseline::path(name), link, finding))
        {
            file.tally.add(Counted::Accepted(class), 1_usize);
            return Ok(());
        }
        if self.mends {
            let remedy = finding.remedy(link, site);
            file.remedies.extend(link.target.clone().zip(remedy));
            return Ok(());
        }
        if are_shown(self.request, class) {
            let placed: PlacedLink<'_> = (listed, location, file.links);
            file.targets.add(room(self.request), placed, finding);
        }
        if !self.list.contains(class) {
            return Ok(());
        }
        let is_denied = self.request.deny.contains(class);
        match self.form {
            CheckForm::Text => {
                if !std::mem::replace(&mut file.is_begun, true) {
                    output.blank_line()?;
                }
                text::print_finding(path, (found, input.bytes), is_denied, output)
            }
            CheckForm::Json => {
                let name = DocumentName::of(path);
                output.json(&MovedRecord::of(name, input.offset, listed, finding))
            }
            CheckForm::Github => {
                let [start, _] = state.region(input, found);
                ci::print_annotation(path, (finding, start), is_denied, output)
            }
            CheckForm::Sarif => {
                let region = state.region(input, found);
                let span = link.span.shifted(input.offset);
                ci::print_finding(path, (finding, region, span), is_denied, output)
            }
        }
    }
}

impl<'i> DocumentState<'i> {
    /// The lines and columns of the start and the end of a link, in UTF-16 code units.
    fn region(&mut self, input: &'i Input<'i>, found: &CheckedLink) -> [(usize, usize); 2] {
        let (charset, span) = (found.charset, found.listed.link.span);
        let places = self
            .places
            .get_or_insert_with(|| FilePlaces::of(input, charset));
        let place = |units: &mut Utf16Columns, at: usize| {
            let (line, column) = places.line_and_column(Span::at(at));
            (line, units.column(input.bytes, charset, at, column))
        };
        let start = place(&mut self.units, span.start);
        // Counted on a clone, because links may overlap: the next one may begin before this end.
        [start, place(&mut self.units.clone(), span.end)]
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
