//! base64 (RFC 2045, 6.8): the positions of its characters, and re-encoding of data.
//!
//! An edit re-encodes from the group in which it begins to the end of the data, provided that re-encoding the
//! unedited data reproduces the existing text.
//!
//! ```
//! use baselink_text::layer::transfer::TransferEncoding::Base64;
//! use baselink_text::Span;
//! let decoded = Base64.decode(b"TWFu\r\nTQ==\r\n", Span::new(0, 12)).unwrap();
//! assert_eq!(&*decoded.bytes, b"ManM");
//! assert_eq!(decoded.covering(Span::new(3, 4)), Span::new(6, 10));
//! ```
//!
//! Deliberately absent: other alphabets.

use base64::{
    Engine, alphabet,
    engine::{
        DecodePaddingMode,
        general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD},
    },
};

use super::encoded::{Encoded, Obstacle, WIDTH, line_end, line_end_length, push_difference};
use crate::{edit::Edits, span::Span};

/// Decodes without padding, and ignores the unused bits of the last character.
const TOLERANT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The positions of the characters of base64 data in the buffer.
#[derive(Debug)]
pub struct Base64Data {
    /// The stretches of characters between white space, including padding.
    stretches: Stretches,
    /// The number of characters, without padding.
    characters: usize,
    padding: usize,
    /// The end of the data, including padding.
    end: usize,
    /// The text after the end, without surrounding white space.
    pub ignored: Span,
}

impl Base64Data {
    pub fn decode(raw: &[u8], source: usize) -> Result<(Vec<u8>, Self), Obstacle> {
        let (characters, stretches, bytes) = characters(raw, source)?;
        let mut data = Self {
            stretches,
            characters,
            padding: 0,
            end: source,
            ignored: Span::at(source),
        };
        data.end = data.end_of(characters);
        let mut missing = (4 - characters % 4) % 4;
        for (at, &byte) in raw.iter().enumerate().skip(data.end - source) {
            if byte == b'=' && missing > 0 {
                if data.end != source + at {
                    data.stretches
                        .push((characters + data.padding, source + at));
                }
                missing -= 1;
                data.padding += 1;
                data.end = source + at + 1;
            } else if !byte.is_ascii_whitespace() {
                break;
            }
        }
        let following = &raw[data.end - source..];
        let blanks = following.len() - following.trim_ascii_start().len();
        data.ignored = Span::new(
            data.end + blanks,
            data.end + following.trim_ascii_end().len().max(blanks),
        );
        Ok((bytes, data))
    }

    /// The offset of the character with this index.
    fn place(&self, character: usize) -> usize {
        match self
            .stretches
            .partition_point(|&(first, _)| first <= character)
            .checked_sub(1)
        {
            Some(stretch) => {
                let (first, at) = self.stretches[stretch];
                at + (character - first)
            }
            None => self.end,
        }
    }

    /// The offset directly after the first `characters` characters.
    fn end_of(&self, characters: usize) -> usize {
        characters
            .checked_sub(1)
            .map_or(self.end, |last| self.place(last) + 1)
    }

    pub fn covering(&self, span: Span) -> Span {
        let start = match span.start / 3 * 4 {
            first if first < self.characters => self.place(first),
            _ => self.end,
        };
        if span.is_empty() && span.start.is_multiple_of(3) {
            return Span::at(start);
        }
        let last = span.end.div_ceil(3) * 4;
        let end = if last > self.characters {
            self.end
        } else {
            self.end_of(last)
        };
        Span::new(start, end)
    }

    /// The line end between the stretches `number - 1` and `number`, if there is one.
    fn line_end_before<'b>(&self, number: usize, buffer: &'b [u8]) -> Option<&'b [u8]> {
        let (first, start) = self.stretches[number];
        let between = buffer.get(self.end_of(first)..start)?;
        let at = memchr::memchr2(b'\r', b'\n', between)?;
        Some(&between[at..at + line_end_length(&between[at..])])
    }
}

/// The index of the first character of each stretch, and its offset.
type Stretches = Vec<(usize, usize)>;

/// The number of characters before padding, their stretches, and the bytes that they represent. White space is
/// allowed anywhere.
fn characters(raw: &[u8], source: usize) -> Result<(usize, Stretches, Vec<u8>), Obstacle> {
    let data = &raw[..memchr::memchr(b'=', raw).unwrap_or(raw.len())];
    let mut characters = Vec::with_capacity(data.len());
    let mut stretches = Vec::with_capacity(data.len() / WIDTH + 1);
    let mut start = source;
    for stretch in data.split(u8::is_ascii_whitespace) {
        if !stretch.is_empty() {
            stretches.push((characters.len(), start));
            characters.extend_from_slice(stretch);
        }
        start += stretch.len() + 1;
    }
    let is_foreign = |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'/');
    // The six bits of a single last character do not make a byte.
    let length = characters.len() - usize::from(characters.len() % 4 == 1);
    match TOLERANT.decode(&characters[..length]) {
        Ok(bytes) if !characters[length..].iter().any(is_foreign) => Ok((length, stretches, bytes)),
        _ => {
            let at = data
                .iter()
                .position(|byte| !byte.is_ascii_whitespace() && is_foreign(byte));
            let at = source + at.unwrap_or(data.len());
            Err(Obstacle::new(
                at,
                "its base64 contains an invalid character",
            ))
        }
    }
}

