//! RFC 3986 section 5.2.2, strict.
//!
//! ```
//! use baselink::resolve::{Profile, resolve};
//! assert_eq!(resolve(Profile::Rfc3986, "http://a/b/c", "../../g").unwrap(), "http://a/g");
//! ```
//!
//! Deliberately absent: the "backward compatible" reading of section 5.2.2, by which `http:g` is relative.

use super::draft::{Draft, Excess, Top};
use super::{Base, Target, Unresolvable};
use crate::reference::{Grammar, Reference};
use crate::span::Span;

impl Base {
    /// RFC 3986 section 5.2.2, with R for the reference and T for the target.
    pub(super) fn rfc3986(
        &self,
        reference: &str,
        target: &mut Target,
    ) -> std::result::Result<(), Unresolvable> {
        let r = Reference::split(Grammar::Rfc3986, reference);
        let path = r.path_span;
        let rest = Span::new(path.end, reference.len());
        let mut draft = Draft { reference, target };
        let rooted = r.path().starts_with('/');
        let is_merged;
        let has_authority;
        if r.scheme_span.is_some() {
            (is_merged, has_authority) = (false, r.net_loc_span.is_some());
            draft.keep(Span::new(0, path.start));
        } else {
            self.usable.map_err(Unresolvable::BaseUnusable)?;
            if r.net_loc_span.is_some() {
                (is_merged, has_authority) = (false, true);
                draft.add(&self.text[..self.cuts.scheme]);
                draft.keep(Span::new(0, path.start));
            } else if path.is_empty() {
                // T.path = Base.path; if defined(R.query) then R.query else Base.query
                let written = r.query_span.is_some();
                let cut = if written { self.cuts.params } else { self.cuts.query };
                draft.add(&self.text[..cut]);
                draft.keep(rest);
                return Ok(());
            } else {
                (is_merged, has_authority) = (!rooted, self.cuts.has_net_loc);
                draft.add(&self.text[..self.cuts.net_loc]);
            }
        }
        let path_at = draft.target.url.len();
        let mut segments = path;
        let mut top = if is_merged {
            // T.path = merge(Base.path, R.path)
            draft.target.url.reserve(self.directory.text.len() + reference.len());
            draft.add(&self.directory.text[path_at..]);
            self.directory.top
        } else {
            segments.start += usize::from(rooted);
            draft.keep(Span::new(path.start, segments.start));
            Top { floor: draft.target.url.len(), rooted }
        };
        // T.path = remove_dot_segments(T.path)
        draft.segments(Excess::Dropped, segments, &mut top);
        if !has_authority && draft.target.url[path_at..].starts_with("//") {
            draft.insert(path_at, "/."); // A24
        }
        draft.keep(rest);
        Ok(())
    }
}
