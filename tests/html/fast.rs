//! The walk and html5ever find the same links and bases wherever the walk can prove that it is right. Rewriting with a
//! report, edits without a report, and the list of links agree on bytes, counts and rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use baselink::{BaseElement, Fragments, LinkReport, ListedLink, Outcome};
use baselink_rewrite::base::{Retrieval, Source};
use baselink_rewrite::{NearbyFiles, Options, edits, links, rewrite};
use baselink_scan::Scanner;
use baselink_scan::attributes::Groups;
use baselink_scan::document::Document;
use baselink_scan::{ScanOptions, scan};
use baselink_url::Resolver;

use crate::outside;
use crate::traps::TRAPS;

#[path = "../referee/html.rs"]
mod referee;

use referee::{compare, difference};

/// The options with which every document is scanned.
fn scan_options() -> [ScanOptions; 3] {
    let places = ["div[data-x]=url", "*[y]=srcset"].map(|place| place.parse().unwrap());
    [
        ScanOptions::default(),
        ScanOptions {
            ids: true,
            ..ScanOptions::default()
        },
        ScanOptions {
            groups: Groups::all(),
            places: places[..].into(),
            ..ScanOptions::default()
        },
    ]
}

/// The number of documents in `document`, itself included, that html5ever read.
fn fallbacks_in(document: &Document) -> usize {
    let parts = document.parts.iter().map(fallbacks_in).sum::<usize>();
    usize::from(document.fallback) + parts
}

/// The folder that contains the document.
#[derive(Debug)]
enum Folder {
    /// The folder of the page `q`, which has a companion folder.
    Page,
    /// The companion folder of a page.
    Companion,
    /// A folder of a crawl.
    Crawl,
}

impl NearbyFiles for Folder {
    fn has_folder(&self, name: &str) -> bool {
        name == "q_files"
    }
    fn is_in_companion(&self) -> bool {
        matches!(self, Self::Companion)
    }
    fn has_copy(&self, path: &str) -> bool {
        self.is_in_companion() && path.len() == 1
    }
    fn is_companion(&self, folder: &str) -> bool {
        matches!(folder, "q_files" | "y_files")
    }
    fn page_url(&self, path: &str) -> Option<String> {
        path.ends_with('y').then(|| "http://page/".to_owned())
    }
    fn is_crawled(&self) -> bool {
        matches!(self, Self::Crawl)
    }
    fn host(&self, folder: &str) -> Option<String> {
        folder.contains('.').then(|| folder.to_owned())
    }
    fn has_file(&self, _: &str) -> bool {
        true
    }
}

/// The options with which documents are rewritten; the usual ones are last.
fn rewrite_options() -> Vec<Options> {
    let [plain, all, _] = scan_options();
    let at = |url: &str, scan: &ScanOptions| Options {
        scan: scan.clone(),
        ..Options::at(url)
    };
    let usual = at("http://a/b/c/d;p?q", &plain);
    vec![
        Options {
            scan: plain.clone(),
            ..Options::default()
        },
        Options {
            fragments: Some(Fragments::Auto),
            ..at("http://a/&/'c", &plain)
        },
        Options {
            fragments: Some(Fragments::Keep),
            ..at("http://a", &all)
        },
        Options {
            assumed_scheme: Some("https".into()),
            ..Options::default()
        },
        Options {
            resolver: Resolver::Rfc3986,
            base_element: BaseElement::Keep,
            ..usual.clone()
        },
        Options {
            resolver: Resolver::Whatwg,
            ..usual.clone()
        },
        at("mailto:x@y", &plain),
        Options {
            beside: Some(Arc::new(Folder::Page)),
            ..usual.clone()
        },
        Options {
            beside: Some(Arc::new(Folder::Companion)),
            ..usual.clone()
        },
        Options {
            beside: Some(Arc::new(Folder::Crawl)),
            ..usual.clone()
        },
        Options {
            retrieval: Some(Retrieval::of("http://a.b/c/d", Source::Layout)),
            beside: Some(Arc::new(Folder::Crawl)),
            ..usual.clone()
        },
        at("http://a/b=c/d-?e", &all),
        at("http://a/?id=1&x", &plain),
        usual,
    ]
}

