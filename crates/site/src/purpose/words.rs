//! Words for which a document gets a closer look. Most documents have none of them, which one search tells.
//!
//! ```text
//! <img srcset="a.png 1x"><script type="module">  -->  Alternative, Item
//! ```
//!
//! Deliberately absent: words in character references, `module` after white space in an attribute, and words in encodings in which
//! ASCII characters are not ASCII bytes.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Kinds of items, each of which has words by which it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// An item with several candidates for one resource.
    Alternative,
    /// A `base` element, or `xml:base`.
    Base,
    /// The path at which Gatsby built the page. Its script opens that path if the page has another one, as from disk:
    /// `production-app.js` of Gatsby 2.32 to 5.16 compares them.
    PagePath,
    /// The settings of docsify, whose script loads the text of pages.
    Docsify,
    /// A pragma of `meta`, such as a policy.
    Pragma,
    /// An attribute that is removed or renamed, or an item that is counted ([`adapt`](mod@super::adapt)).
    Item,
    /// Contents that depend on whether scripts run, or a document in an attribute.
    Scripted,
}

/// The patterns of the words, in any case, or parts of words that have fewer letters at their beginnings: a search for up to 64
/// beginnings, each of three bytes in one case, is fast, and for up to 32 it is faster.
const PATTERNS: [&str; 7] = [
    "srcset|<source|e-set|t-face",
    "[<:]base",
    r#"(?-i:window\.pagePath=")"#,
    r"(?-i:\$docsify)",
    "p-equiv",
    r#"integrity|crossorigin|(?-i:shadowmode)|["'=]module["'p\s/>]|[<:]use|<track|<\?xml-stylesheet"#,
    "<noscript|srcdoc",
];

fn search(patterns: &[&str]) -> Option<Regex> {
    Regex::new(&format!("(?i-u){}", patterns.join("|"))).ok()
}

static EACH: LazyLock<[Option<Regex>; 7]> =
    LazyLock::new(|| PATTERNS.map(|pattern| search(&[pattern])));
static OF_LINKS: LazyLock<Option<Regex>> = LazyLock::new(|| search(&PATTERNS[..3]));
static OF_ADAPTATIONS: LazyLock<Option<Regex>> = LazyLock::new(|| search(&PATTERNS[2..]));

/// The words of a document.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// The document.
    pub bytes: &'a [u8],
    has_any: bool,
}

impl<'a> Words<'a> {
    /// The words that matter to links.
    pub fn of_links(bytes: &'a [u8]) -> Self {
        let has_any = has(&OF_LINKS, bytes);
        Self { bytes, has_any }
    }

    /// The words that matter to adaptations.
    pub fn of_adaptations(bytes: &'a [u8]) -> Self {
        let has_any = has(&OF_ADAPTATIONS, bytes);
        Self { bytes, has_any }
    }

    /// True if the document contains a `word`.
    pub fn contain(self, word: Word) -> bool {
        self.has_any && has(&EACH[word as usize], self.bytes)
    }
}

fn has(search: &Option<Regex>, bytes: &[u8]) -> bool {
    let search = search.as_ref();
    search.is_none_or(|search| search.is_match(bytes))
}
