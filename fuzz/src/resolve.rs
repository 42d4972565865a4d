//! References: comparisons with slow transcriptions of section 4 of RFC 1808 and section 5.2 of RFC 3986, with the
//! explanation, and with the inverse.
//!
//! ```text
//! base LF reference LF target
//! ```
//!
//! Deliberately absent: a referee for the URL Standard. `tests/resolve/references.rs` runs the web platform tests.

use baselink_rewrite::report::LinkReport;
use baselink_rewrite::{Options, rewrite};
use baselink_url::{Base, Resolver, explain, parses, relativize};

#[path = "../../tests/referee/section4.rs"]
mod section4;

/// Checks the laws of resolution for a base, a reference and a target, each on a line. Further lines are ignored.
pub fn resolve(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n').chain([""; 3]);
    let [base, reference, target] = [(); 3].map(|()| lines.next().unwrap());
    for resolver in Resolver::ALL {
        check_resolution(resolver, base, reference);
        check_in_a_page(resolver, base, reference);
        let found = baselink::resolve(resolver, base, reference).unwrap_or_default();
        for target in [target, &found] {
            let relative = relativize(resolver, base, target);
            if let Ok(expected) = baselink::resolve(resolver, base, target)
                && !is_read_differently(resolver, &expected)
            {
                let found = baselink::resolve(resolver, base, &relative);
                assert_eq!(found, Ok(expected), "{resolver}: {relative}");
            }
        }
    }
}

/// Checks that a link in a page gives the same result as written (fast path) and with a character reference for its
/// first character (no fast path). Its target is one of those that the rules of the resolvers give step by step.
fn check_in_a_page(resolver: Resolver, base: &str, reference: &str) {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"&\"'<>`=".contains(&byte);
    let Some(first) = reference
        .bytes()
        .next()
        .filter(|_| reference.bytes().all(is_plain))
    else {
        return;
    };
    let options = Options {
        resolver,
        ..Options::at(base)
    };
    let read = |page: &str| {
        let rewritten = rewrite(page.as_bytes(), &options);
        let output = String::from_utf8(rewritten.output()).unwrap();
        let [link] = &rewritten.report.links[..] else {
            panic!("{page}")
        };
        (link.clone(), output)
    };
    let summary = |link: &LinkReport| {
        (
            link.reference.clone(),
            link.target.clone(),
            link.outcome,
            link.differs,
        )
    };
    let (rest, mut all) = (&reference[1..], Vec::new());
    for quote in ["", "\"", "'"] {
        // Without quotation marks, a `/` before the `>` belongs to the value.
        let written = read(&format!("<a href={quote}{reference}{quote}>"));
        let spelled = read(&format!("<a href={quote}&#{first};{rest}{quote}>"));
        assert_eq!(
            summary(&written.0),
            summary(&spelled.0),
            "{resolver} {base:?} {reference:?}"
        );
        // Spaces and control characters of a base are dropped by readers, or cannot be written.
        let is_visible = |target: &&String| target.bytes().all(|byte| byte > b' ');
        if let Some(target) = written.0.target.as_ref().filter(is_visible)
            && written.1 != format!("<a href={quote}{reference}{quote}>")
        {
            assert_eq!(
                &read(&written.1).0.reference,
                target,
                "{resolver} {base:?} {}",
                written.1
            );
        }
        all.push(summary(&written.0));
    }
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    let (_, target, _, differs) = &all[0];
    let by_rules = Resolver::ALL.map(|resolver| explain(resolver, base, reference).result.ok());
    if let (Some(target), [Some(by_rfc1808), Some(by_rfc3986), Some(by_browsers)]) =
        (target, &by_rules)
    {
        assert!(
            by_rules.iter().flatten().any(|result| result == target),
            "{base:?} {reference:?}"
        );
        // RFC 1808, 4, step 6, keeps `..` segments above the root. From a base, the URL Standard has already removed
        // them.
        let climbs = reference.starts_with("../") && !reference.contains(';');
        let is_written = base.starts_with("http") && !base.contains("..");
        let is_kept = |url: &str| climbs && is_written && url.contains("/../");
        assert!(
            *differs || !is_kept(by_rfc1808) || is_kept(by_rfc3986) || is_kept(by_browsers),
            "{base:?} {reference:?}"
        );
    }
}

/// The url crate reads some file URLs differently from the URL Standard
/// (`fixtures/resolution/whatwg-known-differences.json`), and reads its own output differently again.
fn is_read_differently(resolver: Resolver, url: &str) -> bool {
    resolver == Resolver::Whatwg && url.starts_with("file:")
}

/// Checks the kept parts, the explanation and the referees for one reference.
fn check_resolution(resolver: Resolver, base_url: &str, reference: &str) {
    let base = Base::new(resolver, base_url);
    let found = base.resolve(reference);
    assert_eq!(
        explain(resolver, base_url, reference).result,
        found.clone().map(|target| target.url)
    );
    if let Ok(target) = &found {
        let (mut end, mut url_end) = (0, 0);
        for kept in &target.kept {
            assert!(
                end <= kept.reference.start && url_end <= kept.url,
                "{target:?}"
            );
            (end, url_end) = (kept.reference.end, kept.url + kept.reference.len());
            assert_eq!(
                reference[kept.reference.range()],
                target.url[kept.url..url_end]
            );
        }
        assert!(!base.is_relative(&target.url), "{}", target.url);
        // Under RFC 3986 `?y` and `#s` inherit the dot segments of the base.
        if resolver != Resolver::Rfc3986 && !is_read_differently(resolver, &target.url) {
            let again = base.resolve(&target.url).map(|again| again.url);
            assert_eq!(again.as_ref(), Ok(&target.url));
        }
    }
    let found = found.ok().map(|target| target.url);
    match resolver {
        Resolver::Rfc1808 => assert_eq!(found, section4::rfc1808(base_url, reference)),
        Resolver::Rfc3986 => assert_eq!(found, section4::rfc3986(base_url, reference)),
        _ => assert!(found.is_none_or(|url| parses(&url))),
    }
}
