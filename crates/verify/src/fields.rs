//! Verification of headings: the changes that are allowed, and the fields that describe bodies.
//!
//! ```text
//! Content-Location: http://a/x      a reported link, the only change of the field
//! Content-Length: 34                describes the body; right if it was right, else unchanged
//! X-Archive-Orig-ETag: "1"          renamed in a response, because it no longer describes the body
//! ```
//!
//! Deliberately absent: the functions that write these fields. A proof based on them would prove nothing.

use baselink_rewrite::{
    FileRewrite, LinkReport, Outcome,
    container::{
        counted_message,
        entity::{Container, Entity, EntityKind, Structure},
    },
};
use baselink_scan::fields::{Field, decimal};
use baselink_text::{
    Span,
    format::is_among,
    layer::{
        digest::{content_md5, with_crlf},
        transfer::Codings,
    },
};

/// The links in headings.
pub fn in_headings<'l>(links: &'l [LinkReport], structure: &Structure) -> Vec<&'l LinkReport> {
    let headings: Vec<Span> = structure
        .entities
        .iter()
        .map(|entity| entity.heading.span)
        .collect();
    let is_inside = |link: &&LinkReport| {
        let last = headings.partition_point(|heading| heading.start <= link.span.start);
        headings[..last]
            .last()
            .is_some_and(|heading| link.span.start < heading.end)
    };
    links.iter().filter(is_inside).collect()
}

/// The spans of a file in which edits are allowed: changed bodies, the rewritten ones of the `links` in headings, fields that
/// describe a body, and the length before a message. New text in a span with the flag, a link, must be visible ASCII, because
/// readers treat other characters differently (RFC 5322, 2.2; RFC 2557, 4.4).
pub fn editable_spans(
    container: &Container,
    rewritten: &FileRewrite<'_>,
    structure: &Structure,
    links: &[&LinkReport],
) -> Vec<(Span, bool)> {
    let source = rewritten.source;
    let fields = structure
        .entities
        .iter()
        .flat_map(|entity| &entity.heading.fields);
    let changed = links
        .iter()
        .filter(|link| link.outcome == Outcome::Rewritten);
    let bodies = rewritten.parts.iter().map(|part| part.body);
    let fields = fields
        .filter(|field| is_among(&source[field.name.range()], container.of_body))
        .map(|field| field.span);
    let links = changed.map(|link| (link.span, true));
    let length = counted_message(source).map(|message| Span::new(0, message.start));
    let others = fields.chain(bodies).chain(length);
    others.map(|span| (span, false)).chain(links).collect()
}

/// True if the heading of `new` has the fields of `old`, and those that describe the body are as right as before. In
/// other fields, only [editable spans](editable_spans) changed, and [`super::check_spans`] checks these links.
pub fn are_right(
    container: &Container,
    (source, old): (&[u8], &Entity),
    (output, new): (&[u8], &Entity),
) -> bool {
    let is_right = |(a, b): (&Field, &Field)| {
        let name = &source[a.name.range()];
        let was = DescribingField {
            bytes: source,
            entity: old,
            field: a,
        };
        let is = DescribingField {
            bytes: output,
            entity: new,
            field: b,
        };
        if !is_among(name, container.of_body) {
            name == &output[b.name.range()]
        } else if was.body() == is.body() {
            was.line() == is.line()
        } else if container.is_single {
            is_right_in_response(&was, &is)
        } else {
            is_right_in_part(&was, &is)
        }
    };
    old.heading.fields.len() == new.heading.fields.len()
        && old
            .heading
            .fields
            .iter()
            .zip(&new.heading.fields)
            .all(is_right)
        && source[old.heading.separator.range()] == output[new.heading.separator.range()]
}

/// A field that describes the body of an entity.
struct DescribingField<'a> {
    bytes: &'a [u8],
    entity: &'a Entity,
    field: &'a Field,
}

