//! The uses of custom properties in the bytes of a style sheet, or of a page with styles.
//!
//! A browser resolves the URL in a custom property against the base of the style sheet or document in which `var()`
//! inserts the URL into another property (CSS Custom Properties 1, 3). A property registered by `@property` has rules of
//! its own.
//!
//! ```text
//! --a: var(--b); color: var(--c)  -->  --b, used in --a; --c
//! ```
//!
//! Deliberately absent: scripts that build styles, the cascade, and names with escapes.

use std::borrow::Cow;

use super::tokens;

/// The maximum distance from the start of a declaration to a `var()` in it.
const LONGEST: usize = 4096;

/// An appearance of the name of a custom property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use<'a> {
    /// In a declaration of a property that is not custom.
    Direct,
    /// In the declaration of the custom property with this name.
    In(&'a [u8]),
    /// In a place that is not understood, or in `@property`.
    Unclear,
}

/// Calls `found` with each custom property that `bytes` use. In a page, quotation marks and tags limit declarations.
pub fn each_use(bytes: &[u8], is_page: bool, found: &mut dyn FnMut(&[u8], Use<'_>)) {
    let is_wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let bytes: Cow<'_, [u8]> = match is_wide {
        true => bytes.iter().copied().filter(|&byte| byte != 0).collect(),
        false => bytes.into(),
    };
    for at in memchr::memmem::find_iter(&bytes, b"@property") {
        if let Some(name) = name_at(&bytes, at + "@property".len()) {
            found(name, Use::Unclear);
        }
    }
    for open in memchr::memchr_iter(b'(', &bytes) {
        let before = open.checked_sub(3).map(|start| &bytes[start..open]);
        if before.is_some_and(|before| before.eq_ignore_ascii_case(b"var"))
            && let Some(name) = name_at(&bytes, open + 1)
        {
            found(
                name,
                use_at(&bytes[open.saturating_sub(LONGEST)..open], is_page),
            );
        }
    }
}

/// The name of a custom property after white space at `at`.
fn name_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let name = &bytes[tokens::space_end(bytes, at)..];
    let length = name
        .iter()
        .take_while(|&&byte| tokens::is_of_name(byte))
        .count();
    name[..length].starts_with(b"--").then_some(&name[..length])
}

/// The kind of use after `before`, the end of the text before it.
fn use_at(before: &[u8], is_page: bool) -> Use<'_> {
    let limits: &[u8] = if is_page { b";{}\"'<>" } else { b";{}" };
    let start = before.iter().rposition(|byte| limits.contains(byte));
    if start.is_none() && before.len() == LONGEST {
        return Use::Unclear;
    }
    let mut declaration = before[start.map_or(0, |start| start + 1)..].trim_ascii_start();
    // A limit may be inside a comment before the declaration.
    while let Some(end) = memchr::memmem::find(declaration, b"*/") {
        if memchr::memmem::rfind(&declaration[..end], b"/*").is_some_and(|start| start > 0) {
            break;
        }
        declaration = declaration[end + 2..].trim_ascii_start();
    }
    name_at(declaration, 0).map_or(Use::Direct, Use::In)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_direct_or_in_custom_properties() {
        for (text, is_page, expected) in [
            ("a{b:var(--c)}", false, "--c Direct;"),
            ("a{b:VAR( --c , var(--d))}", false, "--c Direct;--d Direct;"),
            (
                "a{--b:url(x) var(--c);/* ; */ --d : var(--e)}",
                false,
                "--c in --b;--e in --d;",
            ),
            (
                "<p style=\"--a:var(--b)\"><p style='c:var(--d)'>",
                true,
                "--b in --a;--d Direct;",
            ),
            ("@property --a{syntax:'<url>'}", false, "--a Unclear;"),
            ("a{b:myvar (--c) var(d)}", false, ""),
            ("\u{0}var(--a)", false, "--a Direct;"),
        ] {
            let mut all = String::new();
            each_use(text.as_bytes(), is_page, &mut |name, kind| {
                let kind = match kind {
                    Use::In(outer) => format!("in {}", String::from_utf8_lossy(outer)),
                    other => format!("{other:?}"),
                };
                all.push_str(&format!("{} {kind};", String::from_utf8_lossy(name)));
            });
            assert_eq!(all, expected, "{text}");
        }
    }
}
