//! The effect of a move on the links of a collection. Each link gets exactly one class.
//!
//! According to RFC 1808, section 1, documents with relative links can be moved as a whole, and read through `file`,
//! `http` and `ftp` alike. Each link is resolved to its current target (RFC 1808, 4), and then against the base after
//! the move (RFC 1808, 3, with the new URL of the document). The link travels if both targets are the same resource.
//!
//! ```text
//! document, collection  --check-->  a Finding for each link, one by one  -->  CheckedDocument: ids, anomalies
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
//! let mut found = Vec::new();
//! check(b"x.html", page, &options, (&collection, None), true, &mut |link| found.push(link.finding));
//! assert_eq!((found[1].class, found[1].cause), (Class::Pinned, Some(Cause::Absolute)));
//! ```
//!
//! Deliberately absent: reading the resources, checking URLs outside the collection, and running scripts, which may
//! change links and ids.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::collection::origin::RootUrl;
use crate::collection::{Collection, is_disk, url_below};
use baselink_rewrite::base::{Retrieval, Source};
use baselink_rewrite::{BaseElement, Fragments, Options, RowFn, Site, base, links_within};
use baselink_scan::document::Program;
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_url::reference::{Grammar, Reference};

mod bases;
mod captured;
mod finding;
mod ids;
mod judge;

use bases::{MovedBases, MovedCollection};
use captured::CaptureJudge;
pub use finding::{Cause, CheckedLink, Class, Finding};
pub use ids::{FragmentPlace, Ids};
use judge::MoveJudge;

/// A document whose links were judged.
#[derive(Debug)]
pub struct CheckedDocument {
    /// The anomalies of the document.
    pub diagnostics: Vec<Diagnostic>,
    /// The encoding; `None` for a message.
    pub charset: Option<Charset>,
    /// The possible targets of fragments in the document; `None` if unknown or not requested.
    pub ids: Option<Ids>,
    /// The number of links.
    pub links: usize,
}

/// Scans `bytes`, a document from an archive, and passes each link to `found`, with a finding about what `collection`, the
/// captures of the archive, lacks. `options` contain the format, the retrieval URL, the profile and the places.
pub fn check_capture(
    bytes: &[u8],
    options: &Options,
    collection: &Arc<Collection>,
    found: &mut dyn FnMut(CheckedLink),
) -> CheckedDocument {
    let mut judge = CaptureJudge::new(bytes, collection);
    let checked = scan(
        bytes,
        &options_of(options, collection),
        &mut |link, _, charset| {
            judge.judge(link, charset, found);
        },
    );
    judge.end(found);
    checked
}

/// Scans `bytes`, the resource called `name` or a message in it, and passes each link with its finding to `found`. `to` is
/// the URL of the root after the move; a `file` URL means that the collection is read from disk. If `to` is `None`, the
/// destination is unknown, and only the scheme is assumed to stay the same. If `all` is false, a link that obviously
/// travels has no details: most links travel.
///
/// `options` contain the format, the retrieval URL, the profile and the places.
pub fn check(
    name: &[u8],
    bytes: &[u8],
    options: &Options,
    (collection, to): (&Arc<Collection>, Option<&RootUrl>),
    all: bool,
    found: &mut dyn FnMut(CheckedLink),
) -> CheckedDocument {
    let mut options = options_of(options, collection);
    options.scan.ids &= matches!(
        options.format,
        Format::Html | Format::Xhtml | Format::Svg | Format::Xml
    );
    let source = options.retrieval.as_ref().map(|retrieval| retrieval.source);
    let own_chain = (source == Some(Source::SavedFrom))
        .then(|| base(bytes, &options))
        .flatten();
    let saved_by = own_chain.as_ref().and_then(|chain| {
        let of_comment = chain.saved.as_ref().map(|saved| saved.program);
        of_comment.or(chain.was_saved_with_files.then_some(Program::Browser))
    });
    let beside = options.beside.as_ref();
    let place = place(options.retrieval.as_ref(), to);
    let own = url_below(&place, name);
    let judge = MoveJudge {
        is_destination_known: to.is_some(),
        is_extent_known: matches!(source, None | Some(Source::Retrieval | Source::Layout)),
        saved_by,
        is_crawled: own_chain.is_some_and(|chain| chain.saved.is_some())
            || beside.is_some_and(|files| files.is_crawled()),
        number: collection.number_at(name),
        canonical: OnceCell::new(),
        bases: MovedBases::new(bytes, options.clone(), own.as_deref()),
        own,
        goal: MovedCollection {
            collection,
            keeps_paths: collection.has_only_paths() && !is_disk(&place),
            place,
        },
    };
    let is_message = options.format.has_headings();
    let mut own_charset = Charset::UTF_8;
    let mut checked = scan(bytes, &options, &mut |listed, chain, charset| {
        if !is_message && listed.link.entity == options.scan.entity {
            own_charset = charset;
        }
        let (finding, ids_of) = judge.judge(&listed.link, (chain, charset), all);
        found(CheckedLink {
            listed,
            charset: own_charset,
            finding,
            ids_of,
        });
    });
    // The collection knows which target of a link in a custom property is a file.
    checked
        .diagnostics
        .retain(|found| found.code != Code::CustomProperty);
    checked
}

/// Passes each link of `bytes` to `row`.
fn scan(bytes: &[u8], options: &Options, row: &mut RowFn<'_>) -> CheckedDocument {
    let mut totals = links_within(bytes, options, row);
    let links = totals.links();
    let is_broken = |found: &Diagnostic| found.code == Code::NotWellFormed;
    let knows_ids = options.scan.ids && !totals.diagnostics.iter().any(is_broken);
    let ids = knows_ids.then(|| Ids::new(std::mem::take(&mut totals.ids)));
    CheckedDocument {
        ids: match options.format {
            Format::Html => ids,
            _ => ids.map(Ids::with_pointers),
        },
        diagnostics: totals.diagnostics,
        charset: (!options.format.has_headings()).then_some(totals.charset),
        links,
    }
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