/// The base64 of `bytes` in lines of `width` characters, continued after `column` characters of a line.
pub fn encode(
    bytes: &[u8],
    (width, line_end): (usize, &[u8]),
    padded: bool,
    mut column: usize,
) -> Vec<u8> {
    let mut text = STANDARD.encode(bytes);
    if !padded {
        text.truncate(text.trim_end_matches('=').len());
    }
    let mut rest = text.as_bytes();
    let mut out = Vec::with_capacity(rest.len() + rest.len() / 36);
    while !rest.is_empty() {
        if column >= width {
            out.extend_from_slice(line_end);
            column = 0;
        }
        let (line, following) = rest.split_at(rest.len().min(width - column));
        out.extend_from_slice(line);
        column += line.len();
        rest = following;
    }
    out
}

impl Encoded<'_> {
    /// Keeps the text before the group in which the `first` edited byte is, and re-encodes the rest.
    pub fn lift_base64(
        &self,
        data: &Base64Data,
        first: usize,
        edits: &Edits,
    ) -> Result<Edits, Obstacle> {
        if !data.ignored.is_empty() {
            let reason = "its base64 ends before the body does";
            return Err(Obstacle::new(data.ignored.start, reason));
        }
        let group = first / 3;
        let kept = group * 4;
        let start = if kept < data.characters {
            data.place(kept)
        } else {
            data.end_of(kept)
        };
        let first_break = (1..data.stretches.len())
            .find_map(|number| Some((number, data.line_end_before(number, self.buffer)?)));
        let lines = match first_break {
            Some((number, line_end)) => (data.stretches[number].0, line_end),
            // A single line grows up to the maximum width. A longer line is never broken.
            None if data.characters + data.padding <= WIDTH => {
                (WIDTH, line_end(self.buffer, self.body))
            }
            None => (usize::MAX, &b""[..]),
        };
        let line = data.stretches.partition_point(|&(first, _)| first <= kept);
        let line = (1..line)
            .rev()
            .find(|&number| data.line_end_before(number, self.buffer).is_some());
        let column = kept - line.map_or(0, |number| data.stretches[number].0);

        let padded = data.padding > 0 || data.characters.is_multiple_of(4);
        let old = &self.bytes[group * 3..];
        let span = Span::new(start, data.end);
        let present = &self.buffer[span.range()];
        let again = encode(old, lines, padded, column);
        if again != present {
            let same = again
                .iter()
                .zip(present)
                .take_while(|(a, b)| a == b)
                .count();
            let reason = "encoding it again would give different base64";
            return Err(Obstacle::new(start + same, reason));
        }
        drop(again);
        let new = edits.apply(self.bytes);
        let new = encode(&new[group * 3..], lines, padded, column);
        // If no text remains, the preceding line end is dropped, too.
        let start = if new.is_empty() && kept > 0 {
            data.end_of(kept)
        } else {
            start
        };
        let span = Span::new(start, data.end);
        let mut lifted = Edits::default();
        push_difference(&mut lifted, self.buffer, span, &new)?;
        Ok(lifted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that each character has its place, and that an obstacle is at the first foreign character.
        #[test]
        fn every_character_has_its_place(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "A", "TWFu", "TQ", "=", "\n", "\r\n", "\r", " ", "!", "\u{c}", "-", "AAAAAAAA",
                ]),
                0..12,
            ),
        ) {
            let raw = pieces.concat().into_bytes();
            let data = raw.split(|&byte| byte == b'=').next().unwrap_or_default();
            let places: Vec<_> =
                (0..data.len()).filter(|&at| !data[at].is_ascii_whitespace()).collect();
            let foreign = places.iter().find(|&&at| matches!(data[at], b'!' | b'-'));
            match Base64Data::decode(&raw, 7) {
                Ok((bytes, data)) => {
                    prop_assert_eq!(foreign, None);
                    prop_assert_eq!(bytes.len(), data.characters * 3 / 4);
                    let found: Vec<_> = (0..places.len()).map(|at| data.place(at) - 7).collect();
                    prop_assert_eq!(found, places);
                }
                Err(obstacle) => prop_assert_eq!(Some(&(obstacle.at - 7)), foreign),
            }
        }
    }
}
