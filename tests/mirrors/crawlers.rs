//! Mirrors of a site that is hard to mirror, as crawlers save it: after `localize` each link leads to the file that
//! was saved for its target, or to the network where none was. `fixtures/mirror/site.txt` has the site and says of
//! each link where it leads; what was saved for it is known by the marks in the files.
//!
//! `cargo test --test mirrors crawlers -- --nocapture` prints how many links are right in which mirror.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use baselink::format::Format;
use baselink::resolve::Profile;
use baselink::{LinkReport, Options, rewrite};
use url::Url;

use crate::devtools::{Browser, file_url};
use crate::folder::files;
use crate::outside;
use crate::site::{Resource, Site, mark};

/// The links of a document, as a browser sees them: what is written, and where it leads. Those that declare a base
/// are left out.
fn links(url: &str, is: &str, body: &[u8]) -> Vec<(String, String)> {
    let format = match is {
        "text/html" => Format::Html,
        "text/css" => Format::Css,
        "image/svg+xml" => Format::Svg,
        "application/xhtml+xml" => Format::Xhtml,
        "application/atom+xml" => Format::Xml,
        _ => return Vec::new(),
    };
    // What a crawler says of the page is nothing to a browser.
    let body = String::from_utf8_lossy(body).replace("Mirrored from", "From");
    let options = Options { format, profile: Profile::Whatwg, ..Options::at(url) };
    let report = rewrite(body.as_bytes(), &options).report;
    let is_base = |link: &&LinkReport| {
        link.element == "base" || link.attribute.as_deref() == Some("xml:base")
    };
    let links = report.links.iter().filter(|link| !is_base(link));
    links.map(|link| (link.reference.clone(), link.target.clone().unwrap_or_default())).collect()
}

#[test]
fn the_site_is_what_its_table_says() {
    let site = Site::read();
    let mut count = 0;
    for (url, resource) in site.resources() {
        let links = links(url, &resource.is, resource.body.as_bytes());
        let parsed = |target: &str| Url::parse(target).unwrap();
        let same = |target: &str| target.replace("%c3%a9", "%C3%A9").replace(":80/", "/");
        for ((reference, target), (expected, to)) in links.iter().zip(&resource.links) {
            assert_eq!((reference, parsed(&same(target))), (expected, parsed(to)), "{url}");
        }
        assert_eq!(links.len(), resource.links.len(), "{url}");
        count += links.len();
    }
    assert_eq!(count, 229, "links");
}

/// The text of every file below `folder`, by its path.
fn texts(folder: &Path) -> BTreeMap<PathBuf, String> {
    let text = |(path, bytes): (PathBuf, Vec<u8>)| {
        (folder.join(path), String::from_utf8_lossy(&bytes).into_owned())
    };
    files(folder).into_iter().map(text).collect()
}

/// A link that is wrong: the mark of its document, the reference as the site has it, and a sentence.
type Wrong = (String, String, String);

/// Counts the links of a mirror and lists the wrong ones.
fn wrong(site: &Site, folder: &Path) -> (usize, Vec<Wrong>) {
    let files = texts(folder);
    let saved: BTreeSet<&str> = files.values().filter_map(|text| mark(text)).collect();
    let (mut count, mut wrong) = (0, Vec::new());
    for (path, text) in &files {
        let Some(mark) = mark(text) else { continue };
        let resource = site.of_mark(mark).unwrap();
        let own = Url::from_file_path(path).unwrap();
        // It is the extension that tells a browser what a file is.
        let is_html = path.extension().is_some_and(|extension| extension == "html");
        let is = if is_html { "text/html" } else { &resource.is };
        let found = links(own.as_str(), is, text.as_bytes());
        let place = path.strip_prefix(folder).unwrap().display();
        assert_eq!(found.len(), resource.links.len(), "{place}: {found:?}");
        for ((written, target), (reference, truth)) in found.iter().zip(&resource.links) {
            count += 1;
            if !is_right(site, &files, &saved, target, truth) {
                let sentence = format!("{place}: {written} is {target}, and means {truth}");
                wrong.push((mark.to_owned(), reference.clone(), sentence));
            }
        }
    }
    (count, wrong)
}

