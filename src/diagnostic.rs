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

use crate::named::{display_by_name, values};
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
    /// Resources that browsers fetch before they come to the `base` element.
    LateBase,
    /// The document was scanned without its tree.
    WithoutTree,
    /// Documents nested in documents deeper than this program follows them.
    TooDeep,
    /// Links that RFC 1808, RFC 3986 and browsers resolve to different targets.
    ProfilesDiffer,
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
    /// A body that is not coded as its heading says (RFC 9112, 7; RFC 9110, 8.4).
    CodingAbsent,
    /// A `Content-Length` that is not the length of the body.
    LengthWrong,
    /// Fields that said something of a body that changed, and have another name or value now.
    FieldsRenamed,
    /// More than one HTTP response; one is read.
    SeveralResponses,
    /// A part in a charset in which markup cannot be looked for; it is left.
    CharsetUnknown,
    /// A DKIM or ARC signature that no longer holds.
    SignatureBroken,
    /// Lines that become longer than RFC 5322, 2.1.1, allows.
    LineTooLong,
    /// A `Content-MD5` that was wrong before; it is left.
    DigestWrong,
    /// XML that is not well formed (XML 1.0, 2.1), of which what follows the fault was left; or a manifest or a script,
    /// of which all was.
    NotWellFormed,
    /// Entities of XML that take more than the budget; references with them were left.
    EntityBudget,
    /// A message that was left, because what it would have become did not read as it must.
    Doubt,
    /// A part of a message that was left, because its links would make the message many times as long.
    Growth,
    /// A retrieval URL whose scheme nobody gave.
    SchemeAssumed,
    /// Links to local copies in a folder that is not beside the page.
    LocalCopiesMissing,
    /// What is in an archive where a record should be is none that can be read.
    RecordBroken,
    /// A gzip member of an archive that cannot be inflated.
    MemberBroken,
    /// An archive that ends within a record.
    RecordTruncated,
    /// A record whose `Content-Length` is not that of its block.
    RecordLength,
    /// A record of a version of the format that is not known.
    RecordVersion,
    /// A segment of a record (ISO 28500, 7).
    RecordSegment,
}

/// All kinds with their names, in the order of their declaration.
const CODES: [(Code, &str); 36] = [
    (Code::BaseRelative, "base-relative"),
    (Code::BaseUnusable, "base-unusable"),
    (Code::BaseParameters, "base-parameters"),
    (Code::LateBase, "late-base"),
    (Code::WithoutTree, "without-tree"),
    (Code::TooDeep, "too-deep"),
    (Code::ProfilesDiffer, "profiles-differ"),
    (Code::FieldMalformed, "field-malformed"),
    (Code::FieldRepeated, "field-repeated"),
    (Code::FieldTooLong, "field-too-long"),
    (Code::SeparatorMissing, "separator-missing"),
    (Code::CloseMissing, "close-missing"),
    (Code::BoundaryMissing, "boundary-missing"),
    (Code::BoundaryNotFound, "boundary-not-found"),
    (Code::CompositeEncoded, "composite-encoded"),
    (Code::TransferUndecodable, "transfer-undecodable"),
    (Code::CodingAbsent, "coding-absent"),
    (Code::LengthWrong, "length-wrong"),
    (Code::FieldsRenamed, "fields-renamed"),
    (Code::SeveralResponses, "several-responses"),
    (Code::CharsetUnknown, "charset-unknown"),
    (Code::SignatureBroken, "signature-broken"),
    (Code::LineTooLong, "line-too-long"),
    (Code::DigestWrong, "digest-wrong"),
    (Code::NotWellFormed, "not-well-formed"),
    (Code::EntityBudget, "entity-budget"),
    (Code::Doubt, "doubt"),
    (Code::Growth, "growth"),
    (Code::SchemeAssumed, "scheme-assumed"),
    (Code::LocalCopiesMissing, "local-copies-missing"),
    (Code::RecordBroken, "record-broken"),
    (Code::MemberBroken, "member-broken"),
    (Code::RecordTruncated, "record-truncated"),
    (Code::RecordLength, "record-length"),
    (Code::RecordVersion, "record-version"),
    (Code::RecordSegment, "record-segment"),
];

impl Code {
    /// All of them.
    #[doc(hidden)]
    pub const ALL: [Self; CODES.len()] = values!(CODES);

    /// Its name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        CODES[self as usize].1
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
