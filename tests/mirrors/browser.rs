//! The output of `localize`, opened from disk in Chromium: every present resource is shown without network
//! requests. The page of `check --report` is opened, too, with scripts and without.
//!
//! `tests/mirrors/crawl` imitates the output of a crawler. A test with a real tree uses Debian's `python3.11-doc`, or the
//! folder that `BASELINK_PYTHON_DOC` names. `tests/common/outside.rs` finds Chromium.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::devtools::{Browser, file_of, file_url};
use crate::folder::files;

/// Runs the program, and expects one of `statuses`.
fn baselink(folder: &Path, arguments: &[&str], statuses: &[i32]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    let output = command
        .current_dir(folder)
        .env_clear()
        .args(arguments)
        .output()
        .unwrap();
    let status = output.status.code().unwrap_or(-1);
    assert!(statuses.contains(&status), "{arguments:?}: {output:?}");
}

/// An expression for the pictures of a page that do not show, and for its links.
const PICTURES_AND_LINKS: &str = "(() => {
    const pictures = [...document.images].filter(one => one.getAttribute('src') !== null);
    const links = [...document.querySelectorAll('a[href], area[href]')];
    return {
        hidden: pictures.filter(one => one.naturalWidth === 0).map(one => one.currentSrc || one.src),
        links: links.map(one => new URL(one.getAttribute('href'), document.baseURI).href),
    };
})()";

/// Opens the file `path`. Returns the faults of the page, the number of its requests, and the number of its links
/// to files. Resources that satisfy `is_absent` may be requested from the network.
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
    let page = browser.value(PICTURES_AND_LINKS);
    let pictures = page["hidden"]
        .as_array()
        .unwrap()
        .iter()
        .map(|url| url.as_str().unwrap());
    for picture in pictures.filter(|url| url.starts_with("file:") || !is_absent(url)) {
        wrong.push(format!("{}: {picture} does not show", path.display()));
    }
    let links = page["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| link.as_str().unwrap());
    let links: Vec<_> = links.filter(|link| link.starts_with("file:")).collect();
    for link in &links {
        if !file_of(link).is_file() {
            wrong.push(format!("{}: {link} leads to no file", path.display()));
        }
    }
    (wrong, seen.requests.len(), links.len())
}

#[test]
fn present_resources_are_shown_from_disk() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scene = tempfile::tempdir().unwrap();
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mirrors/crawl");
    let arguments = ["--layout", "host", "--index", "index.html"];
    let crawl = crawl.to_str().unwrap();
    let run = |words: &[&str]| baselink(scene.path(), &[words, &arguments[..]].concat(), &[0]);
    run(&["localize", crawl, "-o", "a #mirror"]);
    // URLs must encode this folder name. The pages do not contain it, because their links are relative.
    let mirror = scene.path().join("a #mirror");
    let host = mirror.join("www.example.net");
    let mut counts = Vec::new();
    for page in [
        "index.html",
        "letters/index.html",
        "letters/index.html@page=2.html",
        "notes.xhtml",
        "../static.example.net/about.html",
    ] {
        let (wrong, requests, _) = faults(&mut browser, &host.join(page), |_| false);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        counts.push(requests);
    }
    // index.html needs itself, two style sheets, a script, dot.gif without and with a query, big.svg, a #b.svg, a frame.
    assert!(counts[0] >= 9, "{counts:?}");

    browser.open(&file_url(&host.join("index.html")));
    for (expression, expected) in [
        (
            "getComputedStyle(document.querySelector('h1')).color",
            json!("rgb(1, 2, 3)"),
        ),
        (
            "getComputedStyle(document.querySelector('h1')).fontSize",
            json!("40px"),
        ),
        ("document.documentElement.dataset.script", json!("ran")),
        (
            "document.querySelector('picture img').naturalWidth",
            json!(8),
        ),
        (
            "document.querySelector('#elsewhere').href",
            json!("https://elsewhere.example/"),
        ),
        (
            "document.querySelector('#gone').href",
            json!("https://www.example.net/gone.html"),
        ),
        // A link to a fragment stays in the page.
        (
            "window.mark = 'same page'; document.querySelector('#jump').click(); ''",
            json!(""),
        ),
        (
            "window.mark + document.querySelector(':target').id",
            json!("same pagenotes"),
        ),
        ("location.hash", json!("#notes")),
    ] {
        assert_eq!(browser.value(expression), expected, "{expression}");
    }
    let own = browser.value("location.href.split('#')[0]");
    assert_eq!(own, file_url(&host.join("index.html")));

    run(&["localize", "a #mirror", "-o", "again"]);
    assert_eq!(files(&scene.path().join("again")), files(&mirror));
}

