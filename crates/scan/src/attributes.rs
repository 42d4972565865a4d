//! THE table: every attribute of an HTML document that holds URLs, with the syntax of its value, the base of its
//! URLs, and the group that must be enabled to rewrite it.
//!
//! The attributes are from HTML (those of type "valid URL", 2.4.1, and chapter 16, "Obsolete features"), HTML 2.0,
//! 3.2, 4.01 and the 3.0 draft, SVG 1.1 and 2, MathML 2 to Core, RDFa 1.1, AMP, VML and vendors' documentation, all as
//! they occur inside text/html. `docs/attributes.tsv` has the same table for users, and names the standard of each row; a
//! test compares the two.
//!
//! ```
//! use baselink_scan::attributes::{find, AttributeBase, Groups, Namespace, Syntax};
//! let content = |name: &str| (name == "http-equiv").then(|| "Refresh".to_string());
//! let row = find(Namespace::Html, "meta", "content", &content, &Groups::default()).unwrap();
//! assert_eq!((row.syntax, row.against), (Syntax::Refresh, AttributeBase::Document));
//! assert!(find(Namespace::Html, "a", "class", &|_| None, &Groups::all()).is_none());
//! ```
//!
//! Deliberately absent: identifiers that only look like links (`itemtype`, `xmlns`, `xlink:role`, `typeof`),
//! scripts (`on*`), and user data (`value` of `input`). Attributes that are never rewritten have no row.

use std::{borrow::Cow, str::FromStr, sync::LazyLock};

use baselink_text::{Error, display_by_name, format::is_among, named, parse_by_name};

use crate::{document::Role, xml::namespaces::Vocabulary};

/// The namespace of an element (DOM, "element namespace").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    /// The HTML namespace, including `v:fill` and other prefixed names, as in the HTML parser.
    Html,
    /// The SVG namespace: `<svg>` and elements in it.
    Svg,
    /// The MathML namespace: `<math>` and elements in it.
    MathMl,
}

/// The syntax of an attribute's value around the URLs in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// A URL potentially surrounded by spaces (HTML, 2.4.1).
    Url,
    /// URLs separated by spaces (HTML, 2.3.7).
    Spaces,
    /// Alternating namespace names and URLs, separated by spaces (XML Schema 1, 2.6.3).
    Pairs,
    /// URLs separated by commas (HTML 4.01, 13.4: `archive` of `applet`).
    Commas,
    /// URLs separated by semicolons (SVG animations, `values`).
    Semicolons,
    /// Image candidate strings (HTML, 4.8.4.2.1).
    Srcset,
    /// A time and a URL (HTML, 4.2.5.3, "shared declarative refresh steps").
    Refresh,
    /// `name=…;action-uri=URL;icon-uri=URL` (`msapplication-task`).
    Task,
    /// A SafeCURIE, or a CURIE or IRI (RDFa 1.1 Core, 7.4.2). Text in brackets is not a URL.
    Curie,
    /// An XPath expression, in which calls of `document` contain URLs (XSLT 1.0, 12.1).
    Documents,
    /// CSS declarations (CSS Style Attributes).
    Css,
    /// The value of one CSS property (SVG 2, 6.6, "presentation attributes").
    CssValue,
    /// An HTML document (HTML, 4.8.5, `srcdoc`).
    Html,
}

/// The base against which the URLs of an attribute are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeBase {
    /// The document base URL (HTML, 2.4.3).
    Document,
    /// The fallback base URL (HTML, 2.4.3): `<base href>` itself.
    Fallback,
    /// The document's own URL, unaffected by `<base>` (HTML5 2014, 7.9.4: `manifest`).
    Retrieval,
    /// The `codebase` of the same element, resolved against the document base URL (HTML 4.01, 13.3). If there is none,
    /// and under the WHATWG resolver, the document base URL itself.
    Codebase,
}

