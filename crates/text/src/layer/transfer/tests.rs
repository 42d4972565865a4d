//! Tests of transfer encodings (RFC 2045, 6.7 and 6.8): bodies with their decoded form, and edits of the decoded
//! bytes with the expected encoded text.
//!
//! ```text
//! a=3D=        "a=b", with "x" inserted after the "="      a=3Dx=
//! b                                                        b
//! ```
//!
//! Deliberately absent: whole messages, which `tests/messages/entities.rs` and `tests/messages/laws.rs` test.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::{
    TransferEncoding::{Base64, Binary, QuotedPrintable, SevenBit, Unknown},
    base64::encode,
    encoded::{WIDTH, line_end_length},
    quoted_printable::is_structure,
    *,
};

/// Text before and after the body in every test, which must be neither read nor changed.
const BEFORE: &[u8] = b"=3D TQ==";
const AFTER: &[u8] = b"=3D TQ==";

fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|byte| {
            if *byte == b'\n' {
                &b"\r\n"[..]
            } else {
                std::slice::from_ref(byte)
            }
        })
        .copied()
        .collect()
}

/// A buffer with `raw` as the body, and the span of the body.
fn buffer(raw: &[u8]) -> (Vec<u8>, Span) {
    let body = Span::new(BEFORE.len(), BEFORE.len() + raw.len());
    ([BEFORE, raw, AFTER].concat(), body)
}

fn decode(encoding: TransferEncoding, raw: &[u8]) -> Result<Vec<u8>, Obstacle> {
    let (buffer, body) = buffer(raw);
    Ok(encoding.decode(&buffer, body)?.bytes.into_owned())
}

/// The body after `edits` of its decoded bytes. Checks that the new body decodes to the edited bytes.
fn rewritten(encoding: TransferEncoding, raw: &[u8], edits: &Edits) -> Result<Vec<u8>, Obstacle> {
    let (buffer, body) = buffer(raw);
    let decoded = encoding.decode(&buffer, body)?;
    let new = decoded.lift(edits)?.apply(&buffer);
    assert!(new.starts_with(BEFORE) && new.ends_with(AFTER));
    let new = new[BEFORE.len()..new.len() - AFTER.len()].to_vec();
    let again = decode(encoding, &new)?;
    let wanted = edits.apply(&decoded.bytes);
    assert_eq!(
        again.escape_ascii().to_string(),
        wanted.escape_ascii().to_string()
    );
    Ok(new)
}

fn edits(list: impl IntoIterator<Item = (Span, Vec<u8>)>) -> Edits {
    let mut edits = Edits::default();
    for (span, new) in list {
        edits.push(span, new).unwrap();
    }
    edits
}

/// The body after replacing the first `old` in its decoded bytes by `new`.
fn replaced(
    encoding: TransferEncoding,
    raw: &[u8],
    old: &str,
    new: &str,
) -> Result<Vec<u8>, Obstacle> {
    let start = memchr::memmem::find(&decode(encoding, raw)?, old.as_bytes()).unwrap();
    let span = Span::new(start, start + old.len());
    rewritten(encoding, raw, &edits([(span, new.as_bytes().to_vec())]))
}

#[track_caller]
fn same(found: &[u8], wanted: &[u8], raw: &[u8]) {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    assert_eq!(text(found), text(wanted), "of {}", text(raw));
}

#[test]
fn fields_are_read_tolerantly() {
    for (field, encoding) in [
        (&b" base64"[..], Base64),
        (b"BASE64 ", Base64),
        (b"\r\n base64\r\n", Base64),
        (b"(a (nested \\) comment)) base64 (x)", Base64),
        (b"base64;", Base64),
        (b"base64; charset=utf-8", Base64),
        (b"\"base64\"", Base64),
        (b"base64 (unterminated", Base64),
        (b"base64base64", Unknown),
        (b"Quoted-Printable", QuotedPrintable),
        (b"quoted-printable;", QuotedPrintable),
        (b"quoted printable", Unknown),
        (b"7bit", SevenBit),
        (b"7-bit", SevenBit),
        (b"", SevenBit),
        (b" (nothing) ", SevenBit),
        (b"8BIT", Binary),
        (b"8 bit", Binary),
        (b"8bits", Binary),
        (b"Binary", Binary),
        (b"x-uuencode", Unknown),
        (b"text/html", Unknown),
        (b"\\", SevenBit),
        (b")base64", Base64),
        (b"\xff", Unknown),
    ] {
        let shown = String::from_utf8_lossy(field);
        assert_eq!(TransferEncoding::from_field(field), encoding, "{shown}");
    }
}

