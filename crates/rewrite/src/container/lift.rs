//! Lifts edits of the content of a body to edits of the file, and checks the result.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! use baselink_text::Format;
//! let options = Options { format: Format::Message, ..Options::at("http://a/") };
//! let message = b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGEgaHJlZj14Pg==";
//! let expected = b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n\
//!                  PGEgaHJlZj1odHRwOi8vYS94Pg==";
//! assert_eq!(rewrite(message, &options).output(), expected);
//! ```
//!
//! Deliberately absent: the encodings of bodies ([`baselink_text::layer::transfer`]), and fields that describe bodies
//! ([`super::fields`]).

use baselink_scan::Heading;
use baselink_text::{
    Code, Diagnostic, Edits, Span, count,
    layer::transfer::{DecodedBody, Obstacle},
};

use super::entity::{Entity, Structure};

/// The edits of the file `bytes` that make `edits` of the decoded body of `entity`.
///
/// # Errors
///
/// Fails if [`DecodedBody::lift`] does. Also fails if no empty line precedes the body and a new first line looks
/// like a header field (`http://…` does), because it would become part of the heading.
pub fn lift(
    bytes: &[u8],
    structure: &Structure,
    entity: &Entity,
    decoded: &DecodedBody<'_>,
    edits: &Edits,
) -> Result<Edits, Obstacle> {
    let lifted = decoded.lift(edits)?;
    // The heading of a response is recognised by its first line, and a response without a separator was already
    // refused.
    if !entity.heading.separator.is_empty() || structure.container.is_single {
        return Ok(lifted);
    }
    let span = entity.span();
    let heading = Heading::read(&lifted.within(span).apply(&bytes[span.range()]));
    if heading.span.end == entity.heading.span.len() && heading.separator.is_empty() {
        Ok(lifted)
    } else {
        Err(Obstacle {
            at: entity.body.start,
            reason: "no empty line precedes it, so a changed line would be read as part of the heading",
        })
    }
}

/// Reports the lines in the body of `entity` that the `edits` of the file make too long to be sent. Lines of
/// encoded text are wrapped, so encoded bodies are skipped.
pub(crate) fn lengthened(
    bytes: &[u8],
    structure: &Structure,
    entity: &Entity,
    edits: &Edits,
) -> Option<Diagnostic> {
    let longest = structure.container.longest_line?;
    if !entity.transfer_encoding.is_identity() {
        return None;
    }
    let Span { start, end } = entity.body;
    let line_of = |at: usize| {
        let before = memchr::memrchr(b'\n', &bytes[start..at]).map_or(start, |n| start + n + 1);
        Span::new(
            before,
            memchr::memchr(b'\n', &bytes[at..end]).map_or(end, |n| at + n),
        )
    };
    let mut found: Option<(usize, usize)> = None;
    let (mut line, mut growth) = (Span::at(start), 0_isize);
    for edit in edits.iter().map(Some).chain([None]) {
        if let Some(edit) = edit.as_ref().filter(|edit| edit.span.start <= line.end) {
            growth += edit.growth();
            continue;
        }
        if line.len() <= longest && line.len().saturating_add_signed(growth) > longest {
            let (first, lines) = found.unwrap_or((line.start, 0));
            found = Some((first, lines + 1));
        }
        if let Some(edit) = edit {
            (line, growth) = (line_of(edit.span.start), edit.growth());
        }
    }
    let (first, lines) = found?;
    let lines = count(lines, "line becomes", "lines become");
    let message = format!(
        "{lines} longer than {longest} bytes (RFC 5322, 2.1.1), which a mail server may refuse"
    );
    Some(Diagnostic::new(Code::LineTooLong, Span::at(first), message))
}
