//! Invariants of a message and of its rewritten form.
//!
//! The facts that a law needs about a part, such as its decoded bytes, are computed here, independently of the tested
//! code. Only the positions of entities come from [`entities`], whose own laws are in `tests/messages/entities.rs`.
//!
//! Deliberately absent: test messages.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use base64::Engine;
use baselink::{Dkim, Outcome, Reason};
use baselink_rewrite::base::Retrieval;
use baselink_rewrite::container::{Entity, EntityKind, Structure, entities};
use baselink_rewrite::{FileRewrite, Options, edits, rewrite};
use baselink_scan::attributes::Group;
use baselink_text::diagnostic::{Code, Diagnostic};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_text::layer::digest::{content_md5, with_crlf};
use baselink_text::layer::transfer::TransferEncoding;
use baselink_text::span::Span;
use baselink_verify::verify;

// Facts that the laws need, computed in the plainest way.

/// RFC 2045, 6.7: the decoding of quoted-printable by a "robust" reader.
fn from_quoted_printable(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = raw;
    while !rest.is_empty() {
        let end = rest
            .iter()
            .position(|byte| b"\r\n".contains(byte))
            .unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        let line_end = usize::from(!behind.is_empty()) + usize::from(behind.starts_with(b"\r\n"));
        let mut text = line;
        while let Some((b' ' | b'\t', shorter)) = text.split_last() {
            text = shorter;
        }
        // A final `=` does not begin an escape.
        let mut at = 0;
        let mut soft = false;
        while at < text.len() {
            let hex = text
                .get(at + 1..at + 3)
                .and_then(|hex| std::str::from_utf8(hex).ok());
            let byte = hex
                .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
                .and_then(|hex| u8::from_str_radix(hex, 16).ok());
            match (text[at], byte) {
                (b'=', Some(byte)) => {
                    out.push(byte);
                    at += 3;
                }
                (b'=', None) if at + 1 == text.len() => {
                    soft = true;
                    at += 1;
                }
                (other, _) => {
                    out.push(other);
                    at += 1;
                }
            }
        }
        if !soft {
            out.extend_from_slice(&behind[..line_end]);
        }
        rest = &behind[line_end..];
    }
    out
}

fn from_base64(raw: &[u8]) -> Option<Vec<u8>> {
    let text: Vec<u8> = raw
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let mut text = text.split(|&byte| byte == b'=').next()?.to_vec();
    if text.len() % 4 == 1 {
        text.pop()
            .filter(|last| last.is_ascii_alphanumeric() || b"+/".contains(last))?;
    }
    text.resize(text.len().next_multiple_of(4), b'=');
    let config = base64::engine::GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let engine = base64::engine::GeneralPurpose::new(&base64::alphabet::STANDARD, config);
    engine.decode(text).ok()
}

/// The decoded body; `None` if it cannot be decoded.
fn decoded(bytes: &[u8], entity: &Entity) -> Option<Vec<u8>> {
    let raw = &bytes[entity.body.range()];
    match entity.transfer_encoding {
        TransferEncoding::QuotedPrintable => Some(from_quoted_printable(raw)),
        TransferEncoding::Base64 => from_base64(raw),
        TransferEncoding::Unknown => None,
        _ => Some(raw.to_vec()),
    }
}

fn is_message(structure: &Structure, entity: &Entity) -> bool {
    entity
        .parent
        .is_none_or(|parent| structure.entities[parent].kind == EntityKind::Message)
}

fn has_signature(bytes: &[u8], structure: &Structure, entity: &Entity) -> bool {
    [
        "dkim-signature",
        "domainkey-signature",
        "arc-message-signature",
        "arc-seal",
    ]
    .iter()
    .any(|name| entity.heading.first(bytes, name).is_some())
        && is_message(structure, entity)
}

/// The value of the field `name`, if there is exactly one and it is a number.
fn number(bytes: &[u8], entity: &Entity, name: &str) -> Option<usize> {
    let values: Vec<Span> = entity
        .heading
        .all(bytes, name)
        .map(|field| field.value)
        .collect();
    let [value] = values.as_slice() else {
        return None;
    };
    let digits = std::str::from_utf8(&bytes[value.range()]).ok()?;
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

fn line_ends_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// The digests that count as correct: of the content with CRLF line ends, of the content as it is, and of the
/// undecoded body.
fn digests(bytes: &[u8], entity: &Entity) -> Option<[String; 3]> {
    let content = decoded(bytes, entity)?;
    let raw = &bytes[entity.body.range()];
    Some([
        content_md5(&with_crlf(&content)),
        content_md5(&content),
        content_md5(raw),
    ])
}

fn lines_of(raw: &[u8]) -> Vec<&[u8]> {
    raw.split(|byte| b"\r\n".contains(byte)).collect()
}

pub(crate) fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\n", "\\n\n")
}

// The laws.

