//! What a document consists of, as parsers see it that are not this library's: html5ever's tree of HTML, quick-xml's events
//! of XML, cssparser's tokens of CSS.
//!
//! [`verify`](crate::verify) compares such lists. So does a policy that puts in a `base` element or takes one out, before it
//! is followed: a tag implies others (HTML, 13.2.6.4), keeps texts apart and hides a doctype, so that more can hang on it than
//! a rule about the bytes around it says.
//!
//! ```
//! use baselink::{BaseElement, Options, rewrite};
//! // Without the tag, CR and LF would be one line end (HTML, 13.2.3.5), so that it stays.
//! let options = Options { base_element: BaseElement::Remove, ..Options::at("http://a/") };
//! let page = b"<p>x\r<base href=/b/>\ny";
//! assert_eq!(rewrite(page, &options).output(), page);
//! ```
//!
//! Deliberately absent: where the bytes of a piece are.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use cssparser::{Parser, Token};
use html5ever::ParseOpts;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{NodeData, RcDom};
use quick_xml::Reader;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};

use crate::edit::{Edit, Edits};
use crate::format::Format;
use crate::layer::charset::Charset;
use crate::layer::escape;
use crate::scan::html::{self, tag, walk};
use crate::span::Span;

/// How documents of one format and encoding are taken apart, so that they can be compared.
#[derive(Clone, Copy)]
pub(crate) struct Dissection {
    pub(crate) format: Format,
    pub(crate) charset: Charset,
    /// HTML by its tags and texts, because its tree would take too long.
    pub(crate) by_tokens: bool,
}

impl Dissection {
    /// That of `source` and what is made of it.
    pub(crate) fn of(source: &[u8], format: Format, charset: Charset) -> Self {
        let by_tokens = format == Format::Html
            && !html::has_affordable_tree(charset.decode(source, 0).text.as_bytes());
        Self { format, charset, by_tokens }
    }

    /// What the parser of the format sees in the document `bytes`.
    pub(crate) fn pieces(self, bytes: &[u8]) -> Vec<TreePiece> {
        let Self { format, charset, by_tokens } = self;
        let mark = match format {
            // There, U+FEFF would be the beginning of a name.
            Format::Css => Charset::detect_plain(bytes, None).mark,
            _ => 0,
        };
        let text = charset.decode(&bytes[mark..], mark).text;
        match (format, by_tokens) {
            (Format::Html, false) => tree_pieces(&text),
            (Format::Html, true) => token_pieces(&text),
            (Format::Xhtml | Format::Svg | Format::Xml, _) => event_pieces(&text),
            (Format::Css, _) => style_sheet_pieces(&text),
            _ => vec![piece("text", text)],
        }
    }

    /// Whether `policies`, edits of the document `source`, each put in or take out a `base` element or its href, and do
    /// nothing else to the document and those in it.
    pub(crate) fn has_only_base_changed(self, source: &[u8], policies: &[&Edit]) -> bool {
        let is_xml = matches!(self.format, Format::Xhtml | Format::Svg | Format::Xml);
        let without = |bytes: &[u8]| without_base(self.pieces(bytes), is_xml, html::pass::DEEPEST);
        let mut edits = Edits::default();
        let are_in_order =
            policies.iter().all(|edit| edits.push(edit.span, Arc::clone(&edit.new)).is_ok());
        if !are_in_order || !policies.iter().all(|edit| puts_or_takes_tag(edit, source)) {
            return false;
        }
        let (old, new) = (without(source), without(&edits.apply(source)));
        old.others == new.others && old.hrefs.abs_diff(new.hrefs) == policies.len()
    }
}

/// One thing that a document consists of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TreePiece {
    /// What it is, with its name.
    pub(crate) kind: String,
    /// Its value or text.
    pub(crate) text: String,
}

pub(crate) fn piece(kind: impl Into<String>, text: impl Into<String>) -> TreePiece {
    TreePiece { kind: kind.into(), text: text.into() }
}

