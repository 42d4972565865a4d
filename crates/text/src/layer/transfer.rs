//! Content transfer encodings: decodes a body, maps each byte to its place, and lifts edits to the encoded text.
//!
//! Implements quoted-printable (RFC 2045, 6.7) and base64 (RFC 2045, 6.8) in both directions, as tolerantly as
//! mail requires, and the identity encodings (RFC 2045, 6.2). An edit of quoted-printable re-encodes only the raw
//! lines that it touches. An edit of base64 re-encodes from the group in which it begins to the end of the data,
//! provided that re-encoding the unedited data reproduces the existing text. An HTTP body with codings is written
//! without them if it changes.
//!
//! ```
//! use baselink_text::layer::transfer::TransferEncoding;
//! use baselink_text::{edit::Edits, span::Span};
//! let message = b"\r\n<a href=3D\"im=\r\ng.png\">\r\n";
//! let encoding = TransferEncoding::from_field(b" Quoted-Printable (by hand)");
//! let decoded = encoding.decode(message, Span::new(2, message.len())).unwrap();
//! assert_eq!(&*decoded.bytes, b"<a href=\"img.png\">\r\n");
//! assert_eq!(decoded.covering(Span::new(9, 16)), Span::new(13, 23));
//!
//! let mut edits = Edits::default();
//! edits.push(Span::at(9), b"/a=b/").unwrap();
//! let lifted = decoded.lift(&edits).unwrap();
//! assert_eq!(lifted.apply(message), b"\r\n<a href=3D\"/a=3Db/im=\r\ng.png\">\r\n");
//! ```
//!
//! Deliberately absent: uuencode and other non-standard transfer encodings. A body in one of them is left
//! unchanged.

mod base64;
mod coding;
mod codings;
#[cfg(feature = "codings")]
mod compressed;
mod encoded;
mod quoted_printable;

use std::borrow::Cow;

use self::{
    base64::Base64Data,
    codings::{BEGINNING, Uncoded},
    encoded::{Encoded, push},
    quoted_printable::Marks,
};
pub use self::{
    codings::{Codings, longest_of},
    encoded::Obstacle,
};
use crate::{
    diagnostic::{Code, Diagnostic},
    edit::Edits,
    format::is_compressed,
    span::Span,
};

/// The encoding of a body for transport (RFC 2045, 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferEncoding {
    /// The bytes themselves, none above 0x7f. This is the default without a field.
    SevenBit,
    /// The bytes themselves, as `8bit` or, with lines of any length, as `binary`.
    Binary,
    /// RFC 2045, 6.7.
    QuotedPrintable,
    /// RFC 2045, 6.8.
    Base64,
    /// Codings of HTTP (RFC 9112, 7; RFC 9110, 8.4).
    Coded(Codings),
    /// Any other encoding. The body is opaque (RFC 2045, 6.4).
    Unknown,
}

impl TransferEncoding {
    /// The encoding named in the value of a `Content-Transfer-Encoding` field.
    ///
    /// Case, comments, folding, quotes and any text after a `;` or `,` are ignored. Common misspellings of the
    /// identity encodings (`8 bit`, `7-bit`, `8bits`) are accepted. An empty value counts as an absent field.
    pub fn from_field(value: &[u8]) -> Self {
        let mut name = Vec::new();
        let mut depth = 0_usize;
        let mut bytes = value.iter();
        while let Some(&byte) = bytes.next() {
            match byte {
                b'\\' => {
                    bytes.next();
                }
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                b';' | b',' => break,
                b'"' => {}
                _ => name.push(byte.to_ascii_lowercase()),
            }
        }
        match name.trim_ascii() {
            b"" | b"7bit" | b"7-bit" | b"7 bit" | b"7bits" => Self::SevenBit,
            b"binary" | b"8bit" | b"8-bit" | b"8 bit" | b"8bits" => Self::Binary,
            b"quoted-printable" => Self::QuotedPrintable,
            b"base64" => Self::Base64,
            _ => Self::Unknown,
        }
    }

