//! The output of `baselink check` for each site of `fixtures/tree/`, and its output for other programs and
//! browsers: a SARIF log, and the page of `--report`.
//! `BLESS=1` writes the output into the cases.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use baselink_rewrite::{Options, rewrite};
use serde_json::Value;
use tempfile::TempDir;

use crate::case_file::Case;
use crate::interrupt;

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

/// The output of `baselink check` for the folder, and its exit status.
fn check(scene: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_baselink"))
        .current_dir(scene)
        .args(["check", "-q", "--url", "http://a.example/docs/"])
        .args(arguments)
        .arg("site")
        .output()
        .unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code(),
    )
}

/// The SARIF log about the folder, and the exit status.
fn log(scene: &Path, arguments: &[&str]) -> (Value, Option<i32>) {
    let (_, status) = check(scene, &[&["--report", "out.sarif"], arguments].concat());
    let log = fs::read(scene.join("out.sarif")).unwrap();
    (serde_json::from_slice(&log).unwrap(), status)
}

#[test]
fn the_fragment_of_a_base_is_ignored() {
    let scene = site(&[("x.html", b"<base href=\"#z\">")]);
    let (text, status) = check(scene.path(), &["--deny", "fragment"]);
    assert_eq!(
        (text.as_str(), status),
        ("no link is broken (1 link)\n", Some(0))
    );
}

/// `fixtures/README.md` describes the format of a case.
#[cfg(unix)]
#[test]
fn every_site_has_the_text_the_json_and_the_sarif_that_it_expects() {
    let mut wrong = String::new();
    for mut case in Case::all("tree", 17) {
        let scene = case.scene();
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
            command.current_dir(scene.path()).env_clear().arg("check");
            let output = command
                .args(arguments)
                .args(&case.arguments)
                .output()
                .unwrap();
            let [out, error] =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
            (out, error, output.status.code())
        };
        let (text, errors, status) = run(&[]);
        let links_break = ["would be broken", "are broken"]
            .map(|what| errors.contains(&format!("error: links {what}: ")));
        let links_break = links_break.contains(&true);
        assert_eq!(status, Some(i32::from(links_break)), "{}", case.name);
        let (json, ..) = run(&["-q", "--json"]);
        let report = scene
            .path()
            .parent()
            .unwrap()
            .join(format!("{}.sarif", std::process::id()));
        run(&["-q", "--report", report.to_str().unwrap()]);
        let log: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        fs::remove_file(report).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        let results: String = results.iter().map(|result| format!("{result}\n")).collect();
        for (name, found) in [
            ("expected.txt", format!("{text}{errors}")),
            ("expected.jsonl", json),
            ("expected.sarif", results),
        ] {
            let expected = case.bytes(name).to_vec();
            if let Some(difference) = case.difference(name, &expected, found.as_bytes()) {
                writeln!(wrong, "== {}\n{difference}", case.name).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The site `planted` has a finding of every class and cause that a fixture can have.
#[test]
fn the_sites_contain_every_class_and_cause() {
    let case = Case::named("tree/planted");
    let found = str::from_utf8(case.bytes("expected.jsonl")).unwrap();
    let found: Vec<Value> = found
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let has = |class: &str, cause: &str| {
        found.iter().any(|finding| {
            finding["class"] == class && (cause.is_empty() || finding["cause"] == cause)
        })
    };
    for (class, causes) in [
        ("left", "placeholder"),
        ("outside", ""),
        ("pinned", "absolute canonical net-path declared-base"),
        ("escapes", "root-relative climbs-out symlink"),
        (
            "dangling",
            "absent case percent-encoding normalization no-index no-name symlink",
        ),
        ("no-slash", ""),
        ("fragment", "no-id id-case"),
        ("lines", ""),
        ("works", ""),
    ] {
        for cause in causes.split(' ') {
            assert!(has(class, cause), "{class} {cause}");
        }
    }
    assert!(found.iter().any(|finding| finding["differs"] == true));
}

/// SARIF 2.1.0, 3.13 (log), 3.14 (run), 3.19 (driver), 3.27 (result), 3.30 (region).
#[test]
fn the_log_conforms_to_sarif() {
    let page = "<p id=Intro>\n\u{fc}\u{1f600} <a href=\"http://a.example/docs/a%20b.html?x&amp;y#z\">1</a>\n\
                <a href=../../up.html>2</a><a href=gone.html>3</a>";
    let scene = site(&[
        ("sub dir/index.html", page.as_bytes()),
        ("a b.html", b"<p id=z>"),
    ]);
    let to = "http://elsewhere.example/elsewhere/";
    let (log, status) = log(scene.path(), &["--to", to]);
    assert_eq!(status, Some(1));
    assert_eq!(log["version"], "2.1.0");
    let [run] = log["runs"].as_array().unwrap().as_slice() else {
        panic!("one run")
    };
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "baselink");
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    let rules = driver["rules"].as_array().unwrap();
    let ids: HashSet<_> = rules
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), rules.len());
    assert!(rules.iter().all(|rule| rule["help"]["text"].is_string()));
    let results = run["results"].as_array().unwrap();
    // U+00FC is one unit of UTF-16 and two bytes, U+1F600 two units and four bytes.
    let expected = [
        (
            "pinned/absolute",
            2,
            14,
            "http://a.example/docs/a%20b.html?x&amp;y#z",
        ),
        ("escapes/climbs-out", 3, 9, "../../up.html"),
        ("dangling/absent", 3, 36, "gone.html"),
    ];
    assert_eq!(results.len(), expected.len());
    for (result, (rule, line, column, reference)) in results.iter().zip(expected) {
        assert_eq!(result["ruleId"], rule);
        assert_eq!(
            rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"],
            rule
        );
        assert_eq!(result["level"], "error");
        assert!(result["message"]["text"].is_string());
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(
            place["artifactLocation"]["uri"],
            "site/sub%20dir/index.html"
        );
        let region = &place["region"];
        let number = |key: &str| region[key].as_u64().unwrap() as usize;
        assert_eq!(
            [number("startLine"), number("startColumn")],
            [line, column],
            "{rule}"
        );
        assert_eq!(
            [number("endLine"), number("endColumn")],
            [line, column + reference.len()]
        );
        let (start, len) = (number("byteOffset"), number("byteLength"));
        assert_eq!(&page[start..start + len], reference);
    }
}

