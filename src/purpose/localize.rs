//! An offline mirror: links lead to files of the mirror where possible, and otherwise to the network.
//!
//! The file for a target (RFC 1808, 4) is found by its retrieval URLs, and by the names that programs use for saved
//! files ([`Collection::find_saved`]). A link to a file becomes a relative reference, and any other link an absolute
//! URL. A link that would lead out of the folder on disk leads nowhere (`super::on_disk`).
//!
//! Relative references to files work only if their base is the URL of the file that contains them. The `href` of every
//! `base` element therefore becomes empty, and so does every `xml:base`. Both then denote this URL (HTML, 4.2.3; XML
//! Base, 4.2). A reference that is only a fragment then still leads into the same document.
//!
//! ```
//! use std::sync::Arc;
//! use baselink_rewrite::Options;
//! use baselink_cli::collection::{Collection, Resource};
//! use baselink_cli::purpose::localize::{localize, options};
//! let mut collection = Collection::default();
//! collection.add(Resource::file(b"sub/x.html"), ["http://a/docs/sub/x.html"]);
//! collection.add(Resource::file(b"c d?e.png"), ["http://a/docs/c%20d"]);
//!
//! let options = options(b"sub/x.html", &Arc::new(collection), &Options::at("http://a/docs/sub/x.html"));
//! let text = b"<base href=http://a/docs/><img src='/docs/c d'><a href=gone.html></a>";
//! assert_eq!(
//!     localize(text, &options).output(),
//!     b"<base href=\"\"><img src='../c%20d%3Fe.png'><a href=http://a/docs/gone.html></a>"
//! );
//! ```
//!
//! Deliberately absent: downloads. A resource that is not among the files stays on the network.

use std::borrow::Cow;
use std::sync::Arc;

use crate::collection::origin::{RootUrl, canonical, is_assumed, names};
use crate::collection::properties::PropertyBase;
use crate::collection::{Collection, FoundFile, split_name, stem, url_below, without_query};
use crate::purpose::on_disk::{DiskBase, DiskPlace, is_on_network};
use crate::purpose::spelling::{names_base, unmistakable};
use baselink_rewrite::base::SourceKind;
use baselink_rewrite::copies::stem_of_companion;
use baselink_rewrite::report::{LinkReport, Outcome, Reason, TargetInSheet};
use baselink_rewrite::{
    BaseElement, BaseInCopy, Choice, Destination, Fragments, Guard, Options, Rewritten, Site,
    rewrite,
};
use baselink_scan::document::Against;
use baselink_scan::xml::vocabulary::is_location;
use baselink_text::format::Format;
use baselink_text::layer::digest::ends_with_md5;
use baselink_text::span::Span;
use baselink_url::reference::{Category, Grammar, Reference, decode_percent_lossy, placeholder};
use baselink_url::{Base, Profile, parses};

/// The options with which [`localize`] rewrites the resource called `name` of `collection`. `options` contain the
/// format, the retrieval URL, the profile and the places.
#[must_use]
pub fn options(name: &[u8], collection: &Arc<Collection>, options: &Options) -> Options {
    let place = RootUrl::nowhere();
    let path = name.to_vec();
    let url = url_below(&place, &path);
    let on_disk = url.as_deref().map(|url| Base::new(options.profile, url));
    let to_browsers = url.as_deref().map(|url| Base::new(Profile::Whatwg, url));
    let own = own(options);
    let is_message = options.format.has_headings();
    let collection = Arc::clone(collection);
    let number = collection.number_at(&path);
    let path = number.map_or(path, |number| collection.path_in_mirror(number).to_vec());
    let is_page = options.format != Format::Css;
    let destination = LocalDestination {
        collection,
        path,
        own,
        place,
        on_disk,
        to_browsers,
        is_message,
        is_page,
    };
    let destination = Arc::new(destination);
    let guard = LinksInCopy::of(Arc::clone(&destination));
    Options {
        fragments: Some(Fragments::Rewrite),
        base_element: BaseElement::Absolute,
        site: Some(Arc::clone(&destination) as Arc<dyn Site>),
        destination: Some(destination),
        guard: Some(Arc::new(guard)),
        ..options.clone()
    }
}

