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
use crate::purpose::names_base;
use baselink_rewrite::report::LinkReport;
use baselink_url::reference::without_fragment;

/// The URLs of the tree that have no file, each with the number of links to it.
pub(super) type MissingTargets = HashMap<String, usize>;

/// The links of a document, in numbers.
#[derive(Default)]
pub(super) struct DocumentLinks {
    pub(super) link_counts: LinkCounts,
    pub(super) missing: MissingTargets,
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
            self.link_counts.add(of(link), link.reason, number);
        }
        if link.is_lacking {
            let target = without_fragment(link.target.as_deref().unwrap_or_default());
            match self.missing.get_mut(target) {
                Some(links) => *links += number,
                None => drop(self.missing.insert(target.to_owned(), number)),
            }
        }
    }
}
