//! Counts of the outcomes of a document's links.
//!
//! ```
//! use baselink_rewrite::{Options, report::Outcome, report::Reason, edits};
//! let options = Options::at("http://a/b/c");
//! let (_, totals) = edits(b"<a href=../x><a href=mailto:y@z><img src>", &options);
//! assert_eq!(totals.count(Outcome::Rewritten), 1);
//! assert_eq!(totals.count(Outcome::Absolute), 1);
//! assert!(totals.counts().any(|one| one == (Outcome::Left, Some(Reason::Empty), 1)));
//! assert!(totals.changed);
//! ```
//!
//! Deliberately absent: single links. A [`Report`](crate::report::Report) has them.

use std::sync::Arc;

use baselink_text::{Charset, Diagnostic, Edits, Span};
use baselink_url::Resolver;

use super::differing::Differing;
use crate::{
    base::{Rule, Source},
    report::{EntityReport, LinkReport, Outcome, Reason, Report},
};

/// The number of links for each outcome: first without a reason, then for each of [`Reason::ALL`].
type CountsByReason = [[usize; 1 + Reason::ALL.len()]; Outcome::ALL.len()];

/// The base against which relative links are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LinkBases {
    /// No relative link has a base.
    #[default]
    None,
    /// The only base of all relative links, with the rule and source of the first link.
    One(Option<Arc<str>>, Rule, Source),
    /// Several bases.
    Several,
}

impl LinkBases {
    /// Adds the bases of other links.
    pub fn merge(&mut self, other: Self) {
        match (&self, other) {
            (_, Self::None) => {}
            (Self::None, other) => *self = other,
            (Self::One(url, ..), Self::One(other, ..)) if *url == other => {}
            _ => *self = Self::Several,
        }
    }
}

/// The outcomes of a file's links, in numbers. The default is a file without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    counts: CountsByReason,
    /// The number of rewritten links that lead elsewhere under another resolver.
    pub differing: usize,
    /// The number of links without a base that lack only a scheme ([`crate::base::lacks_only_scheme`]).
    pub without_scheme: usize,
    /// The base of the file's outermost document; `None` for a mailbox.
    pub base: Option<Arc<str>>,
    /// The rule that gave the base.
    pub rule: Rule,
    /// The source that gave the base.
    pub source: Source,
    /// The bases of the relative links of all its documents.
    #[doc(hidden)]
    pub of_links: LinkBases,
    /// The number of rewritten links that consist of a fragment only.
    pub fragments: usize,
    /// The numbers of relative and of absolute links that a [`Destination`](crate::Destination) keeps, and that were only
    /// counted.
    #[doc(hidden)]
    pub kept: [usize; 2],
    /// Links that become absolute because a site lacks their targets, each with the number of later ones that differ at most
    /// in the fragment, and that were only counted.
    #[doc(hidden)]
    pub lacking: Vec<(LinkReport, usize)>,
    /// The number of entities in the file, including each outermost one.
    pub entities: usize,
    /// The length of all bodies that were decoded.
    #[doc(hidden)]
    pub decoded: usize,
    /// The encoding of its outermost document.
    pub charset: Charset,
    /// True if the output differs from the input.
    pub changed: bool,
    /// True if a preload scanner may find other links in the document than its tree has.
    #[doc(hidden)]
    pub is_read_twice: bool,
    /// True if the document was not changed because memory ran out.
    pub lacks_memory: bool,
    /// The diagnostics, as in a report, with spans in the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The decoded names that a fragment can refer to in the outermost document, if [`links_to`](crate::links_to)
    /// was asked for them.
    #[doc(hidden)]
    pub ids: Vec<String>,
}

impl Totals {
    /// Adds the totals of a message that begins at the offset `start` of the file.
    #[doc(hidden)]
    pub fn append(&mut self, message: Self, start: usize) {
        for (all, its) in self
            .counts
            .iter_mut()
            .flatten()
            .zip(message.counts.iter().flatten())
        {
            *all += its;
        }
        self.differing += message.differing;
        self.without_scheme += message.without_scheme;
        self.of_links.merge(message.of_links);
        self.fragments += message.fragments;
        self.entities += message.entities;
        self.decoded = self.decoded.saturating_add(message.decoded);
        self.changed |= message.changed;
        self.lacks_memory |= message.lacks_memory;
        // A stream may be longer than `usize` can express.
        let place = |at: usize| start.saturating_add(at);
        self.diagnostics
            .extend(message.diagnostics.into_iter().map(|one| Diagnostic {
                span: Span::new(place(one.span.start), place(one.span.end)),
                ..one
            }));
    }

