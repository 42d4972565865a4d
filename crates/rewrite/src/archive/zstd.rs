//! Archives compressed by Zstandard (RFC 8878): one frame for each record, after a skippable frame with their dictionary
//! (<https://iipc.github.io/warc-specifications/specifications/warc-zstd/>).
//!
//! ```text
//! 5D 2A 4D 18, a length, a dictionary | a frame | a frame | …   -->   WARC/1.0 … WARC/1.0 …
//! ```
//!
//! Offsets of records are those in the decompressed data. Deliberately absent: other compressions, which pass through; and
//! the search for the next frame after a damaged one.

use std::fmt;
use std::io::{self, BufRead, BufReader, Error, Read};

use ruzstd::decoding::BlockDecodingStrategy::{UptoBlocks, UptoBytes};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{Dictionary, FrameDecoder};

/// The first bytes of a frame.
const FRAME: &[u8] = b"\x28\xb5\x2f\xfd";
/// The first bytes of a frame with a dictionary.
const DICTIONARY: &[u8] = b"\x5d\x2a\x4d\x18";
/// The largest size of a dictionary, in bytes.
const LARGEST: u64 = 16 << 20;
/// The largest window, in bytes: that of `zstd --ultra`.
const WINDOW: u64 = 128 << 20;

/// A reader of the data of an archive without Zstandard. Other data pass through.
pub(super) struct WithoutZstd<R> {
    source: BufReader<R>,
    compression: Compression,
}

/// The compression of an archive, as its first bytes show it.
enum Compression {
    /// Nothing was read yet.
    Unknown,
    /// Not Zstandard.
    Other,
    /// The decoder, and the number of the latest dictionary.
    Zstd(Box<FrameDecoder>, Option<u32>),
}

impl<R> fmt::Debug for WithoutZstd<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithoutZstd").finish_non_exhaustive()
    }
}

impl Compression {
    fn of(head: &[u8]) -> Self {
        if !head.starts_with(FRAME) && !head.starts_with(DICTIONARY) {
            return Self::Other;
        }
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        Self::Zstd(Box::new(decoder), None)
    }
}

impl<R: Read> WithoutZstd<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            source: BufReader::new(reader),
            compression: Compression::Unknown,
        }
    }
}

impl<R: Read> Read for WithoutZstd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Compression::Unknown = self.compression {
            let head = self.source.fill_buf()?;
            self.compression = Compression::of(head);
        }
        let Compression::Zstd(decoder, latest) = &mut self.compression else {
            return self.source.read(into);
        };
        while !into.is_empty() && decoder.can_collect() == 0 {
            match decoder.is_finished() {
                false => {
                    let decoded = decoder.decode_blocks(&mut self.source, UptoBlocks(1));
                    decoded.map_err(damaged)?;
                }
                true if self.source.fill_buf()?.is_empty() => return Ok(0),
                true => next_frame(decoder, latest, &mut self.source)?,
            }
        }
        decoder.read(into)
    }
}

fn damaged(_: FrameDecoderError) -> Error {
    Error::other("its Zstandard data are damaged or incomplete")
}

/// Begins the next frame of `source`, after its dictionary. A frame need not have the number of its dictionary (RFC 8878,
/// 3.1.1.1.3), and all frames need the latest one.
fn next_frame(
    decoder: &mut FrameDecoder,
    latest: &mut Option<u32>,
    source: &mut impl Read,
) -> io::Result<()> {
    let Err(error) = decoder.reset(&mut *source) else {
        let forced = latest.map_or(Ok(()), |latest| decoder.force_dict(latest));
        return forced.map_err(damaged);
    };
    let FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
        magic_number,
        length,
    }) = error
    else {
        return Err(damaged(error));
    };
    let mut skipped = source.take(length.into());
    if magic_number.to_le_bytes() != *DICTIONARY {
        return io::copy(&mut skipped, &mut io::sink()).map(drop);
    }
    let mut dictionary = Vec::new();
    skipped.take(LARGEST).read_to_end(&mut dictionary)?;
    if dictionary.starts_with(FRAME) {
        let (mut frame, mut rest) = (FrameDecoder::new(), &dictionary[..]);
        frame.reset(&mut rest).map_err(damaged)?;
        let decoded = frame.decode_blocks(&mut rest, UptoBytes(LARGEST as usize));
        decoded.map_err(damaged)?;
        dictionary = frame.collect().unwrap_or_default();
    }
    let dictionary = Dictionary::decode_dict(&dictionary)
        .map_err(|_| Error::other("its Zstandard dictionary is damaged"))?;
    *latest = Some(dictionary.id);
    decoder.add_dict(dictionary).map_err(damaged)
}

/// True if `head` is the beginning of an archive compressed by Zstandard. After a dictionary, this is assumed. Otherwise the whole
/// first frame must be in `head`, as it usually is, because it contains only a description of the crawl.
pub(super) fn is_archive(head: &[u8], begins: impl Fn(&[u8]) -> bool) -> bool {
    if head.starts_with(DICTIONARY) {
        return true;
    }
    let mut plain = [0; 64];
    let mut first = WithoutZstd::new(head);
    head.starts_with(FRAME)
        && first
            .read(&mut plain)
            .is_ok_and(|length| begins(&plain[..length]))
}
