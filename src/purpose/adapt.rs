//! Adaptations: the changes other than URLs that a copy out of a web archive needs to work from disk (`file:`).
//!
//! On the web, the document had an HTTP heading and an origin. A file has neither. Three changes are therefore made,
//! each by the smallest possible edit:
//!
//! - The encoding from the heading is declared: by `<meta charset>` (HTML, 4.2.5.4), by `@charset` (CSS Syntax 3,
//!   3.2), in the XML declaration (XML 1.0, 4.3.3), or by a byte order mark for UTF-16.
//! - `integrity` (Subresource Integrity) and `crossorigin` (HTML, 2.5.4) are removed from an element with a local
//!   target, because they make browsers use CORS, which fails for files.
//! - A `<meta http-equiv=Content-Security-Policy>` (CSP 3, 3.3) that allows hosts but not files is disabled: its
//!   attribute becomes `data-http-equiv`.
//!
//! `docs/localize.md` lists the restrictions of browsers.
//!
//! ```
//! use baselink_text::format::Format;
//! use baselink_text::layer::charset::Charset;
//! use baselink_cli::purpose::adapt::{Adaptation, adapted};
//! let page = b"<head><script src=x.js integrity='sha256-eA==' defer></script>";
//! let adapted = adapted(page, Format::Html, Some(Charset::UTF_8));
//! assert_eq!(
//!     adapted.edits.apply(page),
//!     b"<head><meta charset=\"UTF-8\"><script src=x.js defer></script>"
//! );
//! assert_eq!(adapted.counts(), [1, 1, 0]);
//! ```
//!
//! Deliberately absent: URLs, which [`localize`](mod@super::localize) rewrites first; documents inside a document
//! (`srcdoc`, `noscript`); and module scripts, which browsers never load from disk. [`refused`] counts module scripts.

use std::borrow::Cow;
use std::sync::LazyLock;

use baselink_scan::attributes::Namespace;
use baselink_scan::html::sink::{Sink, TextModel};
use baselink_scan::html::tag::{self, RawTag};
use baselink_scan::html::walk::{self, Names};
use baselink_scan::html::{engines, prelude};
use baselink_scan::xml::tokens::{self, XmlToken};
use baselink_scan::{ScanOptions, Scanner, value};
use baselink_text::edit::Edits;
use baselink_text::format::Format;
use baselink_text::layer::charset::{Charset, Declaration, Detected};
use baselink_text::layer::escape;
use baselink_text::layer::xml as xml_text;
use baselink_text::layer::{OffsetMap, View};
use baselink_text::span::Span;
use baselink_text::{display_by_name, named};
use baselink_url::reference::{Category, Grammar, Reference, placeholder};

named! {
    /// A kind of adaptation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Adaptation {
        /// An encoding that only the HTTP heading gave is now declared.
        Charset = "charset",
        /// An `integrity` or `crossorigin` attribute was removed.
        Integrity = "integrity",
        /// A Content-Security-Policy was disabled.
        Policy = "policy",
    }
}
display_by_name!(Adaptation);

/// The adaptations of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adapted {
    /// The edits, none of which changes a URL.
    pub edits: Edits,
    /// The kind and span of each edit, in order. Offsets refer to the document before the edits.
    pub made: Vec<(Adaptation, Span)>,
}

impl Adapted {
    /// The number of adaptations of each kind, in the order of [`Adaptation::ALL`].
    #[must_use]
    pub fn counts(&self) -> [usize; Adaptation::ALL.len()] {
        Adaptation::ALL.map(|kind| self.made.iter().filter(|made| made.0 == kind).count())
    }
}

/// The numbers of items that keep browsers from loading local targets from disk: module scripts, `integrity` and
/// `crossorigin` attributes, and SVG `use` elements.
#[must_use]
pub fn refused(bytes: &[u8], format: Format) -> [usize; 3] {
    let Some((found, Some(syntax))) = reading(bytes, format, None) else {
        return [0; 3];
    };
    let Detected { charset, mark, .. } = found;
    let decoded = (!charset.is_ascii_compatible()).then(|| charset.decode(&bytes[mark..], mark));
    let tags = match &decoded {
        Some(view) => Tags::read(view.text.as_bytes(), 0, Charset::UTF_8, syntax),
        None => Tags::read(bytes, mark, charset, syntax),
    };
    let removed = tags
        .changes
        .iter()
        .filter(|change| change.kind == Adaptation::Integrity);
    [tags.modules, removed.count(), tags.uses]
}

