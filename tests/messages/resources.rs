//! The parts of messages as resources: in `fixtures/archive/chromium.mhtml`, and in messages assembled here by RFC 2387,
//! RFC 2392 and RFC 2557.
//!
//! Deliberately absent: the files that `localize` makes of the parts.

use std::fs;
use std::path::Path;

use baselink_rewrite::{Options, Source};
use baselink_site::archive::{Entry, message};
use baselink_text::diagnostic::Code;

/// A message with the heading `heading`, and `parts` that have a heading and content each.
fn message(heading: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let mut message = format!("{heading}; boundary=b\n");
    for (heading, content) in parts {
        message += &format!("\n--b\n{heading}\n\n{content}");
    }
    (message + "\n--b--\n").into_bytes()
}

/// The parts of `message`.
fn resources(message: &[u8], options: &Options) -> Vec<Entry> {
    message::resources(message, options).collect()
}

/// The URLs of a part.
fn urls(part: &Entry) -> Vec<&str> {
    let own = &part.resource().unwrap().capture.url;
    let redirects = part.part().unwrap().redirects.iter();
    let others = redirects.filter(|one| one.key.is_none());
    let others = others.map(|one| &*one.url);
    [&**own].into_iter().chain(others).collect()
}

/// A part in one line: entity, a star for the root, URLs, and base (in parentheses if it has no source).
fn row(entry: &Entry) -> String {
    let part = entry.part().unwrap();
    let base = if entry.resource().unwrap().source == Source::Default {
        format!("({})", part.base)
    } else {
        part.base.to_string()
    };
    let star = if part.subject.is_some() { "*" } else { "" };
    format!("{}{star} {} {base}", part.entity, urls(entry).join(" "))
}

fn check(message: &[u8], options: &Options, expected: &[&str]) {
    let rows: Vec<_> = resources(message, options).iter().map(row).collect();
    assert_eq!(rows, expected, "{}", String::from_utf8_lossy(message));
}

#[test]
fn parts_of_a_chromium_mhtml_file_have_the_bases_of_their_page() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/archive/chromium.mhtml");
    let bytes = fs::read(path).unwrap();
    let parts = resources(&bytes, &Options::default());
    let short = |part| {
        row(part)
            .replace("http://127.0.0.1:8766", "")
            .replace("@mhtml.blink", "")
    };
    let rows: Vec<_> = parts.iter().map(short).collect();
    let expected = [
        "1* /p/page.html cid:frame-B0906014B7D74A9FD3B609CEA4E0B8C1 /p/page.html",
        "2 /q/in.png /q/in.png",
        "3 /q/i.png /q/i.png",
        "4 /i.png /i.png",
        "5 /q/x.css /q/x.css",
        "6 /q/s.css /q/s.css",
        // The style element of the page, whose base element is /q/.
        "7 cid:css-78b19a91-04a2-4228-bf58-969ccd84dbfe /q/",
        "8 /q/f.html cid:frame-B568A1E7AE4F1FD48E7E9B4C86C9EA00 /q/f.html",
        "9 /q/y.png /q/y.png",
        "10 cid:css-4b568b9d-3cdb-45d6-9857-50ea24d4462e /q/f.html",
        // The srcdoc of the page, and the style element in it.
        "11 cid:frame-F40E0ABD3285B144B161F4274CBB1811 /q/",
        "12 /q/sd.png /q/sd.png",
        "13 cid:css-a4e5d9e2-2182-401c-9caf-28df6b1af3e7 /q/",
        // Nothing refers to the frame that a script filled.
        "14 cid:frame-470B296FD8DEC62D51A248214F81C856 /p/page.html",
        "15 /q/blank.png /q/blank.png",
        "16 /p/deep.html?a=b&c cid:frame-D4E18DBA3550AFB3BD0DE292ADBAC91C /p/deep.html?a=b&c",
        "17 /p/deep.png /p/deep.png",
    ];
    assert_eq!(rows, expected);
    assert!(parts[1].bytes().starts_with(b"\x89PNG\r\n"));
    assert!(parts[6].bytes().starts_with(b"@charset \"utf-8\";"));
    let types = [0, 1].map(|at| &*parts[at].resource().unwrap().capture.media_type);
    assert_eq!(types, ["text/html", "image/png"]);
}

