//! `baselink resolve`: references from the command line or from standard input, one a line.
//!
//! ```text
//! $ baselink resolve http://a/b/c/d ../g '?y'
//! http://a/b/g
//! http://a/b/c/d?y
//! ```
//!
//! Deliberately absent: documents. What is resolved here stands nowhere.

use std::io::{self, BufRead};

use baselink::error::{cause, visible};
use baselink::resolve::{Base, explain};

use super::Status;
use super::args::{Form, Resolve};
use super::output::Output;
use super::record::{Grammar, Resolved};

/// Resolves what was asked for.
pub(crate) fn run(asked: &Resolve, output: &mut Output) -> io::Result<Status> {
    let mut session =
        Session { asked, base: Base::new(asked.profile, &asked.base), is_first: true };
    let Some(references) = &asked.references else {
        return session.standard_input(output);
    };
    let mut status = Status::Done;
    for reference in references {
        status = status.max(session.one(reference, None, output)?);
    }
    Ok(status)
}

struct Session<'a> {
    asked: &'a Resolve,
    base: Base,
    is_first: bool,
}

impl Session<'_> {
    fn standard_input(&mut self, output: &mut Output) -> io::Result<Status> {
        let mut input = io::BufReader::new(io::stdin());
        let mut status = Status::Done;
        let mut line = Vec::new();
        for number in 1_usize.. {
            // Before waiting for more: whoever sent the lines so far may wait for the answers.
            if input.buffer().is_empty() {
                output.flush()?;
            }
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    output.error(&format_args!("-: {}", cause(&error)));
                    return Ok(Status::Unusable);
                }
            }
            // A CR that no LF follows belongs to the reference.
            let reference =
                line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n")).unwrap_or(&line);
            let place = format!("-:{number}");
            status = status.max(match std::str::from_utf8(reference) {
                Ok(reference) => self.one(reference, Some(&place), output)?,
                Err(_) => self.undecodable(reference, &place, output)?,
            });
        }
        Ok(status)
    }

    fn one(
        &mut self,
        reference: &str,
        place: Option<&str>,
        output: &mut Output,
    ) -> io::Result<Status> {
        let resolved = self.base.resolve(reference);
        let target = resolved.as_ref().ok().map(|target| target.url.as_str());
        match self.asked.form {
            Form::Target => writeln!(output.out(), "{}", target.unwrap_or(reference))?,
            Form::Explanation => {
                if !std::mem::take(&mut self.is_first) {
                    writeln!(output.out())?;
                }
                let explanation = explain(self.asked.profile, &self.asked.base, reference);
                writeln!(output.out(), "{explanation}")?;
            }
            Form::Json => output.json(&Resolved {
                base: &self.asked.base,
                reference,
                target,
                grammar: Grammar::of(reference),
                resolver: self.asked.profile.name(),
            })?,
        }
        Ok(match &resolved {
            Ok(_) => Status::Done,
            Err(why) => {
                let sentence = format!("'{}' has no target: {why}", visible(reference));
                output.warning(place, "unresolvable", &sentence);
                Status::NotHeld
            }
        })
    }

    /// A line that is not text: nothing can be said of it in JSON either, so it is only handed on.
    fn undecodable(&self, line: &[u8], place: &str, output: &mut Output) -> io::Result<Status> {
        match self.asked.form {
            Form::Target => {
                output.out().write_all(line)?;
                writeln!(output.out())?;
            }
            Form::Explanation => {}
            Form::Json => output.json(&Resolved {
                base: &self.asked.base,
                reference: &String::from_utf8_lossy(line),
                target: None,
                grammar: Grammar::of(&String::from_utf8_lossy(line)),
                resolver: self.asked.profile.name(),
            })?,
        }
        let shown = String::from_utf8_lossy(line);
        let sentence = format!("'{}' has no target: it is not UTF-8", visible(&shown));
        output.warning(Some(place), "unresolvable", &sentence);
        Ok(Status::NotHeld)
    }
}
