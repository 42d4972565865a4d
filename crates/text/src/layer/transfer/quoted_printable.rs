//! Quoted-printable (RFC 2045, 6.7): its tokens, and the re-encoding of raw lines.
//!
//! An edit re-encodes only the raw lines that it touches or joins.
//!
//! ```
//! use baselink_text::layer::transfer::TransferEncoding::QuotedPrintable;
//! use baselink_text::Span;
//! let body = b"a=3Db=\nc  \n";
//! assert_eq!(&*QuotedPrintable.decode(body, Span::new(0, 12)).unwrap().bytes, b"a=bc\n");
//! ```
//!
//! Deliberately absent: errors. Any bytes can be decoded.

use super::encoded::{Encoded, Obstacle, WIDTH, line_end, line_end_length, push_difference};
use crate::{
    edit::{Edit, Edits},
    span::Span,
};

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// A piece of quoted-printable text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuotedPiece {
    /// Bytes that represent themselves, without a line end.
    Plain,
    /// `=` and two hexadecimal digits: one byte.
    Escape(u8),
    /// White space at the end of a line, which "must be deleted" (rule 3): represents nothing.
    Padding,
    /// `=`, optional white space, and the end of the line or body: represents nothing.
    SoftBreak,
    /// CRLF, LF, or a CR without a following LF: represents itself.
    LineEnd,
}

impl QuotedPiece {
    /// The number of bytes that the piece at `span` represents.
    fn decoded_length(self, span: Span) -> usize {
        match self {
            Self::Plain | Self::LineEnd => span.len(),
            Self::Escape(_) => 1,
            Self::Padding | Self::SoftBreak => 0,
        }
    }
}

/// The pieces of quoted-printable text from `at` on, in order and without gaps.
struct QuotedPieces<'a> {
    text: &'a [u8],
    at: usize,
}

impl Iterator for QuotedPieces<'_> {
    type Item = (QuotedPiece, Span);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        let rest = &self.text[start..];
        let (token, len) = match *rest {
            [] => return None,
            [b'=' | b'\r' | b'\n', ..] => special(rest),
            _ => {
                let len = memchr::memchr3(b'=', b'\r', b'\n', rest).unwrap_or(rest.len());
                let padding = match rest.get(len) {
                    Some(b'=') => 0,
                    _ => blanks_at_end(&rest[..len]),
                };
                if padding == len {
                    (QuotedPiece::Padding, len)
                } else {
                    (QuotedPiece::Plain, len - padding)
                }
            }
        };
        self.at += len;
        Some((token, Span::new(start, self.at)))
    }
}

/// The piece at the start of `rest`, which begins with `=`, CR or LF, and its length.
fn special(rest: &[u8]) -> (QuotedPiece, usize) {
    match *rest {
        [b'=', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            // Rule 1 requires upper case; "robust" readers accept both.
            let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
            (QuotedPiece::Escape(digit(high) << 4 | digit(low)), 3)
        }
        [b'=', ..] => {
            let blanks = rest[1..].iter().take_while(|&&byte| is_blank(byte)).count();
            let following = &rest[1 + blanks..];
            let line_end = line_end_length(following);
            if following.is_empty() || line_end > 0 {
                (QuotedPiece::SoftBreak, 1 + blanks + line_end)
            } else {
                (QuotedPiece::Plain, 1)
            }
        }
        _ => (QuotedPiece::LineEnd, line_end_length(rest)),
    }
}

fn blanks_at_end(text: &[u8]) -> usize {
    text.iter()
        .rev()
        .take_while(|&&byte| is_blank(byte))
        .count()
}

/// An index of the ends of some pieces. The place of a decoded byte is few pieces after the last mark before it.
#[derive(Debug, Default)]
pub struct Marks(Vec<Mark>);

/// The raw offset `raw` corresponds to the decoded offset `decoded`.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    decoded: usize,
    raw: usize,
}

/// The minimum number of raw bytes between two marks; twice as many before a mark that is not at the start of a
/// line. A long piece may increase the distance.
const STEP: usize = 128;

/// Decodes quoted-printable text.
pub fn decode(raw: &[u8]) -> (Vec<u8>, Marks) {
    decode_in_steps(raw, STEP)
}

