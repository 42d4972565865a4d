//! Archives that browsers save: HAR 1.2, and Safari's property lists. `fixtures/archive/make.py` makes
//! `safari.webarchive` and `safari-xml.webarchive` with Python's `plistlib`. Hostile property lists are built here.
//!
//! Deliberately absent: the archives of the corpus, which `tests/mirrors/archives.rs` opens.

use std::fs;
use std::path::Path;

use baselink_rewrite::Options;
use baselink_site::archive::{Attached, Entry, EntryContents, Wanted, http_archive, web_archive};
use baselink_site::collection::capture::Capture;
use baselink_text::{Charset, diagnostic::Code};

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/archive");
    fs::read(folder.join(name)).unwrap()
}

/// The entry in one line: number, URL, media type, charset, key if another resource has the URL, body.
fn row(entry: &Entry) -> String {
    let resource = entry.resource().unwrap();
    let capture = &resource.capture;
    format!(
        "{} {} {} {} {} {}",
        entry.key.offset,
        capture.url,
        capture.media_type,
        resource.charset.map_or("-", |charset| charset.name()),
        capture.key.as_deref().unwrap_or("-"),
        resource.body.escape_ascii()
    )
}

/// The entry of an anomaly: its number, and what is wrong.
fn anomaly(entry: &Entry) -> (u64, Code, &str) {
    let [(code, message)] = &entry.messages[..] else {
        panic!("{entry:?}");
    };
    (entry.key.offset.file, *code, message)
}

/// The resources of a web archive of Safari, and the entries of its anomalies.
fn safari(bytes: &[u8]) -> (Vec<Entry>, Vec<Entry>) {
    let options = Options::default();
    let entries = web_archive(bytes, &options, Wanted::Bodies).unwrap();
    entries.partition(|entry| entry.contents.is_some())
}

fn safari_error(bytes: &[u8]) -> String {
    let read = web_archive(bytes, &Options::default(), Wanted::Bodies).map(drop);
    read.unwrap_err().to_string()
}

#[test]
fn a_web_archive_written_by_python_is_read_back() {
    for name in ["safari.webarchive", "safari-xml.webarchive"] {
        let (resources, anomalies) = safari(&fixture(name));
        let rows: Vec<_> = resources.iter().map(row).collect();
        let expected = [
            r"0 http://a/p/ text/html windows-1252 - <a href=\xe9>",
            "1 http://a/s.css text/css - - @import \\'x\\'",
            "2 http://a/i.png image/png - - PNG",
            "3 http://b/f text/html - - <iframe src=g>",
            "4 http://a/i.png image/png - - PNG",
            "5 http://b/g text/html - - ",
        ];
        assert_eq!(rows, expected, "{name}");
        assert!(anomalies.is_empty(), "{name}");
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
    let (resources, anomalies) = safari(&archive);
    let rows: Vec<_> = resources.iter().map(row).collect();
    assert_eq!(rows, ["1 http://a/?b&cé  - - <p>"]);
    let anomalies: Vec<_> = anomalies.iter().map(anomaly).collect();
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
        (
            &b""[..],
            "its property list cannot be read: UnexpectedEndOfEventStream",
        ),
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
        (&xml("<array/>"), "it has no WebMainResource"),
        (&xml("<dict/>"), "it has no WebMainResource"),
        (
            &xml("<dict><key>WebMainResource</key></dict>"),
            "its property list cannot be read: UnexpectedEventType { expected: ValueOrStartCollection, found: EndCollection }",
        ),
        (
            &xml("<dict><true/></dict>"),
            "its property list cannot be read: UnexpectedEventType { expected: DictionaryKeyOrEndCollection, found: Boolean }",
        ),
    ] {
        let error = safari_error(bytes);
        assert_eq!(error, format!("not a web archive of Safari: {problem}"));
    }
}

