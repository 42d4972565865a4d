//! Additions to the diagnostics of the library: the option that helps, and a test for the diagnostics that `base` and
//! `check` report.
//!
//! ```text
//! page.html:1:1: warning[scheme-assumed]: … is assumed, …; --assume-scheme sets another
//! ```
//!
//! Deliberately absent: hints about URLs that a document declares for itself ([`super::base_hints`]).

use baselink_text::{Code, Diagnostic};

/// True if a diagnostic is about the document or its base rather than its links or the output.
pub fn is_of_bases(code: Code) -> bool {
    !matches!(
        code,
        Code::ResolversDiffer
            | Code::SignatureBroken
            | Code::FieldsRenamed
            | Code::LineTooLong
            | Code::DigestWrong
            | Code::Doubt
            | Code::Growth
    )
}

/// The message for `found`, with the option that helps.
pub fn sentence(found: &Diagnostic) -> String {
    let option = match found.code {
        Code::BaseParameters => "; --resolver rfc3986 treats ';' as part of a name",
        Code::ResolversDiffer => "; see --resolver",
        Code::SchemeAssumed => "; --assume-scheme sets another",
        Code::LocalCopiesMissing => "; --trust -local-copies resolves such links, too",
        _ => "",
    };
    format!("{}{option}", found.message)
}
