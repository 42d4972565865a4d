//! The uses of custom properties in the bytes of a style sheet, or of a page with styles.
//!
//! A browser resolves the URL in a custom property against the base of the style sheet or document in which `var()`
//! inserts the URL into another property (CSS Custom Properties 1, 3).
//!
//! ```text
//! --a: var(--b); color: var(--c)  -->  --b, --c
//! ```
//!
//! Deliberately absent: scripts that build styles, the cascade, and names with escapes.

use super::tokens;

/// The names of the custom properties that `bytes` use.
pub fn used(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr_iter(b'(', bytes).filter_map(|open| {
        let before = open.checked_sub(3).map(|start| &bytes[start..open])?;
        let name = &bytes[tokens::space_end(bytes, open + 1)..];
        let length = name
            .iter()
            .take_while(|&&byte| tokens::is_of_name(byte))
            .count();
        let is_use = before.eq_ignore_ascii_case(b"var") && name.starts_with(b"--");
        is_use.then_some(&name[..length])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn var_uses_properties() {
        for (text, expected) in [
            ("a{b:VAR( --c , var(--d))}", "--c --d"),
            (
                "<p style=\"--a:var(--b)\"><p style='c:var(--d)'>",
                "--b --d",
            ),
            ("@property --a{syntax:'<url>'}", ""),
            ("a{b:myvar (--c) var(d)}", ""),
            ("\u{0}var(--a)", "--a"),
        ] {
            let all: Vec<_> = used(text.as_bytes()).map(String::from_utf8_lossy).collect();
            assert_eq!(all.join(" "), expected, "{text}");
        }
    }
}
