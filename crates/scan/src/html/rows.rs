//! A cache of table lookups. The keys are the names of element and attribute, ignoring case, and the namespace.
//!
//! Most documents have only a few dozen such keys. An answer depends only on its key; if the links depend on more, the
//! answer says so.
//!
//! ```
//! // All but the first `href` are found in the cache.
//! let page = b"<a href=x><a href=y><A HREF=z>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links.len(), 3);
//! ```
//!
//! Deliberately absent: conditions. A row that depends on another attribute is looked up for every tag, unless the tag
//! lacks that attribute or the condition affects only the role of the link.

use baselink_text::Span;

use super::{tag::RawAttribute, walk::Name};
use crate::{
    ScanOptions,
    attributes::{self, AttributeBase, Condition, Namespace, Row, Syntax},
};

/// The number of bytes of an element's name that are kept.
const LONGEST_NAME: usize = 256;

/// The name of an element, in lower case, from its bytes in a tag.
pub fn element_name(name: &[u8]) -> String {
    let mut element = String::from_utf8_lossy(&name[..name.len().min(LONGEST_NAME)]).into_owned();
    element.make_ascii_lowercase();
    element
}

/// The answer of the table for an attribute of an element.
#[derive(Clone, Copy, Default)]
pub enum Answer {
    /// The attribute contains no URL.
    #[default]
    Nothing,
    /// The value is one reference against the document base URL.
    Url(&'static Row),
    /// The value is CSS.
    Css(&'static Row),
    /// The value is a list of image candidates.
    Srcset(&'static Row),
    /// The value is one reference against the document base URL. The first row is for tags that meet its
    /// condition, the second for others. They differ in the role only.
    Either(&'static Row, &'static Row),
    /// The attribute contains no URLs if the tag lacks the attribute with this name. Otherwise the result depends on
    /// the tag.
    With(&'static str),
    /// The attribute must be looked up again without the fast path.
    SlowPath,
}

/// The number of cached answers: a power of two, larger than most documents need.
const KNOWN: usize = 128;

/// A cached answer.
#[derive(Clone, Copy, Default)]
struct KnownAnswer {
    place: Option<(Name, Name, Namespace)>,
    answer: Answer,
}

/// The cache slot for an attribute of an element.
#[inline(always)]
fn slot(element: Name, attribute: Name) -> usize {
    (element.hash() ^ attribute.hash().rotate_left(3)) & (KNOWN - 1)
}

/// The answers cached so far for a document.
pub struct Answers {
    known: [KnownAnswer; KNOWN],
}

impl Answers {
    pub fn new() -> Self {
        Self {
            known: [KnownAnswer::default(); KNOWN],
        }
    }

    /// The table's answer for `attribute` of the element that is named at `element`.
    #[inline(always)]
    pub fn answer(
        &mut self,
        bytes: &[u8],
        element: Span,
        namespace: Namespace,
        attribute: &RawAttribute,
        options: &ScanOptions,
    ) -> Answer {
        // A [`Name`] holds only eight bytes.
        if element.len() > 8 || attribute.name.len() > 8 {
            return look_up(bytes, element, namespace, attribute, options);
        }
        let of_element = Name::read(bytes, element.start, element.end);
        let name = Name::read(bytes, attribute.name.start, attribute.name.end);
        let place = Some((of_element, name, namespace));
        let slot = slot(of_element, name);
        let known = &self.known[slot];
        if known.place == place {
            return known.answer;
        }
        let answer = look_up(bytes, element, namespace, attribute, options);
        // A [`Name`] with other bytes may equal a different name, so it is not cached.
        let is_exact = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
        let mut names = [element, attribute.name].into_iter();
        if names.all(|name| bytes[name.range()].iter().all(is_exact)) {
            self.known[slot] = KnownAnswer { place, answer };
        }
        answer
    }
}

#[inline(never)]
fn look_up(
    bytes: &[u8],
    element: Span,
    namespace: Namespace,
    attribute: &RawAttribute,
    options: &ScanOptions,
) -> Answer {
    let name = match str::from_utf8(&bytes[attribute.name.range()]) {
        Ok(name) if options.places.is_empty() => name.to_ascii_lowercase(),
        _ => return Answer::SlowPath,
    };
    let element = element_name(&bytes[element.range()]);
    let mut rows = attributes::rows(&name).iter().filter(|row| {
        options.groups.read(row)
            && row.namespace.is_none_or(|known| known == namespace)
            && row.covers(&element)
    });
    match (rows.next(), rows.next()) {
        (None, _) => Answer::Nothing,
        (
            Some(Row {
                when: Condition::Is(name, _) | Condition::Has(name, _),
                ..
            }),
            None,
        ) => Answer::With(name),
        (Some(row), Some(other))
            if row.against == AttributeBase::Document
                && row.syntax == Syntax::Url
                && matches!(row.when, Condition::Has(..))
                && *row
                    == (Row {
                        when: row.when,
                        role: row.role,
                        ..*other
                    })
                && other.when == Condition::Always =>
        {
            Answer::Either(row, other)
        }
        (Some(row), _)
            if row.when != Condition::Always || row.against != AttributeBase::Document =>
        {
            Answer::SlowPath
        }
        (Some(row), _) => match row.syntax {
            Syntax::Url => Answer::Url(row),
            Syntax::Css | Syntax::CssValue => Answer::Css(row),
            Syntax::Srcset => Answer::Srcset(row),
            _ => Answer::SlowPath,
        },
    }
}
