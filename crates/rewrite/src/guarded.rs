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

use baselink_scan::document::Link;
use baselink_text::{Charset, Edit, Span, layer::spelling::lift};
use baselink_url::is_private;

use super::{
    judged::{GuardedEdit, Judged},
    options::{BaseInCopy, Guard, NOWHERE},
};
use crate::report::Reason;

/// Ensures that a link, for which the text `chosen` may replace the target, does not lead out of the folder. Returns true if the outcome is
/// final. Otherwise the edits for `new` may follow.
pub fn apply(
    judged: &mut Judged,
    (guard, base): (&dyn Guard, BaseInCopy),
    chosen: Option<&str>,
    place: (&Link, Charset),
) -> bool {
    let report = &judged.report;
    let new = chosen.unwrap_or(report.in_output());
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
        (true, true) => judged.report.lack_base(),
        // Without an alternative, the link is reported as not editable.
        (true, false) => {
            let reason = judged.report.reason.unwrap_or(Reason::Escape);
            judged.refuse(reason);
        }
    }
    true
}

/// The edit that inserts `prefix` before `reference`. A reference that cannot be edited is replaced, with all of the syntax
/// that contains it.
fn edit(reference: &str, prefix: &str, (link, charset): (&Link, Charset)) -> Option<GuardedEdit> {
    let Some(map) = &link.map else {
        let (span, new) = (link.holder, charset.encode(NOWHERE)?.into());
        return Some(GuardedEdit {
            edit: Edit { span, new },
            written: NOWHERE.to_owned(),
            is_nowhere: true,
        });
    };
    let insertion = |text: &str, next| {
        let spelled = link.spelling.spell(text, charset)?;
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
