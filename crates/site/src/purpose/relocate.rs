//! Relocation of a site: every link leads to the new URL of its target, and keeps its form.
//!
//! A move maps old URLs to new ones: the root of the tree gets another URL, and files get other names. Each reference
//! is resolved against its current base (RFC 1808, 4), and its target is mapped to the new URL. A reference that leads
//! to this URL from the base after the move is kept. Any other reference is replaced.
//!
//! The new reference has the form of the old one. An absolute URL stays absolute, `//host/path` still begins with a
//! host, `/path` still begins with `/`, and a relative path stays relative (RFC 3986, 4.2). A declared base is
//! rewritten like any other link, so the base of the other links moves too. A base in a header field or an `@base` of
//! JSON-LD stays; links with such a base become absolute.
//!
//! ```
//! use std::sync::Arc;
//! use baselink_rewrite::Options;
//! use baselink_site::collection::origin::{Origins, RootUrl};
//! use baselink_site::collection::{Collection, ResourceKind};
//! use baselink_site::purpose::relocate::{LinkForm, Relocation, options, relocate};
//!
//! let from = RootUrl::new("http://a/").unwrap();
//! let mut collection = Collection::new(Origins { root_url: Some(from.clone()), ..Origins::default() });
//! collection.add(b"x.html", ResourceKind::File, []);
//! collection.add(b"c.png", ResourceKind::File, []);
//! collection.rename(&[(b"c.png".to_vec(), b"img/d.png".to_vec())]).unwrap();
//! let to = RootUrl::new("http://b/sub/").unwrap();
//! let relocation = Arc::new(Relocation::new(Arc::new(collection), from, to, LinkForm::Written));
//!
//! let page = b"<a href=x.html#s></a><a href=/x.html></a><img src=c.png?v><a href=http://a/></a><a href=//c/></a>";
//! let options = options(b"x.html", page, &relocation, &Options::at("http://a/x.html"));
//! assert_eq!(
//!     relocate(page, &options, |(), _| ()).0.output(),
//!     b"<a href=x.html#s></a><a href=/sub/x.html></a><img src=img/d.png?v><a href=http://b/sub/></a><a href=//c/></a>"
//! );
//! ```
//!
//! Deliberately absent: URLs that scripts assemble, and files that are not documents. [`super::leftovers`] finds
//! those that may contain old URLs.

use std::{
    borrow::Cow,
    collections::HashMap,
    fs,
    path::PathBuf,
    ptr,
    sync::{Arc, Mutex},
};

use baselink_files::shared::locked;
use baselink_rewrite::{
    BaseInCopy, Choice, Destination, FileRewrite, Guard, Lack, LinkReport, LocalCopies, Options,
    Outcome, PlainLink, SourceKind, report::PropertyUser,
};
use baselink_scan::{Against, Role};
use baselink_text::{Edits, Format, Span};
use baselink_url::{Base, Category, Reference, Resolver, is_template, reference::scheme_of};

use super::{
    adapt::without_integrity,
    custom_property::{in_sheet, is_relative, property_user},
    old_urls::OldUrls,
    on_disk::{DiskPlace, climbs, is_on_network},
    spelling::{category, names_base, unmistakable},
    words::Words,
};
use crate::{
    collection::{
        Collection, FoundBy, FoundResource, Located,
        folder::path_of,
        names_prefix,
        origin::{RootUrl, canonical, is_assumed, names},
        without_query,
    },
    purpose::{KeepEveryLink, options_in, plain_place, plain_root, rewrite_unless},
};

/// The form of new references to targets in the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkForm {
    /// The form of the old reference.
    #[default]
    Written,
    /// Relative, except where an absolute URL is required: in canonical URLs, `og:image` and related properties, links
    /// to other languages, JSON-LD, feeds, sitemaps, messages, and in pages that are served at any URL
    /// ([`is_at_any_url`]).
    Relative,
    /// Relative, with the names of files, so that a browser can open them from disk: `dir/index.html` for `dir/`, and
    /// `about.html` for `about`. On disk, an error page is a page like others. A link out of the folder becomes absolute,
    /// or leads nowhere.
    Disk,
}