/// What html5ever makes of `text`, in tree order.
pub(crate) fn tree_pieces(text: &str) -> Vec<TreePiece> {
    enum Visit {
        Enter(Rc<markup5ever_rcdom::Node>),
        Leave,
    }
    let dom = html5ever::parse_document(RcDom::default(), ParseOpts::default()).one(text);
    let mut pieces = Vec::new();
    // A node that is dropped takes its descendants apart, so the document is held to the end.
    let mut steps = vec![Visit::Enter(dom.document.clone())];
    while let Some(step) = steps.pop() {
        let Visit::Enter(node) = step else {
            pieces.push(piece("end of element", ""));
            continue;
        };
        match &node.data {
            NodeData::Document => {}
            NodeData::Doctype { name, public_id, system_id } => {
                pieces.push(piece("doctype", format!("{name} {public_id} {system_id}")));
            }
            NodeData::Text { contents } => pieces.push(piece("text", &**contents.borrow())),
            NodeData::Comment { contents } => pieces.push(piece("comment", &**contents)),
            NodeData::ProcessingInstruction { target, contents } => {
                pieces.push(piece(&**target, &**contents));
            }
            NodeData::Element { name, attrs, template_contents, .. } => {
                pieces.push(piece(format!("element {} {}", name.ns, name.local), ""));
                for html5ever::Attribute { name, value } in attrs.borrow().iter() {
                    pieces.push(piece(format!("attribute {} {}", name.ns, name.local), &**value));
                }
                steps.push(Visit::Leave);
                steps.extend(template_contents.borrow().iter().cloned().map(Visit::Enter));
            }
        }
        steps.extend(node.children.borrow().iter().rev().cloned().map(Visit::Enter));
    }
    pieces
}

/// What quick-xml makes of `text`, each event with its own text verbatim; after the first that it
/// cannot read, all the rest.
pub(crate) fn event_pieces(text: &str) -> Vec<TreePiece> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut pieces: Vec<TreePiece> = Vec::new();
    let mut at = 0;
    loop {
        let event = reader.read_event();
        let end = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        let raw = text.get(at..end).unwrap_or_default();
        let tag = |kind: &str, start: &BytesStart<'_>, pieces: &mut Vec<TreePiece>| {
            pieces.push(piece(format!("{kind} {}", start.name().as_ref()), ""));
            for attribute in start.attributes().with_checks(false) {
                pieces.push(match attribute {
                    Ok(Attribute { key, value }) => {
                        piece(format!("attribute {}", key.as_ref()), value.as_ref())
                    }
                    Err(_) => piece("malformed tag", raw),
                });
            }
        };
        match event {
            Ok(Event::Eof) => return pieces,
            Err(_) => {
                pieces.push(piece("rest", &text[at..]));
                return pieces;
            }
            // New text may hold references, which are events of their own.
            Ok(Event::Text(_) | Event::GeneralRef(_)) => match pieces.last_mut() {
                Some(last) if last.kind == "text" => last.text.push_str(raw),
                _ => pieces.push(piece("text", raw)),
            },
            Ok(Event::Start(start)) => tag("element", &start, &mut pieces),
            Ok(Event::Empty(start)) => tag("empty element", &start, &mut pieces),
            Ok(Event::End(_)) => pieces.push(piece("end tag", raw)),
            Ok(Event::CData(_)) => pieces.push(piece("CDATA section", raw)),
            Ok(Event::Comment(_)) => pieces.push(piece("comment", raw)),
            Ok(Event::PI(_) | Event::Decl(_)) => pieces.push(piece("instruction", raw)),
            Ok(Event::DocType(_)) => pieces.push(piece("doctype", raw)),
        }
        at = end;
    }
}

/// The tokens of `text`, and the text between them.
pub(crate) fn token_pieces(text: &str) -> Vec<TreePiece> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut end = 0;
    let Ok(_) =
        walk::best_effort(bytes, 0..bytes.len(), true, &mut |event: html::sink::Event<'_>| {
            let (span, found) = match event {
                html::sink::Event::Comment { span } => {
                    (span, vec![piece("comment", &text[span.range()])])
                }
                html::sink::Event::StartTag { tag, .. } | html::sink::Event::EndTag { tag } => {
                    let kind = if tag.end_tag { "end tag" } else { "start tag" };
                    let mut found = vec![piece(kind, &text[tag.name.range()])];
                    found.extend(tag::distinct(bytes, tag).iter().map(|attribute| {
                        let value = attribute.value.map_or("", |value| &text[value.range()]);
                        let view = crate::layer::View::of_str(value, 0);
                        let kind = format!("attribute {}", &text[attribute.name.range()]);
                        piece(kind, escape::character_references(view).text)
                    }));
                    (tag.span, found)
                }
            };
            pieces.push(piece("text", text.get(end..span.start).unwrap_or_default()));
            pieces.extend(found);
            end = span.end;
        });
    pieces.push(piece("text", &text[end..]));
    pieces
}

