//! Numbers that are only added, merged and printed: links by result or class, files, adaptations.
//!
//! ```
//! use baselink_site::purpose::{finding_rule::FindingRule, tally::{Counted, Tally}};
//! let mut tally = Tally::default();
//! tally.add(Counted::Checked(FindingRule::NetPath), 2_usize);
//! let mut more = Tally::default();
//! more.add(Counted::Checked(FindingRule::NetPath), 2_usize);
//! tally.merge(&more);
//! assert_eq!(tally[Counted::Checked(FindingRule::NetPath)], 4);
//! ```
//!
//! Deliberately absent: values, such as paths and URLs; and words.

use std::{collections::BTreeMap, ops::Index};

use baselink_rewrite::{Reason, Totals};
use baselink_text::{display_by_name, named};

use super::{
    finding_rule::{Class, FindingRule},
    link_result::LinkResult,
};
use crate::reading::SkipReason;

named! {
    /// A kind of adaptation.
    #[derive(PartialOrd, Ord)]
    pub enum Adaptation {
        /// An encoding that only the HTTP heading gave is now declared.
        Charset = "charset",
        /// An `integrity` or `crossorigin` attribute was removed.
        Integrity = "integrity",
        /// A Content-Security-Policy was disabled.
        Policy = "policy",
        /// An attribute of a shadow root was renamed.
        Shadow = "shadow",
        /// The descriptor of an image candidate was changed.
        Descriptor = "descriptor",
        /// A policy was added that forbids scripts and the network, or a refresh to the network was disabled.
        Quiet = "quiet",
    }
}
display_by_name!(Adaptation);

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// Links with this result, and the reason if the result does not imply it.
    Link(LinkResult, Option<Reason>),
    /// Rewritten links that are only a fragment.
    Fragment,
    /// Documents: pages, messages, records.
    Document,
    /// Documents that `--verify` proved.
    Verified,
    /// The edits of links in these documents.
    VerifiedEdit,
    /// Entities, of messages and others.
    Entity,
    /// Files that were read as documents.
    File,
    /// Files with changed links.
    Rewritten,
    /// Files with links that lack a base, without those that a browser saved with a page.
    WithoutBase,
    /// Documents that were written elsewhere without the files that a browser saved with them.
    WithoutCopies,
    /// Files that may name old URLs.
    NamingOldUrls,
    /// Old URLs outside links that were replaced.
    ReplacedUrl,
    /// Scripts with paths from the old root.
    RootPaths,
    /// Hashes of style sheets and scripts that change.
    OutdatedIntegrity,
    /// Pages and scripts that the generator with this name wrote.
    Built(&'static str),
    /// Adaptations of this kind.
    Adapted(Adaptation),
    /// Module scripts, which browsers refuse to load from disk.
    RefusedModule,
    /// `integrity` and `crossorigin` attributes, for which browsers refuse to load targets from disk.
    RefusedIntegrity,
    /// SVG `use` elements of other files, which browsers refuse to load from disk.
    RefusedUse,
    /// `track` elements, which browsers refuse to load from disk.
    RefusedTrack,
    /// XSLT style sheets, which browsers refuse to load from disk.
    RefusedSheet,
    /// Pages whose scripts would open another page.
    RefusedRouter,
    /// Pages whose script requests the text to show.
    RefusedText,
    /// Files that only scripts request, to search in them.
    RefusedIndex,
    /// Links with findings by this rule.
    Checked(FindingRule),
    /// Findings of this class that the baseline accepts.
    Accepted(Class),
    /// Links to files that contain the path of the root.
    Prefixed,
    /// Relative links to files, which depend on the URL of their document.
    Varying,
    /// Links that lack a base.
    Baseless,
    /// Links that lack only a scheme.
    Schemeless,
    /// Skipped files that are parts of HTML pages.
    Part,
    /// Files that were skipped for this reason.
    Skipped(SkipReason),
    /// Files that were copied instead.
    Copied(SkipReason),
}

/// Numbers by what they count.
#[derive(Default)]
pub struct Tally(BTreeMap<Counted, usize>);

impl Tally {
    /// Adds a number, or 1 for `true`.
    pub fn add(&mut self, what: Counted, number: impl Into<usize>) {
        let number = number.into();
        if number > 0 {
            *self.0.entry(what).or_default() += number;
        }
    }

    /// Adds the numbers of `other`.
    pub fn merge(&mut self, other: &Self) {
        other
            .iter()
            .for_each(|(what, number)| self.add(what, number));
    }

    /// The sum of the numbers that `is_wanted` selects.
    pub fn sum(&self, is_wanted: impl Fn(Counted) -> bool) -> usize {
        let wanted = self.iter().filter(|(what, _)| is_wanted(*what));
        wanted.map(|(_, number)| number).sum()
    }

    /// The number of links of this class.
    pub fn of_class(&self, class: Class) -> usize {
        self.checked(|one| one == class)
    }

    /// The number of links that were checked.
    pub fn links_checked(&self) -> usize {
        self.checked(|class| class != Class::Unlinked)
    }

    /// The number of links whose class `is_wanted` selects.
    pub fn checked(&self, is_wanted: impl Fn(Class) -> bool) -> usize {
        self.sum(|what| matches!(what, Counted::Checked(rule) if is_wanted(rule.class())))
    }

    /// The number of links whose result and reason `is_wanted` selects.
    pub fn links(&self, is_wanted: impl Fn(LinkResult, Option<Reason>) -> bool) -> usize {
        self.sum(|what| matches!(what, Counted::Link(result, reason) if is_wanted(result, reason)))
    }

    /// The number of links with this result.
    pub fn of_result(&self, result: LinkResult) -> usize {
        self.links(|one, _| one == result)
    }

    /// Adds the totals of `rewrite` for a document.
    pub fn add_totals(&mut self, totals: &Totals) {
        for (outcome, reason, number) in totals.counts() {
            self.add(Counted::Link(LinkResult::of(outcome), reason), number);
        }
    }

    /// The numbers that are not zero, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Counted, usize)> + '_ {
        self.0.iter().map(|(what, number)| (*what, *number))
    }
}

impl Index<Counted> for Tally {
    type Output = usize;

    fn index(&self, what: Counted) -> &usize {
        self.0.get(&what).unwrap_or(&0)
    }
}
