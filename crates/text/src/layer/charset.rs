//! Character encodings: detects the encoding of a document, and decodes its text with a map back to its bytes.
//!
//! Implements "determining the character encoding" as far as it applies to a stored document (HTML, 13.2.3.2):
//! byte order mark, then the user's choice, then the prescan for `<meta charset>`, then an XML declaration. Style
//! sheets follow CSS Syntax 3, 3.2. encoding_rs decodes and encodes.
//!
//! ```
//! use baselink_text::layer::charset::{Charset, Detected};
//! let page = b"<meta charset=latin1><a href=caf\xe9>";
//! let found = Charset::detect(page, None);
//! assert_eq!(found.charset.name(), "windows-1252");
//! let view = found.charset.decode(&page[29..33], 29);
//! assert_eq!(view.text, "café");
//! assert_eq!(view.map.to_source(5), Some(33));
//! ```
//!
//! Deliberately absent: statistical guesses. Without a declaration, bytes are UTF-8 if they are valid UTF-8, else
//! windows-1252; XML and style sheets are UTF-8.

use std::str::FromStr;

use encoding_rs::{DecoderResult, Encoding};

use super::{MapBuilder, View};
use crate::{
    display_by_name,
    error::Error,
    format::starts_with,
    span::{Lines, Span},
};

/// A character encoding of the Encoding Standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

type UnitOfBytes = fn([u8; 2]) -> u16;
type BytesOfUnit = fn(u16) -> [u8; 2];

/// The source of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declaration {
    /// A byte order mark.
    ByteOrderMark,
    /// The user's choice, or the header field of a message.
    Given,
    /// A `<meta charset>` or `<meta http-equiv=content-type>`.
    Meta,
    /// An XML declaration in XML or HTML, or its first characters in UTF-16.
    Xml,
    /// The `@charset` of a style sheet.
    Rule,
    /// No source; the default.
    Assumed,
}

/// The encoding of a document.
#[derive(Debug)]
pub struct Detected {
    /// The encoding.
    pub charset: Charset,
    /// The source of the encoding.
    pub declaration: Declaration,
    /// The length of the byte order mark, 0 without one.
    pub mark: usize,
    /// The offset of the first bytes that are not UTF-8, if the document is read as windows-1252 because of them.
    pub not_utf_8: Option<usize>,
    /// The end of the `meta` that the prescan found in the first 1024 bytes; 0 if there is none. It may be text,
    /// such as that of a script, instead of an element.
    pub prescanned: usize,
}

impl Detected {
    /// True if a `meta` element after the first 1024 bytes of an HTML document may declare another encoding
    /// (HTML, 13.2.3.4).
    pub fn is_tentative(&self) -> bool {
        let is_weak = matches!(self.declaration, Declaration::Assumed | Declaration::Xml);
        is_weak && self.charset.utf_16().is_none()
    }

    /// This encoding, or UTF-8 if none was declared.
    fn or_utf_8(self) -> Self {
        match self.declaration {
            Declaration::Assumed => Self {
                charset: Charset::UTF_8,
                not_utf_8: None,
                ..self
            },
            _ => self,
        }
    }
}

/// The number of bytes that a prescan reads (HTML, 13.2.3.2).
pub const PRESCANNED: usize = 1_024;

impl Charset {
    /// UTF-8.
    pub const UTF_8: Self = Self(encoding_rs::UTF_8);

    /// The encoding for `label` (Encoding Standard, 4.2), ignoring white space and case.
    ///
    /// `None` for an unknown label, and for the labels that the standard maps to "replacement".
    pub fn for_label(label: &str) -> Option<Self> {
        Encoding::for_label_no_replacement(label.as_bytes()).map(Self)
    }

    /// The name in the standard, such as `UTF-8`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl Default for Charset {
    fn default() -> Self {
        Self::UTF_8
    }
}

impl FromStr for Charset {
    type Err = Error;

    /// Parses a label of the Encoding Standard.
    fn from_str(label: &str) -> Result<Self, Error> {
        Self::for_label(label).ok_or_else(|| {
            Error::new(format!(
                "unknown encoding '{label}'; use a label of the Encoding Standard, such as utf-8"
            ))
        })
    }
}

#[doc(hidden)]
impl Charset {
    /// True if markup can be found in the bytes, because `<>"'=&/` and white space always represent themselves.
    /// Letters, digits, `]` and `\` may be second bytes of other characters, as in Shift_JIS and gb18030.
    pub fn is_ascii_compatible(self) -> bool {
        self.0.is_ascii_compatible()
    }

    /// True if every ASCII byte always represents itself, and other bytes only characters beyond ASCII, as in
    /// UTF-8 and in single-byte encodings.
    pub fn is_ascii_fixed(self) -> bool {
        self.is_ascii_compatible() && (self.0 == encoding_rs::UTF_8 || self.0.is_single_byte())
    }