named! {
    /// A set of rows that only count if the group is enabled.
    ///
    /// ```
    /// # use baselink_scan::attributes as baselink;
    /// use baselink::Group;
    /// assert_eq!("lazy".parse::<Group>()?, Group::Lazy);
    /// assert_eq!(Group::Lazy.name(), "lazy");
    /// # Ok::<(), baselink_text::Error>(())
    /// ```
    pub enum Group {
        /// `meta` elements for social networks, pinned sites and search engines.
        Social = "social",
        /// `data-*` attributes of lazy loading libraries.
        Lazy = "lazy",
        /// Import maps, speculation rules and JSON-LD in `script` elements; JSON Feeds.
        Json = "json",
        /// Header fields of messages and HTTP responses.
        Headers = "headers",
        /// `<URL:…>` in plain text.
        Text = "text",
        /// Web app manifests, JSON Feeds, sitemaps and descriptions of search engines.
        Manifest = "manifest",
        /// The imports of scripts, and URLs relative to a module.
        Scripts = "scripts",
        /// Rarely used places: plug-ins, RDFa, AMP, custom elements, Internet Explorer, SVG animations, names that
        /// are URLs, drafts, XML vocabularies that browsers do not display.
        Rare = "rare",
    }
}

display_by_name!(Group);

parse_by_name!(Group: "unknown group '{}'; use one of {}, all");

/// A set of groups. The default is the empty set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups(u16);

impl Groups {
    /// The number of sets, each with and without [`Self::LOADED`].
    pub(crate) const SETS: usize = 2 << Group::ALL.len();

    /// The mark for places of other groups from which browsers load without a script.
    const LOADED: u16 = 1 << Group::ALL.len();

    /// The set of all groups.
    pub const fn all() -> Self {
        Self((1 << Group::ALL.len()) - 1)
    }

    /// The number of this set, which is below [`SETS`](Self::SETS).
    pub(crate) fn number(self) -> usize {
        self.0.into()
    }

    /// Adds `group`.
    pub const fn insert(&mut self, group: Group) {
        self.0 |= 1 << group as u32;
    }

    #[doc(hidden)]
    /// Adds the places of other groups from which browsers load without a script. A link in them is
    /// [`Certainty::IfLeadsOut`](crate::document::Certainty).
    pub const fn insert_loaded(&mut self) {
        self.0 |= Self::LOADED;
    }

    /// True after [`insert_loaded`](Self::insert_loaded).
    pub(crate) const fn has_loaded(self) -> bool {
        self.0 & Self::LOADED != 0
    }

    /// True if places of `row` are read.
    pub(crate) fn read(self, row: &Row) -> bool {
        row.group.is_none_or(|group| self.contains(group)) || (row.loads && self.has_loaded())
    }

    /// Adds the groups of `other`.
    pub const fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// True if `group` is in the set.
    pub const fn contains(self, group: Group) -> bool {
        self.0 & (1 << group as u32) != 0
    }
}

impl FromStr for Groups {
    type Err = Error;

    /// Parses names separated by commas; `all` means every group.
    fn from_str(list: &str) -> Result<Self, Error> {
        let mut groups = Self::default();
        for name in list.split(',').map(str::trim) {
            match name {
                "all" => groups = Self::all(),
                _ => groups.insert(name.parse()?),
            }
        }
        Ok(groups)
    }
}

/// A condition on the attributes of a tag. Values are compared ASCII case-insensitively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// No condition.
    Always,
    /// The attribute has one of these values. White space around the value is significant.
    Is(&'static str, &'static str),
    /// The attribute is a list of tokens (HTML, 2.3.7) that contains one of these.
    Has(&'static str, &'static str),
    /// The attribute's value contains this text. Used for attributes that hold either CSS or a URL.
    Contains(&'static str, &'static str),
}

impl Condition {
    /// True if the condition holds in a tag whose attributes `other` looks up by name.
    pub fn holds(self, other: &dyn Fn(&str) -> Option<String>) -> bool {
        match self {
            Self::Always => true,
            Self::Is(name, values) => {
                other(name).is_some_and(|value| is_among(value.as_bytes(), values))
            }
            Self::Has(name, values) => other(name).is_some_and(|value| {
                value
                    .split_ascii_whitespace()
                    .any(|token| is_among(token.as_bytes(), values))
            }),
            Self::Contains(name, part) => {
                other(name).is_some_and(|value| value.to_ascii_lowercase().contains(part))
            }
        }
    }
}