#[test]
fn a_clean_folder_gives_a_log_without_results() {
    let scene = site(&[("index.html", b"<a href=#top>")]);
    let (log, status) = log(scene.path(), &[]);
    assert_eq!(status, Some(0));
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(0));
}

/// On disk, the URL of a folder does not open its index file, and `//b.example/x` gets the scheme `file`.
#[test]
fn a_folder_can_be_checked_for_opening_from_disk() {
    let page = b"<a href=sub/>1</a><a href=sub/index.html>2</a><a href=//b.example/x>3</a>";
    let scene = site(&[("index.html", page), ("sub/index.html", b"")]);
    let (found, status) = check(scene.path(), &["--json", "--to", "file"]);
    assert_eq!(status, Some(1));
    let found: Vec<Value> = found
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let classes: Vec<_> = found
        .iter()
        .map(|finding| (&finding["class"], &finding["cause"]))
        .collect();
    assert_eq!(classes[0], (&"dangling".into(), &"no-index".into()));
    assert_eq!(classes[1], (&"works".into(), &Value::Null));
    assert_eq!(classes[2], (&"escapes".into(), &"net-path".into()));
    let moved = found[1]["moved"].as_str().unwrap();
    let root = fs::canonicalize(scene.path()).unwrap();
    assert!(
        moved.starts_with("file:///") && moved.ends_with("/site/sub/index.html"),
        "{moved}"
    );
    assert!(
        moved.contains(&*root.file_name().unwrap().to_string_lossy()),
        "{moved}"
    );
}

/// The page that `--report` writes for `scene`.
fn page(scene: &Path, arguments: &[&str]) -> String {
    check(scene, &[&["--report", "page.html"], arguments].concat());
    fs::read_to_string(scene.join("page.html")).unwrap()
}

/// The data that the page contains for its script.
fn data(page: &str) -> Value {
    let from = page
        .split("<script type=\"application/json\" id=\"data\">")
        .nth(1)
        .unwrap();
    serde_json::from_str(from.split("</script>").next().unwrap()).unwrap()
}

