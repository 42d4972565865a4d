//! The bases of a document's links, before and after a move (RFC 1808, 3).
//!
//! ```text
//! http://a/docs/x.html  -->  now http://a/docs/x.html, moved https://elsewhere.invalid/elsewhere/x.html
//! ```
//!
//! Deliberately absent: judging the links.

use std::{cell::OnceCell, rc::Rc, sync::Arc};

use baselink_rewrite::{
    BaseChain, LinkReport, ListedLink, Options, Retrieval, Rule, Source, links,
};
use baselink_scan::Against;
use baselink_text::Charset;
use baselink_url::Base;

use crate::{
    collection::{Collection, Located, origin::RootUrl, url_below},
    purpose::{custom_property::in_sheet, relocate::KeptForms, spelling::names_base},
};

/// A collection and its destination.
pub struct MovedCollection<'a> {
    pub collection: &'a Collection,
    /// The root after the move.
    pub place: RootUrl,
    /// True if each path below the root leads to the same resource before and after the move.
    pub keeps_paths: bool,
}

impl MovedCollection<'_> {
    /// The place to which `url` leads after the move.
    pub fn locate(&self, url: &str) -> Located {
        self.collection.locate_below(&self.place, url)
    }

    /// True if `moved` has the path of `target` below the new root; `None` if `target` is outside the collection.
    pub fn is_new_url(&self, target: &str, moved: &str) -> Option<bool> {
        let below = self.collection.below(target)?;
        let moved = self.place.below(moved);
        Some(moved.is_some_and(|moved| moved.path == below.path))
    }
}

/// The bases of the links of a document.
pub struct MovedBases<'a> {
    pub bytes: &'a [u8],
    pub options: &'a Options,
    /// The URL of the document before the move, in the form in which bases are reported.
    pub now: Option<Arc<str>>,
    /// Its URL after the move, in the same form.
    pub moved: Option<Arc<str>>,
    /// The links that do not become relative.
    kept_forms: OnceCell<KeptForms>,
    /// The bases of the links after the move, if the document declares one: for each run of links with the same base, the
    /// offset of the first link.
    after: OnceCell<Vec<(usize, Option<Arc<str>>)>>,
    /// The base of the last link. Most links share it.
    last: Option<(BaseKey, Rc<MovedBase>)>,
}

/// A base before and after the move.
pub struct MovedBase {
    pub now: Base,
    /// The base after the move if the document is not rewritten; `None` if unknown.
    pub moved: Option<Base>,
    /// True if the base does not move with the document.
    pub stays: bool,
    /// True if the base changes, and its new URL is outside the collection or is not the one that the old URL gets by
    /// the move. Always false for the URL of the document.
    pub escapes: bool,
    /// True if the base is the URL of the document, and the path of its file differs from the path of that URL.
    pub is_renamed: bool,
}

/// The key of a base. Links with equal keys share a base.
#[derive(PartialEq, Eq)]
struct BaseKey {
    url: Arc<str>,
    moved: Option<Arc<str>>,
    /// True if references may lead to other hosts through the folders of a layout.
    is_of_layout: bool,
    /// The encoding of the document, in which the URL Standard encodes queries.
    charset: Charset,
}

/// True if the document with this chain declares no base.
pub fn declares_none(chain: &BaseChain) -> bool {
    chain.rule != Rule::Embedded && chain.elements.is_empty()
}

impl<'a> MovedBases<'a> {
    /// The bases in the document `bytes`, which has the URL `own` after the move.
    pub fn new(bytes: &'a [u8], options: &'a Options, own: Option<&str>) -> Self {
        let text = |url: &str| Arc::from(&*Base::text_of(options.resolver, url));
        Self {
            bytes,
            now: options.retrieval.as_ref().map(|own| text(&own.url)),
            moved: own.map(text),
            kept_forms: OnceCell::new(),
            after: OnceCell::new(),
            last: None,
            options,
        }
    }

