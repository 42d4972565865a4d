//! RFC 1808 section 4, step by step, as `docs/resolution.md` reads it.
//!
//! ```
//! use baselink::resolve::{Profile, resolve};
//! assert_eq!(resolve(Profile::Rfc1808, "http://a/b;p?q", "?y").unwrap(), "http://a/b;p?y");
//! ```
//!
//! Deliberately absent: step 1, the base. [`crate::base`] establishes it.

use super::draft::{Draft, Excess};
use super::{Base, Target, Unresolvable};
use crate::reference::{Grammar, Reference};
use crate::span::Span;

impl Base {
    /// RFC 1808 section 4.
    pub(super) fn rfc1808(
        &self,
        reference: &str,
        target: &mut Target,
    ) -> std::result::Result<(), Unresolvable> {
        let url = Reference::split(Grammar::Rfc1808, reference);
        let end = reference.len();
        let mut draft = Draft { reference, target };
        // Step 2b. A21: also `http:g`.
        if url.scheme_span.is_some() {
            draft.keep(Span::new(0, end));
            return Ok(());
        }
        // Step 1, and A22.
        self.usable.map_err(Unresolvable::BaseUnusable)?;
        // Step 2a. A2: only the empty string inherits the fragment.
        if reference.is_empty() {
            draft.add(&self.text);
            return Ok(());
        }
        // Steps 2c and 3. A5: an empty net_loc is inherited like an absent one.
        if url.net_loc().is_some_and(|net_loc| !net_loc.is_empty()) {
            draft.add(&self.text[..self.cuts.scheme]);
            draft.keep(Span::new(0, end));
            return Ok(());
        }
        let path = url.path_span;
        let rest = Span::new(path.start, end);
        // Step 4. A11: its dot segments stay.
        if url.path().starts_with('/') {
            draft.add(&self.text[..self.cuts.net_loc]);
            if !self.cuts.has_net_loc && url.path().starts_with("//") {
                draft.add("/."); // A24
            }
            draft.keep(rest);
            return Ok(());
        }
        // Step 5. A1: a written delimiter stays unless its component is inherited.
        if path.is_empty() {
            let params = url.params_span.filter(|params| !params.is_empty());
            let query = url.query_span.filter(|query| !query.is_empty());
            if let Some(params) = params {
                // Step 5a.
                draft.add(&self.text[..self.cuts.path]);
                draft.keep(Span::new(params.start - 1, end));
            } else if let Some(query) = query {
                // Step 5b.
                draft.add(&self.text[..self.cuts.params]);
                draft.keep(Span::new(query.start - 1, end));
            } else {
                draft.add(&self.text[..self.cuts.query]);
                if let Some(fragment) = url.fragment_span {
                    draft.keep(Span::new(fragment.start - 1, end));
                }
            }
            return Ok(());
        }
        // Step 6.
        draft.target.url.reserve(self.directory.text.len() + reference.len() + 1);
        draft.add(&self.directory.text);
        let mut top = self.directory.top;
        draft.segments(Excess::Kept, path, &mut top);
        let resolved = &draft.target.url[self.cuts.net_loc..];
        if self.cuts.has_net_loc {
            // A7. Also after an empty net_loc, which the path would otherwise become.
            if !resolved.is_empty() && !resolved.starts_with('/') {
                draft.insert(self.cuts.net_loc, "/");
            }
        } else if resolved.starts_with("//") {
            draft.insert(self.cuts.net_loc, "/."); // A24
        }
        // Step 7.
        draft.keep(Span::new(path.end, end));
        Ok(())
    }
}
