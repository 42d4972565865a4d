//! READ FIRST: from a document and the options to the outcome of every link, and to the edits.
//!
//! ```text
//! rewrite, edits, links --> file: a document, or a message with documents in it --> driver --> judge --> plan
//! ```
//!
//! This file has the public functions. `driver` takes a document from its bytes to the outcome of its links,
//! `judge` decides on one link, `message` splits a message into documents, and `plan` holds the decisions.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! let options = Options::at("http://a/dir/page.html");
//! let rewritten = rewrite(br#"<a href="../x.html#y">"#, &options);
//! assert_eq!(rewritten.output(), br#"<a href="http://a/x.html#y">"#);
//! ```
//!
//! Deliberately absent: syntax and file access. The modules below know no markup and read only the bytes they are
//! given.

#[cfg(feature = "codings")]
pub mod archive;
pub mod base;
mod beside;
pub mod container;
pub mod copies;
mod crawled;
mod declaration;
mod differing;
mod driver;
mod file;
mod guarded;
mod judge;
mod judged;
mod labels;
mod late_base;
mod message;
mod options;
mod plan;
mod prepared;
mod properties;
#[cfg(feature = "codings")]
pub mod record;
pub mod report;
mod totals;
mod unfit_base;

use baselink_text::{Charset, Edits, Lines, span::LineCounter};

pub use self::{
    base::{BaseChain, ContentLocationUse, Level, Retrieval, Rule, Source, SourceKind},
    beside::NearbyFiles,
    message::referrers::Referrers,
    options::{
        BaseElement, BaseInCopy, Choice, Destination, Dkim, Fragments, Guard, LocalCopies, NOWHERE,
        Options, PlainLink, Site,
    },
    plan::{LinkSink, PlannedPart, Within},
    report::{EntityReport, Lack, LinkReport, Outcome, Reason, Report},
    totals::{LinkBases, Totals},
};
use self::{options::FileRequest, plan::FilePlan};

/// A rewritten file: its edits, and the report.
#[derive(Clone, Debug)]
pub struct FileRewrite<'a> {
    /// The bytes that were rewritten.
    pub source: &'a [u8],
    /// The changes, as offsets in the source.
    pub edits: Edits,
    /// The changed parts of a message, with their edits.
    pub parts: Vec<PlannedPart>,
    /// The outcome of every link.
    pub report: Report,
    /// The outcomes in numbers.
    pub totals: Totals,
    /// The options used.
    pub options: Options,
}

impl FileRewrite<'_> {
    /// The bytes of the file with the edits applied.
    pub fn output(&self) -> Vec<u8> {
        self.edits.apply(self.source)
    }
}

/// A link, and the line and column of its first byte in the file, both counted from 1, the column in bytes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ListedLink {
    /// The report of the link.
    #[serde(flatten)]
    pub link: LinkReport,
    /// The line of its first byte.
    pub line: usize,
    /// The column of its first byte.
    pub column: usize,
}

/// Finds the lines and columns of the links of a file.
pub struct LinkLines<'a> {
    bytes: &'a [u8],
    counter: LineCounter,
    in_utf_16: Option<Lines>,
}

impl<'a> LinkLines<'a> {
    /// The lines of the file `bytes`.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            counter: LineCounter::default(),
            in_utf_16: None,
        }
    }

    /// A link of the file with its place; `outermost` is the encoding of the file.
    pub fn listed(&mut self, link: LinkReport, outermost: Charset) -> ListedLink {
        let (bytes, at) = (self.bytes, link.span.start);
        let (line, column) = if outermost.is_ascii_compatible() {
            self.counter.place(bytes, at)
        } else {
            let lines = &mut self.in_utf_16;
            lines
                .get_or_insert_with(|| outermost.lines(bytes))
                .place(at)
        };
        ListedLink { link, line, column }
    }
}

/// Makes every relative link of `bytes`, a file of the format in `options`, absolute.
pub fn rewrite<'a>(bytes: &'a [u8], options: &Options) -> FileRewrite<'a> {
    rewrite_and_list(bytes, options.request())
}

