//! A link with its finding, its place and the text around it.
//!
//! ```text
//! docs/a.html:3:10  pinned   -->   ListedFinding { link, finding, line: 3, column: 10, … }
//! ```
//!
//! All output forms use this type; it depends on no form.
//!
//! Deliberately absent: the search for findings ([`super::listing`]), and their output.

use crate::purpose::check::Finding;
use baselink_rewrite::report::LinkReport;

/// A link with its finding and its place.
pub(super) struct ListedFinding {
    /// The number of the link in its file.
    pub(super) number: usize,
    pub(super) link: LinkReport,
    pub(super) finding: Finding,
    /// The offset of the document in the file.
    pub(super) offset: usize,
    pub(super) line: usize,
    pub(super) column: usize,
    /// The column in UTF-16 code units, and the line and column of the end.
    pub(super) units: (usize, (usize, usize)),
    /// The line of the link, shortened: the text before the reference, the reference, and the text after it.
    pub(super) excerpt: [String; 3],
}

/// The severity of a finding.
pub(super) fn level(is_denied: bool) -> &'static str {
    if is_denied { "error" } else { "warning" }
}