#[test]
fn quoted_printable_is_decoded_by_its_rules() {
    for (raw, decoded) in [
        (&b""[..], &b""[..]),
        (b"plain", b"plain"),
        // (1) general 8-bit representation
        (b"a=3Db", b"a=b"),
        (b"=41=42", b"AB"),
        (b"=3d=e9", b"=\xe9"),
        (b"=c3=A9", b"\xc3\xa9"),
        (b"=00", b"\0"),
        (b"=3D3D", b"=3D"),
        (b"=3D=3D", b"=="),
        (b"=0D=0A", b"\x0d\x0a"),
        // A `=` without two digits represents itself.
        (b"=", b""),
        (b"==", b"="),
        (b"=4", b"=4"),
        (b"=G1", b"=G1"),
        (b"=1G", b"=1G"),
        (b"==3D", b"=="),
        (b"=4=31", b"=41"),
        (b"a = b", b"a = b"),
        (b"?a=b&c=d", b"?a=b&c=d"),
        (b"= x", b"= x"),
        (b"=\t\0", b"=\t\0"),
        (b"===\n=", b"=="),
        // (2) literal representation, and bytes that are not printable
        (b"caf\xe9", b"caf\xe9"),
        (b"\0\x7f\x1b", b"\0\x7f\x1b"),
        // (3) white space
        (b"a b\tc", b"a b\tc"),
        (b"a \nb", b"a\nb"),
        (b"a\t \t\nb", b"a\nb"),
        (b"a=20\nb", b"a \nb"),
        (b"a=20 \nb", b"a \nb"),
        (b"a ", b"a"),
        (b"a \t", b"a"),
        (b"   ", b""),
        (b" \n \n", b"\n\n"),
        (b" a", b" a"),
        (b"a =3D", b"a ="),
        // (4) line breaks
        (b"a\nb\n", b"a\nb\n"),
        (b"\n\n", b"\n\n"),
        (b"a\rb", b"a\rb"),
        (b"a \rb", b"a\rb"),
        // (5) soft line breaks
        (b"a=\nb", b"ab"),
        (b"a =\n b", b"a  b"),
        (b"a= \nb", b"ab"),
        (b"a=\t \t\nb", b"ab"),
        (b"a=\n\nb", b"a\nb"),
        (b"a=\n=\n=\nb", b"ab"),
        (b"=3D=\n=3D", b"=="),
        (b"=\n", b""),
        (b"a=", b"a"),
        (b"a= ", b"a"),
        (b"a=\rb", b"ab"),
        (b"=3=\nD", b"=3D"),
        (b"a =\n \nb", b"a \nb"),
        (
            b"now's the time =\nfor all folk to come=\n to the aid of their country.",
            b"now's the time for all folk to come to the aid of their country.",
        ),
    ] {
        same(&decode(QuotedPrintable, raw).unwrap(), decoded, raw);
        let (raw, decoded) = (
            with_crlf(raw),
            if raw == b"=0D=0A" {
                decoded.to_vec()
            } else {
                with_crlf(decoded)
            },
        );
        same(&decode(QuotedPrintable, &raw).unwrap(), &decoded, &raw);
    }
    let long = vec![b'x'; 1000];
    same(&decode(QuotedPrintable, &long).unwrap(), &long, &long);
}

#[test]
fn places_lead_from_decoded_bytes_to_raw_ones() {
    let raw = b"a=3D=\nbc  \nd";
    let (buffer, body) = buffer(raw);
    let decoded = QuotedPrintable.decode(&buffer, body).unwrap();
    assert_eq!(&*decoded.bytes, b"a=bc\nd");
    for (start, end, found) in [
        (0, 1, "a"),
        (1, 2, "=3D"),
        (0, 2, "a=3D"),
        (1, 3, "=3D=\nb"),
        (2, 4, "bc"),
        (2, 2, ""),
        (3, 5, "c  \n"),
        (4, 5, "\n"),
        (5, 6, "d"),
        (6, 6, ""),
        (6, 9, ""),
    ] {
        let place = decoded.covering(Span::new(start, end));
        same(&buffer[place.range()], found.as_bytes(), raw);
    }
    // The place of an insertion is after the soft break, on the line of the next byte.
    assert_eq!(decoded.covering(Span::at(2)).start, BEFORE.len() + 6);

    let raw = b"TWFu\nTWE=\n";
    let (buffer, body) = super::tests::buffer(raw);
    let decoded = Base64.decode(&buffer, body).unwrap();
    for (start, end, found) in [
        (0, 1, "TWFu"),
        (0, 3, "TWFu"),
        (1, 1, "TWFu"),
        (2, 4, "TWFu\nTWE="),
        (3, 4, "TWE="),
        (3, 3, ""),
        (3, 5, "TWE="),
        (5, 9, "TWE="),
    ] {
        let place = decoded.covering(Span::new(start, end));
        same(&buffer[place.range()], found.as_bytes(), raw);
    }
    assert_eq!(decoded.covering(Span::at(3)).start, BEFORE.len() + 5);
}

