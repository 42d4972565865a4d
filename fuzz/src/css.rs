//! Style sheets: the laws, and a comparison of the URLs with those in the tokens of cssparser.
//!
//! Deliberately absent: comparison beyond the first 4 KB, because the referee is recursive.

use baselink_scan::attributes::Groups;
use baselink_scan::css::urls;
use baselink_text::format::Format;

use super::laws::{chosen, hold};

#[path = "../../tests/referee/css.rs"]
mod referee;

/// Checks the laws for a style sheet.
pub fn css(bytes: &[u8]) {
    let (sheet, options) = chosen(bytes, Format::Css);
    hold(sheet, &options);
    let Ok(text) = str::from_utf8(&sheet[..sheet.len().min(4096)]) else {
        return;
    };
    for groups in [Groups::default(), Groups::all()] {
        assert_eq!(urls(text, groups), referee::urls(text, groups));
    }
}
