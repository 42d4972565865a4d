//! Splits mailboxes line by line.
//!
//! Deliberately absent: speed.
#![allow(clippy::unwrap_used)]

use baselink_text::format::Format;
use baselink_text::span::Span;

/// A message: its start and the start of the next message in the mailbox, then the spans of its envelope and of the
/// rest, relative to its start.
pub(crate) type Found = (usize, usize, Span, Span);

/// The messages of a mailbox.
pub(crate) fn by_lines(mailbox: &[u8]) -> Vec<Found> {
    let mut lines = vec![0];
    lines.extend((1..mailbox.len()).filter(|&at| mailbox[at - 1] == b'\n'));
    let line = |number: usize| {
        let end = lines.get(number + 1).copied().unwrap_or(mailbox.len());
        &mailbox[lines[number]..end]
    };
    let is_empty = |line: &[u8]| line == b"\n" || line == b"\r\n";
    let mut messages = Vec::new();
    let mut start = 0;
    while start < mailbox.len() {
        let first = lines.binary_search(&start).unwrap();
        let envelope = if line(first).starts_with(b"From ") {
            line(first).len()
        } else {
            0
        };
        let heading = first + usize::from(envelope > 0);
        let plain = (heading + 1..lines.len()).find(|&at| {
            begins(
                line(at),
                &mailbox[lines[at] + line(at).len()..],
                is_empty(line(at - 1)),
            )
        });
        let separator = (heading..lines.len()).find(|&at| is_empty(line(at)));
        let mut counted = None;
        if let Some(separator) = separator {
            let length = (heading..separator).find_map(|at| {
                let text = String::from_utf8_lossy(line(at)).to_lowercase();
                let value = text
                    .strip_prefix("content-length")?
                    .trim_ascii_start()
                    .strip_prefix(':')?;
                // A sign is not a digit: RFC 4155 does not define the field, and programs write digits. A vertical
                // tab is not white space (RFC 5322, 2.2.2).
                let digits = value.trim_ascii();
                let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
                digits.parse::<usize>().ok().filter(|_| is_number)
            });
            let body = lines[separator] + line(separator).len();
            let end = length.and_then(|length| body.checked_add(length));
            for behind in ["", "\n", "\r\n", "\n\n", "\n\r\n", "\r\n\n", "\r\n\r\n"] {
                if let Some(end) = end.filter(|&end| end <= mailbox.len())
                    && let Some(rest) = mailbox[end..].strip_prefix(behind.as_bytes())
                {
                    let next = mailbox.len() - rest.len();
                    let from = lines.contains(&next) && rest.starts_with(b"From ");
                    if (rest.is_empty() || from) && counted.is_none() {
                        counted = Some((next, end));
                    }
                }
            }
        }
        let (next, end) = counted.unwrap_or_else(|| {
            let next = plain.map_or(mailbox.len(), |at| lines[at]);
            let last = lines.partition_point(|&at| at < next) - 1;
            let behind_envelope = last >= heading && is_empty(line(last));
            (next, if behind_envelope { lines[last] } else { next })
        });
        let message = Span::new(envelope, end - start);
        messages.push((start, next, Span::new(0, envelope), message));
        start = next;
    }
    messages
}

/// True if a message begins with `line`, which `rest` follows.
fn begins(line: &[u8], rest: &[u8], is_after_empty_line: bool) -> bool {
    let text = String::from_utf8_lossy(line);
    let Some(envelope) = text
        .strip_prefix("From ")
        .and_then(|text| text.strip_suffix('\n'))
    else {
        return false;
    };
    let words: Vec<&str> = envelope.split_ascii_whitespace().collect();
    let is_short = line.len() <= 1024;
    match (0..words.len()).find(|&at| is_date(&words[at..])) {
        Some(0 | 1) => is_short && begins_field(rest),
        Some(_) => is_short && is_after_empty_line && begins_field(rest),
        None if matches!(words[..], [] | ["-"]) => is_short && begins_message(rest),
        None => is_short && is_after_empty_line && begins_message(rest),
    }
}

/// True if `words` begin with the name of a weekday, and a month, a time and a year are among the next six words.
fn is_date(words: &[&str]) -> bool {
    let words: Vec<String> = words
        .iter()
        .take(7)
        .map(|word| word.to_ascii_lowercase())
        .collect();
    let is_in = |names: &str, word: &str| names.split(' ').any(|name| name == word);
    let has_digits = |text: &str, fewest: usize, most: usize| {
        (fewest..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let months = "jan feb mar apr may jun jul aug sep oct nov dec";
    let is_time = |word: &str| {
        let numbers: Vec<&str> = word.split(':').collect();
        (2..=3).contains(&numbers.len()) && numbers.iter().all(|one| has_digits(one, 1, 2))
    };
    is_in(
        "mon tue wed thu fri sat sun",
        words[0].strip_suffix(',').unwrap_or(&words[0]),
    ) && words[1..].iter().any(|word| is_in(months, word))
        && words[1..].iter().any(|word| is_time(word))
        && words[1..].iter().any(|word| has_digits(word, 4, 4))
}

/// True if `rest` begins with a header field, perhaps after lines `>From `.
fn begins_field(rest: &[u8]) -> bool {
    let rest = &rest[..rest.len().min(2048)];
    let mut lines = rest.split(|&byte| byte == b'\n');
    let line = lines.find(|line| !line.starts_with(b">From "));
    line.and_then(name_of).is_some()
}

/// True if `rest` begins with the heading of a message: all lines are header fields or folded, the first is usual or
/// an extension, and two are usual, or one and the heading ends. Lines count if they end within 2,048 bytes.
fn begins_message(rest: &[u8]) -> bool {
    let (head, is_cut) = (&rest[..rest.len().min(2048)], rest.len() >= 2048);
    let mut lines: Vec<&[u8]> = head.split_inclusive(|&byte| byte == b'\n').collect();
    lines.pop_if(|line| is_cut && !line.ends_with(b"\n"));
    let (mut usual, mut ends) = (0, false);
    for (at, line) in lines.into_iter().enumerate() {
        let line = line
            .strip_suffix(b"\n")
            .map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        if line.is_empty() {
            ends = true;
            break;
        }
        if at > 0 && matches!(line[0], b' ' | b'\t') {
            continue;
        }
        let Some(name) = name_of(line) else {
            return false;
        };
        // One usual field makes a message of a heading that ends.
        let alone = [name, b": \n\n"].concat();
        let is_usual = Format::detect(None, &alone) == Format::Message;
        if at == 0 && !is_usual && !name.to_ascii_lowercase().starts_with(b"x-") {
            return false;
        }
        usual += usize::from(is_usual);
    }
    usual > 1 || (usual == 1 && ends)
}

/// The name of the header field that begins `line`.
fn name_of(line: &[u8]) -> Option<&[u8]> {
    let (name, _) = line.split_at(line.iter().position(|&byte| byte == b':')?);
    let name = name.trim_ascii_end();
    (!name.is_empty() && name.iter().all(u8::is_ascii_graphic)).then_some(name)
}
