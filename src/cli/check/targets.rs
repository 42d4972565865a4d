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
use std::collections::HashMap;

use crate::collection::Absence;
use crate::purpose::check::{Cause, Class, Finding};
use baselink_rewrite::report::LinkReport;

use crate::cli::args::check::{Check, Classes};
use crate::cli::output::location;
use crate::cli::places::FilePlaces;

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
    pub(super) missing: Option<Absence>,
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

/// Targets by class, cause and URL.
pub(super) type Targets = HashMap<(Class, Option<Cause>, String), TargetSummary>;

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

/// Adds a link to its target. `file` is the number of its file, and `number` the number of the link in that file.
pub(super) fn add(
    targets: &mut Targets,
    request: &Check,
    (file, number): (usize, usize),
    (link, finding): (&LinkReport, &Finding),
    places: &FilePlaces<'_>,
) {
    let (class, cause) = (finding.class, finding.cause);
    let to = target_url(link, finding);
    let target = targets
        .entry((class, cause, to.clone()))
        .or_insert_with(|| TargetSummary {
            class,
            cause,
            to,
            is_denied: request.deny.contains(class),
            links: 0,
            files: 1,
            differing: 0,
            missing: None,
            hint: None,
            places: Vec::new(),
        });
    target.links += 1;
    target.differing += usize::from(finding.differs);
    target.missing = target.missing.or(finding.missing);
    if target.hint.is_none() {
        target.hint.clone_from(&finding.hint);
    }
    if target.places.len() < room(request) {
        let (line, column) = places.line_and_column(link.span);
        target.places.push(FoundLink {
            file,
            link: number,
            line,
            column,
            location: location(link),
            reference: link.reference.clone(),
        });
    }
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

/// Adds the targets `found` in a later file; each keeps at most `room` places.
pub(super) fn merge(all: &mut Targets, found: Targets, room: usize) {
    for (same, target) in found {
        let Some(known) = all.get_mut(&same) else {
            all.insert(same, target);
            continue;
        };
        known.links += target.links;
        known.files += target.files;
        known.differing += target.differing;
        known.missing = known.missing.or(target.missing);
        known.hint = known.hint.take().or(target.hint);
        let room = room.saturating_sub(known.places.len());
        known.places.extend(target.places.into_iter().take(room));
    }
}

/// The targets in order: denied classes first, then the most links.
pub(super) fn in_order(all: Targets) -> Vec<TargetSummary> {
    let mut all: Vec<TargetSummary> = all.into_values().collect();
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