/// Before `localize`, the same crawl does not open from disk.
#[test]
fn faults_are_detected() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mirrors/crawl");
    let (wrong, ..) = faults(
        &mut browser,
        &crawl.join("www.example.net/index.html"),
        |_| false,
    );
    let has = |what: &str| wrong.iter().any(|fault| fault.contains(what));
    assert!(
        has("asks the network for https://www.example.net/style/main.css?v=3"),
        "{wrong:?}"
    );
    assert!(has("dot.gif does not show"), "{wrong:?}");
    let letters = crawl.join("www.example.net/letters/index.html");
    let (wrong, ..) = faults(&mut browser, &letters, |_| true);
    let has = |what: &str| wrong.iter().any(|fault| fault.contains(what));
    assert!(has("leads to no file"), "{wrong:?}");
    let scene = tempfile::tempdir().unwrap();
    let page = scene.path().join("page.html");
    fs::write(&page, "<link rel=stylesheet href=gone.css>").unwrap();
    let (wrong, ..) = faults(&mut browser, &page, |_| true);
    assert!(
        wrong[0].contains("gone.css fails: \"net::ERR_FILE_NOT_FOUND\""),
        "{wrong:?}"
    );
}

/// The number of pages of the real tree that are opened.
const OPENED: usize = 20;

