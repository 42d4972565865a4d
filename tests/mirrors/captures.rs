//! Folders that `localize` makes of random archives: every link of every document leads where it should.
//!
//! The test generates an archive with captures of URLs that clash, repeat and redirect to each other. A simple model
//! with the crate `url` determines which capture of each URL counts and where each link leads (RFC 9110, 15; URL
//! Standard).
//!
//! Deliberately absent: captures of one URL with the same date, where the later record wins.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use url::Url;

use crate::folder::files;

const HOSTS: [&str; 6] = [
    "http://a.example",
    "https://a.example",
    "http://A.example:80",
    "http://a.example:8080",
    "https://b.example",
    "http://index.html",
];
const PATHS: [&str; 24] = [
    "",
    "/",
    "/docs",
    "/docs/",
    "/docs/x",
    "/docs/X",
    "/docs/%78",
    "/docs/./x",
    "/docs/x?q=1",
    "/docs/x?q=1&r=2",
    "/docs/x?r=2&q=1",
    "/docs/x@q=1",
    "/docs/x/y",
    "/index.html",
    "/index.html/y",
    "/d%C3%A9",
    "/de%CC%81",
    "/con",
    "/a:b",
    "/a%2Fb",
    "/a/b",
    "/.hidden",
    "/x.css",
    "/x.png?v=3",
];
const REFERENCES: [&str; 16] = [
    "",
    "#top",
    "x",
    "X#top",
    "../docs/x",
    "./x/y",
    "?q=1",
    "?r=2&q=1#top",
    "/docs",
    "/docs/",
    "//b.example/docs/x",
    "../../../index.html",
    "a:b",
    "./a:b",
    "de%CC%81",
    "mailto:a@b.example",
];

/// A record of the archive, in the order of dates.
#[derive(Clone, Debug)]
struct Captured {
    url: String,
    status: u16,
    media_type: &'static str,
    location: String,
    base: Option<String>,
    links: Vec<String>,
}

fn url() -> impl Strategy<Value = String> {
    (
        prop::sample::select(HOSTS.to_vec()),
        prop::sample::select(PATHS.to_vec()),
    )
        .prop_map(|(host, path)| format!("{host}{path}"))
}

fn reference() -> impl Strategy<Value = String> {
    prop_oneof![
        url(),
        prop::sample::select(REFERENCES.to_vec()).prop_map(str::to_owned)
    ]
}

fn captured() -> impl Strategy<Value = Captured> {
    let status = vec![
        200, 200, 200, 200, 200, 201, 204, 206, 301, 302, 303, 307, 304, 404, 503,
    ];
    let media_types = vec!["text/html", "text/html", "text/css", "image/png"];
    (
        url(),
        prop::sample::select(status),
        prop::sample::select(media_types),
        reference(),
        prop::option::weighted(0.2, reference()),
        prop::collection::vec(reference(), 0..6),
    )
        .prop_map(|(url, status, media_type, location, base, links)| {
            // Unusable bases have rules of their own.
            let base = base.filter(|base| !base.starts_with(['m', '#']) && !base.contains("a:b"));
            Captured {
                url,
                status,
                media_type,
                location,
                base,
                links,
            }
        })
}

/// The body of the capture with this number.
fn body(number: usize, captured: &Captured) -> String {
    let mut body = String::new();
    match captured.media_type {
        "text/html" => {
            write!(body, "<!--{number};-->").unwrap();
            let escaped = |text: &str| text.replace('&', "&amp;");
            if let Some(base) = &captured.base {
                write!(body, "<base href=\"{}\">", escaped(base)).unwrap();
            }
            for link in &captured.links {
                write!(body, "<a href=\"{}\">", escaped(link)).unwrap();
            }
        }
        "text/css" => {
            write!(body, "/*{number};*/").unwrap();
            captured
                .links
                .iter()
                .for_each(|link| write!(body, "@import \"{link}\";").unwrap());
        }
        _ => write!(body, "{number};").unwrap(),
    }
    body
}

fn record(number: usize, captured: &Captured) -> String {
    let is_redirect = (300..400).contains(&captured.status);
    let location = if is_redirect {
        format!("Location: {}\r\n", captured.location)
    } else {
        String::new()
    };
    let block = format!(
        "HTTP/1.1 {} X\r\nContent-Type: {}\r\n{location}\r\n{}",
        captured.status,
        captured.media_type,
        body(number, captured)
    );
    format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Target-URI: {}\r\n\
         WARC-Date: 2026-01-01T00:00:{number:02}Z\r\nContent-Type: application/http; msgtype=response\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        captured.url,
        block.len()
    )
}

/// The common form of URLs with the same meaning: no fragment, and no escapes of unreserved characters (RFC 3986,
/// 6.2.2.2).
fn key(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let mut key = url.to_string();
    for byte in (b'a'..=b'z')
        .chain(b'A'..=b'Z')
        .chain(b'0'..=b'9')
        .chain(*b"-._~")
    {
        key = key.replace(&format!("%{byte:02X}"), &char::from(byte).to_string());
    }
    key
}

