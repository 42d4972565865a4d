//! The outcome of every link in a file, as data to print, count or check.
//!
//! ```
//! use baselink_rewrite::{Options, report::Outcome, report::Reason, rewrite};
//! let report = rewrite(b"<img src=''><img src=x>", &Options::at("http://a/")).report;
//! assert_eq!(report.links[0].outcome, Outcome::Left);
//! assert_eq!(report.links[0].reason, Some(Reason::Empty));
//! assert_eq!(report.count(Outcome::Rewritten), 1);
//! ```
//!
//! Deliberately absent: text for people, which the command line provides.

use std::{borrow::Cow, sync::Arc};

use baselink_scan::{Kind, Role};
use baselink_text::{Charset, Diagnostic, Format, Span, display_by_name, named};
use baselink_url::Resolver;

use crate::base::{BaseChain, Rule, Source, lacks_only_scheme};

named! {
    /// The outcome of a link.
    #[derive(PartialOrd, Ord)]
    pub enum Outcome {
        /// The link was relative and is now absolute.
        Rewritten = "rewritten",
        /// The link was absolute.
        Absolute = "absolute",
        /// The link is relative, and the document has no base.
        NoBase = "no-base",
        /// The link was kept unchanged, for a [`Reason`].
        Left = "left",
        /// The link has a target that cannot be written in its position.
        NotEditable = "not-editable",
    }
}

named! {
    /// The reason why a link was kept unchanged or could not be edited.
    #[derive(PartialOrd, Ord)]
    pub enum Reason {
        /// The link names an element of its own document by id, and must continue to do so.
        IdReference = "id-reference",
        /// The link is empty, and in its position an empty link does not mean the base.
        Empty = "empty",
        /// A template engine will replace the link.
        Placeholder = "placeholder",
        /// The link is a fragment, and the option [`Fragments`](crate::Fragments) keeps it.
        Fragment = "fragment",
        /// The link contains an XML entity that is external or was not read.
        Entity = "entity",
        /// The base cannot resolve relative references, or it is the base of the documents that an XSLT style sheet
        /// produces.
        BaseUnusable = "base-unusable",
        /// The resolver cannot resolve the link.
        Unresolvable = "unresolvable",
        /// The link is the href of the `base` element, which the option [`BaseElement`](crate::BaseElement)
        /// governs.
        BaseElement = "base-element",
        /// The link leads to a file that a browser saved with the page.
        LocalCopy = "local-copy",
        /// The attribute has no value that could be replaced.
        NoValue = "no-value",
        /// The link begins or ends inside an escape that decodes as a unit.
        Escape = "escape",
        /// The new text would include bytes that could not be decoded.
        Undecodable = "undecodable",
        /// The document's encoding cannot represent the target, or the change could alter the encoding that readers
        /// detect.
        Encoding = "encoding",
        /// The link is in signed or encrypted content (RFC 1847), which must not change.
        Signed = "signed",
        /// The link is in a message with a DKIM or ARC signature, and such messages are skipped.
        Dkim = "dkim",
        /// The link refers to another part of its message by a relative `Content-Location` (RFC 2557, 8.2), or it is
        /// the href of a `base` element and other links refer to such a part through it.
        SiblingPart = "sibling-part",
        /// The link is a relative `Content-Location`, by which other parts refer to its part (RFC 2557, 8.2).
        Label = "label",
        /// The link is the `href` of a `base` element. If it were absolute, it would become the base of links that
        /// stay relative.
        BecomesBase = "becomes-base",
        /// The transfer encoding of the part cannot represent the change.
        Transfer = "transfer",
        /// The changed message did not read back as expected, so the whole message was kept unchanged.
        Doubt = "doubt",
        /// The link is in a custom property of CSS, leads elsewhere from a style sheet of its page, and the page itself
        /// does not use the property.
        CustomProperty = "custom-property",
        /// Absolute links would make the message many times as long, so the links of the part were kept unchanged.
        Growth = "growth",
        /// The caller kept the link unchanged ([`Choice::Kept`](crate::Choice::Kept)).
        Kept = "kept",
        /// The link already has the text that was chosen for it.
        Chosen = "chosen",
        /// The link can lead neither to a file of the copy nor to a URL that may replace it. It was rewritten and now
        /// leads nowhere.
        Nowhere = "nowhere",
    }
}

