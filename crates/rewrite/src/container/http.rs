//! An HTTP response (RFC 9112) as an entity: its heading, the codings of its body, and updates of the fields that
//! describe a changed body.
//!
//! `Base` (RFC 1808, 3.1) and `Content-Base` (RFC 2068, 14.11) declare a base. `Content-Location` has not declared
//! one since RFC 7231 (appendix B).
//!
//! A changed body is written without codings, so that the response stays complete. `Content-Length` is updated, or
//! replaces `Transfer-Encoding` (RFC 9112, 7.1.3). Other fields that describe the transferred bytes are renamed so
//! that no reader trusts them, as in web archives: `X-Archive-Orig-ETag` for `ETag`.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! use baselink_text::Format;
//! let options = Options { format: Format::Http, ..Options::at("http://a/") };
//! let response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nETag: \"1\"\r\n\r\n\
//!                  a\r\n<a href=x>\r\n0\r\n\r\n";
//! let expected = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 19\r\n\
//!                  X-Archive-Orig-ETag: \"1\"\r\n\r\n<a href=http://a/x>";
//! assert_eq!(rewrite(response, &options).output(), expected);
//! ```
//!
//! A file may have several responses, as `curl -i -L` writes them. Interim responses, redirects and other intermediate
//! steps without a body are skipped, and the next response is read.
//!
//! Deliberately absent: requests, and signatures (RFC 9421).

use std::sync::Arc;

use baselink_scan::{
    Heading, MediaType, UrlField,
    fields::{Field, decimal},
};
use baselink_text::{
    Code, Diagnostic, Edit, Format, Span,
    format::begins_response,
    layer::transfer::{Codings, TransferEncoding},
};

use super::entity::{
    ChangedBody, Container, Described, Entity, EntityKind, Structure, not_fields, separator_missing,
};

/// The layout of a response.
pub(crate) static HTTP: Container = Container {
    read: response,
    bases: &[UrlField::Base, UrlField::ContentBase],
    signatures: "",
    is_sealed: |_| false,
    longest_line: None,
    delimiters: |_| (0, 0),
    noun: "response",
    of_body: "Content-Length Transfer-Encoding Content-Encoding Content-MD5 Content-Range Digest Content-Digest \
        Repr-Digest ETag",
    describe,
    is_single: true,
};

const LENGTH: &str = "Content-Length";
const TRANSFER: &str = "Transfer-Encoding";
const CONTENT: &str = "Content-Encoding";

/// The length of the longest heading of a response, or of a record of an archive.
pub const LONGEST_HEADING: usize = 1 << 20;

/// The prefix for the name of a field that is no longer valid.
const ORIGINAL: &str = "X-Archive-Orig-";

/// Reads the response `bytes`, which is called `name`. Any bytes are accepted; without a status line, all of them
/// are the body.
pub fn response(bytes: &[u8], name: &Arc<str>) -> Structure {
    let mut diagnostics = Vec::new();
    let (heading, start) = last_heading(bytes);
    diagnostics.extend(not_fields(&heading));
    let mut body = Span::new(start, bytes.len());
    // Without a status line, there is no heading and no separator.
    let is_undivided = heading.separator.is_empty() && start > 0;
    if is_undivided && !body.is_empty() {
        diagnostics.push(separator_missing(body.start));
    }
    let values = |name| {
        heading
            .all(bytes, name)
            .map(|field| &bytes[field.value.range()])
    };
    if values(TRANSFER).next().is_none()
        && let Some((field, length)) = length(bytes, &heading)
        && length != body.len()
        && !body.is_empty()
    {
        if length < body.len() && begins_response(&bytes[body.start + length..]) {
            body.end = body.start + length;
            let message = "another response follows this one and was not read";
            let place = Span::at(body.end);
            diagnostics.push(Diagnostic::new(Code::SeveralResponses, place, message));
        } else {
            let message = format!(
                "Content-Length differs from the length of the body, {}",
                body.len()
            );
            diagnostics.push(Diagnostic::new(Code::LengthWrong, field.span, message));
        }
    }
    let kept = match () {
        () if is_part(bytes, &heading, body) => Some("it is only a range of the whole content"),
        () if is_undivided => Some("no empty line separates it from its heading"),
        () => None,
    };
    let codings = Codings::read(values("Content-Encoding"), values(TRANSFER), kept);
    let transfer_encoding = match codings {
        Some(codings) if codings.is_identity() => TransferEncoding::Binary,
        Some(codings) => TransferEncoding::Coded(codings),
        None => TransferEncoding::Unknown,
    };
    let media_type = media_type(bytes, &heading).unwrap_or_else(|| {
        let format = transfer_encoding
            .decode(bytes, body)
            .map_or(Format::Other, |body| Format::detect(None, &body.bytes));
        MediaType::read(format.media_type().as_bytes()).unwrap_or(MediaType::PLAIN)
    });
    let entity = Entity {
        name: Arc::clone(name),
        parent: None,
        heading,
        body,
        media_type,
        transfer_encoding,
        kind: EntityKind::Leaf,
        signed: false,
        is_in_quoted_printable: false,
    };
    Structure {
        container: &HTTP,
        entities: vec![entity],
        diagnostics,
    }
}