#[test]
fn touched_lines_of_quoted_printable_are_encoded_again() {
    let x = |count: usize| "x".repeat(count);
    for (raw, old, new, wanted) in [
        ("a b c", "b", "d", "a d c".to_owned()),
        ("a b c", "b", "", "a  c".to_owned()),
        ("ab", "", "x", "xab".to_owned()),
        ("", "", "x", "x".to_owned()),
        // Unnecessary escapes outside of the edit are kept.
        ("=61 b =63", "b", "d", "=61 d =63".to_owned()),
        ("caf=e9 b \u{e9}", "b", "d", "caf=e9 d \u{e9}".to_owned()),
        // (1) bytes that must be encoded
        ("a", "a", "b=c", "b=3Dc".to_owned()),
        ("a", "a", "\u{e9}\0\u{7f}", "=C3=A9=00=7F".to_owned()),
        ("a=3Db", "=", "b", "abb".to_owned()),
        // (3) white space at the end of a line
        ("a b\nc", "b", "b ", "a b=20\nc".to_owned()),
        ("a b\nc", "b", "", "a=20\nc".to_owned()),
        ("a \tb\nc", "b", "", "a =09\nc".to_owned()),
        ("a b", "b", "", "a=20".to_owned()),
        ("a b  \nc", "b", "", "a=20  \nc".to_owned()),
        ("a b  \nc", "b", "d", "a d  \nc".to_owned()),
        ("a b  ", "b", "b ", "a b=20  ".to_owned()),
        ("a b=\nc", "b", "", "a =\nc".to_owned()),
        // (5) soft breaks: removed within a replaced part, kept around it
        ("a=\nbc", "abc", "d", "d".to_owned()),
        ("a=\nb=\nc", "b", "d", "a=\nd=\nc".to_owned()),
        ("a=\nb=\nc", "bc", "d", "a=\nd".to_owned()),
        ("a=\nb=\nc", "ab", "d", "d=\nc".to_owned()),
        ("1=\na=\nb=\nc=\n2", "abc", "d", "1=\nd=\n2".to_owned()),
        ("a= \t\nb", "a", "d", "d= \t\nb".to_owned()),
        ("a=", "a", "d", "d=".to_owned()),
        ("a=\n", "a", "d", "d=\n".to_owned()),
        // Lines that no edit touches are kept, whatever their content.
        (
            "From =41\na\nFrom =41  \n",
            "a",
            "b",
            "From =41\nb\nFrom =41  \n".to_owned(),
        ),
        // Joined lines.
        ("a\nb\nc\n", "a\n", "a", "ab\nc\n".to_owned()),
        ("a  \nb\n", "\n", "", "ab\n".to_owned()),
        ("a \nb=\nc", "\n", "", "ab=\nc".to_owned()),
        ("a\n\n", "\n", "b", "ab\n".to_owned()),
        ("a\n", "a\n", "", String::new()),
        // Literal `=` before new text.
        ("a=gb", "g", "41", "a=3D41b".to_owned()),
        ("a=4g", "g", "1", "a=3D41".to_owned()),
        ("a=g\nb", "g", "", "a=3D\nb".to_owned()),
        ("a= g\nb", "g", "", "a=3D=20\nb".to_owned()),
        ("a==g", "g", "", "a==3D".to_owned()),
        ("a=gbc", "c", "d", "a=gbd".to_owned()),
        // Lines with a special meaning to a message or mailbox.
        ("a\nb c\n", "b", "From", "a\n=46rom c\n".to_owned()),
        ("a\nb c\n", "b", ">>From", "a\n=3E>From c\n".to_owned()),
        ("a\nFrom c\n", "c", "d", "a\nFrom d\n".to_owned()),
        ("a\nFromc\n", "c", "d", "a\nFromd\n".to_owned()),
        ("a\nb c\n", "b c", "--b", "a\n=2D-b\n".to_owned()),
        ("a\nb c\n", "b c", ".", "a\n=2E\n".to_owned()),
        ("a\nb c\n", "b c", ".c", "a\n.c\n".to_owned()),
    ] {
        same(
            &replaced(QuotedPrintable, raw.as_bytes(), old, new).unwrap(),
            wanted.as_bytes(),
            raw.as_bytes(),
        );
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let (raw, old, wanted) = (crlf(raw), crlf(old), crlf(&wanted));
        same(
            &replaced(QuotedPrintable, raw.as_bytes(), &old, new).unwrap(),
            wanted.as_bytes(),
            raw.as_bytes(),
        );
    }
    // At most 76 columns, including `=`, and no split escapes.
    for (raw, old, new, wanted) in [
        (
            format!("a{}\n", x(75)),
            "a",
            "bb",
            format!("bb{}=\n{}\n", x(73), x(2)),
        ),
        (format!("a{}\n", x(74)), "a", "bb", format!("bb{}\n", x(74))),
        (
            format!("a{}\n", x(74)),
            "a",
            "=",
            format!("=3D{}=\n{}\n", x(72), x(2)),
        ),
        (
            format!("a{}=\ny", x(73)),
            "a",
            "bb",
            format!("bb{}=\ny", x(73)),
        ),
        (
            format!("a{}=\ny", x(74)),
            "a",
            "bb",
            format!("bb{}=\n{}=\ny", x(73), x(1)),
        ),
        (
            format!("a{}=\ny", x(73)),
            "y",
            "b",
            format!("a{}=\nb", x(73)),
        ),
        (
            format!("a{}=3D\n", x(73)),
            "a",
            "aa",
            format!("aa{}=\n=3D\n", x(73)),
        ),
        (
            format!("a{}=3D\n", x(71)),
            "a",
            "aaa",
            format!("aaa{}=\n=3D\n", x(71)),
        ),
        (
            format!("a{}  \n", x(73)),
            "a",
            "aa",
            format!("aa{}\n", x(73)),
        ),
        (
            format!("a{}= \n", x(73)),
            "a",
            "aa",
            format!("aa{}=\n", x(73)),
        ),
        (
            format!("a{}\n{}\n", x(75), x(90)),
            "a",
            "bb",
            format!("bb{}=\n{}\n{}\n", x(73), x(2), x(90)),
        ),
        (
            format!("a{}\n", x(160)),
            "a",
            "b",
            format!("b{}=\n{}=\n{}\n", x(74), x(75), x(11)),
        ),
        (
            format!("a{}From b\n", x(73)),
            "a",
            "aa",
            format!("aa{}=\n=46rom b\n", x(73)),
        ),
        (
            format!("a{}--b\n", x(73)),
            "a",
            "aa",
            format!("aa{}=\n=2D-b\n", x(73)),
        ),
    ] {
        same(
            &replaced(QuotedPrintable, raw.as_bytes(), old, new).unwrap(),
            wanted.as_bytes(),
            raw.as_bytes(),
        );
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let (raw, wanted) = (crlf(&raw), crlf(&wanted));
        same(
            &replaced(QuotedPrintable, raw.as_bytes(), old, new).unwrap(),
            wanted.as_bytes(),
            raw.as_bytes(),
        );
    }
}
#[test]
fn soft_breaks_use_the_line_end_of_the_body() {
    let long = "y".repeat(80);
    for (before, raw, line_end) in [
        ("", "x", "\r\n"),
        ("A: b\n\n", "x", "\n"),
        ("A: b\r\n\r\n", "x", "\r\n"),
        ("A: b\r\n\r\n", "x\n", "\n"),
        ("A: b\n\n", "x\r\n\n", "\r\n"),
        ("A: b\r\n\r\n", "x\r", "\r\n"),
        ("", "x\r", "\r"),
    ] {
        let buffer = [before, raw].concat();
        let body = Span::new(before.len(), buffer.len());
        let decoded = QuotedPrintable.decode(buffer.as_bytes(), body).unwrap();
        let edits = edits([(Span::at(0), long.clone().into_bytes())]);
        let new = decoded.lift(&edits).unwrap().apply(buffer.as_bytes());
        let wanted = format!("{before}{}={line_end}{}{raw}", &long[..75], &long[75..]);
        same(&new, wanted.as_bytes(), buffer.as_bytes());
    }
}

