//! A reference as written: its components, its category, and its conformance to the grammar.
//!
//! [`Reference::split`] implements RFC 1808 section 2.4 or RFC 3986 appendix B. [`Reference::category`] names the
//! productions of RFC 1808 section 2.2. `conformance` recognises exactly that grammar and the scheme-specific ones
//! of RFC 1738 section 5. Splitting is lenient, because real links violate every grammar: any text has components,
//! and joining them restores the text.
//!
//! ```
//! use baselink_url::{Resolver, reference::{Category, Reference, conformance}};
//! let reference = Reference::split(Resolver::Rfc1808, "../d;p?q#");
//! assert_eq!(reference.path(), "../d");
//! assert_eq!(reference.params(), Some("p"));
//! assert_eq!(reference.fragment(), Some(""), "written, and empty");
//! assert_eq!(reference.net_loc(), None, "not written");
//! assert_eq!(reference.category(), Category::RelPath);
//!
//! let verdict = conformance("../~d");
//! assert_eq!(verdict.violation.unwrap().message, "`~` at byte 3 does not match pchar");
//! ```
//!
//! Deliberately absent: the decision to rewrite a link.

use std::borrow::Cow;

use baselink_text::{Span, display_by_name, named};

use super::resolver::Resolver;

mod conformance;

pub use conformance::{Conformance, Violation, conformance};

/// A reference and the spans of its components, without delimiters. An absent component is `None`; an empty one is
/// an empty span.
#[derive(Debug)]
pub struct Reference<'a> {
    /// The reference as written.
    pub text: &'a str,
    /// The text before the first `:`, if it consists of scheme characters.
    pub scheme_span: Option<Span>,
    /// The text after `//`. RFC 3986 calls it the authority.
    pub net_loc_span: Option<Span>,
    /// The text that belongs to no other component, including a leading `/`.
    pub path_span: Span,
    /// The text after the first `;` of the path; RFC 1808 only.
    pub params_span: Option<Span>,
    /// The text after the first `?`.
    pub query_span: Option<Span>,
    /// The text after the first `#`.
    pub fragment_span: Option<Span>,
}

impl<'a> Reference<'a> {
    /// Splits `text` by RFC 3986. Never fails.
    pub fn of(text: &'a str) -> Self {
        Self::split(Resolver::Rfc3986, text)
    }

    /// Splits `text` into its components. Never fails.
    ///
    /// Under RFC 1808, section 2.4, a scheme may begin with any character that it may contain, and the first `;` of the path
    /// begins the params. The net_loc ends at `/`, or at `?` as in RFC 1738's schemes. The other resolvers follow RFC 3986,
    /// appendix B, with section 3.1's rule that a scheme begins with a letter, and split off no params.
    ///
    /// ```
    /// use baselink_url::{Resolver, reference::Reference};
    /// let url = Reference::split(Resolver::Rfc1808, "http://a/b;v=1/c?q");
    /// assert_eq!((url.path(), url.params()), ("/b", Some("v=1/c")));
    /// let url = Reference::split(Resolver::Rfc3986, "http://a/b;v=1/c?q");
    /// assert_eq!((url.path(), url.params()), ("/b;v=1/c", None));
    /// ```
    pub fn split(resolver: Resolver, text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let (mut start, mut end) = (0, bytes.len());

        // RFC 1808, 2.4.1: the fragment.
        let mut fragment_span = None;
        if let Some(at) = memchr::memchr(b'#', bytes) {
            fragment_span = Some(Span::new(at + 1, end));
            end = at;
        }
        // 2.4.2: the scheme.
        let scheme_span = scheme(resolver, &text[..end]).map(|scheme| Span::new(0, scheme.len()));
        if let Some(scheme) = scheme_span {
            start = scheme.end + 1;
        }
        // 2.4.3: the net_loc, up to `/` or `?` (RFC 3986, 3.2: the same).
        let mut net_loc_span = None;
        if bytes[start..end].starts_with(b"//") {
            let from = start + 2;
            start = memchr::memchr2(b'/', b'?', &bytes[from..end]).map_or(end, |n| from + n);
            net_loc_span = Some(Span::new(from, start));
        }
        // 2.4.4: the query.
        let mut query_span = None;
        if let Some(n) = memchr::memchr(b'?', &bytes[start..end]) {
            query_span = Some(Span::new(start + n + 1, end));
            end = start + n;
        }
        // 2.4.5: the params, after the first `;` of the whole path.
        let mut params_span = None;
        if resolver == Resolver::Rfc1808
            && let Some(n) = memchr::memchr(b';', &bytes[start..end])
        {
            params_span = Some(Span::new(start + n + 1, end));
            end = start + n;
        }
        // 2.4.6: the path.
        Self {
            text,
            scheme_span,
            net_loc_span,
            path_span: Span::new(start, end),
            params_span,
            query_span,
            fragment_span,
        }
    }

