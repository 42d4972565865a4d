//! Tests with bodies that are long, deeply nested or damaged.
//!
//! ```text
//! 300 MB of zeros in gzip  -->  the first 256 MB, and the obstacle
//! ```
//!
//! Deliberately absent: valid bodies, which are cases of `fixtures/http`.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use proptest::prelude::*;

use super::*;
use crate::layer::transfer::compressed::{DAMAGED, FOLLOWED, LONGEST};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8], has_header: bool) -> Vec<u8> {
    let (out, level) = (Vec::new(), Compression::fast());
    if has_header {
        let mut encoder = ZlibEncoder::new(out, level);
        encoder.write_all(bytes).unwrap();
        return encoder.finish().unwrap();
    }
    let mut encoder = DeflateEncoder::new(out, level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// `bytes` in chunks of these sizes, and the rest in one chunk.
fn chunked(mut bytes: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    for size in sizes.iter().copied().chain([usize::MAX]) {
        let (chunk, rest) = bytes.split_at(size.min(bytes.len()));
        if !chunk.is_empty() {
            write!(out, "{:x}\r\n", chunk.len()).unwrap();
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        bytes = rest;
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

fn codings(content: &str, transfer: &str) -> Codings {
    Codings::read([content.as_bytes()], [transfer.as_bytes()], None).unwrap()
}

#[test]
fn names_of_codings() {
    assert_eq!(codings("GZip , br", "chunked;q=1").applied, {
        [
            Some(Coding::Gzip),
            Some(Coding::Brotli),
            Some(Coding::Chunked),
            None,
        ]
    });
    assert!(codings("identity,, none", "").is_identity());
    // An unknown content coding turns decoding off. An unknown transfer coding is ignored.
    let unknown = codings("gzip, sdch", "chunked, x");
    assert_eq!(
        (unknown.applied[0], unknown.applied[1]),
        (Some(Coding::Chunked), None)
    );
    assert!(codings("gzip, sdch", "").is_empty() && !codings("sdch", "").is_identity());
    // More codings than the maximum.
    assert_eq!(
        Codings::read([&b"gzip,gzip,gzip,gzip,gzip"[..]], [], None),
        None
    );
}

/// RFC 1952 has no limit for the size of a member: 300 MB of zeros take as little as 300 kB.
#[test]
fn long_bodies_are_truncated() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![0; 1 << 20];
    (0..300).for_each(|_| encoder.write_all(&zeros).unwrap());
    let bomb = encoder.finish().unwrap();
    let uncoded = codings("gzip", "").decode(&bomb, 0, None).unwrap();
    assert_eq!(uncoded.bytes.len(), LONGEST);
    assert!(uncoded.obstacle.unwrap().contains("longer than 256 MB"));
}

/// Bug 71: a body of 29 bytes was decoded to 256 MiB. In an archive, every record could have such a body.
#[test]
fn decompression_bombs_are_rejected() {
    let zeros = vec![0; 8 << 20];
    // A link and many zeros, compressed by the program `brotli`.
    let brotli = b"\xcb\xff\xff\x3f\x00\x24\x01\x7c\xf0\x4a\x98\xcf\x0a\x29\x39\xb2\x5f\xef\xff\x8e\x48\x00\x00\
                   \x20\x01\x10\x40\x04\x00";
    // RFC 8878, 3.1.1.2: blocks of 4 bytes that each repeat a byte for 128 KiB.
    let (block, last) = (b"\x02\x00\x10x", b"\x03\x00\x10x");
    let zstd = [b"\x28\xb5\x2f\xfd\x00\x68", &block.repeat(2_000)[..], last].concat();
    for (name, body) in [
        ("br", &brotli[..]),
        ("zstd", &zstd),
        ("gzip,gzip", &gzip(&gzip(&zeros))),
    ] {
        let obstacle = codings(name, "")
            .decode(body, 0, None)
            .err()
            .unwrap()
            .to_string();
        assert!(
            obstacle.contains("1,100 times its length"),
            "{name}: {obstacle}"
        );
    }
    // gzip cannot exceed the ratio: a match takes at least 2 bits and gives at most 258 bytes (RFC 1951, 3.2.5).
    let uncoded = codings("gzip", "")
        .decode(&gzip(&zeros), 0, None)
        .unwrap()
        .bytes
        .into_owned();
    assert_eq!(uncoded, zeros);
}

/// Bug 203: gzip, deflate and Brotli data that are cut, damaged or followed by other bytes were lost. Chromium shows what
/// can be decoded.
#[test]
fn damaged_data_are_decoded_in_part() {
    let page: Vec<u8> = (0..2_000)
        .flat_map(|at| format!("<p>{}", at * at % 977).into_bytes())
        .collect();
    let (gzipped, zlib, raw) = (gzip(&page), deflate(&page, true), deflate(&page, false));
    // A Brotli stream of RFC 7932, 9.2: an uncompressed meta-block of 8 bytes, then an empty last one.
    let brotli = b"\x21\x1c\x00\x04<p>text!\x03";
    assert_eq!(
        &*codings("br", "").decode(brotli, 0, None).unwrap().bytes,
        b"<p>text!"
    );
    for (name, whole) in [
        ("gzip", &gzipped),
        ("deflate", &gzipped),
        ("deflate", &zlib),
        ("deflate", &raw),
        ("br", &brotli.to_vec()),
    ] {
        let decode = |body: &[u8]| {
            let uncoded = codings(name, "").decode(body, 0, None).unwrap();
            (
                uncoded.bytes.into_owned(),
                uncoded.obstacle,
                uncoded.remarks.len(),
            )
        };
        let (text, obstacle, _) = decode(whole);
        assert_eq!((text.len() > 7, obstacle), (true, None), "{name}");
        for followed in [&b"\0\0\0\0\0\0\0\0"[..], b"\n", b"trailing text"] {
            let found = decode(&[whole, followed].concat());
            assert_eq!(found, (text.clone(), Some(FOLLOWED), 1), "{name}");
        }
        let (part, obstacle, remarks) = decode(&whole[..whole.len() - whole.len() / 3]);
        assert!(
            !part.is_empty() && part.len() < text.len() && text.starts_with(&part),
            "{name}"
        );
        assert_eq!((obstacle, remarks), (Some(DAMAGED), 1), "{name}");
    }
    let mut wrong = gzipped.clone();
    let checksum = wrong.len() - 8;
    wrong[checksum] ^= 1;
    let uncoded = codings("gzip", "").decode(&wrong, 0, None).unwrap();
    assert_eq!((&*uncoded.bytes, uncoded.obstacle), (&*page, Some(DAMAGED)));
    // RFC 8878, 3.1.1: a raw block of 8 bytes, not the last one.
    let zstd = b"\x28\xb5\x2f\xfd\x00\x68\x40\x00\x00<p>text!";
    assert!(codings("zstd", "").decode(zstd, 0, None).is_err());
}

/// Frames without content, each of which could ask for a window of 8 MB.
#[test]
fn many_empty_frames_of_zstd() {
    // RFC 8878, 3.1.1: no checksum, a window of 8 MB; one raw block, the last, of length 0.
    let frame = b"\x28\xb5\x2f\xfd\x00\x68\x01\x00\x00";
    let uncoded = codings("zstd", "")
        .decode(&frame.repeat(100_000), 0, None)
        .unwrap()
        .bytes
        .len();
    assert_eq!(uncoded, 0);
}

#[test]
fn many_small_chunks() {
    let body = chunked(&b"x".repeat(300_000), &[1; 300_000]);
    assert_eq!(
        codings("", "chunked")
            .decode(&body, 0, None)
            .unwrap()
            .bytes
            .len(),
        300_000
    );
}

proptest! {
    /// Checks that codings (RFC 9112, 7.1, and RFC 9110, 8.4) are undone to the original bytes.
    #[test]
    fn codings_are_undone(
        text in prop::collection::vec(any::<u8>(), 1..2_000),
        sizes in prop::collection::vec(1..300_usize, 0..8),
        which in 0..3,
    ) {
        let (name, coded) = match which {
            0 => ("gzip", gzip(&text)),
            1 => ("deflate", deflate(&text, true)),
            _ => ("deflate", deflate(&text, false)),
        };
        let body = chunked(&coded, &sizes);
        let uncoded = codings(name, "chunked").decode(&body, 0, None).unwrap();
        prop_assert_eq!(&*uncoded.bytes, &text);
        prop_assert!(uncoded.obstacle.is_none() && uncoded.remarks.is_empty());
    }

    /// Checks that truncated or corrupt data are rejected, or read in part with an obstacle.
    #[test]
    fn damage_is_noticed(
        text in prop::collection::vec(any::<u8>(), 100..2_000),
        cut in 0..1_000_usize,
        flip in any::<prop::sample::Index>(),
    ) {
        let whole = gzip(&text);
        let cut = &whole[..cut.min(whole.len() - 1)];
        let uncoded = codings("gzip", "").decode(cut, 0, None);
        let is_part = |one: &Uncoded<'_>| one.obstacle.is_some() && text.starts_with(&one.bytes);
        prop_assert!(uncoded.is_ok_and(|one| is_part(&one) || *one.bytes == *cut) || cut.len() > 1);
        let mut flipped = whole.clone();
        // Flips a bit after the header of 10 bytes (RFC 1952, 2.3.1). Another time there, for example, is not damage.
        flipped[10 + flip.index(whole.len() - 10)] ^= 0x10;
        let uncoded = codings("gzip", "").decode(&flipped, 0, None);
        prop_assert!(uncoded.map_or(true, |one| one.obstacle.is_some() || *one.bytes == *text));
    }

    /// Checks that any bytes are accepted as a body.
    #[test]
    fn any_bytes_are_a_body(body in prop::collection::vec(any::<u8>(), 0..200), which in 0..5_usize) {
        let name = ["gzip", "deflate", "br", "zstd", ""][which];
        let _ = codings(name, "chunked").decode(&body, 0, None);
        let _ = codings(name, "").decode(&body, 0, None);
        let marked = [&b"\x28\xb5\x2f\xfd"[..], &body].concat();
        let _ = codings("zstd", "").decode(&marked, 0, None);
    }
}
