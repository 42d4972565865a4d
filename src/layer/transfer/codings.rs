//! Decodes the codings of an HTTP body.
//!
//! Transfer codings (RFC 9112, 7) belong to the message, content codings (RFC 9110, 8.4) to its content. Many
//! clients store the original heading with a decoded body: `curl -i --compressed`, `wget --save-headers`, and many
//! crawlers. A body that is not coded as its heading claims is therefore used as it is, with a diagnostic.
//!
//! ```
//! use baselink::layer::transfer::{Codings, TransferEncoding};
//! use baselink::span::Span;
//! let codings = Codings::read([&b"identity"[..]], [&b"chunked"[..]], None).unwrap();
//! let body = b"3\r\n<a \r\n7;x=y\r\nhref=x>\r\n0\r\n\r\n";
//! let decoded = TransferEncoding::Coded(codings).decode(body, Span::new(0, body.len())).unwrap();
//! assert_eq!(&*decoded.bytes, b"<a href=x>");
//! ```
//!
//! gzip, deflate, br and zstd need the feature `codings`. Deliberately absent: encoding. A changed body is written
//! without codings. `compress` is obsolete and not supported.

use std::borrow::Cow;

use super::encoded::Obstacle;
use crate::diagnostic::{Code, Diagnostic};
use crate::format::begins_response;
use crate::span::Span;

/// The maximum number of codings of a body.
const MOST: usize = 4;

/// The maximum decoded size of a body, in bytes.
#[cfg(feature = "codings")]
const LONGEST: usize = 1 << 28;

/// The maximum ratio of decoded to encoded size, for all codings of a body together. deflate produces at most 258
/// bytes from 2 bits (RFC 1951, 3.2.5), a ratio of 1,032, so any body that gzip or deflate compressed once is
/// accepted. Brotli, zstd and nested codings have no such limit, but rarely shrink a page to less than a
/// thirtieth.
#[cfg(feature = "codings")]
const RATIO: usize = 1_100;

/// The decoded size that is allowed for every body, because the ratio says little about bodies below a kilobyte.
/// In an archive of such bodies, no record costs more than this.
#[cfg(feature = "codings")]
const FLOOR: usize = 1 << 20;

/// A coding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Coding {
    /// RFC 9112, 7.1.
    Chunked,
    /// RFC 1952.
    Gzip,
    /// RFC 1950; some servers send bare RFC 1951 data instead (RFC 9110, 8.4.1.2).
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

/// The codings by their names in header fields, in lower case. `x-gzip` is an alias of `gzip` (RFC 9110, 8.4.1.3).
const CODINGS: &[(&str, Option<Coding>)] = &[
    ("", None),
    ("identity", None),
    ("none", None),
    ("chunked", Some(Coding::Chunked)),
    ("x-gzip", Some(Coding::Gzip)),
    ("gzip", Some(Coding::Gzip)),
    ("deflate", Some(Coding::Deflate)),
    ("br", Some(Coding::Brotli)),
    ("zstd", Some(Coding::Zstd)),
];

/// The codings of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Codings {
    /// The codings in the order in which they were applied.
    applied: [Option<Coding>; MOST],
    /// The reason, if any, why the body must not change, whatever its codings.
    kept: Option<&'static str>,
}

/// A decoded body.
pub(super) struct Uncoded<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// The reason, if any, why the body cannot be written without its codings.
    pub(super) obstacle: Option<&'static str>,
    /// The diagnostics about the body.
    pub(super) remarks: Vec<Diagnostic>,
}

/// The result of undoing a coding.
enum Undone {
    /// The body does not have this coding.
    NotCoded,
    /// The decoded bytes, and a description of the damage if they are incomplete.
    Bytes(Vec<u8>, Option<&'static str>),
}

impl Codings {
    /// The codings named in `Content-Encoding` and `Transfer-Encoding` fields, each a list. `kept` is the reason,
    /// if any, to keep the body unchanged: a clause without a full stop. `None` if a coding is unknown, or there
    /// are more than four.
    #[must_use]
    pub fn read<'v>(
        content: impl IntoIterator<Item = &'v [u8]>,
        transfer: impl IntoIterator<Item = &'v [u8]>,
        kept: Option<&'static str>,
    ) -> Option<Self> {
        let mut applied = [None; MOST];
        let mut places = applied.iter_mut();
        for name in
            content.into_iter().chain(transfer).flat_map(|value| value.split(|&b| b == b','))
        {
            // A transfer coding may have parameters.
            let name = name.split(|&byte| byte == b';').next()?.trim_ascii();
            let has_name = |known: &&(&str, _)| name.eq_ignore_ascii_case(known.0.as_bytes());
            if let Some(coding) = CODINGS.iter().find(has_name)?.1 {
                *places.next()? = Some(coding);
            }
        }
        Some(Self { applied, kept })
    }

