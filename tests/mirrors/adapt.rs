//! Adaptations of copies out of archives: their exact bytes, and their effect on trees and in a browser.

use std::fs;
use std::rc::Rc;

use baselink_rewrite::{Options, rewrite};
use baselink_site::purpose::{
    adapt::adapted,
    tally::{Adaptation, Counted},
    words::Words,
};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use html5ever::ParseOpts;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use proptest::prelude::*;
use serde_json::json;

use crate::devtools::{Browser, file_url};

fn charset(label: &str) -> Option<Charset> {
    (!label.is_empty()).then(|| Charset::for_label(label).unwrap())
}

/// The options for a document of this format with this encoding from its heading.
fn given(format: Format, charset: Option<Charset>) -> Options {
    let mut options = Options {
        format,
        ..Options::default()
    };
    options.scan.charset = charset;
    options
}

/// The adapted document. Checks that each adaptation has its edit, and that a second run changes nothing.
fn adapt(bytes: &[u8], format: Format, charset: Option<Charset>) -> Vec<u8> {
    let (edits, tally) = adapted(
        bytes,
        Words::of_adaptations(bytes),
        &given(format, charset),
        true,
    );
    assert_eq!(
        tally.sum(|what| matches!(what, Counted::Adapted(_))),
        edits.len()
    );
    let output = edits.apply(bytes);
    for charset in [charset, None] {
        let (twice, _) = adapted(
            &output,
            Words::of_adaptations(&output),
            &given(format, charset),
            true,
        );
        assert!(twice.is_empty(), "{}", String::from_utf8_lossy(&output));
    }
    output
}

#[track_caller]
fn check(format: Format, label: &str, before: &str, expected: &str) {
    let output = adapt(before.as_bytes(), format, charset(label));
    assert_eq!(String::from_utf8_lossy(&output), expected, "{before}");
}

/// HTML, 13.2.6.4: an insertion in this position adds the new element and does not change the tree otherwise.
#[test]
fn a_page_declares_the_charset_of_its_heading() {
    const META: &str = "<meta charset=\"UTF-8\">";
    // `|` marks the position.
    for page in [
        "<!doctype html><html lang=en><head profile=x>|<title>x</title>",
        "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01//EN'>\n<!-- <head> --><HTML>\n<HEAD>|\n<title>",
        "<!doctype html>\n|<title>x</title><head>",
        "<?xml version='1.0'?><!doctype html><html>\n<!-- x -->\n|<body>x",
        "|<p>x",
        " |x<head>",
        "|",
        "<html>|</html>",
        "<!doctype html>|<header>x",
        "<!doctype html>|<!-- no end",
        "<!doctype html></p x='>'></1>|</br>",
        "|</p x='>",
        "<head>|<!--<meta charset=koi8-r>--><p content='charset=koi8-r'>",
        // The HTTP heading takes precedence over the declaration of the page.
        "<head>|<meta charset=koi8-r>",
        "<!doctype html>|<meta http-equiv=content-type content='text/html; charset=koi8-r'>",
        "<?xml version='1.0' encoding='koi8-r'?>|<html-x>",
    ] {
        let before = page.replace('|', "");
        check(Format::Html, "utf-8", &before, &page.replace('|', META));
        check(Format::Html, "", &before, &before);
    }
    let late = format!("<!--{}--><head>", "x".repeat(2_000));
    check(Format::Html, "utf-8", &late, &format!("{late}{META}"));
    for declared in [
        "<head><meta charset=utf8>",
        "<head><meta content='text/html;charset=UTF-8' http-equiv=Content-Type>",
        "\u{feff}<head>",
        "<?xml version='1.0' encoding='utf-8'?><p>",
        &format!("<head>{}<meta charset=utf-8>", " ".repeat(2_000)),
    ] {
        check(Format::Html, "utf-8", declared, declared);
    }
    check(
        Format::Html,
        "latin1",
        "<head>",
        "<head><meta charset=\"windows-1252\">",
    );
    // In a `meta`, `x-user-defined` means windows-1252 (HTML, 13.2.3.2).
    check(
        Format::Html,
        "x-user-defined",
        "<head>",
        "<head><meta charset=\"x-user-defined\">",
    );
    check(Format::Other, "utf-8", "<head>", "<head>");
}

