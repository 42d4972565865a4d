//! The rules of `check`: the classes of links with their causes.
//!
//! ```
//! use baselink_site::purpose::finding_rule::FindingRule;
//! let rule = FindingRule::NetPath;
//! assert_eq!((rule.class().name(), rule.cause(None)), ("pinned", Some("net-path")));
//! ```
//!
//! Deliberately absent: the choice of the rule for a link, which is in the judges of [`check`](super::check); and sentences.

use std::sync::LazyLock;

use baselink_rewrite::Reason;
use baselink_text::named;

named! {
    /// The condition of a link, or the effect of a move on it. Every table has this order; the judges choose if several classes apply.
    #[derive(PartialOrd, Ord)]
    pub enum Class {
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
        /// Browsers do not load the target over `http` on a page with `https`, or the link leads to the network of its author.
        Mixed = "mixed",
        /// The file exists, but it has no target for the fragment.
        Fragment = "fragment",
        /// The target is a folder with an index file, but the final `/` is missing. Servers redirect to it.
        NoSlash = "no-slash",
        /// The target lacks its extension `.html`, or has a `/` in its place. Some servers add it.
        CleanUrl = "clean-url",
        /// The file exists, and the fragment names lines that a script of the page marks.
        Lines = "lines",
        /// The target exists in the tree.
        Works = "works",
        /// The collection lacks the target, but has an alternative, and the page needs only one of them.
        Served = "served",
        /// The link leads out of the tree, and does not depend on the place of the tree.
        Outside = "outside",
        /// The link leads to a URL that is ignored.
        Ignored = "ignored",
        /// No link leads to the file. It is the class of a file, not of a link.
        Unlinked = "unlinked",
        /// The link has no target.
        Left = "left",
    }
}

named! {
    /// The class of a finding with the cause, or the class alone if it has one cause. Logs of SARIF number them in this order.
    #[derive(Default, PartialOrd, Ord)]
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
        /// The link has no target, for the [reason](super::check::Finding::reason) of the finding.
        Left = "left",
        /// The link leads out of the tree.
        #[default]
        Outside = "outside",
        /// The target exists.
        Works = "works",
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
        /// The target was not captured, but an alternative was.
        Served = "served",
        /// The target is ignored.
        Ignored = "ignored",
        /// A message loads the target from the network.
        Remote = "outside/remote",
        /// The target is a page without its extension and with a final `/`, which few hosts serve.
        Slash = "dangling/slash",
        /// The link leads to a file of its author, or embeds a resource of the author's network.
        OwnMachine = "invalid/own-network",
        /// The link embeds a resource over `http` in a site with `https`.
        Insecure = "mixed/http",
        /// The link leads to a page of the author's network.
        OwnNetwork = "mixed/own-network",
        /// No page leads to the file.
        Unlinked = "unlinked",
    }
}

impl FindingRule {
    /// The class of findings by this rule, with which its name begins.
    pub fn class(self) -> Class {
        static CLASSES: LazyLock<Vec<Class>> = LazyLock::new(|| {
            let begins = |name: &str, class: &Class| name.split('/').next() == Some(class.name());
            let class =
                |rule: FindingRule| Class::ALL.into_iter().find(|it| begins(rule.name(), it));
            FindingRule::ALL.into_iter().filter_map(class).collect()
        });
        CLASSES[self as usize]
    }

    /// True if `move` would mend such links.
    pub fn is_movable(self) -> bool {
        let changes = [Self::SchemeChange, Self::EscapingBase, Self::RootRelative];
        self.class() == Class::Pinned || changes.contains(&self)
    }

    /// The name of the cause in `--json`, if the class has causes. `reason` is that of the finding.
    pub fn cause(self, reason: Option<Reason>) -> Option<&'static str> {
        match self {
            Self::Left => Some(reason.map_or("no-base", Reason::name)),
            _ => Some(self.name().split_once('/')?.1),
        }
    }
}
