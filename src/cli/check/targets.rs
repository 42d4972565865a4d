//! Findings by where they lead: a page that is gone is said once, with the links that lead there.
//!
//! ```text
//! a.html:3:10 gone.html, b/c.html:7:2 ../gone.html#x  -->  TargetSummary { to: http://a/gone.html, links: 2, files: 2, … }
//! ```
//!
//! First all findings are judged once more and counted by target, on several threads. Then the files that hold a place
//! that is shown are read again for its line and column. Classes that are denied come first, then what most links lead to.
//!
//! Deliberately absent: how targets look, in text and on the page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io;

use baselink::collection::index::Absence;
use baselink::purpose::check::{Cause, Class, Finding, ScannedLink};
use baselink::span::Span;

use super::baseline::{self, Baseline, Key};
use super::listed::within;
use super::tree::{Checked, CheckedTree, changed, open_again};
use crate::cli::failure::{Failure, FileResult};
use crate::cli::files;
use crate::cli::in_order::all_in_order;
use crate::cli::output::{Output, location_of};
use crate::cli::places::FilePlaces;
use crate::cli::request::{Check, Classes, Origin};
use crate::cli::status::ExitStatus;

/// So many places of each target the text shows.
pub(super) const PLACES: usize = 3;

/// So many places the page has, and a few of each target beyond.
const ROWS: usize = 250_000;

/// So many files are judged by one thread at a time.
const FILES: usize = 16;

/// What links lead to, of which something is to be said.
pub(super) struct Targets {
    pub(super) status: ExitStatus,
    /// Those of denied classes first, then those with the most links.
    pub(super) all: Vec<TargetSummary>,
}

/// Links that lead to one place, and break for one reason.
pub(super) struct TargetSummary {
    pub(super) class: Class,
    pub(super) cause: Option<Cause>,
    /// Where they lead, without the fragment where it is not that which is missing; the reference where that leads nowhere.
    pub(super) to: String,
    pub(super) is_denied: bool,
    pub(super) links: usize,
    /// How many files have such links.
    pub(super) files: usize,
    /// How many of the links have a fix.
    pub(super) fixes: usize,
    /// How many lead elsewhere under another resolver.
    pub(super) differing: usize,
    pub(super) missing: Option<Absence>,
    pub(super) hint: Option<String>,
    /// The first of the links, in the order of the files.
    pub(super) places: Vec<FoundLink>,
}

/// Where a link is.
#[derive(Default)]
pub(super) struct FoundLink {
    /// The file, by its number.
    pub(super) file: usize,
    /// The link, by its number in the file.
    link: usize,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) location: String,
    pub(super) reference: String,
}

/// What makes two links lead to one target.
type Same = (Class, Option<Cause>, String);

impl TargetSummary {
    fn new((class, cause, to): Same, is_denied: bool) -> Self {
        Self {
            class,
            cause,
            to,
            is_denied,
            links: 0,
            files: 0,
            fixes: 0,
            differing: 0,
            missing: None,
            hint: None,
            places: Vec::new(),
        }
    }

    /// Adds what was found after it.
    fn merge(&mut self, other: Self, room: usize) {
        self.links += other.links;
        self.files += other.files;
        self.fixes += other.fixes;
        self.differing += other.differing;
        self.missing = self.missing.or(other.missing);
        self.hint = self.hint.take().or(other.hint);
        let room = room.saturating_sub(self.places.len());
        self.places.extend(other.places.into_iter().take(room));
    }
}

/// Finds the targets of what is listed, denied, or has room on the page, but for what `baseline` accepts.
pub(super) fn find(
    asked: &Check,
    tree: &CheckedTree,
    baseline: Option<&Baseline>,
    output: &mut Output,
) -> io::Result<Targets> {
    let has_page = asked.report.is_some();
    let is_wanted = |class: Class| {
        asked.deny.contains(class)
            || (!asked.lists_links && asked.list.contains(class))
            || (has_page && Classes::BROKEN.contains(&class))
    };
    let room = if has_page { ROWS } else { PLACES };
    let mut all: HashMap<Same, TargetSummary> = HashMap::new();
    let numbered: Vec<(usize, &Checked)> = tree
        .files
        .iter()
        .enumerate()
        .filter(|(_, file)| file.counts.classes.keys().any(|class| is_wanted(*class)))
        .collect();
    let work = |files: &[(usize, &Checked)]| {
        let mut found = HashMap::new();
        for (number, file) in files {
            let of_file = of_file(*number, file, tree, baseline, asked, &is_wanted, room);
            merge(&mut found, of_file, room);
        }
        found
    };
    let chunks = numbered.chunks(FILES);
    all_in_order(asked.documents.jobs, chunks, work, |found| merge(&mut all, found, room));
    let mut all: Vec<TargetSummary> = all.into_values().collect();
    let key = |target: &TargetSummary| {
        let first = target.places.first().map(|first| (first.file, first.link));
        (Reverse(target.is_denied), Reverse(target.links), first, target.class)
    };
    all.sort_by(|one, other| key(one).cmp(&key(other)).then_with(|| one.to.cmp(&other.to)));
    let mut room = ROWS;
    for target in &mut all {
        target.places.truncate(room.max(PLACES));
        room = room.saturating_sub(target.places.len());
    }
    let mut targets = Targets { status: ExitStatus::Done, all };
    targets.look_up(asked, tree, output)?;
    Ok(targets)
}

