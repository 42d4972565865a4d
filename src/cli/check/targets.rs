//! Findings grouped by target: a missing page is reported once, with the links to it.
//!
//! ```text
//! a.html:3:10 gone.html, b/c.html:7:2 ../gone.html#x  -->  TargetSummary { to: http://a/gone.html, links: 2, files: 2, … }
//! ```
//!
//! Denied classes come first, then the targets with the most links.
//!
//! Deliberately absent: the form of targets in text and on the page.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

use crate::purpose::check::{Cause, Class, Finding};
use baselink_rewrite::report::LinkReport;

use crate::cli::args::check::{Check, Classes};
use crate::cli::output::location;

/// The largest number of places that the text output shows for a target.
pub(super) const PLACES: usize = 3;

/// The number of places on the HTML page after which each further target has at most [`PLACES`].
const ROWS: usize = 250_000;

/// Links with the same class, cause and target.
pub(super) struct TargetSummary {
    pub(super) class: Class,
    pub(super) cause: Option<Cause>,
    /// The URL, with its fragment only if the finding is about the fragment; the reference if the link has no target.
    pub(super) to: String,
    pub(super) is_denied: bool,
    pub(super) links: usize,
    /// The number of files with such links.
    pub(super) files: usize,
    /// The number of links that lead elsewhere under another resolver.
    pub(super) differing: usize,
    pub(super) hint: Option<String>,
    /// The first of the links, in the order of the files.
    pub(super) places: Vec<FoundLink>,
}

/// The place of a link.
pub(super) struct FoundLink {
    /// The number of the file in the tree.
    pub(super) file: usize,
    /// The number of the link in the file.
    pub(super) link: usize,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) location: String,
    pub(super) reference: String,
}

/// The class, the cause and the URL of a target.
type TargetKey = (Class, Option<Cause>, String);

/// Targets by class, cause and URL.
pub(super) type Targets = HashMap<TargetKey, Box<TargetSummary>>;

/// True if the targets of links with `class` are shown.
pub(super) fn are_shown(request: &Check, class: Class) -> bool {
    let Check {
        deny,
        list,
        report,
        missing,
        ..
    } = request;
    let lists_links = request.lists_links();
    (deny.contains(class) && (!lists_links || report.is_some()))
        || (!lists_links && list.contains(class))
        || (report.is_some() && Classes::BROKEN.contains(&class))
        || (missing.is_some() && deny.contains(class))
        // The summary of an archive counts these targets.
        || class == Class::Missing
}

/// The number of places to keep for each target.
pub(super) fn room(request: &Check) -> usize {
    if request.report.is_some() {
        ROWS
    } else {
        PLACES
    }
}

/// A link with its line and column, and its number in the file.
pub(super) type PlacedLink<'l> = (&'l LinkReport, (usize, usize), usize);

impl TargetSummary {
    /// The summary of a target without links.
    fn new(request: &Check, (class, cause, to): &TargetKey) -> Self {
        Self {
            class: *class,
            cause: *cause,
            to: to.clone(),
            is_denied: request.deny.contains(*class),
            links: 0,
            files: 1,
            differing: 0,
            hint: None,
            places: Vec::new(),
        }
    }

    /// Adds a link of the only file.
    pub(super) fn add(
        &mut self,
        request: &Check,
        (link, (line, column), number): PlacedLink<'_>,
        finding: &Finding,
    ) {
        self.links += 1;
        self.differing += usize::from(finding.differs);
        if self.hint.is_none() {
            self.hint.clone_from(&finding.hint);
        }
        if self.places.len() < room(request) {
            // Most targets of a large archive have one link.
            if self.places.is_empty() {
                self.places.reserve_exact(1);
            }
            self.places.push(FoundLink {
                file: 0,
                link: number,
                line,
                column,
                location: location(link),
                reference: link.reference.clone(),
            });
        }
    }
}

/// Adds a link of a file to its target.
pub(super) fn add(
    targets: &mut Targets,
    request: &Check,
    placed: PlacedLink<'_>,
    finding: &Finding,
) {
    let key = (finding.class, finding.cause, target_url(placed.0, finding));
    summary(targets, request, key).add(request, placed, finding);
}

/// The summary of a target, which is added if there is none.
pub(super) fn summary<'t>(
    targets: &'t mut Targets,
    request: &Check,
    key: TargetKey,
) -> &'t mut TargetSummary {
    targets
        .entry(key)
        .or_insert_with_key(|key| Box::new(TargetSummary::new(request, key)))
}

/// The URL that identifies a target; it includes the fragment only in the classes that are about fragments.
fn target_url(link: &LinkReport, finding: &Finding) -> String {
    let Some(target) = &finding.target else {
        return link.reference.clone();
    };
    let end = match finding.class {
        Class::Fragment | Class::Lines => None,
        _ => target.find('#'),
    };
    target[..end.unwrap_or(target.len())].to_owned()
}

/// Adds `target`, found in other files, and returns the sum, which keeps the first `room` places.
pub(super) fn merge(all: &mut Targets, target: Box<TargetSummary>, room: usize) -> &TargetSummary {
    match all.entry((target.class, target.cause, target.to.clone())) {
        Entry::Vacant(new) => new.insert(target),
        Entry::Occupied(known) => {
            let known = known.into_mut();
            known.merge(*target, room);
            known
        }
    }
}

/// The URLs of targets, by class, that have all the places that will be shown. Files are added in their order, so the links
/// of later files need no places.
#[derive(Default)]
pub(super) struct FullTargets {
    urls: RwLock<HashMap<Class, HashSet<String>>>,
}

impl FullTargets {
    /// Notes `target` if it has this number of places.
    pub(super) fn note(&self, target: &TargetSummary, room: usize) {
        if target.places.len() < room || self.has(target.class, &target.to) {
            return;
        }
        let mut urls = self.urls.write().unwrap_or_else(PoisonError::into_inner);
        urls.entry(target.class)
            .or_default()
            .insert(target.to.clone());
    }

    /// True if no further places of links to `url` with this class are needed.
    pub(super) fn has(&self, class: Class, url: &str) -> bool {
        let urls = self.urls.read().unwrap_or_else(PoisonError::into_inner);
        urls.get(&class).is_some_and(|urls| urls.contains(url))
    }
}

impl TargetSummary {
    /// Adds the links to the same target in other files; keeps the first `room` places.
    pub(super) fn merge(&mut self, others: Self, room: usize) {
        self.links += others.links;
        self.files += others.files;
        self.differing += others.differing;
        self.hint = self.hint.take().or(others.hint);
        let place = |one: &FoundLink| (one.file, one.link);
        let first = others.places.first().map(place);
        let is_in_order = first.is_none() || self.places.last().map(place) <= first;
        self.places.extend(others.places);
        if !is_in_order {
            self.places.sort_by_key(place);
        }
        self.places.truncate(room);
    }
}

/// The targets in order: denied classes first, then the most links.
pub(super) fn in_order(all: Targets) -> Vec<TargetSummary> {
    let mut all: Vec<TargetSummary> = all.into_values().map(|target| *target).collect();
    let key = |target: &TargetSummary| {
        let first = target.places.first().map(|first| (first.file, first.link));
        (
            Reverse(target.is_denied),
            Reverse(target.links),
            first,
            target.class,
        )
    };
    all.sort_by(|one, other| {
        key(one)
            .cmp(&key(other))
            .then_with(|| one.to.cmp(&other.to))
    });
    let mut room = ROWS;
    for target in &mut all {
        target.places.truncate(room.max(PLACES));
        room = room.saturating_sub(target.places.len());
    }
    all
}
