//! Hostile messages, rewritten with a base: the work is bounded, bytes are kept, and a diagnostic reports each limit
//! that is reached. If the time grew faster than the input, these tests would not finish.

use baselink::{LinkReport, Outcome, Reason, Report};
use baselink_rewrite::{Options, edits, rewrite};
use baselink_scan::attributes::Group;
use baselink_text::diagnostic::Code;
use baselink_text::format::Format;
use baselink_verify::verify;

fn at(url: &str) -> Options {
    Options {
        format: Format::Message,
        ..Options::at(url)
    }
}

fn with_headers() -> Options {
    let mut options = at("http://a/b/c");
    options.scan.groups.insert(Group::Headers);
    options
}

/// Rewrites with a base, checks the laws, and returns the report.
fn check(message: &[u8]) -> Report {
    check_with(message, &at("http://a/b/c"))
}

fn check_with(message: &[u8], options: &Options) -> Report {
    let rewritten = rewrite(message, options);
    assert_eq!(verify(&rewritten), Ok(()));
    let output = rewritten.output();
    assert!(rewrite(&output, options).edits.is_empty());
    assert!(!codes(&rewritten.report).contains(&Code::Doubt));
    rewritten.report
}

fn codes(report: &Report) -> Vec<Code> {
    report
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect()
}

const LEAF: &str = "Content-Type: text/html\n\n<a href=x>\n";

/// A leaf in `count` nested multiparts, each with `heading(depth)` in its heading.
fn nested(count: usize, heading: impl Fn(usize) -> String) -> String {
    let mut message = String::new();
    for depth in 0..count {
        let heading = heading(depth);
        message.push_str(&format!(
            "{heading}Content-Type: multipart/related; boundary=b{depth}\n\n--b{depth}\n"
        ));
    }
    message + LEAF
}

/// A leaf in `count` nested messages, each with `heading(depth)` in its heading.
fn enclosed(count: usize, heading: impl Fn(usize) -> String) -> String {
    let start = |depth| format!("{}Content-Type: message/rfc822\n\n", heading(depth));
    (0..count).map(start).collect::<String>() + LEAF
}

/// A multipart with the body parts `parts` and `heading` in its heading.
fn multipart(heading: &str, parts: impl Iterator<Item = String>) -> String {
    let mut message = format!("{heading}Content-Type: multipart/related; boundary=b\n\n");
    for part in parts {
        message.push_str(&format!("--b\n{part}\n"));
    }
    message + "--b--\n"
}

fn target(report: &Report) -> &str {
    report.links.last().unwrap().target.as_deref().unwrap()
}

/// A message with three levels of bases, several transfer encodings, correct lengths and digests, a signed part, and an
/// embedded message.
fn varied_message() -> String {
    let md5 = baselink_text::layer::digest::content_md5(b"<a href=md5>");
    let inner = format!(
        "DKIM-Signature: v=1\nContent-Type: text/html\nContent-MD5: {md5}\nContent-Length: 12\nLines: 0\n\n\
         <a href=md5>"
    );
    multipart(
        "From: x\nSubject: =?utf-8?q?=C3=A9?=\nBase: <URL:http://h/\n 1/>\n",
        [
            "Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\
             Content-Base: two/\nContent-Location: i\n\n\
             <a href=3D\"..=\n/y?a=3Db\"><base href=3D'three/'>=20\n<img src=3Di srcset=3D's 1x,=\n t 2x'>"
                .to_owned(),
            "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGEgaHJlZj14Pjxh\nIGhyZWY9Jy95Jz4=\n"
                .to_owned(),
            "Content-Type: multipart/signed; boundary=s\n\n--s\nContent-Type: text/html\n\n<a href=s>\n--s\n\
             Content-Type: application/pgp-signature\n\nx\n--s--"
                .to_owned(),
            format!("Content-Type: message/rfc822\n\n{inner}"),
            "Content-Type: text/html; charset=iso-2022-jp\n\n<a href='\u{1b}$BI=\u{1b}(B'>\nFrom x"
                .to_owned(),
        ]
        .into_iter(),
    )
}

#[test]
fn a_message_may_end_anywhere() {
    for message in [varied_message(), varied_message().replace('\n', "\r\n")] {
        for end in 0..=message.len() {
            check(&message.as_bytes()[..end]);
        }
        for at in 0..message.len() {
            let mut message = message.clone().into_bytes();
            message[at] = 0;
            check(&message);
        }
    }
    let report = check(varied_message().as_bytes());
    assert_eq!(report.count(Outcome::Rewritten), 9);
    assert_eq!(target(&report), "http://h/1/\u{8868}");
}