pub(crate) fn hold(bytes: &[u8], options: &Options) {
    let rewritten = rewrite(bytes, options);
    check_that_sinks_agree(&rewritten, options);
    let output = rewritten.output();
    always(bytes, options, &rewritten, &output);
    let (old, new) = (entities(bytes), entities(&output));
    assert_eq!(old.entities.len(), new.entities.len());
    edits_are_in_their_places(bytes, &old, &rewritten);
    for (index, (before, after)) in old.entities.iter().zip(&new.entities).enumerate() {
        headings_are_the_same(bytes, before, &output, after);
        correct_counts_and_digests_stay_correct(bytes, before, &output, after);
        let kept = before.signed
            || (options.dkim == Dkim::Keep
                && with_ancestors(&old, index).any(|entity| has_signature(bytes, &old, entity)));
        if kept {
            assert_eq!(&bytes[before.span().range()], &output[after.span().range()]);
        } else if before.kind == EntityKind::Leaf {
            leaf(bytes, before, &output, after, options, &rewritten);
        } else if matches!(before.kind, EntityKind::Opaque) {
            assert_eq!(&bytes[before.body.range()], &output[after.body.range()]);
        }
    }
}

/// `rewrite` and `edits` give the same bytes, counts and diagnostics.
pub(crate) fn check_that_sinks_agree(rewritten: &FileRewrite<'_>, options: &Options) {
    let (bytes, whole) = (rewritten.source, &rewritten.report);
    let (edits, totals) = edits(bytes, options);
    assert_eq!(shown(&edits.apply(bytes)), shown(&rewritten.output()));
    for outcome in Outcome::ALL {
        assert_eq!(
            totals.count(outcome),
            whole.count(outcome),
            "{}",
            shown(bytes)
        );
    }
    assert_eq!(totals.changed, !rewritten.edits.is_empty());
    assert_eq!(&totals.diagnostics, &whole.diagnostics, "{}", shown(bytes));
}

/// The invariants that hold for all options.
pub(crate) fn always(bytes: &[u8], options: &Options, rewritten: &FileRewrite<'_>, output: &[u8]) {
    let report = &rewritten.report;
    let doubt = report
        .diagnostics
        .iter()
        .find(|diagnostic| diagnostic.code == Code::Doubt);
    assert!(doubt.is_none(), "{doubt:?}\n{}", shown(bytes));
    let counted: usize = Outcome::ALL
        .iter()
        .map(|&outcome| report.count(outcome))
        .sum();
    assert_eq!(counted, report.links.len());
    for link in &report.links {
        assert_eq!(
            link.reason.is_some(),
            matches!(link.outcome, Outcome::Left | Outcome::NotEditable)
        );
    }
    let no_base = report
        .entities
        .iter()
        .all(|entity| entity.chain.base.is_none())
        && report.links.iter().all(|link| link.base.is_none());
    if no_base {
        assert_eq!(shown(output), shown(bytes));
    }
    assert_eq!(rewritten.edits.is_empty(), output == bytes);
    let from = |text: &[u8]| memchr::memmem::find_iter(text, b"\nFrom ").count();
    assert!(from(output) <= from(bytes));
    let verified = verify(rewritten);
    assert!(
        verified.is_ok(),
        "{verified:?}\n{}\nbecame\n{}",
        shown(bytes),
        shown(output)
    );
    let again = rewrite(output, options);
    assert!(
        again.edits.is_empty(),
        "{:?} in\n{}\nwhich was\n{}",
        again.edits,
        shown(output),
        shown(bytes)
    );
}

/// The entity at `index` and all entities that contain it.
fn with_ancestors(structure: &Structure, index: usize) -> impl Iterator<Item = &Entity> {
    std::iter::successors(Some(index), |&index| structure.entities[index].parent)
        .map(|index| &structure.entities[index])
}

/// Without the group `headers`, only bodies of leaves and three fields change.
fn edits_are_in_their_places(bytes: &[u8], structure: &Structure, rewritten: &FileRewrite<'_>) {
    let mut allowed: Vec<Span> = Vec::new();
    for entity in &structure.entities {
        for name in ["Content-MD5", "Content-Length", "Lines"] {
            allowed.extend(entity.heading.all(bytes, name).map(|field| field.value));
        }
        if entity.kind == EntityKind::Leaf {
            allowed.push(entity.body);
        }
    }
    for edit in rewritten.edits.iter() {
        let inside = allowed
            .iter()
            .any(|span| span.start <= edit.span.start && edit.span.end <= span.end);
        assert!(inside, "{edit:?} in\n{}", shown(bytes));
    }
}

