//! Proof that rewriting changed the reported values and nothing else.
//!
//! html5ever parses three documents into markup5ever_rcdom trees: the input, the output, and the output with a
//! marker for each piece of new text. The three must have the same elements, attributes, texts and comments. A
//! value without markers must be equal in input and output. A value with markers may differ only at the markers; the
//! text that readers see has none. If
//! building a tree would take too long, tokens are compared instead. XML is compared by the events of quick-xml,
//! style sheets by the tokens of cssparser, and other documents as one text. Then the output is scanned again, and
//! its references must lead to the reported targets.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! use baselink_verify::verify;
//! let options = Options::at("http://a/");
//! let rewritten = rewrite(b"<p>x<a href=y>z</a>", &options);
//! assert_eq!(verify(&rewritten), Ok(()));
//! ```
//!
//! Every link must be exactly where the edits put it, from its first byte to its last. This reveals a wrong escape
//! that ends a value too early.
//!
//! A message must have the same entities before and after, with equal headings except for links in header fields
//! and for fields that describe a body (`fields`). The content of a part must decode to the result of that part's
//! edits. Each document in a part is verified like a file.
//!
//! Deliberately absent: trust in the edits. They define which bytes may differ, and everything else is compared.
//! `self_doubt` tests this with wrong edits.

mod fields;
mod pieces;
#[cfg(test)]
#[path = "../tests/unit/self_doubt.rs"]
mod self_doubt;

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use baselink_rewrite::{
    BaseInCopy, FileRewrite, Guard, LinkReport, NOWHERE, Options, Outcome, PlannedPart, Reason,
    Report, Site,
    container::{
        self, counted_message,
        entity::{Container, EntityKind},
    },
    rewrite,
};
use baselink_scan::{Against, ScanOptions, html::has_affordable_tree};
use baselink_text::{
    Charset, Edit, Edits, Format, Span,
    layer::{transfer::TransferEncoding, xml},
};

use crate::pieces::{TreePiece, VISIBLE_TEXT, event_pieces, pieces};

/// The first differences in the output that the report does not explain, in document order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Sentences without a full stop.
    pub messages: Vec<String>,
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.messages.join("; "))
    }
}

impl std::error::Error for Differences {}

/// The maximum number of differences to return, since one often causes others.
const MOST: usize = 10;

/// Proves that the output differs from its source only in the reported links, by parsing both.
///
/// # Errors
///
/// Fails with the first differences.
///
/// ```
/// use baselink_rewrite::{Options, rewrite};
/// use baselink_verify::verify;
/// let rewritten = rewrite(b"<p class=a><a href='x'>y</a>", &Options::at("http://a/"));
/// verify(&rewritten)?;
/// # Ok::<(), baselink_verify::Differences>(())
/// ```
pub fn verify(rewritten: &FileRewrite<'_>) -> Result<(), Differences> {
    let messages = differences(rewritten);
    if messages.is_empty() {
        return Ok(());
    }
    Err(Differences { messages })
}

/// The first differences in a file that is one document, message or response.
fn differences(rewritten: &FileRewrite<'_>) -> Vec<String> {
    let mut differences = Vec::new();
    let output = rewritten.output();
    let with_every_place = with_every_place(&rewritten.options);
    let options = with_every_place.as_ref().unwrap_or(&rewritten.options);
    let found = rewrite(&output, options).report;
    let beyond_ascii = match container::of(options.format) {
        Some(container) => entities(
            container,
            rewritten,
            options,
            (&output, &found),
            &mut differences,
        ),
        None => {
            let (source, links) = (rewritten.source, &rewritten.report.links);
            let changed = links
                .iter()
                .filter(|link| link.outcome == Outcome::Rewritten);
            let part = PlannedPart {
                body: Span::new(0, source.len()),
                entity: 0,
                edits: rewritten.edits.clone(),
                rewritten: changed.map(|link| link.span).collect(),
            };
            document(rewritten, &part, source, &output, &mut differences);
            Vec::from_iter((!output.is_ascii()).then_some(0))
        }
    };
    check_targets(rewritten, &found, &beyond_ascii, options, &mut differences);
    differences.truncate(MOST);
    differences
}

