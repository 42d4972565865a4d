//! Comparison of names regardless of case, encoding, normalization or a few letters.
//!
//! ```text
//! Caf%C3%A9/X and café/x       differ in case and encoding
//! lgoo.png    and logo.png     differ by one change: a swap of two letters
//! ```
//!
//! Deliberately absent: the set of names.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

use baselink_url::reference::decode_percent;

/// A path in Normalization Form C (Unicode Standard Annex #15).
pub(super) fn composed(path: &[u8]) -> Cow<'_, [u8]> {
    match str::from_utf8(path) {
        Ok(text) if !text.is_ascii() => Cow::Owned(composed_text(text).into_owned().into_bytes()),
        _ => Cow::Borrowed(path),
    }
}

/// Text in Normalization Form C.
pub(super) fn composed_text(text: &str) -> Cow<'_, str> {
    const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
    NFC.normalize(text)
}

/// Converts a path to the form in which case, normalization, encoding and empty names do not matter.
pub(super) fn folded(path: &[u8]) -> Vec<u8> {
    /// The maximum number of times that a name is percent-decoded.
    const PASSES: usize = 3;
    let mut decoded = path.to_vec();
    for _ in 0..PASSES {
        if !decoded.contains(&b'%') {
            break;
        }
        decoded = decode_percent(&decoded);
    }
    composed(&lower(&without_empty(&decoded))).into_owned()
}

/// Converts a path to lower case. A path that is not UTF-8 is treated as Latin-1.
fn lower(path: &[u8]) -> Vec<u8> {
    match str::from_utf8(path) {
        Ok(path) => path.to_lowercase().into_bytes(),
        Err(_) => path
            .iter()
            .map(|&byte| char::from(byte))
            .collect::<String>()
            .to_lowercase()
            .into_bytes(),
    }
}

/// Converts a path to the form in which case does not matter. The flag is true for UTF-8, so that a path in UTF-8 never
/// equals a path in another encoding.
pub(super) fn without_case(path: &[u8]) -> (Vec<u8>, bool) {
    (lower(path), str::from_utf8(path).is_ok())
}

/// True if two paths are equal when case is ignored.
pub(super) fn is_alike_in_case(left: &[u8], right: &[u8]) -> bool {
    without_case(left) == without_case(right)
}

/// Removes empty names from a path.
pub(super) fn without_empty(path: &[u8]) -> Vec<u8> {
    let names = path
        .split(|&byte| byte == b'/')
        .filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join(&b'/')
}

/// The number of insertions, deletions, replacements and swaps of bytes that turn `a` into `b`; `None` if more than
/// `most`.
pub(super) fn changes(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut next = before.clone();
    for (i, &one) in a.iter().enumerate() {
        next[0] = i + 1;
        let mut least = next[0];
        for (j, &other) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(one != other);
            let mut fewest = replaced.min(last[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && one == b[j - 1] && a[i - 1] == other {
                fewest = fewest.min(before[j - 1] + 1);
            }
            next[j + 1] = fewest;
            least = least.min(fewest);
        }
        if least > most {
            return None;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut next);
    }
    last.last().copied().filter(|changes| *changes <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_up_to_a_bound() {
        let count = |a: &str, b: &str| changes(a.as_bytes(), b.as_bytes(), 2);
        assert_eq!(count("logo", "lgoo"), Some(1));
        assert_eq!(count("logo", "logos"), Some(1));
        assert_eq!(count("logo", "lego!"), Some(2));
        assert_eq!(count("logo", "image"), None);
        assert_eq!(count("", "abc"), None);
    }

    #[test]
    fn folded_ignores_case_encoding_and_normalization() {
        for alike in ["Caf\u{e9}/X", "caf%C3%A9/x", "CAF%25C3%25A9//x/"] {
            assert_eq!(folded(alike.as_bytes()), "caf\u{e9}/x".as_bytes());
        }
        assert_eq!(folded(b"caf\xE9/x"), "caf\u{e9}/x".as_bytes());
    }
}
