//! The contents of a document as independent parsers see them: html5ever's tree of HTML, quick-xml's events of XML,
//! cssparser's tokens of CSS.
//!
//! [`verify`](crate::verify) compares lists of such pieces.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! use baselink_verify::verify;
//! let options = Options::at("http://a/");
//! assert!(verify(&rewrite(b"<a href=x>y", &options)).is_ok());
//! ```
//!
//! Deliberately absent: the positions of pieces.

use baselink_scan::html::{sink, tag, walk};
use baselink_text::{Charset, Format, Span};
use cssparser::{Parser, Token};
use html5ever::{ParseOpts, tendril::TendrilSink};
use markup5ever_rcdom::{NodeData, RcDom};
use quick_xml::{
    Reader,
    events::{BytesStart, Event, attributes::Attribute},
};

/// The pieces of the document `bytes`, according to the parser of the format. HTML is compared by tags and texts if building its
/// tree would take too long: `by_tokens`.
pub fn pieces(bytes: &[u8], format: Format, charset: Charset, by_tokens: bool) -> Vec<TreePiece> {
    let mark = match format {
        // In CSS, U+FEFF would begin a name.
        Format::Css => Charset::detect_plain(bytes, None).mark,
        _ => 0,
    };
    let text = charset.decode(&bytes[mark..], mark).text;
    match format {
        Format::Html if by_tokens => token_pieces(&text),
        Format::Html => tree_pieces(&text),
        Format::Xhtml | Format::Svg | Format::Xml => event_pieces(&text),
        Format::Css => style_sheet_pieces(&text),
        _ => vec![piece("text", text)],
    }
}

/// One piece of a document.
#[derive(PartialEq)]
pub struct TreePiece {
    /// The kind of piece, with its name.
    pub kind: String,
    /// The value or text.
    pub text: String,
}

pub fn piece(kind: impl Into<String>, text: impl Into<String>) -> TreePiece {
    TreePiece {
        kind: kind.into(),
        text: text.into(),
    }
}

/// The nodes that html5ever finds in `text`, in tree order.
pub fn tree_pieces(text: &str) -> Vec<TreePiece> {
    // The names of the open elements.
    let mut names: Vec<String> = Vec::new();
    let dom = html5ever::parse_document(RcDom::default(), ParseOpts::default()).one(text);
    let mut pieces = Vec::new();
    // Dropping a node takes its descendants apart, so the document is kept alive to the end.
    // No node stands for the end of an element.
    let mut steps = vec![Some(dom.document.clone())];
    while let Some(step) = steps.pop() {
        let Some(node) = step else {
            names.pop();
            pieces.push(piece("end of element", ""));
            continue;
        };
        match &node.data {
            NodeData::Document => {}
            NodeData::Doctype {
                name,
                public_id,
                system_id,
            } => {
                pieces.push(piece("doctype", format!("{name} {public_id} {system_id}")));
            }
            NodeData::Text { contents } => {
                pieces.push(piece(text_kind(names.last()), &**contents.borrow()));
            }
            NodeData::Comment { contents } => pieces.push(piece("comment", &**contents)),
            NodeData::ProcessingInstruction { target, contents } => {
                pieces.push(piece(&**target, &**contents));
            }
            NodeData::Element {
                name,
                attrs,
                template_contents,
                ..
            } => {
                pieces.push(piece(format!("element {} {}", name.ns, name.local), ""));
                for html5ever::Attribute { name, value } in attrs.borrow().iter() {
                    pieces.push(piece(
                        format!("attribute {} {}", name.ns, name.local),
                        &**value,
                    ));
                }
                names.push(name.local.to_string());
                steps.push(None);
                steps.extend(template_contents.borrow().iter().cloned().map(Some));
            }
        }
        steps.extend(node.children.borrow().iter().rev().cloned().map(Some));
    }
    pieces
}

/// The elements of HTML whose child text may contain links.
const WITH_LINKS: [&str; 5] = ["style", "script", "noscript", "noframes", "noembed"];

/// The kind of text that readers see, which contains no links.
pub const VISIBLE_TEXT: &str = "text of an element";

/// The kind of the child text of an HTML or SVG element called `name`.
fn text_kind(name: Option<&String>) -> String {
    match name.filter(|name| WITH_LINKS.iter().any(|one| name.eq_ignore_ascii_case(one))) {
        Some(name) => format!("text of {name}"),
        None => VISIBLE_TEXT.to_owned(),
    }
}