/// True if `body` is only a range of the content (RFC 9110, 14.4): not `Content-Range: bytes 0-7/8` with eight bytes.
fn is_part(bytes: &[u8], heading: &Heading, body: Span) -> bool {
    let Some(field) = heading.first(bytes, "Content-Range") else {
        return false;
    };
    let value = str::from_utf8(&bytes[field.value.range()]).unwrap_or_default();
    let is_coded = heading.first(bytes, TRANSFER).is_some();
    let whole = content_range(value).filter(|(first, end, length)| end - first == *length);
    whole.is_none_or(|(.., length)| !is_coded && (body.len() as u64) < length)
}

/// True if the body of `structure`, the response `bytes`, is all of the content, although its status may be 206.
pub fn is_whole(bytes: &[u8], structure: &Structure) -> bool {
    let Entity { heading, body, .. } = &structure.entities[0];
    !is_part(bytes, heading, *body) && !is_short(bytes, structure)
}

/// The start and end of the bytes that `value`, a `Content-Range` (RFC 9110, 14.4), denotes, and the length of the content:
/// `bytes 0-7/8`.
pub fn content_range(value: &str) -> Option<(u64, u64, u64)> {
    let range = value.trim().strip_prefix("bytes ")?.trim();
    let (range, length) = range.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let length: u64 = length.parse().ok()?;
    (first <= last && last < length).then(|| (first, last + 1, length))
}

/// True if the body of the entity is empty or [cut](is_cut).
pub fn is_short(bytes: &[u8], structure: &Structure) -> bool {
    structure.entities[0].body.is_empty() || is_cut(bytes, structure)
}

/// True if the body of the entity is shorter than `Content-Length`, or lacks its last chunk (RFC 9112, 7.1).
pub fn is_cut(bytes: &[u8], structure: &Structure) -> bool {
    let Entity {
        heading,
        body,
        transfer_encoding,
        ..
    } = &structure.entities[0];
    if heading.first(bytes, TRANSFER).is_some() {
        return matches!(
            transfer_encoding,
            TransferEncoding::Coded(codings) if codings.lacks_chunks(&bytes[body.range()])
        );
    }
    length(bytes, heading).is_some_and(|(_, length)| body.len() < length)
}

/// The status code of `structure`, the response `bytes`: that of the status line before the effective heading.
pub fn status(bytes: &[u8], structure: &Structure) -> Option<u16> {
    let before = &bytes[..structure.entities.first()?.heading.span.start];
    let line = before.strip_suffix(b"\n").unwrap_or(before);
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |at| at + 1)..];
    let code = line.split(|&byte| byte == b' ').nth(1)?.trim_ascii();
    std::str::from_utf8(code).ok()?.parse().ok()
}