/// Verifies the edits of `source`, the document in `part`.
fn document(
    rewritten: &FileRewrite<'_>,
    part: &PlannedPart,
    source: &[u8],
    output: &[u8],
    differences: &mut Vec<String>,
) {
    let Some(entity) = rewritten.report.entities.get(part.entity) else {
        return;
    };
    let (edits, format, charset) = (&part.edits, entity.format, entity.charset);
    let links = part.rewritten.iter().map(|span| (*span, false));
    check_edits(edits, links.collect(), differences);
    let marker = unused_word(source);
    let marked = marked(source, edits, charset, &marker);
    let by_tokens =
        format == Format::Html && !has_affordable_tree(charset.decode(source, 0).text.as_bytes());
    let [was, marked, is] =
        [source, &marked, output].map(|bytes| pieces(bytes, format, charset, by_tokens));
    compare(&was, &marked, &is, &marker, differences);
    if format == Format::Plain
        && !edits
            .iter()
            .all(|edit| edit.new.iter().all(u8::is_ascii_graphic))
    {
        // Some readers ignore white space in such a URL (RFC 1738, appendix).
        differences.push("a URL in text was given characters that are not visible ASCII".into());
    }
    let is_xml = matches!(format, Format::Xhtml | Format::Svg | Format::Xml);
    let faults = |bytes: &[u8]| faults_of_xml(&charset.decode(bytes, 0).text);
    if is_xml && faults(output) > faults(source) {
        differences.push("the output is less well-formed than the input".into());
    }
}

/// Verifies that a message has the same entities, and each document in it as if it were a file. Returns the indices,
/// in the report, of changed documents that now contain bytes beyond ASCII.
fn entities(
    container: &Container,
    rewritten: &FileRewrite<'_>,
    options: &Options,
    (output, found): (&[u8], &Report),
    differences: &mut Vec<String>,
) -> Vec<usize> {
    let mut beyond_ascii = Vec::new();
    let source = rewritten.source;
    let read = |bytes: &[u8]| (container.read)(bytes, &"".into());
    let (old, new) = (read(source), read(output));
    if old.entities.len() != new.entities.len() {
        let (was, is) = (old.entities.len(), new.entities.len());
        differences.push(format!("the input has {was} entities, the output {is}"));
        return beyond_ascii;
    }
    if let Err(odd) = old.of_output(source, output) {
        differences.push(format!("in the output {odd}"));
    }
    let links = fields::in_headings(&rewritten.report.links, &old);
    let editable = fields::editable_spans(container, rewritten, &old, &links);
    check_edits(&rewritten.edits, editable, differences);
    check_spans(
        source,
        &links,
        &fields::in_headings(&found.links, &new),
        &rewritten.edits,
        differences,
    );
    let mut parts = rewritten.parts.iter().peekable();
    // The offsets up to which input and output are compared. Delimiters, preambles and opaque parts must be equal.
    // A length before a message is not compared, because a wrong one would be read as a part of the heading.
    let mut compared = (message_start(source), message_start(output));
    let mut between = |old: usize, new: usize, next: (usize, usize)| {
        let same = source.get(compared.0..old) == output.get(compared.1..new);
        compared = next;
        same
    };
    for (old, new) in old.entities.iter().zip(&new.entities) {
        let name = &old.name;
        if !old.is_like(new) {
            differences.push(format!("the entity '{name}' is a different entity"));
        }
        if !fields::are_right(container, (source, old), (output, new)) {
            differences.push(format!(
                "more than a URL changed in the heading of the entity '{name}'"
            ));
        }
        let next = match old.kind {
            EntityKind::Leaf => (old.body.end, new.body.end),
            _ => (old.body.start, new.body.start),
        };
        if !between(old.heading.span.start, new.heading.span.start, next) {
            differences.push(format!(
                "bytes outside of entities changed before the entity '{name}'"
            ));
        }
        if old.kind != EntityKind::Leaf {
            continue;
        }
        let Some(part) = parts.next_if(|part| part.body == old.body) else {
            if source[old.body.range()] != output[new.body.range()] {
                differences.push(format!("the entity '{name}' changed unreported"));
            }
            continue;
        };
        let edits = &part.edits;
        let (Ok(before), Ok(after)) = (old.decode(source), new.decode(output)) else {
            differences.push(format!("the entity '{name}' cannot be decoded"));
            continue;
        };
        if edits.apply(&before.bytes) != *after.bytes {
            differences.push(format!(
                "the entity '{name}' does not decode to its content with the rewritten links"
            ));
        }
        let is_base64 = old.transfer_encoding == TransferEncoding::Base64;
        let is_whole = |body: Span, bytes: &[u8]| is_whole_base64(&bytes[body.range()]);
        if is_base64 && is_whole(old.body, source) && !is_whole(new.body, output) {
            differences.push(format!(
                "the base64 of the entity '{name}' does not end where it must"
            ));
        }
        if !after.bytes.is_ascii() {
            beyond_ascii.push(part.entity);
        }
        let mut inside = Vec::new();
        document(rewritten, part, &before.bytes, &after.bytes, &mut inside);
        if let Some(entity) = rewritten.report.entities.get(part.entity) {
            let options = Options {
                format: entity.format,
                scan: ScanOptions {
                    charset: Some(entity.charset),
                    ..options.scan.clone()
                },
                destination: None,
                ..options.clone()
            };
            let found = |bytes: &[u8]| rewrite(bytes, &options).report.links;
            let (was, is) = (found(&before.bytes), found(&after.bytes));
            check_spans(&before.bytes, &all(&was), &all(&is), edits, &mut inside);
        }
        differences.extend(
            inside
                .into_iter()
                .map(|found| format!("entity '{name}': {found}")),
        );
    }
    if !between(source.len(), output.len(), (source.len(), output.len())) {
        differences.push("bytes after the last entity changed".to_owned());
    }
    if parts.next().is_some() {
        differences.push("a changed part is not in any entity".to_owned());
    }
    beyond_ascii
}

