//! The tree of entities of a message (RFC 2046, 5.1 and 5.2.1) as byte ranges, in one pass.
//!
//! The walker keeps a stack of open entities. Only lines that begin with `--` can be delimiters. Such a line is
//! compared with all open boundaries at once, by hash, so the cost depends neither on the depth of a message nor on
//! the number of its parts.
//!
//! RFC 2046, 5.1.1: "The CRLF preceding the boundary delimiter line is conceptually attached to the boundary".
//! 5.1.2: a delimiter of an outer multipart ends the inner ones. A line is a delimiter if `--`, white space or the
//! line end follows the boundary. If several boundaries match, the longest counts; of equal ones, the innermost.
//!
//! ```
//! use baselink_rewrite::container::{EntityKind, entities};
//! let message = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n\
//!                 preamble\r\n--b\r\n\r\none\r\n--b--\r\nepilogue";
//! let structure = entities(message);
//! assert_eq!(structure.entities[0].kind, EntityKind::Multipart);
//! assert_eq!(&message[structure.entities[1].body.range()], b"one");
//! ```
//!
//! Deliberately absent: `message/partial` and `message/external-body`, whose bodies are elsewhere.

use std::{
    collections::{
        HashMap,
        hash_map::{Entry, RandomState},
    },
    hash::BuildHasher,
    sync::Arc,
};

use baselink_scan::{
    Heading, MediaType, UrlField,
    document::entity_name,
    fields::{Field, heading::line_end_of},
    most_parts, too_deep,
};
use baselink_text::{Code, Diagnostic, Span, format::is_among, layer::transfer::TransferEncoding};

use super::{
    emlx::counted_message,
    entity::{
        Container, DEEPEST_NAME, Entity, EntityKind, Structure, not_fields, separator_missing,
    },
    fields,
    mbox::from_lines,
};

/// The layout of messages, and the limits that they must respect.
pub(crate) static MIME: Container = Container {
    read: entities_named,
    bases: &UrlField::ALL,
    signatures: "DKIM-Signature DomainKey-Signature ARC-Message-Signature ARC-Seal",
    is_sealed: has_armor,
    // "Each line of characters MUST be no more than 998 characters" (RFC 5322, 2.1.1).
    longest_line: Some(998),
    // A message may be part of a mailbox (RFC 4155).
    delimiters: from_lines,
    noun: "message",
    of_body: "Content-MD5 Content-Length Lines",
    describe: fields::digest,
    is_single: false,
};

/// Finds the entities of the message `bytes`. Any bytes are accepted. Linear in time and memory.
pub fn entities(bytes: &[u8]) -> Structure {
    entities_named(bytes, &Arc::from(""))
}

/// Finds the entities of a message that is called `name`, such as one of several in a file.
pub fn entities_named(bytes: &[u8], name: &Arc<str>) -> Structure {
    let message = counted_message(bytes).unwrap_or(Span::new(0, bytes.len()));
    let mut walk = EntityWalk {
        bytes: &bytes[..message.end],
        name: Arc::clone(name),
        line_end: line_end_of(&bytes[message.range()]),
        entities: Vec::new(),
        diagnostics: Vec::new(),
        open: Vec::new(),
        boundaries: Boundaries::new(),
    };
    walk.run(message.start);
    walk.diagnostics
        .sort_by_key(|diagnostic| diagnostic.span.start);
    Structure {
        container: &MIME,
        entities: walk.entities,
        diagnostics: walk.diagnostics,
    }
}

/// An entity whose end has not been reached.
struct OpenEntity {
    entity: usize,
    children: usize,
    multipart: Option<Multipart>,
}

struct Multipart {
    boundary: Box<[u8]>,
    state: MultipartState,
}

/// The position of the walker in a multipart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MultipartState {
    Preamble,
    /// In the body part that begins here.
    Part(usize),
    Epilogue,
}

