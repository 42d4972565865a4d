//! Adaptations: the changes other than URLs that a copy out of a web archive needs to work from disk (`file:`).
//!
//! On the web, the document had an HTTP heading and an origin. A file has neither. These changes are therefore made,
//! each by the smallest possible edit:
//!
//! - The encoding from the heading is declared: by `<meta charset>` (HTML, 4.2.5.4), by `@charset` (CSS Syntax 3,
//!   3.2), in the XML declaration (XML 1.0, 4.3.3), or by a byte order mark for UTF-16.
//! - `integrity` (Subresource Integrity) and `crossorigin` (HTML, 2.5.4) are removed from an element with a local
//!   target, because they make browsers use CORS, which fails for files.
//! - A `<meta http-equiv=Content-Security-Policy>` (CSP 3, 3.3) that allows hosts but not files is disabled: its
//!   attribute becomes `data-http-equiv`.
//! - The `shadowmode` with which Chromium writes a shadow root into MHTML becomes `shadowrootmode` (HTML, 4.12.3), and
//!   `shadowdelegatesfocus` its counterpart.
//! - An image candidate without a file gets the descriptor of the candidate whose file it leads to.
//! - A page of a message, as in MHTML, runs no scripts and loads nothing from the network: it gets a policy for that, and a
//!   refresh to the network is disabled: its attribute becomes `data-http-equiv`. What no policy prevents leads nowhere by
//!   [`localize`](mod@super::localize).
//!
//! `docs/saved-pages.md` lists the restrictions of browsers.
//!
//! ```
//! use baselink_rewrite::Options;
//! use baselink_site::purpose::{adapt::adapted, words::Words};
//! use baselink_text::Charset;
//! let page = b"<head><script src=x.js integrity='sha256-eA==' defer></script>";
//! let mut options = Options::default();
//! options.scan.charset = Some(Charset::UTF_8);
//! let (edits, tally) = adapted(page, Words::of_adaptations(page), &options, true);
//! assert_eq!(edits.apply(page), b"<head><meta charset=\"UTF-8\"><script src=x.js defer></script>");
//! assert_eq!(tally.sum(|_| true), 2);
//! ```
//!
//! Deliberately absent: URLs, which [`localize`](mod@super::localize) rewrites first; documents inside a document
//! (`srcdoc`, `noscript`); tags in UTF-16 and ISO-2022-JP; and what browsers never load from disk, such as module scripts, which
//! is counted.

use std::{borrow::Cow, sync::LazyLock};

use baselink_rewrite::{Options, SourceKind};
use baselink_scan::{
    ScanOptions, Scanner,
    attributes::Namespace,
    html::{
        engines, prelude,
        references::character_references,
        sink::{Sink, TextModel},
        tag::{self, RawAttribute, RawTag},
        walk::{self, Names},
    },
    value,
    xml::tokens::{self, Event},
};
use baselink_text::{
    Charset, Detected, Edits, Format, Span, View,
    layer::{charset::Declaration, escape, xml as xml_text},
};
use baselink_url::{Category, reference::placeholder};

use super::{
    spelling::category,
    tally::{Adaptation, Counted, Tally},
    words::{Word, Words},
};

/// The encoding of a document; `None` for a format without adaptations.
fn encoding(bytes: &[u8], options: &Options) -> Option<Detected> {
    let charset = options.scan.charset;
    match options.format {
        Format::Html => Some(prelude::encoding(bytes, &options.scan)),
        Format::Xhtml | Format::Svg | Format::Xml => Some(Charset::detect_xml(bytes, charset)),
        Format::Css => Some(Charset::detect_style_sheet(bytes, charset)),
        _ => None,
    }
}

/// A policy (CSP 3, 3.3) that allows no scripts, and resources only from the folder of the document.
const QUIET: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self' file: data: blob: 'unsafe-inline'; \
    script-src 'none'\"/><meta http-equiv=\"x-dns-prefetch-control\" content=\"off\"/>";