#[test]
fn style_sheets_and_xml_declare_their_charset() {
    use Format::{Css, Svg, Xhtml, Xml};
    for (format, label, before, expected) in [
        (
            Css,
            "utf-8",
            "@import 'é';",
            "@charset \"UTF-8\";@import 'é';",
        ),
        (Css, "utf-8", "a{}", "a{}"),
        (Css, "utf-8", "\u{feff}é{}", "\u{feff}é{}"),
        (
            Css,
            "utf-8",
            "@charset \"utf-8\";é{}",
            "@charset \"utf-8\";é{}",
        ),
        (
            Css,
            "gbk",
            "@charset \"utf-8\";é{}",
            "@charset \"GBK\";@charset \"utf-8\";é{}",
        ),
        // `@charset` with single quotes declares nothing.
        (
            Css,
            "gbk",
            "@charset 'gbk';é{}",
            "@charset \"GBK\";@charset 'gbk';é{}",
        ),
        (
            Svg,
            "koi8-r",
            "<svg>é</svg>",
            "<?xml version=\"1.0\" encoding=\"KOI8-R\"?><svg>é</svg>",
        ),
        (Xml, "koi8-r", "<a/>", "<a/>"),
        (Xml, "utf-8", "<a>é</a>", "<a>é</a>"),
        (
            Xhtml,
            "koi8-r",
            "<?xml version='1.0' standalone='yes' ?><a>é</a>",
            "<?xml version='1.0' encoding=\"KOI8-R\" standalone='yes' ?><a>é</a>",
        ),
        (
            Xml,
            "utf-8",
            "<?xml version='1.0' encoding='koi8-r'?><a>é</a>",
            "<?xml version='1.0' encoding='UTF-8'?><a>é</a>",
        ),
        (
            Xml,
            "koi8-r",
            "<?xml version='1.0' encoding='koi8-r'?>é",
            "<?xml version='1.0' encoding='koi8-r'?>é",
        ),
        (
            Xml,
            "koi8-r",
            "\n<?xml version='1.0'?>é",
            "\n<?xml version='1.0'?>é",
        ),
        (Xml, "koi8-r", "<?xml é", "<?xml é"),
        (
            Xml,
            "koi8-r",
            "<?xml-stylesheet href='é'?><a/>",
            "<?xml version=\"1.0\" encoding=\"KOI8-R\"?><?xml-stylesheet href='é'?><a/>",
        ),
        (Xml, "koi8-r", "\u{feff}é", "\u{feff}é"),
    ] {
        check(format, label, before, expected);
    }
}

