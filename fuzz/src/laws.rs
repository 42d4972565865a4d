//! Laws for documents of every format, and options that one byte chooses.
//!
//! ```text
//! b"<a href=x>\x07"  -->  b"<a href=x>", and row 7 of the options
//! ```
//!
//! Deliberately absent: laws of only one format.

use baselink::{BaseElement, Fragments, Outcome};
use baselink_rewrite::{Options, edits, rewrite};
use baselink_scan::attributes::Groups;
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_url::Resolver;
use baselink_verify::verify;

const CHARSETS: [&str; 6] = [
    "",
    "",
    "windows-1252",
    "shift_jis",
    "iso-2022-jp",
    "utf-16le",
];

/// The document and its options. The last byte chooses the options, so any file can be a seed.
pub(super) fn chosen(bytes: &[u8], format: Format) -> (&[u8], Options) {
    let (&choice, document) = bytes.split_last().unwrap_or((&0, b""));
    let choice = usize::from(choice);
    let mut options = Options {
        format,
        resolver: Resolver::ALL[choice / 2 % 3],
        ..Options::at("http://a/b c/'\"&é,()/d;p?q=r&s#f")
    };
    match choice / 6 % 7 {
        1 => options.retrieval = None,
        2 => options.fragments = Some(Fragments::Keep),
        3 => options.fragments = Some(Fragments::Auto),
        4 => options.base_element = BaseElement::Keep,
        _ => {}
    }
    if choice % 2 == 1 {
        options.scan.groups = Groups::all();
    }
    options.scan.charset = Charset::for_label(CHARSETS[choice / 42 % CHARSETS.len()]);
    (document, options)
}

/// True in one of eight cases, chosen by the bytes (FNV-1a). Slow laws are checked only in these cases.
pub(super) fn is_selected(bytes: &[u8]) -> bool {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    (bytes.iter().fold(0x811c_9dc5, mix) >> 16).is_multiple_of(8)
}

/// Checks that the report agrees with the output, that a second run changes nothing, that nothing changes without a
/// base, and that all ways to rewrite agree. Returns the output.
pub(super) fn hold(bytes: &[u8], options: &Options) -> Vec<u8> {
    let rewritten = rewrite(bytes, options);
    let report = &rewritten.report;
    assert_eq!(
        rewrite(bytes, options).report.links,
        report.links,
        "reported, made"
    );
    let counted: usize = Outcome::ALL
        .iter()
        .map(|&outcome| report.count(outcome))
        .sum();
    assert_eq!(counted, report.links.len());
    for link in &report.links {
        let has_reason = matches!(link.outcome, Outcome::Left | Outcome::NotEditable);
        assert_eq!(link.reason.is_some(), has_reason, "{link:?}");
        assert!(
            link.written.is_none() || link.outcome == Outcome::Rewritten,
            "{link:?}"
        );
    }
    let output = rewritten.output();
    let has_base = report
        .entities
        .iter()
        .any(|entity| entity.chain.base.is_some())
        || report.links.iter().any(|link| link.base.is_some());
    assert!(has_base || output == bytes, "changed without a base");
    if is_selected(bytes) {
        assert_eq!(verify(&rewritten), Ok(()));
    }
    let again = rewrite(&output, options);
    assert!(
        again.edits.is_empty(),
        "{:?} in {}",
        again.edits,
        output.escape_ascii()
    );
    let (edits, totals) = edits(bytes, options);
    let counted = edits.apply(bytes);
    assert!(
        counted == output,
        "{}\n{}",
        counted.escape_ascii(),
        output.escape_ascii()
    );
    assert_eq!(totals.links(), report.links.len());
    output
}