/// The encoding and syntax of a document; `None` for a format without adaptations.
fn reading(
    bytes: &[u8],
    format: Format,
    charset: Option<Charset>,
) -> Option<(Detected, Option<TagSyntax>)> {
    let options = ScanOptions {
        charset,
        ..ScanOptions::default()
    };
    Some(match format {
        Format::Html => (prelude::encoding(bytes, &options), Some(TagSyntax::Html)),
        Format::Xhtml | Format::Svg | Format::Xml => {
            (Charset::detect_xml(bytes, charset), Some(TagSyntax::Xml))
        }
        Format::Css => (Charset::detect_style_sheet(bytes, charset), None),
        _ => return None,
    })
}

/// Adapts a document whose links already lead to files, as in the output of
/// [`localize`](fn@super::localize::localize). `charset` is the encoding from the `Content-Type` of the HTTP heading.
///
/// Adapting the result again, with the same `charset` or without one, changes nothing. Time and memory are linear in
/// the size of the document. Formats other than HTML, XML and CSS are not adapted.
#[must_use]
pub fn adapted(bytes: &[u8], format: Format, charset: Option<Charset>) -> Adapted {
    let Some((found, syntax)) = reading(bytes, format, charset) else {
        return Adapted::default();
    };
    let mut changes = Vec::new();
    if found.declaration == Declaration::Given {
        changes.extend(declaration(bytes, format, found.charset));
    }
    if let Some(syntax) = syntax {
        changes.extend(in_tags(bytes, syntax, found));
    }
    changes.sort_by_key(|change| change.span.start);
    let mut adapted = Adapted::default();
    for Change { kind, span, new } in changes {
        if adapted.edits.add(span, &new) {
            adapted.made.push((kind, span));
        }
    }
    adapted
}

/// An adaptation with its edit.
struct Change {
    kind: Adaptation,
    span: Span,
    new: Cow<'static, [u8]>,
}

/// The edit that declares `charset`, the encoding from the heading. `None` if browsers use this encoding anyway, or if
/// it cannot be declared.
///
/// The heading takes precedence over a contradicting declaration in the document. In XML, the new declaration therefore
/// replaces the old one. In other formats it precedes the old one, because the first declaration wins.
fn declaration(bytes: &[u8], format: Format, charset: Charset) -> Option<Change> {
    let found = match format {
        Format::Html => prelude::encoding(bytes, &ScanOptions::default()),
        Format::Css => Charset::detect_style_sheet(bytes, None),
        _ => Charset::detect_xml(bytes, None),
    };
    let is_ascii = bytes.is_ascii() && charset.is_ascii_compatible();
    let is_certain = match (format, found.declaration) {
        // Browsers guess in different ways. Even for a page in ASCII, its resources inherit the guess.
        (Format::Html, Declaration::Assumed) => false,
        (Format::Html, _) => found.charset == charset,
        // A style sheet without a declaration inherits the encoding of the page (CSS Syntax 3, 3.2).
        (Format::Css, Declaration::Assumed) => is_ascii,
        _ => is_ascii || found.charset == charset,
    };
    if is_certain {
        return None;
    }
    let text = format!("<meta charset=\"{charset}\">");
    let (span, new) = if Charset::detect(text.as_bytes(), None).charset != charset {
        // UTF-16 needs a byte order mark instead of a declaration. `x-user-defined` can have neither.
        let mark = charset.encode("\u{feff}").ok()?;
        let is_mark = Charset::detect_plain(&mark, None).charset == charset;
        (Span::at(0), is_mark.then_some(mark)?)
    } else {
        let (span, text) = match format {
            Format::Html => (Span::at(html_place(bytes, charset)?), text),
            Format::Css => (Span::at(0), format!("@charset \"{charset}\";")),
            _ => xml_declaration(bytes, charset)?,
        };
        (span, text.into_bytes())
    };
    Some(Change {
        kind: Adaptation::Charset,
        span,
        new: new.into(),
    })
}

/// The position in HTML at which a new `meta` element changes nothing else in the tree. It is after the start tag of
/// `head`, or before the first item that is not white space, a DOCTYPE, a comment, the start tag of `html` or an
/// ignored end tag. Browsers find the declaration there, even after long comments.
fn html_place(bytes: &[u8], charset: Charset) -> Option<usize> {
    if charset.is_ascii_compatible() {
        return Some(place_in_head(bytes));
    }
    let View { text, map } = charset.decode(bytes, 0);
    map.to_source(place_in_head(text.as_bytes()))
}

