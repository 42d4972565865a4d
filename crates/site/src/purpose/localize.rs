//! An offline mirror: links lead to files of the mirror where possible, and otherwise to the network.
//!
//! The file for a target (RFC 1808, 4) is found by its retrieval URLs, and by the names that programs use for saved
//! files ([`Collection::locate`]). A link to a file becomes a relative reference, and any other link an absolute
//! URL. A link that would lead out of the folder on disk leads nowhere (`super::on_disk`).
//!
//! Relative references to files work only if their base is the URL of the file that contains them. The `href` of every
//! `base` element therefore becomes empty, and so does every `xml:base`. Both then denote this URL (HTML, 4.2.3; XML
//! Base, 4.2). A reference that is only a fragment then still leads into the same document.
//!
//! ```
//! use std::sync::Arc;
//! use baselink_rewrite::Options;
//! use baselink_site::collection::{Collection, ResourceKind};
//! use baselink_site::purpose::localize::{localize, options};
//! let mut collection = Collection::default();
//! collection.add(b"sub/x.html", ResourceKind::File, ["http://a/docs/sub/x.html"]);
//! collection.add(b"c d?e.png", ResourceKind::File, ["http://a/docs/c%20d"]);
//!
//! let text = b"<base href=http://a/docs/><img src='/docs/c d'><a href=gone.html></a>";
//! let page = Options::at("http://a/docs/sub/x.html");
//! let options = options(b"sub/x.html", text, &Arc::new(collection), false, &page);
//! assert_eq!(
//!     localize(text, &options, |(), _| ()).0.output(),
//!     b"<base href=\"\"><img src='../c%20d%3Fe.png'><a href=http://a/docs/gone.html></a>"
//! );
//! ```
//!
//! Deliberately absent: downloads. A resource that is not among the files stays on the network.

use std::{borrow::Cow, sync::Arc};

use baselink_rewrite::{
    BaseInCopy, Choice, Destination, FileRewrite, Guard, Lack, LinkReport, NOWHERE, Options,
    Outcome, PlainLink, Reason, Site, SourceKind,
    copies::stem_of_companion,
    report::{PropertyUser, TargetInSheet},
};
use baselink_scan::{Against, Role, xml::vocabulary::is_location};
use baselink_text::{Edits, Span, layer::digest::ends_with_md5};
use baselink_url::{
    Base, Category, Reference, Resolver, decode_percent_lossy, is_template, reference::placeholder,
    without_fragment,
};

use crate::{
    collection::{
        Absence, Collection, FoundBy, Located, PlainPlace, QueryUse, fragment_of, names_prefix,
        origin::{RootUrl, canonical, is_assumed, names},
        split_name, stem, url_below, without_query,
    },
    purpose::{
        adapt::{is_of_message, leads_to_file},
        alternatives::{AlternativeLinks, Alternatives, alternatives},
        custom_property::{in_sheet, is_relative, property_user},
        needs,
        on_disk::{DiskPlace, is_on_network},
        options_in, plain_place, plain_root, rewrite_unless,
        spelling::{names_base, names_resource, unmistakable},
        words::Words,
    },
};

/// The options with which [`localize`] rewrites the resource called `name` of `collection` with the contents `bytes`.
/// `options` contain the format, the retrieval URL, the resolver and the places. If it `is_adapted`, what the policy of a part of a
/// message ([`adapt`](mod@super::adapt)) does not prevent leads nowhere.
pub fn options(
    name: &[u8],
    bytes: &[u8],
    collection: &Arc<Collection>,
    is_adapted: bool,
    options: &Options,
) -> Options {
    let place = RootUrl::nowhere();
    let path = collection.in_mirror(name);
    let words = Words::of_links(bytes);
    let disk_place = DiskPlace::new(collection, path, (words, options), collection.scheme());
    let destination = Arc::new(LocalDestination {
        number: collection.number_at(name),
        on_disk: url_below(&place, name).map(|url| Base::new(options.resolver, &url)),
        path: path.to_vec(),
        own: own(options),
        canonical: canonical::named(bytes, options.format).map(|named| named.span),
        alternatives: alternatives(words, options),
        is_message: options.format.has_headings(),
        is_quiet: is_adapted && is_of_message(options),
        plain_root: plain_root(name, collection, options).filter(|_| !disk_place.leaves),
        disk_place,
        collection: Arc::clone(collection),
        place,
    });
    let mut options = Options {
        counts_kept: options.counts_kept
            && collection.fragments.is_empty()
            && collection.library.is_none(),
        guard: Some(Arc::clone(&destination) as Arc<dyn Guard>),
        destination: Some(Arc::clone(&destination) as _),
        ..options_in(options, &destination)
    };
    options.scan.groups.insert_loaded();
    options
}

