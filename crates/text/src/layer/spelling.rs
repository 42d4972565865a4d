//! Spells new text for its place: the inverse of decoding.
//!
//! The spelling depends on the form of the value (a list, a `srcset`, a CSS string), on its carrier (an attribute
//! with its quotes, text, raw text), and on the character encoding.
//!
//! ```
//! use baselink_text::layer::{charset::Charset, escape::Quote, spelling::{Carrier, Form, Spelling}};
//! let place = Spelling { form: Form::Srcset, carrier: Carrier::Attribute(Quote::Double), enclosed: false };
//! let new = place.adapt("http://a/b c/?x&y,", true, Charset::UTF_8);
//! assert_eq!(new, "http://a/b%20c/?x&y%2C");
//! assert_eq!(place.spell(&new, Charset::UTF_8).unwrap(), b"http://a/b%20c/?x&amp;y%2C");
//! ```
//!
//! Deliberately absent: adding or changing quotes. A character that is not allowed at a place is escaped in the
//! syntax of the place, else percent-encoded.

use std::borrow::Cow;

use super::{
    OffsetMap, OpenEscape,
    charset::Charset,
    escape::{self, Quote},
    xml,
};
use crate::{edit::Edit, span::Span};

/// The syntax of the value that contains a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The value is the reference.
    Whole,
    /// One of several references separated by white space.
    Spaces,
    /// One of several references separated by commas.
    Commas,
    /// One of several references separated by semicolons.
    Semicolons,
    /// The URL of an image candidate (HTML, 4.8.4.2.1).
    Srcset,
    /// The URL of a declarative refresh (HTML, 4.2.5.3), in quotes or bare.
    Refresh(Option<char>),
    /// A URL in a header field (RFC 5322) or in the wrapper of RFC 1738's appendix: bare, in brackets or in this
    /// quote. Such a place ignores white space and has no escapes. White space, control characters, `<`, `>`, `"`,
    /// `\`, the quote and characters beyond ASCII are therefore percent-encoded.
    Field(Option<char>),
    /// The text of a CSS url-token (CSS Syntax 3, 4.3.6).
    CssToken,
    /// The text of a CSS string in this quote.
    CssString(char),
    /// The text of a string of JavaScript or JSON in this quote.
    Script(char),
    /// The value is a literal of a document type declaration, in which `%` begins a reference to an entity (XML 1.0, 4.4).
    Literal,
    /// A document in the value, not a reference.
    Document,
}

/// The carrier of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// An attribute value.
    Attribute(Quote),
    /// Text with character references.
    Text,
    /// Text without character references: raw text, a CDATA section of HTML, a whole file.
    Raw,
    /// An attribute value of XML, or a pseudo-attribute of a processing instruction.
    XmlAttribute(Quote),
    /// Character data of XML.
    XmlText,
    /// A CDATA section of XML, which ends at `]]>`.
    CData,
}

/// The spelling of text at a place.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    /// The syntax of the value.
    pub form: Form,
    /// The carrier of the value.
    pub carrier: Carrier,
    /// True if the place is in a comment or raw text, which `<` or `>` could end.
    pub enclosed: bool,
}