/// A move: a map from the URLs of a tree to new URLs.
#[derive(Debug)]
pub struct Relocation {
    /// The collection that moves.
    pub collection: Arc<Collection>,
    /// The URL of the root before the move.
    pub from: RootUrl,
    /// The URL of the root after the move.
    pub to: RootUrl,
    /// The old and the new URLs of places outside the folder, the longest first.
    pub elsewhere: Vec<[RootUrl; 2]>,
    /// The old host with the new path.
    new_path: RootUrl,
    /// The form of the new links.
    pub(super) form: LinkForm,
    /// The tree as it is, if files were renamed before. A link that leads to no file from the old place of its document is then
    /// kept.
    pub present: Option<Collection>,
    /// True if documents are adapted: hashes of files that change are removed, and with [`LinkForm::Disk`] what keeps files from loading.
    pub adapts: bool,
    /// The folder, unless a page moves alone.
    pub folder: PathBuf,
    /// The files of which it is known whether their contents change.
    changing: Mutex<HashMap<usize, bool>>,
    /// True if every URL below the old root counts as that of a file.
    pub assumes_files: bool,
    /// True if links lead to the end of the redirects of the host.
    pub follows_redirects: bool,
    /// The search for old URLs outside links.
    pub(super) old_urls: Option<OldUrls>,
    /// True if these are replaced.
    pub replaces_old_urls: bool,
    /// The remedies of links that lead to no file, by the name of the document.
    pub remedies: HashMap<Vec<u8>, Arc<Remedies>>,
}

/// The URLs to which links must lead instead, by their targets.
pub type Remedies = HashMap<String, String>;

/// The new place of a target.
#[derive(Default)]
struct MovedTarget {
    /// The URL without query and fragment.
    url: String,
    /// True if the place is below the root.
    is_inside: bool,
    /// The file at the place, if one is known to exist.
    file: Option<FoundResource>,
    /// True if a file, or a folder for a prefix of URLs, is at the place.
    is_there: bool,
    /// True if the site lacks the target, and no rule of its host leads elsewhere.
    is_lacking: bool,
    /// True if the path below the root changes, or the URL of a place outside the root.
    is_renamed: bool,
    /// The query and fragment of the end of a redirect.
    new_rest: Option<Box<str>>,
}

impl Relocation {
    /// Creates the move of `collection` from the root URL `from` to `to`. Files may have been
    /// [renamed](Collection::rename).
    pub fn new(collection: Arc<Collection>, from: RootUrl, to: RootUrl, form: LinkForm) -> Self {
        let path = split_host(to.as_str()).1;
        let new_path = RootUrl::of_file(&[split_host(from.as_str()).0, path].concat());
        Self {
            collection,
            old_urls: OldUrls::new(&from, &to),
            replaces_old_urls: false,
            from,
            to,
            elsewhere: Vec::new(),
            new_path,
            form,
            present: None,
            adapts: false,
            changing: Mutex::default(),
            folder: PathBuf::new(),
            assumes_files: false,
            // On disk, no host answers.
            follows_redirects: form == LinkForm::Disk,
            remedies: HashMap::new(),
        }
    }

