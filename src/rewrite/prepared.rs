//! A base that links are resolved against, with what is found out about it once.
//!
//! ```
//! use baselink::{Options, rewrite};
//! // Each profile sees the base in its own way, and a link that differs says so.
//! let report = rewrite(b"<a href='../../x'>", &Options::at("http://a/b/")).report;
//! assert!(report.links[0].differs);
//! ```
//!
//! Deliberately absent: which base a link has.

use std::cell::OnceCell;
use std::sync::Arc;

use super::beside::Beside;
use super::options::Options;
use crate::document::LONGEST_BASE;
use crate::layer::charset::Charset;
use crate::layer::escape::{self, Quote};
use crate::resolve::{self, Base, Profile, is_letter};

/// Under which profiles something is otherwise, in the order of [`Profile::ALL`].
pub(super) type Under = [bool; Profile::ALL.len()];

pub(super) const NOWHERE: Under = [false; Profile::ALL.len()];

/// A base with what was found out about it once.
pub(super) struct PreparedBase {
    pub(super) url: Arc<str>,
    pub(super) base: Base,
    pub(super) usable: bool,
    pub(super) charset: Charset,
    /// What the bases of the other profiles are made of, and they, once they are asked.
    pub(super) looked_at: Arc<str>,
    others: OnceCell<Vec<Base>>,
}

impl PreparedBase {
    pub(super) fn new(url: Arc<str>, options: &Options, charset: Charset) -> Self {
        let is_short = url.len() <= LONGEST_BASE;
        // One that is too long is not looked at, for it may be that of many documents.
        let looked_at = if is_short { Arc::clone(&url) } else { Arc::from("") };
        let base = prepare(options.profile, &looked_at, charset);
        Self {
            usable: is_short && base.is_usable(&url),
            url: if is_short && base.as_str() != &*url { base.as_str().into() } else { url },
            base,
            charset,
            looked_at,
            others: OnceCell::new(),
        }
    }

    /// The same where relative references lead from file to file, among folders that are called after hosts.
    pub(super) fn in_layout(self, beside: Arc<dyn Beside>) -> Self {
        let base = self.base.in_layout(move |folder| beside.host(folder));
        Self { base, ..self }
    }

    /// The number of bytes at its beginning that need no escape in CSS and in any attribute; if `is_quoted`, in one with
    /// quotation marks.
    pub(super) fn spelled_anywhere(&self, is_quoted: bool) -> usize {
        let is_utf_8 = self.charset == Charset::UTF_8;
        let is_plain = |one: char| match one {
            '&' | '"' | '\'' | '<' | '>' | '`' | '(' | ')' | '\\' => false,
            '=' => is_quoted,
            _ => one.is_ascii_graphic() || (is_utf_8 && is_letter(one)),
        };
        let text = self.base.as_str();
        // A directory may be a slash longer than its base (A7).
        text.find(|one| !is_plain(one)).unwrap_or(text.len() + 1)
    }

    /// The length of the base up to its fragment, and how that is spelled in an attribute with quotation marks, if all
    /// that needs an escape there is an `&`.
    pub(super) fn with_ampersands(&self) -> Option<(usize, String)> {
        let text = self.base.as_str();
        let text = &text[..text.find('#').unwrap_or(text.len())];
        // After the last byte comes the reference, and could make a character reference of it.
        let is_plain =
            |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>');
        let is_spelled = text.contains('&') && !text.ends_with('&') && text.bytes().all(is_plain);
        is_spelled.then(|| (text.len(), escape::attribute(text, Quote::Double)))
    }

    /// Which other profiles see another target than `url`, spelling aside; for `None`, which see any.
    pub(super) fn differs(&self, reference: &str, url: Option<&str>) -> Under {
        let others = self.others.get_or_init(|| {
            let others = Profile::ALL.into_iter().filter(|&one| one != self.base.profile());
            others.map(|profile| prepare(profile, &self.looked_at, self.charset)).collect()
        });
        let differs = |other: &Base| match (other.resolve(reference), url) {
            (Ok(target), Some(url)) => !resolve::is_same_place(&target.url, url),
            (other, own) => other.is_ok() != own.is_some(),
        };
        Profile::ALL.map(|one| others.iter().any(|other| other.profile() == one && differs(other)))
    }
}

pub(super) fn prepare(profile: Profile, url: &str, charset: Charset) -> Base {
    Base::new(profile, url).with_query_encoding(move |query| charset.encode_query(query))
}
