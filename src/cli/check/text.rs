//! Findings in the style of compiler errors.
//!
//! ```text
//! docs/index.html:3:10: pinned (absolute)  a[href]
//!   3 | <a href="http://a.example/docs/up.html">Up</a>
//!     |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//!     = keeps pointing at http://a.example/docs/up.html
//! ```
//!
//! The marks are as wide as the URL: a character is zero, one or two columns wide (Unicode Standard Annex #11).
//!
//! Deliberately absent: differences between terminals in the width of characters.

use std::{
    io::{self, Write},
    path::Path,
};

use anstyle::{AnsiColor, Style};
use baselink_rewrite::ListedLink;
use baselink_text::{Charset, Span, name, visible};
use unicode_width::UnicodeWidthStr;

use super::words;
use baselink_site::purpose::check::CheckedLink;

use crate::cli::output::{FAINT, Output, location};

/// The style of findings.
pub fn style_of(is_denied: bool) -> Style {
    let color = if is_denied {
        AnsiColor::Red
    } else {
        AnsiColor::Yellow
    };
    color.on_default().bold()
}

/// The largest numbers of characters shown: before the URL, of the URL, and after it.
pub const ROOM: [usize; 3] = [48, 96, 32];

/// The largest number of bytes to decode before a reference, of the reference, and after it.
const AROUND: usize = 160;

/// Prints a finding in the file at `path`, with its line.
pub fn print_finding(
    path: &Path,
    (found, bytes): (&CheckedLink, &[u8]),
    is_denied: bool,
    output: &mut Output,
) -> io::Result<()> {
    let CheckedLink {
        listed,
        charset,
        finding,
    } = found;
    let ListedLink { link, line, column } = listed;
    let name = name(path);
    let styler = output.styler;
    let style = style_of(is_denied);
    let out = &mut output.lines();
    writeln!(
        out,
        "{} {}  {}",
        styler.paint(FAINT, format_args!("{name}:{line}:{column}:")),
        styler.paint(style, words::class_and_cause(finding.rule, finding.reason)),
        location(link)
    )?;
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let [before, url, after] = line_of(bytes, link.span, *column, *charset);
    let before = last_chars(&on_one_line(&before), ROOM[0]);
    let url = &first_chars(&on_one_line(&url), ROOM[1]);
    let after = first_chars(&on_one_line(&after), ROOM[2]);
    let line = format!("{before}{}{after}", styler.paint(style, url));
    writeln!(
        out,
        "  {} {}",
        styler.paint(FAINT, format_args!("{number} |")),
        line.trim_end()
    )?;
    let marks = "^".repeat(url.width().max(1));
    let gap = " ".repeat(before.width());
    let bar = styler.paint(FAINT, "|");
    writeln!(out, "  {margin} {bar} {gap}{}", styler.paint(style, marks))?;
    for sentence in words::sentences(finding) {
        writeln!(out, "  {margin} {} {sentence}", styler.paint(FAINT, "="))?;
    }
    Ok(())
}

/// The line of a link, shortened.
fn line_of(bytes: &[u8], span: Span, column: usize, charset: Charset) -> [String; 3] {
    let line_start = span.start + 1 - column;
    // The cut must not split a code unit of UTF-16.
    let is_wide = charset.name().starts_with("UTF-16");
    let near = span.start.saturating_sub(AROUND);
    let cut = if is_wide {
        near + (near ^ span.start) % 2
    } else {
        near
    };
    let text = |from: usize, to: usize| charset.decode(&bytes[from..to], 0).text;
    let mut before = text(cut.max(line_start), span.start);
    if cut > line_start {
        // The cut may fall inside a character.
        let whole = before.trim_start_matches(char::REPLACEMENT_CHARACTER);
        before = format!("…{whole}");
    }
    let shown_end = span.end.min(span.start + AROUND);
    let (reference, is_one_line) = first_line(&text(span.start, shown_end));
    if !is_one_line || shown_end < span.end {
        let whole = reference.trim_end_matches(char::REPLACEMENT_CHARACTER);
        return [before, format!("{whole}…"), String::new()];
    }
    let end = bytes.len().min(span.end + AROUND);
    let (rest, is_cut) = first_line(&text(span.end, end));
    let more = if is_cut && end < bytes.len() {
        "…"
    } else {
        ""
    };
    let after = format!(
        "{}{more}",
        rest.trim_end_matches(char::REPLACEMENT_CHARACTER)
    );
    [before, reference, after]
}

/// `text` up to its first line end; true if it has no line end.
fn first_line(text: &str) -> (String, bool) {
    match text.find(['\n', '\r']) {
        Some(end) => (text[..end].to_owned(), false),
        None => (text.to_owned(), true),
    }
}

/// `text` for one line of output. Each tab becomes a space, so that the marks are below the URL.
pub fn on_one_line(text: &str) -> String {
    visible(&text.replace('\t', " ")).into_owned()
}

/// The first `room` characters.
pub fn first_chars(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end_matches('…')),
    }
}

/// The last `room` characters.
fn last_chars(text: &str, room: usize) -> String {
    let all = text.chars().count();
    if all <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(all - room).collect();
    format!("…{kept}")
}
