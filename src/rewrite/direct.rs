//! The short way: an HTML document is rewritten while it is walked over, and nothing is kept of its
//! links but their number.
//!
//! A reference whose target is a prefix of the base and its own tail ([`Base::splice`]) is copied from
//! the document to the output as it is passed. For any other link the general rules are asked. Where a
//! document needs more (a report, the exact scanner), the long way is gone.
//!
//! ```
//! use baselink::{Options, Outcome, rewrite_into};
//! let mut out = Vec::new();
//! let options = Options::at("http://a/b/c");
//! let totals = rewrite_into(b"<a href=../x><a href=mailto:y@z>", &options, &mut out);
//! assert_eq!(out, b"<a href=http://a/x><a href=mailto:y@z>");
//! assert_eq!(totals.count(Outcome::Rewritten), 1);
//! assert_eq!(totals.count(Outcome::Absolute), 1);
//! assert!(totals.changed);
//! ```
//!
//! What stands before a tag is settled when the tag comes, so that [`rewrite_to`] can give it away. Before
//! it does so first, it looks whether a `base` element or an encoding may still be declared. So does
//! [`rewrite_stream`], which then reads the document window by window.
//!
//! Deliberately absent: anything that the long way does otherwise. The bytes and the totals are the same.

mod stream;
mod writer;

use std::io::{self, Write as _};
use std::sync::Arc;

pub use self::stream::{StreamError, rewrite_stream};
pub(super) use self::writer::is_absolute;
use self::writer::{Away, Give, Writer};
use super::{BaseElement, Options, Rewritten, rewrite_briefly};
use crate::base::{BaseChain, Rule, Source};
use crate::diagnostic::Diagnostic;
use crate::document::DeclaredBase;
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::report::{LinkReport, Outcome, Reason};
use crate::scan::Scanner;
use crate::scan::html::flow::{self, Stop};
use crate::span::Span;

/// Pieces of the output are no smaller.
const LEAST: usize = 16;

/// What became of a file, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// How many links have each outcome, for no reason and for each of [`Reason::ALL`].
    counts: [[usize; 1 + Reason::ALL.len()]; Outcome::ALL.len()],
    /// How many of those that were rewritten lead elsewhere under another resolver.
    pub differing: usize,
    /// How many of those without a base lack nothing but a scheme ([`crate::base::lacks_only_scheme`]).
    pub without_scheme: usize,
    /// The base of the file, as the outermost of its documents has it.
    pub base: Option<Arc<str>>,
    /// The rule that gave it.
    pub rule: Rule,
    /// The source that gave it.
    pub source: Source,
    /// The encoding of that document.
    pub charset: Charset,
    /// Whether the output differs from the input.
    pub changed: bool,
    /// What is odd, as a report has it; spans are those of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl Totals {
    fn of(chain: Option<&BaseChain>, charset: Charset) -> Self {
        Self {
            counts: Default::default(),
            differing: 0,
            without_scheme: 0,
            base: chain.and_then(|chain| chain.base.clone()),
            rule: chain.map_or(Rule::Default, |chain| chain.rule),
            source: chain.map_or(Source::Default, |chain| chain.source),
            charset,
            changed: false,
            diagnostics: Vec::new(),
        }
    }

    fn of_long(rewritten: Rewritten<'_>) -> Self {
        let report = rewritten.report;
        let outermost = report.entities.first();
        let charset = outermost.map_or(Charset::UTF_8, |entity| entity.charset);
        let mut totals = Self {
            differing: report.links.iter().filter(|link| link.is_rewritten_otherwise()).count(),
            changed: !rewritten.edits.is_empty(),
            diagnostics: report.diagnostics,
            ..Self::of(outermost.map(|entity| &entity.chain), charset)
        };
        report.links.iter().for_each(|link| totals.count_link(link));
        totals.counts[Outcome::Absolute as usize][0] += report.unlisted;
        totals
    }

    /// How many links have `outcome`.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.counts[outcome as usize].iter().sum()
    }

    /// How many links there are.
    #[must_use]
    pub fn links(&self) -> usize {
        self.counts.iter().flatten().sum()
    }

    /// How many links have which outcome for which reason, those of which there are any.
    pub fn counts(&self) -> impl Iterator<Item = (Outcome, Option<Reason>, usize)> + '_ {
        let reasons = || std::iter::once(None).chain(Reason::ALL.into_iter().map(Some));
        let of = move |(outcome, counts): (Outcome, &[usize; 1 + Reason::ALL.len()])| {
            let counts = *counts;
            reasons().zip(counts).map(move |(reason, number)| (outcome, reason, number))
        };
        let all = Outcome::ALL.into_iter().zip(&self.counts).flat_map(of);
        all.filter(|(.., number)| *number > 0)
    }

    fn count_link(&mut self, link: &LinkReport) {
        self.add(link.outcome, link.reason);
        self.without_scheme += usize::from(link.lacks_only_scheme());
    }

    #[inline(always)]
    fn add(&mut self, outcome: Outcome, reason: Option<Reason>) {
        self.counts[outcome as usize][reason.map_or(0, |reason| 1 + reason as usize)] += 1;
    }
}

