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
//! use baselink_cli::collection::origin::{Origins, RootUrl};
//! use baselink_cli::collection::{Collection, Resource};
//! use baselink_cli::purpose::relocate::{LinkForm, Relocation, options, relocate};
//!
//! let from = RootUrl::new("http://a/").unwrap();
//! let mut collection = Collection::new(Origins { root_url: Some(from.clone()), ..Origins::default() });
//! collection.add(Resource::file(b"x.html"), []);
//! collection.add(Resource::file(b"c.png"), []);
//! collection.rename(&[(b"c.png".to_vec(), b"img/d.png".to_vec())]).unwrap();
//! let to = RootUrl::new("http://b/sub/").unwrap();
//! let relocation = Arc::new(Relocation::new(Arc::new(collection), from, to, LinkForm::Written));
//!
//! let page = b"<a href=x.html#s></a><a href=/x.html></a><img src=c.png?v><a href=http://a/></a><a href=//c/></a>";
//! let options = options(b"x.html", page, &relocation, &Options::at("http://a/x.html"));
//! assert_eq!(
//!     relocate(page, &options).output(),
//!     b"<a href=x.html#s></a><a href=/sub/x.html></a><img src=img/d.png?v><a href=http://b/sub/></a><a href=//c/></a>"
//! );
//! ```
//!
//! Deliberately absent: URLs that scripts assemble, and files that are not documents. If such a file may contain old
//! URLs, [`Relocation::may_be_named_in`] returns true.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use memchr::memmem;

use super::on_disk::{DiskBase, DiskPlace, is_on_network};
use super::spelling::{names_base, unmistakable};
use crate::collection::origin::{RootUrl, canonical, is_assumed, names};
use crate::collection::properties::PropertyBase;
use crate::collection::{Collection, without_query};
use baselink_rewrite::base::{Rule, SourceKind};
use baselink_rewrite::report::{LinkReport, Outcome};
use baselink_rewrite::{
    BaseElement, BaseInCopy, Choice, Destination, Fragments, Guard, LocalCopies, Options,
    Rewritten, Site, rewrite,
};
use baselink_scan::document::{Against, Role};
use baselink_text::format::Format;
use baselink_text::span::Span;
use baselink_url::reference::{Category, Grammar, Reference, decode_percent};
use baselink_url::{Base, Profile};

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
    /// `about.html` for `about`. A link out of the folder becomes absolute, or leads nowhere.
    Disk,
}

/// A move: a map from the URLs of a tree to new URLs.
#[derive(Debug)]
pub struct Relocation {
    collection: Arc<Collection>,
    from: RootUrl,
    to: RootUrl,
    form: LinkForm,
}

/// The names of files that usually contain paths of pages.
const FILES_WITH_PATHS: [&[u8]; 7] = [
    b"robots.txt",
    b"_headers",
    b"_redirects",
    b".htaccess",
    b"search_index.json",
    b"searchindex.js",
    b"llms.txt",
];

/// The new place of a target.
struct MovedTarget {
    /// The URL without query and fragment.
    url: String,
    /// True if the place is below the root.
    is_inside: bool,
    /// True if a file is known to exist at the place.
    has_file: bool,
    /// True if the path below the root changes.
    is_renamed: bool,
    /// True if the new reference has no query, because the query was part of the old name of a renamed file.
    drops_query: bool,
}

impl Relocation {
    /// Creates the move of `collection` from the root URL `from` to `to`. Files may have been
    /// [renamed](Collection::rename).
    #[must_use]
    pub fn new(collection: Arc<Collection>, from: RootUrl, to: RootUrl, form: LinkForm) -> Self {
        Self {
            collection,
            from,
            to,
            form,
        }
    }

    /// The collection that moves.
    #[must_use]
    pub fn collection(&self) -> &Arc<Collection> {
        &self.collection
    }

    /// The form of the new links.
    #[must_use]
    pub fn form(&self) -> LinkForm {
        self.form
    }

    /// The URL of the root after the move.
    #[must_use]
    pub fn to(&self) -> &RootUrl {
        &self.to
    }

