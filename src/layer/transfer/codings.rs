//! Codings of HTTP: what was done to a body before it was sent, undone.
//!
//! Transfer codings (RFC 9112, 7) are of the message, content codings (RFC 9110, 8.4) of what it carries. Clients write
//! a heading as they got it over a body that they have decoded: `curl -i --compressed` does, `wget --save-headers`, and
//! many crawlers. So a body that is not coded as its heading says is taken as it is, and that is said.
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
//! gzip, deflate, br and zstd need the feature `codings`. Deliberately absent: encoding anew. A body that changes is
//! written without codings; and `compress`, which nobody sends any more.

use std::borrow::Cow;

use super::encoded::Obstacle;
use crate::diagnostic::{Code, Diagnostic};
use crate::format::begins_response;
use crate::span::Span;

/// A body has so many codings at most.
const MOST: usize = 4;

/// So many bytes a body may decode to.
#[cfg(feature = "codings")]
const LONGEST: usize = 1 << 28;

/// A body that decodes to more than so many times its length, whatever its codings are, is not read. deflate gives 258
/// bytes for 2 bits (RFC 1951, 3.2.5), which is 1,032 times: nothing is refused that gzip or deflate made, once, of
/// anything. Brotli, zstd and codings of codings have no such bound, and make a thirtieth of a page, rarely less.
#[cfg(feature = "codings")]
const RATIO: usize = 1_100;

/// So many bytes any body may decode to: of a body of less than a kilobyte the length tells little. It is what each of the
/// records costs that such an archive consists of.
#[cfg(feature = "codings")]
const FLOOR: usize = 1 << 20;

/// What was done to a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Coding {
    /// RFC 9112, 7.1.
    Chunked,
    /// RFC 1952.
    Gzip,
    /// RFC 1950, and RFC 1951 as some send it (RFC 9110, 8.4.1.2).
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

/// The codings by the names that fields have for them, in lower case; `x-gzip` is the same as `gzip` (RFC 9110, 8.4.1.3).
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

/// What was done to a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Codings {
    /// In that order.
    done: [Option<Coding>; MOST],
    /// Why the body must not change, whatever its codings are.
    kept: Option<&'static str>,
}

/// A body without its codings.
pub(super) struct Uncoded<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Why it cannot be written without them, though it can be read.
    pub(super) obstacle: Option<&'static str>,
    /// What is to be said of it.
    pub(super) remarks: Vec<Diagnostic>,
}

/// What a coding is undone to.
enum Undone {
    /// It was not coded so.
    Not,
    /// All of it; where there is more to it, what.
    Bytes(Vec<u8>, Option<&'static str>),
}

impl Codings {
    /// Those that the values of `Content-Encoding` and `Transfer-Encoding` fields name, each a list; and why the body
    /// is to be `kept` as it is, a clause without a full stop. `None` where one is unknown, or there are more than four.
    #[must_use]
    pub fn read<'v>(
        content: impl IntoIterator<Item = &'v [u8]>,
        transfer: impl IntoIterator<Item = &'v [u8]>,
        kept: Option<&'static str>,
    ) -> Option<Self> {
        let mut done = [None; MOST];
        let mut places = done.iter_mut();
        for name in
            content.into_iter().chain(transfer).flat_map(|value| value.split(|&b| b == b','))
        {
            // A transfer coding may have parameters.
            let name = name.split(|&byte| byte == b';').next()?.trim_ascii();
            let is_it = |known: &&(&str, _)| name.eq_ignore_ascii_case(known.0.as_bytes());
            if let Some(coding) = CODINGS.iter().find(is_it)?.1 {
                *places.next()? = Some(coding);
            }
        }
        Some(Self { done, kept })
    }

    /// Whether nothing was done, and the body may change.
    #[must_use]
    pub fn is_identity(self) -> bool {
        self == Self::default()
    }