/// The model of the archive: the number of the capture that counts, by key.
struct Model<'a> {
    captured: &'a [Captured],
    best: BTreeMap<String, usize>,
}

fn is_redirect(captured: &Captured) -> bool {
    matches!(captured.status, 300 | 301 | 302 | 303 | 307 | 308)
}

fn is_resource(captured: &Captured) -> bool {
    matches!(captured.status, 200 | 201)
}

impl<'a> Model<'a> {
    fn of(captured: &'a [Captured]) -> Self {
        let rank = |number: &usize| match &captured[*number] {
            capture if is_resource(capture) => 2,
            capture if is_redirect(capture) => 1,
            _ => 0,
        };
        let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, capture) in captured.iter().enumerate() {
            all.entry(key(&Url::parse(&capture.url).unwrap()))
                .or_default()
                .push(number);
        }
        let best = |numbers: Vec<usize>| {
            numbers
                .into_iter()
                .max_by_key(|number| (rank(number), *number))
        };
        let best = all
            .into_iter()
            .map(|(key, numbers)| (key, best(numbers).unwrap()))
            .collect();
        Self { captured, best }
    }

    /// The captures that become files.
    fn resources(&self) -> BTreeMap<&str, usize> {
        let own = self.best.iter().map(|(key, number)| (&**key, *number));
        own.filter(|(_, number)| is_resource(&self.captured[*number]))
            .collect()
    }

    /// The captures of `url`, and of the same URL with https in place of http or the reverse.
    fn both(&self, url: &Url) -> [Option<usize>; 2] {
        let own = key(url);
        let other = match own.split_once(':') {
            Some(("http", rest)) => format!("https:{rest}"),
            Some(("https", rest)) => format!("http:{rest}"),
            _ => return [None, None],
        };
        [own, other].map(|key| self.best.get(&key).copied())
    }

    /// The capture that `url` leads to after all redirects.
    fn end(&self, url: &Url) -> Option<usize> {
        Some(self.end_and_fragment(url)?.0)
    }

    /// The fragment of the last location that has one, or else that of `url` (Fetch Standard, HTTP-redirect fetch).
    fn fragment(&self, url: &Url) -> Option<String> {
        let redirected = self
            .end_and_fragment(url)
            .and_then(|(_, fragment)| fragment);
        redirected.or_else(|| url.fragment().map(str::to_owned))
    }

    fn end_and_fragment(&self, url: &Url) -> Option<(usize, Option<String>)> {
        self.both(url)
            .into_iter()
            .flatten()
            .find_map(|number| self.follow(number))
    }

    fn follow(&self, mut number: usize) -> Option<(usize, Option<String>)> {
        let mut fragment = None;
        for _ in 0..=20 {
            let capture = &self.captured[number];
            if is_resource(capture) {
                return Some((number, fragment));
            }
            if !is_redirect(capture) {
                return None;
            }
            let next = Url::parse(&capture.url)
                .unwrap()
                .join(&capture.location)
                .ok()?;
            fragment = next.fragment().map(str::to_owned).or(fragment);
            let is_usable = |number: &usize| {
                is_resource(&self.captured[*number]) || is_redirect(&self.captured[*number])
            };
            number = self.both(&next).into_iter().flatten().find(is_usable)?;
        }
        None
    }
}

fn localize(folder: &Path, line: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    command
        .current_dir(folder)
        .args(["localize", "--config", "none", "-q"])
        .args(line.split(' '));
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 2)), "{output:?}");
}

/// The references in a document that [`body`] wrote.
fn references(text: &str) -> Vec<String> {
    let begin = if text.starts_with('<') {
        "<a href=\""
    } else {
        "@import \""
    };
    let values = text
        .split(begin)
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    values.map(|value| value.replace("&amp;", "&")).collect()
}

/// The files below `folder`, which a run without captures does not make.
fn written(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    match folder.exists() {
        true => files(folder),
        false => BTreeMap::new(),
    }
}

