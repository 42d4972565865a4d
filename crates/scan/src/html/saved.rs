//! The notes of programs that saved a page: comments that record its original URL and base.
//!
//! | program | comment | see |
//! |---|---|---|
//! | Internet Explorer, Chromium, Edge | `<!-- saved from url=(0016)http://a.example -->` | "Mark of the Web", <https://learn.microsoft.com/en-us/previous-versions/windows/internet-explorer/ie-developer/compatibility/ms537628(v=vs.85)>; Chromium, `MarkOfTheWebDeclaration` in `frame_serializer.cc` |
//! | SingleFile | `<!--⏎ Page saved with SingleFile ⏎ url: https://a.example/ ⏎ saved date: … -->`; older: `Archive processed by SingleFile` | <https://github.com/gildas-lormeau/single-file-core>, `COMMENT_HEADER` in `core/helper.js` |
//! | HTTrack | `<!-- Mirrored from a.example/x.html by HTTrack Website Copier/3.x […], … -->`; 3.51 writes `http://a.example/x.html` | <https://github.com/xroche/httrack>, `HTS_DEFAULT_FOOTER` in `htsglobal.h` |
//! | monolith | `<!-- Saved from https://a.example/ at 2025-01-01T00:00:00Z using monolith v2.10.0 -->` | <https://github.com/Y2Z/monolith>, `create_metadata_tag` |
//!
//! Only comments before the content count: nothing but white space, a doctype, other comments, processing
//! instructions and the tags `<html>` and `<head>` may precede them.
//!
//! Browsers that save a page with its files replace each `base` element by a comment, because the element would
//! break links to local copies:
//!
//! | program | in the place of `<base href="/docs/">` |
//! |---|---|
//! | Chromium, Edge | `<!--<base href="/docs/">--><base href=".">`: the original element in a comment, and an element that means the folder of the page |
//! | Firefox | `<!-- base href="http://a.example/docs/" -->`: the URL of the element |
//!
//! ```
//! use baselink_scan::Program;
//! use baselink_scan::html::saved::saved;
//! let page = b"<!DOCTYPE html>\n<!-- saved from url=(0017)http://a.example/ -->\n<html>";
//! assert_eq!(saved(page).unwrap().url("https"), "http://a.example/");
//! let page = b"<html>\n<!-- Mirrored from a.example/x.html by HTTrack Website Copier/3.x -->";
//! let saved = saved(page).unwrap();
//! assert_eq!(saved.program, Program::HtTrack);
//! assert_eq!(saved.url("https"), "https://a.example/x.html");
//! ```
//!
//! Deliberately absent: the location of local copies, which `rewrite` finds; and comments further down in a page,
//! which anyone may have written.

use baselink_text::{Span, format::is_among};
use memchr::{memchr, memmem};

use super::{
    sink::Event,
    tag::{self, RawTag},
    walk,
};
use crate::document::{Program, Saved};

/// The number of bytes of a page that are searched.
pub const HEAD: usize = 64 << 10;

/// The first note of a program that saved the page. `head` holds the first bytes of the page, in an ASCII-compatible
/// encoding. The URL is as written and may be invalid. Bytes that are not UTF-8 become U+FFFD.
pub fn saved(head: &[u8]) -> Option<Saved> {
    let head = &head[..head.len().min(HEAD)];
    let mut rest = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    loop {
        rest = rest.trim_ascii_start();
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            // HTML, 13.2.5.43: `<!-->` and `<!--->` are whole comments.
            let end = 2 + memmem::find(&rest[2..], b"-->")?;
            if let Some(saved) = of_comment(comment.get(..end.max(4) - 4)?) {
                return Some(saved);
            }
            rest = &rest[end + 3..];
        } else if rest.starts_with(b"<!") || rest.starts_with(b"<?") {
            rest = &rest[1 + memchr(b'>', rest)?..];
        } else {
            let tag = tag::read(rest, 0).filter(|_| rest.starts_with(b"<"))?;
            let is_start =
                !tag.end_tag && (tag.is_named(rest, "html") || tag.is_named(rest, "head"));
            rest = is_start.then(|| &rest[tag.span.end..])?;
        }
    }
}

