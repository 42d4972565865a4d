//! What the table says of an attribute of an element, remembered by the names as they lie in the bytes.
//!
//! Most documents have a few dozen such places. What depends on nothing but the two names and the namespace is
//! remembered for the document.
//!
//! ```
//! // Each `href` but the first is remembered.
//! let page = b"<a href=x><a href=y><A HREF=z>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links.len(), 3);
//! ```
//!
//! Deliberately absent: conditions. A row that asks for other attributes of the tag is looked up each time, but for
//! one that decides on the role alone.

use super::tag::RawAttribute;
use super::walk::Name;
use crate::scan::ScanOptions;
use crate::scan::attributes::{self, AttributeBase, Namespace, Row, Syntax, When};
use crate::span::Span;

/// As much of an element's name as is kept.
const LONGEST_NAME: usize = 256;

/// The name of an element, in lower case, from its bytes in a tag.
pub(super) fn element_name(name: &[u8]) -> String {
    let mut element = String::from_utf8_lossy(&name[..name.len().min(LONGEST_NAME)]).into_owned();
    element.make_ascii_lowercase();
    element
}

/// What the table says of an attribute of an element, where that does not depend on the tag.
#[derive(Clone, Copy, Default)]
pub(super) enum Answer {
    /// It carries no URL.
    #[default]
    Nothing,
    /// It is one reference against the document base URL.
    Url(&'static Row),
    /// It is CSS.
    Css(&'static Row),
    /// It is a list of image candidates.
    Srcset(&'static Row),
    /// It is one reference against the document base URL. The first row is for tags that meet its condition, the second for
    /// others; they differ in the role only.
    Either(&'static Row, &'static Row),
    /// Only where the tag has this attribute it may carry URLs.
    With(&'static str),
    /// The tag has to be looked into.
    Ask,
}

/// How many answers are remembered: a power of two, and more than most documents use.
const KNOWN: usize = 128;

/// An answer that is remembered.
#[derive(Clone, Copy, Default)]
struct KnownAnswer {
    place: Option<(Name, Name, Namespace)>,
    answer: Answer,
}

/// The slot that keeps the answer for an attribute of an element.
#[inline(always)]
fn slot(element: Name, attribute: Name) -> usize {
    (element.hash() ^ attribute.hash().rotate_left(3)) & (KNOWN - 1)
}

/// The answers that a document has needed so far.
pub(super) struct Answers {
    known: [KnownAnswer; KNOWN],
}

impl Answers {
    pub(super) fn new() -> Self {
        Self { known: [KnownAnswer::default(); KNOWN] }
    }

    /// What the table says of `attribute` of the element that is named at `element`.
    #[inline(always)]
    pub(super) fn answer(
        &mut self,
        bytes: &[u8],
        element: Span,
        namespace: Namespace,
        attribute: &RawAttribute,
        options: &ScanOptions,
    ) -> Answer {
        // Of longer names not all would be compared.
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
        // Other bytes could look like these where names are compared.
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
        _ => return Answer::Ask,
    };
    let element = element_name(&bytes[element.range()]);
    let mut rows = attributes::rows(&name).iter().filter(|row| {
        row.group.is_none_or(|group| options.groups.contains(group))
            && row.namespaces.contains(&namespace)
            && row.elements.contain(&element)
    });
    match (rows.next(), rows.next()) {
        (None, _) => Answer::Nothing,
        (Some(Row { when: When::Is(name, _) | When::Has(name, _), .. }), None) => {
            Answer::With(name)
        }
        (Some(row), Some(other))
            if row.against == AttributeBase::Document
                && row.syntax == Syntax::Url
                && matches!(row.when, When::Has(..))
                && *row == (Row { when: row.when, role: row.role, ..*other })
                && other.when == When::Always =>
        {
            Answer::Either(row, other)
        }
        (Some(row), _) if row.when != When::Always || row.against != AttributeBase::Document => {
            Answer::Ask
        }
        (Some(row), _) => match row.syntax {
            Syntax::Url => Answer::Url(row),
            Syntax::Css | Syntax::CssValue => Answer::Css(row),
            Syntax::Srcset => Answer::Srcset(row),
            _ => Answer::Ask,
        },
    }
}
