//! Mirrors of a site that is hard to mirror, as crawlers save it. After `localize`, each link leads to the file
//! that was saved for its target, or to the network if there is none. `fixtures/mirror/site.txt` contains the site
//! with the target of each link; marks in the files identify their origin.
//!
//! `cargo test --test mirrors crawlers -- --nocapture` prints the number of correct links for each mirror.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use baselink::LinkReport;
use baselink_rewrite::{Options, rewrite};
use baselink_text::format::Format;
use baselink_url::Resolver;
use url::Url;

use crate::devtools::{Browser, file_url};
use crate::folder::files;
use crate::outside;
use crate::site::{Resource, Site, mark};

/// The links of a document as a browser sees them: reference and target. Links that declare a base are omitted.
fn links(url: &str, media_type: &str, body: &[u8]) -> Vec<(String, String)> {
    let format = match media_type {
        "text/html" => Format::Html,
        "text/css" => Format::Css,
        "image/svg+xml" => Format::Svg,
        "application/xhtml+xml" => Format::Xhtml,
        "application/atom+xml" => Format::Xml,
        _ => return Vec::new(),
    };
    // Browsers ignore a crawler's comment about the page.
    let body = String::from_utf8_lossy(body).replace("Mirrored from", "From");
    let options = Options {
        format,
        resolver: Resolver::Whatwg,
        ..Options::at(url)
    };
    let report = rewrite(body.as_bytes(), &options).report;
    let is_base = |link: &&LinkReport| {
        link.element == "base" || link.attribute.as_deref() == Some("xml:base")
    };
    let links = report.links.iter().filter(|link| !is_base(link));
    links
        .map(|link| {
            (
                link.reference.clone(),
                link.target.clone().unwrap_or_default(),
            )
        })
        .collect()
}

#[test]
fn the_site_matches_its_table() {
    let site = Site::read();
    let mut count = 0;
    for (url, resource) in site.resources() {
        let links = links(url, &resource.header_value, resource.body.as_bytes());
        let parsed = |target: &str| Url::parse(target).unwrap();
        let normalized = |target: &str| target.replace("%c3%a9", "%C3%A9").replace(":80/", "/");
        for ((reference, target), (expected, to)) in links.iter().zip(&resource.links) {
            assert_eq!(
                (reference, parsed(&normalized(target))),
                (expected, parsed(to)),
                "{url}"
            );
        }
        assert_eq!(links.len(), resource.links.len(), "{url}");
        count += links.len();
    }
    assert_eq!(count, 229, "links");
}

/// The text of every file below `folder`, by its path.
fn texts(folder: &Path) -> BTreeMap<PathBuf, String> {
    let text = |(path, bytes): (PathBuf, Vec<u8>)| {
        (
            folder.join(path),
            String::from_utf8_lossy(&bytes).into_owned(),
        )
    };
    files(folder).into_iter().map(text).collect()
}

/// A wrong link: the mark of its document, the reference in the site, and a description.
type Wrong = (String, String, String);

/// The number of links in a mirror, and the wrong links.
fn wrong_links(site: &Site, folder: &Path) -> (usize, Vec<Wrong>) {
    let files = texts(folder);
    let saved: BTreeSet<&str> = files.values().filter_map(|text| mark(text)).collect();
    let (mut count, mut wrong) = (0, Vec::new());
    for (path, text) in &files {
        let Some(mark) = mark(text) else { continue };
        let resource = site.of_mark(mark).unwrap();
        let own = Url::from_file_path(path).unwrap();
        // Browsers determine the type of a file by its extension.
        let is_html = path
            .extension()
            .is_some_and(|extension| extension == "html");
        let media_type = if is_html {
            "text/html"
        } else {
            &resource.header_value
        };
        let found = links(own.as_str(), media_type, text.as_bytes());
        let place = path.strip_prefix(folder).unwrap().display();
        assert_eq!(found.len(), resource.links.len(), "{place}: {found:?}");
        for ((written, target), (reference, truth)) in found.iter().zip(&resource.links) {
            count += 1;
            if !is_right(site, &files, &saved, target, truth) {
                let description = format!("{place}: {written} is {target}, and means {truth}");
                wrong.push((mark.to_owned(), reference.clone(), description));
            }
        }
    }
    (count, wrong)
}

/// True if `target` is the file that was saved for `truth`, or the URL itself if no file was saved.
fn is_right(
    site: &Site,
    files: &BTreeMap<PathBuf, String>,
    saved: &BTreeSet<&str>,
    target: &str,
    truth: &str,
) -> bool {
    let Ok(target) = Url::parse(target) else {
        return false;
    };
    let (leads_to, fragment) = site.follow(truth);
    let leads_to = leads_to.and_then(Resource::mark);
    let Ok(file) = target.to_file_path() else {
        let is_absent = leads_to.is_none_or(|mark| !saved.contains(mark));
        return is_absent && target == Url::parse(truth).unwrap();
    };
    let found = files.get(&file).and_then(|text| mark(text));
    let is_same = target.fragment().unwrap_or_default() == fragment.unwrap_or_default();
    found.is_some() && found == leads_to && is_same
}

