//! References: section 4 of RFC 1808 and section 5.2 of RFC 3986 against slow transcriptions of them, the
//! explanation, and the inverse.
//!
//! ```text
//! base LF reference LF target
//! ```
//!
//! Deliberately absent: a referee of the URL Standard, of which the web platform tests speak (`tests/resolve/references.rs`).

use baselink::report::LinkReport;
use baselink::resolve::{Base, Profile, explain, parses, relativize};
use baselink::{Options, rewrite};

#[path = "../../tests/referee/section4.rs"]
mod section4;

/// Holds a base, a reference and a target, a line each, to the laws of resolution. Further lines are passed over.
pub fn resolve(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n').chain([""; 3]);
    let [base, reference, target] = [(); 3].map(|()| lines.next().unwrap());
    for profile in Profile::ALL {
        one(profile, base, reference);
        in_a_page(profile, base, reference);
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

/// A link is the same as it is written and with a character reference for its first character, which makes it a string of
/// its own. Its target is that of the rules, step by step, though mostly a prefix of the base is put before it.
fn in_a_page(profile: Profile, base: &str, reference: &str) {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"&\"'<>`=".contains(&byte);
    let Some(first) = reference.bytes().next().filter(|_| reference.bytes().all(is_plain)) else {
        return;
    };
    let options = Options { profile, ..Options::at(base) };
    let read = |page: &str| {
        let rewritten = rewrite(page.as_bytes(), &options);
        let output = String::from_utf8(rewritten.output()).unwrap();
        let [link] = &rewritten.report.links[..] else { panic!("{page}") };
        (link.clone(), output)
    };
    let told = |link: &LinkReport| {
        (link.reference.clone(), link.target.clone(), link.outcome, link.differs)
    };
    let (rest, mut all) = (&reference[1..], Vec::new());
    for quote in ["", "\"", "'"] {
        // Without quotation marks a `/` before the `>` is of the value, too.
        let written = read(&format!("<a href={quote}{reference}{quote}>"));
        let spelled = read(&format!("<a href={quote}&#{first};{rest}{quote}>"));
        assert_eq!(told(&written.0), told(&spelled.0), "{profile} {base:?} {reference:?}");
        // Blanks and control characters of a base are dropped by readers, or cannot be written.
        let is_visible = |target: &&String| target.bytes().all(|byte| byte > b' ');
        if let Some(target) = written.0.target.as_ref().filter(is_visible)
            && written.1 != format!("<a href={quote}{reference}{quote}>")
        {
            assert_eq!(&read(&written.1).0.reference, target, "{profile} {base:?} {}", written.1);
        }
        all.push(told(&written.0));
    }
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    let (_, target, _, differs) = &all[0];
    let by_rules = Profile::ALL.map(|one| explain(one, base, reference).result.ok());
    if let (Some(target), [Some(kept), Some(one), Some(other)]) = (target, &by_rules) {
        assert!(by_rules.iter().flatten().any(|result| result == target), "{base:?} {reference:?}");
        // RFC 1808, 4, step 6, keeps what leads above the root. In a base, the URL Standard has removed it before.
        let climbs = reference.starts_with("../") && !reference.contains(';');
        let is_written = base.starts_with("http") && !base.contains("..");
        let is_kept = |url: &str| climbs && is_written && url.contains("/../");
        assert!(
            *differs || !is_kept(kept) || is_kept(one) || is_kept(other),
            "{base:?} {reference:?}"
        );
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
