//! Archives that browsers save: HAR 1.2, and Safari's property lists. `fixtures/archive/make.py` makes
//! `safari.webarchive` and `safari-xml.webarchive` with Python's `plistlib`. Hostile property lists are built here.
//!
//! Deliberately absent: the archives of the corpus, which `tests/mirrors/archives.rs` opens.

use std::fs;
use std::path::Path;

use baselink_site::archive::{Attached, Har, HarEntry, WebArchive, WebResource};
use baselink_text::diagnostic::Code;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/archive");
    fs::read(folder.join(name)).unwrap()
}

/// The resource in one line: number, frame, a star if it is a main resource, URL, media type, charset, name of the
/// frame, body.
fn row(resource: &WebResource) -> String {
    let WebResource {
        number,
        frame,
        url,
        media_type,
        charset,
        frame_name,
        body,
        is_main,
        ..
    } = resource;
    let star = if *is_main { "*" } else { "" };
    format!(
        "{number} {frame}{star} {url} {media_type} {} {} {}",
        charset.as_deref().unwrap_or("-"),
        frame_name
            .as_deref()
            .map_or("-".to_owned(), |name| format!("'{name}'")),
        body.escape_ascii()
    )
}

#[test]
fn a_web_archive_written_by_python_is_read_back() {
    for name in ["safari.webarchive", "safari-xml.webarchive"] {
        let archive = WebArchive::read(&fixture(name)).unwrap();
        let rows: Vec<_> = archive.resources.iter().map(row).collect();
        let expected = [
            r"0 0* http://a/p/ text/html windows-1252 '' <a href=\xe9>",
            "1 0 http://a/s.css text/css - - @import \\'x\\'",
            "2 0 http://a/i.png image/png - - PNG",
            "3 1* http://b/f text/html - 'one' <iframe src=g>",
            "4 1 http://a/i.png image/png - - PNG",
            "5 2* http://b/g text/html - 'ü' ",
        ];
        assert_eq!(rows, expected, "{name}");
        assert_eq!(archive.anomalies, [], "{name}");
    }
}

/// A property list in XML around `inside`.
fn xml(inside: &str) -> Vec<u8> {
    format!("<?xml version='1.0'?><plist version='1.0'>{inside}</plist>").into_bytes()
}

const RESOURCE: &str = "<dict><key>WebResourceURL</key><string>http://a/?b&amp;c&#233;</string>\
    <key>WebResourceData</key><data>\n\tPH\n\tA+\n\t</data></dict>";

#[test]
fn an_incomplete_resource_is_an_anomaly_and_the_others_are_read() {
    let archive = xml(&format!(
        "<dict><key>WebMainResource</key><dict><key>WebResourceData</key><data/></dict>\
         <key>Other</key><array><array/><dict><key>WebResourceURL</key><true/></dict></array>\
         <key>WebSubresources</key><array><string>no dictionary</string>{RESOURCE}\
         <dict><key>WebResourceURL</key><string>http://a/</string><key>WebResourceData</key><string>text</string></dict>\
         </array></dict>"
    ));
    let archive = WebArchive::read(&archive).unwrap();
    let rows: Vec<_> = archive.resources.iter().map(row).collect();
    assert_eq!(rows, ["1 0 http://a/?b&cé  - - <p>"]);
    let anomalies: Vec<_> = archive
        .anomalies
        .iter()
        .map(|anomaly| (anomaly.offset.file, anomaly.code, &*anomaly.message))
        .collect();
    let expected = [
        (
            0,
            Code::RecordBroken,
            "a resource without WebResourceURL; skipped",
        ),
        (
            2,
            Code::RecordBroken,
            "a resource without WebResourceData; skipped",
        ),
    ];
    assert_eq!(anomalies, expected);
}

#[test]
fn files_that_are_not_safari_archives_give_an_error() {
    for (bytes, problem) in [
        (&b""[..], "its property list ends inside a collection"),
        (
            b"<html><p>",
            "its property list cannot be read: UnknownXmlElement (offset 6)",
        ),
        (
            b"no list",
            "its property list cannot be read: UnexpectedXmlCharactersExpectedElement (offset 7)",
        ),
        (
            b"bplist00",
            "its property list cannot be read: invalid seek to a negative or overflowing position",
        ),
        (&xml("<array/>"), "its property list is not a dictionary"),
        (&xml("<dict/>"), "it has no WebMainResource"),
        (
            &xml("<dict><key>WebMainResource</key></dict>"),
            "a dictionary in it ends after a key",
        ),
        (
            &xml("<dict><true/></dict>"),
            "a dictionary in it has a key that is not a string",
        ),
    ] {
        let error = WebArchive::read(bytes).unwrap_err().to_string();
        assert_eq!(error, format!("not a web archive of Safari: {problem}"));
    }
}