/// The offset of the message in a file.
fn message_start(bytes: &[u8]) -> usize {
    counted_message(bytes).map_or(0, |message| message.start)
}

/// True if `body` is base64 to its end, in groups of four (RFC 2045, 6.8). Not all readers stop at the padding.
fn is_whole_base64(body: &[u8]) -> bool {
    let data: Vec<u8> = body
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let padding = data.iter().rev().take_while(|&&byte| byte == b'=').count();
    data.len().is_multiple_of(4) && padding <= 2 && !data[..data.len() - padding].contains(&b'=')
}

/// Checks that every edit is within one of the `editable` spans. New text in one with the flag must be visible ASCII.
fn check_edits(edits: &Edits, mut editable: Vec<(Span, bool)>, differences: &mut Vec<String>) {
    editable.sort_unstable_by_key(|(span, _)| (span.start, span.end));
    for edit in edits.iter() {
        let Span { start, end } = edit.span;
        let last = editable.partition_point(|(span, _)| span.start <= start);
        let is_allowed = editable[..last].last().is_some_and(|(span, is_visible)| {
            end <= span.end && (!is_visible || edit.new.iter().all(u8::is_ascii_graphic))
        });
        if !is_allowed {
            differences.push(format!(
                "the bytes {start} to {end} changed, but are not part of a rewritten link"
            ));
        }
    }
}

/// A word of letters that `source` does not contain, whatever its encoding.
///
/// The candidates depend on the whole source, so nobody can place them in it on purpose.
fn unused_word(source: &[u8]) -> String {
    let ascii: Vec<u8> = source.iter().copied().filter(|&byte| byte != 0).collect();
    let mut hasher = DefaultHasher::new();
    ascii.hash(&mut hasher);
    loop {
        hasher.write_u8(0);
        let letters = hasher
            .finish()
            .to_le_bytes()
            .map(|byte| char::from(b'a' + byte % 26));
        let word: String = ['q'].into_iter().chain(letters).collect();
        if memchr::memmem::find(&ascii, word.as_bytes()).is_none() {
            return word;
        }
    }
}

