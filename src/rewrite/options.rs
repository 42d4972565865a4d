//! What is known of a document beside its bytes, and what is wanted.
//!
//! ```
//! use baselink::{BaseElement, Options, rewrite};
//! let options = Options { base_element: BaseElement::Keep, ..Options::at("http://a/") };
//! assert_eq!(rewrite(b"<base href=/b/>", &options).output(), b"<base href=/b/>");
//! ```
//!
//! Deliberately absent: what is done with it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::beside::Beside;
use crate::base::{BaseChain, ContentLocationUse, Outer, Retrieval};
use crate::document::Against;
use crate::error::Error;
use crate::format::Format;
use crate::report::LinkReport;
use crate::resolve::Profile;
use crate::scan::ScanOptions;

/// What is known of a document beside its bytes, and what is wanted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the bytes are: HTML, XML, a style sheet or a message. An mbox is rewritten a message at a time
    /// ([`crate::container::mbox`]).
    pub format: Format,
    /// How references are resolved.
    pub profile: Profile,
    /// The URL of the document (RFC 1808, 3.3).
    pub retrieval: Option<Retrieval>,
    /// The scheme of references that begin with `//`, where there is no base (RFC 1808, 3.4).
    pub assumed_scheme: Option<Arc<str>>,
    /// The use of `Content-Location` as a base.
    pub content_location: ContentLocationUse,
    /// What becomes of messages with a DKIM or ARC signature.
    pub dkim: Dkim,
    /// What becomes of references that are a fragment only. `None`: [`Fragments::Rewrite`], but
    /// [`Fragments::Auto`] in a page that says that it was saved, for there they jump within the copy.
    pub fragments: Option<Fragments>,
    /// What becomes of links to files that a browser saved with a page.
    pub local_copies: LocalCopies,
    /// What lies beside the document, where that is known.
    pub beside: Option<Arc<dyn Beside>>,
    /// What becomes of the `base` element.
    pub base_element: BaseElement,
    /// What is written in the place of links, where that is not their target.
    pub destination: Option<Arc<dyn Destination>>,
    /// What a scanner is told.
    pub scan: ScanOptions,
}

/// What is written in the place of a link with a target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The target, where the link is relative.
    Target,
    /// What is there.
    Kept,
    /// This reference. It is spelled for its place as a target would be.
    Reference(String),
}

/// Chooses what is written in the place of links. It is asked for each that has a target and may be
/// changed, also for absolute ones.
///
/// ```
/// use std::sync::Arc;
/// use baselink::document::Against;
/// use baselink::rewrite::{Choice, Destination};
/// use baselink::{LinkReport, Options, rewrite};
/// #[derive(Debug)]
/// struct Here;
/// impl Destination for Here {
///     fn choose(&self, link: &LinkReport, _: &Against) -> Choice {
///         let local = link.target.as_deref().and_then(|target| target.strip_prefix("http://a/"));
///         local.map_or(Choice::Target, |local| Choice::Reference(local.to_owned()))
///     }
/// }
/// let options = Options { destination: Some(Arc::new(Here)), ..Options::at("http://b/") };
/// let page = b"<a href='http://a/x?y&amp;z'></a><a href=c></a>";
/// assert_eq!(rewrite(page, &options).output(), b"<a href='x?y&amp;z'></a><a href=http://b/c></a>");
/// ```
pub trait Destination: fmt::Debug + Send + Sync {
    /// What is written for `link`, which is resolved `against` that. Its span is the one in its document.
    fn choose(&self, link: &LinkReport, against: &Against) -> Choice;

    /// The URL of a folder: a relative path, query or fragment that leads below it stays as it is. It is not asked about then.
    fn stays_below(&self) -> Option<&str> {
        None
    }
}

impl Options {
    /// The defaults, for a document retrieved from `url`, which must be absolute.
    #[must_use]
    pub fn at(url: &str) -> Self {
        Self { retrieval: Some(Retrieval::url(url)), ..Self::default() }
    }

    /// What lies beside the document. A message is no page that lies somewhere.
    pub(crate) fn beside(&self) -> Option<&dyn Beside> {
        self.beside.as_deref().filter(|_| !self.format.has_headings())
    }

    /// The surroundings of a document with the base of `chain`, if references that are resolved `against` this lead from file
    /// to file, perhaps to another host.
    pub(crate) fn layout(&self, chain: &BaseChain, against: &Against) -> Option<Arc<dyn Beside>> {
        let is_of_layout = !self.format.has_headings() && chain.is_of_layout(against);
        self.beside.clone().filter(|_| is_of_layout)
    }

    /// What becomes of references that are a fragment only, in a document with the base of `chain`.
    pub(crate) fn fragments_in(&self, chain: &BaseChain) -> Fragments {
        let was_saved = chain.saved.is_some() || chain.was_saved_with_files;
        let default = if was_saved { Fragments::Auto } else { Fragments::Rewrite };
        self.fragments.unwrap_or(default)
    }

    /// What is around the outermost document.
    pub(super) fn outer(&self) -> Outer<'_> {
        match (&self.retrieval, &self.assumed_scheme) {
            (None, Some(scheme)) => Outer::AssumedScheme(scheme),
            (retrieval, _) => Outer::Retrieval(retrieval.as_ref()),
        }
    }
}

/// What becomes of messages with a DKIM or ARC signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dkim {
    /// They are rewritten like any other, and the signature no longer holds where something changes.
    #[default]
    Rewrite,
    /// They are left.
    Keep,
}

/// What becomes of links to local copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalCopies {
    /// They are left.
    #[default]
    Keep,
    /// They are links as all others.
    Rewrite,
}

impl FromStr for LocalCopies {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        policy("local copies", &[("keep", Self::Keep), ("rewrite", Self::Rewrite)], name)
    }
}

/// What becomes of a reference that is a fragment only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fragments {
    /// It is resolved: RFC 1808 to the letter.
    #[default]
    Rewrite,
    /// It is left.
    Keep,
    /// It is resolved only where an embedded base differs from the retrieval URL: there a browser
    /// leaves the page for it, too.
    Auto,
}

impl FromStr for Fragments {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = [("rewrite", Self::Rewrite), ("keep", Self::Keep), ("auto", Self::Auto)];
        policy("fragments", &known, name)
    }
}

/// What becomes of the `base` element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaseElement {
    /// It is kept, and its own href made absolute.
    #[default]
    Absolute,
    /// It is kept as it is.
    Keep,
}

impl FromStr for BaseElement {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        policy("the base element", &[("absolute", Self::Absolute), ("keep", Self::Keep)], name)
    }
}

/// The policy called `name` for what becomes `of` something, out of those that are `known`.
fn policy<T: Copy>(of: &str, known: &[(&str, T)], name: &str) -> Result<T, Error> {
    let found = known.iter().find(|(one, _)| *one == name);
    found.map(|(_, policy)| *policy).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(one, _)| *one).collect();
        let names = names.join(", ");
        Error::new(format!("unknown policy '{name}' for {of}: it is one of {names}"))
    })
}
