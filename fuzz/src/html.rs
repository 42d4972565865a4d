//! HTML: the laws; and the walk against html5ever.
//!
//! Deliberately absent: files beside the page.

use baselink::format::Format;

use super::laws::{chosen, hold};

#[path = "../../tests/referee/html.rs"]
mod referee;

/// Holds a page to its laws.
pub fn html(bytes: &[u8]) {
    let (page, options) = chosen(bytes, Format::Html);
    hold(page, &options);
    if let Some(difference) = referee::difference(page, &options.scan) {
        panic!("{difference}");
    }
}
