//! What every container yields: entities, the outermost first, each with its heading and its body as byte ranges.
//!
//! An entity is "the information transferred as the payload of a message" (RFC 2045, 2.4): header fields, and a body
//! that they describe. The heading may declare a base for what is in the body (RFC 1808, 3.1).
//!
//! ```
//! use baselink::container::{EntityKind, entities};
//! let message = b"Content-Type: message/rfc822\n\nSubject: x\n\ny";
//! let structure = entities(message);
//! assert_eq!(structure.entities[0].kind, EntityKind::Message);
//! assert_eq!((&*structure.entities[1].name, structure.entities[1].parent), ("1", Some(0)));
//! ```
//!
//! Deliberately absent: how they are found ([`super::mime`]), and what an edit of a body entails (`lift`, `fields`).

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic};
use crate::document::{UrlField, UrlValue};
use crate::edit::{Edit, Edits};
use crate::layer::transfer::{DecodedBody, Obstacle, TransferEncoding};
use crate::scan::fields::{Heading, MediaType};
use crate::span::Span;

/// How entities lie in a file, and what their headings mean there.
#[derive(Debug)]
pub(crate) struct Container {
    /// Finds the entities of a file, the outermost of which is called so.
    pub(crate) read: fn(&[u8], &Arc<str>) -> Structure,
    /// The fields of a heading that may declare a base.
    pub(crate) bases: &'static [UrlField],
    /// The fields by which others vouch for a message.
    pub(crate) signatures: &'static [&'static str],
    /// True if the content of a body is signed or encrypted by what is in it, so that no byte may change.
    pub(crate) is_sealed: fn(&[u8]) -> bool,
    /// So many bytes a line of a body may have that stands for itself.
    pub(crate) longest_line: Option<usize>,
    /// What an edit must not bring about, because it ends the file for others.
    pub(crate) delimiter: Option<&'static [u8]>,
    /// What sentences call such a file.
    pub(crate) noun: &'static str,
    /// The fields that say something of a body, and change with it.
    pub(crate) of_body: &'static [&'static str],
    /// What becomes of those of an entity whose body changes, but for lengths that others count, too.
    pub(crate) describe: fn(&ChangedBody<'_>) -> Described,
    /// True if there is only one entity. Then the outcome of a link does not depend on other links, and only `describe`
    /// changes lengths.
    pub(crate) is_single: bool,
}

/// A body whose content changes.
pub(crate) struct ChangedBody<'a> {
    /// The file.
    pub(crate) bytes: &'a [u8],
    pub(crate) entity: &'a Entity,
    pub(crate) decoded: &'a DecodedBody<'a>,
    /// Of its content.
    pub(crate) edits: &'a Edits,
    /// The same as edits of the file.
    pub(crate) lifted: &'a Edits,
}

/// What becomes of fields that say something of a body: edits of the file, and what is to be said.
pub(crate) type Described = (Vec<Edit<'static>>, Option<Diagnostic>);

/// How many numbers the name of an entity has at most.
pub const DEEPEST_NAME: usize = 64;

/// The entities of a file.
#[derive(Clone, Debug)]
pub struct Structure {
    /// How they lie in it.
    pub(crate) container: &'static Container,
    /// In the order of their headings; the message itself is the first.
    pub entities: Vec<Entity>,
    /// What is unexpected, in the order of the message.
    pub diagnostics: Vec<Diagnostic>,
}

/// A message, a body part, or a message in one (RFC 2045, 2.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// `""` for the message, `1` and `1.2` for body parts, `2.1` for the message in the entity `2`; more
    /// than [`DEEPEST_NAME`] deep the name of the message, `#` and its
    /// place in the list, because a name grows with its depth.
    pub name: Arc<str>,
    /// The entity around it, by its place in the list.
    pub parent: Option<usize>,
    /// Its header fields.
    pub heading: Heading,
    /// Its body: of a multipart with preamble, delimiters and epilogue.
    pub body: Span,
    /// Its media type; the default where none, or none that can be read, is given.
    pub media_type: MediaType,
    /// Its transfer encoding.
    pub transfer_encoding: TransferEncoding,
    /// What is in it.
    pub kind: EntityKind,
    /// True if it is signed or encrypted, or stands in an entity that is, so that no byte may change.
    pub signed: bool,
}