    /// True if the body represents itself.
    pub fn is_identity(self) -> bool {
        match self {
            Self::SevenBit | Self::Binary => true,
            Self::Coded(codings) => codings.is_empty() && codings.kept().is_none(),
            Self::QuotedPrintable | Self::Base64 | Self::Unknown => false,
        }
    }

    /// Decodes the bytes at `body` of `buffer`.
    ///
    /// Quoted-printable never fails: sequences that RFC 2045 calls illegal represent themselves. Line ends are
    /// kept. base64 ends at its padding, even before the end of `body`.
    ///
    /// # Errors
    ///
    /// Fails if the encoding is unknown or the codings cannot be undone. Also fails if base64 data contain a
    /// character that is neither in the alphabet nor white space, because readers treat it differently.
    pub fn decode(self, buffer: &[u8], body: Span) -> Result<DecodedBody<'_>, Obstacle> {
        let body = Span::new(body.start.min(buffer.len()), body.end.min(buffer.len()));
        let raw = &buffer[body.range()];
        let mut remarks = Vec::new();
        let (bytes, places) = match self {
            Self::SevenBit | Self::Binary => (Cow::Borrowed(raw), Places::Identity),
            Self::QuotedPrintable => {
                let (bytes, marks) = quoted_printable::decode(raw);
                (Cow::Owned(bytes), Places::QuotedPrintable(marks))
            }
            Self::Base64 => {
                let (bytes, data) = Base64Data::decode(raw, body.start)?;
                if !data.ignored.is_empty() {
                    let remark = "data follows the end of this part's base64 and was not read";
                    let code = Code::TransferUndecodable;
                    remarks.push(Diagnostic::new(code, data.ignored, remark));
                }
                (Cow::Owned(bytes), Places::Base64(data))
            }
            Self::Coded(codings) => {
                let Uncoded {
                    bytes,
                    obstacle,
                    remarks: found,
                } = codings.decode(raw, body.start, None)?;
                remarks = found;
                let places = match (&bytes, obstacle) {
                    (Cow::Borrowed(_), None) => Places::Identity,
                    _ => Places::Coded(obstacle),
                };
                (bytes, places)
            }
            Self::Unknown => {
                return Err(Obstacle::new(
                    body.start,
                    "its transfer encoding is unknown",
                ));
            }
        };
        Ok(DecodedBody {
            bytes,
            remarks,
            encoding: self,
            buffer,
            body,
            places,
        })
    }

    /// The first bytes of the decoded body, about 1 KiB; empty if they cannot be decoded.
    pub fn beginning(self, buffer: &[u8], body: Span) -> Cow<'_, [u8]> {
        match self {
            Self::Coded(codings) => {
                let uncoded = codings.decode(&buffer[body.range()], body.start, Some(BEGINNING));
                uncoded.map(|uncoded| uncoded.bytes).unwrap_or_default()
            }
            _ => {
                let end = body.end.min(body.start + BEGINNING);
                let decoded = self.decode(buffer, Span::new(body.start, end));
                decoded.map(|decoded| decoded.bytes).unwrap_or_default()
            }
        }
    }
}

/// The decoded bytes of a body, and their places in the encoded buffer.
#[derive(Debug)]
pub struct DecodedBody<'a> {
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
    /// Diagnostics about the encoding, with spans in the buffer.
    pub remarks: Vec<Diagnostic>,
    encoding: TransferEncoding,
    buffer: &'a [u8],
    body: Span,
    places: Places,
}

