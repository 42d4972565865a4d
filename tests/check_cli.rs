//! What `baselink check` writes for other programs and for browsers: a SARIF log, and the page of `--report`.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use baselink::{Options, examine};
use serde_json::Value;
use tempfile::TempDir;

/// A folder `site` with these files.
fn site(files: &[(&str, &[u8])]) -> TempDir {
    let scene = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = scene.path().join("site").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    scene
}

/// What `baselink check` prints for the folder, and its status.
fn check(scene: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_baselink"))
        .current_dir(scene)
        .args(["check", "-q", "--url", "http://a.example/docs/"])
        .args(arguments)
        .arg("site")
        .output()
        .unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// SARIF 2.1.0, 3.13 (log), 3.14 (run), 3.19 (driver), 3.27 (result), 3.30 (region), 3.55 (fix).
#[test]
fn the_log_has_what_sarif_requires_and_its_fixes_can_be_made() {
    let page = "<p id=Intro>\n\u{fc}\u{1f600} <a href=\"http://a.example/docs/a%20b.html?x&amp;y#z\">1</a>\n\
                <a href=../../up.html>2</a><a href=gone.html>3</a>";
    let scene = site(&[("sub dir/index.html", page.as_bytes()), ("a b.html", b"<p id=z>")]);
    let (log, status) = check(scene.path(), &["--sarif"]);
    assert_eq!(status, Some(1));
    let log: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let [run] = log["runs"].as_array().unwrap().as_slice() else { panic!("one run") };
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "baselink");
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    let rules = driver["rules"].as_array().unwrap();
    let ids: HashSet<_> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len());
    assert!(rules.iter().all(|rule| rule["help"]["text"].is_string()));
    let results = run["results"].as_array().unwrap();
    // U+00FC is one unit of UTF-16 and two bytes, U+1F600 two units and four bytes.
    let expected = [
        ("pinned/absolute", 2, 14, "http://a.example/docs/a%20b.html?x&amp;y#z"),
        ("escapes/climbs-out", 3, 9, "../../up.html"),
        ("dangling/absent", 3, 36, "gone.html"),
    ];
    assert_eq!(results.len(), expected.len());
    for (result, (rule, line, column, reference)) in results.iter().zip(expected) {
        assert_eq!(result["ruleId"], rule);
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], rule);
        assert_eq!(result["level"], "error");
        assert!(result["message"]["text"].is_string());
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "site/sub%20dir/index.html");
        let region = &place["region"];
        let number = |key: &str| region[key].as_u64().unwrap() as usize;
        assert_eq!([number("startLine"), number("startColumn")], [line, column], "{rule}");
        assert_eq!([number("endLine"), number("endColumn")], [line, column + reference.len()]);
        let (start, len) = (number("byteOffset"), number("byteLength"));
        assert_eq!(&page[start..start + len], reference);
    }
    assert!(results[1].get("fixes").is_none() && results[2].get("fixes").is_none());
    let change = &results[0]["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "site/sub%20dir/index.html");
    let mut fixed = page.as_bytes().to_vec();
    for replacement in change["replacements"].as_array().unwrap().iter().rev() {
        let region = &replacement["deletedRegion"];
        let start = region["byteOffset"].as_u64().unwrap() as usize;
        let end = start + region["byteLength"].as_u64().unwrap() as usize;
        let new = replacement["insertedContent"]["text"].as_str().unwrap();
        fixed.splice(start..end, new.bytes());
    }
    let fixed = String::from_utf8(fixed).unwrap();
    assert!(fixed.contains("<a href=\"../a%20b.html?x&amp;y#z\">1</a>"), "{fixed}");
}

#[test]
fn a_clean_folder_gives_a_log_without_results() {
    let scene = site(&[("index.html", b"<a href=#top>")]);
    let (log, status) = check(scene.path(), &["--sarif"]);
    assert_eq!(status, Some(0));
    let log: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(0));
}

