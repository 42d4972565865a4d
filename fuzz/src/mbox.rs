//! Mailboxes: they are split as the referee splits them by lines, no matter how they are read, and are rewritten
//! message by message.
//!
//! Deliberately absent: the contents of a message (`message`).

use std::io::Read;

use baselink::Rewriter;
use baselink_rewrite::container::mbox::Messages;
use baselink_rewrite::{Options, rewrite};
use baselink_text::format::Format;
use baselink_text::span::Span;
use referee::{Found, by_lines};

#[path = "../../tests/referee/mbox.rs"]
mod referee;

/// A reader that returns at most this number of bytes at a time.
struct ShortReads<'a>(&'a [u8], usize);

impl Read for ShortReads<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let size = self.1.min(into.len());
        self.0.read(&mut into[..size])
    }
}

fn found(reader: impl Read) -> Vec<Found> {
    let mut messages = Messages::new(reader);
    let (mut found, mut start) = (Vec::new(), 0);
    while let Some(message) = messages.next_message().unwrap() {
        assert_eq!(
            (message.number, message.offset),
            (found.len() + 1, start as u64)
        );
        let end = start + message.bytes.len();
        let envelope = Span::new(0, message.message.start);
        found.push((start, end, envelope, message.message));
        start = end;
    }
    found
}

/// Checks the laws for a mailbox.
pub fn mbox(bytes: &[u8]) {
    let messages = by_lines(bytes);
    assert_eq!(found(bytes), messages);
    assert_eq!(found(ShortReads(bytes, 1 + bytes.len() % 9)), messages);
    let url = "http://a/b/c";
    let rewriter = Rewriter::builder()
        .url(url)
        .format(Format::Mbox)
        .build()
        .unwrap();
    let mut whole = Vec::new();
    rewriter.rewrite_to(bytes, &mut whole).unwrap();
    let options = Options {
        format: Format::Message,
        ..Options::at(url)
    };
    let mut one_by_one = Vec::new();
    for (start, end, _, message) in messages {
        let piece = &bytes[start..end];
        one_by_one.extend_from_slice(&piece[..message.start]);
        one_by_one.extend(rewrite(&piece[message.range()], &options).output());
        one_by_one.extend_from_slice(&piece[message.end..]);
    }
    assert!(
        whole == one_by_one,
        "{}\n{}",
        whole.escape_ascii(),
        one_by_one.escape_ascii()
    );
}
