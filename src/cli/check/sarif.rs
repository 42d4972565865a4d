//! Findings as a SARIF log: Static Analysis Results Interchange Format 2.1.0 (OASIS Standard, 2020).
//!
//! ```text
//! {"version":"2.1.0","runs":[{"tool":{"driver":{"name":"baselink","rules":[…]}},"results":[…]}]}
//! ```
//!
//! One run; a rule for each class and cause. Columns count UTF-16 code units (3.14.17), byte offsets those of
//! the file (3.30.11). A path is a relative URI as it was typed (3.4.3), an absolute one a `file` URL.
//!
//! Deliberately absent: the log as a whole in memory. Results are written one by one.

use std::io::{self, Write};
use std::path::Path;

use baselink::purpose::check::Fix;
use serde_json::{Value, json};

use super::form::FindingForm;
use super::href::uri;
use super::listed::{FindingPlace, Shown};
use super::words::{self, FindingRule, RULES};
use crate::cli::json as json_text;
use crate::cli::output::Output;

/// The log.
pub(super) struct Sarif;

impl FindingForm for Sarif {
    fn has_utf_16_columns(&self) -> bool {
        true
    }

    fn has_edits(&self) -> bool {
        true
    }

    fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
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

    fn finding(
        &self,
        path: &Path,
        shown: &Shown<'_>,
        place: &FindingPlace,
        output: &mut Output,
    ) -> io::Result<()> {
        output.divide(b",")?;
        let mut line = b"\n".to_vec();
        json_text::put(&mut line, &result(path, shown, place))?;
        output.out().write_all(&line)
    }

    fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\n]}}]}}")
    }
}

fn rule(rule: &FindingRule) -> Value {
    json!({
        "id": rule.name(),
        "shortDescription": { "text": format!("{}: {}.", rule.class.name(), rule.why) },
        "help": { "text": rule.help },
    })
}

/// A finding in the file at `path`.
fn result(path: &Path, shown: &Shown<'_>, place: &FindingPlace) -> Value {
    let finding = shown.finding;
    let number = FindingRule::of(finding.class, finding.cause);
    let artifact = json!({ "uri": uri(path) });
    let span = shown.link.span;
    let mut result = json!({
        "ruleId": RULES[number].name(),
        "ruleIndex": number,
        "level": shown.level(),
        "message": { "text": words::sentences(finding).join("; ") },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": artifact,
                "region": {
                    "startLine": place.line,
                    "startColumn": place.utf_16,
                    "endLine": place.end.0,
                    "endColumn": place.end.1,
                    "byteOffset": span.start,
                    "byteLength": span.len(),
                },
            },
        }],
    });
    if let Some(replacements) = replacements(place)
        && let Some(Fix::Reference(reference)) = &finding.fix
    {
        let description = format!("Make it relative: {reference}");
        result["fixes"] = json!([{
            "description": { "text": description },
            "artifactChanges": [{ "artifactLocation": artifact, "replacements": replacements }],
        }]);
    }
    result
}

/// What gives way to what (3.57); `None` where the new bytes are no text by themselves.
fn replacements(place: &FindingPlace) -> Option<Vec<Value>> {
    let replacement = |edit: &baselink::edit::Edit| {
        let text = std::str::from_utf8(&edit.new).ok()?;
        Some(json!({
            "deletedRegion": { "byteOffset": edit.span.start, "byteLength": edit.span.len() },
            "insertedContent": { "text": text },
        }))
    };
    let replacements: Option<Vec<Value>> = place.edits.iter().map(replacement).collect();
    replacements.filter(|replacements| !replacements.is_empty())
}
