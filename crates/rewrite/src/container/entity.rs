//! Entities of a container as byte ranges: outermost first, each with a heading and a body.
//!
//! An entity is "the MIME-defined header fields and contents of either a message or one of the parts in the body of
//! a multipart entity" (RFC 2045, 2.4). The heading may declare a base for the body (RFC 1808, 3.1).
//!
//! ```
//! use baselink_rewrite::container::{EntityKind, entities};
//! let message = b"Content-Type: message/rfc822\n\nSubject: x\n\ny";
//! let structure = entities(message);
//! assert_eq!(structure.entities[0].kind, EntityKind::Message);
//! assert_eq!((&*structure.entities[1].name, structure.entities[1].parent), ("1", Some(0)));
//! ```
//!
//! Deliberately absent: the search for entities ([`super::mime`], [`super::http`]), and the consequences of an edit
//! (`lift`, `fields`).

use std::{borrow::Cow, sync::Arc};

use baselink_scan::{Heading, MediaType, UrlField, document::UrlValue};
use baselink_text::{
    Code, Diagnostic, Edit, Edits, Span,
    layer::transfer::{DecodedBody, Obstacle, TransferEncoding},
};

/// A kind of file with entities: the layout of the entities, and the meaning of their headings.
#[derive(Debug)]
pub struct Container {
    /// Finds the entities of a file. The second argument is the name of the outermost entity.
    pub read: fn(&[u8], &Arc<str>) -> Structure,
    /// The fields of a heading that may declare a base.
    pub(crate) bases: &'static [UrlField],
    /// The header fields of signatures over a message, separated by spaces.
    pub(crate) signatures: &'static str,
    /// True if the content of a body is itself signed or encrypted, so that no byte may change.
    pub(crate) is_sealed: fn(&[u8]) -> bool,
    /// The maximum number of bytes in a line of an unencoded body.
    pub(crate) longest_line: Option<usize>,
    /// The numbers of lines that an edit must not increase, because a reader of a mailbox ends a message at them.
    pub(crate) delimiters: fn(&[u8]) -> (usize, usize),
    /// The noun for such a file in diagnostics.
    pub(crate) noun: &'static str,
    /// The fields that describe a body and change with it, separated by spaces.
    pub of_body: &'static str,
    /// Updates the fields that describe a changed body, except for lengths that depend on other entities.
    pub describe: fn(&ChangedBody<'_>) -> Described,
    /// True if a file has only one entity. Then the outcome of a link does not depend on other links, and only
    /// `describe` changes lengths.
    pub is_single: bool,
}

/// A body whose content changes.
pub struct ChangedBody<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// The entity whose body it is.
    pub entity: &'a Entity,
    /// The decoded body.
    pub decoded: &'a DecodedBody<'a>,
    /// The edits of the content.
    pub edits: &'a Edits,
    /// The edits, lifted to the file.
    pub lifted: &'a Edits,
}

/// The changes to fields that describe a body: edits of the file, and a diagnostic.
pub(crate) type Described = (Vec<Edit<'static>>, Option<Diagnostic>);

/// The maximum number of components in the name of an entity.
pub const DEEPEST_NAME: usize = 64;

/// The entities of a file.
#[derive(Debug)]
pub struct Structure {
    /// The kind of the file.
    pub container: &'static Container,
    /// The entities in the order of their headings; the message itself is the first.
    pub entities: Vec<Entity>,
    /// The diagnostics in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// A message, a body part, or a message in a body part (RFC 2045, 2.4).
#[derive(Debug)]
pub struct Entity {
    /// The name: `""` for the message, `1` and `1.2` for body parts, `2.1` for the message in the entity `2`.
    /// An entity deeper than [`DEEPEST_NAME`] has the name of the message, `#` and its index in the list, so that
    /// names stay short.
    pub name: Arc<str>,
    /// The index of the enclosing entity in the list.
    pub parent: Option<usize>,
    /// The header fields.
    pub heading: Heading,
    /// The body. In a multipart, it includes preamble, delimiters and epilogue.
    pub body: Span,
    /// The media type; the default if the field is missing or invalid.
    pub media_type: MediaType,
    /// The transfer encoding.
    pub transfer_encoding: TransferEncoding,
    /// The kind of content.
    pub kind: EntityKind,
    /// True if the entity or an enclosing one is signed or encrypted, so that no byte may change.
    pub signed: bool,
    /// True if an enclosing multipart has the forbidden transfer encoding quoted-printable.
    pub(crate) is_in_quoted_printable: bool,
}

impl Entity {
    /// True if `other`, at the same place in another message, has the same kind of content in the same form.
    /// Parameters of the media type may differ, because one can be a URL (RFC 2017).
    pub fn is_like(&self, other: &Self) -> bool {
        let facts = |entity: &Self| (entity.parent, entity.signed, entity.heading.fields.len());
        let (coded, encoding) = (self.transfer_encoding, other.transfer_encoding);
        // A changed body is written without its codings.
        let is_uncoded = matches!(coded, TransferEncoding::Coded(_)) && encoding.is_identity();
        facts(self) == facts(other)
            && (coded == encoding || is_uncoded)
            && self.media_type.essence == other.media_type.essence
            && self.media_type.boundary() == other.media_type.boundary()
            && self.media_type.parameter("charset") == other.media_type.parameter("charset")
            && std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind)
    }

    /// Heading, separator and body.
    pub fn span(&self) -> Span {
        Span::new(self.heading.span.start, self.body.end)
    }

    /// Decodes the body.
    ///
    /// # Errors
    ///
    /// Fails if the body cannot be decoded, or if it is doubtful whether its encoding is the one in its heading.
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Result<DecodedBody<'a>, Obstacle> {
        match self.doubt(bytes) {
            Some(obstacle) => Err(obstacle),
            None => self.transfer_encoding.decode(bytes, self.body),
        }
    }

    /// The reason, if any, why the body may mean something else than its heading states: an enclosing multipart is in
    /// quoted-printable, which RFC 2045, 6.4, forbids, and every `=` in the body begins an escape of that encoding.
    fn doubt(&self, bytes: &[u8]) -> Option<Obstacle> {
        if !self.is_in_quoted_printable || !self.transfer_encoding.is_identity() {
            return None;
        }
        let text = &bytes[self.body.range()];
        let is_escape = |at: usize| match &text[at + 1..] {
            [] | [b'\n' | b'\r', ..] => true,
            [high, low, ..] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
            [_] => false,
        };
        let mut signs = memchr::memchr_iter(b'=', text).peekable();
        let is_doubtful = signs.peek().is_some() && signs.all(is_escape);
        is_doubtful.then_some(Obstacle {
            at: self.body.start,
            reason: "it may be in the quoted-printable of the multipart around it",
        })
    }

    /// Sets the end of the body, and shortens the heading if it extends beyond `end`. The line end before a
    /// delimiter may have been read as part of the heading.
    pub(super) fn end_at(&mut self, end: usize) {
        let clamped = |span: Span| Span {
            start: span.start.min(end),
            end: span.end.min(end),
        };
        self.body = Span::new(self.body.start.min(end), end);
        self.heading.span = clamped(self.heading.span);
        self.heading.separator = clamped(self.heading.separator);
        if let Some(field) = self.heading.fields.last_mut() {
            field.span = clamped(field.span);
        }
    }
}

