//! The structure of messages: exact ranges for every rule, the laws on generated and real messages, mailparse as a
//! referee, and hostile messages.
//!
//! Marks in the text of a case show the expected ranges: `«1|one»` is the body `one` of the entity `1`, `«1p|…»` and
//! `«1e|…»` are its preamble and epilogue, and `«1h|…»` is its heading. The labels of the message itself have no number.
//! Every case runs with LF, and again with CRLF.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baselink_rewrite::container::{EntityKind, Structure, entities};
use baselink_scan::document::UrlField;
use baselink_scan::fields::heading::{line_end_of, url_of};
use baselink_scan::fields::{Heading, MediaType};
use baselink_text::diagnostic::Code;
use baselink_text::layer::transfer::TransferEncoding;
use baselink_text::span::Span;
use proptest::prelude::*;

use crate::case_file::Case;
use crate::outside;

/// The message without its marks, and the marked ranges by label.
fn unmarked(marked: &str) -> (Vec<u8>, BTreeMap<String, Span>) {
    let (mut bytes, mut spans, mut open) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut rest = marked;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '«' => {
                let (label, after) = rest.split_once('|').unwrap();
                open.push((label.to_owned(), bytes.len()));
                rest = after;
            }
            '»' => {
                let (label, start) = open.pop().unwrap();
                assert!(spans.insert(label, Span::new(start, bytes.len())).is_none());
            }
            _ => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    (bytes, spans)
}

fn kind(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Leaf => "leaf",
        EntityKind::Multipart => "multipart",
        EntityKind::Message => "message",
        EntityKind::Opaque => "opaque",
    }
}

/// The spans of the entities directly inside the entity `index`.
fn parts_of(structure: &Structure, index: usize) -> Vec<Span> {
    let entities = structure.entities.iter();
    let parts = entities.filter(|part| part.parent == Some(index));
    parts.map(|part| part.span()).collect()
}

/// The bytes of the multipart `index` around its `parts`: the preamble, and the epilogue if there is a close delimiter.
fn margins(
    bytes: &[u8],
    structure: &Structure,
    index: usize,
    parts: &[Span],
) -> (Span, Option<Span>) {
    let entity = &structure.entities[index];
    let line_end = line_end_of(bytes);
    let delimiter = [b"--", entity.media_type.boundary().unwrap()].concat();
    let after_line = |at: usize| {
        let length = memchr::memchr(line_end, &bytes[at..]);
        length.map_or(bytes.len(), |length| at + length + 1)
    };
    let first = match parts.first() {
        Some(part) => {
            let before = &bytes[..part.start];
            let before = before.strip_suffix(&[line_end]).unwrap_or(before);
            memchr::memrchr(line_end, before).map_or(0, |at| at + 1)
        }
        None => {
            let line = |at: &usize| Some(after_line(*at)).filter(|next| next > at);
            let is_delimiter = |&at: &usize| {
                let rest = bytes[at..].strip_prefix(delimiter.as_slice());
                rest.is_some_and(|rest| {
                    matches!(
                        rest,
                        [] | [b' ' | b'\t' | b'\r' | b'\n', ..] | [b'-', b'-', ..]
                    )
                })
            };
            let mut lines = std::iter::successors(Some(entity.body.start), line);
            lines.find(is_delimiter).unwrap()
        }
    };
    let before = &bytes[..first];
    let before = before.strip_suffix(b"\n").unwrap_or(before);
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    let start = entity.body.start;
    let preamble = Span::new(start, before.len().max(start).min(entity.body.end));
    let heading = &entity.heading;
    let field = heading.first(bytes, "Content-Type").unwrap();
    let mut diagnostics = structure.diagnostics.iter();
    let is_closed =
        !diagnostics.any(|one| (one.code, one.span) == (Code::CloseMissing, field.span));
    let epilogue = is_closed.then(|| {
        let end = parts.last().map_or(preamble.end, |part| part.end);
        let rest = &bytes[end..];
        let rest = match rest.starts_with(&delimiter) {
            true => rest,
            false => {
                let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
                rest.strip_prefix(b"\n").unwrap_or(rest)
            }
        };
        let next = after_line(bytes.len() - rest.len());
        Span::new(next.min(entity.body.end), entity.body.end)
    });
    (preamble, epilogue)
}

/// Checks the entities, ranges and diagnostics of the message `marked`. A row is `number kind type/subtype`,
/// followed by `signed` for a signed entity; commas separate `rows`.
fn check(marked: &str, rows: &str, codes: &[Code]) {
    for line_end in ["\n", "\r\n"] {
        let (bytes, expected) = unmarked(&marked.replace('\n', line_end));
        let structure = entities(&bytes);
        check_ranges(&bytes, &structure);
        let mut found = BTreeMap::new();
        let mut described = Vec::new();
        for (index, entity) in structure.entities.iter().enumerate() {
            let number = entity.name.to_string();
            found.insert(number.clone(), entity.body);
            let mut kind = kind(entity.kind);
            if matches!(entity.kind, EntityKind::Multipart) {
                let parts = parts_of(&structure, index);
                let (preamble, epilogue) = margins(&bytes, &structure, index, &parts);
                found.insert(format!("{number}p"), preamble);
                match epilogue {
                    Some(epilogue) => drop(found.insert(format!("{number}e"), epilogue)),
                    None => kind = "unclosed",
                }
            }
            found.insert(format!("{number}h"), entity.heading.span);
            let signed = if entity.signed { " signed" } else { "" };
            let row = format!("{number} {kind} {}{signed}", entity.media_type);
            described.push(row.trim().to_owned());
        }
        assert_eq!(described.join(", "), rows, "{marked}");
        for (label, span) in expected {
            let text = |span: Span| String::from_utf8_lossy(&bytes[span.range()]).into_owned();
            let actual = found[&label];
            assert_eq!(
                (actual, text(actual)),
                (span, text(span)),
                "{label:?} in {marked}"
            );
        }
        let found: Vec<_> = structure
            .diagnostics
            .iter()
            .map(|found| found.code)
            .collect();
        assert_eq!(found, codes, "{marked}");
    }
}

