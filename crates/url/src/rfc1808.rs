//! RFC 1808 section 4, step by step. The section leaves some questions open; comments in this crate cite these readings by
//! number:
//!
//! - **A1**: A component that is present and empty (`g?`, `g#`, `g;`) keeps its delimiter: `g?` keeps its `?`, and
//!   `#` gives the base with an empty fragment. Exception: `?` alone inherits the query of the base, and `;`
//!   alone the params.
//! - **A2**: When is the reference "entirely empty" (step 2a)? When it is the zero-length string; only this
//!   reference inherits the fragment.
//! - **A3**: A reference that consists of white space is a path; in a document it is trimmed first.
//! - **A4**: Where does the net_loc end (2.4.3)? At `/` or `?`. The RFC names only `/`, which makes `a?q` the
//!   net_loc of `http://a?q`.
//! - **A5**: An empty net_loc in the reference (`///g`) inherits that of the base, as step 3 says.
//! - **A6**: An empty net_loc in the base (`file:///d`): its `//` stays if it is present.
//! - **A7**: A base with a net_loc and no path (`http://a`): if the path of the result is not empty and has no
//!   leading `/`, a `/` is inserted after the net_loc, even after an empty one, because otherwise the path would
//!   be read as part of the net_loc.
//! - **A8**: Is the leading `/` part of the path in step 6? No, so `/../g` is never shortened.
//! - **A9**: May the `<segment>` of 6c and 6d be empty? Yes: `a//../b` becomes `a/b`.
//! - **A10**: Does step 6 remove dot segments of the base, too? Yes, if it runs; it does not run for `#s`, `?y`
//!   and `/x`.
//! - **A11**: Dot segments in `/./g` stay (step 4).
//! - **A12**: More `..` than segments stay.
//! - **A13**: How often is 6d applied? Once.
//! - **A14**: Which `;` begins the params? The first one of the whole path, so `http://a/b;v=1/c` has the path
//!   `/b`.
//! - **A15**: Dot segments in params stay.
//! - **A16**: `..;x` is the path `..` with params.
//! - **A17**: Does `;x` inherit the query of the base? No.
//! - **A18**: What may begin a scheme? Any scheme character, so `1:2`, `-a:b` and `.:g` are absolute.
//! - **A19**: `:g` is a path; a scheme has at least one character.
//! - **A20**: The case of an inherited scheme is copied.
//! - **A21**: `http:g` and `http:` are absolute, unchanged.
//! - **A22**: A base like `mailto:x@y` is unusable if it has no `//` and its path is not empty and does not begin
//!   with `/`, or if its scheme is data, javascript, mailto, news, telnet, cid, mid, about, blob or urn. A base is
//!   also unusable if it contains a tab or a line end, or ends with a space or a control character: a URL has no
//!   such characters (RFC 1738, 2.2), and browsers drop them, so the target of an empty reference would be another
//!   URL (URL Standard, 4.4). `--url` rejects a base that ends with a space or a control character.
//! - **A23**: A base that is relative resolves nothing; the caller must make it absolute first.
//! - **A24**: A result without net_loc whose path begins with `//`: `/.` is inserted before it: `x:/a` and `.//g`
//!   give `x:/.//g`, not `x://g`.
//! - **A25**: Characters outside the grammar are copied.
//! - **A26**: `%2e%2e` is not a dot segment.
//! - **A27**: Gopher types and ftp's `;type=d` are path and params like any other.
//! - **A28**: A backslash is a character like any other.
//! - **A29**: The fragment of the base belongs to it; only the empty reference inherits it.
//!
//! ```
//! use baselink_url::{Resolver, resolve};
//! assert_eq!(resolve(Resolver::Rfc1808, "http://a/b;p?q", "?y").unwrap(), "http://a/b;p?y");
//! ```
//!
//! Deliberately absent: the choice of the base in step 1, which [`baselink_rewrite::base`] makes.

use baselink_text::Span;

use super::{
    draft::Draft,
    inherited::Inherited,
    target::{Target, Unresolvable},
    trace::Trace,
};
use crate::{reference::Reference, resolver::Resolver};

