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
//! it does so first, it looks whether a `base` element or an encoding may still be declared.
//!
//! Deliberately absent: anything that the long way does otherwise. The bytes and the totals are the same.

use std::io;
use std::sync::Arc;

use super::judge::{Resolver, Surroundings};
use super::{
    BaseElement, Fragments, Options, Planner, Rewritten, Settled, base_diagnostic, profiles_differ,
    rewrite_briefly,
};
use crate::base::{self, BaseChain, Outer, Rule, Source};
use crate::diagnostic::Diagnostic;
use crate::document::{DeclaredBase, Document, LONGEST_BASE, Link};
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::layer::escape::Quote;
use crate::report::{LinkReport, Outcome, Reason, Report};
use crate::resolve::{self, Base, Profile};
use crate::scan::Scanner;
use crate::scan::html::flow::{self, Stop, Taker, Value};
use crate::span::Span;

/// What became of a file, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// How many links have each outcome, for no reason and for each of [`Reason::ALL`].
    counts: [[usize; 1 + Reason::ALL.len()]; Outcome::ALL.len()],
    /// How many of those that were rewritten lead elsewhere under another resolver.
    pub differing: usize,
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
        report.links.iter().for_each(|link| totals.add(link.outcome, link.reason));
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
    buffer.clear();
    let most = buffer.capacity();
    let mut away = Away { to: Some(out), most, ..Away::nowhere() };
    let totals = directly(bytes, options, buffer, &mut away);
    let Away { to, given, failed, .. } = away;
    match (failed, totals, to) {
        (Some(error), ..) => Err(error),
        (None, Some(totals), _) => Ok(totals),
        (None, None, to) => {
            let rewritten = rewrite_briefly(bytes, options);
            if let Some(mut out) = to {
                // What comes before was found by the fast scanner, and is the same.
                let rest = rewritten.edits.within(Span::new(given, bytes.len()));
                rest.write_to(&bytes[given..], &mut out)?;
            }
            Ok(Totals::of_long(rewritten))
        }
    }
}

/// What takes output while more is being made.
struct Away<'a> {
    to: Option<&'a mut dyn io::Write>,
    /// It is given so much at a time.
    most: usize,
    /// Up to where it has the document.
    given: usize,
    /// What is known of the document's encoding and bases, where something may still be declared.
    is_known: bool,
    /// Whether that has to be known before anything is given away.
    is_asked: bool,
    failed: Option<io::Error>,
}

impl Away<'_> {
    /// For output that stays in memory.
    fn nowhere() -> Self {
        Self {
            to: None,
            most: usize::MAX,
            given: 0,
            is_known: false,
            is_asked: false,
            failed: None,
        }
    }
}

/// The short way; `None` where it does not lead to the end.
fn directly(
    bytes: &[u8],
    options: &Options,
    out: &mut Vec<u8>,
    away: &mut Away<'_>,
) -> Option<Totals> {
    let is_simple = options.format == Format::Html
        && options.destination.is_none()
        && options.scan.scanner == Scanner::Fast
        && matches!(options.base_element, BaseElement::Absolute | BaseElement::Keep);
    if !is_simple {
        return None;
    }
    let mut encoding = flow::encoding(bytes, &options.scan);
    let mut bases = Vec::new();
    let length = out.len();
    if away.to.is_none() {
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
                    bases = flow::bases(bytes, encoding, &options.scan).ok()?;
                }
            }
            Err(Stop::Base) => bases = flow::bases(bytes, encoding, &options.scan).ok()?,
            Err(Stop::Refused) if std::mem::take(&mut away.is_asked) => {
                if encoding.declaration == Declaration::Assumed
                    && let Some(charset) = flow::declared(bytes).ok()?
                {
                    encoding = declared(charset);
                }
                bases = flow::bases(bytes, encoding, &options.scan).ok()?;
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
    let charset = encoding.charset;
    let entity = Arc::clone(&options.scan.entity);
    let mut document = Document::empty(entity, Format::Html, charset);
    document.bases = bases.to_vec();
    let outer = Outer::Retrieval(options.retrieval.as_ref());
    let chain = base::establish(&document, outer, options.profile);
    let resolver = Resolver::new(&[], charset, &chain, options, Surroundings::default());
    let mut writer = Writer {
        bytes,
        charset,
        options,
        plain: chain.base.as_deref().and_then(|base| Plain::of(base, options)),
        chain: &chain,
        resolver,
        totals: Totals::of(Some(&chain), charset),
        of_parts: 0,
        differing: None,
        copied: 0,
        out,
        most: away.most,
        is_assumed: encoding.declaration == Declaration::Assumed,
        has_bases: !bases.is_empty(),
        away,
    };
    flow::links(bytes, encoding, &options.scan, !bases.is_empty(), &mut writer)?;
    if writer.away.to.is_none() {
        writer.out.extend_from_slice(&bytes[writer.copied..]);
    } else if !writer.give(bytes.len()) {
        return Err(Stop::Refused);
    }
    let mut totals = writer.totals;
    let has_links = totals.links() > writer.of_parts;
    let of_base = base_diagnostic(has_links, &chain, outer, options.profile);
    totals.diagnostics.extend(chain.diagnostics.iter().cloned().chain(of_base));
    totals.diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
    let of_profiles = writer
        .differing
        .map(|(span, reference)| profiles_differ(totals.differing, span, &reference));
    totals.diagnostics.extend(of_profiles);
    Ok(totals)
}

