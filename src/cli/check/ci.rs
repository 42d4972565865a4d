//! Findings for other programs: a SARIF log, and annotations of GitHub Actions.
//!
//! ```text
//! {"version":"2.1.0","runs":[{"tool":{"driver":{"name":"baselink","rules":[…]}},"results":[…]}]}
//! ::error file=docs/index.html,line=3,col=10,title=pinned (absolute)::keeps pointing at http://a.example/docs/up.html
//! ```
//!
//! The log (Static Analysis Results Interchange Format 2.1.0, OASIS Standard, 2020) has one run, and a rule for each class
//! and cause. Columns count UTF-16 code units (3.14.17), and offsets count the bytes of the file (3.30.11). A relative path
//! becomes a relative URI (3.4.3), and an absolute path a `file` URL.
//!
//! An annotation is a workflow command, on one line
//! (<https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>): `%`, CR and LF are
//! percent-encoded, and in the value of a property also `:` and `,`.
//!
//! Deliberately absent: the log as a whole in memory, since results are written one by one; and a limit on the number of
//! annotations, since GitHub sets its own.

use std::{
    io::{self, Write},
    path::{MAIN_SEPARATOR, Path},
};

use baselink_text::{Span, visible};
use serde_json::{Value, json};

use super::{
    href::uri,
    words::{self, level},
};
use baselink_site::purpose::check::{Finding, FindingRule};

use crate::cli::{json_records::append_json, output::Output};

/// Prints the start of the log.
pub fn print_start(out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<_> = FindingRule::ALL.into_iter().map(rule).collect();
    let driver = json!({
        "name": "baselink",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    write!(
        out,
        "{{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json\",\
         \"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{driver}}},\
         \"columnKind\":\"utf16CodeUnits\",\"results\":["
    )
}

/// Prints the end of the log.
pub fn print_end(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n]}}]}}")
}

fn rule(rule: FindingRule) -> Value {
    let [why, help] = words::meaning(rule);
    json!({
        "id": rule.name(),
        "shortDescription": { "text": format!("{}: {why}.", rule.class().name()) },
        "help": { "text": help },
    })
}

/// Prints a finding in the file at `path`. Columns count UTF-16 code units.
pub fn print_finding(
    path: &Path,
    (finding, [start, end], span): (&Finding, [(usize, usize); 2], Span),
    is_denied: bool,
    output: &mut Output,
) -> io::Result<()> {
    let artifact = json!({ "uri": uri(path) });
    let result = json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": finding.rule as usize,
        "level": level(is_denied),
        "message": { "text": words::sentences(finding).join("; ") },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": artifact,
                "region": {
                    "startLine": start.0,
                    "startColumn": start.1,
                    "endLine": end.0,
                    "endColumn": end.1,
                    "byteOffset": span.start,
                    "byteLength": span.len(),
                },
            },
        }],
    });
    output.divide(b",")?;
    let mut line = b"\n".to_vec();
    append_json(&mut line, &result)?;
    output.out().write_all(&line)
}

/// Prints the annotation of a finding in the file at `path`.
pub fn print_annotation(
    path: &Path,
    (finding, (line, column)): (&Finding, (usize, usize)),
    is_denied: bool,
    output: &mut Output,
) -> io::Result<()> {
    let level = level(is_denied);
    // GitHub knows a file by its path in the repository, which has `/` on every system.
    let path = path.to_string_lossy().replace(MAIN_SEPARATOR, "/");
    let file = property(&plain(&path));
    let title = property(&words::class_and_cause(finding.rule, finding.reason));
    let message = message(&words::sentences(finding).join("\n"));
    writeln!(
        output.out(),
        "::{level} file={file},line={line},col={column},title={title}::{message}"
    )
}

/// Escapes the control characters of `text`, except line ends, which are percent-encoded later.
fn plain(text: &str) -> String {
    let lines = text.split_inclusive(['\r', '\n']);
    let plain = lines.map(|line| {
        let bare = line.trim_end_matches(['\r', '\n']);
        visible(bare).into_owned() + &line[bare.len()..]
    });
    plain.collect()
}

fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_names_are_escaped() {
        for (name, expected) in [
            ("a\u{1b}[31m\u{7}.html", r"a\u{1b}[31m\u{7}.html"),
            (
                "a\n::error::b,c:d\r%",
                "a%0A%3A%3Aerror%3A%3Ab%2Cc%3Ad%0D%25",
            ),
        ] {
            assert_eq!(property(&plain(name)), expected);
        }
    }
}
