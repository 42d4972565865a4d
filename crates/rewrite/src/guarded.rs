//! The alternative for a reference that would lead out of the folder of a copy.
//!
//! A short text is inserted before the reference: the scheme that it lacks, or a URL that leads nowhere, whose fragment the
//! reference then becomes. The insertion removes no byte, so it is possible where a replacement may not be.
//!
//! ```text
//! //h/x              -->  https://h/x
//! ../../etc/passwd   -->  about:invalid#../../etc/passwd
//! ```
//!
//! Deliberately absent: the decision, which a [`Guard`](super::options::Guard) makes.

use baselink_text::{
    Charset, Edit, OffsetMap, Span,
    layer::spelling::{Spelling, lift},
};
use baselink_url::is_private;

use super::{
    judged::{GuardedEdit, Judged},
    options::{BaseInCopy, Guard, NOWHERE},
};
use crate::report::Reason;

/// The map of a reference to the buffer, the span that contains it, and the spelling and encoding of new text.
pub type ReferencePlace<'a> = (Option<&'a OffsetMap>, Span, Spelling, Charset);

/// Ensures that a link, which is to be written as `new`, does not lead out of the folder. Returns true if the outcome is
/// final. Otherwise the edits for `new` may follow.
pub fn apply(
    judged: &mut Judged,
    (guard, base): (&dyn Guard, BaseInCopy),
    new: &str,
    place: ReferencePlace<'_>,
) -> bool {
    let report = &mut judged.report;
    let of_reference = guard.prefix(report, &report.reference, base);
    let is_inside = of_reference.is_none();
    let leads_out = if new == report.reference {
        !is_inside
    } else {
        guard.prefix(report, new, base).is_some()
    };
    // A target on the author's disk, or in a mail program, has no place in the folder. If the new text of a base cannot be written, its old text must
    // not apply to other links.
    let is_elsewhere = leads_out && is_private(new);
    let needs_other = is_elsewhere || judged.declares_base;
    let prefix = of_reference.or_else(|| needs_other.then(|| NOWHERE.to_owned()));
    judged.guarded = prefix
        .and_then(|prefix| edit(&report.reference, &prefix, place))
        .map(Box::new);
    match (leads_out, is_inside && !is_elsewhere) {
        (false, _) => return false,
        (true, true) => report.lack_base(),
        // Without an alternative, the link is reported as not editable.
        (true, false) => {
            let reason = report.reason.unwrap_or(Reason::Escape);
            judged.refuse(reason);
        }
    }
    true
}

/// The edit that inserts `prefix` before `reference`. A reference that cannot be edited is replaced, with all of the syntax
/// that contains it.
fn edit(
    reference: &str,
    prefix: &str,
    (map, holder, spelling, charset): ReferencePlace<'_>,
) -> Option<GuardedEdit> {
    let Some(map) = map else {
        let new = charset.encode(NOWHERE).ok()?.into();
        return Some(GuardedEdit {
            edit: Edit { span: holder, new },
            written: NOWHERE.to_owned(),
            is_nowhere: true,
        });
    };
    let insertion = |text: &str, next| {
        let spelled = spelling.spell(text, charset).ok()?;
        lift(map, Span::at(0), spelled, next, charset)
    };
    // A space ends an escape that the first letter would continue. It is not part of the reference.
    let edit = insertion(prefix, prefix.chars().next())
        .or_else(|| insertion(&format!(" {prefix}"), None))?;
    Some(GuardedEdit {
        edit,
        written: format!("{prefix}{reference}"),
        is_nowhere: prefix == NOWHERE,
    })
}
