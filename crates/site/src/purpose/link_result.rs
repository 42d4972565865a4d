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
    /// The function that returns the result of a link; `None` if the outcome is the result.
    pub of: Option<fn(&LinkReport) -> LinkResult>,
    /// The result of links that are kept.
    pub of_kept: LinkResult,
}

impl ResultSet {
    /// The results of `rewrite`.
    pub const OF_REWRITE: Self = Self {
        all: &[Rewritten, Absolute, NoBase, Left, NotEditable],
        of: None,
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
        of: Some(LinkResult::of_localized),
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
        of: Some(LinkResult::of_moved),
        of_kept: Unchanged,
    };
}

impl LinkResult {
    /// The result of `rewrite` for a link.
    pub fn of(outcome: Outcome) -> Self {
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
            (Self::Rewritten, _) if scheme_of(new).is_some() => Self::MadeAbsolute,
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
                let [old, new] = [&link.reference, link.in_output()].map(category);
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
    pub fn is_change(self) -> bool {
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