const HOME: &str = "http://www.example.org/";

fn wget(site: &str, folder: &Path, options: &[&str]) {
    let mut command = Command::new("wget");
    command.args([
        "--no-config",
        "-q",
        "-r",
        "-l",
        "inf",
        "-p",
        "-H",
        "-e",
        "robots=off",
    ]);
    command.args([
        "-D",
        "www.example.org,static.example.net",
        "-e",
        "use_proxy=on",
        "-e",
    ]);
    command
        .arg(format!("http_proxy=http://{site}"))
        .args(options)
        .arg(HOME);
    // Status 8: a page was not found. Status 3: a file has the name of a folder that wget needs.
    let status = command
        .current_dir(folder)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(matches!(status.code(), Some(3 | 8)), "{status}");
}

fn httrack(site: &str, folder: &Path) {
    let mut command = Command::new("httrack");
    command.args([
        HOME, "-O", ".", "-q", "-s0", "-o0", "-%v0", "-%c0", "-%!", "-P", site,
    ]);
    command
        .args(["+*.example.org/*", "+*.example.net/*", "-*.example.com/*"])
        .stdout(Stdio::null());
    assert!(
        command
            .current_dir(folder)
            .stdin(Stdio::null())
            .status()
            .unwrap()
            .success()
    );
}

fn localize(folder: &Path, options: &[&str]) -> PathBuf {
    output_of("localize", folder, options)
}

/// The output folder of `command` for the mirror in `folder`.
fn output_of(command: &str, folder: &Path, options: &[&str]) -> PathBuf {
    let out = PathBuf::from(format!("{}-{command}", folder.display()));
    let mut baselink = Command::new(env!("CARGO_BIN_EXE_baselink"));
    let command = baselink
        .arg(command)
        .args(options)
        .arg(folder)
        .arg("-o")
        .arg(&out);
    let output = command.env_clear().output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    out
}

/// The wrong links in mirrors of `programs` that `fixtures/mirror/reasons.rows` explains.
fn explained(programs: &[&str]) -> BTreeSet<(String, String)> {
    let rows = fs::read_to_string("fixtures/mirror/reasons.rows").unwrap();
    let rows = rows.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.map(|line| line.split('\t').collect::<Vec<_>>());
    let of_these = rows.filter(|row| programs.contains(&row[0]));
    of_these
        .map(|row| (row[1].to_owned(), row[2].to_owned()))
        .collect()
}

/// Localizes a mirror. Every link that is wrong afterwards has an explanation, and no more requests fail than before.
fn check(
    (site, browser): (&Site, &mut Option<Browser>),
    name: &str,
    folder: &Path,
    options: &[&str],
    reasons: &[&str],
) {
    let (count, before) = wrong_links(site, folder);
    let out = localize(folder, options);
    let (count_after, after) = wrong_links(site, &out);
    let (before, number) = (before.len(), after.len());
    println!("{name}: {count} links, {before} wrong; localized {count_after}, {number} wrong");
    let known = explained(reasons);
    let unknown = after
        .iter()
        .filter(|(mark, reference, _)| !known.contains(&(mark.clone(), reference.clone())));
    let unknown: Vec<_> = unknown.map(|(.., description)| description).collect();
    assert!(unknown.is_empty(), "{name}: {unknown:#?}");
    let again = localize(&out, options);
    let (once, twice) = (files(&out), files(&again));
    for (path, bytes) in &once {
        let now = twice.get(path).map(|bytes| String::from_utf8_lossy(bytes));
        assert_eq!(
            Some(String::from_utf8_lossy(bytes)),
            now,
            "{name}: {}",
            path.display()
        );
    }
    assert_eq!(once.len(), twice.len(), "{name}");
    if let Some(browser) = browser {
        let (before, after) = (failed(browser, folder), failed(browser, &out));
        println!("    requests for files that fail in Chromium: {before}, localized {after}");
        assert!(after <= before, "{name}");
    }
}

/// The number of missing files that Chromium requests when it opens those pages of a mirror that have pictures,
/// style sheets and frames.
fn failed(browser: &mut Browser, folder: &Path) -> usize {
    const PAGES: [&str; 7] = ["home", "docs", "one", "media", "frames", "static", "xhtml"];
    let files = texts(folder);
    let pages = files.iter().filter(|(path, text)| {
        let is_html = path
            .extension()
            .is_some_and(|extension| extension == "html");
        is_html && mark(text).is_some_and(|mark| PAGES.contains(&mark))
    });
    let requests = pages.flat_map(|(path, _)| browser.open(&file_url(path)).requests);
    requests
        .filter(|(url, failure)| url.starts_with("file:") && failure.is_some())
        .count()
}