#[test]
fn a_soft_break_that_ends_in_cr_leaves_the_next_lf() {
    same(
        &replaced(QuotedPrintable, b"a=\rb\nc", "b", "").unwrap(),
        b"a=\r=0A=\nc",
        b"",
    );
    same(
        &replaced(QuotedPrintable, b"a=\rb\n\nc", "b\n", "").unwrap(),
        b"a=\r=0A=\nc",
        b"",
    );
    same(
        &replaced(QuotedPrintable, b"a\rb\nc", "b", "").unwrap(),
        b"a\r\nc",
        b"",
    );
}

#[test]
fn base64_ends_at_its_padding() {
    const FOREIGN: &str = "its base64 contains an invalid character";
    for (raw, wanted, ignored) in [
        ("", Ok(""), ""),
        ("\n", Ok(""), ""),
        ("TWFu", Ok("Man"), ""),
        ("TWFuTQ==", Ok("ManM"), ""),
        ("TWE=", Ok("Ma"), ""),
        ("TWE=\n", Ok("Ma"), ""),
        ("TWFu\nTWFu\n\n", Ok("ManMan"), ""),
        // White space anywhere.
        ("T W\tF\nu", Ok("Man"), ""),
        ("\n\n TWFu \n", Ok("Man"), ""),
        ("TWFuT\nWFu", Ok("ManMan"), ""),
        ("TQ=\n=\n", Ok("M"), ""),
        ("TQ\n==\n", Ok("M"), ""),
        // Missing or excess padding.
        ("TWE", Ok("Ma"), ""),
        ("TQ\n", Ok("M"), ""),
        ("TQ=", Ok("M"), ""),
        ("TWFu=", Ok("Man"), "="),
        ("TWE==\n", Ok("Ma"), "="),
        ("====", Ok(""), "===="),
        // Unused bits that are not zero.
        ("TR==", Ok("M"), ""),
        ("TWF=", Ok("Ma"), ""),
        // A single character in the last group: only six bits.
        ("TWFuT", Ok("Man"), "T"),
        ("TWFu\nT\n", Ok("Man"), "T"),
        ("T", Ok(""), "T"),
        ("T===", Ok(""), "T==="),
        // Text after the padding.
        ("TQ==\nTWE=\n", Ok("M"), "TWE="),
        ("TQ==\n-- \nA list\n", Ok("M"), "-- \nA list"),
        // Foreign characters.
        ("TWFu\n_", Err(5), ""),
        ("TW-u", Err(2), ""),
        ("TWFu\u{e9}", Err(4), ""),
        ("\0", Err(0), ""),
        ("TWFu\n--\nA list\n", Err(5), ""),
    ] {
        for raw in [raw.to_owned(), raw.replace('\n', "\r\n")] {
            let (buffer, body) = buffer(raw.as_bytes());
            match (Base64.decode(&buffer, body), wanted) {
                (Ok(decoded), Ok(bytes)) => {
                    same(&decoded.bytes, bytes.as_bytes(), raw.as_bytes());
                    let found = decoded
                        .remarks
                        .first()
                        .map_or(Span::at(0), |found| found.span);
                    let found = String::from_utf8_lossy(&buffer[found.range()]);
                    assert_eq!(found.replace("\r\n", "\n"), ignored, "of {raw:?}");
                }
                (Err(obstacle), Err(at)) => {
                    assert_eq!(obstacle.reason, FOREIGN, "of {raw:?}");
                    let before = raw[..obstacle.at - BEFORE.len()].replace("\r\n", "\n");
                    assert_eq!(before.len(), at, "of {raw:?}");
                }
                (found, _) => unreachable!("{raw:?} is {found:?}"),
            }
        }
    }
    let (buffer, body) = buffer(b"a");
    assert!(Unknown.decode(&buffer, body).is_err());
}

