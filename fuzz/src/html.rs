//! HTML: the laws, also of a file that is read in windows; and the walk against html5ever.
//!
//! Deliberately absent: files beside the page.

use std::io::Cursor;

use baselink::format::Format;
use baselink::rewrite_stream;

use super::laws::{chosen, hold};

#[path = "../../tests/referee/html.rs"]
mod referee;

/// Holds a page to its laws.
pub fn html(bytes: &[u8]) {
    let (page, options) = chosen(bytes, Format::Html);
    let output = hold(page, &options);
    let mut readers = [Cursor::new(page), Cursor::new(page)];
    let mut streamed = Vec::new();
    let mut give = |piece: &mut Vec<u8>| {
        streamed.append(piece);
        Ok(())
    };
    rewrite_stream(&mut readers, &options, 16, &mut give).unwrap();
    assert!(streamed == output, "in windows: {}", streamed.escape_ascii());
    if let Some(difference) = referee::difference(page, &options.scan) {
        panic!("{difference}");
    }
}