/// Makes every relative link of `bytes` absolute, as [`super::rewrite`] does, and puts the result behind what
/// `out` holds. Without a report it takes a fraction of the time, most of all with an `out` that is used
/// again and again.
pub fn rewrite_into(bytes: &[u8], options: &Options, out: &mut Vec<u8>) -> Totals {
    let length = out.len();
    let mut away = Away::nowhere();
    if let Some(totals) = directly(bytes, options, out, &mut away) {
        return totals;
    }
    out.truncate(length);
    let rewritten = rewrite_briefly(bytes, options);
    out.reserve(bytes.len());
    // Writing to memory does not fail, and the edits are those of these bytes.
    if rewritten.edits.write_to(bytes, out).is_err() {
        out.truncate(length);
        out.extend_from_slice(bytes);
    }
    Totals::of_long(rewritten)
}

/// The same, with the result written to `out`. It is gathered in `buffer` and given away in pieces of
/// about the buffer's capacity, so that of an HTML document no second copy is in memory. What was in
/// the buffer is gone.
///
/// ```
/// use baselink::{Options, rewrite_to};
/// let page = b"<a href=../x>".repeat(1_000);
/// let (mut buffer, mut out) = (Vec::with_capacity(4_096), Vec::new());
/// let totals = rewrite_to(&page, &Options::at("http://a/b/c"), &mut buffer, &mut out)?;
/// assert_eq!(out, b"<a href=http://a/x>".repeat(1_000));
/// assert_eq!(totals.links(), 1_000);
/// assert!(buffer.capacity() <= 2 * 4_096);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Whatever `out` returns; what was written to it is then of no use.
pub fn rewrite_to(
    bytes: &[u8],
    options: &Options,
    buffer: &mut Vec<u8>,
    out: &mut dyn io::Write,
) -> io::Result<Totals> {
    let mut give = |piece: &mut Vec<u8>| {
        out.write_all(piece)?;
        piece.clear();
        Ok(())
    };
    in_pieces(bytes, options, buffer, &mut give)
}

/// The same with the pieces given to `give`.
fn in_pieces(
    bytes: &[u8],
    options: &Options,
    buffer: &mut Vec<u8>,
    give: &mut Give<'_>,
) -> io::Result<Totals> {
    buffer.clear();
    let most = buffer.capacity().max(LEAST);
    let mut away = Away { to: Some(give), most, ..Away::nowhere() };
    if let Some(totals) = directly(bytes, options, buffer, &mut away) {
        return Ok(totals);
    }
    match away.failed {
        Some(error) => Err(error),
        None => rest(bytes, away.given, options, buffer, give),
    }
}

