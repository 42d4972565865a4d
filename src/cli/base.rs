//! `baselink base`: the base of each document, and how it was found.
//!
//! ```text
//! page.html
//!   3.1 embedded in the content
//!     > http://b/  taken: the first base element with an href, in tree order  (page.html:1:7)
//!   3.2 encapsulating entity
//!       absent: the document is not inside another document
//!   3.3 retrieval URL
//!     - http://a/  passed over: an inner level gave the base
//!   3.4 default
//!     - passed over: an inner level gave the base
//!   base: http://b/  (3.1 base-element)
//! ```
//!
//! A message is shown as the tree of its entities:
//!
//! ```text
//! mail.eml  multipart/related
//! │  > 3.1  http://b/  taken: Base of its heading  (mail.eml:1:1)
//! │  base: http://b/  (3.1 base-header)
//! └─ 1  text/html
//!       > 3.2  http://b/  taken: the base of the entity around it, given there by 3.1 (base-header)
//!       base: http://b/  (3.2 encapsulating)
//! ```
//!
//! Documents of several files, or of an archive, are shown on one line each: path, base, source, retrieval URL and its source.
//!
//! Deliberately absent: links.

use std::{
    collections::{BTreeMap, HashSet},
    io::{self, Write},
};

use anstyle::Style;
use baselink_rewrite::{
    BaseChain, EntityReport, Level, Rule, Totals,
    base::{Established, Status},
    bases,
};
use baselink_text::{name, visible};
use clap::Args;

use super::{
    advice::is_of_bases,
    args::help::BASE_AFTER,
    base_hints::BaseHints,
    files::{each_document, status_after},
    json_records,
    output::{FAINT, HEADING, INVALID, Output, Styler, TAKEN, by_place, count, visible_reference},
    request::Documents,
    status::{ExitStatus, Failure},
};
use baselink_files::walk::{EntryKind, walk};
use baselink_site::reading::{File, FilePlaces, Input, Listener};

/// The request of `baselink base`.
#[derive(Args)]
#[command(after_help = BASE_AFTER)]
pub struct ShowBases {
    #[command(flatten)]
    pub documents: Documents,
    /// Print a JSON object for each document
    #[arg(long, help_heading = "What to report")]
    pub json: bool,
}

/// Shows the bases of the documents of a request.
pub fn run(request: &ShowBases, output: &mut Output) -> io::Result<ExitStatus> {
    let documents = &request.documents;
    let form = if request.json {
        BasesForm::Json
    } else if has_several(documents) {
        BasesForm::Line
    } else {
        BasesForm::Levels
    };
    let mut all = ShownBases::default();
    let read = each_document(
        documents,
        output,
        |_, file, output| show_file(request, form, file, output),
        |_, shown| all.merge(shown),
    )?;
    all.report(output);
    if all.has_tree {
        writeln!(
            output.out(),
            "\nRFC 1808, section 3: the innermost of these gives the base."
        )?;
        for rule in Rule::ALL {
            writeln!(output.out(), "  {} {}", rule.section(), rule.title())?;
        }
    }
    Ok(read.end(documents, output))
}

/// The form in which a document is shown.
#[derive(Clone, Copy, PartialEq)]
enum BasesForm {
    /// All levels of RFC 1808, section 3.
    Levels,
    /// Path, base and source in one line.
    Line,
    Json,
}

/// The documents that were shown.
#[derive(Default)]
struct ShownBases {
    /// True if one was shown as a tree.
    has_tree: bool,
    hints: BaseHints,
    /// The numbers of documents on lines by the sources of their retrieval URLs.
    sources: BTreeMap<&'static str, usize>,
}

impl ShownBases {
    fn merge(&mut self, later: Self) {
        self.has_tree |= later.has_tree;
        self.hints.merge(later.hints);
        for (source, number) in later.sources {
            *self.sources.entry(source).or_default() += number;
        }
    }

    /// Reports where the documents came from that were shown on lines.
    fn report(&self, output: &mut Output) {
        if self.sources.is_empty() {
            return;
        }
        let documents = count(self.sources.values().sum(), "document", "documents");
        let sources: Vec<_> = self
            .sources
            .iter()
            .map(|(source, number)| format!("{number} {source}"))
            .collect();
        let sources = sources.join(", ");
        output.notice(format_args!("retrieval URLs of {documents}: {sources}"));
        self.hints.report(output);
    }
}

