//! The links of a page that are alternatives: a browser needs only one of their targets.
//!
//! ```html
//! <picture><source srcset="a.webp"><img src="a.png" srcset="b.png 2x"></picture>
//! <link rel=preload as=image href=a.png imagesrcset="b.png 2x">
//! <style>@font-face { src: url(a.woff2), url(a.woff) } p { background: image-set("a.png" 1x, "b.png" 2x) }</style>
//! ```
//!
//! Deliberately absent: the choice between them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use baselink_rewrite::report::LinkReport;
use baselink_rewrite::{Options, links};
use baselink_scan::document::Program;
use baselink_scan::html::prelude::saved;
use baselink_text::span::Span;

/// The number of bytes before a link to search for the name of its rule or function.
const NEAR: usize = 4_096;

/// The place of a link in a document.
#[derive(Clone, Debug)]
pub(super) struct CandidatePlace {
    span: Span,
    element: Cow<'static, str>,
    attribute: Option<Cow<'static, str>>,
}

impl CandidatePlace {
    pub(super) fn of(link: &LinkReport) -> Self {
        Self {
            span: link.span,
            element: link.element.clone(),
            attribute: link.attribute.clone(),
        }
    }

    fn is_in(&self, elements: [&str; 2], attributes: [&str; 2]) -> bool {
        let attribute = self.attribute.as_deref().unwrap_or_default();
        elements.contains(&&*self.element) && attributes.contains(&attribute)
    }

    /// True if `next`, the link after this one, is another candidate for the same picture, font, sound or video.
    pub(super) fn has_alternative(&self, bytes: &[u8], next: &Self) -> bool {
        let Some(between) = bytes.get(self.span.end..next.span.start) else {
            return false;
        };
        if self.attribute.is_none() && next.attribute.is_none() {
            return self.is_of_one_rule(bytes, between, next);
        }
        let are_in = |elements, attributes| {
            self.is_in(elements, attributes) && next.is_in(elements, attributes)
        };
        // Both links are in one start tag, or in adjacent tags with the same parent.
        let is_same_tag = memchr::memchr(b'<', between).is_none();
        let is_same_parent = || {
            self.element == "source"
                && memchr::memchr_iter(b'<', between).all(|at| {
                    let name = &between[at + 1..];
                    ["source", "img"].iter().any(|tag| {
                        name.get(..tag.len())
                            .is_some_and(|name| name.eq_ignore_ascii_case(tag.as_bytes()))
                    })
                })
        };
        (is_same_tag && are_in(["link", "link"], ["href", "imagesrcset"]))
            || (are_in(["img", "source"], ["src", "srcset"]) && (is_same_tag || is_same_parent()))
    }

    /// True if both links are in one `@font-face` rule (CSS Fonts 4, 4.3) or in one `image-set()` (CSS Images 4, 2.2).
    fn is_of_one_rule(&self, bytes: &[u8], between: &[u8], next: &Self) -> bool {
        if memchr::memchr2(b'{', b'}', between).is_some() {
            return false;
        }
        let near = self.span.start.saturating_sub(NEAR);
        let before = &bytes[near..self.span.start];
        let Some(start) = memchr::memrchr(b'{', before) else {
            return false;
        };
        let (head, name) = (before[..start].trim_ascii_end(), b"@font-face");
        if head.len() >= name.len() && head[head.len() - name.len()..].eq_ignore_ascii_case(name) {
            return true;
        }
        let function = b"image-set(";
        let mut names = before[start..].windows(function.len());
        let Some(at) = names.rposition(|name| name.eq_ignore_ascii_case(function)) else {
            return false;
        };
        let mut depth = 1_usize;
        bytes[near + start + at + function.len()..next.span.start]
            .iter()
            .all(|byte| {
                match byte {
                    b'(' => depth += 1,
                    b')' => depth -= 1,
                    _ => {}
                }
                depth > 0
            })
    }
}

/// The candidates of `srcset` in the page `bytes`, if a browser saved it, by the start of their spans, each with the `src` of
/// its picture. Chromium saves only that image, and does not change `srcset`.
pub(super) fn saved_candidates(bytes: &[u8], options: &Options) -> HashMap<usize, Arc<LinkReport>> {
    let mut candidates = HashMap::new();
    let is_saved = || saved(bytes, &options.scan).is_some_and(|it| it.program == Program::Browser);
    let is_possible = memchr::memmem::find(bytes, b"srcset").is_some() && is_saved();
    if !is_possible {
        return candidates;
    }
    let (mut last, mut of_picture, mut src) = (None::<CandidatePlace>, Vec::new(), None);
    links(bytes, options, &mut |found| {
        let place = CandidatePlace::of(&found.link);
        let last = last.replace(place.clone());
        if !last.is_some_and(|last| last.has_alternative(bytes, &place)) {
            (of_picture, src) = (Vec::new(), None);
        }
        if place.is_in(["img", "source"], ["srcset", "srcset"]) {
            of_picture.push(place.span.start);
        } else if place.is_in(["img", "img"], ["src", "src"]) {
            src = Some(Arc::new(found.link));
        }
        if let Some(src) = &src {
            candidates.extend(of_picture.drain(..).map(|start| (start, Arc::clone(src))));
        }
    });
    candidates
}
