//! Any bytes as an HTTP response: the laws of `tests/messages/http.rs` on rewriting.
//!
//! Deliberately absent: the laws of the decoded body and of `links`, which `tests/messages/http.rs` checks.

use baselink::Format;
use baselink_rewrite::{Options, edits, rewrite};
use baselink_verify::verify;

/// Checks the laws for a response.
pub fn http(bytes: &[u8]) {
    let options = Options {
        format: Format::Http,
        ..Options::at("http://h.example/a/b.html")
    };
    let without = Options {
        retrieval: None,
        ..options.clone()
    };
    if rewrite(bytes, &without).report.entities[0]
        .chain
        .base
        .is_none()
    {
        assert_eq!(rewrite(bytes, &without).output(), bytes);
    }
    let rewritten = rewrite(bytes, &options);
    let output = rewritten.output();
    assert_eq!(verify(&rewritten), Ok(()));
    assert!(
        rewrite(&output, &options).edits.is_empty(),
        "what was rewritten changes again"
    );
    let (edits, totals) = edits(bytes, &options);
    assert_eq!(edits.apply(bytes), output);
    assert_eq!(totals.links(), rewritten.report.links.len());
    assert_eq!(
        rewrite(bytes, &options).report.links,
        rewritten.report.links
    );
}
