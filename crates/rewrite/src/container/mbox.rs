//! Mailboxes: splits a file into its messages, one at a time.
//!
//! Implements RFC 4155 and the mbox(5) of qmail, with all four ways to protect a body's own `From ` lines (mboxo,
//! mboxrd, mboxcl, mboxcl2). A message begins with a line `From ` at the start of the file, or where `separator`
//! recognizes one; `>From ` never begins one. A `Content-Length` takes precedence, if a line `From ` or the end of the
//! file follows at that offset.
//!
//! ```
//! use baselink_rewrite::container::mbox::Messages;
//! let mailbox = b"From a@b Thu\nTo: c\n\none\n\nFrom d@e Fri\nTo: f\n\n>From two\n";
//! let mut messages = Messages::new(&mailbox[..]);
//! let first = messages.next_message().unwrap().unwrap();
//! assert_eq!(&first.bytes[..first.message.start], b"From a@b Thu\n");
//! assert_eq!(&first.bytes[first.message.range()], b"To: c\n\none\n");
//! let second = messages.next_message().unwrap().unwrap();
//! assert_eq!((second.number, second.offset), (2, 25));
//! assert_eq!(&second.bytes[second.message.range()], b"To: f\n\n>From two\n");
//! assert!(messages.next_message().unwrap().is_none());
//! ```
//!
//! Deliberately absent: unquoting. `>From ` is kept, because only the writer of the file knows whether it was `From `.

mod separator;

use std::io::{self, Read};

use baselink_scan::fields::decimal;
use baselink_text::{Error, ErrorKind, Result, Span, cause};
use memchr::{memchr, memmem::Finder};

pub(crate) use self::separator::from_lines;
use self::separator::{FROM, LINE_FROM, without_empty_line};

/// The number of bytes after the next `From ` line within which a `Content-Length` may end a message.
const LOOK_AHEAD: usize = 64 << 20;
/// The number of bytes read at a time.
const CHUNK: usize = 256 << 10;
/// The maximum number of line ends between the end of a counted body and the next `From ` line: that of the last
/// line, which some writers do not count, and that of the empty line.
const LINE_ENDS: usize = 2;
/// The number of bytes after a counted body that decide if the count is right: `LINE_ENDS` times CRLF, and `FROM`.
const AFTER_BODY: usize = 2 * LINE_ENDS + FROM.len();

/// The messages of a mailbox, in order.
///
/// Time is linear in the mailbox: a byte is read once, and searched at most three times. Memory is proportional to
/// the largest message plus 64 MiB, the limit for reading ahead to the end that a `Content-Length` gives. A right
/// `Content-Length` beyond this limit is not recognised.
#[derive(Debug)]
pub struct Messages<R> {
    reader: R,
    /// True if `reader` has reached its end.
    ended: bool,
    buffer: Vec<u8>,
    /// The start of the message in `buffer`. The bytes before it are dropped from time to time.
    start: usize,
    /// The length of the last message returned; the next one begins after it.
    length: usize,
    number: usize,
    offset: u64,
    line_from: Finder<'static>,
    look_ahead: usize,
    chunk: usize,
    /// The number of bytes searched or moved.
    #[cfg(test)]
    work: std::cell::Cell<usize>,
}

/// The bytes of each message, without its line `From `. After an error, the next call continues with the same message.
impl<R: Read> Iterator for Messages<R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_message() {
            Ok(found) => found.map(|found| Ok(found.bytes[found.message.range()].to_vec())),
            Err(error) => Some(Err(Error::caused(ErrorKind::Read, cause(&error), error))),
        }
    }
}

/// A message in its mailbox.
#[derive(Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The number of the message in the mailbox, from 1.
    pub number: usize,
    /// The offset of `bytes` in the mailbox.
    pub offset: u64,
    /// All bytes up to the next message. Joined together, these are the mailbox.
    pub bytes: &'a [u8],
    /// The span in `bytes` of heading and body, without the final empty line. The envelope is before it: the `From ` line
    /// with its line end, or nothing in the bytes before the first `From ` line of a mailbox, which also form a message. A
    /// right `Content-Length` determines its end.
    pub message: Span,
}