    /// The number of links with `outcome`.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.counts[outcome as usize].iter().sum()
    }

    /// The number of links.
    pub fn links(&self) -> usize {
        self.counts.iter().flatten().sum()
    }

    /// The number of links for each outcome and reason that occurs.
    pub fn counts(&self) -> impl Iterator<Item = (Outcome, Option<Reason>, usize)> + '_ {
        let of = |outcome: Outcome| {
            std::iter::once(None)
                .chain(Reason::ALL.map(Some))
                .zip(self.counts[outcome as usize])
                .map(move |(reason, number)| (outcome, reason, number))
        };
        Outcome::ALL
            .into_iter()
            .flat_map(of)
            .filter(|(.., number)| *number > 0)
    }
}

/// Totals of links that are counted as they are judged.
#[derive(Default)]
pub struct RunningTotals {
    pub totals: Totals,
    /// The links that lead elsewhere under another resolver.
    differing: Differing,
}

impl RunningTotals {
    /// Counts a link without a report.
    #[inline(always)]
    pub fn add(&mut self, outcome: Outcome, reason: Option<Reason>) {
        self.totals.counts[outcome as usize][reason.map_or(0, |reason| 1 + reason as usize)] += 1;
    }

    /// Counts a link as leading above the root, in addition to [`add`](Self::add). The first such link must have had a
    /// report.
    pub fn add_above_root(&mut self, resolver: Resolver) {
        self.totals.differing += 1;
        self.differing.count_above_root(resolver);
    }

    /// Adds the counts of a later part of a message. `beneath` moves the spans of its links to the message.
    pub fn append(&mut self, part: Self, beneath: impl Fn(Span) -> Span) {
        self.totals.append(part.totals, 0);
        self.differing.append(part.differing, beneath);
    }

    /// Counts `link`, which is in a document in `charset`.
    pub fn add_link(&mut self, link: &LinkReport, charset: Charset) {
        self.add(link.outcome, link.reason);
        let totals = &mut self.totals;
        totals.without_scheme += usize::from(link.lacks_only_scheme());
        // The base does not matter to an absolute link.
        if link.outcome != Outcome::Absolute {
            let is_known = matches!(&totals.of_links, LinkBases::One(url, ..) if *url == link.base);
            if !is_known {
                totals
                    .of_links
                    .merge(LinkBases::One(link.base.clone(), link.rule, link.source));
            }
        }
        let is_fragment = link.outcome == Outcome::Rewritten && link.reference.starts_with('#');
        totals.fragments += usize::from(is_fragment);
        if link.is_rewritten_otherwise() {
            totals.differing += 1;
            self.differing.add(link, charset);
        }
    }

    /// Counts all rewritten links as not editable, for `reason`.
    pub fn refuse(&mut self, reason: Reason) {
        let counts = &mut self.totals.counts;
        let rewritten: usize = counts[Outcome::Rewritten as usize].iter().sum();
        counts[Outcome::Rewritten as usize].fill(0);
        counts[Outcome::NotEditable as usize][1 + reason as usize] += rewritten;
        self.totals.fragments = 0;
        self.totals.differing = 0;
        self.differing = Differing::default();
    }

    /// The totals of a file with this `outermost` document.
    pub fn finish(self, edits: &Edits, report: &mut Report) -> Totals {
        let mut diagnostics = std::mem::take(&mut report.diagnostics);
        diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
        diagnostics.extend(self.differing.diagnostic());
        let mut totals = Totals {
            entities: report.entities.len(),
            changed: !edits.is_empty(),
            diagnostics,
            ..self.totals
        };
        if let Some(EntityReport { charset, chain, .. }) = report.entities.first() {
            totals.charset = *charset;
            (totals.base, totals.rule, totals.source) =
                (chain.base.clone(), chain.rule, chain.source);
        }
        totals
    }
}
