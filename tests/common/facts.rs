//! Reads the tables of facts in `fixtures/`: rows of fields separated by tabs, lines of comments that begin
//! with `# `, `\n` for a newline, « and » around the URLs in a text. `fixtures/README.md` lists the escapes.
//!
//! Deliberately absent: the meaning of rows, which the tests define.
#![allow(dead_code)]

use std::path::Path;

use baselink_text::span::Span;

/// The rows of the table `name` in `fixtures/`, each with its fields.
pub(crate) fn rows(name: &str) -> Vec<Vec<String>> {
    let text = |field: Vec<u8>| String::from_utf8(field).expect("a table is UTF-8");
    rows_of_bytes(name)
        .into_iter()
        .map(|row| row.into_iter().map(text).collect())
        .collect()
}

/// Rows whose fields are bytes, not text.
pub(crate) fn rows_of_bytes(name: &str) -> Vec<Vec<Vec<u8>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name);
    let text = std::fs::read_to_string(path).expect("a table can be read");
    assert!(
        text.starts_with("# "),
        "{name} does not say where its rows are from"
    );
    let is_row = |line: &&str| !line.is_empty() && *line != "#" && !line.starts_with("# ");
    let fields = |line: &str| line.split('\t').map(unescaped).collect();
    text.lines().filter(is_row).map(fields).collect()
}

/// The bytes of `field` without its escapes.
fn unescaped(field: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), field);
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let kind = escape.chars().next().expect("an escape has a character");
        rest = &escape[kind.len_utf8()..];
        match kind {
            '\\' => bytes.push(b'\\'),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'f' => bytes.push(0xc),
            'e' => {}
            'x' => {
                bytes.push(u8::from_str_radix(&rest[..2], 16).expect("two hexadecimal digits"));
                rest = &rest[2..];
            }
            'u' => {
                let (digits, after) = rest[1..]
                    .split_once('}')
                    .expect("a code point between { and }");
                let point = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                let point = point.expect("a code point in hexadecimal digits");
                bytes.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
            }
            other => panic!("{field}: \\{other} is no escape"),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// The text without « and », and the spans between them.
pub(crate) fn marked(row: &str) -> (String, Vec<Span>) {
    let (mut text, mut spans) = (String::new(), Vec::new());
    for (index, piece) in row.split(['«', '»']).enumerate() {
        if index % 2 == 1 {
            spans.push(Span::new(text.len(), text.len() + piece.len()));
        }
        text.push_str(piece);
    }
    assert_eq!(row.matches('»').count(), spans.len(), "{row}");
    (text, spans)
}
