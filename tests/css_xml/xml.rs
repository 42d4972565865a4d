//! The laws on XML assembled from traps, hostile XML, and the reports about it.

use std::sync::LazyLock;

use baselink::{BaseElement, Fragments, Outcome, Reason, Report};
use baselink_rewrite::base::Status;
use baselink_rewrite::{Options, rewrite};
use baselink_scan::attributes::Groups;
use baselink_text::diagnostic::Code;
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_url::Resolver;
use baselink_verify::verify;
use proptest::prelude::*;

const XML: [Format; 3] = [Format::Xhtml, Format::Svg, Format::Xml];

/// Text that changes a namespace, a base, the structure, or the interpretation of a value.
const TRAPS: &[&str] = &[
    "<a href='x'>",
    "<a href=\"../y?a&amp;b\"/>",
    "<a href='&#x2F;w'/>",
    "<a href='&#x2e;./h'/>",
    "<a href=''/>",
    "<a href='#f'/>",
    "<a href='java&#10;script:x'/>",
    "<a href='z\t'/>",
    "<a href=u/>",
    "<a href='x' href='y'/>",
    "</a>",
    "<h:a xmlns:h='http://www.w3.org/1999/xhtml' href='p'/>",
    "<h:base href='hb/'/>",
    "<base href='b/'/>",
    "<base href='b/' target='t'/>",
    "<base href='mailto:x'/>",
    "<head>",
    "</head>",
    "<p xml:base='c/'>",
    "<p xml:base=''>",
    "<p xml:base='//o/d/'>",
    "<p xml:base='&e;'>",
    "<p xml:base='data:,x' style='a:url(s)'>",
    "</p>",
    "<p xml:base='e/' style='a:url(&quot;s&quot;)'/>",
    "<svg xmlns='http://www.w3.org/2000/svg' xmlns:l='http://www.w3.org/1999/xlink'>",
    "<use l:href='#i'/><image l:href='i'/>",
    "<path fill='url(#p) url(o)'/>",
    "</svg>",
    "<style>a{b:url(c d)}@import 'f';</style>",
    "<style><![CDATA[@import 'g&h';]]></style>",
    "<style>@import <![CDATA['k']]>;a{b:url(m<![CDATA[n)}]]></style>",
    "<iframe srcdoc=\"&lt;a href='q'>&lt;base href=&quot;r/&quot;>\"/>",
    "<f:feed xmlns:f='http://www.w3.org/2005/Atom' xml:base='atom/'>",
    "<f:content type='html'>&lt;a href=\"x?a&amp;amp;b\">&lt;img src=y></f:content>",
    "<f:content type='html'><![CDATA[<a href=\"x?a&amp;b\"><img src=y><style>a{b:url(]]>",
    "<![CDATA[z)}</style>]]></f:content>",
    "<f:content type='html'>&lt;a href='<![CDATA[v'>]]></f:content>",
    "<f:summary type='html'>&lt;a href=&#34;j&#34;&e;></f:summary>",
    "<f:logo> logo&amp;x </f:logo><f:icon><![CDATA[icon&]]></f:icon>",
    "<f:uri>u<!-- c -->v</f:uri><f:uri>u<b/>v</f:uri>",
    "<f:id>id</f:id>",
    "</f:feed>",
    "<x:include xmlns:x='http://www.w3.org/2001/XInclude' href='inc'/>",
    "<q xmlns:s='http://www.w3.org/2001/XMLSchema-instance' s:schemaLocation='n a  m\tb'/>",
    "<script type='importmap'>{\"imports\":{\"a\":\"./m.js\"}}</script>",
    "<object codebase='k/' data='d'/>",
    "<!-- <a href='comment'> -->",
    "<!--",
    "<?pi href='pi'?>",
    "<?pi",
    "<![CDATA[<a href='cdata'>]]>",
    "<![CDATA[",
    "]]>",
    "&e;",
    "&x;",
    "&",
    "&amp",
    "<a href='&e;/x'/>",
    "<a href='http://h/&x;'/>",
    "<a href='&x;'/>",
    "<a xmlns='' href='none'/>",
    "<template>",
    "</template>",
    "{{t}}",
    "<a href='{{t}}/x'/>",
    "text",
    " ",
    "\n",
    "\r\n",
    "\0",
    "é",
    "\u{feff}",
    "<",
    "</",
    "<!",
    ">",
    "'",
    "\"",
];

