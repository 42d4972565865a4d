//! Errors about files and arguments, never about documents.
//!
//! An anomaly of a document is a [`Diagnostic`](crate::diagnostic::Diagnostic). An [`Error`] consists of one
//! sentence for people, a [kind](Error::kind) for programs, and the system's error, if any, as its
//! [source](std::error::Error::source).
//!
//! ```
//! use baselink_text::error::{Error, ErrorKind};
//! let error = Error::of(ErrorKind::Url, "'../up' cannot be a base");
//! assert_eq!(error.kind(), ErrorKind::Url);
//! assert_eq!(error.to_string(), "'../up' cannot be a base");
//! ```
//!
//! The module also formats the parts of sentences: paths ([`name`]), system errors ([`cause`]), and text made safe
//! for a terminal ([`visible`]), and finds the name that a misspelled one stands for ([`nearest`]).
//!
//! Deliberately absent: the command line. `cli` adds the option to use; only a few sentences of `files` name one.

use std::{borrow::Cow, fmt, io, path::Path};

/// An error, with its kind and one sentence for people.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    sentence: String,
    source: Option<io::Error>,
}

/// The subject of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An invalid argument: an unknown name, or a malformed pattern or place.
    Argument,
    /// A URL that cannot be a base.
    Url,
    /// A malformed file of settings or URLs.
    Syntax,
    /// An unsuitable file: a symlink or folder in its place, a name already in use, or a change by another program.
    File,
    /// A failure that the system reported about a file. The [`source`](std::error::Error::source) is usually the system's
    /// error.
    Io,
    /// A document or an archive could not be read from its reader.
    Read,
    /// The output could not be written.
    Write,
    /// Two edits of the same bytes.
    Overlap,
}

impl Error {
    /// The kind of error.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// Constructors for the library and the program.
#[doc(hidden)]
impl Error {
    /// Creates an error about an [argument](ErrorKind::Argument). `sentence` has no capital at the start and no
    /// full stop at the end.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self::of(ErrorKind::Argument, sentence)
    }

    /// Creates an error of this kind.
    pub fn of(kind: ErrorKind, sentence: impl Into<String>) -> Self {
        Self {
            kind,
            sentence: sentence.into(),
            source: None,
        }
    }

    /// Creates an error about the file at `path`.
    pub fn file(path: &Path, why: &str) -> Self {
        Self::of(ErrorKind::File, format!("{}: {why}", name(path)))
    }

    /// Creates an error from a system error about the file at `path`.
    pub fn io(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |error| Self::system(format!("{}: {}", name(path), cause(&error)), error)
    }

    /// Creates an error with `sentence` from a system error.
    pub fn system(sentence: impl Into<String>, error: io::Error) -> Self {
        Self::caused(ErrorKind::Io, sentence, error)
    }

    /// Creates an error of this kind from a system error.
    pub fn caused(kind: ErrorKind, sentence: impl Into<String>, error: io::Error) -> Self {
        Self {
            source: Some(error),
            ..Self::of(kind, sentence)
        }
    }
}

/// An error of the kind of the system's error, or else of an invalid input.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let source = error.source.as_ref();
        let kind = source.map_or(io::ErrorKind::InvalidInput, Self::kind);
        Self::new(kind, error)
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

/// A result whose error, unless another is named, is about a file or an argument.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Formats a path for people, on one line.
pub fn name(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// A number with its noun: `1 file`, `2 files`.
pub fn count(number: usize, one: &str, more: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {more}"),
    }
}

/// Describes a system error, in clearer words for common kinds.
pub fn cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// The name among `known` that is most similar to `typed`; at most a third of its letters may differ.
///
/// ```
/// use baselink_text::nearest;
/// let known = ["resolver", "format"];
/// assert_eq!(nearest("resolvr", known.into_iter()), Some("resolver"));
/// assert_eq!(nearest("url", known.into_iter()), None);
/// ```
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .filter(|known| typed.len() <= 2 * known.len())
        .map(|known| (strsim::osa_distance(typed, known), known))
        .filter(|(distance, known)| 3 * distance <= known.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The option among `known` that the author of a program probably meant by `typed`. Other libraries have other names for
/// the options `url` and `charset`.
///
/// ```
/// use baselink_text::error::meant_option;
/// let meant = |typed| meant_option(typed, &["url", "charset"]);
/// assert!(["base_url", "baseURI", "href", "urll"].map(meant).iter().all(|name| *name == Some("url")));
/// assert_eq!(["encoding", "charst"].map(meant), [Some("charset"); 2]);
/// assert_eq!(meant("html"), None);
/// ```
pub fn meant_option<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = typed.to_ascii_lowercase();
    let ends_with = |end: &&str| lower.ends_with(end);
    let name = if ["url", "uri", "base", "href"].iter().any(ends_with) {
        "url"
    } else if lower == "encoding" {
        "charset"
    } else {
        typed
    };
    nearest(name, known.iter().copied())
}

/// Escapes the characters of `text` that a terminal would obey or show in a different order.
pub fn visible(text: &str) -> Cow<'_, str> {
    // Most text is plain ASCII. A loop without branches checks many bytes at once.
    if text
        .bytes()
        .fold(true, |all, byte| all & matches!(byte, b' '..=b'~'))
        || !text.contains(is_misleading)
    {
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

/// True if a terminal would obey `c`, or would show the text around it in a different order or line.
fn is_misleading(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
