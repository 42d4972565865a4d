//! The records of `--json`. Users depend on their keys, so each record is a struct whose fields are the keys in
//! order.
//!
//! ```text
//! {"path":"page.html","entity":"","line":3,"column":10,"start":41,"end":47,…}
//! ```
//!
//! A key that does not apply is null; only the keys of `--grammar` and of archives are left out. Control characters and
//! direction marks are escaped in strings, so that a record is safe on a terminal: `a<U+202E>b` is printed as `"a\u202eb"`. The
//! value is the same (RFC 8259, 7): any character may be escaped.
//!
//! Deliberately absent: text for people.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use baselink_rewrite::{
    EntityReport, Level, ListedLink, Outcome, Reason, Rule, Source, base::Declared,
};
use baselink_scan::{Kind, Role};
use baselink_text::{Code, Diagnostic, Format, Span, visible};
use baselink_url::{
    Resolver,
    reference::{Conformance, conformance},
};
use serde::Serialize;
use serde_json::{Serializer, ser::Formatter};

use super::{advice::sentence, link_counts::serialize_links};
use baselink_site::{
    collection::origin::is_assumed,
    purpose::{check::Finding, link_result::LinkResult, tally::Tally},
    reading::{DocumentName, FilePlaces, Input},
};

/// A link.
#[derive(Serialize)]
pub struct LinkRecord<'a> {
    path: Cow<'a, str>,
    entity: &'a str,
    line: usize,
    column: usize,
    start: usize,
    end: usize,
    element: Option<&'a str>,
    attribute: Option<&'a str>,
    reference: &'a str,
    base: Option<&'a str>,
    rule: Rule,
    source: Source,
    target: Option<&'a str>,
    role: Role,
    outcome: Outcome,
    reason: Option<Reason>,
    kind: Kind,
    rel: Option<&'a str>,
    #[serde(flatten)]
    grammar: Option<Conformance>,
    #[serde(flatten)]
    of_record: Option<ArchivePlaceRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'a str>,
}

/// The place of a document in an archive.
#[derive(Serialize)]
struct ArchivePlaceRecord<'a> {
    record: Option<&'a str>,
    offset: u64,
    within: u64,
    url: Option<&'a str>,
}

impl<'a> ArchivePlaceRecord<'a> {
    fn of(name: DocumentName<'a>) -> Option<Self> {
        let key = &name.entry?.key;
        Some(Self {
            record: key.id.as_deref(),
            offset: key.offset.file,
            within: key.offset.within,
            url: key.url.as_deref(),
        })
    }
}

impl<'a> LinkRecord<'a> {
    /// The record of a link in the document `name`, which begins at `offset` of its file.
    pub fn of(
        name: DocumentName<'a>,
        offset: usize,
        ListedLink { link, line, column }: &'a ListedLink,
        grammar: bool,
    ) -> Self {
        let span = link.span.shifted(offset);
        Self {
            path: name.path.to_string_lossy(),
            entity: &link.entity,
            line: *line,
            column: *column,
            start: span.start,
            end: span.end,
            element: Some(&*link.element).filter(|name| !name.is_empty()),
            attribute: link.attribute.as_deref(),
            reference: &link.reference,
            base: link.base.as_deref(),
            rule: link.rule,
            source: link.source,
            target: link.target.as_deref(),
            role: link.role,
            outcome: link.outcome,
            reason: link.reason,
            kind: link.kind,
            rel: link.rel.as_deref(),
            grammar: grammar.then(|| conformance(&link.reference)),
            of_record: ArchivePlaceRecord::of(name),
            media_type: name.entry.map(|entry| &*entry.key.media_type),
        }
    }
}

/// A link that `check` found, with its class and the effect of a move on it.
#[derive(Serialize)]
pub struct MovedRecord<'a> {
    #[serde(flatten)]
    link: LinkRecord<'a>,
    class: &'static str,
    cause: Option<&'static str>,
    differs: bool,
    moved: Option<&'a str>,
    hint: Option<&'a str>,
}

impl<'a> MovedRecord<'a> {
    /// The record of a link in the document `name`; the parameters are those of [`LinkRecord::of`].
    pub fn of(
        name: DocumentName<'a>,
        offset: usize,
        listed: &'a ListedLink,
        finding: &'a Finding,
    ) -> Self {
        let link = &listed.link;
        let base = link.base.as_deref().filter(|base| !is_assumed(base));
        let (rule, source) = match base {
            Some(_) => (link.rule, link.source),
            None => (Rule::Default, Source::Default),
        };
        let link = LinkRecord {
            base,
            rule,
            source,
            target: finding.target.as_deref(),
            ..LinkRecord::of(name, offset, listed, false)
        };
        Self {
            link,
            class: finding.class().name(),
            cause: finding.rule.cause(finding.reason),
            differs: finding.differs,
            moved: finding.moved.as_deref(),
            hint: finding.hint.as_deref(),
        }
    }
}

