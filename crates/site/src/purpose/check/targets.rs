//! Findings grouped by target: a missing page is reported once, with the links to it.
//!
//! ```text
//! a.html:3:10 gone.html, b/c.html:7:2 ../gone.html#x  -->  http://a/gone.html: links 2, files 2, …
//! ```
//!
//! Denied classes come first, then the targets with the most links.
//!
//! Deliberately absent: the form of targets, and the words for the location of a link.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    sync::{PoisonError, RwLock},
};

use baselink_rewrite::{LinkReport, ListedLink, Reason};
use indexmap::{IndexMap, IndexSet};

use crate::{
    collection::saturated,
    purpose::check::{Class, Finding, FindingRule},
};

/// The largest number of places that a short list shows for a target.
pub const PLACES: usize = 3;

/// The number of places in a long list after which each further target has at most [`PLACES`].
pub const ROWS: usize = 250_000;

/// The links to a target.
#[derive(Default)]
pub struct TargetSummary {
    /// The number of links.
    pub links: usize,
    /// The number of files with such links; zero before they are added to those of other files.
    pub files: usize,
    /// True if the resolvers disagree where a link leads.
    pub differs: bool,
    /// The hint of the first link that has one.
    pub hint: Option<Box<str>>,
    /// The first of the links, in the order of the files and their links.
    pub places: Vec<FoundLink>,
}

/// The place of a link.
pub struct FoundLink {
    /// The number of the file in the tree.
    pub file: u32,
    /// The number of the link in the file.
    link: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
    /// The number of the text with its location.
    location: u32,
    /// The number of the reference; `None` if it is the URL of the target.
    reference: Option<u32>,
}

/// The rule and the reason of findings, and the URL of a target.
type TargetKey = (FindingRule, Option<Reason>, Box<str>);

/// Targets by rule, reason and URL. An archive may have millions.
///
/// The URL includes the fragment only if the finding is about the fragment. It is the reference if the link has no target.
#[derive(Default)]
pub struct Targets {
    all: IndexMap<TargetKey, TargetSummary>,
    /// The locations of links, and their references.
    texts: IndexSet<Box<str>>,
}

/// A link with the function that puts its location into words, and its number in the file.
pub type PlacedLink<'l> = (&'l ListedLink, fn(&LinkReport) -> String, usize);

impl Targets {
    /// True if no target was added.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds links of the only file whose places are not needed.
    pub fn count(&mut self, target: TargetKey, links: usize) {
        self.all.entry(target).or_default().links += links;
    }

    /// Adds a link of the only file.
    pub fn add(
        &mut self,
        room: usize,
        (listed, location, number): PlacedLink<'_>,
        finding: &Finding,
    ) {
        let link = &listed.link;
        let url = target_url(link, finding);
        let Self { all, texts } = self;
        let target = (finding.rule, finding.reason, url.into());
        let summary = all.entry(target).or_default();
        summary.links += 1;
        summary.differs |= finding.differs;
        if summary.hint.is_none() {
            summary.hint = finding.hint.as_deref().map(Box::from);
        }
        if summary.places.len() < room {
            let [number, line, column] = [number, listed.line, listed.column].map(saturated);
            let location = add(texts, &location(link));
            let reference = &*link.reference;
            let reference = (reference != url).then(|| add(texts, reference));
            let place = FoundLink {
                file: 0,
                link: number,
                line,
                column,
                location,
                reference,
            };
            summary.add_places([place].into_iter());
        }
    }

    /// Adds the targets of the file with the number `file`, and keeps the first `room` places of each. Notes those that need
    /// no further places in `full`.
    pub fn merge(&mut self, others: Self, file: usize, room: usize, full: &FullTargets) {
        for (target, other) in &others.all {
            let Self { all, texts } = &mut *self;
            let mut renumbered = |number| add(texts, &others.texts[number as usize]);
            let summary = all.entry(target.clone()).or_default();
            summary.links += other.links;
            summary.files += 1;
            summary.differs |= other.differs;
            if summary.hint.is_none() {
                summary.hint.clone_from(&other.hint);
            }
            summary.add_places(other.places.iter().map(|place| FoundLink {
                file: saturated(file),
                location: renumbered(place.location),
                reference: place.reference.map(&mut renumbered),
                ..*place
            }));
            summary.places.truncate(room);
            if summary.places.len() >= room {
                full.note(target.0.class(), &target.2);
            }
        }
    }

