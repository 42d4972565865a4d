//! The reader of tags: the tag and attribute states of the HTML tokenizer (HTML, 13.2.5.6 to 13.2.5.8 and
//! 13.2.5.32 to 13.2.5.40).
//!
//! ```
//! // The first `>` and the `/` are parts of values.
//! let page = b"<a title='>' href=x/>";
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "x/");
//! ```
//!
//! Deliberately absent: the meaning of a tag, and the tokenizer's state. The caller must know that `<` opens a tag.

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use baselink_text::{Charset, Span, View, format::is_among, layer::escape::Quote};

use super::{references::character_references, walk::Names};
use crate::{
    block::{find, is_space, name_end, value_end},
    document::shared_rel,
};

/// An attribute as written in a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawAttribute {
    /// The name, as written.
    pub name: Span,
    /// The value without quotes; `None` if there is no `=`.
    pub value: Option<Span>,
    /// The delimiter of the value.
    pub quote: Quote,
}

impl RawAttribute {
    /// True if the attribute is called `name` in `bytes`, ignoring case.
    #[inline]
    pub fn is_named(&self, bytes: &[u8], name: &str) -> bool {
        bytes[self.name.range()].eq_ignore_ascii_case(name.as_bytes())
    }

    /// The decoded value; empty if there is none.
    pub fn decoded(&self, bytes: &[u8], charset: Charset) -> View {
        let span = self.value.unwrap_or(Span::at(self.name.end));
        character_references(charset.decode(&bytes[span.range()], span.start))
    }
}

/// A tag as written in the document. Offsets are those of the scanned buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawTag {
    /// The tag including `<` and `>`.
    pub span: Span,
    /// True for an end tag.
    pub end_tag: bool,
    /// The name, as written.
    pub name: Span,
    /// The attributes in source order, including repeated ones.
    pub attributes: Vec<RawAttribute>,
    /// True if the tag ends with `/>`, and the `/` is not part of a value.
    pub(crate) self_closing: bool,
}

impl RawTag {
    /// True if the tag is called `name` in `bytes`, ignoring case.
    #[inline]
    pub fn is_named(&self, bytes: &[u8], name: &str) -> bool {
        bytes[self.name.range()].eq_ignore_ascii_case(name.as_bytes())
    }

    /// The attribute called `name`. Of several, the first counts (HTML, 13.2.5.33).
    pub(super) fn attribute(&self, bytes: &[u8], name: &str) -> Option<&RawAttribute> {
        self.attributes.iter().find(|one| one.is_named(bytes, name))
    }
}

/// Reads the attributes of a tag from the end of its name at `from` on, and stores those with one of `names` in `tag`, or all
/// of them. Returns the end of the tag; `None` if `bytes` end in it.
#[inline(always)]
pub(super) fn attributes(
    bytes: &[u8],
    from: usize,
    names: Option<&Names>,
    tag: &mut RawTag,
) -> Option<usize> {
    let mut at = from;
    tag.attributes.clear();
    tag.self_closing = false;
    loop {
        match bytes.get(at) {
            None => return None,
            Some(&byte) if is_space(byte) => {
                at += 1;
                continue;
            }
            Some(b'>') => return Some(at + 1),
            Some(b'/') => {
                at += 1;
                if bytes.get(at) == Some(&b'>') {
                    tag.self_closing = true;
                    return Some(at + 1);
                }
                continue;
            }
            Some(_) => {}
        }
        // The first byte always belongs to the name, even a `=`.
        let end = name_end(bytes, at + 1, b'=');
        let name = Span::new(at, end);
        let is_kept = match names {
            Some(names) => names.has_attribute(bytes, name.start, name.end),
            None => true,
        };
        at = skip_space(bytes, end);
        let (mut value, mut quote) = (None, Quote::None);
        if bytes.get(at) == Some(&b'=') {
            at = skip_space(bytes, at + 1);
            let (start, end);
            match bytes.get(at) {
                None => return None,
                Some(&mark @ (b'"' | b'\'')) => {
                    start = at + 1;
                    end = find(bytes, start, mark);
                    if end == bytes.len() {
                        return None;
                    }
                    at = end + 1;
                    quote = if mark == b'"' {
                        Quote::Double
                    } else {
                        Quote::Single
                    };
                }
                Some(b'>') => (start, end) = (at, at),
                Some(_) => {
                    start = at;
                    end = value_end(bytes, at);
                    at = end;
                }
            }
            value = Some(Span::new(start, end));
        }
        if is_kept {
            tag.attributes.push(RawAttribute { name, value, quote });
        }
    }
}

#[inline(always)]
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// The tag whose `<` is at `at`; `None` if no tag begins there, or `bytes` end in it.
pub fn read(bytes: &[u8], at: usize) -> Option<RawTag> {
    let end_tag = bytes.get(at + 1) == Some(&b'/');
    let start = at + 1 + usize::from(end_tag);
    if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let name = Span::new(start, name_end(bytes, start, b'>'));
    let mut tag = RawTag {
        end_tag,
        name,
        ..RawTag::default()
    };
    let end = attributes(bytes, name.end, None, &mut tag)?;
    tag.span = Span::new(at, end);
    Some(tag)
}

