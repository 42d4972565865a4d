//! What is listed, as plain data: a finding, where it is, and what came of the list.
//!
//! ```text
//! docs/a.html:3:10  pinned   -->   Shown { link, finding, is_denied }, Place { line: 3, column: 10, … }
//! ```
//!
//! Every form of the list knows these types; they know none of the forms.
//!
//! Deliberately absent: how they are found in the files ([`super::listing`]), and how they look.

use std::collections::BTreeMap;

use baselink::edit::Edit;
use baselink::purpose::check::{Class, Finding, ScannedLink};
use baselink::span::Span;

use super::baseline::Key;
use super::tree::CheckedTree;
use crate::cli::input::Input;
use crate::cli::status::ExitStatus;

/// A finding that is listed.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) link: ScannedLink<'a>,
    pub(super) finding: &'a Finding,
    /// Whether its class is denied.
    pub(super) is_denied: bool,
}

impl Shown<'_> {
    /// The severity of the finding.
    pub(super) fn level(&self) -> &'static str {
        if self.is_denied { "error" } else { "warning" }
    }
}

/// Where a finding is.
pub(super) struct FindingPlace {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The column in UTF-16 code units.
    pub(super) utf_16: usize,
    /// The line and that column of its end.
    pub(super) end: (usize, usize),
    /// What comes before it in its line, the reference, and what follows it, as far as there is room.
    pub(super) before: String,
    pub(super) reference: String,
    pub(super) after: String,
    /// The bytes of the file that give way to others where the fix is made.
    pub(super) edits: Vec<Edit>,
}

/// What came of the list.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) status: ExitStatus,
    /// How many findings of which class the baseline accepts.
    pub(super) accepted_of: BTreeMap<Class, usize>,
    /// The findings for a new baseline.
    pub(super) noted: BTreeMap<Key, usize>,
}

impl Listed {
    /// How many findings the baseline accepts.
    pub(super) fn accepted(&self) -> usize {
        self.accepted_of.values().sum()
    }

    /// How many findings of which of these classes are left, which the baseline does not accept.
    pub(super) fn left(
        &self,
        tree: &CheckedTree,
        is_asked: impl Fn(Class) -> bool,
    ) -> Vec<(Class, usize)> {
        let accepted = |class| self.accepted_of.get(&class).copied().unwrap_or_default();
        let left = |class: Class| tree.sum.of(class).saturating_sub(accepted(class));
        let classes = Class::ALL.iter().copied().filter(|class| is_asked(*class));
        classes.map(|class| (class, left(class))).filter(|(_, links)| *links > 0).collect()
    }
}

/// `span` of the file in the bytes of `input`.
pub(super) fn within(span: Span, input: &Input<'_>) -> Option<Span> {
    let start = span.start.checked_sub(input.offset)?;
    let end = span.end.checked_sub(input.offset)?;
    (end <= input.bytes.len()).then(|| Span::new(start, end))
}
