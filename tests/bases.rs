//! The 77 documents of the suite of base cases: which base each has, and why the others do not count.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::path::Path;

use baselink::base::{Level, Rule, Status};
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

/// What must be said of each `<base`, the effective one first, then as written (HTML, 4.2.3): the ids
/// of the cases, and what `said` makes of the reasons.
const SAID: &[(&str, &[&str])] = &[
    ("none endtag-attr nul-tag lt-tag", &[]),
    (
        "simple body after-html trim inner-nl relative-dir relative-abs-path relative-net relative-query relative-frag \
         relative-file mailto about dup-attr case slash-attr unquoted-slash charref charref-legacy charref-legacy2 \
         cond-revealed comment-abrupt comment-bang svg-title svg-breakout math-mi math-annotation table-simple \
         head-base-frameset object backslash creds port imagealias",
        &["taken"],
    ),
    (
        "multi href-empty href-novalue href-ws not-self svg-fo table-foster select",
        &["taken", "comes before"],
    ),
    ("target-first", &["taken", "no href"]),
    ("data javascript invalid", &["invalid", "comes before"]),
    ("js-tab", &["invalid"]),
    ("eof-in-tag eof-in-value", &["document ends"]),
    ("comment", &["in a comment"]),
    ("cond-hidden", &["conditional comment"]),
    ("cdata-html", &["taken", "in a comment"]),
    ("cdata-svg", &["taken", "CDATA"]),
    ("script script-double-escape style title textarea xmp iframe", &["taken", "holds no markup"]),
    ("plaintext", &["holds no markup"]),
    ("noembed noframes noscript-head noscript-body", &["taken", "for browsers without"]),
    ("template template-shadow", &["taken", "template"]),
    ("svg math", &["taken", "not an HTML one"]),
    ("math-annotation-no", &["not an HTML one"]),
    ("frameset", &["makes no element"]),
    ("nested-quirk", &["inside another tag"]),
    ("nul", &["no href"]),
];

/// Whether the levels of 3.1 say what [`SAID`] wants, one for one.
fn is_said(id: &str, levels: &[Level]) -> bool {
    let wanted = SAID.iter().find(|(ids, _)| ids.split_ascii_whitespace().any(|one| one == id));
    let (_, wanted) = wanted.unwrap_or_else(|| panic!("nothing is wanted for {id}"));
    let found: Vec<_> = levels
        .iter()
        .filter(|level| level.rule == Rule::Embedded && level.status != Status::Absent)
        .collect();
    found.len() == wanted.len()
        && found.iter().zip(*wanted).all(|(level, wanted)| match *wanted {
            "taken" => level.status == Status::Taken,
            "invalid" => level.status == Status::Invalid,
            reason => level.status == Status::PassedOver && level.reason.contains(reason),
        })
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
            let options = Options { profile, ..Options::at(FALLBACK) };
            let report = examine(text("html").as_bytes(), &options);
            let chain = &report.entities[0].chain;
            if chain.base.as_deref() != Some(expected) || !is_said(text("id"), &chain.levels) {
                wrong.push(format!(
                    "{} under {profile}: {:?} instead of {expected:?}\n  {:?}",
                    text("id"),
                    chain.base,
                    chain.levels
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
