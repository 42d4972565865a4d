//! Compares the engines of HTML: the walk must find what html5ever finds.
//!
//! Deliberately absent: test documents.

use baselink_scan::Scanner;
use baselink_scan::document::Document;
use baselink_scan::{ScanOptions, scan};

/// Clears the mark of the fallback to html5ever, the only permitted difference.
fn forget(document: &mut Document) {
    document.fallback = false;
    document.parts.iter_mut().for_each(forget);
}

/// True if html5ever stopped in `document` or one of its parts.
pub(crate) fn is_without_tree(document: &Document) -> bool {
    document.without_tree || document.parts.iter().any(is_without_tree)
}

/// The first difference of the walk from html5ever, if any.
pub(crate) fn difference(bytes: &[u8], options: &ScanOptions) -> Option<String> {
    let fast = scan(bytes, options);
    let exact = scan(
        bytes,
        &ScanOptions {
            scanner: Scanner::Exact,
            ..options.clone()
        },
    );
    compare(fast, exact)
}

/// True if html5ever misread an `annotation-xml` in `document` or one of its parts (`crates/scan/src/html/exact.rs`).
fn is_misread(document: &Document) -> bool {
    let is_about = |one: &baselink::Diagnostic| one.message.contains("in an annotation-xml");
    document.diagnostics.iter().any(is_about) || document.parts.iter().any(is_misread)
}

pub(crate) fn compare(mut fast: Document, mut exact: Document) -> Option<String> {
    if is_misread(&exact) {
        return None;
    }
    forget(&mut fast);
    forget(&mut exact);
    let (found, expected) = match is_without_tree(&exact) && !is_without_tree(&fast) {
        // html5ever stopped at its budget, which the walk did not need. Only the links are compared.
        true => (format!("{:#?}", fast.links), format!("{:#?}", exact.links)),
        false => (format!("{fast:#?}"), format!("{exact:#?}")),
    };
    if found == expected {
        return None;
    }
    let (fast, exact): (Vec<_>, Vec<_>) = (found.lines().collect(), expected.lines().collect());
    let at = fast.iter().zip(&exact).take_while(|(a, b)| a == b).count();
    let around = |lines: &[&str]| lines[at.saturating_sub(12)..lines.len().min(at + 6)].join("\n");
    Some(format!(
        "fast:\n{}\nexact:\n{}",
        around(&fast),
        around(&exact)
    ))
}