    /// The new place of `url`, the target of `link` if any.
    fn moved(&self, url: &str, link: Option<&LinkReport>) -> MovedTarget {
        let same = self.collection.same_below(&self.from, url);
        let outside = MovedTarget {
            url: without_query(url).to_owned(),
            ..MovedTarget::default()
        };
        let url = same.as_deref().unwrap_or(url);
        let head = without_query(url);
        let below = self.from.below_own(head);
        // The longest old URL with which `url` begins counts.
        let own = below.as_ref().map_or("", |_| self.from.as_str());
        let mut others = self.elsewhere.iter();
        let url_elsewhere = others.find_map(|[old, new]| {
            let is_longer = old.as_str().len() > own.len();
            is_longer.then(|| old.rerooted(head, new)).flatten()
        });
        if let Some(url) = url_elsewhere {
            return MovedTarget {
                url,
                is_renamed: true,
                ..outside
            };
        }
        let Some(below) = below else { return outside };
        let located = match link {
            Some(link) => self.collection.locate_link(link, url, None).0,
            None => self.collection.locate(url),
        };
        let is_prefix = link.is_some_and(names_prefix);
        let file = located.resource();
        let renamed = match file {
            // The path of a rewrite may be data for the page.
            Some(found) if found.by == FoundBy::Rewrite => None,
            Some(found) => self.collection.renamed_as(found.number, &below.path),
            None => self.collection.renamed_with_folder(&below.path),
        };
        let is_renamed = renamed.is_some();
        let tail = match (&renamed, below.tail) {
            (None, Some(tail)) => Some(head[tail..].to_owned()),
            _ => names::encoded(renamed.as_ref().unwrap_or(&below.path)),
        };
        let Some(tail) = tail else { return outside };
        let is_there = self.assumes_files
            || file.is_some()
            || (is_prefix && matches!(located, Located::Folder(_)));
        // If the place stays the same, the URL does too, even if its scheme is `http` and that of the root is `https`.
        let stays = self.stays() && !is_renamed && self.form == LinkForm::Written;
        let url = if stays {
            outside.url
        } else {
            [self.to.as_str(), &tail].concat()
        };
        MovedTarget {
            url,
            is_inside: true,
            file,
            is_there,
            is_lacking: !is_there && located.is_inside(),
            is_renamed,
            new_rest: None,
        }
    }

    /// The edits that remove the hash of a style sheet or script from the element with `link` in `bytes`, if the move changes that file:
    /// browsers then refuse it (Subresource Integrity, 3.3). `options` are those of the document.
    pub(super) fn outdated_integrity(
        self: &Arc<Self>,
        link: &LinkReport,
        bytes: &[u8],
        options: &Options,
    ) -> Edits {
        let none = Edits::default();
        let is_hashed = matches!(&*link.element, "link" | "script") && link.role == Role::Embedded;
        // From disk, browsers accept no hash.
        if !is_hashed || self.form == LinkForm::Disk {
            return none;
        }
        let edits = without_integrity(bytes, link.span.start, options);
        let target = link.target.as_deref().filter(|_| !edits.is_empty());
        let is_changed = target.is_some_and(|url| self.changes(without_query(url), options));
        if is_changed { edits } else { none }
    }

    /// True if the move changes the contents of the file at `url`.
    fn changes(self: &Arc<Self>, url: &str, known: &Options) -> bool {
        let Some(FoundResource { number, .. }) = self.collection.locate(url).resource() else {
            return false;
        };
        let is_known = locked(&self.changing).get(&number).copied();
        is_known.unwrap_or_else(|| {
            let changes = self.changes_file(number, url, known);
            locked(&self.changing).insert(number, changes);
            changes
        })
    }

    fn changes_file(self: &Arc<Self>, number: usize, url: &str, known: &Options) -> bool {
        let name = self.collection.path(number);
        let path = path_of(name).map(|path| self.folder.join(path));
        let Some(bytes) = path.and_then(|path| fs::read(path).ok()) else {
            return false;
        };
        let own = Options {
            format: Format::detect(Some(&String::from_utf8_lossy(name)), &bytes),
            resolver: known.resolver,
            scan: known.scan.clone(),
            ..Options::at(url)
        };
        let own = options(name, &bytes, self, &own);
        let (rewritten, ()) = relocate(&bytes, &own, |(), _| ());
        let left = self.left_in(name, &bytes, Some(&rewritten.edits), None);
        !(rewritten.edits.is_empty() && left.edits.is_empty())
    }