/// The first difference between the results of [`rewrite`], [`edits`] and [`links`] for `bytes`; `None` if they agree.
fn output_difference(bytes: &[u8], options: &Options) -> Option<String> {
    let (edits, totals) = edits(bytes, options);
    let out = edits.apply(bytes);
    let rewritten = rewrite(bytes, options);
    let report = &rewritten.report;
    let expected = rewritten.output();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if out != expected {
        return Some(format!(
            "counted:\n{}\nreported:\n{}",
            shown(&out),
            shown(&expected)
        ));
    }
    let mut counts = BTreeMap::new();
    for link in &report.links {
        *counts.entry((link.outcome, link.reason)).or_default() += 1;
    }
    let differs = |link: &&LinkReport| link.differs && link.outcome == Outcome::Rewritten;
    let counted = totals
        .counts()
        .map(|(outcome, reason, number)| ((outcome, reason), number));
    let chain = &report.entities[0].chain;
    let same = counted.collect::<BTreeMap<_, usize>>() == counts
        && Outcome::ALL
            .iter()
            .all(|outcome| totals.count(*outcome) == report.count(*outcome))
        && totals.links() == report.links.len()
        && totals.without_scheme
            == report
                .links
                .iter()
                .filter(|link| link.lacks_only_scheme())
                .count()
        && totals.differing == report.links.iter().filter(differs).count()
        && (&totals.base, totals.rule, totals.source) == (&chain.base, chain.rule, chain.source)
        && totals.charset == report.entities[0].charset
        && totals.changed != rewritten.edits.is_empty()
        && totals.diagnostics == report.diagnostics
        && report.links.is_sorted_by_key(|link| link.span.start);
    let mut rows = Vec::new();
    let listed = links(bytes, options, &mut |found| {
        rows.push(found);
    });
    let lines = totals.charset.lines(bytes);
    let reported = report.links.iter().map(|link| {
        let (line, column) = lines.place(link.span.start);
        ListedLink {
            link: link.clone(),
            line,
            column,
        }
    });
    let reported: Vec<_> = reported.collect();
    if rows != reported || listed.links() != reported.len() {
        let at = rows
            .iter()
            .zip(&reported)
            .take_while(|(row, link)| row == link)
            .count();
        return Some(format!(
            "listed:\n{:#?}\nreported:\n{:#?}",
            rows.get(at),
            reported.get(at)
        ));
    }
    (!same).then(|| format!("{totals:?}\n{counts:?}\n{:?}", report.diagnostics))
}

/// Checks that both engines and all results agree on `bytes`.
#[track_caller]
fn assert_same(bytes: &[u8]) {
    for options in scan_options() {
        if let Some(difference) = difference(bytes, &options) {
            panic!("{}\n{difference}", String::from_utf8_lossy(bytes));
        }
    }
    // The length of the document selects options, and the usual ones follow.
    let all = rewrite_options();
    for options in [&all[bytes.len() % all.len()], &all[all.len() - 1]] {
        if let Some(difference) = output_difference(bytes, options) {
            panic!("{}\n{difference}", String::from_utf8_lossy(bytes));
        }
    }
}

/// Checks the input alone, in contexts that have rules of their own, and in foreign content.
fn assert_same_everywhere(input: &str) {
    assert_same(input.as_bytes());
    assert_same(format!("<a href=x>{input}<a href=y><base href=z>").as_bytes());
    assert_same(format!("<noscript>{input}</noscript><a href=y>").as_bytes());
    assert_same(format!("<!--[if IE]>{input}<![endif]--><a href=y>").as_bytes());
    assert_same(format!("<iframe srcdoc='{input}'></iframe><a href=y>").as_bytes());
    assert_same(format!("<svg>{input}<a href=y>").as_bytes());
    assert_same(format!("<math><mi>{input}<a href=y>").as_bytes());
    assert_same(format!("<svg><desc>{input}</desc></svg><a href=y>").as_bytes());
    assert_same(format!("<template>{input}</template><base href=y><a href=y>").as_bytes());
    assert_same(format!("<table>{input}</table><base href=y><a href=y>").as_bytes());
}