#[test]
fn bytes_before_a_fault_are_read() {
    let whole = xml(&format!(
        "<dict><key>WebMainResource</key>{RESOURCE}<key>more</key>"
    ));
    for end in ["", "<data>*</data></dict>"] {
        let bytes = [&whole[..whole.len() - "</plist>".len()], end.as_bytes()].concat();
        let archive = WebArchive::read(&bytes).unwrap();
        assert_eq!(
            (archive.resources.len(), archive.anomalies.len()),
            (1, 1),
            "{end}"
        );
        let anomaly = &archive.anomalies[0];
        assert_eq!((anomaly.offset.file, anomaly.code), (1, Code::RecordBroken));
        assert!(
            anomaly.message.ends_with("; the rest was not read"),
            "{}",
            anomaly.message
        );
    }
}

/// A binary property list (CFBinaryPList.c) of `objects`; the first object is the root. References and lengths take
/// two bytes, offsets four.
fn binary(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"bplist00".to_vec();
    let mut offsets = Vec::new();
    for object in objects {
        offsets.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
        bytes.extend(object);
    }
    let table = bytes.len() as u64;
    bytes.extend(offsets);
    bytes.extend([0, 0, 0, 0, 0, 0, 4, 2]);
    for number in [objects.len() as u64, 0, table] {
        bytes.extend(number.to_be_bytes());
    }
    bytes
}

/// An object: its kind in the first four bits, a length in two bytes, and the content.
fn object(kind: u8, length: usize, content: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let length = u16::try_from(length).unwrap().to_be_bytes();
    [kind << 4 | 0xf, 0x11, length[0], length[1]]
        .into_iter()
        .chain(content)
        .collect()
}

fn string(text: &str) -> Vec<u8> {
    object(5, text.len(), text.bytes())
}

fn array(elements: &[u16]) -> Vec<u8> {
    object(
        0xa,
        elements.len(),
        elements.iter().flat_map(|number| number.to_be_bytes()),
    )
}

fn dictionary(pairs: &[(u16, u16)]) -> Vec<u8> {
    let keys = pairs.iter().map(|pair| pair.0);
    let numbers = keys.chain(pairs.iter().map(|pair| pair.1));
    object(0xd, pairs.len(), numbers.flat_map(u16::to_be_bytes))
}

#[test]
fn circular_and_expanding_property_lists_are_refused() {
    let error = |objects: &[Vec<u8>]| WebArchive::read(&binary(objects)).unwrap_err().to_string();
    // The archive is its own subframe.
    let cycle = [
        dictionary(&[(1, 2)]),
        string("WebSubframeArchives"),
        array(&[0]),
    ];
    assert!(
        error(&cycle).contains("RecursiveObject"),
        "{}",
        error(&cycle)
    );
    // Each of 30 arrays contains the next one twice, which makes 2^30 elements.
    let mut doubling = vec![dictionary(&[(1, 2)]), string("WebSubresources")];
    doubling.extend((3..33).map(|next| array(&[next, next])));
    doubling.push(array(&[]));
    let problem = "its property list expands to more than 16 times the length of the file";
    assert!(error(&doubling).ends_with(problem), "{}", error(&doubling));
    // 60,000 resources share one body.
    let mut heavy = vec![
        dictionary(&[(1, 2)]),
        string("WebSubresources"),
        array(&[3; 60_000]),
        dictionary(&[(4, 5), (6, 7)]),
        string("WebResourceURL"),
        string("http://a/"),
        string("WebResourceData"),
        object(4, 60_000, [b'x'; 60_000]),
    ];
    let archive = WebArchive::read(&binary(&heavy)).unwrap();
    let size: usize = archive
        .resources
        .iter()
        .map(|resource| resource.body.len())
        .sum();
    assert!(
        size < 17 * binary(&heavy).len() && archive.resources.len() > 1,
        "{size}"
    );
    assert_eq!(
        archive.anomalies[0].message,
        format!("{problem}; the rest was not read")
    );
    // Sixteen resources may share a body.
    heavy[2] = array(&[3; 16]);
    assert_eq!(
        WebArchive::read(&binary(&heavy)).unwrap().resources.len(),
        16
    );
}