impl Spelling {
    /// Percent-encodes the characters of `text` that the place can neither contain nor escape.
    ///
    /// `last` is true if `text` ends the reference.
    pub fn adapt<'a>(&self, text: &'a str, last: bool, charset: Charset) -> Cow<'a, str> {
        if is_plain(text) {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(self.adapt_fully(text, last, charset))
        }
    }

    fn adapt_fully(&self, text: &str, last: bool, charset: Charset) -> String {
        let raw = matches!(self.carrier, Carrier::Raw | Carrier::CData);
        let xml = matches!(
            self.carrier,
            Carrier::XmlAttribute(_) | Carrier::XmlText | Carrier::CData
        );
        let mut adapted = escape::percent_encode(text, |character| {
            let ascii_space = matches!(character, '\t' | '\n' | '\u{c}' | '\r' | ' ');
            (match self.form {
                Form::Whole
                | Form::Script(_)
                | Form::CssString(_)
                | Form::Literal
                | Form::Document => false,
                Form::Spaces | Form::Srcset => ascii_space,
                Form::Commas => ascii_space || character == ',',
                Form::Semicolons => ascii_space || character == ';',
                Form::Refresh(quote) => Some(character) == quote,
                Form::Field(quote) => {
                    !character.is_ascii_graphic()
                        || matches!(character, '<' | '>' | '"' | '\\')
                        || Some(character) == quote
                }
                Form::CssToken => {
                    ascii_space
                        || character.is_control()
                        || matches!(character, '"' | '\'' | '(' | ')' | '\\')
                }
            }) || (raw && matches!(character, '<' | '>') && self.form != Form::Document)
                || (xml && !xml::is_char(character))
                || (self.carrier == Carrier::CData && character == '\r')
                || character == '\0'
                || ((raw || is_remapped(character))
                    && charset.encode(character.encode_utf8(&mut [0; 4])).is_none())
        });
        if self.form == Form::Srcset && last {
            let commas = adapted.len() - adapted.trim_end_matches(',').len();
            adapted.truncate(adapted.len() - commas);
            adapted.push_str(&"%2C".repeat(commas));
        }
        if self.form == Form::Refresh(None) && adapted.starts_with(['"', '\'']) {
            adapted = escape::percent_encode(&adapted, |quote| matches!(quote, '"' | '\''));
        }
        adapted
    }

    /// The bytes for `adapted` at the place. `None` if the encoding lacks a character that the place cannot escape.
    pub fn spell(&self, adapted: &str, charset: Charset) -> Option<Vec<u8>> {
        if is_plain(adapted) && self.form != Form::Literal {
            return charset.encode(adapted);
        }
        self.spell_fully(adapted, charset)
    }

    fn spell_fully(&self, adapted: &str, charset: Charset) -> Option<Vec<u8>> {
        let formed = match self.form {
            Form::CssString(quote) => escape::css_string(adapted, quote),
            Form::Script(quote) => escape::script_string(adapted, quote),
            _ => adapted.to_owned(),
        };
        let mut carried = match self.carrier {
            Carrier::Attribute(quote) => escape::attribute(&formed, quote),
            Carrier::Text => escape::text(&formed),
            Carrier::XmlAttribute(quote) => xml::spell_attribute(&formed, quote),
            Carrier::XmlText => xml::spell_text(&formed),
            // A CDATA section has no escapes, so `]]>` would end it.
            Carrier::CData if formed.contains("]]>") => return None,
            Carrier::Raw | Carrier::CData => return charset.encode(&formed),
        };
        if self.form == Form::Literal {
            carried = carried.replace('%', "&#37;");
        }
        if self.enclosed {
            carried = carried.replace('<', "&lt;").replace('>', "&gt;");
            // `--`, `--!` or `]]` before the `>` of the tag would end an enclosing comment or section.
            if self.carrier == Carrier::Attribute(Quote::None)
                && let Some(last @ ('-' | '!' | ']')) = carried.chars().next_back()
            {
                carried.pop();
                carried.push_str(&format!("&#{};", u32::from(last)));
            }
        }
        if let Some(bytes) = charset.encode(&carried) {
            return Some(bytes);
        }
        let mut buffer = [0; 4];
        let mut bytes = Vec::with_capacity(carried.len());
        for character in carried.chars() {
            match charset.encode(character.encode_utf8(&mut buffer)) {
                Some(encoded) => bytes.extend(encoded),
                None if is_remapped(character) => return None,
                None => bytes.extend(charset.encode(&format!("&#x{:X};", u32::from(character)))?),
            }
        }
        Some(bytes)
    }
}

/// True if every character of `text` represents itself at every place and in every encoding. A final `-` might
/// not: after an unquoted value, it could end a comment.
fn is_plain(text: &str) -> bool {
    !text.ends_with('-') && text.bytes().all(|byte| PLAIN[usize::from(byte)])
}

const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut at = 0;
    while at < 128 {
        let byte = at as u8;
        plain[at] = byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'.' | b'/' | b':' | b'?' | b'#' | b'%' | b'_' | b'~' | b'+' | b'-'
            );
        at += 1;
    }
    plain
};

/// True if a numeric reference to `character` means another character (HTML, 13.2.5.80).
fn is_remapped(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9f}')
}