#[test]
fn ten_thousand_nested_entities_have_their_bases() {
    type Shape = fn(usize, fn(usize) -> String) -> String;
    for shape in [nested as Shape, enclosed] {
        let report = check(shape(10_000, |_| String::new()).as_bytes());
        assert_eq!(target(&report), "http://a/b/x");
        let report = check(shape(10_000, |depth| format!("Base: http://h/{depth}/\n")).as_bytes());
        assert_eq!(target(&report), "http://h/9999/x");
        let report = check(shape(10_000, |_| "Base: ../d/\n".to_owned()).as_bytes());
        assert_eq!(target(&report), "http://a/d/x");
        let signed =
            |depth| format!("DKIM-Signature: {depth}\nContent-Length: {depth}\nLines: 1\n");
        check(shape(10_000, signed).as_bytes());
    }
}

/// A base that grows at every level stops growing at a limit, beyond which it is unusable.
#[test]
fn relative_bases_grow_up_to_a_limit() {
    for message in [
        nested(10_000, |_| "Base: d/\n".to_owned()),
        enclosed(10_000, |_| "Content-Base: d/\n".to_owned()),
    ] {
        let report = check(message.as_bytes());
        let bases = report
            .entities
            .iter()
            .filter_map(|entity| entity.chain.base.as_deref());
        assert!(bases.map(str::len).max().unwrap() < 8_300);
        assert_eq!(report.links[0].reason, Some(Reason::BaseUnusable));
    }
    // Each level has a long base of its own.
    let long = "d/".repeat(2_000);
    check(nested(1_000, |_| format!("Base: /{long}\n")).as_bytes());
}

/// The growth from a long base and many short links is limited: 16 times the message, plus 64 KiB.
#[test]
fn a_message_that_would_grow_too_much_is_unchanged() {
    let base = |length: usize| format!("http://a/{}/", "b".repeat(length - 10));
    let html = |heading: &str, links: usize| {
        format!(
            "{heading}Content-Type: text/html\n\n{}",
            "<a href=x>".repeat(links)
        )
    };
    let is_left = |report: &Report| {
        let is_left = |link: &LinkReport| {
            link.outcome == Outcome::NotEditable && link.reason == Some(Reason::Growth)
        };
        report
            .links
            .iter()
            .all(|link| is_left(link) && link.target.is_none())
    };
    // One megabyte would grow to 800 megabytes.
    let report = check(html(&format!("Base: {}\n", base(8_000)), 100_000).as_bytes());
    assert!(is_left(&report) && report.links.len() == 100_000);
    assert_eq!(codes(&report), [Code::Growth]);
    // Each link grows by 1,000 bytes. There is room for `most` links, and not for one more.
    let heading = format!("Base: {}\n", base(1_000));
    let room = |links: usize| (65_536 + 16 * html(&heading, links).len()) / 1_000;
    let most = (0..).find(|&links| room(links) < links).unwrap() - 1;
    assert_eq!(
        check(html(&heading, most).as_bytes()).count(Outcome::Rewritten),
        most
    );
    assert!(is_left(&check(html(&heading, most + 1).as_bytes())));
    // The limit applies to the whole message, although each part alone would have room.
    let parts = |count: usize| multipart(&heading, (0..count).map(|_| html("", 40)));
    assert_eq!(check(parts(2).as_bytes()).count(Outcome::Rewritten), 80);
    assert!(is_left(&check(parts(20).as_bytes())));
    // Links in a heading count too.
    let listed = format!("{heading}List-Post: {}<x>\n\n", "<x>,\n ".repeat(999));
    assert!(is_left(&check_with(listed.as_bytes(), &with_headers())));
    // The limit also applies if links are only counted.
    let message = html(&heading, most + 1);
    let (edits, totals) = edits(message.as_bytes(), &at("http://a/b/c"));
    assert!(edits.is_empty() && !totals.changed);
    assert_eq!(totals.count(Outcome::NotEditable), most + 1);
}

