//! Findings as a SARIF log: Static Analysis Results Interchange Format 2.1.0 (OASIS Standard, 2020).
//!
//! ```text
//! {"version":"2.1.0","runs":[{"tool":{"driver":{"name":"baselink","rules":[…]}},"results":[…]}]}
//! ```
//!
//! The log has one run, and a rule for each class and cause. Columns count UTF-16 code units (3.14.17), and offsets
//! count the bytes of the file (3.30.11). A relative path becomes a relative URI (3.4.3), and an absolute path a
//! `file` URL.
//!
//! Deliberately absent: the log as a whole in memory. Results are written one by one.

use std::io::{self, Write};
use std::path::Path;

use crate::purpose::check::Finding;
use baselink_text::span::Span;
use serde_json::{Value, json};

use super::href::uri;
use super::words::{self, FindingRule, RULES, level};
use crate::cli::json as json_text;
use crate::cli::output::Output;

/// Prints the start of the log.
pub(super) fn print_start(out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<Value> = RULES.iter().map(rule).collect();
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
pub(super) fn print_end(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n]}}]}}")
}

fn rule(rule: &FindingRule) -> Value {
    json!({
        "id": rule.name(),
        "shortDescription": { "text": format!("{}: {}.", rule.class.name(), rule.why) },
        "help": { "text": rule.help },
    })
}

/// Prints a finding in the file at `path`. Columns count UTF-16 code units.
pub(super) fn print_finding(
    path: &Path,
    (finding, [start, end], span): (&Finding, [(usize, usize); 2], Span),
    is_denied: bool,
    output: &mut Output,
) -> io::Result<()> {
    let number = FindingRule::of(finding.class, finding.cause);
    let artifact = json!({ "uri": uri(path) });
    let result = json!({
        "ruleId": RULES[number].name(),
        "ruleIndex": number,
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
    json_text::append(&mut line, &result)?;
    output.out().write_all(&line)
}