/// True if `target` is the file saved for `truth`, or the URL itself if no file was saved.
fn is_right(
    site: &Site,
    files: &BTreeMap<PathBuf, String>,
    saved: &BTreeSet<&str>,
    target: &str,
    truth: &str,
) -> bool {
    let Ok(target) = Url::parse(target) else { return false };
    let (leads_to, fragment) = site.follow(truth);
    let leads_to = leads_to.and_then(Resource::mark);
    let Ok(file) = target.to_file_path() else {
        let is_absent = leads_to.is_none_or(|mark| !saved.contains(mark));
        return is_absent && target == Url::parse(truth).unwrap();
    };
    let there = files.get(&file).and_then(|text| mark(text));
    let is_same = target.fragment().unwrap_or_default() == fragment.unwrap_or_default();
    there.is_some() && there == leads_to && is_same
}

const HOME: &str = "http://www.example.org/";

fn wget(site: &str, folder: &Path, options: &[&str]) {
    let mut command = Command::new("wget");
    command.args(["--no-config", "-q", "-r", "-l", "inf", "-p", "-H", "-e", "robots=off"]);
    command.args(["-D", "www.example.org,static.example.net", "-e", "use_proxy=on", "-e"]);
    command.arg(format!("http_proxy=http://{site}")).args(options).arg(HOME);
    // 8 is that a page was not found, and 3 that there is a file where a folder has to be.
    let status = command.current_dir(folder).stderr(Stdio::null()).status().unwrap();
    assert!(matches!(status.code(), Some(3 | 8)), "{status}");
}

fn httrack(site: &str, folder: &Path) {
    let mut command = Command::new("httrack");
    command.args([HOME, "-O", ".", "-q", "-s0", "-o0", "-%v0", "-%c50", "-%!", "-P", site]);
    command
        .args(["+*.example.org/*", "+*.example.net/*", "-*.example.com/*"])
        .stdout(Stdio::null());
    assert!(command.current_dir(folder).stdin(Stdio::null()).status().unwrap().success());
}

fn localize(folder: &Path, options: &[&str]) -> PathBuf {
    made_by("localize", folder, options)
}

/// Runs a command on a mirror and returns the output folder.
fn made_by(command: &str, folder: &Path, options: &[&str]) -> PathBuf {
    let out = PathBuf::from(format!("{}-{command}", folder.display()));
    let mut baselink = Command::new(env!("CARGO_BIN_EXE_baselink"));
    let command = baselink.arg(command).args(options).arg(folder).arg("-o").arg(&out);
    let output = command.env_clear().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    out
}

/// The links of which `fixtures/mirror/reasons.rows` says why they are wrong in mirrors of these programs.
fn with_a_reason(programs: &[&str]) -> BTreeSet<(String, String)> {
    let rows = fs::read_to_string("fixtures/mirror/reasons.rows").unwrap();
    let rows = rows.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.map(|line| line.split('\t').collect::<Vec<_>>());
    let of_these = rows.filter(|row| programs.contains(&row[0]));
    of_these.map(|row| (row[1].to_owned(), row[2].to_owned())).collect()
}

/// Localizes a mirror. What is wrong then has a reason, and nothing fails that did not fail before.
fn check(
    (site, browser): (&Site, &mut Option<Browser>),
    name: &str,
    folder: &Path,
    options: &[&str],
    reasons: &[&str],
) {
    let (count, before) = wrong(site, folder);
    let out = localize(folder, options);
    let (same, after) = wrong(site, &out);
    let (before, number) = (before.len(), after.len());
    println!("{name}: {count} links, {before} wrong; localized {same}, {number} wrong");
    let known = with_a_reason(reasons);
    let unknown = after
        .iter()
        .filter(|(mark, reference, _)| !known.contains(&(mark.clone(), reference.clone())));
    let unknown: Vec<_> = unknown.map(|(.., sentence)| sentence).collect();
    assert!(unknown.is_empty(), "{name}: {unknown:#?}");
    let again = localize(&out, options);
    let (once, twice) = (files(&out), files(&again));
    for (path, bytes) in &once {
        let now = twice.get(path).map(|bytes| String::from_utf8_lossy(bytes));
        assert_eq!(Some(String::from_utf8_lossy(bytes)), now, "{name}: {}", path.display());
    }
    assert_eq!(once.len(), twice.len(), "{name}");
    if let Some(browser) = browser {
        let (before, after) = (failed(browser, folder), failed(browser, &out));
        println!("    requests for files that fail in Chromium: {before}, localized {after}");
        assert!(after <= before, "{name}");
    }
}

