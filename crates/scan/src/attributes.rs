//! THE table: every attribute of an HTML document that holds URLs, with the syntax of its value, the base of its
//! URLs, and the group that must be enabled to rewrite it.
//!
//! The attributes are from HTML (those of type "valid URL", 2.4.1, and chapter 16, "Obsolete features"), HTML 2.0,
//! 3.2, 4.01 and the 3.0 draft, SVG 1.1 and 2, MathML 2 to Core, RDFa 1.1, AMP, VML and vendors' documentation, all as
//! they occur inside text/html. The table is the file `attributes.tsv`, which names the standard of each row;
//! `docs/links.md` describes its columns.
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

named! {
    /// The namespace of an element (DOM, "element namespace").
    pub enum Namespace {
        /// The HTML namespace, including `v:fill` and other prefixed names, as in the HTML parser.
        Html = "HTML",
        /// The SVG namespace: `<svg>` and elements in it.
        Svg = "SVG",
        /// The MathML namespace: `<math>` and elements in it.
        MathMl = "MathML",
    }
}

named! {
    /// The syntax of an attribute's value around the URLs in it.
    pub enum Syntax {
        /// A URL potentially surrounded by spaces (HTML, 2.4.1).
        Url = "URL",
        /// URLs separated by spaces (HTML, 2.3.7).
        Spaces = "URLs, spaces between",
        /// Alternating namespace names and URLs, separated by spaces (XML Schema 1, 2.6.3).
        Pairs = "names and URLs in turns, spaces between",
        /// URLs separated by commas (HTML 4.01, 13.4: `archive` of `applet`).
        Commas = "URLs, commas between",
        /// URLs separated by semicolons (SVG animations, `values`).
        Semicolons = "URLs, semicolons between",
        /// Image candidate strings (HTML, 4.8.4.2.1).
        Srcset = "image candidates",
        /// A time and a URL (HTML, 4.2.5.3, "shared declarative refresh steps").
        Refresh = "time and URL",
        /// `name=…;action-uri=URL;icon-uri=URL` (`msapplication-task`).
        Task = "fields, two of them URLs",
        /// A SafeCURIE, or a CURIE or IRI (RDFa 1.1 Core, 7.4.2). Text in brackets is not a URL.
        Curie = "URL, or CURIE in brackets",
        /// An XPath expression, in which calls of `document` contain URLs (XSLT 1.0, 12.1).
        Documents = "XPath: URLs in calls of document",
        /// CSS declarations (CSS Style Attributes).
        Css = "CSS declarations",
        /// The value of one CSS property (SVG 2, 6.6, "presentation attributes").
        CssValue = "CSS value",
        /// An HTML document (HTML, 4.8.5, `srcdoc`).
        Html = "HTML document",
    }
}

named! {
    /// The base against which the URLs of an attribute are resolved.
    pub enum AttributeBase {
        /// The document base URL (HTML, 2.4.3).
        Document = "document",
        /// The fallback base URL (HTML, 2.4.3): `<base href>` itself.
        Fallback = "fallback",
        /// The document's own URL, unaffected by `<base>` (HTML5 2014, 7.9.4: `manifest`).
        Retrieval = "document URL",
        /// The `codebase` of the same element, resolved against the document base URL (HTML 4.01, 13.3). If there is none,
        /// and under the WHATWG resolver, the document base URL itself.
        Codebase = "codebase",
    }
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
    /// The condition in a cell of a table, such as `rel is a b`.
    fn of_cell(cell: &'static str) -> Self {
        let (name, test) = cell.split_once(' ').unwrap_or_default();
        match test.split_once(' ') {
            Some(("is", values)) => Self::Is(name, values),
            Some(("has", values)) => Self::Has(name, values),
            Some(("contains", part)) => Self::Contains(name, part),
            _ => Self::Always,
        }
    }

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
    /// The vocabulary of the elements, for the table of XML; `None` for any.
    pub vocabulary: Option<Vocabulary>,
    /// The vocabulary of the attribute in XML; [`Vocabulary::Plain`] for text, and for an attribute without a prefix.
    pub attribute_vocabulary: Vocabulary,
    /// The namespace of the elements, for the table of HTML; `None` for any.
    pub namespace: Option<Namespace>,
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

    /// The row in a line of a table, whose cells are separated by tabs; `None` for the line of headings. The fields are in the
    /// order of the columns.
    fn of_line(line: &'static str) -> Option<Self> {
        let mut cells = line.split('\t');
        let mut cell = || cells.next();
        let vocabulary = cell()?;
        let elements = cell()?;
        let name = cell()?;
        let (attribute, prefixed) = name.split_once(" of ").unwrap_or((name, ""));
        Some(Self {
            vocabulary: Vocabulary::from_name(vocabulary),
            namespace: Namespace::from_name(vocabulary),
            elements,
            attribute,
            attribute_vocabulary: Vocabulary::from_name(prefixed)?,
            when: Condition::of_cell(cell()?),
            syntax: Syntax::from_name(cell()?)?,
            against: AttributeBase::from_name(cell()?)?,
            role: Role::from_name(cell()?)?,
            group: Group::from_name(cell()?),
            loads: cell()? == "yes",
            empty_resolves: cell()? == "resolved",
            fragment_identifies: cell()? == "left",
        })
    }
}