impl DescribingField<'_> {
    fn body(&self) -> &[u8] {
        &self.bytes[self.entity.body.range()]
    }

    /// The whole field as written.
    fn line(&self) -> &[u8] {
        &self.bytes[self.field.span.range()]
    }

    fn value(&self) -> &[u8] {
        &self.bytes[self.field.value.range()]
    }

    /// The field without its value.
    fn around(&self) -> [&[u8]; 2] {
        let Span { start, end } = self.field.span;
        let value = self.field.value;
        [&self.bytes[start..value.start], &self.bytes[value.end..end]]
    }

    fn is(&self, name: &str) -> bool {
        self.bytes[self.field.name.range()].eq_ignore_ascii_case(name.as_bytes())
    }

    /// The difference between the value and the right `number`; `None` if it exceeds `most`, if the value is not a
    /// number, or if there are several such fields.
    fn deviation(&self, name: &str, number: usize, most: usize) -> Option<isize> {
        let stated: usize = decimal(self.value())?;
        let is_only = self.entity.heading.all(self.bytes, name).count() == 1;
        let deviation = stated.cast_signed().checked_sub(number.cast_signed())?;
        (is_only && deviation.unsigned_abs() <= most).then_some(deviation)
    }

    /// The ways in which the field is right: the deviation of a count, or the forms of the content that a digest
    /// matches. The line end before a delimiter may or may not count. Empty if the field is wrong.
    fn right_ways(&self) -> Vec<isize> {
        if self.is("Content-Length") {
            return Vec::from_iter(self.deviation("Content-Length", self.body().len(), 2));
        }
        if self.is("Lines") {
            let lines = memchr::memchr_iter(b'\n', self.body()).count();
            return Vec::from_iter(self.deviation("Lines", lines, 1));
        }
        self.digests().unwrap_or_default()
    }

    /// The numbers of the forms of the content that the digest matches.
    fn digests(&self) -> Option<Vec<isize>> {
        let first = self.entity.heading.first(self.bytes, "Content-MD5")?;
        let is_first = first.span == self.field.span && self.entity.kind == EntityKind::Leaf;
        let content = self
            .entity
            .decode(self.bytes)
            .ok()
            .filter(|_| is_first)?
            .bytes;
        let forms = [&*with_crlf(&content), &content, self.body()];
        Some(
            (0..)
                .zip(forms)
                .filter(|(_, form)| content_md5(form).as_bytes() == self.value())
                .map(|(at, _)| at)
                .collect(),
        )
    }
}

/// True if a field of a part whose body changed is as right as before: a right value is right in the same way, and a
/// wrong value is unchanged. A count that would become negative is zero.
fn is_right_in_part(was: &DescribingField<'_>, is: &DescribingField<'_>) -> bool {
    let (before, after) = (was.right_ways(), is.right_ways());
    let is_zero = is.value().iter().all(|&digit| digit == b'0');
    match before.as_slice() {
        [] => was.line() == is.line(),
        ways => {
            ways.iter()
                .any(|way| after.iter().any(|now| now == way || (is_zero && now > way)))
                && was.around() == is.around()
        }
    }
}

/// True if a field is right in a response whose body changed and now has no codings. A length must be right, and may
/// replace a `Transfer-Encoding`. Other fields that describe the body must be renamed, unless they declare that there
/// are no codings.
fn is_right_in_response(was: &DescribingField<'_>, is: &DescribingField<'_>) -> bool {
    let length = is.body().len().to_string();
    let [_, end] = was.around();
    let is_coding = was.is("Transfer-Encoding") || was.is("Content-Encoding");
    let is_length = is.is("Content-Length") && is.value() == length.as_bytes();
    let is_renamed = is.line().strip_prefix(b"X-Archive-Orig-") == Some(was.line());
    match () {
        () if was.is("Content-Length") => is_length && was.around() == is.around(),
        () if was.is("Transfer-Encoding") && is_length => {
            is.line() == [b"Content-Length: ", length.as_bytes(), end].concat()
        }
        () if was.line() == is.line() => {
            let codings = if was.is("Transfer-Encoding") {
                Codings::read([], [was.value()], None)
            } else {
                Codings::read([was.value()], [], None)
            };
            is_coding && codings.is_some_and(Codings::is_empty)
        }
        () => is_renamed,
    }
}
