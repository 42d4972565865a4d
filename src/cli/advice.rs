//! Which option of the command line helps with a diagnostic. The library knows no options.
//!
//! ```text
//! page.html:1:1: warning[scheme-assumed]: …, and this one is assumed; --scheme gives another
//! ```
//!
//! Deliberately absent: URLs that a document names itself ([`super::hint`]).

use baselink::diagnostic::{Code, Diagnostic};

/// For each diagnostic that an option helps with, which.
const OPTIONS: &[(Code, &str)] = &[
    (Code::BaseParameters, "--resolver rfc3986 takes the ';' for part of a name"),
    (Code::ProfilesDiffer, "see --resolver"),
    (Code::SchemeAssumed, "--scheme gives another"),
    (Code::LocalCopiesMissing, "--local-copies rewrite resolves such links, too"),
];

/// What is said of `found` on the command line.
pub(crate) fn sentence(found: &Diagnostic) -> String {
    match OPTIONS.iter().find(|(code, _)| *code == found.code) {
        Some((_, option)) => format!("{}; {option}", found.message),
        None => found.message.clone().into_owned(),
    }
}
