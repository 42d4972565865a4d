//! The options of a rewrite: information about the document beyond its bytes, and the desired result.
//!
//! ```
//! use baselink_rewrite::{BaseElement, Options, rewrite};
//! let options = Options { base_element: BaseElement::Keep, ..Options::at("http://a/") };
//! assert_eq!(rewrite(b"<base href=/b/>", &options).output(), b"<base href=/b/>");
//! ```
//!
//! Deliberately absent: the use of the options.

use std::{fmt, sync::Arc};

use baselink_scan::{Against, Program, Role, Saved, ScanOptions};
use baselink_text::{Charset, Edits, Format, named, parse_by_name};
use baselink_url::{Resolver, Splice};

use super::beside::NearbyFiles;
use crate::{
    base::{BaseChain, ContentLocationUse, Outer, Retrieval, Source},
    report::{Lack, LinkReport},
};

/// The information about a document beyond its bytes, and the desired result.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format of the bytes. An mbox is rewritten one message at a time ([`crate::container::mbox`]).
    pub format: Format,
    /// The rules by which references are resolved.
    pub resolver: Resolver,
    /// The URL of the document (RFC 1808, 3.3).
    pub retrieval: Option<Retrieval>,
    /// The scheme of references that begin with `//` if there is no base (RFC 1808, 3.4).
    pub assumed_scheme: Option<Arc<str>>,
    /// The use of `Content-Location` as a base.
    pub content_location: ContentLocationUse,
    /// True if the notes of HTTrack in the pages of its own messages count.
    pub trusts_notes: bool,
    /// The treatment of messages with a DKIM or ARC signature.
    pub dkim: Dkim,
    /// The treatment of references that consist of a fragment only. `None` means [`Fragments::Rewrite`], except in
    /// a page that records that it was saved. There it means [`Fragments::Auto`], because such references jump
    /// within the copy.
    pub fragments: Option<Fragments>,
    /// The treatment of links to files that a browser saved with a page.
    pub local_copies: LocalCopies,
    /// The files next to the document, if known.
    pub beside: Option<Arc<dyn NearbyFiles>>,
    /// The treatment of the `base` element.
    pub base_element: BaseElement,
    /// Chooses the replacement of each link. If `None`, the replacement is the target.
    pub destination: Option<Arc<dyn Destination + Send + Sync>>,
    /// True if a link is only counted if the destination has kept an earlier one to the same place. The choice must not
    /// depend on fragments, nor among links that navigate on anything but the reference and its base.
    pub counts_kept: bool,
    /// The site that the document belongs to, if known.
    pub site: Option<Arc<dyn Site>>,
    /// Keeps every link of a copy from leading out of its folder. If `None`, a link may lead anywhere.
    pub guard: Option<Arc<dyn Guard>>,
    /// The character encoding in which the document was retrieved, if the bytes are in another one. It encodes queries.
    pub query_charset: Option<Charset>,
    /// The options of the scanners.
    pub scan: ScanOptions,
}

/// The resources of a folder or an archive. Some places hold URLs or other text
/// ([`Certainty`](baselink_scan::Certainty)); a value that leads to a resource is a link.
pub trait Site: fmt::Debug + Send + Sync {
    /// True if `link`, which is resolved `against` this base, leads to a resource.
    fn has(&self, link: &LinkReport, against: &Against) -> bool;
}

/// The replacement for a link that has a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The target if the link is relative; otherwise no change.
    Target,
    /// The reference as it is.
    Kept,
    /// This reference, escaped for its place as a target would be.
    Reference(String),
    /// This reference, although it leads nowhere. The link is reported with [`Reason::Nowhere`](crate::report::Reason), or as
    /// [`Outcome::NoBase`](crate::report::Outcome) if it is unchanged.
    Nowhere(String),
}

/// A link that is resolved against the base of the document, and on whose target all resolvers agree. It embeds a resource or
/// navigates to one ([`Role`](baselink_scan::Role)).
#[derive(Debug)]
pub struct PlainLink<'a> {
    /// The reference, which is relative.
    pub reference: &'a str,
    /// The target, in two parts.
    pub target: Splice<'a>,
    /// The role of the link in the document.
    pub role: Role,
}

impl PlainLink<'_> {
    /// The target.
    #[must_use]
    pub fn url(&self) -> String {
        [self.target.prefix, &self.reference[self.target.dropped..]].concat()
    }
}

/// A URL that leads nowhere (CSS Values 4, 4.5.3). The reference that it replaces follows as its fragment.
pub const NOWHERE: &str = "about:invalid#";

/// Keeps the links of a document inside the folder that contains its copy.
pub trait Guard: fmt::Debug + Send + Sync {
    /// The text to insert before `reference`, so that `link` does not lead out of the folder: a scheme, or a URL that leads
    /// nowhere. `None` if `reference` may be written as it is.
    fn prefix(&self, link: &LinkReport, reference: &str, base: BaseInCopy) -> Option<String>;
}

/// The declaration, if any, of the base of a link.
#[derive(Clone, Copy, Debug)]
pub enum BaseInCopy {
    /// No declaration: the base is the URL of the document.
    Undeclared,
    /// A `base` element or an `xml:base` before the link, or a header field.
    Declared,
    /// A declaration that readers may not know yet when they follow the link.
    DeclaredLater,
    /// A `codebase`, or an `@base` of JSON-LD.
    Inner,
    /// The base of any document, because CSS may substitute the reference into a value there (CSS Custom Properties 1, 3).
    Anywhere,
}

