//! Splitting of mailboxes: the four variants by hand, a simple splitter as the referee for generated mailboxes, and
//! readers that return few bytes at a time.
//!
//! Deliberately absent: the bounds of time and memory. They are tested in `crates/rewrite/src/container/mbox.rs`, where
//! the work can be counted.

use std::io::{self, ErrorKind, Read};

use baselink_rewrite::container::mbox::Messages;
use baselink_text::span::Span;
use proptest::prelude::*;

#[path = "../referee/mbox.rs"]
mod referee;

use referee::{Found, by_lines};

/// The messages that `Messages` finds in `reader`, and all their bytes.
fn found(reader: impl Read) -> (Vec<Found>, Vec<u8>) {
    let mut messages = Messages::new(reader);
    let (mut found, mut bytes) = (Vec::new(), Vec::new());
    while let Some(next) = messages.next_message().unwrap() {
        assert_eq!(
            (next.number, next.offset),
            (found.len() + 1, bytes.len() as u64)
        );
        bytes.extend_from_slice(next.bytes);
        found.push((
            bytes.len() - next.bytes.len(),
            bytes.len(),
            Span::new(0, next.message.start),
            next.message,
        ));
    }
    assert_eq!(messages.next_message().unwrap(), None);
    (found, bytes)
}

/// A message in a mailbox: its envelope, its heading and body, and the text before the next message.
type Pieces<'a> = (&'a str, &'a str, &'a str);

