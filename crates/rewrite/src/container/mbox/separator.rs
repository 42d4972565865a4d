//! Lines that begin a message of a mailbox, told apart from sentences that begin with `From `.
//!
//! RFC 4155, appendix A: such a line has a sender and a date in the format of `ctime`, and a message follows, which
//! begins with a header field. Some programs write no empty line before it; others leave out the date.
//!
//! ```text
//! From a@b Thu Nov 26 10:00:00 2026          a message, also without an empty line before it
//! From a at b  Thu Nov 26 10:00:00 2026      a message after an empty line
//! From -                                     a message if its header fields are those of a message
//! From a@b                                   the same, after an empty line
//! ```
//!
//! Deliberately absent: the first line of a mailbox, and the line at which a `Content-Length` ends a message. There,
//! `From ` is enough.

use baselink_text::format::{HEADING_HEAD, begins_message, field_name, is_among};
use memchr::{memchr, memmem};

/// The beginning of a message.
pub const FROM: &[u8] = b"From ";
/// The beginning of a message, and the end of the line before it.
pub const LINE_FROM: &[u8] = b"\nFrom ";
/// The maximum length of a line that begins a message.
const LONGEST: usize = 1024;

/// The number of bytes, from the start of the line on, that decide whether a message begins there.
pub const DECIDING: usize = LONGEST + HEADING_HEAD;

/// The number of words after the name of a weekday that can belong to a date: month, day, time, two words for the
/// zone, and year.
const DATE: usize = 6;

/// True if a message begins with the line at the start of `head`, which begins with `From `. `head` is the rest of
/// the mailbox, or at least [`DECIDING`] bytes of it.
pub fn begins(head: &[u8], is_after_empty_line: bool) -> bool {
    let Some(end) = memchr(b'\n', &head[..head.len().min(LONGEST)]) else {
        return false;
    };
    let following = &head[end + 1..head.len().min(end + 1 + HEADING_HEAD)];
    let words = head[FROM.len()..end].split(u8::is_ascii_whitespace);
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    match words_before_date(&words) {
        Some(sender) => (sender <= 1 || is_after_empty_line) && begins_field(following),
        None => {
            // Netscape and its heirs also write `From - ` and `From `.
            let is_bare = matches!(words[..], [] | [b"-"]);
            (is_bare || is_after_empty_line) && begins_message(following)
        }
    }
}

/// The numbers of lines in `message` that begin with `From `, and of those that would begin a message in a mailbox.
pub fn from_lines(message: &[u8]) -> (usize, usize) {
    let (mut all, mut separating) = (0, 0);
    for line_end in memmem::find_iter(message, LINE_FROM) {
        let line = line_end + 1;
        let is_after_empty_line = without_empty_line(&message[..line]) < line;
        all += 1;
        separating += usize::from(begins(&message[line..], is_after_empty_line));
    }
    (all, separating)
}

/// The number of words before the date: a weekday, and then a month, a time and a year in any order, because some
/// writers use the order of RFC 5322, 3.3.
fn words_before_date(words: &[&[u8]]) -> Option<usize> {
    const WEEKDAYS: &str = "Mon Tue Wed Thu Fri Sat Sun";
    const MONTHS: &str = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
    (0..words.len()).find(|&at| {
        let day = words[at].strip_suffix(b",").unwrap_or(words[at]);
        let rest = &words[at + 1..words.len().min(at + 1 + DATE)];
        is_among(day, WEEKDAYS)
            && rest.iter().any(|word| is_among(word, MONTHS))
            && rest.iter().any(|word| is_time(word))
            && rest
                .iter()
                .any(|word| word.len() == 4 && word.iter().all(u8::is_ascii_digit))
    })
}

/// True for `10:00`, `9:00` and `10:00:00`.
fn is_time(word: &[u8]) -> bool {
    let numbers: Vec<&[u8]> = word.split(|&byte| byte == b':').collect();
    matches!(numbers.len(), 2 | 3)
        && numbers
            .iter()
            .all(|digits| matches!(digits.len(), 1 | 2) && digits.iter().all(u8::is_ascii_digit))
}

