//! A start or end tag, byte by byte: the tag and attribute states of the HTML tokenizer (HTML,
//! 13.2.5.6 to 13.2.5.8 and 13.2.5.32 to 13.2.5.40).
//!
//! ```
//! use baselink::scan::html::tag::{Progress, TagReader};
//! let bytes = br#"<a title='>' href=x/>"#;
//! let mut reader = TagReader::new(0);
//! assert_eq!(reader.read(bytes, 0, bytes.len()), Progress::Complete);
//! let href = &reader.tag().attributes[1];
//! assert_eq!(&bytes[href.name.range()], b"href");
//! assert_eq!(&bytes[href.value.unwrap().range()], b"x/");
//! ```
//!
//! Deliberately absent: what the tag means, and whether the tokenizer is in a state in which `<`
//! opens a tag at all.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use crate::layer::escape::Quote;
use crate::span::Span;

/// An attribute as it stands in a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawAttribute {
    /// Its name, as written.
    pub name: Span,
    /// Its value without quotes; `None` when there is no `=`.
    pub value: Option<Span>,
    /// What delimits the value.
    pub quote: Quote,
}

/// A tag as it stands in the document. Offsets are those of the buffer that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawTag {
    /// From `<` to behind `>`.
    pub span: Span,
    /// Whether it is an end tag.
    pub end_tag: bool,
    /// Its name, as written.
    pub name: Span,
    /// Every attribute, repeated ones too, in source order.
    pub attributes: Vec<RawAttribute>,
    /// Whether `/>` ends it.
    pub self_closing: bool,
}

/// How far a [`TagReader`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The tag goes on.
    More,
    /// The tag is complete: the last byte read was its `>`.
    Complete,
    /// `<` opens a comment or a declaration, ended by a token of its own: `<!x`, `<?`, `</1`.
    Declaration,
    /// `<` opens nothing.
    NotATag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    TagOpen,
    MarkupDeclarationOpen,
    EndTagOpen,
    TagName,
    BeforeAttributeName,
    AttributeName,
    AfterAttributeName,
    BeforeAttributeValue,
    DoubleQuoted,
    SingleQuoted,
    Unquoted,
    AfterQuoted,
    SelfClosing,
    Complete,
}

/// Reads one tag, in as many pieces as one likes.
#[derive(Clone, Debug)]
pub struct TagReader {
    state: State,
    tag: RawTag,
}

impl TagReader {
    /// A reader that has just consumed the `<` at `at`.
    #[must_use]
    pub fn new(at: usize) -> Self {
        Self {
            state: State::TagOpen,
            tag: RawTag {
                span: Span::new(at, at + 1),
                end_tag: false,
                name: Span::at(at + 1),
                attributes: Vec::new(),
                self_closing: false,
            },
        }
    }

    /// What was read so far; whole once [`Progress::Complete`] was returned.
    #[must_use]
    pub fn tag(&self) -> &RawTag {
        &self.tag
    }

    /// The same, by value.
    #[must_use]
    pub fn into_tag(self) -> RawTag {
        self.tag
    }

    /// Whether the tag is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Reads `bytes[from..to]`, where the last piece ended at `from`; stops behind the tag's `>`.
    pub fn read(&mut self, bytes: &[u8], from: usize, to: usize) -> Progress {
        let mut at = from;
        if at == self.tag.span.start {
            at += 1;
        }
        while at < to {
            let quote = match self.state {
                State::DoubleQuoted => b'"',
                State::SingleQuoted => b'\'',
                _ => 0,
            };
            if quote != 0 {
                let Some(length) = memchr::memchr(quote, &bytes[at..to]) else {
                    return Progress::More;
                };
                at += length;
            }
            match self.step(bytes[at], at) {
                Progress::More => {}
                stopped => return stopped,
            }
            at += 1;
        }
        Progress::More
    }

    fn begin_attribute(&mut self, at: usize) -> State {
        self.tag.attributes.push(RawAttribute {
            name: Span::at(at),
            value: None,
            quote: Quote::None,
        });
        State::AttributeName
    }

    fn end_name(&mut self, at: usize) {
        if let Some(attribute) = self.tag.attributes.last_mut() {
            attribute.name.end = at;
        }
    }

    fn set_value(&mut self, value: Span, quote: Quote) {
        if let Some(attribute) = self.tag.attributes.last_mut() {
            attribute.value = Some(value);
            attribute.quote = quote;
        }
    }

    fn end_value(&mut self, at: usize) {
        if let Some(value) =
            self.tag.attributes.last_mut().and_then(|attribute| attribute.value.as_mut())
        {
            value.end = at;
        }
    }

    fn complete(&mut self, at: usize) -> Progress {
        self.tag.span.end = at + 1;
        self.state = State::Complete;
        Progress::Complete
    }

