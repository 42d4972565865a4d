//! A base that links are resolved against, with its derived properties.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! // Each resolver sees the base in its own way, and a report marks a link whose target differs.
//! let report = rewrite(b"<a href='../../x'>", &Options::at("http://a/b/")).report;
//! assert!(report.links[0].differs);
//! ```
//!
//! Deliberately absent: the choice of the base of a link.

use std::{cell::OnceCell, sync::Arc};

use baselink_scan::LONGEST_BASE;
use baselink_text::{
    Charset,
    layer::escape::{self, Quote},
};
use baselink_url::{self as resolve, Base, Resolver};

use super::options::Options;

/// For each resolver, in the order of [`Resolver::ALL`], true if it gives another target than the resolver in use.
pub type Under = [bool; Resolver::ALL.len()];

/// The value if no other resolver gives another target.
pub const NOWHERE: Under = [false; Resolver::ALL.len()];

/// A base with its derived properties.
pub struct PreparedBase {
    pub url: Arc<str>,
    pub base: Base,
    /// True if links may be resolved against this base.
    pub usable: bool,
    pub charset: Charset,
    /// The URL as given; empty if it is too long to be parsed.
    pub parsed: Arc<str>,
    /// This base under the other resolvers, prepared on first use.
    others: OnceCell<Vec<Base>>,
}

impl PreparedBase {
    pub fn new(url: Arc<str>, options: &Options, charset: Charset) -> Self {
        let is_short = url.len() <= LONGEST_BASE;
        // A base that is too long is not parsed, since each of the documents that share it would parse it again.
        let parsed = if is_short {
            Arc::clone(&url)
        } else {
            Arc::from("")
        };
        let base = prepare(options.resolver, &parsed, charset);
        Self {
            usable: is_short && base.is_usable(&url),
            url: if is_short && base.as_str() != &*url {
                base.as_str().into()
            } else {
                url
            },
            base,
            charset,
            parsed,
            others: OnceCell::new(),
        }
    }

    /// The number of leading bytes of the base that need no escape, in CSS or in an attribute. `is_quoted` is true if
    /// the attribute is quoted.
    pub fn unescaped_len(&self, is_quoted: bool) -> usize {
        let is_plain = |byte: u8| match byte {
            b'&' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'(' | b')' | b'\\' => false,
            b'=' => is_quoted,
            _ => byte.is_ascii_graphic(),
        };
        let text = self.base.as_str();
        // The directory of a base may be one slash longer than the base (A7).
        text.bytes()
            .position(|byte| !is_plain(byte))
            .unwrap_or(text.len() + 1)
    }

    /// The length of the base up to its fragment, and its spelling in a quoted attribute; `None` unless `&` is the
    /// only character that needs an escape.
    pub fn with_ampersands(&self) -> Option<(usize, String)> {
        let text = self.base.as_str();
        let text = &text[..text.find('#').unwrap_or(text.len())];
        // The reference follows the last byte, and could turn a final `&` into a character reference.
        let is_spelled = text.contains('&')
            && !text.ends_with('&')
            && text
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>'));
        is_spelled.then(|| (text.len(), escape::attribute(text, Quote::Double)))
    }

    /// The other resolvers whose target differs from `url`, apart from spelling. If `url` is `None`, the other resolvers
    /// that have a target.
    pub fn differs(&self, reference: &str, url: Option<&str>) -> Under {
        let others = self.others.get_or_init(|| {
            Resolver::ALL
                .into_iter()
                .filter(|&one| one != self.base.resolver())
                .map(|resolver| prepare(resolver, &self.parsed, self.charset))
                .collect()
        });
        let differs = |other: &Base| match (other.resolve(reference), url) {
            (Ok(target), Some(url)) => !resolve::is_same_place(&target.url, url),
            (other, own) => other.is_ok() != own.is_some(),
        };
        Resolver::ALL.map(|one| {
            others
                .iter()
                .any(|other| other.resolver() == one && differs(other))
        })
    }
}

pub fn prepare(resolver: Resolver, url: &str, charset: Charset) -> Base {
    Base::new(resolver, url).with_query_encoding(move |query| charset.encode_query(query))
}
