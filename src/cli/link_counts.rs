//! The numbers of links by result, in one or more documents.
//!
//! ```text
//! 3 links: 1 rewritten, 2 left (1 empty, 1 placeholder)
//! ```
//!
//! Deliberately absent: the classes of `check` (`check::tree`), and the summary of a run.

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
};

use baselink_rewrite::{LinkReport, Outcome, Reason, Totals};
use baselink_text::named;
use baselink_url::{Category, Grammar, Reference, scheme};
use serde::ser::{Serialize, Serializer};

named! {
    /// The result of a link: its outcome, refined for `localize` and `move`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum LinkResult {
        Rewritten = "rewritten",
        /// The link now leads to a file of the tree.
        MadeLocal = "made local",
        /// The link already led to a file of the tree.
        Local = "local",
        MadeAbsolute = "made absolute",
        /// The link now leads to the new place of its target, by a relative path.
        MovedRelative = "moved relative",
        /// The link now leads to the new place of its target, by a path from the root.
        MovedRootRelative = "moved root-relative",
        /// The link now leads to the new place of its target, by a URL with a host.
        MovedAbsolute = "moved absolute",
        /// The link was not relative, and is now.
        MadeRelative = "made relative",
        /// The link leads to the new place of its target without a change.
        Unchanged = "unchanged",
        Absolute = "absolute",
        /// The link was a declared base, and is now empty.
        BaseEmptied = "base emptied",
        /// The link can lead neither to a file nor to a URL, and now leads nowhere.
        Nowhere = "nowhere",
        NoBase = "no-base",
        Left = "left",
        NotEditable = "not-editable",
    }
}

impl LinkResult {
    /// The results of `rewrite`, in the order of its JSON records.
    pub const OF_REWRITE: &[Self] = &[
        Self::Rewritten,
        Self::Absolute,
        Self::NoBase,
        Self::Left,
        Self::NotEditable,
    ];
    /// The results of `localize`.
    pub const OF_LOCALIZE: &[Self] = &[
        Self::MadeLocal,
        Self::Local,
        Self::MadeAbsolute,
        Self::Absolute,
        Self::BaseEmptied,
        Self::Nowhere,
        Self::NoBase,
        Self::Left,
        Self::NotEditable,
    ];

    /// The results of `move`.
    pub const OF_MOVE: &[Self] = &[
        Self::MovedRelative,
        Self::MovedRootRelative,
        Self::MovedAbsolute,
        Self::MadeRelative,
        Self::Unchanged,
        Self::Absolute,
        Self::Nowhere,
        Self::NoBase,
        Self::Left,
        Self::NotEditable,
    ];

    /// The result of `rewrite` for a link.
    fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Rewritten => Self::Rewritten,
            Outcome::Absolute => Self::Absolute,
            Outcome::NoBase => Self::NoBase,
            Outcome::Left => Self::Left,
            Outcome::NotEditable => Self::NotEditable,
        }
    }

    /// The result of `localize` for a link.
    pub fn of_localized(link: &LinkReport) -> Self {
        let new = link.in_output();
        match (Self::of(link.outcome), link.reason) {
            (Self::Rewritten, Some(Reason::Nowhere)) => Self::Nowhere,
            (Self::Rewritten, _) if new.is_empty() => Self::BaseEmptied,
            (Self::Rewritten, _) if scheme(Grammar::Rfc3986, new).is_some() => Self::MadeAbsolute,
            (Self::Rewritten, _) => Self::MadeLocal,
            (Self::Left, Some(Reason::Chosen)) => Self::Local,
            (result, _) => result,
        }
    }

    /// The result of `move` for a link.
    pub fn of_moved(link: &LinkReport) -> Self {
        match Self::of(link.outcome) {
            Self::Rewritten if link.reason == Some(Reason::Nowhere) => Self::Nowhere,
            Self::Rewritten => {
                let [old, new] = [&link.reference, link.in_output()]
                    .map(|reference| Reference::split(Grammar::Rfc3986, reference).category());
                match (new, old) {
                    (Category::AbsPath, _) => Self::MovedRootRelative,
                    (Category::AbsoluteUrl | Category::NetPath, _) => Self::MovedAbsolute,
                    (_, Category::AbsPath | Category::AbsoluteUrl | Category::NetPath) => {
                        Self::MadeRelative
                    }
                    _ => Self::MovedRelative,
                }
            }
            Self::Left if link.reason == Some(Reason::Chosen) => Self::Unchanged,
            result => result,
        }
    }

    /// True if the link changed.
    fn is_change(self) -> bool {
        !matches!(
            self,
            Self::Local
                | Self::Unchanged
                | Self::Absolute
                | Self::NoBase
                | Self::Left
                | Self::NotEditable
        )
    }
}