impl Guard for LocalDestination {
    fn prefix(&self, link: &LinkReport, reference: &str, base: BaseInCopy) -> Option<String> {
        if self.is_quiet && !reference.starts_with(NOWHERE) && escapes_policy(link, reference) {
            return Some(NOWHERE.to_owned());
        }
        if let Some(sheet) = self.sheet(link) {
            let nothing = (Words::of_links(b""), &Options::default());
            let scheme = self.collection.scheme();
            let place = DiskPlace::new(&self.collection, &sheet, nothing, scheme);
            return place.prefix(link, reference, BaseInCopy::Undeclared, || None);
        }
        // On disk, a declared base is resolved against the URL of the copy, even if the URL of the document resolves no reference.
        let resolves = |url: &&str| Base::new(Resolver::Whatwg, url).resolve("x").is_ok();
        let declared = || match link.base.as_deref().filter(resolves) {
            Some(url) if self.own.as_deref() == Some(url) => None,
            Some(url) if is_on_network(url) => Some(url.to_owned()),
            // The base may be the folder itself.
            _ => Some(DiskPlace::url("")),
        };
        self.disk_place.prefix(link, reference, base, declared)
    }
}

/// The endings of files that a frame may show: pages, which have a policy of their own, and what runs no scripts.
const FRAMED: [&str; 8] = [
    ".html", ".htm", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf",
];

/// True if `reference`, that of `link`, might cause a request, or run a script, that no policy of its document prevents: it is a style
/// sheet of XML before the policy, a candidate, a connection in advance, or it leads a frame or a refresh to something without a policy.
fn escapes_policy(link: &LinkReport, reference: &str) -> bool {
    let is_shown = || {
        let name = without_query(reference).to_ascii_lowercase();
        leads_to_file(reference) && FRAMED.iter().any(|end| name.ends_with(end))
    };
    // The prefix depends on the document.
    match link.element.rsplit(':').next() {
        Some("?xml-stylesheet") => true,
        Some("meta") if link.role != Role::Navigation => false,
        Some("iframe" | "frame" | "object" | "embed" | "meta") => {
            !is_shown() && !reference.starts_with("about:")
        }
        // Firefox may load a candidate before it knows the policy.
        _ if matches!(link.attribute.as_deref(), Some("srcset" | "imagesrcset")) => {
            !leads_to_file(reference) && !reference.starts_with("data:")
        }
        _ => link.rel.as_deref().is_some_and(|rel| {
            let rel = rel.to_ascii_lowercase();
            rel.contains("preconnect") || rel.contains("dns-prefetch")
        }),
    }
}

/// The URL of the document itself, in the form in which bases are reported.
fn own(options: &Options) -> Option<String> {
    let retrieval = options.retrieval.as_ref()?;
    Some(Base::text_of(options.resolver, &retrieval.url).into_owned())
}

/// Rewrites `bytes` with the `options` from [`options`](fn@options), and adds each link to the second result.
///
/// If the document declares a base that cannot be removed, every relative link becomes absolute, as in `rewrite`.
pub fn localize<'a, T: Default>(
    bytes: &'a [u8],
    options: &Options,
    add: impl Fn(&mut T, LinkReport),
) -> (FileRewrite<'a>, T) {
    let own = own(options);
    let keeps_base = |link: &LinkReport| {
        if options.format.has_headings() {
            return false;
        }
        if names_base(link) {
            // A base that has no effect need not be removed.
            let has_none = [Some(Reason::BaseElement), Some(Reason::Unresolvable)];
            return !link.in_output().is_empty() && !has_none.contains(&link.reason);
        }
        // Without the base, a link that cannot be rewritten would have another target.
        let stays =
            link.outcome == Outcome::NotEditable || link.reason == Some(Reason::BaseUnusable);
        stays && link.base.as_deref() != own.as_deref()
    };
    rewrite_unless(bytes, options, keeps_base, None, add)
}

