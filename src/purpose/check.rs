//! The effect of a move on the links of a collection. Each link gets exactly one class.
//!
//! According to RFC 1808, section 1, documents with relative links can be moved as a whole, and read through `file`,
//! `http` and `ftp` alike. Each link is resolved to its current target (RFC 1808, 4), and then against the base after
//! the move (RFC 1808, 3, with the new URL of the document). The link travels if both targets are the same resource.
//!
//! ```text
//! document, collection  --check-->  CheckedDocument  --findings-->  a Finding for each link
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use baselink_rewrite::base::Retrieval;
//! use baselink_cli::collection::{Collection, Resource};
//! use baselink_cli::purpose::check::{Cause, Class, check};
//! use baselink_rewrite::Options;
//! use baselink_text::format::Format;
//!
//! let mut collection = Collection::default();
//! collection.add(Resource::file(b"x.html"), ["http://a/docs/x.html"]);
//! let collection = Arc::new(collection);
//! let page = b"<a href=#top></a><a href=http://a/docs/x.html#top></a><a href=/y.html></a>";
//! let options = Options { retrieval: Some(Retrieval::url("http://a/docs/x.html")), ..Options::default() };
//! let checked = check(b"x.html", page, &options, &collection, None);
//! let found: Vec<_> = checked.findings(&|_, _, _| None, true).filter_map(|(_, finding)| finding).collect();
//! assert_eq!((found[1].class, found[1].cause), (Class::Pinned, Some(Cause::Absolute)));
//! ```
//!
//! Deliberately absent: reading the resources, checking URLs outside the collection, and running scripts, which may
//! change links and ids.

use std::sync::Arc;

use crate::collection::origin::{RootUrl, canonical};
use crate::collection::{Collection, is_disk, url_below};
use baselink_rewrite::base::{Retrieval, Source};
use baselink_rewrite::report::{EntityReport, LinkReport, Outcome, Report};
use baselink_rewrite::{BaseElement, Fragments, Options, Site, rewrite};
use baselink_scan::document::Program;
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_text::span::Span;
use baselink_url::reference::{Grammar, Reference};

mod bases;
mod captured;
mod finding;
mod ids;
mod judge;

use bases::{MovedBases, MovedCollection};
use captured::CaptureJudge;
pub use finding::{Cause, Class, Finding};
pub use ids::{FragmentPlace, Ids};
pub use judge::FragmentPlaces;
use judge::MoveJudge;

/// A document whose links can be judged.
#[derive(Debug)]
pub struct CheckedDocument<'a> {
    /// The links and anomalies of the document.
    pub report: Report,
    /// The encoding; `None` for a message.
    pub charset: Option<Charset>,
    /// The possible targets of fragments in the document; `None` if unknown or not requested.
    pub ids: Option<Ids>,
    judge: LinkJudge<'a>,
}

/// The judge of the links of one document.
#[derive(Debug)]
enum LinkJudge<'a> {
    Move(Box<MoveJudge<'a>>),
    Captures(CaptureJudge),
}

/// Scans `bytes`, a document from an archive, and determines which targets are missing from `collection`, the
/// captures of the archive. `options` contain the format, the retrieval URL, the profile and the places.
#[must_use]
pub fn check_capture(
    bytes: &[u8],
    options: &Options,
    collection: &Arc<Collection>,
) -> CheckedDocument<'static> {
    let report = rewrite(bytes, &options_of(options, collection)).report;
    let document = report
        .entities
        .first()
        .filter(|_| !options.format.has_headings());
    let charset = document.map(|document| document.charset);
    let judge = LinkJudge::Captures(CaptureJudge::of(bytes, &report.links, collection));
    CheckedDocument {
        report,
        charset,
        ids: None,
        judge,
    }
}

