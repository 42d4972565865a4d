//! References between hosts in a tree whose folders are named after hosts.
//!
//! A crawler that saved files of several hosts makes their links lead from file to file. In
//! `www.a.example/x.html`, the reference `../cdn.b.example/y.png` leads to another host, not to a path of
//! `www.a.example`. A `..` that climbs above the folder of a host reaches the folder that contains all hosts, and
//! the next name is a host.
//!
//! ```
//! use baselink_url::{Base, Resolver};
//! let host = |folder: &str| folder.contains('.').then(|| folder.to_owned());
//! let base = Base::new(Resolver::Rfc1808, "http://www.a.example/x/y.html").in_layout(host);
//! let url = |reference: &str| base.resolve(reference).unwrap().url;
//! assert_eq!(url("../../cdn.b.example/./z.png?q"), "http://cdn.b.example/z.png?q");
//! assert_eq!(url("../../www.a.example/z.png"), "http://www.a.example/z.png");
//! assert_eq!(url("../z.png"), "http://www.a.example/z.png");
//! assert_eq!(url("../../images/z.png"), "http://www.a.example/../images/z.png");
//! ```
//!
//! Deliberately absent: the names of hosts. The caller, who knows the layout, provides them.

use crate::{
    Base,
    reference::{Category, Reference, decode_percent_lossy},
};

impl Base {
    /// The net_loc of the host to which `reference` leads through the folder that contains all hosts, and the offset in
    /// `reference` of the part that is relative to the root of that host. `None` if it stays below its own host, climbs above
    /// the folder of all hosts, or reaches a folder that is not a host.
    pub(super) fn other_host(&self, reference: &str) -> Option<(String, usize)> {
        let host = self.layout.as_ref()?;
        let split = Reference::split(self.resolver(), reference);
        let path = split.path();
        // Browsers read `\` as `/`, but no crawler writes it.
        if split.category() != Category::RelPath || path.contains('\\') {
            return None;
        }
        // The depth of the document below the folder that contains all hosts.
        let own = Reference::of(self.as_str()).path().as_bytes();
        let mut depth = memchr::memchr_iter(b'/', own).count().max(1);
        let (mut folder, mut at) = (None, 0);
        for segment in path.split('/') {
            match segment {
                "." => {}
                ".." => depth = depth.checked_sub(1)?,
                name => {
                    if depth == 0 {
                        folder = Some(at..at + name.len());
                    }
                    depth += 1;
                }
            }
            at += segment.len() + 1;
        }
        // A name without a following `/` is a file next to the folders of the hosts.
        let folder = folder.filter(|folder| depth > 0 && folder.end < path.len())?;
        let rest = folder.end + 1;
        Some((host(&decode_percent_lossy(&reference[folder]))?, rest))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::{Base, Resolver};

    fn host(folder: &str) -> Option<String> {
        let host = folder.replace('_', ":");
        folder.contains('.').then_some(host)
    }

    /// Checks that the last kept part is a common tail of the reference and its target.
    #[test]
    fn every_resolver_finds_the_same_host() {
        for (base, reference, expected) in [
            ("http://a.b/", "../c.d/x", "http://c.d/[x]"),
            ("http://a.b/?q=/x/y", "../c.d/x", "http://c.d/[x]"),
            ("http://a.b/x/y", "../../c.d/", "http://c.d/"),
            ("http://a.b/x/y", "./.././../c.d/?q#f", "http://c.d/[?q#f]"),
            ("http://a.b/x/y", "z/../../../c.d/#f", "http://c.d/[#f]"),
            ("http://a.b/x/y", "../../a.b/x", "http://a.b/[x]"),
            ("http://a.b/x/y", "../../c.d/../e.f/x", "http://e.f/[x]"),
            (
                "http://a.b/x/y",
                "../../c.d/x/../../e.f/y/z",
                "http://e.f/[y/z]",
            ),
            ("http://a.b/", "../c.d_8080/x:y", "http://c.d:8080/[x:y]"),
            ("http://a.b/", "../c%2Ed/x", "http://c.d/[x]"),
            ("http://a.b/", "../c.d/x/y/../z", "http://c.d/x/[z]"),
            ("http://a.b/", "../c.d//x", "http://c.d/[/x]"),
            ("ftp://a.b/", "../c.d/x", "ftp://c.d/[x]"),
        ] {
            for resolver in Resolver::ALL {
                let base = Base::new(resolver, base).in_layout(host);
                let target = base.resolve(reference).unwrap();
                assert_eq!(
                    target.url,
                    expected.replace(['[', ']'], ""),
                    "{resolver} {reference}"
                );
                let kept = target.kept.last().map_or("", |kept| {
                    assert_eq!(
                        kept.reference.end,
                        reference.len(),
                        "{resolver} {reference}"
                    );
                    assert_eq!(target.url[kept.url..], reference[kept.reference.range()]);
                    &target.url[kept.url..]
                });
                let end = expected
                    .trim_end_matches(']')
                    .rsplit_once('[')
                    .map_or("", |end| end.1);
                assert!(kept.ends_with(end), "{resolver} {reference}: {kept}");
            }
        }
    }

    #[test]
    fn other_references_are_resolved_as_without_a_layout() {
        for reference in [
            "",
            "x",
            "../x",
            "../../x",
            "../../c/x",
            "../../c.d",
            "../..",
            "../../",
            "../../../c.d/x",
            "../../c.d/../../e.f/x",
            "../../c.d/..",
            "../../c.d/../",
            "/../../c.d/x",
            "?../../c.d/x",
            "#../../c.d/x",
            "//a.b/../c.d/x",
            "http:../../c.d/x",
            "x/../c.d/x",
            r"..\..\c.d\x",
            "../..//c.d/x",
        ] {
            for resolver in Resolver::ALL {
                let base = Base::new(resolver, "http://a.b/x/y");
                let in_layout = base.clone().in_layout(host);
                assert_eq!(
                    in_layout.resolve(reference),
                    base.resolve(reference),
                    "{reference}"
                );
                assert!(!in_layout.leads_through_layout(reference));
            }
        }
    }

    #[test]
    fn a_query_is_encoded_as_the_document_is() {
        let latin1 = |text: &str| text.chars().map(|c| c as u8).collect();
        let base = Base::new(Resolver::Whatwg, "http://a.b/").with_query_encoding(latin1);
        let target = base.in_layout(host).resolve("../c.d/é?é").unwrap();
        assert_eq!(target.url, "http://c.d/%C3%A9?%E9");
    }

    /// A quadratic algorithm would not finish this.
    #[test]
    fn a_million_segments() {
        let n = 1_000_000;
        for resolver in Resolver::ALL {
            let base =
                Base::new(resolver, &format!("http://a.b/{}", "x/".repeat(n))).in_layout(host);
            let reference = format!("{}../{}g", "../".repeat(n), "c.d/../".repeat(n) + "c.d/");
            assert_eq!(base.resolve(&reference).unwrap().url, "http://c.d/g");
        }
    }
}