impl Entity {
    /// True if `other`, at the same place in another message, holds the same kind of thing in the same
    /// way: parameters of its media type may be others, for one can be a URL (RFC 2017).
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let facts = |entity: &Self| (entity.parent, entity.signed, entity.heading.fields.len());
        let (coded, encoding) = (self.transfer_encoding, other.transfer_encoding);
        // What has codings is written without them when it changes.
        let is_uncoded = matches!(coded, TransferEncoding::Coded(_)) && encoding.is_identity();
        facts(self) == facts(other)
            && (coded == encoding || is_uncoded)
            && self.media_type.is(&other.media_type.type_, &other.media_type.subtype)
            && self.media_type.boundary() == other.media_type.boundary()
            && self.media_type.parameter("charset") == other.media_type.parameter("charset")
            && std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind)
    }

    /// Heading, separator and body.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(self.heading.span.start, self.body.end)
    }

    /// What its body decodes to.
    ///
    /// # Errors
    ///
    /// A body that cannot be decoded.
    pub(crate) fn decode<'a>(&self, bytes: &'a [u8]) -> Result<DecodedBody<'a>, Obstacle> {
        self.transfer_encoding.decode(bytes, self.body)
    }

    /// Sets the end of the body. The line end before a delimiter may be that of the heading.
    pub(super) fn end_at(&mut self, end: usize) {
        let clamped = |span: Span| Span { start: span.start.min(end), end: span.end.min(end) };
        self.body = Span::new(self.body.start.min(end), end);
        self.heading.span = clamped(self.heading.span);
        self.heading.separator = clamped(self.heading.separator);
        if let Some(field) = self.heading.fields.last_mut() {
            field.span = clamped(field.span);
        }
        if let EntityKind::Multipart { preamble, epilogue, closed } = &mut self.kind {
            let start = if *closed { epilogue.start } else { end };
            *epilogue = Span { start: start.min(end), end };
            *preamble = clamped(*preamble);
        }
    }
}

/// What is in an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityKind {
    /// Content.
    Leaf,
    /// Body parts.
    Multipart {
        /// What stands before the first delimiter.
        preamble: Span,
        /// What stands behind the line of the close delimiter; empty without one.
        epilogue: Span,
        /// True if there is a close delimiter.
        closed: bool,
    },
    /// A message.
    Message,
    /// It says that entities are in it, and they can't be told apart.
    Opaque(Opaque),
}

/// Why the entities in an entity can't be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opaque {
    /// RFC 2045, 6.4: "it is EXPRESSLY FORBIDDEN to use any encodings other than "7bit", "8bit", or
    /// "binary" with any composite media type".
    Encoded,
    /// A multipart without a `boundary` parameter.
    NoBoundary,
    /// A multipart in which no line is a delimiter.
    BoundaryNotFound,
}

/// Says that lines of `heading` are no header field.
pub(super) fn not_fields(heading: &Heading) -> Option<Diagnostic> {
    let (first, lines) = heading.not_fields?;
    let message = match lines {
        1 => "this line of a heading is no header field".to_owned(),
        _ => format!("{lines} lines of this heading are no header fields, this one first"),
    };
    Some(Diagnostic::new(Code::FieldMalformed, first, message))
}

/// Says that no empty line is before the body that begins at `body`.
pub(super) fn separator_missing(body: usize) -> Diagnostic {
    let message = "no empty line divides this body from its heading";
    Diagnostic::new(Code::SeparatorMissing, Span::at(body), message)
}

impl Structure {
    /// The fields in the heading of the entity `index` that may declare a base, with their URLs.
    pub(crate) fn bases(&self, bytes: &[u8], index: usize) -> Vec<UrlValue> {
        let mut urls = self.entities[index].heading.all_urls(bytes);
        urls.retain(|url| self.container.bases.contains(&url.field));
        urls
    }

    /// The first field by which others vouch for the entity `index`, which is a message.
    pub(crate) fn signature(&self, bytes: &[u8], index: usize) -> Option<Span> {
        let entity = &self.entities[index];
        let is_message =
            entity.parent.is_none_or(|parent| self.entities[parent].kind == EntityKind::Message);
        let names = self.container.signatures.iter().filter(|_| is_message);
        let fields = names.filter_map(|name| entity.heading.first(bytes, name));
        fields.map(|field| field.span).min_by_key(|span| span.start)
    }

    /// The entities of `output`, which was made of `source`; or what of them is not as it must be, which is the same
    /// entities.
    pub(crate) fn of_output(&self, source: &[u8], output: &[u8]) -> Result<Self, &'static str> {
        let delimiter = self.container.delimiter.map(memchr::memmem::Finder::new);
        let count = |bytes| delimiter.as_ref().map(|it| it.find_iter(bytes).count());
        // There may be fewer: a reference that began a line no longer does.
        if count(source) < count(output) {
            return Err("a line begins with 'From '");
        }
        let found = (self.container.read)(output, &self.entities[0].name);
        let are_like = self.entities.len() == found.entities.len()
            && self.entities.iter().zip(&found.entities).all(|(old, new)| old.is_like(new));
        if are_like { Ok(found) } else { Err("other entities are found") }
    }
}