fn merge(all: &mut HashMap<Same, TargetSummary>, found: HashMap<Same, TargetSummary>, room: usize) {
    for (same, target) in found {
        match all.get_mut(&same) {
            Some(known) => known.merge(target, room),
            None => drop(all.insert(same, target)),
        }
    }
}

/// The targets of one file.
fn of_file(
    number: usize,
    file: &Checked,
    tree: &CheckedTree,
    baseline: Option<&Baseline>,
    asked: &Check,
    is_wanted: &impl Fn(Class) -> bool,
    room: usize,
) -> HashMap<Same, TargetSummary> {
    let mut targets: HashMap<Same, TargetSummary> = HashMap::new();
    let path = baseline::path(&file.scanned.path);
    let mut accepted = baseline.map(|baseline| baseline.of(&path));
    let found = file.findings(tree, is_wanted);
    for (link_number, (link, finding)) in file.scanned.links().zip(&found).enumerate() {
        let Some(finding) = finding.as_ref().filter(|finding| is_wanted(finding.class)) else {
            continue;
        };
        if let Some(accepted) = &mut accepted
            && baseline::is_noted(asked, finding.class)
            && accepted.takes(&Key::of(&path, &link, finding))
        {
            continue;
        }
        let same = (finding.class, finding.cause, to(&link, finding));
        let is_denied = asked.deny.contains(finding.class);
        let target =
            targets.entry(same.clone()).or_insert_with(|| TargetSummary::new(same, is_denied));
        target.files = 1;
        target.links += 1;
        target.fixes += usize::from(finding.fix.is_some());
        target.differing += usize::from(finding.differs);
        target.missing = target.missing.or(finding.missing);
        if target.hint.is_none() {
            target.hint.clone_from(&finding.hint);
        }
        if target.places.len() < room {
            target.places.push(FoundLink {
                file: number,
                link: link_number,
                ..FoundLink::default()
            });
        }
    }
    targets
}

/// Where a link leads, as far as that makes it another target.
fn to(link: &ScannedLink<'_>, finding: &Finding) -> String {
    let Some(target) = &finding.target else { return link.reference.to_owned() };
    let end = match finding.class {
        Class::Fragment | Class::Lines => None,
        _ => target.find('#'),
    };
    target[..end.unwrap_or(target.len())].to_owned()
}

/// A place that is looked up: the link, the target, and the place among its places.
type LookedUp = (usize, usize, usize);

impl Targets {
    /// Looks up the lines and columns of the places.
    fn look_up(
        &mut self,
        asked: &Check,
        tree: &CheckedTree,
        output: &mut Output,
    ) -> io::Result<()> {
        let mut wanted: BTreeMap<usize, Vec<LookedUp>> = BTreeMap::new();
        for (target, number) in self.all.iter().zip(0..) {
            for (place, index) in target.places.iter().zip(0..) {
                wanted.entry(place.file).or_default().push((place.link, number, index));
            }
        }
        wanted.values_mut().for_each(|of_file| of_file.sort_unstable());
        let entries = wanted.keys().map(|number| tree.files[*number].entry.clone()).collect();
        let work = |origin: &Origin, output: &mut Output| {
            let number = tree.numbers.get(origin.path()).copied().unwrap_or_default();
            let Some(wanted) = wanted.get(&number) else { return Ok(None) };
            let done = look_up_in(origin, &tree.files[number], wanted, asked, output)?;
            Ok(Some((wanted, done)))
        };
        let (all, status) = (&mut self.all, &mut self.status);
        files::each_again(&asked.documents, entries, output, work, |batch, output| {
            for (_, page, done) in batch {
                output.append(page)?;
                let Some((wanted, (found, is_whole))) = done else { continue };
                if !is_whole {
                    *status = ExitStatus::Unusable;
                }
                for ((_, number, index), found) in wanted.iter().zip(found) {
                    let place = &mut all[*number].places[*index];
                    *place = FoundLink { file: place.file, link: place.link, ..found };
                }
            }
            Ok(())
        })
    }
}

/// Looks up places in one file; and whether all were found.
fn look_up_in(
    origin: &Origin,
    file: &Checked,
    wanted: &[LookedUp],
    asked: &Check,
    output: &mut Output,
) -> io::Result<(Vec<FoundLink>, bool)> {
    let mut found: Vec<FoundLink> = Vec::new();
    let mut spans: Vec<(Span, usize)> = Vec::new();
    let mut left = wanted.iter().map(|(link, ..)| *link).peekable();
    for (number, link) in file.scanned.links().enumerate() {
        if left.next_if_eq(&number).is_some() {
            spans.push((link.span, found.len()));
            found.push(FoundLink {
                location: location_of(link.entity, link.element, link.attribute),
                reference: link.reference.to_owned(),
                ..FoundLink::default()
            });
        }
    }
    spans.sort_unstable_by_key(|(span, _)| span.start);
    let mut next = 0;
    let mut read = || -> FileResult<()> {
        open_again(origin, &asked.documents, None)?.each(|input, _| {
            let places = FilePlaces::in_charset(input, file.scanned.charset);
            while let Some((span, index)) = spans.get(next) {
                let Some(span) = within(*span, input) else { break };
                next += 1;
                (found[*index].line, found[*index].column) = places.line_and_column(span);
            }
            Ok(())
        })?;
        if next < spans.len() { Err(changed(origin).into()) } else { Ok(()) }
    };
    let read = Failure::nested(read())?;
    if let Err(error) = &read {
        output.error(error);
    }
    Ok((found, read.is_ok()))
}
