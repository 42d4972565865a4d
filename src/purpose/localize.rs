//! An offline mirror: links whose target is among the files of a tree lead there, all others to the network.
//!
//! A target (RFC 1808, 4) is looked for by the retrieval URLs of files, and by the names that programs give to
//! what they save ([`Collection::find_saved`]). What is there is written as a relative reference to its file, what
//! is not as its absolute URL. Both hold only without another base, so every `base` element gets an empty
//! `href`, and every `xml:base` an empty value: that is the URL of the file itself (HTML, 4.2.3; XML Base, 4.2).
//! A reference that is a fragment then means what it meant.
//!
//! ```
//! use std::sync::Arc;
//! use baselink::Options;
//! use baselink::collection::{Collection, Resource};
//! use baselink::purpose::localize::{localize, options};
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
//! Deliberately absent: downloads. What is not among the files stays on the network.

use std::borrow::Cow;
use std::sync::Arc;

use crate::base::SaidBy;
use crate::collection::origin::{RootUrl, canonical, names};
use crate::collection::{Collection, FoundFile, split_name, stem, url_below, without_query};
use crate::document::Against;
use crate::layer::digest::ends_with_md5;
use crate::purpose::spelling::{names_base, unmistakable};
use crate::reference::{Category, Grammar, Reference, decode_percent_lossy};
use crate::report::{LinkReport, Outcome, Reason};
use crate::resolve::{Base, Profile};
use crate::rewrite::copies::stem_of_companion;
use crate::rewrite::{BaseElement, Choice, Destination, Fragments, Options, Rewritten, rewrite};
use crate::scan::xml::vocabulary::is_location;
use crate::span::Span;

/// The options with which [`localize`] rewrites the resource called `name` among those of `collection`. `options` say the
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
    let destination = Local { collection, path, own, place, on_disk, to_browsers, is_message };
    Options {
        fragments: Some(Fragments::Rewrite),
        base_element: BaseElement::Absolute,
        destination: Some(Arc::new(destination)),
        ..options.clone()
    }
}

/// The URL of the document itself, as bases are reported.
fn own(options: &Options) -> Option<String> {
    let retrieval = options.retrieval.as_ref()?;
    Some(Base::new(options.profile, &retrieval.url).as_str().to_owned())
}

/// Rewrites `bytes` with the `options` that [`options`](fn@options) gives.
///
/// Where the document declares a base that cannot be taken away, every relative link becomes absolute, as
/// `rewrite` has it.
#[must_use]
pub fn localize<'a>(bytes: &'a [u8], options: &Options) -> Rewritten<'a> {
    let options = beside_canonical(bytes, options);
    let options = options.as_ref();
    let rewritten = rewrite(bytes, options);
    let is_message = options.format.has_headings();
    let own = own(options);
    let has_base = rewritten.report.links.iter().any(|link| {
        if names_base(&link.element, link.attribute.as_deref()) {
            // Where no xml:base counts it need not be taken away.
            return !link.in_output().is_empty() && link.reason != Some(Reason::BaseElement);
        }
        // What cannot be written anew would mean something else.
        link.outcome == Outcome::NotEditable && link.base.as_deref() != own.as_deref()
    });
    if is_message || !has_base {
        return rewritten;
    }
    rewrite(bytes, &Options { destination: None, ..options.clone() })
}

/// `options` that leave the canonical URL of a page as it is. It says where the page is best known (RFC 6596), which is not
/// in the mirror.
fn beside_canonical<'o>(bytes: &[u8], options: &'o Options) -> Cow<'o, Options> {
    let says = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    let may_say = says(b"anonical") || says(b"ANONICAL");
    let named = may_say.then(|| canonical::named(bytes, options.format)).flatten();
    match (&options.destination, named) {
        (Some(others), Some(canonical::Named { span, .. })) => {
            let destination = BesideCanonical { span, others: Arc::clone(others) };
            Cow::Owned(Options { destination: Some(Arc::new(destination)), ..options.clone() })
        }
        _ => Cow::Borrowed(options),
    }
}