/// The links in the data of the page: target, place and reference.
fn links(data: &Value) -> Vec<(String, String, String)> {
    let numbers: Vec<usize> = serde_json::from_value(data["links"].clone()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let link = |row: &[usize]| {
        let file = text(&data["files"][row[1]][0]);
        let to = text(&data["targets"][row[0]][2]);
        (
            to,
            format!("{file}:{}:{}", row[2], row[3]),
            text(&data["names"][row[5]]),
        )
    };
    numbers.chunks(6).map(link).collect()
}

/// A name or a reference that looks like the end of a string, a line or an element is data in every report.
#[cfg(unix)]
#[test]
fn hostile_names_and_links_do_not_break_the_report() {
    let evil = "a\n::error file=b,line=1::x%0A\u{202e}\",'</script>.html";
    let markup = "<a href='&#10;::error::y%0Aa\u{202e}&quot;,&lt;/script>\u{2028}'>1</a>";
    let scene = site(&[(evil, markup.as_bytes())]);
    let (annotations, _) = check(scene.path(), &["--github"]);
    // One finding, one line.
    assert_eq!(annotations.lines().count(), 1, "{annotations}");
    let (command, message) = annotations[2..].split_once("::").unwrap();
    let name = "a%0A%3A%3Aerror file=b%2Cline=1%3A%3Ax%250A\\u{202e}\"%2C'</script>.html";
    assert!(
        command.starts_with(&format!("error file=site/{name},line=")),
        "{command}"
    );
    assert!(
        !message.contains('\u{202e}') && message.contains("%250A"),
        "{message}"
    );
    let (log, _) = log(scene.path(), &[]);
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 1);
    let (json, _) = check(scene.path(), &["--json"]);
    let rows: Vec<Value> = json
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["path"], format!("site/{evil}"));
    let page = page(scene.path(), &[]);
    assert_eq!(
        page.matches("</script").count(),
        2,
        "the data and the script"
    );
    assert_eq!(links(&data(&page)).len(), 1);
}

#[test]
fn the_page_has_every_finding_loads_nothing_and_escapes_everything() {
    let evil = "<script>alert('1')&amp;\".html";
    let markup = "<a href=\"&lt;/td>&lt;img src=x onerror=alert(1)>\">1</a>\
                  <a href=http://a.example/docs/index.html>2</a><a href=../up.html>3</a><a href=#no>4</a>";
    let scene = site(&[
        (evil, markup.as_bytes()),
        ("index.html", b""),
        ("sub/x.html", b"<a href=no>"),
    ]);
    let page = page(
        scene.path(),
        &["--to", "http://elsewhere.example/elsewhere/"],
    );
    // Without its script, it leads nowhere.
    let report = rewrite(page.as_bytes(), &Options::at("http://page.example/")).report;
    assert_eq!(report.links, []);
    assert!(page.contains("default-src 'none'") && !page.contains("unsafe-inline"));
    for never in ["<script>alert", "<img", "@import", "url(", " style="] {
        assert!(!page.contains(never), "{never}");
    }
    assert_eq!(
        page.matches("<script").count(),
        2,
        "the data and the script"
    );
    let data = data(&page);
    // The worst document comes first.
    let hrefs = [
        "site/%3Cscript%3Ealert%28%271%27%29%26amp%3B%22.html",
        "site/sub/x.html",
    ];
    assert_eq!([&data["files"][0][1], &data["files"][1][1]], hrefs);
    let mut found = links(&data);
    found.sort();
    let found: Vec<_> = found
        .iter()
        .map(|(_, place, reference)| (&**place, &**reference))
        .collect();
    let evil = |column: usize| format!("{evil}:1:{column}");
    // Each column follows from the lengths of `<a href="`, the reference and `">1</a>`.
    let places = [evil(10), evil(64), evil(110), evil(134)];
    for expected in [
        (&*places[0], "</td><img src=x onerror=alert(1)>"),
        (&places[1], "http://a.example/docs/index.html"),
        (&places[2], "../up.html"),
        (&places[3], "#no"),
        ("sub/x.html:1:9", "no"),
    ] {
        assert!(found.contains(&expected), "{expected:?} of {found:?}");
    }
    assert_eq!(found.len(), 5);
}

#[test]
fn the_page_is_reproducible_and_reports_success() {
    let scene = site(&[("index.html", b"<a href=x.html>"), ("x.html", b"")]);
    let first = page(scene.path(), &[]);
    assert_eq!(first, page(scene.path(), &["-j1"]));
    assert!(first.contains("<strong>Passes</strong>: no link is broken (1 link)"));
    assert_eq!(data(&first)["targets"], serde_json::json!([]));
}

#[test]
fn file_names_in_the_report_link_to_the_files() {
    let scene = site(&[("a b.html", b"<p>\n<a href=gone>")]);
    fs::create_dir(scene.path().join("reports")).unwrap();
    let at = |name: &str| {
        check(scene.path(), &["--report", name]);
        data(&fs::read_to_string(scene.path().join(name)).unwrap())["files"][0][1].clone()
    };
    assert_eq!(at("page.html"), "site/a%20b.html");
    assert_eq!(at("reports/page.html"), "../site/a%20b.html");
}