const BEGINNINGS: &[&str] = &[
    "",
    "<html xmlns='http://www.w3.org/1999/xhtml'>",
    "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY e '../i/'>]>\n<html xmlns='http://www.w3.org/1999/xhtml' xml:base='r/'>",
    "<?xml-stylesheet href=\"s?a&amp;b\"?><h:html xmlns:h='http://www.w3.org/1999/xhtml' xmlns='http://www.w3.org/1999/xhtml'><h:head>",
    "<rss><channel><link>l</link><description>&lt;a href='d'></description>",
    "<svg xmlns='http://www.w3.org/2000/svg' xml:base='//o/'>",
    "\u{feff}<r>",
];

const ENDS: &[&str] = &["", "</html>", "</channel></rss>", "</svg>", "</r>"];

fn document() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(TRAPS);
    (
        prop::sample::select(BEGINNINGS),
        prop::collection::vec(piece, 0..12),
        prop::sample::select(ENDS),
        any::<u8>(),
    )
        .prop_map(|(begin, pieces, end, encoding)| {
            let text = format!("{begin}{}{end}", pieces.concat());
            match encoding % 8 {
                0 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                1 => text
                    .chars()
                    .map(|character| u8::try_from(character).unwrap_or(b'?'))
                    .collect(),
                _ => text.into_bytes(),
            }
        })
}

/// A well-formed document, assembled from the traps that are well-formed alone, and from start tags that get end tags.
fn well_formed() -> impl Strategy<Value = Vec<u8>> {
    static PIECES: LazyLock<Vec<(&str, Option<&str>)>> = LazyLock::new(|| {
        let is_well_formed = |text: String| {
            let report = rewrite(
                text.as_bytes(),
                &Options {
                    format: Format::Xml,
                    ..Options::default()
                },
            )
            .report;
            report
                .diagnostics
                .iter()
                .all(|diagnostic| diagnostic.code != Code::NotWellFormed)
        };
        let piece = |&trap: &&'static str| {
            if is_well_formed(format!("<r>{trap}</r>")) {
                return Some((trap, None));
            }
            let name = trap.strip_prefix('<')?.split([' ', '>']).next()?;
            if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
                return None;
            }
            is_well_formed(format!("<r>{trap}</{name}></r>")).then_some((trap, Some(name)))
        };
        TRAPS.iter().filter_map(piece).collect()
    });
    assert!(PIECES.len() > 50, "{}", PIECES.len());
    let piece = prop::sample::select(PIECES.as_slice());
    let beginning = prop::sample::select(&BEGINNINGS[1..3]);
    (beginning, prop::collection::vec((piece, 0..4_u8), 0..24)).prop_map(|(beginning, pieces)| {
        let mut text = beginning.to_owned();
        let mut open = vec!["html"];
        for ((piece, name), ends) in pieces {
            text.push_str(piece);
            open.extend(name);
            if ends == 0 && open.len() > 1 {
                text.push_str(&format!("</{}>", open.pop().unwrap()));
            }
        }
        while let Some(name) = open.pop() {
            text.push_str(&format!("</{name}>"));
        }
        text.into_bytes()
    })
}

fn base() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "http://a/b/c/d;p?q#f",
        "http://a/x]]/\"'<>`=/&amp;(,)]]>/",
        "http://é/表/?q=a&b,",
        "http://a",
    ])
}

fn options(url: &str, format: Format, resolver: Resolver) -> Options {
    let mut options = Options {
        resolver,
        format,
        ..Options::at(url)
    };
    options.scan.groups = Groups::all();
    options
}