/// The source with a marker in place of each piece of new text.
fn marked(source: &[u8], edits: &Edits, charset: Charset, marker: &str) -> Vec<u8> {
    let mut marks = Edits::default();
    let marker = charset
        .encode(marker)
        .unwrap_or_else(|| marker.as_bytes().to_vec());
    for edit in edits.iter() {
        let new = [reference_end(source, &edit), &marker].concat();
        // The edits come from a sorted, disjoint list, so this cannot fail.
        let _ = marks.push(edit.span, new);
    }
    marks.apply(source)
}

/// The `;` at the beginning of the edit if a character reference before the edit lacks it.
fn reference_end(source: &[u8], edit: &Edit<'_>) -> &'static [u8] {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | 0);
    let before = &source[..edit.span.start];
    // UTF-16 in either order, and all others.
    let ends: [&[u8]; 3] = [b";\0", b"\0;", b";"];
    let end = ends.iter().find(|end| edit.new.starts_with(end));
    end.filter(|_| before.iter().rev().find(|byte| !is_name(byte)) == Some(&b'&'))
        .map_or(&[], |end| end)
}

/// The number of violations of XML 1.0 (2.2, 2.4 and 3.1) that new text could cause: characters that are not allowed
/// in XML, `&` that does not begin a reference, `<` in a value, `]]>` in character data, unterminated elements.
fn faults_of_xml(text: &str) -> usize {
    let not_allowed = text
        .chars()
        .filter(|&character| !xml::is_char(character))
        .count();
    let lone_ampersands = |text: &str| {
        let begins = |rest: &str| {
            let (name, _) = rest.split_once(';')?;
            let is_name = |name: &str| {
                name.starts_with(|first: char| {
                    first.is_alphabetic() || first == '_' || first == ':'
                }) && name
                    .chars()
                    .all(|next| next.is_alphanumeric() || "_:.-".contains(next))
            };
            let digits = |text: &str, radix| {
                !text.is_empty() && text.chars().all(|digit| digit.is_digit(radix))
            };
            Some(match name.strip_prefix('#') {
                Some(number) => match number.strip_prefix('x') {
                    Some(number) => digits(number, 16),
                    None => digits(number, 10),
                },
                None => is_name(name),
            })
        };
        text.split('&')
            .skip(1)
            .filter(|rest| begins(rest) != Some(true))
            .count()
    };
    let of_piece = |piece: &TreePiece| match piece.kind.split(' ').next() {
        Some("attribute") => lone_ampersands(&piece.text) + piece.text.matches('<').count(),
        Some("text") => lone_ampersands(&piece.text) + piece.text.matches("]]>").count(),
        // "Associating Style Sheets with XML documents", 3.1
        Some("instruction") if piece.text.starts_with("<?xml-stylesheet") => {
            lone_ampersands(&piece.text) + piece.text[1..].matches('<').count()
        }
        _ => 0,
    };
    let pieces = event_pieces(text);
    let count = |kind: &str| {
        pieces
            .iter()
            .filter(|piece| piece.kind.starts_with(kind))
            .count()
    };
    let unclosed = count("element ").abs_diff(count("end tag"));
    not_allowed + unclosed + pieces.iter().map(of_piece).sum::<usize>()
}

fn compare(
    before: &[TreePiece],
    marked: &[TreePiece],
    after: &[TreePiece],
    marker: &str,
    differences: &mut Vec<String>,
) {
    if before.len() != after.len() || before.len() != marked.len() {
        differences.push(format!(
            "the input has {} pieces, the output {}",
            before.len(),
            after.len()
        ));
    }
    for ((old, mark), new) in before.iter().zip(marked).zip(after) {
        if old.kind != new.kind || old.kind != mark.kind {
            // From here on, the two sequences are out of step.
            return differences.push(format!("{} became {}", old.kind, new.kind));
        }
        if mark.text.contains(marker) {
            // An edit may have added a `;` before a marker, in text such as a comment that keeps it.
            let without_ends = mark.text.replace(&format!(";{marker}"), marker);
            if mark.kind == VISIBLE_TEXT
                || !matches_marked(&old.text, &without_ends, marker)
                || !matches_marked(&new.text, &mark.text, marker)
            {
                differences.push(format!(
                    "{}: more than a URL changed in '{}'",
                    old.kind,
                    shortened(&old.text)
                ));
            }
        } else if old.text != new.text {
            differences.push(format!(
                "{}: '{}' changed unreported",
                old.kind,
                shortened(&old.text)
            ));
        }
    }
}

