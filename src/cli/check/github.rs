//! Findings as annotations of GitHub Actions: workflow commands, one a line.
//!
//! ```text
//! ::error file=docs/index.html,line=3,col=10,title=pinned (absolute)::keeps pointing at http://a.example/docs/up.html
//! ```
//!
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>: a value has `%`, CR and
//! LF percent-encoded, one of a property also `:` and `,`.
//!
//! Deliberately absent: how many annotations are shown. GitHub bounds it.

use std::io::{self, Write};
use std::path::Path;

use baselink::tree::relocate::Class;

use super::listing::{Place, Shown};
use super::words;

/// Prints the annotation of a finding in the file at `path`.
pub(super) fn print(
    path: &Path,
    shown: &Shown<'_>,
    place: &Place,
    out: &mut dyn Write,
) -> io::Result<()> {
    let level = match (shown.is_denied, shown.finding.class) {
        (true, _) => "error",
        (_, Class::Travels | Class::Outside | Class::Left) => "notice",
        _ => "warning",
    };
    let file = property(&path.to_string_lossy());
    let title = property(&words::class_and_cause(shown.finding));
    let message = message(&words::sentences(shown.finding).join("\n"));
    let Place { line, utf_16, .. } = place;
    writeln!(out, "::{level} file={file},line={line},col={utf_16},title={title}::{message}")
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