/// The guard of the links of one file.
#[derive(Debug)]
struct LinksInCopy {
    place: DiskPlace,
    destination: Arc<LocalDestination>,
}

impl LinksInCopy {
    fn of(destination: Arc<LocalDestination>) -> Self {
        let place = DiskPlace::new(&destination.path, destination.collection.scheme());
        Self { place, destination }
    }
}

impl Guard for LinksInCopy {
    fn prefix(&self, link: &LinkReport, reference: &str, base: BaseInCopy) -> Option<String> {
        if let Some(Some(PropertyBase::FolderOf(user))) = self.destination.property_base(link) {
            let place = DiskPlace::new(&user, self.destination.collection.scheme());
            return place.prefix(link, reference, &[DiskBase::Own]);
        }
        let (url, own) = (link.base.as_deref(), self.destination.own.as_deref());
        let declared = match url {
            Some(url) if own == Some(url) && parses(url) => DiskBase::Own,
            Some(url) if is_on_network(url) => DiskBase::Url(url),
            _ => DiskBase::Inside,
        };
        self.place
            .prefix(link, reference, &DiskBase::of(base, declared))
    }
}

/// The URL of the document itself, in the form in which bases are reported.
fn own(options: &Options) -> Option<String> {
    let retrieval = options.retrieval.as_ref()?;
    Some(Base::text_of(options.profile, &retrieval.url).into_owned())
}

/// Rewrites `bytes` with the `options` from [`options`](fn@options).
///
/// If the document declares a base that cannot be removed, every relative link becomes absolute, as in `rewrite`.
#[must_use]
pub fn localize<'a>(bytes: &'a [u8], options: &Options) -> Rewritten<'a> {
    let options = except_canonical(bytes, options);
    let options = options.as_ref();
    let rewritten = rewrite(bytes, options);
    let is_message = options.format.has_headings();
    let own = own(options);
    let has_base = rewritten.report.links.iter().any(|link| {
        if names_base(&link.element, link.attribute.as_deref()) {
            // A base that has no effect need not be removed.
            return !link.in_output().is_empty() && link.reason != Some(Reason::BaseElement);
        }
        // Without the base, a link that cannot be rewritten would have another target.
        let stays =
            link.outcome == Outcome::NotEditable || link.reason == Some(Reason::BaseUnusable);
        stays && link.base.as_deref() != own.as_deref()
    });
    if is_message || !has_base {
        return rewritten;
    }
    rewrite(
        bytes,
        &Options {
            destination: None,
            ..options.clone()
        },
    )
}

/// Changes `options` so that the canonical URL of a page (RFC 6596) stays absolute, because it denotes the original.
fn except_canonical<'o>(bytes: &[u8], options: &'o Options) -> Cow<'o, Options> {
    let contains = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    let may_be_named = contains(b"anonical") || contains(b"ANONICAL");
    let named = may_be_named
        .then(|| canonical::named(bytes, options.format))
        .flatten();
    match (&options.destination, named) {
        (Some(others), Some(canonical::CanonicalUrl { span, .. })) => {
            let destination = ExceptCanonical {
                span,
                others: Arc::clone(others),
            };
            Cow::Owned(Options {
                destination: Some(Arc::new(destination)),
                ..options.clone()
            })
        }
        _ => Cow::Borrowed(options),
    }
}

/// A destination that makes the link at `span` absolute, and leaves the other links to `others`.
#[derive(Debug)]
struct ExceptCanonical {
    span: Span,
    others: Arc<dyn Destination>,
}

impl Destination for ExceptCanonical {
    fn choose(&self, link: &LinkReport, against: &Against) -> Choice {
        match link.span == self.span {
            true => Choice::Target,
            false => self.others.choose(link, against),
        }
    }

    fn empties_bases(&self) -> bool {
        self.others.empties_bases()
    }
}

/// The destination of the links of one file.
#[derive(Debug)]
struct LocalDestination {
    collection: Arc<Collection>,
    /// The path of the file in the mirror, below the root.
    path: Vec<u8>,
    /// The retrieval URL, in the form in which bases are reported.
    own: Option<String>,
    /// A placeholder for the URL of the folder on disk.
    place: RootUrl,
    /// The URL of the file below `place`.
    on_disk: Option<Base>,
    /// The URL of the file below `place`, as browsers parse it.
    to_browsers: Option<Base>,
    is_message: bool,
    /// False for a style sheet.
    is_page: bool,
}

