//! The central types: a [`Document`] and its [`Link`]s, exactly as written.
//!
//! A scanner creates them and knows nothing about bases. The crate `baselink-rewrite` turns links into targets and edits, and
//! knows nothing about syntax.
//!
//! ```
//! let page = br#"<p><a href="../x.html">"#;
//! let document = baselink_scan::scan(page, &baselink_scan::ScanOptions::default());
//! assert_eq!(document.links[0].reference, "../x.html");
//! assert_eq!(&page[document.links[0].span().range()], b"../x.html");
//! ```
//!
//! Deliberately absent: targets, which depend on the base.

use std::{borrow::Cow, net::IpAddr, sync::Arc};

use baselink_text::{
    Charset, Detected, Diagnostic, Format, OffsetMap, Span, View, display_by_name,
    format::{is_among, starts_with},
    layer::spelling::{Carrier, Form, Spelling},
    named,
};

/// The maximum length of a base, in bytes, against which a document's links are resolved.
///
/// Each link grows by the length of its base, so without a limit a document could grow quadratically.
pub const LONGEST_BASE: usize = 8_192;

/// A file, or a document inside another document.
#[derive(Debug, Default)]
pub struct Document {
    /// The name of the entity: `""` for the outermost, `1`, `2`, `1.2` for inner ones in file order.
    pub entity: Arc<str>,
    /// The format.
    pub format: Format,
    /// The encoding of the document's bytes. For a document inside an attribute value, the encoding of the value's
    /// text.
    pub charset: Charset,
    /// The offset of the first bytes that are not UTF-8, if they are the reason to assume windows-1252.
    pub not_utf_8: Option<usize>,
    /// The end of the `meta` that the encoding prescan found in the first 1024 bytes; 0 if there is none. The prescan
    /// does not build elements, so this `meta` may be text, for example in a script.
    pub prescanned: usize,
    /// The links, in document order.
    pub links: Vec<Link>,
    /// The declarations of a base, the effective one first.
    pub bases: Vec<DeclaredBase>,
    /// Each `xml:base` below the document element, in document order. If requested, also the link of each feed
    /// entry, at the start of the entry.
    pub element_bases: Vec<ElementBase>,
    /// The base of references at this document's position in the outer document.
    pub within: Against,
    /// The documents inside this one.
    pub parts: Vec<Document>,
    /// The comment about the page's origin, if a program saved the page.
    pub saved: Option<Saved>,
    /// The anomalies. Their spans refer to the document's own buffer.
    pub diagnostics: Vec<Diagnostic>,
    /// True if the document was scanned without building its tree.
    pub without_tree: bool,
    /// True if html5ever had to find the tags of the document or of a separately scanned part, because the walk did not
    /// suffice.
    pub fallback: bool,
    /// The decoded names that a fragment can refer to, in document order; empty unless requested
    /// (`ScanOptions::ids`).
    pub ids: Vec<String>,
    /// The document's own buffer, if it differs from the scanned buffer.
    pub decoded: Option<Decoded>,
}

impl Document {
    /// Creates a document without links or declarations.
    pub fn empty(entity: Arc<str>, format: Format, charset: Charset) -> Self {
        Self {
            entity,
            format,
            charset,
            ..Self::default()
        }
    }

    /// Scans a file in the encoding that was `found`. `scan` receives a buffer, the offset of the document in it, and
    /// the encoding of the buffer. The buffer is the file if its encoding is compatible with ASCII, else its text in
    /// UTF-8.
    pub(crate) fn of_file(
        bytes: &[u8],
        found: Detected,
        scan: impl FnOnce(&[u8], usize, Charset) -> Self,
    ) -> Self {
        let Detected {
            charset,
            mark,
            not_utf_8,
            prescanned,
            ..
        } = found;
        if charset.shows_markup(bytes) {
            return Self {
                not_utf_8,
                prescanned,
                ..scan(bytes, mark, charset)
            };
        }
        let View { text, map } = charset.decode(&bytes[mark..], mark);
        let spelling = Spelling {
            form: Form::Document,
            carrier: Carrier::Raw,
            enclosed: false,
        };
        let document = scan(text.as_bytes(), 0, Charset::UTF_8);
        let decoded = Decoded {
            text,
            map,
            spelling,
            pieces: Vec::new(),
            has_roman: charset.has_roman(bytes),
        };
        Self {
            charset,
            decoded: Some(decoded),
            ..document
        }
    }
}