/// The number of bytes in which a declaration of the encoding must be (HTML, 4.2.5.4).
const PRESCANNED: usize = 1_024;

/// True if a document is a part of a message, whose copy runs no scripts and loads nothing from the network.
pub fn is_of_message(options: &Options) -> bool {
    use SourceKind::{Entity, Heading, None, Snapshot};
    let source = options.retrieval.as_ref().map(|one| one.source.kind());
    matches!(source, Some(Heading | Snapshot | Entity | None))
}

/// Adapts a document with these `words` whose links already lead to files, as in the output of
/// [`localize`](fn@super::localize::localize). `options` have its format, its encoding by the `Content-Type` of the HTTP heading, and
/// the source of its retrieval URL: in a part of a message, shadow roots are opened.
///
/// Returns the edits, none of which changes a URL, and the numbers of adaptations, and of items that keep browsers from loading local
/// targets from disk even after the edits. If the edits are not `made`, each removed attribute keeps browsers from that, too.
///
/// Adapting the result again, with the same encoding or without one, changes nothing. Time and memory are linear in
/// the size of the document. Formats other than HTML, XML and CSS are not adapted.
pub fn adapted(
    bytes: &[u8],
    words: Words<'_>,
    options: &Options,
    are_made: bool,
) -> (Edits, Tally) {
    let (mut changes, mut edits, mut tally) = (Vec::new(), Edits::default(), Tally::default());
    let Some(found) = encoding(bytes, options) else {
        return (edits, tally);
    };
    let is_of_message = is_of_message(options);
    let is_quiet = is_of_message && are_made;
    let policy = || quiet(bytes, options.format, &found);
    let policy = is_quiet.then(policy).flatten();
    if matches!(found.declaration, Declaration::Given | Declaration::Meta) {
        let length = PRESCANNED - QUIET.len();
        let read = &bytes[..bytes
            .len()
            .min(policy.as_ref().map_or(usize::MAX, |_| length))];
        changes.extend(declaration(bytes, read, options.format, found.charset));
    }
    // A byte order mark is the first character. A `meta` with the encoding may follow the policy.
    let is_before = found.charset.is_ascii_compatible();
    let at = if is_before { 0 } else { changes.len() };
    changes.splice(at..at, policy);
    let has_items = words.contain(Word::Item) || words.contain(Word::Pragma);
    if options.format != Format::Css && found.charset.is_ascii_compatible() && has_items {
        let tags = Tags::read(bytes, &found, options.format == Format::Html);
        tally = tags.refused;
        changes.extend(tags.changes);
        let of_messages = [Adaptation::Shadow, Adaptation::Quiet];
        changes.retain(|(kind, ..)| is_of_message || !of_messages.contains(kind));
    }
    changes.sort_by_key(|(_, span, _)| span.start);
    for (kind, span, new) in changes {
        let is_added = edits.add(span, &new);
        match kind {
            _ if are_made => tally.add(Counted::Adapted(kind), is_added),
            Adaptation::Integrity => tally.add(Counted::RefusedIntegrity, is_added),
            _ => {}
        }
    }
    (edits, tally)
}

/// True if a policy of the document with these `words` may keep browsers from using the base that it declares (CSP 3, 6.3.1, `base-uri`).
pub fn voids_base(words: Words<'_>, options: &Options) -> bool {
    let bytes = words.bytes;
    let has_both = words.contain(Word::Base) && words.contain(Word::Pragma);
    let found = encoding(bytes, options).filter(|_| has_both);
    found.is_some_and(|found| {
        !found.charset.is_ascii_compatible()
            || Tags::read(bytes, &found, options.format == Format::Html).voids_base
    })
}