/// Checks that the concatenated pieces are split into the same pieces.
fn check(pieces: &[Pieces<'_>]) {
    let text: String = pieces
        .iter()
        .map(|(a, b, c)| [*a, *b, *c].concat())
        .collect();
    let (messages, bytes) = found(text.as_bytes());
    assert_eq!(String::from_utf8(bytes).unwrap(), text);
    let pieces_of = |&(start, end, envelope, message): &Found| {
        let whole = &text[start..end];
        (
            &whole[envelope.range()],
            &whole[message.range()],
            &whole[message.end..],
        )
    };
    assert_eq!(messages.iter().map(pieces_of).collect::<Vec<_>>(), pieces);
}

/// Checks a mailbox without `Content-Length`, as it is and with CRLF for each LF.
fn check_both(pieces: &[Pieces<'_>]) {
    check(pieces);
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let with_crlf: Vec<_> = pieces
        .iter()
        .map(|(a, b, c)| (crlf(a), crlf(b), crlf(c)))
        .collect();
    check(
        &with_crlf
            .iter()
            .map(|(a, b, c)| (&a[..], &b[..], &c[..]))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn the_quoting_of_mboxo_and_mboxrd_is_kept() {
    check_both(&[
        (
            "From a@b Sat Jan  3 01:05:34 1996\n",
            "To: c\n\n>From one\n\n>From two\n",
            "\n",
        ),
        (
            "From a@b Sat Jan  3 01:05:35 1996\n",
            "To: d\n\n>>From three\n\n>>>From four\n",
            "\n",
        ),
    ]);
}

#[test]
fn mboxcl_has_quoting_and_lengths() {
    // `>From one LF`, `LF`, `x LF`: 10 + 1 + 2.
    check(&[
        (
            "From a Sat\n",
            "Content-Length: 13\n\n>From one\n\nx\n",
            "\n",
        ),
        ("From b Sat\n", "To: b\nContent-Length: 2\n\ny\n", "\n"),
    ]);
}

#[test]
fn mboxcl2_has_lengths_without_quoting() {
    // `LF`, `From one LF`, `LF`, `From two LF`: 1 + 9 + 1 + 9.
    check(&[
        (
            "From a Sat\n",
            "To: a\nContent-Length: 20\n\n\nFrom one\n\nFrom two\n",
            "\n",
        ),
        (
            "From b Sat\n",
            "content-length : 20 \nTo: a\n\n\nFrom one\n\nFrom two\n",
            "\n",
        ),
    ]);
    // With CRLF: 2 + 10 + 2 + 10.
    check(&[
        (
            "From a Sat\r\n",
            "Content-Length: 24\r\n\r\n\r\nFrom one\r\n\r\nFrom two\r\n",
            "\r\n",
        ),
        ("From b Sat\r\n", "Content-Length: 3\r\n\r\ny\r\n", "\r\n"),
    ]);
}

#[test]
fn a_content_length_may_be_followed_by_two_line_ends() {
    // The body is `LF From one LF`, 10 bytes. Some programs do not count its last line end (9), others also count the
    // empty line after it (11).
    for (length, after) in [(10, ""), (10, "\n"), (10, "\r\n"), (9, "\n\n"), (9, "\n")] {
        let body = if length == 10 {
            "\nFrom one\n"
        } else {
            "\nFrom one"
        };
        let message = format!("Content-Length: {length}\n\n{body}");
        check(&[("From a\n", &message, after), ("From b\n", &message, after)]);
    }
    let message = "Content-Length: 11\n\n\nFrom one\n\n";
    check(&[("From a\n", message, ""), ("From b\n", message, "")]);
    // After three line ends, the length is not trusted.
    check(&[
        ("From a\n", "Content-Length: 12\n", "\n"),
        ("From b\n", "To: c\n\n", "\n"),
        ("From d\n", "To: e\n", "\n"),
    ]);
}

#[test]
fn a_wrong_content_length_is_ignored() {
    // Lengths of 1 to 3 are accepted. These lead into a line or past the end, or are not numbers.
    for length in [
        "4",
        "5",
        "17",
        "18446744073709551615",
        "99999999999999999999",
        "-2",
        "",
        "2a",
    ] {
        check(&[
            (
                "From a\n",
                &format!("Content-Length: {length}\n\nx\n"),
                "\n",
            ),
            ("From b\n", "To: c\n\ny\n", "\n"),
        ]);
    }
    // The length leads to `From `, but in the middle of a line.
    check(&[("From a\n", "Content-Length: 2\n\nx From y\n", "")]);
    // The length leads to a line of the body that begins with `From `, which looks like the next message.
    check(&[
        ("From a\n", "Content-Length: 2\n\nx\n", ""),
        ("From y\n", "", ""),
    ]);
}

#[test]
fn only_the_content_length_of_the_outer_heading_counts() {
    // Neither a length in the body, which would lead to `From c`, nor a second field, which would lead to the end,
    // counts.
    check(&[
        ("From a\n", "To: a\n\nContent-Length: 13\n", "\n"),
        ("From b\n", "To: b\n", "\n"),
        ("From c\n", "Content-Length: 1\nContent-Length: 14\n", "\n"),
        ("From d\n", "To: d\n", "\n"),
    ]);
}

#[test]
fn text_before_the_first_envelope_is_a_message() {
    check_both(&[("", "To: a\n\nbody\n", "\n"), ("From b\n", "To: c\n", "\n")]);
    check_both(&[("", "To: a\n\nno From here", "")]);
    check_both(&[("", "", "\n"), ("From b\n", "To: c\n", "\n")]);
    check_both(&[("", ">From b\nTo: c\n", "\n")]);
    check_both(&[("", "from b\nFrom: c\n\nFROM d\n\n From e\n", "")]);
    check(&[]);
}

#[test]
fn an_envelope_line_needs_an_empty_line_before_it_or_a_date() {
    const DATED: &str = "From a@b Sat Jan  3 01:05:34 1996\n";
    const PIPERMAIL: &str = "From a at b  Sat Jan  3 01:05:34 1996\n";
    const TO: &str = "To: a\n";
    // bug 210: nothing but a date is needed, and a header field.
    check_both(&[
        (DATED, "To: a\n\nx\n", ""),
        (DATED, "X: a\n", ""),
        (DATED, "X: b\n", ""),
    ]);
    check_both(&[("From \n", "To: a\n\nx\n", ""), ("From - \n", TO, "\n")]);
    // Directly after an envelope, the line belongs to the heading.
    check_both(&[
        ("From a\n", "From b\n", "\n"),
        ("From c\n", TO, "\n"),
        (DATED, TO, ""),
    ]);
    let text = [
        "\nx\nFrom b\nTo: b\n \nFrom c\nTo: c\n\t\n>From d\nTo: d\n",
        PIPERMAIL,
        TO,
    ]
    .concat();
    check_both(&[("From a\n", &text, "")]);
    check_both(&[("From a\n", "\nx\n", "\n"), (PIPERMAIL, "X: y\n", "")]);
    // bug 211: a sentence after an empty line is text.
    check_both(&[(
        "From a\n",
        "\nFrom here\n\nFrom there on\nNote: x\n\nFrom\nTo: c\n",
        "\n",
    )]);
    // Of several empty lines, only the last belongs to the mailbox.
    check_both(&[("From a\n", "x\n\n\n", "\n"), ("From b\n", TO, "\n")]);
    // Line ends of both kinds.
    check(&[
        ("From a\r\n", "x\n", "\r\n"),
        ("From b\n", "To: x\r\n", "\r\n"),
        ("From c\n", TO, "\n"),
    ]);
    // A CR alone does not end a line.
    check(&[("", "x\r\rFrom a\rTo: a\r\rFrom b\rTo: b\r\r", "")]);
    check(&[("From a\n", "x\n\r\r\nFrom b\nTo: b\n", "\n")]);
}

#[test]
fn a_mailbox_may_end_anywhere() {
    check(&[("From a\n", "x\n\nFrom ", "")]);
    check(&[("From a\n", "x\n\nFrom a@b Sat Jan  3 01:05:34 1996\n", "")]);
    check(&[("From a\n", "x\n\nFrom", "")]);
    check(&[("From a", "", "")]);
    check(&[("From a\r", "", "")]);
    check(&[("From a\n", "Content-Length: 9\n\nx", "")]);
    check(&[("From a\n", "Content-Length: 9\n\0\0", "")]);
    check(&[("From a\n", "Content-Length: 7", "")]);
}

/// A reader that returns at most the given number of bytes at a time, and is interrupted before each read.
struct SmallReads<'a>(&'a [u8], usize, bool);

impl Read for SmallReads<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.2 = !self.2;
        if self.2 {
            return Err(ErrorKind::Interrupted.into());
        }
        let size = self.1.min(into.len());
        self.0.read(&mut into[..size])
    }
}

fn body() -> impl Strategy<Value = String> {
    let lines = prop::sample::select(vec![
        "From x\n",
        "From x Sat Jan  3 01:05:34 1996\n",
        "From x y Sat, 3 Jan 1996 01:05:34 GMT\r\n",
        "From \n",
        "From -",
        "To: z\n",
        "X-Z:\n",
        "Note: z\n",
        "\n",
        "\r\n",
        ">From y\n",
        "z\n",
        "z\r\n",
        "From ",
        "\0",
        "\r",
        "é",
    ]);
    prop::collection::vec(lines, 0..9).prop_map(|lines| lines.concat())
}

/// A message whose `Content-Length` is right or too large.
fn with_length() -> impl Strategy<Value = String> {
    let separator = prop::sample::select(vec!["", "\n", "\r\n", "\n\n", "\n\n\n"]);
    (body(), prop::sample::select(vec![0, 0, 0, 1, 7]), separator).prop_map(
        |(body, excess, separator)| {
            let length = body.len() + excess;
            format!("From m\nTo: n\nContent-Length: {length}\n\n{body}{separator}")
        },
    )
}

fn mailbox() -> impl Strategy<Value = String> {
    let plain = body().prop_map(|body| format!("From m\r\nTo: n\r\n\r\n{body}\r\n"));
    let piece = prop_oneof![body(), plain, with_length(), with_length()];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn messages_do_not_depend_on_chunk_boundaries(mailbox in mailbox()) {
        let bytes = mailbox.as_bytes();
        let (messages, again) = found(bytes);
        prop_assert_eq!(&again[..], bytes);
        prop_assert_eq!(&messages, &by_lines(bytes));
        for size in [1, 7, 64] {
            prop_assert_eq!(&found(SmallReads(bytes, size, false)).0, &messages);
        }
    }
}

/// A reader that fails once, after the given number of bytes.
struct FailsOnce<'a>(&'a [u8], Option<usize>);