/// Chooses the replacement for each link. It is called for every link that has a target and may be changed,
/// including absolute links.
///
/// ```
/// use std::sync::Arc;
/// use baselink_scan::Against;
/// use baselink_rewrite::{Choice, Destination, Lack};
/// use baselink_rewrite::{report::LinkReport, Options, rewrite};
/// #[derive(Debug)]
/// struct Here;
/// impl Destination for Here {
///     fn choose(&self, link: &LinkReport, _: &Against) -> (Choice, Option<Lack>) {
///         let local = link.target.as_deref().and_then(|target| target.strip_prefix("http://a/"));
///         (local.map_or(Choice::Target, |local| Choice::Reference(local.to_owned())), None)
///     }
/// }
/// let options = Options { destination: Some(Arc::new(Here)), ..Options::at("http://b/") };
/// let page = b"<a href='http://a/x?y&amp;z'></a><a href=c></a>";
/// assert_eq!(rewrite(page, &options).output(), b"<a href='x?y&amp;z'></a><a href=http://b/c></a>");
/// ```
pub trait Destination: fmt::Debug {
    /// The replacement for `link`, which is resolved `against` this base, and the need for its target if the site lacks
    /// it. The span of the link is an offset in its document.
    fn choose(&self, link: &LinkReport, against: &Against) -> (Choice, Option<Lack>);

    /// True if [`choose`](Self::choose) is known to keep `link`, a link that navigates and is resolved against the retrieval URL.
    fn keeps(&self, _link: &PlainLink<'_>) -> bool {
        false
    }

    /// True if every declared base in the document becomes empty.
    fn empties_bases(&self) -> bool {
        false
    }

    /// True if references may be as long as files. The destination then limits their lengths.
    fn embeds(&self) -> bool {
        false
    }

    /// The edits of the document `bytes` after which images with the chosen references have their sizes. They change no URL.
    fn descriptors(&self, _bytes: &[u8]) -> Edits {
        Edits::default()
    }
}

/// The options of a file, and the choice of the replacement of each of its links.
pub type FileRequest<'a> = (&'a Options, Option<&'a dyn Destination>);

impl Options {
    /// The defaults, for a document retrieved from `url`, which must be absolute.
    pub fn at(url: &str) -> Self {
        Self {
            retrieval: Some(Retrieval::url(url)),
            ..Self::default()
        }
    }

    /// The URL in `saved`, the note of HTTrack in a page of its own message. The parts of such a message have no other URL.
    pub fn noted(&self, saved: Option<&Saved>) -> Option<Retrieval> {
        let saved = saved.filter(|saved| self.trusts_notes && saved.program == Program::HtTrack)?;
        let url = saved.url(self.assumed_scheme.as_deref().unwrap_or("https"));
        (saved.disbelief().is_none()).then(|| Retrieval::of(url.into_owned(), Source::SavedFrom))
    }

    /// The request with these options alone.
    pub(super) fn request(&self) -> FileRequest<'_> {
        let destination = self.destination.as_deref();
        (self, destination.map(|destination| destination as _))
    }

    /// The files next to the document; `None` for a message, which is not stored next to files that it links to.
    pub(crate) fn beside(&self) -> Option<&dyn NearbyFiles> {
        self.beside
            .as_deref()
            .filter(|_| !self.format.has_headings())
    }

    /// The files around a document with the base of `chain`, if references resolved `against` this base lead from file
    /// to file in a tree of several hosts.
    pub(crate) fn layout(
        &self,
        chain: &BaseChain,
        against: &Against,
    ) -> Option<Arc<dyn NearbyFiles>> {
        let is_of_layout = !self.format.has_headings() && chain.is_of_layout(against);
        self.beside.clone().filter(|_| is_of_layout)
    }

    /// The treatment of references that consist of a fragment only, in a document with the base of `chain`.
    pub(crate) fn fragments_in(&self, chain: &BaseChain) -> Fragments {
        let was_saved = chain.saved.is_some() || chain.was_saved_with_files;
        let default = if was_saved {
            Fragments::Auto
        } else {
            Fragments::Rewrite
        };
        self.fragments.unwrap_or(default)
    }

    /// The surroundings of the outermost document.
    pub(super) fn outer(&self) -> Outer<'_> {
        match (&self.retrieval, &self.assumed_scheme) {
            (None, Some(scheme)) => Outer::AssumedScheme(scheme),
            (retrieval, _) => Outer::Retrieval(retrieval.as_ref()),
        }
    }
}

/// The treatment of messages with a DKIM or ARC signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dkim {
    /// Rewrites them like any other message. A signature becomes invalid if signed bytes change.
    #[default]
    Rewrite,
    /// Leaves them unchanged.
    Keep,
}

named! {
    /// The treatment of links to local copies.
    #[derive(Default)]
    pub enum LocalCopies {
        /// Leaves them unchanged.
        #[default]
        Keep = "keep",
        /// Treats them like any other link.
        Rewrite = "rewrite",
    }
}

named! {
    /// The treatment of references that consist of a fragment only.
    #[derive(Default)]
    pub enum Fragments {
        /// Resolves them, as RFC 1808 requires.
        #[default]
        Rewrite = "rewrite",
        /// Leaves them unchanged.
        Keep = "keep",
        /// Leaves them unchanged unless an embedded base differs from the retrieval URL. With such a base, they lead a
        /// browser to another page.
        Auto = "auto",
    }
}

named! {
    /// The treatment of the `base` element.
    #[derive(Default)]
    pub enum BaseElement {
        /// Keeps the element, and makes its href absolute.
        #[default]
        Absolute = "absolute",
        /// Leaves the element unchanged.
        Keep = "keep",
    }
}

parse_by_name!(
    LocalCopies: "unknown policy '{}' for local copies; use one of {}",
    Fragments: "unknown policy '{}' for fragments; use one of {}",
    BaseElement: "unknown policy '{}' for the base element; use one of {}",
);
