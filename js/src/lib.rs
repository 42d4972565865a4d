//! The npm package `baselink`: the functions of the Rust library for JavaScript.
//!
//! ```text
//! string, Uint8Array --glue.js--> bytes --options--> Rewriter --> bytes, or the text of JSON --glue.js--> string, Uint8Array, objects
//! ```
//!
//! Deliberately absent: rules about links, which the library has.

mod options;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::iter;
use std::ops::ControlFlow;
use std::process::abort;

use baselink::{
    Base, Choice, Diagnostic, Edits, Format, LinkReport, Messages, Outcome, Rewritten, Totals,
};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::options::{invalid, resolver, rewriter_of};

#[wasm_bindgen]
extern "C" {
    /// An error about an argument.
    pub type TypeError;

    #[wasm_bindgen(constructor)]
    fn new(message: &str) -> TypeError;

    /// A function from a link, as JSON, to its new reference, or undefined to keep the link. It throws nothing.
    pub type Choose;

    #[wasm_bindgen(method)]
    fn call(this: &Choose, this_arg: &JsValue, link: &str) -> Option<String>;

    /// A function that returns the next block of a document, or undefined at its end.
    pub type Blocks;

    #[wasm_bindgen(method)]
    fn call(this: &Blocks, this_arg: &JsValue) -> Option<Vec<u8>>;

    /// A function that copies a piece of the output.
    pub type Pieces;

    #[wasm_bindgen(method)]
    fn call(this: &Pieces, this_arg: &JsValue, piece: &[u8]);
}

/// The length of most pieces of the output: that of the blocks in `package.js`.
const PIECE: usize = 1 << 16;

/// Converts an error about an argument to an exception of JavaScript.
fn type_error(error: impl ToString) -> TypeError {
    TypeError::new(&error.to_string())
}

/// A link, with the keys of `baselink links --json`.
#[derive(Serialize)]
struct LinkRow<'a> {
    entity: &'a str,
    line: usize,
    column: usize,
    start: usize,
    end: usize,
    element: Option<&'a str>,
    attribute: Option<&'a str>,
    reference: &'a str,
    base: Option<&'a str>,
    rule: &'static str,
    source: &'static str,
    target: Option<&'a str>,
    role: &'static str,
    outcome: &'static str,
    reason: Option<&'static str>,
    kind: &'static str,
    rel: Option<&'a str>,
}

impl<'a> LinkRow<'a> {
    fn of(link: &'a LinkReport, (line, column): (usize, usize)) -> Self {
        Self {
            entity: &link.entity,
            line,
            column,
            start: link.span.start,
            end: link.span.end,
            element: (!link.element.is_empty()).then_some(&*link.element),
            attribute: link.attribute.as_deref(),
            reference: &link.reference,
            base: link.base.as_deref(),
            rule: link.rule.section(),
            source: link.source.name(),
            target: link.target.as_deref(),
            role: link.role.name(),
            outcome: link.outcome.name(),
            reason: link.reason.map(|reason| reason.name()),
            kind: link.kind.name(),
            rel: link.rel.as_deref(),
        }
    }
}

/// The links of a document, their outcomes in numbers, and its anomalies.
#[derive(Serialize)]
struct ReportRow<'a> {
    links: Vec<LinkRow<'a>>,
    counts: BTreeMap<&'static str, usize>,
    reasons: BTreeMap<&'static str, usize>,
    diagnostics: Vec<DiagnosticRow<'a>>,
}

/// An anomaly of a document.
#[derive(Serialize)]
struct DiagnosticRow<'a> {
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
    line: usize,
    column: usize,
}

impl<'a> ReportRow<'a> {
    fn of(rewritten: &'a Rewritten<'_>) -> Self {
        let (lines, totals) = (rewritten.lines(), &rewritten.totals);
        let link = |link: &'a LinkReport| LinkRow::of(link, lines.place(link.span.start));
        let row = |diagnostic: &'a Diagnostic| {
            let (line, column) = lines.place(diagnostic.span.start);
            DiagnosticRow {
                diagnostic,
                line,
                column,
            }
        };
        let mut reasons = BTreeMap::new();
        for (_, reason, number) in totals.counts() {
            if let Some(reason) = reason {
                *reasons.entry(reason.name()).or_default() += number;
            }
        }
        Self {
            links: rewritten.report.links.iter().map(link).collect(),
            counts: Outcome::ALL
                .map(|outcome| (outcome.name(), totals.count(outcome)))
                .into(),
            reasons,
            diagnostics: totals.diagnostics.iter().map(row).collect(),
        }
    }
}

/// The document with every relative link made absolute, or with the references that `choose` returns.
#[wasm_bindgen]
pub fn rewrite(
    data: &[u8],
    is_text: bool,
    options: Vec<JsValue>,
    choose: Option<Choose>,
) -> Result<Vec<u8>, TypeError> {
    Ok(edits((data, is_text), options, choose)?.0.apply(data))
}

