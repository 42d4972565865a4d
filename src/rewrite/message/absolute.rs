//! Parts in which every link is absolute: nothing of them changes, and their links are only counted.
//!
//! Most mail is like that, because a message comes from nowhere a relative reference could lead from. A
//! walk over the tags finds it out, makes nothing of a link, and ends at the first one that is not
//! absolute (RFC 1808, 2.2), at a `base` element and at whatever else needs the general rules.
//!
//! ```
//! use baselink::{Options, format::Format, rewrite_briefly};
//! let options = Options { format: Format::Message, ..Options::default() };
//! let unlisted = |message: &[u8]| rewrite_briefly(message, &options).report.unlisted;
//! assert_eq!(unlisted(b"Content-Type: text/html\n\n<a href=mailto:x><img src=http://a/>"), 2);
//! assert_eq!(unlisted(b"Content-Type: text/html\n\n<a href=mailto:x><img src=y>"), 0);
//! ```
//!
//! Deliberately absent: parts that are no HTML.

use crate::document::{Document, Link};
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::resolve::Profile;
use crate::rewrite::direct::is_absolute;
use crate::rewrite::{BaseElement, Options};
use crate::scan::html::flow::{self, Stop, Taker, Value};
use crate::scan::{ScanOptions, Scanner};

/// How many links the part `bytes` has, and its encoding, if every one is absolute and nothing is to be
/// done for another reason.
pub(super) fn count(
    format: Format,
    bytes: &[u8],
    options: &Options,
    scan: &ScanOptions,
) -> Option<(usize, Charset)> {
    let is_simple = format == Format::Html
        && options.destination.is_none()
        && options.profile != Profile::Whatwg
        && scan.scanner == Scanner::Fast
        && !scan.ids
        && matches!(options.base_element, BaseElement::Absolute | BaseElement::Keep);
    if !is_simple {
        return None;
    }
    let mut encoding = flow::encoding(bytes, scan);
    // One that is declared late is found out once.
    for _ in 0..2 {
        let charset = encoding.charset;
        if !charset.is_ascii_compatible() {
            return None;
        }
        let mut links = Absolute { number: 0 };
        match flow::links(bytes, encoding, scan, false, &mut links) {
            Ok(()) => return Some((links.number, charset)),
            Err(Stop::Encoding(charset)) => {
                encoding = Detected { charset, declaration: Declaration::Meta, ..encoding };
            }
            Err(_) => return None,
        }
    }
    None
}

/// Takes absolute references, and nothing else.
struct Absolute {
    number: usize,
}

impl Taker for Absolute {
    #[inline(always)]
    fn value(&mut self, window: &[u8], value: &Value) -> bool {
        let is_absolute = is_absolute(&window[value.span.range()]);
        self.number += usize::from(is_absolute);
        is_absolute
    }

    fn link(&mut self, _window: &[u8], _link: Link) -> bool {
        false
    }

    fn part(&mut self, _window: &[u8], _part: Document) -> bool {
        false
    }

    #[inline(always)]
    fn is_full(&self, _at: usize) -> bool {
        false
    }

    fn settle(&mut self, _window: &[u8], _at: usize) -> bool {
        true
    }
}