/// Decodes `raw`, with `step` as the distance of marks. Copies in one go all bytes that represent themselves, even
/// across line ends.
fn decode_in_steps(raw: &[u8], step: usize) -> (Vec<u8>, Marks) {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut marks = Vec::new();
    // Bytes from `copied` on represent themselves but are not copied yet.
    let (mut copied, mut end, mut next) = (0, 0, step);
    for at in memchr::memchr3_iter(b'=', b'\r', b'\n', raw) {
        if at < end {
            continue;
        }
        let (token, len) = special(&raw[at..]);
        end = at + len;
        let padding = match token {
            QuotedPiece::LineEnd => blanks_at_end(&raw[copied..at]),
            _ => 0,
        };
        if padding > 0 || !matches!(token, QuotedPiece::LineEnd | QuotedPiece::Plain) {
            bytes.extend_from_slice(&raw[copied..at - padding]);
            copied = if token == QuotedPiece::LineEnd {
                at
            } else {
                end
            };
        }
        if let QuotedPiece::Escape(byte) = token {
            bytes.push(byte);
        }
        if end >= next && (raw[end - 1] == b'\n' || end >= next + step) {
            marks.push(Mark {
                decoded: bytes.len() + (end - copied),
                raw: end,
            });
            next = end + step;
        }
    }
    let rest = &raw[copied..];
    bytes.extend_from_slice(&rest[..rest.len() - blanks_at_end(rest)]);
    (bytes, Marks(marks))
}

impl Marks {
    /// The last mark that satisfies `is_before`, which also holds for all earlier marks.
    fn last(&self, is_before: impl Fn(&Mark) -> bool) -> Mark {
        self.0
            .partition_point(is_before)
            .checked_sub(1)
            .map_or(Mark::default(), |at| self.0[at])
    }

    /// The span in `raw` of the decoded byte `index`, which must exist.
    pub fn place(&self, raw: &[u8], index: usize) -> Span {
        let before = self.last(|mark| mark.decoded <= index);
        let mut remaining = index - before.decoded;
        for (token, span) in (QuotedPieces {
            text: raw,
            at: before.raw,
        }) {
            let length = token.decoded_length(span);
            if remaining < length {
                return match token {
                    QuotedPiece::Escape(_) => span,
                    _ => Span::new(span.start + remaining, span.start + remaining + 1),
                };
            }
            remaining -= length;
        }
        Span::at(raw.len())
    }
}

/// A raw line, with its end.
struct RawLine {
    raw: Span,
    /// The number of bytes that the line represents.
    decoded: usize,
    /// True if the line ends in a soft break.
    soft: bool,
    /// True for the last line of the body.
    last: bool,
}

impl RawLine {
    fn at(text: &[u8], start: usize) -> Self {
        let mut line = Self {
            raw: Span::at(start),
            decoded: 0,
            soft: false,
            last: true,
        };
        for (token, span) in (QuotedPieces { text, at: start }) {
            line.raw.end = span.end;
            line.decoded += token.decoded_length(span);
            if matches!(token, QuotedPiece::SoftBreak | QuotedPiece::LineEnd) {
                line.soft = token == QuotedPiece::SoftBreak;
                line.last = !matches!(text[span.end - 1], b'\r' | b'\n');
                break;
            }
        }
        line
    }
}

