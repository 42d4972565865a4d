//! `check` on an archive that lacks some resources reports exactly these.
//!
//! The site has every kind of resource that a page embeds, a redirect to a page, a picture that needs only one of
//! its candidates, and a font with two sources.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

/// The resources of the site: path, media type, body.
const SITE: &[(&str, &str, &str)] = &[
    (
        "/",
        "text/html",
        "<!DOCTYPE html><base href=/docs/><link rel=stylesheet href=main.css><link rel=icon href=/icon.png>\n\
         <script src=main.js></script><img src=dot.gif><iframe src=frame.html></iframe>\n\
         <picture><source srcset='big.webp 2x, small.webp'><img src=small.png></picture>\n\
         <video poster=poster.jpg><source src=film.mp4><source src=film.webm></video>\n\
         <p style='background: url(back.png)'><a href=next.html>next</a> <a href=moved>moved</a>\n\
         <a href=//elsewhere.example/>elsewhere</a> <link rel=canonical href=https://elsewhere.example/>\n",
    ),
    (
        "/docs/main.css",
        "text/css",
        "@import 'print.css';\n@font-face { font-family: a; src: url(a.woff2), url(a.woff) }\n\
         p { background: url(\"/icon.png\") }\n",
    ),
    ("/docs/print.css", "text/css", "p { color: black }\n"),
    (
        "/docs/frame.html",
        "text/html",
        "<!DOCTYPE html><img src=dot.gif>\n",
    ),
    ("/docs/next.html", "text/html", "<!DOCTYPE html><p>next\n"),
    ("/docs/main.js", "text/javascript", "1\n"),
    ("/docs/dot.gif", "image/gif", "GIF89a"),
    ("/docs/back.png", "image/png", "PNG"),
    ("/docs/poster.jpg", "image/jpeg", "JPEG"),
    ("/docs/film.webm", "video/webm", "WebM"),
    ("/docs/small.webp", "image/webp", "WebP"),
    ("/docs/small.png", "image/png", "PNG"),
    ("/docs/a.woff", "font/woff", "WOFF"),
    ("/icon.png", "image/png", "PNG"),
];

fn response(path: &str, status: &str, fields: &str, body: &str) -> String {
    let block = format!("HTTP/1.1 {status}\r\n{fields}\r\n\r\n{body}");
    let length = block.len();
    format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://www.example.org{path}\r\n\
         WARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: application/http; msgtype=response\r\n\
         Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
    )
}

/// The class, cause and target of each link that `check` reports as missing. The archive has no capture of the
/// resource `removed`, or a capture with the given status and an empty body.
fn missing(removed: &str, status: Option<&str>) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = response("/docs/moved", "302 Found", "Location: next.html", "");
    for (path, media_type, body) in SITE {
        let fields = format!("Content-Type: {media_type}");
        match status {
            _ if *path != removed => archive += &response(path, "200 OK", &fields, body),
            Some(status) => archive += &response(path, status, &fields, ""),
            None => {}
        }
    }
    fs::write(folder.path().join("site.warc"), archive).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    command.current_dir(folder.path()).args([
        "check",
        "--config",
        "none",
        "--json",
        "-q",
        "site.warc",
    ]);
    let output = command.output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let found = lines.lines().filter_map(|line| {
        let link: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| link[key].as_str().unwrap_or_default().to_owned();
        let target = text("target").replace("https://www.example.org", "");
        let is_missing = text("class").starts_with("missing");
        is_missing.then(|| format!("{} {} {target}", text("class"), text("cause")))
    });
    let found: BTreeSet<_> = found.collect();
    let is_denied = found.iter().any(|row| row.starts_with("missing "));
    assert_eq!(
        output.status.code(),
        Some(i32::from(is_denied)),
        "{removed}"
    );
    found
}

#[test]
fn exactly_the_removed_resources_are_missing() {
    assert_eq!(missing("", None), BTreeSet::new());
    for (path, ..) in SITE {
        // No other page links to the first one.
        let expected = match *path {
            "/" => BTreeSet::new(),
            "/docs/next.html" => BTreeSet::from([
                format!("missing-page not-captured {path}"),
                "missing-page redirect /docs/moved".to_owned(),
            ]),
            // A picture needs only one of its candidates.
            "/docs/small.png" | "/docs/small.webp" => BTreeSet::new(),
            // The site never has the other source of the film or font.
            "/docs/film.webm" => ["mp4", "webm"]
                .map(|kind| format!("missing not-captured /docs/film.{kind}"))
                .into(),
            "/docs/a.woff" => ["woff", "woff2"]
                .map(|kind| format!("missing not-captured /docs/a.{kind}"))
                .into(),
            _ => BTreeSet::from([format!("missing not-captured {path}")]),
        };
        assert_eq!(missing(path, None), expected, "{path}");
    }
}

#[test]
fn a_missing_resource_has_the_response_as_its_cause() {
    for (status, cause) in [
        ("404 Not Found", "client-error"),
        ("503 Service Unavailable", "server-error"),
        ("206 Partial Content", "no-body"),
        (
            "302 Found\r\nLocation: https://elsewhere.example/",
            "redirect",
        ),
    ] {
        let expected = BTreeSet::from([format!("missing {cause} /docs/main.js")]);
        assert_eq!(missing("/docs/main.js", Some(status)), expected, "{status}");
    }
}
