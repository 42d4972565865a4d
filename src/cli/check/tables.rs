//! Reports for other programs: CSV, JUnit's XML, and Markdown.
//!
//! ```text
//! file,line,column,denied,class,cause,reference,target
//! a.html,3,10,true,dangling,absent,b.html,b.html
//! ```
//!
//! JUnit's XML has a `testcase` for each document, and a `failure` in those with denied links. Nothing in a cell of Markdown is markup.
//!
//! Deliberately absent: links that are right, and those that a baseline accepts.

use std::io;

use baselink_site::{collection::origin::map::write_table, purpose::check::Class};
use baselink_text::{layer::escape, visible};

use super::{tree::CheckedTree, verdict::verdict, words::counted};

use crate::cli::args::check::{Check, ReportForm};

/// The largest number of links in Markdown, of which programs show about a megabyte.
const SHOWN: usize = 1_000;

/// The columns of CSV.
const COLUMNS: [&str; 8] = [
    "file",
    "line",
    "column",
    "denied",
    "class",
    "cause",
    "reference",
    "target",
];

/// A link with a finding.
struct LinkRow {
    /// The number of the file, the line and the column.
    place: [usize; 3],
    is_denied: bool,
    /// The last four columns.
    texts: [String; 4],
}

/// The names of the files, and the links with findings, by their places. A file to which no
/// page leads gets a row of its own, without a line and a column.
fn rows(request: &Check, tree: &CheckedTree) -> (Vec<String>, Vec<LinkRow>) {
    let names = tree.files.iter();
    let names = names.map(|file| String::from_utf8_lossy(&file.name).into_owned());
    let (mut names, mut rows) = (names.collect::<Vec<_>>(), Vec::new());
    for target in tree.targets.iter() {
        let class = target.rule.class();
        let cause = target.rule.cause(target.reason).unwrap_or_default();
        let mut add = |place: [usize; 3], reference| {
            rows.push(LinkRow {
                place,
                is_denied: request.deny.contains(class),
                texts: [class.name(), cause, reference, target.to].map(str::to_owned),
            });
        };
        for place in &target.summary.places {
            let at = [place.file, place.line, place.column].map(|one| one as usize);
            add(at, target.texts_of(place).1);
        }
        if class == Class::Unlinked {
            add([names.len(), 0, 0], "");
            names.push(target.to.to_owned());
        }
    }
    rows.sort_by_key(|row| row.place);
    (names, rows)
}

/// Writes a report of this form, which is neither a page nor a log.
pub fn write(
    form: ReportForm,
    (request, tree): (&Check, &CheckedTree),
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let (names, rows) = rows(request, tree);
    match form {
        ReportForm::JUnit => write_junit(&rows, &names, out),
        ReportForm::Markdown => write_markdown(&rows, (&names, &verdict(request, tree)), out),
        _ => {
            let rows = rows.into_iter().map(|row| {
                let [file, line, column] = row.place;
                let [class, cause, reference, target] = row.texts;
                let file = names[file].clone();
                let denied = row.is_denied.to_string();
                let [line, column] = [line, column].map(|one| one.to_string());
                [file, line, column, denied, class, cause, reference, target]
            });
            write_table(out, COLUMNS, rows)
        }
    }
}

fn write_junit(rows: &[LinkRow], names: &[String], out: &mut dyn io::Write) -> io::Result<()> {
    // XML has no such characters (XML 1.0, 2.2).
    let text = |text: &str| {
        let text = visible(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
        escape::text(&text).replace('"', "&quot;")
    };
    let mut denied = rows.iter().filter(|row| row.is_denied).peekable();
    let mut cases = String::new();
    let mut failures = 0;
    for (number, name) in names.iter().enumerate() {
        let name = text(name);
        cases += &format!("<testcase classname=\"baselink\" name=\"{name}\">");
        let mut found = Vec::new();
        while let Some(row) = denied.next_if(|row| row.place[0] == number) {
            let ([_, line, column], [class, _, reference, target]) = (row.place, &row.texts);
            let link = if reference.is_empty() {
                "no page"
            } else {
                reference
            };
            found.push(text(&format!(
                "{line}:{column}: {class}: {link} leads to {target}"
            )));
        }
        if !found.is_empty() {
            failures += 1;
            let links = counted(found.len(), "denied link", "denied links");
            cases += &format!(
                "<failure message=\"{links}\">{}</failure>",
                found.join("\n")
            );
        }
        cases += "</testcase>\n";
    }
    let tests = names.len();
    write!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"baselink\" tests=\"{tests}\" failures=\"{failures}\">\n{cases}</testsuite>\n"
    )
}

fn write_markdown(
    rows: &[LinkRow],
    (names, verdict): (&[String], &str),
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let cell = |text: &str| -> String {
        let mark = |letter: char| match letter {
            '.' | '/' | '-' => letter.to_string(),
            _ if letter.is_ascii_punctuation() => format!("&#{};", u32::from(letter)),
            _ => letter.to_string(),
        };
        visible(text).chars().map(mark).collect()
    };
    writeln!(
        out,
        "{verdict}\n\n| file | line | class | link | target |\n|---|---|---|---|---|"
    )?;
    for row in rows.iter().take(SHOWN) {
        let [class, _, reference, target] = row.texts.each_ref().map(|text| cell(text));
        let (file, line) = (cell(&names[row.place[0]]), row.place[1]);
        writeln!(
            out,
            "| {file} | {line} | {class} | {reference} | {target} |"
        )?;
    }
    match rows.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "\n{} more", counted(more, "link", "links")),
    }
}