/// One row of the table: one attribute of some elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The vocabulary of the elements in XML; `None` for any, and in the table of HTML.
    pub vocabulary: Option<Vocabulary>,
    /// The vocabulary of the attribute in XML; [`Vocabulary::Plain`] for text, and for an attribute without a prefix.
    pub attribute_vocabulary: Vocabulary,
    /// The namespaces of the elements.
    pub namespaces: &'static [Namespace],
    /// The elements: names in ASCII lower case before the HTML parser adjusts them (`foreignobject`, `image`), separated
    /// by spaces; `*` for every element of the namespace; a prefix before `*`; or `*-*` for custom elements (HTML,
    /// 4.13.3) except AMP's.
    pub elements: &'static str,
    /// The name of the attribute, in lower case.
    pub attribute: &'static str,
    /// The syntax of the value.
    pub syntax: Syntax,
    /// The base of the URLs.
    pub against: AttributeBase,
    /// The condition under which the value contains URLs.
    pub when: Condition,
    /// The group that must be enabled; `None` if the row always counts.
    pub group: Option<Group>,
    /// True if browsers load the URLs without a script, so that a copy guards them even if the group is not enabled.
    pub loads: bool,
    /// True if an empty reference is resolved like any other (RFC 1808, 4, step 2a). Else it is kept, because it means the
    /// document or nothing, but not the base.
    pub empty_resolves: bool,
    /// True if a reference that consists of a fragment only names an element of the same document, and is never rewritten.
    /// Else the user's policy for fragments applies.
    pub fragment_identifies: bool,
    /// The role of the URLs in the document.
    pub role: Role,
}

impl Row {
    /// True if an element called `name` is one of the elements.
    pub fn covers(&self, name: &str) -> bool {
        match self.elements.strip_suffix('*') {
            Some("*-") => name.contains('-') && !name.contains(':') && !name.starts_with("amp-"),
            Some(prefix) => name.starts_with(prefix),
            // For such short texts, faster than `str::split`.
            None => self
                .elements
                .as_bytes()
                .split(|byte| *byte == b' ')
                .any(|known| known == name.as_bytes()),
        }
    }

    /// The name of an element of this row in lower case, given as `written` in any case.
    pub fn element(&self, written: &[u8]) -> Option<Cow<'static, str>> {
        lower_case(written, self.elements)
    }

    /// The name of the attribute in lower case, given as `written` in any case.
    pub fn attribute(&self, written: &[u8]) -> Option<Cow<'static, str>> {
        lower_case(written, self.attribute)
    }

    const fn against(self, against: AttributeBase) -> Self {
        Self { against, ..self }
    }

    pub(crate) const fn when(self, when: Condition) -> Self {
        Self { when, ..self }
    }

    pub(crate) const fn only(self, group: Group) -> Self {
        Self {
            group: Some(group),
            ..self
        }
    }

    /// This row, in the group `rare`.
    pub(crate) const fn rare(self) -> Self {
        self.only(Group::Rare)
    }

    /// This row, with empty references resolved.
    const fn resolve_empty(self) -> Self {
        Self {
            empty_resolves: true,
            ..self
        }
    }

    /// This row, in which a mere fragment names an element.
    pub(crate) const fn identifier(self) -> Self {
        Self {
            fragment_identifies: true,
            ..self
        }
    }

    /// This row, for links that a reader follows.
    pub(crate) const fn navigation(self) -> Self {
        Self {
            role: Role::Navigation,
            ..self
        }
    }

    /// This row, for links that are read by programs.
    pub(crate) const fn metadata(self) -> Self {
        Self {
            role: Role::Metadata,
            ..self
        }
    }
}

/// A row whose URLs are [`Role::Embedded`] by default.
pub(crate) const fn row(
    namespaces: &'static [Namespace],
    attribute: &'static str,
    elements: &'static str,
    syntax: Syntax,
) -> Row {
    Row {
        vocabulary: None,
        attribute_vocabulary: Vocabulary::Plain,
        namespaces,
        elements,
        attribute,
        syntax,
        against: AttributeBase::Document,
        when: Condition::Always,
        group: None,
        loads: false,
        empty_resolves: false,
        fragment_identifies: false,
        role: Role::Embedded,
    }
}

const fn html(attribute: &'static str, elements: &'static str, syntax: Syntax) -> Row {
    row(&[Namespace::Html], attribute, elements, syntax)
}

const fn svg(attribute: &'static str, elements: &'static str) -> Row {
    row(&[Namespace::Svg], attribute, elements, Syntax::Url)
}

const fn mathml(attribute: &'static str, elements: &'static str) -> Row {
    row(&[Namespace::MathMl], attribute, elements, Syntax::Url)
}

