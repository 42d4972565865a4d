//! The inverse of resolving: a short reference to a target (RFC 3986, 4.2; RFC 1808, 2.2).
//!
//! ```
//! use baselink_url::{Resolver, relativize};
//! assert_eq!(relativize(Resolver::Rfc1808, "http://a/b/c", "http://a/b/d#s"), "d#s");
//! ```
//!
//! Deliberately absent: proof by reasoning. Each candidate is resolved, and accepted if the result is the target.

use super::{Base, Resolver};
use crate::reference::Reference;

impl Base {
    /// A short reference to `target`: the first of these that resolves against this base to the same URL as `target`.
    ///
    /// 1. The fragment, or the query and fragment, if everything before is the same.
    /// 2. A relative path.
    /// 3. An absolute path.
    /// 4. `target` itself, as for every target on another host.
    ///
    /// The reference is never empty, because an empty attribute often means no link.
    ///
    /// ```
    /// # use baselink_url as baselink;
    /// use baselink::{Base, Resolver};
    /// let base = Base::parse(Resolver::Rfc1808, "http://a/b/c/d;p?q")?;
    /// assert_eq!(base.relativize("http://a/b/g"), "../g");
    /// assert_eq!(base.relativize("http://a/b/c/x:y"), "./x:y");
    /// assert_eq!(base.relativize("http://a/b/c/d;p?q#s"), "#s");
    /// assert_eq!(base.relativize("http://h/"), "http://h/");
    /// # Ok::<(), baselink_text::Error>(())
    /// ```
    pub fn relativize(&self, target: &str) -> String {
        if let Some(reference) = self.spliced_to(target) {
            return reference;
        }
        let Ok(wanted) = self.resolve(target) else {
            return target.to_owned();
        };
        if self.is_relative(target) || self.inherited.usable.is_err() {
            return target.to_owned();
        }
        self.candidates(&wanted.url)
            .into_iter()
            .find(|candidate| self.resolve(candidate).is_ok_and(|it| it.url == wanted.url))
            .unwrap_or_else(|| target.to_owned())
    }

    /// The fast path of [`relativize`](Self::relativize): the first candidate whose [splice](Base::splice) gives
    /// `target`. `None` if there is none, or if an earlier candidate needs closer examination.
    fn spliced_to(&self, target: &str) -> Option<String> {
        for candidate in self.candidates(target) {
            let splice = self.splice(candidate.as_bytes())?;
            if target.strip_prefix(splice.prefix) == Some(&candidate[splice.dropped..]) {
                return Some(candidate);
            }
        }
        None
    }

    /// References that may resolve to `target`, best first.
    fn candidates(&self, target: &str) -> Vec<String> {
        let base = &self.inherited;
        let text = base.text.as_str();
        let url = Reference::split(base.resolver, target);
        let path_at = url.path_span.start;
        if text[..base.net_loc_end] != target[..path_at] {
            return Vec::new();
        }
        let mut candidates = Vec::new();
        let query = url
            .fragment_span
            .map_or(target.len(), |fragment| fragment.start - 1);
        if query < target.len() && text[..base.query_end] == target[..query] {
            candidates.push(target[query..].to_owned());
        }
        let params = url.query_span.map_or(query, |query| query.start - 1);
        if params < query && text[..base.params_end] == target[..params] {
            candidates.push(target[params..].to_owned());
        }

        // The directories common to both paths. A base without a path counts as the root.
        let b_directory = match base.written_directory() {
            "" if base.has_net_loc => "/",
            directory => directory,
        };
        let common = b_directory
            .bytes()
            .zip(url.path().bytes())
            .take_while(|(b, t)| b == t)
            .enumerate()
            .filter(|(_, (byte, _))| *byte == b'/')
            .last()
            .map_or(0, |(n, _)| n + 1);
        let up = "../".repeat(b_directory[common..].matches('/').count());
        let down = &target[path_at + common..];
        if !(up.is_empty() && down.is_empty()) {
            candidates.push(format!("{up}{down}"));
        }
        if up.is_empty() {
            candidates.push(format!("./{down}"));
        }
        let absolute_path = &target[path_at..];
        if absolute_path.starts_with('/') {
            candidates.push(absolute_path.to_owned());
            candidates.push(format!("/.{absolute_path}"));
        }
        candidates
    }
}

/// A short reference to `target`, as in [`Base::relativize`].
///
/// ```
/// # use baselink_url as baselink;
/// use baselink::{Resolver, relativize};
/// assert_eq!(relativize(Resolver::Whatwg, "http://a/b/c", "http://a/"), "../");
/// ```
pub fn relativize(resolver: Resolver, base: &str, target: &str) -> String {
    Base::new(resolver, base).relativize(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_references_to_targets() {
        for (base, target, expected) in [
            ("http://a/b/c/d;p?q#f", "http://a/b/c/d;p?q#f", "#f"),
            ("http://a/b/c/d;p?q#f", "http://a/b/c/d;p?q", "?q"),
            ("http://a/b/c/d;p#f", "http://a/b/c/d;p", "d;p"),
            ("http://a/b/c/d;p?q", "http://a/b/c/d;p?y", "?y"),
            ("http://a/b/c/d;p?q", "http://a/b/c/d", "d"),
            ("http://a/b/c/d", "http://a/b/c/", "./"),
            ("http://a/b/c/d", "http://a/b/c/?y", "./?y"),
            ("http://a/b/c/d", "http://a/b/c/#s", "./#s"),
            ("http://a/b/c/d", "http://a/b/c/x:y", "./x:y"),
            ("http://a/b/c/d", "http://a/b/c//x", ".//x"),
            ("http://a/b/c/d", "http://a/b/", "../"),
            ("http://a/b/c/d", "http://a/b", "../../b"),
            ("http://a/b/c/d", "http://a/", "../../"),
            ("http://a/b/c/d", "http://a//x", "../..//x"),
            ("http://a", "http://a/g", "g"),
            ("http://a/b", "http://a", "http://a"),
            ("http://a/b", "https://a/b", "https://a/b"),
            ("http://a/b", "http://h/b", "http://h/b"),
            ("http://a/b", "g", "g"),
            ("mailto:a@b", "mailto:c@d", "mailto:c@d"),
        ] {
            assert_eq!(
                relativize(Resolver::Rfc1808, base, target),
                expected,
                "{base} {target}"
            );
        }
        // RFC 1808 keeps an excess `..`, and the dot segments of an absolute path.
        assert_eq!(
            relativize(Resolver::Rfc1808, "http://a/b", "http://a/../g"),
            "../g"
        );
        assert_eq!(
            relativize(Resolver::Rfc1808, "http://a/b/c", "http://a/b/./g"),
            "/b/./g"
        );
    }
}
