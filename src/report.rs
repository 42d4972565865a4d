//! What became of the links of a file: data, for whoever prints, counts or checks it.
//!
//! ```
//! use baselink::{Options, Outcome, Reason, rewrite};
//! let report = rewrite(b"<img src=''><img src=x>", &Options::at("http://a/")).report;
//! assert_eq!(report.links[0].outcome, Outcome::Left);
//! assert_eq!(report.links[0].reason, Some(Reason::Empty));
//! assert_eq!(report.count(Outcome::Rewritten), 1);
//! ```
//!
//! Deliberately absent: text for people. The command line finds the words.

use std::borrow::Cow;
use std::sync::Arc;

use crate::base::{BaseChain, Rule, Source, lacks_only_scheme};
use crate::diagnostic::Diagnostic;
use crate::document::Role;
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::named::{display_by_name, named};
use crate::resolve::Profile;
use crate::span::Span;

named! {
    /// The outcome of a link: exactly one of these.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Outcome {
        /// It was relative and is absolute now.
        Rewritten = "rewritten",
        /// It was absolute.
        Absolute = "absolute",
        /// It is relative, and the document has no base.
        NoBase = "no-base",
        /// It was left, for a [`Reason`].
        Left = "left",
        /// It has a target, which cannot be written in its place.
        NotEditable = "not-editable",
    }
}

named! {
    /// Why a link was left, or could not be edited: a closed list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Reason {
        /// It names an element of the same document by its id, and must go on doing so.
        IdReference = "id-reference",
        /// It is empty, which does not mean the base there.
        Empty = "empty",
        /// A template engine fills it in.
        Placeholder = "placeholder",
        /// It is a fragment, and [`Fragments`](crate::Fragments) that were asked for say that it stays.
        Fragment = "fragment",
        /// It contains an entity of XML that is external or was not read.
        Entity = "entity",
        /// Nothing can be resolved against the base.
        BaseUnusable = "base-unusable",
        /// The profile cannot resolve it.
        Unresolvable = "unresolvable",
        /// It is the href of the `base` element, and [`BaseElement`](crate::BaseElement) decides on it.
        BaseElement = "base-element",
        /// It leads to a file that a browser saved with the page.
        LocalCopy = "local-copy",
        /// The attribute has no value that could be replaced.
        NoValue = "no-value",
        /// It begins or ends in the middle of something that was decoded as a whole.
        Escape = "escape",
        /// The bytes that would have to be written include some that could not be decoded.
        Undecodable = "undecodable",
        /// The document's encoding cannot spell the target there, or the change could uncover a declaration of
        /// another encoding, or take away the byte for which a document that declares none is not UTF-8.
        Encoding = "encoding",
        /// It is in something that is signed or encrypted (RFC 1847), which must not change.
        Signed = "signed",
        /// It is in a message with a DKIM or ARC signature, and such messages were to be skipped.
        Dkim = "dkim",
        /// It means a part of the same message, by a relative `Content-Location` (RFC 2557, 8.2), or it is the
        /// href of a `base` element without which no other link in its document would.
        SiblingPart = "sibling-part",
        /// It is a `Content-Location`, or the `href` of a `base` element, that, once absolute, would be the
        /// base of links that stay relative.
        BecomesBase = "becomes-base",
        /// The transfer encoding of its part cannot take the change.
        Transfer = "transfer",
        /// The changed message did not read as it had to; all of it was left.
        Doubt = "doubt",
        /// With its links made absolute the message would be many times as long; those of the part were left.
        Growth = "growth",
        /// Whoever chose what is written in the place of links wanted it as it is.
        Kept = "kept",
        /// It is already what was chosen for its place.
        Chosen = "chosen",
    }
}

