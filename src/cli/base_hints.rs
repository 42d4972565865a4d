//! Hints for links without a base: a URL that the document declares for itself, and a scheme.
//!
//! ```text
//! page.html: no base URL: nothing was rewritten; try --url https://a.example/x (canonical, 4:12) or --trust canonical
//! page.html: 3 links without a base begin with // and lack only a scheme: --assume-scheme https
//! ```
//!
//! A document is searched for a URL of its own only if it has links without a base, and no retrieval URL.
//!
//! Deliberately absent: using the URL. A document may be wrong about itself, so the user has to ask for it.

use baselink_rewrite::{Outcome, Totals};
use baselink_scan::{Heading, fields::links};
use baselink_text::{Span, shell};
use baselink_url::{scheme_of, usable};

use super::output::Output;
use baselink_site::{
    collection::origin::canonical,
    reading::{FilePlaces, Input},
};

/// Hints for one or more files.
#[derive(Default)]
pub struct BaseHints {
    /// The number of links that lack only a scheme.
    pub without_scheme: usize,
    /// The number of pages that declare a canonical URL.
    pages: usize,
    /// The first URL that a document declares for itself.
    url: Option<BaseHint>,
    /// True if another document without a base, such as the next message of a mailbox, does not declare this URL.
    differs: bool,
}

/// A URL that a document declares for itself.
struct BaseHint {
    url: String,
    /// Advice to use it, with its place.
    advice: String,
}

impl BaseHints {
    /// Adds the hints for the document `input` with these `totals`.
    pub fn add(&mut self, input: &Input<'_>, totals: &Totals) {
        let options = input.options;
        if totals.count(Outcome::NoBase) == 0 || options.retrieval.is_some() {
            return;
        }
        if options.assumed_scheme.is_none() {
            self.without_scheme += totals.without_scheme;
        }
        let is_page = input.format.is_page();
        let named = match input.format {
            format if format.has_headings() => archive(input.bytes),
            format => {
                canonical::named(input.bytes, format).map(|named| (named.url, named.by, named.span))
            }
        };
        let Some((url, by, span)) = named else {
            self.differs = true;
            return;
        };
        if let Some(first) = &self.url {
            self.differs |= first.url != url;
            return;
        }
        self.pages += usize::from(is_page);
        let (line, column) = FilePlaces::of(input, totals.charset).line_and_column(span);
        let otherwise = if is_page { " or --trust canonical" } else { "" };
        let typed = shell::word(&url);
        let advice = format!("try --url {typed} ({by}, {line}:{column}){otherwise}");
        self.url = Some(BaseHint { url, advice });
    }

    /// The URL that all documents without a base declare.
    pub fn url(&self) -> Option<&str> {
        let first = self.url.as_ref().filter(|_| !self.differs);
        first.map(|first| first.advice.as_str())
    }

    /// Adds the hints for later files.
    pub fn merge(&mut self, later: Self) {
        self.without_scheme += later.without_scheme;
        self.pages += later.pages;
        let both = self.url.as_ref().zip(later.url.as_ref());
        self.differs |= later.differs || both.is_some_and(|(one, other)| one.url != other.url);
        self.url = self.url.take().or(later.url);
    }

    /// Reports the hints for several files.
    pub fn report(&self, output: &mut Output) {
        let files = [
            "file names its canonical URL,",
            "files name their canonical URLs,",
        ];
        output.notice_of(self.pages, files, "which --trust canonical uses");
        report_scheme(self.without_scheme, output);
    }
}

/// The message about links that lack only a scheme.
pub const LACKING: [&str; 2] = [
    "link without a base begins with // and lacks",
    "links without a base begin with // and lack",
];
pub const ONLY_SCHEME: &str = "only a scheme: --assume-scheme https";

/// Reports the number of links that lack only a scheme.
pub fn report_scheme(number: usize, output: &mut Output) {
    output.notice_of(number, LACKING, ONLY_SCHEME);
}

/// The URL of the mailing list archive that a message declares (RFC 2369, 3.6).
fn archive(message: &[u8]) -> Option<(String, &'static str, Span)> {
    let heading = Heading::read(message);
    let mut archives = links(message, &heading).into_iter().filter(|link| {
        link.element == "list-archive"
            && scheme_of(&link.reference).is_some()
            && usable(&link.reference).is_ok()
    });
    let link = archives.next()?;
    let span = link.span();
    Some((link.reference, "List-Archive", span))
}