/// The note in a comment, if one of these programs wrote it.
fn of_comment(comment: &[u8]) -> Option<Saved> {
    let comment = comment.trim_ascii();
    let after = |start: &[u8]| {
        comment
            .strip_prefix(start)
            .map(|rest| String::from_utf8_lossy(rest).into_owned())
    };
    let saved = |program, written: &str| {
        Some(Saved {
            program,
            written: written.to_owned(),
        })
    };
    if let Some(rest) = after(b"saved from url=(") {
        let (length, rest) = rest.split_once(')')?;
        // Chromium writes the second of two hyphens as `%2D`, because an XML comment must not contain `--`. The escape
        // is undone because it would change a host.
        let url = if length.parse() == Ok(rest.len()) {
            rest
        } else {
            rest.split_ascii_whitespace().next()?
        };
        return saved(Program::Browser, &url.replace("-%2D", "--"));
    }
    let single_file = after(b"Page saved with SingleFile");
    if let Some(rest) = single_file.or_else(|| after(b"Archive processed by SingleFile")) {
        let mut words = rest
            .split_ascii_whitespace()
            .skip_while(|word| *word != "url:");
        return saved(Program::SingleFile, words.nth(1)?);
    }
    if let Some(rest) = after(b"Mirrored from ") {
        return saved(Program::HtTrack, rest.split_once(" by HTTrack")?.0);
    }
    let rest = after(b"Saved from ")?;
    let (rest, _) = rest.split_once(" using monolith")?;
    let (url, _) = rest.split_once(" at ")?;
    // Instead of a URL that is not http, monolith writes "local source".
    if url.contains(':') {
        saved(Program::Monolith, url)
    } else {
        None
    }
}

/// The `base` element in a comment by Chromium. Another `base` element must follow immediately.
pub(super) fn commented_element(bytes: &[u8], comment: Span) -> Option<RawTag> {
    let start = comment.start + 4;
    if !bytes[comment.range()].starts_with(b"<!--") {
        return None;
    }
    let tag = base_at(&bytes[..comment.end], start)?;
    base_at(bytes, comment.end)?;
    (bytes[tag.span.end..comment.end] == *b"-->").then_some(tag)
}

/// The tag of a `base` element at `at`.
fn base_at(bytes: &[u8], at: usize) -> Option<RawTag> {
    let tag = bytes
        .get(at..at + 5)?
        .eq_ignore_ascii_case(b"<base")
        .then(|| tag::read(bytes, at))??;
    (tag.name.end == at + 5).then_some(tag)
}

/// The beginning of a comment with which Firefox replaces a `base` element.
pub(super) const COMMENTED_BASE: &[u8] = b"<!-- base href=\"";

/// The URL in a comment with which Firefox replaces a `base` element, if the comment ends within the first [`HEAD`]
/// bytes of a page.
pub(crate) fn commented_url(bytes: &[u8], comment: Span) -> Option<Span> {
    let (start, end) = (COMMENTED_BASE, b"\" -->");
    if comment.end > HEAD {
        return None;
    }
    let url = bytes[comment.range()]
        .strip_prefix(start)?
        .strip_suffix(end)?;
    let at = comment.start + start.len();
    (!url.contains(&b'"')).then(|| Span::new(at, at + url.len()))
}

/// True if every start tag before `end` can come before a `body` (HTML, 13.2.6.4.4).
pub(super) fn is_in_head(bytes: &[u8], end: usize) -> bool {
    let mut is_head = true;
    walk::best_effort(bytes, 0..end, true, true, &mut |event: Event<'_>| {
        if let Event::Tag(tag, _) = event {
            is_head &= tag.end_tag || is_among(&bytes[tag.name.range()], OF_HEAD);
        }
    });
    is_head
}

/// The elements that can come before a `body`.
const OF_HEAD: &str =
    "html head title meta link base style script noscript template basefont bgsound noframes";