    fn step(&mut self, byte: u8, at: usize) -> Progress {
        let space = matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ');
        self.state = match self.state {
            State::TagOpen => match byte {
                b'!' => State::MarkupDeclarationOpen,
                b'/' => State::EndTagOpen,
                b'?' => return Progress::Declaration,
                b'a'..=b'z' | b'A'..=b'Z' => {
                    self.tag.name = Span::at(at);
                    State::TagName
                }
                _ => return Progress::NotATag,
            },
            // In foreign content `<![CDATA[` is text, which no token of its own ends.
            State::MarkupDeclarationOpen => {
                return if byte == b'[' { Progress::NotATag } else { Progress::Declaration };
            }
            State::EndTagOpen => match byte {
                b'a'..=b'z' | b'A'..=b'Z' => {
                    self.tag.end_tag = true;
                    self.tag.name = Span::at(at);
                    State::TagName
                }
                b'>' => return Progress::NotATag,
                _ => return Progress::Declaration,
            },
            State::TagName => {
                if !(space || byte == b'/' || byte == b'>') {
                    return Progress::More;
                }
                self.tag.name.end = at;
                match byte {
                    b'/' => State::SelfClosing,
                    b'>' => return self.complete(at),
                    _ => State::BeforeAttributeName,
                }
            }
            State::BeforeAttributeName => match byte {
                _ if space => State::BeforeAttributeName,
                b'/' => State::SelfClosing,
                b'>' => return self.complete(at),
                _ => self.begin_attribute(at),
            },
            State::AttributeName => match byte {
                _ if space => {
                    self.end_name(at);
                    State::AfterAttributeName
                }
                b'/' => {
                    self.end_name(at);
                    State::SelfClosing
                }
                b'>' => {
                    self.end_name(at);
                    return self.complete(at);
                }
                b'=' => {
                    self.end_name(at);
                    State::BeforeAttributeValue
                }
                _ => State::AttributeName,
            },
            State::AfterAttributeName => match byte {
                _ if space => State::AfterAttributeName,
                b'/' => State::SelfClosing,
                b'=' => State::BeforeAttributeValue,
                b'>' => return self.complete(at),
                _ => self.begin_attribute(at),
            },
            State::BeforeAttributeValue => match byte {
                _ if space => State::BeforeAttributeValue,
                b'"' => {
                    self.set_value(Span::at(at + 1), Quote::Double);
                    State::DoubleQuoted
                }
                b'\'' => {
                    self.set_value(Span::at(at + 1), Quote::Single);
                    State::SingleQuoted
                }
                b'>' => {
                    self.set_value(Span::at(at), Quote::None);
                    return self.complete(at);
                }
                _ => {
                    self.set_value(Span::at(at), Quote::None);
                    State::Unquoted
                }
            },
            State::DoubleQuoted | State::SingleQuoted => {
                self.end_value(at);
                State::AfterQuoted
            }
            State::Unquoted => match byte {
                _ if space => {
                    self.end_value(at);
                    State::BeforeAttributeName
                }
                b'>' => {
                    self.end_value(at);
                    return self.complete(at);
                }
                _ => State::Unquoted,
            },
            State::AfterQuoted => match byte {
                _ if space => State::BeforeAttributeName,
                b'/' => State::SelfClosing,
                b'>' => return self.complete(at),
                _ => self.begin_attribute(at),
            },
            State::SelfClosing => match byte {
                b'>' => {
                    self.tag.self_closing = true;
                    return self.complete(at);
                }
                _ if space => State::BeforeAttributeName,
                b'/' => State::SelfClosing,
                _ => self.begin_attribute(at),
            },
            State::Complete => State::Complete,
        };
        Progress::More
    }
}

/// Attributes of one tag that are compared with each other.
pub(super) const FEW: usize = 16;

/// The attributes that count: of several with one name (case ignored) the first (HTML, 13.2.5.33).
#[must_use]
pub fn distinct<'a>(bytes: &[u8], tag: &'a RawTag) -> Cow<'a, [RawAttribute]> {
    let name = |attribute: &RawAttribute| &bytes[attribute.name.range()];
    let all = tag.attributes.as_slice();
    if all.len() > FEW {
        return distinct_by(tag, |attribute| AnyCase(name(attribute)));
    }
    let is_repeated =
        |at: usize| all[..at].iter().any(|seen| name(seen).eq_ignore_ascii_case(name(&all[at])));
    match (0..all.len()).any(is_repeated) {
        false => Cow::Borrowed(all),
        true => (0..all.len()).filter(|&at| !is_repeated(at)).map(|at| all[at]).collect(),
    }
}

/// Of the attributes that count at least those whose names, as written, are wanted. Of a tag there may be
/// a million attributes, and hardly one that is.
pub(super) fn wanted<'a>(
    bytes: &[u8],
    tag: &'a RawTag,
    mut is_wanted: impl FnMut(&[u8]) -> bool,
) -> Cow<'a, [RawAttribute]> {
    if tag.attributes.len() <= FEW {
        return distinct(bytes, tag);
    }
    let mut seen = HashSet::new();
    let mut counts = |attribute: &&RawAttribute| {
        let name = &bytes[attribute.name.range()];
        is_wanted(name) && seen.insert(AnyCase(name))
    };
    tag.attributes.iter().filter(|attribute| counts(attribute)).copied().collect()
}

