//! Input at a limit of `docs/security.md` is read. Input beyond it is kept unchanged and reported. Other files test
//! the limits that are missing here.
//!
//! Deliberately absent: memory and time beyond the limits, which the hostile tests cover.

use std::fs;
use std::io::Write;
use std::process::Command;

use baselink::Outcome;
use baselink::archive::{ArchiveEntry, Records};
use baselink_rewrite::{FileRewrite, Options, rewrite};
use baselink_site::archive::message::resources;
use baselink_site::collection::origin::canonical;
use baselink_text::diagnostic::Code;
use baselink_text::format::Format;

fn codes(rewritten: &FileRewrite<'_>) -> Vec<Code> {
    rewritten
        .report
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect()
}

fn rewritten(format: Format, url: &str, bytes: &str) -> (usize, Vec<Code>) {
    let options = Options {
        format,
        ..Options::at(url)
    };
    let result = rewrite(bytes.as_bytes(), &options);
    (result.report.count(Outcome::Rewritten), codes(&result))
}

#[test]
fn the_length_of_a_base_is_limited() {
    let url = |length: usize| format!("{:a<width$}/", "http://h/", width = length - 1);
    assert_eq!(url(8_192).len(), 8_192);
    assert_eq!(
        rewritten(Format::Html, &url(8_192), "<a href=x>"),
        (1, vec![])
    );
    assert_eq!(
        rewritten(Format::Html, &url(8_193), "<a href=x>"),
        (0, vec![Code::BaseUnusable])
    );
}

/// Bugs 708 and 710: each of many small documents in a document, and of many empty parts of a message, took two kilobytes of
/// memory.
#[test]
fn the_number_of_documents_in_a_document_is_limited() {
    let pages = |number: usize| "<iframe srcdoc='<a href=x>'></iframe>".repeat(number);
    let feed = |number: usize| {
        let items = "<item><description>&lt;a href=x></description></item>".repeat(number);
        format!("<rss version='2.0'><channel>{items}</channel></rss>")
    };
    let mail = |number: usize| {
        let parts = "--b\nContent-Type: text/html\n\n<a href=x>\n".repeat(number);
        format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n")
    };
    for (format, document) in [
        (Format::Html, &pages as &dyn Fn(usize) -> String),
        (Format::Xml, &feed),
        (Format::Message, &mail),
    ] {
        let of = |number: usize| rewritten(format, "http://a/", &document(number));
        assert_eq!(of(16_384), (16_384, vec![]), "{format:?}");
        assert_eq!(of(16_386), (16_384, vec![Code::TooDeep]), "{format:?}");
    }
}

/// Bug 717: each of many links in a document inside another took up to 400 bytes of memory.
#[test]
fn the_number_of_links_that_wait_is_limited() {
    let inner = |number: usize| format!("<iframe srcdoc='{}'>", "<a href=x>".repeat(number));
    let style = |number: usize| format!("<svg><style><a ping='{}'>", "x ".repeat(number));
    for document in [&inner as &dyn Fn(usize) -> String, &style] {
        let of = |number: usize| rewritten(Format::Html, "http://a/", &document(number));
        assert_eq!(of(65_536), (65_536, vec![]));
        assert_eq!(of(65_537), (0, vec![Code::TooDeep]));
    }
}

#[test]
fn the_number_of_content_codings_is_limited() {
    let response = |codings: &str| {
        let chunks = |body: String| format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        let body =
            (0..codings.split(',').count()).fold("<a href=x>".to_owned(), |body, _| chunks(body));
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: {codings}\r\n\r\n{body}"
        )
    };
    let of = |codings: &str| rewritten(Format::Http, "http://a/", &response(codings));
    assert_eq!(
        of("chunked,chunked,chunked,chunked"),
        (1, vec![Code::FieldsRenamed])
    );
    assert_eq!(
        of("chunked,chunked,chunked,chunked,chunked"),
        (0, vec![Code::TransferUndecodable])
    );
}