#[test]
fn the_engines_agree_on_tokenizer_tests() {
    let mut inputs = 0;
    for path in outside::TOKENIZER.files(Some("test")) {
        let suite: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for test in suite["tests"].as_array().into_iter().flatten() {
            let input = test["input"].as_str().unwrap();
            inputs += 1;
            if !path.ends_with("namedEntities.test") || inputs % 40 == 0 {
                assert_same_everywhere(input);
            }
        }
    }
    assert!(inputs == 0 || inputs > 5_000, "{inputs}");
}

#[test]
fn the_engines_agree_on_tree_construction_tests() {
    let mut inputs = 0;
    for path in outside::TREES.files(Some("dat")) {
        let suite = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for test in format!("\n{suite}").split("\n#data\n").skip(1) {
            inputs += 1;
            assert_same_everywhere(test.split("\n#errors").next().unwrap());
        }
    }
    assert!(inputs == 0 || inputs > 1_000, "{inputs}");
}

/// Pieces whose tokens depend on the tree.
const MORE_TRAPS: &[&str] = &[
    "<svg>",
    "<svg>",
    "</svg>",
    "</svg>",
    "<svg/>",
    "<math>",
    "</math>",
    "<g>",
    "</g>",
    "<path/>",
    "</path>",
    "<title>",
    "</title>",
    "<title/>",
    "<desc>",
    "</desc>",
    "<foreignObject>",
    "</foreignObject>",
    "<mi>",
    "</mi>",
    "<mtext>",
    "</mtext>",
    "<mglyph>",
    "<malignmark/>",
    "<annotation-xml>",
    "<annotation-xml encoding=text/html>",
    "</annotation-xml>",
    "<annotation-xml encoding='application/xhtml+xml'>",
    "<![CDATA[",
    "]]>",
    "<style>",
    "</style>",
    "<style type=text/css>",
    "a{b:url(c)}",
    "<script>",
    "</script>",
    "<script src=s>",
    "<!--",
    "-->",
    "--!>",
    "<!-->",
    "<!--->",
    "<!",
    "<?",
    "</",
    "<",
    ">",
    "-",
    "</scrip",
    "<div>",
    "</div>",
    "<p>",
    "</p>",
    "<span>",
    "</span>",
    "<b>",
    "</b>",
    "<a href=x>",
    "</a>",
    "<font>",
    "<font size=1>",
    "</font>",
    "<li>",
    "<h1>",
    "<ul>",
    "<img src=i>",
    "<image href=i>",
    "<br>",
    "</br>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "</td>",
    "<caption>",
    "<colgroup>",
    "</colgroup>",
    "<col>",
    "<select>",
    "<option>",
    "</select>",
    "<input>",
    "<form>",
    "</form>",
    "<button>",
    "<template>",
    "</template>",
    "<base href=1>",
    "<base href=2>",
    "<base>",
    "<base target=_top>",
    "<frameset>",
    "<frame src=f>",
    "</frameset>",
    "<body>",
    "</body>",
    "<html>",
    "</html>",
    "<head>",
    "</head>",
    "<noscript>",
    "</noscript>",
    "<noframes>",
    "</noframes>",
    "<noembed>",
    "</noembed>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "<textarea>",
    "</textarea>",
    "<plaintext>",
    "<plaintexu>",
    "<use href=u>",
    "<rect fill='url(#a) url(b)'>",
    "<rect style='fill:url(c)'>",
    "<a xlink:href=l>",
    "<mrow href=m>",
    "<!DOCTYPE html>",
    " ",
    "\n",
    "x",
    "\0",
    "é",
    "<é>",
    "<gé>",
    "</gé>",
    "<g\0>",
    "</g\0>",
    "'",
    "\"",
    "=",
    "/",
    "/>",
    "<a b='",
    "<a b=\"",
    "<a href=",
    "<a href",
    "<a/href=x>",
    "<a =href=x>",
    "<a href=x href=y>",
    "<a HREF='z'b=c>",
    "<link href=k rel=x>",
    "<div data-x=d y='a 1x'>",
    "<meta name=og:image content=o>",
    "<param value=v valuetype=ref>",
    "<object data=d codebase=c>",
    "<!--[if IE]><a href=c><![endif]-->",
    "<!--[if IE]><svg><![endif]-->",
    "<a href=../x?y&amp;z>",
    "<a href='x?y&z'>",
    "<a href=#f>",
    "<img src='#f'>",
    "<a href=''>",
    "<img src=>",
    "<a href=http://b/c>",
    "<a href=http:c>",
    "<a href=//h/>",
    "<a href='x/../y'>",
    "<a href=' x '>",
    "<a href>",
    "<a href=\"x y\">",
    "<a href=é>",
    "<a href=%41>",
    "<a href=__a__>",
    "<a href='{{a}}'>",
    "<a href=;x>",
    "<a href=.>",
    "<a href=?>",
    "<p style='a:url(&quot;b&quot;)'>",
    "<p style=a:url(b)>",
    "<p style='color:red'>",
    "<style>a{b:url(c)}</style>",
    "<base href=//h/p/>",
    "<base href='mailto:x'>",
    "<base href=é/>",
    "<set attributename=href to=t>",
    "<iframe srcdoc='<svg><a href=x></svg>'>",
    "<?import implementation=n>",
];

