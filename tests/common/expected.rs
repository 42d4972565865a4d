//! The format of the expectations of cases: one row per line, with fields separated by tabs.
//!
//! Deliberately absent: the expected bases, whose columns differ between documents and messages.

use baselink::{LinkReport, Reason};

/// Escapes `text` as a field of a row.
pub(crate) fn field(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
}

/// The row of `link` in `expected.links`.
pub(crate) fn row(link: &LinkReport) -> String {
    let fields = [
        &*link.entity,
        if link.element.is_empty() {
            "-"
        } else {
            &link.element
        },
        link.attribute.as_deref().unwrap_or("-"),
        &link.reference,
        link.outcome.name(),
        link.reason.map_or("-", Reason::name),
        link.target.as_deref().unwrap_or("-"),
    ];
    fields.map(field).join("\t") + "\n"
}