#[derive(Debug)]
enum Places {
    /// The decoded bytes are those of the body.
    Identity,
    QuotedPrintable(Marks),
    Base64(Base64Data),
    /// The bytes have no individual places. The string is the reason, if any, why they cannot be written without
    /// their codings.
    Coded(Option<&'static str>),
}

impl DecodedBody<'_> {
    /// The smallest span of the buffer that contains the encoded form of the bytes at `span`.
    pub fn covering(&self, span: Span) -> Span {
        let len = self.bytes.len();
        let span = Span::new(span.start.min(len), span.end.min(len));
        let marks = match &self.places {
            Places::Identity => return span.shifted(self.body.start),
            Places::Coded(_) => return self.body,
            Places::Base64(data) => return data.covering(span),
            Places::QuotedPrintable(marks) => marks,
        };
        let place = |index: usize| marks.place(&self.buffer[self.body.range()], index);
        let found = match (span.is_empty(), len) {
            // The span begins at its first byte, not at the soft break before it.
            (false, _) => Span::new(place(span.start).start, place(span.end - 1).end),
            (true, len) if span.start < len => Span::at(place(span.start).start),
            (true, 0) => Span::at(0),
            (true, len) => Span::at(place(len - 1).end),
        };
        found.shifted(self.body.start)
    }

    /// True if the bytes, which should be those of a page or a part of it, are still compressed.
    pub fn is_compressed(&self) -> bool {
        let is_undecoded = self
            .remarks
            .iter()
            .any(|one| one.code == Code::CodingAbsent);
        is_compressed(&self.bytes, is_undecoded)
    }

    /// The reason, if any, why no edit can be made.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let Places::Coded(reason) = self.places else {
            return None;
        };
        Some(Obstacle::new(self.body.start, reason?))
    }

    /// Lifts `edits` of the decoded bytes to the buffer. Decoding the edited buffer yields [`bytes`](Self::bytes)
    /// with `edits` applied.
    ///
    /// In quoted-printable, lines that an edit touches are wrapped at 76 columns. No edit creates a line that looks
    /// like the start of an mbox message, a boundary or the end of an SMTP message. A body with codings is
    /// replaced as a whole by its decoded form.
    ///
    /// # Errors
    ///
    /// Fails for an edit after the end; for 8-bit bytes in a 7bit body; for base64 that re-encoding would not
    /// reproduce or that ends before the body; and for codings that were not fully undone.
    pub fn lift(&self, edits: &Edits) -> Result<Edits, Obstacle> {
        let mut changes = edits
            .iter()
            .filter(|edit| !edit.span.is_empty() || !edit.new.is_empty());
        let Some(last) = changes.clone().next_back() else {
            return Ok(Edits::default());
        };
        if last.span.end > self.bytes.len() {
            return Err(Obstacle::new(
                self.body.end,
                "an edit is after the end of the body",
            ));
        }
        let mut lifted = Edits::default();
        match &self.places {
            Places::Base64(data) => {
                let first = changes.next().map_or(0, |edit| edit.span.start);
                return self.encoded().lift_base64(data, first, edits);
            }
            Places::QuotedPrintable(marks) => {
                let changes: Vec<_> = changes.collect();
                return self.encoded().lift_quoted_printable(marks, &changes);
            }
            Places::Identity => {
                let is_seven_bit = self.encoding == TransferEncoding::SevenBit;
                for edit in changes {
                    let span = edit.span.shifted(self.body.start);
                    if is_seven_bit && !edit.new.is_ascii() && self.bytes.is_ascii() {
                        let reason = "a 7bit body cannot take bytes above 0x7f";
                        return Err(Obstacle::new(span.start, reason));
                    }
                    push(&mut lifted, span, &edit.new)?;
                }
            }
            Places::Coded(_) => {
                if let Some(obstacle) = self.obstacle() {
                    return Err(obstacle);
                }
                push(&mut lifted, self.body, edits.apply(&self.bytes))?;
            }
        }
        Ok(lifted)
    }

    fn encoded(&self) -> Encoded<'_> {
        Encoded {
            buffer: self.buffer,
            body: self.body,
            bytes: &self.bytes,
        }
    }
}

#[cfg(test)]
mod tests;