/// The boundaries of the open multiparts.
struct Boundaries {
    /// The factor of the hash: random, so that the author of a message cannot cause collisions.
    factor: u64,
    /// The indices in the stack for each boundary hash, innermost last.
    places: HashMap<u64, Vec<usize>>,
    /// The length of the longest boundary so far.
    longest: usize,
    /// The set of the lengths of all boundaries so far, modulo 64, as bits. It spares most lookups.
    lengths: u64,
}

/// The modulus of the hash, a prime. The hash is a polynomial of the bytes, so collisions are very unlikely.
const PRIME: u64 = (1 << 61) - 1;

impl Boundaries {
    fn new() -> Self {
        Self {
            factor: RandomState::new().hash_one(()) & (PRIME >> 1),
            places: HashMap::new(),
            longest: 0,
            lengths: 0,
        }
    }

    /// The hash of a text that ends with `byte`; `before` is the hash of the text before this byte.
    fn extend_hash(&self, before: u64, byte: u8) -> u64 {
        let product = u128::from(before + u64::from(byte) + 1) * u128::from(self.factor);
        let [low, high] = [product, product >> 61].map(|half| half as u64 & PRIME);
        let sum = low + high;
        if sum >= PRIME { sum - PRIME } else { sum }
    }

    fn hash(&self, boundary: &[u8]) -> u64 {
        boundary
            .iter()
            .fold(0, |before, &byte| self.extend_hash(before, byte))
    }

    /// Adds the boundary of the entity at `place`, which will be the top of the stack.
    fn open(&mut self, boundary: &[u8], place: usize) {
        self.longest = self.longest.max(boundary.len());
        self.lengths |= 1 << (boundary.len() % 64);
        self.places
            .entry(self.hash(boundary))
            .or_default()
            .push(place);
    }

    fn close(&mut self, boundary: &[u8], place: usize) {
        if let Entry::Occupied(mut places) = self.places.entry(self.hash(boundary)) {
            // The multiparts inside this one are already closed.
            if let Some(at) = places.get().iter().rposition(|&open| open == place) {
                places.get_mut().remove(at);
            }
            if places.get().is_empty() {
                places.remove();
            }
        }
    }

    /// The multipart whose delimiter begins `line`, and the length of the `--` and the boundary.
    fn find(&self, line: &[u8], open: &[OpenEntity]) -> Option<(usize, usize)> {
        let text = line.strip_prefix(b"--")?;
        let (mut found, mut key) = (None, 0);
        for length in 0..=self.longest.min(text.len()) {
            if self.lengths >> (length % 64) & 1 == 1
                && ends_boundary(&text[length..])
                && let Some(&place) = self.places.get(&key).and_then(|places| places.last())
                && let Some(multipart) = &open[place].multipart
                && *multipart.boundary == text[..length]
            {
                found = Some((place, length + 2));
            }
            match text.get(length) {
                None | Some(b'\n' | b'\r') => break,
                Some(&byte) => key = self.extend_hash(key, byte),
            }
        }
        found
    }
}

/// True if a boundary may end before `rest`, the remainder of its line.
fn ends_boundary(rest: &[u8]) -> bool {
    matches!(
        rest,
        [] | [b' ' | b'\t' | b'\r' | b'\n', ..] | [b'-', b'-', ..]
    )
}

struct EntityWalk<'a> {
    bytes: &'a [u8],
    /// The name of the message.
    name: Arc<str>,
    line_end: u8,
    entities: Vec<Entity>,
    diagnostics: Vec<Diagnostic>,
    open: Vec<OpenEntity>,
    boundaries: Boundaries,
}

