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

use super::encoded::Obstacle;
#[cfg(feature = "codings")]
use crate::format::media_type_of;
use crate::{
    diagnostic::{Code, Diagnostic},
    format::begins_response,
    named,
    span::Span,
};

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

/// The maximum length of what `compressed` bytes of an archive contain around its bodies: 256 times their number, or 16 MiB if
/// that is more. Records and JSON rarely shrink to less than a thirtieth, and there are several layers of them.
pub fn longest_of(compressed: u64) -> u64 {
    compressed.saturating_mul(256).max(16 << 20)
}

/// The most bytes at the beginning of a body that are decoded to find its format.
pub const BEGINNING: usize = 1_024;

named! {
    /// A coding of a body, by its name in header fields.
    pub enum Coding {
        /// RFC 9112, 7.1.
        Chunked = "chunked",
        /// RFC 1952.
        Gzip = "gzip",
        /// RFC 1950; some servers send bare RFC 1951 data instead (RFC 9110, 8.4.1.2).
        Deflate = "deflate",
        /// RFC 7932.
        Brotli = "br",
        /// RFC 8878.
        Zstd = "zstd",
    }
}

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
    pub(super) bytes: Cow<'a, [u8]>,
    /// The reason, if any, why the body cannot be written without its codings.
    pub(super) obstacle: Option<&'static str>,
    /// The diagnostics about the body.
    pub(super) remarks: Vec<Diagnostic>,
}

/// The decoded bytes, and a description of the damage if they are incomplete.
type Undone = (Vec<u8>, Option<&'static str>);

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

/// The coding called `name`, in any case; `None` if it is unknown, `Some(None)` if the body stays as it is. `x-gzip` is an
/// alias of `gzip` (RFC 9110, 8.4.1.3).
fn coding(name: &[u8]) -> Option<Option<Coding>> {
    let name = name.to_ascii_lowercase();
    let known: &[u8] = match name.as_slice() {
        b"" | b"identity" | b"none" => return Some(None),
        b"x-gzip" => b"gzip",
        known => known,
    };
    let mut codings = Coding::ALL.into_iter();
    codings
        .find(|coding| coding.name().as_bytes() == known)
        .map(Some)
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

/// Decompresses `bytes`, which belong to a body of `length` bytes, up to `most` bytes; `None` if they do not have this coding.
#[cfg(feature = "codings")]
fn compressed(
    coding: Coding,
    bytes: &[u8],
    length: usize,
    most: Option<usize>,
) -> Result<Option<Undone>, &'static str> {
    let is_gzip = bytes.starts_with(b"\x1f\x8b");
    let has_signature = match coding {
        Coding::Gzip if !is_gzip => return Ok(None),
        Coding::Zstd if !bytes.starts_with(b"\x28\xb5\x2f\xfd") => return Ok(None),
        Coding::Zstd => true,
        // Some servers call gzip deflate. Other deflate and brotli data have no signature.
        _ => is_gzip,
    };
    let (data, more) = inflated(coding, bytes, length, most)?;
    Ok(match more {
        Some(DAMAGED | FOLLOWED)
            if !has_signature && (is_text(bytes) || media_type_of(bytes).is_some()) =>
        {
            None
        }
        Some(DAMAGED) if data.is_empty() && !has_signature => None,
        Some(DAMAGED) if data.is_empty() || coding == Coding::Zstd => return Err(UNREADABLE),
        more => Some((data, more)),
    })
}

/// The decompressed bytes, and the obstacle that ended them early, if any.
#[cfg(feature = "codings")]
type Inflated = Result<Undone, &'static str>;

/// Decompresses `bytes`, which begin with the signature of the `coding` if it has one.
#[cfg(feature = "codings")]
fn inflated(coding: Coding, bytes: &[u8], length: usize, most: Option<usize>) -> Inflated {
    use std::io::Read as _;

    use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

    let mut rest = bytes;
    // Deflate and Brotli decoders leave the bytes after the end.
    let (data, more) = match coding {
        Coding::Gzip | Coding::Deflate if bytes.starts_with(b"\x1f\x8b") => {
            rest = &[];
            let mut decoder = MultiGzDecoder::new(bytes);
            let (data, more) = all_of(&mut decoder, length, most)?;
            // Without a header, the decoder stopped after a member.
            let is_between = more.is_some() && !data.is_empty() && decoder.header().is_none();
            (data, if is_between { Some(FOLLOWED) } else { more })
        }
        Coding::Deflate if has_zlib_header(bytes) => {
            all_of(ZlibDecoder::new(&mut rest), length, most)?
        }
        Coding::Deflate => all_of(DeflateDecoder::new(&mut rest), length, most)?,
        Coding::Zstd => {
            rest = &[];
            all_of(Frames::new(bytes), length, most)?
        }
        Coding::Brotli | Coding::Gzip | Coding::Chunked => {
            let mut decoder = brotli_decompressor::Decompressor::new(&mut rest, 4_096);
            let (data, more) = all_of(&mut decoder, length, most)?;
            // The decoder rejects bytes after the end that it has already read.
            let is_followed = more.is_none() && decoder.read(&mut [0]).is_err();
            (data, if is_followed { Some(FOLLOWED) } else { more })
        }
    };
    let is_whole = most.is_none_or(|most| data.len() < most);
    let is_followed = more.is_none() && is_whole && !rest.is_empty();
    Ok((data, if is_followed { Some(FOLLOWED) } else { more }))
}

/// The diagnostic for compressed data that are truncated or corrupt.
#[cfg(feature = "codings")]
const DAMAGED: &str = "its compressed data are truncated or damaged; the rest was not read";

/// The diagnostic for bytes after compressed data.
#[cfg(feature = "codings")]
const FOLLOWED: &str = "other bytes follow its compressed data and were not read";

/// The diagnostic for compressed data that cannot be decoded even in part.
#[cfg(feature = "codings")]
const UNREADABLE: &str = "its compressed data are truncated or damaged and cannot be decoded";

/// The output of `decoder` for an encoded body of `length` bytes, up to `most` bytes, and the obstacle that ended it
/// early, if any.
#[cfg(feature = "codings")]
fn all_of(decoder: impl std::io::Read, length: usize, most: Option<usize>) -> Inflated {
    use std::io::{ErrorKind, Read as _};
    let allowed = length.saturating_mul(RATIO).clamp(FLOOR, LONGEST);
    let limit = most.unwrap_or(allowed + 1);
    let mut data = Vec::new();
    let read = decoder.take(limit as u64).read_to_end(&mut data);
    let more = match read {
        Ok(_) if data.len() <= allowed => None,
        Ok(_) if allowed < LONGEST => {
            return Err("it inflates to more than 1,100 times its length");
        }
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
    bytes
        .iter()
        .take(512)
        .all(|&byte| byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c'))
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
        Self {
            rest: bytes,
            decoder,
        }
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
                    self.decoder
                        .decode_blocks(&mut self.rest, UptoBlocks(1))
                        .map_err(Error::other)?;
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