#[test]
fn a_real_tree_opens_from_disk() {
    let given = std::env::var_os("BASELINK_PYTHON_DOC").map(PathBuf::from);
    let docs = given.unwrap_or_else(|| "/usr/share/doc/python3.11/html".into());
    if !docs.is_dir() {
        eprintln!(
            "notice: {} is not here, so no real tree was tested",
            docs.display()
        );
        return;
    }
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scene = tempfile::tempdir().unwrap();
    let url_of_docs = "https://docs.python.org/3/";
    let url = ["-q", "--url", url_of_docs, "--index", "index.html"];
    // Symbolic links to other packages may be broken.
    let run = |words: &[&str]| baselink(scene.path(), &[words, &url[..]].concat(), &[0, 2]);
    run(&[
        "rewrite",
        "--follow",
        docs.to_str().unwrap(),
        "-o",
        "absolute",
    ]);
    run(&["localize", "absolute", "-o", "mirror"]);
    run(&["localize", "mirror", "-o", "again"]);
    run(&["rewrite", "mirror", "-o", "back"]);
    let folder = |name: &str| files(&scene.path().join(name));
    let mirror = folder("mirror");
    let differs = |other: &BTreeMap<PathBuf, Vec<u8>>, files: &BTreeMap<PathBuf, Vec<u8>>| {
        files
            .iter()
            .filter(|(path, bytes)| other.get(*path) != Some(bytes))
            .count()
    };
    assert_eq!(
        differs(&folder("again"), &mirror),
        0,
        "localizing again changes files"
    );
    let pages: Vec<_> = mirror
        .keys()
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "html")
        })
        .collect();
    assert!(pages.len() > 100, "{} pages", pages.len());
    let (mut wrong, mut requests, mut links) = (Vec::new(), 0, 0);
    let is_absent = |url: &str| {
        let path = url
            .strip_prefix(url_of_docs)
            .and_then(|path| path.split(['?', '#']).next());
        path.is_none_or(|path| !mirror.contains_key(Path::new(path)))
    };
    for page in pages.iter().step_by(pages.len() / OPENED) {
        let found = faults(
            &mut browser,
            &scene.path().join("mirror").join(page),
            is_absent,
        );
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

/// An expression for faults of a page: text with a contrast below 4.5 (WCAG 2.2, 1.4.3), elements without a name
/// (4.1.2), headings that skip a level, and content that is too wide or too high.
const VISIBLE_FAULTS: &str = r"(() => {
    const wrong = [];
    const color = (text) => text.match(/[\d.]+/g).map(Number);
    const light = (rgb) => rgb.slice(0, 3).map((one) => one / 255)
        .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, which) => sum + one * [0.2126, 0.7152, 0.0722][which], 0);
    const ground = (one) => {
        for (; one; one = one.parentElement) {
            const found = color(getComputedStyle(one).backgroundColor);
            if (found[3] !== 0) return found;
        }
        return [255, 255, 255];
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const one = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !one.checkVisibility() || one.closest('script, :disabled')) continue;
        const [ink, paper] = [light(color(getComputedStyle(one).color)), light(ground(one))];
        const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
        if (contrast < 4.5) wrong.push(contrast.toFixed(2) + ' ' + one.outerHTML.slice(0, 90));
    }
    for (const one of document.querySelectorAll('input, button, nav')) {
        const label = one.getAttribute('aria-label') || one.textContent || one.labels?.[0]?.textContent;
        if (!label?.trim()) wrong.push('no name: ' + one.outerHTML.slice(0, 90));
    }
    let level = 0;
    for (const heading of document.querySelectorAll('h1, h2, h3')) {
        const next = Number(heading.localName[1]);
        if (next > level + 1) wrong.push('a level is left out before ' + heading.textContent);
        level = next;
    }
    for (const cell of document.querySelectorAll('th')) {
        if (cell.getAttribute('role') !== 'columnheader') wrong.push('no role: ' + cell.outerHTML);
    }
    const wide = document.documentElement.scrollWidth;
    if (wide > innerWidth) wrong.push('the page is ' + wide + ' wide');
    for (const row of document.querySelectorAll('tbody tr')) {
        if (row.offsetHeight > 400) wrong.push('a row is ' + row.offsetHeight + ' high');
    }
    for (const cell of document.querySelectorAll('td, code, a')) {
        const { right } = cell.getBoundingClientRect();
        if (right > innerWidth + 1) wrong.push('cut: ' + cell.outerHTML.slice(0, 90));
    }
    return wrong;
})()";

/// An expression about the drawn rows of a table.
fn drawn(table: &str, then: &str) -> String {
    format!("[...document.querySelectorAll('#{table} tbody tr')]{then}")
}