/// The base of XML elements: an `xml:base` below the document element (XML Base, 3). If requested, also the link of
/// a feed entry, for the content of the entry.
#[derive(Debug)]
pub struct ElementBase {
    /// True for the link of an entry. The value is empty if the entry has no link.
    pub is_entry_link: bool,
    /// The enclosing base, as an index into [`Document::element_bases`]; `None` for the document's own base.
    pub outer: Option<usize>,
    /// The value, decoded and without surrounding white space.
    pub value: String,
    /// The reason why the meaning of the base is unknown; `None` if it is known.
    pub doubt: Option<BaseDoubt>,
    /// The span of the value in the document's buffer.
    pub span: Span,
}

/// The fault beyond which a text is not read.
#[derive(Debug)]
pub struct SyntaxFault {
    /// The offset of the fault.
    pub at: usize,
    /// A description of the fault: a clause without a full stop.
    pub what: &'static str,
}

impl SyntaxFault {
    /// A fault at `at`.
    pub fn new(at: usize, what: &'static str) -> Self {
        Self { at, what }
    }
}

/// Names the `number`th entity inside the entity named `around`.
pub fn entity_name(around: &str, number: usize) -> Arc<str> {
    let dot = if around.is_empty() { "" } else { "." };
    format!("{around}{dot}{number}").into()
}

/// The text of a document whose buffer contains it only in encoded form.
#[derive(Debug)]
pub struct Decoded {
    /// The text, which is the buffer of the document's spans.
    pub text: String,
    /// Maps offsets in the text to the buffer beneath.
    pub map: OffsetMap,
    /// The spelling of new text in the buffer beneath.
    pub spelling: Spelling,
    /// The pieces of the text if their spellings differ, such as those of character data and CDATA sections;
    /// otherwise empty.
    pub pieces: Vec<Piece>,
    /// True if the buffer beneath switches to Roman (JIS X 0201), which lacks `\` and `~`.
    pub has_roman: bool,
}

/// A stretch of a document's text with a uniform spelling.
#[derive(Debug)]
pub struct Piece {
    /// The span in the text.
    pub span: Span,
    /// The syntax that contains the stretch.
    pub carrier: Carrier,
    /// Maps offsets in the stretch to the buffer beneath.
    pub map: OffsetMap,
}

named! {
    /// The role of a link in its document.
    #[derive(PartialOrd, Ord)]
    pub enum Role {
        /// The document needs the target to look or work as intended: an image, a script, a style sheet.
        Embedded = "embedded",
        /// A reader follows the link.
        Navigation = "navigation",
        /// Programs learn something about the document or a resource from the link.
        Metadata = "metadata",
    }
}

display_by_name!(Role);

named! {
    /// The kind of the target that the place of a link asks for. The target itself may be of another type.
    #[derive(PartialOrd, Ord)]
    pub enum Kind {
        /// A document to which a reader navigates.
        Document = "document",
        /// A document in a frame.
        Frame = "frame",
        /// An image, or a candidate for one.
        Image = "image",
        /// A script.
        Script = "script",
        /// A style sheet.
        Style = "style",
        /// Audio, video, or a text track.
        Media = "media",
        /// A plugin or its data.
        Object = "object",
        /// Anything else, such as a URL in a style sheet, of which the place does not tell the kind.
        Other = "other",
    }
}

display_by_name!(Kind);

