//! Bug 150: no link of a copy leads out of its folder, whatever its form and the source of the page.
//!
//! Each page has references in several places, and possibly a `base`. The crate `url` resolves every reference of the
//! copy as a browser would from disk (URL Standard, 4.4). The result is a URL in the folder, a URL of another scheme, or
//! none.
//!
//! Deliberately absent: where a link leads instead, which the cases `bug-150` to `bug-155` of the command line show.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use url::Url;

use crate::folder::files;

/// References without quotes, parentheses and `<`, so that every place can contain them.
const REFERENCES: [&str; 42] = [
    "x.html",
    "../x",
    "../../../etc/passwd",
    "../../../etc/passwd?{{x}}",
    "../../../../../../..",
    "a/../../../../../x",
    ".././/.././../../x",
    "/x",
    "/sub/p.html",
    "/{{x}}",
    "//srv/x",
    "//srv/../../x",
    "//{{h}}/x",
    "///etc/passwd",
    "////etc/passwd",
    r"\\srv\x",
    r"/\srv/x",
    r"\etc\passwd",
    r"..\..\..\..\etc",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "file:/etc/passwd",
    "file:../../../x",
    "file://srv/x",
    "fi\tle:///etc/passwd",
    " file:///etc/passwd",
    "c:/x",
    "C|/x",
    "/C:/x",
    "%2e%2e/%2E./.%2e/.%2e/x",
    "..%2f..%2f..%2f..%2fx",
    "..%5c..%5c..%5c..%5cx",
    "{{x}}/../../../../x",
    "..\t/..\t/../../..\t/x",
    "x_files/../../../../x",
    "http:../../x",
    "https:x",
    "#top",
    "?q",
    "",
    "../../é",
    "mailto:a@h",
];

const BASES: [&str; 12] = [
    "",
    "../",
    "/",
    "/etc/",
    "//srv/",
    "file:///etc/",
    "{{x}}/",
    "/etc/{{x}}/",
    "../../../{{x}}/",
    "https://a/{{x}}/",
    "mailto:x",
    "http://h:99999/",
];

/// A page with each of `references` before and after its base.
fn page(references: &[&str], base: &str) -> String {
    let escaped = |reference: &str| -> String {
        reference
            .chars()
            .map(|one| format!("&#{};", u32::from(one)))
            .collect()
    };
    let css = |reference: &str| -> String {
        reference
            .chars()
            .map(|one| format!("\\{:x} ", u32::from(one)))
            .collect()
    };
    let mut page = String::new();
    for reference in references {
        page += &format!("<script src=\"{}\"></script>\n", escaped(reference));
    }
    if !base.is_empty() {
        page += &format!("<base href=\"{base}\">\n");
    }
    for reference in references {
        page += &format!(
            "<a href=\"{reference}\">a</a><iframe src=\"{}\"></iframe>\n\
             <style>p {{ background: url(\"{}\") }}</style><iframe srcdoc=\"<img src='{reference}'>\"></iframe>\n",
            escaped(reference),
            css(reference)
        );
    }
    page
}

/// The pages, each with its path: one for each reference, and one for each base.
fn pages() -> Vec<(String, String)> {
    let mut pages = vec![("sub/p.html".to_owned(), "<p>".to_owned())];
    for (number, reference) in REFERENCES.into_iter().enumerate() {
        pages.push((format!("reference/{number}.html"), page(&[reference], "")));
    }
    for (number, base) in BASES.into_iter().enumerate() {
        pages.push((format!("base/{number}.html"), page(&REFERENCES, base)));
    }
    pages
}

/// Writes an archive of the pages with URLs below `root`.
fn archive(path: &Path, root: &str) {
    let entry = |(name, text): (String, String)| {
        json!({
            "request": { "method": "GET", "url": format!("{root}{name}") },
            "response": { "status": 200, "content": { "mimeType": "text/html", "text": text } },
        })
    };
    let entries: Vec<_> = pages().into_iter().map(entry).collect();
    let log = json!({ "log": { "version": "1.2", "entries": entries } });
    fs::write(path, log.to_string()).unwrap();
}

/// True if a program that decodes `%2F` and `%5C` before it splits `path` would leave the folder.
fn climbs(path: &str) -> bool {
    let decoded = path.to_lowercase().replace("%2f", "/").replace("%5c", "/");
    let names = decoded.split('/').filter(|name| !matches!(*name, "" | "."));
    let depths = names.scan(0, |depth, name| {
        *depth += if name == ".." { -1 } else { 1 };
        Some(*depth)
    });
    depths.into_iter().any(|depth| depth < 0)
}