/// An adaptation with its edit: a span, and the new bytes.
type Change = (Adaptation, Span, Cow<'static, [u8]>);

/// The edits that remove `integrity` (Subresource Integrity, 3.3) from the start tag of a document that contains the byte `at`.
pub fn without_integrity(bytes: &[u8], at: usize, options: &Options) -> Edits {
    let mut edits = Edits::default();
    let start = memchr::memrchr(b'<', &bytes[..at]);
    let Some(tag) = start.and_then(|start| tag::read(bytes, start)) else {
        return edits;
    };
    let tags = Tags {
        bytes,
        is_html: options.format == Format::Html,
        ..Tags::default()
    };
    let hashes = tag.attributes.iter();
    let hashes = hashes.filter(|one| tags.is_named(one, "integrity"));
    for (_, span, new) in tags.without(hashes) {
        edits.add(span, &new);
    }
    edits
}

/// The edit that adds [`QUIET`] to a page, before everything that may run or load; `None` if it is there.
fn quiet(bytes: &[u8], format: Format, found: &Detected) -> Option<Change> {
    let (place, text) = match format {
        Format::Html => {
            let place = place_in(&bytes[found.mark..], found.charset, place_in_head)?;
            (found.mark + place, QUIET.to_owned())
        }
        // Browsers obey the policy in the first `head` of a root called `html`. The page is replaced by nothing if it has another root,
        // or declarations that may add attributes and elements.
        Format::Xhtml => match place_in(bytes, found.charset, html_end) {
            Some(place) => (place, format!("<head xmlns=\"{XHTML}\">{QUIET}</head>")),
            None => {
                let whole = Span::new(0, bytes.len());
                return Some((Adaptation::Quiet, whole, b"".into()));
            }
        },
        _ => return None,
    };
    let new = found.charset.encode(&text)?;
    let is_missing = !bytes[place..].starts_with(&new);
    is_missing.then(|| (Adaptation::Quiet, Span::at(place), new.into()))
}

/// The namespace of XHTML.
const XHTML: &str = "http://www.w3.org/1999/xhtml";

/// The end of the start tag of the root of an XHTML page, if it is an `html` with contents, after no internal subset.
fn html_end(text: &[u8]) -> Option<usize> {
    let mut end = None;
    let _ = tokens::scan(text, 0, &mut |event, span| {
        let own = &text[span.range()];
        match event {
            Event::DocType(_) if own.contains(&b'[') => end = Some(None),
            Event::Start(_) | Event::Empty(_) if end.is_none() => {
                let tag = tokens::tag(text, span.start + 1, span.end - 1)?;
                let is = |part: Span, other: &str| text[part.range()] == *other.as_bytes();
                let mut attributes = tag.attributes.iter();
                let is_html = is(tag.name, "html")
                    && attributes.any(|one| is(one.name, "xmlns") && is(one.value, XHTML));
                end = Some((is_html && !own.ends_with(b"/>")).then_some(span.end));
            }
            _ => {}
        }
        Ok(())
    });
    end.flatten()
}

/// The edit that declares `charset`, the encoding from the heading. `None` if browsers use this encoding anyway, as they do for
/// `read`, the first bytes, or if it cannot be declared.
///
/// The heading takes precedence over a contradicting declaration in the document. In XML, the new declaration therefore
/// replaces the old one. In other formats it precedes the old one, because the first declaration wins.
fn declaration(bytes: &[u8], read: &[u8], format: Format, charset: Charset) -> Option<Change> {
    let without = Options {
        format,
        ..Options::default()
    };
    let found = encoding(read, &without)?;
    // An escape begins other characters in ISO-2022-JP.
    let is_ascii = bytes.is_ascii() && !bytes.contains(&b'\x1b') && charset.is_ascii_compatible();
    let text = format!("<meta charset=\"{charset}\">");
    let of_meta = Charset::detect(text.as_bytes(), None).charset;
    // UTF-16 needs a byte order mark instead of a declaration.
    let mark = charset
        .encode("\u{feff}")
        .filter(|mark| of_meta != charset && Charset::detect_plain(mark, None).charset == charset);
    // `x-user-defined` in a `meta` means windows-1252, which has the same markup (HTML, 13.2.3.2).
    let declared = if mark.is_some() { charset } else { of_meta };
    let is_certain = match (format, found.declaration) {
        // Browsers guess in different ways. Even for a page in ASCII, its resources inherit the guess.
        (Format::Html, Declaration::Assumed) => false,
        (Format::Html, _) => found.charset == declared,
        // A style sheet without a declaration inherits the encoding of the page (CSS Syntax 3, 3.2).
        (Format::Css, Declaration::Assumed) => is_ascii,
        _ => is_ascii || found.charset == charset,
    };
    if is_certain {
        return None;
    }
    let (span, new) = match (mark, format) {
        (Some(mark), _) => (Span::at(0), mark),
        (None, Format::Html) => (
            Span::at(place_in(bytes, charset, place_in_head)?),
            text.into(),
        ),
        (None, Format::Css) => (Span::at(0), format!("@charset \"{charset}\";").into()),
        (None, _) => {
            let (span, text) = xml_declaration(bytes, charset)?;
            (span, text.into())
        }
    };
    Some((Adaptation::Charset, span, new.into()))
}

/// The position in `bytes` that `find` finds in text in an encoding that extends ASCII.
fn place_in(bytes: &[u8], charset: Charset, find: fn(&[u8]) -> Option<usize>) -> Option<usize> {
    if charset.is_ascii_compatible() {
        return find(bytes);
    }
    let View { text, map } = charset.decode(bytes, 0);
    map.to_source(find(text.as_bytes())?)
}

/// The position in HTML at which a new `meta` element changes nothing else in the tree. It is after the start tag of
/// `head`, or before the first item that is not white space, a DOCTYPE, a comment, the start tag of `html` or an
/// ignored end tag. Browsers find the declaration there, even after long comments.
fn place_in_head(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_ascii_start().len();
        // Text begins the body.
        if text.get(at) != Some(&b'<') {
            return Some(at);
        }
        let Some(tag) = tag::read(text, at) else {
            // A comment, a DOCTYPE, or other markup that the tokenizer treats as a comment.
            let is_declaration = match &text[at..] {
                [b'<', b'!' | b'?', ..] => true,
                [b'<', b'/', rest @ ..] => !rest.first().is_some_and(u8::is_ascii_alphabetic),
                _ => false,
            };
            match walk::declaration_end(text, at, false).filter(|_| is_declaration) {
                Some(end) => at = end,
                None => return Some(at),
            }
            continue;
        };
        let name = text[tag.name.range()].to_ascii_lowercase();
        match (&*name, tag.end_tag) {
            (b"html", false) => at = tag.span.end,
            (b"head", false) => return Some(tag.span.end),
            // At these end tags, a parser creates the missing elements. It ignores all other end tags.
            (b"html" | b"head" | b"body" | b"br", true) | (_, false) => return Some(at),
            (_, true) => at = tag.span.end,
        }
    }
}

