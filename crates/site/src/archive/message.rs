//! The parts of a message as resources, for MHTML archives and for mail with images.
//!
//! A part has the URL in its `Content-Location`, resolved like a link in the part (RFC 2557, 5), and a `cid:` URL
//! with its `Content-ID` (RFC 2392). If neither a heading nor the retrieval URL gives a base, the links of a part are
//! relative to its own `file:` URL or, without one, to [`THIS_MESSAGE`].
//!
//! ```
//! use baselink_rewrite::Options;
//! use baselink_site::archive::message::resources;
//! let message = b"Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n<img src=cid:i@a>\n\
//!     --b\nContent-Type: image/png\nContent-ID: <i@a>\nContent-Transfer-Encoding: base64\n\niVBORw==\n--b--\n";
//! let parts: Vec<_> = resources(message, &Options::default()).collect();
//! let page = parts[0].part().unwrap();
//! assert_eq!(&*page.base, "thismessage:/");
//! let image = &parts[1].resource().unwrap().capture;
//! assert_eq!((&*image.url, parts[1].bytes()), ("cid:i@a", &b"\x89PNG"[..]));
//! ```
//!
//! When Chromium saves a page, it stores style sheets and frames as parts and refers to them by `cid:` URLs. Such a
//! part has the base of the page that refers to it, like the original `<style>` or `srcdoc` (HTML, 2.4.1).
//!
//! Deliberately absent: alternatives other than the preferred one (RFC 2046, 5.1.4), and `message/external-body`.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use baselink_rewrite::{
    BaseChain, Options, Referrers, Rule, Source,
    base::{Outer, establish},
    container::{Entity, EntityKind, Structure, entities},
};
use baselink_scan::{Document, MediaType, ScanOptions, UrlField, html::saved::saved, scan_as};
use baselink_text::{
    Code, Format, Span,
    format::starts_with,
    layer::{
        escape::percent_encode,
        transfer::{Obstacle, TransferEncoding},
    },
};
use baselink_url::{Base, reference};

use super::entry::{ArchivedResource, Entry, MessagePart, Wanted};
use crate::collection::{
    capture::{Capture, CaptureDate},
    in_scope, normal,
    origin::names,
    without_query,
};

/// The base of parts that have no other base and no `file:` URL. "This base URL has been defined for the sole purpose
/// of resolving relative references within a multipart/related structure when no other base URI is specified" (RFC
/// 2557, 5).
pub const THIS_MESSAGE: &str = "thismessage:/";

/// A part of a message that is a resource.
struct PartDraft<'m> {
    /// The index of the entity, or no index for a style sheet in a `data:` URL.
    index: usize,
    /// The name of the entity: `1.2`, or `""` for the message itself.
    entity: Arc<str>,
    /// The name of the part among the resources, if another part has the same first URL: a `cid:` URL, or a made-up
    /// URL. Links to that URL lead to the root if it has the URL, or else to the last part in the same multipart, as in
    /// Chromium.
    key: Option<String>,
    scoped: Vec<String>,
    /// The URLs, at least one. The first is from `Content-Location`, or else a `cid:` URL. A part with neither has
    /// a made-up URL: [`THIS_MESSAGE`], the number of the entity and its file name.
    urls: Vec<String>,
    /// The media type with its parameters.
    media_type: MediaType,
    /// The content without transfer encoding, or the reason why it cannot be decoded.
    body: Result<Cow<'m, [u8]>, Obstacle>,
    /// True if the message ends within the part.
    is_cut: bool,
    is_root: bool,
}

