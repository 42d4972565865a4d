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
//! Deliberately absent: anything that the long way does otherwise. The bytes and the totals are the same.

use std::sync::Arc;

use super::judge::{Resolver, Surroundings};
use super::{BaseElement, Fragments, Options, Planner, Settled, base_diagnostic, rewrite_briefly};
use crate::base::{self, BaseChain, Outer};
use crate::document::{DeclaredBase, Document, LONGEST_BASE, Link};
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::layer::escape::Quote;
use crate::report::{Outcome, Report};
use crate::resolve::{self, Base, Profile};
use crate::scan::Scanner;
use crate::scan::html::flow::{self, Stop, Taker, Value};
use crate::span::Span;

/// What became of a file, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many links have each outcome, in the order of [`Outcome::ALL`].
    outcomes: [usize; Outcome::ALL.len()],
    /// How many of those that were rewritten lead elsewhere under another resolver.
    pub differing: usize,
    /// The base of the file, as the outermost of its documents has it.
    pub base: Option<Arc<str>>,
    /// Whether the output differs from the input.
    pub changed: bool,
    /// How many diagnostics a report would have.
    pub diagnostics: usize,
}

impl Totals {
    /// How many links have `outcome`.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        Outcome::ALL.iter().position(|one| *one == outcome).map_or(0, |at| self.outcomes[at])
    }

    /// How many links there are.
    #[must_use]
    pub fn links(&self) -> usize {
        self.outcomes.iter().sum()
    }

    fn add(&mut self, outcome: Outcome) {
        if let Some(at) = Outcome::ALL.iter().position(|one| *one == outcome) {
            self.outcomes[at] += 1;
        }
    }
}

/// Makes every relative link of `bytes` absolute, as [`super::rewrite`] does, and puts the result behind what
/// `out` holds. Without a report it takes a fraction of the time, most of all with an `out` that is used
/// again and again.
pub fn rewrite_into(bytes: &[u8], options: &Options, out: &mut Vec<u8>) -> Totals {
    let length = out.len();
    if let Some(totals) = directly(bytes, options, out) {
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
    let report = &rewritten.report;
    let mut totals = Totals {
        differing: report.links.iter().filter(|link| link.differs).count(),
        base: report.entities.first().and_then(|entity| entity.chain.base.clone()),
        changed: !rewritten.edits.is_empty(),
        diagnostics: report.diagnostics.len(),
        ..Totals::default()
    };
    report.links.iter().for_each(|link| totals.add(link.outcome));
    totals.outcomes[ABSOLUTE] += report.unlisted;
    totals
}

/// The short way; `None` where it does not lead to the end.
fn directly(bytes: &[u8], options: &Options, out: &mut Vec<u8>) -> Option<Totals> {
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
    out.reserve(bytes.len() + bytes.len() / 8);
    // What is not expected is found out once: an encoding, and bases.
    for _ in 0..3 {
        out.truncate(length);
        if !encoding.charset.is_ascii_compatible() {
            return None;
        }
        match with_bases(bytes, encoding, options, &bases, out) {
            Ok(totals) => return Some(totals),
            Err(Stop::Encoding(charset)) => {
                encoding = Detected { charset, declaration: Declaration::Meta, ..encoding };
            }
            Err(Stop::Base) => bases = flow::bases(bytes, encoding, &options.scan).ok()?,
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
        totals: Totals { base: chain.base.clone(), ..Totals::default() },
        of_parts: 0,
        copied: 0,
        out,
    };
    flow::links(bytes, encoding, &options.scan, !bases.is_empty(), &mut writer)?;
    writer.out.extend_from_slice(&bytes[writer.copied..]);
    let mut totals = writer.totals;
    let has_links = totals.links() > writer.of_parts;
    let of_base = base_diagnostic(has_links, &chain, outer, options.profile);
    totals.diagnostics += chain.diagnostics.len()
        + usize::from(of_base.is_some())
        + usize::from(totals.differing > 0);
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
struct Writer<'a> {
    bytes: &'a [u8],
    charset: Charset,
    options: &'a Options,
    plain: Option<Plain>,
    chain: &'a BaseChain,
    resolver: Resolver<'a>,
    totals: Totals,
    /// How many of the links stand in documents in values.
    of_parts: usize,
    /// Up to where the document has been written.
    copied: usize,
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
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
}

impl Taker for Writer<'_> {
    #[inline(always)]
    fn value(&mut self, value: &Value) -> bool {
        let reference = &self.bytes[value.span.range()];
        match reference {
            [] if !value.empty_resolves => {
                self.totals.outcomes[LEFT] += 1;
                return true;
            }
            // `#{` begins a placeholder.
            [] | [b'#', b'{', ..] => return false,
            [b'#', ..] if value.fragment_identifies => {
                self.totals.outcomes[LEFT] += 1;
                return true;
            }
            [b'#', ..] if self.options.fragments != Fragments::Rewrite => return false,
            _ => {}
        }
        if is_absolute(reference) && self.options.profile != Profile::Whatwg {
            self.totals.outcomes[ABSOLUTE] += 1;
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
        self.totals.outcomes[REWRITTEN] += 1;
        true
    }

    fn link(&mut self, link: Link) -> bool {
        self.resolver.prepare(&link.against, self.charset);
        let planned = self.resolver.link(link, self.charset, &[]);
        self.totals.add(planned.report.outcome);
        self.totals.differing += usize::from(planned.report.differs);
        planned.edits.iter().all(|edit| self.replace(edit.span, &edit.new))
    }

    fn part(&mut self, part: Document) -> bool {
        let mut report = Report::default();
        let around = self.chain.seen_by(&part.within);
        let mut planner =
            Planner { options: self.options, around: Surroundings::default(), report: &mut report };
        let outer = Outer::Encapsulating(&around);
        let settled = Settled::of(planner.document(part, None, outer, self.charset, &[]));
        self.totals.diagnostics += report.diagnostics.len();
        self.of_parts += settled.links.len();
        for link in &settled.links {
            self.totals.add(link.outcome);
            self.totals.differing += usize::from(link.differs);
        }
        settled.edits.iter().all(|edit| self.replace(edit.span, &edit.new))
    }
}

/// Places in [`Outcome::ALL`].
const REWRITTEN: usize = place(Outcome::Rewritten);
const ABSOLUTE: usize = place(Outcome::Absolute);
const LEFT: usize = place(Outcome::Left);

const fn place(outcome: Outcome) -> usize {
    let mut at = 0;
    while at < Outcome::ALL.len() && Outcome::ALL[at] as usize != outcome as usize {
        at += 1;
    }
    at
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
    fn outcomes_stand_where_they_are_counted() {
        assert_eq!(Outcome::ALL[REWRITTEN], Outcome::Rewritten);
        assert_eq!(Outcome::ALL[ABSOLUTE], Outcome::Absolute);
        assert_eq!(Outcome::ALL[LEFT], Outcome::Left);
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