#[test]
fn a_list_with_a_fault_is_refused() {
    let whole = xml(&format!(
        "<dict><key>WebMainResource</key>{RESOURCE}<key>more</key>"
    ));
    for end in ["", "<data>*</data></dict>"] {
        let bytes = [&whole[..whole.len() - "</plist>".len()], end.as_bytes()].concat();
        let error = safari_error(&bytes);
        let begin = "not a web archive of Safari: its property list cannot be read: ";
        assert!(error.starts_with(begin), "{error}");
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
    let error = |objects: &[Vec<u8>]| safari_error(&binary(objects));
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
    let problem = "more than 16 times the length of the file, or nests more than 256 collections";
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
    assert!(error(&heavy).ends_with(problem), "{}", error(&heavy));
    // Sixteen resources may share a body.
    heavy[2] = array(&[3; 16]);
    assert_eq!(safari(&binary(&heavy)).0.len(), 16);
}

/// `depth` frames inside each other.
fn frames(depth: usize) -> Vec<u8> {
    let start =
        format!("<dict><key>WebMainResource</key>{RESOURCE}<key>WebSubframeArchives</key><array>");
    xml(&format!(
        "{}{}",
        start.repeat(depth),
        "</array></dict>".repeat(depth)
    ))
}

#[test]
fn property_lists_of_any_depth_end_without_a_panic() {
    const DEPTH: usize = 100_000;
    let problem = "or nests more than 256 collections";
    // A frame is a dictionary in an array, and its resource is a dictionary in it.
    assert_eq!(safari(&frames(128)).0.len(), 128);
    assert!(safari_error(&frames(129)).ends_with(problem));
    assert!(safari_error(&frames(DEPTH)).ends_with(problem));
    let inside = format!("{}{}", "<array>".repeat(DEPTH), "</array>".repeat(DEPTH));
    let bytes = xml(&format!("<dict><key>a</key>{inside}</dict>"));
    assert!(safari_error(&bytes).ends_with(problem));
    // A binary list in which each array contains the next one.
    let mut deep = vec![dictionary(&[(1, 2)]), string("WebSubresources")];
    deep.extend((3..=60_000).map(|next| array(&[next])));
    deep.push(array(&[]));
    assert!(safari_error(&binary(&deep)).ends_with(problem));
}

#[test]
fn a_changed_byte_never_causes_a_panic() {
    for name in ["safari.webarchive", "safari-xml.webarchive"] {
        let (whole, options) = (fixture(name), Options::default());
        let read = |bytes: &[u8]| web_archive(bytes, &options, Wanted::Bodies).map(Iterator::count);
        for at in 0..whole.len() {
            let _ = read(&whole[..at]);
            for byte in [0, 0x7f, 0xff, whole[at].wrapping_add(1), whole[at] ^ 0x10] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let _ = read(&bytes);
            }
        }
    }
}

/// The entries of the HTTP archive `json`, with bodies beside it in the folder of `path`.
fn read_har(json: Vec<u8>, path: &Path) -> baselink_text::Result<Vec<Entry>> {
    let (options, mut bodies) = (Options::default(), Attached::beside(path));
    http_archive(json, &mut bodies, &options, Wanted::Bodies).map(Iterator::collect)
}

/// The entries of an HTTP archive with these elements.
fn har(entries: &str) -> Vec<Entry> {
    let json = format!("{{\"log\": {{\"entries\": [{entries}]}}}}");
    read_har(json.into_bytes(), Path::new("-")).unwrap()
}

/// The capture of an HTTP archive with this element, its charset and its body.
fn first_entry(entries: &str) -> (Capture, Option<Charset>, Vec<u8>) {
    let entry = har(entries).remove(0);
    let Some(EntryContents::Resource(resource)) = entry.contents else {
        panic!("{entry:?}");
    };
    (resource.capture, resource.charset, resource.body)
}

