//! A `base` element that comes after a link to a resource, which a browser may already have fetched against another base.
//!
//! RFC 1808 and HTML define one base for a whole document, and so does every resolver: a link before the `base`
//! element is resolved against it. This is right for the links that a reader follows later, and for most resources
//! that a browser fetches. A resource before the `base` element is reported, but only under the resolver
//! `whatwg`, which models browsers.
//!
//! ```text
//! http://a/  <script src=x></script><base href=/b/>      a browser may fetch http://a/x, the link means http://a/b/x
//! ```
//!
//! Deliberately absent: the time at which a browser fetches a resource, which depends on the element and the network.

use baselink_scan::{Against, Document, LONGEST_BASE, Role, ScanOptions, scan};
use baselink_text::{Charset, Code, Diagnostic, Format};
use baselink_url::{Resolver, reference};

use super::{options::Options, prepared::prepare};
use crate::base::{BaseChain, Source, Status, abridged};

/// The diagnostic about a late base of `document`, which is in `bytes`.
pub fn late_base(
    options: &Options,
    chain: &BaseChain,
    document: &Document,
    bytes: &[u8],
) -> Option<Diagnostic> {
    let may_be_late = options.resolver == Resolver::Whatwg
        && document.format == Format::Html
        && chain.source == Source::BaseElement;
    if !may_be_late {
        return None;
    }
    let level = chain
        .chain
        .iter()
        .find(|level| level.status == Status::Taken)?;
    let (text, charset) = match &document.decoded {
        Some(decoded) => (decoded.text.as_bytes(), Charset::UTF_8),
        None => (bytes, document.charset),
    };
    let before = text.get(..level.span?.start)?;
    let (outer, base) = (&chain.fallback.as_ref()?.url, chain.base.as_deref()?);
    if outer.len().max(base.len()) > LONGEST_BASE {
        return None;
    }
    let [outer, base] = [outer, base].map(|url| prepare(Resolver::Whatwg, url, document.charset));
    let scan_options = ScanOptions {
        charset: Some(charset),
        ..options.scan.clone()
    };
    let mut late = scan(before, &scan_options)
        .links
        .into_iter()
        .filter(|link| link.role == Role::Embedded && link.against == Against::Document)
        .filter_map(|link| {
            let reference = &link.reference;
            let is_of_page = reference.is_empty() || reference.starts_with('#');
            if is_of_page || reference::placeholder(reference).is_some() {
                return None;
            }
            let (from, to) = (
                outer.resolve(reference).ok()?.url,
                base.resolve(reference).ok()?.url,
            );
            (from != to).then_some((link, from, to))
        });
    let (first, from, to) = late.next()?;
    let (reference, from, to) = (abridged(&first.reference), abridged(&from), abridged(&to));
    let message = format!(
        "'{reference}' comes before the base element, so a browser may fetch it as {from}, not as {to}; move the base \
         element before it"
    );
    Some(Diagnostic::new(Code::LateBase, first.span(), message))
}

#[cfg(test)]
mod tests {
    use crate::base::Retrieval;
    use crate::{Options, rewrite};
    use baselink_text::Code;
    use baselink_url::Resolver;

    fn late_base_message(page: &str, resolver: Resolver, url: Option<&str>) -> Option<String> {
        let retrieval = url.map(Retrieval::url);
        let options = Options {
            resolver,
            retrieval,
            ..Options::default()
        };
        let mut found = rewrite(page.as_bytes(), &options).report.diagnostics;
        found.retain(|one| one.code == Code::LateBase);
        assert!(found.len() < 2, "{page}");
        let shown = |at: usize| page[..at].chars().count();
        found
            .pop()
            .map(|one| format!("{}: {}", shown(one.span.start), one.message))
    }

    #[test]
    fn a_late_base_is_reported_once() {
        let page = "<img src=x><script src=y></script><a href=z></a><base href=/b/>";
        let message = "9: 'x' comes before the base element, so a browser may fetch it as http://a/x, not as \
                       http://a/b/x; move the base element before it";
        assert_eq!(
            late_base_message(page, Resolver::Whatwg, Some("http://a/")).as_deref(),
            Some(message)
        );
        let inside = "<iframe srcdoc='<img src=x><base href=/b/>'></iframe>";
        let message = "25: 'x' comes before the base element, so a browser may fetch it as http://a/x, not as \
                       http://a/b/x; move the base element before it";
        assert_eq!(
            late_base_message(inside, Resolver::Whatwg, Some("http://a/")).as_deref(),
            Some(message)
        );
    }

    #[test]
    fn a_base_that_is_in_time_is_not_reported() {
        for (page, resolver, url) in [
            (
                "<img src=x><base href=/b/>",
                Resolver::Rfc1808,
                Some("http://a/"),
            ),
            (
                "<img src=x><base href=/b/>",
                Resolver::Rfc3986,
                Some("http://a/"),
            ),
            // Without a base from outside, the URL of the early fetch is unknown.
            ("<img src=x><base href=http://b/>", Resolver::Whatwg, None),
            (
                "<base href=/b/><img src=x>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
            (
                "<img src=/x><base href=/b/>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
            (
                "<img src=http://a/x><base href=/b/>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
            (
                "<img src=x><base href=/b.html>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
            (
                "<a href=x></a><base href=/b/>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
            (
                "<img src={{x}}><base href=/b/>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
            (
                "<img src=''><svg><use href='#u'/></svg><base href=/b/>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
            (
                "<img src=x><base href=mailto:x@y>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
            (
                "<img src=x><base href=javascript:x>",
                Resolver::Whatwg,
                Some("http://a/"),
            ),
        ] {
            assert_eq!(late_base_message(page, resolver, url), None, "{page}");
        }
    }

    #[test]
    fn a_late_base_in_utf_16_is_reported_at_its_bytes() {
        let page = "\u{feff}<img src=x><base href=/b/>";
        let page: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let options = Options {
            resolver: Resolver::Whatwg,
            ..Options::at("http://a/")
        };
        let found = rewrite(&page, &options).report.diagnostics;
        let late = found.iter().find(|one| one.code == Code::LateBase);
        assert_eq!(late.map(|one| one.span.start), Some(2 * 10));
    }
}