/// A base whose prefixes stand in any attribute, and in any CSS, as they are.
struct Plain {
    base: Base,
}

impl Plain {
    fn of(url: &str, options: &Options) -> Option<Self> {
        let is_usable = url.len() <= LONGEST_BASE && resolve::usable(url).is_ok();
        let base = is_usable.then(|| Base::new(options.profile, url))?;
        let stands = |byte: u8| {
            byte.is_ascii_graphic()
                && !matches!(byte, b'&' | b'"' | b'\'' | b'<' | b'>' | b'=' | b'`')
                && !matches!(byte, b'(' | b')' | b'\\')
        };
        base.as_str().bytes().all(stands).then_some(Self { base })
    }
}

/// Writes the output while the links come in.
struct Writer<'a, 'o> {
    bytes: &'a [u8],
    charset: Charset,
    options: &'a Options,
    plain: Option<Plain>,
    chain: &'a BaseChain,
    resolver: Resolver<'a>,
    totals: Totals,
    /// How many of the links stand in documents in values.
    of_parts: usize,
    /// The first link that leads elsewhere under another resolver.
    differing: Option<(Span, String)>,
    /// Up to where the document has been written.
    copied: usize,
    out: &'a mut Vec<u8>,
    /// When so much is settled, it is given away.
    most: usize,
    is_assumed: bool,
    has_bases: bool,
    away: &'a mut Away<'o>,
}

impl Writer<'_, '_> {
    /// Puts `new` in the place of `span`; `false` where that lies before the end of what is written.
    #[inline(always)]
    fn replace(&mut self, span: Span, new: &[u8]) -> bool {
        let Some(kept) = self.bytes.get(self.copied..span.start) else {
            return false;
        };
        self.out.extend_from_slice(kept);
        self.out.extend_from_slice(new);
        self.copied = span.end;
        self.totals.changed = true;
        true
    }

    /// Gives away what was made of the document up to `at`; `false` where that is not to be done, or
    /// fails.
    fn give(&mut self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if !self.away.is_known
            && ((!self.has_bases && may_have(rest, b"base"))
                || (self.is_assumed && may_have(rest, b"meta")))
        {
            self.away.is_asked = true;
            return false;
        }
        self.away.is_known = true;
        let (Some(to), Some(kept)) = (&mut self.away.to, self.bytes.get(self.copied..at)) else {
            return true;
        };
        // In one piece, where that is small.
        let (more, alone) = match self.out.len() + kept.len() <= self.out.capacity() {
            true => (kept, &[][..]),
            false => (&[][..], kept),
        };
        self.out.extend_from_slice(more);
        if let Err(error) = to.write_all(self.out).and_then(|()| to.write_all(alone)) {
            self.away.failed = Some(error);
            return false;
        }
        self.out.clear();
        self.copied = at;
        self.away.given = at;
        true
    }

    fn count(&mut self, link: &LinkReport) {
        self.totals.add(link.outcome, link.reason);
        if link.is_rewritten_otherwise() {
            self.totals.differing += 1;
            let is_first = |(span, _): &(Span, String)| link.span.start < span.start;
            if self.differing.as_ref().is_none_or(is_first) {
                self.differing = Some((link.span, link.reference.clone()));
            }
        }
    }
}

impl Taker for Writer<'_, '_> {
    #[inline(always)]
    fn is_full(&self, at: usize) -> bool {
        self.out.len() + at.saturating_sub(self.copied) >= self.most
    }

    #[cold]
    fn settle(&mut self, at: usize) -> bool {
        self.give(at)
    }

