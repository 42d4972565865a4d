//! The tokens of XML (XML 1.0, 2.4 to 2.8 and 3.1) as spans of the bytes, and the attributes of a tag.
//!
//! quick-xml finds the ends of tokens; each token begins at the end of the previous one.
//!
//! ```
//! use baselink_scan::xml::tokens;
//! let bytes = b"<a b='c'/>d";
//! let mut found = Vec::new();
//! let read = tokens::scan(bytes, 0, &mut |_, span| {
//!     found.push(span.range());
//!     Ok(())
//! });
//! assert_eq!(found, [0..10, 10..11]);
//! assert!(read.is_ok());
//! let tag = tokens::tag(bytes, 1, 8).unwrap();
//! assert_eq!(&bytes[tag.attributes[0].value.range()], b"c");
//! ```
//!
//! Deliberately absent: the relations between tokens. Other modules check that tags nest, and resolve prefixes.

use std::{borrow::Cow, collections::HashSet};

use baselink_text::{
    Span,
    layer::{charset::masked, escape::Quote},
};
use quick_xml::Reader;
pub use quick_xml::events::Event;

use crate::{document::SyntaxFault, value::skip};

/// Passes every event of `bytes` from `start` on to `take`, with its span, up to the first fault.
///
/// Errors that do not make the structure ambiguous, such as a lone `&`, are not faults here.
pub fn scan(
    bytes: &[u8],
    start: usize,
    take: &mut dyn FnMut(&Event<'_>, Span) -> Result<(), SyntaxFault>,
) -> Result<(), SyntaxFault> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let mut start = start;
    while bytes[start..].starts_with(MARK) {
        start += MARK.len();
    }
    // Markup consists only of ASCII, so other bytes can be masked in every encoding that is supported here.
    let input = match str::from_utf8(&bytes[start..]) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(masked(&bytes[start..])),
    };
    let mut reader = Reader::from_reader(input.as_bytes());
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut at = start;
    loop {
        let event = reader.read_event();
        let end = start + usize::try_from(reader.buffer_position()).unwrap_or(input.len());
        match event {
            Ok(Event::Eof) => return Ok(()),
            Ok(event) => take(&event, Span::new(at, end))?,
            Err(_) => return Err(SyntaxFault::new(at, what_begins(&bytes[at..]))),
        }
        at = end;
    }
}

/// The description of an unterminated token.
fn what_begins(bytes: &[u8]) -> &'static str {
    match bytes {
        [b'<', b'!', b'-', ..] => "this comment does not end",
        [b'<', b'!', b'[', ..] => "this CDATA section does not end",
        [b'<', b'!', ..] => "this declaration is not part of XML, or does not end",
        [b'<', b'?', ..] => "this processing instruction does not end",
        _ => "this tag does not end",
    }
}

/// An attribute, or a pseudo-attribute of a processing instruction.
#[derive(Clone, Copy, Debug)]
pub struct XmlAttribute {
    /// The name of the attribute.
    pub name: Span,
    /// The value between the quotes.
    pub value: Span,
    /// The quotes around the value.
    pub quote: Quote,
}

