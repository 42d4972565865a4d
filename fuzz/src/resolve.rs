//! References: section 4 of RFC 1808 and section 5.2 of RFC 3986 against slow transcriptions of them, the
//! explanation, and the inverse.
//!
//! ```text
//! base LF reference LF target
//! ```
//!
//! Deliberately absent: a referee of the URL Standard, of which the web platform tests speak (`tests/resolve/references.rs`).

use baselink::resolve::{Base, Profile, explain, parses, relativize};

#[path = "../../tests/referee/section4.rs"]
mod section4;

/// Holds a base, a reference and a target, a line each, to the laws of resolution. Further lines are passed over.
pub fn resolve(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n').chain([""; 3]);
    let [base, reference, target] = [(); 3].map(|()| lines.next().unwrap());
    for profile in Profile::ALL {
        one(profile, base, reference);
        let found = baselink::resolve(profile, base, reference).unwrap_or_default();
        for target in [target, &found] {
            let relative = relativize(profile, base, target);
            if let Ok(wanted) = baselink::resolve(profile, base, target)
                && !is_read_otherwise(profile, &wanted)
            {
                let found = baselink::resolve(profile, base, &relative);
                assert_eq!(found, Ok(wanted), "{profile}: {relative}");
            }
        }
    }
}

/// The url crate reads some file URLs otherwise than the URL Standard, which
/// `fixtures/resolution/whatwg-known-differences.json` lists, and then its own output otherwise again.
fn is_read_otherwise(profile: Profile, url: &str) -> bool {
    profile == Profile::Whatwg && url.starts_with("file:")
}

fn one(profile: Profile, base_url: &str, reference: &str) {
    let base = Base::new(profile, base_url);
    let found = base.resolve(reference);
    assert_eq!(
        explain(profile, base_url, reference).result,
        found.clone().map(|target| target.url)
    );
    if let Ok(target) = &found {
        let (mut end, mut url_end) = (0, 0);
        for kept in &target.kept {
            assert!(end <= kept.reference.start && url_end <= kept.url, "{target:?}");
            (end, url_end) = (kept.reference.end, kept.url + kept.reference.len());
            assert_eq!(reference[kept.reference.range()], target.url[kept.url..url_end]);
        }
        assert!(!base.is_relative(&target.url), "{}", target.url);
        // Under RFC 3986 `?y` and `#s` inherit the dot segments of the base.
        if profile != Profile::Rfc3986 && !is_read_otherwise(profile, &target.url) {
            let again = base.resolve(&target.url).map(|again| again.url);
            assert_eq!(again.as_ref(), Ok(&target.url));
        }
    }
    let found = found.ok().map(|target| target.url);
    match profile {
        Profile::Rfc1808 => assert_eq!(found, section4::rfc1808(base_url, reference)),
        Profile::Rfc3986 => assert_eq!(found, section4::rfc3986(base_url, reference)),
        _ => assert!(found.is_none_or(|url| parses(&url))),
    }
}
