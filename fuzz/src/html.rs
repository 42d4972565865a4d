//! HTML: the laws, and a comparison of the walk with html5ever.
//!
//! Deliberately absent: files next to the page.

use baselink_text::format::Format;

use super::laws::{chosen, hold};

#[path = "../../tests/referee/html.rs"]
mod referee;

/// Checks the laws for a page.
pub fn html(bytes: &[u8]) {
    let (page, options) = chosen(bytes, Format::Html);
    hold(page, &options);
    if let Some(difference) = referee::difference(page, &options.scan) {
        panic!("{difference}");
    }
}