    /// True if the file `name`, which is not rewritten, may refer to old URLs. Such a file contains the URL of the
    /// root, consists of its host (`CNAME`), has a name such as `robots.txt`, or is a compressed copy of another file.
    /// `text` is its contents.
    #[must_use]
    pub fn may_be_named_in(&self, name: &[u8], text: &[u8]) -> bool {
        let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let compressed = [".gz", ".br", ".zst"].iter();
        let mut plain = compressed.filter_map(|end| name.strip_suffix(end.as_bytes()));
        FILES_WITH_PATHS.contains(&last)
            || plain.any(|plain| self.collection.number_at(plain).is_some())
            || (!is_assumed(self.from.as_str())
                && self
                    .from
                    .spellings()
                    .any(|root| Self::is_root_in(root, text)))
    }

    /// True if `text` contains the URL `root`, possibly with `\/` for `/` as in JSON, or consists of its host.
    fn is_root_in(root: &str, text: &[u8]) -> bool {
        let Some((_, root)) = root.trim_end_matches('/').split_once(':') else {
            return false;
        };
        let host = Reference::split(Grammar::Rfc3986, root)
            .net_loc()
            .unwrap_or_default();
        // `//old.example.org` does not contain the root `//old.example`, and `//old.example/ab` does not contain the
        // root `//old.example/a`.
        let continues_name = |rest: &[u8]| match rest {
            [b'.', next, ..] | [next, ..] => next.is_ascii_alphanumeric() || b"-_:".contains(next),
            [] => false,
        };
        let has = |root: &[u8]| {
            memmem::find_iter(text, root).any(|at| !continues_name(&text[at + root.len()..]))
        };
        text.trim_ascii() == host.as_bytes()
            || has(root.as_bytes())
            || has(root.replace('/', "\\/").as_bytes())
    }

    /// True if the target of `link` is below the root but no file exists there.
    #[must_use]
    pub fn lacks(&self, link: &LinkReport) -> bool {
        let in_sheets = link
            .custom_property
            .iter()
            .flat_map(|property| &property.in_sheets);
        let urls = link
            .target
            .iter()
            .chain(in_sheets.map(|other| &other.target));
        urls.map(|url| self.lacks_file(url))
            .reduce(|all, one| all && one)
            == Some(true)
    }

    /// True if `url` is below the root but no file exists there.
    fn lacks_file(&self, url: &str) -> bool {
        let head = without_query(url);
        let path = head.strip_prefix(self.from.as_str()).map(str::as_bytes);
        let is_plain = path.is_some_and(|path| self.collection.plain_file(path).is_some());
        !is_plain && self.from.below_own(head).is_some() && self.file(url).is_none()
    }

    /// The number of the file to which `url` leads, and a flag that is true if the query selects it. Also finds
    /// `about.html` for `about`, and the index file of a folder for a URL without the final `/`.
    fn file(&self, url: &str) -> Option<(usize, bool)> {
        let is_own = url.starts_with(self.from.as_str());
        let own = if is_own {
            None
        } else {
            self.with_root(&self.from, url)
        };
        let url = own.as_deref().unwrap_or(url);
        let found = self.collection.find(url).file();
        let found = found.or_else(|| self.collection.find_saved(without_query(url)))?;
        Some((found.number, found.query_counts))
    }

    /// The new place of `url`. If `names_files` is true, its path is that of the file, even if the old URL omits the
    /// name of the index file or the extension.
    fn moved(&self, url: &str, names_files: bool) -> MovedTarget {
        let head = without_query(url);
        let outside = MovedTarget {
            url: head.to_owned(),
            is_inside: false,
            has_file: false,
            is_renamed: false,
            drops_query: false,
        };
        let Some(below) = self.from.below_own(head) else {
            return outside;
        };
        let needs_files = self.collection.has_renames() || self.form != LinkForm::Written;
        let found = needs_files.then(|| self.file(url)).flatten();
        let renamed = match found {
            Some((number, _)) if names_files => {
                Some(self.collection.path_in_mirror(number).to_vec())
            }
            Some((number, _)) => self.collection.renamed_as(number, &below.path),
            None => self.collection.renamed_with_folder(&below.path),
        };
        let is_renamed = renamed.is_some();
        let encoded = |path: &[u8]| names::path(path, names::Percent::Encode);
        let tail = match (renamed, below.tail) {
            (Some(path), _) => encoded(&path),
            (None, _) if below.names_root => Some(String::new()),
            (None, Some(tail)) => Some(head[tail..].to_owned()),
            (None, None) => encoded(&below.path),
        };
        let Some(tail) = tail else { return outside };
        // If the place stays the same, the URL does too, even if its scheme is `http` and that of the root is `https`.
        let stays = self.stays() && !is_renamed && self.form == LinkForm::Written;
        MovedTarget {
            url: if stays {
                head.to_owned()
            } else {
                format!("{}{tail}", self.to.as_str())
            },
            is_inside: true,
            has_file: found.is_some(),
            is_renamed,
            drops_query: is_renamed && found.is_some_and(|(_, query_counts)| query_counts),
        }
    }