/// A presentation attribute: a CSS value on any SVG element.
const fn presentation(attribute: &'static str) -> Row {
    row(&[Namespace::Svg], attribute, "*", Syntax::CssValue).identifier()
}

/// An attribute that lazy loading libraries read from any element. A row for certain elements is
/// `html(…).only(Group::Lazy)`.
const fn lazy(attribute: &'static str, syntax: Syntax) -> Row {
    html(attribute, "*", syntax).only(Group::Lazy)
}

/// An attribute of AMP elements.
const fn amp(attribute: &'static str) -> Row {
    html(attribute, AMP, Syntax::Url).rare()
}

/// The value of an animation. The syntax is that of the animated attribute.
const fn smil(attribute: &'static str, syntax: Syntax) -> Row {
    let of_any = row(&[Namespace::Svg], attribute, "animate set", syntax);
    let loaded = Row {
        loads: true,
        ..of_any
    }
    .rare()
    .identifier();
    match syntax {
        CssValue => loaded,
        // Any prefix may denote XLink.
        _ => loaded.when(Condition::Contains("attributename", "href")),
    }
}

use Syntax::{Commas, Css, CssValue, Curie, Html, Refresh, Semicolons, Spaces, Srcset, Task, Url};

const AMP: &str = "amp-*";
const VML: &str = "v:*";
/// `<image>` is parsed as `<img>` (HTML, 13.2.6.4.7), so every row of `img` names both.
const IMG_INPUT: &str = "img image input";

const SVG_IMAGE: &str = "image feimage cursor";
const SVG_MEDIA: &str = "audio video animation foreignobject prefetch";
#[rustfmt::skip]
const SVG_TEMPLATE: &str = "lineargradient radialgradient pattern filter mask clippath marker textpath mpath tref glyphref altglyph font-face-uri definition-src color-profile";
#[rustfmt::skip]
const SVG_ANIMATION: &str = "animate set animatemotion animatetransform animatecolor discard handler listener";

const PLUGIN_PARAMETERS: &str = "movie src data filename url href image";

/// `meta` names and properties whose content is a URL, in one list because pages use `name` and `property`
/// interchangeably.
#[rustfmt::skip]
const SOCIAL: &str = "og:url og:image og:image:url og:image:secure_url og:video og:video:url og:video:secure_url og:audio og:audio:url og:audio:secure_url article:author al:android:url al:ios:url al:ipad:url al:iphone:url al:web:url al:windows:url al:windows_phone:url al:windows_universal:url twitter:image twitter:image:src twitter:image0 twitter:image1 twitter:image2 twitter:image3 twitter:player twitter:player:stream twitter:url msapplication-tileimage msapplication-square70x70logo msapplication-square150x150logo msapplication-square310x310logo msapplication-wide310x150logo msapplication-config msapplication-starturl thumbnail image";

/// The `rel` values of `link` elements that a browser loads with the page (HTML, 4.6.7). Excludes links that only
/// some devices load, and those that are loaded only after an application is installed.
pub(crate) const LOADED: &str = "stylesheet icon preload modulepreload";

/// schema.org properties whose value is a URL.
#[rustfmt::skip]
const ITEMPROP: &str = "url image logo sameAs thumbnailUrl contentUrl embedUrl downloadUrl installUrl discussionUrl mainEntityOfPage screenshot";