/// Lifts one edit of a view to the underlying buffer, which is in `charset`: replaces `span` of the view by `new`, which is
/// already escaped for the buffer. `next` is the first character at `span.start` after the edit. If a character reference
/// before it would absorb `next`, the edit begins with the missing `;`.
///
/// `None` if an end of `span` is inside a stretch that was decoded as a whole, or if an escape of CSS before it would absorb
/// `next`.
pub fn lift(
    map: &OffsetMap,
    span: Span,
    mut new: Vec<u8>,
    next: Option<char>,
    charset: Charset,
) -> Option<Edit<'static>> {
    let start = map.to_source(span.start)?;
    let end = map.to_source(span.end)?;
    if let (Some(open), Some(next)) = (map.open_before(span.start), next)
        && open.takes(next)
    {
        let is_reference = !matches!(open, OpenEscape::Css);
        let end = is_reference.then(|| charset.encode(";"))??;
        new.splice(..0, end);
    }
    Some(Edit {
        span: Span::new(start, end),
        new: new.into(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(form: Form, carrier: Carrier, charset: &str, text: &str, spelled: &str) {
        let charset = Charset::for_label(charset).unwrap();
        let place = Spelling {
            form,
            carrier,
            enclosed: carrier == Carrier::Raw,
        };
        let bytes = place
            .spell(&place.adapt(text, true, charset), charset)
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            spelled,
            "{form:?} {carrier:?}"
        );
    }

    /// XML 1.0, 2.7.
    #[test]
    fn a_section_cannot_contain_its_end() {
        let place = Spelling {
            form: Form::Whole,
            carrier: Carrier::CData,
            enclosed: false,
        };
        assert_eq!(place.spell("http://a/]]>", Charset::UTF_8), None);
        assert_eq!(
            place.spell("http://a/]>", Charset::UTF_8),
            Some(b"http://a/]>".to_vec())
        );
    }

    #[test]
    fn plain_text_represents_itself_everywhere() {
        let bytes = (0..128_u8).map(|byte| char::from(byte).to_string());
        let plain: Vec<_> = bytes.filter(|text| is_plain(text)).collect();
        assert_eq!(plain.len(), 71);
        let text = format!("http://a-b/{}", plain.concat());
        let quotes = [Quote::Double, Quote::Single, Quote::None];
        let attributes = quotes
            .into_iter()
            .flat_map(|quote| [Carrier::Attribute(quote), Carrier::XmlAttribute(quote)]);
        let others = [
            Carrier::Text,
            Carrier::Raw,
            Carrier::XmlText,
            Carrier::CData,
        ];
        let forms = [
            Form::Whole,
            Form::Spaces,
            Form::Commas,
            Form::Semicolons,
            Form::Srcset,
            Form::Refresh(None),
            Form::Refresh(Some('"')),
            Form::Field(None),
            Form::Field(Some('\'')),
            Form::CssToken,
            Form::CssString('"'),
            Form::Script('\''),
            Form::Document,
        ];
        for carrier in attributes.chain(others) {
            for (form, enclosed) in forms
                .into_iter()
                .flat_map(|form| [(form, false), (form, true)])
            {
                let place = Spelling {
                    form,
                    carrier,
                    enclosed,
                };
                for label in [
                    "utf-8",
                    "shift_jis",
                    "iso-2022-jp",
                    "utf-16le",
                    "gb18030",
                    "x-user-defined",
                ] {
                    let charset = Charset::for_label(label).unwrap();
                    assert_eq!(place.adapt_fully(&text, true, charset), text, "{place:?}");
                    assert_eq!(
                        place.spell_fully(&text, charset),
                        charset.encode(&text),
                        "{place:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn each_place_has_its_spelling() {
        let double = Carrier::Attribute(Quote::Double);
        let bare = Carrier::Attribute(Quote::None);
        check(Form::Whole, double, "utf-8", "/a b\"é&", "/a b&quot;é&amp;");
        check(Form::Whole, bare, "utf-8", "/a b>", "/a&#32;b&gt;");
        check(Form::Whole, double, "windows-1252", "/表", "/&#x8868;");
        check(
            Form::Whole,
            double,
            "shift_jis",
            "/\0\u{82}\u{1}",
            "/%00%C2%82\u{1}",
        );
        check(
            Form::Whole,
            Carrier::Raw,
            "windows-1252",
            "/表<",
            "/%E8%A1%A8%3C",
        );
        // HTML reads NUL as U+FFFD, however it is written, and `&#x83;` as `ƒ`.
        check(Form::Whole, double, "utf-8", "/\0", "/%00");
        check(Form::Whole, double, "utf-8", "/\u{83}", "/\u{83}");
        check(Form::Whole, double, "windows-1252", "/\u{83}", "/%C2%83");
        check(Form::Spaces, double, "utf-8", "/a b", "/a%20b");
        check(Form::Commas, double, "utf-8", "/a,b", "/a%2Cb");
        check(
            Form::Refresh(Some('\'')),
            double,
            "utf-8",
            "/'\"",
            "/%27&quot;",
        );
        check(
            Form::Field(None),
            Carrier::Raw,
            "utf-8",
            "/a\r\n,'\"é\\",
            "/a%0D%0A,'%22%C3%A9%5C",
        );
        check(
            Form::Field(Some('\'')),
            Carrier::Raw,
            "utf-8",
            "/<'>\u{7f}",
            "/%3C%27%3E%7F",
        );
        check(
            Form::CssToken,
            Carrier::Raw,
            "utf-8",
            "/a (b)",
            "/a%20%28b%29",
        );
        check(Form::CssString('"'), double, "utf-8", "/\"", "/\\&quot;");
        check(
            Form::Whole,
            Carrier::XmlAttribute(Quote::Double),
            "utf-8",
            "/a\"'<\n\u{1}",
            "/a&quot;'&lt;&#10;%01",
        );
        check(
            Form::Whole,
            Carrier::XmlText,
            "windows-1252",
            "/&]]>表",
            "/&amp;]]&gt;&#x8868;",
        );
        check(
            Form::Whole,
            Carrier::CData,
            "windows-1252",
            "/&]]>表",
            "/&]]%3E%E8%A1%A8",
        );
        check(
            Form::Script('\''),
            Carrier::Raw,
            "utf-8",
            "/'\"\\</script>\n\u{2028}",
            "/\\'\"\\\\%3C/script%3E\\u000a\\u2028",
        );
        check(
            Form::Script('"'),
            Carrier::Raw,
            "utf-8",
            "/\"</script>",
            "/\\\"%3C/script%3E",
        );
    }
}