/// Checks that heading, separator and body are adjacent, and that the parts of a multipart and their delimiters fill
/// its body.
fn check_ranges(bytes: &[u8], structure: &Structure) {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); structure.entities.len()];
    let root = &structure.entities[0];
    assert_eq!(root.span(), Span::new(0, bytes.len()));
    for (index, entity) in structure.entities.iter().enumerate() {
        let (heading, separator) = (entity.heading.span, entity.heading.separator);
        assert_eq!(heading.end, separator.start);
        assert_eq!(separator.end, entity.body.start);
        assert!(entity.body.end <= bytes.len());
        let mut at = heading.start;
        for field in &entity.heading.fields {
            assert!(at <= field.span.start && field.span.end <= heading.end);
            assert!(field.span.start == field.name.start && field.name.end < field.value.start);
            assert!(field.value.end <= field.span.end);
            at = field.span.end;
        }
        if let Some(parent) = entity.parent {
            assert!(parent < index);
            children[parent].push(index);
            let ordinal = children[parent].len().to_string();
            let last = entity.name.rsplit('.').next().unwrap();
            assert!(
                last == ordinal || entity.name.starts_with('#'),
                "{}",
                entity.name
            );
        }
    }
    for (index, (entity, children)) in structure.entities.iter().zip(children).enumerate() {
        let spans: Vec<Span> = children
            .iter()
            .map(|&child| structure.entities[child].span())
            .collect();
        match entity.kind {
            EntityKind::Leaf | EntityKind::Opaque => assert!(spans.is_empty()),
            EntityKind::Message => assert_eq!(spans, [entity.body]),
            EntityKind::Multipart => {
                let boundary = entity.media_type.boundary().unwrap();
                let (preamble, epilogue) = margins(bytes, structure, index, &spans);
                let closed = epilogue.is_some();
                let mut at = preamble.end;
                let pieces = spans.into_iter().chain(epilogue);
                for (piece, last) in pieces.map(|piece| (piece, Some(piece) == epilogue)) {
                    assert!(
                        piece.start >= at || piece.is_empty(),
                        "{piece:?} behind {at}"
                    );
                    let gap = &bytes[at..piece.start.max(at)];
                    let gap = gap.strip_prefix(b"\r").unwrap_or(gap);
                    let gap = gap.strip_prefix(b"\n").unwrap_or(gap);
                    let delimiter = [b"--", boundary].concat();
                    assert!(
                        gap.starts_with(&delimiter),
                        "{:?}",
                        String::from_utf8_lossy(gap)
                    );
                    if last && closed {
                        assert!(gap.is_empty() || gap[delimiter.len()..].starts_with(b"--"));
                    }
                    at = piece.end;
                }
                if !closed {
                    assert_eq!(at, entity.body.end);
                }
            }
        }
    }
}

const MIXED: &str = "Content-Type: multipart/mixed; boundary=";

#[test]
fn line_ends_before_delimiters_are_part_of_the_delimiter() {
    check(
        &format!(
            "«h|{MIXED}b\n»\n«|«p|pre\namble»\n--b\n\n«1|one\n»\n--b\nA: b\n\n«2|two»\n--b--\n«e|epi\n»»"
        ),
        "multipart multipart/mixed, 1 leaf text/plain, 2 leaf text/plain",
        &[],
    );
    // No preamble, no epilogue, no line end at the end.
    check(
        &format!("{MIXED}b\n\n«|«p|»--b\n\n«1|one»\n--b--«e|»»"),
        "multipart multipart/mixed, 1 leaf text/plain",
        &[],
    );
    // An empty line of the preamble is not part of the delimiter.
    check(
        &format!("{MIXED}b\n\n«p|\n»\n--b\n\n«1|\n»\n--b--\n«e|»"),
        "multipart multipart/mixed, 1 leaf text/plain",
        &[],
    );
}

#[test]
fn parts_may_be_empty() {
    check(
        &format!("{MIXED}b\n\n--b\n«1|»--b\n«2|»\n--b\n\n«3|»\n--b\n«4h|A: b»«4|»\n--b--"),
        "multipart multipart/mixed, 1 leaf text/plain, 2 leaf text/plain, 3 leaf text/plain, \
         4 leaf text/plain",
        &[],
    );
    check(
        &format!("{MIXED}b\n\n«p|»--b--\n«e|x»"),
        "multipart multipart/mixed",
        &[],
    );
    check(
        &format!("{MIXED}b\n\n--b"),
        "unclosed multipart/mixed, 1 leaf text/plain",
        &[Code::CloseMissing],
    );
}

#[test]
fn white_space_and_text_may_follow_a_boundary() {
    check(
        &format!("{MIXED}b\n\n«p|»--b \t\n\n«1|one»\n--b x\n\n«2|two»\n--b-- \n«e|»"),
        "multipart multipart/mixed, 1 leaf text/plain, 2 leaf text/plain",
        &[],
    );
}