#[test]
fn integrity_and_crossorigin_of_local_targets_are_removed() {
    for (before, expected) in [
        (
            "<script src=x.js integrity='sha384-x' crossorigin></script>",
            "<script src=x.js></script>",
        ),
        (
            "<LINK\n  CROSSORIGIN=anonymous\n  HREF=../x.css rel=stylesheet>",
            "<LINK\n  HREF=../x.css rel=stylesheet>",
        ),
        (
            "<img crossOrigin=\"\" srcset='http://a/x 1x, y 2x'>",
            "<img srcset='http://a/x 1x, y 2x'>",
        ),
        ("<link imagesrcset=y crossorigin>", "<link imagesrcset=y>"),
        ("<video src=x crossorigin></video>", "<video src=x></video>"),
        (
            "<svg><image xlink:href=x crossorigin /><script href=x crossorigin></script></svg>",
            "<svg><image xlink:href=x /><script href=x></script></svg>",
        ),
        // The attributes of the parent apply to the target of a `source`.
        (
            "<audio crossorigin><source src=http://a/x><source src=x></audio>",
            "<audio><source src=http://a/x><source src=x></audio>",
        ),
        (
            "<video crossorigin poster=x></video><source src=http://a/x>",
            "<video poster=x></video><source src=http://a/x>",
        ),
        // If only the first attribute were removed, the repeated one would apply.
        (
            "<img src=x crossorigin crossorigin=anonymous>",
            "<img src=x>",
        ),
        // The removal must not join tokens, or make a slash close the element.
        ("<img src=x crossorigin/>", "<img src=x />"),
        ("<img src='x' crossorigin/>", "<img src='x'/>"),
        ("<img src=x integrity='y' crossorigin/>", "<img src=x />"),
        (
            "<script src=x INTEGRITY=y crossOrigin></script>",
            "<script src=x></script>",
        ),
        (
            "<script async crossorigin='x'src=y>",
            "<script async src=y>",
        ),
        ("<img src='x'crossorigin>", "<img src='x'>"),
        (
            "<svg><image href='x'/crossorigin><p></svg>",
            "<svg><image href='x'/ ><p></svg>",
        ),
        (
            "<svg><image href='x'/ crossorigin><p></svg>",
            "<svg><image href='x'/  ><p></svg>",
        ),
        (
            "<script src=x async crossorigin='y'=z>",
            "<script src=x async /=z>",
        ),
        (
            "<script src=x async crossorigin='y' =z>",
            "<script src=x async / =z>",
        ),
        ("<script src=x crossorigin=>", "<script src=x>"),
        ("<script src=x crossorigin = 'y'\t>", "<script src=x\t>"),
    ] {
        check(Format::Html, "", before, expected);
    }
    for kept in [
        "<script src=http://a/x crossorigin></script>",
        "<video src=http://a/x crossorigin><source src=y></video>",
        "<script src=//a/x crossorigin></script>",
        "<script src='\\\\a/x' crossorigin></script>",
        "<script src='&#104;ttp://a/x' crossorigin></script>",
        "<link rel=preconnect href=https://a/ crossorigin>",
        "<script src='' crossorigin></script>",
        "<script src='{{ x }}' crossorigin></script>",
        "<script crossorigin></script>",
        "<script src=http://a/x src=y crossorigin></script>",
        "<a href=x crossorigin>",
        "<!--<img src=x crossorigin>--><script>'<img src=x crossorigin>'</script>",
        "<textarea><img src=x crossorigin></textarea>",
        "<p>crossorigin<img src=x title=crossorigin data-integrity>",
        "<img src=x crossorigin",
    ] {
        check(Format::Html, "", kept, kept);
    }
    for (before, expected) in [
        (
            "<svg><image x:href='y' crossorigin=''/></svg>",
            "<svg><image x:href='y'/></svg>",
        ),
        (
            "<h:script xmlns:h='x' src='y' integrity='z'/>",
            "<h:script xmlns:h='x' src='y'/>",
        ),
        (
            "<svg><image x:href='http://a' crossorigin=''/><feImage href='&#x79;' crossorigin='' /></svg>",
            "<svg><image x:href='http://a' crossorigin=''/><feImage href='&#x79;' /></svg>",
        ),
        (
            "<a><![CDATA[<img src='x' crossorigin=''/>]]><img src='x' CROSSORIGIN=''/></a>",
            "<a><![CDATA[<img src='x' crossorigin=''/>]]><img src='x' CROSSORIGIN=''/></a>",
        ),
        // The text after a fault is unknown.
        (
            "<a><b c></b><img src='x' crossorigin=''/></a>",
            "<a><b c></b><img src='x' crossorigin=''/></a>",
        ),
    ] {
        check(Format::Xhtml, "", before, expected);
    }
}

/// Hosts and schemes do not match files (CSP 3, 6.7.2).
#[test]
fn a_content_security_policy_that_blocks_files_is_disabled() {
    for (policy, is_disabled) in [
        ("default-src https://a.example", true),
        ("default-src 'none'; STYLE-SRC a.example", true),
        ("img-src https: data:", true),
        ("font-src *.a.example", true),
        ("script-src 'unsafe-inline' https://a.example", true),
        ("script-src-elem 'nonce-x' https:", true),
        ("default-src 'self'", false),
        ("default-src 'SELF' https://a.example", false),
        ("default-src *", false),
        ("default-src file: https:", false),
        ("default-src 'none'", false),
        ("script-src 'nonce-x'", false),
        ("script-src 'nonce-x' 'strict-dynamic' https:", false),
        ("img-src data: blob:", false),
        (
            "connect-src https://a.example; form-action https://a.example; base-uri 'none'",
            false,
        ),
        ("upgrade-insecure-requests", false),
        ("", false),
    ] {
        let before = format!("<meta http-equiv=Content-Security-Policy content=\"{policy}\">");
        let data = if is_disabled { "data-" } else { "" };
        check(
            Format::Html,
            "",
            &before,
            &before.replace("http-", &format!("{data}http-")),
        );
    }
    for (before, expected) in [
        (
            "<META CONTENT='img-src&#32;https:' HTTP-EQUIV=content-security-POLICY>",
            "<META CONTENT='img-src&#32;https:' data-HTTP-EQUIV=content-security-POLICY>",
        ),
        (
            "<meta http-equiv=content-security-policy-report-only content='img-src https:'>",
            "<meta http-equiv=content-security-policy-report-only content='img-src https:'>",
        ),
        (
            "<meta http-equiv=refresh content='1;img-src https:'>",
            "<meta http-equiv=refresh content='1;img-src https:'>",
        ),
        (
            "<meta http-equiv=content-security-policy>",
            "<meta http-equiv=content-security-policy>",
        ),
    ] {
        check(Format::Html, "", before, expected);
    }
}

