//! The URLs to which a document in an archive links, and the rules for links to those that the archive lacks.
//!
//! ```text
//! img src, not captured      -->  missing (not-captured)
//! a href, captured as a 404  -->  missing-page (client-error)
//! a href to another host     -->  outside
//! ```
//!
//! Deliberately absent: resources that scripts load.

use baselink_scan::Role;
use baselink_text::format::starts_with;
use baselink_url::without_fragment;
use indexmap::IndexMap;

use super::finding::{CheckedSite, RepeatedLinks};
use crate::{
    collection::Located,
    purpose::{finding_rule::FindingRule, spelling::is_web},
};

/// The URLs of one document so far, without fragments: many of its links lead to one URL.
#[derive(Default)]
pub struct CapturedUrls(IndexMap<Box<str>, CapturedUrl>);

/// A URL, as far as its links depend on it.
struct CapturedUrl {
    /// The rules for links to it, by their roles.
    rules: [FindingRule; Role::ALL.len()],
    /// The numbers of navigation links to it with and without a report.
    links: [usize; 2],
    /// The number of navigation links to it that need a report.
    wanted: usize,
}

impl CapturedUrls {
    /// The rule for a link to `target` with this role, which is reported.
    pub fn rule(&mut self, site: CheckedSite<'_>, role: Role, target: &str) -> FindingRule {
        let url = self.url(site, target);
        url.links[0] += usize::from(role == Role::Navigation);
        url.rules[role as usize]
    }

    /// The rule for a navigation link to `target`, if it needs no report.
    pub fn unreported(&mut self, site: CheckedSite<'_>, target: &str) -> Option<FindingRule> {
        let url = self.url(site, target);
        let is_counted = url.links[0] >= url.wanted;
        url.links[1] += usize::from(is_counted);
        is_counted.then_some(url.rules[Role::Navigation as usize])
    }

    fn url(&mut self, site: CheckedSite<'_>, target: &str) -> &mut CapturedUrl {
        let url = without_fragment(target);
        let known = self.0.entry(url.into());
        known.or_insert_with(|| CapturedUrl::new(site, url))
    }

    /// The links that were not reported although their classes are, by URL.
    pub fn repeated(&self, site: CheckedSite<'_>) -> Vec<RepeatedLinks> {
        let repeated = self.0.iter().filter_map(|(url, known)| {
            let (rule, links) = (known.rules[Role::Navigation as usize], known.links[1]);
            let is_wanted = links > 0 && (site.is_reported)(rule.class());
            is_wanted.then(|| (rule, url.clone().into(), links))
        });
        repeated.collect()
    }
}

impl CapturedUrl {
    fn new(site: CheckedSite<'_>, url: &str) -> Self {
        use FindingRule::*;
        let own = site.collection.locate(url);
        let elsewhere = || site.collection.elsewhere(url);
        let other = own.resource().is_none().then(elsewhere).flatten();
        let (source, located) = other.unwrap_or((site.collection, own));
        let [embedded, page] = match located {
            Located::Failed(300..=303 | 307 | 308) => [Redirect, PageRedirect],
            Located::Failed(400..=499) => [ClientError, PageClientError],
            Located::Failed(500..) => [ServerError, PageServerError],
            Located::Failed(_) => [NoBody, PageNoBody],
            Located::Resource(found) if source.is_cut(found.number) => [NoBody, PageNoBody],
            Located::Outside { .. } => [NotCaptured, PageNotCaptured],
            // Captures are found by their URLs alone.
            Located::Resource(_)
            | Located::Folder(_)
            | Located::BehindLink(_)
            | Located::Lacking(..) => [Works; 2],
        };
        let is_web = is_web(url);
        let is_mail = site.collection.is_of_mail && is_web;
        let is_part = starts_with(url.as_bytes(), "cid:");
        // A page may need a URL that is retrieved by HTTP, or that denotes a part of a message. A page that lacks is on a captured
        // host.
        let rules = [
            (if is_mail { Remote } else { embedded }, is_web || is_part),
            (page, is_web && !is_mail && located != Located::OUTSIDE),
            (Outside, false),
        ]
        .map(|(lack, concerns)| match embedded {
            Works => Works,
            _ if concerns => lack,
            _ => Outside,
        });
        let class = rules[Role::Navigation as usize].class();
        Self {
            rules,
            links: [0; 2],
            wanted: if (site.is_reported)(class) {
                (site.places)(class, url)
            } else {
                0
            },
        }
    }
}