    /// Undoes them, the last one first.
    ///
    /// # Errors
    ///
    /// A coding that this build of the library does not read, and a body that decodes to too many times its length. `at`
    /// is where the body begins.
    pub(super) fn decode(self, body: &[u8], at: usize) -> Result<Uncoded<'_>, Obstacle> {
        let bytes = Cow::Borrowed(body);
        let mut uncoded = Uncoded { bytes, obstacle: self.kept, remarks: Vec::new() };
        for coding in self.done.into_iter().rev().flatten() {
            if uncoded.bytes.is_empty() {
                break;
            }
            let mut say = |code, message: Cow<'static, str>| {
                uncoded.remarks.push(Diagnostic::new(code, Span::at(at), message));
            };
            let undone = match coding {
                Coding::Chunked => Ok(chunks(&uncoded.bytes)),
                _ => compressed(coding, &uncoded.bytes, body.len()),
            };
            match undone.map_err(|reason| Obstacle::new(at, reason))? {
                Undone::Not => {
                    let name = CODINGS.iter().rfind(|(_, known)| *known == Some(coding));
                    let name = name.map_or("", |(name, _)| name);
                    let message = format!("the heading says {name}, and the body is not");
                    say(Code::CodingAbsent, message.into());
                }
                Undone::Bytes(bytes, more) => {
                    uncoded.bytes = Cow::Owned(bytes);
                    uncoded.obstacle = uncoded.obstacle.or(more);
                    if let Some(more) = more {
                        say(Code::TransferUndecodable, more.into());
                    }
                }
            }
        }
        if matches!(uncoded.bytes, Cow::Owned(_)) && begins_response(&uncoded.bytes) {
            uncoded.obstacle = Some("it begins as a response does, which it would be taken for");
        }
        Ok(uncoded)
    }
}

/// The data of chunks (RFC 9112, 7.1). A chunk ends with a line end; the last one has no data, and may have trailer
/// fields after it.
fn chunks(bytes: &[u8]) -> Undone {
    const DAMAGED: &str = "its chunks are damaged: what follows the damage was not read";
    let mut data = Vec::new();
    let mut rest = bytes;
    loop {
        let is_first = rest.len() == bytes.len();
        let Some((size, after)) = chunk_size(rest) else {
            return if is_first { Undone::Not } else { Undone::Bytes(data, Some(DAMAGED)) };
        };
        if size == 0 {
            let more = match after {
                b"" | b"\n" | b"\r\n" => None,
                [b'\n', ..] | [b'\r', b'\n', ..] => Some("there is more after its last chunk"),
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
            _ if is_first => return Undone::Not,
            _ => return Undone::Bytes(data, Some(DAMAGED)),
        };
        data.extend_from_slice(&after[..size]);
    }
}

/// The size of the chunk at the start of `bytes`, and what follows its line. An extension is a `;` and more.
fn chunk_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    /// Nobody sends longer lines.
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

    // What `deflate` is without its header, and `br`, begin with any byte.
    let (is_marked, is_it) = match coding {
        Coding::Gzip => (true, bytes.starts_with(b"\x1f\x8b")),
        Coding::Zstd => (true, bytes.starts_with(b"\x28\xb5\x2f\xfd")),
        _ => (false, true),
    };
    if !is_it {
        return Ok(Undone::Not);
    }
    let (data, more) = match coding {
        Coding::Gzip => all_of(MultiGzDecoder::new(bytes), length),
        Coding::Deflate if has_zlib_header(bytes) => all_of(ZlibDecoder::new(bytes), length),
        Coding::Deflate => all_of(DeflateDecoder::new(bytes), length),
        Coding::Brotli => all_of(brotli_decompressor::Decompressor::new(bytes, 4_096), length),
        Coding::Zstd => all_of(Frames::new(bytes), length),
        Coding::Chunked => return Ok(Undone::Not),
    }?;
    Ok(match more {
        Some(DAMAGED) if data.is_empty() || (!is_marked && is_text(bytes)) => Undone::Not,
        more => Undone::Bytes(data, more),
    })
}

/// What is said of data that end before their end, or are wrong.
#[cfg(feature = "codings")]
const DAMAGED: &str = "its compressed data are damaged: what follows the damage was not read";

/// The output of `decoder` for a body of `length` bytes as sent, and the obstacle that ended it early, if any.
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
        Ok(_) => Some("it is longer than 256 MB, of which the rest was not read"),
        Err(error) if error.kind() == ErrorKind::OutOfMemory => {
            return Err("there is not enough memory for it");
        }
        Err(_) => Some(DAMAGED),
    };
    data.truncate(LONGEST);
    Ok((data, more))
}

/// RFC 1950, 2.2: the method is 8, and the first two bytes are a multiple of 31.
#[cfg(feature = "codings")]
fn has_zlib_header(bytes: &[u8]) -> bool {
    matches!(bytes, [method, flags, ..]
        if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

/// Whether `bytes` begin as text does.
#[cfg(feature = "codings")]
fn is_text(bytes: &[u8]) -> bool {
    let is_of_text = |&byte: &u8| byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c');
    bytes.iter().take(512).all(is_of_text)
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
        // RFC 9659, 3: what has a longer window is nothing that a browser takes.
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
