//! What `localize` makes, opened from disk in Chromium: all that is present shows, and nothing asks the
//! network for it. The page of `check --report`, with scripts and without.
//!
//! `tests/browser/crawl` is a tree as a crawler writes it. A real one is that of Debian's `python3.11-doc`, or
//! of the folder that `BASELINK_PYTHON_DOC` names. `tests/outside/mod.rs` finds Chromium.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

#[path = "browser/devtools.rs"]
#[allow(dead_code, reason = "this test does not need all of it")]
mod devtools;
mod outside;

use devtools::{Browser, file_of, file_url};

/// Runs the program, which is to end with one of these statuses.
fn baselink(folder: &Path, arguments: &[&str], statuses: &[i32]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    let output = command.current_dir(folder).env_clear().args(arguments).output().unwrap();
    let status = output.status.code().unwrap_or(-1);
    assert!(statuses.contains(&status), "{arguments:?}: {output:?}");
}

/// Every file below `folder`, by its path from there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found
                    .insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(path).unwrap());
            }
        }
    }
    found
}

/// The pictures of a page that do not show, and all its links.
const LOOK: &str = "(() => {
    const pictures = [...document.images].filter(one => one.getAttribute('src') !== null);
    const links = [...document.querySelectorAll('a[href], area[href]')];
    return {
        hidden: pictures.filter(one => one.naturalWidth === 0).map(one => one.currentSrc || one.src),
        links: links.map(one => new URL(one.getAttribute('href'), document.baseURI).href),
    };
})()";

/// Opens the file `path`; what is wrong with the page, how much it asked for, and how many of its links lead to
/// files. The network may be asked for what `is_absent`.
fn faults(
    browser: &mut Browser,
    path: &Path,
    is_absent: impl Fn(&str) -> bool,
) -> (Vec<String>, usize, usize) {
    let mut wrong = Vec::new();
    let seen = browser.open(&file_url(path));
    for (url, failure) in &seen.requests {
        if !url.starts_with("file:") && is_absent(url) {
            continue;
        } else if !url.starts_with("file:") {
            wrong.push(format!("{}: asks the network for {url}", path.display()));
        } else if let Some(failure) = failure {
            wrong.push(format!("{}: {url} fails: {failure}", path.display()));
        }
    }
    let page = browser.value(LOOK);
    let pictures = page["hidden"].as_array().unwrap().iter().map(|one| one.as_str().unwrap());
    for picture in pictures.filter(|one| one.starts_with("file:") || !is_absent(one)) {
        wrong.push(format!("{}: {picture} does not show", path.display()));
    }
    let links = page["links"].as_array().unwrap().iter().map(|link| link.as_str().unwrap());
    let links: Vec<_> = links.filter(|link| link.starts_with("file:")).collect();
    for link in &links {
        if !file_of(link).is_file() {
            wrong.push(format!("{}: {link} leads to no file", path.display()));
        }
    }
    (wrong, seen.requests.len(), links.len())
}

#[test]
fn all_that_is_present_shows_from_disk() {
    let Some(mut browser) = Browser::start() else { return };
    let scene = tempfile::tempdir().unwrap();
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/crawl");
    let arguments = ["--layout", "host", "--index", "index.html"];
    let crawl = crawl.to_str().unwrap();
    let run = |words: &[&str]| baselink(scene.path(), &[words, &arguments[..]].concat(), &[0]);
    run(&["localize", crawl, "-o", "a #mirror"]);
    // A name that has to be encoded, and no URL in any page knows it.
    let mirror = scene.path().join("a #mirror");
    let host = mirror.join("www.example.net");
    let mut asked = Vec::new();
    for page in [
        "index.html",
        "letters/index.html",
        "letters/index.html@page=2.html",
        "notes.xhtml",
        "../static.example.net/about.html",
    ] {
        let (wrong, requests, _) = faults(&mut browser, &host.join(page), |_| false);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        asked.push(requests);
    }
    // index.html: itself, two style sheets, the script, dot.gif, that with a query, big.svg, a #b.svg, the frame.
    assert!(asked[0] >= 9, "{asked:?}");

    browser.open(&file_url(&host.join("index.html")));
    for (expression, expected) in [
        ("getComputedStyle(document.querySelector('h1')).color", json!("rgb(1, 2, 3)")),
        ("getComputedStyle(document.querySelector('h1')).fontSize", json!("40px")),
        ("document.documentElement.dataset.script", json!("ran")),
        ("document.querySelector('picture img').naturalWidth", json!(8)),
        ("document.querySelector('#elsewhere').href", json!("https://elsewhere.example/")),
        ("document.querySelector('#gone').href", json!("https://www.example.net/gone.html")),
        // A jump stays in the page.
        ("window.mark = 'same page'; document.querySelector('#jump').click(); ''", json!("")),
        ("window.mark + document.querySelector(':target').id", json!("same pagenotes")),
        ("location.hash", json!("#notes")),
    ] {
        assert_eq!(browser.value(expression), expected, "{expression}");
    }
    let own = browser.value("location.href.split('#')[0]");
    assert_eq!(own, file_url(&host.join("index.html")));

    run(&["localize", "a #mirror", "-o", "again"]);
    assert_eq!(files(&scene.path().join("again")), files(&mirror));
}