/// The first attribute of each name, where `name` says what the names are.
pub(super) fn distinct_by<N: Hash + Eq>(
    tag: &RawTag,
    name: impl Fn(&RawAttribute) -> N,
) -> Cow<'_, [RawAttribute]> {
    let all = tag.attributes.as_slice();
    let mut seen = HashSet::with_capacity(all.len());
    let Some(first) = all.iter().position(|attribute| !seen.insert(name(attribute))) else {
        return Cow::Borrowed(all);
    };
    let mut distinct = all[..first].to_vec();
    distinct.extend(all[first..].iter().filter(|attribute| seen.insert(name(attribute))));
    Cow::Owned(distinct)
}

/// A name whose case is ignored.
struct AnyCase<'a>(&'a [u8]);

impl PartialEq for AnyCase<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Eq for AnyCase<'_> {}

impl Hash for AnyCase<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for piece in self.0.chunks(16) {
            let mut lower = [0; 16];
            lower[..piece.len()].copy_from_slice(piece);
            lower.make_ascii_lowercase();
            state.write(&lower[..piece.len()]);
        }
        state.write_usize(self.0.len());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn attributes(tag: &str) -> Vec<(&str, Option<&str>)> {
        let mut reader = TagReader::new(0);
        assert_eq!(reader.read(tag.as_bytes(), 0, tag.len()), Progress::Complete, "{tag}");
        assert_eq!(reader.tag().span.len(), tag.len(), "{tag}");
        reader
            .into_tag()
            .attributes
            .iter()
            .map(|one| (&tag[one.name.range()], one.value.map(|value| &tag[value.range()])))
            .collect()
    }

    #[test]
    fn attributes_stand_where_the_tokenizer_states_put_them() {
        assert_eq!(attributes("<a href=x/>"), [("href", Some("x/"))]);
        assert_eq!(attributes("<a/href=x>"), [("href", Some("x"))]);
        assert_eq!(attributes("<a href = 'x>' B>"), [("href", Some("x>")), ("B", None)]);
        assert_eq!(attributes("<a href=\"x\"b=c>"), [("href", Some("x")), ("b", Some("c"))]);
        assert_eq!(attributes("<a =b=c>"), [("=b", Some("c"))]);
        assert_eq!(attributes("<a href=>"), [("href", Some(""))]);
        assert_eq!(attributes("<a href= >"), [("href", Some(""))]);
        assert_eq!(attributes("<a b / c>"), [("b", None), ("c", None)]);
        assert_eq!(attributes("<a b=\"\">"), [("b", Some(""))]);
        assert_eq!(attributes("<a <b>"), [("<b", None)]);
    }

    /// HTML, 13.2.5.33: of several with one name the first counts, its case ignored.
    #[test]
    fn the_first_of_several_with_one_name_counts() {
        let long = "an-attribute-of-more-than-sixteen";
        for others in [0, 14, 40] {
            let others: String = (0..others).map(|number| format!("o{number} ")).collect();
            let page = format!("<a b=1 {others}B=2 c {long}=3 {}=4 b=5>", long.to_uppercase());
            let mut reader = TagReader::new(0);
            reader.read(page.as_bytes(), 0, page.len());
            let found = distinct(page.as_bytes(), reader.tag());
            assert_eq!(found.len() + 3, reader.tag().attributes.len(), "{page}");
            let values: Vec<_> = found.iter().filter_map(|one| one.value).collect();
            let values: Vec<_> = values.iter().map(|value| &page[value.range()]).collect();
            assert_eq!(values, ["1", "3"], "{page}");
            let page = format!("<a {others}b c {long}>");
            let mut reader = TagReader::new(0);
            reader.read(page.as_bytes(), 0, page.len());
            let found = distinct(page.as_bytes(), reader.tag());
            assert_eq!(found, reader.tag().attributes, "{page}");
        }
    }

    #[test]
    fn what_is_no_tag_is_told_apart() {
        for (bytes, progress) in [
            ("<!-", Progress::Declaration),
            ("<![", Progress::NotATag),
            ("<?", Progress::Declaration),
            ("</ ", Progress::Declaration),
            ("</>", Progress::NotATag),
            ("< ", Progress::NotATag),
            ("<1", Progress::NotATag),
            ("<a href='>", Progress::More),
        ] {
            assert_eq!(TagReader::new(0).read(bytes.as_bytes(), 0, bytes.len()), progress);
        }
    }

    #[test]
    fn a_tag_read_in_pieces_is_the_same_tag() {
        let tag = b"<img alt='a>b' src = \"x\" srcset=y ismap/>";
        let mut whole = TagReader::new(0);
        whole.read(tag, 0, tag.len());
        for cut in 1..tag.len() {
            let mut pieces = TagReader::new(0);
            pieces.read(tag, 0, cut);
            assert_eq!(pieces.read(tag, cut, tag.len()), Progress::Complete);
            assert_eq!(pieces.tag(), whole.tag());
        }
    }
}
