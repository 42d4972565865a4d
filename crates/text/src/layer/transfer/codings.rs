//! Decodes the codings of an HTTP body.
//!
//! Transfer codings (RFC 9112, 7) belong to the message, content codings (RFC 9110, 8.4) to its content. Many
//! clients store the original heading with a decoded body: `curl -i --compressed`, `wget --save-headers`, and many
//! crawlers. A body that is not coded as its heading claims is therefore used as it is, with a diagnostic. Damaged data
//! are decoded as far as possible, and an unknown content coding turns decoding off, as in browsers.
//!
//! ```
//! use baselink_text::layer::transfer::{Codings, TransferEncoding};
//! use baselink_text::Span;
//! let codings = Codings::read([&b"identity"[..]], [&b"chunked"[..]], None).unwrap();
//! let body = b"3\r\n<a \r\n7;x=y\r\nhref=x>\r\n0\r\n\r\n";
//! let decoded = TransferEncoding::Coded(codings).decode(body, Span::new(0, body.len())).unwrap();
//! assert_eq!(&*decoded.bytes, b"<a href=x>");
//! ```
//!
//! gzip, deflate, br and zstd need the feature `codings`. Deliberately absent: encoding. A changed body is written
//! without codings. `compress` is obsolete and not supported.

use std::borrow::Cow;

#[cfg(feature = "codings")]
use super::compressed::compressed;
use super::{
    coding::{Coding, Undone, coding},
    encoded::Obstacle,
};
use crate::{
    diagnostic::{Code, Diagnostic},
    format::begins_response,
    span::Span,
};

/// The maximum number of codings of a body.
const MOST: usize = 4;

/// The maximum length of what `compressed` bytes of an archive contain around its bodies: 256 times their number, or 16 MiB if
/// that is more. Records and JSON rarely shrink to less than a thirtieth, and there are several layers of them.
pub fn longest_of(compressed: u64) -> u64 {
    compressed.saturating_mul(256).max(16 << 20)
}

/// The most bytes at the beginning of a body that are decoded to find its format.
pub const BEGINNING: usize = 1_024;

/// The codings of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codings {
    /// The codings in the order in which they were applied.
    applied: [Option<Coding>; MOST],
    /// True if a content coding is unknown.
    has_unknown: bool,
    /// The reason, if any, why the body must not change, whatever its codings.
    kept: Option<&'static str>,
}

/// A decoded body.
pub struct Uncoded<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// The reason, if any, why the body cannot be written without its codings.
    pub obstacle: Option<&'static str>,
    /// The diagnostics about the body.
    pub remarks: Vec<Diagnostic>,
}

impl Codings {
    /// True if the outermost coding is chunked, and the last chunk of `body` is missing or cannot be reached.
    pub fn lacks_chunks(&self, body: &[u8]) -> bool {
        let mut outermost = self.applied.iter().rev().flatten();
        outermost.next() == Some(&Coding::Chunked)
            && matches!(each_chunk(body, |_| ()), Some(Some(NO_LAST_CHUNK)))
    }

    /// The codings named in `Content-Encoding` and `Transfer-Encoding` fields, each a list. `kept` is the reason,
    /// if any, to keep the body unchanged: a clause without a full stop. As in Chromium, no content coding is undone
    /// if one is unknown, and unknown transfer codings are ignored. `None` if there are more than four codings.
    pub fn read<'v>(
        content: impl IntoIterator<Item = &'v [u8]>,
        transfer: impl IntoIterator<Item = &'v [u8]>,
        kept: Option<&'static str>,
    ) -> Option<Self> {
        let content: Option<Vec<_>> = names(content).map(coding).collect();
        let has_unknown = content.is_none();
        let transfer = names(transfer).filter_map(coding);
        let mut applied = [None; MOST];
        let mut places = applied.iter_mut();
        for coding in content.into_iter().flatten().chain(transfer).flatten() {
            *places.next()? = Some(coding);
        }
        Some(Self {
            applied,
            has_unknown,
            kept,
        })
    }

    /// True if no coding is undone.
    pub fn is_empty(self) -> bool {
        self.applied == [None; MOST]
    }

    /// The reason, if any, why the body must not change.
    pub fn kept(self) -> Option<&'static str> {
        self.kept
    }

    /// True if there are no codings and the body may change.
    pub fn is_identity(self) -> bool {
        self == Self::default()
    }

    /// Undoes the codings, the last one first. Stops after `most` bytes, if given. `at` is the start of the body.
    ///
    /// # Errors
    ///
    /// Fails if this build does not support a coding, if nothing can be decoded, if zstd data are damaged, or if the
    /// body decodes to too many times its length.
    pub(super) fn decode(
        self,
        body: &[u8],
        at: usize,
        most: Option<usize>,
    ) -> Result<Uncoded<'_>, Obstacle> {
        let bytes = Cow::Borrowed(body);
        let mut uncoded = Uncoded {
            bytes,
            obstacle: self.kept,
            remarks: Vec::new(),
        };
        if self.has_unknown {
            let message =
                "the heading declares an unknown content coding; the body was not decoded";
            uncoded
                .remarks
                .push(Diagnostic::new(Code::CodingAbsent, Span::at(at), message));
        }
        for coding in self.applied.into_iter().rev().flatten() {
            if uncoded.bytes.is_empty() {
                break;
            }
            let mut report = |code, message: Cow<'static, str>| {
                uncoded
                    .remarks
                    .push(Diagnostic::new(code, Span::at(at), message));
            };
            let undone = match coding {
                Coding::Chunked => Ok(chunks(&uncoded.bytes, most)),
                _ => compressed(coding, &uncoded.bytes, body.len(), most),
            };
            match undone.map_err(|reason| Obstacle::new(at, reason))? {
                None => {
                    let name = coding.name();
                    let message =
                        format!("the heading declares {name}, but the body is not in this coding");
                    report(Code::CodingAbsent, message.into());
                }
                Some((bytes, more)) => {
                    uncoded.bytes = Cow::Owned(bytes);
                    uncoded.obstacle = uncoded.obstacle.or(more);
                    if let Some(more) = more.filter(|more| *more != TRAILERS) {
                        report(Code::TransferUndecodable, more.into());
                    }
                }
            }
        }
        if matches!(uncoded.bytes, Cow::Owned(_)) && begins_response(&uncoded.bytes) {
            uncoded.obstacle = Some("it begins like a response and would be read as one");
        }
        Ok(uncoded)
    }
}