impl Kind {
    /// The kind of a link with this `role` in an attribute of an element with this `rel`.
    ///
    /// ```
    /// use baselink_scan::document::{Kind, Role};
    /// let of = |element, attribute, rel| Kind::of(Role::Embedded, element, Some(attribute), rel);
    /// assert_eq!(of("img", "src", ""), Kind::Image);
    /// assert_eq!(of("link", "href", "alternate StyleSheet"), Kind::Style);
    /// assert_eq!(of("img", "style", ""), Kind::Other);
    /// ```
    #[doc(hidden)]
    pub fn of(role: Role, element: &str, attribute: Option<&str>, rel: &str) -> Self {
        match (role, element, attribute) {
            (Role::Navigation, ..) => Self::Document,
            (Role::Metadata, ..) | (.., None | Some("style")) => Self::Other,
            (_, _, Some("background" | "imagesrcset" | "poster")) => Self::Image,
            (_, "link", _) if has_type(rel, "stylesheet") => Self::Style,
            (_, "link", _) if has_type(rel, "modulepreload") => Self::Script,
            (_, "link", _) if has_type(rel, "icon apple-touch-icon mask-icon") => Self::Image,
            (_, "source", Some("srcset")) => Self::Image,
            (_, "feimage" | "feImage" | "image" | "img" | "input", _) => Self::Image,
            (_, "script", _) => Self::Script,
            (_, "frame" | "iframe", Some("src")) => Self::Frame,
            (_, "audio" | "bgsound" | "source" | "track" | "video", _) => Self::Media,
            (_, "applet" | "embed" | "object" | "param", _) => Self::Object,
            _ => Self::Other,
        }
    }
}

/// True if `rel` has one of these link types (HTML, 4.6.7).
pub(crate) fn has_type(rel: &str, types: &str) -> bool {
    let mut tokens = rel.split_ascii_whitespace();
    tokens.any(|token| is_among(token.as_bytes(), types))
}

/// The longest `rel` that links have, in bytes. Each row of an element with many links repeats it.
const LONGEST_REL: usize = 1_000;

/// The value of an attribute `rel`, which all links of its element share; `None` if it is too long.
pub(crate) fn shared_rel(value: &str) -> Option<Arc<str>> {
    (value.len() <= LONGEST_REL).then(|| value.into())
}

/// The certainty that the value of a place is a reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// The place holds only references.
    #[default]
    Certain,
    /// The place also holds other text, such as a name.
    Doubtful,
    /// The value counts only if it leads to a resource of the site.
    IfFound,
    /// The value counts only if it would lead out of the folder of a copy.
    IfLeadsOut,
}

/// A reference in a document, as written.
#[derive(Debug)]
pub struct Link {
    /// The name of the element as the tokenizer gives it; empty in a style sheet.
    pub element: Cow<'static, str>,
    /// The name of the attribute; `None` in text and style sheets.
    pub attribute: Option<Cow<'static, str>>,
    /// The reference, decoded and without surrounding white space.
    pub reference: String,
    /// The role in the document.
    pub role: Role,
    /// The certainty that the value is a reference.
    pub certainty: Certainty,
    /// The base against which the reference is resolved.
    pub against: Against,
    /// True if an empty reference means the base; false if it has no meaning.
    pub empty_resolves: bool,
    /// True if a fragment alone names an element of this document (`usemap`, `url(#x)`) and must be kept.
    pub fragment_identifies: bool,
    /// Maps offsets in the reference to the document's buffer; `None` if the reference cannot be edited.
    pub map: Option<OffsetMap>,
    /// The smallest span of the document's buffer that contains the reference.
    pub holder: Span,
    /// The spelling of new text in place of the reference.
    pub spelling: Spelling,
    /// The value of the attribute `rel` of the element (HTML, 4.6.7; RFC 4287, 4.2.7.2).
    pub rel: Option<Arc<str>>,
    /// The name of the custom property whose value contains the reference. Browsers resolve such a reference where
    /// the property is used (CSS Custom Properties 1, 3).
    pub custom_property: Option<Box<str>>,
}

impl Link {
    /// An embedded reference in text called `element`, which cannot be edited.
    pub fn in_text(
        element: impl Into<Cow<'static, str>>,
        reference: String,
        holder: Span,
        form: Form,
    ) -> Self {
        Self {
            element: element.into(),
            attribute: None,
            reference,
            role: Role::Embedded,
            certainty: Certainty::Certain,
            against: Against::Document,
            empty_resolves: false,
            fragment_identifies: false,
            map: None,
            holder,
            spelling: Spelling {
                form,
                carrier: Carrier::Raw,
                enclosed: false,
            },
            rel: None,
            custom_property: None,
        }
    }

