//! Names that resemble a missing one: in another case, encoding or normalization form, or with a few other letters.
//!
//! ```text
//! Caf%C3%A9/X and café/x       differ in case and encoding
//! lgoo.png    and logo.png     differ by one change: a swap of two letters
//! ```
//!
//! Deliberately absent: the reason why a name is missing.

use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Mutex,
};

use baselink_files::shared::locked;
use baselink_url::{common_tail, decode_percent};
use icu_normalizer::ComposingNormalizerBorrowed;
use indexmap::IndexSet;

use super::path::{split_name, stem};

/// The files of a collection by keys that similar names share.
#[derive(Debug)]
pub struct NearNames {
    /// The files, sorted by folder and name.
    sorted: Vec<usize>,
    /// The first file of each path, ignoring case and encoding, by hash; true if it is the only one.
    alike: HashMap<u64, (usize, bool)>,
    /// The first file of each name, by hash.
    by_name: HashMap<u64, usize>,
    /// The hints for missing paths. Many links may lead to the same path.
    hints: Mutex<HashMap<Box<[u8]>, Option<usize>>>,
}

impl NearNames {
    pub fn of(files: &IndexSet<Box<[u8]>>) -> Self {
        let (mut alike, mut by_name) = (HashMap::new(), HashMap::new());
        let mut sorted: Vec<usize> = (0..files.len()).collect();
        for &number in &sorted {
            let path = &files[number];
            let same = alike.entry(hashed(folded(path)));
            same.and_modify(|(_, is_only)| *is_only = false)
                .or_insert((number, true));
            by_name.entry(hashed(split_name(path).1)).or_insert(number);
        }
        sorted.sort_unstable_by_key(|&number| split_name(&files[number]));
        Self {
            sorted,
            alike,
            by_name,
            hints: Mutex::default(),
        }
    }

    /// The first file whose path equals `path` when case, encoding, normalization and empty names are ignored; true if it is the
    /// only one.
    pub fn alike(&self, path: &[u8]) -> Option<(usize, bool)> {
        self.alike.get(&hashed(folded(path))).copied()
    }

    /// A file with a similar name in the folder of `path`, or with the same name in another folder.
    pub fn hint(&self, files: &IndexSet<Box<[u8]>>, path: &[u8]) -> Option<usize> {
        let hints = || locked(&self.hints);
        let known = hints().get(path).copied();
        known.unwrap_or_else(|| {
            let hint = self
                .neighbour(files, path)
                .or_else(|| self.elsewhere(files, path));
            hints().insert(path.into(), hint);
            hint
        })
    }

    /// A file with the name of `path` in another folder.
    fn elsewhere(&self, files: &IndexSet<Box<[u8]>>, path: &[u8]) -> Option<usize> {
        /// The minimum length of a name, without its extension, for a hint at a file of this name in any folder. A
        /// shorter name is searched for only in the parent folder and in subfolders.
        const MIN_STEM: usize = 3;
        let (folder, name) = split_name(path);
        let number = *self.by_name.get(&hashed(name))?;
        let (other_folder, other_name) = split_name(&files[number]);
        let is_near =
            || split_name(other_folder).0 == folder || split_name(folder).0 == other_folder;
        (other_name == name && (stem(name).len() >= MIN_STEM || is_near())).then_some(number)
    }

    /// The file in the folder of `path` whose name needs the fewest changes to become the name of `path`: insertions,
    /// deletions, replacements and swaps of letters.
    fn neighbour(&self, files: &IndexSet<Box<[u8]>>, path: &[u8]) -> Option<usize> {
        /// The number of files compared before and after the sorted position of the name. The limit keeps the time for
        /// all hints linear.
        const COMPARED: usize = 64;
        let (folder, name) = split_name(path);
        let most = (stem(name).len() / 3).min(3);
        let split = |number: &usize| split_name(&files[*number]);
        let at = self
            .sorted
            .partition_point(|number| split(number) < (folder, name));
        let around = at.saturating_sub(COMPARED)..self.sorted.len().min(at + COMPARED);
        let text = String::from_utf8_lossy(name);
        let distances = self.sorted[around].iter().filter_map(|number| {
            let (other_folder, other) = split(number);
            if other_folder != folder || other.len().abs_diff(name.len()) > most {
                return None;
            }
            let changes = changes(&String::from_utf8_lossy(other), &text)?;
            (changes <= most).then_some((changes, *number))
        });
        distances.min().map(|(_, number)| number)
    }
}