fn headings_are_the_same(bytes: &[u8], before: &Entity, output: &[u8], after: &Entity) {
    assert_eq!(&before.name, &after.name);
    assert_eq!(before.parent, after.parent);
    assert_eq!(&before.media_type, &after.media_type);
    assert_eq!(before.transfer_encoding, after.transfer_encoding);
    assert_eq!(before.signed, after.signed);
    assert_eq!(
        std::mem::discriminant(&before.kind),
        std::mem::discriminant(&after.kind)
    );
    assert_eq!(before.heading.fields.len(), after.heading.fields.len());
    for (old, new) in before.heading.fields.iter().zip(&after.heading.fields) {
        let name = &bytes[old.name.range()];
        assert_eq!(name, &output[new.name.range()]);
        let of_body = [&b"content-md5"[..], b"content-length", b"lines"];
        if !of_body.contains(&&*name.to_ascii_lowercase()) {
            assert_eq!(&bytes[old.span.range()], &output[new.span.range()]);
        }
    }
    assert_eq!(
        &bytes[before.heading.separator.range()],
        &output[after.heading.separator.range()]
    );
}

fn correct_counts_and_digests_stay_correct(
    bytes: &[u8],
    before: &Entity,
    output: &[u8],
    after: &Entity,
) {
    if number(bytes, before, "Content-Length") == Some(before.body.len()) {
        assert_eq!(
            number(output, after, "Content-Length"),
            Some(after.body.len())
        );
    }
    if number(bytes, before, "Lines") == Some(line_ends_in(&bytes[before.body.range()])) {
        let lines = line_ends_in(&output[after.body.range()]);
        assert_eq!(number(output, after, "Lines"), Some(lines));
    }
    if let (Some(old), Some(new), EntityKind::Leaf) = (
        before.heading.first(bytes, "Content-MD5"),
        after.heading.first(output, "Content-MD5"),
        before.kind,
    ) && let Some(forms) = digests(bytes, before)
    {
        let (old, new) = (&bytes[old.value.range()], &output[new.value.range()]);
        match forms.iter().position(|form| form.as_bytes() == old) {
            Some(form) => {
                let right = &digests(output, after).unwrap()[form];
                assert_eq!(right.as_bytes(), new);
            }
            None => assert_eq!(old, new),
        }
    }
}

/// Decoding a rewritten leaf gives the rewritten form of the decoded original.
fn leaf(
    bytes: &[u8],
    before: &Entity,
    output: &[u8],
    after: &Entity,
    options: &Options,
    rewritten: &FileRewrite<'_>,
) {
    let (old, new) = (&bytes[before.body.range()], &output[after.body.range()]);
    let label = before.media_type.parameter("charset");
    let format = match &*before.media_type.essence {
        "text/html" => Format::Html,
        "text/css" => Format::Css,
        "text/plain" if options.scan.groups.contains(Group::Text) => Format::Plain,
        _ => {
            assert_eq!(old, new);
            return;
        }
    };
    let within = |name: &str| {
        name == &*before.name
            || (before.name.is_empty() && !name.contains('.') && old.len() == bytes.len())
    };
    let links = || {
        rewritten.report.links.iter().filter(|link| {
            within(&link.entity)
                || (before.body.start <= link.span.start && link.span.end <= before.body.end)
        })
    };
    let unknown = |diagnostic: &Diagnostic| {
        matches!(
            diagnostic.code,
            Code::CharsetUnknown | Code::TransferUndecodable
        ) && diagnostic.span == Span::at(before.body.start)
    };
    let untouched = [Some(Reason::Transfer), Some(Reason::Signed)];
    if links().any(|link| untouched.contains(&link.reason))
        || rewritten.report.diagnostics.iter().any(unknown)
    {
        assert_eq!(old, new);
        return;
    }
    let Some(content) = decoded(bytes, before) else {
        assert_eq!(old, new);
        return;
    };
    if links().any(|link| link.reason == Some(Reason::SiblingPart)) {
        return;
    }
    let entity = rewritten
        .report
        .entities
        .iter()
        .find(|entity| entity.chain.entity == before.name);
    let fallback = entity.unwrap().chain.fallback.as_ref();
    let mut alone = Options {
        format,
        retrieval: fallback.map(|base| Retrieval::url(&*base.url)),
        ..options.clone()
    };
    alone.scan.charset = label.and_then(Charset::for_label);
    let expected = rewrite(&content, &alone).output();
    let found = decoded(output, after);
    assert_eq!(
        found.as_deref().map(shown),
        Some(shown(&expected)),
        "{} in\n{}",
        before.name,
        shown(bytes)
    );
    if before.transfer_encoding == TransferEncoding::QuotedPrintable {
        let (old, new) = (lines_of(old), lines_of(new));
        let kept: BTreeSet<&[u8]> = old.iter().copied().collect();
        for line in new.iter().filter(|line| !kept.contains(*line)) {
            assert!(line.len() <= 76, "{} in\n{}", shown(line), shown(output));
        }
        for start in [&b"From "[..], b"--"] {
            let count =
                |lines: &[&[u8]]| lines.iter().filter(|line| line.starts_with(start)).count();
            assert!(count(&new) <= count(&old), "{}", shown(output));
        }
    }
}