/// The position of [`html_place`], for text in an encoding that extends ASCII.
fn place_in_head(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_ascii_start().len();
        let Some(tag) = tag::read(text, at) else {
            // A comment, a DOCTYPE, or other markup that the tokenizer treats as a comment.
            let is_declaration = match &text[at..] {
                [b'<', b'!' | b'?', ..] => true,
                [b'<', b'/', rest @ ..] => !rest.first().is_some_and(u8::is_ascii_alphabetic),
                _ => false,
            };
            match walk::declaration_end(text, at, false).filter(|_| is_declaration) {
                Some(end) => at = end,
                None => return at,
            }
            continue;
        };
        let name = text[tag.name.range()].to_ascii_lowercase();
        match (&*name, tag.end_tag) {
            (b"html", false) => at = tag.span.end,
            (b"head", false) => return tag.span.end,
            // At these end tags, a parser creates the missing elements. It ignores all other end tags.
            (b"html" | b"head" | b"body" | b"br", true) | (_, false) => return at,
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

/// The syntax of tags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TagSyntax {
    Html,
    Xml,
}

/// The attributes of the tags to adapt, each with the index of its rarest letter.
const WORDS: [(&str, usize); 3] = [("integrity", 4), ("crossorigin", 8), ("http-equiv", 6)];

/// True if `bytes` contain one of the [`WORDS`], ignoring case.
fn mentions_any(bytes: &[u8]) -> bool {
    [b'g', b'q'].into_iter().any(|letter| {
        memchr::memchr2_iter(letter, letter.to_ascii_uppercase(), bytes).any(|at| {
            WORDS.iter().any(|&(word, rare)| {
                let start = at.checked_sub(rare);
                let found = start.and_then(|start| bytes.get(start..start + word.len()));
                found.is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
            })
        })
    })
}

/// The adaptations of the tags of a document.
fn in_tags(bytes: &[u8], syntax: TagSyntax, found: Detected) -> Vec<Change> {
    let Detected { charset, mark, .. } = found;
    if charset.is_ascii_compatible() {
        return Tags::of(bytes, mark, charset, syntax);
    }
    let View { text, map } = charset.decode(&bytes[mark..], mark);
    let changes = Tags::of(text.as_bytes(), 0, Charset::UTF_8, syntax);
    let lifted = |change| lifted(change, &text, &map, charset);
    changes.into_iter().filter_map(lifted).collect()
}

/// Converts a change of the decoded `text` into a change of the bytes.
fn lifted(change: Change, text: &str, map: &OffsetMap, charset: Charset) -> Option<Change> {
    let Change {
        kind,
        mut span,
        new,
    } = change;
    let removed = &text[span.range()];
    let space = removed.len() - removed.trim_ascii_start().len();
    let written = map.covering(Span::new(span.start, span.start + space));
    if charset.is_stateful() && written.len() > space {
        // An escape sequence precedes the space and ends a run of other characters, so these bytes are kept.
        span.start += space;
    }
    let span = Span::new(map.to_source(span.start)?, map.to_source(span.end)?);
    let new = charset.encode(str::from_utf8(&new).ok()?).ok()?;
    Some(Change {
        kind,
        span,
        new: new.into(),
    })
}

/// The names that the walk over HTML reports: those of links, and the [`WORDS`].
static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let places = WORDS
        .iter()
        .filter_map(|(word, _)| format!("*[{word}]=url").parse().ok());
    let options = ScanOptions {
        places: places.collect(),
        ..ScanOptions::default()
    };
    Names::of(&options).into_owned()
});

/// An attribute as written.
struct TagAttribute {
    name: Span,
    value: Option<Span>,
    /// The offset after the closing quote.
    end: usize,
}

/// A pass over the start tags of a document.
struct Tags<'a> {
    bytes: &'a [u8],
    charset: Charset,
    syntax: TagSyntax,
    changes: Vec<Change>,
    /// The attributes to remove from the last `audio` or `video` element if one of its `source` elements is local. The
    /// offset is the end of the range that was already searched for other `audio` and `video` tags.
    pending: (Vec<Change>, usize),
    /// The number of module scripts with local targets.
    modules: usize,
    /// The number of SVG `use` elements with local targets.
    uses: usize,
}