    fn component(&self, span: Option<Span>) -> Option<&'a str> {
        span.map(|span| &self.text[span.range()])
    }

    /// The scheme without its `:`.
    pub fn scheme(&self) -> Option<&'a str> {
        self.component(self.scheme_span)
    }

    /// The net_loc without its `//`.
    pub fn net_loc(&self) -> Option<&'a str> {
        self.component(self.net_loc_span)
    }

    /// The path, including its leading `/`, if any.
    pub fn path(&self) -> &'a str {
        &self.text[self.path_span.range()]
    }

    /// The params without the first `;`.
    pub fn params(&self) -> Option<&'a str> {
        self.component(self.params_span)
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&'a str> {
        self.component(self.query_span)
    }

    /// The fragment without its `#`.
    pub fn fragment(&self) -> Option<&'a str> {
        self.component(self.fragment_span)
    }

    /// The form of the reference in RFC 1808 section 2.2.
    pub fn category(&self) -> Category {
        if self.scheme_span.is_some() {
            Category::AbsoluteUrl
        } else if self.net_loc_span.is_some() {
            Category::NetPath
        } else if self.path().starts_with('/') {
            Category::AbsPath
        } else if self.text.is_empty() {
            Category::Empty
        } else if self.text.starts_with('#') {
            Category::Fragment
        } else {
            Category::RelPath
        }
    }
}

named! {
    /// The forms of a reference in RFC 1808 section 2.2. Two cases of `rel_path` have variants of their own: a
    /// fragment only, and the empty string.
    pub enum Category {
        /// `absoluteURL`: has a scheme.
        AbsoluteUrl = "absolute",
        /// `net_path`: begins with `//`.
        NetPath = "net_path",
        /// `abs_path`: begins with one `/`.
        AbsPath = "abs_path",
        /// `rel_path`: the rest.
        RelPath = "rel_path",
        /// Begins with `#`.
        Fragment = "fragment",
        /// The empty string.
        Empty = "empty",
    }
}

display_by_name!(Category);

const fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// `url` up to its fragment.
pub fn without_fragment(url: &str) -> &str {
    memchr::memchr(b'#', url.as_bytes()).map_or(url, |end| &url[..end])
}

/// `url` up to its query and its fragment.
pub fn without_query(url: &str) -> &str {
    memchr::memchr2(b'?', b'#', url.as_bytes()).map_or(url, |end| &url[..end])
}

/// The scheme of a reference by RFC 3986.
pub fn scheme_of(reference: &str) -> Option<&str> {
    scheme(Resolver::Rfc3986, reference)
}

/// The scheme of a reference as `resolver` splits it.
///
/// ```
/// use baselink_url::{Resolver, reference::scheme};
/// assert_eq!(scheme(Resolver::Rfc1808, "1:2"), Some("1"));
/// assert_eq!(scheme(Resolver::Rfc3986, "1:2"), None);
/// assert_eq!(scheme(Resolver::Rfc1808, ":g"), None);
/// ```
pub fn scheme(resolver: Resolver, reference: &str) -> Option<&str> {
    let end = reference.bytes().position(|byte| !is_scheme_byte(byte))?;
    let scheme = &reference[..end];
    let first = *scheme.as_bytes().first()?;
    let begins = resolver == Resolver::Rfc1808 || first.is_ascii_alphabetic();
    (begins && reference.as_bytes()[end] == b':').then_some(scheme)
}

/// True if the URL Standard strips `c` from the ends of a URL: a C0 control or a space.
pub(crate) const fn is_c0_or_space(c: char) -> bool {
    c <= ' '
}

/// The scheme that a browser sees, in lower case. C0 controls and spaces at the ends, and all tabs and line ends,
/// are removed first, as in the URL Standard's basic URL parser.
///
/// ```
/// use baselink_url::reference::opaque_scheme;
/// assert_eq!(opaque_scheme(" Java\nscript:x").as_deref(), Some("javascript"));
/// assert_eq!(opaque_scheme("a/b:c"), None);
/// ```
pub fn opaque_scheme(reference: &str) -> Option<String> {
    has_opaque_scheme(reference).then(|| {
        seen_by_browsers(reference)
            .take_while(|c| *c != ':')
            .map(|c| c.to_ascii_lowercase())
            .collect()
    })
}