/// The changes that make one name of the other; `None` if they are spread over many letters.
fn changes(one: &str, other: &str) -> Option<usize> {
    /// The most letters between the first change and the last. The time for a comparison grows with its square.
    const SPREAD: usize = 16;
    let both = one.chars().zip(other.chars());
    let same = both.take_while(|(a, b)| a == b);
    let start: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
    let (one, other) = (&one[start..], &other[start..]);
    let end = common_tail(one, other);
    let (one, other) = (&one[..one.len() - end], &other[..other.len() - end]);
    let is_near = one.len().max(other.len()) <= SPREAD;
    is_near.then(|| strsim::osa_distance(one, other))
}

/// A path in Normalization Form C (Unicode Standard Annex #15).
pub fn composed(path: &[u8]) -> Cow<'_, [u8]> {
    match str::from_utf8(path) {
        Ok(text) if !text.is_ascii() => Cow::Owned(composed_text(text).into_owned().into_bytes()),
        _ => Cow::Borrowed(path),
    }
}

/// Text in Normalization Form C.
pub fn composed_text(text: &str) -> Cow<'_, str> {
    const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
    NFC.normalize(text)
}

/// Converts a path to the form in which case, normalization, encoding and empty names do not matter.
fn folded(path: &[u8]) -> Vec<u8> {
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
    let text = match str::from_utf8(path) {
        Ok(path) => Cow::Borrowed(path),
        Err(_) => path.iter().map(|&byte| char::from(byte)).collect(),
    };
    text.to_lowercase().into_bytes()
}

/// Converts a path to the form in which case does not matter. The flag is true for UTF-8, so that a path in UTF-8 never
/// equals a path in another encoding.
pub fn without_case(path: &[u8]) -> (Vec<u8>, bool) {
    (lower(path), str::from_utf8(path).is_ok())
}

/// Removes empty names from a path.
pub fn without_empty(path: &[u8]) -> Vec<u8> {
    let names = path
        .split(|&byte| byte == b'/')
        .filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join(&b'/')
}

/// A digest of `key`, the same in each run.
pub fn hashed(key: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_ignores_case_encoding_and_normalization() {
        for alike in ["Caf\u{e9}/X", "caf%C3%A9/x", "CAF%25C3%25A9//x/"] {
            assert_eq!(folded(alike.as_bytes()), "caf\u{e9}/x".as_bytes());
        }
        assert_eq!(folded(b"caf\xE9/x"), "caf\u{e9}/x".as_bytes());
    }

    #[test]
    fn changes_are_insertions_deletions_replacements_and_swaps() {
        for (one, other, expected) in [
            ("logo.png", "lgoo.png", Some(1)),
            ("a\u{e9}b", "a\u{e8}b", Some(1)),
            ("aa", "aaa", Some(1)),
            ("abc", "xbz", Some(2)),
            ("", "", Some(0)),
            ("x0123456789abcdefy", "y0123456789abcdefx", None),
        ] {
            assert_eq!(changes(one, other), expected, "{one} {other}");
        }
    }

    /// Bug 323: each missing name was compared with 128 names of 250 letters, in a time that grows with the square.
    #[test]
    fn long_names_that_resemble_each_other_take_little_time() {
        let mut files = IndexSet::new();
        let name = |number: usize| format!("{number:08}{}", "ab".repeat(120));
        for number in 0..128 {
            assert!(files.insert(name(number).into_bytes().into()));
        }
        let near = NearNames::of(&files);
        for number in 0..20_000 {
            let missing = format!("{}{number:08}", "ba".repeat(120));
            assert_eq!(near.hint(&files, missing.as_bytes()), None);
        }
    }
}