#[test]
fn base64_is_encoded_again_from_the_group_of_the_edit() {
    const AGAIN: &str = "encoding it again would give different base64";
    const ENDS_EARLY: &str = "its base64 ends before the body does";
    for (raw, old, new, wanted) in [
        ("TWFu", "a", "o", Ok("TW9u")),
        ("TWFu", "an", "", Ok("TQ==")),
        ("TWFu", "Man", "", Ok("")),
        ("TQ==\n", "M", "Man", Ok("TWFu\n")),
        ("", "", "Man", Ok("TWFu")),
        ("\n", "", "Man", Ok("TWFu\n")),
        ("TWFu\n", "n", "nM", Ok("TWFuTQ==\n")),
        // Width, line end and tail are kept; the last line may fill up.
        ("TWFu\nTWE=\n", "Ma", "MaM", Ok("TWFN\nbk1h\n")),
        ("TWFu\nTWFu", "nM", "", Ok("TWFh\nbg==")),
        ("TWFuTWFu\nTWFu\n\n", "Man", "Men", Ok("TWVuTWFu\nTWFu\n\n")),
        (
            "TWFuTWFu\nTWFu",
            "nMan",
            "nManMan",
            Ok("TWFuTWFu\nTWFuTWFu"),
        ),
        // A width that is not a multiple of 4.
        ("TWFuT\nWFuTW\nE=\n", "Ma", "Mo", Ok("TW9uT\nWFuTW\nE=\n")),
        ("TWFuT\nWFu\n", "nM", "nMM", Ok("TWFuT\nU1hbg\n==\n")),
        // A shorter line matters only after the start of the edit.
        (
            "TWFuTWFu\nTWFu\nTWFuTWFu\nTWE=",
            "ManMa",
            "ManMa",
            Err(AGAIN),
        ),
        ("TWFuTWFu\nTWFu\nTWFu\nTQ==", "M", "N", Err(AGAIN)),
        (
            "TWFuTWFu\nTWFu\nb25lZQ==\n",
            "onee",
            "ones",
            Ok("TWFuTWFu\nTWFu\nb25lcw==\n"),
        ),
        // No padding is added if there was none.
        ("TWE", "a", "o", Ok("TW8")),
        ("TWE\n", "a", "", Ok("TQ\n")),
        // White space that the encoder would not write.
        ("TWFu \nTWFu\n", "M", "N", Err(AGAIN)),
        (" TWFu\nTWFu\n", "M", "N", Ok(" TmFu\nTWFu\n")),
        ("TWFu\n TWFu\n", "M", "N", Err(AGAIN)),
        ("TWFu\n\nTWFu\n", "M", "N", Err(AGAIN)),
        ("TQ=\n=", "M", "N", Ok("Tg=\n=")),
        ("TQ =", "M", "N", Err(AGAIN)),
        // Bits and padding that the encoder would not write.
        ("TR==", "M", "N", Err(AGAIN)),
        ("TQ=", "M", "N", Err(AGAIN)),
        ("TQ==TWE=", "M", "N", Err(ENDS_EARLY)),
        ("TWFu=", "M", "N", Err(ENDS_EARLY)),
        ("TWFuT", "M", "N", Err(ENDS_EARLY)),
        ("TQ==\n-- \nA list\n", "M", "N", Err(ENDS_EARLY)),
    ] {
        for crlf in [false, true] {
            let twin = |text: &str| {
                if crlf {
                    text.replace('\n', "\r\n")
                } else {
                    text.to_owned()
                }
            };
            let raw = twin(raw);
            match (replaced(Base64, raw.as_bytes(), old, new), wanted) {
                (Ok(found), Ok(wanted)) => {
                    same(&found, twin(wanted).as_bytes(), raw.as_bytes());
                }
                (found, wanted) => {
                    assert_eq!(
                        found.map_err(|obstacle| obstacle.reason),
                        wanted.map(|_| Vec::new()),
                        "of {raw:?}"
                    );
                }
            }
        }
    }
    // A single line grows up to 76 columns. A longer line is never broken.
    let line = |count: usize| "TWFu".repeat(count);
    for (raw, wanted) in [
        (line(19), format!("{}\r\n{}", line(19), line(1))),
        (line(18), line(19)),
        (line(30), line(31)),
        (
            format!("{}\n{}\n", line(19), line(1)),
            format!("{}\n{}\n", line(19), line(2)),
        ),
        (
            format!("{}\n", line(19)),
            format!("{}\n{}\n", line(19), line(1)),
        ),
    ] {
        same(
            &replaced(Base64, raw.as_bytes(), "", "Man").unwrap(),
            wanted.as_bytes(),
            raw.as_bytes(),
        );
    }
}

