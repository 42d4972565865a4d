//! What the table says of an attribute of an element, remembered by the names as they lie in the bytes.
//!
//! Most documents have a few dozen such places, and most of those in common. What depends on nothing but the two names
//! and the namespace is remembered for the document, and, where no groups and places are asked for, for all
//! documents.
//!
//! ```
//! // Each `href` but the first is remembered.
//! let page = b"<a href=x><a href=y><A HREF=z>";
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links.len(), 3);
//! ```
//!
//! Deliberately absent: conditions. A row that asks for other attributes of the tag is looked up each time.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::tag::RawAttribute;
use super::walk::Name;
use crate::scan::ScanOptions;
use crate::scan::attributes::{self, AttributeBase, Groups, Namespace, Row, Syntax, When};
use crate::span::Span;

/// No name of an attribute in the table is longer.
pub(super) const LONGEST_ATTRIBUTE: usize = 48;

/// `name` in ASCII lower case, without an allocation; `None` where it is too long for that, or not UTF-8.
pub(super) fn lower_case<'a>(
    name: &[u8],
    buffer: &'a mut [u8; LONGEST_ATTRIBUTE],
) -> Option<&'a str> {
    let lower = buffer.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    str::from_utf8(lower).ok()
}

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

/// Answers where there are no groups and no further places, kept from document to document. Of several that could be
/// kept at one place the first is.
static SHARED: [OnceLock<KnownAnswer>; 512] = [const { OnceLock::new() }; 512];

/// Where the answer for an attribute of an element is kept, in a table of any length.
#[inline(always)]
fn slot(element: Name, attribute: Name) -> usize {
    element.hash() ^ attribute.hash().rotate_left(3)
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
        let known = &self.known[slot & (KNOWN - 1)];
        if known.place == place {
            return known.answer;
        }
        self.remember(slot, place, bytes, element, attribute, options)
    }

    #[inline(never)]
    fn remember(
        &mut self,
        slot: usize,
        place: Option<(Name, Name, Namespace)>,
        bytes: &[u8],
        element: Span,
        attribute: &RawAttribute,
        options: &ScanOptions,
    ) -> Answer {
        let namespace = place.map_or(Namespace::Html, |(.., namespace)| namespace);
        let is_usual = options.places.is_empty() && options.groups == Groups::default();
        let shared = if is_usual { Some(&SHARED[slot & (SHARED.len() - 1)]) } else { None };
        let known = shared.and_then(OnceLock::get).filter(|known| known.place == place);
        let own = &mut self.known[slot & (KNOWN - 1)];
        if let Some(known) = known {
            *own = *known;
            return known.answer;
        }
        let answer = look_up(bytes, element, namespace, attribute, options);
        // Other bytes could look like these where names are compared.
        let is_exact = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
        let mut names = [element, attribute.name].into_iter();
        if names.all(|name| bytes[name.range()].iter().all(is_exact)) {
            *own = KnownAnswer { place, answer };
            shared.map(|shared| shared.get_or_init(|| *own));
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
    let raw = &bytes[attribute.name.range()];
    if !options.places.is_empty() || str::from_utf8(raw).is_err() {
        return Answer::Ask;
    }
    let (mut of_name, mut of_element) = ([0; LONGEST_ATTRIBUTE], [0; LONGEST_ATTRIBUTE]);
    let Some(name) = lower_case(raw, &mut of_name) else {
        // No name in the table is as long.
        return Answer::Nothing;
    };
    let element = &bytes[element.range()];
    let element = match lower_case(element, &mut of_element) {
        Some(element) => Cow::Borrowed(element),
        None => Cow::Owned(element_name(element)),
    };
    let mut rows = attributes::rows(name).iter().filter(|row| {
        row.group.is_none_or(|group| options.groups.contains(group))
            && row.namespaces.contains(&namespace)
            && row.elements.contain(&element)
    });
    match (rows.next(), rows.next()) {
        (None, _) => Answer::Nothing,
        (Some(Row { when: When::Is(name, _) | When::Has(name, _), .. }), None) => {
            Answer::With(name)
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
