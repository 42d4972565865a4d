//! The nouns: a [`Document`] and the [`Link`]s that stand in it, exactly as written.
//!
//! A scanner makes them and knows nothing of bases; [`mod@crate::rewrite`] turns them into targets and
//! edits and knows nothing of syntax.
//!
//! ```
//! let page = br#"<p><a href="../x.html">"#;
//! let document = baselink::scan(page, &baselink::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "../x.html");
//! assert_eq!(&page[document.links[0].span().range()], b"../x.html");
//! ```
//!
//! Deliberately absent: targets. The same document has others wherever its base differs.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::format::Format;
use crate::layer::charset::{Charset, Detected};
use crate::layer::spelling::{Carrier, Form, Spelling};
use crate::layer::xml::EntityUse;
use crate::layer::{OffsetMap, View};
use crate::named::{display_by_name, named};
use crate::span::Span;

/// The longest base, in bytes, against which a document's links are resolved.
///
/// Each link grows by the length of its base: without a bound a document could grow by its square.
pub const LONGEST_BASE: usize = 8_192;

/// A file, or a document that is inside another.
#[derive(Clone, Debug)]
pub struct Document {
    /// `""` for the outermost, `1`, `2`, `1.2` for those inside, in the order of the file.
    pub entity: Arc<str>,
    /// What it is.
    pub format: Format,
    /// The encoding of its bytes; of a document in a value, that of its text.
    pub charset: Charset,
    /// Where the first bytes are that are not UTF-8, in a document that is taken for windows-1252 because of them.
    pub not_utf_8: Option<usize>,
    /// Where the `meta` ends that the prescan found in the first 1024 bytes, be it an element or not; 0 without one.
    pub prescanned: usize,
    /// Every link, in the order of the document.
    pub links: Vec<Link>,
    /// Every declaration of a base that was found, the effective one first.
    pub bases: Vec<DeclaredBase>,
    /// Every `xml:base` below the document element, in the order of the document; and, where that was asked for,
    /// the link of every entry of a feed, where the entry begins.
    pub element_bases: Vec<ElementBase>,
    /// What a reference in the document around it would be resolved against at the place of this one.
    pub within: Against,
    /// The documents inside it.
    pub parts: Vec<Document>,
    /// What it says of having been saved.
    pub saved: Option<Saved>,
    /// Its anomalies; spans are those of its own buffer.
    pub diagnostics: Vec<Diagnostic>,
    /// True if it was scanned without its tree.
    pub without_tree: bool,
    /// Why html5ever had to say what tags of HTML are in it, or in a stretch of it that is scanned on its own;
    /// `None` where the walk over its bytes could prove that, or was not asked.
    pub fallback: Option<FallbackReason>,
    /// What a fragment can name in it, decoded, in the order of the document; empty where it was not
    /// asked for (`ScanOptions::ids`).
    pub ids: Vec<String>,
    /// Its own buffer, where that is not the buffer that was scanned.
    pub decoded: Option<Decoded>,
}

impl Document {
    /// A document in which nothing was found yet.
    #[must_use]
    pub fn empty(entity: Arc<str>, format: Format, charset: Charset) -> Self {
        Self {
            entity,
            format,
            charset,
            not_utf_8: None,
            prescanned: 0,
            links: Vec::new(),
            bases: Vec::new(),
            element_bases: Vec::new(),
            within: Against::Document,
            parts: Vec::new(),
            saved: None,
            diagnostics: Vec::new(),
            without_tree: false,
            fallback: None,
            ids: Vec::new(),
            decoded: None,
        }
    }

    /// The document that `scan` makes of a file in the encoding that was `found`. `scan` gets a buffer, the offset of the
    /// document in it, and the encoding of the buffer: the bytes of the file if its encoding extends ASCII, else its text
    /// in UTF-8.
    pub(crate) fn of_file(
        bytes: &[u8],
        found: Detected,
        scan: impl FnOnce(&[u8], usize, Charset) -> Self,
    ) -> Self {
        let Detected { charset, mark, not_utf_8, prescanned, .. } = found;
        if charset.is_ascii_compatible() {
            return Self { not_utf_8, prescanned, ..scan(bytes, mark, charset) };
        }
        let View { text, map } = charset.decode(&bytes[mark..], mark);
        let spelling = Spelling { form: Form::Document, carrier: Carrier::Raw, enclosed: false };
        let document = scan(text.as_bytes(), 0, Charset::UTF_8);
        let has_roman = charset.has_roman(bytes);
        let decoded = Decoded { text, map, spelling, pieces: Vec::new(), has_roman };
        Self { charset, decoded: Some(decoded), ..document }
    }
}