impl<R: Read> Messages<R> {
    /// The messages in the output of `reader`.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            ended: false,
            buffer: Vec::new(),
            start: 0,
            length: 0,
            number: 0,
            offset: 0,
            line_from: Finder::new(LINE_FROM),
            look_ahead: LOOK_AHEAD,
            chunk: CHUNK,
            #[cfg(test)]
            work: std::cell::Cell::default(),
        }
    }

    /// The next message; `None` at the end of the mailbox. An empty mailbox has none.
    ///
    /// # Errors
    ///
    /// Fails if the reader does, except for [`io::ErrorKind::Interrupted`]. No message is lost: the next call
    /// continues with the same one.
    #[doc(hidden)]
    pub fn next_message(&mut self) -> io::Result<Option<Message<'_>>> {
        let Some(message) = self.advance()? else {
            return Ok(None);
        };
        Ok(Some(Message {
            number: self.number,
            offset: self.offset,
            bytes: &self.rest()[..self.length],
            message,
        }))
    }

    /// Advances to the next message, and returns the span of its heading and body.
    fn advance(&mut self) -> io::Result<Option<Span>> {
        self.start += self.length;
        self.offset += self.length as u64;
        self.length = 0;
        self.fill_to(FROM.len())?;
        if self.rest().is_empty() {
            return Ok(None);
        }
        let begins = self.rest().starts_with(FROM);
        let envelope = if begins { self.line_end(0)? } else { 0 };
        let counted = self.counted_end(envelope)?;
        let (end, message_end) = self.end(envelope, counted)?;
        self.length = end;
        self.number += 1;
        Ok(Some(Span::new(envelope, message_end)))
    }

    /// The bytes in memory from the start of the message on. The offsets of the functions below are relative to it.
    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Reads more bytes. Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        // At most as many bytes are moved as are dropped, and each is dropped once, so time stays linear.
        if self.start >= self.rest().len() {
            #[cfg(test)]
            self.count_work(self.rest().len());
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let limit = self.chunk as u64;
        let read = self
            .reader
            .by_ref()
            .take(limit)
            .read_to_end(&mut self.buffer)?;
        self.ended = read < self.chunk;
        Ok(read > 0)
    }

    /// Reads until `length` bytes of the message are in memory, or the input ends.
    fn fill_to(&mut self, length: usize) -> io::Result<()> {
        while self.rest().len() < length && self.fill()? {}
        Ok(())
    }

    /// The offset after the line end of the line that contains `at`.
    fn line_end(&mut self, at: usize) -> io::Result<usize> {
        let mut searched = at;
        loop {
            let found = memchr(b'\n', &self.rest()[searched..]);
            let end = found.map_or(self.rest().len(), |before| searched + before + 1);
            #[cfg(test)]
            self.count_work(end - searched);
            if found.is_some() || !self.fill()? {
                return Ok(end);
            }
            searched = end;
        }
    }

    /// The end of the body according to the first number in a `Content-Length` of the heading at `heading`, right
    /// or wrong.
    fn counted_end(&mut self, heading: usize) -> io::Result<Option<usize>> {
        let mut length = None;
        let mut at = heading;
        loop {
            let end = self.line_end(at)?;
            let Some(line) = self.rest()[at..end].strip_suffix(b"\n") else {
                return Ok(None);
            };
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                return Ok(length.and_then(|length: usize| end.checked_add(length)));
            }
            length = length.or_else(|| content_length(line));
            at = end;
        }
    }

    /// The start of the next message, and the end of this message, whose envelope ends at `envelope`. The body ends
    /// at `counted` if that count is right.
    fn end(&mut self, envelope: usize, counted: Option<usize>) -> io::Result<(usize, usize)> {
        // Bytes after a counted end are not searched before the count is judged, because the next message may
        // begin there and would be searched again.
        let (plain, searched) = self.next_from(envelope, counted.unwrap_or(usize::MAX))?;
        if let Some(end) = counted
            && plain.is_none_or(|plain| end.saturating_sub(plain) <= self.look_ahead)
        {
            self.fill_to(end.saturating_add(AFTER_BODY))?;
            if let Some(next) = next_message_after(self.rest(), end) {
                return Ok((next, end));
            }
        }
        let next = match plain {
            Some(next) => next,
            None => self
                .next_from(searched, usize::MAX)?
                .0
                .unwrap_or(self.rest().len()),
        };
        Ok((next, without_empty_line(&self.rest()[..next])))
    }

    /// The first line in `at..until` that begins a message, and the offset to continue from.
    fn next_from(&mut self, mut at: usize, until: usize) -> io::Result<(Option<usize>, usize)> {
        loop {
            let window = self.rest().len().min(until);
            while let Some(before) = self.line_from.find(&self.rest()[at.min(window)..window]) {
                let line = at + before + 1;
                #[cfg(test)]
                self.count_work(before + 1);
                at = line;
                self.fill_to(line + separator::DECIDING)?;
                let is_after_empty_line = without_empty_line(&self.rest()[..line]) < line;
                if separator::begins(&self.rest()[line..], is_after_empty_line) {
                    return Ok((Some(line), line));
                }
            }
            #[cfg(test)]
            self.count_work(window.saturating_sub(at));
            at = at.max(window.saturating_sub(LINE_FROM.len() - 1));
            if window == until || (window == self.rest().len() && !self.fill()?) {
                return Ok((None, at));
            }
        }
    }

    #[cfg(test)]
    fn count_work(&self, bytes: usize) {
        self.work.set(self.work.get() + bytes);
    }
}