#[test]
fn a_boundary_may_be_the_prefix_of_another() {
    check(
        &format!(
            "{MIXED}b\n\n--b\n{MIXED}b2\n\n«1|--b2\n\n«1.1|x\n--b3\n--b-\n --b\n--»\n--b2--«1e|»»\n--b--"
        ),
        "multipart multipart/mixed, 1 multipart multipart/mixed, 1.1 leaf text/plain",
        &[],
    );
    // Chromium writes boundaries that end with dashes.
    check(
        &format!("{MIXED}\"--x----\"\n\n----x----\n\n«1|one»\n----x------\n«e|»"),
        "multipart multipart/mixed, 1 leaf text/plain",
        &[],
    );
}

#[test]
fn an_outer_delimiter_ends_the_inner_multiparts() {
    check(
        &format!(
            "{MIXED}a\n\n--a\n{MIXED}b\n\n«1|--b\n{MIXED}c\n\n«1.1|--c\n\n«1.1.1|x»»»\n--a\n\n«2|y»\n--a--"
        ),
        "multipart multipart/mixed, 1 unclosed multipart/mixed, 1.1 unclosed multipart/mixed, \
         1.1.1 leaf text/plain, 2 leaf text/plain",
        &[Code::CloseMissing, Code::CloseMissing],
    );
    // Also in the middle of a heading.
    check(
        &format!("{MIXED}a\n\n--a\n{MIXED}b\n\n«1|--b\n«1.1h|A: b»»\n--a\n\n«2|y»\n--a--"),
        "multipart multipart/mixed, 1 unclosed multipart/mixed, 1.1 leaf text/plain, \
         2 leaf text/plain",
        &[Code::CloseMissing],
    );
    // The line end between two delimiters belongs to the second.
    check(
        &format!("{MIXED}a\n\n--a\n{MIXED}b\n\n«1|--b«1.1|»»\n--a--"),
        "multipart multipart/mixed, 1 unclosed multipart/mixed, 1.1 leaf text/plain",
        &[Code::CloseMissing],
    );
}

#[test]
fn the_innermost_of_equal_boundaries_wins() {
    check(
        &format!(
            "{MIXED}b\n\n--b\n{MIXED}b\n\n«1|--b\n\n«1.1|x»\n--b--«1e|»»\n--b\n\n«2|y»\n--b--"
        ),
        "multipart multipart/mixed, 1 multipart multipart/mixed, 1.1 leaf text/plain, \
         2 leaf text/plain",
        &[],
    );
}

#[test]
fn a_boundary_may_be_absent_or_not_found() {
    check(
        "Content-Type: multipart/mixed\n\n«|--b\n»",
        "opaque multipart/mixed",
        &[Code::BoundaryMissing],
    );
    check(
        "Content-Type: multipart/mixed; boundary=\"\"\n\n«|--\n»",
        "opaque multipart/mixed",
        &[Code::BoundaryMissing],
    );
    check(
        &format!("{MIXED}b\n\n«|x --b\n--c\n»"),
        "opaque multipart/mixed",
        &[Code::BoundaryNotFound],
    );
}

#[test]
fn embedded_messages_are_read() {
    check(
        "Content-Type: message/rfc822\n\n«|«1h|A: b\n»\n«1|body\n»»",
        "message message/rfc822, 1 leaf text/plain",
        &[],
    );
    check(
        &format!(
            "{MIXED}b\n\n--b\nContent-Type: message/global\n\n«1|{MIXED}c\n\n«1.1|--c\n\n«1.1.1|x»\n--c--»»\n\
             --b\n\n«2|y»\n--b--"
        ),
        "multipart multipart/mixed, 1 message message/global, 1.1 multipart multipart/mixed, \
         1.1.1 leaf text/plain, 2 leaf text/plain",
        &[],
    );
    // RFC 2046, 5.1.5.
    check(
        "Content-Type: multipart/digest; boundary=b\n\n--b\n\n«1|A: b\n\n«1.1|x»»\n--b\n\
         Content-Type: text/html\n\n«2|y»\n--b\n«3|»--b--",
        "multipart multipart/digest, 1 message message/rfc822, 1.1 leaf text/plain, \
         2 leaf text/html, 3 message message/rfc822, 3.1 leaf text/plain",
        &[],
    );
    check(
        "Content-Type: message/partial; id=x\n\n«|A: b\n\nx»",
        "leaf message/partial",
        &[],
    );
}

#[test]
fn composites_with_a_transfer_encoding_are_reported() {
    // bug 216: a delimiter that stands in the message shows that the parts are not encoded.
    for encoding in ["BASE64 (x)", "quoted-printable", "x-foo"] {
        check(
            &format!(
                "{MIXED}b\nContent-Transfer-Encoding: {encoding}\n\n«p|x»\n--b\n\n«1|x»\n--b--"
            ),
            "multipart multipart/mixed, 1 leaf text/plain",
            &[Code::CompositeEncoded],
        );
        check(
            &format!("{MIXED}b\nContent-Transfer-Encoding: {encoding}\n\n«|LS1iCgp4Ci0tYi0t»"),
            "opaque multipart/mixed",
            &[if encoding == "x-foo" {
                Code::BoundaryNotFound
            } else {
                Code::CompositeEncoded
            }],
        );
    }
    check(
        &format!(
            "{MIXED}b\n\n--b\nContent-Type: message/rfc822\nContent-Transfer-Encoding:\n \
             quoted-printable\n\n«1|A: b»\n--b--"
        ),
        "multipart multipart/mixed, 1 opaque message/rfc822",
        &[Code::CompositeEncoded],
    );
    check(
        "Content-Type: message/rfc822\nContent-Transfer-Encoding: x\n\n«|A: b\n\n«1|x»»",
        "message message/rfc822, 1 leaf text/plain",
        &[Code::CompositeEncoded],
    );
}