/// The kind of content of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityKind {
    /// Content that is not divided further.
    Leaf,
    /// Body parts. The preamble is before the first delimiter, and the epilogue after the line of the close delimiter.
    Multipart,
    /// A message.
    Message,
    /// A composite type whose entities cannot be told apart, for a reason that a diagnostic reports: it is encoded (RFC 2045, 6.4: "it is
    /// EXPRESSLY FORBIDDEN to use any encodings other than "7bit", "8bit", or "binary" with any composite media type"), or it is a
    /// multipart without a `boundary` parameter or in which no line is a delimiter.
    Opaque,
}

/// The diagnostic for lines of `heading` that are not header fields.
pub(super) fn not_fields(heading: &Heading) -> Option<Diagnostic> {
    let (first, lines) = heading.not_fields?;
    let message = match lines {
        1 => "this line of a heading is not a header field".to_owned(),
        _ => format!("{lines} lines of this heading are not header fields; this is the first"),
    };
    Some(Diagnostic::new(Code::FieldMalformed, first, message))
}

/// The diagnostic for a missing empty line before the body that begins at `body`.
pub(super) fn separator_missing(body: usize) -> Diagnostic {
    let message = "no empty line separates this body from its heading";
    Diagnostic::new(Code::SeparatorMissing, Span::at(body), message)
}

impl Structure {
    /// The media type of the content of the entity `index`, which may be something else than the declared HTML.
    /// `retrieval` is the retrieval URL of a response; a body part has its URL in its `Content-Location`.
    pub fn media_type(
        &self,
        bytes: &[u8],
        index: usize,
        retrieval: Option<&str>,
    ) -> Cow<'_, MediaType> {
        let entity = &self.entities[index];
        let declared = &entity.media_type;
        if declared.essence != "text/html" {
            return Cow::Borrowed(declared);
        }
        let declared = declared.clone();
        let beginning = entity.transfer_encoding.beginning(bytes, entity.body);
        if self.container.is_single {
            return Cow::Owned(declared.of_body(&beginning, retrieval));
        }
        let label = entity.heading.url(bytes, UrlField::ContentLocation);
        Cow::Owned(declared.of_body(&beginning, label.as_ref().map(|label| &*label.url)))
    }

    /// The fields in the heading of the entity `index` that may declare a base, with their URLs.
    pub fn bases(&self, bytes: &[u8], index: usize) -> Vec<UrlValue> {
        let mut urls = self.entities[index].heading.all_urls(bytes);
        urls.retain(|url| self.container.bases.contains(&url.field));
        urls
    }

    /// The first signature field of the entity `index`, which is a message.
    pub(crate) fn signature(&self, bytes: &[u8], index: usize) -> Option<Span> {
        let entity = &self.entities[index];
        let is_message = entity
            .parent
            .is_none_or(|parent| self.entities[parent].kind == EntityKind::Message);
        let fields = self
            .container
            .signatures
            .split_ascii_whitespace()
            .filter(|_| is_message)
            .filter_map(|name| entity.heading.first(bytes, name));
        fields.map(|field| field.span).min_by_key(|span| span.start)
    }

    /// The entities of `output`, the edited form of `source`; `Err` with a reason if they are not the same
    /// entities as before.
    pub fn of_output(&self, source: &[u8], output: &[u8]) -> Result<Self, &'static str> {
        let [before, after] = [source, output].map(self.container.delimiters);
        // Fewer are allowed, because an edit may remove `From ` from the beginning of a line.
        if before.0 < after.0 {
            return Err("a line begins with 'From '");
        }
        if before.1 < after.1 {
            return Err("a line 'From ' begins a message of a mailbox");
        }
        let found = (self.container.read)(output, &self.entities[0].name);
        let are_like = self.entities.len() == found.entities.len()
            && self
                .entities
                .iter()
                .zip(&found.entities)
                .all(|(old, new)| old.is_like(new));
        if are_like {
            Ok(found)
        } else {
            Err("the entities differ")
        }
    }
}
