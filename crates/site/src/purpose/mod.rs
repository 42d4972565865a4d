//! The purposes of commands that work on the links of a collection.
//!
//! [`check`] determines the effect of a move on links. [`localize`](mod@localize) makes links lead to resources of
//! the collection. [`relocate`](mod@relocate) makes links lead to the new places of their targets. All three receive
//! each link as a [`LinkReport`], and look up its target in a [`Collection`]. [`adapt`] changes parts other than URLs
//! in copies that open from disk.
//!
//! ```text
//! check     (link, collection)  -->  pinned, escapes, dangling, travels, …
//! localize  (link, collection)  -->  ../b/y.html#z, or the absolute URL
//! relocate  (link, collection)  -->  /sub/b/y.html#z, for /b/y.html#z
//! ```
//!
//! Deliberately absent: reading the resources.

pub mod adapt;
mod alternatives;
pub mod check;
mod custom_property;
pub mod entry_page;
pub mod finding_rule;
pub mod leftovers;
pub mod link_result;
pub mod localize;
mod on_disk;
pub mod pages;
pub mod redirects;
pub mod relocate;
pub mod rewriting;
mod spelling;
pub mod tally;

use std::sync::Arc;

use baselink_rewrite::{
    BaseElement, Destination, FileRewrite, Fragments, LinkReport, Options, PlainLink, Site, Source,
    rewrite_each,
};
use baselink_scan::Role;
use baselink_url::Base;

use self::spelling::is_web;
pub use self::spelling::names_base;
use crate::collection::{Collection, LastPath, PlainPlace, names_prefix, origin::is_assumed};

/// The length of the URL of the root, if the document called `name` has the URL below it, and its links may have a plain meaning
/// ([`Collection::plain_place`]).
fn plain_root(name: &[u8], collection: &Collection, options: &Options) -> Option<usize> {
    let retrieval = options.retrieval.as_ref();
    let retrieval = retrieval.filter(|_| !options.format.has_headings())?;
    let (root, url) = (
        collection.folder_url()?,
        Base::text_of(options.resolver, &retrieval.url),
    );
    let path = url.strip_prefix(root)?.as_bytes();
    let is_own = path == name && collection.has_own_name(collection.plain_file(path)?);
    is_own.then_some(root.len())
}

/// True if a document needs `target`, which is outside its collection: it embeds it, and the collection should have it, because it
/// is a crawl, an archive or a library, or because the document was saved. A message in a folder needs nothing: to retrieve its
/// images would tell the sender.
fn needs(collection: &Collection, link: &LinkReport, target: &str, is_message: bool) -> bool {
    let is_saved = link.source == Source::SavedFrom;
    let is_complete = is_saved || collection.is_of_hosts() || collection.has_captures();
    let is_needed = link.role == Role::Embedded && is_complete && !is_message;
    is_needed && !names_prefix(link) && is_web(target)
}

/// `options` with which every reference is resolved, and text that leads nowhere in `site` is not a link.
fn options_in(options: &Options, site: &Arc<impl Site + 'static>) -> Options {
    Options {
        site: Some(Arc::clone(site) as Arc<dyn Site>),
        fragments: Some(Fragments::Rewrite),
        base_element: BaseElement::Absolute,
        ..options.clone()
    }
}

/// The plain place of `link`, if the link may stay as it is in a copy of its document: its target has the same name there. The URL
/// of the root has the length `root`.
fn plain_place<'l>(
    collection: &Collection,
    root: Option<usize>,
    link: &PlainLink<'l>,
) -> Option<PlainPlace<'l>> {
    let place = collection.plain_place(root?, link, &mut LastPath::default())?;
    let reference = link.reference;
    let stays = match place {
        PlainPlace::Outside => is_web(reference) && !is_assumed(reference),
        PlainPlace::File(file, _) => collection.has_own_name(file) && !reference.starts_with('/'),
    };
    stays.then_some(place)
}

/// Rewrites `bytes`, and adds each link to the second result. If a link `is_fixed`, starts again with the destination
/// `other`.
fn rewrite_unless<'a, T: Default>(
    bytes: &'a [u8],
    options: &Options,
    is_fixed: impl Fn(&LinkReport) -> bool,
    other: Option<Arc<dyn Destination + Send + Sync>>,
    add: impl Fn(&mut T, LinkReport),
) -> (FileRewrite<'a>, T) {
    let (mut all, mut has_fixed) = (T::default(), false);
    let rewritten = rewrite_each(bytes, options, &mut |link| {
        has_fixed |= is_fixed(&link);
        add(&mut all, link);
    });
    if !has_fixed {
        return (rewritten, all);
    }
    let (mut all, options) = (
        T::default(),
        Options {
            destination: other,
            ..options.clone()
        },
    );
    let rewritten = rewrite_each(bytes, &options, &mut |link| add(&mut all, link));
    (rewritten, all)
}
