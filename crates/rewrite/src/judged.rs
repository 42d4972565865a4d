//! A judged link: its report, and the edits that implement the outcome.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! // The only edit belongs to the document in the attribute value, and is lifted to the page.
//! let page = b"<iframe srcdoc='<a href=&quot;x&quot;>'>";
//! let rewritten = rewrite(page, &Options::at("http://a/"));
//! assert_eq!(rewritten.output(), b"<iframe srcdoc='<a href=&quot;http://a/x&quot;>'>");
//! ```
//!
//! Deliberately absent: the judgement.

use baselink_scan::document::Decoded;
use baselink_text::{
    Charset, Edit, Span,
    layer::spelling::{Spelling, lift},
};

use super::options::NOWHERE;
use crate::report::{LinkReport, Outcome, Reason};

/// The report and edits of a link, in offsets of the buffer that is being planned.
pub struct Judged {
    pub report: LinkReport,
    pub edits: Vec<Edit<'static>>,
    /// True if the link is the href of a `base` element or an `xml:base`.
    pub declares_base: bool,
    /// The only permitted alternative to `edits`, if the link would otherwise lead out of the folder of a copy.
    pub guarded: Option<Box<GuardedEdit>>,
    /// True if `edits` are this alternative, which is never refused for its length or its effect on other links.
    pub is_guarded: bool,
}

/// The edit that keeps a link from leading out of a folder.
pub struct GuardedEdit {
    pub edit: Edit<'static>,
    /// The new reference.
    pub written: String,
    /// True if the new reference leads nowhere.
    pub is_nowhere: bool,
}

impl Judged {
    pub fn new(report: LinkReport, edits: Vec<Edit<'static>>) -> Self {
        Self {
            report,
            edits,
            declares_base: false,
            guarded: None,
            is_guarded: false,
        }
    }

    pub fn refuse(&mut self, reason: Reason) {
        self.edits.clear();
        let Some(guarded) = self.guarded.take() else {
            return self.report.refuse(reason);
        };
        self.edits.push(guarded.edit);
        self.report.guard(guarded.written, guarded.is_nowhere);
        self.is_guarded = true;
    }

    /// If the link was to be rewritten, refuses its edits because the result would be too long.
    pub fn outgrow(&mut self) {
        if self.report.outcome == Outcome::Rewritten && !self.is_guarded {
            self.refuse(Reason::Growth);
        }
    }

    /// Refuses the edits if the first one begins before `edited`. Otherwise advances `edited` to the end of the last
    /// edit.
    pub fn keep_apart(&mut self, edited: &mut usize) {
        while self
            .edits
            .first()
            .is_some_and(|first| first.span.start < *edited)
        {
            self.refuse(Reason::Escape);
        }
        if let Some(last) = self.edits.last() {
            *edited = last.span.end;
        }
    }

    /// Keeps the link if it is the href of a `base` element or an `xml:base`, and was rewritten.
    pub fn keep_base(&mut self) {
        if self.declares_base && self.report.outcome == Outcome::Rewritten {
            self.edits.clear();
            self.report.leave(Reason::BecomesBase);
        }
    }
}

/// Lifts the edits of a link from the text of a document to the underlying buffer.
pub fn lift_through(judged: &mut Judged, decoded: &Decoded, beneath: Charset) {
    let lift = |edit: &Edit<'_>, is_nowhere: bool| {
        let lifted = lift_edit(edit, decoded, beneath);
        // The edit may begin or end inside text that the underlying buffer has as a unit.
        let whole = || {
            let new = beneath.encode(NOWHERE)?.into();
            Some(Edit {
                span: decoded.map.covering(edit.span),
                new,
            })
        };
        lifted.or_else(|reason| whole().filter(|_| is_nowhere).ok_or(reason))
    };
    let is_nowhere = judged.is_guarded && judged.report.reason == Some(Reason::Nowhere);
    let lifted: Result<Vec<_>, _> = judged
        .edits
        .iter()
        .map(|edit| lift(edit, is_nowhere))
        .collect();
    judged.guarded = judged.guarded.take().and_then(|guarded| {
        let edit = lift(&guarded.edit, guarded.is_nowhere).ok()?;
        Some(Box::new(GuardedEdit { edit, ..*guarded }))
    });
    match lifted {
        Ok(edits) => judged.edits = edits,
        Err(reason) => judged.refuse(reason),
    }
}

fn lift_edit(
    edit: &Edit<'_>,
    decoded: &Decoded,
    beneath: Charset,
) -> Result<Edit<'static>, Reason> {
    let text = String::from_utf8_lossy(&edit.new);
    let piece = decoded
        .pieces
        .partition_point(|piece| piece.span.end < edit.span.end);
    let (map, span, spelling) = match decoded.pieces.get(piece) {
        None => (&decoded.map, edit.span, decoded.spelling),
        // An edit across two pieces would delete the bytes between them.
        Some(piece) if edit.span.start < piece.span.start => return Err(Reason::Escape),
        Some(piece) => {
            let from = piece.span.start;
            let span = Span::new(edit.span.start - from, edit.span.end - from);
            (
                &piece.map,
                span,
                Spelling {
                    carrier: piece.carrier,
                    ..decoded.spelling
                },
            )
        }
    };
    let spelled = spelling.spell(&text, beneath).ok_or(Reason::Encoding)?;
    let (before, after) = decoded.text.split_at(edit.span.start);
    let next = text
        .chars()
        .next()
        .or_else(|| after[edit.span.len()..].chars().next());
    // In ISO-2022-JP, text after a non-ASCII character begins with an escape sequence, which must be neither
    // cut off nor overwritten. A switch to Roman must not be deleted either.
    let is_shifted = |text: &str| {
        text.chars()
            .next_back()
            .is_some_and(|last| !last.is_ascii())
    };
    if beneath.is_stateful() && (is_shifted(before) || is_shifted(&decoded.text[..edit.span.end]))
        || decoded.has_roman && (text.contains(['\\', '~']) || !map.stands_verbatim(span))
    {
        return Err(Reason::Encoding);
    }
    lift(map, span, spelled, next, beneath).ok_or(Reason::Escape)
}