/// HTML in integration points, where an end tag may close several elements. The title contains a link in SVG but not in
/// HTML; a CDATA section ends at `]]>` in SVG and at `>` in HTML.
const NESTED: &[&str] = &[
    "<svg><desc>",
    "<svg><desc>",
    "<svg><foreignObject>",
    "<svg><title>",
    "<math><mi>",
    "<svg>",
    "</svg>",
    "<math>",
    "</math>",
    "<g>",
    "</g>",
    "<desc>",
    "</desc>",
    "<foreignObject>",
    "</foreignObject>",
    "<mi>",
    "</mi>",
    "<annotation-xml encoding=text/html>",
    "<title><a href=t></title>",
    "<title><a href=t></title>",
    "<![CDATA[<a href=c>]]>",
    "<![CDATA[<a href=c>]]>",
    "<style>a{b:url(c)}</style>",
    "<div>",
    "<div>",
    "</div>",
    "</div>",
    "<p>",
    "<p>",
    "</p>",
    "</p>",
    "<b>",
    "<b>",
    "</b>",
    "</b>",
    "<code id=c>",
    "</code>",
    "<span>",
    "</span>",
    "<font color=c>",
    "</font>",
    "<pre>",
    "<section>",
    "<br>",
    "<input type=hidden>",
    "<image href=i>",
    "<textarea><a href=t></textarea>",
    "<script src=s></script>",
    "<table>",
    "<td>",
    "</table>",
    "<select>",
    "<template>",
    "</template>",
    "<base href=1>",
    "<a href=x>",
];