/// Checks the links of one document of a copy.
fn check(text: &str, own: &Url, root: &Url) -> Result<(), String> {
    let options = baselink_rewrite::Options {
        resolver: baselink::Resolver::Whatwg,
        ..baselink_rewrite::Options::at("https://unused.invalid/")
    };
    let links = baselink_rewrite::rewrite(text.as_bytes(), &options)
        .report
        .links;
    let declared = links.iter().position(|link| link.element == "base");
    for (number, link) in links.iter().enumerate() {
        let base = declared.filter(|at| *at < number && link.element != "base");
        // Browsers ignore a base that they cannot parse.
        let base = base.and_then(|at| own.join(&links[at].reference).ok());
        let Ok(target) = base.as_ref().unwrap_or(own).join(&link.reference) else {
            continue;
        };
        let is_inside = target.as_str().starts_with(root.as_str())
            && !climbs(&target.path()[root.path().len()..]);
        if target.host_str() == Some("assumed.invalid")
            || (target.scheme() == "file" && !is_inside)
            || (target.scheme().len() == 1 && target.path().starts_with('/'))
        {
            return Err(format!(
                "{}[{:?}] {}",
                link.element, link.attribute, link.reference
            ));
        }
    }
    Ok(())
}

/// Runs the program, and checks all documents of its output folder.
fn run(folder: &Path, line: &str, found: &mut Vec<String>) {
    let out = folder.join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    command
        .current_dir(folder)
        .args(line.split(' '))
        .args(["--config", "none", "-q", "-o", "out"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    let root = Url::from_directory_path(&out).unwrap();
    for (path, bytes) in files(&out) {
        let own = Url::from_file_path(out.join(&path)).unwrap();
        if path.extension().is_some_and(|end| end == "html")
            && let Err(link) = check(&String::from_utf8(bytes).unwrap(), &own, &root)
        {
            found.push(format!("{line}: {}: {link}", path.display()));
        }
    }
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn no_link_leads_out_of_a_copy() {
    let scene = tempfile::tempdir().unwrap();
    let here = fs::canonicalize(scene.path()).unwrap();
    let mut table = String::from("path,url\n");
    for (name, text) in pages() {
        let path = here.join("site").join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        table += &format!("{name},file:///home/v/{name}\n");
    }
    fs::write(here.join("map.csv"), table).unwrap();
    let mut found = Vec::new();
    for line in [
        "localize site",
        "localize site --resolver rfc1808",
        "localize site --url http://h/",
        "localize site --url file:///home/v/",
        "localize site --url-map map.csv",
        "move site --relative=disk",
        "move site --relative=disk --resolver whatwg",
        "move site --relative=disk --url http://h/a/",
        "move site --relative=disk --url http://h/ --to https://n/b/",
    ] {
        run(&here, line, &mut found);
    }
    let long = format!("http://h/{}", "a/".repeat(5_000));
    for root in [
        "http://h/",
        "file:///home/v/",
        "http://h:99999/",
        "http://[::1/",
        &long,
    ] {
        archive(&here.join("a.har"), root);
        for line in ["localize a.har", "localize a.har --exact"] {
            run(&here, line, &mut found);
        }
    }
    let number = found.len();
    found.truncate(20);
    assert!(
        found.is_empty(),
        "{number} documents, among them\n{}",
        found.join("\n")
    );
}

/// Documents that are nested too deep, or too many, are replaced. Bug 717: in XHTML, too, and so are too many links in one `srcdoc` or in the
/// `style` of an SVG image. Bug 738: so is the text of a `style` with too many addresses of `@import` that contain each other.
#[test]
fn a_document_that_is_not_read_does_not_lead_out() {
    let outside = "../outside.js";
    let deep = (0..18).fold(format!("<script src=\"{outside}\"></script>"), |page, _| {
        let value = page.replace('&', "&amp;").replace('"', "&quot;");
        format!("<iframe srcdoc=\"{value}\"></iframe>")
    });
    let frame = format!("<iframe srcdoc=\"&lt;img src='{outside}'>\"/>");
    let frames = frame.repeat(16_386);
    let images = format!("<img src='{outside}'>").repeat(65_537);
    let pings = format!("{outside} ").repeat(65_537);
    let imports = "@import;x".repeat(40_000);
    let pages = [
        ("p.html", deep),
        (
            "q.xhtml",
            format!("<html xmlns=\"http://www.w3.org/1999/xhtml\">{frames}</html>"),
        ),
        ("r.html", format!("<iframe srcdoc=\"{images}\">")),
        ("s.html", format!("<svg><style><a ping=\"{pings}\">")),
        (
            "t.html",
            format!("<style>{imports} @import '{outside}'</style>"),
        ),
    ];
    let scene = tempfile::tempdir().unwrap();
    for (name, page) in pages {
        let _ = fs::remove_dir_all(scene.path().join("site"));
        fs::create_dir(scene.path().join("site")).unwrap();
        fs::write(scene.path().join("site").join(name), page).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
        let output = command
            .current_dir(scene.path())
            .args(["localize", "--config", "none", "-q", "--strict", "site"])
            .args(["-o", "out"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = fs::read_to_string(scene.path().join("out").join(name)).unwrap();
        assert!(text.contains("about:invalid#"), "{name}");
        assert!(!text.contains(outside), "{name}");
    }
}