#[test]
fn the_report_of_check_works_with_scripts_and_without() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scene = tempfile::tempdir().unwrap();
    let site = scene.path().join("site");
    fs::create_dir(&site).unwrap();
    let page =
        "<a href=http://a/b.html></a><a href=gone.html></a><a href=lost.html></a><a href=#no></a>";
    fs::write(site.join("a.html"), page).unwrap();
    fs::write(
        site.join("b.html"),
        "<a href=/a.html></a><a href=a.html></a><a href=gone.html#x></a>",
    )
    .unwrap();
    // Names and links that imitate markup, end the script, or reverse the text.
    let planted = "<script>planted=1<script>\"'&amp;\u{202e}.html";
    let links = "<a href='</script><script>planted=2</script>'></a><a href='\u{202e}x'></a>\
                 <a href='&lt;/td>&lt;img src=x onerror=planted=3>'></a>";
    fs::write(site.join(planted), links).unwrap();
    let check = [
        "check",
        "-q",
        "--url",
        "http://a/",
        "--to",
        "http://elsewhere.example/elsewhere/",
        "--report",
        "reports/page.html",
        "site",
    ];
    fs::create_dir(scene.path().join("reports")).unwrap();
    baselink(scene.path(), &check, &[1]);
    let report = scene.path().join("reports/page.html");

    let (wrong, requests, links) = faults(&mut browser, &report, |_| false);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(requests, 1, "it loads nothing but itself");
    assert!(
        links >= 12,
        "only {links} links in {report:?} lead to files"
    );
    assert_eq!(browser.value("typeof planted"), "undefined");
    let inject = "const made = document.createElement('script'); made.text = 'planted = 4'; \
                  document.body.append(made); typeof planted";
    assert_eq!(browser.value(inject), "undefined", "an injected script ran");
    let verdict = browser.value("document.querySelector('.verdict').textContent");
    let summary =
        "Fails: 8 of 10 links would be broken, to 7 targets: 1 pinned, 1 escapes, 6 dangling";
    assert_eq!(verdict, summary);
    // The target of two links comes first. The fragment, which is not a failure, and the page without links to it come last.
    let number = |table| drawn(table, ".length");
    assert_eq!(browser.value(&number("targets")), 9);
    let first = drawn("targets", "[0].cells[1].textContent");
    assert_eq!(
        browser.value(&first),
        "http://a/gone.htmlno file has this name"
    );
    for (row, class) in [(-2, "fragment (no-id)"), (-1, "unlinked")] {
        let last = drawn("targets", &format!(".at({row}).cells[0].textContent"));
        assert_eq!(browser.value(&last), class);
    }
    assert_eq!(browser.value(&number("links")), 9);

    // Filters: a class, a word, and the links of a target.
    let box_ = "document.querySelector('#links input[value=dangling]').click(); ''";
    for expected in [3, 9] {
        browser.value(box_);
        assert_eq!(browser.value(&number("links")), expected);
    }
    let search = |text: &str| {
        format!(
            "{{ const one = document.querySelector('#links input[type=search]'); one.value = '{text}'; \
             one.dispatchEvent(new Event('input')); }} ''"
        )
    };
    for (text, expected) in [("GONE b.html", 1), ("nothing at all", 0), ("", 9)] {
        browser.value(&search(text));
        assert_eq!(browser.value(&number("links")), expected, "{text}");
    }
    browser.value("document.querySelector('#targets td button').click(); ''");
    assert_eq!(browser.value(&number("links")), 2);
    assert_eq!(
        browser.value("document.activeElement.textContent"),
        "Links that are broken or fail"
    );
    browser.value("document.querySelector('#links .pin button').click(); ''");
    assert_eq!(browser.value(&number("links")), 9);
    let sort = "document.querySelectorAll('#links th')[3].firstChild.click(); ''";
    let sorted = drawn("links", ".map(one => one.cells[3].textContent)");
    browser.value(sort);
    let up = browser.value(&sorted);
    browser.value(sort);
    let mut down = browser.value(&sorted);
    down.as_array_mut().unwrap().reverse();
    assert_eq!(up, down);
    let head = "document.querySelectorAll('#links th')[3].ariaSort";
    assert_eq!(browser.value(head), "descending");

    for width in [1280, 390] {
        for scheme in ["light", "dark"] {
            browser.screen(width, scheme);
            browser.open(&file_url(&report));
            assert_eq!(browser.value(VISIBLE_FAULTS), json!([]), "{width} {scheme}");
        }
        // No class without links; on a narrow screen, a few lines for a target.
        let rows = "[...document.querySelectorAll('#classes tbody tr')].filter(one => one.checkVisibility()).length";
        assert_eq!(browser.value(rows), 6, "{width}");
        let tallest = "Math.max(...[...document.querySelectorAll('#targets tbody tr')].map(one => one.offsetHeight))";
        let tallest = browser.value(tallest).as_u64().unwrap();
        assert!(tallest <= 150, "a target has {tallest} pixels at {width}");
    }
    let causes = browser.value("document.querySelector('#causes').innerText");
    let causes = causes.as_str().unwrap();
    assert!(
        causes.contains("baselink move") && !causes.contains('`'),
        "{causes}"
    );

    browser.without_scripts();
    let (wrong, ..) = faults(&mut browser, &report, |_| false);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(
        browser.value("document.querySelectorAll('.tools, button').length"),
        0
    );
    assert_eq!(
        browser.value("document.querySelector('.verdict').textContent"),
        summary
    );
    assert_eq!(
        browser.value("document.querySelectorAll('noscript p, tr').length"),
        1
    );
    assert_eq!(browser.value(VISIBLE_FAULTS), json!([]), "without scripts");
}