/// Diagrams in SVG have labels in HTML. The walk reads these as long as each tag closes at most its own element.
#[test]
fn the_walk_reads_html_labels_in_svg() {
    let label = "<foreignObject width=9><div xmlns=http://www.w3.org/1999/xhtml><span class=nodeLabel><p>A<br/>\
                 <img src=y><b>b</b></p></span></div></foreignObject>";
    let diagram = format!(
        "<svg><style>g{{fill:url(#x)}}</style><switch><g><rect/>{label}<text>A</text></g></switch></svg>"
    );
    for (page, falls_back) in [
        (diagram.clone(), false),
        // Depth does not matter.
        (format!("<svg><desc>{}", "<div>".repeat(100)), false),
        // The start tag of the `div` closes the `p`.
        ("<svg><desc><p><div>".to_owned(), true),
        ("<svg><desc><p><svg><desc><div>".to_owned(), false),
        // The end tag closes more than its element.
        ("<svg><desc><div><b></div>".to_owned(), true),
        ("<svg><desc><g><svg><g></desc>".to_owned(), true),
        ("<svg><desc><div><svg><g></div>".to_owned(), true),
    ] {
        let page = format!("<a href=x>{page}<img src=z>");
        assert_same(page.as_bytes());
        let document = scan(page.as_bytes(), &ScanOptions::default());
        assert_eq!(document.fallback, falls_back, "{page}");
    }
}

/// The tree moves the second base before the table (HTML, 13.2.6.1), so it is the first one in tree order, even after
/// many links.
#[test]
fn a_foster_parented_base_is_found() {
    for links in [1, 100] {
        let link = "<a href=x>y</a>".repeat(links);
        let page = format!(
            "<table><td><base href=http://c/>{link}</td></tr><base href=http://d/></table>{link}"
        );
        assert_same(page.as_bytes());
        let out = rewrite(page.as_bytes(), &Options::at("http://a/")).output();
        let expected = "<a href=http://d/x>y</a>".repeat(links);
        assert!(String::from_utf8(out).unwrap().ends_with(&expected));
    }
}

/// Bases and encodings are declared after the first 1024 bytes, also inside text that looks like markup.
#[test]
fn the_engines_agree_on_late_declarations() {
    let padding = "x".repeat(1_100);
    for head in [
        "",
        "<base href=b/>",
        // The base differs between encodings.
        "<base href='//h\u{a0}/é/'>",
        "<svg>",
        "<title>",
        "<noscript>",
        "<!--",
        "<frameset>",
        "<svg></b>",
    ] {
        for label in [
            "utf-8",
            "windows-1252",
            "shift_jis",
            "gb18030",
            "iso-2022-jp",
            "euc-kr",
        ] {
            for after in ["", "</title>", "</noscript>", "-->", "<meta charset=big5>"] {
                let page = format!(
                    "{padding}{head}<meta charset={label}><a href=x><a href='é表?é'>{after}\
                     <META content='text/html; charset=koi8-r' http-equiv=content-type><a href=z>"
                );
                assert_same(page.as_bytes());
                assert_same(&[page.as_bytes(), b"\xe9<a href=\xe9>"].concat());
            }
        }
    }
}

/// Pseudorandom numbers (Marsaglia's xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

fn joined(pieces: &[&str]) -> Vec<u8> {
    pieces.concat().into_bytes()
}

/// `BASELINK_TRAPS` sets the number of documents; the default is quick.
#[test]
fn the_engines_agree_on_traps() {
    let default = if cfg!(debug_assertions) {
        20_000
    } else {
        100_000
    };
    let requested = std::env::var("BASELINK_TRAPS")
        .ok()
        .and_then(|count| count.parse().ok());
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let mut fallbacks = 0_u64;
    let count: u64 = requested.unwrap_or(default);
    let (all_scan_options, all_options) = (scan_options(), rewrite_options());
    for number in 0..count {
        let list = [TRAPS, MORE_TRAPS, MORE_TRAPS, NESTED][numbers.below(4)];
        let length = 1 + numbers.below(16);
        let mut pieces: Vec<&str> = (0..length)
            .map(|_| list[numbers.below(list.len())])
            .collect();
        pieces.push("<a href=end>");
        let scan_options = &all_scan_options[(number % 2) as usize];
        let bytes = joined(&pieces);
        let fast = scan(&bytes, scan_options);
        fallbacks += u64::from(fallbacks_in(&fast) > 0);
        let exact = scan(
            &bytes,
            &ScanOptions {
                scanner: Scanner::Exact,
                ..scan_options.clone()
            },
        );
        let options = &all_options[(number % all_options.len() as u64) as usize];
        let find_difference = |pieces: &[&str]| {
            let bytes = joined(pieces);
            difference(&bytes, scan_options).or_else(|| output_difference(&bytes, options))
        };
        if compare(fast, exact).is_none() && output_difference(&bytes, options).is_none() {
            continue;
        }
        let mut at = 0;
        while at < pieces.len() {
            let mut shorter = pieces.clone();
            shorter.remove(at);
            match find_difference(&shorter) {
                Some(_) => pieces = shorter,
                None => at += 1,
            }
        }
        panic!(
            "{pieces:?} {options:?}\n{}",
            find_difference(&pieces).unwrap_or_default()
        );
    }
    // If html5ever read most documents, the test would compare little.
    assert!(
        count < 1_000 || fallbacks < count * 7 / 10,
        "{fallbacks} of {count}"
    );
}