/// True if `url` leads to the disk or into the mail program of the author of a document, wherever the document is read.
///
/// ```
/// use baselink_url::is_private;
/// assert!(is_private("file:///C:/x") && is_private("x-msg://12/x") && !is_private("x"));
/// ```
pub fn is_private(url: &str) -> bool {
    let scheme = opaque_scheme(url);
    matches!(
        scheme.as_deref(),
        Some("file" | "view-source" | "x-msg" | "outbind" | "mailbox")
    )
}

/// True if a browser sees a scheme.
pub fn has_opaque_scheme(reference: &str) -> bool {
    let mut characters = seen_by_browsers(reference);
    characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && characters.find(|c| !matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '+' | '-' | '.'))
            == Some(':')
}

/// The characters of a reference that the basic URL parser sees.
pub(crate) fn seen_by_browsers(reference: &str) -> impl Iterator<Item = char> {
    reference
        .trim_start_matches(is_c0_or_space)
        .chars()
        .filter(|c| !is_removed(*c))
}

/// True if the basic URL parser removes `c` wherever it occurs.
pub(crate) const fn is_removed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r')
}

/// The openers of placeholders in template languages that a browser percent-encodes in a path, such as braces and `<`. Under
/// `whatwg`, a reference with one is not resolved, wherever the opener is.
const SPOILT_OPENERS: [&str; 8] = ["{{", "{%", "{#", "${", "#{", "<%", "<?", "*|"];

/// The other openers of placeholders in template languages.
const OTHER_OPENERS: [&str; 4] = ["%%", "[[", "[%", "@@"];

/// The kinds of merge tags that are placeholders if they are the whole reference.
const MERGE_TAGS: [&str; 7] = [
    "%NAME%", "[NAME]", "{NAME}", "$[NAME]$", "##NAME##", "#NAME#", "::NAME::",
];

/// The kind of template placeholder at the beginning of a reference, or of the merge tag that is the whole reference.
///
/// ```
/// use baselink_url::reference::placeholder;
/// assert_eq!(placeholder("{{ url }}/x"), Some("{{"));
/// assert_eq!(placeholder("%UNSUB_LINK%"), Some("%NAME%"));
/// assert_eq!(placeholder("[node:url]"), Some("[NAME]"));
/// assert_eq!(placeholder("[DRAFT]-plan.html"), None, "the name of a file");
/// assert_eq!(placeholder("%CE%B1.html"), None, "percent-encoded alpha");
/// assert_eq!(placeholder("__a"), None);
/// ```
pub fn placeholder(reference: &str) -> Option<&'static str> {
    let text = reference.trim_matches(is_c0_or_space);
    let mut openers = SPOILT_OPENERS.into_iter().chain(OTHER_OPENERS);
    openers
        .find(|opener| text.starts_with(opener))
        .or_else(|| named_placeholder(text.as_bytes()))
        .or_else(|| merge_tag(text))
}

/// The kind of the merge tag that consists of all of `text`. Its name is one word with a letter (in braces, which no URL
/// contains, a digit serves), and its `%` does not begin an escape. JSON in an attribute is such a word, too, and stays.
fn merge_tag(text: &str) -> Option<&'static str> {
    let is_escape = matches!(text.as_bytes(), [b'%', high, low, ..]
        if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
    MERGE_TAGS.into_iter().filter(|_| !is_escape).find(|kind| {
        let (open, close) = kind.split_once("NAME").unwrap_or_default();
        let name = text
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close));
        name.is_some_and(|name| {
            name.contains(|c: char| c.is_alphabetic() || (open == "{" && c.is_numeric()))
                && !name.contains(char::is_whitespace)
                && !(open.starts_with('#') && name.contains(['#', '?', '=', '/']))
        })
    })
}

/// The kind of a placeholder that consists of a name between two marks.
fn named_placeholder(text: &[u8]) -> Option<&'static str> {
    let (open, rest) = text.split_first()?;
    let len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase() || **byte == b'_')
        .count();
    let (name, after) = rest.split_at(len);
    let closed_by = |mark: u8| len > 0 && after.first() == Some(&mark);
    match open {
        b'%' if closed_by(b'%') => {
            // `%CE%B1` is two escapes of RFC 1738, not a name.
            let escapes = len == 2
                && name.iter().all(u8::is_ascii_hexdigit)
                && after
                    .get(1..3)
                    .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
            (!escapes).then_some("%NAME%")
        }
        b'{' if closed_by(b'}') => Some("{NAME}"),
        b'_' if text.get(1) == Some(&b'_') => {
            let name = &text[2..];
            let name = &name[..name
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                .count()];
            let is_closed = name.windows(2).skip(1).any(|pair| pair == b"__");
            // `__init__.py` is a file name.
            let end = text
                .iter()
                .position(|byte| b"/?#:".contains(byte))
                .unwrap_or(text.len());
            (is_closed && text[..end].ends_with(b"__")).then_some("__NAME__")
        }
        _ => None,
    }
}