/// If `BASELINK_PICTURES` names a folder, screenshots of the page are written there for inspection.
#[test]
fn a_report_of_100_000_findings_draws_a_hundred_at_a_time() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scene = tempfile::tempdir().unwrap();
    let api = scene.path().join("site/api");
    fs::create_dir_all(&api).unwrap();
    fs::write(api.join("index.html"), "").unwrap();
    for file in 0..2_000 {
        let link = |link: usize| match link % 10 {
            0..=5 => format!(
                "<a href=gone{}.html#m{link}>",
                (file * 7 + link * link) % 900
            ),
            6..=8 => format!("<a href=index.html#id{}>", (file + link * 31) % 600),
            _ => format!("<a href=http://a.example/api/index.html?{}>", file % 9),
        };
        let links: Vec<String> = (0..50).map(link).collect();
        fs::write(api.join(format!("Class{file:04}.html")), links.join("\n")).unwrap();
    }
    let check = [
        "check",
        "-q",
        "--url",
        "http://a.example/",
        "--to",
        "http://elsewhere.example/elsewhere/",
        "--report",
        "report.html",
        "site",
    ];
    baselink(scene.path(), &check, &[1]);
    let report = scene.path().join("report.html");
    let mut opened = Vec::new();
    for _ in 0..3 {
        browser.open(&file_url(&report));
        let loaded = "performance.getEntriesByType('navigation')[0].loadEventEnd";
        opened.push(browser.value(loaded).as_f64().unwrap());
    }
    let range = "document.querySelector('#links [role=status]').textContent";
    assert_eq!(browser.value(range), "1–100 of 100,000 links");
    let elements = browser
        .value("document.querySelectorAll('*').length")
        .as_u64()
        .unwrap();
    assert!(elements < 20_000, "{elements} elements are drawn");
    let filter = "(() => {
        const search = document.querySelector('#links input[type=search]');
        return ['gone', 'gone1 class00', 'id5', 'zzz', ''].map((text) => {
            const begun = performance.now();
            search.value = text;
            search.dispatchEvent(new Event('input'));
            document.body.offsetHeight;
            return performance.now() - begun;
        });
    })()";
    let filtered: Vec<_> = (0..3).map(|_| browser.value(filter)).collect();
    // For information only; the test does not depend on the clock.
    println!(
        "{} bytes; opened in {opened:.0?} ms, filtered in {filtered:?} ms",
        fs::metadata(&report).unwrap().len()
    );
    // The last page of links.
    browser.value("for (let n = 0; n < 999; n += 1) document.querySelector('#links .pages').lastChild.click(); ''");
    assert_eq!(browser.value(range), "99,901–100,000 of 100,000 links");
    assert_eq!(
        browser.value("document.querySelector('#links .pages').lastChild.disabled"),
        true
    );

    let Some(folder) = std::env::var_os("BASELINK_PICTURES").map(PathBuf::from) else {
        return;
    };
    for width in [1280, 390] {
        for scheme in ["light", "dark"] {
            browser.screen(width, scheme);
            for (number, part) in ["body", "#targets", "#files", "#links"].iter().enumerate() {
                browser.open(&file_url(&report));
                browser.value(&format!(
                    "document.querySelector('{part}').scrollIntoView(); ''"
                ));
                let name = format!("report-{width}-{scheme}-{number}.png");
                fs::write(folder.join(name), browser.picture()).unwrap();
            }
        }
    }
}