/// The number of links by result and reason: `3 links: 1 rewritten, 2 left (1 empty, 1 placeholder)`.
#[derive(Default)]
pub struct LinkCounts {
    counts: BTreeMap<(LinkResult, Option<Reason>), usize>,
}

impl LinkCounts {
    /// The number of links with this result.
    pub fn count(&self, result: LinkResult) -> usize {
        self.sum(|of, _| of == result)
    }

    /// The number of links to local copies.
    pub fn local_copies(&self) -> usize {
        self.sum(|_, why| why == Some(Reason::LocalCopy))
    }

    fn sum(&self, is_wanted: impl Fn(LinkResult, Option<Reason>) -> bool) -> usize {
        let wanted = self
            .counts
            .iter()
            .filter(|((of, why), _)| is_wanted(*of, *why));
        wanted.map(|(_, number)| number).sum()
    }

    /// True if a link changed.
    pub fn has_changes(&self) -> bool {
        self.counts.keys().any(|(result, _)| result.is_change())
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (of, number) in &other.counts {
            *self.counts.entry(*of).or_default() += number;
        }
    }

    /// Adds the totals of `rewrite` for a document.
    pub fn add_totals(&mut self, totals: &Totals) {
        for (outcome, reason, number) in totals.counts() {
            *self
                .counts
                .entry((LinkResult::of(outcome), reason))
                .or_default() += number;
        }
    }

    /// Adds links with this result.
    pub fn add(&mut self, result: LinkResult, reason: Option<Reason>, number: usize) {
        if number == 0 {
            return;
        }
        let implies_reason = matches!(
            result,
            LinkResult::Local | LinkResult::Unchanged | LinkResult::Nowhere
        );
        let reason = reason.filter(|_| !implies_reason);
        *self.counts.entry((result, reason)).or_default() += number;
    }
}

/// The number of links by result, as a JSON object with the names of the results as keys.
pub struct LinkCountsRecord<'t> {
    pub link_counts: &'t LinkCounts,
    pub results: &'static [LinkResult],
}

impl Serialize for LinkCountsRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = |result: &LinkResult| {
            (
                result.name().replace(' ', "-"),
                self.link_counts.count(*result),
            )
        };
        serializer.collect_map(self.results.iter().map(count))
    }
}

impl Display for LinkCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.counts.values().sum::<usize>() {
            0 => return f.write_str("no links"),
            1 => f.write_str("1 link"),
            number => write!(f, "{number} links"),
        }?;
        let mut before = ": ";
        let counts: Vec<_> = self.counts.iter().collect();
        for reasons in counts.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
            let Some(((result, _), _)) = reasons.first() else {
                continue;
            };
            write!(f, "{before}{} {}", self.count(*result), result.name())?;
            before = ", ";
            let named = reasons.iter().filter_map(|((_, reason), number)| {
                let name = (*reason)?.name();
                Some(if reasons.len() == 1 {
                    name.to_owned()
                } else {
                    format!("{number} {name}")
                })
            });
            let named: Vec<_> = named.collect();
            if !named.is_empty() {
                write!(f, " ({})", named.join(", "))?;
            }
        }
        Ok(())
    }
}