    /// The new URL of a renamed file or folder at `url`.
    fn renamed(&self, url: &str) -> Option<String> {
        let moved = self.moved(url, None);
        moved.is_renamed.then_some(moved.url)
    }

    /// The new path of a renamed file or folder. Both paths follow the URL of the root, and begin with `/`.
    pub(super) fn renamed_path(&self, path: &str) -> Option<String> {
        let [root, new] = [&self.from, &self.to].map(|root| root.as_str().trim_end_matches('/'));
        let url = self.renamed(&[root, path].concat())?;
        url.strip_prefix(new).map(str::to_owned)
    }

    /// The targets of rules of the host that are renamed: the name of the file with the rule, the old reference and the new URL.
    pub fn outdated_rules(&self) -> Vec<Vec<u8>> {
        let base = Base::new(Resolver::Rfc3986, self.from.as_str());
        let outdated = |(file, to): (&str, &str)| {
            let url = self.renamed(&base.resolve(to).ok()?.url)?;
            Some(format!("{file}: {to}, now {}", split_host(&url).1).into_bytes())
        };
        let targets = self.collection.host_rules.targets();
        targets.filter_map(outdated).collect()
    }

    /// The URL before the move of what `url`, which leads to nothing there, names after the move: a site may have links of both
    /// kinds.
    fn before(&self, url: &str) -> Option<String> {
        if self.new_path.as_str() == self.from.as_str() {
            return None;
        }
        let old = self.new_path.rerooted(url, &self.from)?;
        let locate = |url: &str| self.collection.locate(url);
        // The folder may have nothing at the new path.
        let is_free = || matches!(locate(self.new_path.as_str()), Located::Lacking(..));
        let is_new = || locate(&old).resource().is_some() || is_free();
        (matches!(locate(url), Located::Lacking(..)) && is_new()).then_some(old)
    }

    /// True if the URL of the root does not change. Only URLs of renamed files then change.
    fn stays(&self) -> bool {
        self.from.as_str() == self.to.as_str()
    }
}

