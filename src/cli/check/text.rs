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

use std::io;

use anstyle::{AnsiColor, Style};
use baselink_text::error::{name, visible};
use unicode_width::UnicodeWidthStr;

use super::listed::{Listed, ListedFinding};
use super::targets::PLACES;
use super::tree::CheckedTree;
use super::words::{self, counted};
use crate::cli::args::check::Check;
use crate::cli::output::{FAINT, HEADING, Output, PLACE, location};

const DENIED: Style = AnsiColor::Red.on_default().bold();
const OTHER: Style = AnsiColor::Yellow.on_default().bold();

/// The largest numbers of characters shown: before the URL, of the URL, and after it.
const ROOM: [usize; 3] = [48, 96, 32];

/// The largest number of bytes to decode before a reference, of the reference, and after it.
const AROUND: usize = 160;

/// Prints a finding with its line.
pub(super) fn print_finding(found: &ListedFinding<'_>, output: &mut Output) -> io::Result<()> {
    let ListedFinding {
        input,
        link,
        finding,
        line,
        column,
        ..
    } = found;
    let name = name(input.name.path);
    let styler = output.styler;
    let style = if found.is_denied { DENIED } else { OTHER };
    let out = output.out();
    writeln!(
        out,
        "{} {}  {}",
        styler.paint(PLACE, format_args!("{name}:{line}:{column}:")),
        styler.paint(style, words::class_and_cause(finding.class, finding.cause)),
        location(link)
    )?;
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let [before, reference, after] = line_of(found);
    let before = last_chars(&on_one_line(&before), ROOM[0]);
    let url = first_chars(&on_one_line(&reference), ROOM[1]);
    let after = first_chars(&on_one_line(&after), ROOM[2]);
    let line = format!("{before}{}{after}", styler.paint(style, &url));
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

/// The line of a finding, shortened: the text before the reference, the reference, and the text after it.
fn line_of(found: &ListedFinding<'_>) -> [String; 3] {
    let (bytes, span, charset) = (found.input.bytes, found.link.span, found.charset);
    let line_start = span.start + 1 - found.column;
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

/// Prints the verdict, and the targets of the classes that are listed.
pub(super) fn print_targets(
    request: &Check,
    tree: &CheckedTree<'_>,
    listed: &Listed,
    output: &mut Output,
) -> io::Result<()> {
    let styler = output.styler;
    let out = output.out();
    writeln!(out, "{}", words::verdict(request, tree, listed))?;
    for target in listed
        .targets
        .iter()
        .filter(|target| request.list.contains(target.class))
    {
        let style = if target.is_denied { DENIED } else { OTHER };
        writeln!(
            out,
            "\n{}: {}, {} in {}",
            first_chars(&on_one_line(&target.to), ROOM[1]),
            styler.paint(style, words::class_and_cause(target.class, target.cause)),
            styler.paint(HEADING, counted(target.links, "link", "links")),
            counted(target.files, "file", "files")
        )?;
        for sentence in words::sentences_of_target(target) {
            writeln!(out, "  {} {sentence}", styler.paint(FAINT, "="))?;
        }
        let places = &target.places[..target.places.len().min(PLACES)];
        for place in places {
            let file = name(&tree.files[place.file].entry.path);
            let at = format!("{file}:{}:{}:", place.line, place.column);
            let reference = first_chars(&on_one_line(&place.reference), ROOM[1]);
            writeln!(
                out,
                "  {} {} {reference}",
                styler.paint(PLACE, at),
                place.location
            )?;
        }
        if target.links > places.len() {
            writeln!(
                out,
                "  … {} more",
                words::number(target.links - places.len())
            )?;
        }
    }
    Ok(())
}

/// `text` for one line of output. Each tab becomes a space, so that the marks are below the URL.
fn on_one_line(text: &str) -> String {
    visible(&text.replace('\t', " ")).into_owned()
}

/// The first `room` characters.
fn first_chars(text: &str, room: usize) -> String {
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
