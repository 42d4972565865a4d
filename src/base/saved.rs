//! The base that a page declared before a browser saved it: RFC 1808, 3.1.
//!
//! A browser that saves a page with its files disables each `base` element, because the local copies would not be
//! found through it. It leaves a comment in its place ([`crate::scan::html::saved`]). Links that were not saved
//! keep their original text, so their base is the one in the comment.
//!
//! ```
//! use baselink::Options;
//! let page = b"<!-- saved from url=(0022)http://a.example/x.html -->\n\
//!     <head><!--<base href=\"/docs/\">--><base href=\".\"></head><video poster=y.png>";
//! let report = baselink::rewrite(page, &Options::default()).report;
//! assert_eq!(report.entities[0].chain.source.name(), "saved-base");
//! assert_eq!(report.links[1].target.as_deref(), Some("http://a.example/docs/y.png"));
//! ```
//!
//! Deliberately absent: the decision which references lead to local copies.

use std::borrow::Cow;
use std::sync::Arc;

use super::{BaseChain, DeclaredUrl, Rule, Source, Status, abridged};
use crate::document::{BaseKind, DeclaredBase, Document, Program, Saved, Standing};
use crate::resolve::Profile;

/// The reason to pass over a `base` element that a browser wrote.
const BY_THE_BROWSER: &str = "written by the browser that saved the page";

impl BaseChain {
    /// 3.1, in HTML: `base` elements, and the comments in which a browser kept them.
    pub(super) fn base_elements(&mut self, document: &Document, profile: Profile) {
        let of_kind = |kind| document.bases.iter().filter(move |one| one.kind == kind);
        let effective =
            of_kind(BaseKind::Element).find(|element| element.standing == Standing::First);
        let is_of_browser =
            |saved: &&Saved| saved.program == Program::Browser && saved.is_of_page();
        let saved = document.saved.as_ref().filter(is_of_browser);
        let mut ends: Vec<usize> = of_kind(BaseKind::Comment).map(|one| one.span.end).collect();
        ends.sort_unstable();
        let is_in_place_of_one = |element: &DeclaredBase| {
            element.value.as_deref() == Some(".") && ends.binary_search(&element.span.start).is_ok()
        };
        self.has_written_base = effective.is_some_and(is_in_place_of_one);
        let is_out_of_force = self.has_written_base && saved.is_some();
        let is_telling = is_out_of_force || effective.is_none();
        let telling =
            of_kind(BaseKind::Comment).find(|comment| is_telling && comment.value.is_some());
        self.was_saved_with_files |= saved.is_some() || self.has_written_base || telling.is_some();
        for declared in &document.bases {
            let (source, (status, reason)) = match declared.kind {
                BaseKind::XmlBase => continue,
                BaseKind::Comment if telling.is_some_and(|one| one.span == declared.span) => {
                    let url = saved.filter(|saved| saved.disbelief().is_none());
                    let url = url.map(|saved| Arc::from(&*saved.url("https")));
                    (Source::SavedBase, self.commented(declared, url, profile))
                }
                BaseKind::Comment if declared.value.is_none() => {
                    (Source::SavedBase, (Status::PassedOver, Standing::NoHref.reason().into()))
                }
                BaseKind::Comment => {
                    (Source::SavedBase, (Status::PassedOver, Standing::Comment.reason().into()))
                }
                BaseKind::Element if is_out_of_force && is_in_place_of_one(declared) => {
                    (Source::BaseElement, (Status::PassedOver, BY_THE_BROWSER.into()))
                }
                BaseKind::Element => (Source::BaseElement, self.base_element(declared, profile)),
            };
            let value = declared.value.as_deref().map(Arc::from);
            let level = self.level(Rule::Embedded, source, value, status, reason);
            level.span = Some(declared.span);
        }
    }

    /// The base in a comment of a page that was saved from `url`. The base is relative to `url`, because the
    /// browser wrote both at once.
    fn commented(
        &mut self,
        declared: &DeclaredBase,
        url: Option<Arc<str>>,
        profile: Profile,
    ) -> (Status, Cow<'static, str>) {
        const DECLARED: &str = "the base that the page declared when a browser saved it";
        let value = declared.value.as_deref().unwrap_or_default();
        let is_alone = url.is_some();
        let outer = url.or_else(|| self.fallback.as_ref().map(|outer| Arc::clone(&outer.url)));
        let (base, reason) = match DeclaredUrl::of(value, outer, profile) {
            DeclaredUrl::Absolute(base) => {
                let written = Saved { program: Program::Browser, written: base.to_string() };
                if let Some(why) = written.disbelief() {
                    return (Status::PassedOver, why.into());
                }
                self.is_from_outside = false;
                (base, DECLARED.into())
            }
            DeclaredUrl::Relative(base, outer) => {
                self.is_from_outside &= !is_alone;
                let outer = abridged(&outer);
                let of =
                    if is_alone { "the URL from which it was saved" } else { "the outer base" };
                (base, format!("{DECLARED}, relative to {of}, {outer}").into())
            }
            DeclaredUrl::NoOuter => {
                let reason = "it is relative, and the URL from which the page was saved is unknown";
                return (Status::PassedOver, reason.into());
            }
            DeclaredUrl::Invalid(why) => return (Status::Invalid, why),
        };
        self.take(base, Rule::Embedded, Source::SavedBase);
        (Status::Taken, reason)
    }
}
