//! What became of a document's links, in numbers.
//!
//! ```
//! use baselink::{Options, Outcome, Reason, edits};
//! let options = Options::at("http://a/b/c");
//! let (_, totals) = edits(b"<a href=../x><a href=mailto:y@z><img src>", &options);
//! assert_eq!(totals.count(Outcome::Rewritten), 1);
//! assert_eq!(totals.count(Outcome::Absolute), 1);
//! assert!(totals.counts().any(|one| one == (Outcome::Left, Some(Reason::Empty), 1)));
//! assert!(totals.changed);
//! ```
//!
//! Deliberately absent: single links. A [`Report`](crate::Report) has them.

use std::sync::Arc;

use super::differing::Differing;
use crate::base::{BaseChain, Rule, Source};
use crate::diagnostic::Diagnostic;
use crate::layer::charset::Charset;
use crate::report::{LinkReport, Outcome, Reason};
use crate::resolve::Profile;
use crate::span::Span;

/// How many links have each outcome, for no reason and for each of [`Reason::ALL`].
type CountsByReason = [[usize; 1 + Reason::ALL.len()]; Outcome::ALL.len()];

/// The base against which relative links are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LinkBases {
    /// There are none.
    #[default]
    None,
    /// The same for all of them, with what gave it to the first.
    One(Option<Arc<str>>, Rule, Source),
    /// Several ones.
    Several,
}

impl LinkBases {
    /// Takes in those of other links.
    pub fn merge(&mut self, other: Self) {
        match (&self, other) {
            (_, Self::None) => {}
            (Self::None, other) => *self = other,
            (Self::One(url, ..), Self::One(other, ..)) if *url == other => {}
            _ => *self = Self::Several,
        }
    }
}

/// What became of a file, in numbers. By default they are those of a file without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    counts: CountsByReason,
    /// How many of those that were rewritten lead elsewhere under another resolver.
    pub differing: usize,
    /// How many of those without a base lack nothing but a scheme ([`crate::base::lacks_only_scheme`]).
    pub without_scheme: usize,
    /// The base of the file, as the outermost of its documents has it.
    pub base: Option<Arc<str>>,
    /// The rule that gave it.
    pub rule: Rule,
    /// The source that gave it.
    pub source: Source,
    /// The base of the relative links of all its documents.
    #[doc(hidden)]
    pub of_links: LinkBases,
    /// How many of the links that were rewritten were only a fragment.
    pub fragments: usize,
    /// How many documents and other entities there are in it, itself among them.
    pub entities: usize,
    /// The encoding of its outermost document.
    pub charset: Charset,
    /// True if the output differs from the input.
    pub changed: bool,
    /// True if the document was left because there was no memory to change it.
    pub lacks_memory: bool,
    /// What is unexpected, as a report has it; spans are those of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl Totals {
    /// Adds what became of a message that begins at `start` of the file.
    pub(crate) fn append(&mut self, message: Self, start: usize) {
        for (all, its) in self.counts.iter_mut().flatten().zip(message.counts.iter().flatten()) {
            *all += its;
        }
        self.differing += message.differing;
        self.without_scheme += message.without_scheme;
        self.of_links.merge(message.of_links);
        self.fragments += message.fragments;
        self.entities += message.entities;
        self.changed |= message.changed;
        self.lacks_memory |= message.lacks_memory;
        // A stream may be longer than a number of this machine can say.
        let place = |at: usize| start.saturating_add(at);
        let shifted = |one: Diagnostic| {
            let span = Span::new(place(one.span.start), place(one.span.end));
            Diagnostic { span, ..one }
        };
        self.diagnostics.extend(message.diagnostics.into_iter().map(shifted));
    }

    /// How many links have `outcome`.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.counts[outcome as usize].iter().sum()
    }

    /// How many links there are.
    #[must_use]
    pub fn links(&self) -> usize {
        self.counts.iter().flatten().sum()
    }

    /// How many links have which outcome for which reason, those of which there are any.
    pub fn counts(&self) -> impl Iterator<Item = (Outcome, Option<Reason>, usize)> + '_ {
        let reasons = || std::iter::once(None).chain(Reason::ALL.into_iter().map(Some));
        let of = move |(outcome, counts): (Outcome, &[usize; 1 + Reason::ALL.len()])| {
            let counts = *counts;
            reasons().zip(counts).map(move |(reason, number)| (outcome, reason, number))
        };
        let all = Outcome::ALL.into_iter().zip(&self.counts).flat_map(of);
        all.filter(|(.., number)| *number > 0)
    }
}

/// Links that are counted as they are judged.
#[derive(Debug, Default)]
pub(super) struct RunningTotals {
    pub(super) totals: Totals,
    /// Those that lead elsewhere under another resolver.
    differing: Differing,
}

impl RunningTotals {
    /// Counts a link of which no report was made.
    #[inline(always)]
    pub(super) fn add(&mut self, outcome: Outcome, reason: Option<Reason>) {
        self.totals.counts[outcome as usize][reason.map_or(0, |reason| 1 + reason as usize)] += 1;
    }

    /// Counts, beside [`add`](Self::add), a link that leads above the root, after one with a report.
    pub(super) fn add_above_root(&mut self, profile: Profile) {
        self.totals.differing += 1;
        self.differing.count_above_root(profile);
    }

    /// Adds the links of a part of a message that were only counted.
    pub(super) fn append(&mut self, part: Self) {
        self.totals.append(part.totals, 0);
        self.differing.append(&part.differing);
    }

    /// Counts `link`, in a document of this encoding.
    pub(super) fn add_link(&mut self, link: &LinkReport, charset: &dyn Fn() -> Charset) {
        self.add(link.outcome, link.reason);
        let totals = &mut self.totals;
        totals.without_scheme += usize::from(link.lacks_only_scheme());
        // To an absolute one its base means nothing.
        if link.outcome != Outcome::Absolute {
            let is_known = matches!(&totals.of_links, LinkBases::One(url, ..) if *url == link.base);
            if !is_known {
                totals.of_links.merge(LinkBases::One(link.base.clone(), link.rule, link.source));
            }
        }
        let is_fragment = link.outcome == Outcome::Rewritten && link.reference.starts_with('#');
        totals.fragments += usize::from(is_fragment);
        if link.is_rewritten_otherwise() {
            totals.differing += 1;
            self.differing.add(link, charset);
        }
    }

    /// Makes those that were rewritten ones that could not be edited.
    pub(super) fn refuse(&mut self, reason: Reason) {
        let counts = &mut self.totals.counts;
        let rewritten: usize = counts[Outcome::Rewritten as usize].iter().sum();
        counts[Outcome::Rewritten as usize].fill(0);
        counts[Outcome::NotEditable as usize][1 + reason as usize] += rewritten;
        self.totals.fragments = 0;
        self.totals.differing = 0;
        self.differing = Differing::default();
    }

    /// The totals of a file whose outermost document is in `charset` and has the base of `chain`.
    pub(super) fn finish(
        self,
        chain: Option<&BaseChain>,
        charset: Charset,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Totals {
        diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
        diagnostics.extend(self.differing.diagnostic());
        let mut totals = Totals { charset, diagnostics, ..self.totals };
        if let Some(chain) = chain {
            (totals.base, totals.rule, totals.source) =
                (chain.base.clone(), chain.rule, chain.source);
        }
        totals
    }
}