#[test]
fn property_lists_of_any_depth_are_read() {
    const DEPTH: usize = 100_000;
    // Deep nesting in a value that the reader skips.
    let inside = format!("{}{}", "<array>".repeat(DEPTH), "</array>".repeat(DEPTH));
    let bytes = xml(&format!(
        "<dict><key>a</key>{inside}<key>WebMainResource</key>{RESOURCE}</dict>"
    ));
    assert_eq!(WebArchive::read(&bytes).unwrap().resources.len(), 1);
    // Deep nesting of subframes.
    let start =
        format!("<dict><key>WebMainResource</key>{RESOURCE}<key>WebSubframeArchives</key><array>");
    let bytes = xml(&format!(
        "{}{}",
        start.repeat(DEPTH),
        "</array></dict>".repeat(DEPTH)
    ));
    let archive = WebArchive::read(&bytes).unwrap();
    assert_eq!(
        (archive.resources.len(), archive.resources[DEPTH - 1].frame),
        (DEPTH, DEPTH - 1)
    );
    // A binary list in which each array contains the next one.
    let mut deep = vec![dictionary(&[(1, 2)]), string("WebSubresources")];
    deep.extend((3..=60_000).map(|next| array(&[next])));
    deep.push(array(&[]));
    let error = WebArchive::read(&binary(&deep)).unwrap_err().to_string();
    assert_eq!(
        error,
        "not a web archive of Safari: it has no WebMainResource"
    );
}

#[test]
fn a_changed_byte_never_causes_a_panic() {
    for name in ["safari.webarchive", "safari-xml.webarchive"] {
        let whole = fixture(name);
        for at in 0..whole.len() {
            let _ = WebArchive::read(&whole[..at]);
            for byte in [0, 0x7f, 0xff, whole[at].wrapping_add(1), whole[at] ^ 0x10] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let _ = WebArchive::read(&bytes);
            }
        }
    }
}

fn har(entries: &str) -> Har {
    Har::read(format!("{{\"log\": {{\"entries\": [{entries}]}}}}").into_bytes()).unwrap()
}

fn first_entry(entries: &str) -> HarEntry {
    har(entries).entries().next().unwrap().unwrap()
}

#[test]
fn an_entry_has_the_fields_of_har_1_2() {
    let entry = first_entry(
        r#"{"startedDateTime": "2026-01-02T03:04:05.678+01:00", "request": {"url": "http://a/b", "headers": []},
        "response": {"status": 200, "redirectURL": "", "content": {"mimeType": "text/html; charset=latin1", "text": "<p>é"}}}"#,
    );
    assert_eq!(
        (entry.number, &*entry.url, entry.status),
        (0, "http://a/b", Some(200))
    );
    assert_eq!(
        entry.started.as_deref(),
        Some("2026-01-02T03:04:05.678+01:00")
    );
    assert_eq!(
        (
            entry.redirect_url.as_deref(),
            !entry.is_text(),
            entry.has_body()
        ),
        (None, false, true)
    );
    assert_eq!(
        entry.media_type.as_deref(),
        Some("text/html; charset=latin1")
    );
    assert_eq!(entry.into_body().unwrap().unwrap(), "<p>é".as_bytes());
    // A value of the wrong type is ignored; the other values are read.
    let entry = first_entry(
        r#"{"startedDateTime": 5, "request": {"url": "u"}, "response": {"status": "200", "redirectURL": null,
        "headers": {"Location": "x"}, "content": {"text": "", "encoding": "BASE64"}}}"#,
    );
    assert_eq!(
        (
            entry.started.as_deref(),
            entry.status,
            entry.redirect_url.as_deref()
        ),
        (None, None, None)
    );
    assert_eq!(entry.into_body().unwrap(), Some(Vec::new()));
    // The entry has no response.
    let entry = first_entry(r#"{"request": {"url": "u"}}"#);
    assert_eq!(
        (entry.status, entry.has_body(), entry.into_body()),
        (None, false, Ok(None))
    );
}

