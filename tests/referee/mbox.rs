//! Splits mailboxes line by line.
//!
//! Deliberately absent: speed.
#![allow(clippy::unwrap_used)]

use baselink::span::Span;

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
        let envelope = if line(first).starts_with(b"From ") { line(first).len() } else { 0 };
        let heading = first + usize::from(envelope > 0);
        let plain = (first + 1..lines.len())
            .find(|&at| line(at).starts_with(b"From ") && is_empty(line(at - 1)));
        let separator = (heading..lines.len()).find(|&at| is_empty(line(at)));
        let mut counted = None;
        if let Some(separator) = separator {
            let length = (heading..separator).find_map(|at| {
                let text = String::from_utf8_lossy(line(at)).to_lowercase();
                let value =
                    text.strip_prefix("content-length")?.trim_ascii_start().strip_prefix(':')?;
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
