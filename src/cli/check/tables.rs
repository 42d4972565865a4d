//! Reports for other programs: CSV, JUnit's XML, and Markdown.
//!
//! ```text
//! file,line,column,denied,class,cause,reference,target
//! a.html,3,10,true,dangling,no-file,b.html,/b.html
//! ```
//!
//! JUnit's XML has a `testcase` for each document, and a `failure` in those with denied links. Nothing in a cell of Markdown is markup.
//!
//! Deliberately absent: links that are right, and those that a baseline accepts.

use std::io;

use baselink_site::collection::origin::map::write_table;
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
    /// The file, and the last four columns.
    file: String,
    texts: [String; 4],
}

/// The links with findings, by their places.
fn rows(request: &Check, tree: &CheckedTree) -> Vec<LinkRow> {
    let mut rows = Vec::new();
    for target in tree.targets.iter() {
        let class = target.rule.class();
        let cause = target.rule.cause(target.reason).unwrap_or_default();
        rows.extend(target.summary.places.iter().map(|place| {
            let reference = target.texts_of(place).1;
            let place = [place.file, place.line, place.column].map(|one| one as usize);
            LinkRow {
                place,
                is_denied: request.deny.contains(class),
                file: String::from_utf8_lossy(&tree.files[place[0]].name).into(),
                texts: [class.name(), cause, reference, target.to].map(str::to_owned),
            }
        }));
    }
    rows.sort_by_key(|row| row.place);
    rows
}

/// Writes a report of this form, which is neither a page nor a log.
pub fn write(
    form: ReportForm,
    (request, tree): (&Check, &CheckedTree),
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let rows = rows(request, tree);
    match form {
        ReportForm::JUnit => write_junit(&rows, tree, out),
        ReportForm::Markdown => write_markdown(&rows, &verdict(request, tree), out),
        _ => {
            let rows = rows.into_iter().map(|row| {
                let ([_, line, column], [class, cause, reference, target]) = (row.place, row.texts);
                let denied = row.is_denied.to_string();
                let [line, column] = [line, column].map(|one| one.to_string());
                [
                    row.file, line, column, denied, class, cause, reference, target,
                ]
            });
            write_table(out, COLUMNS, rows)
        }
    }
}

fn write_junit(rows: &[LinkRow], tree: &CheckedTree, out: &mut dyn io::Write) -> io::Result<()> {
    // XML has no such characters (XML 1.0, 2.2).
    let text = |text: &str| {
        let text = visible(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
        escape::text(&text).replace('"', "&quot;")
    };
    let mut denied = rows.iter().filter(|row| row.is_denied).peekable();
    let mut cases = String::new();
    let mut failures = 0;
    for (number, file) in tree.files.iter().enumerate() {
        let name = text(&String::from_utf8_lossy(&file.name));
        cases += &format!("<testcase classname=\"baselink\" name=\"{name}\">");
        let mut found = Vec::new();
        while let Some(row) = denied.next_if(|row| row.place[0] == number) {
            let ([_, line, column], [class, _, reference, target]) = (row.place, &row.texts);
            found.push(text(&format!(
                "{line}:{column}: {class}: {reference} leads to {target}"
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
    let tests = tree.files.len();
    write!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"baselink\" tests=\"{tests}\" failures=\"{failures}\">\n{cases}</testsuite>\n"
    )
}

fn write_markdown(rows: &[LinkRow], verdict: &str, out: &mut dyn io::Write) -> io::Result<()> {
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
        let (file, line) = (cell(&row.file), row.place[1]);
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
