//! The tables of resolved references, in every resolver that they cover; laws of resolution; and comparisons of the
//! fast code with slow transcriptions of the specifications.
//!
//! `fixtures/resolution/README.md` names the sources of the tables. All URL tests of the web platform tests run if
//! they are present (`tests/common/outside.rs`).
//!
//! Deliberately absent: the base of a document (`tests/resolve/bases.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use baselink_url::{Base, Resolver, Target, explain, parses, relativize, resolve, usable};
use proptest::prelude::*;
use serde_json::Value;

use crate::{facts, outside};

#[path = "../referee/section4.rs"]
mod section4;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn fixture(name: &str) -> Value {
    let path = Path::new(ROOT).join("fixtures/resolution").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// `(base, reference, expected)` of a table.
type Row = (String, String, Option<String>);

fn rows(table: &Value) -> Vec<Row> {
    let text = |row: &Value, key: &str| row[key].as_str().map(str::to_owned);
    let row = |row| {
        (
            text(row, "base").unwrap(),
            text(row, "ref").unwrap(),
            text(row, "expect"),
        )
    };
    table["cases"].as_array().unwrap().iter().map(row).collect()
}

/// Resolves every row, checks the kept parts and the explanation, and returns the rows that differ.
fn differing(resolver: Resolver, rows: &[Row]) -> Vec<(String, String)> {
    let mut differing = Vec::new();
    for (base, reference, expected) in rows {
        let found = Base::new(resolver, base).resolve(reference);
        if let Ok(target) = &found {
            assert_kept(reference, target);
        }
        let found = found.map(|target| target.url);
        assert_eq!(
            explain(resolver, base, reference).result,
            found,
            "{base} + {reference}"
        );
        if found.ok() != *expected {
            differing.push((base.clone(), reference.clone()));
        }
    }
    differing
}

fn assert_kept(reference: &str, target: &Target) {
    let (mut reference_end, mut url_end) = (0, 0);
    for kept in &target.kept {
        assert!(!kept.reference.is_empty());
        assert!(
            reference_end <= kept.reference.start && url_end <= kept.url,
            "{target:?}"
        );
        reference_end = kept.reference.end;
        url_end = kept.url + kept.reference.len();
        assert_eq!(
            reference[kept.reference.range()],
            target.url[kept.url..url_end]
        );
    }
}

#[test]
fn the_examples_of_rfc1808_have_their_results() {
    let table = fixture("rfc1808-section5.json");
    let base = table["base"].as_str().unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 39);
    for row in rows {
        let (reference, url) = (
            row["reference"].as_str().unwrap(),
            row["url"].as_str().unwrap(),
        );
        let found = resolve(Resolver::Rfc1808, base, reference);
        assert_eq!(
            found.as_deref(),
            Ok(url),
            "section {}, `{reference}`",
            row["section"]
        );
        assert_eq!(section4::rfc1808(base, reference).as_deref(), Some(url));
        assert_eq!(
            explain(Resolver::Rfc1808, base, reference)
                .result
                .as_deref(),
            Ok(url)
        );
    }
}

/// The rows of `references.tsv` with a result for the resolver in `column`.
fn references(column: usize) -> Vec<Row> {
    let row = |row: Vec<String>| {
        let expected = match &*row[2 + column] {
            "?" => return None,
            "-" => None,
            url => Some(url.to_owned()),
        };
        Some((row[0].clone(), row[1].clone(), expected))
    };
    facts::rows("resolution/references.tsv")
        .into_iter()
        .filter_map(row)
        .collect()
}

#[test]
fn every_reference_of_the_table_leads_to_its_target() {
    for (column, resolver) in Resolver::ALL.into_iter().enumerate() {
        let rows = references(column);
        assert!(rows.len() > 300, "{} rows for {resolver}", rows.len());
        assert_eq!(differing(resolver, &rows), [], "{resolver}");
        for (base, reference, expected) in rows {
            let referee = match resolver {
                Resolver::Rfc1808 => section4::rfc1808(&base, &reference),
                Resolver::Rfc3986 => section4::rfc3986(&base, &reference),
                // The URL Standard has no referee here.
                _ => continue,
            };
            assert_eq!(
                referee, expected,
                "the referee of {resolver}: {base} + {reference}"
            );
        }
    }
}