#[test]
fn content_location_is_resolved_by_rfc_2557() {
    const HTML: &str = "Content-Type: text/html\n";
    let related = "Content-Type: multipart/related";
    let images = [
        (HTML, "<img src=i.png>"),
        ("Content-Type: image/png\nContent-Location: i.png", ""),
        (
            "Content-Type: image/png\nContent-Location: http://b/x%20y",
            "",
        ),
    ];
    // RFC 2557, 5: the base is from the Content-Base or Content-Location of the enclosing heading, or `thismessage:/`.
    check(
        &message(
            &format!("Content-Location: http://a/b/c\n{related}"),
            &images,
        ),
        &Options::default(),
        &[
            "1* thismessage:/1 http://a/b/c",
            "2 http://a/b/i.png http://a/b/c",
            "3 http://b/x%20y http://b/x%20y",
        ],
    );
    check(
        &message(related, &images),
        &Options::default(),
        &[
            "1* thismessage:/1 (thismessage:/)",
            "2 thismessage:/i.png (thismessage:/)",
            "3 http://b/x%20y http://b/x%20y",
        ],
    );
    // The base is the retrieval URL (RFC 1808, 3.3).
    check(
        &message(related, &images[..2]),
        &Options::at("http://r/s/"),
        &[
            "1* thismessage:/1 http://r/s/",
            "2 http://r/s/i.png http://r/s/",
        ],
    );
    // The part's own Content-Base precedes the bases around it.
    let own = [
        (HTML, ""),
        ("Content-Base: http://c/d/\nContent-Location: ../i.png", ""),
    ];
    check(
        &message(&format!("Content-Location: http://a/\n{related}"), &own),
        &Options::default(),
        &[
            "1* thismessage:/1 http://a/",
            "2 http://c/i.png http://c/d/",
        ],
    );
    // Word writes paths on the author's computer.
    let word = [
        (
            "Content-Type: text/html\nContent-Location: file:///C:/A/x.htm",
            "<img src=x/i.png>",
        ),
        (
            "Content-Type: image/png\nContent-Location: file:///C:/A/x/i.png",
            "",
        ),
    ];
    check(
        &message(related, &word),
        &Options::default(),
        &[
            "1* file:///C:/A/x.htm (file:///C:/A/x.htm)",
            "2 file:///C:/A/x/i.png (file:///C:/A/x/i.png)",
        ],
    );
}

#[test]
fn content_ids_become_cid_urls_by_rfc_2392_and_by_practice() {
    let id = |id| {
        [
            ("Content-Type: text/html", ""),
            ("Content-Type: image/png\nContent-ID: ", id),
        ]
    };
    for (value, urls) in [
        // The example of RFC 2392, 2.
        (
            "<foo4%foo1@bar.net>",
            "cid:foo4%25foo1@bar.net cid:foo4%foo1@bar.net",
        ),
        ("<part1.A$0+b@x>", "cid:part1.A$0+b@x"),
        ("<a/b?@x>", "cid:a%2Fb%3F@x cid:a/b?@x"),
        ("no brackets", "cid:no%20brackets cid:no brackets"),
        ("(comment) <a@b>", "cid:a@b"),
    ] {
        let [page, (heading, _)] = id("");
        let parts = [page, (&*format!("{heading}{value}"), "")];
        let bytes = message("Content-Type: multipart/related", &parts);
        let expected = format!("2 {urls} (thismessage:/)");
        check(
            &bytes,
            &Options::default(),
            &["1* thismessage:/1 (thismessage:/)", &expected],
        );
    }
}

#[test]
fn a_part_without_a_label_is_named_by_its_number_and_file() {
    let file = |heading: &str| {
        let bytes = message("Content-Type: multipart/mixed", &[(heading, "")]);
        let parts = resources(&bytes, &Options::default());
        urls(&parts[0]).concat()
    };
    for (heading, url) in [
        (
            "Content-Disposition: attachment; filename=\"a b.pdf\"",
            "thismessage:/1/a%20b.pdf",
        ),
        (
            "Content-Disposition: inline; filename*=utf-8''%c3%a9.png",
            "thismessage:/1/%C3%A9.png",
        ),
        (
            "Content-Type: image/png; name=..\\x/i.png",
            "thismessage:/1/i.png",
        ),
        (
            "Content-Disposition: attachment; filename=..",
            "thismessage:/1",
        ),
        ("Content-ID: <>\nContent-Location:", "thismessage:/1"),
    ] {
        assert_eq!(file(heading), url, "{heading}");
    }
    let parts = resources(b"Content-Type: text/html\n\n<p>", &Options::default());
    assert_eq!(urls(&parts[0]), ["thismessage:/"]);
}

