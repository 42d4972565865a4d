//! Words of a command line, quoted for pasting into a shell.
//!
//! ```text
//! http://a/?x=1&y=2   -->   'http://a/?x=1&y=2'
//! ```
//!
//! The quotes are those of POSIX, XCU 2.2.2.
//!
//! Deliberately absent: parsing such words, and other shells.

use std::{borrow::Cow, path::is_separator};

use super::visible;

/// Quotes `text`, unless a shell would take it as one literal word anyway.
pub fn word(text: &str) -> Cow<'_, str> {
    if !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || is_separator(c) || "%+,-.:@_=".contains(c))
    {
        return text.into();
    }
    format!("'{}'", visible(text).replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_quoted() {
        for (text, quoted) in [
            ("http://a/b.html", "http://a/b.html"),
            ("http://a/?x=1&y=2#z", "'http://a/?x=1&y=2#z'"),
            ("it's", r"'it'\''s'"),
            ("a b", "'a b'"),
            ("~", "'~'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), quoted);
        }
    }
}
