//! Style sheets: the laws, and the URLs against those that are read from the tokens of cssparser.
//!
//! Deliberately absent: sheets of many kilobytes for the referee, which recurses.

use baselink::format::Format;
use baselink::scan::attributes::Groups;
use baselink::scan::css::urls;

use super::laws::{chosen, hold};

#[path = "../../tests/referee/css.rs"]
mod referee;

/// Holds a style sheet to its laws.
pub fn css(bytes: &[u8]) {
    let (sheet, options) = chosen(bytes, Format::Css);
    hold(sheet, &options);
    let Ok(text) = str::from_utf8(&sheet[..sheet.len().min(4096)]) else { return };
    for groups in [Groups::default(), Groups::all()] {
        assert_eq!(urls(text, groups), referee::urls(text, groups));
    }
}