impl Destination for LocalDestination {
    fn choose(&self, link: &LinkReport, against: &Against) -> Choice {
        let has_own_base = link.base.as_deref() == self.own.as_deref();
        if self.is_message {
            // A base from a header field still applies when the message is read.
            if !has_own_base || names_base(&link.element, link.attribute.as_deref()) {
                return Choice::Target;
            }
        } else if names_base(&link.element, link.attribute.as_deref()) {
            return Choice::Reference(String::new());
        }
        // In a saved page, a fragment leads into the copy, because the original base of the page does not apply there.
        if link.source.kind() == SourceKind::Note && link.reference.starts_with('#') {
            return Choice::Kept;
        }
        // The target of `codebase` or `scope` is a folder. Sitemaps, and search engines once they are installed, need
        // absolute URLs.
        let wants_absolute = match link.attribute.as_deref() {
            None if link.element == "scope" => true,
            attribute => attribute == Some("codebase") || is_location(&link.element, attribute),
        };
        if wants_absolute {
            return Choice::Target;
        }
        match against {
            Against::Codebase(_)
            | Against::ElementCodebase(..)
            | Against::Inner(_)
            | Against::Nothing
            | Against::Unknown
            | Against::Results => return Choice::Target,
            Against::Document
            | Against::Fallback
            | Against::Retrieval
            | Against::Element(_)
            | Against::DocumentEntity => {}
        }
        let is_relative = link.outcome == Outcome::Rewritten;
        let Some(target) = link.target.as_deref() else {
            return Choice::Target;
        };
        let by_name = || {
            let local = (is_relative && has_own_base)
                .then(|| self.already_local(link))
                .flatten();
            local.or_else(|| self.local_copy(target, link))
        };
        let saved = self.in_user(link).or_else(|| self.saved(target, link));
        let local = saved.or_else(|| {
            if self.collection.has_only_urls() {
                None
            } else {
                by_name()
            }
        });
        let local = local.or_else(|| self.in_sheet(link));
        // A URL that denotes a part of a message is meaningless in the mirror.
        let is_meaningless = target.starts_with("thismessage:");
        match local {
            Some(reference) => Choice::Reference(reference),
            None if is_assumed(target) => match self.place_without_file(target, link) {
                Some(reference) => Choice::Nowhere(reference),
                None => Choice::Target,
            },
            None if is_meaningless && is_relative && self.collection.has_only_urls() => {
                Choice::Kept
            }
            None => Choice::Target,
        }
    }

    fn empties_bases(&self) -> bool {
        !self.is_message
    }
}

impl Site for LocalDestination {
    fn has(&self, link: &LinkReport, against: &Against) -> bool {
        let is_saved = |target: &str| self.collection.find_saved(target).is_some();
        matches!(self.choose(link, against), Choice::Reference(_))
            || link.target.as_deref().is_some_and(is_saved)
    }
}

impl LocalDestination {
    /// A reference to the place of `target`, a URL of the site whose host is unknown. It has no file.
    fn place_without_file(&self, target: &str, link: &LinkReport) -> Option<String> {
        let below = self.collection.path_of_url(target)?;
        self.reference(&below, target, true, link)
    }

    /// A reference to the file that was saved for `target`.
    fn saved(&self, target: &str, link: &LinkReport) -> Option<String> {
        let bare = target.split('#').next().unwrap_or_default();
        let is_own = self.own.as_deref().and_then(|own| own.split('#').next()) == Some(bare);
        if is_own {
            return self.reference(&self.path, target, false, link);
        }
        let found = self.collection.find_saved(target)?;
        if let Some(path) = self.collection.path_beyond_link(found, target, None) {
            // The existence of the file is unknown, so an absolute URL is kept.
            let is_absolute = link.outcome == Outcome::Absolute;
            return if is_absolute {
                None
            } else {
                self.reference(&path, target, true, link)
            };
        }
        self.reference(
            self.collection.path_in_mirror(found.number),
            target,
            !found.query_counts,
            link,
        )
    }