impl Reason {
    /// True if the outcome is intended: the link keeps its meaning, or was left on request.
    #[must_use]
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

/// A link, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LinkReport {
    /// The entity it is in.
    pub entity: Arc<str>,
    /// Its bytes in the file; where it is encoded there, the bytes that hold it.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub span: Span,
    /// Name of the element.
    pub element: Cow<'static, str>,
    /// Name of the attribute; `None` for text.
    pub attribute: Option<Cow<'static, str>>,
    /// The reference, decoded, as written.
    pub reference: String,
    /// The base that it is resolved against; `None` when there is none.
    pub base: Option<Arc<str>>,
    /// The rule that gave the base.
    pub rule: Rule,
    /// The source that gave it.
    pub source: Source,
    /// Where it leads; `None` when that is unknown.
    pub target: Option<String>,
    /// The role in the document.
    pub role: Role,
    /// What a rewritten reference reads as, where that is not the target but the target with percent
    /// encodings: the place has no other escape (white space in a list, say).
    pub written: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, for [`Outcome::Left`] and [`Outcome::NotEditable`].
    pub reason: Option<Reason>,
    /// True if another profile resolves it to a different target, spelling aside, whatever became of it: also
    /// where it is absolute to one and relative to another, and where only some find a target.
    pub differs: bool,
    /// Under which other profiles, in the order of [`Profile::ALL`].
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) differs_under: [bool; Profile::ALL.len()],
    /// True if it may be replaced in its place: verbatim but for escapes, and in nothing that is signed.
    pub is_editable: bool,
}

impl LinkReport {
    /// Makes it one that could not be edited.
    pub(crate) fn refuse(&mut self, reason: Reason) {
        self.written = None;
        self.outcome = Outcome::NotEditable;
        self.reason = Some(reason);
    }

    /// Makes it one that was left because the result would be too long, if it was to be rewritten. Nor is its target kept.
    pub(crate) fn outgrow(&mut self) {
        if self.outcome == Outcome::Rewritten {
            self.refuse(Reason::Growth);
            self.target = None;
        }
    }

    /// Makes it one that stays for `reason`.
    pub(crate) fn leave(&mut self, reason: Reason) {
        self.target = None;
        self.differs = false;
        self.stay(reason);
    }

    /// The same where its target is known nevertheless.
    pub(crate) fn stay(&mut self, reason: Reason) {
        self.written = None;
        self.outcome = Outcome::Left;
        self.reason = Some(reason);
    }

    /// True if it was rewritten, and leads elsewhere under another profile.
    pub(crate) fn is_rewritten_otherwise(&self) -> bool {
        self.differs && self.outcome == Outcome::Rewritten
    }

    /// True if it has no base, and a scheme is all that it lacks.
    #[must_use]
    pub fn lacks_only_scheme(&self) -> bool {
        self.outcome == Outcome::NoBase && lacks_only_scheme(&self.reference, Profile::Rfc1808)
    }

    /// What the reference reads as in the output.
    #[must_use]
    pub fn in_output(&self) -> &str {
        match (self.outcome, &self.written, &self.target) {
            (Outcome::Rewritten, Some(written), _) => written,
            (Outcome::Rewritten, None, Some(target)) => target,
            _ => &self.reference,
        }
    }
}

/// An entity, and how its base was established.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EntityReport {
    /// The entity around it, by its place among those of the report.
    pub parent: Option<usize>,
    /// What its content is.
    pub format: Format,
    /// Its media type, as its heading says; that of its format where it has none.
    pub media_type: Cow<'static, str>,
    /// Its encoding.
    pub charset: Charset,
    /// Its base.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub chain: BaseChain,
    /// What a fragment can name in it, decoded; empty where it was not asked for.
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub ids: Vec<String>,
    /// True if it was scanned without its tree.
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub without_tree: bool,
}

/// Everything that is known of a file's links.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// The document and those inside it, outermost first.
    pub entities: Vec<EntityReport>,
    /// Every link, in the order of the file.
    pub links: Vec<LinkReport>,
    /// The anomalies; spans are those of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Adds what is known of a message that begins at `start` of the file.
    pub(crate) fn append(&mut self, mut message: Self, start: usize) {
        let before = self.entities.len();
        for entity in &mut message.entities {
            entity.parent = entity.parent.map(|parent| before + parent);
        }
        let spans = message.links.iter_mut().map(|link| &mut link.span);
        let spans = spans.chain(message.diagnostics.iter_mut().map(|one| &mut one.span));
        spans.for_each(|span| *span = span.shifted(start));
        self.entities.append(&mut message.entities);
        self.links.append(&mut message.links);
        self.diagnostics.append(&mut message.diagnostics);
    }

    /// How many links have `outcome`.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.links.iter().filter(|link| link.outcome == outcome).count()
    }
}

display_by_name!(Outcome, Reason);
