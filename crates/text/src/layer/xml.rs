//! Decodes and encodes the escapes of XML: character references and entity references (XML 1.0, 4.1), line ends
//! (2.11), and the white space of attribute values (3.3.3).
//!
//! The five predefined entities (4.6) and those declared in the internal subset (4.2.1) are known. A fixed budget
//! per document limits their expansion, so that nested entities cannot expand exponentially.
//!
//! ```
//! use baselink_text::layer::{View, xml::{self, Entities}};
//! let entities = Entities::of_doctype("a [<!ENTITY dir '../d&#47;'>]");
//! let value = xml::attribute_value(View::of_str("&dir;x?y&amp;z", 0), &entities);
//! assert_eq!(value.view.text, "../d/x?y&z");
//! assert!(value.entities[0].is_known);
//! ```
//!
//! Deliberately absent: external entities, which are never fetched. Declarations of entities after a parameter
//! entity, whose text could declare anything, are ignored (5.1). Since browsers do read them,
//! [`Entities::find`] searches them, too. Default values of attributes are recorded but not applied (3.3.2).

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::View;
use super::escape::{self, Quote, Unescaped, layered, spelled};
use crate::span::Span;

/// The budget of a document: the maximum number of bytes of expanded entity text, plus one for each expansion.
const BUDGET: usize = 1 << 20;

/// The maximum nesting depth of entities.
const DEEPEST: usize = 32;

/// The maximum length of an entity name that is looked up.
const LONGEST_NAME: usize = 256;

/// Text of a document with its references expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText {
    /// The text. A reference to an unknown entity is kept.
    pub view: View,
    /// The entities in the text, in order.
    pub entities: Vec<EntityUse>,
}

/// A use of an entity that is not predefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityUse {
    /// The bytes of the entity in the text of the view.
    pub span: Span,
    /// True if these bytes are the entity's text, false if they are the reference.
    pub is_known: bool,
}

/// The general entities that a document declares, and the remaining budget.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    /// The text of each entity by name; `None` for an external one.
    declared: HashMap<String, Option<String>>,
    /// The entities declared after a parameter entity.
    unsure: HashMap<String, Option<String>>,
    /// The declared attributes by element and name; true if the attribute has a default value.
    attributes: HashMap<String, HashMap<String, bool>>,
    /// The entities that [`Self::find`] has searched.
    searched: HashSet<String>,
    spent: Cell<usize>,
}

impl Entities {
    /// The declarations in `doctype`, the text between `<!DOCTYPE` and `>`.
    #[must_use]
    pub fn of_doctype(doctype: &str) -> Self {
        let mut entities = Self::default();
        // The name and the external identifier are skipped.
        let mut rest = after_unquoted(doctype, '[');
        let mut is_sure = true;
        while let Some(at) = rest
            .find(['<', ']', '%'])
            .filter(|&at| !rest[at..].starts_with(']'))
        {
            rest = &rest[at..];
            rest = if let Some(comment) = rest.strip_prefix("<!--") {
                after(comment, "-->")
            } else if let Some(instruction) = rest.strip_prefix("<?") {
                after(instruction, "?>")
            } else if let Some(entity) = rest.strip_prefix("<!ENTITY") {
                entities.declare(entity, is_sure);
                after_unquoted(entity, '>')
            } else if let Some(attributes) = rest.strip_prefix("<!ATTLIST") {
                let next = after_unquoted(attributes, '>');
                let declaration = &attributes[..attributes.len() - next.len()];
                entities.declare_attributes(declaration.strip_suffix('>').unwrap_or(declaration));
                next
            } else {
                // 5.1: declarations after an unread parameter entity are ignored.
                is_sure &= !rest.starts_with('%');
                after_unquoted(&rest[1..], if rest.starts_with('%') { ';' } else { '>' })
            };
        }
        entities
    }