/// If a splice exists, the resolvers agree, except for the spelling of the base.
#[test]
fn a_splice_is_the_target_in_every_resolver() {
    let spelled =
        |url: Option<String>| url.map(|url| Base::new(Resolver::Whatwg, &url).as_str().to_owned());
    let browsers: BTreeMap<_, _> = references(2)
        .into_iter()
        .map(|(base, reference, url)| ((base, reference), url))
        .collect();
    let mut spliced = 0;
    for (base, reference, rfc1808) in references(0) {
        let prepared = Base::new(Resolver::Rfc1808, &base);
        if let Some(splice) = prepared.splice(reference.as_bytes()) {
            let url = format!("{}{}", splice.prefix, &reference[splice.dropped..]);
            assert_eq!(Some(&url), rfc1808.as_ref(), "{base} {reference}");
            if let Some(whatwg) = browsers.get(&(base.clone(), reference.clone())) {
                assert_eq!(&spelled(rfc1808), whatwg, "{base} {reference}");
                spliced += 1;
            }
        }
    }
    assert!(spliced >= 40, "only {spliced}");
}

/// The rows on which the resolver `whatwg` is known to differ from the URL Standard.
fn known_differences() -> BTreeSet<(String, String)> {
    let table = fixture("whatwg-known-differences.json");
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let row = |row: &Value| {
        assert!(!text(row, "reason").is_empty());
        let (base, reference) = (text(row, "base"), text(row, "reference"));
        let found = resolve(Resolver::Whatwg, &base, &reference);
        assert_ne!(
            found,
            Ok(text(row, "expected")),
            "{base} {reference} no longer differs"
        );
        (base, reference)
    };
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn web_platform_tests_fail_only_in_known_rows() {
    let known = known_differences();
    let Some(folder) = outside::RESOLUTION.find() else {
        return;
    };
    let text = fs::read_to_string(folder.join("wpt-urltestdata-with-base.json")).unwrap();
    let found = differing(
        Resolver::Whatwg,
        &rows(&serde_json::from_str(&text).unwrap()),
    );
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), known);
}

/// References made of the characters that matter to resolution.
fn nasty_reference() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/", "/", "/", ".", ".", "..", "../", "./", ";", "?", "#", ":", "a", "b", "%", "%2e", "é",
        "//",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn nasty_base() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec![
        "",
        "x:",
        "x:/",
        "x://",
        "x:///",
        "http://a",
        "http://a/",
        "http://a/b/c/",
        "file:///",
        "x:a/",
        "1:/",
        "mailto:",
        "http:",
        "X:/a",
    ]);
    (start, nasty_reference()).prop_map(|(start, rest)| format!("{start}{rest}"))
}

