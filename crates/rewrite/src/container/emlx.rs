//! Files of Apple Mail (`.emlx`): a line with the length of the message, the message, and a property list in XML.
//!
//! ```text
//! 88 ⏎ Subject: x ⏎ … ⏎ <?xml version="1.0" …   -->   Subject: x ⏎ …
//! ```
//!
//! Deliberately absent: the contents of the property list.

use baselink_scan::fields::decimal;
use baselink_text::Span;

/// The message in a file of Apple Mail. `None` for other files, and if the length is wrong.
pub fn counted_message(bytes: &[u8]) -> Option<Span> {
    let start = memchr::memchr(b'\n', bytes)? + 1;
    let length: usize = decimal(bytes[..start].trim_ascii())?;
    let end = start.checked_add(length)?;
    let is_right = bytes.get(end..)?.starts_with(b"<?xml");
    is_right.then_some(Span::new(start, end))
}