#[test]
fn the_engines_agree_on_real_pages() {
    let pages = outside::PAGES.files(Some("html"));
    let mut fallbacks = Vec::new();
    for path in &pages {
        let page = std::fs::read(path).unwrap();
        for options in scan_options() {
            let difference = difference(&page, &options);
            assert_eq!(difference, None, "{}", path.display());
        }
        for options in rewrite_options() {
            let difference = output_difference(&page, &options);
            assert!(difference.is_none(), "{}", path.display());
        }
        match fallbacks_in(&scan(&page, &ScanOptions::default())) {
            0 => {}
            number => fallbacks.push((path, number)),
        }
    }
    let count: usize = fallbacks.iter().map(|(_, number)| number).sum();
    assert!(
        count * 50 <= pages.len(),
        "{count} of {} pages: {fallbacks:?}",
        pages.len()
    );
}

/// Attribute lists and trees that would take too long. Each repeated shape makes a document of a quarter of a
/// megabyte.
#[test]
fn the_engines_agree_on_hostile_shapes() {
    let many = |count: usize| {
        (0..count)
            .map(|number| format!("a{number} "))
            .collect::<String>()
    };
    for document in [
        // baselink passes at most 1,000 attributes to html5ever.
        format!("<svg><a {}href=x>", many(999)),
        format!("<a {}href=x>", many(1_000)),
        format!("</a {}><a href=x>", many(1_001)),
        format!("<a href=x><a {}", many(1_001)),
        format!("<script>a<b {};</script><a href=x>", many(1_001)),
        format!("<script></script {}><a href=x>", many(1_001)),
        format!("<plaintext>a<b {}", many(1_001)),
        format!("<svg><![CDATA[<b {}]]><a href=x>", many(1_001)),
        format!("<!-- <b {} --><a href=x>", many(1_001)),
        format!("<title><b {}</title><a href=x>", many(1_001)),
    ] {
        assert_same(document.as_bytes());
    }
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
        "<?",
        "&",
        "<script>",
        "<script><!--",
        "<!--<script ",
        "</script ",
        "</scrip",
        "<style>",
        "<svg>",
        "<svg><g>",
        "<svg><desc>",
        "<svg><style>",
        "<svg><title/>",
        "<math><mi>",
        "<svg><foreignObject><div>",
        "</svg>",
        "<svg></g>",
        "<template>",
        "<noscript>",
        "<noembed>",
        "<!--[if x]>",
        "<table>",
        "<td>",
        "<base href=x>",
        "<base>",
        "<iframe srcdoc='",
        "<plaintext>",
        "<frameset>",
        "<p><a href=x>",
        "<b><i><p>",
        "\0",
        "<a =",
        "<title>",
        "<textarea></textarea ",
        "<meta ",
        "<meta charset=x>",
        "<meta '",
    ] {
        assert_same(shape.repeat(250_000 / shape.len()).as_bytes());
    }
}