/// The destination of the links of one file.
#[derive(Debug)]
struct LocalDestination {
    collection: Arc<Collection>,
    /// The number of the file, if the collection has it.
    number: Option<usize>,
    /// The path of the file in the mirror, below the root.
    path: Vec<u8>,
    /// The retrieval URL, in the form in which bases are reported.
    own: Option<String>,
    /// The span of the canonical URL (RFC 6596), which stays absolute, because it denotes the original.
    canonical: Option<Span>,
    /// The alternatives of links, by the starts of the links.
    alternatives: AlternativeLinks,
    /// A placeholder for the URL of the folder on disk.
    place: RootUrl,
    /// The place of the file in the folder that opens from disk.
    disk_place: DiskPlace,
    /// The URL of the file below `place`.
    on_disk: Option<Base>,
    is_message: bool,
    /// True if nothing is loaded from the network.
    is_quiet: bool,
    /// The length of the URL of the root, if links may have a plain meaning.
    plain_root: Option<usize>,
}

impl Destination for LocalDestination {
    fn keeps(&self, link: &PlainLink<'_>) -> bool {
        match plain_place(&self.collection, self.plain_root, link) {
            Some(PlainPlace::Outside) => true,
            // A link to the page itself may become shorter.
            Some(PlainPlace::File(file, _)) if self.number == Some(file) => {
                link.reference.starts_with('#')
            }
            Some(PlainPlace::File(file, _)) => {
                self.collection.note_use(file, true, false);
                true
            }
            None => false,
        }
    }

    fn choose(&self, link: &LinkReport, against: &Against) -> (Choice, Option<Lack>) {
        if self.canonical == Some(link.span) {
            return (Choice::Target, None);
        }
        let (choice, located) = self.chosen(link, against);
        if let Some(Located::Resource(found)) = &located
            && self.number != Some(found.number)
        {
            let is_linked = link.role == Role::Navigation;
            let is_frame = matches!(&*link.element, "iframe" | "frame" | "object" | "embed");
            self.collection
                .note_use(found.number, is_linked, is_frame && !is_linked);
        }
        let target = link.target.as_deref();
        // A base needs no file at its URL, and a template is not a URL.
        let needs = |target| needs(&self.collection, link, target, self.is_message);
        let is_needed = target.is_some_and(needs);
        let is_lacking = located
            .as_ref()
            .is_some_and(|located| is_lacking(located, is_needed))
            && !names_base(link)
            && !is_template(&link.reference)
            && !target.is_some_and(|target| is_assumed(target) || !names_resource(target));
        let is_local = matches!(choice, Choice::Reference(_));
        let lack = || match self.stand_in(link) {
            Some(_) => Some(Lack::Served),
            None => (!is_local).then_some(Lack::Missing),
        };
        (choice, is_lacking.then(lack).flatten())
    }

    fn empties_bases(&self) -> bool {
        !self.is_message
    }

    fn descriptors(&self, bytes: &[u8]) -> Edits {
        let mut edits = Edits::default();
        if !self.collection.keeps_places() {
            let groups = self.alternatives.iter();
            let groups = groups.filter(|(start, group)| group.start() == Some(**start));
            let is_served = |link: &LinkReport| {
                let is_replaced =
                    link.is_editable && link.target.as_deref().is_some_and(names_resource);
                is_replaced && self.own_file(link).is_none()
            };
            edits.merge(groups.flat_map(|(_, group)| group.descriptors(bytes, is_served)));
        }
        edits
    }
}

impl Site for LocalDestination {
    fn has(&self, link: &LinkReport, against: &Against) -> bool {
        let (choice, located) = self.chosen(link, against);
        let is_local = matches!(choice, Choice::Reference(_)) && !names_base(link);
        is_local || located.is_some_and(|it| it.is_proof())
    }
}

