//! The engines of HTML against each other: whatever the walk can prove, it finds as html5ever does.
//!
//! Deliberately absent: documents.

use baselink::document::Document;
use baselink::scan::Scanner;
use baselink::{ScanOptions, scan};

/// Takes out who scanned it, which is the only thing that may differ.
fn forget(document: &mut Document) {
    document.fallback = None;
    document.parts.iter_mut().for_each(forget);
}

/// True if html5ever stopped before the end of `document`.
pub(crate) fn is_without_tree(document: &Document) -> bool {
    document.without_tree || document.parts.iter().any(is_without_tree)
}

/// First fault of the walk on `bytes`, if any.
pub(crate) fn difference(bytes: &[u8], options: &ScanOptions) -> Option<String> {
    let fast = scan(bytes, options);
    let exact = scan(bytes, &ScanOptions { scanner: Scanner::Exact, ..options.clone() });
    compare(fast, exact)
}

pub(crate) fn compare(mut fast: Document, mut exact: Document) -> Option<String> {
    forget(&mut fast);
    forget(&mut exact);
    let (shown, wanted) = match is_without_tree(&exact) && !is_without_tree(&fast) {
        // html5ever nests no deeper; the walk has no need to.
        true => (format!("{:#?}", fast.links), format!("{:#?}", exact.links)),
        false => (format!("{fast:#?}"), format!("{exact:#?}")),
    };
    if shown == wanted {
        return None;
    }
    let (fast, exact): (Vec<_>, Vec<_>) = (shown.lines().collect(), wanted.lines().collect());
    let at = fast.iter().zip(&exact).take_while(|(a, b)| a == b).count();
    let around = |lines: &[&str]| lines[at.saturating_sub(12)..lines.len().min(at + 6)].join("\n");
    Some(format!("fast:\n{}\nexact:\n{}", around(&fast), around(&exact)))
}
