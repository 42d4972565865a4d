//! `baselink base`: the base of each document, and the way to it.
//!
//! ```text
//! page.html
//!   3.1 embedded in the content
//!     > http://b/  taken: the first base element with an href, in tree order  (page.html:1:7)
//!   3.2 encapsulating entity
//!       absent: the document stands in no other
//!   3.3 retrieval URL
//!     - http://a/  passed over: an inner level gave the base
//!   3.4 default
//!     - passed over: an inner level gave the base
//!   base: http://b/  (3.1 base-element)
//! ```
//!
//! Deliberately absent: links.

use std::io::{self, Write};

use anstyle::Style;
use baselink::base::{Rule, Status as Standing};
use baselink::diagnostic::Code;
use baselink::{EntityReport, examine};

use super::args::Bases;
use super::input::Input;
use super::output::{FAINT, HEADING, INVALID, Output, PLACE, Places, TAKEN, in_order, shown};
use super::visible::visible;
use super::{Status, each, record};

/// Shows what was asked for.
pub(crate) fn run(asked: &Bases, output: &mut Output) -> io::Result<Status> {
    let documents = &asked.documents;
    let mut first = true;
    each(&documents.paths, documents.format, output, |input, output| {
        let report = examine(&input.bytes, &documents.options);
        let places = Places::of(input, &report);
        for odd in in_order(&report).into_iter().filter(|odd| is_of_bases(odd.code)) {
            output.diagnostic(&places, odd);
        }
        for entity in &report.entities {
            if asked.json {
                output.json(&record::Base::of(input, entity))?;
                continue;
            }
            if !std::mem::take(&mut first) {
                writeln!(output.out())?;
            }
            picture(input, &places, entity, output)?;
        }
        Ok(Status::Done)
    })
}

/// Whether an oddity is one of the document or its base, not of its links.
fn is_of_bases(code: Code) -> bool {
    !matches!(code, Code::ProfilesDiffer | Code::BaseElementKept)
}

const RULES: [Rule; 4] = [Rule::Embedded, Rule::Encapsulating, Rule::Retrieval, Rule::Default];

fn picture(
    input: &Input,
    places: &Places,
    entity: &EntityReport,
    output: &mut Output,
) -> io::Result<()> {
    let ink = output.ink;
    let chain = &entity.chain;
    let out = output.out();
    write!(out, "{}", ink.paint(HEADING, input.name()))?;
    if !chain.entity.is_empty() {
        write!(out, ", document {} inside it", chain.entity)?;
    }
    writeln!(out)?;
    for rule in RULES {
        writeln!(out, "  {} {}", rule.section(), rule.title())?;
        for level in chain.levels.iter().filter(|level| level.rule == rule) {
            let (mark, style, status) = match level.status {
                Standing::Taken => ('>', TAKEN, "taken"),
                Standing::PassedOver => ('-', Style::new(), "passed over"),
                Standing::Absent => (' ', FAINT, "absent"),
                Standing::Invalid => ('!', INVALID, "invalid"),
            };
            write!(out, "    {} ", ink.paint(style, mark))?;
            if let Some(value) = &level.value {
                write!(out, "{}  ", ink.paint(style, shown(value)))?;
            }
            write!(out, "{}: {}", ink.paint(style, status), visible(&level.reason))?;
            if let Some(span) = level.span {
                write!(out, "  ({})", ink.paint(PLACE, places.at(span)))?;
            }
            writeln!(out)?;
        }
    }
    let base = chain.base.as_deref().map_or("none".into(), visible);
    let (rule, source) = (chain.rule.section(), chain.source.name());
    write!(out, "  base: {}  ({rule} {source})", ink.paint(TAKEN, base))?;
    writeln!(out)
}