fn check_laws(document: &[u8], options: &Options) -> Result<(), TestCaseError> {
    let rewritten = rewrite(document, options);
    let report = &rewritten.report;
    let counted: usize = Outcome::ALL
        .iter()
        .map(|&outcome| report.count(outcome))
        .sum();
    prop_assert_eq!(counted, report.links.len());
    for link in &report.links {
        let has_reason = matches!(link.outcome, Outcome::Left | Outcome::NotEditable);
        prop_assert_eq!(link.reason.is_some(), has_reason);
    }
    prop_assert_eq!(verify(&rewritten), Ok(()));
    let output = rewritten.output();
    let again = rewrite(&output, options);
    let shown = String::from_utf8_lossy(&output);
    prop_assert!(again.edits.is_empty(), "{:?} in {shown}", again.edits);
    let not_well_formed = |report: &Report| {
        report
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.code == Code::NotWellFormed)
    };
    prop_assert_eq!(
        not_well_formed(report),
        not_well_formed(&again.report),
        "{}",
        shown
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(debug_assertions) { 1_500 } else { 20_000 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rewriting_is_exact_and_done_once(document in document(), url in base()) {
        for format in XML {
            for resolver in Resolver::ALL {
                check_laws(&document, &options(url, format, resolver))?;
            }
        }
    }

    #[test]
    fn rewriting_keeps_documents_well_formed(document in well_formed(), url in base()) {
        for format in [Format::Xhtml, Format::Xml] {
            for resolver in Resolver::ALL {
                let options = options(url, format, resolver);
                check_laws(&document, &options)?;
                let codes = codes(&rewrite(&document, &options).report);
                prop_assert!(!codes.contains(&Code::NotWellFormed), "{:?}", codes);
            }
        }
    }

    #[test]
    fn the_laws_hold_with_every_policy(document in prop_oneof![document(), well_formed()], url in base()) {
        for format in [Format::Xhtml, Format::Xml] {
            let options = options(url, format, Resolver::Rfc1808);
            for fragments in [Fragments::Keep, Fragments::Auto] {
                check_laws(&document, &Options { fragments: Some(fragments), ..options.clone() })?;
            }
            check_laws(&document, &Options { base_element: BaseElement::Keep, ..options.clone() })?;
        }
    }

    #[test]
    fn without_a_base_nothing_changes(document in prop_oneof![document(), well_formed()]) {
        for format in XML {
            let mut options = Options { format, ..Options::default() };
            options.scan.groups = Groups::all();
            let rewritten = rewrite(&document, &options);
            let declares_base = rewritten.report.links.iter().any(|link| link.base.is_some());
            prop_assert!(declares_base || rewritten.output() == document);
        }
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let document = [b"<html xmlns='http://www.w3.org/1999/xhtml'><a href='x'/>", &bytes[..]].concat();
        check_laws(&document, &options("http://a/b", Format::Xhtml, Resolver::Rfc1808))?;
        check_laws(&bytes, &options("http://a/b", Format::Xml, Resolver::Rfc1808))?;
    }
}

fn check(document: &[u8]) -> Report {
    check_as(document, Format::Xml)
}

/// Rewrites with a base, checks the laws, and returns the report.
fn check_as(document: &[u8], format: Format) -> Report {
    let options = Options {
        format,
        ..Options::at("http://a/b/c")
    };
    let rewritten = rewrite(document, &options);
    assert_eq!(verify(&rewritten), Ok(()));
    assert!(rewrite(&rewritten.output(), &options).edits.is_empty());
    rewritten.report
}

fn codes(report: &Report) -> Vec<Code> {
    report
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect()
}

const ATOM: &str = "<feed xmlns='http://www.w3.org/2005/Atom'>";

#[test]
fn half_a_million_nested_elements() {
    for (open, close) in [("<e>", "</e>"), ("<e>", ""), ("<e xmlns:p='q'>", "</e>")] {
        let document = [
            ATOM,
            &open.repeat(500_000),
            "<link href='x'/>",
            &close.repeat(500_000),
            "</feed>",
        ];
        let report = check(document.concat().as_bytes());
        assert_eq!(report.count(Outcome::Rewritten), 1, "{open}");
        assert_eq!(
            codes(&report).contains(&Code::NotWellFormed),
            close.is_empty()
        );
    }
}

#[test]
fn bases_relative_to_each_other_half_a_million_deep() {
    let open = "<e xml:base='d/'>".repeat(500_000);
    let document = [
        ATOM,
        &open,
        "<link href='x'/>",
        &"</e>".repeat(500_000),
        "</feed>",
    ]
    .concat();
    let options = Options {
        format: Format::Xml,
        ..Options::at("http://a/")
    };
    let report = rewrite(document.as_bytes(), &options).report;
    // A base has at most 8,192 bytes: `http://a/` and 4,091 times `d/`. The remaining links have a longer base.
    assert_eq!(report.count(Outcome::Rewritten), 4_092);
    let unresolved = report
        .links
        .iter()
        .filter(|link| link.reason == Some(Reason::BaseUnusable));
    assert_eq!(unresolved.count(), 500_001 - 4_092);
}

#[test]
fn a_hundred_megabytes_in_one_attribute() {
    let mut document = format!("{ATOM}<link href='x'/><link title='").into_bytes();
    document.resize(100_000_000, b'y');
    document.extend_from_slice(b"'/><link href='z'/></feed>");
    let options = Options {
        format: Format::Xml,
        ..Options::at("http://a/b/c")
    };
    let rewritten = rewrite(&document, &options);
    assert_eq!(rewritten.report.count(Outcome::Rewritten), 2);
    assert_eq!(
        rewritten.output().len(),
        document.len() + 2 * "http://a/b/".len()
    );
}

#[test]
fn a_million_attributes_or_namespaces_in_one_tag() {
    for name in ["a", "xmlns:a"] {
        let mut document = format!("{ATOM}<link ");
        for number in 0..1_000_000 {
            document.push_str(&format!("{name}{number}='b' "));
        }
        document.push_str("href='x'/></feed>");
        let options = Options {
            format: Format::Xml,
            ..Options::at("http://a/b/c")
        };
        let report = rewrite(document.as_bytes(), &options).report;
        assert_eq!(
            (report.count(Outcome::Rewritten), codes(&report)),
            (1, vec![])
        );
    }
}

#[test]
fn entities_made_of_entities() {
    let mut document = "<!DOCTYPE feed [<!ENTITY l0 'lol'>".to_owned();
    for level in 1..40 {
        let ten = format!("&l{};", level - 1).repeat(10);
        document += &format!("<!ENTITY l{level} '{ten}'>");
    }
    document += &format!("]>{ATOM}<link href='x'/><link href='&l39;'/><link href='&l0;'/></feed>");
    let report = check(document.as_bytes());
    let reasons: Vec<_> = report.links.iter().map(|link| link.reason).collect();
    assert_eq!(reasons, [None, Some(Reason::Entity), Some(Reason::Entity)]);
}

/// Each shape is repeated until the document has a quarter of a megabyte.
#[test]
fn repeated_shapes_take_linear_time() {
    for shape in [
        "<",
        "<a",
        "<a ",
        "<a b='",
        "</",
        "<!",
        "<!--",
        "<!-- --",
        "<![CDATA[",
        "&",
        "&a",
        "&#",
        "&a;",
        "<?",
        "<?a",
        "]]>",
        "<a/>",
        "<a xmlns='",
        "<a xml:base='b/'/>",
        "<a xml:base='b/'>",
        "<!DOCTYPE",
        "<!DOCTYPE a [",
        "<!ENTITY a '",
        "\0",
        "\r",
        "<a>",
        "<style>",
        "<base href='x'/>",
        "<template>",
        "<link>",
        "<content type='html'>",
        "<content type='html'>&lt;a href='x'>",
        "<content type='html'><![CDATA[<a href='x'>]]></content>",
        "<style>@import 'x';</style>",
        "<style><![CDATA[@import 'x';]]></style>",
        "<iframe srcdoc='&lt;a href=x>'/>",
    ] {
        for begin in [
            "",
            "<html xmlns='http://www.w3.org/1999/xhtml'>",
            ATOM,
            "<!DOCTYPE a [",
        ] {
            check_as(
                [begin, &shape.repeat(250_000 / shape.len())]
                    .concat()
                    .as_bytes(),
                Format::Xhtml,
            );
        }
    }
}

#[test]
fn text_split_into_pieces_is_joined() {
    for (before, shape, after) in [
        (
            "<content type='html'>",
            "<![CDATA[<a href='x'>]]>",
            "</content>",
        ),
        (
            "<content type='html'>",
            "<![CDATA[<a href='x]]>'><!---->",
            "</content>",
        ),
        (
            "<content type='html'>",
            "&lt;a href='x'><![CDATA[ ]]>",
            "</content>",
        ),
        ("<logo>", "<![CDATA[x]]>&amp;", "</logo>"),
        ("<logo>", "<!-- x -->", "</logo>"),
        (
            "<h:style xmlns:h='http://www.w3.org/1999/xhtml'>",
            "@import <![CDATA['x']]>;",
            "</h:style>",
        ),
        ("<link href='", "&amp;", "'/>"),
        ("<link href='", "../", "'/>"),
        ("<link href='", "\n", "'/>"),
    ] {
        let text = shape.repeat(500_000 / shape.len());
        let report = check([ATOM, before, &text, after, "</feed>"].concat().as_bytes());
        assert!(
            !codes(&report).contains(&Code::NotWellFormed),
            "{before}{shape}"
        );
    }
}

#[test]
fn utf_16_is_detected_without_a_mark() {
    for (encode, name) in [
        (u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"),
        (u16::to_be_bytes, "UTF-16BE"),
    ] {
        let text = format!("<?xml version='1.0'?>{ATOM}<link href='x'/>\u{0}</feed>");
        let mut document: Vec<u8> = text.encode_utf16().flat_map(encode).collect();
        document.push(0);
        let report = check(&document);
        assert_eq!(
            report.entities[0].charset,
            Charset::for_label(name).unwrap()
        );
        assert_eq!(report.count(Outcome::Rewritten), 1);
    }
}

/// The position of the first fault (XML 1.0, 2.1).
#[test]
fn faults_are_reported_with_their_position() {
    for (document, at) in [
        ("<a><b></a>", 6),
        ("<a>", 3),
        ("<a/><b/>", 4),
        ("<a/>b", 4),
        (" b<a/>", 1),
        ("<a b=c/>", 3),
        ("<a b='1' b='2'/>", 9),
        ("<a><b c='<'/></a>", 6),
        ("</a>", 0),
        ("<a><!-- ", 3),
        ("", 0),
    ] {
        let report = check(document.as_bytes());
        let fault = report
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.code == Code::NotWellFormed)
            .unwrap();
        assert_eq!(fault.span.start, at, "{document}: {}", fault.message);
    }
    for document in [
        "<a/>",
        "<a>&</a>",
        "<a>&nbsp;]]></a>",
        "\n<?xml version='1.0'?><a/>\n<!---->",
    ] {
        assert_eq!(codes(&check(document.as_bytes())), [], "{document}");
    }
}

#[test]
fn every_declaration_of_a_base_is_in_the_chain() {
    let document = b"<r xml:base='b/'><e xml:base='c/'><f xml:base='javascript:x'/></e></r>";
    let report = check(document);
    let chain = &report.entities[0].chain;
    let levels: Vec<_> = chain
        .chain
        .iter()
        .map(|level| (level.source.name(), level.value.as_deref(), level.status))
        .collect();
    assert_eq!(
        levels,
        [
            ("xml-base", Some("b/"), Status::Taken),
            ("xml-base", Some("c/"), Status::PassedOver),
            ("xml-base", Some("javascript:x"), Status::Invalid),
            ("encapsulating", None, Status::Absent),
            ("retrieval", Some("http://a/b/c"), Status::PassedOver),
            ("default", None, Status::PassedOver),
        ]
    );
    assert_eq!(&document[chain.chain[1].span.unwrap().range()], b"c/");
    let link = &report.links[2];
    assert_eq!(link.reference, "javascript:x");
    assert_eq!(report.links[1].base.as_deref(), Some("http://a/b/b/"));
    assert_eq!(
        (
            report.links[1].rule.section(),
            report.links[1].source.name()
        ),
        ("3.1", "xml-base")
    );
}

/// The media type of a part determines its format (RFC 7303, 4.2).
#[test]
fn links_of_xml_in_messages_are_found() {
    let message = "Base: <URL:http://m/d/>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n\
        --b\nContent-Type: image/svg+xml\nContent-Transfer-Encoding: quoted-printable\n\n\
        <svg xmlns=3D'http://www.w3.org/2000/svg' xml:base=3D'e/'><a href=3D'x'/></svg>\n\
        --b\nContent-Type: application/atom+xml\n\n\
        <feed xmlns='http://www.w3.org/2005/Atom'><summary type='html'>&lt;a href='y'></summary></feed>\n--b--\n";
    let options = Options {
        format: Format::Message,
        ..Options::default()
    };
    let rewritten = rewrite(message.as_bytes(), &options);
    assert_eq!(verify(&rewritten), Ok(()));
    let links: Vec<_> = rewritten
        .report
        .links
        .iter()
        .map(|link| (&*link.entity, link.target.as_deref().unwrap()))
        .collect();
    assert_eq!(
        links,
        [
            ("1", "http://m/d/e/"),
            ("1", "http://m/d/e/x"),
            ("2.1", "http://m/d/y")
        ]
    );
}