/// The names in lists of codings. A transfer coding may have parameters.
fn names<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> impl Iterator<Item = &'v [u8]> {
    values
        .into_iter()
        .flat_map(|value| value.split(|&byte| byte == b','))
        .map(|name| {
            name.split(|&byte| byte == b';')
                .next()
                .unwrap_or_default()
                .trim_ascii()
        })
}

/// The obstacle of a complete body whose trailer fields would be lost.
const TRAILERS: &str = "it has trailer fields";

/// The obstacle of a body that lacks chunks.
const NO_LAST_CHUNK: &str = "its last chunk is missing";

/// Decodes chunks, up to about `most` bytes; `None` if `bytes` are not chunks.
fn chunks(bytes: &[u8], most: Option<usize>) -> Option<Undone> {
    let mut data = Vec::new();
    let ended = each_chunk(bytes, |chunk| {
        if most.is_none_or(|most| data.len() < most) {
            data.extend_from_slice(chunk);
        }
    });
    Some((data, ended?))
}

/// Passes the data of each chunk (RFC 9112, 7.1) to `take`. A chunk has a line end after it. The last one is empty, and trailer
/// fields may follow it. Returns the obstacle, if any; `None` if `bytes` are not chunks up to their end: many programs store the
/// heading with a body without chunks, and its first line may look like a size. So a body that ends within its first chunk must
/// have the CR of the standard.
fn each_chunk(bytes: &[u8], mut take: impl FnMut(&[u8])) -> Option<Option<&'static str>> {
    /// The maximum length of a line, far above real ones.
    const LONGEST_LINE: usize = 4_096;
    let mut rest = bytes;
    loop {
        let is_first = rest.len() == bytes.len();
        let Some(end) = memchr::memchr(b'\n', &rest[..rest.len().min(LONGEST_LINE)]) else {
            let is_cut =
                rest.len() < LONGEST_LINE && (rest.is_empty() || chunk_size(rest).is_some());
            return (is_cut && !is_first).then_some(Some(NO_LAST_CHUNK));
        };
        let (line, after) = (&rest[..end], &rest[end + 1..]);
        let size = chunk_size(line)?;
        let is_plausible = !is_first || line.ends_with(b"\r");
        if size == 0 {
            let trailer = after.split(|&byte| byte == b'\n').next()?;
            return match after {
                b"\n" | b"\r\n" => Some(None),
                _ if is_first && !(is_plausible && trailer.contains(&b':')) => None,
                b"" => Some(None),
                [b'\n', ..] | [b'\r', b'\n', ..] => Some(Some("data follows its last chunk")),
                _ => Some(Some(TRAILERS)),
            };
        }
        if size >= after.len() {
            take(after);
            return is_plausible.then_some(Some(NO_LAST_CHUNK));
        }
        take(&after[..size]);
        rest = match &after[size..] {
            [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
            b"\r" => b"",
            _ => return None,
        };
    }
}

/// The size in the `line` before a chunk. An extension begins with `;`.
fn chunk_size(line: &[u8]) -> Option<usize> {
    let size = line.split(|&byte| byte == b';').next()?.trim_ascii();
    let is_size = size.iter().all(u8::is_ascii_hexdigit);
    usize::from_str_radix(str::from_utf8(size).ok().filter(|_| is_size)?, 16).ok()
}

#[cfg(not(feature = "codings"))]
fn compressed(
    _: Coding,
    _: &[u8],
    _: usize,
    _: Option<usize>,
) -> Result<Option<Undone>, &'static str> {
    Err("it is compressed, and this build does not decompress")
}

#[cfg(all(test, feature = "codings"))]
mod tests;