/// The strings and URLs of the style sheet `text`, and what is between them.
///
/// A tokenizer starts anew after each token, so that what is the same between the same tokens is the
/// same tokens.
pub(crate) fn style_sheet_pieces(text: &str) -> Vec<TreePiece> {
    let mut pieces = Vec::new();
    let mut end = 0;
    for (token, span) in css_tokens(text) {
        let found = match &token {
            Token::QuotedString(value) => piece("string", &**value),
            Token::UnquotedUrl(value) => piece("url", &**value),
            Token::BadString(_) => piece("bad string", &text[span.range()]),
            Token::BadUrl(_) => piece("bad url", &text[span.range()]),
            _ => continue,
        };
        pieces.push(piece("tokens", text.get(end..span.start).unwrap_or_default()));
        pieces.push(found);
        end = span.end;
    }
    pieces.push(piece("tokens", &text[end..]));
    pieces
}

/// The tokens of `css` with their places, those inside blocks and functions, too.
fn css_tokens(css: &str) -> impl Iterator<Item = (Token<'_>, Span)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        // A parser would skip a block. The tokenizer never looks back, so a new parser from here on
        // sees the same tokens, and it costs nothing to make one.
        let mut parser = Parser::new(&css[start..]);
        let token = parser.next_including_whitespace_and_comments().ok()?.clone();
        at = match &token {
            Token::BadUrl(_) => bad_url_end(css, start),
            _ => start + parser.position().byte_index(),
        };
        Some((token, Span::new(start, at)))
    })
}

/// Where the bad-url-token that begins at `start` ends: after the first parenthesis that no escape holds (CSS
/// Syntax 3, 4.3.6 and 4.3.14). cssparser ends it earlier where the backslash of an escape is what
/// makes it bad.
fn bad_url_end(css: &str, start: usize) -> usize {
    let bytes = css.as_bytes();
    let mut at = start;
    while let Some(offset) = memchr::memchr2(b')', b'\\', &bytes[at..]) {
        at += offset + 1;
        if bytes[at - 1] == b')' {
            return at;
        }
        if !matches!(bytes.get(at), None | Some(b'\n' | b'\r' | 0x0c)) {
            at += 1;
        }
    }
    bytes.len()
}

/// What a document consists of beside its base.
#[derive(Default)]
struct WithoutBase {
    /// All but white space at the ends of texts, comments, `base` elements and the `href` of such; and the comments, for
    /// one may stand before the head or in it. Neither they nor instructions part a text.
    others: [Vec<TreePiece>; 2],
    /// How many of those there are.
    hrefs: usize,
}