impl Reason {
    /// True if the link keeps its meaning or was kept on request.
    pub fn is_intended(self) -> bool {
        matches!(
            self,
            Self::IdReference
                | Self::Empty
                | Self::Placeholder
                | Self::Fragment
                | Self::BaseElement
                | Self::LocalCopy
                | Self::Dkim
                | Self::Kept
                | Self::Chosen
        )
    }
}

/// The need for a target that a site lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The site should have it.
    Missing,
    /// The site has an alternative, and a document needs only one of them.
    Served,
}

/// A link and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LinkReport {
    /// The name of the entity that contains the link.
    pub entity: Arc<str>,
    /// The bytes of the link in the file. If the link is encoded, the bytes that contain it.
    #[serde(flatten)]
    pub span: Span,
    /// The name of the element.
    pub element: Cow<'static, str>,
    /// The name of the attribute; `None` for text.
    pub attribute: Option<Cow<'static, str>>,
    /// The decoded reference before any change.
    pub reference: String,
    /// The base against which the link is resolved; `None` if there is none.
    pub base: Option<Arc<str>>,
    /// The rule that determined the base.
    pub rule: Rule,
    /// The source of the base.
    pub source: Source,
    /// The target; `None` if it is unknown.
    pub target: Option<String>,
    /// The role of the link in the document.
    pub role: Role,
    /// The kind of target that the place of the link asks for.
    pub kind: Kind,
    /// The value of the attribute `rel` of the element, unless it is longer than 1,000 bytes.
    pub rel: Option<Arc<str>>,
    /// The decoded new reference, if percent-encoding makes it differ from the target. This happens where a
    /// character has no other escape, such as in lists separated by white space.
    #[serde(skip)]
    pub written: Option<String>,
    /// The outcome of the link.
    pub outcome: Outcome,
    /// The reason for [`Outcome::Left`] and [`Outcome::NotEditable`], and [`Reason::Nowhere`] for
    /// [`Outcome::Rewritten`].
    pub reason: Option<Reason>,
    /// True if another resolver resolves the link to a different target, apart from spelling, or if only some
    /// resolvers find a target. Independent of the outcome.
    #[serde(skip)]
    pub differs: bool,
    /// The other resolvers with a different target, in the order of [`Resolver::ALL`].
    #[serde(skip)]
    pub(crate) differs_under: [bool; Resolver::ALL.len()],
    /// The custom property of CSS whose value contains the link.
    #[doc(hidden)]
    #[serde(skip)]
    pub custom_property: Option<Box<CustomProperty>>,
    /// The need for the target, if the site of the document should have it, but lacks it.
    #[serde(skip)]
    #[doc(hidden)]
    pub lack: Option<Lack>,
    /// True if the link can be replaced in its position: apart from escapes, its bytes are the reference itself, and
    /// they are not in signed content.
    #[serde(skip)]
    pub is_editable: bool,
}

/// A custom property of CSS whose value contains a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomProperty {
    /// The probable user of the property.
    pub user: PropertyUser,
    /// Other targets of the link, from the style sheets that its page links.
    pub in_sheets: Vec<TargetInSheet>,
}

/// The user of a custom property, whose base browsers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyUser {
    /// The document that declares the property.
    Own,
    /// An unknown document: this one does not use the property, and links no style sheet in another folder.
    Unknown,
    /// The style sheets that a page links in the folder of this one, by its URL.
    Sheet(String),
    /// The style sheets that a page links, in several folders.
    Several,
}

/// The target of a link from a style sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetInSheet {
    /// The URL of the style sheet.
    pub base: String,
    /// The target of the link from there.
    pub target: String,
}