impl<'a> Tags<'a> {
    /// The changes for `bytes`, which are scanned from `start` in an ASCII-compatible encoding.
    fn of(bytes: &'a [u8], start: usize, charset: Charset, syntax: TagSyntax) -> Vec<Change> {
        match mentions_any(bytes) {
            true => Self::read(bytes, start, charset, syntax).changes,
            false => Vec::new(),
        }
    }

    /// Scans `bytes` from `start` to the end.
    fn read(bytes: &'a [u8], start: usize, charset: Charset, syntax: TagSyntax) -> Self {
        let pending = (Vec::new(), 0);
        let (changes, modules, uses) = (Vec::new(), 0, 0);
        let mut tags = Tags {
            bytes,
            charset,
            syntax,
            changes,
            pending,
            modules,
            uses,
        };
        match syntax {
            TagSyntax::Html => {
                let range = start..bytes.len();
                engines::tokens(bytes, range, true, Scanner::Fast, &NAMES, &mut tags);
            }
            TagSyntax::Xml => {
                tokens::scan(bytes, start, &mut |token, span| {
                    if let XmlToken::StartTag { is_empty } = token {
                        tags.xml_tag(span, is_empty)?;
                    }
                    Ok(())
                });
            }
        }
        tags
    }

    fn xml_tag(&mut self, span: Span, is_empty: bool) -> Result<(), tokens::XmlFault> {
        let end = span.end - 1 - usize::from(is_empty);
        let tag = tokens::tag(self.bytes, span.start + 1, end)?;
        let converted = |attribute: &tokens::XmlAttribute| TagAttribute {
            name: attribute.name,
            value: Some(attribute.value),
            end: attribute.value.end + 1,
        };
        let attributes: Vec<TagAttribute> = tag.attributes.iter().map(converted).collect();
        let name = &self.bytes[tag.name.range()];
        let prefix = memchr::memchr(b':', name).map_or(0, |colon| colon + 1);
        self.element(span.start, &name[prefix..], &attributes);
        Ok(())
    }

    /// Processes a start tag at `at`.
    fn element(&mut self, at: usize, name: &[u8], attributes: &[TagAttribute]) {
        let is_media = matches!(name, b"audio" | b"video");
        match name {
            b"source" => self.source(at, attributes),
            b"use" => self.uses += usize::from(self.is_local(attributes, TARGETS)),
            b"script" => {
                let kind = self.value(attributes, "type").unwrap_or_default();
                let is_module = kind.trim().eq_ignore_ascii_case("module");
                self.modules += usize::from(is_module && self.is_local(attributes, TARGETS));
            }
            _ => {}
        }
        if name == b"meta" {
            self.changes.extend(self.policy(attributes));
            return;
        }
        let is_removed = |attribute: &&TagAttribute| {
            self.is_named(attribute, "integrity") || self.is_named(attribute, "crossorigin")
        };
        let removed = self.without(attributes.iter().filter(is_removed));
        if removed.is_empty() || !ELEMENTS.contains(&name) {
            return;
        }
        if self.is_local(attributes, TARGETS) {
            self.changes.extend(removed);
        } else if is_media {
            self.pending = (removed, at + 1);
        }
    }

    /// Processes a `source` element at `at`. The attributes of its parent apply to its target.
    fn source(&mut self, at: usize, attributes: &[TagAttribute]) {
        let (removed, from) = &mut self.pending;
        if removed.is_empty() {
            return;
        }
        let between = &self.bytes[*from..at];
        *from = at;
        // The walk does not report tags without attributes, so the bytes are searched.
        let is_other = |at: usize| {
            let name = between[at + 1..]
                .strip_prefix(b"/")
                .unwrap_or(&between[at + 1..]);
            let name = name.get(..5).unwrap_or_default().to_ascii_lowercase();
            name == b"audio" || name == b"video"
        };
        if memchr::memchr_iter(b'<', between).any(is_other) {
            removed.clear();
        } else if self.is_local(attributes, &["src"]) {
            self.changes.append(&mut self.pending.0);
        }
    }

    fn is_named(&self, attribute: &TagAttribute, name: &str) -> bool {
        let written = &self.bytes[attribute.name.range()];
        match self.syntax {
            TagSyntax::Html => written.eq_ignore_ascii_case(name.as_bytes()),
            // The prefix depends on the document.
            TagSyntax::Xml if name == "xlink:href" => written.ends_with(b":href"),
            TagSyntax::Xml => written == name.as_bytes(),
        }
    }

