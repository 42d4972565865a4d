//! The effect of a move on a link, as data: its class and the cause.
//!
//! ```
//! use baselink::purpose::check::{Cause, Class};
//! assert_eq!((Class::Pinned.name(), Cause::NetPath.name()), ("pinned", "net-path"));
//! ```
//!
//! Deliberately absent: the rules, which are in the judge.

use crate::collection::{Absence, Missing};
use crate::named::named;
use crate::report::Reason;

named! {
    /// The effect of a move on a link. If several apply, the first one counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Class {
        /// The link has no target, for the reason in its [`Cause`].
        Left = "left",
        /// The link leads out of the tree before and after the move.
        Outside = "outside",
        /// The link leads into the tree, but will keep pointing to the old place.
        Pinned = "pinned",
        /// The link depends on the surroundings of the tree: it leads out of the tree before or after the move.
        Escapes = "escapes",
        /// The link leads to a missing file in the tree.
        Dangling = "dangling",
        /// The page needs the target to look or work as intended, but the collection lacks it.
        Missing = "missing",
        /// The link leads to a missing page on a host in the collection.
        MissingPage = "missing-page",
        /// The file exists, but not the target of the fragment.
        Fragment = "fragment",
        /// The file exists, and one of its scripts marks the lines that the fragment names.
        Lines = "lines",
        /// The link is relative, and its target exists in the tree.
        Travels = "travels",
    }
}

/// The reason for the class of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Left: the link is relative, and no base is known.
    NoBase,
    /// Left: `rewrite` also keeps the link, for this reason.
    Kept(Reason),
    /// Pinned: the link is absolute.
    Absolute,
    /// Pinned: the link declares the canonical URL of the page, which only the author should change.
    Canonical,
    /// Pinned: the link names the host. Escapes: the link names the host, and the scheme changes.
    NetPath,
    /// Pinned, or escapes: the declared base of the document does.
    DeclaredBase,
    /// Escapes: the link begins with `/`.
    RootRelative,
    /// Escapes: the link leads above the root.
    ClimbsOut,
    /// Dangling; or escapes, if a symbolic link leads out of the tree.
    Missing(Absence),
    /// Dangling: after the move the link leads to a different file, or to none.
    Elsewhere,
    /// Dangling: the file that a browser saved with the page is missing.
    LocalCopy,
    /// Escapes: the browser that saved the page did not save the target, and kept the link.
    NotSaved,
    /// Missing, missing page: the target was not captured.
    NotCaptured,
    /// Missing, missing page: the target was captured as a client error (4xx).
    ClientError,
    /// Missing, missing page: the target was captured as a server error (5xx).
    ServerError,
    /// Missing, missing page: the target was captured as a redirect that ends at no resource.
    Redirect,
    /// Missing, missing page: the target was captured without a body, or only partially.
    NoBody,
    /// Fragment: the file has no such id.
    NoId,
    /// Fragment: the file has an id that differs only in case.
    IdCase,
}

impl Cause {
    /// The name in `--json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoBase => "no-base",
            Self::Kept(reason) => reason.name(),
            Self::Absolute => "absolute",
            Self::Canonical => "canonical",
            Self::NetPath => "net-path",
            Self::DeclaredBase => "declared-base",
            Self::RootRelative => "root-relative",
            Self::ClimbsOut => "climbs-out",
            Self::Missing(absence) => absence.name(),
            Self::Elsewhere => "elsewhere",
            Self::LocalCopy => "local-copy",
            Self::NotSaved => "not-saved",
            Self::NotCaptured => "not-captured",
            Self::ClientError => "client-error",
            Self::ServerError => "server-error",
            Self::Redirect => "redirect",
            Self::NoBody => "no-body",
            Self::NoId => "no-id",
            Self::IdCase => "id-case",
        }
    }
}

/// The effect of a move on one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The class of the link.
    pub class: Class,
    /// The cause; `None` for classes that need none: travels, outside and lines.
    pub cause: Option<Cause>,
    /// The kind of absence in the tree, for a pinned link.
    pub missing: Option<Absence>,
    /// The target before the move; `None` for the class left. If the URL of the root is assumed, the path below the
    /// root, or `None` outside the root.
    pub target: Option<String>,
    /// The target after the move if nothing is changed; `None` if it is unknown because the destination is.
    pub moved: Option<String>,
    /// A hint at the intended target: the path of a file below the root, or an id.
    pub hint: Option<String>,
    /// True if the profiles `rfc1808`, `rfc3986` and `whatwg` give different targets.
    pub differs: bool,
}

impl Absence {
    /// The class of a relative link to a missing target.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            Self::LinkOut => Class::Escapes,
            _ => Class::Dangling,
        }
    }
}

impl Missing {
    pub(super) fn record_in(self, finding: &mut Finding) {
        finding.class = self.absence.class();
        finding.cause = Some(Cause::Missing(self.absence));
        finding.hint = self.hint;
    }
}
