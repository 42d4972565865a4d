//! The effect of a move on a link, as data: its class and the cause.
//!
//! ```
//! use baselink::purpose::check::{Cause, Class};
//! assert_eq!((Class::Pinned.name(), Cause::NetPath.name()), ("pinned", "net-path"));
//! ```
//!
//! Deliberately absent: the rules, which the judge knows.

use crate::collection::{Absence, Missing};
use crate::named::named;
use crate::report::Reason;

named! {
    /// The effect of a move on a link: the first of these that applies.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Class {
        /// It has no target, for a [`Cause`].
        Left = "left",
        /// It leads out of the tree, and goes on leading there.
        Outside = "outside",
        /// It leads into the tree and will keep pointing at the old place.
        Pinned = "pinned",
        /// It depends on what is around the tree: it leads out of it, now or after the move.
        Escapes = "escapes",
        /// It leads into the tree, where no such file is.
        Dangling = "dangling",
        /// A page needs it to look or work as it did, and the collection lacks it.
        Missing = "missing",
        /// It leads to a page of a host in the collection, which lacks that page.
        MissingPage = "missing-page",
        /// The file is there; what its fragment names is not.
        Fragment = "fragment",
        /// The file is there, and a script of it marks the lines that the fragment names.
        Lines = "lines",
        /// It is relative, and its target is in the tree and present.
        Travels = "travels",
    }
}

/// Why a link has its class: a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Left: it is relative, and no base is known.
    NoBase,
    /// Left: for what `rewrite` leaves it for.
    Kept(Reason),
    /// Pinned: it is absolute.
    Absolute,
    /// Pinned: it says under which URL the page is best known, which is for whoever wrote it to change.
    Canonical,
    /// Pinned: it names the host. Escapes: the same, and the scheme changes.
    NetPath,
    /// Pinned, or escapes: the base that the document declares does.
    DeclaredBase,
    /// Escapes: it begins with `/`.
    RootRelative,
    /// Escapes: it climbs out of the root.
    ClimbsOut,
    /// Dangling; escapes, where a symbolic link leads out of the tree.
    Missing(Absence),
    /// Dangling: after the move it leads to another file than now, or to none.
    Elsewhere,
    /// Dangling: a file that a browser saved with the page, which is not there.
    LocalCopy,
    /// Escapes: a browser that saved the page did not save what it leads to, and left it as it was.
    NotSaved,
    /// Missing, missing page: it was not captured.
    NotCaptured,
    /// Missing, missing page: it was captured as an error of the client (4xx).
    ClientError,
    /// Missing, missing page: it was captured as an error of the server (5xx).
    ServerError,
    /// Missing, missing page: it was captured as a redirect that ends at nothing in the collection.
    Redirect,
    /// Missing, missing page: it was captured without a body, or with a part of it.
    NoBody,
    /// Fragment: nothing in the file has this id.
    NoId,
    /// Fragment: something has, but for the case of letters.
    IdCase,
}

impl Cause {
    /// Its name in `--json`.
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
    /// Its class.
    pub class: Class,
    /// Why; `None` for what travels, is outside or leads to lines.
    pub cause: Option<Cause>,
    /// The kind of absence in the tree, for a pinned link.
    pub missing: Option<Absence>,
    /// Where it leads now; `None` for what is left. Where the URL of the root is assumed, the path below the root;
    /// `None` for what leads out of it.
    pub target: Option<String>,
    /// Where it leads after the move when nothing is changed; `None` where that is unknown, since the new
    /// place is.
    pub moved: Option<String>,
    /// A hint at what was meant: the path of a file below the root, or an id.
    pub hint: Option<String>,
    /// True if the profiles `rfc1808`, `rfc3986` and `whatwg` disagree on it.
    pub differs: bool,
}

impl Absence {
    /// The class of a relative link to what is missing so.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            Self::LinkOut => Class::Escapes,
            _ => Class::Dangling,
        }
    }
}

impl Missing {
    pub(super) fn told(self, finding: &mut Finding) {
        finding.class = self.absence.class();
        finding.cause = Some(Cause::Missing(self.absence));
        finding.hint = self.hint;
    }
}