/// What `pieces`, of XML or not, are beside the base, and those of documents in them, which may be so deep.
fn without_base(pieces: Vec<TreePiece>, is_xml: bool, deepest: usize) -> WithoutBase {
    let mut without = WithoutBase::default();
    // Whether the last tag is that of a base, and has an end.
    let (mut in_base, mut ends) = (false, false);
    for one in pieces {
        let one = if may_hold_document(&one.kind) { without_references(one) } else { one };
        let mut words = one.kind.split(' ');
        let (first, last) = (words.next(), words.next_back().unwrap_or_default());
        let name = if first == Some("start") { &*one.text } else { last };
        let name = name.rsplit(':').next().unwrap_or_default();
        let drops = match first {
            Some("element" | "empty" | "start") => {
                in_base = name.eq_ignore_ascii_case("base");
                ends = in_base && first == Some("element");
                in_base
            }
            Some("attribute") => {
                let is_href = in_base && name.eq_ignore_ascii_case("href");
                without.hrefs += usize::from(is_href);
                is_href
            }
            Some("end") => std::mem::take(&mut ends),
            _ => false,
        };
        let [others, comments] = &mut without.others;
        match others.last_mut() {
            _ if drops => {}
            _ if matches!(first, Some("comment" | "instruction")) => comments.push(one),
            Some(before) if before.kind == "text" && one.kind == "text" => {
                before.text.push_str(&one.text);
            }
            _ => others.push(one),
        }
    }
    let WithoutBase { others: [others, comments], hrefs } = &mut without;
    for mut one in std::mem::take(others) {
        // Of one that has lost its base, no tag may be left.
        let holds_document = match &*one.kind {
            "text" => is_xml || one.text.contains(['<', '&']),
            kind => may_hold_document(kind),
        };
        if deepest > 0 && holds_document {
            let document = |text: &str| {
                let pieces = match html::has_affordable_tree(text.as_bytes()) {
                    true => tree_pieces(text),
                    false => token_pieces(text),
                };
                without_base(pieces, false, deepest - 1)
            };
            let inside = document(&one.text);
            *hrefs += inside.hrefs;
            let [inner, inner_comments] = inside.others;
            comments.extend(inner_comments);
            if inner != document("").others[0] {
                others.push(piece(one.kind, ""));
                others.extend(inner);
                others.push(piece("end of document", ""));
            }
            continue;
        }
        one.text = one.text.trim_ascii().to_owned();
        if one.kind != "text" || !one.text.is_empty() {
            others.push(one);
        }
    }
    without
}

/// Whether a document of HTML may be in a piece of that kind: the value of `srcdoc`, or text of a feed.
fn may_hold_document(kind: &str) -> bool {
    matches!(kind, "text" | "CDATA section")
        || kind.starts_with("attribute ") && kind.ends_with(" srcdoc")
}

/// A piece of XML with its references replaced (XML 1.0, 4.4), and a CDATA section as the text that it is (2.7).
pub(crate) fn without_references(one: TreePiece) -> TreePiece {
    if one.kind == "CDATA section" {
        let section = one.text.strip_prefix("<![CDATA[");
        let inner = section.and_then(|text| text.strip_suffix("]]>")).unwrap_or(&one.text);
        return piece("text", inner);
    }
    let mut parts = one.text.split('&');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // What is no reference, or one of an entity that is not declared, hides no other.
        let (name, rest) = part.split_at(part.find(';').map_or(0, |at| at + 1));
        let reference = format!("&{name}");
        text.push_str(
            &quick_xml::escape::unescape(&reference).unwrap_or(Cow::Borrowed(&reference)),
        );
        text.push_str(rest);
    }
    piece(one.kind, text)
}

/// Whether an edit for the `base` element puts in a tag, or takes out a tag or an `href` with the white space before it,
/// and no white space else: that in a head is not told from that before it, which is no part of the tree.
fn puts_or_takes_tag(edit: &Edit, source: &[u8]) -> bool {
    let written = |bytes: &[u8]| -> Vec<u8> {
        // In UTF-16, half of them are zero.
        bytes.iter().copied().filter(|&byte| byte != 0).collect()
    };
    let (old, new) = (written(&source[edit.span.range()]), written(&edit.new));
    let begins_tag = |text: &[u8]| matches!(text.first(), Some(b'<' | b'&'));
    let is_href = || {
        let attribute = old.trim_ascii_start().get(..4).unwrap_or_default();
        attribute.eq_ignore_ascii_case(b"href")
    };
    let is_one = match (old.is_empty(), new.is_empty()) {
        (true, false) => begins_tag(&new),
        (false, true) => begins_tag(&old) || is_href(),
        _ => false,
    };
    is_one && old.trim_ascii_end().len() == old.len() && new.trim_ascii_end().len() == new.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheets_are_strings_urls_and_what_is_between() {
        let pieces = style_sheet_pieces(r#"a"b\62"url( c\29 )url(d e)'f"#);
        let found: Vec<_> =
            pieces.iter().map(|one| (one.kind.as_str(), one.text.as_str())).collect();
        let expected = [
            ("tokens", "a"),
            ("string", "bb"),
            ("tokens", ""),
            ("url", "c)"),
            ("tokens", ""),
            ("bad url", "url(d e)"),
            ("tokens", ""),
            ("string", "f"),
            ("tokens", ""),
        ];
        assert_eq!(found, expected);
    }
}
