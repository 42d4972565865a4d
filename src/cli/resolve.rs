//! `baselink resolve`: references from the command line or from standard input, one per line.
//!
//! ```text
//! $ baselink resolve http://a/b/c/d ../g '?y'
//! http://a/b/g
//! http://a/b/c/d?y
//! ```
//!
//! With `--pairs` each line has its own base.
//!
//! Deliberately absent: documents.

use std::{
    borrow::Cow,
    io::{self, BufRead},
};

use baselink_text::{Result, cause};
use baselink_url::{Base, Resolver, explain};
use clap::{Args, ValueHint};

use super::{
    args::{help::RESOLVE_AFTER, named::named},
    json_records::{GrammarRecord, ResolvedRecord},
    output::Output,
    status::ExitStatus,
};

/// The request of `baselink resolve`.
#[derive(Args)]
#[command(after_help = RESOLVE_AFTER)]
pub struct Resolve {
    /// An absolute URL
    #[arg(required_unless_present = "pairs", value_hint = ValueHint::Url)]
    base: Option<String>,
    /// The references; without any, each line of standard input is one
    #[arg(value_name = "REFERENCE")]
    pub references: Vec<String>,
    /// Read a base and a reference from each line of standard input, separated by the first tab, or else by the first white space
    #[arg(long, conflicts_with_all = ["base", "references"], help_heading = "Input")]
    pairs: bool,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = named::<Resolver>(Resolver::ALL.map(Resolver::name)), hide_possible_values = true, help_heading = "Input")]
    resolver: Option<Resolver>,
    /// Show components and steps, so that the result can be checked by hand
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    explain: bool,
    /// Print a JSON object for each reference
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Resolve {
    /// The rules of resolution.
    fn resolver(&self) -> Resolver {
        self.resolver.unwrap_or_default()
    }

    /// Checks the base.
    pub fn check(&self) -> Result<()> {
        let base = self.base.as_deref();
        base.map(|base| Base::parse(self.resolver(), base).map(drop))
            .unwrap_or(Ok(()))
    }
}

/// Resolves the references of a request.
pub fn run(request: &Resolve, output: &mut Output) -> io::Result<ExitStatus> {
    let base = |text: &str| BaseAsTyped {
        base: Base::new(request.resolver(), text),
        text: text.to_owned(),
    };
    match (request.base.as_deref(), &*request.references) {
        (Some(text), references @ [_, ..]) => {
            let base = base(text);
            references
                .iter()
                .try_fold(ExitStatus::Done, |status, reference| {
                    Ok(status.max(request.resolve_one(&base, reference, None, output)?))
                })
        }
        (Some(text), []) => {
            let base = base(text);
            each_line(output, |line, place, output| match str::from_utf8(line) {
                Ok(reference) => request.resolve_one(&base, reference, Some(place), output),
                Err(_) => request.unresolved(Some(&base.text), line, NOT_TEXT, Some(place), output),
            })
        }
        (None, _) => {
            // Many lines in a row have the same base.
            let mut last: Option<BaseAsTyped> = None;
            each_line(output, |line, place, output| {
                let Ok(text) = str::from_utf8(line) else {
                    return request.unresolved(None, line, NOT_TEXT, Some(place), output);
                };
                let Some((base_text, reference)) = split_pair(text) else {
                    let why = "no tab or white space separates a base from a reference";
                    return request.unresolved(None, line, why, Some(place), output);
                };
                let base = match &last {
                    Some(last) if last.text == base_text => last,
                    _ => {
                        if let Err(why) = Base::parse(request.resolver(), base_text) {
                            let (why, reference) = (why.to_string(), reference.as_bytes());
                            return request.unresolved(
                                Some(base_text),
                                reference,
                                &why,
                                Some(place),
                                output,
                            );
                        }
                        last.insert(base(base_text))
                    }
                };
                request.resolve_one(base, reference, Some(place), output)
            })
        }
    }
}

/// The reason why a line cannot be read.
const NOT_TEXT: &str = "it is not UTF-8";

/// A base, and its text as typed.
struct BaseAsTyped {
    base: Base,
    text: String,
}

