//! Folders that `localize` makes of archives, opened from disk in Chromium. No page requests a URL from the network that the
//! archive has, and requests for files fail only for the reasons in [`is_refused`].
//!
//! The archives are those in `shared/corpus` that have pages, or those in the folder that `BASELINK_ARCHIVES` names.
//!
//! Deliberately absent: URLs that scripts assemble, which no tool can know. The test ignores requests by scripts, and
//! requests for URLs that are not the target of a link.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::devtools::{Browser, Seen, file_url};
use crate::outside;

/// Observations on the pages of one archive.
#[derive(Debug, Default)]
struct Opened {
    pages: usize,
    local: usize,
    failed: usize,
    network: usize,
    wrong: Vec<String>,
}

/// The time after which the test stops waiting for requests of a page.
const LONGEST: Duration = Duration::from_secs(6);

/// Localizes `archive` to the folder `out`. Returns the URL of each path, or `None` if nothing was written.
fn localized(archive: &Path, out: &Path) -> Option<BTreeMap<String, String>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    command
        .args(["localize", "--config", "none", "-q"])
        .arg(archive)
        .arg("-o")
        .arg(out);
    command.output().unwrap();
    let table = fs::read_to_string(out.join("baselink-map.csv")).ok()?;
    let mut reader = csv_rows(&table);
    assert_eq!(reader.remove(0)[..2], ["path", "url"]);
    Some(
        reader
            .into_iter()
            .map(|row| (row[0].clone(), row[1].clone()))
            .collect(),
    )
}

/// The rows of a table (RFC 4180), whose fields have no line ends here.
fn csv_rows(table: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
        for character in line.chars() {
            match character {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(std::mem::take(&mut field)),
                other => field.push(other),
            }
        }
        fields.push(field);
        fields
    };
    table.lines().map(row).collect()
}

/// The targets of all links in the documents below the folder `path`, whose URL is `url`.
fn targets(path: &Path, url: &str) -> BTreeSet<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    command.args([
        "links",
        "--config",
        "none",
        "-q",
        "--only-targets",
        "--resolver",
        "whatwg",
        "-u",
        url,
    ]);
    let output = command.arg(path).output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// True if Chromium refuses to load a file for a reason that no change to the document can remove. Module scripts
/// and their imports, a `use` of another SVG file and a web app manifest are fetched by CORS, which fails for
/// files.
fn is_refused(url: &str, failure: &str) -> bool {
    let path = url.split(['#', '?']).next().unwrap_or_default();
    let is_by_cors = [".js", ".mjs", ".svg", ".webmanifest", ".json"]
        .iter()
        .any(|end| path.ends_with(end));
    // A picture that the server declared to be a page is a page on disk too.
    is_by_cors && failure.contains("ERR_FAILED") || failure == "not a picture"
}

/// Opens the pages of `folder` in the browser.
fn open(browser: &mut Browser, folder: &Path, urls: &BTreeMap<String, String>) -> Opened {
    let mut opened = Opened::default();
    let targets = targets(folder, &format!("{}/", file_url(folder)));
    let known: BTreeSet<&str> = urls.values().map(String::as_str).collect();
    let without_scheme = |url: &str| url.split_once(':').map(|(_, rest)| rest.to_owned());
    let known_without_scheme: BTreeSet<_> =
        known.iter().filter_map(|url| without_scheme(url)).collect();
    let entry = fs::read_to_string(folder.join("index.html")).unwrap();
    let hrefs = entry
        .split("<li><a href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    for href in hrefs.take(12) {
        let page = format!("{}/{}", file_url(folder), href.replace("&amp;", "&"));
        let Seen {
            requests,
            by_scripts,
        } = browser.open_for(&page, Some(LONGEST));
        opened.pages += 1;
        for (url, failure) in requests
            .into_iter()
            .filter(|(url, _)| targets.contains(url) && !by_scripts.contains(url))
        {
            if url.starts_with("file:") {
                opened.local += 1;
                if let Some(failure) = failure.filter(|failure| !is_refused(&url, failure)) {
                    opened.failed += 1;
                    opened.wrong.push(format!("{page}: {url} fails: {failure}"));
                }
            } else if url.starts_with("http") {
                opened.network += 1;
                let bare = url.split('#').next().unwrap_or_default();
                if known_without_scheme.contains(&without_scheme(bare).unwrap_or_default()) {
                    opened
                        .wrong
                        .push(format!("{page}: asks the network for {url}"));
                }
            }
        }
    }
    opened
}

#[test]
fn archives_open_from_disk() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut archives: Vec<PathBuf> = outside::WARC.files(None);
    archives.extend(outside::ARCHIVES.files(None));
    if let Some(folder) = std::env::var_os("BASELINK_ARCHIVES") {
        archives = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
    }
    let (mut wrong, mut pages) = (Vec::new(), 0);
    for archive in archives {
        let scene = tempfile::tempdir().unwrap();
        let folder = scene.path().join("a #folder");
        let Some(urls) = localized(&archive, &folder) else {
            continue;
        };
        if !folder.join("index.html").is_file() {
            continue;
        }
        let opened = open(&mut browser, &folder, &urls);
        let name = archive.file_name().unwrap().to_string_lossy().into_owned();
        let Opened {
            pages: count,
            local,
            failed,
            network,
            ..
        } = opened;
        println!(
            "{name}: {count} pages, {local} requests to files ({failed} failed), {network} to the network"
        );
        pages += opened.pages;
        wrong.extend(opened.wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(pages > 0 || outside::ARCHIVES.find().is_none(), "{pages}");
}