/// Why the walk over the bytes of HTML cannot prove what tags there are, so that html5ever is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FallbackReason {
    /// A `frameset`, which may take away the body and makes the parser drop most tags.
    Frameset,
    /// A `col` in a `template`, which makes the parser drop tags.
    Column,
    /// An end tag in foreign content that closes nothing there.
    EndTag,
    /// A start tag of HTML in an integration point that may do more than open an element there.
    IntegrationPoint,
    /// An `annotation-xml`, whose attributes decide what its content is.
    Annotation,
    /// A name in foreign content that has bytes beyond ASCII.
    Name,
    /// Several `base` elements and a table, out of which the parser may move one.
    Bases,
    /// A tag, or what reads like one in a CDATA section, with more attributes than html5ever is given.
    Attributes,
}

/// The base of elements of XML: an `xml:base` below the document element (XML Base, 3), or the link of a feed's
/// entry for the content of the entry, where that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementBase {
    /// True if it is the link of an entry. Its value is empty where the entry has none.
    pub is_entry_link: bool,
    /// The one around it, by its place among those of the document; `None` for the document's own base.
    pub outer: Option<usize>,
    /// Its value, decoded, without the white space around it.
    pub value: String,
    /// Why what it means is not known; `None` where it is.
    pub doubt: Option<BaseDoubt>,
    /// The value in the document's buffer.
    pub span: Span,
}

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// The name of the `number`th entity in the entity that is called `around`.
#[must_use]
pub fn entity_name(around: &str, number: usize) -> Arc<str> {
    let dot = if around.is_empty() { "" } else { "." };
    match number {
        ..10 => [around, dot, DIGITS[number]].concat().into(),
        _ => format!("{around}{dot}{number}").into(),
    }
}

/// The text of a document that does not stand as itself in the buffer beneath.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The text: the buffer that the document's spans count in.
    pub text: String,
    /// From the text to the buffer beneath.
    pub map: OffsetMap,
    /// How new text is spelled in the buffer beneath.
    pub spelling: Spelling,
    /// Where the text is put together of pieces that do not all spell it alike (character data and
    /// CDATA sections), those pieces; else empty.
    pub pieces: Vec<Piece>,
    /// True if the buffer beneath switches to Roman, where the bytes of `\` and `~` are other characters.
    pub has_roman: bool,
}

/// A stretch of a document's text that one thing carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes of the text.
    pub span: Span,
    /// What carries it.
    pub carrier: Carrier,
    /// From the stretch to the buffer beneath.
    pub map: OffsetMap,
}

named! {
    /// The role of a link in its document: a closed list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Role {
        /// The document looks or works differently without the target: an image, a script, a style sheet.
        Embedded = "embedded",
        /// A reader follows it.
        Navigation = "navigation",
        /// It says something about the document or a resource to programs.
        Metadata = "metadata",
    }
}

display_by_name!(Role);

/// A reference in a document, as written.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name of the element, as the document's tokenizer gives it; empty for a stylesheet's.
    pub element: String,
    /// Name of the attribute; `None` for text and stylesheets.
    pub attribute: Option<String>,
    /// The reference, decoded, without the white space around it.
    pub reference: String,
    /// The role in the document.
    pub role: Role,
    /// What it is resolved against.
    pub against: Against,
    /// True if an empty reference means the base here; elsewhere it means nothing.
    pub empty_resolves: bool,
    /// True if a fragment alone names an element of this document (`usemap`, `url(#x)`), which must
    /// stay so.
    pub fragment_identifies: bool,
    /// From the reference to the document's buffer; `None` when it cannot be edited there.
    pub map: Option<OffsetMap>,
    /// The smallest span of the document's buffer that holds it.
    pub holder: Span,
    /// How new text is spelled there.
    pub spelling: Spelling,
}

impl Link {
    /// Where the reference lies in the document's buffer, or what holds it there.
    #[must_use]
    pub fn span(&self) -> Span {
        self.map.as_ref().map_or(self.holder, OffsetMap::source)
    }
}