    /// True if there are no codings and the body may change.
    #[must_use]
    pub fn is_identity(self) -> bool {
        self == Self::default()
    }

    /// Undoes the codings, the last one first.
    ///
    /// # Errors
    ///
    /// Fails if this build does not support a coding, or if the body decodes to too many times its length. `at` is
    /// the start of the body.
    pub(super) fn decode(self, body: &[u8], at: usize) -> Result<Uncoded<'_>, Obstacle> {
        let bytes = Cow::Borrowed(body);
        let mut uncoded = Uncoded { bytes, obstacle: self.kept, remarks: Vec::new() };
        for coding in self.applied.into_iter().rev().flatten() {
            if uncoded.bytes.is_empty() {
                break;
            }
            let mut report = |code, message: Cow<'static, str>| {
                uncoded.remarks.push(Diagnostic::new(code, Span::at(at), message));
            };
            let undone = match coding {
                Coding::Chunked => Ok(chunks(&uncoded.bytes)),
                _ => compressed(coding, &uncoded.bytes, body.len()),
            };
            match undone.map_err(|reason| Obstacle::new(at, reason))? {
                Undone::NotCoded => {
                    let name = CODINGS.iter().rfind(|(_, known)| *known == Some(coding));
                    let name = name.map_or("", |(name, _)| name);
                    let message =
                        format!("the heading declares {name}, but the body is not in this coding");
                    report(Code::CodingAbsent, message.into());
                }
                Undone::Bytes(bytes, more) => {
                    uncoded.bytes = Cow::Owned(bytes);
                    uncoded.obstacle = uncoded.obstacle.or(more);
                    if let Some(more) = more {
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

/// Decodes chunks (RFC 9112, 7.1), each with a line end after it. The last chunk is empty, and trailer fields may
/// follow it.
fn chunks(bytes: &[u8]) -> Undone {
    const DAMAGED: &str = "its chunks are damaged; the rest was not read";
    let mut data = Vec::new();
    let mut rest = bytes;
    loop {
        let is_first = rest.len() == bytes.len();
        let Some((size, after)) = chunk_size(rest) else {
            return if is_first { Undone::NotCoded } else { Undone::Bytes(data, Some(DAMAGED)) };
        };
        if size == 0 {
            let more = match after {
                b"" | b"\n" | b"\r\n" => None,
                [b'\n', ..] | [b'\r', b'\n', ..] => Some("data follows its last chunk"),
                _ => Some("it has trailer fields"),
            };
            return Undone::Bytes(data, more);
        }
        if size >= after.len() {
            data.extend_from_slice(after);
            return Undone::Bytes(data, Some("its last chunk is missing"));
        }
        rest = match &after[size..] {
            [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
            _ if is_first => return Undone::NotCoded,
            _ => return Undone::Bytes(data, Some(DAMAGED)),
        };
        data.extend_from_slice(&after[..size]);
    }
}

/// The size of the chunk at the start of `bytes`, and the rest after its line. An extension begins with `;`.
fn chunk_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    /// The maximum length of the line, far above real ones.
    const LONGEST_LINE: usize = 4_096;
    let end = memchr::memchr(b'\n', &bytes[..bytes.len().min(LONGEST_LINE)])?;
    let size = bytes[..end].split(|&byte| byte == b';').next()?.trim_ascii();
    let is_size = size.iter().all(u8::is_ascii_hexdigit);
    let size = usize::from_str_radix(str::from_utf8(size).ok().filter(|_| is_size)?, 16).ok()?;
    Some((size, &bytes[end + 1..]))
}

#[cfg(not(feature = "codings"))]
fn compressed(_: Coding, _: &[u8], _: usize) -> Result<Undone, &'static str> {
    Err("it is compressed, and this build does not decompress")
}

#[cfg(feature = "codings")]
fn compressed(coding: Coding, bytes: &[u8], length: usize) -> Result<Undone, &'static str> {
    use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

    // deflate and brotli data have no signature.
    let (has_signature, is_coded) = match coding {
        Coding::Gzip => (true, bytes.starts_with(b"\x1f\x8b")),
        Coding::Zstd => (true, bytes.starts_with(b"\x28\xb5\x2f\xfd")),
        _ => (false, true),
    };
    if !is_coded {
        return Ok(Undone::NotCoded);
    }
    let (data, more) = match coding {
        Coding::Gzip => all_of(MultiGzDecoder::new(bytes), length),
        Coding::Deflate if has_zlib_header(bytes) => all_of(ZlibDecoder::new(bytes), length),
        Coding::Deflate => all_of(DeflateDecoder::new(bytes), length),
        Coding::Brotli => all_of(brotli_decompressor::Decompressor::new(bytes, 4_096), length),
        Coding::Zstd => all_of(Frames::new(bytes), length),
        Coding::Chunked => return Ok(Undone::NotCoded),
    }?;
    Ok(match more {
        Some(DAMAGED) if data.is_empty() || (!has_signature && is_text(bytes)) => Undone::NotCoded,
        more => Undone::Bytes(data, more),
    })
}

/// The diagnostic for compressed data that are truncated or corrupt.
#[cfg(feature = "codings")]
const DAMAGED: &str = "its compressed data are damaged; the rest was not read";

/// The output of `decoder` for an encoded body of `length` bytes, and the obstacle that ended it early, if any.
#[cfg(feature = "codings")]
fn all_of(
    decoder: impl std::io::Read,
    length: usize,
) -> Result<(Vec<u8>, Option<&'static str>), &'static str> {
    use std::io::{ErrorKind, Read as _};
    let most = length.saturating_mul(RATIO).clamp(FLOOR, LONGEST);
    let mut data = Vec::new();
    let read = decoder.take(most as u64 + 1).read_to_end(&mut data);
    let more = match read {
        Ok(_) if data.len() <= most => None,
        Ok(_) if most < LONGEST => return Err("it inflates to more than 1,100 times its length"),
        Ok(_) => Some("it is longer than 256 MB; the rest was not read"),
        Err(error) if error.kind() == ErrorKind::OutOfMemory => {
            return Err("there is not enough memory for it");
        }
        Err(_) => Some(DAMAGED),
    };
    data.truncate(LONGEST);
    Ok((data, more))
}

/// True if `bytes` begin like zlib data (RFC 1950, 2.2): the method is 8, and the first two bytes, as a number, are a
/// multiple of 31.
#[cfg(feature = "codings")]
fn has_zlib_header(bytes: &[u8]) -> bool {
    matches!(bytes, [method, flags, ..]
        if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

/// True if `bytes` begin like text.
#[cfg(feature = "codings")]
fn is_text(bytes: &[u8]) -> bool {
    let is_text_byte = |&byte: &u8| byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c');
    bytes.iter().take(512).all(is_text_byte)
}

/// The frames of zstd data, one after the other (RFC 8878, 3.1).
#[cfg(feature = "codings")]
struct Frames<'a> {
    rest: &'a [u8],
    decoder: ruzstd::decoding::FrameDecoder,
}

#[cfg(feature = "codings")]
impl<'a> Frames<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = ruzstd::decoding::FrameDecoder::new();
        // RFC 9659, 3: browsers do not accept a larger window.
        decoder.set_max_window_size(8 << 20);
        Self { rest: bytes, decoder }
    }
}

#[cfg(feature = "codings")]
impl std::io::Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        use ruzstd::decoding::BlockDecodingStrategy::UptoBlocks;
        use std::io::Error;
        while !buffer.is_empty() && self.decoder.can_collect() == 0 {
            match self.decoder.is_finished() {
                false => {
                    let done = self.decoder.decode_blocks(&mut self.rest, UptoBlocks(1));
                    done.map_err(Error::other)?;
                }
                true if self.rest.is_empty() => return Ok(0),
                true => self.decoder.reset(&mut self.rest).map_err(Error::other)?,
            }
        }
        self.decoder.read(buffer)
    }
}

#[cfg(all(test, feature = "codings"))]
mod tests;
