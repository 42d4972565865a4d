//! The laws on style sheets: as properties of sheets assembled from traps, and on hostile sheets.

use baselink::{Fragments, Outcome, Report};
use baselink_rewrite::{Options, rewrite};
use baselink_scan::attributes::Groups;
use baselink_scan::css;
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_url::Resolver;
use baselink_verify::verify;
use proptest::prelude::*;

use crate::referee;

/// Pieces that begin or end tokens, open or close blocks, contain URLs, or are malformed.
const TRAPS: &[&str] = &[
    "url(a)",
    "url( ../b )",
    "url(\"c\")",
    "url('./d'",
    "url(",
    "u\\72l(e",
    "URL(#f)",
    "url(#)",
    "url()",
    "url(\"\")",
    "url(g h)",
    "url(i\"j)",
    "url(k \\) ",
    "url(\\",
    "src('l')",
    "src(m)",
    "image-set('n' 1x, ",
    "type('o')",
    "image(\"p\"",
    "cross-fade(",
    "filter('q')",
    "var(--r, 's')",
    "target-counter('t', ",
    "AlphaImageLoader(src='u'",
    "expression(",
    "attr(",
    "format('v')",
    "@import 'w';",
    "@import \"../x",
    "@imp\\6f rt url(y) ",
    "@import ",
    "@namespace 'z';",
    "@namespace url(A)",
    "@document url-prefix('B') {",
    "@supports (C: url(D)) ",
    "@media ",
    "@charset \"utf-8\";",
    "@font-face{src:local('E'),url(F)}",
    "E{F:",
    "--G:",
    "[H='I']",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ":",
    ",",
    "'",
    "\"",
    "\\",
    "\\\n",
    "\\\r\n",
    "\\41 ",
    "\\2f",
    "\\22",
    "\\",
    "/*",
    "*/",
    "/*/",
    "/",
    "*",
    "<!--",
    "-->",
    " ",
    "\n",
    "\r",
    "\u{c}",
    "\t",
    "\0",
    "\u{1}",
    "\u{7f}",
    "é",
    "表",
    "😀",
    "\u{feff}",
    "\u{fffd}",
    "{{J}}",
    "'{{ K }}'",
    "//L/M",
    "/N",
    "?O",
    "..",
    "./",
    "http://P/",
    "data:,Q",
    "java\\\nscript:R",
    "1e9",
    "#S",
    "u+0-7f",
    "T",
];

fn style_sheet() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TRAPS), 0..24).prop_map(|pieces| pieces.concat())
}

fn base() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "http://a/b/c/d;p?q#f",
        "http://a/x y/\"'<>(,)\\z/",
        "http://a/\n\t/*}/",
        "http://é/表/?q=a&b,",
        "file:///C:/d/e",
        "http://a",
        "http://a/b\\",
        "urn:a:b",
    ])
}

fn options(url: &str, resolver: Resolver) -> Options {
    let mut options = Options {
        resolver,
        format: Format::Css,
        ..Options::at(url)
    };
    options.scan.groups = Groups::all();
    options
}