/// Counts the missing files that Chromium requests when it opens the pages of a mirror that have pictures, style sheets
/// and frames.
fn failed(browser: &mut Browser, folder: &Path) -> usize {
    const PAGES: [&str; 7] = ["home", "docs", "one", "media", "frames", "static", "xhtml"];
    let files = texts(folder);
    let pages = files.iter().filter(|(path, text)| {
        let is_html = path.extension().is_some_and(|extension| extension == "html");
        is_html && mark(text).is_some_and(|mark| PAGES.contains(&mark))
    });
    let requests = pages.flat_map(|(path, _)| browser.open(&file_url(path)).requests);
    requests.filter(|(url, failure)| url.starts_with("file:") && failure.is_some()).count()
}

const LAYOUT: &[&str] = &["--layout", "host:http"];

#[test]
fn every_link_of_a_mirror_by_wget() {
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
        // Nothing has to be said where the files say where they are from.
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
        let name = format!("wget {} | localize {}", options.join(" "), arguments.join(" "));
        check((&site, &mut browser), &name, &folder, arguments, reasons);
        if options.contains(&"-k") {
            check_between_hosts(&site, &name, &folder);
        }
    }
}

/// Makes the links of a mirror absolute. Those to what was saved of another host lead to that host then (bug 57), or to one
/// that redirects there; crawlers have names of their own for the file.
fn check_between_hosts(site: &Site, name: &str, folder: &Path) {
    let out = made_by("rewrite", folder, &[LAYOUT, &["--index", "index.html"]].concat());
    let files = texts(&out);
    let saved: BTreeSet<&str> = files.values().filter_map(|text| mark(text)).collect();
    let host = |url: &str| Url::parse(url).unwrap().host_str().map(str::to_owned);
    let (mut count, mut astray) = (0, Vec::new());
    for (path, text) in &files {
        let Some(resource) = mark(text).and_then(|mark| site.of_mark(mark)) else { continue };
        let own = Url::from_file_path(path).unwrap();
        let own_host = path.strip_prefix(&out).unwrap().iter().next().unwrap().to_str();
        let found = links(own.as_str(), &resource.is, text.as_bytes());
        for ((_, target), (reference, truth)) in found.iter().zip(&resource.links) {
            let leads_to = site.follow(truth).0.and_then(Resource::mark);
            let is_saved = leads_to.is_some_and(|mark| saved.contains(mark));
            if !is_saved || host(truth).as_deref() == own_host {
                continue;
            }
            count += 1;
            let home = site.resources().find(|(_, resource)| resource.mark() == leads_to);
            let is_right = [truth.as_str(), home.unwrap().0].map(host).contains(&host(target));
            if !is_right || target.contains("..") {
                astray.push(format!("{}: {reference} is {target}", path.display()));
            }
        }
    }
    println!("    {count} links between hosts");
    assert!(count > 10 && astray.is_empty(), "{name}: {astray:#?} of {count}");
}

/// True if the file system keeps the attributes that wget writes.
fn has_attributes(folder: &Path) -> bool {
    let home = folder.join("www.example.org/index.html");
    let found = ["", ".html"].map(|end| {
        let path = format!("{}{end}", home.display());
        xattr::get(path, "user.xdg.origin.url").ok().flatten().is_some()
    });
    found.contains(&true)
}

#[test]
fn every_link_of_a_mirror_by_httrack() {
    if !outside::is_installed("httrack") {
        return;
    }
    let site = Arc::new(Site::read());
    let scene = tempfile::tempdir().unwrap();
    let folder = scene.path().join("crawl");
    fs::create_dir(&folder).unwrap();
    httrack(&site.serve(), &folder);
    let mut browser = Browser::start();
    check((&site, &mut browser), "httrack | localize", &folder, LAYOUT, &["httrack"]);
    check_between_hosts(&site, "httrack", &folder);
}
