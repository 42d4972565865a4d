//! Writes the output of a document while its links come in.
//!
//! What stands between two links is copied from the document when the second comes. Where output is given
//! away in pieces, that is done where a tag begins ([`Taker::is_full`]), and where a window ends.
//!
//! ```
//! // What stands before the second link is copied, whatever it is.
//! use baselink::{Options, rewrite_into};
//! let mut out = Vec::new();
//! let page = b"<a href=x>y</a  ><!-- z --><a href=http://b/>";
//! let _ = rewrite_into(page, &Options::at("http://a/"), &mut out);
//! assert_eq!(out, b"<a href=http://a/x>y</a  ><!-- z --><a href=http://b/>");
//! ```
//!
//! Deliberately absent: where bases and encodings come from.

use std::io;
use std::sync::Arc;

use super::Totals;
use crate::base::{self, BaseChain, Outer};
use crate::document::{DeclaredBase, Document, LONGEST_BASE, Link};
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::layer::escape::Quote;
use crate::report::{LinkReport, Outcome, Reason, Report};
use crate::resolve::{self, Base, Profile};
use crate::rewrite::judge::{Resolver, Surroundings};
use crate::rewrite::{Differing, Fragments, Options, Planner, Settled, base_diagnostic};
use crate::scan::block;
use crate::scan::html::flow::{Taker, Value};
use crate::scan::html::saved::{may_have_commented_url, saved};
use crate::span::Span;

/// Takes what is in a piece of the output, and leaves the piece empty.
pub(super) type Give<'a> = dyn FnMut(&mut Vec<u8>) -> io::Result<()> + 'a;

/// What takes output while more is being made.
pub(super) struct Away<'a> {
    pub(super) to: Option<&'a mut Give<'a>>,
    /// It is given so much at a time.
    pub(super) most: usize,
    /// Up to where it has the document.
    pub(super) given: usize,
    /// What is known of the document's encoding and bases, where something may still be declared.
    pub(super) is_known: bool,
    /// Whether that has to be known before anything is given away.
    pub(super) is_asked: bool,
    pub(super) failed: Option<io::Error>,
}