#[test]
fn signed_and_encrypted_parts_are_reported() {
    check(
        &format!(
            "{MIXED}a\n\n--a\nContent-Type: multipart/signed; boundary=b\n\n--b\n\nx\n--b\n\
             Content-Type: application/pgp-signature\n\ny\n--b--\n--a\n\nz\n--a--"
        ),
        "multipart multipart/mixed, 1 multipart multipart/signed signed, \
         1.1 leaf text/plain signed, 1.2 leaf application/pgp-signature signed, \
         2 leaf text/plain",
        &[],
    );
    check(
        "Content-Type: application/x-pkcs7-mime; name=smime.p7m\n\nx",
        "leaf application/x-pkcs7-mime signed",
        &[],
    );
}

#[test]
fn headings_end_in_several_ways() {
    check("«h|A: b\n C: d\n»\n«|x»", "leaf text/plain", &[]);
    check("«h|A: b\n»«|»", "leaf text/plain", &[]);
    check("«h|A: b»«|»", "leaf text/plain", &[]);
    check("«h|»«|»", "leaf text/plain", &[]);
    check("«h|»\n«|x»", "leaf text/plain", &[]);
    check(
        "«h|From a@b Thu Jan  1 00:00:00 1970\n>From c d\nA: b\n»\n«|x»",
        "leaf text/plain",
        &[],
    );
    // A line that is not a header field begins the body, unless a header field follows.
    check(
        "«h|A: b\n»«|<html>\n<p>\n\nx: y»",
        "leaf text/plain",
        &[Code::SeparatorMissing],
    );
    check(
        "«h|»«| A: b\n\nx»",
        "leaf text/plain",
        &[Code::SeparatorMissing],
    );
    // Before a header field, such a line is a malformed field.
    check(
        "«h|A: b\nodd\n more\nC: d\n»\n«|x»",
        "leaf text/plain",
        &[Code::FieldMalformed],
    );
    check(
        "«h| odd\n: x\nC: d\nna me: e\nf: g\n»\n«|x»",
        "leaf text/plain",
        &[Code::FieldMalformed],
    );
    // A delimiter without an empty line before it.
    check(
        &format!("«h|{MIXED}b\n»«|--b\n\n«1|x»\n--b--»"),
        "multipart multipart/mixed, 1 leaf text/plain",
        &[Code::SeparatorMissing],
    );
    check(
        "Content-Type: text/html\nContent-Type: text/css\n\n«|x»",
        "leaf text/html",
        &[Code::FieldRepeated],
    );
}

#[test]
fn line_ends_may_be_mixed_or_bare_cr() {
    let bodies = |bytes: &[u8]| -> Vec<String> {
        let structure = entities(bytes);
        check_ranges(bytes, &structure);
        let text = |span: Span| String::from_utf8_lossy(&bytes[span.range()]).into_owned();
        structure
            .entities
            .iter()
            .skip(1)
            .map(|entity| text(entity.body))
            .collect()
    };
    let mixed = format!("{MIXED}b\r\n\n--b\n\r\none\r\r\n--b\r\n\ntwo\n\r\n--b--");
    assert_eq!(bodies(mixed.as_bytes()), ["one\r", "two\n"]);
    let old = format!("A: b\n{MIXED}b\n\n--b\n\none\n--b--\n").replace('\n', "\r");
    assert_eq!(bodies(old.as_bytes()), ["one"]);
    // CR CR LF, the result of two conversions to CRLF.
    let twice = format!("{MIXED}b\n\n--b\n\none\n--b--\n").replace('\n', "\r\r\n");
    assert_eq!(bodies(twice.as_bytes()), ["one\r"]);
}

#[test]
fn malformed_content_types_are_tolerated() {
    for (value, expected, parameter, parameter_value) in [
        (
            "text/html; charset=utf-8",
            "text/html",
            "charset",
            Some("utf-8"),
        ),
        (
            "TEXT / HTML ;CHARSET = \"UTF-8\" ",
            "text/html",
            "charset",
            Some("UTF-8"),
        ),
        (
            "text/plain; charset=us-ascii (Plain text)",
            "text/plain",
            "charset",
            Some("us-ascii"),
        ),
        (
            "(a (b) \\) c) text/html (x); charset=(y) a",
            "text/html",
            "charset",
            Some("a"),
        ),
        (
            "text/html charset=utf-8",
            "text/html",
            "charset",
            Some("utf-8"),
        ),
        (
            "text/html;\r\n\tcharset=utf-8;",
            "text/html",
            "charset",
            Some("utf-8"),
        ),
        (
            "text/html; charset=\"utf-8",
            "text/html",
            "charset",
            Some("utf-8"),
        ),
        (
            "text/html; charset=\"utf-8; x=y",
            "text/html",
            "charset",
            Some("utf-8"),
        ),
        (
            "text/html;; x; charset=utf-8",
            "text/html",
            "charset",
            Some("utf-8"),
        ),
        (
            "text/html; charset=a; charset=b",
            "text/html",
            "charset",
            Some("a"),
        ),
        (
            "text/html; charset*0=a; charset*1=b",
            "text/html",
            "charset",
            Some("ab"),
        ),
        (
            "text/html; name*0*=utf-8''caf%C3; name*1*=%A9; name*2=\"!\"",
            "text/html",
            "name",
            Some("café!"),
        ),
        (
            "text/html; name=\"a\\\"b;c\\\\\"",
            "text/html",
            "name",
            Some("a\"b;c\\"),
        ),
        (
            "text/html; name=caf\u{e9}",
            "text/html",
            "name",
            Some("café"),
        ),
        ("text/html; name=a(b", "text/html", "name", Some("a(b")),
        ("text/html; name=a b; x=y", "text/html", "name", Some("a b")),
        ("text/html; name=", "text/html", "name", Some("")),
        ("text/html; name=\";x=y\"", "text/html", "x", None),
        ("text/html (unterminated; name=x", "text/html", "name", None),
    ] {
        let media_type = MediaType::read(value.as_bytes()).unwrap();
        assert_eq!(media_type.to_string(), expected, "{value}");
        assert_eq!(media_type.parameter(parameter), parameter_value, "{value}");
    }
    for invalid in [
        "",
        "text",
        "text/",
        "/html",
        "html; charset=x",
        "text plain",
    ] {
        assert_eq!(MediaType::read(invalid.as_bytes()), None, "{invalid}");
    }
    let read = |value: &[u8]| {
        MediaType::read(value)
            .unwrap()
            .boundary()
            .map(<[u8]>::to_vec)
    };
    assert_eq!(read(b"multipart/x; boundary=\"a \""), Some(b"a".to_vec()));
    assert_eq!(
        read(b"multipart/x; boundary=\"a\r\n b\""),
        Some(b"a b".to_vec())
    );
    assert_eq!(
        read(b"multipart/x; boundary=\xe9\xff"),
        Some(b"\xe9\xff".to_vec())
    );
    assert_eq!(
        read(b"multipart/x; boundary*=us-ascii''a%2Eb"),
        Some(b"a.b".to_vec())
    );
    assert_eq!(read(b"multipart/x; boundary=\" \""), None);
}