/// True if servers show the page called `name` at any URL, as they do with `404.html` and `404/index.html`. The targets
/// of its relative links would vary.
pub fn is_at_any_url(name: &[u8]) -> bool {
    let path = [b"/", name].concat();
    [&b"/404.html"[..], b"/404.htm", b"/404/index.html"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// The part of `root` before its path, and the path.
pub fn split_host(root: &str) -> (&str, &str) {
    root.split_at(Reference::of(root).path_span.start)
}

/// The options with which [`relocate`] rewrites the resource called `name` with the contents `bytes`. `options`
/// contain the format, the retrieval URL, the resolver and the places.
pub fn options(
    name: &[u8],
    bytes: &[u8],
    relocation: &Arc<Relocation>,
    options: &Options,
) -> Options {
    let is_page = options.format.is_page();
    let url = options.retrieval.as_ref().map(|one| one.url.as_bytes());
    let is_error_page = is_at_any_url(name) || url.is_some_and(is_at_any_url);
    let keeps_all = relocation.form == LinkForm::Written
        || (is_page && relocation.form == LinkForm::Relative && is_error_page);
    let kept_forms = if keeps_all {
        KeptForms::All
    } else {
        KeptForms::of(bytes, options.format)
    };
    let collection = &relocation.collection;
    // If some files have their new names already, a link to a file that is there may change.
    let remedies = relocation.remedies.get(name).cloned();
    let keeps_plain = relocation.present.is_none()
        && remedies.is_none()
        && relocation.elsewhere.is_empty()
        && collection.folder_url() == relocation.from.folder();
    let scheme = scheme_of(relocation.to.as_str());
    let scheme = scheme.filter(|scheme| *scheme != "file").unwrap_or("https");
    let path = collection.in_mirror(name);
    let on_disk = || DiskPlace::new(collection, path, (Words::of_links(bytes), options), scheme);
    let place = (relocation.form == LinkForm::Disk).then(on_disk);
    let leaves = place
        .as_ref()
        .is_some_and(|place| place.leaves || place.voids_base);
    let destination = Arc::new(RelocateLinks {
        plain_root: plain_root(name, collection, options).filter(|_| keeps_plain && !leaves),
        relocation: Arc::clone(relocation),
        resolver: options.resolver,
        place,
        kept_forms,
        remedies,
        is_message: options.format.has_headings(),
        last_base: Mutex::default(),
    });
    let guard = Arc::clone(&destination) as Arc<dyn Guard>;
    let mut options = Options {
        // The collection knows the files of the tree, so the comments in saved pages are not needed.
        local_copies: LocalCopies::Rewrite,
        beside: None,
        guard: destination.place.is_some().then_some(guard),
        destination: Some(destination),
        ..options_in(options, collection)
    };
    options.scan.ignore_saved = true;
    if options.guard.is_some() {
        options.scan.groups.insert_loaded();
    }
    options
}

/// Rewrites `bytes` with the `options` from [`options`](fn@options), and adds each link to the second result.
///
/// If the document declares a base that cannot be rewritten, the document is returned unchanged: the base of its links
/// would not move.
pub fn relocate<'a, T: Default>(
    bytes: &'a [u8],
    options: &Options,
    add: impl Fn(&mut T, LinkReport),
) -> (FileRewrite<'a>, T) {
    let is_fixed_base =
        |link: &LinkReport| link.outcome == Outcome::NotEditable && names_base(link);
    rewrite_unless(
        bytes,
        options,
        is_fixed_base,
        Some(Arc::new(KeepEveryLink)),
        add,
    )
}

/// The links of a document that do not become relative.
#[derive(Debug)]
pub(super) enum KeptForms {
    All,
    /// Metadata, and the links with these spans; the first span is that of the canonical URL.
    Metadata(Option<Span>, Vec<Span>),
}

impl KeptForms {
    /// The links of the document `bytes` that programs other than browsers read.
    pub(super) fn of(bytes: &[u8], format: Format) -> Self {
        // Feed readers, crawlers and mail programs may not know the URL of the document, so relative links could break.
        if format.has_headings() || matches!(format, Format::Xml | Format::JsonFeed) {
            Self::All
        } else {
            let (named, absolute) = canonical::search(bytes, format);
            Self::Metadata(named.map(|named| named.span), absolute)
        }
    }

    fn are_all(&self) -> bool {
        matches!(self, Self::All)
    }

    /// True if `link` declares the canonical URL of the document.
    pub(super) fn is_canonical(&self, link: &LinkReport) -> bool {
        matches!(self, Self::Metadata(Some(span), _) if link.element == "link" && *span == link.span)
    }

    pub(super) fn contains(&self, link: &LinkReport) -> bool {
        let Self::Metadata(_, spans) = self else {
            return true;
        };
        let is_open_graph = link.element == "meta" && link.role == Role::Metadata;
        let is_linked_data =
            link.element == "script" && link.attribute.is_none() && link.role == Role::Metadata;
        is_open_graph || is_linked_data || spans.contains(&link.span)
    }
}

/// The destination of the links of one document.
#[derive(Debug)]
struct RelocateLinks {
    relocation: Arc<Relocation>,
    resolver: Resolver,
    /// The new place of the document, if links must open from disk.
    place: Option<DiskPlace>,
    kept_forms: KeptForms,
    remedies: Option<Arc<Remedies>>,
    is_message: bool,
    /// The length of the URL of the root, if links may have a plain meaning.
    plain_root: Option<usize>,
    /// The base of the last link before and after the move.
    last_base: Mutex<Option<(Arc<str>, Arc<BaseAfterMove>)>>,
}

/// A base after the move.
#[derive(Debug)]
struct BaseAfterMove {
    base: Base,
    /// The number of folders between the root and the base; `None` if the base is outside the root.
    depth: Option<usize>,
    /// True if the base was written for the new place.
    is_before: bool,
}

impl Destination for RelocateLinks {
    fn keeps(&self, link: &PlainLink<'_>) -> bool {
        plain_place(&self.relocation.collection, self.plain_root, link).is_some()
    }

    fn choose(&self, link: &LinkReport, against: &Against) -> (Choice, Option<Lack>) {
        if matches!(
            against,
            Against::Nothing | Against::Unknown | Against::Results
        ) {
            return (Choice::Kept, None);
        }
        let (Some(target), Some(base)) = (&link.target, &link.base) else {
            return (Choice::Kept, None);
        };
        let collection = &self.relocation.collection;
        let (target, base) = match in_sheet(link, collection) {
            Some(other) => (&other.target, &*other.base),
            None => (target, &**base),
        };
        if let Some(url) = self.remedies.as_ref().and_then(|all| all.get(target)) {
            let remedy = MovedTarget {
                url: url.clone(),
                is_inside: true,
                is_there: true,
                is_renamed: true,
                ..MovedTarget::default()
            };
            let reference = self.reference(link, remedy, &self.base_after(base));
            return (Choice::Reference(reference), None);
        }
        let follows = self.relocation.follows_redirects && !collection.host_rules.is_empty();
        let end = follows.then(|| collection.locate_link(link, target, None).1);
        let end = end.flatten();
        let target = end.as_ref().unwrap_or(target);
        let mut moved = self.relocation.moved(target, Some(link));
        let before = || {
            let before = self.relocation.before(target)?;
            let is_meant = !is_relative(link) || self.base_after(base).is_before;
            is_meant.then_some(before)
        };
        let before = moved.is_lacking.then(before).flatten();
        if let Some(before) = &before {
            moved = self.relocation.moved(before, Some(link));
        }
        let target = before.as_ref().unwrap_or(target);
        moved.new_rest = end
            .as_deref()
            .map(|end| end[without_query(end).len()..].into());
        // A base needs no file at its URL, and a template is not a URL.
        let is_base = names_base(link);
        let is_lacking = moved.is_lacking
            && !is_base
            && !is_template(&link.reference)
            && self.relocation.remedies.is_empty();
        let lack = is_lacking.then_some(Lack::Missing);
        // An earlier run may have repaired the link. If it was dead before, it would change at every run.
        if let Some(present) = &self.relocation.present
            && !(moved.is_there || moved.is_renamed || is_base)
        {
            let now = self.base_after(base).base.resolve(&link.reference);
            let found = now.map(|now| present.locate_below(&self.relocation.to, &now.url));
            let is_present = found.is_ok_and(|found| found.resource().is_some());
            let kept = Choice::Reference(link.reference.clone());
            return (kept, lack.filter(|_| !is_present));
        }
        // The base from the heading of a message, and an `@base` of JSON-LD, are not rewritten.
        let is_of_heading = match link.source.kind() {
            SourceKind::Heading | SourceKind::Snapshot => true,
            SourceKind::Entity => self.is_message,
            _ => false,
        };
        let reference = if is_of_heading || matches!(against, Against::Inner(_)) {
            self.absolute(link, target, &moved)
        } else {
            let of_property = self.base_of_sheet(link).filter(|_| !is_relative(link));
            let after = of_property.unwrap_or_else(|| self.base_after(base));
            self.reference(link, moved, &after)
        };
        // The location of the tree is unknown, so its own URL is not written.
        let choice = if is_assumed(&reference) {
            Choice::Kept
        } else {
            Choice::Reference(reference)
        };
        (choice, lack)
    }
}

impl Guard for RelocateLinks {
    fn prefix(&self, link: &LinkReport, reference: &str, base: BaseInCopy) -> Option<String> {
        let place = self.place.as_ref()?;
        let of_property = self.base_of_sheet(link);
        let base = if of_property.is_some() {
            BaseInCopy::Declared
        } else {
            base
        };
        let declared = || {
            let after = of_property.or_else(|| Some(self.base_after(link.base.as_ref()?)));
            let url = after.as_ref().map_or("", |after| after.base.as_str());
            match url.strip_prefix(self.relocation.to.as_str()) {
                None if is_on_network(url) => Some(url.to_owned()),
                below => Some(DiskPlace::url(below.unwrap_or_default())),
            }
        };
        place.prefix(link, reference, base, declared)
    }
}

impl RelocateLinks {
    /// The absolute URL of the new place of `target`; the reference of the link if the place stays the same, or if it is
    /// a place in the document itself.
    fn absolute(&self, link: &LinkReport, target: &str, moved: &MovedTarget) -> String {
        if self.is_same(moved) || link.reference.starts_with('#') {
            return link.reference.clone();
        }
        format!("{}{}", moved.url, &target[without_query(target).len()..])
    }

    /// True if the place does not move.
    fn is_same(&self, moved: &MovedTarget) -> bool {
        !moved.is_renamed && (!moved.is_inside || self.relocation.stays())
    }

    /// The base after the move for links whose current base is `base`.
    fn base_after(&self, base: &str) -> Arc<BaseAfterMove> {
        let mut last = locked(&self.last_base);
        if let Some((known, after)) = &*last
            && (ptr::eq(&**known, base) || **known == *base)
        {
            return Arc::clone(after);
        }
        let before = self.relocation.before(base);
        let old = before.as_deref().unwrap_or(base);
        // References without a path inherit the query of the base.
        let moved = self.relocation.moved(old, None);
        let url = format!("{}{}", moved.url, &old[without_query(old).len()..]);
        let below = moved.url.strip_prefix(self.relocation.to.as_str());
        let after = Arc::new(BaseAfterMove {
            base: Base::new(self.resolver, &url),
            depth: below.map(|below| below.matches('/').count()),
            is_before: before.is_some(),
        });
        *last = Some((base.into(), Arc::clone(&after)));
        after
    }

    /// The base after the move if browsers resolve `link`, which is in a custom property, from a style sheet.
    fn base_of_sheet(&self, link: &LinkReport) -> Option<Arc<BaseAfterMove>> {
        match property_user(link)? {
            PropertyUser::Sheet(url) if !self.kept_forms.are_all() => Some(self.base_after(url)),
            _ => None,
        }
    }

    /// The new reference of `link` to the new place of its target. `after` is the base after the move.
    fn reference(
        &self,
        link: &LinkReport,
        mut moved: MovedTarget,
        after: &BaseAfterMove,
    ) -> String {
        let reference = &*link.reference;
        let (head, rest) = reference.split_at(without_query(reference).len());
        let written = match category(reference) {
            Category::Fragment | Category::Empty => Category::RelPath,
            category => category,
        };
        let form = self.form(link, &moved, written);
        let is_base = names_base(link);
        let is_on_disk = self.place.is_some();
        let is_relative = form == Category::RelPath && moved.is_inside;
        let becomes_relative = is_relative && !(self.kept_forms.are_all() && form == written);
        // The target gets the path of its file, even if the old URL omits the name of the index file or the extension.
        let target = link.target.as_deref().unwrap_or_default();
        let Relocation { collection, to, .. } = &*self.relocation;
        if becomes_relative
            && is_on_disk
            && !is_base
            && let Some(found) = moved.file
            && let Some(path) = names::encoded(&collection.path_for(target, found.number))
        {
            moved.url = format!("{}{path}", to.as_str());
            moved.is_renamed = true;
        }
        // At the root of a site, surplus `..` segments are ignored (RFC 3986, 5.2.4).
        let climbs_out = || {
            after
                .depth
                .is_some_and(|depth| climbs(&names::decode(head), depth))
        };
        let is_kept = form == written
            && moved.new_rest.is_none()
            && self.leads_there(head, written, &moved, &after.base)
            && !(is_relative && (is_on_disk || becomes_relative) && climbs_out());
        if is_kept {
            return reference.to_owned();
        }
        let head = self.head(head, (written, form), &moved, &after.base);
        let rest = moved.new_rest.as_deref().unwrap_or(rest);
        let reference = format!("{head}{rest}");
        match scheme_of(&reference) {
            Some(_) => reference,
            None => unmistakable(reference, link),
        }
    }

    /// The form of the new reference for `link`, whose present form is `written`.
    fn form(&self, link: &LinkReport, moved: &MovedTarget, written: Category) -> Category {
        let is_base = names_base(link);
        // An absolute URL stays absolute if no file exists for it, because the site may have the target.
        let may_be_relative = moved.is_there || is_base || written != Category::AbsoluteUrl;
        // A property that is used in several folders needs a reference that means the same in all of them. On disk, only
        // a relative one means anything.
        let is_disk = self.place.is_some();
        let has_several = || !is_disk && property_user(link) == Some(&PropertyUser::Several);
        let keeps_form =
            self.kept_forms.contains(link) || !moved.is_inside || !may_be_relative || has_several();
        // From disk, other forms would lead out of the folder.
        let has_url = !is_assumed(&moved.url);
        match (keeps_form, is_disk) {
            (false, true)
                if has_url && !moved.is_there && !is_base && written != Category::RelPath =>
            {
                Category::AbsoluteUrl
            }
            (true, true) if has_url && !(written == Category::RelPath && moved.is_inside) => {
                Category::AbsoluteUrl
            }
            (true, false) => written,
            _ => Category::RelPath,
        }
    }

    /// True if a reference leads to the new place of its target. `head` is the part of the reference before query and
    /// fragment.
    fn leads_there(&self, head: &str, written: Category, moved: &MovedTarget, base: &Base) -> bool {
        match (written, head) {
            // An absolute URL means the same everywhere.
            (Category::AbsoluteUrl, _) => self.is_same(moved),
            (_, "") => without_query(base.as_str()) == moved.url,
            _ => base.resolve(head).is_ok_and(|it| it.url == moved.url),
        }
    }

    /// The reference, without query and fragment, to the new place of a target. It has the form `form`, or is an
    /// absolute URL if no reference of that form leads there. `head` is the old text, which has the form `written`.
    fn head(
        &self,
        head: &str,
        (written, form): (Category, Category),
        moved: &MovedTarget,
        base: &Base,
    ) -> String {
        let relocation = &self.relocation;
        if form == Category::RelPath {
            return base.relativize(&moved.url);
        }
        // The part after the root keeps its bytes if possible.
        let from = relocation.from.as_str();
        let url = match written {
            _ if moved.is_renamed || !moved.is_inside => None,
            Category::AbsoluteUrl => Some(Cow::Borrowed(head)),
            Category::NetPath => scheme_of(from).map(|scheme| format!("{scheme}:{head}").into()),
            Category::AbsPath => Some([split_host(from).0, head].concat().into()),
            _ => None,
        };
        let absolute = url.and_then(|url| relocation.from.rerooted(&url, &relocation.to));
        let leads_there = |it: &str| {
            it == moved.url || base.resolve(it).is_ok_and(|target| target.url == moved.url)
        };
        let absolute = absolute.filter(|it| leads_there(it));
        let absolute = absolute.unwrap_or_else(|| moved.url.clone());
        let url = Reference::of(&absolute);
        let scheme_end = url.scheme().map_or(0, |scheme| scheme.len() + 1);
        let shorter = match form {
            Category::AbsPath => Some(&absolute[url.path_span.start..]),
            Category::NetPath => Some(&absolute[scheme_end..]),
            _ => None,
        };
        let shorter = shorter.filter(|it| leads_there(it)).map(str::to_owned);
        shorter.unwrap_or(absolute)
    }
}
