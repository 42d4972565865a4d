//! What can fail: files and arguments, never documents.
//!
//! An anomaly of a document is a [`Diagnostic`](crate::diagnostic::Diagnostic). An [`Error`] is about the world
//! outside: one sentence for people, a [kind](Error::kind) for programs, and what the system said as its
//! [source](std::error::Error::source).
//!
//! ```
//! use baselink::error::ErrorKind;
//! use baselink::resolve::{Base, Profile};
//! let error = Base::parse(Profile::Rfc1808, "../up").unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Url);
//! assert!(error.to_string().contains("../up"));
//! ```
//!
//! What sentences are made of is here, too: a path for people ([`name`]), what the system has against
//! a file ([`cause`]), text that cannot mislead ([`visible`]).
//!
//! Deliberately absent: the command line. No sentence names an option; `cli` adds which one to use.

use std::borrow::Cow;
use std::path::Path;
use std::{fmt, io};

/// What could not be used, in one sentence, and of which kind that is.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    sentence: String,
    source: Option<io::Error>,
}

/// What an [`Error`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument: an unknown name, a pattern or a place that is not written as such are written.
    Argument,
    /// A URL that cannot be a base.
    Url,
    /// A file with settings or URLs that is not written as such files are.
    Syntax,
    /// A file that is not what it has to be: a link or a folder in its place, a name that another file has, one
    /// that another program changed meanwhile.
    File,
    /// The system, about a file or a stream; [`source`](std::error::Error::source) mostly has what it says.
    Io,
    /// Two edits of the same bytes.
    Overlap,
}

impl Error {
    /// What it is about.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// How the library and the program make them.
#[doc(hidden)]
impl Error {
    /// An error of an [argument](ErrorKind::Argument) that says `sentence`: no capital at the start, no full stop
    /// at the end.
    #[must_use]
    pub fn new(sentence: impl Into<String>) -> Self {
        Self::of(ErrorKind::Argument, sentence)
    }

    /// An error of this kind that says `sentence`.
    #[must_use]
    pub fn of(kind: ErrorKind, sentence: impl Into<String>) -> Self {
        Self { kind, sentence: sentence.into(), source: None }
    }

    /// An error that says of the file at `path` why it cannot be used.
    #[must_use]
    pub fn file(path: &Path, why: &str) -> Self {
        Self::of(ErrorKind::File, format!("{}: {why}", name(path)))
    }

    /// An error that says what the system has against the file at `path`.
    #[must_use]
    pub fn io(path: &Path, error: io::Error) -> Self {
        let sentence = format!("{}: {}", name(path), cause(&error));
        Self::system(sentence, error)
    }

    /// An error of the system that says `sentence`.
    #[must_use]
    pub fn system(sentence: impl Into<String>, error: io::Error) -> Self {
        Self { kind: ErrorKind::Io, sentence: sentence.into(), source: Some(error) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}

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
    // Nearly all is plain; without a branch many bytes are looked at at once.
    let is_plain = |all, byte| all & matches!(byte, b' '..=b'~');
    if text.bytes().fold(true, is_plain) || !text.contains(is_misleading) {
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

/// True if a terminal would obey `c`, or show the text around it in another order or line.
fn is_misleading(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