/// Scans `bytes`, the resource called `name` or a message in it. `to` is the URL of the root after the move; a `file`
/// URL means that the collection is read from disk. If `to` is `None`, the destination is unknown, and only the scheme
/// is assumed to stay the same.
///
/// `options` contain the format, the retrieval URL, the profile and the places.
#[must_use]
pub fn check<'a>(
    name: &[u8],
    bytes: &[u8],
    options: &Options,
    collection: &'a Arc<Collection>,
    to: Option<&RootUrl>,
) -> CheckedDocument<'a> {
    let mut options = options_of(options, collection);
    options.scan.ids &= matches!(
        options.format,
        Format::Html | Format::Xhtml | Format::Svg | Format::Xml
    );
    let mut report = rewrite(bytes, &options).report;
    // The collection knows which target of a link in a custom property is a file.
    report
        .diagnostics
        .retain(|found| found.code != Code::CustomProperty);
    let ids = ids(&mut report, &options);
    let document = report
        .entities
        .first()
        .filter(|_| !options.format.has_headings());
    let charset = document.map(|document| document.charset);
    let saved_by = document.and_then(|document| {
        let of_comment = document.chain.saved.as_ref().map(|saved| saved.program);
        let of_files = document.chain.was_saved_with_files;
        of_comment.or(of_files.then_some(Program::Browser))
    });
    let is_saved = |entity: &EntityReport| entity.chain.saved.is_some();
    let beside = options.beside.as_ref();
    let is_crawled =
        report.entities.iter().any(is_saved) || beside.is_some_and(|files| files.is_crawled());
    let place = place(options.retrieval.as_ref(), to);
    let own = url_below(&place, name);
    let keeps_paths = collection.has_only_paths() && !is_disk(&place);
    let goal = MovedCollection {
        collection,
        place,
        keeps_paths,
    };
    let source = options.retrieval.as_ref().map(|retrieval| retrieval.source);
    let format = options.format;
    let judge = MoveJudge {
        bases: MovedBases::of_report(&report, bytes, options, own.as_deref()),
        goal,
        is_destination_known: to.is_some(),
        is_extent_known: matches!(source, None | Some(Source::Retrieval | Source::Layout)),
        saved_by: saved_by.filter(|_| source == Some(Source::SavedFrom)),
        is_crawled,
        number: collection.number_at(name),
        own,
        canonical: canonical_link(&report, bytes, format),
    };
    CheckedDocument {
        report,
        charset,
        ids,
        judge: LinkJudge::Move(Box::new(judge)),
    }
}

/// The possible targets of fragments in a document; `None` if they are unknown or not requested.
fn ids(report: &mut Report, options: &Options) -> Option<Ids> {
    let is_broken = |found: &Diagnostic| found.code == Code::NotWellFormed;
    if !options.scan.ids || report.diagnostics.iter().any(is_broken) {
        return None;
    }
    let document = report.entities.first_mut()?;
    let ids = Ids::new(std::mem::take(&mut document.ids));
    Some(match options.format {
        Format::Html => ids,
        _ => ids.with_pointers(),
    })
}

/// The span of the canonical URL that a `link` element declares.
fn canonical_link(report: &Report, bytes: &[u8], format: Format) -> Option<Span> {
    let may_be_canonical =
        |link: &LinkReport| link.element == "link" && link.outcome == Outcome::Absolute;
    if !report.links.iter().any(may_be_canonical) {
        return None;
    }
    let named = canonical::named(bytes, format)?;
    (named.by == canonical::CanonicalTag::Link).then_some(named.span)
}

/// Changes `options` so that every reference is resolved, and text that leads nowhere in `collection` is not a link.
fn options_of(options: &Options, collection: &Arc<Collection>) -> Options {
    Options {
        site: Some(Arc::clone(collection) as Arc<dyn Site>),
        fragments: Some(Fragments::Rewrite),
        base_element: BaseElement::Absolute,
        ..options.clone()
    }
}

/// The URL of the root after the move. If the destination is unknown, it is a URL with the scheme of `retrieval` and a
/// host that cannot exist (RFC 6761, 6.4).
fn place(retrieval: Option<&Retrieval>, to: Option<&RootUrl>) -> RootUrl {
    if let Some(to) = to {
        return to.clone();
    }
    let scheme = retrieval.map(|own| Reference::split(Grammar::Rfc3986, &own.url));
    let scheme = scheme
        .as_ref()
        .and_then(Reference::scheme)
        .unwrap_or("https");
    RootUrl::new(&format!("{scheme}://elsewhere.invalid/elsewhere/"))
        .unwrap_or_else(|_| RootUrl::nowhere())
}

impl CheckedDocument<'_> {
    /// Iterates over the links and the effects of the move on them. If `all` is false, a link that obviously travels
    /// has `None`: most links travel, and computing their findings would take most of the time.
    pub fn findings<'d>(
        &'d self,
        named: &'d FragmentPlaces<'_>,
        all: bool,
    ) -> impl Iterator<Item = (&'d LinkReport, Option<Finding>)> {
        self.report
            .links
            .iter()
            .enumerate()
            .map(move |(number, link)| {
                let travels = !all
                    && match &self.judge {
                        LinkJudge::Move(judge) => judge.travels(number, link, named),
                        LinkJudge::Captures(judge) => judge.class(number) == Class::Travels,
                    };
                let finding = || match &self.judge {
                    LinkJudge::Move(judge) => judge.shown(number, link, named),
                    LinkJudge::Captures(judge) => judge.finding(number, link),
                };
                (link, (!travels).then(finding))
            })
    }
}