/// The table, sorted by attribute, with one row per line. Of several rows for one attribute, the first match counts,
/// so rows with named elements come before rows with `amp-*`, `v:*`, custom elements and any element.
#[rustfmt::skip]
pub static TABLE: &[Row] = &[
    html("about", "*", Curie).rare().metadata(),
    html("action", "form isindex", Url).navigation(),
    html("action-xhr", "form", Url).navigation(),
    mathml("altimg", "math"),
    html("archive", "object", Spaces).against(AttributeBase::Codebase),
    html("archive", "applet", Commas).against(AttributeBase::Codebase),
    html("archive", "script", Url),
    amp("artwork"),
    html("attributionsrc", "a area img image script", Spaces).metadata(),
    html("background", "body table col colgroup thead tbody tfoot tr td th ilayer layer", Url),
    amp("background-audio"),
    amp("bookend-config-src"),
    smil("by", Url),
    amp("canonical").metadata(),
    mathml("cdgroup", "math").rare().metadata(),
    html("cite", "blockquote q ins del", Url).resolve_empty().metadata(),
    html("classid", "object", Url).against(AttributeBase::Codebase),
    presentation("clip-path"),
    Row { loads: true, ..html("code", "embed", Url).rare() },
    html("codebase", "applet object", Url).metadata(),
    presentation("color-profile"),
    html("content", "meta", Refresh).when(Condition::Is("http-equiv", "refresh")).navigation(),
    html("content", "meta", Task).when(Condition::Is("name", "msapplication-task")).only(Group::Social).metadata(),
    html("content", "meta", Url).when(Condition::Is("name", SOCIAL)).only(Group::Social).metadata(),
    html("content", "meta", Url).when(Condition::Has("property", SOCIAL)).only(Group::Social).metadata(),
    html("content", "meta", Url).when(Condition::Has("itemprop", ITEMPROP)).only(Group::Social).metadata(),
    presentation("cursor"),
    html("data", "object", Url).against(AttributeBase::Codebase),
    lazy("data-background", CssValue).when(Condition::Contains("data-background", "url(")).identifier(),
    lazy("data-background", Url),
    lazy("data-background-image", CssValue).when(Condition::Contains("data-background-image", "url(")).identifier(),
    lazy("data-background-image", Url),
    lazy("data-bg", CssValue).when(Condition::Contains("data-bg", "url(")).identifier(),
    lazy("data-bg", Url),
    lazy("data-bgset", Srcset),
    lazy("data-full", Url),
    lazy("data-hi-res-src", Url),
    lazy("data-href", Url).navigation(),
    lazy("data-image", Url),
    lazy("data-large_image", Url),
    lazy("data-lazy", Url),
    lazy("data-lazy-src", Url),
    lazy("data-lazy-srcset", Srcset),
    lazy("data-original", Url),
    lazy("data-poster", Url),
    lazy("data-src", Url),
    lazy("data-srcset", Srcset),
    lazy("data-thumb", Url),
    lazy("data-url", Url).navigation(),
    mathml("definitionurl", "*").rare().metadata(),
    html("dynsrc", IMG_INPUT, Url),
    html("environmentmap", "model", Url),
    presentation("fill"),
    presentation("filter"),
    html("formaction", "button input", Url).navigation(),
    smil("from", Url),
    smil("from", CssValue),
    html("href", "a area", Url).resolve_empty().navigation(),
    html("href", "link", Url).when(Condition::Has("rel", LOADED)),
    html("href", "link", Url).metadata(),
    html("href", "base", Url).against(AttributeBase::Fallback).metadata(),
    html("href", VML, Url).navigation(),
    html("href", "*-*", Url).rare().navigation(),
    svg("href", "a").resolve_empty().navigation(),
    svg("href", "script"),
    svg("href", SVG_IMAGE).identifier(),
    svg("href", "use").identifier(),
    svg("href", SVG_TEMPLATE).identifier(),
    svg("href", SVG_ANIMATION).identifier(),
    svg("href", SVG_MEDIA),
    mathml("href", "a").resolve_empty().navigation(),
    mathml("href", "share").identifier(),
    mathml("href", "*").navigation(),
    html("icon", "menuitem command", Url),
    html("imagemap", "fig overlay", Url).rare().navigation(),
    html("imagesrcset", "link", Srcset),
    html("installurl", "install", Url).rare().navigation(),
    html("itemid", "*", Url).resolve_empty().metadata(),
    html("longdesc", "img image frame iframe", Url).navigation(),
    html("lowsrc", IMG_INPUT, Url),
    row(&[Namespace::MathMl], "macros", "math", Spaces).rare(),
    html("manifest", "html", Url).against(AttributeBase::Retrieval).metadata(),
    html("manifestid", "install", Url).rare().metadata(),
    presentation("marker"),
    presentation("marker-end"),
    presentation("marker-mid"),
    presentation("marker-start"),
    presentation("mask"),
    presentation("mask-image"),
    html("o:althref", "v:fill v:imagedata", Url),
    html("o:href", "v:fill v:imagedata", Url),
    presentation("offset-path"),
    html("ping", "a area", Spaces).metadata(),
    row(&[Namespace::Svg], "ping", "a", Spaces).metadata(),
    html("pluginspage", "object embed", Url).navigation(),
    html("pluginurl", "object embed", Url).navigation(),
    html("poster", "video model", Url),
    html("poster", AMP, Url),
    amp("poster-landscape-src"),
    amp("poster-portrait-src"),
    amp("poster-square-src"),
    html("profile", "head", Spaces).metadata(),
    amp("publisher-logo-src"),
    html("resource", "*", Curie).rare().metadata(),
    presentation("shape-inside"),
    presentation("shape-subtract"),
    amp("shareurl").metadata(),
    html("src", "img image source iframe embed video audio track input script frame portal model fencedframe", Url),
    html("src", "bgsound sound xml layer ilayer", Url),
    html("src", "fig overlay note hr ul li h1 h2 h3 h4 h5 h6", Url).rare(),
    html("src", AMP, Url),
    html("src", VML, Url),
    html("src", "*-*", Url).rare(),
    mathml("src", "mglyph annotation annotation-xml"),
    mathml("src", "share").identifier(),
    html("srcdoc", "iframe", Html),
    html("srcset", "img image source", Srcset),
    html("srcset", AMP, Srcset),
    presentation("stroke"),
    row(&[Namespace::Html, Namespace::Svg, Namespace::MathMl], "style", "*", Css).identifier(),
    smil("to", Url),
    smil("to", CssValue),
    html("usemap", "img image object input", Url).rare().identifier(),
    html("value", "param", Url).when(Condition::Is("valuetype", "ref")),
    html("value", "param", Url).when(Condition::Is("name", PLUGIN_PARAMETERS)).rare(),
    smil("values", Semicolons),
    smil("values", CssValue),
    html("verify-xhr", "form", Url).navigation(),
    html("vrml", IMG_INPUT, Url),
    svg("xlink:href", "a").resolve_empty().navigation(),
    svg("xlink:href", "script"),
    svg("xlink:href", SVG_IMAGE).identifier(),
    svg("xlink:href", "use").identifier(),
    svg("xlink:href", SVG_TEMPLATE).identifier(),
    svg("xlink:href", SVG_ANIMATION).identifier(),
    svg("xlink:href", SVG_MEDIA),
    mathml("xlink:href", "*").navigation(),
];

