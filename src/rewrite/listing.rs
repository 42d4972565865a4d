//! Links without edits, each given away as it is judged.
//!
//! ```
//! use std::ops::ControlFlow;
//! use baselink::{Options, format::Format, links};
//! let response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=x>";
//! let options = Options { format: Format::Http, ..Options::at("http://a/") };
//! let mut found = Vec::new();
//! let _ = links(response, &options, &mut |one| {
//!     found.push((one.line, one.column, one.link.target));
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(found, [(4, 9, Some("http://a/x".to_owned()))]);
//! ```
//!
//! Deliberately absent: messages and formats other than HTML, whose links are collected first.

use std::borrow::Cow;

use super::base_element::unfit_base;
use super::judge::Surroundings;
use super::message::{Readable, readable};
use super::opened::Task;
use super::options::Options;
use super::plan::AskedFor;
use super::rows::{ListedLink, RowFn, Rows};
use super::totals::Totals;
use super::{driver, file};
use crate::base::{self, Outer};
use crate::container;
use crate::container::entity::Container;
use crate::format::Format;
use crate::scan::attributes::Group;
use crate::span::Lines;

/// Gives `row` every link of `bytes`.
pub(super) fn links(bytes: &[u8], options: &Options, row: &mut RowFn<'_>) -> Totals {
    if options.format == Format::Html {
        // Whoever breaks is told no more.
        let task = Task::of(options, true);
        let totals = driver::html(task, bytes, Rows::new(row), |_, driver, _| driver.totals());
        if let Ok(totals) = totals {
            return totals;
        }
    }
    let told = container::of(options.format)
        .and_then(|container| response(container, bytes, options, row));
    if let Some(totals) = told {
        return totals;
    }
    let (plan, totals) = file::plan(bytes, options, AskedFor::Report);
    let lines = match options.format.has_headings() {
        true => Lines::of(bytes),
        false => totals.charset.lines(bytes),
    };
    let _ = plan.report.links.into_iter().try_for_each(|link| {
        let (line, column) = lines.place(link.span.start);
        row(ListedLink { link, line, column })
    });
    totals
}

/// Gives `row` every link of the file `bytes`, which is such a `container`, as each is judged; `None` where something has
/// to be known before of all of them, or of what is not HTML. (Without this, web archives are listed 1.2 times as
/// slowly: see docs/architecture.md.)
fn response(
    container: &Container,
    bytes: &[u8],
    options: &Options,
    row: &mut RowFn<'_>,
) -> Option<Totals> {
    let has_links = options.scan.groups.contains(Group::Headers);
    if !container.is_single || has_links || options.destination.is_some() {
        return None;
    }
    let structure = (container.read)(bytes, &options.scan.entity);
    let entity = &structure.entities[0];
    let Ok(Some(Readable { format, decoded, scan })) = readable(bytes, entity, options) else {
        return None;
    };
    if format != Format::Html || decoded.obstacle().is_some() {
        return None;
    }
    let Options { profile, content_location, .. } = *options;
    let fields = structure.bases(bytes, 0);
    let chain = base::of_heading(&entity.name, &fields, options.outer(), profile, content_location);
    let outer = Outer::Heading(&chain);
    let around = Surroundings::default();
    let task = Task { options, scan: &scan, around, outer, is_listed: true };
    let (line, column) = Lines::of(&bytes[..entity.body.start]).place(entity.body.start);
    let is_here = matches!(decoded.bytes, Cow::Borrowed(_));
    let mut in_file = |mut found: ListedLink| {
        found.link.span = decoded.covering(found.link.span);
        (found.line, found.column) = match (is_here, found.line) {
            (false, _) => (line, column),
            (true, 1) => (line, found.column + column - 1),
            (true, more) => (line + more - 1, found.column),
        };
        row(found)
    };
    let sink = Rows::new(&mut in_file);
    let told = driver::html(task, &decoded.bytes, sink, |_, driver, _| driver.totals());
    let mut totals = told.ok()?;
    for found in &mut totals.diagnostics {
        found.span = decoded.covering(found.span);
    }
    let unfit = (totals.links() > 0).then(|| unfit_base(&chain, profile)).flatten();
    totals.diagnostics.extend(structure.diagnostics);
    totals.diagnostics.extend(chain.diagnostics);
    totals.diagnostics.extend(decoded.remarks);
    totals.diagnostics.extend(unfit);
    Some(totals)
}