/// The negative: the same crawl as it was downloaded does not open from disk.
#[test]
fn what_is_wrong_is_seen() {
    let Some(mut browser) = Browser::start() else { return };
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/crawl");
    let (wrong, ..) = faults(&mut browser, &crawl.join("www.example.net/index.html"), |_| false);
    let has = |what: &str| wrong.iter().any(|one| one.contains(what));
    assert!(has("asks the network for https://www.example.net/style/main.css?v=3"), "{wrong:?}");
    assert!(has("dot.gif does not show"), "{wrong:?}");
    let letters = crawl.join("www.example.net/letters/index.html");
    let (wrong, ..) = faults(&mut browser, &letters, |_| true);
    let has = |what: &str| wrong.iter().any(|one| one.contains(what));
    assert!(has("leads to no file"), "{wrong:?}");
    let scene = tempfile::tempdir().unwrap();
    let page = scene.path().join("page.html");
    fs::write(&page, "<link rel=stylesheet href=gone.css>").unwrap();
    let (wrong, ..) = faults(&mut browser, &page, |_| true);
    assert!(wrong[0].contains("gone.css fails: \"net::ERR_FILE_NOT_FOUND\""), "{wrong:?}");
}

/// How many pages of the real tree are opened.
const OPENED: usize = 20;

#[test]
fn a_real_tree_opens_from_disk() {
    let given = std::env::var_os("BASELINK_PYTHON_DOC").map(PathBuf::from);
    let docs = given.unwrap_or_else(|| "/usr/share/doc/python3.11/html".into());
    if !docs.is_dir() {
        eprintln!("notice: {} is not here, so no real tree was tested", docs.display());
        return;
    }
    let Some(mut browser) = Browser::start() else { return };
    let scene = tempfile::tempdir().unwrap();
    let url_of_docs = "https://docs.python.org/3/";
    let url = ["-q", "--url", url_of_docs, "--index", "index.html"];
    // Links that lead to other packages may lead to nothing.
    let run = |words: &[&str]| baselink(scene.path(), &[words, &url[..]].concat(), &[0, 2]);
    run(&["rewrite", "--follow", docs.to_str().unwrap(), "-o", "absolute"]);
    run(&["localize", "absolute", "-o", "mirror"]);
    run(&["localize", "mirror", "-o", "again"]);
    run(&["rewrite", "mirror", "-o", "back"]);
    let folder = |name: &str| files(&scene.path().join(name));
    let mirror = folder("mirror");
    let differs = |other: &BTreeMap<PathBuf, Vec<u8>>, one: &BTreeMap<PathBuf, Vec<u8>>| {
        one.iter().filter(|(path, bytes)| other.get(*path) != Some(bytes)).count()
    };
    assert_eq!(differs(&folder("again"), &mirror), 0, "localizing again changes files");
    let pages: Vec<_> =
        mirror.keys().filter(|path| path.extension().is_some_and(|one| one == "html")).collect();
    assert!(pages.len() > 100, "{} pages", pages.len());
    let (mut wrong, mut requests, mut links) = (Vec::new(), 0, 0);
    let is_absent = |url: &str| {
        let path = url.strip_prefix(url_of_docs).and_then(|path| path.split(['?', '#']).next());
        path.is_none_or(|path| !mirror.contains_key(Path::new(path)))
    };
    for page in pages.iter().step_by(pages.len() / OPENED) {
        let found = faults(&mut browser, &scene.path().join("mirror").join(page), is_absent);
        wrong.extend(found.0);
        requests += found.1;
        links += found.2;
    }
    println!(
        "{} files, {} of them pages; {requests} requests, {links} links to files; {} differ after rewriting back",
        mirror.len(),
        pages.len(),
        differs(&folder("back"), &folder("absolute"))
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_report_of_check_works_with_scripts_and_without() {
    let Some(mut browser) = Browser::start() else { return };
    let scene = tempfile::tempdir().unwrap();
    let site = scene.path().join("site");
    fs::create_dir(&site).unwrap();
    let page = "<a href=http://a/b.html></a><a href=gone.html></a><a href=lost.html></a>";
    fs::write(site.join("a.html"), page).unwrap();
    fs::write(site.join("b.html"), "<a href=/a.html></a><a href=a.html></a>").unwrap();
    let check = ["check", "-q", "--url", "http://a/", "--report", "report.html", "site"];
    baselink(scene.path(), &check, &[1]);
    let report = scene.path().join("report.html");

    let shown = "[...document.querySelectorAll('tr[data-class]')].filter(one => one.offsetParent)";
    let number = format!("{shown}.length");
    let (wrong, requests, _) = faults(&mut browser, &report, |_| false);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(requests, 1, "it loads nothing but itself");
    assert_eq!(browser.value(&number), 4, "pinned, escapes, and two that dangle");
    browser.value("document.querySelector('input[value=dangling]').click(); ''");
    assert_eq!(browser.value(&number), 2);
    browser.value("document.querySelector('input[value=dangling]').click(); ''");
    let sort =
        "document.querySelectorAll('table[data-tools]')[1].tHead.rows[0].cells[3].firstChild";
    for (clicks, first) in [(1, "/a.html"), (2, "lost.html")] {
        browser.value(&format!("{sort}.click(); ''"));
        let reference = browser.value(&format!("{shown}[0].cells[3].textContent"));
        assert_eq!(reference, first, "after {clicks} clicks");
    }

    browser.without_scripts();
    let (wrong, ..) = faults(&mut browser, &report, |_| false);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(browser.value("document.querySelectorAll('.tools, button').length"), 0);
    assert_eq!(browser.value(&number), 4);
    // Folders open and close by themselves.
    browser.value("document.querySelector('details[open] > summary').click(); ''");
    assert_eq!(browser.value("document.querySelector('details').open"), false);
}