/// The name and attributes of a tag or processing instruction.
#[derive(Debug)]
pub struct XmlTag {
    /// The name.
    pub name: Span,
    /// The attributes in order.
    pub attributes: Vec<XmlAttribute>,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Parses `bytes[start..end]`, the inside of a tag (XML 1.0, 3.1).
///
/// # Errors
///
/// Fails if a name, a value or a space is missing, if a value contains `<`, or if an attribute is repeated.
pub fn tag(bytes: &[u8], start: usize, end: usize) -> Result<XmlTag, SyntaxFault> {
    let bytes = &bytes[..end];
    let in_name = |byte: u8| {
        !is_space(byte)
            && !matches!(
                byte,
                b'=' | b'/' | b'"' | b'\'' | b'<' | b'>' | b'&' | b'?' | b'!'
            )
    };
    let name = Span::new(start, skip(bytes, start, in_name));
    if name.is_empty() {
        return Err(SyntaxFault::new(start, "a name is missing"));
    }
    let mut attributes = Vec::new();
    let mut at = name.end;
    loop {
        let next = skip(bytes, at, is_space);
        if next == end {
            break;
        }
        if next == at {
            return Err(SyntaxFault::new(at, "a space is missing before this"));
        }
        let name = Span::new(next, skip(bytes, next, in_name));
        if name.is_empty() {
            return Err(SyntaxFault::new(next, "an attribute has no name"));
        }
        let equals = skip(bytes, name.end, is_space);
        if bytes.get(equals) != Some(&b'=') {
            return Err(SyntaxFault::new(name.start, "this attribute has no value"));
        }
        let open = skip(bytes, equals + 1, is_space);
        let quote = match bytes.get(open) {
            Some(b'"') => Quote::Double,
            Some(b'\'') => Quote::Single,
            _ => {
                return Err(SyntaxFault::new(
                    name.start,
                    "the value of this attribute has no quotes",
                ));
            }
        };
        let length = memchr::memchr(bytes[open], &bytes[open + 1..]);
        let Some(length) = length else {
            return Err(SyntaxFault::new(open, "this value does not end"));
        };
        let value = Span::new(open + 1, open + 1 + length);
        if memchr::memchr(b'<', &bytes[value.range()]).is_some() {
            return Err(SyntaxFault::new(
                name.start,
                "there is a '<' in the value of this attribute",
            ));
        }
        attributes.push(XmlAttribute { name, value, quote });
        at = value.end + 1;
    }
    match repeated(bytes, &attributes) {
        Some(at) => Err(SyntaxFault::new(at, "this attribute occurs twice")),
        None => Ok(XmlTag { name, attributes }),
    }
}

/// The first attribute whose name repeats an earlier one.
fn repeated(bytes: &[u8], attributes: &[XmlAttribute]) -> Option<usize> {
    const FEW: usize = 12;
    let name = |attribute: &XmlAttribute| &bytes[attribute.name.range()];
    if attributes.len() > FEW {
        let mut seen = HashSet::with_capacity(attributes.len());
        let again = attributes.iter().find(|one| !seen.insert(name(one)));
        return again.map(|again| again.name.start);
    }
    let again = attributes.iter().enumerate().find(|(index, one)| {
        attributes[..*index]
            .iter()
            .any(|other| name(other) == name(one))
    });
    again.map(|(_, again)| again.name.start)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tokens(text: &[u8]) -> (Vec<&[u8]>, Option<usize>) {
        let mut found = Vec::new();
        let read = scan(text, 0, &mut |_, span| {
            found.push(&text[span.range()]);
            Ok(())
        });
        (found, read.err().map(|fault| fault.at))
    }

    #[test]
    fn tokens_follow_each_other_without_gaps() {
        let document =
            b"\xef\xbb\xbf<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b '>]'>]>\n<a b='>'>c&d;e & f\
                         <![CDATA[<g>]]><!--h--><?i j?></a>";
        let (found, fault) = tokens(document);
        let first: [&[u8]; 4] = [
            b"<?xml version='1.0'?>",
            b"<!DOCTYPE a [<!ENTITY b '>]'>]>",
            b"\n",
            b"<a b='>'>",
        ];
        let last: [&[u8]; 4] = [b"<![CDATA[<g>]]>", b"<!--h-->", b"<?i j?>", b"</a>"];
        assert_eq!(found.concat(), document[3..]);
        assert!(found.starts_with(&first) && found.ends_with(&last));
        assert_eq!(fault, None);
        // Bytes that are not UTF-8 keep their offsets.
        assert_eq!(
            tokens(b"\xe9<a b='\xe9'>\xff</a>").0,
            [&b"\xe9"[..], b"<a b='\xe9'>", b"\xff", b"</a>"]
        );
    }

    #[test]
    fn an_unterminated_token_is_a_fault() {
        for (text, count, at) in [
            ("<a>b<c", 2, 4),
            ("<a><!-- b", 1, 3),
            ("<a><![CDATA[b]]", 1, 3),
            ("<a><?b", 1, 3),
            ("<a>b<", 2, 4),
            ("<a><!x>", 1, 3),
            ("<!DOCTYPE a [", 0, 0),
        ] {
            let (found, fault) = tokens(text.as_bytes());
            assert_eq!((found.len(), fault), (count, Some(at)), "{text}");
        }
    }

    fn attributes(inside: &str) -> Result<Vec<(&str, &str)>, usize> {
        let tag = tag(inside.as_bytes(), 0, inside.len()).map_err(|fault| fault.at)?;
        let text = |span: Span| &inside[span.range()];
        Ok(tag
            .attributes
            .iter()
            .map(|one| (text(one.name), text(one.value)))
            .collect())
    }

    #[test]
    fn a_tag_is_split_into_its_attributes() {
        assert_eq!(attributes("a"), Ok(vec![]));
        assert_eq!(attributes("a:b \n"), Ok(vec![]));
        assert_eq!(
            attributes("a b='c' d:e = \"f'>\" "),
            Ok(vec![("b", "c"), ("d:e", "f'>")])
        );
        for (inside, at) in [
            ("", 0),
            (" a", 0),
            ("a b", 2),
            ("a b=c", 2),
            ("a b='c'd='e'", 7),
            ("a b='c' b='d'", 8),
            ("a b='<'", 2),
            ("a b='", 4),
            ("a ='b'", 2),
            ("a/b", 1),
        ] {
            assert_eq!(attributes(inside), Err(at), "{inside}");
        }
        let many: String = (0..100).map(|number| format!(" a{number}=''")).collect();
        assert_eq!(attributes(&format!("b{many}")).unwrap().len(), 100);
        assert!(attributes(&format!("b{many} a7=''")).is_err());
    }
}