impl Encoded<'_> {
    /// Re-encodes the raw lines that edits touch; lines that an edit joins are re-encoded together.
    pub fn lift_quoted_printable(
        &self,
        marks: &Marks,
        changes: &[Edit<'_>],
    ) -> Result<Edits, Obstacle> {
        let raw = &self.buffer[self.body.range()];
        let line_end = line_end(self.buffer, self.body);
        let mut lifted = Edits::default();
        let mut changes = changes.iter().peekable();
        let mut open: Option<Respelled> = None;
        let (mut start, mut decoded, mut after_cr) = (0, 0, false);
        while open.is_some() || changes.peek().is_some() {
            if let (None, Some(edit)) = (&open, changes.peek()) {
                let mark = marks.last(|mark| mark.decoded <= edit.span.start);
                // A mark after an LF is at the start of a line.
                if mark.raw > start && raw[mark.raw - 1] == b'\n' {
                    (start, decoded, after_cr) = (mark.raw, mark.decoded, false);
                }
            }
            let line = RawLine::at(raw, start);
            let end = decoded + line.decoded;
            // Text inserted between two lines belongs to the second.
            let touched = changes
                .peek()
                .is_some_and(|edit| edit.span.start < end || line.last);
            if touched && open.is_none() {
                open = Some(Respelled::new(start, after_cr));
            }
            if let Some(mut respelled) = open.take() {
                respelled.add_line(&raw[..line.raw.end], &line, decoded, &mut changes);
                let joined = respelled.replaced > end || (respelled.replaced == end && !line.soft);
                if joined && !line.last {
                    open = Some(respelled);
                } else {
                    let span = Span::new(respelled.start, line.raw.end);
                    let new = respelled.finish(&raw[span.range()], line_end);
                    push_difference(
                        &mut lifted,
                        self.buffer,
                        span.shifted(self.body.start),
                        &new,
                    )?;
                }
            }
            if line.last {
                break;
            }
            after_cr = line.soft && raw[line.raw.end - 1] == b'\r';
            (start, decoded) = (line.raw.end, end);
        }
        Ok(lifted)
    }
}

/// Raw lines that are being re-encoded.
struct Respelled {
    /// The offset in the body at which these lines begin.
    start: usize,
    /// True if a soft break that ends in CR precedes them.
    after_cr: bool,
    /// The offset up to which the decoded bytes were replaced.
    replaced: usize,
    text: Vec<u8>,
    /// The length of the prefix of `text` in which later text cannot change the meaning of a `=`.
    settled: usize,
    /// True if the text ends in padding or a soft break.
    closed: bool,
}

impl Respelled {
    fn new(start: usize, after_cr: bool) -> Self {
        Self {
            start,
            after_cr,
            replaced: 0,
            text: Vec::with_capacity(4 * WIDTH),
            settled: 0,
            closed: false,
        }
    }

    /// Adds `line`, which represents the bytes from `decoded` on, with the edits that begin in it. `text` ends
    /// with the line.
    fn add_line<'e>(
        &mut self,
        text: &[u8],
        line: &RawLine,
        decoded: usize,
        changes: &mut std::iter::Peekable<impl Iterator<Item = &'e Edit<'e>>>,
    ) {
        let mut at = decoded;
        for (token, span) in (QuotedPieces {
            text,
            at: line.raw.start,
        }) {
            let len = token.decoded_length(span);
            // Text inserted before a soft break is placed after it, except at the end of the body.
            let takes = len > 0 || token == QuotedPiece::Padding || line.last;
            let mut kept = at;
            while let Some(edit) =
                changes.next_if(|edit| takes && edit.span.start < (at + len).max(at + 1))
            {
                self.keep(
                    text,
                    token,
                    span,
                    (kept.max(self.replaced) - at)..(edit.span.start - at),
                );
                kept = edit.span.start;
                self.replace(edit);
            }
            if len > 0 {
                self.keep(text, token, span, (kept.max(self.replaced) - at)..len);
            } else if at >= self.replaced {
                self.keep(text, token, span, 0..span.len());
            }
            at += len;
        }
        if line.last {
            for edit in changes {
                self.replace(edit);
            }
            if !self.closed {
                self.spell_last_blank();
            }
        }
    }

    /// Adds the part of the token at `span` that represents the bytes `range` of its decoded form.
    fn keep(&mut self, text: &[u8], token: QuotedPiece, span: Span, range: std::ops::Range<usize>) {
        if range.is_empty() {
            return;
        }
        if !self.closed && matches!(token, QuotedPiece::Padding | QuotedPiece::LineEnd) {
            self.spell_last_blank();
        }
        self.closed = matches!(token, QuotedPiece::Padding | QuotedPiece::SoftBreak);
        match token {
            QuotedPiece::Escape(_) => self.text.extend_from_slice(&text[span.range()]),
            _ => self
                .text
                .extend_from_slice(&text[span.start + range.start..span.start + range.end]),
        }
    }

    fn replace(&mut self, edit: &Edit) {
        self.spell_loose_equals();
        for &byte in &*edit.new {
            match byte {
                b'\t' | b' '..=b'~' if byte != b'=' => self.text.push(byte),
                _ => push_escape(&mut self.text, byte),
            }
        }
        self.settled = self.text.len();
        self.replaced = edit.span.end;
        self.closed = false;
    }

    /// Encodes a blank at the end of the text. Rule 3: blanks "MUST NOT be so represented at the end of the encoded
    /// line".
    fn spell_last_blank(&mut self) {
        if let Some(blank) = self.text.pop_if(|last| is_blank(*last)) {
            push_escape(&mut self.text, blank);
        }
    }

    /// Encodes a literal `=` at the end of the text, if later text could turn it into an escape or a soft break.
    fn spell_loose_equals(&mut self) {
        let tail = &self.text[self.settled..];
        let before_blanks = tail.len() - blanks_at_end(tail);
        let digits = match tail {
            [.., b'=', digit] if digit.is_ascii_hexdigit() => tail.len() - 1,
            _ if tail[..before_blanks].ends_with(b"=") => before_blanks,
            _ => return,
        };
        let at = self.settled + digits;
        self.text.splice(at..at, *b"3D");
    }

    /// The finished lines, which replace `before`.
    fn finish(self, before: &[u8], line_end: &[u8]) -> Vec<u8> {
        let mut lines = wrap(&self.text, before, line_end);
        // The soft break before these lines would absorb this LF.
        if self.after_cr && lines.starts_with(b"\n") {
            lines.splice(..1, [b"=0A=", line_end].concat());
        }
        lines
    }
}