/// Chooses for all links but the one at `span`.
#[derive(Debug)]
struct BesideCanonical {
    span: Span,
    others: Arc<dyn Destination>,
}

impl Destination for BesideCanonical {
    fn choose(&self, link: &LinkReport, against: &Against) -> Choice {
        match link.span == self.span {
            true => Choice::Target,
            false => self.others.choose(link, against),
        }
    }
}

/// Chooses for the links of one file.
#[derive(Debug)]
struct Local {
    collection: Arc<Collection>,
    /// The file in the mirror, below the root.
    path: Vec<u8>,
    /// Its retrieval URL, as bases are reported.
    own: Option<String>,
    /// The root of a tree in which only paths count.
    place: RootUrl,
    /// The URL of the file there.
    on_disk: Option<Base>,
    /// The URL of the file as browsers parse it, which read the mirror.
    to_browsers: Option<Base>,
    is_message: bool,
}

impl Destination for Local {
    fn choose(&self, link: &LinkReport, against: &Against) -> Choice {
        let has_own_base = link.base.as_deref() == self.own.as_deref();
        if self.is_message {
            // What a header field declares is still there for a reader.
            if !has_own_base || names_base(&link.element, link.attribute.as_deref()) {
                return Choice::Target;
            }
        } else if names_base(&link.element, link.attribute.as_deref()) {
            return Choice::Reference(String::new());
        }
        // In a page that was saved it jumps within the copy, where the base that the page had is not in force.
        if link.source.said_by() == SaidBy::Note && link.reference.starts_with('#') {
            return Choice::Kept;
        }
        // A folder is meant, for other references or for the pages of a web app; or the protocol of sitemaps wants an
        // absolute URL.
        let wants_absolute = match link.attribute.as_deref() {
            None => link.element == "scope" || is_location(&link.element),
            Some(attribute) => attribute == "codebase",
        };
        if wants_absolute {
            return Choice::Target;
        }
        match against {
            Against::Codebase(_)
            | Against::ElementCodebase(..)
            | Against::Inner(_)
            | Against::Nothing
            | Against::Unknown => return Choice::Target,
            Against::Document
            | Against::Fallback
            | Against::Retrieval
            | Against::Element(_)
            | Against::DocumentEntity => {}
        }
        let is_relative = link.outcome == Outcome::Rewritten;
        let Some(target) = link.target.as_deref() else { return Choice::Target };
        let by_name = || {
            let already = (is_relative && has_own_base).then(|| self.local_already(link)).flatten();
            already.or_else(|| self.local_copy(target, link))
        };
        let saved = self.saved(target, link);
        let local =
            saved.or_else(|| if self.collection.has_only_urls() { None } else { by_name() });
        // An absolute URL of a place in a message, or on the disk of whoever wrote it, means nothing here.
        let is_nowhere = ["thismessage:", "file:"].iter().any(|scheme| target.starts_with(scheme));
        match local {
            Some(reference) => Choice::Reference(reference),
            None if is_nowhere && is_relative && self.collection.has_only_urls() => Choice::Kept,
            None => Choice::Target,
        }
    }
}

impl Local {
    /// A reference to the file that was saved for `target`.
    fn saved(&self, target: &str, link: &LinkReport) -> Option<String> {
        let bare = target.split('#').next().unwrap_or_default();
        let is_own = self.own.as_deref().and_then(|own| own.split('#').next()) == Some(bare);
        if is_own {
            return self.reference(&self.path, target, false, link);
        }
        let found = self.collection.find_saved(target)?;
        if let Some(path) = self.collection.path_beyond_link(found, target, None) {
            // Whether it is there nobody knows: what leads to the network goes on leading there.
            let is_absolute = link.outcome == Outcome::Absolute;
            return if is_absolute { None } else { self.reference(&path, target, true, link) };
        }
        self.reference(
            self.collection.path_in_mirror(found.number),
            target,
            !found.query_counts,
            link,
        )
    }