/// Gives what is made of `bytes` behind what was `given`. That was found by the fast scanner, and is the
/// same.
fn rest(
    bytes: &[u8],
    given: usize,
    options: &Options,
    buffer: &mut Vec<u8>,
    give: &mut Give<'_>,
) -> io::Result<Totals> {
    struct Pieces<'a, 'g> {
        buffer: &'a mut Vec<u8>,
        most: usize,
        give: &'a mut Give<'g>,
    }
    impl io::Write for Pieces<'_, '_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = &bytes[..bytes.len().min(self.most - self.buffer.len())];
            self.buffer.extend_from_slice(taken);
            if self.buffer.len() == self.most {
                (self.give)(self.buffer)?;
            }
            Ok(taken.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            (self.give)(self.buffer)
        }
    }
    buffer.clear();
    let most = buffer.capacity().max(LEAST);
    let rewritten = rewrite_briefly(bytes, options);
    let edits = rewritten.edits.within(Span::new(given, bytes.len()));
    let mut pieces = Pieces { buffer, most, give };
    edits.write_to(&bytes[given..], &mut pieces)?;
    pieces.flush()?;
    Ok(Totals::of_long(rewritten))
}

impl Options {
    /// Whether these let a document of `format` go the short way, where no report of its links is asked for. It
    /// may turn out on the way that it has to go the long one.
    #[must_use]
    pub fn allow_short_way(&self, format: Format) -> bool {
        format == Format::Html
            && self.destination.is_none()
            && self.scan.scanner == Scanner::Fast
            && matches!(self.base_element, BaseElement::Absolute | BaseElement::Keep)
    }
}

/// The short way; `None` where it does not lead to the end.
fn directly(
    bytes: &[u8],
    options: &Options,
    out: &mut Vec<u8>,
    away: &mut Away<'_>,
) -> Option<Totals> {
    if !options.allow_short_way(options.format) {
        return None;
    }
    let mut encoding = flow::encoding(bytes, &options.scan);
    let mut bases = Vec::new();
    let length = out.len();
    // What is given away cannot be taken back when a base turns out to be another.
    let to_end = away.to.is_some();
    if !to_end {
        out.reserve(bytes.len() + bytes.len() / 8);
    }
    // What is not expected is found out once: an encoding, and bases.
    for _ in 0..3 {
        out.truncate(length);
        if !encoding.charset.is_ascii_compatible() {
            return None;
        }
        let declared = |charset| Detected { charset, declaration: Declaration::Meta, ..encoding };
        match with_bases(bytes, encoding, options, &bases, out, away) {
            Ok(totals) => return Some(totals),
            Err(Stop::Encoding(charset)) => {
                encoding = declared(charset);
                // Those that were found were read in another encoding.
                if !bases.is_empty() {
                    bases = flow::bases(bytes, encoding, &options.scan, to_end).ok()?;
                }
            }
            Err(Stop::Base) => bases = flow::bases(bytes, encoding, &options.scan, to_end).ok()?,
            Err(Stop::Refused) if std::mem::take(&mut away.is_asked) => {
                if encoding.declaration == Declaration::Assumed
                    && let Some(charset) = flow::declared(bytes).ok()?
                {
                    encoding = declared(charset);
                }
                bases = flow::bases(bytes, encoding, &options.scan, to_end).ok()?;
                away.is_known = true;
            }
            Err(_) => return None,
        }
    }
    None
}

/// The same for a document that declares `bases`, and no other.
fn with_bases(
    bytes: &[u8],
    encoding: Detected,
    options: &Options,
    bases: &[DeclaredBase],
    out: &mut Vec<u8>,
    away: &mut Away<'_>,
) -> Result<Totals, Stop> {
    let chain = writer::chain(bytes, encoding.charset, bases, options);
    let mut writer = Writer::new(encoding, options, &chain, !bases.is_empty(), out, away);
    flow::links(bytes, encoding, &options.scan, !bases.is_empty(), &mut writer)?;
    if !writer.end(bytes) {
        return Err(Stop::Refused);
    }
    Ok(writer.totals())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_and_reasons_stand_where_they_are_counted() {
        assert!(Outcome::ALL.iter().enumerate().all(|(at, outcome)| *outcome as usize == at));
        assert!(Reason::ALL.iter().enumerate().all(|(at, reason)| *reason as usize == at));
    }
}