/// What a reference is resolved against.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Against {
    /// The document base URL.
    Document,
    /// The base that the document would have without its own declaration: `base href`.
    Fallback,
    /// The URL from which the document came, whatever it declares: `html manifest`.
    Retrieval,
    /// `codebase`, itself a reference against the document base URL (HTML 4.01, 13.3). Profiles after
    /// RFC 3986 ignore it.
    Codebase(String),
    /// Inner bases that every profile honours, outermost first, each a reference against the one
    /// before it: `@base` of JSON-LD.
    Inner(Vec<String>),
    /// The base of an element that has or inherits an `xml:base`, by its place among those of the
    /// document (XML Base, 4.2).
    Element(usize),
    /// The document base URL as no `xml:base` changes it: stylesheets in the document (SVG 2, 6.5) and
    /// processing instructions (XML Base, 4.3).
    DocumentEntity,
    /// `codebase` in an element that has or inherits an `xml:base`.
    ElementCodebase(usize, String),
    /// Nothing: what is relative shall stay so.
    Nothing,
    /// Unknown, as the reference is: it contains an entity that was not read.
    Unknown,
}

/// How a declaration of a base counts in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The one that counts.
    First,
    /// Not the first with an `href`.
    Later,
    /// A `base` element without `href`.
    NoHref,
    /// Called `base` but for its case or its namespace.
    NotXhtml,
    /// Not in the document tree: in the contents of a `template`, or in the body whose place a `frameset` took.
    Template,
    /// An SVG or MathML element called `base`.
    Foreign,
    /// The tag makes no element where it is (in a frameset, say).
    Dropped,
    /// In `noscript`, `noframes` or `noembed`, which is text to a browser that runs scripts.
    FallbackContent,
    /// In a conditional comment.
    ConditionalComment,
    /// Not a tag: in a comment.
    Comment,
    /// Not a tag: in the text of an element such as `script`, `style` or `title`.
    RawText,
    /// Not a tag: inside another one, in an attribute value for example.
    Tag,
    /// Not a tag: in a CDATA section.
    CharacterData,
    /// Not a tag: the document ends before it does.
    CutOff,
}

impl Standing {
    /// Why it does not count, as a sentence without a full stop.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::First => "the first base element with an href, in tree order",
            Self::Later => "a base element with an href comes before it in tree order",
            Self::NoHref => "it has no href",
            Self::NotXhtml => "it is no element 'base' of the XHTML namespace",
            Self::Template => "it is in a template, or in a body that a frameset replaced",
            Self::Foreign => "it is an SVG or MathML element, not an HTML one",
            Self::Dropped => "the tag makes no element there",
            Self::FallbackContent => {
                "it stands in content for browsers without scripts, frames or plugins"
            }
            Self::ConditionalComment => "it stands in a conditional comment",
            Self::Comment => "it stands in a comment",
            Self::RawText => "it stands in the text of an element that holds no markup",
            Self::Tag => "it stands inside another tag",
            Self::CharacterData => "it stands in a CDATA section",
            Self::CutOff => "the document ends inside the tag",
        }
    }
}

/// Why it is not known what a base of XML means, though browsers may take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseDoubt {
    /// Its value has an entity that was not read.
    Value,
    /// It is a `base` element in the text of an entity.
    Element,
    /// Its value is the default of an attribute (XML 1.0, 3.3.2).
    Default,
}

impl BaseDoubt {
    /// That of a value with these entities.
    pub(crate) fn of_value(entities: &[EntityUse]) -> Option<Self> {
        let is_known = entities.iter().all(|entity| entity.is_known);
        (!is_known).then_some(Self::Value)
    }

    /// What the base depends on, as a clause.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Value => "what it is depends on an entity that was not read",
            Self::Element => "its element is in the text of an entity",
            Self::Default => "its value is a default in the document type declaration",
        }
    }
}

/// What declares a base in the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseKind {
    /// An HTML `base` element.
    Element,
    /// `xml:base` of the document element.
    XmlBase,
    /// A comment that a browser wrote in the place of a `base` element when it saved the page
    /// ([`crate::scan::html::saved`]).
    Comment,
}

/// What a page says of having been saved, in a comment before its content.
///
/// Beside giving a retrieval URL, the comment decides how fragments and the links of the saving program are read. A new source
/// that has to decide this, too, needs a [`Program`] and a reader in `scan/html/saved.rs`; a variant of
/// [`Source`](crate::base::Source) alone gives a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// What wrote the comment.
    pub program: Program,
    /// From where it says that the page was saved, as written.
    pub written: String,
}

