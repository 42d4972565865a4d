//! Updates of header fields that describe a body: `Content-MD5` (RFC 1864), `Content-Length` and `Lines` (used in
//! mailboxes, although RFC 4155 mentions neither).
//!
//! A value that was right before an edit is right after it. A wrong value is kept: the meaning of a wrong count is
//! unknown, and a wrong digest is evidence of a damaged body.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! use baselink_text::Format;
//! let options = Options { format: Format::Message, ..Options::at("http://a/") };
//! let message = b"Content-Type: text/html\nContent-Length: 10\n\n<a href=x>";
//! let expected = b"Content-Type: text/html\nContent-Length: 19\n\n<a href=http://a/x>";
//! assert_eq!(rewrite(message, &options).output(), expected);
//! ```
//!
//! Deliberately absent: signatures. They are kept as evidence, and reported as no longer valid.

use std::cell::LazyCell;

use baselink_scan::{Heading, fields::decimal};
use baselink_text::{
    Code, Diagnostic, Edit, Edits, Span,
    layer::digest::{content_md5, with_crlf},
};

use super::{
    emlx::counted_message,
    entity::{ChangedBody, Described, Entity, Structure},
};

/// The edits of a file by the entities, as indices of the list, that contain them: in the headings, and in the bodies of
/// leaves.
#[derive(Default)]
pub struct EntityEdits {
    /// An edit in a heading.
    pub in_headings: Vec<(usize, Edit<'static>)>,
    /// The edits in a body.
    pub in_bodies: Vec<(usize, Edits)>,
}

impl EntityEdits {
    /// All edits of the file; `None` if some overlap.
    pub fn all(self) -> Option<Edits> {
        let mut bodies = self.in_bodies.into_iter().map(|(_, edits)| edits);
        let mut all = bodies.next().unwrap_or_default();
        for edits in bodies {
            all.append(&edits, 0).ok()?;
        }
        let number = all.len() + self.in_headings.len();
        all.merge(self.in_headings.into_iter().map(|(_, edit)| edit));
        (all.len() == number).then_some(all)
    }
}

/// Adds edits of the lengths in headings to `edits`, innermost entities first, because an edit of a heading changes
/// the enclosing body. Returns true for each entity in which anything changes.
pub fn keep_lengths(bytes: &[u8], structure: &Structure, edits: &mut EntityEdits) -> Vec<bool> {
    let entities = &structure.entities;
    let mut of_heading = vec![Growth::default(); entities.len()];
    let mut of_body = of_heading.clone();
    for (entity, edit) in &edits.in_headings {
        of_heading[*entity].add(edit, bytes);
    }
    for (entity, edits) in &edits.in_bodies {
        for edit in edits.iter() {
            of_body[*entity].add(&edit, bytes);
        }
    }
    let ends = LazyCell::new(|| memchr::memchr_iter(b'\n', bytes).collect::<Vec<_>>());
    let before = |place: usize| ends.partition_point(|&at| at < place);
    let lines_in = |span: Span| before(span.end) - before(span.start);
    let mut changes = vec![false; entities.len()];
    for (index, entity) in entities.iter().enumerate().rev() {
        if of_body[index].changes {
            for edit in lengths(bytes, entity, of_body[index], &lines_in) {
                of_heading[index].add(&edit, bytes);
                edits.in_headings.push((index, edit));
            }
        }
        let whole = of_heading[index].plus(of_body[index]);
        changes[index] = whole.changes;
        if let Some(parent) = entity.parent {
            of_body[parent] = of_body[parent].plus(whole);
        } else if let Some(message) = counted_message(bytes).filter(|_| whole.changes) {
            // Apple Mail pads the number with spaces.
            let width = message.start - 1;
            let length = message.len().saturating_add_signed(whole.bytes);
            let edit = Edit {
                span: Span::new(0, width),
                new: format!("{length:<width$}").into_bytes().into(),
            };
            edits.in_headings.push((index, edit));
        }
    }
    changes
}

/// The growth of a heading or body through edits.
#[derive(Clone, Copy, Default)]
struct Growth {
    /// True if anything changes.
    changes: bool,
    bytes: isize,
    lines: isize,
}

impl Growth {
    /// Adds the growth through `edit` of `bytes`.
    fn add(&mut self, edit: &Edit<'_>, bytes: &[u8]) {
        let lines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count().cast_signed();
        self.changes = true;
        self.bytes += edit.growth();
        self.lines += lines(&edit.new) - lines(&bytes[edit.span.range()]);
    }