/// The events that quick-xml finds in `text`, each with its verbatim text. The first unreadable event contains the
/// whole rest.
pub fn event_pieces(text: &str) -> Vec<TreePiece> {
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
            // New text may contain references, which are separate events.
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

/// The tags and comments of the HTML `text`, and the text between them.
pub fn token_pieces(text: &str) -> Vec<TreePiece> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut end = 0;
    // The name of the last tag, if it is a start tag.
    let mut name: Option<String> = None;
    walk::best_effort(
        bytes,
        0..bytes.len(),
        true,
        true,
        &mut |event: sink::Event<'_>| {
            let (span, found, next) = match event {
                sink::Event::Comment(span) => {
                    let comment = piece("comment", &text[span.range()]);
                    (span, vec![comment], name.clone())
                }
                sink::Event::Tag(tag, _) => {
                    let own = &text[tag.name.range()];
                    let kind = if tag.end_tag { "end tag" } else { "start tag" };
                    let mut found = vec![piece(kind, own)];
                    found.extend(tag::distinct(bytes, tag).iter().map(|attribute| {
                        let kind = format!("attribute {}", &text[attribute.name.range()]);
                        piece(kind, attribute.decoded(bytes, Charset::UTF_8).text)
                    }));
                    let next = (!tag.end_tag).then(|| own.to_ascii_lowercase());
                    (tag.span, found, next)
                }
            };
            let before = text.get(end..span.start).unwrap_or_default();
            pieces.push(piece(text_kind(name.as_ref()), before));
            pieces.extend(found);
            (end, name) = (span.end, next);
        },
    );
    pieces.push(piece(text_kind(name.as_ref()), &text[end..]));
    pieces
}

/// The strings and URLs of the style sheet `text`, and the text between them.
///
/// A CSS tokenizer starts anew after each token, so equal text between equal tokens consists of equal tokens.
pub fn style_sheet_pieces(text: &str) -> Vec<TreePiece> {
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
        pieces.push(piece(
            "tokens",
            text.get(end..span.start).unwrap_or_default(),
        ));
        pieces.push(found);
        end = span.end;
    }
    pieces.push(piece("tokens", &text[end..]));
    pieces
}

/// The tokens of `css` with their spans, including those inside blocks and functions.
fn css_tokens(css: &str) -> impl Iterator<Item = (Token<'_>, Span)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        // One parser would skip the content of blocks. The tokenizer never looks back, so a new parser that starts
        // here sees the same tokens, and creating one is cheap.
        let mut parser = Parser::new(&css[start..]);
        let token = parser
            .next_including_whitespace_and_comments()
            .ok()?
            .clone();
        at = match &token {
            Token::BadUrl(_) => bad_url_end(css, start),
            _ => start + parser.position().byte_index(),
        };
        Some((token, Span::new(start, at)))
    })
}

/// The end of the bad-url-token that begins at `start`: after the first unescaped parenthesis (CSS Syntax 3, 4.3.6
/// and 4.3.14). cssparser ends the token earlier if the backslash of an escape made it bad.
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

/// Replaces the references in a piece of XML (XML 1.0, 4.4), and turns a CDATA section into text (2.7).
#[cfg(test)]
pub fn without_references(TreePiece { kind, text }: TreePiece) -> TreePiece {
    if kind == "CDATA section" {
        let inner = text
            .strip_prefix("<![CDATA[")
            .and_then(|text| text.strip_suffix("]]>"))
            .unwrap_or(&text);
        return piece("text", inner);
    }
    let mut parts = text.split('&');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // References are replaced one by one, because an undeclared entity must not prevent the others.
        let (name, rest) = part.split_at(part.find(';').map_or(0, |at| at + 1));
        let reference = format!("&{name}");
        decoded.push_str(
            &quick_xml::escape::unescape(&reference)
                .unwrap_or(std::borrow::Cow::Borrowed(&reference)),
        );
        decoded.push_str(rest);
    }
    piece(kind, decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheets_are_split_into_strings_urls_and_the_rest() {
        let pieces = style_sheet_pieces(r#"a"b\62"url( c\29 )url(d e)'f"#);
        let found: Vec<_> = pieces
            .iter()
            .map(|TreePiece { kind, text }| (kind.as_str(), text.as_str()))
            .collect();
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
