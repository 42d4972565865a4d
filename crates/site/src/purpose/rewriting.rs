//! The kinds of rewriting: every link becomes absolute, links to files of the tree become local, or links move with
//! the tree.
//!
//! ```text
//! rewrite   ../x.html            -->  http://a/x.html
//! localize  http://a/b/y.html#z  -->  ../b/y.html#z
//! move      /b/y.html#z          -->  /sub/b/y.html#z
//! ```
//!
//! Deliberately absent: the rewriting, which `baselink_rewrite::rewrite` and the other modules of this one do; words.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use baselink_rewrite::{FileRewrite, Lack, LinkReport, Options, Outcome, Reason};
use baselink_scan::Role;
use baselink_text::{Code, Edits};
use baselink_url::without_fragment;

use baselink_files::{stage::StagedMove, walk::TreeEntry};

use crate::{
    collection::{Collection, folder::name_of, origin::without_assumed_hosts},
    purpose::{
        adapt::adapted,
        guard,
        link_result::{LinkResult, ResultSet},
        localize, names_base,
        relocate::{self, LinkForm, Relocation},
        rewrite_unless,
        tally::{Adaptation, Counted, Tally},
        words::{Word, Words},
    },
};

/// A kind of rewriting.
pub enum RewriteKind {
    /// Every relative link becomes absolute.
    Absolute,
    /// Links to files of this tree become local, all others absolute.
    Local {
        /// The files.
        collection: Arc<Collection>,
        /// The file for the list of targets that the tree lacks.
        missing: Option<PathBuf>,
        /// True if documents are adapted to open from disk.
        adapts: bool,
    },
    /// Links into the tree lead to the new places of their targets. With a staged move, files are replaced in place.
    Moved(Arc<Relocation>, Option<StagedMove>),
}

impl RewriteKind {
    /// The options for rewriting a document of `entry` with these `bytes`, from the `options` for reading it.
    pub fn options(&self, entry: &TreeEntry, bytes: &[u8], options: &Options) -> Options {
        match self {
            Self::Local {
                collection, adapts, ..
            } => localize::options(&name_of(entry), bytes, collection, *adapts, options),
            Self::Moved(relocation, _) => {
                relocate::options(&name_of(entry), bytes, relocation, options)
            }
            Self::Absolute => options.clone(),
        }
    }

    /// Rewrites `bytes` with the options that [`RewriteKind::options`] gives, and adds each link to the second result.
    pub fn rewrite<'b>(
        &self,
        bytes: &'b [u8],
        options: &Options,
        add: impl Fn(&mut DocumentLinks, LinkReport),
    ) -> (FileRewrite<'b>, DocumentLinks) {
        let (mut rewritten, links) = match self {
            Self::Absolute => return rewrite_unless(bytes, options, |_| false, None, add),
            Self::Moved(relocation, _) => {
                relocate::relocate(bytes, options, |links: &mut DocumentLinks, link| {
                    let outdated = relocation.outdated_integrity(&link, bytes, options);
                    links.outdated_integrity.merge(outdated.iter());
                    add(links, link);
                })
            }
            Self::Local { .. } => localize::localize(bytes, options, add),
        };
        let diagnostics = &mut rewritten.report.diagnostics;
        diagnostics.retain(|found| match (found.code, self) {
            // Browsers read the result.
            (Code::ResolversDiffer, _) => false,
            // A base that `localize` has emptied needs no warning that it is relative.
            (Code::BaseRelative, Self::Local { .. }) => {
                let empty = &links.empty_bases;
                let first = empty.partition_point(|at| *at < found.span.start);
                empty.get(first).is_none_or(|at| *at > found.span.end)
            }
            // A base moves like any other link.
            (code, _) => code != Code::BaseRelative,
        });
        if let Self::Local { .. } = self {
            for found in diagnostics {
                found.message = without_assumed_hosts(&found.message).into_owned().into();
            }
        }
        (rewritten, links)
    }

    /// True if the document has a link.
    pub fn finds_link(&self, bytes: &[u8], options: &Options) -> bool {
        self.rewrite(bytes, options, |_, _| ()).0.totals.links() > 0
    }

    /// The results that links can have.
    pub fn results(&self) -> ResultSet {
        match self {
            Self::Absolute => ResultSet::OF_REWRITE,
            Self::Local { .. } => ResultSet::OF_LOCALIZE,
            Self::Moved(..) => ResultSet::OF_MOVE,
        }
    }

    /// The files of the tree with their new names; `None` if this kind renames no files.
    pub fn renamed(&self) -> Option<&Arc<Collection>> {
        match self {
            Self::Absolute => None,
            Self::Local { collection, .. } => Some(collection),
            Self::Moved(relocation, _) => Some(&relocation.collection),
        }
    }

    /// Adapts the document `bytes`, rewritten as `local`, if it is to open from disk, and returns what [`adapted`]
    /// counts. Afterwards, no link leads out of the folder.
    pub fn adapt(&self, bytes: &[u8], local: &mut FileRewrite<'_>, options: &Options) -> Tally {
        let Some(are_made) = self.adapts() else {
            return Tally::default();
        };
        let words = Words::of_adaptations(bytes);
        let mut tally = Tally::default();
        tally.add(Counted::RefusedRouter, words.contain(Word::PagePath));
        tally.add(Counted::RefusedText, words.contain(Word::Docsify));
        if are_made && let Some(destination) = &options.destination {
            let descriptors = destination.descriptors(bytes);
            tally.add(Counted::Adapted(Adaptation::Descriptor), descriptors.len());
            local.edits.merge(descriptors.iter());
        }
        let (edits, adapted) = adapted(&local.output(), words, options, are_made);
        tally.merge(&adapted);
        if are_made {
            local.edits.then(&edits);
        }
        guard(words, local, options);
        tally
    }

    /// True if documents are adapted; `None` if the results are not opened from disk.
    pub fn adapts(&self) -> Option<bool> {
        match self {
            Self::Moved(relocation, _) => {
                (relocation.form == LinkForm::Disk).then_some(relocation.adapts)
            }
            Self::Local { adapts, .. } => Some(*adapts),
            Self::Absolute => None,
        }
    }
}

