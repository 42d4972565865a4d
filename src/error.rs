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
//! What sentences are made of is here, too: a path for people ([`name`]), what the system has against
//! a file ([`cause`]), text that cannot mislead ([`visible`]).
//!
//! Deliberately absent: a variant per cause. Callers show the sentence; nobody branches on it.

use std::borrow::Cow;
use std::path::Path;
use std::{fmt, io};

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

/// A path for people, on one line.
#[must_use]
pub fn name(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// What the system has against a file, in our words where they are clearer.
#[must_use]
pub fn cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// `text` as it can be shown on one line: what a terminal would obey, or show in another order, is
/// escaped.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_misleading) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_misleading(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

/// Whether a terminal would obey `c`, or show what stands around it in another order or line.
fn is_misleading(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
