//! `Content-MD5`: a digest of a body, in base64 (RFC 1864).
//!
//! RFC 1864, 2: the digest covers "the canonical form" of the data, before a transfer encoding. In that form,
//! lines of text end in CRLF, whatever their ends in the file.
//!
//! ```
//! use baselink_text::layer::digest::{content_md5, with_crlf};
//! // RFC 1321, A.5: MD5 of "abc" is 900150983cd24fb0d6963f7d28e17f72.
//! assert_eq!(content_md5(b"abc"), "kAFQmDzST7DWlj99KOF/cg==");
//! assert_eq!(&*with_crlf(b"a\nb\r\nc"), b"a\r\nb\r\nc");
//! ```
//!
//! Deliberately absent: security. The digest detects accidental changes only.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use md5::{Digest, Md5};

use crate::{edit::Edits, span::Span};

/// The value of a `Content-MD5` field for `data`.
pub fn content_md5(data: &[u8]) -> String {
    STANDARD.encode(Md5::digest(data))
}

/// True if `name` ends with the first four hexadecimal digits of the MD5 of `query`. HTTrack appends them to file
/// names: `page4658.html` for `page?page=2`.
pub fn ends_with_md5(name: &[u8], query: &[u8]) -> bool {
    name.ends_with(first_of_md5(query, 2).as_bytes())
}

/// The first `bytes` of the MD5 of `data`, in hexadecimal digits.
pub fn first_of_md5(data: &[u8], bytes: usize) -> String {
    Md5::digest(data)
        .iter()
        .take(bytes)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// `text` with CRLF for every LF without a CR before it.
pub fn with_crlf(text: &[u8]) -> Cow<'_, [u8]> {
    let mut missing = Edits::default();
    for at in memchr::memchr_iter(b'\n', text) {
        if at == 0 || text[at - 1] != b'\r' {
            missing.add(Span::at(at), b"\r");
        }
    }
    if missing.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(missing.apply(text))
    }
}
