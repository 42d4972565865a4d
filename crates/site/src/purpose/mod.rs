//! The purposes of commands that work on the links of a collection.
//!
//! [`check`] determines the effect of a move on links. [`localize`](mod@localize) makes links lead to resources of
//! the collection. [`relocate`](mod@relocate) makes links lead to the new places of their targets. All three receive
//! each link as a [`LinkReport`], and look up its target in a [`Collection`]. [`adapt`] changes parts other than URLs
//! in copies that open from disk.
//!
//! ```text
//! check     (link, collection)  -->  pinned, escapes, dangling, works, …
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
pub mod generator;
pub mod leftovers;
pub mod link_result;
pub mod localize;
mod old_urls;
mod on_disk;
pub mod one_page;
pub mod pages;
pub mod redirects;
pub mod relocate;
pub mod rewriting;
mod spelling;
pub mod tally;
pub mod words;

use std::sync::Arc;

use baselink_rewrite::{
    BaseElement, Choice, Destination, FileRewrite, Fragments, Lack, LinkReport, NOWHERE, Options,
    PlainLink, Site, Source, rewrite_each,
};
use baselink_scan::{Against, Role, Scanner};
use baselink_text::{Charset, Edit, Edits, Format, Span, layer::charset::Declaration};
use baselink_url::Base;
use memchr::memmem;

pub use self::spelling::names_base;
use self::{
    spelling::is_web,
    words::{Word, Words},
};
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
    let is_complete = is_saved || collection.is_of_hosts() || collection.has_captures;
    let is_mail = is_message || collection.is_of_mail;
    let is_needed = link.role == Role::Embedded && is_complete && !is_mail;
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
    let mut rewritten = rewrite_each(bytes, options, &mut |link| {
        has_fixed |= is_fixed(&link);
        add(&mut all, link);
    });
    if has_fixed {
        all = T::default();
        let options = Options {
            destination: other,
            ..options.clone()
        };
        rewritten = rewrite_each(bytes, &options, &mut |link| add(&mut all, link));
    }
    (rewritten, all)
}

/// Completes the copy of the document with these `words`, rewritten and adapted: no link leads out of the folder, however a browser reads it.
pub fn guard(words: Words<'_>, rewritten: &mut FileRewrite<'_>, options: &Options) {
    let bytes = words.bytes;
    if options.guard.is_none() || options.format.has_headings() {
        return;
    }
    let charset = rewritten.totals.charset;
    let (mut charsets, mut scanners) = (vec![options.scan.charset], vec![options.scan.scanner]);
    if !has_clear_declaration(bytes, charset, options.format) {
        charsets.extend(other_encodings(bytes, charset.is_ascii_compatible()));
    }
    // Even an empty `noscript` changes the tree, and so may one in a document in the page.
    let depends_on_scripts = words.contain(Word::Scripted) || !charset.is_ascii_compatible();
    if charsets.len() > 1 || depends_on_scripts {
        scanners.push(Scanner::Unscripted);
    }
    // An edit may remove what hides a link in another reading, and so may the text of a guard.
    let removes = |edit: Edit<'_>| {
        let is_nowhere = || memmem::find(&edit.new, NOWHERE.as_bytes()).is_some();
        rewritten.totals.is_read_twice || (!edit.span.is_empty() && is_nowhere())
    };
    if charsets.len() + scanners.len() > 2 || rewritten.edits.iter().any(removes) {
        guard_in_all(rewritten, options, (&charsets, &scanners));
    }
}

/// A destination that keeps every link.
#[derive(Debug)]
struct KeepEveryLink;

impl Destination for KeepEveryLink {
    fn choose(&self, _: &LinkReport, _: &Against) -> (Choice, Option<Lack>) {
        (Choice::Kept, None)
    }
}

/// The encodings of which browsers may choose one, if they do not follow the declaration: they guess, and they find a `meta` by
/// other rules (HTML, 13.2.3.2). One counts if ASCII characters in `bytes` may belong to others in it. Of those that can be the second
/// byte of another one, these have a meaning in HTML, XML or CSS. One of the encodings in which ASCII is fixed stands for all; it counts
/// beside others, or if `is_ascii` is false: in the declared encoding, ASCII characters are not ASCII bytes.
fn other_encodings(bytes: &[u8], is_ascii: bool) -> Vec<Option<Charset>> {
    let has = |byte: u8| memchr::memchr(byte, bytes).is_some();
    let is_second = |pair: &[u8]| !pair[0].is_ascii() && b"@[\\]^`{|}~".contains(&pair[1]);
    let mut labels = Vec::new();
    if has(0x1B) {
        labels.push("iso-2022-jp");
    }
    if bytes.windows(2).any(is_second) {
        labels.extend(["shift_jis", "gb18030", "big5"]);
    }
    // Without NUL bytes, these have no ASCII characters.
    if has(0) {
        labels.extend(["utf-16le", "utf-16be"]);
    }
    if !(is_ascii && labels.is_empty()) {
        labels.push("utf-8");
    }
    labels.into_iter().map(Charset::for_label).collect()
}

/// True if every browser finds the same declaration of `charset`: a byte order mark, or the only one in a `meta` that follows no
/// other tag than those that begin a page.
fn has_clear_declaration(bytes: &[u8], charset: Charset, format: Format) -> bool {
    let found = Charset::detect(bytes, None);
    let head = bytes[..found.prescanned].to_ascii_lowercase();
    // In the prescan, a slash does not end the name of a tag.
    let begins = |tag: &[u8]| {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
        let name = tag.split(ends).next().unwrap_or_default();
        matches!(name, b"!doctype" | b"html" | b"head" | b"meta")
    };
    let is_only = || {
        format == Format::Html
            && head.split(|byte| *byte == b'<').skip(1).all(begins)
            && !head.contains(&b'&')
            && memmem::find_iter(&head, "charset").count() == 1
    };
    found.charset == charset && (found.declaration == Declaration::ByteOrderMark || is_only())
}

/// Adds edits for those links that would lead out of the folder in one of `charsets` for one of `scanners`. An edit may replace text
/// that hides a link in another reading, so this is repeated until nothing leads out.
fn guard_in_all(
    rewritten: &mut FileRewrite<'_>,
    options: &Options,
    (charsets, scanners): (&[Option<Charset>], &[Scanner]),
) {
    /// The number of rounds after which a document is replaced by nothing.
    const MOST: usize = 6;
    let mut options = Options {
        destination: Some(Arc::new(KeepEveryLink)),
        ..options.clone()
    };
    for _ in 0..MOST {
        let mut is_safe = true;
        for charset in charsets {
            for scanner in scanners {
                (options.scan.charset, options.scan.scanner) = (*charset, *scanner);
                let output = rewritten.output();
                let (edits, _) = baselink_rewrite::edits(&output, &options);
                is_safe &= edits.is_empty();
                rewritten.edits.then(&edits);
            }
        }
        if is_safe {
            return;
        }
    }
    let whole = Span::new(0, rewritten.output().len());
    let mut nothing = Edits::default();
    nothing.add(whole, b"");
    rewritten.edits.then(&nothing);
}
