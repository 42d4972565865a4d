//! The base that a page declared before a browser saved it: RFC 1808, 3.1.
//!
//! A browser that saves a page with its files turns each `base` element into a comment
//! ([`baselink_scan::html::saved`]), because local copies cannot be found through the original base. Links to files that
//! were not saved keep their original text, so their base is the base in the comment.
//!
//! ```
//! use baselink_rewrite::Options;
//! let page = b"<!-- saved from url=(0022)http://a.example/x.html -->\n\
//!     <head><!--<base href=\"/docs/\">--><base href=\".\"></head><video poster=y.png>";
//! let report = baselink_rewrite::rewrite(page, &Options::default()).report;
//! assert_eq!(report.entities[0].chain.source.name(), "saved-base");
//! assert_eq!(report.links[1].target.as_deref(), Some("http://a.example/docs/y.png"));
//! ```
//!
//! Deliberately absent: the decision which references lead to local copies.

use std::sync::Arc;

use baselink_scan::{
    DeclaredBase, Document, Program, Saved,
    document::{BaseKind, Standing},
};
use baselink_url::Resolver;

use super::{BaseChain, DeclaredUrl, LevelResult, Rule, Source, Status, abridged, pass, status_of};

/// The reason to pass over a `base` element that a browser wrote.
const BY_THE_BROWSER: &str = "written by the browser that saved the page";

impl BaseChain {
    /// Adds level 3.1 of HTML: `base` elements, and the comments into which a browser turned them.
    pub(super) fn add_base_elements(&mut self, document: &Document, resolver: Resolver) {
        let of_kind = |kind| document.bases.iter().filter(move |one| one.kind == kind);
        let effective =
            of_kind(BaseKind::Element).find(|element| element.standing == Standing::First);
        let saved = document
            .saved
            .as_ref()
            .filter(|saved| saved.program == Program::Browser && saved.is_of_page());
        let mut ends: Vec<usize> = of_kind(BaseKind::Comment).map(|one| one.span.end).collect();
        ends.sort_unstable();
        let follows_comment = |element: &DeclaredBase| {
            element.value.as_deref() == Some(".") && ends.binary_search(&element.span.start).is_ok()
        };
        self.has_written_base = effective.is_some_and(follows_comment);
        let ignores_element = self.has_written_base && saved.is_some();
        let uses_comments = ignores_element || effective.is_none();
        let effective_comment =
            of_kind(BaseKind::Comment).find(|comment| uses_comments && comment.value.is_some());
        self.was_saved_with_files |=
            saved.is_some() || self.has_written_base || effective_comment.is_some();
        for declared in &document.bases {
            let is_effective = effective_comment.is_some_and(|one| one.span == declared.span);
            let (source, result) = match declared.kind {
                BaseKind::XmlBase => continue,
                BaseKind::Comment if is_effective => {
                    let url = saved
                        .filter(|saved| saved.disbelief().is_none())
                        .map(|saved| Arc::from(&*saved.url("https")));
                    let result = self.evaluate_comment(declared, url, resolver);
                    (Source::SavedBase, result)
                }
                BaseKind::Comment => {
                    let standing = match declared.value {
                        None => Standing::NoHref,
                        Some(_) => Standing::Comment,
                    };
                    (Source::SavedBase, pass(standing.name()))
                }
                BaseKind::Element if ignores_element && follows_comment(declared) => {
                    (Source::BaseElement, pass(BY_THE_BROWSER))
                }
                BaseKind::Element => {
                    let result = self.evaluate_base_element(declared, resolver);
                    (Source::BaseElement, result)
                }
            };
            let value = declared.value.as_deref().map(Arc::from);
            self.add_embedded(source, value, declared.span, status_of(result));
        }
    }

    /// Evaluates the base in a comment of a page that was saved from `url`. A relative base is resolved against `url`,
    /// because the browser wrote both at the same time.
    fn evaluate_comment(
        &mut self,
        declared: &DeclaredBase,
        url: Option<Arc<str>>,
        resolver: Resolver,
    ) -> LevelResult {
        const DECLARED: &str = "the base that the page declared when a browser saved it";
        let value = declared.value.as_deref().unwrap_or_default();
        let has_url = url.is_some();
        let outer = url.or_else(|| self.fallback.as_ref().map(|outer| Arc::clone(&outer.url)));
        let found = DeclaredUrl::of(value, outer, None, resolver);
        let DeclaredUrl { base, outer } = found.map_err(|(status, why)| match status {
            Status::PassedOver => {
                let why = "it is relative, and the URL from which the page was saved is unknown";
                (status, why.into())
            }
            _ => (status, why),
        })?;
        let reason = match outer {
            None => {
                let written = Saved {
                    program: Program::Browser,
                    written: base.to_string(),
                };
                if let Some(why) = written.disbelief() {
                    return pass(why);
                }
                self.is_from_outside = false;
                DECLARED.into()
            }
            Some(outer) => {
                self.is_from_outside &= !has_url;
                let outer = abridged(&outer);
                let of = if has_url {
                    "the URL from which it was saved"
                } else {
                    "the outer base"
                };
                format!("{DECLARED}, relative to {of}, {outer}").into()
            }
        };
        self.set_base(base, Rule::Embedded, Source::SavedBase);
        Ok(reason)
    }
}
