//! A rewritten document, and the proof that only its URLs changed.
//!
//! ```
//! use baselink::Rewriter;
//! let rewriter = Rewriter::builder().url("http://a/").build()?;
//! let mut rewritten = rewriter.rewrite(b"<a href=x><p>");
//! rewritten.verify()?;
//! rewritten.edits.push((10..13).into(), "<b>")?;
//! assert!(rewritten.verify().unwrap_err().to_string().contains("not part of a rewritten link"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: the comparison of trees and tokens, which `baselink-verify` makes.

use std::borrow::Cow;

use baselink_rewrite::{self as rewrite, Options, PlannedPart, Report, Totals};
use baselink_text::{Edits, Lines, Span};
use baselink_verify::Differences;

/// A rewritten document: its edits, and the outcome of every link.
///
/// ```
/// use baselink::{Outcome, Rewriter};
/// let rewriter = Rewriter::builder().url("http://a/").build()?;
/// let rewritten = rewriter.rewrite(b"<a href=x><a href=http://b/>");
/// assert_eq!(rewritten.output(), b"<a href=http://a/x><a href=http://b/>");
/// assert_eq!(rewritten.totals.count(Outcome::Rewritten), 1);
/// let link = &rewritten.report.links[0];
/// assert_eq!((&*link.reference, link.target.as_deref()), ("x", Some("http://a/x")));
/// # Ok::<(), baselink::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rewritten<'a> {
    /// The changes, as byte offsets in the source.
    pub edits: Edits,
    /// The outcome of every link.
    pub report: Report,
    /// The outcomes in numbers.
    pub totals: Totals,
    source: &'a [u8],
    units: Vec<Unit>,
}

/// The document, or a message of a mailbox.
#[derive(Clone, Debug)]
struct Unit {
    /// Its place in the source.
    span: Span,
    options: Options,
    parts: Vec<PlannedPart>,
    /// The numbers of its entities and links in the report.
    numbers: (usize, usize),
}

impl<'a> Rewritten<'a> {
    pub(crate) fn new(source: &'a [u8]) -> Self {
        Self {
            edits: Edits::default(),
            report: Report::default(),
            totals: Totals::default(),
            source,
            units: Vec::new(),
        }
    }

    /// Adds the document, or the next message of a mailbox, which is in the bytes of `span`.
    pub(crate) fn add(&mut self, span: Span, unit: rewrite::FileRewrite<'_>) {
        let holds_many = unit.options.format.holds_many();
        self.units.push(Unit {
            span,
            options: unit.options,
            parts: unit.parts,
            numbers: (unit.report.entities.len(), unit.report.links.len()),
        });
        if holds_many {
            // Cannot fail: messages do not overlap.
            let _ = self.edits.append(&unit.edits, span.start);
            self.report.append(unit.report, span.start);
            self.totals.append(unit.totals, span.start);
        } else {
            (self.edits, self.report, self.totals) = (unit.edits, unit.report, unit.totals);
        }
    }

    /// The bytes that were rewritten.
    #[must_use]
    pub fn source(&self) -> &'a [u8] {
        self.source
    }

    /// The source with the edits applied.
    #[must_use]
    pub fn output(&self) -> Vec<u8> {
        self.edits.apply(self.source)
    }

    /// The output, without a copy if nothing changes.
    #[must_use]
    pub fn into_output(self) -> Cow<'a, [u8]> {
        if self.edits.is_empty() {
            return Cow::Borrowed(self.source);
        }
        Cow::Owned(self.output())
    }

    /// The lines of the source, to which the spans of the report belong.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewritten = Rewriter::builder().url("http://a/").build()?.rewrite(b"<p>\n<a href=x>");
    /// let place = rewritten.report.links[0].span.start;
    /// assert_eq!(rewritten.lines().place(place), (2, 9));
    /// # Ok::<(), baselink::Error>(())
    /// ```
    #[must_use]
    pub fn lines(&self) -> Lines {
        match &*self.units {
            [document] if !document.options.format.has_headings() => {
                self.totals.charset.lines(self.source)
            }
            // The parts of a message may use several encodings.
            _ => Lines::of(self.source),
        }
    }

    /// Proves that the output differs from the source only in the reported links, by parsing both.
    ///
    /// # Errors
    ///
    /// Fails with the first differences that the report does not explain.
    ///
    /// ```
    /// use baselink::Rewriter;
    /// let rewritten = Rewriter::builder().url("http://a/").build()?.rewrite(b"<p class=a><a href=x>");
    /// rewritten.verify()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self) -> Result<(), Differences> {
        let mut entities = self.report.entities.iter().cloned();
        let mut links = self.report.links.iter().cloned();
        let mut verified = 0;
        for unit in &self.units {
            let Span { start, end } = unit.span;
            let mut report = Report::default();
            report
                .entities
                .extend(entities.by_ref().take(unit.numbers.0));
            report.links.extend(links.by_ref().take(unit.numbers.1));
            for link in &mut report.links {
                link.span.start = link.span.start.saturating_sub(start);
                link.span.end = link.span.end.saturating_sub(start);
            }
            let edits = self.edits.within(unit.span);
            verified += edits.len();
            baselink_verify::verify(&rewrite::FileRewrite {
                source: &self.source[start..end],
                edits,
                parts: unit.parts.clone(),
                report,
                totals: self.totals.clone(),
                options: unit.options.clone(),
            })?;
        }
        if verified == self.edits.len() {
            return Ok(());
        }
        Err(Differences {
            messages: vec!["bytes outside of messages changed".into()],
        })
    }
}