/// True if a reference contains a template placeholder with braces, `<` or `*|`. In a path, a browser would break the
/// first two by percent-encoding them.
///
/// ```
/// use baselink_url::reference::contains_placeholder;
/// assert!(contains_placeholder("/u/{{ id }}"));
/// assert!(contains_placeholder("?to=*|EMAIL|*"));
/// assert!(!contains_placeholder("?a[B]=1"));
/// ```
pub fn contains_placeholder(reference: &str) -> bool {
    let bytes = reference.as_bytes();
    (0..bytes.len()).any(|at| {
        let text = &bytes[at..];
        SPOILT_OPENERS
            .iter()
            .any(|opener| text.starts_with(opener.as_bytes()))
            || (text[0] == b'{' && named_placeholder(text).is_some())
    })
}

/// True if a reference contains an expression in braces, and thus is a template for URLs (RFC 6570, 2.2), or a placeholder.
///
/// ```
/// use baselink_url::is_template;
/// assert!(is_template("/search?q={term}") && !is_template("/search?q=%7Bterm%7D"));
/// assert!(is_template("/{{ x }}") && !is_template("{a b}"));
/// ```
pub fn is_template(reference: &str) -> bool {
    let inner = reference
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'));
    inner.is_some_and(|(expression, _)| !expression.contains(char::is_whitespace))
        || contains_placeholder(reference)
}

/// True if `text` resembles a relative path rather than a word: it has no white space, and contains a `/` or ends with
/// the extension of a file, before a query or fragment.
///
/// ```
/// use baselink_url::reference::resembles_path;
/// assert!(resembles_path("img/a") && resembles_path("a.jpg?v=2"));
/// assert!(!resembles_path("Jane Doe/x") && !resembles_path("none") && !resembles_path("Apache-2.0"));
/// ```
pub fn resembles_path(text: &str) -> bool {
    let path = without_query(text);
    let is_extension = |end: &str| {
        matches!(end.len(), 2..=11)
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && end.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let has_extension = path
        .rsplit_once('.')
        .is_some_and(|(stem, end)| !stem.is_empty() && is_extension(end));
    !text.contains(char::is_whitespace) && (path.contains('/') || has_extension)
}

/// Decodes percent-escapes (RFC 3986, 2.1). A `%` that does not begin an escape represents itself.
pub fn decode_percent(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'%', rest) {
        let (plain, escape) = rest.split_at(at);
        let (byte, length) = escaped(escape).map_or((b'%', 1), |byte| (byte, 3));
        bytes.extend_from_slice(plain);
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend_from_slice(rest);
    bytes
}

/// Decodes percent-escapes to text, with U+FFFD for bytes that are not UTF-8.
pub fn decode_percent_lossy(text: &str) -> Cow<'_, str> {
    if text.contains('%') {
        String::from_utf8_lossy(&decode_percent(text.as_bytes()))
            .into_owned()
            .into()
    } else {
        text.into()
    }
}