/// Checks that the files of `out` are the captures of the model, and that their links lead where the model says.
fn check_folder(captured: &[Captured], out: &Path) -> Result<(), TestCaseError> {
    let model = Model::of(captured);
    let mut written_files = written(out);
    let expected = model.resources();
    if expected.is_empty() {
        let names: Vec<_> = written_files.keys().collect();
        prop_assert!(names.is_empty(), "{:?}", names);
        return Ok(());
    }
    let table = written_files.remove(Path::new("baselink-map.csv")).unwrap();
    written_files.remove(Path::new("index.html")).unwrap();
    let mut paths: BTreeMap<usize, PathBuf> = BTreeMap::new();
    let mut reader = csv::Reader::from_reader(&*table);
    for row in reader.records() {
        let row = row.unwrap();
        let key = key(&Url::parse(&row[1]).unwrap());
        let number = expected.get(&*key).copied();
        prop_assert!(number.is_some(), "{:?} is not to be a file", row);
        prop_assert_eq!(paths.insert(number.unwrap(), PathBuf::from(&row[0])), None);
    }
    prop_assert_eq!(paths.len(), expected.len());
    prop_assert_eq!(
        paths.values().collect::<BTreeSet<_>>(),
        written_files.keys().collect::<BTreeSet<_>>()
    );
    let root = Url::from_directory_path(out).unwrap();
    for (&number, path) in &paths {
        let capture = &captured[number];
        let text = String::from_utf8(written_files[path].clone()).unwrap();
        prop_assert!(
            text.contains(&format!("{number};")),
            "{} has another capture: {text}",
            path.display()
        );
        let written = references(&text);
        if capture.media_type == "image/png" {
            continue;
        }
        prop_assert_eq!(written.len(), capture.links.len(), "{}", text);
        let mut base = Url::parse(&capture.url).unwrap();
        if let Some(href) = capture
            .base
            .as_ref()
            .filter(|_| capture.media_type == "text/html")
        {
            base = base.join(href).unwrap();
        }
        let here = Url::from_file_path(out.join(path)).unwrap();
        for (link, written) in capture.links.iter().zip(written) {
            let target = base.join(link).unwrap();
            let actual = here.join(&written).unwrap();
            let fragment = model.fragment(&target);
            prop_assert_eq!(
                actual.fragment(),
                fragment.as_deref(),
                "{} is {}",
                link,
                written
            );
            match model.end(&target) {
                None => prop_assert_eq!(Url::parse(&written).ok(), Some(target), "{}", link),
                Some(end) => {
                    prop_assert!(
                        actual.as_str().starts_with(root.as_str()),
                        "{target} is {written}"
                    );
                    prop_assert_eq!(actual.query(), None, "{} is {}", target, written);
                    prop_assert_eq!(
                        actual.to_file_path().unwrap(),
                        out.join(&paths[&end]),
                        "{} is {}",
                        target,
                        written
                    );
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_link_leads_to_the_file_of_its_target_or_to_the_network(
        captured in prop::collection::vec(captured(), 1..30),
        order in any::<[u8; 30]>(),
    ) {
        let scene = tempfile::tempdir().unwrap();
        let here = fs::canonicalize(scene.path()).unwrap();
        let records: Vec<String> = captured.iter().enumerate().map(|(number, capture)| record(number, capture)).collect();
        fs::write(here.join("a.warc"), records.concat()).unwrap();
        localize(&here, "-j 1 a.warc -o one");
        check_folder(&captured, &here.join("one"))?;
        let expected = written(&here.join("one"));
        localize(&here, "-j 1 a.warc -o one");
        prop_assert!(written(&here.join("one")) == expected, "a second run makes another folder");
        let mut shuffled: Vec<usize> = (0..records.len()).collect();
        shuffled.sort_by_key(|&number| order[number]);
        let shuffled: Vec<&str> = shuffled.iter().map(|&number| &*records[number]).collect();
        fs::write(here.join("a.warc"), shuffled.concat()).unwrap();
        localize(&here, "-j 4 a.warc -o other");
        prop_assert!(written(&here.join("other")) == expected, "another order makes another folder");
        let (first, second) = shuffled.split_at(shuffled.len() / 2);
        fs::write(here.join("a.warc"), first.concat()).unwrap();
        fs::write(here.join("b.warc"), second.concat()).unwrap();
        localize(&here, "a.warc b.warc -o two");
        let without_names = |folder: &str| {
            let mut found = written(&here.join(folder));
            found.remove(Path::new("index.html"));
            found
        };
        prop_assert!(without_names("two") == without_names("one"), "two archives make another folder");
    }
}

/// Bug 109: all files of a record were open at the same time, which exceeded the limit of open files.
#[test]
#[cfg(unix)]
fn one_body_may_belong_to_many_urls() {
    let scene = tempfile::tempdir().unwrap();
    let record = |number: usize| {
        let (kind, body) = if number == 0 {
            ("response", "text")
        } else {
            ("revisit", "")
        };
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}");
        format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/{number}\r\nWARC-Payload-Digest: sha1:A\r\n\
             Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    fs::write(
        scene.path().join("a.warc"),
        (0..600).map(record).collect::<String>(),
    )
    .unwrap();
    let script = "ulimit -n 256 && \"$0\" localize --config none -q a.warc -o out";
    let mut limited = Command::new("sh");
    limited
        .args(["-c", script, env!("CARGO_BIN_EXE_baselink")])
        .current_dir(scene.path());
    assert!(limited.status().unwrap().success());
    let written = files(&scene.path().join("out"));
    assert_eq!(
        written.values().filter(|bytes| **bytes == b"text").count(),
        600
    );
}
