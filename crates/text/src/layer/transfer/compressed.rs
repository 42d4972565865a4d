//! Decompresses gzip, deflate, br and zstd data, as far as they are undamaged.
//!
//! ```text
//! deflate, "\x1f\x8b…"  -->  the bytes of the gzip members, because some servers call gzip deflate
//! ```
//!
//! Deliberately absent: the names of the codings.

use std::io::{self, ErrorKind, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::{BlockDecodingStrategy::UptoBlocks, FrameDecoder};

use super::coding::{Coding, Undone};
use crate::format::media_type_of;

/// The maximum decoded size of a body, in bytes.
pub const LONGEST: usize = 1 << 28;

/// The maximum ratio of decoded to encoded size, for all codings of a body together. deflate produces at most 258
/// bytes from 2 bits (RFC 1951, 3.2.5), a ratio of 1,032, so any body that gzip or deflate compressed once is
/// accepted. Brotli, zstd and nested codings have no such limit, but rarely shrink a page to less than a
/// thirtieth.
const RATIO: usize = 1_100;

/// The decoded size that is allowed for every body, because the ratio says little about bodies below a kilobyte.
/// In an archive of such bodies, no record costs more than this.
const FLOOR: usize = 1 << 20;

/// Decompresses `bytes`, which belong to a body of `length` bytes, up to `most` bytes; `None` if they do not have this coding.
pub fn compressed(
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
type Inflated = Result<Undone, &'static str>;

/// Decompresses `bytes`, which begin with the signature of the `coding` if it has one.
fn inflated(coding: Coding, bytes: &[u8], length: usize, most: Option<usize>) -> Inflated {
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
pub const DAMAGED: &str = "its compressed data are truncated or damaged; the rest was not read";

/// The diagnostic for bytes after compressed data.
pub const FOLLOWED: &str = "other bytes follow its compressed data and were not read";

/// The diagnostic for compressed data that cannot be decoded even in part.
const UNREADABLE: &str = "its compressed data are truncated or damaged and cannot be decoded";

/// The output of `decoder` for an encoded body of `length` bytes, up to `most` bytes, and the obstacle that ended it
/// early, if any.
fn all_of(decoder: impl Read, length: usize, most: Option<usize>) -> Inflated {
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
fn has_zlib_header(bytes: &[u8]) -> bool {
    matches!(bytes, [method, flags, ..]
        if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

/// True if `bytes` begin like text.
fn is_text(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .take(512)
        .all(|&byte| byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c'))
}

/// The frames of zstd data, one after the other (RFC 8878, 3.1).
struct Frames<'a> {
    rest: &'a [u8],
    decoder: FrameDecoder,
}

impl<'a> Frames<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = FrameDecoder::new();
        // RFC 9659, 3: browsers do not accept a larger window.
        decoder.set_max_window_size(8 << 20);
        Self {
            rest: bytes,
            decoder,
        }
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() && self.decoder.can_collect() == 0 {
            match self.decoder.is_finished() {
                false => {
                    self.decoder
                        .decode_blocks(&mut self.rest, UptoBlocks(1))
                        .map_err(io::Error::other)?;
                }
                true if self.rest.is_empty() => return Ok(0),
                true => self
                    .decoder
                    .reset(&mut self.rest)
                    .map_err(io::Error::other)?,
            }
        }
        self.decoder.read(buffer)
    }
}