    /// A reference to the file to which this link already leads. Pages that browsers save have such links, and so has
    /// the output of [`localize`].
    fn already_local(&self, link: &LinkReport) -> Option<String> {
        let written = Reference::split(Grammar::Rfc3986, &link.reference);
        if written.category() != Category::RelPath {
            return None;
        }
        let mut leads_to = self.file_on_disk(&link.reference);
        if let Some(query) = written.query() {
            // When wget 1.21 converts links without --adjust-extension, it does not escape the `?` of a file name.
            let named =
                (!written.path().is_empty()).then(|| link.reference.replacen('?', "%3F", 1));
            if let Some((found, url)) = named.and_then(|named| self.file_on_disk(&named)) {
                let path = self.collection.path_in_mirror(found.number);
                return self.reference(path, &url, false, link);
            }
            // A page with a query is a different page, unless HTTrack named the file after the query.
            leads_to = leads_to.filter(|(found, _)| {
                !(written.path().is_empty() || self.collection.is_page(found.number))
                    || self.is_named_after(found.number, query)
            });
        }
        let (found, url) = leads_to?;
        let beyond = self
            .collection
            .path_beyond_link(found, &url, Some(&self.place));
        let path = self.collection.path_in_mirror(found.number);
        self.reference(beyond.as_deref().unwrap_or(path), &url, true, link)
    }

    /// True if the name of a file ends with the digest of `query`, as HTTrack writes it.
    fn is_named_after(&self, number: usize, query: &str) -> bool {
        let (_, name) = split_name(self.collection.path(number));
        let stem = stem(name);
        ends_with_md5(stem, query.as_bytes()) || ends_with_md5(stem, &names::decode(query))
    }

