//! The judge for a document in an archive. It determines which link targets the archive lacks.
//!
//! ```text
//! img src, not captured      -->  missing (not-captured)
//! a href, captured as a 404  -->  missing-page (client-error)
//! a href to another host     -->  outside
//! ```
//!
//! A `srcset`, a `picture`, the sources of an audio or video, and the sources of a font need only one available
//! candidate. Missing candidates are then classified as outside.
//!
//! Deliberately absent: resources that scripts load.

use std::borrow::Cow;

use super::finding::{Cause, CheckedLink, Class, Finding};
use super::judge::is_web;
use crate::collection::{Collection, Located};
use crate::purpose::custom_property::in_sheet;
use baselink_rewrite::ListedLink;
use baselink_rewrite::report::{LinkReport, Outcome, Reason};
use baselink_scan::document::Role;
use baselink_text::layer::charset::Charset;
use baselink_text::span::Span;

/// Judges the links of one document, in order.
pub(super) struct CaptureJudge<'a> {
    bytes: &'a [u8],
    collection: &'a Collection,
    /// The alternatives so far, as long as all of them are missing.
    missing: Vec<CheckedLink>,
    /// True if the archive has one of the alternatives.
    has_one: bool,
    last: Option<LastLink>,
}

/// The place of a link in a document.
struct LastLink {
    span: Span,
    element: Cow<'static, str>,
    attribute: Option<Cow<'static, str>>,
}

impl<'a> CaptureJudge<'a> {
    pub(super) fn new(bytes: &'a [u8], collection: &'a Collection) -> Self {
        Self {
            bytes,
            collection,
            missing: Vec::new(),
            has_one: false,
            last: None,
        }
    }

    /// Passes `listed` with its finding to `found`, unless the next links decide.
    pub(super) fn judge(
        &mut self,
        listed: ListedLink,
        charset: Charset,
        found: &mut dyn FnMut(CheckedLink),
    ) {
        let link = &listed.link;
        let place = LastLink {
            span: link.span,
            element: link.element.clone(),
            attribute: link.attribute.clone(),
        };
        let last = self.last.as_ref();
        if !last.is_some_and(|last| is_alternative(self.bytes, last, &place)) {
            self.end(found);
        }
        self.last = Some(place);
        let (class, cause) = class(link, self.collection);
        let one = CheckedLink {
            charset,
            finding: Finding {
                target: link.target.clone().filter(|_| class != Class::Left),
                differs: link.differs,
                ..Finding::of(class, cause)
            },
            ids_of: None,
            listed,
        };
        if class == Class::Travels && !self.has_one {
            self.has_one = true;
            for one in self.missing.drain(..) {
                found(without(one));
            }
        }
        match class == Class::Missing {
            true if self.has_one => found(without(one)),
            true => self.missing.push(one),
            false => found(one),
        }
    }

    /// Passes on the links that have no further alternatives.
    pub(super) fn end(&mut self, found: &mut dyn FnMut(CheckedLink)) {
        self.missing.drain(..).for_each(&mut *found);
        self.has_one = false;
    }
}

/// `link`, which the page does not need.
fn without(link: CheckedLink) -> CheckedLink {
    let (class, cause) = (Class::Outside, None);
    let finding = Finding {
        class,
        cause,
        ..link.finding
    };
    CheckedLink { finding, ..link }
}

fn class(link: &LinkReport, collection: &Collection) -> (Class, Option<Cause>) {
    if in_sheet(link, collection).is_some() {
        return (Class::Travels, None);
    }
    let target = match (link.outcome, &link.target) {
        (Outcome::Left, Some(target)) if link.reason == Some(Reason::CustomProperty) => target,
        (Outcome::NoBase, _) => return (Class::Left, Some(Cause::NoBase)),
        (Outcome::Left, _) | (_, None) => return (Class::Left, link.reason.map(Cause::Kept)),
        (_, Some(target)) => target,
    };
    let located = collection.locate(target);
    let (cause, is_host_known) = match located {
        Located::Failed(300..=303 | 307 | 308) => (Cause::Redirect, true),
        Located::Failed(400..=499) => (Cause::ClientError, true),
        Located::Failed(500..) => (Cause::ServerError, true),
        Located::Failed(_) => (Cause::NoBody, true),
        Located::Outside { is_host_known } => (Cause::NotCaptured, is_host_known),
        // Captures are found by their URLs alone.
        Located::Resource(_)
        | Located::Folder(_)
        | Located::BehindLink(_)
        | Located::Lacking(..) => {
            return (Class::Travels, None);
        }
    };
    match link.role {
        Role::Embedded if is_web(target) => (Class::Missing, Some(cause)),
        Role::Navigation if is_web(target) && is_host_known => (Class::MissingPage, Some(cause)),
        _ => (Class::Outside, None),
    }
}

/// True if `next`, the link after `link`, is another candidate for the same picture, sound or video.
fn is_alternative(bytes: &[u8], link: &LastLink, next: &LastLink) -> bool {
    if link.attribute.is_none() && next.attribute.is_none() {
        return are_of_one_font(bytes, link, next);
    }
    let is_candidate = |link: &LastLink| {
        matches!(link.attribute.as_deref(), Some("src" | "srcset"))
            && matches!(&*link.element, "img" | "source")
    };
    let between = bytes.get(link.span.end..next.span.start);
    let Some(between) = between.filter(|_| is_candidate(link) && is_candidate(next)) else {
        return false;
    };
    // Both links are in one start tag, or in adjacent tags with the same parent.
    let is_same_tag = memchr::memchr(b'<', between).is_none();
    let is_same_parent = link.element == "source"
        && memchr::memchr_iter(b'<', between).all(|at| {
            let name = &between[at + 1..];
            ["source", "img"].iter().any(|tag| {
                name.get(..tag.len())
                    .is_some_and(|name| name.eq_ignore_ascii_case(tag.as_bytes()))
            })
        });
    is_same_tag || is_same_parent
}

/// True if both links are in one `@font-face` rule (CSS Fonts 4, 4.3). A browser uses the first source that it can
/// load.
fn are_of_one_font(bytes: &[u8], link: &LastLink, next: &LastLink) -> bool {
    /// The number of bytes before a link to search for the name of its rule.
    const NEAR: usize = 4_096;
    let between = bytes.get(link.span.end..next.span.start);
    if between.is_none_or(|between| memchr::memchr2(b'{', b'}', between).is_some()) {
        return false;
    }
    let before = &bytes[link.span.start.saturating_sub(NEAR)..link.span.start];
    let Some(start) = memchr::memrchr(b'{', before) else {
        return false;
    };
    let name = b"@font-face";
    let head = before[..start].trim_ascii_end();
    head.len() >= name.len() && head[head.len() - name.len()..].eq_ignore_ascii_case(name)
}