fn check_laws(sheet: &[u8], options: &Options) -> Result<Report, TestCaseError> {
    let rewritten = rewrite(sheet, options);
    let report = &rewritten.report;
    let counted: usize = Outcome::ALL
        .iter()
        .map(|&outcome| report.count(outcome))
        .sum();
    prop_assert_eq!(counted, report.links.len());
    for link in &report.links {
        let has_reason = matches!(link.outcome, Outcome::Left | Outcome::NotEditable);
        prop_assert_eq!(link.reason.is_some(), has_reason);
        prop_assert_eq!((&*link.element, link.attribute.as_deref()), ("", None));
    }
    prop_assert_eq!(verify(&rewritten), Ok(()));
    let output = rewritten.output();
    let again = rewrite(&output, options);
    let shown = String::from_utf8_lossy(&output);
    prop_assert!(again.edits.is_empty(), "{:?} in {}", again.edits, shown);
    // The bytes outside the edits are present, in order.
    let (mut at, mut out) = (0, 0);
    for edit in rewritten.edits.iter() {
        let kept = &sheet[at..edit.span.start];
        prop_assert!(output[out..].starts_with(kept));
        out += kept.len() + edit.new.len();
        at = edit.span.end;
    }
    prop_assert_eq!(&output[out..], &sheet[at..]);
    Ok(rewritten.report)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 3_000 } else { 40_000 }))]

    #[test]
    fn without_a_base_nothing_changes(sheet in style_sheet()) {
        let mut options = options("http://a/", Resolver::Rfc1808);
        options.retrieval = None;
        let rewritten = rewrite(sheet.as_bytes(), &options);
        prop_assert_eq!(rewritten.output(), sheet.as_bytes());
    }

    #[test]
    fn rewriting_is_exact_and_done_once(sheet in style_sheet(), url in base()) {
        for resolver in Resolver::ALL {
            check_laws(sheet.as_bytes(), &options(url, resolver))?;
        }
        for fragments in [Fragments::Keep, Fragments::Auto] {
            check_laws(sheet.as_bytes(), &Options { fragments: Some(fragments), ..options(url, Resolver::Rfc1808) })?;
        }
    }

    /// The sheet has the same links in UTF-16, and rewrites to the same text.
    #[test]
    fn links_do_not_depend_on_the_encoding(sheet in style_sheet(), url in base()) {
        let utf_16 = Charset::for_label("utf-16be").unwrap();
        let bytes = [vec![0xfe, 0xff], utf_16.encode(&sheet).unwrap()].concat();
        let marked = format!("\u{feff}{sheet}");
        let options = options(url, Resolver::Rfc1808);
        let plain = rewrite(marked.as_bytes(), &options);
        let wide = rewrite(&bytes, &options);
        check_laws(&bytes, &options)?;
        let found = utf_16.decode(&wide.output()[2..], 0).text;
        prop_assert_eq!(found.as_bytes(), &plain.output()[3..]);
    }

    /// A file has the same links as a `style` element with the same text, and rewrites to the same bytes.
    #[test]
    fn a_css_file_reads_like_a_style_element(sheet in style_sheet(), url in base()) {
        // At the start of a file, a byte order mark or `@charset` would declare an encoding.
        let sheet = format!(" {sheet}");
        let page = format!("<meta charset=utf-8><style>{sheet}</style>");
        let options = options(url, Resolver::Rfc1808);
        let of_file = rewrite(sheet.as_bytes(), &options);
        let of_page = rewrite(page.as_bytes(), &Options { format: Format::Html, ..options });
        let links_of = |report: &Report| -> Vec<_> {
            let links = report.links.iter();
            links.map(|link| (link.reference.clone(), link.outcome, link.target.clone())).collect()
        };
        prop_assert_eq!(links_of(&of_file.report), links_of(&of_page.report));
        let output = String::from_utf8(of_file.output()).unwrap();
        let expected = format!("<meta charset=utf-8><style>{output}</style>");
        prop_assert_eq!(of_page.output(), expected.as_bytes());
    }

    #[test]
    fn any_bytes_can_be_rewritten_as_a_style_sheet(pieces in prop::collection::vec(
        prop_oneof![
            prop::sample::select(TRAPS).prop_map(|trap| trap.as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..4),
        ], 0..24), label in
        prop::sample::select(vec!["", "utf-8", "windows-1252", "shift_jis", "gb18030", "big5", "euc-jp", "iso-2022-jp", "utf-16le"]))
    {
        let mut options = options("http://a/b/é", Resolver::Rfc1808);
        options.scan.charset = Charset::for_label(label);
        check_laws(&pieces.concat(), &options)?;
    }
}

/// Names similar to those that precede URLs, white space of every kind, and escaped names.
const NAMES: &[&str] = &[
    "url(",
    "URL(",
    "url( ",
    "a",
    "b.png",
    ")",
    " )",
    "\"",
    "'",
    "url('c')",
    "url(\"d\" )",
    "url(e)",
    "-url(",
    "--url(",
    "#url(",
    "@url(",
    "1url(",
    ".url(",
    "1e3url(",
    "+url(",
    "u+1url(",
    "<!--",
    "-->",
    "/*",
    "*/",
    "/",
    "*",
    "\\",
    "\n",
    "\r",
    "\u{c}",
    "\t",
    " ",
    "\0",
    "\u{7f}",
    "é",
    "éurl(",
    "{",
    "}",
    "[",
    "]",
    "(",
    ";",
    ":",
    ",",
    "=",
    "src",
    "src(",
    "image-set(",
    "-webkit-image-set(",
    "-image-set(",
    "filter(",
    "var(",
    "env(",
    "supports(",
    "expression(",
    "@import",
    "@import 'f';",
    "@import url(g);",
    "@import url(\"k\") layer(l);",
    "@import\nurl( m ) 'n';",
    "@import",
    "@media(",
    "@media(a:b){c{d:url(o)}}",
    "@(",
    "url(\"p\\\"q\")",
    "url('\\72 s\\t')",
    "@supports",
    "@supports (a:b){",
    "@namespace x url(h);",
    "@media",
    "@-moz-document url(i){",
    "target-text(",
    "AlphaImageLoader(",
    "alphaImageLoader(src='t', b=\"u\")",
    "-AlphaImageLoader(src='t')",
    "x.AlphaImageLoader( a , Src = \"v\\77\")",
    "'w'",
    "progid:",
    "rgba(1,2)",
    "%",
    "5%url(",
    "#",
    "\\66 ",
    "\\:",
    "\\75 rl(",
    "u\\72l(",
    "\"\\f101\"",
    "'\\'",
    "@supports not (a:b) {",
    "@supports (",
    "expression(a",
    "expression(this.b(')'))",
    "var(--x)",
    "@im\\70ort 'y'",
];