/// From disk no file stands for its folder, and the scheme changes.
#[test]
fn a_folder_may_go_to_disk() {
    let page = b"<a href=sub/>1</a><a href=sub/index.html>2</a><a href=//b.example/x>3</a>";
    let scene = site(&[("index.html", page), ("sub/index.html", b"")]);
    let (found, status) = check(scene.path(), &["--json", "--to", "file"]);
    assert_eq!(status, Some(1));
    let found: Vec<Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = found.iter().map(|one| (&one["class"], &one["cause"])).collect();
    assert_eq!(told[0], (&"dangling".into(), &"no-index".into()));
    assert_eq!(told[1], (&"travels".into(), &Value::Null));
    assert_eq!(told[2], (&"escapes".into(), &"net-path".into()));
    let moved = found[1]["moved"].as_str().unwrap();
    let root = fs::canonicalize(scene.path()).unwrap();
    assert!(moved.starts_with("file:///") && moved.ends_with("/site/sub/index.html"), "{moved}");
    assert!(moved.contains(&*root.file_name().unwrap().to_string_lossy()), "{moved}");
}

/// The page that is written for `scene`.
fn page(scene: &Path, arguments: &[&str]) -> String {
    check(scene, &[&["--report", "page.html"], arguments].concat());
    fs::read_to_string(scene.join("page.html")).unwrap()
}

#[test]
fn the_page_has_every_finding_loads_nothing_and_escapes_everything() {
    let evil = "<script>alert('1')&amp;\".html";
    let links = "<a href=\"&lt;/td>&lt;img src=x onerror=alert(1)>\">1</a>\
                 <a href=http://a.example/docs/index.html>2</a><a href=../up.html>3</a><a href=#no>4</a>";
    let scene =
        site(&[(evil, links.as_bytes()), ("index.html", b""), ("sub/x.html", b"<a href=no>")]);
    let page = page(scene.path(), &[]);
    // It is a document without a link to anything but itself.
    let report = examine(page.as_bytes(), &Options::at("http://page.example/"));
    assert!(report.links.len() >= 4);
    let ids: HashSet<&str> =
        page.split(" id=").skip(1).map(|rest| rest.split([' ', '>']).next().unwrap()).collect();
    for link in &report.links {
        let id = link.reference.strip_prefix('#');
        assert!(id.is_some_and(|id| ids.contains(id)), "{link:?}");
        assert_eq!(link.element, "a");
    }
    assert!(page.contains("default-src 'none'"));
    for never in ["<script>alert", "<img", "onerror=alert(1)>", "@import", "url("] {
        assert!(!page.contains(never), "{never}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)&amp;amp;&quot;.html:1:10</td>"));
    for reference in [
        "&lt;/td&gt;&lt;img src=x onerror=alert(1)&gt;",
        "http://a.example/docs/index.html",
        "../up.html",
        "#no",
        "no",
    ] {
        assert!(page.contains(&format!("<td class=c>{reference}</td>")), "{reference}");
    }
    let rows = page.split("<h2>Findings</h2>").nth(1).unwrap().matches("<tr").count();
    // A head and five findings.
    assert_eq!(rows, 6);
    assert!(page.contains("relative form: index.html"));
    // The worst document comes first.
    let worst = page.split("<h2>The worst documents</h2>").nth(1).unwrap();
    assert!(worst.find("alert(") < worst.find("sub/x.html"));
}

#[test]
fn the_page_is_the_same_each_time_and_says_when_nothing_breaks() {
    let scene = site(&[("index.html", b"<a href=x.html>"), ("x.html", b"")]);
    let first = page(scene.path(), &[]);
    assert_eq!(first, page(scene.path(), &["-j1"]));
    assert!(first.contains("<p>None: no link would break.</p>"));
}

#[test]
fn a_page_of_a_large_folder_is_bounded_and_says_so() {
    let mut broken = String::new();
    for number in 0..12 {
        write!(broken, "<a href=gone{number}>x</a>").unwrap();
    }
    let names: Vec<_> = (0..600).map(|number| format!("d{}/p{number}.html", number % 7)).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), broken.as_bytes())).collect();
    let scene = site(&files);
    let page = page(scene.path(), &["--list", "none"]);
    let findings = page.split("<h2>Findings</h2>").nth(1).unwrap();
    // Of 7,200 findings 5,000 have a row, and the table has a head.
    assert_eq!(findings.matches("<tr").count(), 5_001);
    assert!(findings.contains("2200 findings are left out"));
    assert!(page.contains("100 documents with fewer broken links left out"));
}
