//! The bases of a document's links, before and after a move (RFC 1808, 3).
//!
//! ```text
//! http://a/docs/x.html  -->  now http://a/docs/x.html, moved https://elsewhere.invalid/elsewhere/x.html
//! ```
//!
//! Deliberately absent: judging the links.

use std::collections::HashMap;
use std::sync::Arc;

use crate::collection::origin::RootUrl;
use crate::collection::{Collection, TargetPlace};
use crate::purpose::spelling::names_base;
use baselink_rewrite::base::{Retrieval, Rule, Source};
use baselink_rewrite::report::{EntityReport, LinkReport, Report};
use baselink_rewrite::{Options, rewrite};
use baselink_scan::document::Against;
use baselink_text::layer::charset::Charset;
use baselink_url::Base;

/// A collection and its destination.
#[derive(Debug)]
pub(super) struct MovedCollection<'a> {
    pub(super) collection: &'a Collection,
    /// The root after the move.
    pub(super) place: RootUrl,
    /// True if each path below the root leads to the same resource before and after the move.
    pub(super) keeps_paths: bool,
}

impl MovedCollection<'_> {
    /// The place to which `url` leads after the move.
    pub(super) fn find(&self, url: &str) -> TargetPlace {
        self.collection.find_below(&self.place, url)
    }

    /// The URL that `url` gets if it moves with the collection; `None` if it is outside the collection.
    pub(super) fn with_all(&self, url: &str) -> Option<String> {
        self.collection.moved(url, &self.place)
    }

    /// True if `target` is in the collection, and `moved` is not its URL after the move.
    pub(super) fn strays(&self, target: &str, moved: &str) -> bool {
        self.with_all(target)
            .is_some_and(|with_all| self.is_another(&with_all, moved))
    }

    /// True if two URLs have different paths below the new root.
    pub(super) fn is_another(&self, left: &str, right: &str) -> bool {
        let path = |url: &str| self.place.below(url).map(|below| below.path);
        left != right && path(left) != path(right)
    }
}

/// The bases of the links of a document.
#[derive(Debug)]
pub(super) struct MovedBases {
    all: Vec<MovedBase>,
    /// For each link, the index of its base; `u32::MAX` if it has no base.
    of_links: Vec<u32>,
}

/// A base before and after the move.
#[derive(Debug)]
pub(super) struct MovedBase {
    pub(super) now: Base,
    /// The base after the move if the document is not rewritten; `None` if unknown.
    pub(super) moved: Option<Base>,
    /// True if the base does not move with the document.
    pub(super) stays: bool,
    /// True if the base changes, and its new URL is outside the collection or is not the one that the old URL gets by
    /// the move. Always false for the URL of the document.
    pub(super) escapes: bool,
    /// True if the base is the URL of the document, and the path of its file differs from the path of that URL.
    pub(super) is_renamed: bool,
    /// The length of the URL of the root, if the move changes only this part of the base.
    pub(super) tail: Option<usize>,
}

/// The key of a base. Links with equal keys share a base.
#[derive(Debug, PartialEq, Eq, Hash)]
struct BaseKey {
    url: Arc<str>,
    moved: Option<Arc<str>>,
    /// True if references may lead to other hosts through the folders of a layout.
    is_of_layout: bool,
    /// The encoding of the document, in which the URL Standard encodes queries.
    charset: &'static str,
}