#[test]
fn adaptations_are_counted_by_kind() {
    let page = b"<head><meta content='img-src a.example' http-equiv=content-security-policy>\
                 <img src=x integrity crossorigin>";
    let (_, tally) = adapted(
        page,
        Words::of_adaptations(page),
        &given(Format::Html, Some(Charset::UTF_8)),
        true,
    );
    let counts = Adaptation::ALL.map(|kind| tally[Counted::Adapted(kind)]);
    assert_eq!(counts, [1, 2, 1, 0, 0, 0]);
    assert_eq!(
        Adaptation::ALL.map(Adaptation::name),
        [
            "charset",
            "integrity",
            "policy",
            "shadow",
            "descriptor",
            "quiet"
        ]
    );
}

/// Other bytes do not change. In an encoding that does not extend ASCII, tags are not adapted.
#[test]
fn new_text_is_in_the_encoding_of_the_document() {
    let encode = |label: &str, text: &str| charset(label).unwrap().encode(text).unwrap();
    const BEFORE: &str = "<p title=|><img src=x crossorigin>";
    for (label, text) in [
        ("windows-1252", &b"\xe9"[..]),
        // The second byte of this character is `\`.
        ("shift_jis", b"\x95\x5c"),
        // The bytes of this character are `->`.
        ("iso-2022-jp", b"\x1b$B->\x1b(B"),
        ("utf-16le", b"\xe9\0"),
        ("utf-16be", b"\0\xe9"),
    ] {
        let with = |page: &str| {
            let (start, end) = page.split_once('|').unwrap();
            [&encode(label, start)[..], text, &encode(label, end)].concat()
        };
        let name = charset(label).unwrap().name();
        let expected = match label {
            "utf-16le" | "utf-16be" => [encode(label, "\u{feff}"), with(BEFORE)].concat(),
            "iso-2022-jp" => with(&format!("<meta charset=\"{name}\">{BEFORE}")),
            _ => with(&format!("<meta charset=\"{name}\"><p title=|><img src=x>")),
        };
        let output = adapt(&with(BEFORE), Format::Html, charset(label));
        assert_eq!(
            output,
            expected,
            "{label}: {}",
            String::from_utf8_lossy(&output)
        );
    }
    let comment = b"<!--\x1b$B-->-\x1b(B--><head>";
    let output = adapt(comment, Format::Html, charset("iso-2022-jp"));
    assert_eq!(
        output,
        [&comment[..], b"<meta charset=\"ISO-2022-JP\">"].concat()
    );
}

/// The tree of a page, one line per node, without what adaptations change: some attributes, and the new `meta`.
fn tree(page: &str, is_adapted: bool) -> Vec<String> {
    let dom = html5ever::parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let mut open: Vec<(usize, Handle)> = vec![(0, dom.document)];
    let mut lines = Vec::new();
    let mut is_skipped = !is_adapted;
    while let Some((depth, node)) = open.pop() {
        let line = match &node.data {
            NodeData::Element {
                name,
                attrs,
                template_contents,
                ..
            } => {
                let mut written: Vec<String> = Vec::new();
                for attribute in attrs.borrow().iter() {
                    let name = attribute.name.local.to_string();
                    if name != "integrity" && name != "crossorigin" {
                        let name = name.replace("data-http-equiv", "http-equiv");
                        written.push(format!("{name}={}", attribute.value));
                    }
                }
                if !is_skipped && written == ["charset=UTF-8"] {
                    is_skipped = true;
                    continue;
                }
                if let Some(content) = &*template_contents.borrow() {
                    open.push((depth + 1, Rc::clone(content)));
                }
                format!("<{}:{} {}>", name.ns, name.local, written.join(" "))
            }
            NodeData::Text { contents } => contents.borrow().to_string(),
            NodeData::Comment { contents } => format!("<!--{contents}-->"),
            NodeData::Doctype { name, .. } => format!("<!{name}>"),
            _ => String::new(),
        };
        lines.push(format!("{depth} {line}"));
        for child in node.children.borrow().iter().rev() {
            open.push((depth + 1, Rc::clone(child)));
        }
    }
    lines
}

fn links(page: &[u8]) -> Vec<(String, String)> {
    let options = Options {
        scan: baselink_scan::ScanOptions {
            charset: Some(Charset::UTF_8),
            ..Default::default()
        },
        ..Options::at("http://a/")
    };
    let rewritten = rewrite(page, &options);
    rewritten
        .report
        .links
        .iter()
        .map(|link| (link.element.to_string(), link.reference.to_string()))
        .collect()
}