    /// A reference to the file to which this link already leads, as browsers write it into the pages that they save, and as
    /// [`localize`] does.
    fn local_already(&self, link: &LinkReport) -> Option<String> {
        let written = Reference::split(Grammar::Rfc3986, &link.reference);
        if written.category() != Category::RelPath {
            return None;
        }
        let mut leads_to = self.file_on_disk(&link.reference);
        if let Some(query) = written.query() {
            // wget (1.21) does not escape the `?` of a name where it converts links, but with --adjust-extension.
            let named =
                (!written.path().is_empty()).then(|| link.reference.replacen('?', "%3F", 1));
            if let Some((found, url)) = named.and_then(|named| self.file_on_disk(&named)) {
                let path = self.collection.path_in_mirror(found.number);
                return self.reference(path, &url, false, link);
            }
            // A page with a query is another page, unless HTTrack named the file after the query.
            leads_to = leads_to.filter(|(found, _)| {
                !(written.path().is_empty() || self.collection.is_page(found.number))
                    || self.is_named_after(found.number, query)
            });
        }
        let (found, url) = leads_to?;
        let beyond = self.collection.path_beyond_link(found, &url, Some(&self.place));
        let path = self.collection.path_in_mirror(found.number);
        self.reference(beyond.as_deref().unwrap_or(path), &url, true, link)
    }

    /// True if the name of a file has the digest of `query` in it.
    fn is_named_after(&self, number: usize, query: &str) -> bool {
        let (_, name) = split_name(self.collection.path(number));
        let stem = stem(name);
        ends_with_md5(stem, query.as_bytes()) || ends_with_md5(stem, &names::decode(query))
    }

    /// A reference to a local copy, for a reference that a base or a mistake made absolute: `https://a.example/x_files/y.png`
    /// never existed, and the file `x_files/y.png` does. `None` if the file does not exist.
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
        self.reference(self.collection.path_in_mirror(found.number), &url, true, link)
    }

    /// The file to which `reference` leads from where this one lies, and its URL in a tree in which only paths count.
    fn file_on_disk(&self, reference: &str) -> Option<(FoundFile, String)> {
        let url = self.on_disk.as_ref()?.resolve(reference).ok()?.url;
        Some((self.collection.find_below(&self.place, &url).file()?, url))
    }

    /// A reference to the file `to`, with what `target` has after its path.
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
        // Elsewhere a fragment alone may mean an element, and not the document.
        let is_jump = matches!(&*link.element, "a" | "area");
        let mut reference = match fragment {
            Some(_) if to == self.path && query.is_none() && is_jump => String::new(),
            _ => relative(&self.path, to)?,
        };
        for (mark, part) in [('?', query), ('#', fragment)] {
            if let Some(part) = part {
                reference.push(mark);
                reference.push_str(part);
            }
        }
        Some(unmistakable(reference, &link.element, link.attribute.as_deref()))
    }

    /// True if the reference, as it is written, leads from where this file lies to the file `to`.
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

/// The reference from the file `from` to the file `to`, both below the root; `None` where no URL can have
/// such a name.
fn relative(from: &[u8], to: &[u8]) -> Option<String> {
    let folder = memchr::memrchr(b'/', from).map_or(0, |at| at + 1);
    let common = from[..folder].iter().zip(to).take_while(|(a, b)| a == b).count();
    let common = memchr::memrchr(b'/', &from[..common]).map_or(0, |at| at + 1);
    let mut reference = "../".repeat(memchr::memchr_iter(b'/', &from[common..]).count());
    let path = names::path(&to[common..], names::Percent::Encode)?;
    // RFC 3986, 4.2: it would be a scheme.
    if reference.is_empty() && path.split('/').next().is_some_and(|name| name.contains(':')) {
        reference.push_str("./");
    }
    Some(reference + &path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_file_to_file_is_the_shortest() {
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
            assert_eq!(relative(from.as_bytes(), to.as_bytes()).as_deref(), Some(expected));
        }
        assert_eq!(relative(b"a.html", b"caf\xE9").as_deref(), Some("caf%E9"));
    }
}