impl EntityWalk<'_> {
    fn run(&mut self, start: usize) {
        let mut at = self.begin(start);
        let start_of_line = [self.line_end, b'-', b'-'];
        let finder = memchr::memmem::Finder::new(&start_of_line);
        while at < self.bytes.len() {
            // `at` is the start of a line.
            if let Some((place, length)) = self.boundaries.find(&self.bytes[at..], &self.open) {
                at = self.read_delimiter(at, place, length);
                continue;
            }
            match finder.find(&self.bytes[at..]) {
                Some(before) => at += before + 1,
                None => break,
            }
        }
        self.close_above(0, self.bytes.len());
    }

    /// Reads the line at `at`, a delimiter of the multipart at `place`, whose `--` and boundary have this `length`.
    /// Returns the offset to continue at.
    fn read_delimiter(&mut self, at: usize, place: usize, length: usize) -> usize {
        let line = &self.bytes[at..];
        let mut close = line[length..].starts_with(b"--");
        if !close && self.entities.len() > most_parts(self.bytes.len()) {
            self.diagnostics.push(too_deep(Span::at(at)));
            close = true;
        }
        let next = memchr::memchr(self.line_end, line).map_or(self.bytes.len(), |n| at + n + 1);
        let mut end = self.before_line_end(at);
        if let Some(Multipart {
            state: MultipartState::Part(start),
            ..
        }) = self.open[place].multipart
        {
            end = end.max(start);
        }
        self.close_above(place + 1, end);
        if let Some(multipart) = &mut self.open[place].multipart {
            multipart.state = if close {
                self.boundaries.close(&multipart.boundary, place);
                MultipartState::Epilogue
            } else {
                MultipartState::Part(next)
            };
        }
        if close { next } else { self.begin(next) }
    }

    /// The end of the content before the delimiter at `at`, without the line end that belongs to the delimiter.
    fn before_line_end(&self, at: usize) -> usize {
        let content = &self.bytes[..at];
        let content = content.strip_suffix(b"\n").unwrap_or(content);
        content.strip_suffix(b"\r").unwrap_or(content).len()
    }

    /// Begins the entity at `start`, and the messages directly inside it. Returns the start of its content.
    fn begin(&mut self, start: usize) -> usize {
        let mut at = start;
        loop {
            let is_delimiter = |line: usize| {
                self.boundaries
                    .find(&self.bytes[line..], &self.open)
                    .is_some()
            };
            let (heading, body) =
                Heading::read_at(self.bytes, at, self.line_end, Some(is_delimiter));
            at = body;
            if !self.push(heading, body) {
                return at;
            }
        }
    }

    /// Opens an entity. Returns true if its body begins with a message.
    fn push(&mut self, heading: Heading, body: usize) -> bool {
        let depth = self.open.len();
        let entity = self.entities.len();
        let (name, parent, digest, signed, is_in_quoted_printable) = match self.open.last_mut() {
            None => (Arc::clone(&self.name), None, false, false, false),
            Some(open) => {
                open.children += 1;
                let parent = &self.entities[open.entity];
                let digest = parent.media_type.essence == "multipart/digest";
                let name = if depth > DEEPEST_NAME {
                    format!("{}#{entity}", self.name).into()
                } else {
                    entity_name(&parent.name, open.children)
                };
                let is_in_quoted_printable = parent.is_in_quoted_printable
                    || parent.transfer_encoding == TransferEncoding::QuotedPrintable;
                (
                    name,
                    Some(open.entity),
                    digest,
                    parent.signed,
                    is_in_quoted_printable,
                )
            }
        };
        let media_type = self.media_type(&heading, digest);
        let transfer_encoding = self.transfer_encoding(&heading);
        self.diagnostics.extend(not_fields(&heading));
        let kind = self.kind(&media_type, transfer_encoding, &heading);
        let multipart = match (kind, media_type.boundary()) {
            (EntityKind::Multipart, Some(boundary)) => {
                self.boundaries.open(boundary, self.open.len());
                Some(Multipart {
                    boundary: boundary.into(),
                    state: MultipartState::Preamble,
                })
            }
            _ => None,
        };
        self.entities.push(Entity {
            name,
            parent,
            heading,
            body: Span::at(body),
            signed: signed || is_signed_or_encrypted(&media_type),
            is_in_quoted_printable,
            media_type,
            transfer_encoding,
            kind,
        });
        self.open.push(OpenEntity {
            entity,
            children: 0,
            multipart,
        });
        kind == EntityKind::Message
    }

    /// The first field called `name`; further ones are reported.
    fn single(&mut self, heading: &Heading, name: &str) -> Option<Field> {
        let mut fields = heading.all(self.bytes, name);
        let first = fields.next()?;
        if let Some(second) = fields.next() {
            self.diagnostics
                .push(Diagnostic::repeated(name, second.span));
        }
        Some(first)
    }

    fn media_type(&mut self, heading: &Heading, digest: bool) -> MediaType {
        let Some(field) = self.single(heading, "Content-Type") else {
            return if digest {
                MediaType::RFC822
            } else {
                MediaType::PLAIN
            };
        };
        let Some(media_type) = MediaType::read(&self.bytes[field.value.range()]) else {
            return MediaType::PLAIN;
        };
        if media_type.too_long {
            let message = "this Content-Type is too long; its continued parameters were not joined";
            self.diagnostics
                .push(Diagnostic::new(Code::FieldTooLong, field.span, message));
        }
        media_type
    }

    fn transfer_encoding(&mut self, heading: &Heading) -> TransferEncoding {
        let field = self.single(heading, "Content-Transfer-Encoding");
        field.map_or(TransferEncoding::SevenBit, |field| {
            TransferEncoding::from_field(&self.bytes[field.value.range()])
        })
    }

    fn kind(
        &mut self,
        media_type: &MediaType,
        encoding: TransferEncoding,
        heading: &Heading,
    ) -> EntityKind {
        let multipart = media_type.essence.starts_with("multipart/");
        let message = matches!(&*media_type.essence, "message/rfc822" | "message/global");
        if !multipart && !message {
            return EntityKind::Leaf;
        }
        if multipart && media_type.boundary().is_some() {
            return EntityKind::Multipart;
        }
        let is_hidden = hides_content(encoding);
        if is_hidden || (message && !encoding.is_identity()) {
            self.diagnostics
                .push(self.encoded(heading, media_type, !is_hidden));
        }
        if is_hidden {
            return EntityKind::Opaque;
        }
        if message {
            return EntityKind::Message;
        }
        let text = format!("this {media_type} has no boundary; its content was not read");
        let place = self.content_type(heading);
        self.diagnostics
            .push(Diagnostic::new(Code::BoundaryMissing, place, text));
        EntityKind::Opaque
    }

    /// The place of the `Content-Type` in `heading`, or else of all fields.
    fn content_type(&self, heading: &Heading) -> Span {
        heading
            .first(self.bytes, "Content-Type")
            .map_or(heading.span, |field| field.span)
    }

    /// The diagnostic for a composite type with a transfer encoding (RFC 2045, 6.4). `is_read` is true if its content
    /// was read nevertheless.
    fn encoded(&self, heading: &Heading, media_type: &MediaType, is_read: bool) -> Diagnostic {
        let encoding_and_content = if is_read {
            "have a transfer encoding (RFC 2045, 6.4); its content was read as it stands"
        } else {
            "be in base64 or quoted-printable (RFC 2045, 6.4); its content was not read"
        };
        let message = format!("{media_type} must not {encoding_and_content}");
        Diagnostic::new(Code::CompositeEncoded, self.content_type(heading), message)
    }

    /// Closes the open entities from `place` on, at the end of their content.
    fn close_above(&mut self, place: usize, end: usize) {
        while self.open.len() > place {
            let Some(open) = self.open.pop() else { return };
            let entity = &mut self.entities[open.entity];
            entity.end_at(end);
            if entity.heading.separator.is_empty() && !entity.body.is_empty() {
                self.diagnostics.push(separator_missing(entity.body.start));
            }
            let Some(multipart) = open.multipart else {
                continue;
            };
            let is_found = multipart.state != MultipartState::Preamble;
            let encoding = entity.transfer_encoding;
            let is_hidden = !is_found && hides_content(encoding);
            if !is_found {
                entity.kind = EntityKind::Opaque;
            }
            if is_hidden || (is_found && !encoding.is_identity()) {
                let Entity {
                    heading,
                    media_type,
                    ..
                } = &self.entities[open.entity];
                self.diagnostics
                    .push(self.encoded(heading, media_type, is_found));
            }
            if multipart.state == MultipartState::Epilogue {
                continue;
            }
            self.boundaries.close(&multipart.boundary, self.open.len());
            let (code, message) = match (is_found, is_hidden) {
                (true, _) => (Code::CloseMissing, "this multipart has no close delimiter"),
                (false, true) => continue,
                (false, false) => (
                    Code::BoundaryNotFound,
                    "this multipart does not contain its boundary; its content was not read",
                ),
            };
            let place = self.content_type(&self.entities[open.entity].heading);
            self.diagnostics.push(Diagnostic::new(code, place, message));
        }
    }
}

