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
//! A style sheet is searched for the URLs that are written plainly, and gone over anew where it may have
//! others.
//!
//! Deliberately absent: parts that are neither HTML nor CSS.

use crate::document::{Document, Link};
use crate::format::Format;
use crate::layer::charset::{Charset, Declaration, Detected};
use crate::resolve::Profile;
use crate::rewrite::Options;
use crate::rewrite::direct::is_absolute;
use crate::scan::html::flow::{self, Stop, Taker, Value};
use crate::scan::{ScanOptions, css};

/// How many links the part `bytes` has, and its encoding, if every one is absolute and nothing is to be
/// done for another reason.
pub(super) fn count(
    format: Format,
    bytes: &[u8],
    options: &Options,
    scan: &ScanOptions,
) -> Option<(usize, Charset)> {
    if options.destination.is_some() || options.profile == Profile::Whatwg {
        return None;
    }
    if format == Format::Css {
        return of_style_sheet(bytes, scan);
    }
    if scan.ids || !options.allow_short_way(format) {
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

/// The same for a style sheet.
fn of_style_sheet(bytes: &[u8], scan: &ScanOptions) -> Option<(usize, Charset)> {
    let Detected { charset, mark, .. } = Charset::detect_style_sheet(bytes, scan.charset);
    let text = &bytes[mark..];
    let urls = charset.is_ascii_fixed().then(|| css::plain_urls(text))??;
    let is_plain = |raw: &[u8]| is_absolute(raw) && memchr::memchr(b'\\', raw).is_none();
    let are_absolute = urls.iter().all(|url| is_plain(&text[url.span.range()]));
    are_absolute.then_some((urls.len(), charset))
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