#[test]
fn an_identity_body_is_edited_in_place() {
    same(
        &replaced(Binary, b"a=3Db", "3D", "\u{e9}").unwrap(),
        "a=\u{e9}b".as_bytes(),
        b"",
    );
    same(&replaced(Binary, b"a\0b", "\0", "").unwrap(), b"ab", b"");
    same(&replaced(SevenBit, b"ab", "b", "c").unwrap(), b"ac", b"");
    assert!(replaced(SevenBit, b"ab", "b", "\u{e9}").is_err());
    // The body is not valid 7bit before the edit.
    assert!(replaced(SevenBit, b"a\xe9b", "b", "\u{e9}").is_ok());
    let (buffer, body) = buffer(b"ab");
    let decoded = Binary.decode(&buffer, body).unwrap();
    assert_eq!(
        decoded.covering(Span::new(1, 2)),
        Span::new(body.start + 1, body.end)
    );
    assert!(
        decoded
            .lift(&edits([(Span::new(1, 3), Vec::new())]))
            .is_err()
    );
}

#[test]
fn time_is_linear() {
    let edit_each = |len: usize, step: usize, new: &[u8]| {
        edits((0..len / step).map(|at| (Span::new(at * step, at * step + 1), new.to_vec())))
    };
    for (unit, count) in [
        ("a=\n", 1_000_000),
        ("=", 1_000_000),
        ("= ", 500_000),
        ("\r", 1_000_000),
        ("=4 ", 300_000),
        (">", 1_000_000),
        ("=\n", 1_000_000),
    ] {
        let raw = unit.repeat(count).into_bytes();
        let len = decode(QuotedPrintable, &raw).unwrap().len();
        rewritten(
            QuotedPrintable,
            &raw,
            &edits([(Span::at(0), b"x".to_vec())]),
        )
        .unwrap();
        rewritten(
            QuotedPrintable,
            &raw,
            &edits([(Span::at(len), b"x".to_vec())]),
        )
        .unwrap();
        rewritten(QuotedPrintable, &raw, &edit_each(len, 2, b"")).unwrap();
        rewritten(QuotedPrintable, &raw, &edit_each(len, 2, b" ")).unwrap();
    }
    let bytes: Vec<u8> = (0..7_500_000_u32).map(|at| (at % 251) as u8).collect();
    for width in [1, 4, 76, usize::MAX] {
        let raw = encode(&bytes, (width, b"\n"), true, 0);
        rewritten(Base64, &raw, &edits([(Span::at(0), b"x".to_vec())])).unwrap();
        rewritten(Base64, &raw, &edit_each(bytes.len(), 100, b"xyz")).unwrap();
    }
}

