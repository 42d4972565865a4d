//! What a page says of itself: comments in which programs write from where they saved it.
//!
//! | program | comment | see |
//! |---|---|---|
//! | Internet Explorer, Chromium, Edge | `<!-- saved from url=(0016)http://a.example -->` | "Mark of the Web", <https://learn.microsoft.com/en-us/previous-versions/windows/internet-explorer/ie-developer/compatibility/ms537628(v=vs.85)>; Chromium, `MarkOfTheWebDeclaration` in `frame_serializer.cc` |
//! | SingleFile | `<!--⏎ Page saved with SingleFile ⏎ url: https://a.example/ ⏎ saved date: … -->`; older: `Archive processed by SingleFile` | <https://github.com/gildas-lormeau/single-file-core>, `COMMENT_HEADER` in `core/helper.js` |
//! | HTTrack | `<!-- Mirrored from a.example/x.html by HTTrack Website Copier/3.x […], … -->` | <https://github.com/xroche/httrack>, `HTS_DEFAULT_FOOTER` in `htsglobal.h` |
//! | monolith | `<!-- Saved from https://a.example/ at 2025-01-01T00:00:00Z using monolith v2.10.0 -->` | <https://github.com/Y2Z/monolith>, `create_metadata_tag` |
//!
//! The comments that count stand before the content: only space, a doctype, other comments, processing
//! instructions and the tags `<html>` and `<head>` come before them.
//!
//! ```
//! use baselink::tree::origin::saved_from::url;
//! let page = b"<!DOCTYPE html>\n<!-- saved from url=(0017)http://a.example/ -->\n<html>";
//! assert_eq!(url(page, "https").as_deref(), Some("http://a.example/"));
//! let page = b"<html>\n<!-- Mirrored from a.example/x.html by HTTrack Website Copier/3.x -->";
//! assert_eq!(url(page, "https").as_deref(), Some("https://a.example/x.html"));
//! ```
//!
//! Deliberately absent: pages in UTF-16, and what stands further down, which may be anybody's.

use memchr::{memchr, memmem};

/// How many bytes of a page are looked at.
pub const HEAD: usize = 64 << 10;

/// The URL from which the first such comment in `head`, the first bytes of a page in an
/// ASCII-compatible encoding, says that the page was saved. It is as written, so it need not be a
/// URL. Bytes that are not UTF-8 are U+FFFD.
///
/// `scheme` is that of HTTrack's URLs, which are written without one.
#[must_use]
pub fn url(head: &[u8], scheme: &str) -> Option<String> {
    let head = &head[..head.len().min(HEAD)];
    let mut rest = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    loop {
        rest = rest.trim_ascii_start();
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            // HTML, 13.2.5.43: `<!-->` and `<!--->` are whole comments.
            let end = 2 + memmem::find(&rest[2..], b"-->")?;
            if let Some(url) = of_comment(comment.get(..end.max(4) - 4)?, scheme) {
                return Some(url);
            }
            rest = &rest[end + 3..];
        } else if rest.starts_with(b"<!") || rest.starts_with(b"<?") {
            rest = &rest[1 + memchr(b'>', rest)?..];
        } else {
            rest = behind_tag(rest, b"<html").or_else(|| behind_tag(rest, b"<head"))?;
        }
    }
}

/// What comes behind the tag at the start of `text`, if it begins with `name`.
fn behind_tag<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    if !text.get(..name.len())?.eq_ignore_ascii_case(name) {
        return None;
    }
    let mut rest = &text[name.len()..];
    if !rest.first().is_some_and(|&byte| byte.is_ascii_whitespace() || byte == b'>') {
        return None;
    }
    loop {
        let at = memchr::memchr3(b'>', b'"', b'\'', rest)?;
        let (found, after) = (rest[at], &rest[at + 1..]);
        if found == b'>' {
            return Some(after);
        }
        rest = &after[1 + memchr(found, after)?..];
    }
}

/// The URL in a comment of one of those programs.
fn of_comment(comment: &[u8], scheme: &str) -> Option<String> {
    let comment = comment.trim_ascii();
    let after = |start: &[u8]| {
        comment.strip_prefix(start).map(|rest| String::from_utf8_lossy(rest).into_owned())
    };
    if let Some(rest) = after(b"saved from url=(") {
        let (length, rest) = rest.split_once(')')?;
        // Chromium escapes the second of two hyphens, which would end a comment in XML. As a part
        // of a host it must be undone.
        let url = if length.parse() == Ok(rest.len()) { rest } else { first_word(rest)? };
        return Some(url.replace("-%2D", "--"));
    }
    let single_file = after(b"Page saved with SingleFile");
    if let Some(rest) = single_file.or_else(|| after(b"Archive processed by SingleFile")) {
        let mut words = rest.split_ascii_whitespace().skip_while(|word| *word != "url:");
        return words.nth(1).map(str::to_owned);
    }
    if let Some(rest) = after(b"Mirrored from ") {
        let (url, _) = rest.split_once(" by HTTrack")?;
        let has_scheme =
            url.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(['.', '/']));
        return Some(if has_scheme { url.to_owned() } else { format!("{scheme}://{url}") });
    }
    let rest = after(b"Saved from ")?;
    let (saved, _) = rest.split_once(" using monolith")?;
    let (url, _) = saved.split_once(" at ")?;
    // What was no http URL monolith calls a "local source".
    url.contains(':').then(|| url.to_owned())
}

fn first_word(text: &str) -> Option<&str> {
    text.split_ascii_whitespace().next()
}
