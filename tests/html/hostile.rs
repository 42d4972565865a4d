//! Hostile documents: the work is bounded, bytes are kept, and a diagnostic reports each limit that is reached. If the
//! time grew faster than the input, these tests would not finish.

use baselink::{Outcome, Report};
use baselink_rewrite::{Options, edits, rewrite};
use baselink_scan::Scanner;
use baselink_text::diagnostic::Code;
use baselink_verify::verify;

/// Rewrites with a base, checks the laws, and returns the report.
fn check(document: &[u8]) -> Report {
    let untouched = rewrite(document, &Options::default());
    assert!(untouched.edits.is_empty());
    let options = Options::at("http://a/b/c");
    let rewritten = rewrite(document, &options);
    assert_eq!(verify(&rewritten), Ok(()));
    let output = rewritten.output();
    let again = rewrite(&output, &options);
    assert!(again.edits.is_empty());
    rewritten.report
}

fn codes(report: &Report) -> Vec<Code> {
    report
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect()
}

#[test]
fn half_a_million_nested_elements() {
    for (open, close) in [
        ("<div>", ""),
        ("<b>", ""),
        ("<svg><g>", ""),
        ("<span>", "</span>"),
    ] {
        let document = [&open.repeat(500_000), "<a href=x>", &close.repeat(500_000)].concat();
        let report = check(document.as_bytes());
        assert_eq!(report.count(Outcome::Rewritten), 1, "{open}");
        assert_eq!(codes(&report), [], "{open}");
        let mut options = Options::at("http://a/b/c");
        options.scan.scanner = Scanner::Exact;
        let exact = rewrite(document.as_bytes(), &options).report;
        assert_eq!(exact.count(Outcome::Rewritten), 1, "{open}");
        // Of these only `div` makes html5ever search the stack of open elements for each tag.
        let is_searched = open == "<div>";
        assert_eq!(
            codes(&exact).contains(&Code::WithoutTree),
            is_searched,
            "{open}"
        );
    }
}

#[test]
fn repeatedly_opened_formatting_elements() {
    let mut document = "<p>".to_owned();
    for number in 0..20_000 {
        document.push_str(&format!("<b id={number}><p><a href=x>"));
    }
    assert_eq!(check(document.as_bytes()).count(Outcome::Rewritten), 20_000);
}

#[test]
fn two_hundred_thousand_attributes_on_one_tag() {
    let mut document = "<base href=/d/><a ".to_owned();
    for number in 0..200_000 {
        document.push_str(&format!("a{number}=b "));
    }
    document.push_str("href=x href=y><a href=z>");
    let report = check(document.as_bytes());
    let targets: Vec<_> = report
        .links
        .iter()
        .map(|link| link.target.as_deref().unwrap())
        .collect();
    assert_eq!(targets, ["http://a/d/", "http://a/d/x", "http://a/d/z"]);
    assert!(!codes(&report).contains(&Code::WithoutTree));
    // html5ever would compare the attributes pairwise.
    let report = check(format!("<b><svg></b>{document}").as_bytes());
    assert!(codes(&report).contains(&Code::WithoutTree));
}

/// bug 688: the attributes of a tag were counted at twice its length, so after a value of 4 MB html5ever compared 400,000
/// pairwise, which took minutes.
#[test]
fn four_hundred_thousand_attributes_after_a_long_value() {
    let mut document = format!("<b><svg></b><i x={}", "y".repeat(4_200_000));
    for number in 0..400_000 {
        document.push_str(&format!(" <a{number}"));
    }
    document.push_str("><a href=z>");
    let report = check(document.as_bytes());
    assert_eq!(report.count(Outcome::Rewritten), 1);
    assert!(codes(&report).contains(&Code::WithoutTree));
}

/// bug 376: each link had a copy of the `rel` of its element, so a page of 330 KB took 3.9 GB. All links of an element share
/// it now, and one of more than 1,000 bytes, which each row of a list would repeat, is left out.
#[test]
fn a_hundred_thousand_links_of_an_element_with_a_long_rel() {
    for (length, is_kept) in [(1_000, true), (1_001, false), (300_000, false)] {
        let (rel, links) = ("r".repeat(length), "x ".repeat(100_000));
        for page in [
            format!("<a rel={rel} href=x ping='{links}'>"),
            format!("<a rel={rel} href=&#120; ping='{links}'>"),
            format!(
                "<link rel={rel} href=x imagesrcset='{}'>",
                "x 1x, ".repeat(100_000)
            ),
        ] {
            let report = check(page.as_bytes());
            let rels = report.links.iter().filter(|link| link.rel.is_some());
            let expected = if is_kept { 100_001 } else { 0 };
            assert_eq!((report.links.len(), rels.count()), (100_001, expected));
        }
    }
}

#[test]
fn a_hundred_megabytes_in_one_line() {
    let mut document = b"<a href=x>".to_vec();
    document.resize(100_000_000, b'y');
    document.extend_from_slice(b"<a href=z>");
    let options = Options::at("http://a/b/c");
    let rewritten = rewrite(&document, &options);
    assert_eq!(rewritten.report.count(Outcome::Rewritten), 2);
    assert_eq!(
        rewritten.output().len(),
        document.len() + 2 * "http://a/b/".len()
    );
}

/// Any later base may precede the first one in tree order. A search from the start for each would take hours.
#[test]
fn three_hundred_thousand_bases() {
    let document = "<base href=x>".repeat(300_000);
    let (_, totals) = edits(document.as_bytes(), &Options::at("http://a/"));
    assert_eq!(totals.count(Outcome::Rewritten), 300_000);
}