/// Neither the page nor the baseline replaces a file of the folder, unless that file is excluded.
#[test]
fn the_report_does_not_overwrite_a_file_of_the_folder() {
    let scene = site(&[
        ("index.html", b"<a href=x>"),
        (".htaccess", b"x"),
        ("page.htm", b"<p>"),
    ]);
    let (refused, page) = (["index.html", ".htaccess", "page.htm"], "site/page.htm");
    for name in refused {
        let path = scene.path().join("site").join(name);
        let before = fs::read(&path).unwrap();
        for options in [&["--report"][..], &["--update-baseline", "--baseline"]] {
            let named = format!("site/{name}");
            let (_, status) = check(scene.path(), &[options, &[named.as_str()]].concat());
            assert_eq!(
                (status, fs::read(&path).unwrap()),
                (Some(2), before.clone()),
                "{name}"
            );
        }
    }
    let (_, status) = check(scene.path(), &["--report", page, "--exclude", "page.htm"]);
    assert_eq!(status, Some(1));
    assert!(
        fs::read(scene.path().join(page))
            .unwrap()
            .starts_with(b"<!")
    );
}

#[test]
fn the_page_marks_links_on_which_the_resolvers_disagree() {
    // RFC 1808, 5.2: `;x` keeps the last segment of the base, which its successors drop.
    let scene = site(&[("index.html", b"<a href=;x>")]);
    let page = page(scene.path(), &[]);
    let sentences = [
        "no file has this name",
        "browsers and programs that follow RFC 1808 disagree where it leads",
    ];
    assert_eq!(data(&page)["targets"][0][5], serde_json::json!(sentences));
}

#[test]
fn a_large_report_has_all_findings() {
    let mut broken = String::new();
    for number in 0..120 {
        write!(broken, "<a href=gone{number}>x</a>").unwrap();
    }
    let names: Vec<_> = (0..150)
        .map(|number| format!("d{}/p{number}.html", number % 2))
        .collect();
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), broken.as_bytes()))
        .collect();
    let scene = site(&files);
    let page = page(scene.path(), &[]);
    let data = data(&page);
    assert_eq!(links(&data).len(), 18_000);
    // No page leads to the files.
    for (rows, all) in [("targets", 240 + 150), ("files", 150)] {
        assert_eq!(data[rows].as_array().unwrap().len(), all, "{rows}");
    }
}

/// An oversized report omits findings that do not fail the check, and says so.
#[test]
fn an_oversized_report_keeps_the_failing_findings() {
    let links_of = format!(
        "{}{}",
        "<a href=#x>".repeat(10_000),
        "<a href=gone>".repeat(3)
    );
    let names: Vec<_> = (0..25).map(|number| format!("{number}.html")).collect();
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), links_of.as_bytes()))
        .collect();
    let scene = site(&files);
    let page = page(scene.path(), &[]);
    let data = data(&page);
    let found = links(&data);
    assert_eq!(found.len(), 250_000);
    assert_eq!(
        found
            .iter()
            .filter(|(.., reference)| reference == "gone")
            .count(),
        75
    );
    let all = data["targets"].as_array().unwrap().iter();
    let all: u64 = all.map(|target| target[3].as_u64().unwrap()).sum();
    assert_eq!(all, 250_075);
}

/// The marks are under the URL as a terminal shows it: East Asian wide characters take two columns (Unicode Standard
/// Annex #11), combining characters none.
#[test]
fn the_url_is_underlined_under_wide_and_combining_characters() {
    let page = "漢字e\u{301} <a href=\"\u{6f22}e\u{301}.html\">x</a>\n";
    let scene = site(&[("index.html", page.as_bytes())]);
    let (text, _) = check(scene.path(), &["-v"]);
    let lines: Vec<&str> = text.lines().collect();
    // Before the URL: two wide characters (4 columns), `e`, a space and `<a href="` are 15 columns. The URL: a wide
    // character (2), `e` and `.html` are 8.
    assert_eq!(lines[1], format!("  1 | {}", page.trim_end()));
    assert_eq!(
        lines[2],
        format!("    | {}{}", " ".repeat(15), "^".repeat(8))
    );
}

#[cfg(unix)]
mod unix {
    use std::io::Read;
    use std::process::{Child, Stdio};

    use super::*;

    const OLD: &str = "<a href=gone.html>x</a>";
    const FILES: usize = 1_000;