#[test]
fn the_root_is_determined_by_related_or_alternative_parts() {
    let roots = |bytes: &[u8]| {
        let parts = resources(bytes, &Options::default());
        let marked = |entry: &Entry| {
            let part = entry.part().unwrap();
            format!(
                "{}{}",
                part.entity,
                if part.subject.is_some() { "*" } else { "" }
            )
        };
        parts.iter().map(marked).collect::<Vec<_>>().join(" ")
    };
    const HTML: &str = "Content-Type: text/html";
    let multi = |kind: &str, parts: &[(&str, &str)]| {
        message(&format!("Content-Type: multipart/{kind}"), parts)
    };
    let two = [
        ("Content-Type: text/html\nContent-ID: <a>", ""),
        ("Content-ID: <b@c>\nContent-Type: text/html", ""),
    ];
    assert_eq!(roots(&multi("related", &two)), "1* 2");
    assert_eq!(roots(&multi("related; start=\"<b@c>\"", &two)), "1 2*");
    assert_eq!(roots(&multi("related; start=\"<none>\"", &two)), "1* 2");
    // DevExpress writes the type of the root (RFC 2387, 3.1), which is not the first part.
    let image_first = [("Content-Type: image/png", ""), (HTML, ""), (HTML, "")];
    assert_eq!(
        roots(&multi("related; type=\"Text/HTML\"", &image_first)),
        "1 2* 3"
    );
    assert_eq!(roots(&multi("related", &image_first)), "1 2 3");
    // RFC 2046, 5.1.4: "the best choice is the LAST part of a type supported".
    let alternatives = [
        ("", "text"),
        (HTML, ""),
        (HTML, ""),
        ("Content-Type: text/calendar", ""),
    ];
    assert_eq!(roots(&multi("alternative", &alternatives)), "3*");
    assert_eq!(
        roots(&multi(
            "alternative",
            &[("", "a"), ("Content-Type: text/calendar", "")]
        )),
        "1* 2"
    );
    // A reader opens the text, and not the attachment after it.
    let attached = (
        "Content-Type: text/html\nContent-Disposition: ATTACHMENT",
        "",
    );
    assert_eq!(roots(&multi("mixed", &[("", "a"), attached])), "1* 2");
    assert_eq!(
        roots(&multi("mixed", &[("", "a"), (HTML, ""), (HTML, "")])),
        "1 2* 3"
    );
    assert_eq!(roots(&multi("related", &[attached])), "1*");
    assert_eq!(roots(b"Content-Type: text/html\n\n<p>"), "*");
    assert_eq!(roots(b"Content-Type: image/png\n\n"), "");
    assert_eq!(
        roots(b"Content-Type: message/rfc822\n\nContent-Type: text/html\n\n<p>"),
        "1*"
    );
    // A mail with an image: the chosen alternative is a multipart/related.
    let mail = b"Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: multipart/alternative; boundary=a\n\n\
        --a\n\ntext\n--a\nContent-Type: multipart/related; boundary=r\n\n--r\nContent-Type: text/html\n\n<img src=cid:i>\n\
        --r\nContent-Type: image/png\nContent-ID: <i>\n\n\n--r--\n--a--\n--m\nContent-Type: application/pdf\n\n\n--m--\n";
    assert_eq!(roots(mail), "1.2.1* 1.2.2 2");
}

#[test]
fn a_style_sheet_with_a_label_has_the_base_of_the_first_page_that_refers_to_it() {
    let css = "Content-Type: text/css\nContent-ID: <s@x>";
    let page = |url: &str| format!("Content-Type: text/html\nContent-Location: {url}");
    let (first, second) = (page("http://a/1"), page("http://b/2"));
    let link = "<base href=/d/><link rel=stylesheet href='cid:s@x'>";
    let bytes = message(
        "Content-Type: multipart/related",
        &[(&first, "<p>"), (&second, link), (css, ""), (&first, link)],
    );
    check(
        &bytes,
        &Options::default(),
        &[
            "1* http://a/1 http://a/1",
            "2 http://b/2 http://b/2",
            "3 cid:s@x http://b/d/",
            "4 http://a/1 http://a/1",
        ],
    );
    // Frames that refer to each other inherit the surrounding base.
    let frame = |id: &str| format!("Content-Type: text/html\nContent-ID: <{id}>");
    let (f, g) = (frame("f"), frame("g"));
    let parts = [
        ("Content-Type: image/png", ""),
        (&*f, "<iframe src=cid:g>"),
        (&*g, "<iframe src=cid:f>"),
    ];
    check(
        &message(
            "Content-Location: http://a/\nContent-Type: multipart/related",
            &parts,
        ),
        &Options::default(),
        &[
            "1 thismessage:/1 http://a/",
            "2 cid:f http://a/",
            "3 cid:g http://a/",
        ],
    );
}

#[test]
fn any_bytes_can_be_read_as_nested_messages() {
    let deep = "Content-Type: message/rfc822\n\n".repeat(20_000);
    assert_eq!(resources(deep.as_bytes(), &Options::default()).len(), 1);
    let mut nested = String::new();
    for depth in 0..5_000 {
        nested += &format!("Content-Type: multipart/related; boundary=b{depth}\n\n--b{depth}\n");
    }
    nested += "Content-Type: text/html\n\n<p>";
    let parts = resources(nested.as_bytes(), &Options::default());
    assert!(parts.len() == 1 && parts[0].part().unwrap().subject.is_some());
    for bytes in [
        &b""[..],
        b"\0\xff\n\n",
        b"Content-Type: multipart/related\n\n",
    ] {
        let _ = resources(bytes, &Options::default());
    }
    // A part with undecodable base64 has no contents.
    let broken = b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n<p>";
    let parts = resources(broken, &Options::default());
    assert!(parts[0].contents.is_none());
    assert_eq!(parts[0].messages[0].0, Code::TransferUndecodable);
}