/// True if `text` is `marked` with arbitrary text in place of each marker.
fn matches_marked(text: &str, marked: &str, marker: &str) -> bool {
    let kept: Vec<&str> = marked.split(marker).collect();
    let [first, middle @ .., last] = kept.as_slice() else {
        return text == marked;
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    for part in middle {
        match memchr::memmem::find(rest.as_bytes(), part.as_bytes()) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Scans the output again, and checks that it has the reported links with their targets.
fn check_targets(
    rewritten: &FileRewrite<'_>,
    found: &Report,
    beyond_ascii: &[usize],
    options: &Options,
    differences: &mut Vec<String>,
) {
    // A document with only ASCII reads the same in every encoding that may be assumed.
    for &place in beyond_ascii {
        let (old, new) = (
            rewritten.report.entities.get(place),
            found.entities.get(place),
        );
        if let (Some(old), Some(new)) = (old, new)
            && old.charset != new.charset
        {
            let (was, is) = (old.charset.name(), new.charset.name());
            differences.push(format!("the input was {was}, the output reads as {is}"));
        }
    }
    let places = options.site.as_ref().map(|_| {
        let mut places = rewrite(rewritten.source, options).report.links;
        places.iter_mut().for_each(|place| place.stay(Reason::Kept));
        places
    });
    let (old, new) = (
        all_places(&rewritten.report.links, places.as_deref()),
        all(&found.links),
    );
    if old.len() != new.len() {
        differences.push(format!(
            "the input has {} links, the output {}",
            old.len(),
            new.len()
        ));
    }
    for (&old, &new) in old.iter().zip(&new) {
        let expected = old.in_output();
        let is_same_place = old.element == new.element && old.entity == new.entity;
        if new.reference != expected || !is_same_place {
            differences.push(format!(
                "'{}' became '{}' instead of '{expected}'",
                old.reference, new.reference
            ));
        }
    }
    // Links of a part have other offsets in the file than in its content, where `entities` checks them.
    if container::of(options.format).is_none() {
        check_spans(rewritten.source, &old, &new, &rewritten.edits, differences);
    }
}

/// A site that has every resource.
#[derive(Debug)]
struct EveryResource;

impl Site for EveryResource {
    fn has(&self, _: &LinkReport, _: &Against) -> bool {
        true
    }
}

impl Guard for EveryResource {
    fn prefix(&self, _: &LinkReport, _: &str, _: BaseInCopy) -> Option<String> {
        Some(NOWHERE.to_owned())
    }
}

/// The options under which each value that leads to a resource of the site, or out of a copy, is a link, before and after a
/// change; `None` without a site.
fn with_every_place(options: &Options) -> Option<Options> {
    let site: Arc<dyn Site> = Arc::new(EveryResource);
    options.site.is_some().then(|| Options {
        site: Some(site),
        guard: options
            .guard
            .as_ref()
            .map(|_| Arc::new(EveryResource) as Arc<dyn Guard>),
        ..options.clone()
    })
}

/// The reports `links`, and between them the `places` whose values are not links. `places` are the reports of a document
/// in which every value is a link, all kept.
fn all_places<'a>(
    links: &'a [LinkReport],
    places: Option<&'a [LinkReport]>,
) -> Vec<&'a LinkReport> {
    let Some(places) = places else {
        return all(links);
    };
    let mut links = links.iter().peekable();
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        let is_place = |link: &&LinkReport| {
            link.span == place.span
                && link.entity == place.entity
                && link.reference == place.reference
                && link.attribute == place.attribute
        };
        found.push(links.next_if(is_place).unwrap_or(place));
    }
    // A link without a place makes the numbers differ.
    found.extend(links);
    found
}

