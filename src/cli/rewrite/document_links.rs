//! The links of a document, in numbers.
//!
//! ```text
//! 3 links: 2 made local, 1 absolute; 1 leads to http://a/x, which has no file
//! ```
//!
//! Deliberately absent: the sums over files ([`super::summary`]).

use std::collections::HashMap;

use crate::cli::link_counts::{LinkCounts, LinkResult};
use crate::cli::output::StrictViolations;
use crate::purpose::{is_root_relative, names_base};
use baselink_rewrite::report::LinkReport;
use baselink_scan::document::Role;
use baselink_url::reference::without_fragment;

/// The URLs of the tree that have no file.
pub(super) type MissingTargets = HashMap<String, LinksToMissing>;

/// The links to a URL that has no file.
#[derive(Default)]
pub(super) struct LinksToMissing {
    pub(super) number: usize,
    /// True if one of them embeds its target, such as an image.
    pub(super) is_embedded: bool,
}

impl LinksToMissing {
    /// Adds other links to the same URL.
    pub(super) fn merge(&mut self, more: &Self) {
        self.number += more.number;
        self.is_embedded |= more.is_embedded;
    }
}

/// The links of a document, in numbers.
#[derive(Default)]
pub(super) struct DocumentLinks {
    pub(super) link_counts: LinkCounts,
    pub(super) missing: MissingTargets,
    /// The number of links that began with `/`, and became absolute because a move leaves their targets.
    pub(super) root_relative: usize,
    pub(super) strict: StrictViolations,
    /// The places of empty declarations of a base.
    pub(super) empty_bases: Vec<usize>,
    /// The links of which an option needs the reports.
    pub(super) listed: Vec<LinkReport>,
}

impl DocumentLinks {
    /// Adds this number of equal links. `result` returns their result; if it is `None`, the outcome is the result.
    pub(super) fn add(
        &mut self,
        link: &LinkReport,
        number: usize,
        result: Option<fn(&LinkReport) -> LinkResult>,
    ) {
        self.strict.add(link);
        if link.reference.is_empty() && names_base(&link.element, link.attribute.as_deref()) {
            self.empty_bases.push(link.span.start);
        }
        if let Some(of) = result {
            let result = of(link);
            self.link_counts.add(result, link.reason, number);
            if result == LinkResult::MovedAbsolute && is_root_relative(&link.reference) {
                self.root_relative += number;
            }
        }
        if link.is_lacking {
            let target = without_fragment(link.target.as_deref().unwrap_or_default());
            let links = LinksToMissing {
                number,
                is_embedded: link.role == Role::Embedded,
            };
            match self.missing.get_mut(target) {
                Some(known) => known.merge(&links),
                None => drop(self.missing.insert(target.to_owned(), links)),
            }
        }
    }
}