/// The heading directly before the body, and the offset of the body. Interim responses (RFC 9110, 15.2), responses
/// of a proxy, and redirects may precede the heading.
fn last_heading(bytes: &[u8]) -> (Heading, usize) {
    // Some servers omit the version number.
    if !bytes.starts_with(b"HTTP") && !bytes.starts_with(b"ICY ") {
        return (Heading::default(), 0);
    }
    let mut at = 0;
    loop {
        let start = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1);
        let end = bytes.len().min(at + LONGEST_HEADING);
        let (heading, body) = Heading::read_whole(&bytes[..end], start.min(end));
        let is_followed = begins_response(&bytes[body..]) && !heading.separator.is_empty();
        if !is_followed || !is_intermediate(&bytes[at..start], bytes, &heading) {
            return (heading, body);
        }
        at = body;
    }
}

/// True if a response with this status line and `heading` is only an intermediate step, whose body the client does
/// not write.
fn is_intermediate(status: &[u8], bytes: &[u8], heading: &Heading) -> bool {
    let code = status
        .split(|&byte| byte == b' ')
        .nth(1)
        .unwrap_or_default();
    match code.first() {
        Some(b'1' | b'3') => true,
        Some(b'4') => code.starts_with(b"401") || code.starts_with(b"407"),
        // "Connection established", from a proxy.
        _ => heading.first(bytes, "Content-Type").is_none(),
    }
}

/// The media type of the body. The last valid field counts. Its parameters may come from an earlier field with the
/// same type (Fetch, "extract a MIME type").
fn media_type(bytes: &[u8], heading: &Heading) -> Option<MediaType> {
    let read = heading
        .all(bytes, "Content-Type")
        .filter_map(|field| MediaType::read(&bytes[field.value.range()]));
    read.reduce(|before, last| {
        let is_same = last.essence == before.essence;
        if is_same && last.parameter("charset").is_none() {
            before
        } else {
            last
        }
    })
}

/// The first `Content-Length`, and its value.
fn length(bytes: &[u8], heading: &Heading) -> Option<(Field, usize)> {
    let field = heading.first(bytes, LENGTH)?;
    Some((field, decimal(&bytes[field.value.range()])?))
}

/// Updates the fields that describe a changed body.
fn describe(changed: &ChangedBody<'_>) -> Described {
    let ChangedBody {
        bytes,
        entity,
        lifted,
        ..
    } = changed;
    let length = lifted
        .iter()
        .fold(entity.body.len(), |length, edit| {
            length + edit.new.len() - edit.span.len()
        })
        .to_string();
    let has_length = entity.heading.first(bytes, LENGTH).is_some();
    let (mut edits, mut renamed): (Vec<Edit<'static>>, Vec<&str>) = (Vec::new(), Vec::new());
    for field in &entity.heading.fields {
        let name = &bytes[field.name.range()];
        let value = &bytes[field.value.range()];
        let (span, new) = match HTTP
            .of_body
            .split(' ')
            .find(|known| name.eq_ignore_ascii_case(known.as_bytes()))
        {
            Some(LENGTH) if value == length.as_bytes() => continue,
            Some(LENGTH) => (field.value, length.clone()),
            // No coding of the field was undone.
            Some(CONTENT) if Codings::read([value], [], None).is_some_and(Codings::is_empty) => {
                continue;
            }
            Some(TRANSFER) if Codings::read([], [value], None).is_some_and(Codings::is_empty) => {
                continue;
            }
            Some(TRANSFER) if !has_length && !renamed.contains(&TRANSFER) => {
                renamed.push(TRANSFER);
                let span = Span::new(field.name.start, field.value.end);
                (span, format!("{LENGTH}: {length}"))
            }
            Some(name) => {
                renamed.push(name);
                (Span::at(field.name.start), ORIGINAL.to_owned())
            }
            None => continue,
        };
        let new = new.into_bytes().into();
        edits.push(Edit { span, new });
    }
    let diagnostic = (!renamed.is_empty()).then(|| {
        let had_codings = renamed
            .iter()
            .any(|name| [TRANSFER, CONTENT].contains(name));
        let message = format!(
            "{}header fields that described the original body were renamed: {}",
            if had_codings {
                "the body is now without codings; "
            } else {
                ""
            },
            renamed.join(", ")
        );
        Diagnostic::new(Code::FieldsRenamed, entity.heading.span, message)
    });
    (edits, diagnostic)
}
