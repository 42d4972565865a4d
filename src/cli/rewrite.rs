//! `baselink rewrite`: every relative link becomes absolute.
//!
//! ```text
//! $ baselink rewrite --url http://a/b/page.html page.html -o absolute.html
//! page.html: base http://a/b/page.html (3.3 retrieval); 2 links: 1 rewritten, 1 absolute
//! ```
//!
//! Deliberately absent: several results. Directories, and files rewritten in place, come later.

use std::io;
use std::path::Path;
use std::sync::Arc;

use baselink::error::Result;
use baselink::format::Format;
use baselink::tree::write::Replacement;
use baselink::{Outcome, Report, Rewritten, verify};

use super::args::{Destination, Rewrite};
use super::input::{File, Input};
use super::output::{Output, Places, Tally, base_and_rule, in_order};
use super::{Status, diff, each, record};

/// Rewrites what was asked for.
pub(crate) fn run(asked: &Rewrite, output: &mut Output) -> io::Result<Status> {
    each(&asked.documents.paths, asked.documents.format, output, |file, output| {
        one(asked, file, output)
    })
}

fn one(asked: &Rewrite, file: File<'_>, output: &mut Output) -> io::Result<Status> {
    let (path, format, name) = (file.path, file.format, file.name());
    let mut result = match Sink::begin(&asked.destination) {
        Ok(result) => result,
        Err(error) => {
            output.error(&error);
            return Ok(Status::Unusable);
        }
    };
    let mut told = Told::default();
    let mut status = Status::Done;
    let mut failed = Ok(());
    let read = file.each(|input| {
        if failed.is_err() {
            return Ok(());
        }
        let options = input.options(&asked.documents.options);
        let rewritten = baselink::rewrite(input.bytes, &options);
        let report = &rewritten.report;
        let places = Places::of(input, report);
        output.diagnostics(&places, report);
        output.details(input, &places, report);
        if asked.strict && output.strict(&places, report) {
            status = Status::NotHeld;
        }
        let differences = match asked.verify {
            true => verify::verify(&rewritten, &options).err().unwrap_or_default(),
            false => Vec::new(),
        };
        for difference in &differences {
            let place = match &*input.entity {
                "" => name.clone(),
                number => format!("{name}: message {number}"),
            };
            output.error(&format_args!("{place}: --verify: {}", difference.message));
        }
        if asked.json {
            let odd = in_order(report);
            told.odd.extend(odd.into_iter().map(|odd| record::Diagnostic::of(odd, &places)));
        }
        told.add(report);
        if differences.is_empty() {
            failed = result.add(input, &rewritten, output)?;
        } else {
            status = Status::NotHeld;
            // What is on its way already cannot be called back, so a message in it stays as it was.
            failed = result.add_unproved(input, output)?;
        }
        Ok(())
    })?;
    let written = match read.and(failed).and_then(|()| result.end()) {
        Ok(written) => written,
        Err(error) => {
            output.error(&error);
            return Ok(Status::Unusable);
        }
    };
    output.flush()?;
    if asked.json {
        let to = match &asked.destination {
            Destination::File(path) if written => Some(path.to_string_lossy()),
            _ => None,
        };
        output.json(&record::File::of(path, format, to, &told.tally, &told.odd))?;
    }
    told.summary(&name, format, written, output);
    Ok(status)
}

/// Where the result of a file goes.
enum Sink {
    Standard,
    /// `None` once it is not to be written after all.
    File(Option<Replacement>),
    Diff(diff::Progress),
    Nowhere,
}

impl Sink {
    fn begin(destination: &Destination) -> Result<Self> {
        Ok(match destination {
            Destination::Standard => Self::Standard,
            Destination::File(path) => Self::File(Some(Replacement::begin(Path::new(path))?)),
            Destination::Diff => Self::Diff(diff::Progress::default()),
            Destination::Nowhere => Self::Nowhere,
        })
    }