/// True if a site that may have the target of a link lacks it, or if a page of an archive or a crawl needs it.
fn is_lacking(located: &Located, is_needed: bool) -> bool {
    match located {
        Located::Resource(found) => found.query == QueryUse::OtherPage,
        Located::Outside { is_host_known } => *is_host_known || is_needed,
        Located::BehindLink(_) | Located::Lacking(Absence::LinkOut, _) => false,
        Located::Folder(_) | Located::Lacking(..) | Located::Failed(_) => true,
    }
}

/// A file of the copy, for a link.
struct LocalFile<'l> {
    path: Cow<'l, [u8]>,
    /// The number of the file, if the reference of a link leads to it.
    number: Option<usize>,
    /// The URL whose fragment the new reference gets.
    url: Cow<'l, str>,
    /// True if the new reference gets the query too.
    keeps_query: bool,
}

impl LocalDestination {
    /// The replacement for a link, and the place of its target.
    fn chosen(&self, link: &LinkReport, against: &Against) -> (Choice, Option<Located>) {
        let (fixed, target) = (self.fixed(link, against), link.target.as_deref());
        let located = target.map(|target| self.located(link, target));
        let choice = match (fixed, &located) {
            (Some(choice), _) => choice,
            (None, Some((target, located))) => self.choice(link, target, located),
            (None, None) => Choice::Target,
        };
        (choice, located.map(|(_, located)| located))
    }