/// The span and the text of the edit that declares the encoding in XML: a new declaration, a new `encoding`, or a new
/// value. `None` if the present declaration is not well-formed.
fn xml_declaration(bytes: &[u8], charset: Charset) -> Option<(Span, String)> {
    let is_declaration = |text: &[u8]| {
        let rest = text.strip_prefix(b"<?xml").unwrap_or_default();
        rest.first().is_some_and(u8::is_ascii_whitespace)
    };
    if !is_declaration(bytes.trim_ascii_start()) {
        return Some((
            Span::at(0),
            format!("<?xml version=\"1.0\" encoding=\"{charset}\"?>"),
        ));
    }
    let end = memchr::memmem::find(bytes, b"?>").filter(|_| is_declaration(bytes))?;
    let attributes = tokens::tag(bytes, 2, end).ok()?.attributes;
    let is_encoding = |name: Span| &bytes[name.range()] == b"encoding";
    if let Some(encoding) = attributes
        .iter()
        .find(|attribute| is_encoding(attribute.name))
    {
        return Some((encoding.value, charset.name().to_owned()));
    }
    let after = attributes.first()?.value.end + 1;
    Some((Span::at(after), format!(" encoding=\"{charset}\"")))
}

/// The names that the walk over HTML reports: those of links, and of the attributes to adapt.
static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let names = ["integrity", "crossorigin", "http-equiv", "shadowmode"].into_iter();
    let places = names.filter_map(|name| format!("*[{name}]=url").parse().ok());
    let options = ScanOptions {
        places: places.collect(),
        ..ScanOptions::default()
    };
    Names::of(&options).into_owned()
});