/// Checks the tables of `docs/resolution.md` that show results.
#[test]
fn documented_results_are_right() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/resolution.md")).unwrap();
    let code = |cell: &str| cell.trim().trim_matches('`').replace("(empty)", "");
    let check = |resolver, base: &str, reference: &str, expected: &str| match expected {
        "absolute" => assert!(
            !Base::new(resolver, base).is_relative(reference),
            "{reference}"
        ),
        _ => assert_eq!(
            resolve(resolver, base, reference).as_deref(),
            Ok(expected),
            "{reference}"
        ),
    };
    let mut rows = 0;
    for line in page.lines().filter(|line| line.contains("http://a/")) {
        let cells: Vec<String> = line.trim_matches('|').split('|').map(code).collect();
        let [first, second, rfc1808, others] = cells.as_slice() else {
            continue;
        };
        if first.starts_with("http:") && first != "http:g" {
            check(Resolver::Rfc1808, first, second, rfc1808);
            check(Resolver::Rfc3986, first, second, others);
            check(Resolver::Whatwg, first, second, others);
        } else {
            let base = "http://a/b/c/d;p?q#f";
            check(Resolver::Rfc1808, base, first, second);
            check(Resolver::Rfc3986, base, first, rfc1808);
            check(Resolver::Whatwg, base, first, others);
        }
        rows += 1;
    }
    assert_eq!(rows, 13);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rfc1808_agrees_with_its_referee(base in nasty_base(), reference in nasty_reference()) {
        let found = Base::new(Resolver::Rfc1808, &base).resolve(&reference);
        if let Ok(target) = &found {
            assert_kept(&reference, target);
        }
        let found = found.map(|target| target.url);
        prop_assert_eq!(&explain(Resolver::Rfc1808, &base, &reference).result, &found);
        prop_assert_eq!(found.ok(), section4::rfc1808(&base, &reference));
    }

    #[test]
    fn rfc3986_agrees_with_its_referee(base in nasty_base(), reference in nasty_reference()) {
        let found = Base::new(Resolver::Rfc3986, &base).resolve(&reference);
        if let Ok(target) = &found {
            assert_kept(&reference, target);
        }
        let found = found.map(|target| target.url);
        prop_assert_eq!(&explain(Resolver::Rfc3986, &base, &reference).result, &found);
        prop_assert_eq!(found.ok(), section4::rfc3986(&base, &reference));
    }

    #[test]
    fn whatwg_targets_parse_and_keep_the_reference(base in nasty_base(), reference in nasty_reference()) {
        let found = Base::new(Resolver::Whatwg, &base).resolve(&reference);
        if let Ok(target) = &found {
            assert_kept(&reference, target);
            prop_assert!(parses(&target.url));
        }
        let found = found.map(|target| target.url);
        prop_assert_eq!(explain(Resolver::Whatwg, &base, &reference).result, found);
    }

    /// Law: the result is absolute, so rewriting again has no effect. It also resolves to itself, except for the
    /// dot segments that `?y` and `#s` inherit under RFC 3986.
    #[test]
    fn resolving_again_changes_nothing(base in nasty_base(), reference in nasty_reference()) {
        for resolver in Resolver::ALL {
            let base = Base::new(resolver, &base);
            if let Ok(target) = base.resolve(&reference) {
                prop_assert!(!base.is_relative(&target.url), "{}", resolver);
                if resolver != Resolver::Rfc3986 {
                    let again = base.resolve(&target.url).map(|target| target.url);
                    prop_assert_eq!(again.as_ref(), Ok(&target.url), "{}", resolver);
                }
            }
        }
    }

    /// Law: a relativized target resolves to the target.
    #[test]
    fn relativize_is_the_inverse(base in nasty_base(), reference in nasty_reference(), other in nasty_base()) {
        for resolver in Resolver::ALL {
            for target in [resolve(resolver, &base, &reference).unwrap_or_default(), other.clone()] {
                let relative = relativize(resolver, &base, &target);
                if let Ok(expected_url) = resolve(resolver, &base, &target) {
                    let found = resolve(resolver, &base, &relative);
                    prop_assert_eq!(found, Ok(expected_url), "{} {}", resolver, relative);
                }
            }
        }
    }

    #[test]
    fn no_reference_causes_a_panic(base in any::<String>(), reference in any::<String>()) {
        let _ = (usable(&base), parses(&base));
        let _ = (baselink_url::reference::conformance(&reference), baselink_url::reference::placeholder(&reference));
        let _ = (baselink_url::reference::contains_placeholder(&reference), baselink_url::reference::opaque_scheme(&reference));
        for resolver in Resolver::ALL {
            for base in [&base, "http://a/b/c", "x:a"] {
                let prepared = Base::new(resolver, base);
                let _ = (prepared.is_relative(&reference), prepared.resolve(&reference));
                let _ = explain(resolver, base, &reference).to_string();
                let _ = relativize(resolver, base, &reference);
            }
        }
    }
}