    /// The base of `link`, which is in a document with the base of `chain`.
    pub fn of(
        &mut self,
        link: &LinkReport,
        (chain, charset): (&BaseChain, Charset),
        goal: &MovedCollection<'_>,
    ) -> Option<Rc<MovedBase>> {
        // An archive does not move.
        let url = link.base.as_ref().filter(|_| !goal.collection.only_urls)?;
        let in_sheet = in_sheet(link, goal.collection).map(|other| &*other.base);
        let is_of_layout = || match link.source {
            Source::Layout => chain.is_of_layout(&Against::Retrieval),
            _ => link.base == chain.base && chain.is_of_layout(&Against::Document),
        };
        let key = BaseKey {
            url: in_sheet.map_or_else(|| Arc::clone(url), Into::into),
            moved: match in_sheet {
                Some(sheet) => {
                    let below = goal.collection.below(sheet);
                    let moved = below.and_then(|below| url_below(&goal.place, &below.path));
                    moved.map(Into::into)
                }
                None => self.after(link, chain),
            },
            is_of_layout: is_of_layout() && !names_base(link),
            charset,
        };
        if let Some((known, base)) = &self.last
            && *known == key
        {
            return Some(Rc::clone(base));
        }
        let base = Rc::new(self.base(&key, goal));
        self.last = Some((key, Rc::clone(&base)));
        Some(base)
    }

    /// The links that do not become relative.
    pub fn kept_forms(&self) -> &KeptForms {
        let of_document = || KeptForms::of(self.bytes, self.options.format);
        self.kept_forms.get_or_init(of_document)
    }

    /// The base of `link` after the move; `None` if unknown. If the document declares no base, its new URL is the base.
    /// Otherwise the document is scanned again with its new URL.
    fn after(&self, link: &LinkReport, chain: &BaseChain) -> Option<Arc<str>> {
        if declares_none(chain) && link.base == self.now {
            return self.moved.clone();
        }
        let runs = self.after.get_or_init(|| {
            let mut options = Options {
                retrieval: self.moved.as_deref().map(Retrieval::url),
                ..self.options.clone()
            };
            options.scan.ids = false;
            let mut runs: Vec<(usize, Option<Arc<str>>)> = Vec::new();
            links(self.bytes, &options, &mut |ListedLink { link, .. }| {
                let is_of_run =
                    |(start, base): &(usize, _)| *base == link.base && *start <= link.span.start;
                if !runs.last().is_some_and(is_of_run) {
                    runs.push((link.span.start, link.base));
                }
            });
            runs.sort_by_key(|(start, _)| *start);
            runs
        });
        let run = runs.partition_point(|(start, _)| *start <= link.span.start);
        runs.get(run.checked_sub(1)?)?.1.clone()
    }

    /// The base with this key, before and after the move.
    fn base(&self, base: &BaseKey, goal: &MovedCollection<'_>) -> MovedBase {
        let options = self.options;
        let charset = base.charset;
        let prepared = |url: &str| {
            Base::new(options.resolver, url)
                .with_query_encoding(move |query| charset.encode_query(query))
        };
        // Both URLs are those of the document, even if only one contains the name of the file: `dir/` and
        // `dir/index.html`.
        let is_own = self.now.as_ref() == Some(&base.url) && base.moved == self.moved;
        let has_moved = self.now.is_none() || self.now != self.moved;
        let stays = has_moved && base.moved.as_ref() == Some(&base.url);
        let moved = base.moved.as_deref();
        let is_out = moved.is_some_and(|moved| !goal.locate(moved).is_inside());
        let is_in = || goal.collection.locate(&base.url).is_inside();
        let is_new_url = moved.and_then(|moved| goal.is_new_url(&base.url, moved));
        let strays = is_new_url == Some(false) || (is_out && is_in());
        let escapes = (strays || is_out) && !stays && !is_own;
        let moved = moved.map(prepared);
        let mut now = prepared(&base.url);
        if let Some(beside) = options.beside.clone().filter(|_| base.is_of_layout) {
            now = now.in_layout(move |folder| beside.host(folder));
        }
        MovedBase {
            now,
            moved,
            stays,
            escapes,
            is_renamed: is_own && strays,
        }
    }
}