    /// The decoded value of the first attribute called `name`.
    fn value(&self, attributes: &[TagAttribute], name: &str) -> Option<String> {
        let span = attributes
            .iter()
            .find(|other| self.is_named(other, name))?
            .value?;
        let view = self.charset.decode(&self.bytes[span.range()], span.start);
        Some(match self.syntax {
            TagSyntax::Html => escape::character_references(view).text,
            TagSyntax::Xml => xml_text::attribute_value(view).view.text,
        })
    }

    /// True if one of these attributes contains a reference to a local file.
    fn is_local(&self, attributes: &[TagAttribute], names: &[&str]) -> bool {
        names.iter().any(|name| {
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
    fn without<'w>(&self, removed: impl Iterator<Item = &'w TagAttribute>) -> Vec<Change> {
        let mut previous = (0, None);
        removed
            .map(|attribute| {
                let before = self.bytes[..attribute.name.start].trim_ascii_end();
                let last = match previous {
                    (end, last) if end == before.len() => last,
                    _ => before.last().copied(),
                };
                previous = (attribute.end, last);
                let span = Span::new(before.len(), attribute.end);
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
        Change {
            kind: Adaptation::Integrity,
            span,
            new: new.as_bytes().into(),
        }
    }

    /// The edit that disables the policy of a `meta` element.
    fn policy(&self, attributes: &[TagAttribute]) -> Option<Change> {
        let pragma = attributes
            .iter()
            .find(|other| self.is_named(other, "http-equiv"))?;
        let is_policy = self.value(attributes, "http-equiv")?;
        let is_policy = is_policy.eq_ignore_ascii_case("content-security-policy");
        let blocks = || {
            self.value(attributes, "content")
                .is_some_and(|text| blocks_files(&text))
        };
        let span = Span::at(pragma.name.start);
        let kind = Adaptation::Policy;
        (is_policy && blocks()).then(|| Change {
            kind,
            span,
            new: b"data-"[..].into(),
        })
    }
}

impl Sink for Tags<'_> {
    fn start_tag(&mut self, tag: &RawTag, namespace: Namespace, _: TextModel) {
        let name = self.bytes[tag.name.range()].to_ascii_lowercase();
        if name == b"meta" && namespace != Namespace::Html {
            return;
        }
        // The walk reports only some attributes of a tag, so the tag is read again.
        let Some(tag) = tag::read(self.bytes, tag.span.start) else {
            return;
        };
        let converted = |attribute: &tag::RawAttribute| {
            let end = attribute.value.map_or(attribute.name.end, |value| {
                value.end + usize::from(attribute.quote != escape::Quote::None)
            });
            TagAttribute {
                name: attribute.name,
                value: attribute.value,
                end,
            }
        };
        self.element(
            tag.span.start,
            &name,
            &tag.attributes.iter().map(converted).collect::<Vec<_>>(),
        );
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
fn leads_to_file(reference: &str) -> bool {
    // Browsers treat `\` like `/`.
    let has_host = reference
        .bytes()
        .take(2)
        .filter(|byte| matches!(byte, b'/' | b'\\'))
        .count()
        == 2;
    let category = Reference::split(Grammar::Rfc3986, reference).category();
    matches!(category, Category::RelPath | Category::AbsPath)
        && !has_host
        && placeholder(reference).is_none()
}

/// The directives that control the resources of a page. Those for workers and `fetch` are omitted, because browsers
/// refuse both for files anyway.
const DIRECTIVES: &[&str] = &[
    "default-src",
    "script-src",
    "script-src-elem",
    "style-src",
    "style-src-elem",
    "img-src",
    "font-src",
    "media-src",
    "object-src",
    "frame-src",
    "child-src",
];

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
        DIRECTIVES.contains(&name.as_str())
            && sources.iter().any(is_host)
            && !has(&["'self'", "*", "*:*", "file:"])
            // With `'strict-dynamic'`, only nonces and hashes apply (CSP 3, 8.2).
            && !(name.starts_with("script-src") && has(&["'strict-dynamic'"]))
    })
}

/// The schemes of sources that are neither on a host nor on disk.
const LOCAL_DATA: &[&str] = &["data:", "blob:", "filesystem:", "mediastream:"];