/// The parts of `message` that are resources, in order, for a command that wants all captures. `options` provide the retrieval
/// URL, the resolver, the use of `Content-Location`, and the charset of pages whose heading declares none. The entity in `options`
/// is the number of the message among several: each part then has a made-up name, and its URLs answer only links of the same message.
/// Time and memory are linear in the size of the message.
pub fn resources(message: &[u8], options: &Options) -> impl Iterator<Item = Entry> {
    let number = &*options.scan.entity;
    let structure = &entities(message);
    let made_up = |entity: &Entity| {
        let file = file_name(message, entity).unwrap_or_default();
        made_up_url(&numbered(number, &entity.name), &file)
    };
    let (opened, is_unused) = opened_parts(message, structure);
    let root = opened.filter(|index| is_document(&structure.entities[*index]));
    let mut chains: Vec<BaseChain> = Vec::with_capacity(structure.entities.len());
    // The bases of the contents of pages that refer to parts taken out of them.
    let (mut referrers, mut referring) = (
        Referrers::of(structure, |entity| labels(message, entity)),
        HashMap::new(),
    );
    let mut diagnostics = structure.diagnostics.iter();
    let is_open = diagnostics.any(|one| one.code == Code::CloseMissing);
    let field = |name| {
        let field = structure.entities[0].heading.first(message, name)?;
        Some(field.text(message))
    };
    let date = field("Date").and_then(|date| CaptureDate::of_message(&date));
    let subject = field("Subject").unwrap_or_default();
    let mut parts = Vec::new();
    for (index, entity) in structure.entities.iter().enumerate() {
        let chain = |at| referring.get(&at).unwrap_or(&chains[at]);
        let mut chain = referrers.base_of(message, structure, index, options, chain);
        if entity.kind == EntityKind::Leaf && !is_unused[index] {
            let mut part = PartDraft {
                index,
                entity: numbered(number, &entity.name),
                key: (!number.is_empty()).then(|| made_up(entity)),
                scoped: Vec::new(),
                urls: Vec::new(),
                media_type: structure.media_type(message, index, None).into_owned(),
                body: entity.decode(message).map(|decoded| decoded.bytes),
                is_cut: is_open && entity.body.end == message.len(),
                is_root: root == Some(index),
            };
            let text = part.body.as_deref().unwrap_or_default();
            let may_have_note = chain.base.is_none() || referrers.referrer(index).is_some();
            let note = may_have_note.then(|| saved(text)).flatten();
            if let Some(noted) = options.noted(note.as_ref()) {
                (chain.base, chain.source) = (Some(noted.url.as_str().into()), noted.source);
                part.urls.push(noted.url);
            }
            if referrers.add(index, part.media_type.format(), text)
                && let Some(page) = scanned(&part, options, b"cid:")
            {
                let of_content = establish(&page, Outer::Heading(&chain), options.resolver);
                referring.insert(index, of_content);
            }
            parts.push(part);
        }
        chains.push(chain);
    }
    // Labels are relative to the bases of headings, not to those that pages note.
    let of_heading = |index: usize| {
        chains[index]
            .base
            .as_deref()
            .filter(|_| chains[index].rule != Rule::Default)
    };
    let root = root.and_then(of_heading);
    let mut room = (64 << 10) + 16 * message.len();
    for part in &mut parts {
        let entity = &structure.entities[part.index];
        let bases = (of_heading(part.index), root);
        let mut labels = urls(message, entity, bases, options);
        // A long base may be repeated in many labels.
        labels.retain(|label| {
            let is_short = label.len() <= room;
            room -= if is_short { label.len() } else { 0 };
            is_short
        });
        if labels.is_empty() {
            labels.push(made_up(entity));
        }
        part.urls.append(&mut labels);
    }
    let has_scopes = tell_apart(&mut parts, structure, number);
    add_data_sheets(&mut parts, options);
    let entry = move |(number, part): (u64, PartDraft<'_>)| {
        let entry = Entry::at(number);
        let Ok(body) = part.body else {
            let why = "the transfer encoding of this part cannot be decoded; skipped";
            return entry.noting(Code::TransferUndecodable, why);
        };
        let is_text = part.is_root || part.media_type.essence == "text/plain";
        let chain = chains.get(part.index);
        let (base, source) = match chain.and_then(|chain| Some((chain, chain.base.as_ref()?))) {
            Some((chain, base)) => {
                let declared = chain.declared.as_ref();
                let source = declared.map_or(chain.source, |outer| outer.source);
                (Arc::clone(base), source)
            }
            // Parts may refer to each other by `file:` URLs of the author's machine. Such a URL becomes the base, so that the
            // other parts are found, but it has no source: URLs resolved against it are meaningless outside the message.
            None => {
                let own = &*part.urls[0];
                let is_file = reference::opaque_scheme(own).as_deref() == Some("file");
                let base = if is_file { own } else { THIS_MESSAGE };
                (base.into(), Source::Default)
            }
        };
        let capture = Capture {
            key: part.key.map(Into::into),
            entity: has_scopes.then(|| Arc::clone(&part.entity)),
            date,
            is_cut: part.is_cut,
            ..Capture::of(&part.urls[0])
        };
        let redirect = |url: &str| Capture {
            status: 301,
            location: capture.key.clone().or_else(|| Some(capture.url.clone())),
            ..Capture::of(url)
        };
        let scoped = part.scoped.into_iter().map(|key| Capture {
            key: Some(key.into()),
            ..redirect(&capture.url)
        });
        let redirects = part.urls[1..].iter().map(|url| redirect(url));
        let redirects = redirects.chain(scoped).collect();
        let resource = ArchivedResource {
            source,
            capture,
            part: Some(MessagePart {
                entity: part.entity,
                subject: (is_text && opened == Some(part.index)).then(|| subject.clone()),
                redirects,
                base,
            }),
            body: body.into_owned(),
            media_type: Some(part.media_type),
            charset: None,
        };
        let mut entry = entry.holding(resource, options, Wanted::Captures);
        entry.options.scan.entity = Arc::default();
        entry
    };
    (0..).zip(parts).map(entry)
}

