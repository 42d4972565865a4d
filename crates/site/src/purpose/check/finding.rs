//! The effect of a move on a link, as a rule with details.
//!
//! ```text
//! Finding { rule: ClimbsOut, target: http://a/x, moved: http://b/x, … }
//! ```
//!
//! Deliberately absent: the rules that determine the class, which are in the judges.

use std::{collections::BTreeMap, sync::Arc};

use baselink_rewrite::{LinkReport, ListedLink, Reason};
use baselink_text::{Charset, Error, Result};
use baselink_url::{Category, without_fragment};
use regex::Regex;

use super::ids::{FragmentPlace, Ids};
use crate::{
    collection::{Absence, Collection, Located, Missing, origin::RootUrl, without_query},
    purpose::{
        finding_rule::{
            Class,
            FindingRule::{self, *},
        },
        relocate::split_host,
        spelling::category,
    },
};

/// The effect of a move on a link, with its details.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    pub ids: Option<&'a BTreeMap<usize, Ids>>,
    /// The root of the host, if links of the site may have the path of the root of the site.
    pub host: Option<&'a RootUrl>,
    /// The URL of the root after the move, if any; a `file` URL means that the collection is read from disk.
    pub to: Option<&'a RootUrl>,
    /// The URLs that are ignored.
    pub ignored: Option<&'a IgnoredUrls>,
    /// True for the classes of links whose details are needed. The others may only be counted.
    pub is_reported: &'a (dyn Fn(Class) -> bool + Sync),
    /// The number of links in a document of an archive to a page, lacking with this class, whose details are needed. The
    /// others are counted in [`CheckedDocument::repeated`](super::CheckedDocument::repeated).
    pub places: &'a (dyn Fn(Class, &str) -> usize + Sync),
}

/// Patterns of URLs, and of paths on the hosts of a site, which begin with `/`.
pub struct IgnoredUrls(Regex);

impl IgnoredUrls {
    /// The URLs that match `patterns`; `None` if there are none. Only `*` is special. A query counts only for a pattern with a `?`.
    ///
    /// # Errors
    ///
    /// The patterns are too long.
    pub fn new(patterns: &[String]) -> Result<Option<Self>> {
        let expression = |pattern: &String| {
            let [all, some, query] = if pattern.contains('?') {
                [".*", "[^/]*", ""]
            } else {
                ["[^?]*", "[^/?]*", r"(?:\?.*)?"]
            };
            let escaped = regex::escape(pattern).replace(r"\*\*", all);
            escaped.replace(r"\*", some) + query
        };
        let all: Vec<_> = patterns.iter().map(expression).collect();
        let pattern = Regex::new(&format!("^(?:{})$", all.join("|")))
            .map_err(|_| Error::new("the patterns together are too long"))?;
        Ok((!patterns.is_empty()).then_some(Self(pattern)))
    }

    /// True if `url`, the target of a link in `collection`, is ignored.
    pub fn contains(&self, url: &str, collection: &Collection) -> bool {
        let url = without_fragment(url);
        self.0.is_match(url) || (self.0.is_match(split_host(url).1) && is_of_site(url, collection))
    }
}

/// True if `url` has the host of the root, or is known.
fn is_of_site(url: &str, collection: &Collection) -> bool {
    let host = collection
        .root_url()
        .map(|root| split_host(root.as_str()).0);
    host == Some(split_host(url).0) || collection.locate(url) != Located::OUTSIDE
}

/// A rule, a URL without its fragment, and a number of links to it.
pub type RepeatedLinks = (FindingRule, String, usize);

/// A link with its finding.
pub struct CheckedLink {
    /// The link, with its line and column.
    pub listed: ListedLink,
    /// The encoding of the document; UTF-8 for a message.
    pub charset: Charset,
    /// The finding.
    pub finding: Finding,
}

impl Finding {
    /// A finding without details.
    pub(super) fn of(rule: FindingRule) -> Self {
        Self {
            rule,
            ..Self::default()
        }
    }

    /// The finding for a link without a target, for `reason`.
    pub(super) fn left(reason: Option<Reason>) -> Self {
        Self {
            reason,
            ..Self::of(Left)
        }
    }

    /// The class of the link.
    pub fn class(&self) -> Class {
        self.rule.class()
    }

    /// The URL to which `link` must lead instead, if that is certain.
    pub fn remedy(&self, link: &LinkReport, collection: &Collection) -> Option<String> {
        let (reference, target) = (&link.reference, link.target.as_ref()?);
        match self.rule {
            NoPrefix => {
                // Any other form names the host on purpose.
                let host = split_host(collection.root_url()?.as_str()).0;
                let is_path = category(reference) == Category::AbsPath;
                let path = self.hint.as_deref().filter(|_| is_path)?;
                Some([host, without_query(path)].concat())
            }
            Absent | NameCase | NameEncoding | NameForm | NoName | Slash => {
                collection.remedy(target)
            }
            _ => None,
        }
    }

    /// The finding for a link whose fragment has this place in its target.
    pub(super) fn with_fragment(self, place: FragmentPlace) -> Self {
        let (rule, hint) = match place {
            FragmentPlace::Lines if self.rule != Left => (Lines, None),
            FragmentPlace::There | FragmentPlace::Lines => return self,
            FragmentPlace::Nowhere(Some(hint)) => (IdCase, Some(hint)),
            FragmentPlace::Nowhere(None) => (NoId, None),
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
            Absence::Absent => Absent,
            Absence::Case => NameCase,
            Absence::Encoding => NameEncoding,
            Absence::NoIndex => NoIndex,
            Absence::Slash => Slash,
            Absence::NoName => NoName,
            Absence::Special => NoFile,
            Absence::Normalization => NameForm,
            Absence::LinkOut => LinkOut,
            Absence::LinkNowhere => LinkNowhere,
            Absence::Redirect => DeadRule,
        };
        Self {
            hint: missing.hint,
            ..Self::of(rule)
        }
    }
}
