//! Dead links of a site, and the effect of a move on the others. Each link gets exactly one class.
//!
//! Each link is resolved to its target (RFC 1808, 4), which must be a resource of the site. According to RFC 1808, section
//! 1, documents with relative links can be moved as a whole, and read through `file`, `http` and `ftp` alike. So for a
//! move, each link is also resolved against the base after the move (RFC 1808, 3, with the new URL of the document). The
//! link works if both targets are the same resource.
//!
//! ```text
//! document, CheckedSite  --check-->  a Finding for each link, one by one  -->  CheckedDocument: ids, anomalies, counts
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use baselink_rewrite::Retrieval;
//! use baselink_site::collection::origin::{Origins, RootUrl};
//! use baselink_site::collection::{Collection, ResourceKind};
//! use baselink_site::purpose::check::{CheckedSite, FindingRule, check};
//! use baselink_rewrite::Options;
//! use baselink_text::Format;
//!
//! let root_url = Some(RootUrl::new("http://a/docs/").unwrap());
//! let mut collection = Collection::new(Origins { root_url, ..Origins::default() });
//! collection.add(b"x.html", ResourceKind::File, []);
//! let collection = Arc::new(collection);
//! let page = b"<a href=#top></a><a href=http://a/docs/x.html#top></a><a href=/y.html></a>";
//! let options = Options { retrieval: Some(Retrieval::url("http://a/docs/x.html")), ..Options::default() };
//! let mut found = Vec::new();
//! let to = RootUrl::new("http://b/").unwrap();
//! let (collection, to) = (&collection, Some(&to));
//! let (is_reported, places) = (&|_| true, &|_, _: &str| usize::MAX);
//! let site = CheckedSite { collection, ids: None, host: None, to, ignored: None, is_reported, places };
//! check(b"x.html", page, &options, site, &mut |link| found.push(link.finding));
//! assert_eq!(found[1].rule, FindingRule::Absolute);
//! ```
//!
//! Deliberately absent: reading the resources, checking URLs outside the collection, and running scripts, which may
//! change links and ids.

use baselink_rewrite::{Options, links_to};
use baselink_text::{Charset, Code, Diagnostic, Format};

use crate::purpose::options_in;

mod bases;
mod captured;
mod finding;
mod ids;
mod judge;
pub mod targets;

use judge::LinkJudge;

pub use super::finding_rule::{Class, FindingRule};
use super::tally::Tally;
pub use finding::{CheckedLink, CheckedSite, Finding, IgnoredUrls, RepeatedLinks};
pub use ids::{FragmentList, FragmentPlace, Ids, are_there};

/// A document whose links were judged.
pub struct CheckedDocument {
    /// The anomalies of the document.
    pub diagnostics: Vec<Diagnostic>,
    /// The encoding, unless it is a message.
    pub charset: Charset,
    /// The possible targets of fragments in the document; `None` if they are unknown.
    pub ids: Option<Ids>,
    /// The fragments of its links, if ids were not known yet.
    pub fragments: FragmentList,
    /// The number of links.
    pub links: usize,
    /// The numbers of the links that were only counted, by rule.
    pub counted: Tally,
    /// The links that were only counted although their classes are reported, by target.
    pub repeated: Vec<RepeatedLinks>,
}

/// Scans `bytes`, the resource called `name` or a message in it, and passes links with their findings to `found`. Without a
/// move, the site is only checked where it stands. In an archive, the findings are about what its captures lack.
///
/// `options` contain the format, the retrieval URL, the resolver and the places.
pub fn check(
    name: &[u8],
    bytes: &[u8],
    options: &Options,
    site: CheckedSite<'_>,
    found: &mut dyn FnMut(CheckedLink),
) -> CheckedDocument {
    let mut options = options_in(options, site.collection);
    options.scan.ids = site.ids.is_none()
        && !site.collection.only_urls
        && matches!(
            options.format,
            Format::Html | Format::Xhtml | Format::Svg | Format::Xml
        );
    let mut judge = LinkJudge::new(name, (bytes, &options), site, found);
    let totals = links_to(bytes, &options, &mut judge);
    let (counted, repeated, fragments) = judge.end();
    let links = totals.links();
    let mut diagnostics = totals.diagnostics;
    let is_broken = |found: &Diagnostic| found.code == Code::NotWellFormed;
    let knows_ids = options.scan.ids && !diagnostics.iter().any(is_broken);
    let ids = knows_ids.then(|| Ids::new(&totals.ids, options.format != Format::Html));
    // The collection knows which target of a link in a custom property is a file.
    diagnostics.retain(|found| found.code != Code::CustomProperty);
    CheckedDocument {
        links,
        charset: totals.charset,
        ids,
        fragments,
        diagnostics,
        counted,
        repeated,
    }
}