    /// The place of `target`, the target of `link`, and `target` with the fragment of its redirect.
    fn located<'t>(&self, link: &LinkReport, target: &'t str) -> (Cow<'t, str>, Located) {
        let (located, end) = self.collection.locate_link(link, target, self.number);
        let fragment = end.as_deref().and_then(fragment_of);
        let with_end = |end| Cow::Owned(format!("{}#{end}", without_fragment(target)));
        (fragment.map_or(Cow::Borrowed(target), with_end), located)
    }

    /// The replacement for a link that has the same one wherever it leads.
    fn fixed(&self, link: &LinkReport, against: &Against) -> Option<Choice> {
        let attribute = link.attribute.as_deref();
        let is_base = names_base(link);
        if self.is_message {
            // A base from a header field still applies when the message is read.
            if is_base || !self.has_own_base(link) {
                return Some(Choice::Target);
            }
        } else if is_base {
            return Some(Choice::Reference(String::new()));
        }
        // In a saved page, a fragment leads into the copy, because the original base of the page does not apply there.
        if link.source.kind() == SourceKind::Note && link.reference.starts_with('#') {
            return Some(Choice::Kept);
        }
        // Sitemaps, and search engines once they are installed, need absolute URLs.
        let wants_absolute = is_location(&link.element, attribute);
        let is_of_document = matches!(
            against,
            Against::Document
                | Against::Fallback
                | Against::Retrieval
                | Against::Element(_)
                | Against::DocumentEntity
        );
        (wants_absolute || !is_of_document).then_some(Choice::Target)
    }

    fn has_own_base(&self, link: &LinkReport) -> bool {
        link.base.as_deref() == self.own.as_deref()
    }

    /// The replacement for a link to `target`.
    fn choice(&self, link: &LinkReport, target: &str, located: &Located) -> Choice {
        let local = || {
            let file = self.local_file(link, target, located)?;
            self.reference(&file, link)
        };
        let stand_in = || {
            let (stand_in, group) = self.stand_in(link)?;
            let (folder, _) = stand_in.rsplit_once('/').unwrap_or_default();
            let name = without_query(&link.reference).rsplit('/').next()?;
            let own = group.are_saved.then(|| format!("{folder}/{name}"));
            let own = own.and_then(|own| self.file_on_disk(&own, false));
            let own = own.and_then(|file| self.reference(&file, link));
            let is_replaced = group.are_images && !self.collection.keeps_places();
            own.or_else(|| is_replaced.then(|| stand_in.to_owned()))
        };
        let local = local().or_else(|| self.in_sheet(link));
        let local = local.or_else(|| self.elsewhere(link, target));
        let local = local.or_else(|| stand_in().filter(|_| names_resource(target)));
        // A URL that denotes a part of a message is meaningless in the mirror.
        let is_meaningless = || {
            target.starts_with("thismessage:")
                && link.outcome == Outcome::Rewritten
                && self.collection.only_urls
        };
        match local {
            Some(reference) => Choice::Reference(reference),
            None if is_assumed(target) => self
                .place_without_file(target, located, link)
                .map_or(Choice::Target, Choice::Nowhere),
            None if is_meaningless() => Choice::Kept,
            None => Choice::Target,
        }
    }

    /// The reference to the file for `target` in another source of the library.
    fn elsewhere(&self, link: &LinkReport, target: &str) -> Option<String> {
        let (library, found) = self.collection.elsewhere(target)?;
        let number = found.resource()?.number;
        let from = self.collection.in_library(&self.user(link)?);
        library.note_use(number, true, false);
        let fragment = fragment_of(target);
        let path = relative(&from, library.path_in_mirror(number))?;
        Some(with_parts(path, (None, fragment), link))
    }

    /// The reference to the file of an alternative of `link`.
    fn stand_in(&self, link: &LinkReport) -> Option<(&str, &Alternatives)> {
        let group = self.alternatives.get(&link.span.start)?;
        Some((group.stand_in(|other| self.own_file(other))?, group))
    }

    /// The reference to the file of `link`, one of several alternatives.
    fn own_file(&self, link: &LinkReport) -> Option<String> {
        let Some(target) = link.target.as_deref() else {
            return self.reference(&self.place_on_disk(link)?, link);
        };
        let (target, located) = self.located(link, target);
        self.reference(&self.local_file(link, &target, &located)?, link)
    }

    /// A reference to the place of `target`, a URL of the site whose host is unknown. It has no file.
    fn place_without_file(
        &self,
        target: &str,
        located: &Located,
        link: &LinkReport,
    ) -> Option<String> {
        let path = match located {
            Located::Resource(found) => self.collection.path_in_mirror(found.number),
            Located::Lacking(Absence::NoName, _) | Located::Failed(_) | Located::Outside { .. } => {
                return None;
            }
            Located::Lacking(_, path) | Located::Folder(path) | Located::BehindLink(path) => path,
        };
        let file = LocalFile {
            path: path.into(),
            number: None,
            url: target.into(),
            keeps_query: true,
        };
        self.reference(&file, link)
    }

    /// The file of the copy for a link to `target`.
    fn local_file<'l>(
        &'l self,
        link: &LinkReport,
        target: &'l str,
        located: &'l Located,
    ) -> Option<LocalFile<'l>> {
        let is_relative = link.outcome == Outcome::Rewritten;
        let own = self.own.as_deref().map(without_fragment);
        let (path, keeps_query) = match located {
            Located::Folder(path) if names_prefix(link) => (Cow::Borrowed(&**path), true),
            _ if own == Some(without_fragment(target)) => (Cow::Borrowed(&*self.path), false),
            Located::Resource(found) if found.query != QueryUse::OtherPage => {
                let path = self.collection.path_for(target, found.number);
                (path, found.query == QueryUse::None)
            }
            // The existence of the file is unknown, so an absolute URL is kept.
            Located::BehindLink(path) | Located::Lacking(Absence::LinkOut, path) if is_relative => {
                (Cow::Borrowed(&**path), true)
            }
            _ if self.collection.only_urls => return None,
            // If URLs lead to files by their paths, this place has no file either.
            Located::Lacking(..) if self.collection.has_only_paths() => {
                return self.local_copy(target, link);
            }
            _ => {
                let on_disk = Some(link).filter(|link| is_relative && self.has_own_base(link));
                return on_disk
                    .and_then(|link| self.place_on_disk(link))
                    .or_else(|| self.local_copy(target, link));
            }
        };
        Some(LocalFile {
            path,
            number: None,
            url: target.into(),
            keeps_query,
        })
    }

    /// The file to which this link already leads. Pages that browsers save have such links, and so has the output of
    /// [`localize`].
    fn place_on_disk(&self, link: &LinkReport) -> Option<LocalFile<'static>> {
        let written = Reference::of(&link.reference);
        if written.category() != Category::RelPath {
            return None;
        }
        let has_path = !written.path().is_empty();
        if written.query().is_some() && has_path {
            // When wget 1.21 converts links without --adjust-extension, it does not escape the `?` of a file name.
            let named = self.file_on_disk(&link.reference.replacen('?', "%3F", 1), false);
            if named.is_some() {
                return named;
            }
        }
        let file = self.file_on_disk(&link.reference, true)?;
        // A page with a query is a different page, unless HTTrack named the file after the query.
        let is_other = written
            .query()
            .zip(file.number)
            .is_some_and(|(query, number)| {
                let is_page = !has_path || self.collection.is_page(number);
                is_page && !self.is_named_after(number, query)
            });
        (!is_other).then_some(file)
    }

    /// True if the name of a file ends with the digest of `query`, as HTTrack writes it.
    fn is_named_after(&self, number: usize, query: &str) -> bool {
        let (_, name) = split_name(self.collection.path(number));
        let stem = stem(name);
        ends_with_md5(stem, query.as_bytes()) || ends_with_md5(stem, &names::decode(query))
    }

    /// The local copy, if `target` is the URL of a local copy that a base or a mistake made absolute. For example,
    /// `https://a.example/x_files/y.png` never existed, but the file `x_files/y.png` does.
    fn local_copy(&self, target: &str, link: &LinkReport) -> Option<LocalFile<'static>> {
        let bases = [link.base.as_deref(), self.own.as_deref()];
        let rest = bases.into_iter().flatten().find_map(|base| {
            let path = without_query(base);
            let rest = target.strip_prefix(&path[..=path.rfind('/')?])?;
            let (copies, _) = rest.split_once('/')?;
            stem_of_companion(&decode_percent_lossy(copies)).map(|_| rest)
        })?;
        self.file_on_disk(rest, true)
    }

    /// The file to which `reference` leads from the folder of this file. It has no number if it is behind a symbolic link.
    fn file_on_disk(&self, reference: &str, keeps_query: bool) -> Option<LocalFile<'static>> {
        let url = self.on_disk.as_ref()?.resolve(reference).ok()?.url;
        let (path, number) = match self.collection.locate_below(&self.place, &url) {
            Located::Resource(found) if matches!(found.by, FoundBy::Url | FoundBy::Index) => {
                let path = self.collection.path_in_mirror(found.number);
                (path.to_vec(), Some(found.number))
            }
            Located::BehindLink(path) | Located::Lacking(Absence::LinkOut, path) => (path, None),
            _ => return None,
        };
        Some(LocalFile {
            path: path.into(),
            number,
            url: url.into(),
            keeps_query,
        })
    }

    /// A reference to the file to which `link`, if it is in a custom property, leads from a linked style sheet.
    fn in_sheet(&self, link: &LinkReport) -> Option<String> {
        let TargetInSheet { base, target } = in_sheet(link, &self.collection)?;
        let [from, to] = [base, target].map(|url| self.collection.path_of(url));
        let fragment = fragment_of(target);
        Some(with_parts(relative(&from?, &to?)?, (None, fragment), link))
    }

    /// The file of the style sheet from which browsers resolve `link`, if it is in a custom property.
    fn sheet(&self, link: &LinkReport) -> Option<Vec<u8>> {
        let PropertyUser::Sheet(url) = property_user(link)? else {
            return None;
        };
        self.collection.path_of(url)
    }

    /// The file from which a browser resolves `link`. `None` if the link is in a custom property and must be absolute,
    /// because the property may be used in several folders.
    fn user(&self, link: &LinkReport) -> Option<Cow<'_, [u8]>> {
        let sheet = match property_user(link).filter(|_| !is_relative(link)) {
            // An assumed URL cannot be written.
            Some(PropertyUser::Several) if !link.target.as_deref().is_some_and(is_assumed) => {
                return None;
            }
            Some(_) => self.sheet(link),
            None => None,
        };
        Some(sheet.map_or(Cow::Borrowed(&*self.path), Cow::Owned))
    }

    /// A reference to `file`.
    fn reference(&self, file: &LocalFile<'_>, link: &LinkReport) -> Option<String> {
        let to = &*file.path;
        let target = Reference::of(&file.url);
        let query = target.query().filter(|_| file.keeps_query);
        let fragment = target.fragment();
        // A fragment alone suffices in `a` and `area`. In other elements it may denote an element, not the document.
        let is_jump = matches!(&*link.element, "a" | "area")
            && fragment.is_none_or(|name| placeholder(&format!("#{name}")).is_none());
        let reference = match fragment {
            Some(_) if to == self.path && query.is_none() && is_jump => Some(String::new()),
            _ => self.user(link).and_then(|user| relative(&user, to)),
        };
        let new = reference.map(|reference| with_parts(reference, (query, fragment), link));
        let stays =
            new.as_ref() == Some(&link.reference) || self.leads_to(to, query, fragment, link);
        if stays {
            Some(link.reference.clone())
        } else {
            new
        }
    }

    /// True if the reference as written leads from this file to the file `to`.
    fn leads_to(
        &self,
        to: &[u8],
        query: Option<&str>,
        fragment: Option<&str>,
        link: &LinkReport,
    ) -> bool {
        let reference = &*link.reference;
        let written = Reference::of(reference);
        let may_stay = matches!(written.category(), Category::RelPath | Category::Fragment)
            && (written.query(), written.fragment()) == (query, fragment)
            && self.has_own_base(link)
            && !reference.contains('\\');
        let leads_there = |base: &Base| {
            let target = base.resolve(reference).ok()?;
            let below = self.place.below(&target.url)?;
            Some(below.is_path && below.path == to)
        };
        may_stay
            && self.on_disk.as_ref().and_then(leads_there) == Some(true)
            && self.disk_place.path(reference) == Some(self.collection.in_library(to))
    }
}