    /// The span of the reference in the document's buffer, or of the syntax that contains it.
    pub fn span(&self) -> Span {
        self.map.as_ref().map_or(self.holder, OffsetMap::source)
    }
}

/// The base against which a reference is resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Against {
    /// The document base URL.
    #[default]
    Document,
    /// The base that the document would have without its own declarations: used by `base href`.
    Fallback,
    /// The retrieval URL of the document, whatever its declarations: used by `html manifest`.
    Retrieval,
    /// A `codebase`, which is itself resolved against the document base URL (HTML 4.01, 13.3), or against the base of an
    /// element as in [`Element`](Self::Element). The resolver of the URL Standard ignores it.
    Codebase(Option<usize>, String),
    /// Inner bases that every resolver uses, outermost first, each resolved against the one before it: `@base` of
    /// JSON-LD.
    Inner(Vec<String>),
    /// The base of an element that has or inherits an `xml:base`, as an index into [`Document::element_bases`] (XML
    /// Base, 4.2).
    Element(usize),
    /// The document base URL regardless of any `xml:base`, for style sheets in the document (SVG 2, 6.5) and
    /// processing instructions (XML Base, 4.3).
    DocumentEntity,
    /// No base: a relative reference stays relative.
    Nothing,
    /// Unknown, because the reference contains an entity that was not read.
    Unknown,
    /// Unknown, because an XSLT style sheet produces the reference. Only the resulting documents have a base.
    Results,
}

named! {
    /// The status of a declaration of a base in its document; by name, the reason why the declaration does or does not
    /// count, as a clause.
    pub enum Standing {
        /// The effective declaration.
        First = "the first base element with an href, in tree order",
        /// A later `base` element with an `href`.
        Later = "a base element with an href comes before it in tree order",
        /// A `base` element without `href`.
        NoHref = "it has no href",
        /// A name that differs from `base` in case or namespace.
        NotXhtml = "it is not a 'base' element of the XHTML namespace",
        /// Outside the document tree: in a `template`, or in a body that a `frameset` replaced.
        Template = "it is in a template, or in a body that a frameset replaced",
        /// An SVG or MathML element named `base`.
        Foreign = "it is an SVG or MathML element, not an HTML one",
        /// A tag that creates no element in its position, for example in a frameset.
        Dropped = "the tag creates no element there",
        /// In `noscript`, `noframes` or `noembed`, which browsers that run scripts treat as text.
        FallbackContent = "it is in content for browsers without scripts, frames or plugins",
        /// In a conditional comment.
        ConditionalComment = "it is in a conditional comment",
        /// Not a tag: in a comment.
        Comment = "it is in a comment",
        /// Not a tag: in the text of an element such as `script`, `style` or `title`.
        RawText = "it is in the text of an element that contains no markup",
        /// Not a tag: inside another tag, for example in an attribute value.
        Tag = "it is inside another tag",
        /// Not a tag: in a CDATA section.
        CharacterData = "it is in a CDATA section",
        /// Not a tag: the document ends before the tag does.
        CutOff = "the document ends inside the tag",
    }
}

named! {
    /// The reason why the meaning of a base in XML is unknown, though browsers may use the base.
    pub enum BaseDoubt {
        /// The value contains an entity that was not read.
        Value = "its value depends on an entity that was not read",
        /// The `base` element is in the text of an entity.
        Element = "its element is in the text of an entity",
        /// The value is the default of an attribute (XML 1.0, 3.3.2).
        Default = "its value is a default in the document type declaration",
    }
}

impl BaseDoubt {
    /// Returns the doubt about a value with references to `entities`, if there are any.
    pub(crate) fn of_value(entities: &[Span]) -> Option<Self> {
        (!entities.is_empty()).then_some(Self::Value)
    }
}

/// The syntax that declares a base in the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseKind {
    /// An HTML `base` element.
    Element,
    /// An `xml:base` of the document element.
    XmlBase,
    /// A comment that replaced a `base` element when a browser saved the page ([`crate::html::saved`]).
    Comment,
}

/// The comment in which a page records the URL from which it was saved.
///
/// The comment gives a retrieval URL. It also determines the treatment of fragments, and of links that the saving
/// program wrote. To support another comment of this kind, add a variant of [`Program`] and a reader in
/// `scan/html/saved.rs`. For a note that gives only a URL, add a variant of `Source` in `baselink-rewrite` instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The program that wrote the comment.
    pub program: Program,
    /// The URL as the comment has it.
    pub written: String,
}

