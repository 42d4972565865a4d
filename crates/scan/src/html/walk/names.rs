//! The names of tags and attributes that can matter. Most other names are rejected with a few shifts.
//!
//! The attributes are those of [`attributes::TABLE`] whose group is enabled, and those of the user's places. The
//! elements are those that affect the tokenizer or later tags (HTML, 13.2.6), and those whose rows depend on other
//! attributes of the same tag.
//!
//! ```
//! // `data-src` is skipped unless its group is enabled.
//! use baselink_scan::{ScanOptions, scan};
//! let lazy = ScanOptions { groups: "lazy".parse().unwrap(), ..ScanOptions::default() };
//! assert!(scan(b"<img data-src=x>", &ScanOptions::default()).links.is_empty());
//! assert_eq!(scan(b"<img data-src=x>", &lazy).links[0].reference, "x");
//! ```
//!
//! Deliberately absent: an exact answer. A name that equals a listed name in the compared bytes is accepted, and
//! looked up in the table later.

use std::{borrow::Cow, sync::OnceLock};

use self::ElementKind::*;
use crate::{
    ScanOptions,
    attributes::{AttributeBase, Condition, Groups, Namespace, Place, Row, TABLE},
};

/// A name in ASCII lower case: its first eight bytes and its length.
///
/// Letters are compared exactly. Other bytes may count as equal although they differ, because one bit is set in
/// every byte to make letters lower-case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    start: u64,
    length: u8,
}

/// The bit that makes a letter lower-case, for eight bytes.
const LOWER: u64 = 0x2020_2020_2020_2020;

impl Name {
    /// The name in `bytes[from..to]`.
    #[inline(always)]
    pub fn read(bytes: &[u8], from: usize, to: usize) -> Self {
        let length = to - from;
        let start = match bytes.get(from..).and_then(<[u8]>::first_chunk) {
            Some(eight) => u64::from_le_bytes(*eight),
            None => Self::near_the_end(&bytes[from..to]),
        };
        let kept = u64::MAX >> (8 * 8usize.saturating_sub(length)).min(63);
        Self {
            start: (start | LOWER) & kept,
            length: length.min(255) as u8,
        }
    }

    #[inline(never)]
    fn near_the_end(name: &[u8]) -> u64 {
        name.iter()
            .take(8)
            .rev()
            .fold(0, |start, &byte| start << 8 | u64::from(byte))
    }

    /// A hash of the name.
    #[inline(always)]
    pub(crate) fn hash(self) -> usize {
        let mixed = (self.start ^ u64::from(self.length)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 40) as usize
    }

    /// The name `name`, which must be in lower case.
    pub(super) const fn of(name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut start = 0;
        let mut at = 0;
        while at < bytes.len() && at < 8 {
            start |= ((bytes[at] | 0x20) as u64) << (8 * at);
            at += 1;
        }
        Self {
            start,
            length: bytes.len() as u8,
        }
    }
}

/// The effect of an HTML start tag, besides creating an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ElementKind {
    /// No other effect.
    #[default]
    Plain,
    /// RCDATA follows.
    Rcdata,
    /// Raw text follows.
    RawText,
    /// Raw text follows if scripts run.
    NoScript,
    /// Script data follows.
    Script,
    /// Text follows to the end of the document.
    Plaintext,
    /// SVG or MathML begins.
    Foreign(Namespace),
    /// Content that is not part of the document follows.
    Template,
    /// The tag may remove the body.
    Frameset,
    /// In a template, the tag makes the parser drop later tags.
    Column,
    /// The tag may declare the base.
    Base,
}

const KINDS: &[(&str, ElementKind)] = &[
    ("title textarea", Rcdata),
    ("style xmp iframe noembed noframes", RawText),
    ("noscript", NoScript),
    ("script", Script),
    ("plaintext", Plaintext),
    ("svg", Foreign(Namespace::Svg)),
    ("math", Foreign(Namespace::MathMl)),
    ("template", Template),
    ("frameset", Frameset),
    ("col", Column),
    ("base", Base),
];

/// Elements whose attributes are all needed, even if no row depends on them. The attributes decide if the text of a
/// `style` or `script` is read, and if a `base` counts.
const ALWAYS_WHOLE: &str = "style script base";

/// The properties of an element that matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Element {
    pub kind: ElementKind,
    /// True if all of its attributes are needed.
    pub whole: bool,
}

/// A map keyed by names, in which most lookups fail by length and first letter.
#[derive(Clone, Debug)]
struct NameMap<T> {
    /// For each length, the first letters, one bit each.
    first: [u32; 32],
    /// The slots: a power of two, at most half of them used.
    slots: Vec<Option<(Name, T)>>,
}

impl<T: Copy> NameMap<T> {
    fn of(entries: &[(Name, T)]) -> Self {
        let size = (2 * entries.len()).next_power_of_two().max(2);
        let mut map = Self {
            first: [0; 32],
            slots: vec![None; size],
        };
        for &(name, value) in entries {
            map.first[usize::from(name.length.min(31))] |= 1 << (name.start & 31);
            let mut slot = map.slot(name);
            while map.slots[slot].is_some_and(|(known, _)| known != name) {
                slot = (slot + 1) & (size - 1);
            }
            map.slots[slot].get_or_insert((name, value));
        }
        map
    }

    #[inline(always)]
    fn slot(&self, name: Name) -> usize {
        name.hash() & (self.slots.len() - 1)
    }