/// The end of `bytes` without a final empty line.
pub fn without_empty_line(bytes: &[u8]) -> usize {
    let before = bytes
        .strip_suffix(b"\n")
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    match before {
        Some(before) if before.is_empty() || before.ends_with(b"\n") => before.len(),
        _ => bytes.len(),
    }
}

/// True if `head` begins with a header field, perhaps after lines `>From `, in which programs for UUCP kept the
/// lines of earlier mailboxes.
fn begins_field(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    lines
        .find(|line| !line.starts_with(b">From "))
        .and_then(field_name)
        .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_needs_a_date_or_the_heading_of_a_message() {
        const FIELD: &str = "X: y\n";
        const HEADING: &str = "To: a\nSubject: b\n";
        for (line, following, anywhere, after_empty_line) in [
            ("From a@b Thu Nov 26 10:00:00 2026", FIELD, true, true),
            ("From a@b  Thu Jan  1 9:05 1970\r", FIELD, true, true),
            ("From - thu nov 26 10:00:00 2026", FIELD, true, true),
            ("From Thu Nov 26 10:00:00 2026", FIELD, true, true),
            (
                "From 1@xxx Thu Nov 26 10:00:00 +0000 2026",
                FIELD,
                true,
                true,
            ),
            (
                "From a Thu Nov 26 10:00:00 GMT +0100 2026",
                FIELD,
                true,
                true,
            ),
            ("From a Thu, 26 Nov 2026 10:00:00 +0100", FIELD, true, true),
            (
                "From h!a Thu Nov 26 10:00:00 2026 remote from h",
                ">From b\nX: y\n",
                true,
                true,
            ),
            ("From a at b  Thu Nov 26 10:00:00 2026", FIELD, false, true),
            (
                "From \"a b\"@c Thu Nov 26 10:00:00 2026",
                FIELD,
                false,
                true,
            ),
            (
                "From Sun at b  Thu Nov 26 10:00:00 2026",
                FIELD,
                false,
                true,
            ),
            ("From a@b Thu Nov 26 10:00:00 2026", "y\n", false, false),
            ("From a@b Thu Nov 26 10:00:00 2026", "", false, false),
            ("From ", HEADING, true, true),
            ("From -", HEADING, true, true),
            (
                "From - \r",
                "X-Mozilla-Status: 0001\r\nTo: a\r\n\r\n",
                true,
                true,
            ),
            ("From -", FIELD, false, false),
            ("From ", "http://a/\nhttp://b/\n\n", false, false),
            ("From a@b", HEADING, false, true),
            ("From a@b 2026-11-26 10:00:00", HEADING, false, true),
            ("From Russia with love", "Year: 1963\n\n", false, false),
            ("From our blog", "https://a/\n\n", false, false),
            ("From the President", "\n", false, false),
            (
                "From the President",
                "To: all\nDear friends\n",
                false,
                false,
            ),
            // Neither a time, nor a month, nor a year may be missing.
            ("From a Thu Nov 26 10 2026", FIELD, false, false),
            ("From a Thu 26 10:00:00 2026", FIELD, false, false),
            ("From a Thu Nov 26 10:00:00 26", FIELD, false, false),
            ("From a Nov 26 10:00:00 2026", FIELD, false, false),
        ] {
            let head = [line, "\n", following].concat();
            let found = [false, true].map(|is_after| begins(head.as_bytes(), is_after));
            assert_eq!(found, [anywhere, after_empty_line], "{head:?}");
        }
    }

    #[test]
    fn a_longer_line_begins_no_message() {
        for (length, expected) in [(LONGEST, true), (LONGEST + 1, false)] {
            let date = " Thu Nov 26 10:00:00 2026\n";
            let sender = "a".repeat(length - FROM.len() - date.len());
            let head = ["From ", &sender, date, "X: y\n"].concat();
            assert_eq!(begins(head.as_bytes(), true), expected, "{length}");
        }
    }
}