/// A browser saves a `base` without `href` as a comment and `<base href=.>`, which declare no base.
#[test]
fn half_a_million_commented_bases() {
    let document = "<!--<base>--><base href=.>".repeat(500_000) + "<a href=x>";
    let (_, totals) = edits(document.as_bytes(), &Options::at("http://a/"));
    assert_eq!(totals.links(), 500_001);
}

/// The markup in each comment is searched for bases, but the place where the search may end is determined only once.
#[test]
fn half_a_million_conditional_comments_before_a_base() {
    let document = "<!--[if x]><a href=y><![endif]-->".repeat(500_000) + "<base href=/b/>";
    let (_, totals) = edits(document.as_bytes(), &Options::at("http://a/"));
    assert_eq!(totals.links(), 500_001);
}

/// Each shape is repeated until the document has a quarter of a megabyte.
#[test]
fn repeated_shapes_take_linear_time() {
    for shape in [
        "<",
        "<a",
        "<a ",
        "<a href=\"",
        "<a href='x",
        "</",
        "<!",
        "<!--",
        "<!-- --",
        "<![CDATA[",
        "&",
        "&a",
        "&#",
        "<script>",
        "<script><!--",
        "<!--<script ",
        "</script ",
        "<style>",
        "<style>a{b:url(",
        "<svg>",
        "<svg><style>",
        "<math><mi>",
        "<template>",
        "<noscript>",
        "<noembed>",
        "<noframes>",
        "<!--[if x]>",
        "<table>",
        "<td>",
        "<select><option>",
        "<base href=x>",
        "<base>",
        "<base href",
        "<iframe srcdoc='",
        // Each link is in a document of its own, and browsers give it another target than RFC 1808.
        "<iframe srcdoc='<a href=../../x>'>",
        "<a srcset='",
        "-",
        "--",
        "]]>",
        "<plaintext>",
        "<frameset>",
        "<p><a href=x>",
        "<b><i><p>",
        "\0",
        "\r",
        "<a href=x/",
        "<a =",
        "<?",
        "<svg/><base ",
        "<title>",
        "<textarea></textarea ",
        "<form><form>",
        "<a><table>",
        "<b></p>",
        "<nobr>",
    ] {
        let document = shape.repeat(250_000 / shape.len());
        check(document.as_bytes());
    }
}

#[test]
fn repeated_value_shapes_take_linear_time() {
    for (before, shape, after) in [
        ("<img srcset=\"", ",", "\">"),
        ("<img srcset=\"", "a (", "\">"),
        ("<img srcset=\"", "a 1x, ", "\">"),
        ("<a ping=\"", "x ", "\">"),
        ("<a href=\"", "../", "\">"),
        ("<a href=\"", "&amp;", "\">"),
        ("<a href=\"", "./", "\">"),
        ("<a href=\"", "a/../", "\">"),
        ("<p style=\"", "a:url(b);", "\">"),
        ("<p style=\"", "url(", "\">"),
        ("<p style=\"", "(", "\">"),
        ("<p style='", "\"", "'>"),
        ("<p style=\"", "\\", "\">"),
        ("<style>", "@import 'x';", "</style>"),
        ("<style>", "{", "</style>"),
        ("<svg><style>", "<![CDATA[a]]>", "</style>"),
        ("<svg><style>", "<![CDATA[@import 'a';]]>", "</style>"),
        ("<meta http-equiv=refresh content='1;", " ", "'>"),
        ("<!--[if x]>", "]>", "<![endif]-->"),
        ("<noscript>", "<noscript>", "</noscript>"),
        ("<noembed>", "<noembed><a href=x>", "</noembed>"),
    ] {
        let document = [before, &shape.repeat(1_000_000 / shape.len()), after].concat();
        check(document.as_bytes());
    }
}

#[test]
fn nested_documents_are_scanned_up_to_a_limit() {
    let mut document = "<a href=x>".to_owned();
    for _ in 0..30 {
        let escaped = document
            .replace('&', "&amp;")
            .replace('"', "&quot;")
            .replace('>', "&gt;");
        document = format!("<iframe srcdoc=\"{escaped}\">");
    }
    assert_eq!(codes(&check(document.as_bytes())), [Code::TooDeep]);

    let mut nested = "<a href=x>".to_owned();
    for _ in 0..10 {
        let escaped = nested.replace('&', "&amp;").replace('"', "&quot;");
        nested = format!("<iframe srcdoc=\"{escaped}\">");
    }
    let report = check(nested.as_bytes());
    assert_eq!(report.count(Outcome::Rewritten), 1);
    assert_eq!(&*report.links[0].entity, "1.1.1.1.1.1.1.1.1.1");
}

#[test]
fn lone_surrogates_and_odd_lengths_in_utf_16() {
    let mut document = b"\xff\xfe".to_vec();
    for unit in "<a href=x"
        .encode_utf16()
        .chain([0xd800])
        .chain("y>\u{0}".encode_utf16())
    {
        document.extend(unit.to_le_bytes());
    }
    document.push(b'<');
    let options = Options::at("http://a/b/c");
    let rewritten = rewrite(&document, &options);
    assert_eq!(rewritten.report.count(Outcome::Rewritten), 1);
    let output = rewritten.output();
    let kept: Vec<u8> = [0x78, 0x00, 0x00, 0xd8, 0x79, 0x00].to_vec();
    assert!(output.windows(kept.len()).any(|window| window == kept));
    assert_eq!(output.last(), Some(&b'<'));
}