/// The new `reference` of `link`, with a query and a fragment.
fn with_parts(
    mut reference: String,
    (query, fragment): (Option<&str>, Option<&str>),
    link: &LinkReport,
) -> String {
    for (mark, part) in [('?', query), ('#', fragment)] {
        if let Some(part) = part {
            reference.push(mark);
            reference.push_str(part);
        }
    }
    unmistakable(reference, link)
}

/// The reference from the file `from` to the file `to`, both below the root; `None` if the path of `to` cannot be part
/// of a URL.
fn relative(from: &[u8], to: &[u8]) -> Option<String> {
    let folder = memchr::memrchr(b'/', from).map_or(0, |at| at + 1);
    let common = from[..folder]
        .iter()
        .zip(to)
        .take_while(|(a, b)| a == b)
        .count();
    let common = memchr::memrchr(b'/', &from[..common]).map_or(0, |at| at + 1);
    let mut reference = "../".repeat(memchr::memchr_iter(b'/', &from[common..]).count());
    let path = names::encoded(&to[common..])?;
    // The text before a colon in the first segment would be parsed as a scheme (RFC 3986, 4.2).
    let needs_dot = path.is_empty() || path.split('/').next()?.contains(':');
    if reference.is_empty() && needs_dot {
        reference.push_str("./");
    }
    Some(reference + &path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_references_are_shortest() {
        for (from, to, expected) in [
            ("a.html", "b.html", "b.html"),
            ("a.html", "sub/b.html", "sub/b.html"),
            ("sub/a.html", "b.html", "../b.html"),
            ("sub/a.html", "subway/b.html", "../subway/b.html"),
            ("x/y/a.html", "x/z/b.html", "../z/b.html"),
            ("a.html", "b:c", "./b:c"),
            ("x/a.html", "b:c", "../b:c"),
            ("a.html", "100%?#.html", "100%25%3F%23.html"),
            ("a.html", "a.html", "a.html"),
        ] {
            assert_eq!(
                relative(from.as_bytes(), to.as_bytes()).as_deref(),
                Some(expected)
            );
        }
        assert_eq!(relative(b"a.html", b"caf\xE9").as_deref(), Some("caf%E9"));
    }
}