/// A row with the defaults.
pub(crate) const ROW: Row = Row {
    vocabulary: None,
    attribute_vocabulary: Vocabulary::Plain,
    namespace: None,
    elements: "*",
    attribute: "",
    syntax: Syntax::Url,
    against: AttributeBase::Document,
    when: Condition::Always,
    group: None,
    loads: false,
    empty_resolves: false,
    fragment_identifies: false,
    role: Role::Embedded,
};

/// The rows of a table, whose first line has the headings.
pub(crate) fn table(text: &'static str) -> Vec<Row> {
    text.lines().filter_map(Row::of_line).collect()
}

/// The table, sorted by attribute. Of several rows for one attribute, the first match counts, so rows with named elements
/// come before rows with `amp-*`, `v:*`, custom elements and any element.
///
/// - `<image>` is parsed as `<img>` (HTML, 13.2.6.4.7), so every row of `img` names both.
/// - `name` and `property` of `meta` have the same values, because pages use the two interchangeably.
/// - The `rel` values of an embedded `link` are those that a browser loads with the page (HTML, 4.6.7). They exclude links
///   that only some devices load, and those that are loaded only after an application is installed.
/// - An animation has the syntax of the animated attribute. Any prefix of its name may denote XLink.
pub static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| table(include_str!("attributes.tsv")));

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
            && row.namespace.is_none_or(|known| known == namespace)
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

/// The syntaxes that a user can choose, in place of the attribute, each with its row. The URLs are embedded and resolved against
/// the document base URL. Empty references are kept. In CSS, a mere fragment names an element.
static USER: LazyLock<Vec<Row>> = LazyLock::new(|| table(include_str!("places.tsv")));

impl Place {
    #[doc(hidden)]
    /// True if the place covers `attribute` of an `element` of any namespace, both in lower case.
    pub fn covers(&self, element: &str, attribute: &str) -> bool {
        self.attribute == attribute && self.element.as_ref().is_none_or(|name| name == element)
    }

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
        let Some(row) = USER.iter().find(|row| row.attribute == syntax) else {
            let known: Vec<_> = USER.iter().map(|row| row.attribute).collect();
            let known = known.join(", ");
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
    use super::{
        Syntax::{Commas, CssValue, Refresh, Spaces, Task, Url},
        *,
    };

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
        for row in TABLE.iter() {
            assert_eq!(row.attribute, row.attribute.to_ascii_lowercase());
            assert!(!row.attribute.is_empty() && row.attribute.is_ascii());
            assert_eq!(row.elements, row.elements.to_ascii_lowercase());
            assert_eq!(row.attribute_vocabulary, Vocabulary::Plain);
        }
    }

    #[test]
    fn rows_that_belong_together_have_the_same_names() {
        let is_of = |row: &&Row, namespace| row.namespace == Some(namespace);
        for row in TABLE.iter().filter(|row| is_of(row, Namespace::Html)) {
            assert_eq!(row.covers("img"), row.covers("image"), "{row:?}");
        }
        let elements = |attribute| {
            let rows = rows(attribute).iter();
            let rows = rows.filter(|row| is_of(row, Namespace::Svg));
            rows.map(|row| row.elements).collect::<Vec<_>>()
        };
        assert_eq!(elements("href"), elements("xlink:href"));
        let of_meta = rows("content").iter().filter(|row| row.syntax == Url);
        let values = of_meta.filter_map(|row| match row.when {
            Condition::Is("name", values) | Condition::Has("property", values) => Some(values),
            _ => None,
        });
        let values: Vec<_> = values.collect();
        assert_eq!(values[..1], values[1..]);
    }

    #[test]
    fn every_row_can_be_found() {
        for row in TABLE.iter() {
            let element = match row.elements {
                "*" => "any",
                "amp-*" => "amp-img",
                "v:*" => "v:rect",
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
            for namespace in Namespace::ALL {
                if row.namespace.is_none_or(|known| known == namespace) {
                    assert_eq!(found(namespace, element, row.attribute, &others), Some(row));
                }
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
                let namespaces = earlier.namespace.zip(row.namespace);
                let same = namespaces.is_none_or(|(one, other)| one == other);
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
    fn a_row_for_users_differs_from_the_defaults_in_its_syntax() {
        use Syntax::{Css, Html, Srcset};
        let syntaxes = [Url, Spaces, Srcset, Css, Html];
        assert_eq!(USER.len(), syntaxes.len());
        for (row, syntax) in USER.iter().zip(syntaxes) {
            let wanted = Row {
                attribute: row.attribute,
                syntax,
                fragment_identifies: syntax == Css,
                ..ROW
            };
            assert_eq!(*row, wanted);
        }
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