#[test]
fn an_archive_of_playwright_has_the_responses_of_the_server() {
    let archive = Har::read(fixture("playwright.har")).unwrap();
    let mut rows = Vec::new();
    for entry in archive.entries().map(Result::unwrap) {
        let path = entry
            .url
            .strip_prefix("http://127.0.0.1:8765")
            .unwrap()
            .to_owned();
        let target = entry.redirect_url.clone().unwrap_or_default();
        let (status, kind) = (
            entry.status.unwrap(),
            if entry.is_text() { "text" } else { "bytes" },
        );
        assert!(
            entry
                .started
                .as_ref()
                .unwrap()
                .starts_with("2026-11-25T02:40:3")
        );
        let body = entry.into_body().unwrap().map_or("-".to_owned(), |body| {
            body[..body.len().min(8)].escape_ascii().to_string()
        });
        rows.push(format!("{path} {status} {target} {kind} {body}"));
    }
    let expected = [
        "/ 302 http://127.0.0.1:8765/p/page.html text -",
        "/p/page.html 200  text <!doctyp",
        "/p/s.css 200  text @import ",
        r"/i.png 200  bytes \x89PNG\r\n\x1a\n",
        "/p/gone.png 404  text <h1>no</",
        "/p/x.css 200  text p{}",
        "/old 301 http://127.0.0.1:8765/new?x=1 text -",
        r"/new?x=1 200  text t\xc3\x83\xc2\xabxt",
        "/p/b.html 200  text <link re",
        "/p/s.css 200  text @import ",
        r"/i.png 200  bytes \x89PNG\r\n\x1a\n",
        "/p/x.css 200  text p{}",
    ];
    assert_eq!(rows, expected);
    let page = archive.entries().nth(1).unwrap().unwrap();
    assert_eq!(
        page.media_type.as_deref(),
        Some("text/html; charset=ISO-8859-1")
    );
    let page = String::from_utf8(page.into_body().unwrap().unwrap()).unwrap();
    assert!(page.contains("<title>é</title>"), "{page}");
}