    /// A reference to a local copy, if `target` is the URL of a local copy that a base or a mistake made absolute. For
    /// example, `https://a.example/x_files/y.png` never existed, but the file `x_files/y.png` does.
    fn local_copy(&self, target: &str, link: &LinkReport) -> Option<String> {
        let folder = |base: Option<&'_ str>| {
            let path = without_query(base?);
            Some(path[..=path.rfind('/')?].to_owned())
        };
        let folders = [folder(link.base.as_deref()), folder(self.own.as_deref())];
        let rest = folders.iter().flatten().find_map(|folder| {
            let rest = target.strip_prefix(&**folder)?;
            let (copies, _) = rest.split_once('/')?;
            stem_of_companion(&decode_percent_lossy(copies)).map(|_| rest)
        })?;
        let (found, url) = self.file_on_disk(rest)?;
        self.reference(
            self.collection.path_in_mirror(found.number),
            &url,
            true,
            link,
        )
    }

    /// The file to which `reference` leads from the folder of this file, and its URL below `place`.
    fn file_on_disk(&self, reference: &str) -> Option<(FoundFile, String)> {
        let url = self.on_disk.as_ref()?.resolve(reference).ok()?.url;
        Some((self.collection.find_below(&self.place, &url).file()?, url))
    }

    /// A relative reference to the file to which `link` leads from the only folder in which its custom property is used.
    fn in_user(&self, link: &LinkReport) -> Option<String> {
        let written = Reference::split(Grammar::Rfc3986, &link.reference).category();
        let Some(PropertyBase::FolderOf(user)) = self.property_base(link)? else {
            return None;
        };
        let url = url_below(&self.place, &user).filter(|_| written == Category::RelPath)?;
        let target = Base::new(Profile::Rfc3986, &url)
            .resolve(&link.reference)
            .ok()?
            .url;
        let number = self
            .collection
            .number_at(&self.place.below(&target)?.path)?;
        self.between(&user, number, &target, link)
    }

    /// A reference to the file to which `link`, if it is in a custom property, leads from a linked style sheet.
    fn in_sheet(&self, link: &LinkReport) -> Option<String> {
        let property = link.custom_property.as_ref()?;
        property
            .in_sheets
            .iter()
            .find_map(|TargetInSheet { base, target }| {
                let sheet = self.collection.path_of(base)?;
                self.between(
                    &sheet,
                    self.collection.find_saved(target)?.number,
                    target,
                    link,
                )
            })
    }

    /// The base of `link` if it is in a custom property: see [`Collection::property_base`].
    fn property_base(&self, link: &LinkReport) -> Option<Option<PropertyBase>> {
        let name = &link.custom_property.as_ref()?.name;
        Some(
            self.collection
                .property_base(name, (&self.path, self.is_page), false),
        )
    }

    /// A reference from the style sheet `from` to the file with this number, with the fragment of `target`.
    fn between(
        &self,
        from: &[u8],
        number: usize,
        target: &str,
        link: &LinkReport,
    ) -> Option<String> {
        let fragment = Reference::split(Grammar::Rfc3986, target)
            .fragment()
            .map(str::to_owned);
        let reference = relative(from, self.collection.path_in_mirror(number))?;
        let reference = with_parts(reference, None, fragment.as_deref());
        Some(unmistakable(
            reference,
            &link.element,
            link.attribute.as_deref(),
        ))
    }

    /// The file from which a browser resolves `link`. `None` if the link is in a custom property and must be absolute,
    /// because the property may be used in several folders.
    fn user(&self, link: &LinkReport) -> Option<Cow<'_, [u8]>> {
        let own = Some(Cow::Borrowed(&*self.path));
        let Some(base) = self.property_base(link) else {
            return own;
        };
        let written = Reference::split(Grammar::Rfc3986, &link.reference).category();
        if written == Category::RelPath {
            return own;
        }
        match base {
            Some(PropertyBase::Own) => own,
            Some(PropertyBase::FolderOf(user)) => Some(Cow::Owned(user.into())),
            // An assumed URL cannot be written.
            None => own.filter(|_| link.target.as_deref().is_some_and(is_assumed)),
        }
    }

    /// A reference to the file `to`, with the query and fragment of `target`.
    fn reference(
        &self,
        to: &[u8],
        target: &str,
        keeps_query: bool,
        link: &LinkReport,
    ) -> Option<String> {
        let target = Reference::split(Grammar::Rfc3986, target);
        let (query, fragment) = (target.query().filter(|_| keeps_query), target.fragment());
        if self.leads_to(to, query, fragment, link) {
            return Some(link.reference.clone());
        }
        // A fragment alone suffices in `a` and `area`. In other elements it may denote an element, not the document.
        let is_jump = matches!(&*link.element, "a" | "area")
            && fragment.is_none_or(|name| placeholder(&format!("#{name}")).is_none());
        let reference = match fragment {
            Some(_) if to == self.path && query.is_none() && is_jump => String::new(),
            _ => relative(&self.user(link)?, to)?,
        };
        let reference = with_parts(reference, query, fragment);
        Some(unmistakable(
            reference,
            &link.element,
            link.attribute.as_deref(),
        ))
    }

    /// True if the reference as written leads from this file to the file `to`.
    fn leads_to(
        &self,
        to: &[u8],
        query: Option<&str>,
        fragment: Option<&str>,
        link: &LinkReport,
    ) -> bool {
        let written = Reference::split(Grammar::Rfc3986, &link.reference);
        let leads_there = |base: &Base| {
            let resolved = base.resolve(&link.reference).ok();
            let below = resolved.and_then(|resolved| self.place.below(&resolved.url));
            below.is_some_and(|below| below.is_path && below.path == to)
        };
        matches!(written.category(), Category::RelPath | Category::Fragment)
            && (written.query(), written.fragment()) == (query, fragment)
            && link.base.as_deref() == self.own.as_deref()
            && [&self.on_disk, &self.to_browsers]
                .into_iter()
                .all(|base| base.as_ref().is_some_and(leads_there))
    }
}

/// `reference` with a query and a fragment.
fn with_parts(mut reference: String, query: Option<&str>, fragment: Option<&str>) -> String {
    for (mark, part) in [('?', query), ('#', fragment)] {
        if let Some(part) = part {
            reference.push(mark);
            reference.push_str(part);
        }
    }
    reference
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
    let path = names::path(&to[common..], names::Percent::Encode)?;
    // The text before a colon in the first segment would be parsed as a scheme (RFC 3986, 4.2).
    let needs_dot = path.is_empty()
        || path
            .split('/')
            .next()
            .is_some_and(|name| name.contains(':'));
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