#[test]
fn every_spelling_of_a_url_in_a_heading_is_read() {
    for (value, expected) in [
        ("<URL:http://a/b>", "http://a/b"),
        (" < url: http://a/\r\n\t b > ", "http://a/b"),
        ("<http://a/b>", "http://a/b"),
        ("<http://a/b", "http://a/b"),
        ("<URL:>", ""),
        ("http://a/b", "http://a/b"),
        ("http://a/\n  b", "http://a/b"),
        ("\"http://a/ b\"", "http://a/ b"),
        ("\"<URL:http://a/b>\"", "http://a/b"),
        ("\"http://a/b", "http://a/b"),
        ("(see (below)) http://a/b (there)", "http://a/b"),
        ("http://a/b_(c)", "http://a/b_(c)"),
        ("<http://a/> (c)", "http://a/"),
        ("=?utf-8?Q?http=3A//a/=C3=A9?=", "http://a/é"),
        ("=?utf-8?Q?http=3A//a/?=\r\n =?utf-8?B?w6k=?=", "http://a/é"),
        ("<=?utf-8?Q?a?=>", "a"),
        ("=?utf-8?Q?=3CURL=3Aa=3E?=", "a"),
        ("a%2eb/c%20d=?", "a%2eb/c%20d=?"),
        ("(only a comment", ""),
        ("", ""),
    ] {
        assert_eq!(url_of(value.as_bytes()), expected, "{value}");
    }
    assert_eq!(url_of(b"http://a/\xe9"), "http://a/é");
    let message =
        b"content-location : (a) a\r\nBase:\r\n <URL:http://a/>\r\nBase: <b\r\n c>\r\n\r\n";
    let heading = Heading::read(message);
    let mut bases = heading.all_urls(message);
    bases.retain(|found| found.field == UrlField::Base);
    let text = |span: Span| std::str::from_utf8(&message[span.range()]).unwrap();
    assert_eq!(
        bases.iter().map(|base| &*base.url).collect::<Vec<_>>(),
        ["http://a/", "bc"]
    );
    assert_eq!(text(bases[0].span), "Base:\r\n <URL:http://a/>\r\n");
    let location = heading.url(message, UrlField::ContentLocation).unwrap();
    assert_eq!(&*location.url, "a");
    assert_eq!(heading.url(message, UrlField::ContentBase), None);
}

// The corpus, and mailparse.

/// The messages of `fixtures/message`, and real ones if these are present, with their names.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let named = |root: &Path, path: PathBuf| {
        let name = path
            .strip_prefix(root)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        (name, std::fs::read(&path).unwrap())
    };
    let real = outside::MAIL.find().unwrap_or_default();
    let own = Case::all("message", 140).into_iter().map(|case| {
        let name = case.name.strip_prefix("message/").unwrap();
        (
            format!("{name}/input.eml"),
            case.bytes("input.eml").to_vec(),
        )
    });
    own.chain(
        outside::MAIL
            .files(None)
            .into_iter()
            .map(|path| named(&real, path)),
    )
    .collect()
}

fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let mut with = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == b'\n' && (at == 0 || bytes[at - 1] != b'\r') {
            with.push(b'\r');
        }
        with.push(byte);
    }
    with
}

/// Adds the bodies of mailparse's leaves, as ranges of the buffer that begins at `start`.
fn leaves(mail: &mailparse::ParsedMail<'_>, start: usize, found: &mut Vec<Span>) {
    use mailparse::body::Body;
    if mail.subparts.is_empty() {
        let raw = match mail.get_body_encoded() {
            Body::Base64(body) | Body::QuotedPrintable(body) => body.get_raw(),
            Body::SevenBit(body) | Body::EightBit(body) => body.get_raw(),
            Body::Binary(body) => body.get_raw(),
        };
        let at = raw.as_ptr() as usize - start;
        found.push(Span::new(at, at + raw.len()));
    }
    for part in &mail.subparts {
        leaves(part, start, found);
    }
}

