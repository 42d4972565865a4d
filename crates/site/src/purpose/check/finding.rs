//! The effect of a move on a link, as a class and a cause.
//!
//! ```
//! use baselink_site::purpose::check::FindingRule;
//! let rule = FindingRule::NetPath;
//! assert_eq!((rule.class().name(), rule.cause(None)), ("pinned", Some("net-path")));
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
        /// The link has no target.
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

named! {
    /// The class of a finding with the cause, or the class alone if it has one cause. Logs of SARIF number them in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum FindingRule {
        /// The link is absolute.
        Absolute = "pinned/absolute",
        /// The link names the host.
        NetPath = "pinned/net-path",
        /// The base that the document declares is pinned.
        PinnedBase = "pinned/declared-base",
        /// The link names the host, and the scheme changes.
        SchemeChange = "escapes/net-path",
        /// The base that the document declares escapes.
        EscapingBase = "escapes/declared-base",
        /// The link begins with `/`.
        RootRelative = "escapes/root-relative",
        /// The link leads above the root.
        ClimbsOut = "escapes/climbs-out",
        /// The link lacks the path of the root, and would lead to a file with it. Other links have the path.
        NoPrefix = "escapes/no-prefix",
        /// No browser can open the link.
        Invalid = "invalid",
        /// No file has the name.
        Absent = "dangling/absent",
        /// A file has this name in different case.
        NameCase = "dangling/case",
        /// A file has this name with different percent-encoding or character encoding.
        NameEncoding = "dangling/percent-encoding",
        /// The link leads to a folder without an index file.
        NoIndex = "dangling/no-index",
        /// The name cannot be that of a file.
        NoName = "dangling/no-name",
        /// The target is not a regular file.
        NoFile = "dangling/no-file",
        /// The rules of the host lead from the link to nothing, or in a circle.
        DeadRule = "dangling/redirect",
        /// The link leads to a different file, or to none.
        Elsewhere = "dangling/elsewhere",
        /// The file has no id that matches the fragment.
        NoId = "fragment/no-id",
        /// The file has an id that differs from the fragment only in case.
        IdCase = "fragment/id-case",
        /// The link has no target, for the [reason](Finding::reason) of the finding.
        Left = "left",
        /// The link leads out of the tree.
        Outside = "outside",
        /// The target exists.
        Travels = "travels",
        /// The browser that saved the page kept the link and did not save its target.
        NotSaved = "escapes/not-saved",
        /// The file that a browser saved with the page is missing.
        LocalCopy = "dangling/local-copy",
        /// The link declares the canonical URL of the page, which only the author should change.
        Canonical = "pinned/canonical",
        /// A file has this name in a different Unicode normalization form.
        NameForm = "dangling/normalization",
        /// A symbolic link in the path is broken or circular.
        LinkNowhere = "dangling/symlink",
        /// A symbolic link in the path leads out of the tree.
        LinkOut = "escapes/symlink",
        /// The target was not captured.
        NotCaptured = "missing/not-captured",
        /// The target was captured as a client error (4xx).
        ClientError = "missing/client-error",
        /// The target was captured as a server error (5xx).
        ServerError = "missing/server-error",
        /// The target was captured as a redirect whose end is not a resource of the archive.
        Redirect = "missing/redirect",
        /// The target was captured without a body, or only partially.
        NoBody = "missing/no-body",
        /// The page was not captured.
        PageNotCaptured = "missing-page/not-captured",
        /// The page was captured as a client error (4xx).
        PageClientError = "missing-page/client-error",
        /// The page was captured as a server error (5xx).
        PageServerError = "missing-page/server-error",
        /// The page was captured as a redirect whose end is not a resource of the archive.
        PageRedirect = "missing-page/redirect",
        /// The page was captured without a body, or only partially.
        PageNoBody = "missing-page/no-body",
        /// The target is a folder, and the final `/` is missing.
        NoSlash = "no-slash",
        /// The target lacks its extension.
        CleanUrl = "clean-url",
        /// The fragment names lines that a script of the page marks.
        Lines = "lines",
    }
}