/// The number in a header field `Content-Length`.
fn content_length(line: &[u8]) -> Option<usize> {
    let colon = memchr(b':', line)?;
    let (name, value) = (
        line[..colon].trim_ascii_end(),
        line[colon + 1..].trim_ascii(),
    );
    name.eq_ignore_ascii_case(b"Content-Length")
        .then(|| decimal(value))?
}

/// The start of the next message, or the end of the mailbox, if the body ends at `end`; `None` if something else
/// follows.
fn next_message_after(bytes: &[u8], end: usize) -> Option<usize> {
    let mut rest = bytes.get(end..)?;
    for _ in 0..=LINE_ENDS {
        let at = bytes.len() - rest.len();
        if rest.is_empty() || (rest.starts_with(FROM) && bytes[..at].ends_with(b"\n")) {
            return Some(at);
        }
        rest = rest
            .strip_prefix(b"\r\n")
            .or_else(|| rest.strip_prefix(b"\n"))?;
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The pieces of a message in the mailbox: envelope, heading and body, and the bytes before the next message.
    type Pieces<'a> = (&'a str, &'a str, &'a str);

    fn messages(mailbox: &[u8], look_ahead: usize, chunk: usize) -> Vec<[Vec<u8>; 3]> {
        let mut messages = Messages {
            look_ahead,
            chunk,
            ..Messages::new(mailbox)
        };
        let mut found = Vec::new();
        let mut offset = 0;
        while let Some(Message {
            number,
            offset: at,
            bytes,
            message,
        }) = messages.next_message().unwrap()
        {
            assert_eq!((number, at), (found.len() + 1, offset));
            let envelope = Span::new(0, message.start);
            offset += bytes.len() as u64;
            let following = Span::new(message.end, bytes.len());
            found.push([envelope, message, following].map(|span| bytes[span.range()].into()));
        }
        found
    }

    /// Checks that the mailbox made of the pieces is split into the same pieces, for any chunk size.
    fn check(look_ahead: usize, pieces: &[Pieces<'_>]) {
        let expected: Vec<_> = pieces
            .iter()
            .map(|&(a, b, c)| [a, b, c].map(Vec::from))
            .collect();
        let mailbox = expected.concat().concat();
        for chunk in (1..20).chain([CHUNK]) {
            let found = messages(&mailbox, look_ahead, chunk);
            let text = |pieces: &[[Vec<u8>; 3]]| {
                format!(
                    "{:?}",
                    pieces
                        .concat()
                        .iter()
                        .map(|piece| String::from_utf8_lossy(piece).into_owned())
                        .collect::<Vec<_>>()
                )
            };
            assert_eq!(text(&found), text(&expected), "in chunks of {chunk}");
        }
    }

    #[test]
    fn a_length_counts_up_to_the_look_ahead() {
        // The body has 16 bytes: 3 (`a LF LF`), then 13 (`From b LF To: b LF`). It ends 13 bytes after the next `From `.
        let whole = "Content-Length: 16\n\na\n\nFrom b\nTo: b\n";
        check(13, &[("From 1\n", whole, "\n"), ("From 2\n", "", "\n")]);
        check(
            12,
            &[
                ("From 1\n", "Content-Length: 16\n\na\n", "\n"),
                ("From b\n", "To: b\n", "\n"),
                ("From 2\n", "To: c\n", "\n"),
            ],
        );
    }

    #[test]
    fn the_look_ahead_is_the_same_for_every_message() {
        // The first length is wrong; it ends 8 bytes after the start of `From 2`. The second length is right, but it
        // ends 13 bytes after the start of `From b`, beyond the limit of 12.
        check(
            12,
            &[
                ("From 1\n", "Content-Length: 8\n", "\n"),
                ("From 2\n", "Content-Length: 16\n\na\n", "\n"),
                ("From b\n", "To: b\n", "\n"),
                ("From 3\n", "To: c\n", "\n"),
            ],
        );
    }

    #[test]
    fn only_a_from_line_after_an_empty_line_begins_a_message() {
        check(
            0,
            &[
                (
                    "",
                    "To: a\nFrom b\r\r\nFrom c\n \nFrom d\n\n>From e\n\rFrom f\n",
                    "\r\n",
                ),
                ("From g\r\n", "To: g\r\n\r\nFrom h\r\nh\r\n", "\n"),
                ("From i\n", "To: i\n\n\r", ""),
            ],
        );
    }

    /// A reader that fails once, in the middle.
    struct Failing<'a>(&'a [u8], &'a [u8], bool);

    impl Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 if !std::mem::replace(&mut self.2, true) => Err(io::ErrorKind::TimedOut.into()),
                0 => self.1.read(into),
                read => Ok(read),
            }
        }
    }

    #[test]
    fn after_a_read_error_the_same_message_follows() {
        let second = ["From 2\nTo: b\n\n", &"b".repeat(separator::DECIDING)].concat();
        let readable = ["From 1\n\na\n\n", &second].concat();
        // The reader fails in the last chunk, within the second message.
        let failing = Failing(readable.as_bytes(), b"c\n", false);
        let mut messages = Messages {
            chunk: 8,
            ..Messages::new(failing)
        };
        let first = messages.next_message().unwrap().unwrap();
        assert_eq!(first.bytes, b"From 1\n\na\n\n");
        let failed = messages.next_message().unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        let next = messages.next_message().unwrap().unwrap();
        assert_eq!(
            (next.number, next.bytes),
            (2, [&second, "c\n"].concat().as_bytes())
        );
    }

    /// The maximum memory, and the bytes searched and moved, for the messages of `mailbox`.
    fn cost(mailbox: &[u8], messages: usize, look_ahead: usize, chunk: usize) -> (usize, usize) {
        let mut found = Messages {
            look_ahead,
            chunk,
            ..Messages::new(mailbox)
        };
        let mut memory = 0;
        while found.next_message().unwrap().is_some() {
            memory = memory.max(found.buffer.len());
        }
        assert_eq!(found.number, messages);
        (memory, found.work.get())
    }

    #[test]
    fn wrong_lengths_cost_linear_time() {
        // A message has 32 bytes, 29 before the body. Byte 29 + 5000 is 5 bytes after the start of another message.
        let mailbox = b"From x\nContent-Length: 5000\n\na\n\n".repeat(5000);
        for chunk in [64, 1000, CHUNK] {
            let (memory, work) = cost(&mailbox, 5000, 10_000, chunk);
            assert!(
                memory <= 2 * (5029 + separator::DECIDING + chunk) + chunk,
                "{memory} with {chunk}"
            );
            assert!(work <= 4 * mailbox.len(), "{work} with {chunk}");
        }
    }

    #[test]
    fn right_lengths_without_empty_lines_cost_linear_time() {
        let mailbox = b"From x\nContent-Length: 2\n\na\n".repeat(5000);
        let (_, work) = cost(&mailbox, 5000, 0, CHUNK);
        assert!(work <= 4 * mailbox.len(), "{work}");
    }

    #[test]
    fn a_length_beyond_the_look_ahead_is_ignored() {
        for length in [
            "501",
            "99999999",
            "18446744073709551615",
            "99999999999999999999999999",
        ] {
            let message = format!("From x\nContent-Length: {length}\n\na\n\n");
            let (memory, work) = cost(message.repeat(1000).as_bytes(), 1000, 497, 10);
            let most = 2 * (message.len() + separator::DECIDING + 10) + 10;
            assert!(memory <= most, "{memory} with {length}");
            assert!(work <= 6 * 1000 * message.len(), "{work} with {length}");
        }
    }

    #[test]
    fn memory_is_bounded_by_the_largest_message() {
        let large = [
            "From x\nTo: x\n\na\n",
            &"From y\n>From z\n\n \r\n".repeat(1000),
            "\n",
        ]
        .concat();
        let mailbox = [&large, "From s\nTo: s\n\nsmall\n\n"].concat().repeat(20);
        let (memory, work) = cost(mailbox.as_bytes(), 40, 0, 100);
        assert!(
            memory <= 2 * (large.len() + 100 + separator::DECIDING),
            "{memory}"
        );
        assert!(work <= 4 * mailbox.len(), "{work}");
    }

    proptest::proptest! {
        #[test]
        fn the_chunks_do_not_matter(
            traps in proptest::collection::vec(0..TRAPS.len(), 0..40),
            look_ahead in 0_usize..60,
            chunk in 1_usize..40,
        ) {
            let mailbox = traps.iter().map(|&trap| TRAPS[trap]).collect::<String>();
            let found = messages(mailbox.as_bytes(), look_ahead, chunk);
            assert_eq!(found, messages(mailbox.as_bytes(), look_ahead, CHUNK));
            assert_eq!(found.concat().concat(), mailbox.as_bytes());
        }
    }

    const TRAPS: [&str; 16] = [
        "From a Thu Nov 26 10:00:00 2026\n",
        "To: b\n",
        "From a\n",
        "From b\r\n",
        "From ",
        ">From c\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "x\n",
        "\0",
        "Content-Length: 0\n",
        "Content-Length: 9\n\n",
        "content-length :\t17 \r\n\r\n",
        "Content-Length: 40\n\n",
    ];
}