    /// True if markup can be found in the bytes of this document. A `]` of the end of a CDATA section may be the second byte of a
    /// character.
    pub fn shows_markup(self, bytes: &[u8]) -> bool {
        let has_sections = || memchr::memmem::find(bytes, b"<![CDATA[").is_some();
        self.is_ascii_compatible() && (self.is_ascii_fixed() || !has_sections())
    }

    /// True if escape sequences switch the meaning of the bytes between them.
    pub fn is_stateful(self) -> bool {
        self.0 == encoding_rs::ISO_2022_JP
    }

    /// True if `bytes` switch to Roman (JIS X 0201), which lacks `\` and `~`.
    pub fn has_roman(self, bytes: &[u8]) -> bool {
        self.is_stateful() && memchr::memmem::find(bytes, b"\x1b(J").is_some()
    }

    /// Detects the encoding of an HTML document. The first of these decides: its byte order mark; `given`; a
    /// `<?x` in UTF-16 at its start; a `meta` in its first 1024 bytes; an XML declaration there. The default is
    /// UTF-8 if `bytes` are valid UTF-8, else windows-1252.
    pub fn detect(bytes: &[u8], given: Option<Self>) -> Detected {
        let mut end = 0;
        let head = &bytes[..bytes.len().min(PRESCANNED)];
        let declared = || {
            let xml = |charset| (charset, Declaration::Xml);
            if let Some(charset) = utf_16_declaration(head) {
                return Some(xml(charset));
            }
            let Some((charset, at)) = prescan(head) else {
                return xml_encoding(head).map(xml);
            };
            end = at;
            Some((charset, Declaration::Meta))
        };
        let found = Self::detect_with(bytes, given, declared);
        Detected {
            prescanned: end,
            ..found
        }
    }

    /// Detects the encoding of plain text, which has no declaration.
    pub fn detect_plain(bytes: &[u8], given: Option<Self>) -> Detected {
        Self::detect_with(bytes, given, || None)
    }

    /// Detects the encoding of an XML document (XML 1.0, 4.3.3 and appendix F; RFC 7303, 3). The first of these
    /// decides: its byte order mark; `given`; a `<?` in UTF-16 at its start; its declaration. The default is UTF-8.
    pub fn detect_xml(bytes: &[u8], given: Option<Self>) -> Detected {
        let declared = || {
            let head = &bytes[..bytes.len().min(PRESCANNED)];
            let charset =
                utf_16_declaration(head).or_else(|| xml_encoding(head.trim_ascii_start()))?;
            Some((charset, Declaration::Xml))
        };
        Self::detect_with(bytes, given, declared).or_utf_8()
    }

    /// Detects the encoding of a style sheet (CSS Syntax 3, 3.2). The first of these decides: its byte order mark;
    /// `given`; its `@charset`. The default is UTF-8.
    ///
    /// The encoding of the referring document is unknown here. An `@charset` for "replacement" is ignored.
    pub fn detect_style_sheet(bytes: &[u8], given: Option<Self>) -> Detected {
        let rule = charset_rule(&bytes[..bytes.len().min(PRESCANNED)]);
        Self::detect_with(bytes, given, || Some((rule?, Declaration::Rule))).or_utf_8()
    }