/// Pieces of pages: tags that are adapted, traps around them, and tags that move others in the tree.
const PIECES: &[&str] = &[
    "<!doctype html>",
    "<html a=b>",
    "<head>",
    "</head>",
    "<body>",
    "\n",
    " ",
    "x",
    "é",
    "<!--x-->",
    "<script src=x crossorigin></script>",
    "<script>",
    "</script>",
    "<img src=x ",
    "<img src='x'",
    "<image href='x'/",
    "crossorigin",
    " integrity=x",
    "integrity='x'",
    "/",
    ">",
    "/>",
    " ",
    "=",
    "async",
    "\"",
    "<svg>",
    "</svg>",
    "<math>",
    "<style>",
    "</style>",
    "<table>",
    "<template>",
    "</template>",
    "<noscript>",
    "<title>",
    "</title>",
    "<p>",
    "<video crossorigin>",
    "<source src=y>",
    "<frameset>",
    "<![CDATA[",
    "]]>",
    "<desc>",
    "<meta http-equiv=content-security-policy content='img-src https:'>",
    "<meta charset=koi8-r>",
    "<?xml version='1.0'?>",
    "<link rel=stylesheet href=../x.css integrity>",
    "</p>",
    "</html>",
    "</br>",
    "</x ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// The adapted page declares the encoding of the heading.
    #[test]
    fn an_adaptation_keeps_links_and_tree(chosen in prop::collection::vec(prop::sample::select(PIECES), 0..14)) {
        // `]]>` ends a comment that would otherwise move behind the new element.
        let page = chosen.concat() + "]]>";
        let output = adapt(page.as_bytes(), Format::Html, Some(Charset::UTF_8));
        prop_assert_eq!(links(&output), links(page.as_bytes()), "{}", &page);
        let output = String::from_utf8(output).unwrap();
        let is_declared = output.contains("<meta charset=\"UTF-8\">");
        prop_assert!(is_declared);
        prop_assert_eq!(tree(&output, true), tree(&page, false), "{} -> {}", &page, &output);
        prop_assert!(adapted(output.as_bytes(), Words::of_adaptations(output.as_bytes()), &given(Format::Html, None), true).0.is_empty());
    }

    #[test]
    fn any_bytes_can_be_adapted(bytes in prop::collection::vec(prop::sample::select(b"<!?xml >='\"/-@charset;img\xe9\x1b$(B\0meta".to_vec()), 0..60)) {
        for label in ["utf-8", "koi8-r", "shift_jis", "iso-2022-jp", "utf-16le", "x-user-defined", ""] {
            for format in [Format::Html, Format::Css, Format::Xml] {
                adapt(&bytes, format, charset(label));
            }
        }
    }
}

/// A page out of an archive. Its script and its style sheet are in UTF-8, but do not declare it.
const PAGE: &str = "<!doctype html><html><head><meta http-equiv=Content-Security-Policy content='img-src https://a.example'>
<link rel=stylesheet href=x.css crossorigin><script src=x.js defer integrity='sha256-z7w7LjS3cJaTKnMVO3yJ0jTzT0JzZQb0u3hXBYtRkEQ='></script>
</head><body><p id=text>x</p><img src=x.svg><audio crossorigin preload=auto><source src=x.wav></audio></body></html>";

/// The files of the page: name, content, and an expression that is true if the page has loaded the file.
const LOADED: &[(&str, &str, &str)] = &[
    (
        "x.css",
        "#text::before { content: 'é' }",
        "getComputedStyle(document.querySelector('#text'), '::before').content === '\"é\"'",
    ),
    (
        "x.js",
        "document.querySelector('#text').textContent = 'ж'",
        "document.querySelector('#text').textContent === 'ж'",
    ),
    (
        "x.svg",
        "<svg xmlns='http://www.w3.org/2000/svg' width='3' height='3'/>",
        "document.images[0].naturalWidth === 3",
    ),
];

#[test]
fn an_adapted_page_loads_its_files_from_disk() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scene = tempfile::tempdir().unwrap();
    for (name, content, _) in LOADED {
        fs::write(scene.path().join(name), content).unwrap();
    }
    fs::write(scene.path().join("x.wav"), "").unwrap();
    let page = scene.path().join("page.html");
    let adapted = adapt(PAGE.as_bytes(), Format::Html, charset("utf-8"));
    for (content, is_loaded) in [(PAGE.as_bytes(), false), (&adapted, true)] {
        fs::write(&page, content).unwrap();
        let seen = browser.open(&file_url(&page));
        for (name, _, condition) in LOADED {
            let failure = seen.requests.iter().find(|(url, _)| url.ends_with(name));
            assert_eq!(
                browser.value(condition),
                json!(is_loaded),
                "{name}: {failure:?}"
            );
        }
    }
}