impl Away<'_> {
    /// For output that stays in memory.
    pub(super) fn nowhere() -> Self {
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

/// The base of a document that begins with `head` and declares `bases`.
pub(super) fn chain(
    head: &[u8],
    charset: Charset,
    bases: &[DeclaredBase],
    options: &Options,
) -> BaseChain {
    let entity = Arc::clone(&options.scan.entity);
    let mut document = Document::empty(entity, Format::Html, charset);
    document.bases = bases.to_vec();
    document.saved = if options.scan.ignore_saved { None } else { saved(head) };
    base::establish(&document, options.outer(), options.profile)
}

/// Writes the output while the links come in.
pub(super) struct Writer<'a, 'o> {
    charset: Charset,
    options: &'a Options,
    plain: Option<Plain>,
    chain: &'a BaseChain,
    resolver: Resolver<'a>,
    totals: Totals,
    /// How many of the links stand in documents in values.
    of_parts: usize,
    /// The links that lead elsewhere under another resolver.
    differing: Differing,
    /// How much of the document stands before the window.
    offset: usize,
    /// Up to where the window has been written.
    copied: usize,
    out: &'a mut Vec<u8>,
    is_assumed: bool,
    has_bases: bool,
    away: &'a mut Away<'o>,
}

impl<'a, 'o> Writer<'a, 'o> {
    /// A writer of a document whose base is that of `chain`, and which `has_bases` or none.
    pub(super) fn new(
        encoding: Detected,
        options: &'a Options,
        chain: &'a BaseChain,
        has_bases: bool,
        out: &'a mut Vec<u8>,
        away: &'a mut Away<'o>,
    ) -> Self {
        let charset = encoding.charset;
        Self {
            charset,
            options,
            plain: chain.base.as_deref().and_then(|base| Plain::of(base, options)),
            chain,
            resolver: Resolver::new(&[], charset, chain, options, Surroundings::default()),
            totals: Totals::of(Some(chain), charset),
            of_parts: 0,
            differing: Differing::default(),
            offset: 0,
            copied: 0,
            out,
            is_assumed: encoding.declaration == Declaration::Assumed,
            has_bases,
            away,
        }
    }

    /// Writes what is left of the last window; `false` where that fails.
    pub(super) fn end(&mut self, window: &[u8]) -> bool {
        self.keep(window, window.len()) && self.give()
    }

    /// Writes the window up to `done`, which is gone from it then; `false` where that fails.
    pub(super) fn slide(&mut self, window: &[u8], done: usize) -> bool {
        let is_kept = done <= self.copied || self.keep(window, done);
        self.copied -= done.min(self.copied);
        self.offset += done;
        is_kept
    }

    /// What became of all links.
    pub(super) fn totals(self) -> Totals {
        let mut totals = self.totals;
        let has_links = totals.links() > self.of_parts;
        let outer = self.options.outer();
        let of_base = base_diagnostic(has_links, self.chain, outer, self.options.profile);
        totals.diagnostics.extend(self.chain.diagnostics.iter().cloned().chain(of_base));
        totals.diagnostics.extend(self.resolver.missing_copies());
        totals.diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
        totals.differing = self.differing.number;
        totals.diagnostics.extend(self.differing.diagnostic());
        totals
    }

    /// Copies the window up to `to`, in pieces where the output is given away; `false` where that fails.
    fn keep(&mut self, window: &[u8], to: usize) -> bool {
        loop {
            let Some(kept) = window.get(self.copied..to) else {
                return false;
            };
            // What is given ends behind a byte that is kept, so that it is clear of each edit whether it is in it.
            let room = self.away.most.saturating_sub(self.out.len()).max(1);
            let kept = &kept[..kept.len().min(room)];
            self.out.extend_from_slice(kept);
            self.copied += kept.len();
            if self.copied == to {
                return true;
            }
            if !self.give() {
                return false;
            }
        }
    }

    /// Gives away what there is of the output; `false` where that fails.
    fn give(&mut self) -> bool {
        if let Some(to) = &mut self.away.to
            && let Err(error) = to(self.out)
        {
            self.away.failed = Some(error);
            return false;
        }
        self.away.given = self.offset + self.copied;
        true
    }

    /// Puts `new` in the place of `span`; `false` where that lies before the end of what is written.
    #[inline(always)]
    fn replace(&mut self, window: &[u8], span: Span, new: &[u8]) -> bool {
        let Some(kept) = window.get(self.copied..span.start) else {
            return false;
        };
        self.out.extend_from_slice(kept);
        self.out.extend_from_slice(new);
        self.copied = span.end;
        self.totals.changed = true;
        true
    }

    fn count(&mut self, link: &LinkReport, charset: Charset) {
        self.totals.count_link(link);
        if link.is_rewritten_otherwise() {
            self.differing.add(link, link.span.shifted(self.offset), &|| charset);
        }
    }
}

impl Taker for Writer<'_, '_> {
    #[inline(always)]
    fn is_full(&self, at: usize) -> bool {
        self.out.len() + at.saturating_sub(self.copied) >= self.away.most
    }

    #[cold]
    fn settle(&mut self, window: &[u8], at: usize) -> bool {
        if !self.away.is_known {
            let rest = window.get(at..).unwrap_or_default();
            let has_commented_url = || may_have_commented_url(window, at);
            if (!self.has_bases && (may_have(rest, b"base") || has_commented_url()))
                || (self.is_assumed && may_have(rest, b"meta"))
            {
                self.away.is_asked = true;
                return false;
            }
            self.away.is_known = true;
        }
        self.keep(window, at) && self.give()
    }

    #[inline(always)]
    fn value(&mut self, window: &[u8], value: &Value) -> bool {
        let reference = &window[value.span.range()];
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
            [b'#', ..] if self.resolver.fragments() != Fragments::Rewrite => return false,
            _ => {}
        }
        if is_absolute(reference) && self.options.profile != Profile::Whatwg {
            self.totals.add(Outcome::Absolute, None);
            return true;
        }
        if self.resolver.may_ask_beside(reference) {
            return false;
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
        let Some(kept) = window.get(self.copied..value.span.start) else {
            return false;
        };
        self.out.extend_from_slice(kept);
        self.out.extend_from_slice(splice.prefix.as_bytes());
        self.copied = value.span.start + splice.dropped;
        self.totals.changed = true;
        self.totals.add(Outcome::Rewritten, None);
        true
    }

    fn link(&mut self, window: &[u8], link: Link) -> bool {
        self.resolver.prepare(&link.against, self.charset);
        let planned = self.resolver.link(link, self.charset, &[]);
        self.count(&planned.report, self.charset);
        self.resolver.count_copy(&planned.report, planned.report.span.shifted(self.offset));
        // A base element stays where local copies are still to come.
        if self.resolver.has_copies() && planned.is_base() {
            return false;
        }
        planned.edits.iter().all(|edit| self.replace(window, edit.span, &edit.new))
    }

    fn part(&mut self, window: &[u8], part: Document) -> bool {
        let mut report = Report::default();
        let around = self.chain.seen_by(&part.within);
        let mut planner =
            Planner { options: self.options, around: Surroundings::default(), report: &mut report };
        let outer = Outer::Encapsulating(&around);
        let settled = Settled::of(planner.document(part, None, outer, self.charset, &[]));
        self.of_parts += settled.links.len();
        settled.links.iter().for_each(|link| self.count(link, Charset::UTF_8));
        for diagnostic in &mut report.diagnostics {
            diagnostic.span = diagnostic.span.shifted(self.offset);
        }
        self.totals.diagnostics.append(&mut report.diagnostics);
        settled.edits.iter().all(|edit| self.replace(window, edit.span, &edit.new))
    }
}

/// Whether a start tag of this name, which is in lower case, may be in `bytes`.
fn may_have(bytes: &[u8], name: &[u8; 4]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        at = block::find_tag(bytes, at, [name[0]]);
        let found = bytes.get(at + 1..at + 1 + name.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether a value begins with a scheme, written as it is, so that it is absolute to both RFCs.
#[inline(always)]
pub(in crate::rewrite) fn is_absolute(value: &[u8]) -> bool {
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