    /// The sum of both.
    fn plus(self, other: Self) -> Self {
        Self {
            changes: self.changes || other.changes,
            bytes: self.bytes + other.bytes,
            lines: self.lines + other.lines,
        }
    }
}

/// The edits of `Content-Length` and `Lines` in the heading of `entity`, whose body grows by `growth`. `lines_in` counts the
/// line ends in a span.
fn lengths(
    bytes: &[u8],
    entity: &Entity,
    growth: Growth,
    lines_in: &dyn Fn(Span) -> usize,
) -> Vec<Edit<'static>> {
    let mut edits = Vec::new();
    if let Some((value, length)) = number(bytes, &entity.heading, "Content-Length") {
        // The line end after the body may or may not count.
        let body = entity.body.len();
        let is_right = length.abs_diff(body) <= 2;
        edits.extend(renumbered(value, length, growth.bytes).filter(|_| is_right));
    }
    if let Some((value, lines)) = number(bytes, &entity.heading, "Lines") {
        let is_right = lines.abs_diff(lines_in(entity.body)) <= 1;
        edits.extend(renumbered(value, lines, growth.lines).filter(|_| is_right));
    }
    edits.sort_by_key(|edit| edit.span.start);
    edits
}

/// The span and value of the decimal number in the field `name`; `None` if there are several such fields.
fn number(bytes: &[u8], heading: &Heading, name: &str) -> Option<(Span, usize)> {
    let mut fields = heading.all(bytes, name);
    let (field, None) = (fields.next()?, fields.next()) else {
        return None;
    };
    Some((field.value, decimal(&bytes[field.value.range()])?))
}

/// The edit that adds `growth` to the `number` at `value`, with the same number of digits if possible. A count
/// that would become negative is zero.
fn renumbered(value: Span, number: usize, growth: isize) -> Option<Edit<'static>> {
    let (new, width) = (number.saturating_add_signed(growth), value.len());
    (new != number).then(|| Edit {
        span: value,
        new: format!("{new:0width$}").into_bytes().into(),
    })
}

/// Updates the `Content-MD5` of a body that changes.
pub(crate) fn digest(changed: &ChangedBody<'_>) -> Described {
    let ChangedBody {
        bytes,
        entity,
        decoded,
        edits,
        lifted,
    } = changed;
    let Some(field) = entity.heading.first(bytes, "Content-MD5") else {
        return (Vec::new(), None);
    };
    let value = &bytes[field.value.range()];
    let (old, old_body) = (&*decoded.bytes, &bytes[entity.body.range()]);
    let new = edits.apply(old);
    let new_body = lifted.within(entity.body).apply(old_body);
    // RFC 1864 specifies the first form; some writers use the bytes as stored or as transferred.
    let forms: [(&[u8], &[u8]); 3] = [
        (&with_crlf(old), &with_crlf(&new)),
        (old, &new),
        (old_body, &new_body),
    ];
    let right = forms
        .iter()
        .find(|(old, _)| content_md5(old).as_bytes() == value);
    match right {
        Some((_, new)) => (
            vec![Edit {
                span: field.value,
                new: content_md5(new).into_bytes().into(),
            }],
            None,
        ),
        None => {
            let message =
                "this Content-MD5 was wrong before the links changed; it was kept unchanged";
            (
                Vec::new(),
                Some(Diagnostic::new(Code::DigestWrong, field.span, message)),
            )
        }
    }
}