/// A name in lower case, without an allocation if it is one of the `known` names; `None` if it is not UTF-8.
fn lower_case(written: &[u8], known: &'static str) -> Option<Cow<'static, str>> {
    match known
        .split(' ')
        .find(|name| name.as_bytes().eq_ignore_ascii_case(written))
    {
        Some(name) => Some(Cow::Borrowed(name)),
        None => str::from_utf8(written)
            .ok()
            .map(|name| Cow::Owned(name.to_ascii_lowercase())),
    }
}

/// The rows of each attribute, indexed by the first letter of its name, so that most lookups fail at once.
static BY_LETTER: LazyLock<[Vec<&'static [Row]>; 128]> = LazyLock::new(|| {
    let mut by_letter = [const { Vec::new() }; 128];
    for rows in TABLE.chunk_by(|one, next| one.attribute == next.attribute) {
        by_letter[usize::from(rows[0].attribute.as_bytes()[0])].push(rows);
    }
    by_letter
});

/// The rows for an attribute of this name on any element.
pub fn rows(attribute: &str) -> &'static [Row] {
    let letter = attribute.bytes().next().unwrap_or_default();
    let of_letter = BY_LETTER
        .get(usize::from(letter))
        .map_or(&[][..], Vec::as_slice);
    of_letter
        .iter()
        .find(|rows| rows[0].attribute == attribute)
        .copied()
        .unwrap_or_default()
}

/// The row for `attribute` of an `element`; `None` if the attribute holds no URLs.
///
/// Names are in ASCII lower case. `other` returns the decoded value of any attribute of the tag. It is called only
/// for rows with a condition.
pub fn find(
    namespace: Namespace,
    element: &str,
    attribute: &str,
    other: &dyn Fn(&str) -> Option<String>,
    groups: &Groups,
) -> Option<&'static Row> {
    rows(attribute).iter().find(|row| {
        groups.read(row)
            && row.namespaces.contains(&namespace)
            && row.covers(element)
            && row.when.holds(other)
    })
}

/// A place added by the user: `ELEMENT[ATTRIBUTE]=SYNTAX`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the element in lower case; `None` for any element.
    element: Option<String>,
    /// The name of the attribute in lower case.
    attribute: String,
    row: &'static Row,
}

