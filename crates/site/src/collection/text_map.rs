//! A map from byte strings to values, with a number for each string.
//!
//! ```text
//! bytes    http://a/http://a/x.css     the texts, one after the other
//! ends     9 23                        the end of each text
//! numbers  1 0                         ordered by the hashes of the texts
//! ```
//!
//! An archive may have millions of URLs, so all texts share one buffer, and the hash table contains only numbers. A
//! text of `n` bytes takes about `n + 20` bytes plus its value; a `HashMap` with boxed texts takes `n + 80`.
//!
//! Deliberately absent: removal.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

/// A map from texts to values. Texts are numbered in the order of addition.
#[derive(Debug, Default)]
pub struct TextMap<V> {
    bytes: Vec<u8>,
    /// The end of each text in `bytes`.
    ends: Vec<usize>,
    /// The value of each text.
    pub values: Vec<V>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

fn text_in<'a>(bytes: &'a [u8], ends: &[usize], number: usize) -> &'a [u8] {
    let begin = number.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[begin..ends[number]]
}

/// A number in 32 bits. Memory runs out before the numbers do.
pub fn saturated(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl<V> TextMap<V> {
    /// Adds a text and returns its number. If the text is already in the map, its number is returned as an error.
    pub fn add(&mut self, text: &[u8], value: V) -> Result<usize, usize> {
        if let Some(number) = self.number(text) {
            return Err(number);
        }
        let Self {
            bytes,
            ends,
            values,
            numbers,
            hasher,
        } = self;
        bytes.extend_from_slice(text);
        ends.push(bytes.len());
        values.push(value);
        let number = saturated(values.len() - 1);
        numbers.insert_unique(hasher.hash_one(text), number, |&number| {
            hasher.hash_one(text_in(bytes, ends, number as usize))
        });
        Ok(number as usize)
    }

    /// The number of `text`, which gets `value` if it is new.
    pub fn number_or_add(&mut self, text: &[u8], value: V) -> usize {
        let (Ok(number) | Err(number)) = self.add(text, value);
        number
    }

    /// The number of a text.
    pub fn number(&self, text: &[u8]) -> Option<usize> {
        let is_it = |number: &u32| self.text(*number as usize) == text;
        self.numbers
            .find(self.hasher.hash_one(text), is_it)
            .map(|&number| number as usize)
    }

    /// The text with this number, which must exist.
    pub fn text(&self, number: usize) -> &[u8] {
        text_in(&self.bytes, &self.ends, number)
    }

    /// The text with this number, which was added as UTF-8.
    pub fn url(&self, number: usize) -> &str {
        str::from_utf8(self.text(number)).unwrap_or_default()
    }

    /// The number of texts.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Replaces all values by `values`, which has one value per text.
    pub fn with_values<W>(self, values: Vec<W>) -> TextMap<W> {
        TextMap {
            bytes: self.bytes,
            ends: self.ends,
            values,
            numbers: self.numbers,
            hasher: self.hasher,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_numbers_and_values() {
        let mut map = TextMap::default();
        for number in 0..5_000 {
            assert_eq!(map.add(number.to_string().as_bytes(), number), Ok(number));
        }
        assert_eq!(map.add(b"", 9), Ok(5_000));
        assert_eq!((map.add(b"17", 0), map.add(b"", 0)), (Err(17), Err(5_000)));
        let value = |text: &[u8]| map.number(text).map(|number| map.values[number]);
        assert_eq!(
            (value(b"4999"), value(b"5000"), value(b"")),
            (Some(4_999), None, Some(9))
        );
        assert_eq!(
            (map.url(10), map.text(5_000), map.len()),
            ("10", &b""[..], 5_001)
        );
    }
}