    fn detect_with(
        bytes: &[u8],
        given: Option<Self>,
        declared: impl FnOnce() -> Option<(Self, Declaration)>,
    ) -> Detected {
        let found = |charset, declaration, mark| Detected {
            charset,
            declaration,
            mark,
            not_utf_8: None,
            prescanned: 0,
        };
        if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
            return found(Self(encoding), Declaration::ByteOrderMark, mark);
        }
        if let Some(given) = given {
            return found(given, Declaration::Given, 0);
        }
        if let Some((charset, declaration)) = declared() {
            return found(charset, declaration, 0);
        }
        // The plain validity check is faster than the one that finds the offset.
        let not_utf_8 = simdutf8::basic::from_utf8(bytes)
            .or_else(|_| simdutf8::compat::from_utf8(bytes))
            .err()
            .map(|error| error.valid_up_to());
        let assumed = Self::assumed(not_utf_8.is_none());
        Detected {
            not_utf_8,
            ..found(assumed, Declaration::Assumed, 0)
        }
    }

    /// The default encoding: UTF-8 for a document that is valid UTF-8, else windows-1252.
    pub(crate) fn assumed(is_utf_8: bool) -> Self {
        Self(if is_utf_8 {
            encoding_rs::UTF_8
        } else {
            encoding_rs::WINDOWS_1252
        })
    }

    /// The encoding that the start tag of a `meta` element declares; `None` if it does not declare one.
    pub fn of_meta(tag: &[u8]) -> Option<Self> {
        meta_charset(tag, &mut "<meta".len())?
    }

    /// Decodes `bytes`, which are at the offset `source` of their buffer, without checking for a byte order mark.
    ///
    /// Each malformed sequence becomes a U+FFFD, which the map leads back to its bytes.
    pub fn decode(self, bytes: &[u8], source: usize) -> View {
        let is_utf_8 =
            self.0 == encoding_rs::UTF_8 || (self.is_ascii_compatible() && bytes.is_ascii());
        match str::from_utf8(bytes) {
            Ok(text) if is_utf_8 => View::of_str(text, source),
            _ => self.decode_by_bytes(bytes, source),
        }
    }

    /// The conversions of two bytes to a UTF-16 unit and back, if this encoding is UTF-16.
    fn utf_16(self) -> Option<(UnitOfBytes, BytesOfUnit)> {
        if self.0 == encoding_rs::UTF_16LE {
            Some((u16::from_le_bytes, u16::to_le_bytes))
        } else if self.0 == encoding_rs::UTF_16BE {
            Some((u16::from_be_bytes, u16::to_be_bytes))
        } else {
            None
        }
    }

    /// Feeds the decoder one byte at a time, so that any output belongs to the bytes since the last output. Copies
    /// ASCII directly if no bytes are pending.
    fn decode_by_bytes(self, bytes: &[u8], source: usize) -> View {
        let mut decoder = self.0.new_decoder_without_bom_handling();
        let mut text = String::with_capacity(bytes.len());
        let mut map = MapBuilder::default();
        let mut pending = 0;
        let mut at = 0;
        loop {
            if pending == at && self.is_ascii_compatible() {
                let length = Encoding::ascii_valid_up_to(&bytes[at..]);
                text.push_str(str::from_utf8(&bytes[at..at + length]).unwrap_or_default());
                map.verbatim(source + at, length);
                at += length;
                pending = at;
            }
            let last = at == bytes.len();
            let input = if last { &[][..] } else { &bytes[at..=at] };
            let mut output = [0; 16];
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(input, &mut output, last);
            at += read;
            let before = text.len();
            text.push_str(str::from_utf8(&output[..written]).unwrap_or_default());
            let mut end = at;
            if let DecoderResult::Malformed(_, lookahead) = result {
                text.push('\u{fffd}');
                // Bytes read after the malformed sequence appear in later output.
                end = pending.max(end - usize::from(lookahead));
            }
            let decoded = &text.as_bytes()[before..];
            let from = source + pending;
            match decoded {
                [] => {}
                _ if *decoded == bytes[pending..end] => map.verbatim(from, decoded.len()),
                // An ASCII character of several bytes: in UTF-16, or after an escape sequence.
                [_] => map.strided(from, 1, end - pending),
                _ => map.whole(decoded.len(), Span::new(from, source + end), None),
            }
            if !decoded.is_empty() {
                pending = end;
            }
            if last && !matches!(result, DecoderResult::Malformed(..)) {
                return View {
                    text,
                    map: map.finish(source),
                };
            }
        }
    }

    /// The starts of the lines of `bytes`.
    pub fn lines(self, bytes: &[u8]) -> Lines {
        match self.utf_16() {
            Some((unit, _)) => Lines::of_utf_16(bytes, unit),
            None => Lines::of(bytes),
        }
    }

    /// Encodes `text`. `None` if a character cannot be written: one that the encoding lacks or forbids (Encoding Standard,
    /// 12.2.1). ISO-2022-JP also lacks all characters beyond ASCII, because the shift state at the place is unknown.
    pub fn encode(self, text: &str) -> Option<Vec<u8>> {
        if let Some((_, bytes)) = self.utf_16() {
            return Some(text.encode_utf16().flat_map(bytes).collect());
        }
        let (bytes, _, is_lossy) = self.0.encode(text);
        let is_shifted = self.is_stateful() && !text.is_ascii();
        (!is_lossy && !is_shifted).then(|| bytes.into_owned())
    }

    /// The bytes that a browser percent-encodes for `text` in a query (URL Standard, 1.3). A character that the
    /// encoding lacks becomes a decimal character reference.
    pub fn encode_query(self, text: &str) -> Vec<u8> {
        self.0.encode(text).0.into_owned()
    }
}

/// The encoding of a document that begins with `<?x` in UTF-16 ("prescan", step 2: HTML, 13.2.3.2).
fn utf_16_declaration(head: &[u8]) -> Option<Charset> {
    match head {
        [b'<', 0, b'?', 0, b'x', 0, ..] => Some(Charset(encoding_rs::UTF_16LE)),
        [0, b'<', 0, b'?', 0, b'x', ..] => Some(Charset(encoding_rs::UTF_16BE)),
        _ => None,
    }
}

/// Implements "Get an XML encoding" (HTML, 13.2.3.2) for `head`.
///
/// The standard records the end of the declaration (step 3), but then searches for `encoding` beyond it, too. This
/// function stays within the declaration, as browsers do.
fn xml_encoding(head: &[u8]) -> Option<Charset> {
    let skip = |rest: &mut &[u8]| {
        let end = rest.iter().position(|&byte| byte > 0x20);
        *rest = &rest[end.unwrap_or(rest.len())..];
    };
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memchr(b'>', declaration)?];
    let mut rest = &declaration[memchr::memmem::find(declaration, b"encoding")? + 8..];
    skip(&mut rest);
    rest = rest.strip_prefix(b"=")?;
    skip(&mut rest);
    let (&quote, rest) = rest
        .split_first()
        .filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    let label = &rest[..memchr::memchr(quote, rest)?];
    label
        .iter()
        .all(|&byte| byte > 0x20)
        .then(|| Encoding::for_label_no_replacement(label))?
        .map(declared)
}