#[test]
fn the_length_of_a_chunk_line_is_limited() {
    let response = |length: usize| {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
        format!(
            "{head}{:x<length$}\r\n<a href=x>\r\n0\r\n\r\n",
            "a;",
            length = length - 2
        )
    };
    let of = |length: usize| rewritten(Format::Http, "http://a/", &response(length));
    assert_eq!(of(4_096), (1, vec![Code::FieldsRenamed]));
    // The chunk line is invalid, so the body counts as a body without chunks.
    let (_, codes) = of(4_097);
    assert!(codes.contains(&Code::CodingAbsent), "{codes:?}");
}

#[test]
fn the_canonical_url_is_limited_in_length_and_position() {
    let page = |before: usize, length: usize| {
        format!(
            "{}<link rel=canonical href='{:a<length$}'>",
            " ".repeat(before),
            "http://a/"
        )
    };
    let is_found = |page: String| {
        let head = &page.as_bytes()[..page.len().min(canonical::HEAD)];
        canonical::named(head, Format::Html).is_some()
    };
    assert!(is_found(page(0, 8_192)));
    assert!(!is_found(page(0, 8_193)));
    assert!(is_found(page(canonical::HEAD - 100, 20)));
    assert!(!is_found(page(canonical::HEAD, 20)));
}

#[test]
fn the_length_of_a_record_heading_is_limited() {
    let archive = |filler: usize| {
        let more = "x".repeat(filler);
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nX: {more}\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
        )
    };
    let is_record = |filler: usize| {
        let archive = archive(filler);
        let first = Records::new(archive.as_bytes()).next().unwrap().unwrap();
        matches!(first, ArchiveEntry::Record(_))
    };
    assert!(is_record((1 << 20) - 100));
    assert!(!is_record(1 << 20));
}

#[test]
fn the_length_of_settings_is_limited() {
    let scene = tempfile::tempdir().unwrap();
    fs::write(scene.path().join("a.html"), "<a href=x>").unwrap();
    let run = |length: usize| {
        let settings = format!("url = 'http://a/'\n#{}\n", "x".repeat(length - 20));
        assert_eq!(settings.len(), length);
        fs::write(scene.path().join("baselink.toml"), settings).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
        let output = command
            .args(["links", "."])
            .current_dir(scene.path())
            .output()
            .unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    assert_eq!(run(1 << 20).0, 0);
    let expected = "error: baselink.toml: the settings file is larger than 1 MiB\n";
    assert_eq!(run((1 << 20) + 1), (2, expected.to_owned()));
}

/// The status and standard error of `localize --dry-run` of a compressed archive with these records.
fn localized(records: &str) -> (i32, String) {
    of_archive(&["localize", "--dry-run", "-o", "out"], records)
}

/// The status and standard error of a command with a compressed archive of these records.
fn of_archive(arguments: &[&str], records: impl AsRef<[u8]>) -> (i32, String) {
    let scene = tempfile::tempdir().unwrap();
    let file = fs::File::create(scene.path().join("a.warc.gz")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    encoder.write_all(records.as_ref()).unwrap();
    encoder.finish().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    let output = command
        .args(arguments)
        .arg("a.warc.gz")
        .current_dir(scene.path())
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// Bug 557: a small archive could contain so many captures that they took hundreds of megabytes.
#[test]
fn the_captures_of_an_archive_are_limited() {
    let record = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/\r\nContent-Type: text/css\r\n\
                  Content-Length: 0\r\n\r\n\r\n\r\n";
    assert_eq!(localized(&record.repeat(61_000)).0, 0);
    let expected = "error: a.warc.gz: its captures take more than 256 times its length in memory\n";
    assert_eq!(localized(&record.repeat(62_000)), (2, expected.to_owned()));
}

/// Bug 669: 199 revisits of a body of 8 MiB wrote 1.6 GiB. Before the last file, a copy has at most 16 MiB, or 256 times the
/// archive.
#[test]
fn the_files_of_an_archive_are_limited() {
    let record = |kind: &str, number: usize, body: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a/{number}.css\r\nContent-Type: text/css\r\n\
             WARC-Payload-Digest: sha1:A\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    let first = record("resource", 0, &" ".repeat(8 << 20));
    let run = |revisits: usize| {
        let revisits = (1..=revisits).map(|number| record("revisit", number, ""));
        localized(&(first.clone() + &revisits.collect::<String>()))
    };
    assert_eq!(run(1).0, 0);
    let (status, text) = run(199);
    let expected = "error: a.warc.gz: its decoded bodies take more than 256 times its length; the rest was not read\n";
    assert!(status == 2 && text.starts_with(expected), "{text}");
    assert!(text.contains("2 files would be written"), "{text}");
    // Revisits of several bodies count together.
    let others = ["b", "c", "d"].map(|name| first.replace("a/0", name).replace("sha1:A", name));
    let (status, text) = localized(&others.concat());
    assert!(
        status == 2 && text.contains("2 files would be written"),
        "{text}"
    );
    // Other commands decode the same bodies.
    for command in ["check", "links", "base"] {
        let (status, text) = of_archive(&[command], others.concat());
        assert!(status == 2 && text.contains(expected), "{command}: {text}");
    }
}

/// Bug 671: `links` and `base` decoded any number of bodies of 8 MiB that take 8 KB each.
#[test]
fn the_compressed_bodies_of_an_archive_are_limited() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&[b' '; 8 << 20]).unwrap();
    let body = encoder.finish().unwrap();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Encoding: gzip\r\n\r\n";
    let record = |number: usize| {
        let length = head.len() + body.len();
        let heading = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/{number}.css\r\n\
             Content-Type: application/http\r\nContent-Length: {length}\r\n\r\n"
        );
        [heading.as_bytes(), head, &body, b"\r\n\r\n"].concat()
    };
    for command in ["links", "base"] {
        let two = [record(0), record(1)].concat();
        assert_eq!(of_archive(&[command], two).0, 0);
        let three = [record(0), record(1), record(2)].concat();
        let (status, text) = of_archive(&[command], three);
        let expected =
            "its decoded bodies take more than 256 times its length; the rest was not read";
        assert!(status == 2 && text.contains(expected), "{command}: {text}");
    }
}