fn push_escape(text: &mut Vec<u8>, byte: u8) {
    text.extend(format!("={byte:02X}").into_bytes());
}

/// True if a line that begins with `rest` has a special meaning in a message or mailbox: a boundary (RFC 2046,
/// 5.1.1), the `From ` that starts an mbox message, or the quoted `>From `, which some readers unquote.
pub fn is_structure(rest: &[u8]) -> bool {
    let quotes = rest
        .iter()
        .take(WIDTH)
        .take_while(|&&byte| byte == b'>')
        .count();
    rest.starts_with(b"--") || rest[quotes..].starts_with(b"From ")
}

/// Inserts soft breaks into quoted-printable `text` so that no line is longer than 76 columns. Encodes the first
/// character of a line with a special meaning in a message or mailbox, unless `before` began with such a line, too.
fn wrap(text: &[u8], before: &[u8], line_end: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 24);
    let mut column = 0;
    let mut tokens = QuotedPieces { text, at: 0 }.peekable();
    while let Some((token, span)) = tokens.next() {
        let next = tokens.peek().map(|(token, _)| *token);
        let ends = matches!(
            next,
            None | Some(QuotedPiece::Padding | QuotedPiece::LineEnd)
        );
        let is_escape = match token {
            QuotedPiece::Plain => false,
            QuotedPiece::Escape(_) => true,
            QuotedPiece::Padding => {
                if column + span.len() <= WIDTH {
                    out.extend_from_slice(&text[span.range()]);
                }
                continue;
            }
            QuotedPiece::SoftBreak => {
                let end = span.end
                    - text[span.range()]
                        .iter()
                        .rev()
                        .take_while(|b| matches!(b, b'\r' | b'\n'))
                        .count();
                let kept = if column + (end - span.start) <= WIDTH {
                    end
                } else {
                    span.start + 1
                };
                out.extend_from_slice(&text[span.start..kept]);
                out.extend_from_slice(&text[end..span.end]);
                column = 0;
                continue;
            }
            QuotedPiece::LineEnd => {
                out.extend_from_slice(&text[span.range()]);
                column = 0;
                continue;
            }
        };
        let mut at = span.start;
        while at < span.end {
            let rest = span.end - at;
            let room = WIDTH.saturating_sub(column);
            // Without the end of a line after it, a piece leaves room for a `=`.
            let fitting = match is_escape {
                _ if rest < room || (ends && rest == room) => rest,
                true => 0,
                false => room.saturating_sub(1),
            };
            if fitting == 0 {
                out.push(b'=');
                out.extend_from_slice(line_end);
                column = 0;
                continue;
            }
            let dot = ends && rest == 1 && text[at] == b'.';
            if column == 0
                && (dot || is_structure(&text[at..]) && !(at == 0 && is_structure(before)))
            {
                push_escape(&mut out, text[at]);
                (column, at) = (3, at + 1);
            } else {
                out.extend_from_slice(&text[at..at + fitting]);
                (column, at) = (column + fitting, at + fitting);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    /// Disjoint edits of `len` bytes. Each seed is a start, a length and the new text.
    fn edits_of(len: usize, seeds: &[(usize, usize, &str)]) -> Edits {
        let mut edits = Edits::default();
        let places = seeds.iter().map(|&(start, length, new)| {
            let start = start % (len + 1);
            (Span::new(start, (start + length).min(len)), new)
        });
        let mut places: Vec<_> = places.collect();
        places.sort();
        for (span, new) in places {
            let _ = edits.push(span, new);
        }
        edits
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "=", "=3D", "=3d", "=\n", "=\r\n", "=\r", "= \n", "=\t ", " ", "\t", "\n", "\r\n",
            "\r", "a", "3D", "bc d", "=4", "==",
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
    }

    fn seeds() -> impl Strategy<Value = Vec<(usize, usize, &'static str)>> {
        let new = prop::sample::select(vec![
            "",
            "=",
            " ",
            "\n",
            "\r",
            "41",
            "D",
            "http://a/",
            "=\n",
        ]);
        prop::collection::vec((0_usize..200, 0_usize..4, new), 0..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        /// Checks that edits are lifted identically with and without marks.
        #[test]
        fn marks_change_no_edit(raw in pieces(), seeds in seeds(), step in 1_usize..12) {
            let (bytes, marks) = decode_in_steps(&raw, step);
            let edits = edits_of(bytes.len(), &seeds);
            let changes: Vec<Edit<'_>> =
                edits.iter().filter(|edit| !edit.span.is_empty() || !edit.new.is_empty()).collect();
            let body = Encoded { buffer: &raw, body: Span::new(0, raw.len()), bytes: &bytes };
            let walked = body.lift_quoted_printable(&Marks::default(), &changes).unwrap();
            prop_assert_eq!(&body.lift_quoted_printable(&marks, &changes).unwrap(), &walked);
        }
    }

    proptest! {
        /// Checks that decoding a body equals decoding its pieces one by one.
        #[test]
        fn decoding_joins_the_decoded_pieces(raw in pieces(), step in 1_usize..12) {
            let (mut expected, mut places) = (Vec::new(), Vec::new());
            for (token, span) in (QuotedPieces { text: &raw, at: 0 }) {
                match token {
                    QuotedPiece::Plain | QuotedPiece::LineEnd => {
                        expected.extend_from_slice(&raw[span.range()]);
                        places.extend(span.range().map(|at| Span::new(at, at + 1)));
                    }
                    QuotedPiece::Escape(byte) => {
                        expected.push(byte);
                        places.push(span);
                    }
                    QuotedPiece::Padding | QuotedPiece::SoftBreak => {}
                }
            }
            let (decoded, marks) = decode_in_steps(&raw, step);
            prop_assert_eq!(&decoded, &expected);
            let found: Vec<_> = (0..decoded.len()).map(|at| marks.place(&raw, at)).collect();
            prop_assert_eq!(found, places);
            prop_assert_eq!(decode(&raw).0, expected);
        }
    }

    /// Checks that few pieces are between two marks, for any body.
    #[test]
    fn marks_are_dense_enough() {
        let long = 100_000;
        for shape in [
            "x", "=41", "=\n", "x\n", "x \n", "x=\n", "= \n", "=", " ", "=4", "x\r", "\u{e9}",
        ] {
            let raw = ["y", shape, "z"]
                .map(|part| part.repeat(long))
                .concat()
                .into_bytes();
            let (_, Marks(marks)) = decode(&raw);
            let ends = marks.iter().map(|mark| mark.raw).chain([raw.len()]);
            let mut pieces = QuotedPieces { text: &raw, at: 0 };
            for end in ends {
                let between = pieces
                    .by_ref()
                    .take_while(|(_, span)| span.end < end)
                    .count();
                assert!(between <= 2 * STEP, "{shape}: {between}");
            }
            assert!(
                marks.len() <= 1 + raw.len() / STEP,
                "{shape}: {}",
                marks.len()
            );
        }
    }
}
