//! The effect of a move on a link, as a class and a cause.
//!
//! ```
//! use baselink_site::purpose::check::{Cause, Class};
//! assert_eq!((Class::Pinned.name(), Cause::NetPath.name()), ("pinned", "net-path"));
//! ```
//!
//! Deliberately absent: the rules that determine the class, which are in the judges.

use std::{collections::HashMap, sync::Arc};

use baselink_rewrite::{LinkReport, ListedLink, Outcome, Reason};
use baselink_text::{Charset, named};

use baselink_url::{Base, Resolver, is_template};

use super::ids::{FragmentPlace, Ids};
use crate::collection::{Absence, Collection, Missing, origin::RootUrl};

named! {
    /// The effect of a move on a link. Tables have this order, or the reverse; the judges choose if several classes apply.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Class {
        /// The link has no target, for the reason in its [`Cause`].
        Left = "left",
        /// The link leads out of the tree, and does not depend on the place of the tree.
        Outside = "outside",
        /// The link leads into the tree, but will keep pointing to the old place.
        Pinned = "pinned",
        /// The link depends on the place of the tree, and leads out of the tree before or after the move.
        Escapes = "escapes",
        /// No browser can open the link, because the URL Standard gives it no target.
        Invalid = "invalid",
        /// The link leads to a missing file in the tree.
        Dangling = "dangling",
        /// The page needs the target to look or work as intended, but the collection lacks it.
        Missing = "missing",
        /// The link leads to a missing page on a host in the collection.
        MissingPage = "missing-page",
        /// The file exists, but it has no target for the fragment.
        Fragment = "fragment",
        /// The file exists, and the fragment names lines that a script of the page marks.
        Lines = "lines",
        /// The target is a folder with an index file, but the final `/` is missing. Servers redirect to it.
        NoSlash = "no-slash",
        /// The target lacks its extension `.html`, or has a `/` in its place. Some servers add it.
        CleanUrl = "clean-url",
        /// The target exists in the tree.
        Travels = "travels",
    }
}

/// The reason for the class of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Left: the link is relative, and no base is known.
    NoBase,
    /// Left: `rewrite` keeps the link for this reason.
    Kept(Reason),
    /// Pinned: the link is absolute.
    Absolute,
    /// Pinned: the link declares the canonical URL of the page, which only the author should change.
    Canonical,
    /// Pinned: the link names the host. Escapes: the link names the host, and the scheme changes.
    NetPath,
    /// Pinned, or escapes: the base that the document declares is pinned, or escapes.
    DeclaredBase,
    /// Escapes: the link begins with `/`.
    RootRelative,
    /// Escapes: the link leads above the root.
    ClimbsOut,
    /// Escapes: the link lacks the path of the root, and would lead to a file with it. Other links have the path.
    NoPrefix,
    /// Dangling; or escapes, if a symbolic link leads out of the tree.
    Missing(Absence),
    /// Dangling: after the move the link leads to a different file, or to none.
    Elsewhere,
    /// Dangling: the file that a browser saved with the page is missing.
    LocalCopy,
    /// Escapes: the browser that saved the page kept the link and did not save its target.
    NotSaved,
    /// Missing, missing page: the target was not captured.
    NotCaptured,
    /// Missing, missing page: the target was captured as a client error (4xx).
    ClientError,
    /// Missing, missing page: the target was captured as a server error (5xx).
    ServerError,
    /// Missing, missing page: the target was captured as a redirect whose end is not a resource of the archive.
    Redirect,
    /// Missing, missing page: the target was captured without a body, or only partially.
    NoBody,
    /// Fragment: the file has no id that matches the fragment.
    NoId,
    /// Fragment: the file has an id that differs from the fragment only in case.
    IdCase,
}

impl Cause {
    /// The name in `--json`.
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
            Self::NoPrefix => "no-prefix",
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

/// The effect of a move on a link, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The class of the link.
    pub class: Class,
    /// The cause; `None` for the classes travels, no-slash, clean-url, lines, invalid and outside.
    pub cause: Option<Cause>,
    /// The target before the move; `None` if the link has none. If the URL of the root is assumed, only the path below
    /// the root, or `None` outside the root.
    pub target: Option<String>,
    /// The target after the move if the document is not rewritten; `None` if it is unknown.
    pub moved: Option<String>,
    /// The probable target: the path of a file below the root, or from the root of the host with a `/` at its start, or an id.
    pub hint: Option<String>,
    /// True if the resolvers `rfc1808`, `rfc3986` and `whatwg` give different targets.
    pub differs: bool,
    /// The number of the document whose ids decide about the link, and the fragment.
    pub(super) fragment: Option<(usize, String)>,
}