/// Splits a line into base and reference at the first tab. Without a tab, it splits at the first white space, and
/// ignores white space around the line.
fn split_pair(line: &str) -> Option<(&str, &str)> {
    line.split_once('\t').or_else(|| {
        let (base, reference) = line
            .trim_ascii()
            .split_once(|c: char| c.is_ascii_whitespace())?;
        Some((base, reference.trim_ascii_start()))
    })
}

/// Calls `work` for each line of standard input, with its place, such as `-:3`.
fn each_line(
    output: &mut Output,
    mut work: impl FnMut(&[u8], &str, &mut Output) -> io::Result<ExitStatus>,
) -> io::Result<ExitStatus> {
    let mut input = io::BufReader::new(io::stdin());
    let mut status = ExitStatus::Done;
    let mut line = Vec::new();
    for number in 1_usize.. {
        // An interactive sender may wait for these answers before it sends more lines.
        if input.buffer().is_empty() {
            output.flush()?;
        }
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => {
                output.error(&format_args!("-: {}", cause(&error)));
                return Ok(ExitStatus::Unusable);
            }
        }
        // A CR without an LF belongs to the reference.
        let text = line
            .strip_suffix(b"\r\n")
            .or(line.strip_suffix(b"\n"))
            .unwrap_or(&line);
        status = status.max(work(text, &format!("-:{number}"), output)?);
    }
    Ok(status)
}

impl Resolve {
    fn resolve_one(
        &self,
        base: &BaseAsTyped,
        reference: &str,
        place: Option<&str>,
        output: &mut Output,
    ) -> io::Result<ExitStatus> {
        let target = match base.base.resolve(reference) {
            Ok(target) => target.url,
            Err(why) => {
                let (why, reference) = (why.to_string(), reference.as_bytes());
                return self.unresolved(Some(&base.text), reference, &why, place, output);
            }
        };
        match (self.json, self.explain) {
            (true, _) => self.print_json(Some(&base.text), reference, Some(&target), output)?,
            (_, true) => self.print_steps(&base.text, reference, output)?,
            _ => output.text(target.as_bytes())?,
        }
        Ok(ExitStatus::Done)
    }

    /// Prints a reference that cannot be resolved, in the requested form, and warns about it. JSON replaces invalid
    /// UTF-8; an explanation needs a base and valid UTF-8.
    fn unresolved(
        &self,
        base: Option<&str>,
        reference: &[u8],
        why: &str,
        place: Option<&str>,
        output: &mut Output,
    ) -> io::Result<ExitStatus> {
        let text = String::from_utf8_lossy(reference);
        match (base, &text) {
            _ if self.json => self.print_json(base, &text, None, output)?,
            _ if !self.explain => output.text(reference)?,
            (Some(base), Cow::Borrowed(text)) => self.print_steps(base, text, output)?,
            _ => {}
        }
        Ok(report_unresolvable(&text, why, place, output))
    }

    fn print_steps(&self, base: &str, reference: &str, output: &mut Output) -> io::Result<()> {
        output.blank_line()?;
        writeln!(
            output.out(),
            "{}",
            explain(self.resolver(), base, reference)
        )
    }

    fn print_json(
        &self,
        base: Option<&str>,
        reference: &str,
        target: Option<&str>,
        output: &mut Output,
    ) -> io::Result<()> {
        output.json(&ResolvedRecord {
            base,
            reference,
            target,
            grammar: GrammarRecord::of(reference),
            resolver: self.resolver(),
        })
    }
}

/// Warns that a reference has no target.
fn report_unresolvable(
    reference: &str,
    why: &str,
    place: Option<&str>,
    output: &mut Output,
) -> ExitStatus {
    output.warning(
        place,
        "unresolvable",
        &format_args!("'{reference}' has no target: {why}"),
    );
    ExitStatus::NotHeld
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_base_and_a_reference() {
        for (line, wanted) in [
            ("http://a/\tg", Some(("http://a/", "g"))),
            ("http://a/\t", Some(("http://a/", ""))),
            ("http://a/\t g h", Some(("http://a/", " g h"))),
            ("http://a/ g", Some(("http://a/", "g"))),
            ("  http://a/   g h ", Some(("http://a/", "g h"))),
            ("http://a/", None),
            ("http://a/ ", None),
            ("", None),
        ] {
            assert_eq!(split_pair(line), wanted, "{line:?}");
        }
    }
}
