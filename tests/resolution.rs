//! Every table of resolved references, in every profile that it speaks of; the laws; and the fast
//! code against slow transcriptions of the specifications.
//!
//! RFC 1808 section 5 is part of this repository. The larger tables are looked for in the folder
//! `shared/suites/resolution` beside it and skipped with a notice where it is missing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "referee/section4.rs"]
mod section4;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use baselink::resolve::{Base, Profile, Target, explain, parses, relativize, resolve, usable};
use proptest::prelude::*;
use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn fixture(name: &str) -> Value {
    let path = Path::new(ROOT).join("fixtures/resolution").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn shared(name: &str) -> Option<Value> {
    let path = Path::new(ROOT).join("../shared/suites/resolution").join(name);
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("notice: {name} is not beside this repository; its rows are not tested");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

/// `(base, reference, expected)` of a table.
type Row = (String, String, Option<String>);

fn rows(table: &Value) -> Vec<Row> {
    let text = |row: &Value, key: &str| row[key].as_str().map(str::to_owned);
    let row = |row| (text(row, "base").unwrap(), text(row, "ref").unwrap(), text(row, "expect"));
    table["cases"].as_array().unwrap().iter().map(row).collect()
}

/// Resolves every row, checks what is kept and what is explained, and gives the rows that differ.
fn differing(profile: Profile, rows: &[Row]) -> Vec<(String, String)> {
    let mut differing = Vec::new();
    for (base, reference, expected) in rows {
        let found = Base::new(profile, base).resolve(reference);
        if let Ok(target) = &found {
            assert_kept(reference, target);
        }
        let found = found.map(|target| target.url);
        assert_eq!(explain(profile, base, reference).result, found, "{base} + {reference}");
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
        assert!(reference_end <= kept.reference.start && url_end <= kept.url, "{target:?}");
        reference_end = kept.reference.end;
        url_end = kept.url + kept.reference.len();
        assert_eq!(reference[kept.reference.range()], target.url[kept.url..url_end]);
    }
}

#[test]
fn rfc1808_section_5() {
    let table = fixture("rfc1808-section5.json");
    let base = table["base"].as_str().unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 39);
    for row in rows {
        let (reference, url) = (row["reference"].as_str().unwrap(), row["url"].as_str().unwrap());
        let found = resolve(Profile::Rfc1808, base, reference);
        assert_eq!(found.as_deref(), Ok(url), "section {}, `{reference}`", row["section"]);
        assert_eq!(section4::rfc1808(base, reference).as_deref(), Some(url));
        assert_eq!(explain(Profile::Rfc1808, base, reference).result.as_deref(), Ok(url));
    }
}

#[test]
fn rows_of_fieldings_pages_for_rfc1808() {
    let Some(table) = shared("roytest-rfc1808.json") else { return };
    let rows = rows(&table);
    assert_eq!(rows.len(), 73);
    assert_eq!(differing(Profile::Rfc1808, &rows), []);
}

#[test]
fn rows_of_cpythons_rfc1808_tests() {
    // The rows on which Python changed its mind (`../../../g`, `/./g`, `;x`, an empty reference) are
    // in no version's table of RFC 1808.
    let different: [(&str, &[&str]); 3] = [
        ("cpython2.7-test_RFC1808.json", &[]),
        ("cpython3.6-test_RFC1808.json", &[]),
        ("cpython3.13-test_RFC1808.json", &[]),
    ];
    for (name, references) in different {
        let Some(table) = shared(name) else { return };
        let found = differing(Profile::Rfc1808, &rows(&table));
        let found: Vec<_> = found.iter().map(|(_, reference)| reference.as_str()).collect();
        assert_eq!(found, references, "{name}");
    }
}

#[test]
fn rows_of_the_w3c_turtle_tests() {
    let Some(table) = shared("w3c-rdf-turtle-iri.json") else { return };
    assert_eq!(differing(Profile::Rfc3986, &rows(&table)), []);
}

#[test]
fn edge_cases_in_three_profiles() {
    let Some(table) = shared("edge-3way.json") else { return };
    let table = table.as_array().unwrap();
    assert_eq!(table.len(), 226);
    let column = |key: &str| -> Vec<Row> {
        let text = |row: &Value, key: &str| row[key].as_str().map(str::to_owned);
        let row = |row| (text(row, "base").unwrap(), text(row, "ref").unwrap(), text(row, key));
        table.iter().map(row).collect()
    };
    assert_eq!(differing(Profile::Rfc1808, &column("rfc1808_recommended")), []);
    // The column is strict; A24 keeps `//g` from becoming a host.
    let guarded = [("x:/a/b/c", "/.//g"), ("x:/a/b/c", "../../..//g")];
    let guarded = guarded.map(|(base, reference)| (base.to_owned(), reference.to_owned()));
    assert_eq!(differing(Profile::Rfc3986, &column("rfc3986")), guarded);
    for (base, reference) in guarded {
        assert_eq!(resolve(Profile::Rfc3986, &base, &reference).as_deref(), Ok("x:/.//g"));
    }
    assert_eq!(differing(Profile::Whatwg, &column("whatwg")), []);

    // A splice says that the columns are one, but for the spelling of the base.
    let spelled =
        |url: Option<String>| url.map(|url| Base::new(Profile::Whatwg, &url).as_str().to_owned());
    let mut spliced = 0;
    for ((base, reference, rfc1808), (.., whatwg)) in
        column("rfc1808_recommended").into_iter().zip(column("whatwg"))
    {
        let prepared = Base::new(Profile::Rfc1808, &base);
        if let Some(splice) = prepared.splice(reference.as_bytes()) {
            let url = format!("{}{}", splice.prefix, &reference[splice.dropped..]);
            assert_eq!(Some(&url), rfc1808.as_ref(), "{base} {reference}");
            assert_eq!(spelled(rfc1808), whatwg, "{base} {reference}");
            spliced += 1;
        }
    }
    assert!(spliced >= 40, "only {spliced}");
}

#[test]
fn rows_of_the_web_platform_tests() {
    let Some(table) = shared("wpt-urltestdata-with-base.json") else { return };
    let found = differing(Profile::Whatwg, &rows(&table));
    for (base, reference) in &found {
        eprintln!("{base} {reference:?} {:?}", resolve(Profile::Whatwg, base, reference));
    }
    let known = fixture("whatwg-known-differences.json");
    let known: BTreeSet<_> = known["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            assert!(row["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
            (
                row["base"].as_str().unwrap().to_owned(),
                row["reference"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), known);
}

/// Bases and references over the characters that mean something.
fn nasty() -> impl Strategy<Value = String> {
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
    (start, nasty()).prop_map(|(start, rest)| format!("{start}{rest}"))
}

/// The tables of `docs/resolution.md` that show results.
#[test]
fn the_tables_of_the_page() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/resolution.md")).unwrap();
    let code = |cell: &str| cell.trim().trim_matches('`').replace("(empty)", "");
    let check = |profile, base: &str, reference: &str, expected: &str| match expected {
        "absolute" => assert!(!Base::new(profile, base).is_relative(reference), "{reference}"),
        _ => assert_eq!(resolve(profile, base, reference).as_deref(), Ok(expected), "{reference}"),
    };
    let mut rows = 0;
    for line in page.lines().filter(|line| line.contains("http://a/")) {
        let cells: Vec<String> = line.trim_matches('|').split('|').map(code).collect();
        let [first, second, rfc1808, others] = cells.as_slice() else { continue };
        if first.starts_with("http:") && first != "http:g" {
            check(Profile::Rfc1808, first, second, rfc1808);
            check(Profile::Rfc3986, first, second, others);
            check(Profile::Whatwg, first, second, others);
        } else {
            let base = "http://a/b/c/d;p?q#f";
            check(Profile::Rfc1808, base, first, second);
            check(Profile::Rfc3986, base, first, rfc1808);
            check(Profile::Whatwg, base, first, others);
        }
        rows += 1;
    }
    assert_eq!(rows, 13);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rfc1808_agrees_with_its_referee(base in nasty_base(), reference in nasty()) {
        let found = Base::new(Profile::Rfc1808, &base).resolve(&reference);
        if let Ok(target) = &found {
            assert_kept(&reference, target);
        }
        let found = found.map(|target| target.url);
        prop_assert_eq!(&explain(Profile::Rfc1808, &base, &reference).result, &found);
        prop_assert_eq!(found.ok(), section4::rfc1808(&base, &reference));
    }

    #[test]
    fn rfc3986_agrees_with_its_referee(base in nasty_base(), reference in nasty()) {
        let found = Base::new(Profile::Rfc3986, &base).resolve(&reference);
        if let Ok(target) = &found {
            assert_kept(&reference, target);
        }
        let found = found.map(|target| target.url);
        prop_assert_eq!(&explain(Profile::Rfc3986, &base, &reference).result, &found);
        prop_assert_eq!(found.ok(), section4::rfc3986(&base, &reference));
    }

    #[test]
    fn whatwg_keeps_what_it_says(base in nasty_base(), reference in nasty()) {
        let found = Base::new(Profile::Whatwg, &base).resolve(&reference);
        if let Ok(target) = &found {
            assert_kept(&reference, target);
            prop_assert!(parses(&target.url));
        }
        let found = found.map(|target| target.url);
        prop_assert_eq!(explain(Profile::Whatwg, &base, &reference).result, found);
    }

    /// Law: what is resolved is absolute, so that rewriting again finds nothing to do. It resolves
    /// to itself too, but for the dot segments that `?y` and `#s` inherit under RFC 3986.
    #[test]
    fn resolving_again_changes_nothing(base in nasty_base(), reference in nasty()) {
        for profile in Profile::ALL {
            let base = Base::new(profile, &base);
            if let Ok(target) = base.resolve(&reference) {
                prop_assert!(!base.is_relative(&target.url), "{}", profile);
                if profile != Profile::Rfc3986 {
                    let again = base.resolve(&target.url).map(|target| target.url);
                    prop_assert_eq!(again.as_ref(), Ok(&target.url), "{}", profile);
                }
            }
        }
    }

    /// Law: a relativized target resolves to the target.
    #[test]
    fn relativize_is_the_inverse(base in nasty_base(), reference in nasty(), other in nasty_base()) {
        for profile in Profile::ALL {
            for target in [resolve(profile, &base, &reference).unwrap_or_default(), other.clone()] {
                let relative = relativize(profile, &base, &target);
                if let Ok(wanted) = resolve(profile, &base, &target) {
                    let found = resolve(profile, &base, &relative);
                    prop_assert_eq!(found, Ok(wanted), "{} {}", profile, relative);
                }
            }
        }
    }

    #[test]
    fn nothing_panics(base in any::<String>(), reference in any::<String>()) {
        let _ = (usable(&base), parses(&base));
        let _ = (baselink::reference::conformance(&reference), baselink::reference::placeholder(&reference));
        let _ = (baselink::reference::contains_placeholder(&reference), baselink::reference::opaque_scheme(&reference));
        for profile in Profile::ALL {
            for base in [&base, "http://a/b/c", "x:a"] {
                let prepared = Base::new(profile, base);
                let _ = (prepared.is_relative(&reference), prepared.resolve(&reference));
                let _ = explain(profile, base, &reference).to_string();
                let _ = relativize(profile, base, &reference);
            }
        }
    }
}
