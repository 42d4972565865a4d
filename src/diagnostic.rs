//! What is odd about a document: data with a place, never an error.
//!
//! ```
//! use baselink::diagnostic::{Code, Diagnostic};
//! use baselink::span::Span;
//! let odd = Diagnostic::new(Code::BaseRelative, Span::new(0, 4), "the base is relative");
//! assert_eq!(odd.code.name(), "base-relative");
//! ```
//!
//! Deliberately absent: levels. Whether a diagnostic fails a command is the command's decision.

use crate::span::Span;

/// The kinds of oddity, a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// A `--base-element` policy that could not be followed.
    BaseElementKept,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::BaseRelative,
        Self::BaseUnusable,
        Self::BaseParameters,
        Self::WithoutTree,
        Self::TooDeep,
        Self::ProfilesDiffer,
        Self::BaseElementKept,
    ];

    /// Its name in `--json`.
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
        }
    }
}

/// One oddity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// Where: bytes of the file.
    pub span: Span,
    /// A sentence for people, without a full stop.
    pub message: String,
}

impl Diagnostic {
    /// A diagnostic of the kind `code` about the bytes at `span`.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into() }
    }
}