/// A site, and the questions about its links.
#[derive(Clone, Copy)]
pub struct CheckedSite<'a> {
    /// The resources of the site.
    pub collection: &'a Arc<Collection>,
    /// The possible targets of fragments in its documents, by their numbers; `None` if they are not known yet. Every fragment
    /// then counts as present.
    pub ids: Option<&'a HashMap<usize, Ids>>,
    /// The root of the host, if links of the site have the path of the root of the site.
    pub host: Option<&'a RootUrl>,
    /// The URL of the root after the move, if any; a `file` URL means that the collection is read from disk.
    pub to: Option<&'a RootUrl>,
    /// True for the classes of links whose details are needed. The others may only be counted.
    pub is_reported: &'a (dyn Fn(Class) -> bool + Sync),
    /// The number of links in a document of an archive to a page, lacking with this class, whose details are needed. The
    /// others are counted in [`CheckedDocument::repeated`](super::CheckedDocument::repeated).
    pub places: &'a (dyn Fn(Class, &str) -> usize + Sync),
}

/// A class, a cause, a URL without its fragment, and a number of links to it.
pub type RepeatedLinks = (Class, Option<Cause>, String, usize);

/// A link with its finding.
#[derive(Debug)]
pub struct CheckedLink {
    /// The link, with its line and column.
    pub listed: ListedLink,
    /// The encoding of the document; UTF-8 for a message.
    pub charset: Charset,
    /// The finding.
    pub finding: Finding,
}

impl Class {
    /// True if the target of a link of this class cannot be used where the site stands.
    pub(super) fn is_broken(self) -> bool {
        matches!(
            self,
            Self::Left | Self::Escapes | Self::Invalid | Self::Dangling | Self::Missing
        )
    }
}

impl Absence {
    /// The class of a relative link to a missing target.
    pub fn class(self) -> Class {
        match self {
            Self::LinkOut => Class::Escapes,
            _ => Class::Dangling,
        }
    }
}

impl Finding {
    /// A finding without details.
    pub(super) fn of(class: Class, cause: Option<Cause>) -> Self {
        Self {
            class,
            cause,
            target: None,
            moved: None,
            hint: None,
            differs: false,
            fragment: None,
        }
    }

    /// The finding for a link whose fragment has this place in its target.
    pub(super) fn with_fragment(self, place: FragmentPlace) -> Self {
        let (class, cause, hint) = match place {
            FragmentPlace::Lines if self.class != Class::Left => (Class::Lines, None, None),
            FragmentPlace::There | FragmentPlace::Lines => return self,
            FragmentPlace::Nowhere(Some(hint)) => {
                (Class::Fragment, Some(Cause::IdCase), Some(hint))
            }
            FragmentPlace::Nowhere(None) => (Class::Fragment, Some(Cause::NoId), None),
        };
        Self {
            class,
            cause,
            hint,
            ..self
        }
    }

    /// The finding for a link whose target is missing.
    pub(super) fn missing(missing: Missing) -> Self {
        let cause = Some(Cause::Missing(missing.absence));
        Self {
            hint: missing.hint,
            ..Self::of(missing.absence.class(), cause)
        }
    }
}

/// True if no browser can open `link`: the URL Standard gives it no target, and it is not a template.
pub fn is_invalid(link: &LinkReport) -> bool {
    let is_unresolvable = match (link.outcome, link.reason) {
        (Outcome::NoBase, _) => false,
        (Outcome::Left, reason) => reason == Some(Reason::Unresolvable),
        _ => link.differs,
    };
    // An absolute URL needs no base.
    let base = link.base.as_deref().unwrap_or("about:blank");
    is_unresolvable
        && !is_template(&link.reference)
        && Base::new(Resolver::Whatwg, base)
            .resolve(&link.reference)
            .is_err()
}