/// True if more than one file is read.
fn has_several(documents: &Documents) -> bool {
    let files = walk(&documents.paths, &documents.selection).flatten();
    documents.paths.len() > 1
        || files
            .filter(|one| one.kind != EntryKind::Folder)
            .nth(1)
            .is_some()
}

/// Shows the bases of a file.
fn show_file(
    request: &ShowBases,
    form: BasesForm,
    file: File<'_>,
    output: &mut Output,
) -> io::Result<(ExitStatus, ShownBases)> {
    let (mut all, path) = (ShownBases::default(), file.path);
    let form = match form {
        BasesForm::Levels if file.format.is_archive() => BasesForm::Line,
        form => form,
    };
    let work = |input: &Input<'_>, output: &mut Output| {
        let (totals, mut shown) = show_document(form, input, output)?;
        shown.hints.add(input, &totals);
        Ok((shown, totals.decoded))
    };
    let read = file.each(output, work, |shown, _, buffer, output| {
        all.merge(shown);
        Ok(output.append(buffer)?)
    });
    let read = Failure::separate(read)?;
    if let Some(hint) = all
        .hints
        .url()
        .filter(|_| request.documents.paths.len() == 1 && !request.documents.has_folder())
    {
        output.notice(format_args!("{}: no base URL; {hint}", name(path)));
    }
    Ok((status_after(read, output)?, all))
}

/// Shows the bases of a document.
fn show_document(
    form: BasesForm,
    input: &Input<'_>,
    output: &mut Output,
) -> io::Result<(Totals, ShownBases)> {
    let is_tree = form == BasesForm::Levels && input.format.has_headings();
    let (report, totals) = bases(input.bytes, input.options);
    let places = FilePlaces::of(input, totals.charset);
    for found in by_place(&totals.diagnostics)
        .into_iter()
        .filter(|one| is_of_bases(one.code))
    {
        output.report_diagnostic(&places, found);
    }
    if is_tree {
        output.blank_line()?;
        print_entities(input, &places, &report.entities, output)?;
    } else {
        for entity in &report.entities {
            match form {
                BasesForm::Json => output.json(&json_records::BaseRecord::of(input, entity))?,
                BasesForm::Line => print_line(input, entity, output)?,
                BasesForm::Levels => {
                    output.blank_line()?;
                    print_levels(input, &places, entity, output)?;
                }
            }
        }
    }
    let mut shown = ShownBases {
        has_tree: is_tree,
        ..ShownBases::default()
    };
    if form == BasesForm::Line {
        let own = report
            .entities
            .first()
            .and_then(|own| retrieval(&own.chain));
        let source = own.map_or("none", |own| own.source.name());
        shown.sources.insert(source, 1);
    }
    Ok((totals, shown))
}

/// Prints path, base, source, retrieval URL and its source, separated by tabs. The number of an inner entity follows the path.
fn print_line(input: &Input<'_>, entity: &EntityReport, output: &mut Output) -> io::Result<()> {
    let chain = &entity.chain;
    let number = match &*chain.entity {
        "" => String::new(),
        number => format!(", {number}"),
    };
    let base = chain.base.as_deref().map_or("none".into(), visible);
    let (path, source) = (input.name, chain.source.name());
    let (url, from) = match retrieval(chain) {
        Some(retrieval) => (visible(&retrieval.url), retrieval.source.name()),
        None => ("none".into(), "none"),
    };
    writeln!(
        output.lines(),
        "{path}{number}\t{base}\t{source}\t{url}\t{from}"
    )
}

/// The retrieval URL of a document (RFC 1808, 3.3).
fn retrieval(chain: &BaseChain) -> Option<&Established> {
    let own = chain.retrieval.as_ref();
    own.filter(|own| own.rule == Rule::Retrieval)
}

