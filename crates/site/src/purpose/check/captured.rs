//! The judge for a document in an archive. It determines which link targets the archive lacks.
//!
//! ```text
//! img src, not captured      -->  missing (not-captured)
//! a href, captured as a 404  -->  missing-page (client-error)
//! a href to another host     -->  outside
//! ```
//!
//! Of [alternatives](crate::purpose::alternatives), only one must be available. Missing ones are then served.
//!
//! Deliberately absent: resources that scripts load.

use baselink_rewrite::{
    BaseChain, LinkReceiver, LinkReport, ListedLink, Options, Outcome, PlainLink, Reason,
};
use baselink_scan::Role;
use baselink_text::Charset;
use baselink_url::without_fragment;

use super::finding::{CheckedLink, CheckedSite, Finding, RepeatedLinks, is_invalid};
use crate::{
    collection::{Located, TextMap, names_prefix},
    purpose::{
        alternatives::{LazyAlternatives, alternatives, is_served},
        custom_property::in_sheet,
        finding_rule::{Class, FindingRule},
        spelling::is_web,
        tally::{Counted, Tally},
    },
};

/// Judges the links of one document, in order.
pub struct CaptureJudge<'a> {
    site: CheckedSite<'a>,
    alternatives: LazyAlternatives<'a>,
    counted: Tally,
    /// The URLs so far, without fragments: many links of a document lead to one URL.
    known: TextMap<KnownUrl>,
    found: &'a mut dyn FnMut(CheckedLink),
}

/// A URL, as far as its links depend on it.
struct KnownUrl {
    /// The rules for links to it, by their roles.
    rules: [FindingRule; Role::ALL.len()],
    /// The numbers of links to it with and without a report.
    links: [usize; 2],
    /// The number of links to it that need a report, if it is reported.
    wanted: usize,
}

impl<'a> CaptureJudge<'a> {
    /// The judge for a document, which passes links to `found`.
    pub fn new(
        (bytes, options): (&'a [u8], &'a Options),
        site: CheckedSite<'a>,
        found: &'a mut dyn FnMut(CheckedLink),
    ) -> Self {
        Self {
            site,
            alternatives: LazyAlternatives::new(Box::new(|| alternatives(bytes, options))),
            counted: Tally::default(),
            known: TextMap::default(),
            found,
        }
    }

    /// The numbers of links that were only counted, by rule and by URL.
    pub fn end(self) -> (Tally, Vec<RepeatedLinks>) {
        let mut repeated = Vec::new();
        for number in 0..self.known.len() {
            let known = &self.known.values[number];
            let rule = known.rule(Role::Navigation);
            if known.links[1] > 0 && (self.site.is_reported)(rule.class()) {
                let url = self.known.url(number).to_owned();
                repeated.push((rule, url, known.links[1]));
            }
        }
        (self.counted, repeated)
    }

    /// The rule for `link` by itself.
    fn rule(&mut self, link: &LinkReport) -> FindingRule {
        if in_sheet(link, self.site.collection).is_some() {
            return FindingRule::Travels;
        }
        if is_invalid(link) {
            return FindingRule::Invalid;
        }
        let target = match (link.outcome, &link.target) {
            (Outcome::Left, Some(target)) if link.reason == Some(Reason::CustomProperty) => target,
            (Outcome::NoBase | Outcome::Left, _) | (_, None) => return FindingRule::Left,
            // A prefix of URLs has no capture.
            (_, Some(_)) if names_prefix(link) => return FindingRule::Outside,
            (_, Some(target)) => target,
        };
        let known = self.known_url(target);
        known.links[0] += usize::from(link.role == Role::Navigation);
        known.rule(link.role)
    }

    fn known_url(&mut self, target: &str) -> &mut KnownUrl {
        let url = without_fragment(target);
        let number = self.known.number(url.as_bytes()).unwrap_or_else(|| {
            let known = KnownUrl::new(self.site, url);
            self.known
                .add(url.as_bytes(), known)
                .unwrap_or_else(|number| number)
        });
        &mut self.known.values[number]
    }
}

impl LinkReceiver for CaptureJudge<'_> {
    fn plain(&mut self, link: &PlainLink<'_>, _: &BaseChain, _: Charset) -> bool {
        // An embedded resource may be an alternative, and browsers may have no target.
        if link.role != Role::Navigation || link.target.differs {
            return false;
        }
        let is_reported = self.site.is_reported;
        let known = self.known_url(&link.url());
        let rule = known.rule(link.role);
        if is_reported(rule.class()) && known.links[0] < known.wanted {
            return false;
        }
        known.links[1] += 1;
        self.counted.add(Counted::Checked(rule), 1_usize);
        true
    }

    fn link(&mut self, listed: ListedLink, _: &BaseChain, charset: Charset) {
        let link = &listed.link;
        let site = self.site;
        let mut rule = self.rule(link);
        let is_there = |other: &LinkReport| {
            let known = |url| KnownUrl::new(site, without_fragment(url)).rule(other.role);
            other.target.as_deref().map(known) == Some(FindingRule::Travels)
        };
        if rule.class() == Class::Missing && is_served(link, &self.alternatives, is_there) {
            rule = FindingRule::Served;
        }
        let is_left = rule == FindingRule::Left;
        (self.found)(CheckedLink {
            charset,
            finding: Finding {
                reason: link.reason.filter(|_| is_left),
                target: link.target.clone().filter(|_| !is_left),
                differs: link.differs,
                ..Finding::of(rule)
            },
            listed,
        });
    }
}

impl KnownUrl {
    fn new(site: CheckedSite<'_>, url: &str) -> Self {
        use FindingRule::*;
        let ([embedded, page], is_host_known) = match site.collection.locate(url) {
            Located::Failed(300..=303 | 307 | 308) => ([Redirect, PageRedirect], true),
            Located::Failed(400..=499) => ([ClientError, PageClientError], true),
            Located::Failed(500..) => ([ServerError, PageServerError], true),
            Located::Failed(_) => ([NoBody, PageNoBody], true),
            Located::Resource(found) if site.collection.is_cut(found.number) => {
                ([NoBody, PageNoBody], true)
            }
            Located::Outside { is_host_known } => ([NotCaptured, PageNotCaptured], is_host_known),
            // Captures are found by their URLs alone.
            Located::Resource(_)
            | Located::Folder(_)
            | Located::BehindLink(_)
            | Located::Lacking(..) => ([Travels; 2], true),
        };
        let is_web = is_web(url);
        let is_part = url
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("cid:"));
        // A page may need a URL that is retrieved by HTTP, or that denotes a part of a message. A page that lacks is on a captured
        // host.
        let rules = [
            (embedded, is_web || is_part),
            (page, is_web && is_host_known),
            (Outside, false),
        ]
        .map(|(lack, concerns)| match embedded {
            Travels => Travels,
            _ if concerns => lack,
            _ => Outside,
        });
        Self {
            rules,
            links: [0; 2],
            wanted: (site.places)(rules[Role::Navigation as usize].class(), url),
        }
    }

    /// The rule for a link with this role.
    fn rule(&self, role: Role) -> FindingRule {
        self.rules[role as usize]
    }
}