/// The charset for a declared `encoding`. A declaration that was read as ASCII cannot mean UTF-16, so UTF-8
/// replaces it.
fn declared(encoding: &'static Encoding) -> Charset {
    match Charset(encoding) {
        charset if charset.utf_16().is_some() => Charset::UTF_8,
        charset => charset,
    }
}

/// Implements "Prescan a byte stream to determine its encoding" (HTML, 13.2.3.2) for `head`. Also returns the end
/// of the declaration.
fn prescan(head: &[u8]) -> Option<(Charset, usize)> {
    let mut at = 0;
    while at < head.len() {
        let rest = &head[at..];
        if rest.starts_with(b"<!--") {
            // The opening dashes of a comment may also close it.
            at += 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3;
        } else if starts_with(rest, "<meta")
            && rest
                .get(5)
                .is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
        {
            at += 6;
            if let Some(charset) = meta_charset(head, &mut at)? {
                return Some((charset, at + 1));
            }
        } else if matches!(
            rest,
            [b'<', b'a'..=b'z' | b'A'..=b'Z', ..] | [b'<', b'/', b'a'..=b'z' | b'A'..=b'Z', ..]
        ) {
            at += rest
                .iter()
                .position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?;
            while prescan_attribute(head, &mut at)?.is_some() {}
        } else if matches!(rest, [b'<', b'!' | b'/' | b'?', ..]) {
            at += memchr::memchr(b'>', rest)?;
        } else {
            at += 1 + memchr::memchr(b'<', &rest[1..])?;
        }
    }
    None
}

/// The encoding in the byte pattern of an `@charset` at the start of `head` (CSS Syntax 3, 3.2).
fn charset_rule(head: &[u8]) -> Option<Charset> {
    let rest = head.strip_prefix(b"@charset \"")?;
    let (label, rest) = rest.split_at(memchr::memchr(b'"', rest)?);
    if !rest.starts_with(b"\";") || !label.is_ascii() {
        return None;
    }
    Encoding::for_label_no_replacement(label).map(declared)
}

/// The "meta" branch of the prescan, starting after the tag name; `None` if the bytes end inside the tag.
fn meta_charset(head: &[u8], at: &mut usize) -> Option<Option<Charset>> {
    let (mut got_pragma, mut need_pragma, mut charset) = (false, None, None);
    let mut seen: Vec<Vec<u8>> = Vec::new();
    while let Some((name, value)) = prescan_attribute(head, at)? {
        if seen.contains(&name) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => got_pragma |= value == b"content-type",
            b"content" if charset.is_none() => {
                if let Some(found) = charset_of_content(&value) {
                    charset = Some(found);
                    need_pragma = Some(true);
                }
            }
            b"charset" => {
                charset = Encoding::for_label(&value);
                need_pragma = Some(false);
            }
            _ => {}
        }
        seen.push(name);
    }
    let is_declared = need_pragma.is_some_and(|needed| !needed || got_pragma);
    let charset = charset.filter(|&found| is_declared && found != encoding_rs::REPLACEMENT);
    Some(charset.map(|charset| {
        if charset == encoding_rs::X_USER_DEFINED {
            Charset(encoding_rs::WINDOWS_1252)
        } else {
            declared(charset)
        }
    }))
}

/// Implements "Extract a character encoding from a meta element" (HTML, 2.5.3) for lower-case bytes.
fn charset_of_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        rest = &rest[memchr::memmem::find(rest, b"charset")? + 7..];
        let after = rest.trim_ascii_start();
        if let Some(value) = after.strip_prefix(b"=") {
            let value = value.trim_ascii_start();
            return match value.first()? {
                quote @ (b'"' | b'\'') => {
                    Encoding::for_label(&value[1..1 + memchr::memchr(*quote, &value[1..])?])
                }
                _ => {
                    let end = value
                        .iter()
                        .position(|byte| byte.is_ascii_whitespace() || *byte == b';');
                    Encoding::for_label(&value[..end.unwrap_or(value.len())])
                }
            };
        }
        rest = after;
    }
}

type PrescanAttribute = (Vec<u8>, Vec<u8>);