/// Random disjoint edits of `len` bytes.
fn some_edits(len: usize, seeds: &[(usize, usize, Vec<u8>)]) -> Edits {
    let mut places: Vec<_> = seeds
        .iter()
        .map(|(start, length, new)| {
            let start = start % (len + 1);
            (Span::new(start, (start + length).min(len)), new.clone())
        })
        .collect();
    places.sort();
    let mut edits = Edits::default();
    for (span, new) in places {
        let _ = edits.push(span, new);
    }
    edits
}

fn nasty() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"="[..],
        b"=\n",
        b"=\r\n",
        b"=\r",
        b"= \n",
        b"=3D",
        b"=3d",
        b"=0A",
        b"=20",
        b"4",
        b"1",
        b"D",
        b" ",
        b"\t",
        b"  ",
        b"\n",
        b"\r\n",
        b"\r",
        b"From ",
        b">",
        b"--",
        b".",
        b"\xe9",
        b"\0",
        b"href",
        b"http://example.org/path/",
        b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn seeds() -> impl Strategy<Value = Vec<(usize, usize, Vec<u8>)>> {
    let length = prop_oneof![3 => 0_usize..3, 1 => 0_usize..90];
    let new = prop_oneof![
        4 => nasty_new(),
        1 => prop::collection::vec(any::<u8>(), 0..100),
    ];
    prop::collection::vec((0_usize..3000, length, new), 0..5)
}

fn nasty_new() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![
        &b""[..],
        b"=",
        b" ",
        b"\n",
        b"\r",
        b"41",
        b"D",
        b"From ",
        b">",
        b"--",
        b".",
        b"\xe9",
        b"http://example.org/",
    ])
    .prop_map(<[u8]>::to_vec)
}