/// Bug 702: 4,000 labels of 8,000 bytes, each relative to the same base, took 96 MB.
#[test]
fn the_urls_of_the_parts_of_a_message_are_limited() {
    let base = format!("http://h/{}/", "x".repeat(8_000));
    let part = "--b\nContent-Location: y\n\n";
    let head = format!("Content-Base: {base}\nContent-Type: multipart/mixed; boundary=b\n\n");
    let message = head + &part.repeat(1_000);
    let options = Options::default();
    let parts = resources(message.as_bytes(), &options);
    let urls = parts.map(|part| part.resource().unwrap().capture.url.to_string());
    let urls: Vec<_> = urls.collect();
    let room = 65_536 + 16 * message.len();
    let (of_base, made_up): (Vec<_>, Vec<_>) = urls.iter().partition(|url| url.len() > 8_000);
    assert_eq!(of_base.len(), room / (base.len() + 1));
    assert_eq!(made_up.len(), 1_000 - of_base.len());
    assert_eq!(made_up[0], &format!("thismessage:/{}", of_base.len() + 1));
}

/// Bug 695: patterns of 1 MiB took 657 MB.
#[test]
fn the_patterns_for_files_are_limited() {
    let scene = tempfile::tempdir().unwrap();
    let run = |length: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
        let command = command.args(["links", ".", "--exclude", &"x".repeat(length)]);
        let output = command.current_dir(scene.path()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let expected = "the patterns together are longer than 32 KiB";
    assert!(!run(32 << 10).contains(expected), "{}", run(32 << 10));
    assert!(
        run((32 << 10) + 1).contains(expected),
        "{}",
        run((32 << 10) + 1)
    );
}

/// Bug 693: 60 MB of fields of a response, 87 KB compressed, took 537 MB.
#[test]
fn the_heading_of_a_response_is_limited() {
    let start = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: ";
    let run = |length: usize| {
        let field = "x".repeat(length - start.len() - 4);
        let response = format!("{start}{field}\r\n\r\n<a href=x>");
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n{response}\r\n\r\n",
            response.len()
        );
        of_archive(&["links"], record).1
    };
    assert_eq!(run(1 << 20), "1 link: 1 rewritten\n");
    let expected = "warning[separator-missing]: a.warc.gz@0:4:1: ";
    assert!(
        run((1 << 20) + 2).contains(expected),
        "{}",
        run((1 << 20) + 2)
    );
}

