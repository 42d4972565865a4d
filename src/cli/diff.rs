//! `--diff`: a unified diff, made from the edits.
//!
//! ```text
//! --- page.html
//! +++ page.html
//! @@ -1,2 +1,2 @@
//! -<a href=x>
//! +<a href=http://a/x>
//!  </a>
//! ```
//!
//! Only the lines that edits touch can differ, so the cost is linear. A line ends with LF, as for `patch`.
//!
//! Deliberately absent: comparing files. Equal lines are left out only at the start and end of a change.

use std::{io, iter};

use baselink_text::{Edits, Span, visible};

use super::output::{ADDED, HEADING, Output, REMOVED};
use baselink_site::reading::Input;

/// Unchanged lines shown before and after a change.
const CONTEXT: usize = 3;

/// Lines that are replaced by others.
struct ChangedLines {
    /// The first removed line, counted from 0.
    line: usize,
    /// The number of removed lines.
    removed: usize,
    /// The added lines, each with its line end.
    added: Vec<Vec<u8>>,
}

/// The progress of the diff of a file.
#[derive(Default)]
pub struct DiffProgress {
    /// True if the name of the file was printed.
    named: bool,
    /// The difference in lines between result and source so far.
    shift: isize,
}

/// Prints the changes that `edits` make to `input`, if there are any.
pub fn print(
    input: &Input<'_>,
    edits: &Edits,
    progress: &mut DiffProgress,
    output: &mut Output,
) -> io::Result<()> {
    let lines = lines_of(input.bytes);
    let changes = changes(input.bytes, edits);
    if changes.is_empty() {
        return Ok(());
    }
    let name = input.name;
    let styler = output.styler;
    if !std::mem::replace(&mut progress.named, true) {
        for mark in ["---", "+++"] {
            writeln!(
                output.out(),
                "{}",
                styler.paint(HEADING, format_args!("{mark} {name}"))
            )?;
        }
    }
    for hunk in changes.chunk_by(|a, b| b.line - (a.line + a.removed) <= 2 * CONTEXT) {
        let (first, last) = (&hunk[0], &hunk[hunk.len() - 1]);
        let start = first.line.saturating_sub(CONTEXT);
        let end = (last.line + last.removed + CONTEXT).min(lines.len());
        let grown: isize = hunk.iter().map(ChangedLines::growth).sum();
        let in_file = input.lines + start;
        let old = range(in_file, end - start);
        let new = range(
            in_file.saturating_add_signed(progress.shift),
            (end - start).saturating_add_signed(grown),
        );
        writeln!(output.out(), "@@ -{old} +{new} @@")?;
        progress.shift += grown;
        let mut at = start;
        for change in hunk {
            print_lines(b' ', &lines[at..change.line], output)?;
            at = change.line + change.removed;
            print_lines(b'-', &lines[change.line..at], output)?;
            print_lines(b'+', &change.added, output)?;
        }
        print_lines(b' ', &lines[at..end], output)?;
    }
    Ok(())
}

/// Formats a range of lines for the header of a hunk. An empty range has the number of the line before it.
fn range(start: usize, len: usize) -> String {
    match len {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        _ => format!("{},{len}", start + 1),
    }
}

fn print_lines(mark: u8, lines: &[impl AsRef<[u8]>], output: &mut Output) -> io::Result<()> {
    let style = output.styler.style(match mark {
        b'+' => ADDED,
        b'-' => REMOVED,
        _ => anstyle::Style::new(),
    });
    let is_terminal = output.is_terminal;
    let out = output.out();
    for line in lines {
        let line = line.as_ref();
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        write!(out, "{style}{}", char::from(mark))?;
        if is_terminal {
            let text = String::from_utf8_lossy(text);
            write!(
                out,
                "{}",
                text.split('\t').map(visible).collect::<Vec<_>>().join("\t")
            )?;
        } else {
            out.write_all(text)?;
        }
        writeln!(out, "{style:#}")?;
        if text.len() == line.len() {
            writeln!(out, "\\ No newline at end of file")?;
        }
    }
    Ok(())
}

fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The lines that `edits` change.
fn changes(bytes: &[u8], edits: &Edits) -> Vec<ChangedLines> {
    // Text appended at the end, after a line end, is a line of its own.
    let after_line_ends = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
    let starts: Vec<usize> = iter::once(0).chain(after_line_ends).collect();
    let line_of = |offset: usize| starts.partition_point(|&start| start <= offset) - 1;
    let all: Vec<_> = edits.iter().collect();
    // If a line end is removed, the next line changes, too.
    all.chunk_by(|a, b| line_of(b.span.start) <= line_of(a.span.end) + 1)
        .filter_map(|some| {
            let line = line_of(some[0].span.start);
            let next = line_of(some[some.len() - 1].span.end) + 1;
            let end = starts.get(next).copied().unwrap_or(bytes.len());
            let span = Span::new(starts[line], end);
            let old = &bytes[span.range()];
            ChangedLines::of(line, old, &edits.within(span).apply(old))
        })
        .collect()
}

impl ChangedLines {
    /// The change from the lines `old`, which begin at `line`, to `new`; `None` if they are equal.
    fn of(line: usize, old: &[u8], new: &[u8]) -> Option<Self> {
        let (old, new) = (lines_of(old), lines_of(new));
        let before = old
            .iter()
            .zip(&new)
            .take_while(|(old, new)| old == new)
            .count();
        let (old, new) = (&old[before..], &new[before..]);
        let after = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take_while(|(old, new)| old == new)
            .count();
        let (removed, new) = (old.len() - after, &new[..new.len() - after]);
        if removed == 0 && new.is_empty() {
            return None;
        }
        let added = new.iter().map(|line| line.to_vec()).collect();
        Some(Self {
            line: line + before,
            removed,
            added,
        })
    }

    /// The number of lines by which the change makes the result longer.
    fn growth(&self) -> isize {
        self.added.len().cast_signed() - self.removed.cast_signed()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use baselink_text::Span;

    use super::*;

    /// The changes as `line -removed +added`.
    fn check(source: &str, edits: &[(usize, usize, &str)], expected: &[&str]) {
        let mut list = Edits::default();
        for (start, end, new) in edits {
            list.push(Span::new(*start, *end), new.as_bytes()).unwrap();
        }
        let changes = changes(source.as_bytes(), &list);
        let shown: Vec<_> = changes
            .iter()
            .map(|change| {
                let added = String::from_utf8(change.added.concat()).unwrap();
                format!("{} -{} +{added:?}", change.line, change.removed)
            })
            .collect();
        assert_eq!(shown, expected, "{source:?} {edits:?}");
    }

    #[test]
    fn edits_become_changes_of_lines() {
        check("a\nb\nc\n", &[], &[]);
        check("a\nb\nc\n", &[(2, 3, "B")], &[r#"1 -1 +"B\n""#]);
        check(
            "ab\ncd\n",
            &[(0, 1, "A"), (1, 1, "-"), (4, 5, "D")],
            &[r#"0 -2 +"A-b\ncD\n""#],
        );
        check(
            "a\nb\nc\nd",
            &[(0, 1, "A"), (6, 7, "D")],
            &[r#"0 -1 +"A\n""#, r#"3 -1 +"D""#],
        );
    }

    #[test]
    fn whole_lines_come_and_go() {
        check("a\nb\nc\n", &[(2, 4, "")], &[r#"1 -1 +"""#]);
        check("a\nb\nc\n", &[(1, 2, "")], &[r#"0 -2 +"ab\n""#]);
        check("a\nb\n", &[(2, 2, "x\n")], &[r#"1 -0 +"x\n""#]);
        check("a\nb\n", &[(2, 2, "x\ny")], &[r#"1 -1 +"x\nyb\n""#]);
    }

    #[test]
    fn the_end_may_lack_its_line_end() {
        check("", &[(0, 0, "x")], &[r#"0 -0 +"x""#]);
        check("a\n", &[(2, 2, "x")], &[r#"1 -0 +"x""#]);
        check("a", &[(1, 1, "x")], &[r#"0 -1 +"ax""#]);
        check("a\nb", &[(1, 3, "")], &[r#"0 -2 +"a""#]);
        check("a\n", &[(0, 2, "")], &[r#"0 -1 +"""#]);
        check("a\n", &[(0, 1, "a")], &[]);
    }
}