fn raw_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = memchr::memchr2(b'\r', b'\n', &text[start..]).map_or(text.len(), |at| start + at);
        let next = end + line_end_length(&text[end..]);
        lines.push(&text[start..end]);
        start = next;
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_of_quoted_printable_decode_to_the_edited_bytes(raw in nasty(), seeds in seeds()) {
        let (buffer, body) = buffer(&raw);
        let decoded = QuotedPrintable.decode(&buffer, body).unwrap();
        let edits = some_edits(decoded.bytes.len(), &seeds);
        // `rewritten` checks the result.
        let new = rewritten(QuotedPrintable, &raw, &edits).unwrap();

        // Bytes change only in lines that an edit touches or joins.
        let line_start = |at: usize| memchr::memrchr2(b'\r', b'\n', &raw[..at]).map_or(0, |at| at + 1);
        let line_behind = |at: usize| {
            let end = memchr::memchr2(b'\r', b'\n', &raw[at..]).map_or(raw.len(), |length| at + length);
            end + line_end_length(&raw[end..])
        };
        let touched: Vec<Span> = edits.iter().map(|edit| {
            let place = decoded.covering(edit.span);
            let mut place = Span::new(place.start - body.start, place.end - body.start);
            if edit.span == Span::at(decoded.bytes.len()) {
                place = Span::at(raw.len());
            }
            let (start, end) = (place.start, place.end);
            let within_crlf = |at: usize| at > 0 && raw[at - 1] == b'\r' && raw.get(at) == Some(&b'\n');
            let mut first = line_start(start);
            if within_crlf(start) { first = line_start(start - 1) }
            Span::new(first, line_behind(end))
        }).collect();
        for edit in decoded.lift(&edits).unwrap().iter() {
            for at in edit.span.range() {
                let at = at - body.start;
                prop_assert!(touched.iter().any(|line| line.contains(at)), "{at} of {:?}", raw.escape_ascii().to_string());
            }
        }

        // No line becomes too long or looks like the start of a message.
        let (old, new) = (raw_lines(&raw), raw_lines(&new));
        for line in &new {
            prop_assert!(line.len() <= WIDTH || old.contains(line), "{}", line.escape_ascii());
        }
        let structure = |lines: &[&[u8]]| lines.iter().filter(|line| is_structure(line)).count();
        prop_assert!(structure(&new) <= structure(&old));
    }

    #[test]
    fn edits_of_base64_decode_to_the_edited_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        width in prop::sample::select(vec![1_usize, 4, 12, 60, 61, 72, 75, 76, 77, usize::MAX]),
        line_end in prop::sample::select(vec![&b"\n"[..], b"\r\n", b"\r"]),
        tail in prop::sample::select(vec![&b""[..], b"\n", b"\r\n", b"\n\n", b" \t"]),
        head in prop::sample::select(vec![&b""[..], b"\n", b" "]),
        padded in any::<bool>(),
        seeds in seeds(),
    ) {
        let data = encode(&bytes, (width, line_end), padded, 0);
        // White space alone is part of the tail.
        let head = if bytes.is_empty() { b"" } else { head };
        let raw = [head, &data, tail].concat();
        prop_assert_eq!(&decode(Base64, &raw).unwrap(), &bytes);
        let edits = some_edits(bytes.len(), &seeds);
        let new = rewritten(Base64, &raw, &edits).unwrap();
        prop_assert!(new.starts_with(head) && new.ends_with(tail));
        if let Some(first) = edits.iter().find(|edit| !edit.span.is_empty() || !edit.new.is_empty()) {
            let (buffer, body) = buffer(&raw);
            let decoded = Base64.decode(&buffer, body).unwrap();
            let kept = decoded.covering(Span::new(0, first.span.start / 3 * 3)).end - body.start;
            prop_assert_eq!(&new[..kept], &raw[..kept]);
        } else {
            prop_assert_eq!(&new, &raw);
        }
        // Edited text equals a full re-encoding, if the layout is known from more than one line.
        if raw_lines(&data).len() > 1 && (padded || bytes.len() % 3 == 0) {
            let whole = encode(&edits.apply(&bytes), (width, line_end), true, 0);
            prop_assert_eq!(&new, &[head, &whole, tail].concat());
        }
    }

    #[test]
    fn any_bytes_are_a_body(raw in nasty(), seeds in seeds(), field in any::<Vec<u8>>()) {
        let _ = TransferEncoding::from_field(&field);
        for encoding in [SevenBit, Binary, QuotedPrintable, Base64, Unknown] {
            let (buffer, body) = buffer(&raw);
            if let Ok(decoded) = encoding.decode(&buffer, body) {
                let edits = some_edits(decoded.bytes.len(), &seeds);
                let _ = rewritten(encoding, &raw, &edits);
                prop_assert!(decoded.lift(&Edits::default()).unwrap().is_empty());
                for (start, length, _) in seeds.iter() {
                    let place = decoded.covering(Span::new(*start, start + length));
                    prop_assert!(body.start <= place.start && place.end <= body.end);
                }
            }
        }
    }

    #[test]
    fn malformed_base64_is_edited_rightly_or_not_at_all(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "TWFu", "TWE=", "TQ==", "T", "=", "\n", "\r\n", "\r", " ", "TWFuTWFu\n", "TWFuTWFu\n", "TWFuTWFu\r\n",
        ]), 0..12),
        seeds in seeds(),
    ) {
        let raw = pieces.concat().into_bytes();
        let len = decode(Base64, &raw).unwrap().len();
        let _ = rewritten(Base64, &raw, &some_edits(len, &seeds));
    }
}