#[test]
fn redirect_url_comes_before_the_location_field() {
    for (response, url) in [
        (r#""redirectURL": "/x""#, Some("/x")),
        (
            r#""redirectURL": "/x", "headers": [{"name": "Location", "value": "/y"}]"#,
            Some("/x"),
        ),
        (
            r#""redirectURL": "", "headers": [{"name": "a", "value": "b"}, {"name": "LOCATION", "value": "/y"}]"#,
            Some("/y"),
        ),
        (
            r#""headers": [{"name": "location", "value": "/y"}, {"name": "location", "value": "/z"}]"#,
            Some("/y"),
        ),
        (r#""redirectURL": "", "headers": []"#, None),
    ] {
        let entry = first_entry(&format!(
            r#"{{"request": {{"url": "u"}}, "response": {{"status": 301, {response}}}}}"#
        ));
        assert_eq!(
            (entry.status, entry.redirect_url.as_deref()),
            (Some(301), url),
            "{response}"
        );
    }
}

#[test]
fn a_broken_entry_is_an_anomaly_with_its_number() {
    let archive = har(
        r#"{"request": {}}, {"request": {"url": "u"}, "response": {"content": {"text": "*", "encoding": "base64"}}}"#,
    );
    let anomaly = archive.entries().next().unwrap().unwrap_err();
    assert_eq!((anomaly.offset.file, anomaly.code), (0, Code::RecordBroken));
    let anomaly = archive
        .entries()
        .nth(1)
        .unwrap()
        .unwrap()
        .into_body()
        .unwrap_err();
    assert_eq!(
        (anomaly.offset.file, anomaly.code),
        (1, Code::TransferUndecodable)
    );
    assert!(archive.entries().nth(2).is_none());
}

#[test]
fn json_of_any_depth_is_an_error_or_skipped() {
    let (start, end) = ("[".repeat(100_000), "]".repeat(100_000));
    let arrays = format!("{start}{end}");
    let objects = format!("{}1{}", "{\"log\":".repeat(100_000), "}".repeat(100_000));
    for json in [
        &arrays,
        &objects,
        &start,
        &format!("{{\"log\": {{\"entries\": {arrays}}}}}"),
    ] {
        // The last one is an array with one entry.
        if let Ok(archive) = Har::read(json.clone().into_bytes()) {
            assert_eq!(
                archive.entries().next().unwrap().unwrap_err().code,
                Code::RecordBroken
            );
        }
    }
    for (entry, is_read) in [
        (arrays.clone(), false),
        (format!(r#"{{"request": {{"url": {arrays}}}}}"#), false),
        (
            format!(r#"{{"request": {{"url": "u"}}, "response": {{"content": {arrays}}}}}"#),
            false,
        ),
        (
            format!(
                r#"{{"request": {{"url": "u"}}, "response": {{"headers": {arrays}, "status": {objects}}}}}"#
            ),
            true,
        ),
        (
            format!(r#"{{"request": {{"url": "u"}}, "_own": {arrays}}}"#),
            true,
        ),
    ] {
        assert_eq!(
            har(&entry).entries().next().unwrap().is_ok(),
            is_read,
            "{}",
            &entry[..40]
        );
    }
}

/// Bug 361: Playwright attaches bodies as files beside the archive. None is read from outside its folder.
#[cfg(unix)]
#[test]
fn an_attached_body_is_read_only_below_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    std::fs::create_dir_all(own.join("sub")).unwrap();
    for name in ["secret", "own/p.html", "own/sub/p.html"] {
        std::fs::write(folder.path().join(name), "p").unwrap();
    }
    std::os::unix::fs::symlink("../secret", own.join("link")).unwrap();
    std::os::unix::fs::symlink("..", own.join("up")).unwrap();
    let absolute = folder.path().join("secret");
    let refused = [
        "../secret",
        "link",
        "up/secret",
        "sub",
        "sub/../../secret",
        "",
        ".",
        "..",
        "gone",
    ];
    let refused = refused.map(|name| (name, false));
    let read = [
        ("p.html", true),
        ("sub/p.html", true),
        (absolute.to_str().unwrap(), false),
    ];
    for (name, is_read) in refused.into_iter().chain(read) {
        let content = format!(r#"{{"mimeType": "text/html", "_file": "{name}"}}"#);
        let mut entry = first_entry(&format!(
            r#"{{"request": {{"url": "u"}}, "response": {{"status": 200, "content": {content}}}}}"#
        ));
        let attached = entry.attach(&mut Attached::beside(&own.join("x.har")));
        assert_eq!(
            (attached.is_ok(), entry.has_body()),
            (is_read, is_read),
            "{name}"
        );
        let body = is_read.then(|| b"p".to_vec());
        assert_eq!(entry.into_body().unwrap(), body, "{name}");
    }
}

/// Bug 361: whole and cut.
#[test]
fn a_compressed_archive_is_read() {
    let json = br#"{"log": {"version": "1.1", "entries": []}}"#;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, json).unwrap();
    let bytes = encoder.finish().unwrap();
    assert_eq!(Har::read(bytes.clone()).unwrap().entries().count(), 0);
    assert!(Har::read(bytes[..bytes.len() / 2].to_vec()).is_err());
}

/// Bug 554: an archive that named one file for all entries wrote it as often.
#[test]
fn bodies_of_one_file_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.har");
    for (name, length) in [("a", 100 << 10), ("b", 200 << 10)] {
        std::fs::write(folder.path().join(name), vec![b'x'; length]).unwrap();
    }
    let bodies = |files: &[&str]| {
        let entry = |name: &&str| {
            format!(
                r#"{{"request": {{"url": "u"}}, "response": {{"content": {{"_file": "{name}"}}}}}}"#
            )
        };
        let archive = har(&files.iter().map(entry).collect::<Vec<_>>().join(","));
        let mut attached = Attached::beside(&path);
        let read = archive
            .entries()
            .map(|entry| entry.unwrap().attach(&mut attached).is_ok());
        read.filter(|is_read| *is_read).count()
    };
    // The files have 100 KiB: once, and 16 times. Other spellings of a path are the same file.
    assert_eq!(bodies(&["a"; 17]), 17);
    assert_eq!(bodies(&["a"; 30]), 17);
    assert_eq!(bodies(&["a", "./a", ".//a", "a/."].repeat(9)), 17);
    // The files have 300 KiB.
    assert_eq!(bodies(&[&["b"][..], &["a"; 60]].concat()), 50);
    // Repeated bodies of 1 MiB are always allowed.
    std::fs::write(folder.path().join("a"), vec![b'x'; 1 << 10]).unwrap();
    assert_eq!(bodies(&["a"; 2000]), 1025);
}

/// Bug 555: JSON of gzip could be a thousand times as long, and entries without a URL took 16 times their length.
#[test]
fn a_compressed_archive_is_limited() {
    let compressed = |length: usize| {
        let json = format!(
            r#"{{"log": {{"entries": [{}0]}}}}"#,
            "0,".repeat(length / 2)
        );
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, json.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let error = Har::read(compressed(16 << 20)).err().unwrap().to_string();
    assert_eq!(error, "it inflates to more than 256 times its length");
    let archive = Har::read(compressed(15 << 20)).unwrap();
    let entries: Vec<_> = archive.entries().collect();
    let [Err(anomaly)] = &entries[..] else {
        panic!("{} entries", entries.len());
    };
    assert!(
        anomaly.message.ends_with("; 7864320 more follow it"),
        "{}",
        anomaly.message
    );
}

#[test]
fn invalid_utf_8_in_an_archive_is_replaced() {
    let json =
        b"{\"log\": {\"entries\": [{\"request\": {\"url\": \"http://a/\xff\xe4\xc3\xa4\"}}]}}";
    let archive = Har::read(json.to_vec()).unwrap();
    assert_eq!(
        archive.entries().next().unwrap().unwrap().url,
        "http://a/??\u{e4}"
    );
}
