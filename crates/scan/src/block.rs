//! Searches sixteen bytes at a time: for the next occurrence of one or several bytes, and for the end of a name or
//! an unquoted value of a tag (HTML, 13.2.5.8, 13.2.5.33 and 13.2.5.38).
//!
//! In HTML, special bytes are only a dozen or two apart. At such distances, an inlined comparison is faster than a
//! call. For longer distances, `find` falls back to memchr.
//!
//! ```
//! // The name ends at its `=`, the value at the white space; the `/` is part of the value.
//! let page = b"<a class=a/b href=x/y title>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "x/y");
//! ```
//!
//! Deliberately absent: the meaning of the bytes.

use baselink_text::Span;
use wide::{CmpEq, CmpLt, i8x16};

/// The number of bytes that are compared at once.
const WIDTH: usize = 16;

/// The number of blocks that [`find`] compares inline before it calls memchr.
const NEAR: usize = 4;

/// The upper bound, exclusive, of white space and control characters.
const LOW: u8 = b' ' + 1;

/// True if `byte` is white space to the tokenizer (HTML, 13.2.5.32).
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

/// The offset of the next `needle` from `at` on; the length of `bytes` if there is none.
#[inline(always)]
pub(super) fn find(bytes: &[u8], mut at: usize, needle: u8) -> usize {
    let wanted = i8x16::splat(needle as i8);
    for _ in 0..NEAR {
        let Some(block) = block(bytes, at) else {
            break;
        };
        let found = block.cmp_eq(wanted).move_mask();
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += WIDTH;
    }
    find_with_memchr(bytes, at, needle)
}

/// The offset of the next byte from `at` on that is one of `needles` or below `low`; the length of `bytes` if
/// there is none.
#[inline(always)]
pub(super) fn find_any<const N: usize>(
    bytes: &[u8],
    mut at: usize,
    needles: [u8; N],
    low: u8,
) -> usize {
    while let Some(block) = block(bytes, at) {
        let below = if low > 0 {
            below(block, low)
        } else {
            i8x16::ZERO
        };
        let found = (below | equal_to_one(block, needles)).move_mask();
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += WIDTH;
    }
    find_bytewise(bytes, at, |byte| byte < low || needles.contains(&byte))
}

/// True if `bytes[span]` contains one of `needles`. Bytes after the span may be read but do not count.
#[inline(always)]
pub fn holds<const N: usize>(bytes: &[u8], span: Span, needles: [u8; N]) -> bool {
    let mut at = span.start;
    while at < span.end {
        let Some(block) = block(bytes, at) else {
            return bytes[at..span.end]
                .iter()
                .any(|byte| needles.contains(byte));
        };
        let found = equal_to_one(block, needles).move_mask();
        if found != 0 {
            return at + (found.trailing_zeros() as usize) < span.end;
        }
        at += WIDTH;
    }
    false
}

#[inline(never)]
fn find_with_memchr(bytes: &[u8], at: usize, needle: u8) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr::memchr(needle, rest).map_or(bytes.len(), |length| at + length)
}

/// The offset of the first byte from `at` on that ends a name: white space, `/`, `>`, or `ends`.
#[inline(always)]
pub(super) fn name_end(bytes: &[u8], at: usize, ends: u8) -> usize {
    if let Some(block) = block(bytes, at) {
        let found = (equal_to_one(block, [ends, b'>', b'/']) | below(block, LOW)).move_mask();
        if found != 0 {
            let end = at + found.trailing_zeros() as usize;
            // Control characters are part of names, except for white space.
            if bytes[end] >= b' ' || is_space(bytes[end]) {
                return end;
            }
        }
    }
    find_bytewise(bytes, at, |byte| {
        is_space(byte) || matches!(byte, b'>' | b'/') || byte == ends
    })
}

/// The end of the unquoted value that continues at `at`: the offset of the first white space or `>`.
#[inline(always)]
pub(super) fn value_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = block(bytes, at) {
        let found = (equal_to_one(block, [b'>']) | below(block, LOW)).move_mask();
        if found != 0 {
            let end = at + found.trailing_zeros() as usize;
            if bytes[end] >= b' ' || is_space(bytes[end]) {
                return end;
            }
            break;
        }
        at += WIDTH;
    }
    find_bytewise(bytes, at, |byte| is_space(byte) || byte == b'>')
}

/// A mask of the bytes that equal one of `needles`.
#[inline(always)]
fn equal_to_one<const N: usize>(block: i8x16, needles: [u8; N]) -> i8x16 {
    needles.into_iter().fold(i8x16::ZERO, |found, needle| {
        found | block.cmp_eq(i8x16::splat(needle as i8))
    })
}

/// A mask of the bytes below `end`. The comparison is signed, so the highest bit is flipped first.
#[inline(always)]
fn below(block: i8x16, end: u8) -> i8x16 {
    (block ^ i8x16::splat(i8::MIN)).cmp_lt(i8x16::splat((end ^ 0x80) as i8))
}

#[inline(always)]
fn block(bytes: &[u8], at: usize) -> Option<i8x16> {
    let block: &[u8; WIDTH] = bytes.get(at..)?.first_chunk()?;
    Some(i8x16::new(block.map(|byte| byte as i8)))
}

#[inline(never)]
fn find_bytewise(bytes: &[u8], at: usize, ends: impl Fn(u8) -> bool) -> usize {
    bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .position(|&byte| ends(byte))
        .map_or(bytes.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests every byte at every offset of the first blocks, and after them.
    #[test]
    fn every_byte_is_found_or_skipped_at_every_offset() {
        for byte in 0..=u8::MAX {
            for at in 0..40 {
                let mut bytes = vec![b'x'; 41];
                bytes[at] = byte;
                let or_end = |ends: bool| if ends { at } else { 41 };
                assert_eq!(find(&bytes, 0, b'<'), or_end(byte == b'<'));
                let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
                let tag = space || byte == b'>' || byte == b'/';
                assert_eq!(name_end(&bytes, 0, b'>'), or_end(tag), "{byte} at {at}");
                assert_eq!(name_end(&bytes, 0, b'='), or_end(tag || byte == b'='));
                assert_eq!(value_end(&bytes, 0), or_end(space || byte == b'>'));
                let quote = byte == b'"' || byte == b'\'';
                assert_eq!(find_any(&bytes, 0, [b'"', b'\''], 0), or_end(quote));
                assert_eq!(
                    find_any(&bytes, 0, [b'"', b'\''], b' '),
                    or_end(quote || byte < b' ')
                );
            }
        }
    }

    #[test]
    fn bytes_after_a_span_do_not_count() {
        for length in [40, 15] {
            for at in 0..length {
                let mut bytes = vec![b'x'; length];
                bytes[at] = b'&';
                for (start, end) in [
                    (0, at),
                    (0, at + 1),
                    (at, at),
                    (at, at + 1),
                    (at + 1, length),
                ] {
                    let span = Span::new(start, end);
                    assert_eq!(
                        holds(&bytes, span, *b"&("),
                        span.range().contains(&at),
                        "{at} {span:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn nothing_is_found_after_the_end() {
        for length in 0..40 {
            let bytes = vec![b'x'; length];
            for at in 0..=length {
                assert_eq!(find(&bytes, at, b'"'), length);
                assert_eq!(find_any(&bytes, at, *b"<>", b' '), length);
                assert_eq!(name_end(&bytes, at, b'='), length);
                assert_eq!(value_end(&bytes, at), length);
            }
        }
    }
}
