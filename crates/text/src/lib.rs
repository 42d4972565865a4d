//! Text and bytes: places in them, changes of them, and decoded views with the way back.
//!
//! [`span`] has offsets and lines, [`edit`] changes, [`layer`] the decoded views of bytes, and how an edit of a view
//! becomes an edit of the bytes. [`diagnostic`] has the anomalies of documents, [`error`] the errors about files and
//! arguments, [`mod@format`] the formats of files.
//!
//! ```
//! use baselink_text::{edit::Edits, span::Span};
//! let mut edits = Edits::default();
//! edits.push(Span::at(8), b"http://a/").unwrap();
//! assert_eq!(edits.apply(b"<a href=x>"), b"<a href=http://a/x>");
//! ```
//!
//! Deliberately absent: links and URLs.

pub mod diagnostic;
pub mod edit;
pub mod error;
pub mod format;
pub mod layer;
mod named;
pub mod shell;
pub mod span;

pub use diagnostic::{Code, Diagnostic};
pub use edit::{Edit, Edits};
pub use error::{Error, ErrorKind, Result, cause, count, name, nearest, visible};
pub use format::Format;
pub use layer::{
    OffsetMap, View,
    charset::{Charset, Detected},
};
pub use span::{Lines, Span};
