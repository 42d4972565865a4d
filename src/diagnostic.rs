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

use crate::named::{display_by_name, named};
use crate::span::Span;

named! {
    /// The kinds of oddity, a closed list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Code {
        /// A `<base href>` that is not absolute (RFC 1808, 10, requires it to be).
        BaseRelative = "base-relative",
        /// A base that cannot serve relative references.
        BaseUnusable = "base-unusable",
        /// The base's parameters contain `/` (RFC 1808, 2.4.5), so its directories end at a `;`.
        BaseParameters = "base-parameters",
        /// Resources that browsers fetch before they come to the `base` element.
        LateBase = "late-base",
        /// The document was scanned without its tree.
        WithoutTree = "without-tree",
        /// Documents nested in documents deeper than this program follows them.
        TooDeep = "too-deep",
        /// Links that RFC 1808, RFC 3986 and browsers resolve to different targets.
        ProfilesDiffer = "profiles-differ",
        /// Lines in a heading that are no header field (RFC 5322, 2.2); they are kept.
        FieldMalformed = "field-malformed",
        /// A second header field of a kind that is there at most once; the first counts.
        FieldRepeated = "field-repeated",
        /// A header field too long to be decoded.
        FieldTooLong = "field-too-long",
        /// No empty line between heading and body (RFC 5322, 2.1).
        SeparatorMissing = "separator-missing",
        /// A multipart without a close delimiter (RFC 2046, 5.1.1).
        CloseMissing = "close-missing",
        /// A multipart without a `boundary` parameter (RFC 2046, 5.1.1).
        BoundaryMissing = "boundary-missing",
        /// A multipart in which its boundary is not found.
        BoundaryNotFound = "boundary-not-found",
        /// A multipart or message with a transfer encoding (forbidden by RFC 2045, 6.4).
        CompositeEncoded = "composite-encoded",
        /// A part whose transfer encoding cannot be decoded, or cannot take the change; it is left.
        TransferUndecodable = "transfer-undecodable",
        /// A body that is not coded as its heading says (RFC 9112, 7; RFC 9110, 8.4).
        CodingAbsent = "coding-absent",
        /// A `Content-Length` that is not the length of the body.
        LengthWrong = "length-wrong",
        /// Fields that said something of a body that changed, and have another name or value now.
        FieldsRenamed = "fields-renamed",
        /// More than one HTTP response; one is read.
        SeveralResponses = "several-responses",
        /// A part in a charset in which markup cannot be looked for; it is left.
        CharsetUnknown = "charset-unknown",
        /// A DKIM or ARC signature that no longer holds.
        SignatureBroken = "signature-broken",
        /// Lines that become longer than RFC 5322, 2.1.1, allows.
        LineTooLong = "line-too-long",
        /// A `Content-MD5` that was wrong before; it is left.
        DigestWrong = "digest-wrong",
        /// XML that is not well formed (XML 1.0, 2.1), of which what follows the fault was left; or a manifest or a script,
        /// of which all was.
        NotWellFormed = "not-well-formed",
        /// Entities of XML that take more than the budget; references with them were left.
        EntityBudget = "entity-budget",
        /// A message that was left, because what it would have become did not read as it must.
        Doubt = "doubt",
        /// A part of a message that was left, because its links would make the message many times as long.
        Growth = "growth",
        /// A retrieval URL whose scheme nobody gave.
        SchemeAssumed = "scheme-assumed",
        /// Links to local copies in a folder that is not beside the page.
        LocalCopiesMissing = "local-copies-missing",
        /// What is in an archive where a record should be is none that can be read.
        RecordBroken = "record-broken",
        /// A gzip member of an archive that cannot be inflated.
        MemberBroken = "member-broken",
        /// An archive that ends within a record.
        RecordTruncated = "record-truncated",
        /// A record whose `Content-Length` is not that of its block.
        RecordLength = "record-length",
        /// A record of a version of the format that is not known.
        RecordVersion = "record-version",
        /// A segment of a record (ISO 28500, 7).
        RecordSegment = "record-segment",
    }
}

/// One oddity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// Where: bytes of the file.
    #[cfg_attr(feature = "serde", serde(flatten))]
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
        let message = format!("{name} is repeated: the first counts");
        Self::new(Code::FieldRepeated, span, message)
    }
}

display_by_name!(Code);