/// True for an encoding in which no delimiter or header field need be visible.
fn hides_content(encoding: TransferEncoding) -> bool {
    matches!(
        encoding,
        TransferEncoding::QuotedPrintable | TransferEncoding::Base64
    )
}

/// True if a line of `text` begins OpenPGP armor (RFC 9580, 6.2), which must not change.
fn has_armor(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"-----BEGIN PGP ").any(|at| {
        let kind = &text[at + "-----BEGIN PGP ".len()..];
        (at == 0 || matches!(text[at - 1], b'\n' | b'\r'))
            && (kind.starts_with(b"MESSAGE") || kind.starts_with(b"SIGNED MESSAGE"))
    })
}

/// True for the media types of signed or encrypted content, which must not change (RFC 1847, 2.1; S/MIME, RFC 8551;
/// OpenPGP, RFC 3156).
fn is_signed_or_encrypted(media_type: &MediaType) -> bool {
    const TYPES: &str = "multipart/signed multipart/encrypted \
        application/pkcs7-mime application/x-pkcs7-mime application/pkcs7-signature application/x-pkcs7-signature \
        application/pgp application/pgp-encrypted application/pgp-signature";
    is_among(media_type.essence.as_bytes(), TYPES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXTS: [&str; 13] = [
        "", "b", "b1", "b--", "b 1", "-", "--", "a", "ab\n", "a\r", " ", "b1--x", "\u{e9}",
    ];

    proptest! {
        /// Checks that a line belongs to the longest of several boundaries, and to the innermost of equal ones,
        /// even if boundaries share a prefix.
        #[test]
        fn a_line_matches_the_longest_open_boundary(
            boundaries in prop::collection::vec(prop::sample::select(TEXTS.to_vec()), 1..12),
            line in prop::collection::vec(prop::sample::select(TEXTS.to_vec()), 0..4),
            closed in prop::collection::vec(0_usize..12, 0..8),
            reopened in prop::collection::vec(prop::sample::select(TEXTS.to_vec()), 0..3),
        ) {
            let (mut all, mut open) = (Boundaries::new(), Vec::new());
            let add = |all: &mut Boundaries, open: &mut Vec<OpenEntity>, boundary: &str| {
                all.open(boundary.as_bytes(), open.len());
                let boundary = boundary.as_bytes().into();
                let multipart = Some(Multipart { boundary, state: MultipartState::Preamble });
                open.push(OpenEntity { entity: open.len(), children: 0, multipart });
            };
            boundaries.iter().for_each(|boundary| add(&mut all, &mut open, boundary));
            for &place in &closed {
                if let Some(boundary) = boundaries.get(place) {
                    all.close(boundary.as_bytes(), place);
                }
            }
            reopened.iter().for_each(|boundary| add(&mut all, &mut open, boundary));
            let line = line.concat();
            let length = |place: usize| {
                let boundary = &*open[place].multipart.as_ref()?.boundary;
                let rest = line.as_bytes().strip_prefix(boundary)?;
                // A line end inside a boundary can never match.
                let is_line = memchr::memchr2(b'\r', b'\n', boundary).is_none();
                (is_line && ends_boundary(rest)).then_some(boundary.len() + 2)
            };
            let is_open = |place: &usize| *place >= boundaries.len() || !closed.contains(place);
            let places = (0..open.len()).filter(is_open);
            let longest = places.filter_map(|place| Some((length(place)?, place))).max();
            let expected = longest.map(|(length, place)| (place, length));
            prop_assert_eq!(all.find(&[b"--", line.as_bytes()].concat(), &open), expected);
        }
    }
}
