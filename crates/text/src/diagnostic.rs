//! Anomalies of a document, each with a position; never errors.
//!
//! ```
//! use baselink_text::diagnostic::{Code, Diagnostic};
//! use baselink_text::Span;
//! let found = Diagnostic::new(Code::BaseRelative, Span::new(0, 4), "the base is relative");
//! assert_eq!(found.code.name(), "base-relative");
//! ```
//!
//! Deliberately absent: severity levels. Each command decides which diagnostics make it fail.

use std::borrow::Cow;

use crate::{display_by_name, named, span::Span};

named! {
    /// The kinds of anomalies.
    #[derive(PartialOrd, Ord)]
    pub enum Code {
        /// A `<base href>` that is relative and in another folder; RFC 1808, section 10, requires an absolute URL.
        BaseRelative = "base-relative",
        /// A base that cannot resolve relative references, or that is on the disk of its author.
        BaseUnusable = "base-unusable",
        /// A base with a `/` after a `;`. RFC 1808, 2.4.5, ends its directories at the `;`.
        BaseParameters = "base-parameters",
        /// Resources that browsers fetch before they reach the `base` element.
        LateBase = "late-base",
        /// A document that was scanned without building its tree.
        WithoutTree = "without-tree",
        /// Documents nested too deeply to be scanned.
        TooDeep = "too-deep",
        /// Links for which RFC 1808, RFC 3986 and browsers give different targets.
        ResolversDiffer = "resolvers-differ",
        /// References in custom properties of CSS that lead elsewhere from a style sheet of the page.
        CustomProperty = "custom-property",
        /// Lines in a heading that are not header fields (RFC 5322, 2.2); they are kept.
        FieldMalformed = "field-malformed",
        /// A repeated header field that may occur once; the first counts.
        FieldRepeated = "field-repeated",
        /// A header field that is too long to be decoded.
        FieldTooLong = "field-too-long",
        /// A missing empty line between heading and body (RFC 5322, 2.1).
        SeparatorMissing = "separator-missing",
        /// A multipart without a close delimiter (RFC 2046, 5.1.1).
        CloseMissing = "close-missing",
        /// A multipart without a `boundary` parameter (RFC 2046, 5.1.1).
        BoundaryMissing = "boundary-missing",
        /// A multipart that does not contain its boundary.
        BoundaryNotFound = "boundary-not-found",
        /// A multipart or message with a transfer encoding, which RFC 2045, section 6.4, forbids.
        CompositeEncoded = "composite-encoded",
        /// A part whose transfer encoding cannot be decoded or cannot represent the change; it is kept unchanged.
        TransferUndecodable = "transfer-undecodable",
        /// A body that lacks the coding declared in its heading (RFC 9112, 7; RFC 9110, 8.4).
        CodingAbsent = "coding-absent",
        /// A `Content-Length` that differs from the length of the body.
        LengthWrong = "length-wrong",
        /// Header fields that described the unchanged body and were renamed or replaced.
        FieldsRenamed = "fields-renamed",
        /// More than one HTTP response in a file; only one is read.
        SeveralResponses = "several-responses",
        /// A file whose format is unknown, or of a kind that is not read as one document; no link was read.
        FormatUnread = "format-unread",
        /// A part in a charset that cannot be scanned for markup; it is kept unchanged.
        CharsetUnknown = "charset-unknown",
        /// A DKIM or ARC signature that the changes invalidate.
        SignatureBroken = "signature-broken",
        /// Lines that exceed the limit of RFC 5322, 2.1.1, after the change.
        LineTooLong = "line-too-long",
        /// A `Content-MD5` that was wrong before the change; it is kept unchanged.
        DigestWrong = "digest-wrong",
        /// XML that is not well formed (XML 1.0, 2.1), kept unchanged after the fault; or a malformed manifest or
        /// script, kept unchanged as a whole.
        NotWellFormed = "not-well-formed",
        /// A message that was kept unchanged because its changed form did not read back as expected.
        Doubt = "doubt",
        /// A part of a message that was kept unchanged because absolute links would make the message many times as
        /// long.
        Growth = "growth",
        /// A URL outside links that names the old place of a site that moved.
        OldUrl = "old-url",
        /// A retrieval URL with an assumed scheme.
        SchemeAssumed = "scheme-assumed",
        /// Links to local copies in a folder that is not next to the page.
        LocalCopiesMissing = "local-copies-missing",
        /// Bytes in an archive that should be a record but cannot be read.
        RecordBroken = "record-broken",
        /// A gzip member of an archive that cannot be decompressed.
        MemberBroken = "member-broken",
        /// An archive that ends within a record.
        RecordTruncated = "record-truncated",
        /// A record whose `Content-Length` differs from the length of its block.
        RecordLength = "record-length",
        /// A record of an unknown version of the format.
        RecordVersion = "record-version",
        /// A segment of a record (ISO 28500, 7).
        RecordSegment = "record-segment",
    }
}

/// An anomaly of a document.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Diagnostic {
    /// The kind of anomaly.
    pub code: Code,
    /// The affected bytes of the file.
    #[serde(flatten)]
    pub span: Span,
    /// A sentence for people, without a full stop.
    pub message: Cow<'static, str>,
}

impl Diagnostic {
    /// Creates a diagnostic of the kind `code` about the bytes at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            span,
            message: message.into(),
        }
    }

    /// Creates a diagnostic for the header field `name` at `span`, which is not the first of its name.
    #[doc(hidden)]
    pub fn repeated(name: &str, span: Span) -> Self {
        let message = format!("{name} is repeated: the first counts");
        Self::new(Code::FieldRepeated, span, message)
    }
}

display_by_name!(Code);