/// Implements "Get an attribute" of the prescan: name and value in lower case; `None` if `head` ends first.
fn prescan_attribute(head: &[u8], at: &mut usize) -> Option<Option<PrescanAttribute>> {
    let skip_to = |at: &mut usize, is_end: fn(u8) -> bool| {
        let start = *at;
        *at += head[start..].iter().position(|&byte| is_end(byte))?;
        Some(&head[start..*at])
    };
    skip_to(at, |byte| !byte.is_ascii_whitespace() && byte != b'/')?;
    if head[*at] == b'>' {
        return Some(None);
    }
    let start = *at;
    // The first byte always belongs to the name, even a `=`.
    *at += 1;
    skip_to(at, |byte| {
        byte.is_ascii_whitespace() || matches!(byte, b'=' | b'/' | b'>')
    })?;
    let name = head[start..*at].to_ascii_lowercase();
    skip_to(at, |byte| !byte.is_ascii_whitespace())?;
    if head[*at] != b'=' {
        return Some(Some((name, Vec::new())));
    }
    *at += 1;
    skip_to(at, |byte| !byte.is_ascii_whitespace())?;
    let value = match head[*at] {
        quote @ (b'"' | b'\'') => {
            let start = *at + 1;
            *at = start + memchr::memchr(quote, &head[start..])? + 1;
            &head[start..*at - 1]
        }
        _ => skip_to(at, |byte| byte.is_ascii_whitespace() || byte == b'>')?,
    };
    Some(Some((name, value.to_ascii_lowercase())))
}

/// True if an edit that replaces `old`, the bytes at `span`, by `new` may turn invalid UTF-8 into valid UTF-8, or
/// move the first invalid byte, which is at `place`. Nearby bytes count, because a character has up to four bytes.
pub fn may_become_utf_8(place: usize, span: Span, old: &[u8], new: &[u8]) -> bool {
    let is_before = span.start <= place.saturating_add(4);
    let is_near = is_before && place <= span.end.saturating_add(3);
    // Next to ASCII, invalid bytes stay invalid. New bytes beyond ASCII before the place might become the first
    // invalid ones.
    (is_before && !new.is_ascii()) || (is_near && (!old.is_ascii() || new.is_empty()))
}

/// `bytes` as text of the same length, with U+007F for each byte that is not ASCII.
pub fn masked(bytes: &[u8]) -> String {
    let mut masked = bytes.to_vec();
    if !bytes.is_ascii() {
        for byte in &mut masked {
            if !byte.is_ascii() {
                *byte = 0x7f;
            }
        }
    }
    String::from_utf8(masked).unwrap_or_default()
}

/// True if markup can be found in an unknown charset. Most non-standard names mean a charset that contains ASCII.
pub fn is_ascii_superset(label: &str) -> bool {
    const OTHERS: &str =
        "utf-7 utf7 utf-32 utf32 ucs-4 ebcdic hz-gb iso-2022- ibm037 ibm500 ibm1047";
    const WHOLE: &str = "hz cp037 cp500 cp1047";
    let label = label.trim().to_ascii_lowercase();
    Charset::for_label(&label).is_some()
        || !(WHOLE.split(' ').any(|whole| whole == label)
            || OTHERS.split(' ').any(|other| label.contains(other)))
}