/// The document as [`rewrite`] returns it, and a report as JSON.
#[wasm_bindgen]
pub fn rewrite_report(
    data: &[u8],
    is_text: bool,
    options: Vec<JsValue>,
    choose: Option<Choose>,
) -> Result<Vec<JsValue>, TypeError> {
    let rewriter = rewriter_of(data, is_text, &options)?;
    let rewritten = match choose {
        Some(choose) => rewriter.rewrite_links(data, |link| choose.of(link)),
        None => rewriter.rewrite(data),
    };
    check_memory(&rewritten.totals);
    let json = json(&ReportRow::of(&rewritten));
    Ok(vec![rewritten.output().into(), json.into()])
}

/// Passes the document as [`rewrite`] returns it to `pieces`. The document has `length` bytes, and comes from `blocks`. So
/// memory holds neither the whole document nor the whole output twice.
#[wasm_bindgen]
pub fn rewrite_blocks(
    length: usize,
    blocks: &Blocks,
    pieces: Pieces,
    options: Vec<JsValue>,
    choose: Option<Choose>,
) -> Result<(), TypeError> {
    let mut data = Vec::with_capacity(length);
    while let Some(block) = blocks.call(&JsValue::UNDEFINED) {
        data.extend_from_slice(&block);
    }
    let (edits, _) = edits((&data, false), options, choose)?;
    let mut buffered = BufWriter::with_capacity(PIECE, pieces);
    let written = edits.write_to(&data, &mut buffered);
    written.and_then(|()| buffered.flush()).map_err(type_error)
}

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.call(&JsValue::UNDEFINED, piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn edits(
    (data, is_text): (&[u8], bool),
    options: Vec<JsValue>,
    choose: Option<Choose>,
) -> Result<(Edits, Totals), TypeError> {
    let rewriter = rewriter_of(data, is_text, &options)?;
    let (edits, totals) = match choose {
        Some(choose) => {
            let rewritten = rewriter.rewrite_links(data, |link| choose.of(link));
            (rewritten.edits, rewritten.totals)
        }
        None => rewriter.edits(data),
    };
    check_memory(&totals);
    Ok((edits, totals))
}

/// Aborts if memory was lacking, like any other lack of memory. `package.js` catches both.
fn check_memory(totals: &Totals) {
    if totals.lacks_memory {
        abort();
    }
}

impl Choose {
    fn of(&self, link: &LinkReport) -> Choice {
        let json = json(&LinkRow::of(link, (0, 0)));
        let reference = self.call(&JsValue::UNDEFINED, &json);
        reference.map_or(Choice::Kept, Choice::Reference)
    }
}

/// Every link of a document, as JSON.
#[wasm_bindgen]
pub fn links(data: &[u8], is_text: bool, options: Vec<JsValue>) -> Result<String, TypeError> {
    let mut rows = "[".to_owned();
    rewriter_of(data, is_text, &options)?.links(data, |found| {
        if rows.len() > 1 {
            rows.push(',');
        }
        rows += &json(&LinkRow::of(&found.link, (found.line, found.column)));
        ControlFlow::Continue(())
    });
    rows.push(']');
    Ok(rows)
}

/// The base URL of a document, and every level with its reason, as JSON.
#[wasm_bindgen]
pub fn base(data: &[u8], is_text: bool, options: Vec<JsValue>) -> Result<String, TypeError> {
    let found = rewriter_of(data, is_text, &options)?.base(data);
    Ok(json(&found))
}

/// The name of the format of a document with this file name and these first bytes.
#[wasm_bindgen]
pub fn detect(name: Option<String>, head: &[u8]) -> String {
    Format::detect(name.as_deref(), head).name().to_owned()
}

/// The messages of a mailbox, without their envelopes.
#[wasm_bindgen]
pub fn messages(mailbox: &[u8]) -> Vec<JsValue> {
    let mut messages = Messages::new(mailbox);
    // Reading from memory cannot fail.
    iter::from_fn(|| {
        let found = messages.next_message().ok()??;
        Some(found.bytes[found.message.range()].to_vec().into())
    })
    .collect()
}

/// The URL that `reference` means in a document with this base.
#[wasm_bindgen]
pub fn resolve(base: &str, reference: &str, options: Vec<JsValue>) -> Result<String, TypeError> {
    let target = absolute(base, options)?.resolve(reference);
    target
        .map(|target| target.url)
        .map_err(|why| type_error(format!("reference: '{reference}' has no target: {why}")))
}

/// A short reference that means `target` in a document with this base: a fragment, a query, a relative path, an
/// absolute path, or else `target` itself.
#[wasm_bindgen]
pub fn relativize(base: &str, target: &str, options: Vec<JsValue>) -> Result<String, TypeError> {
    Ok(absolute(base, options)?.relativize(target))
}

fn absolute(base: &str, options: Vec<JsValue>) -> Result<Base, TypeError> {
    Base::parse(resolver(&options)?, base).map_err(|error| invalid("base", &error))
}

/// Converts a row to JSON. This cannot fail, because all keys are strings.
fn json(row: &impl Serialize) -> String {
    serde_json::to_string(row).unwrap_or_default()
}
