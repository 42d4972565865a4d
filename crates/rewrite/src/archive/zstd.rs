//! Archives compressed by Zstandard (RFC 8878): one frame for each record, after a skippable frame with their dictionary
//! (<https://iipc.github.io/warc-specifications/specifications/warc-zstd/>).
//!
//! ```text
//! 5D 2A 4D 18, a length, a dictionary | a frame | a frame | …   -->   WARC/1.0 … WARC/1.0 …
//! ```
//!
//! Other skippable frames are skipped. Offsets of records are those in the decompressed data. Deliberately absent: other
//! compressions, which pass through; and the search for the next frame after a damaged one.

use std::io::{self, BufRead, BufReader, Read, Take};

use baselink_text::layer::transfer::longest_of;
use ruzstd::decoding::{
    BlockDecodingStrategy::UptoBytes,
    Dictionary, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

/// The first bytes of a frame.
const FRAME: &[u8] = b"\x28\xb5\x2f\xfd";
/// The first bytes of a frame with a dictionary.
const DICTIONARY: &[u8] = b"\x5d\x2a\x4d\x18";
/// The bytes after the first one of a frame to be skipped. The first one is 0x50 to 0x5f (RFC 8878, 3.1.2).
const SKIPPABLE: &[u8] = b"\x2a\x4d\x18";
/// An empty last block (RFC 8878, 3.1.1.2), and a checksum.
const LAST_BLOCK: &[u8] = b"\x01\0\0\0\0\0\0";
/// The largest size of a dictionary, in bytes.
const LARGEST: u64 = 16 << 20;
/// The largest ratio of the size of a dictionary to that of its frame. Each frame that uses the dictionary copies it.
const EXPANSION: usize = 16;
/// The number of bytes to decompress at a time.
const STEP: usize = 1 << 20;
/// The largest window, in bytes: that of `zstd --ultra`.
const WINDOW: u64 = 128 << 20;

/// A reader of the data of an archive without Zstandard. Other data pass through.
pub struct WithoutZstd<R> {
    /// The archive. No archive reaches the limit, so what is left of it tells how much was read.
    source: Take<BufReader<R>>,
    compression: Compression,
    /// The number of decompressed bytes that were read.
    length: u64,
    /// The number of decompressed bytes, also of those that the decoder withholds. Within a frame it is a multiple of
    /// [`STEP`].
    pub decoded: u64,
    /// The reason why the data ended early.
    pub fault: Option<ZstdFault>,
    /// True if the rest of the archive is not read.
    has_ended: bool,
}

/// The reason why the data of an archive end early.
pub enum ZstdFault {
    /// The archive ends within a frame.
    Cut,
    /// A frame cannot be decompressed, as this phrase says.
    Damaged(&'static str),
}

const DAMAGED: &str = "damaged Zstandard data";
const DICTIONARY_DAMAGED: &str = "a damaged Zstandard dictionary";
const TOO_LONG: &str = "Zstandard data that inflate to more than 256 times their length";

/// The compression of an archive, as its first bytes show it.
enum Compression {
    /// Nothing was read yet.
    Unknown,
    /// Not Zstandard.
    Other,
    /// The decoder, and the number of the latest dictionary.
    Zstd(Box<FrameDecoder>, Option<u32>),
}

/// True if `head` begins a frame to be skipped.
fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, rest @ ..] if rest.starts_with(SKIPPABLE))
}

fn new_decoder() -> FrameDecoder {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW);
    decoder
}

impl<R: Read> WithoutZstd<R> {
    pub fn new(reader: R) -> Self {
        Self {
            source: BufReader::new(reader).take(u64::MAX),
            compression: Compression::Unknown,
            length: 0,
            decoded: 0,
            fault: None,
            has_ended: false,
        }
    }
}