/// The limit also applies to style sheets and XML, and to HTML with a base of more than 500 bytes (bug 337).
#[test]
fn a_document_that_would_grow_too_much_is_unchanged() {
    let base = format!("http://a/{}/", "b".repeat(8_000));
    for (format, document) in [
        (Format::Css, "a{background:url(x)}".repeat(50_000)),
        (
            Format::Svg,
            format!(
                "<svg xmlns='http://www.w3.org/2000/svg'>{}</svg>",
                "<a href='x'/>".repeat(50_000)
            ),
        ),
        (Format::Html, "<a href=x>".repeat(50_000)),
        (Format::Html, "<img srcset='x, y'>".repeat(25_000)),
    ] {
        let options = Options {
            format,
            ..Options::at(&base)
        };
        let rewritten = rewrite(document.as_bytes(), &options);
        assert!(rewritten.edits.is_empty());
        assert!(rewritten.report.links.len() == 50_000, "{format:?}");
        assert_eq!(
            rewritten.report.count(Outcome::NotEditable),
            rewritten.report.links.len()
        );
        assert_eq!(codes(&rewritten.report), [Code::Growth]);
        let (edits, totals) = edits(document.as_bytes(), &options);
        assert!(edits.is_empty() && !totals.changed);
    }
    // A document in `srcdoc` has a base of its own.
    let inner = format!("<base href={base}>{}", "<a href=x>".repeat(50_000));
    let page = format!("<a href=y></a><iframe srcdoc='{inner}'></iframe>");
    let rewritten = rewrite(page.as_bytes(), &Options::at("http://a/"));
    assert_eq!(rewritten.report.count(Outcome::Rewritten), 1);
    assert_eq!(codes(&rewritten.report), [Code::Growth]);
}

#[test]
fn as_many_documents_and_parts_as_are_read() {
    let message = multipart("", (0..16_384).map(|_| LEAF.to_owned()));
    let rewritten = rewrite(message.as_bytes(), &at("http://a/b/c"));
    assert_eq!(rewritten.report.count(Outcome::Rewritten), 16_384);
    let grown = 16_384 * "http://a/b/".len();
    assert_eq!(rewritten.output().len(), message.len() + grown);

    let message = multipart("", (0..16_384).map(|_| "\nx".to_owned()));
    let report = rewrite(message.as_bytes(), &at("http://a/b/c")).report;
    assert_eq!(report.entities.len(), 16_385);
}

#[test]
fn repeated_field_shapes_take_linear_time() {
    for value in [
        "x".repeat(1_000_000),
        "x ".repeat(500_000),
        "http://h/".to_owned() + &"d/".repeat(500_000),
        "../".repeat(300_000),
        "<".repeat(1_000_000),
        "<x>, ".repeat(200_000),
        "<x>; a=\"".repeat(100_000),
        "<x>; rel=\"\\\"\", ".repeat(60_000),
        "(".repeat(1_000_000),
        "\n x".repeat(300_000),
        "=?utf-8?Q?x?= ".repeat(80_000),
        "{{x}}".repeat(200_000),
        "text/html; charset=".to_owned() + &"x".repeat(1_000_000),
        "message/external-body; access-type=url; url=\"".to_owned() + &"x ".repeat(400_000) + "\"",
        "text/html; x=\"\\".repeat(60_000),
    ] {
        for name in [
            "Content-Type",
            "Base",
            "Content-Location",
            "Link",
            "Content-MD5",
            "List-Help",
        ] {
            let message = format!("{name}: {value}\nContent-Type: text/html\n\n<a href=x>");
            check_with(message.as_bytes(), &with_headers());
        }
    }
    for field in [
        "DKIM-Signature: x\n",
        "Base: x\n",
        "Content-Location: x\n",
        "Link: <x>\n",
        "x\n",
    ] {
        let message = field.repeat(50_000) + LEAF;
        check_with(message.as_bytes(), &with_headers());
    }
}

#[test]
fn sixteen_thousand_labels_and_links() {
    let page: String = (0..16_000)
        .map(|number| format!("<img src=i{number}>"))
        .collect();
    let parts = (0..16_000).map(|number| format!("Content-Location: i{number}\n\nx"));
    let first = format!("Content-Type: text/html\n\n{page}<img src=other>");
    let message = multipart("", std::iter::once(first).chain(parts));
    let report = check(message.as_bytes());
    assert_eq!(report.count(Outcome::Left), 16_000);
    assert_eq!(report.count(Outcome::Rewritten), 1);

    // Each of many levels has a part with the same label.
    let mut message = String::new();
    for depth in 0..5_000 {
        message.push_str(&format!(
            "Content-Type: multipart/related; boundary=b{depth}\n\n--b{depth}\nContent-Location: i\n\nx\n\
             --b{depth}\n{}--b{depth}\n",
            LEAF.replace("=x", "=i")
        ));
    }
    let report = check((message + LEAF).as_bytes());
    assert_eq!(
        (
            report.count(Outcome::Left),
            report.count(Outcome::Rewritten)
        ),
        (5_000, 1)
    );
}