    /// Reads the text after `<!ENTITY` (4.2). Of two declarations, the first counts.
    fn declare(&mut self, declaration: &str, is_sure: bool) {
        let Some(named) = declaration.strip_prefix(is_space) else {
            return;
        };
        let (name, value) = word(named);
        let value = value.trim_start_matches(is_space);
        let text = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let Some(text) = value[1..].split(quote).next() else {
                    return;
                };
                // In the internal subset, a value must not refer to a parameter entity (2.8); none is expanded.
                Some(expand_character_references(text))
            }
            _ => None,
        };
        if name != "%" && !name.is_empty() {
            let entities = if is_sure {
                &mut self.declared
            } else {
                &mut self.unsure
            };
            entities.entry(name.to_owned()).or_insert(text);
        }
    }

    /// Reads the text between `<!ATTLIST` and `>` (3.3). Of two declarations of an attribute, the first counts.
    fn declare_attributes(&mut self, declaration: &str) {
        let (element, mut rest) = word(declaration);
        if element.is_empty() {
            return;
        }
        let attributes = self.attributes.entry(element.to_owned()).or_default();
        loop {
            let (name, mut declared) = word(rest);
            if name.is_empty() {
                return;
            }
            // The type: a word, or a list in parentheses, after the word `NOTATION` for notations.
            declared = declared.trim_start_matches(is_space);
            declared = declared
                .strip_prefix("NOTATION")
                .unwrap_or(declared)
                .trim_start_matches(is_space);
            declared = match declared.starts_with('(') {
                true => after(declared, ")"),
                false => word(declared).1,
            };
            declared = declared.trim_start_matches(is_space);
            declared = declared
                .strip_prefix("#FIXED")
                .unwrap_or(declared)
                .trim_start_matches(is_space);
            let quote = declared
                .chars()
                .next()
                .filter(|quote| matches!(quote, '"' | '\''));
            attributes.entry(name.to_owned()).or_insert(quote.is_some());
            rest = match quote {
                Some(quote) => after(&declared[1..], quote.encode_utf8(&mut [0; 4])),
                None => word(declared).1,
            };
        }
    }

    /// True if an `element` without this attribute gets it by default (3.3.2).
    #[must_use]
    pub fn has_default(&self, element: &str, attribute: &str) -> bool {
        let of_element = self.attributes.get(element);
        of_element
            .and_then(|attributes| attributes.get(attribute))
            .is_some_and(|&has_default| has_default)
    }

    /// The first reference in the character data `text` to an entity whose text satisfies `is_match`. The text of
    /// nested entities, and of those declared after a parameter entity, is searched, too. Each text is searched
    /// only once.
    pub fn find(&mut self, text: &str, is_match: &dyn Fn(&str) -> bool) -> Option<Span> {
        if self.declared.is_empty() && self.unsure.is_empty() {
            return None;
        }
        references(text)
            .find(|(_, name)| self.contains_match(name, is_match))
            .map(|(span, _)| span)
    }

    fn contains_match(&mut self, name: &str, is_match: &dyn Fn(&str) -> bool) -> bool {
        let mut pending = vec![name];
        while let Some(name) = pending.pop() {
            let text = self.declared.get(name).or_else(|| self.unsure.get(name));
            let Some(text) = text.and_then(Option::as_deref) else {
                continue;
            };
            if !self.searched.insert(name.to_owned()) {
                continue;
            }
            if is_match(text) {
                return true;
            }
            pending.extend(references(text).map(|(_, name)| name));
        }
        false
    }

    /// True if the budget was exceeded.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.spent.get() > BUDGET
    }

    fn text_of(&self, name: &str) -> Option<&str> {
        let text = self.declared.get(name)?.as_deref()?;
        self.spent
            .set(self.spent.get().saturating_add(1 + text.len()));
        (!self.is_exhausted()).then_some(text)
    }

    /// The fully expanded text of an entity; `None` if part of it is unknown.
    fn expand(&self, name: &str) -> Option<String> {
        if self.is_exhausted() {
            return None;
        }
        let mut out = String::new();
        let mut open = vec![(name, self.text_of(name)?)];
        while let Some((_, rest)) = open.last_mut() {
            let Some(at) = rest.find('&') else {
                out.push_str(rest);
                open.pop();
                continue;
            };
            out.push_str(&rest[..at]);
            let text = &rest[at..];
            match reference(text) {
                None => {
                    out.push('&');
                    *rest = &text[1..];
                }
                Some((length, EntityReference::Character(character))) => {
                    out.push(character);
                    *rest = &text[length..];
                }
                Some((length, EntityReference::Entity(inner))) => {
                    *rest = &text[length..];
                    if open.iter().any(|(name, _)| *name == inner) {
                        return None;
                    }
                    if open.len() == DEEPEST {
                        self.spent.set(usize::MAX);
                        return None;
                    }
                    open.push((inner, self.text_of(inner)?));
                }
            }
        }
        Some(out)
    }
}