/// Like [`rewrite`], with the replacement that `destination` chooses for each link. It may be asked twice about a link.
pub fn rewrite_links<'a>(
    bytes: &'a [u8],
    options: &Options,
    destination: &dyn Destination,
) -> FileRewrite<'a> {
    rewrite_and_list(bytes, (options, Some(destination)))
}

fn rewrite_and_list<'a>(bytes: &'a [u8], request: FileRequest<'_>) -> FileRewrite<'a> {
    let mut links = Vec::new();
    let mut rewritten = rewrite_request(bytes, request, &mut |link| links.push(link));
    rewritten.report.links = links;
    rewritten
}

/// Like [`rewrite`], but passes each link to `each`, in the order of the file, and lists none in the report. Most HTML
/// documents pass a link on as soon as it is judged.
pub fn rewrite_each<'a>(
    bytes: &'a [u8],
    options: &Options,
    each: &mut dyn FnMut(LinkReport),
) -> FileRewrite<'a> {
    rewrite_request(bytes, options.request(), each)
}

fn rewrite_request<'a>(
    bytes: &'a [u8],
    request: FileRequest<'_>,
    each: &mut dyn FnMut(LinkReport),
) -> FileRewrite<'a> {
    let FilePlan {
        edits,
        parts,
        mut report,
        totals,
    } = file::plan(
        bytes,
        request,
        Some(&mut |link: LinkReport, _: Within<'_>, _: Charset| each(link)),
        true,
    );
    report.diagnostics.clone_from(&totals.diagnostics);
    FileRewrite {
        source: bytes,
        edits,
        parts,
        report,
        totals,
        options: request.0.clone(),
    }
}

/// The base of `bytes`, a file of the format in `options`; for a message, the base of its outermost entity. `None` if
/// the format has no links.
pub fn base(bytes: &[u8], options: &Options) -> Option<BaseChain> {
    file::base_of_html(bytes, options).or_else(|| {
        let plan = file::plan(bytes, options.request(), None, true);
        let outermost = plan.report.entities.into_iter().next()?;
        Some(outermost.chain)
    })
}

/// The report of [`rewrite`] without links, and the counts of outcomes.
pub fn bases(bytes: &[u8], options: &Options) -> (Report, Totals) {
    let plan = file::plan(bytes, options.request(), None, false);
    (plan.report, plan.totals)
}

/// The edits that make every relative link of `bytes` absolute, as in [`rewrite`], and the counts of outcomes. Much
/// faster than [`rewrite`], because no report is built.
pub fn edits(bytes: &[u8], options: &Options) -> (Edits, Totals) {
    let plan = file::plan(bytes, options.request(), None, true);
    (plan.edits, plan.totals)
}

/// Passes every link of `bytes`, with the outcome that [`rewrite`] would report, to `row` in the order of the file.
/// The links of most HTML documents are not buffered.
///
/// ```
/// use baselink_rewrite::{Options, links};
/// let mut found = Vec::new();
/// let totals = links(b"<a href=x>\n<a href=y>", &Options::at("http://a/"), &mut |one| {
///     found.push((one.line, one.column, one.link.target.unwrap()));
/// });
/// assert_eq!(found, [(1, 9, "http://a/x".to_owned()), (2, 9, "http://a/y".to_owned())]);
/// assert_eq!(totals.links(), 2);
/// ```
pub fn links(bytes: &[u8], options: &Options, row: &mut dyn FnMut(ListedLink)) -> Totals {
    let mut lines = LinkLines::of(bytes);
    let mut each =
        |link: LinkReport, _: Within<'_>, charset: Charset| row(lines.listed(link, charset));
    links_to(bytes, options, &mut each)
}

/// Like [`links`], for a receiver that needs no place or report of some links.
pub fn links_to(bytes: &[u8], options: &Options, sink: &mut dyn LinkSink) -> Totals {
    let mut plan = file::plan(bytes, options.request(), Some(sink), false);
    if let Some(outermost) = plan.report.entities.first_mut() {
        plan.totals.ids = std::mem::take(&mut outermost.ids);
    }
    plan.totals
}
