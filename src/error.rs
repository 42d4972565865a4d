//! What can fail: files and arguments, never documents.
//!
//! A document's oddities are [`Diagnostic`](crate::diagnostic::Diagnostic)s; an [`Error`] is one
//! sentence about the world outside and ends the command with status 2.
//!
//! ```
//! use baselink::resolve::{Base, Profile};
//! let error = Base::absolute(Profile::Rfc1808, "../up").unwrap_err();
//! assert!(error.to_string().contains("../up"));
//! ```
//!
//! Deliberately absent: a variant per cause. Callers show the sentence; nobody branches on it.

use std::fmt;

/// One sentence saying what could not be used and what to do about it.
#[derive(Debug)]
pub struct Error {
    sentence: String,
}

impl Error {
    /// An error that says `sentence`: no capital at the start, no full stop at the end.
    #[must_use]
    pub fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Error {}

/// The result of touching a file or an argument.
pub type Result<T> = std::result::Result<T, Error>;
