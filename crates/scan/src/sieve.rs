//! A filter for names by first letter and length. It spares most names the comparison with a list of names.
//!
//! ```
//! // `p` is in the list of elements that end an `svg` (HTML, 13.2.6.5). `path` has the same first letter, but another
//! // length. So only the first `image` is in the `svg`, where its `href` is a link.
//! let page = b"<svg><path href=x /><image href=y /><p><image href=z>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links.len(), 1);
//! ```
//!
//! Deliberately absent: the final answer. A name that passes must still be compared.

/// For each first letter, ignoring case, the lengths of the listed names, one bit each.
pub struct Sieve([u32; 32]);

/// The bit of a length. Lengths of 31 and more share one bit.
const fn bit(length: usize) -> u32 {
    1 << if length < 31 { length } else { 31 }
}

impl Sieve {
    /// The filter for these names, which begin with a letter or a dash, separated by spaces.
    pub const fn of(names: &str) -> Self {
        Self([0; 32]).and(names)
    }

    /// The filter for more names.
    pub const fn and(mut self, names: &str) -> Self {
        let names = names.as_bytes();
        let (mut start, mut at) = (0, 0);
        while at < names.len() {
            at += 1;
            if at == names.len() || names[at] == b' ' {
                self.0[(names[start] & 31) as usize] |= bit(at - start);
                start = at + 1;
            }
        }
        self
    }

    /// True if `name` may be one of the listed names.
    #[inline(always)]
    pub fn passes(&self, name: &[u8]) -> bool {
        match name.first() {
            Some(first) => self.0[usize::from(first & 31)] & bit(name.len()) != 0,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listed_names_pass_and_few_others() {
        let long = "x-one-that-is-longer-than-thirty-one";
        let sieve = Sieve::of("a Abc b").and(long);
        for name in ["a", "A", "abc", "ABC", "b", long, &long.to_uppercase()] {
            assert!(sieve.passes(name.as_bytes()), "{name}");
        }
        for name in ["", "ab", "c", "bc", "x", "abcd"] {
            assert!(!sieve.passes(name.as_bytes()), "{name}");
        }
    }
}