    /// Puts the targets in order: classes that are denied first, then the most links.
    pub fn put_in_order(&mut self, is_denied: impl Fn(Class) -> bool) {
        let key = |target: &TargetKey, summary: &TargetSummary| {
            let class = target.0.class();
            let first = summary.places.first();
            let first = first.map(|first| (first.file, first.link));
            let rank = (Reverse(is_denied(class)), Reverse(summary.links));
            (rank, first, class)
        };
        self.all.sort_unstable_by(|one, links, other, other_links| {
            let by_key = key(one, links).cmp(&key(other, other_links));
            by_key.then_with(|| (&one.2, one).cmp(&(&other.2, other)))
        });
        let mut room = ROWS;
        for summary in self.all.values_mut() {
            summary.places.truncate(room.max(PLACES));
            room = room.saturating_sub(summary.places.len());
        }
    }

    /// The targets in the order in which they are shown, once they are [in order](Self::put_in_order).
    pub fn iter(&self) -> impl Iterator<Item = CheckedTarget<'_>> {
        let targets = self.all.iter();
        targets.map(|((rule, reason, to), summary)| CheckedTarget {
            rule: *rule,
            reason: *reason,
            to,
            summary,
            texts: &self.texts,
        })
    }

    /// The targets of this class.
    pub fn of_class(&self, class: Class) -> impl Iterator<Item = CheckedTarget<'_>> {
        self.iter()
            .filter(move |target| target.rule.class() == class)
    }
}

/// A target of links with the same rule and reason.
#[derive(Clone, Copy)]
pub struct CheckedTarget<'t> {
    /// The rule of the findings.
    pub rule: FindingRule,
    /// The reason of the links.
    pub reason: Option<Reason>,
    /// The URL.
    pub to: &'t str,
    /// The links.
    pub summary: &'t TargetSummary,
    texts: &'t IndexSet<Box<str>>,
}

impl<'t> CheckedTarget<'t> {
    /// The location of a link to the target, and its reference.
    pub fn texts_of(&self, place: &FoundLink) -> (&'t str, &'t str) {
        let text = |number: u32| &*self.texts[number as usize];
        (text(place.location), place.reference.map_or(self.to, text))
    }
}

impl TargetSummary {
    /// Adds places of a later file, or of a later link.
    fn add_places(&mut self, places: impl ExactSizeIterator<Item = FoundLink>) {
        // Most targets of a large archive have one link.
        if self.places.is_empty() {
            self.places.reserve_exact(places.len());
        }
        self.places.extend(places);
    }
}

/// The number of `text`, which is added if it is new.
fn add(texts: &mut IndexSet<Box<str>>, text: &str) -> u32 {
    saturated(texts.insert_full(text.into()).0)
}

/// The URL that identifies a target; it includes the fragment only in the classes that are about fragments.
fn target_url<'l>(link: &'l LinkReport, finding: &'l Finding) -> &'l str {
    let Some(target) = &finding.target else {
        return &link.reference;
    };
    let end = match finding.class() {
        Class::Fragment | Class::Lines => None,
        _ => target.find('#'),
    };
    &target[..end.unwrap_or(target.len())]
}

/// The URLs of targets, by class, that have all the places that will be shown. Files are added in their order, so the links
/// of later files need no places.
#[derive(Default)]
pub struct FullTargets {
    urls: RwLock<HashMap<Class, HashSet<String>>>,
}

impl FullTargets {
    /// Notes that the target `url` needs no further places.
    fn note(&self, class: Class, url: &str) {
        if self.has(class, url) {
            return;
        }
        let mut urls = self.urls.write().unwrap_or_else(PoisonError::into_inner);
        urls.entry(class).or_default().insert(url.to_owned());
    }

    /// True if no further places of links to `url` with this class are needed.
    pub fn has(&self, class: Class, url: &str) -> bool {
        let urls = self.urls.read().unwrap_or_else(PoisonError::into_inner);
        urls.get(&class).is_some_and(|urls| urls.contains(url))
    }
}