impl MovedBases {
    /// Determines the bases of the links in `report`, the result of scanning `bytes` with these `options`. The document
    /// has the URL `own` after the move.
    pub(super) fn of_report(
        report: &Report,
        bytes: &[u8],
        options: &Options,
        own: Option<&str>,
        goal: &MovedCollection<'_>,
    ) -> Self {
        let moved = moved_bases(report, bytes, options, own);
        let text = |url: &str| Base::text_of(options.profile, url).into_owned();
        let now = options
            .retrieval
            .as_ref()
            .map(|retrieval| text(&retrieval.url));
        let moved_to = own.map(text);
        let document = DocumentFacts {
            has_moved: now.is_none() || now != moved_to,
            now,
            moved: moved_to,
        };
        let entities: HashMap<&str, &EntityReport> = report
            .entities
            .iter()
            .map(|entity| (&*entity.chain.entity, entity))
            .collect();
        let mut bases = Self {
            all: Vec::new(),
            of_links: Vec::with_capacity(report.links.len()),
        };
        let mut known: HashMap<BaseKey, u32> = HashMap::new();
        // Most links share the base of the previous link.
        let mut last: Option<(&LinkReport, u32)> = None;
        for (number, link) in report.links.iter().enumerate() {
            let in_sheet = base_in_sheet(link, goal);
            let is_base = is_base(link);
            let is_as_before = |(before, _): &(&LinkReport, u32)| {
                let pointers = before.base.as_ref().zip(link.base.as_ref());
                pointers.is_some_and(|(left, right)| Arc::ptr_eq(left, right))
                    && Arc::ptr_eq(&before.entity, &link.entity)
                    && (before.rule, before.source) == (link.rule, link.source)
            };
            let before = last.filter(|_| {
                !is_base && in_sheet.is_none() && matches!(moved, BasesAfterMove::Alike(_))
            });
            let base = match (before.filter(is_as_before), &link.base) {
                (Some((_, base)), _) => base,
                (None, None) => u32::MAX,
                (None, Some(url)) => {
                    let entity = entities.get(&*link.entity).copied();
                    let key = BaseKey {
                        url: in_sheet.map_or_else(|| Arc::clone(url), Into::into),
                        moved: match in_sheet {
                            Some(sheet) => goal.with_all(sheet).map(Into::into),
                            None => moved.of(number),
                        },
                        is_of_layout: !is_base
                            && entity.is_some_and(|entity| is_of_layout(link, entity)),
                        charset: entity.map_or("utf-8", |entity| entity.charset.name()),
                    };
                    *known.entry(key).or_insert_with_key(|key| {
                        bases
                            .all
                            .push(MovedBase::new(key, &document, options, goal));
                        u32::try_from(bases.all.len() - 1).unwrap_or(u32::MAX)
                    })
                }
            };
            last = Some((link, base)).filter(|_| !is_base && in_sheet.is_none());
            bases.of_links.push(base);
        }
        bases
    }

    /// The base of the link with this index.
    pub(super) fn of(&self, link: usize) -> Option<&MovedBase> {
        self.all.get(*self.of_links.get(link)? as usize)
    }
}

/// The URLs of a document before and after the move.
struct DocumentFacts {
    /// True unless both URLs are known and equal.
    has_moved: bool,
    /// The URL before the move, in the form in which bases are reported.
    now: Option<String>,
    /// The URL after the move, in the same form.
    moved: Option<String>,
}

impl MovedBase {
    fn new(
        base: &BaseKey,
        document: &DocumentFacts,
        options: &Options,
        goal: &MovedCollection<'_>,
    ) -> Self {
        let charset = Charset::for_label(base.charset).unwrap_or(Charset::UTF_8);
        let prepared = |url: &str| {
            Base::new(options.profile, url)
                .with_query_encoding(move |query| charset.encode_query(query))
        };
        // Both URLs are those of the document, even if only one contains the name of the file: `dir/` and
        // `dir/index.html`.
        let is_own = document.now.as_deref() == Some(&*base.url)
            && base.moved.as_deref() == document.moved.as_deref();
        let stays = document.has_moved && base.moved.as_deref() == Some(&*base.url);
        let moved = base.moved.as_deref();
        let is_out = moved.is_some_and(|moved| goal.find(moved) == TargetPlace::Outside);
        let is_in = || goal.collection.find(&base.url) != TargetPlace::Outside;
        let strays =
            moved.is_some_and(|moved| goal.strays(&base.url, moved)) || (is_out && is_in());
        let escapes = (strays || is_out) && !stays && !is_own;
        let moved = base.moved.as_deref().map(prepared);
        let now = match options.beside.as_ref().filter(|_| base.is_of_layout) {
            Some(beside) => {
                let beside = Arc::clone(beside);
                prepared(&base.url).in_layout(move |folder| beside.host(folder))
            }
            None => prepared(&base.url),
        };
        // If both bases have the same path below their roots, each reference leads to the same path below both.
        let below = |base: &Base, root: &str| -> Option<[String; 2]> {
            let directory = base.splice(b"x")?.prefix.strip_prefix(root)?;
            Some([
                base.as_str().strip_prefix(root)?.to_owned(),
                directory.to_owned(),
            ])
        };
        let tail = goal
            .collection
            .folder_url()
            .filter(|_| goal.keeps_paths && !stays);
        let tail = tail.filter(|folder| {
            let moved = moved
                .as_ref()
                .and_then(|moved| below(moved, goal.place.as_str()));
            moved.is_some() && below(&now, folder) == moved
        });
        let tail = tail.map(str::len);
        Self {
            now,
            moved,
            stays,
            escapes,
            is_renamed: is_own && strays,
            tail,
        }
    }
}