/// The byte that a percent-escape at the start of `text` represents.
pub fn escaped(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else {
        return None;
    };
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    Some(digit(*high)? << 4 | digit(*low)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    type Components<'a> = [Option<&'a str>; 6];

    fn components(resolver: Resolver, text: &str) -> Components<'_> {
        let url = Reference::split(resolver, text);
        [
            url.scheme(),
            url.net_loc(),
            Some(url.path()),
            url.params(),
            url.query(),
            url.fragment(),
        ]
    }

    #[test]
    fn components_of_rfc1808() {
        let table: [(&str, Components<'_>); 9] = [
            // 2.1: the whole form.
            (
                "s://n/p;r?q#f",
                [
                    Some("s"),
                    Some("n"),
                    Some("/p"),
                    Some("r"),
                    Some("q"),
                    Some("f"),
                ],
            ),
            // Present but empty.
            (
                "//;?#",
                [None, Some(";"), Some(""), None, Some(""), Some("")],
            ),
            (
                "g;?#",
                [None, None, Some("g"), Some(""), Some(""), Some("")],
            ),
            // A4: the net_loc ends at `?` too.
            (
                "//g?y/z",
                [None, Some("g"), Some(""), None, Some("y/z"), None],
            ),
            // A14: the first `;`, in a directory or not.
            (
                "/a;b/c;d",
                [None, None, Some("/a"), Some("b/c;d"), None, None],
            ),
            // A18, A19.
            ("-a:b", [Some("-a"), None, Some("b"), None, None, None]),
            (":g", [None, None, Some(":g"), None, None, None]),
            // The order of 2.4: the fragment before the scheme, the scheme before the query.
            ("a#b:c", [None, None, Some("a"), None, None, Some("b:c")]),
            ("a?b:c", [None, None, Some("a"), None, Some("b:c"), None]),
        ];
        for (text, expected) in table {
            assert_eq!(components(Resolver::Rfc1808, text), expected, "{text}");
        }
    }

    #[test]
    fn components_of_rfc3986() {
        let table: [(&str, Components<'_>); 3] = [
            ("1:2;p", [None, None, Some("1:2;p"), None, None, None]),
            (
                "x://;?/#",
                [Some("x"), Some(";"), Some(""), None, Some("/"), Some("")],
            ),
            ("é:g", [None, None, Some("é:g"), None, None, None]),
        ];
        for (text, expected) in table {
            assert_eq!(components(Resolver::Rfc3986, text), expected, "{text}");
        }
    }

    #[test]
    fn schemes_that_a_browser_sees() {
        for (text, expected) in [
            ("java\nscript:x", Some("javascript")),
            ("\u{1} J\tavaScript\r:x", Some("javascript")),
            ("tel:1", Some("tel")),
            ("1:2", None),
            (":", None),
            ("a b:c", None),
            ("mailto", None),
            ("a/b:c", None),
        ] {
            assert_eq!(opaque_scheme(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn placeholders() {
        for opener in [
            "{{", "{%", "{#", "${", "#{", "<%", "<?", "%%", "*|", "[[", "[%", "@@",
        ] {
            assert_eq!(placeholder(&format!("{opener}x")), Some(opener));
            assert_eq!(placeholder(&format!(" \n{opener}x")), Some(opener));
            assert_eq!(placeholder(&format!("x{opener}")), None);
        }
        for (text, expected) in [
            ("__NAME__/x", Some("__NAME__")),
            ("__name__", Some("__NAME__")),
            ("__HOST__:80/x", Some("__NAME__")),
            ("__A__-__B__?x", Some("__NAME__")),
            ("__NAME__#x__", Some("__NAME__")),
            ("__main__.html#x", None),
            ("__future__.html", None),
            ("__main__.html#object.__init__", None),
            ("__pycache__x/__y__", None),
            ("__name_", None),
            ("____", None),
            ("__a/b__", None),
            ("%NAME%", Some("%NAME%")),
            ("%EF%x", Some("%NAME%")),
            ("%EF%BC%8A", None),
            ("%CE%B1", None),
            ("%20%20", None),
            ("[UNSUBSCRIBE]", Some("[NAME]")),
            ("[]", None),
            ("{NAME}", Some("{NAME}")),
            ("{NAME}/x", Some("{NAME}")),
            // Bug 164.
            ("[g]", Some("[NAME]")),
            ("[node:url]\n", Some("[NAME]")),
            ("{$name}", Some("{NAME}")),
            ("{action.unsubscribeUrl}", Some("{NAME}")),
            ("%unsubscribe_url%", Some("%NAME%")),
            ("$[LI:UNSUBSCRIBE]$", Some("$[NAME]$")),
            ("##url##", Some("##NAME##")),
            ("#link#", Some("#NAME#")),
            ("::url::", Some("::NAME::")),
            ("{name}/x", None),
            ("/a/{x}", None),
            ("%C3%A9t%C3%A9", None),
            ("%ad%", None),
            ("a::b", None),
            ("#", None),
            ("###", None),
            ("::::", None),
            ("%", None),
            ("#top", None),
            ("#a#b", None),
            ("", None),
        ] {
            assert_eq!(placeholder(text), expected, "{text:?}");
        }
        assert!(contains_placeholder("a?b={NAME}") && contains_placeholder("a/<?= x ?>"));
        assert!(!contains_placeholder("100%%25") && !contains_placeholder("a{b}"));
    }

    #[test]
    fn categories_have_stable_names() {
        let name = |text| Reference::split(Resolver::Rfc1808, text).category().name();
        let names = ["a:b", "//a", "/a", "a", "#a", ""].map(name);
        assert_eq!(
            names,
            [
                "absolute", "net_path", "abs_path", "rel_path", "fragment", "empty"
            ]
        );
    }

    #[test]
    fn violations_are_sentences() {
        let sentence = |text| conformance(text).violation.unwrap().message;
        assert_eq!(sentence("a\tb"), "U+0009 at byte 1 does not match pchar");
        assert_eq!(
            sentence("a%2"),
            "the reference ends at byte 3 within escape"
        );
    }
}