/// XML's white space (2.3).
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

/// The rest of `text` after the first `end` outside quotation marks; empty if there is none.
fn after_unquoted(text: &str, end: char) -> &str {
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', end]) {
        let found = rest[at..].chars().next();
        rest = &rest[at + 1..];
        match found {
            Some(quote @ ('"' | '\'')) => rest = after(rest, quote.encode_utf8(&mut [0; 4])),
            _ => return rest,
        }
    }
    ""
}

/// The replacement text of an entity value. Character references are expanded at the declaration, other references
/// at each use (4.5).
fn expand_character_references(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("&#") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, character) = match reference(rest) {
            Some((length, EntityReference::Character(character))) => (length, character),
            _ => (1, '&'),
        };
        out.push(character);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The word at the start of `text`, after white space, and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(is_space);
    text.split_at(text.find(is_space).unwrap_or(text.len()))
}

/// The references to entities in `text`, except predefined ones.
fn references(text: &str) -> impl Iterator<Item = (Span, &str)> {
    text.match_indices('&')
        .filter_map(|(at, _)| match reference(&text[at..])? {
            (length, EntityReference::Entity(name)) => Some((Span::new(at, at + length), name)),
            (_, EntityReference::Character(_)) => None,
        })
}

enum EntityReference<'a> {
    Character(char),
    Entity(&'a str),
}

/// The reference at the start of `text`, which begins with `&`, and its length.
fn reference(text: &str) -> Option<(usize, EntityReference<'_>)> {
    let limit = text.len().min(LONGEST_NAME);
    let end = text.as_bytes()[..limit]
        .iter()
        .position(|&byte| byte == b';')?;
    let name = &text[1..end];
    let is_name = |character: char| {
        character.is_alphanumeric()
            || matches!(character, '_' | ':' | '-' | '.')
            || character > '\u{b6}'
    };
    if let Some(number) = name.strip_prefix('#') {
        let (digits, radix) = number
            .strip_prefix('x')
            .map_or((number, 10), |digits| (digits, 16));
        if !digits.chars().all(|digit| digit.is_digit(radix)) {
            return None;
        }
        let number = u32::from_str_radix(digits, radix).ok()?;
        let character = char::from_u32(number).filter(|&character| is_char(character))?;
        return Some((end + 1, EntityReference::Character(character)));
    }
    let predefined = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ if name.is_empty() || !name.chars().all(is_name) => return None,
        _ => return Some((end + 1, EntityReference::Entity(name))),
    };
    Some((end + 1, EntityReference::Character(predefined)))
}

