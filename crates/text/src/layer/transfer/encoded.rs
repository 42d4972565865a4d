//! An encoded body in its buffer, and the obstacles to editing it.
//!
//! ```
//! use baselink_text::layer::transfer::TransferEncoding;
//! use baselink_text::Span;
//! let text = b"aGk*";
//! let obstacle = TransferEncoding::Base64.decode(text, Span::new(0, text.len())).unwrap_err();
//! assert_eq!(obstacle.at, 3);
//! ```
//!
//! Deliberately absent: the encodings themselves.

use std::fmt;

use crate::{edit::Edits, span::Span};

/// The maximum length of an encoded line, without its line end (RFC 2045, 6.7 and 6.8).
pub const WIDTH: usize = 76;

/// A body, encoded and decoded.
pub struct Encoded<'a> {
    pub buffer: &'a [u8],
    /// The span of the body in the buffer.
    pub body: Span,
    /// The decoded bytes.
    pub bytes: &'a [u8],
}

/// The line end for new lines of `body`. The first LF in the body decides, else the last one before it. Without an
/// LF, it is CR if the body contains one, else CRLF.
pub fn line_end(buffer: &[u8], body: Span) -> &'static [u8] {
    let inside = &buffer[body.range()];
    let at = memchr::memchr(b'\n', inside)
        .map(|at| body.start + at)
        .or_else(|| memchr::memrchr(b'\n', &buffer[..body.start]));
    match at {
        Some(at) if at.checked_sub(1).map(|at| buffer[at]) != Some(b'\r') => b"\n",
        None if inside.contains(&b'\r') => b"\r",
        _ => b"\r\n",
    }
}

/// The reason why a body cannot be decoded, or why an edit cannot be made in its encoded text.
#[derive(Debug)]
pub struct Obstacle {
    /// The offset of the obstacle in the buffer.
    pub at: usize,
    /// A description of the obstacle: a clause without a full stop.
    pub reason: &'static str,
}

impl Obstacle {
    pub(super) fn new(at: usize, reason: &'static str) -> Self {
        Self { at, reason }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)
    }
}

/// The length of the line end at the start of `text`, 0 if there is none.
pub fn line_end_length(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Adds an edit that replaces `span` by `new`.
pub fn push(edits: &mut Edits, span: Span, new: impl AsRef<[u8]>) -> Result<(), Obstacle> {
    edits
        .push(span, new)
        .map_err(|_| Obstacle::new(span.start, "two edits overlap"))
}

/// Adds an edit that replaces `span` of `buffer` by `new`, without their common beginning and end.
pub fn push_difference(
    edits: &mut Edits,
    buffer: &[u8],
    span: Span,
    new: &[u8],
) -> Result<(), Obstacle> {
    let old = &buffer[span.range()];
    let same = |(a, b): &(&u8, &u8)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let tail = old[head..]
        .iter()
        .rev()
        .zip(new[head..].iter().rev())
        .take_while(same)
        .count();
    if head + tail == old.len() && old.len() == new.len() {
        return Ok(());
    }
    let span = Span::new(span.start + head, span.end - tail);
    push(edits, span, &new[head..new.len() - tail])
}