/// A pass over the start tags of a document.
#[derive(Default)]
struct Tags<'a> {
    bytes: &'a [u8],
    charset: Charset,
    /// True for HTML; false for XML.
    is_html: bool,
    changes: Vec<Change>,
    refused: Tally,
    /// True if a policy restricts the base.
    voids_base: bool,
}

impl<'a> Tags<'a> {
    /// Scans `bytes` in the ASCII-compatible encoding `found`.
    fn read(bytes: &'a [u8], found: &Detected, is_html: bool) -> Self {
        let mut tags = Tags {
            bytes,
            charset: found.charset,
            is_html,
            ..Tags::default()
        };
        if is_html {
            let range = found.mark..bytes.len();
            engines::tokens(bytes, range, true, Scanner::Fast, &NAMES, &mut tags);
            return tags;
        }
        let _ = tokens::scan(bytes, found.mark, &mut |event, span| {
            let text = &bytes[span.range()];
            let is_sheet = text.starts_with(b"<?xml-stylesheet")
                && memchr::memmem::find(text, b"xsl").is_some();
            tags.refused.add(Counted::RefusedSheet, is_sheet);
            if let Event::Start(_) | Event::Empty(_) = event {
                let end = span.end - 1 - usize::from(text.ends_with(b"/>"));
                let name = tokens::tag(bytes, span.start + 1, end)?.name;
                let name = &bytes[name.range()];
                let prefix = memchr::memchr(b':', name).map_or(0, |colon| colon + 1);
                tags.element(span.start, &name[prefix..]);
            }
            Ok(())
        });
        tags
    }

    /// Processes the start tag at `at` of an element with this local `name`.
    fn element(&mut self, at: usize, name: &[u8]) {
        // The walk reports only some attributes of a tag, so the tag is read again. A tag of XML is also one of HTML.
        let Some(RawTag { attributes, .. }) = tag::read(self.bytes, at) else {
            return;
        };
        if name == b"meta" {
            let change = self.policy(&attributes);
            self.changes.extend(change);
        }
        if name == b"template" {
            let is_of_root = |one: &&RawAttribute| {
                self.is_named(one, "shadowmode") || self.is_named(one, "shadowdelegatesfocus")
            };
            let renamed = attributes.iter().filter(is_of_root).map(|one| {
                let end = Span::at(one.name.start + "shadow".len());
                (Adaptation::Shadow, end, b"root".into())
            });
            let renamed: Vec<_> = renamed.collect();
            self.changes.extend(renamed);
        }
        let kind = || self.value(&attributes, "type").unwrap_or_default();
        let is_module = |rel: String| rel.trim().eq_ignore_ascii_case("modulepreload");
        let refused = match name {
            b"use" => Some(Counted::RefusedUse),
            b"track" => Some(Counted::RefusedTrack),
            b"script" if kind().trim().eq_ignore_ascii_case("module") => {
                Some(Counted::RefusedModule)
            }
            b"link" if self.value(&attributes, "rel").is_some_and(is_module) => {
                Some(Counted::RefusedModule)
            }
            _ => None,
        };
        if let Some(what) = refused {
            self.refused.add(what, self.is_local(&attributes));
        }
        if !ELEMENTS.contains(&name) {
            return;
        }
        // The targets of `audio` and `video` may be those of their `source` elements.
        let has_sources = matches!(name, b"audio" | b"video")
            && !attributes.iter().any(|other| self.is_named(other, "src"));
        if has_sources || self.is_local(&attributes) {
            let is_removed = |attribute: &&RawAttribute| {
                self.is_named(attribute, "integrity") || self.is_named(attribute, "crossorigin")
            };
            let removed = self.without(attributes.iter().filter(is_removed));
            self.changes.extend(removed);
        }
    }