fn print_levels(
    input: &Input<'_>,
    places: &FilePlaces<'_>,
    entity: &EntityReport,
    output: &mut Output,
) -> io::Result<()> {
    let styler = output.styler;
    let chain = &entity.chain;
    let out = &mut output.lines();
    write!(out, "{}", styler.paint(HEADING, input.name))?;
    if !chain.entity.is_empty() {
        write!(out, ", document {} inside it", chain.entity)?;
    }
    writeln!(out)?;
    for rule in Rule::ALL {
        writeln!(out, "  {} {}", rule.section(), rule.title())?;
        for level in chain.chain.iter().filter(|level| level.rule == rule) {
            write!(out, "    ")?;
            print_level(level, None, places, styler, out)?;
        }
    }
    write!(out, "  ")?;
    print_base(chain, styler, out)
}

/// Prints a level of a chain, with its rule unless a heading names it.
fn print_level(
    level: &Level,
    rule: Option<Rule>,
    places: &FilePlaces<'_>,
    styler: Styler,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (mark, style, status) = match level.status {
        Status::Taken => ('>', TAKEN, "taken"),
        Status::PassedOver => ('-', Style::new(), "passed over"),
        Status::Absent => (' ', FAINT, "absent"),
        Status::Invalid => ('!', INVALID, "invalid"),
    };
    write!(out, "{} ", styler.paint(style, mark))?;
    if let Some(rule) = rule {
        write!(out, "{}  ", rule.section())?;
    }
    if let Some(value) = &level.value {
        write!(out, "{}  ", styler.paint(style, visible_reference(value)))?;
    }
    write!(
        out,
        "{}: {}",
        styler.paint(style, status),
        visible(&level.reason)
    )?;
    if let Some(span) = level.span {
        write!(out, "  ({})", styler.paint(FAINT, places.at(span)))?;
    }
    writeln!(out)
}

fn print_base(chain: &BaseChain, styler: Styler, out: &mut dyn Write) -> io::Result<()> {
    let base = chain.base.as_deref().map_or("none".into(), visible);
    let (rule, source) = (chain.rule.section(), chain.source.name());
    writeln!(
        out,
        "base: {}  ({rule} {source})",
        styler.paint(TAKEN, base)
    )
}

/// The largest depth of a tree that is drawn; deeper entities are indented no further.
const DRAWN: usize = 24;

/// Prints the entities of a message, each with the levels that have a value.
fn print_entities(
    input: &Input<'_>,
    places: &FilePlaces<'_>,
    entities: &[EntityReport],
    output: &mut Output,
) -> io::Result<()> {
    let styler = output.styler;
    let out = &mut output.lines();
    // In reverse order, the first child found of each parent is its last child.
    let mut seen_parents = HashSet::new();
    let mut is_last: Vec<bool> = entities
        .iter()
        .rev()
        .map(|entity| seen_parents.insert(entity.parent))
        .collect();
    is_last.reverse();
    let mut depths: Vec<usize> = Vec::with_capacity(entities.len());
    // For each level, true if more siblings follow.
    let mut follows: Vec<bool> = Vec::new();
    for (index, entity) in entities.iter().enumerate() {
        let depth = entity.parent.map_or(0, |parent| depths[parent] + 1);
        depths.push(depth);
        follows.truncate(depth);
        let bar = |follows: bool| if follows { "│  " } else { "   " };
        let around: String = follows
            .iter()
            .skip(1)
            .take(DRAWN)
            .map(|&follows| bar(follows))
            .collect();
        follows.push(!is_last[index]);
        let has_children = entities
            .get(index + 1)
            .is_some_and(|next| next.parent == Some(index));
        let (branch, beneath) = match (depth, is_last[index]) {
            (0, _) => ("", ""),
            (_, true) => ("└─ ", "   "),
            (_, false) => ("├─ ", "│  "),
        };
        let number = match (depth, &*entity.chain.entity) {
            (0, "") => input.name.to_string(),
            (0, number) => format!("{}, message {number}", input.name),
            (_, number) => number.to_owned(),
        };
        let media_type = visible(&entity.media_type);
        writeln!(
            out,
            "{around}{branch}{}  {media_type}",
            styler.paint(HEADING, number)
        )?;
        let beneath = format!("{around}{beneath}{}", bar(has_children));
        for level in entity
            .chain
            .chain
            .iter()
            .filter(|level| level.value.is_some())
        {
            write!(out, "{beneath}")?;
            print_level(level, Some(level.rule), places, styler, out)?;
        }
        write!(out, "{beneath}")?;
        print_base(&entity.chain, styler, out)?;
    }
    Ok(())
}