impl LinkReport {
    /// Marks the link as not editable. Clears its target if the result would be too long.
    pub(crate) fn refuse(&mut self, reason: Reason) {
        if reason == Reason::Growth {
            self.target = None;
        }
        self.written = None;
        self.outcome = Outcome::NotEditable;
        self.reason = Some(reason);
    }

    /// Marks the link as kept for `reason`, and clears its target.
    pub(crate) fn leave(&mut self, reason: Reason) {
        self.target = None;
        self.differs = false;
        self.stay(reason);
    }

    /// Marks the link as kept for `reason`, with its target.
    #[doc(hidden)]
    pub fn stay(&mut self, reason: Reason) {
        self.written = None;
        self.outcome = Outcome::Left;
        self.reason = Some(reason);
    }

    /// Marks the link as relative without a base, and clears its target.
    pub(crate) fn lack_base(&mut self) {
        self.leave(Reason::Nowhere);
        (self.outcome, self.reason) = (Outcome::NoBase, None);
    }

    /// Marks the link as rewritten to `written`, which has no file in a copy. If `is_nowhere` is true, the new reference
    /// leads nowhere; otherwise it is a URL.
    pub(crate) fn guard(&mut self, written: String, is_nowhere: bool) {
        self.outcome = Outcome::Rewritten;
        self.reason = is_nowhere.then_some(Reason::Nowhere);
        self.target = (!is_nowhere).then(|| written.clone());
        self.written = Some(written);
        self.differs = false;
    }

    /// True if the link was rewritten, and another resolver resolves it differently.
    pub(crate) fn is_rewritten_otherwise(&self) -> bool {
        self.differs && self.outcome == Outcome::Rewritten
    }

    /// True if the link has no base and lacks only a scheme.
    pub fn lacks_only_scheme(&self) -> bool {
        self.outcome == Outcome::NoBase && lacks_only_scheme(&self.reference, Resolver::Rfc1808)
    }

    /// The decoded reference in the output.
    pub fn in_output(&self) -> &str {
        match (self.outcome, &self.written, &self.target) {
            (Outcome::Rewritten, Some(written), _) => written,
            (Outcome::Rewritten, None, Some(target)) => target,
            _ => &self.reference,
        }
    }
}

/// An entity and its base.
#[derive(Clone, Debug, serde::Serialize)]
pub struct EntityReport {
    /// The enclosing entity, as an index into [`Report::entities`].
    pub parent: Option<usize>,
    /// The format of the content.
    pub format: Format,
    /// The media type that the heading declares, or else the media type of the format.
    pub media_type: Cow<'static, str>,
    /// The encoding.
    pub charset: Charset,
    /// The base.
    #[serde(flatten)]
    pub chain: BaseChain,
    /// The decoded names that a fragment can refer to; empty unless requested.
    #[doc(hidden)]
    #[serde(skip)]
    pub ids: Vec<String>,
    /// True if the entity was scanned without building its tree.
    #[doc(hidden)]
    #[serde(skip)]
    pub without_tree: bool,
}

/// The report on all links of a file.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Report {
    /// The document and the entities inside it, outermost first.
    pub entities: Vec<EntityReport>,
    /// The links, in file order.
    pub links: Vec<LinkReport>,
    /// The anomalies; their spans refer to the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Adds the report on a message that begins at offset `start` of the file.
    #[doc(hidden)]
    pub fn append(&mut self, mut message: Self, start: usize) {
        let before = self.entities.len();
        for entity in &mut message.entities {
            entity.parent = entity.parent.map(|parent| before + parent);
        }
        let spans = message.links.iter_mut().map(|link| &mut link.span);
        let diagnostics = message.diagnostics.iter_mut();
        spans
            .chain(diagnostics.map(|diagnostic| &mut diagnostic.span))
            .for_each(|span| *span = span.shifted(start));
        self.entities.append(&mut message.entities);
        self.links.append(&mut message.links);
        self.diagnostics.append(&mut message.diagnostics);
    }

    /// The number of links with `outcome`.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.links
            .iter()
            .filter(|link| link.outcome == outcome)
            .count()
    }
}

display_by_name!(Outcome, Reason);