/// Programs that save pages and say so in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// Internet Explorer, Chromium and their kin, which put the files of a page into a folder beside it.
    Browser,
    /// SingleFile.
    SingleFile,
    /// HTTrack, whose URLs have no scheme.
    HtTrack,
    /// monolith.
    Monolith,
}

impl Saved {
    /// From where the page was saved. `scheme` is that of HTTrack's URLs, which are written without one.
    #[must_use]
    pub fn url(&self, scheme: &str) -> Cow<'_, str> {
        match self.has_scheme() {
            true => Cow::Borrowed(&self.written),
            false => Cow::Owned(format!("{scheme}://{}", self.written)),
        }
    }

    /// True if the comment is of a page that came from somewhere: `about:internet` is written by hand, into pages that
    /// nobody saved.
    #[must_use]
    pub fn is_of_page(&self) -> bool {
        !self.written.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("about:"))
    }

    /// True if the URL is written with its scheme.
    #[must_use]
    pub fn has_scheme(&self) -> bool {
        let scheme = self.written.split_once("://").map(|(scheme, _)| scheme);
        self.program != Program::HtTrack || scheme.is_some_and(|one| !one.contains(['.', '/']))
    }

    /// Why nobody else can have retrieved the page from there, or nobody at all; `None` where that may be.
    #[must_use]
    pub fn disbelief(&self) -> Option<&'static str> {
        let url = self.url("https").to_ascii_lowercase();
        if url.starts_with("about:") {
            return Some("it names no place on the network");
        }
        if url.starts_with("file:") {
            return Some("it leads to the disk from which the page was opened");
        }
        let authority = url.split_once("://")?.1.split(['/', '?', '#', '\\']).next()?;
        let host = authority.rsplit('@').next()?;
        let name = match host.strip_prefix('[') {
            Some(address) => address.split(']').next()?,
            None => host.split(':').next()?.trim_end_matches('.'),
        };
        // RFC 6761, 6.3; RFC 1122, 3.2.1.3 (g); RFC 4291, 2.5.3.
        let is_loopback = name == "localhost"
            || name.ends_with(".localhost")
            || name
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback() || address.is_unspecified());
        match name {
            "internet.e-mail" => Some("it stands for any mail"),
            _ if is_loopback => Some("it leads to the machine on which the page was saved"),
            _ => None,
        }
    }
}

/// A declaration of a base, as found in the content (RFC 1808, 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredBase {
    /// What it is.
    pub kind: BaseKind,
    /// The whole element or attribute value, in the document's buffer.
    pub span: Span,
    /// Its value, decoded, without the white space around it; `None` without a value. What declares it, where that is a
    /// document type declaration.
    pub value: Option<String>,
    /// Why what it means is not known; `None` where it is.
    pub doubt: Option<BaseDoubt>,
    /// Its place among the declarations, which says if it counts.
    pub standing: Standing,
}

impl DeclaredBase {
    /// A declaration at `span` without a value, that would count.
    pub(crate) fn of(kind: BaseKind, span: Span) -> Self {
        Self { kind, span, value: None, doubt: None, standing: Standing::First }
    }
}

named! {
    /// A header field that holds a URL.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum UrlField {
        /// `Base` (RFC 1808, 3.1).
        Base = "Base",
        /// `Content-Base` (RFC 2110, 4.2; gone in RFC 2557).
        ContentBase = "Content-Base",
        /// `Content-Location` (RFC 2557, 4.2).
        ContentLocation = "Content-Location",
        /// `Snapshot-Content-Location`, in the archives of Chromium; in no RFC.
        SnapshotContentLocation = "Snapshot-Content-Location",
    }
}

impl UrlField {
    /// True if it labels a part, so that a relative URL in it is no base (RFC 2557, 5).
    pub(crate) fn is_label(self) -> bool {
        match self {
            Self::Base | Self::ContentBase => false,
            Self::ContentLocation | Self::SnapshotContentLocation => true,
        }
    }

    /// The one that is called `name`, in whatever case.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|field| name.eq_ignore_ascii_case(field.name().as_bytes()))
    }
}

/// The URL in a header field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlValue {
    /// Which field.
    pub field: UrlField,
    /// The URL, out of its wrapping and decoded, but never percent-decoded.
    pub url: Arc<str>,
    /// The value of the field as it is: bytes of the message.
    pub value: Span,
    /// The whole field.
    pub span: Span,
    /// Where the URL lies verbatim; `None` where it is folded or encoded, or has quoted pairs.
    pub verbatim: Option<Span>,
}