impl Inherited {
    /// Resolves `reference` by RFC 1808 section 4.
    pub fn rfc1808(
        &self,
        reference: &str,
        target: &mut Target,
        trace: &mut impl Trace,
    ) -> Result<(), Unresolvable> {
        let url = Reference::split(Resolver::Rfc1808, reference);
        let mut draft = Draft { reference, target };
        // A21: `http:g` is absolute, too.
        if let Some(scheme) = url.scheme() {
            trace.step("2b", || {
                format!("the reference has the scheme {scheme:?}: it is absolute")
            });
            draft.keep(Span::new(0, reference.len()));
            return Ok(());
        }
        self.established(trace)?;
        trace.step("1", || "the base URL is established");
        // A2: only the empty string inherits the fragment.
        if reference.is_empty() {
            trace.step(
                "2a",
                || "the reference is empty: it inherits the entire base URL",
            );
            draft.add(&self.text);
            return Ok(());
        }
        trace.step("2a", || "the reference is not empty");
        trace.step("2b", || "it has no scheme");
        trace.step("2c", || {
            format!(
                "it inherits the scheme {:?}",
                self.components().scheme().unwrap_or_default()
            )
        });
        self.step_3(&url, &mut draft, trace);
        trace.step("7", || {
            format!("the components are combined: {}", draft.target.url)
        });
        Ok(())
    }

    fn step_3(&self, url: &Reference<'_>, draft: &mut Draft<'_>, trace: &mut impl Trace) {
        let end = url.text.len();
        // A5: an empty net_loc is inherited like an absent one.
        if let Some(net_loc) = url.net_loc().filter(|net_loc| !net_loc.is_empty()) {
            trace.step("3", || {
                format!("it has the net_loc {net_loc:?}: skip to step 7")
            });
            draft.add(&self.text[..self.scheme_end]);
            draft.keep(Span::new(0, end));
            return;
        }
        trace.step("3", || inherits("net_loc", self.components().net_loc()));
        // A11: dot segments in an absolute path are kept.
        if url.path().starts_with('/') {
            trace.step("4", || "its path begins with \"/\": skip to step 7");
            draft.add(&self.text[..self.net_loc_end]);
            draft.keep(Span::new(url.path_span.start, end));
            draft.guard(self.net_loc_end, self.has_net_loc, trace);
            return;
        }
        trace.step("4", || "its path does not begin with \"/\"");
        if url.path_span.is_empty() {
            self.step_5(url, draft, trace);
        } else {
            trace.step("5", || "its path is not empty");
            self.step_6(url, draft, trace);
        }
    }

    /// Step 5, for an empty path. A delimiter such as `?` stays unless its component is inherited (A1).
    fn step_5(&self, url: &Reference<'_>, draft: &mut Draft<'_>, trace: &mut impl Trace) {
        let base = || self.components();
        trace.step("5", || {
            format!(
                "its path is empty: it inherits the path {:?}",
                base().path()
            )
        });
        let (cut, own) = if let Some(params) = url.params().filter(|params| !params.is_empty()) {
            trace.step("5a", || {
                format!("it has the params {params:?}: skip to step 7")
            });
            (self.path_end, url.params_span)
        } else {
            trace.step("5a", || inherits("params", base().params()));
            if let Some(query) = url.query().filter(|query| !query.is_empty()) {
                trace.step("5b", || {
                    format!("it has the query {query:?}: skip to step 7")
                });
                (self.params_end, url.query_span)
            } else {
                trace.step("5b", || inherits("query", base().query()));
                (self.query_end, url.fragment_span)
            }
        };
        draft.add(&self.text[..cut]);
        if let Some(own) = own {
            draft.keep(Span::new(own.start - 1, url.text.len()));
        }
    }

    fn step_6(&self, url: &Reference<'_>, draft: &mut Draft<'_>, trace: &mut impl Trace) {
        trace.step("6", || {
            // A8: the leading `/` takes no part in this step.
            let (written, path) = (self.written_directory(), url.path());
            let directory = written.strip_prefix('/').unwrap_or(written);
            let aside = if directory == written {
                ""
            } else {
                ", the leading \"/\" set aside"
            };
            format!(
                "{path:?} after {directory:?} is {:?}{aside}",
                format!("{directory}{path}")
            )
        });
        draft
            .target
            .url
            .reserve(self.directory.len() + url.text.len() + 1);
        draft.add(&self.directory);
        let mut top = self.top;
        draft.segments(self.resolver, url.path_span, &mut top, trace);
        trace.end_segments();
        let resolved = &draft.target.url[self.net_loc_end..];
        // A7. Without the `/`, the path after an empty net_loc would be read as the net_loc.
        if self.has_net_loc && !resolved.is_empty() && !resolved.starts_with('/') {
            trace.step("A7", || "a \"/\" parts the net_loc from the path");
            draft.insert(self.net_loc_end, "/");
        }
        draft.guard(self.net_loc_end, self.has_net_loc, trace);
        draft.keep(Span::new(url.path_span.end, url.text.len()));
    }
}

fn inherits(name: &str, component: Option<&str>) -> String {
    match component {
        Some(component) => format!("it inherits the {name} {component:?}"),
        None => format!("it has no {name}, and neither has the base"),
    }
}
