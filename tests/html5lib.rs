//! Every input of the html5lib suites as a document: the laws hold on it, whatever it is.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};

use baselink::resolve::Profile;
use baselink::scan::attributes::Groups;
use baselink::{Options, rewrite, verify};

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/suites/html5lib-tests");
    let mut folders = vec![root.join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        eprintln!("notice: the html5lib {folder} tests are not here, so they were not run");
    }
    files
}

/// No base: identity. With one: verified, and rewriting twice changes nothing more.
fn check(input: &[u8]) {
    let shown = String::from_utf8_lossy(input);
    let mut options = Options::default();
    options.scan.groups = Groups::all();
    let untouched = rewrite(input, &options);
    assert!(!untouched.report.entities[0].without_tree, "not verified: {shown:?}");
    if untouched.report.entities[0].chain.base.is_none() {
        assert_eq!(untouched.output(), input, "changed without a base: {shown:?}");
    }
    for profile in Profile::ALL {
        let mut options = Options { profile, ..Options::at("http://a/b&c/\"d'?q<e#f") };
        options.scan.groups = Groups::all();
        let rewritten = rewrite(input, &options);
        assert_eq!(verify::verify(&rewritten, &options), Ok(()), "{profile}: {shown:?}");
        let output = rewritten.output();
        let again = rewrite(&output, &options);
        assert!(again.edits.is_empty(), "{profile}: twice: {shown:?} {:?}", again.edits);
    }
}

/// The inputs also as they would stand in places that are scanned on their own.
fn check_everywhere(input: &str) {
    check(input.as_bytes());
    check(format!("<a href=x>{input}<a href=y>").as_bytes());
    check(format!("<noscript>{input}</noscript><a href=y>").as_bytes());
    check(format!("<!--[if IE]>{input}<![endif]--><a href=y>").as_bytes());
    check(format!("<iframe srcdoc='{input}'></iframe><a href=y>").as_bytes());
    check(format!("<svg>{input}<a href=y>").as_bytes());
}

#[test]
fn tokenizer_inputs() {
    let mut inputs = 0;
    for path in files("tokenizer", "test") {
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
fn tree_construction_inputs() {
    let mut inputs = 0;
    for path in files("tree-construction", "dat") {
        let suite = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for test in format!("\n{suite}").split("\n#data\n").skip(1) {
            let input = test.split("\n#errors").next().unwrap();
            inputs += 1;
            check_everywhere(input);
        }
    }
    assert!(inputs == 0 || inputs > 1_000, "{inputs}");
}