impl Read for FailsOnce<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.1 {
            Some(0) => {
                self.1 = None;
                Err(ErrorKind::TimedOut.into())
            }
            Some(before) => {
                let size = into.len().min(*before);
                *before -= size;
                self.0.read(&mut into[..size])
            }
            None => self.0.read(into),
        }
    }
}

/// Lines near the limits of 1,024 bytes for the line, and of 2,048 bytes for the heading.
#[test]
fn long_lines_are_split_as_the_referee_splits_them() {
    for sender in 980..1000 {
        for field in [1, 2030, 2031, 2032, 2033, 2034, 2040] {
            for end in ["To: b\n\n", "To: b\nno field\n", ""] {
                for date in [" Sat Jan  3 01:05:34 1996", ""] {
                    let (sender, field) = ("a".repeat(sender), "b".repeat(field));
                    let mailbox = format!("From a\n\n\nFrom {sender}{date}\nTo: {field}\n{end}");
                    let bytes = mailbox.as_bytes();
                    assert_eq!(found(bytes).0, by_lines(bytes), "{mailbox}");
                    assert_eq!(found(SmallReads(bytes, 1000, false)).0, by_lines(bytes));
                }
            }
        }
    }
}

#[test]
fn reading_can_continue_after_an_error_of_the_reader() {
    let mailbox = b"From a\nTo: a\n\nx\n\nFrom b\nTo: b\n\ny\n";
    for before in 0..=mailbox.len() {
        let mut messages = Messages::new(FailsOnce(mailbox, Some(before)));
        let error = messages.next_message().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let mut offsets = Vec::new();
        while let Some(next) = messages.next_message().unwrap() {
            offsets.push((next.number, next.offset, next.bytes.len()));
        }
        assert_eq!(offsets, [(1, 0, 17), (2, 17, 16)], "after {before}");
    }
}