    /// The new place of the file `name`, if the folder is to open from disk.
    fn place_on_disk(&self, name: &[u8]) -> Option<DiskPlace> {
        let number = self.collection.number_at(name);
        let path = number.map_or(name, |number| self.collection.path_in_mirror(number));
        let scheme = Reference::split(Grammar::Rfc3986, self.to.as_str()).scheme();
        let scheme = scheme.filter(|scheme| *scheme != "file").unwrap_or("https");
        (self.form == LinkForm::Disk).then(|| DiskPlace::new(path, scheme))
    }

    /// True if the URL of the root does not change. Only URLs of renamed files then change.
    fn stays(&self) -> bool {
        self.from.as_str() == self.to.as_str()
    }

    /// `url` with `root` in place of the old root. The part after the root keeps its bytes.
    fn with_root(&self, root: &RootUrl, url: &str) -> Option<String> {
        let tail = self.from.below_own(url)?.tail?;
        Some(format!("{}{}", root.as_str(), &url[tail..]))
    }
}

/// True if servers show the page called `name` at any URL, as they do with `404.html` and `404/index.html`. The targets
/// of its relative links would vary.
#[must_use]
pub fn is_at_any_url(name: &[u8]) -> bool {
    let path = [b"/", name].concat();
    [&b"/404.html"[..], b"/404.htm", b"/404/index.html"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Redirects from the old path of each renamed file to its new path, one per line. The syntax depends on the name of
/// the output `file`: `_redirects` by default, an nginx map for `.map` and `.conf`, and Apache's for `.htaccess`. Also
/// returns the number of old paths that are omitted, because another file has them now or the syntax cannot express
/// the redirect.
#[must_use]
pub fn redirects(relocation: &Relocation, file: &OsStr) -> (Vec<String>, usize) {
    let file = file.to_string_lossy().to_ascii_lowercase();
    let ends = |end: &str| file.ends_with(end);
    let collection = &relocation.collection;
    let renames = collection.renames();
    let new: HashSet<&[u8]> = renames.iter().map(|(_, new)| *new).collect();
    let root = Reference::split(Grammar::Rfc3986, relocation.to.as_str()).path();
    let (mut lines, mut omitted) = (Vec::new(), 0);
    for (old, _) in renames.iter().copied() {
        let Some(number) = collection.number_at(old) else {
            continue;
        };
        if new.contains(old) {
            omitted += 1;
            continue;
        }
        for form in collection.forms(old) {
            let to = collection.renamed_as(number, form).unwrap_or_default();
            let encoded = |path: &[u8]| names::path(path, names::Percent::Encode);
            let Some((from, to)) = encoded(form).zip(encoded(&to)) else {
                continue;
            };
            let (from, to) = (format!("{root}{from}"), format!("{root}{to}"));
            lines.push(match () {
                () if ends(".map") || ends(".conf") => {
                    let from = if from.contains(';') {
                        format!("\"{from}\"")
                    } else {
                        from
                    };
                    // `$` would begin the name of a variable.
                    format!("{from} {};\n", to.replace('$', "%24").replace(';', "%3B"))
                }
                () if ends(".htaccess") => match apache_redirect(&from, &to) {
                    Some(line) => line,
                    None => {
                        omitted += 1;
                        continue;
                    }
                },
                () => {
                    // `*` would match any text, and `:` would begin the name of a placeholder.
                    let [from, to] =
                        [from, to].map(|path| path.replace('*', "%2A").replace(':', "%3A"));
                    format!("{from} {to} 301\n")
                }
            });
        }
    }
    (lines, omitted)
}

/// A `RedirectMatch` between these percent-encoded paths. Apache matches the decoded old path, and percent-encodes the
/// new one, except for the marks of a query and a fragment. `None` if a path cannot be written so.
fn apache_redirect(from: &str, to: &str) -> Option<String> {
    let decoded = |path: &str| {
        let text = String::from_utf8(decode_percent(path.as_bytes())).ok()?;
        (!text.contains(char::is_control)).then_some(text)
    };
    let (from, to) = decoded(from).zip(decoded(to).filter(|to| !to.contains(['?', '#'])))?;
    let mut pattern = String::new();
    // A backslash is an escape in a quoted argument, too, and in a replacement.
    for character in from.replace('\\', r"\\").chars() {
        if r#"\.+*?()|[]{}^$""#.contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    let to = to
        .replace('\\', r"\\\\")
        .replace('"', "\\\"")
        .replace('$', "\\$");
    Some(format!("RedirectMatch 301 \"^{pattern}$\" \"{to}\"\n"))
}

/// The options with which [`relocate`] rewrites the resource called `name` with the contents `bytes`. `options`
/// contain the format, the retrieval URL, the profile and the places.
#[must_use]
pub fn options(
    name: &[u8],
    bytes: &[u8],
    relocation: &Arc<Relocation>,
    options: &Options,
) -> Options {
    let is_page = matches!(options.format, Format::Html | Format::Xhtml);
    // Feed readers, crawlers and mail programs may not know the URL of the document, so relative links could break.
    let keeps_forms = relocation.form == LinkForm::Written
        || options.format.has_headings()
        || matches!(options.format, Format::Xml | Format::JsonFeed)
        || (is_page && is_at_any_url(name));
    let must_be_absolute = match keeps_forms {
        true => Vec::new(),
        false => canonical::absolute(bytes, options.format),
    };
    let destination = Arc::new(RelocateLinks {
        relocation: Arc::clone(relocation),
        path: path_after(relocation, name),
        is_page: options.format != Format::Css,
        profile: options.profile,
        place: relocation.place_on_disk(name),
        keeps_forms,
        is_message: options.format.has_headings(),
        must_be_absolute,
        last_base: Mutex::default(),
    });
    let guard = Arc::clone(&destination) as Arc<dyn Guard>;
    let mut options = Options {
        fragments: Some(Fragments::Rewrite),
        base_element: BaseElement::Absolute,
        // The collection knows the files of the tree, so the comments in saved pages are not needed.
        local_copies: LocalCopies::Rewrite,
        beside: None,
        site: Some(Arc::clone(&destination) as Arc<dyn Site>),
        guard: destination.place.is_some().then_some(guard),
        destination: Some(destination),
        ..options.clone()
    };
    options.scan.ignore_saved = true;
    options
}

/// The path after the move of the file called `name`.
fn path_after(relocation: &Relocation, name: &[u8]) -> Vec<u8> {
    let collection = &relocation.collection;
    let number = collection.number_at(name);
    number
        .map_or(name, |number| collection.path_in_mirror(number))
        .to_vec()
}

/// Rewrites `bytes` with the `options` from [`options`](fn@options).
///
/// If the document declares a base that cannot be rewritten, the document is returned unchanged: the base of its links
/// would not move.
#[must_use]
pub fn relocate<'a>(bytes: &'a [u8], options: &Options) -> Rewritten<'a> {
    let rewritten = rewrite(bytes, options);
    let has_fixed_base = rewritten.report.links.iter().any(|link| {
        link.outcome == Outcome::NotEditable && names_base(&link.element, link.attribute.as_deref())
    });
    if !has_fixed_base {
        return rewritten;
    }
    rewrite(
        bytes,
        &Options {
            destination: Some(Arc::new(KeepEveryLink)),
            ..options.clone()
        },
    )
}

/// True if `link` is written as a relative path.
fn is_relative(link: &LinkReport) -> bool {
    Reference::split(Grammar::Rfc3986, &link.reference).category() == Category::RelPath
}

/// A destination that keeps every link.
#[derive(Debug)]
struct KeepEveryLink;

impl Destination for KeepEveryLink {
    fn choose(&self, _: &LinkReport, _: &Against) -> Choice {
        Choice::Kept
    }
}

/// The destination of the links of one document.
#[derive(Debug)]
struct RelocateLinks {
    relocation: Arc<Relocation>,
    /// The path of the document after the move.
    path: Vec<u8>,
    /// False for a style sheet.
    is_page: bool,
    profile: Profile,
    /// The new place of the document, if links must open from disk.
    place: Option<DiskPlace>,
    /// True if all links keep their form.
    keeps_forms: bool,
    is_message: bool,
    /// The spans of links that must be absolute.
    must_be_absolute: Vec<Span>,
    /// The base of the last link before and after the move.
    last_base: Mutex<Option<(Arc<str>, Arc<Base>)>>,
}

impl Destination for RelocateLinks {
    fn choose(&self, link: &LinkReport, against: &Against) -> Choice {
        if matches!(
            against,
            Against::Nothing | Against::Unknown | Against::Results
        ) {
            return Choice::Kept;
        }
        let (Some(target), Some(base)) = (&link.target, &link.base) else {
            return Choice::Kept;
        };
        let in_sheet = self.in_sheet(link);
        let (target, base) = match &in_sheet {
            Some((target, base)) => (target, &**base),
            None => (target, &**base),
        };
        let base_after = || {
            self.base_of_property(link)
                .unwrap_or_else(|| self.base_after(base))
        };
        let reference = match self.has_base_that_stays(link, against) {
            true => self.absolute(link, target),
            false => self.reference(link, target, &base_after()),
        };
        // The location of the tree is unknown, so its own URL is not written.
        if is_assumed(&reference) {
            Choice::Kept
        } else {
            Choice::Reference(reference)
        }
    }

    fn stays_below(&self) -> Option<&str> {
        let relocation = &self.relocation;
        let moves_whole = relocation.form == LinkForm::Written
            && !relocation.collection.has_renames()
            && !self.is_message;
        moves_whole.then(|| relocation.from.as_str())
    }
}

impl Site for RelocateLinks {
    fn has(&self, link: &LinkReport, _: &Against) -> bool {
        link.target
            .as_deref()
            .is_some_and(|target| self.relocation.file(target).is_some())
    }
}

impl Guard for RelocateLinks {
    fn prefix(&self, link: &LinkReport, reference: &str, base: BaseInCopy) -> Option<String> {
        let place = self.place.as_ref()?;
        let of_property = self.base_of_property(link);
        let base = if of_property.is_some() {
            BaseInCopy::Declared
        } else {
            base
        };
        let url = of_property.or_else(|| link.base.as_ref().map(|base| self.base_after(base)));
        let url = url.as_ref().map(|base| base.as_str());
        let below = url.and_then(|url| url.strip_prefix(self.relocation.to.as_str()));
        let on_disk = below.map(DiskPlace::url);
        let on_network = url.filter(|url| is_on_network(url));
        let declared = on_disk
            .as_deref()
            .or(on_network)
            .map_or(DiskBase::Inside, DiskBase::Url);
        place.prefix(link, reference, &DiskBase::of(base, declared))
    }
}

impl RelocateLinks {
    /// True if the base of the link is not rewritten: it is from the heading of a message, or an `@base` of JSON-LD.
    fn has_base_that_stays(&self, link: &LinkReport, against: &Against) -> bool {
        let is_of_heading = match link.source.kind() {
            SourceKind::Heading | SourceKind::Snapshot => true,
            SourceKind::Entity => self.is_message,
            _ => false,
        };
        is_of_heading || matches!(against, Against::Inner(_))
    }

    /// The absolute URL of the new place of `target`; the reference of the link if the place stays the same, or if it is
    /// a place in the document itself.
    fn absolute(&self, link: &LinkReport, target: &str) -> String {
        let moved = self.relocation.moved(target, false);
        let is_same = !moved.is_inside || (self.relocation.stays() && !moved.is_renamed);
        if is_same || link.reference.starts_with('#') {
            return link.reference.clone();
        }
        let rest = &target[without_query(target).len()..];
        let fragment = rest.find('#').map_or("", |at| &rest[at..]);
        format!(
            "{}{}",
            moved.url,
            if moved.drops_query { fragment } else { rest }
        )
    }

    /// The base after the move for links whose current base is `base`.
    fn base_after(&self, base: &str) -> Arc<Base> {
        let mut last = self
            .last_base
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((known, after)) = &*last
            && (ptr::eq(&**known, base) || **known == *base)
        {
            return Arc::clone(after);
        }
        // References without a path inherit the query of the base.
        let moved = self.relocation.moved(base, false);
        let query = if moved.drops_query {
            ""
        } else {
            &base[without_query(base).len()..]
        };
        let after = Arc::new(Base::new(self.profile, &format!("{}{query}", moved.url)));
        *last = Some((base.into(), Arc::clone(&after)));
        after
    }

    /// The target and base of `link` in a style sheet, if the link is relative and in a custom property. The sheet is in
    /// the only folder that uses the property; or the page links it, and only the target from this sheet is a file.
    fn in_sheet(&self, link: &LinkReport) -> Option<(String, String)> {
        let in_sheets = &link.custom_property.as_ref()?.in_sheets;
        let is_file = |url: &str| self.relocation.file(url).is_some();
        let in_user = || {
            let user = self
                .user(link, &self.relocation.from)
                .filter(|_| is_relative(link))?;
            let target = Base::new(self.profile, &user)
                .resolve(&link.reference)
                .ok()?
                .url;
            is_file(&target).then_some((target, user))
        };
        let in_linked = || {
            let other = in_sheets.iter().find(|other| is_file(&other.target))?;
            let is_own = link.target.as_deref().is_some_and(is_file);
            (!is_own).then(|| (other.target.clone(), other.base.clone()))
        };
        in_user().or_else(in_linked)
    }

    /// The base of `link` after the move if its form may change and it is in a custom property: see
    /// [`Collection::property_base`].
    fn property_base(&self, link: &LinkReport) -> Option<Option<PropertyBase>> {
        let property = link
            .custom_property
            .as_ref()
            .filter(|_| !self.keeps_forms)?;
        let (document, has_base) = ((&*self.path, self.is_page), link.rule == Rule::Embedded);
        Some(
            self.relocation
                .collection
                .property_base(&property.name, document, has_base),
        )
    }

    /// The URL below `root` of a file in the only folder that uses the custom property around `link`.
    fn user(&self, link: &LinkReport, root: &RootUrl) -> Option<String> {
        let Some(PropertyBase::FolderOf(user)) = self.property_base(link)? else {
            return None;
        };
        Some(format!(
            "{}{}",
            root.as_str(),
            names::path(&user, names::Percent::Encode)?
        ))
    }

    /// The base after the move if `link` is in a custom property that is used only in another folder.
    fn base_of_property(&self, link: &LinkReport) -> Option<Arc<Base>> {
        let user = self
            .user(link, &self.relocation.to)
            .filter(|_| !is_relative(link))?;
        Some(Arc::new(Base::new(self.profile, &user)))
    }

    /// The new reference of `link`, whose target is `target` now. `base` is the base after the move.
    fn reference(&self, link: &LinkReport, target: &str, base: &Base) -> String {
        let reference = &*link.reference;
        let mut moved = self.relocation.moved(target, false);
        let (head, rest) = reference.split_at(without_query(reference).len());
        let rest = match rest.find('#') {
            _ if !moved.drops_query => rest,
            Some(fragment) => &rest[fragment..],
            None => "",
        };
        let written = match Reference::split(Grammar::Rfc3986, reference).category() {
            Category::Fragment | Category::Empty => Category::RelPath,
            category => category,
        };
        let form = self.form(link, &moved, written);
        let is_base = names_base(&link.element, link.attribute.as_deref());
        let is_on_disk = self.place.is_some();
        let is_relative = form == Category::RelPath && moved.is_inside;
        let becomes_relative = is_relative && !(self.keeps_forms && form == written);
        if becomes_relative && is_on_disk && !is_base {
            moved = self.relocation.moved(target, true);
        }
        let is_kept = form == written
            && self.leads_there(head, written, &moved, base)
            && !(is_relative
                && (is_on_disk || becomes_relative)
                && self.climbs_out(head, &moved, base));
        if is_kept {
            return reference.to_owned();
        }
        let head = self.head(head, (written, form), &moved, base);
        let reference = format!("{head}{rest}");
        match Reference::split(Grammar::Rfc3986, &reference).scheme() {
            Some(_) => reference,
            None => unmistakable(reference, &link.element, link.attribute.as_deref()),
        }
    }

    /// The form of the new reference for `link`, whose present form is `written`.
    fn form(&self, link: &LinkReport, moved: &MovedTarget, written: Category) -> Category {
        let is_base = names_base(&link.element, link.attribute.as_deref());
        // An absolute URL stays absolute if no file exists for it, because the site may have the target.
        let may_be_relative = moved.has_file || is_base || written != Category::AbsoluteUrl;
        let is_open_graph = link.element == "meta" && link.role == Role::Metadata;
        let is_linked_data =
            link.element == "script" && link.attribute.is_none() && link.role == Role::Metadata;
        let must_be_absolute =
            || is_open_graph || is_linked_data || self.must_be_absolute.contains(&link.span);
        // A property that is used in several folders needs a reference that means the same in all of them. On disk, only
        // a relative one means anything.
        let is_disk = self.place.is_some();
        let has_several = || !is_disk && self.property_base(link) == Some(None);
        let keeps_form = self.keeps_forms
            || !moved.is_inside
            || !may_be_relative
            || must_be_absolute()
            || has_several();
        // From disk, other forms would lead out of the folder.
        let has_url = !is_assumed(&moved.url);
        match (keeps_form, is_disk) {
            (false, true)
                if has_url && !moved.has_file && !is_base && written != Category::RelPath =>
            {
                Category::AbsoluteUrl
            }
            (false, _) => Category::RelPath,
            (true, false) => written,
            (true, true) if written == Category::RelPath && moved.is_inside => written,
            (true, true) if has_url => Category::AbsoluteUrl,
            (true, true) => Category::RelPath,
        }
    }

    /// True if a reference leads to the new place of its target. `head` is the part of the reference before query and
    /// fragment.
    fn leads_there(&self, head: &str, written: Category, moved: &MovedTarget, base: &Base) -> bool {
        match (written, head) {
            // An absolute URL means the same everywhere.
            (Category::AbsoluteUrl, _) => {
                !moved.is_inside || (self.relocation.stays() && !moved.is_renamed)
            }
            (_, "") => without_query(base.as_str()) == moved.url,
            _ => base.resolve(head).is_ok_and(|it| it.url == moved.url),
        }
    }

    /// True if a relative reference reaches its target only because it has more `..` segments than folders to leave. At
    /// the root of a site, surplus segments are ignored (RFC 3986, 5.2.4). `head` is the part of the reference before
    /// query and fragment.
    fn climbs_out(&self, head: &str, moved: &MovedTarget, base: &Base) -> bool {
        if !head.contains("..") && !head.contains("%2") {
            return false;
        }
        let to = self.relocation.to.as_str();
        let deep = |url: &str| {
            Some(format!(
                "{}{}",
                RootUrl::assumed().as_str(),
                url.strip_prefix(to)?
            ))
        };
        let Some((base, wanted)) = deep(base.as_str()).zip(deep(&moved.url)) else {
            return false;
        };
        !Base::new(self.profile, &base)
            .resolve(head)
            .is_ok_and(|it| it.url == wanted)
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
        let absolute = match written {
            _ if moved.is_renamed || !moved.is_inside => None,
            Category::AbsoluteUrl => relocation.with_root(&relocation.to, head),
            Category::NetPath | Category::AbsPath => {
                let from = Reference::split(Grammar::Rfc3986, relocation.from.as_str());
                let host = if written == Category::AbsPath {
                    from.net_loc()
                } else {
                    None
                };
                let host = host.map(|host| format!("//{host}")).unwrap_or_default();
                let scheme = from.scheme().unwrap_or_default();
                relocation.with_root(&relocation.to, &format!("{scheme}:{host}{head}"))
            }
            _ => None,
        };
        let resolved = |reference: &str| base.resolve(reference).ok().map(|target| target.url);
        let is_it = |url: &String| *url == moved.url || resolved(url).as_ref() == Some(&moved.url);
        let absolute = absolute.filter(is_it).unwrap_or_else(|| moved.url.clone());
        let url = Reference::split(Grammar::Rfc3986, &absolute);
        let scheme_end = url.scheme().map_or(0, |scheme| scheme.len() + 1);
        let shorter = match form {
            Category::AbsPath => Some(&absolute[url.path_span.start..]),
            Category::NetPath => Some(&absolute[scheme_end..]),
            _ => None,
        };
        let leads_there = |it: &&str| resolved(it).as_ref() == Some(&moved.url);
        shorter
            .filter(leads_there)
            .map(str::to_owned)
            .unwrap_or(absolute)
    }
}
