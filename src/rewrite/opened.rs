//! A document whose base is known before its links are.
//!
//! A base may follow what it governs, and so may the declaration of an encoding. So one has to look ahead, or to begin
//! anew where the document declares what nobody looked for. This file decides which of the two.
//!
//! ```
//! use baselink::{Options, rewrite_into};
//! let mut out = Vec::new();
//! // Begun without a look ahead, and anew at the `base` element.
//! let _ = rewrite_into(b"<a href=x><base href=/b/>", &Options::at("http://a/"), &mut out);
//! assert_eq!(out, b"<a href=http://a/b/x><base href=http://a/b/>");
//! ```
//!
//! Deliberately absent: links.

use std::sync::Arc;

use super::copies;
use super::declaration::PrescannedMeta;
use super::judge::Surroundings;
use super::options::Options;
use super::sink::LinkSink;
use crate::base::{self, BaseChain, Outer};
use crate::document::Document;
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::scan::ScanOptions;
use crate::scan::html::pass::{Tentative, Whole, Windows};
use crate::scan::html::prelude::{self, Bases, Prelude, may_declare_base, prelude};

/// What is to be done with a document.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) options: &'a Options,
    /// How it is scanned.
    pub(super) scan: &'a ScanOptions,
    pub(super) around: Surroundings<'a>,
    /// What is around the document, for its base.
    pub(super) outer: Outer<'a>,
    /// Whether each link is wanted with its report; else those whose target is a prefix of the base and the tail of the
    /// reference are counted only.
    pub(super) is_listed: bool,
}

impl<'a> Task<'a> {
    /// What is asked of an outermost document.
    pub(super) fn of(options: &'a Options, is_listed: bool) -> Self {
        let (scan, around, outer) = (&options.scan, Surroundings::default(), options.outer());
        Self { options, scan, around, outer, is_listed }
    }

    /// The base of `document`.
    pub(super) fn establish(&self, document: &Document) -> BaseChain {
        let mut chain = base::establish(document, self.outer, self.options.profile);
        let has_retrieval = !matches!(self.outer, Outer::Retrieval(None) | Outer::AssumedScheme(_));
        if !has_retrieval && copies::is_copy(self.options) {
            chain.lacks_retrieval(copies::WITHOUT_RETRIEVAL);
        }
        chain
    }

    /// How far one looks ahead in an HTML document for this sink: in this order, until its links can be told.
    fn looks<S: LinkSink>(&self) -> &'static [Look] {
        match self.is_listed {
            _ if S::REPORTS && S::IS_LAST => &[Look::Ahead(Bases::Decisive)],
            false => &[Look::Tentative, Look::Ahead(Bases::Decisive)],
            true => &[Look::Ahead(Bases::All)],
        }
    }
}

/// How far one looks ahead in an HTML document before its links are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Not at all: nothing is declared but what its first bytes say. The document is begun anew where that is not so.
    Tentative,
    /// For declarations of its encoding and of bases.
    Ahead(Bases),
}

/// An HTML document whose base is known.
pub(super) struct Opened {
    pub(super) found: Detected,
    pub(super) meta: PrescannedMeta,
    /// The document without its links.
    pub(super) document: Document,
    pub(super) chain: BaseChain,
    /// What nobody has looked for.
    pub(super) tentative: Option<Tentative>,
}

impl Opened {
    /// The HTML document in `bytes`, once for each time that one may have to begin for a sink of this kind. Where it is
    /// opened for the last time, its base is known for certain. It is not opened at all where its encoding is no
    /// extension of ASCII.
    pub(super) fn in_turn<'a, S: LinkSink>(
        task: Task<'a>,
        bytes: &'a [u8],
    ) -> impl Iterator<Item = Self> + use<'a, S> {
        task.looks::<S>().iter().filter_map(move |look| {
            let opened = Self::at(task, bytes, *look)?;
            // The href of a `base` element stays where there are local copies, which is known at the end.
            let may_keep_base = S::IS_LAST
                && (opened.chain.was_saved_with_files || task.options.beside().is_some());
            let has_base =
                || opened.tentative.is_some() || may_declare_base(bytes, bytes.len(), false);
            (!(may_keep_base && has_base())).then_some(opened)
        })
    }

    /// `None` where its encoding is no extension of ASCII.
    fn at(task: Task<'_>, bytes: &[u8], look: Look) -> Option<Self> {
        let found = match look {
            Look::Tentative => Charset::detect(bytes, task.scan.charset),
            Look::Ahead(_) => prelude::encoding(bytes, task.scan),
        };
        let Detected { charset, mark, .. } = found;
        if !charset.is_ascii_compatible() {
            return None;
        }
        let bases = match look {
            Look::Tentative => return Some(Self::tentative(task, bytes, found)),
            Look::Ahead(bases) => bases,
        };
        let mut document = Document::empty(Arc::clone(&task.scan.entity), Format::Html, charset);
        let Prelude { bases, saved } = prelude(bytes, mark, charset, task.scan, bases);
        (document.bases, document.saved) = (bases, saved);
        let chain = task.establish(&document);
        let meta = PrescannedMeta::at(found.prescanned);
        Some(Self { found, meta, document, chain, tentative: None })
    }

    /// That of a document which begins with `head`, and of which only the encoding is known.
    pub(super) fn tentative(task: Task<'_>, head: &[u8], found: Detected) -> Self {
        let entity = Arc::clone(&task.scan.entity);
        let mut document = Document::empty(entity, Format::Html, found.charset);
        document.saved = prelude::saved(head, task.scan);
        let chain = task.establish(&document);
        let tentative = match found.declaration {
            Declaration::Assumed => Tentative::BaseAndEncoding,
            _ => Tentative::Base,
        };
        let meta = PrescannedMeta::at(found.prescanned);
        Self { found, meta, document, chain, tentative: Some(tentative) }
    }

    /// Its encoding, and what nobody has looked for.
    pub(super) fn known(&self) -> (Detected, PrescannedMeta, Option<Tentative>) {
        (self.found, self.meta, self.tentative)
    }

    /// The document, all of which is in `bytes`.
    pub(super) fn whole<'b>(&self, bytes: &'b [u8], scan: &ScanOptions) -> Whole<'b> {
        let Detected { charset, mark: start, .. } = self.found;
        let (entity, tentative) = (Arc::clone(&scan.entity), self.tentative);
        Whole { bytes, start, charset, entity, depth: 0, enclosed: false, tentative }
    }

    /// The same, to be read window by window.
    pub(super) fn windows(&self, scan: &ScanOptions) -> (Windows, usize) {
        let Detected { charset, mark, .. } = self.found;
        (Windows::new(charset, self.tentative, scan), mark)
    }
}