    /// The value for the name in `bytes[from..to]`.
    #[inline(always)]
    fn get(&self, bytes: &[u8], from: usize, to: usize) -> Option<T> {
        if self.first[(to - from).min(31)] >> (bytes[from] & 31) & 1 == 0 {
            return None;
        }
        let name = Name::read(bytes, from, to);
        let mut slot = self.slot(name);
        while let Some((known, value)) = self.slots[slot] {
            if known == name {
                return Some(value);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }
}

/// The names that can matter in a document.
#[derive(Clone, Debug)]
pub struct Names {
    elements: NameMap<Element>,
    attributes: NameMap<()>,
}

/// The names for each set of groups, without and with ids.
static KNOWN: [[OnceLock<Names>; 2]; Groups::SETS] =
    [const { [const { OnceLock::new() }; 2] }; Groups::SETS];

/// The attributes whose values a fragment can refer to.
const IDS: &str = "id name";

impl Names {
    /// The names for documents that are scanned with `options`.
    pub fn of(options: &ScanOptions) -> Cow<'static, Self> {
        if !options.places.is_empty() {
            return Cow::Owned(Self::new(options));
        }
        let known = &KNOWN[options.groups.number()][usize::from(options.ids)];
        Cow::Borrowed(known.get_or_init(|| Self::new(options)))
    }

    fn new(options: &ScanOptions) -> Self {
        let rows: Vec<&Row> = TABLE
            .iter()
            .filter(|row| options.groups.read(row))
            .collect();
        let mut whole: Vec<Name> = names_in(ALWAYS_WHOLE).collect();
        for row in rows.iter().filter(|row| depends_on_others(row)) {
            if !row.elements.contains('*') {
                whole.extend(names_in(row.elements));
            }
        }
        whole.sort_unstable();
        whole.dedup();
        let only_of_whole = |row: &Row| names_in(row.elements).all(|name| whole.contains(&name));
        let places = options.places.iter().map(Place::attribute);
        let named = rows.iter().filter(|row| !only_of_whole(row));
        let ids = IDS.split(' ').filter(|_| options.ids);
        let attributes: Vec<_> = named
            .map(|row| row.attribute)
            .chain(places)
            .chain(ids)
            .map(|name| (Name::of(name), ()))
            .collect();
        let kinds = KINDS
            .iter()
            .flat_map(|&(names, kind)| names_in(names).map(move |name| (name, kind)));
        let kinds = kinds.map(|(name, kind)| {
            let whole = whole.contains(&name);
            (name, Element { kind, whole })
        });
        let others = whole.iter().map(|&name| {
            let kind = ElementKind::Plain;
            (name, Element { kind, whole: true })
        });
        let elements: Vec<_> = kinds.chain(others).collect();
        Self {
            elements: NameMap::of(&elements),
            attributes: NameMap::of(&attributes),
        }
    }

    /// The properties of the element whose name is in `bytes[from..to]`.
    #[inline(always)]
    pub(super) fn element(&self, bytes: &[u8], from: usize, to: usize) -> Element {
        self.elements.get(bytes, from, to).unwrap_or_default()
    }

    /// True if an attribute with the name in `bytes[from..to]` can matter. Applies to elements that are not `whole`.
    #[inline(always)]
    pub fn has_attribute(&self, bytes: &[u8], from: usize, to: usize) -> bool {
        self.attributes.get(bytes, from, to).is_some()
    }
}

/// The names in `words`, which are separated by spaces.
fn names_in(words: &str) -> impl Iterator<Item = Name> {
    words.split(' ').map(Name::of)
}

/// True if `row` depends on other attributes of its tag.
fn depends_on_others(row: &Row) -> bool {
    let named = match row.when {
        Condition::Always => row.attribute,
        Condition::Is(name, _) | Condition::Has(name, _) | Condition::Contains(name, _) => name,
    };
    named != row.attribute || row.against == AttributeBase::Codebase
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_at_any_distance_from_the_end() {
        for name in ["a", "href", "data-src", "xlink:href", "plaintext"] {
            for after in ["", ">", "=\"a long value that fills the eight bytes\""] {
                let text = format!("<{}{after}", name.to_uppercase());
                let read = Name::read(text.as_bytes(), 1, 1 + name.len());
                assert_eq!(read, Name::of(name), "{text}");
            }
        }
        assert_ne!(Name::of("href"), Name::of("hrefs"));
        assert_ne!(Name::of("data-src"), Name::of("data-srcset"));
    }

    #[test]
    fn every_row_of_the_table_is_accepted() {
        let options = ScanOptions {
            groups: Groups::all(),
            ..ScanOptions::default()
        };
        let names = Names::of(&options);
        let of_element = |name: &str| names.element(name.as_bytes(), 0, name.len());
        let has_attribute = |name: &str| names.has_attribute(name.as_bytes(), 0, name.len());
        for row in TABLE.iter() {
            let by_element = !row.elements.contains('*')
                && row
                    .elements
                    .split(' ')
                    .all(|element| of_element(element).whole);
            assert!(by_element || has_attribute(row.attribute), "{row:?}");
            assert!(
                by_element || !depends_on_others(row),
                "{row:?} asks for attributes that are passed over"
            );
        }
    }

    #[test]
    fn unneeded_names_are_rejected() {
        let names = Names::of(&ScanOptions::default());
        let of_element = |name: &str| names.element(name.as_bytes(), 0, name.len());
        let has_attribute = |name: &str| names.has_attribute(name.as_bytes(), 0, name.len());
        for attribute in [
            "class", "id", "name", "type", "value", "content", "data-src", "alt",
        ] {
            assert!(!has_attribute(attribute), "{attribute}");
        }
        for attribute in ["href", "src", "style", "xlink:href", "srcset", "action"] {
            assert!(has_attribute(attribute), "{attribute}");
        }
        assert_eq!(of_element("div"), Element::default());
        assert!(of_element("meta").whole);
        assert_eq!(of_element("plaintext").kind, ElementKind::Plaintext);
    }
}
