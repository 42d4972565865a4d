//! Dead links of a site, and the effect of a move on the others. Each link gets exactly one class.
//!
//! Each link is resolved to its target (RFC 1808, 4), which must be a resource of the site. According to RFC 1808, section
//! 1, documents with relative links can be moved as a whole, and read through `file`, `http` and `ftp` alike. So for a
//! move, each link is also resolved against the base after the move (RFC 1808, 3, with the new URL of the document). The
//! link travels if both targets are the same resource.
//!
//! ```text
//! document, collection  --check-->  a Finding for each link, one by one  -->  CheckedDocument: ids, anomalies
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use baselink_rewrite::base::Retrieval;
//! use baselink_cli::collection::origin::{Origins, RootUrl};
//! use baselink_cli::collection::{Collection, Resource};
//! use baselink_cli::purpose::check::{Cause, Class, check};
//! use baselink_rewrite::Options;
//! use baselink_text::format::Format;
//!
//! let root_url = Some(RootUrl::new("http://a/docs/").unwrap());
//! let mut collection = Collection::new(Origins { root_url, ..Origins::default() });
//! collection.add(Resource::file(b"x.html"), []);
//! let collection = Arc::new(collection);
//! let page = b"<a href=#top></a><a href=http://a/docs/x.html#top></a><a href=/y.html></a>";
//! let options = Options { retrieval: Some(Retrieval::url("http://a/docs/x.html")), ..Options::default() };
//! let mut found = Vec::new();
//! let to = RootUrl::new("http://b/").unwrap();
//! check(b"x.html", page, &options, (&collection, Some(&to)), true, &mut |link| found.push(link.finding));
//! assert_eq!((found[1].class, found[1].cause), (Class::Pinned, Some(Cause::Absolute)));
//! ```
//!
//! Deliberately absent: reading the resources, checking URLs outside the collection, and running scripts, which may
//! change links and ids.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::collection::origin::RootUrl;
use crate::collection::{Collection, is_disk, url_below};
use baselink_rewrite::base::Source;
use baselink_rewrite::{BaseElement, Fragments, Options, RowFn, Site, base, links_within};
use baselink_scan::document::Program;
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;

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
/// the URL of the root after the move; a `file` URL means that the collection is read from disk. Without it, the site is only
/// checked where it stands. If `all` is false, a link that obviously
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
    let place = place(collection, to);
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

/// The URL of the root after the move; without a move, its URL, or one that cannot exist if files have URLs of their own.
fn place(collection: &Collection, to: Option<&RootUrl>) -> RootUrl {
    let place = to.or(collection.root_url());
    place.cloned().unwrap_or_else(RootUrl::nowhere)
}