/// The bases of all links after the move.
enum BasesAfterMove {
    /// The base of all links; `None` if unknown.
    Alike(Option<Arc<str>>),
    /// The base of each link.
    Each(Vec<Option<Arc<str>>>),
}

impl BasesAfterMove {
    fn of(&self, link: usize) -> Option<Arc<str>> {
        match self {
            Self::Alike(moved) => moved.clone(),
            Self::Each(moved) => moved.get(link)?.clone(),
        }
    }
}

/// Determines the bases of a document's links after the move.
///
/// If the document declares no base, its new URL is the base of all links. Otherwise the document is scanned again
/// with its new URL.
fn moved_bases(
    report: &Report,
    bytes: &[u8],
    options: &Options,
    moved: Option<&str>,
) -> BasesAfterMove {
    let own = options.retrieval.as_ref();
    let own = own.map(|own| Base::text_of(options.profile, &own.url));
    let has_own = |link: &LinkReport| link.base.is_none() || link.base.as_deref() == own.as_deref();
    let is_plain = |entity: &EntityReport| {
        entity.chain.rule != Rule::Embedded && entity.chain.elements.is_empty()
    };
    if report.entities.iter().all(is_plain) && report.links.iter().all(has_own) {
        return BasesAfterMove::Alike(
            moved.map(|moved| Base::text_of(options.profile, moved).into()),
        );
    }
    let mut options = Options {
        retrieval: moved.map(Retrieval::url),
        ..options.clone()
    };
    options.scan.ids = false;
    let links = rewrite(bytes, &options).report.links;
    if links.len() != report.links.len() {
        return BasesAfterMove::Alike(None);
    }
    BasesAfterMove::Each(links.into_iter().map(|link| link.base).collect())
}

/// The URL of the style sheet that is the base of a link in a custom property, because only the target from this sheet is
/// a file.
fn base_in_sheet<'l>(link: &'l LinkReport, goal: &MovedCollection<'_>) -> Option<&'l str> {
    let in_sheets = &link.custom_property.as_ref()?.in_sheets;
    let is_file = |url: &str| goal.collection.find(url).file().is_some();
    let other = in_sheets.iter().find(|other| is_file(&other.target))?;
    (!link.target.as_deref().is_some_and(is_file)).then_some(&other.base)
}

/// True if a link declares a base for other references. Such a link is not followed itself.
pub(super) fn is_base(link: &LinkReport) -> bool {
    names_base(&link.element, link.attribute.as_deref())
}

/// True if the base of a link comes from a layout, so that the link may lead through folders named after hosts.
fn is_of_layout(link: &LinkReport, entity: &EntityReport) -> bool {
    let chain = &entity.chain;
    match link.source {
        Source::Layout => chain.is_of_layout(&Against::Retrieval),
        _ => link.base == chain.base && chain.is_of_layout(&Against::Document),
    }
}