    /// Adds a document; the outer error is one of standard output.
    fn add(
        &mut self,
        input: &Input<'_>,
        rewritten: &Rewritten<'_>,
        output: &mut Output,
    ) -> io::Result<Result<()>> {
        let edits = &rewritten.edits;
        let write = |out: &mut dyn io::Write| {
            out.write_all(input.before)?;
            edits.write_to(input.bytes, &mut &mut *out)?;
            out.write_all(input.after)
        };
        match self {
            Self::Standard => write(output.out())?,
            Self::File(Some(file)) => return Ok(file.write(write)),
            Self::Diff(progress) => diff::print(input, edits, progress, output)?,
            Self::File(None) | Self::Nowhere => {}
        }
        Ok(Ok(()))
    }

    /// Takes in that a document is not what it should be.
    fn add_unproved(&mut self, input: &Input<'_>, output: &mut Output) -> io::Result<Result<()>> {
        match self {
            Self::Standard if input.format == Format::Mbox => {
                let out = output.out();
                io::Write::write_all(out, input.before)?;
                io::Write::write_all(out, input.bytes)?;
                io::Write::write_all(out, input.after)?;
            }
            Self::Standard => *self = Self::Nowhere,
            Self::File(file) => *file = None,
            Self::Diff(_) | Self::Nowhere => {}
        }
        Ok(Ok(()))
    }

    /// Says whether the result is anywhere now.
    fn end(self) -> Result<bool> {
        match self {
            Self::Standard => Ok(true),
            Self::File(Some(file)) => file.commit().map(|_| true),
            Self::File(None) | Self::Diff(_) | Self::Nowhere => Ok(false),
        }
    }
}

/// What is said of a file in the end.
#[derive(Default)]
struct Told {
    tally: Tally,
    odd: Vec<record::Diagnostic>,
    documents: usize,
    entities: usize,
    /// The base of the first document, alone and with what gave it.
    base: (Option<Arc<str>>, String),
    /// The base of the relative links, where it is the same for all.
    of_links: Bases,
}

/// The bases of relative links.
#[derive(Default, PartialEq, Eq)]
enum Bases {
    #[default]
    None,
    One(Option<Arc<str>>, String),
    Several,
}

impl Told {
    fn add(&mut self, report: &Report) {
        self.tally.add(report);
        self.documents += 1;
        self.entities += report.entities.len();
        if self.base.1.is_empty()
            && let Some(outermost) = report.entities.first()
        {
            let chain = &outermost.chain;
            self.base = (
                chain.base.clone(),
                base_and_rule(chain.base.as_deref(), chain.rule, chain.source),
            );
        }
        // To absolute ones, the href of a base element among them, their base means nothing.
        let relative = report.links.iter().filter(|link| link.outcome != Outcome::Absolute);
        for link in relative {
            match &self.of_links {
                Bases::None => {
                    let text = base_and_rule(link.base.as_deref(), link.rule, link.source);
                    self.of_links = Bases::One(link.base.clone(), text);
                }
                Bases::One(base, _) if *base != link.base => self.of_links = Bases::Several,
                Bases::One(..) | Bases::Several => {}
            }
        }
    }

    fn summary(&self, name: &str, format: Format, written: bool, output: &mut Output) {
        let (tally, (outermost, base)) = (&self.tally, &self.base);
        let base = match (format, &self.of_links) {
            (Format::Message | Format::Mbox, Bases::Several) => "several bases",
            (Format::Message | Format::Mbox, Bases::One(one, text)) if one != outermost => text,
            (Format::Mbox, Bases::None) => "",
            _ => base,
        };
        let count = |number: usize, one: &str, more: &str| match number {
            1 => format!("1 {one}"),
            number => format!("{number} {more}"),
        };
        let what = match format {
            Format::Mbox => count(self.documents, "message", "messages"),
            Format::Message => count(self.entities, "entity", "entities"),
            _ => String::new(),
        };
        let gap = if what.is_empty() || base.is_empty() { "" } else { ", " };
        let unwritten = if written { "" } else { "; nothing was written" };
        output.notice(&format_args!("{name}: {what}{gap}{base}; {tally}{unwritten}"));
        match (tally.count(Outcome::NoBase), tally.count(Outcome::Rewritten)) {
            (0, _) => {}
            (_, 0) => output.notice(&format_args!(
                "{name}: no base URL: nothing was rewritten; give one with --url"
            )),
            (number, _) => output.notice(&format_args!(
                "{name}: no base URL for {number} of the links; give one with --url"
            )),
        }
    }
}
