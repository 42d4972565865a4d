//! The links of a page that are alternatives: a browser needs only one of their targets.
//!
//! ```html
//! <picture><source srcset="a.webp"><img src="a.png" srcset="b.png 2x"></picture>
//! <link rel=preload as=image href=a.png imagesrcset="b.png 2x">
//! <style>@font-face { src: url(a.woff2), url(a.woff) } p { background: image-set("a.png" 1x, "b.png" 2x) }</style>
//! ```
//!
//! One that is there serves for all. An image without a file then leads to the file of another, because a browser chooses by
//! scale and width, and does not try the next. With the descriptor of that other one, it is a duplicate, which browsers ignore
//! (HTML, 4.8.4.3.10; CSS Images 4, 2.2), and the image has its size.
//!
//! Deliberately absent: the choice between them.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use super::words::{Word, Words};
use baselink_rewrite::{LinkReport, Options, Reason, links};
use baselink_text::{Edit, Span, format::starts_with};

/// The number of bytes before a link to search for the name of its rule or function.
const NEAR: usize = 4_096;

/// The maximum number of links of a document, beginning with the first, among which alternatives are searched for.
const MOST_CANDIDATES: usize = 65_536;

/// The names of the tags and comments that may be between two children of one `picture`, `video` or `audio`. The last is that of a
/// tag in a comment for Internet Explorer 9, before the `img` of a `picture`.
const BETWEEN: [&str; 5] = ["source", "/source", "img", "!", "/video"];

fn is_in_css(link: &LinkReport) -> bool {
    matches!(link.attribute.as_deref(), None | Some("style"))
}

fn is_in(link: &LinkReport, elements: [&str; 2], attributes: [&str; 2]) -> bool {
    let attribute = link.attribute.as_deref().unwrap_or_default();
    elements.contains(&&*link.element) && attributes.contains(&attribute)
}

/// True if `next`, the candidate after `link`, is for the same picture, font, sound or video.
fn are_alternatives(bytes: &[u8], link: &LinkReport, next: &LinkReport) -> bool {
    let Some(between) = bytes.get(link.span.end..next.span.start) else {
        return false;
    };
    if is_in_css(link) && is_in_css(next) {
        return are_of_one_rule(bytes, (link, between, next));
    }
    let are_in = |elements, attributes| {
        is_in(link, elements, attributes) && is_in(next, elements, attributes)
    };
    // Both links are in one start tag, or in adjacent tags with the same parent.
    // A document in an attribute may have several tags without a `<`.
    let is_same_tag =
        memchr::memchr(b'<', between).is_none() && memchr::memmem::find(between, b"&lt;").is_none();
    let is_same_parent = || {
        let allowed = BETWEEN.len() - usize::from(next.element == "source");
        link.element == "source"
            && (next.element == "source" || link.attribute.as_deref() == Some("srcset"))
            && memchr::memchr_iter(b'<', between).all(|at| {
                let name = &between[at + 1..];
                let mut between = BETWEEN[..allowed].iter();
                between.any(|tag| starts_with(name, tag))
            })
    };
    (is_same_tag && are_in(["link", "link"], ["href", "imagesrcset"]))
        || (are_in(["img", "source"], ["src", "srcset"]) && (is_same_tag || is_same_parent()))
}

/// The bytes before `link`, and the place of the last `{` in them.
fn before<'b>(bytes: &'b [u8], link: &LinkReport) -> (&'b [u8], usize) {
    let before = &bytes[link.span.start.saturating_sub(NEAR)..link.span.start];
    (before, memchr::memrchr(b'{', before).unwrap_or(0))
}

/// True if `link` is in an `@font-face` rule (CSS Fonts 4, 4.3).
fn is_of_font(bytes: &[u8], link: &LinkReport) -> bool {
    let (before, start) = before(bytes, link);
    let name = before[..start].trim_ascii_end().last_chunk::<10>();
    is_in_css(link) && name.is_some_and(|name| name.eq_ignore_ascii_case(b"@font-face"))
}

/// True if both links are in one `@font-face` rule or in one `image-set()` (CSS Images 4, 2.2).
fn are_of_one_rule(bytes: &[u8], (link, between, next): (&LinkReport, &[u8], &LinkReport)) -> bool {
    if memchr::memchr2(b'{', b'}', between).is_some() {
        return false;
    }
    if is_of_font(bytes, link) {
        return true;
    }
    let (before, start) = before(bytes, link);
    let function = b"image-set(";
    let mut names = before[start..].windows(function.len());
    let Some(at) = names.rposition(|name| name.eq_ignore_ascii_case(function)) else {
        return false;
    };
    let mut depth = 1_usize;
    before[start + at + function.len()..]
        .iter()
        .chain(&bytes[link.span.start..next.span.start])
        .all(|byte| {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            depth > 0
        })
}

/// Links that are alternatives.
#[derive(Debug, Default)]
pub struct Alternatives {
    links: Vec<LinkReport>,
    /// True for images. Of fonts, sounds and videos, browsers take the first that they can load.
    pub are_images: bool,
    /// True if a browser saved one of them.
    pub are_saved: bool,
    /// The index of one that has a file, and the reference to it, once it was searched for.
    stand_in: OnceLock<Option<(usize, String)>>,
}