/// The name of the entity called `name` in the message with this number among several, if any: `3/1.2`. The number and the name may
/// be empty.
pub fn numbered(number: &str, name: &str) -> Arc<str> {
    let mut names = vec![number, name];
    names.retain(|one| !one.is_empty());
    names.join("/").into()
}

/// The number of levels of sheets in sheets that are read. Each may be nearly as long as the one around it, and a deeper one may
/// lead anywhere.
pub const NESTED: usize = 4;

/// Adds the style sheets that pages and sheets contain as `data:` URLs (RFC 2397), as monolith writes them. No reference leads
/// from such a URL to a file, so a sheet that may need other parts becomes a file itself.
fn add_data_sheets(parts: &mut Vec<PartDraft<'_>>, options: &Options) {
    let (mut known, mut first) = (HashSet::new(), 0);
    for _ in 0..NESTED {
        let mut found = Vec::new();
        for part in &parts[first..] {
            let page = scanned(part, options, b"data:text/css");
            for link in page.into_iter().flat_map(|page| page.links) {
                let url = link.reference;
                if let Some((media_type, body)) = data_of(&url)
                    && media_type.format() == Format::Css
                    && memchr::memchr2(b'(', b'@', &body).is_some()
                    && known.insert(url.clone())
                {
                    found.push(PartDraft {
                        index: usize::MAX,
                        entity: Arc::clone(&part.entity),
                        key: None,
                        scoped: Vec::new(),
                        urls: vec![url],
                        media_type,
                        body: Ok(body.into()),
                        is_root: false,
                        ..*part
                    });
                }
            }
        }
        first = parts.len();
        parts.append(&mut found);
    }
}

/// The media type and the data of the `data:` URL `url` (Fetch, 6).
pub fn data_of(url: &str) -> Option<(MediaType, Vec<u8>)> {
    let url = url.replace(['\t', '\n', '\r'], "");
    let (scheme, data) = url.trim_start().split('#').next()?.split_once(':')?;
    let (head, data) = data.split_once(',')?;
    if !scheme.eq_ignore_ascii_case("data") {
        return None;
    }
    let mut body = names::decode(data);
    let end = head.rsplit_once(';');
    if end.is_some_and(|(_, last)| last.trim().eq_ignore_ascii_case("base64")) {
        let decoded = TransferEncoding::Base64.decode(&body, Span::new(0, body.len()));
        body = decoded.ok()?.bytes.into_owned();
    }
    let media_type = MediaType::read(head.as_bytes())
        .or_else(|| MediaType::read(format!("text/plain;{head}").as_bytes()))?;
    Some((media_type, body))
}

/// The document that is the content of `part`, if it contains `word`.
fn scanned(part: &PartDraft<'_>, options: &Options, word: &[u8]) -> Option<Document> {
    let text = part.body.as_ref().ok()?;
    memchr::memmem::find(text, word)?;
    let scan = ScanOptions {
        entity: Arc::clone(&part.entity),
        charset: part.media_type.charset().or(options.scan.charset),
        ..ScanOptions::default()
    };
    scan_as(part.media_type.format(), text, &scan)
}