const LAYOUT: &[&str] = &["--layout", "host:http"];

#[test]
fn links_of_mirrors_by_wget_lead_to_saved_files() {
    if !outside::is_installed("wget") {
        return;
    }
    let site = Arc::new(Site::read());
    let (address, mut browser) = (site.serve(), Browser::start());
    for (options, arguments, reasons) in [
        (&[][..], LAYOUT, &["wget", "wget*"][..]),
        (&["-E"], LAYOUT, &["wget", "wget*"]),
        (&["-k"], LAYOUT, &["wget*"]),
        (&["-E", "-k"], LAYOUT, &["wget*"]),
        // If the files record their URLs, no option is needed.
        (&["--xattr"], &[], &["wget*"]),
        (&["-E", "--xattr"], &[], &["wget*"]),
        (&["-E", "--xattr"], LAYOUT, &["wget*"]),
    ] {
        let scene = tempfile::tempdir().unwrap();
        let folder = scene.path().join("crawl");
        fs::create_dir(&folder).unwrap();
        wget(&address, &folder, options);
        if options.contains(&"--xattr") && !has_attributes(&folder) {
            println!("notice: there are no extended attributes here");
            continue;
        }
        let name = format!(
            "wget {} | localize {}",
            options.join(" "),
            arguments.join(" ")
        );
        check((&site, &mut browser), &name, &folder, arguments, reasons);
        if options.contains(&"-k") {
            check_between_hosts(&site, &name, &folder);
        }
    }
}

/// Makes the links of a mirror absolute. A link to a file saved from another host then leads to that host (bug 57), or
/// to a host that redirects there. Paths are not compared, because crawlers choose their own names.
fn check_between_hosts(site: &Site, name: &str, folder: &Path) {
    let out = output_of(
        "rewrite",
        folder,
        &[LAYOUT, &["--index", "index.html"]].concat(),
    );
    let files = texts(&out);
    let saved: BTreeSet<&str> = files.values().filter_map(|text| mark(text)).collect();
    let host = |url: &str| Url::parse(url).unwrap().host_str().map(str::to_owned);
    let (mut count, mut wrong) = (0, Vec::new());
    for (path, text) in &files {
        let Some(resource) = mark(text).and_then(|mark| site.of_mark(mark)) else {
            continue;
        };
        let own = Url::from_file_path(path).unwrap();
        let own_host = path
            .strip_prefix(&out)
            .unwrap()
            .iter()
            .next()
            .unwrap()
            .to_str();
        let found = links(own.as_str(), &resource.header_value, text.as_bytes());
        for ((_, target), (reference, truth)) in found.iter().zip(&resource.links) {
            let leads_to = site.follow(truth).0.and_then(Resource::mark);
            let is_saved = leads_to.is_some_and(|mark| saved.contains(mark));
            if !is_saved || host(truth).as_deref() == own_host {
                continue;
            }
            count += 1;
            let home = site
                .resources()
                .find(|(_, resource)| resource.mark() == leads_to);
            let is_right = [truth.as_str(), home.unwrap().0]
                .map(host)
                .contains(&host(target));
            if !is_right || target.contains("..") {
                wrong.push(format!("{}: {reference} is {target}", path.display()));
            }
        }
    }
    println!("    {count} links between hosts");
    assert!(
        count > 10 && wrong.is_empty(),
        "{name}: {wrong:#?} of {count}"
    );
}

/// True if the file system stores the attributes that wget writes.
fn has_attributes(folder: &Path) -> bool {
    let home = folder.join("www.example.org/index.html");
    let found = ["", ".html"].map(|end| {
        let path = format!("{}{end}", home.display());
        xattr::get(path, "user.xdg.origin.url")
            .ok()
            .flatten()
            .is_some()
    });
    found.contains(&true)
}

#[test]
fn links_of_a_mirror_by_httrack_lead_to_saved_files() {
    if !outside::is_installed("httrack") {
        return;
    }
    let site = Arc::new(Site::read());
    let scene = tempfile::tempdir().unwrap();
    let folder = scene.path().join("crawl");
    fs::create_dir(&folder).unwrap();
    httrack(&site.serve(), &folder);
    let mut browser = Browser::start();
    check(
        (&site, &mut browser),
        "httrack | localize",
        &folder,
        LAYOUT,
        &["httrack"],
    );
    check_between_hosts(&site, "httrack", &folder);
}
