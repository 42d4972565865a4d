//! RFC 3986 section 5.2.2, strict.
//!
//! ```
//! use baselink_url::{Resolver, resolve};
//! assert_eq!(resolve(Resolver::Rfc3986, "http://a/b/c", "../../g").unwrap(), "http://a/g");
//! ```
//!
//! Deliberately absent: the "backward compatible" reading of section 5.2.2, by which `http:g` is relative.

use baselink_text::Span;

use super::{
    draft::{Draft, Top},
    inherited::Inherited,
    target::{Target, Unresolvable},
    trace::Trace,
};
use crate::reference::Reference;

impl Inherited {
    /// Resolves `reference` by RFC 3986 sections 5.2.2 and 5.3.
    pub fn rfc3986(
        &self,
        reference: &str,
        target: &mut Target,
        trace: &mut impl Trace,
    ) -> Result<(), Unresolvable> {
        let r = Reference::of(reference);
        let mut draft = Draft { reference, target };
        self.transform(&r, &mut draft, trace)?;
        trace.step("5.3", || {
            format!("the components are combined: {}", draft.target.url)
        });
        Ok(())
    }

    /// Transforms the reference R into the target T of RFC 3986 section 5.2.2.
    fn transform(
        &self,
        r: &Reference<'_>,
        draft: &mut Draft<'_>,
        trace: &mut impl Trace,
    ) -> Result<(), Unresolvable> {
        let path = r.path_span;
        let rest = Span::new(path.end, r.text.len());
        let rooted = r.path().starts_with('/');
        let mut is_merged = false;
        let mut has_authority = r.net_loc_span.is_some();
        if let Some(scheme) = r.scheme() {
            trace.step("5.2.2", || {
                format!("the reference has the scheme {scheme:?}: it is absolute")
            });
            draft.keep(Span::new(0, path.start));
        } else {
            self.established(trace)?;
            let base = || self.components();
            trace.step("5.2.2", || {
                format!(
                    "it takes the scheme {:?} of the base",
                    base().scheme().unwrap_or_default()
                )
            });
            if let Some(authority) = r.net_loc() {
                trace.step("5.2.2", || format!("it has the authority {authority:?}"));
                draft.add(&self.text[..self.scheme_end]);
                draft.keep(Span::new(0, path.start));
            } else {
                trace.step("5.2.2", || "it takes the authority of the base");
                if path.is_empty() {
                    // T.path = Base.path; if defined(R.query) then R.query else Base.query
                    trace.step("5.2.2", || {
                        format!("it takes the path of the base, {:?}", base().path())
                    });
                    let mut cut = self.params_end;
                    if r.query_span.is_none() {
                        trace.step("5.2.2", || "it takes the query of the base");
                        cut = self.query_end;
                    }
                    draft.add(&self.text[..cut]);
                    draft.keep(rest);
                    return Ok(());
                }
                (is_merged, has_authority) = (!rooted, self.has_net_loc);
                draft.add(&self.text[..self.net_loc_end]);
            }
        }
        let path_at = draft.target.url.len();
        let mut segments = path;
        let mut top = if is_merged {
            // T.path = merge(Base.path, R.path)
            trace.step("5.2.3", || {
                let directory = self.written_directory();
                format!(
                    "merged with {directory:?}: {:?}",
                    format!("{directory}{}", r.path())
                )
            });
            draft
                .target
                .url
                .reserve(self.directory.len() + r.text.len());
            draft.add(&self.directory[path_at..]);
            self.top
        } else {
            segments.start += usize::from(rooted);
            draft.keep(Span::new(path.start, segments.start));
            Top {
                floor: draft.target.url.len(),
                rooted,
            }
        };
        // T.path = remove_dot_segments(T.path)
        draft.segments(self.resolver, segments, &mut top, trace);
        trace.step("5.2.4", || {
            let directory = if is_merged {
                self.written_directory()
            } else {
                ""
            };
            let before = format!("{directory}{}", r.path());
            match &draft.target.url[path_at..] {
                after if after == before => "no dot segments to remove".to_owned(),
                after => format!("without dot segments {before:?} becomes {after:?}"),
            }
        });
        draft.guard(path_at, has_authority, trace);
        draft.keep(rest);
        Ok(())
    }
}
