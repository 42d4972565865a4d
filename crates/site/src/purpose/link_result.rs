//! The result of a link in `rewrite`, `localize` and `move`.
//!
//! ```
//! use baselink_site::purpose::link_result::LinkResult;
//! assert_eq!(LinkResult::MadeLocal.name(), "made local");
//! assert!(LinkResult::MadeLocal.is_change() && !LinkResult::Local.is_change());
//! ```
//!
//! Deliberately absent: the classes of `check`.

use baselink_rewrite::{LinkReport, Outcome, Reason};
use baselink_text::named;
use baselink_url::{Category, scheme_of};

use self::LinkResult::*;
use super::spelling::category;

named! {
    /// The result of a link: its outcome, refined for `localize` and `move`.
    #[derive(PartialOrd, Ord)]
    pub enum LinkResult {
        /// The link was relative, and is now absolute.
        Rewritten = "rewritten",
        /// The link now leads to a file of the tree.
        MadeLocal = "made local",
        /// The link already led to a file of the tree.
        Local = "local",
        /// The link leads to no file of the tree, and is now absolute.
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
        /// The link was absolute.
        Absolute = "absolute",
        /// The link was a declared base, and is now empty.
        BaseEmptied = "base emptied",
        /// The link can lead neither to a file nor to a URL, and now leads nowhere.
        Nowhere = "nowhere",
        /// The link is relative, and has no base.
        NoBase = "no-base",
        /// The link stays relative, for a reason.
        Left = "left",
        /// The link has a target that cannot be written in its place.
        NotEditable = "not-editable",
    }
}

/// The results of links in a command.
pub struct ResultSet {
    /// The results, in the order of JSON records.
    pub all: &'static [LinkResult],
    /// The function that returns the result of a link that was changed; `None` if the outcome of each link is its result.
    pub of_changed: Option<fn(&LinkReport) -> LinkResult>,
    /// The result of links that are kept.
    pub of_kept: LinkResult,
}

impl ResultSet {
    /// The results of `rewrite`.
    pub const OF_REWRITE: Self = Self {
        all: &[Rewritten, Absolute, NoBase, Left, NotEditable],
        of_changed: None,
        of_kept: Local,
    };
    /// The results of `localize`.
    pub const OF_LOCALIZE: Self = Self {
        all: &[
            MadeLocal,
            Local,
            MadeAbsolute,
            Absolute,
            BaseEmptied,
            Nowhere,
            NoBase,
            Left,
            NotEditable,
        ],
        of_changed: Some(of_localized),
        of_kept: Local,
    };
    /// The results of `move`.
    pub const OF_MOVE: Self = Self {
        all: &[
            MovedRelative,
            MovedRootRelative,
            MovedAbsolute,
            MadeRelative,
            Unchanged,
            Absolute,
            Nowhere,
            NoBase,
            Left,
            NotEditable,
        ],
        of_changed: Some(of_moved),
        of_kept: Unchanged,
    };

    /// The result of a link; `None` if it is the outcome.
    pub(super) fn of(&self, link: &LinkReport) -> Option<LinkResult> {
        let of_changed = self.of_changed?;
        Some(match (link.outcome, link.reason) {
            (Outcome::Rewritten, Some(Reason::Nowhere)) => Nowhere,
            (Outcome::Rewritten, _) => of_changed(link),
            (Outcome::Left, Some(Reason::Chosen)) => self.of_kept,
            (outcome, _) => LinkResult::of(outcome),
        })
    }
}

/// The result of a link that `localize` changed.
fn of_localized(link: &LinkReport) -> LinkResult {
    match link.in_output() {
        "" => BaseEmptied,
        new if scheme_of(new).is_some() => MadeAbsolute,
        _ => MadeLocal,
    }
}

/// The result of a link that `move` changed.
fn of_moved(link: &LinkReport) -> LinkResult {
    let [old, new] = [&link.reference, link.in_output()].map(category);
    match (new, old) {
        (Category::AbsPath, _) => MovedRootRelative,
        (Category::AbsoluteUrl | Category::NetPath, _) => MovedAbsolute,
        (_, Category::AbsPath | Category::AbsoluteUrl | Category::NetPath) => MadeRelative,
        _ => MovedRelative,
    }
}

impl LinkResult {
    /// The result of `rewrite` for a link.
    pub fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Rewritten => Rewritten,
            Outcome::Absolute => Absolute,
            Outcome::NoBase => NoBase,
            Outcome::Left => Left,
            Outcome::NotEditable => NotEditable,
        }
    }

    /// True if the link changed.
    pub fn is_change(self) -> bool {
        !matches!(
            self,
            Local | Unchanged | Absolute | NoBase | Left | NotEditable
        )
    }
}