    fn many(page: &str) -> TempDir {
        let names: Vec<_> = (0..FILES)
            .map(|number| format!("{number:04}.html"))
            .collect();
        let mut files: Vec<_> = names
            .iter()
            .map(|name| (&**name, page.as_bytes()))
            .collect();
        files.push(("x.html", b"x"));
        site(&files)
    }

    fn start(scene: &Path, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_baselink"))
            .current_dir(scene)
            .args(["check", "-j", "2", "--url", "http://a.example/docs/"])
            .args(arguments)
            .arg("site")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// An interrupted run leaves no partial baseline for a later run to read.
    #[test]
    fn ctrl_c_while_findings_are_listed_leaves_no_baseline() {
        let scene = many(&OLD.repeat(40));
        let mut child = start(
            scene.path(),
            &["-v", "--update-baseline", "--baseline", "known.jsonl"],
        );
        let mut out = child.stdout.take().unwrap();
        // The program has begun to write, and nobody reads the rest yet.
        out.read_exact(&mut [0; 1]).unwrap();
        interrupt::interrupt(&child);
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (None, &b""[..]));
        let entries: Vec<_> = fs::read_dir(scene.path()).unwrap().collect();
        assert_eq!(entries.len(), 1, "{entries:?}");
    }

    /// A file of the folder is recognized under another name: a hard link, or a path through a symbolic link.
    #[test]
    fn the_report_does_not_overwrite_a_file_by_another_name() {
        let scene = site(&[("index.html", b"<a href=x>")]);
        fs::hard_link(
            scene.path().join("site/index.html"),
            scene.path().join("same"),
        )
        .unwrap();
        std::os::unix::fs::symlink("site", scene.path().join("link")).unwrap();
        for path in ["same", "link/index.html"] {
            let (_, status) = check(scene.path(), &["--report", path]);
            assert_eq!(status, Some(2), "{path}");
        }
        assert_eq!(fs::read(scene.path().join("same")).unwrap(), b"<a href=x>");
    }

    /// Two different names that are not UTF-8 stay different.
    #[test]
    fn a_baseline_distinguishes_names_that_are_not_utf_8() {
        use std::os::unix::ffi::OsStrExt;
        let scene = site(&[("index.html", b"")]);
        for (name, page) in [(b"\xFC.html", "<a href=x>"), (b"\xFD.html", "<a href=y>")] {
            let name = std::ffi::OsStr::from_bytes(name);
            fs::write(scene.path().join("site").join(name), page).unwrap();
        }
        let (_, status) = check(
            scene.path(),
            &["--update-baseline", "--baseline", "known.jsonl"],
        );
        assert_eq!(status, Some(0));
        let known = fs::read_to_string(scene.path().join("known.jsonl")).unwrap();
        assert!(
            known.contains("\"path\":\"\u{fffd}FC.html\"") && known.contains("\u{fffd}FD.html")
        );
        let (found, status) = check(scene.path(), &["--baseline", "known.jsonl"]);
        assert_eq!(
            (&*found, status),
            ("no new link is broken (2 links, 2 accepted)\n", Some(0))
        );
    }

    /// The contents of an unreadable folder are not reported as absent.
    #[test]
    fn an_unreadable_folder_is_an_error_and_its_files_do_not_count_as_missing() {
        use std::os::unix::fs::PermissionsExt;
        let page = b"<a href=closed/x.html>1</a><a href=gone/x.html>2</a>";
        let scene = site(&[("index.html", page), ("closed/x.html", b"")]);
        let closed = scene.path().join("site/closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let is_closed = fs::read_dir(&closed).is_err();
        let (found, status) = check(scene.path(), &["--json"]);
        let [localize, url, list] = ["localize", "-uhttp://a.example/docs/", "--diff"];
        let program = env!("CARGO_BIN_EXE_baselink");
        let mut run = Command::new(program);
        run.current_dir(scene.path())
            .args([localize, url, list, "site"]);
        let localized = run.output().unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
        if !is_closed {
            eprintln!("notice: this user may read everything, so permissions were not tested");
            return;
        }
        assert_eq!(status, Some(2));
        let classes = found
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let classes: Vec<_> = classes.map(|finding| finding["class"].clone()).collect();
        assert_eq!(classes, ["works", "dangling"]);
        let diff = String::from_utf8(localized.stdout).unwrap();
        assert!(
            diff.contains("<a href=closed/x.html>1</a><a href=http://a.example/docs/gone/x.html>")
        );
        assert_eq!(localized.status.code(), Some(2));
    }
}