/// The syntaxes that a user can choose, each with its row. The URLs are embedded and resolved against the document
/// base URL. Empty references are kept. In CSS, a mere fragment names an element.
static USER: [(&str, Row); 5] = [
    ("url", html("", "*", Url)),
    ("urls", html("", "*", Spaces)),
    ("srcset", html("", "*", Srcset)),
    ("css", html("", "*", Css).identifier()),
    ("html", html("", "*", Html)),
];

impl Place {
    #[doc(hidden)]
    /// True if the place covers `attribute` of an `element` of any namespace, both in lower case.
    pub fn covers(&self, element: &str, attribute: &str) -> bool {
        self.attribute == attribute && self.element.as_ref().is_none_or(|name| name == element)
    }

    #[doc(hidden)]
    /// The name of the attribute, in lower case.
    pub(crate) fn attribute(&self) -> &str {
        &self.attribute
    }

    #[doc(hidden)]
    /// The row that defines how the attribute is read. Its element and attribute names are unused.
    pub const fn row(&self) -> &'static Row {
        self.row
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(place: &str) -> Result<Self, Error> {
        let parts = place.split_once('[').and_then(|(element, rest)| {
            let (attribute, syntax) = rest.split_once(']')?;
            Some((
                element.trim(),
                attribute.trim(),
                syntax.trim_start().strip_prefix('=')?.trim(),
            ))
        });
        let name = |name: &str| {
            !name.is_empty()
                && !name.contains(|c: char| c.is_ascii_whitespace() || "[]*/>=\"'<".contains(c))
        };
        let Some((element, attribute, syntax)) = parts.filter(|(element, attribute, _)| {
            (*element == "*" || name(element)) && name(attribute)
        }) else {
            return Err(Error::new(format!(
                "'{place}' is not a place; write ELEMENT[ATTRIBUTE]=SYNTAX, such as \
                 'div[data-link]=url' or '*[data-set]=srcset'"
            )));
        };
        let Some((_, row)) = USER.iter().find(|(known, _)| *known == syntax) else {
            let known = USER.each_ref().map(|(known, _)| *known).join(", ");
            return Err(Error::new(format!(
                "'{place}' has the unknown syntax '{syntax}'; use one of {known}"
            )));
        };
        Ok(Self {
            element: (element != "*").then(|| element.to_ascii_lowercase()),
            attribute: attribute.to_ascii_lowercase(),
            row,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The row found for `element[attribute]` of a tag with `others`, with every group enabled.
    fn found(
        namespace: Namespace,
        element: &str,
        attribute: &str,
        others: &[(&str, &str)],
    ) -> Option<&'static Row> {
        let other = |name: &str| {
            others
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_string())
        };
        find(namespace, element, attribute, &other, &Groups::all())
    }

    #[test]
    fn the_table_is_sorted_and_in_lower_case() {
        for pair in TABLE.windows(2) {
            let (before, after) = (pair[0].attribute, pair[1].attribute);
            assert!(before <= after, "{after} comes after {before}");
        }
        for row in TABLE {
            assert_eq!(row.attribute, row.attribute.to_ascii_lowercase());
            assert!(!row.attribute.is_empty() && row.attribute.is_ascii());
            assert_eq!(row.elements, row.elements.to_ascii_lowercase());
        }
    }

    #[test]
    fn every_row_can_be_found() {
        for row in TABLE {
            let element = match row.elements {
                "*" => "any",
                AMP => "amp-img",
                VML => "v:rect",
                "*-*" => "x-y",
                names => names.split(' ').next().unwrap(),
            };
            let others = match row.when {
                Condition::Always => vec![],
                Condition::Is(name, values) | Condition::Has(name, values) => {
                    vec![(name, values.split(' ').next().unwrap())]
                }
                Condition::Contains(name, part) => vec![(name, part)],
            };
            for &namespace in row.namespaces {
                assert_eq!(found(namespace, element, row.attribute, &others), Some(row));
            }
        }
    }

    #[test]
    fn no_row_hides_a_later_one_by_name() {
        for (at, row) in TABLE.iter().enumerate() {
            for earlier in TABLE[..at]
                .iter()
                .filter(|earlier| earlier.attribute == row.attribute)
            {
                let (names, hidden) = (earlier.elements, row.elements);
                if [names, hidden].iter().any(|one| one.contains('*')) {
                    continue;
                }
                let same = earlier
                    .namespaces
                    .iter()
                    .any(|name| row.namespaces.contains(name));
                let both = names
                    .split(' ')
                    .any(|name| hidden.split(' ').any(|one| one == name));
                assert!(!same || !both || earlier.when != row.when, "{row:?}");
            }
        }
    }

    #[test]
    fn rows_of_one_attribute_differ_by_element() {
        use Namespace::{Html, MathMl, Svg};
        let syntax = |element| found(Html, element, "archive", &[]).map(|row| row.syntax);
        assert_eq!(syntax("object"), Some(Spaces));
        assert_eq!(syntax("applet"), Some(Commas));
        assert_eq!(syntax("p"), None);
        let href = |namespace, element| found(namespace, element, "href", &[]).unwrap();
        assert!(href(Html, "a").empty_resolves);
        assert_eq!(href(Html, "base").against, AttributeBase::Fallback);
        assert!(href(Svg, "use").fragment_identifies);
        assert!(!href(MathMl, "mrow").fragment_identifies);
        assert!(found(Html, "use", "href", &[]).is_none());
        assert!(found(Html, "svg", "fill", &[]).is_none());
        assert!(found(Svg, "base", "href", &[]).is_none());
        assert_eq!(found(Html, "amp-img", "src", &[]).unwrap().group, None);
        assert_eq!(
            found(Html, "my-img", "src", &[]).unwrap().group,
            Some(Group::Rare)
        );
    }

    #[test]
    fn conditions_read_the_other_attributes() {
        let meta = |others: &[(&str, &str)]| {
            found(Namespace::Html, "meta", "content", others).map(|row| row.syntax)
        };
        assert_eq!(meta(&[]), None);
        assert_eq!(meta(&[("http-equiv", "REFRESH")]), Some(Refresh));
        assert_eq!(meta(&[("http-equiv", " refresh")]), None);
        assert_eq!(meta(&[("property", "x OG:image")]), Some(Url));
        assert_eq!(meta(&[("name", "msapplication-task")]), Some(Task));
        let bg = |value| found(Namespace::Html, "p", "data-bg", &[("data-bg", value)]).unwrap();
        assert_eq!(bg("URL(a.png)").syntax, CssValue);
        assert_eq!(bg("a.png").syntax, Url);
    }

    #[test]
    fn a_group_counts_only_when_enabled() {
        let lazy = |groups: &str| {
            let groups = groups.parse().unwrap();
            find(Namespace::Html, "img", "data-src", &|_| None, &groups).is_some()
        };
        let none = Groups::default();
        assert!(find(Namespace::Html, "img", "data-src", &|_| None, &none).is_none());
        assert!(lazy("lazy"));
        assert!(lazy("social, lazy"));
        assert!(lazy("all"));
        assert!(!lazy("social"));
        let said = |list: &str| list.parse::<Groups>().unwrap_err().to_string();
        assert!(said("lazzy").contains("'lazzy'; use one of social, lazy, json"));
        assert!(
            "headers,text,rare"
                .parse::<Groups>()
                .unwrap()
                .contains(Group::Text)
        );
        assert!(said("").contains("unknown group ''"));
    }

    #[test]
    fn a_set_contains_the_inserted_groups() {
        let mut groups = Groups::default();
        for group in Group::ALL {
            assert!(!groups.contains(group));
            groups.insert(group);
            assert!(groups.contains(group));
            assert_eq!(group.name().parse::<Group>().unwrap(), group);
        }
        assert_eq!(groups, Groups::all());
    }

    #[test]
    fn a_place_of_the_user_is_parsed_or_rejected() {
        let place: Place = " DIV[ Data-Link ] = urls ".trim().parse().unwrap();
        assert!(place.covers("div", "data-link"));
        assert!(!place.covers("p", "data-link"));
        assert_eq!(place.row().syntax, Spaces);
        for wrong in [
            "",
            "div",
            "div[]=url",
            "[a]=url",
            "a[b]",
            "a[b]url",
            "a b[c]=url",
            "*[*]=url",
        ] {
            let said = wrong.parse::<Place>().unwrap_err().to_string();
            assert!(
                said.contains("ELEMENT[ATTRIBUTE]=SYNTAX"),
                "{wrong}: {said}"
            );
        }
        let said = "a[b]=uri".parse::<Place>().unwrap_err().to_string();
        assert!(
            said.ends_with("use one of url, urls, srcset, css, html"),
            "{said}"
        );
    }
}