impl FindingRule {
    /// The class of findings by this rule.
    pub fn class(self) -> Class {
        match self {
            Self::Absolute | Self::NetPath | Self::PinnedBase | Self::Canonical => Class::Pinned,
            Self::SchemeChange
            | Self::EscapingBase
            | Self::RootRelative
            | Self::ClimbsOut
            | Self::NoPrefix
            | Self::NotSaved
            | Self::LinkOut => Class::Escapes,
            Self::Invalid => Class::Invalid,
            Self::Absent
            | Self::NameCase
            | Self::NameEncoding
            | Self::NameForm
            | Self::NoIndex
            | Self::NoName
            | Self::NoFile
            | Self::DeadRule
            | Self::Elsewhere
            | Self::LocalCopy
            | Self::LinkNowhere => Class::Dangling,
            Self::NotCaptured
            | Self::ClientError
            | Self::ServerError
            | Self::Redirect
            | Self::NoBody => Class::Missing,
            Self::PageNotCaptured
            | Self::PageClientError
            | Self::PageServerError
            | Self::PageRedirect
            | Self::PageNoBody => Class::MissingPage,
            Self::NoId | Self::IdCase => Class::Fragment,
            Self::Left => Class::Left,
            Self::Outside => Class::Outside,
            Self::Travels => Class::Travels,
            Self::NoSlash => Class::NoSlash,
            Self::CleanUrl => Class::CleanUrl,
            Self::Lines => Class::Lines,
        }
    }

    /// The name of the cause in `--json`, if the class has causes. `reason` is that of the finding.
    pub fn cause(self, reason: Option<Reason>) -> Option<&'static str> {
        match self {
            Self::Left => Some(reason.map_or("no-base", Reason::name)),
            _ => Some(self.name().split_once('/')?.1),
        }
    }
}

/// The effect of a move on a link, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The class of the link, and the cause.
    pub rule: FindingRule,
    /// The reason why [`FindingRule::Left`] applies; `None` if the link is relative, and no base is known.
    pub reason: Option<Reason>,
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

/// A rule, a URL without its fragment, and a number of links to it.
pub type RepeatedLinks = (FindingRule, String, usize);

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

impl Finding {
    /// A finding without details.
    pub(super) fn of(rule: FindingRule) -> Self {
        Self {
            rule,
            reason: None,
            target: None,
            moved: None,
            hint: None,
            differs: false,
            fragment: None,
        }
    }

    /// The finding for a link without a target, for `reason`.
    pub(super) fn left(reason: Option<Reason>) -> Self {
        Self {
            reason,
            ..Self::of(FindingRule::Left)
        }
    }

    /// The class of the link.
    pub fn class(&self) -> Class {
        self.rule.class()
    }

    /// The finding for a link whose fragment has this place in its target.
    pub(super) fn with_fragment(self, place: FragmentPlace) -> Self {
        let (rule, hint) = match place {
            FragmentPlace::Lines if self.rule != FindingRule::Left => (FindingRule::Lines, None),
            FragmentPlace::There | FragmentPlace::Lines => return self,
            FragmentPlace::Nowhere(Some(hint)) => (FindingRule::IdCase, Some(hint)),
            FragmentPlace::Nowhere(None) => (FindingRule::NoId, None),
        };
        Self {
            rule,
            reason: None,
            hint,
            ..self
        }
    }

    /// The finding for a link whose target is missing.
    pub(super) fn missing(missing: Missing) -> Self {
        let rule = match missing.absence {
            Absence::Absent => FindingRule::Absent,
            Absence::Case => FindingRule::NameCase,
            Absence::Encoding => FindingRule::NameEncoding,
            Absence::NoIndex => FindingRule::NoIndex,
            Absence::NoName => FindingRule::NoName,
            Absence::Special => FindingRule::NoFile,
            Absence::Normalization => FindingRule::NameForm,
            Absence::LinkOut => FindingRule::LinkOut,
            Absence::LinkNowhere => FindingRule::LinkNowhere,
            Absence::Redirect => FindingRule::DeadRule,
        };
        Self {
            hint: missing.hint,
            ..Self::of(rule)
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