/// For each entity, the root of the innermost message that contains it. A root is the whole message or the child of an
/// [`EntityKind::Message`], and is its own owner.
fn owners(structure: &Structure) -> Vec<usize> {
    let mut owners: Vec<usize> = Vec::new();
    for (index, entity) in structure.entities.iter().enumerate() {
        let parent = entity
            .parent
            .filter(|&parent| structure.entities[parent].kind != EntityKind::Message);
        owners.push(parent.map_or(index, |parent| owners[parent]));
    }
    owners
}

/// True for the name of a header field (RFC 5322, 2.2 and 4.5). mailparse also takes a line without a colon for a name.
fn is_name(raw: &[u8]) -> bool {
    let name = raw.trim_ascii_end();
    !name.is_empty() && name.iter().all(u8::is_ascii_graphic)
}

/// Compares the fields and bodies of the message `root` with mailparse, which does not look into nested messages.
fn difference(
    bytes: &[u8],
    structure: &Structure,
    owners: &[usize],
    root: usize,
) -> Option<String> {
    let span = structure.entities[root].span();
    let slice = &bytes[span.range()];
    let mail = match mailparse::parse_mail(slice) {
        Ok(mail) => mail,
        Err(error) => return Some(format!("mailparse fails: {error}")),
    };
    let mut theirs = Vec::new();
    leaves(&mail, slice.as_ptr() as usize, &mut theirs);
    let owned = || (root..owners.len()).filter(|&index| owners[index] == root);
    let mut parents: Vec<usize> = owned()
        .filter_map(|index| structure.entities[index].parent)
        .collect();
    parents.sort_unstable();
    let ours: Vec<Span> = owned()
        .filter_map(|index| match structure.entities[index].kind {
            EntityKind::Multipart if parents.binary_search(&index).is_ok() => None,
            EntityKind::Multipart => Some(margins(bytes, structure, index, &[]).0),
            _ => Some(structure.entities[index].body),
        })
        .map(|body| Span::new(body.start - span.start, body.end - span.start))
        .collect();
    if ours.len() != theirs.len() {
        return Some(format!(
            "{} leaves, mailparse has {}",
            ours.len(),
            theirs.len()
        ));
    }
    let same = |(a, b): (&Span, &Span)| a == b || (a.is_empty() && b.is_empty());
    if let Some(at) = ours.iter().zip(&theirs).position(|pair| !same(pair)) {
        return Some(format!(
            "leaf {} is {:?}, mailparse has {:?}",
            at + 1,
            ours[at],
            theirs[at]
        ));
    }
    let fields = &structure.entities[root].heading.fields;
    let names = |names: Vec<&[u8]>| -> Vec<String> {
        names
            .into_iter()
            .map(|name| String::from_utf8_lossy(name).trim().to_owned())
            .collect()
    };
    let ours = names(
        fields
            .iter()
            .map(|field| &bytes[field.name.range()])
            .collect(),
    );
    // mailparse takes every line for a header field, even the envelope line of an mbox.
    let kept: Vec<_> = mail
        .headers
        .iter()
        .filter(|field| is_name(field.get_key_raw()))
        .collect();
    let theirs = names(kept.iter().map(|field| field.get_key_raw()).collect());
    if ours != theirs {
        return Some(format!("header fields {ours:?}, mailparse has {theirs:?}"));
    }
    for (field, theirs) in fields.iter().zip(kept) {
        if field.value.len() <= 4096 && field.text(bytes).trim() != theirs.get_value().trim() {
            return Some(format!("another value of {}", theirs.get_key()));
        }
    }
    None
}