/// Programs that record the original URL in saved pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Internet Explorer, Chromium and related browsers, which put the files of a page into a companion folder.
    Browser,
    /// SingleFile.
    SingleFile,
    /// HTTrack, whose URLs have no scheme up to version 3.49.
    HtTrack,
    /// monolith.
    Monolith,
}

impl Saved {
    /// The URL from which the page was saved. `scheme` completes those URLs of HTTrack that have none.
    pub fn url(&self, scheme: &str) -> Cow<'_, str> {
        if self.has_scheme() {
            Cow::Borrowed(&self.written)
        } else {
            Cow::Owned(format!("{scheme}://{}", self.written))
        }
    }

    /// True if the comment names the origin of the page. People write `about:internet`, which names none, by hand
    /// into pages that were never saved.
    pub fn is_of_page(&self) -> bool {
        !starts_with(self.written.as_bytes(), "about:")
    }

    /// True if the URL includes its scheme.
    pub fn has_scheme(&self) -> bool {
        let scheme = self.written.split_once("://").map(|(scheme, _)| scheme);
        self.program != Program::HtTrack || scheme.is_some_and(|name| !name.contains(['.', '/']))
    }

    /// The reason why nobody else can retrieve the page from the URL; `None` if there is no such reason.
    pub fn disbelief(&self) -> Option<&'static str> {
        let url = self.url("https").to_ascii_lowercase();
        if url.starts_with("about:") {
            return Some("it is not a network address");
        }
        if url.starts_with("file:") {
            return Some("it leads to the disk from which the page was opened");
        }
        let authority = url
            .split_once("://")?
            .1
            .split(['/', '?', '#', '\\'])
            .next()?;
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
            "internet.e-mail" => Some("it is a placeholder for any mail"),
            _ if is_loopback => Some("it leads to the machine on which the page was saved"),
            _ => None,
        }
    }
}

/// A declaration of a base in the content (RFC 1808, 3.1).
#[derive(Debug)]
pub struct DeclaredBase {
    /// The syntax of the declaration.
    pub kind: BaseKind,
    /// The span of the whole element or attribute value in the document's buffer.
    pub span: Span,
    /// The value, decoded and without surrounding white space; `None` without a value. If a document type
    /// declaration declares the base, the text of the declaration.
    pub value: Option<String>,
    /// The reason why the meaning of the base is unknown; `None` if it is known.
    pub doubt: Option<BaseDoubt>,
    /// The status of the declaration, which determines whether it counts.
    pub standing: Standing,
}

impl DeclaredBase {
    /// Creates an effective declaration at `span` without a value.
    pub fn of(kind: BaseKind, span: Span) -> Self {
        Self {
            kind,
            span,
            value: None,
            doubt: None,
            standing: Standing::First,
        }
    }
}

named! {
    /// A header field that holds a URL.
    pub enum UrlField {
        /// `Base` (RFC 1808, 3.1).
        Base = "Base",
        /// `Content-Base` (RFC 2110, 4.2; removed in RFC 2557).
        ContentBase = "Content-Base",
        /// `Content-Location` (RFC 2557, 4.2).
        ContentLocation = "Content-Location",
        /// `Snapshot-Content-Location`, which Chromium writes and no RFC defines.
        SnapshotContentLocation = "Snapshot-Content-Location",
    }
}

impl UrlField {
    /// True if the field labels a part, so that a relative URL in it is not a base (RFC 2557, 5).
    pub fn is_label(self) -> bool {
        matches!(self, Self::ContentLocation | Self::SnapshotContentLocation)
    }

    /// Finds the field called `name`, ignoring case.
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|field| name.eq_ignore_ascii_case(field.name().as_bytes()))
    }
}

/// The URL in a header field.
#[derive(Debug, PartialEq)]
pub struct UrlValue {
    /// The field.
    pub field: UrlField,
    /// The URL without its delimiters, decoded but not percent-decoded.
    pub url: Arc<str>,
    /// The span of the whole field.
    pub span: Span,
}
