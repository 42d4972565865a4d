//! The 77 documents of `fixtures/bases/cases.json`: which base each has, and why the others do not count.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;

use baselink::base::Status;
use baselink::resolve::Profile;
use baselink::{Options, examine};

const FALLBACK: &str = "http://doc.example/dir/page.html?q";

fn cases() -> Option<serde_json::Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/suites/base-cases/cases.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("notice: the suite of base cases is not here, so it was not run");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

fn base(profile: Profile, html: &str) -> (Option<String>, Vec<(Status, String)>) {
    let options = Options { profile, ..Options::at(FALLBACK) };
    let report = examine(html.as_bytes(), &options);
    let chain = &report.entities[0].chain;
    let levels = chain.levels.iter().map(|level| (level.status, level.reason.clone())).collect();
    (chain.base.clone(), levels)
}

/// Cases whose recorded value is not normalised under the RFC profiles, derived by hand.
fn unnormalised(id: &str) -> Option<&'static str> {
    Some(match id {
        // The newline stays in the value (RFC 1808 knows no stripping).
        "inner-nl" => "http://x.exa\nmple/a/",
        // Backslashes are ordinary characters of a relative path: it replaces `page.html`.
        "backslash" => "http://doc.example/dir/\\\\x.example\\a\\",
        "port" => "HTTP://X.example:80/A/../b/",
        "charref-legacy2" => "http://x.example/?a\u{a9}",
        _ => return None,
    })
}

#[test]
fn every_case_has_its_base_in_every_profile() {
    let Some(cases) = cases() else { return };
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 77);
    let mut wrong = Vec::new();
    for case in cases {
        let text = |key: &str| case[key].as_str().unwrap();
        for profile in Profile::ALL {
            let expected = match unnormalised(text("id")) {
                Some(value) if profile != Profile::Whatwg => value,
                _ => text("base"),
            };
            let (base, levels) = base(profile, text("html"));
            if base.as_deref() != Some(expected) {
                wrong.push(format!(
                    "{} under {profile}: {base:?} instead of {expected:?}\n  {levels:?}",
                    text("id")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
