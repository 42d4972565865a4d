//! The forms in which findings are listed.
//!
//! ```text
//! text (default), --json, --sarif, --github   -->   one Form each
//! ```
//!
//! Deliberately absent: which findings are listed, and the page of `--report`, which is a
//! file beside the list.

use std::io::{self, Write};
use std::path::Path;

use super::listed::{FindingPlace, Shown};
use crate::cli::output::Output;
use crate::cli::record;

/// How findings are printed.
pub(super) trait FindingForm: Sync {
    /// Whether columns are counted in UTF-16 code units.
    fn has_utf_16_columns(&self) -> bool {
        false
    }

    /// Whether the edits of fixes are printed.
    fn has_edits(&self) -> bool {
        false
    }

    /// Prints what comes before all findings.
    fn begin(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Prints what comes before the findings of a file.
    fn begin_file(&self, _output: &mut Output) -> io::Result<()> {
        Ok(())
    }

    /// Prints a finding in the file at `path`.
    fn finding(
        &self,
        path: &Path,
        shown: &Shown<'_>,
        place: &FindingPlace,
        output: &mut Output,
    ) -> io::Result<()>;

    /// Prints what comes after all findings.
    fn end(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A JSON object for each finding.
pub(super) struct Json;

impl FindingForm for Json {
    fn finding(
        &self,
        path: &Path,
        shown: &Shown<'_>,
        place: &FindingPlace,
        output: &mut Output,
    ) -> io::Result<()> {
        let at = (place.line, place.column);
        output.json(&record::MovedRecord::of(path, at, &shown.link, shown.finding))
    }
}