    #[inline(always)]
    fn value(&mut self, value: &Value) -> bool {
        let reference = &self.bytes[value.span.range()];
        match reference {
            [] if !value.empty_resolves => {
                self.totals.add(Outcome::Left, Some(Reason::Empty));
                return true;
            }
            // `#{` begins a placeholder.
            [] | [b'#', b'{', ..] => return false,
            [b'#', ..] if value.fragment_identifies => {
                self.totals.add(Outcome::Left, Some(Reason::IdReference));
                return true;
            }
            [b'#', ..] if self.options.fragments != Fragments::Rewrite => return false,
            _ => {}
        }
        if is_absolute(reference) && self.options.profile != Profile::Whatwg {
            self.totals.add(Outcome::Absolute, None);
            return true;
        }
        let Some(plain) = &self.plain else {
            return false;
        };
        let Some(splice) = plain.base.splice(reference) else {
            return false;
        };
        if (value.enclosed && value.quote == Quote::None) || !has_plain_references(reference) {
            return false;
        }
        let Some(kept) = self.bytes.get(self.copied..value.span.start) else {
            return false;
        };
        self.out.extend_from_slice(kept);
        self.out.extend_from_slice(splice.prefix.as_bytes());
        self.copied = value.span.start + splice.dropped;
        self.totals.changed = true;
        self.totals.add(Outcome::Rewritten, None);
        true
    }

    fn link(&mut self, link: Link) -> bool {
        self.resolver.prepare(&link.against, self.charset);
        let planned = self.resolver.link(link, self.charset, &[]);
        self.count(&planned.report);
        planned.edits.iter().all(|edit| self.replace(edit.span, &edit.new))
    }

    fn part(&mut self, part: Document) -> bool {
        let mut report = Report::default();
        let around = self.chain.seen_by(&part.within);
        let mut planner =
            Planner { options: self.options, around: Surroundings::default(), report: &mut report };
        let outer = Outer::Encapsulating(&around);
        let settled = Settled::of(planner.document(part, None, outer, self.charset, &[]));
        self.of_parts += settled.links.len();
        settled.links.iter().for_each(|link| self.count(link));
        self.totals.diagnostics.append(&mut report.diagnostics);
        settled.edits.iter().all(|edit| self.replace(edit.span, &edit.new))
    }
}

/// Whether a start tag of this name may be in `bytes`.
fn may_have(bytes: &[u8], name: &[u8]) -> bool {
    memchr::memchr_iter(b'<', bytes).any(|at| {
        let found = bytes.get(at + 1..at + 1 + name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name))
    })
}

/// Whether a value begins with a scheme, written as it is, so that it is absolute to both RFCs.
#[inline(always)]
pub(super) fn is_absolute(value: &[u8]) -> bool {
    let is_of_scheme =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    value.first().is_some_and(u8::is_ascii_alphabetic)
        && value.iter().find(|byte| !is_of_scheme(byte)) == Some(&b':')
}

/// Whether all character references in a value are `&amp;`, and behind its path, where neither the `&`
/// nor the `;` means anything to a resolver.
#[inline(always)]
fn has_plain_references(value: &[u8]) -> bool {
    let Some(first) = memchr::memchr(b'&', value) else {
        return true;
    };
    memchr::memchr2(b'?', b'#', &value[..first]).is_some()
        && memchr::memchr_iter(b'&', &value[first..])
            .all(|at| value[first + at..].starts_with(b"&amp;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_and_reasons_stand_where_they_are_counted() {
        assert!(Outcome::ALL.iter().enumerate().all(|(at, outcome)| *outcome as usize == at));
        assert!(Reason::ALL.iter().enumerate().all(|(at, reason)| *reason as usize == at));
    }

    #[test]
    fn start_tags_that_may_be_there() {
        for bytes in ["<base", "<BaSe href>", "<a><base>", "<<base", "<!--<base>-->", "<basefont>"]
        {
            assert!(may_have(bytes.as_bytes(), b"base"), "{bytes}");
        }
        for bytes in ["", "base", "<bas", "<", "</base>", "< base", "<b ase", "<a base>"] {
            assert!(!may_have(bytes.as_bytes(), b"base"), "{bytes}");
        }
    }

    #[test]
    fn what_is_absolute_as_it_stands() {
        for value in ["http://a/", "mailto:x", "x+y:z", "a:"] {
            assert!(is_absolute(value.as_bytes()), "{value}");
        }
        for value in ["", ":", "a", "a/b:c", "1:2", " a:b", "&#97;:b", "a&colon;b", "é:a"] {
            assert!(!is_absolute(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn character_references_that_change_nothing() {
        for value in ["", "a", "a?b&amp;c", "?&amp;&amp;", "#&amp;"] {
            assert!(has_plain_references(value.as_bytes()), "{value}");
        }
        for value in ["a&amp;b", "a?b&c", "?&amp;&copy;", "a&#63;b&amp;", "&quest;&amp;"] {
            assert!(!has_plain_references(value.as_bytes()), "{value}");
        }
    }
}