#[test]
fn an_entry_has_the_fields_of_har_1_2() {
    let (capture, charset, body) = first_entry(
        r#"{"startedDateTime": "2026-01-02T03:04:05.678+01:00", "request": {"url": "http://a/b", "headers": []},
        "response": {"status": 200, "redirectURL": "", "content": {"mimeType": "text/css; charset=latin1", "text": "p{é}"}}}"#,
    );
    assert_eq!((&*capture.url, capture.status), ("http://a/b", 200));
    assert_eq!(capture.date.unwrap().to_string(), "2026-01-02T03:04:05Z");
    assert_eq!(capture.location, None);
    assert!(!capture.is_short && capture.other_method.is_none());
    assert_eq!(&*capture.media_type, "text/css");
    assert_eq!((charset, &*body), (Some(Charset::UTF_8), "p{é}".as_bytes()));
    // A value of the wrong type is ignored; the other values are read.
    let (capture, charset, body) = first_entry(
        r#"{"startedDateTime": 5, "request": {"url": "http://a/"}, "response": {"status": "200", "redirectURL": null,
        "headers": {"Location": "x"}, "content": {"text": "", "encoding": "BASE64"}}}"#,
    );
    assert_eq!((capture.date, capture.location), (None, None));
    // The archive has a body, so there was a response.
    assert_eq!((capture.status, capture.is_short), (200, true));
    assert_eq!((charset, &*body), (None, &b""[..]));
    // The entry has no response.
    let (capture, _, body) = first_entry(r#"{"request": {"url": "http://a/"}}"#);
    assert_eq!((capture.status, &*body), (0, &b""[..]));
    // The URL is not that of a document.
    let (capture, ..) = first_entry(r#"{"request": {"url": "u"}, "response": {"status": 200}}"#);
    assert_eq!(capture.status, 0);
}

#[test]
fn an_archive_of_playwright_has_the_responses_of_the_server() {
    let entries = read_har(fixture("playwright.har"), Path::new("-")).unwrap();
    let mut rows = Vec::new();
    for entry in &entries {
        let resource = entry.resource().unwrap();
        let capture = &resource.capture;
        let path = capture.url.strip_prefix("http://127.0.0.1:8765").unwrap();
        let target = capture.location.as_deref().unwrap_or_default();
        let kind = resource.charset.map_or("bytes", |_| "text");
        let date = capture.date.unwrap().to_string();
        assert!(date.starts_with("2026-11-25T02:40:3"), "{date}");
        let body = &resource.body[..resource.body.len().min(8)];
        let body = if capture.is_short {
            "-".to_owned()
        } else {
            body.escape_ascii().to_string()
        };
        rows.push(format!("{path} {} {target} {kind} {body}", capture.status));
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
    let page = entries[1].resource().unwrap();
    let media_type = page.media_type.as_ref().unwrap();
    assert_eq!(media_type.parameter("charset"), Some("ISO-8859-1"));
    let page = String::from_utf8_lossy(&page.body);
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
        let (capture, ..) = first_entry(&format!(
            r#"{{"request": {{"url": "http://a/"}}, "response": {{"status": 301, {response}}}}}"#
        ));
        assert_eq!(
            (capture.status, capture.location.as_deref()),
            (301, url),
            "{response}"
        );
    }
}

#[test]
fn a_broken_entry_is_an_anomaly_with_its_number() {
    let entries = har(
        r#"{"request": {}}, {"request": {"url": "u"}, "response": {"content": {"text": "*", "encoding": "base64"}}}"#,
    );
    let found: Vec<_> = entries.iter().map(anomaly).collect();
    let base64 = "the base64 of this entry cannot be decoded; skipped";
    assert_eq!((found[0].0, found[0].1), (0, Code::RecordBroken));
    assert_eq!(found[1..], [(1, Code::TransferUndecodable, base64)]);
    assert!(entries.iter().all(|entry| entry.contents.is_none()));
}

/// Only the bodies of documents are decoded if only documents are wanted.
#[test]
fn a_body_that_is_not_wanted_is_not_decoded() {
    let entry = |media_type: &str| {
        let json = format!(
            r#"{{"log": {{"entries": [{{"request": {{"url": "http://a/"}}, "response": {{"content":
            {{"mimeType": "{media_type}", "text": "*", "encoding": "base64"}}}}}}]}}}}"#
        );
        let (options, mut bodies) = (Options::default(), Attached::beside(Path::new("-")));
        let mut read = http_archive(json.into_bytes(), &mut bodies, &options, Wanted::Documents);
        read.as_mut().unwrap().next().unwrap()
    };
    assert!(entry("image/png").messages.is_empty());
    assert_eq!(anomaly(&entry("text/css")).1, Code::TransferUndecodable);
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
        if let Ok(entries) = read_har(json.clone().into_bytes(), Path::new("-")) {
            assert_eq!(anomaly(&entries[0]).1, Code::RecordBroken);
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
            har(&entry)[0].contents.is_some(),
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
        let json = format!(
            r#"{{"log": {{"entries": [{{"request": {{"url": "http://a/"}}, "response": {{"status": 200, "content": {content}}}}}]}}}}"#
        );
        let entry = &read_har(json.into_bytes(), &own.join("x.har")).unwrap()[0];
        let (capture, body) = (&entry.resource().unwrap().capture, entry.bytes());
        // A success without a body has the status 204.
        let (status, expected) = if is_read { (200, "p") } else { (204, "") };
        assert_eq!(
            (capture.status, body),
            (status, expected.as_bytes()),
            "{name}"
        );
        assert_eq!(entry.messages.is_empty(), is_read, "{name}");
    }
}

/// Bug 361: whole and cut.
#[test]
fn a_compressed_archive_is_read() {
    let json = br#"{"log": {"version": "1.1", "entries": []}}"#;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, json).unwrap();
    let bytes = encoder.finish().unwrap();
    let read = |bytes: &[u8]| read_har(bytes.to_vec(), Path::new("-"));
    assert!(read(&bytes).unwrap().is_empty());
    assert!(read(&bytes[..bytes.len() / 2]).is_err());
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
        let elements = files.iter().map(entry).collect::<Vec<_>>().join(",");
        let json = format!("{{\"log\": {{\"entries\": [{elements}]}}}}");
        let entries = read_har(json.into_bytes(), &path).unwrap();
        let read = entries.iter().filter(|entry| entry.messages.is_empty());
        read.count()
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
    let read = |length| read_har(compressed(length), Path::new("-"));
    let error = read(16 << 20).err().unwrap().to_string();
    assert_eq!(error, "it inflates to more than 256 times its length");
    let entries = read(15 << 20).unwrap();
    assert_eq!(entries.len(), 1);
    let (_, _, message) = anomaly(&entries[0]);
    assert!(message.ends_with("; 7864320 more follow it"), "{message}");
}

#[test]
fn invalid_utf_8_in_an_archive_is_replaced() {
    let json =
        b"{\"log\": {\"entries\": [{\"request\": {\"url\": \"http://a/\xff\xe4\xc3\xa4\"}}]}}";
    let entries = read_har(json.to_vec(), Path::new("-")).unwrap();
    let capture = &entries[0].resource().unwrap().capture;
    assert_eq!(&*capture.url, "http://a/??\u{e4}");
}
