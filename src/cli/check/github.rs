//! Findings as annotations of GitHub Actions: workflow commands, one per line.
//!
//! ```text
//! ::error file=docs/index.html,line=3,col=10,title=pinned (absolute)::keeps pointing at http://a.example/docs/up.html
//! ```
//!
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>: `%`, CR and LF are
//! percent-encoded, and in the value of a property also `:` and `,`.
//!
//! Deliberately absent: a limit on the number of annotations; GitHub sets its own.

use std::io;
use std::path::{MAIN_SEPARATOR, Path};

use crate::purpose::check::Finding;
use baselink_text::error::visible;

use super::words::{self, level};
use crate::cli::output::Output;

/// Prints the annotation of a finding in the file at `path`.
pub(super) fn print_finding(
    path: &Path,
    (finding, (line, column)): (&Finding, (usize, usize)),
    is_denied: bool,
    output: &mut Output,
) -> io::Result<()> {
    let level = level(is_denied);
    // GitHub knows a file by its path in the repository, which has `/` on every system.
    let path = path.to_string_lossy().replace(MAIN_SEPARATOR, "/");
    let file = property(&plain(&path));
    let title = property(&words::class_and_cause(finding.class, finding.cause));
    let message = message(&words::sentences(finding).join("\n"));
    writeln!(
        output.out(),
        "::{level} file={file},line={line},col={column},title={title}::{message}"
    )
}

/// Escapes the control characters of `text`, except line ends, which are percent-encoded later.
fn plain(text: &str) -> String {
    let lines = text.split_inclusive(['\r', '\n']);
    lines.fold(String::new(), |mut plain, line| {
        let bare = line.trim_end_matches(['\r', '\n']);
        plain.push_str(&visible(bare));
        plain.push_str(&line[bare.len()..]);
        plain
    })
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