/// Bug 682: alternatives of 25 MB of `srcset` took 1.3 GB. Of 32,769 images, the last has the candidates 65,537 and 65,538.
#[test]
fn the_candidates_of_a_page_are_limited() {
    let record = |url: &str, kind: &str, body: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/{url}\r\nContent-Type: {kind}\r\n\
             Content-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    let lacking = |images: usize| {
        let page = "<img srcset='a.gif, b.gif 2x'>".repeat(images);
        let records = record("a.gif", "image/gif", "GIF89a") + &record("", "text/html", &page);
        localized(&records).1
    };
    assert!(!lacking(32_768).contains("missing"), "{}", lacking(32_768));
    let expected = "1 embedded resource is missing";
    assert!(lacking(32_769).contains(expected), "{}", lacking(32_769));
}

/// Bugs 473 and 474: `check` of a folder held 57 MB of targets for 98 KB, and that of an archive passed such a page without a word.
#[test]
fn the_targets_of_a_checked_page_are_limited() {
    let page = |images: usize| {
        let base = format!("http://a.example/{}", "a/".repeat(4_000));
        format!("<base href='{base}'>{}", "<img src=0>".repeat(images))
    };
    // 30 links of 8,018 bytes take more than 64 KiB and 16 times 8,387 bytes; 20 do not.
    for (images, is_limited) in [(20, false), (30, true)] {
        let page = page(images);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("p.html"), &page).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
        command.args(["check", "--url", "http://a.example/", "."]);
        let of_folder = command.current_dir(folder.path()).output().unwrap();
        let record = format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.example/\r\nContent-Type: text/html\r\n\
             Content-Length: {}\r\n\r\n{page}\r\n\r\n",
            page.len()
        );
        let (status, text) = of_archive(&["check"], record);
        let of_folder = (
            of_folder.status.code().unwrap(),
            String::from_utf8(of_folder.stderr).unwrap(),
        );
        for (status, text) in [of_folder, (status, text)] {
            assert_eq!(status, i32::from(!is_limited), "{text}");
            assert_eq!(text.contains("warning[growth]"), is_limited, "{text}");
        }
    }
}

/// Bug 551: an unpacked WACZ file chose archives outside its folder by symbolic links.
#[cfg(unix)]
#[test]
fn an_unpacked_wacz_file_chooses_no_other_files() {
    use std::os::unix::fs::symlink;
    let scene = tempfile::tempdir().unwrap();
    let path = |name: &str| scene.path().join(name);
    let record = |url: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\nContent-Type: text/css\r\n\
             Content-Length: 4\r\n\r\na{{}}\n\r\n\r\n"
        )
    };
    for folder in ["a/archive", "b", "private"] {
        fs::create_dir_all(path(folder)).unwrap();
    }
    fs::write(path("a/datapackage.json"), "{}").unwrap();
    fs::write(path("b/datapackage.json"), "{}").unwrap();
    fs::write(path("a/archive/own.warc"), record("http://own/x")).unwrap();
    fs::write(path("private/p.warc"), record("http://private/x")).unwrap();
    symlink("../../private/p.warc", path("a/archive/p.warc")).unwrap();
    symlink("../private", path("b/archive")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
        let output = command
            .args(arguments)
            .current_dir(scene.path())
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let said = run(&["localize", "a", "-o", "out"]);
    assert!(
        said.starts_with("1 symbolic link was skipped; --follow reads their targets\n"),
        "{said}"
    );
    run(&["localize", "b", "-o", "other"]);
    run(&["localize", "--follow", "a", "-o", "followed"]);
    let exist = [
        "out/own/x.css",
        "out/private",
        "other/private",
        "followed/private/x.css",
    ];
    let exist = exist.map(|name| path(name).exists());
    assert_eq!(exist, [true, false, false, true]);
}