/// Checks that the URLs are those in the tokens of cssparser; returns their number with the default groups.
fn compare_with_referee(sheet: &str) -> usize {
    for groups in [Groups::default(), Groups::all()] {
        assert_eq!(
            css::urls(sheet, groups),
            referee::urls(sheet, groups),
            "{sheet:?}"
        );
    }
    css::urls(sheet, Groups::default()).len()
}

#[test]
fn urls_are_those_of_the_referee() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % bound
    };
    let mut found = 0;
    for _ in 0..if cfg!(debug_assertions) {
        100_000
    } else {
        1_000_000
    } {
        let pieces = (0..1 + below(10)).map(|_| {
            let traps = if below(3) == 0 { TRAPS } else { NAMES };
            traps[below(traps.len())]
        });
        found += compare_with_referee(&pieces.collect::<String>());
    }
    assert!(found > 40_000, "only {found}");
}

/// Checks the laws on a hostile sheet; returns the number of rewritten links.
fn check(sheet: &str) -> usize {
    let options = Options {
        format: Format::Css,
        ..Options::at("http://a/b/c")
    };
    check_laws(sheet.as_bytes(), &options)
        .unwrap()
        .count(Outcome::Rewritten)
}

/// If the time grew faster than the input, this test would not finish.
#[test]
fn repeated_shapes_take_linear_time() {
    for shape in [
        "url(",
        "url(\"",
        "url( ",
        "url(a ",
        "url(a\\)",
        "u\\72l(",
        "\"",
        "'a",
        "\"\\",
        "\\",
        "\\a",
        "\\\n",
        "/*",
        "/*/",
        "*/",
        "@import",
        "@import ",
        "@import '",
        "image-set(",
        "image-set('",
        "image-set('a' ",
        "@namespace url(",
        "@supports(",
        "target-counter(",
        "AlphaImageLoader(src=",
        "a{",
        "a{b:url(c);",
        "(",
        "[",
        "{",
        "{[(",
        "}",
        ";",
        "<!--",
        "-",
        "1",
        "1e",
        "#",
        "\0",
        "\r",
        "\u{c}",
        "é",
        "a\\",
    ] {
        check(&shape.repeat(1_000_000 / shape.len()));
    }
}

#[test]
fn many_rules_are_rewritten() {
    assert_eq!(check(&"@import 'a';".repeat(100_000)), 100_000);
    assert_eq!(check(&"@import url(a);".repeat(100_000)), 100_000);
    assert_eq!(check(&"a{b:url(c)}".repeat(100_000)), 100_000);
    assert_eq!(check(&format!("{}@import 'a", "/**/\n".repeat(200_000))), 1);
    // In parentheses, no at-keyword begins an at-rule. The scanner must decide this for each keyword.
    assert_eq!(
        check(&format!("({}url(a)", "@supports ".repeat(500_000))),
        1
    );
    assert_eq!(
        check(&format!("({}url(a)", "@import /**/".repeat(500_000))),
        1
    );
    // A bad URL token ends at its closing parenthesis.
    assert_eq!(check(&format!("{}) url(a)", "url(".repeat(1_000_000))), 1);
}

#[test]
fn half_a_million_nested_blocks() {
    for (open, close) in [
        ("{", "}"),
        ("a{", "}"),
        ("(", ")"),
        ("image-set(", ")"),
        ("{([", "])}"),
    ] {
        for close in ["", close] {
            let (opened, closed) = (open.repeat(500_000), close.repeat(500_000));
            assert_eq!(
                check(&format!("a{{b:{opened}url(c){closed}}} d{{e:url(f)}}")),
                2,
                "{open}"
            );
        }
    }
}

#[test]
fn one_url_of_eight_megabytes() {
    for (before, piece, after) in [
        ("url(", "a", ")"),
        ("url(", "a", ""),
        ("url('", "a/../", "')"),
        ("@import \"", "\\61 ", "\";"),
        ("url(", "\\29", ")"),
        ("image-set('", "\\\n", "a'"),
        ("url(\"", "é", "\")"),
        ("url(", " ", "a)"),
    ] {
        let sheet = [before, &piece.repeat(8_000_000 / piece.len()), after].concat();
        assert_eq!(check(&sheet), 1, "{before}{piece}");
    }
    let sheet = ["url(a ", &"b".repeat(8_000_000), ") url(c)"].concat();
    assert_eq!(check(&sheet), 1);
}