/// True if XML allows the character (2.2).
#[must_use]
pub fn is_char(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Decodes an attribute value as written between its quotes.
#[must_use]
pub fn attribute_value(view: View, entities: &Entities) -> DecodedText {
    read(view, Some(entities), true)
}

/// Decodes character data between tags.
#[must_use]
pub fn character_data(view: View, entities: &Entities) -> DecodedText {
    read(view, Some(entities), false)
}

/// Decodes the content of a CDATA section, in which only line ends are normalised.
#[must_use]
pub fn cdata(view: View) -> View {
    read(view, None, false).view
}

fn read(view: View, entities: Option<&Entities>, is_attribute: bool) -> DecodedText {
    let is_special = |byte: &u8| match byte {
        b'\r' => true,
        b'&' => entities.is_some(),
        b'\n' | b'\t' => is_attribute,
        _ => false,
    };
    let line_end = if is_attribute { ' ' } else { '\n' };
    let mut used = Vec::new();
    let next = |rest: &[u8]| rest.iter().position(is_special);
    let view = layered(view, next, |rest, at| match (rest.as_bytes(), entities) {
        ([b'\r', b'\n', ..], _) => Some((2, Unescaped::One(line_end))),
        ([b'&', ..], Some(entities)) => match reference(rest)? {
            (length, EntityReference::Character(character)) => {
                Some((length, Unescaped::One(character)))
            }
            (length, EntityReference::Entity(name)) => {
                let expanded = entities.expand(name);
                let is_known = expanded.is_some();
                let text = expanded.unwrap_or_else(|| rest[..length].to_owned());
                used.push(EntityUse {
                    span: Span::new(at, at + text.len()),
                    is_known,
                });
                Some((length, Unescaped::Text(text)))
            }
        },
        _ => Some((1, Unescaped::One(line_end))),
    });
    DecodedText {
        view,
        entities: used,
    }
}

/// Escapes `text` for an attribute value delimited by `quote`.
#[must_use]
pub fn spell_attribute(text: &str, quote: Quote) -> String {
    spelled(text, |character, out| match (character, quote) {
        ('&', _) => out.push_str("&amp;"),
        ('<', _) => out.push_str("&lt;"),
        ('>', _) => out.push_str("&gt;"),
        ('"', Quote::Double | Quote::None) => out.push_str("&quot;"),
        ('\'', Quote::Single | Quote::None) => out.push_str("&#39;"),
        ('\t' | '\n' | '\r', _) => out.push_str(&format!("&#{};", u32::from(character))),
        _ => out.push(character),
    })
}

/// Escapes `text` for a place between tags.
#[must_use]
pub fn spell_text(text: &str) -> String {
    escape::text(text).replace('\r', "&#13;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn value(raw: &str, doctype: &str) -> DecodedText {
        attribute_value(View::of_str(raw, 0), &Entities::of_doctype(doctype))
    }

    /// XML 1.0, 4.1 and 4.6: five names, and a mandatory `;`.
    #[test]
    fn references_are_those_of_xml() {
        for (raw, text) in [
            ("a&amp;b&lt;&gt;&quot;&apos;", "a&b<>\"'"),
            ("&#104;ttp&#x3A;&#x3a;", "http::"),
            ("&copy=1&amp", "&copy=1&amp"),
            (
                "&#X2f; &#xd800; &#0; &#1; &#; & &;",
                "&#X2f; &#xd800; &#0; &#1; &#; & &;",
            ),
            ("&#+47;", "&#+47;"),
            // 3.3.3: literal white space becomes a space, but a reference to white space stays as it is.
            ("a\r\nb\tc\nd\re", "a b c d e"),
            ("&#10;&#9;", "\n\t"),
            ("&nbsp;x", "&nbsp;x"),
        ] {
            assert_eq!(value(raw, "").view.text, text, "{raw:?}");
        }
        let text = character_data(View::of_str("a\r\nb\tc&lt;", 0), &Entities::default());
        assert_eq!(text.view.text, "a\nb\tc<");
        assert_eq!(cdata(View::of_str("a\r\n&amp;", 0)).text, "a\n&amp;");
    }

    /// XML 1.0, 4.5 and appendix D.
    #[test]
    fn internal_entities_are_read() {
        let doctype = "test SYSTEM '[<!ENTITY no \"n\">' [
            <!-- <!ENTITY c 'comment'> --><?pi <!ENTITY p 'pi'> ?>
            <!ELEMENT test (#PCDATA)><!ATTLIST test a CDATA '<!ENTITY l \"x\">'>
            <!ENTITY xx '&#37;zz;'><!ENTITY example '<p>An ampersand (&#38;#38;) or &amp;.</p>'>
            <!ENTITY ext SYSTEM 'http://h/'><!ENTITY % pe 'x'>
            <!ENTITY dir '../'><!ENTITY dir 'second/'><!ENTITY two '&dir;&dir;'>
            <!ENTITY a '&b;'><!ENTITY b '&a;'>
            %unread; <!ENTITY late 'l'> ]";
        let read = |raw| value(raw, doctype).view.text;
        assert_eq!(read("&example;"), "<p>An ampersand (&) or &.</p>");
        assert_eq!(read("&xx;"), "%zz;");
        assert_eq!(read("&two;x"), "../../x");
        for unknown in [
            "&no;", "&c;", "&p;", "&l;", "&ext;", "&a;", "&late;", "&pe;",
        ] {
            let text = value(unknown, doctype);
            assert_eq!(text.view.text, unknown);
            assert!(!text.entities[0].is_known);
        }
        let text = value("x&dir;y", doctype);
        assert_eq!(
            text.entities,
            [EntityUse {
                span: Span::new(1, 4),
                is_known: true
            }]
        );
        assert_eq!(
            [1, 2, 4].map(|at| text.view.map.to_source(at)),
            [Some(1), None, Some(6)]
        );
    }

    #[test]
    fn entities_have_a_budget() {
        let mut laughs = "l [<!ENTITY l0 'lol'><!ENTITY e0 ''>".to_owned();
        for level in 1..=20 {
            let of = |name: &str| format!("&{name}{};", level - 1).repeat(10);
            laughs += &format!(
                "<!ENTITY l{level} '{}'><!ENTITY e{level} '{}'>",
                of("l"),
                of("e")
            );
        }
        for name in ["l20", "e20"] {
            let entities = Entities::of_doctype(&laughs);
            let read = |raw: &str| attribute_value(View::of_str(raw, 0), &entities).view.text;
            assert_eq!(read("&l2;").len(), 300);
            assert!(!entities.is_exhausted());
            assert_eq!(read(&format!("&{name};")), format!("&{name};"));
            assert!(entities.is_exhausted());
            assert_eq!(read("&l2;"), "&l2;");
        }
    }

    #[test]
    fn escaped_text_decodes_to_itself() {
        let special = "a&b\"c'd<e>f=g`h i\tj\nk\rl&amp;é]]>";
        for quote in [Quote::Double, Quote::Single] {
            assert_eq!(
                value(&spell_attribute(special, quote), "").view.text,
                special
            );
        }
        let spelled = spell_text(special);
        assert_eq!(
            character_data(View::of_str(&spelled, 0), &Entities::default())
                .view
                .text,
            special
        );
        assert!(!spelled.contains("]]>"));
    }

    /// XML 1.0, 3.3 and 3.3.2.
    #[test]
    fn default_values_of_attributes_are_known() {
        let entities = Entities::of_doctype(
            "x [<!ATTLIST a b CDATA 'v' c (d | e) \"d\" f NOTATION (g|h) #FIXED 'g' i ID #REQUIRED
             j NMTOKENS #IMPLIED>%p;<!ATTLIST a i CDATA 'second' k CDATA '>'
             l CDATA ''><!ATTLIST b><!ATTLIST>]<!ATTLIST a m CDATA 'outside'>",
        );
        for (name, expected) in "bcfijklm"
            .chars()
            .zip([true, true, true, false, false, true, true, false])
        {
            assert_eq!(
                entities.has_default("a", &name.to_string()),
                expected,
                "{name}"
            );
        }
        assert!(!entities.has_default("b", "b"));
    }

    #[test]
    fn hostile_declarations_take_linear_time() {
        for piece in [
            "<!ENTITY ",
            "<!ENTITY a '",
            "<",
            "<!",
            "<!--",
            "'",
            "<!ENTITY a 'b'>",
            "&#",
            "%",
            "<!ATTLIST a b CDATA 'c",
            "<!ATTLIST a b ",
            "<!ATTLIST a b CDATA 'c'>",
            " a",
        ] {
            for before in ["x [", "x [<!ATTLIST "] {
                let doctype = format!("{before}{}", piece.repeat(1_000_000 / piece.len()));
                assert!(!Entities::of_doctype(&doctype).is_exhausted());
            }
        }
        // Each text is searched once, however often it is referred to.
        let mut doctype = "x [".to_owned();
        for number in 0..10_000 {
            doctype += &format!("<!ENTITY e{number} '&e{};&e{};'>", number + 1, number / 2);
        }
        let searched = Cell::new(0);
        let count = |_: &str| {
            searched.set(searched.get() + 1);
            false
        };
        let found = Entities::of_doctype(&doctype).find(&"&e0;".repeat(100_000), &count);
        assert_eq!((found, searched.get()), (None, 10_000));
        let text = value(&"&a".repeat(500_000), "");
        assert_eq!(text.view.text.len(), 1_000_000);
    }
}