/// Gives names to parts whose URLs other parts have too, as all do in a message with a `number`. Returns true if there are such
/// parts.
fn tell_apart(parts: &mut [PartDraft<'_>], structure: &Structure, number: &str) -> bool {
    let mut counts: HashMap<String, u32> = HashMap::new();
    let normal = |url: &str| normal(url).map_or_else(|| url.to_owned(), Cow::into_owned);
    for url in parts.iter().flat_map(|part| &part.urls) {
        *counts.entry(normal(url)).or_default() += 1;
    }
    let is_shared = |url: &String| !number.is_empty() || counts[&normal(url)] > 1;
    let has_scopes = !number.is_empty() || counts.values().any(|count| *count > 1);
    let (mut taken, mut of_root) = (HashSet::new(), Vec::new());
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| !parts[*at].is_root);
    for at in order {
        let part = &mut parts[at];
        if !taken.insert(normal(&part.urls[0])) && number.is_empty() {
            let own = part.urls[1..].iter().find(|url| !is_shared(url));
            let made_up = || made_up_url(&part.entity, file_name_of(&part.urls[0]));
            part.key = Some(normal(&own.cloned().unwrap_or_else(made_up)));
        }
        if let Some(parent) = structure.entities[part.index].parent {
            let around = numbered(number, &structure.entities[parent].name);
            let shared = part.urls.iter().filter(|url| is_shared(url));
            let scoped = shared.map(|url| in_scope(&normal(url), &around));
            part.scoped = scoped.filter(|key| !of_root.contains(key)).collect();
            if part.is_root {
                of_root.clone_from(&part.scoped);
            }
        }
    }
    has_scopes
}

/// The part to open in a message; and for each entity, true if it belongs to an alternative that is not opened.
fn opened_parts(message: &[u8], structure: &Structure) -> (Option<usize>, Vec<bool>) {
    let entities = &structure.entities;
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); entities.len()];
    for (index, entity) in entities.iter().enumerate() {
        if let Some(parent) = entity.parent {
            children[parent].push(index);
        }
    }
    let is_page = |index: &usize| entities[*index].media_type.format().is_page();
    // The part to open in each entity, computed for inner entities first.
    let mut opened: Vec<Option<usize>> = vec![None; entities.len()];
    let mut alternative: Vec<Option<usize>> = vec![None; entities.len()];
    for (index, entity) in entities.iter().enumerate().rev() {
        let inside = || children[index].iter().copied();
        let has_page = |child: &usize| opened[*child].as_ref().is_some_and(is_page);
        opened[index] = match (entity.kind, &*entity.media_type.essence) {
            (EntityKind::Leaf, _) => (!is_attachment(message, entity)).then_some(index),
            (EntityKind::Opaque, _) => None,
            (EntityKind::Multipart, "multipart/related") => {
                let start = entity.media_type.parameter("start").map(in_brackets);
                let is_start = |child: &usize| {
                    start.is_some() && content_id(message, &entities[*child]).as_deref() == start
                };
                // `type` is the media type of the root (RFC 2387, 3.1), which some programs do not write first.
                let kind = entity.media_type.parameter("type").unwrap_or_default();
                let is_of_kind = |child: &usize| {
                    entities[*child]
                        .media_type
                        .to_string()
                        .eq_ignore_ascii_case(kind)
                };
                let root = inside()
                    .find(is_start)
                    .or_else(|| inside().find(is_of_kind));
                let root = root.or_else(|| inside().next());
                // The disposition of a part is ignored in a `multipart/related` (RFC 2387, 4).
                root.and_then(|root| {
                    opened[root].or((entities[root].kind == EntityKind::Leaf).then_some(root))
                })
            }
            (EntityKind::Multipart | EntityKind::Message, essence) => {
                let page = if essence == "multipart/alternative" {
                    // If no alternative is a page, all of them are kept.
                    alternative[index] = inside().rfind(has_page);
                    alternative[index]
                } else {
                    inside().find(has_page)
                };
                page.or_else(|| inside().next())
                    .and_then(|child| opened[child])
            }
        };
    }
    let mut is_unused = vec![false; entities.len()];
    for (index, entity) in entities.iter().enumerate() {
        if let Some(parent) = entity.parent {
            let is_other = alternative[parent].is_some_and(|chosen| chosen != index);
            is_unused[index] = is_unused[parent] || is_other;
        }
    }
    (opened.first().copied().flatten(), is_unused)
}

/// True if `entity` is a document with links in a browser.
fn is_document(entity: &Entity) -> bool {
    let format = entity.media_type.format();
    format.is_page() || matches!(format, Format::Svg | Format::Xml)
}