display_by_name!(Charset);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn detected(bytes: &[u8]) -> &'static str {
        Charset::detect(bytes, None).charset.name()
    }

    /// The first byte that is not UTF-8 decides the default encoding. An edit must neither remove this byte nor put
    /// another invalid one before it.
    #[test]
    fn edits_near_invalid_utf_8_may_change_the_default() {
        let may = |start, old: &[u8], new: &[u8]| {
            may_become_utf_8(20, Span::new(start, start + old.len()), old, new)
        };
        assert!(may(20, b"\xda", b"x"), "it goes");
        assert!(
            may(21, b"y", b""),
            "what is behind may become its neighbour"
        );
        assert!(may(2, b"", b"http://a/\xe9/"), "another one is the first");
        assert!(!may(2, b"", b"http://a/"));
        assert!(!may(20, b"", b"http://a/"), "ASCII before it");
        assert!(!may(25, b"", b"http://a/\xe9/"), "it stays the first");
    }

    /// XML 1.0, appendix F.
    #[test]
    fn xml_declares_its_encoding() {
        let gbk = Charset::for_label("gbk");
        for (bytes, given, name) in [
            (
                &b"<?xml version='1.0' encoding=\"koi8-r\"?><a/>"[..],
                None,
                "KOI8-R",
            ),
            (
                b"<?xml version='1.0'\n encoding = 'windows-1250' ?>",
                None,
                "windows-1250",
            ),
            (b"<?xml version='1.0' encoding='koi8-r'?>", gbk, "GBK"),
            (
                b"\xef\xbb\xbf<?xml version='1.0' encoding='koi8-r'?>",
                gbk,
                "UTF-8",
            ),
            (b"<\0?\0x\0m\0l\0", None, "UTF-16LE"),
            (b"\0<\0?\0x\0m\0l", None, "UTF-16BE"),
            // A declaration readable as ASCII cannot mean UTF-16.
            (b"<?xml version='1.0' encoding='utf-16'?>", None, "UTF-8"),
            (b"<?xml version='1.0' encoding='none'?>", None, "UTF-8"),
            (b"<a>\xe9<?xml encoding='koi8-r'?>", None, "UTF-8"),
        ] {
            assert_eq!(
                Charset::detect_xml(bytes, given).charset.name(),
                name,
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn the_prescan_finds_declarations() {
        for (head, name) in [
            (&b"<meta charset=koi8-r>"[..], "KOI8-R"),
            (b"<META CHARSET = 'Shift_JIS' >", "Shift_JIS"),
            (
                b"<meta http-equiv=Content-Type content='text/html; charset=gbk'>",
                "GBK",
            ),
            (
                b"<meta content='text/html; charset=gbk' http-equiv=content-type>",
                "GBK",
            ),
            // Bug 41: if the bytes end inside a tag, the prescan ends.
            (b"<meta a=\"<meta charset=koi8-r>", "UTF-8"),
            // Without the pragma, a content attribute is ignored.
            (b"<meta content='text/html; charset=gbk'>", "UTF-8"),
            (b"<!-- <meta charset=gbk> --><meta charset=big5>", "Big5"),
            (b"<!--><meta charset=big5>", "Big5"),
            (b"<a title='<meta charset=gbk>'><meta/charset=big5>", "Big5"),
            (b"<metax charset=gbk>", "UTF-8"),
            // UTF-16 cannot be declared in bytes that were read as ASCII (13.2.3.2).
            (b"<meta charset=utf-16>", "UTF-8"),
            (b"<meta charset=nonsense>\xff", "windows-1252"),
            (b"<meta charset=gbk", "UTF-8"),
            // An attribute name may begin with `=`. This one ends at the first `>`.
            (b"<meta =\">\" charset=gbk>", "UTF-8"),
            (b"\xef\xbb\xbf<meta charset=gbk>", "UTF-8"),
            (b"\xff\xfe<\0", "UTF-16LE"),
        ] {
            assert_eq!(detected(head), name, "{}", String::from_utf8_lossy(head));
        }
        let mut late = vec![b' '; 1020];
        late.extend_from_slice(b"<meta charset=gbk>");
        assert_eq!(detected(&late), "UTF-8");
    }

    /// HTML, 13.2.3.2, "get an XML encoding", and the encodings that Chromium 156 detects.
    #[test]
    fn html_may_have_an_xml_declaration() {
        use Declaration::{Assumed, ByteOrderMark, Meta, Xml};
        for (bytes, name, declaration) in [
            (
                &b"<?xml version=\"1.0\" encoding=\"shift_jis\"?>"[..],
                "Shift_JIS",
                Xml,
            ),
            (
                b"<?xml version='1.0' encoding='shift_jis'?>",
                "Shift_JIS",
                Xml,
            ),
            (
                b"<?xml version='1.0' encoding \t=\n\x01'shift_jis' ?>",
                "Shift_JIS",
                Xml,
            ),
            (b"<?xml-stylesheet xencoding='shift_jis'>", "Shift_JIS", Xml),
            (b"<?xml encoding='utf-16'?>\xe9", "UTF-8", Xml),
            (
                b"<?xml encoding='x-user-defined'?>\xe9",
                "x-user-defined",
                Xml,
            ),
            // A `meta` anywhere takes precedence, unless its label is unknown.
            (
                b"<?xml encoding='koi8-r'?><meta charset=shift_jis>",
                "Shift_JIS",
                Meta,
            ),
            (
                b"<meta charset=shift_jis><?xml encoding='koi8-r'?>",
                "Shift_JIS",
                Meta,
            ),
            (
                b"<?xml encoding='shift_jis'?><meta charset=nonsense>",
                "Shift_JIS",
                Xml,
            ),
            (
                b"<?xml encoding='shift_jis'?><meta charset=utf-16>",
                "UTF-8",
                Meta,
            ),
            (b"<?xml encoding='shift_jis'?><a title='", "Shift_JIS", Xml),
            (
                b"\xef\xbb\xbf<?xml encoding='shift_jis'?>",
                "UTF-8",
                ByteOrderMark,
            ),
            // None of these is a declaration.
            (b"<?xml version='1.0'?>\xe9", "windows-1252", Assumed),
            (b"<?xml encoding=shift_jis?>\xe9", "windows-1252", Assumed),
            (
                b"<?xml encoding=' shift_jis'?>\xe9",
                "windows-1252",
                Assumed,
            ),
            (b"<?xml encoding=''?>\xe9", "windows-1252", Assumed),
            (b"<?xml encoding='nonsense'?>\xe9", "windows-1252", Assumed),
            (b"<?xml ENCODING='shift_jis'?>\xe9", "windows-1252", Assumed),
            (b"<?XML encoding='shift_jis'?>\xe9", "windows-1252", Assumed),
            (
                b" <?xml encoding='shift_jis'?>\xe9",
                "windows-1252",
                Assumed,
            ),
            (
                b"<?xml encoding x encoding='shift_jis'?>\xe9",
                "windows-1252",
                Assumed,
            ),
            (b"<?xml?> encoding='shift_jis'\xe9", "windows-1252", Assumed),
            (b"<?xml encoding='shift_jis>'\xe9", "windows-1252", Assumed),
            (b"<?xml encoding='shift_jis'\xe9", "windows-1252", Assumed),
            // The first characters in UTF-16 take precedence over every other declaration.
            (b"<\0?\0x\0<meta charset=koi8-r>", "UTF-16LE", Xml),
            (b"\0<\0?\0x<meta charset=koi8-r>", "UTF-16BE", Xml),
            (b"<\0?\0p\0\xe9", "windows-1252", Assumed),
            (b" \0<\0?\0x\0\xe9", "windows-1252", Assumed),
        ] {
            let found = Charset::detect(bytes, None);
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(
                (found.charset.name(), found.declaration),
                (name, declaration),
                "{shown}"
            );
            let given = Charset::detect(bytes, Charset::for_label("gbk"))
                .charset
                .name();
            let is_marked = declaration == ByteOrderMark;
            assert_eq!(given, if is_marked { "UTF-8" } else { "GBK" }, "{shown}");
        }
        // The standard examines the bytes of the prescan.
        for (spaces, name) in [(1_000, "KOI8-R"), (1_001, "UTF-8")] {
            let long = format!("<?xml{} encoding='koi8-r'>", " ".repeat(spaces));
            assert_eq!(detected(long.as_bytes()), name, "{spaces}");
        }
    }

    #[test]
    fn plain_text_declares_nothing() {
        let named = |bytes, given| Charset::detect_plain(bytes, given).charset.name();
        assert_eq!(named(b"<meta charset=gbk>", None), "UTF-8");
        assert_eq!(named(b"caf\xe9", None), "windows-1252");
        assert_eq!(named(b"caf\xe9", Charset::for_label("koi8-r")), "KOI8-R");
        assert_eq!(
            named(b"\xef\xbb\xbfa", Charset::for_label("koi8-r")),
            "UTF-8"
        );
    }

    /// CSS Syntax 3, 3.2.
    #[test]
    fn a_charset_rule_is_an_exact_pattern_of_bytes() {
        for (bytes, given, name, declaration) in [
            (
                &b"@charset \"koi8-r\"; a{}"[..],
                "",
                "KOI8-R",
                Declaration::Rule,
            ),
            (
                b"@charset \" Latin1\n\";",
                "",
                "windows-1252",
                Declaration::Rule,
            ),
            (b"@charset \"koi8-r\";", "gbk", "GBK", Declaration::Given),
            (
                b"\xef\xbb\xbf@charset \"koi8-r\";",
                "gbk",
                "UTF-8",
                Declaration::ByteOrderMark,
            ),
            // The name of UTF-16 in bytes that are readable as ASCII means UTF-8.
            (b"@charset \"utf-16\";\xe9", "", "UTF-8", Declaration::Rule),
            (b"@charset \"UTF-16BE\";", "", "UTF-8", Declaration::Rule),
            (
                b"@charset \"x-user-defined\";",
                "",
                "x-user-defined",
                Declaration::Rule,
            ),
            // None of these matches the pattern.
            (b"@charset 'koi8-r';", "", "UTF-8", Declaration::Assumed),
            (b"@Charset \"koi8-r\";", "", "UTF-8", Declaration::Assumed),
            (b" @charset \"koi8-r\";", "", "UTF-8", Declaration::Assumed),
            (b"@charset  \"koi8-r\";", "", "UTF-8", Declaration::Assumed),
            (b"@charset \"koi8-r\" ;", "", "UTF-8", Declaration::Assumed),
            (b"@charset \"koi8-r\"", "", "UTF-8", Declaration::Assumed),
            (b"@charset \"koi8-r;", "", "UTF-8", Declaration::Assumed),
            (
                b"@charset \"nonsense\";\xe9",
                "",
                "UTF-8",
                Declaration::Assumed,
            ),
            (
                b"<meta charset=koi8-r>\xe9",
                "",
                "UTF-8",
                Declaration::Assumed,
            ),
            // UTF-16 without a byte order mark is not detected.
            (b"@\0\xe9\0", "", "UTF-8", Declaration::Assumed),
            (b"", "", "UTF-8", Declaration::Assumed),
        ] {
            let found = Charset::detect_style_sheet(bytes, Charset::for_label(given));
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(
                (found.charset.name(), found.declaration),
                (name, declaration),
                "{shown}"
            );
        }
        // The pattern is searched in the first 1024 bytes.
        for (spaces, name) in [(1006, "KOI8-R"), (1007, "UTF-8")] {
            let late = format!("@charset \"{}koi8-r\";", " ".repeat(spaces));
            assert_eq!(
                Charset::detect_style_sheet(late.as_bytes(), None)
                    .charset
                    .name(),
                name
            );
        }
    }

    #[test]
    fn every_encoding_maps_text_to_its_bytes() {
        for (label, bytes, text, places) in [
            (
                "utf-8",
                &b"a\xc3\xa9\xffb"[..],
                "aé\u{fffd}b",
                vec![(1, 1), (3, 3), (6, 4), (7, 5)],
            ),
            (
                "windows-1252",
                b"a\xe9b",
                "aéb",
                vec![(1, 1), (3, 2), (4, 3)],
            ),
            (
                "shift_jis",
                b"a\x95\x5cb",
                "a表b",
                vec![(1, 1), (4, 3), (5, 4)],
            ),
            (
                "gb18030",
                b"\x81\x30\x81\x30<",
                "\u{80}<",
                vec![(2, 4), (3, 5)],
            ),
            // Bytes that the decoder gives back represent themselves (Encoding, 10.2.1).
            ("gb18030", b"\x842w", "\u{fffd}2w", vec![(3, 1), (5, 3)]),
            // A lead byte before ASCII is malformed alone; the ASCII byte stays (Encoding, 12.3.1).
            ("shift_jis", b"\x95\"", "\u{fffd}\"", vec![(3, 1), (4, 2)]),
            (
                "utf-16le",
                b"a\0\x3d\xd8\x00\xde\x00\xd8b",
                // Bug 90: half a surrogate pair at the end is one error (Encoding, 14.2.1).
                "a😀\u{fffd}",
                vec![(1, 2), (5, 6), (8, 9)],
            ),
            (
                "iso-2022-jp",
                b"a\x1b$BI=\x1b(Bb",
                "a表b",
                vec![(1, 1), (4, 6), (5, 10)],
            ),
        ] {
            let view = Charset::for_label(label).unwrap().decode(bytes, 0);
            assert_eq!(view.text, text, "{label}");
            for (view_at, source) in places {
                assert_eq!(
                    view.map.to_source(view_at),
                    Some(source),
                    "{label} at {view_at}"
                );
            }
        }
    }

    /// Checks that in an encoding with fixed ASCII, an ASCII byte represents itself after any other byte.
    #[test]
    fn ascii_represents_itself_in_fixed_encodings() {
        let labels = [
            "utf-8",
            "latin1",
            "koi8-r",
            "macintosh",
            "iso-8859-8-i",
            "windows-874",
        ];
        let others = [
            "gbk",
            "big5",
            "euc-kr",
            "shift_jis",
            "iso-2022-jp",
            "utf-16le",
        ];
        for label in others {
            assert!(
                !Charset::for_label(label).unwrap().is_ascii_fixed(),
                "{label}"
            );
        }
        for charset in labels.map(|label| Charset::for_label(label).unwrap()) {
            assert!(charset.is_ascii_fixed(), "{}", charset.name());
            for (before, ascii) in
                (0x80..=0xff).flat_map(|high| (0..0x80).map(move |low| (high, low)))
            {
                let text = charset.decode(&[before, ascii], 0).text;
                let mut characters = text.chars().rev();
                assert_eq!(characters.next(), Some(char::from(ascii)), "{text:?}");
                assert!(characters.all(|before| !before.is_ascii()), "{text:?}");
            }
        }
    }

    proptest::proptest! {
        /// Checks that the text equals the decoder's output for all bytes at once (Encoding, 6, "decode without
        /// BOM").
        #[test]
        fn text_equals_the_output_of_the_decoder(
            bytes in proptest::collection::vec(
                proptest::prop_oneof![
                    proptest::prelude::any::<u8>(),
                    0x80..=0xff_u8,
                    proptest::sample::select(b"aw2<\"\\~@\x1b$BJ(".to_vec()),
                ],
                0..40,
            )
        ) {
            for label in ["gb18030", "gbk", "big5", "euc-jp", "euc-kr", "shift_jis", "iso-2022-jp",
                "utf-8", "windows-1252", "koi8-u", "x-user-defined", "utf-16le", "utf-16be"] {
                let charset = Charset::for_label(label).unwrap();
                let view = charset.decode(&bytes, 7);
                let (text, _) = charset.0.decode_without_bom_handling(&bytes);
                proptest::prop_assert_eq!(&view.text, &*text, "{}", label);
                // The end of the text is before a final escape sequence, after which inserted bytes would have another meaning.
                let end = view.map.to_source(view.text.len()).unwrap() - 7;
                let (rest, _) = charset.0.decode_without_bom_handling(&bytes[end..]);
                proptest::prop_assert_eq!(&*rest, "", "{}", label);
            }
        }
    }

    #[test]
    fn missing_characters_are_not_encoded() {
        let charset = |label| Charset::for_label(label).unwrap();
        assert_eq!(charset("utf-16be").encode("a").unwrap(), b"\0a");
        assert_eq!(charset("shift_jis").encode("表").unwrap(), b"\x95\x5c");
        assert_eq!(charset("windows-1252").encode("x表"), None);
        assert_eq!(charset("iso-2022-jp").encode("表"), None);
        assert_eq!(charset("iso-2022-jp").encode("a\u{e}"), None);
        assert!(Charset::for_label("iso-2022-kr").is_none());
    }
}
