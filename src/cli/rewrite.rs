//! `baselink rewrite`: every relative link becomes absolute.
//!
//! ```text
//! $ baselink rewrite --url http://a/b/page.html page.html -o absolute.html
//! page.html: base http://a/b/page.html (3.3 retrieval); 2 links: 1 rewritten, 1 absolute
//! ```
//!
//! Deliberately absent: several results. Directories, and files rewritten in place, come later.

use std::io::{self, Write};

use baselink::{Outcome, Report, Rewritten, verify};

use super::args::{Destination, Rewrite};
use super::input::Input;
use super::output::{Output, Places, Tally, base_and_rule};
use super::replace::replace;
use super::{Status, diff, each, record};

/// Rewrites what was asked for.
pub(crate) fn run(asked: &Rewrite, output: &mut Output) -> io::Result<Status> {
    each(&asked.documents.paths, asked.documents.format, output, |input, output| {
        one(asked, input, output)
    })
}

fn one(asked: &Rewrite, input: &Input, output: &mut Output) -> io::Result<Status> {
    let options = &asked.documents.options;
    let rewritten = baselink::rewrite(&input.bytes, options);
    let report = &rewritten.report;
    let places = Places::of(input, report);
    output.diagnostics(&places, report);
    output.details(input, &places, report);

    let mut status = Status::Done;
    if asked.strict && output.strict(&places, report) {
        status = Status::NotHeld;
    }
    let differences = match asked.verify {
        true => verify::verify(&rewritten, options).err().unwrap_or_default(),
        false => Vec::new(),
    };
    for difference in &differences {
        let name = input.name();
        output.error(&format_args!("{name}: --verify: {}", difference.message));
    }
    let mut written = false;
    if differences.is_empty() {
        written = match deliver(asked, input, &rewritten, output)? {
            Ok(written) => written,
            Err(error) => {
                output.error(&error);
                return Ok(Status::Unusable);
            }
        };
    } else {
        status = Status::NotHeld;
    }
    if asked.json {
        let file = match &asked.destination {
            Destination::File(path) if written => Some(path.to_string_lossy()),
            _ => None,
        };
        output.json(&record::File::of(input, &places, file, report))?;
    }
    summary(input, report, written, output);
    Ok(status)
}

/// Brings the result where it belongs; says whether it is anywhere now.
fn deliver(
    asked: &Rewrite,
    input: &Input,
    rewritten: &Rewritten<'_>,
    output: &mut Output,
) -> io::Result<baselink::error::Result<bool>> {
    let edits = &rewritten.edits;
    match &asked.destination {
        Destination::Standard => {
            edits.write_to(&input.bytes, output.out())?;
            output.flush()?;
        }
        Destination::File(path) => {
            let write = |mut file: &mut dyn Write| edits.write_to(&input.bytes, &mut file);
            return Ok(replace(path, write).map(|()| true));
        }
        Destination::Diff => {
            diff::print(input, edits, output)?;
            return Ok(Ok(false));
        }
        Destination::Nowhere => return Ok(Ok(false)),
    }
    Ok(Ok(true))
}

fn summary(input: &Input, report: &Report, written: bool, output: &mut Output) {
    let name = input.name();
    let Some(outermost) = report.entities.first() else { return };
    let base = base_and_rule(&outermost.chain);
    let mut tally = Tally::default();
    tally.add(report);
    let unwritten = if written { "" } else { "; nothing was written" };
    output.notice(&format_args!("{name}: {base}; {tally}{unwritten}"));
    match (report.count(Outcome::NoBase), report.count(Outcome::Rewritten)) {
        (0, _) => {}
        (_, 0) => output.notice(&format_args!(
            "{name}: no base URL: nothing was rewritten; give one with --url"
        )),
        (number, _) => output.notice(&format_args!(
            "{name}: no base URL for {number} of the links; give one with --url"
        )),
    }
}