/// The number of attributes of the tag whose `<` is at `at`, up to the end of `bytes`.
pub(super) fn count_attributes(bytes: &[u8], at: usize) -> usize {
    let mut tag = RawTag::default();
    let from = name_end(bytes, at + 1, b'>');
    attributes(bytes, from, None, &mut tag);
    tag.attributes.len()
}

/// The value of the attribute `rel` in the tag whose name is at `name`, if HTML, 4.6.7, gives the element one.
pub fn rel(bytes: &[u8], name: Span, charset: Charset) -> Option<Arc<str>> {
    if !is_among(&bytes[name.range()], "a area form link") {
        return None;
    }
    let mut tag = RawTag::default();
    attributes(bytes, name.end, None, &mut tag)?;
    let rel = tag.attribute(bytes, "rel")?;
    shared_rel(&rel.decoded(bytes, charset).text)
}

/// The maximum number of attributes that are compared pairwise.
pub(super) const FEW: usize = 16;

/// The attributes without repetitions: the first of each name, ignoring case (HTML, 13.2.5.33).
pub fn distinct<'a>(bytes: &[u8], tag: &'a RawTag) -> Cow<'a, [RawAttribute]> {
    let name = |attribute: &RawAttribute| &bytes[attribute.name.range()];
    let all = tag.attributes.as_slice();
    if all.len() > FEW {
        let mut seen = HashSet::with_capacity(all.len());
        return all
            .iter()
            .filter(|one| seen.insert(name(one).to_ascii_lowercase()))
            .copied()
            .collect();
    }
    let is_repeated = |at: usize| {
        all[..at]
            .iter()
            .any(|seen| name(seen).eq_ignore_ascii_case(name(&all[at])))
    };
    if (0..all.len()).any(is_repeated) {
        (0..all.len())
            .filter(|&at| !is_repeated(at))
            .map(|at| all[at])
            .collect()
    } else {
        Cow::Borrowed(all)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Name and value of each attribute of a tag.
    fn attributes(tag: &str) -> Vec<(&str, Option<&str>)> {
        let read = read(tag.as_bytes(), 0).unwrap();
        assert_eq!(read.span.len(), tag.len(), "{tag}");
        let text = |span: Span| &tag[span.range()];
        read.attributes
            .iter()
            .map(|one| (text(one.name), one.value.map(text)))
            .collect()
    }

    #[test]
    fn attributes_are_where_the_tokenizer_states_put_them() {
        assert_eq!(attributes("<a href=x/>"), [("href", Some("x/"))]);
        assert_eq!(attributes("<a/href=x>"), [("href", Some("x"))]);
        assert_eq!(
            attributes("<a href = 'x>' B>"),
            [("href", Some("x>")), ("B", None)]
        );
        assert_eq!(
            attributes("<a href=\"x\"b=c>"),
            [("href", Some("x")), ("b", Some("c"))]
        );
        assert_eq!(attributes("<a =b=c>"), [("=b", Some("c"))]);
        assert_eq!(attributes("<a href=>"), [("href", Some(""))]);
        assert_eq!(attributes("<a href= >"), [("href", Some(""))]);
        assert_eq!(attributes("<a b / c>"), [("b", None), ("c", None)]);
        assert_eq!(attributes("<a b=\"\">"), [("b", Some(""))]);
        assert_eq!(attributes("<a <b>"), [("<b", None)]);
    }

    /// HTML, 13.2.5.33: of several attributes with one name, ignoring case, the first counts.
    #[test]
    fn the_first_of_several_with_one_name_counts() {
        let long = "an-attribute-of-more-than-sixteen";
        for others in [0, 14, 40] {
            let others: String = (0..others).map(|number| format!("o{number} ")).collect();
            let page = format!(
                "<a b=1 {others}B=2 c {long}=3 {}=4 b=5>",
                long.to_uppercase()
            );
            let tag = read(page.as_bytes(), 0).unwrap();
            let found = distinct(page.as_bytes(), &tag);
            assert_eq!(found.len() + 3, tag.attributes.len(), "{page}");
            let values: Vec<_> = found.iter().filter_map(|one| one.value).collect();
            let values: Vec<_> = values.iter().map(|value| &page[value.range()]).collect();
            assert_eq!(values, ["1", "3"], "{page}");
            let page = format!("<a {others}b c {long}>");
            let tag = read(page.as_bytes(), 0).unwrap();
            let found = distinct(page.as_bytes(), &tag);
            assert_eq!(found, tag.attributes, "{page}");
        }
    }

    #[test]
    fn an_incomplete_tag_is_not_read() {
        for bytes in [
            "<!-",
            "<![",
            "<?",
            "</ ",
            "</>",
            "< ",
            "<1",
            "<",
            "</",
            "<a",
            "<a href='>",
        ] {
            assert_eq!(read(bytes.as_bytes(), 0), None, "{bytes}");
        }
    }

    #[test]
    fn a_tag_that_is_cut_off_anywhere_is_not_read() {
        let tag = b"<img alt='a>b' src = \"x\" srcset=y ismap/>";
        assert!(read(tag, 0).is_some_and(|tag| tag.self_closing && tag.attributes.len() == 4));
        for cut in 0..tag.len() {
            assert_eq!(read(&tag[..cut], 0), None);
        }
    }
}
