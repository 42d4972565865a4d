//! Text of documents as it may stand on a terminal.
//!
//! ```text
//! (escape)[2Jx  is shown as  \u{1b}[2Jx
//! ```
//!
//! Deliberately absent: escaping of what goes to files and pipes, which gets its bytes as they are.

use std::borrow::Cow;

/// Text of a document as it can be shown on one line.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_misleading) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_misleading(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

/// Whether a terminal would obey `c`, or show what stands around it in another order or line.
fn is_misleading(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
