//! The list as plain data: a finding with its place, and the result of listing.
//!
//! ```text
//! docs/a.html:3:10  pinned   -->   ListedFinding { link, finding, is_denied, line: 3, column: 10, … }
//! ```
//!
//! All output forms use these types; the types depend on no form.
//!
//! Deliberately absent: the search for findings ([`super::listing`]), and their output.

use std::collections::BTreeMap;

use crate::purpose::check::{Class, Finding};
use baselink_rewrite::report::LinkReport;
use baselink_text::layer::charset::Charset;

use super::baseline::FindingKey;
use super::targets::TargetSummary;
use super::tree::CheckedTree;
use crate::cli::input::Input;
use crate::cli::status::ExitStatus;

/// The result of listing.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) status: ExitStatus,
    /// The number of findings that the baseline accepts, by class.
    pub(super) accepted_of: BTreeMap<Class, usize>,
    /// The findings for a new baseline.
    pub(super) noted: BTreeMap<FindingKey, usize>,
    /// The targets of links, if they are shown.
    pub(super) targets: Vec<TargetSummary>,
}

impl Listed {
    /// The number of findings that the baseline accepts.
    pub(super) fn accepted(&self) -> usize {
        self.accepted_of.values().sum()
    }

    /// The number of findings that the baseline does not accept, by class.
    pub(super) fn not_accepted(
        &self,
        tree: &CheckedTree<'_>,
        is_asked: impl Fn(Class) -> bool,
    ) -> Vec<(Class, usize)> {
        let accepted = |class| self.accepted_of.get(&class).copied().unwrap_or_default();
        let remaining = |class: Class| tree.sum.of(class).saturating_sub(accepted(class));
        let classes = Class::ALL.iter().copied().filter(|class| is_asked(*class));
        classes
            .map(|class| (class, remaining(class)))
            .filter(|(_, links)| *links > 0)
            .collect()
    }
}

/// A finding that is listed, and its place.
pub(super) struct ListedFinding<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) charset: Charset,
    pub(super) link: &'a LinkReport,
    pub(super) finding: &'a Finding,
    /// True if its class is denied.
    pub(super) is_denied: bool,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl ListedFinding<'_> {
    /// The severity of the finding.
    pub(super) fn level(&self) -> &'static str {
        if self.is_denied { "error" } else { "warning" }
    }
}
