//! Transfer encodings: an edit of the decoded text is lifted to an edit of the encoded text. Decoding the result gives
//! the decoded text with the edit.
//!
//! ```text
//! =2E./x  --decode-->  ../x  --edit-->  http://a/x
//! http://a/x  <------------decode------------  lifted
//! ```
//!
//! Deliberately absent: content codings of HTTP, which are removed (`http`).

use baselink_text::edit::Edits;
use baselink_text::layer::transfer::TransferEncoding;
use baselink_text::span::Span;

const ENCODINGS: [&str; 5] = [
    "quoted-printable",
    "base64",
    "quoted-printable",
    "base64",
    "7bit",
];

/// Makes two edits in the input; its last three bytes choose the edits and the transfer encoding.
pub fn transfer(bytes: &[u8]) {
    let Some((raw, [way, first, second])) = bytes.split_last_chunk() else {
        return;
    };
    let encoding = TransferEncoding::from_field(ENCODINGS[usize::from(*way) % 5].as_bytes());
    let Ok(decoded) = encoding.decode(raw, Span::new(0, raw.len())) else {
        return;
    };
    let length = decoded.bytes.len();
    let place = |of: u8| usize::from(of) * length / 255;
    let (first, second) = (place(*first.min(second)), place(*first.max(second)));
    let new: &[u8] = match way / 5 % 4 {
        0 => b"http://a/",
        1 => b"",
        2 => b"From \n.\n--= \t",
        _ => b"http://a.example/a-path-that-is-longer/than-what/a-line/of-quoted-printable/may-have/x",
    };
    let mut edits = Edits::default();
    edits
        .push(Span::new(first, first.midpoint(second)), new)
        .unwrap();
    edits
        .push(
            Span::new(second, length.midpoint(second)),
            &b"\xc3\xa9="[..],
        )
        .unwrap();
    let Ok(lifted) = decoded.lift(&edits) else {
        return;
    };
    let output = lifted.apply(raw);
    let again = encoding
        .decode(&output, Span::new(0, output.len()))
        .unwrap();
    assert!(
        *again.bytes == edits.apply(&decoded.bytes),
        "{}",
        output.escape_ascii()
    );
}