    fn is_named(&self, attribute: &RawAttribute, name: &str) -> bool {
        let written = &self.bytes[attribute.name.range()];
        match name {
            _ if self.is_html => written.eq_ignore_ascii_case(name.as_bytes()),
            // The prefix depends on the document.
            "xlink:href" => written.ends_with(b":href"),
            _ => written == name.as_bytes(),
        }
    }

    /// The decoded value of the first attribute called `name`.
    fn value(&self, attributes: &[RawAttribute], name: &str) -> Option<String> {
        let span = attributes
            .iter()
            .find(|other| self.is_named(other, name))?
            .value?;
        let view = self.charset.decode(&self.bytes[span.range()], span.start);
        Some(if self.is_html {
            character_references(view).text
        } else {
            xml_text::attribute_value(view).view.text
        })
    }

    /// True if one of the [`TARGETS`] contains a reference to a local file.
    fn is_local(&self, attributes: &[RawAttribute]) -> bool {
        TARGETS.iter().any(|name| {
            let Some(text) = self.value(attributes, name) else {
                return false;
            };
            match *name {
                "srcset" | "imagesrcset" => value::srcset(&text)
                    .iter()
                    .any(|url| leads_to_file(&text[url.range()])),
                _ => leads_to_file(value::trim(&text)),
            }
        })
    }

    /// The changes that remove these attributes from a tag.
    fn without<'w>(&self, removed: impl Iterator<Item = &'w RawAttribute>) -> Vec<Change> {
        let mut previous = (0, None);
        removed
            .map(|attribute| {
                let before = self.bytes[..attribute.name.start].trim_ascii_end();
                let last = match previous {
                    (end, last) if end == before.len() => last,
                    _ => before.last().copied(),
                };
                let end = attribute.value.map_or(attribute.name.end, |value| {
                    value.end + usize::from(attribute.quote != escape::Quote::None)
                });
                previous = (end, last);
                let span = Span::new(before.len(), end);
                self.without_attribute(span, attribute.name.start, last)
            })
            .collect()
    }

    /// The change that removes the attribute that begins at `start`, and the white space before it; `span` covers both.
    /// The white space is kept if the text before it, which ends with `last`, would merge with the text after the
    /// attribute.
    fn without_attribute(&self, span: Span, start: usize, last: Option<u8>) -> Change {
        let follows = &self.bytes[span.end..];
        let is_apart = match follows.first() {
            Some(b'>') => last != Some(b'/'),
            Some(b'/') => matches!(last, Some(b'"' | b'\'')),
            next => next.is_some_and(u8::is_ascii_whitespace),
        };
        let inside = Span::new(start, span.end);
        let (span, new) = match follows.trim_ascii_start().first() {
            // `=` begins the name of the next attribute; without a separator it would begin a value.
            Some(b'=') => (inside, "/"),
            // `/>` would end the element.
            Some(b'>') if last == Some(b'/') => (inside, " "),
            _ if is_apart => (span, ""),
            _ => (inside, ""),
        };
        (Adaptation::Integrity, span, new.as_bytes().into())
    }

    /// The edit that disables the policy or the refresh of a `meta` element.
    fn policy(&mut self, attributes: &[RawAttribute]) -> Option<Change> {
        let pragma = attributes
            .iter()
            .find(|other| self.is_named(other, "http-equiv"))?;
        let name = self.value(attributes, "http-equiv")?.to_ascii_lowercase();
        let content = self.value(attributes, "content")?;
        self.voids_base |= content.to_ascii_lowercase().contains("base-uri");
        let kind = match &*name {
            "content-security-policy" if blocks_files(&content) => Adaptation::Policy,
            "refresh" if !refreshes_from_folder(&content) => Adaptation::Quiet,
            "x-dns-prefetch-control" if content != "off" => Adaptation::Quiet,
            _ => return None,
        };
        Some((kind, Span::at(pragma.name.start), b"data-".into()))
    }
}

