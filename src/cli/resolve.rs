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
use baselink_url::{Base, Resolver, explain, reference::conformance};
use clap::{Args, ValueHint};

use super::{
    args::{help::RESOLVE_AFTER, named::named},
    json_records::ResolvedRecord,
    output::Output,
    status::ExitStatus,
};
use baselink_site::reading::Listener;

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
    #[arg(long, conflicts_with_all = ["base", "references"], help_heading = "What to resolve")]
    pairs: bool,
    /// The rules of resolution: rfc1808 (default), rfc3986, whatwg
    #[arg(long, value_name = "NAME", value_parser = named::<Resolver>(Resolver::ALL.map(Resolver::name)), help_heading = "What to resolve")]
    resolver: Option<Resolver>,
    /// Show components and steps, so that the result can be checked by hand
    #[arg(long, help_heading = "What to report", conflicts_with = "json")]
    explain: bool,
    /// Print a JSON object for each reference
    #[arg(long, help_heading = "What to report")]
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
        base.map_or(Ok(()), |base| Base::parse(self.resolver(), base).map(drop))
    }

    /// Prints a reference with its target in the requested form, or warns that it has none. JSON replaces invalid UTF-8; an
    /// explanation needs a base and valid UTF-8.
    fn print(
        &self,
        base: Option<&str>,
        reference: &[u8],
        target: Result<&str, &str>,
        place: Option<&str>,
        output: &mut Output,
    ) -> io::Result<ExitStatus> {
        let text = String::from_utf8_lossy(reference);
        match (base, &text) {
            _ if self.json => output.json(&ResolvedRecord {
                base,
                reference: &text,
                target: target.ok(),
                grammar: conformance(&text),
                resolver: self.resolver(),
            })?,
            _ if !self.explain => output.text(target.map_or(reference, str::as_bytes))?,
            (Some(base), Cow::Borrowed(text)) => {
                output.blank_line()?;
                let steps = explain(self.resolver(), base, text);
                writeln!(output.out(), "{steps}")?;
            }
            _ => {}
        }
        let Err(why) = target else {
            return Ok(ExitStatus::Done);
        };
        let sentence = format!("'{text}' has no target: {why}");
        output.warning(place, "unresolvable", &sentence);
        Ok(ExitStatus::NotHeld)
    }
}

/// Resolves the references of a request.
pub fn run(request: &Resolve, output: &mut Output) -> io::Result<ExitStatus> {
    // Many lines in a row have the same base.
    let mut last: Option<(String, Base)> = None;
    let mut resolve = |line: &[u8], place: Option<&str>, output: &mut Output| {
        let typed = request.base.as_deref();
        let Ok(text) = str::from_utf8(line) else {
            return request.print(typed, line, Err("it is not UTF-8"), place, output);
        };
        let pair = typed.map(|base| (base, text)).or_else(|| split_pair(text));
        let Some((base_text, reference)) = pair else {
            let why = "no tab or white space separates a base from a reference";
            return request.print(None, line, Err(why), place, output);
        };
        let base = match last.take().filter(|(text, _)| text == base_text) {
            Some((_, base)) => Ok(base),
            None => Base::parse(request.resolver(), base_text),
        };
        let target = base.map_err(|why| why.to_string()).and_then(|base| {
            let (_, base) = last.insert((base_text.to_owned(), base));
            let target = base.resolve(reference).map(|target| target.url);
            target.map_err(|why| why.to_string())
        });
        let target = target.as_deref().map_err(String::as_str);
        request.print(Some(base_text), reference.as_bytes(), target, place, output)
    };
    if request.references.is_empty() {
        return each_line(output, |line, place, output| {
            resolve(line, Some(place), output)
        });
    }
    let mut references = request.references.iter();
    references.try_fold(ExitStatus::Done, |status, reference| {
        Ok(status.max(resolve(reference.as_bytes(), None, output)?))
    })
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
                output.error(format_args!("-: {}", cause(&error)));
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