/// A file that was rewritten, localized, moved or copied.
#[derive(Serialize)]
pub struct FileRecord<'a> {
    pub path: Cow<'a, str>,
    pub format: Format,
    pub output: Option<Cow<'a, str>>,
    #[serde(flatten, serialize_with = "serialize_links")]
    pub links: (&'a Tally, &'a [LinkResult]),
    /// The number of edits that `--verify` proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<usize>,
    pub diagnostics: &'a [DiagnosticRecord],
}

/// A diagnostic of a document.
#[derive(Serialize)]
pub struct DiagnosticRecord {
    code: Code,
    /// The offset of the record, in an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    line: usize,
    column: usize,
    start: usize,
    end: usize,
    message: String,
}

impl DiagnosticRecord {
    /// The record of the diagnostic `found`.
    pub fn of(found: &Diagnostic, places: &FilePlaces<'_>) -> Self {
        let (line, column) = places.line_and_column(found.span);
        let Span { start, end } = places.in_file(found.span);
        let message = sentence(found);
        let offset = places.record().map(|record| record.offset.file);
        Self {
            code: found.code,
            offset,
            line,
            column,
            start,
            end,
            message,
        }
    }
}

/// The base of an entity.
#[derive(Serialize)]
pub struct BaseRecord<'a> {
    path: Cow<'a, str>,
    entity: &'a str,
    media_type: &'a str,
    base: Option<&'a str>,
    rule: Rule,
    source: Source,
    declared: Option<&'a Declared>,
    chain: &'a [Level],
    #[serde(flatten)]
    of_record: Option<ArchivePlaceRecord<'a>>,
}

impl<'a> BaseRecord<'a> {
    /// The record of `entity`.
    pub fn of(input: &'a Input<'_>, entity: &'a EntityReport) -> Self {
        let own = &entity.chain;
        Self {
            path: input.name.path.to_string_lossy(),
            entity: &own.entity,
            media_type: &entity.media_type,
            base: own.base.as_deref(),
            rule: own.rule,
            source: own.source,
            declared: own.declared.as_ref(),
            chain: &own.chain,
            of_record: ArchivePlaceRecord::of(input.name),
        }
    }
}

/// A resolved reference.
#[derive(Serialize)]
pub struct ResolvedRecord<'a> {
    pub base: Option<&'a str>,
    pub reference: &'a str,
    pub target: Option<&'a str>,
    #[serde(flatten)]
    pub grammar: Conformance,
    pub resolver: Resolver,
}

/// Appends `value` to `out`, on one line.
pub fn append_json(out: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    // Most lines need no escapes. Checking the line once, instead of each string, saves a sixth of the time of a
    // list.
    let start = out.len();
    serde_json::to_writer(&mut *out, value)?;
    if !str::from_utf8(&out[start..]).is_ok_and(|line| matches!(visible(line), Cow::Borrowed(_))) {
        out.truncate(start);
        value.serialize(&mut Serializer::with_formatter(&mut *out, Escaped))?;
    }
    Ok(())
}

struct Escaped;

impl Formatter for Escaped {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if let Cow::Borrowed(plain) = visible(fragment) {
            return out.write_all(plain.as_bytes());
        }
        for character in fragment.chars() {
            match visible(character.encode_utf8(&mut [0; 4])) {
                Cow::Borrowed(plain) => out.write_all(plain.as_bytes())?,
                // All characters that `visible` escapes are below U+10000.
                Cow::Owned(_) => write!(out, "\\u{:04x}", u32::from(character))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_keep_their_value() {
        for (text, expected) in [
            ("plain é 😀 \\", r#""plain é 😀 \\""#),
            ("\u{1b}[2J\u{9b}2J\u{7f}", r#""\u001b[2J\u009b2J\u007f""#),
            ("a\u{202e}b\u{feff}\u{2066}", r#""a\u202eb\ufeff\u2066""#),
        ] {
            let mut out = Vec::new();
            append_json(&mut out, &text).unwrap();
            assert_eq!(str::from_utf8(&out).unwrap(), expected);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }
}