impl Sink for Tags<'_> {
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, _: TextModel) {
        let name = &self.bytes[tag.name.range()];
        let is_meta = namespace == Namespace::Html && name.eq_ignore_ascii_case(b"meta");
        const OTHERS: [&[u8]; 3] = [b"template", b"use", b"track"];
        let mut others = OTHERS.iter().chain(ELEMENTS);
        if is_meta || others.any(|one| name.eq_ignore_ascii_case(one)) {
            self.element(tag.span.start, &name.to_ascii_lowercase());
        }
    }
}

/// The elements that may have `integrity` or `crossorigin` (HTML, 4.2.4, 4.8 and 4.12.1; SVG 2, 12 and 15; Filter
/// Effects 1, 9.15), by their names in HTML and in XML.
const ELEMENTS: &[&[u8]] = &[
    b"link", b"script", b"img", b"audio", b"video", b"image", b"feimage", b"feImage",
];

/// The attributes with targets to which `integrity` and `crossorigin` apply. They do not apply to `poster` (HTML,
/// 4.8.8).
const TARGETS: &[&str] = &["src", "href", "xlink:href", "srcset", "imagesrcset"];

/// True if a reference in the output of `localize` leads to a file.
pub fn leads_to_file(reference: &str) -> bool {
    // Browsers treat `\` like `/`.
    let has_host = matches!(reference.as_bytes(), [b'/' | b'\\', b'/' | b'\\', ..]);
    matches!(category(reference), Category::RelPath | Category::AbsPath)
        && !has_host
        && placeholder(reference).is_none()
}

/// True if the refresh in `content` leads to a local file in every browser.
fn refreshes_from_folder(content: &str) -> bool {
    [value::refresh, value::refresh_in_chromium]
        .iter()
        .all(|read| read(content).is_some_and(|found| leads_to_file(&content[found.span.range()])))
}

/// The directives that control the resources of a page. Those for workers and `fetch` are omitted, because browsers
/// refuse both for files anyway.
const DIRECTIVES: &str = "\
    default-src script-src script-src-elem style-src style-src-elem img-src font-src media-src object-src frame-src \
    child-src";

/// True if a policy allows a resource because of its host or scheme, but would block the file that replaces it.
///
/// `'self'` and `*` allow files. A list of only `'none'`, nonces, hashes and schemes of local data blocks the same
/// resources on disk as on the network, and is kept.
fn blocks_files(policy: &str) -> bool {
    policy.split(';').any(|directive| {
        let mut words = directive
            .split_ascii_whitespace()
            .map(str::to_ascii_lowercase);
        let name = words.next().unwrap_or_default();
        let sources: Vec<String> = words.collect();
        let has = |these: &[&str]| {
            sources
                .iter()
                .any(|source| these.contains(&source.as_str()))
        };
        let is_host =
            |source: &String| !source.starts_with('\'') && !LOCAL_DATA.contains(&source.as_str());
        DIRECTIVES.split(' ').any(|one| one == name)
            && sources.iter().any(is_host)
            && !has(&["'self'", "*", "*:*", "file:"])
            // With `'strict-dynamic'`, only nonces and hashes apply (CSP 3, 8.2).
            && !(name.starts_with("script-src") && has(&["'strict-dynamic'"]))
    })
}

/// The schemes of sources that are neither on a host nor on disk.
const LOCAL_DATA: &[&str] = &["data:", "blob:", "filesystem:", "mediastream:"];