impl Alternatives {
    /// The reference to the file of one, as `reference` finds it. A font in a `data:` URL needs no file.
    pub fn stand_in(
        &self,
        mut reference: impl FnMut(&LinkReport) -> Option<String>,
    ) -> Option<&str> {
        let mut links = self.links.iter().enumerate().rev();
        let stand_in = self.stand_in.get_or_init(|| {
            links.find_map(|(at, link)| {
                if link.reference.starts_with("data:") {
                    (!self.are_images).then(|| (at, String::new()))
                } else {
                    Some((at, reference(link)?))
                }
            })
        });
        Some(&*stand_in.as_ref()?.1)
    }

    /// The start of the first link.
    pub fn start(&self) -> Option<usize> {
        self.links.first().map(|link| link.span.start)
    }

    /// The edits of the document `bytes` that give images for which another stands in the descriptor of that one. `is_served` is
    /// true for such links. A width is not given to an image without one, whose `sizes` are unknown.
    pub fn descriptors<'b>(
        &self,
        bytes: &'b [u8],
        is_served: impl Fn(&LinkReport) -> bool,
    ) -> Vec<Edit<'b>> {
        let serving = match self.stand_in.get() {
            Some(Some((at, _))) if self.are_images => descriptor(bytes, &self.links[*at]),
            _ => None,
        };
        let Some((_, new)) = serving else {
            return Vec::new();
        };
        let edit = |link: &LinkReport| {
            let (span, text) = descriptor(bytes, link).filter(|(span, _)| span.start > 0)?;
            let is_replaced = text != new && (new.ends_with(b"x") || text.ends_with(b"w"));
            let new = match bytes[link.span.start - 1] {
                _ if !span.is_empty() => new.into(),
                // White space would end a value without quotes.
                b'"' | b'\'' => [b" ", new].concat().into(),
                _ => return None,
            };
            is_replaced.then_some(Edit { span, new })
        };
        let served = self.links.iter().filter(|link| is_served(link));
        served.filter_map(edit).collect()
    }
}

/// The descriptor of a candidate, a density or a width, and its span. A candidate without one has
/// the density `1x`, in an empty span, and so has the URL of `src`, whose span is at the start of the document.
fn descriptor<'b>(bytes: &'b [u8], link: &LinkReport) -> Option<(Span, &'b [u8])> {
    let is_in_css = is_in_css(link);
    if !is_in_css && !matches!(link.attribute.as_deref(), Some("srcset" | "imagesrcset")) {
        return Some((Span::at(0), b"1x"));
    }
    let mut start = link.span.end;
    if is_in_css {
        let after = bytes[start..].iter();
        let ends = |byte: &&u8| byte.is_ascii_whitespace() || b"\"')".contains(byte);
        start += after.take_while(ends).count();
        start = bytes[..start].trim_ascii_end().len();
    }
    let text = bytes[start..].trim_ascii_start();
    let is_of_descriptor = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'.';
    let length = text.iter().take_while(is_of_descriptor).count();
    if length == 0 && !is_in_css && matches!(text.first(), Some(b',' | b'"' | b'\'')) {
        return Some((Span::at(start), b"1x"));
    }
    let end = bytes.len() - text.len() + length;
    let text = &text[..length];
    let is_known = matches!(text, [b'0'..=b'9' | b'.', .., b'x' | b'w']);
    is_known.then_some((Span::new(end - length, end), text))
}

/// Groups of links by the starts of the links.
pub type AlternativeLinks = HashMap<usize, Arc<Alternatives>>;

/// The links of the document with these `words` that have alternatives, by the starts of their spans.
pub fn alternatives(words: Words<'_>, options: &Options) -> AlternativeLinks {
    let bytes = words.bytes;
    let mut found = HashMap::new();
    if options.format.has_headings() || !words.contain(Word::Alternative) {
        return found;
    }
    let mut group = Alternatives::default();
    let mut end = |group: Alternatives| {
        if group.links.len() > 1 {
            let starts: Vec<_> = group.links.iter().map(|link| link.span.start).collect();
            let group = Arc::new(group);
            found.extend(starts.into_iter().map(|start| (start, Arc::clone(&group))));
        }
    };
    let mut room = MOST_CANDIDATES;
    links(bytes, options, &mut |listed| {
        let link = listed.link;
        let may_have_alternatives = is_in(&link, ["img", "source"], ["src", "srcset"])
            || is_in(&link, ["link", "link"], ["href", "imagesrcset"])
            || is_in_css(&link);
        if !may_have_alternatives || room == 0 {
            return;
        }
        room -= 1;
        let last = group.links.last();
        if !last.is_some_and(|last| are_alternatives(bytes, last, &link)) {
            let is_media = is_in(&link, ["source", "source"], ["src", "src"]);
            let next = Alternatives {
                are_images: !is_media && !is_of_font(bytes, &link),
                ..Alternatives::default()
            };
            end(std::mem::replace(&mut group, next));
        }
        group.are_saved |= link.reason == Some(Reason::LocalCopy);
        group.links.push(link);
    });
    end(group);
    found
}