impl<R: Read> Read for WithoutZstd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let source = &mut self.source;
        if let Compression::Unknown = self.compression {
            let head = source.fill_buf()?;
            self.compression = if head.starts_with(FRAME) || is_skippable(head) {
                Compression::Zstd(Box::new(new_decoder()), None)
            } else {
                Compression::Other
            };
        }
        let Compression::Zstd(decoder, latest) = &mut self.compression else {
            return source.read(into);
        };
        while !into.is_empty() && decoder.can_collect() == 0 {
            let decoded = match decoder.is_finished() {
                _ if self.has_ended => return Ok(0),
                false => decoder
                    .decode_blocks(&mut *source, UptoBytes(STEP))
                    .map_or(Err(DAMAGED), |_| Ok(())),
                true if source.fill_buf()?.is_empty() => return Ok(0),
                true => next_frame(decoder, latest, source),
            };
            self.decoded = if decoder.is_finished() {
                self.length + decoder.can_collect() as u64
            } else {
                self.decoded + STEP as u64
            };
            self.fault = match decoded {
                Ok(()) if self.decoded > longest_of(u64::MAX - source.limit()) => {
                    Some(ZstdFault::Damaged(TOO_LONG))
                }
                Ok(()) => continue,
                Err(_) if source.fill_buf()?.is_empty() => Some(ZstdFault::Cut),
                Err(why) => Some(ZstdFault::Damaged(why)),
            };
            self.has_ended = true;
            // Until its last block, the decoder withholds the end of a frame.
            if !decoder.is_finished() {
                let _ = decoder.decode_blocks(LAST_BLOCK, UptoBytes(STEP));
            }
        }
        let read = decoder.read(into)?;
        self.length += read as u64;
        Ok(read)
    }
}

/// Begins the next frame of `source`, or skips a frame. A dictionary replaces the one before. A frame need not have the number
/// of its dictionary (RFC 8878, 3.1.1.1.3), and all frames need the latest one.
fn next_frame(
    decoder: &mut FrameDecoder,
    latest: &mut Option<u32>,
    source: &mut impl Read,
) -> Result<(), &'static str> {
    let Err(error) = decoder.reset(&mut *source) else {
        let forced = latest.map_or(Ok(()), |latest| decoder.force_dict(latest));
        return forced.map_err(|_| DAMAGED);
    };
    let FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
        magic_number,
        length,
    }) = error
    else {
        return Err(DAMAGED);
    };
    let mut skipped = source.take(length.into());
    let mut dictionary = Vec::new();
    let is_dictionary = magic_number.to_le_bytes() == *DICTIONARY;
    let wanted = if is_dictionary { LARGEST } else { 0 };
    let read = skipped.by_ref().take(wanted).read_to_end(&mut dictionary);
    let skipped = read.and_then(|_| io::copy(&mut skipped, &mut io::sink()));
    if skipped.is_err() {
        return Err(DAMAGED);
    }
    if !is_dictionary {
        return Ok(());
    }
    if dictionary.starts_with(FRAME) {
        let most = dictionary.len() * EXPANSION;
        let (mut frame, mut rest) = (FrameDecoder::new(), &dictionary[..]);
        let read = frame.reset(&mut rest);
        let decoded = read.and_then(|()| frame.decode_blocks(&mut rest, UptoBytes(most)));
        dictionary = frame.collect().unwrap_or_default();
        if !decoded.is_ok_and(|is_whole| is_whole) {
            return Err(DICTIONARY_DAMAGED);
        }
    }
    let dictionary = Dictionary::decode_dict(&dictionary).map_err(|_| DICTIONARY_DAMAGED)?;
    *decoder = new_decoder();
    *latest = Some(dictionary.id);
    decoder.add_dict(dictionary).map_err(|_| DAMAGED)
}

/// True if `head` is the beginning of an archive compressed by Zstandard. After a frame to be skipped, such as a dictionary, this
/// is assumed. Otherwise the first block must be in `head`, as it usually is, because the first frame contains only a description
/// of the crawl.
pub fn is_archive(head: &[u8], begins: impl Fn(&[u8]) -> bool) -> bool {
    if !head.starts_with(FRAME) {
        return is_skippable(head);
    }
    let mut plain = [0; 64];
    let read = WithoutZstd::new(head).read(&mut plain);
    read.is_ok_and(|length| begins(&plain[..length]))
}
