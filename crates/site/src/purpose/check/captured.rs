//! The judge for a document in an archive. It determines which link targets the archive lacks.
//!
//! ```text
//! img src, not captured      -->  missing (not-captured)
//! a href, captured as a 404  -->  missing-page (client-error)
//! a href to another host     -->  outside
//! ```
//!
//! Of [alternatives](crate::purpose::alternatives), only one must be available. Missing ones are then classified as outside.
//!
//! Deliberately absent: resources that scripts load.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use baselink_rewrite::{
    BaseChain, LinkReceiver, LinkReport, ListedLink, Outcome, PlainLink, Reason,
};
use baselink_scan::Role;
use baselink_text::Charset;
use baselink_url::without_fragment;

use super::finding::{Cause, CheckedLink, CheckedSite, Class, Finding, RepeatedLinks, is_invalid};
use crate::{
    collection::{Located, TextMap, names_prefix},
    purpose::{alternatives::Alternatives, custom_property::in_sheet, spelling::is_web},
};

/// Judges the links of one document, in order.
pub struct CaptureJudge<'a> {
    site: CheckedSite<'a>,
    /// The alternatives of links, by the starts of the links.
    alternatives: HashMap<usize, Arc<Alternatives>>,
    counted: BTreeMap<Class, usize>,
    /// The URLs so far, without fragments: many links of a document lead to one URL.
    known: TextMap<KnownUrl>,
    found: &'a mut dyn FnMut(CheckedLink),
}

/// A URL, as far as its links depend on it.
struct KnownUrl {
    /// The cause for which the archive lacks it.
    lack: Option<Cause>,
    /// True if it is retrieved by HTTP or denotes a part of a message, so that a page may need it.
    is_retrievable: bool,
    /// True if it is a URL of a captured host, so that it may be a missing page.
    is_page: bool,
    /// The numbers of links to it with and without a report.
    links: [usize; 2],
    /// The number of links to it that need a report, if it is reported.
    wanted: usize,
}

impl<'a> CaptureJudge<'a> {
    /// The judge for a document with these `alternatives`, which passes links to `found`.
    pub fn new(
        alternatives: HashMap<usize, Arc<Alternatives>>,
        site: CheckedSite<'a>,
        found: &'a mut dyn FnMut(CheckedLink),
    ) -> Self {
        Self {
            site,
            alternatives,
            counted: BTreeMap::new(),
            known: TextMap::default(),
            found,
        }
    }

    /// The numbers of links that were only counted, by class and by URL.
    pub fn end(self) -> (BTreeMap<Class, usize>, Vec<RepeatedLinks>) {
        let mut repeated = Vec::new();
        for number in 0..self.known.len() {
            let known = &self.known.values[number];
            let (class, cause) = known.class(Role::Navigation);
            if known.links[1] > 0 && (self.site.is_reported)(class) {
                let url = self.known.url(number).to_owned();
                repeated.push((class, cause, url, known.links[1]));
            }
        }
        (self.counted, repeated)
    }

    /// The class of `link` by itself, and the cause.
    fn class(&mut self, link: &LinkReport) -> (Class, Option<Cause>) {
        if in_sheet(link, self.site.collection).is_some() {
            return (Class::Travels, None);
        }
        if is_invalid(link) {
            return (Class::Invalid, None);
        }
        let target = match (link.outcome, &link.target) {
            (Outcome::Left, Some(target)) if link.reason == Some(Reason::CustomProperty) => target,
            (Outcome::NoBase, _) => return (Class::Left, Some(Cause::NoBase)),
            (Outcome::Left, _) | (_, None) => return (Class::Left, link.reason.map(Cause::Kept)),
            // A prefix of URLs has no capture.
            (_, Some(_)) if names_prefix(link) => return (Class::Outside, None),
            (_, Some(target)) => target,
        };
        let known = self.known_url(target);
        known.links[0] += usize::from(link.role == Role::Navigation);
        known.class(link.role)
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
        let (class, _) = known.class(link.role);
        if is_reported(class) && known.links[0] < known.wanted {
            return false;
        }
        known.links[1] += 1;
        *self.counted.entry(class).or_default() += 1;
        true
    }

    fn link(&mut self, listed: ListedLink, _: &BaseChain, charset: Charset) {
        let link = &listed.link;
        let (mut class, mut cause) = self.class(link);
        // The page does not need the link if the archive has an alternative.
        if class == Class::Missing
            && let Some(group) = self.alternatives.get(&link.span.start).map(Arc::clone)
            && group
                .stand_in(|other| (self.class(other).0 == Class::Travels).then(String::new))
                .is_some()
        {
            (class, cause) = (Class::Outside, None);
        }
        (self.found)(CheckedLink {
            charset,
            finding: Finding {
                target: link.target.clone().filter(|_| class != Class::Left),
                differs: link.differs,
                ..Finding::of(class, cause)
            },
            listed,
        });
    }
}

impl KnownUrl {
    fn new(site: CheckedSite<'_>, url: &str) -> Self {
        let (lack, is_host_known) = match site.collection.locate(url) {
            Located::Failed(300..=303 | 307 | 308) => (Some(Cause::Redirect), true),
            Located::Failed(400..=499) => (Some(Cause::ClientError), true),
            Located::Failed(500..) => (Some(Cause::ServerError), true),
            Located::Failed(_) => (Some(Cause::NoBody), true),
            Located::Resource(found) if site.collection.is_cut(found.number) => {
                (Some(Cause::NoBody), true)
            }
            Located::Outside { is_host_known } => (Some(Cause::NotCaptured), is_host_known),
            // Captures are found by their URLs alone.
            Located::Resource(_)
            | Located::Folder(_)
            | Located::BehindLink(_)
            | Located::Lacking(..) => (None, true),
        };
        let is_web = is_web(url);
        let is_part = url
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("cid:"));
        let mut known = Self {
            lack,
            is_retrievable: is_web || is_part,
            is_page: is_web && is_host_known,
            links: [0; 2],
            wanted: 0,
        };
        let (class, _) = known.class(Role::Navigation);
        known.wanted = (site.places)(class, url);
        known
    }

    /// The class of a link with this role, and the cause.
    fn class(&self, role: Role) -> (Class, Option<Cause>) {
        match (self.lack, role) {
            (None, _) => (Class::Travels, None),
            (lack, Role::Embedded) if self.is_retrievable => (Class::Missing, lack),
            (lack, Role::Navigation) if self.is_page => (Class::MissingPage, lack),
            _ => (Class::Outside, None),
        }
    }
}
