//! Both scanners find the links that each row of `fixtures/facts/html-links.tsv` marks. The laws hold on every row,
//! and on every input of the html5lib suites if these are present (`tests/common/outside.rs`).
//!
//! Deliberately absent: tokens and trees, which html5ever tests itself.

use baselink_rewrite::{Options, rewrite};
use baselink_scan::Scanner;
use baselink_scan::attributes::Groups;
use baselink_scan::{ScanOptions, scan};
use baselink_url::Resolver;
use baselink_verify::verify;

use crate::{facts, outside};

/// Checks that nothing changes without a base, and that with a base the result is verified and final.
fn check(input: &[u8]) {
    let shown = String::from_utf8_lossy(input);
    let mut options = Options::default();
    options.scan.groups = Groups::all();
    let untouched = rewrite(input, &options);
    // html5ever misreads `annotation-xml` (`crates/scan/src/html/exact.rs`).
    let is_misread = shown.to_ascii_lowercase().contains("<annotation-xml");
    assert!(
        is_misread || !untouched.report.entities[0].without_tree,
        "not verified: {shown:?}"
    );
    if untouched.report.entities[0].chain.base.is_none() {
        assert_eq!(
            untouched.output(),
            input,
            "changed without a base: {shown:?}"
        );
    }
    for resolver in Resolver::ALL {
        let mut options = Options {
            resolver,
            ..Options::at("http://a/b&c/\"d'?q<e#f")
        };
        options.scan.groups = Groups::all();
        let rewritten = rewrite(input, &options);
        assert_eq!(verify(&rewritten), Ok(()), "{resolver}: {shown:?}");
        let output = rewritten.output();
        let again = rewrite(&output, &options);
        assert!(
            again.edits.is_empty(),
            "{resolver}: twice: {shown:?} {:?}",
            again.edits
        );
    }
}

/// Checks the input alone, and in contexts that have rules of their own.
fn check_everywhere(input: &str) {
    check(input.as_bytes());
    check(format!("<a href=x>{input}<a href=y>").as_bytes());
    check(format!("<noscript>{input}</noscript><a href=y>").as_bytes());
    check(format!("<!--[if IE]>{input}<![endif]--><a href=y>").as_bytes());
    check(format!("<iframe srcdoc='{input}'></iframe><a href=y>").as_bytes());
    check(format!("<svg>{input}<a href=y>").as_bytes());
}

#[test]
fn the_links_of_every_row_are_found() {
    let rows = facts::rows("facts/html-links.tsv");
    assert!(rows.len() > 200, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let [marked] = row.as_slice() else {
            panic!("{row:?} is not one field")
        };
        let (document, expected) = facts::marked(marked);
        for scanner in [Scanner::default(), Scanner::Exact] {
            let options = ScanOptions {
                scanner,
                ..ScanOptions::default()
            };
            let links = scan(document.as_bytes(), &options).links;
            let found: Vec<_> = links.iter().map(|link| link.span()).collect();
            if found != expected {
                wrong.push(format!("{marked:?} {scanner:?}: {found:?}"));
            }
        }
        check_everywhere(&document);
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_laws_hold_on_tokenizer_tests() {
    let mut inputs = 0;
    for path in outside::TOKENIZER.files(Some("test")) {
        let suite: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for test in suite["tests"].as_array().into_iter().flatten() {
            let input = test["input"].as_str().unwrap();
            inputs += 1;
            if path.ends_with("namedEntities.test") && inputs % 40 != 0 {
                check(format!("<a href=\"{input}\">").as_bytes());
            } else {
                check_everywhere(input);
                check(format!("<a href=\"{input}\"><a href='{input}'>").as_bytes());
            }
        }
    }
    assert!(inputs == 0 || inputs > 5_000, "{inputs}");
}

#[test]
fn the_laws_hold_on_tree_construction_tests() {
    let mut inputs = 0;
    for path in outside::TREES.files(Some("dat")) {
        let suite = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for test in format!("\n{suite}").split("\n#data\n").skip(1) {
            let input = test.split("\n#errors").next().unwrap();
            inputs += 1;
            check_everywhere(input);
        }
    }
    assert!(inputs == 0 || inputs > 1_000, "{inputs}");
}
