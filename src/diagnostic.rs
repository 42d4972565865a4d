//! Anomalies of a document: data with a place, never an error.
//!
//! ```
//! use baselink::diagnostic::{Code, Diagnostic};
//! use baselink::span::Span;
//! let found = Diagnostic::new(Code::BaseRelative, Span::new(0, 4), "the base is relative");
//! assert_eq!(found.code.name(), "base-relative");
//! ```
//!
//! Deliberately absent: levels. Whether a diagnostic fails a command is the command's decision.

use std::borrow::Cow;

use crate::span::Span;

/// The kinds of oddity, a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// A `<base href>` that is not absolute (RFC 1808, 10, requires it to be).
    BaseRelative,
    /// A base that cannot serve relative references.
    BaseUnusable,
    /// The base's parameters contain `/` (RFC 1808, 2.4.5), so its directories end at a `;`.
    BaseParameters,
    /// The document was scanned without its tree.
    WithoutTree,
    /// Documents nested in documents deeper than this program follows them.
    TooDeep,
    /// Links that RFC 1808, RFC 3986 and browsers resolve to different targets.
    ProfilesDiffer,
    /// A policy for the `base` element that could not be followed.
    BaseElementKept,
    /// Lines in a heading that are no header field (RFC 5322, 2.2); they are kept.
    FieldMalformed,
    /// A second header field of a kind that is there at most once; the first counts.
    FieldRepeated,
    /// A header field too long to be decoded.
    FieldTooLong,
    /// No empty line between heading and body (RFC 5322, 2.1).
    SeparatorMissing,
    /// A multipart without a close delimiter (RFC 2046, 5.1.1).
    CloseMissing,
    /// A multipart without a `boundary` parameter (RFC 2046, 5.1.1).
    BoundaryMissing,
    /// A multipart in which its boundary is not found.
    BoundaryNotFound,
    /// A multipart or message with a transfer encoding (forbidden by RFC 2045, 6.4).
    CompositeEncoded,
    /// A part whose transfer encoding cannot be decoded, or cannot take the change; it is left.
    TransferUndecodable,
    /// A part in a charset in which markup cannot be looked for; it is left.
    CharsetUnknown,
    /// A DKIM or ARC signature that no longer holds.
    SignatureBroken,
    /// Lines that become longer than RFC 5322, 2.1.1, allows.
    LineTooLong,
    /// A `Content-MD5` that was wrong before; it is left.
    DigestWrong,
    /// XML that is not well formed (XML 1.0, 2.1); what follows the fault was left.
    NotWellFormed,
    /// Entities of XML that take more than the budget; references with them were left.
    EntityBudget,
    /// A message that was left, because what it would have become did not read as it must.
    Doubt,
    /// A retrieval URL whose scheme nobody gave.
    SchemeAssumed,
    /// Links to local copies in a folder that is not beside the page.
    LocalCopiesMissing,
}

impl Code {
    /// All of them.
    #[doc(hidden)]
    pub const ALL: [Self; 25] = [
        Self::BaseRelative,
        Self::BaseUnusable,
        Self::BaseParameters,
        Self::WithoutTree,
        Self::TooDeep,
        Self::ProfilesDiffer,
        Self::BaseElementKept,
        Self::FieldMalformed,
        Self::FieldRepeated,
        Self::FieldTooLong,
        Self::SeparatorMissing,
        Self::CloseMissing,
        Self::BoundaryMissing,
        Self::BoundaryNotFound,
        Self::CompositeEncoded,
        Self::TransferUndecodable,
        Self::CharsetUnknown,
        Self::SignatureBroken,
        Self::LineTooLong,
        Self::DigestWrong,
        Self::NotWellFormed,
        Self::EntityBudget,
        Self::Doubt,
        Self::SchemeAssumed,
        Self::LocalCopiesMissing,
    ];

    /// Its name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BaseRelative => "base-relative",
            Self::BaseUnusable => "base-unusable",
            Self::BaseParameters => "base-parameters",
            Self::WithoutTree => "without-tree",
            Self::TooDeep => "too-deep",
            Self::ProfilesDiffer => "profiles-differ",
            Self::BaseElementKept => "base-element-kept",
            Self::FieldMalformed => "field-malformed",
            Self::FieldRepeated => "field-repeated",
            Self::FieldTooLong => "field-too-long",
            Self::SeparatorMissing => "separator-missing",
            Self::CloseMissing => "close-missing",
            Self::BoundaryMissing => "boundary-missing",
            Self::BoundaryNotFound => "boundary-not-found",
            Self::CompositeEncoded => "composite-encoded",
            Self::TransferUndecodable => "transfer-undecodable",
            Self::CharsetUnknown => "charset-unknown",
            Self::SignatureBroken => "signature-broken",
            Self::LineTooLong => "line-too-long",
            Self::DigestWrong => "digest-wrong",
            Self::NotWellFormed => "not-well-formed",
            Self::EntityBudget => "entity-budget",
            Self::Doubt => "doubt",
            Self::SchemeAssumed => "scheme-assumed",
            Self::LocalCopiesMissing => "local-copies-missing",
        }
    }
}

/// One oddity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// Where: bytes of the file.
    pub span: Span,
    /// A sentence for people, without a full stop.
    pub message: Cow<'static, str>,
}

impl Diagnostic {
    /// A diagnostic of the kind `code` about the bytes at `span`.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, span, message: message.into() }
    }

    /// Says that a header field called `name` at `span` is not the first one.
    #[must_use]
    pub(crate) fn repeated(name: &str, span: Span) -> Self {
        let message: Cow<'static, str> = match name {
            "Base" => "Base is repeated: the first counts".into(),
            "Content-Base" => "Content-Base is repeated: the first counts".into(),
            "Content-Location" => "Content-Location is repeated: the first counts".into(),
            "Content-Type" => "Content-Type is repeated: the first counts".into(),
            name => format!("{name} is repeated: the first counts").into(),
        };
        Self::new(Code::FieldRepeated, span, message)
    }
}