#[test]
fn long_bases_and_boundaries() {
    let path = "d".repeat(600);
    let message = multipart(
        &format!("Base: http://h/{path}/\n"),
        (0..2_000).map(|_| LEAF.to_owned()),
    );
    let rewritten = rewrite(message.as_bytes(), &at("http://a/"));
    assert_eq!(rewritten.report.count(Outcome::Rewritten), 2_000);

    // Each part inherits a base that is too long, and none uses it.
    for path in ["d".repeat(1_000_000), "d/".repeat(500_000)] {
        let part = format!("Content-Base: e/\n{LEAF}");
        let message = multipart(
            &format!("Base: http://h/{path}/\n"),
            (0..16_000).map(|_| part.clone()),
        );
        let report = check(message.as_bytes());
        assert_eq!(report.links.len(), 16_000);
        assert!(
            report
                .links
                .iter()
                .all(|link| link.reason == Some(Reason::BaseUnusable))
        );
    }

    let boundary = "-".repeat(100_000);
    let near = format!("--{}\n", "-".repeat(99_998)).repeat(20);
    let message = format!(
        "Content-Type: multipart/mixed; boundary=\"{boundary}\"\n\n--{boundary}\n{LEAF}{near}\n--{boundary}--"
    );
    assert_eq!(check(message.as_bytes()).count(Outcome::Rewritten), 1);
}

#[test]
fn thousands_of_nested_correct_lengths() {
    let mut message = LEAF.to_owned();
    for _ in 0..2_000 {
        let (length, lines) = (message.len(), message.lines().count());
        let heading = format!("Content-Length: {length}\nLines: {lines}\n");
        message.insert_str(0, &format!("{heading}Content-Type: message/rfc822\n\n"));
    }
    let options = at("http://a/");
    let output = rewrite(message.as_bytes(), &options).output();
    check(message.as_bytes());
    let output = String::from_utf8(output).unwrap();
    for start in output.match_indices("Content-Length: ").map(|(at, _)| at) {
        let (heading, body) = output[start..].split_once("\n\n").unwrap();
        let length = heading
            .lines()
            .next()
            .unwrap()
            .strip_prefix("Content-Length: ")
            .unwrap();
        assert_eq!(length.parse(), Ok(body.len()));
    }
}

#[test]
fn repeated_encoded_shapes_take_linear_time() {
    for (encoding, shape) in [
        ("quoted-printable", "="),
        ("quoted-printable", "=\n"),
        ("quoted-printable", "= \n"),
        ("quoted-printable", " "),
        ("quoted-printable", " \n"),
        ("quoted-printable", "=0D"),
        ("quoted-printable", "=\r"),
        ("quoted-printable", "==\r\n"),
        ("quoted-printable", "<a href=3Dx>"),
        ("quoted-printable", "<a href=3D=\nx>\n"),
        ("quoted-printable", "=3Ca href=3Dx="),
        ("quoted-printable", "From <a href=3Dx>=\n"),
        ("quoted-printable", "--<a\nhref=3Dx>"),
        ("base64", "PGEgaHJlZj14Pjxh"),
        ("base64", "PGEgaHJlZj14Pjxh\n"),
        ("base64", "P\n"),
        ("base64", "="),
        ("base64", "PA==\n"),
        ("base64", "PGEgaHJlZj14Pjxh!"),
        ("base64", " "),
        ("8bit", "<a\nhref=x>"),
        ("8bit", "\nFrom <a href=x>"),
        ("8bit", "\n--<a href=x>"),
        ("8bit", "<iframe srcdoc='<a href=x>'>"),
        ("x", "<a href=x>"),
    ] {
        for (before, after) in [("", ""), ("\n", "<a href=3Dz>")] {
            let body = shape.repeat(300_000 / shape.len());
            let message = format!(
                "Content-Type: text/html\nContent-Transfer-Encoding: {encoding}\n\
                 Content-MD5: AAAA\nLines: 3\n{before}{body}{after}"
            );
            check(message.as_bytes());
        }
    }
}