/// True if `entity` is an attachment (RFC 2183, 2.2).
fn is_attachment(message: &[u8], entity: &Entity) -> bool {
    let disposition = entity.heading.first(message, "Content-Disposition");
    disposition.is_some_and(|field| starts_with(&message[field.value.range()], "attachment"))
}

/// The `Content-ID` of `entity` without its angle brackets.
fn content_id(message: &[u8], entity: &Entity) -> Option<String> {
    let value = entity.heading.first(message, "Content-ID")?.text(message);
    Some(in_brackets(&value).to_owned()).filter(|id| !id.is_empty())
}

/// The `cid:` URLs of `entity`. RFC 2392, 2, requires percent-encoding of "any characters that are not allowed in URLs", but few
/// programs encode them, so there are two.
fn cid_urls(message: &[u8], entity: &Entity) -> Vec<String> {
    let urls = |id: String| {
        let encoded = percent_encode(&id, |c| {
            !(c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@".contains(c))
        });
        vec![format!("cid:{encoded}"), format!("cid:{id}")]
    };
    content_id(message, entity).map_or_else(Vec::new, urls)
}

/// The labels of a style sheet or page that may have been taken out of another page.
fn labels(message: &[u8], entity: &Entity) -> Vec<String> {
    let format = entity.media_type.format();
    if entity.kind != EntityKind::Leaf || !(format.is_page() || format == Format::Css) {
        return Vec::new();
    }
    let location = entity.heading.url(message, UrlField::ContentLocation);
    let location = location.map(|label| label.url.to_string());
    location
        .into_iter()
        .chain(cid_urls(message, entity))
        .collect()
}

/// The text between `<` and `>`, or else the whole text.
fn in_brackets(value: &str) -> &str {
    let inside = value.split_once('<').map_or(value, |(_, rest)| rest);
    inside
        .split_once('>')
        .map_or(inside, |(inside, _)| inside)
        .trim()
}

/// The labels of a part, which are URLs. Its heading gives the base `own`, and that of the document to open gives `root`. References
/// with the text of a label always match (RFC 2557, 8.2), so a label without a base has that of the document, too.
fn urls(
    message: &[u8],
    entity: &Entity,
    (own, root): (Option<&str>, Option<&str>),
    options: &Options,
) -> Vec<String> {
    let mut urls = Vec::new();
    let location = entity.heading.url(message, UrlField::ContentLocation);
    if let Some(label) = location
        .map(|label| label.url)
        .filter(|url| !url.is_empty())
    {
        let bases = [own.or(root), own.is_none().then_some(THIS_MESSAGE)];
        urls.extend(bases.into_iter().flatten().map(|base| {
            let target = Base::new(options.resolver, base).resolve(&label);
            target.map_or_else(|_| label.to_string(), |target| target.url)
        }));
    }
    urls.extend(cid_urls(message, entity));
    let mut seen = HashSet::new();
    urls.retain(|url| seen.insert(url.clone()));
    urls
}

/// A URL for the part `entity` with this file name: `thismessage:/2/a.png`.
fn made_up_url(entity: &str, file: &str) -> String {
    let file = percent_encode(file, |c| !(c.is_ascii_alphanumeric() || "-._~".contains(c)));
    format!("{THIS_MESSAGE}{}", numbered(entity, &file))
}

/// The last segment of the path of `url`.
pub(super) fn file_name_of(url: &str) -> &str {
    let mut names = without_query(url).rsplit(['/', ':']);
    names.next().unwrap_or_default()
}

/// The original file name of a part: `filename` of its disposition (RFC 2183, 2.3), or `name` of its media type.
fn file_name(message: &[u8], entity: &Entity) -> Option<String> {
    let disposition = entity
        .heading
        .first(message, "Content-Disposition")
        .and_then(|field| {
            // The parameters have the syntax of those of a media type.
            MediaType::read(&[b"disposition/", &message[field.value.range()]].concat())
        });
    let name = disposition
        .as_ref()
        .and_then(|value| value.parameter("filename"));
    let name = name.or_else(|| entity.media_type.parameter("name"))?;
    let last = name.rsplit(['/', '\\']).next()?;
    (!last.chars().all(|c| c == '.')).then(|| last.to_owned())
}
