//! The parts of a base URL that references inherit. A reference inherits the text before one of a few offsets or, if
//! it has a relative path, the directory of the base's path (RFC 1808 section 4, steps 2 to 6; RFC 3986, 5.2.2 and
//! 5.2.3).
//!
//! ```
//! use baselink_url::{Base, Resolver};
//! let base = Base::new(Resolver::Rfc1808, "http://a/b/../c/d;p?q");
//! let url = |reference: &str| base.resolve(reference).unwrap().url;
//! assert_eq!(url("#s"), "http://a/b/../c/d;p?q#s");
//! assert_eq!(url("g"), "http://a/c/g", "a directory is without dot segments");
//! ```
//!
//! Deliberately absent: the choice of the part, which each resolver's file makes.

use baselink_text::Span;

use super::{
    draft::{Draft, Top},
    resolver::Resolver,
    target::{Target, Unresolvable},
    trace::Trace,
    usable::Unusable,
};
use crate::reference::Reference;

/// A base URL with the offsets up to which references inherit it.
#[derive(Clone)]
pub struct Inherited {
    pub resolver: Resolver,
    pub text: String,
    pub usable: Result<(), Unusable>,
    /// The offset after the `:` of the scheme.
    pub scheme_end: usize,
    /// The offset after the net_loc, or where it would be.
    pub net_loc_end: usize,
    pub path_end: usize,
    /// The offset after the params, or after the path if there are none.
    pub params_end: usize,
    /// The offset after the query, before the fragment.
    pub query_end: usize,
    pub has_net_loc: bool,
    /// The text before a relative path: the base up to the last `/` of its path, without dot segments.
    pub directory: String,
    /// The limit of the `..` segments in a relative path.
    pub top: Top,
}

impl Inherited {
    /// Splits the base URL `text`. `trace` receives the segments of its directory.
    pub fn of(
        resolver: Resolver,
        text: String,
        usable: Result<(), Unusable>,
        trace: &mut impl Trace,
    ) -> Self {
        let url = Reference::split(resolver, &text);
        let query_end = url
            .fragment_span
            .map_or(text.len(), |fragment| fragment.start - 1);
        let net_loc_end = url.path_span.start;
        let written = directory(resolver, &url);
        let mut target = Target::default();
        let mut draft = Draft {
            reference: written,
            target: &mut target,
        };
        draft.add(&text[..net_loc_end]);
        // A8: the first slash is not part of the path in step 6.
        let slash = usize::from(written.starts_with('/'));
        draft.add(&written[..slash]);
        let rooted = resolver == Resolver::Rfc1808 || slash > 0;
        let mut top = Top {
            floor: draft.target.url.len(),
            rooted,
        };
        draft.segments(resolver, Span::new(slash, written.len()), &mut top, trace);
        Self {
            resolver,
            usable,
            scheme_end: url.scheme_span.map_or(0, |scheme| scheme.end + 1),
            net_loc_end,
            path_end: url.path_span.end,
            params_end: url.query_span.map_or(query_end, |query| query.start - 1),
            query_end,
            has_net_loc: url.net_loc_span.is_some(),
            directory: target.url,
            top,
            text,
        }
    }

    /// The components of the base, as written.
    pub fn components(&self) -> Reference<'_> {
        Reference::split(self.resolver, &self.text)
    }

    /// The directory of the base as written, including dot segments.
    pub fn written_directory(&self) -> &str {
        directory(self.resolver, &self.components())
    }

    /// Checks step 1 and A22. Fails if nothing can be relative to the base.
    pub fn established(&self, trace: &mut impl Trace) -> Result<(), Unresolvable> {
        self.usable.map_err(|why| {
            let number = if why == Unusable::Empty { "1" } else { "A22" };
            trace.step(number, || why.to_string());
            Unresolvable::BaseUnusable(why)
        })
    }
}

/// The path of the base `url` up to its last `/`, as written.
fn directory<'a>(resolver: Resolver, url: &Reference<'a>) -> &'a str {
    match url.path() {
        // RFC 3986, 5.2.3: "a string consisting of "/" concatenated with the reference's path".
        "" if resolver == Resolver::Rfc3986 && url.net_loc_span.is_some() => "/",
        path => &path[..path.rfind('/').map_or(0, |at| at + 1)],
    }
}