fn all(links: &[LinkReport]) -> Vec<&LinkReport> {
    links.iter().collect()
}

/// Checks that each link covers exactly the edited form of its bytes.
fn check_spans(
    source: &[u8],
    old: &[&LinkReport],
    new: &[&LinkReport],
    edits: &Edits,
    differences: &mut Vec<String>,
) {
    // The shift that the edits up to each edit cause for later bytes.
    let mut moved = vec![0_isize];
    for edit in edits.iter() {
        moved.push(moved.last().unwrap_or(&0) + edit.growth());
    }
    let edits: Vec<Edit<'_>> = edits.iter().collect();
    for (old, new) in old.iter().zip(new) {
        let Span { start, end } = old.span;
        let before = edits.partition_point(|edit| edit.span.start < start);
        let inside = edits.partition_point(|edit| edit.span.end <= end);
        let first = edits.get(before).filter(|edit| edit.span.start <= end);
        let closed = first.map_or(0, |edit| reference_end(source, edit).len());
        let start = start.saturating_add_signed(moved[before]) + closed;
        let end = end.saturating_add_signed(moved[inside.max(before)]);
        let Span {
            start: from,
            end: to,
        } = new.span;
        // A link that became empty may have received quotes, which contain it.
        let is_quoted = new.reference.is_empty() && start <= from && to <= end;
        if (start, end) != (from, to) && !is_quoted {
            let reference = &new.reference;
            differences.push(format!(
                "'{reference}' is in the bytes {from} to {to}, not in {start} to {end}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::pieces::{token_pieces, tree_pieces};
    use baselink_rewrite::rewrite;

    /// The differences reported if the edits of `page` are replaced by one that writes `new` at `span`.
    fn messages(page: &str, span: Span, new: &str) -> Vec<String> {
        let options = Options::at("http://a/b/");
        let mut rewritten = rewrite(page.as_bytes(), &options);
        assert_eq!(verify(&rewritten), Ok(()));
        rewritten.edits = Edits::default();
        rewritten.edits.push(span, new.as_bytes()).unwrap();
        verify(&rewritten).unwrap_err().messages
    }

    #[test]
    fn edits_beyond_the_report_are_found() {
        let page = "<p id=i><a href=\"x\" title='t'>text</a><!--c-->";
        let at = |text: &str| {
            let start = page.find(text).unwrap();
            Span::new(start, start + text.len())
        };
        // A target other than the reported one.
        assert_eq!(
            messages(page, at("x"), "http://a/c/x"),
            ["'x' became 'http://a/c/x' instead of 'http://a/b/x'"]
        );
        // A value and a tag that end too early.
        assert!(!messages(page, at("x"), "http://a/b/x\"><b>").is_empty());
        // Text that is not a link.
        assert!(!messages(page, at("text"), "other").is_empty());
        assert!(!messages(page, at("c-->"), "-->").is_empty());
    }

    #[test]
    fn a_change_of_tokens_is_found() {
        let sheet = "@import 'x'; a { b: url(y) c }";
        let options = Options {
            format: Format::Css,
            ..Options::at("http://a/b/")
        };
        let mut rewritten = rewrite(sheet.as_bytes(), &options);
        assert_eq!(
            rewritten.output(),
            b"@import 'http://a/b/x'; a { b: url(http://a/b/y) c }"
        );
        assert_eq!(verify(&rewritten), Ok(()));
        let (x, y) = (Span::new(9, 10), Span::new(24, 25));
        assert_eq!([&sheet[x.range()], &sheet[y.range()]], ["x", "y"]);
        for (span, new) in [
            (x, "x'; @import 'y"),
            (x, "x\n"),
            (x, "x\\"),
            (y, "y z"),
            (y, "y)z("),
            (y, "\"y\""),
            (y, "y /**/"),
            (y, "y("),
            (y, "http://a/c/y"),
            (Span::new(0, 1), "/"),
            (Span::new(26, 28), ""),
        ] {
            rewritten.edits = Edits::default();
            rewritten.edits.push(span, new.as_bytes()).unwrap();
            assert!(verify(&rewritten).is_err(), "{new:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_not_a_token() {
        let options = Options {
            format: Format::Css,
            ..Options::at("http://a/'\"/")
        };
        for (charset, mark) in [("utf-8", &b"\xef\xbb\xbf"[..]), ("utf-16le", b"\xff\xfe")] {
            let charset = Charset::for_label(charset).unwrap();
            let text = charset.encode("url(a\"b)src('c')").unwrap();
            let sheet = [mark, text.as_slice()].concat();
            let rewritten = rewrite(&sheet, &options);
            assert_eq!(rewritten.edits.iter().count(), 1);
            assert_eq!(verify(&rewritten), Ok(()));
        }
    }

    #[test]
    fn a_change_of_the_assumed_encoding_is_found() {
        // The program never makes such an edit (fixtures: not-editable). The edit removes the only bytes that keep
        // the page from being read as UTF-8.
        let options = Options {
            format: Format::Message,
            ..Options::at("http://a/b/")
        };
        let flips = |message: &[u8], old: &[u8], new: &[u8]| {
            let mut rewritten = rewrite(message, &options);
            let start = message
                .windows(old.len())
                .position(|bytes| bytes == old)
                .unwrap();
            rewritten
                .edits
                .push(Span::new(start, start + old.len()), new)
                .unwrap();
            let message = "the input was windows-1252, the output reads as UTF-8".to_owned();
            verify(&rewritten).is_err_and(|all| all.messages.contains(&message))
        };
        let html = b"Content-Type: text/html\n".to_vec();
        let plain = [html.clone(), b"\n\xc3\xbc<a href=x><a href=\xfc>".to_vec()].concat();
        assert!(flips(&plain, b"\xfc", b"%FC"));
        // The check also applies if only the decoded text contains bytes beyond ASCII.
        let encoding = b"Content-Transfer-Encoding: quoted-printable\n\n";
        let encoded = [
            html,
            encoding.to_vec(),
            b"=C3=BC<a href=3Dx><a href=3D=FC>".to_vec(),
        ]
        .concat();
        assert!(flips(&encoded, b"=FC", b"%FC"));
        // A part with only ASCII reads the same, whatever the other parts contain.
        let two = b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n\
            <a href=x><a href=\xfc>\n--b\nContent-Type: text/plain\n\n\xc3\xbc\n--b--\n";
        assert!(!flips(two, b"\xfc", b"%FC"));
    }

    #[test]
    fn unreported_changes_are_found() {
        let pieces = |text: &str| tree_pieces(text);
        let before = pieces("<p class=a>x<a href=qzq>y");
        for after in [
            "<p class=b>x<a href=qzq>y",
            "<p class=a>x<a href=z>z",
            "<p class=a>x<i href=z>y",
        ] {
            let mut differences = Vec::new();
            compare(&before, &before, &pieces(after), "qzq", &mut differences);
            assert!(!differences.is_empty(), "{after}");
        }
        for page in [
            "<svg><style>a{}</svg>url(qzq)",
            "<svg><style>a{}<g>url(qzq)",
            "<p>url(qzq)",
        ] {
            for pieces in [tree_pieces, token_pieces] {
                let (old, new) = (
                    pieces(&page.replace("qzq", "x")),
                    pieces(&page.replace("qzq", "y")),
                );
                let mut differences = Vec::new();
                compare(&old, &pieces(page), &new, "qzq", &mut differences);
                assert!(!differences.is_empty(), "{page}");
            }
        }
        let mut differences = Vec::new();
        let after = token_pieces("<p class=a>x<a href=/z>y");
        let marked = token_pieces("<p class=a>x<a href=qzqz>y");
        compare(
            &token_pieces("<p class=a>x<a href=z>y"),
            &marked,
            &after,
            "qzq",
            &mut differences,
        );
        assert!(differences.is_empty(), "{differences:?}");
    }
}
