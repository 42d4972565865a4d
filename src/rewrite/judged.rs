//! A judged link: its report, and the edits that implement the outcome.
//!
//! ```
//! use baselink::{Options, rewrite};
//! // The only edit belongs to the document in the attribute value, and is lifted to the page.
//! let page = b"<iframe srcdoc='<a href=&quot;x&quot;>'>";
//! let rewritten = rewrite(page, &Options::at("http://a/"));
//! assert_eq!(rewritten.output(), b"<iframe srcdoc='<a href=&quot;http://a/x&quot;>'>");
//! ```
//!
//! Deliberately absent: the judgement.

use crate::document::Decoded;
use crate::edit::Edit;
use crate::layer::charset::Charset;
use crate::layer::lift;
use crate::layer::spelling::Spelling;
use crate::report::{LinkReport, Outcome, Reason};
use crate::span::Span;

/// The report and edits of a link, in offsets of the buffer that is being planned.
pub(super) struct Judged {
    pub(super) report: LinkReport,
    pub(super) edits: Vec<Edit<'static>>,
    /// True if the link is the href of a `base` element or an `xml:base`.
    pub(super) declares_base: bool,
}

impl Judged {
    pub(super) fn refuse(&mut self, reason: Reason) {
        self.edits.clear();
        self.report.refuse(reason);
    }

    /// Applies [`LinkReport::outgrow`], and drops the edits.
    pub(super) fn outgrow(&mut self) {
        if self.report.outcome == Outcome::Rewritten {
            self.edits.clear();
            self.report.outgrow();
        }
    }

    /// True if the link is the href of a `base` element or an `xml:base`, and was rewritten.
    pub(super) fn is_base(&self) -> bool {
        self.declares_base && self.report.outcome == Outcome::Rewritten
    }

    /// Refuses the edits if the first one begins before `edited`. Otherwise advances `edited` to the end of the last
    /// edit.
    pub(super) fn keep_apart(&mut self, edited: &mut usize) {
        if self.edits.first().is_some_and(|first| first.span.start < *edited) {
            return self.refuse(Reason::Escape);
        }
        if let Some(last) = self.edits.last() {
            *edited = last.span.end;
        } else if self.report.outcome == Outcome::Rewritten {
            // Only the report was requested.
            *edited = self.report.span.end;
        }
    }

    pub(super) fn keep_base(&mut self) {
        self.edits.clear();
        self.report.leave(Reason::BecomesBase);
    }
}

/// True if a link with this outcome would mean something else without the base.
#[inline(always)]
pub(super) fn depends_on_base((outcome, reason): (Outcome, Option<Reason>)) -> bool {
    match outcome {
        Outcome::Rewritten | Outcome::Absolute => false,
        Outcome::Left => {
            !matches!(reason, Some(Reason::IdReference | Reason::Empty | Reason::BaseElement))
        }
        Outcome::NoBase | Outcome::NotEditable => true,
    }
}

/// Lifts the edits of a link from the text of a document to the underlying buffer.
pub(super) fn lift_through(judged: &mut Judged, decoded: &Decoded, beneath: Charset) {
    let mut lifted = Vec::with_capacity(judged.edits.len());
    for edit in &judged.edits {
        let text = String::from_utf8_lossy(&edit.new);
        let piece = decoded.pieces.partition_point(|piece| piece.span.end < edit.span.end);
        let (map, span, spelling) = match decoded.pieces.get(piece) {
            None => (&decoded.map, edit.span, decoded.spelling),
            // An edit across two pieces would delete the bytes between them.
            Some(piece) if edit.span.start < piece.span.start => {
                return judged.refuse(Reason::Escape);
            }
            Some(piece) => {
                let from = piece.span.start;
                let span = Span::new(edit.span.start - from, edit.span.end - from);
                (&piece.map, span, Spelling { carrier: piece.carrier, ..decoded.spelling })
            }
        };
        let Ok(spelled) = spelling.spell(&text, beneath) else {
            return judged.refuse(Reason::Encoding);
        };
        let (before, after) = decoded.text.split_at(edit.span.start);
        let next = text.chars().next().or_else(|| after[edit.span.len()..].chars().next());
        // In ISO-2022-JP, text after a non-ASCII character begins with an escape sequence, which must be neither
        // cut off nor overwritten. A switch to Roman must not be deleted either.
        let is_shifted = |text: &str| text.chars().next_back().is_some_and(|last| !last.is_ascii());
        if beneath.is_stateful()
            && (is_shifted(before) || is_shifted(&decoded.text[..edit.span.end]))
            || decoded.has_roman && (text.contains(['\\', '~']) || !map.stands_verbatim(span))
        {
            return judged.refuse(Reason::Encoding);
        }
        match lift(map, span, spelled, next) {
            Some(edit) => lifted.push(edit),
            None => return judged.refuse(Reason::Escape),
        }
    }
    judged.edits = lifted;
}