#[test]
fn messages_have_the_structure_that_mailparse_finds() {
    let listed = include_str!("../../fixtures/message/mailparse-disagreements");
    let known: BTreeMap<&str, &str> = listed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    let corpus = corpus();
    let mut wrong = Vec::new();
    let mut occurrences = 0;
    for (name, bytes) in &corpus {
        for (bytes, form) in [(bytes.clone(), ""), (with_crlf(bytes), "CRLF ")] {
            let structure = entities(&bytes);
            check_ranges(&bytes, &structure);
            let owners = owners(&structure);
            let differs = (0..owners.len())
                .filter(|&index| owners[index] == index)
                .find_map(|index| Some((index, difference(&bytes, &structure, &owners, index)?)));
            match (differs, known.get(name.as_str())) {
                (None, None) => {}
                (Some(_), Some(_)) => occurrences += usize::from(form.is_empty()),
                // The list is about the original form. In a file with both bare CR and LF, the conversion to CRLF may
                // remove the difference.
                (None, Some(_)) if !form.is_empty() => {}
                (None, Some(reason)) => wrong.push(format!("{name}\tno longer differs ({reason})")),
                (Some((index, difference)), None) => {
                    let entity = &structure.entities[index].name;
                    wrong.push(format!("{name}\t{form}{entity:?}: {difference}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    // Without the real messages, their rows do not occur.
    let is_here = |name: &&str| corpus.iter().any(|(present, _)| present == name);
    assert_eq!(
        occurrences,
        known.keys().filter(|name| is_here(name)).count()
    );
    assert!(outside::MAIL.find().is_none() || occurrences == known.len());
}

#[test]
fn any_bytes_can_be_read_as_a_message() {
    for (_, bytes) in corpus() {
        // Truncated at several places, or with a changed byte.
        for step in 1..40 {
            let at = bytes.len() * step / 40;
            check_ranges(&bytes[..at], &entities(&bytes[..at]));
            let mut changed = bytes.clone();
            if let Some(byte) = changed.get_mut(at) {
                *byte = b"\n\r-:\0\"( "[step % 8];
            }
            check_ranges(&changed, &entities(&changed));
        }
    }
}

// Generated messages.

/// A generated entity.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Leaf(String),
    Message(Box<Tree>),
    Multipart {
        preamble: Option<String>,
        parts: Vec<Tree>,
        epilogue: Option<String>,
    },
}

fn trees() -> impl Strategy<Value = Tree> {
    // Lines that resemble delimiters or header fields, and empty lines.
    let text = prop::collection::vec(
        prop::sample::select(vec![
            "", "x", "--", "--b", "-- b0", "--b0-", "--b1x", "A: b", " c", "\0", ".",
        ]),
        0..5,
    )
    .prop_map(|lines| lines.join("\n"));
    let leaf = text.clone().prop_map(Tree::Leaf);
    leaf.prop_recursive(6, 40, 4, move |inner| {
        let text = prop::option::of(text.clone());
        prop_oneof![
            inner
                .clone()
                .prop_map(|message| Tree::Message(Box::new(message))),
            (text.clone(), prop::collection::vec(inner, 1..4), text).prop_map(
                |(preamble, parts, epilogue)| Tree::Multipart {
                    preamble,
                    parts,
                    epilogue
                }
            ),
        ]
    })
}

/// Writes `tree`. The boundaries are numbered, so `b1` is a prefix of `b10`.
fn serialise(tree: &Tree, boundaries: &mut usize, out: &mut String) {
    match tree {
        Tree::Leaf(text) => {
            out.push_str("Content-Type: text/plain\n\n");
            out.push_str(text);
        }
        Tree::Message(inner) => {
            out.push_str("Content-Type: (x) message/RFC822\n\n");
            serialise(inner, boundaries, out);
        }
        Tree::Multipart {
            preamble,
            parts,
            epilogue,
        } => {
            let boundary = format!("\u{b7}b{boundaries}");
            *boundaries += 1;
            out.push_str(&format!(
                "Content-Type: multipart/x;\n boundary=\"{boundary}\"\n\n"
            ));
            if let Some(preamble) = preamble {
                out.push_str(preamble);
                out.push('\n');
            }
            for part in parts {
                out.push_str(&format!("--{boundary} \n"));
                serialise(part, boundaries, out);
                out.push('\n');
            }
            out.push_str(&format!("--{boundary}--"));
            if let Some(epilogue) = epilogue {
                out.push('\n');
                out.push_str(epilogue);
            }
        }
    }
}

/// The tree of the parsed entities, with LF line ends.
fn read_back(bytes: &[u8], structure: &Structure, index: usize) -> Tree {
    let text = |span: Span| String::from_utf8_lossy(&bytes[span.range()]).replace("\r\n", "\n");
    let children = || {
        (0..structure.entities.len())
            .filter(|&child| structure.entities[child].parent == Some(index))
    };
    match structure.entities[index].kind {
        EntityKind::Leaf => Tree::Leaf(text(structure.entities[index].body)),
        EntityKind::Message => Tree::Message(Box::new(read_back(
            bytes,
            structure,
            children().next().unwrap(),
        ))),
        EntityKind::Multipart => {
            let entity = &structure.entities[index];
            let parts = parts_of(structure, index);
            let (preamble, epilogue) = margins(bytes, structure, index, &parts);
            let epilogue = epilogue.unwrap();
            // An empty preamble has a line end before the delimiter, an absent preamble has none.
            let before = Span::new(entity.body.start, parts[0].start);
            let delimiter = text(before);
            let is_absent = delimiter.starts_with("--\u{b7}b") && preamble.is_empty();
            let has_epilogue = epilogue.start > 0 && bytes[epilogue.start - 1] == b'\n';
            Tree::Multipart {
                preamble: (!is_absent).then(|| text(preamble)),
                parts: children()
                    .map(|child| read_back(bytes, structure, child))
                    .collect(),
                epilogue: has_epilogue.then(|| text(epilogue)),
            }
        }
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_parsed_tree_is_the_written_tree(tree in trees()) {
        let mut text = String::new();
        serialise(&tree, &mut 0, &mut text);
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let structure = entities(text.as_bytes());
            check_ranges(text.as_bytes(), &structure);
            prop_assert_eq!(&structure.diagnostics, &[]);
            prop_assert_eq!(&read_back(text.as_bytes(), &structure, 0), &tree);
        }
    }

    #[test]
    fn combined_traps_are_read_as_a_message(pieces in prop::collection::vec(prop::sample::select(vec![
        "\n", "\r\n", "\r", "\n\n", " ", "--b", "--b--", "--bb", "--", "--b \n", "\0", "(", "\"", "\\", "\u{e9}",
        "Content-Type: multipart/mixed; boundary=b\n", "Content-Type: multipart/digest; boundary=bb\n",
        "Content-Type: message/rfc822\n", "Content-Type", " : ", "Base: <URL:", "=?utf-8?Q?", "?=", "=?x?B?=",
        "Content-Transfer-Encoding: base64\n", ";", "boundary*0*=utf-8''%", "boundary*1=", "From a\n", "A: b\n",
    ]), 0..40)) {
        let text = pieces.concat();
        let structure = entities(text.as_bytes());
        check_ranges(text.as_bytes(), &structure);
        for entity in &structure.entities {
            let _ = entity.heading.all_urls(text.as_bytes());
            for field in &entity.heading.fields {
                let _ = field.text(text.as_bytes());
            }
        }
        let _ = url_of(text.as_bytes());
    }

    #[test]
    fn parameters_never_fail(pieces in prop::collection::vec(prop::sample::select(vec![
        "*", "0", "1", "*0", "*0*", "=", ";", "'", "''", "utf-8''", "%", "%C3", "a", "\"", "\\", "(", ")", " ", ",",
        "\u{e9}", "\u{130}", "99999999999999999999", "x/y;", "big5'x'",
    ]), 0..30)) {
        let value = format!("a/b;{}", pieces.concat());
        if let Some(media_type) = MediaType::read(value.as_bytes()) {
            let _ = media_type.boundary();
        }
        let _ = TransferEncoding::from_field(value.as_bytes());
    }
}

// Hostile messages. If the time grew faster than the input, these tests would not finish.

#[test]
fn ten_thousand_nested_multiparts() {
    for boundary in [
        |depth: usize| format!("b{depth}"),
        |_| "b".to_owned(),
        |depth| "-".repeat(depth % 100) + "b",
    ] {
        let mut message = String::new();
        for depth in 0..10_000 {
            let boundary = boundary(depth);
            message.push_str(&format!("{MIXED}{boundary}\n\n--{boundary}\n"));
        }
        message.push_str("\nx");
        let open = entities(message.as_bytes());
        assert_eq!(open.entities.len(), 10_001);
        let parent = |&index: &usize| open.entities[index].parent;
        let outward = std::iter::successors(Some(10_000), parent);
        assert_eq!(outward.count(), 10_001);
        assert_eq!(
            &*open.entities[64].name,
            "1.".repeat(64).trim_end_matches('.')
        );
        assert_eq!(&*open.entities[65].name, "#65");
        for depth in (0..10_000).rev() {
            message.push_str(&format!("\n--{}--", boundary(depth)));
        }
        let closed = entities(message.as_bytes());
        check_ranges(message.as_bytes(), &closed);
        assert_eq!(closed.entities.len(), 10_001);
    }
}

#[test]
fn thousands_of_open_boundaries_and_lines_of_dashes() {
    let mut message = String::new();
    for depth in 0..5_000 {
        message.push_str(&format!("{MIXED}b{depth}\n\n--b{depth}\n"));
    }
    message.push_str(&format!("\n{}", "--b\n--x\n-----\n".repeat(300_000)));
    message.push_str(&"-".repeat(2_000_000));
    assert_eq!(entities(message.as_bytes()).entities.len(), 5_001);
}

#[test]
fn ten_thousand_nested_messages() {
    let message = "Content-Type: message/rfc822\n\n".repeat(10_000) + "x";
    let structure = entities(message.as_bytes());
    check_ranges(message.as_bytes(), &structure);
    assert_eq!(structure.entities.len(), 10_001);
    // Missing empty lines, and a line that is not a header field.
    for odd in ["", "x\n", "--x\n"] {
        let message = format!("Content-Type: message/rfc822\n{odd}").repeat(10_000);
        check_ranges(message.as_bytes(), &entities(message.as_bytes()));
    }
}

#[test]
fn a_million_parts() {
    let parts = |part: &str, number: usize| {
        format!(
            "{MIXED}b\n\n{}--b--",
            format!("--b\n{part}\nx\n").repeat(number)
        )
    };
    // One part for each 512 bytes, and at least 16,384, are read.
    let structure = entities(parts("", 1_000_000).as_bytes());
    assert_eq!(structure.entities.len(), 16_385);
    assert_eq!(&*structure.entities[16_384].name, "16384");
    assert_eq!(structure.diagnostics[0].code, Code::TooDeep);
    let padded = format!("X: {}\n", " ".repeat(520));
    let structure = entities(parts(&padded, 20_000).as_bytes());
    assert_eq!(structure.entities.len(), 20_001);
    assert!(structure.diagnostics.is_empty());
}

#[test]
fn long_boundaries_and_fields() {
    let boundary = "-".repeat(100_000);
    let message = format!(
        "{MIXED}\"{boundary}\"\n\n--{boundary}\n\nx\n{}\n--{boundary}--\n",
        "-".repeat(1_000_000)
    );
    let structure = entities(message.as_bytes());
    assert_eq!(structure.entities.len(), 2);
    assert_eq!(structure.diagnostics[0].code, Code::FieldTooLong);
    // Each line lacks two dashes of the delimiter.
    let near = format!("--{}\n", "-".repeat(99_998)).repeat(50);
    let message = format!("{MIXED}\"{boundary}\"\n\n--{boundary}\n\n{near}--{boundary}--\n");
    assert_eq!(entities(message.as_bytes()).entities.len(), 2);
    for value in [
        "x".repeat(1_000_000),
        " =?".repeat(300_000),
        "=?utf-8?Q?x?= ".repeat(80_000),
        "(".repeat(1_000_000),
        "text/html; a=\"b\\".repeat(60_000),
        "text/html; a*1*=b; a*0".repeat(40_000),
        "text/html".to_owned()
            + &(0..60_000)
                .map(|n| format!(";a*{n}*=b"))
                .collect::<String>(),
        "<URL:\n ".repeat(100_000),
    ] {
        let message = format!("Content-Type: {value}\nBase: {value}\n\nx");
        let structure = entities(message.as_bytes());
        let heading = &structure.entities[0].heading;
        heading.url(message.as_bytes(), UrlField::Base).unwrap();
        let _ = heading.fields[1].text(message.as_bytes());
    }
    for lines in ["\n ", "a:\n", "x\n", "--\n", "\r", "-", ":"] {
        check_ranges_of(&lines.repeat(400_000));
    }
}

fn check_ranges_of(text: &str) {
    check_ranges(text.as_bytes(), &entities(text.as_bytes()));
}