/// The URLs of the tree that have no file.
pub type MissingTargets = HashMap<String, LinksToMissing>;

/// The links to a URL that has no file.
#[derive(Default)]
pub struct LinksToMissing {
    /// The number of links.
    pub number: usize,
    /// True if one of them embeds its target, such as an image.
    pub is_embedded: bool,
    /// The recorded URL or the name of a document with such a link.
    pub place: Option<Arc<str>>,
}

impl LinksToMissing {
    /// Adds other links to the same URL.
    pub fn merge(&mut self, more: &Self) {
        self.number += more.number;
        self.is_embedded |= more.is_embedded;
        self.place = self.place.take().or(more.place.clone());
    }
}

/// The links of a document, in numbers.
#[derive(Default)]
pub struct DocumentLinks {
    /// The numbers of links by their results, unless these are the outcomes.
    pub tally: Tally,
    /// The targets that the tree lacks.
    pub missing: MissingTargets,
    /// The links that a strict run does not accept.
    pub strict: StrictViolations,
    /// The places of empty declarations of a base.
    pub empty_bases: Vec<usize>,
    /// The edits that remove hashes of files that change.
    pub outdated_integrity: Edits,
    /// The links of which an option needs the reports.
    pub listed: Vec<LinkReport>,
}

impl DocumentLinks {
    /// Adds this number of equal links, whose results are among these.
    pub fn add(&mut self, link: &LinkReport, number: usize, results: &ResultSet) {
        self.strict.add(link);
        if link.reference.is_empty() && names_base(link) {
            self.empty_bases.push(link.span.start);
        }
        if let Some(result) = results.of(link) {
            let implies_reason = matches!(
                result,
                LinkResult::Local | LinkResult::Unchanged | LinkResult::Nowhere
            );
            let reason = link.reason.filter(|_| !implies_reason);
            self.tally.add(Counted::Link(result, reason), number);
        }
        if let (Some(Lack::Missing), Some(target)) = (link.lack, &link.target) {
            let target = without_fragment(target).to_owned();
            let links = self.missing.entry(target).or_default();
            links.number += number;
            links.is_embedded |= link.role == Role::Embedded;
        }
    }
}

/// The links that a strict run does not accept.
#[derive(Default)]
pub struct StrictViolations {
    /// The first of them.
    pub first: Option<LinkReport>,
    /// The number of these links.
    pub number: usize,
}

impl StrictViolations {
    /// Adds a link, if a strict run does not accept it.
    pub fn add(&mut self, link: &LinkReport) {
        let is_intended = match link.outcome {
            Outcome::Rewritten | Outcome::Absolute => link.reason.is_none(),
            Outcome::NoBase | Outcome::NotEditable => false,
            Outcome::Left => link.reason.is_some_and(Reason::is_intended),
        };
        if !is_intended {
            self.number += 1;
            self.first.get_or_insert_with(|| link.clone());
        }
    }
}
